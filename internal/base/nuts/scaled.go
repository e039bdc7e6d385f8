package nuts

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
)

// scaled fits the other form of a row of a Warp: what is known of a number times or over what others are, as where eta
// is drawn and data tell tau·eta. Then eta is a number over tau, however far tau goes, and no polynomial is near that.
//
//	x = d + exp(s)·(y + m),
//
// where x is the coordinate in its standard deviations, m is linear in all before it, and s in some of them. All
// numbers are fitted together, by Gauss and Newton's method with Fisher's part of what widths add.
type scaled struct {
	x       []float64   // of the draws
	v       [][]float64 // the coordinates before it, [coordinate][draw]
	share   float64     // of the draws that is effective
	drivers []int       // that s is of
	d       float64
	m       []float64  // a constant, then a number for each coordinate
	s       []float64  // a constant, then a number for each driver
	left    []residual // of the draws, by the numbers of the last fits
}

// residual is what is left of a draw: y, m and exp(-s).
type residual struct{ y, m, narrow float64 }

// fits is the logarithm of the likelihood of the effective draws. It finds what is left of them.
func (f *scaled) fits() (l float64) {
	if f.left == nil {
		f.left = make([]residual, len(f.x))
	}
	last, narrow := math.NaN(), 0.0
	for d := range f.x {
		m, s := f.m[0], f.s[0]
		for j, by := range f.m[1:] {
			m += float64(by * f.v[j][d])
		}
		for k, j := range f.drivers {
			s += float64(f.s[k+1] * f.v[j][d])
		}
		if s != last {
			last, narrow = s, elem.Exp(-s)
		}
		y := float64((f.x[d]-f.d)*narrow) - m
		f.left[d] = residual{y, m, narrow}
		l -= float64(y*y/2) + s
	}
	return float64(l * f.share)
}

// fit improves all numbers.
func (f *scaled) fit() float64 {
	const rounds, ridge, enough = 40, 0.5, 1e-3
	n, w := 1+len(f.m), len(f.s)
	all := n + w
	a, b, row, at := make([]float64, all*all), make([]float64, all), make([]float64, all), make([]float64, w)
	now := f.fits()
	for range rounds {
		clear(a)
		clear(b)
		for d := range f.x {
			r := &f.left[d]
			row[0], row[1] = r.narrow, 1
			for j := range f.v {
				row[2+j] = f.v[j][d]
			}
			at[0], row[n] = 1, r.y+r.m
			for k, j := range f.drivers {
				at[1+k] = f.v[j][d]
				row[n+1+k] = float64(row[n] * at[1+k])
			}
			for i, x := range row {
				b[i] += float64(r.y * x)
				products(a[i*all:i*all+i+1], row, x)
			}
			for i, x := range at {
				b[n+i] -= x
				products(a[(n+i)*all+n:(n+i)*all+n+i+1], at, x)
			}
		}
		for i := range all {
			a[i*all+i] += ridge / f.share
		}
		l := Cholesky(a, all)
		if l == nil {
			return now
		}
		Solve(l, b)
		before, begun := f.numbers(), now
		for by := 1.0; by > 1e-3; by /= 2 {
			f.set(before, b, by)
			if now = f.fits(); now > begun {
				break
			}
		}
		if !(now > begun) {
			f.set(before, b, 0)
			f.fits()
			return begun
		}
		if now-begun < enough {
			break
		}
	}
	return now
}

// products adds x times the first numbers of row to a.
func products(a, row []float64, x float64) {
	row = row[:len(a)]
	for j := range a {
		a[j] += float64(x * row[j])
	}
}

func (f *scaled) numbers() []float64 { return slices.Concat([]float64{f.d}, f.m, f.s) }

func (f *scaled) set(before, step []float64, by float64) {
	x := make([]float64, len(before))
	for i := range x {
		x[i] = before[i] + float64(by*step[i])
	}
	f.d = x[0]
	copy(f.m, x[1:])
	copy(f.s, x[1+len(f.m):])
}

