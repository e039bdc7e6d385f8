package sbml

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// delay(e, tau) of SBML is the value of e at the time t - tau; before the start, that of what initial assignments give
// at that time. The language has this for states, time and what lets make of them. So
//
//   - functions and rules that read the past, and are read at an earlier time, are written out, and delays of delays
//     become one delay: unfold does this with the elements, before anything is translated;
//   - what does not change drops out of a delay;
//   - what events set, and what begins with a value of the past of its own, becomes a state with the rate 0 where it is
//     read at earlier times.

// isDelay reports whether an element is the call of delay.
func isDelay(e *element) bool {
	return e.name.Local == "apply" && len(e.children) > 0 && e.children[0].name.Local == "csymbol" &&
		strings.HasSuffix(e.children[0].attr("definitionURL"), "/delay")
}

// isRate reports whether an element is the call of rateOf.
func isRate(e *element) bool {
	return e.name.Local == "apply" && len(e.children) == 2 && e.children[0].name.Local == "csymbol" &&
		strings.HasSuffix(e.children[0].attr("definitionURL"), "/rateOf")
}

// Delay makes the value of an expression at an earlier time.
func Delay(at Place, e, tau *Element) *Element {
	return New(at, "apply").Add(New(at, "csymbol", "definitionURL", "http://www.sbml.org/sbml/symbols/delay"), e, tau)
}

// SetPast gives a parameter a value before the start that is none of its initial assignment, for formats that say so.
func SetPast(parameter, e *Element) { parameter.Add(New(e.place, ownPast).Add(Math(e))) }

// ownPast is the element with a past. SBML has none of this name.
const ownPast = "odes.past"

// startOfPast is what gives a symbol its value before the start.
func startOfPast(s *symbol) *element {
	if own := s.of.child(ownPast); own != nil {
		return own
	}
	return s.start
}

// hasDelay reports whether an expression calls delay, itself or by a function.
func (m latePart) hasDelay(e *element) (found bool) {
	seen := map[*function]bool{}
	var look func(*element)
	look = func(e *element) {
		found = found || isDelay(e)
		if f := m.functions[e.text]; f != nil && e.name.Local == "ci" && !seen[f] {
			seen[f] = true
			f.body.each(look)
		}
	}
	e.each(look)
	return found
}

// latePart is what a model knows of earlier values.
type latePart struct{ *Model }

// unfolder writes out what reads the past.
type unfolder struct {
	latePart
	open  map[*symbol]bool // rules that are being written out
	count int              // of elements that were made
}

// unfold writes all expressions of a model so that nothing which reads the past is read at an earlier time.
func (m latePart) unfold() error {
	if !m.hasDelay(m.root) {
		return nil
	}
	m.solve()
	u := &unfolder{latePart: m, open: map[*symbol]bool{}}
	var wrong error
	m.root.each(func(e *element) {
		if e.name.Local != "math" || len(e.children) == 0 || e.children[0].name.Local == "lambda" || wrong != nil {
			return
		}
		e.children[0], wrong = u.expression(e.children[0])
	})
	return wrong
}

func (u *unfolder) expression(e *element) (*element, error) {
	if !u.hasDelay(e) {
		return e, nil
	}
	if u.count++; u.count > maxCalls {
		return nil, fail(e.place, "expressions that read the past are longer than %d parts when they are written out",
			maxCalls)
	}
	c := *e
	c.children = slices.Clone(e.children)
	for i, x := range c.children {
		var err error
		if c.children[i], err = u.expression(x); err != nil {
			return nil, err
		}
	}
	if c.name.Local != "apply" {
		return &c, nil
	}
	if f := u.functions[c.children[0].text]; f != nil && c.children[0].name.Local == "ci" && u.hasDelay(f.body) {
		args := c.children[1:]
		if f.open || len(args) != len(f.args) {
			return &c, nil // whoever translates it tells
		}
		f.open = true
		defer func() { f.open = false }()
		by := map[string]*element{}
		for i, a := range f.args {
			by[a] = args[i]
		}
		return u.expression(substituted(f.body, by))
	}
	if isDelay(&c) && len(c.children) == 3 {
		return u.late(c.children[1], c.children[2])
	}
	return &c, nil
}

