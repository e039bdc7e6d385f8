package run

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/result"
)

// Where a derivative may be that of one side, independent runs decide whose variable is a little less, and a little
// more. They know nothing of what made it suspect: each has derivatives of its own. Where these continue to those of
// the run on both sides, and values agree with them, it has a derivative.

// mostNearby limits how many variables are looked at for one result, each alone; more where states times steps of a run
// are few, by mostWork. Those that move no causes apart are where these are at most mostBeside.
const mostNearby, mostWork, mostBeside = 8, 8e5, 1e5

// The others are moved together, in so many directions in which each has its own part. Where derivatives are the same
// on both sides of these, they are on both sides of each variable but by chance: what a direction crosses changes
// derivatives by all variables that move it. This is done where states times steps are at most mostTogether.
const directions, mostTogether = 3, 1e6

// A variable is moved by a part of its size: small, and yet more than the tolerance within which times are one.
const nearbyPart, nearbyTols = 1e-4, 100

// leastNoise and mostNoise are parts of values within which these agree with derivatives beside; within the tolerance,
// in between.
const leastNoise, mostNoise = 1e-9, 1e-6

// besideSteps limits the steps of a run beside, as a multiple of those of the independent run. One that takes more is
// not like it, and nobody waits for it.
const besideSteps = 20

// nearby compares s, of which fine is the independent run, with runs on both sides of what derivatives by it are
// suspect. sizes are those of the variables.
func (r checking) nearby(ctx context.Context, s, fine *trust.Result, sizes []float64) error {
	s.Meetings, s.Unlike, s.Compared, s.Leapt, s.Sideways = r.allMet(), nil, nil, nil, nil
	s.Cleared = false
	n := &neighbours{checking: r, s: s, fine: fine, second: r.wantsSecond()}
	list, met := s.Suspects(n.second)
	n.first, _ = s.Suspects(false)
	size := r.problem.Size()
	work := float64(size.N+size.Q+1) * float64(s.Stats.Steps)
	alone := min(len(list), max(mostNearby, min(int(mostWork/work), 8*mostNearby)))
	if work > mostBeside {
		alone = min(alone, met)
	}
	rest := list[alone:]
	if n.second || work > mostTogether {
		rest = nil // what else there is, is marked
	}
	if alone+len(rest) == 0 {
		s.Cleared = len(list) == 0 && s.OnlyKinks()
		return nil
	}
	if err := n.prepare(ctx, sizes); err != nil {
		return err
	}
	s.Cleared = true
	for _, k := range list[:alone] {
		s.Compared[k] = true
		if err := n.alone(ctx, k); err != nil {
			return err
		}
	}
	if err := n.aslant(ctx, list[:alone]); err != nil {
		return err
	}
	if len(rest) > 0 {
		if err := n.together(ctx, rest); err != nil {
			return err
		}
	}
	for i, k := range list {
		if s.Cleared = s.Cleared && s.Compared[k]; i >= alone && i < met && !s.Compared[k] {
			s.Unsure(k)
		}
	}
	return nil
}

// neighbours are runs beside fine, the independent run of s.
type neighbours struct {
	checking
	s, fine *trust.Result
	by      []float64 // sizes of columns
	part    float64   // of these that they are moved by
	first   []int     // columns of suspect first derivatives
	second  bool
}

// prepare prepares runs beside. sizes are those of the variables.
func (n *neighbours) prepare(ctx context.Context, sizes []float64) error {
	most := 1 << bits.Len(uint(besideSteps*(n.fine.Stats.Steps+besideSteps))) // the same for runs that are alike
	if own := n.settings.Solver.MaxSteps; own > 0 {
		most = min(most, own)
	}
	if n.Runner.beside == nil || n.Runner.beside.settings.Solver.MaxSteps != most {
		var err error
		if n.Runner.beside, err = n.twin(ctx, most); err != nil {
			return err
		}
	}
	n.by = make([]float64, n.columns)
	for i, v := range n.variables {
		for k := range v.Size() {
			n.by[v.Offset+k] = sizes[i]
		}
	}
	n.s.Beside(n.by, 10*n.settings.LeastAbsolute())
	n.part = max(nearbyPart, float64(nearbyTols*n.Runner.beside.settings.Solver.RTol))
	n.second = n.second && n.affords(n.Runner.beside)
	return nil
}

