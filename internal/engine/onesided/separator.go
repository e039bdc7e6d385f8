// Package onesided finds derivatives that are those of one side: kinks that a run meets, conditions that rest at their
// thresholds or are set to them, and causes that come together and may come apart. What it finds are suspects; runs to
// either side decide.
package onesided

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Worker is what a Separator asks a worker of the run for.
type Worker interface {
	Enter(d, m []float64)
	Eval(t float64, y, k []float64)
	GuardValues(t float64, y, rho []float64, truth []bool)
	// ClockMargins returns the margins of conditions of time alone, until the next call.
	ClockMargins(t float64) []float64
	// Modes are those that were entered last.
	Modes() []float64
	Instants() []solvers.Instant
	// Repeat moves times of events that repeat to those of a run that begins with a state that does.
	Repeat(times []float64)
}

// Separator says what can come apart that meets in a run, and what moves it: for other values of what derivatives are
// taken by. It implements solvers.Separator.
type Separator struct {
	worker     Worker
	model      *compiled.Model
	task       *compiled.Task
	evaluators map[*tape.Tape]*tape.Evaluator[float64] // of what is looked at next to a run
	met        map[uint64]int                          // how often atoms have met in this run; nil for never
}

// NewSeparator returns that of a worker of the task; nil where no run is made.
func NewSeparator(m *compiled.Model, p *compiled.Task, w Worker) Separator {
	return Separator{worker: w, model: m, task: p}
}

// Begin forgets what has met, at the start of a run.
func (w *Separator) Begin() { clear(w.met) }

// Serve has w look at the runs of another task, with the same model but for values.
func (w *Separator) Serve(p *compiled.Task) { w.task = p }

// Apart implements solvers.Separator. It looks where the two causes come about at other values of the
// variables, and of the states and discretes, which depend on them. What reads a discrete that a body sets to something
// that moves is apart from what does not read it.
func (w *Separator) Apart(t float64, y, d []float64, a, b solvers.Cause) bool {
	if w.task.Width() == 0 && len(w.task.Free) == 0 {
		return false
	}
	if a.Guard < 0 {
		a, b = b, a
	}
	if b.Guard >= 0 && compiled.SameMargin(w.model, a.Guard, b.Guard) {
		return false
	}
	sets := w.setMoving
	if begins := (solvers.Cause{Guard: -1, Instant: int(solvers.InstantStart)}); a == begins || b == begins {
		sets = w.bodiesMove // what a discrete begins with is moved below
	}
	both := w.moving(a, sets)
	if !slices.Equal(both, w.moving(b, sets)) {
		return true
	}
	c := &neighbour{Separator: w, t: t, y: y, d: d}
	switch {
	case a.Guard < 0:
		c.move(0, 1e-3)
		c.shift(both, 1e-3) // of times in one array, all seem to read what one reads
		times := c.times()
		x, z := c.timeOf(times, a), c.timeOf(times, b)
		return math.Abs(x-z) > float64(1e-9*max(math.Abs(x), math.Abs(z), math.Abs(times[1]-times[0])))
	case b.Guard < 0:
		return c.leaves(a.Guard, b)
	}
	return c.parts(a.Guard, b.Guard)
}

// moving lists, in the order of the model, the discretes that a cause reads and that bodies set to something that
// moves, as sets tells. They are not moved below.
func (w *Separator) moving(c solvers.Cause, sets func(s *model.Symbol, seen []*model.Symbol) bool,
) (list []*model.Symbol) {
	if len(w.model.Checked.Discretes) == 0 {
		return nil
	}
	reads := w.model.CauseInputs(c)
	for _, s := range w.model.Checked.Discretes {
		if slices.Contains(reads, tapec.Discrete.Called(s.Name)) && sets(s, nil) {
			list = append(list, s)
		}
	}
	return list
}

// moves reports whether the time of an event depends on anything. seen are the discretes that are being looked at.
func (w *Separator) moves(e *model.Event, seen []*model.Symbol) bool {
	if e.Guarded() {
		return true
	}
	const fixed = model.UsesTime | model.UsesDiscrete
	return slices.ContainsFunc(append(e.At(), w.model.Checked.From), func(x model.Expr) bool {
		return x != nil && (model.Depends(x)&^fixed != 0 || w.set(x, seen))
	})
}

// set reports whether an expression reads a discrete that a body sets to something that moves.
func (w *Separator) set(x model.Expr, seen []*model.Symbol) bool {
	if x == nil || model.Depends(x)&model.UsesDiscrete == 0 {
		return false
	}
	found := false
	model.Walk(func(x model.Expr) bool {
		ref, is := x.(*model.Ref)
		if found || !is || ref.Sym.Kind != model.DiscreteSymbol || slices.Contains(seen, ref.Sym) {
			return !found
		}
		found = w.setMoving(ref.Sym, seen)
		return !found
	}, x)
	return found
}

