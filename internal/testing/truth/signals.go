package truth

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// known is an expression of time, and what it is.
type known struct {
	text   string
	signal signal
}

// driver draws what drives a model: expressions of time, and of states, whose course is known.
type driver struct{ sheet }

// window is a condition on time that is true from a until b.
type window struct {
	condition string
	a, b      num
}

// width draws the length of a window: a fraction of the span, down to what steps may miss.
func (d *driver) width() float64 { return d.duration() * d.log(2e-4, 0.2) }

// window draws a condition of any spelling that is true once within a part of the span.
func (d *driver) window(lo, hi float64) window {
	return d.windowFrom(d.time(lo, lo+0.75*(hi-lo)), d.width())
}

func (d *driver) windowFrom(at, width float64) window {
	a, w := d.instant("a", at), d.param("w", width)
	b := a.add(w.num)
	low, high := a.sub(w.num), b
	spellings := []struct {
		text     string // of a and w
		centered bool   // from a - w to a + w
	}{
		{"t >= a and t < a + w", false},
		{"not (t < a or t > a + w)", false},
		{"(t - a)*(t - a - w) < 0", false},
		{"abs(t - a) < w", true},
		{"t - a > 0 and a + w - t > 0", false},
		{"t >= a and not (t >= a + w)", false},
		{"max(a - t, t - a - w) < 0", false},
		{"min(t - a, a + w - t) > 0", false},
		{"(t - a)^2 < w^2", true},
		{"exp(-((t - a)/w)^2) > exp(-1)", true},
		{"(t - a)/w >= 0 and (t - a)/w < 1", false},
		{"abs(floor((t - a)/w)) < 0.5", false},
		{"step(t - a) > 0.5 and step(t - a - w) < 0.5", false},
		{"(if t >= a then (if t < a + w then 1 else 0) else 0) > 0.5", false},
		{"(if t >= a and t < a + w then 1 else 0) > 0", false},
		{"sign(t - a)*sign(t - a - w) < 0", false},
		{"(t - a)*(t - a - w)*(1 + (t - a)^2) < 0", false},
		{"1/(1 + ((t - a)/w)^2) > 0.5", true},
		{"w*w - (a - t)*(a - t) >= 0", true},
		{"(t >= a and t < a + w/2) or (t >= a + w/2 and t < a + w)", false},
		{"not (not (t >= a)) and t < a + w", false},
		{"(t - a)*(t - a) - w*(t - a) < 0", false},
		{"1.1*sqrt(abs(t - a)) < 1.1*sqrt(w)", true},
		{"2*t > 2*a and 3*t - 3*a < 3*w", false},
	}
	s := spellings[d.pick(len(spellings))]
	x := window{words(s.text, map[string]string{"a": a.text, "w": w.text}), a.num, b}
	if s.centered {
		x.a, x.b = low, high
	}
	d.separate(x.a, x.b)
	return x
}

// after returns those of some times that are after the start: what is true at the start does not fire there.
func (d *driver) after(times ...num) []num {
	return slices.DeleteFunc(times, func(t num) bool { return t.re() <= d.from.re() })
}

// words returns a text with some of its names replaced.
func words(text string, by map[string]string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && (text[j] == '_' || text[j] >= 'a' && text[j] <= 'z' || text[j] >= 'A' && text[j] <= 'Z' ||
			j > i && text[j] >= '0' && text[j] <= '9') {
			j++
		}
		if j == i {
			b.WriteByte(text[i])
			i++
			continue
		}
		if name, ok := by[text[i:j]]; ok {
			b.WriteString(name)
		} else {
			b.WriteString(text[i:j])
		}
		i = j
	}
	return b.String()
}

// amplitude draws a number of any scale, as a param.
func (d *driver) amplitude(name string) value {
	x := d.uniform(1, 10)
	switch d.pick(10) {
	case 8:
		x *= 1e4
	case 9:
		x *= 1e-3
	}
	return d.param(name, d.rounded(x, 0, math.Inf(1), 4))
}

