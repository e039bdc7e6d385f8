package truth

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/diag"
)

var hessians = flag.Int("hessians", 2, "how many models TestHessians draws of each kind")

// ofParams is an expression of params, and what it is wherever they are.
type ofParams struct {
	text string
	at   func(p []float64) float64
}

// hessian draws a model with params that lie where expressions of them have no derivative of some order, or seem to
// have none. Its answers are functions of the params in closed form.
type hessian struct {
	*rand.Rand
	names   []string
	point   []float64
	lines   []string
	answers []ofParams // text is the name of the objective
	// needless are derivatives that are right and marked.
	needless []string
}

// dyadic are values of params: what is made of them is exact.
var dyadic = []float64{0, 0, 1, 0.5, 2, 1.25}

func newHessian(seed uint64) *hessian {
	h := &hessian{Rand: rand.New(rand.NewPCG(seed, 71))}
	for _, name := range []string{"a", "b", "c"} {
		h.names = append(h.names, name)
		h.point = append(h.point, dyadic[h.IntN(len(dyadic))])
	}
	return h
}

func (h *hessian) add(format string, args ...any) {
	h.lines = append(h.lines, fmt.Sprintf(format, args...))
}

func (h *hessian) one(of ...float64) float64 { return of[h.IntN(len(of))] }

func (h *hessian) model() string {
	var text strings.Builder
	text.WriteString("time t from 0 to 2\n")
	for i, name := range h.names {
		fmt.Fprintf(&text, "param %s = %v\n", name, h.point[i])
	}
	for _, line := range h.lines {
		text.WriteString(line + "\n")
	}
	fmt.Fprintf(&text, "sens { wrt = [%s] }\n", strings.Join(h.names, ", "))
	return text.String()
}

// zero draws an expression that is smooth, and zero at the point.
func (h *hessian) zero() ofParams {
	i, j := h.IntN(len(h.names)), h.IntN(len(h.names))
	a, b, v, w := h.names[i], h.names[j], h.point[i], h.point[j]
	switch k := h.IntN(8); {
	case i == j || k < 4:
		if v == 0 {
			return ofParams{a, func(p []float64) float64 { return p[i] }}
		}
		return ofParams{fmt.Sprintf("(%s - %v)", a, v), func(p []float64) float64 { return p[i] - v }}
	case k < 6:
		return ofParams{
			fmt.Sprintf("(%s + %s - %v)", a, b, v+w), func(p []float64) float64 { return p[i] + p[j] - (v + w) },
		}
	case k < 7:
		return ofParams{
			fmt.Sprintf("(2*%s - %s - (%v))", a, b, 2*v-w),
			func(p []float64) float64 { return 2*p[i] - p[j] - (2*v - w) },
		}
	}
	return ofParams{fmt.Sprintf("(%s*%s - %v)", a, b, v*w), func(p []float64) float64 { return p[i]*p[j] - v*w }}
}

// bend is a function of one argument, @, that has, or seems to have, no derivative of some order at 0.
type bend struct {
	text string
	at   func(u float64) float64
	// degree is that of a homogeneous function, f(s u) = s^degree f(u) for s > 0; 0 of another one.
	degree float64
}

func sq(x float64) float64 { return x * x }

// cubic is Hermite's on [0, 1].
func cubic(y0, d0, y1, d1, s float64) float64 {
	return y0*(1+2*s)*sq(1-s) + d0*s*sq(1-s) + y1*s*s*(3-2*s) + d1*s*s*(s-1)
}

func either(is bool, yes, no float64) float64 {
	if is {
		return yes
	}
	return no
}