// setMoving reports whether a body sets a discrete to something that moves, or sets one that moves from the start on.
func (w *Separator) setMoving(s *model.Symbol, seen []*model.Symbol) bool {
	return w.beginsMoving(s) && w.model.Assigns(s.Name) || w.bodiesMove(s, seen)
}

// bodiesMove reports whether a body sets a discrete to something that moves.
func (w *Separator) bodiesMove(s *model.Symbol, seen []*model.Symbol) (found bool) {
	within := append(seen, s)
	for _, e := range w.model.Checked.Events {
		for _, a := range e.Body {
			uses := model.Depends(a.Value)
			const known = model.UsesTime | model.UsesDiscrete | model.UsesParam
			found = found || a.Target == s && (uses&^known != 0 || w.readsMoving(a.Value) ||
				uses&model.UsesTime != 0 && w.moves(e, within) || w.set(a.Value, within))
		}
	}
	return found
}

// readsMoving reports whether an expression reads a param that derivatives are taken by, or that follows such a param.
func (w *Separator) readsMoving(x model.Expr) (found bool) {
	model.Walk(func(x model.Expr) bool {
		if ref, is := x.(*model.Ref); is && ref.Sym.Kind == model.ParamSymbol {
			_, active := w.task.Plan.Columns[ref.Sym.Name]
			found = found || active || w.task.Point.FollowsOthers(ref.Sym) && w.readsMoving(ref.Sym.Value)
		}
		return !found
	}, x)
	return found
}

// beginsMoving reports whether what a discrete begins with depends on what derivatives are taken by.
func (w *Separator) beginsMoving(s *model.Symbol) bool {
	from := compiled.InputsOf(w.model.Compiled.Start, tapec.Discrete.Called(s.Name), -1)
	return slices.ContainsFunc(from, func(n tapec.Name) bool {
		_, active := w.task.Plan.Columns[n.Of]
		return n.Role == tapec.Param && active
	})
}

// neighbour evaluates times and conditions of a model at parameters and states next to those of a run.
type neighbour struct {
	*Separator
	t       float64
	y, d    []float64 // of the run
	p, near []float64 // moved
}

// ways are irrational, so that their multiples spread over the fractions.
var ways = [4]float64{0.6180339887498949, 0.4142135623730951, 0.7320508075688772, 0.6457513110645907}

// fraction returns a number between 1/2 and 1, another one for each n: the part by which the n-th number moves one way.
func fraction(n, way int) float64 {
	f := float64(float64(n) * ways[way])
	return 0.5 + float64(0.5*(f-math.Floor(f)))
}

// move moves the active parameters and all states by at most size of themselves, each way in other
// proportions. The proportions are such that sums of a few moves do not cancel.
func (c *neighbour) move(way int, size float64) {
	pt := c.task.Point
	n := 0
	part := func(x, least float64) float64 {
		n++
		return x + float64(size*fraction(n, way))*max(math.Abs(x), least)
	}
	c.p = append(c.p[:0], pt.P...)
	for _, s := range c.model.Checked.Params {
		if _, active := c.task.Plan.Columns[s.Name]; !active || pt.FollowsOthers(s) {
			continue
		}
		at := c.model.Param(s.Name)
		for k := range at.Len {
			x, least := c.p[at.Offset+k], 1e-3
			if x == 0 { // so that its square moves as well
				least = 1
			}
			c.p[at.Offset+k] = part(x, least)
		}
	}
	compiled.Follow(pt, c.p, func(i int, x float64) { c.p[i] = x })
	c.near = append(c.near[:0], c.y...)
	for i, x := range c.near {
		c.near[i] = part(x, 1e-3)
	}
	c.settle()
}

// shift moves some discretes by a part of themselves.
func (c *neighbour) shift(list []*model.Symbol, size float64) {
	if len(list) == 0 {
		return
	}
	c.d = slices.Clone(c.d)
	for n, s := range list {
		at := c.model.Layout.Part(tapec.Discrete.Called(s.Name))
		for i, x := range c.d[at.Offset : at.Offset+at.Len] {
			if math.Abs(x) < 1e300 {
				c.d[at.Offset+i] += float64(size*fraction(n+i, 1)) * max(math.Abs(x), 1e-3)
			}
		}
	}
}

