package system

import (
	"math"

	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// byTime is a vector of functions of time, of parameters, discretes and modes, that a tape makes: the tape, and one
// that makes their slopes as well.
type byTime struct {
	output         tapec.Name
	values, slopes *tape.Tape
	jumps          [][]tape.Value // see tapec.ByTime
}

// newByTime returns the functions that an output of t holds.
func newByTime(t *tape.Tape, output tapec.Name) *byTime {
	slopes, jumps := tapec.ByTime(t, output.String())
	return &byTime{output, t, slopes, jumps}
}

// timeline evaluates functions of time: at times, and over intervals of time. What does not depend on time is computed
// when the other inputs are set. It belongs to one goroutine.
type timeline struct {
	*byTime
	point    *tape.Evaluator[float64]
	box      *tape.Evaluator[tape.Interval]
	runPoint func() // compute what depends on time
	runBox   func()
	t        []float64        // of the point; nil where no function depends on time, as are those of the box
	stretch  []tape.Interval  // of the box
	value    []float64        // at the point
	bound    []tape.Interval  // over the box
	slope    []*tape.Interval // of each function; nil where there is none
	parts    []timelinePart
	inputs   []timelineInput
}

// timelinePart is some of the functions, from one on, whose slopes are one value of the tape.
type timelinePart struct {
	from, to int
	run      func() // compute these slopes and nothing else
}

// timelineInput is an input other than time: elements of a vector from one on.
type timelineInput struct {
	vec   vector
	from  int
	point []float64
	box   []tape.Interval
}

func newTimeline(b *byTime, l *layout) *timeline {
	time, out := tapec.Time.Name(), b.output
	tl := &timeline{
		byTime: b, point: tape.NewEvaluator[float64](b.values), box: tape.NewEvaluator[tape.Interval](b.slopes),
	}
	tl.runPoint, tl.runBox = tl.point.Following(time.String()), tl.box.Following(time.String())
	tl.t, tl.stretch = tl.point.Input(time.String()), tl.box.Input(time.String())
	tl.value = tl.point.Output(out.String())
	tl.bound = tl.box.Output(out.String())
	tl.divide()
	for _, in := range b.values.Inputs {
		if in.Name != time.String() {
			at, point, box := l.part(tapec.MustName(in.Name)), tl.point.Input(in.Name), tl.box.Input(in.Name)
			tl.inputs = append(tl.inputs, timelineInput{at.vec, at.offset, point, box})
		}
	}
	if rate := tl.box.Input(time.Dot().String()); rate != nil {
		rate[0] = tape.Point(1)
	}
	return tl
}

// set takes the parameters, discretes and modes from in.
func (l *timeline) set(in *frame) {
	for _, to := range l.inputs {
		from := in[tapec.Primal][to.vec][to.from:]
		copy(to.point, from)
		for i := range to.box {
			to.box[i] = tape.Point(from[i])
		}
	}
	l.point.Run()
	l.box.Run()
}

// at computes the functions at t.
func (l *timeline) at(t float64) {
	if l.t != nil {
		l.t[0] = t
		l.runPoint()
	}
}

// over computes enclosures of the functions over [lo, hi], and of their slopes.
func (l *timeline) over(lo, hi float64) {
	if l.stretch != nil {
		l.stretch[0] = tape.Interval{Lo: lo, Hi: hi}
		l.runBox()
	}
}

// divide finds the parts.
func (l *timeline) divide() {
	t := l.slopes
	v, ok := t.Output(l.output.Dot().String())
	if !ok || l.stretch == nil {
		l.parts = []timelinePart{{0, len(l.bound), func() {}}}
		return
	}
	values := []tape.Value{v}
	if in := t.Instr(v); in != nil && in.Op == tape.Concat {
		values = in.Args
	}
	for _, v := range values {
		slopes := l.box.Value(v)
		p := timelinePart{from: len(l.slope), to: len(l.slope) + len(slopes)}
		for i := range slopes {
			l.slope = append(l.slope, &slopes[i])
		}
		needed := []tape.Value{v}
		for _, jumps := range l.jumps[p.from:p.to] {
			needed = append(needed, jumps...)
		}
		p.run = l.box.Toward(needed, tapec.Time.Name().String())
		l.parts = append(l.parts, p)
	}
}

// slopesOver computes the enclosures of the slopes of a part over [lo, hi].
func (l *timeline) slopesOver(p *timelinePart, lo, hi float64) {
	if l.stretch != nil {
		l.stretch[0] = tape.Interval{Lo: lo, Hi: hi}
	}
	p.run()
}

// slopeOf returns the enclosure of the slope of function k, which holds NaN where the function may jump.
func (l *timeline) slopeOf(k int) tape.Interval {
	if l.slope == nil {
		return tape.Point(math.NaN())
	}
	for _, v := range l.jumps[k] {
		for _, x := range l.box.Value(v) {
			if x.Lo != x.Hi {
				return tape.Point(math.NaN())
			}
		}
	}
	return *l.slope[k]
}
