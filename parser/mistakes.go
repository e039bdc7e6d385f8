package parser

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
)

// This file says what is wrong where the tokens do not fit the grammar of an
// item, and what to write instead.

// partNames says what the parts of the grammar are, for "expected …".
var partNames = map[string]string{
	"newName": "a name", "optName": "a name", "keyName": "a name", "LValue": "a name", "Expr": "an expression",
	"unitValue": "an expression", "Unit": "a unit in brackets", "Specie": "a species", "String": "a string in double quotes",
	"VarDecl": "a name", "FnParam": "a parameter", "Prime": "'",
}

var expectedPart = regexp.MustCompile(`(?s)\(expected (.*)\)$`)

// expectation turns participle's account of what it wanted, a production in
// its own notation, into the tokens or parts that could have come next.
func expectation(message string) []string {
	if m := expectedPart.FindStringSubmatch(message); m != nil {
		return firsts(m[1])
	}
	return nil
}

// firsts returns what a production can start with.
func firsts(production string) []string {
	switch {
	case strings.HasPrefix(production, `"`):
		return []string{production[:strings.IndexByte(production[1:], '"')+2]}
	case strings.HasPrefix(production, "("):
		var list []string
		depth, quoted, from := 0, false, 1
		for i, c := range production {
			switch {
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '(':
				depth++
			case c == ')':
				if depth--; depth == 0 {
					return append(list, firsts(production[from:i])...)
				}
			case c == '|' && depth == 1:
				list = append(list, firsts(strings.TrimSpace(production[from:i]))...)
				from = i + 2
			}
		}
		return list
	}
	name, _, _ := strings.Cut(production, " ")
	name = strings.TrimSuffix(name, "]")
	name = name[strings.LastIndexAny(name, "./[]")+1:]
	if words, ok := partNames[name]; ok {
		return []string{words}
	}
	return []string{name}
}

// either joins alternatives: a, b or c.
func either(list []string) string {
	if n := len(list) - 1; n > 0 {
		return strings.Join(list[:n], ", ") + " or " + list[n]
	}
	return strings.Join(list, "")
}

