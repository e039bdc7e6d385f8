package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"odes.dev/odes/internal/elem"
	"odes.dev/odes/internal/optim"
	"odes.dev/odes/lang/diag"
)

// search makes the searches, as many at a time as there are workers, and sorts them.
func (p *problem) search(ctx context.Context, out *Result) error {
	began := time.Now()
	p.calibrate(ctx)
	points := p.points()
	list := make([]Start, len(points))
	causes := make([]error, len(points))
	made := make([]bool, len(points))
	for _, s := range p.opts.Done {
		if s.Number >= 0 && s.Number < len(points) && p.sameStart(&s, points[s.Number]) {
			list[s.Number], made[s.Number] = s, true
		}
	}
	at := Progress{Phase: "searches", Of: len(points), Best: math.NaN()}
	var mu sync.Mutex
	done := func(s *Start) {
		mu.Lock()
		defer mu.Unlock()
		at.Done++
		if better(s.Value*p.sign(), at.Best*p.sign()) {
			at.Best = s.Value
		}
		p.tell(at)
		if p.opts.Found != nil && s.Status != "stopped" {
			p.opts.Found(*s)
		}
	}
	for i := range list {
		if made[i] {
			at.Done++
			if better(list[i].Value*p.sign(), at.Best*p.sign()) {
				at.Best = list[i].Value
			}
		}
	}
	next := make(chan int)
	var wait sync.WaitGroup
	var failed error
	for range min(p.opts.workers(), len(points)) {
		wait.Go(func() {
			e, err := p.borrow()
			if err != nil {
				mu.Lock()
				failed = err
				mu.Unlock()
				for range next { //nolint:revive // the others are let go
				}
				return
			}
			defer p.giveBack(e)
			for i := range next {
				list[i], causes[i] = p.from(ctx, e, i, points[i])
				made[i] = true
				done(&list[i])
			}
		})
	}
	for i := range points {
		if made[i] || ctx.Err() != nil {
			continue
		}
		next <- i
	}
	close(next)
	wait.Wait()
	if failed != nil {
		return failed
	}
	for i := range list {
		if made[i] {
			out.Starts = append(out.Starts, list[i])
			out.Stats.Evaluations += list[i].Evaluations
			out.Stats.Failures += list[i].Failures
		}
	}
	p.sort(out.Starts)
	p.cluster(out)
	out.Stats.Seconds.Searches = time.Since(began).Seconds()
	if len(out.Starts) == 0 || math.IsNaN(out.Starts[0].Value) {
		if err := ctx.Err(); err != nil {
			return err
		}
		return p.noMinimum(out.Starts, causes)
	}
	if ctx.Err() != nil {
		out.Status = "partial"
	}
	return nil
}

// noMinimum says why no search came to a value.
func (p *problem) noMinimum(starts []Start, causes []error) error {
	first := causes[0]
	for _, err := range causes {
		if first == nil {
			first = err
		}
	}
	if len(starts) == 1 {
		return fmt.Errorf("%w: the run at the start failed: %w", ErrNoMinimum, first)
	}
	return fmt.Errorf("%w from %d starts, where all runs failed; the first: %w", ErrNoMinimum, len(starts), first)
}

// better reports whether a is less than b, or there is no b.
func better(a, b float64) bool { return a < b || !math.IsNaN(a) && math.IsNaN(b) }

// sameStart reports whether a search that was made before began at x.
func (p *problem) sameStart(s *Start, x []float64) bool {
	if !slices.Equal(s.From, p.values(x)) || s.Status == "stopped" {
		return false
	}
	return s.To == nil || len(s.To) == len(x) && len(s.x) == len(x)
}

// from searches from x.
func (p *problem) from(ctx context.Context, e *evaluator, number int, x []float64) (Start, error) {
	began := time.Now()
	s := Start{Number: number, From: p.values(x), Value: math.NaN(), Cluster: -1}
	n, bad := e.n, e.bad
	e.last = nil // a search depends on nothing that was before
	r, err := p.minimise(ctx, e, x, p.bounds())
	s.Evaluations, s.Failures, s.Iterations = e.n-n, e.bad-bad, r.Iterations
	s.Seconds = time.Since(began).Seconds()
	s.Why = r.Status.Words()
	switch {
	case ctx.Err() != nil && (err != nil || r.Status == optim.Stopped):
		if s.Status, s.Why = "stopped", optim.Stopped.Words(); err != nil { // before it had a value
			return s, nil
		}
	case err != nil:
		s.Status, s.Why = "failed", reason(err)
		return s, err
	case r.Status.Converged():
		s.Status = "converged"
	case r.Status == optim.Iterations || r.Status == optim.Evaluations:
		s.Status = "limit"
	default:
		s.Status = "stuck"
	}
	if r.X != nil && r.Value-r.Value == 0 {
		s.x, s.To = r.X, p.values(r.X)
		s.Value = float64(p.sign() * r.Value)
	}
	return s, nil
}

// reason returns what an error says, without the words of package optim around it.
func reason(err error) string {
	if list := diag.Of(err); list != nil {
		return list[0].Message
	}
	for _, cause := range unwrap(err) {
		if !errors.Is(cause, optim.ErrStart) {
			return cause.Error()
		}
	}
	return err.Error()
}

