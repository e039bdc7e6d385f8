package lsp

import (
	"context"
	"path"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck"
)

// definition returns where the name at off is declared, and for the name of a file, the file.
func (s *Server) definition(ctx context.Context, d *document, off int) (any, error) {
	list := []location{}
	o := d.syntax().index.at(off)
	if o == nil {
		for _, item := range d.parsed.tree.Items {
			it, ok := item.(*ast.Import)
			if ok && it.Path.Span.Start <= off && off <= it.Path.Span.End && d.path != "" &&
				!strings.HasPrefix(it.Path.Value, "std/") {
				list = append(list, location{URI: uriOf(path.Join(path.Dir(d.path), it.Path.Value))})
			}
		}
		return list, nil
	}
	for _, at := range s.declarations(ctx, d, o.b) {
		if at, ok := s.locate(d, at); ok {
			list = append(list, at)
		}
	}
	return list, nil
}

// declarations are where a name is declared, here or in a file that is imported.
func (s *Server) declarations(ctx context.Context, d *document, b *binding) []source.Span {
	if len(b.decl) > 0 {
		return b.decl
	}
	if n := known(s.survey(ctx, d), b); n != nil && !n.Span.IsZero() {
		return []source.Span{n.Span}
	}
	return nil
}

func (s *Server) highlight(_ context.Context, d *document, off int) (any, error) {
	list := []highlight{}
	if o := d.syntax().index.at(off); o != nil {
		for _, u := range d.parsed.index.of(o.b) {
			h := highlight{d.text.span(u.start, u.end, s.enc), 2}
			if u.write {
				h.Kind = 3
			}
			list = append(list, h)
		}
	}
	return list, nil
}

// use is a place of a name in an open document.
type use struct {
	d *document
	o occurrence
}

// uses returns the places of b, a name of d, in all open documents, since documents import names from others.
func (s *Server) uses(ctx context.Context, d *document, b *binding) []use {
	var list []use
	for _, o := range d.syntax().index.of(b) {
		list = append(list, use{d, o})
	}
	home := s.declarations(ctx, d, b)
	if !shared(b) || len(home) == 0 {
		return list
	}
	from, ok := s.locate(d, home[0])
	if !ok {
		return list
	}
	for _, other := range s.order { // d among them, where two components have the name
		seen := map[*binding]bool{b: true}
		for _, o := range other.syntax().index.all {
			if o.b.name != b.name || !shared(o.b) || seen[o.b] {
				continue
			}
			seen[o.b] = true
			at := s.declarations(ctx, other, o.b)
			if len(at) == 0 {
				continue
			}
			if place, ok := s.locate(other, at[0]); ok && place == from {
				for _, u := range other.syntax().index.of(o.b) {
					list = append(list, use{other, u})
				}
			}
		}
	}
	return list
}

// shared reports whether other files may know b as well.
func shared(b *binding) bool {
	return b.in.IsZero() && !slices.Contains([]string{"loop variable", "dimension", "argument", "component"}, b.kind) &&
		!strings.Contains(b.of, " ")
}

func (s *Server) references(ctx context.Context, d *document, p *referenceParams) (any, error) {
	list := []location{}
	o := d.syntax().index.at(d.text.offset(p.Position, s.enc))
	if o == nil {
		return list, nil
	}
	for _, u := range s.uses(ctx, d, o.b) {
		if !u.o.declares || p.Context.IncludeDeclaration {
			list = append(list, location{u.d.uri, u.d.text.span(u.o.start, u.o.end, s.enc)})
		}
	}
	return list, nil
}

// opened reports whether the file of a place, which a name of d is declared at, is open in the editor.
func (s *Server) opened(d *document, at source.Span) bool {
	place, ok := s.locate(d, at)
	return ok && slices.ContainsFunc(s.order, func(o *document) bool { return o.uri == place.URI })
}

// renamable returns the occurrence at off if its name can be changed, or why not.
func (s *Server) renamable(ctx context.Context, d *document, off int) (*occurrence, *ResponseError) {
	o := d.syntax().index.at(off)
	if o == nil || o.role == asSetting || o.role == asWord {
		return nil, errorf(codeFailed, "there is no name of the model here")
	}
	if len(o.b.decl) > 0 {
		return o, nil
	}
	n := known(s.survey(ctx, d), o.b)
	switch {
	case n != nil && n.Kind == "column":
		return nil, errorf(codeFailed, "%q is a column of a file; name it in csv(…, %s = \"header\") first",
			o.b.name, o.b.name)
	case n != nil && !n.Span.IsZero() && strings.HasPrefix(n.Span.File.Name(), "std/"):
		return nil, errorf(codeFailed, "%q belongs to %s, which is built in", o.b.name, n.Span.File.Name())
	case n != nil && !n.Span.IsZero() && s.opened(d, n.Span):
		return o, nil
	case n != nil && !n.Span.IsZero():
		return nil, errorf(codeFailed, "%q is declared in %s; open that file, too", o.b.name, n.Span.File.Name())
	case len(stdlib.Named(o.b.name)) > 0 || o.b.of == "unit":
		return nil, errorf(codeFailed, "%q is a name of the language", o.b.name)
	}
	return nil, errorf(codeFailed, "%q is not declared", o.b.name)
}

