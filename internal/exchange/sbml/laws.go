package sbml

import (
	"slices"
	"strconv"
)

// factor is a part of a term of a law that reads no species of fast reactions.
type factor struct {
	of *element
	in scope
}

// monomial is a term of a law: a number, factors, and species of fast reactions, each as often as its power says.
type monomial struct {
	by      float64
	factors []factor
	species []*symbol
}

type polynomial []monomial

func (p polynomial) linear() bool {
	return !slices.ContainsFunc(p, func(t monomial) bool { return len(t.species) > 1 })
}

func (t monomial) times(u monomial) monomial {
	return monomial{
		t.by * u.by, slices.Concat(t.factors, u.factors), slices.Concat(t.species, u.species),
	}
}

func (p polynomial) times(q polynomial) polynomial {
	var list polynomial
	for _, t := range p {
		for _, u := range q {
			list = append(list, t.times(u))
		}
	}
	return list
}

func (p polynomial) minus() polynomial {
	list := slices.Clone(p)
	for i := range list {
		list[i].by = -list[i].by
	}
	return list
}

// maxTerms is how many terms a law may have: real ones have two.
const maxTerms = 64

// readsQuick reports whether an expression reads species of fast reactions, itself or through rules.
func (m *fastPart) readsQuick(e *element, in scope, seen map[*symbol]bool) bool {
	for _, s := range m.reads(e, in) {
		if s.quick {
			return true
		}
		if s.kind != let || s.rule == nil || seen[s] {
			continue
		}
		if seen == nil {
			seen = map[*symbol]bool{}
		}
		seen[s] = true
		if m.readsQuick(s.rule.math(), s.locals, seen) {
			return true
		}
	}
	return false
}

// polynomial takes a law apart. Where it is the whole law, what is positive at all times may divide it, and is left
// out.
func (m *fastPart) polynomial(e *element, in scope, whole bool) (p polynomial, ok bool) {
	quick := m.readsQuick(e, in, nil)
	name := e.name.Local
	switch {
	case name == "cn":
		v, err := numeral(e)
		by, wrong := strconv.ParseFloat(v.text, 64)
		switch {
		case err != nil || wrong != nil:
			return polynomial{{by: 1, factors: []factor{{e, in}}}}, err == nil
		case by == 0:
			return nil, true
		}
		return polynomial{{by: by}}, true
	case name == "ci" && quick:
		s := m.symbols[e.text]
		if s.quick {
			return polynomial{{by: 1, species: []*symbol{s}}}, true
		}
		return m.polynomial(s.rule.math(), s.locals, whole)
	case name == "apply" && len(e.children) > 1:
		return m.operator(e, in, quick, whole)
	case quick:
		return nil, false
	}
	return polynomial{{by: 1, factors: []factor{{e, in}}}}, true
}

func (m *fastPart) operator(e *element, in scope, quick, whole bool) (p polynomial, ok bool) {
	op, args := e.children[0], e.children[1:]
	one := polynomial{{by: 1}}
	itself := polynomial{{by: 1, factors: []factor{{e, in}}}}
	switch name := op.name.Local; {
	case name == "times":
		p = one
		for _, a := range args {
			q, ok := m.polynomial(a, in, whole)
			if !ok || len(p)*len(q) > maxTerms {
				return nil, false
			}
			p = p.times(q)
		}
		return p, true
	case name == "minus" && len(args) == 1:
		p, ok = m.polynomial(args[0], in, whole)
		return p.minus(), ok
	case name == "divide" && len(args) == 2:
		p, ok = m.polynomial(args[0], in, whole)
		switch {
		case !ok:
			return nil, false
		case !m.readsQuick(args[1], in, nil):
			inverse := Apply(e.place, "divide", Leaf(e.place, "cn", "1"), args[1])
			return p.times(polynomial{{by: 1, factors: []factor{{inverse, in}}}}), true
		}
		q, ok := m.polynomial(args[1], in, false)
		return p, ok && whole && len(q) > 0 && m.positive(q)
	case !quick:
		return itself, true
	case name == "plus" || name == "minus":
		for i, a := range args {
			q, ok := m.polynomial(a, in, false)
			if !ok || len(p)+len(q) > maxTerms {
				return nil, false
			}
			if name == "minus" && i == 1 {
				q = q.minus()
			}
			p = append(p, q...)
		}
		return p, true
	}
	return m.written(e, in, whole)
}

// written takes apart what is a product or a function that is written out.
func (m *fastPart) written(e *element, in scope, whole bool) (p polynomial, ok bool) {
	op, args := e.children[0], e.children[1:]
	switch name := op.name.Local; {
	case name == "power" && len(args) == 2:
		n, err := strconv.Atoi(args[1].text)
		base, ok := m.polynomial(args[0], in, whole)
		if args[1].name.Local != "cn" || err != nil || n < 1 || n > 8 || !ok || len(base) > 1 {
			return nil, false
		}
		p = polynomial{{by: 1}}
		for range n {
			p = p.times(base)
		}
		return p, true
	case name == "ci" && m.functions[op.text] != nil && m.functions[op.text].body != nil:
		f := m.functions[op.text]
		if len(f.args) != len(args) || f.open {
			return nil, false
		}
		f.open = true
		defer func() { f.open = false }()
		by := map[string]*element{}
		for i, a := range f.args {
			by[a] = args[i]
		}
		return m.polynomial(substituted(f.body, by), in, whole)
	}
	return nil, false
}

