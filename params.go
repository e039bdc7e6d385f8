package odes

import (
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
	"odes.dev/odes/typecheck"
)

// point is the parameter vector of a run, and which links from params to other
// values an override cut.
type point struct {
	p       []float64
	cutP    map[*typecheck.Symbol]bool   // params set from outside: their default does not count
	cutE    map[*typecheck.Symbol][]bool // single elements set from outside; the others follow their default
	cut     []bool                       // per state element: initial value set from outside
	initial []float64
	version int // counts changes, so that workers redo what they hoisted
}

// point computes the parameters: defaults in the order of their dependencies, each with its overrides.
func (m *Model) point(set []Assignment, l *diag.List) *point {
	pt := &point{
		p:    make([]float64, m.layout.nP),
		cutP: map[*typecheck.Symbol]bool{},
		cutE: map[*typecheck.Symbol][]bool{},
		cut:  make([]bool, m.layout.nY), initial: make([]float64, m.layout.nY),
	}
	overrides := map[*typecheck.Symbol][]Assignment{}
	for _, a := range set {
		if s, from, n := m.assign(pt, a, l); s != nil {
			overrides[s] = append(overrides[s], a)
			pt.cutFrom(s, from, n)
		}
	}
	value := map[*typecheck.Symbol]func() []float64{}
	for _, d := range m.compiled.Defaults {
		value[d.Param] = func() []float64 { return m.evalDefault(d, pt.p) }
	}
	var order []*typecheck.Symbol
	for _, s := range m.checked.Params {
		if value[s] != nil {
			continue
		}
		order = append(order, s)
		if c, ok := s.Value.(*typecheck.Const); ok {
			value[s] = func() []float64 { return c.Data }
		}
	}
	for _, d := range m.compiled.Defaults { // after what they use
		order = append(order, d.Param)
	}
	for _, s := range order {
		at := m.part("p." + s.Name)
		switch {
		case pt.cutP[s]:
		case value[s] == nil:
			l.Errorf(CodeOverride, s.Span, "param %q has no value; give it one here or with --set %s=…", s.Name, s.Name)
		default:
			fill(pt.p[at.offset:at.offset+at.len], value[s]())
		}
		for _, a := range overrides[s] {
			m.assign(pt, a, l)
		}
	}
	return pt
}

// fill copies data into dst; a single value fills it.
func fill(dst, data []float64) {
	for i := range dst {
		if len(data) == 1 {
			dst[i] = data[0]
		} else {
			dst[i] = data[i]
		}
	}
}

// defaulted reports whether the default of s uses other params.
func (m *Model) defaulted(s *typecheck.Symbol) bool {
	for _, d := range m.compiled.Defaults {
		if d.Param == s {
			return len(d.Tape.Inputs) > 0
		}
	}
	return false
}

func (m *Model) part(name string) part { return m.layout.parts[name] }

// evalDefault evaluates the default of a param at p.
func (m *Model) evalDefault(d tapec.Default, p []float64) []float64 {
	e := tape.NewEvaluator[float64](d.Tape)
	for _, in := range d.Tape.Inputs {
		at := m.part(in.Name)
		copy(e.Input(in.Name), p[at.offset:at.offset+at.len])
	}
	e.Run()
	return e.Output("p." + d.Param.Name)
}

// cutFrom notes that n elements of s, from the first of them on, are set from outside.
func (pt *point) cutFrom(s *typecheck.Symbol, from, n int) {
	size := s.Type.Shape.Size()
	if pt.cutE[s] == nil {
		pt.cutE[s] = make([]bool, size)
	}
	for k := range n {
		pt.cutE[s][from+k] = true
	}
	pt.cutP[s] = !slices.Contains(pt.cutE[s], false)
}

// follows reports whether element k of s follows the default of s.
func (pt *point) follows(s *typecheck.Symbol, k int) bool { return pt.cutE[s] == nil || !pt.cutE[s][k] }

// unquoted takes a name out of its backquotes.
func unquoted(name string) string {
	if inner, ok := strings.CutPrefix(name, "`"); ok {
		return strings.TrimSuffix(inner, "`")
	}
	return name
}

// assign applies one override and returns the param it set, if it was one, and which of its elements.
func (m *Model) assign(pt *point, a Assignment, l *diag.List) (s *typecheck.Symbol, from, n int) {
	name, subs, ok := splitSubscripts(a.Name)
	if !ok {
		l.Errorf(CodeOverride, source.Span{}, "%q is no name with subscripts; write k, A[1,2] or initial(x)", a.Name)
		return nil, 0, 0
	}
	target, list, vec := name, m.checked.Params, pt.p
	initial := strings.HasPrefix(name, "initial(") && strings.HasSuffix(name, ")")
	prefix := "p."
	if initial {
		target, list, vec, prefix = name[len("initial("):len(name)-1], m.checked.States, pt.initial, "y."
		target, subs, ok = innerSubscripts(target, subs)
	}
	target = unquoted(target)
	var sym *typecheck.Symbol
	for _, s := range list {
		if s.Name == target {
			sym = s
		}
	}
	if sym == nil || !ok {
		what := "param"
		if initial {
			what = "state"
		}
		l.Errorf(CodeUnknown, source.Span{}, "cannot set %q: the model has no %s %q%s", a.Name, what, target, diag.DidYouMean(target, names0(list)))
		return nil, 0, 0
	}
	part := m.part(prefix + sym.Name)
	at, n := part.offset, part.len
	if len(subs) > 0 {
		i, wrong := flatIndex(sym.Type.Shape, subs)
		if wrong != "" {
			l.Errorf(CodeOverride, source.Span{}, "cannot set %q: %s", a.Name, wrong)
			return nil, 0, 0
		}
		at, n = part.offset+i, 1
	}
	if len(a.Values) != 1 && len(a.Values) != n {
		l.Errorf(CodeOverride, source.Span{}, "cannot set %q to %d values: it has %d", a.Name, len(a.Values), n)
		return nil, 0, 0
	}
	fill(vec[at:at+n], a.Values)
	for i := at; initial && i < at+n; i++ {
		pt.cut[i] = true
	}
	if initial {
		return nil, 0, 0
	}
	return sym, at - part.offset, n
}

