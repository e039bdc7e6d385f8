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
	cell := func(row []float64, k int) string {
		if k < 0 {
			return "…"
		}
		return significant(row[k], n)
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
					one.cells = append(one.cells, cell(s.Second(i)[from*s.Columns:][:s.Columns], k))
				}
			}
			cols = append(cols, one)
		}
		p.columns(cols)
	}
	if s.Products != nil {
		p.line("")
		lead := indented
		lead.head = "Hessian times v of"
		v := column{head: "v"}
		for _, k := range at {
			v.cells = append(v.cells, cell(s.Direction, k))
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
				one.cells = append(one.cells, cell(s.Products[i*s.Columns:(i+1)*s.Columns], k))
			}
			cols = append(cols, one)
		}
		p.columns(cols)
	}
}

// second writes the Hessian of objective i over its variables, and its product with the direction.
func (j *jsonWriter) second(s *odes.Sensitivities, i int) {
	c := s.Columns
	if s.Hessian != nil {
		j.raw(",\n     \"hessian\": {\"variables\": ")
		j.texts(elements(s.Variables))
		j.raw(",\n                 \"values\": ")
		j.array([]int{c, c}, s.Second(i))
		j.raw("}")
	}
	if s.Products != nil {
		row := s.Products[i*c : (i+1)*c]
		j.raw(",\n     \"hvp\": {\"params\": ")
		j.derivatives(s.Variables, row, false)
		j.raw(", \"initial\": ")
		j.derivatives(s.Variables, row, true)
		j.raw("}")
	}
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
