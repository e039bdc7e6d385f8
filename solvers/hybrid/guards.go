package hybrid

import (
	"fmt"
	"math"

	"odes.dev/odes/internal/base/bernstein"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/roots"
)

// arming is what a guard waits for.
//
// A one-sided guard is on while its condition is false, and fires when it becomes true. A crossing guard is on while
// it knows a side, and fires when the root function leaves that side; so does a kink, once it is clearly off its root.
// A guard that has fired is spent as long as it is at its root. It is on once more where it is false, whatever made it
// so: the flow, at the end of a step or a sample within, or a jump.
type arming struct {
	on    bool
	spent bool // fired, and at the root since
	edge  bool // on its threshold at the start
	held  bool // true at the start
	side  int8 // of a crossing guard or kink: the sign of its root function while it is on
	from  int  // the sample of the trial step that switched it on, -1 for earlier
	// band is how near the root a jump leaves a spent guard that it does not move: rounding makes it no nearer.
	band float64
}

// armed is what the guards wait for.
type armed struct {
	*problem
	*readings
	steps    *trials
	samples  *roots.Samples
	clock    *clock
	arms     []arming // [guards] at the present time
	live     []arming // [guards] at the sample before the one where something fires
	dead     []bool   // [guards] once, and fired
	skip     []int    // [guards] the last sample of the trial step not to fire at
	resting  []bool   // [guards] fired in the group just before this step
	anyRest  bool
	anyWatch bool
	anyKink  bool
	plain    bool // all are affine, and no kinks, nor of time alone or only watched
}

func newArmed(s *Solver) armed {
	n, nodes := len(s.guards), 0
	for i := range s.members {
		nodes = max(nodes, bernstein.Of(s.members[i].ReadDegree()).N)
	}
	a := armed{
		problem: &s.problem, readings: &s.readings, steps: &s.trials, clock: &s.clock,
		arms: make([]arming, n), live: make([]arming, n), dead: make([]bool, n), skip: make([]int, n),
		resting: make([]bool, n), plain: true,
	}
	if n > 0 {
		a.samples = roots.NewSamples(n, nodes)
	}
	for _, g := range s.guards {
		a.anyWatch, a.anyKink = a.anyWatch || g.Watch, a.anyKink || g.Kink
		a.plain = a.plain && g.Affine && !g.Watch && !g.Kink && !g.Clock
	}
	return a
}

// readings are values of the guards.
type readings struct {
	rho    []float64
	truth  []bool        // at the present time
	rhoWas []float64     // before a jump
	rhoP   []float64     // shortly after the present
	truthP []bool        // there
	mid    *roots.Sample // anywhere
	reach  []float64     // the largest ρ so far
}

func newReadings(guards int) readings {
	v := func() []float64 { return make([]float64, guards) }
	return readings{
		rho: v(), truth: make([]bool, guards), rhoWas: v(), rhoP: v(), truthP: make([]bool, guards),
		mid: roots.NewSample(guards), reach: v(),
	}
}

// arm sets the guards at the start of a run. What is true there does not fire.
func (s *Solver) arm() error {
	if len(s.guards) == 0 {
		return nil
	}
	s.sys.GuardValues(s.t, s.y, s.rho, s.truth)
	if err := s.set(); err != nil {
		return err
	}
	for i := range s.guards {
		g, a := &s.guards[i], &s.arms[i]
		if g.Event >= 0 && s.events[g.Event].Start && s.truth[i] && (!g.Crossing || g.Instant && a.edge) {
			s.starting = append(s.starting, i)
		}
	}
	s.group.forgetKinks()
	s.watch.begin()
	if s.warns() {
		s.junctions.atStart()
		s.meets.standing()
	}
	return nil
}

// set has the guards wait from their present values on.
func (s *armed) set() error {
	for i := range s.guards {
		if s.rho[i] != s.rho[i] {
			return s.badGuard(i)
		}
		a := arming{from: -1, edge: s.rho[i] == 0, held: s.truth[i]}
		if twoSided(&s.guards[i]) {
			a.side = roots.Sign(s.rho[i])
			a.on = a.side != 0
		} else {
			a.on = !s.truth[i]
		}
		s.arms[i] = a
	}
	clear(s.dead)
	clear(s.resting)
	clear(s.reach)
	s.anyRest = false
	return nil
}

