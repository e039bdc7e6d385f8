package export

import (
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
)

// sbmlRewrites are the functions that MathML does not have in SBML. They keep the digits of small and large numbers.
var sbmlRewrites = map[string]rewrite{
	"log1p": func(b *builder, a []*node) *node { // 2 arsinh(x/(2 sqrt(1 + x))), which no large x spoils
		root := b.call("sqrt", b.call("+", b.num(1), a[0]))
		return b.call("*", b.num(2), b.call("asinh", b.call("/", a[0], b.call("*", b.num(2), root))))
	},
	"expm1": func(b *builder, a []*node) *node { // tanh(x/2) (1 + exp(x))
		return b.call("*", b.call("tanh", b.call("/", a[0], b.num(2))), b.call("+", b.num(1), b.call("exp", a[0])))
	},
	"cbrt": func(b *builder, a []*node) *node { // programs have no roots of negative numbers
		root := func(x *node) *node { return b.intern(&node{op: "cbrt", args: []*node{x}}) }
		if a[0].op == number && a[0].value >= 0 {
			return root(a[0])
		}
		return b.choose(b.call("<", a[0], b.num(0)), b.call("neg", root(b.call("neg", a[0]))), root(a[0]))
	},
	"hypot": func(b *builder, a []*node) *node {
		return b.call("sqrt", b.call("+", b.call("*", a[0], a[0]), b.call("*", a[1], a[1])))
	},
	"sigmoid": func(b *builder, a []*node) *node {
		return b.call("/", b.num(1), b.call("+", b.num(1), b.call("exp", b.call("neg", a[0]))))
	},
	"sign": func(b *builder, a []*node) *node {
		zero := b.num(0)
		return b.choose(b.call("<", zero, a[0]), b.num(1), b.choose(b.call("<", a[0], zero), b.num(-1), zero))
	},
	"trunc": truncated,
	"round": func(b *builder, a []*node) *node {
		half := b.num(0.5)
		return b.choose(b.call("<", a[0], b.num(0)), b.call("ceil", b.call("-", a[0], half)),
			b.call("floor", b.call("+", a[0], half)))
	},
	"mod": func(b *builder, a []*node) *node {
		return b.call("-", a[0], b.call("*", a[1], b.call("floor", b.call("/", a[0], a[1]))))
	},
	"atan2": func(b *builder, a []*node) *node {
		y, x, zero, pi := a[0], a[1], b.num(0), b.num(math.Pi)
		angle := b.call("atan", b.call("/", y, x))
		left := b.choose(b.call("<", y, zero), b.call("-", angle, pi), b.call("+", angle, pi))
		above := b.choose(b.call("<", y, zero), b.num(-math.Pi/2), zero)
		return b.choose(b.call("<", zero, x), angle, b.choose(b.call("<", x, zero), left,
			b.choose(b.call("<", zero, y), b.num(math.Pi/2), above)))
	},
	"erf": nil, "erfc": nil, "lgamma": nil,
}

func truncated(b *builder, a []*node) *node {
	return b.choose(b.call("<", a[0], b.num(0)), b.call("ceil", a[0]), b.call("floor", a[0]))
}

// mathML are the operations by their elements.
var mathML = map[string]string{
	"+": "plus", "-": "minus", "neg": "minus", "*": "times", "/": "divide", "^": "power", "<": "lt", "<=": "leq",
	"==": "eq", "!=": "neq", "and": "and", "or": "or", "not": "not", "exp": "exp", "log": "ln", "log10": "log",
	"sqrt": "root", "abs": "abs", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos",
	"atan": "arctan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh",
	"atanh": "arctanh", "floor": "floor", "ceil": "ceiling", "min": "min", "max": "max",
}

// sbmlWriter writes a document.
type sbmlWriter struct {
	*exporter
	ids    *names
	shared map[*node]string // subexpressions that have an id
	rules  strings.Builder
	parameters,
	initials, reactions, events, species strings.Builder
	byReactions map[*quantity]bool
	ruled       map[*quantity]bool // what an assignment rule gives
}

