package certify_test

import (
	"flag"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/certify"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/internal/testing/seeds"
)

var nears = flag.Int("nears", 150, "near how many known minima TestNearMinima asks for certificates")

// drawAside draws a displacement of a length from the minimum of c. Constraints are kept, as far as projections find a
// way; it is nil where they find none. What rests at the minimum rests on with a probability.
func drawAside(c *convex, r *elem.Rand, length, kept float64) []float64 {
	n := c.n
	d := make([]float64, n)
	for i := range d {
		d[i] = r.Norm()
	}
	stays := func() bool { return r.Float64() < kept }
	type plane struct {
		a     []float64
		value float64 // at the minimum
		equal bool
		bend  float64
	}
	var rows []plane
	for i, a := range c.rows {
		rows = append(rows, plane{a, -c.limits[i], c.equal[i] || c.limits[i] == 0 && stays(), c.bends[i]})
		if c.equal[i] {
			rows[len(rows)-1].value = 0
		}
	}
	for i := range c.peakRows {
		for _, a := range c.peakRows[i] {
			rows = append(rows, plane{a[:n], -a[n], a[n] == 0 && stays(), 0})
		}
	}
	for _, u := range c.kinks {
		if u[n] == 0 && stays() {
			rows = append(rows, plane{u[:n], 0, true, 0})
		}
	}
	for _, a := range c.planes[min(1, len(c.planes)):] {
		if stays() {
			e := slices.Clone(a)
			axpy(e, -1, c.planes[0])
			rows = append(rows, plane{e, 0, true, 0})
		}
	}
	for i := range n {
		a := make([]float64, n)
		a[i] = -1
		if lo := c.lo[i] - c.m[i]*c.units[i]; !math.IsInf(lo, 0) {
			rows = append(rows, plane{a, lo / c.units[i], lo == 0 && stays(), 0})
		}
		a = make([]float64, n)
		a[i] = 1
		if hi := c.hi[i] - c.m[i]*c.units[i]; !math.IsInf(hi, 0) {
			rows = append(rows, plane{a, -hi / c.units[i], false, 0})
		}
	}
	axpy(d, length/math.Sqrt(inner(d, d))-1, slices.Clone(d))
	for range 2000 {
		worst := 0.0
		for _, p := range rows {
			v := p.value + inner(p.a, d) + p.bend*inner(d, d)/2
			if !p.equal && v <= 0 {
				continue
			}
			a := slices.Clone(p.a)
			axpy(a, p.bend, d)
			aa := inner(a, a)
			worst = math.Max(worst, math.Abs(v)/math.Sqrt(aa))
			axpy(d, -v/aa, a)
		}
		if worst <= 1e-12*length {
			return d
		}
	}
	return nil
}

// begun returns how far from the minimum a search has come in a few iterations.
func begun(t *testing.T, c *convex, start []float64, iterations int) []float64 {
	res, err := optim.Folded(t.Context(), c.problem(), start, optim.Options{Iterations: iterations})
	if err != nil {
		t.Fatal(err)
	}
	d := make([]float64, c.n)
	for i, x := range res.X {
		d[i] = x/c.units[i] - c.m[i]
	}
	return d
}

// TestNearMinima asks for certificates of points that are not minima, but near: none that lies above the minimum by
// more than a certificate allows is certified. The flag -nears takes more.
func TestNearMinima(t *testing.T) {
	const most = 5e-6 // of what searches gain: a certificate allows 1e-6, which are found to second order
	first := seeds.Of(t, 900)
	asked, clear, wrong := map[string]int{}, map[string]int{}, map[string]int{}
	for i := range *nears {
		seed := first + uint64(i)
		c := drawConvex(seed, append([]string{"bent", "bent"}, kinds...))
		r := elem.NewRand(seed + 2e9)
		p, near := c.problem(), c.near()
		start := make([]float64, c.n)
		for j := range start {
			start[j] = math.Max(c.lo[j], math.Min((c.m[j]+r.Norm())*c.units[j], c.hi[j]))
		}
		from, _ := near(start)
		best, _ := near(scaledBy(c.m, c.units))
		for k := range 12 {
			var d []float64
			length := math.Pow(10, -2-3*r.Float64())
			if k < 8 {
				d = drawAside(c, r, length, []float64{0, 0.5, 0.9, 1}[k%4])
			} else if c.kind != "bent" {
				d = begun(t, c, start, int(1+3*math.Exp(3*r.Float64())))
			}
			if d == nil {
				continue
			}
			x, sizes := make([]float64, c.n), make([]float64, c.n)
			for j := range x {
				x[j] = math.Max(c.lo[j], math.Min((c.m[j]+d[j])*c.units[j], c.hi[j]))
				sizes[j] = math.Max(math.Max(math.Abs(x[j]), math.Abs(start[j])), 0.1*c.units[j])
			}
			at, _ := near(x)
			size := math.Max(math.Abs(from.Value-at.Value), 1e-3)
			q := certify.Problem{
				X: x, Sizes: sizes, Lo: c.lo, Hi: c.hi, Min: p.Lo, Max: p.Hi, At: at, Size: size, Enough: 1e-6,
				Smooth: c.kind != "largest" && c.kind != "peaks", Near: near,
			}
			if k%2 == 0 {
				q.Hessian = make([]float64, c.n*c.n)
				c.hessian(x, make([]float64, p.Constraints), q.Hessian)
			}
			cert := q.Minimum()
			off := (at.Value - best.Value) / size
			if c.kind == "bent" && off > most && cert.Stationarity <= 1e-6 {
				y := make([]float64, c.n) // another minimum?
				for j, v := range begun(t, c, x, 300) {
					y[j] = (c.m[j] + v) * c.units[j]
				}
				end, _ := near(y)
				off = math.Min(off, (at.Value-end.Value)/size)
			}
			asked[c.kind]++
			if off > most {
				clear[c.kind]++
			}
			if cert.Stationarity <= 1e-6 && cert.Feasibility <= 1e-6 && off > most {
				wrong[c.kind]++
				t.Errorf("problem %d.%d (%s, %d numbers), %.2g aside: certified, and off by %.3g, stationarity %.2g, "+
					"pieces %d", seed, k, c.kind, c.n, length, off, cert.Stationarity, cert.Pieces)
			}
		}
	}
	t.Logf("asked %v, of which off by more than what is allowed: %v; wrong %v", asked, clear, wrong)
	for kind, n := range asked {
		if *nears >= 150 && clear[kind] < n/10 {
			t.Errorf("of %d points of kind %s only %d are off", n, kind, clear[kind])
		}
	}
}
