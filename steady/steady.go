// Package steady finds steady states of systems: states whose rates vanish, to which a run leads.
//
// The equations are those of the rates, reduced by conserved quantities (Laws): for each law the rate of one state is
// left out, and the law takes its place. What remains has a regular matrix (Plan, Linear), with which derivatives by
// the implicit function theorem cost one solution with the matrix or its transpose.
//
// Find follows the run with an implicit method, whose steps grow as the state comes to rest (pseudo-transient
// continuation, C. T. Kelley and D. E. Keyes, SIAM Journal on Numerical Analysis 35 (1998) 508–523,
// doi:10.1137/S0036142996304796). Where a Newton step has become small, Newton's method finishes. So the state that is
// found is the one that the run leads to, in whatever basin it lies, and not any root of the equations.
//
// It must not know of the language or of compiled models: it sees a solvers.System with a Jacobian.
package steady

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"

	"odes.dev/odes/internal/base/sizes"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
)

// System is what a steady state is sought of.
type System interface {
	solvers.System
	matrices.JacobianField
}

// Way says how a steady state is found.
type Way uint8

// The ways.
const (
	Auto   Way = iota // follow the run until Newton's method takes over
	Newton            // Newton's method, damped, from where the run would begin
	Run               // follow the run to the end; nothing else
)

// Options say how a steady state is found, and what is good enough.
type Options struct {
	Way  Way
	RTol float64   // of the run; 0: 1e-6
	ATol []float64 // of each state, or one for all; nil: 1e-9; negative: by size, as solvers.Options has it
	// Tol is how large the last step of Newton's method may be, in units of RTol·|y| + ATol. 0: 1e-3. Newton's method
	// goes on to the last digits in any case; that is what they are compared with.
	Tol      float64
	MaxSteps int     // of the run; 0: 20,000
	Span     float64 // a time over which things happen, to begin with; 0: 1
	After    bool    // the state is one that a run comes to behind its end, not one before its start
	// From, if not nil, is a steady state for values close by, and the search is a warm one: Newton's method begins
	// there. Its first step is what the derivatives of the state predict. The state that it comes to need not be the
	// one that the run leads to, so whoever warms searches has that confirmed by others. Where Newton's method does not
	// converge at once to a state that passes all checks, and where a run could not do without the way (events by
	// conditions, executions that wait, the way Run), the search is an ordinary one.
	From []float64

	eigen int // as Plan.Spectrum takes it
	dear  int // steps times states of a run that is followed as exactly as RTol says; 0: two million
}

func (o Options) withDefaults() Options {
	if o.RTol == 0 {
		o.RTol = 1e-6
	}
	if o.ATol == nil {
		o.ATol = []float64{1e-9}
	}
	if o.Tol == 0 {
		o.Tol = 1e-3
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = 20_000
	}
	if !(o.Span > 0) {
		o.Span = 1
	}
	return o
}

// Elsewhere returns other times at which what rests at t must rest as well, at y with modes m, and move with params in
// the same way: else rates depend on time, though their slopes by time may be zero at t. Time goes where the search
// stands for: on from the end of a run, or back from its start. No period divides the distances to all times. Where
// other modes hold, as before a switch at a given time, other rates do, and nothing is to be compared.
func (o *Options) Elsewhere(sys solvers.System, t float64, y, m []float64) (times []float64) {
	const part = 1.0 / 64
	span := o.withDefaults().Span
	if !o.After {
		span = -span
	}
	modes := make([]float64, len(m))
	for _, far := range []float64{part, math.Phi * part} {
		then := t + float64(far*span)
		if sys.Choose(then, y, nil, modes); slices.Equal(modes, m) {
			times = append(times, then)
		}
	}
	return times
}

// State is a steady state.
type State struct {
	Y, D, M []float64 // states, discretes and modes
	Matrix  []float64 // the derivatives of the equations there; see Plan.Matrix
	// Jacobian has the entries of the derivatives of the rates there.
	Jacobian []float64
	// Fired tells that events on the way changed discretes or conserved quantities. What they are then depends on when
	// the events fired, of which the equations of the steady state know nothing.
	Fired bool
	// Jumps are the first firings of events on the way.
	Jumps []Jump
	// Slowest is the eigenvalue of the reduced Jacobian that is nearest to growing; NaN where it was not found.
	// NearZero tells that only eigenvalues near zero were looked at, since there are many.
	Slowest  complex128
	NearZero bool
	T        float64 // how long the run was
	Steps    int     // of the run
	Newton   int     // steps of Newton's method
	Periods  int     // of a periodic state: how many it took
	Warm     bool    // it was found from Options.From, without a run
	Saved    int     // steps that such a run would have taken, for those who know
}

