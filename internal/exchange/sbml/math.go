package sbml

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// expr is an expression in the language of odes.
type expr struct {
	text  string
	bind  int  // how tightly its outermost operator binds
	truth bool // a condition, rather than a number
}

// How tightly operators bind; see the grammar in docs/language.md.
const (
	bindIf = iota
	bindOr
	bindAnd
	bindNot
	bindCompare
	bindSum
	bindProduct
	bindSign
	bindPower
	bindAtom
)

// in writes e as an operand of an operator: in parentheses, unless e binds at least as tightly.
func (e expr) in(bind int) string {
	if e.bind < bind {
		return "(" + e.text + ")"
	}
	return e.text
}

// right writes e as an operand with something before it: a sign needs parentheses there.
func (e expr) right(bind int) string {
	if strings.HasPrefix(e.text, "-") {
		return "(" + e.text + ")"
	}
	return e.in(bind)
}

// number is e where a number is wanted.
func (e expr) number() expr {
	if !e.truth {
		return e
	}
	return expr{"if " + e.text + " then 1 else 0", bindIf, false}
}

// condition is e where a condition is wanted: any number but 0 is true.
func (e expr) condition() expr {
	switch {
	case e.truth:
		return e
	case e.text == "0":
		return atom("false", true)
	case e.bind == bindAtom && strings.Trim(e.text, "0123456789.") == "" && strings.Trim(e.text, "0.") != "":
		return atom("true", true)
	}
	return expr{e.right(bindSum) + " > 0 or " + e.right(bindSum) + " < 0", bindOr, true}
}

func atom(text string, truth bool) expr { return expr{text, bindAtom, truth} }

// call is a call of a function.
func call(name string, args ...expr) expr {
	var list []string
	for _, a := range args {
		list = append(list, a.number().text)
	}
	return atom(name+"("+strings.Join(list, ", ")+")", false)
}

// join joins operands by an operator that is associative.
func join(sign string, bind int, operands []expr) expr {
	list := make([]string, len(operands))
	list[0] = operands[0].in(bind)
	for i, o := range operands[1:] {
		list[i+1] = o.right(bind + 1)
	}
	return expr{strings.Join(list, sign), bind, bind <= bindAnd}
}

func add(operands ...expr) expr { return join(" + ", bindSum, operands) }

func mul(operands ...expr) expr { return join("*", bindProduct, operands) }

func sub(a, b expr) expr { return expr{a.in(bindSum) + " - " + b.right(bindProduct), bindSum, false} }

func div(a, b expr) expr {
	return expr{a.in(bindProduct) + "/" + b.right(bindProduct+1), bindProduct, false}
}

func neg(a expr) expr { return expr{"-" + a.right(bindProduct), bindSign, false} }

func power(a, b expr) expr {
	return expr{a.right(bindAtom) + "^" + b.right(bindAtom), bindPower, false}
}

func not(a expr) expr { return expr{"not " + a.in(bindCompare), bindNot, true} }

func and(operands ...expr) expr { return join(" and ", bindAnd, operands) }

func or(operands ...expr) expr { return join(" or ", bindOr, operands) }

// compare is a comparison of two numbers.
func compare(sign string, a, b expr) expr {
	return expr{a.in(bindSum) + " " + sign + " " + b.in(bindSum), bindCompare, true}
}

// same is the comparison for equality. The language compares reals by their order only.
func same(a, b expr) expr {
	if a.truth && b.truth {
		return or(and(a, b), and(not(a), not(b)))
	}
	return compare("<=", call("abs", sub(a.number(), b.number())), atom("0", false))
}

// choice is `if`.
func choice(when, then, otherwise expr) expr {
	if then.truth && otherwise.truth {
		return or(and(when, then), and(not(when), otherwise))
	}
	last := otherwise.number()
	joint := " else "
	if last.bind == bindIf {
		joint = " else" // elseif
	}
	return expr{"if " + when.text + " then " + then.number().in(bindOr) + joint + last.text, bindIf, false}
}

// literal writes a number as SBML has it.
func literal(text string, of *element) (expr, error) {
	text = strings.TrimSpace(text)
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return expr{}, fail(of.place, "%s is too large for a number of double precision", text)
	case err != nil || strings.ContainsAny(text, "xX_"): // as Go writes numbers, too
		return expr{}, fail(of.place, "%q is no number", text)
	case math.IsNaN(v):
		return atom("nan", false), nil
	case math.IsInf(v, 1):
		return atom("inf", false), nil
	case math.IsInf(v, -1):
		return expr{"-inf", bindSign, false}, nil
	case math.Signbit(v):
		return expr{"-" + strings.ToLower(text[1:]), bindSign, false}, nil
	}
	return atom(strings.ToLower(strings.TrimPrefix(text, "+")), false), nil
}

