package truth

import "fmt"

// read makes objectives of an expression of time whose signal is known: it drives states, or is integrated as it is.
func (d *draw) read(k known) {
	from, to := d.from.num, d.to.num
	size := k.signal.size()
	zero := num{}
	switch d.pick(8) {
	case 0:
		y := d.state("y", "0", k.text)
		d.objective("final("+y+")", k.signal.integral(), size)
	case 1:
		ke := d.rate("ke")
		y := d.state("y", "0", fmt.Sprintf("(%s) - %s*$", k.text, ke))
		d.objective("final("+y+")", k.signal.through(ke.num, zero).last(), 0)
	case 2:
		d.anything()
		d.objective("integral("+k.text+")", k.signal.integral(), size)
	case 3:
		ke := d.rate("ke")
		y := d.state("y", "0", fmt.Sprintf("(%s) - %s*$", k.text, ke))
		d.objective("integral("+y+")", k.signal.through(ke.num, zero).integral(), 0)
	case 4:
		ke, A0 := d.rate("ke"), d.param("z0", d.uniform(1, 9))
		z := d.state("z", A0.text, fmt.Sprintf("-%s*$", ke))
		e := constant(from, to, zero).through(ke.num, A0.num)
		d.objective(fmt.Sprintf("integral(%s*(%s))", z, k.text), k.signal.mul(e).integral(), 0)
	case 5:
		ka, ke := d.rate("ka"), d.rate("ke")
		y := d.state("y", "0", fmt.Sprintf("(%s) - %s*$", k.text, ka))
		z := d.state("z", "0", fmt.Sprintf("%s*%s - %s*$", ka, y, ke))
		u := k.signal.through(ka.num, zero)
		d.objective("final("+z+")", u.times(ka.num).through(ke.num, zero).last(), 0)
	case 6:
		ke, y0 := d.rate("ke"), d.param("y0", d.uniform(1, 9))
		y := d.state("y", y0.text, fmt.Sprintf("(%s) - %s*$", k.text, ke))
		s := k.signal.through(ke.num, y0.num)
		d.objective("final("+y+")", s.last(), 0)
		d.objective("integral("+y+")", s.integral(), 0)
	case 7:
		a, b := d.instant("from_", d.time(0, 0.4)), d.instant("to_", d.time(0.6, 1))
		tied := d.tied
		d.separate(append(k.signal.starts(), a.num, b.num)...)
		d.anything()
		d.objective(fmt.Sprintf("integral(%s, from = %s, to = %s)", k.text, a, b),
			k.signal.between(a.num, b.num).integral(), size)
		d.tied = tied
	}
}

// readState makes objectives of a state that receives impulses and decays.
func (d *draw) readState(x string, u signal) {
	ke, x0 := d.rate("ke"), d.param("x0", d.uniform(0, 5))
	d.item("state %s = %s", x, x0)
	d.equations = append(d.equations, fmt.Sprintf("%s' = -%s*%s", x, ke, x))
	s := u.through(ke.num, x0.num)
	switch d.pick(3) {
	case 0:
		d.objective("final("+x+")", s.last(), 0)
	case 1:
		d.objective("integral("+x+")", s.integral(), 0)
	case 2:
		kb := d.rateOf("kb", ke.re()*d.uniform(1.5, 6))
		z := d.state("z", "0", fmt.Sprintf("%s*%s - %s*$", ke, x, kb))
		d.objective("final("+z+")", s.times(ke.num).through(kb.num, num{}).last(), 0)
	}
}
