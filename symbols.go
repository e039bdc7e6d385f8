package odes

import (
	"math"
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/types"
)

// Symbol describes a name that a model declares.
type Symbol struct {
	Kind  string // "time", "param", "state", "discrete", "output", "objective" or "event"
	Name  string
	Doc   string
	Unit  string // "" when unknown or dimensionless
	Shape []int
	// Lo and Hi bound a param; ±Inf where nothing was written.
	Lo, Hi float64
	// Values are those of a param, row-major; nil for everything else.
	Values []float64
}

// DerivativeUnit returns the unit of the derivative of an objective, or of an
// element of one, by v; "" when it is unknown or dimensionless.
func (m *Model) DerivativeUnit(objective string, v Variable) string {
	name, _, _ := strings.Cut(objective, "[")
	for _, o := range m.checked.Objectives {
		if o.Name != name {
			continue
		}
		symbols := m.checked.Params
		if v.Initial {
			symbols = m.checked.States
		}
		for _, s := range symbols {
			if u := o.Value.Type().Unit.Div(s.Type.Unit); s.Name == v.Name && u.Known() && !u.Plain() {
				return u.String()
			}
		}
	}
	return ""
}

// Symbols lists the declared names in the order of their kinds above, params
// with their values after the assignments of set.
func (m *Model) Symbols(set []Assignment) ([]Symbol, error) {
	var l diag.List
	pt := m.point(set, &l)
	if err := l.Err(); err != nil {
		return nil, err
	}
	c := m.checked
	var list []Symbol
	add := func(kind, name, doc string, t types.Type) *Symbol {
		s := Symbol{Kind: kind, Name: name, Doc: doc, Shape: t.Shape, Lo: math.Inf(-1), Hi: math.Inf(1)}
		if t.Unit.Known() && !t.Unit.Plain() {
			s.Unit = t.Unit.String()
		}
		list = append(list, s)
		return &list[len(list)-1]
	}
	if c.Time != nil {
		add("time", c.Time.Name, c.Time.Doc, c.Time.Type)
	}
	for _, p := range c.Params {
		s := add("param", p.Name, p.Doc, p.Type)
		s.Lo, s.Hi, s.Values = p.Lo, p.Hi, pt.Param(p.Name)
	}
	for _, x := range c.States {
		add("state", x.Name, x.Doc, x.Type)
	}
	for _, x := range c.Discretes {
		add("discrete", x.Name, x.Doc, x.Type)
	}
	for _, x := range c.Outputs {
		add("output", x.Name, x.Doc, x.Value.Type())
	}
	for _, x := range c.Objectives {
		add("objective", x.Name, x.Doc, x.Value.Type())
	}
	for _, x := range c.Events {
		add("event", x.Name, x.Doc, types.Type{})
	}
	return list, nil
}
