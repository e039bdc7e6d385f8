package lag_test

import (
	"math"
	"slices"
	"sort"
)

// The method of steps for linear equations, as a source of its own: between the times at which anything that is read
// is not smooth, states are Taylor series. It knows of no steps, no records and no derivatives.

const (
	seriesTerms = 18
	pieceLength = 0.15 // longest
	generations = 8    // how often a break comes back
	manyFires   = 40
)

// series is a Taylor series about the start of a piece.
type series [seriesTerms]float64

// at returns the value at h.
func (s *series) at(h float64) (v float64) {
	for i := seriesTerms - 1; i >= 0; i-- {
		v = v*h + s[i]
	}
	return v
}

// about returns the series about h.
func (s *series) about(h float64) (y series) {
	for k := seriesTerms - 1; k >= 0; k-- {
		for i := seriesTerms - 1; i > 0; i-- {
			y[i] = y[i]*h + y[i-1]
		}
		y[0] = y[0]*h + s[k]
	}
	return y
}

// form is what is read.
type form uint8

const (
	formState   form = iota // x
	formPlus                // x + t
	formTimes               // u*x
	formSetting             // u
	formTime                // t
	forms
)

// reading is something of a state at a time.
type reading struct {
	of    form
	state int
	delay int // of system.delays, -1 for the present
}

// term is something of a rate: coef times a reading, or other times it where a condition does not hold.
type term struct {
	reading
	coef, other int // params
	condition   int // -1 for none
}

// condition compares a reading with a param. It may be that of an event.
type condition struct {
	reading
	level  int
	event  bool
	to, by int  // what the event adds to a state
	sets   bool // and whether it adds that to u
}

// kick is an event at a time: adds to a state, multiplies it, or sets u.
type kick struct {
	at, by, to int
	kind       int
}

// delayed is a delay: a param times a factor, and another param times the time, -1 for none.
type delayed struct {
	param  int
	factor float64
	slope  int
}

// table is a past that is linear between knots.
type table struct{ t, x []float64 }

// pastOf is a past x = p + q t, or a table; p is -1 for none.
type pastOf struct {
	p, q int
	table
}

// system is a system of linear equations with delays.
type system struct {
	names      []string
	p          []float64
	delays     []delayed
	initial    []int // params
	pasts      []pastOf
	setting    int // param, of u at the start
	rates      [][]term
	conditions []condition
	kicks      []kick
	end        float64
	reads      []float64
	read       [3]reading
}

// part is a state on an interval.
type part struct {
	from float64
	u    float64
	x    []series
}

// solution is a run by the method of steps.
type solution struct {
	*system
	p     []float64
	tau   []float64
	pace  []float64 // of the time that each delay reads
	parts []part
	truth []bool
	t, u  float64
	x     []float64
	fires int
}

// coming is a time at which something is not smooth, with how often it has come back.
type coming struct {
	t          float64
	generation int
}

// of returns the series of a reading about the time at, as it is at a time near mid. own are the series of the present.
func (s *solution) of(r reading, at, mid float64, own []series) (y series) {
	x, u, pace := own, s.u, 1.0
	if r.delay >= 0 {
		pace = s.pace[r.delay]
		at, mid = pace*at-s.tau[r.delay], pace*mid-s.tau[r.delay]
		if mid < 0 {
			u = s.p[s.setting]
			if r.of != formSetting && r.of != formTime {
				y = s.before(r.state, at, mid)
			}
			x = nil
		} else {
			i := sort.Search(len(s.parts), func(i int) bool { return s.parts[i].from > mid }) - 1
			u = s.parts[i].u
			if r.of != formSetting && r.of != formTime {
				y = s.parts[i].x[r.state].about(at - s.parts[i].from)
			}
			x = nil
		}
	}
	if x != nil && r.of != formSetting && r.of != formTime {
		y = x[r.state]
	}
	if pace != 1 {
		by := 1.0
		for i := range y {
			y[i] *= by
			by *= pace
		}
	}
	switch r.of {
	case formPlus:
		y[0], y[1] = y[0]+at, y[1]+pace
	case formTimes:
		for i := range y {
			y[i] *= u
		}
	case formSetting:
		y[0] = u
	case formTime:
		y[0], y[1] = at, pace
	}
	return y
}