// late is an expression, which is unfolded, at the time t - tau.
func (u *unfolder) late(e, tau *element) (*element, error) {
	if u.count++; u.count > maxCalls {
		return nil, fail(e.place, "expressions that read the past are longer than %d parts when they are written out",
			maxCalls)
	}
	if isDelay(e) && len(e.children) == 3 {
		more, err := u.late(e.children[2], tau)
		if err != nil {
			return nil, err
		}
		return u.late(e.children[1], Apply(tau.place, "plus", tau, more))
	}
	s := u.symbols[e.text]
	if e.name.Local != "ci" {
		s = nil
	}
	parts := slices.Contains([]string{"piece", "otherwise", "degree", "logbase"}, e.name.Local)
	if !parts && (isRate(e) || !u.breaks(e, nil) || s != nil && u.isFast(s)) {
		return Delay(e.place, e, tau), nil
	}
	if s != nil {
		if u.open[s] {
			return nil, fail(e.place, "%s is given by values of its own past, and what odes reads of the past is made "+
				"of states and time", s.id)
		}
		u.open[s] = true
		defer func() { u.open[s] = false }()
		rule, err := u.expression(ruleMath(s))
		if err != nil {
			return nil, err
		}
		return u.late(rule, tau)
	}
	c := *e
	c.children = slices.Clone(e.children)
	for i, x := range c.children {
		if i == 0 && e.name.Local == "apply" {
			continue // the operator
		}
		var err error
		if c.children[i], err = u.late(x, tau); err != nil {
			return nil, err
		}
	}
	return &c, nil
}

// ruleMath is the expression of the rule of a symbol, or of the kinetic law of a reaction, in which what is local has
// the name that it has in the translation.
func ruleMath(s *symbol) *element {
	of := s.rule.math()
	if len(s.locals) == 0 {
		return of
	}
	by := map[string]*element{}
	for id, v := range s.locals {
		by[id] = Outside(of.place, v.text)
	}
	return substituted(of, by)
}

// isFast reports whether fast reactions change a species.
func (m latePart) isFast(s *symbol) bool {
	return slices.ContainsFunc(m.fast.terms, func(t fastTerm) bool { return t.species == s })
}

// breaks reports whether an expression reads, itself or through rules, what an earlier time cannot be written around:
// the past, rates, and species of fast reactions, which are others before the start.
func (m latePart) breaks(e *element, seen map[*symbol]bool) (found bool) {
	if m.hasDelay(e) {
		return true
	}
	e.each(func(e *element) { found = found || isRate(e) })
	if seen == nil {
		seen = map[*symbol]bool{}
	}
	return found || slices.ContainsFunc(m.reads(e, nil), func(s *symbol) bool {
		if seen[s] || s.kind != let || s.rule == nil {
			return m.isFast(s)
		}
		seen[s] = true
		return m.breaks(ruleMath(s), seen)
	})
}

// delay translates the call of delay.
func (m latePart) delay(op *element, operands []*element, in scope) (expr, error) {
	if len(operands) != 2 {
		return expr{}, fail(op.place, "delay has two arguments, an expression and by how much it is late")
	}
	e, locals := operands[0], in
	if m.early != nil {
		locals = m.early.locals
	}
	if m.known(e, locals) {
		return m.expression(e, in)
	}
	tau, err := m.expression(operands[1], in)
	if err != nil {
		return tau, err
	}
	then := sub(atom(m.clock, false), tau.number())
	if m.early != nil { // of a value at the start
		return m.before(e, locals, then)
	}
	if !slices.ContainsFunc(m.reads(e, locals), func(s *symbol) bool { return !m.constant(s) }) && !isRate(e) {
		time := m.clock // that is all it reads
		m.clock = "(" + then.text + ")"
		defer func() { m.clock = time }()
		return m.expression(e, in)
	}
	v, err := m.expression(e, in)
	if err == nil && !m.rests(e) {
		v = call("delay", v, tau)
	}
	if s := m.symbols[e.text]; err == nil && (isRate(e) || s != nil && s.quick && e.name.Local == "ci") {
		var start expr // what it was before
		m.early = &early{open: map[*symbol]bool{}}
		defer func() { m.early = nil }()
		start, err = m.before(e, locals, then)
		v = choice(compare("<", then, atom(m.from, false)), start, v)
	}
	return v, err
}

// rests reports whether an expression is a rate that does not change, or a species of fast reactions that stays what
// these make of it.
func (m latePart) rests(e *element) bool {
	if isRate(e) {
		s := m.symbols[e.children[1].text]
		return s == nil || m.goesOn(s)
	}
	s := m.symbols[e.text]
	if s == nil || e.name.Local != "ci" || !s.quick || s.solved == nil {
		return false
	}
	v, err := s.solved()
	return err == nil && m.restsText(v.text)
}

// restsText reports whether a text has no name of what changes.
func (m latePart) restsText(text string) bool {
	names := notName().Split(text, -1)
	return !slices.ContainsFunc(m.fast.pools, func(p *pool) bool { return slices.Contains(names, p.name) }) &&
		!slices.ContainsFunc(m.fast.kept, func(k *keptAmount) bool { return slices.Contains(names, k.name) }) &&
		!slices.ContainsFunc(m.order, func(s *symbol) bool {
			return slices.Contains(names, strings.Trim(s.name, "`")) && !m.constant(s)
		})
}

