package help

import (
	"strings"
	"unicode"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/parser"

	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/stdlib"
)

// Near returns what to say of a name without help: what it is called here, which of the names was meant, what mentions
// it. It is "", or begins with a semicolon.
func Near(name string, names []string) string {
	text := diag.DidYouMean(name, names)
	if hint := stdlib.Foreign(name); hint != "" {
		text = "; " + hint
	}
	if list := Mentions(name); len(list) > 0 {
		const most = 8
		if len(list) > most {
			list = append(list[:most:most], "…")
		}
		text += "; see the help on " + strings.Join(list, ", ")
	}
	return text
}

// Mentions returns the names of words, settings, functions, methods and codes whose help has a word, in that order.
func Mentions(word string) []string {
	if len([]rune(word)) < 3 {
		return nil
	}
	var list []string
	seen := map[string]bool{}
	add := func(t Topic, names ...string) {
		for _, name := range names {
			if text, ok := On(t, name); ok && !seen[name] && mentions(text, strings.ToLower(word)) {
				seen[name] = true
				list = append(list, name)
			}
		}
	}
	for _, entries := range [][]Entry{words, others, subjects, signs, marks, modes} {
		for _, e := range entries {
			add(Word, e.Name)
		}
	}
	for _, block := range parser.Blocks() {
		for _, r := range keys.Entries(block) {
			add(Setting, block+"."+r.Keys[0])
		}
	}
	for _, f := range stdlib.Funcs() {
		add(Function, f.Name)
	}
	add(ModuleName, moduleNames()...)
	for _, m := range methods.All() {
		add(Method, m.Name)
	}
	add(Code, Codes()...)
	return list
}

// mentions reports whether a text has a word, also as a plural.
func mentions(text, word string) bool {
	for part := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if part = strings.Trim(part, "-"); part == word || part == word+"s" || part+"s" == word {
			return true
		}
	}
	return false
}
