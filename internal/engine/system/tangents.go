package system

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/sets"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Tangents follows a run and tells by which columns of a row of the gradient states and discretes may have tangents
// other than zero. What it says is a pattern: it comes from entries of Jacobians along the run that are exactly zero.
// Where a tape is at a kink, an entry counts that is not zero on one of its sides. Bounded work is done; beyond that,
// and for models with algebraic equations, it follows names: what a state depends on in the course of any run.
type Tangents struct {
	kinks     *Kinks
	variables []Variable
	columns   int
	all       sets.Set
	p, y, d   []sets.Set // by elements
	yWas      []sets.Set // with what the last mark changed: before and after it
	added     []sets.Set // what the body of the last mark moves states by, but for what they had moved by; or nil
	changed   []sets.Set // by seeds: what makes it change states and discretes at all; or nil
	dWas      []sets.Set
	yHad      []sets.Set // before the last mark
	yGot      []sets.Set // and behind it
	dHad      []sets.Set
	yFirst    []sets.Set // before the first mark at that time
	dFirst    []sets.Set
	firstTime float64
	wrote     []bool       // states that the body of the last mark writes; or nil
	time      sets.Set     // by what the time of the last mark moves
	mark      solvers.Mark // the last one, without its vectors
	first     bool         // it is the start, or what is read there
	slopesOf  *motion      // of params, and its time; nil until it is asked for
	cause     sets.Set     // and that of the last one that changes something
	last      float64      // the time of that
	began     float64      // the time of the start
	assigned  bool         // some body has been executed
	exact     bool
	work      int
	evals     map[*tape.Tape]*tape.Evaluator[complex128]
	guards    *tape.Evaluator[float64] // nil until it is asked for
	kept      map[int]*keeping         // largest values that are kept, by elements of the functionals
	named     map[tapec.Name]sets.Set

	// The piece behind the last mark: what holds there, kinks at which it rests, and by which elements of states,
	// params and discretes the rates have slopes.
	dNow, mNow []float64
	rest       []*Kink
	choose     []*Kink // conditions of params and discretes alone that choose modes
	moved      []sets.Set
	slopes     []sets.Set
	// The same beside the values of the run, for conditions at rest: a^2 has no slope at a = 0, but moves.
	movedBeside, slopesBeside []sets.Set
	passed                    []point // the states of the run there, where they are of use

	steady *Worker // pushes tangents through steady states; nil until it is asked for
	// Conditions of modes that rest: what moves them off their thresholds, by guards, and what had moved states and
	// discretes before the last mark where any rested there.
	offBy        map[int]sets.Set
	yLeft, dLeft []sets.Set
	waiting      map[int]*waiting // by columns; nil before any condition of an event waits
	strayed      int              // work that was done for these
	yStart       []float64        // where the run begins
	rested       []values         // how the steady state of the last mark moves, by columns; nil if that is not known
}

// mostTangentWork is how many elements of values are computed to follow tangents: some tens of milliseconds of work.
const mostTangentWork = 2_000_000

// tangentStep is the size of an imaginary part, so small that its square is zero.
const tangentStep = 0x1p-560

// Tangents returns what follows tangents by variables, whose derivatives are that many columns.
func (k *Kinks) Tangents(variables []Variable, columns int) *Tangents {
	l := k.model.layout
	k.known = true
	x := &Tangents{
		kinks: k, variables: variables, columns: columns, all: sets.New(columns), exact: true,
		evals: map[*tape.Tape]*tape.Evaluator[complex128]{}, named: map[tapec.Name]sets.Set{},
		offBy: map[int]sets.Set{},
	}
	for i := range columns {
		x.all.Add(i)
	}
	const most = 1 << 24 // bits
	if k.model.Algebraic() || (l.nP+l.nY+l.nD)*columns > most {
		x.exact = false
		return x
	}
	x.p, x.y, x.d = sets.Several(l.nP, columns), sets.Several(l.nY, columns), sets.Several(l.nD, columns)
	x.params()
	return x
}

