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
		name, shown = html.EscapeString(name), html.EscapeString(shown)
		options.WriteString(`<option value="` + name + `">` + shown + "</option>")
	}
	page := strings.Replace(playground, "EXAMPLES", options.String(), 1)
	text := "---\nhide-toc: true\n---\n\n# Playground\n\n```{raw} html\n" + page + "```\n" + aboutPlayground
	s.add("", "playground.md", text)
	s.target["site/playground.md"] = "playground.md" // the home page leads there
	return nil
}

const aboutPlayground = `
## About this page

Language and solvers run in your browser as WebAssembly: the same code as the command, with the same bits, on one
thread. The first visit loads 6 MB. Data files stay in the page as well. A link holds the model, its files and the
values that you moved, compressed, in the part of the address behind the sign #, which browsers send to nobody.

Values are first computed alone, so that pictures follow your hand, and compared with an independent run once nothing
moves. On pictures, drag to zoom and click twice to see all; by keyboard, arrows read values, + and - zoom, and Escape
shows all. Fits, ensembles, and models of other programs need the command.
`

// publish copies models of a folder, and what they read, to where the playground fetches them: conf.py makes files of
// the site of what lies in _models.
func (s *site) publish(folder string) error {
	for _, pattern := range []string{"*.ode", "*.csv", "*.mtx"} {
		list, err := s.glob(folder, pattern)
		if err != nil {
			return err
		}
		for _, name := range list {
			text, err := s.read(folder + "/" + name)
			if err != nil {
				return err
			}
			if err := s.write("_models/"+folder+"/"+name, text); err != nil {
				return err
			}
		}
	}
	return nil
}
