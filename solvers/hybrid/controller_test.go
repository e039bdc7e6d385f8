package hybrid

import (
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
)

func TestPowers(t *testing.T) {
	x := make([]float64, 4000)
	solvertest.Noise(3, x)
	for i := 0; i+1 < len(x); i += 2 {
		v := math.Ldexp(1.5+x[i]/2, int(1000*x[i+1]))
		if got, want := elem.QuickLog2(v), math.Log2(v); !solvertest.Near(got, want, 1e-9) {
			t.Fatalf("elem.QuickLog2(%v) = %v, want %v", v, got, want)
		}
		v = 100 * x[i]
		if got, want := elem.QuickExp2(v), math.Exp2(v); math.Abs(got-want) > 1e-9*want {
			t.Fatalf("elem.QuickExp2(%v) = %v, want %v", v, got, want)
		}
	}
	for k := -1074; k < 1024; k++ {
		if got := elem.QuickLog2(math.Ldexp(1, k)); got != float64(k) {
			t.Errorf("elem.QuickLog2(2^%d) = %v", k, got)
		}
		if k >= -1000 && k <= 1000 && elem.QuickExp2(float64(k)) != math.Ldexp(1, k) {
			t.Errorf("elem.QuickExp2(%d) = %v", k, elem.QuickExp2(float64(k)))
		}
	}
}

func controllers(t *testing.T, test func(t *testing.T, r Rule, m solvers.Info, c Controller)) {
	for _, r := range Controllers() {
		for _, tab := range []string{"heun", "euler", "dopri5", "vern9"} {
			t.Run(r.Name+"/"+tab, func(t *testing.T) {
				m := named(t, tab).Info()
				c, ok := NewController(r.Name, m)
				if !ok {
					t.Fatal("no such controller")
				}
				test(t, r, m, c)
			})
		}
	}
}

// TestControllerSettles runs every rule on err = (h/h*)^k with a disturbance
// in the middle, from far above and far below, and requires that it settles at
// a step that is accepted and not far below h*.
func TestControllerSettles(t *testing.T) {
	controllers(t, func(t *testing.T, r Rule, m solvers.Info, c Controller) {
		if r.Name == "odeint" && m.Order < m.Embedded {
			t.Skip("the rule is for pairs that advance the better solution")
		}
		k := float64(1 + min(m.Order, m.Embedded))
		for _, h := range []float64{1e-6, 1e3, -1e3} {
			c.Reset(m)
			rejected, star := 0, 0.01
			for i := range 200 {
				if i == 100 {
					star, rejected = 0.05, 0
				}
				err := math.Pow(math.Abs(h)/star, k)
				ok, next := c.Judge(h, err)
				if ok != (err <= 1) {
					t.Fatalf("step %v with error %v: accepted %v", h, err, ok)
				}
				if !ok {
					rejected++
				}
				q := next / h
				if q < r.Shrink*0.999999 || q > r.Grow*1.000001 || !ok && q >= 1 {
					t.Fatalf("step %v with error %v: factor %v", h, err, q)
				}
				h = next
			}
			if a := math.Abs(h) / star; a > 1 || a < 0.7 {
				t.Errorf("settled at %v of the best step", a)
			}
			if rejected > 3 {
				t.Errorf("%d rejections at a constant difficulty", rejected)
			}
		}
	})
}

func TestControllerRejection(t *testing.T) {
	controllers(t, func(t *testing.T, r Rule, _ solvers.Info, c Controller) {
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			if ok, next := c.Judge(0.5, bad); ok || next != 0.5*r.Shrink {
				t.Errorf("error %v: %v, %v", bad, ok, next)
			}
		}
		if ok, next := c.Judge(0.1, 0); !ok || next > 0.1 && r.Name != "odeint" {
			t.Errorf("after a rejection: %v, %v", ok, next)
		}
		if ok, next := c.Judge(0.1, 0); !ok || next <= 0.1 {
			t.Errorf("after an accepted step without error: %v, %v", ok, next)
		}
	})
}

// TestControllerReset requires the same decisions after Reset as of a new one.
func TestControllerReset(t *testing.T) {
	controllers(t, func(t *testing.T, _ Rule, m solvers.Info, c Controller) {
		run := func() (h []float64) {
			x := 1.0
			for i := range 20 {
				_, x = c.Judge(x, 0.1+float64(i%4)/2)
				h = append(h, x)
			}
			return h
		}
		a := run()
		c.Reset(m)
		b := run()
		solvertest.Same(t, "h", a, b)
	})
}

