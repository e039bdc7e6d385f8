package optim

import (
	"context"
	"errors"
	"math"
	"math/cmplx"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// hock is a problem of W. Hock, K. Schittkowski, Test examples for nonlinear programming codes, Springer 1981,
// doi:10.1007/978-3-642-48320-2, with its optimum. The first constraints are equations, = 0; the others are ≥ 0.
type hock struct {
	number    int
	start     []float64
	f         func(x []complex128) complex128
	c         func(x []complex128) []complex128
	equations int
	lo, hi    []float64
	optimum   float64
}

// all returns n times v.
func all(n int, v float64) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = v
	}
	return s
}

func sq(x complex128) complex128 { return x * x }

var (
	inf = math.Inf(1)
	r3  = c(math.Sqrt(3))
	r2  = c(math.Sqrt(2))
)

// product5 are the constraints of problems 78, 80 and 81.
func product5(x []complex128) []complex128 {
	s := c(-10)
	for _, v := range x {
		s += v * v
	}
	return []complex128{s, x[1]*x[2] - 5*x[3]*x[4], x[0]*x[0]*x[0] + x[1]*x[1]*x[1] + 1}
}

var hocks = []hock{
	{
		6,
		[]float64{-1.2, 1},
		func(x []complex128) complex128 { return sq(1 - x[0]) },
		func(x []complex128) []complex128 { return []complex128{10 * (x[1] - x[0]*x[0])} }, 1, nil, nil, 0,
	},
	{
		7,
		[]float64{2, 2},
		func(x []complex128) complex128 { return cmplx.Log(1+x[0]*x[0]) - x[1] },
		func(x []complex128) []complex128 { return []complex128{sq(1+x[0]*x[0]) + x[1]*x[1] - 4} }, 1, nil, nil,
		-math.Sqrt(3),
	},
	{
		10,
		[]float64{-10, 10},
		func(x []complex128) complex128 { return x[0] - x[1] },
		func(x []complex128) []complex128 {
			return []complex128{-3*x[0]*x[0] + 2*x[0]*x[1] - x[1]*x[1] + 1}
		}, 0, nil, nil,
		-1,
	},
	{
		11,
		[]float64{4.9, 0.1},
		func(x []complex128) complex128 { return sq(x[0]-5) + x[1]*x[1] - 25 },
		func(x []complex128) []complex128 { return []complex128{-x[0]*x[0] + x[1]} }, 0, nil, nil, -8.498464223,
	},
	{
		12,
		[]float64{0, 0},
		func(x []complex128) complex128 { return x[0]*x[0]/2 + x[1]*x[1] - x[0]*x[1] - 7*x[0] - 7*x[1] },
		func(x []complex128) []complex128 { return []complex128{25 - 4*x[0]*x[0] - x[1]*x[1]} }, 0, nil, nil, -30,
	},
	{
		14,
		[]float64{2, 2},
		func(x []complex128) complex128 { return sq(x[0]-2) + sq(x[1]-1) },
		func(x []complex128) []complex128 {
			return []complex128{x[0] - 2*x[1] + 1, -x[0]*x[0]/4 - x[1]*x[1] + 1}
		}, 1, nil,
		nil, 9 - 2.875*math.Sqrt(7),
	},
	{
		15,
		[]float64{-2, 1},
		func(x []complex128) complex128 { return 100*sq(x[1]-x[0]*x[0]) + sq(1-x[0]) },
		func(x []complex128) []complex128 { return []complex128{x[0]*x[1] - 1, x[0] + x[1]*x[1]} }, 0, all(2, -inf),
		[]float64{0.5, inf},
		306.5,
	},
	{
		18,
		[]float64{2, 2},
		func(x []complex128) complex128 { return x[0]*x[0]/100 + x[1]*x[1] },
		func(x []complex128) []complex128 { return []complex128{x[0]*x[1] - 25, x[0]*x[0] + x[1]*x[1] - 25} }, 0,
		[]float64{2, 0},
		all(2, 50), 5,
	},
	{
		19,
		[]float64{20.1, 5.84},
		func(x []complex128) complex128 { return (x[0]-10)*sq(x[0]-10) + (x[1]-20)*sq(x[1]-20) },
		func(x []complex128) []complex128 {
			return []complex128{sq(x[0]-5) + sq(x[1]-5) - 100, -sq(x[1]-5) - sq(x[0]-6) + 82.81}
		}, 0,
		[]float64{13, 0},
		all(2, 100), -6961.81381,
	},
	{
		21,
		[]float64{-1, -1},
		func(x []complex128) complex128 { return x[0]*x[0]/100 + x[1]*x[1] - 100 },
		func(x []complex128) []complex128 { return []complex128{10*x[0] - x[1] - 10} }, 0,
		[]float64{2, -50},
		all(2, 50),
		-99.96,
	},
	{
		22,
		[]float64{2, 2},
		func(x []complex128) complex128 { return sq(x[0]-2) + sq(x[1]-1) },
		func(x []complex128) []complex128 { return []complex128{-x[0] - x[1] + 2, -x[0]*x[0] + x[1]} }, 0, nil, nil, 1,
	},
	{
		23,
		[]float64{3, 1},
		func(x []complex128) complex128 { return x[0]*x[0] + x[1]*x[1] },
		func(x []complex128) []complex128 {
			return []complex128{
				x[0] + x[1] - 1, x[0]*x[0] + x[1]*x[1] - 1, 9*x[0]*x[0] + x[1]*x[1] - 9, x[0]*x[0] - x[1],
				x[1]*x[1] - x[0],
			}
		}, 0, all(2, -50), all(2, 50), 2,
	},
	{
		24,
		[]float64{1, 0.5},
		func(x []complex128) complex128 { return (sq(x[0]-3) - 9) * x[1] * x[1] * x[1] / (27 * r3) },
		func(x []complex128) []complex128 {
			return []complex128{x[0]/r3 - x[1], x[0] + r3*x[1], -x[0] - r3*x[1] + 6}
		}, 0, all(2, 0), all(2, inf), -1,
	},
	{
		26,
		[]float64{-2.6, 2, 2},
		func(x []complex128) complex128 { return sq(x[0]-x[1]) + sq(sq(x[1]-x[2])) },
		func(x []complex128) []complex128 {
			return []complex128{(1+x[1]*x[1])*x[0] + sq(x[2]*x[2]) - 3}
		}, 1, nil, nil, 0,
	},
	{
		27,
		[]float64{2, 2, 2},
		func(x []complex128) complex128 { return 0.01*sq(x[0]-1) + sq(x[1]-x[0]*x[0]) },
		func(x []complex128) []complex128 { return []complex128{x[0] + x[2]*x[2] + 1} }, 1, nil, nil, 0.04,
	},
	{
		28,
		[]float64{-4, 1, 1},
		func(x []complex128) complex128 { return sq(x[0]+x[1]) + sq(x[1]+x[2]) },
		func(x []complex128) []complex128 { return []complex128{x[0] + 2*x[1] + 3*x[2] - 1} }, 1, nil, nil, 0,
	},
	{
		29,
		[]float64{1, 1, 1},
		func(x []complex128) complex128 { return -x[0] * x[1] * x[2] },
		func(x []complex128) []complex128 {
			return []complex128{-x[0]*x[0] - 2*x[1]*x[1] - 4*x[2]*x[2] + 48}
		}, 0, nil, nil,
		-16 * math.Sqrt2,
	},
	{
		30,
		[]float64{1, 1, 1},
		func(x []complex128) complex128 { return x[0]*x[0] + x[1]*x[1] + x[2]*x[2] },
		func(x []complex128) []complex128 { return []complex128{x[0]*x[0] + x[1]*x[1] - 1} }, 0,
		[]float64{1, -10, -10},
		all(3, 10), 1,
	},
	{
		31,
		[]float64{1, 1, 1},
		func(x []complex128) complex128 { return 9*x[0]*x[0] + x[1]*x[1] + 9*x[2]*x[2] },
		func(x []complex128) []complex128 { return []complex128{x[0]*x[1] - 1} }, 0,
		[]float64{-10, 1, -10},
		[]float64{10, 10, 1},
		6,
	},
	{
		32,
		[]float64{0.1, 0.7, 0.2},
		func(x []complex128) complex128 { return sq(x[0]+3*x[1]+x[2]) + 4*sq(x[0]-x[1]) },
		func(x []complex128) []complex128 {
			return []complex128{1 - x[0] - x[1] - x[2], 6*x[1] + 4*x[2] - x[0]*x[0]*x[0] - 3}
		}, 1, all(3, 0), all(3, inf), 1,
	},
	{
		34,
		[]float64{0, 1.05, 2.9},
		func(x []complex128) complex128 { return -x[0] },
		func(x []complex128) []complex128 { return []complex128{x[1] - cmplx.Exp(x[0]), x[2] - cmplx.Exp(x[1])} }, 0,
		all(3, 0),
		[]float64{100, 100, 10},
		-math.Log(math.Log(10)),
	},
	{
		35,
		[]float64{0.5, 0.5, 0.5},
		func(x []complex128) complex128 {
			return 9 - 8*x[0] - 6*x[1] - 4*x[2] + 2*x[0]*x[0] + 2*x[1]*x[1] + x[2]*x[2] + 2*x[0]*x[1] + 2*x[0]*x[2]
		}, func(x []complex128) []complex128 { return []complex128{3 - x[0] - x[1] - 2*x[2]} }, 0, all(3, 0), all(3,
			inf),
		1.0 / 9,
	},
	{
		36,
		[]float64{10, 10, 10},
		func(x []complex128) complex128 { return -x[0] * x[1] * x[2] },
		func(x []complex128) []complex128 { return []complex128{72 - x[0] - 2*x[1] - 2*x[2]} }, 0, all(3, 0),
		[]float64{20, 11, 42},
		-3300,
	},
	{
		37,
		[]float64{10, 10, 10},
		func(x []complex128) complex128 { return -x[0] * x[1] * x[2] },
		func(x []complex128) []complex128 {
			return []complex128{72 - x[0] - 2*x[1] - 2*x[2], x[0] + 2*x[1] + 2*x[2]}
		}, 0, all(3, 0), all(3, 42), -3456,
	},
	{
		39,
		[]float64{2, 2, 2, 2},
		func(x []complex128) complex128 { return -x[0] },
		func(x []complex128) []complex128 {
			return []complex128{x[1] - x[0]*x[0]*x[0] - x[2]*x[2], x[0]*x[0] - x[1] - x[3]*x[3]}
		}, 2, nil, nil, -1,
	},
	{
		40, all(4, 0.8), func(x []complex128) complex128 { return -x[0] * x[1] * x[2] * x[3] },
		func(x []complex128) []complex128 {
			return []complex128{x[0]*x[0]*x[0] + x[1]*x[1] - 1, x[0]*x[0]*x[3] - x[2], x[3]*x[3] - x[1]}
		}, 3, nil, nil, -0.25,
	},
	{
		41, all(4, 2), func(x []complex128) complex128 { return 2 - x[0]*x[1]*x[2] },
		func(x []complex128) []complex128 { return []complex128{x[0] + 2*x[1] + 2*x[2] - x[3]} }, 1, all(4, 0),
		[]float64{1, 1, 1, 2},
		52.0 / 27,
	},
	{
		42, all(4, 1), func(x []complex128) complex128 { return sq(x[0]-1) + sq(x[1]-2) + sq(x[2]-3) + sq(x[3]-4) },
		func(x []complex128) []complex128 { return []complex128{x[0] - 2, x[2]*x[2] + x[3]*x[3] - 2} }, 2, nil, nil,
		28 - 10*math.Sqrt2,
	},
	{43, all(4, 0), func(x []complex128) complex128 {
		return x[0]*x[0] + x[1]*x[1] + 2*x[2]*x[2] + x[3]*x[3] - 5*x[0] - 5*x[1] - 21*x[2] + 7*x[3]
	}, func(x []complex128) []complex128 {
		a, b, d, e := x[0]*x[0], x[1]*x[1], x[2]*x[2], x[3]*x[3]
		return []complex128{
			8 - a - b - d - e - x[0] + x[1] - x[2] + x[3], 10 - a - 2*b - d - 2*e + x[0] + x[3],
			5 - 2*a - b - d - 2*x[0] + x[1] + x[3],
		}
	}, 0, nil, nil, -44},
	{
		48,
		[]float64{3, 5, -3, 2, -2},
		func(x []complex128) complex128 { return sq(x[0]-1) + sq(x[1]-x[2]) + sq(x[3]-x[4]) },
		func(x []complex128) []complex128 {
			return []complex128{x[0] + x[1] + x[2] + x[3] + x[4] - 5, x[2] - 2*(x[3]+x[4]) + 3}
		}, 2, nil, nil, 0,
	},
	{
		60, all(3, 2), func(x []complex128) complex128 { return sq(x[0]-1) + sq(x[0]-x[1]) + sq(sq(x[1]-x[2])) },
		func(x []complex128) []complex128 { return []complex128{x[0]*(1+x[1]*x[1]) + sq(x[2]*x[2]) - 4 - 3*r2} }, 1,
		all(3, -10), all(3, 10), 0.03256820025,
	},
	{61, all(3, 0), func(x []complex128) complex128 {
		return 4*x[0]*x[0] + 2*x[1]*x[1] + 2*x[2]*x[2] - 33*x[0] + 16*x[1] - 24*x[2]
	}, func(x []complex128) []complex128 {
		return []complex128{3*x[0] - 2*x[1]*x[1] - 7, 4*x[0] - x[2]*x[2] - 11}
	}, 2, nil, nil, -143.6461422},
	{63, all(3, 2), func(x []complex128) complex128 {
		return 1000 - x[0]*x[0] - 2*x[1]*x[1] - x[2]*x[2] - x[0]*x[1] - x[0]*x[2]
	}, func(x []complex128) []complex128 {
		return []complex128{8*x[0] + 14*x[1] + 7*x[2] - 56, x[0]*x[0] + x[1]*x[1] + x[2]*x[2] - 25}
	}, 2, all(3, 0), all(3, inf), 961.7151721},
	{
		64, all(3, 1), func(x []complex128) complex128 {
			return 5*x[0] + 50000/x[0] + 20*x[1] + 72000/x[1] + 10*x[2] + 144000/x[2]
		}, func(x []complex128) []complex128 { return []complex128{1 - 4/x[0] - 32/x[1] - 120/x[2]} }, 0, all(3, 1e-5),
		all(3, inf), 6299.842428,
	},
	{
		65,
		[]float64{-5, 5, 0},
		func(x []complex128) complex128 { return sq(x[0]-x[1]) + sq(x[0]+x[1]-10)/9 + sq(x[2]-5) },
		func(x []complex128) []complex128 { return []complex128{48 - x[0]*x[0] - x[1]*x[1] - x[2]*x[2]} }, 0,
		[]float64{-4.5, -4.5, -5},
		[]float64{4.5, 4.5, 5},
		0.9535288567,
	},
	{
		66,
		[]float64{0, 1.05, 2.9},
		func(x []complex128) complex128 { return 0.2*x[2] - 0.8*x[0] },
		func(x []complex128) []complex128 { return []complex128{x[1] - cmplx.Exp(x[0]), x[2] - cmplx.Exp(x[1])} }, 0,
		all(3, 0),
		[]float64{100, 100, 10},
		0.5181632741,
	},
	{
		71,
		[]float64{1, 5, 5, 1},
		func(x []complex128) complex128 { return x[0]*x[3]*(x[0]+x[1]+x[2]) + x[2] },
		func(x []complex128) []complex128 {
			return []complex128{
				x[0]*x[0] + x[1]*x[1] + x[2]*x[2] + x[3]*x[3] - 40, x[0]*x[1]*x[2]*x[3] - 25,
			}
		}, 1, all(4, 1), all(4, 5), 17.0140173,
	},
	{76, all(4, 0.5), func(x []complex128) complex128 {
		return x[0]*x[0] + 0.5*x[1]*x[1] + x[2]*x[2] + 0.5*x[3]*x[3] - x[0]*x[2] + x[2]*x[3] - x[0] - 3*x[1] +
			x[2] - x[3]
	}, func(x []complex128) []complex128 {
		return []complex128{5 - x[0] - 2*x[1] - x[2] - x[3], 4 - 3*x[0] - x[1] - 2*x[2] + x[3], x[1] + 4*x[2] - 1.5}
	}, 0, all(4, 0), all(4, inf), -4.681818181},
	{77, all(5, 2), func(x []complex128) complex128 {
		return sq(x[0]-1) + sq(x[0]-x[1]) + sq(x[2]-1) + sq(sq(x[3]-1)) + sq(x[4]-1)*sq(sq(x[4]-1))
	}, func(x []complex128) []complex128 {
		return []complex128{x[0]*x[0]*x[3] + cmplx.Sin(x[3]-x[4]) - 2*r2, x[1] + sq(x[2]*x[2])*x[3]*x[3] - 8 - r2}
	}, 2, nil, nil, 0.24150513},
	{
		78,
		[]float64{-2, 1.5, 2, -1, -1},
		func(x []complex128) complex128 { return x[0] * x[1] * x[2] * x[3] * x[4] },
		product5, 3, nil, nil, -2.91970041,
	},
	{79, all(5, 2), func(x []complex128) complex128 {
		return sq(x[0]-1) + sq(x[0]-x[1]) + sq(x[1]-x[2]) + sq(sq(x[2]-x[3])) + sq(sq(x[3]-x[4]))
	}, func(x []complex128) []complex128 {
		return []complex128{
			x[0] + x[1]*x[1] + x[2]*x[2]*x[2] - 2 - 3*r2, x[1] - x[2]*x[2] + x[3] + 2 - 2*r2, x[0]*x[4] - 2,
		}
	}, 3, nil, nil, 0.0787768209},
	{80, []float64{-2, 2, 2, -1, -1}, func(x []complex128) complex128 {
		return cmplx.Exp(x[0] * x[1] * x[2] * x[3] * x[4])
	}, product5, 3, []float64{-2.3, -2.3, -3.2, -3.2, -3.2}, []float64{2.3, 2.3, 3.2, 3.2, 3.2}, 0.0539498478},
	{81, []float64{-2, 2, 2, -1, -1}, func(x []complex128) complex128 {
		return cmplx.Exp(x[0]*x[1]*x[2]*x[3]*x[4]) - 0.5*sq(x[0]*x[0]*x[0]+x[1]*x[1]*x[1]+1)
	}, product5, 3, []float64{-2.3, -2.3, -3.2, -3.2, -3.2}, []float64{2.3, 2.3, 3.2, 3.2, 3.2}, 0.0539498478},
	{100, []float64{1, 2, 0, 4, 0, 1, 1}, func(x []complex128) complex128 {
		return sq(x[0]-10) + 5*sq(x[1]-12) + sq(x[2]*x[2]) + 3*sq(x[3]-11) + 10*x[4]*x[4]*sq(x[4]*x[4]) + 7*x[5]*x[5] +
			sq(x[6]*x[6]) - 4*x[5]*x[6] - 10*x[5] - 8*x[6]
	}, func(x []complex128) []complex128 {
		return []complex128{
			127 - 2*x[0]*x[0] - 3*sq(x[1]*x[1]) - x[2] - 4*x[3]*x[3] - 5*x[4],
			282 - 7*x[0] - 3*x[1] - 10*x[2]*x[2] - x[3] + x[4],
			196 - 23*x[0] - x[1]*x[1] - 6*x[5]*x[5] + 8*x[6],
			-4*x[0]*x[0] - x[1]*x[1] + 3*x[0]*x[1] - 2*x[2]*x[2] - 5*x[5] + 11*x[6],
		}
	}, 0, nil, nil, 680.6300573},
	{113, []float64{2, 3, 5, 5, 1, 2, 7, 3, 6, 10}, func(x []complex128) complex128 {
		return x[0]*x[0] + x[1]*x[1] + x[0]*x[1] - 14*x[0] - 16*x[1] + sq(x[2]-10) + 4*sq(x[3]-5) + sq(x[4]-3) +
			2*sq(x[5]-1) + 5*x[6]*x[6] + 7*sq(x[7]-11) + 2*sq(x[8]-10) + sq(x[9]-7) + 45
	}, func(x []complex128) []complex128 {
		return []complex128{
			105 - 4*x[0] - 5*x[1] + 3*x[6] - 9*x[7],
			-10*x[0] + 8*x[1] + 17*x[6] - 2*x[7],
			8*x[0] - 2*x[1] - 5*x[8] + 2*x[9] + 12,
			-3*sq(x[0]-2) - 4*sq(x[1]-3) - 2*x[2]*x[2] + 7*x[3] + 120,
			-5*x[0]*x[0] - 8*x[1] - sq(x[2]-6) + 2*x[3] + 40,
			-0.5*sq(x[0]-8) - 2*sq(x[1]-4) - 3*x[4]*x[4] + x[5] + 30,
			-x[0]*x[0] - 2*sq(x[1]-2) + 2*x[0]*x[1] - 14*x[4] + 6*x[5],
			3*x[0] - 6*x[1] - 12*sq(x[8]-8) + 7*x[9],
		}
	}, 0, nil, nil, 24.3062091},
}

