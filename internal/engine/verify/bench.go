package verify

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/run"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/vm"
)

// Bench measures runs of a model. It computes whole gradients in this process, runs times after a warm-up. At
// the start of the run it measures single evaluations of the right-hand side and of its transpose (for
// all lanes together), and a single step and its transpose.
func Bench(ctx context.Context, m *run.Model, runs int, setup run.Setup) (*result.Bench, error) {
	var forward, adjoint, gradient []float64
	b := &result.Bench{Runs: max(runs, 1)}
	setup = setup.With((*settings.Settings).Unchecked) // a gradient alone is measured
	tell := setup.Progress
	var measuring atomic.Bool
	if tell != nil {
		setup.Progress = func(at result.Progress) {
			if !measuring.Load() { // reports would disturb it
				tell(at)
			}
		}
	}
	r, err := m.PrepareWhile(ctx, setup)
	if err != nil {
		return nil, err
	}
	for i := range b.Runs + 1 { // the first one touches fresh memory, and does not count
		if tell != nil && i > 0 {
			measuring.Store(true)
			tell(result.Progress{Phase: result.PhaseRuns, Steps: i - 1, Done: float64(i) / float64(b.Runs+1)})
		}
		s, err := r.Sensitivities(ctx)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			b.Settings, b.Steps, b.Checksum = s.Settings, s.Stats.Steps, checksum(s)
			b.Evaluations, b.Transposes, b.TransposedSteps = s.Stats.F, s.Stats.VJP, r.Swept()
			b.RecomputedSteps, b.PeakTrajectoryBytes = s.Stats.RecomputedSteps, s.Stats.PeakTrajectoryBytes
			continue
		}
		f, a := s.Stats.Seconds.Forward, s.Stats.Seconds.Adjoint
		forward, adjoint, gradient = append(forward, f), append(adjoint, a), append(gradient, f+a)
	}
	b.Forward, b.Adjoint, b.Gradient = statistics(forward), statistics(adjoint), statistics(gradient)
	return b, benchPrograms(m, b, setup)
}

func statistics(x []float64) result.BenchTimes {
	slices.Sort(x)
	n := len(x)
	return result.BenchTimes{Median: (x[(n-1)/2] + x[n/2]) / 2, Min: x[0]}
}

func checksum(s *result.Sensitivities) float64 {
	sum := 0.0
	for i := range s.Values {
		for _, v := range s.Variables {
			if v.Initial {
				continue
			}
			for _, d := range s.Derivative(i, v) {
				sum += float64(d * d)
			}
		}
	}
	return math.Sqrt(sum)
}

// benchPrograms measures the right-hand side, a step, and their transposes alone. Steps that read the past need the
// record of a run, and are not measured.
func benchPrograms(m *run.Model, b *result.Bench, setup run.Setup) error {
	r, err := m.Begin(setup)
	if err != nil {
		return err
	}
	var ignored diag.List // told by the runs before
	variables, _ := m.Variables(r.Settings().Wrt, &ignored)
	one, err := r.Problem().Kit(1, compiled.Values, false)
	if err != nil {
		return err
	}
	w := r.Problem().Worker(one)
	times, y := w.AtStart()
	t, size, late := times[solvers.InstantStart], w.Size(), one.Layout.NLags
	behind := make([]float64, late) // what is read of the past, of the sizes of states
	for i := range behind {
		behind[i] = y[i%size.N]
	}
	rates, _ := one.Stats()
	k := make([]float64, size.N+size.Q)
	y = append(y, behind...)
	b.RHS = counted(measure(func() { w.Eval(t, y, k) }), rates)
	if late == 0 {
		benchStep(r, b, w, times, y)
	}

	lanes := b.Settings.Lanes
	if mode(b.Settings.Mode).Lanes != sens.LanesObjectives {
		lanes = 1
	}
	r.Differentiate(variables)
	all, err := r.Problem().Kit(lanes, compiled.Pull, false)
	if err != nil {
		return err
	}
	_, transpose := all.Stats()
	if transpose == nil {
		return nil
	}
	w = r.Problem().Worker(all)
	times, y = w.AtStart()
	y = append(y, behind...)
	w.Begin(make([][]float64, lanes)) // products are noted, and dropped when there are many
	kb, yb, tb := make([]float64, len(k)*lanes), make([]float64, len(y)*lanes), make([]float64, lanes)
	for i := range kb {
		kb[i] = 1 / float64(i+1)
	}
	b.VJP = counted(measure(func() { w.Pull(t, y, kb, yb, tb) }), transpose)
	if late == 0 {
		benchStepBack(r, b, w, times, y, kb)
	}
	return nil
}

// benchStep measures a step from the state y at the start of a run.
func benchStep(r *run.Run, b *result.Bench, w *system.Worker, times, y []float64) {
	method := solvers.Members(r.Method(0))[0]
	s := smallStep(w, method, times, y)
	b.Step = measure(func() { method.Step(w, s, method.Info().End >= 0) })
	if p, _ := w.StepStats(); p != nil {
		b.Step = counted(b.Step, p)
	} else {
		b.Step.GFlops = b.RHS.GFlops * b.RHS.Nanoseconds * float64(method.Info().Evals) / b.Step.Nanoseconds
	}
}

// benchStepBack measures the transpose of that step, with cotangents kb of rates.
func benchStepBack(r *run.Run, b *result.Bench, w *system.Worker, times, y, kb []float64) {
	lanes := w.Lanes()
	method := solvers.Members(r.Method(lanes))[0]
	s := smallStep(w, method, times, y)
	method.Step(w, s, true)
	n := len(y) * lanes
	c := &solvers.StepCotangent{
		T1: make([]float64, lanes), Y1: kb[:n], DQ: kb[n:], T0: make([]float64, lanes),
		H: make([]float64, lanes), Y0: make([]float64, n),
	}
	b.StepVJP = measure(func() { method.Pull(w, s, c) })
	if _, p := w.StepStats(); p != nil {
		b.StepVJP = counted(b.StepVJP, p)
	} else {
		b.StepVJP.GFlops = b.VJP.GFlops * b.VJP.Nanoseconds * float64(method.Info().Stages) / b.StepVJP.Nanoseconds
	}
}

// smallStep returns a step from the state y at the start of a run of w. It is a millionth of the run
// long.
func smallStep(w *system.Worker, m solvers.Method, times, y []float64) *solvers.Step {
	size := w.Size()
	s := solvers.NewStep(m.Info(), size)
	s.T = times[solvers.InstantStart]
	s.H = float64(1e-6 * (times[solvers.InstantEnd] - s.T))
	s.T1 = s.T + s.H
	copy(s.Y0, y)
	w.Eval(s.T, y, s.K[:size.N+size.Q])
	return s
}

// measure runs f often enough to time it, and takes the best of many short batches. Other work of the
// machine disturbs only some of them.
func measure(f func()) result.BenchProgram {
	n, best := 1, math.Inf(1)
	for batch := 0; batch < 100; {
		start := time.Now()
		for range n {
			f()
		}
		ns := float64(time.Since(start).Nanoseconds())
		if ns < 2e5 && n < 1<<24 {
			n *= 2
			continue
		}
		best = min(best, ns/float64(n))
		batch++
	}
	return result.BenchProgram{Nanoseconds: best}
}

// counted returns b with the counts of its program.
func counted(b result.BenchProgram, s *vm.Stats) result.BenchProgram {
	b.Instructions, b.Bytes, b.Native, b.GFlops = s.Instructions, s.Bytes, s.Native.Bytes,
		float64(s.Flops)/b.Nanoseconds
	return b
}
