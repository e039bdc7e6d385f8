package sens

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/lanes"
)

// PeakObjectives are Objectives some of whose functionals are peaks: the largest values that expressions take along
// the run, each on its own. Observe is not asked for their values, which are found by a search along the dense
// output. Their derivatives are those of the expressions where they are largest, at SitePeak. By the envelope
// theorem, the time of a maximum within a step adds nothing.
type PeakObjectives interface {
	Objectives
	// Peaks returns the elements of the functionals that are peaks, in ascending order.
	Peaks() []int
	// Heights writes the expressions e[len(Peaks())] at (t, y), with the discretes and modes that the system has
	// entered.
	Heights(t float64, y, e []float64)
	// Slopes writes their rates ed[len(Peaks())] at (t, y) when the state moves at the rate yd[N].
	Slopes(t float64, y, yd, ed []float64)
}

// PeakSignals are PeakObjectives whose expressions have parts that depend on time, parameters, discretes and modes
// only. What such a part does between two samples is known.
type PeakSignals interface {
	PeakObjectives
	// HidesPeaks reports whether there are such parts that may have peaks which samples do not show.
	HidesPeaks() bool
	// UnseenPeaks is solvers.Signals.Unseen for these parts.
	UnseenPeaks(times []float64) (end float64, some bool)
}

// PeakReader are PeakObjectives that can be read at all samples of a step at once.
type PeakReader interface {
	PeakObjectives
	// ReadPeaks writes to e[samples][len(Peaks())] and ed what Heights and Slopes write at the samples of s, a step
	// with arithmetic a, to the same bits: Heights at times, and Slopes at within. The rows of K of the dense output
	// have been made. Alternatively it writes nothing and reports false.
	ReadPeaks(a *solvers.Arithmetic, s *solvers.Step, times, within, e, ed []float64) bool
}

// PeakSingles are PeakObjectives that can be read one by one, at less cost than all of them where they are many.
type PeakSingles interface {
	PeakObjectives
	// PeakAt returns what Heights at t and Slopes at within give for expression j, to the same bits. Alternatively it
	// reports false.
	PeakAt(j int, t, within float64, y, yd []float64) (e, ed float64, ok bool)
}

// Peak is where an expression is largest along a run.
type Peak struct {
	Element int // of the functionals
	Value   float64
	T       float64
	// Other is the time of another maximum that is as large, within Options.Tie; NaN where there is none. Which of
	// the two is the largest is then not decided, and the derivatives are those of the one at T.
	Other float64
	// Held tells that the expression kept the value after T. Derivatives are those at T; with Options.LatePeak they are
	// means of those at the last such time and where something happens meanwhile.
	Held bool
	// Level tells that the expression is as large for a good part of the run, or on both sides of what happens there,
	// but for rounding and errors of steps. With Options.LatePeak such means are taken there as well.
	Level bool

	at    place
	until Spot   // Held: where it was as large last
	kept  []Spot // Held: where something happened while it was as large, on either side; not all, if they are many
	also  []Spot // with Options.LatePeak: where else it is read
	dosed []Spot // where it was as large before events at the end that changed nothing
	ties  []Spot // where the maxima are that are as large; not all, if they are many
	// Where the expression has a kink, derivatives combine those at a place before it and those at a place after it;
	// share is the weight of the latter.
	behind                 place
	share                  float64
	timeBefore, timeBehind float64
}

// Spot is a point of a recorded run at which the expression of a peak is read: at Theta of the length of a step, both
// ends included. The right limits at the end of the run are at 0 of the step after the last.
type Spot struct {
	Element int // of the functionals
	Step    int
	Theta   float64
	T       float64
	Tie     bool // it is one of several maxima that are equally large
	Kept    bool // the expression keeps its largest value, and is read here, or something happens here
	Last    bool // of those that are Kept
	Dosed   bool // it is as large behind an event here that changes nothing
	Falls   bool // Dosed: it was so at the start, and falls from here on, whenever the event comes
}

// Spots returns where peaks are read, in the order of the run: where each is largest, on both sides of a kink there,
// where it was as large last if it kept the value, and where another maximum is as large.
func Spots(peaks []Peak) (list []Spot) {
	for i := range peaks {
		p := &peaks[i]
		if math.IsNaN(p.Value) {
			continue
		}
		tie, at := !math.IsNaN(p.Other), len(list)
		if list = append(list, p.spot(p.at, p.timeBefore)); tie {
			list[len(list)-1].Tie = true
			list = append(list, p.ties...)
		}
		if p.share > 0 {
			list = append(list, p.spot(p.behind, p.timeBehind))
		}
		if p.Held {
			list[at].Kept = true
			list = append(list, p.until)
			list[len(list)-1].Last = true
		}
		list = append(list, p.dosed...)
	}
	sortSpots(list)
	return list
}

func sortSpots(list []Spot) {
	slices.SortStableFunc(list, func(a, b Spot) int { return a.place().compare(b.place()) })
}

// Meanwhile adds to spots where something happens while a peak keeps its value, if that is longer than some time. What
// keeps it less long does not.
func Meanwhile(list []Spot, peaks []Peak, least float64) []Spot {
	for i := range peaks {
		p := &peaks[i]
		switch {
		case !p.Held:
		case p.until.T-p.T > least:
			for _, s := range p.kept {
				if s.place() != p.until.place() {
					list = append(list, s)
				}
			}
		default:
			for j := range list {
				if list[j].Element == p.Element {
					list[j].Kept = false
				}
			}
		}
	}
	sortSpots(list)
	return list
}