// before returns the series of a state before the start.
func (s *solution) before(state int, at, mid float64) (y series) {
	switch p := s.pasts[state]; {
	case p.p >= 0:
		y[0], y[1] = s.p[p.p]+s.p[p.q]*at, s.p[p.q]
	case p.t != nil:
		i := sort.SearchFloat64s(p.t, mid)
		if i == 0 || i == len(p.t) {
			y[0] = p.x[max(i-1, 0)]
			break
		}
		y[1] = (p.x[i] - p.x[i-1]) / (p.t[i] - p.t[i-1])
		y[0] = p.x[i-1] + y[1]*(at-p.t[i-1])
	default:
		y[0] = s.p[s.initial[state]]
	}
	return y
}

// margins returns the series of the conditions about t, as they are near mid.
func (s *solution) margins(mid float64, own []series) []series {
	list := make([]series, len(s.conditions))
	for i, c := range s.conditions {
		list[i] = s.of(c.reading, s.t, mid, own)
		list[i][0] -= s.p[c.level]
	}
	return list
}

// grow returns the series of the states from the present on to some order, as rates are near mid.
func (s *solution) grow(mid float64, order int) []series {
	own := make([]series, len(s.x))
	for i, x := range s.x {
		own[i][0] = x
	}
	read := make([][]series, len(s.x))
	for i, list := range s.rates {
		for _, t := range list {
			var y series
			if t.delay >= 0 || t.of == formSetting || t.of == formTime {
				y = s.of(t.reading, s.t, mid, own)
			}
			read[i] = append(read[i], y)
		}
	}
	for k := range order {
		for i, list := range s.rates {
			rate := 0.0
			for j, t := range list {
				c := t.coef
				if t.condition >= 0 && !s.truth[t.condition] {
					c = t.other
				}
				v := read[i][j][k]
				if t.delay < 0 && t.of != formSetting && t.of != formTime {
					v = own[t.state][k]
					if t.of == formTimes {
						v *= s.u
					}
					if t.of == formPlus && k == 0 {
						v += s.t
					} else if t.of == formPlus && k == 1 {
						v++
					}
				}
				rate += s.p[c] * v
			}
			own[i][k+1] = rate / float64(k+1)
		}
	}
	return own
}

const sameMoment = 1e-10

