package petab

import (
	"slices"
	"strings"

	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// tokens of a formula: names, numbers, and signs.
var tokens = lazy.Regexp(`[A-Za-z_][A-Za-z0-9_]*|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|` +
	`\*\*|&&|\|\||[<>=!]=|\S`)

// functions are those of formulas, by their names in the language; additions are those that it does not have, with
// their definitions.
var (
	functions = map[string]string{
		"ln": "log", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
		"arctanh": "atanh", "ceiling": "ceil",
	}
	additions = map[string]string{"log2": "(x) = log(x)/log(2)", "pow": "(x, y) = x^y"}
)

// same are functions and constants that have the same name in the language.
var (
	sameFunctions = []string{
		"abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp", "floor", "log", "log10",
		"max", "min", "sign", "sin", "sinh", "sqrt", "tan", "tanh",
	}
	sameConstants = []string{"pi", "inf", "nan"}
)

// signs are those of formulas, as the language has them.
var signs = map[string]string{
	"+": "+", "-": "-", "*": "*", "/": "/", "^": "^", "**": "^", "(": "(", ")": ")", ",": ",", "<": "<", ">": ">",
	"<=": "<=", ">=": ">=", "==": "==", "!=": "!=", "&&": " and ", "||": " or ", "!": " not ",
}

// formula writes the formula in a column of a table in the language. Of returns what a name stands for.
func (p *problem) formula(r row, column string, of func(name string) (string, bool)) string {
	if p.two {
		return p.formula2(r, column, of)
	}
	text := r.get(column)
	var b strings.Builder
	list := tokens().FindAllStringIndex(text, -1)
	end := 0
	for i, at := range list {
		token := text[at[0]:at[1]]
		isCall := i+1 < len(list) && text[list[i+1][0]] == '('
		if at[0] > end {
			b.WriteByte(' ')
		}
		end = at[1]
		to, wrong := p.token(token, isCall, of)
		if wrong != "" {
			p.errorAt(r, column, "%q in the formula %s %s", token, short(text), wrong)
			return "0"
		}
		b.WriteString(to)
	}
	var found diag.List
	parser.ParseExpr(source.NewFile(column, b.String()), &found)
	if wrong := diag.Of(found.Err()); wrong != nil {
		p.errorAt(r, column, "the formula %q: %s", short(text), wrong[0].Message)
		return "0"
	}
	return b.String()
}

// token writes a name, a number or a sign of a formula, or says what is wrong with it.
func (p *problem) token(token string, isCall bool, of func(name string) (string, bool)) (to, wrong string) {
	switch {
	case !isName(token):
		if _, ok := isNumber(token); ok {
			return strings.ToLower(token), ""
		}
		if to = signs[token]; to == "" {
			return "", "is no sign of formulas"
		}
		return to, ""
	case isCall && additions[token] != "":
		if p.added[token] == "" {
			p.added[token] = p.model.Free(token)
			p.functions = append(p.functions, "fn "+p.added[token]+additions[token])
		}
		return p.added[token], ""
	case isCall && functions[token] != "":
		return functions[token], ""
	case isCall && slices.Contains(sameFunctions, token):
		return token, ""
	case isCall:
		return "", "is no function that odes reads in formulas"
	case token == "time":
		return p.model.Time(), ""
	}
	if to, ok := of(token); ok {
		return to, ""
	}
	if slices.Contains(sameConstants, token) {
		return token, ""
	}
	return "", "is neither in the model nor a parameter"
}

func isName(token string) bool {
	c := token[0]
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