func (p *Peak) spot(at place, t float64) Spot {
	return Spot{Element: p.Element, Step: at.step, Theta: at.theta, T: t}
}

func (s Spot) place() place { return place{s.Step, s.Theta} }

// Plain reports whether p is a single largest value at a point where the expression has no kink.
func (p *Peak) Plain() bool {
	return math.IsNaN(p.Other) && !p.Held && !p.Level && p.share == 0 && len(p.also)+len(p.dosed)+len(p.kept) == 0 &&
		len(p.ties) == 0
}

// readings sorts peaks by their places.
func readings(peaks []Peak) []reading {
	var all, list []reading
	for i := range peaks {
		p := &peaks[i]
		if p.also != nil {
			all = append(all, p.mean()...)
			continue
		}
		all = append(all, reading{p.at, p.timeBefore, Site{Kind: SitePeak, Peaks: []Share{{p.Element, 1 - p.share}}}})
		if p.share > 0 {
			behind := Site{Kind: SitePeak, Peaks: []Share{{p.Element, p.share}}}
			all = append(all, reading{p.behind, p.timeBehind, behind})
		}
	}
	slices.SortStableFunc(all, func(a, b reading) int { return a.compare(b.place) })
	for _, r := range all {
		if n := len(list); n > 0 && list[n-1].place == r.place {
			list[n-1].site.Peaks = append(list[n-1].site.Peaks, r.site.Peaks...)
		} else {
			list = append(list, r)
		}
	}
	return list
}

// mean returns readings of a mean, with weights of which no few cancel: where derivatives are others at any of the
// places, that of the mean is another one.
func (p *Peak) mean() (list []reading) {
	all := append([]Spot{p.spot(p.at, p.timeBefore)}, p.also...)
	sortSpots(all)
	all = slices.CompactFunc(all, func(a, b Spot) bool { return a.place() == b.place() })
	sum := 0.0
	weight := func(i int) float64 {
		part := float64(math.Phi * float64(i+1))
		return 0.5 + part - math.Floor(part)
	}
	for i := range all {
		sum += weight(i)
	}
	for i, s := range all {
		site := Site{Kind: SitePeak, Peaks: []Share{{p.Element, weight(i) / sum}}}
		list = append(list, reading{s.place(), s.T, site})
	}
	return list
}

// peakFinder finds the peaks of a run, step by step.
//
// In every step it samples values and slopes at both ends and between as many equal parts of the step as the dense
// output has orders, since a polynomial of that degree can rise and fall in so many pieces. Where the slope turns
// from up to down between two samples, the maximum is the root of the slope, found to rounding. Where it does not,
// but the cubic with the same values and slopes would turn twice, the part is divided where that cubic is steepest
// the other way, at most maxDivisions times. What rises and falls without either sign is not seen, but for what depends
// on time alone: where that has peaks that the samples do not show, samples lie closer there.
type peakFinder struct {
	peakReaders
	lane   *laneReading // of a run in a lane; else nil
	of     solvers.Method
	method solvers.Interpolant // of it
	sys    solvers.System
	tie    float64
	late   bool // Options.LatePeak

	n int // peaks
	peakSamples
	y, yd   []float64 // [N]
	at, atd []float64 // [n] at a point between samples
	tops    []top     // [n]
	sizes   []float64 // [N] of states over the last step that ended where something happens
	underWay
}

// peakReaders are what reads the expressions, in one way or several at once.
type peakReaders struct {
	obj     PeakObjectives
	hidden  PeakSignals      // obj, if it hides any; else nil
	reads   PeakReader       // likewise
	singles PeakSingles      // likewise
	samples solvers.Sampling // method, if it is one; else nil
}

// peakSamples are the samples of a step, or of a part of it.
type peakSamples struct {
	parts int          // of a step
	e, ed [][]float64  // [parts+1][n] at the samples
	times []float64    // [parts+1] of the samples
	near  []float64    // [parts+1] and those within the limits of the step
	all   [2][]float64 // of which e and ed are rows
	a, b  float64      // the part of the step that is sampled
	wide  float64      // its length in time
	theta []float64    // [parts+1] of the samples: whole, or some
	whole []float64    // those of whole steps
	some  []float64
}

// underWay is how far a finder has come in a run.
type underWay struct {
	present int  // step of the trajectory
	fresh   bool // the next step begins at a time that was chosen
	ends    bool // the present step ends where something happens
	looked  bool // the samples are those of a step of this run
	fired   bool // an event has happened since that changed nothing
	idle    int  // the step of length zero before it; -1 for none
	stood   bool // the step before has the length zero, and no such event has happened since
	limits       // of the present step

	began, now float64 // the times at which the run began, and of the end of the present step
}

