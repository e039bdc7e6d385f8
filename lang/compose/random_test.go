package compose_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes/internal/testing/seeds"
)

var models = flag.Int("models", 25, "how many compositions TestRandomCompositions draws")

// drawn is a component that a test draws: its text, and the same equations with other names, which the test writes by
// itself. Names stand in braces in templates.
type drawn struct {
	file   string
	params []string
	states []string
	lets   []string
	text   map[string]string // templates: values of params and states, right sides of states, lets
	event  bool
	array  bool // it has y[2], with params b[2]
	units  bool // it has a length m, with a rate r, and times have [s]
	uses   []placed
}

// in returns a unit where the model has units.
func (d *drawn) in(unit string) string {
	if d.units {
		return " [" + unit + "]"
	}
	return ""
}

// placed is a component in another one.
type placed struct {
	name  string
	of    *drawn
	count int               // 0 for one alone
	sets  map[string]string // templates in the names around it; {#} is the number of the copy
}

// author draws components and writes models.
type author struct {
	*rand.Rand
	files  fstest.MapFS
	serial int
	units  bool
}

func (a *author) number() string { return fmt.Sprintf("%.2f", 0.2+0.8*a.Float64()) }

func (a *author) pick(list []string) string { return list[a.IntN(len(list))] }

// component draws one that may contain others.
func (a *author) component(depth int) *drawn {
	a.serial++
	d := &drawn{file: fmt.Sprintf("c%d.ode", a.serial), text: map[string]string{}, event: a.IntN(3) == 0}
	d.array, d.units = a.IntN(3) == 0, a.units
	for i := range 1 + a.IntN(3) {
		d.params = append(d.params, fmt.Sprintf("p%d", i))
		d.text[d.params[i]] = a.number()
	}
	d.params = append(d.params, "q") // which rates alone read, so that it may follow states
	d.text["q"] = a.number()
	for i := range 1 + a.IntN(3) {
		x := fmt.Sprintf("x%d", i)
		d.states = append(d.states, x)
		d.text[x] = a.number()
		if a.IntN(2) == 0 {
			d.text[x] = "{p0}*" + a.number()
		}
	}
	if depth > 0 {
		for i := range 1 + a.IntN(2) {
			d.uses = append(d.uses, a.place(fmt.Sprintf("u%d", i), a.component(depth-1), d))
		}
	}
	known := d.values()
	d.lets = []string{"w"}
	d.text["w"] = "{" + a.pick(known) + "}*{" + a.pick(known) + "}"
	known = append(known, "w")
	for _, x := range d.states {
		d.text[x+"'"] = fmt.Sprintf("(-%s*{%s} + 0.3*sin({%s}) + 0.1*{%s}*cos(t/(1%s)))/(1%[5]s)", a.number(), x,
			a.pick(known), a.pick(d.params), d.in("s"))
	}
	d.text["b"] = "[" + a.number() + ", " + a.number() + "]"
	d.text["y'"] = fmt.Sprintf("(-{b}[j]*{y}[j] + 0.2*{%s})/(1%s)", a.pick(known), d.in("s"))
	d.text["r"] = a.number() + d.in("1/s")
	d.text["m"] = a.number() + d.in("m")
	a.files[d.file] = &fstest.MapFile{Data: []byte(d.composed())}
	return d
}

// values are names that expressions of d may read.
func (d *drawn) values() []string {
	list := append([]string{}, d.params...)
	list = append(list, d.states...)
	for _, u := range d.uses {
		at := ""
		if u.count > 0 {
			at = fmt.Sprintf("[%d]", u.count)
		}
		list = append(list, u.name+at+"."+u.of.states[0])
	}
	return list
}

