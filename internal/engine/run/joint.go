package run

import (
	"context"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/population"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
)

// Joint computes the density of the data of a population together with that of random effects that are given: what
// draws of these need. A Joint belongs to one goroutine.
type Joint struct {
	Variables []result.Variable
	Columns   int
	Subjects  []string // that have data, in file order
	people    *people
	spreads   []*population.Spread // at the present params; nil where they are not known yet
	centred   [][]float64
}

// Joint prepares densities with derivatives by the variables of the setup.
func (m *Model) Joint(setup Setup) (*Joint, error) {
	r, err := m.Begin(setup)
	if err != nil {
		return nil, err
	}
	var l diag.List
	j := &Joint{}
	if j.Variables, j.Columns = m.Variables(r.settings.Wrt, &l); l.Err() != nil {
		return nil, l.Err()
	}
	r.settings.Marginal.Kind = "laplace" // which asks for no more than likelihoods
	if err := populate(r, setup, j.Variables); err != nil {
		return nil, err
	}
	j.people = r.people
	for _, q := range r.people.subjects {
		j.Subjects = append(j.Subjects, q.name)
		j.centred = append(j.centred, make([]float64, q.m))
	}
	j.spreads = make([]*population.Spread, len(j.Subjects))
	return j, nil
}

// Set gives params other values.
func (j *Joint) Set(set ...compiled.Override) error {
	clear(j.spreads)
	return j.people.set(set)
}

// Effects returns the names of the random effects that a subject has.
func (j *Joint) Effects(subject int) (names []string) {
	q := j.people.subjects[subject]
	for _, at := range q.active {
		for _, e := range q.effects {
			if at >= e.offset && at < e.offset+e.size {
				names = append(names, compiled.ElementName(e.name, e.Sym.Type.Shape, at-e.offset))
			}
		}
	}
	return names
}

// Centre says how much coordinates are those of the random effects: see population.Spread.
func (j *Joint) Centre(subject int, by []float64) {
	j.centred[subject], j.spreads[subject] = by, nil
}

func (j *Joint) spread(ctx context.Context, subject int) (*population.Spread, error) {
	if s := j.spreads[subject]; s != nil {
		return s, nil
	}
	o, err := j.people.subjects[subject].Omega(ctx)
	if err != nil {
		return nil, err
	}
	j.spreads[subject], err = population.NewSpread(o, j.centred[subject])
	return j.spreads[subject], err
}

// Density returns the negative logarithm of the density of a subject's data and of the coordinates of its random
// effects, and its derivatives by these and by the variables.
func (j *Joint) Density(ctx context.Context, subject int, z []float64) (float64, []float64, error) {
	s, err := j.spread(ctx, subject)
	if err != nil {
		return 0, nil, err
	}
	return population.Drawn(ctx, j.people.subjects[subject], s, z)
}

// Eta returns the random effects of coordinates.
func (j *Joint) Eta(ctx context.Context, subject int, z []float64) ([]float64, error) {
	s, err := j.spread(ctx, subject)
	if err != nil {
		return nil, err
	}
	return s.Eta(z), nil
}

// Data returns the negative log likelihood of a subject's data with random effects.
func (j *Joint) Data(ctx context.Context, subject int, eta []float64) (float64, error) {
	c, err := j.people.subjects[subject].Data(ctx, eta, 0)
	if err != nil {
		return 0, err
	}
	return c.Value, nil
}

// Mode returns the most probable random effects at the present params, the Hessian of their negative log density with
// the data, and their covariances.
func (j *Joint) Mode(ctx context.Context, subject int) (eta, hessian, omega []float64, err error) {
	q := j.people.subjects[subject]
	how := j.people.method
	how.Seed = q.seed
	r, err := population.Integrate(ctx, q, how, false)
	if err != nil {
		return nil, nil, nil, err
	}
	return r.Mode, r.Hessian, r.Omega.W, nil
}

// Spread returns the derivatives of random effects by coordinates, [m][m], and the coordinates of eta.
func (j *Joint) Spread(ctx context.Context, subject int, eta []float64) (scale, z []float64, err error) {
	s, err := j.spread(ctx, subject)
	if err != nil {
		return nil, nil, err
	}
	return s.Scale(), s.Back(eta), nil
}

// Likelihood returns the negative log likelihood of a subject's data with random effects, and its derivatives by these
// and by the variables.
func (j *Joint) Likelihood(
	ctx context.Context, subject int, eta []float64,
) (value float64, gradient []float64, err error) {
	c, err := j.people.subjects[subject].Data(ctx, eta, 1)
	if err != nil {
		return 0, nil, err
	}
	return c.Value, c.Gradient, nil
}

// Failed reports whether an error tells that a run failed for the numbers that it had, and other numbers may do.
func (j *Joint) Failed(subject int, err error) bool { return j.people.subjects[subject].Failed(err) }

// Distribution is how the random effects of a subject are distributed at some params.
type Distribution struct {
	Omega, Root, Inverse []float64 // [m][m]: Omega = Root·Rootᵀ
	Slopes               []float64 // of Omega by the variables, [m][m][columns]
	Half                 float64   // half of the logarithm of the determinant of Omega
}

// Distribution returns that at the present params.
func (j *Joint) Distribution(ctx context.Context, subject int) (*Distribution, error) {
	o, err := j.people.subjects[subject].Omega(ctx)
	if err != nil {
		return nil, err
	}
	root, inverse, logDet, err := o.Factors()
	if err != nil {
		return nil, err
	}
	return &Distribution{o.W, root, inverse, o.Slopes, logDet / 2}, nil
}