// top is the largest value of one expression so far.
type top struct {
	Peak
	some  bool    // there was a value
	nan   bool    // the expression was not a number somewhere
	low   float64 // the least value since the largest
	slope float64 // by time, at the end of the step before where something happened there
	// moved is when something made the expression another one, just behind where it is largest.
	moved  float64
	leapt  float64 // and when an event last changed anything that it reads
	others []other // maxima beside the largest; the highest, if they are many
	size   float64 // the largest absolute value
	// start is where the next step begins, and startHeight the value there, if the step before has the length zero.
	start       place
	startHeight float64
	level, was  level   // the present one, and the highest and longest before
	first       float64 // the first time that had the value
	brinks      []brink // where an event or a change of modes left the expression as large as it was; not all
}

// other is a maximum that was not the largest, or is not any more.
type other struct {
	Spot
	height float64
	deep   float64 // how much lower the expression was between it and the largest one, at least
}

// brink is where something happens at the largest value so far, or soon behind it, and leaves the expression as large.
type brink struct {
	low   float64
	sides [2]Spot
}

// level is a part of a run, some steps long, in which an expression changes as little as errors of steps may make it.
type level struct {
	some        bool
	low, high   float64
	first, last Spot   // where it begins and ends
	happened    []Spot // where something happens in it; not all, if they are many
}

// before reports whether l counts more than m: it is higher, or as high within near and longer.
func (l *level) before(m *level, near float64) bool {
	switch {
	case !l.some || !m.some || math.Abs(l.high-m.high) > near:
		return l.some && (!m.some || l.high > m.high)
	}
	return l.last.T-l.first.T > m.last.T-m.first.T
}

// hasPeaks reports whether some functionals of obj are peaks.
func hasPeaks(obj Objectives) bool {
	peaks, ok := obj.(PeakObjectives)
	return ok && len(peaks.Peaks()) > 0
}

// newPeakFinder returns the observer of the peaks of obj. The error is that of a method without derivatives of its
// dense output.
func newPeakFinder(obj Objectives, method solvers.Method, sys solvers.System) (observer, error) {
	peaks := obj.(PeakObjectives)
	inner, err := solvers.As[solvers.Interpolant](method, solvers.DenseDerivatives)
	if err != nil {
		return nil, fmt.Errorf("%w, by which largest values are found; take another method", err)
	}
	c := &peakFinder{
		peakReaders: peakReaders{obj: peaks}, of: method, method: inner, sys: sys,
		n: len(peaks.Peaks()), peakSamples: peakSamples{parts: max(2, method.Info().DenseOrder)},
	}
	if hidden, ok := obj.(PeakSignals); ok && hidden.HidesPeaks() {
		c.hidden = hidden
	}
	c.times = make([]float64, c.parts+1)
	size := sys.Size().N
	c.y, c.yd, c.sizes = make([]float64, size), make([]float64, size), make([]float64, size)
	c.at, c.atd = make([]float64, c.n), make([]float64, c.n)
	c.near = make([]float64, c.parts+1)
	c.some = make([]float64, c.parts+1)
	c.divide(0, 1)
	c.whole = slices.Clone(c.theta)
	for k, rows := range [2]*[][]float64{&c.e, &c.ed} {
		c.all[k] = make([]float64, (c.parts+1)*c.n)
		*rows = slices.Collect(slices.Chunk(c.all[k], c.n))
	}
	c.reads, _ = obj.(PeakReader)
	c.singles, _ = obj.(PeakSingles)
	c.samples, _ = method.(solvers.Sampling)
	c.tops = make([]top, c.n)
	return c, nil
}

// serves implements observer.
func (c *peakFinder) serves(obj Objectives, method solvers.Method, sys solvers.System) bool {
	peaks, ok := obj.(PeakObjectives)
	return ok && c.obj == peaks && c.of == method && c.sys == sys
}

// beside implements observer.
func (c *peakFinder) beside(runs *hybrid.Lanes, lane int) {
	if c.lane == nil {
		c.lane = &laneReading{runs, lane}
	}
}

// begin implements observer: it forgets the last run.
func (c *peakFinder) begin(opts *Options) {
	c.tie, c.late = opts.tie(), opts.LatePeak
	c.present, c.fresh, c.looked, c.fired, c.stood, c.idle, c.wide = 0, true, false, false, false, -1, math.Inf(1)
	c.began, c.now = math.NaN(), math.NaN()
	for i, element := range c.obj.Peaks() {
		c.tops[i] = top{
			Peak:  Peak{Element: element, Value: math.NaN(), T: math.NaN(), Other: math.NaN()},
			moved: math.NaN(), leapt: math.NaN(),
		}
	}
}

// when returns the time at theta of st.
func when(st *solvers.Step, theta float64) float64 {
	if theta == 1 {
		return st.T1
	}
	return math.FMA(theta, st.H, st.T)
}

// look writes values and their derivatives by theta, at theta of st, to e and ed.
func (c *peakFinder) look(st *solvers.Step, theta float64, e, ed []float64) {
	c.load()
	t := when(st, theta)
	c.method.InterpolateSlope(c.sys, st, theta, c.y, c.yd)
	c.obj.Heights(t, c.y, e)
	c.obj.Slopes(c.within(t), c.y, c.yd, ed)
	for j := range ed {
		ed[j] = float64(st.H * ed[j])
	}
}

// lookAt returns the value of expression j and its derivative by theta, at theta of st.
func (c *peakFinder) lookAt(j int, st *solvers.Step, theta float64) (e, ed float64) {
	if c.singles != nil {
		c.load()
		t := when(st, theta)
		c.method.InterpolateSlope(c.sys, st, theta, c.y, c.yd)
		if e, ed, ok := c.singles.PeakAt(j, t, c.within(t), c.y, c.yd); ok {
			return e, float64(st.H * ed)
		}
	}
	c.look(st, theta, c.at, c.atd)
	return c.at[j], c.atd[j]
}

