package trust

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
)

// Decision is what package contact knows of the sides of derivatives, [values][columns].
type Decision struct {
	Left, Right         []float64
	TwinLeft, TwinRight []float64 // of the independent run
	Known               []bool    // [values][columns]
	Sizes               []float64 // [columns] of the variables
	From                [][]int   // [columns] the coincidences that make sides differ
	Coincidences        []result.Coincidence
}

// little is the part of the larger side within which two sides are one.
const little = 1e-7

// Decide takes from d which derivatives are the same on both sides and what the others are: no other run is needed for
// these. It reports whether that is known of all, or of some. share is that of Compare.
func (s *Result) Decide(d *Decision, share float64) (all, some bool) {
	all = true
	s.Decided = make([]bool, len(s.Gradient))
	used := map[int]int{}
	most := make([]float64, len(s.Values)) // of what a move of a variable by its size does
	for at, x := range s.Gradient {
		if by := math.Abs(x) * d.Sizes[at%s.Columns]; by <= math.MaxFloat64 {
			i := at / s.Columns
			most[i] = max(most[i], by, math.Abs(s.Values[i].Value))
		}
	}
	for at, x := range s.Gradient {
		i, k := at/s.Columns, at%s.Columns
		l, r := d.Left[at], d.Right[at]
		err := max(math.Abs(l-d.TwinLeft[at]), math.Abs(r-d.TwinRight[at])) / share
		size := max(math.Abs(l), math.Abs(r))
		noise := float64(1e-10*most[i]) / d.Sizes[k]
		differ := math.Abs(l-r) > float64(little*size)+4*err+noise
		off := min(math.Abs(x-l), math.Abs(x-r)) // of the run, whose order is that of one side if there are two causes
		switch {
		case !d.Known[at] || err-err != 0 || x-x != 0:
		case err > float64(1e-4*size)+100*noise:
		case !differ && !(off <= float64(1e-5*size)+100*err+1000*noise):
		default:
			s.Decided[at] = true
			if differ {
				s.Errors[at] = err
				side := result.BothSides{Value: i, Column: k, Left: l, Right: r}
				from := d.From[k]
				for c := 0; len(from) == 0 && c < len(d.Coincidences); c++ { // the same happens, at other times
					side.Coincidences = append(side.Coincidences, c)
				}
				from, side.Coincidences = append(from, side.Coincidences...), nil
				for _, c := range from {
					if _, known := used[c]; !known {
						used[c] = len(s.OneSided.Coincidences)
						s.OneSided.Coincidences = append(s.OneSided.Coincidences, d.Coincidences[c])
					}
					side.Coincidences = append(side.Coincidences, used[c])
				}
				s.OneSided.Sides = append(s.OneSided.Sides, side)
			}
		}
		all, some = all && s.Decided[at], some || s.Decided[at]
	}
	return all, some
}

// Agree takes back what runs in other orders say of derivatives of which both sides are known.
func (s *Result) Agree() {
	for at, known := range s.Decided {
		if known && s.Unlike != nil {
			s.Unlike[at] = 0
		}
	}
}

// EventsAt grades the times of events at coincidences of which both sides are known: which of several there a time is,
// and how it moves, depends on the side.
func (s *Result) EventsAt(times []float64, within float64) {
	for i := range s.Events {
		e := &s.Events[i]
		for _, t := range times {
			if math.Abs(e.T-t) > within {
				continue
			}
			e.Trust = min(e.Trust, result.Loose)
			for k, x := range e.Trusts {
				e.Trusts[k] = min(x, result.Loose)
			}
		}
	}
}

// Undo forgets what Decide took.
func (s *Result) Undo() {
	s.Decided, s.OneSided = nil, result.OneSided{}
}

// TellSides notes what derivatives are on both sides. Where that is known of all, it takes back the warnings that some
// do not exist.
func (s *Result) TellSides(x *explain.Explainer, all bool) {
	s.Warnings = slices.DeleteFunc(slices.Clone(s.Warnings), func(d diag.Diagnostic) bool {
		return all && d.Code == explain.CodeTie && d.Level == diag.Warning
	})
	for c := range s.OneSided.Coincidences {
		at := &s.OneSided.Coincidences[c]
		const most = 3
		text, n := "", 0
		for _, b := range s.OneSided.Sides {
			if len(b.Coincidences) == 0 || b.Coincidences[0] != c {
				continue
			}
			if n++; n > most {
				continue
			}
			if text != "" {
				text += "; "
			}
			text += "d" + s.Values[b.Value].Name + "/d" + s.nameOf(b.Column) + " is " + diag.Number(b.Left) +
				" from the left, " + diag.Number(b.Right) + " from the right"
		}
		if text == "" {
			continue
		}
		if n > most {
			text += "; and " + diag.Count(n-most, "derivative") + " more"
		}
		s.Note(x, explain.CodeTie, diag.Note, "%s come at the same time, %s: %s", diag.All(at.Causes), x.When(at.T),
			text)
	}
}

// nameOf names a column of the gradient.
func (s *Result) nameOf(k int) string {
	for _, v := range s.Variables {
		if k >= v.Offset && k < v.Offset+v.Size() {
			return v.Element(k - v.Offset)
		}
	}
	return ""
}