// params finds which columns move which params: those that derivatives are by, and those whose defaults read them.
func (x *Tangents) params() {
	pt := x.kinks.point
	follows := slices.ContainsFunc(x.kinks.model.Checked.Params, pt.followsOthers)
	const most = 1_000
	if follows && x.columns > most {
		x.exact = false
		return
	}
	z := make([]complex128, len(pt.p))
	for _, v := range x.variables {
		if v.Initial {
			continue
		}
		at := x.kinks.model.Param(v.Name).Offset
		for k := range v.Len {
			x.p[at+k].Add(v.Offset + k)
			if !follows {
				continue
			}
			for i, p := range pt.p {
				z[i] = complex(p, 0)
			}
			z[at+k] += complex(0, tangentStep)
			follow(pt, z, func(i int, p complex128) {
				if z[i] = p; imag(p) != 0 {
					x.p[i].Add(v.Offset + k)
				}
			})
			h := float64(1e-4 * max(math.Abs(pt.p[at+k]), 1e-2))
			for _, h := range []float64{h, -h} { // a default may have a kink
				q := slices.Clone(pt.p)
				q[at+k] += h
				follow(pt, q, func(i int, p float64) {
					if q[i] = p; p != pt.p[i] {
						x.p[i].Add(v.Offset + k)
					}
				})
			}
		}
	}
}

// Mark takes notice of a mark, and of what its event does to tangents.
func (x *Tangents) Mark(m *solvers.Mark) {
	reads := m.Kind == solvers.MarkSite
	x.first = m.Kind == solvers.MarkStart || reads && x.first && m.T == x.last
	x.time, x.mark, x.slopesOf = x.timeOf(m), *m, nil
	x.sharpen()
	if !reads {
		x.cause, x.last, x.added, x.changed = x.time, m.T, nil, nil
	}
	x.dNow, x.mNow = slices.Clone(m.Dp), slices.Clone(m.Mp)
	x.yLeft, x.dLeft = nil, nil
	if x.exact && slices.ContainsFunc(x.rest, func(k *Kink) bool { return k.Rests }) {
		x.yLeft, x.dLeft = sets.Clone(x.y), sets.Clone(x.d)
	}
	x.rest, x.choose, x.rested = x.rest[:0], x.choose[:0], nil
	if !x.exact {
		return
	}
	x.yWas, x.dWas, x.wrote = sets.Clone(x.y), sets.Clone(x.d), nil
	x.yHad, x.dHad = sets.Clone(x.y), sets.Clone(x.d)
	switch m.Kind {
	case solvers.MarkStart:
		x.yStart = slices.Clone(m.Yp)
		x.begin(m)
	case solvers.MarkFire:
		x.fire(m)
	}
	if len(x.waiting) > 0 {
		x.jump(m)
	}
	var right []float64
	if m.Kind != solvers.MarkStart && !x.time.Empty() {
		left := x.rates(m.T, m.Ym, m.Dm, m.Mm)
		right = x.rates(m.T, m.Yp, m.Dp, m.Mp)
		for i, f := range left {
			wrote := x.wrote != nil && x.wrote[i] // a body, which fire has followed
			if f != right[i] && !wrote && m.Kind != solvers.MarkSite && m.Kind != solvers.MarkFinal {
				x.y[i].Join(x.time)
			}
			if f != 0 { // what is read at that time moves with it
				x.yHad[i].Join(x.time)
			}
			if f != 0 || right[i] != 0 {
				x.yWas[i].Join(x.time)
			}
		}
	}
	if x.yFirst == nil || m.T != x.firstTime {
		x.yFirst, x.dFirst, x.firstTime = x.yHad, x.dHad, m.T
	}
	x.yGot = sets.Clone(x.y)
	for i := range right {
		if right[i] != 0 {
			x.yGot[i].Join(x.time)
		}
	}
	for i := range x.yWas {
		x.yWas[i].Join(x.y[i])
	}
	for i := range x.dWas {
		x.dWas[i].Join(x.d[i])
	}
}