// bends are those whose first derivatives are continuous; of some, second ones are as well.
var bends = []bend{
	{"max(@, 0)^2", func(u float64) float64 { return sq(max(u, 0)) }, 2},
	{"min(0, @)^2", func(u float64) float64 { return sq(min(u, 0)) }, 2},
	{"@*abs(@)", func(u float64) float64 { return u * math.Abs(u) }, 2},
	{"abs(@)^1.5", func(u float64) float64 { return math.Pow(math.Abs(u), 1.5) }, 1.5},
	{"abs(@)^2.5", func(u float64) float64 { return math.Pow(math.Abs(u), 2.5) }, 2.5},
	{"max(@, 0)^3", func(u float64) float64 { return math.Pow(max(u, 0), 3) }, 3},
	{"abs(@)^3", func(u float64) float64 { return math.Pow(math.Abs(u), 3) }, 3},
	{"abs(@)^2", sq, 2},
	{"abs(@)*abs(@)", sq, 2},
	{"hypot(@, 0)^2", sq, 2},
	{"hypot(3*@, 4*@)*@", func(u float64) float64 { return 5 * u * math.Abs(u) }, 2},
	{"sqrt(@^2)*@", func(u float64) float64 { return u * math.Abs(u) }, 2},
	{"(abs(@) - @)^2", func(u float64) float64 { return sq(math.Abs(u) - u) }, 2},
	{"max(@^2, 2*@^2)", func(u float64) float64 { return 2 * u * u }, 2},
	{"max(@, 3*@)*@", func(u float64) float64 { return max(u, 3*u) * u }, 2},
	{"(if @ > 0 then @^2 else 0)", func(u float64) float64 { return either(u > 0, u*u, 0) }, 2},
	{"(if 0 <= @ then sin(@) else @)", func(u float64) float64 { return either(u > 0, math.Sin(u), u) }, 0},
	{"(if 0 <= @ then exp(@) else 1 + @)", func(u float64) float64 { return either(u > 0, math.Exp(u), 1+u) }, 0},
	{
		"(if @ < 0 then exp(@) else 1 + @ + @^2/2)",
		func(u float64) float64 { return either(u < 0, math.Exp(u), 1+u+u*u/2) }, 0,
	},
	{"(if @ > 0 or @ < 0 then @^2 else 0)", sq, 2},
	{"(if @ == 0 then 0 else @^2)", sq, 2},
	{"(if @ == 0 then 1 else expm1(@)/@)", func(u float64) float64 { return either(u == 0, 1, math.Expm1(u)/u) }, 0},
	{"(if @ != 0 then sin(@)/@ else 1)", func(u float64) float64 { return either(u == 0, 1, math.Sin(u)/u) }, 0},
	{"smoothstep(0, 1, @)", func(u float64) float64 { u = min(max(u, 0), 1); return u * u * (3 - 2*u) }, 0},
	{"smoothstep(-1, 1, @)", func(u float64) float64 { u = (u + 1) / 2; return u * u * (3 - 2*u) }, 0},
	{"smoothstep(-1, 0, @)", func(u float64) float64 { u = min(max(u+1, 0), 1); return u * u * (3 - 2*u) }, 0},
	{"(abs(@) - log1p(abs(@)))", func(u float64) float64 { u = math.Abs(u); return u - math.Log1p(u) }, 0},
	{"(exp(-abs(@)) + abs(@))", func(u float64) float64 { u = math.Abs(u); return math.Exp(-u) + u }, 0},
	{"floor(1 + @)*@^2", func(u float64) float64 { return math.Floor(1+u) * u * u }, 2},
	{"sign(@)*@^2", func(u float64) float64 { return math.Copysign(u*u, u) }, 2},
	{"mod(@, 1)*@^2", func(u float64) float64 { return (u - math.Floor(u)) * u * u }, 0},
	{"clamp(@, 0, 1)^2", func(u float64) float64 { return sq(min(max(u, 0), 1)) }, 0},
	{"max(@, 0)*max(@, -1)", func(u float64) float64 { return max(u, 0) * max(u, -1) }, 0},
	{"max([@, 0, -1])^2", func(u float64) float64 { return sq(max(u, 0)) }, 0},
	{
		"interp([-2, -1, 0, 1, 2], [0, 1, 2.5, 3, 3], @, kind = monotone)",
		func(u float64) float64 {
			return either(u < 0, cubic(1, 1.2, 2.5, 0.75, u+1), cubic(2.5, 0.75, 3, 0, u))
		}, 0,
	},
}

// of returns the text of f where its argument is arg.
func (f *bend) of(arg string) string { return strings.ReplaceAll(f.text, "@", arg) }

// special draws an expression, zero at the point, that bends there, or near it.
func (h *hessian) special() ofParams {
	f, u, off := bends[h.IntN(len(bends))], h.zero(), 0.0
	if h.IntN(5) == 0 { // what is done twice
		g, in := bends[h.IntN(len(bends))], u
		zero := g.at(0)
		u = ofParams{
			fmt.Sprintf("(%s - (%v))", g.of(in.text), zero), func(p []float64) float64 { return g.at(in.at(p)) - zero },
		}
	}
	if h.IntN(6) == 0 {
		off = h.one(0.25, -0.25)
		u.text = fmt.Sprintf("(%s + (%v))", u.text, off)
	}
	by, zero, slope := h.one(1, -0.5, 2, 0.25), f.at(off), h.one(0, 0, 0.5)
	linear := h.zero()
	return ofParams{
		fmt.Sprintf("(%v*(%s - (%v)) + %v*%s)", by, f.of(u.text), zero, slope, linear.text),
		func(p []float64) float64 { return by*(f.at(u.at(p)+off)-zero) + slope*linear.at(p) },
	}
}

