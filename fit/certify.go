package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/certify"
	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/lang/diag"
)

// What a fit says of a minimum holds where it is one. That is certified when all searches have ended, by package
// certify, from runs of the model that are made for it: from exact derivatives of objective and constraints, and from
// how far an independent run puts these elsewhere. docs/fit.md has the rule.

// KKT says how far a point is from being a minimum within bounds and constraints: from the conditions of W. Karush,
// H. W. Kuhn and A. W. Tucker. All numbers are NaN where the fit ended before they were computed.
type KKT struct {
	// Stationarity is what could be gained of the objective near the point. Noise is the part of the objective
	// that is error of the run, and the gain that errors of derivatives hide. Both are relative: to 1 for a negative
	// log likelihood, else to how much the search has gained, or how much the objective changes where an estimate moves
	// by its size, if that is more.
	Stationarity, Noise float64
	// Feasibility is the largest violation of a constraint, relative to how far the constraint moves where the
	// estimates move by their sizes.
	Feasibility float64
	// Certified tells that the point is a minimum as far as runs can tell.
	Certified bool
}

// What a certificate allows.
const (
	mostGain      = 1e-6
	mostViolation = 1e-6
	mostNoise     = 1e-4
	// Where the objective was larger at the start than it is by absurd, as where a run blows up, a part of that says
	// nothing: derivatives may promise, and rounding may hide, a part of the objective itself.
	absurd, mostPromise, mostHidden = 1e6, 1e-5, 1e-6
)

// certificate is a KKT and what it was computed from.
type certificate struct {
	KKT
	problem    *certify.Problem
	found      certify.Certificate
	gain       float64 // of the objective
	owed       float64 // what the objective gains, relative to Size, by violations of constraints
	value      odes.Value
	run        *odes.Sensitivities
	squares    []float64 // the curvature that squares have; nil where there are none
	sound      bool      // all numbers of the runs are
	farStart   bool      // the start was so far away that gains are not a part of what the search has gained
	hidden     bool      // and rounding hides what could be gained
	violated   bool      // constraints do not hold
	infeasible bool      // and violations can be no less nearby
}

// judge certifies the points of a problem.
type judge struct{ *problem }

// fresh runs the model as results are made, with derivatives of the objective and the constraints and their errors.
// These are under control as the settings say, or as control does.
func (p judge) fresh(ctx context.Context, x []float64, control string) (*odes.Sensitivities, error) {
	o := p.checkedAt(x)
	o.Wrt = p.names
	if control != "" {
		o.Settings = append(slices.Clone(o.Settings), odes.Setting{Key: "sens.control", Value: control})
	}
	for _, c := range p.constraints {
		o.Of = append(slices.Clone(o.Of), c.Name)
	}
	o.Settings = append(o.Settings, odes.Setting{Key: "sens.trust", Value: "on"})
	return p.model.Sensitivities(ctx, o)
}

// uncertified is the certificate of a point that nobody has looked at.
func uncertified() *certificate {
	return &certificate{KKT: KKT{Stationarity: math.NaN(), Feasibility: math.NaN(), Noise: math.NaN()}}
}

// known reports whether somebody has.
func (c *certificate) known() bool { return c.problem != nil }

// certify finds the certificate of the point of m: where it is none, by linked parts of the run, if there are any.
//
// Control of the errors of derivatives may take far longer than the search: it is left to where these errors decide.
func (p judge) certify(ctx context.Context, e *evaluator, m *minimum) (*certificate, error) {
	const many = 150 // numbers, of which programs that look for the limits one by one take long
	links := afar(p).linked(e)
	if e.linking = e.linking || links != nil && len(m.x) > many; e.linking {
		return p.certifiedCheaply(ctx, e, m)
	}
	c, err := p.certifiedCheaply(ctx, e, m)
	if err != nil || c.Certified || c.rough() || links == nil || ctx.Err() != nil {
		return c, err
	}
	e.linking = true
	return p.certifiedCheaply(ctx, e, m)
}

// certifiedCheaply is certify by what e sees.
func (p judge) certifiedCheaply(ctx context.Context, e *evaluator, m *minimum) (*certificate, error) {
	if p.model.Manner(p.checkedAt(m.x)).AutoControl {
		if c, err := p.certified(ctx, e, m, "off"); err != nil || c.decided() {
			return c, err
		}
	}
	return p.certified(ctx, e, m, "")
}

