package hybrid

import (
	"errors"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
)

// choice decides which member of a method makes the next step: the one that makes a way at the least price. The step
// that accuracy allows the present one is known. With an estimate that vanishes like h^k, another one's with h^q, and
// the relative tolerance ε, another one may take steps longer by ε^(1/q - 1/k); a member that is stable only up to h
// takes steps of length h. Prices are counted, never timed, so a run is the same on every machine.
//
// Members of one kind are explicit methods of one order that differ in their stability alone: they take turns freely. A
// change of kind costs a first step, a new start of the controller and, where it was wrong, much more. So a member of
// another kind must be cheaper by a margin, for several steps in succession; and a change that is taken back soon makes
// the next one wait longer.
type choice struct {
	members []solvers.Method
	of      []solvers.StiffnessDetector // of each member; nil for one that is stable with any step
	kin     []kin                       // of each member
	// of each member the one of its kind that has the longest stability interval; see wide
	widest []solvers.StiffnessDetector
	price  []float64   // of a step of each member
	guess  []float64   // before anything was prepared
	ready  []bool      // [members] Prepare was called, of implicit ones
	kinds  bool        // there is more than one kind
	long   [][]float64 // [now][other] how much longer accuracy lets steps of the other be
	made   madeStep    // the last step

	orders  bool    // the members solve equations and differ in their order, which ascends; see climb
	judged  bool    // a step was made since the order was last thought of
	failed  bool    // the equations of that had no solution
	shrinks float64 // its contraction

	better int // steps in succession for which members of another kind would have been cheaper
	other  int // the first of their kind
	wait   int // how many it takes
	held   int // steps in succession that stability held short, or that took more stages for it
	try    int // after how many of them another member is tried in any case
	since  int // steps since the last change
	turns  int // steps that each member makes in its turn, whatever the price; 0: they do not take turns

	refused *solvers.MatrixError // why the equations of the last implicit trial had no solution; nil if they had one

	cos   float64   // of the spectrum that reach and calm are for; NaN where prices have changed since
	reach []float64 // of each member, how far h ρ may go for it to be stable
	calm  []calm    // of each present member
}

// calm says which member makes the next step as long as h ρ is below most, whatever h: then stability holds short none
// of the kind, and so the prices of the way differ by the same factors.
type calm struct {
	member int
	most   float64
}

// kin are the members of one kind, from the first to the one before end. An implicit member is alone.
type kin struct{ first, end int }

// madeStep is a step of length h whose error, of this norm, vanishes like that power of h.
type madeStep struct {
	h, norm float64
	power   int
}

// wish returns the length that the error allows. It takes a power, and few steps are asked for it.
func (m *madeStep) wish() float64 {
	return float64(m.h * min(elem.QuickExp2(-elem.QuickLog2(max(m.norm, 0x1p-100))/float64(m.power)), choiceGrowth))
}

const (
	choiceMargin = 1.25 // how much cheaper another member must be
	choiceWait   = 6    // for how many steps
	choiceLong   = 96   // and at most
	choiceSoon   = 40   // steps after which a change was right
	choiceTry    = 25   // steps that stability held short, after which a member that it does not hold is tried
	choiceRare   = 5000 // and at most
	choiceGrowth = 20   // of a step that was held short, at most
	// choiceNear times a step is beyond the bound of stability where what is stiff makes most of its error: then the
	// error holds it short before the bound does.
	choiceNear = 2
)

// Prices are in units of about a nanosecond, fitted on one machine. Only their proportions matter.
const (
	priceCall   = 20.0 // of a right-hand side, besides its operations
	priceRate   = 8.0  // per element, of a Field that does not say
	priceSum    = 0.2  // a method's own sums, per element and pair of stages
	priceMatrix = 4.0  // a Jacobian over a right-hand side, where nobody says
)

// Priced is a Field that knows what its values cost, in units of about a nanosecond: a right-hand side and, of a
// JacobianField, the entries of its Jacobian; 0 where that is not known.
type Priced interface {
	solvers.Field
	Prices() (rates, jacobian float64)
}

