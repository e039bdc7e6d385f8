package odes_test

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
)

// The SBML semantic test suite says what events mean. It is no part of this project: with a copy of it,
//
//	go test . -run TestSemanticSuite -suite cases/semantic -v
//
// translates its models, runs them and compares. -case 00978 prints a translated model.
var (
	suiteDir  = flag.String("suite", "", "a folder with the cases of the SBML semantic test suite")
	suiteCase = flag.String("case", "", "only this case of the suite, with its model")
)

// errUntranslated is about what the translator leaves out, because odes has nothing like it or tests of events do not
// need it.
var errUntranslated = errors.New("not translated")

// node is an element of XML.
type node struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []node     `xml:",any"`
}

func (n *node) attr(name string) string {
	for _, a := range n.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// child returns the first child of that name, or nil.
func (n *node) child(name string) *node {
	if n == nil {
		return nil
	}
	for i := range n.Children {
		if n.Children[i].XMLName.Local == name {
			return &n.Children[i]
		}
	}
	return nil
}

// list returns what a list, such as listOfEvents, contains.
func (n *node) list(name string) []node {
	if l := n.child(name); l != nil {
		return l.Children
	}
	return nil
}

// math returns the expression in n, or nil.
func (n *node) math() *node {
	if m := n.child("math"); m != nil && len(m.Children) == 1 {
		return &m.Children[0]
	}
	return nil
}

// sbml translates one model.
type sbml struct {
	model     *node
	functions map[string]*node
	// amounts are species that are states as amounts; their compartments, "" where the symbol is the amount itself.
	amounts map[string]string
	// ruled are the symbols with an assignment rule, rated those with a rate rule, set those that events assign.
	ruled, rated map[string]*node
	set          map[string]bool
	initial      map[string]*node
	out          strings.Builder
}

func (s *sbml) line(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

// scope is what names in an expression stand for: local parameters and arguments of functions.
type scope map[string]string

var operators = map[string]string{
	"plus": " + ", "times": "*", "divide": "/", "power": "^", "gt": " > ", "lt": " < ", "geq": " >= ",
	"leq": " <= ", "and": " and ", "or": " or ",
}

var calls = map[string]string{
	"abs": "abs", "exp": "exp", "ln": "log", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin",
	"arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh",
	"arccosh": "acosh", "arctanh": "atanh", "floor": "floor", "ceiling": "ceil", "min": "min", "max": "max",
}

var reciprocal = map[string]string{
	"sec": "1/cos(%s)", "csc": "1/sin(%s)", "cot": "1/tan(%s)", "arcsec": "acos(1/%s)", "arccsc": "asin(1/%s)",
	"arccot": "atan(1/%s)", "arcsech": "acosh(1/%s)", "arccsch": "asinh(1/%s)", "arccoth": "atanh(1/%s)",
}

// expr writes an expression, in parentheses unless it is one word.
func (s *sbml) expr(n *node, in scope) (string, error) {
	if n == nil {
		return "", fmt.Errorf("%w: a missing expression", errUntranslated)
	}
	text := strings.TrimSpace(n.Text)
	switch n.XMLName.Local {
	case "cn":
		parts := strings.Fields(n.Text)
		switch n.attr("type") {
		case "e-notation":
			return parts[0] + "e" + parts[1], nil
		case "rational":
			return "(" + parts[0] + "/" + parts[1] + ")", nil
		}
		if text == "INF" {
			text = "inf"
		}
		return "(" + text + ")", nil
	case "ci":
		if to, ok := in[text]; ok {
			return to, nil
		}
		return "v_" + text, nil
	case "csymbol":
		url := n.attr("definitionURL")
		switch {
		case strings.HasSuffix(url, "/time"):
			return "t", nil
		case strings.HasSuffix(url, "/avogadro"):
			return "6.02214179e23", nil
		}
		return "", fmt.Errorf("%w: %s", errUntranslated, url)
	case "true", "false":
		return n.XMLName.Local, nil
	case "pi":
		return "pi", nil
	case "exponentiale":
		return "exp(1)", nil
	case "infinity":
		return "inf", nil
	case "notanumber":
		return "nan", nil
	case "piecewise":
		return s.piecewise(n, in)
	case "apply":
		return s.apply(&n.Children[0], n.Children[1:], in)
	}
	return "", fmt.Errorf("%w: %s", errUntranslated, n.XMLName.Local)
}

func (s *sbml) piecewise(n *node, in scope) (string, error) {
	var b strings.Builder
	closed := false
	for i := range n.Children {
		c := &n.Children[i]
		value, err := s.expr(&c.Children[0], in)
		if err != nil {
			return "", err
		}
		if c.XMLName.Local == "otherwise" {
			b.WriteString(value)
			closed = true
			continue
		}
		when, err := s.expr(&c.Children[1], in)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "if %s then %s else ", when, value)
	}
	if !closed {
		return "", fmt.Errorf("%w: piecewise without otherwise", errUntranslated)
	}
	return "(" + b.String() + ")", nil
}

func (s *sbml) apply(op *node, operands []node, in scope) (string, error) {
	name := op.XMLName.Local
	if f := s.functions[strings.TrimSpace(op.Text)]; name == "ci" && f != nil {
		inner := scope{}
		i := 0
		for k := range f.Children {
			if c := &f.Children[k]; c.XMLName.Local == "bvar" {
				arg, err := s.expr(&operands[i], in)
				if err != nil {
					return "", err
				}
				inner[strings.TrimSpace(c.Children[0].Text)] = arg
				i++
			}
		}
		return s.expr(&f.Children[len(f.Children)-1], inner)
	}
	base := "" // of a root or a logarithm
	var args []string
	for i := range operands {
		o := &operands[i]
		to := &base
		if o.XMLName.Local == "degree" || o.XMLName.Local == "logbase" {
			o = &o.Children[0]
		} else {
			to = nil
		}
		a, err := s.expr(o, in)
		if err != nil {
			return "", err
		}
		if to != nil {
			*to = a
			continue
		}
		args = append(args, a)
	}
	switch {
	case name == "minus" && len(args) == 1:
		return "(-" + args[0] + ")", nil
	case name == "minus":
		return "(" + args[0] + " - " + args[1] + ")", nil
	case name == "not":
		return "(not " + args[0] + ")", nil
	case name == "implies":
		return "(" + args[1] + " or not " + args[0] + ")", nil
	case name == "xor":
		all := "false"
		for _, a := range args {
			all = fmt.Sprintf("((%[1]s and not %[2]s) or (%[2]s and not %[1]s))", all, a)
		}
		return all, nil
	case name == "eq" && len(args) == 2:
		return "(abs(" + args[0] + " - " + args[1] + ") <= 0)", nil
	case name == "neq":
		return "(abs(" + args[0] + " - " + args[1] + ") > 0)", nil
	case name == "root" && base == "":
		return "sqrt(" + args[0] + ")", nil
	case name == "root":
		return "(" + args[0] + "^(1/" + base + "))", nil
	case name == "log" && base == "":
		return "log10(" + args[0] + ")", nil
	case name == "log":
		return "(log(" + args[0] + ")/log(" + base + "))", nil
	case name == "rem":
		return "(" + args[0] + " - " + args[1] + "*trunc(" + args[0] + "/" + args[1] + "))", nil
	case name == "quotient":
		return "trunc(" + args[0] + "/" + args[1] + ")", nil
	case calls[name] != "":
		return calls[name] + "(" + strings.Join(args, ", ") + ")", nil
	case reciprocal[name] != "":
		return "(" + fmt.Sprintf(reciprocal[name], args[0]) + ")", nil
	case operators[name] != "":
		switch {
		case len(args) == 0:
			return map[string]string{"plus": "0", "times": "1", "and": "true", "or": "false"}[name], nil
		case len(args) > 2 && strings.ContainsAny(operators[name], "<>="):
			var pairs []string
			for i := range args[1:] {
				pairs = append(pairs, args[i]+operators[name]+args[i+1])
			}
			return "(" + strings.Join(pairs, " and ") + ")", nil
		}
		return "(" + strings.Join(args, operators[name]) + ")", nil
	}
	return "", fmt.Errorf("%w: %s", errUntranslated, name)
}

// species says how a species enters: as an amount that its symbol divides by a compartment, or as itself.
func (s *sbml) species(n *node) {
	id := n.attr("id")
	if s.ruled[id] != nil || s.rated[id] != nil {
		return
	}
	s.amounts[id] = n.attr("compartment")
	if n.attr("hasOnlySubstanceUnits") == "true" {
		s.amounts[id] = ""
	}
}

// translate writes the model, with an output for each of the variables.
func (s *sbml) translate(set *suiteSettings) error {
	s.functions, s.amounts = map[string]*node{}, map[string]string{}
	s.ruled, s.rated, s.initial = map[string]*node{}, map[string]*node{}, map[string]*node{}
	s.set = map[string]bool{}
	m := s.model
	for _, what := range []string{"listOfConstraints", "listOfSubmodels", "listOfObjectives"} {
		if len(m.list(what)) > 0 {
			return fmt.Errorf("%w: %s", errUntranslated, what)
		}
	}
	functions := m.list("listOfFunctionDefinitions")
	for i := range functions {
		if functions[i].math() == nil {
			return fmt.Errorf("%w: a function without a body", errUntranslated)
		}
		s.functions[functions[i].attr("id")] = functions[i].math()
	}
	rules := m.list("listOfRules")
	for i := range rules {
		r := &rules[i]
		switch r.XMLName.Local {
		case "assignmentRule":
			s.ruled[r.attr("variable")] = r.math()
		case "rateRule":
			s.rated[r.attr("variable")] = r.math()
		default:
			return fmt.Errorf("%w: %s", errUntranslated, r.XMLName.Local)
		}
		if r.math() == nil {
			return fmt.Errorf("%w: a rule without an expression", errUntranslated)
		}
	}
	initials := m.list("listOfInitialAssignments")
	for i := range initials {
		s.initial[initials[i].attr("symbol")] = initials[i].math()
	}
	events := m.list("listOfEvents")
	for i := range events {
		for _, a := range events[i].list("listOfEventAssignments") {
			s.set[a.attr("variable")] = true
		}
	}
	s.line("model Case\n\ntime t from 0 to %s", set.values["duration"])
	s.line("solver {\n  rtol = 1e-9  atol = 1e-12  recheck = body  ties = random(seed = 1)  max_events = 1e6\n}")
	s.line("state rest = 0\nrest' = 0")
	for _, c := range m.list("listOfCompartments") {
		value := c.attr("size")
		if err := s.quantity(&c, "v_"+c.attr("id"), value); err != nil {
			return err
		}
	}
	for _, p := range m.list("listOfParameters") {
		if err := s.quantity(&p, "v_"+p.attr("id"), p.attr("value")); err != nil {
			return err
		}
	}
	species := m.list("listOfSpecies")
	for i := range species {
		s.species(&species[i])
	}
	rates, err := s.reactions()
	if err != nil {
		return err
	}
	for i := range species {
		if err := s.quantities(&species[i], rates); err != nil {
			return err
		}
	}
	for i := range events {
		if err := s.event(i, &events[i]); err != nil {
			return err
		}
	}
	for _, v := range set.list("variables") {
		value := "v_" + v
		c, amount := s.amounts[v]
		n := find(species, v)
		switch {
		case n == nil:
		case set.has("amount", v) && amount:
			value = "a_" + v
		case set.has("amount", v) && n.attr("hasOnlySubstanceUnits") != "true":
			value += "*v_" + n.attr("compartment")
		case set.has("concentration", v) && amount && c == "":
			value += "/v_" + n.attr("compartment")
		}
		s.line("output o_%s = %s", v, value)
	}
	s.line("objective none = final(t)")
	return nil
}

func find(list []node, id string) *node {
	for i := range list {
		if list[i].attr("id") == id {
			return &list[i]
		}
	}
	return nil
}

// start returns the initial value of a symbol.
func (s *sbml) start(id, value string) (string, error) {
	if n := s.initial[id]; n != nil {
		return s.expr(n, nil)
	}
	switch value {
	case "":
		return "", fmt.Errorf("%w: %s without a value", errUntranslated, id)
	case "INF":
		return "inf", nil
	}
	return value, nil
}

// quantity declares a symbol that is what it is called: a compartment, a parameter, a species with a rate.
func (s *sbml) quantity(n *node, name, value string) error {
	id := n.attr("id")
	if r := s.ruled[id]; r != nil {
		text, err := s.expr(r, nil)
		s.line("let %s = %s", name, text)
		return err
	}
	start, err := s.start(id, value)
	if err != nil {
		return err
	}
	if r := s.rated[id]; r != nil {
		text, err := s.expr(r, nil)
		s.line("state %s = %s\n%s' = %s", name, start, name, text)
		return err
	}
	kind := "const"
	if s.set[id] {
		kind = "discrete"
	} else if _, ok := s.initial[id]; ok {
		kind = "discrete"
	}
	s.line("%s %s = %s", kind, name, start)
	return nil
}

// quantities declares a species.
func (s *sbml) quantities(n *node, rates map[string]string) error {
	id := n.attr("id")
	compartment, isAmount := s.amounts[id]
	size := "v_" + n.attr("compartment")
	given, asAmount := n.attr("initialConcentration"), false
	if given == "" {
		given, asAmount = n.attr("initialAmount"), true
	}
	symbolic := n.attr("hasOnlySubstanceUnits") == "true" // the symbol is the amount
	if n := s.initial[id]; n != nil {
		asAmount = symbolic
	}
	if s.ruled[id] != nil {
		return s.quantity(n, "v_"+id, "")
	}
	start, err := s.start(id, given)
	if err != nil {
		return err
	}
	if !isAmount {
		switch {
		case asAmount && !symbolic:
			start += "/" + size
		case !asAmount && symbolic:
			start += "*" + size
		}
		text, err := s.expr(s.rated[id], nil)
		s.line("state v_%s = %s\nv_%s' = %s", id, start, id, text)
		return err
	}
	if !asAmount {
		start += "*" + size
	}
	if rate := rates[id]; rate != "" {
		s.line("state a_%s = %s\na_%s' = %s", id, start, id, rate)
	} else {
		s.line("discrete a_%s = %s", id, start)
	}
	if compartment == "" {
		s.line("let v_%s = a_%s", id, id)
	} else {
		s.line("let v_%s = a_%s/%s", id, id, size)
	}
	return nil
}

// reactions declares their rates, and returns what they do to each species.
func (s *sbml) reactions() (map[string]string, error) {
	rates := map[string]string{}
	for _, r := range s.model.list("listOfReactions") {
		id := r.attr("id")
		if r.attr("fast") == "true" {
			return nil, fmt.Errorf("%w: a fast reaction", errUntranslated)
		}
		law := r.child("kineticLaw")
		if law == nil || law.math() == nil {
			return nil, fmt.Errorf("%w: a reaction without a rate", errUntranslated)
		}
		in := scope{}
		for _, list := range []string{"listOfParameters", "listOfLocalParameters"} {
			for _, p := range law.list(list) {
				in[p.attr("id")] = "l_" + id + "_" + p.attr("id")
				s.line("const l_%s_%s = %s", id, p.attr("id"), p.attr("value"))
			}
		}
		text, err := s.expr(law.math(), in)
		if err != nil {
			return nil, err
		}
		s.line("let v_%s = %s", id, text)
		for side, list := range []string{"listOfReactants", "listOfProducts"} {
			for _, ref := range r.list(list) {
				to := find(s.model.list("listOfSpecies"), ref.attr("species"))
				factor := ref.attr("stoichiometry")
				if of := ref.child("stoichiometryMath"); of != nil {
					if factor, err = s.expr(of.math(), nil); err != nil {
						return nil, err
					}
				}
				if name := ref.attr("id"); name != "" && ref.child("stoichiometryMath") != nil {
					s.line("let v_%s = %s", name, factor)
				} else if name != "" {
					if factor == "" && s.initial[name] == nil && s.ruled[name] == nil {
						return nil, fmt.Errorf("%w: a stoichiometry without a value", errUntranslated)
					}
					if err := s.quantity(&ref, "v_"+name, factor); err != nil {
						return nil, err
					}
					factor = "v_" + name
				}
				if factor == "" {
					factor = "1"
				}
				if f := to.attr("conversionFactor"); f != "" {
					factor += "*v_" + f
				} else if f := s.model.attr("conversionFactor"); f != "" {
					factor += "*v_" + f
				}
				if to.attr("boundaryCondition") == "true" || to.attr("constant") == "true" {
					continue
				}
				rates[to.attr("id")] += []string{" - ", " + "}[side] + factor + "*v_" + id
			}
		}
	}
	return rates, nil
}

// event writes one event with its options.
func (s *sbml) event(i int, n *node) error {
	trigger := n.child("trigger")
	when, err := s.expr(trigger.math(), nil)
	if err != nil {
		return err
	}
	head := fmt.Sprintf("event e%d when %s", i, when)
	if p := n.child("priority"); p != nil {
		text, err := s.expr(p.math(), nil)
		if err != nil {
			return err
		}
		head += " priority " + text
	}
	if trigger.attr("initialValue") == "false" {
		head += " at start"
	}
	late := n.attr("useValuesFromTriggerTime") == "false"
	if d := n.child("delay"); d != nil {
		text, err := s.expr(d.math(), nil)
		if err != nil {
			return err
		}
		head += ", delay = " + text
		if late {
			head += ", values = execution"
		}
	} else if !late {
		head += ", delay = 0"
	}
	if trigger.attr("persistent") == "false" {
		head += ", persistent = false"
	}
	news := map[string]string{} // right-hand sides by symbol
	var order []string
	for _, a := range n.list("listOfEventAssignments") {
		if a.math() == nil {
			continue
		}
		text, err := s.expr(a.math(), nil)
		if err != nil {
			return err
		}
		id := a.attr("variable")
		news[id] = text
		order = append(order, id)
	}
	for _, c := range s.model.list("listOfSpecies") {
		// A compartment that jumps keeps the amounts in it.
		id, in := c.attr("id"), c.attr("compartment")
		if news[in] != "" && s.rated[id] != nil && c.attr("hasOnlySubstanceUnits") != "true" {
			if news[id] == "" {
				news[id] = "v_" + id
				order = append(order, id)
			}
			news[id] += fmt.Sprintf("*v_%s/(%s)", in, news[in])
		}
	}
	var body []string
	for _, id := range order {
		name, text := "v_"+id, news[id]
		if c, ok := s.amounts[id]; ok {
			name = "a_" + id
			if c != "" {
				text += "*v_" + c
			}
		}
		body = append(body, name+" = "+text)
	}
	s.line("%s { %s }", head, strings.Join(body, "; "))
	return nil
}

// suiteSettings say what a case asks for.
type suiteSettings struct{ values map[string]string }

func (s *suiteSettings) list(key string) []string {
	return regexp.MustCompile(`[^,\s]+`).FindAllString(s.values[key], -1)
}

func (s *suiteSettings) has(key, name string) bool {
	for _, v := range s.list(key) {
		if v == name {
			return true
		}
	}
	return false
}

func (s *suiteSettings) number(key string) float64 {
	v, _ := strconv.ParseFloat(s.values[key], 64)
	return v
}

func readSettings(path string) (*suiteSettings, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &suiteSettings{map[string]string{}}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok {
			s.values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return s, nil
}

// suiteModel translates a case.
func suiteModel(dir, id string, set *suiteSettings) (string, error) {
	var text []byte
	var err error
	for _, level := range []string{"l3v2", "l3v1", "l2v4"} {
		if text, err = os.ReadFile(filepath.Join(dir, id, id+"-sbml-"+level+".xml")); err == nil {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUntranslated, err)
	}
	var doc node
	if err := xml.Unmarshal(text, &doc); err != nil {
		return "", err
	}
	s := &sbml{model: doc.child("model")}
	if s.model == nil {
		return "", fmt.Errorf("%w: no model", errUntranslated)
	}
	if err := s.translate(set); err != nil {
		return "", err
	}
	return s.out.String(), nil
}

// runCase compares a case with its results and returns the worst difference, in tolerances.
func runCase(dir, id, text string, set *suiteSettings) (worst float64, where string, err error) {
	f, err := os.Open(filepath.Join(dir, id, id+"-results.csv"))
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, "", err
	}
	var times []float64
	for _, r := range rows[1:] {
		t, err := strconv.ParseFloat(strings.TrimSpace(r[0]), 64)
		if err != nil {
			return 0, "", err
		}
		times = append(times, t)
	}
	m, err := odes.Parse(id+".ode", text, odes.ParseOptions{})
	if err != nil {
		return 0, "", err
	}
	sol, err := m.Solve(context.Background(), odes.Options{Times: times, Threads: 1})
	if err != nil {
		return 0, "", err
	}
	column := map[string]int{}
	for k, name := range rows[0] {
		column[strings.TrimSpace(name)] = k
	}
	absolute, relative := set.number("absolute"), set.number("relative")
	for _, o := range sol.Outputs {
		k, ok := column[strings.TrimPrefix(o.Name, "o_")]
		if !ok {
			return 0, "", fmt.Errorf("no column %s", o.Name)
		}
		at := 0
		for i, r := range rows[1:] {
			// Of a time of events the last limit counts.
			for at+1 < len(sol.T) && sol.T[at+1] <= times[i]*(1+1e-12) {
				at++
			}
			want, err := strconv.ParseFloat(strings.TrimSpace(r[k]), 64)
			if err != nil {
				return 0, "", err
			}
			got := o.Values[at]
			d := math.Abs(got-want) / (absolute + relative*math.Abs(want))
			if math.IsNaN(d) && !(math.IsNaN(got) && math.IsNaN(want)) && got != want {
				d = math.Inf(1)
			}
			if d > worst {
				worst, where = d, fmt.Sprintf("%s at t = %v: %v, want %v", o.Name, times[i], got, want)
			}
		}
	}
	return worst, where, nil
}

// TestSemanticSuite runs the cases of the suite that have events.
func TestSemanticSuite(t *testing.T) {
	if *suiteDir == "" {
		t.Skip("needs -suite")
	}
	entries, err := os.ReadDir(*suiteDir)
	if err != nil {
		t.Fatal(err)
	}
	right, wrong, left := 0, 0, map[string]int{}
	for _, e := range entries {
		id := e.Name()
		if !e.IsDir() || *suiteCase != "" && id != *suiteCase {
			continue
		}
		about, err := os.ReadFile(filepath.Join(*suiteDir, id, id+"-model.m"))
		if err != nil || *suiteCase == "" && !regexp.MustCompile(`componentTags:.*Event`).Match(about) {
			continue
		}
		if strings.Contains(string(about), "BoolNumericSwap") {
			left["truth as a number"]++
			continue
		}
		set, err := readSettings(filepath.Join(*suiteDir, id, id+"-settings.txt"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := suiteModel(*suiteDir, id, set)
		if errors.Is(err, errUntranslated) {
			left[err.Error()]++
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		if *suiteCase != "" {
			fmt.Println(text)
		}
		worst, where, err := runCase(*suiteDir, id, text, set)
		switch {
		case err != nil:
			wrong++
			t.Errorf("%s: %v", id, err)
		case worst > 1:
			wrong++
			t.Errorf("%s: %.3g tolerances off: %s", id, worst, where)
		default:
			right++
		}
	}
	t.Logf("%d agree, %d do not; not translated: %v", right, wrong, left)
}
