package truth

import (
	"math"
	"math/cmplx"
)

// slots is how many params, at most, a model has whose derivatives are known.
const slots = 16

// num is a number with its derivatives by the params of a model: closed forms are written once. It is complex, so that
// oscillations are exponentials.
type num struct {
	v complex128
	d [slots]complex128
}

func lit(v float64) num { return num{v: complex(v, 0)} }

func (a num) re() float64 { return real(a.v) }

// chain returns f(a) for the value f and the slope df there.
func (a num) chain(f, df complex128) num {
	out := num{v: f}
	for i, d := range a.d {
		if d != 0 { // 0·inf is 0 here
			out.d[i] = df * d
		}
	}
	return out
}

func (a num) add(b num) num {
	a.v += b.v
	for i := range a.d {
		a.d[i] += b.d[i]
	}
	return a
}

func (a num) neg() num { return a.scale(-1) }

func (a num) sub(b num) num { return a.add(b.neg()) }

func (a num) scale(f complex128) num { return a.chain(a.v*f, f) }

func (a num) times(f float64) num { return a.scale(complex(f, 0)) }

func (a num) plus(f float64) num { return a.add(lit(f)) }

func (a num) mul(b num) num {
	out := num{v: a.v * b.v}
	for i := range a.d {
		out.d[i] = a.d[i]*b.v + a.v*b.d[i]
	}
	return out
}

func (a num) div(b num) num { return a.mul(b.chain(1/b.v, -1/(b.v*b.v))) }

func (a num) exp() num {
	e := cmplx.Exp(a.v)
	return a.chain(e, e)
}

// The functions below are for real numbers.

func (a num) log() num { return a.chain(complex(math.Log(a.re()), 0), 1/a.v) }

func (a num) sqrt() num {
	r := math.Sqrt(a.re())
	return a.chain(complex(r, 0), complex(0.5/r, 0))
}

func (a num) acos() num {
	x := a.re()
	return a.chain(complex(math.Acos(x), 0), complex(-1/math.Sqrt(1-x*x), 0))
}

func (a num) atan() num {
	x := a.re()
	return a.chain(complex(math.Atan(x), 0), complex(1/(1+x*x), 0))
}

func (a num) erf() num {
	x := a.re()
	return a.chain(complex(math.Erf(x), 0), complex(2/math.Sqrt(math.Pi)*math.Exp(-x*x), 0))
}

// isZero reports whether a is 0 for all params.
func (a num) isZero() bool { return a == num{} }
