package steps

import (
	"strconv"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// movedMaker writes the tape of the tangent of a whole step, or of that of its transpose, where the step's length does
// not move. Lanes share values and cotangents, and have tangents of both, as the tapes of the rates' derivatives do.
type movedMaker struct {
	*stepMaker
	push      *tape.Tape
	read, put [tapec.NumVariations]int // elements of vecStep and vecMade so far, in each lane
	sums      []string                 // the accumulators: outputs of the rates' derivative that are added up
}

// pair is a cotangent and its tangent, by the variations of them.
type pair [tapec.NumVariations]map[string]tape.Value

var pairs = [...]tapec.Variation{tapec.Cotangent, tapec.CotangentTangent}

// newMovedMaker begins such a tape for rates whose tangent is push. With members each lane is a step of its own.
func newMovedMaker(l *vec.Layout, rates, push *tape.Tape, form *solvers.Arithmetic, members bool) *movedMaker {
	return &movedMaker{stepMaker: newMaker(l, rates, form, members), push: push}
}

// in adds an input in a variation, behind those before it.
func (m *movedMaker) in(v tapec.Variation, name string, shape tape.Shape) tape.Value {
	n := tapec.Step.Called(name).As(v)
	m.place(n, vec.Step, &m.read[v], shape.Size(), nil)
	return m.b.Input(n.String(), shape, m.members || v == tapec.Tangent || v == tapec.CotangentTangent)
}

// out adds an output in a variation, behind those before it.
func (m *movedMaker) out(v tapec.Variation, name string, x tape.Value) {
	n := tapec.Made.Called(name).As(v)
	m.place(n, vec.Made, &m.put[v], m.b.Shape(x).Size(), nil)
	m.b.Output(n.String(), x)
}

// began adds what all tapes read: Y0 and K, and how time and Y0 move.
func (m *movedMaker) began() (y0, y0d map[string]tape.Value, k []map[string]tape.Value, td tape.Value) {
	y0 = m.states("y", m.input)
	k = make([]map[string]tape.Value, m.form.Stages)
	for i := range k {
		k[i] = m.derivatives("k"+strconv.Itoa(i), i)
	}
	td = m.in(tapec.Tangent, "t", nil)
	y0d = map[string]tape.Value{}
	for _, r := range m.rows {
		if r.state != "" {
			y0d[r.name] = m.in(tapec.Tangent, "y."+r.name, r.shape)
		}
	}
	return y0, y0d, k, td
}

// rowOr returns a row of what a derivative made, or zeros.
func (m *movedMaker) rowOr(got map[string]tape.Value, name string, shape tape.Shape) tape.Value {
	if v, ok := got[name]; ok {
		return v
	}
	return m.b.Const(shape, 0)
}

// moving returns how time and the states of stage i move, under the names of the inputs of derivatives.
func (m *movedMaker) moving(i int, td tape.Value, y0d map[string]tape.Value,
	kd []map[string]tape.Value,
) map[string]tape.Value {
	dots := map[string]tape.Value{tapec.Time.Name().Dot().String(): td}
	for _, r := range m.rows {
		if r.state != "" {
			dots[tapec.Tangent.Of(r.state)] = m.sum(m.form.A[i], m.h, y0d[r.name], func(j int) tape.Value {
				return kd[j][r.name]
			})
		}
	}
	return dots
}

// pushed returns the tangents of row i of K.
func (m *movedMaker) pushed(i int, y, dots map[string]tape.Value) map[string]tape.Value {
	got, kd := m.at(m.push, m.form.Nodes[i], y, dots), map[string]tape.Value{}
	for _, r := range m.rows {
		kd[r.name] = m.rowOr(got, tapec.Tangent.Of(r.name), r.shape)
	}
	return kd
}

// tangent returns the tape of the tangent of a step. Its inputs are the times, Y0 and K, and the tangents of time and
// Y0. Its outputs are the tangents of Y1 and DQ.
func (m *movedMaker) tangent() *tape.Tape {
	y0, y0d, k, td := m.began()
	kd := m.stages(y0, y0d, k, td)
	for _, r := range m.rows {
		m.out(tapec.Tangent, "end."+r.name, m.end(&r, y0d, kd))
	}
	return m.b.Tape()
}

// tangents returns the tape of tangent for several runs, as moved has its outputs.
func (m *movedMaker) tangents(mask *vec.Part) *tape.Tape {
	y0, y0d, k, before := m.began()
	some, td := m.input("mask", nil, mask), m.fresh(before)
	return m.moved(some, before, td, y0d, m.stages(y0, y0d, k, td))
}

// fresh returns the tangent of time at a stage: one of -0 is 0 there.
func (m *movedMaker) fresh(td tape.Value) tape.Value { return m.b.Add(td, m.zero) }

// moved writes the outputs of tangents for several runs. They take the place of the inputs: the tangents of time, of Y0
// and of the quadratures so far. In a lane where some is 0 they stay as they are.
func (m *movedMaker) moved(some, before, td tape.Value, y0d map[string]tape.Value,
	kd []map[string]tape.Value,
) *tape.Tape {
	m.out(tapec.Tangent, "t", m.b.Select(some, td, before))
	for _, r := range m.rows {
		end, was := m.end(&r, y0d, kd), y0d[r.name]
		if r.state == "" {
			was = m.in(tapec.Tangent, "q."+r.name, r.shape)
			end = m.b.Add(was, end)
		}
		m.out(tapec.Tangent, "end."+r.name, m.b.Select(some, end, was))
	}
	return m.b.Tape()
}

// stages returns the tangents of the rows of K on which the end depends.
func (m *movedMaker) stages(y0, y0d map[string]tape.Value, k []map[string]tape.Value, td tape.Value) (
	kd []map[string]tape.Value,
) {
	kd = make([]map[string]tape.Value, m.form.Stages)
	for i, live := range m.form.Live {
		if live {
			kd[i] = m.pushed(i, m.stage(i, y0, k), m.moving(i, td, y0d, kd))
		}
	}
	return kd
}

// end returns the tangent of a row of Y1 and DQ.
func (m *movedMaker) end(r *stepRow, y0d map[string]tape.Value, kd []map[string]tape.Value) tape.Value {
	base := m.zero
	if r.state != "" {
		base = y0d[r.name]
	}
	return m.sum(m.form.B, m.h, base, func(j int) tape.Value { return kd[j][r.name] })
}

// backwardTangent returns the tape of a step's transpose and of its tangent; second is those of the rates. Its inputs
// are those of tangent, the cotangents of Y1, DQ and T1, the accumulators, and the tangents of these. Its outputs are
// the cotangents of Y0 and T0, the accumulators, and their tangents.
func (m *movedMaker) backwardTangent(second *tape.Tape) *tape.Tape {
	y0, y0d, k, td := m.began()
	var y1, dq pair
	var t0 [tapec.NumVariations]tape.Value
	for _, v := range pairs {
		y1[v], dq[v] = map[string]tape.Value{}, map[string]tape.Value{}
		for _, r := range m.rows {
			if r.state != "" {
				y1[v][r.name] = m.in(v, "y1."+r.name, r.shape)
			} else {
				dq[v][r.name] = m.in(v, "dq."+r.name, r.shape)
			}
		}
		t0[v] = m.in(v, "t1", nil)
	}
	acc := map[string]tape.Value{}
	for _, o := range second.Outputs {
		if n := tapec.MustName(o.Name); n.Role != tapec.State && n.Role != tapec.Time {
			m.sums = append(m.sums, o.Name)
			acc[o.Name] = m.in(n.Variation, o.Name, second.Shape(o.Value))
		}
	}
	stages := m.form.Stages
	kd, moving := make([]map[string]tape.Value, stages), make([]map[string]tape.Value, stages)
	values := make([]map[string]tape.Value, stages)
	for i, live := range m.form.Live {
		if live {
			values[i], moving[i] = m.stage(i, y0, k), m.moving(i, td, y0d, kd)
			kd[i] = m.pushed(i, values[i], moving[i])
		}
	}
	var yb [tapec.NumVariations][]map[string]tape.Value
	for _, v := range pairs {
		yb[v] = make([]map[string]tape.Value, stages)
	}
	for i := stages - 1; i >= 0; i-- {
		if !m.form.Live[i] {
			continue
		}
		seeds := moving[i]
		for _, v := range pairs {
			for _, r := range m.rows {
				seeds[v.Of(r.name)] = m.b.Mul(m.h, m.over(i, &r, y1[v], dq[v], yb[v]))
			}
		}
		got := m.at(second, m.form.Nodes[i], values[i], seeds)
		for _, v := range pairs {
			yb[v][i] = map[string]tape.Value{}
			for _, r := range m.rows {
				if r.state != "" {
					yb[v][i][r.name] = m.rowOr(got, v.Of(r.state), r.shape)
				}
			}
			t0[v] = m.b.Add(t0[v], m.rowOr(got, tapec.Time.Name().As(v).String(), nil))
		}
		for _, name := range m.sums {
			acc[name] = m.b.Add(acc[name], got[name])
		}
	}
	for _, v := range pairs {
		for _, r := range m.rows {
			if r.state != "" {
				m.out(v, "y0."+r.name, m.sum(m.form.Sum, m.b.Scalar(1), y1[v][r.name], func(j int) tape.Value {
					return yb[v][j-1][r.name]
				}))
			}
		}
		m.out(v, "t0", t0[v])
	}
	for _, name := range m.sums {
		m.out(tapec.MustName(name).Variation, name, acc[name])
	}
	return m.b.Tape()
}

// over returns the cotangent of row r of stage i over the step's length.
func (m *movedMaker) over(i int, r *stepRow, y1, dq map[string]tape.Value, yb []map[string]tape.Value) tape.Value {
	at := m.form.At[i]
	if r.state == "" {
		b := 0.0
		if at.Row[0] == 0 {
			b = at.C[0]
		}
		return m.b.Mul(m.b.Scalar(b), dq[r.name])
	}
	return m.sum(at, m.b.Scalar(1), m.zero, func(j int) tape.Value {
		if j == 0 {
			return y1[r.name]
		}
		return yb[j-1][r.name]
	})
}
