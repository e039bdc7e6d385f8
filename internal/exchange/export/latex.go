package export

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/stdlib"
)

// texWriter writes a document. Unlike the other formats it keeps arrays and loops as the model has them.
type texWriter struct {
	*exporter
	names  map[model.Expr]string // of definitions and consts, by value
	inside model.Expr            // the definition that is being written, whose name does not stand for it
	long   []string              // arrays that are too long for where they stand, as equations
	longOf map[*model.Const]string
	out    strings.Builder

	operations int // so far
}

func writeLaTeX(x *exporter) string {
	w := &texWriter{exporter: x, names: map[model.Expr]string{}, longOf: map[*model.Const]string{}}
	m := x.source
	for _, list := range [][]*model.Let{m.Consts, m.Lets} {
		for _, l := range list {
			if w.names[l.Value] == "" {
				w.names[l.Value] = l.Name
			}
		}
	}
	title := m.Name
	if m.Title != "" {
		title = m.Name + ": " + m.Title
	}
	fmt.Fprintf(&w.out, "%% written by %s\n%% A document by itself; what stands between its begin and its end is for "+
		"another one that loads amsmath.\n", x.origin())
	w.out.WriteString("\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{amsmath}\n" +
		"\\allowdisplaybreaks\n\\begin{document}\n")
	fmt.Fprintf(&w.out, "\\section*{%s}\n", texText(title))
	w.equations()
	w.definitions()
	w.starts()
	w.texEvents()
	w.tables()
	w.out.WriteString("\\end{document}\n")
	if x.list.HasErrors() {
		return ""
	}
	return w.out.String()
}

// block writes equations below a sentence.
func (w *texWriter) block(sentence string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(&w.out, "\n\\noindent %s\n\\begin{align*}\n%s\n\\end{align*}\n", sentence,
		strings.Join(lines, " \\\\\n"))
}

func (w *texWriter) equations() {
	m := w.source
	var lines []string
	for i, r := range m.Rates {
		s := m.States[i]
		left := func(subs []string) string { return w.derivative(s.Name, subs) }
		if k := slices.IndexFunc(m.Masses, func(x *model.Mass) bool { return x.State == s }); k >= 0 {
			mass := w.mass(m.Masses[k])
			left = func([]string) string { return mass + "\\, " + w.derivative(s.Name, nil) }
		}
		lines = append(lines, w.defined(left, r)...)
	}
	for _, r := range m.Residuals {
		lines = append(lines, w.defined(func([]string) string { return "0" }, r.Value)...)
	}
	w.block("The equations are", lines)
}

func (w *texWriter) derivative(name string, subs []string) string {
	return fmt.Sprintf("\\frac{\\mathrm{d} %s}{\\mathrm{d} %s}", texName(name, subs...), texName(w.source.Time.Name))
}

// mass writes a mass matrix behind the equations, and returns its name.
func (w *texWriter) mass(m *model.Mass) string {
	n := m.State.Type.Shape.Size()
	c := &model.Const{Base: model.Base{T: types.Type{Kind: types.Real, Shape: types.Shape{n, n}}}}
	c.Data = make([]float64, n*n)
	for j := range n {
		if !slices.Contains(m.Unknowns, j) {
			c.Data[j*n+j] = 1
		}
	}
	for k, j := range m.Rows {
		c.Data[j*n+m.Cols[k]] = m.Values[k]
	}
	return w.longArray(c, "M")
}

func (w *texWriter) definitions() {
	var lines []string
	for _, l := range w.source.Lets {
		w.inside = l.Value
		if w.names[l.Value] != l.Name {
			w.inside = nil // another name for the same
		}
		lines = append(lines, w.defined(func(subs []string) string { return texName(l.Name, subs...) }, l.Value)...)
		w.inside = nil
	}
	w.block("where", lines)
}

// defined writes that what left names is a value: one equation, or one for each piece of an array.
func (w *texWriter) defined(left func(subs []string) string, value model.Expr) (lines []string) {
	a, is := value.(*model.Assemble)
	if !is || w.name(value) != "" {
		return []string{left(nil) + " &= " + w.broken(value)}
	}
	w.inside = nil
	for _, p := range a.Pieces {
		var subs []string
		for _, s := range p.Subs {
			subs = append(subs, w.sub(s))
		}
		line := left(subs) + " &= " + w.broken(p.Value)
		if r := ranges(p.Indices); r != "" {
			line += " && " + r
		}
		lines = append(lines, line)
	}
	return lines
}