// pricedSteps is a Method whose steps cost more than right-hand sides and sums.
type pricedSteps interface {
	// Price returns what a step costs for prices of a right-hand side and of a Jacobian.
	Price(rates, jacobian float64) float64
}

// gridded is a Method that knows whether the states are on a grid, once it is prepared.
type gridded interface{ OnGrid() bool }

// spreading is a Method whose steps cost more, the longer they are.
type spreading interface {
	// Dearer returns how many times its price a step costs that is so many times as long as the spectral radius stands
	// for: h ρ.
	Dearer(reach float64) float64
}

// newChoice returns the choice between the members of method; explicit tells that implicit ones are to make no steps.
// Explicit members of other kinds than the first are for diffusion on grids. They make steps where implicit members are
// to make none, or where those know of a grid and are dear.
func newChoice(sys solvers.Field, method solvers.Method, tol *solvers.Tolerance, explicit bool) choice {
	c := choice{members: solvers.Members(method)}
	if m, ok := method.(interface{ Turns() int }); ok {
		c.turns = m.Turns()
	}
	for i, m := range c.members {
		d, bounded := m.(solvers.StiffnessDetector)
		k := kin{i, i + 1}
		if bounded && i > 0 && c.of[i-1] != nil && c.members[i-1].Info().Order == m.Info().Order {
			k.first = c.kin[i-1].first
		}
		c.kin, c.kinds = append(c.kin, k), c.kinds || !bounded || k.first > 0
		c.of, c.price, c.ready = append(c.of, d), append(c.price, 0), append(c.ready, false)
		if c.value(i, sys, false); explicit && !bounded || !explicit && bounded && k.first > 0 {
			c.costing(i, math.Inf(1))
		}
	}
	c.widest = slices.Clone(c.of)
	for i := len(c.members) - 1; i >= 0; i-- {
		k := &c.kin[i]
		if next := i + 1; next < len(c.members) && c.kin[next].first == k.first {
			k.end = c.kin[next].end
		}
		among := c.of[k.first:k.end]
		if c.turns > 0 && c.of[i] != nil { // of all explicit members that take turns
			among = c.of
		}
		for _, d := range among {
			if d != nil && d.StabilityInterval() > c.widest[i].StabilityInterval() {
				c.widest[i] = d
			}
		}
	}
	c.orders = c.turns == 0 && len(c.members) > 1 && c.wide(0) == nil
	c.guess = slices.Clone(c.price)
	for _, now := range c.members {
		var row []float64
		for _, other := range c.members {
			x := 1/power(other) - 1/power(now)
			row = append(row, elem.QuickExp2(float64(x*elem.QuickLog2(tol.Least()))))
		}
		c.long = append(c.long, row)
	}
	return c
}

// wide returns the explicit method by which the stability of steps is judged while a member makes them: of its kind the
// one that is stable with the longest steps, and for an implicit member the first such of any kind. It is nil where all
// members are implicit.
func (c *choice) wide(member int) solvers.StiffnessDetector {
	if d := c.widest[member]; d != nil {
		return d
	}
	if i := slices.IndexFunc(c.widest, func(d solvers.StiffnessDetector) bool { return d != nil }); i >= 0 {
		return c.widest[i]
	}
	return nil
}

// power returns that of h with which the estimate of m vanishes.
func power(m solvers.Method) float64 {
	i := m.Info()
	return float64(1 + min(i.Order, i.Embedded))
}

// value finds the price of a member's steps; known tells that its Jacobian is at hand. Until then the price is a guess
// that does not depend on whether it is, so that a run does not depend on what another run before it needed.
func (c *choice) value(member int, sys solvers.Field, known bool) {
	z := sys.Size()
	rates, jacobian := math.FMA(priceRate, float64(z.N+z.Q), priceCall), 0.0
	if p, ok := sys.(Priced); ok {
		rates, jacobian = p.Prices()
	}
	if jacobian == 0 || !known {
		jacobian = float64(priceMatrix * rates)
	}
	m := c.members[member]
	info := m.Info()
	price := math.FMA(float64(info.Evals), rates, float64(priceSum*float64((z.N+z.Q)*info.Stages*info.Stages)))
	if p, ok := m.(pricedSteps); ok {
		price += p.Price(rates, jacobian)
	}
	c.costing(member, price)
}

