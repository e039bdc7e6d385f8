package truth

import (
	"fmt"
	"math"
	"strings"
)

// started draws windows of time that begin when an event of a state sets a discrete.
func (d *driver) started() known {
	m := d.moving()
	c := d.ofState(m)
	w, A := d.param("w", d.width()), d.amplitude("A")
	begin := d.fresh("begin")
	d.item("discrete %s = 1e9", begin)
	d.item("event start when %s { %s = t }", c.text, begin)
	at, level := []num{}, []num{{}}
	rising := d.risings(c)
	for i, t := range rising {
		at, level = append(at, t), append(level, A.num)
		if end := t.add(w.num); i+1 == len(rising) || end.re() < rising[i+1].re() {
			at, level = append(at, end), append(level, num{})
		}
	}
	d.separate(at...)
	text := d.oneOf("if t >= b and t < b + w then A else 0", "if (t - b)*(t - b - w) < 0 then A else 0",
		"if not (t < b or t > b + w) then A else 0", "A*(step(t - b) - step(t - b - w))")
	return known{
		words(text, map[string]string{"b": begin, "w": w.text, "A": A.text}),
		levels(d.from.num, d.to.num, at, level),
	}
}

// changed draws a periodic signal whose period or amplitude an event changes.
func (d *driver) changed() known {
	T := d.instant("T", d.time(0.2, 0.8))
	P := d.param("P", d.rounded(d.duration()/d.uniform(2, 30), 0, math.Inf(1), 4))
	A := d.amplitude("A")
	duty := d.uniform(0.1, 0.9)
	from, to := d.from.num, d.to.num
	pattern := func(P, A num) signal {
		var at, level []num
		level = []num{{}}
		for k := math.Floor(from.re()/P.re()) - 1; P.re()*k < to.re()+P.re(); k++ {
			at, level = append(at, P.times(k), P.times(k+duty)), append(level, A, num{})
		}
		d.separate(append(at, T.num)...)
		return levels(from, to, at, level)
	}
	f := d.uniform(0.3, 3)
	before := pattern(P.num, A.num)
	var after signal
	p, a := d.fresh("period"), d.fresh("height")
	d.item("discrete %s = %s, %s = %s", p, P, a, A)
	if d.chance(0.5) {
		d.item("event change at %s { %s *= %s }", T, p, number(f))
		after = pattern(P.times(f), A.num)
	} else {
		d.item("event change at %s { %s *= %s }", T, a, number(f))
		after = pattern(P.num, A.times(f))
	}
	u := append(before.between(from, T.num), after.between(T.num, to)...)
	return known{fmt.Sprintf("if mod(t, %s) < %s*%s then %s else 0", p, number(duty), p, a), u}
}

// wholePeriods draws a periodic signal and a run that ends with one of its periods: the last jump lies to either side
// of the end, and nothing has a derivative by what moves one of them.
func (d *draw) wholePeriods() {
	P, n := d.param("P", d.log(0.05, 20)), float64(1+d.pick(6))
	d.from, d.to = d.constant(0), d.param("tend", n*P.re())
	d.solver()
	A, duty := d.param("A", d.uniform(0.5, 9)), d.uniform(0.1, 0.9)
	d.anything()
	text := d.oneOf("if mod(t, P) < D then A else 0", "A*step(D - mod(t, P))", "A*step(0.5 - floor(mod(t, P)/D))",
		"if mod(t, P)*(mod(t, P) - 2*D) < 0 and mod(t, P) < D then A else 0", "if t - P*floor(t/P) < D then A else 0")
	text = words(text, map[string]string{"P": P.text, "A": A.text, "D": number(duty * P.re())})
	on := n * duty * P.re()
	d.tied = true
	// What is added keeps derivatives of either side from being zero, which has no mark.
	d.objective("integral("+text+") + "+P.text+" + "+d.to.text, A.times(on).add(P.num).add(d.to.num), 0)
	d.numbers = append(d.numbers, Number{Of: "J", Wrt: "A", Truth: on, Size: on},
		Number{Of: "J", Wrt: "P", Truth: math.NaN()}, Number{Of: "J", Wrt: "tend", Truth: math.NaN()})
}

