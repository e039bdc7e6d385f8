package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"

	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/parser"
	"odes.dev/odes/plot"
)

// completionCmd is odes completion.
type completionCmd struct {
	global
	Shell string `arg:"" enum:"bash,zsh,fish,names" help:"bash, zsh or fish."`
	For   string `arg:"" optional:"" hidden:"" help:"With names, of what: of, wrt, set or plot."`
	Model string `arg:"" optional:"" hidden:"" help:"With names, the model to look in."`
}

// Run writes a script that completes commands, flags, their values and model files:
//
//	source <(odes completion bash)
//
// With names it writes what a model has for a flag, one on each line: what such a script asks for.
func (k *completionCmd) Run(c *call) error {
	if k.Shell == "names" {
		return k.names(c)
	}
	if k.For != "" {
		return usagef("%q is one argument too many", k.For)
	}
	p, err := newParser(allCommands(), c.out, c.err)
	if err != nil {
		return err
	}
	script := map[string]func(*kong.Node) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[k.Shell]
	_, err = fmt.Fprint(c.out, script(p.Model.Node))
	return err
}

// names writes the names of a model that fit a flag. A model with errors has those that can be read.
func (k *completionCmd) names(c *call) error {
	list, ok := namesFor[k.For]
	if !ok || k.Model == "" {
		return usagef("write odes completion names of model.ode, or wrt, set, plot in the place of of")
	}
	text, name, folder, err := c.source(k.Model)
	if err != nil {
		return err
	}
	files := input.Folder(folder, &c.seen)
	if translated, _ := compile.Import(name, text, files, "", new(diag.List)); translated != nil {
		text = translated.Text()
	}
	items, _ := parser.Outline(name, text)
	var words []string
	for _, it := range items {
		for _, format := range list[it.Kind] {
			for _, p := range it.Parts {
				name, _, _ := strings.Cut(strings.TrimSuffix(p.Name, "'"), "[")
				words = append(words, fmt.Sprintf(format, strings.TrimSpace(name)))
			}
		}
	}
	slices.Sort(words)
	words = append(slices.Compact(words), list[""]...)
	_, err = fmt.Fprintln(c.out, strings.Join(words, "\n"))
	return err
}

// namesFor says what may stand behind flags, and behind the model of odes plot: for kinds of items, forms of the names
// that they declare, and at "" what models do not declare.
var namesFor = map[string]map[string][]string{
	"of":  {"objective": {"%s"}},
	"wrt": {"param": {"%s"}, "control": {"%s"}, "state": {"initial(%s)"}},
	"set": {"param": {"%s="}, "control": {"%s="}, "state": {"initial(%s)="}},
	"plot": {
		"param": {"%s"}, "control": {"%s"}, "state": {"%s"}, "output": {"%s"}, "let": {"%s"}, "discrete": {"%s"},
		"experiment": {"%s"},
		"objective":  {"d(%s)", "adjoint(%s)"},
		"":           {"against", "band", "from", "in", "of", "points", "steps", "sweep", "time", "to"},
	},
}

// modelEndings are those of files with models, of other programs as well, as an alternative of patterns.
const modelEndings = "ode|xml|sbml|yaml|yml"

// flagsOf returns the flags of a command.
func flagsOf(n *kong.Node) []*kong.Flag {
	var list []*kong.Flag
	for _, group := range n.AllFlags(true) {
		list = append(list, group...)
	}
	return list
}

func commandNames(root *kong.Node) string {
	var names []string
	for _, n := range root.Children {
		names = append(names, n.Name)
	}
	return strings.Join(names, " ")
}

// choices returns the values that a flag of a command takes.
func choices(n *kong.Node, f *kong.Flag) string {
	switch f.Name {
	case "format":
		if n.Name == "export" {
			return strings.Join(exportNames(), " ")
		}
		return strings.Join(report.Names(formatsOf(n.Name)), " ")
	case "method":
		return strings.Join(settings.Words("solver", "method"), " ")
	case "mode":
		return strings.Join(settings.Words("sens", "mode"), " ")
	case "stage":
		return strings.Join(stageNames(), " ")
	case "template":
		return strings.Join(templateNames(), " ")
	}
	if at := slices.IndexFunc(plot.Options(), func(o plot.Option) bool { return o.Name == f.Name }); at >= 0 {
		return strings.Join(plot.Options()[at].Words, " ")
	}
	return ""
}

