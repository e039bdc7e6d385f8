package tapec

import (
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/tape"
)

// compiler is the state of a call of Compile.
type compiler struct {
	model  *model.Model
	diags  *diag.List
	out    *Compiled
	frames *frames
	tables map[model.Expr][]float64 // values of constant expressions over the whole of their loops

	modes     []*mode
	modeOf    map[modeKey]*mode
	modeCount int // elements of the flat vector of modes
	corners   []corner
	cornered  map[cornerKey]bool
	kinks     []kink
	kinked    map[memoKey]bool
	kinksLeft bool // they are more than steps end at
	flowOf    map[flowKey]model.Uses
	degreeOf  map[flowKey]int

	happenings map[*model.Event]happening
	equal      map[*model.Call]model.Expr // what comparisons are as equalities; nil for others

	functionals  []*functional
	functionalOf map[memoKey]*functional
	groups       []*group
}

// Compile turns a checked model into tapes. It reports what cannot be compiled in diags
// and returns nil then.
func Compile(m *model.Model, diags *diag.List) *Compiled {
	return newCompiler(m, diags).run()
}

func newCompiler(m *model.Model, diags *diag.List) *compiler {
	return &compiler{
		model: m, diags: diags, out: &Compiled{Model: m}, frames: newFrames(),
		tables:       map[model.Expr][]float64{},
		modeOf:       map[modeKey]*mode{},
		cornered:     map[cornerKey]bool{},
		kinked:       map[memoKey]bool{},
		flowOf:       map[flowKey]model.Uses{},
		degreeOf:     map[flowKey]int{},
		happenings:   map[*model.Event]happening{},
		equal:        map[*model.Call]model.Expr{},
		functionalOf: map[memoKey]*functional{},
	}
}

// run compiles the model. It recovers from panics with tooDeep and misplaced and reports
// them.
func (c *compiler) run() (out *Compiled) {
	diags := c.diags
	before := errorsIn(diags)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case tooDeep:
			diags.Errorf(CodeDeep, r.span, "this needs an array of %d dimensions, more than %d; "+
				"use fewer loops or smaller arrays in one expression", r.rank, tape.MaxRank)
		case misplaced:
			diags.Errorf(CodeUnavailable, r.span, "%s", r.text)
		default:
			panic(r)
		}
		if errorsIn(diags) > before {
			out = nil
		}
	}()
	c.compile()
	return c.out
}

func errorsIn(l *diag.List) (n int) {
	for _, d := range l.All() {
		if d.Level == diag.Error {
			n++
		}
	}
	return n
}

// compile makes the tapes. Objectives come first, since they tell which functionals
// there are. Lowering rates, peaks and guards finds the modes, so those of choose are
// complete only after that.
func (c *compiler) compile() {
	out := c.out
	c.keep(c.objective()) // the first time to find the functionals, which then get numbers
	c.number()
	out.Objective = c.objective()

	out.Rates = c.rates()
	out.Delays = c.delays()
	out.Peaks = c.peaks()
	out.Guards = c.guards()
	out.Choose = c.choose()
	out.Clocks = c.clocks()
	out.KinksLeft = c.left()
	out.Priorities = c.priorities()
	for _, m := range c.modes {
		out.Modes = append(out.Modes, m.Mode)
	}
	for _, ev := range c.model.Events {
		out.Affects = append(out.Affects, c.affect(ev))
		out.AtEvents = append(out.AtEvents, c.atEvent(ev))
	}
	out.Initial = c.site("initial", model.Initial)
	out.Final = c.site("final", model.Final)
	for i, g := range c.groups {
		out.AtTimes = append(out.AtTimes, c.atTime(i, g))
	}
	out.Instants = c.instants()
	c.windows()
	out.Start = c.start()
	out.Defaults = c.defaults()
	out.Outputs = c.outputs()
	out.Asserts = c.asserts()
	out.Invariants = c.invariants()
}

// finish returns the tape that l built, without inputs that it does not need and without quotients that overflow.
func (c *compiler) finish(l *lowerer) *tape.Tape {
	c.diags.Look()
	t := l.b.Needed()
	return stable(t, c.highPower(t))
}