// windowed draws an expression that has a value within a window and others outside.
func (d *driver) windowed() known {
	w := d.window(0.02, 0.98)
	A := d.amplitude("A")
	zero := num{}
	switch d.pick(5) {
	default:
		return known{
			"if " + w.condition + " then " + A.text + " else 0",
			levels(d.from.num, d.to.num, []num{w.a, w.b}, []num{zero, A.num, zero}),
		}
	case 1: // a dose spread over its duration
		return known{
			fmt.Sprintf("if %s then %s/%s else 0", w.condition, A, number(w.b.re()-w.a.re())),
			levels(d.from.num, d.to.num, []num{w.a, w.b}, []num{zero, A.times(1 / (w.b.re() - w.a.re())), zero}),
		}
	case 2: // the window is the branch "else"
		return known{
			"if not (" + w.condition + ") then 0 else " + A.text,
			levels(d.from.num, d.to.num, []num{w.a, w.b}, []num{zero, A.num, zero}),
		}
	case 3: // what is outside counts
		B := d.param("B", A.re()*d.uniform(-0.2, 0.2))
		return known{
			fmt.Sprintf("if %s then %s else %s", w.condition, A, B),
			levels(d.from.num, d.to.num, []num{w.a, w.b}, []num{B.num, A.num, B.num}),
		}
	case 4:
		return known{
			fmt.Sprintf("%s*(if %s then 1 else 0)*1.5", A, w.condition),
			levels(d.from.num, d.to.num, []num{w.a, w.b}, []num{zero, A.times(1.5), zero}),
		}
	}
}

// windowSum draws a sum, or a chain, of windows one after another.
func (d *driver) windowSum() known {
	n := 2 + d.pick(2)
	A := d.amplitude("A")
	at, level := []num{}, []num{{}}
	var texts []string
	for i := range n {
		w := d.window(0.02+0.96*float64(i)/float64(n), 0.02+0.96*float64(i+1)/float64(n))
		if i > 0 && w.a.re() <= at[len(at)-1].re() {
			continue
		}
		at, level = append(at, w.a, w.b), append(level, A.num, num{})
		texts = append(texts, w.condition)
	}
	out := known{signal: levels(d.from.num, d.to.num, at, level)}
	switch d.pick(3) {
	case 0:
		for i, w := range texts {
			texts[i] = "(if " + w + " then " + A.text + " else 0)"
		}
		out.text = strings.Join(texts, " + ")
	case 1:
		out.text = "if (" + strings.Join(texts, ") or (") + ") then " + A.text + " else 0"
	case 2:
		out.text = "if " + strings.Join(texts, " then "+A.text+" elseif ") + " then " + A.text + " else 0"
	}
	return out
}

// nested draws windows within windows and conditions within conditions.
func (d *driver) nested() known {
	outer := d.windowFrom(d.time(0.1, 0.4), d.duration()*d.uniform(0.2, 0.5))
	share := d.uniform(0.1, 0.6)
	inner := d.windowFrom(outer.a.re()+share*(outer.b.re()-outer.a.re()), d.duration()*d.log(5e-4, 0.02))
	A := d.amplitude("A")
	B := d.param("B", A.re()*d.uniform(0.1, 0.9))
	out := known{}
	var inside num // within both
	switch d.pick(4) {
	case 0:
		out.text = fmt.Sprintf("if %s then (if %s then %s else %s) else 0", outer.condition, inner.condition, A, B)
		inside = A.num
	case 1:
		out.text = fmt.Sprintf("if (if %s then 1 else 0) + (if %s then 1 else 0) > 1.5 then %s "+
			"elseif %s then %s else 0", outer.condition, inner.condition, A, outer.condition, B)
		inside = A.num
	case 2:
		out.text = fmt.Sprintf("(if %s then %s else 0)*(if %s then 0 else 1)", outer.condition, B, inner.condition)
	case 3:
		out.text = fmt.Sprintf("if (%s) and (if %s then 1 else 0) < 1 then %s else 0", outer.condition,
			inner.condition, B)
	}
	low, high := []num{outer.a}, []num{{}, B.num}
	if inner.a.re() <= outer.a.re() { // the inner window is wider than the place it has
		low, high = nil, []num{{}}
		if inner.b.re() > outer.a.re() {
			low, high = append(low, outer.a), append(high, inside)
		}
		low, high = append(low, inner.b), append(high, B.num)
	} else {
		low, high = append(low, inner.a, inner.b), append(high, inside, B.num)
	}
	low, high = append(low, outer.b), append(high, num{})
	d.separate(outer.a, outer.b, inner.a, inner.b)
	if !slices.IsSortedFunc(low, func(a, b num) int { return cmp.Compare(a.re(), b.re()) }) {
		panic("truth: nested windows out of order")
	}
	out.signal = levels(d.from.num, d.to.num, low, high)
	return out
}

