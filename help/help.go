// Package help explains every name of the language: words, settings, functions, units, modules, methods and the codes
// of diagnostics. It makes sentences of the tables that other packages keep. Signs, modes and codes are explained
// here alone. It knows nothing of any particular model.
package help

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/screen"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/parser"

	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/stdlib"
)

// Explain writes help on a name, or lists all names if name is empty, for a screen of width columns (0: unknown). The
// formats of files are explained as well; this package does not know them. It reports whether there is any help.
func Explain(w io.Writer, name string, width int, formats ...Entry) bool {
	var b strings.Builder
	found := name == ""
	if found {
		overview(&b, formats)
	}
	for topic := range topics {
		part, ok := On(Topic(topic), name)
		found = found || ok
		if b.Len() > 0 && part != "" {
			b.WriteByte('\n')
		}
		b.WriteString(part)
	}
	for _, e := range formats {
		if e.Name == name {
			if found = true; b.Len() > 0 {
				b.WriteByte('\n')
			}
			e.write(&b)
		}
	}
	for line := range strings.Lines(b.String()) {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		fmt.Fprint(w, screen.Fold(line, width, indent))
	}
	return found
}

// Topic is a sort of name that there is help on.
type Topic uint8

// The topics, in the order in which Explain writes of them.
const (
	Word Topic = iota
	Setting
	Function
	ModuleName // of an embedded module
	Module
	Constant
	Unit
	Method
	Controller
	Code
	Grammar
)

// topics write help on the names of a topic, and return whether there is any.
var topics = [...]func(io.Writer, string) bool{
	Word: word, Setting: setting, Function: function, ModuleName: moduleName, Module: module,
	Constant: constant, Unit: unit,
	Method: method, Controller: controller, Code: code, Grammar: grammar,
}

// On returns help on a name of a topic, in lines of at most 80 columns. A setting is named "rtol" or, where blocks
// share a key, "solver.rtol".
func On(t Topic, name string) (text string, ok bool) {
	var b strings.Builder
	ok = topics[t](&b, name)
	if text = strings.TrimRight(b.String(), "\n"); text != "" {
		text += "\n"
	}
	return text, ok
}

// Codes returns the codes of diagnostics that are explained, in alphabetical order.
func Codes() []string { return slices.Sorted(maps.Keys(codes)) }

// Names lists all names that there is help on.
func Names() []string {
	names := Codes()
	for _, w := range slices.Concat(words, others, subjects, signs, marks, modes, columns) {
		names = append(names, w.Name)
	}
	for _, block := range parser.Blocks() {
		names = append(names, keys.Names(block)...)
	}
	for _, f := range stdlib.Funcs() {
		names = append(names, f.Name)
	}
	for _, k := range stdlib.Constants {
		names = append(names, k.Name)
	}
	for _, m := range methods.All() {
		names = append(names, m.Name)
	}
	for _, r := range hybrid.Controllers() {
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

func overview(w io.Writer, formats []Entry) {
	show := func(title string, names []string) {
		names = slices.Compact(names)
		if len(names) == 0 {
			return
		}
		fmt.Fprintf(w, "%s\n%s\n\n", title, wrap(strings.Join(names, " "), "  "))
	}
	var names []string
	for _, list := range []struct {
		title   string
		entries []Entry
	}{
		{"words", words},
		{"words that are free for names", others},
		{"subjects", subjects},
		{"signs", signs},
		{"marks of numbers", marks},
		{"dosing records", columns},
	} {
		names = nil
		for _, e := range list.entries {
			names = append(names, e.Name)
		}
		show(list.title, names)
	}
	for _, block := range parser.Blocks() {
		show("settings of "+block, keys.Names(block))
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
	for _, m := range methods.All() {
		names = append(names, m.Name)
	}
	show("methods", names)
	names = nil
	for _, r := range hybrid.Controllers() {
		names = append(names, r.Name)
	}
	show("controllers", names)
	names = nil
	for _, m := range modes {
		names = append(names, m.Name)
	}
	show("modes of gradients", names)
	names, _ = stdlib.UnitNames()
	show("units, besides those with prefixes", names)
	names = nil
	for _, e := range formats {
		names = append(names, e.Name)
	}
	show("formats of files", names)
	show("codes of diagnostics", Codes())
	fmt.Fprintln(w, "odes doc <name> explains one; odes doc grammar prints the grammar.")
}

// write writes help on e.
func (e Entry) write(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n    %s\n\n%s\n", e.Name, e.Form, wrap(e.Text, ""))
}

func word(w io.Writer, name string) bool {
	for _, e := range slices.Concat(words, others, subjects, signs, marks, modes, columns) {
		if e.Name == name {
			e.write(w)
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
				fmt.Fprintf(w, "example: at y = %s, %s(%s) has a density of exp(-%v)\n", in[last], f.Name,
					strings.Join(in[:last], ", "), k.Out)
				continue
			}
			fmt.Fprintf(w, "example: %s(%s) = %v\n", f.Name, strings.Join(in, ", "), k.Out)
		}
		fmt.Fprintln(w)
	}
	return len(rows) > 0
}

// definition is the body of a function in odes syntax, if it has one. That of a distribution is left out, since its
// value says more.
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
	m, ok := methods.Lookup(name)
	if !ok {
		return false
	}
	fmt.Fprintf(w, "%s: %s\n\n%s\n\n", m.Name, m.Title, wrap(m.Prose, ""))
	fmt.Fprintf(w, "order: %d", m.Order)
	if m.Embedded > 0 {
		fmt.Fprintf(w, ", with an estimate of order %d", m.Embedded)
	}
	fmt.Fprintln(w)
	k := m.Info()
	most := k.Stages
	if len(m.Members) > 0 {
		k = m.Members[0].Info()
	}
	switch {
	case len(m.Members) > 0:
		fmt.Fprintf(w, "stages: %d to %d, the last of which is the first of the next step", k.Stages, most)
	case k.Iterates:
		fmt.Fprintf(w, "stages: %d, which solve nonlinear equations by Newton's method", k.Solved)
	case k.Solved > 0:
		fmt.Fprintf(w, "stages: %d, each of which solves linear equations; %d right-hand sides a step",
			k.Solved, k.Evals)
	case k.FSAL:
		fmt.Fprintf(w, "stages: %d, the last of which is the first of the next step", k.Stages)
	default:
		fmt.Fprintf(w, "stages: %d", k.Stages)
	}
	fmt.Fprintf(w, "\ndense output: order %d\n", k.DenseOrder)
	if m.Can != 0 {
		fmt.Fprintln(w, wrap("has: "+m.Can.String(), ""))
	}
	fmt.Fprintf(w, "source: %s\n", m.Source)
	return true
}

func controller(w io.Writer, name string) bool {
	for _, r := range hybrid.Controllers() {
		if r.Name == name {
			fmt.Fprintf(w, "%s: %s (solver { controller = %s })\n\n", r.Name, r.Title, r.Name)
			fmt.Fprintf(w, "a step is %g to %g times as long as the one before; max_growth sets another upper "+
				"bound\nsource: %s\n", r.Shrink, r.Grow, r.Source)
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
