package fit

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/internal/base/shoot"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// Multiple shooting: a run is divided into parts. Each begins with values of its own, which are unknowns of the search,
// as estimates are. So the data hold every part where they are, and no error grows along the whole run. What separates
// the end of a part from the start of the next, the gap, has a penalty whose weight grows until the parts join. Then
// they are joined exactly, and the ordinary search by whole runs goes on from there: its result is that of the fit. See
// docs/fit.md.

// shooting is a search by parts. It belongs to one goroutine, and shares its evaluations out among others.
type shooting struct {
	p      *problem
	e      *evaluator // of the whole run
	chains []*chain   // of the experiments, or of the model itself
	lo, hi []float64
	// quiet marks what no prediction and no end of a part depends on, such as standard deviations. Parts that are not
	// joined yet can come as close to the data as they like, so these are held until the parts are joined.
	quiet      []bool
	workers    int
	otherwise  bool // into fewer parts than were asked for
	iterations int
	stages     []Stage
}

// chain is the run of an experiment in parts.
type chain struct {
	experiment int
	name       string
	node       odes.Node
	size       int       // of a node: numbers that are unknowns
	scale      []float64 // [size]: typical sizes of these
	chosen     bool      // the data chose the labels of the parts
	parts      []*stretch
}

// stretch is a part of a run.
type stretch struct {
	window odes.Window
	c      *odes.Comparison
	set    []odes.Assignment
	border int   // of set: assignments of what is searched for
	marks  []int // places in set of Node.Labels
	// Its coordinates are those of q: the first of them are coordinates of the fit, of are their numbers. Those of the
	// node follow.
	q    *problem
	e    *evaluator
	of   []int
	left []float64 // what the part before leaves of Node.Labels
}

// joint is a point of the search with all that was computed there.
type joint struct {
	x     []float64
	nodes [][][]float64 // [chain][part]; nil for the first part
	at    [][]piece
	prior optim.Residuals
	value float64 // of the objective, without gaps
	gaps  float64 // the sum of the squares of scaled gaps
	most  float64 // the largest of them
}

// piece is what came of a part at a place.
type piece struct {
	optim.Residuals
	ends   []float64   // of the node and its labels
	slopes []float64   // [len(ends)][columns]
	said   [][]float64 // [group][row]: predictions
	value  float64
}

// afar makes the searches of a problem that may begin far away.
type afar struct{ *problem }

// inParts is a search by parts of runs.
type inParts interface {
	// search moves from x until the parts join, and returns where. First values of nodes follow what is known, or not.
	search(ctx context.Context, x []float64, forced bool) (to []float64, err error)
	// hides reports whether nodes can begin in another way than the forced one.
	hides() bool
	// made returns how many iterations searches took since it was asked last, and the stages of the last one.
	made() (iterations int, stages []Stage)
}

// shooter divides the runs of a fit: as the settings say, or once more in another way. It returns an error that names
// what cannot be divided.
func (p afar) shooter(e *evaluator, otherwise bool) (inParts, error) {
	to := &e.far[0]
	if otherwise {
		to = &e.far[1]
	}
	if *to == nil {
		s, err := p.divided(e, otherwise)
		if err != nil {
			return nil, err
		}
		*to = s
	}
	return *to, nil
}

// divisible returns the error of shooter, where runs are to be divided in any case.
func (p afar) divisible(e *evaluator) error {
	if on := &p.settings.Shooting; !on.On() || on.Auto {
		return nil
	}
	_, err := p.shooter(e, false)
	return err
}

