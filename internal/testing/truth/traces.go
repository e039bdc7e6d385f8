package truth

import (
	"fmt"
	"math"
)

// traces draws states that are far below their absolute tolerance, at the start or later, and grow out of it or do not.
func (d *draw) traces() {
	d.span()
	if d.chance(0.5) {
		d.settings = append(d.settings, "rtol = "+d.oneOf("1e-3", "1e-4", "1e-5", "1e-7", "1e-8", "1e-10"))
	}
	if d.chance(0.6) {
		d.settings = append(d.settings, "method = "+d.oneOf("auto", "rodas5p", "dopri5", "rodas4p", "radau5", "dop853",
			"rosenbrock23", "rodas4", "tsit5", "vern7", "rkc2"))
	}
	small := d.log(1e-6, 1e-70) // closed forms divide by its fourth power
	x0 := d.param("x0", small)
	T := d.duration()
	span := d.to.sub(d.from.num)
	c := d.param("c", d.uniform(0.5, 2)) // what does not come from the small state
	// how often the growth is as long as it takes to be seen
	often := d.uniform(0.2, 2.5)
	rate := func(name string) value { return d.rateOf(name, -often*math.Log(small)/T) }
	// logistic returns the state that grows from y0 by a rate r until K.
	logistic := func(y0, r, K, t num) num {
		e := r.mul(t).neg().exp()
		return K.div(K.sub(y0).div(y0).mul(e).plus(1))
	}
	one := lit(1)
	told := func(x string, last num) {
		if d.chance(0.5) {
			d.objective(c.text+" + final("+x+")", c.add(last), 1)
		} else {
			d.objective("final("+x+")", last, 1)
		}
	}
	beside := func(x string) { // something stiff beside it
		if d.chance(0.3) {
			lam := d.fastRate("lam")
			d.state("w", c.text, fmt.Sprintf("%s*(%s + %s - $)", lam, c, x))
		}
	}
	switch d.pick(9) {
	default: // logistic
		r, K := rate("r"), d.param("K", d.uniform(0.5, 5))
		x := d.state("x", x0.text, fmt.Sprintf("%s*$*(1 - $/%s)", r, K))
		beside(x)
		last := logistic(x0.num, r.num, K.num, span)
		told(x, last)
		if d.chance(0.4) { // ∫ x = K/r log(1 + x0/K (exp(r T) - 1))
			if a := r.re() * T; a < 600 {
				g := r.mul(span).exp().plus(-1).mul(x0.div(K.num)).plus(1)
				d.objective("integral("+x+")", K.div(r.num).mul(g.log()), K.re()*T)
			}
		}
	case 1: // Gompertz
		a := d.rateOf("a", d.uniform(0.5, 12)/T)
		x := d.state("x", x0.text, fmt.Sprintf("%s*$*log(1/$)", a))
		beside(x)
		told(x, x0.log().mul(a.mul(span).neg().exp()).exp())
	case 2: // the unstable direction is none of the states
		r, k := rate("r"), d.rateOf("k", d.log(1, 1e4)/T)
		z, w := "((x + y)/2)", "((x - y)/2)"
		d.item("state x = %s", x0)
		d.item("state y = %s", x0)
		d.item("let g = %s*%s*(1 - %s)", r, z, z)
		d.item("let h = -%s*%s", k, w)
		d.equations = append(d.equations, "x' = g + h", "y' = g - h")
		told("x", logistic(x0.num, r.num, one, span))
	case 3: // an oscillation that grows
		r, om := rate("r"), d.rateOf("om", d.log(1, 300)/T)
		y := d.fresh("y")
		d.item("state x = %s", x0)
		d.item("state %s = 0", y)
		d.equations = append(d.equations, fmt.Sprintf("x' = %s/2*x*(1 - x^2 - y^2) - %s*y", r, om),
			fmt.Sprintf("y' = %s/2*y*(1 - x^2 - y^2) + %s*x", r, om))
		told("(x^2 + y^2)", logistic(x0.mul(x0.num), r.num, one, span))
	case 4: // an epidemic that has ended
		R := d.param("R0", d.uniform(1.5, 5))
		gamma := d.rateOf("gamma", d.uniform(2.5, 6)*-math.Log(small)/min(R.re()-1, 0.7)/T)
		d.item("state S = 1 - %s", x0)
		i := d.state("I", x0.text, fmt.Sprintf("%s*%s*S*$ - %s*$", R, gamma, gamma))
		d.equations = append(d.equations, fmt.Sprintf("S' = -%s*%s*S*%s", R, gamma, i))
		s := lit(0.01)
		for range 60 { // s = (1 - x0) exp(R (s - 1))
			s = one.sub(x0.num).mul(R.mul(s.plus(-1)).exp())
		}
		told("S", s)
	case 5: // it decays and comes back
		r := d.rateOf("r", d.uniform(5, 150)/T)
		x := d.state("x", "1", "g*$ - $^2")
		d.item("discrete g = -%s", r)
		td := d.instant("td", d.time(0.1, 0.6))
		d.item("event turn at %s { g = %s }", td, r)
		t1, t2 := td.sub(d.from.num), d.to.sub(td.num)
		e1 := r.mul(t1).neg().exp()
		// 1/x is that at the start times exp(-g t), plus (1 - exp(-g t))/g.
		u1 := one.add(one.sub(e1).div(r.num)).div(e1)
		e2 := r.mul(t2).neg().exp()
		u2 := u1.mul(e2).add(one.sub(e2).div(r.num))
		told(x, one.div(u2))
	case 6: // an event makes it small
		r := rate("r")
		td := d.instant("td", d.time(0.05, 0.5))
		x := d.state("x", "0.5", fmt.Sprintf("%s*$*(1 - $)", r))
		beside(x)
		d.item("event cut at %s { %s = %s }", td, x, x0)
		told(x, logistic(x0.num, r.num, one, d.to.sub(td.num)))
	case 7: // it decays
		k := d.rateOf("k", d.log(0.1, 1e5)/T)
		start := "1"
		first := one
		if d.chance(0.7) {
			start, first = x0.text, x0.num
		}
		x := d.state("x", start, "-"+k.text+"*$")
		beside(x)
		told(x, first.mul(k.mul(span).neg().exp()))
	case 8: // it follows something, and stays small
		k, om := d.rateOf("k", d.log(0.1, 1e5)/T), d.rateOf("om", d.log(1, 30)/T)
		x := d.state("x", d.oneOf(x0.text, "0"), fmt.Sprintf("%s*(%s*(1 + cos(%s*t)) - $)", k, x0, om))
		beside(x)
		z := d.rate("kz")
		y := d.state("z", "1", fmt.Sprintf("-%s*$", z))
		told(y, z.mul(span).neg().exp())
	}
}