// unexpected reports the next token, inside the item that starts at token
// start, where one of expected would have been right.
func (p *parse) unexpected(start int, expected []string) {
	first, t := &p.tokens[start], p.peek()
	before := t
	if p.i > 0 {
		before = &p.tokens[p.i-1]
	}
	inBody := len(expected) > 1 && expected[1] == `"+="` && first.Text == "event"
	wants := func(text string) bool {
		for _, e := range expected {
			if e == `"`+text+`"` {
				return true
			}
		}
		return false
	}
	switch {
	case isToken(t, "=") && first.Text == "event":
		p.fail(CodeCondition, p.at(t), "an event condition is a comparison: x <= 0, x > 1, or x crosses 0")
	case isToken(t, "=") && first.Text == "reaction" && wants("->"):
		d := p.fail(CodeUnexpected, p.at(t), "the sides of a reaction are joined by -> or <->")
		if a := p.ahead(1); isToken(a, ">") && a.Start == t.End {
			d.Fix(p.at(t).To(p.at(a)), "->", "write ->")
		}
	case isToken(t, "=") && first.Text == "constraint":
		p.fail(CodeUnexpected, p.at(t), "a constraint is written constraint %s: a <= b", before.Text)
	case isToken(t, "==") && wants("="):
		p.fail(CodeUnexpected, p.at(t), "\"==\" compares; write = to give a value").Fix(p.at(t), "=", "write =")
	case isToken(t, "'") && isToken(before, "'"):
		p.fail(CodeSecondOrder, p.at(before).To(p.at(t)), "second derivatives are reserved; write x' = v and v' = ...")
	case isToken(t, "[") && isToken(before, "'"):
		p.fail(CodePrime, p.at(t), "the index stands before the prime: x[i]' = ...")
	case isToken(t, "'") && before.NewLine && p.openBrace(start) != first && p.startsPrimed(p.i-1):
		p.i--
		open := p.openBrace(start)
		p.fail(CodeUnclosed, p.gap(), "expected \"}\" to close the block opened at %s before the next equation", where(p.at(open))).
			Relate(p.at(open), "opened here")
	case p.singleQuoted():
	case isToken(t, "'") && (inBody || wants("}")):
		p.fail(CodePrime, p.at(t), "an event sets values; an equation x' = ... stands outside its body")
	case isToken(t, "(") && first.Text == "let" && wants("="):
		p.fail(CodeUnexpected, p.at(t), "a function is declared with fn: fn %s(...) = ...", before.Text).Fix(p.at(first), "fn", "write fn")
	case isToken(t, ",") && wants("}"):
		p.fail(CodeUnexpected, p.at(t), "no comma stands here; separate by spaces, new lines or ;").Fix(p.at(t), ";", "write ;")
	case isToken(t, ":") && wants("=") && len(expected) == 1 && isSettings(first.Text):
		p.fail(CodeUnexpected, p.at(t), "a setting is written %s = value", before.Text).Fix(p.at(t), " =", "write =")
	case isToken(t, "'") && (first.Text == "state" || first.Text == "param"):
		p.fail(CodeUnexpected, p.at(t), "a derivative is no variable of its own; for a second-order equation declare both states: state x = 1, v = 0, with x' = v and v' = ...")
	case isToken(t, ",") && endsList(first, p.ahead(1)):
		p.fail(CodeUnexpected, p.at(t), "no comma stands at the end of an item").Fix(p.at(t), "", "remove it")
	case (isToken(t, "<") || isToken(t, ">") || isToken(t, "<=") || isToken(t, ">=") || t.Kind == ast.NumberToken) && first.Text == "event" && wants("when"):
		p.fail(CodeUnexpected, p.at(t), "a condition follows `when`, times follow `at`: event when x < 0 { ... }, event at 1, 2 { ... }")
	case wants("let") || len(expected) == 1 && expected[0] == `"return"`:
		p.fail(CodeUnexpected, p.at(t), "the body of a function holds let a = ... and ends with return, found %s", p.found())
	case wants("=") && len(expected) < 3 && first.Text == "observe":
		p.fail(CodeUnexpected, p.gap(), "an observation is written observe %s = expression ~ normal(sd) from D.column", before.Text)
	case wants("=") && p.atEndOrForeign() && (first.Text == "output" || first.Text == "let") && before == &p.tokens[start+1]:
		p.fail(CodeUnexpected, p.gap(), "expected \"=\" after %s: %s gives an expression a new name, %s y = 2*%s", describe(before, false), first.Text, first.Text, before.Text)
	case isToken(t, "as") && first.Text == "import":
		p.fail(CodeUnexpected, p.gap(), "the file of an import stands in double quotes: import \"%s.ode\" as %s", before.Text, p.ahead(1).Text)
	case first.Text == "time" && (t.Kind == ast.NumberToken || isToken(t, "=") || isToken(t, "[")):
		name := "t"
		if isName(before) {
			name = before.Text
		}
		p.fail(CodeUnexpected, p.at(t), "the time span is written time %s from t0 to tf", name)
	case isToken(t, "in") && first.Text == "time":
		p.fail(CodeUnexpected, p.at(t), "the time span is written time %s from t0 to tf", before.Text)
	case t.Kind == ast.KeywordToken && len(expected) > 0 && expected[0] == "a name" && !p.atEnd():
		p.reserved(t)
		p.failed = true
	case wants("}") && (p.atEnd() || t.Kind == ast.KeywordToken):
		open := p.openBrace(start)
		p.fail(CodeUnclosed, p.gap(), "expected \"}\" to close the block opened at %s, found %s", where(p.at(open)), p.found()).
			Relate(p.at(open), "opened here")
	case p.commonMistake():
	case len(expected) == 0:
		p.fail(CodeUnexpected, p.gap(), "unexpected %s", p.found())
	default:
		p.fail(CodeUnexpected, p.gap(), "expected %s%s, found %s", either(withOptional(first.Text, expected)), p.behind(), p.found())
	}
}

