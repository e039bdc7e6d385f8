package truth

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// motion is a state whose course is known.
type motion struct {
	name   string
	course signal
	// meets returns when the state is at a level, ascending, after the start and before the end.
	meets func(level num) []num
}

// at returns the state at a time, without derivatives.
func (m motion) at(t float64) float64 { return m.course.value(lit(t)).re() }

// moving draws a state that moves through levels.
func (d *driver) moving() motion {
	from, to := d.from.num, d.to.num
	inside := func(list ...num) []num {
		list = slices.DeleteFunc(list, func(t num) bool { return !(t.re() > from.re() && t.re() < to.re()) })
		slices.SortFunc(list, func(a, b num) int { return cmp.Compare(a.re(), b.re()) })
		return list
	}
	zero := num{}
	switch d.pick(5) {
	default: // a line
		r := d.param("r", d.rounded(d.uniform(0.3, 5)/d.duration(), 0, math.Inf(1), 4))
		x0 := d.param("x0", d.uniform(-2, 2))
		d.scaled(r.re() * d.duration())
		name := d.state("x", x0.text, r.text)
		return motion{name, constant(from, to, r.num).through(zero, x0.num), func(c num) []num {
			return inside(from.add(c.sub(x0.num).div(r.num)))
		}}
	case 1: // a decay
		k, x0 := d.rate("k"), d.param("x0", d.uniform(1, 10))
		name := d.state("x", x0.text, "-"+k.text+"*$")
		return motion{name, constant(from, to, zero).through(k.num, x0.num), func(c num) []num {
			if c.re() <= 0 {
				return nil
			}
			return inside(from.add(x0.div(c).log().div(k.num)))
		}}
	case 2: // towards a plateau
		k, m := d.rate("k"), d.param("m", d.uniform(1, 10))
		name := d.state("x", "0", fmt.Sprintf("%s*(%s - $)", k, m))
		return motion{name, constant(from, to, k.mul(m.num)).through(k.num, zero), func(c num) []num {
			if c.re() >= m.re() {
				return nil
			}
			return inside(from.sub(lit(1).sub(c.div(m.num)).log().div(k.num)))
		}}
	case 3: // an oscillator
		om := d.param("om", d.rounded(d.uniform(2, 60)/d.duration(), 0, math.Inf(1), 4))
		d.scaled(1 / d.duration())
		x0 := d.param("x0", d.uniform(0.5, 5))
		v := d.fresh("v")
		name := d.state("x", x0.text, v)
		d.item("state %s = 0", v)
		d.equations = append(d.equations, fmt.Sprintf("%s' = -%s^2*%s", v, om, name))
		return motion{name, wave(from, to, zero, x0.num, om.num, om.mul(from).neg()), func(c num) []num {
			if math.Abs(c.re()) >= x0.re() {
				return nil
			}
			angle := c.div(x0.num).acos()
			var list []num
			for k := 0.0; 2*math.Pi*(k-1) < om.re()*d.duration(); k++ {
				list = append(list, from.add(angle.plus(2*math.Pi*k).div(om.num)),
					from.add(angle.neg().plus(2*math.Pi*k).div(om.num)))
			}
			return inside(list...)
		}}
	case 4: // a throw: it turns back at the middle m, where it is h
		g := d.param("g", d.rounded(d.uniform(1, 9)/(d.duration()*d.duration()), 0, math.Inf(1), 4))
		v0 := d.param("v0", d.rounded(g.re()*d.duration()*d.uniform(0.2, 0.8), 0, math.Inf(1), 4))
		x0 := d.param("x0", d.uniform(0.1, 2))
		sign := d.oneOf("-", "")
		v := d.fresh("v")
		name := d.state("x", x0.text, v)
		d.item("state %s = %s", v, map[string]string{"-": "", "": "-"}[sign]+v0.text)
		d.equations = append(d.equations, v+"' = "+sign+g.text)
		s := 1.0
		if sign == "" {
			s = -1
		}
		course := constant(from, to, g.times(-s)).through(zero, v0.times(s)).through(zero, x0.num)
		return motion{name, course, func(c num) []num {
			// x0 ± (v0 τ - g τ²/2) = c
			root := v0.mul(v0.num).sub(g.mul(c.sub(x0.num)).times(2 * s))
			if root.re() <= 0 {
				return nil
			}
			r := root.sqrt()
			return inside(from.add(v0.sub(r).div(g.num)), from.add(v0.add(r).div(g.num)))
		}}
	}
}