// decided reports whether smaller errors of derivatives would leave what the certificate says.
func (c *certificate) decided() bool {
	const clear = 4 // gains are squares of derivatives: what errors hide takes no more than half of these
	return c.sound || c.Noise <= mostGain || c.Stationarity > float64(clear*max(c.Noise, mostGain))
}

// rough reports whether values are so far from confirmed that a search follows the errors of runs: those that it comes
// to may be values of no point.
func (c *certificate) rough() bool {
	const most = 100 * mostNoise
	return c.known() && !c.sound && !(c.blur() <= most)
}

// blur is the error of the objective, as gains are measured.
func (c *certificate) blur() float64 { return c.problem.Noise / c.problem.Size }

// certified is certify by runs with that control of errors.
func (p judge) certified(ctx context.Context, e *evaluator, m *minimum, control string) (*certificate, error) {
	s, err := p.fresh(ctx, m.x, control)
	if err != nil {
		return nil, err
	}
	n, sign := len(m.x), p.sign()
	b := p.bounds()
	c := &certify.Problem{
		X: m.x, Sizes: p.reaches(m.x), Lo: b.Lo, Hi: b.Hi, At: &certify.Point{Gradient: make([]float64, n)},
		Size: 1, Enough: mostGain, Over: func() bool { return ctx.Err() != nil },
	}
	at := c.At
	at.Value = float64(sign * s.Values[0].Value)
	e.gather(s, 0, sign, m.x, at.Gradient)
	list, err := e.limitsAt(ctx, s, m.x)
	if err != nil {
		return nil, err
	}
	at.Constraints = list.Constraints
	for _, i := range list.of {
		lo, hi := limits(p.constraints[i].Relation)
		c.Min, c.Max = append(c.Min, lo), append(c.Max, hi)
	}
	var squares []float64
	q := e.folded()
	c.Near = func(x []float64) (*certify.Point, error) {
		to, _, err := nearby(ctx, q, x, p.squares)
		return to, err
	}
	if p.squares {
		e.forget()
		near, curvature, err := nearby(ctx, q, m.x, p.squares)
		if err != nil {
			return nil, err
		}
		c.Hessian, squares = curvature, curvature
		if p.kinks {
			at.Gradient, at.Kinks = near.Gradient, near.Kinks
		}
	}
	// Where the objective folds, second derivatives are those of one side: the gradient nearby tells how it curves.
	of := &s.OneSided
	jumps := slices.Contains(of.Doubtful, true) || len(of.Sides)+len(of.Leaps) > 0 || q.Peaked ||
		slices.Contains(q.Largest, true)
	c.Smooth = !jumps
	folds := of.Doubtful != nil && slices.Contains(of.Doubtful[:s.Columns], true) || slices.ContainsFunc(of.Sides,
		func(b odes.BothSides) bool { return b.Value == 0 })
	p.curvatures(ctx, e, m, c, folds, list.of)
	if m.gradient == nil {
		m.gradient = make([]float64, n)
		e.gather(s, 0, sign, m.x, m.gradient)
	}
	noise := p.uncertain(s, c, m.x)
	if !p.squares {
		c.Size = p.extent(ctx, e, c)
	}
	c.Noise = s.Values[0].Error
	out := &certificate{problem: c, found: c.Minimum(), value: s.Values[0], run: s, squares: squares}
	out.sound = !slices.ContainsFunc(s.Trusts, func(t odes.Trust) bool { return t != odes.Sound })
	var hidden float64
	hidden, out.owed = p.byConstraints(s, c, &out.found)
	out.Stationarity, out.Feasibility = out.found.Stationarity, out.found.Feasibility
	out.Noise = noise/c.Size + hidden + out.owed
	out.gain = out.Stationarity * c.Size
	exact := exactness(s, c, list.of)
	if !p.squares {
		out.fromFar(math.Abs(at.Value), s.Values[0].Error)
	}
	out.Certified = c.Size <= math.MaxFloat64 && out.Stationarity <= max(mostGain, out.Noise) &&
		out.Feasibility <= exact && out.Noise <= mostNoise && !out.farStart
	if out.violated = !(out.Feasibility <= exact); out.violated {
		out.infeasible = c.Infeasible()
	}
	return out, nil
}