// course is a state that follows x' = a - b*x, and its integral.
type course struct{ t, x, area, a, b float64 }

func (c *course) to(t float64) {
	dt, rest := t-c.t, c.a/c.b
	gone := -math.Expm1(-c.b * dt)
	c.area += rest*dt + (c.x-rest)*gone/c.b
	c.x += (rest - c.x) * gone
	c.t = t
}

// change is what happens to a course at a time.
type change struct {
	t  float64
	do func(c *course)
}

// until follows a course through changes, in the order of their times, to an end.
func (c course) until(end float64, list ...change) course {
	slices.SortStableFunc(list, func(a, b change) int {
		switch {
		case a.t < b.t:
			return -1
		case a.t > b.t:
			return 1
		}
		return 0
	})
	for _, x := range list {
		if x.t < end {
			c.to(x.t)
			x.do(&c)
		}
	}
	c.to(end)
	return c
}

// read makes objectives of a course.
func (h *hessian) read(of func(p []float64) course) {
	h.add("objective J = final(x)")
	h.add("objective K = integral(x)")
	h.answers = append(h.answers,
		ofParams{"J", func(p []float64) float64 { return of(p).x }},
		ofParams{"K", func(p []float64) float64 { return of(p).area }},
	)
}

// kinds are where special expressions stand.
var kinds = []struct {
	name string
	draw func(h *hessian)
}{
	{"rates", func(h *hessian) {
		e, f := h.special(), h.special()
		h.add("state x = 1")
		h.add("x' = 1 + %s - (0.5 + %s)*x", e.text, f.text)
		h.read(func(p []float64) course { return course{x: 1, a: 1 + e.at(p), b: 0.5 + f.at(p)}.until(2) })
	}},
	{"starts", func(h *hessian) {
		e, f := h.special(), h.special()
		h.add("param q = 0.5 + %s", e.text)
		h.add("state x = 2 + %s", f.text)
		h.add("x' = q - 0.5*q*x")
		h.read(func(p []float64) course {
			q := 0.5 + e.at(p)
			return course{x: 2 + f.at(p), a: q, b: 0.5 * q}.until(2)
		})
	}},
	{"doses", func(h *hessian) {
		at, by, to := h.special(), h.special(), h.special()
		h.add("state x = 1")
		h.add("x' = 0.25 - 0.5*x")
		h.add("event dose at 0.5 + %s { x += 1 + %s }", at.text, by.text)
		h.add("event wash at 1.25 { x = (0.5 + %s)*x }", to.text)
		h.read(func(p []float64) course {
			return course{x: 1, a: 0.25, b: 0.5}.until(2,
				change{0.5 + at.at(p), func(c *course) { c.x += 1 + by.at(p) }},
				change{1.25, func(c *course) { c.x *= 0.5 + to.at(p) }})
		})
	}},
	{"bodies", func(h *hessian) { // discretes that are zero at the point, and bend
		start, bends := h.zero(), [2]bend{bends[h.IntN(len(bends))], bends[h.IntN(len(bends))]}
		more, by := h.zero(), h.special()
		zero := [2]float64{bends[0].at(0), bends[1].at(0)}
		h.add("state x = 1")
		h.add("discrete d = %s", start.text)
		h.add("x' = 1 + d - 0.5*x")
		h.add("event first at 0.5 { d = %s - %v + %s }", bends[0].of("d"), zero[0], more.text)
		h.add("event second at 1 { x += %s - %v  d = d + %s }", bends[1].of("d"), zero[1], by.text)
		h.read(func(p []float64) course {
			d := start.at(p)
			return course{x: 1, a: 1 + d, b: 0.5}.until(2,
				change{0.5, func(c *course) { d = bends[0].at(d) - zero[0] + more.at(p); c.a = 1 + d }},
				change{1, func(c *course) { c.x += bends[1].at(d) - zero[1]; d += by.at(p); c.a = 1 + d }})
		})
	}},
	{"sums", func(h *hessian) { // of squares, many times
		start, by := h.zero(), h.zero()
		f := bends[h.IntN(len(bends))]
		zero := f.at(0)
		h.add("state x = 1")
		h.add("discrete n = %s", start.text)
		h.add("x' = 1 - 0.5*x")
		h.add("event e every 0.5 from 0.25 { n = n + %s^2  x += %s - %v }", by.text, f.of("n"), zero)
		h.read(func(p []float64) course {
			n, j := start.at(p), by.at(p)
			step := func(c *course) { n, c.x = n+j*j, c.x+f.at(n)-zero }
			return course{x: 1, a: 1, b: 0.5}.until(2, change{0.25, step}, change{0.75, step}, change{1.25, step},
				change{1.75, step})
		})
	}},
	{"thresholds", func(h *hessian) {
		at, by, from := h.special(), h.special(), h.special()
		h.add("state x = 1, y = %s", from.text)
		h.add("x' = 0.25 - 0.5*x")
		h.add("y' = 1")
		h.add("event e when y > 1 + %s { x += 1 + %s }", at.text, by.text)
		h.read(func(p []float64) course {
			return course{x: 1, a: 0.25, b: 0.5}.until(2,
				change{1 + at.at(p) - from.at(p), func(c *course) { c.x += 1 + by.at(p) }})
		})
	}},
	{"conditions of time", func(h *hessian) {
		at, by := h.special(), h.special()
		h.add("state x = 1")
		h.add("x' = 0.25 - 0.5*x")
		h.add("event e when t > 1 + %s { x += 1 + %s }", at.text, by.text)
		h.read(func(p []float64) course {
			return course{x: 1, a: 0.25, b: 0.5}.until(2,
				change{1 + at.at(p), func(c *course) { c.x += 1 + by.at(p) }})
		})
	}},
	{"modes", func(h *hessian) {
		at, to := h.special(), h.special()
		h.add("state x = 1, y = 0")
		h.add("y' = 1")
		h.add("x' = (if %s > 1 + %s then 2 + %s else 1) - 0.5*x", []string{"t", "y"}[h.IntN(2)], at.text, to.text)
		h.read(func(p []float64) course {
			return course{x: 1, a: 1, b: 0.5}.until(2,
				change{1 + at.at(p), func(c *course) { c.a = 2 + to.at(p) }})
		})
	}},
	{"bounds", func(h *hessian) {
		from, to, at := h.special(), h.special(), h.special()
		h.add("state x = 3")
		h.add("x' = 0.25 - 0.5*x")
		h.add("objective J = integral(x, from = 0.5 + %s, to = 1.5 + %s)", from.text, to.text)
		h.add("objective K = sum_at([1 + %s], x^2)", at.text)
		start := course{x: 3, a: 0.25, b: 0.5}
		h.answers = append(h.answers,
			ofParams{"J", func(p []float64) float64 {
				return start.until(1.5+to.at(p)).area - start.until(0.5+from.at(p)).area
			}},
			ofParams{"K", func(p []float64) float64 { return sq(start.until(1 + at.at(p)).x) }})
	}},
	{"steady states", func(h *hessian) {
		e, f := h.special(), h.special()
		h.add("state x = 1")
		h.add("param L = 0.5")
		h.add("x' = 1 + %s + L - (0.5 + %s)*x", e.text, f.text)
		h.add("equilibrate { L = 0 }")
		h.add("objective S = steady(x)")
		h.read(func(p []float64) course {
			a, b := 1+e.at(p), 0.5+f.at(p)
			return course{x: a / b, a: a + 0.5, b: b}.until(2)
		})
		rest := func(p []float64) float64 { return (1.5 + e.at(p)) / (0.5 + f.at(p)) }
		h.answers = append(h.answers, ofParams{"S", rest})
	}},
	{"objectives", func(h *hessian) {
		e, f, k := h.special(), h.special(), h.zero()
		h.add("state x = 1")
		h.add("x' = 1 - (0.5 + 0.1*%s)*x", k.text)
		h.add("objective J = final(x)*(1 + %s) + %s", e.text, f.text)
		h.add("objective K = %s", e.text)
		h.add("objective L = integral(x*%s)", f.text)
		run := func(p []float64) course { return course{x: 1, a: 1, b: 0.5 + 0.1*k.at(p)}.until(2) }
		h.answers = append(h.answers,
			ofParams{"J", func(p []float64) float64 { return run(p).x*(1+e.at(p)) + f.at(p) }},
			ofParams{"K", e.at},
			ofParams{"L", func(p []float64) float64 { return run(p).area * f.at(p) }})
	}},
	{"resting states", func(h *hessian) {
		u, f := h.zero(), bends[h.IntN(len(bends))]
		zero := f.at(0)
		h.add("state x = 1, z = %s", u.text)
		h.add("z' = 0")
		h.add("x' = 1 + %s - %v - 0.5*x", f.of("z"), zero)
		h.read(func(p []float64) course { return course{x: 1, a: 1 + f.at(u.at(p)) - zero, b: 0.5}.until(2) })
	}},
	{"resting states that are driven", func(h *hessian) {
		u, f := h.zero(), bends[h.IntN(len(bends))]
		for f.degree == 0 {
			f = bends[h.IntN(len(bends))]
		}
		h.add("state z = 0")
		h.add("z' = %s", u.text)
		h.add("objective J = integral(%s)", f.of("z"))
		h.answers = append(h.answers, ofParams{"J", func(p []float64) float64 {
			return f.at(u.at(p)) * math.Pow(2, f.degree+1) / (f.degree + 1)
		}})
	}},
	{"periods", func(h *hessian) {
		every, from, by := h.special(), h.special(), h.special()
		h.add("state x = 1")
		h.add("x' = 0.25 - 0.5*x")
		h.add("event e every 0.5 + %s from 0.25 + %s { x += 1 + %s }", every.text, from.text, by.text)
		h.read(func(p []float64) course {
			var list []change
			for k := range 4 {
				list = append(list, change{
					0.25 + from.at(p) + float64(k)*(0.5+every.at(p)), func(c *course) { c.x += 1 + by.at(p) },
				})
			}
			return course{x: 1, a: 0.25, b: 0.5}.until(2, list...)
		})
	}},
	{"lags", func(h *hessian) {
		lag, by := h.special(), h.special()
		h.add("state x = 1")
		h.add("x' = 0.25 - 0.5*x")
		h.add("event e at 0.5, delay = 0.5 + %s { x += 1 + %s }", lag.text, by.text)
		h.read(func(p []float64) course {
			return course{x: 1, a: 0.25, b: 0.5}.until(2,
				change{1 + lag.at(p), func(c *course) { c.x += 1 + by.at(p) }})
		})
	}},
	{"times that bodies set", func(h *hessian) {
		j, by := h.special(), h.zero()
		h.add("state x = 1")
		h.add("discrete d = 1.25")
		h.add("x' = 0.25 - 0.5*x")
		h.add("event set at 0.5 { d = d + %s }", j.text)
		h.add("event e at d { x = 2*x + %s^2 }", by.text)
		h.read(func(p []float64) course {
			return course{x: 1, a: 0.25, b: 0.5}.until(2,
				change{1.25 + j.at(p), func(c *course) { c.x = 2*c.x + sq(by.at(p)) }})
		})
	}},
	{"squares that decide", func(h *hessian) { // in a condition, an order of events, a branch
		sq := []bend{
			{text: "@^2", at: sq},
			{text: "-@^2", at: func(u float64) float64 { return -u * u }},
			{text: "@^3", at: func(u float64) float64 { return u * u * u }},
			bends[0], bends[2], bends[3], bends[4],
		}[h.IntN(7)]
		by, more := h.zero(), h.special()
		start := h.one(0, 0.25)
		h.add("state x = 1, y = 0")
		h.add("y' = 1")
		h.add("discrete d = %v", start)
		h.add("event set at 0.5 { d = d + %s }", sq.of(by.text))
		rate, list := "1", []change{}
		d, what := fmt.Sprintf("(d - %v)", start), h.IntN(7)
		double := func(c *course) { c.x *= 2 }
		switch what {
		case 0:
			rate = fmt.Sprintf("(if %s > 0 then 2 + %s else 1)", d, more.text)
		case 1:
			h.add("event e when %s > 0 { x += 1 + %s }", d, more.text)
		case 2:
			h.add("event double at 1 { x = 2*x }")
			h.add("event e at 1 + %s { x += 1 + %s }", d, more.text)
		case 3:
			h.add("event e at 1 + %s { x += 1 + %s }", d, more.text)
			h.add("event double at 1 { x = 2*x }")
		case 4:
			h.add("event double at 1 { x = 2*x }")
			h.add("event e when y > 1 + %s { x += 1 + %s }", d, more.text)
		case 5:
			h.add("event double when y > 1 { x = 2*x }")
			h.add("event e when t > 1 + %s { x += 1 + %s }", d, more.text)
		case 6:
			h.add("event e when y > 1 + %s { x += 1 + %s }", d, more.text)
			rate = "(if t > 1 then 2 else 1)"
		}
		h.add("x' = %s - 0.5*x", rate)
		h.read(func(p []float64) course {
			c, d := course{x: 1, a: 1, b: 0.5}, sq.at(by.at(p))
			add := func(c *course) { c.x += 1 + more.at(p) }
			list = list[:0]
			switch what {
			case 0:
				list = append(list, change{0.5, func(c *course) { c.a = either(d > 0, 2+more.at(p), 1) }})
			case 1:
				if d > 0 {
					list = append(list, change{0.5, add})
				}
			case 6:
				list = append(list, change{1 + d, add}, change{1, func(c *course) { c.a = 2 }})
			case 3:
				list = append(list, change{1 + d, add}, change{1, double})
			default:
				list = append(list, change{1, double}, change{1 + d, add})
			}
			return c.until(2, list...)
		})
	}},
	{"states in bodies", func(h *hessian) { // that are at the point then
		u, e := h.zero(), h.special()
		f := bends[h.IntN(len(bends))]
		zero := f.at(0)
		h.add("state x = 1, y = -1")
		h.add("x' = 0.25 - 0.5*x")
		h.add("y' = 1 + %s", u.text)
		h.add("event e at 1 { x += (1 + %s)*(%s - %v) }", e.text, f.of("y"), zero)
		h.add("objective L = sum_at([1], %s)", f.of("y"))
		h.read(func(p []float64) course {
			return course{x: 1, a: 0.25, b: 0.5}.until(2,
				change{1, func(c *course) { c.x += (1 + e.at(p)) * (f.at(u.at(p)) - zero) }})
		})
		h.answers = append(h.answers, ofParams{"L", func(p []float64) float64 { return f.at(u.at(p)) }})
	}},
	{"times of discretes", func(h *hessian) {
		u, e := h.zero(), h.special()
		f := bends[h.IntN(len(bends))]
		zero := f.at(0)
		h.add("state x = 1")
		h.add("discrete d = 0.25")
		h.add("x' = 0.25 - 0.5*x")
		h.add("event set at 0.5 { d = %s }", u.text)
		h.add("event e at 1 + %s - %v { x += 1 + %s }", f.of("d"), zero, e.text)
		h.read(func(p []float64) course {
			return course{x: 1, a: 0.25, b: 0.5}.until(2,
				change{1 + f.at(u.at(p)) - zero, func(c *course) { c.x += 1 + e.at(p) }})
		})
	}},
	{"ends", func(h *hessian) {
		e, f := h.special(), h.special()
		h.add("state x = 1, y = 0")
		h.add("x' = 1 + %s - 0.5*x", e.text)
		h.add("y' = 1")
		h.add("event e when y > 1 + %s { stop }", f.text)
		h.read(func(p []float64) course { return course{x: 1, a: 1 + e.at(p), b: 0.5}.until(1 + f.at(p)) })
	}},
	{"kinks that are crossed", func(h *hessian) {
		e, f := h.special(), h.special()
		h.add("state y = 0")
		h.add("y' = 1 + %s", f.text)
		h.add("objective J = integral(abs(y - 1 - %s))", e.text)
		h.answers = append(h.answers, ofParams{"J", func(p []float64) float64 {
			v, c := 1+f.at(p), 1+e.at(p)
			return (sq(c) + sq(2*v-c)) / (2 * v)
		}})
	}},
	{"conditions of params", func(h *hessian) { // first derivatives bend or leap, or second ones
		u, v, w := h.zero(), h.special(), h.special()
		for strings.Contains(v.text+w.text, "= 0 then") { // where tapes have no first derivative, on one side only
			v, w = h.special(), h.special()
		}
		h.add("state x = 1")
		less, yes := " > ", func(p []float64) bool { return u.at(p) > 0 }
		if h.IntN(2) == 0 {
			less, yes = " >= ", func(p []float64) bool { return u.at(p) >= 0 }
		}
		gap := h.one(0, 0, 1)
		h.add("x' = (if %s%s0 then 1 + %v + %s else 1 + %s) - 0.5*x", u.text, less, gap, v.text, w.text)
		h.read(func(p []float64) course {
			return course{x: 1, a: 1 + either(yes(p), gap+v.at(p), w.at(p)), b: 0.5}.until(2)
		})
	}},
}

