package run

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/stdlib"
)

// Join says how the value that a functional has for a whole run comes from those that it has for the parts.
type Join = model.Join

// The kinds of Join that an Input has.
const (
	OfFirst = model.OfFirst
	Added   = model.Added
	Largest = model.Largest
)

// A Division says how the objectives of a run come from runs of its parts. The last part computes them. What the
// others contribute to functionals it reads from Inputs.
type Division struct {
	Experiment int // -1 for the model itself
	Inputs     []Input
	// Totals are the names of the params that stand for totals of the experiments, in the order of these.
	Totals []string
	Goals  []Goal // what was asked for, in that order
	// Reads tells whether some objective reads the run of the model: otherwise that needs no parts.
	Reads bool

	of         *model.Model
	objectives []*model.Objective
	each       []bool
	inputs     []*model.Symbol
	totals     map[*model.Symbol]*model.Symbol
	read       []*model.Functional // of Inputs
	weights    []*model.Symbol     // of the Lagrangian; see Section.Curve

	mu    sync.Mutex
	first *compiled.Model // with which the models of the parts share
}

// Goal is an element of an objective or a constraint.
type Goal struct {
	// Each tells that all parts have a value of their own for it, which is that of the part: the constraint holds if it
	// holds in each of them.
	Each    bool
	At      int  // its place in Section.Each, or in Section.Whole
	Largest bool // it reads a largest value
}

// Input is what the parts before the last contribute to a functional.
type Input struct {
	Name string // of the param that stands for it
	Size int
	Join Join
}

// Names of the params and objectives that a Division adds to a model.
const (
	jointPrefix  = "joint_of_"
	weightPrefix = "weight_of_"
	lagrangian   = "lagrangian'"
)

// Divide returns how objectives come from the runs of parts: of the whole run of the model itself for -1; of an
// experiment, whose objectives are all that it adds to the totals. The error names what parts do not tell.
func (m *Model) Divide(experiment int, of []string) (*Division, error) {
	part, _ := m.part(experiment)
	c := part.Checked
	if err := windowless(c); err != nil {
		return nil, err
	}
	d := &Division{Experiment: experiment, of: c, totals: map[*model.Symbol]*model.Symbol{}}
	var l diag.List
	for _, x := range c.Lags {
		l.Errorf(CodeShooting, x.State.Span, "fit.shooting divides runs into parts, and what is read of %s at earlier "+
			"times lies in the parts before", x.State.Name)
	}
	list := part.objectivesOf(of, &l)
	first := map[*model.Objective]Goal{} // of its elements
	rows, eachRows, wholeRows := map[*model.Objective]int{}, 0, 0
	for _, e := range list {
		o := e.of
		if _, known := first[o]; !known {
			all := part.objectivesOf([]string{o.Name}, &l)
			rows[o] = all[0].row
			g := Goal{Each: heldByEach(o), At: wholeRows, Largest: readsLargest(o.Value)}
			if g.Each {
				g.At = eachRows
				eachRows += len(all)
			} else {
				wholeRows += len(all)
			}
			first[o] = g
			d.objectives, d.each = append(d.objectives, o), append(d.each, g.Each)
			d.look(o, g.Each, &l)
		}
		g := first[o]
		g.At += e.row - rows[o]
		d.Goals = append(d.Goals, g)
	}
	return d, l.Err()
}

// look finds what an objective reads.
func (d *Division) look(o *model.Objective, each bool, l *diag.List) {
	refuse := func(f *model.Functional, why string) {
		l.Errorf(CodeShooting, f.Span(), "fit.shooting divides runs into parts, and %s reads %s", o.Name, why)
	}
	model.Walk(func(e model.Expr) bool {
		if ref, ok := e.(*model.Ref); ok && slices.Contains(d.of.Totals, ref.Sym) && d.totals[ref.Sym] == nil {
			p := hiddenParam(fmt.Sprintf("%stotal_%d", jointPrefix, len(d.Totals)), ref.Sym.Type, ref.S)
			d.totals[ref.Sym] = p
			d.Totals = append(d.Totals, p.Name)
		}
		f, ok := e.(*model.Functional)
		if !ok {
			return true
		}
		d.Reads = true
		join := f.Kind.Facts().Join
		switch {
		case join == model.Nowise && f.Kind == model.Steady:
			refuse(f, "a steady state, which a part of a run has none of")
		case join == model.Nowise || f.Nth > 0:
			refuse(f, "one firing of an event: no part knows which of all it is")
		case f.Kind == model.SumAt && !constant(f.Times):
			refuse(f, "the run at times that params make: write numbers")
		case !constant(f.From) || !constant(f.To):
			refuse(f, "an integral between times that params make: write numbers")
		case join == model.OfLast || each || slices.Contains(d.read, f):
		case len(model.Free(f)) > 0:
			refuse(f, "a functional of a loop's elements: write one of the array")
		default:
			p := hiddenParam(fmt.Sprintf("%s%d", jointPrefix, len(d.Inputs)), f.Type(), f.Span())
			d.read, d.inputs = append(d.read, f), append(d.inputs, p)
			d.Inputs = append(d.Inputs, Input{Name: p.Name, Size: f.Type().Shape.Size(), Join: join})
		}
		return false
	}, o.Value)
}

