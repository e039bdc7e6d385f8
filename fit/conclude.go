package fit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// minimum is what is known of the best point that was found.
type minimum struct {
	x        []float64
	at       []int     // -1, 0 or 1: which coordinates are at a bound
	idle     []bool    // which of these bounds hold nothing back
	gains    []float64 // how much less the objective could be without them
	gradient []float64 // by the coordinates, of what is minimised
	hessian  []float64 // exact; nil where there is none
	fisher   spectrum  // of the coordinates that are free, by their numbers in keep
	keep     []int
	cov      []float64 // [n][n], of the coordinates: Inf on the diagonal of those that are not told, NaN beside it
	narrow   []int     // coordinates whose bounds are nearer to each other than their standard errors are long
	alone    []float64 // their variances, as if they alone had no bounds
	active   []active  // constraints
	factor   float64   // of standard deviations
	fitted   int       // how many estimates fit data: those that are free, and not of the noise alone
	freedom  int       // rows less these
	refits   int       // that came to an end
	spent    bool      // a limit ended the search
	cut      string    // what Ctrl-C left undone, in words; "" for nothing
}

// conclude finds out what there is to know about the best search.
func (p *problem) conclude(ctx context.Context, out *Result) error {
	began, searches := time.Now(), out.Stats.Seconds.Searches
	const again = 3
	tried, status := p.settings.Starts > 1, out.Status
	p, err := judge{p}.besideKinks(ctx, &out.Starts[0])
	if err != nil {
		return err
	}
	for round := 0; ; round++ {
		better, finer, err := p.examine(ctx, out)
		if err != nil {
			return err
		}
		if finer != nil {
			p = finer
			round--
			continue
		}
		if out.Starts[0].Violated && !tried && ctx.Err() == nil {
			tried = true
			judge{p}.reach(ctx, out)
			out.Status = status
			continue
		}
		if better == nil || round == again || ctx.Err() != nil {
			break
		}
		// A profile has found its way to a lower point: the fit goes on from there.
		e, err := p.borrow()
		if err != nil {
			return err
		}
		s := judge{p}.near(ctx, e, len(out.Starts), better)
		p.giveBack(e)
		out.Stats.add(&s)
		out.Stats.Seconds.Searches += s.Seconds
		if !(s.Value*p.sign() < out.Starts[0].Value*p.sign()) {
			break
		}
		s.Why = "from a point of a profile that was lower; " + s.Why
		out.Starts = append(out.Starts, s)
		p.sort(out.Starts)
		out.Clusters = nil
		p.cluster(out)
	}
	further := out.Stats.Seconds.Searches - searches
	out.Stats.Seconds.Errors = time.Since(began).Seconds() - out.Stats.Seconds.Profiles - further
	return nil
}