// meetings draws two conditions of time, or of a state that moves evenly, that change at one time or apart. At one time
// nothing has a derivative by what moves one of them.
func (d *draw) meetings() {
	d.from, d.to = d.constant(0), d.constant(d.log(0.1, 100))
	d.solver()
	length, A := d.to.re(), d.param("A", d.uniform(0.5, 9))
	p, gap := d.uniform(0.1, 0.6)*length, 0.0
	if d.chance(0.4) {
		gap = d.log(1e-4, 0.3) * length
	}
	P, Q := d.param("p", p), d.param("q", p+gap)
	x := "t"
	if d.chance(0.5) {
		x = d.state("x", "0", "1")
	}
	kind := d.pick(4)
	text := [...]string{
		"if x > p and x < q then A else 0", "if x > p or x > q then A else 0",
		"(if x > p then A else 0)*(if x > q then 1 else 0)", "(if x > p then A else 0) + (if x > q then A else 0)",
	}[kind]
	d.tied = true
	p, gap = P.re(), Q.re()-P.re() // where a param is moved, q may come before p
	on, byP, byQ := max(0, gap), -A.re(), A.re()
	switch kind {
	case 0:
		if gap < 0 {
			byP, byQ = 0, 0
		}
	case 1:
		on = length - p - min(0, gap)
		if byQ = 0; gap < 0 {
			byP, byQ = 0, -A.re()
		}
	case 2:
		on = length - p - max(0, gap)
		if byP, byQ = 0, -A.re(); gap < 0 {
			byP, byQ = -A.re(), 0
		}
	case 3:
		on, byP, byQ = 2*(length-p)-gap, -A.re(), -A.re()
	}
	if gap == 0 && kind < 3 {
		byP, byQ = math.NaN(), math.NaN()
	}
	y := d.state("y", "0", words(text, map[string]string{"x": x, "p": P.text, "q": Q.text, "A": A.text}))
	d.objective("final("+y+") + "+P.text+" + "+Q.text, A.times(on).add(P.num).add(Q.num), 0)
	if byP == byP {
		byP, byQ = byP+1, byQ+1
	}
	d.numbers = append(d.numbers, Number{Of: "J", Wrt: "A", Truth: on, Size: length},
		Number{Of: "J", Wrt: P.text, Truth: byP, Size: A.re()}, Number{Of: "J", Wrt: Q.text, Truth: byQ, Size: A.re()})
}

// bounces draws a ball that drops on a floor.
func (d *draw) bounces() {
	e := d.param("e", d.uniform(0.5, 0.9))
	h := d.param("h", d.uniform(0.5, 20))
	// All bounces together take (1 + e)/(1 - e) times the first fall: they do not end within the span.
	fall := d.duration() * min(0.9, d.uniform(1.1, 4)*(1-e.re())/(1+e.re()))
	g := d.param("g", d.rounded(2*h.re()/(fall*fall), 0, math.Inf(1), 4))
	x := d.state("x", h.text, "v")
	v := d.state("v", "0", "-"+g.text)
	n := d.fresh("n")
	d.item("discrete %s = 0", n)
	d.item("event bounce when %s { %s = -%s*%s  %s += 1 }", d.oneOf(x+" <= 0", x+" < 0", "-"+x+" > 0"), v, e, v, n)
	t := d.from.add(h.times(2).div(g.num).sqrt())
	speed := h.mul(g.num).times(2).sqrt() // before the first bounce
	var at []num
	lost := num{}
	up := num{}
	for t.re() < d.to.re() && len(at) < 100 {
		at = append(at, t)
		lost = lost.add(speed.mul(speed))
		up = speed.mul(e.num)
		speed = up
		t = t.add(up.times(2).div(g.num))
	}
	d.separate(append(at, t)...)
	last := d.to.sub(d.from.num)
	height := h.sub(g.mul(last).mul(last).times(0.5))
	if len(at) > 0 {
		last = d.to.sub(at[len(at)-1])
		height = up.mul(last).sub(g.mul(last).mul(last).times(0.5))
	}
	d.objective("final("+x+")", height, h.re())
	d.objective("final("+n+")", lit(float64(len(at))), 1)
	if len(at) > 0 {
		k := 1 + d.pick(len(at))
		d.objective(fmt.Sprintf("event_time(bounce, %d)", k), at[k-1], 0)
		d.objective("at_event(bounce, pre("+v+")^2)", lost, 0)
	}
}

