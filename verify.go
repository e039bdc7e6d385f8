package odes

import (
	"context"
	"math"

	"odes.dev/odes/internal/elem"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
)

// VerifyOptions say how thoroughly a gradient is checked. The zero value is ready to use.
type VerifyOptions struct {
	Directions int    // random directions; 0 means 3
	Seed       uint64 // of their generator
	// Tolerance is the largest relative error that passes; 0 means 1e-8.
	Tolerance float64
}

// secondMethodColumns bounds the gradients that a second method computes
// again: its cost grows with the number of columns.
const secondMethodColumns = 2000

// Verification is what Model.Verify found.
type Verification struct {
	Settings   RunSettings
	Directions int
	Second     string // the second method
	// Large tells that the gradient is too large to be computed again: the second method went along the directions only.
	Large bool
	// Steps are the lengths of moves along the first direction whose remainders the verdicts list. A move of
	// length 1 changes parameters by about their own size.
	Steps      []float64
	Objectives []Verdict
	Warnings   []diag.Diagnostic
}

// Verdict is what was found of one objective. Errors are relative to the sum of
// the absolute terms of the inner product, or to the largest derivative of the row.
type Verdict struct {
	Name    string
	Value   float64
	Outcome string  // "ok", "wrong", or "no value"
	Complex float64 // worst error of a derivative along a direction, against complex step
	Second  float64 // worst error of a derivative, against the second method
	// Remainders are |ψ(ε) - ψ(0) - ε·(gradient along the direction)| over the repeated run, for each of
	// Verification.Steps. Where the gradient is right they vanish like ε²: Order is the exponent seen between the last two
	// above rounding, NaN if there are none (ψ is linear along the direction, say).
	Remainders []float64
	Order      float64
	// Noise is how far the repeated run, in complex arithmetic, comes from the value, relative to it: where
	// small changes grow, as in chaos, nothing better can be asked of a comparison with it.
	Noise float64
}

// Wrong reports whether some gradient is.
func (v *Verification) Wrong() bool {
	for _, o := range v.Objectives {
		if o.Outcome == "wrong" {
			return true
		}
	}
	return false
}

// Verify checks the gradient that Sensitivities gives for opts, by two others
// that share neither its code nor its order of evaluation: complex steps along
// random directions over the recorded steps, and a second sensitivity method.
func (m *Model) Verify(ctx context.Context, opts Options, how VerifyOptions) (*Verification, error) {
	if how.Directions <= 0 {
		how.Directions = 3
	}
	if how.Tolerance <= 0 {
		how.Tolerance = 1e-8
	}
	s, err := m.Sensitivities(ctx, opts)
	if err != nil {
		return nil, err
	}
	out := &Verification{Settings: s.Settings, Directions: how.Directions, Warnings: s.Warnings}
	for _, v := range s.Values {
		out.Objectives = append(out.Objectives, Verdict{Name: v.Name, Value: v.Value})
	}
	if err := m.verifyAlong(ctx, opts, how, s, out); err != nil {
		return nil, err
	}
	if s.Columns <= secondMethodColumns {
		if err := m.verifySecond(ctx, opts, s, out); err != nil {
			return nil, err
		}
	}
	mode := s.Settings.Mode
	for i := range out.Objectives {
		tolerance := how.Tolerance
		if mode == "forward" || mode == "continuous" || mode == "backsolve" {
			// What these approximate is not the derivative of the computed numbers.
			tolerance = max(tolerance, float64(1e4*s.Settings.RTol), float64(10*s.Settings.ATol)/math.Abs(out.Objectives[i].Value))
		}
		out.Objectives[i].judge(tolerance)
	}
	return out, nil
}

func (v *Verdict) judge(tolerance float64) {
	switch {
	case math.IsNaN(v.Value):
		v.Outcome, v.Complex, v.Second, v.Remainders, v.Order = "no value", 0, 0, nil, math.NaN()
	case v.Complex <= max(tolerance, float64(1e3*v.Noise)) && v.Second <= tolerance:
		v.Outcome = "ok"
	default: // NaN, too
		v.Outcome = "wrong"
	}
}

// along is a recorded run that complex steps replay along directions; of a
// model with experiments also theirs.
type along struct {
	run    *run
	worker *worker
	record *solvers.Trajectory
	method *sens.ComplexStep
	second *sens.Tangent
	parts  []*along
}