// period declares a period, of which so many go into the span. Moved by its scale, it moves the last jump by one.
func period(d *driver, cycles float64) value {
	P := d.param("P", d.rounded(d.duration()/cycles, 0, math.Inf(1), 4))
	d.scaled(P.re() * P.re() / max(P.re(), math.Abs(d.to.re())))
	return P
}

// periodic draws a signal that repeats, made of functions with jumps.
func (d *driver) periodic() known {
	cycles := d.uniform(1.3, 40)
	P := period(d, cycles)
	A := d.amplitude("A")
	duty := d.uniform(0.05, 0.9)
	var on, off, start num // level within and outside of the part, and when the first period began
	on = A.num
	part := P.times(duty) // of the period
	text := ""
	from := d.from.num
	switch d.pick(12) {
	case 0:
		text = fmt.Sprintf("if mod(t, %s) < %s*%s then %s else 0", P, number(duty), P, A)
	case 1:
		text = fmt.Sprintf("if t/%s - floor(t/%s) < %s then %s else 0", P, P, number(duty), A)
	case 2:
		d.use("signals")
		text = fmt.Sprintf("%s*pwm(t, %s, %s)", A, P, number(duty))
	case 3:
		d.use("signals")
		text, part, off = fmt.Sprintf("%s*square(t, %s)", A, P), P.times(0.5), A.neg()
	case 4:
		s := d.instant("s", d.time(0.02, 0.3))
		start = s.num
		w := d.param("w", d.rounded(P.re()*duty, 0, P.re(), 4))
		part = w.num
		d.use("signals")
		text = fmt.Sprintf("%s*pulse_train(t, %s, %s, %s)", A, s, P, w)
		d.separate(s.num)
	case 5:
		text = fmt.Sprintf("if mod(floor(t/%s), 2) < 0.5 then %s else 0", P, A)
		part, P.num = P.num, P.times(2)
	case 6:
		text = fmt.Sprintf("%s*step(%s - mod(t, %s)/%s)", A, number(duty), P, P)
	case 7:
		w := d.param("w", d.rounded(P.re()*duty, 0, P.re(), 4))
		part = w.num
		text = fmt.Sprintf("%s*(floor(t/%s) - floor((t - %s)/%s))", A, P, w, P)
	case 8:
		text = fmt.Sprintf("%s*(1 + sign(%s - mod(t, %s)))/2", A, number(duty)+"*"+P.text, P)
	case 9:
		text = fmt.Sprintf("if sin(2*pi*t/%s) > 0 then %s else 0", P, A)
		part = P.times(0.5)
	case 10:
		text = fmt.Sprintf("if mod(t, %s) < %s*%s and not (mod(t, %s) < 0) then %s else 0", P, number(duty), P, P, A)
	case 11:
		text = fmt.Sprintf("if abs(mod(t, %s) - %s*%s/2) <= %s*%s/2 then %s else 0", P, number(duty), P, number(duty),
			P, A)
	}
	// The k-th period begins at start + k P.
	var at, level []num
	first := 0.0
	if start.isZero() {
		first = math.Floor(from.re()/P.re()) - 1
		level = []num{off}
	} else {
		level = []num{{}}
	}
	for k := first; ; k++ {
		t := start.add(P.times(k))
		if t.re() > d.to.re() {
			break
		}
		at, level = append(at, t, t.add(part)), append(level, on, off)
	}
	d.separate(at...)
	return known{text, levels(from, d.to.num, at, level)}
}

