package truth

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// choices is the source of everything that is random in a model: a row of numbers in [0, 1), of which 0 is the
// simplest. A row that is given is read again, with zeros after its end, so that a model can be made simpler by
// making the numbers so.
type choices struct {
	random *rand.Rand // nil: nothing is added to made
	made   []float64
	at     int
}

func (c *choices) next() float64 {
	if c.at == len(c.made) {
		x := 0.0
		if c.random != nil {
			x = c.random.Float64()
		}
		c.made = append(c.made, x)
	}
	c.at++
	return c.made[c.at-1]
}

// Number is what a model must print.
type Number struct {
	Of  string // an objective
	Wrt string // a variable; "" for the value
	// Index is the element of an array that Wrt is.
	Index int
	Truth float64
	// Size is that of the terms of the number, where they may cancel.
	Size float64
	// Scale is how far the variable may go for results to change as a whole; 0 where that is not known.
	Scale float64
}

// Case is a model with numbers that are known.
type Case struct {
	Family  string
	Text    string
	Numbers []Number

	choices, written []float64
	params           []param
}

// value is a number that stands in a model as text.
type value struct {
	num
	text string
}

func (v value) String() string { return v.text }

// draw makes a model.
type draw struct {
	choices
	from, to value // the span of time
	timeUnit string
	mode     string  // of derivatives; "" for what is usual
	cancels  float64 // size of what may cancel in every objective
	tied     bool    // things happen at one time, so that derivatives may have two sides

	imports, items, equations, objectives, settings []string
	params                                          []param
	written                                         []float64 // numbers of params in the text; given where one is moved
	seen                                            int       // of these
	moved                                           int       // the slot of a param that is moved, if by is not 0
	by                                              float64
	names                                           map[string]int
	numbers                                         []Number
	rates                                           []float64
}

type param struct {
	name  string
	index int     // of the element of an array
	scale float64 // how far it may go for results to change as a whole
	slot  int
}

// pick chooses one of n.
func (d *draw) pick(n int) int { return min(n-1, int(d.next()*float64(n))) }

func (d *draw) chance(p float64) bool { return d.next() > 1-p }

// oneOf chooses one of some texts.
func (d *draw) oneOf(list ...string) string { return list[d.pick(len(list))] }

// uniform chooses a number in [lo, hi), with four digits or, now and then, with two.
func (d *draw) uniform(lo, hi float64) float64 {
	digits := 4
	if d.next() < 0.25 {
		digits = 2
	}
	return d.rounded(lo+(hi-lo)*d.next(), lo, hi, digits)
}

// log chooses a number in [lo, hi), as often in each decade.
func (d *draw) log(lo, hi float64) float64 {
	digits := 4
	if d.next() < 0.25 {
		digits = 2
	}
	return d.rounded(lo*math.Pow(hi/lo, d.next()), lo, hi, digits)
}

// rounded returns x with so many digits, if that leaves it in the bounds.
func (d *draw) rounded(x, lo, hi float64, digits int) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if short <= lo || short >= hi {
		return x
	}
	return short
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// fresh returns a name that the model has not.
func (d *draw) fresh(name string) string {
	d.names[name]++
	if n := d.names[name]; n > 1 {
		return name + strconv.Itoa(n)
	}
	return name
}

// constant is a number that stands in the text as such.
func (d *draw) constant(x float64) value { return value{lit(x), number(x)} }

// param declares a param.
func (d *draw) param(name string, x float64) value { return d.paramOf(name, x, "") }

// paramOf declares a param with a unit.
func (d *draw) paramOf(name string, x float64, unit string) value {
	name = d.fresh(name)
	x = d.write(x)
	d.items = append(d.items, "param "+name+" = "+number(x)+unit)
	return value{d.variable(name, 0, x, math.Abs(x)), name}
}

// instant declares a param that is a time.
func (d *draw) instant(name string, t float64) value {
	v := d.param(name, t)
	d.scaled(d.duration())
	return v
}

// array declares a param that is an array.
func (d *draw) array(name string, x []float64) (elements []value) {
	name = d.fresh(name)
	var list []string
	for i, x := range x {
		x = d.write(x)
		list = append(list, number(x))
		elements = append(elements, value{d.variable(name, i, x, math.Abs(x)), fmt.Sprintf("%s[%d]", name, i+1)})
	}
	d.items = append(d.items, fmt.Sprintf("param %s[%d] = [%s]", name, len(x), strings.Join(list, ", ")))
	return elements
}

