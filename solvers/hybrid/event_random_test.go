package hybrid_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
)

// Random models with events of all kinds are compared with a simulator that knows nothing of odes: states are linear
// between events, so it computes where conditions become true instead of looking for roots, and carries derivatives
// along as slope numbers. It follows docs/events.md to the letter. Some are tried; thousands with
//
//	go test . -run TestRandomEvents -random-events 20000
var randomEvents = flag.Int("random-events", 0, "how many random models of events to try")

// randomParams are the params of the random models.
var randomParams = []struct {
	name  string
	value float64
}{{"c", 1.25}, {"r", 0.875}, {"tau", 0.4375}, {"a", 0.625}}

// slope is a number with its derivatives by the params.
type slope struct {
	v float64
	d [4]float64
}

func number(v float64) slope { return slope{v: v} }

func (x slope) plus(y slope, k float64) slope {
	x.v += k * y.v
	for i := range x.d {
		x.d[i] += k * y.d[i]
	}
	return x
}

func (x slope) times(y slope) slope {
	z := number(x.v * y.v)
	for i := range z.d {
		z.d[i] = x.d[i]*y.v + x.v*y.d[i]
	}
	return z
}

func (x slope) over(y slope) slope {
	z := number(x.v / y.v)
	for i := range z.d {
		z.d[i] = (x.d[i] - z.v*y.d[i]) / y.v
	}
	return z
}

// The variables of a random model: two states, their rates, and two that count.
const (
	varX = iota
	varY
	varU
	varW
	varM
	varN
	variables
)

var variableNames = [variables]string{"x", "y", "u", "w", "m", "n"}

// term is k, k·param or k·param + variable.
type term struct {
	k     float64
	param int // -1 for none
	other int // variable; -1 for none
}

func (e term) text() string {
	s := fmt.Sprintf("%v", e.k)
	if e.param >= 0 {
		s += "*" + randomParams[e.param].name
	}
	if e.other >= 0 {
		s += " + " + variableNames[e.other]
	}
	return s
}

func (e term) value(s *[variables]slope) slope {
	v := number(e.k)
	if e.param >= 0 {
		p := number(randomParams[e.param].value)
		p.d[e.param] = 1
		v = v.times(p)
	}
	if e.other >= 0 {
		v = v.plus(s[e.other], 1)
	}
	return v
}

// atom is a comparison of a variable, or of time, with a term.
type atom struct {
	of    int // variable; -1 for time
	above bool
	than  term
}

func (a atom) text() string {
	name, sign := "t", " < "
	if a.of >= 0 {
		name = variableNames[a.of]
	}
	if a.above {
		sign = " > "
	}
	return name + sign + a.than.text()
}

type randomAssignment struct {
	to   int
	add  bool
	what term
}

type randomEvent struct {
	name                              string
	at                                []float64 // times; otherwise a condition
	when                              []atom
	start, once, transient, execution bool
	delay                             *term
	priority                          term
	body                              []randomAssignment
}

func (e *randomEvent) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "event %s ", e.name)
	if e.at != nil {
		fmt.Fprintf(&b, "at %s", strings.ReplaceAll(strings.Trim(fmt.Sprint(e.at), "[]"), " ", ", "))
	} else {
		for i, a := range e.when {
			b.WriteString([]string{"when ", " and "}[min(i, 1)] + a.text())
		}
	}
	if e.priority != (term{0, -1, -1}) {
		fmt.Fprintf(&b, " priority %s", e.priority.text())
	}
	if e.once {
		b.WriteString(" once")
	}
	if e.start {
		b.WriteString(" at start")
	}
	if e.delay != nil {
		fmt.Fprintf(&b, ", delay = %s", e.delay.text())
	}
	if e.execution {
		b.WriteString(", values = execution")
	}
	if e.transient {
		b.WriteString(", persistent = false")
	}
	b.WriteString(" {")
	for _, a := range e.body {
		fmt.Fprintf(&b, "  %s %s %s", variableNames[a.to], []string{"=", "+="}[btoi(a.add)], a.what.text())
	}
	b.WriteString(" }")
	return b.String()
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

