package sbml

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"odes.dev/odes/internal/base/lazy"
)

// Fast reactions are equilibria at all times: they lead at once to where they rest. As many of their species as there
// are such reactions follow from the others, and pools, which these reactions leave as they are, are states in the
// place of the others. Which rest it is that they lead to must be known whatever the numbers are:
//
//   - A rate law of one term, c*A*B, ends when what it consumes is used up. What is left is written down, by the sign
//     of c. Where c is 0 nothing happens, and the species keeps its own amount.
//   - A difference of terms of what a reaction consumes and of what it makes falls along the reaction, so it has one
//     zero at most, which is an unknown of the model.
//   - Several such reactions with species in common are reversible and of mass action, and independent. Their network
//     has deficiency zero then, and one equilibrium with positive amounts, which is stable [M. Feinberg, Foundations of
//     Chemical Reaction Network Theory, 2019, 7.1]. Or all of them turn one molecule into one, at rates in proportion
//     to it, so that the equations are linear.
type fastPart struct {
	*Model
	at        *symbol // whose law is taken apart
	reactions []*symbol
	terms     []fastTerm
	pools     []*pool
	kept      []*keptAmount
	asserts   []assertion
	equations []equation
}

// fastTerm is what one side of a fast reaction contributes to a species.
type fastTerm struct {
	reaction *symbol
	species  *symbol
	factor   expr // of one unit of the reaction
	made     bool
	of       *element
}

// net is what a fast reaction does to a species. Size is positive, by a number or by an assertion.
type net struct {
	species *symbol
	minus   bool
	size    expr
}

func (n net) number() (float64, bool) {
	v, err := strconv.ParseFloat(n.size.text, 64)
	if n.minus {
		v = -v
	}
	return v, err == nil
}

// fastReaction is a fast reaction with what it does.
type fastReaction struct {
	symbol *symbol
	nets   []net
	law    polynomial
	at     place
}

func (r *fastReaction) net(s *symbol) *net {
	if i := slices.IndexFunc(r.nets, func(n net) bool { return n.species == s }); i >= 0 {
		return &r.nets[i]
	}
	return nil
}

// pool is an amount that fast reactions do not change: that of a species, less multiples of those of pivots, which
// follow from pools.
type pool struct {
	of     *symbol
	name   string
	pivots []share
}

// share is what a pool leaves to a pivot.
type share struct {
	of    *symbol
	minus bool
	size  expr
}

// keptAmount is the amount of a species while its fast reaction does not happen.
type keptAmount struct {
	of    *symbol
	name  string
	by    monomial // is 0 then
	watch []*symbol
}

// assertion is what must be positive, or not negative, for the equilibrium of a reaction.
type assertion struct {
	of   *symbol
	text func() (expr, error)
	sign string
}

// equation is 0 at all times.
type equation struct {
	of   *symbol
	text func() (expr, error)
}

// unclear refuses an equilibrium, with the way out.
func (m *fastPart) unclear(r *symbol, format string, args ...any) error {
	return fail(r.of.place, "the fast reaction %s is an equilibrium at all times, %s: --ignore-fast takes its rate law",
		r.id, fmt.Sprintf(format, args...))
}

// equilibria finds out what fast reactions determine.
func (m *fastPart) equilibria() error {
	var reactions []*fastReaction
	for _, s := range m.reactions {
		r := &fastReaction{symbol: s, at: s.of.place}
		if err := m.readNets(r); err != nil {
			return err
		}
		reactions = append(reactions, r)
		for _, n := range r.nets {
			n.species.quick = true
			m.static[n.species] = false
		}
	}
	for _, r := range reactions {
		if err := m.fits(r); err != nil {
			return err
		}
	}
	for _, s := range m.order {
		if s.start != nil && m.readsQuick(s.start.math(), nil, nil) && len(reactions) > 0 {
			return m.unclear(reactions[0].symbol, "and the initial assignment of %s reads what it determines", s.id)
		}
	}
	for len(reactions) > 0 {
		block := []*fastReaction{reactions[0]}
		rest := reactions[1:]
		for k := 0; k < len(block); k++ {
			var others []*fastReaction
			for _, r := range rest {
				if slices.ContainsFunc(r.nets, func(n net) bool { return block[k].net(n.species) != nil }) {
					block = append(block, r)
				} else {
					others = append(others, r)
				}
			}
			rest = others
		}
		reactions = rest
		if err := m.settle(block); err != nil {
			return err
		}
	}
	return nil
}

