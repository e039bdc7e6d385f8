package run

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// flows is a random model whose rates are linear between causes, or quadratic. Its own simulator, which knows nothing
// of odes, follows it to rounding: states by their power series, thresholds by Newton's method. Coefficients are small
// dyadic fractions, and thresholds are what the simulator has at the time of a coincidence.
type flows struct {
	p      []float64 // params: thresholds, times, lags and initial values
	names  []string
	y0     [3]int // params
	base   [3]float64
	linear [3][3]float64
	curved []product // of all rates
	atoms  []atom
	causes []cause
	final  [3]float64
	weight float64 // of the integral of a state over a window; 0 for none
	of     int
	from   int // params; to is -1 for the end
	to     int
	tf     float64
	endAt  int       // param, or -1
	sees   []glimpse // [causes] what events see of an instant; nil for what they see behind it
}

// glimpse is what an event sees of a condition at the instant of a coincidence. A condition whose parts change places
// there, which a body lifts as it falls or sets to its threshold, is false for that instant, or is not: the first is
// what the definitions say, and where rounding parts the two, it is either.
type glimpse uint8

const (
	behind   glimpse = iota // as it is a little later
	instant                 // parts at their thresholds are false before all else happens
	instants                // and whenever something has happened
	held                    // it has not fallen
	glimpses
)

// product is by times the product of two states, in the rate of one.
type product struct {
	to, a, b int
	by       float64
}

// atom is a comparison with a threshold.
type atom struct {
	g     [3]float64
	gt    float64
	param int
	falls bool
}

// kindOfCause is what a cause is.
type kindOfCause uint8

const (
	atTime    kindOfCause = iota // an event
	whenEvent                    // an event
	delayed                      // an event whose body comes later
	mode
	site
	kindsOfCauses
)

// cause is an event, a mode or an observation.
type cause struct {
	kind     kindOfCause
	param    int // its time, or its delay
	lag      int // the param that is added to the time; -1 for none
	atoms    []int
	either   bool // or, not and
	once     bool
	priority int
	rate     [3]float64 // what a mode, or the discrete that an event sets, adds to rates
	along    [3]float64 // and times a state
	state    int
	toU      float64 // what an event adds to its discrete
	turn     bool    // an event turns its discrete
	shift    [3]float64
	mix      [3]int // y[i] += mixBy[i]*y[mix[i]]
	mixBy    [3]float64
	read     [3]float64 // of a site
}

func (c *cause) event() bool { return c.kind <= delayed }

func (m *flows) text() string {
	var b strings.Builder
	until := fmt.Sprint(m.tf)
	if m.endAt >= 0 {
		until = m.names[m.endAt]
	}
	fmt.Fprintf(&b, "time t from 0 to %s\n", until)
	for i, n := range m.names {
		fmt.Fprintf(&b, "param %s = %v\n", n, m.p[i])
	}
	for i := range 3 {
		fmt.Fprintf(&b, "state y%d = %s\n", i+1, m.names[m.y0[i]])
	}
	for k, c := range m.causes {
		if c.event() {
			fmt.Fprintf(&b, "discrete u%d = 1\n", k)
		}
	}
	for i := range 3 {
		fmt.Fprintf(&b, "y%d' = %v", i+1, m.base[i])
		for j, a := range m.linear[i] {
			if a != 0 {
				fmt.Fprintf(&b, " + %v*y%d", a, j+1)
			}
		}
		for _, q := range m.curved {
			if q.to == i {
				fmt.Fprintf(&b, " + %v*y%d*y%d", q.by, q.a+1, q.b+1)
			}
		}
		for k := range m.causes {
			c := &m.causes[k]
			by := fmt.Sprint(c.rate[i])
			if c.along[i] != 0 {
				by = fmt.Sprintf("(%v + %v*y%d)", c.rate[i], c.along[i], c.state+1)
			}
			switch {
			case c.kind == mode:
				fmt.Fprintf(&b, " + (if %s then %s else 0)", m.condition(c), by)
			case c.event():
				fmt.Fprintf(&b, " + %s*u%d", by, k)
			}
		}
		b.WriteString("\n")
	}
	for k := range m.causes {
		if c := &m.causes[k]; c.event() {
			m.writeEvent(&b, k, c)
		}
	}
	fmt.Fprintf(&b, "objective J = final(%v*y1 + %v*y2 + %v*y3)", m.final[0], m.final[1], m.final[2])
	for k := range m.causes {
		if c := &m.causes[k]; c.kind == site {
			fmt.Fprintf(&b, " + sum_at([%s], %v*y1 + %v*y2 + %v*y3)",
				m.names[c.param], c.read[0], c.read[1], c.read[2])
		}
	}
	if m.weight != 0 {
		fmt.Fprintf(&b, " + %v*integral(y%d, from = %s", m.weight, m.of+1, m.names[m.from])
		if m.to >= 0 {
			fmt.Fprintf(&b, ", to = %s", m.names[m.to])
		}
		b.WriteString(")")
	}
	b.WriteString("\nsolver { rtol = 1e-11 atol = 1e-13 }\nsens { of = J }\n")
	return b.String()
}