// conditioned is a condition on a state: when it changes, and whether it holds.
type conditioned struct {
	text  string
	times []num
	holds func(t float64) bool
}

// ofState draws a condition on a state: a threshold, or a window.
func (d *driver) ofState(m motion) conditioned {
	t := d.time(0.05, 0.95)
	level := m.at(t)
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range 400 {
		x := m.at(d.from.re() + (float64(i)+0.5)/400*d.duration())
		lo, hi = min(lo, x), max(hi, x)
	}
	if d.chance(0.25) { // near the turn of the course: a dip
		level = lo + (hi-lo)*d.log(1e-4, 0.03)
		if d.chance(0.5) {
			level = hi - (hi-lo)*d.log(1e-4, 0.03)
		}
	}
	level = d.rounded(level, math.Inf(-1), math.Inf(1), 5)
	if level == m.at(d.from.re()) { // whether it becomes true there is not for a closed form to say
		level = (lo + hi) / 2
	}
	c := d.param("c", level)
	d.scaled(hi - lo)
	x := m.name
	var out conditioned
	if k := d.pick(7); k < 3 {
		out.times = m.meets(c.num)
		out.text = []string{x + " > " + c.text, x + " < " + c.text, "not (" + x + " > " + c.text + ")"}[k]
		above := k == 0
		out.holds = func(t float64) bool { return m.at(t) > c.re() == above }
	} else {
		w := d.param("w", d.rounded((hi-lo)*d.log(1e-3, 0.2), 0, math.Inf(1), 4))
		low, high := c.num, c.add(w.num)
		out.text = words([]string{
			"x > c and x < c + w", "(x - c)*(x - c - w) < 0", "not (x < c or x > c + w)",
			"abs(x - c) < w",
		}[k-3], map[string]string{"x": x, "c": c.text, "w": w.text})
		if k == 6 {
			low = c.sub(w.num)
		}
		out.times = append(m.meets(low), m.meets(high)...)
		slices.SortFunc(out.times, func(a, b num) int { return cmp.Compare(a.re(), b.re()) })
		out.holds = func(t float64) bool { return m.at(t) > low.re() && m.at(t) < high.re() }
	}
	d.separate(out.times...)
	return out
}

// middles returns times between the changes of a condition, before the first and after the last of them, too.
func (d *driver) middles(times []num) []float64 {
	var list []float64
	before := d.from.re()
	for _, t := range append(slices.Clone(times), d.to.num) {
		list = append(list, (before+t.re())/2)
		before = t.re()
	}
	return list
}

// byState draws a signal that a condition on a state switches.
func (d *driver) byState() known { return d.switched(d.moving()) }

// switched draws a signal that a condition on a motion switches.
func (d *driver) switched(m motion) known {
	c := d.ofState(m)
	A := d.amplitude("A")
	level := []num{}
	for _, t := range d.middles(c.times) {
		if c.holds(t) {
			level = append(level, A.num)
		} else {
			level = append(level, num{})
		}
	}
	return known{"if " + c.text + " then " + A.text + " else 0", levels(d.from.num, d.to.num, c.times, level)}
}

// risings returns the times at which a condition becomes true.
func (d *driver) risings(c conditioned) []num {
	var list []num
	middle := d.middles(c.times)
	for i, t := range c.times {
		if !c.holds(middle[i]) && c.holds(middle[i+1]) {
			list = append(list, t)
		}
	}
	return list
}

// counted makes objectives of an event that happens at known times: how often, when, and what it adds to a state.
func (d *draw) counted(event string, at []num) {
	n := d.fresh("n")
	d.item("discrete %s = 0", n)
	A := d.amplitude("D")
	y := d.fresh("y")
	d.item("event e when %s { %s += 1  %s += %s }", event, n, y, A)
	var amounts []num
	for range at {
		amounts = append(amounts, A.num)
	}
	d.readState(y, impulses(d.from.num, d.to.num, at, amounts))
	d.objective("final("+n+")", lit(float64(len(at))), 1)
	if len(at) > 0 && d.chance(0.4) {
		k := 1 + d.pick(min(len(at), 5))
		d.objective(fmt.Sprintf("event_time(e, %d)", k), at[k-1], 0)
	}
}

