package xpp

import (
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/exchange/infix"
	"odes.dev/odes/internal/exchange/sbml"
)

var levels = []infix.Level{
	{Operators: map[string]string{"|": "or", "||": "or"}, Chains: true},
	{Operators: map[string]string{"&": "and", "&&": "and"}, Chains: true},
	{Operators: map[string]string{"<": "lt", "<=": "leq", ">": "gt", ">=": "geq", "==": "eq", "!=": "neq"}},
	{Operators: map[string]string{"+": "plus", "-": "minus"}, Chains: true},
	{Operators: map[string]string{"*": "times", "/": "divide"}, Chains: true},
}

// functions are those of one argument, by their names in MathML.
var functions = map[string]string{
	"sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "sinh": "sinh",
	"cosh": "cosh", "tanh": "tanh", "exp": "exp", "ln": "ln", "log": "ln", "abs": "abs", "sqrt": "root", "flr": "floor",
	"not": "not",
}

// random are functions without a value that can be foretold.
var random = []string{"ran", "normal", "poisson"}

// formula reads one that stands at an offset of a line. Args are names of arguments of a function.
func (f *file) formula(l line, text string, offset int, args []string) (*sbml.Element, error) {
	d := &infix.Dialect{
		Levels: levels, Prefixes: map[string]string{"-": "minus", "+": "plus"}, Powers: []string{"**", "^"},
		OnePower: true,
		Name:     func(name string, at sbml.Place) (*sbml.Element, error) { return f.name(name, at, args) },
		Call:     f.call, Special: f.special,
	}
	base := l.start + offset
	if !l.exact {
		base = l.start
	}
	e, err := infix.Parse(d, text, base)
	if err != nil && !l.exact {
		err = infix.Errorf(l.at(), "%s: %v", strings.TrimSpace(l.text), err)
	}
	return e, err
}

func (f *file) name(name string, at sbml.Place, args []string) (*sbml.Element, error) {
	name = strings.ToLower(name)
	switch {
	case slices.Contains(args, name):
	case name == "t":
		return sbml.Time(at), nil
	case name == "pi":
		return infix.Constant("pi", at), nil
	case !f.names[name]:
		return nil, infix.Errorf(at, "%q is not defined", name)
	}
	return sbml.Leaf(at, "ci", name), nil
}

func (f *file) call(name string, args []*sbml.Element, at sbml.Place) (*sbml.Element, error) {
	name = strings.ToLower(name)
	number := func(text string) *sbml.Element { return sbml.Leaf(at, "cn", text) }
	if n, ok := f.functions[name]; ok {
		if err := infix.Arity(name, args, at, n, n); err != nil {
			return nil, err
		}
		return sbml.New(at, "apply").Add(sbml.Leaf(at, "ci", name)).Add(args...), nil
	}
	n := 1
	switch {
	case slices.Contains([]string{"max", "min", "mod", "atan2", "shift", "delay"}, name):
		n = 2
	case name == "del_shft":
		n = 3
	case slices.Contains(random, name):
		return nil, infix.Errorf(at, "%s draws random numbers: odes solves equations without noise", name)
	}
	if err := infix.Arity(name, args, at, n, n); err != nil {
		return nil, err
	}
	switch {
	case functions[name] != "":
		return sbml.Apply(at, functions[name], args...), nil
	case name == "max" || name == "min":
		return sbml.Apply(at, name, args...), nil
	case name == "log10":
		return infix.Log(at, args[0], number("10")), nil
	case name == "heav":
		return infix.Choice(at, number("1"), sbml.Apply(at, "geq", args[0], number("0")), number("0")), nil
	case name == "sign":
		return infix.Sign(at, args[0]), nil
	case name == "mod", name == "atan2", name == "erf", name == "erfc", name == "lgamma":
		return sbml.Own(at, name, args...), nil
	case name == "shift":
		return f.shift(args, at)
	case name == "delay":
		f.late = true
		return sbml.Delay(at, args[0], args[1]), nil
	case name == "del_shft":
		f.late = true
		x, err := f.shift(args[:2], at)
		return sbml.Delay(at, x, args[2]), err
	}
	return nil, infix.Errorf(at, "%q is no function that odes reads of XPPAUT", name)
}