// slopeAt returns the slope at zero of a function of positive numbers, and how sure that is: what differences over
// shorter and shorter ways go to. It is infinite where they grow.
func slopeAt(g func(s float64) float64) (slope, err float64) {
	var over [4]float64
	for k := range over {
		s := math.Ldexp(1e-2, -2*k)
		over[k] = (-77.0/12*g(s) + 107.0/6*g(2*s) - 39.0/2*g(3*s) + 61.0/6*g(4*s) - 25.0/12*g(5*s)) / s
	}
	if off := math.Abs(over[2] - over[1]); !(off > 2e-3*max(math.Abs(over[2]), 1)) {
		return over[2], off
	}
	limit := func(x, y, z float64) float64 { return z - sq(z-y)/((z-y)-(y-x)) } // of a geometric sequence
	far, near := math.Abs(over[2]-over[1]), math.Abs(over[3]-over[2])
	switch {
	case near > 1.1*far && math.Abs(over[3]) > max(0.1, 1.2*math.Abs(over[2])):
		return math.Inf(1), 0
	case near > 0.9*far:
		return math.NaN(), 0 // it does not tell
	case near < 0.1*far:
		return over[3], near
	}
	slope = limit(over[1], over[2], over[3])
	return slope, math.Abs(slope - limit(over[0], over[1], over[2]))
}

