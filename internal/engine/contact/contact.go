// Package contact is the algebra of coincidences: what a run does, to first order, where several causes come at one
// time and something moves them apart a little.
//
// A cause is a guard, a direction and a reset, on a state z that has all that what happens can change: states,
// discretes, functionals (integrals, and what observations have added up), modes, whether the run is over. Events,
// changes of mode, bounds of integrals, knots, observations and the end of a run are causes, and so is a condition that
// falls. There is one algebra for them, and no list of pairs.
//
// Along a direction (a motion dz of z at a fixed time, and of params) a group of causes is followed in the scale of the
// motion: Group.Follow keeps (z, modes, x, s), where s is the shift of time so far and x the motion of z at that moving
// time. Between two causes x grows by the rates F times the shift. A cause comes where its margin, to first order
// h'x + h_t s + h_p dp, is zero; of those that are left the least shift comes next. A reset R turns x into
// R'x + R_t s + R_p dp; the rates that follow are those of the new z and modes. At the end the motion at a fixed time
// is x - F s. The product of these steps is that of saltation matrices S = R' + (R'F⁻ + R_t - F⁺) a, with
// a = -h'/(h'F⁻ + h_t), for the order that the direction has; but nothing needs to know that order beforehand: a reset
// may push a guard over its threshold, disarm it, or turn it back, and the sequences of two sides may have different
// lengths.
//
// Numbers come from derivatives at the point itself, so they are exact. What conditions hold, which decides what
// happens, comes from looks: the model's own conditions are evaluated a little way along the motion, in the middle
// between two causes (Local.Look). There, conditions made of several atoms, levels, windows and nested modes need no
// rules of their own. Atoms (comparisons without and, or, not) only say where to look.
//
// What comes at one shift comes in the order of a run: events by priority and place in the file, then modes, then what
// these set off, then observations, then the end. Group.Follow along no direction therefore does what the run did. That
// is compared with the run (Group.Check): where the two differ the group has something that this package does not know,
// and nothing is said of it.
//
// Two sides of one column are two directions, each followed on its own through all groups of a run. This is the
// triangular recursion of the abs-normal form, done forwards: the side at a later group depends on the sides before,
// and jumps do not add. Where the values at the end of a group differ, the result leaps, and there is no derivative.
//
// Not here: tangential contact (h'F + h_t = 0), equal largest values of max_over, kinks of functions of params alone,
// sliding. A group with any of these is an *UnknownError.
//
// The package knows no solver and no model: it sees a Local.
package contact

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// Kind is a kind of instant.
type Kind uint8

// The kinds of instant.
const (
	Fires    Kind = iota // an event
	Rechoose             // modes are chosen anew: bounds of integrals, knots
	Reads                // an observation
	Ends                 // the run
)

// Event is an element of an event.
type Event struct {
	Name     string
	Priority float64
	Once     bool
}

// Condition makes an event happen as it becomes true; a crossing as its sign changes.
type Condition struct {
	Event    int // of Group.Events
	Crossing bool
	Way      int8 // of a crossing: 1 for up, -1 for down, 0 for either
}

// Instant is a time that follows from params and discretes.
type Instant struct {
	Name  string
	Kind  Kind
	Event int // of Group.Events, or -1
}

// Sight is what holds somewhere.
type Sight struct {
	M      []float64 // the modes that are chosen there
	Holds  []bool    // [conditions]; of a crossing, whether its margin is positive
	Passes []bool    // [conditions] whether a crossing counts
}

