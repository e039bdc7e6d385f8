package parser

import (
	"regexp"
	"strings"

	"odes.dev/odes/lang/ast"
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
		d := p.fail(CodeCondition, p.at(t), "an event condition is a comparison: x <= 0, x > 1, or x crosses 0")
		if a := p.ahead(1); a.Kind == ast.NumberToken && word(before, "t", "time") {
			d.Message = "an event at a known time is written event at " + a.Text + " { … }, one on a condition event when x <= 0 { … }"
		}
	case isToken(t, "<=") && first.Text == "reaction" && wants("->") && isToken(p.ahead(1), ">"):
		at := p.at(t).To(p.at(p.ahead(1)))
		p.fail(CodeUnexpected, at, "the sides of a reaction that goes both ways are joined by <->").Fix(at, "<->", "write <->")
	case isToken(t, "=") && first.Text == "reaction" && wants("->"):
		d := p.fail(CodeUnexpected, p.at(t), "the sides of a reaction are joined by -> or <->")
		if a := p.ahead(1); isToken(a, ">") && a.Start == t.End {
			d.Fix(p.at(t).To(p.at(a)), "->", "write ->")
		}
	case first.Text == "constraint" && wants(":") && (isToken(t, "<=") || isToken(t, ">=") || isToken(t, "==") || isToken(t, "(")):
		p.fail(CodeUnexpected, p.at(t), "a constraint has a name and a colon: constraint c: final(x) <= 2")
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
	case first.Text == "event" && wants("{") && p.atEnd():
		p.fail(CodeUnexpected, p.gap(), "an event has a body in braces, which may be empty: event e when x < 0 { }")
	case isToken(t, "=") && isSettings(first.Text) && wants("{"):
		p.fail(CodeUnexpected, p.gap(), "settings stand in braces: %s { %s = … }", first.Text, before.Text)
	case first.Text == "control" && wants("piecewise"):
		p.fail(CodeUnexpected, p.gap(), "a control is given on times: control u = 0 piecewise constant on grid(0, 10, 21)")
	case first.Text == "import" && wants("from") && p.atEnd():
		p.fail(CodeUnexpected, p.gap(), "the file of an import stands in double quotes: import \"%s.ode\", or import \"std/%s.ode\" of a module that is built in", before.Text, before.Text)
	case first.Text == "event" && wants("{") && (isToken(t, ":") || isToken(t, "stop") || isName(t)):
		p.fail(CodeUnexpected, p.at(t), "what an event does stands in braces: event e when x < 0 { x = 0 }")
	case first.Text == "reaction" && wants("rate"):
		d := p.fail(CodeUnexpected, p.gap(), "expected `rate`%s: the rate of a reaction stands behind it, as in reaction r: A + B -> C rate k*A*B", p.behind())
		if isToken(t, ",") || isToken(t, ";") || isToken(t, "@") || isToken(t, ":") {
			d.Span = p.at(t)
			d.Fix(p.span(p.tokens[p.i-1].End, t.End), " rate", "write rate")
		}
	case first.Text == "reaction" && wants(":"):
		p.unnamedReaction(t)
	case isToken(t, ",") && wants("}") && p.listWithoutBrackets(start):
	case isToken(t, ",") && wants("}"):
		p.fail(CodeUnexpected, p.at(t), "no comma stands here; separate by spaces, new lines or ;").Fix(p.at(t), ";", "write ;")
	case (isToken(t, "+") && isToken(p.ahead(1), "+") || isToken(t, "-") && isToken(p.ahead(1), "-")) && wants(t.Text+"="):
		at := p.at(t).To(p.at(p.ahead(1)))
		p.fail(CodeUnexpected, at, "\"%s%s\" is no operator; write %s %s= 1", t.Text, t.Text, before.Text, t.Text).Fix(at, " "+t.Text+"= 1", "write "+t.Text+"= 1")
	case isToken(t, ":") && wants("=") && len(expected) == 1 && isSettings(first.Text):
		p.fail(CodeUnexpected, p.at(t), "a setting is written %s = value", before.Text).Fix(p.at(t), " =", "write =")
	case isToken(t, "'") && (first.Text == "state" || first.Text == "param"):
		p.fail(CodeUnexpected, p.at(t), "a derivative is no variable of its own; for a second-order equation declare both states: state x = 1, v = 0, with x' = v and v' = ...")
	case first.Text == "objective" && isToken(t, "(") && wants("="):
		p.fail(CodeUnexpected, p.at(t), "an objective has a name: objective J = %s(…)", before.Text).
			Fix(p.span(before.Start, before.Start), "J = ", "write J =")
	case t.Kind == ast.KeywordToken && first.Text == "event" && wants("when") && t == &p.tokens[start+1] && (isToken(p.ahead(1), "when") || isToken(p.ahead(1), "at") || isToken(p.ahead(1), "every")):
		p.reserved(t)
		p.failed = true
	case isToken(t, "if") && first.Text == "event" && wants("when"):
		p.fail(CodeUnexpected, p.at(t), "a condition follows `when`, and what happens stands in braces: event e when x < 0 { x = 0 }").Fix(p.at(t), "when", "write when")
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

// unnamedReaction reports a reaction that starts with its species.
func (p *parse) unnamedReaction(t *ast.Token) {
	p.fail(CodeUnexpected, p.at(t), "a reaction has a name and a colon before its species: reaction r: 2 A -> B rate k*A^2")
}

// listWithoutBrackets reports the comma of a setting with several values, as
// in `time = 1, 2, 4`, and whether the next token is one.
func (p *parse) listWithoutBrackets(start int) bool {
	isValue := func(i int) bool {
		t := &p.tokens[i]
		return t.Kind == ast.NumberToken || t.Kind == ast.StringToken || isName(t) && i+1 < len(p.tokens) && !isToken(&p.tokens[i+1], "=")
	}
	if !isValue(p.i+1) && !isToken(p.ahead(1), "-") {
		return false
	}
	from := p.i - 1
	for from > start && !isToken(&p.tokens[from-1], "=") {
		from--
	}
	to := p.i
	for isToken(&p.tokens[to], ",") || isToken(&p.tokens[to], "-") || isValue(to) {
		to++
	}
	d := p.fail(CodeUnexpected, p.at(p.peek()), "several values stand in brackets: [a, b, c]")
	if whole := p.span(p.tokens[from].Start, p.tokens[to-1].End); to-from < 100 && !isToken(&p.tokens[to-1], ",") {
		d.Fix(whole, "["+whole.Text()+"]", "write brackets")
	}
	return true
}

// withOptional adds what the grammar leaves out of its account because it is optional.
func withOptional(item string, expected []string) []string {
	if len(expected) != 1 {
		return expected
	}
	switch expected[0] {
	case `"}"`:
		if what := holds(item); what != "" {
			return []string{what, `"}"`}
		}
	case `")"`:
		return []string{`","`, `")"`}
	case `"return"`:
		return []string{`"let"`, `"return"`}
	}
	return expected
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

// breaksAfter reports whether a statement can end with token i.
func (p *parse) breaksAfter(i int) bool {
	t := &p.tokens[i]
	return endsOperand(t) || isToken(t, "}") || isToken(t, ";") || isToken(t, "stop")
}
