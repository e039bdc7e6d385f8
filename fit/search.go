package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/internal/base/sample"
	"odes.dev/odes/lang/diag"
)

// search makes the searches that were not made before, and sorts them.
func (p *problem) search(ctx context.Context, out *Result) error {
	began := time.Now()
	within, end := judge{p}.within(ctx)
	defer end()
	first, done := judge{p}.until(ctx, 0.25) // it is the searches that are to have the time
	p.calibrate(first)
	done()
	all, err := p.searches()
	if err != nil {
		return err
	}
	at := Progress{Phase: "searches", Of: all.n, Best: math.NaN()}
	add := func(s Start) {
		out.Starts = append(out.Starts, s)
		out.Stats.add(&s)
		at.Done++
		if better(s.Value*p.sign(), at.Best*p.sign()) {
			at.Best = s.Value
		}
	}
	made := make([]bool, all.n)
	for _, s := range p.opts.Done {
		if s.Number >= 0 && s.Number < all.n && !made[s.Number] && p.sameStart(&s, all.points[s.Number]) {
			made[s.Number] = true
			add(s)
		}
	}
	var numbers []int
	for i := range made {
		if !made[i] {
			numbers = append(numbers, i)
		}
	}
	p.tell(at)
	if err := all.make(within, numbers, func(s Start) {
		add(s)
		p.tell(at)
		if p.opts.Found != nil && s.Status != "stopped" && !s.lost && !s.late {
			p.opts.Found(s)
		}
	}); err != nil {
		return err
	}
	p.sort(out.Starts)
	for i := 1; i < len(out.Starts); i++ {
		out.Starts[i].Stages = nil // nobody looks at them
	}
	p.cluster(out)
	out.Stats.Seconds.Searches = time.Since(began).Seconds()
	if len(out.Starts) == 0 || math.IsNaN(out.Starts[0].Value) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(out.Starts) == 0 {
			return fmt.Errorf("%w: %w", ErrNoMinimum, errTime)
		}
		return p.noMinimum(out.Starts)
	}
	if ctx.Err() != nil {
		out.Status = "partial"
	}
	return nil
}

// errTime ends searches that have taken as long as they may.
var errTime = errors.New("the limit of time was reached before a minimum")

// within returns a context for searches, which ends when they have taken as long as they may.
func (p judge) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return p.until(ctx, 1)
}

// until returns a context that ends when so many times the time of searches is over.
func (p judge) until(ctx context.Context, times float64) (context.Context, context.CancelFunc) {
	if p.settings.MaxTime == 0 {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, p.began.Add(p.most(times)), errTime)
}

// afterwards is when all of a fit ends, in times of searches: certificate, errors and intervals have half as long.
const afterwards = 1.5

// late reports whether that is over.
func (p judge) late() bool {
	return p.settings.MaxTime > 0 && time.Since(p.began) >= p.most(afterwards)
}

// cutShort says what ended the fit before all was done.
func (p judge) cutShort() string {
	if p.late() {
		return "the fit was ended: what follows the searches took more than half of fit.max_time = " +
			diag.Number(p.settings.MaxTime)
	}
	return "the fit was interrupted"
}

// most returns so many times the time of searches.
func (p judge) most(times float64) time.Duration {
	return time.Duration(min(times*p.settings.MaxTime*float64(time.Second), math.MaxInt64/2))
}

// add counts the work of a piece.
func (s *Stats) add(piece *Start) {
	s.Evaluations += piece.Evaluations
	s.Failures += piece.Failures
	s.Steady.add(piece.steady, SteadyWork{})
}

