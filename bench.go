package odes

import (
	"context"
	"math"
	"slices"
	"time"

	"odes.dev/odes/solvers"
)

// Bench is what Model.Bench measured.
type Bench struct {
	Settings RunSettings
	Runs     int
	RHS, VJP BenchProgram
	// Forward, Adjoint and their sum Gradient, over all objectives, in seconds. Compilation is apart.
	Forward, Adjoint, Gradient BenchTimes
	Steps                      int
	// Checksum is the Frobenius norm of the derivatives by params: two programs that agree on it have computed the same thing.
	Checksum float64
}

// BenchProgram is the cost of one evaluation.
type BenchProgram struct {
	Nanoseconds  float64
	Instructions int
	Bytes        int     // of working memory
	GFlops       float64 // per second
}

// BenchTimes are statistics over the runs.
type BenchTimes struct{ Median, Min float64 }

// Bench measures a model: whole gradients in this process, runs times after a
// warm-up, and single evaluations of the right-hand side and of its transpose
// (for all lanes together) at the start.
func (m *Model) Bench(ctx context.Context, runs int, opts Options) (*Bench, error) {
	var forward, adjoint, gradient []float64
	b := &Bench{Runs: max(runs, 1)}
	r, err := m.Prepare(opts)
	if err != nil {
		return nil, err
	}
	for i := range b.Runs + 1 { // the first pays for the first touch of fresh memory
		s, err := r.Sensitivities(ctx)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			b.Settings, b.Steps, b.Checksum = s.Settings, s.Stats.Steps, checksum(s)
			continue
		}
		f, a := s.Stats.Seconds.Forward, s.Stats.Seconds.Adjoint
		forward, adjoint, gradient = append(forward, f), append(adjoint, a), append(gradient, f+a)
	}
	b.Forward, b.Adjoint, b.Gradient = statistics(forward), statistics(adjoint), statistics(gradient)
	return b, m.benchPrograms(b, opts)
}

func statistics(x []float64) BenchTimes {
	slices.Sort(x)
	n := len(x)
	return BenchTimes{Median: (x[(n-1)/2] + x[n/2]) / 2, Min: x[0]}
}

func checksum(s *Sensitivities) float64 {
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

// benchPrograms times the right-hand side and its transpose alone.
func (m *Model) benchPrograms(b *Bench, opts Options) error {
	r, err := m.begin(opts)
	if err != nil {
		return err
	}
	variables, _ := m.variables(r.settings.wrt, &r.warnings)
	one, err := m.programs.kit(1, nil, valuesOnly, false)
	if err != nil {
		return err
	}
	w, t, y := r.atStart(one)
	size := w.Size()
	k := make([]float64, size.N+size.Q)
	b.RHS = measure(one.value.rates, func() { w.Eval(t, y, k) })

	lanes := b.Settings.Lanes
	if b.Settings.Mode != "adjoint" {
		lanes = 1
	}
	active := m.active(r.point, variables)
	r.plan = newPlan(m.layout, active)
	all, err := m.programs.kit(lanes, active, pulling, false)
	if err != nil || all.pull.rates == nil {
		return err
	}
	w, t, y = r.atStart(all)
	w.Begin(make([][]float64, lanes)) // products are noted, and dropped when there are many
	kb, yb, tb := make([]float64, len(k)*lanes), make([]float64, size.N*lanes), make([]float64, lanes)
	for i := range kb {
		kb[i] = 1 / float64(i+1)
	}
	b.VJP = measure(all.pull.rates, func() { w.Pull(t, y, kb, yb, tb) })
	return nil
}

// atStart returns a worker that stands at the start of a run.
func (r *run) atStart(k *kit) (w *worker, t float64, y []float64) {
	w = r.worker(k)
	size := w.Size()
	y = make([]float64, size.N)
	d, modes := make([]float64, size.D), make([]float64, size.M)
	times := make([]float64, len(w.Instants()))
	w.InstantTimes(d, times)
	w.Start(times[solvers.InstantStart], y, d)
	w.Enter(d, modes)
	w.Choose(times[solvers.InstantStart], y, modes)
	w.Enter(d, modes)
	return w, times[solvers.InstantStart], y
}

// measure runs f often enough to time it, and takes the best of several batches.
func measure(p *program, f func()) BenchProgram {
	n, best := 1, math.Inf(1)
	for batch := 0; batch < 5; {
		start := time.Now()
		for range n {
			f()
		}
		ns := float64(time.Since(start).Nanoseconds())
		if ns < 5e6 && n < 1<<24 {
			n *= 2
			continue
		}
		best = min(best, ns/float64(n))
		batch++
	}
	s := p.code.Stats()
	return BenchProgram{Nanoseconds: best, Instructions: s.Instructions, Bytes: s.Bytes, GFlops: float64(s.Flops) / best}
}
