package steps

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"

	"odes.dev/odes/solvers/lanes"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// stepMaker writes the tape of a whole step of a method, or of its transpose. The tape holds the
// right-hand side once for each stage, and the method's sums between them, in the very operations that
// package solvers uses.
type stepMaker struct {
	b      *tape.Builder
	form   *solvers.Arithmetic
	rates  *tape.Tape
	rows   []stepRow
	places map[tapec.Name]vec.Part // of the inputs and outputs that a step has besides those of the rates
	counts
	notes []note // what a transpose makes for the ledger

	inPlace bool // states and rows of K stand where the solver has them
	from    int  // the first row of K that a step computes

	// Of steps of several runs, each of which is a lane (lanes.go):
	members bool               // all inputs are per lane
	tol     *solvers.Tolerance // by which errors are measured
	errors  bool               // those of the states are wanted, besides their norm
	abs     int                // where tolerances of the states are, where they follow sizes; else 0
	block   *lanes.Rows        // of what reads steps: where they are; nil for a copy
	mask    tape.Value         // of a transpose: 0 in lanes that make no step
	moving  bool               // of a transpose: the ends of the steps move
	sown    *sownRows          // of a transpose: something is read within the steps; nil for nothing
	curl    *tape.Tape         // that of the Jacobian, if other steps solve equations: its accumulators go through
	past    *pastRows          // what the rows of K read of the past; nil for nothing

	t, h, t1, zero tape.Value
}

// counts are elements so far.
type counts struct {
	shared int // of vecStep
	laned  int // and of its cotangent
	made   int // of vecMade
	plain  int // those of a transpose that lanes share
}

// sownRows is where a transpose of steps of several runs has what was read within them.
type sownRows struct {
	block *lanes.Rows
	first int // row of the cotangents
}

// seeds are solvers.Seeds as inputs of a transpose. In lanes that have none, adding them changes nothing.
type seeds struct {
	all  bool       // every lane has some
	some tape.Value // else 1 in lanes that do
	t, h tape.Value
	y0   map[string]tape.Value
	k    []map[string]tape.Value // zeros in lanes that have none
}

// note is a factor of the products of one stage.
type note struct {
	stage   int
	name    string
	value   tape.Value
	perLane bool
}

// stepRow is a named part of the rates: those of a state, or of a quadrature.
type stepRow struct {
	name  string // "dy.x"
	state string // "y.x"; "" for a quadrature
	vec.Part
	shape tape.Shape
}

func newStepMaker(l *vec.Layout, rates *tape.Tape, form *solvers.Arithmetic) *stepMaker {
	return newMaker(l, rates, form, false)
}

// newMaker begins a tape of steps, each of which is a lane where there are several.
func newMaker(l *vec.Layout, rates *tape.Tape, form *solvers.Arithmetic, members bool) *stepMaker {
	m := &stepMaker{
		b: tape.NewBuilder("step"), form: form, rates: rates,
		places: map[tapec.Name]vec.Part{}, from: 1, members: members,
	}
	for _, o := range rates.Outputs {
		name := tapec.MustName(o.Name)
		row := stepRow{name: o.Name, Part: l.Part(name), shape: rates.Shape(o.Value)}
		if name.Role == tapec.Rate {
			row.state = tapec.State.Called(name.Of).String()
		}
		m.rows = append(m.rows, row)
	}
	slices.SortFunc(m.rows, func(a, b stepRow) int { return a.Offset - b.Offset }) // as they lie in a row of K
	m.t, m.h, m.t1 = m.input("t", nil, nil), m.input("h", nil, nil), m.input("t1", nil, nil)
	m.zero = m.b.Scalar(0)
	return m
}

// input adds an input of the step: at home, or else behind the inputs before it.
func (m *stepMaker) input(name string, shape tape.Shape, home *vec.Part) tape.Value {
	n := tapec.Step.Called(name)
	m.place(n, vec.Step, &m.shared, shape.Size(), home)
	return m.b.Input(n.String(), shape, m.members)
}