// condition writes the condition of a cause.
func (m *flows) condition(c *cause) string {
	var list []string
	for _, i := range c.atoms {
		a, op := &m.atoms[i], ">"
		if a.falls {
			op = "<"
		}
		list = append(list, fmt.Sprintf("%v*y1 + %v*y2 + %v*y3 + %v*t %s %s",
			a.g[0], a.g[1], a.g[2], a.gt, op, m.names[a.param]))
	}
	if c.either {
		return strings.Join(list, " or ")
	}
	return strings.Join(list, " and ")
}

func (m *flows) writeEvent(b *strings.Builder, k int, c *cause) {
	switch c.kind {
	case atTime:
		at := m.names[c.param]
		if c.lag >= 0 {
			at += " + " + m.names[c.lag]
		}
		fmt.Fprintf(b, "event e%d at %s", k, at)
	case whenEvent:
		fmt.Fprintf(b, "event e%d when %s", k, m.condition(c))
	default:
		fmt.Fprintf(b, "event e%d when %s, delay = %s, values = execution", k, m.condition(c), m.names[c.param])
	}
	if c.priority != 0 {
		fmt.Fprintf(b, " priority %d", c.priority)
	}
	if c.once {
		b.WriteString(" once")
	}
	b.WriteString(" {")
	for i := range 3 {
		if c.shift[i] != 0 || c.mixBy[i] != 0 {
			fmt.Fprintf(b, " y%d = y%d + %v + %v*y%d", i+1, i+1, c.shift[i], c.mixBy[i], c.mix[i]+1)
		}
	}
	if c.turn {
		fmt.Fprintf(b, " u%d = -u%d", k, k)
	} else if c.toU != 0 {
		fmt.Fprintf(b, " u%d = u%d + %v", k, k, c.toU)
	}
	b.WriteString(" }\n")
}

// course is a run of flows.
type course struct {
	*flows
	p        []float64
	t        float64
	y        [3]float64
	q        float64   // the integral
	inside   float64   // 1 within the window
	u        []float64 // [causes]
	on       []bool    // of modes; of events, whether their conditions hold
	done     []bool    // of times
	due      [][]float64
	rates    [3]float64
	matrix   [3][3]float64
	straight bool // matrix is 0
	sum      float64
	lost     bool // two things come so near each other that their order cannot be told
}

// near is within which times and margins are one. Causes that are moved apart are further.
const near = 1e-11

// run simulates the model at p. It returns NaN where that is not clear.
func (m *flows) run(p []float64) float64 {
	n := len(m.causes)
	c := &course{
		flows: m, p: p, u: slices.Repeat([]float64{1}, n), on: make([]bool, n), done: make([]bool, n),
		due: make([][]float64, n),
	}
	for i := range c.y {
		c.y[i] = p[m.y0[i]]
	}
	end := m.tf
	if m.endAt >= 0 {
		end = p[m.endAt]
	}
	c.choose()
	c.rise(false)
	for i := range c.atoms { // whether what holds very soon has come to hold is another matter
		v, _ := c.margin(&c.atoms[i], 0, c.y)
		c.lost = c.lost || math.Abs(v) < 100*near
	}
	const most = 40 // more accumulate
	for range most {
		next := c.next(end)
		if c.lost {
			break
		}
		c.flow(next - c.t)
		c.t = next
		if c.moment(); c.lost {
			break
		}
		if next >= end-near {
			return c.ends()
		}
	}
	return math.NaN()
}

// ends returns the objective.
func (c *course) ends() float64 {
	s := c.sum + c.weight*c.q
	for k := range c.causes {
		if c.causes[k].kind == site && !c.done[k] {
			return math.NaN()
		}
	}
	outside := func(k int) bool { return k >= 0 && !(c.p[k] >= 0 && c.p[k] <= c.t) }
	if c.weight != 0 && (outside(c.from) || outside(c.to)) { // a bound of an integral
		return math.NaN()
	}
	for i, y := range c.y {
		s += c.final[i] * y
	}
	return s
}