// grow adds drivers, one after the other, as long as each adds more than least to the logarithm of the likelihood. It
// returns that, which is minus infinity where there is no driver.
func (f *scaled) grow(least float64) float64 {
	n := len(f.v)
	f.d, f.m, f.s, f.drivers = 0, make([]float64, n+1), make([]float64, 1), nil
	now := f.fit()
	most := 1 + min(n, int(float64(len(f.x))*f.share/20), 4)
	for len(f.s) < most {
		best, top := -1, 0.0
		for a := range n {
			if slices.Contains(f.drivers, a) {
				continue
			}
			with, square := 0.0, 0.0
			for d := range f.x {
				y, m := f.left[d].y, f.left[d].m
				with += float64((float64(y*(y+m)) - 1) * f.v[a][d])
				t := float64((y + m) * f.v[a][d])
				square += float64(t*t) + float64(f.v[a][d]*f.v[a][d])
			}
			if score := float64(with * with / square / 2 * f.share); score > top {
				best, top = a, score
			}
		}
		if best < 0 {
			break
		}
		before, drivers, widths := f.numbers(), f.drivers, slices.Clone(f.s)
		then := math.Inf(-1)
		var good []float64
		// Both signs lead to places that are best nearby, of which one is far better.
		for _, first := range []float64{0, 0.3, -0.3} {
			f.drivers, f.s = append(slices.Clone(drivers), best), append(slices.Clone(widths), 0)
			begin := append(slices.Clone(before), first)
			f.set(begin, begin, 0)
			if l := f.fit(); l > then {
				then, good = l, f.numbers()
			}
		}
		if !(then > now+least) {
			f.drivers, f.s = drivers, widths
			f.set(before, before, 0)
			break
		}
		f.set(good, good, 0)
		f.fits()
		now = then
	}
	if len(f.drivers) == 0 {
		return math.Inf(-1)
	}
	return now
}

// rows makes the rows of a Warp, one after the other: each linear, or scaled where that fits better.
type rows struct {
	w      *Warp
	linear []float64   // L of all rows that are linear
	other  bool        // some row is scaled
	v      [][]float64 // the coordinates that are done, bounded; [coordinate][draw]
	z, u   []float64   // the last one
}

// add adds row i, for which c has found what bends it, and returns by how much the likelihood grows by its other form.
func (r *rows) add(q [][]float64, i int, c *conditional, least float64) (gain float64) {
	n, at := len(r.w.Order), r.w.Order[i]
	r.z, r.u = c.z, c.u[i]
	// Of many numbers, only a row that is bent is looked at, or if another one is scaled.
	if i > 0 && (n <= manyPairs || r.other || c.bends != nil) {
		sd := 0.0
		for _, l := range r.linear[i*n : i*n+i+1] {
			sd += float64(l * l)
		}
		sd = math.Sqrt(sd)
		f := scaled{x: make([]float64, len(q)), v: r.v[:i], share: c.share}
		for d := range q {
			f.x[d] = (q[d][at] - r.w.Mean[i]) / sd
		}
		bent := c.fits() - float64(c.share*float64(len(q))*elem.Log(r.linear[i*n+i]/sd))
		if gain = f.grow(least) - bent; gain > least {
			r.scaled(i, sd, &f)
		}
	}
	if !(gain > least) {
		if gain = 0; r.other {
			r.back(i)
		}
	}
	v := make([]float64, len(q))
	for d := range v {
		v[d], _ = bounded(r.z[d], farther)
	}
	r.v[i] = v
	return gain
}

// scaled makes row i a scaled one.
func (r *rows) scaled(i int, sd float64, f *scaled) {
	n, w := len(r.w.Order), r.w
	r.other = true
	if w.Inner == nil {
		w.Inner = make([][]Feature, n)
	}
	clear(w.Scale[i*n : i*n+i])
	w.Scale[i*n+i] = sd
	w.Bends[i], w.Width[i] = []Feature{{A: -1, B: -1, By: f.d}}, []Feature{{A: -1, B: -1, By: f.s[0]}}
	for k, j := range f.drivers {
		w.Width[i] = append(w.Width[i], Feature{A: -1, B: j, By: f.s[k+1]})
	}
	w.Inner[i] = []Feature{{A: -1, B: -1, By: f.m[0]}}
	for j, by := range f.m[1:] {
		w.Inner[i] = append(w.Inner[i], Feature{A: -1, B: j, By: by})
	}
	r.z, r.u = f.x, make([]float64, len(f.x))
	for d, x := range f.x {
		r.u[d], _ = bounded(x, reach)
	}
}

// back writes row i, which is linear, by the coordinates before it as they are now.
func (r *rows) back(i int) {
	n, w := len(r.w.Order), r.w
	// The row by q: t L = row.
	t := slices.Clone(r.linear[i*n : i*n+i])
	for j := i - 1; j >= 0; j-- {
		for k := j + 1; k < i; k++ {
			t[j] -= float64(t[k] * r.linear[k*n+j])
		}
		t[j] /= r.linear[j*n+j]
	}
	for j := range i {
		w.Scale[i*n+j] = 0
		for k := j; k < i; k++ {
			w.Scale[i*n+j] += float64(t[k] * w.Scale[k*n+j])
		}
	}
}
