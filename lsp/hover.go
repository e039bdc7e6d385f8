package lsp

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"odes.dev/odes/help"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck"
)

// page is what is shown about a name: blocks of code and of prose.
type page struct {
	b        strings.Builder
	markdown bool
}

func (p *page) gap() {
	if p.b.Len() > 0 {
		p.b.WriteString("\n")
	}
}

func (p *page) code(text string) {
	if text == "" {
		return
	}
	p.gap()
	if !p.markdown {
		p.b.WriteString(text + "\n")
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	p.b.WriteString(fence + "odes\n" + text + "\n" + fence + "\n")
}

// prose adds text that is already Markdown, as doc comments are.
func (p *page) prose(text string) {
	if text != "" {
		p.gap()
		p.b.WriteString(text + "\n")
	}
}

// plain adds text in which no character is markup.
func (p *page) plain(text string) {
	if p.markdown {
		text = escaper.Replace(text)
	}
	p.prose(text)
}

// quoted is a bit of code within prose.
func (p *page) quoted(text string) string {
	if p.markdown {
		return "`" + text + "`"
	}
	return text
}

var escaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`,
	">", `\>`, "#", `\#`, "~", `\~`, "|", `\|`)

// help adds a text of package help: its head and indented lines are code, the rest is prose.
func (p *page) help(text string) {
	for i, block := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		lines := strings.Split(block, "\n")
		switch {
		case strings.HasPrefix(block, "  ") || i == 0:
			for k := range lines {
				lines[k] = strings.TrimPrefix(strings.TrimPrefix(lines[k], "  "), "  ")
			}
			p.code(strings.Join(lines, "\n"))
		case !p.markdown:
			p.prose(block)
		default:
			for k := range lines { // "defined for: x > 0" stands on a line of its own
				if head, _, ok := strings.Cut(lines[k], ": "); ok && k > 0 && !strings.ContainsAny(head, ".,()") {
					lines[k-1] += "  "
				}
			}
			p.plain(strings.Join(lines, "\n"))
		}
	}
}

func (p *page) markup() markup {
	if p.markdown {
		return markup{"markdown", p.b.String()}
	}
	return markup{"plaintext", p.b.String()}
}

// hover tells what is known of the name at off, and explains what is wrong there.
func (s *Server) hover(ctx context.Context, d *document, off int) (any, error) {
	p := &page{markdown: slices.Contains(s.client.Capabilities.TextDocument.Hover.ContentFormat, "markdown")}
	survey := s.survey(ctx, d)
	start, end := off, off
	if o := d.syntax().index.at(off); o != nil {
		start, end = o.start, o.end
		s.explain(p, d, survey, o)
	} else if t := tokenAt(d.syntax().tree, off); t != nil {
		start, end = t.Start, t.End
		switch t.Kind {
		case ast.KeywordToken:
			p.topic(help.Word, t.Text)
		case ast.StringToken:
			if name, err := strconv.Unquote(t.Text); err == nil {
				p.topic(help.Module, name)
			}
		}
	}
	if d.found != nil && d.of == d.parsed {
		for i := range d.found.Diagnostics {
			f := &d.found.Diagnostics[i]
			if f.Span.File == d.parsed.tree.Source && f.Span.Start <= off && off <= f.Span.End && f.Span.End > 0 {
				if p.b.Len() == 0 {
					start, end = f.Span.Start, f.Span.End
				}
				p.reason(f.Code)
			}
		}
	}
	if p.b.Len() == 0 {
		return nil, nil
	}
	return hover{p.markup(), d.text.span(start, end, s.enc)}, nil
}

// reason explains the code of a diagnostic.
func (p *page) reason(code diag.Code) {
	text, ok := help.On(help.Code, string(code))
	if _, why, cut := strings.Cut(text, "\n\n"); ok && cut {
		why = strings.ReplaceAll(strings.TrimRight(why, "\n"), "\n", " ")
		if p.markdown {
			p.prose("**" + string(code) + "**: " + escaper.Replace(why))
		} else {
			p.prose(string(code) + ": " + why)
		}
	}
}

// topic adds the help on a name, and reports whether there is any.
func (p *page) topic(t help.Topic, name string) bool {
	text, ok := help.On(t, name)
	if ok {
		p.help(text)
	}
	return ok
}

