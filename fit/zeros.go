package fit

import (
	"context"
	"math"
	"slices"

	"odes.dev/odes"
)

// Sensitivities differentiates a model, as its method does. At a minimum that a fit came to, digits of zeros are no
// news.
func Sensitivities(ctx context.Context, m *odes.Model, opts odes.Options) (*odes.Sensitivities, error) {
	s, err := m.Sensitivities(ctx, opts)
	if err == nil {
		AtMinimum(ctx, m, opts, s)
	}
	return s, err
}

// AtMinimum tells s, a result of m with these options, which of its derivatives are zero within the error of the
// objective: those of the objective of the fit block by what is fitted, where the model is at a minimum. There, digits
// of derivatives mean nothing, and that few of them are right is no reason for a warning.
//
// It is a minimum as far as runs can tell if two gains are below the error of the objective: that of Newton's step,
// ½ gᵀH⁻¹g, and that which errors of derivatives hide, Σ e²/(2 H). H is the expected or the exact Hessian. What a bound
// holds back has a derivative that is not zero, and keeps its grade.
//
// A derivative that is lost may be one of these, too: an error of all its digits is small if it is one of a zero. It is
// told apart where the value is sound and least squares are fitted, without coincidences and second derivatives.
//
// AtMinimum makes no run where all is sound. It leaves s as it is where the model is at no minimum, or where there is
// no telling: of more than 30 numbers, or without second derivatives.
func AtMinimum(ctx context.Context, m *odes.Model, opts odes.Options, s *odes.Sensitivities) {
	if s.Errors == nil || !slices.Contains(s.Trusts, odes.Loose) && !slices.Contains(s.Trusts, odes.Lost) {
		return
	}
	settings, err := m.FitSettings(opts)
	if err != nil {
		return
	}
	row := slices.IndexFunc(s.Values, func(v odes.Value) bool { return v.Name == settings.Objective })
	worst := odes.Loose // of those that are examined
	if row >= 0 && s.Values[row].Trust == odes.Sound && len(s.OneSided.Coincidences) == 0 && s.Hessian == nil &&
		s.Products == nil {
		worst = odes.Lost
	}
	loose := func(v odes.Variable) bool {
		if row < 0 {
			return false
		}
		t := s.Trust(row, v)
		return t > odes.Sound && t <= worst &&
			slices.ContainsFunc(settings.Over, func(o odes.Variable) bool { return o.String() == v.String() })
	}
	if !slices.ContainsFunc(s.Variables, loose) {
		return
	}
	opts.Progress = nil
	p, err := newProblem(ctx, m, Options{Options: opts, Workers: 1})
	if err != nil || len(p.coords) > many || len(p.constraints) > 0 || len(p.blocks) > 0 {
		return
	}
	for i := range p.coords {
		if p.coords[i].value(p.start[i]) != p.coords[i].first { // the model lies outside of the bounds
			return
		}
	}
	if !p.squares {
		worst = odes.Loose
	}
	e, err := p.borrow()
	if err != nil {
		return
	}
	zero, err := e.zeros(ctx, s, row)
	if err != nil {
		return
	}
	s.AtMinimum(row, slices.DeleteFunc(slices.Clone(s.Variables), func(v odes.Variable) bool {
		return !loose(v) || !zero[v.String()]
	}))
}

// zeros returns the names of variables by which the derivatives of value row of s are zero within its error.
func (e *evaluator) zeros(ctx context.Context, s *odes.Sensitivities, row int) (zero map[string]bool, err error) {
	p := e.p
	x, n := p.start, len(p.coords)
	var slope, h []float64
	if p.squares {
		_, slope, h, err = e.expanded(ctx, x)
	} else {
		var r *odes.Sensitivities
		if r, err = e.run(ctx, x, true); err == nil {
			slope, h = make([]float64, n), make([]float64, n*n)
			e.gather(r, 0, p.sign(), x, slope)
			e.curvature(r, p.sign(), x, slope, h)
		}
	}
	if err != nil {
		return nil, err
	}
	hidden := 0.0
	zero = map[string]bool{}
	b := p.bounds()
	for _, v := range s.Variables {
		for i := range p.coords {
			c := &p.coords[i]
			if p.names[c.variable] != v.String() {
				continue
			}
			by := c.slope(c.value(x[i]))
			at := row*s.Columns + v.Offset + c.element
			slope[i] = float64(p.sign() * s.Gradient[at] * by)
			zero[v.String()] = true
			if x[i] <= b.Lo[i] || x[i] >= b.Hi[i] {
				zero[v.String()] = false
				break
			}
			hidden += float64(s.Errors[at]*by) * float64(s.Errors[at]*by) / (2 * h[i*n+i])
		}
	}
	value := s.Values[row]
	noise := max(value.Error, math.Abs(0x1p-40*value.Value))
	if gain := e.newton(x, slope, h, make([]bool, n)).by; !(gain <= noise && hidden >= 0 && hidden <= noise) {
		clear(zero)
	}
	return zero, nil
}