// Local is a model about the point of a coincidence, and the motion of its params. z and dz have the same length n.
// Nothing may be kept of what is handed over.
type Local interface {
	// Rates writes the rates k[n] of z with modes m.
	Rates(z, m, k []float64)
	// Margins returns the margins of the atoms at z, and how they change where z moves by dz, time by dt, and params by
	// params times their motion. The results hold until the next call.
	Margins(z, m, dz []float64, dt, params float64) (margin, slope []float64)
	// Times returns how long after the point each instant comes, and how that changes where z moves by dz and params
	// move. NaN stands for one that does not come. The results hold until the next call.
	Times(z, dz []float64) (after, slope []float64)
	// Look returns what holds at z + e x and dt e after the point, with params moved by e times their motion. before
	// are the modes that hold. The result holds until the next call.
	Look(z, before, x []float64, dt, e float64) Sight
	// Fire applies the body of an event to z, and to its motion x where time moves by dt. nth is how many times it has
	// happened before, instant is what sets it off, or -1. It adds what is read there to the functionals. It reports
	// whether the body stops the run.
	Fire(event, nth, instant int, z, x []float64, dt float64) (stop bool)
	// Read adds what an observation reads, or the end of the run, to the functionals in z and x. zm and xm are the left
	// limits.
	Read(instant int, zm, xm, z, x []float64, dt float64)
}

// Group is a group of causes at one time.
type Group struct {
	Local
	Events     []Event
	Conditions []Condition
	Instants   []Instant
	Z, M       []float64 // left limits
	Happened   []int     // [events] how many times each has happened before
	Near       float64   // how long before or after the point a cause counts as one of the group
	Reach      float64   // how long before or after it looks are taken; Near is a small part of that
	Each       bool      // what follows from a body comes right after it
	Far        float64   // how far times have moved before; shifts that are small beside that may be rounding
	// Holds has conditions that cease to hold at one time with something that makes them hold again never cease to. At
	// one and the same time, rounding decides.
	Holds bool
	// Lot, if not nil, draws the place of an event among those of equal priority that come at one time. nth is how many
	// times it has happened before, instant what sets it off, or -1, and already how many events have happened.
	Lot func(event, nth, instant, already int) uint64
}

// Step is something that happened in a group, with all that came at the same shift of time.
type Step struct {
	Shift    float64
	Events   []int // in their order
	Instants []int
	Modes    []int // those that changed
}

// Side is what a group does along a direction.
type Side struct {
	Z, M  []float64 // right limits
	DZ    []float64 // the motion of Z, at a fixed time
	Over  bool      // the run is
	Story []Step
	// Outside are the instants that come before the run begins, or after it is over: nothing is read there.
	Outside []int
}

// UnknownError says that a group cannot be followed.
type UnknownError struct{ Why string }

func (e *UnknownError) Error() string { return "contact: " + e.Why }

// errSlides and its like are what groups cannot be followed for.
var (
	errSlides  = &UnknownError{"modes change without end: the solution slides, or touches its threshold"}
	errUnclear = &UnknownError{"the modes before the group are not those of the run"}
	errMany    = &UnknownError{"more happens at one time than is followed"}
	errNaN     = &UnknownError{"a motion is not a number"}
)

// Unknown reports whether err says that a group cannot be followed.
func Unknown(err error) bool {
	var u *UnknownError
	return errors.As(err, &u)
}

// mostSteps limits what happens in a group along one direction.
const mostSteps = 4096

// follower is the state of Follow.
type follower struct {
	*Group
	z, m, x, k []float64
	s          float64
	done       []bool // [instants]
	outside    []int  // Side.Outside
	count      []int  // [events]
	holds      []bool // [conditions]
	unit       float64
	tie        float64 // shifts that differ by no more are one
	e          float64 // from shifts to time
	over       bool
	story      []Step
	now        *Step
	steps      int
	already    int // how many events happened before the present shift
}

// follower returns what begins to follow the group.
func (g *Group) follower(dz []float64) *follower {
	f := &follower{
		Group: g, z: slices.Clone(g.Z), m: slices.Clone(g.M), x: slices.Clone(dz), k: make([]float64, len(g.Z)),
		done: make([]bool, len(g.Instants)), count: slices.Clone(g.Happened), now: &Step{},
	}
	if len(f.count) < len(g.Events) {
		f.count = make([]int, len(g.Events))
	}
	f.Rates(f.z, f.m, f.k)
	return f
}