// staircase draws an expression that is linear but for jumps: mod, sawtooth, floor, round, ceil, trunc.
func (d *driver) staircase() known {
	cycles := d.uniform(1.3, 20)
	P := period(d, cycles)
	A := d.amplitude("A")
	shift := 0.0 // of the jumps, in periods
	slope, offset := A.div(P.num), num{}
	text := ""
	switch d.pick(5) {
	case 0:
		text = fmt.Sprintf("%s*mod(t, %s)/%s", A, P, P)
	case 1:
		d.use("signals")
		text = fmt.Sprintf("%s*sawtooth(t, %s)", A, P)
	case 2:
		text = fmt.Sprintf("%s*(t/%s - floor(t/%s))^2/(t/%s - floor(t/%s) + 1e-300)", A, P, P, P, P)
	case 3:
		text, shift = fmt.Sprintf("%s*(t/%s - round(t/%s))", A, P, P), 0.5
		offset = A.times(-0.5)
	case 4:
		text, offset = fmt.Sprintf("%s*(ceil(t/%s) - t/%s)", A, P, P), A.num
		slope = slope.neg()
	}
	var u signal
	var at []num
	for k := math.Floor(d.from.re()/P.re()) - 1; ; k++ {
		t := P.times(k + shift)
		if t.re() > d.to.re() {
			break
		}
		at = append(at, t)
		u = append(u, piece{from: t, to: P.times(k + shift + 1), terms: []term{{c: offset}, {c: slope, n: 1}}})
	}
	u[len(u)-1].to = d.to.num.plus(1)
	d.separate(at...)
	return known{text, u.between(d.from.num, d.to.num)}
}

// infusions draws doses of the library or by hand, one after another.
func (d *driver) infusions() known {
	n := 1 + d.pick(6)
	tau := d.duration() / (float64(n) + 0.5)
	first := d.instant("t1", d.time(0.01, 0.3/float64(n)))
	every := d.param("tau", d.rounded(tau, 0, math.Inf(1), 4))
	dur := d.param("dur", d.rounded(tau*d.log(1e-3, 0.5), 0, math.Inf(1), 4))
	D := d.amplitude("D")
	rate := D.div(dur.num)
	var at []num
	var list []string
	level := []num{{}}
	library := d.chance(0.6)
	if library {
		d.use("pharmacology")
	}
	for k := range n {
		start := fmt.Sprintf("%s + %d*%s", first, k, every)
		if k == 0 {
			start = first.text
		}
		if library {
			list = append(list, fmt.Sprintf("infusion(t, %s, %s, %s)", start, D, dur))
		} else {
			list = append(list, fmt.Sprintf("(if t >= %s and t < %s + %s then %s/%s else 0)", start, start, dur, D,
				dur))
		}
		t := first.add(every.times(float64(k)))
		at, level = append(at, t, t.add(dur.num)), append(level, rate, num{})
	}
	d.separate(at...)
	return known{strings.Join(list, " + "), levels(d.from.num, d.to.num, at, level)}
}

