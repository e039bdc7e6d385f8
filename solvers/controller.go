package solvers

import (
	"cmp"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
)

// Controller chooses step sizes from estimated errors. It is part of the
// decisions that a discrete derivative holds fixed: Push and Pull never see it.
type Controller interface {
	// Reset forgets all earlier steps: at the start, where the right-hand side or the state jumps, and where another
	// method takes over. The steps to come are made by m.
	Reset(m Info)
	// Judge tells whether a trial step of length h with the error err, in units of the tolerance, is accepted, and
	// the length to try next. A step with a NaN or infinite err is never accepted. h may be negative.
	Judge(h, err float64) (accept bool, next float64)
}

// Rule is a controller as data: a recursive digital filter after Söderlind,
//
//	h_{n+1} = ε_n^(-β₁/k) ε_{n-1}^(-β₂/k) ε_{n-2}^(-β₃/k)
//	          (h_n/h_{n-1})^(-α₂) (h_{n-1}/h_{n-2})^(-α₃) · h_n,
//
// with ε the error over S^k in units of the tolerance and k the power of h with which it vanishes. Where nothing
// changes, the step settles at S times the one that would just be accepted, whatever the filter. The quotient
// h_{n+1}/h_n is confined to [Shrink, Grow]. Factors of steps that do not exist yet are left out, and the first step
// has a β₁ of at most 1.
//
// A step is rejected if its error is above the tolerance. It is tried anew with the factor ε^(-1/k), at least Shrink,
// whatever the filter. It leaves no trace in the history, except that the next accepted step may not grow. A step
// without a finite error shrinks by Shrink.
type Rule struct {
	Name   string
	Title  string
	Source string

	Beta  [3]float64
	Alpha [2]float64

	Safety, Shrink, Grow float64

	Norm NormKind // by which the rule's source measures errors
}

// rules holds every filter that users can name.
var rules = []Rule{
	{
		Name: "i", Title: "integral (deadbeat) control",
		Source: "Hairer, Nørsett, Wanner, Solving Ordinary Differential Equations I, equation II.4.13",
		Beta:   [3]float64{1}, Safety: 0.9, Shrink: 0.2, Grow: 5,
	},
	{
		Name: "pi", Title: "proportional integral control",
		Source: "K. Gustafsson, ACM Transactions on Mathematical Software 17 (1991) 533–554, " +
			"doi:10.1145/210232.210242, with the exponents of Hairer and Wanner's code DOPRI5: " +
			"β = 0.04 for k = 5, 1/k - 0.75 β, and the factor 0.9 = 0.85^0.65",
		Beta: [3]float64{0.85, -0.2}, Safety: 0.85, Shrink: 0.2, Grow: 10,
	},
	{
		Name: "pid", Title: "proportional integral derivative control",
		Source: "A. C. Hindmarsh and others, ACM Transactions on Mathematical Software 31 (2005) 363–396, " +
			"as in ARKODE: 0.58, -0.21, 0.1",
		Beta: [3]float64{0.58, -0.21, 0.1}, Safety: 0.9, Shrink: 0.2, Grow: 5,
	},
	{
		Name: "predictive", Title: "predictive control, for stiff models",
		Source: "K. Gustafsson, ACM Transactions on Mathematical Software 20 (1994) 496–517, " +
			"doi:10.1145/198429.198437; Hairer, Wanner, Solving Ordinary Differential Equations II, section IV.8",
		Beta: [3]float64{2, -1}, Alpha: [2]float64{-1}, Safety: 0.9, Shrink: 0.2, Grow: 10,
	},
	{
		Name: "h211b", Title: "digital filter H211b with b = 4",
		Source: "G. Söderlind, ACM Transactions on Mathematical Software 29 (2003) 1–26, doi:10.1145/641876.641877",
		Beta:   [3]float64{0.25, 0.25}, Alpha: [2]float64{0.25}, Safety: 0.9, Shrink: 0.2, Grow: 5,
	},
	{
		Name: "h211pi", Title: "digital filter H211 PI",
		Source: "G. Söderlind, ACM Transactions on Mathematical Software 29 (2003) 1–26, doi:10.1145/641876.641877",
		Beta:   [3]float64{1.0 / 6, 1.0 / 6}, Safety: 0.9, Shrink: 0.2, Grow: 5,
	},
	{
		Name: "h312b", Title: "digital filter H312b with b = 8",
		Source: "G. Söderlind, ACM Transactions on Mathematical Software 29 (2003) 1–26, doi:10.1145/641876.641877",
		Beta:   [3]float64{0.125, 0.25, 0.125}, Alpha: [2]float64{0.375, 0.125}, Safety: 0.9, Shrink: 0.2, Grow: 5,
	},
	{
		Name: "h312pid", Title: "digital filter H312 PID",
		Source: "G. Söderlind, ACM Transactions on Mathematical Software 29 (2003) 1–26, doi:10.1145/641876.641877",
		Beta:   [3]float64{1.0 / 18, 1.0 / 9, 1.0 / 18}, Safety: 0.9, Shrink: 0.2, Grow: 5,
	},
	{
		Name: "h321", Title: "digital filter H321",
		Source: "G. Söderlind, ACM Transactions on Mathematical Software 29 (2003) 1–26, doi:10.1145/641876.641877",
		Beta:   [3]float64{1.0 / 3, 1.0 / 18, -5.0 / 18}, Alpha: [2]float64{-5.0 / 6, -1.0 / 6},
		Safety: 0.9, Shrink: 0.2, Grow: 5,
	},
	{
		Name: "odeint", Title: "the rule of Boost.odeint",
		Source: "K. Ahnert, M. Mulansky, AIP Conference Proceedings 1389 (2011) 1586–1589, " +
			"and Boost.odeint's default_step_adjuster and default_error_checker, whose norm is the largest " +
			"|e|/(atol + rtol (|y| + |h y'|)), with y and y' at the start of the step",
		Safety: 0.9, Shrink: 0.2, Grow: 4.5, Norm: NormOdeint,
	},
}

