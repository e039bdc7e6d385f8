package compiled

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/target"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
	"odes.dev/odes/typecheck"
)

// CodeOverride is the code of values set from outside that do not fit.
const CodeOverride diag.Code = "override"

// Override sets a param, an element of one ("A[1,2]") or an initial value ("initial(x)"). One value fills an array.
type Override struct {
	Name   string
	Values []float64
}

// Point holds the values of the parameters of a run, and says which of them overrides cut from their
// defaults.
type Point struct {
	model   *Model
	P       []float64
	cutP    map[*model.Symbol]bool   // params set from outside: their default does not count
	cutE    map[*model.Symbol][]bool // single elements set from outside; the others follow their default
	Cut     []bool                   // per state element: initial value set from outside
	Initial []float64                // [N]; read where cut
	Moved   map[int]float64          // initial values of states that runs begin beside their own; nil for none
	Version int                      // counts changes, so that workers redo what they hoisted
}

// NewPoint computes the parameters: overrides, and where there are none, defaults in the order of
// their dependencies. It reports mistakes in overrides to l.
func (m *Model) NewPoint(set []Override, l *diag.List) *Point {
	pt := &Point{
		model: m,
		P:     make([]float64, m.Layout.NP),
		cutP:  map[*model.Symbol]bool{},
		cutE:  map[*model.Symbol][]bool{},
		Cut:   make([]bool, m.Layout.NY), Initial: make([]float64, m.Layout.NY),
	}
	for _, o := range set {
		pt.assign(o, l)
	}
	compiled := map[*model.Symbol]*tapec.Default{}
	for i := range m.Compiled.Defaults {
		compiled[m.Compiled.Defaults[i].Param] = &m.Compiled.Defaults[i]
	}
	missing := false
	for _, s := range m.Checked.Params {
		d := compiled[s]
		if pt.cutP[s] || d != nil && usesOthers(d) {
			continue
		}
		var value []float64
		if c, ok := s.Value.(*model.Const); d == nil && ok {
			value = c.Data
		} else if d != nil {
			value = evaluateDefault(m, d, pt.P)
		} else {
			l.Errorf(CodeOverride, s.Span, "param %q has no value; give it one here or with --set %s=…", s.Name, s.Name)
			missing = true
			continue
		}
		to := pt.Param(s.Name)
		for k := range to {
			if pt.Follows(s, k) {
				to[k] = value[min(k, len(value)-1)]
			}
		}
	}
	if !missing {
		Follow(pt, pt.P, func(i int, x float64) { pt.P[i] = x })
	}
	return pt
}

// Param returns the values of a param, row-major: a view.
func (pt *Point) Param(name string) []float64 {
	at := pt.model.Param(name)
	return pt.P[at.Offset : at.Offset+at.Len]
}

// SetTotal sets the value of total k of the experiments.
func (pt *Point) SetTotal(k int, x float64) {
	pt.Param(pt.model.Checked.Totals[k].Name)[0] = x
}

// Move gives the point the values of another one of the same model. If a param follows others here but
// is set there, the point does not move, because derivatives take the links that the point had from
// the start. Move returns these params.
func (pt *Point) Move(to *Point) (cut []string) {
	for i := range pt.model.Compiled.Defaults {
		d := &pt.model.Compiled.Defaults[i]
		if !usesOthers(d) {
			continue
		}
		for k := range d.Param.Type.Shape.Size() {
			if pt.Follows(d.Param, k) && !to.Follows(d.Param, k) {
				cut = append(cut, d.Param.Name)
				break
			}
		}
	}
	if cut != nil {
		return cut
	}
	copy(pt.P, to.P)
	copy(pt.Cut, to.Cut)
	copy(pt.Initial, to.Initial)
	maps.Copy(pt.cutP, to.cutP)
	pt.Version++
	return nil
}

// Follows reports whether the default of s reads other params.
func (m *Model) Follows(s *model.Symbol) bool {
	for i := range m.Compiled.Defaults {
		if d := &m.Compiled.Defaults[i]; d.Param == s {
			return usesOthers(d)
		}
	}
	return false
}

// cutFrom records that n elements of s, starting with element from, are set from outside.
func (pt *Point) cutFrom(s *model.Symbol, from, n int) {
	size := s.Type.Shape.Size()
	if pt.cutE[s] == nil {
		pt.cutE[s] = make([]bool, size)
	}
	for k := range n {
		pt.cutE[s][from+k] = true
	}
	pt.cutP[s] = !slices.Contains(pt.cutE[s], false)
}

// Follows reports whether element k of s has the value of its default.
func (pt *Point) Follows(s *model.Symbol, k int) bool { return pt.cutE[s] == nil || !pt.cutE[s][k] }

// FollowsOthers reports whether the default of s uses other params and is in force, at least for some of its elements.
func (pt *Point) FollowsOthers(s *model.Symbol) bool {
	return !pt.cutP[s] && slices.ContainsFunc(pt.model.Compiled.Defaults, func(d tapec.Default) bool {
		return d.Param == s && usesOthers(&d)
	})
}