// ofMotion draws functions with kinks of a state.
func (d *driver) ofMotion() known { return d.kinkedBy(d.moving()) }

// kinkedBy draws functions with kinks of a motion.
func (d *driver) kinkedBy(m motion) known {
	A := d.amplitude("A")
	span := func(t float64) float64 { return m.at(d.from.re() + t*d.duration()) }
	c := d.param("c", d.rounded(span(d.uniform(0.1, 0.9)), math.Inf(-1), math.Inf(1), 5))
	d.scaled(math.Abs(span(0.99)-span(0.01)) + 0.1)
	one := lit(1)
	x := m.course
	above := x.add(constant(d.from.num, d.to.num, c.neg())) // x - c
	// pieces returns the signal that is left(x - c) below c and right above.
	pieces := func(left, right num) signal {
		times := m.meets(c.num)
		d.separate(times...)
		var level []num
		for _, t := range d.middles(times) {
			if m.at(t) < c.re() {
				level = append(level, left)
			} else {
				level = append(level, right)
			}
		}
		return above.mul(levels(d.from.num, d.to.num, times, level)).times(A.num)
	}
	switch d.pick(4) {
	default:
		return known{fmt.Sprintf("%s*abs(%s - %s)", A, m.name, c), pieces(one.neg(), one)}
	case 1:
		return known{fmt.Sprintf("%s*max(%s - %s, 0)", A, m.name, c), pieces(num{}, one)}
	case 2:
		return known{
			fmt.Sprintf("%s*min(%s, %s)", A, m.name, c),
			pieces(one, num{}).add(constant(d.from.num, d.to.num, A.mul(c.num))),
		}
	case 3: // a table of three knots: 0 at c, linear to both sides with other slopes
		far := 1e3
		low, high := c.re()-far, c.re()+far
		l, r := d.uniform(-2, 2), d.uniform(-2, 2)
		name := d.fresh("T")
		d.item("const %s = [%s, 0, %s], R%s = [%s, 0, %s]", name, number(low-c.re()), number(high-c.re()), name,
			number(-far*l), number(far*r))
		return known{fmt.Sprintf("%s*interp(%s, R%s, %s - %s)", A, name, name, m.name, c), pieces(lit(l), lit(r))}
	}
}

// sawtooth draws a state that an event puts back whenever it reaches a level, beside an event that this arms again.
func (d *draw) sawtooth() {
	cycles := d.uniform(1.2, 15)
	r := d.param("r", d.rounded(cycles/d.duration(), 0, math.Inf(1), 4))
	x := d.state("x", "0", r.text)
	from := d.from.num
	n, y := d.fresh("n"), d.fresh("y")
	d.item("discrete %s = 0", n)
	A := d.amplitude("D")
	c := d.param("c", d.uniform(0.1, 0.9))
	d.scaled(1)
	var top num // of the sawtooth
	switch d.pick(4) {
	case 0: // put back at the top
		top = d.param("top", d.uniform(1, 1.2)).num
		d.item("event back when %s >= top { %s = 0 }", x, x)
		d.item("event e when %s > %s { %s += 1  %s += %s }", x, c, n, y, A)
	case 1: // put back at times
		P := d.param("P", d.rounded(d.duration()/cycles, 0, math.Inf(1), 4))
		d.item("event back every %s from %s + %s { %s = 0 }", P, d.from, P, x)
		d.item("event e when %s > %s { %s += 1  %s += %s }", x, c, n, y, A)
		top = r.mul(P.num)
	case 2: // by modes in the condition
		top = lit(1)
		d.item("event e when %s - floor(%s) > %s { %s += 1  %s += %s }", x, x, c, n, y, A)
	case 3: // by another state, which is put far away
		top = lit(1)
		z := d.state("z", "0", r.text)
		d.item("event back when %s >= 1 { %s = 0  %s = 0 }", z, x, z)
		d.item("event e when %s > %s { %s += 1  %s += %s }", x, c, n, y, A)
	}
	var at, amounts []num
	times := []num{}
	for k := 0.0; ; k++ {
		start := from.add(top.times(k).div(r.num))
		if start.re() > d.to.re() {
			break
		}
		times = append(times, start)
		if t := start.add(c.div(r.num)); t.re() < d.to.re() && c.re() < top.re() {
			at, amounts = append(at, t), append(amounts, A.num)
		}
	}
	d.separate(append(times[1:], at...)...)
	d.readState(y, impulses(from, d.to.num, at, amounts))
	d.objective("final("+n+")", lit(float64(len(at))), 1)
}