// begin finds what moves initial values.
func (x *Tangents) begin(m *solvers.Mark) {
	c, pt := x.kinks.model.Compiled, x.kinks.point
	at := values{vecT: {m.T}, vecP: pt.p}
	x.began = m.T
	x.assign(c.Start, &at, func(tapec.Name, int, float64) bool { return true }, nil)
	for i, cut := range pt.cut {
		if cut {
			clear(x.y[i])
		}
	}
	for i := range x.y {
		x.y[i].Join(x.time)
	}
	for _, v := range x.variables {
		if v.Initial {
			from := x.kinks.model.State(v.Name).Offset
			for k := range v.Len {
				x.y[from+k].Add(v.Offset + k)
			}
		}
	}
}

// fire finds what a body does to tangents.
func (x *Tangents) fire(m *solvers.Mark) {
	c := x.kinks.model.Compiled
	if e := m.Firing.Event; e < len(x.kinks.model.Checked.Events) && x.kinks.model.Checked.Events[e].Settles {
		if x.settled(m) {
			return
		}
		for i := range x.y {
			x.y[i].Join(x.all)
		}
	}
	body := c.Affects[m.Firing.Event]
	if body == nil {
		return
	}
	x.assigned = true
	at := values{vecT: {m.T}, vecY: m.Ym, vecD: m.Dm, vecP: x.kinks.point.p, vecFired: firedAt(m)}
	if x.time.Empty() {
		x.assign(body, &at, nil, nil)
		return
	}
	// Moved to a later time, a body B makes a state y of B_t + B_y f of what it was, rather than what follows from it.
	left, right := x.rates(m.T, m.Ym, m.Dm, m.Mm), x.rates(m.T, m.Yp, m.Dp, m.Mp)
	x.assign(body, &at, func(out tapec.Name, i int, slope float64) bool {
		if out.Role != tapec.State {
			return slope != 0
		}
		f := right[x.kinks.model.layout.part(out).offset+i]
		return math.Abs(slope-f) > float64(1e-12*(math.Abs(slope)+math.Abs(f)))
	}, left)
}

// assign replaces the tangents of what a tape writes: states and discretes. late tells which of these move with its
// time, by how fast they do where the states that are read have the rates given.
func (x *Tangents) assign(t *tape.Tape, at *values, late func(out tapec.Name, i int, slope float64) bool,
	rates []float64,
) {
	l := x.kinks.model.layout
	y, d := map[int]sets.Set{}, map[int]sets.Set{}
	to := func(i int, out tape.Output) sets.Set {
		p := l.part(tapec.MustName(out.Name))
		of := y
		if p.vec == vecD {
			of = d
		}
		if of[p.offset+i] == nil {
			of[p.offset+i] = sets.New(x.columns)
		}
		return of[p.offset+i]
	}
	e, _ := x.load(t, at)
	if e == nil {
		x.exact = false
		return
	}
	for k, in := range t.Inputs {
		of := e.Value(tape.Value(k))
		for i, z := range of {
			switch n := tapec.MustName(in.Name); {
			case n.Role == tapec.Time:
				of[i] = complex(real(z), tangentStep)
			case n.Role == tapec.State && rates != nil:
				of[i] = complex(real(z), float64(tangentStep*rates[l.part(n).offset+i]))
			}
		}
	}
	e.Run()
	for _, out := range t.Outputs {
		for i, z := range e.Value(out.Value) {
			if s := to(i, out); late != nil && late(tapec.MustName(out.Name), i, imag(z)/tangentStep) {
				s.Join(x.time)
			}
		}
	}
	x.added, x.wrote = sets.Several(l.nY, x.columns), make([]bool, l.nY)
	x.changed = sets.Several(l.nY+l.nP+l.nD, x.columns)
	for _, out := range t.Outputs {
		name := tapec.MustName(out.Name)
		p := l.part(name)
		read := slices.ContainsFunc(t.Inputs, func(in tape.Input) bool { return in.Name == out.Name })
		for i := range t.Shape(out.Value).Size() {
			if p.vec == vecY {
				x.wrote[p.offset+i] = true
			}
			if own := x.seed(p.vec, p.offset+i); !read && own >= 0 { // what had moved it does not do so any more
				x.changed[own].Join(x.element(name, p.vec, p.offset+i))
			}
		}
	}
	x.push(t, at, func(seed int, by sets.Set, e *tape.Evaluator[complex128]) {
		for _, out := range t.Outputs {
			for i, z := range e.Value(out.Value) {
				p := l.part(tapec.MustName(out.Name))
				own := x.seed(p.vec, p.offset+i)
				if own == seed && imag(z) != tangentStep || own != seed && imag(z) != 0 {
					x.changed[own].Join(by)
				}
				if imag(z) == 0 {
					continue
				}
				to(i, out).Join(by)
				if p.vec == vecY && p.offset+i != seed {
					x.added[p.offset+i].Join(by)
				}
			}
		}
	}, nil)
	for i, s := range y {
		x.y[i] = s
	}
	for i, s := range d {
		x.d[i] = s
	}
}