// withOptional adds what the grammar leaves out of its account because it is optional.
func withOptional(item string, expected []string) []string {
	if len(expected) != 1 {
		return expected
	}
	switch expected[0] {
	case `"}"`:
		what := map[string]string{"event": "an assignment", "equilibrate": "an assignment", "experiment": "a part of an experiment"}[item]
		if isSettings(item) {
			what = "a setting"
		}
		if what != "" {
			return []string{what, `"}"`}
		}
	case `")"`:
		return []string{`","`, `")"`}
	case `"return"`:
		return []string{`"let"`, `"return"`}
	}
	return expected
}

func isSettings(word string) bool {
	return word == "solver" || word == "sens" || word == "fit" || word == "data"
}

// endsList reports whether the comma before the next token ends an item's list: another item follows on a new line.
func endsList(first, next *ast.Token) bool {
	return itemWords[first.Text] && (next.Kind == ast.EOF || next.NewLine && next.Kind == ast.KeywordToken && itemWords[next.Text])
}

// atEndOrForeign reports whether the statement ends before the next token, or a line begins with it.
func (p *parse) atEndOrForeign() bool { return p.atEnd() || p.peek().NewLine }

// openBrace returns the innermost brace that is open before the next token.
func (p *parse) openBrace(start int) *ast.Token {
	closed := 0
	for i := p.i - 1; i > start; i-- {
		switch t := &p.tokens[i]; {
		case isToken(t, "}"):
			closed++
		case isToken(t, "{") && closed > 0:
			closed--
		case isToken(t, "{"):
			return t
		}
	}
	return &p.tokens[start]
}

// spellings are the words of other languages for what an item word says here.
var spellings = map[string]string{
	"def": "fn", "function": "fn", "func": "fn", "var": "state", "variable": "state", "species": "state", "parameter": "param",
	"parameters": "param", "constant": "const", "include": "import", "events": "event", "out": "output", "aux": "output",
	"minimize": "objective", "loss": "objective", "observable": "observe", "options": "solver", "settings": "solver",
	"states": "state", "params": "param", "init": "state", "initial": "state",
}

// nearest returns the item word that word probably means, or "".
func nearest(word string) string {
	word = strings.ToLower(word)
	if w, ok := spellings[word]; ok {
		return w
	}
	w, _ := diag.Nearest(word, slices.Sorted(maps.Keys(itemWords)))
	return w
}

var (
	derivative = regexp.MustCompile(`^(?:der|dot|ddt|D|Differential)\s*\(\s*([\pL_][\pL\p{Nd}_]*)\s*\)`)
	quotient   = regexp.MustCompile(`^d\s*/\s*dt\s*\(\s*([\pL_][\pL\p{Nd}_]*)\s*\)`)
	leibniz    = regexp.MustCompile(`^d([\pL_][\pL\p{Nd}_]*)\s*/\s*d[\pL_]+`)
)

// otherDerivative returns the state and the text of a derivative in another
// notation that starts with token t, or "".
func (p *parse) otherDerivative(t *ast.Token) (state, text string) {
	if t.Kind != ast.IdentToken {
		return "", ""
	}
	rest := p.file.Text()[t.Start:]
	rest = rest[:min(len(rest), 200)]
	for _, form := range []*regexp.Regexp{derivative, quotient, leibniz} {
		if m := form.FindStringSubmatch(rest); m != nil {
			return m[1], m[0]
		}
	}
	return "", ""
}

// meantItem reports whether token i, the first of its line, starts no item
// but was meant to: misfit has advice on it.
func (p *parse) meantItem(i int) bool {
	t, a := &p.tokens[i], &p.tokens[min(i+1, len(p.tokens)-1)]
	if !isName(t) || i > 0 && isToken(&p.tokens[i-1], ",") || i > 0 && !p.breaksAfter(i-1) {
		return false
	}
	if isToken(a, "'") || isToken(a, "=") || p.meantWord(t, a) != "" {
		return true
	}
	state, _ := p.otherDerivative(t)
	return state != ""
}

