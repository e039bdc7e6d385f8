package steady

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/residue"
	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
)

type C = solvertest.C

// system returns a system without events.
func system(n int, field func(y, k []C)) *solvertest.Hybrid {
	times := []solvertest.Instant{
		{Instant: solvers.Instant{Kind: solvers.InstantStart, Fixed: true}, At: func(*solvertest.Env) C { return 0 }},
		{Instant: solvers.Instant{Kind: solvers.InstantEnd, Fixed: true}, At: func(*solvertest.Env) C { return 1 }},
	}
	h := &solvertest.Hybrid{
		N: n, Times: times, Init: func(C, *solvertest.Env, []C, []C) {},
		Field: func(_ C, y []C, _ *solvertest.Env, k []C) { field(y, k) },
	}
	return h.With(0)
}

func find(t *testing.T, sys *solvertest.Hybrid, laws []Law, y []float64, o Options) (*State, error) {
	t.Helper()
	return Find(context.Background(), sys, NewPlan(sys.N, sys.Jacobian(), laws), 0, y, nil, o)
}

// TestWays finds the steady state of a cycle with a conserved total, of known value, in each way.
func TestWays(t *testing.T) {
	const k1, k2, k3 = 0.7, 1.3, 0.5
	sys := system(3, func(y, k []C) {
		k[0], k[1], k[2] = k3*y[2]-k1*y[0], k1*y[0]-k2*y[1]*y[2], k2*y[1]*y[2]-k3*y[2]
	})
	laws := []Law{{States: []int{0, 1, 2}, Coefs: []float64{1, 1, 1}, Pivot: 2}}
	want := []float64{k3 * (2.6 - k3/k2) / (k1 + k3), k3 / k2, k1 * (2.6 - k3/k2) / (k1 + k3)}
	for _, way := range []Way{Auto, Newton, Run} {
		s, err := find(t, sys, laws, []float64{2, 0.5, 0.1}, Options{Way: way})
		if err != nil {
			t.Errorf("way %d: %v", way, err)
			continue
		}
		limit := 1e-14
		if way == Run {
			limit = 1e-8
		}
		for i, y := range s.Y {
			if math.Abs(y-want[i]) > limit {
				t.Errorf("way %d: state %d is %v, want %v", way, i, y, want[i])
			}
		}
		if r := real(s.Slowest) + 1.19; way != Run && math.Abs(r) > 1e-12 {
			t.Errorf("way %d: the slowest eigenvalue is %v", way, s.Slowest)
		}
		t.Logf("way %d: %d steps, %d of Newton", way, s.Steps, s.Newton)
	}
}

// TestBranches starts on both sides of a bistable switch, and on its unstable state.
func TestBranches(t *testing.T) {
	sys := system(1, func(y, k []C) { k[0] = y[0] * (1 - y[0]) * (y[0] - 0.3) })
	for y, want := range map[float64]float64{0.29: 0, 0.31: 1, 0.3001: 1, 1e-3: 0, 5: 1} {
		if s, err := find(t, sys, nil, []float64{y}, Options{}); err != nil || math.Abs(s.Y[0]-want) > 1e-300 {
			t.Errorf("from %v: %v, %v", y, s, err)
		}
	}
	fails(t, sys, []float64{0.3}, Unstable)
}

// fails requires that there is no steady state from y, for a certain reason.
func fails(t *testing.T, sys *solvertest.Hybrid, y []float64, fault Fault) *Error {
	t.Helper()
	s, err := find(t, sys, nil, y, Options{})
	var e *Error
	if !errors.As(err, &e) || e.Fault != fault {
		t.Fatalf("the steady state is %v, %v", s, err)
	}
	t.Log(err)
	return e
}

// TestNone wants to know why there is no steady state.
func TestNone(t *testing.T) {
	cycle := system(2, func(y, k []C) {
		r := 1 - y[0]*y[0] - y[1]*y[1]
		k[0], k[1] = 3*y[1]+y[0]*r, -3*y[0]+y[1]*r
	})
	if e := fails(t, cycle, []float64{0.1, 0}, Oscillating); math.Abs(e.Period-2*math.Pi/3) > 1e-2 {
		t.Errorf("the period is %v", e.Period)
	}
	centre := system(2, func(y, k []C) { k[0], k[1] = y[1], -y[0] })
	fails(t, centre, []float64{1, 0}, Oscillating)
	fails(t, centre, []float64{0, 0}, Marginal)
	growth := system(1, func(y, k []C) { k[0] = 0.2 * y[0] })
	if e := fails(t, growth, []float64{1}, Growing); math.Abs(e.Rate-0.2) > 1e-3 || e.Linear {
		t.Errorf("the rate is %v", e.Rate)
	}
	fill := system(1, func(_, k []C) { k[0] = 0.25 })
	if e := fails(t, fill, []float64{1}, Growing); math.Abs(e.Rate-0.25) > 1e-3 || !e.Linear {
		t.Errorf("the rate is %v", e.Rate)
	}
	explosion := system(1, func(y, k []C) { k[0] = y[0] * y[0] })
	if e := fails(t, explosion, []float64{1}, Exploding); math.Abs(e.T-1) > 1e-3 {
		t.Errorf("it explodes at %v", e.T)
	}
	// What E destroys before it is gone is left: any S is a steady state.
	empties := system(2, func(y, k []C) { k[0], k[1] = -y[0]*y[1], -y[1] })
	fails(t, empties, []float64{1, 1}, Marginal)
	fails(t, system(1, func(y, k []C) { k[0] = -y[0] * y[0] }), []float64{1}, Marginal)
}