// load has the step be whole, which lanes hand over piece by piece.
func (c *peakFinder) load() {
	if c.lane != nil {
		c.lane.load()
	}
}

// read looks at all samples of st at once, and reports whether that can be done.
func (c *peakFinder) read(st *solvers.Step) bool {
	if c.reads == nil || c.samples == nil {
		return false
	}
	c.load()
	a := c.samples.Sampling(c.sys, st)
	if a == nil || len(a.Samples) != c.parts+1 {
		return false
	}
	for k := range c.times {
		c.times[k] = when(st, c.theta[k])
		c.near[k] = c.within(c.times[k])
	}
	if !c.reads.ReadPeaks(a, st, c.times, c.near, c.all[0], c.all[1]) {
		return false
	}
	for j, x := range c.all[1] {
		c.all[1][j] = float64(st.H * x)
	}
	return true
}

// take makes the samples those of a step in a lane; see lanes.Stepper.
func (c *peakFinder) take(st *solvers.Step, rows []float64) {
	e, ed := c.all[0], c.all[1]
	rates := rows[len(e)*lanes.Count:]
	for i := range e {
		e[i], ed[i] = rows[i*lanes.Count], float64(st.H*rates[i*lanes.Count])
	}
}

// pass does what scan does where that is nearly nothing: where expression j only rises or falls over a step in a lane.
// It reports whether it has.
func (c *peakFinder) pass(j int, st *solvers.Step, rows []float64) bool {
	top, whole := &c.tops[j], len(c.all[0])
	row := func(i int) float64 { return rows[i*lanes.Count] }
	way, most, least := row(2*whole+j), row(2*whole+c.n+j), row(2*whole+2*c.n+j)
	rises := way == 1
	switch {
	case top.nan || !top.some,
		!rises && way != -1,
		!rises && most > top.Value+float64(0x1p-48*math.Abs(most)):
		return false
	}
	top.size = max(top.size, math.Abs(most), math.Abs(least))
	top.low = min(top.low, least)
	c.along(j, st, least, most)
	if rises {
		c.propose(j, 1, st.T1, row(whole-c.n+j))
	}
	return true
}

// step implements observer: it searches the next step.
func (c *peakFinder) step(st *solvers.Step, end solvers.End) {
	if c.now = st.T1; c.began != c.began {
		c.began = st.T
	}
	if st.H > 0 {
		c.ends = end.Kind != solvers.EndFree
		c.limits, _ = limitsBetween(c.fresh, c.ends, st.T, st.T1)
		for c.a = 0; c.a < 1; c.a = c.b {
			c.nextPart(st)
			var rows []float64
			if c.b-c.a == 1 && c.lane != nil && !c.fresh && !c.ends {
				rows = c.lane.rows(2*len(c.all[0]) + 3*c.n)
			}
			if rows == nil && !(c.b-c.a == 1 && c.read(st)) {
				for k := range c.e {
					c.look(st, c.theta[k], c.e[k], c.ed[k])
				}
			}
			taken := rows == nil
			for j := range c.tops {
				if !taken {
					if c.pass(j, st, rows) {
						continue
					}
					c.take(st, rows)
					taken = true
				}
				c.scan(j, st)
			}
		}
		if c.ends {
			c.load()
			for i, y := range st.Y1 {
				c.sizes[i] = max(math.Abs(st.Y0[i]), math.Abs(y))
			}
		}
		c.looked, c.fired, c.stood, c.idle = true, false, false, -1
	} else {
		c.stand(st, end)
	}
	c.fresh = end.Kind != solvers.EndFree
	c.present++
}

// stand looks at a step of length zero, between two things that happen at the same time. What is largest there moves
// with the second of them where the expression would rise in between, or where that is the end of the run, and with the
// first where it would fall.
func (c *peakFinder) stand(st *solvers.Step, end solvers.End) {
	last := end.Kind == solvers.EndClip && end.Index == 1
	c.method.InterpolateSlope(c.sys, st, 0, c.y, c.yd)
	c.obj.Heights(st.T, c.y, c.at)
	c.obj.Slopes(st.T, c.y, c.yd, c.atd)
	for j, v := range c.at {
		top, rises := &c.tops[j], c.atd[j] > 0
		before := top.justBefore(st.T)
		if before && (rises || last) && math.Abs(v-top.Value) <= float64(0x1p-48*math.Abs(v)) {
			if c.fired && len(top.dosed) < mostTies {
				dose := top.spot(top.at, top.T)
				dose.Dosed = true
				top.dosed = append(top.dosed, dose)
			}
			if top.moved == st.T || top.leapt == st.T {
				c.brink(j, place{c.present, 1}, st.T1, float64(0x1p-30*(c.now-c.began)), v, c.y)
			}
			top.at, top.T, top.timeBefore = place{c.present, 1}, st.T1, st.T1
		}
		if before && math.Abs(v-top.Value) > float64(c.tie*top.size) {
			top.moved = st.T
		}
		if n := len(top.others) - 1; n >= 0 && st.T-top.others[n].T <= float64(0x1p-48*math.Abs(st.T)) &&
			math.Abs(v-top.others[n].height) <= float64(0x1p-48*math.Abs(v)) {
			top.note(other{top.spot(place{c.present, 1}, st.T1), v, top.others[n].deep}) // which moves with either
		}
		if top.Held && last && v == top.Value && top.until.T == st.T {
			top.until = top.spot(place{c.present, 1}, st.T1)
			top.until.Kept = true
		}
		switch {
		case rises:
			top.start, top.startHeight = place{c.present, 1}, v
		case !c.stood || top.startHeight != v:
			top.start, top.startHeight = place{c.present, 0}, v
		}
	}
	c.stood = true
}

