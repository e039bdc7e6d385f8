package main

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"odes.dev/odes/lang/diag"
)

// newCmd is odes new.
type newCmd struct {
	global
	File     string `arg:"" optional:"" help:"File to write; - is standard output. Without it, list the templates."`
	Template string `placeholder:"NAME" default:"mechanics" help:"Template to start from: {templates}."`
	Force    bool   `help:"Replace a file that exists."`
}

// templates are commented models to start from. Each runs as it is.
//
//go:embed templates/*.ode
var templates embed.FS

// templateNames lists the templates.
func templateNames() []string {
	list, err := fs.Glob(templates, "templates/*.ode")
	if err != nil {
		panic(err) // the pattern is ours
	}
	for i, name := range list {
		list[i] = strings.TrimSuffix(filepath.Base(name), ".ode")
	}
	return list
}

// Run writes a model to start from.
func (n *newCmd) Run(c *call) error {
	c.configure(n.global, formatFlag{})
	names := templateNames()
	if n.File == "" {
		for _, name := range names {
			text, err := templates.ReadFile("templates/" + name + ".ode")
			if err != nil {
				return err
			}
			fmt.Fprintf(c.out, "%-10s  %s\n", name, strings.TrimLeft(strings.SplitN(string(text), "\n", 2)[0], "# "))
		}
		fmt.Fprintln(c.out, "\nodes new --template <name> model.ode writes one.")
		return nil
	}
	if !slices.Contains(names, n.Template) {
		near := diag.DidYouMean(n.Template, names)
		return usagef("there is no template %q%s; there are %s", n.Template, near, strings.Join(names, ", "))
	}
	text, err := templates.ReadFile("templates/" + n.Template + ".ode")
	if err != nil {
		return err
	}
	if n.File == "-" {
		_, err := c.out.Write(text)
		return err
	}
	if _, err := os.Lstat(n.File); !n.Force && !errors.Is(err, fs.ErrNotExist) {
		return usagef("%s exists: choose another name, or replace it with --force", n.File)
	}
	if err := c.write(n.File, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}); err != nil {
		return err
	}
	if !c.quiet {
		fmt.Fprintf(c.err, "wrote %s; next: odes plot %[1]s, odes sens %[1]s, odes repl %[1]s\n", n.File)
	}
	return nil
}
