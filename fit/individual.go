package fit

import (
	"context"
	"math"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// A fit of one experiment alone of a population searches for its random effects, with the params of the population
// fixed: the objective is the negative logarithm of the density of its data and of these. They are the EBEs of the
// subject, and the inverse of the Hessian is their covariance given the data.

// individual compares one experiment alone with its data. The zero value has nothing to compare.
type individual struct{ *evaluator }

// ofPopulation refuses to search for what distributions of random effects read, in one experiment alone.
func ofPopulation(m *odes.Model, s *odes.FitSettings, l *diag.List) {
	spreads := odes.Spreads(m)
	for _, v := range s.Over {
		if s.Joint && slices.Contains(spreads, v.Name) {
			l.Errorf(odes.CodeSetting, source.Span{}, "%s cannot be searched for in one experiment alone: it is how "+
				"random effects differ between experiments; leave it out of fit.over", v.String())
		}
	}
}

// individually finds the covariance of what was searched for, at a certified minimum, and what compares the data.
func individually(
	ctx, whole context.Context, p *problem, e *evaluator, m *minimum, c *certificate, out *Result,
) (of individual, err error) {
	if p.settings.Maximize || !c.known() || c.violated || m.gradient == nil {
		return of, nil
	}
	if of.evaluator, err = comparing(whole, p, e); err != nil {
		return of, err
	}
	m.keep = m.free()
	if err := e.bends(whole, m); err != nil {
		if ctx.Err() != nil {
			err = nil
		}
		return of, err
	}
	if cov := invert(sub(m.hessian, len(m.x), m.keep), len(m.keep)); cov != nil && c.Certified {
		spreadBy(p, m, slices.Clone(cov), out)
	}
	return of, nil
}

// comparing returns an evaluator that compares the data row by row, whatever the objective.
func comparing(ctx context.Context, p *problem, e *evaluator) (*evaluator, error) {
	rows, err := p.model.CompareAll(p.runOptions().While(ctx))
	if rows == nil || err != nil {
		return nil, err
	}
	it := &evaluator{p: p, searching: -1, comparison: rows}
	for i := range e.set {
		it.set = append(it.set, odes.Assignment{Name: e.set[i].Name, Values: slices.Clone(e.set[i].Values)})
	}
	return it, nil
}

// predictions fills in those of the data. Criteria made from the likelihood are none of a density with priors.
func (i individual) predictions(ctx context.Context, m *minimum, out *Result) {
	if i.evaluator == nil || i.at(ctx, m.x) != nil {
		return
	}
	i.p.predictions(i.evaluator, m, out)
	out.AIC, out.BIC = math.NaN(), math.NaN()
}