// chain draws compartments in a row that rest at zero, and perhaps a dose into the first of them.
func (d *draw) chain() {
	n := 1 + d.pick(4)
	from, to := d.from.num, d.to.num
	u := constant(from, to, num{})
	dosed := d.chance(0.5)
	var D value
	if dosed {
		dose := 0.0
		if d.chance(0.7) {
			dose = d.uniform(1, 10)
		}
		D = d.param("D", dose)
		d.scaled(max(dose, 1))
		td := d.instant("td", d.time(0.02, 0.9))
		d.separate(td.num)
		u = impulses(from, to, []num{td.num}, []num{D.num})
		d.item("event dose at %s { x1 += %s }", td, D)
	}
	slow := d.rate("k1")
	rate := slow
	inflow := ""
	for i := 1; i <= n; i++ {
		x := fmt.Sprintf("x%d", i)
		initial := d.param("i"+x, 0)
		d.scaled(10)
		if i > 1 {
			rate = d.rateOf(fmt.Sprintf("k%d", i), slow.re()*math.Pow(d.uniform(2.2, 12), float64(i-1)))
		} else if d.chance(0.4) { // stiff from the start
			rate = d.rateOf("kf", d.log(30, 3e3)/d.duration())
		}
		d.item("state %s = %s", x, initial)
		d.equations = append(d.equations, fmt.Sprintf("%s' = %s-%s*%s", x, inflow, rate, x))
		s := u.through(rate.num, initial.num)
		if i == n {
			if d.chance(0.5) {
				d.objective("integral("+x+")", s.integral(), 10/rate.re())
			}
			d.objective("final("+x+")", s.last(), 10)
		}
		u, inflow = s.times(rate.num), fmt.Sprintf("%s*%s ", rate, x)
	}
}

// stiff draws a fast state that follows a slow forcing, read by a slow state.
func (d *draw) stiff() {
	from, to := d.from.num, d.to.num
	fast := d.rateOf("lam", d.log(30, 1e5)/d.duration())
	switch d.pick(3) {
	case 0:
		om := d.param("om", d.rounded(d.uniform(0.5, 12)/d.duration(), 0, math.Inf(1), 4))
		A := d.param("A", d.uniform(0.2, 3))
		y0 := d.param("y0", 0)
		d.scaled(1)
		u := wave(from, to, lit(2), A.num, om.num, num{})
		y := d.state("y", y0.text, fmt.Sprintf("-%s*($ - (2 + %s*cos(%s*t)))", fast, A, om))
		s := u.times(fast.num).through(fast.num, y0.num)
		if d.chance(0.5) {
			k := d.rate("k")
			z := d.state("z", "0", fmt.Sprintf("%s - %s*$", y, k))
			d.objective("final("+z+")", s.through(k.num, num{}).last(), 0)
			return
		}
		d.objective("final("+y+")", s.last(), 0)
		d.objective("integral("+y+")", s.integral(), 0)
	case 1: // a driven window behind a fast state
		d.driveFast(fast)
	case 2: // two states that exchange
		b, c := d.rate("b"), d.rate("c")
		x0, y0 := d.param("x0", d.uniform(0, 5)), d.param("y0", d.uniform(1, 5))
		d.state("x", x0.text, fmt.Sprintf("-%s*x + %s*y", fast, b))
		d.state("y", y0.text, fmt.Sprintf("%s*x - (%s + %s)*y", fast, b, c))
		// The matrix [-f b; f -(b+c)] has the eigenvalues s1, s2 of s² + (f+b+c) s + f c.
		trace, det := fast.add(b.num).add(c.num), fast.mul(c.num)
		root := trace.mul(trace).sub(det.times(4)).sqrt()
		s2 := trace.add(root).times(-0.5)
		s1 := det.div(s2)
		T := to.sub(from)
		e1, e2 := s1.mul(T).exp(), s2.mul(T).exp()
		// exp(M T) = ((M - s2) e1 - (M - s1) e2)/(s1 - s2)
		y := func(s num) num { // row 2 of (M - s) times the start
			return fast.mul(x0.num).sub(b.add(c.num).add(s).mul(y0.num))
		}
		d.objective("final(y)", y(s2).mul(e1).sub(y(s1).mul(e2)).div(s1.sub(s2)), 0)
		E1, E2 := e1.plus(-1).div(s1), e2.plus(-1).div(s2)
		d.objective("integral(y)", y(s2).mul(E1).sub(y(s1).mul(E2)).div(s1.sub(s2)), 0)
	}
}