// moved returns the point with one of the params moved.
func moved(p []float64, k int, by float64) []float64 {
	p = slices.Clone(p)
	p[k] += by
	return p
}

// alike reports whether numbers are the same, where others are that large.
func alike(x, y, size float64) bool {
	off := math.Abs(x - y)
	return off < math.Inf(1) && off <= 1e-2*max(math.Abs(x), math.Abs(y))+2e-3*size
}

// tally counts derivatives.
type tally struct{ all, marked, needless, failed int }

// sided is what first derivatives by a param are on both sides of the point, where a value was found. Without leaps of
// the value, they are known up to err.
func (h *hessian) sided(of func(p []float64) float64, k int, value float64) (left, right, err float64, leaps bool) {
	size := max(1, math.Abs(value))
	before, after := of(moved(h.point, k, -1e-6)), of(moved(h.point, k, 1e-6))
	left, to := slopeAt(func(s float64) float64 { return of(moved(h.point, k, -s)) })
	right, from := slopeAt(func(s float64) float64 { return of(moved(h.point, k, s)) })
	leaps = math.Abs(after-value) > 1e-4*size || math.Abs(value-before) > 1e-4*size
	return -left, right, 2 * max(to, from), leaps
}

// curve is a second derivative, known up to an error.
type curve struct{ y, err float64 }