// Jump is an event that fired on the way to a steady state, with what its body found.
type Jump struct {
	Firing  solvers.Firing
	T       float64
	Y, D, M []float64
}

// Find finds the steady state that the run from (t, y, d) leads to. Time stands still at t, so that what happens at
// given times does not happen; events by conditions of states do, and so do executions that wait. Errors are an
// *Error, or that of the context.
func Find(ctx context.Context, sys System, plan *Plan, t float64, y, d []float64, o Options) (*State, error) {
	tried := 0
	if o.From != nil && o.Way != Run && followable(sys, d) {
		s := newSearch(sys, plan, t, y, d, o)
		out, err := s.warm(ctx)
		if err == nil {
			return out, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		tried = s.iterations
	}
	s := newSearch(sys, plan, t, y, d, o)
	s.iterations = tried
	s.enter(t, y)
	if s.o.Way == Newton && !Waiting(sys, s.d) {
		return s.newton(ctx)
	}
	return s.follow(ctx)
}

// Waiting reports whether an execution of an event is pending, with discretes d: it will come however long the state
// rests before.
func Waiting(sys solvers.System, d []float64) bool {
	list := sys.Instants()
	if !slices.ContainsFunc(list, func(in solvers.Instant) bool { return in.Pending }) {
		return false
	}
	times := make([]float64, len(list))
	sys.InstantTimes(d, times)
	for i, in := range list {
		if in.Pending && times[i] < solvers.Never {
			return true
		}
	}
	return false
}

// followable reports whether a run from discretes d comes to rest without an event: what these leave is no matter of
// equations.
func followable(sys solvers.System, d []float64) bool {
	for _, e := range sys.Events() {
		if !e.Explicit {
			return false
		}
	}
	return !Waiting(sys, d)
}

func newSearch(sys System, plan *Plan, t float64, y, d []float64, o Options) *search {
	z := sys.Size()
	return &search{
		sys: sys, plan: plan, o: o.withDefaults(), t: t, n: z.N, from: y,
		y: slices.Clone(y), d: slices.Clone(d), m: make([]float64, z.M), totals: plan.Totals(y),
		f: make([]float64, z.N+z.Q), r: make([]float64, z.N), delta: make([]float64, z.N),
		next: make([]float64, z.N), entries: make([]float64, len(sys.Jacobian().Rows)),
		largest: absolute(y), rounds: make([]float64, z.N), terms: make([]float64, z.N),
	}
}

func absolute(y []float64) []float64 {
	x := slices.Clone(y)
	for i, v := range x {
		x[i] = math.Abs(v)
	}
	return x
}

// search is one search for a steady state.
type search struct {
	sys    System
	plan   *Plan
	o      Options
	t      float64
	n      int
	from   []float64
	fired  bool // see State
	jumps  []Jump
	y, d   []float64
	m      []float64
	totals []float64
	lin    *Linear

	f, r, delta, next []float64
	entries           []float64
	largest           []float64 // [N] sizes of states so far
	rounds            []float64 // [N] what rounding leaves of them
	terms             []float64 // [N] work space
	matrix            []float64
	iterations        int
}

// enter makes the discretes current, and the modes that hold at y.
func (s *search) enter(t float64, y []float64) {
	s.sys.Enter(s.d, s.m)
	s.sys.Choose(t, y, nil, s.m)
	s.sys.Enter(s.d, s.m)
}

// tolerance returns how exactly state i is wanted where its value is y.
func (s *search) tolerance(i int, y float64) float64 {
	abs := s.o.ATol[min(i, len(s.o.ATol)-1)]
	if abs < 0 {
		size := max(s.largest[i], math.Abs(y))
		abs = max(float64(float64(sizes.Part*s.o.RTol)*size), s.rounds[i], sizes.Least)
	}
	return math.FMA(s.o.RTol, math.Abs(y), abs)
}

// round notes what rounding errors of the rates leave of each state that these hold, or of a sum that is conserved.
func (s *search) round(y []float64) {
	clear(s.terms)
	clear(s.rounds)
	j := s.sys.Jacobian()
	for e, x := range s.entries {
		if row, col := int(j.Rows[e]), int(j.Cols[e]); row < s.n && col < s.n {
			s.terms[row] = math.FMA(math.Abs(x), math.Abs(y[col]), s.terms[row])
			if row == col {
				s.rounds[row] += x
			}
		}
	}
	for i, by := range s.rounds {
		if s.rounds[i] = 0; by != 0 && s.plan.law[i] < 0 {
			s.rounds[i] = float64(rounds*s.terms[i]) / math.Abs(by)
		}
	}
	for k := range s.plan.Laws {
		law := &s.plan.Laws[k]
		for i, state := range law.States {
			s.rounds[law.Pivot] = max(s.rounds[law.Pivot], math.Abs(float64(rounds*law.Coefs[i]*y[state])))
		}
	}
}

// rounds is how far a sum may be off by rounding, over its terms.
const rounds = 0x1p-48

// step writes the step of Newton's method from y to s.delta, and returns its size in units of the tolerances.
func (s *search) step(y []float64) (float64, error) {
	s.iterations++
	s.sys.Eval(s.t, y, s.f)
	s.plan.Residual(y, s.f, s.totals, s.r)
	s.sys.EvalJacobian(s.t, y, s.entries)
	s.round(y)
	s.matrix = s.plan.Matrix(s.entries)
	if !finite(s.r) || !finite(s.matrix) {
		return math.NaN(), nil
	}
	if s.lin == nil {
		s.lin = &Linear{plan: s.plan}
	}
	if err := s.lin.Factor(s.matrix); err != nil {
		return 0, err
	}
	return s.correct(y), nil
}

// correct writes the correction of y by the factors at hand to s.delta, and returns its size.
func (s *search) correct(y []float64) float64 {
	size := 0.0
	for i, r := range s.r {
		s.delta[i] = -r
	}
	s.lin.Solve(s.delta, 1)
	for i, x := range s.delta {
		x = math.Abs(x) / s.tolerance(i, y[i])
		if x > size || x != x {
			size = x
		}
	}
	return size
}

// rounding estimates, by the factors at hand, how large steps of Newton's method from y are that come of rounding
// errors of the rates, in units of the tolerances.
func (s *search) rounding(y []float64) float64 {
	const some = 16 // times a unit in the last place of the largest term
	errs := make([]float64, s.n)
	j := s.sys.Jacobian()
	for e, x := range s.entries {
		if row, col := int(j.Rows[e]), int(j.Cols[e]); row < s.n && col < s.n && s.plan.law[row] < 0 {
			errs[row] = math.FMA(math.Abs(x), math.Abs(y[col]), errs[row])
		}
	}
	for k := range s.plan.Laws {
		law := &s.plan.Laws[k]
		for i, state := range law.States {
			errs[law.Pivot] = math.FMA(math.Abs(law.Coefs[i]), math.Abs(y[state]), errs[law.Pivot])
		}
	}
	most := 0.0
	for pattern := range 4 {
		x := slices.Clone(errs)
		for i := range x {
			if bits.OnesCount(uint(i*(2*pattern+1)+pattern))%2 == 1 {
				x[i] = -x[i]
			}
		}
		s.lin.Solve(x, 1)
		for i, v := range x {
			most = max(most, math.Abs(v)/s.tolerance(i, y[i]))
		}
	}
	return float64(some * 0x1p-52 * most)
}

// polish goes on with Newton's method from y, which is close, until rounding ends it. It reports whether it converged.
// Where steps become shorter by a half each time, or the like, the root is not a simple one.
func (s *search) polish(y []float64) (bool, error) {
	const most, fast, rounding, slow = 30, 0.1, 0.9, 3
	before, quick, lags := math.Inf(1), false, 0
	for range most {
		size, err := s.step(y)
		switch {
		case err != nil:
			return false, err
		case !(size < math.Inf(1)):
			return false, nil
		case size <= float64(fast*before):
			quick = quick || before < math.Inf(1)
		case quick || size > float64(rounding*before):
			if size <= s.o.Tol || size <= s.rounding(y) {
				return true, nil
			}
			fallthrough
		default:
			if lags++; lags == slow {
				return false, nil
			}
		}
		for i, x := range s.delta {
			y[i] += x
		}
		if size == 0 {
			return true, nil
		}
		before = size
	}
	return false, nil
}

// settle returns the state s.next as the result.
func (s *search) settle() (*State, error) {
	y := s.next
	if i := s.timed(); i >= 0 {
		return nil, &Error{Fault: Timed, States: []string{s.sys.StateName(i)}}
	}
	for i, x := range y { // rounding of a zero
		if x < 0 && !s.plan.unknown(i) && s.from[i] >= 0 && -x <= float64(s.o.Tol*s.tolerance(i, 0)) {
			y[i] = 0
		}
	}
	if _, err := s.step(y); err != nil {
		return nil, s.marginal(err)
	}
	out := &State{
		Y: slices.Clone(y), D: slices.Clone(s.d), M: slices.Clone(s.m), Matrix: s.matrix,
		Jacobian: slices.Clone(s.entries), Newton: s.iterations, Fired: s.fired,
		Jumps: s.jumps,
	}
	spectrum, err := s.stability(y)
	out.Slowest, out.NearZero = spectrum.Slowest(), spectrum == nil || !spectrum.All
	return out, err
}

// timed returns a state whose rate depends on time, by more than rounding over the time span; -1 for none.
func (s *search) timed() int {
	const least = 0x1p-44
	rates, sizes, slopes := s.movements(s.t)
	for i, x := range slopes {
		if math.Abs(float64(x*s.o.Span)) > float64(least*sizes[i]) {
			return i
		}
	}
	for _, t := range s.o.Elsewhere(s.sys, s.t, s.next, s.m) {
		other, large, _ := s.movements(t)
		for i, x := range other {
			if math.Abs(x-rates[i]) > float64(least*max(sizes[i], large[i])) {
				return i
			}
		}
	}
	return -1
}

// movements returns the rates of s.next at a time, the sizes of their terms, and their slopes by time.
func (s *search) movements(t float64) (rates, sizes, slopes []float64) {
	s.sys.Eval(t, s.next, s.f)
	s.sys.EvalJacobian(t, s.next, s.entries)
	rates, sizes, slopes = slices.Clone(s.f[:s.n]), absolute(s.f[:s.n]), make([]float64, s.n)
	j := s.sys.Jacobian()
	for e, x := range s.entries {
		switch row, col := int(j.Rows[e]), int(j.Cols[e]); {
		case row >= s.n:
		case col == s.n:
			slopes[row] += x
		default:
			sizes[row] = math.FMA(math.Abs(x), math.Abs(s.next[col]), sizes[row])
		}
	}
	return rates, sizes, slopes
}

// marginal returns the error for equations that have no single solution.
func (s *search) marginal(err error) error {
	var singular *SingularError
	if !errors.As(err, &singular) {
		return &Error{Fault: Broken, Cause: err}
	}
	return &Error{Fault: Marginal, States: s.names(singular.States)}
}

// names returns the names of at most five states.
func (s *search) names(list []int) (names []string) {
	for _, i := range list[:min(5, len(list))] {
		names = append(names, s.sys.StateName(i))
	}
	return names
}

// newton is Newton's method from the start. A step is shortened until the next one, with the same factors, would be
// shorter (P. Deuflhard, Newton Methods for Nonlinear Problems, Springer 2004, 3.1).
func (s *search) newton(ctx context.Context) (*State, error) {
	const most = 200
	y := s.next
	copy(y, s.y)
	for range most {
		s.enter(s.t, y)
		size, err := s.step(y)
		if err != nil {
			return nil, s.marginal(err)
		}
		if size <= 1 {
			break
		}
		if size != size {
			return nil, &Error{Fault: Diverged, States: s.moving(s.y)}
		}
		delta, at := slices.Clone(s.delta), slices.Clone(y)
		accepted := false
		for lambda := 1.0; lambda > 1e-6 && !accepted; lambda /= 2 {
			for i, x := range delta {
				y[i] = math.FMA(lambda, x, at[i])
			}
			s.sys.Eval(s.t, y, s.f)
			s.plan.Residual(y, s.f, s.totals, s.r)
			accepted = s.correct(at) <= float64((1-lambda/4)*size)
		}
		if !accepted {
			copy(y, at)
			return nil, &Error{Fault: Diverged, States: s.moving(at)}
		}
	}
	return s.finish(ctx, y)
}

// warm is Newton's method from Options.From, for as long as every step is at most half as long as the one before: then
// the state is the one that belongs to From, and not any other. Conserved quantities are those of the start.
func (s *search) warm(ctx context.Context) (*State, error) {
	const most, contraction = 12, 0.5
	y := s.next
	copy(y, s.o.From)
	before := math.Inf(1)
	for range most {
		s.enter(s.t, y)
		size, err := s.step(y)
		if err != nil {
			return nil, s.marginal(err)
		}
		if !(size <= float64(contraction*before)) {
			break
		}
		if size <= 1 {
			out, err := s.finish(ctx, y)
			if err == nil {
				out.Warm = true
			}
			return out, err
		}
		for i, x := range s.delta {
			y[i] += x
		}
		before = size
	}
	return nil, &Error{Fault: Diverged, States: s.moving(y)}
}

// finish returns the state that Newton's method leads to from y, which is close to it.
func (s *search) finish(ctx context.Context, y []float64) (*State, error) {
	s.enter(s.t, y)
	switch ok, err := s.polish(y); {
	case err != nil:
		return nil, s.marginal(err)
	case !ok:
		return nil, &Error{Fault: Diverged, States: s.moving(y)}
	}
	modes := slices.Clone(s.m)
	if s.sys.Choose(s.t, y, nil, modes); !slices.Equal(modes, s.m) { // no root where other modes hold
		return nil, &Error{Fault: Diverged, States: s.moving(y)}
	}
	var below []int
	for i, x := range y {
		if x < -s.tolerance(i, 0) && s.from[i] >= 0 && !s.plan.unknown(i) {
			below = append(below, i)
		}
	}
	if below != nil && !slices.ContainsFunc(s.from, func(x float64) bool { return x < 0 }) {
		return nil, &Error{Fault: Negative, States: s.names(below)}
	}
	out, err := s.settle()
	if err == nil && out.NearZero {
		err = s.returns(ctx, out)
	}
	return out, err
}

// returns looks whether a run that begins beside a steady state returns to it, where there are too many states for a
// look at all eigenvalues.
func (s *search) returns(ctx context.Context, to *State) error {
	const beside, near = 1e-4, 1e-3
	for i, k := range s.plan.law {
		if k < 0 {
			s.y[i] = to.Y[i] + float64(beside*math.Abs(to.Y[i])*float64(1-2*(bits.OnesCount(uint(i))%2)))
		}
	}
	for k := range s.plan.Laws { // the pivot keeps the total
		law := &s.plan.Laws[k]
		s.y[law.Pivot] = 0
		own := law.Coefs[slices.Index(law.States, law.Pivot)]
		s.y[law.Pivot] = (s.totals[k] - law.Total(s.y)) / own
	}
	copy(s.d, to.D)
	s.enter(s.t, s.y)
	s.from = slices.Clone(s.y)
	s.o.Way, s.o.Tol = Run, 1
	back, err := s.follow(ctx)
	var why *Error
	if errors.As(err, &why) {
		return &Error{Fault: Unstable, States: why.States, Rate: math.NaN()}
	}
	if err != nil {
		return err
	}
	for i, y := range back.Y {
		if math.Abs(y-to.Y[i]) > float64(near*math.Abs(to.Y[i]))+s.tolerance(i, y) {
			return &Error{Fault: Unstable, States: s.names([]int{i}), Rate: math.NaN()}
		}
	}
	return nil
}

// moving names the states that move most at y, in units of their tolerances and of the time span.
func (s *search) moving(y []float64) []string {
	s.sys.Eval(s.t, y, s.f)
	order := make([]int, s.n)
	for i := range order {
		order[i] = i
	}
	speed := func(i int) float64 {
		x := math.Abs(s.f[i]) / s.tolerance(i, y[i])
		if x != x {
			return math.Inf(1)
		}
		return x
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := speed(a), speed(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	most := speed(order[0])
	for k, i := range order {
		if speed(i) < float64(1e-3*most) {
			order = order[:k]
			break
		}
	}
	return s.names(order)
}

func finite(x []float64) bool {
	for _, v := range x {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// Ratio returns |x/of|, and 0 where x is 0.
func Ratio(x, of float64) float64 {
	if x == 0 {
		return 0
	}
	return math.Abs(x / of)
}
