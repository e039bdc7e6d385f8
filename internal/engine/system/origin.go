package system

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/internal/engine/origin"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/sens"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// trace notes where the number comes from that element j of the functionals has of output i of c, at a site.
func (w *Worker) trace(c *call, i, j int, s *sens.Site) {
	w.problem.Notes.First(j, func() origin.Origin {
		e := w.evaluator(c)
		from, _ := w.model.originIn(e, c.tape.Outputs[i].Value)
		f := &w.model.Compiled.Functionals[w.model.FunctionalAt(j)]
		if s.Kind != sens.SiteTime || f.Table == nil {
			return from
		}
		row := w.model.Compiled.InstantList[s.Index].Row
		from.Row = fmt.Sprintf(" in row %d of %q (%s = %s)", f.Table.Row(row), f.Table.Name,
			w.model.Checked.Time.Name, diag.Number(w.t[0]))
		for _, x := range w.model.Checked.Observations {
			if x.Table != f.Table || f.Span.Start < x.Span.Start || f.Span.End > x.Span.End {
				continue
			}
			if v, ok := origin.ValueAt(e, x.As); ok {
				name := strings.Join(strings.Fields(x.As.Text()), " ")
				from.Row += fmt.Sprintf(", where %q is %s", origin.Short(name), diag.Number(v))
			}
			if from.Span.File != x.Span.File { // in the density
				from.Needs = "; " + x.Needs
			}
		}
		return from
	})
}

// origin returns where an output of c, as it would run now, has its first number from that is not finite.
func (w *Worker) origin(c *call, output tape.Value) (origin.Origin, bool) {
	return w.model.originIn(w.evaluator(c), output)
}

// evaluator returns what c has computed, or would now, with all that leads to it.
func (w *Worker) evaluator(c *call) *tape.Evaluator[float64] {
	e := tape.NewEvaluator[float64](c.tape)
	for i, b := range c.ins {
		if from := w.in[b.vary][b.vec]; b.hi <= len(from) {
			copy(e.Input(c.tape.Inputs[i].Name), from[b.lo:b.hi])
		}
	}
	e.Run()
	return e
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
	return d.find(d.objectives, row, &vec.Values{vec.F: functionals, vec.P: d.problem.Point.p})
}

// Rates looks at the derivatives of the rates at (t, y) by states and params, with discretes and modes.
func (d *Derivatives) Rates(t float64, y, discretes, modes []float64) (origin.Origin, bool) {
	return d.find(d.rates, -1, &vec.Values{
		vec.T: {t}, vec.Y: y, vec.P: d.problem.Point.p, vec.D: discretes, vec.M: modes,
	})
}

// find runs e with a cotangent of 1 for element row of the result, or for all of them if row is -1.
func (d *Derivatives) find(e *tape.Evaluator[float64], row int, from *vec.Values) (origin.Origin, bool) {
	if e == nil {
		return origin.Origin{}, false
	}
	for _, in := range e.Tape().Inputs {
		name, to := tapec.MustName(in.Name), e.Input(in.Name)
		at, ok := d.problem.Model.layout.Find(name)
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

// originIn is origin.Of for a tape that reads values of the model. It names a param that is such a number.
func (m *Model) originIn(e *tape.Evaluator[float64], outputs ...tape.Value) (origin.Origin, bool) {
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

// OutputOf returns which output element i of all outputs belongs to.
func (w *Worker) OutputOf(i int) int {
	return slices.IndexFunc(w.value.Get(tapec.PartOutputs).outs, func(b binding) bool { return b.lo <= i && i < b.hi })
}

// OutputOrigin returns where output i at (t, y, d) has its first number from that is not finite.
func (w *Worker) OutputOrigin(t float64, y, d []float64, i int) (from origin.Origin, found bool) {
	c := w.value.Get(tapec.PartOutputs)
	w.t[0] = t
	saved := w.in[tapec.Primal][vec.D]
	w.in[tapec.Primal][vec.Y], w.in[tapec.Primal][vec.D] = y, d
	from, found = w.origin(c, c.tape.Outputs[i].Value)
	w.in[tapec.Primal][vec.D] = saved
	return from, found
}

// load copies what t reads from the vectors to the inputs of its evaluator. It reports whether all
// inputs are there. What is missing at the end of an input is zero, so that a one-hot vector of
// firings need not be longer than its 1.
func (m *Model) load(t *tape.Tape, e *tape.Evaluator[float64], from *vec.Values) bool {
	for i := range t.Inputs {
		if in := &t.Inputs[i]; !m.loadInput(in, e.Value(tape.Value(i)), from) {
			return false
		}
	}
	return true
}

// loadInput is load for one input.
func (m *Model) loadInput(in *tape.Input, to []float64, from *vec.Values) bool {
	at, ok := m.reads[in.Name]
	if !ok { // the tape is made of those of the model
		at, ok = m.layout.Find(tapec.MustName(in.Name))
	}
	if !ok || at.Vec == vec.Row && from[vec.Row] == nil || at.Offset > len(from[at.Vec]) {
		return false
	}
	clear(to)
	copy(to, from[at.Vec][at.Offset:])
	return true
}