func writeSBML(x *exporter) string {
	x.flatten()
	w := &sbmlWriter{
		exporter: x, ids: newNames(), shared: map[*node]string{}, byReactions: map[*quantity]bool{},
		ruled: map[*quantity]bool{},
	}
	for _, q := range x.outputs { // those that are numbers
		if q.symbol == nil && !slices.Contains(x.lets, q) {
			x.lets = append(x.lets, q)
		}
	}
	w.ids.enter(x.params, x.states, x.discretes, x.lets)
	for _, s := range x.source.Reacting {
		for _, q := range x.elements[s] {
			w.byReactions[q] = true
		}
	}
	w.share()
	compartment := ""
	for _, q := range x.params {
		w.parameter(q, true)
	}
	for _, q := range x.states {
		inReaction := slices.ContainsFunc(x.source.Reactions, func(r *reaction) bool {
			return slices.ContainsFunc(r.Species, func(s specie) bool { return x.elements[s.State][s.Element] == q })
		})
		if !inReaction {
			w.parameter(q, false)
			continue
		}
		if compartment == "" {
			compartment = w.ids.fresh("compartment")
		}
		fmt.Fprintf(&w.species, `<species id="%s"%s compartment="%s"%s hasOnlySubstanceUnits="true" `+
			`boundaryCondition="%t" constant="false"%s`+"\n", w.ids.of[q], w.label(q), compartment,
			w.value("initialAmount", q, q.value), !w.byReactions[q], closed("species", q.doc))
	}
	for _, q := range x.discretes {
		w.parameter(q, false)
	}
	for _, q := range x.lets {
		fmt.Fprintf(&w.parameters, `<parameter id="%s"%s constant="false"%s`+"\n", w.ids.of[q], w.label(q),
			closed("parameter", q.doc))
		w.rule(w.ids.of[q], q.value)
	}
	w.rates()
	for _, r := range x.residuals {
		w.algebraic(r)
	}
	w.writeReactions()
	w.writeEvents()
	if !isNumber(x.from, 0) {
		x.note(x.source.From.Span(), "a run in SBML begins at time 0: what its time is there is the time here less %s",
			x.source.From.Span().Text())
	}
	name := x.source.Name
	if x.source.Title != "" {
		name = x.source.Title
	}
	var b strings.Builder
	b.WriteString(xml.Header)
	fmt.Fprintf(&b, "<!-- written by %s -->\n", strings.ReplaceAll(x.origin(), "--", "- -"))
	b.WriteString(`<sbml xmlns="http://www.sbml.org/sbml/level3/version2/core" level="3" version="2">` + "\n")
	fmt.Fprintf(&b, `<model id="%s" name="%s">`+"\n", w.ids.fresh(x.source.Name), escaped(name))
	if compartment != "" {
		fmt.Fprintf(&b, "<listOfCompartments>\n"+
			`<compartment id="%s" spatialDimensions="3" size="1" constant="true"/>`+"\n</listOfCompartments>\n",
			compartment)
	}
	for _, list := range []struct {
		name string
		text *strings.Builder
	}{
		{"Species", &w.species},
		{"Parameters", &w.parameters},
		{"InitialAssignments", &w.initials},
		{"Rules", &w.rules},
		{"Reactions", &w.reactions},
		{"Events", &w.events},
	} {
		if list.text.Len() > 0 {
			fmt.Fprintf(&b, "<listOf%s>\n%s</listOf%[1]s>\n", list.name, list.text.String())
		}
	}
	b.WriteString("</model>\n</sbml>\n")
	return indented(b.String())
}

// label is the attribute that has the name of the model where the id is another.
func (w *sbmlWriter) label(q *quantity) string {
	if w.ids.of[q] == q.name {
		return ""
	}
	return fmt.Sprintf(` name="%s"`, escaped(q.name))
}

// closed ends an element that has a doc comment or nothing in it.
func closed(element, doc string) string {
	if doc == "" {
		return "/>"
	}
	return fmt.Sprintf(`><notes><p xmlns="http://www.w3.org/1999/xhtml">%s</p></notes></%s>`, escaped(doc), element)
}

func escaped(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text))
	return b.String()
}

// value is an attribute with a value at the start. What is no number gets an initial assignment.
func (w *sbmlWriter) value(attribute string, q *quantity, v *node) string {
	if v.op == number && !math.IsNaN(v.value) && !math.IsInf(v.value, 0) {
		return fmt.Sprintf(` %s="%s"`, attribute, plainNumber(v.value))
	}
	w.initial(w.ids.of[q], v)
	return ""
}

func plainNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func (w *sbmlWriter) initial(id string, v *node) {
	fmt.Fprintf(&w.initials, `<initialAssignment symbol="%s">%s</initialAssignment>`+"\n", id, w.math(v))
}

func (w *sbmlWriter) rule(id string, v *node) {
	fmt.Fprintf(&w.rules, `<assignmentRule variable="%s">%s</assignmentRule>`+"\n", id, w.math(v))
}

func (w *sbmlWriter) parameter(q *quantity, constant bool) {
	value := ""
	if !w.ruled[q] && !w.coupled(q) {
		value = w.value("value", q, q.value)
	}
	fmt.Fprintf(&w.parameters, `<parameter id="%s"%s%s constant="%t"%s`+"\n", w.ids.of[q], w.label(q), value,
		constant, closed("parameter", q.doc))
}

// helper declares a parameter that the model does not have, and returns its id.
func (w *sbmlWriter) helper(proposal, doc string, value float64, constant bool) string {
	id := w.ids.fresh(proposal)
	given := ""
	if !math.IsNaN(value) {
		given = fmt.Sprintf(` value="%s"`, plainNumber(value))
	}
	fmt.Fprintf(&w.parameters, `<parameter id="%s"%s constant="%t"%s`+"\n", id, given, constant,
		closed("parameter", doc))
	return id
}

// coupled reports whether the row of a state in the mass matrix has the rates of others in it.
func (w *sbmlWriter) coupled(q *quantity) bool {
	return slices.ContainsFunc(w.masses, func(m entry) bool { return m.row == q })
}

// rates writes how states change. Where rates of others are added to that of a state, what changes by the right-hand
// side is the sum of their values, from which the state follows.
func (w *sbmlWriter) rates() {
	for i, r := range w.exporter.rates {
		q := w.states[i]
		switch {
		case w.byReactions[q]:
		case w.unknown[q]:
			w.algebraic(r)
		case w.coupled(q):
			sum := w.helper(q.base+"_sum", "changes by the right-hand side of "+q.name, math.NaN(), false)
			start, rest := q.value, ""
			for _, m := range w.masses {
				if m.row != q {
					continue
				}
				start = w.call("+", start, w.call("*", w.num(m.value), m.col.value))
				rest += w.inner(w.call("*", w.num(m.value), w.named(m.col)))
			}
			w.initial(sum, start)
			fmt.Fprintf(&w.rules, `<assignmentRule variable="%s">%s<apply><minus/><ci>%s</ci><apply><plus/>%s</apply>`+
				"</apply></math></assignmentRule>\n", w.ids.of[q], openMath, sum, rest)
			fmt.Fprintf(&w.rules, `<rateRule variable="%s">%s</rateRule>`+"\n", sum, w.math(r))
		default:
			fmt.Fprintf(&w.rules, `<rateRule variable="%s">%s</rateRule>`+"\n", w.ids.of[q], w.math(r))
		}
	}
}

// algebraic writes that a value is 0. SBML looks for what it determines in the expression alone, so definitions that
// read unknowns are written out.
func (w *sbmlWriter) algebraic(n *node) {
	unknowns := map[*quantity]bool{}
	for _, q := range w.states {
		if w.unknown[q] || q.symbol.Kind == model.AlgSymbol {
			unknowns[q] = true
		}
	}
	shared := w.shared
	w.shared = nil
	fmt.Fprintf(&w.rules, "<algebraicRule>%s</algebraicRule>\n", w.math(w.written(n, unknowns)))
	w.shared = shared
}

// written is n with the definitions written out that depend on some of the quantities.
func (w *sbmlWriter) written(n *node, of map[*quantity]bool) *node {
	reached, done := map[*node]bool{}, map[*node]*node{}
	var reaches func(n *node) bool
	reaches = func(n *node) bool {
		if known, is := reached[n]; is {
			return known
		}
		found := n.op == name && (of[n.of] || n.of.symbol == nil && reaches(n.of.value)) ||
			slices.ContainsFunc(n.args, reaches)
		reached[n] = found
		return found
	}
	var write func(n *node) *node
	write = func(n *node) *node {
		if !reaches(n) || n.op == name && of[n.of] {
			return n
		}
		if done[n] == nil {
			if n.op == name {
				done[n] = write(n.of.value)
			} else {
				c := &node{op: n.op, count: n.count, cubic: n.cubic, isBool: n.isBool}
				for _, a := range n.args {
					c.args = append(c.args, write(a))
				}
				done[n] = w.intern(c)
			}
		}
		return done[n]
	}
	return write(n)
}