func (s *Server) prepareRename(ctx context.Context, d *document, off int) (any, error) {
	o, err := s.renamable(ctx, d, off)
	if err != nil {
		return nil, err
	}
	return prepared{d.text.span(o.start, o.end, s.enc), o.b.name}, nil
}

// rename changes a name wherever it is written, in all open documents, unless
// it would then mean something else.
func (s *Server) rename(ctx context.Context, d *document, p *renameParams) (any, error) {
	o, fault := s.renamable(ctx, d, d.text.offset(p.Position, s.enc))
	if fault != nil {
		return nil, fault
	}
	name, written, fault := spelling(p.NewName, o.b.of == "unit")
	if fault != nil {
		return nil, fault
	}
	edit := workspaceEdit{map[string][]textEdit{}}
	if name == o.b.name {
		return edit, nil
	}
	uses := s.uses(ctx, d, o.b)
	checked := map[*document]bool{}
	for _, u := range uses {
		if !checked[u.d] {
			checked[u.d] = true
			if fault := s.clash(u.d, u.o.b, name); fault != nil {
				return nil, fault
			}
		}
		edit.Changes[u.d.uri] = append(edit.Changes[u.d.uri],
			textEdit{u.d.text.span(u.o.start, u.o.end, s.enc), written})
	}
	return edit, nil
}

// spelling checks a new name. It returns the name itself and how it is written: reserved words and names with other
// signs stand in backquotes.
func spelling(asked string, unit bool) (name, written string, fault *ResponseError) {
	asked = strings.TrimSpace(asked)
	file := source.NewFile("name", asked)
	tokens := parser.Tokens(file, new(diag.List))
	if len(tokens) == 1 && tokens[0].End == len(asked) && tokens[0].Start == 0 {
		switch t := tokens[0]; t.Kind {
		case ast.IdentToken:
			if slices.Contains(predefined, t.Text) {
				return "", "", errorf(codeFailed, "%q is predefined; choose another name", asked)
			}
			return t.Text, asked, nil
		case ast.QuotedToken:
			if !unit && t.Text != "" {
				return t.Text, asked, nil
			}
		case ast.KeywordToken:
			return "", "", errorf(codeFailed,
				"%q is a word of the language; choose another name, or write it in backquotes", asked)
		}
	}
	return "", "", errorf(codeFailed, "%q is no name: names are letters, digits and _", asked)
}

var predefined = []string{"pi", "inf", "true", "false", "end", "nan"}

// clash returns why b cannot be called name in d, or nil. Either name means something else where b is used, or other
// uses of name would find b.
func (s *Server) clash(d *document, b *binding, name string) *ResponseError {
	x := d.syntax().index
	for _, at := range x.broken {
		if slices.ContainsFunc(tokensIn(d.parsed.tree, at),
			func(t ast.Token) bool { return t.Text == b.name || t.Text == name }) {
			return errorf(codeFailed, "line %d does not parse; mend it first, so that all uses are found",
				at.Begin().Line)
		}
	}
	taken := func(o *binding, off int) *ResponseError {
		if len(o.decl) > 0 {
			return errorf(codeFailed, "%q is declared in line %d of %s; choose another name", name,
				o.decl[0].Begin().Line, o.decl[0].File.Name())
		}
		return errorf(codeFailed, "%q means something else in line %d of %s; choose another name", name,
			d.parsed.tree.Source.LineAt(off), d.parsed.tree.Source.Name())
	}
	switch {
	case b.of != "": // a column, an argument, a unit, a name of a module
		for _, o := range x.all {
			if o.b.of == b.of && o.b.name == name {
				return taken(o.b, o.start)
			}
		}
	case b.in.IsZero():
		if o := x.globals[name]; o != nil {
			return taken(o, 0)
		}
		if n := typecheck.Find(d.known().Names, name); n != nil && n.Decl != nil && !slices.Contains(b.decl, n.Span) {
			return errorf(codeFailed, "%q is imported from %s; choose another name", name, n.Span.File.Name())
		}
	}
	// b must not be used within the scope of a local of that name, nor other uses of the name stand in the scope of b.
	if !b.in.IsZero() || b.of == "" {
		for _, o := range x.all {
			switch {
			case o.b.name != name || o.b.of != "" && !strings.HasPrefix(o.b.of, "fn ") || o.b == b:
			case !b.in.IsZero() && b.in.Start <= o.start && o.end <= b.in.End:
				return taken(o.b, o.start)
			case !o.b.in.IsZero() && slices.ContainsFunc(x.of(b),
				func(u occurrence) bool { return o.b.in.Start <= u.start && u.end <= o.b.in.End }):
				return taken(o.b, o.start)
			case b.in.IsZero() && len(o.b.decl) == 0: // a function of the language that the model calls
				return taken(o.b, o.start)
			}
		}
	}
	return nil
}