func (d *draw) driveFast(fast value) {
	k := d.windowed()
	y0 := d.param("y0", 0)
	d.scaled(1)
	y := d.state("y", y0.text, fmt.Sprintf("%s*((%s) - $)", fast, k.text))
	s := k.signal.times(fast.num).through(fast.num, y0.num)
	ke := d.rate("ke")
	z := d.state("z", "0", fmt.Sprintf("%s - %s*$", y, ke))
	d.objective("final("+z+")", s.through(ke.num, num{}).last(), 0)
}

// stopped draws a run that an event ends.
func (d *draw) stopped() {
	m := d.moving()
	t := d.time(0.1, 0.8)
	c := d.param("c", d.rounded(m.at(t), math.Inf(-1), math.Inf(1), 5))
	d.item("event e when %s crosses %s { stop }", m.name, c)
	at := m.meets(c.num)
	end := d.to.num
	if len(at) > 0 {
		end = at[0]
	}
	d.separate(at...)
	course := m.course.between(d.from.num, end)
	d.objective("integral("+m.name+"^2)", course.mul(course).integral(), course.mul(course).size())
	before := func(lo, hi float64) float64 { // a time before the end
		return d.rounded(d.from.re()+d.uniform(lo, hi)*(end.re()-d.from.re()), math.Inf(-1), math.Inf(1), 12)
	}
	a := d.instant("from_", before(0.1, 0.5))
	text := fmt.Sprintf("integral(%s^2, from = %s, to = %%s)", m.name, a)
	switch d.pick(3) {
	case 0:
		if len(at) > 0 {
			d.objective("event_time(e, 1)", at[0], 0)
		}
	case 1:
		b := d.instant("to_", before(0.6, 0.9))
		part := course.between(a.num, b.num)
		d.objective(fmt.Sprintf(text, b), part.mul(part).integral(), part.mul(part).size())
	case 2: // up to what never comes
		if len(at) == 0 {
			return
		}
		b := d.time(0.9, 1)
		d.objective(fmt.Sprintf(text, number(b)), lit(math.NaN()), 0)
	}
}