// readNets adds up what a fast reaction does to each species.
func (m *fastPart) readNets(r *fastReaction) error {
	for _, t := range m.terms {
		if t.reaction != r.symbol {
			continue
		}
		v, err := strconv.ParseFloat(t.factor.text, 64)
		n := r.net(t.species)
		switch {
		case err != nil && n != nil:
			return m.unclear(r.symbol, "and what it does to %s depends on several stoichiometries", t.species.id)
		case err != nil:
			if !m.knownFactor(t.of, t.species) {
				return m.unclear(r.symbol, "and its stoichiometry of %s changes", t.species.id)
			}
			r.nets = append(r.nets, net{t.species, !t.made, t.factor})
			factor := func() (expr, error) { return t.factor, nil }
			m.asserts = append(m.asserts, assertion{r.symbol, factor, ">"})
			continue
		case !t.made:
			v = -v
		}
		if n != nil {
			before, ok := n.number()
			if !ok {
				return m.unclear(r.symbol, "and what it does to %s depends on several stoichiometries", t.species.id)
			}
			v += before
		} else {
			r.nets = append(r.nets, net{species: t.species})
			n = &r.nets[len(r.nets)-1]
		}
		n.minus, n.size = v < 0, figure(math.Abs(v))
	}
	r.nets = slices.DeleteFunc(r.nets, func(n net) bool { return n.size.text == "0" }) // catalysts
	return nil
}

// knownFactor reports whether the stoichiometry of a species is known before a run.
func (m *fastPart) knownFactor(ref *element, to *symbol) bool {
	ok := m.known(ref.child("stoichiometryMath").math(), nil)
	if id := ref.attr("id"); id != "" {
		ok = ok && m.constant(m.symbols[id])
	}
	for _, e := range []*element{to.of, m.root} {
		if s := m.symbols[e.attr("conversionFactor")]; s != nil {
			ok = ok && m.constant(s)
		}
	}
	return ok
}

// fits refuses what the equilibrium of a fast reaction cannot have.
func (m *fastPart) fits(r *fastReaction) error {
	for _, n := range r.nets {
		switch s := n.species; {
		case s.assigned && m.changed[s.id]:
			return m.unclear(r.symbol, "and conditions change %s", s.id)
		case s.assigned:
			return m.unclear(r.symbol, "and an event sets %s", s.id)
		case s.kind == alg:
			return m.unclear(r.symbol, "and an algebraic rule determines %s", s.id)
		case !s.isAmount && !m.steady(s.in):
			return m.unclear(r.symbol, "and the compartment of %s changes", s.id)
		}
	}
	return nil
}

// settle makes unknowns and pools of the species of fast reactions that have some in common.
func (m *fastPart) settle(block []*fastReaction) error {
	if len(block) == 1 {
		return m.settleOne(block[0])
	}
	linear := true
	for _, r := range block {
		var ok bool
		m.at = r.symbol
		if r.law, ok = m.polynomial(r.symbol.rule.math(), r.symbol.locals, true); !ok {
			return m.unclear(r.symbol, "and its law is no difference of products of species")
		}
		if err := m.falls(r); err != nil {
			return err
		}
		linear = linear && r.law.linear() && r.one()
	}
	var species []*symbol
	for _, r := range block {
		for _, n := range r.nets {
			if !slices.Contains(species, n.species) {
				species = append(species, n.species)
			}
		}
	}
	table := make([][]float64, len(species)) // what reactions do to species
	for i, s := range species {
		table[i] = make([]float64, len(block))
		for j, r := range block {
			n := r.net(s)
			if n == nil {
				continue
			}
			v, ok := n.number()
			if !ok {
				return m.unclear(r.symbol, "with species of others, and its stoichiometry of %s is no number", s.id)
			}
			table[i][j] = v
		}
	}
	pivots, of := reduced(table)
	if !linear {
		for _, r := range block {
			if !r.massAction() || len(pivots) < len(block) {
				return m.unclear(r.symbol, "with species of others, and it is not known to be the only one, since not "+
					"all of them are reversible, independent and of mass action")
			}
		}
	}
	for i, s := range species {
		if slices.Contains(pivots, i) {
			s.kind = alg
			continue
		}
		p := &pool{of: s, name: m.named(s.id + "_pool")}
		for k, at := range pivots {
			if c := of[i][k]; c != 0 {
				p.pivots = append(p.pivots, share{species[at], c < 0, figure(math.Abs(c))})
			}
		}
		m.pool(p)
	}
	if len(pivots) == len(block) {
		for _, r := range block {
			m.zero(r, linear)
		}
		return nil
	}
	for _, at := range pivots { // in a circle of reactions each may still flow
		m.equations = append(m.equations, equation{block[0].symbol, func() (expr, error) {
			var sum sum
			for j, r := range block {
				if v := table[at][j]; v != 0 {
					sum.add(atom(strconv.FormatFloat(v, 'g', -1, 64), false), r.symbol.name)
				}
			}
			return sum.expr(), nil
		}})
	}
	return nil
}

