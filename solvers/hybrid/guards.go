package hybrid

import (
	"fmt"
	"math"

	"odes.dev/odes/internal/base/elem"
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
	dead  bool // once, and fired
	edge  bool // on its threshold at the start
	held  bool // true at the start
	side  int8 // of a crossing guard or kink: the sign of its root function while it is on
	from  int  // the sample of the trial step that switched it on, -1 for earlier
	// band is how near the root a jump leaves a spent guard that it does not move: rounding makes it no nearer.
	band float64
}

// guardState is the part of a Solver that watches guards.
type guardState struct {
	armed
	readings
	misses   nearMisses
	met      solvers.Junction
	flips    []flip // of conditions that are only watched, in the trial step
	anyWatch bool
	anyKink  bool
	plain    bool // all are affine, and no kinks, nor of time alone or only watched
	kinks    int  // that ended steps soon after one another: 3 for each, less 1 for each other step
	kinked   int  // the last step that one of them ended
	kink     int  // that ends the trial step, or -1
	polynomial
	boxes enclosures
}

// armed is what the guards wait for.
type armed struct {
	arms    []arming // [guards] at the present time
	live    []arming // [guards] at the sample before the one where something fires
	skip    []int    // [guards] the last sample of the trial step not to fire at
	edges   []int    // guards that stood at their thresholds at the start, of which nobody was warned
	resting []bool   // [guards] fired in the group just before this step
	anyRest bool
}

// readings are values of the guards.
type readings struct {
	rho   []float64
	truth []bool // at the present time
	// rhoWas has the values of guards before a jump.
	rhoWas []float64

	samples []*roots.Sample // of the trial step, by length; the last is its end
	low     []float64       // [guards] the range of the values at the start and the nodes of the trial step
	high    []float64
	granted []int     // [guards] their credit after an uneventful step
	rhoP    []float64 // [guards] shortly after the present
	truthP  []bool
	yi      []float64 // [N] interpolated state
	lo, hi  *roots.Sample
	mid     *roots.Sample
	reach   []float64 // [guards] the largest ρ so far
}

func newGuardState(guards []solvers.Guard, members []solvers.Info, z solvers.Size) guardState {
	n := len(guards)
	v := func() []float64 { return make([]float64, n) }
	g := guardState{
		armed: armed{
			arms: make([]arming, n), live: make([]arming, n), skip: make([]int, n), resting: make([]bool, n),
		},
		readings: readings{
			rho: v(), truth: make([]bool, n), rhoWas: v(), rhoP: v(), truthP: make([]bool, n),
			yi: make([]float64, z.N), lo: roots.NewSample(n), hi: roots.NewSample(n), mid: roots.NewSample(n),
			reach: v(), low: v(), high: v(), granted: make([]int, n),
		},
		plain: true,
	}
	if n > 0 {
		g.polynomial = newPolynomial(guards, members)
	}
	for _, x := range guards {
		g.anyWatch, g.anyKink = g.anyWatch || x.Watch, g.anyKink || x.Kink
		g.plain = g.plain && x.Affine && !x.Watch && !x.Kink && !x.Clock
	}
	return g
}

// arm sets the guards at the start of a run. What is true there does not fire.
func (s *Solver) arm() error {
	if len(s.guards) == 0 {
		return nil
	}
	s.sys.GuardValues(s.t, s.y, s.rho, s.truth)
	for i := range s.guards {
		g := &s.guards[i]
		if s.rho[i] != s.rho[i] {
			return s.badGuard(i, nil)
		}
		a := arming{from: -1, edge: s.rho[i] == 0, held: s.truth[i]}
		if twoSided(g) {
			a.side = roots.Sign(s.rho[i])
			a.on = a.side != 0
		} else {
			a.on = !s.truth[i]
		}
		if g.Event >= 0 && s.events[g.Event].Start && s.truth[i] && (!g.Crossing || g.Instant && a.edge) {
			s.starting = append(s.starting, i)
		}
		s.arms[i] = a
		s.credit[i] = fullCredit
	}
	s.kinks, s.kinked = 0, 0
	s.misses.until = math.Inf(-1)
	s.boxes.credit, s.boxes.retaken, s.boxes.retakes = fullBoxes, 0, 0
	clear(s.resting)
	clear(s.reach)
	s.anyRest = false
	if s.warns() {
		s.edge(false)
	}
	return nil
}

func (s *Solver) badGuard(i int, tr *solvers.Step) error {
	return &solvers.NonFiniteError{
		Place: s.place(tr), What: fmt.Sprintf("the condition of %s", s.guardName(i)), Stage: -1, Guard: i + 1,
	}
}

