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
			for e := range r.len {
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
	worst := d.at(s, nodes[0])
	if x.rec.moving > 0 && worst <= 1 {
		worst = max(worst, d.at(s, nodes[1]))
	}
	return worst
}

// at returns the norm of the defect at theta.
func (d *Defect) at(s *solvers.Step, theta float64) (worst float64) {
	x := d.X
	x.method.InterpolateSlope(x, s, theta, d.y, d.yd)
	x.Eval(math.FMA(theta, s.H, s.T), d.y, d.f)
	for i, reads := range d.read {
		size := max(math.Abs(s.Y0[i]), math.Abs(s.Y1[i]))
		if !reads {
			continue
		}
		rtol, atol := d.RTol[min(i, len(d.RTol)-1)], d.ATol[min(i, len(d.ATol)-1)]
		if atol < 0 {
			atol = float64(sizes.Part * rtol * d.largest[i])
		}
		e := math.Abs(float64(s.H * (d.yd[i] - d.f[i])))
		if e == 0 {
			continue
		}
		if e /= math.FMA(rtol, size, atol); !(e <= worst) {
			worst = e
		}
	}
	return worst
}
