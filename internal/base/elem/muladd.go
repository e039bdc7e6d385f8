package elem

import "math"

// MulAdd returns x*y + z, rounded once, with the bits of math.FMA: what machines without an instruction for it can do
// in floating point. Go's own emulation there works on integers. Sources: T. J. Dekker, Numer. Math. 18 (1971) 224, for
// the error of a product; S. Boldo, G. Melquiond, IEEE Trans. Comput. 57 (2008) 462, for the sum, whose lower part is
// rounded to odd. No product may come near the ends of the range of exponents: what does is left to math.FMA.
//
// The WebAssembly of the site's playground is built with this in place of Go's emulation (site/playground).
func MulAdd(x, y, z float64) float64 {
	const (
		middle = 1023 - 450 // the least exponent of factors, as it is stored
		width  = 900
	)
	ex, ey := math.Float64bits(x)>>52&0x7ff, math.Float64bits(y)>>52&0x7ff
	ez := math.Float64bits(z) >> 52 & 0x7ff
	if ex-middle > width || ey-middle > width || (ez-64 > 1918 && z != 0) {
		if ex < 0x7ff && ey < 0x7ff && (x == 0 || y == 0) { // signs of zeros are those of the operations
			return float64(x*y) + z
		}
		return math.FMA(x, y, z)
	}
	// x*y = p + e
	p := float64(x * y)
	const split = 1<<27 + 1
	c := float64(split * x)
	xh := c - (c - x)
	xl := x - xh
	c = float64(split * y)
	yh := c - (c - y)
	yl := y - yh
	e := float64(xl*yl) - (((p - float64(xh*yh)) - float64(xl*yh)) - float64(xh*yl))
	// z + e = th + tl; p + th = vh + vl
	th := z + e
	b := th - z
	tl := (z - (th - b)) + (e - b)
	vh := p + th
	b = vh - p
	vl := (p - (vh - b)) + (th - b)
	// tl + vl, rounded to odd
	w := tl + vl
	b = w - tl
	if rest := (tl - (w - b)) + (vl - b); rest != 0 {
		if bits := math.Float64bits(w); bits&1 == 0 {
			if (rest > 0) == (w > 0) {
				bits++
			} else {
				bits--
			}
			w = math.Float64frombits(bits)
		}
	}
	return vh + w
}
