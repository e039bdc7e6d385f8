package system

import (
	"math"
	"slices"

	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
	"odes.dev/odes/typecheck"
)

// Fold is what makes derivatives those of one side: a kink, or what meets at one time.
type Fold struct {
	Moves set  // the columns of the gradient that move it
	Into  Into // what it makes bend
	// Smooth tells that slopes are the same on both sides, as those of x·abs(x) at 0: then second derivatives jump at
	// most.
	Smooth bool
	// Meets tells that things come together there, of which runs in the other order tell the rest.
	Meets bool
	// Even are the columns of Moves by which slopes are the same on both sides; nil for none.
	Even set
}

// Moved reports whether anything moves the fold.
func (f *Fold) Moved() bool { return !f.Moves.empty() }

// Mark marks the columns that move the fold in a row, or of these only those by which slopes are not the same on both
// sides.
func (f *Fold) Mark(row []bool, even bool) {
	for i := range row {
		row[i] = row[i] || f.Moves.has(i) && (even || !f.Even.has(i))
	}
}

// Folds tells which of the variables, by columns of a row of the gradient, move the two causes of each tie apart, and
// what depends on these causes. Times that depend on params alone are compared at other values of these. So are guards
// whose roots any motion of the state moves alike. Otherwise all counts that either time depends on in any way.
func (w *Worker) Folds(ties []solvers.Meeting, variables []Variable, columns int) (list []Fold) {
	for i := range ties {
		x := separation{neighbour: neighbour{Worker: w, t: ties[i].T, y: ties[i].Y, d: ties[i].D}, tie: &ties[i]}
		f := Fold{Moves: newSet(columns), Into: w.meets(&ties[i])}
		out := make([]bool, columns)
		if !x.separates(variables, out) {
			if ties[i].Many == nil {
				x.find()
			}
			for _, v := range variables {
				x.mark(v, out[v.Offset:v.Offset+v.Len])
			}
		}
		for k, moves := range out {
			if moves {
				f.Moves.add(k)
			}
		}
		if f.Moved() {
			list = append(list, f)
		}
	}
	return list
}

// meets tells what depends on the causes of a tie.
func (w *Worker) meets(tie *solvers.Meeting) (into Into) {
	c := w.model.Compiled
	if j := tie.Many; j != nil {
		a := &w.model.atoms
		for k, near := range w.nearAtoms(j) {
			switch {
			case !near:
			case k < len(a.guards):
				into.condition(w.model, a.guards[k])
			default:
				into.part(w.model, c.ClockList[a.clocks[k-len(a.guards)]].Span)
			}
		}
		into.all = into.all || j.Bounds > 0
		return into
	}
	for _, cause := range tie.Causes {
		if cause.Guard >= 0 {
			into.condition(w.model, cause.Guard)
			continue
		}
		switch in := c.InstantList[cause.Instant]; in.Kind {
		case tapec.Fire, tapec.Every:
			into.events = append(into.events, in.Event)
		default:
			into.all = into.all || len(in.Modes) > 0
		}
	}
	into.all = into.all || len(into.names)+len(into.events) == 0
	return into
}

// Reads tells which of the variables, by columns of a row of the gradient, move one of the params or discretes that
// are named.
func (w *Worker) Reads(names []tapec.Name, variables []Variable, columns int) []bool {
	out := make([]bool, columns)
	x := separation{neighbour: neighbour{Worker: w}}
	x.begin()
	x.followAll(names)
	for _, v := range variables {
		x.mark(v, out[v.Offset:v.Offset+v.Len])
	}
	return out
}

// Reaches tells by which of the variables element i of the objectives may have derivatives other than zero: what it
// reads depends on them in the course of the run.
func (w *Worker) Reaches(i int, variables []Variable, columns int) []bool {
	out := make([]bool, columns)
	x := separation{neighbour: neighbour{Worker: w}}
	x.begin()
	x.followAll(inputsOf(w.model.Compiled.Objective, tapec.Objectives.Name(), i))
	for _, v := range variables {
		x.mark(v, out[v.Offset:v.Offset+v.Len])
	}
	return out
}

// separation is what can move the two causes of a tie apart.
type separation struct {
	neighbour
	tie     *solvers.Meeting
	start   bool // the second cause is the start of the run
	params  map[string]bool
	initial map[string]bool
	seen    map[tapec.Name]bool
	fired   map[int]bool // events of which the times have been followed
	// apart returns a number that changes where params move the causes apart, and how much of it may be rounding; it is
	// nil if that is not known.
	apart func() (x, noise float64)
}

