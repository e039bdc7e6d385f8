package hybrid

import (
	"math"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/base/sizes"
	"odes.dev/odes/solvers"
)

// spectrum estimates the spectral radius ρ of J = ∂f/∂y along a run and bounds steps by it: a step h with |h|ρ beyond
// the stability interval of an explicit method multiplies what is fast by a number above one. Where that rests, the
// state does not show it, but every derivative does.
//
// The estimate is that of the nonlinear power method (Sommeijer, Shampine, Verwer, Journal of Computational and
// Applied Mathematics 88 (1998) 315–326, section 2.2): a direction v is kept along the run and becomes J·v from time
// to time, by a difference of right-hand sides. ρ is the geometric mean of the last two growths of v, so that pairs
// of complex eigenvalues, and units that differ by powers of ten, cancel. The first growth of a new direction counts
// for nothing: it is a norm of J, which may be larger than ρ by any factor. From the angles between v and J·v follows
// that of the eigenvalues: of v₂ = τ v₁ - ρ² v₀, τ is twice their real part.
type spectrum struct {
	sys    solvers.Field
	split  solvers.SplitField // of methods whose steps are bounded by the explicit part alone; nil otherwise
	own    []float64          // [N+Q] of that part, the slope at the present point
	tol    *solvers.Tolerance
	method solvers.StiffnessDetector
	reach  float64   // the bound of |h|ρ; 0 where there is nothing to bound by
	per    []float64 // [N] one over the sizes of tolerable changes
	x, k   []float64 // [N], [N+Q] a point beside the present and the right-hand side there, or work space
	direction
	rho    float64
	cos    float64 // of the angle of the eigenvalue with the real axis; 1 where that is not known
	slow   int     // times that steps with few right-hand sides are looked at less often
	fixed  bool    // steps are not shortened: ρ is for a warning only
	due    int     // steps until the next product
	period int     // between products
	seen   int     // events and changes of mode at the last product
	full   float64 // |h|ρ/reach for the step that the last product was for
	bound  bool    // the last step was held short
	steady bool    // the last look changed ρ by little
	long   int     // steps of fixed length that are not stable
}

// direction is that of the largest eigenvalue, as products with the Jacobian make it.
type direction struct {
	v      []float64  // [N]
	sum    float64    // of the squares of v in sizes of tolerable changes
	far    float64    // its largest element in these
	age    int        // products since the direction was drawn, or mixed with a new one
	turn   uint64     // directions drawn
	pure   int        // steps since the last
	growth [2]float64 // ‖J v‖/‖v‖ of the last two products
	along  [2]float64 // v·J v/‖v‖²
}

const (
	spectrumYoung  = 3    // products before the growth of a direction is taken for ρ
	spectrumSure   = 6    // before it holds a step short that was free
	spectrumMix    = 16   // steps after which the direction is mixed with a new one
	spectrumNew    = 0.25 // share of the new one
	spectrumShort  = 2    // steps between products where ρ changes
	spectrumLong   = 32   // and at most
	spectrumReach  = 0.9  // of the stability interval
	spectrumSteady = 0.05 // a change of ρ that is none
	spectrumLasts  = 5    // steps of fixed length that are too long before it is said
)

// newSpectrum returns what bounds the steps of method m, which is nil where nothing does.
func newSpectrum(
	sys solvers.Field, m solvers.StiffnessDetector, o *solvers.Options, tol *solvers.Tolerance, z solvers.Size,
) spectrum {
	if m == nil || o.Unbounded || z.N == 0 {
		return spectrum{}
	}
	c := spectrum{
		sys: sys, tol: tol, method: m, slow: max(1, 6/m.Info().Evals), fixed: o.Fixed > 0,
		direction: direction{v: make([]float64, z.N)}, per: make([]float64, z.N), x: make([]float64, z.N),
		k: make([]float64, z.N+z.Q),
	}
	if part, ok := m.(solvers.PartDetector); ok && part.Bounds() == solvers.ExplicitRates {
		c.split, c.own = solvers.SplitOf(sys), make([]float64, z.N+z.Q)
	}
	return c
}

func (c *spectrum) reset() {
	c.age, c.turn, c.pure, c.rho, c.due, c.period, c.seen, c.full = 0, 0, 0, 0, 0, spectrumShort, 0, 0
	c.bound, c.steady, c.long, c.cos = false, false, 0, 1
	if c.method != nil {
		c.reach = float64(spectrumReach * c.method.StabilityInterval())
	}
}

// use bounds the steps to come by method m. What is known of ρ remains.
func (c *spectrum) use(m solvers.StiffnessDetector) {
	if c.method == nil || m == nil || c.method == m {
		return
	}
	was := c.reach
	c.method, c.reach = m, float64(spectrumReach*m.StableAlong(c.cos))
	c.full = float64(c.full * was / c.reach)
}

// knows reports whether the last estimate serves for a step that will have length h if it may. seen counts what may
// have changed the right-hand side.
func (c *spectrum) knows(h float64, seen int) bool {
	full := c.share(h)
	c.pure++
	c.due--
	if c.due <= 0 || seen != c.seen {
		return false
	}
	return c.steady || !(full > 0.2 && full > 2*c.full) && (full <= 1 || c.bound)
}