// fire tells that an event has happened. What it leaves as large as it was is not its concern, if it changes other
// things; a dose of nothing may be larger as well. An execution that was pending sets free what held its time.
func (c *peakFinder) fire(m *solvers.Mark) {
	pending := m.Instant >= 0 && c.sys.Instants()[m.Instant].Pending
	if slices.Equal(m.Ym, m.Yp) && (pending || slices.Equal(m.Dm, m.Dp)) {
		if c.stood {
			c.idle = c.present - 1
		}
		c.fired, c.stood = true, false
		return
	}
	for j := range c.tops {
		if c.stood || c.tops[j].justBefore(m.T) {
			c.leap(m)
			return
		}
	}
}

// justBefore reports whether an expression is largest at t, as far as it has been looked at, on one side of a kink.
func (t *top) justBefore(at float64) bool {
	return t.some && t.share == 0 && at-t.T <= float64(0x1p-48*math.Abs(at))
}

// leap notes which expressions read anything that an event has changed. They begin anew behind it. Their heights do not
// tell: a factor of zero hides others.
func (c *peakFinder) leap(m *solvers.Mark) {
	y, d := aside(m.Yp, nil), aside(m.Dp, nil)
	c.sys.Enter(d, m.Mp)
	c.obj.Heights(m.T, y, c.at)
	c.sys.Enter(aside(d, func(i int) bool { return m.Dm[i] != m.Dp[i] }), m.Mp)
	c.obj.Heights(m.T, aside(y, func(i int) bool { return m.Ym[i] != m.Yp[i] }), c.atd)
	for j := range c.tops {
		if c.at[j] != c.atd[j] {
			c.tops[j].leapt, c.tops[j].startHeight = m.T, math.NaN()
		}
	}
	c.sys.Enter(m.Dp, m.Mp)
}

// aside returns x with those numbers moved that are told, each by a part of its own; with nil all.
func aside(x []float64, moves func(i int) bool) []float64 {
	to := slices.Clone(x)
	for i, v := range x {
		if moves != nil && !moves(i) {
			continue
		}
		if v == 0 {
			v = 1
		}
		part := float64(math.Phi * float64(i+1))
		to[i] += float64(0x1p-14 * v * (0.5 + part - math.Floor(part)))
	}
	return to
}

// divide has the samples lie between a and b of the step.
func (c *peakFinder) divide(a, b float64) {
	if c.a, c.b = a, b; a == 0 && b == 1 && c.whole != nil {
		c.theta = c.whole
		return
	}
	c.theta = c.some
	for k := range c.parts {
		c.theta[k] = a + float64((b-a)*(float64(k)/float64(c.parts)))
	}
	c.theta[c.parts] = b
}

// nextPart sets the end of the part of the step that is sampled next, from c.a on, so that the samples show what
// functions of time do. It begins with twice the part before, and halves that as often as need be.
func (c *peakFinder) nextPart(st *solvers.Step) {
	const least = 0x1p-45 // of the step
	c.divide(c.a, 1)
	if c.hidden == nil {
		return
	}
	if w := float64(2*c.wide) / st.H; w < 1-c.a {
		c.divide(c.a, c.a+w)
	}
	for c.b-c.a > least {
		for k := range c.times {
			c.times[k] = when(st, c.theta[k])
		}
		if _, some := c.hidden.UnseenPeaks(c.times); !some {
			break
		}
		c.divide(c.a, c.a+float64(0.5*(c.b-c.a)))
	}
	c.wide = float64((c.b - c.a) * st.H)
}