// inUnits draws doses and rates in units of time that differ from that of the model.
func (d *draw) inUnits() {
	units := []string{"s", "min", "h", "day"}
	seconds := map[string]float64{"s": 1, "min": 60, "h": 3600, "day": 86400}
	unit := d.oneOf(units...)
	d.timeUnit = unit
	other := func() (string, float64) { // its length in units of the model's time
		u := d.oneOf(units...)
		return u, seconds[u] / seconds[unit]
	}
	from, to := d.from.num, d.to.num
	u, f := other()
	k := d.paramOf("k", d.rounded(d.log(0.2, 6)/d.duration()*f, 0, math.Inf(1), 4), " [1/"+u+"]")
	rate := k.times(1 / f)
	u, f = other()
	dur := d.paramOf("dur", d.rounded(d.width()/f, 0, math.Inf(1), 4), " ["+u+"]")
	length := dur.times(f)
	u, f = other()
	at := d.paramOf("at_", d.rounded(d.time(0.1, 0.6)/f, math.Inf(-1), math.Inf(1), 4), " ["+u+"]")
	start := at.times(f)
	D := d.paramOf("D", d.uniform(1, 50), " [mg]")
	factor := 1.0
	amount := D.text
	if d.chance(0.5) {
		amount, factor = "("+D.text+" as [ug])", 1000
	}
	mass := "mg"
	if factor > 1 {
		mass = "ug"
	}
	switch d.pick(2) {
	case 0:
		d.item("state X = 0 [%s]", mass)
		d.equations = append(d.equations, fmt.Sprintf("X' = (if t >= (%s as [%s]) and t < (%s as [%s]) + (%s as [%s]) "+
			"then (%s/%s) as [%s/%s] else 0) - (%s as [1/%s])*X", at, unit, at, unit, dur, unit, amount, dur, mass,
			unit, k, unit))
		d.separate(start, start.add(length))
		w := levels(from, to, []num{start, start.add(length)}, []num{{}, D.times(factor).div(length), {}})
		s := w.through(rate, num{})
		d.objective("final(X)", s.last(), 0)
		d.objective("integral(X)", s.integral(), 0)
	case 1:
		d.item("state X = 0 [%s]", mass)
		d.equations = append(d.equations, fmt.Sprintf("X' = -(%s as [1/%s])*X", k, unit))
		d.item("event dose at (%s as [%s]) + (%s as [%s]) { X += %s }", at, unit, dur, unit, amount)
		d.separate(start.add(length))
		s := impulses(from, to, []num{start.add(length)}, []num{D.times(factor)}).through(rate, num{})
		d.objective("final(X)", s.last(), 0)
		d.objective("integral(X)", s.integral(), 0)
	}
}

// likely draws a likelihood of a state that a signal drives.
func (d *draw) likely() {
	signals := []func(*draw) known{(*draw).windowed, (*draw).infusions, (*draw).periodic, (*draw).windowSum}
	k := signals[d.pick(len(signals))](d)
	ke, y0 := d.rate("ke"), d.param("y0", d.uniform(1, 9))
	y := d.state("y", y0.text, fmt.Sprintf("(%s) - %s*$", k.text, ke))
	s := k.signal.through(ke.num, y0.num)
	n := 2 + d.pick(6)
	var times, values []float64
	sd := d.param("sd", d.uniform(0.05, 0.5))
	logs := d.chance(0.4)
	total := num{}
	var at []num
	size := 0.0
	for i := range n {
		t := d.time((float64(i)+0.1)/float64(n), (float64(i)+0.9)/float64(n))
		model := s.value(lit(t))
		if model.re() < 1e-3 {
			logs = false
		}
		times, at = append(times, t), append(at, lit(t))
		values = append(values, d.rounded(model.re()*d.uniform(0.8, 1.25), math.Inf(-1), math.Inf(1), 4))
	}
	for i, t := range at {
		model := s.value(t)
		spread := sd.num
		rest := model.plus(-values[i])
		constant := spread.log().plus(math.Log(2*math.Pi) / 2)
		if logs {
			rest = model.log().plus(-math.Log(values[i]))
			constant = constant.plus(math.Log(values[i]))
		}
		z := rest.div(spread)
		part := z.mul(z).times(0.5)
		total = total.add(part).add(constant)
		size += part.re() + math.Abs(constant.re())
	}
	d.item("data D_ {\n  time = [%s]\n  conc = [%s]\n}", join(times), join(values))
	noise := "normal"
	if logs {
		noise = "lognormal"
	}
	d.item("observe c_ = %s ~ %s(%s) from D_.conc", y, noise, sd)
	starts := append(k.signal.starts(), at...)
	d.separate(starts...)
	prior := num{}
	if d.chance(0.3) {
		last := len(d.items)
		for i, item := range d.items[:last] {
			if strings.HasPrefix(item, "param "+ke.text+" = ") {
				sigma := d.uniform(0.2, 2)
				mu := d.rounded(math.Log(ke.re()), math.Inf(-1), math.Inf(1), 2)
				d.items[i] = fmt.Sprintf("%s ~ lognormal(%s, %s)", item, number(mu), number(sigma))
				z := ke.log().plus(-mu).times(1 / sigma)
				prior = z.mul(z).times(-0.5).sub(ke.log()).plus(-math.Log(sigma * math.Sqrt(2*math.Pi)))
				d.objective("nll() - log_prior()", total.sub(prior), size)
				return
			}
		}
	}
	d.objective("nll()", total, size)
}