// table draws a table that is read at a function of time.
func (d *driver) table() known {
	n := 3 + d.pick(4)
	span := d.duration()
	x := []float64{0.05 + 0.1*d.next()}
	for range n - 1 {
		x = append(x, x[len(x)-1]+d.log(1e-3, 0.5/float64(n)))
	}
	from, to := d.from.num, d.to.num
	// q = (t - lag)·speed
	speed, lag := lit(1), num{}
	at := "t"
	scale, shift := 1.0, 0.0
	switch d.pick(5) {
	case 1:
		l := d.param("lag", d.rounded(span*d.uniform(0.01, 0.2), 0, math.Inf(1), 4))
		lag, at, shift = l.num, "t - "+l.text, -l.re()
	case 2:
		s := d.param("v", d.uniform(0.5, 2))
		l := d.param("b", d.rounded(span*d.uniform(-0.1, 0.1), math.Inf(-1), math.Inf(1), 4))
		speed, lag = s.num, l.neg().div(s.num)
		at, scale, shift = s.text+"*t + "+l.text, s.re(), l.re()
	case 3:
		s := d.param("v", d.uniform(0.5, 2))
		l := d.instant("b", d.time(0, 0.1))
		speed, lag = s.num, l.num
		at, scale, shift = "(t - "+l.text+")*"+s.text, s.re(), -l.re()*s.re()
	}
	T, R := make([]float64, n), make([]float64, n)
	for i := range n {
		T[i] = d.rounded(scale*(d.from.re()+x[i]*span)+shift, math.Inf(-1), math.Inf(1), 8)
		if i > 0 && i < n-1 || d.chance(0.3) {
			R[i] = d.uniform(0, 10)
		}
	}
	for i := 1; i < n; i++ {
		if T[i] <= T[i-1] {
			T[i] = T[i-1] + scale*span*1e-3
		}
	}
	t, r := d.fresh("T"), d.fresh("R")
	d.item("const %s = [%s]", t, join(T))
	values := make([]num, n)
	if d.chance(0.5) && n+len(d.params) < slots-4 {
		list := d.array("V", R)
		r = strings.TrimSuffix(list[0].text, "[1]")
		for i, v := range list {
			values[i] = v.num
		}
		d.scaledAll(r, 10) // also where they are 0
	} else {
		d.item("const %s = [%s]", r, join(R))
		for i, v := range R {
			values[i] = lit(v)
		}
	}
	times := make([]num, n)
	for i := range n {
		times[i] = lit(T[i]).div(speed).add(lag)
	}
	d.separate(times...)
	return known{fmt.Sprintf("interp(%s, %s, %s)", t, r, at), knots(from, to, times, values)}
}

func join(list []float64) string {
	var texts []string
	for _, x := range list {
		texts = append(texts, number(x))
	}
	return strings.Join(texts, ", ")
}

// repeatedTable draws a table that is read at mod(t, P).
func (d *driver) repeatedTable() known {
	cycles := d.uniform(1.3, 12)
	P := period(d, cycles)
	A := d.amplitude("A")
	a := d.uniform(0.1, 0.6)
	T := []float64{a, a + d.log(0.01, 0.1), a + 0.2, a + 0.2 + d.log(0.01, 0.1)}
	for i := range T {
		T[i] = d.rounded(T[i]*P.re(), 0, math.Inf(1), 6)
	}
	table, values := d.fresh("T"), d.fresh("R")
	d.item("const %s = [%s]", table, join(T))
	d.item("const %s = [0, 1, 1, 0]", values)
	var u signal
	at := []num{}
	for k := math.Floor(d.from.re()/P.re()) - 1; ; k++ {
		t := P.times(k)
		if t.re() > d.to.re() {
			break
		}
		at = append(at, t)
		var x, y []num
		for i := range T {
			x, y = append(x, t.plus(T[i])), append(y, A.times([]float64{0, 1, 1, 0}[i]))
		}
		at = append(at, x...)
		u = append(u, knots(t, P.times(k+1), x, y)...)
	}
	u[len(u)-1].to = d.to.num.plus(1)
	d.separate(at...)
	return known{fmt.Sprintf("%s*interp(%s, %s, mod(t, %s))", A, table, values, P), u.between(d.from.num, d.to.num)}
}

