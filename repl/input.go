package repl

import (
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/parser"
)

// isItem reports whether an input is an item of the language: it starts with the word of one, or is
// an equation.
func isItem(tokens []ast.Token) bool {
	if t := tokens[0]; t.Kind == ast.KeywordToken && parser.StartsItem(t.Text) {
		return len(tokens) == 1 || tokens[1].Text != "." // solver.rtol = … is no item
	}
	for i, t := range tokens {
		if t.Kind == ast.SignToken && t.Text == "'" && i > 0 {
			return true
		}
		if t.Kind == ast.SignToken && t.Text == "=" && i > 0 { // 0 = g(x)
			return i == 1 && tokens[0].Text == "0"
		}
	}
	return false
}

var assignSigns = []string{"=", "+=", "-=", "*=", "/="}

// isAssignment returns the index of the token that makes an input an assignment, or -1.
func isAssignment(tokens []ast.Token) int {
	depth := 0
	for i, t := range tokens {
		switch {
		case t.Kind != ast.SignToken:
		case t.Text == "(" || t.Text == "[" || t.Text == "{":
			depth++
		case t.Text == ")" || t.Text == "]" || t.Text == "}":
			depth--
		case depth == 0 && slices.Contains(assignSigns, t.Text):
			if i == 0 {
				return -1
			}
			return i
		}
	}
	return -1
}

// Incomplete reports whether an input continues on the next line: a bracket is open, or it ends
// with an operator or a word that needs an operand.
func Incomplete(input string) bool {
	tokens := parser.TokensOf(input)
	if len(tokens) == 0 {
		return false
	}
	if c, _ := commandOf(input, tokens); c != nil && slices.Contains(takeNames, c.name) {
		return false
	}
	depth := 0
	for _, t := range tokens {
		if t.Kind == ast.SignToken {
			switch t.Text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			}
		}
	}
	if depth != 0 {
		return depth > 0
	}
	if word := tokens[0].Text; (word == "event" || word == "experiment") && tokens[0].Kind == ast.KeywordToken &&
		!slices.ContainsFunc(tokens, func(t ast.Token) bool { return t.Text == "{" || t.Text == "=" }) {
		return true // its body may stand on the next line
	}
	last := tokens[len(tokens)-1]
	switch last.Kind {
	case ast.SignToken:
		return slices.Contains(strings.Fields("+ - * / @ ^ = += -= *= /= == != < <= > >= -> <-> , : ~"), last.Text)
	case ast.KeywordToken:
		return slices.Contains(strings.Fields("then else elseif and or not in for crosses when rate"), last.Text) &&
			len(tokens) > 1
	}
	return false
}

// split cuts text at the commas outside of brackets.
func split(text string) []string {
	tokens := parser.TokensOf(text)
	var parts []string
	depth, from := 0, 0
	for _, t := range tokens {
		if t.Kind != ast.SignToken {
			continue
		}
		switch t.Text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		case ",":
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(text[from:t.Start]))
				from = t.End
			}
		}
	}
	if rest := strings.TrimSpace(text[from:]); rest != "" || len(parts) > 0 {
		parts = append(parts, rest)
	}
	return parts
}

// cutWord splits text at the first of words that stands outside of brackets: `k1 from 0 to 3` at
// "from".
func cutWord(text string, words ...string) (before, word, after string) {
	depth := 0
	for _, t := range parser.TokensOf(text) {
		if t.Kind == ast.SignToken {
			switch t.Text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			}
			continue
		}
		if depth == 0 && (t.Kind == ast.IdentToken || t.Kind == ast.KeywordToken) && slices.Contains(words, t.Text) {
			return strings.TrimSpace(text[:t.Start]), t.Text, strings.TrimSpace(text[t.End:])
		}
	}
	return strings.TrimSpace(text), "", ""
}

// clauses splits text into what precedes all of words, and what follows each of them.
func clauses(text string, words ...string) (head string, by map[string]string) {
	by = map[string]string{}
	head, word, rest := cutWord(text, words...)
	for word != "" {
		key := word
		by[key], word, rest = cutWord(rest, words...)
	}
	return head, by
}

// closing returns the index of the token that closes the bracket at tokens[i], or -1.
func closing(tokens []ast.Token, i int) int {
	depth := 0
	for k := i; k < len(tokens); k++ {
		if tokens[k].Kind != ast.SignToken {
			continue
		}
		switch tokens[k].Text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return k
			}
		}
	}
	return -1
}
