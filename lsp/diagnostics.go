package lsp

import (
	"context"
	"path"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/typecheck"
)

// diagnostics returns what is wrong with d, as the client shows it.
func (s *Server) diagnostics(d *document) []diagnostic {
	list := []diagnostic{}
	for i := range d.found.Diagnostics {
		list = append(list, s.diagnostic(d, &d.found.Diagnostics[i]))
	}
	return list
}

func (s *Server) diagnostic(d *document, f *diag.Diagnostic) diagnostic {
	out := diagnostic{Severity: int(f.Level) + 1, Code: string(f.Code), Source: "odes", Message: f.Message}
	if f.Code == typecheck.CodeNoInfluence {
		out.Tags = []int{tagUnnecessary}
	}
	at, ok := s.locate(d, f.Span)
	switch {
	case ok && at.URI == d.uri:
		out.Range = at.Range
	case ok: // in a file that it imports: show the import, and point there
		out.Range = s.importOf(d, f.Span)
		out.Related = append(out.Related, relatedInfo{at, f.Message})
	case !f.Span.IsZero():
		out.Range = s.importOf(d, f.Span)
		out.Message = f.Span.File.Name() + ": " + f.Message
	}
	for _, r := range f.Related {
		if at, ok := s.locate(d, r.Span); ok {
			out.Related = append(out.Related, relatedInfo{at, r.Message})
		}
	}
	return out
}

// importOf returns the place of the import that brings in the file of at. It returns the start of d when the file comes
// through another one.
func (s *Server) importOf(d *document, at source.Span) textRange {
	for _, item := range d.parsed.tree.Items {
		if it, ok := item.(*ast.Import); ok && path.Clean(it.Path.Value) == at.File.Name() {
			return d.text.span(it.Path.Span.Start, it.Path.Span.End, s.enc)
		}
	}
	return textRange{}
}

// codeAction offers the fixes that diagnostics carry.
func (s *Server) codeAction(ctx context.Context, d *document, p *actionParams) (any, error) {
	actions := []codeAction{}
	if len(p.Context.Only) > 0 && !slices.ContainsFunc(p.Context.Only,
		func(k string) bool { return k == "quickfix" || k == "" }) {
		return actions, nil
	}
	if s.client.Capabilities.TextDocument.CodeAction.Literal == nil || !s.check(ctx, d) {
		return actions, nil
	}
	start, end := d.text.offset(p.Range.Start, s.enc), d.text.offset(p.Range.End, s.enc)
	for i := range d.found.Diagnostics {
		f := &d.found.Diagnostics[i]
		if f.Span.File != d.parsed.tree.Source || f.Span.Start > end || f.Span.End < start {
			continue
		}
		for _, fix := range f.Fixes {
			at, ok := s.locate(d, fix.Span)
			if !ok {
				continue
			}
			actions = append(actions, codeAction{
				Title: strings.ToUpper(fix.Message[:min(1, len(fix.Message))]) +
					fix.Message[min(1, len(fix.Message)):], Kind: "quickfix",
				Diagnostics: []diagnostic{s.diagnostic(d, f)}, Preferred: len(f.Fixes) == 1,
				Edit: workspaceEdit{map[string][]textEdit{at.URI: {{at.Range, fix.Text}}}},
			})
		}
	}
	return actions, nil
}
