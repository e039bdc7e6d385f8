package antimony

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/internal/exchange/infix"
	"odes.dev/odes/internal/exchange/sbml"
)

// written is a model that is being written as one in SBML.
type written struct {
	*flat
	model *sbml.Element
	lists map[string]*sbml.Element
	stays bool // default_compartment is declared
}

func (w *written) list(name string) *sbml.Element {
	if w.lists[name] == nil {
		w.lists[name] = sbml.New(sbml.At(0, 0), name)
		w.model.Add(w.lists[name])
	}
	return w.lists[name]
}

var levels = []infix.Level{
	{Operators: map[string]string{"||": "or"}, Chains: true},
	{Operators: map[string]string{"&&": "and"}, Chains: true},
	{Operators: map[string]string{"<": "lt", "<=": "leq", ">": "gt", ">=": "geq", "==": "eq", "!=": "neq"}},
	{Operators: map[string]string{"+": "plus", "-": "minus"}, Chains: true},
	{Operators: map[string]string{"*": "times", "/": "divide", "%": "rem"}, Chains: true},
}

// functions are those whose names MathML has, too; others are by their names there.
var (
	same = []string{
		"abs", "exp", "ln", "sin", "cos", "tan", "sec", "csc", "cot", "sinh", "cosh", "tanh", "sech", "csch", "coth",
		"arcsin", "arccos", "arctan", "arcsec", "arccsc", "arccot", "arcsinh", "arccosh", "arctanh",
		"arcsech", "arccsch", "arccoth",
		"floor", "ceiling", "factorial", "plus", "times", "minus", "divide",
		"and", "or", "not", "xor", "eq", "neq", "gt", "lt", "geq", "leq", "max", "min", "rem", "quotient",
		"implies", "power",
	}
	others = map[string]string{
		"log": "ln", "ceil": "ceiling", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh",
		"acosh": "arccosh", "atanh": "arctanh", "pow": "power", "asec": "arcsec", "acsc": "arccsc", "acot": "arccot",
	}
	random = []string{
		"normal", "uniform", "exponential", "gamma", "poisson", "truncatedNormal", "binomial", "bernoulli", "cauchy",
		"chisquare", "laplace", "lognormal", "rayleigh",
	}
)

func call(at sbml.Place, name string, args []*sbml.Element) (*sbml.Element, error) {
	base := func(text string) *sbml.Element { return sbml.Leaf(at, "cn", text) }
	switch {
	case slices.Contains(same, name):
		return sbml.Apply(at, name, args...), nil
	case others[name] != "" && (name != "log" || len(args) != 2):
		return sbml.Apply(at, others[name], args...), nil
	case name == "piecewise":
		return infix.Pieces(at, args), nil
	case slices.Contains([]string{"sqrt", "sqr", "log10", "rateOf", "delay"}, name):
		n := 1
		if name == "delay" {
			n = 2
		}
		if err := infix.Arity(name, args, at, n, n); err != nil {
			return nil, err
		}
	}
	switch {
	case name == "sqrt":
		return sbml.Apply(at, "root", args...), nil
	case name == "sqr":
		return sbml.Apply(at, "power", args[0], base("2")), nil
	case name == "log10":
		return infix.Log(at, args[0], base("10")), nil
	case name == "log" && len(args) == 2:
		return infix.Log(at, args[1], args[0]), nil
	case (name == "root" || name == "logbase") && len(args) == 2:
		if name == "logbase" {
			return infix.Log(at, args[1], args[0]), nil
		}
		return sbml.New(at, "apply").Add(sbml.New(at, "root"), sbml.New(at, "degree").Add(args[0]), args[1]), nil
	case name == "rateOf" || name == "delay":
		return sbml.New(at, "apply").Add(sbml.New(at, "csymbol", "definitionURL",
			"http://www.sbml.org/sbml/symbols/"+name)).Add(args...), nil
	case slices.Contains(random, name):
		return nil, infix.Errorf(at, "%s draws random numbers: odes solves equations without noise", name)
	}
	return nil, infix.Errorf(at, "%q is no function that odes reads of Antimony", name)
}

