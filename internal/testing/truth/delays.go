package truth

import (
	"math"
	"slices"
)

// delays draws impulses that come later than what triggers them: the rising of a sawtooth over a level. The delay and
// the amount may depend on another state, at the trigger or at the execution, and several may be pending at once.
func (d *draw) delays() {
	cycles := d.uniform(1.2, 12)
	r := d.param("r", d.rounded(cycles/d.duration(), 0, math.Inf(1), 4))
	x := d.state("x", "0", r.text)
	s := d.param("s", d.rounded(d.uniform(0.5, 3)/d.duration(), 0, math.Inf(1), 4))
	w := d.state("w", "1", s.text)
	from := d.from.num
	y, A := d.fresh("y"), d.amplitude("D")
	c := d.param("c", d.uniform(0.1, 0.9))
	d.scaled(1)
	top := d.param("top", d.uniform(1, 1.2))
	tau := d.param("tau", d.rounded(d.oneNumber(0.3, 0.8, 2.6)*d.uniform(0.8, 1.2)/r.re(), 0, math.Inf(1), 4))
	d.scaled(d.duration())
	at := func(t num) num { return s.mul(t.sub(from)).plus(1) } // the state w
	delay, length := tau.text, func(num) num { return tau.num }
	if d.chance(0.4) {
		delay, length = tau.text+"*"+w, func(t num) num { return tau.mul(at(t)) }
	}
	late, transient := d.chance(0.4), d.chance(0.3)
	options := ""
	if late {
		options += ", values = execution"
	}
	if transient {
		options += ", persistent = false"
	}
	if d.chance(0.3) {
		options += ", pending = 20"
	}
	d.item("event back when %s >= %s { %s = 0 }", x, top, x)
	d.item("event e when %s > %s, delay = %s%s { %s += %s*%s }", x, c, delay, options, y, A, w)
	var times, amounts, all []num
	for k := 0.0; ; k++ {
		start := from.add(top.times(k).div(r.num))
		trigger := start.add(c.div(r.num))
		if start.re() > d.to.re() {
			break
		}
		due := trigger.add(length(trigger))
		all = append(all, start, trigger, due)
		if trigger.re() > d.to.re() || transient && due.re() > start.add(top.div(r.num)).re() {
			continue
		}
		of := trigger
		if late {
			of = due
		}
		times, amounts = append(times, due), append(amounts, A.mul(at(of)))
	}
	d.separate(all...)
	d.readState(y, impulses(from, d.to.num, times, amounts))
	if n := len(times); n > 0 && times[n-1].re() < d.to.re() {
		k := 1 + d.pick(n)
		d.objective("event_time(e, "+number(float64(k))+")", times[k-1], 0)
	} else if n == 0 || !slices.ContainsFunc(times, func(t num) bool { return t.re() < d.to.re() }) {
		d.objective("at_event(e, 1)", lit(0), 1)
	}
}
