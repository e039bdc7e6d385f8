package odes

import "odes.dev/odes/internal/engine/run"

// Joint computes the density of the data of a population together with that of random effects that are given, subject
// by subject. A Joint belongs to one goroutine.
type Joint struct {
	*run.Joint
	model *Model
}

// Joint prepares densities with derivatives by opts.Wrt, with tolerances, or steps of fixed length, that are factor
// times those that opts lead to.
func (m *Model) Joint(factor float64, opts Options) (*Joint, error) {
	setup := m.setup(opts.GradientOnly())
	if factor != 1 {
		r, err := m.engine.Prepare(setup)
		if err != nil {
			return nil, err
		}
		setup = r.Refined(setup, factor)
	}
	j, err := m.engine.Joint(setup)
	if err != nil {
		return nil, err
	}
	return &Joint{j, m}, nil
}

// Set gives params other values.
func (j *Joint) Set(set ...Assignment) error {
	list, err := j.model.converted(set)
	if err != nil {
		return err
	}
	return j.Joint.Set(list...)
}