// settleOne does this for a reaction that has its species for itself.
func (m *fastPart) settleOne(r *fastReaction) error {
	if len(r.nets) == 0 {
		return nil // it changes nothing
	}
	law := r.symbol.rule.math()
	m.at = r.symbol
	if end, pivot, err := m.used(r, law, true); err != nil {
		return err
	} else if pivot != nil {
		pivot.kind, pivot.solved = let, func() (expr, error) {
			v, err := end(pivot)
			if !pivot.isAmount {
				v = div(v.number(), atom(pivot.in.name, false))
			}
			return v.number(), err
		}
		m.poolOthers(r, pivot)
		return nil
	}
	var ok bool
	if r.law, ok = m.polynomial(law, r.symbol.locals, true); !ok {
		return m.unclear(r.symbol, "and its law is no difference of products of species")
	}
	if len(r.law) == 0 { // it never happens
		for _, n := range r.nets {
			n.species.quick = false
			delete(m.static, n.species)
		}
		return nil
	}
	if err := m.falls(r); err != nil {
		return err
	}
	pivot := r.nets[len(r.nets)-1].species
	pivot.kind = alg
	m.poolOthers(r, pivot)
	m.zero(r, r.law.linear())
	return nil
}

// poolOthers makes pools of the species of a reaction but for its pivot.
func (m *fastPart) poolOthers(r *fastReaction, pivot *symbol) {
	by := r.net(pivot)
	for _, n := range r.nets {
		if n.species == pivot {
			continue
		}
		size := div(n.size, by.size)
		if a, ok := n.number(); ok {
			if b, ok := by.number(); ok {
				size = figure(math.Abs(a / b))
			}
		}
		m.pool(&pool{n.species, m.named(n.species.id + "_pool"), []share{{pivot, n.minus != by.minus, size}}})
	}
}

func (m *fastPart) pool(p *pool) {
	m.pools = append(m.pools, p)
	p.of.kind, p.of.solved = let, func() (expr, error) {
		v := atom(p.name, false)
		for _, x := range p.pivots {
			v = x.to(v, m.amount(x.of), false)
		}
		if !p.of.isAmount {
			v = div(v, atom(p.of.in.name, false))
		}
		return v, nil
	}
}

// to adds the share of a pivot to a value, or takes it away.
func (x share) to(total, pivot expr, away bool) expr {
	if pivot.text == "0" {
		return total
	}
	if pivot = pivot.number(); x.size.text != "1" {
		pivot = mul(x.size, pivot)
	}
	switch minus := x.minus != away; {
	case total.text == "0" && minus:
		return neg(pivot)
	case total.text == "0":
		return pivot
	case minus:
		return sub(total, pivot)
	}
	return add(total, pivot)
}

// figure is a number as text.
func figure(v float64) expr { return atom(strconv.FormatFloat(v, 'g', -1, 64), false) }

// zero writes that the law of a reaction is 0. A law that is not linear may have other zeros where amounts are
// negative: there it goes on falling.
func (m *fastPart) zero(r *fastReaction, linear bool) {
	m.equations = append(m.equations, equation{r.symbol, func() (expr, error) {
		if linear && !r.scaled() {
			return atom(r.symbol.name, false), nil
		}
		total := atom("0", false)
		for _, t := range r.law {
			v, err := m.product(t, !linear)
			if err != nil {
				return v, err
			}
			total = share{size: atom("1", false), minus: t.by < 0}.to(total, v, false)
		}
		return total, nil
	}})
}

// scaled reports whether the law is more than its polynomial.
func (r *fastReaction) scaled() bool {
	found := false
	r.symbol.rule.each(func(e *element) { found = found || e.name.Local == "divide" })
	return found
}

// product writes a term without its sign. Clamped takes negative amounts as 0.
func (m *fastPart) product(t monomial, clamped bool) (expr, error) {
	var parts []expr
	if v := math.Abs(t.by); v != 1 {
		parts = append(parts, figure(v))
	}
	for _, f := range t.factors {
		v, err := m.expression(f.of, f.in)
		if err != nil {
			return v, err
		}
		parts = append(parts, v.number())
	}
	for _, s := range t.species {
		v := atom(s.name, false)
		if clamped {
			v = atom("noevent(max("+s.name+", 0))", false)
		}
		parts = append(parts, v)
	}
	if len(parts) == 0 {
		return atom("1", false), nil
	}
	return mul(parts...), nil
}

// amount is that of a species.
func (m *fastPart) amount(s *symbol) expr {
	if s.isAmount {
		return atom(s.name, false)
	}
	return mul(atom(s.name, false), atom(s.in.name, false))
}

