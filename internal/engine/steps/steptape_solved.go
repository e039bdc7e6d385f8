package steps

import (
	"math"
	"strconv"

	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers/lanes"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// solvedMaker is a stepMaker for methods that solve equations. Besides the rates the tape holds their Jacobian, the
// elimination and the solves, element by element.
type solvedMaker struct {
	*stepMaker
	a        *matrices.SolvedArithmetic
	matrix   *matrices.StepMatrix
	straight *linalg.Straight
	jacobian *tape.Tape
	entries  []entriesAt

	states, all int // elements of the state and of a row of K
	kept        int // where the factors are in what a step makes
	one         tape.Value
	lanes       *solvedLanes // of steps of several runs; else nil
}

// solvedLanes are the rows of steps of several runs that solve equations, by one sequence of exchanges.
type solvedLanes struct {
	rows   *lanes.Rows
	number int             // of the sequence
	fixed  map[int]float64 // rows that are constants, which a step does not write
}

// entriesAt is an output of the Jacobian's tape and the first of its entries.
type entriesAt struct {
	name  string
	first int
	shape tape.Shape
}

func newSolvedMaker(l *vec.Layout, rates, jacobian *tape.Tape, a *matrices.SolvedArithmetic, x *matrices.StepMatrix,
	straight *linalg.Straight, lanes *solvedLanes,
) *solvedMaker {
	m := &solvedMaker{
		stepMaker: newMaker(l, rates, &a.Arithmetic, lanes != nil), a: a, matrix: x, straight: straight,
		jacobian: jacobian, states: l.NY, lanes: lanes,
	}
	if lanes != nil && !a.FSAL {
		m.from = 0
	}
	m.all = m.width()
	for _, o := range jacobian.Outputs {
		m.entries = append(m.entries, entriesAt{o.Name, l.Part(tapec.MustName(o.Name)).Offset, jacobian.Shape(o.Value)})
	}
	m.one = m.b.Scalar(1)
	return m
}

// flat returns the elements of a value.
func (m *solvedMaker) flat(v tape.Value, shape tape.Shape) []tape.Value {
	if len(shape) == 0 {
		return []tape.Value{v}
	}
	if len(m.b.Shape(v)) == 0 { // a sum without terms
		v = m.b.Broadcast(v, shape)
	}
	v = m.b.Reshape(v, tape.Shape{shape.Size()})
	list := make([]tape.Value, shape.Size())
	for i := range list {
		list[i] = m.b.Element(v, i)
	}
	return list
}

// shaped is the inverse of flat.
func (m *solvedMaker) shaped(list []tape.Value, shape tape.Shape) tape.Value {
	if len(shape) == 0 {
		return list[0]
	}
	return m.b.Reshape(m.b.Stack(0, list...), shape)
}

// elements returns the elements of a row of K.
func (m *solvedMaker) elements(row map[string]tape.Value) []tape.Value {
	list := make([]tape.Value, m.all)
	for _, r := range m.rows {
		copy(list[r.Offset:], m.flat(row[r.name], r.shape))
	}
	return list
}

// row is the inverse of elements.
func (m *solvedMaker) row(list []tape.Value) map[string]tape.Value {
	row := map[string]tape.Value{}
	for _, r := range m.rows {
		row[r.name] = m.shaped(list[r.Offset:r.Offset+r.Len], r.shape)
	}
	return row
}

// run writes what a schedule computes into places.
func (m *solvedMaker) run(s *linalg.Schedule, places []tape.Value) {
	for _, step := range s.Steps {
		v := m.zero
		if step.From != linalg.None {
			v = places[step.From]
		}
		if step.Negate {
			v = m.b.Neg(v)
		}
		for _, t := range s.Terms[step.First:step.Last] {
			v = m.b.Op3(tape.FMA, places[t.A], places[t.B], v)
		}
		if step.Invert {
			v = m.b.Div(m.b.Scalar(-1), v)
		}
		if step.Scale != linalg.None {
			v = m.b.Mul(v, places[step.Scale])
		}
		places[step.To] = v
	}
}

// solve replaces the elements x of the state by the solution of a schedule.
func (m *solvedMaker) solve(s *linalg.Schedule, places, x []tape.Value) {
	at := places[s.Values+s.Factors:]
	copy(at, x[:m.states])
	m.run(s, places)
	copy(x, at[:m.states])
}

// solved replaces the elements x of a right-hand side by those of a row of K, or of its tangent. entry returns entries
// of the Jacobian.
func (m *solvedMaker) solved(places, x []tape.Value, entry func(e int32) tape.Value) {
	m.solve(m.straight.Solve, places, x)
	for _, e := range m.matrix.Outer {
		x[e.Row] = m.b.Op3(tape.FMA, m.b.Mul(m.h, entry(e.E)), x[e.Col], x[e.Row])
	}
	for q := m.states; q < m.all; q++ {
		x[q] = m.b.Mul(x[q], m.b.Scalar(m.a.Gamma))
	}
}

// factor returns the places of a solve after the elimination of I/γ - h ∂f/∂y, and whether its pivots serve: 1 if so.
func (m *solvedMaker) factor(j []tape.Value) (places []tape.Value, serve tape.Value) {
	f := m.straight.Factor
	places = make([]tape.Value, f.Values+f.Factors+2*f.N)
	for i := range m.matrix.NonZeros {
		places[i] = m.zero
	}
	for _, at := range m.matrix.Diagonal {
		places[at] = m.b.Scalar(m.a.Inverse)
	}
	minus := m.b.Neg(m.h)
	for _, s := range m.matrix.States {
		places[s.Place] = m.b.Op3(tape.FMA, minus, j[s.E], places[s.Place])
	}
	m.run(f, places)
	serve = m.one
	atMost := func(x, y tape.Value) { serve = m.b.Mul(serve, m.b.Op2(tape.LessEq, x, y)) }
	size := func(place int32) tape.Value { return m.b.Op1(tape.Abs, places[place]) }
	made := map[int32]linalg.Step{}
	for _, step := range f.Steps {
		made[step.To] = step
		if !step.Invert {
			continue
		}
		// Twice what may be nothing but rounding.
		terms, sum := f.Terms[made[step.From].First:made[step.From].Last], m.zero
		for _, t := range terms {
			sum = m.b.Op3(tape.FMA, size(t.A), size(t.B), sum)
		}
		times, least := linalg.Cancelled(len(terms))
		atMost(m.b.Op3(tape.FMA, m.b.Scalar(2*times), sum, m.b.Scalar(2*least)), size(step.From))
		atMost(size(step.From), m.b.Scalar(math.MaxFloat64))
	}
	for _, l := range m.straight.Lower {
		atMost(size(l), m.b.Scalar(m.straight.Bound))
	}
	for _, l := range m.straight.Exchanged {
		none := m.b.Op2(tape.LessEq, size(l), m.zero)
		serve = m.b.Mul(serve, m.b.Op2(tape.Max, none, m.b.Op2(tape.LessEq, m.b.Scalar(linalg.Uneven), size(l))))
	}
	for _, x := range m.straight.Minors {
		need := m.zero
		for _, at := range []int32{x.Cross, x.Own, x.Other} {
			need = m.b.Op2(tape.Max, need, m.b.Op2(tape.LessEq, size(at), m.zero))
		}
		if x.Back != linalg.None {
			own := m.b.Mul(m.b.Scalar(linalg.Foreign), m.b.Div(size(x.Own), size(x.Back)))
			need = m.b.Op2(tape.Max, need, m.b.Op2(tape.LessEq, own, m.b.Div(size(x.Cross), size(x.Other))))
		}
		serve = m.b.Mul(serve, need)
	}
	for _, g := range m.straight.Growth {
		most := size(g.Of[0])
		for _, of := range g.Of[1:] {
			most = m.b.Op2(tape.Max, most, size(of))
		}
		bound := m.b.Mul(m.b.Scalar(g.Factor), most)
		for _, at := range g.Places {
			atMost(size(at), bound)
		}
	}
	return places, serve
}

// forward returns the tape of a step. Its inputs are the times, Y0 and, if it is known before, row 0 of K. Its outputs
// are the rows of K from m.from on, Y1, DQ, E, the entries of the Jacobian, the factors and whether its pivots serve.
// fixed are the factors that are constants, which have no outputs. The outputs for several runs are lanes.Rows.
func (m *solvedMaker) forward() (t *tape.Tape, fixed map[int]float64) {
	y0 := m.stepMaker.states("y", m.input)
	save := func(i int, row map[string]tape.Value) {
		for _, r := range m.rows {
			m.output(tapec.Primal, "k"+strconv.Itoa(i)+"."+r.name, row[r.name], r.Len, nil)
		}
	}
	start := m.stage(0, y0, nil)
	var k []map[string]tape.Value
	if m.from > 0 {
		k = append(k, m.derivatives("k", 0))
	} else {
		k = append(k, m.each(m.at(m.rates, 0, start, nil)))
		save(0, k[0])
	}
	got := m.at(m.jacobian, 0, start, nil)
	var j []tape.Value
	for _, o := range m.entries {
		j = append(j, make([]tape.Value, max(0, o.first+o.shape.Size()-len(j)))...)
		copy(j[o.first:], m.flat(got[o.name], o.shape))
	}
	places, serve := m.factor(j)
	end := func() map[string]tape.Value {
		out := map[string]tape.Value{}
		for _, r := range m.rows {
			base := m.zero
			if r.state != "" {
				base = y0[r.name]
			}
			out[r.name] = m.sum(m.a.B, m.h, base, func(j int) tape.Value { return k[j][r.name] })
		}
		return out
	}
	rates := make([]map[string]tape.Value, m.a.Stages+1)
	rates[1] = k[0]
	for i := 1; i < m.a.Stages; i++ {
		if same := m.a.Same[i]; rates[same] == nil {
			y := map[string]tape.Value{}
			if m.a.FSAL && i+1 == m.a.Stages {
				y1 := end()
				for _, r := range m.rows {
					y[r.state] = y1[r.name]
				}
			} else {
				y = m.stage(i, y0, k)
			}
			rates[same] = m.each(m.at(m.rates, m.form.Nodes[i], y, nil))
		}
		row := map[string]tape.Value{}
		for _, r := range m.rows {
			row[r.name] = m.sum(m.a.C[i], m.one, rates[m.a.Same[i]][r.name], func(j int) tape.Value {
				return k[j][r.name]
			})
		}
		x := m.elements(row)
		if g := m.a.Gammas[i]; g != 0 {
			hg := m.b.Mul(m.h, m.b.Scalar(g))
			for _, e := range m.matrix.Times {
				x[e.Row] = m.b.Op3(tape.FMA, hg, j[e.E], x[e.Row])
			}
		}
		m.solved(places, x, func(e int32) tape.Value { return j[e] })
		k = append(k, m.row(x))
		save(i, k[i])
	}
	if m.a.FSAL {
		save(m.a.Stages, rates[m.a.Same[m.a.Stages-1]])
	}
	y1 := end()
	for _, r := range m.rows {
		m.output(tapec.Primal, "end."+r.name, y1[r.name], r.Len, nil)
	}
	errors := map[string]tape.Value{}
	for _, r := range m.rows {
		errors[r.name] = m.sum(m.a.E, m.h, m.zero, func(j int) tape.Value { return k[j][r.name] })
		if m.lanes == nil || m.states < m.all || m.errors {
			m.output(tapec.Primal, "error."+r.name, errors[r.name], r.Len, nil)
		}
	}
	if m.lanes != nil {
		m.measured(y0, y1, errors)
		m.leave(j, places, serve)
		return m.b.Tape(), nil
	}
	for i, v := range j {
		m.output(tapec.Primal, "entry."+strconv.Itoa(i), v, 1, nil)
	}
	fixed, m.kept = map[int]float64{}, m.made
	for i, v := range places[m.straight.Factor.Values:][:m.straight.Kept] {
		if v == 0 { // nothing is written there
			fixed[i] = 0
		} else if c, ok := m.b.Uniform(v); ok {
			fixed[i] = c
		} else {
			at := vec.Part{Vec: vec.Made, Offset: m.kept + i, Len: 1}
			m.output(tapec.Primal, "factor."+strconv.Itoa(i), v, 1, &at)
		}
	}
	m.made += m.straight.Kept
	m.output(tapec.Primal, "serve", serve, 1, nil)
	return m.b.Tape(), fixed
}

// leave writes what the transpose of a step of several runs needs besides the stages.
func (m *solvedMaker) leave(j, places []tape.Value, serve tape.Value) {
	rows := m.lanes.rows
	put := func(name string, i, row int, v tape.Value) {
		if c, ok := m.b.Uniform(v); ok {
			m.lanes.fixed[row] = c
			return
		}
		m.output(tapec.Primal, name+strconv.Itoa(i), v, 1, &vec.Part{Vec: vec.Made, Offset: row - rows.Made, Len: 1})
	}
	serve = m.b.Mul(serve, m.b.Scalar(float64(m.lanes.number)))
	m.output(tapec.Primal, "serve", serve, 1, &vec.Part{Vec: vec.Made, Offset: rows.Serve - rows.Made, Len: 1})
	for i, v := range places[m.straight.Factor.Values:][:m.straight.Kept] {
		if v == 0 { // nothing is written there
			v = m.zero
		}
		put("factor.", i, rows.Factors+i, v)
	}
	for i, e := range m.matrix.Outer {
		put("entry.", i, rows.Outer+i, j[e.E])
	}
}

// kepts adds inputs for what was kept of a step: its factors, and those entries of the Jacobian that are needed.
func (m *solvedMaker) kepts(factors []tape.Value, entries map[int32]tape.Value) {
	if m.lanes != nil {
		for i := range m.straight.Kept {
			factors[i] = m.left(m.lanes.rows.Factors + i)
		}
		for i, e := range m.matrix.Outer {
			entries[e.E] = m.left(m.lanes.rows.Outer + i)
		}
		return
	}
	kept := func(i int) tape.Value {
		return m.input("kept."+strconv.Itoa(i), nil, &vec.Part{Vec: vec.Step, Offset: m.shared + i, Len: 1})
	}
	for i := range m.straight.Kept {
		factors[i] = kept(i)
	}
	first := m.straight.Kept + m.matrix.Analysis.Exchanges()
	for _, e := range m.matrix.Outer {
		if _, ok := entries[e.E]; !ok {
			entries[e.E] = kept(first + int(e.E))
		}
	}
	m.shared += first + len(m.matrix.All)
}

// left returns what leave has written to a row.
func (m *solvedMaker) left(row int) tape.Value {
	if c, ok := m.lanes.fixed[row]; ok {
		return m.b.Scalar(c)
	}
	return m.input("row."+strconv.Itoa(row), nil, &vec.Part{Vec: vec.Step, Offset: row, Len: 1})
}

// served returns 1 in lanes with a step that the programs of these exchanges have made, and else 0.
func (m *solvedMaker) served() tape.Value {
	rows := m.lanes.rows
	of := m.b.Op2(tape.Equal, m.left(rows.Serve), m.b.Scalar(float64(m.lanes.number)))
	return m.b.Mul(of, m.left(rows.Mask))
}

// backward returns the tape of a step's transpose; pull and curl are the transposes of the rates and of their Jacobian,
// which is nil where that is constant. Inputs and outputs are those of stepMaker.backward and what was kept of the
// step.
func (m *solvedMaker) backward(pull, curl *tape.Tape, factor func(output string) bool) (t *tape.Tape, sums []string) {
	y0 := m.stepMaker.states("y", m.input)
	k := make([]map[string]tape.Value, m.a.Stages)
	for i := range k {
		k[i] = m.derivatives("k"+strconv.Itoa(i), i)
	}
	f := m.straight.Factor
	places := make([]tape.Value, f.Values+f.Factors+2*f.N)
	j := map[int32]tape.Value{}
	m.kepts(places[f.Values:], j)

	y1 := m.stepMaker.states("y1", m.cotangent)
	dq := make([]tape.Value, m.all)
	for _, r := range m.rows {
		if r.state == "" {
			copy(dq[r.Offset:], m.flat(m.cotangent("dq."+r.name, r.shape, nil), r.shape))
		}
	}
	t1 := m.cotangent("t1", nil, nil)
	t0 := t1
	g := m.gather(pull, curl, factor)
	var sown *seeds
	// pulled returns what from makes of cotangents, and adds it to the time and to the accumulators.
	pulled := func(from *tape.Tape, i int, y, bar map[string]tape.Value) (got, states map[string]tape.Value) {
		got = m.at(from, m.form.Nodes[i], y, bar)
		states = m.ofStates(got, func(v tape.Value) tape.Value { return v })
		t0 = m.b.Add(t0, m.moved(got))
		g.add(m.b, got, func(v tape.Value) tape.Value { return v })
		return got, states
	}
	if m.sown != nil {
		sown = m.seeds()
		t0 = m.b.Add(t1, sown.t)
	}
	outer := make([]tape.Value, m.states)
	for i := range outer {
		outer[i] = m.zero
	}
	for _, e := range m.matrix.Outer {
		outer[e.Col] = m.b.Op3(tape.FMA, j[e.E], dq[e.Row], outer[e.Col])
	}
	yb, v := make([]map[string]tape.Value, m.a.Stages), make([][]tape.Value, m.a.Stages)
	vb := make([]map[string]tape.Value, m.a.Stages)
	for i := m.a.Stages - 1; i >= 1; i-- {
		row := map[string]tape.Value{}
		for _, r := range m.rows {
			if r.state == "" {
				row[r.name] = m.b.Const(r.shape, 0) // replaced below
				continue
			}
			base := m.zero
			if sown != nil {
				base = sown.k[i][r.name]
			}
			x := m.sum(m.a.At[i], m.one, base, func(j int) tape.Value {
				if j == 0 {
					return y1[r.name]
				}
				return yb[j][r.name]
			})
			x = m.b.Mul(x, m.h)
			row[r.name] = m.sum(m.a.Ct[i], m.one, x, func(j int) tape.Value { return vb[j][r.name] })
		}
		x := m.elements(row)
		if m.states < m.all {
			omega := m.b.Mul(m.h, m.b.Scalar(m.a.Omega[i]))
			for q := m.states; q < m.all; q++ {
				x[q] = m.b.Mul(omega, dq[q])
			}
			omega = m.b.Mul(m.h, omega)
			for q, o := range outer {
				x[q] = m.b.Op3(tape.FMA, omega, o, x[q])
			}
		}
		m.solve(m.straight.SolveT, places, x)
		v[i], vb[i] = x, m.row(x)
		if m.a.Same[i] < i {
			continue
		}
		bar := map[string]tape.Value{}
		for _, r := range m.rows {
			kb := vb[i][r.name]
			for j := i + 1; j < m.a.Stages; j++ {
				if m.a.Same[j] == i {
					kb = m.b.Add(kb, vb[j][r.name])
				}
			}
			bar[tapec.Cotangent.Of(r.name)] = kb
		}
		var got map[string]tape.Value
		got, yb[i] = pulled(pull, i, m.stage(i, y0, k), bar)
		m.note(i, got, g)
	}
	y0b := m.start(m.a.Sum, y1, sown, func(j int, name string) tape.Value { return yb[j][name] })
	if curl != nil {
		_, more := pulled(curl, 0, m.stage(0, y0, k), m.products(k, v))
		for name, x := range more {
			y0b[name] = m.b.Add(y0b[name], x)
		}
	}
	if m.lanes != nil {
		m.mask = m.served()
		t0 = m.masked(y0b, y1, t0, t1, g)
	}
	m.ended(y0b, t0, g)
	return m.b.Tape(), g.names
}

// tangents returns the tape of the tangent of a step of several runs, as movedMaker.moved has its outputs. push and
// curl are the tangents of the rates and of their Jacobian, which is nil where that does not move.
func (m *solvedMaker) tangents(push, curl *tape.Tape) *tape.Tape {
	d := &movedMaker{stepMaker: m.stepMaker, push: push}
	y0, y0d, k, before := d.began()
	td := d.fresh(before)
	f := m.straight.Factor
	places := make([]tape.Value, f.Values+f.Factors+2*f.N)
	j := map[int32]tape.Value{}
	m.kepts(places[f.Values:], j)

	got := map[string]tape.Value{}
	if curl != nil {
		got = m.at(curl, 0, m.stage(0, y0, nil), d.moving(0, before, y0d, nil))
	}
	jd := make([]tape.Value, len(m.matrix.All))
	for _, o := range m.entries {
		for i, v := range m.flat(d.rowOr(got, tapec.Tangent.Of(o.name), o.shape), o.shape) {
			jd[o.first+i] = m.b.Mul(m.h, v)
		}
	}
	kd, rates := make([]map[string]tape.Value, m.a.Stages), make([]map[string]tape.Value, m.a.Stages)
	for i := 1; i < m.a.Stages; i++ {
		same := m.a.Same[i]
		if same == i {
			rates[i] = d.pushed(i, m.stage(i, y0, k), d.moving(i, td, y0d, kd))
		}
		row := map[string]tape.Value{}
		for _, r := range m.rows {
			row[r.name] = m.sum(m.a.C[i], m.one, rates[same][r.name], func(j int) tape.Value {
				return kd[j][r.name]
			})
		}
		x, kappa := m.elements(row), append(m.elements(k[i])[:m.states:m.states], m.b.Scalar(m.a.Gammas[i]))
		for _, e := range m.matrix.All {
			x[e.Row] = m.b.Op3(tape.FMA, jd[e.E], kappa[e.Col], x[e.Row])
		}
		m.solved(places, x, func(e int32) tape.Value { return j[e] })
		kd[i] = m.row(x)
	}
	return d.moved(m.served(), before, td, y0d, kd)
}

// products returns the cotangents of the entries of the Jacobian, h Σ_i v_i κ_iᵀ, as inputs of its transpose.
func (m *solvedMaker) products(k []map[string]tape.Value, v [][]tape.Value) map[string]tape.Value {
	kappa := make([][]tape.Value, m.a.Stages)
	for i := 1; i < m.a.Stages; i++ {
		kappa[i] = append(m.elements(k[i])[:m.states:m.states], m.b.Scalar(m.a.Gammas[i]))
	}
	jb := make([]tape.Value, len(m.matrix.All))
	for _, e := range m.matrix.All {
		sum := m.b.Mul(kappa[1][e.Col], v[1][e.Row])
		for i := 2; i < m.a.Stages; i++ {
			sum = m.b.Op3(tape.FMA, kappa[i][e.Col], v[i][e.Row], sum)
		}
		jb[e.E] = m.b.Op3(tape.FMA, m.h, sum, m.zero)
	}
	bar := map[string]tape.Value{}
	for _, o := range m.entries {
		bar[tapec.Cotangent.Of(o.name)] = m.shaped(jb[o.first:o.first+o.shape.Size()], o.shape)
	}
	return bar
}