// rates returns those of the states.
func (x *Tangents) rates(t float64, y, d, m []float64) []float64 {
	rates := x.kinks.model.Compiled.Rates
	at := values{vecT: {t}, vecY: y, vecD: d, vecM: m, vecP: x.kinks.point.p}
	e := tape.NewEvaluator[float64](rates)
	x.kinks.model.load(rates, e, &at)
	e.Run()
	out := make([]float64, len(x.y))
	for _, o := range rates.Outputs {
		if at := x.kinks.model.layout.part(tapec.MustName(o.Name)).offset; at < len(x.y) {
			copy(out[at:], e.Output(o.Name))
		}
	}
	return out
}

// timeOf finds what moves the time of a mark.
func (x *Tangents) timeOf(m *solvers.Mark) sets.Set {
	k := x.kinks
	var names []tapec.Name
	switch {
	case m.Kind == solvers.MarkStart:
		names = k.model.instantInputs(int(solvers.InstantStart))
	case m.Kind == solvers.MarkFinal:
		names = k.model.instantInputs(int(solvers.InstantEnd))
	case k.Fixed(m):
		return nil
	case m.Caused && m.T == x.last:
		return x.cause
	case m.Guard >= 0:
		names = k.model.guardInputs(m.Guard)
	case m.Instant >= 0:
		names = k.model.instantInputs(m.Instant)
	case m.T == x.last: // a consequence
		return x.cause
	default:
		return x.all
	}
	time := sets.New(x.columns)
	for _, n := range names {
		time.Join(x.of(n))
	}
	if m.Kind == solvers.MarkFinal && m.T == x.last { // an event may have ended the run
		time.Join(x.cause)
	}
	return time
}

// of returns what moves something that has a name.
func (x *Tangents) of(n tapec.Name) sets.Set {
	at, ok := x.kinks.model.layout.find(n)
	if !ok {
		return x.all
	}
	var from []sets.Set
	switch {
	case n.Role == tapec.HeldMode || n.Role == tapec.Fired || n.Role == tapec.DataRow:
		return nil // they do not move but at times
	case n.Role == tapec.Time:
		return x.time
	case x.exact && at.vec == vecF && x.mark.Kind == solvers.MarkFinal && x.readAtEnd(n):
		s := sets.New(x.columns)
		for _, in := range inputsOf(x.kinks.model.Compiled.Final, n, -1) {
			part, _ := x.kinks.model.layout.find(in)
			for i := range part.len {
				s.Join(x.element(in, part.vec, part.offset+i))
			}
		}
		return s
	case !x.exact || at.vec == vecF:
		return x.byName(n)
	case at.vec == vecP:
		from = x.p
	case at.vec == vecY || at.vec == vecYm:
		from = x.y
	case at.vec == vecD || at.vec == vecDm:
		from = x.d
	default:
		return x.all
	}
	s := sets.New(x.columns)
	for _, o := range from[at.offset : at.offset+at.len] {
		s.Join(o)
	}
	return s
}