// examine fills in all that follows from the best search. It returns a point that is better, if it comes upon one; or
// it comes to the finer problem that its certificate asks for.
func (p *problem) examine(ctx context.Context, out *Result) (better []float64, finer *problem, err error) {
	e, err := p.borrow()
	if err != nil {
		return nil, nil, err
	}
	defer p.giveBack(e)
	e.forget()
	n, bad, rests := e.n, e.bad, e.steadyWork()
	defer func() {
		out.Stats.Steady.add(e.steadyWork(), rests)
		out.Stats.Evaluations += e.n - n
		out.Stats.Failures += e.bad - bad
	}()
	out.Estimates, out.Unidentified, out.Correlation = nil, nil, nil
	whole, end := outlasting(ctx) // what was done is to be told all the same
	defer end()
	best := &out.Starts[0]
	spent := best.Seconds
	m, c, err := judge{p}.locate(ctx, e, best, out.Stats.Evaluations)
	out.Stats.Seconds.Searches += best.Seconds - spent // of searches that went on
	if err != nil {
		return nil, nil, err
	}
	if finer, err = (judge{p}).finer(ctx, c, best); finer != nil || err != nil {
		return nil, finer, err
	}
	out.Warnings = nil
	if err := p.value(whole, out, m, c); err != nil {
		if ctx.Err() == nil {
			return nil, nil, err
		}
		out.Objective = odes.Value{Name: p.settings.Objective, Value: best.Value, Error: math.NaN()}
		if r, err := p.model.Prepare(p.checkedAt(m.x).While(whole)); err == nil {
			out.Run = r.Settings()
		}
	}
	if m.gradient == nil {
		if err := p.slope(whole, e, m); err != nil && ctx.Err() == nil {
			return nil, nil, err
		}
	}
	best.Value = out.Objective.Value
	out.Clusters = nil
	p.cluster(out) // it may have come to the minimum of others
	out.GradientNorm = m.steepest(p.sizes(m.x))
	out.KKT = c.KKT
	out.Identifiable = true
	if p.squares && c.known() && !c.violated && m.gradient != nil {
		if c.Certified {
			err = p.release(whole, e, m, c)
		}
		if err == nil {
			err = p.inform(whole, e, m, out)
		}
		if err != nil && ctx.Err() == nil {
			return nil, nil, err
		}
		if !c.Certified { // errors are those of a minimum
			m.cov, out.Correlation = nil, nil
		}
	}
	if err := population(ctx, whole, p, e, m, c, out); err != nil {
		return nil, nil, err
	}
	var ofPatient individual
	if p.settings.Joint {
		if ofPatient, err = individually(ctx, whole, p, e, m, c, out); err != nil {
			return nil, nil, err
		}
	}
	p.estimates(m, out)
	twins{p}.part(ctx, e, m, out)
	if better, err = p.intervals(ctx, m, out); err != nil {
		return nil, nil, err
	}
	if e.comparison != nil {
		if err := e.at(whole, m.x); err == nil {
			p.predictions(e, m, out)
			p.tooExact(e, m, out)
			out.strays = afar{p}.strays(whole, e, m.x)
		}
	}
	ofPatient.predictions(whole, m, out)
	if ctx.Err() != nil && m.cut == "" {
		m.cut = "not all is known of the errors of the estimates"
	}
	if m.cut != "" || !c.Certified {
		out.Status = "partial"
	}
	p.remarks(m, c, out)
	p.vague(m, c, out)
	c.tell(out)
	return better, nil, nil
}

// intervals finds those that need more searches. It returns a point that is lower than the minimum, if there is one.
func (p *problem) intervals(ctx context.Context, m *minimum, out *Result) (better []float64, err error) {
	if m.cov != nil && p.settings.Intervals == "profile" && len(p.constraints) == 0 && !math.IsNaN(out.Factor) &&
		ctx.Err() == nil {
		began := time.Now()
		better = p.profiles(ctx, m, out)
		if ctx.Err() != nil {
			m.cut = "ends of intervals with the mark ? lie farther out"
		}
		out.Stats.Seconds.Profiles += time.Since(began).Seconds()
	}
	if m.cov != nil && p.settings.Intervals == "bootstrap" && ctx.Err() == nil {
		began := time.Now()
		if err := p.bootstrap(ctx, m, out); err != nil {
			return nil, err
		}
		out.Stats.Seconds.Profiles += time.Since(began).Seconds()
	}
	return better, nil
}

// steepest returns the largest derivative by what is free, times the size of that; NaN where there are none.
func (m *minimum) steepest(sizes []float64) float64 {
	if m.gradient == nil {
		return math.NaN()
	}
	most := 0.0
	for _, i := range m.free() {
		most = max(most, math.Abs(m.gradient[i])*sizes[i])
	}
	return most
}

// grace is how long runs may take that tell of the best point so far, when the fit was interrupted.
const grace = 400 * time.Millisecond

// outlasting returns a context that lives on for that long when ctx is done.
func outlasting(ctx context.Context) (whole context.Context, end func()) {
	whole, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return whole, func() { stop(); cancel() }
}

// large is of how many numbers the eigenvalues of Hessians take longer than all else.
const large = 500

// rounds returns how many exact Hessians polish may ask for: of few numbers, as many as it likes; of many, so many that
// they take about as long as the search, with its evaluations, did.
func (e *evaluator) rounds(evaluations int) int {
	const (
		most      = 6
		gradients = 2 // that take as long as the product of the Hessian with a vector
	)
	n, each := len(e.p.coords), 1
	if n <= many {
		return most
	}
	if n > large {
		return 0
	}
	if e.p.algorithm == "least_squares" { // an evaluation has the derivatives of all rows
		rows := 0
		for i := range e.comparison.Groups {
			rows += len(e.comparison.Groups[i].T)
		}
		each = min(n, rows)
	}
	return min(most, evaluations*each/(gradients*n))
}

