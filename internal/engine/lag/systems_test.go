package lag_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/internal/testing/seeds"
)

var (
	systems = flag.Int("systems", 10, "random systems of linear delay equations")
	moving  = flag.Float64("moving", 0.2, "part of systems whose delays move")
	twice   = flag.Int("twice", 8, "one of so many systems has second derivatives")
	told    = flag.Bool("told", false, "tell counts as systems are drawn")
	single  = flag.Uint64("system", 0, "the one system that is drawn, by the seed that a failure tells")
)

// drawing draws a system. On a grid, delays and times are multiples of a quarter, so that much comes at one time.
type drawing struct {
	*rand.Rand
	*system
	grid bool
}

func (d *drawing) chance(p float64) bool { return d.Float64() < p }

// uniform returns a number of four digits.
func (d *drawing) uniform(lo, hi float64) float64 {
	return math.Round((lo+(hi-lo)*d.Float64())*1e4) / 1e4
}

// moment is uniform, on the grid where there is one.
func (d *drawing) moment(lo, hi float64) float64 {
	if d.grid {
		return math.Ceil(d.uniform(lo, hi)*4) / 4
	}
	return d.uniform(lo, hi)
}

// param adds a param.
func (d *drawing) param(kind string, v float64) int {
	d.p = append(d.p, v)
	d.names = append(d.names, fmt.Sprintf("%s%d", kind, len(d.p)))
	return len(d.p) - 1
}

// reading draws what is read, at the present or earlier.
func (d *drawing) reading(late bool) reading {
	r := reading{
		of:    []form{formState, formState, formState, formPlus, formTimes, formSetting, formTime}[d.IntN(7)],
		state: d.IntN(len(d.initial)), delay: -1,
	}
	if late {
		r.delay = d.IntN(len(d.delays))
	}
	return r
}

// drawSystem draws a system.
func drawSystem(r *rand.Rand) *system {
	d := &drawing{Rand: r, system: &system{}, grid: r.Float64() < 0.35}
	d.end = d.moment(2.2, 5.5)
	d.setting = d.param("u", d.uniform(-1, 1))
	moves := d.chance(*moving)
	for range 2 + d.IntN(3) {
		i := d.param("tau", d.moment(0.3, 1.7))
		d.delays = append(d.delays, delayed{i, 1, -1})
		if moves && d.chance(0.5) {
			slope := d.param("s", d.uniform(0, 0.3))
			if d.p[i] > 1.2 && d.chance(0.5) {
				d.p[slope] /= -2
			}
			d.delays[len(d.delays)-1].slope = slope
		} else if d.chance(0.2) && d.p[i] > 0.7 {
			d.delays = append(d.delays, delayed{i, 0.5, -1})
		}
	}
	for range 1 + d.IntN(3) {
		i := d.param("i", d.uniform(-1, 1))
		d.initial = append(d.initial, i)
		past := pastOf{p: -1}
		switch x := d.Float64(); {
		case x < 0.25:
			past.p, past.q = d.param("p", d.uniform(-1, 1)), d.param("q", d.uniform(-1, 1))
		case x < 0.35: // no jump
			past.p, past.q = i, d.param("q", d.uniform(-1, 1))
		case x < 0.5:
			past.t = []float64{-9, -d.moment(0.6, 1.2) - 0.5, -d.moment(0.1, 0.5), 0}
			for range past.t {
				past.x = append(past.x, d.uniform(-1, 1))
			}
		}
		d.pasts = append(d.pasts, past)
	}
	n := len(d.initial)
	for range d.IntN(3) {
		c := condition{reading: d.reading(d.chance(0.6)), event: d.chance(0.5), to: d.IntN(n), sets: d.chance(0.3)}
		if c.of == formSetting { // it could be at its threshold for a while
			c.of = formState
		}
		c.level, c.by = d.param("l", d.uniform(-1, 1)), d.param("j", d.uniform(-1, 1))
		d.conditions = append(d.conditions, c)
	}
	for i := range n {
		list := []term{{reading{formState, i, -1}, d.param("a", d.uniform(-1, 0.3)), 0, -1}}
		for range 1 + d.IntN(3) {
			t := term{d.reading(d.chance(0.8)), d.param("c", d.uniform(-1, 1)), 0, -1}
			if len(d.conditions) > 0 && d.chance(0.3) {
				k := d.IntN(len(d.conditions))
				if !d.conditions[k].event {
					t.condition, t.other = k, d.param("e", d.uniform(-1, 1))
				}
			}
			list = append(list, t)
		}
		d.rates = append(d.rates, list)
	}
	for range d.IntN(3) {
		k := kick{d.param("T", d.moment(0.1, 2)), d.param("d", d.uniform(-1, 1)), d.IntN(n), d.IntN(3)}
		if slices.ContainsFunc(d.kicks, func(o kick) bool { return d.p[o.at] == d.p[k.at] }) {
			continue
		}
		d.kicks = append(d.kicks, k)
	}
	for range 1 + d.IntN(3) {
		t := d.moment(0.1, d.end-0.3)
		if !slices.ContainsFunc(d.kicks, func(k kick) bool { return d.p[k.at] == t }) && !slices.Contains(d.reads, t) {
			d.reads = append(d.reads, t)
		}
	}
	slices.Sort(d.reads)
	d.read = [3]reading{d.reading(d.chance(0.3)), d.reading(d.chance(0.3)), d.reading(true)}
	return d.system
}