// costing makes price that of a member's steps.
func (c *choice) costing(member int, price float64) { c.price[member], c.cos = price, math.NaN() }

// costs returns the price of a member's step of length h.
func (c *choice) costs(member int, h float64, by *spectrum) float64 {
	if m, ok := c.members[member].(spreading); ok {
		return float64(c.price[member] * m.Dearer(math.Abs(float64(h*by.rho))))
	}
	return c.price[member]
}

// open lets explicit members of other kinds than the first make steps.
func (c *choice) open(sys solvers.Field) {
	for m, d := range c.of {
		if d != nil && c.kin[m].first > 0 {
			c.value(m, sys, true)
		}
	}
}

func (c *choice) reset() {
	c.made, c.better, c.other, c.wait, c.since = madeStep{}, 0, 0, choiceWait, 0
	c.held, c.try = 0, choiceTry
	c.judged, c.failed, c.refused = false, false, nil
	if !slices.Equal(c.price, c.guess) {
		copy(c.price, c.guess)
		c.cos = math.NaN()
	}
	clear(c.ready)
}

// look makes what is known of the members' stability that for an angle of the spectrum.
func (c *choice) look(cos float64) {
	if c.cos == cos && c.reach != nil {
		return
	}
	if c.cos = cos; c.reach == nil {
		c.reach, c.calm = make([]float64, len(c.members)), make([]calm, len(c.members))
	}
	for m, d := range c.of {
		c.reach[m] = math.Inf(1)
		if d != nil {
			c.reach[m] = float64(spectrumReach * d.StableAlong(cos))
		}
		c.calm[m] = calm{-1, 0}
	}
}

// at reports whether the choice is that for a step of length h.
func (c *calm) at(h, rho float64) bool { return float64(h*rho) < c.most && h > 0x1p-900 && h < 0x1p900 }

// count counts a step.
func (c *choice) count() {
	if c.since++; c.since == choiceSoon {
		c.wait, c.try = choiceWait, choiceTry
	}
}

// pass counts a step that nothing holds short.
func (c *choice) pass() {
	c.count()
	if c.kinds {
		c.held, c.better = 0, 0
	}
}

// certainly is how far apart prices are, at least, whose order no rounding changes.
const certainly = 1 + 1e-10

// calmly returns what is known of the choice while now makes the steps and nothing holds them short. Nothing is known
// where two prices are about the same, or where they depend on the length of the step.
func (c *choice) calmly(now int) *calm {
	to := &c.calm[now]
	if to.member >= 0 {
		return to
	}
	own := c.kin[now]
	*to = calm{now, float64(0.5 / certainly * c.reach[own.first])}
	best, next := math.Inf(1), math.Inf(1)
	for m := own.first; m < own.end; m++ {
		if _, depends := c.members[m].(spreading); depends || c.of[m] == nil {
			to.most = 0
		}
		long := c.long[now][m]
		to.most = min(to.most, c.reach[m]/float64(certainly*max(long, 1)))
		if price := c.price[m] / long; price < best {
			to.member, best, next = m, price, best
		} else {
			next = min(next, price)
		}
	}
	if c.kinds && own.first > 0 || !(float64(certainly*best) < next) {
		to.most = 0
	}
	return to
}

// stable returns the longest step with which a member is stable, and infinity if a step of length h is.
func (c *choice) stable(member int, h float64, by *spectrum) float64 {
	c.look(by.cos)
	reach := c.reach[member]
	if float64(math.Abs(h)*by.rho) <= reach {
		return math.Inf(1)
	}
	return reach / by.rho
}