// explain writes what is known of a name.
func (s *Server) explain(p *page, d *document, survey *typecheck.Survey, o *occurrence) {
	b := o.b
	if n := known(survey, b); n != nil {
		p.name(d, n)
		if n.Kind == "column" && d.ofRecords(b.of) {
			p.topic(help.Word, strings.ToUpper(n.Name))
		}
		return
	}
	switch {
	case b.of == ofDoses && o.role == asSetting:
		p.topic(help.Word, recordOf(b.name))
	case o.role == asUnit && len(b.decl) == 0:
		p.topic(help.Unit, b.name)
	case o.role == asSetting:
		p.topic(help.Setting, b.of+"."+b.name)
	case o.role == asWord:
		if !p.topic(help.Method, b.name) && !p.topic(help.Controller, b.name) {
			p.topic(help.Setting, b.of)
		}
	case len(b.decl) > 0:
		p.code(declaration(b.node, b.kind))
		if fn, ok := strings.CutPrefix(b.of, "fn "); ok {
			p.plain("argument of " + fn)
		} else {
			p.plain(b.kind)
		}
		p.prose(docOf(b.node))
	case o.role == asFunction:
		p.topic(help.Function, b.name)
	default:
		_ = p.topic(help.Constant, b.name) || p.topic(help.Function, b.name)
	}
}

// ofRecords reports whether the rows of a table are records of doses.
func (d *document) ofRecords(table string) bool {
	return slices.ContainsFunc(d.syntax().tree.Items, func(item ast.Item) bool {
		it, is := item.(*ast.Doses)
		return is && it.Table.Name == table
	})
}

// recordOf is what of the records of NONMEM a word of `doses` is.
func recordOf(word string) string {
	switch word {
	case "lag":
		return "ALAG"
	case "f":
		return "AMT"
	}
	return strings.ToUpper(word)
}

// known returns what the checker knows of a name, or nil.
func known(survey *typecheck.Survey, b *binding) *typecheck.Name {
	switch {
	case !b.in.IsZero() || strings.HasPrefix(b.of, "fn "):
		return nil // a local name
	case b.of == "unit":
		return typecheck.Find(survey.Units, b.name)
	case b.of != "":
		if n := typecheck.Find(survey.Names, b.of+"."+b.name); n != nil { // of a component
			return n
		}
		if of := typecheck.Find(survey.Names, b.of); of != nil {
			return typecheck.Find(of.Members, b.name)
		}
		return nil
	case b.kind == "loop variable" || b.kind == "dimension" || b.kind == "argument":
		return nil
	}
	return typecheck.Find(survey.Names, b.name)
}

// name writes what the checker knows of a name.
func (p *page) name(d *document, n *typecheck.Name) {
	if n.Decl != nil {
		p.code(declaration(n.Decl, n.Kind))
	}
	facts := []string{n.Kind}
	if n.Kind == "unit" {
		if n.Type.Unit.Known() {
			facts = append(facts, p.quoted(n.Type.Unit.SI())+" in SI base units")
		}
	}
	if t := n.Type; t.Kind != types.Invalid && n.Kind != "unit" {
		switch {
		case len(t.Shape) > 0:
			facts = append(facts, "of shape "+p.quoted(t.Shape.String()))
		case t.Kind == types.Bool || t.Kind == types.String:
			facts = append(facts, "a "+t.Kind.String())
		}
		switch u := t.Unit; {
		case !u.Known():
			facts = append(facts, "of unknown unit")
		case u.Plain():
			facts = append(facts, "without dimension")
		default:
			facts = append(facts, "in "+p.quoted(unitText(n.Type)))
		}
		if at := n.Inferred; !at.IsZero() {
			facts = append(facts, fmt.Sprintf("inferred from line %d", at.Begin().Line))
		}
	}
	if at := n.Span; !at.IsZero() && (d.of == nil || at.File != d.of.tree.Source) {
		facts = append(facts, "from "+p.quoted(at.File.Name()))
	}
	p.prose(strings.Join(facts, ", "))
	if v := valueText(n); v != "" {
		p.code(n.Name + " = " + v)
	}
	if n.Kind == "module" {
		var names []string
		for _, m := range n.Members {
			names = append(names, m.Name)
		}
		p.plain(strings.Join(names, ", "))
	}
	if n.Kind == "data table" {
		var columns []string
		for _, m := range n.Members {
			columns = append(columns, m.Name+unitSuffix(m.Type))
		}
		p.code(strings.Join(columns, "\n"))
	}
	p.prose(n.Doc)
}

