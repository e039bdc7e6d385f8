package nuts

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// run makes draws[m][n] behind the warm-up, and counts gradients and divergences.
func run(t *testing.T, f Density, q []float64, o Options, m int) (draws [][]float64, gradients, divergent int) {
	t.Helper()
	ctx := context.Background()
	c, err := New(ctx, f, q, o)
	if err != nil {
		t.Fatal(err)
	}
	for len(draws) < m {
		d, err := c.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if d.Warmup {
			gradients = c.State().Gradients
		} else {
			draws = append(draws, d.Q)
			if d.Divergent {
				divergent++
			}
		}
	}
	return draws, c.State().Gradients - gradients, divergent
}

// effective is how many independent draws tell the mean as well, by Geyer's pairs.
func effective(x []float64) float64 {
	n := len(x)
	mean := 0.0
	for _, v := range x {
		mean += v / float64(n)
	}
	cov := func(lag int) float64 {
		s := 0.0
		for i := range n - lag {
			s += (x[i] - mean) * (x[i+lag] - mean)
		}
		return s / float64(n)
	}
	v, sum := cov(0), -1.0
	for k := 0; k+1 < n; k += 2 {
		pair := (cov(k) + cov(k+1)) / v
		if pair < 0 {
			break
		}
		sum += 2 * pair
	}
	return float64(n) / max(sum, 0.25)
}

// moments compares means and standard deviations with known ones, in standard errors.
func moments(t *testing.T, name string, draws [][]float64, at func(q []float64) float64, mean, sd float64) float64 {
	t.Helper()
	x, y := make([]float64, len(draws)), make([]float64, len(draws))
	m, v := 0.0, 0.0
	for k, q := range draws {
		x[k] = at(q)
		m += x[k] / float64(len(draws))
		y[k] = (x[k] - mean) * (x[k] - mean)
		v += y[k] / float64(len(draws))
	}
	n := effective(x)
	if z := (m - mean) / sd * math.Sqrt(n); math.Abs(z) > 4.5 {
		t.Errorf("%s: mean %g, not %g: %.1f standard errors (%.0f effective draws)", name, m, mean, z, n)
	}
	var of float64 // the variance of squares
	for _, v2 := range y {
		of += (v2 - v) * (v2 - v) / float64(len(y))
	}
	if z := (v - sd*sd) / math.Sqrt(of/effective(y)); math.Abs(z) > 4.5 {
		t.Errorf("%s: sd %g, not %g: %.1f standard errors", name, math.Sqrt(v), sd, z)
	}
	return n
}

// gauss is a normal density with mean i and variances of several magnitudes along rotated axes.
func gauss(n int, mix float64) (f Density, sd []float64, hessian []float64) {
	// x_i = s_i (z_i + mix z_{i−1}): L is bidiagonal.
	l := make([]float64, n*n)
	sd = make([]float64, n)
	for i := range n {
		s := math.Pow(10, float64(i%5)-2)
		l[i*n+i] = s
		if i > 0 {
			l[i*n+i-1] = s * mix
		}
		sd[i] = s
		if i > 0 {
			sd[i] = s * math.Hypot(1, mix)
		}
	}
	inverse := make([]float64, n*n)
	for j := range n {
		e := make([]float64, n)
		e[j] = 1
		Solve(l, e)
		for i := range n {
			inverse[i*n+j] = e[i]
		}
	}
	return func(_ context.Context, q, g []float64) (float64, error) {
		y := make([]float64, n)
		for i := range n {
			y[i] = q[i] - float64(i)
		}
		d := slices.Clone(y)
		Solve(l, d)
		s := 0.0
		for i := range n {
			g[i] = -d[i]
			s -= y[i] * d[i] / 2
		}
		return s, nil
	}, sd, inverse
}