// tooExact warns of standard deviations that are found to be less than the errors of the run: the likelihood grows
// without end as they fall, and where the search stops says nothing of the data.
func (p *problem) tooExact(e *evaluator, m *minimum, out *Result) {
	for i := range e.comparison.Groups {
		g := &e.comparison.Groups[i]
		moves := func(d float64) bool { return d != 0 }
		if len(g.Args) == 0 || m.factor == 1 && !slices.ContainsFunc(g.Args[0].Slopes, moves) {
			continue // it is known
		}
		most := 0.0
		exact := len(g.T) > 0
		for k := range g.T {
			row := PredictionOf(g, k)
			sd := float64(row.Scatter * m.factor)
			exact = exact && sd < float64(e.comparison.RTol*math.Abs(row.Value))
			most = max(most, sd)
		}
		if exact {
			out.Warnings = append(out.Warnings, diag.Diagnostic{
				Code: CodeFit, Level: diag.Warning, Message: fmt.Sprintf("%s is met by the model to less than the "+
					"error of the run: its standard deviation, %s, is that of the solver, and so are the standard "+
					"errors; hold the standard deviation, or give it a lower bound", g.Observation, diag.Number(most)),
			})
		}
	}
}

// vague warns of estimates that the minimum does not tell: moved by much of its size, one of them changes the objective
// by less than its error; or several do, moved together. Those of likelihoods have intervals instead. Of those that a
// fold holds second derivatives say nothing.
func (p *problem) vague(m *minimum, c *certificate, out *Result) {
	if m.hessian == nil || p.squares || !out.KKT.Certified {
		return
	}
	warn := func(format string, args ...any) {
		out.Warnings = append(out.Warnings, diag.Diagnostic{
			Code: CodeFit, Level: diag.Warning, Message: fmt.Sprintf(format, args...),
		})
	}
	sizes, n := judge{p}.extents(m.x), len(m.x)
	noise := max(out.Objective.Error, math.Abs(0x1p-40*out.Objective.Value))
	var rest []int // what is told, moved alone
	folded := c.problem.Folded()
	for _, i := range m.free() {
		if folded[i] {
			continue
		}
		h := m.hessian[i*n+i]
		flat := !(h > 0) && math.Abs(m.gradient[i])*sizes[i] <= noise
		if moved := math.Sqrt(2 * noise / h); flat || moved > much*sizes[i] {
			warn("the minimum does not tell %s: where it is moved by a tenth, %s changes by less than its error, %s",
				p.coords[i].name, p.settings.Objective, diag.Number(noise))
			continue
		}
		rest = append(rest, i)
	}
	k := len(rest)
	curvature, gradient := sub(m.hessian, n, rest), make([]float64, k)
	for a, i := range rest {
		gradient[a] = float64(m.gradient[i] * sizes[i])
		for b, j := range rest {
			curvature[a*k+b] *= float64(sizes[i] * sizes[j])
		}
	}
	for _, c := range flatDirections(curvature, gradient, noise, p.blind(out.Run.RTol)) {
		var names, changes []string
		for a, i := range rest {
			if math.Abs(c[a]) > 1e-3 {
				names = append(names, p.coords[i].name)
				changes = append(changes, fmt.Sprintf("%s by %+.3g %%", p.coords[i].name, c[a]))
			}
		}
		warn("the minimum does not tell %s apart: %s changes by less than its error if %s", join(names),
			p.settings.Objective, join(changes))
	}
}

// much is the part of its size by which an estimate is moved to see whether a minimum tells it.
const much = 0.1