// ranges says which values indices take: i = 1, …, n.
func ranges(indices []*model.Index) string {
	var list []string
	for _, ix := range indices {
		list = append(list, texName(ix.Name)+" = "+span(ix))
	}
	return strings.Join(list, ",\\ ")
}

func span(ix *model.Index) string {
	at := func(k int) string { return itoa(ix.Lo + k*ix.Step) }
	switch ix.Count {
	case 1:
		return at(0)
	case 2:
		return at(0) + ", " + at(1)
	case 3:
		return at(0) + ", " + at(1) + ", " + at(2)
	}
	if ix.Step == 1 {
		return at(0) + ", \\dots, " + at(ix.Count-1)
	}
	return at(0) + ", " + at(1) + ", \\dots, " + at(ix.Count-1)
}

// broken writes the right-hand side of an equation. A long sum is broken between its terms.
func (w *texWriter) broken(whole model.Expr) string {
	const most = 130 // letters that are seen, about
	var terms []string
	var first tex
	var split func(e model.Expr, minus bool)
	split = func(e model.Expr, minus bool) {
		if c, is := e.(*model.Call); is && w.name(e) == "" && len(c.Args) == 2 && c.Table == nil && !minus {
			switch {
			case isOne(c.Args[1]) && (c.Fn.Name == "*" || c.Fn.Name == "/"): // of conversions of units
				split(c.Args[0], false)
				return
			case c.Fn.Name == "+":
				split(c.Args[0], false)
				split(c.Args[1], false)
				return
			case c.Fn.Name == "-":
				split(c.Args[0], false)
				split(c.Args[1], true)
				return
			}
		}
		t := w.expr(e)
		switch {
		case minus:
			terms = append(terms, "- "+t.in(texProduct))
		case len(terms) == 0:
			first = t
			terms = append(terms, t.in(texSum))
		case strings.HasPrefix(t.text, "-"):
			terms = append(terms, "- "+strings.TrimLeft(t.text[1:], " "))
		default:
			terms = append(terms, "+ "+t.in(texSum))
		}
	}
	split(whole, false)
	if len(terms) == 1 {
		terms[0] = first.text
	}
	var b strings.Builder
	width := 0
	for i, t := range terms {
		n := seen(t)
		if i > 0 {
			if width+n > most {
				b.WriteString(" \\\\\n&\\quad {}")
				width = 0
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteString(t)
		width += n
	}
	return b.String()
}

// seen is about how many letters of a formula are seen.
func seen(text string) (n int) {
	command := false
	for _, r := range text {
		switch {
		case r == '\\':
			command = true
			n++
		case command && unicode.IsLetter(r):
		case r == '{' || r == '}' || r == ' ' || r == '_' || r == '^':
			command = false
		default:
			command = false
			n++
		}
	}
	return n
}

func (w *texWriter) starts() {
	m := w.source
	from := w.expr(m.From).text
	var lines []string
	for _, list := range [][]*model.Symbol{m.Differential(), m.Discretes} {
		for _, s := range list {
			if s.Hidden {
				continue
			}
			left := func(subs []string) string { return texName(s.Name, subs...) + "(" + from + ")" }
			lines = append(lines, w.defined(left, s.Value)...)
		}
	}
	to := w.expr(m.To).text
	w.block(fmt.Sprintf("for $%s \\le %s \\le %s$, from", from, texName(m.Time.Name), to), lines)
}

func (w *texWriter) texEvents() {
	var rows []string
	for _, on := range w.source.Events {
		if on.After || on.Pending || on.Hidden && on.Execution == nil && !on.Resumes {
			continue
		}
		if on.Settles || on.Resumes {
			if on.Settles {
				with := strings.TrimPrefix(w.body(on), ": ")
				if with != "" {
					with = " with " + with
				}
				rows = append(rows, "The run begins in the steady state that the model leads to"+with)
			}
			continue
		}
		e := on
		when := w.occasion(on)
		if on.Execution != nil {
			e = on.Execution
			if sum, is := on.Body[0].Value.(*model.Call); is && sum.Fn.Name == "+" {
				when += fmt.Sprintf(", and then after $%s$", w.expr(sum.Args[1]).text)
				if len(on.Body) > 1 {
					when += ", with what it reads of before"
				}
			}
			w.instead = map[*model.Symbol]model.Expr{}
			for _, a := range on.Body[1:] {
				w.instead[a.Target] = a.Value
			}
		}
		if r := ranges(e.Indices); r != "" {
			when += ", for $" + r + "$"
		}
		row := when + w.body(e)
		if on.Once {
			row += ", once"
		}
		if on.Start {
			row += "; at the start, too"
		}
		if e.Doc != "" {
			row += " (" + texText(strings.TrimRight(e.Doc, ".")) + ")"
		}
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		fmt.Fprintf(&w.out, "\n\\noindent Events:\n\\begin{itemize}\n\\item %s.\n\\end{itemize}\n",
			strings.Join(rows, ".\n\\item "))
	}
}

// occasion says what sets an event off.
func (w *texWriter) occasion(e *model.Event) string {
	math := func(x model.Expr) string { return "$" + w.expr(x).text + "$" }
	time := texName(w.source.Time.Name)
	switch e.Kind() {
	case model.ByCrossing:
		text := "As " + math(e.Crossing) + " " + map[int8]string{
			1: "rises through 0", -1: "falls through 0", 0: "changes its sign",
		}[e.Way]
		if e.When != nil {
			text += " while " + math(e.When)
		}
		return text
	case model.ByCondition:
		return "When " + math(e.When)
	case model.Periodic:
		from, text := w.source.From, "Every "+math(e.Every)
		if e.From != nil {
			from = e.From
		}
		text += " from " + math(from)
		if e.To != nil {
			text += " to " + math(e.To)
		}
		if e.Count != nil {
			text += ", " + math(e.Count) + " times"
		}
		return text
	}
	var list []string
	for _, t := range e.Times {
		list = append(list, w.expr(t).text)
	}
	return fmt.Sprintf("At $%s = %s$", time, strings.Join(list, ", "))
}

func (w *texWriter) body(e *model.Event) string {
	var list []string
	for _, a := range e.Body {
		name := strings.TrimSuffix(a.Target.Name, "°") // of a param that the steady state has another value of
		if a.Target.Hidden && name == a.Target.Name {
			continue
		}
		var subs []string
		for _, s := range a.Subs {
			subs = append(subs, w.sub(s))
		}
		text := "$" + texName(name, subs...) + " \\leftarrow " + w.expr(a.Value).text + "$"
		if r := ranges(a.Indices); r != "" {
			text += " for $" + r + "$"
		}
		list = append(list, text)
	}
	if e.Stop {
		list = append(list, "the run ends")
	}
	if len(list) == 0 {
		return ""
	}
	return ": " + strings.Join(list, ", ")
}

// tables writes the values of params and consts.
func (w *texWriter) tables() {
	var rows []string
	row := func(name string, value model.Expr, t types.Type, doc string) {
		v := ""
		if c, is := value.(*model.Const); is && len(c.Data) > maxInline {
			w.longArray(c, texName(name))
			v = "\\text{below}"
		} else {
			v = w.expr(value).text
		}
		rows = append(rows, fmt.Sprintf("$%s$ & $%s$ & %s & %s \\\\", texName(name), v, texUnit(t), texText(doc)))
	}
	for _, p := range w.source.Params {
		row(p.Name, p.Value, p.Type, p.Doc)
	}
	for _, c := range w.source.Consts {
		w.inside = c.Value
		row(c.Name, c.Value, c.Value.Type(), c.Doc)
		w.inside = nil
	}
	const most = 40 // rows on a page
	for first := 0; first < len(rows); first += most {
		head := "Parameters"
		if first > 0 {
			head += ", continued"
		}
		fmt.Fprintf(&w.out, "\n\\noindent %s:\n\n\\medskip\n\\noindent\\begin{tabular}{llll}\n\\hline\n"+
			"symbol & value & unit & meaning \\\\\n\\hline\n%s\n\\hline\n\\end{tabular}\n", head,
			strings.Join(rows[first:min(first+most, len(rows))], "\n"))
	}
	w.block("with", w.long)
}

// texUnit writes a unit.
func texUnit(t types.Type) string {
	u := unitText(t)
	if u == "" {
		return ""
	}
	var b strings.Builder
	for i := 0; i < len(u); {
		switch c := rune(u[i]); {
		case c == '*':
			b.WriteString("\\,")
			i++
		case c == '^':
			j := i + 1
			if j < len(u) && u[j] == '(' {
				j += strings.IndexByte(u[j:], ')') + 1
			} else {
				for j < len(u) && (u[j] == '-' || u[j] >= '0' && u[j] <= '9') {
					j++
				}
			}
			b.WriteString("^{" + strings.Trim(u[i+1:j], "()") + "}")
			i = j
		case c == '/' || c >= '0' && c <= '9' || c == '.':
			b.WriteRune(c)
			i++
		default:
			j := i
			for j < len(u) && !strings.ContainsRune("*/^", rune(u[j])) {
				j++
			}
			b.WriteString("\\mathrm{" + texLetters(u[i:j]) + "}")
			i = j
		}
	}
	return "$" + b.String() + "$"
}

// texText writes a text for people.
func texText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("#$%&_{}", r):
			b.WriteString("\\" + string(r))
		case r == '\\':
			b.WriteString("\\textbackslash{}")
		case r == '~':
			b.WriteString("\\textasciitilde{}")
		case r == '^':
			b.WriteString("\\textasciicircum{}")
		case r == '<' || r == '>':
			b.WriteString("$" + string(r) + "$")
		case r == '\n':
			b.WriteByte(' ')
		case texSigns[r] != "":
			b.WriteString("$" + texSigns[r] + "$")
		case greek[r] != "":
			b.WriteString("$" + texGreek(greek[r]) + "$")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// texSigns are signs that texts have and fonts for text do not.
var texSigns = map[rune]string{
	'≤': `\le`, '≥': `\ge`, '≠': `\ne`, '×': `\times`, '·': `\cdot`, '∞': `\infty`, '→': `\to`, '↔': `\leftrightarrow`,
	'−': "-", '√': `\surd`, '²': "^2", '³': "^3", '¹': "^1", '⁻': "^-", '°': `^\circ`, '±': `\pm`, '∂': `\partial`,
	'₀': "_0", '₁': "_1", '₂': "_2", '₃': "_3", '₄': "_4", '⁺': "^+", 'Δ': `\Delta`, '∫': `\int`, '≈': `\approx`,
}

// texLetters writes the letters of a name upright or within it.
func texLetters(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case texSigns[r] != "":
			b.WriteString(texSigns[r])
		case greek[r] != "":
			b.WriteString(texGreek(greek[r]))
		case strings.ContainsRune("#$%&_{}", r):
			b.WriteString("\\" + string(r))
		case r == '\\' || r == '~' || r == '^':
			b.WriteString("\\" + string(r) + "{}")
		case r == ' ':
			b.WriteString("~")
		case r < unicode.MaxASCII:
			b.WriteRune(r)
		default:
			b.WriteString("\\text{" + string(r) + "}")
		}
	}
	return b.String()
}