// cotangent adds an input with a copy for each lane.
func (m *stepMaker) cotangent(name string, shape tape.Shape, home *vec.Part) tape.Value {
	n := tapec.Step.Called(name).Bar()
	m.place(n, vec.Step, &m.laned, shape.Size(), home)
	return m.b.Input(n.String(), shape, true)
}

// output adds an output; in the variation Cotangent it has a copy for each lane.
func (m *stepMaker) output(v tapec.Variation, name string, x tape.Value, size int, home *vec.Part) {
	n := tapec.Made.Called(name).As(v)
	m.place(n, vec.Made, &m.made, size, home)
	m.b.Output(n.String(), x)
}

// place gives an input or output of size elements its place: home, or else behind those before it in
// vec.
func (m *stepMaker) place(name tapec.Name, of vec.Vector, next *int, size int, home *vec.Part) {
	if home != nil {
		m.places[name] = *home
		return
	}
	m.places[name] = vec.Part{Vec: of, Offset: *next, Len: size}
	*next += size
}

// stateHome returns where the solver keeps the states of a row, if the tape reads them there; else
// nil.
func (m *stepMaker) stateHome(r *stepRow) *vec.Part {
	if !m.inPlace || r.state == "" {
		return nil
	}
	return &vec.Part{Vec: vec.Y, Offset: r.Offset, Len: r.Len}
}

// ends adds inputs for the states at the end of the step.
func (m *stepMaker) ends() map[string]tape.Value {
	if m.block == nil {
		return m.states("y1", m.input)
	}
	at := m.block.Y1
	return m.states("y1", func(name string, shape tape.Shape, _ *vec.Part) tape.Value {
		home := vec.Part{Vec: vec.Step, Offset: at, Len: shape.Size()}
		at += home.Len
		return m.input(name, shape, &home)
	})
}

// stageHome returns where the solver keeps a row of K of stage k, counted from the first stage in the
// vector.
func (m *stepMaker) stageHome(k int, r *stepRow) *vec.Part {
	switch {
	case m.sown != nil && k >= m.form.Stages:
		return &vec.Part{Vec: vec.Step, Offset: m.sown.block.Dense + (k-m.form.Stages)*m.width() + r.Offset, Len: r.Len}
	case m.block != nil:
		at := m.block.K + k*m.block.W
		if k >= m.block.Stages {
			at = m.block.Dense + (k-m.block.Stages)*m.block.W
		}
		return &vec.Part{Vec: vec.Step, Offset: at + r.Offset, Len: r.Len}
	case !m.inPlace:
		return nil
	}
	return &vec.Part{Vec: vec.K, Offset: r.Offset + (k-m.from)*m.width(), Len: r.Len}
}

// width is the width of a row of K.
func (m *stepMaker) width() (n int) {
	for _, r := range m.rows {
		n += r.Len
	}
	return n
}

// states adds inputs for the states, with add, as they lie in their vector.
func (m *stepMaker) states(name string, add func(name string, shape tape.Shape,
	home *vec.Part) tape.Value,
) map[string]tape.Value {
	out := map[string]tape.Value{}
	for i := range m.rows {
		if r := &m.rows[i]; r.state != "" {
			out[r.name] = add(name+"."+r.name, r.shape, m.stateHome(r))
		}
	}
	return out
}

// derivatives adds inputs for a row of K.
func (m *stepMaker) derivatives(name string, stage int) map[string]tape.Value {
	out := map[string]tape.Value{}
	for i := range m.rows {
		r := &m.rows[i]
		out[r.name] = m.input(name+"."+r.name, r.shape, m.stageHome(stage, r))
	}
	return out
}

// time returns the time of a node, which is the fraction of the step before it.
func (m *stepMaker) time(node float64) tape.Value {
	switch node {
	case 0:
		return m.t
	case 1:
		return m.t1
	default:
		return m.b.Op3(tape.FMA, m.b.Scalar(node), m.h, m.t)
	}
}

