package parser

import (
	"strings"

	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
)

// This file says what is wrong where the tokens do not fit the grammar of an
// item, and what to write instead.

// partNames says what the parts of the grammar are, for "expected …".
var partNames = map[string]string{
	"newName": "a name", "optName": "a name", "dotName": "a name",
	"keyName": "a name", "LValue": "a name", "Expr": "an expression",
	"unitValue": "an expression", "Unit": "a unit in brackets", "Specie": "a species",
	"String":  "a string in double quotes",
	"VarDecl": "a name", "FnParam": "a parameter", "Prime": "'",
}

var expectedPart = lazy.Regexp(`(?s)\(expected (.*)\)$`)

// expectation turns participle's account of what it wanted, a production in
// its own notation, into the tokens or parts that could have come next.
func expectation(message string) []string {
	if m := expectedPart().FindStringSubmatch(message); m != nil {
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

// unexpected reports the next token, which lies inside the item that starts at token start and should have been one of
// expected.
func (r *reporter) unexpected(start int, expected []string) {
	s := r.site()
	s.start, s.expected = start, expected
	s.word = func() string { return r.tokens[start].Text }
	s.answer(mistakes)
}

// mistakes are those inside items.
var mistakes = []advice{
	{
		example: "event e at 1 { output z = 3 }",
		next:    "output", item: "event fn equilibrate experiment",
		code:    CodeUnexpected,
		message: "an output stands at the top level of the file; write let",
		fix:     replacement{onNext, "let", "write let"},
	},
	{
		example: "event e when t = 5 { x = 1 }",
		next:    "=", item: "event",
		when: func(s *site) bool { return s.after.Kind == ast.NumberToken && word(s.before, "t", "time") },
		code: CodeCondition,
		message: "an event at a known time is written event at {after} { … }, " +
			"one on a condition event when x <= 0 { … }",
	},
	{
		example: "event e when x = 5 { x = 1 }",
		next:    "=", item: "event",
		code:    CodeCondition,
		message: "an event condition is a comparison: x <= 0, x > 1, or x crosses 0",
	},
	{
		example: "reaction r: A <=> B rate k*A",
		next:    "<=", after: ">", wants: "->", item: "reaction",
		at:      nextToAfter,
		message: "the sides of a reaction that goes both ways are joined by <->",
		fix:     replacement{nextToAfter, "<->", "write <->"},
	},
	{
		example: "reaction r: A => B rate k*A",
		next:    "=", after: ">", wants: "->", item: "reaction",
		when:    func(s *site) bool { return s.after.Start == s.next.End },
		message: "the sides of a reaction are joined by -> or <->",
		fix:     replacement{nextToAfter, "->", "write ->"},
	},
	{
		example: "reaction r: A = B rate k*A",
		next:    "=", wants: "->", item: "reaction",
		message: "the sides of a reaction are joined by -> or <->",
	},
	{
		example: "constraint final(x) <= 2",
		next:    "<= >= == (", wants: ":", item: "constraint",
		message: "a constraint has a name and a colon: constraint c: final(x) <= 2",
	},
	{
		example: "constraint c = 2",
		next:    "=", item: "constraint",
		message: "a constraint is written constraint {before}: a <= b",
	},
	{
		example: "x' == 2",
		next:    "==", wants: "=",
		message: "\"==\" compares; write = to give a value",
		fix:     replacement{onNext, "=", "write ="},
	},
	{
		example: "x'' = -x",
		next:    "'", before: "'",
		code: CodeSecondOrder, at: beforeToNext,
		message: "there are no second derivatives; write x' = v and v' = ...",
	},
	{
		example: "x'[1] = -x",
		next:    "[", before: "'",
		code:    CodePrime,
		message: "the index stands before the prime: x[i]' = ...",
	},
	{
		example: "event e when x > 1 {\n  y = 2\nx' = -x",
		next:    "'",
		when: func(s *site) bool {
			return s.before.NewLine && s.openBrace(s.start) != &s.tokens[s.start] && s.startsPrimed(s.i-1)
		},
		tell: (*site).unclosedAtEquation,
	},
	{
		example: "event e when x > 1 { y 'a' }",
		tell:    func(s *site) bool { return s.singleQuoted() },
	},
	{
		example: "event e when x > 1 { x' = -x }",
		next:    "'",
		when: func(s *site) bool {
			inBody := len(s.expected) > 1 && s.expected[1] == `"+="` && s.word() == "event"
			return inBody || s.wants("}")
		},
		code:    CodePrime,
		message: "an event sets values; an equation x' = ... stands outside its body",
	},
	{
		example: "let f(x) = x^2",
		next:    "(", wants: "=", item: "let",
		message: "a function is declared with fn: fn {before}(...) = ...",
		fix:     replacement{onFirst, "fn", "write fn"},
	},
	{
		example: "event e when x > 1",
		wants:   "{", item: "event",
		when:    func(s *site) bool { return s.atEnd() },
		at:      inGap,
		message: "an event has a body in braces, which may be empty: event e when x < 0 { }",
	},
	{
		example: "solver rtol = 1e-9",
		next:    "=", wants: "{",
		when:    func(s *site) bool { return isSettings(s.word()) },
		at:      inGap,
		message: "settings stand in braces: {item} { {before} = … }",
	},
	{
		example: "control u = 0",
		wants:   "piecewise", item: "control",
		at:      inGap,
		message: "a control is given on times: control u = 0 piecewise constant on grid(0, 10, 21)",
	},
	{
		example: "import hill",
		wants:   "from", item: "import",
		when: func(s *site) bool { return s.atEnd() },
		at:   inGap,
		message: "the file of an import stands in double quotes: import \"{before}.ode\", " +
			"or import \"std/{before}.ode\" of a module that is built in",
	},
	{
		example: "event e every 2 h { x = 0 }",
		after:   "{ for",
		wants:   "{", item: "event",
		when:    func(s *site) bool { return s.before.Kind == ast.NumberToken && isName(s.next) },
		message: "a unit stands in brackets: {before} [{next}]",
		fix:     replacement{onNext, "[{next}]", "write brackets"},
	},
	{
		example: "event e at 2 delay = 1 { x = 0 }",
		after:   "=", wants: "{", item: "event",
		when:    func(s *site) bool { return word(s.next, "delay", "values", "persistent", "pending", "tol") },
		message: "a comma stands before an option with a value: event e when x < 0, {next} = …",
		fix:     replacement{withNext, ", {next}", "write a comma"},
	},
	{
		example: "event e when x < 0: x = 0",
		wants:   "{", item: "event",
		when:    func(s *site) bool { return isOneOf(s.next, ": stop") || isName(s.next) },
		message: "what an event does stands in braces: event e when x < 0 { x = 0 }",
	},
	{
		example: "reaction r: A -> B, k*A",
		next:    ", ; @ :", wants: "rate", item: "reaction",
		message: rateBehind,
		fix:     replacement{withNext, " rate", "write rate"},
	},
	{
		example: "reaction r: A -> B",
		wants:   "rate", item: "reaction",
		at:      inGap,
		message: rateBehind,
	},
	{
		example: "reaction A + B -> C rate k*A",
		wants:   ":", item: "reaction",
		message: unnamedReaction,
	},
	{
		example: "data D { time = 1, 2, 4 }",
		next:    ",", wants: "}",
		tell: (*site).listWithoutBrackets,
	},
	{
		example: "solver { rtol = 1e-9, atol = 1e-12 }",
		next:    ",", wants: "}",
		message: "no comma stands here; separate by spaces, new lines or ;",
		fix:     replacement{onNext, ";", "write ;"},
	},
	{
		example: "event e when x > 1 { n++ }",
		next:    "+", after: "+", wants: "+=",
		at:      nextToAfter,
		message: "\"++\" is no operator; write {before} += 1",
		fix:     replacement{nextToAfter, " += 1", "write += 1"},
	},
	{
		example: "event e when x > 1 { n-- }",
		next:    "-", after: "-", wants: "-=",
		at:      nextToAfter,
		message: "\"--\" is no operator; write {before} -= 1",
		fix:     replacement{nextToAfter, " -= 1", "write -= 1"},
	},
	{
		example: "solver { rtol: 1e-9 }",
		next:    ":", wants: "=",
		when:    func(s *site) bool { return len(s.expected) == 1 && isSettings(s.word()) },
		message: "a setting is written {before} = value",
		fix:     replacement{onNext, " =", "write ="},
	},
	{
		example: "objective Jfinal(x)",
		next:    "(", wants: "=", item: "objective",
		tell: (*site).mergedName,
	},
	{
		example: "objective final(x)",
		next:    "(", wants: "=", item: "objective",
		message: "an objective has a name: objective J = {before}(…)",
		fix:     replacement{atBefore, "J = ", "write J ="},
	},
	{
		example: "event end when x > 1 { x = 0 }",
		after:   "when at every", wants: "when", item: "event",
		when: func(s *site) bool { return s.next.Kind == ast.KeywordToken && s.i == s.start+1 },
		tell: (*site).reservedName,
	},
	{
		example: "event e if x > 1 { x = 0 }",
		next:    "if", wants: "when", item: "event",
		message: "a condition follows `when`, and what happens stands in braces: event e when x < 0 { x = 0 }",
		fix:     replacement{onNext, "when", "write when"},
	},
	{
		example: "solver fast,",
		next:    ",",
		when:    func(s *site) bool { return endsList(s.word(), s.after) },
		message: noCommaAtEnd,
		fix:     replacement{onNext, "", "remove it"},
	},
	{
		example: "event e > 1 { x = 0 }",
		wants:   "when", item: "event",
		when:    func(s *site) bool { return isOneOf(s.next, "< > <= >=") || s.next.Kind == ast.NumberToken },
		message: "a condition follows `when`, times follow `at`: event when x < 0 { ... }, event at 1, 2 { ... }",
	},
	{
		example: "fn f(x) { a = x^2  return a }",
		when:    func(s *site) bool { return s.wants("let") || len(s.expected) == 1 && s.wants("return") },
		message: "the body of a function holds let a = ... and ends with return, found {found}",
	},
	{
		example: "observe y ~ normal(1)",
		wants:   "=", item: "observe",
		when:    func(s *site) bool { return len(s.expected) < 3 },
		at:      inGap,
		message: "an observation is written observe {before} = expression ~ normal(sd) from D.column",
	},
	{
		example: "let y",
		wants:   "=", item: "let",
		when:    func(s *site) bool { return (s.atEnd() || s.next.NewLine) && s.i == s.start+2 },
		at:      inGap,
		message: "expected \"=\" after {last}: {item} gives an expression a new name, {item} y = 2*{before}",
	},
	{
		example: "import hill as kin",
		next:    "as", item: "import",
		at:      inGap,
		message: "the file of an import stands in double quotes: import \"{before}.ode\" as {after}",
	},
	{
		example: "time from 0 to 10",
		item:    "time",
		when:    func(s *site) bool { return s.before.Text == "from" && s.i == s.start+2 },
		at:      onBefore,
		message: spanOfTime,
		fix:     replacement{atBefore, "t ", "name it t"},
	},
	{
		example: "time t = 0",
		item:    "time",
		when: func(s *site) bool {
			return (s.next.Kind == ast.NumberToken || isOneOf(s.next, "= [")) && isName(s.before)
		},
		message: "the time span is written time {before} from t0 to tf",
	},
	{
		example: "time t : [s] = 0",
		item:    "time",
		when:    func(s *site) bool { return s.next.Kind == ast.NumberToken || isOneOf(s.next, "= [") },
		message: "the time span is written time t from t0 to tf",
	},
	{
		example: "time t in [0, 10]",
		next:    "in", item: "time",
		message: "the time span is written time {before} from t0 to tf",
	},
	{
		example: "let if",
		when: func(s *site) bool {
			return s.next.Kind == ast.KeywordToken && len(s.expected) > 0 && s.expected[0] == "a name" && !s.atEnd()
		},
		tell: (*site).reservedName,
	},
	{
		example: "event e when x > 1 { x = 0\nparam k = 1",
		wants:   "}",
		when:    func(s *site) bool { return s.atEnd() || s.next.Kind == ast.KeywordToken },
		tell:    (*site).unclosedBlock,
	},
	{
		example: "observe z = x ? 1",
		tell:    func(s *site) bool { return s.commonMistake() },
	},
	{
		example: "time t to 10",
		tell:    (*site).expectedElse,
	},
}

// Messages that several rows share.
const (
	rateBehind = "expected `rate`{behind}: the rate of a reaction stands behind it, " +
		"as in reaction r: A + B -> C rate k*A*B"
	unnamedReaction = "a reaction has a name and a colon before its species: reaction r: 2 A -> B rate k*A^2"
	spanOfTime      = "the time has a name: time t from 0 to 10"
	noCommaAtEnd    = "no comma stands at the end of an item"
)

// mergedName reports an objective whose name ends with that of a function: the = between is missing.
func (s *site) mergedName() bool {
	const functions = called + " max_over min_over sum_at mean sum"
	for f := range strings.FieldsSeq(functions) {
		if name, is := strings.CutSuffix(s.before.Text, f); is && name != "" && s.before.Kind == ast.IdentToken {
			at := s.span(s.before.End-len(f), s.before.End-len(f))
			s.fail(CodeUnexpected, onBefore(s), "\"=\" is missing: objective %s = %s(…)", name, f).
				Fix(at, " = ", "write =")
			return true
		}
	}
	return false
}

// unclosedAtEquation reports a block that is open where an equation starts.
func (s *site) unclosedAtEquation() bool {
	s.i--
	open := s.openBrace(s.start)
	s.fail(CodeUnclosed, s.gap(), "expected \"}\" to close the block opened at %s before the next equation",
		where(s.at(open))).Relate(s.at(open), "opened here")
	return true
}

// unclosedBlock reports a block that is open where the next item starts.
func (s *site) unclosedBlock() bool {
	open := s.openBrace(s.start)
	s.fail(CodeUnclosed, s.gap(), "expected \"}\" to close the block opened at %s, found %s",
		where(s.at(open)), s.found()).Relate(s.at(open), "opened here")
	return true
}

// reservedName reports a reserved word where a name stands.
func (s *site) reservedName() bool {
	s.reserved(s.next)
	s.failed = true
	return true
}

// expectedElse reports what the grammar wanted.
func (s *site) expectedElse() bool {
	s.fail(CodeUnexpected, s.gap(), "expected %s%s, found %s",
		diag.Either(withOptional(s.word(), s.expected)), s.behind(), s.found())
	return true
}

// listWithoutBrackets reports the comma in a setting with several values, as in `time = 1, 2, 4`. It returns whether
// the next token is such a comma.
func (s *site) listWithoutBrackets() bool {
	p, start := s.reporter, s.start
	isValue := func(i int) bool {
		t := &p.tokens[i]
		return t.Kind == ast.NumberToken || t.Kind == ast.StringToken || isName(t) && i+1 < len(p.tokens) &&
			!isToken(&p.tokens[i+1], "=")
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

// withOptional adds what the grammar does not list because it is optional.
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

// endsList reports whether the comma before next ends the list of an item: another item follows on a new line.
func endsList(item string, next *ast.Token) bool {
	return itemWords[item] && (next.Kind == ast.EOF || next.NewLine && next.Kind == ast.KeywordToken &&
		itemWords[next.Text])
}

// openBrace returns the innermost brace that is open before the next token.
func (c *cursor) openBrace(start int) *ast.Token {
	closed := 0
	for i := c.i - 1; i > start; i-- {
		switch t := &c.tokens[i]; {
		case isToken(t, "}"):
			closed++
		case isToken(t, "{") && closed > 0:
			closed--
		case isToken(t, "{"):
			return t
		}
	}
	return &c.tokens[start]
}

// breaksAfter reports whether a statement can end with token i.
func (c *cursor) breaksAfter(i int) bool {
	t := &c.tokens[i]
	return endsOperand(t) || isToken(t, "}") || isToken(t, ";") || isToken(t, "stop")
}