// TestControllerFormulas checks third steps against the formulas, written out.
func TestControllerFormulas(t *testing.T) {
	m := solvers.Info{Order: 5, Embedded: 4}
	e1, e2, e3 := 0.3, 0.5, 0.8
	third := func(name string) float64 {
		c, _ := NewController(name, m)
		c.Judge(0.1, e1)
		c.Judge(0.12, e2)
		_, h := c.Judge(0.11, e3)
		return h
	}
	pow, s := math.Pow, 0.9
	for name, want := range map[string]float64{
		"":      0.11 * pow(0.85, 0.65) * pow(e3, -0.17) * pow(e2, 0.04),
		"i":     0.11 * s * pow(e3, -0.2),
		"pid":   0.11 * pow(s, 0.47) * pow(e3, -0.58/5) * pow(e2, 0.21/5) * pow(e1, -0.1/5),
		"h211b": 0.11 * pow(s, 0.5) * pow(e3, -0.05) * pow(e2, -0.05) * pow(0.11/0.12, -0.25),
		"h312b": 0.11 * pow(s, 0.5) * pow(e3, -0.025) * pow(e2, -0.05) * pow(e1, -0.025) * pow(0.11/0.12, -0.375) *
			pow(0.12/0.1, -0.125),
		"predictive": 0.11 * s * pow(e3, -0.4) * pow(e2, 0.2) * 0.11 / 0.12,
		"odeint":     0.11,
	} {
		if got := third(name); !solvertest.Near(got, want, 1e-9) {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
	c, _ := NewController("predictive", m)
	if _, h := c.Judge(0.1, e1); !solvertest.Near(h, 0.1*s*pow(e1, -0.2), 1e-9) {
		t.Errorf("predictive has a first step of %v", h)
	}
	c, _ = NewController("odeint", m)
	if _, h := c.Judge(1, 0.4); !solvertest.Near(h, 0.9*pow(0.4, -0.2), 1e-9) {
		t.Errorf("odeint grows to %v", h)
	}
	if _, h := c.Judge(1, 2); !solvertest.Near(h, 0.9*pow(2, -1.0/3), 1e-9) {
		t.Errorf("odeint shrinks to %v", h)
	}
	for _, r := range Controllers() {
		r.Grow = 1.5
		if _, h := r.Controller(m).Judge(1, 0); !solvertest.Near(h, 1.5, 1e-9) {
			t.Errorf("%s grows to %v, not to 1.5", r.Name, h)
		}
	}
	if _, ok := NewController("none", m); ok {
		t.Error("there is a controller of an unknown name")
	}
}

func TestNorms(t *testing.T) {
	s := &solvers.Step{H: -0.5, Y0: []float64{1, -4}, Y1: []float64{2, 3}, K: []float64{6, 2, 0, 0}, DQ: []float64{10}}
	e := []float64{0.2, -0.1, 1}
	for _, c := range []struct {
		tol  solvers.Tolerance
		want float64
	}{
		{solvers.Tolerance{Rel: 0.1, Abs: []float64{0.2}}, math.Sqrt((0.25 + 1.0/36) / 2)},
		{solvers.Tolerance{Rel: 0.1, Abs: []float64{0.3, 0.1}}, math.Sqrt((0.16 + 0.04) / 2)},
		{solvers.Tolerance{Rel: 0.1, Abs: []float64{0.2}, Kind: solvers.NormMax}, 0.5},
		{solvers.Tolerance{Rel: 0.1, Abs: []float64{0.2}, Kind: solvers.NormOdeint}, 0.2 / (0.2 + 0.1*(1+0.5*6))},
	} {
		if got := c.tol.Norm(s, e); !solvertest.Near(got, c.want, 1e-15) {
			t.Errorf("%+v: %v, want %v", c.tol, got, c.want)
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			if got := c.tol.Norm(s, []float64{bad, 0, 0}); got <= math.MaxFloat64 {
				t.Errorf("%+v: error %v passes as %v", c.tol, bad, got)
			}
			s := &solvers.Step{Y0: s.Y0, Y1: []float64{bad, 3}, K: s.K, DQ: s.DQ}
			if got := c.tol.Norm(s, e); got <= math.MaxFloat64 {
				t.Errorf("%+v: state %v passes as %v", c.tol, bad, got)
			}
		}
	}
	zero := solvers.Tolerance{Abs: []float64{0}}
	if got := zero.Norm(&solvers.Step{Y0: []float64{0}, Y1: []float64{0}, K: []float64{0}}, []float64{0}); got != 0 {
		t.Errorf("no error without tolerance: %v", got)
	}
}

// TestMost: one error among many counts a sixth, where some steps solve equations and errors are a mean; of up to 36
// states the mean is as much.
func TestMost(t *testing.T) {
	spec := func(name string) *solvers.Spec {
		m, ok := methods.Lookup(name)
		if !ok {
			t.Fatal(name)
		}
		return m
	}
	for _, m := range []*solvers.Spec{
		spec("dopri5"), spec("rodas5p"), spec("radau5"), spec("kencarp4"),
		solvers.Switching("explicit", spec("dopri5"), spec("rkc2")), solvers.Switching("stiff", spec("dopri5"),
			spec("rodas5p")),
	} {
		for _, n := range []int{3, 6, 9, 36, 37, 1000} {
			s := &solvers.Step{Y0: make([]float64, n), Y1: make([]float64, n), K: make([]float64, n)}
			e, rels := make([]float64, n), make([]float64, n)
			e[n/2] = -12
			want := 12 / math.Sqrt(float64(n))
			if m.Name != "dopri5" && m.Name != "explicit" {
				want = max(want, 2)
			}
			for _, tol := range []solvers.Tolerance{{Abs: []float64{1}}, {Abs: []float64{1}, Rels: rels}} {
				tol.TakeMost(m.New(solvers.Size{N: n}, 1))
				if got := tol.Norm(s, e); !solvertest.Near(got, want, 1e-15) {
					t.Errorf("%s, %d states: %v, want %v", m.Name, n, got, want)
				}
				tol.Kind = solvers.NormMax
				if got := tol.Norm(s, e); got != 12 {
					t.Errorf("%s, %d states, largest: %v, want 12", m.Name, n, got)
				}
				tol.Kind = solvers.NormRMS
				for _, bad := range []float64{math.NaN(), math.Inf(1)} {
					e := append(e[:n-1:n-1], bad)
					if got := tol.Norm(s, e); got <= math.MaxFloat64 {
						t.Errorf("%s, %d states: error %v passes as %v", m.Name, n, bad, got)
					}
				}
			}
		}
	}
}

func TestInitialStep(t *testing.T) {
	m := solvers.Info{Order: 5}
	tol := &solvers.Tolerance{Rel: 1e-6, Abs: []float64{1e-9}}
	first := func(g solvertest.Growth, limit float64) float64 {
		s := &solvers.Step{T: 2, Y0: []float64{1}, K: []float64{g.Lambda}}
		return InitialStep(g, m, tol, s, limit, make([]float64, 2))
	}
	// sc = 1e-6 + 1e-9, d₀ = 1/sc, d₁ = 3/sc, h₀ = 0.01/3, d₂ = 9/sc.
	want := math.Pow(0.01/(9/(1e-6+1e-9)), 1.0/6)
	if got := first(solvertest.Growth{Lambda: 3, Wall: 10}, 1); !solvertest.Near(got, want, 1e-9) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := first(solvertest.Growth{Lambda: 3, Wall: 10}, -1); !solvertest.Near(got, -want, 1e-9) {
		t.Errorf("backwards %v, want %v", got, -want)
	}
	if got := first(solvertest.Growth{Lambda: 3, Wall: 10}, 0.001); got != 0.001 {
		t.Errorf("%v, want the limit", got)
	}
	if got := first(solvertest.Growth{Lambda: 3, Wall: 1.0001}, 1); !(got > 0 && got < 0.01) {
		t.Errorf("%v before a wall", got)
	}
	if got := first(solvertest.Growth{Lambda: 0, Wall: 10}, 1); got != 1e-6 {
		t.Errorf("%v at rest, want 1e-6", got)
	}
}

// named returns the method of that name.
func named(t testing.TB, name string) *solvers.Spec {
	t.Helper()
	m, ok := methods.Lookup(name)
	if !ok {
		t.Fatalf("no method %s", name)
	}
	return m
}