func (m *Model) along(ctx context.Context, opts Options, variables []Variable) (*along, error) {
	r, err := m.begin(opts)
	if err != nil {
		return nil, err
	}
	a := &along{run: r}
	if r.readsTotals() {
		its := r.partOptions(opts, variables)
		for _, x := range m.experiments {
			part, err := x.model.along(ctx, its, variables)
			if err != nil {
				return nil, x.wrap(err)
			}
			a.parts = append(a.parts, part)
		}
		if _, err := r.totalValues(ctx, opts); err != nil {
			return nil, err
		}
	}
	active := m.withTotals(m.active(r.point, variables))
	r.plan = newPlan(m.layout, active)
	values, err := m.programs.kit(1, nil, valuesOnly, false)
	if err != nil {
		return nil, err
	}
	a.worker = r.worker(values)
	a.record = &solvers.Trajectory{Limit: r.settings.solver.Memory}
	if err := r.gauged(active, variables, a.record); err != nil {
		return nil, err
	}
	if _, err := r.forward(ctx, a.worker, nil, a.record); err != nil {
		return nil, err
	}
	r.settings.mode = "complex"
	method, err := r.sensitivityMethod(1, active)
	if err != nil {
		return nil, err
	}
	a.method = method.(*sens.ComplexStep)
	r.settings.mode = "tangent"
	if method, err = r.sensitivityMethod(1, active); err != nil {
		return nil, err
	}
	a.second = method.(*sens.Tangent)
	return a, nil
}

// by returns the derivatives of the objectives along v, which is laid out like a row of the gradient.
func (a *along) by(ctx context.Context, variables []Variable, v []float64) ([]float64, error) {
	dp, dy0, err := a.moves(ctx, variables, v)
	if err != nil {
		return nil, err
	}
	psi, err := a.method.Along(ctx, a.record, dp, dy0)
	if err != nil {
		return nil, a.run.model.failed(err, a.worker, a.run.method(0))
	}
	return psi, nil
}

// pushed is by, by a tangent in place of a complex step.
func (a *along) pushed(ctx context.Context, variables []Variable, v []float64) ([]float64, error) {
	dp, dy0, err := a.moves(ctx, variables, v)
	if err != nil {
		return nil, err
	}
	psi, err := a.second.Along(ctx, a.record, dp, dy0)
	if err != nil {
		return nil, a.run.model.failed(err, a.worker, a.run.method(0))
	}
	return psi, nil
}

// replays returns the objectives of repetitions of the run that are moved along v by each of steps.
func (a *along) replays(ctx context.Context, variables []Variable, v, steps []float64) ([][]float64, error) {
	dp, dy0, err := a.moves(ctx, variables, v)
	if err != nil {
		return nil, err
	}
	psi, err := a.method.Replays(ctx, a.record, dp, dy0, steps)
	if err != nil {
		return nil, a.run.model.failed(err, a.worker, a.run.method(0))
	}
	return psi, nil
}

// moves returns how the active parameters and the initial values move along v.
func (a *along) moves(ctx context.Context, variables []Variable, v []float64) (dp, dy0 []float64, err error) {
	m := a.run.model
	totals := make([]float64, len(m.checked.Totals))
	for i, part := range a.parts {
		psi, err := part.by(ctx, variables, v)
		if err != nil {
			return nil, nil, m.experiments[i].wrap(err)
		}
		for k, x := range psi {
			totals[k] += x
		}
	}
	dp, dy0 = m.direction(a.run, variables, v, totals)
	return dp, dy0, nil
}

// verifyAlong compares inner products of the gradient with complex steps.
func (m *Model) verifyAlong(ctx context.Context, opts Options, how VerifyOptions, s *Sensitivities, out *Verification) error {
	a, err := m.along(ctx, opts, s.Variables)
	if err != nil {
		return err
	}
	if s.Columns > secondMethodColumns {
		out.Second, out.Large = "tangent", true
	}
	random := elem.NewRand(how.Seed)
	for n := range how.Directions {
		// Relative changes of size one, so that parameters of all scales count.
		v := make([]float64, s.Columns)
		for _, x := range s.Variables {
			for k := range x.Size() {
				v[x.Offset+k] = float64(random.Norm() * max(math.Abs(m.valueOf(a.run.point, x, k)), 1e-3))
			}
		}
		psi, err := a.by(ctx, s.Variables, v)
		if err != nil {
			return err
		}
		var pushed []float64
		if out.Large {
			if pushed, err = a.pushed(ctx, s.Variables, v); err != nil {
				return err
			}
		}
		if n == 0 {
			out.Steps = taylorSteps
			replays, err := a.replays(ctx, s.Variables, v, append([]float64{0}, out.Steps...))
			if err != nil {
				return err
			}
			for i := range out.Objectives {
				slope := 0.0
				for k, d := range s.Gradient[i*s.Columns : (i+1)*s.Columns] {
					slope += float64(d * v[k])
				}
				out.Objectives[i].taylor(replays, i, slope, out.Steps)
			}
		}
		for i := range out.Objectives {
			sum, size := 0.0, 0.0
			for k, d := range s.Gradient[i*s.Columns : (i+1)*s.Columns] {
				sum += float64(d * v[k])
				size += math.Abs(float64(d * v[k]))
			}
			out.Objectives[i].Complex = worse(out.Objectives[i].Complex, math.Abs(psi[i]-sum), size)
			if out.Large {
				out.Objectives[i].Second = worse(out.Objectives[i].Second, math.Abs(pushed[i]-sum), size)
			}
		}
	}
	return nil
}