// place draws how a component is used.
func (a *author) place(name string, of *drawn, around *drawn) placed {
	u := placed{name: name, of: of, count: a.IntN(4), sets: map[string]string{}}
	for _, p := range of.params {
		switch a.IntN(3) {
		case 0:
			u.sets[p] = "{p0}*" + a.number()
		case 1:
			if p == "q" {
				u.sets[p] = a.number() + "*{" + a.pick(around.states) + "}"
			}
		}
		if text, ok := u.sets[p]; ok && u.count > 0 {
			u.sets[p] = text + "/{#}"
		}
	}
	if of.array && a.IntN(2) == 0 {
		u.sets["b"] = "[" + a.number() + ", {p0}]"
	}
	if a.IntN(2) == 0 {
		u.sets["r"] = "{p0}*" + a.number() + "*1" + of.in("1/s")
	}
	if a.IntN(2) == 0 {
		u.sets["initial(m)"] = a.number() + of.in("m")
	}
	if a.IntN(2) == 0 {
		u.sets["initial("+of.states[0]+")"] = a.number()
	}
	return u
}

// fill writes a template.
func fill(text string, name func(string) string) string {
	var out strings.Builder
	for {
		head, rest, ok := strings.Cut(text, "{")
		out.WriteString(head)
		if !ok {
			return out.String()
		}
		inner, after, _ := strings.Cut(rest, "}")
		out.WriteString(name(inner))
		text = after
	}
}

// composed is d as a file of the language.
func (d *drawn) composed() string {
	same := func(s string) string {
		if s == "#" {
			return "i"
		}
		return s
	}
	var b strings.Builder
	b.WriteString(d.time())
	for _, u := range d.uses {
		fmt.Fprintf(&b, "import model %q as %s\n", u.of.file, strings.ToUpper(u.name))
	}
	for _, p := range d.params {
		fmt.Fprintf(&b, "param %s = %s\n", p, d.text[p])
	}
	for _, u := range d.uses {
		fmt.Fprintf(&b, "use %s as %s", strings.ToUpper(u.name), u.name)
		if u.count > 0 {
			fmt.Fprintf(&b, "[%d]", u.count)
		}
		b.WriteString(" {")
		for _, key := range append(append([]string{}, u.of.params...), "b", "r", "initial(m)",
			"initial("+u.of.states[0]+")") {
			if text, ok := u.sets[key]; ok {
				fmt.Fprintf(&b, " %s = %s ", key, fill(text, same))
			}
		}
		b.WriteString("}")
		if u.count > 0 {
			fmt.Fprintf(&b, " for i in 1:%d", u.count)
		}
		b.WriteString("\n")
	}
	for _, x := range d.states {
		fmt.Fprintf(&b, "state %s = %s\n%s' = %s\n", x, fill(d.text[x], same), x, fill(d.text[x+"'"], same))
	}
	fmt.Fprintf(&b, "let w = %s\n", fill(d.text["w"], same))
	if d.event {
		fmt.Fprintf(&b, "event e at (1.5 + 0.1*%s)*1%s { %s += 0.2*%s }\n", d.params[0], d.in("s"), d.states[0],
			d.params[0])
	}
	if d.array {
		fmt.Fprintf(&b, "param b[2] = %s\nstate y[2] = 0.5\ny[j]' = %s for j in 1:2\n", d.text["b"],
			fill(d.text["y'"], same))
	}
	fmt.Fprintf(&b, "param r = %s\nstate m = %s\nm' = -r*m\n", d.text["r"], d.text["m"])
	return b.String()
}

func (d *drawn) time() string {
	if d.units {
		return "time t : [s] from 0 to 3 [s]\n"
	}
	return "time t from 0 to 3\n"
}