// unitText is the unit of a type in brackets, "" when it has none.
func unitText(t types.Type) string {
	if t.Kind == types.Invalid || !t.Unit.Known() || t.Unit.Plain() {
		return ""
	}
	return "[" + t.Unit.String() + "]"
}

func unitSuffix(t types.Type) string {
	if u := unitText(t); u != "" {
		return " " + u
	}
	return ""
}

// valueText is the value of a const whose declaration does not show it.
func valueText(n *typecheck.Name) string {
	if n.Kind != "const" || len(n.Values) == 0 || len(n.Values) > 8 {
		return ""
	}
	if v, ok := n.Decl.(*ast.Var); ok {
		if _, literal := v.Value.(*ast.Number); literal {
			return ""
		}
	}
	parts := make([]string, len(n.Values))
	for i, x := range n.Values {
		parts[i] = strconv.FormatFloat(x, 'g', -1, 64)
	}
	text := strings.Join(parts, ", ")
	if len(parts) > 1 || len(n.Type.Shape) > 0 && n.Type.Shape.Size() == 1 {
		text = "[" + text + "]"
	}
	return text + unitSuffix(n.Type)
}

// The most lines and bytes of a declaration that are shown.
const (
	shownLines = 12
	shownBytes = 1000
)

// declaration is the text of what declares a name.
func declaration(n ast.Node, kind string) string {
	if n == nil {
		return ""
	}
	text := n.Pos().Text()
	switch n := n.(type) {
	case *ast.Var:
		text = kind + " " + text
	case *ast.Event, *ast.Experiment, *ast.Data:
		text, _, _ = strings.Cut(text, "\n")
		if strings.HasSuffix(text, "{") {
			text += " … }"
		}
	case *ast.Import:
		if text = "import "; n.Model {
			text += "model "
		}
		text += n.Path.Span.Text()
		if n.As != nil {
			text += " as " + n.As.Name
		}
	}
	lines := strings.Split(strings.ToValidUTF8(text[:min(len(text), shownBytes)], ""), "\n")
	if len(lines) > shownLines || len(text) > shownBytes {
		lines = append(lines[:min(len(lines), shownLines)], "…")
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], "\r ")
	}
	return strings.Join(lines, "\n")
}

// docOf is the doc comment of a node that declares a name.
func docOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Var:
		return n.Doc
	case ast.Item:
		for _, d := range ast.Declarations(n) {
			if d.Doc != nil {
				return *d.Doc
			}
		}
	}
	return ""
}

// tokenAt returns the token that covers off, or nil.
func tokenAt(f *ast.File, off int) *ast.Token {
	i := sort.Search(len(f.Tokens), func(i int) bool { return f.Tokens[i].End > off })
	if i < len(f.Tokens) && f.Tokens[i].Start <= off {
		return &f.Tokens[i]
	}
	if i > 0 && f.Tokens[i-1].End == off {
		return &f.Tokens[i-1]
	}
	return nil
}

func isNameRune(r rune) bool {
	return r == '_' || unicode.In(r, unicode.L, unicode.Nd, unicode.Mn, unicode.Mc)
}

// form writes a function with its arguments: "hill(x, K, n)".
func form(name string, args []string) string { return name + "(" + strings.Join(args, ", ") + ")" }

// arguments are the parameters of a built-in function, optional ones with a question mark.
func arguments(f *stdlib.Func) []string {
	args := slices.Clone(f.Args)
	if f.MinArgs > 0 {
		for i := f.MinArgs; i < len(args); i++ {
			args[i] += "?"
		}
	}
	return args
}

// parameters are those of a function of a model, with their shapes.
func parameters(f *ast.Fn) []string {
	var args []string
	for _, p := range f.Params {
		args = append(args, p.Span.Text())
	}
	return args
}