// ofModel tells whether a flag takes names of the model.
func ofModel(f *kong.Flag) bool { return namesFor[f.Name] != nil }

// isFile tells whether a flag names a file.
func isFile(f *kong.Flag) bool { return f.Name == "output" || f.Name == "stats" }

// subjects returns the words that a command is about, or "" when it takes model files.
func subjects(root, n *kong.Node) string {
	switch n.Name {
	case "completion":
		return "bash zsh fish"
	case "man":
		return commandNames(root)
	case "doc":
		var names []string
		special := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' }
		for _, w := range subjectNames() {
			if !strings.ContainsFunc(w, special) {
				names = append(names, w)
			}
		}
		slices.Sort(names)
		return strings.Join(slices.Compact(names), " ")
	}
	return ""
}

func bashScript(root *kong.Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, `_odes_names() { # what the model on the line has for a flag
	local w models='\.(%s)$'
	for w in "${COMP_WORDS[@]:2}"; do
		if [[ $w =~ $models && -f $w ]]; then command odes completion names "$1" "$w" 2>/dev/null; return; fi
	done
}
_odes() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} flags= words= list=
	# --format=json is three words
	if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
	if ((COMP_CWORD == 1)); then COMPREPLY=($(compgen -W '%s' -- "$cur")); return; fi
	case $command$prev in
`, modelEndings, commandNames(root))
	for _, n := range root.Children {
		for _, f := range flagsOf(n) {
			if words := choices(n, f); words != "" {
				fmt.Fprintf(&b, "\t%s--%s) words='%s' ;;\n", n.Name, f.Name, words)
			}
			if ofModel(f) {
				fmt.Fprintf(&b, "\t%s--%s) words=$(_odes_names %[2]s) list=%[2]s ;;\n", n.Name, f.Name)
			}
			if isFile(f) {
				fmt.Fprintf(&b, "\t%s--%s%s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n",
					n.Name, f.Name, short(f, "|"+n.Name+"-"))
			}
		}
	}
	b.WriteString(`	esac
	if [[ $list ]]; then
		cur=${cur#[\"\']}
		case $list in
		set) compopt -o nospace 2>/dev/null; COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
		*) # a list with commas
			local before=
			if [[ $cur == *,* ]]; then before=${cur%,*},; fi
			COMPREPLY=($(compgen -P "$before" -W "$words" -- "${cur##*,}")) ;;
		esac
		return
	fi
	if [[ $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); return; fi
	case $command in
`)
	for _, n := range root.Children {
		var flags []string
		for _, f := range flagsOf(n) {
			flags = append(flags, "--"+f.Name)
		}
		fmt.Fprintf(&b, "\t%s) flags='%s' words='%s' ;;\n", n.Name, strings.Join(flags, " "), subjects(root, n))
	}
	b.WriteString(`	esac
	if [[ $command == plot && ! $words ]]; then words=$(_odes_names plot) cur=${cur#[\"\']}; fi
	if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$cur")); return; fi
	if [[ $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); return; fi
	COMPREPLY=($(compgen -f -- "$cur" | grep -E '\.(` + modelEndings + `)$') $(compgen -d -- "$cur"))
}
complete -o filenames -F _odes odes
`)
	return b.String()
}

// short returns the one-letter form of a flag, after the text before; "" when there is none.
func short(f *kong.Flag, before string) string {
	if f.Short == 0 {
		return ""
	}
	return before + string(f.Short)
}