// Follow follows the group where z moves by dz, and params as Local has it.
func (g *Group) Follow(dz []float64) (*Side, error) {
	f := g.follower(dz)
	roots, err := f.roots()
	if err != nil {
		return nil, err
	}
	if len(roots) > 0 {
		f.scale(roots)
		if err := f.run(slices.Min(roots)); err != nil {
			return nil, err
		}
	}
	return f.side(), nil
}

// Begin follows the group at the start of a run, which moves by start: dz is the motion of the initial Z at that time.
// What would come before does not, and a condition that holds as the run begins has not come to hold.
func (g *Group) Begin(dz []float64, start float64) (*Side, error) {
	f := g.follower(dz)
	f.s = start
	after, slope := f.Times(f.z, f.x)
	for i, t := range after {
		f.done[i] = math.Abs(t) <= f.Near && slope[i] < start-float64(1e-9*max(math.Abs(start), math.Abs(slope[i])))
		if f.done[i] {
			f.outside = append(f.outside, i)
		}
	}
	roots, err := f.roots()
	if err != nil {
		return nil, err
	}
	f.scale(append(roots, start))
	sight := f.Look(f.z, f.m, f.x, start, f.e)
	copy(f.m, sight.M)
	f.holds = slices.Clone(sight.Holds)
	if err := f.on(); err != nil {
		return nil, err
	}
	return f.side(), nil
}

// side returns what has come of it.
func (f *follower) side() *Side {
	if f.over {
		after, _ := f.Times(f.z, f.x)
		for i, t := range after {
			if !f.done[i] && math.Abs(t) <= f.Near {
				f.outside = append(f.outside, i)
			}
		}
	} else {
		f.advance(0)
	}
	return &Side{Z: f.z, M: f.m, DZ: f.x, Over: f.over, Story: f.story, Outside: f.outside}
}

// rounded is the part of how far times have moved that rounding makes of shifts.
const rounded = 1e-12

// scale chooses how far to look, from the shifts of the causes. What differs by less than a millionth of them is one.
func (f *follower) scale(roots []float64) {
	lo, hi := slices.Min(roots), slices.Max(roots)
	size := max(math.Abs(lo), math.Abs(hi))
	if f.unit = hi - lo; !(f.unit > float64(1e-9*size)) {
		f.unit = size
	}
	noise := float64(rounded * f.Far)
	if f.unit <= noise {
		f.unit = f.Far
	}
	if f.unit == 0 {
		f.unit = 1
	}
	f.tie = max(float64(1e-9*max(f.unit, float64(1e-3*size))), noise)
	f.e = f.Reach / f.unit
}

// roots returns the shifts at which causes come, near the point, without looking at what has come.
func (f *follower) roots() (list []float64, err error) {
	margin, value := f.Margins(f.z, f.m, f.x, f.s, 1)
	margin, value = slices.Clone(margin), slices.Clone(value)
	_, rate := f.Margins(f.z, f.m, f.k, 1, 0)
	for i, r := range rate {
		if !(math.Abs(margin[i]) <= float64(f.Near*math.Abs(r))) || r == 0 {
			continue
		}
		at := f.s - value[i]/r
		if at-at != 0 {
			return nil, errNaN
		}
		list = append(list, at)
	}
	after, slope := f.Times(f.z, f.x)
	for i, t := range after {
		if !f.done[i] && math.Abs(t) <= f.Near {
			if slope[i]-slope[i] != 0 {
				return nil, errNaN
			}
			list = append(list, slope[i])
		}
	}
	return list, nil
}

// advance moves on to a shift.
func (f *follower) advance(to float64) {
	for i, k := range f.k {
		f.x[i] = math.FMA(to-f.s, k, f.x[i])
	}
	f.s = to
}

// next returns the shift of what comes next, +Inf for nothing.
func (f *follower) next() (float64, error) {
	roots, err := f.roots()
	first := math.Inf(1)
	for _, at := range roots {
		if at > f.s+f.tie {
			first = min(first, at)
		}
	}
	return first, err
}

