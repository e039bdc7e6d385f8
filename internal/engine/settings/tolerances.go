package settings

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/solvers"
)

// tolerances are rtol or atol as the blocks give them: one number, or one for each element of the
// states, and then those of single states by name, in order. The last one of a name counts.
type tolerances struct {
	all   float64
	each  []float64 // nil: all
	at    source.Span
	named []model.Setting
}

// set reads one of three forms: a number, a list with one for each element of the states, or a list of
// names with theirs ([x = 1e-9, v = [1e-12, 1e-10]]), which leaves other states as they were. Numbers
// must be below limit. set returns what is wrong, or "".
func (t *tolerances) set(v model.SettingValue, key string, limit float64) string {
	within := func(v model.SettingValue) bool {
		return !v.Array && v.Number != nil && *v.Number >= 0 && *v.Number < limit
	}
	usage := "takes a number that is not negative"
	if !math.IsInf(limit, 1) {
		usage = "takes a number in [0, " + strconv.FormatFloat(limit, 'g', -1, 64) + ")"
	}
	usage += ", or one for each state: " + key + " = [x = 1e-9, v = 1e-12]"
	if key == "atol" {
		usage += ", or auto"
	}
	switch {
	case key == "atol" && v.Word == Auto:
		*t = tolerances{all: solvers.BySize}
		return ""
	case !v.Array:
		if !within(v) {
			return usage
		}
		*t = tolerances{all: *v.Number}
		return ""
	case v.Word != "" || len(v.List)+len(v.Keys) == 0:
		return usage
	case len(v.Keys) > 0 && len(v.List) > 0:
		return "mixes tolerances with names and without; give one for each element of the states in order, or " +
			"names to all"
	case len(v.Keys) > 0:
		for i, k := range v.Keys {
			if slices.ContainsFunc(v.Keys[:i], func(o model.Setting) bool { return o.Key == k.Key }) {
				return "gives " + k.Key + " twice"
			}
			list := []model.SettingValue{k.Value}
			if k.Value.Array && k.Value.Word == "" && len(k.Value.Keys) == 0 && len(k.Value.List) > 0 {
				list = k.Value.List
			}
			if slices.ContainsFunc(list, func(x model.SettingValue) bool { return !within(x) }) {
				return usage
			}
		}
		t.named = append(slices.Clip(t.named), v.Keys...)
		return ""
	}
	if slices.ContainsFunc(v.List, func(x model.SettingValue) bool { return !within(x) }) {
		return usage
	}
	*t = tolerances{at: v.Span}
	for _, x := range v.List {
		t.each = append(t.each, *x.Number)
	}
	return ""
}

// settle returns the tolerance of each element of the states of m, nil if one holds for all, and the
// least of them, which reports show. It reports to l what does not fit the states.
func (t *tolerances) settle(m *model.Model, key string, l *diag.List) (each []float64, least float64) {
	n := 0
	var states []string
	for _, x := range m.States {
		n += x.Type.Shape.Size()
		states = append(states, x.Name)
	}
	if t.each != nil && len(t.each) != n {
		l.Errorf(CodeSetting, t.at, "solver.%s lists %s for %s; there is one for each element, in the order of "+
			"declaration",
			key, diag.Count(len(t.each), "tolerance"), diag.Count(n, "state"))
		return nil, 0
	}
	if t.each == nil && t.named == nil {
		return nil, t.all
	}
	each = slices.Clone(t.each)
	if each == nil {
		each = slices.Repeat([]float64{t.all}, n)
	}
	for _, k := range t.named {
		s := slices.Index(states, k.Key)
		if s < 0 {
			l.Errorf(CodeSetting, k.Span, "solver.%s names no state %q%s", key, k.Key, diag.DidYouMean(k.Key, states))
			continue
		}
		at := 0
		for _, x := range m.States[:s] {
			at += x.Type.Shape.Size()
		}
		its := each[at : at+m.States[s].Type.Shape.Size()]
		switch list := k.Value.List; {
		case !k.Value.Array:
			for j := range its {
				its[j] = *k.Value.Number
			}
		case len(list) != len(its):
			l.Errorf(CodeSetting, k.Value.Span, "solver.%s lists %s for %s, which has %s; one number is for "+
				"all of them",
				key, diag.Count(len(list), "tolerance"), k.Key, diag.Count(len(its), "element"))
		default:
			for j, x := range list {
				its[j] = *x.Number
			}
		}
	}
	if len(each) == 0 {
		return nil, t.all
	}
	return each, slices.Min(each)
}

// settle gives the states of m their tolerances. It reports to l what does not fit them.
func (s *Settings) settle(m *model.Model, l *diag.List) {
	s.Solver.RTols, s.Solver.RTol = s.rtol.settle(m, "rtol", l)
	s.raise()
	s.Solver.ATols, s.Solver.ATol = s.atol.settle(m, "atol", l)
	if s.Solver.Sized() && (s.Solver.RTol == 0) { // errors are left to absolute tolerances
		known := func(x *float64) {
			if *x < 0 {
				*x = withoutRTol
			}
		}
		known(&s.Solver.ATol)
		for i := range s.Solver.ATols {
			known(&s.Solver.ATols[i])
		}
	}
}

// withoutRTol is the absolute tolerance where there is no relative one, and none was given.
const withoutRTol = 1e-9

// Absolute returns the absolute tolerances of states, one for all or one for each, of a run that ended with run where
// they follow sizes. Without one, those are negative.
func (s *Settings) Absolute(run []float64) []float64 {
	switch {
	case s.Solver.Sized() && run != nil:
		return run
	case s.Solver.ATols != nil:
		return s.Solver.ATols
	}
	return []float64{s.Solver.ATol}
}

// Reported returns the absolute tolerance that results show: the least, or where they follow sizes that of a state of
// size 1.
func (s *Settings) Reported() float64 {
	if s.Solver.Sized() {
		return float64(1e-3 * s.Solver.RTol)
	}
	return s.Solver.ATol
}

// LeastAbsolute returns the least of Absolute, and where they follow sizes that of states of about 1. What has another
// size is told by its own tolerance.
func (s *Settings) LeastAbsolute() float64 {
	if !s.Solver.Sized() {
		return s.Solver.ATol
	}
	return withoutRTol
}

// raise makes relative tolerances that rounding keeps from being met as small as it allows, and says so: steps would be
// made shorter without end. None at all, 0, leaves errors to atol.
func (s *Settings) raise() {
	const rounding = 1e-15
	lowest := 1.0
	up := func(x *float64) {
		if *x > 0 && *x < rounding {
			lowest = min(lowest, *x)
			*x = rounding
		}
	}
	up(&s.Solver.RTol)
	for i := range s.Solver.RTols {
		up(&s.Solver.RTols[i])
	}
	if lowest < 1 {
		s.Notes = append(s.Notes, diag.Diagnostic{
			Code: CodeSetting, Level: diag.Warning,
			Message: fmt.Sprintf("solver.rtol = %s is less than rounding leaves of any number: 1e-15 is taken; "+
				"rtol = 0 leaves errors to atol alone", diag.Number(lowest)),
		})
	}
}