// rates writes the derivatives of the states, the residuals of the algebraic equations and the integrands.
func (c *compiler) rates() *tape.Tape {
	l := c.lowerer("rates")
	l.held, l.rates = true, true
	for i, sym := range c.model.Differential() {
		l.span = c.model.Rates[i].Span()
		x := l.filled(c.model.Rates[i], scope{}, tape.Shape(sym.Type.Shape))
		l.output(Rate.Called(sym.Name), x.v)
	}
	for k, r := range c.model.Residuals {
		l.span = r.Value.Span()
		l.output(Residual.Number(k), l.filled(r.Value, scope{}, shapeOf(r.Value)).v)
	}
	for _, f := range c.functionals {
		if f.node.Kind != model.Integral {
			continue
		}
		x := l.lower(f.node.Body, f.s)
		if f.node.From != nil || f.node.To != nil {
			l.span = f.node.Span()
			open := l.mode(c.windowMode(f.node, f.s))
			x = l.elementwise(tape.Select, open, x, l.number(0))
		}
		l.output(Integrand.Number(f.number), l.expand(x, f.ax, f.own))
	}
	return c.finish(l)
}

// delays writes the delays that move.
func (c *compiler) delays() *tape.Tape {
	list := model.MovingDelays(c.model.Lags)
	if len(list) == 0 {
		return nil
	}
	l := c.lowerer("delays")
	l.held, l.rates = true, true
	for _, sym := range list {
		l.span = sym.Span
		l.output(DelayOf.Called(sym.Name), l.filled(sym.Value, scope{}, tape.Shape(sym.Type.Shape)).v)
	}
	return c.finish(l)
}

// start writes the initial values.
func (c *compiler) start() *tape.Tape {
	l := c.lowerer("start")
	l.start = true
	for _, sym := range c.model.States {
		l.output(State.Called(sym.Name), l.ref(sym, scope{}).v)
	}
	for _, sym := range c.model.Discretes {
		l.output(Discrete.Called(sym.Name), l.ref(sym, scope{}).v)
	}
	return c.finish(l)
}

// defaults writes the defaults of params, each after those that it uses. A default that
// is just numbers needs no tape.
func (c *compiler) defaults() []Default {
	var out []Default
	done := map[string]bool{}
	pending := map[string]Default{}
	for _, sym := range c.model.Params {
		if _, ok := sym.Value.(*model.Const); ok || sym.Value == nil {
			done[sym.Name] = true
			continue
		}
		l := c.lowerer("default." + sym.Name)
		l.output(Param.Called(sym.Name), l.filled(sym.Value, scope{}, tape.Shape(sym.Type.Shape)).v)
		pending[sym.Name] = Default{Param: sym, Tape: c.finish(l)}
	}
	var visit func(name string)
	visit = func(name string) {
		d, ok := pending[name]
		if !ok || done[name] {
			return
		}
		done[name] = true
		for _, in := range d.Tape.Inputs {
			visit(MustName(in.Name).Of)
		}
		out = append(out, d)
	}
	for _, sym := range c.model.Params {
		visit(sym.Name)
	}
	return out
}

// outputs writes what is saved. It returns nil for a model without outputs.
func (c *compiler) outputs() *tape.Tape {
	if len(c.model.Outputs) == 0 {
		return nil
	}
	l := c.lowerer("outputs")
	for _, o := range c.model.Outputs {
		l.span = o.Span
		l.output(SavedOutput.Called(o.Name), l.filled(o.Value, scope{}, shapeOf(o.Value)).v)
	}
	return c.finish(l)
}

// asserts writes which asserts hold. It returns nil without asserts.
func (c *compiler) asserts() *tape.Tape {
	l := c.lowerer("asserts")
	var ok []tape.Value
	for _, a := range c.model.Asserts {
		l.span = a.Span
		x := l.lower(a.Cond, scope{})
		if len(x.own) > 0 {
			x = l.reduction("min", x)
		}
		ok = append(ok, l.vector(x, nil, nil))
	}
	if len(ok) == 0 {
		return nil
	}
	l.span = source.Span{}
	l.output(Holds.Name(), l.emit().Concat(0, ok...))
	return c.finish(l)
}

// invariants writes how far off the invariants are, then how large their sides are. It
// returns nil without invariants.
func (c *compiler) invariants() *tape.Tape {
	l := c.lowerer("invariants")
	var gap, size []tape.Value
	for _, i := range c.model.Invariants {
		l.span = i.Span
		left, right := l.lower(i.Left, scope{}), l.lower(i.Right, scope{})
		most := func(x array) tape.Value {
			return l.vector(l.reduction("max", l.elementwise(tape.Abs, x)), nil, nil)
		}
		gap = append(gap, most(l.elementwise(tape.Sub, left, right)))
		larger := l.elementwise(tape.Max, l.elementwise(tape.Abs, left), l.elementwise(tape.Abs, right))
		size = append(size, most(larger))
	}
	if len(gap) == 0 {
		return nil
	}
	l.span = source.Span{}
	l.output(Gaps.Name(), l.emit().Concat(0, append(gap, size...)...))
	return c.finish(l)
}