// tell makes the value of the certificate that of the result, where it is known to be nearer: where errors decide, runs
// of certificates have smaller ones, and what they certify has their value. Elsewhere the error of the value that is
// told is noise, too.
func (c *certificate) tell(out *Result) {
	o := &out.Objective
	if c.known() && out.Population == nil && o.Error <= float64(mostNoise*c.problem.Size) {
		out.KKT.Noise = math.Max(out.KKT.Noise, o.Error/c.problem.Size)
	}
	if !c.known() || out.Population != nil || !(o.Error > float64(mostNoise*c.problem.Size)) ||
		!(c.value.Error < o.Error) {
		return
	}
	by := c.value.Value - o.Value
	if math.Abs(out.NLL-o.Value) <= float64(1e-9*math.Abs(o.Value)) { // the objective is the likelihood alone
		out.NLL += by
		out.AIC += float64(2 * by)
		out.BIC += float64(2 * by)
	}
	o.Value, o.Error, o.Trust = c.value.Value, c.value.Error, c.value.Trust
	for i := range out.Clusters {
		if out.Clusters[i].Best == 0 {
			out.Clusters[i].Value = o.Value
		}
	}
}

// curvatures gives the certificate of a point the second derivatives that are at hand, or can be had.
func (p judge) curvatures(ctx context.Context, e *evaluator, m *minimum, c *certify.Problem, folds bool, of []int) {
	n, sign := len(m.x), p.sign()
	switch {
	case e.linking && p.hasHessian():
		c.Curve = func(y []float64) []float64 {
			h := make([]float64, n*n)
			if e.links.curve(ctx, m.x, y, h) != nil {
				return nil
			}
			return h
		}
		c.Hessian = c.Curve(make([]float64, len(c.Min)))
	case p.squares:
		if m.hessian != nil && !p.kinks {
			c.Hessian = m.hessian
		}
	case folds:
		c.Hessian = nil
	case m.hessian != nil && !p.kinks:
		c.Hessian = m.hessian
	case n <= many && p.hasHessian():
		if h, err := e.run(ctx, m.x, true); err == nil {
			c.Hessian = make([]float64, n*n)
			e.curvature(h, sign, m.x, c.At.Gradient, c.Hessian)
		}
	case n > differences:
		if product := e.products(); product != nil {
			c.Products = func(y, v, out []float64) error {
				whole := make([]float64, len(p.constraints))
				for j, i := range of {
					if !p.model.ReadsLargest(p.constraints[i].Name) { // pieces of it stand for its curvature
						whole[i] += y[j]
					}
				}
				return product(ctx, m.x, whole, v, out)
			}
			c.Brief = m.spent
		}
	}
}

// exactness returns the violation that a certificate allows: what constraints can be computed to, if that is more.
func exactness(s *odes.Sensitivities, c *certify.Problem, of []int) float64 {
	exact, n := mostViolation, len(c.X)
	for i, v := range c.At.Constraints.C {
		row := c.At.Constraints.J[i*n : (i+1)*n]
		size := 0.0
		for k, a := range row {
			size += math.Abs(float64(a * c.Sizes[k]))
		}
		if size > 0 && s.Values[of[i]+1].Error <= 1e-3*size && v-v == 0 {
			exact = max(exact, s.Values[of[i]+1].Error/size)
		}
	}
	return exact
}

// fromFar notes where gains are not to be measured by what the search has gained, for an objective of a size with an
// error.
func (c *certificate) fromFar(own, err float64) {
	size := c.problem.Size
	rounding := float64(0x1p-52 * size)
	if !(size > float64(absurd*own)) || own <= max(10*err, rounding) { // or it is zero
		return
	}
	c.hidden = rounding > float64(mostHidden*own)
	c.farStart = c.hidden || c.gain > float64(mostPromise*own) && c.gain > 10*err
}

