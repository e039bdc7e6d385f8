package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/simd"
)

// BenchmarkGradient times forward and adjoint of the problems, one thread.
func BenchmarkGradient(b *testing.B) {
	for _, c := range []struct {
		name, problem string
		n             int
		tol           float64
		lanes         int
	}{
		{"glv10", "glv", 10, 1e-7, 10},
		{"glv55", "glv", 55, 1e-7, 8},
		{"glv100", "glv", 100, 1e-7, 8},
		{"glv200", "glv", 200, 1e-7, 8},
		{"vdp", "vdp", 2, 1e-6, 2},
		{"grayscott100", "grayscott", 100, 0, 1},
		{"network200", "network", 200, 0, 8},
	} {
		b.Run(fmt.Sprintf("model=%s/backend=%s/lanes=%d", c.name, simd.Backend(), c.lanes), func(b *testing.B) {
			p, opts, err := named(c.problem, c.n, c.tol)
			if err != nil {
				b.Fatal(err)
			}
			m, err := p.parse(c.problem)
			if err != nil {
				b.Fatal(err)
			}
			opts.Threads, opts.Lanes = 1, c.lanes
			r, err := m.Prepare(opts)
			if err != nil {
				b.Fatal(err)
			}
			var forward, adjoint float64
			b.ReportAllocs()
			for b.Loop() {
				s, err := r.Sensitivities(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				forward += s.Stats.Seconds.Forward
				adjoint += s.Stats.Seconds.Adjoint
			}
			b.ReportMetric(1e9*forward/float64(b.N), "forward-ns/op")
			b.ReportMetric(1e9*adjoint/float64(b.N), "adjoint-ns/op")
		})
	}
}

// TestProblems runs small versions of all problems.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
		tol  float64
		sum  float64 // norm of the derivatives by params, from another program; 0: unknown
		near float64
	}{
		{"glv", 10, 1e-7, 2.0924669, 1e-5},
		{"glv-grow", 10, 1e-7, 2.0924669, 1e-5},
		{"glv-tight", 10, 1e-12, 2.0924669453, 1e-9},
		{"glv-fixed", 10, 0.05, 2.0924669453, 1e-6},
		{"vdp", 2, 1e-6, 1.3001429e-06, 1e-3},
		{"grayscott", 100, 0, 88.2971052214834, 1e-12},
		{"grayscott", 16, 0, 0, 0},
		{"grayscott-cn", 64, 0, 56.5092291972523, 1e-10},
		{"network", 20, 0, 0, 0},
	} {
		p, opts, err := named(c.name, c.n, c.tol)
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.parse(c.name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(context.Background(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if got := norm(s); !(got > 0) || c.sum != 0 && math.Abs(got/c.sum-1) > c.near {
			t.Errorf("%s, n = %d: the norm of the gradient is %.12g, not %.12g", c.name, c.n, got, c.sum)
		}
	}
}

// TestNetworkProgram holds that the C program is of the same network: one rate, two transposes for each reaction.
func TestNetworkProgram(t *testing.T) {
	net := newNetwork(20, 50)
	text := string(net.program())
	if got := strings.Count(text, "const double v"); got != 50 {
		t.Errorf("%d rates, not 50", got)
	}
	if got := strings.Count(text, "const double g ="); got != 2*50 {
		t.Errorf("%d transposes of rates, not 100", got)
	}
	var m *odes.Model
	m, err := net.problem("method = dopri5").parse("network")
	if err != nil {
		t.Fatal(err)
	}
	if info := m.Info(); info.States != 20 {
		t.Errorf("%d states, not 20", info.States)
	}
}

// TestFromPython: what another program wrote stays where the page is written anew.
func TestFromPython(t *testing.T) {
	const section = "\n## From Python\n\nnumbers\n"
	if got := string(kept([]byte("# Benchmarks\n\n## One\n" + section))); got != section {
		t.Errorf("%q", got)
	}
	if got := kept([]byte("# Benchmarks\n")); got != nil {
		t.Errorf("%q", got)
	}
}
