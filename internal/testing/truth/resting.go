package truth

import (
	"fmt"
	"math"
)

// slopes are the derivatives of an objective by names; by all others they are 0.
type slopes map[string]float64

// tell declares an objective with its value and its derivatives by the params that were drawn; NaN stands for none.
func (d *draw) tell(text string, value, size float64, by slopes) {
	name := d.fresh("J")
	d.objectives = append(d.objectives, "objective "+name+" = "+text)
	d.numbers = append(d.numbers, Number{Of: name, Truth: value, Size: size})
	for _, p := range d.params {
		d.numbers = append(d.numbers, Number{Of: name, Wrt: p.name, Truth: by[p.name], Size: size})
	}
}

// resting draws a state that is at rest at a threshold, or a little below it, and params that would move either: its
// feed, its equilibrium, a state that feeds it and is 0, a dose of 0.
func (d *draw) resting() {
	d.from, d.to = d.constant(0), d.constant(d.log(0.5, 50))
	d.solver()
	length := d.to.re()
	r, gap := d.uniform(0.5, 9), 0.0
	if d.chance(0.1) {
		r = 0
	}
	if d.chance(0.4) {
		gap = d.uniform(0.1, 5)
	}
	A, B, k := d.param("A", d.uniform(0.5, 9)), d.param("B", d.uniform(-9, -0.5)), d.rate("k")
	R, th := d.param("r", r), d.param("th", r+gap)
	moves, up := []string{R.text}, "" // what moves it up whatever its sign is
	rate := fmt.Sprintf("- %s*($ - %s)", k, R)
	if d.chance(0.5) {
		u := d.param("u", 0)
		power := d.oneOf("", "", "^2", "^2/(1 + u^2)")
		rate, moves = u.text+power+" "+rate, append(moves, u.text)
		if power != "" {
			up = u.text
		}
	}
	if d.chance(0.4) {
		w, z0 := d.param("w", d.uniform(0.5, 2)), d.param("z0", 0)
		z := d.state("z", z0.text, "-$")
		rate, moves = fmt.Sprintf("%s + %s*%s", rate, w, z), append(moves, z0.text)
	}
	x := d.state("x", number(r), rate)
	if d.chance(0.4) {
		D := d.param("D", 0)
		d.item("event dose at %s { %s += %s }", number(d.uniform(0.2, 0.8)*length), x, D)
		moves = append(moves, D.text)
	}
	by := slopes{}
	y := d.fresh("y")
	if event := d.chance(0.35); event {
		d.item("state %s = 0", y)
		d.equations = append(d.equations, y+"' = "+B.text)
		d.item("event hit when %s > %s { %s += %s }", x, th, y, A)
		by[B.text] = length
		if gap == 0 {
			for _, name := range moves {
				by[name] = math.NaN()
			}
		}
		d.tell("final("+y+")", B.re()*length, (A.re()-B.re())*length, by)
	} else {
		over := d.oneOf("X > H", "X >= H", "X - H > 0", "X > H and X < 1e6")
		holds := gap == 0 && over == "X >= H"
		over = words(over, map[string]string{"X": x, "H": th.text})
		d.item("state %s = 0", y)
		d.equations = append(d.equations, fmt.Sprintf("%s' = if %s then %s else %s", y, over, A, B))
		value := B.re() * length
		if holds {
			value = A.re() * length
			by[A.text] = length
		} else {
			by[B.text] = length
		}
		if gap == 0 {
			for _, name := range append(moves, th.text) {
				if !holds || name != up {
					by[name] = math.NaN()
				}
			}
		}
		d.tell("final("+y+")", value, (A.re()-B.re())*length, by)
	}
	if d.chance(0.5) { // what does not read it
		q := d.rate("q")
		v := d.state("v", "1", "-"+q.text+"*$")
		e := math.Exp(-q.re() * length)
		d.tell("final("+v+")", e, 1, slopes{q.text: -length * e})
	}
}

