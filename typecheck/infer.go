package typecheck

import (
	"math"
	"slices"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/terms"
)

// The units of names that were written without one are inferred from their use. An expression of
// unknown unit that stands where some unit is needed is a demand, and demands are passed down to
// the names. Then the file is checked once more with the inferred units, so that contradictions are
// reported as everywhere else.

// maxInference bounds how often the file is checked for inference, since the unit of one name may
// depend on that of another.
const maxInference = 5

// inferred is the unit of a name, and the use that it follows from.
type inferred struct {
	unit units.Unit
	use  source.Span
	rate model.Expr // the right-hand side of an equation that gives its state a unit which hides a factor; else nil
}

// demand is a place that needs a unit, and the expression of unknown unit that stands there.
type demand struct {
	e    model.Expr
	unit units.Unit
}

// demand records that e must have unit u, if that is not known already.
func (c *checker) demand(e model.Expr, u units.Unit) {
	if c.unitMode == "off" || !u.Known() || !unknown(e) {
		return
	}
	c.demands = append(c.demands, demand{e, u})
}

// unknown reports an expression whose unit could be worked out.
func unknown(e model.Expr) bool { return !e.Type().Unit.Known() && !isBad(e) && !model.Static(e) }

// infer processes the demands and returns the units found, without those that were known already.
func (c *checker) infer() map[string]inferred {
	f := finder{
		time: c.timeUnitKnown(), written: c.mixtures, found: map[string]inferred{}, seen: map[model.Expr]bool{},
	}
	hidden := map[string]inferred{}
	for name, u := range c.assumed {
		if _, hides := f.hides(u.unit, nil); u.rate != nil && hides {
			hidden[name] = u
			continue
		}
		u.rate = nil
		f.found[name] = u
	}
	for _, d := range c.demands {
		f.hand(d.e, d.unit)
	}
	for name := range c.inferred {
		delete(f.found, name)
		delete(hidden, name)
	}
	c.refused = f.refused
	if len(f.found) == 0 { // an equation that hides a factor may be wrong, so every other use says more
		return hidden
	}
	return f.found
}

// counts records that the consts in e, which is a length or an index, are pure numbers.
func (c *checker) counts(x context, e ast.Expr) {
	ast.Inspect(e, func(n ast.Node) bool {
		if name, ok := n.(*ast.Name); ok && x.module == nil && x.scope.find(name.Name) == nil {
			if g := c.globals[name.Name]; g != nil && g.kind == constName && g.value != nil &&
				!g.value.Type().Unit.Known() {
				c.note(name.Name, inferred{unit: units.One, use: name.Span})
			}
		}
		return true
	})
}

func (c *checker) timeUnitKnown() units.Unit {
	if c.model.Time == nil {
		return units.Unit{}
	}
	return c.model.Time.Type.Unit
}

// assume records the unit of a symbol that has none.
func (c *checker) assume(s *model.Symbol, u units.Unit, use source.Span) {
	if s != nil && u.Known() && !s.Type.Unit.Known() {
		c.note(s.Name, inferred{unit: u, use: use})
	}
}

// assumeRate records the unit that the equation of a state gives it.
func (c *checker) assumeRate(s *model.Symbol, u units.Unit, rate model.Expr) {
	if u.Known() && !s.Type.Unit.Known() {
		c.note(s.Name, inferred{u, rate.Span(), rate})
	}
}

func (c *checker) note(name string, of inferred) {
	if _, ok := c.assumed[name]; ok || c.unitMode == "off" {
		return
	}
	if c.assumed == nil {
		c.assumed = map[string]inferred{}
	}
	c.assumed[name] = of
}

// unitOf returns the inferred unit of a name of the file, which is unknown if there is none.
func (c *checker) unitOf(e *entity) units.Unit {
	if e.home != nil {
		return units.Unit{}
	}
	return c.inferred[e.name].unit
}

// finder passes demands down to the names.
type finder struct {
	time    units.Unit
	written map[[2]string]bool // mixtures of units that the file writes
	found   map[string]inferred
	refused []refusal
	seen    map[model.Expr]bool
}

// refusal is a unit that is not inferred, because it would hide a factor such as that of h in min.
type refusal struct {
	e    model.Expr // a name
	unit units.Unit
	pair [2]string
}

// hides returns two units of one kind that u mixes although the file never writes them in one unit. It returns false
// if there are none, or if value, where it is known, is the factor between them: then it is meant.
func (f *finder) hides(u units.Unit, value model.Expr) (pair [2]string, hides bool) {
	if k, ok := value.(*model.Const); ok && u.Dimensionless() && len(k.Data) == 1 {
		if x := float64(k.Data[0] * units.Factor(u, units.One)); math.Abs(x-1) <= 1e-6 {
			return pair, false
		}
	}
	for _, p := range u.Mixed() {
		if !f.written[p] && !f.written[[2]string{p[1], p[0]}] {
			return p, true
		}
	}
	return pair, false
}

// refuse records that e would need the unit u, which hides a factor. It returns false if it does not.
func (f *finder) refuse(e, value model.Expr, u units.Unit) bool {
	pair, hides := f.hides(u, value)
	if hides {
		f.refused = append(f.refused, refusal{e, u, pair})
	}
	return hides
}