// nearby evaluates a problem at a point, and returns the curvature that rows of data have.
func nearby(
	ctx context.Context, q optim.KinkedProblem, x []float64, rows bool,
) (*certify.Point, []float64, error) {
	n, m, k := q.Variables, q.Kinks, q.Constraints
	at := optim.Point{Gradient: make([]float64, n)}
	if rows {
		at.Hessian = make([]float64, n*n)
	}
	to := &certify.Point{
		Kinks:       optim.Kinks{U: make([]float64, m), J: make([]float64, m*n), W: make([]float64, m)},
		Constraints: optim.Constraints{C: make([]float64, k), J: make([]float64, k*n)},
	}
	err := q.Evaluate(ctx, x, optim.Slopes, &at, &to.Kinks, &to.Constraints)
	to.Value, to.Gradient = at.Value, at.Gradient
	return to, at.Hessian, err
}

// reaches returns how far the coordinates may move: as far as they are from zero, were so or have moved, within their
// bounds; by a factor e or as far as they have moved on a logarithmic scale. Where zero is nothing special, a number
// that is near it has a part of the size of its bounds.
func (p judge) reaches(x []float64) []float64 {
	const part = 1e-3
	out := make([]float64, len(x))
	b := p.bounds()
	for i := range x {
		c := &p.coords[i]
		moved, span := math.Abs(x[i]-p.start[i]), b.Hi[i]-b.Lo[i]
		if out[i] = max(math.Abs(x[i]), math.Abs(p.start[i]), moved); c.log || c.block != nil {
			out[i] = max(1, moved)
		}
		if bounded := span-span == 0; bounded {
			if p.start[i] == 0 || b.Lo[i] < 0 && b.Hi[i] > 0 {
				out[i] = max(out[i], float64(part*span))
			}
			if out[i] = min(out[i], span); out[i] == 0 {
				out[i] = span
			}
		}
		if out[i] == 0 || c.block == nil && !c.log && p.atZero(i, out[i]) {
			out[i] = 1
		}
	}
	return out
}

// extents returns the sizes of estimates of which changes are told as parts: of one that is zero but for rounding, that
// is how far it may move.
func (p judge) extents(x []float64) []float64 {
	const nothing = 1e-9 // a part of what it could be is no size to move an estimate by
	sizes := p.sizes(x)
	for i, reach := range p.reaches(x) {
		if sizes[i] < float64(nothing*reach) {
			sizes[i] = reach
		}
	}
	return sizes
}

// uncertain returns the error of the objective, with what errors of derivatives may hide.
func (p judge) uncertain(s *odes.Sensitivities, c *certify.Problem, x []float64) float64 {
	sum, n := s.Values[0].Error, len(x)
	if !(sum >= 0) {
		sum = math.Abs(s.Values[0].Value) * s.Settings.RTol * p.rough
	}
	if s.Errors == nil || p.kinks || p.model.ReadsLargest(p.settings.Objective) { // the derivatives of kinks jump
		return sum
	}
	b := p.bounds()
	for i, by := range matrices(p).moves(x) {
		e := 0.0
		for _, m := range by {
			e += math.Abs(float64(s.Errors[m.column] * m.slope))
		}
		// What is pressed against a bound for certain gains nothing.
		const certain = 2
		if g := c.At.Gradient[i]; len(p.constraints) == 0 &&
			(x[i] <= b.Lo[i] && g > float64(certain*e) || x[i] >= b.Hi[i] && -g > float64(certain*e)) {
			continue
		}
		hides := e * c.Sizes[i]
		if c.Hessian != nil {
			if h := math.Abs(c.Hessian[i*n+i]); h > 0 {
				hides = min(hides, e*e/(2*h))
			}
		}
		if hides >= 0 {
			sum += hides
		}
	}
	return sum
}

// extent returns what gains are relative to: how much the search has gained, or what the objective changes where a
// coordinate moves by its size.
func (p judge) extent(ctx context.Context, e *evaluator, c *certify.Problem) float64 {
	size, n := 0.0, len(c.X)
	for i, s := range c.Sizes {
		size = max(size, math.Abs(float64(c.At.Gradient[i]*s)))
		if c.Hessian != nil {
			size = max(size, math.Abs(float64(c.Hessian[i*n+i]*s*s/2)))
		}
	}
	first := p.atStart
	if !integrates(p.problem) || math.IsNaN(first) {
		if s, err := e.run(ctx, p.start, false); err == nil {
			first = s.Values[0].Value
		}
	}
	if first-first == 0 {
		size = max(size, math.Abs(first-c.At.Value*p.sign()))
	}
	if size == 0 {
		return 1 // nothing changes the objective
	}
	return size
}