func TestGaussian(t *testing.T) {
	for _, c := range []struct {
		name    string
		n       int
		mix     float64
		o       Options
		hessian bool
		most    float64 // gradients an effective draw
	}{
		{"hessian 50", 50, 0.9, Options{Seed: 1, Warmup: 200}, true, 8},
		{"dense 10", 10, 0.9, Options{Seed: 2, Warmup: 600, Metric: Dense}, false, 40},
		{"diagonal 10", 10, 0, Options{Seed: 3, Warmup: 600, Metric: Diagonal}, false, 40},
	} {
		f, sd, h := gauss(c.n, c.mix)
		if c.hessian {
			sizes := slices.Clone(sd)
			if c.o.Scale = SoftAbs(h, sizes); c.o.Scale == nil {
				t.Fatal("no scale")
			}
		}
		q := make([]float64, c.n)
		for i := range q {
			q[i] = float64(i) + sd[i]
		}
		draws, gradients, divergent := run(t, f, q, c.o, 1000)
		least := math.Inf(1)
		for i := range c.n {
			least = min(least, moments(t, c.name, draws, func(q []float64) float64 { return q[i] }, float64(i), sd[i]))
		}
		if rate := float64(gradients) / least; rate > c.most || divergent > 0 {
			t.Errorf("%s: %d gradients for %.0f effective draws, %d divergences", c.name, gradients, least, divergent)
		}
	}
}

