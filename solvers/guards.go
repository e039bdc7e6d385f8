package solvers

import (
	"fmt"
	"math"
	"slices"
)

// arming is what a guard waits for.
//
// A one-sided guard is on while its condition is false, and fires when it becomes true. A crossing guard is on while
// it knows a side, and fires when the root function leaves that side. A guard that has fired is spent. It is on once
// more where a body puts it there, or after the end of a step, or a sample within a step, at which its root function
// is strictly false (nonzero).
type arming struct {
	on    bool
	spent bool
	dead  bool // once, and fired
	side  int8 // of a crossing guard: the sign of its root function while it is on
	from  int  // the sample of the trial step that switched it on, -1 for earlier
}

// guardState is the part of a Solver that watches guards.
type guardState struct {
	arms  []arming // [guards] at the present time
	live  []arming // [guards] at the sample before the one where something fires
	skip  []int    // [guards] the last sample of the trial step not to fire at
	rho   []float64
	truth []bool // at the present time

	nodes   []float64   // fractions of a step where guards are sampled; the last is 1
	rhos    [][]float64 // [nodes][guards]
	truths  [][]bool
	yi      []float64 // [N] interpolated state
	rhoP    []float64 // [guards] shortly after the present
	rhoLeft []float64 // [guards] before the bodies of the present group
	truthP  []bool
	lo, hi  *sample
	mid     *sample
	reach   []float64 // [guards] the largest ρ so far
	resting []bool    // [guards] fired in the group just before this step
	anyRest bool
}

// sample holds the values of the guards at a length of the step.
type sample struct {
	h     float64
	rho   []float64
	truth []bool
}

func newGuardState(guards []Guard, info Info, z Size) guardState {
	n := len(guards)
	fresh := func() *sample { return &sample{rho: make([]float64, n), truth: make([]bool, n)} }
	g := guardState{
		arms: make([]arming, n), live: make([]arming, n), skip: make([]int, n),
		rho: make([]float64, n), truth: make([]bool, n),
		rhoP: make([]float64, n), rhoLeft: make([]float64, n), truthP: make([]bool, n),
		yi: make([]float64, z.N), lo: fresh(), hi: fresh(), mid: fresh(),
		reach: make([]float64, n), resting: make([]bool, n),
	}
	for _, c := range info.Nodes {
		if c > 0 && c < 1 {
			g.nodes = append(g.nodes, c)
		}
	}
	g.nodes = append(g.nodes, 1)
	slices.Sort(g.nodes)
	g.nodes = slices.Compact(g.nodes)
	for range g.nodes {
		g.rhos = append(g.rhos, make([]float64, n))
		g.truths = append(g.truths, make([]bool, n))
	}
	return g
}

func sign(x float64) int8 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// arm sets the guards at the start of a run. What is true there does not fire.
func (s *Solver) arm() error {
	if len(s.guards) == 0 {
		return nil
	}
	s.sys.GuardValues(s.t, s.y, s.rho, s.truth)
	for i, g := range s.guards {
		if s.rho[i] != s.rho[i] {
			return s.badGuard(i, nil)
		}
		a := arming{from: -1}
		if g.Crossing {
			a.side = sign(s.rho[i])
			a.on = a.side != 0
		} else {
			a.on = !s.truth[i]
		}
		s.arms[i] = a
	}
	clear(s.resting)
	clear(s.reach)
	s.anyRest = false
	s.edge()
	return nil
}

func (s *Solver) badGuard(i int, tr *Step) error {
	return &NonFiniteError{Place: s.place(tr), What: fmt.Sprintf("the condition of %s", s.guardName(i)), Stage: -1}
}

// guardName returns the name, for messages, of what guard i sets off.
func (s *Solver) guardName(i int) string {
	g := &s.guards[i]
	if g.Event < 0 {
		return g.Name
	}
	return s.events[g.Event].ElemName(g.Elem)
}

// fires reports whether a guard in state a fires at these values. The filter of a crossing guard is checked later.
func (s *Solver) fires(i int, a *arming, rho float64, truth bool) bool {
	if !a.on {
		return false
	}
	if s.guards[i].Crossing {
		return sign(rho) != a.side
	}
	return truth
}

// settle moves the state of a guard that does not fire past the values at a later point of a step, sample j of the
// trial step.
func (s *Solver) settle(i int, a *arming, rho float64, truth bool, j int) {
	switch {
	case a.dead:
	case s.guards[i].Crossing:
		if g := sign(rho); g != 0 {
			if !a.on {
				a.from = j
			}
			a.side, a.on, a.spent = g, true, false
		}
	case !a.on && !truth && (!a.spent || rho < 0):
		a.on, a.spent, a.from = true, false, j
	}
}

// play follows guard i through the first n samples of the trial step. It returns the guard's state before it fires
// and the sample where it does; n if it does not fire.
func (s *Solver) play(i, n int) (a arming, at int) {
	a = s.arms[i]
	a.from = -1
	before := s.truth[i]
	for j := range n {
		rho, truth := s.rhos[j][i], s.truths[j][i]
		if s.guards[i].Clock {
			if !s.fires(i, &a, rho, truth) { // else it is on for the end of the step
				s.settle(i, &a, rho, truth, j)
			}
			continue
		}
		if j > s.skip[i] && s.fires(i, &a, rho, truth) && (!s.guards[i].Crossing || truth || before) {
			return a, j
		}
		s.settle(i, &a, rho, truth, j)
		before = truth
	}
	return a, n
}

