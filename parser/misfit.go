package parser

import (
	"regexp"
	"strings"

	"odes.dev/odes/internal/base/lazy"
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
	derivative = lazy.Regexp(`^(?:der|dot|ddt|D|Differential)\s*\(\s*([\pL_][\pL\p{Nd}_]*)\s*\)`)
	quotient   = lazy.Regexp(`^d\s*/\s*dt\s*\(\s*([\pL_][\pL\p{Nd}_]*)\s*\)`)
	whole      = lazy.Regexp(`^d\s*\(\s*([\pL_][\pL\p{Nd}_]*)\s*\)\s*/\s*d[\pL_]+`) // d(x)/dt
	leibniz    = lazy.Regexp(`^d([\pL_][\pL\p{Nd}_]*)\s*/\s*d[\pL_]+`)
	numbered   = lazy.Regexp(`^(?:[dD][\pL_]+_?[dD][tT]|DADT)$`) // what MATLAB and NONMEM number
	// names of derivatives that are made of the name of a state: dxdt, dx, x_dot
	named = lazy.Regexp(`^(?:d_?([\pL_][\pL\p{Nd}_]*?)(?:_?dt)?|([\pL_][\pL\p{Nd}_]*?)(?:_?dot|_?prime|_t))$`)
)

// otherDerivative returns the state and the text of a derivative in another
// notation that starts with token t, or "".
func (c *cursor) otherDerivative(t *ast.Token) (state, text string) {
	if t.Kind != ast.IdentToken {
		return "", ""
	}
	rest := c.file.Text()[t.Start:]
	rest = rest[:min(len(rest), 200)]
	for _, form := range []func() *regexp.Regexp{derivative, quotient, whole, leibniz} {
		if m := form().FindStringSubmatch(rest); m != nil {
			return m[1], m[0]
		}
	}
	if m := named().FindStringSubmatch(t.Text); m != nil && isToken(&c.tokens[c.tokenAt(t.Start)+1], "=") &&
		c.lacksEquation(m[1]+m[2]) {
		return m[1] + m[2], t.Text
	}
	return "", ""
}

// meantItem reports whether token i, the first of its line, was meant to start an item and does not. There is advice on
// it in misfits.
func (c *cursor) meantItem(i int) bool {
	t, a := &c.tokens[i], &c.tokens[min(i+1, len(c.tokens)-1)]
	if !isName(t) || i > 0 && isToken(&c.tokens[i-1], ",") || i > 0 && !c.breaksAfter(i-1) {
		return false
	}
	if isToken(a, "'") || isToken(a, "=") || isToken(a, "->") || isToken(a, "<->") || c.meantWord(t, a) != "" {
		return true
	}
	state, _ := c.otherDerivative(t)
	return state != ""
}

// meantWord returns the item word that t, followed by a, was meant to be, or "".
func (c *cursor) meantWord(t, a *ast.Token) string {
	if t.Kind == ast.IdentToken && !a.NewLine &&
		(isName(a) || isToken(a, "{") || a.Kind == ast.StringToken || a.Kind == ast.KeywordToken) {
		return nearest(t.Text)
	}
	return ""
}

// misfit reports the next token, which starts no item.
func (r *reporter) misfit() { r.site().answer(misfits) }