// written writes what is read.
func (m *system) written(r reading) string {
	x := fmt.Sprintf("x%d", r.state+1)
	e := []string{x, "(" + x + " + t)", "(u*" + x + ")", "u", "t"}[r.of]
	if r.delay < 0 {
		return e
	}
	if r.of == formTime {
		e = fmt.Sprintf("(t + 0*%s)", x) // time alone has no past
	}
	tau := m.delays[r.delay]
	by := m.names[tau.param]
	if tau.factor != 1 {
		by += fmt.Sprintf("*%v", tau.factor)
	}
	if tau.slope >= 0 {
		by += " + " + m.names[tau.slope] + "*t"
	}
	return fmt.Sprintf("delay(%s, %s)", e, by)
}

// text writes the model.
func (m *system) text() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("time t from 0 to %v", m.end)
	for i, name := range m.names {
		p("param %s = %v", name, m.p[i])
	}
	p("discrete u = %s", m.names[m.setting])
	for i, of := range m.initial {
		p("state x%d = %s", i+1, m.names[of])
		numbers := func(v []float64) string { return strings.ReplaceAll(fmt.Sprint(v), " ", ", ") }
		if past := m.pasts[i]; past.p >= 0 {
			p("past x%d = %s + %s*t", i+1, m.names[past.p], m.names[past.q])
		} else if past.t != nil {
			p("past x%d = interp(%s, %s, t)", i+1, numbers(past.t), numbers(past.x))
		}
	}
	for i, list := range m.rates {
		var terms []string
		for j, t := range list {
			c := m.names[t.coef]
			if t.condition >= 0 {
				of := m.conditions[t.condition]
				c = fmt.Sprintf("(if %s > %s then %s else %s)", m.written(of.reading), m.names[of.level], c,
					m.names[t.other])
			}
			e := m.written(t.reading)
			if j%2 == 1 {
				p("let y%d_%d = %s", i+1, j, e)
				e = fmt.Sprintf("y%d_%d", i+1, j)
			}
			terms = append(terms, c+"*"+e)
		}
		p("x%d' = %s", i+1, strings.Join(terms, " + "))
	}
	for i, c := range m.conditions {
		if c.event {
			sets := ""
			if c.sets {
				sets = fmt.Sprintf("; u += %s", m.names[c.by])
			}
			p("event e%d when %s > %s { x%d += %s%s }", i+1, m.written(c.reading), m.names[c.level], c.to+1,
				m.names[c.by], sets)
		}
	}
	for i, k := range m.kicks {
		body := fmt.Sprintf([]string{"x%d += %s", "x%d *= 1 + %s", "u = %[2]s"}[k.kind], k.to+1, m.names[k.by])
		p("event k%d at %s { %s }", i+1, m.names[k.at], body)
	}
	at := strings.ReplaceAll(fmt.Sprint(m.reads), " ", ", ")
	p("objective final = final(x1)")
	p("objective product = final(x1*x%d)", len(m.initial))
	p("objective sum = sum_at(%s, %s)", at, m.written(m.read[0]))
	p("objective products = sum_at(%s, %s*%s)", at, m.written(m.read[0]), m.written(m.read[1]))
	p("objective area = integral(%s)", m.written(m.read[2]))
	p("objective squares = integral(x1^2)")
	return b.String()
}

// slopes are the derivatives of objectives by a param on both sides, first and second, and whether these are known.
type slopes struct {
	first, second            [2][]float64
	known, jumps, knownTwice []bool
}