// solve returns the objectives at params p. It fails where too much happens.
func (m *system) solve(p []float64) (out []float64, ok bool) {
	s := &solution{system: m, p: p, u: p[m.setting], truth: make([]bool, len(m.conditions))}
	for _, d := range m.delays {
		s.tau, s.pace = append(s.tau, p[d.param]*d.factor), append(s.pace, 1)
		if d.slope >= 0 {
			s.pace[len(s.pace)-1] = 1 - p[d.slope]
		}
	}
	for _, i := range m.initial {
		s.x = append(s.x, p[i])
	}
	var list []coming
	enter := func(t float64, generation int) {
		if t > m.end || generation > generations {
			return
		}
		i := sort.Search(len(list), func(i int) bool { return list[i].t >= t-sameMoment })
		if i < len(list) && list[i].t <= t+sameMoment {
			list[i].generation = min(list[i].generation, generation)
			return
		}
		list = slices.Insert(list, i, coming{t, generation})
	}
	enter(0, 0)
	for _, k := range m.kicks {
		enter(p[k.at], generations)
	}
	for _, past := range m.pasts {
		for _, knot := range past.t {
			for i, tau := range s.tau {
				if knot+tau > 0 {
					enter((knot+tau)/s.pace[i], 1)
				}
			}
		}
	}
	area, squares, begun := 0.0, 0.0, false
	for s.t < m.end-sameMoment {
		generation := generations + 1
		for len(list) > 0 && list[0].t <= s.t+sameMoment {
			generation = min(generation, list[0].generation)
			list = list[1:]
		}
		for _, k := range m.kicks {
			if math.Abs(p[k.at]-s.t) <= sameMoment {
				generation = 0
				s.kicks1(k)
			}
		}
		changed, good := s.settles(begun)
		if !good {
			return nil, false
		}
		begun = true
		for i, tau := range s.tau {
			enter((s.t+tau)/s.pace[i], min(generation, changed)+1)
		}
		to := min(m.end, s.t+pieceLength)
		if len(list) > 0 {
			to = min(to, list[0].t)
		}
		mid := s.t + (to-s.t)/2
		own := s.grow(mid, seriesTerms-1)
		to = s.first(own, mid, to)
		h := to - s.t
		y := s.of(m.read[2], s.t, mid, own)
		var powers [2 * seriesTerms]float64 // integrals of those of time
		for i, power := 0, 1.0; i < len(powers); i++ {
			power *= h
			powers[i] = power / float64(i+1)
		}
		for i := range y {
			area += y[i] * powers[i]
			for j := range y {
				squares += own[0][i] * own[0][j] * powers[i+j]
			}
		}
		s.parts = append(s.parts, part{s.t, s.u, own})
		for i := range own {
			s.x[i] = own[i].at(h)
		}
		s.t = to
		if len(s.parts) > 100_000 || math.Abs(s.x[0]) > 1e3 {
			return nil, false
		}
	}
	sum, product := 0.0, 0.0
	value := func(r reading, t float64) float64 {
		i := sort.Search(len(s.parts), func(i int) bool { return s.parts[i].from > t }) - 1
		own := make([]series, len(s.x))
		for k := range own {
			own[k] = s.parts[i].x[k].about(t - s.parts[i].from)
		}
		was := s.u
		s.u = s.parts[i].u
		y := s.of(r, t, t, own)
		s.u = was
		return y[0]
	}
	for _, t := range m.reads {
		a, b := value(m.read[0], t), value(m.read[1], t)
		sum += a
		product += a * b
	}
	last := s.x[len(s.x)-1]
	return []float64{s.x[0], last * s.x[0], sum, product, area, squares}, true
}

// kicks1 makes an event at a time.
func (s *solution) kicks1(k kick) {
	switch v := s.p[k.by]; k.kind {
	case 0:
		s.x[k.to] += v
	case 1:
		s.x[k.to] *= 1 + v
	default:
		s.u = v
	}
}

// settles finds out which conditions hold from now on, with what events do that make them. It returns the order of the
// derivative that jumps here for that reason.
func (s *solution) settles(begun bool) (order int, ok bool) {
	order = generations + 1
	for again := true; again; {
		again = false
		own := s.grow(s.t+1e-9, 1)
		for i, g := range s.margins(s.t+1e-9, own) {
			holds := g[0] > 0
			if math.Abs(g[0]) < sameMoment {
				holds = g[1] > 0
			}
			if holds == s.truth[i] {
				continue
			}
			s.truth[i] = holds
			c := s.conditions[i]
			if s.fires++; s.fires > manyFires { // it slides along a threshold
				return 0, false
			}
			if !c.event {
				order, again = min(order, 1), true
			}
			if !c.event || !holds || !begun {
				continue
			}
			s.x[c.to] += s.p[c.by]
			if c.sets {
				s.u += s.p[c.by]
			}
			order, again = 0, true
			break
		}
	}
	return order, true
}

// first returns the time at which a condition changes first before to, or that.
func (s *solution) first(own []series, mid, to float64) float64 {
	const samples = 8
	for i, g := range s.margins(mid, own) {
		sign := -1.0 // until it is positive
		if s.truth[i] {
			sign = 1
		}
		h := to - s.t
		for k := 1; k <= samples; k++ {
			hi := h * float64(k) / samples
			if !(sign*g.at(hi) < 0) {
				continue
			}
			lo := h * float64(k-1) / samples
			for range 200 {
				m := (lo + hi) / 2
				if m <= lo || m >= hi {
					break
				}
				if sign*g.at(m) < 0 {
					hi = m
				} else {
					lo = m
				}
			}
			to = min(to, s.t+hi)
			break
		}
	}
	return to
}
