package steady

import (
	"errors"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/residue"
	"odes.dev/odes/internal/testing/seeds"

	"odes.dev/odes/solvers/matrices"
)

// TestMany has more states than eigenvalues are computed of: a chain behind a switch.
func TestMany(t *testing.T) {
	const n = 8
	sys := system(n, func(y, k []C) {
		k[0] = y[0] * (1 - y[0]) * (y[0] - 0.3)
		for i := 1; i < n; i++ {
			k[i] = y[i-1] - 2*y[i]
		}
	})
	for from, want := range map[float64]float64{0.2: 0, 0.5: 1} {
		y := make([]float64, n)
		y[0] = from
		if s, err := find(t, sys, nil, y, Options{eigen: 5}); err != nil || math.Abs(s.Y[0]-want) > 1e-12 {
			t.Errorf("from %v: %v", from, err)
		}
	}
	y := make([]float64, n)
	for i := range y {
		y[i] = math.Ldexp(0.31, -i)
	}
	_, err := find(t, sys, nil, y, Options{Way: Newton, eigen: 5})
	var e *Error
	if !errors.As(err, &e) || e.Fault != Unstable {
		t.Errorf("the unstable state is %v", err)
	}
	t.Log(err)
}

// TestLongRun follows a front along a chain, loosely after some steps: it comes to the same state in fewer.
func TestLongRun(t *testing.T) {
	const n = 120
	sys := system(n, func(y, k []C) {
		k[0] = 0.7*(1-y[0]) - 0.5*y[0]
		for i := 1; i < n; i++ {
			k[i] = y[i-1]*(1-y[i]) - 0.5*y[i]
		}
	})
	exact, err1 := find(t, sys, nil, make([]float64, n), Options{})
	loose, err2 := find(t, sys, nil, make([]float64, n), Options{dear: 50 * n})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if t.Logf("%d and %d steps", exact.Steps, loose.Steps); loose.Steps > exact.Steps*2/3 || loose.Steps <= 50 {
		t.Errorf("%d steps, %d loosely", exact.Steps, loose.Steps)
	}
	if loose.T < exact.T/2 {
		t.Errorf("the runs were %v and %v long", exact.T, loose.T)
	}
	want := 0.7 / 1.2
	for i := range n {
		if math.Abs(loose.Y[i]-want) > 1e-14 || math.Abs(exact.Y[i]-want) > 1e-14 {
			t.Fatalf("state %d is %v and %v, want %v", i, exact.Y[i], loose.Y[i], want)
		}
		want /= want + 0.5
	}
}

// TestManyLaws finds the total of a ring, and of pairs.
func TestManyLaws(t *testing.T) {
	const n = 300
	laws := lawsOf(t, Rates{N: n, Sample: func(k int, f []residue.Number) {
		for i := 0; i < n; i += 2 {
			x := residue.Hash(residue.Number(k), residue.Number(i))
			f[i], f[i+1] = x, residue.Neg(x)
		}
	}})
	if len(laws) != n/2 {
		t.Errorf("there are %d laws", len(laws))
	}
}