// name reads a name of a scope; args are names of arguments of a function.
func (w *written) name(name string, at sbml.Place, sc *scope, args []string) (*sbml.Element, error) {
	if slices.Contains(args, name) {
		return sbml.Leaf(at, "ci", name), nil
	}
	name = strings.TrimPrefix(name, "$")
	to := w.find(sc.global(name))
	if t := w.flat.symbols[to]; t != nil {
		return sbml.Leaf(at, "ci", to), nil
	}
	switch name {
	case "time":
		return sbml.Time(at), nil
	case "avogadro":
		return sbml.New(at, "csymbol", "definitionURL", "http://www.sbml.org/sbml/symbols/avogadro"), nil
	case "true", "false", "pi", "exponentiale", "notanumber":
		return infix.Constant(name, at), nil
	case "infinity", "inf", "INF":
		return infix.Constant("infinity", at), nil
	case "nan", "NaN":
		return infix.Constant("notanumber", at), nil
	}
	return nil, infix.Errorf(at, "%q has no value", name)
}

// formula reads one of a scope; args are names of arguments of a function.
func (w *written) formula(s statement, sc *scope, args []string) (*sbml.Element, error) {
	d := &infix.Dialect{
		Levels: levels, Prefixes: map[string]string{"-": "minus", "+": "plus", "!": "not"}, Powers: []string{"^"},
		Inside: ".", Starts: "$", Units: true,
	}
	d.Name = func(name string, at sbml.Place) (*sbml.Element, error) { return w.name(name, at, sc, args) }
	d.Call = func(name string, list []*sbml.Element, at sbml.Place) (*sbml.Element, error) {
		for _, fn := range w.reader.functions {
			if fn.name == name {
				if err := infix.Arity(name, list, at, len(fn.args), len(fn.args)); err != nil {
					return nil, err
				}
				return sbml.New(at, "apply").Add(sbml.Leaf(at, "ci", name)).Add(list...), nil
			}
		}
		return call(at, name, list)
	}
	return infix.Parse(d, s.text, s.start)
}

func (w *written) functions() error {
	for _, fn := range w.reader.functions {
		e, err := w.formula(fn.body, &scope{bound: map[string]string{}}, fn.args)
		if err != nil {
			return err
		}
		lambda := sbml.New(fn.body.at(), "lambda")
		for _, a := range fn.args {
			lambda.Add(sbml.New(fn.body.at(), "bvar").Add(sbml.Leaf(fn.body.at(), "ci", a)))
		}
		w.list("listOfFunctionDefinitions").Add(sbml.New(fn.body.at(), "functionDefinition", "id", fn.name).
			Add(sbml.New(fn.body.at(), "math").Add(lambda.Add(e))))
	}
	return nil
}

// symbols declares compartments, species and parameters, with their values and rules.
func (w *written) symbols(laws map[*symbol]bool, assigned map[string]bool) error {
	for _, t := range w.order {
		if laws[t] || w.isDeleted(t.name) {
			continue
		}
		for _, d := range []*definition{&t.start, &t.rule, &t.rate} {
			if d.set && w.readsDeleted(*d) {
				*d = definition{}
			}
		}
		e := sbml.New(t.at, "parameter", "id", t.name)
		list, value := "listOfParameters", "value"
		switch {
		case t.compartment:
			e, list, value = sbml.New(t.at, "compartment", "id", t.name), "listOfCompartments", "size"
		case t.species:
			e, list = sbml.New(t.at, "species", "id", t.name), "listOfSpecies"
			value = w.species(t, e)
		}
		if t.title != "" {
			e.Set("name", t.title)
		}
		varies := t.rule.set || t.rate.set || assigned[t.name]
		if !t.species {
			e.Set("constant", fmt.Sprint(!varies))
		}
		if err := w.values(t, e, value); err != nil {
			return err
		}
		w.list(list).Add(e)
	}
	return nil
}