// flatDirections returns directions in which the minimum of a function is flat, each with 1 as its largest element: a
// basis in which as few as possible move together. Curvature and gradient are by numbers of size 1, and noise is the
// error of the function. Three things make a direction flat:
//
//   - The function changes by less than noise along it, moved by much.
//   - The curvature along it is less than blind² of the largest one, where each number alone has curvature 1. The
//     function is often a sum of squares, and blind is what slopes of its terms are accurate to. 2⁻⁴⁰ is what rounding
//     leaves of sums over steps.
//   - The curvature along it is less than twice the gradient. A valley that bends adds the gradient to the curvature
//     along its tangent: for f(u·w), d²f/du dw has f' as a term. Newton's step would be half of a number, or more.
func flatDirections(curvature, gradient []float64, noise, blind float64) [][]float64 {
	k := len(gradient)
	scale, scaled := make([]float64, k), slices.Clone(curvature)
	for a := range k {
		if scale[a] = math.Sqrt(curvature[a*k+a]); !(scale[a] > 0) {
			return nil // this is no minimum
		}
	}
	for a := range k {
		for b := range k {
			scaled[a*k+b] /= float64(scale[a] * scale[b])
		}
	}
	values, vectors := eigen(scaled, k)
	var flat [][]float64
	for r, value := range values {
		v, most := slices.Clone(vectors[r*k:(r+1)*k]), 0.0
		for a := range v {
			if v[a] /= scale[a]; math.Abs(v[a]) > math.Abs(most) {
				most = v[a]
			}
		}
		along, slope := 0.0, 0.0
		for a := range v {
			v[a] /= most
			slope = max(slope, math.Abs(float64(v[a]*gradient[a])))
		}
		along = math.Abs(value) / float64(most*most)
		if along*much*much/2 <= noise || math.Abs(value) <= max(blind*blind, 0x1p-40)*values[k-1] || along <= 2*slope {
			flat = append(flat, v)
		}
	}
	return echelon(flat)
}

// echelon returns a basis of the space of some vectors in which each has an element, its largest, that is 1 in it and 0
// in the others.
func echelon(list [][]float64) [][]float64 {
	for r, v := range list {
		pivot := 0
		for a := range v {
			if math.Abs(v[a]) > math.Abs(v[pivot]) {
				pivot = a
			}
		}
		by := v[pivot]
		for a := range v {
			v[a] /= by
		}
		for o, w := range list {
			if o == r {
				continue
			}
			f := w[pivot]
			for a := range w {
				w[a] -= float64(f * v[a])
			}
		}
	}
	for _, v := range list { // later pivots may have left larger elements
		most := 0.0
		for _, x := range v {
			if math.Abs(x) > math.Abs(most) {
				most = x
			}
		}
		for a := range v {
			v[a] /= most
		}
	}
	return list
}

// atBounds finds the coordinates that are at a bound.
func (p *problem) atBounds(m *minimum) {
	b := p.bounds()
	m.at = make([]int, len(m.x))
	for i, x := range m.x {
		switch {
		case b.Lo[i] == b.Hi[i]:
		case x <= b.Lo[i]:
			m.at[i] = -1
		case x >= b.Hi[i]:
			m.at[i] = 1
		}
	}
}

// free lists the coordinates that no bound holds.
func (m *minimum) free() []int {
	var list []int
	for i, at := range m.at {
		if at == 0 || m.idle != nil && m.idle[i] {
			list = append(list, i)
		}
	}
	return list
}

// slope finds the gradient at the minimum.
func (p *problem) slope(ctx context.Context, e *evaluator, m *minimum) error {
	s, err := e.run(ctx, m.x, false)
	if err != nil {
		return err
	}
	m.gradient = make([]float64, len(m.x))
	e.gather(s, 0, p.sign(), m.x, m.gradient)
	return nil
}

// shortStep is what a step of a thousandth of a standard error promises of a negative log likelihood, and a bit more.
const shortStep = 1e-6

// polish goes on by Newton's method with exact Hessians from where a search has converged: a search stops where the
// values of the objective tell nothing more, and its derivatives tell more. It leaves the gradient and the Hessian at
// the minimum in m. Where the method of the model has no second derivatives, or a constraint is active, it does
// nothing.
func (p *problem) polish(ctx context.Context, e *evaluator, m *minimum, converged bool, rounds int) error {
	curved := p.squares || p.algorithm == "newton" || p.algorithm == "sqp" && len(p.coords) <= many
	if !curved || len(m.active) > 0 || rounds == 0 || !curvable(e) {
		return nil
	}
	converged = converged && p.algorithm != "sqp" // a step might violate a constraint
	n := len(m.x)
	bounds, sizes := p.bounds(), p.sizes(m.x)
	keep := m.free()
	last := math.Inf(1) // what the step before promised
	x := slices.Clone(m.x)
	for round := range rounds {
		// A Hessian that is long in the making stays after a short step.
		stays := round > 0 && last < shortStep && integrates(p)
		s, err := e.run(ctx, x, !stays)
		if err != nil {
			if m.gradient != nil || ctx.Err() != nil {
				return nil
			}
			return err
		}
		gradient, hessian := make([]float64, n), make([]float64, n*n)
		e.gather(s, 0, p.sign(), x, gradient)
		if stays {
			copy(hessian, m.hessian)
		} else {
			e.curvature(s, p.sign(), x, gradient, hessian)
		}
		inverse := invert(sub(hessian, n, keep), len(keep))
		if inverse == nil {
			if m.gradient == nil {
				m.gradient, m.hessian = gradient, hessian
			}
			return nil
		}
		promise, longest := 0.0, 0.0
		step := make([]float64, len(keep))
		for a := range keep {
			for b, j := range keep {
				step[a] -= float64(inverse[a*len(keep)+b] * gradient[j])
			}
			promise -= float64(step[a] * gradient[keep[a]])
			longest = max(longest, math.Abs(step[a])/sizes[keep[a]])
		}
		if !(promise < last) {
			return nil
		}
		m.x, m.gradient, m.hessian = slices.Clone(x), gradient, hessian
		const near = 0.1 // of the size of a coordinate
		if !converged || round == rounds-1 || longest < 1e-15 || longest > near || !worth(p, promise, last) {
			return nil
		}
		last = promise
		for a, i := range keep {
			if x[i] += step[a]; x[i] <= bounds.Lo[i] || x[i] >= bounds.Hi[i] {
				return nil
			}
		}
	}
	return nil
}