// drive finds the rates.
func (c *course) drive() {
	c.rates, c.matrix = c.base, c.linear
	for k := range c.causes {
		x, by := &c.causes[k], 0.0
		switch {
		case x.event():
			by = c.u[k]
		case x.kind == mode && c.on[k]:
			by = 1
		}
		for i := range 3 {
			c.rates[i] += by * x.rate[i]
			c.matrix[i][x.state] += by * x.along[i]
		}
	}
	c.straight = c.matrix == [3][3]float64{} && len(c.curved) == 0
}

// slopes returns the rates at y.
func (c *course) slopes(y [3]float64) (f [3]float64) {
	for i := range f {
		f[i] = c.rates[i]
		for j, a := range c.matrix[i] {
			f[i] += a * y[j]
		}
	}
	for _, q := range c.curved {
		f[q.to] += q.by * y[q.a] * y[q.b]
	}
	return f
}

// longest is the longest step of a power series.
const longest = 0.125

// ahead returns the states h later, and by how much the integral of one grows.
func (c *course) ahead(h float64) (y [3]float64, q float64) {
	y = c.y
	var none [3]float64
	for h > 0 {
		d := h
		if !c.straight {
			d = min(d, longest)
		}
		h -= d
		terms := [][3]float64{y} // of the power series, each times a power of d
		term := c.slopes(y)
		q += y[c.of] * d
		for i := range term {
			term[i] *= d
		}
		for n := 1; n < 30 && term != none; n++ {
			q += term[c.of] * d / float64(n+1)
			terms = append(terms, term)
			var then [3]float64
			for i := range 3 {
				y[i] += term[i]
				for j, a := range c.matrix[i] {
					then[i] += a * term[j] * d / float64(n+1)
				}
			}
			for _, p := range c.curved {
				for k, x := range terms {
					then[p.to] += p.by * x[p.a] * terms[n-k][p.b] * d / float64(n+1)
				}
			}
			term = then
		}
		for i, x := range term { // products of large states have series that converge too slowly
			c.lost = c.lost || !(math.Abs(x) <= 1e-17*(1+math.Abs(y[i])))
		}
	}
	return y, q
}

// flow goes on by h.
func (c *course) flow(h float64) {
	y, q := c.ahead(h)
	c.y, c.q = y, c.q+c.inside*q
}

// margin returns that of an atom at t and y, positive where it holds, and how fast it grows.
func (c *course) margin(a *atom, t float64, y [3]float64) (v, d float64) {
	f := c.slopes(y)
	v, d = a.gt*t-c.p[a.param], a.gt
	for i, g := range a.g {
		v += g * y[i]
		d += g * f[i]
	}
	if a.falls {
		return -v, -d
	}
	return v, d
}

// soon reports whether an atom holds a little later.
func (c *course) soon(i int) bool {
	v, d := c.margin(&c.atoms[i], c.t, c.y)
	if math.Abs(v) > near {
		c.lost = c.lost || math.Abs(v) < 100*near
		return v > 0
	}
	c.lost = c.lost || math.Abs(d) < 1e-6
	return d > 0
}

// holds reports whether the condition of a cause holds a little later.
func (c *course) holds(x *cause) bool {
	for _, i := range x.atoms {
		if c.soon(i) == x.either {
			return x.either
		}
	}
	return !x.either
}

// holdsAt reports whether the condition of a cause holds at the very time.
func (c *course) holdsAt(x *cause) bool {
	for _, i := range x.atoms {
		if v, _ := c.margin(&c.atoms[i], c.t, c.y); v > near == x.either {
			return x.either
		}
	}
	return !x.either
}

// choose chooses the modes. Where a mode at its threshold could as well be the other one, and keep itself so, it is not
// clear what happens.
func (c *course) choose() {
	ok := c.settle()
	on := slices.Clone(c.on)
	for k := range c.causes {
		if x := &c.causes[k]; x.kind == mode && slices.ContainsFunc(x.atoms, func(i int) bool {
			v, _ := c.margin(&c.atoms[i], c.t, c.y)
			return math.Abs(v) <= near
		}) {
			c.on[k] = !on[k]
			lost := c.lost
			other := c.settle() && !slices.Equal(c.on, on)
			copy(c.on, on)
			c.lost = lost || other
		}
	}
	c.lost = c.lost || !ok
	c.drive()
	c.window()
}

