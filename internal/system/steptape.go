package system

import (
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// stepMaker writes the tape of a whole step of a method, or of its transpose: the
// right-hand side once for each stage, and between them the method's sums, in
// the very operations that package solvers does them with.
type stepMaker struct {
	b      *tape.Builder
	form   *solvers.Arithmetic
	rates  *tape.Tape
	rows   []stepRow
	places map[string]part // of the inputs and outputs that a step has besides those of the rates
	shared int             // elements of vecStep so far
	laned  int             // and of its cotangent
	made   int             // elements of vecMade
	plain  int             // those of a transpose that lanes share
	notes  []note          // what a transpose makes for the ledger

	inPlace bool // states and rows of K stand where the solver has them
	from    int  // the first row of K that a step computes

	t, h, t1 tape.Value
	zero     tape.Value
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
	part
	shape tape.Shape
}

func newStepMaker(l *layout, rates *tape.Tape, form *solvers.Arithmetic) *stepMaker {
	m := &stepMaker{b: tape.NewBuilder("step"), form: form, rates: rates, places: map[string]part{}, from: 1}
	for _, o := range rates.Outputs {
		row := stepRow{name: o.Name, part: l.part(o.Name), shape: rates.Shape(o.Value)}
		if strings.HasPrefix(o.Name, "dy.") {
			row.state = o.Name[1:]
		}
		m.rows = append(m.rows, row)
	}
	slices.SortFunc(m.rows, func(a, b stepRow) int { return a.offset - b.offset }) // as they lie in a row of K
	m.t, m.h, m.t1 = m.input("t", nil), m.input("h", nil), m.input("t1", nil)
	m.zero = m.b.Scalar(0)
	return m
}

// input adds an input of the step, behind those before it.
func (m *stepMaker) input(name string, shape tape.Shape) tape.Value {
	m.place("step."+name, vecStep, &m.shared, shape.Size())
	return m.b.Input("step."+name, shape, false)
}

// cotangent adds an input with a copy for each lane.
func (m *stepMaker) cotangent(name string, shape tape.Shape) tape.Value {
	m.place("bar.step."+name, vecStep, &m.laned, shape.Size())
	return m.b.Input("bar.step."+name, shape, true)
}

// output adds an output; prefix is "bar." for one with a copy for each lane.
func (m *stepMaker) output(prefix, name string, v tape.Value, size int) {
	m.place(prefix+"made."+name, vecMade, &m.made, size)
	m.b.Output(prefix+"made."+name, v)
}

// place gives an input or output of size elements its place: that of the solver's
// vector that it is a part of, or behind those before it in vec.
func (m *stepMaker) place(name string, vec vector, next *int, size int) {
	if at, ok := m.solvers(strings.TrimPrefix(name, "bar.")); ok {
		m.places[name] = at
		return
	}
	m.places[name] = part{vec, *next, size}
	*next += size
}

// solvers returns where the solver has what is called "step.y.dy.x", "made.k2.dy.x" and so on.
func (m *stepMaker) solvers(name string) (at part, ok bool) {
	list := strings.SplitN(name, ".", 3)
	if !m.inPlace || len(list) < 3 {
		return at, false
	}
	i := slices.IndexFunc(m.rows, func(r stepRow) bool { return r.name == list[2] })
	if i < 0 {
		return at, false
	}
	row := part{vecK, m.rows[i].offset, m.rows[i].len}
	if what := list[1]; what[0] != 'k' {
		row.vec = vecY
		return row, m.rows[i].state != ""
	} else if what != "k" {
		k, err := strconv.Atoi(what[1:])
		if err != nil {
			return at, false
		}
		row.offset += (k - m.from) * m.width()
	}
	return row, true
}

// width is that of a row of K.
func (m *stepMaker) width() (n int) {
	for _, r := range m.rows {
		n += r.len
	}
	return n
}

// rowsOf adds inputs for the states or for all rows, as they lie in their vector.
func (m *stepMaker) rowsOf(name string, add func(name string, shape tape.Shape) tape.Value, states, quadratures bool) map[string]tape.Value {
	out := map[string]tape.Value{}
	for _, r := range m.rows {
		if r.state != "" && states || r.state == "" && quadratures {
			out[r.name] = add(name+"."+r.name, r.shape)
		}
	}
	return out
}

// time returns the time of stage i.
func (m *stepMaker) time(i int) tape.Value {
	switch c := m.form.Nodes[i]; c {
	case 0:
		return m.t
	case 1:
		return m.t1
	default:
		return m.b.Op3(tape.FMA, m.b.Scalar(c), m.h, m.t)
	}
}

// sum returns base + h·Σ, as solvers.Terms has it, over the values of rows.
func (m *stepMaker) sum(t solvers.Terms, h, base tape.Value, shape tape.Shape, row func(i int) tape.Value) tape.Value {
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
			y[r.state] = m.sum(m.form.A[i], m.h, y0[r.name], r.shape, func(j int) tape.Value { return k[j][r.name] })
		}
	}
	return y
}

// at inlines t at a stage; bar has the cotangents of its rates, nil for none.
func (m *stepMaker) at(t *tape.Tape, i int, y, bar map[string]tape.Value) map[string]tape.Value {
	return tapec.Inline(m.b, t, func(in *tape.Input) tape.Value {
		if in.Name == "t" {
			return m.time(i)
		}
		if v, ok := y[in.Name]; ok {
			return v
		}
		if v, ok := bar[in.Name]; ok {
			return v
		}
		return m.b.Input(in.Name, in.Shape, in.PerLane)
	})
}