// onward searches on from a point that is no minimum, and reports whether it came to a better one.
func (p judge) onward(ctx context.Context, e *evaluator, m *minimum, best *Start, c *certificate) (better bool) {
	ctx, end := p.within(ctx)
	defer func() {
		if !better && errors.Is(context.Cause(ctx), errTime) {
			best.Status, best.Why, best.late = "limit", errTime.Error(), true
		}
		end()
	}()
	o := p.searchOptions(m.x)
	try := func(search func() (optim.Result, error)) bool {
		s := p.ended(ctx, e, best.Number, best.From, search)
		best.Evaluations += s.Evaluations
		best.Failures += s.Failures
		best.Iterations += s.Iterations
		best.Seconds += s.Seconds
		best.steady.add(s.steady, SteadyWork{})
		if s.x == nil || slices.Equal(s.x, m.x) {
			return false
		}
		before, after := p.violations(ctx, e, c, s.x)
		lower := (best.Value - s.Value) * p.sign()
		if after > mostViolation && !(after < 0.999*before) ||
			after <= mostViolation && before <= mostViolation && !(lower > 1e-3*c.gain) {
			return false
		}
		best.Status, best.Why, best.x, best.To = s.Status, s.Why, s.x, s.To
		best.Value, best.Violated = s.Value, s.Violated
		return true
	}
	const most = 150 // numbers, of which quadratic programs are made
	if len(m.x) <= most && try(func() (optim.Result, error) {
		q := e.folded()
		q.Bounds = p.bounds()
		o := o
		o.Scale, o.Progress = c.problem.Sizes, e.iterated(nil)
		return optim.Folded(ctx, q, m.x, o)
	}) {
		return true
	}
	if c.found.Step == nil || ctx.Err() != nil {
		return false
	}
	x := slices.Clone(m.x)
	for i, d := range c.found.Step {
		x[i] = max(c.problem.Lo[i], min(x[i]+d, c.problem.Hi[i]))
	}
	return try(func() (optim.Result, error) { return p.minimise(ctx, e, x, p.bounds()) })
}

// violations returns those of the constraints at the point of a certificate and at x, as it measures them.
func (p judge) violations(ctx context.Context, e *evaluator, c *certificate, x []float64) (before, after float64) {
	if len(p.constraints) == 0 {
		return 0, 0
	}
	at, _, err := nearby(ctx, e.folded(), x, p.squares)
	if err != nil {
		return 0, math.Inf(1)
	}
	return c.problem.Violation(&c.problem.At.Constraints), c.problem.Violation(&at.Constraints)
}

// words say what is wrong with the point that a search came to; "" for nothing.
func (c *certificate) words(p judge, best *Start, out *Result) string {
	switch {
	case c.Certified:
		return ""
	case best.Status == "stopped" || !c.known():
		why := "the fit was interrupted"
		switch {
		case best.late:
			why = "the search was ended: fit.max_time = " + diag.Number(p.settings.MaxTime) +
				" was reached before a minimum"
		case p.late():
			why = p.cutShort()
		}
		why += "; the numbers are those of the best point so far"
		if best.Violated {
			why += ", where " + violated(out.Constraints)
		}
		return why
	case c.violated:
		why, more := "a search could not find a feasible point from here", ""
		switch {
		case c.infeasible:
			why = "no point near this one satisfies the constraints better"
		case best.late:
			why = errTime.Error()
		}
		if n := len(out.Starts); p.settings.Starts == 1 {
			if more = "; others may: --starts 50"; n > 1 {
				more = fmt.Sprintf(", and searches from %s found none either", diag.Count(n-1, "other point")) + more
			}
		}
		return fmt.Sprintf("no feasible point was found: where the best search ended, %s; %s%s",
			violated(out.Constraints), why, more)
	case best.Status == "converged":
		return "this is no certified minimum: " + c.doubts(p, out)
	}
	return fmt.Sprintf("the best search did not come to a minimum: %s; %s", best.Why, c.doubts(p, out))
}

