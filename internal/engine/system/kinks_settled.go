package system

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/sets"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// A run may lead to a steady state that lies at a kink of the rates, or at the threshold of a condition. Nothing passes
// time there: what moves the steady state, by the implicit function theorem, or the threshold, takes it off.

// atSteady lists the kinks and conditions at which the steady state of the event of a mark lies. The search for it ends
// with rounding.
func (k *Kinks) atSteady(m *solvers.Mark) (found []Kink) {
	c := k.model.Compiled
	at := values{
		vecT: {m.T}, vecY: slices.Clone(m.Yp), vecD: slices.Clone(m.Dp), vecM: slices.Clone(m.Mp), vecP: k.point.p,
	}
	add := func(x Kink) {
		x.at, x.guard, x.settled = at, -1, true
		found = append(found, x)
	}
	if kt := k.tapes[c.Rates]; kt != nil {
		kt.beside(c.Rates)
		k.model.load(c.Rates, kt.eval, &at)
		kt.eval.Run()
		k.model.load(c.Rates, kt.near, &at)
		k.nudge(0, kt.near, beside, false)
		kt.near.Run()
		for _, v := range kt.ops {
			if kt.still[v] || kt.held[v] {
				continue // found where the run begins
			}
			far := tape.Bends(kt.near, v, 0, nil)
			var elems []int
			size := 0.0
			for i, d := range tape.Bends(kt.eval, v, 0, nil) {
				if far[i] != 0 && math.Abs(d) <= float64(noise*math.Abs(far[i])) {
					elems, size = append(elems, i), max(size, math.Abs(far[i]))
				}
			}
			if len(elems) > 0 {
				in := c.Rates.Instr(v)
				add(Kink{
					Op: in.Op, Span: in.Span, From: inputsOfValue(c.Rates, v), of: c.Rates, value: v, elems: elems,
					rounding: float64(noise * size),
				})
			}
		}
	}
	if k.guards == nil {
		return found
	}
	here, size := k.sizes(&at)
	for i, g := range c.GuardList {
		if mayRest(g) && math.Abs(here[i]) <= float64(noise*size[i]) && size[i] > 0 {
			add(Kink{
				Op: tape.Less, Span: g.Span, Rests: true, From: k.model.guardInputs(i),
				margins: []int{i}, rounding: float64(noise * size[i]),
			})
		}
	}
	return found
}

// settles reports whether the event of a mark goes on to a steady state that is no cycle.
func (m *Model) settles(event int) bool {
	list := m.Checked.Events
	return event < len(list) && list[event].Settles && list[event].Period == nil
}

// weighSettled finds what moves a kink or a condition that a steady state lies at off it, and what that makes bend.
func (x *Tangents) weighSettled(k *Kink) {
	k.Smooth = false
	for _, i := range k.margins {
		k.Into.condition(x.kinks.model, i)
	}
	k.spread(x.kinks.model)
	x.ofReaders(k)
	if x.rested == nil {
		x.structural(k)
		return
	}
	t, output := k.of, -1
	if t == nil {
		t, output = x.kinks.model.Compiled.Guards, k.margins[0]
	}
	for column, dir := range x.rested {
		sum, size := 0.0, 0.0
		for _, vec := range []vector{vecY, vecP, vecD} { // which may cancel
			var part values
			part[vec] = dir[vec]
			by := 0.0
			e, _ := x.load(t, &k.at)
			if e == nil || !x.spend(t) {
				x.structural(k)
				return
			}
			x.aim(e, &part)
			at := []tape.Bent{{Value: k.value, Elems: k.elems}}
			tape.Sides(e, at, func(_ tape.Value, _ int, leaves float64) float64 {
				by += leaves / tangentStep
				return 0
			})
			if output >= 0 {
				by = imag(e.Output(tapec.Margins.Name().String())[output]) / tangentStep
			}
			sum, size = sum+by, size+math.Abs(by)
		}
		if math.Abs(sum) > float64(1e-9*size) && float64(math.Abs(sum)*x.sizeOf(column)) > k.rounding {
			k.Moves.Add(column)
		}
	}
}