// DefaultController is the name of the rule used where none is asked for.
const DefaultController = "pi"

// Controllers returns all rules, sorted by name.
func Controllers() []Rule {
	return slices.SortedFunc(slices.Values(rules), func(a, b Rule) int { return cmp.Compare(a.Name, b.Name) })
}

// NewController returns the controller called name for the estimates of m; the
// empty name means DefaultController. It reports whether there is one of that name.
func NewController(name string, m Info) (Controller, bool) {
	r, ok := LookupController(name)
	if !ok {
		return nil, false
	}
	return r.Controller(m), true
}

// LookupController returns the rule called name; the empty name means DefaultController.
func LookupController(name string) (Rule, bool) {
	if name == "" {
		name = DefaultController
	}
	for _, r := range rules {
		if r.Name == name {
			return r, true
		}
	}
	return Rule{}, false
}

// Controller returns the controller of r for the estimates of m.
func (r Rule) Controller(m Info) Controller {
	if r.Name == "odeint" {
		c := &odeint{most: elem.QuickLog2(r.Grow / 0.9)}
		c.Reset(m)
		return c
	}
	return newFilter(r, m)
}

// filter is the Controller of a Rule.
type filter struct {
	rule     Rule
	k        float64
	steps    int        // accepted steps in the history, at most 2
	safe     float64    // log₂ S^k
	err      [2]float64 // log₂ ε_{n-1}, log₂ ε_{n-2}
	h        float64    // h_{n-1}
	grown    float64    // log₂ h_{n-1}/h_{n-2}
	now      [2]float64 // log₂ ε_n and log₂ h_n/h_{n-1}, from power to judged
	rejected bool       // the last trial step was rejected
}

// newFilter returns the controller of r for the estimates of m, which vanish
// like h^k with k = 1 + min(Order, Embedded).
func newFilter(r Rule, m Info) *filter {
	c := &filter{rule: r}
	c.Reset(m)
	return c
}

