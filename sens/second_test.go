package sens_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
)

// logistic is x' = k·x·(1 - x) from x0, with x(T)² as the objective, and second derivatives by hand.
type logistic struct {
	*closures
	bars solvers.Dual // [2] cotangents of k and x0
}

func logisticProblem(k, x0, tf float64) *problem {
	p := growth(k, x0, tf)
	p.Field = func(_ C, y []C, e *env, k []C) { k[0] = e.P[0] * y[0] * (1 - y[0]) }
	p.psi = func(f, _, psi []C) { psi[0] = f[0] * f[0] }
	return p
}

func (s *logistic) Begin()                                                               { s.bars.Clear() }
func (s *logistic) Leave(solvers.Dual)                                                   {}
func (s *logistic) Finish(pb solvers.Dual)                                               { pb.Copy(s.bars) }
func (s *logistic) GuardPullPush(_ int, _, _, _, _, _ solvers.Dual)                      {}
func (s *logistic) InstantPullPush(int, solvers.Dual)                                    {}
func (s *logistic) AffectPullPush(_ solvers.Firing, _, _, _, _, _, _, _, _ solvers.Dual) {}

func (s *logistic) PullPush(_, y, kb, yb, tb solvers.Dual) {
	l, k, x, w := s.Lanes(), s.Params[0], y.X[0], kb.X[0]
	tb.Clear()
	yb.X[0] = k * (1 - 2*x) * w
	s.bars.X[0] += x * (1 - x) * w
	for j := range l {
		kd, xd, wd := s.Tangents()[j], y.D[j], kb.D[j]
		yb.D[j] = kd*(1-2*x)*w - 2*k*xd*w + k*(1-2*x)*wd
		s.bars.D[j] += (1-2*x)*xd*w + x*(1-x)*wd
	}
}

func (s *logistic) StartPullPush(_, yb, _, _ solvers.Dual) {
	s.bars.X[1] += yb.X[0]
	for j := range s.Lanes() {
		s.bars.D[s.Lanes()+j] += yb.D[j]
	}
}

func (s *logistic) ValuesPullPush(f solvers.Dual, weights []float64, fb solvers.Dual) {
	fb.X[0] = 2 * f.X[0] * weights[0]
	for j := range s.Lanes() {
		fb.D[j] = 2 * f.D[j] * weights[0]
	}
}

func (s *logistic) ObservePullPush(pt *sens.Point, _ *sens.PointTangent,
	fb, _, _, ypb, _, _ solvers.Dual,
) {
	if pt.Site.Kind == sens.SiteFinal {
		ypb.Add(fb)
	}
}

// TestSecondKept: products of a Hessian with one vector take few more steps again than a gradient does on its way back
// and a walk forwards does, since the way back may use up what is kept of the run.
func TestSecondKept(t *testing.T) {
	p := logisticProblem(1.3, 0.2, 2)
	p.opts.Fixed = 0.02
	for _, ram := range []int{4, 10} {
		keep := record.Checkpoint{Kind: record.CheckpointBinomial, RAM: ram}
		tr := p.kept(t, "rk4", keep, 0)
		if err := p.adjoint(t, "rk4", 1).Gradient(t.Context(), tr, sens.Options{}, &sens.Result{}); err != nil {
			t.Fatal(err)
		}
		again := tr.Replayed()
		tr = p.kept(t, "rk4", keep, 0)
		second := &sens.Second{New: func() sens.SecondWorker {
			s := &logistic{p.with(1), solvers.NewDual(2, 1)}
			return sens.SecondWorker{System: s, Objectives: s, Method: p.method(t, "rk4", 1)}
		}}
		dirs := sens.Directions{Count: 1, Write: func(_ int, dp, _ []float64) { dp[0] = 1 }}
		if err := second.Products(t.Context(), tr, dirs, &sens.Products{}); err != nil {
			t.Fatal(err)
		}
		if got := tr.Replayed(); got > again+tr.Steps()*3/2 {
			t.Errorf("%d states in memory: %d of %d steps were made again, %d by a gradient", ram, got, tr.Steps(),
				again)
		}
	}
}