// badGuard makes the error about guard i, which is not a number.
func (s *problem) badGuard(i int) *solvers.NonFiniteError {
	return &solvers.NonFiniteError{
		What: fmt.Sprintf("the condition of %s", s.guardName(i)), Stage: -1, Guard: i + 1,
	}
}

// guardName returns the name, for messages, of what guard i sets off.
func (s *problem) guardName(i int) string {
	g := &s.guards[i]
	if g.Event < 0 {
		return g.Name
	}
	return s.events[g.Event].ElemName(g.Elem)
}

// twoSided reports whether the guard fires in either direction.
func twoSided(g *solvers.Guard) bool { return g.Crossing || g.Kink }

// fires reports whether a guard in state a fires at these values. The filter of a crossing guard is checked later.
func (s *armed) fires(i int, a *arming, rho float64, truth bool) bool {
	switch g := &s.guards[i]; {
	case !a.on:
		return false
	case g.Watch, g.Kink && g.Clock: // only where its change is looked for; rounding may keep a ramp at a knot a while
		return truth != (a.side > 0)
	case g.Kink:
		return rho != 0 && roots.Sign(rho) != a.side
	case g.Crossing:
		return roots.Sign(rho) != a.side && a.side != g.Way
	}
	return truth
}

// passes reports whether guard i, which fires, does so for its filter.
func (s *armed) passes(i int, truth bool) bool { return truth || !s.guards[i].Crossing }

// settle moves the state of a guard that does not fire past the values at a later point of a step, sample j of the
// trial step.
func (s *armed) settle(i int, a *arming, rho float64, truth bool, j int) {
	switch g := &s.guards[i]; {
	case s.dead[i] || g.Watch:
	case g.Kink && !g.Clock:
		// Near its root a kink changes little, and rounding would make it fire without end.
		if far := math.Abs(rho) > max(a.band, float64(kinkBand*s.reach[i])); !far &&
			(!a.on || roots.Sign(rho) != a.side) {
			a.on = false
		} else if far {
			if !a.on {
				a.from, a.band = j, 0
			}
			a.side, a.on = roots.Sign(rho), true
		}
	case twoSided(g):
		// Where rounding left a spent guard behind its root, the way back there is no crossing.
		if g := roots.Sign(rho); g != 0 && !(a.spent && g == roots.Sign(s.rho[i]) && math.Abs(rho) <= a.band) {
			if !a.on {
				a.from = j
			}
			a.side, a.on, a.spent = g, true, false
		}
	case a.on:
	case truth:
		a.spent = a.spent && rho <= a.band
	case !a.spent || rho < 0:
		a.on, a.spent, a.from = true, false, j
	}
}

// kinkBand is the part of its largest value that a kink must reach to fire again.
const kinkBand = 1e-9

// play follows guard i through the first n samples of the trial step. It returns the guard's state before it fires
// and the sample where it does; n if it does not fire.
func (s *armed) play(i, n int) (a arming, at int) {
	a = s.arms[i]
	a.from = -1
	g := &s.guards[i]
	if g.Watch || s.stays(i, &a, n) {
		return a, n
	}
	before := s.truth[i]
	for j := range n {
		rho, truth := s.samples.List[j].Rho[i], s.samples.List[j].Truth[i]
		if !g.Clock && j > s.skip[i] && s.fires(i, &a, rho, truth) && (s.passes(i, truth) || before) {
			return a, j
		}
		if g.Clock && (s.steps.trial.T+s.samples.List[j].H < s.clock.past || s.fires(i, &a, rho, truth)) {
			continue // it has changed before its time, or is on for the end of the step
		}
		s.settle(i, &a, rho, truth, j)
		before = truth
	}
	return a, n
}

// stays reports whether guard i, in state a, neither fires at one of the first n samples nor changes its state there:
// the usual case, without the rest of play.
func (s *armed) stays(i int, a *arming, n int) bool {
	if s.dead[i] {
		return true
	}
	if !a.on || s.guards[i].Kink {
		return false
	}
	if s.guards[i].Crossing {
		for _, p := range s.samples.List[:n] {
			if roots.Sign(p.Rho[i]) != a.side {
				return false
			}
		}
		return !a.spent
	}
	for _, p := range s.samples.List[:n] {
		if p.Truth[i] {
			return false
		}
	}
	return true
}

// Fires implements roots.Reader.
func (s *armed) Fires(n int) int {
	for i := range s.guards {
		_, n = s.play(i, n)
	}
	return n
}
