// Package units is the algebra of physical units: dimensions with exact rational exponents, and
// scales. It knows the names of SI units, but no names of a model and no syntax.
package units

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/elem"
)

// Dims is the number of base dimensions: m, kg, s, A, K, mol, cd. An angle is
// a ratio of lengths: rad has no dimension, so that v/r and rad/s agree.
const Dims = 7

// Unit is a dimension and a scale (the factor to coherent SI units). The zero Unit is unknown: it
// is compatible with any other.
type Unit struct {
	known   bool
	scale   float64
	dims    [Dims]Ratio
	factors []factor // how a user would write it: products of named units, in order of appearance
}

// factor is a named unit, with its own dimension and scale, to a power.
type factor struct {
	name  string
	exp   Ratio
	dims  [Dims]Ratio
	scale float64
}

// One is the unit of pure numbers.
var One = Unit{known: true, scale: 1}

// New returns a unit called name that is scale times of.
func New(name string, scale float64, of Unit) Unit {
	if !of.known {
		return Unit{}
	}
	u := of
	u.scale = float64(scale * of.scale)
	u.factors = []factor{{name, Ratio{1, 1}, u.dims, u.scale}}
	return u
}

// Known reports whether u is a unit at all.
func (u Unit) Known() bool { return u.known }

// Dimensionless reports whether u is a pure number, perhaps scaled (a percentage).
func (u Unit) Dimensionless() bool { return u.known && u.dims == [Dims]Ratio{} }

// Plain reports whether u is 1: no dimension and no scale.
func (u Unit) Plain() bool { return u.Dimensionless() && close(u.scale, 1) }

// SameDimension reports whether a quantity in u can be expressed in v. It is true when either is
// unknown.
func (u Unit) SameDimension(v Unit) bool {
	return !u.known || !v.known || u.dims == v.dims
}

// Same reports whether u and v are the same unit, scale included. It is true when either is
// unknown.
func (u Unit) Same(v Unit) bool {
	return !u.known || !v.known || u.dims == v.dims && close(u.scale, v.scale)
}

// Factor returns what a number in u is multiplied by to be in v. Both must be known and of one
// dimension. A factor within a few ULP of a power of ten, or of the inverse of one, is rounded to
// that power.
func Factor(u, v Unit) float64 {
	f := u.scale / v.scale
	for e := -30; e <= 30; e++ {
		if p := tens(e); math.Abs(f-p) <= 8*ulp*p {
			return p
		}
	}
	if r := elem.Round(f); f != r && math.Abs(f-r) <= 8*ulp*r && r < 1<<52 {
		return r
	}
	return f
}

const ulp = 0x1p-52

// tens returns the number nearest to 10^e.
func tens(e int) float64 {
	f, err := strconv.ParseFloat("1e"+strconv.Itoa(e), 64)
	if err != nil {
		panic("units: power of ten out of range")
	}
	return f
}

// close compares scales up to rounding, since they are products taken in different orders.
func close(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }

// Mul returns u·v, which is unknown when either is.
func (u Unit) Mul(v Unit) Unit { return combine(u, v, Ratio{1, 1}) }

// Div returns u/v, which is unknown when either is.
func (u Unit) Div(v Unit) Unit { return combine(u, v, Ratio{-1, 1}) }

// Pow returns u^r, which is unknown when u is, or when an exponent leaves the range of a Ratio.
func (u Unit) Pow(r Ratio) Unit { return combine(One, u, r) }