// sum returns base + h·Σ, as solvers.Terms has it, over the values of rows.
func (m *stepMaker) sum(t solvers.Terms, h, base tape.Value, row func(i int) tape.Value) tape.Value {
	if len(t.C) == 0 {
		return base
	}
	s := m.b.Mul(m.b.Scalar(t.C[0]), row(t.Row[0]))
	for j := 1; j < len(t.C); j++ {
		s = m.b.Op3(tape.FMA, m.b.Scalar(t.C[j]), row(t.Row[j]), s)
	}
	return m.b.Op3(tape.FMA, h, s, base)
}

// stage returns the values of the states at stage i, over those of K.
func (m *stepMaker) stage(i int, y0 map[string]tape.Value, k []map[string]tape.Value) map[string]tape.Value {
	y := map[string]tape.Value{}
	for _, r := range m.rows {
		if r.state != "" {
			y[r.state] = m.sum(m.form.A[i], m.h, y0[r.name], func(j int) tape.Value { return k[j][r.name] })
		}
	}
	m.read(i, y)
	return y
}

// at inlines t at a node. bar holds the cotangents of its rates, and the time if that is not the one of the node; nil
// for none.
func (m *stepMaker) at(t *tape.Tape, node float64, y, bar map[string]tape.Value) map[string]tape.Value {
	return tapec.Inline(m.b, t, func(in *tape.Input) tape.Value {
		if v, ok := y[in.Name]; ok {
			return v
		}
		if v, ok := bar[in.Name]; ok {
			return v
		}
		if in.Name == tapec.Time.Name().String() {
			return m.time(node)
		}
		return m.b.Input(in.Name, in.Shape, in.PerLane || m.members)
	})
}

// forward returns the tape of a step. Its inputs are the times, Y0 and, if it is known before, row 0
// of K. Its outputs are the rows of K from m.from on, Y1, DQ and, for methods where it is a sum, E.
func (m *stepMaker) forward() *tape.Tape {
	y0 := m.states("y", m.input)
	var k []map[string]tape.Value
	if m.from > 0 {
		k = append(k, m.derivatives("k", m.from))
	}
	end := func(r *stepRow) tape.Value {
		base := m.zero
		if r.state != "" {
			base = y0[r.name]
		}
		return m.sum(m.form.B, m.h, base, func(j int) tape.Value { return k[j][r.name] })
	}
	for i := m.from; i < m.rowsOfStep(); i++ {
		k = append(k, m.each(m.at(m.rates, m.form.Nodes[i], m.stage(i, y0, k), nil)))
		for _, r := range m.rows {
			m.output(tapec.Primal, "k"+strconv.Itoa(i)+"."+r.name, k[i][r.name], r.Len, m.stageHome(i, &r))
		}
	}
	ends, errors := map[string]tape.Value{}, map[string]tape.Value{}
	quadratures := slices.ContainsFunc(m.rows, func(r stepRow) bool { return r.state == "" })
	for _, r := range m.rows {
		ends[r.name] = end(&r)
		m.output(tapec.Primal, "end."+r.name, ends[r.name], r.Len, m.stateHome(&r))
	}
	if (len(m.form.E.C) > 0 || m.members) && !m.inPlace {
		for _, r := range m.rows {
			row := func(j int) tape.Value { return k[j][r.name] }
			if p := m.form.Combined; len(p[0].C) > 0 {
				e5 := m.sum(p[0], m.h, m.zero, row)
				errors[r.name] = m.combined(e5, m.sum(p[1], m.h, m.zero, row))
			} else {
				errors[r.name] = m.sum(m.form.E, m.h, m.zero, row)
			}
			if !m.members || quadratures || m.errors {
				m.output(tapec.Primal, "error."+r.name, errors[r.name], r.Len, nil)
			}
		}
	}
	if m.members {
		m.measured(y0, ends, errors)
	}
	m.curve(k)
	return m.b.Tape()
}

// extension returns the tape of the rows of the dense output. Its inputs are the times, Y0 and the other rows of K.
func (m *stepMaker) extension() *tape.Tape {
	y0 := m.states("y", m.input)
	var k []map[string]tape.Value
	for i := range m.form.Rows {
		if i < m.form.Stages {
			k = append(k, m.derivatives("k"+strconv.Itoa(i), i))
			continue
		}
		k = append(k, m.each(m.at(m.rates, m.form.Nodes[i], m.stage(i, y0, k), nil)))
		for _, r := range m.rows {
			m.output(tapec.Primal, "k"+strconv.Itoa(i)+"."+r.name, k[i][r.name], r.Len, nil)
		}
	}
	return m.b.Tape()
}

