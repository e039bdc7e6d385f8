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
	uses   []placed
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
}

func (a *author) number() string { return fmt.Sprintf("%.2f", 0.2+0.8*a.Float64()) }

func (a *author) pick(list []string) string { return list[a.IntN(len(list))] }

// component draws one that may contain others.
func (a *author) component(depth int) *drawn {
	a.serial++
	d := &drawn{file: fmt.Sprintf("c%d.ode", a.serial), text: map[string]string{}, event: a.IntN(3) == 0}
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
		d.text[x+"'"] = fmt.Sprintf("-%s*{%s} + 0.3*sin({%s}) + 0.1*{%s}*cos(t)", a.number(), x, a.pick(known),
			a.pick(d.params))
	}
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
	b.WriteString("time t from 0 to 3\n")
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
		for _, key := range append(append([]string{}, u.of.params...), "initial("+u.of.states[0]+")") {
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
		fmt.Fprintf(&b, "event e at 1.5 + 0.1*%s { %s += 0.2*%s }\n", d.params[0], d.states[0], d.params[0])
	}
	return b.String()
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
		fmt.Fprintf(b, "event %s at 1.5 + 0.1*%s { %s += 0.2*%s }\n", name("e"), name(d.params[0]), name(d.states[0]),
			name(d.params[0]))
	}
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

// TestRandomCompositions draws nested components with copies, params from outside and events, and compares them with
// the same equations written out one by one.
func TestRandomCompositions(t *testing.T) {
	seed := seeds.Of(t, 1)
	for k := range *models {
		a := &author{Rand: rand.New(rand.NewPCG(seed+uint64(k), 1)), files: fstest.MapFS{}}
		top := a.component(1 + a.IntN(2))
		var all []string // all states, by both names
		var written []string
		var walk func(d *drawn, flat, dotted string)
		walk = func(d *drawn, flat, dotted string) {
			for _, x := range d.states {
				all, written = append(all, flat+x), append(written, dotted+x)
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
		flat.WriteString("time t from 0 to 3\n")
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