const randomEnd = 7.3

type randomModel struct {
	events []randomEvent
	first  [variables]float64
	each   bool
}

func (m *randomModel) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "model Random\n\ntime t from 0 to %v\n", randomEnd)
	for _, p := range randomParams {
		fmt.Fprintf(&b, "param %s = %v\n", p.name, p.value)
	}
	fmt.Fprintf(&b, "state x = %v, y = %v\n", m.first[varX], m.first[varY])
	for v := varU; v < variables; v++ {
		fmt.Fprintf(&b, "discrete %s = %v\n", variableNames[v], m.first[v])
	}
	b.WriteString("x' = u\ny' = w\n")
	for i := range m.events {
		b.WriteString(m.events[i].text() + "\n")
	}
	for v := range variables {
		fmt.Fprintf(&b, "objective J%s = final(%s)\n", variableNames[v], variableNames[v])
	}
	fmt.Fprintf(&b, "solver { recheck = %s  max_events = 200 }\nsens { trust = off }\n",
		[]string{"round", "body"}[btoi(m.each)])
	return b.String()
}

// newRandomModel draws a model. Times are such that what coincides does so exactly, or moves together.
func newRandomModel(r *rand.Rand) *randomModel {
	m := &randomModel{each: r.IntN(2) == 0}
	generic := func(scale float64) float64 { return math.Round((0.1+r.Float64())*scale*1e6) / 1e6 }
	quarter := func(n int) float64 { return float64(1+r.IntN(n)) / 4 }
	m.first = [variables]float64{generic(1), -generic(1), quarter(6), -quarter(4)}
	m.first[varM], m.first[varN] = float64(r.IntN(3)), float64(r.IntN(3))
	var levels []atom
	for range 3 {
		levels = append(levels, atom{r.IntN(2), r.IntN(2) == 0, term{generic(2) * float64(1-2*r.IntN(2)), 0, -1}})
	}
	condition := func() atom {
		switch r.IntN(6) {
		case 0:
			return atom{-1, true, term{quarter(24), -1, -1}}
		case 1, 2:
			return atom{varM + r.IntN(2), r.IntN(2) == 0, term{float64(r.IntN(3)) + 0.5, -1, -1}}
		}
		return levels[r.IntN(len(levels))]
	}
	for i := range 2 + r.IntN(5) {
		e := randomEvent{name: fmt.Sprintf("e%d", i), priority: term{0, -1, -1}}
		if r.IntN(3) == 0 {
			for range 1 + r.IntN(3) {
				e.at = append(e.at, quarter(24))
			}
			slices.Sort(e.at)
			e.at = slices.Compact(e.at)
		} else {
			e.when = []atom{condition()}
			if r.IntN(3) == 0 {
				e.when = append(e.when, condition())
			}
			e.start = r.IntN(4) == 0
			e.transient = r.IntN(3) == 0
		}
		switch r.IntN(5) {
		case 0:
			e.delay = &term{quarter(8), -1, -1}
		case 1:
			e.delay = &term{generic(2), 2, -1}
		case 2:
			e.delay = &term{0, -1, -1}
		}
		if e.delay != nil {
			e.execution = r.IntN(3) == 0
		}
		e.once = r.IntN(8) == 0
		switch r.IntN(4) {
		case 0:
			e.priority.k = float64(r.IntN(5) - 2)
		case 1:
			e.priority = term{float64(r.IntN(3)) - 0.5, -1, varM + r.IntN(2)}
		}
		for range 1 + r.IntN(3) {
			a := randomAssignment{to: r.IntN(variables), add: r.IntN(2) == 0}
			if slices.ContainsFunc(e.body, func(b randomAssignment) bool { return b.to == a.to }) {
				continue
			}
			switch a.to {
			case varX, varY:
				a.what = term{generic(2) * float64(1-2*r.IntN(2)), 3, -1}
				if r.IntN(4) == 0 {
					a.what.other = 1 - a.to
				}
			case varU, varW:
				a.add = false
				a.what = term{generic(2) * float64(1-2*r.IntN(2)), 1, -1}
			default:
				a.what = term{float64(r.IntN(3)) - float64(btoi(a.add)), -1, -1}
				if r.IntN(4) == 0 {
					a.what.other = varM + varN - a.to
					a.add = false
				}
			}
			e.body = append(e.body, a)
		}
		m.events = append(m.events, e)
	}
	return m
}