// write returns the number of a param in the text: x, or what it was before a param was moved.
func (d *draw) write(x float64) float64 {
	if d.by != 0 {
		if d.seen++; d.seen <= len(d.written) {
			return d.written[d.seen-1]
		}
		return x
	}
	d.written = append(d.written, x)
	return x
}

// variable returns x as a number that results are differentiated by. Params above the number of slots are not judged.
func (d *draw) variable(name string, index int, x, scale float64) num {
	v := lit(x)
	if slot := len(d.params); slot < slots {
		if slot == d.moved {
			v = v.plus(d.by)
		}
		v.d[slot] = 1
		d.params = append(d.params, param{name: name, index: index, scale: scale, slot: slot})
	}
	return v
}

// scaled says how far the last param may go for results to change as a whole, where that is not its own size.
func (d *draw) scaled(scale float64) { d.params[len(d.params)-1].scale = scale }

// scaledAll says it of all elements of a param.
func (d *draw) scaledAll(name string, scale float64) {
	for i := range d.params {
		if p := &d.params[i]; p.name == name {
			p.scale = scale
		}
	}
}

// state declares a state. In the rate $ stands for its name.
func (d *draw) state(name, initial, rate string) string {
	name = d.fresh(name)
	d.items = append(d.items, "state "+name+" = "+initial)
	d.equations = append(d.equations, name+"' = "+strings.ReplaceAll(rate, "$", name))
	return name
}

func (d *draw) item(format string, args ...any) {
	d.items = append(d.items, fmt.Sprintf(format, args...))
}

func (d *draw) use(file string) {
	if text := `import "std/` + file + `.ode"`; !slices.Contains(d.imports, text) {
		d.imports = append(d.imports, text)
	}
}

// duration returns the length of the span.
func (d *draw) duration() float64 { return d.to.re() - d.from.re() }

// span draws the span of time.
func (d *draw) span() {
	length := d.log(0.1, 1000)
	start := 0.0
	switch d.pick(8) {
	case 6:
		start = d.uniform(-10, 10) * length
	case 7:
		start = d.uniform(0, 1e4)
	}
	d.from, d.to = d.constant(start), d.constant(start+length)
	if d.chance(0.1) {
		d.to = d.param("tend", start+length)
		d.scaled(length)
	}
	if d.chance(0.05) {
		d.from = d.param("tbegin", start)
		d.scaled(length / 20) // states may have fast starts
	}
}

// time returns a time within parts of the span.
func (d *draw) time(lo, hi float64) float64 {
	return d.from.re() + d.uniform(lo, hi)*d.duration()
}

// separate notes whether some of the times, or the ends of the span, coincide. What is always at the start does not.
func (d *draw) separate(times ...num) {
	list := []float64{d.from.re(), d.to.re()}
	for _, t := range times {
		if t != d.from.num {
			list = append(list, t.re())
		}
	}
	slices.Sort(list)
	for i := range list[1:] {
		if list[i+1]-list[i] < 1e-7*(d.duration()+math.Abs(list[i])*1e-4) {
			d.tied = true
		}
	}
}

// objective declares an objective with its truth. The size is that of its terms.
func (d *draw) objective(text string, truth num, size float64) {
	name := d.fresh("J")
	d.objectives = append(d.objectives, "objective "+name+" = "+text)
	size = max(size, d.cancels, math.Abs(truth.re()))
	d.numbers = append(d.numbers, Number{Of: name, Truth: truth.re(), Size: size})
	if d.tied || cmplx.IsNaN(truth.v) {
		return
	}
	most := size // what changes of the params on their scales change
	for _, p := range d.params {
		most = max(most, math.Abs(real(truth.d[p.slot]))*p.scale)
	}
	for _, p := range d.params {
		n := Number{Of: name, Wrt: p.name, Index: p.index, Truth: real(truth.d[p.slot])}
		if p.scale > 0 {
			n.Size, n.Scale = most/p.scale, p.scale
		}
		d.numbers = append(d.numbers, n)
	}
}

// solver draws settings, now and then.
func (d *draw) solver() {
	if d.chance(0.15) {
		d.settings = append(d.settings, "rtol = "+d.oneOf("1e-7", "1e-8", "1e-10", "1e-5", "1e-4"))
	}
	if d.chance(0.1) {
		d.settings = append(d.settings, "method = "+d.oneOf("tsit5", "vern7", "bs3", "dop853", "vern9", "auto"))
	}
	if d.chance(0.06) {
		d.mode = d.oneOf("tangent", "forward", "continuous", "auto")
	}
}