// writeAmounts declares pools, and what is kept while a reaction does not happen.
func (m *fastPart) writeAmounts(w *writer) {
	start := func(s *symbol) expr { return w.of(m.startAs(s, true, s.startName)).number() }
	for _, p := range m.pools {
		w.From(m.started(p.of))
		v := start(p.of)
		for _, x := range p.pivots {
			v = x.to(v, start(x.of), true)
		}
		w.Item("state %s = %s", p.name, v.number().text)
	}
	for _, k := range m.kept {
		w.From(m.started(k.of))
		w.Item("state %s = %s", k.name, start(k.of).text)
	}
}

// writeFast writes the rates of pools, what is 0 in equilibria, and what these need.
func (m *fastPart) writeFast(w *writer) {
	for _, p := range m.pools {
		w.From(m.declared(p.of))
		v := w.of(m.rate(p.of))
		for _, x := range p.pivots {
			v = x.to(v, w.of(m.rate(x.of)), true)
		}
		w.Item("%s' = %s", p.name, v.number().text)
	}
	for _, k := range m.kept {
		w.From(m.declared(k.of))
		rate := w.of(m.rate(k.of)).number()
		if rate.text != "0" {
			c := w.of(m.product(k.by, false))
			on := or(compare(">", c, atom("0", false)), compare("<", c, atom("0", false)))
			rate = choice(on, atom("0", false), rate)
		}
		w.Item("%s' = %s", k.name, rate.text)
	}
	for _, e := range m.equations {
		w.From(m.ruled(e.of))
		w.Item("0 = %s", w.of(e.text()).text)
	}
	seen := map[string]bool{}
	for _, a := range m.asserts {
		key := w.of(a.text()).text + a.sign
		if seen[key] {
			continue
		}
		seen[key] = true
		w.From(m.declared(a.of))
		w.Item("assert %s %s 0, \"the fast reaction %s has one equilibrium then only\"",
			w.of(a.text()).number().in(bindSum), a.sign, a.of.id)
	}
}

// keepAmounts adds to the body of an event, which sets some symbols, that species whose fast reactions these may end
// keep what they have then.
func (m *fastPart) keepAmounts(set map[string]expr) (body []string) {
	for _, k := range m.kept {
		if slices.ContainsFunc(k.watch, func(s *symbol) bool { _, ok := set[s.id]; return ok }) {
			body = append(body, k.name+" = "+m.amount(k.of).text)
		}
	}
	return body
}

// noteFast says how a fast reaction is taken.
func (m *fastPart) noteFast(r *element, s *symbol) {
	if m.slow {
		m.note(r.place, "the reaction %s is fast, an equilibrium at all times: it is taken by its rate law", s.id)
		return
	}
	m.note(r.place, "the reaction %s is fast: it is an equilibrium at all times; --ignore-fast takes its rate law",
		s.id)
	m.reactions = append(m.reactions, s)
}

// reduced finds rows of a matrix that are a basis of all of them, the first ones where it can choose, and the factors
// by which each row is made of these.
func reduced(n [][]float64) (basis []int, of [][]float64) {
	type line struct{ row, by []float64 } // what is left of a row of the basis, and how it is made of the basis
	var lines []line
	of = make([][]float64, len(n))
	take := func(i int) {
		row, by := slices.Clone(n[i]), make([]float64, len(n))
		for _, l := range lines {
			at := slices.IndexFunc(l.row, func(v float64) bool { return v != 0 })
			if f := row[at] / l.row[at]; f != 0 {
				for k := range row {
					if row[k] -= f * l.row[k]; math.Abs(row[k]) < 1e-12 {
						row[k] = 0
					}
				}
				for k := range by {
					by[k] += f * l.by[k]
				}
			}
		}
		if slices.ContainsFunc(row, func(v float64) bool { return v != 0 }) {
			for k := range by {
				by[k] = -by[k]
			}
			by[i] = 1
			basis = append(basis, i)
			lines = append(lines, line{row, by})
			by = make([]float64, len(n))
			by[i] = 1
		}
		of[i] = by
	}
	for i := range n {
		take(i)
	}
	for i, by := range of {
		var list []float64
		for _, k := range basis {
			list = append(list, by[k])
		}
		of[i] = list
	}
	return basis, of
}

// Slow makes reactions that are marked as fast usual ones in the text of a model. All else stays in its place.
func Slow(text []byte) []byte {
	if !Is(string(text[:min(len(text), 1<<16)])) {
		return text
	}
	text = slices.Clone(text)
	for _, at := range fastMark().FindAllSubmatchIndex(text, -1) {
		mark := text[at[2]:at[3]] // with its quotation marks
		copy(mark, "\"0\"           "[:len(mark)])
	}
	return text
}

var fastMark = lazy.Regexp(`<(?:\w+:)?reaction\s(?:[^<>"']|"[^"]*"|'[^']*')*?\sfast\s*=\s*("true"|'true'|"1"|'1')`)
