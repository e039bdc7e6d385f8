package lsp

import (
	"context"
	"io/fs"
	"path"
	"strings"
	"unicode"
)

// Bounds of a search for symbols: an answer must come while someone types.
const (
	mostFiles   = 500
	mostFolders = 2000
	mostBytes   = 1 << 20 // of a file
	mostSymbols = 1000
)

type workspaceSymbolParams struct {
	Query string `json:"query"`
}

// workspaceSymbol lists what the models of the client's folders declare, and open models anywhere, as far as the
// letters of the query stand in a name in their order.
func (s *Server) workspaceSymbol(ctx context.Context, p *workspaceSymbolParams) (any, error) {
	list := []flatSymbol{}
	add := func(d *document) {
		var visit func(its []symbol)
		visit = func(its []symbol) {
			for _, y := range its {
				if len(list) < mostSymbols && mentions(y.Name, p.Query) {
					list = append(list, flatSymbol{y.Name, y.Kind, location{d.uri, y.SelectionRange}})
				}
				visit(y.Children)
			}
		}
		visit(s.declared(d))
	}
	seen := map[string]bool{}
	for _, d := range s.order {
		if seen[key(d.path)] = d.path != ""; !d.tooLong() {
			add(d)
		}
	}
	for _, folder := range s.client.folders() {
		s.models(ctx, folder, seen, add)
	}
	return list, nil
}

// folders are those that the client works in.
func (p *initializeParams) folders() []string {
	var list []string
	for _, f := range p.WorkspaceFolders {
		if at := pathOf(f.URI); at != "" {
			list = append(list, at)
		}
	}
	if at := pathOf(p.RootURI); len(list) == 0 && at != "" {
		list = append(list, at)
	}
	return list
}

// models visits the models in a folder and the folders below it that were not seen.
func (s *Server) models(ctx context.Context, folder string, seen map[string]bool, visit func(*document)) {
	if s.cfg.Files == nil {
		return
	}
	files := s.cfg.Files(ctx, folder)
	if files == nil {
		return
	}
	found, folders := 0, 0
	// What cannot be read is left out.
	_ = fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil || found >= mostFiles || folders >= mostFolders:
			return fs.SkipAll
		case err != nil && e != nil && e.IsDir(), err == nil && e.IsDir() && hidden(e.Name()):
			return fs.SkipDir
		case err != nil:
			return nil
		case e.IsDir():
			folders++
			return nil
		}
		at := path.Join(folder, name)
		if !e.Type().IsRegular() || !strings.HasSuffix(name, ".ode") || seen[key(at)] {
			return nil
		}
		seen[key(at)] = true
		if info, err := e.Info(); err != nil || info.Size() > mostBytes {
			return nil
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil
		}
		found++
		visit(&document{uri: uriOf(at), path: at, text: newText(string(text))})
		return nil
	})
}

// hidden tells whether a folder holds what tools keep, not models that someone writes.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") && name != "." || name == "node_modules"
}

// mentions tells whether the letters of a query stand in a name in their order, whatever their case.
func mentions(name, query string) bool {
	rest := []rune(query)
	for _, r := range name {
		if len(rest) > 0 && unicode.ToLower(r) == unicode.ToLower(rest[0]) {
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}
