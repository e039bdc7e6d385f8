package petab

import (
	"strings"

	"odes.dev/odes/internal/lazy"
)

// tokens of a formula: names, numbers, and signs.
var tokens = lazy.Regexp(`[A-Za-z_][A-Za-z0-9_]*|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|` +
	`\*\*|&&|\|\||[<>=!]=|\S`)

// calls are the functions of formulas that have another name in the language; additions are those that it does not
// have, with their definitions.
var (
	calls = map[string]string{
		"ln": "log", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "ceiling": "ceil", "floor": "floor",
	}
	additions = map[string]string{"log2": "(x) = log(x)/log(2)", "pow": "(x, y) = x^y"}
	signs     = map[string]string{"**": "^", "&&": " and ", "||": " or ", "!": " not "}
)

// formula writes a formula in the language. Of returns what a name stands for.
func (p *problem) formula(text string, r row, of func(name string) (string, bool)) string {
	var b strings.Builder
	list := tokens().FindAllStringIndex(text, -1)
	end := 0
	for i, at := range list {
		t := text[at[0]:at[1]]
		isCall := i+1 < len(list) && text[list[i+1][0]] == '('
		if at[0] > end {
			b.WriteByte(' ')
		}
		end = at[1]
		switch {
		case !isName(t):
			if to, ok := signs[t]; ok {
				t = to
			} else if _, ok := isNumber(t); ok {
				t = strings.ToLower(t)
			}
		case isCall && additions[t] != "":
			if p.added[t] == "" {
				p.added[t] = p.model.Free(t)
				p.functions = append(p.functions, "fn "+p.added[t]+additions[t])
			}
			t = p.added[t]
		case isCall && calls[t] != "":
			t = calls[t]
		case isCall: // a function of the same name
		case t == "time":
			t = p.model.Time()
		case t == "pi" || t == "inf" || t == "nan":
		default:
			to, ok := of(t)
			if !ok {
				p.errorAt(r, "%q in the formula %s is neither in the model nor a parameter", t, text)
				return "0"
			}
			t = to
		}
		b.WriteString(t)
	}
	return b.String()
}

func isName(token string) bool {
	c := token[0]
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