// separates marks the variables that move apart what meets, where the run is repeated in miniature about it: at a
// junction, and at the start. It reports whether that is all that does.
func (x *separation) separates(variables []Variable, out []bool) bool {
	j := x.tie.Many
	if j == nil {
		a, b := x.tie.Causes[0], x.tie.Causes[1]
		if a.Guard < 0 || b.Guard >= 0 || b.Instant != int(solvers.InstantStart) {
			return false
		}
		x.p, x.near = x.problem.Point.p, x.y
		times := x.times()
		j = &solvers.Junction{
			T: x.t, Y: x.y, D: x.d, M: [2][]float64{x.tie.M, x.tie.M}, Start: true, Span: times[1] - times[0],
		}
		j.Soon = float64(1e-9 * j.Span)
		x.p, x.near = nil, nil
	}
	m := newMiniature(x.Worker, j, x.nearAtoms(j))
	some := false
	for _, v := range variables {
		to := out[v.Offset : v.Offset+v.Len]
		for k := range to {
			if m.movedBy(v, k) {
				to[k], some = true, true
			}
		}
	}
	if j.Start { // states are what they begin with, so that is all but for what is largest there
		return x.tie.Many != nil || some && !x.peaksSee(x.tie.Causes[0].Guard)
	}
	motion := false
	for way := range ways {
		motion = motion || m.moves(way)
	}
	if !motion {
		return true
	}
	x.begin()
	a, c := &x.model.atoms, x.model.Compiled
	for k, changes := range m.changing {
		switch {
		case !changes:
		case k < len(a.guards):
			x.followAll(inputsOf(c.Guards, tapec.Margins.Name(), a.guards[k]))
		default:
			x.followAll(inputsOf(c.Clocks, tapec.ClockMargins.Name(), a.clocks[k-len(a.guards)]))
		}
	}
	return false
}

func (x *separation) begin() {
	x.params, x.initial = map[string]bool{}, map[string]bool{}
	x.seen, x.fired = map[tapec.Name]bool{}, map[int]bool{}
}

func (x *separation) find() {
	x.begin()
	causes := x.tie.Causes
	var direct [2][]tapec.Name
	for k, c := range causes {
		direct[k] = x.inputs(c)
	}
	x.start = causes[1].Guard < 0 && causes[1].Instant == int(solvers.InstantStart)
	moving := func(n tapec.Name) bool { return n.Role == tapec.State || n.Role == tapec.Discrete }
	bound := slices.ContainsFunc(direct[0], moving) || slices.ContainsFunc(direct[1], moving)
	switch a, b := causes[0], causes[1]; {
	case a.Guard < 0 && b.Guard < 0 && !bound && x.single(a) && x.single(b):
		x.apart = func() (float64, float64) {
			times := x.times()
			x, z := times[a.Instant], times[b.Instant]
			return x - z, float64(1e-12 * max(math.Abs(x), math.Abs(z)))
		}
	case a.Guard >= 0 && b.Guard >= 0:
		if ratio, ok := x.parallel(a.Guard, b.Guard); ok {
			x.apart = func() (float64, float64) {
				u, v := x.guard(a.Guard, x.t), float64(ratio*x.guard(b.Guard, x.t))
				return u - v, float64(1e-6 * (math.Abs(u) + math.Abs(v)))
			}
		}
	}
	for _, list := range direct {
		for _, n := range list { // what moves the state moves both alike
			if x.apart == nil || n.Role == tapec.Param {
				x.follow(n)
			}
		}
	}
}

func (x *separation) single(c solvers.Cause) bool { return x.Instants()[c.Instant].Period < 0 }

// guard is that of neighbour with the modes of the tie.
func (x *separation) guard(i int, at float64) float64 {
	t := x.model.Compiled.Guards
	e := tape.NewEvaluator[float64](t)
	x.model.load(t, e, &values{vecT: {at}, vecY: x.near, vecP: x.p, vecD: x.d, vecM: x.tie.M})
	e.Run()
	return e.Output(tapec.Margins.Name().String())[i]
}