// curvable reports whether runs make second derivatives.
func curvable(e *evaluator) bool { return e.hessian != nil || e.p.hasHessian() }

// worth reports whether a step that promises so much is to be made, after one that promised last. Of integrals over
// random effects, one of a millionth of a standard error is not.
func worth(p *problem, promise, last float64) bool {
	return promise <= last/4 && !(integrates(p) && promise < 1e-12)
}

// checkedAt returns options of a run at x of which the objective is compared with that of an independent run.
func (p *problem) checkedAt(x []float64) odes.Options {
	o := p.opts.Options.WithoutIntegrals()
	o.Of, o.Wrt, o.Events, o.Progress = []string{p.settings.Objective}, []string{}, -1, nil
	o.Settings = append(slices.Clone(o.Settings), odes.Setting{Key: "sens.order", Value: "1"})
	o.Settings = append(o.Settings, odes.Setting{Key: "solver.steady_start", Value: "own"})
	values := p.values(x)
	for i, v := range p.settings.Over {
		a := odes.Assignment{Name: p.names[i], Values: make([]float64, v.Size())}
		for k := range p.coords {
			if c := &p.coords[k]; c.variable == i {
				a.Values[c.element] = values[k]
			}
		}
		for _, b := range p.blocks {
			if b.variable == i {
				copy(a.Values, b.Matrix(b.part(x)))
			}
		}
		o.Set = append(slices.Clone(o.Set), a)
	}
	return o
}

// calibrate finds how the error of the objective at the start, by an independent run, compares with what follows from
// rtol: noise is multiplied by that. Where there is no such run, or where it fails, rtol is believed.
func (p *problem) calibrate(ctx context.Context) {
	const least, most = 0.01, 1e4 // what one point says of others
	s, err := p.model.Sensitivities(ctx, p.checkedAt(p.start))
	e, none := p.borrow()
	if err != nil || none != nil {
		return
	}
	defer p.giveBack(e)
	p.atStart = s.Values[0].Value
	expected := p.noise(s)
	if e.comparison != nil {
		if e.at(ctx, p.start) != nil {
			return
		}
		at := optim.Residuals{R: make([]float64, e.rows)}
		e.fill(p.start, optim.Values, &at, nil)
		expected = at.Noise
	}
	if known := s.Values[0].Error; known > 0 && expected > 0 && s.Settings.CheckedBy != "" {
		p.rough = min(max(known/expected, least), most)
	}
}

// certifiedRun returns the run of a certificate where others would be long in the making and would say the same; nil
// for none.
func certifiedRun(p *problem, c *certificate) *odes.Sensitivities {
	if !integrates(p) || len(p.constraints) > 0 || !c.known() || c.value.Trust != odes.Sound {
		return nil
	}
	return c.run
}

