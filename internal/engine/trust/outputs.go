package trust

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
)

// Errors of outputs, relative to the largest absolute value of an element in the run, from which they are loose and
// lost. Where outputs cross zero, they have no digits of their own.
const looseOutput, lostOutput = 1e-3, 0.1

// CompareOutputs grades the outputs of s, whose events have been compared. Times at which s or fine jumps are left out:
// their events are compared. An error below promised is one that the tolerances allow.
func CompareOutputs(s, fine *result.Solution, share, promised float64) {
	at := common(s, fine)
	for n := range s.Outputs {
		o, twin := &s.Outputs[n], &fine.Outputs[n]
		per := o.Size()
		o.Errors = make([]float64, len(o.Values))
		for k := range per {
			top, off := 0.0, 0.0
			said := 0 // times that have an error
			for _, i := range at {
				x, y := o.Values[i[0]*per+k], twin.Values[i[1]*per+k]
				for ; said <= i[0]; said++ { // in between, that of the next time
					o.Errors[said*per+k] = math.Abs(x-y) / share
				}
				if x == y || x-x != 0 { // what is not finite shows that itself
					continue
				}
				top, off = math.Max(top, math.Abs(x)), math.Max(off, math.Abs(x-y)/share)
			}
			for ; said > 0 && said < len(s.T); said++ {
				o.Errors[said*per+k] = o.Errors[(said-1)*per+k]
			}
			switch {
			case !(off > max(promised, float64(looseOutput*top))) && off-off == 0:
			case off > lostOutput*top || off-off != 0:
				o.Trust = result.Lost
			default:
				o.Trust = max(o.Trust, result.Loose)
			}
		}
	}
}

// common returns the places in s.T and fine.T of the times at which both runs have one state that can be compared.
func common(s, fine *result.Solution) (at [][2]int) {
	slack := float64(0x1p-40 * math.Abs(s.To-s.From))
	alone := func(t []float64, i int) bool {
		return (i == 0 || t[i-1] < t[i]) && (i+1 == len(t) || t[i] < t[i+1])
	}
	e, k := 0, 0
	for i, t := range s.T {
		for k < len(fine.T) && fine.T[k] < t {
			k++
		}
		for e < len(s.Events) && s.Events[e].T+float64(4*s.Events[e].Error)+slack < t {
			e++
		}
		atEvent := e < len(s.Events) && s.Events[e].T-float64(4*s.Events[e].Error)-slack <= t
		if k < len(fine.T) && fine.T[k] == t && alone(s.T, i) && alone(fine.T, k) && !atEvent {
			at = append(at, [2]int{i, k})
		}
	}
	return at
}

// ConcludeOutputs warns of the outputs that are not sound, by what o says; nil if nothing was compared. What is not
// finite is lost, whatever was compared, but for the first time alone: 0/0 has no value there, and in models of other
// programs infinities are no surprise.
func ConcludeOutputs(s *result.Solution, x *explain.Explainer, o *Opinion) {
	translated := x.Span().File.Translated()
	last := math.Inf(-1)
	if n := len(s.T); n > 0 {
		last = s.T[n-1]
	}
	names, undefined := map[string][]string{}, map[string][]string{} // by what is told of them
	for i := range s.Outputs {
		out := &s.Outputs[i]
		text, from := "", 0
		if per := out.Size(); per > 0 && len(out.Values) > per && Finite(out.Values[per:]) &&
			(translated || !slices.ContainsFunc(out.Values[:per], func(x float64) bool { return math.IsInf(x, 0) })) {
			from = per
		}
		switch {
		case from > 0 && !Finite(out.Values[:from]):
			undefined[out.Cause] = append(undefined[out.Cause], out.Name)
		case !Finite(out.Values):
			out.Trust, text = result.Lost, "not always a finite number"
			if out.Cause != "" {
				text = fmt.Sprintf("not always a finite number, since %s", out.Cause)
			}
		case o == nil:
		case out.Trust == result.Lost:
			text = "not to be trusted, by " + o.By
		case out.Trust == result.Loose:
			text = result.FewDigits + ", by " + o.By
		case o.Failed != nil: // told already
			out.Trust = o.unconfirmed(last)
		}
		if out.Trust == result.Lost {
			s.Status = "partial"
		}
		names[text] = append(names[text], out.Name)
	}
	delete(names, "")
	s.Warnings = x.Unmoved(s.Warnings, len(names) == 0 && o != nil)
	var l diag.List
	for _, text := range slices.Sorted(maps.Keys(names)) {
		l.Warnf(result.CodeTrust, x.Span(), "%s: %s", text, diag.Some(names[text]))
	}
	for _, cause := range slices.Sorted(maps.Keys(undefined)) {
		text := "not a finite number at the first time"
		if cause != "" {
			text += ", since " + cause
		}
		l.Notef(result.CodeTrust, x.Span(), "%s: %s", text, diag.Some(undefined[cause]))
	}
	s.Warnings = append(s.Warnings, l.All()...)
}

// Finite reports whether all of x are finite numbers.
func Finite(x []float64) bool {
	if s := simd.Sum(x); s-s == 0 {
		return true
	}
	for _, v := range x { // or did only the sum overflow?
		if v-v != 0 {
			return false
		}
	}
	return true
}