// flat writes d with a prefix, each copy by itself; start and given are what is set from outside.
func (d *drawn) flat(b *strings.Builder, prefix string, given map[string]string) {
	name := func(s string) string {
		return prefix + strings.NewReplacer(".", "_", "[", "_", "]", "").Replace(s)
	}
	for _, p := range d.params {
		if text, ok := given[p]; ok {
			fmt.Fprintf(b, "let %s = %s\n", name(p), text)
			continue
		}
		fmt.Fprintf(b, "param %s = %s\n", name(p), d.text[p])
	}
	for _, x := range d.states {
		start, ok := given["initial("+x+")"]
		if !ok {
			start = fill(d.text[x], name)
		}
		fmt.Fprintf(b, "state %s = %s\n%s' = %s\n", name(x), start, name(x), fill(d.text[x+"'"], name))
	}
	fmt.Fprintf(b, "let %s = %s\n", name("w"), fill(d.text["w"], name))
	if d.event {
		fmt.Fprintf(b, "event %s at (1.5 + 0.1*%s)*1%s { %s += 0.2*%s }\n", name("e"), name(d.params[0]), d.in("s"),
			name(d.states[0]), name(d.params[0]))
	}
	param := func(p, shape string) {
		if text, ok := given[p]; ok {
			fmt.Fprintf(b, "let %s = %s\n", name(p), text)
			return
		}
		fmt.Fprintf(b, "param %s%s = %s\n", name(p), shape, d.text[p])
	}
	if d.array {
		param("b", "[2]")
		fmt.Fprintf(b, "state %s[2] = 0.5\n%[1]s[j]' = %s for j in 1:2\n", name("y"), fill(d.text["y'"], name))
	}
	param("r", "")
	length, ok := given["initial(m)"]
	if !ok {
		length = d.text["m"]
	}
	fmt.Fprintf(b, "state %[1]s = %[2]s\n%[1]s' = -%[3]s*%[1]s\n", name("m"), length, name("r"))
	for _, u := range d.uses {
		for n := 1; n <= max(u.count, 1); n++ {
			inner := prefix + u.name + "_"
			if u.count > 0 {
				inner += fmt.Sprintf("%d_", n)
			}
			sets := map[string]string{}
			for key, text := range u.sets {
				sets[key] = fill(text, func(s string) string {
					if s == "#" {
						return fmt.Sprint(n)
					}
					return name(s)
				})
			}
			u.of.flat(b, inner, sets)
		}
	}
}

// TestRandomCompositions draws nested components with copies, arrays, units, params from outside and events, and
// compares them with the same equations written out one by one.
func TestRandomCompositions(t *testing.T) {
	seed := seeds.Of(t, 1)
	for k := range *models {
		a := &author{Rand: rand.New(rand.NewPCG(seed+uint64(k), 1)), files: fstest.MapFS{}}
		a.units = a.IntN(2) == 0
		top := a.component(1 + a.IntN(2))
		var all []string // all states, by both names
		var written []string
		var walk func(d *drawn, flat, dotted string)
		walk = func(d *drawn, flat, dotted string) {
			for _, x := range d.states {
				all, written = append(all, flat+x), append(written, dotted+x)
			}
			all, written = append(all, flat+"m"), append(written, dotted+"m")
			if d.array {
				all, written = append(all, flat+"y[2]"), append(written, dotted+"y[2]")
			}
			for _, u := range d.uses {
				for n := 1; n <= max(u.count, 1); n++ {
					if u.count > 0 {
						walk(u.of, fmt.Sprintf("%s%s_%d_", flat, u.name, n),
							fmt.Sprintf("%s%s[%d].", dotted, u.name, n))
					} else {
						walk(u.of, flat+u.name+"_", dotted+u.name+".")
					}
				}
			}
		}
		walk(top, "", "")
		end := func(names []string) string {
			var b strings.Builder
			for i, x := range names {
				fmt.Fprintf(&b, "objective J%d = final(%s)\n", i, x)
			}
			fmt.Fprintf(&b, "sens { wrt = [%s] }\n", strings.Join(top.params, ", "))
			return b.String()
		}
		var flat strings.Builder
		flat.WriteString(top.time())
		top.flat(&flat, "", nil)
		a.files["main.ode"] = &fstest.MapFile{Data: []byte(top.composed() + end(written))}
		a.files["flat.ode"] = &fstest.MapFile{Data: []byte(flat.String() + end(all))}
		t.Run(fmt.Sprint("seed=", seed+uint64(k)), func(t *testing.T) {
			values, by := run(t, a.files, "main.ode")
			wantValues, wantBy := run(t, a.files, "flat.ode")
			near(t, "values", values, wantValues, 1e-8)
			near(t, "derivatives", by, wantBy, 1e-7)
		})
	}
}
