package fit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/lang/diag"
)

// A bootstrap fits the model again and again, each time to as many rows of data, drawn with replacement from those of
// each observation in each experiment. The estimates of these refits are spread as those of repeated experiments would
// be, whatever the noise, as long as rows are independent (B. Efron, R. J. Tibshirani, An Introduction to the
// Bootstrap, 1993, chapters 9 and 13). An interval reaches from one quantile of them to another.

// bootstrap makes the refits. Each depends on the seed and its number alone.
func (p *problem) bootstrap(ctx context.Context, m *minimum, out *Result) error {
	all := p.refits(m.x)
	numbers := make([]int, all.n)
	for i := range numbers {
		numbers[i] = i
	}
	found := make([][]float64, all.n)
	at := Progress{Phase: "refits", Of: all.n, Best: out.Objective.Value}
	if err := all.make(ctx, numbers, func(s Start) {
		if s.Status == "converged" {
			found[s.Number] = s.To
		}
		out.Stats.add(&s)
		at.Done++
		p.tell(at)
		if s.Status != "stopped" && !s.lost {
			m.refits++
		}
	}); err != nil {
		return err
	}
	if ctx.Err() != nil {
		m.cut = fmt.Sprintf("intervals are those of %d of %s", m.refits, diag.Count(all.n, "refit"))
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

// refit searches from x with the rows that belong to a number.
func (p *problem) refit(ctx context.Context, e *evaluator, x []float64, number int) Start {
	draw := elem.NewRand(p.settings.Seed*0x9e3779b97f4a7c15 + uint64(number) + 1)
	e.counts = make([][]float64, len(e.comparison.Groups))
	for g := range e.counts {
		n := len(e.comparison.Groups[g].T)
		e.counts[g] = make([]float64, n)
		for range n {
			e.counts[g][draw.Uint64()%uint64(n)]++
		}
	}
	defer func() { e.counts = nil }()
	return p.ended(ctx, e, number, p.values(x), func() (optim.Result, error) {
		return p.confirmed(ctx, e, true, func() (optim.Result, error) {
			return p.descend(ctx, e, x, p.bounds())
		})
	})
}

// quantile returns that of sorted numbers, between two of them as on a line.
func quantile(sorted []float64, u float64) float64 {
	at := u * float64(len(sorted)-1)
	k := min(int(at), len(sorted)-2)
	part := at - float64(k)
	return float64((1-part)*sorted[k]) + float64(part*sorted[k+1])
}
