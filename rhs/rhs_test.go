package rhs_test

import (
	"context"
	"math"
	"os"
	"strings"
	"testing"

	"odes.dev/odes/rhs"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/solvers/record"
)

// vdp returns the oscillator of Van der Pol with params x0, v0, mu, the integral of x², and one objective.
func vdp() *rhs.Problem {
	return &rhs.Problem{
		N: 2, Q: 1, P: 3, M: 2,
		Rates: func(_ float64, y, p, k []float64) {
			k[0] = y[1]
			k[1] = p[2]*(1-y[0]*y[0])*y[1] - y[0]
			k[2] = y[0] * y[0]
		},
		RatesPush: func(_ float64, y, p []float64, _ float64, yd, pd, kd []float64) {
			kd[0] = yd[1]
			kd[1] = (-2*p[2]*y[0]*y[1]-1)*yd[0] + p[2]*(1-y[0]*y[0])*yd[1] + (1-y[0]*y[0])*y[1]*pd[2]
			kd[2] = 2 * y[0] * yd[0]
		},
		RatesPull: func(_ float64, y, p, kb, yb, pb []float64) float64 {
			yb[0] += (-2*p[2]*y[0]*y[1]-1)*kb[1] + 2*y[0]*kb[2]
			yb[1] += kb[0] + p[2]*(1-y[0]*y[0])*kb[1]
			pb[2] += (1 - y[0]*y[0]) * y[1] * kb[1]
			return 0
		},
		Places: rhs.Places{Rows: []int32{0, 1, 1, 2}, Cols: []int32{1, 0, 1, 0}},
		Jacobian: func(_ float64, y, p, j []float64) {
			j[0], j[1], j[2], j[3] = 1, -2*p[2]*y[0]*y[1]-1, p[2]*(1-y[0]*y[0]), 2*y[0]
		},
		JacobianPush: func(_ float64, y, p []float64, _ float64, yd, pd, jd []float64) {
			jd[0] = 0
			jd[1] = -2*p[2]*(y[1]*yd[0]+y[0]*yd[1]) - 2*y[0]*y[1]*pd[2]
			jd[2] = -2*p[2]*y[0]*yd[0] + (1-y[0]*y[0])*pd[2]
			jd[3] = 2 * yd[0]
		},
		JacobianPull: func(_ float64, y, p, jb, yb, pb []float64) float64 {
			yb[0] += -2*p[2]*y[1]*jb[1] - 2*p[2]*y[0]*jb[2] + 2*jb[3]
			yb[1] += -2 * p[2] * y[0] * jb[1]
			pb[2] += -2*y[0]*y[1]*jb[1] + (1-y[0]*y[0])*jb[2]
			return 0
		},
		Values:     func(y, q, p, psi []float64) { psi[0], psi[1] = y[0]*y[1], q[0]+p[2]*p[2] },
		ValuesPush: func(y, _, p, yd, qd, pd, d []float64) { d[0], d[1] = y[1]*yd[0]+y[0]*yd[1], qd[0]+2*p[2]*pd[2] },
		ValuesPull: func(y, _, p, w, yb, qb, pb []float64) {
			yb[0] += y[1] * w[0]
			yb[1] += y[0] * w[0]
			qb[0] += w[1]
			pb[2] += 2 * p[2] * w[1]
		},
	}
}

var at = []rhs.Point{
	{T: 0.3, Y: []float64{1.2, -0.7}, P: []float64{2, 0.1, 1.5}},
	{T: -2, Y: []float64{-0.4, 30}, P: []float64{1, 1, 1e3}},
}

// TestDocument holds that docs/go.md shows the example as it is.
func TestDocument(t *testing.T) {
	document, err := os.ReadFile("../docs/go.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(document), "```go\n")
	shown, _, found := strings.Cut(rest, "```")
	_, body, _ := strings.Cut(string(example), "func Example() {\n")
	body, _, _ = strings.Cut(body, "\t// Output:")
	lines := strings.Split(body, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, "\t")
	}
	if want := strings.Join(lines, "\n"); !found || shown != want {
		t.Errorf("docs/go.md shows\n%s\nthe example is\n%s", shown, want)
	}
}