// curvesOn lists what the second derivative by params k and l may be: the slopes of the first one by k towards either
// side of l, and the other way round.
func (h *hessian) curvesOn(of func(p []float64) float64, k, l int) (list []curve) {
	size := max(1, math.Abs(of(h.point)))
	const d = 3e-7 // each side has a parabola of its own
	for _, by := range [][2]int{{k, l}, {l, k}} {
		first := func(s float64) float64 {
			p := moved(h.point, by[1], s)
			at := func(n float64) float64 { return of(moved(p, by[0], n*d)) }
			return (4*(at(1)-at(-1)) - (at(2) - at(-2))) / (4 * d)
		}
		var sides [2]curve
		for side, way := range []float64{-1, 1} {
			y, err := slopeAt(func(s float64) float64 { return first(way * s) })
			if err > 0.1*math.Abs(y)+1e-3 {
				y = math.NaN()
			}
			sides[side] = curve{way * y, err}
		}
		const near = 2e-3
		if math.Abs(first(near)-first(-near)-near*(sides[0].y+sides[1].y)) > 1e-2*size {
			sides = [2]curve{{math.Inf(-1), 0}, {math.Inf(1), 0}} // it leaps
		}
		list = append(list, sides[:]...)
	}
	return list
}

// smooth reports whether there is a first derivative by param k where param l is beside the point.
func (h *hessian) smooth(of func(p []float64) float64, k, l int) bool {
	for _, way := range []float64{-1e-3, 1e-3} {
		p := moved(h.point, l, way)
		before, at, after := of(moved(p, k, -1e-7)), of(p), of(moved(p, k, 1e-7))
		if math.Abs(after+before-2*at) > 1e-9*max(1, math.Abs(at)) {
			return false
		}
	}
	return true
}

