package report

import (
	"fmt"

	"odes.dev/odes"
)

// maxHessians is how many Hessians a table shows before it abbreviates.
const maxHessians = 6

// variables lists the elements of variables that a table shows, and their labels. Position -1 stands for those left
// out.
func (p *printer) variables(vars []odes.Variable) (at []int, labels []string) {
	for _, v := range vars {
		for _, k := range p.picks(v.Size()) {
			if k < 0 {
				at, labels = append(at, -1), append(labels, fmt.Sprintf("… %d more", v.Size()-headOf-1))
				continue
			}
			at, labels = append(at, v.Offset+k), append(labels, withUnit(variableElement(v, k), v.Unit))
		}
	}
	return at, labels
}

// second writes the Hessians, one table for each objective, and their products with a vector as one more.
func (p *printer) second(s *odes.Sensitivities) {
	if s.Hessian == nil && s.Products == nil {
		return
	}
	n := digits(s.Settings.RTol) - 1
	at, labels := p.variables(s.Variables)
	// cell writes number k of a row that begins at from, with its error and grade.
	cell := func(all, errors []float64, trusts []odes.Trust, from, k int) string {
		if k < 0 {
			return "…"
		}
		e, t := 0.0, odes.Sound
		if errors != nil {
			e = errors[from+k]
		}
		if trusts != nil {
			t = trusts[from+k]
			p.marked[t] = true
		}
		return graded(all[from+k], e, t, n)
	}
	indented := column{left: true}
	for _, l := range labels {
		indented.cells = append(indented.cells, "  "+l)
	}
	shown := 0
	for i, v := range s.Values {
		if s.Hessian == nil {
			break
		}
		if shown == maxHessians && !p.opts.All {
			p.prose("\nHessians of %s not shown: choose with --of, or write all with -o %s",
				plural(len(s.Values)-i, "objective"), wholeIn("npz", HasSensitivities))
			break
		}
		shown++
		p.line("")
		if !hasValue(v) {
			p.line("%s has no value, and so no Hessian", v.Name)
			continue
		}
		lead := indented
		lead.head = "Hessian of " + withUnit(v.Name, v.Unit)
		cols := []column{lead}
		for c, from := range at {
			one := column{head: labels[c]}
			for _, k := range at {
				switch {
				case from < 0:
					one.cells = append(one.cells, "…")
				default:
					one.cells = append(one.cells, cell(s.Hessian, s.HessianErrors, s.HessianTrusts,
						(i*s.Columns+from)*s.Columns, k))
				}
			}
			cols = append(cols, one)
		}
		p.columns(aligned(cols))
	}
	if s.Products != nil {
		p.line("")
		lead := indented
		lead.head = "Hessian times v of"
		v := column{head: "v"}
		for _, k := range at {
			v.cells = append(v.cells, cell(s.Direction, nil, nil, 0, k))
		}
		cols := []column{lead, v}
		for i, value := range s.Values {
			one := column{head: withUnit(value.Name, value.Unit)}
			if i == maxColumns && !p.opts.All {
				break
			}
			for _, k := range at {
				if !hasValue(value) {
					one.cells = append(one.cells, "-")
					continue
				}
				one.cells = append(one.cells, cell(s.Products, s.ProductErrors, s.ProductTrusts, i*s.Columns, k))
			}
			cols = append(cols, one)
		}
		p.columns(aligned(cols))
	}
}

// secondForm is second derivatives of an objective.
type secondForm struct {
	Hessian *hessianForm `json:"hessian,omitempty" at:"5"`
	HVP     *productForm `json:"hvp,omitempty" at:"5"`
}

// hessianForm is a Hessian over the elements of the variables, with the grades of its numbers where not all are sound.
// Uncertain are those without a sure digit, with their estimated errors, by rows: {"a": {"a": 3e-17, "b": 1e-16}}.
type hessianForm struct {
	Variables []string   `json:"variables"`
	Values    nested     `json:"values" at:"17"`
	Trust     [][]string `json:"trust,omitempty" at:"17"`
	Uncertain pairs      `json:"uncertain,omitempty" at:"17" each:"18"`
	OneSided  []halfForm `json:"one_sided,omitempty" at:"17"`
}

