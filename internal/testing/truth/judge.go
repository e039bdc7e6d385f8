package truth

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"strings"

	"odes.dev/odes"
)

// How far a number may be from its truth to be right: relative to it, or a part of the terms of which it is the
// difference. That part is at least ten times the relative tolerance of the run. A derivative may also be as far off
// as a change of its variable by its scale changes results by the absolute tolerance.
const (
	valueTolerance      = 1e-3
	derivativeTolerance = 3e-3
	cancelled           = 1e-3
)

// Verdict says what a run told of a model.
type Verdict uint8

// The verdicts, from good to bad.
const (
	Right  Verdict = iota // every number is right, and none is marked
	Warned                // some number is marked; those that are not are right
	Failed                // the run ended with an error
	Wrong                 // a number is wrong and not marked
	Broken                // the model does not compile, which is an error of this package, or there was a panic
)

func (v Verdict) String() string {
	return [...]string{"right", "warned", "failed", "wrong", "broken"}[v]
}

// Outcome is what the judge found.
type Outcome struct {
	Verdict Verdict
	// Number is the worst that is wrong and not marked, Got what was printed, and Worst how far it is off, 1 being as
	// far as it may be.
	Number     Number
	Got, Worst float64
	Err        error
	// Marked counts numbers that are marked, and FalseAlarms are those of them that are right.
	Marked      int
	FalseAlarms []Number
	// Errors are those of numbers that are not marked, relative to what they may be at most. Last are the same in units
	// of the last digit that is shown.
	Errors, Last []float64
}

func (o Outcome) String() string {
	switch o.Verdict {
	case Failed, Broken:
		return fmt.Sprintf("%v: %v", o.Verdict, o.Err)
	case Wrong:
		return fmt.Sprintf("%v = %.8g, truth %.8g", o.Number, o.Got, o.Number.Truth)
	}
	return o.Verdict.String()
}

func (n Number) String() string {
	switch {
	case n.Wrt == "":
		return n.Of
	case n.Index == 0:
		return fmt.Sprintf("d %s/d %s", n.Of, n.Wrt)
	}
	return fmt.Sprintf("d %s/d %s[%d]", n.Of, n.Wrt, n.Index+1)
}

// within returns how far a number is from its truth, 1 being as far as it may be. A truth that is NaN is one that no
// number can be right for.
func (n Number) within(got float64, used odes.RunSettings) float64 {
	tolerance := valueTolerance
	if n.Wrt != "" {
		tolerance = derivativeTolerance
	}
	if got == n.Truth {
		return 0
	}
	noise := max(tolerance*cancelled, 10*used.RTol) * n.Size
	if n.Scale > 0 {
		noise += used.ATol / n.Scale
	}
	if used.Sized && n.Wrt == "" { // what states of about 1 have decayed to
		noise += 20 * used.ATol
	}
	e := math.Abs(got-n.Truth) / max(tolerance*math.Abs(n.Truth), noise)
	if e != e { // also where there is no number, and one is printed
		return math.Inf(1)
	}
	return e
}

// Judge runs a model with its own settings, except those that are given, and compares what is printed with the truth.
func Judge(ctx context.Context, c Case, given ...odes.Setting) (out Outcome) {
	defer func() {
		if p := recover(); p != nil { // so that the model is shown
			out = Outcome{Verdict: Broken, Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	m, err := odes.Parse(c.Family+".ode", c.Text, odes.ParseOptions{})
	if err != nil {
		return Outcome{Verdict: Broken, Err: err}
	}
	r, err := m.Prepare(odes.Options{Threads: 1, Settings: given})
	if err != nil {
		return Outcome{Verdict: Broken, Err: err}
	}
	s, err := r.Sensitivities(ctx)
	if err != nil {
		return Outcome{Verdict: Failed, Err: err}
	}
	return compare(c, s)
}

func compare(c Case, s *odes.Sensitivities) Outcome {
	out := Outcome{Verdict: Right, Worst: 1}
	for _, n := range c.Numbers {
		p, ok := find(s, n)
		if !ok {
			return Outcome{Verdict: Broken, Err: fmt.Errorf("no %s by %s", n.Of, n.Wrt)}
		}
		e := n.within(p.number, s.Settings)
		switch {
		case e > 1 && p.unsure() && math.Abs(p.number-n.Truth) <= float64(4*p.err):
			out.Marked++ // tables show ~0, and JSON lists it as uncertain
		case p.marked:
			out.Marked++
			if e <= 1 {
				out.FalseAlarms = append(out.FalseAlarms, n)
			}
		default:
			out.Errors = append(out.Errors, e)
			out.Last = append(out.Last, p.last(n, s.Settings.RTol))
			if e > out.Worst {
				out.Verdict, out.Number, out.Got, out.Worst = Wrong, n, p.number, e
			}
		}
	}
	if out.Verdict == Right && out.Marked > 0 {
		out.Verdict = Warned
	}
	return out
}

// printed is a number of a result.
type printed struct {
	number, err float64
	marked      bool // as one that is not to be taken at its digits
}

// find returns what was printed of a number.
func find(s *odes.Sensitivities, n Number) (p printed, ok bool) {
	for i, v := range s.Values {
		if v.Name != n.Of {
			continue
		}
		told := none(v.Value, s) // and there are no derivatives of it
		if n.Wrt == "" {
			return printed{v.Value, v.Error, told || v.Trust != odes.Sound}, true
		}
		for _, x := range s.Variables {
			if x.String() != n.Wrt {
				continue
			}
			p = printed{number: s.Derivative(i, x)[n.Index]}
			_, sides := s.OnBothSides(i, x.Offset+n.Index)
			p.marked = told || sides || s.Trust(i, x) != odes.Sound || none(p.number, s)
			if s.Errors != nil {
				p.err = s.Errors[i*s.Columns+x.Offset+n.Index]
			}
			return p, true
		}
	}
	return p, false
}

// unsure reports whether tables show no digit of the number, since four times its error would reach them all.
func (p printed) unsure() bool {
	return p.err > 0 && p.number != 0 && magnitude(p.number)-magnitude(4*p.err) < 1
}

// magnitude returns the power of ten of the first digit of x.
func magnitude(x float64) float64 { return math.Floor(math.Log10(math.Abs(x))) }

// none reports whether x says by itself that there is no number, and the run does so, too.
func none(x float64, s *odes.Sensitivities) bool {
	return (x != x || math.IsInf(x, 0)) && s.Status != "ok"
}

// last returns the error of a number in units of the last digit that a table shows of it. A value has two digits less
// than the tolerance, a derivative three; fewer are shown where four times the estimated error would reach them.
func (p printed) last(n Number, rtol float64) float64 {
	if p.number == n.Truth || math.Abs(p.number-n.Truth) < 1e-9*n.Size {
		return 0
	}
	digits := max(3, math.Round(-math.Log10(rtol))-2)
	if n.Wrt != "" {
		digits--
	}
	shown := p.number
	if shown == 0 {
		shown = n.Truth
	}
	if p.err > 0 {
		digits = min(digits, magnitude(shown)-magnitude(4*p.err))
		if digits < 1 { // "~0"
			return math.Abs(n.Truth) / (4 * p.err)
		}
	}
	return math.Abs(p.number-n.Truth) / math.Pow(10, magnitude(shown)-digits+1)
}

// indent makes a text stand out in a report.
func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
}
