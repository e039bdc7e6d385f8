package main

import (
	_ "embed"
	"html"
	"io/fs"
	"os"
	"path"
	"strings"
)

//go:embed playground.html
var playground string

// addPlayground adds the page on which one tries models, with a list of all examples.
func (s *site) addPlayground() error {
	names, err := fs.Glob(os.DirFS(s.root), "examples/*/*.ode")
	if err != nil {
		return err
	}
	var options strings.Builder
	for _, name := range names {
		shown := strings.TrimSuffix(path.Base(name), ".ode")
		if folder := path.Base(path.Dir(name)); folder != shown {
			shown = folder + ": " + shown
		}
		options.WriteString(`<option value="` + html.EscapeString(name) + `">` + html.EscapeString(shown) + "</option>")
	}
	page := strings.Replace(playground, "EXAMPLES", options.String(), 1)
	s.add("", "playground.md", "---\nhide-toc: true\n---\n\n# Playground\n\n```{raw} html\n"+page+"```\n")
	return nil
}

// addData copies what the models of a folder read, for the playground, which fetches it.
func (s *site) addData(folder string) error {
	for _, pattern := range []string{"*.csv", "*.mtx"} {
		list, err := s.glob(folder, pattern)
		if err != nil {
			return err
		}
		for _, name := range list {
			if err := s.copy(folder + "/" + name); err != nil {
				return err
			}
		}
	}
	return nil
}
