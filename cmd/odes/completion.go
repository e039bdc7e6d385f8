package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"

	"odes.dev/odes/internal/report"
	"odes.dev/odes/internal/settings"
	"odes.dev/odes/plot"
)

// completionCmd is odes completion.
type completionCmd struct {
	global
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run writes a script that completes commands, flags, their values and model files:
//
//	source <(odes completion bash)
func (k *completionCmd) Run(c *call) error {
	var cmd commands
	p, err := newParser(&cmd, c.out, c.err)
	if err != nil {
		return err
	}
	script := map[string]func(*kong.Node) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[k.Shell]
	_, err = fmt.Fprint(c.out, script(p.Model.Node))
	return err
}

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
	fmt.Fprintf(&b, `_odes() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} flags= words=
	# --format=json is three words
	if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
	if ((COMP_CWORD == 1)); then COMPREPLY=($(compgen -W '%s' -- "$cur")); return; fi
	case $command$prev in
`, commandNames(root))
	for _, n := range root.Children {
		for _, f := range flagsOf(n) {
			if words := choices(n, f); words != "" {
				fmt.Fprintf(&b, "\t%s--%s) words='%s' ;;\n", n.Name, f.Name, words)
			}
			if isFile(f) {
				fmt.Fprintf(&b, "\t%s--%s%s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n",
					n.Name, f.Name, short(f, "|"+n.Name+"-"))
			}
		}
	}
	b.WriteString(`	esac
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
	if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$cur")); return; fi
	if [[ $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); return; fi
	COMPREPLY=($(compgen -f -X '!*.ode' -- "$cur") $(compgen -d -- "$cur"))
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
		} else {
			b.WriteString(" \\\n\t\t'*:model:_files -g \"*.ode\"'")
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
complete -c odes -f
`)
	for _, n := range root.Children {
		fmt.Fprintf(&b, "complete -c odes -n __odes_command -a %s -d '%s'\n", n.Name, quote(n.Help))
		seen := fmt.Sprintf("complete -c odes -n '__odes_command %s'", n.Name)
		if words := subjects(root, n); words != "" {
			fmt.Fprintf(&b, "%s -a '%s'\n", seen, words)
		} else {
			fmt.Fprintf(&b, "%s -k -a '(__fish_complete_suffix .ode)'\n", seen)
		}
		for _, f := range flagsOf(n) {
			fmt.Fprintf(&b, "%s -l %s", seen, f.Name)
			if f.Short != 0 {
				fmt.Fprintf(&b, " -s %c", f.Short)
			}
			switch {
			case choices(n, f) != "":
				fmt.Fprintf(&b, " -x -a '%s'", choices(n, f))
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
