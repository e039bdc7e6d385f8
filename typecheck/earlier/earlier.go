// Package earlier makes of `delay(e, tau)` what the rest of the program knows: expressions of the present and of lags,
// which are states and discretes at earlier times. All that e reads is read at t - tau: states become lags, the time
// t - tau. Where a
// state has a past of its own, that stands in its place before the start, under a condition of time: what it jumps by
// at the start comes back at a time that is found, and differentiated, as those of other conditions are.
package earlier

import (
	"math"
	"slices"
	"strconv"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
)

// maxRank is the largest number of axes of the array of a lag.
const maxRank = 4

// Maker makes the lags of one model.
type Maker struct {
	Time *model.Symbol
	From model.Expr // where the time begins
	// Apply applies an operator. Position returns the number of the value that an index has, from 1.
	Apply    func(operator string, at source.Span, args ...model.Expr) model.Expr
	Position func(*model.Index) model.Expr
	// Past returns the past of a state, an expression of time and params; nil where that is the initial value.
	Past func(*model.Symbol) model.Expr
	// Fault reports an error. Its result is what stands for an expression with an error.
	Fault func(at source.Span, format string, args ...any) model.Expr

	Lags   []*model.Lag
	Delays []*model.Symbol // hidden discretes, in order

	times map[*model.Symbol]*moment // by delays
}

// moment is an earlier time, and the condition that it lies before the run; nil until something asks. Two conditions
// of one meaning would change at one time as if by chance.
type moment struct{ t, before model.Expr }

// Delay returns e at the time t - tau.
func (m *Maker) Delay(e, tau model.Expr, at source.Span) model.Expr {
	if s := tau.Type().Shape; len(s) > 0 {
		return m.Fault(tau.Span(), "a delay is a single number, and this has shape %s", s)
	}
	moves := model.Depends(tau)&^model.UsesParam != 0
	if bad := m.cannotBy(tau); bad != nil {
		return bad
	}
	if c, ok := tau.(*model.Const); ok {
		switch d := c.Data[0]; {
		case d == 0:
			return e
		case !(d > 0) || d > math.MaxFloat64:
			return m.Fault(tau.Span(), "a delay is a positive number, and this is %v", d)
		}
	}
	if bad := m.cannot(e, at); bad != nil {
		return bad
	}
	delay, indices := m.delay(tau, moves)
	if len(delay.Type.Shape) > maxRank {
		return m.Fault(tau.Span(), "a delay depends on at most %d loop variables", maxRank)
	}
	then := m.moment(delay, indices, tau, moves, at)
	var bad model.Expr
	out := model.Replace(e, func(r *model.Ref) model.Expr {
		switch r.Sym.Kind {
		case model.TimeSymbol:
			return then.t
		case model.StateSymbol, model.DiscreteSymbol:
			x := m.read(r.Sym, delay, indices, then, at)
			if x == nil {
				bad = m.Fault(at, "%s has shape %s, and with the loop variables of the delay that is more than %d axes",
					r.Sym.Name, r.Sym.Type.Shape, maxRank)
			}
			return x
		}
		return nil
	})
	if bad != nil {
		return bad
	}
	return out
}

// moment returns the time t - tau. There is one for each delay that depends on no loop variables.
func (m *Maker) moment(
	delay *model.Symbol, indices []*model.Index, tau model.Expr, moves bool, at source.Span,
) *moment {
	if known := m.times[delay]; known != nil && len(indices) == 0 {
		return known
	}
	if !moves {
		tau = m.element(delay, indices, nil, tau.Span())
	}
	then := &moment{t: m.Apply("-", at, ref(m.Time, at), tau)}
	if m.times == nil {
		m.times = map[*model.Symbol]*moment{}
	}
	m.times[delay] = then
	return then
}

// cannot reports what e reads that is not kept; nil for nothing.
func (m *Maker) cannot(e model.Expr, at source.Span) (bad model.Expr) {
	changes := false
	model.Walk(func(e model.Expr) bool {
		if bad != nil {
			return false
		}
		switch e := e.(type) {
		case *model.Functional:
			bad = m.Fault(at, "a functional is of the whole run and has no earlier value")
		case *model.Limit:
			bad = m.Fault(at, "pre and post are of the present; delay takes no limits")
		case *model.Ref:
			switch s := e.Sym; {
			case s.Kind == model.TimeSymbol:
				changes = true
			case s.Kind == model.AlgSymbol:
				bad = m.Fault(at, "%q is an algebraic unknown, and delay takes states, discretes, time and what is "+
					"made of them; the rest is not part of the language yet", s.Name)
			case slices.Contains(m.Delays, s), m.lagged(s):
				bad = m.Fault(at, "this is delayed already: write delay(x, a + b) for x at t - (a + b)")
			case s.Kind == model.StateSymbol, s.Kind == model.DiscreteSymbol:
				changes = true
			}
		}
		return true
	}, e)
	if bad == nil && !changes {
		return m.Fault(at, "this does not change along the run; delay takes states, discretes and what is made of "+
			"them")
	}
	return bad
}

