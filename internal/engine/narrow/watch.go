package narrow

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/bernstein"
	"odes.dev/odes/tape"
)

// Tapes are narrow parts of rates: functions of states that may be large in a small part of a step. What they are made
// of moves along a step as polynomials.
type Tapes struct {
	// Inner makes the inner values of time, states and constants, in its one output. Degrees are those of each of them
	// in time and states.
	Inner   *tape.Tape
	Degrees []int
	// Parts makes the parts of the inner values, its input Of, and of constants, in its output Out, with their
	// derivatives along a direction in which the inner values move by the input "dot." + Of; "dot." + Out. These are
	// missing where an op has none.
	Parts                *tape.Tape
	Of, DotOf, Out, Dots string
	Jumps                [][]tape.Value // what each part may jump with
}

// Place says where an input of the tapes comes from.
type Place struct {
	Time   bool
	State  bool
	From   int              // the first of its states
	Values func() []float64 // of what is constant between two events
}

// The bounds of the search.
const (
	// faint is the part of the largest value that a part may have below which it does not matter.
	faint = 1e-10
	// mostBoxes is how many boxes one step is looked at by, fewBoxes that number where fullBoxes and boxesAStep for
	// each step are used up.
	mostBoxes, fewBoxes   = 2000, 64
	fullBoxes, boxesAStep = 1 << 18, 32
	// leastPart is the part of a step that must have been looked at for the step to end there when boxes are used up.
	leastPart = 1.0 / 64
)

// Watch watches narrow parts along the steps of a run. It belongs to one goroutine.
type Watch struct {
	*Bands
	tapes  *Tapes
	states []int // that inner values read

	inner         *tape.Evaluator[float64]
	values        []float64 // of inner
	move          func()
	point         *tape.Evaluator[float64]
	parts         []float64
	reach         func() // the parts at a point
	box           *tape.Evaluator[tape.Interval]
	boxes         func()
	in, dot       []tape.Interval // inputs of box
	bound, slopes []tape.Interval // slopes is nil for none
	moving        []input         // of inner and of what spreads it
	constants     []input         // of all evaluators

	ignored []bool
	stale   bool        // constants may have changed
	known   bool        // they have been taken
	seen    [][]float64 // at nodes, for alone
	size    []float64   // the largest magnitude that a part has anywhere; 0 where that is not known
	credit  int         // of boxes

	calm
	course
}

// course is how inner values move along a path.
type course struct {
	path   *bernstein.Path
	base   []float64   // [inner] of the coefficients
	coeffs [][]float64 // [inner][degree+1]
	off    []float64   // [inner] how far rounding takes polynomials from values
	nodes  []float64   // scratch: values at nodes
	part   []float64   // scratch: coefficients
	state  []float64   // scratch: [states]
}

// input is an input of several evaluators.
type input struct {
	Place
	point []float64
	boxes [][]tape.Interval
	all   [][]float64
}

// New returns a watch of the parts in t, whose inputs come from where place says. watched tells which parts matter.
func New(t *Tapes, place func(name string) Place, watched func(part int) bool) *Watch {
	w := &Watch{
		tapes: t, stale: true, inner: tape.NewEvaluator[float64](t.Inner), point: tape.NewEvaluator[float64](t.Parts),
		box: tape.NewEvaluator[tape.Interval](t.Parts), calm: newCalm(t.Inner),
	}
	w.values = w.inner.Output(t.Inner.Outputs[0].Name)
	w.parts, w.bound, w.slopes = w.point.Output(t.Out), w.box.Output(t.Out), w.box.Output(t.Dots)
	w.in, w.dot = w.box.Input(t.Of), w.box.Input(t.DotOf)
	var moving []string
	for _, in := range t.Inner.Inputs {
		at := input{
			Place: place(in.Name), point: w.inner.Input(in.Name),
			boxes: [][]tape.Interval{w.spread.Input(in.Name)},
		}
		if at.Time || at.State {
			w.moving, moving = append(w.moving, at), append(moving, in.Name)
			w.timed = w.timed || at.Time
			for k := range at.point {
				if at.State {
					w.states = append(w.states, at.From+k)
				}
			}
			continue
		}
		at.all = [][]float64{at.point}
		w.constants = append(w.constants, at)
	}
	for _, in := range t.Parts.Inputs {
		if in.Name != t.Of && in.Name != t.DotOf {
			at := input{Place: place(in.Name), boxes: [][]tape.Interval{w.box.Input(in.Name)}}
			at.all = [][]float64{w.point.Input(in.Name)}
			w.constants = append(w.constants, at)
		}
	}
	w.move, w.spreads = w.inner.Following(moving...), w.spread.Following(moving...)
	out, _ := t.Parts.Output(t.Out)
	w.reach, w.boxes = w.point.Toward([]tape.Value{out}, t.Of), w.box.Following(t.Of, t.DotOf)
	n := len(w.parts)
	w.Bands = NewBands(w, n, 1)
	w.ignored, w.size = make([]bool, n), make([]float64, n)
	for k := range n {
		w.ignored[k] = !watched(k)
	}
	w.base, w.off = make([]float64, len(w.values)), make([]float64, len(w.values))
	w.coeffs = make([][]float64, len(w.values))
	w.state = make([]float64, len(w.states))
	return w
}