func constant(e model.Expr) bool {
	if e == nil {
		return true
	}
	_, is := e.(*model.Const)
	return is
}

// hiddenParam returns a param for what parts of a run tell each other.
func hiddenParam(name string, t types.Type, at source.Span) *model.Symbol {
	t.Kind = types.Real
	return &model.Symbol{
		Name: name, Kind: model.ParamSymbol, Type: t, Span: at, Hidden: true, Literal: true,
		Lo: negative, Hi: -negative,
		Value: model.Seal(&model.Const{Base: model.NewBase(t, at), Data: []float64{0}}),
	}
}

// heldByEach reports whether a constraint holds if it holds in each part of a run: a limit of a largest value.
func heldByEach(o *model.Objective) bool {
	rises := 0
	switch o.Relation {
	case "<=":
		rises = 1
	case ">=":
		rises = -1
	}
	way, known := monotone(o.Value)
	return known && rises != 0 && way == rises
}

// monotone reports whether an expression reads one functional, a largest value, and nothing else of a run, and whether
// it rises with that, 1, or falls, -1; known also where it reads none, 0.
func monotone(e model.Expr) (way int, known bool) {
	switch e := e.(type) {
	case *model.Functional:
		return 1, e.Kind == model.MaxOver
	case *model.Call:
		var ways []int
		for _, a := range e.Args {
			w, known := monotone(a)
			if !known {
				return 0, false
			}
			ways = append(ways, w)
		}
		switch e.Fn.Name {
		case "+":
			return ways[0] + ways[1], ways[0] == 0 || ways[1] == 0
		case "-":
			return ways[0] - ways[1], ways[0] == 0 || ways[1] == 0
		case "neg":
			return -ways[0], true
		case "*", "/":
			for i, a := range e.Args {
				if k, ok := a.(*model.Const); ok && len(k.Data) == 1 && (e.Fn.Name == "*" || i == 1) && ways[i] == 0 {
					if k.Data[0] < 0 {
						return -ways[1-i], true
					}
					return ways[1-i], k.Data[0] > 0
				}
			}
		}
		return 0, !slices.ContainsFunc(ways, func(w int) bool { return w != 0 })
	}
	return 0, model.Depends(e)&model.UsesFunctional == 0
}

// A Section is the run of a window for the objectives of a Division. It belongs to one goroutine.
type Section struct {
	Variables []result.Variable
	Columns   int
	RTol      float64
	// What the last run came to: the values at the end, of what Node names; what this part contributes to the Inputs;
	// the objectives that each part has for itself; and, of the last part, the others. Runs overwrite them.
	Ends, Shares, Each, Whole result.Rows

	division *Division
	of       *Model
	name     string
	setup    Setup
	runner   *Runner
	curved   *Runner
	last     bool
	sizes    [4]int // of Ends … Whole
	smooth   []bool // of their elements: whether they have second derivatives
}