// each gives every run its own copy of rates that are constants. No step has the length 0.
func (m *stepMaker) each(k map[string]tape.Value) map[string]tape.Value {
	if !m.members {
		return k
	}
	varies := tape.DependsOnFunc(m.rates, func(string) bool { return true })
	for _, o := range m.rates.Outputs {
		if v := k[o.Name]; !varies[o.Value] {
			shape := m.b.Shape(v)
			k[o.Name] = m.b.Select(m.b.Broadcast(m.h, shape), v, m.b.Broadcast(m.t, shape))
		}
	}
	return k
}

// reading returns the tape that reads the guards at all points of a step. Its inputs are the times, Y0, K with the rows
// of the dense output, and Y1. Its outputs are ρ at each point, then the truths; of steps of several runs also what
// lanes.Stepper has of them.
func (m *stepMaker) reading(guards *tape.Tape) *tape.Tape {
	y0 := m.states("y", m.input)
	k := make([]map[string]tape.Value, m.form.Rows)
	for i := range k {
		k[i] = m.derivatives("k"+strconv.Itoa(i), i)
	}
	y1 := m.states("y1", m.input)
	read := map[string]bool{}
	for _, in := range guards.Inputs {
		read[in.Name] = true
	}
	margins, truths := tapec.Margins.Name().String(), tapec.Truths.Name().String()
	got := make([]map[string]tape.Value, len(m.form.Points))
	for i, p := range m.form.Points {
		y := map[string]tape.Value{}
		for _, r := range m.rows {
			switch {
			case !read[r.state]:
			case p.Theta == 1:
				y[r.state] = y1[r.name]
			default:
				y[r.state] = m.sum(p.Weights, m.h, y0[r.name], func(j int) tape.Value { return k[j][r.name] })
			}
		}
		got[i] = m.at(guards, p.Theta, y, nil)
	}
	for _, name := range []string{margins, truths} {
		for i := range got {
			v := got[i][name]
			m.output(tapec.Primal, strconv.Itoa(i)+"."+name, v, m.b.Shape(v).Size(), nil)
		}
	}
	if m.members {
		m.ranges(got, margins, truths)
	}
	return m.b.Tape()
}

// ranges adds the least and the largest of what was got by these names to the outputs. Those of the truths are NaN
// where a margin is not finite.
func (m *stepMaker) ranges(got []map[string]tape.Value, margins, truths string) {
	odd := m.b.Sub(got[0][margins], got[0][margins])
	for _, v := range got[1:] {
		odd = m.b.Add(odd, m.b.Sub(v[margins], v[margins]))
	}
	for _, name := range []string{margins, truths} {
		for _, op := range []tape.Op{tape.Min, tape.Max} {
			v := got[0][name]
			for _, next := range got[1:] {
				v = m.b.Op2(op, v, next[name])
			}
			if name == truths {
				v = m.b.Add(v, odd)
			}
			m.output(tapec.Primal, fmt.Sprint(op, name), v, m.b.Shape(v).Size(), nil)
		}
	}
}