// taylorSteps are the lengths of the moves whose remainders are listed.
var taylorSteps = []float64{1e-2, 1e-3, 1e-4, 1e-5, 1e-6}

// taylor fills in what repetitions of a run tell of objective i: the first one
// was not moved, the others along a direction in which the derivative is slope.
func (v *Verdict) taylor(replays [][]float64, i int, slope float64, steps []float64) {
	base := replays[0][i]
	v.Noise = math.Abs(base-v.Value) / max(math.Abs(v.Value), 1e-300)
	v.Remainders, v.Order = make([]float64, len(steps)), math.NaN()
	for k, eps := range steps {
		v.Remainders[k] = math.Abs(replays[k+1][i] - base - float64(eps*slope))
	}
	for k := 1; k < len(steps); k++ {
		// Rounding, which small changes that grow make larger, hides what is below.
		rounding := max(1e-13*math.Abs(base), float64(1e-9*math.Abs(float64(steps[k]*slope))), 10*math.Abs(base-v.Value))
		if v.Remainders[k] > rounding {
			v.Order = elem.Log(v.Remainders[k-1]/v.Remainders[k]) / elem.Log(steps[k-1]/steps[k])
		}
	}
}

// worse returns the larger of a relative error and off/size; what is not a number is worst.
func worse(err, off, size float64) float64 {
	const least = 1e-12 // where there is nothing to be relative to
	rel := off / max(size, least)
	if rel > err || math.IsNaN(rel) {
		return rel
	}
	return err
}

// valueOf returns the value of element k of a variable; of initial values 1.
func (m *Model) valueOf(pt *point, v Variable, k int) float64 {
	if v.Initial {
		return 1
	}
	return pt.p[m.part("p."+v.Name).offset+k]
}

// direction spreads a direction over the variables to the active parameters,
// those that follow others through their defaults included, the totals and the initial values.
func (m *Model) direction(r *run, variables []Variable, v, totals []float64) (dp, dy0 []float64) {
	const tiny = 0x1p-100
	moved := make([]float64, m.layout.nP)
	for _, x := range variables {
		from := v[x.Offset : x.Offset+x.Size()]
		if x.Initial {
			if dy0 == nil {
				dy0 = make([]float64, m.layout.nY)
			}
			copy(dy0[m.part("y."+x.Name).offset:], from)
			continue
		}
		copy(moved[m.part("p."+x.Name).offset:], from)
	}
	for k, t := range m.checked.Totals {
		moved[m.part("p."+t.Name).offset] = totals[k]
	}
	for _, d := range m.compiled.Defaults { // after what they use
		if r.point.cutP[d.Param] {
			continue
		}
		e := tape.NewEvaluator[complex128](d.Tape)
		for _, in := range d.Tape.Inputs {
			at := m.part(in.Name)
			to := e.Input(in.Name)
			for i := range to {
				to[i] = complex(r.point.p[at.offset+i], float64(tiny*moved[at.offset+i]))
			}
		}
		e.Run()
		at := m.part("p." + d.Param.Name).offset
		for i, x := range e.Output("p." + d.Param.Name) {
			moved[at+i] += imag(x) / tiny
		}
	}
	return r.plan.values(m.layout, moved), dy0
}

// verifySecond computes the gradient again, by tangents, or by adjoints if it came from tangents.
func (m *Model) verifySecond(ctx context.Context, opts Options, s *Sensitivities, out *Verification) error {
	out.Second = "tangent"
	if s.Settings.Mode == "tangent" {
		out.Second = "adjoint"
	}
	opts.Settings = append(append([]Setting(nil), opts.Settings...), Setting{Key: "sens.mode", Value: out.Second})
	opts.Gradient = nil
	second, err := m.Sensitivities(ctx, opts)
	if err != nil {
		return err
	}
	for i := range out.Objectives {
		size, off := 0.0, 0.0
		for k := range s.Columns {
			a, b := s.Gradient[i*s.Columns+k], second.Gradient[i*s.Columns+k]
			size = max(size, math.Abs(a), math.Abs(b))
			off = worse(off, math.Abs(a-b), 1)
		}
		out.Objectives[i].Second = worse(0, off, size)
	}
	return nil
}