// Section prepares the run of a window for a Division; last tells that it ends where the run does.
func (m *Model) Section(d *Division, w Window, last bool, setup Setup) (*Section, error) {
	of, name := m.part(d.Experiment)
	var list diag.List
	checked := d.within(of.Checked, w, last, &list)
	if err := list.Err(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	part := partOf(&d.first, checked, &list)
	d.mu.Unlock()
	if part == nil {
		return nil, list.Err()
	}
	s := &Section{division: d, of: part, name: name, last: last}
	var names []string
	for _, o := range checked.Objectives[:len(checked.Objectives)-1] {
		names = append(names, o.Name)
	}
	if d.Experiment >= 0 {
		setup = setup.part(d.Experiment)
	}
	setup.Gradient, setup.Events, setup.EventTimes, setup.Progress = nil, -1, false, nil
	s.setup = setup
	s.setup.Done = nil // which may belong to this call alone
	r, err := part.Prepare(setup.With(func(s *settings.Settings) {
		s.GradientOnly()
		s.Of, s.Threads = names, 1
		if s.Mode == sens.DefaultMode {
			s.Mode = settings.Auto
		}
	}))
	if err != nil {
		return nil, s.wrap(err)
	}
	s.runner = r
	s.Variables, s.Columns, s.RTol = r.variables, r.columns, r.settings.Solver.RTol
	for _, o := range r.objectives {
		kind := slices.IndexFunc(rowKinds[:], func(k string) bool { return o.of.Name[:len(k)] == k })
		s.sizes[kind]++
		s.smooth = append(s.smooth, !readsLargest(o.of.Value))
	}
	return s, nil
}

func (s *Section) wrap(err error) error {
	if err == nil {
		return nil
	}
	return (&Experiment{Name: s.name}).wrapUnless(s.name == "", err)
}

// rowKinds begin the names of the objectives of a section: Ends, Shares, Each and Whole.
var rowKinds = [...]string{"end'", "share'", "each'", "whole'"}

// within returns the model of a window whose objectives are the rows of a section and, last, the Lagrangian.
func (d *Division) within(c *model.Model, w Window, last bool, l *diag.List) *model.Model {
	plain := *c
	plain.Observations = nil
	out := within(&plain, w, l)
	out.Objectives, out.Totals, out.Experiments = nil, nil, nil
	out.Params = append(slices.Clone(out.Params), d.inputs...)
	for _, s := range c.Totals { // in the order of the model, which is the same for all parts
		if p := d.totals[s]; p != nil {
			out.Params = append(out.Params, p)
		}
	}
	add := func(kind, name string, like *model.Objective, value model.Expr) {
		o := &model.Objective{Name: kind + name, Value: value, Span: value.Span()}
		if like != nil {
			o.Indices, o.Span = like.Indices, like.Span
		}
		out.Objectives = append(out.Objectives, o)
	}
	for _, s := range nodeOf(c) {
		ref := model.Seal(&model.Ref{Base: model.NewBase(s.Type, s.Span), Sym: s})
		add(rowKinds[0], s.Name, nil, model.Seal(&model.Functional{
			Base: model.NewBase(s.Type, s.Span), Kind: model.Final, Body: ref,
		}))
	}
	own := map[*model.Functional]model.Expr{} // what they are in the window
	of := func(f *model.Functional) model.Expr {
		if own[f] == nil {
			own[f] = functionalWithin(f, w, last, l)
		}
		return own[f]
	}
	if !last {
		for i, f := range d.read {
			add(rowKinds[1], fmt.Sprint(i), nil, of(f))
		}
	}
	for i, o := range d.objectives {
		if d.each[i] {
			add(rowKinds[2], o.Name, o, o.Value)
		}
	}
	for i, o := range d.objectives {
		if last && !d.each[i] {
			add(rowKinds[3], o.Name, o, d.whole(o.Value, w, of))
		}
	}
	d.addLagrangian(out)
	return out
}

// whole returns the value of an objective in the last part.
func (d *Division) whole(e model.Expr, w Window, of func(*model.Functional) model.Expr) model.Expr {
	ref := func(s *model.Symbol, at source.Span) model.Expr {
		return model.Seal(&model.Ref{Base: model.NewBase(s.Type, at), Sym: s})
	}
	return model.ReplaceFunctionals(e, func(f *model.Functional) model.Expr {
		i := slices.Index(d.read, f)
		if i < 0 || w.First { // it is the only part
			return of(f)
		}
		before, t := ref(d.inputs[i], f.S), f.T
		switch d.Inputs[i].Join {
		case OfFirst:
			return before
		case Largest:
			return model.Seal(&model.Call{
				Base: model.NewBase(t, f.S), Fn: stdlib.Find("max", stdlib.Elementwise),
				Args: []model.Expr{before, of(f)},
			})
		}
		return operation("+", t, before, of(f))
	}, func(r *model.Ref) model.Expr {
		if p := d.totals[r.Sym]; p != nil {
			return ref(p, r.S)
		}
		return nil
	})
}

// functionalWithin returns a functional as it is in a window: integrals and sums of what lies within it.
func functionalWithin(f *model.Functional, w Window, last bool, l *diag.List) model.Expr {
	nothing := func() model.Expr {
		return model.Seal(&model.Const{Base: model.NewBase(f.T, f.S), Data: []float64{0}})
	}
	moved := func() model.Expr {
		l.Errorf(CodeShooting, f.S, "fit.shooting divides runs into parts whose times move with the end of the run, "+
			"and this reads times of its own: parts would have to know in which of them these are")
		return f
	}
	switch {
	case f.Kind == model.Integral && (f.From != nil || f.To != nil):
		if w.Stretched {
			return moved()
		}
		lo, hi := w.From, w.To
		if f.From != nil {
			lo = max(lo, f.From.(*model.Const).Data[0])
		}
		if f.To != nil {
			hi = min(hi, f.To.(*model.Const).Data[0])
		}
		if !(lo < hi) {
			return nothing()
		}
		changed := *f
		bound := func(like model.Expr, x float64) model.Expr {
			if like == nil {
				return nil
			}
			return model.Seal(&model.Const{Base: model.NewBase(like.Type(), like.Span()), Data: []float64{x}})
		}
		changed.From, changed.To = bound(f.From, lo), bound(f.To, hi)
		changed.Base = model.NewBase(f.T, f.S)
		return model.Seal(&changed)
	case f.Kind == model.SumAt:
		if w.Stretched {
			return moved()
		}
		return sumWithin(f, w, last, nothing)
	}
	return f
}

// sumWithin returns a sum at times, of those in a window. A time at the end of a window belongs to it, and so does one
// at the start of the first.
func sumWithin(f *model.Functional, w Window, last bool, nothing func() model.Expr) model.Expr {
	inside := func(t float64) bool {
		return (t <= w.To || last) && (t > w.From || w.First)
	}
	at := f.Times.(*model.Const)
	n := at.T.Shape.Size()
	var kept []float64
	var rows []bool
	for i := range n {
		t := at.Data[min(i, len(at.Data)-1)]
		rows = append(rows, inside(t))
		if inside(t) {
			kept = append(kept, t)
		}
	}
	switch len(kept) {
	case 0:
		return nothing()
	case n:
		return f
	}
	table := f.Table
	if table != nil {
		table = table.Keep(rows)
	}
	changed := atTimes(f, kept, table)
	changed.Base = model.NewBase(f.T, f.S)
	return model.Seal(changed)
}

// addLagrangian adds the sum of all objectives that have second derivatives, each times a weight: a param.
func (d *Division) addLagrangian(out *model.Model) {
	// A model has the weights of all objectives that any of the windows has: so these lie in memory alike.
	d.mu.Lock()
	defer d.mu.Unlock()
	weight := func(o *model.Objective) *model.Symbol {
		for _, s := range d.weights {
			if s.Name == weightPrefix+o.Name {
				return s
			}
		}
		t := o.Value.Type()
		t.Unit = units.One
		for _, ix := range slices.Backward(o.Indices) {
			t.Shape = append(types.Shape{ix.Count}, t.Shape...)
		}
		s := hiddenParam(weightPrefix+o.Name, t, o.Span)
		s.Still = true
		d.weights = append(d.weights, s)
		return s
	}
	if d.weights == nil { // of all windows
		for _, s := range nodeOf(d.of) {
			weight(&model.Objective{Name: rowKinds[0] + s.Name, Value: model.Seal(&model.Ref{
				Base: model.NewBase(s.Type, s.Span), Sym: s,
			}), Span: s.Span})
		}
		for i, f := range d.read {
			weight(&model.Objective{Name: fmt.Sprint(rowKinds[1], i), Value: f, Span: f.S})
		}
		for i, o := range d.objectives {
			kind := rowKinds[3]
			if d.each[i] {
				kind = rowKinds[2]
			}
			weight(&model.Objective{Name: kind + o.Name, Indices: o.Indices, Value: o.Value, Span: o.Span})
		}
	}
	at := out.Time.Span
	plain := types.Type{Kind: types.Real, Unit: units.One}
	var sum model.Expr = model.Seal(&model.Const{Base: model.NewBase(plain, at), Data: []float64{0}})
	for _, o := range out.Objectives {
		if readsLargest(o.Value) {
			continue
		}
		p := weight(o)
		sum = operation("+", plain, sum, weighted(p, o))
	}
	out.Params = append(out.Params, d.weights...)
	out.Objectives = append(out.Objectives, &model.Objective{Name: lagrangian, Value: sum, Span: at})
}

// weighted returns the sum of the elements of an objective, each times its element of a param of the same shape.
func weighted(p *model.Symbol, o *model.Objective) model.Expr {
	plain := types.Type{Kind: types.Real, Unit: units.One}
	var w model.Expr = model.Seal(&model.Ref{Base: model.NewBase(p.Type, p.Span), Sym: p})
	if len(o.Indices) > 0 {
		subs := make([]model.Sub, len(p.Type.Shape))
		for i, n := range p.Type.Shape {
			subs[i] = model.Sub{Lo: 1, Step: 1, Count: n}
			if i < len(o.Indices) { // the place of the index among its values
				ix := o.Indices[i]
				t := types.Type{Kind: types.Int, Unit: units.One}
				var place model.Expr = model.Seal(&model.LoopVar{Base: model.NewBase(t, o.Span), Index: ix})
				if ix.Lo != 1 || ix.Step != 1 {
					num := func(x int) model.Expr {
						return model.Seal(&model.Const{Base: model.NewBase(t, o.Span), Data: []float64{float64(x)}})
					}
					steps := operation("/", t, operation("-", t, place, num(ix.Lo)), num(ix.Step))
					place = operation("+", t, num(1), steps)
				}
				subs[i] = model.Sub{At: place}
			}
		}
		t := p.Type
		t.Shape = t.Shape[len(o.Indices):]
		w = model.Seal(&model.Access{Base: model.NewBase(t, o.Span), X: w, Subs: subs})
	}
	t := w.Type()
	v := operation("*", t, w, o.Value)
	if len(t.Shape) > 0 {
		v = model.Seal(&model.Call{
			Base: model.NewBase(plain, o.Span), Fn: stdlib.Find("sum", stdlib.Reduction), Args: []model.Expr{v},
		})
	}
	if len(o.Indices) > 0 {
		v = model.Seal(&model.Reduce{
			Base: model.NewBase(plain, o.Span), Fn: stdlib.Find("sum", stdlib.Reduction), Indices: o.Indices, Body: v,
		})
	}
	return v
}

func readsLargest(e model.Expr) (reads bool) {
	model.Walk(func(e model.Expr) bool {
		f, ok := e.(*model.Functional)
		reads = reads || ok && f.Kind == model.MaxOver
		return !reads
	}, e)
	return reads
}

// Set gives params or initial values other values for the runs to come; see Runner.Set.
func (s *Section) Set(set ...compiled.Override) error {
	if err := s.runner.Set(set...); err != nil {
		return s.wrap(err)
	}
	if s.curved != nil {
		return s.wrap(s.curved.Set(set...))
	}
	s.setup.Set = s.runner.setup.Set
	return nil
}

// Run makes the run.
func (s *Section) Run(ctx context.Context) error {
	if _, err := s.runner.Sensitivities(ctx); err != nil {
		return s.wrap(err)
	}
	out, row := &s.runner.out, 0
	for i, to := range []*result.Rows{&s.Ends, &s.Shares, &s.Each, &s.Whole} {
		n := s.sizes[i]
		to.Values = to.Values[:0]
		for _, v := range out.Values[row : row+n] {
			to.Values = append(to.Values, v.Value)
		}
		to.Slopes = out.Gradient[row*s.Columns : (row+n)*s.Columns]
		if row += n; !trust.Finite(to.Values) || !trust.Finite(to.Slopes) {
			return s.wrap(fmt.Errorf("%w: a state or an objective in a part of the run", ErrNoValue))
		}
	}
	return nil
}

// Smooth tells of each number of a run, in the order of Ends, Shares, Each and Whole, whether it has second
// derivatives: what reads a largest value has none.
func (s *Section) Smooth() []bool { return s.smooth }

// Curve returns the Hessian of the sum of what a run came to, each number times a weight, and its gradient. What has no
// second derivatives does not count. Weights are in the order of Smooth.
func (s *Section) Curve(ctx context.Context, weights []float64) (hessian, gradient []float64, err error) {
	if s.curved == nil {
		s.curved, err = s.of.PrepareWhile(ctx, s.setup.With(func(s *settings.Settings) {
			s.GradientOnly()
			s.Of, s.Threads, s.Order = []string{lagrangian}, 1, 2
			if s.Mode == settings.Auto {
				s.Mode = sens.DefaultMode
			}
		}))
		if err != nil {
			return nil, nil, s.wrap(err)
		}
	}
	at := 0
	for i, o := range s.runner.objectives {
		if i == 0 || o.of != s.runner.objectives[i-1].of {
			at = 0
		}
		s.curved.problem.Point.Param(weightPrefix + o.of.Name)[at] = 0
		if s.smooth[i] {
			s.curved.problem.Point.Param(weightPrefix + o.of.Name)[at] = weights[i]
		}
		at++
	}
	out, err := s.curved.Sensitivities(ctx)
	if err != nil {
		return nil, nil, s.wrap(err)
	}
	if !trust.Finite(out.Hessian) || math.IsNaN(out.Values[0].Value) {
		return nil, nil, s.wrap(fmt.Errorf("%w: a second derivative in a part of the run", ErrNoValue))
	}
	return out.Hessian, out.Gradient, nil
}