// look returns what holds soon after the present shift.
func (f *follower) look() (Sight, error) {
	f.Rates(f.z, f.m, f.k)
	next, err := f.next()
	if err != nil {
		return Sight{}, err
	}
	far := f.unit
	if next < math.Inf(1) {
		far = 0.5 * (next - f.s)
	}
	x := slices.Clone(f.x)
	for i, k := range f.k {
		x[i] = math.FMA(far, k, x[i])
	}
	return f.Look(f.z, f.m, x, f.s+far, f.e), nil
}

// run follows the group from before its first cause.
func (f *follower) run(first float64) error {
	f.advance(first - f.unit)
	s := f.Look(f.z, f.m, f.x, f.s, f.e)
	if !slices.Equal(s.M, f.m) {
		return errUnclear
	}
	f.holds = slices.Clone(s.Holds)
	f.advance(first)
	return f.on()
}

// on goes on from the present shift, at which something comes.
func (f *follower) on() error {
	for {
		if err := f.moment(); err != nil || f.over {
			return err
		}
		f.Rates(f.z, f.m, f.k)
		next, err := f.next()
		if err != nil {
			return err
		}
		if math.IsInf(next, 1) {
			return nil
		}
		if f.steps++; f.steps > mostSteps {
			return errMany
		}
		f.advance(next)
	}
}

// due returns the instants that come at the present shift; with some, those of events alone.
func (f *follower) due(some bool) (list []int) {
	after, slope := f.Times(f.z, f.x)
	for i, t := range after {
		if some && f.Instants[i].Kind != Fires {
			continue
		}
		if f.done[i] && !(math.Abs(t) <= f.Near) {
			f.done[i] = false // it has another time now
		}
		if !f.done[i] && math.Abs(t) <= f.Near && slope[i] <= f.s+f.tie {
			f.done[i] = true
			list = append(list, i)
		}
	}
	return list
}

// member is an event of a wave.
type member struct{ event, instant int }

// moment has all happen that comes at the present shift.
func (f *follower) moment() error {
	now := Step{}
	f.now, f.already = &now, 0
	for _, n := range f.count {
		f.already += n
	}
	left, leftX := slices.Clone(f.z), slices.Clone(f.x)
	jumped, ends := false, -1
	var sites []int
	for round := 0; ; round++ {
		sight, err := f.look()
		if err != nil {
			return err
		}
		wave, held := f.rising(sight, f.Group.Holds && round == 0), f.changing(sight.M)
		for _, i := range f.due(false) {
			now.Instants = append(now.Instants, i)
			switch in := &f.Instants[i]; in.Kind {
			case Fires:
				wave = append(wave, member{in.Event, i})
			case Reads:
				sites = append(sites, i)
			case Ends:
				ends = i
			}
		}
		if len(wave) == 0 && round > 0 {
			break
		}
		jumped = jumped || len(wave) > 0
		if err := f.wave(wave, held); err != nil {
			f.tell(now)
			return err
		}
		if f.over { // what is read at the time of a stop, or at the end, is read
			ends = slices.IndexFunc(f.Instants, func(in Instant) bool { return in.Kind == Ends })
			break
		}
		if err := f.choose(); err != nil {
			return err
		}
	}
	f.read(sites, ends, jumped, left, leftX)
	f.tell(now)
	return nil
}

// read has observations, and the end of the run, read.
func (f *follower) read(sites []int, ends int, jumped bool, left, leftX []float64) {
	if ends >= 0 {
		sites, f.over = append(sites, ends), true
	}
	for _, i := range sites {
		if !jumped {
			left, leftX = slices.Clone(f.z), slices.Clone(f.x)
		}
		f.Read(i, left, leftX, f.z, f.x, f.s)
	}
}

// tell adds a step to the story.
func (f *follower) tell(now Step) {
	if len(now.Events)+len(now.Instants)+len(now.Modes) > 0 {
		now.Shift = f.s
		f.story = append(f.story, now)
	}
}