// TestSecond compares products of a Hessian with vectors, in any number of lanes and goroutines and however the run is
// kept, with the closed form.
//
//odes:goroutines
func TestSecond(t *testing.T) {
	const k, x0, tf = 1.3, 0.2, 2.0
	u := (1/x0 - 1) * math.Exp(-k*tf)
	decay := math.Exp(-k * tf)
	x, xu, xuu := 1/(1+u), -1/((1+u)*(1+u)), 2/((1+u)*(1+u)*(1+u))
	ua := []float64{-tf * u, -decay / (x0 * x0)}
	uab := [2][2]float64{{tf * tf * u, tf * decay / (x0 * x0)}, {tf * decay / (x0 * x0), 2 * decay / (x0 * x0 * x0)}}
	hessian := func(a, b int) float64 {
		return 2*xu*ua[a]*xu*ua[b] + 2*x*(xuu*ua[a]*ua[b]+xu*uab[a][b])
	}
	directions := [][2]float64{{1, 0}, {0, 1}, {2, -3}}
	for _, name := range []string{"dopri5", "dop853", "bs3", "rk4"} {
		p, tol := logisticProblem(k, x0, tf), 1e-8
		p.opts = solvers.Options{RTol: 1e-11, ATol: 1e-12}
		if name == "rk4" {
			p.opts = solvers.Options{Fixed: 0.005}
		}
		tr, _ := p.run(t, name)
		var first []float64
		for _, c := range []struct{ lanes, threads int }{{1, 1}, {2, 1}, {3, 2}, {1, 3}} {
			told := []float64{0}
			second := &sens.Second{
				Threads: c.threads, Tell: func(done float64, _ int) { told = append(told, done) },
				New: func() sens.SecondWorker {
					o := p.with(c.lanes)
					s := &logistic{o, solvers.NewDual(2, c.lanes)}
					return sens.SecondWorker{System: s, Objectives: s, Method: p.method(t, name, c.lanes)}
				},
			}
			dirs := sens.Directions{Count: len(directions), Write: func(n int, dp, _ []float64) {
				copy(dp, directions[n][:])
			}}
			var out, sums sens.Products
			if err := second.Products(context.Background(), tr, dirs, &out); err != nil {
				t.Fatal(err)
			}
			second.Tell = nil
			// sums of objectives, by the same workers
			if err := second.OfSums(context.Background(), tr, [][]float64{{0}, {-4}}, dirs, &sums); err != nil {
				t.Fatal(err)
			}
			for i, x := range append(out.HP, out.DP...) {
				of, at := sums.HP, i
				if at >= len(out.HP) {
					of, at = sums.DP, at-len(out.HP)
				}
				if half := len(of) / 2; of[at] != 0 || of[half+at] != -4*x {
					t.Errorf("%s: sums have %g and %g, not 0 and %g", name, of[at], of[half+at], -4*x)
				}
			}
			for a := range 2 {
				near(t, name+": gradient", out.DP[a], 2*x*xu*ua[a], tol)
				for n, v := range directions {
					near(t, name+": product", out.HP[2*n+a], hessian(a, 0)*v[0]+hessian(a, 1)*v[1], 10*tol)
				}
			}
			if first == nil {
				first = out.HP
			}
			for i := range first {
				if out.HP[i] != first[i] {
					t.Errorf("%s, %d lanes, %d goroutines: %v, alone %v", name, c.lanes, c.threads, out.HP[i], first[i])
				}
			}
			if !slices.IsSorted(told) || c.threads == 1 && told[len(told)-1] != 1 {
				t.Errorf("told %v of the work", told)
			}
			for i, x := range told[1:] { // on the way forwards and on that back
				if name == "rk4" && c.threads == 1 && x-told[i] > 0.1 {
					t.Errorf("told %v after %v of the work", x, told[i])
				}
			}
			second.Memory = sens.PathBytes(tr, c.lanes) - 1
			var little *record.MemoryError
			if err := second.Products(context.Background(), tr, dirs, &out); !errors.As(err, &little) {
				t.Errorf("with a byte too little: %v", err)
			}
		}
	}
}