// misfits are the mistakes where an item should start. What is glued was meant to continue the item before it on the
// line.
var misfits = []advice{
	{
		example: "d/dt(x) = -x",
		tell:    (*site).otherNotation,
	},
	{
		example: "experiments from D by D.id { }",
		name:    "experiments",
		when:    func(s *site) bool { return s.after.Text == "from" },
		code:    CodeItem,
		message: "experiments from a table have a name: experiment subject from D by D.id { … }",
		fix:     replacement{onNext, "experiment subject", "write experiment subject"},
	},
	{
		example: "model M 'a model'",
		glued:   true,
		tell:    func(s *site) bool { return s.singleQuoted() },
	},
	{
		example: "let a = 1, b = 2",
		next:    ",", glued: true,
		when: func(s *site) bool {
			return gives(s.word()) == one && isName(s.after) && isToken(s.third, "=")
		},
		message: "{item} gives one name; write {item} again: {item} {after} = ...",
		fix:     replacement{onNext, "; {item}", "write {item}"},
	},
	{
		example: "param k = 1 bounds [0, 10]",
		name:    "bounds between within", after: "[", glued: true,
		message: "bounds stand behind in: param k = 1 in [0, 10]",
		fix:     replacement{onNext, "in", "write in"},
	},
	{
		example: "objective J = final x",
		glued:   true,
		when:    func(s *site) bool { return isName(s.next) && isName(s.before) && lists(called, s.before.Text) },
		message: "what a function is of stands in parentheses: {before}({next})",
		fix:     replacement{withNext, "({next})", "write parentheses"},
	},
	{
		example: "model M(k)",
		next:    "(", item: "model", glued: true,
		message: "a model takes no arguments; what can be set from outside is declared with param",
	},
	{
		example: "state x(0) = 1",
		next:    "(", glued: true,
		when:    func(s *site) bool { return isName(s.before) },
		message: "\"(\" cannot follow the name here; an initial value is written state x = 1, a shape x[n]",
	},
	{
		example: "param k 2",
		glued:   true,
		when: func(s *site) bool {
			if s.next.Kind != ast.NumberToken || !isName(s.before) || s.i < 2 {
				return false
			}
			second := &s.tokens[s.i-2]
			return gives(second.Text) == several || isToken(second, ",")
		},
		message: "expected \"=\" between {last} and {found}",
		fix:     replacement{atNext, "= ", "write ="},
	},
	{
		example: "param k = 1,\nx' = -k*x",
		next:    "'", glued: true,
		when: func(s *site) bool {
			return isName(s.before) && s.before.NewLine && s.i > 1 && isToken(&s.tokens[s.i-2], ",")
		},
		at:      onComma,
		message: noCommaAtEnd,
		fix:     replacement{onComma, "", "remove it"},
	},
	{
		example: "assert k > 0 \"too small\"",
		item:    "assert", glued: true,
		when:    func(s *site) bool { return s.next.Kind == ast.StringToken },
		message: "the text of an assertion stands behind a comma: assert k > 0, {text}",
		fix:     replacement{behindBefore, ",", "write a comma"},
	},
	{
		example: "invariant x + y = 1",
		next:    "=", item: "invariant", glued: true,
		code:    CodeCondition,
		message: "an invariant is an equality: invariant a + b == 1",
		fix:     replacement{onNext, "==", "write =="},
	},
	{
		example: "constraint c: a = b",
		next:    "=", item: "constraint", glued: true,
		code:    CodeCondition,
		message: "a constraint compares: constraint c: a == b, a <= b or a >= b",
		fix:     replacement{onNext, "==", "write =="},
	},
	{
		example: "time t from 0 to 10 steps 100",
		name:    "by step steps dt every with", item: "time", glued: true,
		message: "{found} cannot stand behind the end of the time; the solver chooses its steps, " +
			"and --times 0:0.1:10 the times to report",
	},
	{
		example: "objective J = integral(x) from 0 to 5",
		name:    "from to", before: ")", glued: true,
		message: "bounds of an integral are arguments: integral(x, from = 0, to = 5)",
	},
	{
		example: "param k = 2 mol",
		glued:   true,
		when: func(s *site) bool {
			return s.next.Kind == ast.IdentToken && s.before.Kind == ast.NumberToken && !isToken(s.after, "=")
		},
		code: CodeMissingOperator,
		message: "an operator is missing between {last} and {found}; " +
			"a product is written {before}*{next}, a unit in brackets: {before} [{next}]",
	},
	{
		example: "let a = (1 + b) c",
		glued:   true,
		when: func(s *site) bool {
			return s.lacksOperator() && (s.before.Kind == ast.SignToken || s.next.Kind == ast.SignToken)
		},
		code:    CodeMissingOperator,
		message: "an operator is missing between {last} and {found}; a product is written a*b",
		fix:     replacement{between, "*", "write *"},
	},
	{
		example: "let a = b c",
		glued:   true,
		when:    (*site).lacksOperator,
		code:    CodeMissingOperator,
		message: "an operator is missing between {last} and {found}; a product is written {before}*{next}",
		fix:     replacement{between, "*", "write *"},
	},
	{
		example: "let a = b {1, 2}",
		next:    "{", glued: true,
		message: "\"{\" cannot stand here; arrays are written [a, b]",
	},
	{
		example: "let a = b,\nlet c = 1",
		next:    ",", glued: true,
		when:    func(s *site) bool { return s.after.NewLine || s.after.Kind == ast.EOF },
		message: noCommaAtEnd,
		fix:     replacement{onNext, "", "remove it"},
	},
	{
		example: "let a = b ? 1 : 2",
		glued:   true,
		when:    (*site).strangeSign,
		tell:    func(s *site) bool { return s.commonMistake() },
	},
	{
		example: "let a = b -> c",
		glued:   true,
		when:    (*site).strangeSign,
		message: "unexpected {found} after {last}",
	},
	{
		example: "let a = b if c",
		next:    "if", glued: true,
		when:    func(s *site) bool { return endsOperand(s.before) },
		code:    CodeItem,
		message: "the condition stands first: if c then a else b",
	},
	{
		example: "objective J = x at 5",
		next:    "at", item: "objective let output", glued: true,
		code:    CodeItem,
		message: "the value of x at a time is an objective, sum_at(5, x); at the end it is final(x)",
	},
	{
		example: "param k = 1\n}",
		next:    "} ) ]",
		code:    CodeUnclosed,
		message: "\"{next}\" closes nothing; no bracket is open here",
	},
	{
		example: "// a comment",
		next:    "/", after: "/ *",
		code: CodeForeignOperator, at: nextToAfter,
		message: commentsStart,
		fix:     replacement{nextToAfter, "#", "write #"},
	},
	{
		example: "% a comment",
		next:    "%",
		when:    func(s *site) bool { return s.next.NewLine },
		code:    CodeForeignOperator,
		message: commentsStart,
		fix:     replacement{onNext, "#", "write #"},
	},
	{
		example: "when x > 1 { x = 0 }",
		when:    func(s *site) bool { return s.next.Kind == ast.KeywordToken },
		code:    CodeItem,
		message: "\"{next}\" starts no item; {place}",
	},
	{
		example: "def f(x): x^2",
		name:    "def function func",
		code:    CodeItem,
		message: "\"{next}\" starts no item; a function is written fn f(x) = x^2, " +
			"or fn f(x) { let a = x^2  return a }",
	},
	{
		example: "eta e_CL ~ normal(0, 0.3)",
		name:    "random eta omega",
		when:    func(s *site) bool { return isName(s.after) },
		code:    CodeItem,
		message: "\"{next}\" starts no item; a number that differs from subject to subject is written " +
			"random {after} ~ normal(0, w)",
	},
	{
		example: "past(x, 1) = exp(t/10)",
		name:    "past",
		after:   "(",
		when:    func(s *site) bool { return isName(s.third) },
		code:    CodeItem,
		message: "what a state is before the start is written past x = …, for all delays",
	},
	{
		example: "plot x",
		name:    "plot print show solve simulate run",
		when:    func(s *site) bool { return s.next.NewLine && isName(s.after) },
		code:    CodeItem,
		message: "\"{next}\" starts no item; what is done with a model is said on the command line: " +
			"odes plot model.ode {after}, odes run model.ode",
	},
	{
		example: "r <- 0.1",
		after:   "<",
		when:    func(s *site) bool { return isName(s.next) && isToken(s.third, "-") },
		code:    CodeItem, at: afterToThird,
		message: arrowGivesNothing,
	},
	{
		example: "dose 100 at 0",
		name:    "dose bolus infusion infuse",
		when:    func(s *site) bool { return s.next.NewLine && !s.after.NewLine },
		code:    CodeItem,
		message: "\"{next}\" starts no item; a dose is an event: event dose at 0 { A += D }, " +
			"or event dose every 12 from 0 { A += D }",
	},
	{
		example: "A -> B",
		after:   "-> <->",
		when:    func(s *site) bool { return isName(s.next) },
		code:    CodeItem,
		message: "a reaction is written reaction r: A -> B rate k*A",
	},
	{
		example: "c.x' += 1",
		after:   ".",
		when:    func(s *site) bool { return isName(s.next) && isName(s.third) },
		code:    CodeItem,
		message: "\"{next}\" starts no item here; equations of a component stand in its file: give it a param for " +
			"what acts on it, and set that: use Cell as {next} { input = ... }",
	},
	{
		example: "minimize J",
		when: func(s *site) bool {
			return s.meantWord(s.next, s.after) == "objective" && !isToken(s.third, "=")
		},
		code:    CodeItem,
		message: "\"{next}\" starts no item; an objective has a name: objective J = final(x)",
		fix:     replacement{onNext, "objective J =", "write objective J ="},
	},
	{
		example: "parameter k = 1",
		when:    func(s *site) bool { return s.meantWord(s.next, s.after) != "" },
		code:    CodeItem,
		message: "\"{next}\" starts no item; did you mean {meant}?",
		fix:     replacement{onNext, "{meant}", "write {meant}"},
	},
	{
		example: "k := 1",
		after:   ":",
		when:    func(s *site) bool { return isName(s.next) && isToken(s.third, "=") },
		code:    CodeAssignment,
		message: "\":=\" is no operator; write let {next} = ... for what follows from other names, " +
			"param {next} = ... for a parameter",
		fix: replacement{nextToThird, "let {next} =", "declare it with let"},
	},
	{
		example: "param a = 1; b = 2",
		before:  ";", after: "=",
		when: func(s *site) bool { return isName(s.next) && s.behindDeclaration() != "" },
		code: CodeAssignment, at: onBefore,
		message: "a semicolon ends the declaration" + declaredTogether,
		fix:     replacement{onBefore, ",", "write a comma"},
	},
	{
		example: "param a = 1 b = 2",
		after:   "=",
		when:    func(s *site) bool { return isName(s.next) && s.behindDeclaration() != "" },
		code:    CodeAssignment,
		message: "a comma is missing" + declaredTogether,
		fix:     replacement{behindBefore, ",", "write a comma"},
	},
	{
		example: "state x = 1\nx = -x",
		after:   "=",
		when:    func(s *site) bool { return isName(s.next) && s.lacksEquation(s.next.Text) },
		code:    CodeAssignment,
		message: "the equation of a state gives its derivative: {next}' = ...",
		fix:     replacement{behindNext, "'", "write {next}'"},
	},
	{
		example: "alg z = 1\nz = 2",
		after:   "=",
		when:    func(s *site) bool { return isName(s.next) && s.declaredBy(s.next.Text) == "alg" },
		code:    CodeAssignment,
		message: "an algebraic equation is solved for the unknown: 0 = {next} - (...)",
	},
	{
		example: "param k = 1\nk = 2",
		after:   "=",
		when:    func(s *site) bool { return isName(s.next) && s.declaredBy(s.next.Text) != "" },
		code:    CodeAssignment,
		message: "\"{next}\" is declared already; values change in the body of an event only: " +
			"event when ... { {next} = ... }",
	},
	{
		example: "k = 1",
		after:   "= :",
		when:    func(s *site) bool { return isName(s.next) },
		code:    CodeAssignment,
		message: "\"{next}\" is neither declared nor differentiated here; " +
			"write let {next} = ..., param {next} = ..., or {next}' = ... for an equation",
		fix: replacement{atNext, "let ", "declare it with let"},
	},
	{
		example: "x += 1",
		after:   "+= -= *= /=",
		when:    func(s *site) bool { return isName(s.next) },
		code:    CodeAssignment,
		message: "values change in the body of an event only: event when ... { {next} {after} ... }",
	},
	{
		example: "dydt(1) = y(2)",
		after:   "(",
		when:    func(s *site) bool { return s.assigned() && numbered().MatchString(s.next.Text) },
		code:    CodeDerivative,
		message: "write the derivatives of a vector as y[1]' = ..., or give each state a name: A' = ...",
	},
	{
		example: "x(0) = 1",
		after:   "(",
		when:    func(s *site) bool { return isName(s.next) && s.assigned() },
		code:    CodeAssignment,
		message: "write state {next} = ... for an initial value, fn {next}(...) = ... for a function",
	},
	{
		example: "? x",
		tell:    func(s *site) bool { return s.commonMistake() },
	},
	{
		example: "123",
		code:    CodeItem,
		message: "{found} starts no item; " +
			"an item starts with a word such as param, state, let or event, or is an equation x' = ...",
	},
}