// divided is shooter without memory.
func (p afar) divided(e *evaluator, otherwise bool) (inParts, error) {
	if _, err := p.model.Node(-1); err != nil { // the reason why there are no rows may be among these
		return nil, err
	}
	if p.settings.Warm {
		return nil, undivided("the model has steady states, and a part of a run has none")
	}
	if e.comparison == nil {
		return p.legs(e, otherwise, 0)
	}
	s := &shooting{
		p: p.problem, e: e, otherwise: otherwise, workers: p.partsAtOnce(), quiet: make([]bool, len(p.coords)),
	}
	b := p.bounds()
	s.lo, s.hi = b.Lo, b.Hi
	var names []string // of experiments with data
	for i := range e.comparison.Groups {
		if x := e.comparison.Groups[i].Experiment; !slices.Contains(names, x) {
			names = append(names, x)
		}
	}
	all := p.model.Experiments()
	for _, name := range names {
		c := &chain{experiment: slices.Index(all, name), name: name}
		if err := s.divide(c); err != nil {
			return nil, err
		}
		s.chains = append(s.chains, c)
	}
	if !slices.ContainsFunc(s.chains, func(c *chain) bool { return len(c.parts) > 1 }) {
		return nil, noneWithin
	}
	return s, nil
}

// noneWithin says that parts are to begin at no time of a run.
var noneWithin = undivided("none of the times at which parts are to begin lies within the run")

// undivided is the error of runs that cannot be divided.
func undivided(why string) error {
	var l diag.List
	l.Errorf(odes.CodeSetting, source.Span{}, "fit.shooting: %s", why)
	return l.Err()
}

// partsAtOnce is how many parts of runs are made at once.
func (p afar) partsAtOnce() int {
	if p.settings.Starts == 1 || p.opts.workers() == 1 {
		return p.opts.workers()
	}
	return 1
}

// groups returns the observations of a chain in the whole run.
func (s *shooting) groups(c *chain) (list []*odes.Compared) {
	for i := range s.e.comparison.Groups {
		if g := &s.e.comparison.Groups[i]; g.Experiment == c.name {
			list = append(list, g)
		}
	}
	return list
}

// divide chooses where the parts of a chain begin, and prepares their runs.
func (s *shooting) divide(c *chain) (err error) {
	p := s.p
	if c.node, err = p.model.Node(c.experiment); err != nil {
		return err
	}
	for _, n := range c.node.Sizes {
		c.size += n
	}
	o := p.runOptions()
	span, err := p.model.Span(c.experiment, o)
	if err == nil {
		err = span.Fixed()
	}
	if err != nil {
		return err
	}
	from := span.From
	cuts := s.cuts(c, span.From, span.To, span.Due)
	ends := append(slices.Clone(cuts), span.To)
	for k, end := range ends {
		x := &stretch{window: odes.Window{Experiment: c.experiment, From: from, To: end, First: k == 0}}
		if err := s.prepare(c, x); err != nil {
			return err
		}
		c.parts = append(c.parts, x)
		from = end
	}
	return nil
}

// sampled returns the times of the data of a chain within the run, and those at which all is observed that observations
// read as it is, if there are some.
func (s *shooting) sampled(c *chain, from, to float64) (times, whole []float64) {
	count, kinds := map[float64]int{}, 0
	for _, g := range s.groups(c) {
		one := 0
		if s.p.model.Observed(c.experiment, g.Observation) >= 0 {
			one = 1
		}
		kinds += one
		seen := map[float64]bool{}
		for _, t := range g.T {
			if seen[t] || !(t > from && t < to) {
				continue
			}
			seen[t] = true
			if _, known := count[t]; !known {
				times = append(times, t)
			}
			count[t] += one
		}
	}
	slices.Sort(times)
	for _, t := range times {
		if kinds > 0 && count[t] == kinds {
			whole = append(whole, t)
		}
	}
	if len(whole) < 2 {
		whole = times
	}
	return times, whole
}

// cutter chooses the times at which parts begin.
type cutter struct {
	from, to, near float64
	due            []float64 // no part begins at these
	list           []float64
}

func (c *cutter) free(t float64) bool {
	return !slices.ContainsFunc(c.due, func(d float64) bool { return math.Abs(d-t) <= c.near })
}

// add adds a time that is later than those before, if a part can begin there.
func (c *cutter) add(t float64) {
	if t > c.from+c.near && t < c.to-c.near && c.free(t) &&
		(len(c.list) == 0 || t > c.list[len(c.list)-1]+c.near) {
		c.list = append(c.list, t)
	}
}