// texGreek is the command for a Greek letter. Those that look Latin have none.
func texGreek(name string) string {
	if latin := map[string]string{
		"omicron": "o", "Alpha": "A", "Beta": "B", "Epsilon": "E", "Zeta": "Z", "Eta": "H", "Iota": "I", "Kappa": "K",
		"Mu": "M", "Nu": "N", "Rho": "P", "Tau": "T", "Chi": "X",
	}[name]; latin != "" {
		return latin
	}
	return "\\" + name + " "
}

// texName writes a name: what is behind a _, and a number at its end, as its subscript, and names of Greek letters as
// these.
func texName(name string, subs ...string) string {
	parts := strings.Split(name, "_")
	var list []string
	for i, p := range parts {
		if p == "" {
			continue
		}
		if letters := strings.TrimRight(p, "0123456789"); i == 0 && letters != "" && letters != p {
			list = append(list, letters, p[len(letters):])
			continue
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		return "\\mathrm{" + texLetters(name) + "}"
	}
	for i, p := range list {
		list[i] = texWord(p)
	}
	text := strings.TrimRight(list[0], " ")
	if below := append(list[1:len(list):len(list)], subs...); len(below) > 0 {
		text += "_{" + strings.Join(below, ",") + "}"
	}
	return text
}

func texWord(p string) string {
	prime := len(p) - len(strings.TrimRight(p, "'"))
	p = p[:len(p)-prime]
	text := ""
	switch r := []rune(p); {
	case len(r) == 1 && r[0] < unicode.MaxASCII && unicode.IsLetter(r[0]), strings.Trim(p, "0123456789") == "":
		text = p
	case len(r) == 1 && greek[r[0]] != "":
		text = texGreek(greek[r[0]])
	case isGreek(p):
		text = texGreek(p)
	default:
		text = "\\mathrm{" + texLetters(p) + "}"
	}
	return text + strings.Repeat("'", prime)
}

func isGreek(word string) bool {
	for _, name := range greek {
		if name == word {
			return true
		}
	}
	return false
}

// tex is a formula, and how tightly its last operation binds.
type tex struct {
	text string
	bind int
}

// How tightly operations bind.
const (
	texIf = iota
	texOr
	texAnd
	texCompare
	texSum
	texProduct
	texSign
	texPower
	texAtom
)

// in writes a formula as an operand.
func (t tex) in(bind int) string {
	if t.bind < bind {
		return "\\left(" + t.text + "\\right)"
	}
	return t.text
}

// name returns the name that an expression has in the model; "" for none.
func (w *texWriter) name(e model.Expr) string {
	if e == w.inside {
		return ""
	}
	return w.names[e]
}

// maxInline is how many numbers an array has that is written where it stands.
const maxInline = 8

func (w *texWriter) expr(e model.Expr) tex {
	if w.operations++; w.operations > maxWritten {
		w.fail(e.Span(), "the equations have more than %d operations when functions are written out; give their parts "+
			"names, with let", maxWritten)
	}
	if n := w.name(e); n != "" {
		return tex{texName(n), texAtom}
	}
	if e == w.inside {
		w.inside = nil // what is below it may have the name
	}
	switch e := e.(type) {
	case *model.Const:
		return w.constant(e)
	case *model.LoopVar:
		return tex{texName(e.Index.Name), texAtom}
	case *model.Ref:
		if stand := w.instead[e.Sym]; stand != nil {
			return w.expr(stand)
		}
		return tex{texName(strings.TrimSuffix(e.Sym.Name, "°")), texAtom}
	case *model.Access:
		return w.texAccess(e)
	case *model.Call:
		return w.texCall(e)
	case *model.If:
		return w.cases(e)
	case *model.Reduce:
		op := map[string]string{"sum": "\\sum", "prod": "\\prod", "min": "\\min", "max": "\\max"}[e.Fn.Name]
		text := ""
		for _, ix := range e.Indices {
			switch {
			case e.Fn.Name == "min" || e.Fn.Name == "max" || ix.Step != 1:
				text += op + "_{" + texName(ix.Name) + " = " + span(ix) + "} "
			default:
				text += fmt.Sprintf("%s_{%s=%d}^{%d} ", op, texName(ix.Name), ix.Lo, ix.Lo+ix.Count-1)
			}
		}
		return tex{text + w.expr(e.Body).in(texProduct), texProduct}
	case *model.Stack:
		var list []string
		for _, x := range e.Elems {
			list = append(list, w.expr(x).text)
		}
		if _, rows := e.Elems[0].(*model.Stack); rows || len(e.T.Shape) > 1 {
			return tex{"\\left(" + strings.Join(list, ";\\ ") + "\\right)", texAtom}
		}
		return tex{"\\left(" + strings.Join(list, ", ") + "\\right)", texAtom}
	case *model.NoEvent:
		return w.expr(e.X)
	case *model.Assemble:
		var list []string
		for _, p := range e.Pieces {
			t := w.expr(p.Value).text
			if r := ranges(p.Indices); r != "" {
				t = "\\left[" + t + "\\right]_{" + r + "}"
			}
			list = append(list, t)
		}
		return tex{"\\left(" + strings.Join(list, "; ") + "\\right)", texAtom}
	}
	w.fail(e.Span(), "this is no part of the equations, which are all that is exported")
	return tex{}
}

func (w *texWriter) constant(e *model.Const) tex {
	switch {
	case e.T.Kind == types.Bool && len(e.T.Shape) == 0:
		return tex{"\\text{" + strconv.FormatBool(e.Data[0] != 0) + "}", texAtom}
	case len(e.Data) == 1:
		return texNumber(e.Data[0])
	case len(e.Data) > maxInline || len(e.T.Shape) > 1:
		return tex{w.longArray(e, ""), texAtom}
	}
	var list []string
	for _, v := range e.Data {
		list = append(list, texNumber(v).text)
	}
	return tex{"\\left(" + strings.Join(list, ", ") + "\\right)", texAtom}
}

// longArray writes an array behind everything else, and returns its name.
func (w *texWriter) longArray(c *model.Const, name string) string {
	if known := w.longOf[c]; known != "" {
		return known
	}
	if name == "" || slices.ContainsFunc(w.long, func(l string) bool { return strings.HasPrefix(l, name+" &=") }) {
		name = fmt.Sprintf("C_{%d}", len(w.long)+1)
	}
	w.longOf[c] = name
	const most = 2000
	if len(c.Data) > most {
		w.note(source.Span{File: w.source.Source}, "an array of %s numbers is too long for a text; it is named, and "+
			"not written", c.T.Shape)
		w.long = append(w.long, name+" &= \\text{an array of "+strings.Trim(c.T.Shape.String(), "[]")+" numbers}")
		return name
	}
	var list []string
	for _, v := range c.Data {
		list = append(list, texNumber(v).text)
	}
	if cols := c.T.Shape[len(c.T.Shape)-1]; len(c.T.Shape) == 2 && cols <= 10 {
		var rows []string
		for r := range slices.Chunk(list, cols) {
			rows = append(rows, strings.Join(r, " & "))
		}
		w.long = append(w.long, name+" &= \\begin{pmatrix}"+strings.Join(rows, " \\\\ ")+"\\end{pmatrix}")
		return name
	}
	var lines []string
	for r := range slices.Chunk(list, 8) {
		lines = append(lines, strings.Join(r, ",\\ "))
	}
	w.long = append(w.long, name+" &= ("+strings.Join(lines, ", \\\\\n&\\quad ")+")")
	return name
}

func texNumber(v float64) tex {
	switch {
	case math.IsNaN(v):
		return tex{"\\mathrm{nan}", texAtom}
	case math.IsInf(v, 1):
		return tex{"\\infty", texAtom}
	case math.IsInf(v, -1):
		return tex{"-\\infty", texSum}
	case v == math.Pi:
		return tex{"\\pi", texAtom}
	}
	text := strconv.FormatFloat(v, 'g', -1, 64)
	bind := texAtom
	if a := math.Abs(v); a >= 1e-4 && a < 1e9 {
		text = strconv.FormatFloat(v, 'f', -1, 64)
	}
	if mantissa, exponent, is := strings.Cut(text, "e"); is {
		n, _ := strconv.Atoi(exponent)
		text, bind = fmt.Sprintf("%s \\times 10^{%d}", mantissa, n), texProduct
		if mantissa == "1" {
			text, bind = fmt.Sprintf("10^{%d}", n), texPower
		}
	}
	if v < 0 {
		bind = texSum
	}
	return tex{text, bind}
}

// sub writes a subscript.
func (w *texWriter) sub(s model.Sub) string {
	if s.At != nil {
		return w.expr(s.At).text
	}
	last := s.Lo + (s.Count-1)*s.Step
	if s.Step == 1 {
		return fmt.Sprintf("%d{:}%d", s.Lo, last)
	}
	return fmt.Sprintf("%d{:}%d{:}%d", s.Lo, s.Step, last)
}

func (w *texWriter) texAccess(e *model.Access) tex {
	var subs []string
	for _, s := range e.Subs {
		subs = append(subs, w.sub(s))
	}
	if n := w.name(e.X); n != "" {
		return tex{texName(n, subs...), texAtom}
	}
	if r, is := e.X.(*model.Ref); is {
		if stand := w.instead[r.Sym]; stand != nil {
			return w.expr(stand)
		}
		return tex{texName(strings.TrimSuffix(r.Sym.Name, "°"), subs...), texAtom}
	}
	return tex{"{" + w.expr(e.X).in(texAtom) + "}_{" + strings.Join(subs, ",") + "}", texAtom}
}

func (w *texWriter) cases(e *model.If) tex {
	var b strings.Builder
	b.WriteString("\\begin{cases} ")
	var last model.Expr = e
	for {
		i, is := last.(*model.If)
		if !is || last != e && w.name(last) != "" {
			break
		}
		fmt.Fprintf(&b, "%s & \\text{if } %s \\\\ ", w.expr(i.Then).text, w.expr(i.Cond).text)
		last = i.Else
	}
	fmt.Fprintf(&b, "%s & \\text{otherwise} \\end{cases}", w.expr(last).text)
	return tex{b.String(), texIf}
}

// texFunctions are functions of one argument or several, with # for each of these.
var texFunctions = map[string]tex{
	"exp": {"\\exp\\left(#\\right)", texAtom}, "log": {"\\ln\\left(#\\right)", texAtom},
	"log10": {"\\log_{10}\\left(#\\right)", texAtom}, "log1p": {"\\ln\\left(1 + #\\right)", texAtom},
	"expm1": {"\\exp\\left(#\\right) - 1", texSum}, "sqrt": {"\\sqrt{#}", texAtom}, "cbrt": {"\\sqrt[3]{#}", texAtom},
	"abs": {"\\left|#\\right|", texAtom}, "sign": {"\\operatorname{sgn}\\left(#\\right)", texAtom},
	"sin": {"\\sin\\left(#\\right)", texAtom}, "cos": {"\\cos\\left(#\\right)", texAtom},
	"tan": {"\\tan\\left(#\\right)", texAtom}, "asin": {"\\arcsin\\left(#\\right)", texAtom},
	"acos": {"\\arccos\\left(#\\right)", texAtom}, "atan": {"\\arctan\\left(#\\right)", texAtom},
	"sinh": {"\\sinh\\left(#\\right)", texAtom}, "cosh": {"\\cosh\\left(#\\right)", texAtom},
	"tanh": {"\\tanh\\left(#\\right)", texAtom}, "asinh": {"\\operatorname{arsinh}\\left(#\\right)", texAtom},
	"acosh": {"\\operatorname{arcosh}\\left(#\\right)", texAtom},
	"atanh": {"\\operatorname{artanh}\\left(#\\right)", texAtom}, "floor": {"\\left\\lfloor #\\right\\rfloor", texAtom},
	"ceil":   {"\\left\\lceil #\\right\\rceil", texAtom},
	"lgamma": {"\\ln\\left|\\Gamma\\left(#\\right)\\right|", texAtom},
	"min":    {"\\min\\left(#, #\\right)", texAtom}, "max": {"\\max\\left(#, #\\right)", texAtom},
	"/": {"\\frac{#}{#}", texPower}, "transpose": {"\\left(#\\right)^{\\mathsf{T}}", texPower},
}

var texOperators = map[string]struct {
	sign string
	bind int
}{
	"or": {" \\text{ or } ", texOr}, "and": {" \\text{ and } ", texAnd}, "<": {" < ", texCompare},
	"<=": {" \\le ", texCompare}, "==": {" = ", texCompare}, "!=": {" \\ne ", texCompare}, "+": {" + ", texSum},
	"-": {" - ", texSum}, "*": {"\\, ", texProduct}, "@": {"\\, ", texProduct}, "mod": {" \\bmod ", texProduct},
}

func (w *texWriter) texCall(e *model.Call) tex {
	if t := e.Table; t != nil {
		return w.texTable(t)
	}
	name := e.Fn.Name
	switch { // what conversions of units leave, and thresholds
	case name == "*" && isOne(e.Args[0]):
		return w.expr(e.Args[1])
	case (name == "*" || name == "/") && isOne(e.Args[1]), name == "-" && isZero(e.Args[1]):
		return w.expr(e.Args[0])
	}
	arg := func(k int) tex { return w.expr(e.Args[k]) }
	if e.Fn.Class == stdlib.Reduction {
		return tex{"\\operatorname{" + name + "}\\left(" + arg(0).text + "\\right)", texAtom}
	}
	switch name {
	case "neg":
		return tex{"-" + arg(0).in(texProduct), texSum}
	case "hypot":
		return tex{"\\sqrt{" + arg(0).in(texAtom) + "^{2} + " + arg(1).in(texAtom) + "^{2}}", texAtom}
	case "sigmoid":
		return tex{"\\frac{1}{1 + \\exp\\left(-" + arg(0).in(texProduct) + "\\right)}", texPower}
	case "not":
		return tex{"\\lnot " + arg(0).in(texAtom), texSign}
	case "^":
		base := arg(0)
		if base.bind == texAtom && strings.Contains(base.text, "^") {
			base.bind = texPower
		}
		return tex{base.in(texAtom) + "^{" + arg(1).text + "}", texPower}
	case "pick":
		if place, is := e.Args[1].(*model.Call); is && place.Fn == stdlib.Interval {
			return w.texPick(place, e.Args[0])
		}
	case "*":
		return w.texProduct(e)
	}
	if o, is := texOperators[name]; is {
		right := o.bind + 1
		if name == "+" || name == "and" || name == "or" {
			right = o.bind
		}
		text := arg(1).in(right)
		if strings.HasPrefix(text, "-") {
			text = "\\left(" + text + "\\right)"
		}
		return tex{arg(0).in(o.bind) + o.sign + text, o.bind}
	}
	if f, is := texFunctions[name]; is {
		text := f.text
		for k := range e.Args {
			text = strings.Replace(text, "#", strings.ReplaceAll(arg(k).text, "#", "\\#"), 1)
		}
		return tex{text, f.bind}
	}
	var args []string
	for k := range e.Args {
		args = append(args, arg(k).text)
	}
	return tex{"\\operatorname{" + name + "}\\left(" + strings.Join(args, ", ") + "\\right)", texAtom}
}

// texPick writes the value that of has in the interval at place: a control, or what was observed last.
func (w *texWriter) texPick(place *model.Call, of model.Expr) tex {
	if place.Control != "" {
		return tex{texName(place.Control) + "(" + w.expr(place.Args[0]).text + ")", texAtom}
	}
	return tex{fmt.Sprintf("\\operatorname{previous}\\left(%s;\\ %s;\\ %s\\right)", w.expr(place.Args[1]).text,
		w.expr(of).text, w.expr(place.Args[0]).text), texAtom}
}

// texProduct writes a product.
func (w *texWriter) texProduct(e *model.Call) tex {
	a, b := w.expr(e.Args[0]), w.expr(e.Args[1])
	minus := ""
	if strings.HasPrefix(a.text, "-") && a.bind == texSum && isNegative(e.Args[0]) { // (-a) b is -a b
		minus, a = "-", tex{a.text[1:], texProduct}
	}
	left, right := a.in(texProduct), b.in(texProduct)
	sign := "\\, "
	if len(e.Args[0].Type().Shape) > 0 && len(e.Args[1].Type().Shape) > 0 {
		sign = " \\odot "
	} else if right[0] >= '0' && right[0] <= '9' {
		sign = " \\cdot "
	}
	if minus != "" {
		return tex{minus + left + sign + right, texSum}
	}
	return tex{left + sign + right, texProduct}
}

func isZero(e model.Expr) bool {
	c, is := e.(*model.Const)
	return is && len(c.Data) == 1 && c.Data[0] == 0
}

func isOne(e model.Expr) bool {
	c, is := e.(*model.Const)
	return is && len(c.T.Shape) == 0 && c.Data[0] == 1
}

// isNegative reports whether an expression is the negative of something, or a negative number.
func isNegative(e model.Expr) bool {
	switch e := e.(type) {
	case *model.Call:
		return e.Fn.Name == "neg"
	case *model.Const:
		return len(e.Data) == 1
	}
	return false
}

// texTable writes the value of a table: of a linear control, by its name.
func (w *texWriter) texTable(t *model.Search) tex {
	at := w.expr(t.Time).text
	if r, is := t.Values.(*model.Ref); is && r.Sym.Control {
		return tex{texName(r.Sym.Name) + "(" + at + ")", texAtom}
	}
	kind := "linear"
	if t.Slopes != nil {
		kind = "cubic"
	}
	text := fmt.Sprintf("\\operatorname{%s}\\left(%s;\\ %s", kind, w.expr(t.Knots).text, w.expr(t.Values).text)
	if t.Slopes != nil {
		text += ";\\ " + w.expr(t.Slopes).text
	}
	return tex{text + ";\\ " + at + "\\right)", texAtom}
}
