package methods

import (
	"math"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/tableau"
)

// run integrates a toy over [0, 1] in n equal steps and returns y, q and the
// gradient of Σ y + Σ q with respect to y₀, p and t₀.
func run(m *solvers.Spec, f *toy, n int) (y, grad []float64) {
	g := f.with(1)
	r := m.New(f.size, 1)
	y = append([]float64(nil), f.y0...)
	q := make([]float64, f.size.Q)
	var steps []*solvers.Step
	for i := range n {
		s := solvers.NewStep(r.Info(), f.size)
		s.T, s.T1, s.H = float64(i)/float64(n), float64(i+1)/float64(n), 1/float64(n)
		copy(s.Y0, y)
		r.Step(g, s, false)
		copy(y, s.Y1)
		for j, v := range s.DQ {
			q[j] += v
		}
		steps = append(steps, s)
	}
	c := newCotangent(f.size, 1)
	for i := range c.Y1 {
		c.Y1[i] = 1
	}
	for i := range c.DQ {
		c.DQ[i] = 1
	}
	for i := n - 1; i >= 0; i-- {
		r.Pull(g, steps[i], c)
		copy(c.Y1, c.Y0)
		copy(c.T1, c.T0)
	}
	grad = append(append([]float64(nil), c.Y0...), g.pb...)
	return append(y, q...), append(grad, c.T0[0])
}

func distance(a, b []float64) float64 {
	d := 0.0
	for i := range a {
		d = max(d, math.Abs(a[i]-b[i]))
	}
	return d
}

// slope returns the power of the step with which the errors vanish that err
// gives for ever smaller steps: the mean slope from the first error below start
// to the last above floor. The orders are proved elsewhere, so an error with a
// tiny leading term may seem better here, but nothing may seem worse.
func slope(start, floor float64, err func(k int) (h, e float64)) float64 {
	var h0, e0, h1, e1 float64
	for k := range 60 {
		h, e := err(k)
		if !(e > floor) {
			break
		}
		if e0 == 0 && e < start {
			h0, e0 = h, e
		}
		h1, e1 = h, e
	}
	return math.Log(e0/e1) / math.Log(h0/h1)
}

// asymptotic returns the errors between which the order of a method is looked for on these toys. Errors of radau9 begin
// at 1e-7 with one step, where they vanish more slowly yet.
func asymptotic(t *testing.T, m *solvers.Spec) (start, floor float64) {
	if m.Name == "radau9" {
		return 1e-11, 2e-15
	}
	return 1e-2, 1e-14 * growthOf(t, m)
}

// TestConvergence observes the order of the solution and of its adjoint.
func TestConvergence(t *testing.T) {
	f := toys["forced"]
	y, g := run(lookup(t, "vern9"), f, 64)
	grid := []int{1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256}
	for _, m := range testedMethods() {
		t.Run(m.Name, func(t *testing.T) {
			if m.Order > 9 { // four steps leave rounding errors
				a, b := run(m, f, 4)
				if off := max(distance(a, y), distance(b, g)); !(off < 1e-13) {
					t.Errorf("four steps are off by %.2g", off)
				}
				return
			}
			start, floor := asymptotic(t, m)
			for _, what := range []string{"solution", "adjoint"} {
				got := slope(start, floor, func(k int) (h, e float64) {
					if k >= len(grid) {
						return 0, 0
					}
					a, b := run(m, f, grid[k])
					if what == "adjoint" {
						return 1 / float64(grid[k]), distance(b, g)
					}
					return 1 / float64(grid[k]), distance(a, y)
				})
				if !(got > float64(m.Order)-0.35) {
					t.Errorf("order of the %s is %v", what, got)
				}
			}
		})
	}
}

// TestStageSums observes the order of integrals by the weights of steps.
func TestStageSums(t *testing.T) {
	f := toys["forced"]
	y, _ := run(lookup(t, "vern9"), f, 64)
	grid := []int{2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256}
	for _, m := range testedMethods() {
		if !m.Can.Has(solvers.StageSums) {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			start, floor := asymptotic(t, m)
			after := func(n int) float64 {
				r := m.New(f.size, 0)
				s := solvers.NewStep(r.Info(), f.size)
				copy(s.Y1, f.y0)
				sum, rates := make([]float64, f.size.Q), make([]float64, f.size.N+f.size.Q)
				for i := range n {
					s.T, s.T1, s.H = float64(i)/float64(n), float64(i+1)/float64(n), 1/float64(n)
					copy(s.Y0, s.Y1)
					r.Step(f, s, false)
					r.(solvers.Staged).EachStage(s, func(t, weight float64, y []float64) {
						f.Eval(t, y, rates)
						for j := range sum {
							sum[j] += weight * rates[f.size.N+j]
						}
					})
				}
				return distance(sum, y[f.size.N:])
			}
			if m.Order > 9 { // four steps leave rounding errors
				if off := after(4); !(off < 1e-13) {
					t.Errorf("four steps are off by %.2g", off)
				}
				return
			}
			got := slope(start, floor, func(k int) (h, e float64) {
				if k >= len(grid) {
					return 0, 0
				}
				return 1 / float64(grid[k]), after(grid[k])
			})
			if !(got > float64(m.Order)-0.35) {
				t.Errorf("order of integrals is %v", got)
			}
		})
	}
}

