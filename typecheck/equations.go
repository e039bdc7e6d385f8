package typecheck

import (
	"math"
	"slices"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/tabulate"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

// change is one contribution to the derivative of a state.
type change struct {
	model.Piece
	add      bool
	reaction string
}

// checkEquations gives every state its right-hand side.
func (c *checker) checkEquations() {
	changes := map[*model.Symbol][]change{}
	failed := map[string]bool{}
	for _, e := range c.equations {
		c.list.Look()
		name := e.Target.Name
		sym := c.stateOf(name, e.Target)
		if sym == nil {
			failed[name.Name] = true
			continue
		}
		x := context{place: placeRun}
		y, indices, ok := c.binders(x, e.For)
		var subs []model.Sub
		var out types.Shape
		if ok {
			subs, out, ok = c.target(y, e.Target, sym.Type.Shape)
		}
		if ok && len(indices) > 0 && subs == nil {
			c.errorf(CodeSubscript, e.Target.Span, "%q has no index for the loop over %q; write %s[%s]' = …", name.Name,
				indices[0].Name, name.Name, indices[0].Name)
			ok = false
		}
		if !ok {
			failed[name.Name] = true
			continue
		}
		value := c.expr(y, e.Value)
		if isBad(value) || !c.numeric(value, "'", value.Span()) {
			failed[name.Name] = true
			continue
		}
		if !c.fill("the right-hand side of "+name.Name+"'", value, out, sym.Span) {
			failed[name.Name] = true
			continue
		}
		c.rateUnit("the right-hand side of "+sym.Name+"'", sym, value)
		if empty(indices) {
			continue
		}
		changes[sym] = append(changes[sym], change{Piece: model.Piece{
			Indices: indices, Subs: subs, Value: value,
			Span: e.Target.Span,
		}, add: e.Add})
	}
	for _, r := range c.reactions {
		c.reaction(r, changes, failed)
	}
	for _, sym := range c.model.States {
		if sym.Kind == model.AlgSymbol {
			break
		}
		c.model.Rates = append(c.model.Rates, c.rate(sym, changes[sym], failed[sym.Name]))
	}
}

// stateOf returns the state that an equation is for, or reports why there is none.
func (c *checker) stateOf(name ast.Ident, at *ast.LValue) *model.Symbol {
	if name.Name == "" {
		return nil
	}
	e, ok := c.globals[name.Name]
	switch {
	case !ok:
		d := c.errorf(CodeUndefined, name.Span, "%q is not declared; add: state %s = …", name.Name, name.Name)
		d.Later(func(d *diag.Diagnostic) {
			if best := nearest(name.Name, namesOf(c, stateName)); best != "" {
				d.Message += "; or did you mean \"" + best + "\"?"
				d.Relate(c.globals[best].span, "%q is declared here", best)
			}
		})
		return nil
	case e.kind == laterName:
		return nil
	case e.kind != stateName:
		c.errorf(CodeTarget, at.Span, "%q is %s; only a state has an equation", name.Name, e.kind).
			Relate(e.span, "declared here")
		return nil
	}
	return e.sym
}

// rateUnit checks that unit(rhs) = unit(state)/unit(time). It reports a difference and then returns
// false.
func (c *checker) rateUnit(what string, sym *model.Symbol, value model.Expr) bool {
	if c.model.Time == nil || zero(value) {
		return true
	}
	time, u := c.model.Time, value.Type().Unit
	want := sym.Type.Unit.Div(time.Type.Unit)
	if m := c.massOf[sym]; m != nil && want.Known() {
		want = want.Mul(m.value.Type().Unit)
	}
	switch {
	case !want.Known():
		c.assumeRate(sym, u.Mul(time.Type.Unit), value)
		c.assume(time, sym.Type.Unit.Div(u), value.Span())
		return c.ownRate(what, sym, value)
	case u.Same(want):
		c.demand(value, want)
	default:
		d := c.wrongUnit(what, value, want, source.Span{})
		if r, ok := value.(*model.Ref); !ok || r.Sym != sym {
			c.declaration(d, &model.Ref{Base: model.NewBase(sym.Type, sym.Span), Sym: sym})
		}
		c.declaration(d, &model.Ref{Base: model.NewBase(time.Type, time.Span), Sym: time})
		return false
	}
	return true
}

// rate combines the contributions to one state. Every element has one `=`, or additions only.
func (c *checker) rate(sym *model.Symbol, changes []change, failed bool) model.Expr {
	shape := sym.Type.Shape
	sets, adds := newCover(c, shape), newCover(c, shape)
	var base []model.Piece
	var extra []change
	for _, ch := range changes {
		ok := true
		if ch.add {
			extra = append(extra, ch)
			ok = adds.add(ch.Piece)
		} else {
			base = append(base, ch.Piece)
			ok = sets.add(ch.Piece)
		}
		if !ok {
			return bad(sym.Span)
		}
	}
	where := func(at string) string {
		if at == "" {
			return "state \"" + sym.Name + "\""
		}
		return "element " + at + " of state \"" + sym.Name + "\""
	}
	if at, spans, is := sets.twice(); is {
		c.errorf(CodeEquations, spans[1], "%s has 2 equations%s; to add to a derivative write +=", where(at),
			source.Lines(spans)).Relate(spans[0], "first equation")
		return bad(sym.Span)
	}
	if failed || slices.Contains(c.lostNames, sym.Name) {
		return bad(sym.Span)
	}
	// Elements without `=` start from 0 when something is added to them.
	var zeros *cover
	if len(base) == 0 && !adds.whole {
		zeros = adds
	} else if len(base) > 0 {
		zeros = sets
	}
	if zeros != nil {
		if _, is := zeros.missing(); is {
			if at, is := bothMissing(sets, adds); is {
				d := c.errorf(CodeNoEquation, sym.Span, "%s has no equation; add: %s' = …", where(at), sym.Name)
				if at != "" {
					d.Message = where(at) + " has no equation"
				}
				return bad(sym.Span)
			}
		}
	}
	for _, ch := range extra {
		if ch.reaction != "" && len(base) > 0 {
			c.errorf(CodeEquations, base[0].Span, "state %q has an equation and is part of reaction %q; write %s' += "+
				"… to add to the reactions", sym.Name, ch.reaction, sym.Name).Relate(ch.Span, "the reaction")
			return bad(sym.Span)
		}
	}
	own := slices.ContainsFunc(changes, func(ch change) bool { return ch.reaction == "" })
	if !own && c.massOf[sym] == nil {
		c.model.Reacting = append(c.model.Reacting, sym)
	}
	span := sym.Span
	if len(changes) > 0 {
		span = changes[0].Span
	}
	t := types.Type{Kind: types.Real, Shape: shape}
	if c.model.Time != nil {
		t.Unit = sym.Type.Unit.Div(c.model.Time.Type.Unit)
	}
	// Contributions that do not overlap share a layer. So a network of many reactions needs as many
	// sums as its busiest species has reactions.
	var layers []*layer
	if len(base) > 0 {
		layers = append(layers, &layer{pieces: base, cover: sets})
	}
	for _, ch := range extra {
		if zero(ch.Value) && len(changes) > 1 && len(shape) == 0 {
			continue
		}
		var free *layer
		for _, l := range layers {
			if l.cover != sets && l.cover.free(ch.Piece) {
				free = l
				break
			}
		}
		if free == nil {
			free = &layer{cover: newCover(c, shape)}
			layers = append(layers, free)
		}
		free.pieces = append(free.pieces, ch.Piece)
		if !free.cover.add(ch.Piece) {
			return bad(sym.Span)
		}
	}
	var total model.Expr
	for _, l := range layers {
		term := c.assemble(t, l.pieces[0].Span, c.withZeros(l.pieces, l.cover))
		if total == nil {
			total = term
			continue
		}
		total = model.Seal(&model.Call{
			Base: model.NewBase(t, span), Fn: stdlib.Operator("+"),
			Args: []model.Expr{total, term},
		})
	}
	if total == nil && len(changes) > 0 {
		total = model.Seal(&model.Const{Base: model.NewBase(t, span), Data: []float64{0}})
	}
	if total == nil {
		return bad(sym.Span)
	}
	return total
}

// layer is a set of contributions that do not overlap.
type layer struct {
	pieces []model.Piece
	cover  *cover
}

func bothMissing(a, b *cover) (string, bool) {
	if (a.whole && a.by == nil) || (b.whole && b.by == nil) {
		return "", false
	}
	a.fill()
	b.fill()
	for i := range a.by {
		if a.by[i] == 0 && b.by[i] == 0 {
			return a.shape.Element(i), true
		}
	}
	return "", false
}

// assemble returns the array made of pieces. A single piece for the whole array that has its shape
// is returned as it is.
func (c *checker) assemble(t types.Type, s source.Span, pieces []model.Piece) model.Expr {
	if len(pieces) == 1 && pieces[0].Subs == nil && pieces[0].Value.Type().Shape.Equal(t.Shape) {
		return pieces[0].Value
	}
	return model.Seal(&model.Assemble{Base: model.NewBase(t, s), Pieces: pieces})
}

// withZeros adds zero pieces for the elements that v does not cover.
func (c *checker) withZeros(pieces []model.Piece, v *cover) []model.Piece {
	if v.whole && v.by == nil {
		return pieces
	}
	v.fill()
	shape := v.shape
	if len(shape) == 0 {
		return pieces
	}
	last := shape[len(shape)-1]
	stride := shape.Strides()
	for o := 0; o < len(v.by); {
		if v.by[o] != 0 {
			o++
			continue
		}
		// A run along the last axis. In a matrix, successive empty rows are joined.
		n := 0
		for o%last+n < last && v.by[o+n] == 0 {
			n++
		}
		rows := 1
		if n == last && len(shape) >= 2 {
			for r := (o / stride[len(shape)-2]) % shape[len(shape)-2]; r+rows < shape[len(shape)-2] &&
				allZero(v.by[o+rows*last:o+(rows+1)*last]); {
				rows++
			}
		}
		subs := make([]model.Sub, len(shape))
		for k := range shape {
			i := o / stride[k] % shape[k]
			subs[k] = model.Sub{Lo: i + 1, Step: 1, Count: 1}
		}
		subs[len(shape)-1].Count = n
		if rows > 1 {
			subs[len(shape)-2].Count = rows
		}
		pieces = append(pieces, model.Piece{
			Subs: subs, Value: number(0, units.Unit{}, pieces[0].Span),
			Span: pieces[0].Span,
		})
		o += n + (rows-1)*last
	}
	return pieces
}

func allZero(v []int32) bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return true
}

