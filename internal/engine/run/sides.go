package run

import (
	"context"

	"odes.dev/odes/internal/engine/coincide"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/sens"
)

// Sides are derivatives of objectives on both sides of each element of the variables, where causes of the run
// coincide.
type Sides struct {
	Left, Right []float64 // [objectives][columns]
	Leaps       []bool    // [columns] the result leaps there
	Unknown     []bool    // [columns] they are not known
	Met         []coincide.Met
}

// Sides returns derivatives of the last run of r on both sides; nil where no causes coincide, or where package
// coincide does not follow the model: why says so.
func (r *Runner) Sides(ctx context.Context) (s *Sides, why string, err error) {
	if len(r.parts) > 0 || r.readsTotals() {
		return nil, "experiments", nil
	}
	span := r.trajectory.Ends() - r.trajectory.Begins()
	how := &r.settings.Solver
	var seed *uint64
	if how.Shuffled {
		seed = &how.Seed
	}
	m, why := coincide.New(r.problem, r.worker, span, how.Each, seed)
	if m == nil {
		return nil, why, nil
	}
	c := m.Cross(r.problem.Point.Active(r.places))
	tangent, err := r.tangentMethod(r.setup.lanes(2*r.columns), system.Push)
	if err != nil {
		return nil, "", err
	}
	directions := r.problem.Directions(r.places)
	v := make([]float64, r.columns)
	move := func(k int) (pd, dy0 []float64) {
		clear(v)
		if v[k/2] = 1; k%2 == 0 {
			v[k/2] = -1
		}
		return directions(v, nil)
	}
	walk := sens.Sided{New: tangent.New, Crosser: c}
	rows, err := walk.Along(ctx, &r.trajectory, 2*r.columns, move, float64(coincide.Near*span))
	if err != nil {
		return nil, "", r.failed(err, r.worker)
	}
	if len(c.Met) == 0 {
		return nil, "", nil
	}
	n := len(r.objectives) * r.columns
	s = &Sides{
		Left: make([]float64, n), Right: make([]float64, n), Leaps: make([]bool, r.columns),
		Unknown: make([]bool, r.columns), Met: c.Met,
	}
	for k := range r.columns {
		for o := range r.objectives {
			s.Left[o*r.columns+k], s.Right[o*r.columns+k] = -rows[2*k][o], rows[2*k+1][o]
		}
		s.Leaps[k] = c.Leaps(2*k) || c.Leaps(2*k+1)
		s.Unknown[k] = c.Unknown(2*k) || c.Unknown(2*k+1)
	}
	return s, "", nil
}