// species writes what a species is, and returns the attribute of its value.
func (w *written) species(t *symbol, e *sbml.Element) string {
	in := t.in
	if in == "" {
		in = t.inReaction
	}
	if in == "" {
		in = "default_compartment"
		if !w.stays {
			w.stays = true
			w.list("listOfCompartments").Add(sbml.New(sbml.At(0, 0), "compartment", "id", in, "size", "1", "constant",
				"true"))
		}
	}
	e.Set("compartment", w.find(in)).Set("hasOnlySubstanceUnits", fmt.Sprint(t.amount)).
		Set("boundaryCondition", fmt.Sprint(t.boundary)).Set("constant", "false")
	if t.amount {
		return "initialAmount"
	}
	return "initialConcentration"
}

// values writes the value of a symbol at the start, and its rule.
func (w *written) values(t *symbol, e *sbml.Element, attribute string) error {
	if t.start.set {
		v, unit, ok := number(t.start.text)
		if _, err := w.name(unit, t.start.at(), t.start.scope, nil); ok && err != nil { // it is a unit, or none
			e.Set(attribute, v)
		} else {
			m, err := w.formula(t.start.statement, t.start.scope, nil)
			if err != nil {
				return err
			}
			w.list("listOfInitialAssignments").Add(
				sbml.New(t.start.at(), "initialAssignment", "symbol", t.name).Add(sbml.Math(m)))
		}
	}
	for kind, d := range map[string]definition{"assignmentRule": t.rule, "rateRule": t.rate} {
		if !d.set {
			continue
		}
		m, err := w.formula(d.statement, d.scope, nil)
		if err != nil {
			return err
		}
		w.list("listOfRules").Add(sbml.New(d.at(), kind, "variable", t.name).Add(sbml.Math(m)))
	}
	if t.species && !t.start.set && !t.rule.set {
		e.Set(attribute, "0")
		start, _ := t.at.Span()
		w.notes = append(w.notes, noted{statement{t.name, start, nil}, fmt.Sprintf(
			"the species %s has no value at the start: it is taken as 0", t.name)})
	}
	return nil
}

func (w *written) reactions() error {
	for _, r := range w.flat.reactions {
		t := w.symbol(r.name, r.statement.at())
		if w.isDeleted(r.name) {
			continue
		}
		if !t.start.set || w.readsDeleted(t.start) {
			note := fmt.Sprintf("the reaction %s has no rate, and is left out", t.name)
			w.notes = append(w.notes, noted{r.statement, note})
			continue
		}
		e := sbml.New(r.statement.at(), "reaction", "id", t.name)
		for _, side := range []struct {
			name string
			s    statement
		}{
			{"listOfReactants", statement{r.left, r.statement.start + r.leftAt, nil}},
			{"listOfProducts", statement{r.right, r.statement.start + r.rightAt, nil}},
		} {
			list := sbml.New(side.s.at(), side.name)
			for _, part := range pieces(side.s, '+') {
				if part.text != "" && !w.participantDeleted(part, r.scope) {
					list.Add(w.participant(part, r.scope))
				}
			}
			e.Add(list)
		}
		m, err := w.formula(t.start.statement, t.start.scope, nil)
		if err != nil {
			return err
		}
		e.Add(sbml.New(t.start.at(), "kineticLaw").Add(sbml.Math(m)))
		w.list("listOfReactions").Add(e)
	}
	return nil
}

// participantDeleted reports whether a part of a reaction is of a species that was deleted: the others stay.
func (w *written) participantDeleted(part statement, sc *scope) bool {
	return w.isDeleted(sc.global(participant().FindStringSubmatch(part.text)[4]))
}

// participant writes a species of a reaction. A stoichiometry with a name is read where the reaction happens.
func (w *written) participant(part statement, sc *scope) *sbml.Element {
	p := participant().FindStringSubmatch(part.text)
	e := sbml.New(part.at(), "speciesReference", "species", w.find(sc.global(p[4])), "constant", "true")
	factor := p[1] + p[2]
	switch v, _, ok := number(factor); {
	case factor == "":
		e.Set("stoichiometry", "1")
	case ok:
		e.Set("stoichiometry", v)
	default:
		e.Add(sbml.New(part.at(), "stoichiometryMath").Add(
			sbml.Math(sbml.Leaf(part.at(), "ci", w.find(sc.global(factor))))))
	}
	return e
}

