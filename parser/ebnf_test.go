package parser

import (
	"regexp"
	"strings"
	"testing"
)

// TestGrammar: every name that a production uses is defined or a token, and
// every word that starts an item is among them.
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
	for w := range itemWords {
		if !strings.Contains(text, `"`+w+`"`) {
			t.Errorf("no production has the word %q", w)
		}
	}
}