// parallel returns the ratio of the slopes of guards i and j by time and states, if it is the same by all of these.
// Whatever moves the state then moves both roots alike.
func (x *separation) parallel(i, j int) (ratio float64, ok bool) {
	const many = 256
	if len(x.y) > many {
		return 0, false
	}
	x.p, x.near = append(x.p[:0], x.problem.Point.p...), append(x.near[:0], x.y...)
	u, v := make([]float64, len(x.y)+1), make([]float64, len(x.y)+1)
	slope := func(k int, up, down func()) {
		up()
		u[k], v[k] = x.guard(i, x.t), x.guard(j, x.t)
		down()
		u[k], v[k] = u[k]-x.guard(i, x.t), v[k]-x.guard(j, x.t)
	}
	const part = 1e-6
	now := x.t
	h := float64(part * max(math.Abs(now), 1))
	slope(len(x.y), func() { x.t = now + h }, func() { x.t = now - h })
	x.t = now
	for k, y := range x.y {
		h := float64(part * max(math.Abs(y), 1e-3))
		slope(k, func() { x.near[k] = y + h }, func() { x.near[k] = y - h })
		x.near[k] = y
	}
	largest := 0
	for k := range u {
		if math.Abs(v[k]) > math.Abs(v[largest]) {
			largest = k
		}
	}
	if v[largest] == 0 {
		return 0, false
	}
	ratio = u[largest] / v[largest]
	noise := float64(1e-9 * math.Abs(u[largest]))
	for k := range u {
		if x, z := u[k], float64(ratio*v[k]); !(math.Abs(x-z) <= float64(1e-5*(math.Abs(x)+math.Abs(z)))+noise) {
			return 0, false
		}
	}
	return ratio, true
}

// mark marks the elements of v that move the causes apart.
func (x *separation) mark(v Variable, to []bool) {
	if v.Initial {
		if x.initial[v.Name] {
			for k := range to {
				to[k] = true
			}
		}
		return
	}
	if x.apart == nil && x.params[v.Name] {
		for k := range to {
			to[k] = true
		}
		return
	}
	pt, at := x.problem.Point, x.model.Param(v.Name)
	x.near = append(x.near[:0], x.y...)
	moved := func(k int, by float64) {
		x.p = append(x.p[:0], pt.p...)
		x.p[at.Offset+k] += by
		follow(pt, x.p, func(i int, z float64) { x.p[i] = z })
	}
	for k := range to {
		if to[k] {
			continue
		}
		h := float64(1e-4 * max(math.Abs(pt.p[at.Offset+k]), 1e-2))
		moved(k, -h)
		below := x.reads()
		moved(k, h)
		if !x.reads() && !below { // defaults may have kinks, too
			continue
		}
		if x.apart == nil {
			to[k] = true
			continue
		}
		a, noise := x.apart()
		moved(k, -h)
		b, _ := x.apart()
		to[k] = !(math.Abs(a-b) <= noise)
	}
}

// reads reports whether a param that was found has moved.
func (x *separation) reads() bool {
	for name := range x.params {
		if !x.isParam(name) { // a total, which may depend on anything
			return true
		}
		at := x.model.Param(name)
		if !slices.Equal(x.p[at.Offset:at.Offset+at.Len], x.problem.Point.p[at.Offset:at.Offset+at.Len]) {
			return true
		}
	}
	return false
}

func (x *separation) isParam(name string) bool {
	return slices.ContainsFunc(x.model.Checked.Params, func(s *typecheck.Symbol) bool { return s.Name == name })
}

// inputs lists what the time of a cause is made of.
func (x *separation) inputs(c solvers.Cause) []tapec.Name {
	if c.Guard >= 0 {
		return inputsOf(x.model.Compiled.Guards, tapec.Margins.Name(), c.Guard)
	}
	return x.timeOf(c.Instant)
}

// timeOf lists what instant i is made of.
func (x *separation) timeOf(i int) (list []tapec.Name) {
	c := x.model.Compiled
	if c.Instants == nil {
		return nil
	}
	in := c.InstantList[i]
	for _, k := range []int{i, in.Period, in.To, in.Count} {
		if k >= 0 {
			list = append(list, inputsOf(c.Instants, tapec.Times.Name(), k)...)
		}
	}
	return list
}

// inputsOf lists the inputs that element i of an output of t depends on; i is -1 for all elements.
func inputsOf(t *tape.Tape, output tapec.Name, i int) (list []tapec.Name) {
	if t == nil {
		return nil
	}
	v, ok := t.Output(output.String())
	if !ok {
		return nil
	}
	if in := t.Instr(v); i >= 0 && in != nil && in.Op == tape.Concat && in.Attr.Axis == 0 {
		for _, p := range in.Args {
			n := t.Shape(p).Size()
			if i < n {
				v = p
				break
			}
			i -= n
		}
	}
	return inputsOfValue(t, v)
}