func unwrap(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	return nil
}

// minimise searches from x within bounds with the algorithm of the problem.
func (p *problem) minimise(ctx context.Context, e *evaluator, x []float64, b optim.Bounds) (optim.Result, error) {
	const most = 300 // iterations: a search that takes more crawls along a plateau
	o := optim.Options{Scale: p.sizes(x), Iterations: cmp.Or(p.settings.MaxIter, most)}
	switch p.algorithm {
	case "least_squares":
		q := e.leastSquares()
		q.Bounds = b
		return optim.LeastSquares(ctx, q, x, o)
	case "sqp":
		q := e.constrained()
		q.Bounds = b
		return optim.Constrained(ctx, q, x, o)
	}
	q := e.smooth()
	q.Bounds = b
	o.FirstOrder = p.algorithm == "lbfgsb"
	return optim.Minimize(ctx, q, x, o)
}

// points returns where searches start: the first from the values in the model, the others drawn.
func (p *problem) points() [][]float64 {
	list := [][]float64{p.start}
	if p.settings.Starts == 1 {
		return list
	}
	from := p.boxes()
	for _, u := range optim.LatinHypercube(p.settings.Seed, p.settings.Starts-1, len(p.coords)) {
		x := make([]float64, len(u))
		for i := range u {
			x[i] = from[i].at(u[i])
		}
		list = append(list, x)
	}
	return list
}

// box is where a coordinate is drawn: evenly between lo and hi, or by a prior's quantiles within the bounds.
type box struct {
	lo, hi       float64
	normal       bool // mean and sd are those of a normal distribution of the coordinate
	mean, sd     float64
	below, above float64 // its probabilities below lo, and below hi
}

func (b box) at(u float64) float64 {
	if !b.normal {
		return b.lo + float64(u*(b.hi-b.lo))
	}
	q := b.below + float64(u*(b.above-b.below))
	return min(max(b.mean+float64(b.sd*normalQuantile(q)), b.lo), b.hi)
}

// boxes returns where each coordinate is drawn: by its prior, if that is normal on the scale of the search; else evenly
// within the bounds, on that scale; and a power of ten to either side of its start where there is none.
func (p *problem) boxes() []box {
	bounds := p.bounds()
	list := make([]box, len(p.coords))
	for i := range list {
		c := &p.coords[i]
		b := box{lo: bounds.Lo[i], hi: bounds.Hi[i]}
		x := p.start[i]
		reach := 9 * math.Abs(x)
		if c.log {
			reach = elem.Log(10)
		}
		if reach == 0 {
			reach = 1
		}
		if math.IsInf(b.lo, -1) {
			b.lo = x - reach
			if !c.log && x > 0 {
				b.lo = x / 10
			}
		}
		if math.IsInf(b.hi, 1) {
			b.hi = x + reach
			if !c.log && x < 0 {
				b.hi = x / 10
			}
		}
		list[i] = b
	}
	e, err := p.borrow()
	if err != nil || e.comparison == nil {
		return list
	}
	defer p.giveBack(e)
	for i, prior := range p.priorsOf(e.comparison) {
		c := &p.coords[i]
		if prior.Noise == "normal" && !c.log || prior.Noise == "lognormal" && c.log {
			b := &list[i]
			b.normal, b.mean, b.sd = true, prior.Args[0], prior.Args[1]
			b.lo, b.hi = bounds.Lo[i], bounds.Hi[i]
			b.below, b.above = normalCDF((b.lo-b.mean)/b.sd), normalCDF((b.hi-b.mean)/b.sd)
			b.below, b.above = max(b.below, 1e-6), min(b.above, 1-1e-6)
		}
	}
	return list
}

// sort puts the best search first, and those without a value last.
func (p *problem) sort(list []Start) {
	slices.SortStableFunc(list, func(a, b Start) int {
		switch {
		case math.IsNaN(a.Value) || math.IsNaN(b.Value):
			if math.IsNaN(a.Value) != math.IsNaN(b.Value) {
				return map[bool]int{true: 1, false: -1}[math.IsNaN(a.Value)]
			}
		case a.Value != b.Value:
			return cmp.Compare(a.Value*p.sign(), b.Value*p.sign())
		}
		return a.Number - b.Number
	})
}

// cluster gathers the searches by the minima to which they came. Values that differ by less than a thousandth, as
// negative log likelihoods do without any meaning, or by rounding, are equal.
func (p *problem) cluster(out *Result) {
	for i := range out.Starts {
		s := &out.Starts[i]
		if math.IsNaN(s.Value) || s.Status == "stopped" {
			continue
		}
		last := len(out.Clusters) - 1
		if last >= 0 && math.Abs(s.Value-out.Clusters[last].Value) <= p.alike(s.Value) {
			out.Clusters[last].Starts++
		} else {
			out.Clusters = append(out.Clusters, Cluster{Value: s.Value, Starts: 1, Best: i})
			last++
		}
		s.Cluster = last
	}
}

// alike is how far values of the objective may be from one another that count as one.
func (p *problem) alike(v float64) float64 {
	if p.squares {
		return 1e-3
	}
	return 1e-6 * max(math.Abs(v), 1e-12)
}