// slopes makes derivatives by param k from values v by differences, at two distances.
func (m *system) slopes(k int, v []float64) (s slopes, ok bool) {
	const h = 1e-3
	n := len(v)
	s.known, s.jumps, s.knownTwice = make([]bool, n), make([]bool, n), make([]bool, n)
	for i := range n {
		s.known[i], s.knownTwice[i] = true, true
	}
	for side, way := range []float64{-1, 1} {
		f := func(by float64) []float64 {
			p := slices.Clone(m.p)
			p[k] += way * by * h
			v, good := m.solve(p)
			ok = good
			return v
		}
		s.first[side], s.second[side] = make([]float64, n), make([]float64, n)
		var at [5][]float64
		for j, by := range []float64{0.5, 1, 1.5, 2, 3} {
			if at[j] = f(by); !ok {
				return s, false
			}
		}
		for i := range n {
			d := func(a, b, c, by float64) (first, second float64) {
				return way * (-11*v[i] + 18*a - 9*b + 2*c) / (6 * by), (2*v[i] - 5*a + 4*b - c) / (by * by)
			}
			a, a2 := d(at[0][i], at[1][i], at[2][i], h/2)
			b, b2 := d(at[1][i], at[3][i], at[4][i], h)
			s.first[side][i], s.second[side][i] = a, a2
			leap := math.Abs(at[0][i] - v[i])
			s.jumps[i] = s.jumps[i] || leap > 1e-2 && leap > 20*math.Abs(at[4][i]-at[0][i])
			s.known[i] = s.known[i] && math.Abs(a-b) <= 3e-6*max(1, math.Abs(a))
			s.knownTwice[i] = s.knownTwice[i] && math.Abs(a2-b2) <= 1e-4*max(1, math.Abs(a2))
		}
	}
	return s, true
}

// leaps tells which objectives, of which v are the values, leap where any time moves.
func (m *system) leaps(v []float64) []bool {
	list := make([]bool, len(v))
	var times []int
	for _, d := range m.delays {
		times = append(times, d.param)
	}
	for _, k := range m.kicks {
		times = append(times, k.at)
	}
	for _, k := range times {
		for _, by := range []float64{-1e-7, 1e-7} {
			p := slices.Clone(m.p)
			p[k] += by
			w, ok := m.solve(p)
			for i := range list {
				list[i] = list[i] || !ok || math.Abs(w[i]-v[i]) > 1e-4
			}
		}
	}
	return list
}

// counts are what came of random systems.
type counts struct {
	systems, refused, values, derivatives, marked, needless, sided int
	seconds, secondMarked, secondNeedless, silent                  int
	why                                                            map[string]int
}

func (c *counts) String() string {
	return fmt.Sprintf("%d systems, %d refused, %d values, %d derivatives (%d marked, %d of these needlessly; %d with "+
		"two sides), %d second ones (%d marked, %d of these needlessly), %d silent; %v", c.systems, c.refused, c.values,
		c.derivatives, c.marked, c.needless, c.sided, c.seconds, c.secondMarked, c.secondNeedless, c.silent, c.why)
}

// TestSystems compares random systems of linear delay equations with the method of steps: several delays, some of them
// parts of others, pasts that jump, bend or come from a table, discretes, modes and events by time and by what is read.
// In some, much comes at one time. What is not right must have a mark.
func TestSystems(t *testing.T) {
	seed := seeds.Of(t, 5)
	if *single != 0 {
		seed, *systems = *single, 1
	}
	c := &counts{why: map[string]int{}}
	for k := 0; c.systems < *systems; k++ {
		r := rand.New(rand.NewPCG(seed+uint64(k), 59))
		m := drawSystem(r)
		if len(m.reads) == 0 {
			continue
		}
		v, ok := m.solve(m.p)
		if !ok {
			continue
		}
		c.systems++
		c.compare(t, seed+uint64(k), r, m, v)
		if *told && c.systems%50 == 0 {
			fmt.Println(c)
		}
	}
	t.Log(c)
	if c.derivatives < 10**systems {
		t.Errorf("too little was compared: %v", c)
	}
}