// given adds times that were asked for: where an event is due, one just ahead of it.
func (c *cutter) given(own []float64) {
	own = slices.Clone(own)
	slices.Sort(own)
	before := c.from
	for _, t := range own {
		if c.free(t) {
			c.add(t)
		} else {
			c.add(t - (t-before)/16)
		}
		before = t
	}
}

// even adds times between n parts of about the same length, at those of a list that are near.
func (c *cutter) even(n int, whole []float64) {
	length := (c.to - c.from) / float64(n)
	for k := 1; k < n; k++ {
		t := c.from + float64(float64(k)*length)
		best := t
		if i, found := slices.BinarySearch(whole, t); !found {
			reach := length / 2
			for j := max(i-1, 0); j <= min(i, len(whole)-1); j++ {
				if d := math.Abs(whole[j] - t); d < reach && c.free(whole[j]) {
					best, reach = whole[j], d
				}
			}
		}
		for try := 1; !c.free(best) && try < 8; try++ {
			best -= length / 16
		}
		c.add(best)
	}
}

// cuts returns where the parts of a chain begin, but for the first.
func (s *shooting) cuts(c *chain, from, to float64, due []float64) []float64 {
	const rows, least, most = 5, 4, 60 // times of data in a part, and parts, of `auto`
	at := &cutter{from: from, to: to, near: 1e-9 * (to - from), due: due}
	times, whole := s.sampled(c, from, to)
	asked := s.p.settings.Shooting
	n := cmp.Or(asked.Segments, len(asked.Times))
	switch {
	case len(asked.Times) > 0 && !s.otherwise:
		at.given(asked.Times)
		return at.list
	case n == 0:
		n = max(least, min(len(times)/rows, most))
	}
	if s.otherwise {
		n = max(2, (3*n+2)/4)
	}
	at.even(n, whole)
	return at.list
}

// prepare makes the runs of a part.
func (s *shooting) prepare(c *chain, x *stretch) (err error) {
	p := s.p
	if x.c, err = p.model.CompareWithin(p.settings.Objective, x.window, x.lay(p, &c.node)); err != nil {
		return err
	}
	x.place(p, &c.node, x.c.Variables)
	x.e = &evaluator{p: x.q, comparison: x.c}
	for i := range x.c.Groups {
		for k := range x.c.Groups[i].T {
			if squared(&x.c.Groups[i], k) {
				x.e.rows++
			}
		}
	}
	return nil
}

// lay makes room for what the run of a part is given, and returns its options.
func (x *stretch) lay(p *problem, node *odes.Node) odes.Options {
	o := p.runOptions().While(p.ctx)
	o.Threads, o.Wrt = 1, nil
	set := func(name string, n int) {
		x.set = append(x.set, odes.Assignment{Name: name, Values: make([]float64, n)})
	}
	for i, v := range p.settings.Over {
		if v.Initial && !x.window.First {
			continue
		}
		set(p.names[i], v.Size())
		o.Wrt = append(o.Wrt, p.names[i])
	}
	x.border = len(x.set)
	if !x.window.First {
		for i, name := range node.Names {
			set(name, node.Sizes[i])
			o.Wrt = append(o.Wrt, name)
		}
		for i, name := range node.Labels {
			x.marks = append(x.marks, len(x.set))
			set(name, node.Marks[i])
		}
	}
	o.Set = append(slices.Clone(o.Set), x.set[x.border:]...)
	if o.Wrt == nil { // of initial values alone
		o.Wrt = []string{}
	}
	return o
}