func (w *sbmlWriter) writeReactions() {
	for _, r := range w.source.Reactions {
		rate := w.at(r.Rate, nil, 0)
		id := w.ids.fresh(r.Name)
		name := ""
		if id != r.Name {
			name = fmt.Sprintf(` name="%s"`, escaped(r.Name))
		}
		fmt.Fprintf(&w.reactions, `<reaction id="%s"%s reversible="true">`+"\n", id, name)
		member := map[*quantity]bool{}
		side := func(list string, of func(specie) float64) {
			text := ""
			for _, s := range r.Species {
				if n := of(s); n > 0 {
					q := w.elements[s.State][s.Element]
					member[q] = true
					text += fmt.Sprintf(`<speciesReference species="%s" stoichiometry="%s" constant="true"/>`+"\n",
						w.ids.of[q], plainNumber(n))
				}
			}
			if text != "" {
				fmt.Fprintf(&w.reactions, "<listOf%s>\n%s</listOf%[1]s>\n", list, text)
			}
		}
		side("Reactants", func(s specie) float64 { return s.Left })
		side("Products", func(s specie) float64 { return s.Right })
		modifiers := ""
		for _, q := range w.states {
			if !member[q] && w.species.Len() > 0 && w.isSpecies(q) && w.reads(rate, q) {
				modifiers += fmt.Sprintf(`<modifierSpeciesReference species="%s"/>`+"\n", w.ids.of[q])
			}
		}
		if modifiers != "" {
			fmt.Fprintf(&w.reactions, "<listOfModifiers>\n%s</listOfModifiers>\n", modifiers)
		}
		fmt.Fprintf(&w.reactions, "<kineticLaw>%s</kineticLaw>\n</reaction>\n", w.math(rate))
	}
}

func (w *sbmlWriter) isSpecies(q *quantity) bool {
	return slices.ContainsFunc(w.source.Reactions, func(r *reaction) bool {
		return slices.ContainsFunc(r.Species, func(s specie) bool { return w.elements[s.State][s.Element] == q })
	})
}

// reads reports whether an expression has the name of q in it as it is written.
func (w *sbmlWriter) reads(n *node, q *quantity) bool {
	if n.op == name {
		return n.of == q
	}
	if w.shared[n] != "" {
		return false
	}
	return slices.ContainsFunc(n.args, func(a *node) bool { return w.reads(a, q) })
}

// minShared is how many operations a subexpression has that gets an id of its own where several expressions have it.
const minShared = 12

// share gives ids to long subexpressions that stand in several places.
func (w *sbmlWriter) share() {
	reads := map[*node]int{}
	var count func(n *node)
	count = func(n *node) {
		if reads[n]++; reads[n] > 1 {
			return
		}
		if n.op == held || n.op == lookup {
			count(w.pieces(n))
			return
		}
		for _, a := range n.args {
			count(a)
		}
	}
	roots := slices.Concat(w.exporter.rates, w.residuals)
	for _, list := range [][]*quantity{w.lets, w.params, w.states, w.discretes} {
		for _, q := range list {
			roots = append(roots, q.value)
		}
	}
	for _, r := range w.source.Reactions {
		roots = append(roots, w.at(r.Rate, nil, 0))
	}
	for _, e := range w.exporter.events {
		for _, a := range e.body {
			roots = append(roots, a.value)
		}
	}
	for _, r := range roots {
		count(r)
	}
	for _, n := range w.all { // operands come first
		if reads[n] > 1 && n.size >= minShared && !n.isBool && n.op != name {
			id := w.ids.fresh("shared_" + itoa(len(w.shared)+1))
			fmt.Fprintf(&w.parameters, `<parameter id="%s" constant="false"/>`+"\n", id)
			w.rule(id, n)
			w.shared[n] = id
		}
	}
}

const openMath = `<math xmlns="http://www.w3.org/1998/Math/MathML">`

// math writes an expression, whole.
func (w *sbmlWriter) math(n *node) string { return openMath + w.inner(n) + "</math>" }

// maxExpression is how many operations an expression may have, written out.
const maxExpression = 500_000

