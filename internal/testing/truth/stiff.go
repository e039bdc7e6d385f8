package truth

import (
	"fmt"
	"math"
	"strings"
)

// implicit draws settings of stiff models: every way to solve them, in every mode that gives their derivatives.
func (d *draw) implicit() {
	if d.chance(0.3) {
		d.settings = append(d.settings, "rtol = "+d.oneOf("1e-7", "1e-8", "1e-9", "1e-5", "1e-4"))
	}
	if d.chance(0.6) {
		d.settings = append(d.settings, "method = "+d.oneOf("auto", "rodas5p", "rodas4p", "rodas4", "rodas3", "ros3p",
			"rosenbrock23", "rkc2"))
	}
	if d.chance(0.3) {
		d.mode = d.oneOf("tangent", "complex", "auto")
	}
}

// stiffly draws the span of time and settings of a stiff model, and then the model.
func stiffly(model func(d *draw)) func(d *draw) {
	return func(d *draw) {
		d.span()
		d.implicit()
		model(d)
	}
}

// fastRate draws a rate constant that is fast within the span.
func (d *driver) fastRate(name string) value { return d.rateOf(name, d.log(30, 1e6)/d.duration()) }

// anyRate draws a rate constant that is slow or fast.
func (d *driver) anyRate(name string) value {
	if d.chance(0.5) {
		return d.rate(name)
	}
	return d.fastRate(name)
}

// forcing draws a smooth signal of time, or one that has corners.
func (d *driver) forcing() known {
	switch d.pick(6) {
	default:
		om := d.param("om", d.rounded(d.uniform(0.5, 12)/d.duration(), 0, math.Inf(1), 4))
		d.scaled(1 / d.duration())
		A := d.param("A", d.uniform(0.2, 3))
		return known{fmt.Sprintf("2 + %s*cos(%s*t)", A, om), wave(d.from.num, d.to.num, lit(2), A.num, om.num, num{})}
	case 1:
		return d.windowed()
	case 2:
		return d.periodic()
	case 3:
		return d.table()
	case 4:
		return d.staircase()
	case 5:
		return d.infusions()
	}
}

// mixed draws a linear system with rates of very different sizes, whose eigenvectors are far from the axes.
func (d *draw) mixed() {
	n := 2 + d.pick(4)
	s, inverse := d.shears(n)
	k, z0 := make([]value, n), make([]value, n)
	z := make([]signal, n)
	row := func(m []float64, names func(j int) string) string {
		var list []string
		for j, c := range m {
			if c != 0 {
				list = append(list, fmt.Sprintf("(%s)*%s", number(c), names(j)))
			}
		}
		return strings.Join(list, " + ")
	}
	x := func(j int) string { return fmt.Sprintf("x%d", j+1) }
	w := make([]string, n) // rates of z
	for j := range n {
		k[j] = d.anyRate("k")
		z0[j] = d.param("z0", d.uniform(-2, 2))
		d.scaled(1)
		w[j] = fmt.Sprintf("-%s*(%s)", k[j], row(inverse[j], x))
		u := constant(d.from.num, d.to.num, num{})
		if d.chance(0.4) {
			f := d.forcing()
			w[j] += fmt.Sprintf(" + %s*(%s)", k[j], f.text)
			u = f.signal.times(k[j].num)
		}
		z[j] = u.through(k[j].num, z0[j].num)
	}
	for i := range n {
		d.item("state %s = %s", x(i), row(s[i], func(j int) string { return z0[j].text }))
		d.item("let rate%d = %s", i+1, w[i])
		rates := row(s[i], func(j int) string { return fmt.Sprintf("rate%d", j+1) })
		d.equations = append(d.equations, x(i)+"' = "+rates)
	}
	i := d.pick(n)
	sum, area := num{}, num{}
	size, sizeArea := 0.0, 0.0
	for j := range n {
		v, a := z[j].last().times(s[i][j]), z[j].integral().times(s[i][j])
		sum, area = sum.add(v), area.add(a)
		size, sizeArea = size+math.Abs(v.re()), sizeArea+z[j].size()*math.Abs(s[i][j])
	}
	for j := range n { // states that are sums of these are as accurate as the largest of them
		for _, c := range s[j] {
			size = max(size, math.Abs(c*z[j].last().re()))
		}
	}
	d.objective("final("+x(i)+")", sum, size)
	d.objective("integral("+x(i)+")", area, sizeArea)
}