// sampling returns the tape that reads expressions, and their slopes as time passes, at the samples of a step. slopes
// is their tangent, nil where none of them moves. The inputs are the times, Y0, K with the rows of the dense output, Y1
// and, for each sample, the time of the expressions and that of the slopes. The outputs are those of the two tapes,
// sample by sample.
func (m *stepMaker) sampling(heights, slopes *tape.Tape) *tape.Tape {
	y0 := m.states("y", m.input)
	k := make([]map[string]tape.Value, m.form.Sampled)
	for i := range k {
		k[i] = m.derivatives("k"+strconv.Itoa(i), i)
	}
	y1 := m.ends()
	tangent := func(name string) string { return tapec.MustName(name).As(tapec.Tangent).String() }
	time, read := tapec.Time.Name().String(), map[string]bool{}
	inputs := heights.Inputs
	if slopes != nil {
		inputs = slices.Concat(inputs, slopes.Inputs)
	}
	for _, in := range inputs {
		read[in.Name] = true
	}
	var e, ed []map[string]tape.Value
	for i, p := range m.form.Samples {
		at, beside := m.times(i, p.Theta)
		y, yd := map[string]tape.Value{}, map[string]tape.Value{tangent(time): m.b.Scalar(1)}
		for _, r := range m.rows {
			row := func(j int) tape.Value { return k[j][r.name] }
			switch {
			case !read[r.state]:
			case p.Theta == 0:
				y[r.state] = y0[r.name]
			case p.Theta == 1:
				y[r.state] = y1[r.name]
			default:
				y[r.state] = m.sum(p.Weights, m.h, y0[r.name], row)
			}
			if r.state != "" && read[tangent(r.state)] {
				yd[tangent(r.state)] = m.sum(p.Drift, m.b.Scalar(1), m.b.Broadcast(m.zero, r.shape), row)
			}
		}
		y[time] = at
		e = append(e, m.readings("e"+strconv.Itoa(i)+".", heights, y, nil))
		if slopes != nil {
			y[time] = beside
			ed = append(ed, m.readings("ed"+strconv.Itoa(i)+".", slopes, y, yd))
		}
	}
	if m.members {
		m.steady(heights, e, ed)
	}
	return m.b.Tape()
}

// times returns the times of the expressions and of their slopes at sample i, at theta of the step.
func (m *stepMaker) times(i int, theta float64) (at, beside tape.Value) {
	if m.members {
		at = m.time(theta)
		return at, at
	}
	return m.input("at"+strconv.Itoa(i), nil, nil), m.input("within"+strconv.Itoa(i), nil, nil)
}

// readings inlines t and makes its outputs those of m.
func (m *stepMaker) readings(prefix string, t *tape.Tape, y, bar map[string]tape.Value) map[string]tape.Value {
	got := m.at(t, 0, y, bar)
	for _, o := range t.Outputs {
		m.output(tapec.Primal, prefix+o.Name, got[o.Name], t.Shape(o.Value).Size(), nil)
	}
	return got
}

// steady adds to the outputs, for each element of heights, what lanes.Stepper has of a whole step. e and ed are
// the values and rates at its samples. What it computes is what sens does: what is called steady here is so there.
func (m *stepMaker) steady(heights *tape.Tape, e, ed []map[string]tape.Value) {
	op, add, sub, mul := m.b.Op2, m.b.Add, m.b.Sub, m.b.Mul
	times := func(c float64, x tape.Value) tape.Value { return mul(m.b.Scalar(c), x) }
	var ways, most, least []tape.Value
	for _, o := range heights.Outputs {
		slope := tapec.MustName(o.Name).As(tapec.Tangent).String()
		hi, lo := e[0][o.Name], e[0][o.Name]
		up, down, calm := m.b.Scalar(1), m.b.Scalar(1), m.b.Scalar(1)
		var last tape.Value
		for i := range e {
			v := e[i][o.Name]
			hi, lo = op(tape.Max, hi, v), op(tape.Min, lo, v)
			if ed == nil || ed[i][slope] == 0 {
				continue
			}
			s := mul(m.h, ed[i][slope])
			up, down = op(tape.And, up, op(tape.Less, m.zero, s)), op(tape.And, down, op(tape.Less, s, m.zero))
			if i > 0 {
				d := m.b.Div(sub(v, e[i-1][o.Name]), m.b.Scalar(m.form.Samples[i].Theta-m.form.Samples[i-1].Theta))
				c1, c2 := sub(sub(times(6, d), times(4, last)), times(2, s)), sub(times(3, add(last, s)), times(6, d))
				far := op(tape.LessEq, times(2, m.b.Op1(tape.Abs, c2)), m.b.Op1(tape.Abs, c1))
				more := op(tape.LessEq, m.zero, op(tape.Min, c1, c2))
				less := op(tape.LessEq, op(tape.Max, c1, c2), m.zero)
				calm = op(tape.And, calm, op(tape.Or, far, op(tape.Or, more, less)))
			}
			last = s
		}
		way := mul(m.zero, hi)
		if last != 0 {
			up = op(tape.And, up, op(tape.LessEq, hi, e[len(e)-1][o.Name]))
			way = sub(op(tape.And, up, calm), op(tape.And, down, calm))
		}
		ways, most, least = append(ways, way), append(most, hi), append(least, lo)
	}
	for k, list := range [][]tape.Value{ways, most, least} {
		of := []string{"way.", "most.", "least."}[k]
		for i, o := range heights.Outputs {
			m.output(tapec.Primal, of+o.Name, list[i], heights.Shape(o.Value).Size(), nil)
		}
	}
}