// experiments draws a likelihood of two runs, one of which starts higher and gets a dose.
func (d *draw) experiments() {
	k := d.infusions()
	ke, y0, sd := d.rate("ke"), d.param("y0", d.uniform(1, 9)), d.param("sd", d.uniform(0.05, 0.5))
	y := d.state("y", y0.text, fmt.Sprintf("(%s) - %s*$", k.text, ke))
	f, K := d.uniform(1.5, 3), d.param("K", d.uniform(1, 9))
	hit := d.time(0.2, 0.8)
	low := k.signal.through(ke.num, y0.num)
	high := k.signal.add(impulses(d.from.num, d.to.num, []num{lit(hit)}, []num{K.num})).through(ke.num, y0.times(f))
	var times, values []float64
	var arms []string
	total, size := num{}, 0.0
	at := []num{lit(hit)}
	for i := range 2 + d.pick(5) {
		t := d.time(0.02, 0.98)
		s, arm := low, "low"
		if i%2 == 1 {
			s, arm = high, "high"
		}
		model := s.value(lit(t))
		times, arms, at = append(times, t), append(arms, strconv.Quote(arm)), append(at, lit(t))
		values = append(values, d.rounded(model.re()*d.uniform(0.8, 1.25), math.Inf(-1), math.Inf(1), 4))
		z := model.plus(-values[i]).div(sd.num)
		part, rest := z.mul(z).times(0.5), sd.log().plus(math.Log(2*math.Pi)/2)
		total = total.add(part).add(rest)
		size += part.re() + math.Abs(rest.re())
	}
	d.separate(append(k.signal.starts(), at...)...)
	d.item("data table {\n  time = [%s]\n  conc = [%s]\n  arm = [%s]\n}", join(times), join(values),
		strings.Join(arms, ", "))
	d.item("observe seen = %s ~ normal(%s) from table.conc", y, sd)
	d.item("experiment low { use table where arm == \"low\" }")
	d.item("experiment high {\n  %s = %s*%s\n  at %s { %s += %s }\n  use table where arm == \"high\"\n}", y0, number(f),
		y0,
		number(hit), y, K)
	d.objective("nll()", total, size)
}

// arrays draws many windows at once.
func (d *draw) arrays() {
	n := 3 + d.pick(3)
	from, to := d.from.num, d.to.num
	var at, width []float64
	for range n {
		at, width = append(at, d.time(0.02, 0.8)), append(width, d.rounded(d.width(), 0, math.Inf(1), 4))
	}
	a, w := d.array("a", at), d.array("w", width)
	d.scaledAll("a", d.duration())
	A, k := d.amplitude("A"), d.rate("k")
	condition := d.oneOf("t >= a[i] and t < a[i] + w[i]", "not (t < a[i] or t >= a[i] + w[i])",
		"(t - a[i])*(t - a[i] - w[i]) < 0", "abs(t - a[i] - w[i]/2) < w[i]/2",
		"step(t - a[i]) - step(t - a[i] - w[i]) > 0.5")
	element := func(i int) signal {
		return levels(from, to, []num{a[i].num, a[i].add(w[i].num)}, []num{{}, A.num, {}})
	}
	var times []num
	for i := range n {
		times = append(times, a[i].num, a[i].add(w[i].num))
	}
	d.separate(times...)
	if d.chance(0.4) {
		u := constant(from, to, num{})
		for i := range n {
			u = u.add(element(i))
		}
		y := d.state("y", "0", fmt.Sprintf("sum((if %s then %s else 0) for i in 1:%d) - %s*$", condition, A, n, k))
		d.objective("final("+y+")", u.through(k.num, num{}).last(), 0)
		return
	}
	d.item("state x[%d] = 0", n)
	d.equations = append(d.equations, fmt.Sprintf("x[i]' = (if %s then %s else 0) - %s*x[i] for i in 1:%d", condition,
		A, k, n))
	i := d.pick(n)
	d.objective(fmt.Sprintf("final(x[%d])", i+1), element(i).through(k.num, num{}).last(), 0)
	total := num{}
	for i := range n {
		total = total.add(element(i).through(k.num, num{}).integral())
	}
	d.objective("integral(sum(x))", total, 0)
}