// next returns the member that makes the next step, which would be of length h if accuracy alone counted; now made the
// last one, and a time of length left is to come.
func (c *choice) next(now int, h, left float64, by *spectrum) int {
	c.look(by.cos)
	if calm := c.calmly(now); calm.at(h, by.rho) {
		c.pass()
		return calm.member
	}
	c.count()
	own := c.kin[now]
	cheapest, price := c.cheapest(own, now, h, by)
	if !c.kinds {
		return cheapest
	}
	if near := float64(choiceNear * h); c.of[now] == nil || c.stable(own.first, near, by) <= near {
		c.held++
	} else if c.held = 0; own.first == 0 { // it goes as far as accuracy lets it
		c.better = 0
		return cheapest
	}
	best, least := c.cheapest(kin{0, len(c.members)}, now, h, by)
	other := c.kin[best].first
	if other == own.first || !(float64(choiceMargin*least) < price) || other != c.other {
		c.better = 0
	}
	if c.of[now] != nil && c.held >= c.try {
		// What errors say of the step is hidden behind what is stiff. A trial shows it, unless one step of it costs
		// more than what is left of the run.
		rest := c.price[now] / min(c.stable(now, h, by), h)
		for m, k := range c.kin {
			if k.first > 0 && c.of[m] != nil {
				rest = min(rest, c.price[m]/min(c.stable(m, h, by), h))
			}
		}
		if free := c.free(); free >= 0 && c.costs(free, h, by) <= float64(left*rest) {
			return free
		}
	}
	if c.other = other; other == own.first || !(float64(choiceMargin*least) < price) {
		return cheapest
	}
	if c.better++; c.of[now] == nil && other > 0 { // a trial that fails is dear where those are of use
		c.better += int(min(price/float64(choiceMargin*least), choiceLong)) - 1
	}
	if c.better < c.wait {
		return cheapest
	}
	return best
}

// cheapest returns which of some members makes the way at the least price, and that price over the length of its step,
// where the present one would make a step of length h.
func (c *choice) cheapest(of kin, now int, h float64, by *spectrum) (best int, least float64) {
	best, least = now, math.Inf(1)
	for m := of.first; m < of.end; m++ {
		wish := float64(h * c.long[now][m])
		step := min(c.stable(m, wish, by), wish)
		if price := c.costs(m, step, by) / step; price < least {
			best, least = m, price
		}
	}
	return best, least
}

// free returns the cheapest member that stability does not hold, -1 for none.
func (c *choice) free() int {
	best := -1
	for m, d := range c.of {
		if d == nil && c.price[m] < math.Inf(1) && (best < 0 || c.price[m] < c.price[best]) {
			best = m
		}
	}
	return best
}

// choose changes the member that makes the next step, where that pays. h is the length that accuracy allows.
func (s *Solver) choose(h float64) error {
	c := &s.choice
	next := c.next(s.member, h, s.sched.times[1]-s.t, &s.bounds.spectrum)
	if next == s.member {
		return nil
	}
	if m, ok := c.members[next].(solvers.Implicit); ok && !c.ready[next] {
		if s.opts.NoJacobian {
			return &solvers.StiffError{Place: s.place(nil), Method: m.Info().Name}
		}
		c.ready[next] = true
		err := m.Prepare(s.sys)
		var fault *solvers.MatrixError
		if errors.As(err, &fault) && fault.Refused { // with room, it would make steps
			return err
		}
		if c.value(next, s.sys, true); err != nil { // then it is not for this system
			c.refused = fault
			c.costing(next, math.Inf(1))
		}
		_, own := c.cheapest(c.kin[s.member], s.member, h, &s.bounds.spectrum)
		_, its := c.cheapest(c.kin[next], s.member, h, &s.bounds.spectrum)
		if g, ok := m.(gridded); ok && g.OnGrid() && own <= its {
			c.open(s.sys)
		}
		return nil // the next step decides
	}
	was := s.member
	s.use(next)
	if c.kin[next].first != c.kin[was].first {
		s.goOver()
		s.h = float64(h * c.long[was][next])
	}
	return nil
}