// settle finds modes that are what their conditions say, from those that are on.
func (c *course) settle() bool {
	for range 16 {
		c.drive()
		same := true
		to := slices.Clone(c.on)
		for k := range c.causes {
			if x := &c.causes[k]; x.kind == mode {
				to[k] = c.holds(x)
				same = same && to[k] == c.on[k]
			}
		}
		if c.on = to; same {
			return true
		}
	}
	return false
}

// window tells whether the integral grows.
func (c *course) window() {
	if c.weight == 0 {
		return
	}
	c.inside = 0
	if c.p[c.from] <= c.t+near && (c.to < 0 || c.p[c.to] > c.t+near) {
		c.inside = 1
	}
}

// rise lists the events whose conditions have come to hold. first tells that nothing else has happened at that time.
func (c *course) rise(first bool) (list []int) {
	for k := range c.causes {
		if x := &c.causes[k]; x.kind == whenEvent || x.kind == delayed {
			holds := c.holds(x)
			switch {
			case c.sees == nil:
			case c.sees[k] == instant && first, c.sees[k] == instants:
				c.on[k] = c.on[k] && c.holdsAt(x)
			case c.sees[k] == held && first:
				holds = holds || c.on[k]
			}
			if holds && !c.on[k] && !(x.once && c.done[k]) {
				list = append(list, k)
			}
			c.on[k] = holds
		}
	}
	return list
}

// timeOf returns the time of an event or observation.
func (c *course) timeOf(x *cause) float64 {
	at := c.p[x.param]
	if x.lag >= 0 {
		at += c.p[x.lag]
	}
	return at
}

// next returns the time of what comes next.
func (c *course) next(end float64) float64 {
	next := end
	sooner := func(t float64) {
		if t > c.t+near {
			next = min(next, t)
		}
	}
	for k := range c.causes {
		if x := &c.causes[k]; x.kind == site || x.kind == atTime {
			sooner(c.timeOf(x))
		}
		for _, t := range c.due[k] {
			sooner(t)
		}
	}
	if c.weight != 0 {
		if sooner(c.p[c.from]); c.to >= 0 {
			sooner(c.p[c.to])
		}
	}
	holds := make([]bool, len(c.atoms))
	for i := range c.atoms {
		holds[i] = c.soon(i)
	}
	saved := *c
	defer func() { lost := c.lost; *c = saved; c.lost = lost }()
	for c.t < next {
		h := next - c.t
		if !c.straight {
			h = min(h, longest)
		}
		first := math.Inf(1)
		for i := range c.atoms {
			first = min(first, c.root(&c.atoms[i], holds[i], h))
		}
		if first <= h {
			return min(c.t+first, next)
		}
		c.y, _ = c.ahead(h)
		c.t += h
	}
	return next
}

// root returns how soon within h an atom changes; +Inf if it does not.
func (c *course) root(a *atom, holds bool, h float64) float64 {
	at := func(s float64) (v, d float64) { // positive where it has changed
		y, _ := c.ahead(s)
		if v, d = c.margin(a, c.t+s, y); holds {
			return -v, -d
		}
		return v, d
	}
	lo, hi := 0.0, h
	_, d0 := at(0)
	v1, d1 := at(h)
	if !(v1 > 0) {
		if !(d0 > 0 && d1 < 0) {
			return math.Inf(1)
		}
		for range 60 { // the largest value in between
			mid := 0.5 * (lo + hi)
			if _, d := at(mid); d > 0 {
				lo = mid
			} else {
				hi = mid
			}
		}
		v, _ := at(hi)
		c.lost = c.lost || math.Abs(v) < 1e-7 && hi > near // it touches its threshold
		if lo = 0; !(v > 0) {
			return math.Inf(1)
		}
	}
	for x, n := 0.5*(lo+hi), 0; ; n++ {
		v, d := at(x)
		if v > 0 {
			hi = x
		} else {
			lo = x
		}
		to := x - v/d
		if !(to > lo && to < hi) {
			to = 0.5 * (lo + hi)
		}
		if n > 80 || math.Abs(to-x) <= 1e-16 || hi-lo <= 1e-16 {
			return to
		}
		x = to
	}
}

