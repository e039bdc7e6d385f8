package parser

import (
	"regexp"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
)

// This file says what is wrong where no item starts, and what to write instead.

// nearest returns the item word that word probably means, or "".
func nearest(word string) string {
	word = strings.ToLower(word)
	if w, ok := spellings[word]; ok {
		return w
	}
	w, _ := diag.Nearest(word, ItemWords())
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
	if isToken(a, "'") || isToken(a, "=") || isToken(a, "->") || isToken(a, "<->") || p.meantWord(t, a) != "" {
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
	case isToken(t, "if") && glued && endsOperand(&p.tokens[p.i-1]):
		p.fail(CodeItem, p.at(t), "the condition stands first: if c then a else b")
	case isToken(t, "at") && glued && (p.itemWord() == "objective" || p.itemWord() == "let" || p.itemWord() == "output"):
		p.fail(CodeItem, p.at(t), "the value of x at a time is an objective, sum_at(5, x); at the end it is final(x)")
	case isToken(t, "}"), isToken(t, ")"), isToken(t, "]"):
		p.fail(CodeUnclosed, p.at(t), "\"%s\" closes nothing; no bracket is open here", t.Text)
	case isToken(t, "/") && (isToken(a, "/") || isToken(a, "*")), isToken(t, "%") && t.NewLine:
		at := p.at(t)
		if isToken(t, "/") {
			at = at.To(p.at(a))
		}
		p.fail(CodeForeignOperator, at, "comments start with #").Fix(at, "#", "write #")
	case t.Kind == ast.KeywordToken:
		p.fail(CodeItem, p.at(t), "\"%s\" starts no item; %s", t.Text, keywordPlace(t.Text))
	case t.Text == "def" || t.Text == "function" || t.Text == "func":
		p.fail(CodeItem, p.at(t), "\"%s\" starts no item; a function is written fn f(x) = x^2, or fn f(x) { let a = x^2  return a }", t.Text)
	case t.NewLine && isName(a) && slices.Contains([]string{"plot", "print", "show", "solve", "simulate", "run"}, t.Text):
		p.fail(CodeItem, p.at(t), "\"%s\" starts no item; what is done with a model is said on the command line: odes plot model.ode %s, odes run model.ode", t.Text, a.Text)
	case isName(t) && isToken(a, "<") && isToken(p.ahead(2), "-"):
		p.fail(CodeItem, p.at(a).To(p.at(p.ahead(2))), "\"<-\" gives no value; each name is declared: param r = 0.1, state N = 1")
	case t.NewLine && !a.NewLine && slices.Contains([]string{"dose", "bolus", "infusion", "infuse"}, t.Text):
		p.fail(CodeItem, p.at(t), "\"%s\" starts no item; a dose is an event: event dose at 0 { A += D }, or event dose every 12 from 0 { A += D }", t.Text)
	case isName(t) && (isToken(a, "->") || isToken(a, "<->")):
		p.fail(CodeItem, p.at(t), "a reaction is written reaction r: A -> B rate k*A")
	case p.meantWord(t, a) == "objective" && !isToken(p.ahead(2), "="):
		p.fail(CodeItem, p.at(t), "\"%s\" starts no item; an objective has a name: objective J = final(x)", t.Text).
			Fix(p.at(t), "objective J =", "write objective J =")
	case p.meantWord(t, a) != "":
		w := p.meantWord(t, a)
		p.fail(CodeItem, p.at(t), "\"%s\" starts no item; did you mean %s?", t.Text, w).Fix(p.at(t), w, "write "+w)
	case isName(t) && isToken(a, ":") && isToken(p.ahead(2), "="):
		p.fail(CodeAssignment, p.at(t), "\":=\" is no operator; write let %s = ... for what follows from other names, param %s = ... for a parameter", t.Text, t.Text).
			Fix(p.at(t).To(p.at(p.ahead(2))), "let "+t.Text+" =", "declare it with let")
	case isName(t) && isToken(a, "=") && p.behindDeclaration() != "":
		before := &p.tokens[p.i-1]
		at, why := p.at(t), "a comma is missing"
		comma := p.span(before.End, before.End)
		if isToken(before, ";") {
			at, why = p.at(before), "a semicolon ends the declaration"
			comma = at
		}
		p.fail(CodeAssignment, at, "%s; names that are declared together are separated by commas: %s a = 1, b = 2", why, p.behindDeclaration()).
			Fix(comma, ",", "write a comma")
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

// behindDeclaration returns the word of the declaration that just ended on the
// line of the next token, or "".
func (p *parse) behindDeclaration() string {
	if p.i == 0 || p.peek().NewLine {
		return ""
	}
	for i := p.i - 1; i >= 0; i-- {
		t := &p.tokens[i]
		if t.Kind == ast.KeywordToken && gives(t.Text) == several {
			return t.Text
		}
		if t.NewLine || t.Kind == ast.KeywordToken && itemWords[t.Text] {
			break
		}
	}
	return ""
}

// itemWord returns the reserved word that starts the item before the next token, or "".
func (p *parse) itemWord() string {
	for i := p.i - 1; i >= 0; i-- {
		if t := &p.tokens[i]; t.Kind == ast.KeywordToken && p.startsItem(i) {
			return t.Text
		} else if isToken(t, ";") || isToken(t, "}") {
			break
		}
	}
	return ""
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

// called are functions that are read without parentheses elsewhere.
var called = map[string]bool{"final": true, "initial": true, "integral": true, "sin": true, "cos": true, "tan": true, "exp": true, "log": true, "sqrt": true, "abs": true}

// continuation reports a token that was meant to go on with the item before
// it on the line.
func (p *parse) continuation() bool {
	t, before := p.peek(), &p.tokens[p.i-1]
	switch {
	case p.singleQuoted():
	case isToken(t, ",") && gives(p.itemWord()) == one && isName(p.ahead(1)) && isToken(p.ahead(2), "="):
		w := p.itemWord()
		p.fail(CodeUnexpected, p.at(t), "%s gives one name; write %s again: %s %s = ...", w, w, w, p.ahead(1).Text).Fix(p.at(t), "; "+w, "write "+w)
	case isName(t) && (t.Text == "bounds" || t.Text == "between" || t.Text == "within") && isToken(p.ahead(1), "["):
		p.fail(CodeUnexpected, p.at(t), "bounds stand behind in: param k = 1 in [0, 10]").Fix(p.at(t), "in", "write in")
	case isName(t) && isName(before) && called[before.Text]:
		p.fail(CodeUnexpected, p.at(t), "what a function is of stands in parentheses: %s(%s)", before.Text, t.Text).
			Fix(p.span(before.End, t.End), "("+t.Text+")", "write parentheses")
	case isToken(t, "(") && p.itemWord() == "model":
		p.fail(CodeUnexpected, p.at(t), "a model takes no arguments; what can be set from outside is declared with param")
	case isToken(t, "(") && isName(before):
		p.fail(CodeUnexpected, p.at(t), "\"(\" cannot follow the name here; an initial value is written state x = 1, a shape x[n]")
	case startsOperand(t) && isName(before) && p.i > 1 && (gives(p.tokens[p.i-2].Text) == several || isToken(&p.tokens[p.i-2], ",")) && t.Kind == ast.NumberToken:
		p.fail(CodeUnexpected, p.at(t), "expected \"=\" between %s and %s", describe(before, false), p.found()).
			Fix(p.span(t.Start, t.Start), "= ", "write =")
	case isToken(t, "'") && isName(before) && before.NewLine && p.i > 1 && isToken(&p.tokens[p.i-2], ","):
		comma := p.at(&p.tokens[p.i-2])
		p.fail(CodeUnexpected, comma, "no comma stands at the end of an item").Fix(comma, "", "remove it")
	case t.Kind == ast.StringToken && p.itemWord() == "assert":
		p.fail(CodeUnexpected, p.at(t), "the text of an assertion stands behind a comma: assert k > 0, %s", p.at(t).Text()).
			Fix(p.span(before.End, before.End), ",", "write a comma")
	case isToken(t, "=") && p.itemWord() == "invariant":
		p.fail(CodeCondition, p.at(t), "an invariant is an equality: invariant a + b == 1").Fix(p.at(t), "==", "write ==")
	case isName(t) && slices.Contains([]string{"by", "step", "steps", "dt", "every", "with"}, t.Text) && p.itemWord() == "time":
		p.fail(CodeUnexpected, p.at(t), "%s cannot stand behind the end of the time; the solver chooses its steps, and --times 0:0.1:10 the times to report", p.found())
	case isName(t) && (t.Text == "from" || t.Text == "to") && isToken(before, ")"):
		p.fail(CodeUnexpected, p.at(t), "bounds of an integral are arguments: integral(x, from = 0, to = 5)")
	case t.Kind == ast.IdentToken && before.Kind == ast.NumberToken && !isToken(p.ahead(1), "="):
		p.fail(CodeMissingOperator, p.at(t), "an operator is missing between %s and %s; a product is written %s*%s, a unit in brackets: %s [%s]",
			describe(before, false), p.found(), before.Text, t.Text, before.Text, t.Text)
	case startsOperand(t) && endsOperand(before) && !isToken(p.ahead(1), "="):
		product := before.Text + "*" + t.Text
		if before.Kind == ast.SignToken || t.Kind == ast.SignToken {
			product = "a*b"
		}
		p.fail(CodeMissingOperator, p.at(t), "an operator is missing between %s and %s; a product is written %s", describe(before, false), p.found(), product).
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
		return "a condition is an expression: x' = if c then a else b"
	case "end":
		return "an item ends by itself, and so does a loop: x[i]' = ... for i in 1:n"
	}
	return "it belongs inside an expression"
}
