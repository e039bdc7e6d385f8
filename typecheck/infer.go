package typecheck

import (
	"slices"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/typecheck/inference"
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

func unknown(e model.Expr) bool { return inference.Unknown(e) }

// infer processes the demands and returns the units found, without those that were known already.
func (c *checker) infer() map[string]inferred {
	f := inference.Finder{
		Time: c.timeUnitKnown(), Written: c.mixtures, Found: map[string]inference.Found{}, Seen: map[model.Expr]bool{},
	}
	hidden := map[string]inferred{}
	for name, u := range c.assumed {
		if _, hides := f.Hides(u.unit, nil); u.rate != nil && hides {
			hidden[name] = u
			continue
		}
		f.Found[name] = inference.Found{Unit: u.unit, Use: u.use}
	}
	for _, d := range c.demands {
		f.Hand(d.e, d.unit)
	}
	for name := range c.inferred {
		delete(f.Found, name)
		delete(hidden, name)
	}
	c.refused = f.Refused
	if len(f.Found) == 0 { // an equation that hides a factor may be wrong, so every other use says more
		return hidden
	}
	found := map[string]inferred{}
	for name, u := range f.Found {
		found[name] = inferred{unit: u.Unit, use: u.Use}
	}
	return found
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

// hidden reports the units that were refused.
func (c *checker) hidden() {
	named := slices.ContainsFunc(c.refused, func(r inference.Refusal) bool { return !terms.LiteralNumber(r.E) })
	said := map[string]bool{}
	for _, r := range c.refused {
		if named && terms.LiteralNumber(r.E) {
			continue // a name beside it says more
		}
		name := r.E.Span().Text()
		ref, isRef := r.E.(*model.Ref)
		if isRef {
			name = ref.Sym.Name
		}
		if _, known := c.inferred[name]; known || said[name] {
			continue
		}
		said[name] = true
		d := c.unitErrorf(r.E.Span(), "%q has no unit, and its use needs %s, which hides the factor between %s and "+
			"%s: write its unit, and convert what comes in another one with `as`", name, bracketed(r.Unit),
			r.Pair[0], r.Pair[1])
		if !isRef || ref.Sym.Span.IsZero() {
			continue
		}
		d.Relate(ref.Sym.Span, "%q is declared here", name)
		if v := ref.Sym.Value; r.Unit.Dimensionless() && v != nil && terms.LiteralNumber(v) {
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
		misfit := slices.ContainsFunc(c.refused, func(r inference.Refusal) bool {
			at := r.E.Span()
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