func (d *draw) text() string {
	var b strings.Builder
	for _, line := range d.imports {
		fmt.Fprintln(&b, line)
	}
	unit := ""
	if d.timeUnit != "" {
		unit = " : [" + d.timeUnit + "]"
	}
	fmt.Fprintf(&b, "time t%s from %s to %s\n", unit, d.from, d.to)
	for _, list := range [][]string{d.items, d.equations, d.objectives} {
		for _, line := range list {
			fmt.Fprintln(&b, line)
		}
	}
	if len(d.settings) > 0 {
		fmt.Fprintf(&b, "solver { %s }\n", strings.Join(d.settings, "  "))
	}
	if d.mode != "" {
		fmt.Fprintf(&b, "sens { mode = %s }\n", d.mode)
	}
	return b.String()
}

// Draw returns the model of a family that belongs to a seed.
func (f *Family) Draw(seed uint64) Case {
	return f.from(choices{random: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))})
}

// from returns the model that belongs to some choices.
func (f *Family) from(c choices) Case {
	d := &draw{choices: c, names: map[string]int{}}
	f.draw(d)
	return Case{
		Family: f.Name, Text: d.text(), Numbers: d.numbers, choices: d.made[:d.at], written: d.written,
		params: d.params,
	}
}

// moving returns the numbers of c where the closed form has another value of one of its params, in place of that of the
// text. It reports whether these are numbers of the same text.
func (f *Family) moving(c Case, slot int, by float64) (numbers []Number, ok bool) {
	d := &draw{choices: choices{made: c.choices}, names: map[string]int{}, written: c.written, moved: slot, by: by}
	f.draw(d)
	return d.numbers, d.text() == c.Text && len(d.numbers) == len(c.Numbers)
}

// Second is a second derivative that a model must print.
type Second struct {
	Of    string
	Wrt   [2]param
	Truth float64
	// Size is that of the largest second derivative of the value, each times the scales of its params, over the scales
	// of these two.
	Size float64
}

// Seconds returns those second derivatives of a model whose truth differences of its first derivatives tell: none where
// these depend on the difference.
func (f *Family) Seconds(c Case) (list []Second) {
	most := map[string]float64{}
	for _, p := range c.params {
		if p.scale == 0 {
			continue
		}
		slope := func(by float64) (d []float64, ok bool) {
			up, right := f.moving(c, p.slot, by)
			down, left := f.moving(c, p.slot, -by)
			if !right || !left {
				return nil, false
			}
			for i := range up {
				d = append(d, (up[i].Truth-down[i].Truth)/(2*by))
			}
			return d, true
		}
		far, ok1 := slope(1e-4 * p.scale)
		near, ok2 := slope(2.5e-5 * p.scale)
		if !ok1 || !ok2 {
			continue
		}
		for i, n := range c.Numbers {
			at := slices.IndexFunc(c.params, func(q param) bool { return q.name == n.Wrt && q.index == n.Index })
			if n.Wrt == "" || at < 0 || n.Scale == 0 {
				continue
			}
			s := Second{Of: n.Of, Wrt: [2]param{p, c.params[at]}, Truth: near[i] + (near[i]-far[i])/15}
			unit := p.scale * n.Scale
			if !(math.Abs(near[i]-far[i])*unit <= 1e-4*(math.Abs(s.Truth)*unit+1e-3*n.Size*n.Scale)) {
				continue
			}
			most[n.Of] = max(most[n.Of], math.Abs(s.Truth)*unit, 1e-2*n.Size*n.Scale)
			list = append(list, s)
		}
	}
	for i := range list {
		s := &list[i]
		s.Size = most[s.Of] / (s.Wrt[0].scale * s.Wrt[1].scale)
	}
	return list
}

// Simpler returns a model like c for which failing still holds, but made of simpler choices. It asks failing at most
// budget times.
func (f *Family) Simpler(c Case, budget int, failing func(Case) bool) Case {
	try := func(made []float64) bool {
		if budget == 0 || slices.Equal(made, c.choices) {
			return false
		}
		budget--
		next := f.from(choices{made: made})
		if !failing(next) {
			return false
		}
		c = next
		return true
	}
	for again := true; again && budget > 0; {
		again = false
		for i := 0; i < len(c.choices); i++ {
			for _, x := range []float64{0, 0.5, math.Round(c.choices[i]*4) / 4} {
				if x >= c.choices[i] || i >= len(c.choices) {
					continue
				}
				made := slices.Clone(c.choices)
				made[i] = x
				if try(made) {
					again = true
					break
				}
			}
		}
	}
	return c
}
