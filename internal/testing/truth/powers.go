package truth

import (
	"fmt"
	"math"
)

// power returns a^b.
func power(a, b num) num { return a.log().mul(b).exp() }

// powersAtZero draws roots and powers of states that begin or come to rest at the edge of where these have values.
func powersAtZero(d *draw) {
	d.from, d.to = d.constant(0), d.constant(d.log(0.5, 50))
	if d.chance(0.3) {
		d.settings = append(d.settings, "rtol = "+d.oneOf("1e-5", "1e-7", "1e-8"))
	}
	if d.chance(0.7) {
		d.settings = append(d.settings, "method = "+d.oneOf("auto", "rodas5p", "dopri5", "rodas4p", "radau5", "dop853",
			"kvaerno5", "tsit5", "vern7", "bs3"))
	}
	if d.chance(0.2) {
		d.mode = d.oneOf("tangent", "complex")
	}
	switch d.pick(4) {
	default:
		emptied(d, d.pick(4))
	case 2, 3:
		filled(d)
	}
}

// emptied draws a state that comes to the edge in finite time and stays there, and the integral until then.
func emptied(d *draw, kind int) {
	T := d.to.re()
	x0, one := d.param("x0", d.uniform(0.2, 5)), lit(1)
	n := d.constant(0.5)
	root := "sqrt(%s)"
	if kind > 0 {
		n = d.param("n", d.uniform(0.2, 0.9))
		root = "(%s)^" + n.text
	}
	rest, rest1 := one.sub(n.num), lit(2).sub(n.num) // 1 - n, 2 - n
	// The rates are such that the state is empty at a part of the time.
	when := d.uniform(0.1, 0.9) * T
	// How long it takes from x on, and the integral, both times k.
	long := func(x num) num { return power(x, rest).div(rest) }
	sum := func(x num) num { return power(x, rest1).div(rest1) }
	text := "-k*" + fmt.Sprintf(root, "$")
	state, initial := "x", x0.text
	switch kind {
	case 2: // a Hill function
		K := d.param("K", d.uniform(0.3, 3))
		Kn := power(K.num, n.num)
		long = func(x num) num { return Kn.mul(power(x, rest).div(rest)).add(x) }
		sum = func(x num) num { return Kn.mul(power(x, rest1).div(rest1)).add(x.mul(x).times(0.5)) }
		text = fmt.Sprintf("-k*$^%s/(%s^%s + $^%s)", n, K, n, n)
	case 3: // the edge is where the state is c
		c := d.param("c", d.uniform(-3, 3))
		state, initial = "(c - x)", c.text+" - "+x0.text
		text = "k*" + fmt.Sprintf(root, c.text+" - $")
	}
	k := d.param("k", long(x0.num).re()/when)
	x := d.state("x", initial, text)
	y := d.state("y", "0", state)
	integral := sum(x0.num)
	size := integral.div(k.num).re()
	if d.chance(0.3) { // before it is empty
		d.to = d.constant(d.uniform(0.2, 0.9) * when)
		if kind != 2 {
			left := power(power(x0.num, rest).sub(k.mul(rest).mul(d.to.num)), one.div(rest))
			if kind != 3 {
				d.objective("final("+x+")", left, x0.re())
			}
			gone := integral.sub(power(left, rest1).div(rest1)).div(k.num)
			d.objective("final("+y+")", gone, size)
			return
		}
		d.to = d.constant(T)
	}
	if d.chance(0.4) {
		D := d.param("D", d.uniform(0.2, 1)*x0.re())
		sign := "+="
		if kind == 3 {
			sign = "-="
		}
		d.to = d.constant(2.5 * T)
		d.item("event refill at %s { %s %s %s }", number(1.2*T), x, sign, D)
		integral = integral.add(sum(D.num))
	}
	d.objective("final("+y+")", integral.div(k.num), size)
}

// filled draws a state that grows out of 0 as a power of time, of which something reads a power.
func filled(d *draw) {
	T := d.to.re()
	A := d.param("A", d.uniform(0.3, 3))
	t := "(t/" + number(T) + ")"
	var rate string
	var p float64 // the state is A (t/T)^p
	switch d.pick(4) {
	case 0: // through states that begin at 0
		p = float64(2 + d.pick(6))
		last := "1"
		for i := 1; i < int(p); i++ {
			last = d.state("z", "0", fmt.Sprintf("%d*%s/%s", i, last, number(T)))
		}
		rate = fmt.Sprintf("%s*%s*%s/%s", A, number(p), last, number(T))
	case 1: // through squares
		p = 7
		a := d.state("a", "0", "1/"+number(T))
		b := d.state("b", "0", fmt.Sprintf("3*%s^2/%s", a, number(T)))
		rate = fmt.Sprintf("%s*7*%s^2/%s", A, b, number(T))
	case 2: // by time
		p = d.uniform(1, 6)
		rate = fmt.Sprintf("%s*%s*%s^%s/%s", A, number(p), t, number(p-1), number(T))
	case 3: // what is lost of it comes back: the difference of two states
		p = 3
		a := d.state("a", "0", "1/"+number(T))
		r := d.state("r", "0", "$/"+number(T))
		rate = fmt.Sprintf("%s*3*%s^2/%s + %s - %s", A, a, number(T), r, r)
	}
	x := d.state("x", "0", rate)
	n := d.param("n", d.uniform(0.4, 3))
	c := d.param("c", d.uniform(0.3, 3))
	// ∫ c A^n (t/T)^(p n) dt = c A^n T/(p n + 1)
	integral := c.mul(power(A.num, n.num)).times(T).div(n.times(p).plus(1))
	switch d.pick(3) {
	case 0:
		d.objective("integral("+c.text+"*"+x+"^"+n.text+")", integral, 0)
	case 1: // of a power that has a rest
		y := d.state("y", "0", fmt.Sprintf("%s*%s^%s", c, x, n))
		d.objective("final("+y+")", integral, 0)
	case 2: // whose other part decays
		k := d.rate("k")
		y := d.state("y", "0", fmt.Sprintf("%s*%s^%s", c, x, n))
		z := d.state("w", "1", "-"+k.text+"*$")
		d.objective("final("+y+") + final("+z+")", integral.add(k.mul(d.to.num).neg().exp()), math.Max(1,
			integral.re()))
	}
}
