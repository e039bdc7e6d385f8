package run

import (
	"context"
	"errors"
	"math/bits"
	"slices"

	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/result"
)

// Where a derivative may be that of one side, independent runs decide whose variable is a little less, and a little
// more. They know nothing of what made it suspect: each has derivatives of its own. Where these continue to those of
// the run on both sides, it has a derivative. A run beside that is still suspect decides nothing.

// mostNearby limits how many variables are looked at for one result. Those that move no causes apart are where states
// times steps of a run are at most mostBeside.
const mostNearby, mostBeside = 8, 1e5

// A variable is moved by a part of its size: small, and yet more than the tolerance within which times are one.
const nearbyPart, nearbyTols = 1e-4, 100

// besideSteps limits the steps of a run beside, as a multiple of those of the independent run. One that takes more is
// not like it, and nobody waits for it.
const besideSteps = 20

// nearby compares s, of which fine is the independent run, with runs on both sides of what derivatives by it are
// suspect. sizes are those of the variables.
func (r checking) nearby(ctx context.Context, s, fine *trust.Result, sizes []float64) error {
	s.Meetings, s.Unlike, s.Compared, s.Leapt, s.Sideways = r.allMet(), nil, nil, nil, nil
	s.Cleared = false
	second := r.wantsSecond()
	list, met := s.Suspects(second)
	suspects := len(list)
	size := r.problem.Size()
	if work := float64(size.N+size.Q+1) * float64(s.Stats.Steps); work > mostBeside {
		list = list[:met] // what else there is, is marked
	} else if len(list) > mostNearby {
		list = list[:max(met, mostNearby)]
	}
	if len(list) == 0 {
		return nil
	}
	most := 1 << bits.Len(uint(besideSteps*(fine.Stats.Steps+besideSteps))) // the same for runs that are alike
	if own := r.settings.Solver.MaxSteps; own > 0 {
		most = min(most, own)
	}
	if r.beside == nil || r.beside.settings.Solver.MaxSteps != most {
		var err error
		if r.beside, err = r.twin(true, most); err != nil {
			return err
		}
		r.beside.seeks()
	}
	s.Beside()
	s.Cleared = len(list) == suspects && suspects <= mostNearby
	by := make([]float64, r.columns)
	for n, v := range r.variables {
		for k := range v.Size() {
			by[v.Offset+k] = sizes[n]
		}
	}
	second = second && r.affords(r.beside)
	for n, k := range list {
		if n >= mostNearby {
			s.Unsure(k)
			continue
		}
		s.Compared[k] = true
		for _, way := range []float64{-1, 1} {
			h := way * by[k] * max(nearbyPart, float64(nearbyTols*r.beside.settings.Solver.RTol))
			x, err := r.sideways(ctx, s, k, h, second)
			switch {
			case err != nil:
				return err
			case x == nil:
				s.Unsure(k)
			case second:
				s.Sideways = append(s.Sideways, *x)
				s.Side(&fine.Sensitivities, x, k, h, by)
			default:
				s.Side(&fine.Sensitivities, x, k, h, nil)
			}
			if x != nil && x.Suspect {
				s.Compared[k], s.Cleared = false, false
			}
		}
	}
	return nil
}

// sideways makes runs whose column k is moved by h, and by twice as much; nil where one fails.
func (r checking) sideways(ctx context.Context, s *trust.Result, k int, h float64, second bool,
) (*trust.Sideways, error) {
	b := r.beside
	var x trust.Sideways
	for _, side := range []struct {
		to *result.Sensitivities
		by float64
	}{{&x.Near, h}, {&x.Far, 2 * h}} {
		back := b.shift(k, side.by)
		other, err := b.once(ctx)
		if err == nil {
			*side.to = result.Sensitivities{
				Columns: r.columns, Gradient: slices.Clone(other.Gradient), Values: slices.Clone(other.Values),
			}
			x.Suspect = x.Suspect || other.IsSuspect(k)
			if second {
				b.curve, b.last = r.curve, b
				err = b.differentiateTwice(ctx, side.to, s.Reached)
				b.curve = curvature{}
			}
		}
		back()
		if !r.keep {
			b.release()
			b.makeRoom()
		}
		if failed := (*result.RunError)(nil); err != nil &&
			(explain.Interrupted(err) || ctx.Err() != nil || !errors.As(err, &failed)) {
			return nil, err
		}
		if err != nil {
			return nil, nil
		}
	}
	return &x, nil
}

// seeks has r and its parts look for kinks as the run of a result does, though others are compared with it.
func (r *Runner) seeks() {
	r.share = 0
	for _, part := range r.parts {
		part.seeks()
	}
}

// shift moves column k of r and its parts until back is called.
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