// functions are those of MathML that odes has, by their names there.
var functions = map[string]string{
	"abs": "abs", "exp": "exp", "ln": "log", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin",
	"arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh",
	"arccosh": "acosh", "arctanh": "atanh", "floor": "floor", "ceiling": "ceil", "min": "min", "max": "max",
}

// inverses are functions of MathML that are one over a function of odes; ofInverses are functions of odes of one over
// their argument.
var (
	inverses = map[string]string{
		"sec": "cos", "csc": "sin", "cot": "tan", "sech": "cosh", "csch": "sinh", "coth": "tanh",
	}
	ofInverses = map[string]string{
		"arcsec": "acos", "arccsc": "asin", "arccot": "atan", "arcsech": "acosh", "arccsch": "asinh",
		"arccoth": "atanh",
	}
)

// comparisons are those of MathML.
var comparisons = map[string]string{"gt": ">", "lt": "<", "geq": ">=", "leq": "<="}

// maxLength is how long the text of an expression may be, and maxCalls how many calls of functions are written out:
// each of some functions that call each other twice doubles both.
const (
	maxLength = 1 << 20
	maxCalls  = 1 << 20
)

// written are the words that translated expressions use; nothing of the model may have these names.
var written = []string{
	"pi", "inf", "nan", "true", "false", "log10", "sqrt", "cbrt", "delay", "lgamma", "mod", "trunc", "final", "end",
}

// scope is what names in an expression stand for before those of the model: local parameters, and arguments of
// functions.
type scope map[string]expr

// formula translates what is within an expression of MathML.
type formula struct {
	m  *Model
	in scope
}

func (f formula) expression(e *element) (expr, error) { return f.m.expression(e, f.in) }

// expression translates one of MathML.
func (m *Model) expression(e *element, in scope) (expr, error) {
	v, err := formula{m, in}.translated(e)
	if err == nil && len(v.text) > maxLength {
		err = fail(e.place, "the expression is too long when its functions and conditions are written out")
	}
	return v, err
}

func (f formula) translated(e *element) (expr, error) {
	switch e.name.Local {
	case "cn":
		return numeral(e)
	case "ci":
		if v, ok := f.in[e.text]; ok {
			return v, nil
		}
		if s := f.m.symbols[e.text]; s != nil {
			return atom(s.name, false), nil
		}
		return expr{}, fail(e.place, "nothing has the id %q", e.text)
	case "csymbol":
		url := e.attr("definitionURL")
		switch url[strings.LastIndexByte(url, '/')+1:] {
		case "time":
			return atom(f.m.clock, false), nil
		case "avogadro":
			return atom("6.02214179e23", false), nil
		}
		if name, ok := strings.CutPrefix(url, outside); ok {
			return atom(name, false), nil
		}
		return expr{}, fail(e.place, "odes has nothing like the symbol %s", url)
	case "true", "false":
		return atom(e.name.Local, true), nil
	case "pi":
		return atom("pi", false), nil
	case "exponentiale":
		return atom("exp(1)", false), nil
	case "infinity":
		return atom("inf", false), nil
	case "notanumber":
		return atom("nan", false), nil
	case "piecewise":
		return f.piecewise(e)
	case "semantics":
		if len(e.children) > 0 {
			return f.expression(e.children[0])
		}
	case "apply":
		if len(e.children) > 0 {
			return f.apply(e)
		}
	}
	return expr{}, fail(e.place, "odes has nothing like <%s>", e.name.Local)
}

// numeral translates a number, which may have two parts with <sep/> between them.
func numeral(e *element) (expr, error) {
	parts := strings.Fields(e.text)
	switch kind := e.attr("type"); {
	case kind == "e-notation" && len(parts) == 2:
		return literal(parts[0]+"e"+strings.TrimPrefix(parts[1], "+"), e)
	case kind == "rational" && len(parts) == 2:
		a, err := literal(parts[0], e)
		if err != nil {
			return a, err
		}
		b, err := literal(parts[1], e)
		return div(a, b), err
	}
	return literal(e.text, e)
}

