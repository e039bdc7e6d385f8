package posterior

import (
	"context"
	"math"
	"strings"

	"odes.dev/odes/internal/base/draws"
)

// Quantity is what an objective that is not drawn from is in each draw.
type Quantity struct {
	Name string // such as AUC or peak[2]
	Unit string
	draws.Summary
	Values [][]float64 // [chain][draw], NaN where a run has none
	Failed int
}

// quantities computes all objectives but the one that is drawn from, and constraints, in each draw.
func (p *problem) quantities(ctx context.Context, r *Result) error {
	var of []string
	for _, v := range p.model.Objectives() {
		name, _, _ := strings.Cut(v.Name, "[")
		if name == p.settings.Objective || name == p.settings.Rest || v.Relation != "" {
			continue
		}
		r.Quantities = append(r.Quantities, Quantity{Name: v.Name, Unit: v.Unit})
		if len(of) == 0 || of[len(of)-1] != name {
			of = append(of, name)
		}
	}
	if of == nil {
		return nil
	}
	for i := range r.Quantities {
		for c := range r.Chains {
			values := make([]float64, r.Chains[c].Draws())
			for k := range values {
				values[k] = math.NaN()
			}
			r.Quantities[i].Values = append(r.Quantities[i].Values, values)
		}
	}
	o := p.runOptions().While(ctx)
	o.Of, o.Wrt = of, []string{}
	failed := make([]int, len(r.Chains))
	p.told.begin("objectives", r.Draws())
	err := p.each(len(r.Chains), func(_ *evaluator, c int) error {
		runner, err := p.model.Prepare(o)
		if err != nil {
			return err
		}
		e := p.evaluatorOf(runner)
		to := make([]float64, len(r.Quantities))
		for k := range r.Chains[c].Draws() {
			for j := range p.coords {
				x := &p.coords[j]
				e.set[x.variable].Values[x.element] = r.Chains[c].Values[j][k]
			}
			err := runner.Set(e.set...)
			if err == nil {
				_, err = runner.Values(ctx, to)
			}
			if ctx.Err() != nil {
				return nil
			}
			p.told.step(1, 0)
			if err != nil {
				failed[c]++
				continue
			}
			for i, x := range to {
				r.Quantities[i].Values[c][k] = x
			}
		}
		return nil
	})
	if err = orInterrupted(ctx, err); err != nil {
		return err
	}
	n := 0
	for _, f := range failed {
		n += f
	}
	for i := range r.Quantities {
		q := &r.Quantities[i]
		q.Failed, q.Summary = n, draws.Summarise(q.Values)
	}
	if n > 0 {
		r.warnf("the other objectives have no value in %d of %d draws, whose runs for them failed", n, r.Draws())
	}
	return nil
}