// value computes the objective and the constraints at the minimum as results are: with an independent run beside it.
// That of integrals over random effects takes long, and the certificate has it.
func (p *problem) value(ctx context.Context, out *Result, m *minimum, c *certificate) error {
	o := p.checkedAt(m.x)
	s := certifiedRun(p, c)
	certified := s != nil
	if s == nil {
		var err error
		if s, err = p.model.Sensitivities(ctx, o); err != nil {
			return err
		}
	}
	out.Objective, out.Run = s.Values[0], s.Settings
	if len(p.constraints) > 0 {
		// That few digits of what is zero are right is no news.
		o.Of = nil
		for _, c := range p.constraints {
			o.Of = append(o.Of, c.Name)
		}
		o.Settings = append(o.Settings, odes.Setting{Key: "sens.trust", Value: "off"})
		c, err := p.model.Sensitivities(ctx, o)
		if err != nil {
			return err
		}
		out.Constraints = c.Values
	}
	for _, d := range s.Warnings {
		if certified && d.Code == odes.CodeAccuracy { // few digits of a derivative that is zero are no news
			continue
		}
		if d.Level == diag.Warning {
			out.Warnings = append(out.Warnings, d)
		}
	}
	if err := p.oneSided(ctx, out, m, c); err != nil {
		return err
	}
	if out.Objective.Trust == odes.Lost {
		out.Status = "partial"
	}
	return nil
}

// oneSided warns where derivatives at the minimum are those of one side, and with them what follows from them. That few
// of their digits are right is no news: they are to be zero.
func (p *problem) oneSided(ctx context.Context, out *Result, m *minimum, c *certificate) error {
	s := certifiedRun(p, c)
	if s == nil {
		o := p.checkedAt(m.x)
		o.Wrt = p.names
		o.Settings = append(o.Settings, odes.Setting{Key: "sens.trust", Value: "off"})
		var err error
		if s, err = p.model.Sensitivities(ctx, o); err != nil {
			return ctx.Err() // then there are none to warn of
		}
	}
	for _, d := range s.Warnings {
		told := func(o diag.Diagnostic) bool { return o.Span == d.Span && o.Message == d.Message }
		// The certificate is over both sides of the absolute values of data.
		known := p.kinks && d.Span.File != nil && strings.HasSuffix(d.Span.File.Name(), "laplace")
		if (d.Code == odes.CodeKink || d.Code == odes.CodeTie) && d.Level == diag.Warning && !known &&
			!slices.ContainsFunc(out.Warnings, told) {
			out.Warnings = append(out.Warnings, d)
		}
	}
	judge{p}.atFold(c, out)
	return nil
}

// atFold warns where the minimum lies at a kink of the objective that the run of its point does not meet: the search
// came as near to it as the objective tells, on one side.
func (p judge) atFold(c *certificate, out *Result) {
	const seen = 1e-3 // of a negative log likelihood: that is where a twentieth of a standard error leads
	told := func(d diag.Diagnostic) bool { return d.Code == odes.CodeKink || d.Code == odes.CodeTie }
	if !p.squares || !c.Certified || c.found.Pieces == 0 || slices.ContainsFunc(out.Warnings, told) ||
		!(c.problem.Unfolded() > seen) {
		return
	}
	var names []string
	for i, is := range c.problem.Folded() {
		if is {
			names = append(names, p.coords[i].name)
		}
	}
	out.Warnings = append(out.Warnings, diag.Diagnostic{
		Code: CodeFit, Level: diag.Warning, Message: fmt.Sprintf("%s has a kink at the minimum, in %s: standard "+
			"errors are those of one side of it", p.settings.Objective, join(names)),
	})
}

// violated says which constraints do not hold, and by how much.
func violated(list []odes.Value) string {
	excess := func(v *odes.Value) float64 {
		lo, hi := limits(v.Relation)
		return max(lo-v.Value, v.Value-hi, 0)
	}
	most := 0.0
	for i := range list {
		most = math.Max(most, excess(&list[i]))
	}
	const rounding = 1e-6 // of the largest: those that hold are off by rounding
	var said []string
	for i := range list {
		v := &list[i]
		if e := excess(v); e > rounding*most {
			text := fmt.Sprintf("constraint %s is violated by %.4g", v.Name, e)
			if u := known(v.Unit); u != "" && u != "1" {
				text += " [" + u + "]"
			}
			said = append(said, text)
		}
	}
	const shown = 4
	if len(said) > shown {
		said = append(said[:shown], fmt.Sprintf("and %d more are violated", len(said)-shown))
	}
	return strings.Join(said, ", ")
}

