package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/output"
)

//go:generate go run . man --write ../../docs/man

// manCmd is odes man.
type manCmd struct {
	global
	Command string `arg:"" optional:"" help:"Command whose page to print; without it, the page of odes."`
	Write   string `placeholder:"FOLDER" help:"Write all pages into this folder: odes.1, odes-sens.1, …"`
}

// exits say what the exit statuses mean.
var exits = []struct {
	status int
	means  string
}{
	{exitDone, "Done."},
	{exitModel, "The model is wrong; diagnostics were printed."},
	{exitUsage, "The command line is wrong."},
	{exitRun, "The run failed, a number is not to be trusted, there is too little memory, or a file could not be " +
		"read or written."},
	{exitWrong, "odes verify found a wrong gradient."},
	{exitInterrupted, "Interrupted."},
}

// variable is one of the environment.
type variable struct{ name, text string }

// environment lists the variables that odes reads.
var environment = []variable{
	{name: "NO_COLOR", text: "If it is set to anything, text is plain, as with --no-color."},
	{name: "COLUMNS", text: "Width of tables and pictures where the output is no terminal."},
	{name: "VISUAL", text: "Editor of odes repl, before EDITOR."},
	{name: "EDITOR", text: "Editor of odes repl."},
	{name: "ODES_HISTORY", text: "File that odes repl keeps its history in, instead of ~/.local/state/odes/history."},
	{name: "ODES_BACKEND", text: "How the processor is used: generic, avx2, avx512, native or native256. " +
		"native makes machine code for the model, and native256 does so without AVX-512. " +
		"Without it, odes takes the fastest that the machine has. Results do not depend on it."},
}

// Run prints a manual page, made of the same descriptions as --help.
func (k *manCmd) Run(c *call) error {
	c.configure(k.global, formatFlag{})
	p, err := newParser(allCommands(), c.out, c.err)
	if err != nil {
		return err
	}
	root := p.Model.Node
	if k.Write != "" {
		if err := os.MkdirAll(k.Write, 0o777); err != nil {
			return output.Wrap(k.Write, err)
		}
		for _, n := range append([]*kong.Node{root}, root.Children...) {
			text := manPage(root, n)
			if err := c.write(filepath.Join(k.Write, pageName(root, n)+".1"), func(w io.Writer) error {
				_, err := io.WriteString(w, text)
				return err
			}); err != nil {
				return err
			}
		}
		return nil
	}
	node := root
	for _, n := range root.Children {
		if n.Name == k.Command {
			node = n
		}
	}
	if k.Command != "" && node == root {
		all := strings.ReplaceAll(commandNames(root), " ", ", ")
		return usagef("there is no command %q; there are %s", k.Command, all)
	}
	if isTerminal(c.out) {
		if c.readManual(pageName(root, node), manPage(root, node)) {
			return nil
		}
		return c.page(plainPage(manPage(root, node), c.width(c.out)))
	}
	_, err = io.WriteString(c.out, manPage(root, node))
	return cannotPrint(err)
}

// readManual shows a page as man shows those that are installed, with a pager. It reports whether it could.
func (c *call) readManual(name, page string) bool {
	reader, err := exec.LookPath("man")
	if err != nil {
		return false
	}
	folder, err := os.MkdirTemp("", "odes-man-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, name+".1")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		return false
	}
	show := exec.CommandContext(c.ctx, reader, path)
	show.Stdin, show.Stdout = os.Stdin, os.Stdout
	return show.Run() == nil
}

func pageName(root, n *kong.Node) string {
	if n == root {
		return "odes"
	}
	return "odes-" + n.Name
}

// roff quotes text for troff.
func roff(s string) string {
	s = strings.NewReplacer(
		`\`, `\e`, "-", `\-`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`, "…", `\&...`, "–", `\(en`,
	).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

// manPage writes the page of a command, or that of odes.
func manPage(root, n *kong.Node) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	name := pageName(root, n)
	line(".TH %s 1 \"\" \"odes %s\" \"odes\"", strings.ToUpper(roff(name)), odes.Version)
	line(".SH NAME")
	if n == root {
		line("odes \\- gradients of ODE models from a text file")
		line(".SH SYNOPSIS\n.B odes\n.I command\n.RI [ arguments ]")
		line(".SH DESCRIPTION")
		line("%s", roff("odes solves models made of ordinary differential equations and events, "+
			"which it reads from a text file, and differentiates what is asked of them by their parameters. "+
			"odes doc explains the language."))
		line(".SH COMMANDS")
		for _, each := range n.Children {
			line(".TP\n.BR odes\\-%s (1)\n%s", roff(each.Name), roff(each.Help))
		}
	} else {
		line("%s \\- %s", roff(name), roff(lowerFirst(strings.TrimSuffix(n.Help, "."))))
		line(".SH SYNOPSIS\n.B odes %s\n.RI [ flags ]", roff(n.Name))
		for _, a := range n.Positional {
			if a.Required {
				line(".I %s", roff(a.Name))
			} else {
				line(".RI [ %s ]", roff(a.Name))
			}
		}
		if len(n.Positional) > 0 {
			line(".SH ARGUMENTS")
			for _, a := range n.Positional {
				line(".TP\n.I %s\n%s", roff(a.Name), roff(a.Help))
			}
		}
	}
	line(".SH OPTIONS")
	for _, f := range flagsOf(n) {
		head := "--" + f.Name
		if f.Short != 0 {
			head = fmt.Sprintf("-%c, %s", f.Short, head)
		}
		if f.IsBool() {
			line(".TP\n.B %s\n%s", roff(head), roff(f.Help))
			continue
		}
		line(".TP\n\\fB%s\\fR=\\fI%s\\fR\n%s", roff(head), roff(strings.Trim(f.FormatPlaceHolder(), `"`)), roff(f.Help))
	}
	if list := examples[n.Name]; n != root && len(list) > 0 {
		line(".SH EXAMPLES")
		for _, e := range list {
			line(".TP\n\\fB%s\\fR\n%s", roff(e.line), roff(upperFirst(e.does)+"."))
		}
	}
	line(".SH EXIT STATUS")
	for _, e := range exits {
		line(".TP\n.B %d\n%s", e.status, roff(e.means))
	}
	line(".SH ENVIRONMENT")
	for _, e := range environment {
		line(".TP\n.B %s\n%s", roff(e.name), roff(e.text))
	}
	line(".SH SEE ALSO")
	var others []string
	for _, each := range append([]*kong.Node{root}, root.Children...) {
		if each != n {
			others = append(others, ".BR "+roff(pageName(root, each))+" (1)")
		}
	}
	line("%s", strings.Join(others, ",\n"))
	return b.String()
}