// assign applies one override.
func (pt *Point) assign(o Override, l *diag.List) {
	t, ok := target.Parse(o.Name)
	subs, numbers := t.Index()
	if !ok || !numbers {
		l.Errorf(CodeOverride, source.Span{}, "%q is no name with subscripts; write k, A[1,2] or initial(x)", o.Name)
		return
	}
	m := pt.model
	list, what, vec, place := m.Checked.Params, "param", pt.P, m.Param
	if t.Initial {
		list, what, vec, place = m.Checked.States, "state", pt.Initial, m.State
	}
	i := slices.IndexFunc(list, func(s *model.Symbol) bool { return s.Name == t.Name })
	if i < 0 {
		hint := m.Checked.Instead(t.Name)
		if hint == "" {
			hint = diag.DidYouMean(t.Name, Names(list))
		}
		l.Errorf(typecheck.CodeUnknown, source.Span{}, "cannot set %q: the model has no %s %q%s", o.Name, what, t.Name,
			hint)
		return
	}
	s := list[i]
	part := place(s.Name)
	at, n := part.Offset, part.Len
	if len(subs) > 0 {
		i, wrong := flatIndex(s.Type.Shape, subs)
		if wrong != "" {
			l.Errorf(CodeOverride, source.Span{}, "cannot set %q: %s", o.Name, wrong)
			return
		}
		at, n = part.Offset+i, 1
	}
	if len(o.Values) != 1 && len(o.Values) != n {
		l.Errorf(CodeOverride, source.Span{}, "cannot set %q to %d values: it has %d", o.Name, len(o.Values), n)
		return
	}
	if slices.ContainsFunc(o.Values, math.IsNaN) {
		l.Errorf(CodeOverride, source.Span{}, "%s cannot be nan", o.Name)
		return
	}
	for k := range n {
		vec[at+k] = o.Values[min(k, len(o.Values)-1)]
	}
	if !t.Initial {
		pt.cutFrom(s, at-part.Offset, n)
		return
	}
	for k := range n {
		pt.Cut[at+k] = true
	}
}

// Names lists the names of symbols.
func Names(list []*model.Symbol) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = s.Name
	}
	return out
}

// flatIndex returns the row-major position of 1-based subscripts, or what is wrong with them.
func flatIndex(shape []int, subs []int) (int, string) {
	if len(subs) != len(shape) {
		return 0, "it has " + strconv.Itoa(len(shape)) + " dimensions, not " + strconv.Itoa(len(subs))
	}
	i := 0
	for k, s := range subs {
		if s < 1 || s > shape[k] {
			return 0, "index " + strconv.Itoa(s) + " is outside 1:" + strconv.Itoa(shape[k]) + " (dimension " +
				strconv.Itoa(k+1) + ")"
		}
		i = i*shape[k] + s - 1
	}
	return i, ""
}

// Move is by how much an element of a variable is moved.
type Move struct {
	Of      Variable
	Element int
	By      float64
}

// Shift moves elements of variables, with all that follows them, until back is called. What Set has cut from its
// default stays cut, and nothing else is.
func (pt *Point) Shift(list []Move) (back func()) {
	kept, own := slices.Clone(pt.P), map[int]float64{}
	pt.Moved = map[int]float64{}
	for _, m := range list {
		if m.Of.Initial {
			pt.Moved[pt.model.State(m.Of.Name).Offset+m.Element] = m.By
			continue
		}
		i := pt.model.Param(m.Of.Name).Offset + m.Element
		own[i] = m.By
		pt.P[i] += m.By
	}
	Follow(pt, pt.P, func(i int, v float64) {
		if pt.P[i] = v; own[i] != 0 {
			pt.P[i] += own[i]
		}
	})
	pt.Version++
	return func() {
		pt.Moved = nil
		copy(pt.P, kept)
		pt.Version++
	}
}

// FailedAsserts lists the model's asserts that do not hold at pt, in file order.
func (pt *Point) FailedAsserts() []int {
	t := pt.model.Compiled.Asserts
	if t == nil {
		return nil
	}
	e := tape.NewEvaluator[float64](t)
	pt.model.Load(t, e, &vec.Values{vec.P: pt.P})
	e.Run()
	var failed []int
	for i, ok := range e.Output(tapec.Holds.Name().String()) {
		if ok == 0 {
			failed = append(failed, i)
		}
	}
	return failed
}

// Setter writes values that were assigned to a Point before.
type Setter struct {
	point *Point
	to    []*float64
}

// Setter returns what writes other values to pt for the same names, without looking at them again. It is nil if one of
// them is an array, or if a param follows others.
func (pt *Point) Setter(names []string) *Setter {
	m := pt.model
	if slices.ContainsFunc(m.Compiled.Defaults, func(d tapec.Default) bool { return usesOthers(&d) }) {
		return nil
	}
	s := &Setter{point: pt}
	for _, name := range names {
		t, ok := target.Parse(name)
		subs, numbers := t.Index()
		list, vec, place := m.Checked.Params, pt.P, m.Param
		if t.Initial {
			list, vec, place = m.Checked.States, pt.Initial, m.State
		}
		i := slices.IndexFunc(list, func(s *model.Symbol) bool { return s.Name == t.Name })
		if !ok || !numbers || i < 0 {
			return nil
		}
		at := place(t.Name)
		if len(subs) > 0 {
			k, wrong := flatIndex(list[i].Type.Shape, subs)
			if wrong != "" {
				return nil
			}
			at.Offset, at.Len = at.Offset+k, 1
		}
		if at.Len != 1 {
			return nil
		}
		s.to = append(s.to, &vec[at.Offset])
	}
	return s
}

// Set writes the value of the k-th name.
func (s *Setter) Set(k int, x float64) {
	*s.to[k] = x
	s.point.Version++
}

// Values returns all values of pt, appended to list.
func (pt *Point) Values(list []float64) []float64 {
	return append(append(list, pt.P...), pt.Initial...)
}

// SetValues sets all values.
func (pt *Point) SetValues(list []float64) {
	copy(pt.P, list)
	copy(pt.Initial, list[len(pt.P):])
	pt.Version++
}