// shift is the variable that stands a number of places behind another one.
func (f *file) shift(args []*sbml.Element, at sbml.Place) (*sbml.Element, error) {
	i := slices.Index(f.variables, args[0].Text())
	n, ok := whole(args[1])
	if args[0].Name() != "ci" || i < 0 || !ok {
		return nil, infix.Errorf(at, "shift has a variable and a whole number: shift(x0, 2)")
	}
	if i+n < 0 || i+n >= len(f.variables) {
		return nil, infix.Errorf(at, "no variable stands %d places behind %s", n, args[0].Text())
	}
	return sbml.Leaf(at, "ci", f.variables[i+n]), nil
}

// whole is the value of an expression of whole numbers.
func whole(e *sbml.Element) (int, bool) {
	if e.Name() == "cn" {
		n, err := strconv.Atoi(e.Text())
		return n, err == nil
	}
	if e.Name() != "apply" || len(e.Children()) < 2 {
		return 0, false
	}
	list := e.Children()
	n, ok := whole(list[1])
	if len(list) == 2 {
		return -n, ok && list[0].Name() == "minus"
	}
	m, also := whole(list[2])
	switch ok = ok && also; list[0].Name() {
	case "plus":
		return n + m, ok
	case "minus":
		return n - m, ok
	case "times":
		return n * m, ok
	}
	return 0, false
}

// special reads if(…)then(…)else(…) and sum(a,b)of(…), where i' is the index.
func (f *file) special(p *infix.Parser, name string, at sbml.Place) (*sbml.Element, error) {
	bracket := func(word string) (*sbml.Element, error) {
		if word != "" && !p.TakeWord(word) {
			return nil, infix.Errorf(at, "%s(…) is expected behind %s(…)", word, strings.ToLower(name))
		}
		if err := p.Expect("("); err != nil {
			return nil, err
		}
		e, err := p.Formula()
		if err != nil {
			return nil, err
		}
		return e, p.Expect(")")
	}
	switch strings.ToLower(name) {
	case "if":
		when, err := bracket("")
		if err != nil {
			return nil, err
		}
		then, err := bracket("then")
		if err != nil {
			return nil, err
		}
		otherwise, err := bracket("else")
		if err != nil {
			return nil, err
		}
		return infix.Choice(at, then, when, otherwise), nil
	case "i":
		if p.Take("'") {
			if f.index == nil {
				return nil, infix.Errorf(at, "i' is the index of a sum, and there is none here")
			}
			return sbml.Leaf(at, "cn", strconv.Itoa(*f.index)), nil
		}
	case "sum":
		return f.sum(p, at, bracket)
	}
	return nil, nil
}

// maxTerms is how many terms sums are written out to.
const maxTerms = 10_000

func (f *file) sum(p *infix.Parser, at sbml.Place, bracket func(string) (*sbml.Element, error)) (*sbml.Element, error) {
	if err := p.Expect("("); err != nil {
		return nil, err
	}
	ends, err := p.Args()
	if err != nil {
		return nil, err
	}
	if len(ends) != 2 {
		return nil, infix.Errorf(at, "a sum has two ends: sum(0,4)of(shift(x0,i'))")
	}
	from, ok := whole(ends[0])
	to, also := whole(ends[1])
	if !ok || !also || to-from >= maxTerms {
		return nil, infix.Errorf(at, "the ends of a sum are whole numbers, at most %d apart", maxTerms)
	}
	if to < from {
		_, err := bracket("of")
		return sbml.Leaf(at, "cn", "0"), err
	}
	before := f.index
	defer func() { f.index = before }()
	var terms []*sbml.Element
	start := p.Mark()
	for k := from; k <= to; k++ {
		p.Back(start)
		f.index = &k
		e, err := bracket("of")
		if err != nil {
			return nil, err
		}
		terms = append(terms, e)
	}
	return sbml.Apply(at, "plus", terms...), nil
}
