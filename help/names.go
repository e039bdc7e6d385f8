package help

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"odes.dev/odes/lang/keys"
	"odes.dev/odes/parser"
	"odes.dev/odes/stdlib"
)

// setting explains a key of a settings block, as rtol or solver.rtol.
func setting(w io.Writer, name string) bool {
	block, key, qualified := strings.Cut(name, ".")
	if !qualified {
		key = name
	}
	found := false
	for _, b := range parser.Blocks() {
		for _, r := range keys.Entries(b) {
			if slices.Contains(r.Keys, key) && (!qualified || block == b) {
				if found {
					fmt.Fprintln(w)
				}
				found = true
				fmt.Fprintf(w, "%s { %s = … }\n\n%s\n", b, strings.Join(r.Keys, " = …  "),
					wrap(strings.ReplaceAll(sentence(r.Text), "`", ""), ""))
				if takes := keys.Find(b, key).Takes(); takes != "" {
					fmt.Fprintf(w, "\n%s takes %s.\n", key, takes)
				}
			}
		}
	}
	return found
}

// grammar prints the grammar of the language.
func grammar(w io.Writer, name string) bool {
	if name == "grammar" {
		fmt.Fprint(w, parser.Grammar())
	}
	return name == "grammar"
}

// unit explains a predefined unit, with or without a prefix, or lists all.
func unit(w io.Writer, name string) bool {
	if name == "units" {
		names, prefixes := stdlib.UnitNames()
		fmt.Fprintf(w, "units\n%s\n\nprefixes, of all but min h day week year\n%s\n\nunit uM = 1e-6 [mol/L] "+
			"defines one.\n",
			wrap(strings.Join(names, " "), "  "), wrap(strings.Join(prefixes, " "), "  "))
		return true
	}
	si, doc, ok := stdlib.UnitDoc(name)
	if ok {
		fmt.Fprintf(w, "[%s] = %s\n\n%s\n", name, si, sentence(doc))
	}
	return ok
}

// module lists what an embedded module declares.
func module(w io.Writer, name string) bool {
	if !slices.Contains(stdlib.Modules(), name) {
		return false
	}
	fmt.Fprintf(w, "import \"%s\"\n\n%s\n\n", name, wrap(stdlib.ModuleDoc(name), ""))
	for _, n := range stdlib.ModuleNames() {
		if n.Module == name {
			fmt.Fprintf(w, "  %s\n", n.Head)
		}
	}
	return true
}

// moduleName explains what an embedded module declares.
func moduleName(w io.Writer, name string) bool {
	found := false
	for _, n := range stdlib.ModuleNames() {
		if n.Name != name {
			continue
		}
		if found {
			fmt.Fprintln(w)
		}
		found = true
		fmt.Fprintf(w, "%s        # import \"%s\"\n\n%s\n\ndefined by: %s\n", n.Head, n.Module, wrap(n.Doc, ""),
			n.Definition)
		for _, e := range n.Examples {
			fmt.Fprintf(w, "example: %s\n", e)
		}
	}
	return found
}

// moduleNames lists what the embedded modules declare.
func moduleNames() []string {
	var names []string
	for _, n := range stdlib.ModuleNames() {
		names = append(names, n.Name)
	}
	return names
}
