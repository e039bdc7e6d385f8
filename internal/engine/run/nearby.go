package run

import (
	"context"
	"errors"
	"math"
	"slices"

	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/result"
)

// Where a derivative may be that of one side, independent runs a little to the left and to the right of the variable
// decide. They read nothing of what made it suspect: each has derivatives of its own, and where both continue to those
// of the run, the derivative is that of both sides.

// mostNearby limits how many variables are looked at for one result.
const mostNearby = 8

// nearbyPart is how far runs are moved, as a part of the size of the variable.
const nearbyPart = 1e-4

// nearby compares s, of which fine is the independent run, with runs beside it.
func (r checking) nearby(ctx context.Context, s, fine *trust.Result) error {
	s.Meetings, s.Unlike, s.Settled, s.Leapt, s.Turned, s.Near = r.allMet(), nil, nil, nil, nil, false
	list := s.Suspects()
	if len(list) == 0 {
		return nil
	}
	if r.parted == nil {
		var err error
		if r.parted, err = r.twin(); err != nil {
			return err
		}
	}
	s.Reorder()
	s.Near = true
	sizes := make([]float64, r.columns)
	for n, x := range r.sizes() {
		for k := range r.variables[n].Size() {
			sizes[r.variables[n].Offset+k] = x
		}
	}
	for _, k := range list[:min(len(list), mostNearby)] {
		for _, way := range []float64{-1, 1} {
			if err := r.onSide(ctx, s, fine, k, way*nearbyPart*sizes[k]); err != nil {
				return err
			}
		}
		s.Settled[k] = true
	}
	return nil
}

// onSide compares s with what two runs on one side of column k continue to.
func (r checking) onSide(ctx context.Context, s, fine *trust.Result, k int, by float64) error {
	b := r.parted
	var near, far *result.Sensitivities
	for _, x := range []float64{2 * by, by} {
		back := b.shift(k, x)
		other, err := b.once(ctx)
		back()
		if !r.keep {
			b.release()
			b.makeRoom()
		}
		if failed := (*result.RunError)(nil); err != nil &&
			(explain.Interrupted(err) || ctx.Err() != nil || !errors.As(err, &failed)) {
			return err
		}
		if err != nil {
			s.CompareOrder(&fine.Sensitivities, nil, []int{k}, nil)
			return nil
		}
		copied := &result.Sensitivities{
			Columns: r.columns, Gradient: slices.Clone(other.Gradient), Values: slices.Clone(other.Values),
		}
		if far == nil {
			far = copied
		} else {
			near = copied
		}
	}
	for at := range near.Gradient {
		x, y := near.Gradient[at], far.Gradient[at]
		if z := 2*x - y; math.Abs(z-fine.Gradient[at]) < math.Abs(x-fine.Gradient[at]) {
			near.Gradient[at] = z
		}
	}
	for i := range near.Values {
		at := i*r.columns + k
		near.Values[i].Value -= by * near.Gradient[at]
	}
	s.CompareOrder(&fine.Sensitivities, near, []int{k}, nil)
	return nil
}

// shift moves column k in r and its parts until back is called.
func (r *Runner) shift(k int, by float64) (back func()) {
	n := slices.IndexFunc(r.places, func(v system.Variable) bool { return k >= v.Offset && k < v.Offset+v.Len })
	list := []func(){r.problem.Point.Shift(r.places[n], k-r.places[n].Offset, by)}
	for _, part := range r.parts {
		list = append(list, part.shift(k, by))
	}
	return func() {
		for _, back := range list {
			back()
		}
	}
}