var (
	assigns  = lazy.Regexp(`(?s)^([A-Za-z_][\w.]*)\s*=(.*)$`)
	optional = lazy.Regexp(`(?s)^(priority|t0|persistent|fromTrigger)\s*=(.*)$`)
	after    = lazy.Regexp(`(?s)^(.*)\bafter\b(.*)$`)
)

// parts splits an event into what stands before its assignments, and these.
func (e *event) parts() (head, body []statement) {
	halves := pieces(e.s, ':')
	if len(halves) != 2 {
		return nil, nil
	}
	return pieces(halves[0], ','), pieces(halves[1], ',')
}

// targets are what an event sets.
func (w *written) targets(e *event) []string {
	var names []string
	_, body := e.parts()
	for _, a := range body {
		if m := assigns().FindStringSubmatch(a.text); m != nil {
			names = append(names, w.find(e.scope.global(m[1])))
		}
	}
	return names
}

func (w *written) events() error {
	for i, e := range w.flat.events {
		if e.name != "" && w.isDeleted(e.name) {
			continue
		}
		if err := w.event(e, i); err != nil {
			return err
		}
	}
	return nil
}

// event writes one.
func (w *written) event(e *event, i int) error {
	head, body := e.parts()
	if head == nil {
		return infix.Errorf(e.s.at(), "an event has a condition and assignments: at (x > 5): y = 3, x = 2")
	}
	name := e.name
	if name == "" {
		name = fmt.Sprintf("_E%d", i)
	}
	out := sbml.New(e.s.at(), "event", "id", name, "useValuesFromTriggerTime", "true")
	condition := head[0]
	if m := after().FindStringSubmatchIndex(condition.text); m != nil {
		wait := statement{condition.text[m[2]:m[3]], condition.start + m[2], nil}
		d, err := w.formula(wait, e.scope, nil)
		if err != nil {
			return err
		}
		out.Add(sbml.New(e.s.at(), "delay").Add(sbml.Math(d)))
		condition = condition.from(m[4])
	}
	when, err := w.formula(condition, e.scope, nil)
	if err != nil {
		return err
	}
	trigger := sbml.New(e.s.at(), "trigger", "initialValue", "true", "persistent", "true").Add(sbml.Math(when))
	for _, o := range head[1:] {
		m := optional().FindStringSubmatchIndex(o.text)
		if m == nil {
			return infix.Errorf(o.at(), "%q is no option of events: there are priority, t0, persistent, fromTrigger",
				o.text)
		}
		switch key, value := o.text[m[2]:m[3]], strings.TrimSpace(o.text[m[4]:m[5]]); {
		case key == "priority":
			p, err := w.formula(o.from(m[4]), e.scope, nil)
			if err != nil {
				return err
			}
			out.Add(sbml.New(o.at(), "priority").Add(sbml.Math(p)))
		case value != "true" && value != "false":
			return infix.Errorf(o.at(), "%s is true or false", key)
		case key == "t0":
			trigger.Set("initialValue", value)
		case key == "persistent":
			trigger.Set("persistent", value)
		default:
			out.Set("useValuesFromTriggerTime", value)
		}
	}
	list := sbml.New(e.s.at(), "listOfEventAssignments")
	for _, a := range body {
		if a.text == "" {
			continue
		}
		m := assigns().FindStringSubmatchIndex(a.text)
		if m == nil {
			return infix.Errorf(a.at(), "%q is no assignment", a.text)
		}
		v, err := w.formula(a.from(m[4]), e.scope, nil)
		if err != nil {
			return err
		}
		list.Add(sbml.New(a.at(), "eventAssignment", "variable", w.find(e.scope.global(a.text[m[2]:m[3]]))).
			Add(sbml.Math(v)))
	}
	w.list("listOfEvents").Add(out.Add(trigger, list))
	return nil
}