// kinked draws functions of time with kinks.
func (d *driver) kinked() known {
	A := d.amplitude("A")
	from, to := d.from.num, d.to.num
	far := lit(d.duration())
	line := func(at num, left, right num) signal { // A·slope·(t - at)
		return knots(from, to, []num{at.sub(far), at, at.add(far)}, []num{
			left.neg().mul(far), {}, right.mul(far),
		})
	}
	slope := A.times(1 / d.duration())
	per := "/" + number(d.duration())
	switch d.pick(7) {
	default:
		a := d.instant("a", d.time(0.05, 0.95))
		d.separate(a.num)
		return known{A.text + "*abs(t - " + a.text + ")" + per, line(a.num, slope.neg(), slope)}
	case 1:
		a := d.instant("a", d.time(0.05, 0.95))
		d.separate(a.num)
		return known{A.text + "*max(t - " + a.text + ", 0)" + per, line(a.num, num{}, slope)}
	case 2:
		a := d.instant("a", d.time(0.05, 0.95))
		d.separate(a.num)
		return known{
			A.text + "*min(t, " + a.text + ")" + per,
			line(a.num, slope, num{}).add(constant(from, to, slope.mul(a.num))),
		}
	case 3: // a hat
		a, w := d.instant("a", d.time(0.1, 0.9)), d.param("w", d.width())
		x := []num{a.sub(w.num), a.num, a.add(w.num)}
		d.separate(x...)
		return known{fmt.Sprintf("%s*max(0, 1 - abs((t - %s)/%s))", A, a, w), knots(from, to, x, []num{{}, A.num, {}})}
	case 4: // abs of a wave
		om := d.param("om", d.rounded(d.uniform(3, 80)/d.duration(), 0, math.Inf(1), 4))
		d.scaled(1 / d.duration())
		u := wave(from, to, num{}, A.num, om.num, lit(-math.Pi/2))
		var at, level []num
		for k := math.Floor(d.from.re() * om.re() / math.Pi); ; k++ {
			t := om.chain(complex(k*math.Pi/om.re(), 0), complex(-k*math.Pi/(om.re()*om.re()), 0))
			if t.re() > d.to.re() {
				break
			}
			sign := 1.0
			if math.Mod(math.Abs(k), 2) == 1 {
				sign = -1
			}
			if at = append(at, t); len(level) == 0 {
				level = append(level, lit(-sign))
			}
			level = append(level, lit(sign))
		}
		d.separate(at...)
		return known{fmt.Sprintf("%s*abs(sin(%s*t))", A, om), u.mul(levels(from, to, at, level))}
	case 5: // the positive part of a wave
		om := d.param("om", d.rounded(d.uniform(3, 80)/d.duration(), 0, math.Inf(1), 4))
		d.scaled(1 / d.duration())
		u := wave(from, to, num{}, A.num, om.num, lit(-math.Pi/2))
		var at, level []num
		for k := math.Floor(d.from.re() * om.re() / math.Pi); ; k++ {
			t := om.chain(complex(k*math.Pi/om.re(), 0), complex(-k*math.Pi/(om.re()*om.re()), 0))
			if t.re() > d.to.re() {
				break
			}
			sign := 1.0
			if math.Mod(math.Abs(k), 2) == 1 {
				sign = 0
			}
			if at = append(at, t); len(level) == 0 {
				level = append(level, lit(1-sign))
			}
			level = append(level, lit(sign))
		}
		d.separate(at...)
		return known{fmt.Sprintf("max(%s*sin(%s*t), 0)", A, om), u.mul(levels(from, to, at, level))}
	case 6: // the trapezoid of the library
		d.use("signals")
		a, r := d.instant("a", d.time(0.05, 0.4)), d.param("r", d.width()/2)
		h, f := d.param("h", d.width()), d.param("f", d.width()/2)
		x := []num{a.num, a.add(r.num), a.add(r.num).add(h.num), a.add(r.num).add(h.num).add(f.num)}
		d.separate(x...)
		return known{
			fmt.Sprintf("%s*trapezoid(t, %s, %s, %s, %s)", A, a, r, h, f),
			knots(from, to, x, []num{{}, A.num, A.num, {}}),
		}
	}
}

// oscillating draws waves, and products of a wave with a decay, a window or another wave.
func (d *driver) oscillating() known {
	from, to := d.from.num, d.to.num
	om := d.param("om", d.rounded(d.log(3, 400)/d.duration(), 0, math.Inf(1), 4))
	d.scaled(1 / d.duration())
	A, m := d.amplitude("A"), d.param("m", d.uniform(0.1, 2))
	ph := d.param("ph", d.uniform(-3, 3))
	d.scaled(1)
	u := wave(from, to, lit(1), m.num, om.num, ph.num).times(A.num)
	text := fmt.Sprintf("%s*(1 + %s*cos(%s*t + %s))", A, m, om, ph)
	switch d.pick(4) {
	case 1:
		k := d.rateOf("k", d.log(0.2, 10)/d.duration())
		e := signal{{from: from, to: to, terms: []term{{c: lit(1), r: k.neg()}}}}
		return known{fmt.Sprintf("%s*exp(-%s*(t - %s))", text, k, d.from), u.mul(e)}
	case 2:
		w := d.window(0.05, 0.9)
		return known{
			fmt.Sprintf("if %s then %s else 0", w.condition, text),
			u.mul(levels(from, to, []num{w.a, w.b}, []num{{}, lit(1), {}})),
		}
	case 3: // a square
		return known{text + "^1*(1 + " + m.text + "*cos(" + om.text + "*t + " + ph.text + "))", u.mul(
			wave(from, to, lit(1), m.num, om.num, ph.num))}
	}
	return known{text, u}
}