// TestErrorEstimate observes the power of h with which the estimate vanishes.
func TestErrorEstimate(t *testing.T) {
	f := toys["forced"]
	for _, m := range testedMethods() {
		if m.Embedded == 0 {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			r := m.New(f.size, 0)
			s := solvers.NewStep(r.Info(), f.size)
			estimate := func(h float64) float64 {
				s.T, s.H, s.T1 = 0.2, h, 0.2+h
				copy(s.Y0, f.y0)
				r.Step(f, s, false)
				e := make([]float64, f.size.N+f.size.Q)
				r.Error(s, e)
				return distance(e, make([]float64, len(e)))
			}
			p := float64(1 + min(m.Order, m.Embedded))
			start := 1e-3
			if m.Order > 6 {
				start = 1e-9
			}
			got := slope(start, 3e-17*growthOf(t, m), func(k int) (h, e float64) {
				h = math.Pow(0.75, float64(k))
				return h, estimate(h)
			})
			if !(got > p-0.6) {
				t.Errorf("estimate vanishes with the power %v of h, not %v", got, p)
			}
		})
	}
}

// TestInterpolate checks both ends to the bit, the number of evaluations, and
// observes the order inside the step. One toy must show it: on another the leading term may nearly vanish.
func TestInterpolate(t *testing.T) {
	for _, m := range testedMethods() {
		t.Run(m.Name, func(t *testing.T) {
			on := func(f *toy, h float64) float64 {
				truth := lookup(t, "vern9").New(f.size, 0)
				y := make([]float64, f.size.N)
				g := f.with(1)
				r := m.New(f.size, 0)
				s := solvers.NewStep(r.Info(), f.size)
				s.T, s.H, s.T1 = 0.2, h, 0.2+h
				copy(s.Y0, f.y0)
				r.Step(g, s, false)
				before := g.evals
				worst := 0.0
				for _, theta := range []float64{0.15, 0.37, 0.61, 0.88} {
					r.Interpolate(g, s, theta, y)
					x := solvers.NewStep(truth.Info(), f.size)
					copy(x.Y1, f.y0)
					for i := range 4 {
						copy(x.Y0, x.Y1)
						x.T, x.H = 0.2+float64(i)/4*theta*h, theta*h/4
						x.T1 = x.T + x.H
						truth.Step(f, x, false)
					}
					worst = max(worst, distance(y, x.Y1))
				}
				if got := g.evals - before; got != r.Info().DenseStages {
					t.Errorf("%d evaluations for the interpolant, want %d", got, r.Info().DenseStages)
				}
				if end, w := r.Info().End, f.size.N+f.size.Q; end >= 0 {
					k := make([]float64, w)
					f.Eval(s.T1, s.Y1, k)
					solvertest.Same(t, "slope at the end", s.K[end*w:(end+1)*w], k)
				} else if r.Info().FSAL {
					t.Error("no row for the slope at the end")
				}
				r.Interpolate(g, s, 0, y)
				solvertest.Same(t, "left end", y, s.Y0)
				r.Interpolate(g, s, 1, y)
				solvertest.Same(t, "right end", y, s.Y1)
				return worst
			}
			large := 1.0
			if tab := tableOf(m); tab != nil {
				x := exact(t, tab)
				large = amplification(&tableau.Coefficients{A: append(x.DenseB, x.DenseA...)})
			}
			// of what makes the first step
			p := float64(1 + solvers.Members(m.New(solvers.Size{}, 0))[0].Info().DenseOrder)
			best := 0.0
			for _, f := range toys {
				best = max(best, slope(1e-4, 1e-15*large, func(k int) (h, e float64) {
					h = math.Pow(0.75, float64(k))
					return h, on(f, h)
				}))
			}
			// The errors of radau13 are rounding where they would vanish as they should.
			if !(best > p-0.35-float64(map[string]float64{"radau13": 0.1}[m.Name])) {
				t.Errorf("the error vanishes with the power %v of h, not %v", best, p)
			}
		})
	}
}