// verdict is the result of watching the guards over a trial step.
type verdict uint8

const (
	quiet verdict = iota // nothing fires
	found                // the trial step was cut to end at a root
	retry                // the step must be tried with another length
)

// watch samples the guards along the trial step, and ends it at the first root. When it returns found or quiet,
// s.rho, s.truth and s.arms are those at the end of the step.
func (s *Solver) watch() (verdict, error) {
	tr := s.trial
	for j, c := range s.nodes {
		y, t := tr.Y1, tr.T1
		if c < 1 {
			y, t = s.yi, math.FMA(c, tr.H, tr.T)
			s.interpolate(tr, c)
		}
		s.sys.GuardValues(t, y, s.rhos[j], s.truths[j])
		for i, rho := range s.rhos[j] {
			if rho == rho {
				s.reach[i] = max(s.reach[i], math.Abs(rho))
				continue
			}
			if s.opts.Fixed > 0 {
				return retry, s.badGuard(i, tr)
			}
			return retry, s.broken()
		}
	}
	if s.anyRest {
		if v, err := s.leave(); v == retry || err != nil {
			return retry, err
		}
	}
	for i := range s.skip {
		s.skip[i] = -1
	}
	for tries := 0; ; {
		at := len(s.nodes)
		for i := range s.guards {
			_, j := s.play(i, at)
			at = min(at, j)
		}
		if at == len(s.nodes) {
			break
		}
		v, err := s.find(at)
		if err != nil || v != quiet {
			return v, err
		}
		// What seemed to fire passes this sample. Real steps may have found another guard than the interpolant did;
		// the one that the interpolant found is then looked for once more.
		if tries++; tries > len(s.guards) {
			for i := range s.guards {
				if _, j := s.play(i, at+1); j == at {
					s.skip[i] = at
				}
			}
		}
	}
	last := len(s.nodes) - 1
	for i := range s.guards {
		s.arms[i], _ = s.play(i, len(s.nodes))
	}
	copy(s.rho, s.rhos[last])
	copy(s.truth, s.truths[last])
	return quiet, nil
}

func (s *Solver) interpolate(tr *Step, theta float64) {
	if !tr.Dense && theta > 0 && theta < 1 {
		s.stats.Evals += s.info.DenseStages
	}
	s.method.Interpolate(s.sys, tr, theta, s.yi)
}

// leave handles guards that fired just before the trial step. The flow may have turned such a guard towards the side
// where it waits to fire, while no sample of the step shows it there. Then the excursion is shorter than the first
// sample, and the step is made short enough to end within it. If the excursion is too short to represent, the event
// would fire without end (a ball coming to rest).
func (s *Solver) leave() (verdict, error) {
	s.anyRest = false
	tr := s.trial
	for i, g := range s.guards {
		if !s.resting[i] || s.arms[i].dead {
			continue
		}
		s.resting[i] = false
		if a, at := s.play(i, len(s.nodes)); !g.Crossing && (a.on || at < len(s.nodes)) {
			continue
		}
		// The slope along f(t, y), over a stretch large enough that rounding does not hide it.
		eps := float64(0x1p-20 * tr.H)
		for n := range s.yi {
			s.yi[n] = math.FMA(eps, tr.K[n], tr.Y0[n])
		}
		s.sys.GuardValues(s.t+eps, s.yi, s.mid.rho, s.mid.truth)
		way := sign(s.mid.rho[i] - s.rho[i])
		if first := sign(s.rhos[0][i]); way == 0 || g.Crossing && first != -way || !g.Crossing && way > 0 {
			continue
		}
		for theta := float64(0.5 * s.nodes[0]); float64(theta*tr.H) > ulp(s.t); theta *= 0.5 {
			s.interpolate(tr, theta)
			s.sys.GuardValues(math.FMA(theta, tr.H, tr.T), s.yi, s.mid.rho, s.mid.truth)
			if sign(s.mid.rho[i]) == way {
				s.stats.Rejected++
				s.cut = float64(theta * tr.H)
				return retry, nil
			}
		}
		h := s.historyOf(i)
		if n := min(h.count, len(h.last)); n >= 3 && s.t-h.last[(h.count-3)%len(h.last)] <= float64(1e-6*s.span) {
			return retry, &ChatteringError{
				Place: s.place(nil), Event: s.guardName(i), Times: h.times(),
				Reason: "comes to rest: it would fire again after a time too short to represent",
			}
		}
		s.warn(Warning{Kind: Rest, T: s.t, Name: s.guardName(i), Instant: -1})
	}
	return quiet, nil
}

// historyOf returns the history of what guard i sets off.
func (s *Solver) historyOf(i int) *history {
	if g := &s.guards[i]; g.Event >= 0 {
		return &s.hist[s.base[g.Event]+g.Elem]
	}
	return &s.hist[len(s.hist)-len(s.guards)+i]
}
