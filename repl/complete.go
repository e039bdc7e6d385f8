package repl

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"odes.dev/odes/internal/compile"
	"odes.dev/odes/parser"
)

// keywords returns the words that complete inside of items and commands.
func keywords() []string {
	words := parser.WordsOf(parser.PartWord, parser.OperatorWord, parser.FreeWord)
	return append(words, "wrt", "against", "of", "points")
}

// behindIn matches a line that continues with the name of an experiment, or with its beginning.
var behindIn = regexp.MustCompile(`\sin\s(?:[^()\[\]]*,)?\s*([\pL\pN_]*)$`)

// ofEvent matches a line that continues with the name of an event.
var ofEvent = regexp.MustCompile(`\b(?:at_event|event_time)\(\s*$`)

// Complete returns the words that the text before the cursor may become, and how many of its last
// bytes they replace.
func (s *Session) Complete(before string) (words []string, replaced int) {
	line := before[strings.LastIndexByte(before, '\n')+1:]
	first, rest, spaced := strings.Cut(strings.TrimLeft(line, " "), " ")
	if spaced && slices.Contains([]string{"load", "save"}, first) {
		return paths(strings.TrimLeft(rest, " ")), len(strings.TrimLeft(rest, " "))
	}
	if at := strings.LastIndexByte(rest, ' ') + 1; spaced && first == "compare" &&
		strings.ContainsAny(rest[at:], "./") {
		return paths(rest[at:]), len(rest) - at
	}
	if in := behindIn.FindStringSubmatch(line); in != nil && s.now.model != nil && len(s.now.model.Experiments()) > 0 {
		for _, x := range append(s.now.model.Experiments(), unchanged) {
			if strings.HasPrefix(x, in[1]) && x != in[1] {
				words = append(words, x)
			}
		}
		slices.Sort(words)
		return words, len(in[1])
	}
	if spaced && draws(first) {
		if words, replaced, ok := completeOption(line); ok {
			return words, replaced
		}
	}
	word := line[strings.LastIndexFunc(line, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
	})+1:]
	// codes of diagnostics have hyphens, and names have none
	if at := strings.LastIndexByte(word, '-'); at >= 0 && first != "doc" {
		word = word[at+1:]
	}
	var all []string
	switch before := strings.TrimSuffix(line, word); {
	case ofEvent.MatchString(before):
		items, _ := parser.Outline(s.name(), s.now.text)
		for _, it := range items {
			for _, p := range it.Parts {
				if it.Kind == "event" {
					all = append(all, p.Name)
				}
			}
		}
	case !spaced && strings.TrimLeft(line, " ") == word:
		for _, c := range commands() {
			all = append(all, c.name)
		}
		all = append(all, parser.ItemWords()...)
		all = append(all, s.declared()...)
		all = append(all, s.cfg.Words...)
	case first == "emit":
		all = compile.Stages()
	case first == "plot":
		all = append(s.declared(), s.cfg.Words...)
		all = append(all, "against", "adjoint", "steps", "time")
	case first == "help":
		for _, c := range commands() {
			all = append(all, c.name)
		}
	case first == "doc":
		all = append(slices.Clone(s.cfg.Words), parser.ItemWords()...)
	default:
		all = append(all, s.declared()...)
		all = append(all, s.cfg.Words...)
		all = append(all, keywords()...)
	}
	for _, w := range all {
		if first != "doc" && strings.Contains(w, "-") {
			continue // the code of a diagnostic
		}
		if strings.HasPrefix(w, word) && w != word {
			words = append(words, w)
		}
	}
	slices.Sort(words)
	return slices.Compact(words), len(word)
}

// paths completes the name of a model file.
func paths(prefix string) []string {
	dir, base := filepath.Split(prefix)
	from := dir
	if from == "" {
		from = "."
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case !strings.HasPrefix(name, base) || strings.HasPrefix(name, ".") && base == "":
		case e.IsDir():
			list = append(list, dir+name+string(filepath.Separator))
		case strings.HasSuffix(name, ".ode"):
			list = append(list, dir+name)
		}
	}
	return list
}
