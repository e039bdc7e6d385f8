package fit

import (
	"context"
	"fmt"
	"slices"

	"odes.dev/odes"
)

// dense is of how many numbers programs with constraints are matrices.
const dense = 300

// differences is of how many numbers a certificate has matrices of differences.
const differences = 60

// products returns what multiplies the Hessian of the objective with multiples y of the constraints by a vector, as
// optim.ConstrainedProblem has it; nil where there are no second derivatives. The run at a point is made once.
func (e *evaluator) products() func(ctx context.Context, x, y, v, hv []float64) error {
	p, n := e.p, len(e.p.coords)
	if len(p.blocks) > 0 || len(p.model.RandomEffects()) > 0 || p.model.ReadsLargest(p.settings.Objective) ||
		!p.hasHessian() {
		return nil
	}
	wide := 0
	for _, v := range p.settings.Over {
		wide += v.Size()
	}
	var names []string
	var of []int
	for i, c := range p.constraints {
		if !p.model.ReadsLargest(c.Name) {
			names, of = append(names, c.Name), append(of, i)
		}
	}
	var at []float64 // where the run was made last
	var r *odes.Runner
	var s *odes.Sensitivities
	return func(ctx context.Context, x, y, v, hv []float64) error {
		for i, c := range p.constraints {
			if y[i] != 0 && !slices.Contains(of, i) {
				return fmt.Errorf("%s has no second derivatives", c.Name)
			}
		}
		var err error
		if at == nil || !slices.Equal(at, x) {
			at = nil
			if s, err = e.runOf(ctx, x, &r, func() (*odes.Runner, error) {
				o := p.runOptions().While(ctx)
				o.Of = append([]string{p.settings.Objective}, names...)
				return p.model.Prepare(o.ProductsOnly(wide))
			}); err != nil {
				return err
			}
			at = slices.Clone(x)
		}
		slopes, direction := make([]float64, n), make([]float64, s.Columns)
		for i := range x {
			c := &p.coords[i]
			slopes[i] = c.slope(c.value(x[i]))
			direction[c.column] = float64(slopes[i] * v[i])
		}
		list, err := r.Products(ctx, direction)
		if err != nil {
			return err
		}
		clear(hv)
		for row := range len(of) + 1 {
			by := p.sign()
			if row > 0 {
				by = y[of[row-1]]
			}
			if by == 0 {
				continue
			}
			for i := range hv {
				c := &p.coords[i]
				at := row*s.Columns + c.column
				hv[i] += float64(by * slopes[i] * list[at])
				if c.log { // the second derivative of exp is exp
					hv[i] += float64(by * slopes[i] * s.Gradient[at] * v[i])
				}
			}
		}
		return nil
	}
}