func (f formula) piecewise(e *element) (expr, error) {
	result := atom("nan", false) // where no condition holds
	truth := true
	type piece struct{ value, when expr }
	var pieces []piece
	for _, c := range e.children {
		if len(c.children) == 0 {
			return expr{}, fail(c.place, "<%s> is empty", c.name.Local)
		}
		value, err := f.expression(c.children[0])
		if err != nil {
			return value, err
		}
		if c.name.Local == "otherwise" {
			result = value
			continue
		}
		if len(c.children) < 2 {
			return expr{}, fail(c.place, "a piece has a value and a condition")
		}
		when, err := f.expression(c.children[1])
		if err != nil {
			return when, err
		}
		pieces = append(pieces, piece{value, when.condition()})
		truth = truth && value.truth
	}
	if truth && !result.truth && result.text == "nan" {
		result = atom("false", true)
	}
	for _, p := range slices.Backward(pieces) {
		result = choice(p.when, p.value, result)
	}
	return result, nil
}

// apply translates the application of an operator or a function.
func (f formula) apply(e *element) (expr, error) {
	op, operands := e.children[0], e.children[1:]
	name := op.name.Local
	if name == "apply" && len(operands) == 0 { // some programs write one too many
		return f.expression(op)
	}
	if name == "csymbol" {
		return f.applied(op, operands)
	}
	var base *expr // of a root or a logarithm
	var args []expr
	for _, o := range operands {
		of := o
		if o.name.Local == "degree" || o.name.Local == "logbase" {
			if len(o.children) == 0 {
				return expr{}, fail(o.place, "<%s> is empty", o.name.Local)
			}
			of = o.children[0]
		}
		a, err := f.expression(of)
		if err != nil {
			return a, err
		}
		if of != o {
			a = a.number()
			base = &a
			continue
		}
		args = append(args, a)
	}
	if name == "ci" {
		return f.called(op, args)
	}
	n, ok := arity[name]
	if !ok {
		n = [2]int{1, 1}
	}
	if len(args) < n[0] || n[1] > 0 && len(args) > n[1] {
		return expr{}, fail(e.place, "<%s> does not have %d operands", name, len(args))
	}
	v, ok := logic(name, args)
	if !ok {
		for i := range args {
			args[i] = args[i].number()
		}
		v, ok = arithmetic(name, args, base)
	}
	if ok {
		return v, nil
	}
	return expr{}, fail(op.place, "odes has nothing like <%s>", name)
}

// arity is the least and the largest number of operands, 0 for any, of all but functions of one argument.
var arity = map[string][2]int{
	"plus": {0, 0}, "times": {0, 0}, "and": {0, 0}, "or": {0, 0}, "xor": {0, 0}, "minus": {1, 2}, "divide": {2, 2},
	"power": {2, 2}, "root": {1, 1}, "log": {1, 1}, "rem": {2, 2}, "quotient": {2, 2}, "not": {1, 1},
	"implies": {2, 2}, "factorial": {1, 1}, "eq": {2, 0}, "neq": {2, 2}, "gt": {2, 0}, "lt": {2, 0}, "geq": {2, 0},
	"leq": {2, 0}, "min": {1, 0}, "max": {1, 0},
}

// logic is what is a condition.
func logic(name string, args []expr) (expr, bool) {
	conditions := func() []expr {
		list := make([]expr, len(args))
		for i, a := range args {
			list[i] = a.condition()
		}
		return list
	}
	chain := func(of func(a, b expr) expr) expr {
		var list []expr
		for i := range args[1:] {
			list = append(list, of(args[i], args[i+1]))
		}
		if len(list) == 1 {
			return list[0]
		}
		return and(list...)
	}
	switch name {
	case "and", "or":
		switch c := conditions(); {
		case len(c) == 0:
			return atom(map[string]string{"and": "true", "or": "false"}[name], true), true
		case len(c) == 1:
			return c[0], true
		case name == "and":
			return and(c...), true
		default:
			return or(c...), true
		}
	case "not":
		return not(args[0].condition()), true
	case "implies":
		return or(not(args[0].condition()), args[1].condition()), true
	case "xor": // an odd number of conditions holds
		switch c := conditions(); len(c) {
		case 0:
			return atom("false", true), true
		case 1:
			return c[0], true
		case 2:
			return or(and(c[0], not(c[1])), and(not(c[0]), c[1])), true
		default:
			for i := range c {
				c[i] = c[i].number()
			}
			return compare(">=", call("mod", add(c...), atom("2", false)), atom("1", false)), true
		}
	case "eq":
		return chain(same), true
	case "neq":
		return not(same(args[0], args[1])), true
	case "gt", "lt", "geq", "leq":
		return chain(func(a, b expr) expr { return compare(comparisons[name], a.number(), b.number()) }), true
	}
	return expr{}, false
}

