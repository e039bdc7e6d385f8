package run

import (
	"context"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
)

// Along is a recorded run that complex steps and tangents repeat along directions. Its parts are the
// runs of a model's experiments.
type Along struct {
	run     *Run
	worker  *system.Worker
	record  *record.Trajectory
	method  *sens.ComplexStep
	tangent *sens.Tangent
	parts   []*Along
}

// Along records a run of setup and prepares to move it in directions of the variables.
func (m *Model) Along(ctx context.Context, setup Setup, variables []result.Variable) (*Along, error) {
	r, err := m.Begin(setup)
	if err != nil {
		return nil, err
	}
	a := &Along{run: r}
	if r.readsTotals() && len(m.Checked.Randoms) > 0 {
		return nil, noneOfPopulations(m, "a check of the gradient by steps along directions")
	}
	if r.readsTotals() {
		for i, x := range m.Experiments {
			its := r.ofPart(i, setup, variables)
			its.Progress = setup.Progress
			part, err := x.Model.Along(ctx, its, variables)
			if err != nil {
				return nil, x.wrap(err)
			}
			a.parts = append(a.parts, part)
		}
		sums, err := r.simulators(setup)
		if err != nil {
			return nil, err
		}
		if _, err := r.totalValues(ctx, setup.Progress, sums); err != nil {
			return nil, err
		}
	}
	r.Differentiate(variables)
	_, err = asNeeded(r, func() (solvers.Stats, error) {
		values, err := r.problem.Kit(1, compiled.Values, false)
		if err != nil {
			return solvers.Stats{}, err
		}
		a.worker = r.problem.Worker(values)
		a.record = &record.Trajectory{}
		r.record(a.record, values)
		if err := r.controlErrors(variables, a.record); err != nil {
			return solvers.Stats{}, err
		}
		return r.forward(ctx, a.worker, setup.Progress, a.record)
	})
	if err != nil {
		return nil, err
	}
	if a.method, err = r.complexStep(); err != nil {
		return nil, err
	}
	if a.tangent, err = r.tangentMethod(1, compiled.Push); err != nil {
		return nil, err
	}
	for _, method := range []sens.Teller{a.method, a.tangent} {
		method.SetTell(seldom(setup.Progress, r.settings.Mode))
	}
	return a, nil
}

// By returns the derivatives of the objectives along v by complex steps, after a move of length at
// along v. v is laid out like a row of the gradient.
func (a *Along) By(ctx context.Context, variables []result.Variable, v []float64, at float64) ([]float64, error) {
	dp, dy0, err := a.moves(ctx, variables, v, at)
	if err != nil {
		return nil, err
	}
	psi, err := a.method.Along(ctx, a.record, dp, dy0, at)
	if err != nil {
		return nil, a.run.failed(err, a.worker)
	}
	return psi, nil
}

// Pushed returns the derivatives of the objectives along v by tangents.
func (a *Along) Pushed(ctx context.Context, variables []result.Variable, v []float64) ([]float64, error) {
	dp, dy0, err := a.moves(ctx, variables, v, 0)
	if err != nil {
		return nil, err
	}
	psi, err := a.tangent.Along(ctx, a.record, dp, dy0)
	if err != nil {
		return nil, a.run.failed(err, a.worker)
	}
	return psi, nil
}

// Replays returns the objectives of repetitions of the run, each moved along v by one of steps. The runs of experiments
// are repeated as well, at the same moves.
func (a *Along) Replays(ctx context.Context, variables []result.Variable, v, steps []float64) ([][]float64, error) {
	if len(a.parts) > 0 {
		f, err := a.Analytic(ctx)
		if err != nil {
			return nil, err
		}
		list := make([][]float64, len(steps))
		for k, eps := range steps {
			psi, err := f.At(ctx, variables, v, complex(eps, 0))
			if err != nil {
				return nil, err
			}
			for _, x := range psi {
				list[k] = append(list[k], real(x))
			}
		}
		return list, nil
	}
	dp, dy0, err := a.moves(ctx, variables, v, 0)
	if err != nil {
		return nil, err
	}
	psi, err := a.method.Replays(ctx, a.record, dp, dy0, steps)
	if err != nil {
		return nil, a.run.failed(err, a.worker)
	}
	return psi, nil
}