// place finds the coordinates of a part, whose runs are differentiated by variables.
func (x *stretch) place(p *problem, node *odes.Node, variables []odes.Variable) {
	x.q = &problem{model: p.model, settings: p.settings, rough: 1}
	column := map[string]int{}
	for _, v := range variables {
		column[v.String()] = v.Offset
	}
	k := 0 // of x.set
	for i, v := range p.settings.Over {
		if v.Initial && !x.window.First {
			continue
		}
		for j := range p.coords {
			if a := p.coords[j]; a.variable == i {
				a.variable, a.column = k, column[p.names[i]]+a.element
				x.q.coords = append(x.q.coords, a)
				x.of = append(x.of, j)
			}
		}
		k++
	}
	if x.window.First {
		return
	}
	for i, name := range node.Names {
		for j := range node.Sizes[i] {
			x.q.coords = append(x.q.coords, coordinate{
				variable: x.border + i, element: j, column: column[name] + j, lo: math.Inf(-1), hi: math.Inf(1),
			})
		}
	}
}

// move sets what the run of a part is given, and returns its coordinates.
func (x *stretch) move(border, node []float64) []float64 {
	at := make([]float64, 0, len(x.q.coords))
	for _, i := range x.of {
		at = append(at, border[i])
	}
	at = append(at, node...)
	for i := range at {
		c := &x.q.coords[i]
		x.set[c.variable].Values[c.element] = c.value(at[i])
	}
	k := 0
	for _, i := range x.marks {
		k += copy(x.set[i].Values, x.left[k:])
	}
	return at
}

// run makes the run of a part.
func (x *stretch) run(ctx context.Context, border, node []float64) (out piece, err error) {
	at := x.move(border, node)
	if err := x.c.Set(x.set...); err != nil {
		return out, err
	}
	if err := x.c.Run(ctx); err != nil {
		return out, err
	}
	for i := range x.c.Groups {
		if err := impossible(&x.c.Groups[i]); err != nil {
			return out, err
		}
	}
	n := len(at)
	out.R, out.J = make([]float64, x.e.rows), make([]float64, x.e.rows*n)
	out.Gradient, out.Curvature = make([]float64, n), make([]float64, n*n)
	x.e.fill(at, optim.Slopes, &out.Residuals, nil)
	ends := x.c.Ends()
	out.ends, out.slopes = slices.Clone(ends.Values), slices.Clone(ends.Slopes)
	for i := range x.c.Groups {
		out.said = append(out.said, slices.Clone(x.c.Groups[i].Prediction.Values))
	}
	out.value = out.Rest
	for _, v := range out.R {
		out.value += float64(v * v / 2)
	}
	if !(out.value-out.value == 0) {
		return out, errors.New("the objective has no value in a part of the run")
	}
	return out, nil
}

// at makes the runs of all parts at a place.
func (s *shooting) at(ctx context.Context, x []float64, nodes [][][]float64) (*joint, error) {
	s.e.n++
	defer s.p.evaluated()
	q := &joint{x: x, nodes: nodes}
	type job struct{ c, k int }
	var jobs []job
	for i, c := range s.chains {
		q.at = append(q.at, make([]piece, len(c.parts)))
		for k := range c.parts {
			jobs = append(jobs, job{i, k})
		}
	}
	if err := atOnce(s.workers, len(jobs), func(n int) (err error) {
		j := jobs[n]
		q.at[j.c][j.k], err = s.chains[j.c].parts[j.k].run(ctx, x, nodes[j.c][j.k])
		return err
	}); err != nil {
		s.e.bad++
		return nil, err
	}
	s.priors(q)
	for i, c := range s.chains {
		for k := range c.parts {
			q.value += q.at[i][k].value
			if k+1 == len(c.parts) {
				break
			}
			for j, start := range nodes[i][k+1] {
				g := (q.at[i][k].ends[j] - start) / c.scale[j]
				q.gaps += float64(g * g)
				q.most = max(q.most, math.Abs(g))
			}
		}
	}
	if !(q.value-q.value == 0 && q.gaps-q.gaps == 0) {
		s.e.bad++
		return nil, errors.New("the objective has no value")
	}
	return q, nil
}