// shears draws a matrix of small whole numbers whose inverse is of whole numbers, too.
func (d *draw) shears(n int) (s, inverse [][]float64) {
	for i := range n {
		s, inverse = append(s, make([]float64, n)), append(inverse, make([]float64, n))
		s[i][i], inverse[i][i] = 1, 1
	}
	for range 1 + d.pick(n) {
		i, j := d.pick(n), d.pick(n)
		if i == j {
			continue
		}
		c := 1.0
		if d.chance(0.5) {
			c = -1
		}
		for k := range n { // row i of s gets c times row j; column j of the inverse loses c times column i
			s[i][k] += c * s[j][k]
		}
		for k := range n {
			inverse[k][j] -= c * inverse[k][i]
		}
	}
	return s, inverse
}

// follower draws a fast nonlinear state whose course is given, after A. Prothero and A. Robinson, Mathematics of
// Computation 28 (1974). No result depends on how fast it is.
func (d *draw) follower() {
	fast := d.fastRate("lam")
	om := d.param("om", d.rounded(d.uniform(0.5, 8)/d.duration(), 0, math.Inf(1), 4))
	d.scaled(1 / d.duration())
	A := d.param("A", d.uniform(0.2, 1))
	d.item("let phi = 2 + %s*cos(%s*t)", A, om)
	slope := fmt.Sprintf("%s*%s*sin(%s*t)", A, om, om)
	pull := d.oneOf("($ - phi)", "($^3 - phi^3)/12", "(exp($ - phi) - 1)", "$*($ - phi)/2", "(log($) - log(phi))*2",
		"($/(1 + $) - phi/(1 + phi))*9")
	y := d.state("y", fmt.Sprintf("2 + %s*cos(%s*%s)", A, om, d.from), fmt.Sprintf("-%s*%s - %s", fast, pull, slope))
	phi := wave(d.from.num, d.to.num, lit(2), A.num, om.num, num{})
	d.objective("final("+y+")", phi.last(), 0)
	switch d.pick(4) {
	case 0:
		d.objective("integral("+y+"^2)", phi.mul(phi).integral(), 0)
	case 1:
		k := d.rate("k")
		z := d.state("z", "0", fmt.Sprintf("%s - %s*$", y, k))
		d.objective("final("+z+")", phi.through(k.num, num{}).last(), 0)
	case 2:
		t := []float64{d.time(0.1, 0.4), d.time(0.4, 0.7), d.time(0.7, 1)}
		sum := num{}
		for _, t := range t {
			v := phi.value(lit(t))
			sum = sum.add(v.mul(v))
		}
		d.objective("sum_at(["+join(t)+"], "+y+"^2)", sum, 0)
	}
}

// fastDoses draws doses into a compartment that empties fast, and one that follows it slowly.
func (d *draw) fastDoses() {
	x, u := d.doses()
	fast, slow := d.fastRate("ka"), d.rate("ke")
	d.item("state %s = 0", x)
	d.equations = append(d.equations, fmt.Sprintf("%s' = -%s*%s", x, fast, x))
	z := d.state("z", "0", fmt.Sprintf("%s*%s - %s*$", fast, x, slow))
	s := u.through(fast.num, num{}).times(fast.num).through(slow.num, num{})
	d.objective("final("+z+")", s.last(), 0)
	d.objective("integral("+z+")", s.integral(), 0)
}