// Begin forgets what is known, at the start of a run.
func (w *Watch) Begin() { w.stale, w.credit = true, fullBoxes }

// Spoil notes that what was constant may have changed.
func (w *Watch) Spoil() { w.stale = true }

// refresh takes the constants.
func (w *Watch) refresh() {
	if !w.stale {
		return
	}
	w.stale = false
	same := w.known
	for i := range w.constants {
		c := &w.constants[i]
		from := c.Values()
		for _, to := range c.all {
			same = same && slices.Equal(to, from[:len(to)])
			copy(to, from)
		}
		for _, to := range c.boxes {
			for k := range to {
				to[k] = tape.Point(from[k])
			}
		}
	}
	if same {
		return
	}
	w.calm.forget()
	w.known = true
	for _, run := range []func(){w.inner.Run, w.point.Run, w.spread.Run} {
		run()
	}
	for i := range w.in {
		w.in[i] = tape.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}
		if w.dot != nil {
			w.dot[i] = tape.Point(0)
		}
	}
	w.box.Run()
	for k, b := range w.bound {
		w.size[k] = 0
		if size := magnitude(b); size <= math.MaxFloat64 {
			w.size[k] = size
		}
	}
}

func magnitude(x tape.Interval) float64 { return max(math.Abs(x.Lo), math.Abs(x.Hi)) }

// set gives the inner values' tape a time and states.
func (w *Watch) set(t float64, y []float64) {
	at := 0
	for i := range w.moving {
		in := &w.moving[i]
		if in.Time {
			in.point[0] = t
			continue
		}
		at += copy(in.point, y[at:])
	}
	w.move()
}

// Look looks for what parts do along a path that their values at times, the nodes of the step, do not show. It returns
// the end of the path and -1 if there is nothing, or that of a shorter step that comes nearer, or shows more of it, and
// the part in question. Stages are off the path by as much as off. It is not sure where boxes were used up before the
// path was looked at.
func (w *Watch) Look(p *bernstein.Path, times, off []float64) (end float64, part int, sure bool) {
	w.refresh()
	w.follow(p)
	t0, t1 := times[0], times[len(times)-1]
	doubt := false
	for k, b := range w.Over(t0, t1) {
		size := magnitude(b)
		w.Floor[k] = float64(faint * w.size[k])
		if w.size[k] == 0 && size <= math.MaxFloat64 {
			w.Floor[k] = float64(unimportantBound * size)
		}
		w.Doubt[k] = !w.ignored[k] && !(size <= w.Floor[k]) && Doubtful(w.Slope(k))
		doubt = doubt || w.Doubt[k]
	}
	unshown := func() (end float64, part int, sure bool) {
		if at, k := w.alone(times, off); k >= 0 {
			return at, k, true
		}
		return t1, -1, true
	}
	if !doubt {
		return unshown()
	}
	w.credit = min(w.credit+boxesAStep, fullBoxes)
	budget := min(mostBoxes, max(w.credit, fewBoxes))
	end, out := w.Leave(times, budget)
	w.credit = max(w.credit-w.Boxes, 0)
	switch {
	case out:
		return end, w.Feature, true
	case !w.Open:
		return unshown()
	case w.credit > 0 && w.Settled-t0 >= float64(leastPart*(t1-t0)):
		return w.Settled, w.Feature, true
	}
	return t1, w.Feature, false
}

// follow makes polynomials of the inner values along a path.
func (w *Watch) follow(p *bernstein.Path) {
	w.path = p
	most := 1
	for _, d := range w.tapes.Degrees {
		most = max(most, d)
	}
	for degree := 1; degree <= most; degree++ {
		if slices.Contains(w.tapes.Degrees, degree) {
			w.fit(p, degree)
		}
	}
}

