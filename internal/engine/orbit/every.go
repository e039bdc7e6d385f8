// Package orbit finds states that repeat after a period: fixed points of the map from the border of a period to the
// next one. What crosses a border belongs to the state: the states proper, discretes, and executions that wait, in
// their order. It also says which times of repeating events fall into a period, if what happens in the run has always
// happened.
//
// It sees runs over one period and their derivatives (Runner), and knows nothing of how they are made.
package orbit

import "math"

// Close is the part of a period within which two times are one.
const Close = 1e-9

// Every is a repeating event of a run. It comes at From + k·Period for k = 0, 1, … below Count, up to To. Both are +Inf
// where nothing ends it.
type Every struct{ From, Period, To, Count float64 }

// Fit says how the times of a repeating event agree with a period.
type Fit uint8

// The fits.
const (
	Always  Fit = iota // it has always come, and comes equally often in each period
	Once               // all of its times are in the first period of the run, and happen in each
	Never              // it has no time in the run
	Unequal            // it does not come at equal times in each period: an error
	Broken             // some of its times are in the first period and some beyond, but too few for a period: an error
)

// Course is what a repeating event does in each period.
type Course struct {
	Fit Fit
	// Skip is k of its first time in a period that begins where the run does. Of an event that has always come it is
	// negative where times of before From fall into the run: these wait at its start.
	Skip  int
	Count int // how many times it comes in a period
}

// Course returns what e does in periods of a given length of a run from t0. A time at t0 that is not From is one of the
// period that ends there.
func (e Every) Course(t0, period float64) Course {
	tol := float64(Close * period)
	times := e.Count
	if !math.IsInf(e.To, 1) {
		times = min(times, math.Floor((e.To-e.From)/e.Period+Close)+1)
	}
	past := 0.0 // times before the run
	if e.From < t0-tol {
		past = math.Ceil((t0 - tol - e.From) / e.Period)
	}
	if !(times > past) {
		return Course{Fit: Never}
	}
	first, last := math.FMA(past, e.Period, e.From), math.FMA(times-1, e.Period, e.From)
	if last < t0+period-tol {
		return Course{Fit: Once, Skip: int(past), Count: int(times - past)}
	}
	each := math.Round(period / e.Period)
	if each < 1 || math.Abs(math.FMA(-each, e.Period, period)) > tol {
		return Course{Fit: Unequal}
	}
	if last-first < period-e.Period-tol {
		return Course{Fit: Broken}
	}
	c := Course{Skip: int(past), Count: int(each)}
	if first > t0+tol {
		c.Skip = 1 - int(min(math.Ceil((first-t0-tol)/e.Period), 1<<53))
	}
	return c
}

// Late returns how many periods pass in a run before e comes as it does in later ones.
func (c Course) Late() int {
	if c.Fit != Always || c.Skip >= 0 {
		return 0
	}
	return (-c.Skip + c.Count - 1) / c.Count
}

// In returns the course in period n of a run, counted from 0, in which nothing has happened before it began.
func (c Course) In(n int) Course {
	if c.Fit == Always && n < c.Late() {
		missing := min(-c.Skip-n*c.Count, c.Count)
		c.Skip, c.Count = c.Skip+missing, c.Count-missing
	}
	return c
}