// nonlinear draws a logistic or a hyperbolic state, and a threshold of it.
func (d *draw) nonlinear() {
	k, x0 := d.rate("k"), d.param("x0", d.uniform(0.02, 1))
	from := d.from.num
	var at func(t num) num
	var when func(c num) num
	name := ""
	if d.chance(0.5) {
		K := d.param("K", d.uniform(2, 9))
		name = d.state("x", x0.text, fmt.Sprintf("%s*$*(1 - $/%s)", k, K))
		at = func(t num) num {
			e := k.mul(from.sub(t)).exp()
			return K.div(K.sub(x0.num).div(x0.num).mul(e).plus(1))
		}
		when = func(c num) num {
			return from.add(c.mul(K.sub(x0.num)).div(x0.mul(K.sub(c))).log().div(k.num))
		}
	} else {
		name = d.state("x", x0.text, fmt.Sprintf("-%s*$^2", k))
		at = func(t num) num { return x0.div(k.mul(x0.num).mul(t.sub(from)).plus(1)) }
		when = func(c num) num { return from.add(x0.div(c).plus(-1).div(k.mul(x0.num))) }
	}
	t1 := d.time(0.05, 0.9)
	c := d.param("c", d.rounded(at(lit(t1)).re(), 0, math.Inf(1), 6))
	hit := when(c.num)
	d.separate(hit)
	A := d.amplitude("A")
	d.objective("final("+name+")", at(d.to.num), 0)
	switch d.pick(3) {
	case 0:
		y := d.state("y", "0", fmt.Sprintf("if %s < %s then 0 else %s", name, c, A))
		u := levels(from, d.to.num, []num{hit}, []num{{}, A.num})
		if at(lit(d.to.re())).re() < c.re() { // it falls
			u = levels(from, d.to.num, []num{hit}, []num{A.num, {}})
		}
		d.objective("final("+y+")", u.integral(), 0)
	case 1:
		d.item("event e when %s crosses %s { stop }", name, c)
		d.numbers, d.objectives = nil, nil
		d.objective("event_time(e, 1)", hit, 0)
		d.objective("final("+name+")", c.num, 0)
	case 2:
		z := d.fresh("z")
		d.item("event e when %s crosses %s { %s += %s }", name, c, z, A)
		d.readState(z, impulses(from, d.to.num, []num{hit}, []num{A.num}))
	}
}

// sampled draws sums over times and events, and largest values, of a state that a window drives.
func (d *draw) sampled() {
	k := d.windowed()
	ke, y0 := d.rate("ke"), d.param("y0", d.uniform(1, 9))
	s := k.signal.through(ke.num, y0.num)
	y := d.state("y", y0.text, fmt.Sprintf("(%s) - %s*$", k.text, ke))
	total, squares := num{}, num{}
	var times []string
	var at []num
	for i := range 3 {
		t := d.instant("s", d.time(float64(i)/3+0.02, float64(i)/3+0.3))
		at = append(at, t.num)
		v := s.value(t.num)
		total, squares = total.add(v), squares.add(v.mul(v))
		times = append(times, t.text)
	}
	d.separate(append(k.signal.starts(), at...)...)
	d.objective(fmt.Sprintf("sum_at([%s], %s)", strings.Join(times, ", "), y), total, 0)
	if d.chance(0.5) {
		d.item("discrete %s = 0", d.fresh("seen"))
		d.item("event look at [%s] { seen += 1 }", strings.Join(times, ", "))
		d.objective("at_event(look, "+y+"^2)", squares, 0)
	}
	// Between the ends of pieces the state moves in one direction.
	most, second := s[0].at(num{}), math.Inf(-1)
	for _, p := range s {
		if v := p.end(); v.re() > most.re() {
			most, second = v, most.re()
		} else {
			second = max(second, v.re())
		}
	}
	if most.re()-second > 1e-3*math.Abs(most.re()) {
		d.objective("max_over("+y+")", most, 0)
	}
}

// manyKinks draws a sum of kinks of many states, more than steps are ended for.
func (d *driver) manyKinks() known {
	n := 8 + d.pick(50)
	r := d.param("r", d.rounded(d.uniform(0.5, 3)/d.duration(), 0, math.Inf(1), 4))
	gap, c, A := d.param("gap", d.uniform(0.5, 3)/float64(n)), d.param("c", d.uniform(0, 0.3)), d.amplitude("A")
	d.scaledAll(c.text, 1)
	from, to := d.from.num, d.to.num
	d.item("state x[%d] = [-%s*i for i in 1:%d]", n, gap, n)
	d.equations = append(d.equations, fmt.Sprintf("x[i]' = %s for i in 1:%d", r, n))
	f := d.oneOf("max(x[i] - %s, 0)", "abs(x[i] - %s)")
	left := 0.0
	if strings.HasPrefix(f, "abs") {
		left = -1
	}
	far := lit(2 * d.duration())
	times := []num{from.sub(far)}
	for i := range n { // x = r (t - from) - gap (i + 1) meets c
		times = append(times, from.add(c.add(gap.times(float64(i+1))).div(r.num)))
	}
	d.separate(times[1:]...)
	times = append(times, times[n].add(far).add(to.sub(from)))
	values := make([]num, len(times))
	for i, t := range times {
		for _, kink := range times[1 : n+1] {
			slope := r.mul(A.num)
			if t.re() < kink.re() {
				slope = slope.times(left)
			}
			values[i] = values[i].add(slope.mul(t.sub(kink)))
		}
	}
	u := knots(from, to, times, values)
	return known{fmt.Sprintf("%s*sum("+f+" for i in 1:%d)", A, c, n), u}
}