// happened is what the simulator notes.
type happened struct {
	name string
	t    float64
}

// waiting is an execution that was triggered.
type waiting struct {
	at     slope
	values []slope
	order  int
	joined bool // the present group
}

// simulator runs a random model.
type simulator struct {
	*randomModel
	t       slope
	s       [variables]slope
	truth   [][]bool // of each atom, as the flow or the last body left it
	armed   []bool
	dead    []bool // of an event with once that has been triggered
	next    []int  // of events at times
	pending [][]*waiting
	log     []happened
	ended   string // why the model is not compared
}

// due is what may happen at the present time.
type dueMember struct {
	kind  int // 0 trigger or lapse, 1 execution or plain
	event int
	lapse bool
	wait  *waiting
	time  bool // an instant caused it
}

const atOnce = 1e-9

// holds evaluates the condition of an event with what atoms are known to be.
func (s *simulator) holds(i int) bool { return !slices.Contains(s.truth[i], false) }

// look evaluates atoms after a body. What stands on its threshold keeps its truth.
func (s *simulator) look() {
	for i := range s.events {
		for k, a := range s.events[i].when {
			if gap := s.gap(a).v; math.Abs(gap) > atOnce {
				s.truth[i][k] = gap > 0 == a.above
			}
		}
	}
}

func (s *simulator) gap(a atom) slope {
	v := s.t
	if a.of >= 0 {
		v = s.s[a.of]
	}
	return v.plus(a.than.value(&s.s), -1)
}

func (s *simulator) rate(of int) slope {
	switch of {
	case -1:
		return number(1)
	case varX:
		return s.s[varU]
	case varY:
		return s.s[varW]
	}
	return number(0)
}

// run simulates to the end.
func (s *simulator) run() {
	for v := range s.s {
		s.s[v] = number(s.first[v])
	}
	n := len(s.events)
	s.armed, s.dead, s.next, s.pending = make([]bool, n), make([]bool, n), make([]int, n), make([][]*waiting, n)
	s.truth = make([][]bool, n)
	var group []dueMember
	for i := range s.events {
		s.truth[i] = make([]bool, len(s.events[i].when))
	}
	s.look()
	for i, e := range s.events {
		if e.when == nil {
			continue
		}
		if s.armed[i] = !s.holds(i); !s.armed[i] && e.start {
			group = append(group, s.joins(i))
		}
	}
	if len(group) > 0 {
		s.group(group)
	}
	for s.ended == "" && s.flow() {
		if len(s.log) > 60 {
			s.ended = "too many"
		}
	}
}

// joins returns the member that event i makes when its condition becomes true.
func (s *simulator) joins(i int) dueMember {
	return dueMember{kind: btoi(s.events[i].delay == nil), event: i}
}