// compare runs a system and compares it with values v of the method of steps.
func (c *counts) compare(t *testing.T, seed uint64, r *rand.Rand, m *system, v []float64) {
	var by []int
	for _, d := range m.delays {
		if len(by) < 2 && !slices.Contains(by, d.param) {
			by = append(by, d.param)
		}
	}
	for _, k := range r.Perm(len(m.p)) {
		if len(by) < 6 && !slices.Contains(by, k) {
			by = append(by, k)
		}
	}
	var names []string
	for _, k := range by {
		names = append(names, m.names[k])
	}
	method, mode := drawn[r.IntN(len(drawn))], []string{"adjoint", "tangent", "forward"}[r.IntN(3)]
	settings := modeltest.Settings("solver.rtol", "1e-9", "sens.mode", mode, "solver.method", method)
	seconds := *twice > 0 && r.IntN(*twice) == 0 && mode != "forward"
	run := func() (*odes.Sensitivities, error) {
		model, err := odes.Parse("random.ode", m.text(), odes.ParseOptions{})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, m.text())
		}
		o := settings
		if seconds {
			o = append(slices.Clone(o), odes.Setting{Key: "sens.order", Value: "2"})
		}
		return model.Sensitivities(context.Background(), odes.Options{Wrt: names, Settings: o, Threads: 1})
	}
	s, err := run()
	if err != nil && seconds {
		c.why["second: "+why(err)]++
		seconds = false
		s, err = run()
	}
	if err != nil {
		c.refused++
		c.why[why(err)]++
		return
	}
	fail := func(format string, args ...any) {
		c.silent++
		t.Errorf("seed %d, %s, %s: "+format+"\n%s", append([]any{seed, method, mode}, append(args, m.text())...)...)
	}
	jumps := m.leaps(v)
	for _, k := range by {
		of, ok := m.slopes(k, v)
		if !ok {
			continue
		}
		j := slices.IndexFunc(s.Variables, func(x odes.Variable) bool { return x.String() == m.names[k] })
		for i := range v {
			if !of.known[i] || jumps[i] && !of.jumps[i] { // as it is before a jump, or behind it
				continue
			}
			c.derivatives++
			x := s.Variables[j]
			grade := modeltest.Grade(s, i, x)
			got := s.Derivative(i, x)[0]
			left, right := of.first[0][i], of.first[1][i]
			size := max(1, math.Abs(left))
			sided := !(math.Abs(left-right) <= 1e-5*size)
			right = (left + right) / 2
			off := math.Abs(got - right)
			switch {
			case grade != odes.Sound:
				c.marked++
				if !sided && off <= 1e-5*size {
					c.needless++
				}
			case sided:
				fail("d %s/d %s = %.10g, and the sides are %.10g and %.10g", s.Values[i].Name, m.names[k], got, left,
					of.first[1][i])
			case !(off <= 1e-5*size):
				fail("d %s/d %s = %.10g, want %.10g", s.Values[i].Name, m.names[k], got, right)
			}
			if sided {
				c.sided++
			}
			if !seconds || !of.knownTwice[i] {
				continue
			}
			c.seconds++
			at := i*s.Columns*s.Columns + x.Offset*s.Columns + x.Offset
			marked := s.HessianTrusts != nil && s.HessianTrusts[at] != odes.Sound || grade != odes.Sound
			left, right = of.second[0][i], of.second[1][i]
			size = max(1, math.Abs(left))
			bent := sided || !(math.Abs(left-right) <= 1e-3*size)
			right, got = (left+right)/2, s.Hessian[at]
			switch {
			case marked:
				c.secondMarked++
				if !bent && math.Abs(got-right) <= 1e-3*size {
					c.secondNeedless++
				}
			case bent:
				fail("d² %s/d %s² = %.10g, and the sides are %.10g and %.10g", s.Values[i].Name, m.names[k], got, left,
					of.second[1][i])
			case !(math.Abs(got-right) <= 1e-3*size):
				fail("d² %s/d %s² = %.10g, want %.10g", s.Values[i].Name, m.names[k], got, right)
			}
		}
	}
	for i, want := range v {
		if jumps[i] {
			continue
		}
		c.values++
		if got := s.Values[i]; got.Trust == odes.Sound && !(math.Abs(got.Value-want) <= 1e-7*max(1, math.Abs(want))) {
			fail("%s = %.12g, want %.12g", got.Name, got.Value, want)
		}
	}
}

// why shortens an error.
func why(err error) string {
	text := err.Error()
	if i := strings.Index(text, "error: "); i >= 0 {
		text = text[i+7:]
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '#'
		}
		return r
	}, text[:min(len(text), 90)])
}
