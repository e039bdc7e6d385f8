package parser

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/lang/ast"
)

// TestGrammar: every name that a production uses is defined or a token, and the words of the grammar are those of the
// language.
func TestGrammar(t *testing.T) {
	text := Grammar()
	defined := map[string]bool{"Name": true, "Number": true, "Integer": true, "String": true, "Key": true}
	rule := regexp.MustCompile(`(?m)^(\w+) = `)
	for _, m := range rule.FindAllStringSubmatch(text, -1) {
		defined[m[1]] = true
	}
	if len(defined) < 40 {
		t.Errorf("only %d productions", len(defined))
	}
	bare := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(text, "")
	for _, w := range regexp.MustCompile(`[A-Za-z]\w*`).FindAllString(bare, -1) {
		if !defined[w] {
			t.Errorf("%q is not defined", w)
		}
	}
	written := map[string]bool{"end": true} // an index, which the grammar calls an expression
	for _, quoted := range regexp.MustCompile(`"[a-z_]+"`).FindAllString(text, -1) {
		word := strings.Trim(quoted, `"`)
		if written[word] = true; wordNamed[word] == nil {
			t.Errorf("%q is not in the table of words", word)
		}
	}
	for _, w := range language {
		if !written[w.Name] {
			t.Errorf("no production has the word %q", w.Name)
		}
	}
}

// TestStarts: what rules say that their items start with is what their grammars do.
func TestStarts(t *testing.T) {
	g := newGrammar()
	for _, rule := range itemRules() {
		_, ebnf := rule.build(g, grammarOptions(g))
		first, _, _ := strings.Cut(ebnf(), "\n")
		_, production, _ := strings.Cut(readable(first), " = ")
		var starts []string
		for _, start := range firsts(production) {
			starts = append(starts, strings.Trim(start, `"`))
		}
		if !slices.Equal(starts, rule.starts) {
			t.Errorf("an item starts with %q; its rule says %q", starts, rule.starts)
		}
	}
}

// TestWords: each word has an example that holds it, and what it means. A word that starts no item has a place, and one
// that does has a grammar, which nothing else has.
func TestWords(t *testing.T) {
	places := map[string]bool{"equation": true, "expression": true, "body": true}
	for _, w := range ItemWords() {
		places[w] = true
	}
	starts := newGrammar().rules
	for _, w := range language {
		if !slices.ContainsFunc(TokensOf(w.Form), func(t ast.Token) bool { return t.Text == w.Name }) || w.Text == "" {
			t.Errorf("%s: the example %q, the text %q", w.Name, w.Form, w.Text)
		}
		item := itemWords[w.Name]
		free := w.Name == "mass" || w.Name == "doses" || w.Name == "random" // starts an item, and is a name elsewhere
		if item == (w.In != "") || item != (starts[w.Name] != nil) && !free {
			t.Errorf("%s starts an item: %v; it has a grammar: %v; it stands in %q", w.Name, item,
				starts[w.Name] != nil, w.In)
		}
		for _, place := range strings.Fields(w.In) {
			if !places[place] {
				t.Errorf("%s stands in %q, which is no item", w.Name, place)
			}
		}
	}
	if n := len(ItemWords()) + len([]string{"0", "Target", "mass", "doses", "random"}); n != len(starts) {
		t.Errorf("%d items have a grammar, of %d", len(starts), n)
	}
}