// doubts says in words why a point is no certified minimum; "" where it is one.
func (c *certificate) doubts(p judge, out *Result) string {
	switch {
	case c.Certified:
		return ""
	case matrices(p).dependent(c.problem.X) != "":
		return fmt.Sprintf("the covariance %s goes to where one random effect follows from others, and no matrix "+
			"there has an inverse: the data do not tell them apart; write one effect for both, times a param where "+
			"their sizes differ", matrices(p).dependent(c.problem.X))
	case c.rough():
		errors := "how much their errors change the objective is not known"
		if by := c.blur(); !math.IsNaN(by) {
			errors = fmt.Sprintf("their errors change the objective by %s of %s", diag.Number(by), p.unit())
		}
		return fmt.Sprintf("runs with these tolerances are too rough here: %s, and a search may follow these errors; "+
			"take smaller ones: solver { %satol = %s }",
			errors, smaller(out.Run.RTol, 1e-4), diag.Number(out.Run.ATol/1e4))
	case c.owes() && !(c.Stationarity > c.Noise):
		return fmt.Sprintf("constraints are violated a little, and that alone makes the objective better by %s of %s",
			diag.Number(c.owed), p.unit())
	case !(c.Noise <= mostNoise) && !(c.Stationarity > c.Noise):
		size := "and how much gain it may hide is not known"
		if !math.IsNaN(c.Noise) {
			size = fmt.Sprintf("with the gain that it may hide, it is %s of %s", diag.Number(c.Noise), p.unit())
		}
		return fmt.Sprintf("the error of the objective is too large to show a minimum: %s; take smaller tolerances: "+
			"solver { %satol = %s }", size, smaller(out.Run.RTol, 1e-2), diag.Number(out.Run.ATol/100))
	case !(c.Stationarity <= max(mostGain, c.Noise)) && c.found.Real:
		return fmt.Sprintf("by second derivatives, the objective is better nearby, by %s of %s", diag.Number(
			c.Stationarity), p.unit())
	}
	by, of := c.Stationarity, p.unit()
	if c.farStart {
		by, of = math.Abs(c.gain/c.problem.At.Value), "itself"
	}
	if c.hidden {
		return fmt.Sprintf("rounding hides what could be gained: the objective changes by %s if an estimate changes "+
			"by its own size, or from the start to here, as if small changes grew fast along the run; begin nearer, "+
			"or run in parts (shooting = 10)", diag.Number(c.problem.Size))
	}
	promise := "by its derivatives, the objective is better nearby, by " + diag.Number(by) + " of " + of
	if out.Starts[0].Status == "converged" { // and the searches from there are over
		promise += ", but no search found such a point"
	}
	return promise
}

// smaller is the setting of so small a part of a relative tolerance, as far as rounding lets runs follow it; "" where
// that is no less than it is.
func smaller(rtol, part float64) string {
	const least = 1e-14
	if to := max(float64(rtol*part), least); to < rtol {
		return "rtol = " + diag.Number(to) + "  "
	}
	return ""
}

// unit says what gains are relative to.
func (p judge) unit() string {
	if p.squares {
		return "one unit of the negative log likelihood"
	}
	return "what the search has gained"
}

// without returns how much less the objective could be if coordinate i were not at its bound. Beyond the bound of a
// number that is searched for on a logarithmic scale there is room for the number itself.
func (p judge) without(of *certificate, i int) float64 {
	c := of.problem
	n := len(c.X)
	k, q := &p.coords[i], *c
	v, by := c.X[i], 1.0
	if k.block == nil {
		v = k.value(v)
		by = 1 / k.slope(v)
	}
	q.X, q.At = slices.Clone(c.X), &certify.Point{
		Value: c.At.Value, Gradient: slices.Clone(c.At.Gradient), Kinks: c.At.Kinks, Constraints: c.At.Constraints,
	}
	q.X[i] = v
	q.At.Gradient[i] *= by
	columns := func(j []float64) []float64 {
		j = slices.Clone(j)
		for r := i; r < len(j); r += n {
			j[r] *= by
		}
		return j
	}
	q.At.Kinks.J, q.At.Constraints.J = columns(c.At.Kinks.J), columns(c.At.Constraints.J)
	reach := max(math.Abs(v), math.Abs(k.first))
	if span := k.hi - k.lo; span-span == 0 {
		reach = span
	}
	q.Hessian = columns(of.squares)
	for j := range n {
		q.Hessian[i*n+j] *= by
	}
	if h := q.Hessian[i*n+i]; h > 0 {
		reach = max(reach, math.Abs(q.At.Gradient[i])/h)
	}
	return q.Without(i, reach) * q.Size
}