// settle gives discretes that no body sets what they are at the moved point.
func (c *neighbour) settle() {
	if len(c.d) == 0 {
		return
	}
	c.d = slices.Clone(c.d)
	at := c.times()[solvers.InstantStart]
	for _, s := range c.model.Checked.Discretes {
		if !c.model.Assigns(s.Name) {
			name := tapec.Discrete.Called(s.Name)
			copy(c.d[c.model.Layout.Part(name).Offset:], c.eval(c.model.Compiled.Start, name, at))
		}
	}
}

// eval returns an output of a tape at the moved point.
func (c *neighbour) eval(t *tape.Tape, output tapec.Name, at float64) []float64 {
	return slices.Clone(c.evaluate(t, output, at, c.worker.Modes()))
}

// evaluate is eval in some modes. The next call overwrites what it returns.
func (c *neighbour) evaluate(t *tape.Tape, output tapec.Name, at float64, modes []float64) []float64 {
	e := c.evaluators[t]
	if e == nil {
		if c.evaluators == nil {
			c.evaluators = map[*tape.Tape]*tape.Evaluator[float64]{}
		}
		e = tape.NewEvaluator[float64](t)
		c.evaluators[t] = e
	}
	c.model.Load(t, e, &vec.Values{vec.T: {at}, vec.Y: c.near, vec.P: c.p, vec.D: c.d, vec.M: modes})
	e.Run()
	return e.Output(output.String())
}

// times returns the instants at the moved point.
func (c *neighbour) times() []float64 {
	if c.model.Compiled.Instants == nil {
		return make([]float64, 2)
	}
	times := c.eval(c.model.Compiled.Instants, tapec.Times.Name(), 0)
	c.worker.Repeat(times)
	return times
}

func (c *neighbour) timeOf(times []float64, a solvers.Cause) float64 {
	if k := c.worker.Instants()[a.Instant].Period; k >= 0 && a.Nth > 0 {
		return math.FMA(float64(a.Nth), times[k], times[a.Instant])
	}
	return times[a.Instant]
}

// guard returns a root function at the moved point and a time.
func (c *neighbour) guard(i int, at float64) float64 {
	return c.evaluate(c.model.Compiled.Guards, tapec.Margins.Name(), at, c.worker.Modes())[i]
}

// start puts states and discretes where a run would begin.
func (c *neighbour) start(at float64) {
	start := c.model.Compiled.Start
	c.d = slices.Clone(c.d)
	for _, o := range start.Outputs {
		name := tapec.MustName(o.Name)
		to := c.near
		if name.Role == tapec.Discrete {
			to = c.d
		}
		copy(to[c.model.Layout.Part(name).Offset:], c.eval(start, name, at))
	}
	for i, cut := range c.task.Point.Cut {
		if cut {
			c.near[i] = c.task.Point.Initial[i]
		}
	}
}

// leaves reports whether the root of guard i leaves the time of an instant.
func (c *neighbour) leaves(i int, at solvers.Cause) bool {
	moved := append([]float64(nil), c.y...)
	for way := range 3 {
		c.move(way, 1e-3)
		times := c.times()
		t := c.timeOf(times, at)
		if at.Instant == 0 {
			copy(moved, c.near)
			c.start(t)
			for _, o := range c.task.Free {
				copy(c.near[o.Offset:o.Offset+o.Len], moved[o.Offset:])
			}
		}
		off := math.Abs(c.guard(i, t))
		size := math.Abs(c.guard(i, t+float64(1e-3*(times[1]-times[0])))-c.guard(i, t)) + math.Abs(c.guard(i, c.t))
		if off > float64(1e-6*size) {
			return true
		}
	}
	return false
}

// parts reports whether the roots of guards i and j separate. They do not if the two change in
// proportion whichever way the point moves.
func (c *neighbour) parts(i, j int) bool {
	c.p, c.near = append(c.p[:0], c.task.Point.P...), append(c.near[:0], c.y...)
	x0, z0 := c.guard(i, c.t), c.guard(j, c.t)
	const size = 1e-6
	span := max(math.Abs(c.t), 1)
	x, z := c.guard(i, c.t+float64(size*span))-x0, c.guard(j, c.t+float64(size*span))-z0
	for way := range ways {
		c.move(way, size)
		u, v := c.guard(i, c.t)-x0, c.guard(j, c.t)-z0
		if cross := math.Abs(float64(x*v) - float64(z*u)); cross > float64(1e-3*(math.Abs(x)+math.Abs(u))*
			(math.Abs(z)+math.Abs(v))) {
			return true
		}
		if math.Abs(u)+math.Abs(v) > math.Abs(x)+math.Abs(z) {
			x, z = u, v
		}
	}
	return false
}