// hidden reports the units that were refused.
func (c *checker) hidden() {
	named := slices.ContainsFunc(c.refused, func(r refusal) bool { return !literalNumber(r.e) })
	said := map[string]bool{}
	for _, r := range c.refused {
		if named && literalNumber(r.e) {
			continue // a name beside it says more
		}
		name := r.e.Span().Text()
		ref, isRef := r.e.(*model.Ref)
		if isRef {
			name = ref.Sym.Name
		}
		if _, known := c.inferred[name]; known || said[name] {
			continue
		}
		said[name] = true
		d := c.unitErrorf(r.e.Span(), "%q has no unit, and its use needs %s, which hides the factor between %s and "+
			"%s: write its unit, and convert what comes in another one with `as`", name, bracketed(r.unit),
			r.pair[0], r.pair[1])
		if !isRef || ref.Sym.Span.IsZero() {
			continue
		}
		d.Relate(ref.Sym.Span, "%q is declared here", name)
		if v := ref.Sym.Value; r.unit.Dimensionless() && v != nil && literalNumber(v) {
			d.Fix(v.Span(), v.Span().Text()+" [1]", "make it a pure number")
		}
	}
}

// hiddenByRates returns the states that their equations give a unit which hides a factor, where something else does not
// fit this unit: there the equation lacks a conversion, and the state is a pure number.
func (c *checker) hiddenByRates() map[string]inferred {
	list := map[string]inferred{}
	for _, s := range c.model.States {
		from := c.inferred[s.Name]
		if from.rate == nil || s.Value == nil || !from.unit.Dimensionless() {
			continue
		}
		misfit := slices.ContainsFunc(c.refused, func(r refusal) bool {
			at := r.e.Span()
			return at.File == s.Value.Span().File && s.Value.Span().Start <= at.Start &&
				at.End <= s.Value.Span().End
		}) || slices.ContainsFunc(c.list.All(), func(d diag.Diagnostic) bool {
			return d.Level == diag.Error && slices.ContainsFunc(d.Related, func(r diag.Related) bool {
				return r.Span == from.use
			})
		})
		if misfit {
			list[s.Name] = inferred{unit: units.One, use: s.Value.Span()}
		}
	}
	return list
}

// hand passes to the operands of e the units that they need for e to have unit u.
func (f *finder) hand(e model.Expr, u units.Unit) {
	if !u.Known() || f.seen[e] {
		return
	}
	if k, ok := e.(*model.Const); ok && bare(k) && !zero(k) { // a const, or a number as it stands in the text
		f.seen[e] = true
		f.refuse(e, k, u)
		return
	}
	if !unknown(e) {
		return
	}
	f.seen[e] = true
	switch e := e.(type) {
	case *model.Ref:
		if !e.Sym.Type.Unit.Known() && f.refuse(e, e.Sym.Value, u) {
			return
		}
		if _, ok := f.found[e.Sym.Name]; !ok && !e.Sym.Type.Unit.Known() {
			f.found[e.Sym.Name] = inferred{unit: u, use: e.S}
		}
	case *model.Call:
		f.call(e, u)
	case *model.Access:
		f.hand(e.X, u)
	case *model.Assemble:
		for _, p := range e.Pieces {
			f.hand(p.Value, u)
		}
	case *model.Reduce:
		if e.Fn.Name != "prod" {
			f.hand(e.Body, u)
		}
	case *model.If:
		f.hand(e.Then, u)
		f.hand(e.Else, u)
	case *model.Stack:
		for _, x := range e.Elems {
			f.hand(x, u)
		}
	case *model.NoEvent:
		f.hand(e.X, u)
	case *model.Limit:
		f.hand(e.X, u)
	case *model.Functional:
		switch {
		case e.Table != nil || e.Kind == model.EventTime:
		case e.Kind == model.Integral:
			f.hand(e.Body, u.Div(f.time))
		default:
			f.hand(e.Body, u)
		}
	}
}

func (f *finder) call(e *model.Call, u units.Unit) {
	all := func() {
		for _, a := range e.Args {
			f.hand(a, u)
		}
	}
	switch e.Fn.Units {
	case stdlib.UnitsSame:
		all()
	case stdlib.UnitsProduct:
		a, b := e.Args[0], e.Args[1]
		f.hand(b, u.Div(terms.Known(a)))
		f.hand(a, u.Div(terms.Known(b)))
	case stdlib.UnitsQuotient:
		a, b := e.Args[0], e.Args[1]
		f.hand(a, u.Mul(terms.Known(b)))
		f.hand(b, terms.Known(a).Div(u))
	case stdlib.UnitsRoot:
		n := int64(2)
		if e.Fn.Name == "cbrt" {
			n = 3
		}
		r, _ := units.MakeRatio(n, 1)
		f.hand(e.Args[0], u.Pow(r))
	case stdlib.UnitsPower:
		if k, ok := e.Args[1].(*model.Const); ok && len(k.Data) == 1 {
			if r, ok := terms.Exponent(k.Data[0]); ok && r.Num != 0 {
				inverse, _ := units.MakeRatio(int64(r.Den), int64(r.Num))
				f.hand(e.Args[0], u.Pow(inverse))
			}
		}
	}
}
