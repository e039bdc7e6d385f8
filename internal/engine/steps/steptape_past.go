package steps

import (
	"slices"
	"strconv"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// What the rates read of the past is known before a step that is no longer than the shortest delay: it comes as inputs,
// for each row of K. Later steps read the dense output of the step. So its rows belong to the step, and its curve does;
// and the transpose takes in what was read of all rows, and gives the cotangents of what they read.

// pastRows are what the rows of K read of the past. They are [rows][width] in vec.Step.
type pastRows struct {
	width, at int
	lags      []lagInput
	bars      []lagBar
	late      []stepRow // of states that are read
}

// lagInput is an input of the rates that is read of the past, from a place among all on.
type lagInput struct {
	name  string
	shape tape.Shape
	at    int
}

// lagBar is a cotangent of what a row reads: of a lag, or of time behind all of these.
type lagBar struct {
	row, at, size int
	value         tape.Value
}

// readPast has the tape of m read the past as inputs.
func (m *stepMaker) readPast(l *vec.Layout) {
	m.past = &pastRows{width: l.NLags}
	for _, r := range m.rows {
		if r.state != "" && slices.Contains(l.Late, l.Part(tapec.MustName(r.state))) {
			m.past.late = append(m.past.late, r)
		}
	}
	for _, in := range m.rates.Inputs {
		name := tapec.MustName(in.Name)
		if name.Role != tapec.State {
			continue
		}
		if at := l.Part(name).Offset; at >= l.NY {
			m.past.lags = append(m.past.lags, lagInput{in.Name, in.Shape, at - l.NY})
		}
	}
}

// rowsOfStep is how many rows of K a step has.
func (m *stepMaker) rowsOfStep() int {
	if m.past != nil {
		return m.form.Rows
	}
	return m.form.Stages
}

// read adds what row i of K reads of the past to the values y of its stage.
func (m *stepMaker) read(i int, y map[string]tape.Value) {
	if m.past == nil {
		return
	}
	if m.past.at == 0 { // behind the states and stages
		m.past.at = m.shared
		m.shared += m.form.Rows * m.past.width
	}
	for _, x := range m.past.lags {
		home := vec.Part{Vec: vec.Step, Offset: m.past.at + i*m.past.width + x.at, Len: x.shape.Size()}
		y[x.name] = m.input("lag"+strconv.Itoa(i)+"."+x.name, x.shape, &home)
	}
}

// curve makes the curve of the dense output an output, of the states that are read, over all rows of K.
func (m *stepMaker) curve(k []map[string]tape.Value) {
	if m.past == nil {
		return
	}
	of := m.form.Curve
	for i, terms := range of.Of {
		for _, r := range m.past.late {
			first := k[of.Rows[0]][r.name]
			c := m.sum(terms, m.h, m.b.Broadcast(m.zero, r.shape), func(j int) tape.Value {
				if j == len(of.Rows)-1 {
					return first
				}
				return m.b.Sub(k[of.Rows[1+j]][r.name], first)
			})
			m.output(tapec.Primal, "curve"+strconv.Itoa(i)+"."+r.name, c, r.Len, nil)
		}
	}
}

// pastSeeds adds the inputs for seeds, one after the other: T, Y0, K and C.
func (m *stepMaker) pastSeeds() *seeds {
	s := &seeds{all: true, t: m.cotangent("sown.t", nil, nil), h: m.zero, y0: m.states("sown.y", m.cotangent)}
	for i := range m.form.Rows {
		s.k = append(s.k, m.states("sown.k"+strconv.Itoa(i), m.cotangent))
	}
	var c []map[string]tape.Value
	for k := range m.form.Curve.Of {
		c = append(c, map[string]tape.Value{})
		for _, r := range m.past.late {
			c[k][r.name] = m.cotangent("sown.c"+strconv.Itoa(k)+"."+r.name, r.shape, nil)
		}
	}
	for j, i := range m.form.Curve.Rows {
		for k, b := range m.form.Curve.Beta[j] {
			for _, r := range m.past.late {
				if b != 0 {
					s.k[i][r.name] = m.b.Op3(tape.FMA, m.b.Scalar(b), c[k][r.name], s.k[i][r.name])
				}
			}
		}
	}
	return s
}

// unread keeps the cotangents of what row i reads of the past, in what its transpose has got, and that of its time.
func (m *stepMaker) unread(i int, got map[string]tape.Value, move tape.Value) {
	p := m.past
	for _, x := range p.lags {
		if v, ok := got[tapec.Cotangent.Of(x.name)]; ok {
			p.bars = append(p.bars, lagBar{i, x.at, x.shape.Size(), v})
		}
	}
	if _, ok := got[timeBar()]; ok {
		p.bars = append(p.bars, lagBar{i, p.width, 1, move})
	}
}

// unreads makes these outputs, [rows][width + 1].
func (m *stepMaker) unreads() {
	if m.past == nil {
		return
	}
	at := m.made
	m.made += m.form.Rows * (m.past.width + 1)
	for _, b := range m.past.bars {
		home := vec.Part{Vec: vec.Made, Offset: at + b.row*(m.past.width+1) + b.at, Len: b.size}
		m.output(tapec.Cotangent, "lag"+strconv.Itoa(b.row)+"."+strconv.Itoa(b.at), b.value, b.size, &home)
	}
}