// TestNearZero finds the slowest eigenvalue of a ring of 1,000 species that diffuse, with their sum conserved, among
// those near zero: -2D (1 - cos(2π/n)). Those of a line with a source in the middle are among all eigenvalues.
func TestNearZero(t *testing.T) {
	const n, diffusion = 1000, 2000.
	ring := &matrices.Jacobian{}
	var entries []float64
	for i := range n {
		for step, v := range []float64{diffusion, -2 * diffusion, diffusion} {
			ring.Rows, ring.Cols = append(ring.Rows, int32(i)), append(ring.Cols, int32((i+n+step-1)%n))
			entries = append(entries, v)
		}
	}
	sum := Law{Pivot: n - 1}
	for i := range n {
		sum.States, sum.Coefs = append(sum.States, i), append(sum.Coefs, 1)
	}
	s, err := NewPlan(n, ring, []Law{sum}).Spectrum(entries, 0)
	if err != nil || s == nil || s.All {
		t.Fatalf("the eigenvalues are %v, %v", s, err)
	}
	want := -2 * diffusion * (1 - math.Cos(2*math.Pi/n))
	if x := real(s.Slowest()); math.Abs(x-want) > 1e-9*math.Abs(want) || s.Unstable() != 0 {
		t.Errorf("the slowest eigenvalue is %v, want %v", x, want)
	}

	const few = 150
	line := &matrices.Jacobian{}
	entries = entries[:0]
	for i := range few {
		add := func(j int, v float64) {
			if j >= 0 && j < few {
				line.Rows, line.Cols = append(line.Rows, int32(i)), append(line.Cols, int32(j))
				entries = append(entries, v)
			}
		}
		add(i-1, 1.02)
		add(i, -2)
		add(i+1, 0.98)
		if i == few/2 {
			add(i, 1.1)
			add(i+3, -4)
		}
	}
	p := NewPlan(few, line, nil)
	all, err1 := p.Spectrum(entries, few)
	some, err2 := p.Spectrum(entries, 10)
	if err1 != nil || err2 != nil || some == nil || !all.All || some.All {
		t.Fatalf("%v, %v, %v", err1, err2, some)
	}
	for k, v := range some.Values {
		near := math.Inf(1)
		for _, w := range all.Values {
			near = min(near, cmplx.Abs(v-w))
		}
		if near > 1e-6*cmplx.Abs(v) {
			t.Errorf("eigenvalue %d near zero, %v, is none: off by %.2g", k, v, near)
		}
	}
	if all.Unstable() == 0 || all.Unstable() != some.Unstable() {
		t.Errorf("%d eigenvalues grow, %d of those near zero", all.Unstable(), some.Unstable())
	}
}

// TestFlow compares integration with one solution, tangents and cotangents, with and without a conserved sum.
func TestFlow(t *testing.T) {
	const n, lanes, rtol = 12, 3, 1e-8
	sys := system(n, func(y, k []C) {
		for i := range n {
			k[i] = 0
		}
		for i := range n { // a ring of reactions, fast and slow
			c := complex(math.Ldexp(1, i-6), 0)
			flux := c * (y[i] - 0.5*y[(i+1)%n])
			k[i] -= flux
			k[(i+1)%n] += flux
		}
	})
	sum := Law{Pivot: n - 1}
	for i := range n {
		sum.States, sum.Coefs = append(sum.States, i), append(sum.Coefs, 1)
	}
	y := make([]float64, n)
	y[0] = 2
	plan := NewPlan(n, sys.Jacobian(), []Law{sum})
	s, err := Find(t.Context(), sys, plan, 0, y, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	linear, err := plan.NewLinear(s.Matrix)
	if err != nil {
		t.Fatal(err)
	}
	flow, err := plan.NewFlow(s, rtol)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(seeds.Of(t, 1), 2))
	draw := func() []float64 {
		x := make([]float64, n*lanes)
		for i := range x {
			x[i] = random.NormFloat64()
		}
		return x
	}
	rates, before := draw(), draw()
	for l := range lanes { // tangents of rates keep the sum
		total := 0.0
		for i := range n - 1 {
			total += rates[i*lanes+l]
		}
		rates[(n-1)*lanes+l] = -total
	}
	same := func(what string, a, b []float64) {
		t.Helper()
		size := 0.0
		for _, x := range b {
			size = max(size, math.Abs(x))
		}
		for i, x := range a {
			if math.Abs(x-b[i]) > 100*rtol*size {
				t.Errorf("%s %d is %v by integration, %v by solution", what, i, x, b[i])
				return
			}
		}
	}
	one, other := slices.Clone(rates), slices.Clone(rates)
	linear.Push(one, before, lanes)
	if err := flow.Push(other, before, lanes); err != nil {
		t.Fatal(err)
	}
	same("tangent", other, one)
	yb, beforeOne, beforeOther := draw(), draw(), draw()
	one, other = slices.Clone(yb), slices.Clone(yb)
	linear.Pull(one, beforeOne, lanes)
	if err := flow.Pull(other, beforeOther, lanes); err != nil {
		t.Fatal(err)
	}
	same("cotangent before", beforeOther, beforeOne)
	flow.reduce(one, lanes) // they differ by what no rate sees
	same("cotangent of a rate", other, one)
	if flow.Steps < 20 || flow.Steps > 2000 {
		t.Errorf("it took %d steps", flow.Steps)
	}
}