// inBodies draws doses that a condition in their body ends, by time or by their number. It may be met exactly at one of
// them.
func (d *draw) inBodies() {
	tau := d.param("tau", d.log(0.05, 20))
	n := float64(2 + d.pick(6))
	d.from, d.to = d.constant(0), d.constant((n+d.uniform(0.2, 0.8))*tau.re())
	d.solver()
	last := float64(1 + d.pick(int(n))) // the first dose that is not given, or would not be with another end
	off := 0.0
	if d.chance(0.5) {
		off = d.uniform(0.1, 0.9)
	}
	D, k := d.param("D", d.uniform(0.5, 9)), d.rate("k")
	c := d.state("c", "0", "-"+k.text+"*$")
	given := math.Ceil(last + off) // doses come from the start on
	var text, end string
	switch d.pick(3) {
	case 0:
		te := d.param("te", (last+off)*tau.re())
		end = te.text
		text = d.oneOf("if t < E then D else 0", "D*(1 - step(t - E))", "if E > t then D else 0")
	case 1:
		m := d.param("m", last+off)
		end = m.text
		if text = "if t < E*tau then D else 0"; off > 0 && d.chance(0.5) { // at a tie, rounding would decide
			text = "if t/tau < E then D else 0"
		}
	case 2:
		n := d.fresh("n")
		m := d.param("m", last+off)
		end = m.text
		d.item("discrete %s = 0", n)
		d.item("event count every %s { %s += 1 }", tau, n)
		text = words("if N < E then D else 0", map[string]string{"N": n})
	}
	text = words(text, map[string]string{"E": end, "D": D.text, "tau": tau.text})
	d.item("event dose every %s priority 1 { %s += %s }", tau, c, text)
	sum, byTau, byK := 0.0, 0.0, 0.0
	for i := 0.0; i < given; i++ {
		age := d.to.re() - i*tau.re()
		e := D.re() * math.Exp(-k.re()*age)
		sum, byTau, byK = sum+e, byTau+k.re()*i*e, byK-age*e
	}
	by := slopes{D.text: sum / D.re(), tau.text: byTau, k.text: byK}
	if off == 0 {
		by[end] = math.NaN()
		if end[0] == 't' {
			by[tau.text] = math.NaN()
		}
	}
	d.tell("final("+c+")", sum, D.re(), by)
}

// observedKinks draws observations of a state that decays, times something that may be at a kink or a threshold: of
// a state at rest, or of params alone.
func (d *draw) observedKinks() {
	d.from, d.to = d.constant(0), d.constant(d.log(0.5, 50))
	d.solver()
	length := d.to.re()
	r, gap := d.uniform(0.5, 9), 0.0
	if d.chance(0.4) {
		gap = d.uniform(0.1, 5)
	}
	A, B := d.param("A", d.uniform(0.5, 3)), d.param("B", d.uniform(3.5, 9))
	k, sd := d.rate("k"), d.param("sd", d.uniform(0.05, 0.5))
	q := d.rate("q")
	R, th := d.param("r", r), d.param("th", r+gap)
	y := d.state("y", "1", "-"+k.text+"*$")
	z, moves := R.text, []string{R.text, th.text}
	still := d.chance(0.4)
	if !still {
		u := d.param("u", 0)
		z = d.state("z", number(r), fmt.Sprintf("%s - %s*($ - %s)", u, q, R))
		moves = append(moves, u.text)
	}
	kind := d.pick(3)
	factor := []string{"if Z > H then A else B", "max(Z, H)", "A + abs(Z - H)"}[kind]
	c := []float64{B.re(), r + gap, A.re() + gap}[kind]
	factor = words(factor, map[string]string{"Z": z, "H": th.text, "A": A.text, "B": B.text})
	n := 1 + d.pick(5)
	var times, values []float64
	by, total, size := slopes{}, 0.0, 0.0
	for i := range n {
		t := length * d.uniform(float64(i)+0.1, float64(i)+0.9) / float64(n)
		e := math.Exp(-k.re() * t)
		v := d.rounded(c*e*d.uniform(0.8, 1.25), math.Inf(-1), math.Inf(1), 4)
		times, values = append(times, t), append(values, v)
		rest, s := (c*e-v)/sd.re(), sd.re()
		total += rest*rest/2 + math.Log(s) + math.Log(2*math.Pi)/2
		size += rest*rest + 1
		byC := rest * e / s
		by[k.text] -= byC * c * t
		by[sd.text] += (1 - rest*rest) / s
		switch kind {
		case 0:
			by[B.text] += byC
		case 1:
			by[th.text] += byC
		case 2:
			by[A.text] += byC
			by[th.text] += byC
			if still {
				by[R.text] -= byC
			} else {
				f := -math.Expm1(-q.re() * t)
				by[R.text] -= byC * f
				by["u"] -= byC * f / q.re()
			}
		}
	}
	if gap == 0 {
		for _, name := range moves {
			by[name] = math.NaN()
		}
	}
	d.item("data D_ {\n  time = [%s]\n  conc = [%s]\n}", join(times), join(values))
	d.item("observe c_ = %s*(%s) ~ normal(%s) from D_.conc", y, factor, sd)
	d.tell("nll()", total, size, by)
}