// sizeOf returns the size of the variable of a column, 1 for zero.
func (x *Tangents) sizeOf(column int) float64 {
	for _, v := range x.variables {
		if i := column - v.Offset; i >= 0 && i < v.Len && !v.Initial {
			if p := x.kinks.point.p[x.kinks.model.Param(v.Name).Offset+i]; p != 0 {
				return math.Abs(p)
			}
		}
	}
	return 1
}

// settler returns a worker that pushes tangents through steady states; nil if there is none.
func (x *Tangents) settler() *Worker {
	if x.steady == nil && x.exact {
		kit, err := x.kinks.problem.Kit(1, Push, false)
		if err != nil {
			return nil
		}
		x.steady = x.kinks.problem.Worker(kit)
	}
	return x.steady
}

// settle returns how a steady state, states, params and discretes, moves by a column. It moves with sums that are
// conserved from the start on; but behind bodies, what had moved what it was sought from is known by patterns only, for
// which generic numbers stand.
func (x *Tangents) settle(w *Worker, m *solvers.Mark, column int) (dir values) {
	l := x.kinks.model.layout
	v := make([]float64, x.columns)
	v[column] = 1
	active, _ := x.kinks.problem.Directions(x.variables)(v, make([]float64, len(x.kinks.model.Checked.Totals)))
	generic := func(by []sets.Set) []float64 {
		to := make([]float64, len(by))
		for i, s := range by {
			if s.Has(column) {
				to[i] = tape.Portion(i)
			}
		}
		return to
	}
	dir[vecY], dir[vecD], dir[vecP] = make([]float64, l.nY), make([]float64, l.nD), make([]float64, l.nP)
	for _, p := range x.motion().p[column] {
		dir[vecP][p.elem] = p.by
	}
	ym, dm, td := generic(x.yHad), generic(x.dHad), make([]float64, 1)
	if begun, ok := x.atStart(column); ok && !x.assigned {
		ym, dm = begun[vecY], begun[vecD]
	}
	if x.time.Has(column) {
		td[0] = 1
	}
	w.SetTangent(active)
	w.Enter(m.Dm, m.Mm)
	w.EnterPush(dm)
	w.AffectPush(m.Firing, m.T, m.Ym, m.Dm, td, ym, dm, dir[vecY], dir[vecD])
	return dir
}

// settled finds what moves states and discretes after the event of a mark, which goes on to a steady state, and reports
// whether it did.
func (x *Tangents) settled(m *solvers.Mark) bool {
	const most = 64 // columns
	if x.columns > most || !x.kinks.model.settles(m.Firing.Event) {
		return false
	}
	w := x.settler()
	if w == nil {
		return false
	}
	y, d := sets.Several(len(x.y), x.columns), sets.Several(len(x.d), x.columns)
	for column := range x.columns {
		dir := x.settle(w, m, column)
		x.rested = append(x.rested, dir)
		for i, by := range dir[vecY] {
			if by != 0 {
				y[i].Add(column)
			}
		}
		for i, by := range dir[vecD] {
			if by != 0 {
				d[i].Add(column)
			}
		}
	}
	x.y, x.d, x.assigned = y, d, true
	return true
}

// ofReaders makes what bends at a steady state after the end of a run what is read there and depends on it.
func (x *Tangents) ofReaders(k *Kink) {
	m := x.kinks.model
	e := x.mark.Firing.Event
	if m.moment(e) != AfterEnd || k.Into.all || len(k.Into.events) > 0 {
		return
	}
	read := m.Compiled.AtEvents[e]
	if read == nil { // by observations alone
		k.Into.all = true
		return
	}
	var readers []tapec.Name
	for _, out := range read.Outputs {
		n := tapec.MustName(out.Name)
		by := newDependence(m, nil)
		by.followAll(inputsOf(read, n, -1))
		if slices.ContainsFunc(k.Into.names, func(n tapec.Name) bool { return by.seen[n] }) {
			readers = append(readers, n)
		}
	}
	k.Into.names = readers
}