// readAtEnd reports whether a functional is read at the end of the run.
func (x *Tangents) readAtEnd(n tapec.Name) bool {
	t := x.kinks.model.Compiled.Final
	if t == nil {
		return false
	}
	_, ok := t.Output(n.String())
	return ok
}

// byName returns what moves something in the course of any run.
func (x *Tangents) byName(n tapec.Name) sets.Set {
	if s, ok := x.named[n]; ok {
		return s
	}
	w := &Worker{model: x.kinks.model, problem: x.kinks.problem}
	s := sets.New(x.columns)
	for i, moves := range w.moversOf([]tapec.Name{n}, x.variables, x.columns) {
		if moves {
			s.Add(i)
		}
	}
	x.named[n] = s
	return s
}

// element returns what moves an element of a vector at the last mark.
func (x *Tangents) element(name tapec.Name, vec vector, i int) sets.Set {
	switch vec {
	case vecP:
		return x.p[i]
	case vecY, vecYm:
		return x.yWas[i]
	case vecD, vecDm:
		return x.dWas[i]
	}
	return x.of(name)
}

// push pushes a unit tangent of each element that moves through t at some values. visit is called for each, with what
// moves it, and leaves for the elements at kinks that leave them in its direction, and how fast.
func (x *Tangents) push(t *tape.Tape, at *values, visit func(seed int, by sets.Set, e *tape.Evaluator[complex128]),
	leaves func(v tape.Value, i, seed int, by sets.Set, fast float64),
) {
	e, bent := x.load(t, at)
	x.eachMoved(t, e, func(to *complex128, seed int, by sets.Set) {
		*to = complex(real(*to), tangentStep)
		tape.Sides(e, bent, func(v tape.Value, i int, fast float64) float64 {
			if fast != 0 && leaves != nil {
				leaves(v, i, seed, by, fast)
			}
			return 0
		})
		if visit != nil {
			visit(seed, by, e)
		}
	})
}

// pushBeside pushes a unit tangent of each element that moves through t, with that element a little beside its value.
func (x *Tangents) pushBeside(t *tape.Tape, at *values,
	visit func(seed int, by sets.Set, e *tape.Evaluator[complex128]),
) {
	e, _ := x.load(t, at)
	x.eachMoved(t, e, func(to *complex128, seed int, by sets.Set) {
		size := math.Abs(real(*to))
		if size == 0 {
			size = 1
		}
		*to = complex(real(*to)+float64(beside*size), tangentStep)
		e.Run()
		visit(seed, by, e)
	})
}

// eachMoved calls f for each input of t that moves, while there is room for work. What f changes it to in e, which may
// be nil, is undone afterwards.
func (x *Tangents) eachMoved(
	t *tape.Tape, e *tape.Evaluator[complex128], f func(to *complex128, seed int, by sets.Set),
) {
	if e == nil {
		return
	}
	for n, in := range t.Inputs {
		name := tapec.MustName(in.Name)
		part := x.kinks.model.layout.part(name)
		if name.Role == tapec.HeldMode || name.Role == tapec.Fired {
			continue
		}
		input := e.Value(tape.Value(n))
		for i, z := range input {
			by := x.element(name, part.vec, part.offset+i)
			if by.Empty() {
				continue
			}
			if !x.spend(t) {
				return
			}
			f(&input[i], x.seed(part.vec, part.offset+i), by)
			input[i] = z
		}
	}
}

// spend counts a run of t, and reports whether there may be one.
func (x *Tangents) spend(t *tape.Tape) bool {
	x.work += costOf(t)
	x.exact = x.exact && x.work <= mostTangentWork
	return x.exact
}

// costOf returns the work of a run of t.
func costOf(t *tape.Tape) (n int) {
	for v := range t.Values() {
		n += 4 + t.Shape(tape.Value(v)).Size()
	}
	return n
}