// goesOn reports whether the rate of a symbol does not change along a run.
func (m latePart) goesOn(s *symbol) bool {
	if s.rule != nil {
		return m.known(s.rule.math(), s.locals)
	}
	return (!s.species || s.isAmount || m.constant(s.in)) && !slices.ContainsFunc(s.reactions, func(t term) bool {
		return !m.constant(t.rate) || !m.restsText(t.factor.text)
	})
}

// early is what is known while values before the start are translated.
type early struct {
	locals scope // of the expression
	open   map[*symbol]bool
}

// start translates what gives a value at the start.
func (m latePart) start(e *element, in scope) (expr, error) {
	if m.early == nil {
		m.early = &early{open: map[*symbol]bool{}}
		defer func() { m.early = nil }()
	}
	return m.expression(e, in)
}

// before is an expression at a time before the start.
func (m latePart) before(e *element, locals scope, clock expr) (v expr, err error) {
	time, outer := m.clock, m.early
	m.clock, m.early = clock.in(bindAtom), &early{locals: locals, open: outer.open}
	defer func() { m.clock, m.early = time, outer }()
	if isRate(e) {
		if s := m.symbols[e.children[1].text]; s == nil || m.startMoves(s, map[*symbol]bool{}) {
			return v, fail(e.place, "the rate of %s before the start is asked for, and its value there is not constant",
				e.children[1].text)
		}
		return atom("0", false), nil
	}
	in := scope{}
	maps.Copy(in, locals)
	for _, s := range m.reads(e, locals) {
		value, err := m.valueBefore(s, clock)
		if err != nil {
			return v, err
		}
		in[s.id] = value.closed()
	}
	return m.expression(e, in)
}

// valueBefore is the value of a symbol at a time before the start.
func (m latePart) valueBefore(s *symbol, clock expr) (v expr, err error) {
	switch {
	case m.constant(s):
		return atom(s.name, false), nil
	case s.startName != "":
		return atom(s.startName, false), nil
	case s.kind == alg:
		return v, fail(s.of.place, "the value of %s before the start is asked for, and an algebraic rule gives it",
			s.id)
	case m.early.open[s]:
		return v, fail(s.of.place, "the value of %s before the start follows from itself", s.id)
	}
	m.early.open[s] = true
	defer func() { m.early.open[s] = false }()
	from := startOfPast(s)
	if s.kind == let {
		from = s.rule
	}
	if from != nil && s.set == nil {
		v, err = m.before(from.math(), s.locals, clock)
		return v.number(), err
	}
	asAmount := s.isAmount
	v, err = m.startAs(s, s.byAmount, "")
	if err != nil || !s.species || s.set != nil || asAmount == s.byAmount || v.text == "0" {
		return v.number(), err
	}
	size, err := m.valueBefore(s.in, clock)
	if asAmount {
		return mul(v.number(), size), err
	}
	return div(v.number(), size), err
}

// closed is e in parentheses, unless it is a name or a number.
func (e expr) closed() expr {
	if e.bind == bindAtom {
		return e
	}
	return atom("("+e.text+")", false)
}

// past is what a state, or what stores it, is before the start; ok is false where that is the value at the start.
func (m latePart) past(s *symbol) (v expr, ok bool, err error) {
	if !m.late[s] || !m.startMoves(s, map[*symbol]bool{}) {
		return v, false, nil
	}
	m.early = &early{open: map[*symbol]bool{}}
	defer func() { m.early = nil }()
	clock := atom(m.clock, false)
	v, err = m.valueBefore(s, clock)
	if err == nil && s.stored != "" {
		var size expr
		size, err = m.valueBefore(s.in, clock)
		v = mul(v, size)
	}
	return v, true, err
}

// startMoves reports whether the value of a symbol before the start depends on time.
func (m latePart) startMoves(s *symbol, seen map[*symbol]bool) bool {
	if seen[s] || s.startName != "" || s.set != nil || m.constant(s) {
		return false
	}
	seen[s] = true
	from := startOfPast(s)
	if s.kind == let {
		from = s.rule
	}
	if s.of.child(ownPast) != nil {
		return true // it is another one than at the start
	}
	if s.species && (s.stored != "" || from == nil && s.byAmount != s.isAmount) && m.startMoves(s.in, seen) {
		return true
	}
	if from == nil {
		return false
	}
	return m.readsTime(from.math()) || slices.ContainsFunc(m.reads(from.math(), s.locals), func(s *symbol) bool {
		return m.startMoves(s, seen)
	})
}