// operations are what is a number and is more than a function of the same arguments. Base is that of a root or a
// logarithm, or nil.
var operations = map[string]func(args []expr, base *expr) expr{
	"plus": func(args []expr, _ *expr) expr {
		if len(args) == 0 {
			return zero
		}
		return add(args...)
	},
	"times": func(args []expr, _ *expr) expr {
		switch len(args) {
		case 0:
			return one
		case 1:
			return args[0]
		}
		return mul(args...)
	},
	"minus": func(args []expr, _ *expr) expr {
		if len(args) == 1 {
			return neg(args[0])
		}
		return sub(args[0], args[1])
	},
	"divide": func(args []expr, _ *expr) expr { return div(args[0], args[1]) },
	"power": func(args []expr, _ *expr) expr {
		if args[0].text == "exp(1)" {
			return call("exp", args[1])
		}
		return power(args[0], args[1])
	},
	"root": func(args []expr, base *expr) expr {
		switch {
		case base == nil || base.text == "2":
			return call("sqrt", args[0])
		case base.text == "3":
			return call("cbrt", args[0])
		}
		return power(args[0], div(one, *base))
	},
	"log": func(args []expr, base *expr) expr {
		if base == nil || base.text == "10" {
			return call("log10", args[0])
		}
		return div(call("log", args[0]), call("log", *base))
	},
	"rem": func(args []expr, _ *expr) expr {
		return sub(args[0], mul(args[1], call("trunc", div(args[0], args[1]))))
	},
	"quotient": func(args []expr, _ *expr) expr { return call("trunc", div(args[0], args[1])) },
	"factorial": func(args []expr, _ *expr) expr {
		return call("exp", call("lgamma", add(args[0], one)))
	},
	"min": func(args []expr, _ *expr) expr { return pairwise("min", args) },
	"max": func(args []expr, _ *expr) expr { return pairwise("max", args) },
}

var one, zero = atom("1", false), atom("0", false)

// pairwise calls a function of two arguments with the first two, then with what that is and the next.
func pairwise(name string, args []expr) expr {
	v := args[0]
	for _, a := range args[1:] {
		v = call(name, v, a)
	}
	return v
}

// arithmetic is what is a number. Base is that of a root or a logarithm, or nil.
func arithmetic(name string, args []expr, base *expr) (expr, bool) {
	if f := operations[name]; f != nil {
		return f(args, base), true
	}
	switch {
	case functions[name] != "":
		return call(functions[name], args...), true
	case inverses[name] != "":
		return div(one, call(inverses[name], args[0])), true
	case ofInverses[name] != "":
		return call(ofInverses[name], div(one, args[0])), true
	}
	return expr{}, false
}

// applied translates a function that is a csymbol.
func (f formula) applied(op *element, operands []*element) (expr, error) {
	url := op.attr("definitionURL")
	if name, own := strings.CutPrefix(url, ownFunction); own {
		var args []expr
		for _, o := range operands {
			a, err := f.expression(o)
			if err != nil {
				return a, err
			}
			args = append(args, a)
		}
		return call(name, args...), nil
	}
	switch url[strings.LastIndexByte(url, '/')+1:] {
	case "rateOf":
		if len(operands) != 1 || operands[0].name.Local != "ci" {
			return expr{}, fail(op.place, "rateOf has one argument, an id")
		}
		return f.m.rateOf(operands[0], f.in)
	case "delay":
		return latePart{f.m}.delay(op, operands, f.in)
	}
	return expr{}, fail(op.place, "odes has nothing like %s", url)
}

// called translates the call of a function of the model.
func (f formula) called(op *element, args []expr) (expr, error) {
	to := f.m.functions[op.text]
	switch {
	case to == nil:
		return expr{}, fail(op.place, "there is no function %q", op.text)
	case len(args) != len(to.args):
		return expr{}, fail(op.place, "%s has %d arguments, and is called with %d", op.text, len(to.args), len(args))
	case to.kept:
		return call(to.name, args...), nil
	case to.open:
		return expr{}, fail(op.place, "the function %s calls itself", op.text)
	case f.m.calls == maxCalls:
		return expr{}, fail(op.place, "functions that are written out are called more than %d times", maxCalls)
	}
	f.m.calls++
	to.open = true
	defer func() { to.open = false }()
	inner := scope{}
	for i, a := range to.args {
		inner[a] = args[i]
	}
	return f.m.expression(to.body, inner)
}