// together compares derivatives by columns with runs on both sides that all of them have moved, and notes which
// continue to these.
func (n *neighbours) together(ctx context.Context, list []int) error {
	steps := make([]float64, n.columns)
	for direction := range directions {
		for _, way := range []float64{-1, 1} {
			for i, k := range list {
				steps[k] = way * n.by[k] * n.part * portion(i, direction)
			}
			x, err := n.sideways(ctx, steps)
			if err != nil {
				return err
			}
			if x == nil {
				for _, k := range list {
					n.s.Ask(k)
				}
				return nil
			}
			n.s.Side(&n.fine.Sensitivities, x, steps, false)
		}
	}
	for _, k := range list {
		if n.s.Compared[k] = n.s.Continues(k); !n.s.Compared[k] {
			n.s.Ask(k)
		}
	}
	return nil
}

// portion returns the part by which the i-th of several variables moves in a direction: between a half and 1, or minus
// that, in no simple proportion to the others.
func portion(i, direction int) float64 {
	a := float64(float64(i+1) * [directions]float64{math.Phi, math.Sqrt2}[direction])
	b := float64(float64(i+1) * [directions]float64{math.SqrtE, math.SqrtPi}[direction])
	x := 0.5 + float64(0.5*(a-math.Floor(a)))
	return math.Copysign(x, b-math.Floor(b)-0.5)
}

// alone compares derivatives by column k with runs on both sides of it.
func (n *neighbours) alone(ctx context.Context, k int) error {
	for _, way := range []float64{-1, 1} {
		steps := make([]float64, n.columns)
		steps[k] = way * n.by[k] * n.part
		x, err := n.sideways(ctx, steps)
		switch {
		case err != nil:
			return err
		case x == nil && !slices.Contains(n.first, k): // second derivatives stay suspect
			n.s.Compared[k] = false
			return nil
		case x == nil:
			n.s.Unsure(k)
		default:
			if n.second {
				n.s.Sideways = append(n.s.Sideways, *x)
			}
			n.s.Side(&n.fine.Sensitivities, x, steps, n.second)
			n.s.Alone(x, k, steps[k])
		}
	}
	if !slices.Contains(n.first, k) { // nothing but rounding, and what steps differ by, tells the sides apart
		n.s.Ask(k)
	}
	return nil
}

// aslant makes runs in which several columns have moved by which second derivatives may jump: one alone does not leave
// the kink of a product, as abs(p*q) where both are 0.
func (n *neighbours) aslant(ctx context.Context, list []int) error {
	if !n.second || n.s.Curved == nil {
		return nil
	}
	var curved []int
	for _, k := range list {
		for at := k; at < len(n.s.Curved); at += n.columns {
			if n.s.Curved[at] && n.s.Compared[k] {
				curved = append(curved, k)
				break
			}
		}
	}
	if len(curved) < 2 {
		return nil
	}
	for direction := range min(len(curved), directions) { // in which any two go the same way, and other ways
		for _, way := range []float64{-1, 1} {
			steps := make([]float64, n.columns)
			for i, k := range curved {
				steps[k] = way * n.by[k] * n.part * portion(i, direction)
			}
			x, err := n.sideways(ctx, steps)
			if err != nil {
				return err
			}
			if x != nil {
				n.s.Aslant(&n.fine.Sensitivities, x, steps)
				n.s.Sideways = append(n.s.Sideways, *x)
			}
		}
	}
	return nil
}

// sideways makes runs whose columns are moved by steps, and by twice as much; nil where one fails.
func (n *neighbours) sideways(ctx context.Context, steps []float64) (*trust.Sideways, error) {
	b := n.Runner.beside
	x := trust.Sideways{
		Noise: min(max(b.settings.Solver.RTol, leastNoise), mostNoise), Part: n.part, Moved: make([]bool, n.columns),
	}
	moved := 0
	for k, by := range steps {
		if by != 0 {
			x.Moved[k] = true
			moved++
		}
	}
	x.Alone = moved == 1
	for times, to := range []*result.Sensitivities{&x.Near, &x.Far} {
		back := b.shift(steps, float64(times+1))
		other, err := b.once(ctx)
		if err == nil {
			*to = result.Sensitivities{
				Columns: n.columns, Gradient: slices.Clone(other.Gradient), Values: slices.Clone(other.Values),
			}
			if n.second {
				b.curve, b.last = n.curve, b
				err = b.differentiateTwice(ctx, to, n.s.Reached)
				b.curve = curvature{}
			}
		}
		back()
		if !n.keep {
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

// shift moves columns of r and its parts by steps, so many times, until back is called.
func (r *Runner) shift(steps []float64, times float64) (back func()) {
	var list []compiled.Move
	for _, v := range r.places {
		for e := range v.Len {
			if by := steps[v.Offset+e]; by != 0 {
				list = append(list, compiled.Move{Of: v, Element: e, By: float64(times * by)})
			}
		}
	}
	undo := []func(){r.problem.Point.Shift(list)}
	for _, part := range r.parts {
		undo = append(undo, part.shift(steps, times))
	}
	return func() {
		for _, back := range undo {
			back()
		}
	}
}
