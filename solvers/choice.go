package solvers

import "math"

// choice decides which member of a method makes the next step: the one that makes the way of a step at the least
// price. The step that accuracy allows is taken to be the same for all; a member that is stable only up to h takes
// several of length h. The price of a step is counted in operations, never timed, so a run is the same on every
// machine.
//
// The members are either explicit methods of one order that differ in their stability alone, which take turns freely;
// or they differ in kind. Then a change costs a first step, a new start of the controller and, where it was wrong, much
// more. So another member must be cheaper by a margin, for several steps in succession; and a change that is taken
// back soon makes the next one wait longer.
type choice struct {
	of     []StiffnessDetector // of each member; nil for one that is stable with any step
	widest StiffnessDetector   // of the explicit members the one with the longest stability interval; nil for none
	price  []float64           // of a step of each member, in operations
	kind   bool                // the members differ in kind
	wish   float64             // the length that the error of the last step allows

	better int // steps in succession for which another member would have been cheaper
	other  int // that member
	wait   int // how many it takes
	since  int // steps since the last change
	turns  int // steps that each member makes in its turn, whatever the price; 0: they do not take turns
}

const (
	choiceMargin = 1.25 // how much cheaper another member must be
	choiceWait   = 6    // for how many steps
	choiceLong   = 96   // and at most
	choiceSoon   = 40   // steps after which a change was right
	choiceGrowth = 20   // of a step that was held short, at most
	// fewOperations is what a right-hand side is taken to cost per state by a Field that does not say.
	fewOperations = 8
)

// Pricer is a Field that knows how many floating-point operations its values take: right-hand sides and, for a
// JacobianField, the entries of its Jacobian.
type Pricer interface {
	Field
	Operations() (rates, jacobian float64)
}

// Priced is a Method whose steps cost more than right-hand sides and sums: those that solve equations.
type Priced interface {
	Method
	// Operations returns how many floating-point operations a step takes, for those of a right-hand side and of a
	// Jacobian.
	Operations(rates, jacobian float64) float64
}

func newChoice(sys Field, method Method) choice {
	members := Members(method)
	z := sys.Size()
	rates := float64(fewOperations * (z.N + z.Q))
	jacobian := rates * float64(min(z.N, 8))
	if p, ok := sys.(Pricer); ok {
		rates, jacobian = p.Operations()
	}
	var c choice
	if m, ok := method.(*switching); ok {
		c.turns = m.turns
	}
	for _, m := range members {
		info := m.Info()
		price := 0.0
		d, explicit := m.(StiffnessDetector)
		if p, ok := m.(Priced); ok {
			price = p.Operations(rates, jacobian)
		} else {
			sums := float64(z.N+z.Q) * float64(info.Stages*info.Stages)
			price = math.FMA(float64(info.Evals), rates, sums)
		}
		c.kind = c.kind || !explicit || info.Order != members[0].Info().Order
		if explicit && (c.widest == nil || d.StabilityInterval() > c.widest.StabilityInterval()) {
			c.widest = d
		}
		c.of, c.price = append(c.of, d), append(c.price, price)
	}
	return c
}

func (c *choice) reset() {
	c.wish, c.better, c.other, c.wait, c.since = 0, 0, 0, choiceWait, 0
}

// stable returns the longest step with which a member is stable, and infinity if a step of length h is.
func (c *choice) stable(member int, h float64, by *spectrum) float64 {
	d := c.of[member]
	if d == nil {
		return math.Inf(1)
	}
	reach := float64(spectrumReach * d.StableAlong(by.cos))
	if float64(math.Abs(h)*by.rho) <= reach {
		return math.Inf(1)
	}
	return reach / by.rho
}

// next returns the member that makes the next step, which would be of length h if accuracy alone counted; now made the
// last one.
func (c *choice) next(now int, h float64, by *spectrum) int {
	if c.since++; c.since == choiceSoon {
		c.wait = choiceWait
	}
	best, least, own := now, math.Inf(1), 0.0
	for m, price := range c.price {
		price /= min(c.stable(m, h, by), h)
		if m == now {
			own = price
		}
		if price < least {
			best, least = m, price
		}
	}
	if !c.kind {
		return best
	}
	if best == now || !(float64(choiceMargin*least) < own) || best != c.other {
		c.better = 0
	}
	if c.other = best; best == now || !(float64(choiceMargin*least) < own) {
		return now
	}
	if c.better++; c.better < c.wait {
		return now
	}
	if c.since < choiceSoon {
		c.wait = min(2*c.wait, choiceLong)
	}
	c.better, c.since = 0, 0
	return best
}

// choose changes the member that makes the next step, where that pays. h is the length that accuracy allows.
func (s *Solver) choose(h float64) {
	c := &s.choice
	next := c.next(s.member, h, &s.spectrum)
	if next == s.member {
		return
	}
	s.use(next)
	s.stats.Changes++
	if c.kind {
		s.ctl.Reset(s.info)
		s.h = h
	}
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
	s.member, s.info = member, s.members[member]
	s.sight.use(member)
	s.polynomial.use(member)
}

// wishes returns the length of the next step towards stop if accuracy alone counted. Where the last step was held
// short, its error tells.
func (s *Solver) wishes(stop float64) float64 {
	h := s.h
	if s.longest < math.Inf(1) && s.choice.wish > 0 {
		h = max(s.choice.wish, s.longest)
	}
	h = min(h, stop-s.t)
	if s.opts.HMax > 0 {
		h = min(h, s.opts.HMax)
	}
	return h
}