// doses draws doses at times, by events, of which it returns the state that receives them as rate 0 and its jumps.
func (d *driver) doses() (state string, u signal) {
	n := 1 + d.pick(5)
	A := d.amplitude("D")
	F := d.param("F", d.uniform(0.2, 1))
	amount := A.mul(F.num)
	state = d.fresh("x")
	var at []num
	switch d.pick(4) {
	case 0:
		var times []string
		for i := range n {
			ti := d.instant("td", d.from.re()+d.duration()*(float64(i)+d.uniform(0.1, 0.9))/float64(n))
			at, times = append(at, ti.num), append(times, ti.text)
		}
		d.item("event %s at [%s] { %s += %s*%s }", d.fresh("dose"), strings.Join(times, ", "), state, F, A)
	case 1:
		lag := d.param("lag", d.rounded(d.duration()*d.log(1e-3, 0.1), 0, math.Inf(1), 4))
		tau := d.param("tau", d.rounded(d.duration()/(float64(n)+0.7), 0, math.Inf(1), 4))
		t1 := d.instant("t1", d.time(0.001, 0.2/float64(n)))
		d.item("event %s every %s from %s + %s count %d { %s += %s*%s }", d.fresh("dose"), tau, t1, lag, n, state, F, A)
		for i := range n {
			at = append(at, t1.add(lag.num).add(tau.times(float64(i))))
		}
	case 2: // a window as a guard
		w := d.window(0.05, 0.95)
		d.item("event %s when %s { %s += %s*%s }", d.fresh("dose"), w.condition, state, F, A)
		at = d.after(w.a)
	case 3: // a repeating guard
		P := d.param("P", d.rounded(d.duration()/d.uniform(1.3, 20), 0, math.Inf(1), 4))
		c := d.uniform(0.05, 0.95)
		d.item("event %s when mod(t, %s) > %s*%s { %s += %s*%s }", d.fresh("dose"), P, number(c), P, state, F, A)
		for k := math.Floor(d.from.re() / P.re()); ; k++ {
			t := P.times(k + c)
			if t.re() > d.to.re() {
				break
			}
			if t.re() > d.from.re() {
				at = append(at, t)
			} else if k >= math.Floor(d.from.re()/P.re()) {
				continue // it is true at the start
			}
		}
		d.separate(P.times(math.Floor(d.from.re()/P.re())), P.times(math.Ceil(d.from.re()/P.re())))
	}
	var amounts []num
	for range at {
		amounts = append(amounts, amount)
	}
	d.separate(at...)
	return state, impulses(d.from.num, d.to.num, at, amounts)
}

// composed draws the sum or the product of two signals of any kinds.
func (d *driver) composed() known {
	kinds := []func(*driver) known{
		(*driver).windowed, (*driver).periodic, (*driver).table, (*driver).kinked, (*driver).oscillating,
		(*driver).byState, (*driver).infusions, (*driver).staircase, (*driver).nested, (*driver).windowSum,
		(*driver).repeatedTable, (*driver).ofMotion,
	}
	a := kinds[d.pick(len(kinds))](d)
	b := kinds[d.pick(len(kinds))](d)
	d.separate(append(a.signal.starts(), b.signal.starts()...)...)
	if d.chance(0.6) {
		d.cancels = a.signal.size() * b.signal.size() / d.duration() // also where they are never on together
		return known{fmt.Sprintf("(%s)*(%s)", a.text, b.text), a.signal.mul(b.signal)}
	}
	return known{fmt.Sprintf("(%s) + (%s)", a.text, b.text), a.signal.add(b.signal)}
}