// remarks adds what a user should know of the fit as a whole.
func (p *problem) remarks(m *minimum, c *certificate, out *Result) {
	note := func(level diag.Level, format string, args ...any) {
		out.Warnings = append(out.Warnings, diag.Diagnostic{
			Code: CodeFit, Level: level, Span: source.Span{}, Message: fmt.Sprintf(format, args...),
		})
	}
	best := &out.Starts[0]
	if text := c.words(judge{p}, best, out); text != "" {
		note(diag.Warning, "%s", text)
	} else if m.cut != "" {
		note(diag.Warning, "%s: %s", judge{p}.cutShort(), m.cut)
	}
	if text := p.fine.words(judge{p}, out); text != "" {
		note(diag.Note, "%s", text)
	}
	errorless(p, m, c, note)
	if out.strays != "" {
		note(diag.Warning, "%s", out.strays)
	}
	if p.settings.Unlikely {
		note(diag.Warning, "this fit searched for values that make the data least likely: nll() is the negative "+
			"logarithm of the likelihood, so it should be minimised, and -nll() maximised")
	}
	if names := (coach{p}).unusedTraining(); names != nil {
		note(diag.Note, "%s only for fit.algorithm = adam, which this fit does not use", are(names))
	}
	if names := p.settings.Unchosen; len(names) > 0 {
		note(diag.Note, "no fit block holds: each has a name (%s) and none was asked for", strings.Join(names, ", "))
	}
	if names := p.model.Experiments(); len(names) > 0 && !p.model.ReadsExperiments(p.settings.Objective) {
		note(diag.Note, "%s is that of the run without changes: it has no nll(), which alone adds up over %s (%s)",
			p.settings.Objective, diag.Count(len(names), "experiment"), strings.Join(names, ", "))
	}
	ofStarts(p, out, note)
	anywhere := judge{p}.bounded(m, out, note)
	if math.IsNaN(out.Factor) {
		note(diag.Warning, "fit.scatter = estimated: %s with a standard deviation and %s leave nothing to estimate "+
			"the scatter from, so there are no standard errors; with scatter = known they are those of the standard "+
			"deviations in the model", diag.Count(m.freedom+m.fitted, "value"),
			diag.Count(m.fitted, "free estimate"))
	}
	p.constrained(m, out, note)
	if p.unasked && out.Correlation != nil && len(p.constraints) == 0 {
		note(diag.Note, "the intervals are Wald's: those of profiles take much longer than the search where "+
			"there are more "+
			"than %d estimates; fit.intervals = profile asks for them", many)
	}
	if lost := m.refits - len(out.Bootstrap); p.settings.Intervals == "bootstrap" && lost > 0 {
		note(diag.Note, "%s of %d came to no minimum and %s not count", diag.Count(lost, "refit"),
			m.refits, map[bool]string{true: "does", false: "do"}[lost == 1])
	}
	if c.rough() { // what changes nothing that was measured is not told either
		out.Unidentified, out.Identifiable = nil, false
	}
	told := out.Unidentified
	if !c.Certified && len(told) > 1 { // elsewhere there may be others
		told = []Combination{together(told)}
	}
	for _, u := range told {
		note(diag.Warning, "%s", u.String())
	}
	for _, name := range anywhere {
		out.untold(name)
	}
	flats(out, note)
	twins{p}.name(out, note)
	if len(out.Clusters) > 1 && out.Clusters[0].Starts == 1 && len(out.Starts) > 4 {
		note(diag.Note, "one search of %d came to the best minimum; more starts may find a better one", len(out.Starts))
	}
	slices.SortStableFunc(out.Warnings, func(a, b diag.Diagnostic) int {
		return strings.Compare(string(a.Code), string(b.Code))
	})
}

// errorless says why there are no standard errors where one may look for some.
func errorless(p *problem, m *minimum, c *certificate, note func(diag.Level, string, ...any)) {
	switch {
	case p.squares && !c.Certified && c.known():
		note(diag.Note, "there are no standard errors and intervals, which are those of a minimum")
	case p.settings.Mixed && m.cov == nil && c.Certified:
		note(diag.Note, "there are no standard errors and intervals: they are those of a sum of nll() and of priors "+
			"whose numbers are constants, and %s is more; write what it has besides as a prior of a param "+
			"(log_prior()), or as data of an observation (nll())", p.settings.Objective)
	}
}