// goOver begins the steps of a member of another kind.
func (s *Solver) goOver() {
	c := &s.choice
	s.stats.Changes++
	if c.since < choiceSoon {
		c.wait, c.try = min(2*c.wait, choiceLong), min(2*c.try, choiceRare)
	}
	c.better, c.since, c.held = 0, 0, 0
	s.ctl.Reset(s.info)
}

// contracting is a Method whose steps iterate.
type contracting interface {
	// Contraction returns how much smaller the second change of an iteration of the last step was than the first.
	Contraction() float64
}

// Where Newton's method converges so fast, steps are short for how the model changes, and a higher order pays; where it
// converges so slowly, they are long, and a lower one does (E. Hairer, G. Wanner, Journal of Computational and Applied
// Mathematics 111 (1999) 93–111, section 4, doi:10.1016/S0377-0427(99)00134-X).
const (
	climbUp   = 0.002
	climbDown = 0.25
	climbWait = 10 // steps of an order before a higher one
)

// climb changes the order of the next step, where that pays.
func (s *Solver) climb() {
	c := &s.choice
	if !c.judged || s.opts.Fixed > 0 {
		return
	}
	c.judged = false
	c.since++
	now, next := s.member, s.member
	switch {
	case c.failed || c.shrinks > climbDown:
		next--
	case c.shrinks < climbUp && c.since >= climbWait:
		next++
	}
	if c.failed = false; next == now || next < 0 || next == len(c.members) {
		return
	}
	if next > now {
		for _, m := range []int{now, next} {
			if !c.ready[m] {
				c.ready[m] = true
				if c.value(m, s.sys, true); c.members[m].(solvers.Implicit).Prepare(s.sys) != nil {
					c.costing(m, math.Inf(1))
				}
			}
		}
		if !(c.price[next] < float64(c.price[now]*c.long[now][next])) {
			return
		}
	}
	s.use(next)
	s.stats.Changes++
	s.ctl.Reset(s.info)
	s.h = float64(s.h * c.long[now][next])
	c.since = 0
}

// without has an explicit member make the steps to come, where the equations of the present one have no solution,
// although the right-hand side is finite; the next trial would be of length h. It reports whether it did. A Jacobian
// that is not finite may be so at this state alone, as that of a root at zero, so the present member is tried again,
// but for one that has no room. Equations that are singular may have a solution for a shorter step: the explicit member
// takes its turn where it is stable with that.
func (s *Solver) without(fault *solvers.MatrixError, h float64) bool {
	c := &s.choice
	if !c.kinds || c.turns > 0 || c.of[0] == nil || c.of[s.member] != nil {
		return false
	}
	switch {
	case fault.Kind == solvers.MatrixTooLarge:
		c.costing(s.member, math.Inf(1))
	case fault.Kind == solvers.MatrixNotFinite && !fault.Overflow: // it is so however short the step
	case c.stable(0, h, &s.bounds.spectrum) < math.Inf(1):
		return false
	}
	c.refused = fault
	s.use(0)
	s.goOver()
	return true
}

// turn makes the member whose turn it is make the next step.
func (s *Solver) turn() {
	next := s.stats.Steps / s.choice.turns % len(s.members)
	if next == s.member {
		return
	}
	s.use(next)
	s.stats.Changes++
	if s.ctl != nil {
		s.ctl.Reset(s.info)
	}
}

// use makes a member of the method make the steps to come.
func (s *Solver) use(member int) {
	s.makes(member, s.choice.members[member])
	s.bounds.spectrum.use(s.choice.wide(member))
	s.sight.use(member)
	s.watch.use(member, s.present)
}

// wishes returns the length of the next step towards stop if accuracy alone counted. Where the last step was held
// short, its error tells.
func (s *Solver) wishes(stop float64) float64 {
	h := s.h
	if made := &s.choice.made; s.bounds.longest < math.Inf(1) && made.h > 0 {
		h = max(made.wish(), s.bounds.longest)
	}
	h = min(h, stop-s.t)
	if s.opts.HMax > 0 {
		h = min(h, s.opts.HMax)
	}
	return h
}
