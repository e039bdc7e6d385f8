package compiled

import (
	"slices"

	"odes.dev/odes/internal/engine/origin"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// NonFiniteValue returns the expression that makes an objective infinite or NaN, at the functionals of a run: the one
// that the objective reads it from, through others that inherit it. row is the objective's place among all. It returns
// false if no expression of the text makes it. functional is the element of the functionals that it is, or -1.
func (p *Task) NonFiniteValue(row int, functionals []float64) (from origin.Origin, functional int, found bool) {
	t := p.Model.Compiled.Objective
	e := tape.NewEvaluator[float64](t)
	p.Model.Load(t, e, &vec.Values{vec.F: functionals, vec.P: p.Point.P})
	e.Run()
	wrong := func(v tape.Value) bool {
		return slices.ContainsFunc(e.Value(v), func(x float64) bool { return x-x != 0 })
	}
	v, _ := t.Output(tapec.Objectives.Name().String())
	for {
		in := t.Instr(v)
		if in == nil {
			break
		}
		next := v
		for k, a := range in.Args {
			switch {
			case in.Op == tape.Concat && in.Attr.Axis == 0 && row >= 0: // of the objectives
				if row -= t.Shape(a).Size(); row < 0 {
					next = a
				}
			case in.Op == tape.Select && !slices.Contains(e.Value(in.Args[0]), float64(2-k)):
				// The condition, or a branch that is not taken.
			case t.Instr(a) != nil && t.Instr(a).Op == tape.Const:
				// A constant has no place that tells more.
			case next == v && wrong(a):
				next = a
			}
		}
		if next == v {
			break
		}
		v, row = next, -1
	}
	from, functional = origin.Origin{Span: t.Span(v), Cause: tape.Cause(e, v)}, -1
	if int(v) < len(t.Inputs) {
		if place, ok := p.Model.Layout.Find(tapec.MustName(t.Inputs[v].Name)); ok && place.Vec == vec.F {
			functional = place.Offset
			for functional < place.Offset+place.Len-1 && functionals[functional]-functionals[functional] == 0 {
				functional++
			}
			from.Span = p.Model.FunctionalSpan(functional)
		}
	}
	return from, functional, !from.Span.IsZero()
}

// Derivatives finds where derivatives come from that are not finite numbers.
type Derivatives struct {
	problem           *Task
	rates, objectives *tape.Evaluator[float64] // transposes, by all params; nil for none
}

// Derivatives returns a search at the point of p. It costs more than a step.
func (p *Task) Derivatives() *Derivatives {
	d := derivatives{active: map[string]bool{}}
	for _, name := range Names(p.Model.Checked.Params) {
		d.active[name] = true
	}
	transpose := func(t *tape.Tape) *tape.Evaluator[float64] {
		if t == nil {
			return nil
		}
		back, err := d.pull(t, false)
		if err != nil || back == nil {
			return nil
		}
		return tape.NewEvaluator[float64](back)
	}
	return &Derivatives{p, transpose(p.Model.Compiled.Rates), transpose(p.Model.Compiled.Objective)}
}

// Objective looks at the derivatives of objective row by the functionals and by params.
func (d *Derivatives) Objective(row int, functionals []float64) (origin.Origin, bool) {
	return d.find(d.objectives, row, &vec.Values{vec.F: functionals, vec.P: d.problem.Point.P})
}

// Rates looks at the derivatives of the rates at (t, y) by states and params, with discretes and modes.
func (d *Derivatives) Rates(t float64, y, discretes, modes []float64) (origin.Origin, bool) {
	return d.find(d.rates, -1, &vec.Values{
		vec.T: {t}, vec.Y: y, vec.P: d.problem.Point.P, vec.D: discretes, vec.M: modes,
	})
}

// find runs e with a cotangent of 1 for element row of the result, or for all of them if row is -1.
func (d *Derivatives) find(e *tape.Evaluator[float64], row int, from *vec.Values) (origin.Origin, bool) {
	if e == nil {
		return origin.Origin{}, false
	}
	for _, in := range e.Tape().Inputs {
		name, to := tapec.MustName(in.Name), e.Input(in.Name)
		at, ok := d.problem.Model.Layout.Find(name)
		switch {
		case name.Variation == tapec.Cotangent:
			for i := range to {
				to[i] = 0
				if row < 0 || i == row {
					to[i] = 1
				}
			}
		case ok && at.Offset <= len(from[at.Vec]):
			copy(to, from[at.Vec][at.Offset:])
		}
	}
	e.Run()
	return origin.Of(e)
}

// OriginIn is origin.Of for a tape that reads values of the model. It names a param that is such a number.
func (m *Model) OriginIn(e *tape.Evaluator[float64], outputs ...tape.Value) (origin.Origin, bool) {
	v, found := e.FirstNonFinite(outputs...)
	if inputs := e.Tape().Inputs; found && int(v) < len(inputs) {
		name := tapec.MustName(inputs[v].Name)
		i := slices.IndexFunc(m.Checked.Params, func(s *model.Symbol) bool { return s.Name == name.Of })
		if name.Role != tapec.Param || name.Variation != tapec.Primal || i < 0 {
			return origin.Origin{}, false
		}
		k := slices.IndexFunc(e.Value(v), func(x float64) bool { return x-x != 0 })
		return origin.Origin{Span: m.Checked.Params[i].Span, Cause: diag.Number(e.Value(v)[k])}, true
	}
	return origin.Of(e, outputs...)
}
