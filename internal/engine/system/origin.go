package system

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/sens"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Origin is where a number that is not finite comes from.
type Origin struct {
	Span  source.Span // of an expression of the text; zero where there is none
	Cause string      // in words, such as "0/0"; "" where that is not known
	Row   string      // where it comes from a row of a table: ` in row 2 of "D" (t = 2), where "x" is 0`
	Needs string      // in that case what the noise demands: "; normal needs sd > 0"
}

// Expression returns the text of the expression, on one line.
func (o Origin) Expression() string { return strings.Join(strings.Fields(o.Span.Text()), " ") }

// String says what is wrong with the expression: `"log(x)" is the logarithm of a negative number`.
func (o Origin) String() string {
	if o.Cause == "" {
		return fmt.Sprintf("%q is not a finite number", short(o.Expression()))
	}
	return fmt.Sprintf("%q is %s", short(o.Expression()), o.Cause)
}

// short cuts an expression that would fill the screen.
func short(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// origins keep the first origin of each of some elements. Goroutines may share them.
type origins struct {
	mu    sync.Mutex
	of    map[int]Origin
	lacks map[int]Lack
}

// Lack says why a functional did not come about that reads one firing of an event, or at times.
type Lack struct {
	Event string // "" where it is read at times
	Array bool
	Fired int // how often it fired in the run, of an array that element which is read

	T, From, To float64 // a time outside of the run, and the run
}

// String returns a clause.
func (l Lack) String() string {
	if l.Event == "" {
		return fmt.Sprintf("%s lies outside of the run, from %s to %s", diag.Number(l.T), diag.Number(l.From),
			diag.Number(l.To))
	}
	name := l.Event
	if l.Array {
		name = "this element of " + name
	}
	if l.Fired == 0 {
		return name + " did not fire in this run"
	}
	return name + " fired " + diag.Count(l.Fired, "time") + " in this run"
}

func (o *origins) lack(i int, l Lack) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lacks == nil {
		o.lacks = map[int]Lack{}
	}
	o.lacks[i] = l
}

// Lack tells why element i of the functionals of the last run did not come about, if a firing of an event is missing.
func (p *Problem) Lack(i int) (Lack, bool) {
	p.origins.mu.Lock()
	defer p.origins.mu.Unlock()
	l, ok := p.origins.lacks[i]
	return l, ok
}

func (o *origins) clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.of)
	clear(o.lacks)
}

// Origin returns where element i of the functionals of the last run got its first number from that is not finite; false
// where that is not known, or where it is not finite because it did not come about.
func (p *Problem) Origin(i int) (Origin, bool) {
	p.origins.mu.Lock()
	defer p.origins.mu.Unlock()
	o, ok := p.origins.of[i]
	return o, ok
}

// trace notes where the number comes from that element j of the functionals has of output i of c, at a site.
func (w *Worker) trace(c *call, i, j int, s *sens.Site) {
	o := &w.problem.origins
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.of[j]; known {
		return
	}
	if o.of == nil {
		o.of = map[int]Origin{}
	}
	e := w.evaluator(c)
	from, _ := w.model.originIn(e, c.tape.Outputs[i].Value)
	f := &w.model.Compiled.Functionals[w.model.FunctionalAt(j)]
	if s.Kind == sens.SiteTime && f.Table != nil {
		row := w.model.Compiled.InstantList[s.Index].Row
		from.Row = fmt.Sprintf(" in row %d of %q (%s = %s)", f.Table.Row(row), f.Table.Name,
			w.model.Checked.Time.Name, diag.Number(w.t[0]))
		for _, x := range w.model.Checked.Observations {
			if x.Table != f.Table || f.Span.Start < x.Span.Start || f.Span.End > x.Span.End {
				continue
			}
			if v, ok := valueAt(e, x.As); ok {
				from.Row += fmt.Sprintf(", where %q is %s", short(strings.Join(strings.Fields(x.As.Text()), " ")),
					diag.Number(v))
			}
			if from.Span.File != x.Span.File { // in the density
				from.Needs = "; " + x.Needs
			}
		}
	}
	o.of[j] = from
}

// valueAt returns the value of the scalar expression at a place of the text.
func valueAt(e *tape.Evaluator[float64], at source.Span) (float64, bool) {
	t := e.Tape()
	for v := range tape.Value(t.Values()) {
		name := ""
		if int(v) < len(t.Inputs) {
			name = tapec.MustName(t.Inputs[v].Name).Of
		}
		if (name != "" && name == at.Text() || name == "" && t.Span(v) == at) && t.Shape(v).Size() == 1 {
			return e.Value(v)[0], true
		}
	}
	return 0, false
}

// origin returns where an output of c, as it would run now, has its first number from that is not finite.
func (w *Worker) origin(c *call, output tape.Value) (Origin, bool) {
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
	problem           *Problem
	rates, objectives *tape.Evaluator[float64] // transposes, by all params; nil for none
}

