package main

import (
	"fmt"
	"strings"

	"odes.dev/odes/internal/front/report"
)

// example is a command line and what it is for.
type example struct{ line, does string }

// examples stand in --help and in the manual pages.
var examples = map[string][]example{
	"sens": {
		{"odes sens model.ode", "objectives and their gradients, as the model asks for them"},
		{"odes sens model.ode --of J --wrt 'k,initial(x)' --set k=2", "one objective, some variables, another point"},
		{"odes sens model.ode --error", "with an estimate of every error"},
		{"odes sens model.ode -o gradient.npz", "for other programs; also " + otherEndings("npz")},
	},
	"run": {
		{"odes run model.ode --times 0:0.1:10", "outputs at these times"},
		{"odes run model.ode -o run.csv", "at every step, for other programs"},
	},
	"ensemble": {
		{"odes ensemble model.ode", "1000 draws from the priors, or what the ensemble block says"},
		{"odes ensemble model.ode 'k ~ normal(1, 0.1)' -o out.npz", "every member in a file; if stopped, it goes on"},
		{"odes ensemble model.ode --times 0:0.1:10 --plot bands.svg", "where the outputs of most members are"},
		{"odes ensemble model.ode 'k ~ uniform(1, 2)' --sobol -n 1024", "how much each value matters"},
	},
	"sweep": {
		{"odes sweep model.ode k from 0.1 to 10", "results over a param; the spacing is that of its logarithm"},
		{"odes sweep model.ode k from 1 to 2 points 50 c --plot map.svg", "over two, as a heat map"},
		{"odes sweep model.ode k from 0 to 2 --steady --plot folds.svg", "the steady state, past folds"},
	},
	"fit": {
		{"odes fit model.ode -o fitted.ode", "estimate params; write the model with the estimates"},
		{"odes fit model.ode --starts 50 --resume starts.txt", "from many points; go on from there after Ctrl-C"},
		{"odes fit model.ode --draw profiles=p.svg --draw waterfall", "with pictures"},
		{"odes fit model.ode --set k2=0.3 --format json", "from another start, for other programs"},
	},
	"worker": {
		{"odes worker --nats nats://host:4222", "compute for those who say --workers nats://host:4222"},
	},
	"queue": {
		{"odes queue status --nats nats://host:4222", "which jobs there are, and how far they are"},
		{"odes queue cancel 0123456789abcdef0123456789abcdef", "stop one, on all workers"},
		{"odes queue serve --listen 0.0.0.0:4222", "a server for a cluster that has none"},
	},
	"plot": {
		{"odes plot model.ode", "all outputs, with data, on the terminal"},
		{"odes plot model.ode x against v -o phase.svg", "a phase plane, as a file"},
		{"odes plot model.ode 'd(J)'", "what an objective depends on most"},
		{"odes plot model.ode 'd(x)/d(k)'", "a sensitivity over time"},
		{"odes plot model.ode 'adjoint(J)' --dark -o adjoint.png", "adjoint states, light on dark"},
		{"odes plot model.ode sweep k from 0.1 to 10 of J, x", "how results depend on a param"},
	},
	"report": {
		{"odes report model.ode -o report.html", "a page: course, objectives, derivatives, events, params, text"},
		{"odes report model.ode --fit -o report.html", "with a fit to the data, and all that at the estimates"},
	},
	"repl": {
		{"odes repl model.ode", "explore it; help lists what there is"},
		{"odes repl model.ode < entries.txt", "run entries from a file; status 3 when one fails"},
	},
	"new": {
		{"odes new", "list the templates"},
		{"odes new --template pk model.ode", "write one"},
	},
	"import": {
		{"odes import model.xml -o model.ode", "translate SBML; odes sens model.xml does so by itself"},
	},
	"export": {
		{"odes export model.ode -o model.xml", "in SBML"},
		{"odes export model.ode --in low -o model.c", "an experiment, in C"},
		{"odes export model.ode -o model.tex", "its equations, for a text"},
	},
	"lsp": {
		{"odes lsp", "started by an editor, to check, explain and complete models: see docs/editors.md"},
	},
	"serve": {
		{"odes serve", "started by a program, such as Python's package odes: see docs/serve.md"},
	},
	"check": {
		{"odes check *.ode", "what is wrong, where, and how to mend it"},
		{"odes check --identifiable model.ode", "which params its data can tell"},
	},
	"verify": {
		{"odes verify model.ode --directions 10", "check along more directions"},
	},
	"fmt": {
		{"odes fmt -w model.ode", "format it in place"},
		{"odes fmt -d *.ode", "show what would change"},
	},
	"flatten": {
		{"odes flatten model.ode -o flat.ode", "what its components are, in one file"},
	},
	"emit": {
		{"odes emit --stage vjp model.ode", "show the transposes of all tapes"},
	},
	"bench": {
		{"odes bench model.ode --runs 15 --format json", "as JSON, for comparisons"},
	},
	"doc": {
		{"odes doc", "list all names"},
		{"odes doc interp", "explain a function; words, units, methods and messages likewise"},
	},
	"completion": {
		{"source <(odes completion bash)", "in ~/.bashrc"},
		{"odes completion zsh > \"${fpath[1]}/_odes\"", "once, in zsh"},
		{"odes completion fish > ~/.config/fish/completions/odes.fish", "once, in fish"},
	},
	"man": {
		{"odes man sens | man -l -", "read the page of a command"},
	},
}

// otherEndings lists the endings of files that hold gradients in full, but for one of them.
func otherEndings(but string) string {
	return strings.Join(report.OtherEndings(but, report.HasSensitivities), ", ")
}

// exampleHelp is what --help shows of the examples of a command.
func exampleHelp(command string) string {
	var b strings.Builder
	b.WriteString("Examples:\n\n")
	for _, e := range examples[command] {
		fmt.Fprintf(&b, "    %s\n        %s\n", e.line, e.does)
	}
	return b.String()
}

// Help is the part of --help that kong asks a command for.
func (*sensCmd) Help() string       { return exampleHelp("sens") }
func (*runCmd) Help() string        { return exampleHelp("run") }
func (*ensembleCmd) Help() string   { return exampleHelp("ensemble") }
func (*sweepCmd) Help() string      { return exampleHelp("sweep") }
func (*workerCmd) Help() string     { return exampleHelp("worker") }
func (*queueCmd) Help() string      { return exampleHelp("queue") }
func (*fitCmd) Help() string        { return exampleHelp("fit") }
func (*plotCmd) Help() string       { return exampleHelp("plot") }
func (*reportCmd) Help() string     { return exampleHelp("report") }
func (*replCmd) Help() string       { return exampleHelp("repl") }
func (*newCmd) Help() string        { return exampleHelp("new") }
func (*importCmd) Help() string     { return exampleHelp("import") }
func (*exportCmd) Help() string     { return exampleHelp("export") }
func (*checkCmd) Help() string      { return exampleHelp("check") }
func (*verifyCmd) Help() string     { return exampleHelp("verify") }
func (*fmtCmd) Help() string        { return exampleHelp("fmt") }
func (*flattenCmd) Help() string    { return exampleHelp("flatten") }
func (*emitCmd) Help() string       { return exampleHelp("emit") }
func (*benchCmd) Help() string      { return exampleHelp("bench") }
func (*docCmd) Help() string        { return exampleHelp("doc") }
func (*completionCmd) Help() string { return exampleHelp("completion") }
func (*manCmd) Help() string        { return exampleHelp("man") }
func (*lspCmd) Help() string        { return exampleHelp("lsp") }
func (*serveCmd) Help() string      { return exampleHelp("serve") }