// moment has all happen that comes now: events, what they set off, modes, then observations.
func (c *course) moment() {
	var sites, wave []int
	for k := range c.causes {
		x := &c.causes[k]
		switch due := x.kind == site || x.kind == atTime; {
		case due && !c.done[k] && math.Abs(c.timeOf(x)-c.t) <= near && x.kind == site:
			sites, c.done[k] = append(sites, k), true
		case due && !c.done[k] && math.Abs(c.timeOf(x)-c.t) <= near:
			wave, c.done[k] = append(wave, k), true
		}
		c.due[k] = slices.DeleteFunc(c.due[k], func(t float64) bool {
			now := math.Abs(t-c.t) <= near
			if now {
				wave = append(wave, k)
			}
			return now
		})
	}
	for round := 0; round < 12 && !c.lost; round++ {
		for _, k := range c.rise(round == 0) {
			c.done[k] = true
			if x := &c.causes[k]; x.kind == whenEvent {
				wave = append(wave, k)
			} else if c.due[k] = append(c.due[k], c.t+c.p[x.param]); len(c.due[k]) > 8 {
				c.lost = true
			}
		}
		if len(wave) == 0 && round > 0 {
			break
		}
		slices.SortStableFunc(wave, func(a, b int) int {
			if d := c.causes[b].priority - c.causes[a].priority; d != 0 {
				return d
			}
			return a - b
		})
		for _, k := range wave {
			c.fire(k)
		}
		wave = nil
		c.choose()
	}
	c.lost = c.lost || len(wave) > 0
	for _, k := range sites {
		for i, y := range c.y {
			c.sum += c.causes[k].read[i] * y
		}
	}
}

// fire executes the body of an event.
func (c *course) fire(k int) {
	x := &c.causes[k]
	old := c.y
	for i := range c.y {
		c.y[i] = old[i] + x.shift[i] + x.mixBy[i]*old[x.mix[i]]
	}
	if x.turn {
		c.u[k] = -c.u[k]
	} else {
		c.u[k] += x.toU
	}
}

// stateAt returns the states at a time when all causes from then on are away.
func (m *flows) stateAt(t float64) (y [3]float64) {
	c := *m
	c.tf, c.endAt, c.weight = t, -1, 0 // sites are not read at its end
	c.causes = slices.Clone(m.causes)
	for i := range 3 {
		c.final = [3]float64{}
		c.final[i] = 1
		y[i] = c.run(c.p)
	}
	return y
}

// eighth returns a random small multiple of 1/8, not 0.
func eighth(rng *rand.Rand, most int) float64 {
	for {
		if x := rng.IntN(2*most+1) - most; x != 0 {
			return float64(x) / 8
		}
	}
}

// drawing makes flows.
type drawing struct {
	*flows
	*rand.Rand
}

func (d *drawing) param(name string, x float64) int {
	d.p, d.names = append(d.p, x), append(d.names, name)
	return len(d.p) - 1
}

// drawFlows draws a model with coincidences, with products of states in its rates if it is to be curved; nil where its
// own simulator cannot follow it.
func drawFlows(rng *rand.Rand, curved bool) *flows {
	d := &drawing{&flows{tf: 4, endAt: -1, from: -1, to: -1}, rng}
	for i := range 3 {
		d.y0[i] = d.param(fmt.Sprintf("b%d", i), eighth(rng, 16))
		d.base[i], d.final[i] = eighth(rng, 12), eighth(rng, 12)
	}
	if rng.IntN(2) == 0 { // otherwise rates are constant between causes
		for range 1 + rng.IntN(4) {
			d.linear[rng.IntN(3)][rng.IntN(3)] = eighth(rng, 5)
		}
	}
	for range 3 {
		if curved {
			d.curved = append(d.curved, product{rng.IntN(3), rng.IntN(3), rng.IntN(3), eighth(rng, 2)})
		}
	}
	at, lag := 1.0, 0.375
	for g := range 1 + rng.IntN(3) {
		if y := d.stateAt(at); y[0]+y[1]+y[2]-(y[0]+y[1]+y[2]) != 0 || !d.group(g, at, lag, y) {
			return nil
		}
		at += []float64{lag, 0.75, 1.25}[rng.IntN(3)] // what was delayed may come then
	}
	if rng.IntN(3) == 0 {
		d.weight, d.of, d.from = eighth(rng, 8), rng.IntN(3), d.param("s", 1)
		if rng.IntN(2) == 0 {
			d.to = d.param("z", []float64{at, 2.25, 1.375}[rng.IntN(3)])
		}
	}
	if rng.IntN(4) == 0 {
		d.endAt = d.param("T", max(at, []float64{1.375, 2.25, 3}[rng.IntN(3)]))
		d.tf = d.p[d.endAt]
	}
	return d.flows
}

