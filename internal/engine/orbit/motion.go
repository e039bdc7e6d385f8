package orbit

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
)

// Motion is how a state that repeats moves with params: Slopes[n][Width] and, for second derivatives, Bends[n][Width²],
// of the elements of a border. Times that discretes hold move with the start of the run besides.
type Motion struct {
	*Border
	Width         int
	Slopes, Bends []float64
}

// Push makes tangents of states and discretes of those of params and of the start, in lanes.
func (m *Motion) Push(lanes int, pd, td, yd, dd []float64) {
	push := func(i int, to []float64) {
		clear(to)
		for j := range m.Width {
			for k, x := range pd[j*lanes : (j+1)*lanes] {
				if x != 0 { // a slope may be none
					to[k] = math.FMA(m.Slopes[i*m.Width+j], x, to[k])
				}
			}
		}
	}
	for i := range m.Y {
		push(i, yd[i*lanes:(i+1)*lanes])
	}
	m.Each(func(k, at int, timed bool) {
		to := dd[at*lanes : (at+1)*lanes]
		if clear(to); k >= 0 {
			push(k, to)
		}
		if timed {
			for j, x := range td {
				to[j] += x
			}
		}
	})
}

// Pull adds to cotangents of params and of the start those of states and discretes, and clears the latter where the
// border decides them.
func (m *Motion) Pull(lanes int, yb, db, pb, tb []float64) {
	pull := func(i int, from []float64) {
		for j := range m.Width {
			for k, x := range from {
				pb[j*lanes+k] = math.FMA(m.Slopes[i*m.Width+j], x, pb[j*lanes+k])
			}
		}
	}
	for i := range m.Y {
		pull(i, yb[i*lanes:(i+1)*lanes])
	}
	m.Each(func(k, at int, timed bool) {
		from := db[at*lanes : (at+1)*lanes]
		if k >= 0 {
			pull(k, from)
		}
		if timed {
			for j, x := range from {
				tb[j] += x
			}
		}
		clear(from)
	})
}

// PullPush is Pull with tangents, those of the params being pd.
func (m *Motion) PullPush(lanes int, pd []float64, yb, db, pb, tb solvers.Dual) {
	pull := func(i int, x float64, dot []float64) {
		for j := range m.Width {
			s := m.Slopes[i*m.Width+j]
			pb.X[j] = math.FMA(s, x, pb.X[j])
			to := pb.D[j*lanes : (j+1)*lanes]
			for a := range to {
				to[a] = math.FMA(s, dot[a], to[a])
			}
			for k := range m.Width {
				c := float64(x * m.Bends[(i*m.Width+k)*m.Width+j])
				for a := range to {
					to[a] = math.FMA(c, pd[k*lanes+a], to[a])
				}
			}
		}
	}
	for i := range m.Y {
		pull(i, yb.X[i], yb.D[i*lanes:(i+1)*lanes])
	}
	m.Each(func(k, at int, timed bool) {
		dot := db.D[at*lanes : (at+1)*lanes]
		if k >= 0 {
			pull(k, db.X[at], dot)
		}
		if timed {
			Add(tb, 0, db.X[at], dot)
		}
		db.X[at] = 0
		clear(dot)
	})
}

// Move writes states and discretes where params move by moves[Width] and the start by dt, to first order.
func (m *Motion) Move(moves []complex128, dt complex128, y, d []complex128) {
	moved := func(i int, x float64) complex128 {
		z := complex(x, 0)
		for j, move := range moves {
			z = elem.CFMA(complex(m.Slopes[i*m.Width+j], 0), move, z)
		}
		return z
	}
	for i, x := range m.Y {
		y[i] = moved(i, x)
	}
	m.Each(func(k, at int, timed bool) {
		if d[at] = complex(m.D[at], 0); k >= 0 {
			d[at] = moved(k, m.D[at])
		}
		if timed {
			d[at] += dt
		}
	})
}

// Add adds to element i of a.
func Add(a solvers.Dual, i int, x float64, dot []float64) {
	a.X[i] += x
	for j, d := range dot {
		a.D[i*len(dot)+j] += d
	}
}

// Through returns derivatives behind a period, in rows of some width: direct ones, and those by its start of which
// before are the derivatives.
func Through(before, direct, byStart []float64, width int) []float64 {
	if width == 0 {
		return direct
	}
	n := len(before) / width
	for i := range len(direct) / width {
		for k := range n {
			s := byStart[i*n+k]
			for j := range width {
				direct[i*width+j] = math.FMA(s, before[k*width+j], direct[i*width+j])
			}
		}
	}
	return direct
}

// Close solves for derivatives of the state that repeats, from those over its period. Those of sums that are kept are
// past ones.
func (o *Orbit) Close(x, past, byStart []float64, width int) error {
	o.Keep(x, past, width)
	lu, err := Closing(o.Border.Len(), byStart, o.Kept)
	if err == nil {
		lu.Solve(x, width)
	}
	return err
}
