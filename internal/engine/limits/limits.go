// Package limits has the bounds of params: numbers, or what other params make of them at the start of a run.
package limits

import (
	"math"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Made reports whether other params make a bound of s.
func Made(s *model.Symbol) bool { return s.Least != nil || s.Most != nil }

// bounded reports whether a param has bounds.
func bounded(s *model.Symbol) bool { return !math.IsInf(s.Lo, -1) || !math.IsInf(s.Hi, 1) || Made(s) }

// Bounded lists the params that have bounds.
func Bounded(m *compiled.Model) (list []*model.Symbol) {
	for _, s := range m.Checked.Params {
		if bounded(s) {
			list = append(list, s)
		}
	}
	return list
}

// At returns the bounds of s at pt, and the params that they read. Where params make no number
// of a bound it is NaN, and no value is within it.
func At(m *compiled.Model, pt *compiled.Point, s *model.Symbol) (lo, hi float64, reads []string) {
	one := func(e model.Expr, v float64) float64 {
		if e == nil {
			return v
		}
		t := tapec.Number(m.Checked, e)
		if t == nil {
			return v
		}
		run := tape.NewEvaluator[float64](t)
		for _, in := range t.Inputs {
			name := tapec.MustName(in.Name).Of
			reads = append(reads, name)
			copy(run.Input(in.Name), pt.Param(name))
		}
		run.Run()
		return run.Output(tapec.NumberName)[0]
	}
	return one(s.Least, s.Lo), one(s.Most, s.Hi), reads
}

// Beyond returns a value of s that is outside of its bounds, if there is one beside the numbers of its default.
func Beyond(m *compiled.Model, pt *compiled.Point, s *model.Symbol) (x float64, ok bool) {
	if !bounded(s) {
		return 0, false
	}
	lo, hi, _ := At(m, pt, s)
	declared, _ := s.Value.(*model.Const)
	for k, x := range pt.Param(s.Name) {
		if x >= lo && x <= hi || declared != nil && !Made(s) && x == declared.Data[min(k, len(declared.Data)-1)] {
			continue
		}
		return x, true
	}
	return 0, false
}