// substituted writes out a function for its arguments.
func substituted(e *element, by map[string]*element) *element {
	if a := by[e.text]; a != nil && e.name.Local == "ci" {
		return a
	}
	c := *e
	c.children = make([]*element, len(e.children))
	for i, x := range e.children {
		c.children[i] = substituted(x, by)
	}
	return &c
}

// positive reports whether all terms are positive for positive amounts, and has it asserted of what is constant.
func (m *fastPart) positive(p polynomial) bool {
	for _, t := range p {
		if t.by < 0 || !m.signKnown(m.at, t) {
			return false
		}
	}
	return true
}

// signKnown reports whether the factors of a term are not negative: they are amounts, sizes, or constants, of which it
// is asserted.
func (m *fastPart) signKnown(of *symbol, t monomial) bool {
	var constants []factor
	for _, f := range t.factors {
		s := m.symbols[f.of.text]
		if _, local := f.in[f.of.text]; local || f.of.name.Local != "ci" {
			s = nil
		}
		switch {
		case s != nil && (s.species || s.of.name.Local == "compartment"):
		case m.known(f.of, f.in):
			constants = append(constants, f)
		default:
			return false
		}
	}
	if len(constants) > 0 {
		m.asserts = append(m.asserts, assertion{of, func() (expr, error) {
			return m.product(monomial{by: 1, factors: constants}, false)
		}, ">="})
	}
	return true
}

// falls reports an error unless the law of a reaction falls along the reaction: it is the difference of what grows with
// species that it consumes, and what grows with those that it makes.
func (m *fastPart) falls(r *fastReaction) error {
	grows := false
	for _, t := range r.law {
		for _, s := range t.species {
			n := r.net(s)
			if n == nil || n.minus != (t.by > 0) {
				return m.unclear(r.symbol, "and it is not known to be the only one, since its law may grow along "+
					"it, with %s", s.id)
			}
			grows = true
		}
		if !m.signKnown(r.symbol, t) {
			return m.unclear(r.symbol, "and it is not known to be stable, since the signs of factors of its law are "+
				"not known")
		}
	}
	if !grows {
		return m.unclear(r.symbol, "and no species that it changes is in its law")
	}
	return nil
}

// one reports whether a reaction turns one molecule into another one, or into nothing, in proportion to each.
func (r *fastReaction) one() bool {
	made, taken := 0, 0
	for _, n := range r.nets {
		switch v, ok := n.number(); {
		case ok && v == 1:
			made++
		case ok && v == -1:
			taken++
		default:
			return false
		}
	}
	constant := slices.ContainsFunc(r.law, func(t monomial) bool { return len(t.species) == 0 })
	return made <= 1 && taken <= 1 && (!constant || made+taken == 1)
}

// massAction reports whether a law has a term for each direction, with every species of that side as often as the
// reaction takes it.
func (r *fastReaction) massAction() bool {
	if len(r.law) != 2 || r.law[0].by*r.law[1].by > 0 {
		return false
	}
	for _, t := range r.law {
		for _, n := range r.nets {
			if n.minus != (t.by > 0) {
				continue
			}
			powers := 0
			for _, s := range t.species {
				if s == n.species {
					powers++
				}
			}
			if v, ok := n.number(); !ok || v != float64(powers) && v != -float64(powers) {
				return false
			}
		}
	}
	return true
}

// ending writes the amount of a pivot where a reaction ends.
type ending func(pivot *symbol) (expr, error)

