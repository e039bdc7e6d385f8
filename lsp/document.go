package lsp

import (
	"context"
	"path"

	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/typecheck"
)

// document is an open file.
type document struct {
	uri     string
	path    string // "" when it lies in no folder
	version int
	text    *text
	parsed  *parsed           // of the text; nil until it is asked for
	found   *compile.Findings // of the last check, which may be of an older text
	of      *parsed           // the text that found is about
	stale   bool              // found is not of what is there now
	due     bool              // its diagnostics have not been sent
	reads   map[string]bool   // paths that the last check looked for
}

// parsed is what follows from the text of a document alone.
type parsed struct {
	tree  *ast.File
	found []diag.Diagnostic
	index *index
}

// largest is the length in bytes up to which a text is compiled while it is edited. Compilation finds what checking
// cannot, and takes a few times as long.
const largest = 200_000

// most is the length in bytes up to which there are answers about a text. Reading a longer one again after each key
// would take seconds.
const most = 2 << 20

// tooLong reports whether nothing is said of d but that.
func (d *document) tooLong() bool { return len(d.text.s) > most }

// syntax returns what follows from the text of d.
func (d *document) syntax() *parsed { return d.parse(context.Background()) }

// parse is syntax, or nil where ctx ends before.
func (d *document) parse(ctx context.Context) *parsed {
	if d.parsed == nil {
		name := "untitled.ode"
		if d.path != "" {
			name = path.Base(d.path)
		}
		var l diag.List
		l.While(ctx.Done())
		defer diag.Leave()
		tree := parser.Parse(source.NewFile(name, d.text.s), &l)
		d.parsed = &parsed{tree: tree, found: l.All(), index: newIndex(tree)}
	}
	return d.parsed
}

// check brings what is known of d up to date, and reports whether it is.
func (s *Server) check(ctx context.Context, d *document) bool {
	if !d.stale && d.found != nil {
		return true
	}
	if d.tooLong() {
		d.found, d.of, d.stale, d.reads = &compile.Findings{Diagnostics: []diag.Diagnostic{{
			Code: typecheck.CodeSize, Level: diag.Warning,
			Message: "this text is too long for an editor: it is checked up to 2 MiB, and longer by odes check",
		}}}, nil, false, nil
		return true
	}
	p := d.parse(ctx)
	if p == nil {
		return false
	}
	files := s.folder(ctx, d)
	found, err := compile.Examine(ctx, p.tree, p.found, len(d.text.s) <= largest, files)
	if err != nil {
		return false
	}
	if library(p.tree) {
		found.Diagnostics = withoutMissing(found.Diagnostics)
	}
	d.found, d.of, d.stale, d.reads = &found, p, false, files.read
	return true
}

// survey returns what is known of the names of d, after a check if need be. After a cancelled check, it is what was
// known before.
func (s *Server) survey(ctx context.Context, d *document) *typecheck.Survey {
	s.check(ctx, d)
	return d.known()
}

// known returns what is known of the names of d without a check. It may be about an older text.
func (d *document) known() *typecheck.Survey {
	if d.found == nil {
		return &typecheck.Survey{}
	}
	return &d.found.Survey
}

// folder is where d finds its files.
func (s *Server) folder(ctx context.Context, d *document) *overlay {
	o := &overlay{open: map[string]string{}, read: map[string]bool{}}
	if d.path == "" {
		return o
	}
	o.folder = path.Dir(d.path)
	if s.cfg.Files != nil {
		o.disk = s.cfg.Files(ctx, o.folder)
	}
	for _, other := range s.order {
		if other.path != "" {
			o.open[key(other.path)] = other.text.s
		}
	}
	return o
}

// library reports whether f is a file for others to import, and no model: it has functions, consts and units only.
func library(f *ast.File) bool {
	for _, item := range f.Items {
		switch it := item.(type) {
		case *ast.Fn, *ast.UnitDecl, *ast.Import:
		case *ast.Decl:
			if it.Kind != ast.Const {
				return false
			}
		default:
			return false
		}
	}
	return len(f.Items) > 0
}

// withoutMissing removes the diagnostics that say that a library lacks what a model needs.
func withoutMissing(list []diag.Diagnostic) []diag.Diagnostic {
	var kept []diag.Diagnostic
	for _, d := range list {
		if d.Code != typecheck.CodeMissing || d.Span.End > 0 {
			kept = append(kept, d)
		}
	}
	return kept
}