// rising lists the events whose conditions have come to hold, and notes what holds; what does not hold any more only
// unless that may yet change.
func (f *follower) rising(s Sight, may bool) (list []member) {
	for i, holds := range s.Holds {
		c := &f.Conditions[i]
		rises, falls := holds && !f.holds[i], !holds && f.holds[i]
		if c.Crossing {
			rises = s.Passes[i] && (rises && c.Way >= 0 || falls && c.Way <= 0)
		}
		if rises && !slices.Contains(list, member{c.Event, -1}) {
			list = append(list, member{c.Event, -1})
		}
	}
	for i, holds := range s.Holds {
		f.holds[i] = holds || may && f.holds[i] && !f.Conditions[i].Crossing
	}
	return list
}

// changing tells which modes are to change.
func (f *follower) changing(to []float64) []bool {
	held := make([]bool, len(f.m))
	for i, m := range f.m {
		held[i] = math.Float64bits(m) != math.Float64bits(to[i])
	}
	return held
}

// sort puts a wave into the order of a run.
func (f *follower) sort(wave []member) {
	lot := func(m member) uint64 { return f.Lot(m.event, f.count[m.event], m.instant, f.already) }
	slices.SortStableFunc(wave, func(a, b member) int {
		if x, y := f.Events[a.event].Priority, f.Events[b.event].Priority; x != y {
			if x > y {
				return -1
			}
			return 1
		}
		if f.Lot != nil && a.event != b.event {
			if c := cmp.Compare(lot(a), lot(b)); c != 0 {
				return c
			}
		}
		return cmp.Compare(a.event, b.event)
	})
}

// wave has the events of a wave happen. Modes that change at the present shift wait until after it.
func (f *follower) wave(wave []member, held []bool) error {
	f.sort(wave)
	for len(wave) > 0 {
		m := wave[0]
		if wave = wave[1:]; f.Events[m.event].Once && f.count[m.event] > 0 {
			continue
		}
		if f.steps++; f.steps > mostSteps {
			return errMany
		}
		f.now.Events = append(f.now.Events, m.event)
		f.count[m.event]++
		if f.Fire(m.event, f.count[m.event]-1, m.instant, f.z, f.x, f.s) {
			f.over = true
			return nil
		}
		if len(f.m) == 0 && !f.Each {
			continue // nobody looks
		}
		sight, err := f.look()
		if err != nil {
			return err
		}
		f.take(sight.M, held)
		if f.Each {
			for _, i := range f.due(true) {
				f.now.Instants = append(f.now.Instants, i)
				wave = append(wave, member{f.Instants[i].Event, i})
			}
			wave = append(wave, f.rising(sight, false)...)
			f.sort(wave)
		}
	}
	return nil
}

// take makes modes present, but for those that wait.
func (f *follower) take(to []float64, held []bool) {
	for i, x := range to {
		if held != nil && held[i] || f.m[i] == x {
			continue
		}
		f.m[i] = x
		if !slices.Contains(f.now.Modes, i) {
			f.now.Modes = append(f.now.Modes, i)
		}
	}
}

// choose chooses the modes that hold after the present shift.
func (f *follower) choose() error {
	for range 16 {
		sight, err := f.look()
		if err != nil {
			return err
		}
		if slices.Equal(sight.M, f.m) {
			f.Rates(f.z, f.m, f.k)
			return nil
		}
		f.take(sight.M, nil)
	}
	return errSlides
}

// Alike reports whether two sides end in the same values, to rounding: otherwise the result leaps.
func (a *Side) Alike(b *Side) bool {
	return a.Over == b.Over && (a.Over || slices.Equal(a.M, b.M)) && Close(a.Z, b.Z)
}

// Close reports whether x and y are the same numbers, but for rounding.
func Close(x, y []float64) bool {
	for i, v := range x {
		if d := math.Abs(v - y[i]); d > float64(1e-9*max(math.Abs(v), math.Abs(y[i]), 1e-3)) {
			return false
		}
	}
	return true
}
