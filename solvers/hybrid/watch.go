package hybrid

import (
	"errors"
	"math"
	"slices"

	"odes.dev/odes/internal/base/bernstein"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/roots"
)

// watcher is the part of a Solver that watches guards over trial steps: it reads them at samples, has those added that
// are missing between them (package roots), and ends the step where the first of them fires.
type watcher struct {
	*problem
	*moment
	*told
	*stepper
	*readings
	*armed
	*firings
	near *vicinity
	tol  *leeway

	roots.Search
	boxes   roots.Enclosures
	locate  locator
	misses  nearMisses
	reading guardReading
	rounds  roundings
	each    []*roots.Panel // of each member of the method
	granted []int          // [guards] their credit after an uneventful step
	flips   []flip         // of conditions that are only watched, in the trial step
	retaken int            // trial steps in a row that retakes ended
	retakes int            // trial steps that it ended in this run
}

// guardReading reads guards at all nodes of a step at once.
type guardReading struct {
	sys solvers.GuardReader  // nil for none
	by  solvers.GuardReading // the present member of the method; nil where there are no reads
}

// wire makes w the watcher of s.
func (w *watcher) wire(s *Solver) {
	n := len(s.guards)
	*w = watcher{
		problem: &s.problem, moment: &s.moment, told: &s.told, stepper: &s.stepper, readings: &s.readings,
		armed: &s.armed, firings: &s.firings, near: &s.near, tol: &s.tol, granted: make([]int, n),
	}
	if n == 0 {
		return
	}
	affine := make([]bool, n)
	for i := range s.guards {
		affine[i] = s.guards[i].Affine
	}
	w.Search = roots.NewSearch(s.armed.samples, affine, w)
	degree := 0
	for i := range s.members {
		b := bernstein.Of(s.members[i].ReadDegree())
		degree = max(degree, b.N)
		at := slices.IndexFunc(w.each, func(x *roots.Panel) bool { return x.Basis == b })
		if at < 0 {
			w.each = append(w.each, roots.NewPanel(b))
		} else {
			w.each = append(w.each, w.each[at])
		}
	}
	w.Panel = w.each[0]
	bent := roots.Bent{Degree: degree, Reach: s.reach, Dead: s.dead}
	if by, ok := s.sys.(solvers.Enclosing); ok {
		bent.By = by
		bent.Guards, bent.States = by.Bent()
		w.Enclosed = true
	}
	w.boxes = roots.NewEnclosures(bent, w.Samples, w)
	w.locate = locator{
		problem: w.problem, moment: w.moment, told: w.told, stepper: w.stepper, readings: w.readings,
		armed: w.armed, near: w.near, search: &w.Search, tol: &s.tol,
	}
	w.locate.Bracket = roots.NewBracket(n, &w.locate)
}

// begin forgets the steps of another run.
func (w *watcher) begin() {
	for i := range w.Credit {
		w.Credit[i] = roots.FullCredit
	}
	w.misses.until = math.Inf(-1)
	w.boxes.Reset()
	w.retaken, w.retakes = 0, 0
}

// use makes the samples those for steps of a member of the method, m.
func (w *watcher) use(member int, m solvers.Method) {
	if len(w.each) == 0 {
		return
	}
	w.Panel = w.each[member]
	w.reading.sys, _ = w.sys.(solvers.GuardReader)
	if w.reading.by, _ = m.(solvers.GuardReading); w.reading.by == nil {
		w.reading.sys = nil
	}
}

// verdict is the result of watching the guards over a trial step.
type verdict uint8

const (
	quiet verdict = iota // nothing fires
	found                // the trial step was cut to end at a root
	retry                // the step must be tried with another length
)

// brokenStep tells that something in the trial step is not finite: that guard, or -1 for a state.
type brokenStep int

func (brokenStep) Error() string { return "not finite" }

// errAnew tells that the step is to be tried anew with the length that cut says.
var errAnew = errors.New("to be tried anew")

// watched watches the guards over the trial step, as watch does, and rejects that where something is not finite.
func watched(s *Solver) (verdict, error) {
	v, err := s.watch.watch()
	if err == nil {
		return v, nil
	}
	return retry, s.notWatched(err)
}

