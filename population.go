package odes

import (
	"context"
	"slices"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/target"
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

// Individual returns the names of the random effects of the model of one experiment alone, which are params, in file
// order; nil for a model without.
func (m *Model) Individual() (names []string) {
	for _, r := range m.engine.Checked.Individual {
		names = append(names, r.Sym.Name)
	}
	return names
}

// IsJoint reports whether an objective is the negative logarithm of the density of the data of one experiment alone and
// of its random effects.
func (m *Model) IsJoint(objective string) bool {
	return slices.ContainsFunc(m.engine.Checked.Objectives, func(o *model.Objective) bool {
		return o.Name == objective && o.Joint
	})
}

// individual are the random effects of one experiment alone, as what is searched for.
func (m *Model) individual() (list []target.Target) {
	for _, name := range m.Individual() {
		list = append(list, target.Target{Name: name, Text: name})
	}
	return list
}

// searchesIndividual reports whether what is searched for in an experiment alone are its random effects: what the file
// says is for the population, and another block, or the key itself, was not asked for.
func (m *Model) searchesIndividual(opts Options, key, block string) bool {
	return len(m.engine.Checked.Individual) > 0 && block == "" &&
		!slices.ContainsFunc(opts.Settings, func(s Setting) bool { return s.Key == key })
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
	return m.engine.Population(ctx, m.setup(opts.GradientOnly()), gradient)
}
