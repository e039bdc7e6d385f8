package sens_test

import (
	"math"
	"slices"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/sens"
)

type C = complex128

// closures are Objectives by closures over complex numbers, with derivatives by the complex step.
type closures struct {
	*solvertest.Hybrid
	n, m int
	// observe adds to f; p are parameters.
	observe func(s sens.Site, t C, ym, dm, yp, dp, p, f []C)
	psi     func(f, p, psi []C)
	// missing makes functionals NaN that were not read; may be nil.
	missing func(f []float64)
	// heights writes expressions whose largest values are the functionals peaks.
	heights func(t C, y, p, e []C)
	peaks   []int
}

// Peaks implements sens.PeakObjectives.
func (o *closures) Peaks() []int { return o.peaks }

// Heights implements sens.PeakObjectives.
func (o *closures) Heights(t float64, y, e []float64) {
	for i, v := range o.heightsAt(complex(t, 0), lift(y), lift(o.Params)) {
		e[i] = real(v)
	}
}

// Slopes implements sens.PeakObjectives.
func (o *closures) Slopes(t float64, y, yd, ed []float64) {
	z := lift(y)
	for i := range z {
		z[i] += complex(0, tiny*yd[i])
	}
	for i, v := range o.heightsAt(complex(t, tiny), z, lift(o.Params)) {
		ed[i] = imag(v) / tiny
	}
}

func (o *closures) heightsAt(t C, y, p []C) []C {
	e := make([]C, len(o.peaks))
	o.heights(t, y, p, e)
	return e
}

// look is observe, and reads peaks.
func (o *closures) look(s sens.Site, t C, ym, dm, yp, dp, p, f []C) {
	if s.Kind != sens.SitePeak {
		o.observe(s, t, ym, dm, yp, dp, p, f)
		return
	}
	e := o.heightsAt(t, ym, p)
	for _, share := range s.Peaks {
		f[share.Element] += complex(share.Weight, 0) * e[slices.Index(o.peaks, share.Element)]
	}
}

const tiny = 0x1p-200

func (o *closures) Counts() (int, int)               { return o.n, o.m }
func (o *closures) Observes(sens.SiteKind, int) bool { return o.observe != nil }

func lift(x []float64) []C {
	y := make([]C, len(x))
	for i, v := range x {
		y[i] = complex(v, 0)
	}
	return y
}

// arguments are all that a map depends on, as one vector of parts.
type arguments [][]C

func (o *closures) site(s sens.Site, a arguments) []C {
	f := make([]C, o.n)
	o.look(s, a[0][0], a[1], a[2], a[3], a[4], a[5], f)
	return f
}

func (o *closures) values(a arguments) []C {
	psi := make([]C, o.m)
	o.psi(a[0], a[1], psi)
	return psi
}

func (o *closures) point(pt *sens.Point) arguments {
	return arguments{{complex(pt.T, 0)}, lift(pt.Ym), lift(pt.Dm), lift(pt.Yp), lift(pt.Dp), lift(o.Params)}
}

func (o *closures) Observe(pt *sens.Point, f []float64) {
	for i, v := range o.site(pt.Site, o.point(pt)) {
		f[i] += real(v)
	}
	if pt.Site.Kind == sens.SiteFinal && o.missing != nil {
		o.missing(f)
	}
}

func (o *closures) Values(f, psi []float64) {
	for i, v := range o.values(arguments{lift(f), lift(o.Params)}) {
		psi[i] = real(v)
	}
}

// pull adds the transpose of f at a, applied to w, to bars (nil: not wanted).
func (o *closures) pull(f func(arguments) []C, a arguments, w []float64, bars ...[]float64) {
	l := o.Lanes()
	for k, bar := range bars {
		if bar == nil {
			continue
		}
		for i := range a[k] {
			saved := a[k][i]
			a[k][i] += complex(0, tiny)
			for j, v := range f(a) {
				for lane := range l {
					bar[i*l+lane] += imag(v) / tiny * w[j*l+lane]
				}
			}
			a[k][i] = saved
		}
	}
}

// push returns the tangents of f at a.
func (o *closures) push(f func(arguments) []C, a arguments, out []float64, dots ...[]float64) {
	l := o.Lanes()
	for lane := range l {
		b := make(arguments, len(a))
		for k := range a {
			b[k] = append([]C(nil), a[k]...)
			for i := range b[k] {
				b[k][i] += complex(0, tiny*dots[k][i*l+lane])
			}
		}
		for j, v := range f(b) {
			out[j*l+lane] += imag(v) / tiny
		}
	}
}

func (o *closures) ValuesPull(f []float64, first int, fb []float64) {
	clear(fb)
	l := o.Lanes()
	w := make([]float64, o.m*l)
	for lane := range l {
		if first+lane < o.m {
			w[(first+lane)*l+lane] = 1
		}
	}
	o.pull(o.values, arguments{lift(f), lift(o.Params)}, w, fb, o.Cotangents())
}

func (o *closures) ObservePull(pt *sens.Point, fb, ymb, dmb, ypb, dpb, tb []float64) {
	site := func(a arguments) []C { return o.site(pt.Site, a) }
	o.pull(site, o.point(pt), fb, tb, ymb, dmb, ypb, dpb, o.Cotangents())
}

func (o *closures) ObservePush(pt *sens.Point, td, ymd, dmd, ypd, dpd, fd []float64) {
	site := func(a arguments) []C { return o.site(pt.Site, a) }
	o.push(site, o.point(pt), fd, td, ymd, dmd, ypd, dpd, o.Tangents())
}

func (o *closures) ValuesPush(f, fd, psid []float64) {
	clear(psid)
	o.push(o.values, arguments{lift(f), lift(o.Params)}, psid, fd, o.Tangents())
}

// complexClosures are closures in complex arithmetic.
type complexClosures struct {
	*closures
	sys *complexSystem
}

// complexSystem remembers its parameters for the objectives.
type complexSystem struct {
	*solvertest.Complex
	p []C
}

func (c *complexSystem) SetParameters(p []C) {
	c.p = append(c.p[:0], p...)
	c.Complex.SetParameters(p)
}

func (o *complexClosures) Observe(s sens.Site, t C, ym, dm, yp, dp, f []C) {
	o.look(s, t, ym, dm, yp, dp, o.sys.p, f)
}

func (o *complexClosures) Values(f, psi []C) { o.psi(f, o.sys.p, psi) }

var nan = math.NaN()