// backward returns the tape of a step's transpose; pull is the transpose of the rates. It computes the
// cotangents of Y0 and T0 and the new values of the accumulators from the cotangents of Y1, DQ and T1
// and the old values. It also outputs the factors that every stage has for the ledger. sums lists the
// accumulators: the outputs of pull that are added up. Where ends move, it has the cotangent of the length, too, and
// the times of the stages are inputs.
func (m *stepMaker) backward(pull *tape.Tape, factor func(output string) bool) (t *tape.Tape, sums []string) {
	y0 := m.states("y", m.input)
	count, ats, total := m.form.Stages, m.form.At, m.form.Sum
	if m.sown != nil || m.past != nil {
		count, ats, total = m.form.Rows, m.form.SeededAt, m.form.SeededSum
	}
	k := make([]map[string]tape.Value, count)
	for i := range k {
		k[i] = m.derivatives("k"+strconv.Itoa(i), i)
	}
	y1 := m.states("y1", m.cotangent)
	dq := map[string]tape.Value{}
	for _, r := range m.rows {
		if r.state == "" {
			dq[r.name] = m.cotangent("dq."+r.name, r.shape, nil)
		}
	}
	t1 := m.cotangent("t1", nil, nil)
	t0 := t1
	g := m.gather(pull, m.curl, factor)
	h, length := m.h, t1
	var nodes []tape.Value
	if m.moving {
		h, m.mask = m.b.Scalar(1), m.cotangent("mask", nil, nil)
		for i := range count {
			nodes = append(nodes, m.cotangent("node."+strconv.Itoa(i), nil, nil))
		}
	}
	var sown *seeds
	if m.sown != nil || m.past != nil {
		h, sown = m.b.Scalar(1), m.seeds()
		t0, length = m.b.Add(t1, sown.t), m.b.Add(t1, sown.h)
	}
	yb := make([]map[string]tape.Value, count)
	for i := count - 1; i >= 0; i-- {
		live := i < m.form.Stages && m.form.Live[i]
		if !live && sown == nil {
			continue
		}
		lone := func(v tape.Value) tape.Value { // what comes of the stage
			if live {
				return v
			}
			return sown.of(m.b, v)
		}
		bar := map[string]tape.Value{}
		for _, r := range m.rows {
			base := m.zero
			if sown != nil && r.state != "" {
				base = sown.k[i][r.name]
			}
			v := m.cotangentOf(ats[i], h, base, &r, y1, dq, yb)
			if m.moving {
				more := m.inner(k[i][r.name], v, r.shape, length)
				if !live {
					more = m.b.Select(sown.some, more, length)
				}
				length = more
			}
			if m.moving || sown != nil {
				v = m.b.Mul(m.h, v)
			}
			bar[tapec.Cotangent.Of(r.name)] = v
		}
		if nodes != nil {
			bar[tapec.Time.Name().String()] = nodes[i]
		}
		got := m.at(pull, m.form.Nodes[i], m.stage(i, y0, k), bar)
		yb[i] = m.ofStates(got, lone)
		move := lone(m.moved(got))
		if m.past != nil {
			m.unread(i, got, move)
		} else {
			t0 = m.b.Add(t0, move)
		}
		if c := m.form.Nodes[i]; m.moving && c != 0 {
			length = m.b.Op3(tape.FMA, m.b.Scalar(c), move, length)
		}
		g.add(m.b, got, lone)
		m.note(i, got, g)
	}
	y0b := m.start(total, y1, sown, func(j int, name string) tape.Value { return yb[j-1][name] })
	if m.members {
		t0 = m.masked(y0b, y1, t0, t1, g)
	}
	m.ended(y0b, t0, g)
	m.unreads()
	if m.moving {
		m.output(tapec.Cotangent, "h", length, 1, nil)
	}
	return m.b.Tape(), g.names
}