// TestDamped has a state that spirals in so slowly that it could be taken for a cycle.
func TestDamped(t *testing.T) {
	sys := system(2, func(y, k []C) { k[0], k[1] = y[1]-0.01*(y[0]-1), -(y[0]-1)-0.01*y[1] })
	s, err := find(t, sys, nil, []float64{3, 0}, Options{})
	if err != nil || s.Y[0] != 1 || s.Y[1] != 0 {
		t.Errorf("the steady state is %v, %v", s, err)
	}
}

// TestNegative has a root with negative values, to which Newton's method leads.
func TestNegative(t *testing.T) {
	sys := system(1, func(y, k []C) { k[0] = (2 - y[0]) * (y[0] + 1) })
	_, err := find(t, sys, nil, []float64{0.25}, Options{Way: Newton})
	var e *Error
	if !errors.As(err, &e) || e.Fault != Negative && e.Fault != Unstable {
		t.Errorf("the error is %v", err)
	}
	if s, err := find(t, sys, nil, []float64{0.25}, Options{}); err != nil || s.Y[0] != 2 {
		t.Errorf("the steady state is %v, %v", s, err)
	}
}

// TestLaws finds the laws of reactions from their rates alone.
func TestLaws(t *testing.T) {
	// E + S <-> ES -> E + P, and 2 A <-> B, beside an F that flows in.
	sample := func(k int, f []residue.Number) {
		x := func(i int) residue.Number { return residue.Hash(residue.Number(k), residue.Number(i)) }
		bind := residue.Sub(residue.Mul(x(0), residue.Mul(x(1), x(2))), residue.Mul(x(3), x(4)))
		turn := residue.Mul(x(5), x(4))
		pair := residue.Sub(residue.Mul(x(6), residue.Mul(x(7), x(7))), x(8))
		f[0] = residue.Sub(turn, bind) // E
		f[1] = residue.Neg(bind)       // S
		f[2] = residue.Sub(bind, turn) // ES
		f[3] = turn                    // P
		f[4] = residue.Neg(residue.Add(pair, pair))
		f[5] = pair
		f[6] = residue.Sub(x(10), x(11))
	}
	laws := Readable(lawsOf(t, Rates{N: 7, Sample: sample}))
	got := map[string]bool{}
	for _, l := range laws {
		got[text(l)] = true
	}
	for _, want := range []string{"1·0 1·2", "1·1 1·2 1·3", "1·4 2·5"} {
		if !got[want] {
			t.Errorf("%q is missing among %v", want, got)
		}
	}
	if len(laws) != 3 {
		t.Errorf("there are %d laws", len(laws))
	}

	// S -> P by a complex C at rest: S' + P' is the equation of C, a million times as it is written.
	laws = lawsOf(t, Rates{N: 3, Unknowns: []int32{1}, Sample: func(k int, f []residue.Number) {
		x := func(i int) residue.Number { return residue.Hash(residue.Number(k), residue.Number(i)) }
		f[0], f[2] = residue.Neg(x(0)), x(1)               // S, P
		f[1] = residue.Mul(residue.Sub(x(1), x(0)), 1<<20) // C
	}})
	if len(laws) != 1 || text(laws[0]) != "1·0 1·2" || laws[0].Pivot == 1 {
		t.Errorf("by an equation there are %v", laws)
	}
}

func text(l Law) (s string) {
	for k, i := range l.States {
		if k > 0 {
			s += " "
		}
		s += string(rune('0'+int(l.Coefs[k]))) + "·" + string(rune('0'+i))
	}
	return s
}

// TestPushPull compares derivatives of a steady state with those of its formula, and Pull with the transpose of Push.
func TestPushPull(t *testing.T) {
	sys := system(3, func(y, k []C) {
		k[0], k[1], k[2] = 0.5*y[2]-0.7*y[0], 0.7*y[0]-1.3*y[1]*y[2], 1.3*y[1]*y[2]-0.5*y[2]
	})
	plan := NewPlan(3, sys.Jacobian(), []Law{{States: []int{0, 1, 2}, Coefs: []float64{1, 1, 1}, Pivot: 0}})
	s, err := Find(context.Background(), sys, plan, 0, []float64{2, 0.5, 0.1}, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	lin, err := plan.NewLinear(s.Matrix)
	if err != nil {
		t.Fatal(err)
	}
	// By k1 and the first initial value.
	fd, yd := []float64{-s.Y[0], 0, s.Y[0], 0, 0, 0}, []float64{0, 1, 0, 0, 0, 0}
	lin.Push(fd, yd, 2)
	want := []float64{-0.76923076923076923, 5.0 / 12, 0, 0, 0.76923076923076923, 7.0 / 12}
	for i, x := range fd {
		if math.Abs(x-want[i]) > 1e-14 {
			t.Errorf("derivative %d is %v, want %v", i, x, want[i])
		}
	}
	yb, before := []float64{0.3, -2, 0.7}, make([]float64, 3)
	w := slices.Clone(yb)
	lin.Pull(yb, before, 1)
	for lane := range 2 {
		forth, back := 0.0, 0.0
		for i := range 3 {
			forth += w[i] * fd[i*2+lane]
			back += yb[i]*[]float64{-s.Y[0], 0, s.Y[0], 0, 0, 0}[i*2+lane] + before[i]*yd[i*2+lane]
		}
		if math.Abs(forth-back) > 1e-14 {
			t.Errorf("lane %d: %v forwards, %v backwards", lane, forth, back)
		}
	}
}