// readLate finds what is read at earlier times, and makes states of what is not one but has earlier values.
func (m latePart) readLate() error {
	m.late = map[*symbol]bool{}
	var take func(e *element, locals scope)
	add := func(s *symbol) {
		if m.late[s] || m.constant(s) {
			return
		}
		m.late[s] = true
		if s.kind == discrete {
			s.kind = state
		}
		if s.kind == let {
			take(s.rule.math(), s.locals)
		}
	}
	take = func(e *element, locals scope) {
		for _, s := range m.reads(e, locals) {
			add(s)
			if s.species && m.late[s] && (s.stored != "" || s.kind == let) {
				add(s.in)
			}
		}
		e.each(func(e *element) {
			if e.name.Local != "csymbol" || !strings.HasSuffix(e.attr("definitionURL"), "/rateOf") {
				return
			}
			for _, s := range m.order { // what rates are made of
				if s.locals != nil || s.of.name.Local == "speciesReference" || s.of.name.Local == "compartment" ||
					s.kind == state && s.rule != nil {
					add(s)
				}
			}
		})
	}
	var look func(e *element, locals scope)
	look = func(e *element, locals scope) {
		if e.name.Local == "reaction" {
			if s := m.symbols[e.attr("id")]; s != nil {
				locals = s.locals
			}
		}
		if isDelay(e) && len(e.children) == 3 {
			take(e.children[1], locals)
		}
		for _, c := range e.children {
			look(c, locals)
		}
	}
	look(m.root, nil)
	return nil
}

// solve solves algebraic rules for what they determine, where that is in them once, times a number, and nowhere in what
// else they read: earlier values are known of what is made of states and time.
func (m latePart) solve() {
	for _, r := range m.root.list("listOfRules") {
		if r.name.Local != "algebraicRule" || r.math() == nil {
			continue
		}
		for _, s := range m.reads(r.math(), nil) {
			if s.kind != alg || s.rule != nil {
				continue
			}
			by, rest, ok := m.linear(r.math(), s, 1)
			if !ok || by == 0 || slices.ContainsFunc(rest, func(e *element) bool {
				return m.follows(e, s, map[*symbol]bool{})
			}) {
				continue
			}
			for i, e := range rest {
				if rest[i] = e; by > 0 {
					rest[i] = Apply(e.place, "minus", e)
				}
			}
			v := Apply(r.place, "plus", rest...)
			if by = math.Abs(by); by != 1 {
				v = Apply(r.place, "divide", v, Leaf(r.place, "cn", strconv.FormatFloat(by, 'g', -1, 64)))
			}
			r.name.Local = "assignmentRule"
			r.Keep(func(*Element) bool { return false })
			s.kind, s.rule = let, r.Set("variable", s.id).Add(Math(v))
			break
		}
	}
}

// linear takes an expression, times a number, apart: by times a symbol, and a sum of what does not read it itself.
func (m latePart) linear(e *element, s *symbol, times float64) (by float64, rest []*element, ok bool) {
	if !slices.Contains(m.reads(e, nil), s) {
		switch times {
		case 1:
		case -1:
			e = Apply(e.place, "minus", e)
		default:
			e = Apply(e.place, "times", Leaf(e.place, "cn", strconv.FormatFloat(times, 'g', -1, 64)), e)
		}
		return 0, []*element{e}, true
	}
	if e.name.Local == "ci" {
		return times, nil, true
	}
	if e.name.Local != "apply" || len(e.children) < 2 {
		return 0, nil, false
	}
	args := e.children[1:]
	switch e.children[0].name.Local {
	case "plus", "minus":
		for i, a := range args {
			sign := times
			if e.children[0].name.Local == "minus" && (i == 1 || len(args) == 1) {
				sign = -times
			}
			b, list, ok := m.linear(a, s, sign)
			if !ok {
				return 0, nil, false
			}
			by, rest = by+b, append(rest, list...)
		}
		return by, rest, true
	case "times":
		var of *element
		for _, a := range args {
			switch v, err := strconv.ParseFloat(a.text, 64); {
			case a.name.Local == "cn" && err == nil:
				times *= v
			case of != nil:
				return 0, nil, false
			default:
				of = a
			}
		}
		if of != nil {
			return m.linear(of, s, times)
		}
	}
	return 0, nil, false
}

// follows reports whether an expression reads a symbol, itself or through rules.
func (m latePart) follows(e *element, of *symbol, seen map[*symbol]bool) bool {
	return slices.ContainsFunc(m.reads(e, nil), func(s *symbol) bool {
		if s == of || s.kind == alg { // of another one nobody knows
			return true
		}
		if seen[s] || s.kind != let || s.rule == nil {
			return false
		}
		seen[s] = true
		return m.follows(ruleMath(s), of, seen)
	})
}