// flow goes on to the next time at which something happens, and lets it happen. It reports false at the end.
func (s *simulator) flow() bool {
	to := number(randomEnd)
	last := true
	earlier := func(t slope) {
		if t.v > s.t.v+atOnce && t.v < s.t.v+1e-6 {
			s.ended = "too near"
		}
		if t.v < to.v-atOnce {
			to, last = t, false
		}
	}
	for i, e := range s.events {
		if s.next[i] < len(e.at) && !s.dead[i] {
			earlier(number(e.at[s.next[i]]))
		}
		for _, w := range s.pending[i] {
			earlier(w.at)
		}
		for k, a := range e.when {
			gap, rate := s.gap(a), s.rate(a.of)
			if math.Abs(gap.v) <= atOnce {
				if rate.v != 0 && (rate.v > 0) == a.above != s.truth[i][k] {
					s.ended = "turned on a threshold"
				}
				continue
			}
			if rate.v != 0 && gap.v/rate.v < 0 {
				earlier(s.t.plus(gap.over(rate), -1))
			}
		}
	}
	step := to.plus(s.t, -1)
	for v := varX; v <= varY; v++ {
		s.s[v] = s.s[v].plus(s.rate(v).times(step), 1)
	}
	s.t = to
	if last || s.ended != "" {
		return false
	}
	var group []dueMember
	for i, e := range s.events {
		was := s.holds(i)
		for k, a := range e.when {
			if math.Abs(s.gap(a).v) <= atOnce && s.rate(a.of).v != 0 {
				s.truth[i][k] = (s.rate(a.of).v > 0) == a.above
			} else {
				s.truth[i][k] = s.gap(a).v > 0 == a.above
			}
		}
		if e.when == nil {
			continue
		}
		is := s.holds(i)
		switch {
		case is && s.armed[i] && !s.dead[i]:
			group = append(group, s.joins(i))
		case !is:
			s.armed[i] = true
			if was && e.transient && len(s.pending[i]) > 0 {
				group = append(group, dueMember{event: i, lapse: true})
			}
		}
	}
	s.group(append(group, s.due()...))
	return true
}

// due returns the instants at the present time: times of events, executions that waited.
func (s *simulator) due() (list []dueMember) {
	for i, e := range s.events {
		if s.next[i] < len(e.at) && e.at[s.next[i]] <= s.t.v+atOnce {
			s.next[i]++
			if !s.dead[i] {
				d := s.joins(i)
				d.time = true
				list = append(list, d)
			}
		}
		for _, w := range s.pending[i] {
			if !w.joined && w.at.v <= s.t.v+atOnce {
				w.joined = true
				list = append(list, dueMember{kind: 1, event: i, wait: w})
			}
		}
	}
	return list
}

// group lets everything happen that is due at one time, and what this sets off.
func (s *simulator) group(wave []dueMember) {
	for rounds := 0; len(wave) > 0; {
		if rounds++; rounds > 40 {
			s.ended = "a cascade"
			return
		}
		if s.each { // whoever joins is armed again by being false
			for _, w := range wave {
				if w.wait == nil && !w.lapse && !w.time {
					s.armed[w.event] = false
				}
			}
		}
		for len(wave) > 0 {
			slices.SortStableFunc(wave, s.compare)
			m := wave[0]
			wave = wave[1:]
			s.happen(m)
			s.look()
			if len(s.log) > 80 {
				s.ended = "too many"
				return
			}
			wave = slices.DeleteFunc(wave, func(w dueMember) bool {
				e := &s.events[w.event]
				return e.transient && (w.wait != nil || e.delay == nil) && !s.holds(w.event)
			})
			if s.each {
				wave = append(wave, s.becoming(wave)...)
				wave = append(wave, s.due()...)
			}
		}
		wave = append(s.becoming(nil), s.due()...)
	}
}

// becoming returns the events whose condition has become true, and the lapses of those that ceased to hold.
func (s *simulator) becoming(wave []dueMember) (list []dueMember) {
	for i, e := range s.events {
		if e.when == nil {
			continue
		}
		if !s.holds(i) {
			s.armed[i] = true
			if e.transient && len(s.pending[i]) > 0 &&
				!slices.ContainsFunc(wave, func(w dueMember) bool { return w.lapse && w.event == i }) {
				list = append(list, dueMember{event: i, lapse: true})
			}
			continue
		}
		if s.armed[i] && !s.dead[i] {
			if s.each {
				s.armed[i] = false
			}
			list = append(list, s.joins(i))
		}
	}
	return list
}

func (s *simulator) compare(a, b dueMember) int {
	if a.kind != b.kind {
		return a.kind - b.kind
	}
	if a.kind == 1 {
		pa, pb := s.events[a.event].priority.value(&s.s).v, s.events[b.event].priority.value(&s.s).v
		if pa != pb {
			return btoi(pa < pb) - btoi(pa > pb)
		}
	}
	if a.event != b.event {
		return a.event - b.event
	}
	if a.wait != nil && b.wait != nil {
		return a.wait.order - b.wait.order
	}
	return 0
}