// judge lists derivatives, first and second ones, that are silently wrong.
func (h *hessian) judge(t *testing.T, first, second *tally) (wrong []string) {
	text := h.model()
	m, err := odes.Parse("hessian.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1, Settings: []odes.Setting{
		{Key: "sens.order", Value: "2"}, {Key: "sens.mode", Value: []string{"adjoint", "tangent"}[h.IntN(2)]},
	}})
	if err != nil {
		second.failed++
		return nil
	}
	warned := slices.ContainsFunc(s.Warnings, func(w diag.Diagnostic) bool {
		return w.Level == diag.Warning && (w.Code == odes.CodeTie || w.Code == odes.CodeKink)
	})
	for _, x := range h.answers {
		i := slices.IndexFunc(s.Values, func(v odes.Value) bool { return v.Name == x.text })
		size := max(1, math.Abs(x.at(h.point)))
		told := s.Values[i].Trust != odes.Sound
		exists := make([]bool, len(h.names))
		column := make([]int, len(h.names))
		for k, name := range h.names {
			v := s.Variables[slices.IndexFunc(s.Variables, func(v odes.Variable) bool { return v.Name == name })]
			column[k] = v.Offset
			left, right, err, leaps := h.sided(x.at, k, s.Values[i].Value)
			got := s.Derivative(i, v)[0]
			_, sides := s.OnBothSides(i, v.Offset)
			marked := told || sides || s.Trust(i, v) != odes.Sound
			exists[k] = !leaps && alike(left, right, size+1e3*err)
			if first.count(exists[k] && alike(got, left, size+1e3*err), marked, told) {
				h.needless = append(h.needless, fmt.Sprintf("d %s/d %s", x.text, name))
			}
			if !marked && !(exists[k] && alike(got, left, size+1e3*err)) {
				wrong = append(wrong, fmt.Sprintf("d %s/d %s is %.7g, on the left %.7g, on the right %.7g; leaps: %v",
					x.text, name, got, left, right, leaps))
			}
		}
		for k := range h.names {
			for l := range k + 1 {
				at := (i*s.Columns+column[k])*s.Columns + column[l]
				got := s.Hessian[at]
				marked := told || got != got || s.HessianTrusts != nil && s.HessianTrusts[at] != odes.Sound ||
					s.HessianTrusts == nil && warned
				list := h.curvesOn(x.at, k, l)
				if by, to := list[:2], list[2:]; k != l { // of one that has no first derivative there or beside
					switch a, b := exists[k] && h.smooth(x.at, k, l), exists[l] && h.smooth(x.at, l, k); {
					case a && !b:
						list = by
					case b && !a:
						list = to
					}
				}
				right := (exists[k] || exists[l]) && !slices.ContainsFunc(list, func(c curve) bool {
					return !(math.Abs(c.y-got) <= 2*c.err) && !alike(c.y, got, size)
				})
				if slices.ContainsFunc(list, func(c curve) bool { return c.y != c.y }) {
					continue
				}
				if second.count(right, marked, told) {
					h.needless = append(h.needless, fmt.Sprintf("d² %s/d %s d %s", x.text, h.names[k], h.names[l]))
				}
				if !marked && !right {
					wrong = append(wrong, fmt.Sprintf("d² %s/d %s d %s is %.7g, and on sides %.5g", x.text, h.names[k],
						h.names[l], got, list))
				}
			}
		}
	}
	return wrong
}