// scan follows expression j through the samples of a step.
func (c *peakFinder) scan(j int, st *solvers.Step) {
	top := &c.tops[j]
	e, ed, n := c.all[0], c.all[1], c.n
	most, steep, size, least := j, 0.0, top.size, e[j]
	for i := j; i < len(e); i += n {
		v := e[i]
		top.nan = top.nan || v != v
		size, least = max(size, math.Abs(v)), min(least, v)
		steep = max(steep, math.Abs(ed[i]))
		if v > e[most] {
			most = i
		}
	}
	if top.size = size; top.nan {
		return
	}
	c.along(j, st, least, e[most])
	last := c.parts
	if c.fresh && c.a == 0 && top.some {
		c.leaves(j, st, c.e[0][j])
	}
	if v := c.e[0][j]; c.fresh && c.a == 0 && (!(c.ed[0][j] > 0) || v >= c.e[1][j]) { // slopes have rounding
		at := place{c.present, 0}
		if c.stood && top.startHeight == v {
			at = top.start
		}
		if first := !top.some; c.offer(j, at, st.T, v) && first && c.idle >= 0 && top.startHeight == v {
			dose := top.spot(place{c.idle, 1}, st.T)
			dose.Dosed, dose.Falls = true, true
			top.dosed = append(top.dosed, dose)
		}
	}
	for k, i := 0, j; k < last; k, i = k+1, i+n {
		ea, eb, sa, sb := e[i], e[i+n], ed[i], ed[i+n]
		top.low = min(top.low, ea)
		if a, b := c.theta[k], c.theta[k+1]; !steady(b-a, ea, eb, sa, sb) {
			c.part(j, st, bracket{a, b, ea, eb, sa, sb}, steep, maxDivisions)
		}
	}
	top.low, top.slope = min(top.low, c.e[last][j]), c.ed[last][j]/st.H
	if !(c.ed[last][j] < 0) {
		c.propose(j, c.b, when(st, c.b), c.e[last][j])
	}
	// Where slopes do not tell, as with jumps inside noevent, only the samples are left.
	if v := e[most]; !top.some || v > top.Value+float64(0x1p-48*math.Abs(v)) {
		theta := c.theta[most/n]
		c.propose(j, theta, when(st, theta), v)
	}
}

// along takes notice of the least and the largest value of expression j in the present part of a step: the present
// level goes on, or another one begins.
func (c *peakFinder) along(j int, st *solvers.Step, least, most float64) {
	top := &c.tops[j]
	l, near := &top.level, c.flat(top)
	begins := !l.some || max(l.high, most)-min(l.low, least) > near
	switch {
	case !begins:
		l.low, l.high = min(l.low, least), max(l.high, most)
	case !l.some && most-least > near: // the usual case
		return
	default:
		if l.before(&top.was, near) {
			top.was, top.level = top.level, top.was
		}
		l.some, l.low, l.high, l.happened = most-least <= near, least, most, l.happened[:0]
	}
	at := func(theta float64) Spot { return top.spot(place{c.present, theta}, when(st, theta)) }
	if l.last = at(c.b); begins {
		l.first = at(c.a)
	}
	if c.a == 0 && c.fresh && len(l.happened) < mostTies {
		l.happened = append(l.happened, at(0))
	}
	if c.b == 1 && c.ends && len(l.happened) < mostTies {
		l.happened = append(l.happened, at(1))
	}
}

// leaves notes that what happened before the present step left expression j as large as at its largest value so far, v.
func (c *peakFinder) leaves(j int, st *solvers.Step, v float64) {
	top, here := &c.tops[j], place{c.present, 0}
	slope := c.ed[0][j] / st.H
	bends := v == 0 && // a factor of zero hides others, which may have jumped
		math.Abs(slope-top.slope) > float64(1e-6*max(math.Abs(slope), math.Abs(top.slope)))
	if top.at == here || v == top.Value && !(top.low < v) && !bends {
		return
	}
	c.brink(j, here, st.T, float64(0x1p-30*max(st.H, c.now-c.began)), v, st.Y0)
}

// brink records v, the value of expression j just after an event or another change, as a candidate for its maximum if
// it equals the running maximum of no more than soon before.
func (c *peakFinder) brink(j int, here place, t, soon, v float64, y []float64) {
	top := &c.tops[j]
	if t-top.T > soon || len(top.brinks) == mostTies {
		return
	}
	if off := math.Abs(v - top.Value); off > float64(c.tie*top.size) {
		made := c.madeOf(j, t, y)
		if !(off <= float64(c.tie*made)) {
			return
		}
		top.size = made
	}
	sides := [2]Spot{top.spot(top.at, top.T), top.spot(here, t)}
	top.brinks = append(top.brinks, brink{min(v, top.Value), sides})
}

// madeOf returns how large what expression j is made of is at (t, y): how far it would move if states did by what they
// have been over the last step. A difference of states that are nearly equal is much smaller than these.
func (c *peakFinder) madeOf(j int, t float64, y []float64) float64 {
	const part = 0x1p-14
	x, e := slices.Clone(y), make([]float64, c.n)
	for i, size := range c.sizes {
		w := float64(math.Phi * float64(i+1))
		w = 0.5 + w - math.Floor(w)
		if i%2 == 1 {
			w = -w
		}
		x[i] += float64(part * size * w)
	}
	c.obj.Heights(t, x, e)
	moved := e[j]
	c.obj.Heights(t, y, e)
	return math.Abs(moved-e[j]) / part
}

// bracket is a part of a step with the values and slopes at its ends.
type bracket struct{ a, b, ea, eb, sa, sb float64 }

// trough returns the least value of the cubic through both ends of a part whose slope goes from down to up.
func (p *bracket) trough() float64 {
	w := p.b - p.a
	c1, c2 := bends(w, p.ea, p.eb, p.sa, p.sb)
	q := -0.5 * (c1 + math.Copysign(math.Sqrt(max(0, float64(c1*c1)-float64(4*c2*p.sa))), c1))
	u := p.sa / q
	if !(u > 0 && u < 1) {
		u = q / c2
	}
	u = max(0, min(u, 1))
	return math.FMA(float64(w*u), p.sa+float64(u*(float64(0.5*c1)+float64(u*c2/3))), p.ea)
}