// gathered is what a transpose adds to: accumulators of cotangents, of neither states nor times. Besides it has the
// factors that a transpose notes.
type gathered struct {
	names   []string // of accumulators
	acc     map[string]tape.Value
	before  map[string]tape.Value // as they were
	factors []tape.Output
	perLane []bool // by value, of factors
}

// gather makes inputs for the accumulators that the outputs of pull are added to, and those of curl if there is any.
func (m *stepMaker) gather(pull, curl *tape.Tape, factor func(output string) bool) *gathered {
	g := &gathered{acc: map[string]tape.Value{}, before: map[string]tape.Value{}, perLane: tape.PerLane(pull)}
	for _, from := range []*tape.Tape{pull, curl} {
		if from == nil {
			continue
		}
		for _, o := range from.Outputs {
			switch {
			case from == pull && factor(o.Name):
				g.factors = append(g.factors, o)
			case o.Name == timeBar() || tapec.MustName(o.Name).Role == tapec.State:
			case g.acc[o.Name] == 0:
				g.names = append(g.names, o.Name)
				g.acc[o.Name] = m.cotangent(o.Name, from.Shape(o.Value), nil)
				g.before[o.Name] = g.acc[o.Name]
			}
		}
	}
	return g
}

// add adds what a transpose has got, each by way of each.
func (g *gathered) add(b *tape.Builder, got map[string]tape.Value, each func(tape.Value) tape.Value) {
	for _, name := range g.names {
		if v, ok := got[name]; ok {
			g.acc[name] = b.Add(g.acc[name], each(v))
		}
	}
}

// timeBar is the name of the cotangent of time.
func timeBar() string { return tapec.Time.Name().Bar().String() }

// moved returns the cotangent of time in what a transpose has got, zero where there is none.
func (m *stepMaker) moved(got map[string]tape.Value) tape.Value {
	if v, ok := got[timeBar()]; ok {
		return v
	}
	return m.zero
}

// note keeps the factors in what a transpose has got for a stage.
func (m *stepMaker) note(stage int, got map[string]tape.Value, g *gathered) {
	for _, o := range g.factors {
		m.notes = append(m.notes, note{stage, o.Name, got[o.Name], g.perLane[o.Value]})
	}
}

// start returns the cotangents of the start of the step: those y1 of its end, the terms total, and what is sown there.
func (m *stepMaker) start(
	total solvers.Terms, y1 map[string]tape.Value, sown *seeds, of func(j int, name string) tape.Value,
) map[string]tape.Value {
	y0 := map[string]tape.Value{}
	for _, r := range m.rows {
		if r.state == "" {
			continue
		}
		y0[r.name] = m.sum(total, m.b.Scalar(1), y1[r.name], func(j int) tape.Value { return of(j, r.name) })
		if sown != nil {
			y0[r.name] = m.b.Add(y0[r.name], sown.y0[r.name])
		}
	}
	return y0
}

// seeds adds the inputs for seeds.
func (m *stepMaker) seeds() *seeds {
	if m.past != nil {
		return m.pastSeeds()
	}
	at := m.sown.first
	input := func(name string, shape tape.Shape) tape.Value {
		v := m.cotangent("sown."+name, shape, &vec.Part{Vec: vec.Step, Offset: at, Len: shape.Size()})
		at += shape.Size()
		return v
	}
	states := func(name string) map[string]tape.Value {
		return m.states(name, func(name string, shape tape.Shape, _ *vec.Part) tape.Value { return input(name, shape) })
	}
	s := &seeds{some: input("some", nil), t: input("t", nil), h: input("h", nil), y0: states("y")}
	for i := range m.sown.block.Sown {
		s.k = append(s.k, states("k"+strconv.Itoa(i)))
	}
	return s
}