// load returns an evaluator of t at some values, and what is at its kinks there.
func (x *Tangents) load(t *tape.Tape, at *values) (*tape.Evaluator[complex128], []tape.Bent) {
	k := x.kinks
	e := x.evals[t]
	if e == nil {
		e = tape.NewEvaluator[complex128](t)
		x.evals[t] = e
	}
	for i, in := range t.Inputs {
		part, ok := k.model.layout.find(tapec.MustName(in.Name))
		if !ok || part.vec == vecRow && at[vecRow] == nil || part.offset > len(at[part.vec]) {
			return nil, nil
		}
		to := e.Value(tape.Value(i))
		clear(to)
		for i, z := range at[part.vec][part.offset:min(part.offset+len(to), len(at[part.vec]))] {
			to[i] = complex(z, 0)
		}
	}
	kt := k.tapes[t]
	if kt == nil {
		return e, nil
	}
	k.model.load(t, kt.eval, at)
	kt.eval.Run()
	return e, tape.AtKinks(kt.eval, kt.ops, k.near, nil)
}

// seed numbers the elements that rates depend on.
func (x *Tangents) seed(vec vector, i int) int {
	switch l := x.kinks.model.layout; vec {
	case vecY, vecYm:
		return i
	case vecP:
		return l.nY + i
	case vecD, vecDm:
		return l.nY + l.nP + i
	case vecT:
		return l.nY + l.nP + l.nD
	}
	return -1
}

// Wants reports whether points of the piece behind the last mark are of use.
func (x *Tangents) Wants() bool { return x.exact || len(x.rest) > 0 }

// Point takes notice of a state of the run behind the last mark.
func (x *Tangents) Point(t float64, y []float64) {
	x.note(t, y)
	rates := x.kinks.model.Compiled.Rates
	at := values{vecT: {t}, vecY: y, vecD: x.dNow, vecM: x.mNow, vecP: x.kinks.point.p}
	conditions, near := false, 0.0
	for _, k := range x.rest {
		near = max(near, k.near)
	}
	defer x.kinks.within(near)()
	for _, k := range x.rest {
		if conditions = conditions || k.Rests; !k.Rests {
			x.tilt(k, &at)
		}
		k.matters = k.matters || k.Rests && x.kinks.matter(k, &at)
		if k.unknown && t >= x.mark.T+k.soon {
			here, size := x.kinks.sizes(&at)
			still := slices.ContainsFunc(k.margins, func(m int) bool {
				return math.Abs(here[m]) <= float64(noise*size[m])
			})
			k.stays = (k.stays || !k.seen) && still
			k.seen = true
		}
	}
	if !x.exact {
		return
	}
	l := x.kinks.model.layout
	// A state may begin to move only by another one, so all of them count.
	now := x.yWas
	x.yWas = make([]sets.Set, l.nY)
	for i := range x.yWas {
		x.yWas[i] = x.all
	}
	defer func() { x.yWas = now }()
	dWas := x.dWas
	x.dWas = x.d
	defer func() { x.dWas = dWas }()
	time := x.time
	x.time = nil
	defer func() { x.time = time }()
	x.fork(&at)
	add := func(to []sets.Set) func(seed int, _ sets.Set, e *tape.Evaluator[complex128]) {
		return func(seed int, _ sets.Set, e *tape.Evaluator[complex128]) {
			for _, out := range rates.Outputs {
				row := l.part(tapec.MustName(out.Name)).offset
				for i, z := range e.Value(out.Value) {
					if row+i < l.nY && imag(z) != 0 {
						to[row+i].Add(seed)
					}
				}
			}
		}
	}
	x.push(rates, &at, add(x.slopes), func(v tape.Value, _, seed int, _ sets.Set, _ float64) {
		for i, k := range x.rest {
			if k.value == v && !k.Rests {
				x.moved[i].Add(seed)
			}
		}
	})
	if conditions {
		move := func(to []sets.Set) func(seed int, _ sets.Set, e *tape.Evaluator[complex128]) {
			return func(seed int, _ sets.Set, e *tape.Evaluator[complex128]) {
				margins := e.Output(tapec.Margins.Name().String())
				for i, k := range x.rest {
					if slices.ContainsFunc(k.margins, func(m int) bool { return imag(margins[m]) != 0 }) {
						to[i].Add(seed)
					}
				}
			}
		}
		guards := x.kinks.model.Compiled.Guards
		x.push(guards, &at, move(x.moved), nil)
		x.pushBeside(rates, &at, add(x.slopesBeside))
		x.pushBeside(guards, &at, move(x.movedBeside))
	}
}

