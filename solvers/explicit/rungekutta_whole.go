package explicit

import (
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
)

// Arithmetic implements Arithmetical.
func (r *rungeKutta) Arithmetic() *solvers.Arithmetic { return &r.whole }

// describe fills in the arithmetic of the scheme's steps.
func (r *scheme) describe() {
	count := r.info.Stages
	form := func(t stages.Form) solvers.Terms { return solvers.Terms{Row: t.Row, C: t.C} }
	r.whole = solvers.Arithmetic{
		Stages: count, FSAL: r.info.FSAL, Nodes: r.c, Live: r.live, B: form(r.b), Sum: form(r.sum),
		Rows: len(r.a), SeededSum: form(r.seededSum),
	}
	for i := range r.a {
		r.whole.A = append(r.whole.A, form(r.a[i]))
		r.whole.SeededAt = append(r.whole.SeededAt, form(r.seededAt[i]))
	}
	for i := range count {
		r.whole.At = append(r.whole.At, form(r.at[i]))
	}
	if len(r.e3.C) == 0 {
		r.whole.E = form(r.e)
	} else {
		r.whole.Combined = [2]solvers.Terms{form(r.e), form(r.e3)}
	}
	for i := count; i < len(r.read); i++ {
		if theta := r.read[i]; theta > 0 {
			r.whole.Points = append(r.whole.Points, solvers.Point{Theta: theta, Weights: form(r.node[i])})
		}
	}
	r.whole.Curve = r.Curve()
	stages.FillSamples(&r.whole, r.Beta, r.Rows, r.info.DenseOrder)
}

// Sampling implements Sampling.
func (r *rungeKutta) Sampling(f solvers.Field, s *solvers.Step) *solvers.Arithmetic {
	r.extend(f, s)
	return &r.whole
}

// ReadGuards implements GuardReading.
func (r *rungeKutta) ReadGuards(f solvers.GuardReader, s *solvers.Step, rho []float64, truth []bool) bool {
	r.extend(f, s)
	return f.ReadGuards(&r.whole, s, rho, truth)
}