// of returns v in lanes that have seeds, and in others what adding does not change anything.
func (s *seeds) of(b *tape.Builder, v tape.Value) tape.Value {
	if s.all {
		return v
	}
	return b.Select(s.some, v, b.Const(b.Shape(v), math.Copysign(0, -1)))
}

// inner adds the products of the elements of x and y to sum, one after the other.
func (m *stepMaker) inner(x, y tape.Value, shape tape.Shape, sum tape.Value) tape.Value {
	if len(shape) == 0 {
		return m.b.Op3(tape.FMA, x, y, sum)
	}
	n := shape.Size()
	x, y = m.b.Reshape(x, tape.Shape{n}), m.b.Reshape(y, tape.Shape{n})
	for e := range n {
		sum = m.b.Op3(tape.FMA, m.b.Element(x, e), m.b.Element(y, e), sum)
	}
	return sum
}

// masked has a lane without a step keep what it has: the cotangents of the state, of time, which is returned, and the
// accumulators.
func (m *stepMaker) masked(
	y0, y1 map[string]tape.Value, t0, t1 tape.Value, g *gathered,
) tape.Value {
	for name, v := range y0 {
		y0[name] = m.b.Select(m.mask, v, y1[name])
	}
	for name, v := range g.acc {
		g.acc[name] = m.b.Select(m.mask, v, g.before[name])
	}
	return m.b.Select(m.mask, t0, t1)
}

// ended adds the outputs of a transpose: the cotangents of Y0 and T0, the accumulators and the notes.
func (m *stepMaker) ended(y0 map[string]tape.Value, t0 tape.Value, g *gathered) {
	for _, r := range m.rows {
		if r.state != "" {
			m.output(tapec.Cotangent, "y0."+r.name, y0[r.name], r.Len, m.stateHome(&r))
		}
	}
	m.output(tapec.Cotangent, "t0", t0, 1, nil)
	for _, name := range g.names {
		m.output(tapec.Cotangent, name, g.acc[name], m.b.Shape(g.acc[name]).Size(), nil)
	}
	for _, f := range m.notes {
		name, size := f.made(), m.b.Shape(f.value).Size()
		if f.perLane {
			m.output(tapec.Cotangent, name.Of, f.value, size, nil)
		} else {
			m.place(name, vec.Made, &m.plain, size, nil)
			m.b.Output(name.String(), f.value)
		}
	}
}

// cotangentOf returns the cotangent of row r of a stage of a step of length h: base and the terms at.
func (m *stepMaker) cotangentOf(at solvers.Terms, h, base tape.Value, r *stepRow, y1, dq map[string]tape.Value,
	yb []map[string]tape.Value,
) tape.Value {
	if r.state == "" {
		b := 0.0
		if len(at.Row) > 0 && at.Row[0] == 0 {
			b = at.C[0]
		}
		return m.b.Mul(h, m.b.Mul(m.b.Scalar(b), dq[r.name]))
	}
	return m.sum(at, h, base, func(j int) tape.Value {
		if j == 0 {
			return y1[r.name]
		}
		return yb[j-1][r.name]
	})
}

// made is the name of a factor that is the same for all lanes; the others' is its cotangent.
func (n *note) made() tapec.Name {
	return tapec.Made.Called("f" + strconv.Itoa(n.stage) + "." + n.name)
}

// find is the finder of a program of m's tape.
func (m *stepMaker) find(rest compiled.Finder) compiled.Finder {
	return func(name tapec.Name) (vec.Part, bool) {
		if at, ok := m.places[name]; ok {
			return at, true
		}
		return rest(name)
	}
}

// ofStates returns what each makes of the cotangents of states that a transpose gives, by the names of their rows.
func (m *stepMaker) ofStates(got map[string]tape.Value, each func(v tape.Value) tape.Value) map[string]tape.Value {
	to := map[string]tape.Value{}
	for _, r := range m.rows {
		if r.state == "" {
			continue
		}
		v, ok := got[tapec.Cotangent.Of(r.state)]
		if !ok {
			v = m.b.Const(r.shape, 0)
		}
		to[r.name] = each(v)
	}
	return to
}