// equalBranches draws a condition of params, most often at its threshold, whose branches have the same value there.
func (d *draw) equalBranches() {
	d.from, d.to = d.constant(0), d.constant(d.log(0.5, 50))
	d.solver()
	u, gap, dose := d.uniform(0.5, 9), 0.0, 0.0
	if d.chance(0.3) {
		gap = d.uniform(0.1, 5)
	}
	if d.chance(0.3) {
		dose = d.uniform(0.1, 5)
	}
	U, M, D := d.param("u", u), d.param("most", u+gap), d.param("D", dose)
	A, B, k := d.param("A", d.uniform(0.5, 3)), d.param("B", d.uniform(3.5, 9)), d.rate("k")
	by, inflow, text := slopes{}, 0.0, ""
	over, tie, given := U.re() > M.re(), U.re() == M.re(), D.re() > 0 // a moved param may be on either side
	switch d.pick(5) {
	case 0:
		text, inflow = "if U > M then M else U", min(U.re(), M.re())
		if by[U.text] = 1; over {
			by[U.text], by[M.text] = 0, 1
		}
	case 1:
		if text = "if D > 0 then A*D else 0"; given {
			inflow = A.re() * D.re()
			by[A.text], by[D.text] = D.re(), A.re()
		}
		if D.re() == 0 {
			by[D.text] = math.NaN()
		}
		tie = false
	case 2:
		of := B
		if over {
			of = A
		}
		text, inflow = "if U > M then A*D else B*D", of.re()*D.re()
		by[of.text], by[D.text] = D.re(), of.re()
		tie = tie && D.re() > 0
	case 3:
		text, inflow = "if U > M then A + U - M else A", A.re()+max(0, U.re()-M.re())
		if by[A.text] = 1; over {
			by[U.text], by[M.text] = 1, -1
		}
	case 4:
		off := max(0, U.re()-M.re())
		text, inflow = "if U > M then A + (U - M)^2 else A", A.re()+off*off
		by[A.text], by[U.text], by[M.text] = 1, 2*off, -2*off
		tie = false
	}
	if tie {
		by[U.text], by[M.text] = math.NaN(), math.NaN()
	}
	text = words(text, map[string]string{"U": U.text, "M": M.text, "D": D.text, "A": A.text, "B": B.text})
	x := d.state("x", "0", fmt.Sprintf("(%s) - %s*$", text, k))
	T := d.to.re()
	f := -math.Expm1(-k.re()*T) / k.re() // x = inflow*f
	for name := range by {
		by[name] *= f
	}
	by[k.text] = inflow * (T*math.Exp(-k.re()*T) - f) / k.re()
	d.tell("final("+x+")", inflow*f, 9*f, by)
}

// steadyAtThresholds draws a steady state at a threshold or a kink, or a little off it.
func (d *draw) steadyAtThresholds() {
	d.from, d.to = d.constant(0), d.constant(d.log(0.5, 50))
	d.solver()
	gap := 0.0
	if d.chance(0.4) {
		gap = d.uniform(0.1, 5)
	}
	k, w := d.rate("k"), d.rate("w")
	A, B := d.param("A", d.uniform(0.5, 3)), d.param("B", d.uniform(3.5, 9))
	x0, r := d.param("x0", 0), d.uniform(0.5, 9)
	// How the steady state moves with params.
	moves := slopes{}
	var rest string
	kind, flow := d.pick(3), d.pick(3)
	if kind == 0 && flow == 2 {
		flow = 0 // rounding would decide where the condition holds
	}
	switch flow {
	case 0:
		P := d.param("P", r*k.re())
		rest = fmt.Sprintf("%s - %s*$", P, k)
		r = P.re() / k.re()
		moves[P.text], moves[k.text] = 1/k.re(), -r/k.re()
	case 1:
		R := d.param("r", r)
		rest = fmt.Sprintf("%s*(%s - $)", k, R)
		moves[R.text] = 1
	case 2: // a sum is conserved
		d.item("state z = %s", number(r))
		d.equations = append(d.equations, fmt.Sprintf("z' = %s*x - %s*z", k, k))
		rest = fmt.Sprintf("%s*z - %s*$", k, k)
		r = (r + x0.re()) / 2
		moves[x0.text] = 0.5
	}
	x := d.state("x", x0.text, rest)
	th := d.param("th", r+gap)
	moves[th.text] = -1
	inflow := words([]string{"if X > H then A else B", "A*max(X, H)", "A + abs(X - H)"}[kind],
		map[string]string{"X": x, "H": th.text, "A": A.text, "B": B.text})
	y := d.state("y", "0", fmt.Sprintf("(%s) - %s*$", inflow, w))
	by, value := slopes{}, 0.0
	gap = th.re() - r // where a param is moved, it may be on either side
	switch kind {
	case 0:
		of := B
		if gap < 0 {
			of = A
		}
		value, by[of.text] = of.re(), 1
	case 1:
		value, by[A.text] = A.re()*max(r, th.re()), max(r, th.re())
		if by[th.text] = A.re(); gap < 0 {
			for name, x := range moves {
				by[name] = A.re() * x
			}
			by[th.text] = 0
		}
	case 2:
		value, by[A.text] = A.re()+math.Abs(gap), 1
		for name, x := range moves {
			by[name] = -math.Copysign(1, gap) * x
		}
	}
	for name := range by {
		by[name] /= w.re()
	}
	value /= w.re()
	by[w.text] = -value / w.re()
	if gap == 0 {
		for name := range moves {
			by[name] = math.NaN()
		}
	}
	d.tell("steady("+y+")", value, value, by)
}