// problem returns h for a search.
func (h hock) problem() ConstrainedProblem {
	n := len(h.start)
	k := len(h.c(make([]complex128, n)))
	p := ConstrainedProblem{
		Variables: n, Constraints: k, Bounds: Bounds{h.lo, h.hi}, Lo: make([]float64, k), Hi: make([]float64, k),
		Evaluate: func(_ context.Context, x []float64, _ Want, at *Point, to *Constraints) error {
			at.Value = real1(h.f, x)
			slopes(h.f, x, at.Gradient)
			for i := range k {
				f := func(x []complex128) complex128 { return h.c(x)[i] }
				to.C[i] = real1(f, x)
				slopes(f, x, to.J[i*n:(i+1)*n])
			}
			return nil
		},
	}
	for i := h.equations; i < k; i++ {
		p.Hi[i] = inf
	}
	return p
}

func TestConstrained(t *testing.T) {
	for _, h := range hocks {
		p := h.problem()
		res, err := Constrained(t.Context(), p, h.start, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%3d %-22.15g %-22.15g %3d iterations %3d evaluations %v, violation %.1e, gradient %.1e",
			h.number, res.Value, h.optimum, res.Iterations, res.Evaluations, res.Status, res.Violation, res.Projected)
		if !res.Status.Converged() || res.Violation > 1e-9 ||
			math.Abs(res.Value-h.optimum) > 1e-8*math.Max(math.Abs(h.optimum), 1) {
			t.Errorf("%d: %.12g, not %.12g; %v, violation %g", h.number, res.Value, h.optimum, res.Status,
				res.Violation)
		}
		for i := h.equations; i < p.Constraints; i++ {
			if res.Multipliers[i] < -1e-9 {
				t.Errorf("%d: multiplier %d of an inequality is %g", h.number, i, res.Multipliers[i])
			}
		}
	}
}