// halfForm is second derivatives that are no numbers, by a pair of elements, and where causes come at one time so.
type halfForm struct {
	By           []string `json:"by"`
	Coincidences []int    `json:"coincidences"`
}

// productForm is the product of a Hessian with the direction.
type productForm struct {
	byForm
	Trust     []string `json:"trust,omitempty"`
	Uncertain pairs    `json:"uncertain,omitempty"`
	// OneSided is the derivative along the direction, if it is another one on the other side, and what is no number.
	OneSided []sidedForm `json:"one_sided,omitempty"`
}

// secondOf returns the Hessian of objective i over its variables, and its product with the direction.
func secondOf(s *odes.Sensitivities, i int) (form secondForm) {
	c := s.Columns
	if s.Hessian != nil {
		h := &hessianForm{Variables: elements(s.Variables), Values: nested{[]int{c, c}, s.Second(i)}}
		for k := range c {
			if s.HessianTrusts != nil {
				h.Trust = append(h.Trust, gradesOf(s.HessianTrusts[(i*c+k)*c:][:c]))
			}
			if s.HessianErrors == nil {
				continue
			}
			row := unsureOf(s, s.Second(i)[k*c:(k+1)*c], s.HessianErrors, s.HessianTrusts, (i*c+k)*c)
			if row != nil {
				h.Uncertain = append(h.Uncertain, pair{h.Variables[k], row})
			}
		}
		for _, x := range s.OneSided.Seconds {
			if x.Value == i && x.Other != odes.Along {
				by := []string{columnName(s, x.Column), columnName(s, x.Other)}
				h.OneSided = append(h.OneSided, halfForm{by, x.Coincidences})
			}
		}
		form.Hessian = h
	}
	if s.Products != nil {
		row := s.Products[i*c : (i+1)*c]
		p := &productForm{byForm: byOf(s.Variables, row)}
		if s.ProductTrusts != nil {
			p.Trust = gradesOf(s.ProductTrusts[i*c : (i+1)*c])
		}
		if s.ProductErrors != nil {
			p.Uncertain = unsureOf(s, row, s.ProductErrors, s.ProductTrusts, i*c)
		}
		for k := range s.OneSided.Sides {
			if b := &s.OneSided.Sides[k]; b.Value == i && b.Column == odes.Along {
				along := sidesAt("direction", b.Left, b.Right)
				p.OneSided = append(p.OneSided, sidedForm{along, b.Coincidences})
			}
		}
		for _, x := range s.OneSided.Seconds {
			if x.Value == i && x.Other == odes.Along {
				p.OneSided = append(p.OneSided, sidedForm{sideForm{By: columnName(s, x.Column)}, x.Coincidences})
			}
		}
		form.HVP = p
	}
	return form
}

// unsureOf returns the elements of a row, which has its errors and grades from at on, that are sound but small beside
// their estimated errors, with these.
func unsureOf(s *odes.Sensitivities, row, errors []float64, trusts []odes.Trust, at int) (list pairs) {
	all := elements(s.Variables)
	for k, x := range row {
		if sound := trusts == nil || trusts[at+k] == odes.Sound; sound && unsure(x, errors[at+k]) {
			list = append(list, pair{all[k], errors[at+k]})
		}
	}
	return list
}

// gradesOf returns the words for grades.
func gradesOf(list []odes.Trust) []string {
	names := make([]string, len(list))
	for k, t := range list {
		names[k] = t.String()
	}
	return names
}

// elements names every element of the variables, in the order of a row of the gradient.
func elements(vars []odes.Variable) []string {
	var names []string
	for _, v := range vars {
		for k := range v.Size() {
			names = append(names, variableElement(v, k))
		}
	}
	return names
}