// moves returns how the active parameters and the initial values move along v.
func (a *Along) moves(ctx context.Context, variables []result.Variable, v []float64, at float64) (dp, dy0 []float64,
	err error,
) {
	m := a.run.model
	totals := make([]float64, len(m.Checked.Totals))
	for i, part := range a.parts {
		psi, err := part.By(ctx, variables, v, at)
		if err != nil {
			return nil, nil, m.Experiments[i].wrap(err)
		}
		for k, x := range psi {
			totals[k] += x
		}
	}
	dp, dy0 = a.run.problem.Directions(systemVariables(variables))(v, totals)
	return dp, dy0, nil
}

// Analytic is a run, and those of its experiments, as a function of a move along a direction.
type Analytic struct {
	along *Along
	run   *sens.Analytic
	parts []*Analytic
}

// Analytic returns the recorded run as a function of a move.
func (a *Along) Analytic(ctx context.Context) (*Analytic, error) {
	f, err := a.method.Analytic(ctx, a.record)
	if err != nil {
		return nil, a.run.failed(err, a.worker)
	}
	out := &Analytic{along: a, run: f}
	for i, p := range a.parts {
		part, err := p.Analytic(ctx)
		if err != nil {
			return nil, a.run.model.Experiments[i].wrap(err)
		}
		out.parts = append(out.parts, part)
	}
	return out, nil
}

// At returns the objectives after the move z·v, with v laid out like a row of the gradient. Params
// that follow others, and totals, are computed at the moved point; they are not extrapolated.
func (f *Analytic) At(ctx context.Context, variables []result.Variable, v []float64, z complex128) ([]complex128,
	error,
) {
	r := f.along.run
	var totals []complex128
	if len(f.parts) > 0 {
		totals = make([]complex128, len(r.model.Checked.Totals))
	}
	for i, part := range f.parts {
		psi, err := part.At(ctx, variables, v, z)
		if err != nil {
			return nil, r.model.Experiments[i].wrap(err)
		}
		for k := range totals {
			totals[k] += psi[k]
		}
	}
	dz := make([]complex128, len(v))
	for i, x := range v {
		dz[i] = elem.CMul(z, complex(x, 0))
	}
	active, dy0 := r.problem.Displaced(systemVariables(variables), dz, totals)
	psi, err := f.run.At(ctx, active, dy0)
	if err != nil {
		return nil, r.failed(err, f.along.worker)
	}
	return psi, nil
}

// spacings are those of the differences that check second derivatives, in moves that change params by
// about their own size. They are tried in order until two results agree. The difference of these two
// bounds truncation and rounding.
var spacings = []float64{0x1p-8, 0x1p-10, 0x1p-13, 0x1p-16, 0x1p-19}

// agreed is the relative difference of two results that ends the search for a spacing.
const agreed = 1e-9

// Curvatures returns the second derivatives of the objectives along v, and bounds of their errors: NaN
// where there is none.
func (f *Analytic) Curvatures(
	ctx context.Context, variables []result.Variable, v []float64) (value, doubt []float64,
	err error,
) {
	move := func(z complex128) ([]complex128, error) { return f.At(ctx, variables, v, z) }
	var last []float64
	for _, r := range spacings {
		now, err := sens.Curvature(move, r)
		if err != nil {
			return nil, nil, err
		}
		if last == nil {
			value, doubt = slices.Clone(now), make([]float64, len(now))
			for i := range doubt {
				doubt[i] = math.NaN()
			}
		}
		content := last != nil
		for i := range last {
			if off := math.Abs(now[i] - last[i]); off <= doubt[i] || math.IsNaN(doubt[i]) {
				value[i], doubt[i] = now[i], off
			}
			content = content && doubt[i] <= float64(agreed*math.Abs(value[i]))
		}
		if last = now; content {
			break
		}
	}
	return value, doubt, nil
}