// fastSwitch draws a fast state that follows what a slow one switches, and events of the slow one that move both.
func (d *draw) fastSwitch() {
	from, to := d.from.num, d.to.num
	m := d.moving()
	c := d.ofState(m)
	A := d.amplitude("A")
	var level []num
	for _, t := range d.middles(c.times) {
		if c.holds(t) {
			level = append(level, A.num)
		} else {
			level = append(level, num{})
		}
	}
	u := levels(from, to, c.times, level)
	fast, slow := d.fastRate("lam"), d.rate("ke")
	y := d.fresh("y")
	d.item("state %s = 0", y)
	d.equations = append(d.equations, fmt.Sprintf("%s' = %s*((if %s then %s else 0) - %s)", y, fast, c.text, A, y))
	s := u.times(fast.num)
	if d.chance(0.5) {
		n, D := d.fresh("n"), d.amplitude("D")
		d.item("discrete %s = 0", n)
		d.item("event e when %s { %s += 1  %s += %s }", c.text, n, y, D)
		rising := d.risings(c)
		var amounts []num
		for range rising {
			amounts = append(amounts, D.num)
		}
		s = s.add(impulses(from, to, rising, amounts))
		d.objective("final("+n+")", lit(float64(len(rising))), 1)
	}
	z := d.state("z", "0", fmt.Sprintf("%s - %s*$", y, slow))
	d.objective("final("+z+")", s.through(fast.num, num{}).through(slow.num, num{}).last(), 0)
}

// turnedStiff draws a state whose rate constant jumps between slow and fast, so that a run becomes stiff and is not any
// more.
func (d *draw) turnedStiff() {
	from, to := d.from.num, d.to.num
	slow, fast := d.rate("k"), d.fastRate("lam")
	var at []num
	k := d.fresh("now")
	d.item("discrete %s = %s", k, slow)
	var rates []num
	n := 1 + d.pick(4)
	for i := range n {
		t := d.instant("T", d.from.re()+d.duration()*(float64(i)+d.uniform(0.1, 0.9))/float64(n))
		r := fast
		if i%2 == 1 {
			r = slow
		}
		d.item("event change%d at %s { %s = %s }", i, t, k, r)
		at, rates = append(at, t.num), append(rates, r.num)
	}
	d.separate(at...)
	f := d.forcing()
	y0 := d.param("y0", d.uniform(0, 3))
	d.scaled(1)
	y := d.state("y", y0.text, fmt.Sprintf("%s*((%s) - $)", k, f.text))
	var course signal
	begin, r, value := from, slow.num, y0.num
	for i := range n + 1 {
		end := to
		if i < n {
			end = at[i]
		}
		part := f.signal.between(begin, end).times(r).through(r, value)
		course = append(course, part...)
		if value = part.last(); i < n {
			begin, r = end, rates[i]
		}
	}
	ke := d.rate("ke")
	z := d.state("z", "0", fmt.Sprintf("%s - %s*$", y, ke))
	d.objective("final("+z+")", course.through(ke.num, num{}).last(), 0)
	d.objective("integral("+y+")", course.integral(), course.size())
}

// exchange draws substances that turn into each other fast, with a total that is kept or leaves slowly.
func (d *draw) exchange() {
	f, a0 := d.fastRate("f"), d.param("a0", d.uniform(0.5, 5))
	T := d.to.sub(d.from.num)
	if d.chance(0.5) { // pairs form and an inflow comes: a' = g - f a², Riccati's
		g := d.fastRate("g")
		a := d.state("a", a0.text, fmt.Sprintf("%s - %s*$^2", g, f))
		root := g.mul(f.num).sqrt()
		level := g.div(f.num).sqrt()
		// (a - level)/(a + level) decays with exp(-2 root t).
		r := a0.sub(level).div(a0.add(level)).mul(root.times(-2).mul(T).exp())
		d.objective("final("+a+")", level.mul(r.plus(1)).div(lit(1).sub(r)), 0)
		// ∫ a = level T + ln((1 - r)/(1 - r0))/f
		r0 := a0.sub(level).div(a0.add(level))
		d.objective("integral("+a+")", level.mul(T).add(lit(1).sub(r).div(lit(1).sub(r0)).log().div(f.num)), 0)
		return
	}
	b, b0 := d.fastRate("r"), d.param("b0", d.uniform(0, 5))
	d.scaled(1)
	d.state("a", a0.text, fmt.Sprintf("-%s*$ + %s*b", f, b))
	d.state("b", b0.text, fmt.Sprintf("%s*a - %s*$", f, b))
	total, both := a0.add(b0.num), f.add(b.num)
	level := total.mul(b.num).div(both)
	off := a0.sub(level)
	d.objective("final(a)", level.add(off.mul(both.mul(T).neg().exp())), 0)
	d.objective("integral(a)", level.mul(T).add(off.mul(lit(1).sub(both.mul(T).neg().exp())).div(both)), 0)
	d.objective("final(a + b)", total, 0)
	d.objective("max_over(a)", map[bool]num{true: a0.num, false: level}[a0.re() > level.re()], 0)
}