// reaction adds the contributions of one reaction to the derivatives of its species.
func (c *checker) reaction(r *ast.Reaction, changes map[*model.Symbol][]change, failed map[string]bool) {
	x := context{place: placeRun}
	type side struct {
		sym   *model.Symbol
		value model.Expr // the species
		subs  []model.Sub
		n     float64
		span  source.Span
	}
	read := func(list []*ast.Specie) (out []side, ok bool) {
		ok = true
		for _, s := range list {
			sym := c.stateOf(s.Name.Name, s.Name)
			if sym == nil {
				ok = false
				failed[s.Name.Name.Name] = true
				continue
			}
			subs, left, good := c.target(x, s.Name, sym.Type.Shape)
			if !good {
				ok = false
				failed[sym.Name] = true
				continue
			}
			if len(left) > 0 {
				c.errorf(CodeShape, s.Span, "a species is a scalar, and %q has shape %s; choose an element: %s[1]",
					s.Name.Span.Text(), left, sym.Name)
				ok = false
				failed[sym.Name] = true
				continue
			}
			n := 1.0
			if s.Coeff != nil {
				n = s.Coeff.Value
			}
			if !(n > 0) || math.IsInf(n, 0) {
				c.errorf(CodeArguments, s.Span, "a stoichiometric coefficient is positive")
				ok = false
			}
			v := model.Expr(model.Seal(&model.Ref{Base: model.NewBase(sym.Type, s.Span), Sym: sym}))
			if subs != nil {
				t := sym.Type
				t.Shape = nil
				v = model.Seal(&model.Access{Base: model.NewBase(t, s.Span), X: v, Subs: subs})
			}
			out = append(out, side{sym, v, subs, n, s.Span})
		}
		return out, ok
	}
	left, ok1 := read(r.Left)
	right, ok2 := read(r.Right)
	if len(r.Left)+len(r.Right) == 0 {
		c.errorf(CodeArguments, r.Span, "reaction %q has no species", r.Name.Name)
	}
	var rate model.Expr
	if call, is := strip(r.Rate).(*ast.Call); is && isName(call.Fun, "mass_action") && c.globals["mass_action"] == nil {
		if len(call.Args) < 1 || len(call.Args) > 2 || (len(call.Args) == 2) != r.Net {
			c.errorf(CodeArguments, call.Span, "write mass_action(kf) after ->, and mass_action(kf, kr) after <->")
			return
		}
		product := func(k ast.Expr, species []side) model.Expr {
			v := c.expr(x, k)
			for _, s := range species {
				f := s.value
				if s.n != 1 {
					f = c.apply(stdlib.Operator("^"), s.span, f, number(s.n, units.One, s.span))
				}
				v = c.apply(stdlib.Operator("*"), call.Span, v, f)
			}
			return v
		}
		rate = product(call.Args[0].Value, left)
		if r.Net {
			rate = c.apply(stdlib.Operator("-"), call.Span, rate, product(call.Args[1].Value, right))
		}
	} else {
		rate = c.expr(x, r.Rate)
	}
	if isBad(rate) || !ok1 || !ok2 || !c.numeric(rate, "rate", rate.Span()) {
		for _, s := range append(left, right...) {
			failed[s.sym.Name] = true
		}
		return
	}
	if len(rate.Type().Shape) > 0 {
		c.errorf(CodeShape, rate.Span(), "a rate is a single number, and this has shape %s", rate.Type().Shape)
		for _, s := range append(left, right...) {
			failed[s.sym.Name] = true
		}
		return
	}
	// A species on both sides changes by the difference.
	type key struct {
		sym *model.Symbol
		at  string
	}
	written := &model.Reaction{Name: r.Name.Name, Rate: rate, Span: r.Span}
	place := map[key]int{} // in written.Species
	net := map[key]float64{}
	var order []key
	first := map[key]side{}
	add := func(list []side, sign float64) {
		for _, s := range list {
			k := key{s.sym, elementOf(s.subs, s.sym.Type.Shape)}
			if _, ok := first[k]; !ok {
				first[k] = s
				order = append(order, k)
				place[k] = len(written.Species)
				at := elementAt(s.subs, s.sym.Type.Shape)
				written.Species = append(written.Species, model.Specie{State: s.sym, Element: at})
			}
			net[k] += float64(sign * s.n)
			if took := &written.Species[place[k]]; sign < 0 {
				took.Left += s.n
			} else {
				took.Right += s.n
			}
		}
	}
	add(left, -1)
	add(right, 1)
	c.model.Reactions = append(c.model.Reactions, written)
	fits := true // a wrong unit of the rate is wrong for every species
	for _, k := range order {
		s := first[k]
		v := rate
		fits = fits && c.rateUnit("the rate of reaction "+r.Name.Name, s.sym, rate)
		switch n := net[k]; n {
		case 1:
		case -1:
			v = c.apply(stdlib.Operator("neg"), rate.Span(), rate)
		case 0:
			v = number(0, units.Unit{}, rate.Span())
		default:
			v = c.apply(stdlib.Operator("*"), rate.Span(), number(n, units.One, s.span), rate)
		}
		changes[s.sym] = append(changes[s.sym], change{
			Piece: model.Piece{Subs: s.subs, Value: v, Span: s.span}, add: true,
			reaction: r.Name.Name,
		})
	}
}

// elementOf names an element by constant subscripts.
func elementOf(subs []model.Sub, shape types.Shape) string {
	if subs == nil {
		return ""
	}
	return shape.Element(elementAt(subs, shape))
}

// elementAt returns the number of an element, from 0, by constant subscripts.
func elementAt(subs []model.Sub, shape types.Shape) int {
	return tabulate.Offsets(&tabulate.Evaluator{}, subs, shape, nil).Base[0]
}

func isName(e ast.Expr, name string) bool {
	n, ok := strip(e).(*ast.Name)
	return ok && n.Name == name
}
