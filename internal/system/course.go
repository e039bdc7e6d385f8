package system

import (
	"math"

	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// timeline evaluates functions of time, of parameters, discretes and modes, that a tape makes: at times, and over
// intervals of time. What does not depend on time is computed when it is set.
type timeline struct {
	values         *tape.Evaluator[float64]
	bounds         *tape.Evaluator[tape.Interval]
	follow, within func() // compute what depends on time
	t              []float64
	over, rate     []tape.Interval
	jumps          [][]tape.Value // of the functions; see tapec.ByTime
	f              []float64
	bound, slope   []tape.Interval // slope is nil for none
	inputs         []timelineInput
}

// timelineInput is an input that does not depend on time: elements of a vector.
type timelineInput struct {
	vec      vector
	from     int
	values   []float64
	interval []tape.Interval
}

// newTimeline returns a timeline of an output of t, a vector.
func newTimeline(t *tape.Tape, output tapec.Name, find finder) (*timeline, error) {
	out, time := output.String(), tapec.Time.Name()
	with, jumps := tapec.ByTime(t, out)
	l := &timeline{
		values: tape.NewEvaluator[float64](t), bounds: tape.NewEvaluator[tape.Interval](with), jumps: jumps,
	}
	l.follow, l.within = l.values.Following(time.String()), l.bounds.Following(time.String())
	l.t, l.over = l.values.Input(time.String()), l.bounds.Input(time.String())
	l.rate = l.bounds.Input(time.Dot().String())
	l.f, l.bound, l.slope = l.values.Output(out), l.bounds.Output(out), l.bounds.Output(output.Dot().String())
	for _, in := range t.Inputs {
		name, at, err := place(in.Name, find)
		if err != nil {
			return nil, err
		}
		if name == time {
			continue
		}
		l.inputs = append(l.inputs, timelineInput{at.vec, at.offset, l.values.Input(in.Name), l.bounds.Input(in.Name)})
	}
	if l.rate != nil {
		l.rate[0] = tape.Point(1)
	}
	return l, nil
}

// set takes the parameters, discretes and modes from in.
func (l *timeline) set(in *frame) {
	for _, to := range l.inputs {
		from := in[tapec.Primal][to.vec][to.from:]
		copy(to.values, from)
		for i := range to.interval {
			to.interval[i] = tape.Point(from[i])
		}
	}
	l.values.Run()
	l.bounds.Run()
}

// at computes the functions at t.
func (l *timeline) at(t float64) {
	if l.t != nil {
		l.t[0] = t
		l.follow()
	}
}

// between computes enclosures of the functions over [lo, hi], and of their slopes.
func (l *timeline) between(lo, hi float64) {
	if l.over != nil {
		l.over[0] = tape.Interval{Lo: lo, Hi: hi}
		l.within()
	}
}

// slopes writes the enclosures of slopes. Those of functions that may jump hold NaN.
func (l *timeline) slopes(to []tape.Interval) {
	for k := range to {
		if to[k] = tape.Point(math.NaN()); l.slope != nil && l.steady(l.jumps[k]) {
			to[k] = l.slope[k]
		}
	}
}

// steady reports whether the values of a list are constant.
func (l *timeline) steady(list []tape.Value) bool {
	for _, v := range list {
		for _, x := range l.bounds.Value(v) {
			if x.Lo != x.Hi {
				return false
			}
		}
	}
	return true
}