// locate returns what is known of the minimum near the end of a search, with its certificate. Where that says that the
// point is none, searches go on from there as long as they come to better points.
func (p judge) locate(
	ctx context.Context, e *evaluator, best *Start, spent int,
) (*minimum, *certificate, error) {
	whole, end := outlasting(ctx)
	defer end()
	const rounds = 12
	owed := math.Inf(1)
	for round := 0; ; round++ {
		m := &minimum{x: slices.Clone(best.x), factor: 1, spent: best.Status == "limit"}
		p.atBounds(m)
		if err := p.activate(whole, e, m, p.agree(best.Value)); err != nil && ctx.Err() == nil {
			return nil, nil, err
		}
		if ctx.Err() != nil {
			return m, uncertified(), nil
		}
		if err := p.polish(ctx, e, m, best.Status == "converged", e.rounds(spent)); err != nil && ctx.Err() == nil {
			return nil, nil, err
		}
		if m.gradient != nil {
			best.x, best.To = m.x, p.values(m.x)
		}
		c, err := p.certify(ctx, e, m)
		if ctx.Err() != nil {
			return m, uncertified(), nil
		}
		if err != nil {
			return nil, nil, err
		}
		if p.restored(best, c, &owed) {
			continue
		}
		falls := best.Why == optim.Unbounded.Words()
		if falls {
			c.Certified = false
		} else if c.Certified && best.Status != "converged" {
			best.Status = "converged"
			best.Why = "it is a minimum by its certificate, though " + best.Why
		}
		spent := best.Status == "limit" && p.settings.MaxIter > 0
		if c.Certified || c.infeasible || c.rough() || falls || spent || round == rounds ||
			!p.onward(ctx, e, m, best, c) {
			if !c.Certified && !c.infeasible && !c.rough() && !falls && !spent {
				m, c = p.refined(ctx, e, m, best, c)
			}
			return m, c, nil
		}
	}
}

// bounded says what holds the estimates that are at bounds, and returns those that the data do not tell.
func (p judge) bounded(m *minimum, out *Result, note func(diag.Level, string, ...any)) (untold []string) {
	for i, at := range m.at {
		if at == 0 || out.Rows == 0 { // without data, as in problems of optimal control, bounds are where minima are
			continue
		}
		c := &p.coords[i]
		side, bound := "lower", c.lo
		if at > 0 {
			side, bound = "upper", c.hi
		}
		if said := func(u Combination) bool { return slices.Contains(u.Names, c.name) }; m.idle != nil && m.idle[i] {
			if !slices.ContainsFunc(out.Unidentified, said) {
				note(diag.Note, "%s is at its %s bound, %s, which holds nothing back: the minimum lies there", c.name,
					side, diag.Number(bound))
			}
			continue
		}
		if rise, is := flat(out, c); is {
			note(diag.Warning, "%s is at its %s bound, %s, and might as well be anywhere within its bounds: over all "+
				"of them the objective rises by no more than %s", c.name, side, diag.Number(bound), diag.Number(rise))
			untold = append(untold, c.name)
			continue
		}
		want := "the data want it to be " + map[bool]string{true: "greater", false: "less"}[at > 0] + ", and "
		if m.gains == nil || !(m.gains[i] > max(mostGain, out.KKT.Noise)) {
			want = ""
		}
		note(diag.Warning, "%s is at its %s bound, %s: %sits interval and the errors of the others hold only if the "+
			"bound is true", c.name, side, diag.Number(bound), want)
	}
	return untold
}

// flat reports whether the profile of an estimate goes from bound to bound without rising by more than errors of the
// objective, and returns by how much it rises. Whatever would be gained beyond a bound, the data tell nothing of such
// an estimate within.
func flat(out *Result, c *coordinate) (rise float64, is bool) {
	i := slices.IndexFunc(out.Estimates, func(e Estimate) bool { return e.Text() == c.name })
	if i < 0 || len(out.Estimates[i].Profile) < 2 {
		return 0, false
	}
	list := out.Estimates[i].Profile
	for _, p := range list {
		rise = max(rise, p.Rise)
	}
	return rise, list[0].Value <= c.lo && list[len(list)-1].Value >= c.hi && rise <= max(mostGain, out.KKT.Noise)
}