// used finds where a law of one term leads: to where it has used up a species that it needs. The pivot is nil for other
// laws. A law may have such cases, by what reads no species of the reaction.
func (m *fastPart) used(r *fastReaction, law *element, alone bool) (ending, *symbol, error) {
	if law.name.Local == "piecewise" {
		return m.usedByCase(r, law)
	}
	p, ok := m.polynomial(law, r.symbol.locals, true)
	if !ok || len(p) != 1 {
		return nil, nil, nil
	}
	t := p[0]
	var ends [2][]*net // of a positive rate, and of a negative one
	for _, s := range t.species {
		if n := r.net(s); n != nil && n.minus {
			ends[0] = append(ends[0], n)
		} else if n != nil {
			ends[1] = append(ends[1], n)
		}
	}
	pivot := r.nets[len(r.nets)-1].species
	for _, list := range ends {
		if len(list) > 0 {
			pivot = list[0].species
			break
		}
	}
	if len(ends[0])+len(ends[1]) == 0 {
		return nil, nil, m.unclear(r.symbol, "and no species that it changes is in its law")
	}
	if err := m.begins(r, t, ends); err != nil {
		return nil, nil, err
	}
	end := func(pivot *symbol, backward int) expr {
		if len(ends[backward]) == 0 {
			return atom("nan", false) // it does not end
		}
		return m.lastOf(r, pivot, ends[backward], backward == 1)
	}
	forward := 0
	if t.by < 0 {
		forward = 1
	}
	if len(t.factors) == 0 {
		if len(ends[forward]) == 0 {
			return nil, nil, m.unclear(r.symbol, "and its law has no rest")
		}
		return func(pivot *symbol) (expr, error) { return end(pivot, forward), nil }, pivot, nil
	}
	off := atom("nan", false)
	if watch, ok := m.watched(t.factors); ok && alone {
		k := &keptAmount{pivot, m.named(pivot.id + "_kept"), monomial{by: 1, factors: t.factors}, watch}
		m.kept = append(m.kept, k)
		off = atom(k.name, false)
	}
	return func(pivot *symbol) (expr, error) {
		c, err := m.product(monomial{by: 1, factors: t.factors}, false)
		zero := atom("0", false)
		return choice(compare(">", c, zero), end(pivot, forward),
			choice(compare("<", c, zero), end(pivot, 1-forward), off)), err
	}, pivot, nil
}

// begins refuses a law of one term that reads a species which the reaction makes, and which begins with nothing: it
// stays where it is by the law, and a little of the species would have it run to its end.
func (m *fastPart) begins(r *fastReaction, t monomial, ends [2][]*net) error {
	if len(ends[0]) == 0 || len(ends[1]) == 0 {
		return nil
	}
	made := ends[1]
	if t.by < 0 {
		made = ends[0]
	}
	for _, n := range made {
		s := n.species
		v, err := strconv.ParseFloat(s.value, 64)
		switch {
		case s.start != nil || s.value == "" || err != nil:
			m.asserts = append(m.asserts, assertion{r.symbol, func() (expr, error) { return m.given(s) }, ">"})
		case v == 0:
			return m.unclear(r.symbol, "and its law needs %s, which it makes, and of which there is none at the start",
				s.id)
		}
	}
	return nil
}

// usedByCase does this for each piece of a law.
func (m *fastPart) usedByCase(r *fastReaction, law *element) (ending, *symbol, error) {
	type piece struct {
		when *element
		end  ending
	}
	var pieces []piece
	var pivot *symbol
	for _, c := range law.children {
		if len(c.children) == 0 || len(c.children) > 1 && m.readsQuick(c.children[1], r.symbol.locals, nil) {
			return nil, nil, nil
		}
		end, of, err := m.used(r, c.children[0], false)
		if err != nil || of == nil {
			return nil, nil, err
		}
		p := piece{end: end}
		if pivot = of; c.name.Local == "piece" && len(c.children) == 2 {
			p.when = c.children[1]
		}
		pieces = append(pieces, p)
	}
	return func(pivot *symbol) (expr, error) {
		result := atom("nan", false)
		for _, p := range slices.Backward(pieces) {
			v, err := p.end(pivot)
			if err != nil {
				return v, err
			}
			if p.when == nil {
				result = v
				continue
			}
			when, err := m.expression(p.when, r.symbol.locals)
			if err != nil {
				return when, err
			}
			result = choice(when.condition(), v, result)
		}
		return result, nil
	}, pivot, nil
}

// watched reports whether factors change by events only, and which symbols do.
func (m *fastPart) watched(factors []factor) (watch []*symbol, ok bool) {
	for _, f := range factors {
		if m.readsTime(f.of) {
			return nil, false
		}
		for _, s := range m.reads(f.of, f.in) {
			switch {
			case m.constant(s):
			case s.kind == param && s.assigned && len(s.reactions) == 0 && !s.quick:
				watch = append(watch, s)
			default:
				return nil, false
			}
		}
	}
	return watch, true
}

// lastOf is the amount of a pivot where the first of some species is used up.
func (m *fastPart) lastOf(r *fastReaction, pivot *symbol, ends []*net, backward bool) expr {
	by := r.net(pivot)
	var list []expr
	for i, n := range ends {
		if slices.Contains(ends[:i], n) {
			continue
		}
		if n.species == pivot {
			list = append(list, atom("0", false))
			continue
		}
		// The amount is its pool and a share of the pivot, so the pivot is what makes it 0.
		at := slices.IndexFunc(m.pools, func(p *pool) bool { return p.of == n.species })
		x := m.pools[at].pivots[0]
		v := atom(m.pools[at].name, false)
		if x.size.text != "1" {
			v = div(v, x.size)
		}
		if !x.minus {
			v = neg(v)
		}
		list = append(list, v)
	}
	name := "max" // a pivot that falls stops at the first
	if by.minus == backward {
		name = "min"
	}
	v := list[0]
	for _, x := range list[1:] {
		v = call(name, v, x)
	}
	return v
}