// noMinimum says why no search came to a value. Searches without one are in the order of their numbers.
func (p *problem) noMinimum(starts []Start) error {
	why := ""
	if p.readsPriors {
		why = p.unsupported()
	}
	first := starts[0].err
	if first == nil { // it was made before, or elsewhere
		first = errors.New(starts[0].Why)
	}
	if len(starts) == 1 {
		return fmt.Errorf("%w: the run at the start failed: %w%s", ErrNoMinimum, first, why)
	}
	return fmt.Errorf("%w from %d starts: all runs failed, the first with %w%s", ErrNoMinimum, len(starts), first, why)
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
func (p *problem) from(ctx context.Context, e *evaluator, number int, x []float64) Start {
	e.linking = false
	if !p.settings.Shooting.On() {
		return judge{p}.near(ctx, e, number, x)
	}
	return p.ended(ctx, e, number, p.values(x), func() (optim.Result, error) { return afar{p}.fromAfar(ctx, e, x) })
}

// near searches from x by whole runs.
func (p judge) near(ctx context.Context, e *evaluator, number int, x []float64) Start {
	return p.ended(ctx, e, number, p.values(x), func() (optim.Result, error) {
		return p.minimise(ctx, e, x, p.bounds())
	})
}

// ended makes a search that begins at some values, and says how it ended.
func (p *problem) ended(
	ctx context.Context, e *evaluator, number int, from []float64, search func() (optim.Result, error),
) Start {
	began := time.Now()
	e.searching, e.since = number, began
	defer func() { e.searching = -1 }()
	s := Start{Number: number, From: from, Value: math.NaN(), Cluster: -1}
	n, bad, rests := e.n, e.bad, e.steadyWork()
	e.forget() // a search depends on nothing that was before
	e.stages = nil
	r, err := search()
	s.Evaluations, s.Failures, s.Iterations = e.n-n, e.bad-bad, r.Iterations
	s.steady.add(e.steadyWork(), rests)
	s.Seconds = time.Since(began).Seconds()
	s.Why = r.Status.Words()
	switch {
	case ctx.Err() != nil && (err != nil || r.Status == optim.Stopped):
		s.Status, s.Why = "stopped", optim.Stopped.Words()
		if errors.Is(context.Cause(ctx), errTime) {
			s.Why, s.late = errTime.Error(), true
		}
		if err != nil { // before it had a value
			return s
		}
		if s.late {
			s.Status = "limit"
		}
	case err != nil:
		s.Status, s.Why, s.err = "failed", reason(err), err
		return s
	case r.Status.Converged():
		s.Status = "converged"
	case r.Status == optim.Iterations || r.Status == optim.Evaluations:
		s.Status = "limit"
	default:
		s.Status = "stuck"
	}
	if r.X != nil && r.Value-r.Value == 0 {
		s.x, s.To = r.X, p.values(r.X)
		s.Value, s.Violated, s.Stages = float64(p.sign()*r.Value), r.Violated, e.stages
	}
	return s
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

// searchOptions are those of a search from x.
func (p *problem) searchOptions(x []float64) optim.Options {
	const most = 300 // iterations: a search that takes more crawls along a plateau
	return optim.Options{Scale: p.scales(x), Iterations: cmp.Or(p.settings.MaxIter, most)}
}

// iterated returns what tells of the iterations of the search that is made now; nil where nobody asks. gap tells, where
// runs are in parts, the largest gap between two of them at a point; it is nil for whole runs.
func (e *evaluator) iterated(gap func(x []float64) float64) func(optim.Progress) {
	p, number, since := e.p, e.searching, e.since
	if p.opts.Iterated == nil || number < 0 {
		return nil
	}
	return func(at optim.Progress) {
		it := Iteration{
			Search: number, Iteration: at.Iterations, Evaluations: at.Evaluations,
			Value: float64(p.sign() * at.Value), Violation: at.Violation, Slope: at.Projected, Promised: at.Reduction,
			Radius: at.Radius, Seconds: time.Since(since).Seconds(),
		}
		if gap != nil {
			it.Weight, it.Gap = math.Inf(1), gap(at.X)
		}
		p.telling.Lock()
		defer p.telling.Unlock()
		p.opts.Iterated(it)
	}
}

// tellsJoining tells of an iteration of a search by parts of runs.
func (e *evaluator) tellsJoining(iteration int, value, weight, gap float64) {
	p := e.p
	if p.opts.Iterated == nil || e.searching < 0 {
		return
	}
	p.telling.Lock()
	defer p.telling.Unlock()
	p.opts.Iterated(Iteration{
		Search: e.searching, Iteration: iteration, Evaluations: e.n, Value: value, Weight: weight, Gap: gap,
		Seconds: time.Since(e.since).Seconds(),
	})
}

// minimise searches from x within bounds with the algorithm of the problem.
func (p *problem) minimise(ctx context.Context, e *evaluator, x []float64, b optim.Bounds) (optim.Result, error) {
	return p.confirmed(ctx, e, strings.HasPrefix(p.algorithm, "least_"), func() (optim.Result, error) {
		return p.descend(ctx, e, x, b)
	})
}

// descend is the search, whatever the runs begin at.
func (p *problem) descend(ctx context.Context, e *evaluator, x []float64, b optim.Bounds) (optim.Result, error) {
	o := p.searchOptions(x)
	o.Progress = e.iterated(nil)
	switch {
	case p.kinks && p.algorithm != "lbfgsb":
		return e.acrossFolds(ctx, x, b)
	case p.algorithm == "least_squares":
		q := e.leastSquares()
		q.Bounds = b
		return optim.LeastSquares(ctx, q, x, o)
	case p.algorithm == "sqp":
		return afar{p}.constrained(ctx, e, x, b, o)
	}
	q := e.smooth()
	q.Bounds = b
	if integrates(p) && p.algorithm == "newton" && len(p.coords) <= many {
		o.Promise = shortStep // a point takes long, and the steps behind a search have better Hessians
	}
	o.FirstOrder = p.algorithm == "lbfgsb"
	return optim.Minimize(ctx, q, x, o)
}

// acrossFolds is the search for objectives with absolute values.
func (e *evaluator) acrossFolds(ctx context.Context, x []float64, b optim.Bounds) (optim.Result, error) {
	o := e.p.searchOptions(x)
	o.Progress = e.iterated(nil)
	q := e.folded()
	q.Bounds = b
	return optim.Folded(ctx, q, x, o)
}

// points returns where searches start: the first from the values in the model, the others drawn.
func (p *problem) points() ([][]float64, error) {
	list := [][]float64{p.start}
	n := p.settings.Starts - 1
	if n == 0 {
		return list, nil
	}
	kind, _ := sample.KindNamed(p.settings.Points)
	cube, err := kind.New(n, len(p.coords), p.settings.Seed)
	if err != nil {
		return nil, err
	}
	from := p.ranges()
	u := make([]float64, len(p.coords))
	for i := range n {
		cube.At(i, u)
		x := slices.Clone(p.start)
		for k, d := range from {
			if d == nil {
				continue
			}
			v := d.Quantile(u[k])
			if c := &p.coords[k]; c.block == nil {
				v = c.of(v)
			}
			if v-v == 0 {
				x[k] = v
			}
		}
		list = append(list, x)
	}
	return list, nil
}

// ranges returns how the value of each coordinate is drawn: by its prior; else evenly within the bounds, on the scale
// of the search, and up to a power of ten to a side of its start without a bound. nil stands for one that is not drawn.
func (sp *space) ranges() []*sample.Dist {
	list := make([]*sample.Dist, len(sp.coords))
	for i, prior := range sp.priorsOf() {
		c := &sp.coords[i]
		list[i], _ = sample.NewDist(prior.Dist, prior.Args, c.lo, c.hi)
	}
	for i := range list {
		if list[i] != nil {
			continue
		}
		c := &sp.coords[i]
		at := c.value(sp.start[i])
		if c.block != nil { // by half of a standard deviation, which is a factor on the diagonal
			list[i], _ = sample.NewDist("uniform", []float64{sp.start[i] - 0.5, sp.start[i] + 0.5}, c.lo, c.hi)
			continue
		}
		reach := 9 * math.Abs(at)
		if reach == 0 {
			reach = 1
		}
		lo, hi, shape := c.lo, c.hi, "uniform"
		if math.IsInf(lo, -1) || c.log && lo == 0 {
			if lo = at - reach; at > 0 {
				lo = at / 10
			}
		}
		if math.IsInf(hi, 1) {
			if hi = at + reach; at < 0 {
				hi = at / 10
			}
		}
		if c.log {
			shape = "loguniform"
		}
		list[i], _ = sample.NewDist(shape, []float64{lo, hi}, c.lo, c.hi)
	}
	return list
}

// sort puts the best search first, those that violate constraints behind the others, and those without a value last.
func (p *problem) sort(list []Start) {
	slices.SortStableFunc(list, func(a, b Start) int {
		switch {
		case math.IsNaN(a.Value) || math.IsNaN(b.Value):
			if math.IsNaN(a.Value) != math.IsNaN(b.Value) {
				return map[bool]int{true: 1, false: -1}[math.IsNaN(a.Value)]
			}
		case a.Violated != b.Violated:
			return map[bool]int{true: 1, false: -1}[a.Violated]
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
		if last >= 0 && math.Abs(s.Value-out.Clusters[last].Value) <= max(p.agree(s.Value), p.fine.asunder) &&
			s.Violated == out.Starts[out.Clusters[last].Best].Violated {
			out.Clusters[last].Starts++
		} else {
			out.Clusters = append(out.Clusters, Cluster{Value: s.Value, Starts: 1, Best: i})
			last++
		}
		s.Cluster = last
	}
}

// twins tells minima of one value apart, as with rates of absorption and of elimination that may change places.
type twins struct{ *problem }

// part gives the searches that came to the best value, but to different minima, clusters of their own.
func (p twins) part(ctx context.Context, e *evaluator, m *minimum, out *Result) {
	const most = 8 // points that are compared
	if !out.KKT.Certified || len(out.Clusters) == 0 || out.Clusters[0].Starts == 1 || len(m.x) > many {
		return
	}
	least := 10 * p.agree(out.Objective.Value)
	if p.squares {
		q := p.quantile(m) * m.factor
		least = max(least, 0.05*q*q/2)
	}
	type end struct {
		x  []float64
		of int // cluster
	}
	sizes, value := p.sizes(m.x), out.Objective.Value*p.sign()
	ends, list := []end{{m.x, 0}}, []Cluster{out.Clusters[0]}
	to := make([]int, len(out.Starts)) // their clusters
	for i := range out.Starts {
		s := &out.Starts[i]
		if s.Cluster != 0 || s.Status != "converged" || s.x == nil {
			continue
		}
		at := slices.IndexFunc(ends, func(o end) bool { return alike(o.x, s.x, sizes) })
		if at < 0 {
			if len(ends) > most {
				continue
			}
			at = slices.IndexFunc(ends, func(o end) bool { return !p.apart(ctx, e, o.x, s.x, value, least) })
			of := len(list)
			if at >= 0 {
				of = ends[at].of
			} else {
				list = append(list, Cluster{Value: s.Value, Best: i})
			}
			at = len(ends)
			ends = append(ends, end{s.x, of})
		}
		if k := ends[at].of; k > 0 {
			to[i] = k
			list[0].Starts--
			list[k].Starts++
		}
	}
	for i := range out.Starts {
		switch s := &out.Starts[i]; {
		case s.Cluster == 0:
			s.Cluster = to[i]
		case s.Cluster > 0:
			s.Cluster += len(list) - 1
		}
	}
	out.Clusters = append(list, out.Clusters[1:]...)
}

// apart reports whether two minima of about one value are two: on the way from one to the other the objective rises by
// more than least, wherever the other coordinates go. In a valley that the data leave open it does not.
func (p twins) apart(ctx context.Context, e *evaluator, a, b []float64, value, least float64) bool {
	sizes, j := p.sizes(a), 0
	for k := range a {
		if math.Abs(a[k]-b[k])/sizes[k] > math.Abs(a[j]-b[j])/sizes[j] {
			j = k
		}
	}
	for _, part := range []float64{0.5, 0.25, 0.75} {
		at, low := a[j]+part*(b[j]-a[j]), math.Inf(1)
		for _, from := range [][]float64{a, b} {
			x := slices.Clone(from)
			x[j] = at
			if r, ok := p.held(ctx, e, x, j, at); ok {
				low = min(low, r.Value)
			}
		}
		if low-value > least && ctx.Err() == nil {
			return true
		}
	}
	return false
}

// name tells of the minima that are as good as the best.
func (p twins) name(out *Result, note func(diag.Level, string, ...any)) {
	const most = 4
	var texts []string
	for _, c := range out.Clusters {
		if math.Abs(c.Value-out.Clusters[0].Value) > max(p.agree(c.Value), p.fine.asunder) {
			break
		}
		var parts []string
		for i, v := range out.Starts[c.Best].To {
			parts = append(parts, out.Estimates[i].Text()+" = "+diag.Number(v))
		}
		texts = append(texts, strings.Join(parts, ", "))
	}
	if n := len(texts); n > 1 {
		note(diag.Warning, "%d minima are equally good, and the data do not choose: %s; standard errors are those of "+
			"the first alone", n, strings.Join(texts[:min(n, most)], "; "))
	}
}

// agree is how far values of the objective may be from one another that count as one.
func (p *problem) agree(v float64) float64 {
	if p.squares {
		return 1e-3
	}
	return 1e-6 * max(math.Abs(v), 1e-12)
}