func names0(list []*typecheck.Symbol) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = s.Name
	}
	return out
}

// splitSubscripts splits "A[1,2]" into "A" and {1, 2}.
func splitSubscripts(text string) (name string, subs []int, ok bool) {
	name, rest, found := strings.Cut(text, "[")
	if !found {
		return text, nil, text != ""
	}
	if strings.HasPrefix(text, "initial(") && strings.HasSuffix(text, ")") {
		return text, nil, true
	}
	rest, closed := strings.CutSuffix(rest, "]")
	if !closed || name == "" {
		return "", nil, false
	}
	for _, s := range strings.Split(rest, ",") {
		i, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil {
			return "", nil, false
		}
		subs = append(subs, i)
	}
	return name, subs, true
}

// innerSubscripts accepts initial(x[2]) as well as initial(x)[2].
func innerSubscripts(target string, outer []int) (string, []int, bool) {
	name, subs, ok := splitSubscripts(target)
	if len(outer) > 0 {
		if len(subs) > 0 {
			return name, nil, false
		}
		subs = outer
	}
	return name, subs, ok
}

// flatIndex returns the row-major position of 1-based subscripts, or what is wrong with them.
func flatIndex(shape []int, subs []int) (int, string) {
	if len(subs) != len(shape) {
		return 0, "it has " + strconv.Itoa(len(shape)) + " dimensions, not " + strconv.Itoa(len(subs))
	}
	i := 0
	for k, s := range subs {
		if s < 1 || s > shape[k] {
			return 0, "index " + strconv.Itoa(s) + " is outside 1:" + strconv.Itoa(shape[k]) + " (dimension " + strconv.Itoa(k+1) + ")"
		}
		i = i*shape[k] + s - 1
	}
	return i, ""
}

// follower is a param whose default uses others: a path that derivatives take.
type follower struct {
	eval   *tape.Evaluator[float64] // of the default's transpose
	params map[string]part          // its inputs among all params
	out    string
	from   part // of the param, in a row of derivatives
	to     map[string]part
	cut    []bool // elements of the param that follow nothing; nil for none
}

// followers returns those among the active params, later ones first.
func (m *Model) followers(pt *point, columns map[string]part) ([]follower, error) {
	var list []follower
	for k := len(m.compiled.Defaults) - 1; k >= 0; k-- {
		d := m.compiled.Defaults[k]
		out := "p." + d.Param.Name
		from, active := columns[out]
		l := follower{params: map[string]part{}, out: "bar." + out, from: from, to: map[string]part{}, cut: pt.cutE[d.Param]}
		var wrt []string
		for _, in := range d.Tape.Inputs {
			if to, ok := columns[in.Name]; ok {
				wrt = append(wrt, in.Name)
				l.to["bar."+in.Name] = to
			}
		}
		if pt.cutP[d.Param] || !active || len(wrt) == 0 {
			continue
		}
		pull, err := tapec.VJP(d.Tape, []string{out}, wrt)
		if err != nil {
			return nil, err
		}
		for _, in := range pull.Inputs {
			if at, ok := m.layout.parts[in.Name]; ok {
				l.params[in.Name] = at
			}
		}
		l.eval = tape.NewEvaluator[float64](pull)
		list = append(list, l)
	}
	return list, nil
}

// chain adds to every param's derivatives the paths through defaults that use
// it: the rows of grad, stride apart, are partial derivatives on entry and total
// ones on return.
func chain(followers []follower, p, grad []float64, rows, stride int) {
	for i := range followers {
		l := &followers[i]
		for name, at := range l.params {
			copy(l.eval.Input(name), p[at.offset:at.offset+at.len])
		}
		for r := range rows {
			row := grad[r*stride:]
			bar := l.eval.Input(l.out)
			copy(bar, row[l.from.offset:l.from.offset+l.from.len])
			for k, cut := range l.cut {
				if cut {
					bar[k] = 0
				}
			}
			l.eval.Run()
			for name, to := range l.to {
				for j, x := range l.eval.Output(name) {
					row[to.offset+j] += x
				}
			}
		}
	}
}

// active lists the params that must be differentiated so that wrt comes out
// right: those of wrt in their order, then whatever follows one of them through
// defaults.
func (m *Model) active(pt *point, wrt []Variable) []string {
	on := map[string]bool{}
	var list []string
	add := func(name string) {
		if !on[name] {
			on[name] = true
			list = append(list, name)
		}
	}
	for _, v := range wrt {
		if !v.Initial {
			add(v.Name)
		}
	}
	for _, d := range m.compiled.Defaults {
		if pt.cutP[d.Param] {
			continue
		}
		for _, in := range d.Tape.Inputs {
			if on[strings.TrimPrefix(in.Name, "p.")] {
				add(d.Param.Name)
			}
		}
	}
	return list
}
