package lsp

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/parser"
	"odes.dev/odes/typecheck"
)

// formatting returns the one edit that makes d what `odes fmt` makes of it.
func (s *Server) formatting(_ context.Context, d *document, _ *documentParams) (any, error) {
	was := d.text.s
	is, err := parser.Format(d.syntax().tree.Source.Name(), was)
	if err != nil {
		return nil, errorf(codeFailed, "only what parses can be formatted: %v", err)
	}
	edits := []textEdit{}
	if was == is {
		return edits, nil
	}
	// The edit leaves out the lines at both ends that stay the same.
	start, end := 0, 0
	for start < len(was) && start < len(is) && was[start] == is[start] {
		start++
	}
	start = strings.LastIndexByte(was[:start], '\n') + 1
	for end < len(was)-start && end < len(is)-start && was[len(was)-1-end] == is[len(is)-1-end] {
		end++
	}
	tail := was[len(was)-end:]
	if n := strings.IndexByte(tail, '\n'); end < len(was)-start || end < len(is)-start {
		end = 0
		if n >= 0 {
			end = len(tail) - n
		}
	}
	at := d.text.span(start, len(was)-end, s.enc)
	return append(edits, textEdit{at, is[start : len(is)-end]}), nil
}

// rangeFormatting formats the items that a range touches, and what stands between them. The rest keeps its form.
func (s *Server) rangeFormatting(_ context.Context, d *document, p *rangeParams) (any, error) {
	was, tree := d.text.s, d.syntax().tree
	name := tree.Source.Name()
	is, err := parser.Format(name, was)
	if err != nil {
		return nil, errorf(codeFailed, "only what parses can be formatted: %v", err)
	}
	edits := []textEdit{}
	from, to := d.text.offset(p.Range.Start, s.enc), d.text.offset(p.Range.End, s.enc)
	var l diag.List
	formatted := parser.Parse(source.NewFile(name, is), &l)
	first, last := -1, -1
	for i, it := range tree.Items {
		if at := it.Pos(); at.End >= from && at.Start <= to {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 || len(formatted.Items) != len(tree.Items) {
		return edits, nil
	}
	start, end := tree.Items[first].Pos().Start, tree.Items[last].Pos().End
	text := is[formatted.Items[first].Pos().Start:formatted.Items[last].Pos().End]
	// Items that share a line with others may depend on these.
	again, err := parser.Format(name, was[:start]+text+was[end:])
	if err != nil || again != is || text == was[start:end] {
		return edits, nil
	}
	return append(edits, textEdit{d.text.span(start, end, s.enc), text}), nil
}

// tokenTypes and tokenModifiers are the legend of semantic tokens.
var (
	tokenTypes = []string{
		"comment", "keyword", "number", "string", "variable", "parameter", "property", "function", "event",
		"type", "namespace", "enumMember", "class",
	}
	tokenModifiers = []string{"declaration", "readonly", "modification", "defaultLibrary", "documentation"}
)

// semanticTokens returns the class of every word of d.
func (s *Server) semanticTokens(_ context.Context, d *document, _ *documentParams) (any, error) {
	out := semanticTokens{Data: []int{}}
	p := d.syntax()
	var last position
	emit := func(start, end int, kind string, modifiers ...string) {
		bits := 0
		for _, m := range modifiers {
			bits |= 1 << slices.Index(tokenModifiers, m)
		}
		from, to := d.text.position(start, s.enc), d.text.position(end, s.enc)
		if from.Line != to.Line || to.Character <= from.Character {
			return
		}
		character := from.Character
		if from.Line == last.Line {
			character -= last.Character
		}
		out.Data = append(out.Data, from.Line-last.Line, character, to.Character-from.Character,
			slices.Index(tokenTypes, kind), bits)
		last = from
	}
	survey := d.known()
	kinds := map[*binding]string{}
	kindOf := func(b *binding) string {
		kind, ok := kinds[b]
		if !ok {
			kind = b.kind
			if kind == "" && b.of == "" {
				if n := typecheck.Find(survey.Names, b.name); n != nil && n.Kind != b.kind {
					kind = n.Kind
				}
			}
			kinds[b] = kind
		}
		return kind
	}
	comments, names := p.tree.Comments, p.index.all
	comment := func(before int) {
		for len(comments) > 0 && comments[0].Span.Start < before {
			c := comments[0]
			if strings.HasPrefix(c.Text, "##") && !strings.HasPrefix(c.Text, "###") {
				emit(c.Span.Start, c.Span.End, "comment", "documentation")
			} else {
				emit(c.Span.Start, c.Span.End, "comment")
			}
			comments = comments[1:]
		}
	}
	for i := range p.tree.Tokens {
		t := &p.tree.Tokens[i]
		comment(t.Start)
		for len(names) > 0 && names[0].start < t.Start {
			names = names[1:]
		}
		if len(names) > 0 && names[0].start == t.Start {
			o := &names[0]
			names = names[1:]
			kind, modifiers := look(o, kindOf(o.b), t.Kind == ast.KeywordToken)
			emit(o.start, min(o.end, t.End), kind, modifiers...)
			continue
		}
		switch t.Kind {
		case ast.KeywordToken:
			emit(t.Start, t.End, "keyword")
		case ast.NumberToken:
			emit(t.Start, t.End, "number")
		case ast.StringToken:
			emit(t.Start, t.End, "string")
		}
	}
	comment(len(d.text.s) + 1)
	return out, nil
}

// look returns the type and the modifiers with which a name is shown, which is of a kind, and may be a keyword.
func look(o *occurrence, of string, keyword bool) (kind string, modifiers []string) {
	kind = shown[of].token
	if o.declares {
		modifiers = append(modifiers, "declaration")
	} else if o.write {
		modifiers = append(modifiers, "modification")
	}
	if of == "const" {
		modifiers = append(modifiers, "readonly")
	}
	switch {
	case o.role == asUnit:
		kind = "type"
	case o.role == asSetting:
		kind = "property"
	case o.role == asWord:
		kind = "enumMember"
	case o.role == asFunction && of == "" && o.b.of == "":
		kind, modifiers = "function", append(modifiers, "defaultLibrary")
	case o.role == asFunction:
		kind = "function"
	case kind == "" && keyword:
		kind = "keyword"
	case kind == "" && o.b.of != "":
		kind = "property"
	case kind == "":
		kind = "variable"
	}
	return kind, modifiers
}

// inlayHint shows the units of names that are written without one.
func (s *Server) inlayHint(ctx context.Context, d *document, p *rangeParams) (any, error) {
	list := []inlayHint{}
	if !s.check(ctx, d) {
		return list, nil
	}
	from, to := d.text.offset(p.Range.Start, s.enc), d.text.offset(p.Range.End, s.enc)
	for i := range d.found.Survey.Names {
		n := &d.found.Survey.Names[i]
		unit := unitText(n.Type)
		if unit == "" || n.Type.Kind == types.Invalid || n.Span.File != d.parsed.tree.Source ||
			n.Span.Start < from || n.Span.Start > to {
			continue
		}
		end, written := n.Span.End, true
		switch v := n.Decl.(type) {
		case *ast.Let:
			end, written = v.Target.Span.End, v.Unit != nil
		case *ast.Objective:
			end, written = v.Target.Span.End, v.Unit != nil
		case *ast.Observe:
			written = v.Unit != nil
		case *ast.Time:
			written = v.Unit != nil
		case *ast.Var:
			written = v.Unit != nil || n.Inferred.IsZero() // that of its value stands behind it
			if len(v.Dims) > 0 {
				end += strings.IndexByte(d.text.s[end:v.Span.End], ']') + 1
				for _, dim := range v.Dims {
					if at := dim.Pos().End; at > end {
						end = at + strings.IndexByte(d.text.s[at:v.Span.End], ']') + 1
					}
				}
			}
		}
		if written {
			continue
		}
		hint := inlayHint{Position: d.text.position(end, s.enc), Label: " : " + unit, Kind: 1}
		if !n.Inferred.IsZero() {
			hint.Tooltip = "inferred from its use in line " + strconv.Itoa(n.Inferred.Begin().Line)
		}
		list = append(list, hint)
	}
	return list, nil
}