// End tells that the next mark comes.
func (x *Tangents) End() {
	moves := func(seed int) sets.Set { // what moves a seed by the end of the piece
		l := x.kinks.model.layout
		switch {
		case seed < l.nY:
			return x.y[seed]
		case seed < l.nY+l.nP:
			return x.p[seed-l.nY]
		}
		return x.d[seed-l.nY-l.nP]
	}
	defer func() {
		for _, k := range x.rest {
			if x.close(k); k.Rests && k.ends() {
				clear(k.Moves)
			}
		}
		for _, k := range slices.Concat(x.rest, x.choose) {
			if x.exact && (k.Rests || k.decides) { // else not all was looked at
				k.even(moves)
			}
		}
	}()
	if !x.exact {
		return
	}
	l := x.kinks.model.layout
	y := x.y
	seeds := func(s sets.Set, visit func(by sets.Set)) {
		for i := range l.nY + l.nP + l.nD {
			if s.Has(i) {
				if i < l.nY {
					visit(y[i])
				} else {
					visit(moves(i))
				}
			}
		}
	}
	grow := func(slopes []sets.Set) {
		for grew := true; grew; {
			grew = false
			for i := range y {
				seeds(slopes[i], func(by sets.Set) { grew = y[i].Join(by) || grew })
			}
		}
	}
	begun := sets.Clone(y)
	grow(x.slopes)
	curved := make([]sets.Set, len(x.rest)) // what moves conditions by its square, or a higher power
	for i, k := range x.rest {
		x.movedBeside[i].Join(x.moved[i])
		if !k.alone() && !k.stuck {
			seeds(x.moved[i], func(by sets.Set) { k.Moves.Join(by) })
		}
	}
	for i := range l.nY {
		x.slopesBeside[i].Join(x.slopes[i])
	}
	for i, k := range x.rest {
		if k.Rests && !k.stuck {
			y = sets.Clone(begun)
			grow(x.slopesBeside)
			curved[i] = sets.New(x.columns)
			seeds(x.movedBeside[i], func(by sets.Set) { curved[i].Join(by) })
			curved[i].Drop(k.Moves)
		}
	}
	x.cancel()
	// behind returns what moves a condition that is stuck, by some slopes: what its states have moved by before does
	// not count.
	behind := func(k *Kink, moved sets.Set, slopes []sets.Set) sets.Set {
		y = sets.Clone(begun)
		for j := range l.nY {
			if !moved.Has(j) {
				continue
			}
			if clear(y[j]); k.carried && x.added != nil {
				y[j].Join(x.added[j])
			}
		}
		grow(slopes)
		by := sets.New(x.columns)
		for j := range l.nY {
			if moved.Has(j) {
				by.Join(y[j])
			}
		}
		return by
	}
	for i, k := range x.rest {
		k.Moves.Join(curved[i])
		switch {
		case !k.stuck, k.goesOn:
		case x.waitsFromStart(k):
			moves := behind(k, x.moved[i], x.slopes)
			by := behind(k, x.movedBeside[i], x.slopesBeside)
			by.Drop(moves)
			k.Moves.Join(by) // by its square
			for column := range x.columns {
				if x.time.Has(column) && moves.Has(column) {
					k.Moves.Add(column)
				}
			}
		default:
			k.Moves.Join(behind(k, x.movedBeside[i], x.slopesBeside))
		}
	}
	x.stray()
	for _, k := range x.rest {
		if !k.Rests {
			continue
		}
		for _, i := range k.margins {
			if x.offBy[i] == nil || k.stuck && !k.carried {
				x.offBy[i] = sets.New(x.columns)
			}
			x.offBy[i].Join(k.Moves)
		}
	}
}
