package lag

import (
	"math"

	"odes.dev/odes/internal/base/sizes"
	"odes.dev/odes/solvers"
)

// Defect is the norm of the error of the dense output of the states that are read later, in units of tolerances. Error
// control sees only the ends of steps, and what is read lies between them; derivatives by a delay are made of its
// slope. The defect of the dense output, its slope less the right-hand side there, is the error of that slope.
type Defect struct {
	X          *Worker
	RTol, ATol []float64 // one for all states or one for each; negative for an absolute one that follows sizes
	largest    []float64
	y, yd, f   []float64
	read       []bool
	j, rows    []float64 // entries of the Jacobian, and sums of their sizes by row, for implicit steps
}

// nodes are where the defect is looked at: not in the middle, where that of some methods vanishes, and more than once
// where delays move, since steps may read themselves.
var nodes = []float64{0.37, 0.8}

// Norm is for solvers.Options.Also.
func (d *Defect) Norm(s *solvers.Step) float64 {
	x := d.X
	n := x.n
	if d.read == nil {
		z := x.w.Size()
		v := func(n int) []float64 { return make([]float64, n) }
		d.largest, d.y, d.yd, d.f, d.read = v(n), v(n), v(n), v(z.N+z.Q), make([]bool, n)
		for _, r := range x.rec.reads {
			for e := 0; e < r.len && !r.discrete; e++ {
				d.read[r.from+e] = true
			}
		}
	}
	if s.T == x.rec.start {
		clear(d.largest)
	}
	for i := range d.largest {
		d.largest[i] = max(d.largest[i], math.Abs(s.Y0[i]), math.Abs(s.Y1[i]))
	}
	d.stiffness(s)
	worst := d.at(s, nodes[0])
	if x.rec.moving > 0 && worst <= 1 {
		worst = max(worst, d.at(s, nodes[1]))
	}
	return worst
}

// stiffness makes rows the sums of the Jacobian at the end of an implicit step, nil for others. Where the model is
// stiff, a small error of a state makes a large slope. So the error of an implicit step is what would make such a
// defect.
func (d *Defect) stiffness(s *solvers.Step) {
	x := d.X
	if _, solves := solvers.Members(x.method)[s.Member].(solvers.Implicit); !solves {
		d.rows = nil
		return
	}
	of := x.Jacobian()
	if d.rows == nil {
		d.j, d.rows = make([]float64, len(of.Rows)), make([]float64, x.n)
	}
	clear(d.rows)
	x.EvalJacobian(s.T1, s.Y1, d.j)
	for e, v := range d.j {
		if i := int(of.Rows[e]); i < x.n && int(of.Cols[e]) < x.n {
			scale := 1.0
			if a, b := d.size(s, i), d.size(s, int(of.Cols[e])); a > 0 {
				scale = b / a
			}
			d.rows[i] = math.FMA(math.Abs(v), scale, d.rows[i])
		}
	}
}

// size is the error of state i that counts as 1.
func (d *Defect) size(s *solvers.Step, i int) float64 {
	rtol, atol := d.RTol[min(i, len(d.RTol)-1)], d.ATol[min(i, len(d.ATol)-1)]
	if atol < 0 {
		atol = float64(sizes.Part * rtol * d.largest[i])
	}
	return math.FMA(rtol, max(math.Abs(s.Y0[i]), math.Abs(s.Y1[i])), atol)
}

// at returns the norm of the defect at theta.
func (d *Defect) at(s *solvers.Step, theta float64) (worst float64) {
	x := d.X
	x.method.InterpolateSlope(x, s, theta, d.y, d.yd)
	x.Eval(math.FMA(theta, s.H, s.T), d.y, d.f)
	for i, reads := range d.read {
		if !reads {
			continue
		}
		e := math.Abs(float64(s.H * (d.yd[i] - d.f[i])))
		if e == 0 {
			continue
		}
		if d.rows != nil {
			e /= math.FMA(math.Abs(s.H), d.rows[i], 1)
		}
		if e /= d.size(s, i); !(e <= worst) {
			worst = e
		}
	}
	return worst
}