// peaks draws a narrow peak in time, and reads it in rates, integrals and largest values.
func (d *draw) peaks() {
	base, am := d.param("base", d.uniform(0.5, 2)), d.param("am", d.uniform(1, 9))
	c := d.instant("c", d.time(0.05, 0.95))
	s := d.param("s", d.rounded(d.duration()*d.log(5e-4, 0.2), 0, math.Inf(1), 4))
	d.scaledAll(c.text, s.re())
	from, to := d.from.num, d.to.num
	z := func(t num) num { return t.sub(c.num).div(s.num) }
	var text string
	var area num
	gauss := false
	switch d.pick(4) {
	default:
		gauss = true
		text = fmt.Sprintf("%s*exp(-((t - %s)/%s)^2)", am, c, s)
		area = z(to).erf().sub(z(from).erf()).mul(am.num).mul(s.num).times(math.Sqrt(math.Pi) / 2)
	case 1:
		text = fmt.Sprintf("%s/(1 + ((t - %s)/%s)^2)", am, c, s)
		area = z(to).atan().sub(z(from).atan()).mul(am.num).mul(s.num)
	case 2:
		d.use("signals")
		root := math.Sqrt2
		text = fmt.Sprintf("%s*bell(t, %s, %s)", am, c, s)
		area = z(to).times(1 / root).erf().sub(z(from).times(1 / root).erf()).mul(am.num).mul(s.num).times(
			math.Sqrt(math.Pi / 2))
	}
	whole := area.add(base.mul(to.sub(from)))
	switch d.pick(5) {
	case 0:
		d.anything()
		d.objective(fmt.Sprintf("integral(%s + %s)", base, text), whole, 0)
	case 1:
		y := d.state("y", "0", base.text+" + "+text)
		d.objective("final("+y+")", whole, 0)
	case 2:
		d.anything()
		d.objective(fmt.Sprintf("max_over(%s + %s)", base, text), base.add(am.num), 0)
	case 3:
		y := d.state("y", "0", text)
		d.objective("final("+y+")", area, 0)
	case 4:
		k := d.rate("k")
		y := d.state("y", "0", fmt.Sprintf("%s - %s*$", text, k))
		if !gauss { // what is gone and what is left make the whole
			d.objective(fmt.Sprintf("%s*integral(%s) + final(%s)", k, y, y), area, 0)
			return
		}
		// -k (T - t) - z² = -k (T - c) + (k s/2)² - (z - k s/2)²
		h := k.mul(s.num).times(0.5)
		e := k.mul(to.sub(c.num)).neg().add(h.mul(h)).exp()
		d.objective("final("+y+")", z(to).sub(h).erf().sub(z(from).sub(h).erf()).mul(e).mul(am.num).mul(s.num).times(
			math.Sqrt(math.Pi)/2), 0)
	}
}

// waveEvents draws events of a wave in time.
func (d *draw) waveEvents() {
	om := d.param("om", d.rounded(d.uniform(2, 80)/d.duration(), 0, math.Inf(1), 4))
	d.scaled(1 / d.duration())
	ph := d.param("ph", d.uniform(-3, 3))
	d.scaled(1)
	c := d.param("c", d.uniform(-0.99, 0.999))
	d.scaled(1)
	if d.chance(0.3) {
		c = d.param("c", 1-d.log(1e-6, 1e-2))
		d.scaled(1)
	}
	angle := c.acos()
	var at, times []num
	for k := math.Floor((om.re()*d.from.re()+ph.re())/(2*math.Pi)) - 1; ; k++ {
		t := angle.neg().plus(2 * math.Pi * k).sub(ph.num).div(om.num)
		if !(t.re() <= d.to.re()) { // also where c has been moved above 1
			break
		}
		times = append(times, t)
		if t.re() > d.from.re() {
			at = append(at, t)
		}
	}
	d.separate(times...)
	d.counted(fmt.Sprintf("cos(%s*t + %s) > %s", om, ph, c), at)
}