// meantWord returns the item word that t, followed by a, was meant to be, or "".
func (p *parse) meantWord(t, a *ast.Token) string {
	if t.Kind == ast.IdentToken && !a.NewLine && (isName(a) || isToken(a, "{") || a.Kind == ast.StringToken || a.Kind == ast.KeywordToken) {
		return nearest(t.Text)
	}
	return ""
}

// misfit reports the next token, which starts no item.
func (p *parse) misfit() {
	t := p.peek()
	if state, text := p.otherDerivative(t); state != "" {
		at := p.span(t.Start, t.Start+len(text))
		p.fail(CodeDerivative, at, "write the derivative as %s' = ...", state).Fix(at, state+"'", "write "+state+"'")
		return
	}
	glued := p.i > 0 && !t.NewLine && !isToken(&p.tokens[p.i-1], ";")
	switch a := p.ahead(1); {
	case glued && p.continuation():
	case isToken(t, "}"), isToken(t, ")"), isToken(t, "]"):
		p.fail(CodeUnclosed, p.at(t), "\"%s\" closes nothing; no bracket is open here", t.Text)
	case isToken(t, "/") && (isToken(a, "/") || isToken(a, "*")), isToken(t, "%") && t.NewLine:
		p.fail(CodeForeignOperator, p.at(t), "comments start with #").Fix(p.at(t), "#", "write #")
	case t.Kind == ast.KeywordToken:
		p.fail(CodeItem, p.at(t), "\"%s\" starts no item; %s", t.Text, keywordPlace(t.Text))
	case t.Text == "def" || t.Text == "function" || t.Text == "func":
		p.fail(CodeItem, p.at(t), "\"%s\" starts no item; a function is written fn f(x) = x^2, or fn f(x) { let a = x^2  return a }", t.Text)
	case p.meantWord(t, a) != "":
		w := p.meantWord(t, a)
		p.fail(CodeItem, p.at(t), "\"%s\" starts no item; did you mean %s?", t.Text, w).Fix(p.at(t), w, "write "+w)
	case isName(t) && isToken(a, ":") && isToken(p.ahead(2), "="):
		p.fail(CodeAssignment, p.at(t), "\":=\" is no operator; write let %s = ... for what follows from other names, param %s = ... for a parameter", t.Text, t.Text).
			Fix(p.at(t).To(p.at(p.ahead(2))), "let "+t.Text+" =", "declare it with let")
	case isName(t) && (isToken(a, "=") || isToken(a, ":")):
		p.fail(CodeAssignment, p.at(t), "\"%s\" is neither declared nor differentiated here; write let %s = ..., param %s = ..., or %s' = ... for an equation",
			t.Text, t.Text, t.Text, t.Text).
			Fix(p.span(t.Start, t.Start), "let ", "declare it with let")
	case isName(t) && (isToken(a, "+=") || isToken(a, "-=") || isToken(a, "*=") || isToken(a, "/=")):
		p.fail(CodeAssignment, p.at(t), "values change in the body of an event only: event when ... { %s %s ... }", t.Text, a.Text)
	case isName(t) && isToken(a, "(") && p.assigned():
		p.fail(CodeAssignment, p.at(t), "write state %s = ... for an initial value, fn %s(...) = ... for a function", t.Text, t.Text)
	case p.commonMistake():
	default:
		p.fail(CodeItem, p.at(t), "%s starts no item; an item starts with a word such as param, state, let or event, or is an equation x' = ...", p.found())
	}
}

// assigned reports whether an = follows the parenthesis behind a name, on its line.
func (p *parse) assigned() bool {
	for i := p.i + 1; i < len(p.tokens) && !p.tokens[i].NewLine; i++ {
		if isToken(&p.tokens[i], ")") {
			return i+1 < len(p.tokens) && isToken(&p.tokens[i+1], "=")
		}
	}
	return false
}

// declares are the words behind which a name is declared with its value.
var declares = map[string]bool{"const": true, "param": true, "state": true, "discrete": true, "alg": true}

