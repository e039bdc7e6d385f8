package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"odes.dev/odes/internal/screen"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/solvers"
	"odes.dev/odes/stdlib"
)

// docCmd is odes doc.
type docCmd struct {
	global
	Name string `arg:"" optional:"" help:"A word of the language, a function, a method, a controller, a setting or the code of a diagnostic; or a model file, for the names that it declares."`
}

// Run explains a name, or lists all there are.
func (d *docCmd) Run(c *call) error {
	c.configure(d.global, "")
	if !explain(c.out, d.Name, c.screen(c.out)) {
		if strings.HasSuffix(d.Name, ".ode") {
			return c.explainModel(d.Name)
		}
		if near := diag.DidYouMean(d.Name, helped()); near != "" {
			return usagef("there is no help on %q%s", d.Name, near)
		}
		return usagef("there is no help on %q; odes doc lists all there is", d.Name)
	}
	return nil
}

// explain writes help on a name, or lists all there are, for a screen of so many columns (0: unknown).
func explain(w io.Writer, name string, width int) bool {
	var b strings.Builder
	found := name == ""
	if found {
		overview(&b)
	}
	add := func(text string) {
		if b.Len() > 0 && text != "" {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	}
	for _, on := range []func(io.Writer, string) bool{word, setting, function, moduleName, module, constant, unit, method, controller, code, grammar} {
		var part strings.Builder
		found = on(&part, name) || found
		add(strings.TrimRight(part.String(), "\n") + strings.Repeat("\n", min(1, part.Len())))
	}
	for line := range strings.Lines(b.String()) {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		fmt.Fprint(w, screen.Fold(line, width, indent))
	}
	return found
}

// helped lists all names that there is help on.
func helped() []string {
	names := slices.Sorted(maps.Keys(codes))
	for _, w := range words {
		names = append(names, w.name)
	}
	for _, block := range settingBlocks {
		names = append(names, settingNames(block)...)
	}
	for _, f := range stdlib.Funcs() {
		names = append(names, f.Name)
	}
	for _, k := range stdlib.Constants {
		names = append(names, k.Name)
	}
	for _, m := range solvers.Methods() {
		names = append(names, m.Name)
	}
	for _, r := range solvers.Controllers() {
		names = append(names, r.Name)
	}
	known, _ := stdlib.UnitNames()
	names = append(names, known...)
	names = append(names, moduleNames()...)
	names = append(names, stdlib.Modules()...)
	return append(names, "grammar", "units")
}

// classes are the headings of the list of functions.
var classes = []struct {
	title string
	class stdlib.Class
}{
	{"elementwise functions", stdlib.Elementwise},
	{"reductions", stdlib.Reduction},
	{"arrays", stdlib.Structure},
	{"arrays known when the model is compiled", stdlib.Grid},
	{"indices", stdlib.Index},
	{"functionals", stdlib.Functional},
	{"distributions", stdlib.Noise},
	{"other functions", stdlib.Special},
}

func overview(w io.Writer) {
	show := func(title string, names []string) {
		names = slices.Compact(names)
		if len(names) == 0 {
			return
		}
		fmt.Fprintf(w, "%s\n%s\n\n", title, wrap(strings.Join(names, " "), "  "))
	}
	var names []string
	for _, e := range words {
		names = append(names, e.name)
	}
	show("words", names)
	for _, block := range settingBlocks {
		show("settings of "+block, settingNames(block))
	}
	for _, k := range classes {
		names = nil
		for _, f := range stdlib.Funcs() {
			if f.Class == k.class {
				names = append(names, f.Name)
			}
		}
		show(k.title, names)
	}
	show("functions of standard modules (import \"std/…\")", moduleNames())
	show("standard modules", stdlib.Modules())
	names = nil
	for _, k := range stdlib.Constants {
		names = append(names, k.Name)
	}
	show("constants", names)
	names = nil
	for _, m := range solvers.Methods() {
		names = append(names, m.Name)
	}
	show("methods", names)
	names = nil
	for _, r := range solvers.Controllers() {
		names = append(names, r.Name)
	}
	show("controllers", names)
	names, _ = stdlib.UnitNames()
	show("units, besides those with prefixes", names)
	show("codes of diagnostics", slices.Sorted(maps.Keys(codes)))
	fmt.Fprintln(w, "odes doc <name> explains one; odes doc grammar prints the grammar.")
}

func word(w io.Writer, name string) bool {
	for _, e := range words {
		if e.name == name {
			fmt.Fprintf(w, "%s\n\n    %s\n\n%s\n", e.name, e.form, wrap(e.text, ""))
			return true
		}
	}
	return false
}

func function(w io.Writer, name string) bool {
	rows := stdlib.Named(name)
	for _, f := range rows {
		args := slices.Clone(f.Args)
		if f.MinArgs > 0 {
			for i := f.MinArgs; i < len(args); i++ {
				args[i] += "?"
			}
		}
		fmt.Fprintf(w, "%s(%s) = %s\n\n%s\n", f.Name, strings.Join(args, ", "), f.Value, wrap(sentence(f.Doc), ""))
		for _, line := range [][2]string{
			{"defined by", definition(f)},
			{"defined for", f.Domain},
			{"derivative", derivative(f)},
			{"not differentiable", f.Kinks},
			{"units", unitRules[f.Units]},
			{"source", f.Source},
		} {
			if line[1] != "" {
				fmt.Fprintf(w, "%s: %s\n", line[0], line[1])
			}
		}
		if f.Mode {
			fmt.Fprintln(w, "jumps: on time or states it is a mode, switched at its root")
		}
		for _, k := range f.Cases {
			in := make([]string, len(k.In))
			for i, x := range k.In {
				in[i] = fmt.Sprint(x)
			}
			if f.Class == stdlib.Noise {
				last := len(in) - 1
				fmt.Fprintf(w, "example: at y = %s, %s(%s) has a density of exp(-%v)\n", in[last], f.Name, strings.Join(in[:last], ", "), k.Out)
				continue
			}
			fmt.Fprintf(w, "example: %s(%s) = %v\n", f.Name, strings.Join(in, ", "), k.Out)
		}
		fmt.Fprintln(w)
	}
	return len(rows) > 0
}

// definition is the body of a function in odes syntax, if it has one; of a distribution its value says more.
func definition(f *stdlib.Func) string {
	if f.Class == stdlib.Noise {
		return ""
	}
	return f.Body
}

// derivative writes the partial derivatives of a function.
func derivative(f *stdlib.Func) string {
	list := f.Derivatives()
	parts := make([]string, len(list))
	for i, d := range list {
		parts[i] = d
		if len(list) > 1 {
			parts[i] = "by " + f.Args[i] + ": " + d
		}
	}
	return strings.Join(parts, "; ")
}

var unitRules = map[stdlib.UnitRule]string{
	stdlib.UnitsNone:     "arguments and result without dimension",
	stdlib.UnitsSame:     "arguments and result share one",
	stdlib.UnitsProduct:  "the product of those of the arguments",
	stdlib.UnitsQuotient: "the quotient of those of the arguments",
	stdlib.UnitsPower:    "a power of that of the first argument",
	stdlib.UnitsRoot:     "a root of that of the argument",
	stdlib.UnitsSameToNo: "arguments share one, the result has no dimension",
}

func constant(w io.Writer, name string) bool {
	for _, k := range stdlib.Constants {
		if k.Name == name {
			fmt.Fprintf(w, "%s = %v\n\n%s\n", k.Name, k.Value, sentence(k.Doc))
			return true
		}
	}
	return false
}

func method(w io.Writer, name string) bool {
	m, ok := solvers.Lookup(name)
	if !ok {
		return false
	}
	fmt.Fprintf(w, "%s: %s\n\n%s\n\n", m.Name, m.Title, wrap(m.Prose, ""))
	fmt.Fprintf(w, "order: %d", m.Order)
	if m.Embedded > 0 {
		fmt.Fprintf(w, ", with an estimate of order %d", m.Embedded)
	}
	fmt.Fprintln(w)
	if k, err := m.Coefficients(); err == nil {
		fmt.Fprintf(w, "stages: %d", len(k.B))
		if k.FSAL {
			fmt.Fprint(w, ", the last of which is the first of the next step")
		}
		fmt.Fprintf(w, "\ndense output: order %d\n", k.DenseOrder)
	}
	fmt.Fprintf(w, "source: %s\n", m.Source)
	return true
}

func controller(w io.Writer, name string) bool {
	for _, r := range solvers.Controllers() {
		if r.Name == name {
			fmt.Fprintf(w, "%s: %s (solver { controller = %s })\n\n", r.Name, r.Title, r.Name)
			fmt.Fprintf(w, "a step is %g to %g times as long as the one before; max_growth sets another upper bound\nsource: %s\n", r.Shrink, r.Grow, r.Source)
			return true
		}
	}
	return false
}

func code(w io.Writer, name string) bool {
	text, ok := codes[name]
	if ok {
		fmt.Fprintf(w, "%s\n\n%s\n", name, wrap(text, ""))
	}
	return ok
}

// sentence writes a phrase of a table as a sentence.
func sentence(s string) string {
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// wrap breaks text into lines of 80 columns, each begun with indent.
func wrap(text, indent string) string {
	const width = 80
	var b strings.Builder
	column := 0
	for _, w := range strings.Fields(text) {
		n := len([]rune(w))
		switch {
		case column == 0:
			b.WriteString(indent)
			column = len(indent)
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(w)
		column += n
	}
	return b.String()
}
