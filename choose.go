package odes

import (
	"fmt"
	"strings"

	"odes.dev/odes/internal/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/typecheck"
)

// variables resolves wrt: names of params, "initial(x)" and "all". nil means
// every param and the initial value of every state whose initial value is a
// literal. It returns them with their columns in a row of the gradient.
func (m *Model) variables(wrt []string, l *diag.List) (list []Variable, columns int) {
	add := func(name string, initial bool, unit string, shape []int) {
		for _, v := range list {
			if v.Name == name && v.Initial == initial {
				return
			}
		}
		v := Variable{Name: name, Initial: initial, Unit: unit, Shape: shape, Offset: columns}
		list = append(list, v)
		columns += v.Size()
	}
	all := func() {
		for _, s := range m.checked.Params {
			add(s.Name, false, s.Type.Unit.String(), s.Type.Shape)
		}
		for _, s := range m.checked.States {
			if s.Literal {
				add(s.Name, true, s.Type.Unit.String(), s.Type.Shape)
			}
		}
	}
	if wrt == nil {
		all()
	}
	for _, name := range wrt {
		if name == "all" {
			all()
			continue
		}
		inner, initial := strings.CutPrefix(name, "initial(")
		if initial {
			inner, _ = strings.CutSuffix(inner, ")")
		}
		inner = system.Unquoted(inner)
		symbols := m.checked.Params
		if initial {
			symbols = m.checked.States
		}
		found := false
		for _, s := range symbols {
			if s.Name == inner {
				add(s.Name, initial, s.Type.Unit.String(), s.Type.Shape)
				found = true
			}
		}
		if !found {
			what := "param"
			if initial {
				what = "state"
			}
			d := l.Errorf(CodeUnknown, source.Span{}, "cannot differentiate by %q: the model has no %s %q%s", name, what, inner, diag.DidYouMean(inner, system.Names(symbols)))
			if base, _, indexed := strings.Cut(inner, "["); indexed {
				for _, s := range symbols {
					if s.Name == base && len(s.Type.Shape) > 0 {
						whole := strings.Replace(name, inner, base, 1)
						d.Message = fmt.Sprintf("cannot differentiate by %q: %s is one variable, an array; name the whole: %s", name, base, whole)
					}
				}
			}
			for _, s := range m.checked.States {
				if !initial && s.Name == inner {
					d.Message = fmt.Sprintf("cannot differentiate by state %q; write initial(%s) for its initial value", inner, inner)
				}
			}
		}
	}
	return list, columns
}

// objective is a scalar objective: element of an objective of the model.
type objective struct {
	value Value
	unit  units.Unit
	row   int // position in psi
	of    *typecheck.Objective
}

// objectivesOf resolves of: names of objectives, single elements "y[3]", and "all", which nil means as well.
func (m *Model) objectivesOf(of []string, l *diag.List) []objective {
	var all []objective
	bySource := map[string][]objective{}
	byElement := map[string]objective{}
	var known []string
	row := 0
	for _, o := range m.checked.Objectives {
		var shape []int
		for _, ix := range o.Indices {
			shape = append(shape, ix.Count)
		}
		shape = append(shape, o.Value.Type().Shape...)
		size := 1
		for _, d := range shape {
			size *= d
		}
		known = append(known, o.Name)
		for i := range size {
			e := objective{row: row, of: o, unit: o.Value.Type().Unit, value: Value{
				Name: system.ElementName(o.Name, shape, i), Doc: o.Doc,
				Unit: o.Value.Type().Unit.String(), Relation: o.Relation,
			}}
			row++
			all = append(all, e)
			bySource[o.Name] = append(bySource[o.Name], e)
			byElement[e.value.Name] = e
		}
	}
	if of == nil {
		return all
	}
	var list []objective
	for _, name := range of {
		name = strings.ReplaceAll(name, " ", "")
		if group, ok := bySource[name]; ok {
			list = append(list, group...)
		} else if e, ok := byElement[name]; ok {
			list = append(list, e)
		} else if name == "all" {
			list = append(list, all...)
		} else {
			l.Errorf(CodeUnknown, source.Span{}, "the model has no objective %q%s", name, diag.DidYouMean(name, known))
		}
	}
	return list
}
