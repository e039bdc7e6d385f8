package truth

import (
	"fmt"
	"strings"
)

// algebraically draws settings of models with algebraic equations.
func (d *draw) algebraically() {
	if d.chance(0.3) {
		d.settings = append(d.settings, "rtol = "+d.oneOf("1e-7", "1e-8", "1e-9", "1e-5", "1e-4"))
	}
	if d.chance(0.5) {
		d.settings = append(d.settings, "method = "+d.oneOf("auto", "rodas5p", "rodas4p", "rodas4", "rodas3"))
	}
	if d.chance(0.3) {
		d.mode = d.oneOf("tangent", "complex", "auto")
	}
}

// hidden returns a motion as an algebraic unknown that follows from it.
func (d *draw) hidden(m motion) motion {
	q := d.fresh("q")
	d.item("alg %s = %s", q, d.oneOf("0", "1"))
	gap := d.oneOf("0 = q - x", "0 = q + 0.5*sin(q) - x - 0.5*sin(x)", "0 = x^3 + x - q^3 - q", "0 = atan(x) - atan(q)",
		"0 = 2*(x - q) + x*abs(x) - q*abs(q)")
	d.equations = append(d.equations, words(gap, map[string]string{"q": q, "x": m.name}))
	m.name = q
	return m
}

// conditions draws events and modes by conditions on unknowns.
func (d *draw) conditions() {
	d.span()
	d.algebraically()
	m := d.hidden(d.moving())
	switch d.pick(3) {
	case 0:
		c := d.ofState(m)
		d.counted(c.text, d.risings(c))
	case 1:
		d.read(d.switched(m))
	case 2:
		d.read(d.kinkedBy(m))
	}
}

// unknowns draws a system of index 1: states that decay at rates of very different sizes, which read algebraic unknowns
// only. These follow from as many equations, each of which is about several of them; some are not linear. States jump
// at known times, and the unknowns with them.
func (d *draw) unknowns() {
	d.span()
	d.algebraically()
	from, to := d.from.num, d.to.num
	n := 1 + d.pick(4)
	mix, _ := d.shears(n)
	var gaps []string
	var z []signal
	var c []value
	for j := range n {
		k, z0 := d.anyRate("k"), d.param("start", d.uniform(-2, 2))
		c = append(c, d.param("c", d.uniform(-1, 1)))
		d.scaled(1)
		rate := fmt.Sprintf("-%s*(q%d - %s)", k, j, c[j])
		u := constant(from, to, num{})
		if d.chance(0.4) {
			f := d.forcing()
			rate += fmt.Sprintf(" + %s*(%s)", k, f.text)
			u = f.signal.times(k.num)
		}
		if d.chance(0.3) {
			td, D := d.instant("td", d.time(0.05, 0.9)), d.param("D", d.uniform(0.5, 3))
			d.item("event dose%d at %s { x%d += %s }", j, td, j, D)
			u = u.add(impulses(from, to, []num{td.num}, []num{D.num}))
		}
		d.item("state x%d = %s", j, z0)
		d.item("alg q%d = %s", j, d.oneOf("0", z0.text, "1"))
		d.equations = append(d.equations, fmt.Sprintf("x%d' = %s", j, rate))
		gaps = append(gaps, fmt.Sprintf(d.oneOf("(q%d - x%[1]d - %[2]s)", "(q%d + 0.5*sin(q%[1]d) - x%[1]d - "+
			"%[2]s - 0.5*sin(x%[1]d + %[2]s))",
			"(q%d^3 + q%[1]d - (x%[1]d + %[2]s)^3 - x%[1]d - %[2]s)"), j, c[j]))
		z = append(z, u.through(k.num, z0.num))
	}
	for i := range n {
		var sum []string
		for j, m := range mix[i] {
			if m != 0 {
				sum = append(sum, fmt.Sprintf("(%s)*%s", number(m), gaps[j]))
			}
		}
		d.equations = append(d.equations, "0 = "+strings.Join(sum, " + "))
	}
	T := to.sub(from)
	j := d.pick(n)
	d.objective(fmt.Sprintf("final(q%d)", j), z[j].last().add(c[j].num), z[j].size()/d.duration())
	d.objective(fmt.Sprintf("integral(q%d)", j), z[j].integral().add(c[j].mul(T)), z[j].size()+d.duration())
	d.objective(fmt.Sprintf("initial(q%d)", n-1), z[n-1].value(from).add(c[n-1].num), 1)
}