// fit is follow for the values of a degree.
func (w *Watch) fit(p *bernstein.Path, degree int) {
	b := p.Basis
	if degree > 1 {
		b = bernstein.Of(degree * p.N)
	}
	n := b.N + 1
	if len(w.nodes) < n*len(w.values) {
		w.nodes = make([]float64, n*len(w.values))
	}
	if len(w.part) < n {
		w.part = make([]float64, n)
	}
	for k, theta := range b.Nodes {
		y := w.state
		if degree == 1 {
			y = p.Values[k]
		} else {
			w.statesAt(theta, k == n-1)
		}
		w.set(w.time(theta), y)
		for i, x := range w.values {
			w.nodes[i*n+k] = x
		}
	}
	for i, d := range w.tapes.Degrees {
		if d != degree {
			continue
		}
		if len(w.coeffs[i]) != n {
			w.coeffs[i] = make([]float64, n)
		}
		values := w.nodes[i*n : (i+1)*n]
		w.base[i] = values[n/2]
		far, size := 0.0, 0.0
		for k, x := range values {
			size = max(size, math.Abs(x))
			values[k] -= w.base[i]
			far = max(far, math.Abs(values[k]))
		}
		b.Coefficients(values, w.coeffs[i])
		w.off[i] = float64(0x1p-51*b.Amplify*far) + float64(0x1p-52*size)
	}
}

// statesAt writes the states at theta to w.state.
func (w *Watch) statesAt(theta float64, end bool) {
	p := w.path
	n := p.N + 1
	values, b := w.part[:n], make([]float64, n)
	for i := range w.state {
		if theta == 0 || end {
			k := 0
			if end {
				k = n - 1
			}
			w.state[i] = p.Values[k][i]
			continue
		}
		for k := range values {
			values[k] = p.Values[k][i]
		}
		p.Coefficients(values, b)
		w.state[i] = p.Basis.At(b, theta)
	}
}

// time returns the time at theta of the path.
func (w *Watch) time(theta float64) float64 {
	if theta == 1 {
		return w.path.T1
	}
	return math.FMA(theta, w.path.H, w.path.T)
}

// theta is the fraction of the path at t.
func (w *Watch) theta(t float64) float64 {
	if t >= w.path.T1 {
		return 1
	}
	return min(max((t-w.path.T)/w.path.H, 0), 1)
}

// At implements Line.
func (w *Watch) At(t float64) []float64 {
	theta, in := w.theta(t), w.point.Input(w.tapes.Of)
	for i, c := range w.coeffs {
		in[i] = w.base[i] + bernstein.Of(len(c)-1).At(c, theta)
	}
	w.reach()
	return w.parts
}

// Over implements Line.
func (w *Watch) Over(lo, hi float64) []tape.Interval {
	a, b := w.theta(lo), w.theta(hi)
	for i, c := range w.coeffs {
		part := w.part[:len(c)]
		copy(part, c)
		if w.dot != nil && !(b > a) {
			for j := range len(part) - 1 {
				part[j] = float64(float64(len(c)-1) * (c[j+1] - c[j]))
			}
			bernstein.Within(part[:len(part)-1], a, b)
			w.dot[i] = tape.Point(part[0] / w.path.H)
			copy(part, c)
		}
		bernstein.Within(part, a, b)
		least, most, up, down := bernstein.Extremes(part)
		w.in[i] = tape.Interval{Lo: w.base[i] + least - w.off[i], Hi: w.base[i] + most + w.off[i]}
		if w.dot != nil && b > a {
			per := float64(len(c)-1) / float64((b-a)*w.path.H)
			w.dot[i] = tape.Interval{Lo: float64(per * up), Hi: float64(per * down)}
		}
	}
	w.boxes()
	return w.bound
}

// Slope implements Line.
func (w *Watch) Slope(k int) tape.Interval {
	if w.slopes == nil {
		return tape.Point(math.NaN())
	}
	for _, v := range w.tapes.Jumps[k] {
		for _, x := range w.box.Value(v) {
			if x.Lo != x.Hi {
				return tape.Point(math.NaN())
			}
		}
	}
	return w.slopes[k]
}

// States returns the numbers of the states that the parts read.
func (w *Watch) States() []int { return w.states }
