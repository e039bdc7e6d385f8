package odes

import (
	"context"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/result"
)

// Population is an integral over random effects, subject by subject.
type Population = result.Population

// Subject is what one subject of a population contributes, with its random effects.
type Subject = result.Subject

// Effects says how the random effects of an experiment are distributed.
type Effects = result.Effects

// RandomEffects returns the names of the random effects, in file order; nil for a model without.
func (m *Model) RandomEffects() (names []string) {
	for _, r := range m.engine.Checked.Randoms {
		names = append(names, r.Sym.Name)
	}
	return names
}

// IndividualEffects returns the names of the random effects of the model of one experiment alone: params whose
// distribution is in its nll().
func IndividualEffects(m *Model) (names []string) {
	for _, r := range m.engine.Checked.Individual {
		names = append(names, r.Sym.Name)
	}
	return names
}

// Spreads returns the names of params that the distributions of those effects read. They are of the population: one
// experiment does not tell them, and its density grows without end where they go to zero.
func Spreads(m *Model) (names []string) {
	for _, r := range m.engine.Checked.Individual {
		names = append(names, model.ParamsOf(map[string]model.Expr{"": r.Scale})...)
	}
	return names
}

// Covariances returns the names of params that are matrices of covariances of random effects.
func (m *Model) Covariances() (names []string) {
	for _, r := range m.engine.Checked.Randoms {
		if ref, is := r.Scale.(*model.Ref); is && r.Matrix {
			names = append(names, ref.Sym.Name)
		}
	}
	return names
}

// Population integrates the likelihood over random effects at the params of the options: what nll() is, what each
// subject contributes, and its most probable random effects. With gradient, subjects have the gradients of their
// contributions by Options.Wrt.
func (m *Model) Population(ctx context.Context, opts Options, gradient bool) (*Population, error) {
	return m.engine.Population(ctx, m.setup(opts.GradientOnly()), gradient, false)
}

// CheckedPopulation is Population with gradients, and compares the integral of each subject with one that is computed
// in another way.
func CheckedPopulation(ctx context.Context, m *Model, opts Options) (*Population, error) {
	return m.engine.Population(ctx, m.setup(opts.GradientOnly()), true, true)
}