// Derivatives returns a search at the point of p. It costs more than a step.
func (p *Problem) Derivatives() *Derivatives {
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
func (d *Derivatives) Objective(row int, functionals []float64) (Origin, bool) {
	return d.find(d.objectives, row, &values{vecF: functionals, vecP: d.problem.Point.p})
}

// Rates looks at the derivatives of the rates at (t, y) by states and params, with discretes and modes.
func (d *Derivatives) Rates(t float64, y, discretes, modes []float64) (Origin, bool) {
	return d.find(d.rates, -1, &values{
		vecT: {t}, vecY: y, vecP: d.problem.Point.p, vecD: discretes, vecM: modes,
	})
}

// find runs e with a cotangent of 1 for element row of the result, or for all of them if row is -1.
func (d *Derivatives) find(e *tape.Evaluator[float64], row int, from *values) (Origin, bool) {
	if e == nil {
		return Origin{}, false
	}
	for _, in := range e.Tape().Inputs {
		name, to := tapec.MustName(in.Name), e.Input(in.Name)
		at, ok := d.problem.Model.layout.find(name)
		switch {
		case name.Variation == tapec.Cotangent:
			for i := range to {
				to[i] = 0
				if row < 0 || i == row {
					to[i] = 1
				}
			}
		case ok && at.offset <= len(from[at.vec]):
			copy(to, from[at.vec][at.offset:])
		}
	}
	e.Run()
	return originOf(e)
}

// originIn is originOf for a tape that reads values of the model. It names a param that is such a number.
func (m *Model) originIn(e *tape.Evaluator[float64], outputs ...tape.Value) (Origin, bool) {
	v, found := e.FirstNonFinite(outputs...)
	if inputs := e.Tape().Inputs; found && int(v) < len(inputs) {
		name := tapec.MustName(inputs[v].Name)
		i := slices.IndexFunc(m.Checked.Params, func(s *model.Symbol) bool { return s.Name == name.Of })
		if name.Role != tapec.Param || name.Variation != tapec.Primal || i < 0 {
			return Origin{}, false
		}
		k := slices.IndexFunc(e.Value(v), func(x float64) bool { return x-x != 0 })
		return Origin{Span: m.Checked.Params[i].Span, Cause: diag.Number(e.Value(v)[k])}, true
	}
	return originOf(e, outputs...)
}

// originOf returns the origin of the first number of e that is not finite and reaches one of some outputs; any, if none
// is named.
func originOf(e *tape.Evaluator[float64], outputs ...tape.Value) (Origin, bool) {
	v, found := e.FirstNonFinite(outputs...)
	if !found {
		return Origin{}, false
	}
	at := e.Tape().Span(v)
	return Origin{Span: at, Cause: tape.Cause(e, v)}, !at.IsZero()
}

// OutputOf returns which output element i of all outputs belongs to.
func (w *Worker) OutputOf(i int) int {
	return slices.IndexFunc(w.value.Get(tapec.PartOutputs).outs, func(b binding) bool { return b.lo <= i && i < b.hi })
}

// OutputOrigin returns where output i at (t, y, d) has its first number from that is not finite.
func (w *Worker) OutputOrigin(t float64, y, d []float64, i int) (from Origin, found bool) {
	c := w.value.Get(tapec.PartOutputs)
	w.t[0] = t
	saved := w.in[tapec.Primal][vecD]
	w.in[tapec.Primal][vecY], w.in[tapec.Primal][vecD] = y, d
	from, found = w.origin(c, c.tape.Outputs[i].Value)
	w.in[tapec.Primal][vecD] = saved
	return from, found
}

// values are vectors that hold the inputs of tapes which are evaluated beside a run.
type values [numVectors][]float64

// load copies what t reads from the vectors to the inputs of its evaluator. It reports whether all
// inputs are there. What is missing at the end of an input is zero, so that a one-hot vector of
// firings need not be longer than its 1.
func (m *Model) load(t *tape.Tape, e *tape.Evaluator[float64], from *values) bool {
	for i := range t.Inputs {
		if in := &t.Inputs[i]; !m.loadInput(in, e.Value(tape.Value(i)), from) {
			return false
		}
	}
	return true
}

// loadInput is load for one input.
func (m *Model) loadInput(in *tape.Input, to []float64, from *values) bool {
	at, ok := m.reads[in.Name]
	if !ok { // the tape is made of those of the model
		at, ok = m.layout.find(tapec.MustName(in.Name))
	}
	if !ok || at.vec == vecRow && from[vecRow] == nil || at.offset > len(from[at.vec]) {
		return false
	}
	clear(to)
	copy(to, from[at.vec][at.offset:])
	return true
}