// TestTruncated: beyond the edge there is no density, and a rejection is counted by its cause.
func TestTruncated(t *testing.T) {
	f := func(_ context.Context, q, g []float64) (float64, error) {
		if q[0] < 0 {
			return 0, &Rejection{Cause: "below"}
		}
		g[0], g[1] = -q[0], -q[1]
		return -q[0]*q[0]/2 - q[1]*q[1]/2, nil
	}
	mean := math.Sqrt(2 / math.Pi)
	draws, _, _ := run(t, f, []float64{1, 0}, Options{Seed: 4, Warmup: 300}, 6000)
	moments(t, "half normal", draws, func(q []float64) float64 { return q[0] }, mean, math.Sqrt(1-mean*mean))
	c, err := New(context.Background(), f, []float64{1, 0}, Options{Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if _, err := c.Next(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if c.State().Rejections["below"] == 0 {
		t.Error("no rejection was counted")
	}
	if _, err := New(context.Background(), f, []float64{-1, 0}, Options{}); !errors.Is(err, ErrStart) {
		t.Errorf("a start without a density: %v", err)
	}
}

// TestLeapAndFold: leapfrog keeps volume and is reversible for any gradient that is a function of the place, so a
// density with a fold and a leap has the right draws.
func TestLeapAndFold(t *testing.T) {
	f := func(_ context.Context, q, g []float64) (float64, error) {
		g[0] = -q[0] - math.Copysign(3, q[0]-0.2)
		lp := -q[0]*q[0]/2 - 3*math.Abs(q[0]-0.2)
		if q[0] > 0.3 {
			lp--
		}
		return lp, nil
	}
	var mass, first, second float64
	for x := -8.0; x < 8; x += 1e-4 {
		g := []float64{0}
		lp, _ := f(nil, []float64{x + 5e-5}, g)
		w := math.Exp(lp)
		mass, first, second = mass+w, first+w*x, second+w*x*x
	}
	mean := first / mass
	draws, _, _ := run(t, f, []float64{0.1}, Options{Seed: 5, Warmup: 300}, 6000)
	moments(t, "leap", draws, func(q []float64) float64 { return q[0] }, mean, math.Sqrt(second/mass-mean*mean))
}

// TestFunnel: Neal's funnel is right in the form without a centre, and centred, too, where strides are divided in its
// neck; a neck that is narrower than strides are ever divided makes steps diverge, and that is told.
func TestFunnel(t *testing.T) {
	centred := func(_ context.Context, q, g []float64) (float64, error) {
		v, lp := q[0], -q[0]*q[0]/18
		g[0] = -v / 9
		for i := 1; i < len(q); i++ {
			w := q[i] * math.Exp(-v)
			lp -= q[i]*w/2 + v/2
			g[0] += q[i]*w/2 - 0.5
			g[i] = -w
		}
		return lp, nil
	}
	draws, _, divergent := run(t, centred, make([]float64, 3), Options{Seed: 6, Warmup: 300, Metric: Diagonal}, 6000)
	moments(t, "centred", draws, func(q []float64) float64 { return q[0] }, 0, 3)
	if divergent > 6 {
		t.Errorf("%d divergences", divergent)
	}
	steeper := func(ctx context.Context, q, g []float64) (float64, error) {
		lp, err := centred(ctx, []float64{4 * q[0], q[1], q[2]}, g)
		g[0] = 4*g[0] + 15*q[0]/9
		return lp + 15*q[0]*q[0]/18, err
	}
	_, _, divergent = run(t, steeper, make([]float64, 3), Options{Seed: 6, Warmup: 300, Metric: Diagonal}, 3000)
	if divergent == 0 {
		t.Error("nothing was told of a steep funnel")
	}
	free := func(_ context.Context, q, g []float64) (float64, error) {
		lp := 0.0
		for i, x := range q {
			s := 1.0
			if i == 0 {
				s = 3
			}
			lp -= x * x / s / s / 2
			g[i] = -x / s / s
		}
		return lp, nil
	}
	draws, _, _ = run(t, free, make([]float64, 10), Options{Seed: 6, Warmup: 300, Metric: Diagonal}, 1000)
	moments(t, "funnel", draws, func(q []float64) float64 { return q[0] }, 0, 3)
}

// TestResume: a chain that goes on from its state makes the draws that it would have made, whenever that was.
func TestResume(t *testing.T) {
	f, _, _ := gauss(3, 0.5)
	ctx := context.Background()
	for _, m := range []Metric{Shrunk, Dense, Diagonal} {
		o := Options{Seed: 7, Chain: 2, Warmup: 200, Metric: m}
		c, err := New(ctx, f, []float64{0, 1, 2}, o)
		if err != nil {
			t.Fatal(err)
		}
		var d *Chain
		for k := range 300 {
			if k%37 == 0 {
				if d, err = Resume(ctx, f, c.State(), o); err != nil {
					t.Fatal(err)
				}
			}
			a, err := c.Next(ctx)
			b, err2 := d.Next(ctx)
			if err != nil || err2 != nil || !slices.Equal(a.Q, b.Q) || a.Step != b.Step {
				t.Fatalf("iteration %d: %v, %v, %v, %v", k, a, b, err, err2)
			}
		}
		if c.State().Gradients != d.State().Gradients {
			t.Error("the work differs")
		}
	}
}

// TestSoftAbs: eigenvalues of any sign give a covariance, in the sizes of the coordinates.
func TestSoftAbs(t *testing.T) {
	sizes := []float64{1e-6, 1e3}
	h := []float64{-4e12, 0, 0, 0}
	l := SoftAbs(h, sizes)
	if l == nil || math.Abs(l[0]/0.5e-6-1) > 1e-9 || math.Abs(l[3]/1e3/math.Sqrt(Hardness)-1) > 1e-9 {
		t.Errorf("%v", l)
	}
	if SoftAbs([]float64{math.NaN()}, []float64{1}) != nil {
		t.Error("a Hessian without numbers")
	}
}

// TestJump: jumps between two modes of different widths give each its share.
func TestJump(t *testing.T) {
	const share, wide = 0.2, 3.0 // of the mode at 20
	f := func(_ context.Context, q, g []float64) (float64, error) {
		a, b := (1-share)*math.Exp(-q[0]*q[0]/2), share/wide*math.Exp(-(q[0]-20)*(q[0]-20)/2/wide/wide)
		g[0] = (-a*q[0] - b*(q[0]-20)/wide/wide) / (a + b)
		return math.Log(a + b), nil
	}
	o := Options{Seed: 8, Warmup: 200}
	o.Centre = func(q []float64) []float64 {
		if q[0] > 5 {
			return []float64{20}
		}
		return []float64{0}
	}
	o.Jump = func(q []float64, _ *elem.Rand) ([]float64, float64, bool) {
		if q[0] > 5 {
			to := (q[0] - 20) / wide
			return []float64{to}, -math.Log(wide), to <= 5
		}
		to := 20 + wide*q[0]
		return []float64{to}, math.Log(wide), to > 5
	}
	draws, _, _ := run(t, f, []float64{0}, o, 6000)
	moments(t, "jump", draws, func(q []float64) float64 {
		if q[0] > 5 {
			return 1
		}
		return 0
	}, share, math.Sqrt(share*(1-share)))
}

// TestSteps: steps are not made for leaps, which they cannot make less; else they shrink without end.
func TestSteps(t *testing.T) {
	f := func(_ context.Context, q, g []float64) (float64, error) {
		lp := 0.0
		for i, x := range q {
			lp -= x * x / 2
			g[i] = -x
		}
		if q[0] > 1 || q[0] < -1 {
			lp -= 4
		}
		return lp, nil
	}
	for seed := range uint64(4) {
		draws, gradients, _ := run(t, f, make([]float64, 3), Options{Seed: seed, Warmup: 200}, 1000)
		if len(draws) != 1000 || gradients > 15000 {
			t.Errorf("%d gradients", gradients)
		}
	}
}