// count counts a derivative. It reports whether it is marked, by itself and not for its value, and need not be.
func (n *tally) count(right, marked, told bool) bool {
	n.all++
	if !marked {
		return false
	}
	n.marked++
	if right && !told {
		n.needless++
	}
	return right && !told
}

// foundHessians are seeds of models with second derivatives that were wrong without a mark: values and derivatives that
// jump only where two params move.
var foundHessians = map[string][]uint64{
	"conditions of params": {83886109, 150994967},
	"squares that decide":  {150994992},
}

// TestHessians draws models at points of their params at which derivatives of some order do not exist, or seem not to
// exist. Those that do not are marked, and the others are right.
func TestHessians(t *testing.T) {
	seed := seeds.Of(t, 1)
	for _, kind := range kinds {
		var first, second tally
		list := slices.Clone(foundHessians[kind.name])
		for i := range uint64(*hessians) {
			list = append(list, seed+i)
		}
		for _, seed := range list {
			h := newHessian(seed)
			kind.draw(h)
			if list := h.judge(t, &first, &second); len(list) > 0 {
				t.Errorf("%s, seed %d: %s\n%s", kind.name, seed, strings.Join(list, "\n"), indent(h.model()))
			}
			if *report && len(h.needless) > 0 {
				t.Logf("%s, seed %d: marked and right: %s\n%s", kind.name, seed, strings.Join(h.needless, ", "),
					indent(h.model()))
			}
		}
		t.Logf("%s: %d first derivatives, %d of them marked, %d of these right; %d second ones, %d, %d; %d models "+
			"failed", kind.name, first.all, first.marked, first.needless, second.all, second.marked, second.needless,
			second.failed)
	}
}