// look estimates ρ at (t, y), with f[N] the slope there, for such a step. It returns how many right-hand sides that
// took.
func (c *spectrum) look(t, h float64, y, f []float64, seen int) (evals int) {
	before := c.rho
	if c.split != nil {
		c.split.Take(solvers.ExplicitRates)
		defer c.split.Take(solvers.WholeRates)
		c.sys.Eval(t, y, c.own)
		f = c.own[:len(f)]
		evals++
	}
	c.steady = c.steady && seen == c.seen
	c.measure(h, y, f)
	if c.age == 0 || c.pure >= spectrumMix*c.slow {
		c.mix()
	}
	c.sum, c.far = simd.Measure(c.v, c.per)
	for {
		evals++
		if !c.multiply(t, y, f) {
			break
		}
		if c.age >= spectrumYoung && (c.bound || c.steady || c.share(h) <= 1 || evals >= 3 && c.age >= spectrumSure) {
			break
		}
	}
	c.seen, c.full = seen, c.share(h)
	c.steady = math.Abs(c.rho-before) <= float64(spectrumSteady*c.rho)
	if c.steady {
		c.period = min(2*c.period, spectrumLong)
	} else {
		c.period = spectrumShort
	}
	switch {
	case c.fixed:
		c.period = spectrumLong
	case c.full < 0.25:
		c.period = max(c.period, 8*spectrumShort)
	case c.full < 0.5:
		c.period = max(c.period, 2*spectrumShort)
	}
	c.due = c.period * c.slow
	return evals
}

// share returns |h|ρ over its bound.
func (c *spectrum) share(h float64) float64 { return float64(math.Abs(h)*c.rho) / c.reach }

// longest returns the longest stable step, and no bound for a step h that is shorter.
func (c *spectrum) longest(h float64) float64 {
	if c.bound = c.share(h) > 1; !c.bound {
		return math.Inf(1)
	}
	return c.reach / c.rho
}

// tooLong reports whether it has become clear with a step of the fixed length h that the steps are not stable.
func (c *spectrum) tooLong(h float64) bool {
	if c.reach > 0 && float64(spectrumReach*c.share(h)) > 1.05 {
		c.long++
		return c.long == spectrumLasts
	}
	return false
}

// multiply replaces v by J·v and reports whether there is a direction to go on with.
//
// Sizes are those of a tolerable change, sc_i = atol + rtol max(|y_i|, |h f_i|): v is measured in them, and no element
// moves by more than one of them for the difference.
func (c *spectrum) multiply(t float64, y, f []float64) bool {
	if !(c.sum > 0 && c.sum <= math.MaxFloat64) {
		c.age = 0
		return false
	}
	simd.Combine(c.x, y, 1/c.far, []float64{1}, []int{0}, c.v, 0) // each moves by a tolerable change at most
	c.sys.Eval(t, c.x, c.k)
	size := math.Sqrt(c.sum)
	by, dot := c.far/size, 0.0
	dot, c.sum, c.far = simd.Turn(c.v, c.k, f, c.per, by) // J·v/‖v‖
	grown := math.Sqrt(c.sum)
	switch {
	case !(grown <= math.MaxFloat64): // the point is outside the domain of the right-hand side
		c.age = 0
		return false
	case grown == 0:
		c.age, c.rho = 0, 0
		return false
	}
	c.growth[0], c.growth[1] = c.growth[1], grown
	c.along[0], c.along[1] = c.along[1], dot/size
	if c.age++; c.age >= spectrumYoung {
		c.rho = float64(math.Sqrt(c.growth[0]) * math.Sqrt(c.growth[1]))
		// -τ/2ρ with τ = v₁·v₂/‖v₁‖² + ρ² v₀·v₁/‖v₁‖².
		cos := float64(-0.5*math.FMA(c.growth[1]/c.growth[0], c.along[0], c.along[1])) / c.rho
		c.cos = math.Abs(cos)
		c.reach = float64(spectrumReach * c.method.StableAlong(c.cos))
	}
	return true
}

// measure writes the sizes of tolerable changes to x, and one over them to per.
func (c *spectrum) measure(h float64, y, f []float64) {
	rel, abs := max(c.tol.Rel, 1e-10), max(c.tol.AbsOf(0), 1e-100)
	alike := c.tol.Rels == nil && len(c.tol.Abs) == 1
	if alike {
		simd.Tolerable(c.x, c.per, y, f, h, rel, abs)
		return
	}
	least := sizes.Smallest(c.tol.Abs) // for states without a size
	for i := range y {
		rel, abs = max(c.tol.RelOf(i), 1e-10), max(c.tol.AbsOf(i), least)
		simd.Tolerable(c.x[i:i+1], c.per[i:i+1], y[i:i+1], f[i:i+1], h, rel, abs)
	}
}

// mix adds a new direction to v, in the sizes that measure wrote; at age zero there is none yet.
func (c *spectrum) mix() {
	c.pure, c.turn = 0, c.turn+1
	// The size of v is the last growth, that of numbers evenly spread over [-1, 1) about √(n/3).
	by := float64(spectrumNew*c.growth[1]) * math.Sqrt(3/float64(len(c.v)))
	if c.age == 0 {
		by = 1
		clear(c.v)
	}
	c.age = 0
	simd.Perturb(c.v, c.x, by, c.turn<<32+1)
}
