package fit

import (
	"context"
	"math"
	"slices"
	"sync"

	"odes.dev/odes/internal/elem"
	"odes.dev/odes/internal/optim"
)

// A bootstrap fits the model again and again, each time to as many rows of data, drawn with replacement from those of
// each observation in each experiment. The estimates of these refits are spread as those of repeated experiments would
// be, whatever the noise, as long as rows are independent (B. Efron, R. J. Tibshirani, An Introduction to the
// Bootstrap, 1993, chapters 9 and 13). An interval reaches from one quantile of them to another.

// bootstrap makes the refits. Each depends on the seed and its number alone.
func (p *problem) bootstrap(ctx context.Context, m *minimum, out *Result) error {
	n := p.settings.Bootstrap
	found := make([][]float64, n)
	at := Progress{Phase: "refits", Of: n, Best: out.Objective.Value}
	var mu sync.Mutex
	var failed error
	next := make(chan int)
	var wait sync.WaitGroup
	for range min(p.opts.workers(), n) {
		wait.Go(func() {
			e, err := p.borrow()
			for i := range next {
				var x []float64
				evaluations, bad := 0, 0
				var rests SteadyWork
				if err == nil {
					evaluations, bad = e.n, e.bad
					before := e.steadyWork()
					x = p.refit(ctx, e, m.x, i)
					evaluations, bad = e.n-evaluations, e.bad-bad
					rests.add(e.steadyWork(), before)
				}
				mu.Lock()
				if err != nil {
					failed = err
				}
				found[i] = x
				out.Stats.Evaluations += evaluations
				out.Stats.Failures += bad
				out.Stats.Steady.add(rests, SteadyWork{})
				at.Done++
				p.tell(at)
				mu.Unlock()
			}
			if err == nil {
				p.giveBack(e)
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wait.Wait()
	if failed != nil {
		return failed
	}
	out.Bootstrap = slices.DeleteFunc(found, func(x []float64) bool { return x == nil })
	tail := (1 - p.settings.Level) / 2
	column := make([]float64, len(out.Bootstrap))
	for i := range out.Estimates {
		x := &out.Estimates[i]
		x.Lower, x.Upper = math.NaN(), math.NaN()
		if len(column) < 2 {
			continue
		}
		for k, row := range out.Bootstrap {
			column[k] = row[i]
		}
		slices.Sort(column)
		x.Lower, x.Upper = quantile(column, tail), quantile(column, 1-tail)
	}
	return nil
}

// refit searches from x with the rows that belong to a number. It returns nil where it comes to no minimum.
func (p *problem) refit(ctx context.Context, e *evaluator, x []float64, number int) []float64 {
	draw := elem.NewRand(p.settings.Seed*0x9e3779b97f4a7c15 + uint64(number) + 1)
	e.counts = make([][]float64, len(e.comparison.Groups))
	for g := range e.counts {
		n := len(e.comparison.Groups[g].T)
		e.counts[g] = make([]float64, n)
		for range n {
			e.counts[g][draw.Uint64()%uint64(n)]++
		}
	}
	e.forget()
	r, err := p.confirmed(ctx, e, true, func() (optim.Result, error) {
		q := e.leastSquares()
		q.Bounds = p.bounds()
		return optim.LeastSquares(ctx, q, x, p.searchOptions(x))
	})
	e.counts = nil
	if err != nil || !r.Status.Converged() {
		return nil
	}
	return p.values(r.X)
}

// quantile returns that of sorted numbers, between two of them as on a line.
func quantile(sorted []float64, u float64) float64 {
	at := u * float64(len(sorted)-1)
	k := min(int(at), len(sorted)-2)
	part := at - float64(k)
	return float64((1-part)*sorted[k]) + float64(part*sorted[k+1])
}