// steady reports whether the slopes sa and sb at the ends of a part of width w have one sign, and that of the cubic
// with the values ea and eb there is nowhere between them steepest. Most parts are so: nothing is to be looked for.
func steady(w, ea, eb, sa, sb float64) bool {
	c1, c2 := bends(w, ea, eb, sa, sb)
	up, down := sa > 0 && sb > 0, sa < 0 && sb < 0
	return (up || down) &&
		(c1 >= 0 && c2 >= 0 || c1 <= 0 && c2 <= 0 || math.Abs(c1) >= float64(2*math.Abs(c2)))
}

// bends returns the coefficients of the slope sa + c1 u + c2 u², at u = (θ - a)/w, of the cubic through both ends. Its
// mean is (eb - ea)/w.
func bends(w, ea, eb, sa, sb float64) (c1, c2 float64) {
	d := (eb - ea) / w
	return float64(6*d) - float64(4*sa) - float64(2*sb), float64(3*(sa+sb)) - float64(6*d)
}

// maxDivisions limits how many times a part is divided in search of two turns.
const maxDivisions = 3

// part looks for a maximum of expression j within a part of a step.
func (c *peakFinder) part(j int, st *solvers.Step, p bracket, steep float64, divisions int) {
	w := p.b - p.a
	// Where the expression is flat at one end, as in the tail of a peak in time, values tell where it goes.
	up, down := p.sa > 0 || p.sa == 0 && p.eb > p.ea, p.sb < 0 || p.sb == 0 && p.ea > p.eb
	switch {
	case up && down:
		if float64((p.sa-p.sb)*w) > float64(0x1p-50*c.tops[j].size) {
			c.refine(j, st, p, steep)
		} else if p.ea >= p.eb { // flat to rounding
			c.propose(j, p.a, when(st, p.a), p.ea)
		} else {
			c.propose(j, p.b, when(st, p.b), p.eb)
		}
	case p.sa < 0 && p.sb > 0:
		top := &c.tops[j]
		if low := p.trough(); p.ea-low > float64(0x1p-48*top.size) {
			top.low = min(top.low, low)
		}
	case divisions > 0 && (p.sa > 0) == (p.sb > 0):
		c1, c2 := bends(w, p.ea, p.eb, p.sa, p.sb)
		u := -c1 / float64(2*c2)
		if !(u > 0 && u < 1) {
			return
		}
		turn := p.sa + float64(float64(0.5*u)*c1)
		if p.sa < 0 {
			turn = -turn
		}
		if turn > float64(0.1*max(math.Abs(p.sa), math.Abs(p.sb))) ||
			float64(math.Abs(turn)*w) <= float64(0x1p-50*c.tops[j].size) {
			return
		}
		x := math.FMA(u, w, p.a)
		if !(x > p.a && x < p.b) {
			return
		}
		e, s := c.lookAt(j, st, x)
		c.part(j, st, bracket{p.a, x, p.ea, e, p.sa, s}, steep, divisions-1)
		c.tops[j].low = min(c.tops[j].low, e)
		c.part(j, st, bracket{x, p.b, e, p.eb, s, p.sb}, steep, divisions-1)
	}
}

// refine proposes the root of the slope of expression j in p, where it goes from up to down: by the secant with the
// Illinois rule (M. Dowell, P. Jarratt, BIT 11 (1971) 168–174), and halving where that is slow.
func (c *peakFinder) refine(j int, st *solvers.Step, p bracket, steep float64) {
	const narrow = 0x1p-52
	flat := float64(0x1p-50 * steep)
	wa, wb := p.sa, p.sb // weighted
	side, theta, v, slope := 0, p.a, p.ea, p.sa
	for tries := 0; tries < 200; tries++ {
		w := p.b - p.a
		x := p.a + float64(w*(wa/(wa-wb)))
		if tries%8 == 7 || !(x > p.a && x < p.b) {
			x = p.a + float64(0.5*w)
		}
		if !(x > p.a && x < p.b) || w <= narrow {
			break
		}
		theta = x
		v, slope = c.lookAt(j, st, x)
		rises := slope > 0
		if math.Abs(slope) <= flat {
			if !(v < p.ea || v < p.eb) {
				break
			}
			rises = !(v < p.ea) // flat beside the peak
		}
		if rises {
			p.a, p.ea, p.sa, wa = x, v, slope, slope
			if side > 0 {
				wb = float64(0.5 * wb)
			}
			side = 1
		} else {
			p.b, p.eb, p.sb, wb = x, v, slope, slope
			if side < 0 {
				wa = float64(0.5 * wa)
			}
			side = -1
		}
	}
	if math.Abs(slope) <= flat || min(p.sa, -p.sb) <= float64(1e-6*steep) {
		c.propose(j, theta, when(st, theta), v)
		return
	}
	// A kink, with the slopes s⁻ > 0 > s⁺. Its time moves as the two branches do that meet there, so the derivative
	// is (s⁺ e⁻_p - s⁻ e⁺_p)/(s⁺ - s⁻). Each branch is read a little to its own side, where rounding does not confuse
	// them.
	const aside = 0x1p-40
	if p.b+aside >= 1 && c.ends { // the step ends at the kink, and moves with it
		c.propose(j, 1, st.T1, c.e[c.parts][j])
		return
	}
	if v = p.ea; p.eb > v {
		v = p.eb
	}
	if a, b := max(p.a-aside, 0), min(p.b+aside, 1); c.propose(j, a, when(st, theta), v) {
		_, before := c.lookAt(j, st, a)
		_, behind := c.lookAt(j, st, b)
		top := &c.tops[j]
		top.behind, top.share = place{c.present, b}, before/(before-behind)
		top.timeBefore, top.timeBehind = when(st, a), when(st, b)
	}
}