// happen lets one member happen.
func (s *simulator) happen(m dueMember) {
	e := &s.events[m.event]
	name := e.name
	switch {
	case m.lapse:
		s.log = append(s.log, happened{name + ".lapse", s.t.v})
		s.pending[m.event] = nil
		return
	case m.kind == 0:
		s.log = append(s.log, happened{name + ".trigger", s.t.v})
		s.armed[m.event], s.dead[m.event] = false, e.once
		w := &waiting{at: s.t.plus(e.delay.value(&s.s), 1), order: len(s.log)}
		for _, a := range e.body {
			w.values = append(w.values, a.what.value(&s.s))
		}
		s.pending[m.event] = append(s.pending[m.event], w)
		return
	}
	s.log = append(s.log, happened{name, s.t.v})
	if m.wait == nil {
		s.armed[m.event], s.dead[m.event] = false, e.once
	}
	s.pending[m.event] = slices.DeleteFunc(s.pending[m.event], func(w *waiting) bool { return w == m.wait })
	old := s.s
	for k, a := range e.body {
		v := a.what.value(&old)
		if m.wait != nil && !e.execution {
			v = m.wait.values[k]
		}
		if a.add {
			v = v.plus(old[a.to], 1)
		}
		s.s[a.to] = v
	}
}

// TestRandomEvents compares random models with the simulator: what happens, when, in which order, and with what result
// and which derivatives.
func TestRandomEvents(t *testing.T) {
	models := *randomEvents
	if models == 0 {
		models = 160
		if testing.Short() {
			models = 40
		}
	}
	list := []int{2016, 2457} // these showed what was wrong
	first := int(seeds.Of(t, 0))
	for i := range models {
		list = append(list, first+i)
	}
	compared, left, wrong := 0, map[string]int{}, 0
	for _, seed := range list {
		m := newRandomModel(rand.New(rand.NewPCG(uint64(seed), 12)))
		sim := &simulator{randomModel: m}
		sim.run()
		if sim.ended != "" {
			left[sim.ended]++
			continue
		}
		compared++
		if err := sim.agrees(t); err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, m.text())
			if wrong++; wrong == 5 {
				break
			}
		}
	}
	t.Logf("%d compared; left out: %v", compared, left)
	if compared < models*9/10 {
		t.Errorf("only %d of %d compared", compared, models)
	}
}

func (s *simulator) agrees(t *testing.T) error {
	parsed, err := odes.Parse("random.ode", s.text(), odes.ParseOptions{})
	if err != nil {
		return err
	}
	got, err := parsed.Sensitivities(t.Context(), odes.Options{Threads: 1, Wrt: []string{"c", "r", "tau", "a"}})
	if err != nil {
		return err
	}
	for i := range max(len(got.Events), len(s.log)) {
		if i >= len(got.Events) || i >= len(s.log) || got.Events[i].Name != s.log[i].name ||
			math.Abs(got.Events[i].T-s.log[i].t) > 1e-7 {
			var list []string
			for _, e := range got.Events {
				list = append(list, fmt.Sprintf("%s %.7g", e.Name, e.T))
			}
			return fmt.Errorf("event %d differs:\ngot  %s\nwant %v", i, strings.Join(list, ", "), s.log)
		}
	}
	for v := range variables {
		if math.Abs(got.Values[v].Value-s.s[v].v) > 1e-7*(1+math.Abs(s.s[v].v)) {
			return fmt.Errorf("%s = %v, want %v", variableNames[v], got.Values[v].Value, s.s[v].v)
		}
		for k, w := range s.s[v].d {
			if g := got.Gradient[v*len(randomParams)+k]; math.Abs(g-w) > 1e-6*(1+math.Abs(w)) {
				return fmt.Errorf("d%s/d%s = %v, want %v", variableNames[v], randomParams[k].name, g, w)
			}
		}
	}
	return nil
}