// guardName returns the name, for messages, of what guard i sets off.
func (s *Solver) guardName(i int) string {
	g := &s.guards[i]
	if g.Event < 0 {
		return g.Name
	}
	return s.events[g.Event].ElemName(g.Elem)
}

// twoSided reports whether the guard fires in either direction.
func twoSided(g *solvers.Guard) bool { return g.Crossing || g.Kink }

// fires reports whether a guard in state a fires at these values. The filter of a crossing guard is checked later.
func (s *Solver) fires(i int, a *arming, rho float64, truth bool) bool {
	switch g := &s.guards[i]; {
	case !a.on:
		return false
	case g.Watch: // only where its change is looked for
		return truth != (a.side > 0)
	case g.Kink:
		return rho != 0 && roots.Sign(rho) != a.side
	case g.Crossing:
		return roots.Sign(rho) != a.side && a.side != g.Way
	}
	return truth
}

// passes reports whether guard i, which fires, does so for its filter.
func (s *Solver) passes(i int, truth bool) bool { return truth || !s.guards[i].Crossing }

// settle moves the state of a guard that does not fire past the values at a later point of a step, sample j of the
// trial step.
func (s *Solver) settle(i int, a *arming, rho float64, truth bool, j int) {
	switch g := &s.guards[i]; {
	case a.dead || g.Watch:
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
func (s *Solver) play(i, n int) (a arming, at int) {
	a = s.arms[i]
	a.from = -1
	g := &s.guards[i]
	if g.Watch || s.stays(i, &a, n) {
		return a, n
	}
	before := s.truth[i]
	for j := range n {
		rho, truth := s.samples[j].Rho[i], s.samples[j].Truth[i]
		if !g.Clock && j > s.skip[i] && s.fires(i, &a, rho, truth) && (s.passes(i, truth) || before) {
			return a, j
		}
		if g.Clock && (s.trial.T+s.samples[j].H < s.clock.past || s.fires(i, &a, rho, truth)) {
			continue // it has changed before its time, or is on for the end of the step
		}
		s.settle(i, &a, rho, truth, j)
		before = truth
	}
	return a, n
}

// stays reports whether guard i, in state a, neither fires at one of the first n samples nor changes its state there:
// the usual case, without the rest of play.
func (s *Solver) stays(i int, a *arming, n int) bool {
	if a.dead {
		return true
	}
	if !a.on || s.guards[i].Kink {
		return false
	}
	if s.guards[i].Crossing {
		for _, p := range s.samples[:n] {
			if roots.Sign(p.Rho[i]) != a.side {
				return false
			}
		}
		return !a.spent
	}
	for _, p := range s.samples[:n] {
		if p.Truth[i] {
			return false
		}
	}
	return true
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
	s.recycle()
	s.flips = s.flips[:0]
	inside := s.inside()
	switch {
	case inside && s.readNodes():
		if s.uneventful() {
			return quiet, nil
		}
		s.sampled()
	case inside:
		s.atNodes()
	default:
		s.samples = append(s.samples, s.take(1))
	}
	still, ok, err := s.survey()
	if !ok {
		return retry, err
	}
	if still {
		s.arrive()
		return quiet, nil
	}
	if s.anyRest {
		if v, err := s.leave(); v == retry || err != nil {
			return retry, err
		}
	}
	for i := range s.skip {
		s.skip[i] = -1
	}
	if inside {
		if ok, err := s.between(); !ok {
			return retry, err
		}
	}
	for tries := 0; ; {
		at := len(s.samples)
		for i := range s.guards {
			var j int
			s.live[i], j = s.play(i, at)
			at = min(at, j)
		}
		if at == len(s.samples) {
			if !inside || len(s.boxes.guards) == 0 || s.boxes.limit == 1 {
				break
			}
			// Where the search for hidden roots ended nothing fires, so it goes on behind it.
			if ok, err := s.hidden(); !ok {
				return retry, err
			}
			continue
		}
		retake := s.retakes(at)
		s.together()
		v, err := s.find(at)
		if err != nil || v != quiet {
			s.boxes.retaken = 0
			return v, err
		}
		if retake {
			s.boxes.retaken++
			s.boxes.retakes++
			s.stats.Rejected++
			s.cut = s.samples[at].H
			return retry, nil
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
	s.together()
	copy(s.arms, s.live)
	s.arrive()
	return quiet, nil
}

// arrive makes the values at the end of the trial step the present ones.
func (s *Solver) arrive() {
	s.boxes.retaken = 0
	if s.warns() && len(s.samples) > 1 {
		s.turned()
	}
	end := s.samples[len(s.samples)-1]
	copy(s.rho, end.Rho)
	copy(s.truth, end.Truth)
}

// inside reports whether values of guards within the trial step matter: those of events that have fired for good do
// not, and conditions of time alone change at ends of steps.
func (s *Solver) inside() bool {
	for i := range s.guards {
		a, g := &s.arms[i], &s.guards[i]
		if !a.dead && !(g.Clock && !g.Watch && a.on) {
			return true
		}
	}
	return s.anyRest
}

// take reads the guards at a fraction of the trial step.
func (s *Solver) take(theta float64) *roots.Sample {
	s.lane.load()
	tr := s.trial
	p := s.spareSample()
	p.Theta, p.H = theta, tr.H
	y, t := tr.Y1, tr.T1
	if theta < 1 {
		p.H = float64(theta * tr.H)
		y, t = s.yi, math.FMA(theta, tr.H, tr.T)
		s.interpolate(tr, theta)
	}
	s.sys.GuardValues(t, y, p.Rho, p.Truth)
	return p
}

// atNodes reads the guards at the nodes of the trial step one after the other.
func (s *Solver) atNodes() {
	s.lane.load()
	tr := s.trial
	s.keep(0, tr.Y0)
	for k, theta := range s.Nodes[1:] {
		s.samples = append(s.samples, s.take(theta))
		if theta < 1 {
			s.keep(k+1, s.yi)
		} else {
			s.keep(k+1, tr.Y1)
		}
	}
}

// look adds a sample of the guards at a fraction of the trial step. It returns nil where one of them is not a number;
// then the step has been rejected, or there is an error.
func (s *Solver) look(theta float64) (*roots.Sample, error) {
	p, err := s.probeAt(theta)
	if p != nil {
		s.insert(p)
	}
	return p, err
}

// probeAt is look for a sample that is not added.
func (s *Solver) probeAt(theta float64) (*roots.Sample, error) {
	p := s.take(theta)
	for i, rho := range p.Rho {
		if rho != rho {
			return nil, s.unknown(i)
		}
		if rho = math.Abs(rho); rho > s.reach[i] {
			s.reach[i] = rho
		}
	}
	return p, nil
}

// unknown rejects the trial step, within which guard i is not a number.
func (s *Solver) unknown(i int) error {
	if s.opts.Fixed > 0 {
		return s.badGuard(i, s.trial)
	}
	return s.broken()
}

// along returns y[N] + h f, in s.yi.
func (s *Solver) along(h float64, f, y []float64) []float64 {
	for n := range s.yi {
		s.yi[n] = math.FMA(h, f[n], y[n])
	}
	return s.yi
}

// blur writes to s.rhoP and s.truthP the guards where the present time and states differ in their last digits, by a
// part of their size to either side.
func (s *Solver) blur(part float64) {
	for n, y := range s.y {
		s.yi[n] = math.FMA(part, y, y)
		part = -part
	}
	s.sys.GuardValues(math.FMA(part, s.t, s.t), s.yi, s.rhoP, s.truthP)
}

func (s *Solver) interpolate(tr *solvers.Step, theta float64) {
	s.lane.load()
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
	s.lane.load()
	tr := s.trial
	for i := range s.guards {
		g := &s.guards[i]
		if !s.resting[i] || s.arms[i].dead {
			continue
		}
		s.resting[i] = false
		if a, at := s.play(i, len(s.samples)); !g.Crossing && (a.on || at < len(s.samples)) {
			continue
		}
		// The slope along f(t, y), over a stretch large enough that rounding does not hide it.
		eps := float64(0x1p-20 * tr.H)
		s.sys.GuardValues(s.t+eps, s.along(eps, tr.K, tr.Y0), s.mid.Rho, s.mid.Truth)
		way := roots.Sign(s.mid.Rho[i] - s.rho[i])
		if first := roots.Sign(s.samples[0].Rho[i]); way == 0 || g.Crossing && first != -way || !g.Crossing && way > 0 {
			continue
		}
		for theta := float64(0.5 * s.samples[0].Theta); float64(theta*tr.H) > elem.ULP(s.t); theta *= 0.5 {
			s.interpolate(tr, theta)
			s.sys.GuardValues(math.FMA(theta, tr.H, tr.T), s.yi, s.mid.Rho, s.mid.Truth)
			if roots.Sign(s.mid.Rho[i]) == way {
				s.stats.Rejected++
				s.stats.Sought++
				s.cut = float64(theta * tr.H)
				return retry, nil
			}
		}
		h := s.historyOf(i)
		if n := min(h.count, len(h.last)); n >= 3 && s.t-h.last[(h.count-3)%len(h.last)] <= float64(1e-6*s.span) {
			return retry, &solvers.ChatteringError{
				Place: s.place(nil), Event: s.guardName(i), Times: h.times(),
				Reason: "comes to rest: it would fire again after a time too short to represent",
			}
		}
		s.warn(solvers.Warning{Kind: solvers.Rest, T: s.t, Name: s.guardName(i), Instant: -1})
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
