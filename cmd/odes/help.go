package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"odes.dev/odes/internal/base/screen"
)

// commandGroups are the groups in which odes --help lists commands, in the order of a user's day. What is in no group
// is added to the first one. The last one is listed by names alone: few need it, and all fit on one screen.
var commandGroups = []struct {
	title string
	names []string
}{
	{"run", []string{"sens", "run", "sweep", "ensemble", "plot", "report"}},
	{"fit", []string{"fit", "select", "sample", "predict", "simulate"}},
	{"explore", []string{"repl", "new", "doc", "check", "verify"}},
	{"exchange", []string{"import", "export", "flatten"}},
	{tools, []string{"fmt", "emit", "bench", "lsp", "serve", "worker", "queue", "version", "completion", "man"}},
}

const tools = "tools"

// printHelp prints the help on a command, as kong does, or on odes as a whole: all commands on one screen.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if ctx.Selected() != nil {
		return kong.DefaultHelpPrinter(options, ctx)
	}
	_, err := fmt.Fprint(ctx.Stdout, overview(ctx.Model.Node, helpWidth(ctx)))
	return err
}

// helpWidth is how wide the help may be.
func helpWidth(ctx *kong.Context) int {
	width := unknownWidth
	if f := file(ctx.Stdout); f != nil {
		if n := terminalWidth(f); n > 0 {
			width = n
		}
	}
	return min(width, 100)
}

// overview lists the commands of odes in their groups, within a width.
func overview(root *kong.Node, width int) string {
	var b strings.Builder
	b.WriteString("Gradients of ODE models from a text file.\n\nUsage: odes <command> [flags]; " +
		"odes <command> --help says more. A first try:\n  odes sens examples/bounce/bounce.ode\n")
	grouped := map[string]bool{}
	for _, g := range commandGroups {
		for _, name := range g.names {
			grouped[name] = true
		}
	}
	for i, g := range commandGroups {
		var nodes []*kong.Node
		for _, n := range root.Children {
			if slices.Contains(g.names, n.Name) || i == 0 && !grouped[n.Name] && !n.Hidden {
				nodes = append(nodes, n)
			}
		}
		fmt.Fprintf(&b, "\n%s\n", g.title)
		if g.title == tools {
			var names []string
			for _, n := range nodes {
				names = append(names, n.Name)
			}
			fmt.Fprintf(&b, "  %s\n", screen.Fold(strings.Join(names, ", "), width-2, "  "))
			continue
		}
		for _, n := range nodes {
			b.WriteString(screen.Fold(fmt.Sprintf("  %-9s %s", n.Name, n.Help), width, strings.Repeat(" ", 12)) + "\n")
		}
	}
	return b.String()
}

// workersGroup sets apart the flags that say who computes: few have workers elsewhere.
var workersGroup = &kong.Group{Key: "workers", Title: "Flags for workers on other machines:"}

// ofWorkers reports whether a flag is of that group.
func ofWorkers(name string) bool { return strings.HasPrefix(name, "nats-") || name == "workers" }