// Messages, and parts of them, that several rows share.
const (
	commentsStart     = "comments start with #"
	arrowGivesNothing = "\"<-\" gives no value; each name is declared: param r = 0.1, state N = 1"
	declaredTogether  = "; names that are declared together are separated by commas: {declaration} a = 1, b = 2"
)

// called are functions that other languages write without parentheses.
const called = "final initial integral sin cos tan exp log sqrt abs"

// otherNotation reports a derivative in the notation of another language.
func (s *site) otherNotation() bool {
	state, text := s.otherDerivative(s.next)
	if state == "" {
		return false
	}
	at := s.span(s.next.Start, s.next.Start+len(text))
	s.fail(CodeDerivative, at, "write the derivative as %s' = ...", state).Fix(at, state+"'", "write "+state+"'")
	return true
}

// lacksEquation reports whether a state of some name is declared, and no equation begins with it.
func (c *cursor) lacksEquation(name string) bool {
	word, equation := c.declaration(name)
	return word == "state" && !equation
}

// declaredBy returns the word that declares a name, or "".
func (c *cursor) declaredBy(name string) string {
	word, _ := c.declaration(name)
	return word
}

// declaration returns the word that declares a name, or "", and whether an equation begins with it.
func (c *cursor) declaration(name string) (word string, equation bool) {
	within, depth := "", 0
	for i := range c.tokens {
		switch t := &c.tokens[i]; {
		case t.Text == name && c.startsEquation(i):
			equation = true
		case c.startsItem(i):
			within, depth = t.Text, 0
		case isOneOf(t, "( [ {"):
			depth++
		case isOneOf(t, ") ] }"):
			depth--
		case depth == 0 && t.Text == name && gives(within) != none && (isToken(&c.tokens[i-1], within) ||
			gives(within) == several && isToken(&c.tokens[i-1], ",")):
			word = within
		}
	}
	return word, equation
}