// zshScript returns a script that works both as a file in fpath, whose body is the function, and with source.
func zshScript(root *kong.Node) string {
	quote := func(s string) string {
		return strings.NewReplacer("'", "'\\''", "[", "\\[", "]", "\\]", ":", "\\:").Replace(s)
	}
	var b strings.Builder
	b.WriteString(`#compdef odes
_odes_names() { # what the model on the line has for a flag
	local w
	local -a found
	for w in $words; do
		if [[ $w == *.(` + modelEndings + `) && -f $w ]]; then
			found=(${(f)"$(command odes completion names $1 $w 2>/dev/null)"})
			break
		fi
	done
	case $1 in
	set) compadd -S '' -a found ;;
	plot) compadd -a found ;;
	*) compset -P '*,'; compadd -q -S ' ' -a found ;;
	esac
}
_odes() {
	if ((CURRENT == 2)); then
		local -a commands=(
`)
	for _, n := range root.Children {
		fmt.Fprintf(&b, "\t\t\t'%s:%s'\n", n.Name, quote(n.Help))
	}
	b.WriteString(`		)
		_describe command commands
		return
	fi
	local command=$words[2]
	shift words; ((CURRENT--))
	case $command in
`)
	for _, n := range root.Children {
		fmt.Fprintf(&b, "\t%s) _arguments -s -S", n.Name)
		for _, f := range flagsOf(n) {
			value, assign, either := "", "", ""
			switch {
			case choices(n, f) != "":
				value = ":" + f.Name + ":(" + choices(n, f) + ")"
			case ofModel(f):
				value = ":" + f.Name + ": _odes_names " + f.Name
			case isFile(f):
				value = ":file:_files"
			case !f.IsBool():
				value = ":value:"
			}
			if value != "" {
				assign = "="
			}
			switch {
			case f.Name == "set":
				either = "*" // as often as one likes
			case f.Short != 0:
				either = fmt.Sprintf("(-%c --%s)", f.Short, f.Name)
				letter := fmt.Sprintf("-%c", f.Short)
				if value != "" {
					letter += "+"
				}
				fmt.Fprintf(&b, " \\\n\t\t'%s%s[%s]%s'", either, letter, quote(f.Help), value)
			}
			fmt.Fprintf(&b, " \\\n\t\t'%s--%s%s[%s]%s'", either, f.Name, assign, quote(f.Help), value)
		}
		if words := subjects(root, n); words != "" {
			fmt.Fprintf(&b, " \\\n\t\t'1:%s:(%s)'", n.Name, words)
		} else if n.Name == "plot" {
			b.WriteString(" \\\n\t\t'1:model:_files -g \"*.(" + modelEndings + ")\"' '*:what: _odes_names plot'")
		} else {
			b.WriteString(" \\\n\t\t'*:model:_files -g \"*.(" + modelEndings + ")\"'")
		}
		b.WriteString(" ;;\n")
	}
	b.WriteString("\tesac\n}\nif [ \"$funcstack[1]\" = _odes ]; then _odes \"$@\"; else compdef _odes odes; fi\n")
	return b.String()
}

func fishScript(root *kong.Node) string {
	quote := func(s string) string { return strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) }
	var b strings.Builder
	b.WriteString(`function __odes_command
	set -l words (commandline -opc)
	if test (count $argv) -eq 0
		test (count $words) -eq 1
	else
		test (count $words) -gt 1; and test $words[2] = $argv[1]
	end
end
function __odes_names
	for w in (commandline -opc)
		if string match -qr '\.(` + modelEndings + `)$' -- $w; and test -f $w
			command odes completion names $argv[1] $w 2>/dev/null
			return
		end
	end
end
complete -c odes -f
`)
	for _, n := range root.Children {
		fmt.Fprintf(&b, "complete -c odes -n __odes_command -a %s -d '%s'\n", n.Name, quote(n.Help))
		seen := fmt.Sprintf("complete -c odes -n '__odes_command %s'", n.Name)
		if words := subjects(root, n); words != "" {
			fmt.Fprintf(&b, "%s -a '%s'\n", seen, words)
		} else {
			fmt.Fprintf(&b, "%s -k -a '(__fish_complete_suffix .ode)'\n", seen)
			if n.Name == "plot" {
				fmt.Fprintf(&b, "%s -a '(__odes_names plot)'\n", seen)
			}
		}
		for _, f := range flagsOf(n) {
			fmt.Fprintf(&b, "%s -l %s", seen, f.Name)
			if f.Short != 0 {
				fmt.Fprintf(&b, " -s %c", f.Short)
			}
			switch {
			case choices(n, f) != "":
				fmt.Fprintf(&b, " -x -a '%s'", choices(n, f))
			case ofModel(f):
				fmt.Fprintf(&b, " -x -a '(__odes_names %s)'", f.Name)
			case isFile(f):
				b.WriteString(" -rF")
			case !f.IsBool():
				b.WriteString(" -x")
			}
			fmt.Fprintf(&b, " -d '%s'\n", quote(f.Help))
		}
	}
	return b.String()
}