// TestMultipliers compares multipliers with derivatives of the minimum by the limits.
func TestMultipliers(t *testing.T) {
	for _, number := range []int{7, 14, 42, 43, 63, 71} {
		for _, h := range hocks {
			if h.number != number {
				continue
			}
			p := h.problem()
			res, err := Constrained(t.Context(), p, h.start, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range p.Constraints {
				var v [2]float64
				for s, d := range []float64{1e-4, -1e-4} {
					q := h.problem()
					q.Lo[i] = d
					if i < h.equations {
						q.Hi[i] = d
					}
					moved, err := Constrained(t.Context(), q, res.X, Options{})
					if err != nil {
						t.Fatal(err)
					}
					v[s] = moved.Value
				}
				if d := (v[0] - v[1]) / 2e-4; math.Abs(d-res.Multipliers[i]) > 1e-5*(1+math.Abs(d)) {
					t.Errorf("%d: the minimum changes by %g with limit %d, not by %g", number, d, i, res.Multipliers[i])
				}
			}
		}
	}
}

// TestPrograms checks the conditions of a minimum for random convex quadratic programs with bounds and constraints.
func TestPrograms(t *testing.T) {
	r := elem.NewRand(8)
	solved := 0
	for range 300 {
		n, k := 1+int(r.Uint64()%8), int(r.Uint64()%6)
		q := program{n: n, g: make([]float64, n*n), a: make([]float64, n), lo: all(n, -inf), hi: all(n, inf)}
		for range n + 1 {
			v := make([]float64, n)
			for i := range v {
				v[i] = r.Norm()
			}
			for i := range n {
				add(q.g[i*n:(i+1)*n], v[i], v)
			}
		}
		inside := make([]float64, n) // a point that satisfies all, so that there is a solution
		for i := range n {
			q.a[i], inside[i] = 3*r.Norm(), r.Norm()
			q.g[i*n+i] += 0.01
			if r.Uint64()%3 != 0 {
				q.lo[i], q.hi[i] = inside[i]-r.Float64(), inside[i]+r.Float64()
			}
		}
		for i := range k {
			l := line{a: make([]float64, n), kink: -1, constraint: i}
			for j := range l.a {
				l.a[j] = r.Norm()
			}
			l.v = -dot(l.a, inside)
			switch r.Uint64() % 4 {
			case 0:
				if l.below = inf; i < n/2 {
					l.above = inf
				}
			case 1:
				l.v, l.below = l.v+0.1*r.Float64(), inf
			case 2:
				l.v, l.above = l.v-0.1*r.Float64(), inf
			default:
				l.v, l.below, l.above, l.kink = l.v+r.Norm(), 2*r.Float64(), 2*r.Float64(), int(r.Uint64()%2)-1
			}
			q.lines = append(q.lines, l)
		}
		if !q.solve() {
			t.Fatalf("no solution of a program that has one: n = %d, k = %d", n, k)
		}
		solved++
		// G·x + a + Aᵀy = z, slopes between those of the sides, and multipliers only where a bound is reached.
		residual := make([]float64, n)
		multiply(q.g, q.x, residual)
		for i := range n {
			residual[i] += q.a[i] - q.z[i]
			for j := range k {
				residual[i] += q.y[j] * q.lines[j].a[i]
			}
			if math.Abs(residual[i]) > 1e-9 {
				t.Errorf("n = %d, k = %d: residual %g", n, k, residual[i])
			}
			v, lo, hi, z := q.x[i], q.lo[i], q.hi[i], q.z[i]
			if v < lo-1e-10 || v > hi+1e-10 || z > 0 && v > lo+1e-9 || z < 0 && v < hi-1e-9 {
				t.Errorf("%g in [%g, %g] has the multiplier %g", v, lo, hi, z)
			}
		}
		for j := range k {
			l, y := &q.lines[j], q.y[j]
			v := l.v + dot(l.a, q.x)
			if y < -l.below || y > l.above || v > 1e-9 && y != l.above || v < -1e-9 && y != -l.below {
				t.Errorf("n = %d: a line at %g has the slope %g, between %g and %g", n, v, y, -l.below, l.above)
			}
		}
	}
	if solved < 300 {
		t.Errorf("%d programs", solved)
	}
}

// TestUnsatisfiable asks for what no point gives.
func TestUnsatisfiable(t *testing.T) {
	h := hock{
		start: []float64{3, 1}, f: func(x []complex128) complex128 { return x[0] + x[1] },
		c: func(x []complex128) []complex128 { return []complex128{x[0]*x[0] + x[1]*x[1] + 1, x[0] - 1} }, equations: 1,
	}
	res, err := Constrained(t.Context(), h.problem(), h.start, Options{})
	if err != nil || res.Status != Unsatisfiable || res.Violation < 0.01 {
		t.Errorf("%v %v %g", err, res.Status, res.Violation)
	}
}

// TestConstrainedFailures has a function without a value where a full step would go.
func TestConstrainedFailures(t *testing.T) {
	for _, h := range hocks {
		if h.number != 71 {
			continue
		}
		p := h.problem()
		evaluate := p.Evaluate
		p.Evaluate = func(ctx context.Context, x []float64, want Want, at *Point, to *Constraints) error {
			if x[2] < 3.7 {
				return errors.New("the run ended")
			}
			return evaluate(ctx, x, want, at, to)
		}
		res, err := Constrained(t.Context(), p, h.start, Options{})
		if err != nil || !res.Status.Converged() || math.Abs(res.Value-h.optimum) > 1e-6 {
			t.Errorf("%v %v %g", err, res.Status, res.Value)
		}
		p.Evaluate = func(context.Context, []float64, Want, *Point, *Constraints) error { return errors.New("none") }
		res, err = Constrained(t.Context(), p, h.start, Options{})
		if !errors.Is(err, ErrStart) || res.Status != Failed {
			t.Errorf("%v %v", err, res.Status)
		}
	}
}

// TestVertex finds the least time in which a mass goes from rest to rest, with a piecewise constant force within
// bounds: a minimum at a vertex, where nothing curves. For an even number of pieces it has more active constraints
// than variables.
func TestVertex(t *testing.T) {
	for _, n := range []int{15, 20, 40} {
		h := hock{
			f: func(x []complex128) complex128 { return x[0] },
			c: func(x []complex128) []complex128 {
				h, s, v := x[0]/c(float64(n)), c(-2.5), c(0)
				for _, u := range x[1:] {
					s += v*h + u*h*h/2
					v += u * h
				}
				return []complex128{s, v}
			},
			equations: 2, start: all(n+1, 0), lo: all(n+1, -1), hi: all(n+1, 1),
		}
		h.start[0], h.lo[0], h.hi[0] = 4, 0.5, 10
		least := 2 * math.Sqrt(2.5)
		if n%2 == 1 {
			least *= float64(n) / math.Sqrt(float64(n*n-1))
		}
		res, err := Constrained(t.Context(), h.problem(), h.start, Options{})
		if err != nil || !res.Status.Converged() || math.Abs(res.Value-least) > 1e-12 || res.Evaluations > 40 {
			t.Errorf("n = %d: %v, %v, %.15g, not %.15g, after %d evaluations", n, err, res.Status, res.Value, least,
				res.Evaluations)
		}
	}
}

// TestLargest keeps the largest of many functions below a limit that most of them reach: a mass moves in a given time
// with the least energy, and its velocity is bounded after each piece. The derivatives are those of one of the pieces.
func TestLargest(t *testing.T) {
	const n = 40
	fastest := func(x []complex128) complex128 {
		v, most := c(0), c(0)
		for _, u := range x {
			if v += u * 2 / n; real(v) > real(most) {
				most = v
			}
		}
		return most
	}
	h := hock{
		f: func(x []complex128) complex128 {
			s := c(0)
			for _, u := range x {
				s += u * u * 2 / n
			}
			return s
		},
		c: func(x []complex128) []complex128 {
			h, s, v := c(2.0/n), c(-1), c(0)
			for _, u := range x {
				s += v*h + u*h*h/2
				v += u * h
			}
			return []complex128{s, v, 0.7 - fastest(x)}
		},
		equations: 2, start: all(n, 0), lo: all(n, -6), hi: all(n, 6),
	}
	p := h.problem()
	p.Largest = []bool{false, false, true}
	res, err := Constrained(t.Context(), p, h.start, Options{})
	if err != nil || !res.Status.Converged() || res.Violation > 1e-10 || res.Evaluations > 150 {
		t.Errorf("%v, %v, violation %g, after %d evaluations", err, res.Status, res.Violation, res.Evaluations)
	}
	// The same with a constraint for each piece.
	h.c = func(x []complex128) []complex128 {
		h, s, v := c(2.0/n), c(-1), c(0)
		var all []complex128
		for _, u := range x {
			s += v*h + u*h*h/2
			v += u * h
			all = append(all, 0.7-v)
		}
		return append([]complex128{s, v}, all...)
	}
	smooth, err := Constrained(t.Context(), h.problem(), h.start, Options{})
	if err != nil || !smooth.Status.Converged() || math.Abs(res.Value-smooth.Value) > 1e-9 {
		t.Errorf("%v, %v: %.12g with one constraint, %.12g with many", err, smooth.Status, res.Value, smooth.Value)
	}
}

// TestStopsWithin ends a search in the midst of a program: one of thousands of variables takes minutes.
func TestStopsWithin(t *testing.T) {
	const n = 200
	calls := 0
	p := program{n: n, g: make([]float64, n*n), a: make([]float64, n)}
	for i := range n {
		p.g[i*n+i], p.a[i] = 1e-3, math.Sin(float64(i))
		p.lo, p.hi = append(p.lo, -1), append(p.hi, 1)
	}
	p.over = func() bool { calls++; return calls > 2*n+20 } // the matrix has its inverse, and 20 bounds are met
	if p.solve() || calls > 2*n+25 {
		t.Errorf("a program goes on, asked %d times", calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	asked := ConstrainedProblem{
		Variables: 2, Constraints: 1, Lo: []float64{1}, Hi: []float64{1},
		Evaluate: func(_ context.Context, x []float64, _ Want, to *Point, c *Constraints) error {
			to.Value = x[0]*x[0] + x[1]*x[1]
			to.Gradient[0], to.Gradient[1] = 2*x[0], 2*x[1]
			c.C[0], c.J[0], c.J[1] = x[0]+x[1], 1, 1
			cancel()
			return nil
		},
	}
	if r, err := Constrained(ctx, asked, []float64{3, -1}, Options{}); err != nil || r.Status != Stopped {
		t.Errorf("a search that is ended says %v, %v", r.Status, err)
	}
}