func combine(u, v Unit, r Ratio) Unit {
	if !u.known || !v.known {
		return Unit{}
	}
	w := Unit{known: true, scale: float64(u.scale * power(v.scale, r))}
	ok := true
	add := func(a, b Ratio) Ratio {
		p, fits := b.Mul(r)
		ok = ok && fits
		s, fits := a.Add(p)
		ok = ok && fits
		return s
	}
	for i := range w.dims {
		w.dims[i] = add(u.dims[i], v.dims[i])
	}
	w.factors = slices.Clone(u.factors)
	for _, f := range v.factors {
		if i := slices.IndexFunc(w.factors, func(g factor) bool { return g.name == f.name }); i >= 0 {
			w.factors[i].exp = add(w.factors[i].exp, f.exp)
		} else {
			w.factors = append(w.factors, factor{f.name, add(Ratio{}, f.exp), f.dims, f.scale})
		}
	}
	w.factors = slices.DeleteFunc(w.factors, func(f factor) bool { return f.exp == Ratio{} })
	if !ok {
		return Unit{}
	}
	if len(w.factors) == 0 && close(w.scale, 1) {
		w.scale = 1 // All names have cancelled, and what is left of their scales is rounding.
	}
	return w
}

// Mixed lists the pairs of names in u that measure the same in different sizes, such as h and min in [mg*h/min]. Where
// a unit of several names is a number other than 1, as [kJ/N/m] is, its first and last name are such a pair as well.
func (u Unit) Mixed() (pairs [][2]string) {
	for i, f := range u.factors {
		for _, g := range u.factors[i+1:] {
			if r, ok := times(f.dims, g.dims); ok && !close(f.scale, power(g.scale, r)) {
				pairs = append(pairs, [2]string{f.name, g.name})
			}
		}
	}
	if n := len(u.factors); pairs == nil && n > 1 && u.Dimensionless() && !u.Plain() {
		pairs = append(pairs, [2]string{u.factors[0].name, u.factors[n-1].name})
	}
	return pairs
}

// times returns r with a = r·b, for dimensions of which neither is zero. It reports false if there is none.
func times(a, b [Dims]Ratio) (r Ratio, ok bool) {
	for i := range a {
		if (a[i] == Ratio{}) != (b[i] == Ratio{}) {
			return Ratio{}, false
		}
		if (a[i] == Ratio{}) {
			continue
		}
		inverse, _ := MakeRatio(int64(b[i].Den), int64(b[i].Num))
		q, fits := a[i].Mul(inverse)
		if !fits || ok && q != r {
			return Ratio{}, false
		}
		r, ok = q, true
	}
	return r, ok
}

func power(x float64, r Ratio) float64 {
	switch r {
	case Ratio{1, 1}:
		return x
	case Ratio{-1, 1}:
		return 1 / x
	}
	if x == 1 {
		return 1
	}
	if r.Den == 1 {
		return elem.Powi(x, int(r.Num))
	}
	return elem.Pow(x, float64(r.Num)/float64(r.Den))
}

// String returns the unit without brackets: "kg*m/s^2", "1", or "unknown".
func (u Unit) String() string {
	if !u.known {
		return "unknown"
	}
	var b strings.Builder
	for _, f := range u.factors {
		e := f.exp
		switch {
		case e.Num > 0 && b.Len() > 0:
			b.WriteByte('*')
		case e.Num < 0 && b.Len() == 0 && slices.ContainsFunc(u.factors, func(g factor) bool { return g.exp.Num > 0 }):
			// Units that divide are written after those that multiply.
			continue
		case e.Num < 0:
			if b.Len() == 0 {
				b.WriteByte('1')
			}
			continue
		}
		b.WriteString(f.name)
		writePower(&b, e)
	}
	for _, f := range u.factors {
		if f.exp.Num < 0 {
			if b.Len() == 0 {
				b.WriteByte('1')
			}
			b.WriteByte('/')
			b.WriteString(f.name)
			writePower(&b, Ratio{-f.exp.Num, f.exp.Den})
		}
	}
	if b.Len() == 0 {
		if u.scale != 1 {
			return strconv.FormatFloat(u.scale, 'g', -1, 64)
		}
		return "1"
	}
	return b.String()
}

func writePower(b *strings.Builder, e Ratio) {
	switch {
	case e == Ratio{1, 1}:
	case e.Den == 1:
		b.WriteString("^" + strconv.Itoa(int(e.Num)))
	default:
		b.WriteString("^(" + strconv.Itoa(int(e.Num)) + "/" + strconv.Itoa(int(e.Den)) + ")")
	}
}