// ofStarts says what became of searches that were not made or had no value to begin with.
func ofStarts(p *problem, out *Result, note func(diag.Level, string, ...any)) {
	failed, made := 0, 0
	why := ""
	for i := range out.Starts {
		if out.Starts[i].Status != "stopped" {
			made++
		}
		if out.Starts[i].Status == "failed" {
			failed++
			if why == "" {
				why = out.Starts[i].Why
			}
		}
	}
	if made < p.settings.Starts && out.Starts[0].Status != "stopped" {
		note(diag.Warning, "the fit was interrupted after %d of %d searches", made, p.settings.Starts)
	}
	if failed > 0 {
		note(diag.Note, "the objective has no value at %s of %d; at the first of these: %s",
			diag.Count(failed, "start"), len(out.Starts), why)
	}
}

// flats says which estimates the data do not tell on a side.
func flats(out *Result, note func(diag.Level, string, ...any)) {
	for i := range out.Estimates {
		x := &out.Estimates[i]
		if slices.ContainsFunc(out.Unidentified, func(u Combination) bool {
			return slices.Contains(u.Names, x.Text())
		}) {
			continue // that was said
		}
		below, above := x.OpenLower == "flat", x.OpenUpper == "flat"
		if x.boundless() {
			below, above = below || x.OpenLower == "bound", above || x.OpenUpper == "bound"
		}
		switch {
		case below && x.OpenUpper == "failed" || above && x.OpenLower == "failed": // the mark of that end says so
		case below && above:
			why := "its profile is flat"
			if x.boundless() {
				why = "its standard error is more than a thousand times as large as its bounds are apart"
				out.withoutError(i)
			}
			note(diag.Warning, "%s is not identifiable from this data: %s", x.Text(), why)
			out.untold(x.Text())
		case below:
			note(diag.Warning, "the data only tell that %s is at most %s: its profile is flat below", x.Text(),
				diag.Number(x.Upper))
		case above:
			note(diag.Warning, "the data only tell that %s is at least %s: its profile is flat above", x.Text(),
				diag.Number(x.Lower))
		}
	}
}

// untold notes that the data do not tell one estimate, whatever the others are.
func (r *Result) untold(name string) {
	r.Identifiable = false
	r.Unidentified = append(r.Unidentified, Combination{Names: []string{name}, Weights: []float64{1}, Directions: 1})
}

// boundless reports whether an estimate has a standard error beside which its bounds are nothing: from one to the
// other, the data change by less than a thousandth of their scatter.
func (e *Estimate) boundless() bool {
	const nothing = 1e-3
	span, err := e.HighBound-e.LowBound, e.StdErr
	if e.Log {
		span, err = math.Log(e.HighBound/e.LowBound), e.StdErr/math.Abs(e.Value)
	}
	return !math.IsInf(err, 1) && span < float64(nothing*err)
}

// withoutError takes the standard error of an estimate away that the data do not tell.
func (r *Result) withoutError(i int) {
	r.Estimates[i].StdErr = math.Inf(1)
	for k := range r.Correlation {
		r.Correlation[i][k], r.Correlation[k][i] = math.NaN(), math.NaN()
	}
}

// together is all of a list at once.
func together(list []Combination) (all Combination) {
	for _, c := range list {
		all.Directions += c.Directions
		for _, name := range c.Names {
			if !slices.Contains(all.Names, name) {
				all.Names = append(all.Names, name)
			}
		}
	}
	return all
}

// String says in words which estimates the data do not tell.
func (c *Combination) String() string {
	if c.Directions > 1 {
		const shown = 4
		names := c.Names
		if more := len(names) - shown; more > 0 {
			names = append(slices.Clone(names[:shown]), fmt.Sprintf("%d more", more))
		}
		return fmt.Sprintf("%s are not identifiable from this data: in %d directions, nothing that was measured "+
			"changes "+
			"if they move together", join(names), c.Directions)
	}
	if len(c.Names) == 1 {
		return fmt.Sprintf("%s is not identifiable from this data: it changes nothing that was measured", c.Names[0])
	}
	parts := make([]string, len(c.Names))
	for i, name := range c.Names {
		parts[i] = fmt.Sprintf("%s by %+.3g %%", name, c.Weights[i])
	}
	return fmt.Sprintf("%s are not identifiable from this data: nothing that was measured changes if %s "+
		"move together", join(c.Names), join(parts))
}

// join lists words: "a, b and c".
func join(list []string) string {
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + " and " + list[last]
}