// mostTies is how many maxima beside the largest are noted.
const mostTies = 64

// note notes a maximum beside the largest so far. Whether it is as large is known at the end of the run.
func (t *top) note(x other) {
	if len(t.others) == mostTies {
		lowest := slices.MinFunc(t.others, func(a, b other) int { return cmp.Compare(a.height, b.height) })
		if x.height < lowest.height {
			return
		}
		at := slices.Index(t.others, lowest)
		t.others = slices.Delete(t.others, at, at+1)
	}
	x.Tie = true
	t.others = append(t.others, x)
}

// propose offers a maximum of expression j in the present step.
func (c *peakFinder) propose(j int, theta, t, v float64) bool {
	return c.offer(j, place{c.present, theta}, t, v)
}

// offer offers a maximum of expression j, and reports whether it is the largest so far.
func (c *peakFinder) offer(j int, at place, t, v float64) bool {
	top := &c.tops[j]
	top.size = max(top.size, math.Abs(v))
	if lower := min(v, top.Value); top.some && top.low < lower-float64(c.tie*top.size) { // it was smaller in between
		x := other{top.spot(at, t), lower, lower - top.low}
		if v > top.Value {
			x.Spot = top.spot(top.at, top.T)
		}
		top.note(x)
	}
	switch {
	case top.some && v == top.Value && !(top.low < v):
		top.Held, top.until = true, top.spot(at, t)
		top.until.Kept = true
		if happens := at.theta == 0 && c.fresh || at.theta == 1 && c.ends; happens && len(top.kept) < mostTies {
			top.kept = append(top.kept, top.until)
		}
		if !c.late {
			return false
		}
	case top.some && !(v > top.Value):
		return false
	default:
		top.Held, top.kept, top.dosed, top.first = false, top.kept[:0], top.dosed[:0], t
	}
	top.some, top.low = true, v
	top.Value, top.T, top.at, top.share, top.timeBefore = v, t, at, 0, t
	return true
}

// mark implements observer.
func (c *peakFinder) mark(m *solvers.Mark, functionals []float64) {
	switch m.Kind {
	case solvers.MarkFire:
		c.fire(m)
	case solvers.MarkFinal:
		c.sys.Enter(m.Dp, m.Mp)
		c.final(m)
		for i := range c.tops {
			p := c.peak(i)
			functionals[p.Element] = p.Value
		}
	}
}

// end implements observer.
func (c *peakFinder) end(res *Result) []reading {
	for i := range c.tops {
		res.Peaks = append(res.Peaks, c.peak(i))
	}
	return readings(res.Peaks)
}

// final looks at the right limits at the end of the run, which the system has entered.
func (c *peakFinder) final(m *solvers.Mark) {
	c.obj.Heights(m.T, m.Yp, c.at)
	for j, v := range c.at {
		if c.looked && !c.fired && c.tops[j].leapt != m.T && v == c.e[c.parts][j] {
			continue // nothing happened after the last step
		}
		c.tops[j].nan = c.tops[j].nan || v != v
		if c.tops[j].moved == m.T || c.tops[j].leapt == m.T {
			c.brink(j, place{c.present, 0}, m.T, float64(0x1p-30*(c.now-c.began)), v, m.Yp)
		}
		c.propose(j, 0, m.T, v)
	}
}

// peak returns the peak of expression j. It is not a number where the expression was not one somewhere.
func (c *peakFinder) peak(j int) Peak {
	top := c.tops[j]
	far := float64(c.tie * top.size)
	least, highest := top.Value-far, math.Inf(-1)
	for _, x := range top.others {
		if !(x.height >= least && x.deep > far) {
			continue
		}
		top.ties = append(top.ties, x.Spot)
		if x.height >= highest {
			top.Other, highest = x.T, x.height
		}
	}
	l, near, span := &top.level, c.flat(&top), c.now-c.began
	if top.was.before(l, near) {
		l = &top.was
	}
	top.Level = l.some && l.high >= top.Value-near && l.last.T-l.first.T >= float64(leastLevel*span)
	if top.Level && c.late {
		top.also = append(append(top.also, l.first, l.last), l.happened...)
	}
	if top.Held && c.late && top.T-top.first > float64(0x1p-30*span) {
		top.also = append(top.also, top.kept...)
	}
	for _, b := range top.brinks {
		if b.low < least {
			continue
		}
		if top.Level = true; c.late {
			top.also = append(top.also, b.sides[:]...)
		}
	}
	if top.nan {
		top.Value = math.NaN()
	}
	return top.Peak
}

// flat is how far an expression may change in a level. Where it comes to rest, what had moved it does so by little more
// than that: derivatives are the same at its beginning and at its end.
func (c *peakFinder) flat(t *top) float64 { return float64(min(1e-3*c.tie, 1e-10) * t.size) }

// leastLevel is the part of a run that a level must last. A smooth maximum is as flat only where the expression changes
// little in the whole run.
const leastLevel = 1.0 / 64