func TestCheck(t *testing.T) {
	if err := vdp().Check(at...); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		spoil func(b *rhs.Problem)
		want  string
	}{
		"push": {func(b *rhs.Problem) {
			f := b.RatesPush
			b.RatesPush = func(t float64, y, p []float64, td float64, yd, pd, kd []float64) {
				f(t, y, p, td, yd, pd, kd)
				kd[1] += 1e-6 * yd[1]
			}
		}, "RatesPush gives"},
		"time": {func(b *rhs.Problem) {
			f := b.Rates
			b.Rates = func(t float64, y, p, k []float64) { f(t, y, p, k); k[0] += t * t }
		}, "by t; differences say"},
		"pull": {func(b *rhs.Problem) {
			f := b.RatesPull
			b.RatesPull = func(t float64, y, p, kb, yb, pb []float64) float64 {
				tb := f(t, y, p, kb, yb, pb)
				yb[0] += 1e-9 * kb[1]
				return tb
			}
		}, "RatesPull gives"},
		"pull without push": {func(b *rhs.Problem) {
			f := b.RatesPull
			b.RatesPush = nil
			b.RatesPull = func(t float64, y, p, kb, yb, pb []float64) float64 {
				pb[2] += 1e-4 * kb[0]
				return f(t, y, p, kb, yb, pb)
			}
		}, "RatesPull gives"},
		"adds": {func(b *rhs.Problem) {
			f := b.RatesPull
			b.RatesPull = func(t float64, y, p, kb, yb, pb []float64) float64 {
				clear(pb)
				return f(t, y, p, kb, yb, pb)
			}
		}, "RatesPull does not add to the cotangent of p[0]"},
		"writes": {func(b *rhs.Problem) {
			f := b.Rates
			b.Rates = func(t float64, y, p, k []float64) { v := k[2]; f(t, y, p, k); k[2] = v }
		}, "Rates does not write element 2"},
		"state": {func(b *rhs.Problem) {
			f, n := b.Rates, 0.0
			b.Rates = func(t float64, y, p, k []float64) { f(t, y, p, k); n++; k[0] += n }
		}, "other values each time"},
		"argument": {func(b *rhs.Problem) {
			f := b.Rates
			b.Rates = func(t float64, y, p, k []float64) { f(t, y, p, k); y[1] = 0 }
		}, "Rates changes its argument y[1]"},
		"jacobian": {func(b *rhs.Problem) {
			f := b.Jacobian
			b.Jacobian = func(t float64, y, p, j []float64) { f(t, y, p, j); j[0] = 1.5 }
		}, "Jacobian gives 1.5"},
		"place": {func(b *rhs.Problem) {
			b.Places = rhs.Places{Rows: []int32{0, 1, 1, 2}, Cols: []int32{1, 0, 0, 0}}
		}, "for the derivative of rate 1 by y[1], and RatesPush"},
		"outside": {func(b *rhs.Problem) {
			b.Places = rhs.Places{Rows: []int32{0, 1, 1, 3}, Cols: []int32{1, 0, 1, 0}}
		}, "outside"},
		"linear": {func(b *rhs.Problem) {
			f := b.RatesPush
			b.RatesPush = func(t float64, y, p []float64, td float64, yd, pd, kd []float64) {
				f(t, y, p, td, yd, pd, kd)
				kd[0] += yd[0] * yd[1]
			}
		}, "RatesPush is not linear"},
		"linear pull": {func(b *rhs.Problem) {
			f := b.RatesPull
			b.RatesPull = func(t float64, y, p, kb, yb, pb []float64) float64 {
				pb[0] += kb[0] * kb[1]
				return f(t, y, p, kb, yb, pb)
			}
		}, "RatesPull is not linear"},
		"size of weights": {func(b *rhs.Problem) {
			f := b.RatesPull
			b.RatesPull = func(t float64, y, p, kb, yb, pb []float64) float64 {
				return f(t, y, p, []float64{kb[0], math.Abs(kb[1]), kb[2]}, yb, pb)
			}
		}, "RatesPull is not linear"},
		"weights": {func(b *rhs.Problem) {
			f := b.RatesPull
			b.RatesPull = func(t float64, y, p, kb, yb, pb []float64) float64 {
				tb := f(t, y, p, kb, yb, pb)
				kb[0] *= 2
				return tb
			}
		}, "RatesPull changes the weight of element 0"},
		"argument of pull": {func(b *rhs.Problem) {
			f := b.RatesPull
			b.RatesPull = func(t float64, y, p, kb, yb, pb []float64) float64 {
				tb := f(t, y, p, kb, yb, pb)
				p[0] = 0
				return tb
			}
		}, "RatesPull changes its argument p[0]"},
		"second": {func(b *rhs.Problem) {
			f := b.JacobianPull
			b.JacobianPull = func(t float64, y, p, jb, yb, pb []float64) float64 {
				return 1e-3 + f(t, y, p, jb, yb, pb)
			}
		}, "JacobianPull gives"},
		"values": {func(b *rhs.Problem) {
			b.ValuesPull = func(_, _, _, _, _, _, _ []float64) {}
		}, "ValuesPull gives"},
		"start": {func(b *rhs.Problem) {
			b.Start = func(p, y []float64) { y[0], y[1] = p[0], p[1]*p[1] }
			b.StartPush = func(_, pd, yd []float64) { yd[0], yd[1] = pd[0], pd[1] }
		}, "StartPush gives"},
		"not finite": {func(b *rhs.Problem) {
			b.Start = func(p, y []float64) { y[0], y[1] = p[0], math.Log(-p[1]) }
		}, "Start: element 1 is NaN"},
	} {
		b := vdp()
		c.spoil(b)
		if err := b.Check(at...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
	if vdp().Check() == nil {
		t.Error("no points, no error")
	}
}

// TestMethods compares gradients, tangents and differences for methods of all families, with whatever is kept.
func TestMethods(t *testing.T) {
	ctx := context.Background()
	p := []float64{1.5, -0.3, 2}
	for _, m := range methods.All() {
		if m.Can.Has(solvers.SplitRates) {
			continue
		}
		b := vdp()
		opts := rhs.Options{To: 0.8, Method: m.Name, Solver: solvers.Options{Fixed: 0.05}}
		solve := func(p []float64) *rhs.Run {
			run, err := b.Solve(ctx, p, opts)
			if err != nil {
				t.Fatal(m.Name, err)
			}
			return run
		}
		run := solve(p)
		got, err := run.Gradient(ctx)
		if err != nil {
			t.Fatal(m.Name, err)
		}
		tangent, err := run.Tangent(ctx)
		if err != nil {
			t.Fatal(m.Name, err)
		}
		opts.Keep = record.Checkpoint{Kind: record.CheckpointBinomial, RAM: 2, Stages: true}
		again, err := solve(p).Gradient(ctx)
		if err != nil {
			t.Fatal(m.Name, err)
		}
		for i := range got {
			for j := range p {
				const h = 1e-5
				up, down := append([]float64(nil), p...), append([]float64(nil), p...)
				up[j] += h
				down[j] -= h
				want := (solve(up).Values[i] - solve(down).Values[i]) / (2 * h)
				if math.Abs(got[i][j]-want) > 1e-7*(1+math.Abs(want)) {
					t.Errorf("%s: derivative %d of %d is %v, differences say %v", m.Name, j, i, got[i][j], want)
				}
				if math.Abs(got[i][j]-tangent[i][j]) > 1e-11*(1+math.Abs(want)) {
					t.Errorf("%s: derivative %d of %d is %v, the tangent says %v", m.Name, j, i, got[i][j],
						tangent[i][j])
				}
				if got[i][j] != again[i][j] {
					t.Errorf("%s: derivative %d of %d is %v from checkpoints, want %v", m.Name, j, i, again[i][j],
						got[i][j])
				}
			}
		}
	}
}

// TestLacks holds that a function that is missing is named.
func TestLacks(t *testing.T) {
	ctx := context.Background()
	p := []float64{1.5, -0.3, 2}
	for _, c := range []struct {
		method string
		spoil  func(b *rhs.Problem)
		want   string
	}{
		{"dopri5", func(b *rhs.Problem) { b.RatesPull = nil }, "Problem.RatesPull"},
		{"dopri5", func(b *rhs.Problem) { b.ValuesPull = nil }, "Problem.ValuesPull"},
		{"dopri5", func(b *rhs.Problem) { b.Rates = nil }, "needs Rates"},
		{"dopri5", func(b *rhs.Problem) { b.P = 4 }, "4 params"},
		{"rodas5p", func(b *rhs.Problem) { b.JacobianPull = nil }, "Problem.JacobianPull"},
		{"rodas5p", func(b *rhs.Problem) { b.Jacobian = nil }, "Problem.Jacobian is nil"},
		{"none", func(*rhs.Problem) {}, "no method none"},
	} {
		b := vdp()
		c.spoil(b)
		run, err := b.Solve(ctx, p, rhs.Options{To: 1, Method: c.method})
		if err == nil {
			_, err = run.Gradient(ctx)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.want, err)
		}
	}
	b := vdp() // methods that need no derivatives of the Jacobian do without
	b.JacobianPush, b.JacobianPull = nil, nil
	run, err := b.Solve(ctx, p, rhs.Options{To: 1, Method: "trbdf2"})
	if err == nil {
		_, err = run.Gradient(ctx)
	}
	if err != nil {
		t.Error(err)
	}
}
