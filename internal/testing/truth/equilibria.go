package truth

import (
	"fmt"
	"strings"
)

// equilibria draws states that go towards a set point, fast or slowly and along lines that are not straight. They begin
// in the steady state of another set point, which an equilibration finds, or they are asked for the one that the run
// leads to.
func (d *draw) equilibria() {
	d.span()
	d.implicit()
	if d.mode == "complex" { // that has no steady states
		d.mode = ""
	}
	from, to := d.from.num, d.to.num
	n := 1 + d.pick(3)
	mix, _ := d.shears(n)
	b, L := make([]value, n), d.param("L", d.uniform(0.5, 3))
	k := make([]value, n)
	gaps := make([]string, n)
	for i := range n {
		b[i], k[i] = d.param("b", d.uniform(0.5, 3)), d.anyRate("k")
	}
	// Each x_i goes to b_i + L. Only those whose gap is linear have courses that are known.
	linear := make([]bool, n)
	for i := range n {
		x, at := fmt.Sprintf("x%d", i), fmt.Sprintf("(%s + %s)", b[i], L)
		switch d.pick(4) {
		default:
			linear[i] = true
			gaps[i] = fmt.Sprintf("(%s - %s)", at, x)
		case 2:
			gaps[i] = fmt.Sprintf("(%[1]s^3 + %[1]s - %[2]s^3 - %[2]s)", at, x)
		case 3:
			gaps[i] = fmt.Sprintf("(%[1]s*exp(0.2*%[1]s) - %[2]s*exp(0.2*%[2]s))", at, x)
		}
	}
	coupled := d.chance(0.4)
	before := d.chance(0.7)
	start := d.constant(1)
	for i := range n {
		first := start.text
		if d.chance(0.5) {
			first = d.param("start", d.uniform(0.2, 4)).text
		}
		d.item("state x%d = %s", i, first)
		rate := k[i].text + "*" + gaps[i]
		if coupled && i > 0 { // the others' gaps only, so that set points stay
			var list []string
			for j := range i {
				if m := mix[i][j]; m != 0 && k[j].re() <= k[i].re() {
					list = append(list, fmt.Sprintf("(%s)*%s*%s", number(0.1*m), k[j], gaps[j]))
				}
			}
			if len(list) > 0 {
				rate += " + " + strings.Join(list, " + ")
				linear[i] = false
			}
		}
		d.equations = append(d.equations, fmt.Sprintf("x%d' = %s", i, rate))
	}
	if before {
		switch d.pick(2) {
		case 0:
			d.item("equilibrate { %s = 0 }", L)
		case 1:
			d.item("equilibrate { %s = 0  x0 = %s }", L, number(d.uniform(0.2, 4)))
		}
	}
	T := to.sub(from)
	for i := range n {
		if before {
			d.objective(fmt.Sprintf("initial(x%d)", i), b[i].num, 0)
			if linear[i] {
				// x = b + L - L exp(-k τ)
				e := k[i].mul(T).neg().exp()
				d.objective(fmt.Sprintf("final(x%d)", i), b[i].add(L.num).sub(L.mul(e)), b[i].re()+L.re())
				d.objective(fmt.Sprintf("integral(x%d)", i),
					b[i].add(L.num).mul(T).sub(L.mul(lit(1).sub(e)).div(k[i].num)), (b[i].re()+L.re())*d.duration())
			}
		}
		if d.chance(0.6) || len(d.objectives) == 0 {
			d.objective(fmt.Sprintf("steady(x%d)", i), b[i].add(L.num), 0)
		}
	}
	if d.chance(0.3) {
		i := d.pick(n)
		s := b[i].add(L.num)
		d.objective(fmt.Sprintf("steady(x%d^2*%s)", i, b[i]), s.mul(s).mul(b[i].num), 0)
	}
}

// periods draws doses and infusions that are repeated for ever, and begins in the state that repeats with them.
func (d *draw) periods() {
	tau := d.param("tau", d.rounded(d.log(0.1, 100), 0, 1e9, 4))
	cycles := d.uniform(0.3, 4)
	d.from = d.constant(0)
	if d.chance(0.3) {
		d.from = d.constant(d.rounded(d.uniform(-5, 5)*tau.re(), -1e9, 1e9, 4))
	}
	from := d.from.num
	d.to = d.constant(from.re() + cycles*tau.re())
	if d.chance(0.5) {
		d.settings = append(d.settings, "method = "+d.oneOf("auto", "rodas5p", "tsit5", "vern7", "dopri5", "radau5"))
	}
	if d.chance(0.3) {
		d.mode = d.oneOf("tangent", "auto")
	}
	k := d.rateOf("k", d.log(0.2, 8)/tau.re())
	D := d.amplitude("D")
	x0 := d.param("start", d.uniform(0, 5))
	x := d.state("x", x0.text, "")
	d.equations = d.equations[:len(d.equations)-1]
	decay := func(t num) num { return k.mul(t).neg().exp() }
	one := lit(1)
	rest := one.div(one.sub(decay(tau.num))) // of the geometric series
	var within func(phase num) num           // the periodic state so long after the start of a period
	comes := D.num
	switch d.pick(3) {
	case 0: // a dose at the start of each period
		d.item("event bolus every %s from %s { %s += %s }", tau, d.from, x, D)
		d.equations = append(d.equations, fmt.Sprintf("%s' = -%s*%s", x, k, x))
		within = func(s num) num { return D.mul(rest).mul(decay(s)) }
	case 1: // a dose within each
		lag := d.param("lag", d.rounded(d.uniform(0.1, 0.9)*tau.re(), 0, 1e9, 3))
		d.scaled(tau.re())
		d.item("event bolus every %s from %s + %s { %s += %s }", tau, d.from, lag, x, D)
		d.equations = append(d.equations, fmt.Sprintf("%s' = -%s*%s", x, k, x))
		within = func(s num) num {
			since := s.sub(lag.num)
			if since.re() < 0 {
				since = since.add(tau.num)
			}
			return D.mul(rest).mul(decay(since))
		}
	case 2: // an infusion at the start of each
		w := d.param("w", d.rounded(d.uniform(0.05, 0.8)*tau.re(), 0, 1e9, 3))
		d.scaled(tau.re())
		d.equations = append(d.equations, fmt.Sprintf("%s' = (if mod(t - (%s), %s) < %s then %s else 0) - %s*%s",
			x, d.from, tau, w, D, k, x))
		amount := D.div(k.num)
		comes = D.mul(w.num)
		within = func(s num) num {
			// what was infused before the period, and in it
			old := amount.mul(decay(w.num).neg().add(one)).mul(decay(tau.sub(w.num))).mul(rest).mul(decay(s))
			if s.re() < w.re() {
				return old.add(amount.mul(one.sub(decay(s))))
			}
			return old.add(amount.mul(one.sub(decay(w.num))).mul(decay(s.sub(w.num))))
		}
	}
	d.item("equilibrate { } every %s", tau)
	T := d.to.num.sub(from)
	whole := int(T.re() / tau.re())
	d.separate(from.add(tau.times(float64(whole))))
	phase := T.sub(tau.times(float64(whole)))
	d.objective("final("+x+")", within(phase), within(phase).re())
	if whole > 0 { // what comes into a period leaves in it
		d.objective(fmt.Sprintf("integral(%s, from = %s, to = %s + %s)", x, d.from, d.from, tau), comes.div(k.num), 0)
	}
}