// notWatched deals with what kept the guards from being watched.
func (s *Solver) notWatched(err error) error {
	bad, broken := err.(brokenStep)
	switch {
	case err == errAnew:
		return nil
	case !broken:
		return err
	case s.opts.Fixed > 0 && bad >= 0:
		e := s.badGuard(int(bad))
		e.Place = s.place(s.trial)
		return e
	case s.opts.Fixed > 0:
		return s.badStep(s.trial)
	}
	return s.reject(float64(0.25*s.trial.H), true)
}

// watch samples the guards along the trial step, and ends it at the first root. When it returns found or quiet,
// s.rho, s.truth and s.arms are those at the end of the step.
func (s *watcher) watch() (verdict, error) {
	s.Begin(s.rho, s.truth)
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
		s.List = append(s.List, s.take(1))
	}
	still, err := s.survey()
	if err != nil {
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
		if err := s.between(); err != nil {
			return retry, err
		}
	}
	for tries := 0; ; {
		at := len(s.List)
		for i := range s.guards {
			var j int
			s.live[i], j = s.play(i, at)
			at = min(at, j)
		}
		if at == len(s.List) {
			if !inside || len(s.boxes.Guards) == 0 || s.boxes.Limit == 1 {
				break
			}
			// Where the search for hidden roots ended nothing fires, so it goes on behind it.
			if err := s.hidden(); err != nil {
				return retry, err
			}
			continue
		}
		retake := s.showsAnew(at)
		s.together()
		v, err := s.locate.find(at)
		if err != nil || v != quiet {
			s.retaken = 0
			return v, err
		}
		if retake {
			s.retaken++
			s.retakes++
			s.stats.Rejected++
			s.cut = s.List[at].H
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
func (s *watcher) arrive() {
	s.retaken = 0
	if s.warns() && len(s.List) > 1 {
		s.misses.look(s)
	}
	end := s.List[len(s.List)-1]
	copy(s.rho, end.Rho)
	copy(s.truth, end.Truth)
}

// inside reports whether values of guards within the trial step matter: those of events that have fired for good do
// not, and conditions of time alone change at ends of steps.
func (s *watcher) inside() bool {
	for i := range s.guards {
		a, g := &s.arms[i], &s.guards[i]
		if !s.dead[i] && !(g.Clock && !g.Watch && a.on) {
			return true
		}
	}
	return s.anyRest
}

// take reads the guards at a fraction of the trial step.
func (s *watcher) take(theta float64) *roots.Sample {
	s.lane.load()
	tr := s.trial
	p := s.Spare()
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
func (s *watcher) atNodes() {
	s.lane.load()
	tr := s.trial
	s.boxes.Keep(0, tr.Y0)
	for k, theta := range s.Nodes[1:] {
		s.List = append(s.List, s.take(theta))
		if theta < 1 {
			s.boxes.Keep(k+1, s.yi)
		} else {
			s.boxes.Keep(k+1, tr.Y1)
		}
	}
}

// Read implements roots.Reader.
func (s *watcher) Read(theta float64) (*roots.Sample, error) {
	p := s.take(theta)
	for i, rho := range p.Rho {
		if rho != rho {
			return nil, brokenStep(i)
		}
		if rho = math.Abs(rho); rho > s.reach[i] {
			s.reach[i] = rho
		}
	}
	return p, nil
}

// leave handles guards that fired just before the trial step. The flow may have turned such a guard towards the side
// where it waits to fire, while no sample of the step shows it there. Then the excursion is shorter than the first
// sample, and the step is made short enough to end within it. If the excursion is too short to represent, the event
// would fire without end (a ball coming to rest).
func (s *watcher) leave() (verdict, error) {
	s.anyRest = false
	s.lane.load()
	tr := s.trial
	eps, looked := float64(0x1p-20*tr.H), false
	for i := range s.guards {
		g := &s.guards[i]
		if !s.resting[i] || s.dead[i] {
			continue
		}
		s.resting[i] = false
		if a, at := s.play(i, len(s.List)); !g.Crossing && (a.on || at < len(s.List)) {
			continue
		}
		subsides := s.subsides(i)
		if subsides {
			if s.zeno(i) {
				return retry, s.rests(i)
			}
			s.warn(solvers.Warning{Kind: solvers.Rest, T: s.t, Name: s.guardName(i), Instant: -1})
		}
		// The slope along f(t, y), over a stretch large enough that rounding does not hide it.
		if !looked {
			s.sys.GuardValues(s.t+eps, s.near.along(eps, tr.K, tr.Y0), s.mid.Rho, s.mid.Truth)
			looked = true
		}
		way := roots.Sign(s.mid.Rho[i] - s.rho[i])
		for far := eps; way == 0 && far < tr.H; far *= 4 { // a slope that rounding hides over a shorter stretch
			s.sys.GuardValues(s.t+far, s.near.along(far, tr.K, tr.Y0), s.mid.Rho, s.mid.Truth)
			way, looked = roots.Sign(s.mid.Rho[i]-s.rho[i]), false
		}
		if first := roots.Sign(s.List[0].Rho[i]); way == 0 || g.Crossing && first != -way || !g.Crossing && way > 0 {
			continue
		}
		looked = false
		for theta := float64(0.5 * s.List[0].Theta); float64(theta*tr.H) > elem.ULP(s.t); theta *= 0.5 {
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
		if n := min(h.count, len(h.last)); s.zeno(i) ||
			n >= 3 && s.t-h.last[(h.count-3)%len(h.last)] <= float64(1e-6*s.span) {
			return retry, s.rests(i)
		}
		if !subsides {
			s.warn(solvers.Warning{Kind: solvers.Rest, T: s.t, Name: s.guardName(i), Instant: -1})
		}
	}
	return quiet, nil
}

// zeno reports whether guard i fires at times that add up like a geometric series. Steps of a given length may pass a
// bounce.
func (s *watcher) zeno(i int) bool {
	kind, _, _ := s.historyOf(i).pattern()
	return kind == solvers.Zeno && s.opts.Fixed == 0
}

// rests makes the error about guard i, which fires without end.
func (s *watcher) rests(i int) error {
	return &solvers.ChatteringError{
		Event: s.guardName(i), Times: s.historyOf(i).times(),
		Reason: "comes to rest: it would fire again after a time too short to represent",
	}
}

// subsides reports whether what is left of the excursions of guard i, between firings that follow each other ever
// sooner, is less than what rounding makes of the guard. Then rounding decides when it fires next, as where a ball
// comes to rest on a floor that moves: a body that turns a ball which still rises sends it through the floor.
func (s *watcher) subsides(i int) bool {
	const hidden, soon = 4, 0x1p-8 // roundings; part of the first sample's time
	next := s.historyOf(i).next()
	first := s.List[0]
	part := next / first.H
	if s.opts.Fixed > 0 || !(part < soon) { // steps of a given length may pass a bounce
		return false
	}
	// A parabola through the present and the first sample, which is back at its start after next.
	depth := float64(math.Abs(first.Rho[i]-s.rho[i])*part*part) / (4 * (1 - part))
	// What the last digits of states and time make of the guard, each by itself: together they may cancel.
	off := 0.0
	copy(s.yi, s.y)
	for n, y := range s.y {
		s.yi[n] = math.FMA(0x1p-50, y, y)
		s.sys.GuardValues(s.t, s.yi, s.mid.Rho, s.mid.Truth)
		off, s.yi[n] = max(off, math.Abs(s.mid.Rho[i]-s.rho[i])), y
	}
	s.sys.GuardValues(math.FMA(0x1p-50, s.t, s.t), s.yi, s.mid.Rho, s.mid.Truth)
	off = max(off, math.Abs(s.mid.Rho[i]-s.rho[i]))
	return depth < float64(hidden*off)
}

// between adds the samples that the samples of the nodes show to be missing.
func (s *watcher) between() error {
	for i := range s.guards {
		g := &s.guards[i]
		s.Ignored[i] = s.dead[i] || g.Clock && !g.Watch
	}
	err := s.Between()
	if err == nil && len(s.boxes.Guards) > 0 {
		err = s.hidden()
	}
	if err != nil || !s.anyWatch {
		return err
	}
	return s.watchRoots()
}

// leastPart is the part of a step that must have been settled for the step to end there when the parts that may be
// looked at are used up.
const leastPart = 0x1p-6

// hidden adds the samples that enclosures show to be missing.
func (s *watcher) hidden() error {
	e, tr := &s.boxes, s.trial
	done, err := e.Hidden(s.Panel, roots.Span{T: tr.T, H: tr.H, T1: tr.T1})
	if done || err != nil {
		return err
	}
	// The parts that may be looked at are used up. A shorter step has as many again.
	if s.opts.Fixed == 0 && e.Settled >= leastPart && e.Credit > 0 {
		if h := float64(e.Settled * tr.H); h > s.least(s.t) {
			s.stats.Rejected++
			s.cut = h
			return errAnew
		}
	}
	for g, i := range e.Guards {
		if e.Open[g] && !s.guards[i].Kink {
			s.warn(solvers.Warning{
				Kind: solvers.Hidden, T: math.FMA(e.Settled, tr.H, tr.T), Name: s.guardName(i),
				Instant: -1,
			})
		}
	}
	return nil
}

// watchRoots adds a sample right after each change of a guard that is only watched.
func (s *watcher) watchRoots() error {
	for i := range s.guards {
		if !s.guards[i].Watch {
			continue
		}
		before := s.Start
		for j := 0; j < len(s.List); j++ {
			behind := s.List[j]
			if before.Truth[i] != behind.Truth[i] {
				p, err := s.change(i, before, behind)
				if err != nil {
					return err
				}
				if p != behind {
					j++ // p is the one before it
				}
			}
			before = behind
		}
	}
	return nil
}

// change adds a sample right after guard i changes its truth on the dense output between two neighbouring samples. It
// returns behind itself where that is no later.
func (s *watcher) change(i int, before, behind *roots.Sample) (*roots.Sample, error) {
	h := s.trial.H
	lo, hi := before.Theta, behind.Theta
	flo, fhi := before.Rho[i], behind.Rho[i]
	was := before.Truth[i]
	width := max(float64(elem.ULP(max(math.Abs(s.trial.T), math.Abs(s.trial.T1)))/h), 0x1p-52)
	side := 0
	for steps := 0; hi-lo > float64(1.5*width); steps++ {
		x := float64(0.5 * (lo + hi))
		if f := flo / (flo - fhi); steps%4 != 3 && f >= 0 && f <= 1 {
			x = math.FMA(f, hi-lo, lo)
		}
		x = max(min(x, hi-float64(0.5*width)), lo+float64(0.5*width))
		if !(x > lo && x < hi) {
			break
		}
		s.interpolate(s.trial, x)
		s.sys.GuardValues(math.FMA(x, h, s.trial.T), s.yi, s.mid.Rho, s.mid.Truth)
		rho := s.mid.Rho[i]
		if rho != rho {
			return nil, brokenStep(-1)
		}
		now := -1
		if s.mid.Truth[i] != was {
			now, hi, fhi = 1, x, rho
		} else {
			lo, flo = x, rho
		}
		if now == side && now > 0 { // the Illinois rule, as in shrink
			flo *= 0.5
		} else if now == side {
			fhi *= 0.5
		}
		side = now
	}
	if hi == behind.Theta {
		return behind, nil
	}
	return s.Look(hi)
}

// showsAnew reports whether the step is to be tried anew, up to sample at, if real steps do not show what bent guards
// do there. A peak may be narrower than the dense output is off. At the end of a step it is not.
func (s *watcher) showsAnew(at int) bool {
	// A guard that rests near its root seems to fire again and again: not many more steps are taken anew than events
	// are found.
	const inARow, beyond = 2, 16
	p := s.List[at]
	if s.opts.Fixed > 0 || p.Theta == 1 || !(p.H > s.least(s.t)) ||
		s.retaken == inARow || s.retakes >= beyond+s.stats.Events+s.stats.Switches {
		return false
	}
	for _, i := range s.boxes.Guards {
		if _, j := s.play(i, at+1); j == at {
			return true
		}
	}
	return false
}

// together notes the conditions of states that change together within the trial step, where nothing happens.
func (s *watcher) together() {
	s.flips = s.flips[:0]
	if _, ok := s.sys.(solvers.Separator); !ok || !s.anyWatch || !s.warns() {
		return
	}
	for i := range s.guards {
		g := &s.guards[i]
		if !g.Watch {
			continue
		}
		truth := s.Start.Truth[i]
		for _, p := range s.List {
			if p.Truth[i] != truth {
				truth = p.Truth[i]
				s.flips = append(s.flips, flip{p.H, i})
			}
		}
	}
	slices.SortFunc(s.flips, func(a, b flip) int {
		switch {
		case a.h < b.h:
			return -1
		case a.h > b.h:
			return 1
		}
		return a.guard - b.guard
	})
}

// offKinks has the next step end soon where the run stands at a kink that it leaves, as max(x, y) does from x = y. A
// stage at the kink has the derivatives of one of its sides, which need not be that to which the run goes. So that
// stage is one of a step that counts little.
func (s *watcher) offKinks() {
	stands := func(i int) bool {
		g := &s.guards[i]
		return g.Kink && !g.Clock && math.Abs(s.rho[i]) <= float64(kinkBand*s.reach[i])
	}
	some := false
	for i := range s.guards {
		some = some || stands(i)
	}
	if !some {
		return
	}
	n, far := s.size.N, float64(0x1p-20*s.span)
	f, then := s.trial.K[:n], s.work[n:]
	// behind moves the state on by h, to the second order, and reads the guards there.
	behind := func(h float64, rho []float64) {
		for i, y := range s.y {
			s.yi[i] = math.FMA(h, f[i]+float64(0.5*h/far*(then[i]-f[i])), y)
		}
		s.sys.GuardValues(s.t+h, s.yi, rho, s.truthP)
	}
	copy(then, f)
	behind(far, s.rhoP)
	s.sys.Eval(s.t+far, s.yi, then)
	s.stats.Evals++
	for _, h := range []float64{0x1p-10 * far, far} { // those that go to the first order, and to the second one
		behind(0.5*h, s.rhoP)
		behind(h, s.mid.Rho)
		for i, rho := range s.mid.Rho {
			if stands(i) && roots.Sign(rho) != roots.Sign(s.rho[i]) &&
				math.Abs(rho) > float64(1.5*math.Abs(s.rhoP[i])) {
				s.cut = max(h, s.least(s.t))
				return
			}
		}
	}
}

// slides returns how far kink i must go from its root to end a step again. Where the solution follows a kink or rests
// there, the error of steps and rounding decide about the side: within the estimated error of the step there is no
// crossing to speak of. Nor are there many that go nowhere, one soon after the other; often says how often.
func (s *watcher) slides(i, often int) float64 {
	band := 0.0
	if s.opts.Fixed == 0 {
		tr := s.trial
		for n, y := range tr.Y1 {
			s.yi[n] = y + s.err[n]
		}
		s.sys.GuardValues(tr.T1, s.yi, s.mid.Rho, s.mid.Truth)
		band = float64(4 * math.Abs(s.mid.Rho[i]-s.rho[i]))
	}
	const many, nowhere = 32, 1e-5
	if often < many {
		return band
	}
	far := 0.0
	for _, p := range s.List {
		far = max(far, math.Abs(p.Rho[i]))
	}
	for n, y := range s.trial.Y1 { // the size of what ρ is the difference of
		s.yi[n] = math.FMA(0x1p-10, y, y)
	}
	s.sys.GuardValues(s.trial.T1, s.yi, s.mid.Rho, s.mid.Truth)
	if size := float64(math.Abs(s.mid.Rho[i]-s.rho[i]) * 0x1p10); far > float64(nowhere*max(s.reach[i], size)) {
		return band
	}
	return max(band, float64(16*far))
}

// roundings is how much of a guard the last digits of time and state make, where events of a group happen. It is read
// once for bodies that change nothing that guards read: many events may have one condition.
type roundings struct {
	known bool
	t     float64
	rho   []float64 // [guards] at the time
	off   []float64 // [guards] what the last digits make of it
}

// here has r those of the present time and state, with its modes and discretes.
func (s *watcher) here() *roundings {
	r := &s.rounds
	if r.known && r.t == s.t {
		return r
	}
	if r.rho == nil {
		r.rho, r.off = make([]float64, len(s.guards)), make([]float64, len(s.guards))
	}
	r.known, r.t = true, s.t
	s.near.blur(0x1p-50)
	s.sys.GuardValues(s.t, s.y, r.rho, s.mid.Truth)
	for i, rho := range s.rhoP {
		r.off[i] = math.Abs(rho - r.rho[i])
	}
	return r
}

// band returns how near to its root guard i of m is that m leaves there, but for rounding: within the residual of its
// location, the tolerance of its time, and what the last digits of the state make.
func (s *watcher) band(m *member, i int) float64 {
	x := float64(4 * s.here().off[i])
	if !m.caused {
		x = max(x, m.scale, float64(16*math.Abs(s.rho[i])))
	}
	return x
}
