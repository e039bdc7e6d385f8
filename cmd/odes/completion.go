package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd is odes completion.
type completionCmd struct {
	global
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run writes a script that completes commands, flags and model files:
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

// choices returns the values that a flag or argument of this name takes.
func choices(name string) string {
	switch name {
	case "format":
		return "table json csv npz"
	case "mode":
		return "adjoint tangent forward continuous backsolve complex differences auto"
	case "stage":
		return strings.Join(stageNames(), " ")
	case "template":
		return strings.Join(templateNames(), " ")
	}
	return ""
}

func bashScript(root *kong.Node) string {
	var b strings.Builder
	b.WriteString("_odes() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n")
	fmt.Fprintf(&b, "\tif ((COMP_CWORD == 1)); then COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return; fi\n", commandNames(root))
	b.WriteString("\tcase $prev in\n")
	for _, name := range []string{"format", "mode", "stage", "template"} {
		fmt.Fprintf(&b, "\t--%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", name, choices(name))
	}
	b.WriteString("\tcompletion) COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$cur\")); return ;;\n")
	fmt.Fprintf(&b, "\tman) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n\tesac\n", commandNames(root))
	b.WriteString("\tlocal flags=\n\tcase ${COMP_WORDS[1]} in\n")
	for _, n := range root.Children {
		var flags []string
		for _, f := range flagsOf(n) {
			flags = append(flags, "--"+f.Name)
		}
		fmt.Fprintf(&b, "\t%s) flags='%s' ;;\n", n.Name, strings.Join(flags, " "))
	}
	b.WriteString("\tesac\n\tif [[ $cur == -* ]]; then COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\")); return; fi\n")
	b.WriteString("\tCOMPREPLY=($(compgen -f -X '!*.ode' -- \"$cur\") $(compgen -d -- \"$cur\"))\n}\ncomplete -o filenames -F _odes odes\n")
	return b.String()
}

func zshScript(root *kong.Node) string {
	quote := func(s string) string {
		return strings.NewReplacer("'", "'\\''", "[", "\\[", "]", "\\]", ":", "\\:").Replace(s)
	}
	var b strings.Builder
	b.WriteString("#compdef odes\n_odes() {\n\tif ((CURRENT == 2)); then\n\t\tlocal -a commands=(\n")
	for _, n := range root.Children {
		fmt.Fprintf(&b, "\t\t\t'%s:%s'\n", n.Name, quote(n.Help))
	}
	b.WriteString("\t\t)\n\t\t_describe command commands\n\t\treturn\n\tfi\n\tcase $words[2] in\n")
	for _, n := range root.Children {
		fmt.Fprintf(&b, "\t%s) _arguments -S", n.Name)
		for _, f := range flagsOf(n) {
			value := ""
			switch {
			case choices(f.Name) != "":
				value = "=:" + f.Name + ":(" + choices(f.Name) + ")"
			case f.Name == "output" || f.Name == "stats":
				value = "=:file:_files"
			case !f.IsBool():
				value = "=:value:"
			}
			name := "--" + f.Name
			if strings.HasPrefix(value, "=") {
				name, value = name+"=", value[1:]
			}
			fmt.Fprintf(&b, " \\\n\t\t'%s[%s]%s'", name, quote(f.Help), value)
		}
		switch n.Name {
		case "completion":
			b.WriteString(" \\\n\t\t'2:shell:(bash zsh fish)'")
		case "man":
			fmt.Fprintf(&b, " \\\n\t\t'2:command:(%s)'", commandNames(root))
		default:
			b.WriteString(" \\\n\t\t'*:model:_files -g \"*.ode\"'")
		}
		b.WriteString(" ;;\n")
	}
	b.WriteString("\tesac\n}\ncompdef _odes odes\n")
	return b.String()
}

func fishScript(root *kong.Node) string {
	quote := func(s string) string { return strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) }
	var b strings.Builder
	b.WriteString("complete -c odes -f\n")
	for _, n := range root.Children {
		fmt.Fprintf(&b, "complete -c odes -n __fish_use_subcommand -a %s -d '%s'\n", n.Name, quote(n.Help))
		seen := fmt.Sprintf("complete -c odes -n '__fish_seen_subcommand_from %s'", n.Name)
		switch n.Name {
		case "completion":
			fmt.Fprintf(&b, "%s -a 'bash zsh fish'\n", seen)
		case "man":
			fmt.Fprintf(&b, "%s -a '%s'\n", seen, commandNames(root))
		default:
			fmt.Fprintf(&b, "%s -a '(__fish_complete_suffix .ode)'\n", seen)
		}
		for _, f := range flagsOf(n) {
			fmt.Fprintf(&b, "%s -l %s", seen, f.Name)
			if f.Short != 0 {
				fmt.Fprintf(&b, " -s %c", f.Short)
			}
			switch {
			case choices(f.Name) != "":
				fmt.Fprintf(&b, " -x -a '%s'", choices(f.Name))
			case f.Name == "output" || f.Name == "stats":
				b.WriteString(" -rF")
			case !f.IsBool():
				b.WriteString(" -x")
			}
			fmt.Fprintf(&b, " -d '%s'\n", quote(f.Help))
		}
	}
	return b.String()
}