// cannotBy reports what a delay that moves reads and cannot be made of; nil for nothing.
func (m *Maker) cannotBy(tau model.Expr) (bad model.Expr) {
	model.Walk(func(e model.Expr) bool {
		r, ok := e.(*model.Ref)
		_, limit := e.(*model.Limit)
		_, functional := e.(*model.Functional)
		switch {
		case bad != nil:
		case limit:
			bad = m.Fault(e.Span(), "pre and post are of one time, and a delay is read along the run")
		case functional:
			bad = m.Fault(e.Span(), "a functional is of the whole run, and a delay is read along it")
		case ok && r.Sym.Kind == model.AlgSymbol:
			bad = m.Fault(e.Span(), "%q is an algebraic unknown, and a delay is made of params, time, states and "+
				"discretes", r.Sym.Name)
		case ok && (m.lagged(r.Sym) || slices.Contains(m.Delays, r.Sym)):
			bad = m.Fault(tau.Span(), "this delay reads the past itself; make a state of what it reads")
		}
		return bad == nil
	}, tau)
	return bad
}

// lagged reports whether s is what was read of the past.
func (m *Maker) lagged(s *model.Symbol) bool {
	return slices.ContainsFunc(m.Lags, func(l *model.Lag) bool { return l.Value == s })
}

// delay returns the symbol that holds a delay, a discrete unless it moves, and the loop variables that it depends on.
func (m *Maker) delay(tau model.Expr, moves bool) (*model.Symbol, []*model.Index) {
	indices := model.Free(tau)
	all := slices.Concat(m.Delays, model.MovingDelays(m.Lags))
	for _, s := range all {
		if same(s.Value, tau) {
			return s, nil
		}
	}
	t := types.Type{Kind: types.Real, Unit: m.Time.Type.Unit}
	value := tau
	if len(indices) > 0 {
		p := model.Piece{Indices: indices, Value: tau, Span: tau.Span()}
		for _, ix := range indices {
			t.Shape = append(t.Shape, ix.Count)
			p.Subs = append(p.Subs, model.Sub{At: m.Position(ix)})
		}
		value = model.Seal(&model.Assemble{Base: model.NewBase(t, tau.Span()), Pieces: []model.Piece{p}})
	}
	s := &model.Symbol{
		Name: "delay." + strconv.Itoa(len(all)+1), Kind: model.DiscreteSymbol, Type: t, Span: tau.Span(),
		Value: value, Literal: model.Static(value), Hidden: true, Lo: math.Inf(-1), Hi: math.Inf(1),
	}
	if !moves {
		m.Delays = append(m.Delays, s)
	}
	return s, indices
}

// same reports whether two delays are the same for certain. Two of one value in two slots would be two delays, whose
// returns meet all along the run.
func same(a, b model.Expr) bool {
	switch a := a.(type) {
	case *model.Const:
		b, ok := b.(*model.Const)
		return ok && len(a.Data) == 1 && len(b.Data) == 1 && a.Data[0] == b.Data[0]
	case *model.Ref:
		b, ok := b.(*model.Ref)
		return ok && a.Sym == b.Sym
	case *model.Call: // as `young + old` written twice; what a search or a table stands for is compared as it is
		b, ok := b.(*model.Call)
		if !ok || a.Fn != b.Fn || a.Search != b.Search || a.Table != b.Table || a.Control != b.Control {
			return false
		}
		return slices.EqualFunc(a.Args, b.Args, same)
	}
	return a == b && len(model.Free(a)) == 0
}

// read returns the state x at the time then; nil where it has too many axes.
func (m *Maker) read(
	x, delay *model.Symbol, indices []*model.Index, then *moment, at source.Span,
) model.Expr {
	i := slices.IndexFunc(m.Lags, func(l *model.Lag) bool { return l.State == x && l.Delay == delay })
	if i < 0 {
		t := x.Type
		t.Kind = types.Real
		t.Shape = append(slices.Clone(delay.Type.Shape), x.Type.Shape...)
		if len(t.Shape) > maxRank {
			return nil
		}
		i = len(m.Lags)
		m.Lags = append(m.Lags, &model.Lag{
			State: x, Delay: delay, Span: at, Past: m.Past(x) != nil, Moves: !slices.Contains(m.Delays, delay),
			Value: &model.Symbol{
				Name: delay.Name + "." + x.Name, Kind: model.StateSymbol, Type: t, Span: at, Hidden: true,
				Lo: math.Inf(-1), Hi: math.Inf(1),
			},
		})
	}
	value := m.element(m.Lags[i].Value, indices, x.Type.Shape, at)
	past := m.Past(x)
	if past == nil {
		return value
	}
	past = model.Replace(past, func(r *model.Ref) model.Expr {
		if r.Sym.Kind == model.TimeSymbol {
			return then.t
		}
		return nil
	})
	if then.before == nil {
		then.before = m.Apply("<", at, then.t, m.From)
	}
	t := value.Type()
	return model.Seal(&model.If{
		Base: model.NewBase(t, at), Cond: then.before, Then: past, Else: value, Past: delay,
	})
}

// element returns the part of s that indices select, with the axes of shape.
func (m *Maker) element(s *model.Symbol, indices []*model.Index, shape types.Shape, at source.Span) model.Expr {
	whole := ref(s, at)
	if len(indices) == 0 {
		return whole
	}
	t := s.Type
	t.Shape = shape
	var subs []model.Sub
	for _, ix := range indices {
		subs = append(subs, model.Sub{At: m.Position(ix)})
	}
	for _, n := range shape {
		subs = append(subs, model.Sub{Lo: 1, Step: 1, Count: n})
	}
	return model.Seal(&model.Access{Base: model.NewBase(t, at), X: whole, Subs: subs})
}

func ref(s *model.Symbol, at source.Span) model.Expr {
	return model.Seal(&model.Ref{Base: model.NewBase(s.Type, at), Sym: s})
}
