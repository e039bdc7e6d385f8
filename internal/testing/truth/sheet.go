package truth

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"strconv"
	"strings"
)

// sheet is the text of a model while it is drawn, with the numbers that must be printed of it.
type sheet struct {
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

func newSheet(c choices) sheet { return sheet{choices: c, names: map[string]int{}} }

type param struct {
	name  string
	index int     // of the element of an array
	scale float64 // how far it may go for results to change as a whole
	slot  int
}

// value is a number that stands in a model as text.
type value struct {
	num
	text string
}

func (v value) String() string { return v.text }

// fresh returns a name that the model has not.
func (sh *sheet) fresh(name string) string {
	sh.names[name]++
	if n := sh.names[name]; n > 1 {
		return name + strconv.Itoa(n)
	}
	return name
}

// constant is a number that stands in the text as such.
func (sh *sheet) constant(x float64) value { return value{lit(x), number(x)} }

// param declares a param.
func (sh *sheet) param(name string, x float64) value { return sh.paramOf(name, x, "") }

// paramOf declares a param with a unit.
func (sh *sheet) paramOf(name string, x float64, unit string) value {
	name = sh.fresh(name)
	x = sh.write(x)
	sh.items = append(sh.items, "param "+name+" = "+number(x)+unit)
	return value{sh.variable(name, 0, x, math.Abs(x)), name}
}

// instant declares a param that is a time.
func (sh *sheet) instant(name string, t float64) value {
	v := sh.param(name, t)
	sh.scaled(sh.duration())
	return v
}

// array declares a param that is an array.
func (sh *sheet) array(name string, x []float64) (elements []value) {
	name = sh.fresh(name)
	var list []string
	for i, x := range x {
		x = sh.write(x)
		list = append(list, number(x))
		elements = append(elements, value{sh.variable(name, i, x, math.Abs(x)), fmt.Sprintf("%s[%d]", name, i+1)})
	}
	sh.items = append(sh.items, fmt.Sprintf("param %s[%d] = [%s]", name, len(x), strings.Join(list, ", ")))
	return elements
}

// write returns the number of a param in the text: x, or what it was before a param was moved.
func (sh *sheet) write(x float64) float64 {
	if sh.by != 0 {
		if sh.seen++; sh.seen <= len(sh.written) {
			return sh.written[sh.seen-1]
		}
		return x
	}
	sh.written = append(sh.written, x)
	return x
}

// variable returns x as a number that results are differentiated by. Params above the number of slots are not judged.
func (sh *sheet) variable(name string, index int, x, scale float64) num {
	v := lit(x)
	if slot := len(sh.params); slot < slots {
		if slot == sh.moved {
			v = v.plus(sh.by)
		}
		v.d[slot] = 1
		sh.params = append(sh.params, param{name: name, index: index, scale: scale, slot: slot})
	}
	return v
}

// scaled says how far the last param may go for results to change as a whole, where that is not its own size.
func (sh *sheet) scaled(scale float64) { sh.params[len(sh.params)-1].scale = scale }

// scaledAll says it of all elements of a param.
func (sh *sheet) scaledAll(name string, scale float64) {
	for i := range sh.params {
		if p := &sh.params[i]; p.name == name {
			p.scale = scale
		}
	}
}

// state declares a state. In the rate $ stands for its name.
func (sh *sheet) state(name, initial, rate string) string {
	name = sh.fresh(name)
	sh.items = append(sh.items, "state "+name+" = "+initial)
	sh.equations = append(sh.equations, name+"' = "+strings.ReplaceAll(rate, "$", name))
	return name
}

func (sh *sheet) item(format string, args ...any) {
	sh.items = append(sh.items, fmt.Sprintf(format, args...))
}

func (sh *sheet) use(file string) {
	if text := `import "std/` + file + `.ode"`; !slices.Contains(sh.imports, text) {
		sh.imports = append(sh.imports, text)
	}
}

// duration returns the length of the span.
func (sh *sheet) duration() float64 { return sh.to.re() - sh.from.re() }

// span draws the span of time.
func (sh *sheet) span() {
	length := sh.log(0.1, 1000)
	start := 0.0
	switch sh.pick(8) {
	case 6:
		start = sh.uniform(-10, 10) * length
	case 7:
		start = sh.uniform(0, 1e4)
	}
	sh.from, sh.to = sh.constant(start), sh.constant(start+length)
	if sh.chance(0.1) {
		sh.to = sh.param("tend", start+length)
		sh.scaled(length)
	}
	if sh.chance(0.05) {
		sh.from = sh.param("tbegin", start)
		sh.scaled(length / 20) // states may have fast starts
	}
}

// time returns a time within parts of the span.
func (sh *sheet) time(lo, hi float64) float64 {
	return sh.from.re() + sh.uniform(lo, hi)*sh.duration()
}

// separate notes whether some of the times, or the ends of the span, coincide. What is always at the start does not.
func (sh *sheet) separate(times ...num) {
	list := []float64{sh.from.re(), sh.to.re()}
	for _, t := range times {
		if t != sh.from.num {
			list = append(list, t.re())
		}
	}
	slices.Sort(list)
	for i := range list[1:] {
		if list[i+1]-list[i] < 1e-7*(sh.duration()+math.Abs(list[i])*1e-4) {
			sh.tied = true
		}
	}
}

// objective declares an objective with its truth. The size is that of its terms.
func (sh *sheet) objective(text string, truth num, size float64) {
	name := sh.fresh("J")
	sh.objectives = append(sh.objectives, "objective "+name+" = "+text)
	size = max(size, sh.cancels, math.Abs(truth.re()))
	sh.numbers = append(sh.numbers, Number{Of: name, Truth: truth.re(), Size: size})
	if sh.tied || cmplx.IsNaN(truth.v) {
		return
	}
	most := size // what changes of the params on their scales change
	for _, p := range sh.params {
		most = max(most, math.Abs(real(truth.d[p.slot]))*p.scale)
	}
	for _, p := range sh.params {
		n := Number{Of: name, Wrt: p.name, Index: p.index, Truth: real(truth.d[p.slot])}
		if p.scale > 0 {
			n.Size, n.Scale = most/p.scale, p.scale
		}
		sh.numbers = append(sh.numbers, n)
	}
}

// solver draws settings, now and then.
func (sh *sheet) solver() {
	if sh.chance(0.15) {
		sh.settings = append(sh.settings, "rtol = "+sh.oneOf("1e-7", "1e-8", "1e-10", "1e-5", "1e-4"))
	}
	if sh.chance(0.1) {
		sh.settings = append(sh.settings, "method = "+sh.oneOf("tsit5", "vern7", "bs3", "dop853", "vern9", "auto"))
	}
	if sh.chance(0.06) {
		sh.mode = sh.oneOf("tangent", "forward", "continuous", "auto")
	}
}

func (sh *sheet) text() string {
	var b strings.Builder
	for _, line := range sh.imports {
		fmt.Fprintln(&b, line)
	}
	unit := ""
	if sh.timeUnit != "" {
		unit = " : [" + sh.timeUnit + "]"
	}
	fmt.Fprintf(&b, "time t%s from %s to %s\n", unit, sh.from, sh.to)
	for _, list := range [][]string{sh.items, sh.equations, sh.objectives} {
		for _, line := range list {
			fmt.Fprintln(&b, line)
		}
	}
	if len(sh.settings) > 0 {
		fmt.Fprintf(&b, "solver { %s }\n", strings.Join(sh.settings, "  "))
	}
	if sh.mode != "" {
		fmt.Fprintf(&b, "sens { mode = %s }\n", sh.mode)
	}
	return b.String()
}

// rate draws a rate constant that matters within the span.
func (sh *sheet) rate(name string) value { return sh.rateOf(name, sh.log(0.1, 8)/sh.duration()) }

// rateOf declares a rate constant of about x that differs from the others: closed forms divide by the differences.
func (sh *sheet) rateOf(name string, x float64) value {
	for i := 0; i < len(sh.rates); i++ {
		if r := x / sh.rates[i]; r > 0.93 && r < 1.07 {
			x *= 1.19
			i = -1
		}
	}
	x = sh.rounded(x, 0, math.Inf(1), 4)
	sh.rates = append(sh.rates, x)
	return sh.param(name, x)
}

// anything declares a state for a model that needs none.
func (sh *sheet) anything() { sh.state("q", "1", "-0.3*$/"+number(sh.duration())) }