// atOnce makes jobs, some of them at once, and returns the first error in their order.
func atOnce(workers, jobs int, do func(n int) error) error {
	if workers == 1 {
		for n := range jobs {
			if err := do(n); err != nil { // the others would be for nothing
				return err
			}
		}
		return nil
	}
	errs := make([]error, jobs)
	next := make(chan int)
	var wait sync.WaitGroup
	for range min(workers, jobs) {
		wait.Go(func() {
			for n := range next {
				errs[n] = do(n)
			}
		})
	}
	for n := range jobs {
		next <- n
	}
	close(next)
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// priors adds those of the objective to a place.
func (s *shooting) priors(q *joint) {
	p, n := s.p, len(q.x)
	r := &q.prior
	rows := 0
	if s.e.comparison.PriorWeight > 0 {
		rows = p.priorsAmong(squaredPriors)
	}
	r.R, r.J = make([]float64, rows), make([]float64, rows*n)
	r.Gradient, r.Curvature = make([]float64, n), make([]float64, n*n)
	slopes := make([]float64, n)
	for i := range slopes {
		slopes[i] = p.coords[i].slope(p.coords[i].value(q.x[i]))
	}
	r.Rest = p.fixed
	t := sums{e: s.e, want: optim.Slopes, at: r, slopes: slopes, work: make([]float64, n)}
	t.priors(q.x)
	q.value += r.Rest
	for _, v := range r.R {
		q.value += float64(v * v / 2)
	}
}

// model returns the quadratic model around a place.
func (s *shooting) model(q *joint, weight float64) *shoot.Problem {
	b := len(q.x)
	pr := &shoot.Problem{Border: b, Weight: weight, BorderSizes: make([]float64, b)}
	pr.H, pr.G = normal(&q.prior, b)
	capped := min(weight, 1)
	for i := range b {
		pr.BorderSizes[i] = pr.H[i*b+i]
		pr.Lo, pr.Hi = append(pr.Lo, s.lo[i]-q.x[i]), append(pr.Hi, s.hi[i]-q.x[i])
		if s.quiet[i] && !math.IsInf(weight, 1) {
			pr.Lo[i], pr.Hi[i] = 0, 0
		}
	}
	for i, c := range s.chains {
		var list []shoot.Part
		var sizes [][]float64
		for k, x := range c.parts {
			own, n := 0, len(x.q.coords)
			if k > 0 {
				own = c.size
			}
			w := own + b
			// where a coordinate of the part stands, and what it is multiplied by
			to, by := make([]int, n), make([]float64, n)
			for j := range n {
				if j < len(x.of) {
					to[j], by[j] = own+x.of[j], 1
				} else {
					to[j], by[j] = j-len(x.of), c.scale[j-len(x.of)]
				}
			}
			h, g := normal(&q.at[i][k].Residuals, n)
			part := shoot.Part{Start: own, H: make([]float64, w*w), G: make([]float64, w)}
			for j := range n {
				part.G[to[j]] += float64(g[j] * by[j])
				for l := range n {
					part.H[to[j]*w+to[l]] += float64(float64(h[j*n+l]*by[j]) * by[l])
				}
			}
			size := make([]float64, own)
			for j := range own {
				size[j] = part.H[j*w+j]
				if k > 0 {
					size[j] += capped
				}
			}
			for j := range b {
				pr.BorderSizes[j] += part.H[(own+j)*w+own+j]
			}
			if k+1 < len(c.parts) {
				part.J, part.E = make([]float64, c.size*w), make([]float64, c.size)
				for r := range c.size {
					part.E[r] = (q.at[i][k].ends[r] - q.nodes[i][k+1][r]) / c.scale[r]
					for j := range n {
						co := &x.q.coords[j]
						d := q.at[i][k].slopes[r*x.c.Columns+co.column]
						if j < len(x.of) {
							d = float64(d * co.slope(co.value(q.x[x.of[j]])))
						}
						d = float64(d*by[j]) / c.scale[r]
						part.J[r*w+to[j]] += d
						if to[j] < own {
							size[to[j]] += float64(capped * d * d)
						} else {
							pr.BorderSizes[to[j]-own] += float64(capped * d * d)
						}
					}
				}
			}
			list, sizes = append(list, part), append(sizes, size)
		}
		pr.Chains, pr.StartSizes = append(pr.Chains, list), append(pr.StartSizes, sizes)
	}
	for i, v := range pr.BorderSizes {
		pr.BorderSizes[i] = max(v, 1e-12)
	}
	return pr
}

// normal returns the matrix and the gradient of the model of some residuals and their rest.
func normal(r *optim.Residuals, n int) (h, g []float64) {
	h, g = slices.Clone(r.Curvature), slices.Clone(r.Gradient)
	for i, v := range r.R {
		row := r.J[i*n : (i+1)*n]
		for a, d := range row {
			if d == 0 {
				continue
			}
			g[a] += float64(v * d)
			for b, e := range row {
				h[a*n+b] += float64(d * e)
			}
		}
	}
	return h, g
}

// moved returns the place a step away, or an error.
func (s *shooting) moved(ctx context.Context, q *joint, border []float64, starts [][][]float64) (*joint, error) {
	x := slices.Clone(q.x)
	for i, d := range border {
		x[i] = max(s.lo[i], min(s.hi[i], x[i]+d))
	}
	nodes := make([][][]float64, len(q.nodes))
	for i, c := range s.chains {
		nodes[i] = make([][]float64, len(c.parts))
		for k := 1; k < len(c.parts); k++ {
			nodes[i][k] = slices.Clone(q.nodes[i][k])
			for j, d := range starts[i][k] {
				nodes[i][k][j] += float64(d * c.scale[j])
			}
		}
	}
	return s.at(ctx, x, nodes)
}

// passOn hands the labels at the ends of parts on, and reports whether some have changed. Where data chose those that
// parts have, they stay while parts are far from being joined, and then as long as the data speak against others.
func (s *shooting) passOn(ctx context.Context, q *joint, weight float64) (changed bool) {
	const stay, speak, enough = 100, 1e6, 1 // weights, and a difference in the objective
	for i, c := range s.chains {
		if c.chosen && weight < stay {
			continue
		}
		for k := 1; k < len(c.parts); k++ {
			part, left := c.parts[k], q.at[i][k-1].ends[c.size:]
			if slices.Equal(part.left, left) {
				continue
			}
			own := part.left
			part.left = left
			if c.chosen && weight < speak {
				if out, err := part.run(ctx, q.x, q.nodes[i][k]); err != nil || out.value > q.at[i][k].value+enough {
					part.left = own
					continue
				}
			}
			changed = true
		}
	}
	return changed
}

// tells reports how a search goes on.
func (s *shooting) tells(q *joint, weight float64) {
	s.iterations++
	s.e.tellsJoining(s.iterations, q.value, weight, q.most)
}

// stage is where a search stands, at a weight of the gaps.
func (s *shooting) stage(q *joint, weight float64) Stage {
	at := Stage{Weight: weight, Gap: q.most}
	for i, c := range s.chains {
		for k, x := range c.parts {
			for g, said := range q.at[i][k].said {
				of := &x.c.Groups[g]
				at.Parts = append(at.Parts, Part{
					Experiment: c.name, Observation: of.Observation, T: slices.Clone(of.T), Values: said,
				})
			}
		}
	}
	return at
}

// level is Levenberg and Marquardt's method at one weight of the gaps. By what it ends is a relative decrease.
func (s *shooting) level(ctx context.Context, q *joint, weight float64, most int, enough float64) *joint {
	merit := func(q *joint) float64 { return q.value + float64(weight/2*q.gaps) }
	damping := 1e-3
	for range most {
		pr := s.model(q, weight)
		var next *joint
		for ; damping <= 1e9 && ctx.Err() == nil; damping *= 5 {
			pr.Damping = damping
			border, starts, err := shoot.Step(pr)
			if err != nil {
				continue
			}
			if next, err = s.moved(ctx, q, border, starts); err == nil {
				if merit(next) < merit(q) {
					break
				}
				if near(merit(next), merit(q), 1e-7) { // there is nothing to be gained at this weight
					return q
				}
			}
			next = nil
		}
		if next == nil {
			return q
		}
		gained := merit(q) - merit(next)
		q = next
		s.tells(q, weight)
		damping = max(damping/5, 1e-12)
		if s.passOn(ctx, q, weight) { // what was computed is of others
			if again, err := s.at(ctx, q.x, q.nodes); err == nil {
				q = again
				continue
			}
		}
		if gained <= enough*(1+math.Abs(merit(q))) {
			break
		}
	}
	return q
}

// exact joins the parts: steps that close all gaps to first order, until they are as small as runs can tell.
func (s *shooting) exact(ctx context.Context, q *joint, weight float64) *joint {
	merit := func(q *joint) float64 { return q.value + float64(weight/2*q.gaps) }
	damping := 1e-6
	for range 30 {
		pr := s.model(q, math.Inf(1))
		var next *joint
		for ; damping <= 1e9 && ctx.Err() == nil; damping *= 10 {
			pr.Damping = damping
			border, starts, err := shoot.Step(pr)
			if err != nil {
				continue
			}
			next, err = s.moved(ctx, q, border, starts)
			// Gaps are as large as what pulls the parts from each other is worth: to close them costs weight × gap².
			if err == nil && (merit(next) < merit(q) || next.most < q.most/2 &&
				next.value <= q.value+float64(2*weight*q.gaps)+float64(1e-7*(1+math.Abs(q.value)))) {
				break
			}
			next = nil
		}
		if next == nil {
			return q
		}
		last := q
		q = next
		s.tells(q, math.Inf(1))
		s.passOn(ctx, q, weight)
		damping = max(damping/10, 1e-12)
		if q.most < joined && near(last.value, q.value, 1e-7) && (q.most < 1e-14 || q.most > last.most/4) {
			break
		}
	}
	return q
}

// near reports whether values differ by no more than a part of their size.
func near(a, b, part float64) bool { return math.Abs(a-b) <= part*(1+math.Abs(b)) }

// joined is the largest gap, relative to the size of a state, of parts that are one run.
const joined = 1e-9

// search moves from x until the parts join, and returns where.
func (s *shooting) search(ctx context.Context, x []float64, forced bool) (to []float64, err error) {
	nodes, err := s.nodes(ctx, x, forced)
	if err != nil {
		return nil, err
	}
	q, err := s.at(ctx, x, nodes)
	if err != nil {
		return nil, err
	}
	s.findQuiet(q)
	s.stages = []Stage{s.stage(q, 0)}
	weight := 0.1
	s.passOn(ctx, q, weight)
	for ; weight < 1e11 && ctx.Err() == nil; weight *= 10 {
		q = s.level(ctx, q, weight, 15, 1e-3)
		s.stages = append(s.stages, s.stage(q, weight))
		if weight > 1e3 && (q.most < 1e-5 || float64(weight*q.gaps) < 1e-6) {
			break
		}
	}
	if q = s.exact(ctx, q, weight); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	s.stages = append(s.stages, s.stage(q, math.Inf(1)))
	return q.x, nil
}

func (s *shooting) made() (iterations int, stages []Stage) {
	iterations, s.iterations = s.iterations, 0
	return iterations, s.stages
}

// findQuiet notes which coordinates no prediction depends on.
func (s *shooting) findQuiet(q *joint) {
	for i := range s.quiet {
		s.quiet[i] = true
	}
	for i, c := range s.chains {
		for k, x := range c.parts {
			loud := func(rows []float64) {
				for j, to := range x.of {
					for r := x.q.coords[j].column; r < len(rows); r += x.c.Columns {
						if rows[r] != 0 {
							s.quiet[to] = false
						}
					}
				}
			}
			loud(q.at[i][k].slopes)
			for g := range x.c.Groups {
				loud(x.c.Groups[g].Prediction.Slopes)
			}
		}
	}
}