// forward is the tape of a step: rows of K from m.from on, Y1, DQ and, where it is a sum, E, from the times, Y0 and
// row 0 of K, if that is known before.
func (m *stepMaker) forward() *tape.Tape {
	y0 := m.rowsOf("y", m.input, true, false)
	var k []map[string]tape.Value
	if m.from > 0 {
		k = append(k, m.rowsOf("k", m.input, true, true))
	}
	end := func(r *stepRow) tape.Value {
		base := m.zero
		if r.state != "" {
			base = y0[r.name]
		}
		return m.sum(m.form.B, m.h, base, r.shape, func(j int) tape.Value { return k[j][r.name] })
	}
	for i := m.from; i < m.form.Stages; i++ {
		k = append(k, m.at(m.rates, i, m.stage(i, y0, k), nil))
		for _, r := range m.rows {
			m.output("", "k"+strconv.Itoa(i)+"."+r.name, k[i][r.name], r.len)
		}
	}
	for _, r := range m.rows {
		m.output("", "end."+r.name, end(&r), r.len)
	}
	if len(m.form.E.C) > 0 && !m.inPlace {
		for _, r := range m.rows {
			m.output("", "error."+r.name, m.sum(m.form.E, m.h, m.zero, r.shape, func(j int) tape.Value { return k[j][r.name] }), r.len)
		}
	}
	return m.b.Tape()
}

// backward is the tape of a step's transpose, with pull that of the rates: the
// cotangents of Y0 and T0, and the accumulators, from those of Y1, DQ and T1 and
// the accumulators as they were, and the factors that every stage has for the
// ledger. sums lists the accumulators: the outputs of pull that are added up.
func (m *stepMaker) backward(pull *tape.Tape, factor func(output string) bool) (t *tape.Tape, sums []string) {
	y0 := m.rowsOf("y", m.input, true, false)
	k := make([]map[string]tape.Value, m.form.Stages)
	for i := range k {
		k[i] = m.rowsOf("k"+strconv.Itoa(i), m.input, true, true)
	}
	y1 := m.rowsOf("y1", m.cotangent, true, false)
	dq := m.rowsOf("dq", m.cotangent, false, true)
	t0 := m.cotangent("t1", nil)
	acc := map[string]tape.Value{}
	moves, perLane := false, tape.PerLane(pull)
	var factors []tape.Output
	for _, o := range pull.Outputs {
		switch {
		case factor(o.Name):
			factors = append(factors, o)
		case o.Name == "bar.t":
			moves = true
		case !strings.HasPrefix(o.Name, "bar.y."):
			sums = append(sums, o.Name)
			acc[o.Name] = m.cotangent(o.Name, pull.Shape(o.Value))
		}
	}
	yb := make([]map[string]tape.Value, m.form.Stages)
	for i := m.form.Stages - 1; i >= 0; i-- {
		if !m.form.Live[i] {
			continue
		}
		bar := map[string]tape.Value{}
		for _, r := range m.rows {
			bar["bar."+r.name] = m.cotangentOf(i, &r, y1, dq, yb)
		}
		got := m.at(pull, i, m.stage(i, y0, k), bar)
		yb[i] = map[string]tape.Value{}
		for _, r := range m.rows {
			if r.state == "" {
				continue
			}
			v, ok := got["bar."+r.state]
			if !ok {
				v = m.b.Const(r.shape, 0)
			}
			yb[i][r.name] = v
		}
		if moves {
			t0 = m.b.Add(t0, got["bar.t"])
		} else {
			t0 = m.b.Add(t0, m.zero)
		}
		for _, name := range sums {
			acc[name] = m.b.Add(acc[name], got[name])
		}
		for _, o := range factors {
			m.notes = append(m.notes, note{i, o.Name, got[o.Name], perLane[o.Value]})
		}
	}
	for _, r := range m.rows {
		if r.state != "" {
			m.output("bar.", "y0."+r.name, m.sum(m.form.Sum, m.b.Scalar(1), y1[r.name], r.shape, func(j int) tape.Value { return yb[j-1][r.name] }), r.len)
		}
	}
	m.output("bar.", "t0", t0, 1)
	for _, name := range sums {
		m.output("bar.", name, acc[name], m.b.Shape(acc[name]).Size())
	}
	for _, f := range m.notes {
		name, size := "f"+strconv.Itoa(f.stage)+"."+f.name, m.b.Shape(f.value).Size()
		if f.perLane {
			m.output("bar.", name, f.value, size)
		} else {
			m.place("made."+name, vecMade, &m.plain, size)
			m.b.Output("made."+name, f.value)
		}
	}
	return m.b.Tape(), sums
}

// cotangentOf returns the cotangent of row r of stage i.
func (m *stepMaker) cotangentOf(i int, r *stepRow, y1, dq map[string]tape.Value, yb []map[string]tape.Value) tape.Value {
	at := m.form.At[i]
	if r.state == "" {
		b := 0.0
		if at.Row[0] == 0 {
			b = at.C[0]
		}
		return m.b.Mul(m.h, m.b.Mul(m.b.Scalar(b), dq[r.name]))
	}
	return m.sum(at, m.h, m.zero, r.shape, func(j int) tape.Value {
		if j == 0 {
			return y1[r.name]
		}
		return yb[j-1][r.name]
	})
}

// find is the finder of a program of m's tape.
func (m *stepMaker) find(rest finder) finder {
	return func(name string) (part, variation, bool) {
		if at, ok := m.places[name]; ok {
			vary := primal
			if strings.HasPrefix(name, "bar.") {
				vary = cotangent
			}
			return at, vary, true
		}
		return rest(name)
	}
}