// continuation reports a token that was meant to go on with the item before
// it on the line.
func (p *parse) continuation() bool {
	t, before := p.peek(), &p.tokens[p.i-1]
	switch {
	case p.singleQuoted():
	case isToken(t, "(") && isName(before):
		p.fail(CodeUnexpected, p.at(t), "\"(\" cannot follow the name here; an initial value is written state x = 1, a shape x[n]")
	case startsOperand(t) && isName(before) && p.i > 1 && (declares[p.tokens[p.i-2].Text] || isToken(&p.tokens[p.i-2], ",")) && t.Kind == ast.NumberToken:
		p.fail(CodeUnexpected, p.at(t), "expected \"=\" between %s and %s", describe(before, false), p.found()).
			Fix(p.span(t.Start, t.Start), "= ", "write =")
	case startsOperand(t) && endsOperand(before) && !isToken(p.ahead(1), "="):
		p.fail(CodeMissingOperator, p.at(t), "an operator is missing between %s and %s; a product is written %s*%s", describe(before, false), p.found(), before.Text, t.Text).
			Fix(p.span(p.tokens[p.i-1].End, t.Start), "*", "write *")
	case isToken(t, "{"):
		p.fail(CodeUnexpected, p.at(t), "\"{\" cannot stand here; arrays are written [a, b]")
	case isToken(t, ",") && (p.ahead(1).NewLine || p.ahead(1).Kind == ast.EOF):
		p.fail(CodeUnexpected, p.at(t), "no comma stands at the end of an item").Fix(p.at(t), "", "remove it")
	case t.Kind == ast.SignToken && !isToken(t, "}"):
		if !p.commonMistake() {
			p.fail(CodeUnexpected, p.at(t), "unexpected %s after %s", p.found(), describe(before, false))
		}
	default:
		return false
	}
	return true
}

// keywordPlace says where a reserved word that starts no item belongs.
func keywordPlace(word string) string {
	switch word {
	case "when", "at", "every":
		return "an event is written event e " + word + " ... { ... }"
	case "use":
		return "data are used in an experiment: experiment e { use D }"
	case "stop":
		return "a run is stopped in an event: event when ... { stop }"
	case "return":
		return "it ends the body of a function: fn f(x) { let a = x return a }"
	case "rate":
		return "a rate belongs to a reaction: reaction r: A -> B rate k*A"
	case "for":
		return "\"for\" follows an equation or a let: x[i]' = ... for i in 1:n"
	case "if", "then", "elseif", "else":
		return "a condition is an expression: let a = if c then x else y"
	}
	return "it belongs inside an expression"
}

// foreignFile reports a file that is in another language, once, and whether it did.
func (p *parse) foreignFile() bool {
	depth := 0
	for i := range p.tokens {
		t := &p.tokens[i]
		switch {
		case isToken(t, "(") || isToken(t, "[") || isToken(t, "{"):
			depth++
		case isToken(t, ")") || isToken(t, "]") || isToken(t, "}"):
			depth--
		}
		if depth != 0 || !t.NewLine || t.Kind != ast.IdentToken || i > 0 && !p.breaksAfter(i-1) {
			continue
		}
		p.i = i
		a, b := p.ahead(1), p.ahead(2)
		xpp := false
		switch strings.ToLower(t.Text) {
		case "init", "par", "p", "number", "aux":
			xpp = a.Kind == ast.IdentToken && !a.NewLine && isToken(b, "=") && !b.NewLine
		case "done":
			xpp = a.Kind == ast.EOF
		}
		if xpp {
			p.diags.Errorf(CodeForeignFile, p.at(t), "this looks like an XPPAUT file, a language of its own: write par as `param`, init and x(0)= as `state x = …`, aux as `output`, @ total as `time`; see docs/language.md, From other programs")
			return true
		}
	}
	p.i = 0
	return false
}

// breaksAfter reports whether a statement can end with token i.
func (p *parse) breaksAfter(i int) bool {
	t := &p.tokens[i]
	return endsOperand(t) || isToken(t, "}") || isToken(t, ";") || isToken(t, "stop")
}
