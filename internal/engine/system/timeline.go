package system

import (
	"math"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/form"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// timeline evaluates functions of time: at times, and over intervals of time. What does not depend on time is computed
// when the other inputs are set. It belongs to one goroutine.
type timeline struct {
	*compiled.ByTime
	point    *tape.Evaluator[float64]
	box      *tape.Evaluator[tape.Interval]
	runPoint func() // compute what depends on time
	runBox   func()
	t        []float64        // of the point; nil where no function reads the time, as are those of the box
	stretch  []tape.Interval  // of the box
	value    []float64        // at the point
	bound    []tape.Interval  // over the box
	slope    []*tape.Interval // of each function; nil where there is none
	parts    []timelinePart
	inputs   []timelineInput
	computed bool // what does not depend on time, for the inputs as they are

	states []timelineState
	rates  *tape.Evaluator[float64] // of the states; nil for none
	rated  []timelineInput          // what they depend on
	since  float64                  // where the states were as they are noted
}

// timelinePart is some of the functions, from one on, whose slopes are one value of the tape.
type timelinePart struct {
	from, to int
	run      func() // compute these slopes and nothing else
}

// timelineInput is an input other than time: elements of a vector from one on.
type timelineInput struct {
	vec   vec.Vector
	from  int
	point []float64
	box   []tape.Interval
}

// timelineState is an even state.
type timelineState struct {
	from     int
	start    []float64 // its values
	rate     []float64
	point    []float64
	box, dot []tape.Interval
}

func newTimeline(b *compiled.ByTime, l *vec.Layout) *timeline {
	time, out := tapec.Time.Name(), b.Output
	tl := &timeline{
		ByTime: b, point: tape.NewEvaluator[float64](b.Values), box: tape.NewEvaluator[tape.Interval](b.Slopes),
	}
	moving, boxed := []string{time.String()}, []string{time.String()}
	if b.Rates != nil {
		tl.rates = tape.NewEvaluator[float64](b.Rates)
		for _, in := range b.Rates.Inputs {
			at := l.Part(tapec.MustName(in.Name))
			tl.rated = append(tl.rated, timelineInput{vec: at.Vec, from: at.Offset, point: tl.rates.Input(in.Name)})
		}
	}
	tl.t, tl.stretch = tl.point.Input(time.String()), tl.box.Input(time.String())
	tl.value = tl.point.Output(out.String())
	tl.bound = tl.box.Output(out.String())
	for _, in := range b.Values.Inputs {
		name := tapec.MustName(in.Name)
		if name == time {
			continue
		}
		at, point, box := l.Part(name), tl.point.Input(in.Name), tl.box.Input(in.Name)
		if name.Role != tapec.State {
			tl.inputs = append(tl.inputs, timelineInput{at.Vec, at.Offset, point, box})
			continue
		}
		tl.states = append(tl.states, timelineState{
			from: at.Offset, start: make([]float64, at.Len), rate: tl.rates.Output(tapec.Rate.Called(name.Of).String()),
			point: point, box: box, dot: tl.box.Input(name.Dot().String()),
		})
		moving, boxed = append(moving, in.Name), append(boxed, in.Name)
	}
	tl.runPoint, tl.runBox = tl.point.Following(moving...), tl.box.Following(boxed...)
	tl.divide(boxed)
	if rate := tl.box.Input(time.Dot().String()); rate != nil {
		rate[0] = tape.Point(1)
	}
	return tl
}

// set takes the parameters, discretes and modes from in, and even states from y at time t.
func (l *timeline) set(in *vec.Frame, t float64, y []float64) {
	if l.rates != nil {
		for _, to := range l.rated {
			copy(to.point, in[tapec.Primal][to.vec][to.from:])
		}
		l.rates.Run()
	}
	l.since = t
	for i := range l.states {
		s := &l.states[i]
		copy(s.start, y[s.from:])
		for k, r := range s.rate {
			if s.dot != nil {
				s.dot[k] = tape.Point(r)
			}
			s.point[k], s.box[k] = s.start[k], tape.Point(s.start[k])
		}
	}
	same := l.computed
	for _, to := range l.inputs {
		from := in[tapec.Primal][to.vec][to.from:]
		if same && vec.SameBits(to.point, from[:len(to.point)]) {
			continue
		}
		same = false
		copy(to.point, from)
		for i := range to.box {
			to.box[i] = tape.Point(from[i])
		}
	}
	if same && len(l.states) == 0 {
		return
	}
	l.point.Run()
	l.box.Run()
	l.computed = true
}

// At computes the functions at t.
func (l *timeline) At(t float64) []float64 {
	if l.t != nil {
		l.t[0] = t
	} else if l.states == nil {
		return l.value
	}
	for i := range l.states {
		s := &l.states[i]
		for k, r := range s.rate {
			s.point[k] = math.FMA(r, t-l.since, s.start[k])
		}
	}
	l.runPoint()
	return l.value
}

// Over computes enclosures of the functions over [lo, hi], and of their slopes.
func (l *timeline) Over(lo, hi float64) []tape.Interval {
	if l.span(lo, hi) {
		l.runBox()
	}
	return l.bound
}

// span makes [lo, hi] the stretch of the box, and reports whether anything depends on it.
func (l *timeline) span(lo, hi float64) bool {
	if l.stretch != nil {
		l.stretch[0] = tape.Interval{Lo: lo, Hi: hi}
	}
	for i := range l.states {
		s := &l.states[i]
		for k, r := range s.rate {
			a, b := math.FMA(r, lo-l.since, s.start[k]), math.FMA(r, hi-l.since, s.start[k])
			s.box[k] = tape.Interval{Lo: min(a, b), Hi: max(a, b)}
		}
	}
	return l.stretch != nil || l.states != nil
}

// divide finds the parts; moving are the inputs that change with time.
func (l *timeline) divide(moving []string) {
	t := l.Slopes
	v, ok := t.Output(l.Output.Dot().String())
	if !ok || l.stretch == nil && l.states == nil {
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
		for _, jumps := range l.Jumps[p.from:p.to] {
			needed = append(needed, jumps...)
		}
		p.run = l.box.Toward(needed, moving...)
		l.parts = append(l.parts, p)
	}
}

// form returns the form that the functions of a part have, or nil.
func (l *timeline) form(p *timelinePart) *form.Form {
	t := l.Slopes
	time, ok := t.Input(tapec.Time.Name().String())
	if !ok || l.states != nil {
		return nil
	}
	moves := tape.DependsOn(t, tapec.Time.Name().String())
	whole, _ := t.Output(l.Output.String())
	values := []tape.Value{whole}
	if in := t.Instr(whole); in != nil && in.Op == tape.Concat {
		values = in.Args
	}
	from := 0
	for _, v := range values {
		to := from + t.Shape(v).Size()
		if from == p.from && to == p.to && moves[v] {
			return form.Of(l.box, v, time, moves)
		}
		from = to
	}
	return nil
}

// slopesOver computes the enclosures of the slopes of a part over [lo, hi].
func (l *timeline) slopesOver(p *timelinePart, lo, hi float64) {
	l.span(lo, hi)
	p.run()
}

// Slope returns the enclosure of the slope of function k, which holds NaN where the function may jump.
func (l *timeline) Slope(k int) tape.Interval {
	if l.slope == nil {
		return tape.Point(math.NaN())
	}
	for _, v := range l.Jumps[k] {
		for _, x := range l.box.Value(v) {
			if x.Lo != x.Hi {
				return tape.Point(math.NaN())
			}
		}
	}
	return *l.slope[k]
}