// lacksOperator reports two operands in a row.
func (s *site) lacksOperator() bool {
	return startsOperand(s.next) && endsOperand(s.before) && !isToken(s.after, "=")
}

// strangeSign reports a sign that cannot continue an item. A closing brace can: it may close the block around the item.
func (s *site) strangeSign() bool { return s.next.Kind == ast.SignToken && !isToken(s.next, "}") }

// behindDeclaration returns the word of the declaration that just ended on the
// line of the next token, or "".
func (c *cursor) behindDeclaration() string {
	if c.i == 0 || c.peek().NewLine {
		return ""
	}
	for i := c.i - 1; i >= 0; i-- {
		t := &c.tokens[i]
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
func (c *cursor) itemWord() string {
	for i := c.i - 1; i >= 0; i-- {
		if t := &c.tokens[i]; t.Kind == ast.KeywordToken && c.startsItem(i) {
			return t.Text
		} else if isToken(t, ";") || isToken(t, "}") {
			break
		}
	}
	return ""
}

// assigned reports whether an = follows the parenthesis behind a name, on its line.
func (c *cursor) assigned() bool {
	for i := c.i + 1; i < len(c.tokens) && !c.tokens[i].NewLine; i++ {
		if isToken(&c.tokens[i], ")") {
			return i+1 < len(c.tokens) && isToken(&c.tokens[i+1], "=")
		}
	}
	return false
}
