package run

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/sample"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/limits"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
)

// ValuesOf returns the variables that setup differentiates by, and their values before a run, laid out like a row of a
// gradient.
func (m *Model) ValuesOf(setup Setup) ([]result.Variable, []float64, error) {
	r, err := m.Begin(setup.With(func(s *settings.Settings) {
		s.GradientOnly()
		s.Of = []string{}
	}))
	if err != nil {
		return nil, nil, err
	}
	var l diag.List
	list, columns := m.Variables(r.settings.Wrt, &l)
	if err := l.Err(); err != nil {
		return nil, nil, err
	}
	values := make([]float64, columns)
	var y []float64
	for _, v := range list {
		to := values[v.Offset : v.Offset+v.Size()]
		if !v.Initial {
			copy(to, r.problem.Point.Param(v.Name))
			continue
		}
		if y == nil {
			k, err := r.problem.Kit(1, compiled.Values, false)
			if err != nil {
				return nil, nil, r.refused(err)
			}
			w := r.problem.Worker(k)
			z := w.Size()
			y = make([]float64, z.N)
			times, d := make([]float64, len(w.Instants())), make([]float64, z.D)
			w.InstantTimes(d, times)
			w.Start(times[0], y, d)
		}
		copy(to, y[m.System.State(v.Name).Offset:])
	}
	return list, values, nil
}

// Bounds returns the bounds of a variable; ±Inf where there is none, or where params make it (BoundsOf).
func (m *Model) Bounds(v result.Variable) (lo, hi float64) {
	if !v.Initial {
		for _, p := range m.Checked.Params {
			if p.Name == v.Name {
				return p.Lo, p.Hi
			}
		}
	}
	return math.Inf(-1), math.Inf(1)
}

// BoundsOf returns the lower and upper bounds of the variables that setup differentiates by, as its params make them.
// An error is of bounds that these variables themselves would move, or that are in the wrong order.
func (m *Model) BoundsOf(setup Setup) ([][2]float64, error) {
	r, err := m.Begin(setup.With(func(s *settings.Settings) {
		s.GradientOnly()
		s.Of = []string{}
	}))
	if err != nil {
		return nil, err
	}
	var l diag.List
	list, _ := m.Variables(r.settings.Wrt, &l)
	pt := r.problem.Point
	var plain []compiled.Variable
	for _, v := range list {
		plain = append(plain, compiled.Variable{Name: v.Name, Initial: v.Initial})
	}
	moved := pt.Active(plain)
	out := make([][2]float64, len(list))
	for i, v := range list {
		lo, hi := m.Bounds(v)
		for _, s := range m.Checked.Params {
			if v.Initial || s.Name != v.Name || !limits.Made(s) {
				continue
			}
			var reads []string
			lo, hi, reads = limits.At(m.System, pt, s)
			for _, name := range reads {
				if slices.Contains(moved, name) {
					l.Errorf(settings.CodeSetting, s.Span, "a bound of %s reads %s, which is searched for as well; "+
						"write a constraint, such as constraint c: max_over(%s - %s) <= 0, or leave %s out of fit.over",
						v.Name, name, v.Name, name, name)
					break
				}
			}
			switch {
			case lo != lo || hi != hi:
				l.Errorf(settings.CodeSetting, s.Span, "the bounds of %s, %s and %s, which follow from params, are "+
					"not both numbers", v.Name, diag.Number(lo), diag.Number(hi))
			case lo > hi:
				l.Errorf(settings.CodeSetting, s.Span, "the lower bound of %s, %s, is above its upper one, %s; both "+
					"follow from params", v.Name, diag.Number(lo), diag.Number(hi))
			}
		}
		out[i] = [2]float64{lo, hi}
	}
	return out, l.Err()
}

// Scales returns how far a move of length one takes each element of the variables, laid out like a row of the
// gradient. Of a param that is its absolute value: what goes far beyond leaves the values for which a model is made. Of
// zero it is the largest value of the array, else the scale of the prior or half the width of the bounds, but at most
// 1e-3. The elements of an initial value are a field at its points, and move by the largest of them; by 1 where all are
// zero.
func (m *Model) Scales(setup Setup) ([]float64, error) {
	variables, values, err := m.ValuesOf(setup)
	if err != nil {
		return nil, err
	}
	for _, v := range variables {
		of := values[v.Offset : v.Offset+v.Size()]
		largest := 0.0
		for k, x := range of {
			if of[k] = math.Abs(x); of[k] < math.Inf(1) {
				largest = max(largest, of[k])
			}
		}
		if largest == 0 {
			largest = m.scaleAtZero(v)
		}
		for k, x := range of {
			if v.Initial || !(x > 0 && x < math.Inf(1)) {
				of[k] = largest
			}
		}
	}
	return values, nil
}

// scaleAtZero returns the scale of a variable whose value is zero.
func (m *Model) scaleAtZero(v result.Variable) float64 {
	if v.Initial {
		return 1
	}
	size := 1e-3
	for _, d := range m.Checked.Priors {
		if d.Target.Name != v.Name {
			continue
		}
		if prior, err := sample.NewDist(d.Dist, d.Args, d.Lo, d.Hi); err == nil {
			size = min(size, (prior.Quantile(0.75)-prior.Quantile(0.25))/2)
		}
	}
	lo, hi := m.Bounds(v)
	if size = min(size, (hi-lo)/2); size > 0 {
		return size
	}
	return 1e-3 // bounds that leave no room say nothing of the scale
}