// diffusion draws the cooling of a rod in cells, as a sum of two of its modes.
func (d *draw) diffusion() {
	n := 4 + d.pick(60)
	D := d.param("D", d.rounded(d.log(0.05, 1)/d.duration(), 0, math.Inf(1), 4))
	A, B := d.param("A", d.uniform(0.5, 5)), d.param("B", d.uniform(0.5, 5))
	second := 2 + d.pick(n-2)
	angle := func(j int) float64 { return math.Pi * float64(j) / float64(n+1) }
	d.item("const n = %d", n)
	d.item("state u[n] = [%s*sin(pi*i/(n + 1)) + %s*sin(pi*%d*i/(n + 1)) for i in 1:n]", A, B, second)
	d.equations = append(d.equations, d.oneOf(
		"u[i]' = D*(n + 1)^2*((if i > 1 then u[max(i - 1, 1)] else 0) + (if i < n then u[min(i + 1, n)] else 0)"+
			" - 2*u[i]) for i in 1:n",
		"u[i]' = D*(n + 1)^2*sum((if abs(i - j) == 1 then 1 else if i == j then -2 else 0)*u[j] for j in 1:n)"+
			" for i in 1:n"))
	decay := func(j int) num {
		s := 2 * float64(n+1) * math.Sin(angle(j)/2)
		return D.times(-s * s)
	}
	T := d.to.sub(d.from.num)
	i := 1 + d.pick(n)
	first, other := A.times(math.Sin(angle(i))), B.times(math.Sin(angle(second*i)))
	size := math.Abs(first.re()) + math.Abs(other.re())
	d.objective(fmt.Sprintf("final(u[%d])", i),
		first.mul(decay(1).mul(T).exp()).add(other.mul(decay(second).mul(T).exp())), size)
	area := func(j int) num { return decay(j).mul(T).exp().plus(-1).div(decay(j)) }
	d.objective(fmt.Sprintf("integral(u[%d])", i), first.mul(area(1)).add(other.mul(area(second))), 0)
}

// fastChain draws many fast compartments in a row, behind a dose.
func (d *draw) fastChain() {
	n := 3 + d.pick(5)
	td := d.instant("td", d.time(0.02, 0.9))
	D := d.param("D", d.uniform(1, 10))
	d.separate(td.num)
	u := impulses(d.from.num, d.to.num, []num{td.num}, []num{D.num})
	d.item("event dose at %s { x1 += %s }", td, D)
	inflow := ""
	for i := 1; i <= n; i++ {
		k := d.fastRate(fmt.Sprintf("k%d", i))
		if i == n {
			k = d.rate("ke")
		}
		d.item("state x%d = 0", i)
		d.equations = append(d.equations, fmt.Sprintf("x%d' = %s-%s*x%d", i, inflow, k, i))
		s := u.through(k.num, num{})
		if i == n {
			d.objective(fmt.Sprintf("final(x%d)", n), s.last(), 10)
			d.objective(fmt.Sprintf("integral(x%d)", n), s.integral(), 10/k.re())
		}
		u, inflow = s.times(k.num), fmt.Sprintf("%s*x%d ", k, i)
	}
}