// Reset forgets all earlier steps.
func (c *filter) Reset(m Info) {
	k := float64(1 + min(m.Order, m.Embedded))
	safe := c.safe
	if k != c.k {
		safe = float64(k * elem.QuickLog2(c.rule.Safety))
	}
	c.k, c.safe, c.steps, c.err, c.h, c.grown, c.now, c.rejected = k, safe, 0, [2]float64{}, 0, 0, [2]float64{}, false
}

// Judge applies the rule.
func (c *filter) Judge(h, err float64) (bool, float64) {
	if !(err <= math.MaxFloat64) {
		c.rejected = true
		return false, float64(h * c.rule.Shrink)
	}
	return c.judged(h, err, elem.QuickExp2(c.power(h, err, elem.QuickLog2(leastError(err)))))
}

// leastError returns err, or what errors too small to matter are taken to be.
func leastError(err float64) float64 { return atLeast(err, 0x1p-100) }

// power returns the power of two that a step of length h with the finite error err is multiplied by, before it is
// confined; log is the binary logarithm of leastError(err). It is followed by judged.
func (c *filter) power(h, err, log float64) float64 {
	r := &c.rule
	e := log - c.safe
	if err > 1 {
		return -e / c.k
	}
	x := float64(c.beta() * e)
	x = math.FMA(r.Beta[1], c.err[0], x)
	x = math.FMA(r.Beta[2], c.err[1], x)
	x = -x / c.k
	grown := 0.0
	if c.steps > 0 && r.Alpha != [2]float64{} {
		grown = elem.QuickLog2(max(math.Abs(h/c.h), 0x1p-100))
		x = math.FMA(-r.Alpha[0], grown, x)
		x = math.FMA(-r.Alpha[1], c.grown, x)
	}
	c.now = [2]float64{e, grown}
	return x
}

// beta returns what the present error counts. More than 1 is for a trend of errors, and one error is none.
func (c *filter) beta() float64 {
	if c.steps == 0 {
		return min(c.rule.Beta[0], 1)
	}
	return c.rule.Beta[0]
}

// judged is Judge for the factor that power says.
func (c *filter) judged(h, err, factor float64) (bool, float64) {
	r := &c.rule
	if err > 1 {
		c.rejected = true
		return false, float64(h * max(factor, r.Shrink))
	}
	factor = atMost(atLeast(factor, r.Shrink), r.Grow)
	if c.rejected {
		factor = atMost(factor, 1)
		c.rejected = false
	}
	// A history of errors far below the tolerance would make the next step timid or bold without reason. As in DOPRI5
	// they count as 1e-4.
	c.err[0], c.err[1] = atLeast(c.now[0], -13.28771237954945), c.err[0]
	c.h, c.grown = h, c.now[1]
	c.steps = min(c.steps+1, 2)
	return true, float64(h * factor)
}

// odeint is the rule of Boost.odeint. With p the order of the method and q that of the estimate, ε > 1 rejects the
// step and multiplies h by max(0.9 ε^(-1/(q-1)), 0.2). ε < 0.5 multiplies h by 0.9 max(ε, 5^-p)^(-1/p), which is at
// most 4.5; with another bound, Grow/0.9 takes the place of 5. Between the two, h is kept. The rule has no memory.
type odeint struct {
	order, estimate float64
	most            float64 // log₂ Grow/0.9
}

// Reset takes the orders of m.
func (c *odeint) Reset(m Info) {
	c.order, c.estimate = float64(m.Order), float64(max(m.Embedded, 2))
}

// Judge applies the rule.
func (c *odeint) Judge(h, err float64) (bool, float64) {
	switch {
	case !(err <= math.MaxFloat64):
		return false, float64(h * 0.2)
	case err > 1:
		return false, float64(h * max(float64(0.9*elem.QuickExp2(-elem.QuickLog2(err)/(c.estimate-1))), 0.2))
	case err < 0.5:
		e := float64(-c.most * c.order)
		if err > 0 {
			e = max(e, elem.QuickLog2(err))
		}
		return true, float64(h * float64(0.9*elem.QuickExp2(-e/c.order)))
	}
	return true, h
}
