package orbit

import (
	"math"
	"slices"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/solvers"
)

// Flights are the repeating events of a run that begins with a state that repeats: they have always come. What began in
// an earlier period and falls into the run, before the first time that an event has there, waits at its start. A nil
// one is of a run that begins otherwise.
type Flights struct {
	List    []solvers.Instant
	Unmoved []bool // per instant: its time depends on no discrete
	Period  int    // the instant that holds the period
	Courses []Course
}

// Shift finds the courses of repeating events at times, and moves their first times to those of what waits at the
// start.
func (f *Flights) Shift(times []float64) {
	if f == nil || !(times[f.Period] > 0) {
		return
	}
	for i, in := range f.List {
		if in.Kind != solvers.InstantEvery || !(times[in.Period] > 0) {
			continue
		}
		e := Every{From: times[i], Period: times[in.Period], To: math.Inf(1), Count: math.Inf(1)}
		if in.To >= 0 {
			e.To = times[in.To]
		}
		if in.Count >= 0 {
			e.Count = times[in.Count]
		}
		c := e.Course(times[0], times[f.Period])
		if c.Fit == Always && c.Skip < 0 && !f.Unmoved[i] { // a body may move them at any time
			c.Fit = Unequal
		}
		f.Courses[i] = c
	}
	f.Repeat(times)
}

// Repeat moves times as the last Shift did.
func (f *Flights) Repeat(times []float64) {
	if f == nil {
		return
	}
	for i, in := range f.List {
		if k := f.Skip(i); k != 0 {
			times[i] = math.FMA(float64(k), times[in.Period], times[i])
			if in.Count >= 0 {
				times[in.Count] -= float64(k)
			}
		}
	}
}

// Skip returns by how many of its periods the first time of instant i is moved.
func (f *Flights) Skip(i int) int {
	if f == nil || f.Courses[i].Fit != Always {
		return 0
	}
	return min(f.Courses[i].Skip, 0)
}

// Late returns how many periods pass in a run before all repeating events come as they do in later ones.
func (f *Flights) Late() (late int) {
	for _, c := range f.Courses {
		late = max(late, c.Late())
	}
	return late
}

// Schedule has the times of one period.
type Schedule struct {
	*Flights
	N int // which period of the run it is
	// Later tells by how many periods the clock goes on; otherwise time begins anew with each period.
	Later int
	Start float64 // of the run
	// All are the instants of the run and, behind them, the counts of repeating events.
	All []solvers.Instant
	// Skips are by how many of their periods the first times of instants are moved beyond Flights.
	Skips []int
	// Aside tells of events that happen beside the run.
	Aside func(event int) bool
}

// NewSchedule returns the schedule of period n.
func NewSchedule(f *Flights, n, later int, start float64, aside func(event int) bool) *Schedule {
	s := &Schedule{Flights: f, N: n, Later: later, Start: start, All: slices.Clone(f.List), Aside: aside}
	s.Skips = make([]int, len(f.List))
	for i := range f.List {
		if in := &s.All[i]; in.Kind == solvers.InstantEvery {
			in.To, in.Count = -1, len(s.All)
			s.All = append(s.All, solvers.Instant{
				Kind: solvers.InstantValue, Event: in.Event, Period: -1, To: -1, Count: -1, Fixed: true,
			})
		}
	}
	s.All[1].Fixed = s.All[0].Fixed && s.All[f.Period].Fixed
	return s
}

// Set makes of the times of the run, which Shift has moved, those of the period.
func (s *Schedule) Set(times []float64) {
	period := times[s.Period]
	tol := float64(Close * period)
	shift := float64(float64(s.Later) * period)
	times[0] += shift
	start, end := times[0], times[0]+period
	times[1] = end
	for i := range s.List {
		switch in := &s.All[i]; {
		case in.Kind == solvers.InstantSite:
			times[i] = math.Inf(1)
		case in.Kind == solvers.InstantFire && in.Pending:
			if math.Abs(times[i]-end) <= tol { // it waits no more where the next period begins
				times[i] = end
			}
		case in.Kind == solvers.InstantFire:
			if s.Unmoved[i] {
				times[i] += shift // what happens once happens in each period
			}
			if s.Aside(in.Event) || times[i] >= end-tol { // what happens at the end belongs to the next period
				times[i] = math.Inf(1)
			}
		case in.Kind == solvers.InstantEvery:
			s.comes(i, start, end, times)
		}
	}
}

// comes sets the times of the repeating event of instant i.
func (s *Schedule) comes(i int, start, end float64, times []float64) {
	in, c := &s.All[i], s.Courses[i].In(s.N)
	period := times[in.Period]
	if s.Later > 0 && c.Fit == Always { // the clock goes on from the first time in the run
		tol := float64(Close * (end - start))
		from := math.FMA(float64(-s.Skip(i)), period, times[i])
		c.Skip = int(math.Ceil((start - tol - from) / period))
		if from > s.Start+tol && math.FMA(float64(c.Skip), period, from) <= start+tol { // of the period before
			c.Skip++
		}
	}
	s.Skips[i] = c.Skip - s.Skip(i)
	times[in.Count] = float64(c.Count)
	if c.Fit != Always && c.Fit != Once {
		times[in.Count] = 0
		return
	}
	first := math.FMA(float64(s.Skips[i]), period, times[i])
	if c.Fit == Once {
		first += start - s.Start
	}
	last := float64(c.Count - 1)
	for c.Count > 0 && math.FMA(last, period, first) > end { // but for rounding it is at the end
		first = math.Nextafter(first, math.Inf(-1))
	}
	times[i] = first
}

// Fits returns an error where an event does not come at the same times in each period.
func (s *Schedule) Fits(times []float64, name func(event, elem int) string) error {
	for i, in := range s.List {
		if in.Kind != solvers.InstantEvery {
			continue
		}
		period := diag.Number(times[s.Period])
		switch s.Courses[i].Fit {
		case Unequal:
			return Unrepeated("event %s comes every %s, and does not come at the same times in each period of %s; "+
				"equilibrate over whole numbers of both, or let the event come every %[3]s", name(in.Event, in.Elem),
				diag.Number(times[in.Period]), period)
		case Broken:
			return Unrepeated("some times of event %s are in the first period of %s and some are later, so they do "+
				"not repeat; write an event every %[2]s for each of them", name(in.Event, in.Elem), period)
		}
	}
	return nil
}