// tokensIn returns the tokens within at.
func tokensIn(f *ast.File, at source.Span) []ast.Token {
	i, _ := slices.BinarySearchFunc(f.Tokens, at.Start, func(t ast.Token, off int) int { return t.Start - off })
	j := i
	for j < len(f.Tokens) && f.Tokens[j].Start < at.End {
		j++
	}
	return f.Tokens[i:j]
}

// documentSymbol is the outline: what the file declares.
func (s *Server) documentSymbol(_ context.Context, d *document, _ *documentParams) (any, error) {
	list := s.declared(d)
	if s.client.Capabilities.TextDocument.DocumentSymbol.Hierarchical {
		return list, nil
	}
	flat := []flatSymbol{}
	for _, y := range list {
		flat = append(flat, flatSymbol{y.Name, y.Kind, location{d.uri, y.Range}})
	}
	return flat, nil
}

// declared lists what a model declares, in its order.
func (s *Server) declared(d *document) []symbol {
	list := []symbol{}
	add := func(kind, name string, id source.Span, node ast.Node, detail string, children ...symbol) {
		if name != "" {
			whole, own := d.text.span(node.Pos().Start, node.Pos().End, s.enc), d.text.span(id.Start, id.End, s.enc)
			list = append(list, symbol{name, detail, symbolOf(kind), whole, own, children})
		}
	}
	settings := func(of []*ast.Setting, kind string) (children []symbol) {
		outer := list
		list = nil
		for _, k := range of {
			add(kind, k.Key.Name, k.Key.Span, k, "")
		}
		children, list = list, outer
		return children
	}
	for _, item := range d.syntax().tree.Items {
		if it, ok := item.(*ast.Settings); ok {
			name := it.Block.Name
			if it.Name != nil {
				name += " " + it.Name.Name
			}
			add("settings", name, it.Block.Span, it, "", settings(it.List, "setting")...)
		}
		for _, n := range ast.Declarations(item) {
			name, detail, children := n.Name.Name, item.Keyword(), []symbol(nil)
			switch it := item.(type) {
			case *ast.Model:
				if it.Title != nil {
					detail = it.Title.Value
				}
			case *ast.Import:
				detail = it.Path.Value
			case *ast.Fn:
				detail = form("fn", parameters(it))
			case *ast.Data:
				children = settings(it.Settings, "column")
			case *ast.Equation:
				name = it.Target.Span.Text() + "'"
			}
			add(n.Kind, name, n.Name.Span, n.Node, detail, children...)
		}
	}
	return list
}

// foldingRange folds items and comments of several lines.
func (s *Server) foldingRange(_ context.Context, d *document, _ *documentParams) (any, error) {
	list := []folding{}
	line := func(off int) int { return d.text.position(off, utf8s).Line }
	for _, item := range d.syntax().tree.Items {
		at := item.Pos()
		if first, last := line(at.Start), line(max(at.Start, at.End-1)); last > first {
			list = append(list, folding{StartLine: first, EndLine: last})
		}
	}
	var comments []ast.Comment // those with a line of their own
	for _, c := range d.parsed.tree.Comments {
		if at := c.Span.Start; strings.TrimSpace(d.text.s[d.text.lines[line(at)]:at]) == "" {
			comments = append(comments, c)
		}
	}
	for i := 0; i < len(comments); {
		first := line(comments[i].Span.Start)
		j := i + 1
		for j < len(comments) && line(comments[j].Span.Start) == first+j-i {
			j++
		}
		if j-i > 2 {
			list = append(list, folding{first, first + j - i - 1, "comment"})
		}
		i = j
	}
	return list, nil
}