// halted draws a body that friction stops, so its speed is 0 but for rounding, and a force of 0 that would move it.
func (d *draw) halted() {
	d.from, d.to = d.constant(0), d.constant(d.log(0.5, 50))
	d.solver()
	T := d.to.re()
	v0 := d.param("v0", d.uniform(0.5, 9))
	f := d.param("f", v0.re()/(T*d.uniform(0.1, 0.9)))
	A, B := d.param("A", d.uniform(0.5, 9)), d.param("B", d.uniform(-9, -0.5))
	d.item("discrete on = 1")
	rate := "-" + f.text + "*on"
	u := ""
	if d.chance(0.6) {
		u = d.param("u", 0).text
		rate += " + " + u
	}
	v := d.state("v", v0.text, rate)
	d.item("event halt when %s <= 0 { on = 0 }", v)
	w := d.state("w", "0", words(d.oneOf("if V > 0 then A else B", "if 0 < V then A else B"),
		map[string]string{"V": v, "A": A.text, "B": B.text}))
	t, jump := v0.re()/f.re(), A.re()-B.re()
	by := slopes{A.text: t, B.text: T - t, v0.text: jump / f.re(), f.text: -jump * t / f.re()}
	if u != "" {
		by[u] = math.NaN()
	}
	d.tell("final("+w+")", A.re()*t+B.re()*(T-t), jump*T, by)
}

// largestAtKinks draws largest values of something that may be at a kink or a threshold where it is largest, by a
// state at rest or by params alone: at the start, within the run, at its end, or all along.
func (d *draw) largestAtKinks() {
	d.from, d.to = d.constant(0), d.constant(d.log(0.5, 50))
	d.solver()
	length := d.to.re()
	r, gap := d.uniform(0.5, 9), 0.0
	if d.chance(0.4) {
		gap = d.uniform(0.1, 5)
	}
	A, B := d.param("A", d.uniform(0.5, 3)), d.param("B", d.uniform(3.5, 9))
	R, th, q := d.param("r", r), d.param("th", r+gap), d.rate("q")
	z, still := R.text, d.chance(0.3)
	var later []string // what moves z, but not at the start
	if !still {
		u := d.param("u", 0)
		z = d.state("z", number(r), fmt.Sprintf("%s - %s*($ - %s)", u, q, R))
		later = []string{u.text, R.text}
	}
	kind := d.pick(3)
	factor := []string{"if Z > H then A else B", "max(Z, H)", "A + abs(Z - H)"}[kind]
	c := []float64{B.re(), r + gap, A.re() + gap}[kind]
	factor = words(factor, map[string]string{"Z": z, "H": th.text, "A": A.text, "B": B.text})
	by, text, at, height := slopes{}, factor, 0.0, 1.0
	place := d.pick(4)
	switch k := d.param("k", d.uniform(0.2, 3)/length); place {
	case 0: // at the start
		text = d.state("y", "1", "-"+k.text+"*$") + "*(" + factor + ")"
	case 1: // at the end
		at, height = length, math.Exp(k.re()*length)
		text = d.state("y", "1", k.text+"*$") + "*(" + factor + ")"
		by[k.text] = c * length * height
	case 2: // within
		w := d.state("w", "1", "-"+k.text+"*$")
		y := d.state("y", "0", fmt.Sprintf("%s - %s*$", w, k))
		if at = 1 / k.re(); at >= length {
			at, height = length, length*math.Exp(-k.re()*length)
			by[k.text] = -c * length * height
		} else {
			height = at / math.E
			by[k.text] = -c * at * height
		}
		text = y + "*(" + factor + ")"
	default: // all along
		d.state("y", "1", "-"+k.text+"*$")
	}
	switch kind {
	case 0:
		by[B.text] = height
	case 1:
		by[th.text] = height
	case 2:
		by[A.text], by[th.text] = height, height
		if still {
			by[R.text] = -height
		} else {
			f := -math.Expm1(-q.re() * at)
			by[R.text], by["u"] = -height*f, -height*f/q.re()
		}
	}
	everywhere := place == 3
	if gap == 0 {
		by[th.text] = math.NaN()
		if still {
			by[R.text] = math.NaN()
		}
	}
	if gap == 0 && place > 0 && !(everywhere && kind == 0) || gap > 0 && everywhere && kind == 2 {
		for _, name := range later {
			by[name] = math.NaN()
		}
	}
	d.tell("max_over("+text+")", c*height, c*height, by)
}