// inputsOfValue lists the inputs that a value of t depends on.
func inputsOfValue(t *tape.Tape, v tape.Value) (list []tapec.Name) {
	need := make([]bool, t.Values())
	need[v] = true
	for k := len(t.Instrs) - 1; k >= 0; k-- {
		if need[len(t.Inputs)+k] {
			for _, a := range t.Instrs[k].Args {
				need[a] = true
			}
		}
	}
	for k, in := range t.Inputs {
		if need[k] {
			list = append(list, tapec.MustName(in.Name))
		}
	}
	return list
}

func (x *separation) followAll(list []tapec.Name) {
	for _, n := range list {
		x.follow(n)
	}
}

// follow notes what n depends on, in the course of the run.
func (x *separation) follow(n tapec.Name) {
	switch n.Role {
	case tapec.LeftState:
		n.Role = tapec.State
	case tapec.LeftDiscrete:
		n.Role = tapec.Discrete
	}
	if x.seen[n] {
		return
	}
	x.seen[n] = true
	c := x.model.Compiled
	switch n.Role {
	case tapec.Param:
		x.params[n.Of] = true
	case tapec.State, tapec.Discrete:
		if n.Role == tapec.State {
			x.initial[n.Of] = true
			x.followAll(x.timeOf(int(solvers.InstantStart)))
		}
		x.followAll(inputsOf(c.Start, n, -1))
		if n.Role == tapec.State {
			for _, out := range x.model.equationsOf(n.Of) {
				if !x.start || out.Role == tapec.Residual { // unknowns follow from their equations at the start, too
					x.followAll(inputsOf(c.Rates, out, -1))
				}
			}
		}
		if x.start {
			return
		}
		for e, t := range c.Affects {
			if t == nil {
				continue
			}
			if _, ok := t.Output(n.String()); ok {
				x.followAll(inputsOf(t, n, -1))
				x.followEvent(e)
			}
		}
	case tapec.Functionals:
		x.followFunctional(n)
	case tapec.HeldMode: // it changes at times
		if x.start {
			return
		}
		for i, m := range c.Modes {
			if tapec.HeldMode.Number(i) == n {
				x.followMode(n, m)
			}
		}
	}
}

func (x *separation) followFunctional(n tapec.Name) {
	c := x.model.Compiled
	x.followAll(x.timeOf(int(solvers.InstantStart)))
	x.followAll(x.timeOf(int(solvers.InstantEnd)))
	for _, t := range []*tape.Tape{c.Initial, c.Final, c.Peaks} {
		x.followAll(inputsOf(t, n, -1))
	}
	for group, t := range c.AtTimes {
		if list := inputsOf(t, n, -1); len(list) > 0 {
			x.followAll(list)
			for i, in := range c.InstantList {
				if in.Kind == tapec.Site && in.Group == group {
					x.followAll(x.timeOf(i))
				}
			}
		}
	}
	for e, t := range c.AtEvents {
		if t == nil {
			continue
		}
		if _, ok := t.Output(n.String()); ok { // what it reads may be a constant, and its number changes
			x.followAll(inputsOf(t, n, -1))
			x.followEvent(e)
		}
	}
	x.followAll(inputsOf(c.Rates, tapec.Name{Role: tapec.Integrand, Of: n.Of}, -1))
	for e, event := range x.model.Checked.Events {
		if event.Stop { // the run may end there
			x.followEvent(e)
		}
	}
}

func (x *separation) followEvent(e int) {
	if x.fired[e] {
		return
	}
	x.fired[e] = true
	c := x.model.Compiled
	for i, g := range c.GuardList {
		if g.Event == e {
			x.followAll(inputsOf(c.Guards, tapec.Margins.Name(), i))
		}
	}
	for i, in := range c.InstantList {
		if in.Event == e {
			x.followAll(x.timeOf(i))
		}
	}
}

func (x *separation) followMode(n tapec.Name, m tapec.Mode) {
	c := x.model.Compiled
	from, to := m.Offset, m.Offset+tape.Shape(m.Shape).Size()
	for i, g := range c.GuardList {
		if g.Event < 0 && g.Mode >= from && g.Mode < to {
			x.followAll(inputsOf(c.Guards, tapec.Margins.Name(), i))
		}
	}
	for i, in := range c.InstantList {
		if slices.ContainsFunc(in.Modes, func(k int) bool { return k >= from && k < to }) {
			x.followAll(x.timeOf(i))
		}
	}
	if !m.Rooted {
		x.followAll(inputsOf(c.Choose, n, -1))
	}
}