// group draws the causes of a coincidence.
func (d *drawing) group(g int, at, lag float64, y [3]float64) bool {
	var list []cause
	for k := range 2 + d.IntN(3) {
		name := fmt.Sprintf("p%d_%d", g, k)
		c := cause{lag: -1, param: -1}
		kinds := []kindOfCause{atTime, whenEvent, mode, whenEvent, mode, site, delayed, mode}
		switch c.kind = kinds[d.IntN(len(kinds))]; c.kind {
		case atTime, site:
			if c.param = d.param(name, at); c.kind == atTime && d.IntN(3) == 0 {
				c.lag, d.p[c.param] = d.param("l"+name, lag), at-lag
			}
		default:
			for a := range 1 + d.IntN(5)/4 {
				c.atoms = append(c.atoms, d.atom(fmt.Sprintf("%s%c", name, 'a'+a), at, y))
			}
			c.either = d.IntN(2) == 0
			if c.kind == delayed {
				c.param = d.param("d"+name, lag)
			}
		}
		for i := range 3 {
			switch {
			case c.kind == site:
				c.read[i] = eighth(d.Rand, 8)
			case d.IntN(2) == 0:
				c.rate[i] = eighth(d.Rand, 8)
			case d.IntN(4) == 0:
				c.along[i] = eighth(d.Rand, 4)
			}
		}
		if straight := d.linear == [3][3]float64{}; straight {
			c.along = [3]float64{}
		}
		if c.event() {
			d.body(&c, y)
		}
		list = append(list, c)
	}
	d.causes = append(d.causes, list...)
	return true
}

// atom draws a comparison that changes at a time and states.
func (d *drawing) atom(name string, at float64, y [3]float64) int {
	var a atom
	v := 0.0
	for i := range 3 {
		if d.IntN(2) == 0 {
			a.g[i] = eighth(d.Rand, 8)
		}
		v += a.g[i] * y[i]
	}
	a.gt = eighth(d.Rand, 8)
	a.param = d.param(name, v+a.gt*at)
	a.falls = d.IntN(3) == 0
	d.atoms = append(d.atoms, a)
	return len(d.atoms) - 1
}

// body draws what an event does.
func (d *drawing) body(c *cause, y [3]float64) {
	c.priority, c.once = d.IntN(3), c.kind == whenEvent && d.IntN(4) == 0
	switch {
	case d.IntN(4) == 0:
		c.turn = true
		return
	case d.IntN(4) > 0:
		c.toU = eighth(d.Rand, 4)
	}
	switch i := d.IntN(3); d.IntN(8) {
	case 0, 1, 2, 3: // a reset that is nothing at the point, so that sides agree in their values
		j := d.IntN(3)
		c.mix[i], c.mixBy[i] = j, eighth(d.Rand, 4)
		c.shift[i] = -c.mixBy[i] * y[j]
	case 4:
		c.shift[i] = eighth(d.Rand, 8)
	case 5: // one that moves another state all the same
		c.mix[i], c.mixBy[i] = d.IntN(3), eighth(d.Rand, 4)
	}
}

// agree finds what events see of instants where the value is j: most see what is behind. It reports whether there is
// such a thing.
func (m *flows) agree(j float64) bool {
	is := func() bool { return math.Abs(m.run(m.p)-j) <= 1e-7*(1+math.Abs(j)) }
	m.sees = nil
	if y := m.run(m.p); y != y || is() {
		return true
	}
	n := len(m.causes)
	for a := range n {
		for b := range a + 1 {
			for way := range glimpses * glimpses {
				m.sees = make([]glimpse, n)
				if m.sees[a], m.sees[b] = way/glimpses, way%glimpses; is() {
					return true
				}
			}
		}
	}
	m.sees = nil
	return false
}

// sideOf returns the derivative of J on one side of param k, and the value that it begins with, by values at so small
// a distance.
func (m *flows) sideOf(k int, way, e float64) (value, slope float64) {
	var j [5]float64
	for i := 1; i < 5; i++ {
		p := slices.Clone(m.p)
		p[k] += way * e * float64(i)
		j[i] = m.run(p)
	}
	return 4*j[1] - 6*j[2] + 4*j[3] - j[4], (-26*j[1] + 57*j[2] - 42*j[3] + 11*j[4]) / (6 * e) * way
}