// length is how many operations n has, written out.
func (w *sbmlWriter) length(n *node, known map[*node]float64) float64 {
	if w.shared[n] != "" {
		return 1
	}
	if l, is := known[n]; is {
		return l
	}
	sum := 1.0
	for _, a := range n.args {
		sum += w.length(a, known)
	}
	known[n] = sum
	return sum
}

// inner writes an expression.
func (w *sbmlWriter) inner(n *node) string {
	if n.size > maxExpression && w.length(n, map[*node]float64{}) > maxExpression {
		w.fail(source.Span{File: w.source.Source}, "an expression of the model is too long when it is written out; "+
			"give its parts names, with let")
	}
	var b strings.Builder
	w.put(&b, n)
	return b.String()
}

func (w *sbmlWriter) put(b *strings.Builder, n *node) {
	if id := w.shared[n]; id != "" {
		fmt.Fprintf(b, "<ci>%s</ci>", id)
		return
	}
	element := func(name string, args ...*node) {
		b.WriteString("<apply><" + name + "/>")
		for _, a := range args {
			w.put(b, a)
		}
		b.WriteString("</apply>")
	}
	switch n.op {
	case number:
		b.WriteString(mathNumber(n.value))
	case "true", "false":
		b.WriteString("<" + n.op + "/>")
	case name:
		if n.of == w.time {
			w.putTime(b)
			return
		}
		fmt.Fprintf(b, "<ci>%s</ci>", w.ids.of[n.of])
	case choice:
		b.WriteString("<piecewise>")
		for ; n.op == choice && w.shared[n] == ""; n = n.args[2] {
			b.WriteString("<piece>")
			w.put(b, n.args[1])
			w.put(b, n.args[0])
			b.WriteString("</piece>")
		}
		b.WriteString("<otherwise>")
		w.put(b, n)
		b.WriteString("</otherwise></piecewise>")
	case held, lookup:
		w.put(b, w.pieces(n))
	case late:
		b.WriteString(`<apply><csymbol encoding="text" ` +
			`definitionURL="http://www.sbml.org/sbml/symbols/delay">delay</csymbol>`)
		w.put(b, n.args[0])
		w.put(b, n.args[1])
		b.WriteString("</apply>")
	case "cbrt":
		b.WriteString("<apply><root/><degree><cn>3</cn></degree>")
		w.put(b, n.args[0])
		b.WriteString("</apply>")
	case "+", "*", "and", "or": // a chain of them is one
		element(mathML[n.op], w.chain(n)...)
	default:
		element(mathML[n.op], n.args...)
	}
}

// chain returns the operands of a chain of one operation, from the left.
func (w *sbmlWriter) chain(n *node) []*node {
	var list []*node
	first := n
	for first.op == n.op && (first == n || w.shared[first] == "") {
		list = append(list, first.args[1])
		first = first.args[0]
	}
	list = append(list, first)
	slices.Reverse(list)
	return list
}

// putTime writes the time, which begins at 0 in SBML.
func (w *sbmlWriter) putTime(b *strings.Builder) {
	const now = `<csymbol encoding="text" definitionURL="http://www.sbml.org/sbml/symbols/time">t</csymbol>`
	if isNumber(w.from, 0) {
		b.WriteString(now)
		return
	}
	b.WriteString("<apply><plus/>")
	w.put(b, w.from)
	b.WriteString(now + "</apply>")
}

func mathNumber(v float64) string {
	switch {
	case math.IsNaN(v):
		return "<notanumber/>"
	case math.IsInf(v, 1):
		return "<infinity/>"
	case math.IsInf(v, -1):
		return "<apply><minus/><infinity/></apply>"
	}
	text := plainNumber(v)
	if mantissa, exponent, ok := strings.Cut(text, "e"); ok {
		return fmt.Sprintf(`<cn type="e-notation">%s<sep/>%s</cn>`, mantissa, strings.TrimPrefix(exponent, "+"))
	}
	return "<cn>" + text + "</cn>"
}

// indented indents the lines of a document, each of which opens or closes one element, or does both.
func indented(text string) string {
	var b strings.Builder
	depth := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "</") {
			depth--
		}
		b.WriteString(strings.Repeat("  ", depth))
		b.WriteString(line)
		opens := strings.HasPrefix(line, "<") && line[1] != '/' && line[1] != '?' && line[1] != '!'
		if opens && !strings.Contains(line, "/>") && !strings.Contains(line, "</") {
			depth++
		}
	}
	return b.String()
}
