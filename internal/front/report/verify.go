package report

import (
	"bufio"
	"io"
	"slices"
	"strconv"

	"odes.dev/odes"
)

// verifyJSON writes what a check of gradients found.
func verifyJSON(w io.Writer, h Heading, v *odes.Verification, _ TableOptions) error {
	j := newJSON(w)
	j.raw("{\n  \"model\": ")
	j.named(&h)
	j.raw(", \"file\": ")
	j.text(h.File)
	j.raw(", \"mode\": ")
	j.text(v.Settings.Mode)
	j.raw(", \"directions\": ")
	j.int(int64(v.Directions))
	j.raw(", \"second\": ")
	j.text(v.CrossCheck)
	j.raw(", \"steps\": ")
	j.array([]int{len(v.Steps)}, v.Steps)
	j.raw(",\n  \"objectives\": [")
	for i, o := range v.Objectives {
		if i > 0 {
			j.raw(",")
		}
		j.raw("\n    {\"name\": ")
		j.text(o.Name)
		j.raw(", \"value\": ")
		j.number(o.Value)
		j.raw(", \"verdict\": ")
		j.text(o.Outcome)
		j.raw(", \"complex_error\": ")
		j.number(o.Complex)
		if v.CrossCheck != "" {
			j.raw(", \"second_error\": ")
			j.number(o.CrossCheck)
		}
		if v.Settings.CheckedBy != "" {
			j.raw(", \"independent_error\": ")
			j.number(o.Independent)
		}
		if o.Refined > 0 {
			j.raw(", \"refined_error\": ")
			j.number(o.Refined)
		}
		if v.Curvature {
			j.raw(", \"hessian_error\": ")
			j.number(o.Curvature)
		}
		j.raw(", \"remainders\": ")
		j.array([]int{len(o.Remainders)}, o.Remainders)
		j.raw(", \"order\": ")
		j.number(o.Order)
		j.raw("}")
	}
	j.raw("\n  ]")
	if v.Settings.CheckedBy != "" {
		j.raw(",\n  \"checked_by\": ")
		j.text(v.Settings.CheckedBy)
		j.raw(", \"strange_event\": ")
		j.text(v.Strange)
	}
	j.raw("\n}\n")
	return j.w.Flush()
}

// VerifyTable writes what a check of gradients found, for people.
func VerifyTable(w io.Writer, h Heading, v *odes.Verification, opts TableOptions) error {
	p := &printer{w: bufio.NewWriter(w), opts: opts}
	p.prose("%s (%s): %s gradients, against complex steps along %s\n",
		h.title(), h.File, v.Settings.Mode, plural(v.Directions, "random direction"))
	name := column{head: "objective", left: true}
	verdict := column{head: "verdict", left: true}
	complexStep := column{head: "complex step"}
	crossCheck := column{head: v.CrossCheck}
	independent := column{head: "independent run"}
	refined := column{head: "refined"}
	curvature := column{head: "Hessian"}
	anyRefined := false
	for _, o := range v.Objectives {
		name.cells = append(name.cells, o.Name)
		verdict.cells = append(verdict.cells, o.Outcome)
		if o.Outcome == "no value" {
			for _, c := range []*column{&complexStep, &crossCheck, &independent, &refined, &curvature} {
				c.cells = append(c.cells, "-")
			}
			continue
		}
		text := "-"
		if o.Refined > 0 {
			anyRefined, text = true, significant(o.Refined, 2)
		}
		refined.cells = append(refined.cells, text)
		complexStep.cells = append(complexStep.cells, significant(o.Complex, 2))
		crossCheck.cells = append(crossCheck.cells, significant(o.CrossCheck, 2))
		independent.cells = append(independent.cells, significant(o.Independent, 2))
		curvature.cells = append(curvature.cells, significant(o.Curvature, 2))
	}
	cols := []column{name, verdict, complexStep}
	if v.CrossCheck != "" {
		cols = append(cols, crossCheck)
	}
	if v.Settings.CheckedBy != "" {
		cols = append(cols, independent)
	}
	if anyRefined {
		cols = append(cols, refined)
	}
	if v.Curvature {
		cols = append(cols, curvature)
	}
	p.columns(cols)
	if v.Curvature {
		p.prose("\nHessian: second derivatives along a direction, against differences of complex steps")
	}
	if anyRefined {
		p.prose("\nrefined: against %s, both with tighter tolerances", v.CrossCheck)
		for _, o := range v.Objectives {
			if o.Outcome == "inaccurate" {
				p.prose("inaccurate: discretization explains the difference, but leaves fewer than three digits; " +
					"tighten tolerances, or use a mode that differentiates the steps taken")
				break
			}
		}
	}
	if slices.ContainsFunc(v.Objectives, func(o odes.Verdict) bool { return o.Outcome == "discrete only" }) {
		p.prose("\ndiscrete only: the gradient is that of the steps taken, but it, the value or the events are not " +
			"those of an independent run")
	}
	if v.Strange != "" {
		p.prose("%s", v.Strange)
	}
	if v.Settings.CheckedBy != "" {
		p.prose("\nindependent run: %s", v.Settings.CheckedBy)
	}
	p.remainders(v)
	if v.Large {
		p.prose("\nthe gradient is too large to be computed twice: tangents only along the directions; " +
			"choose with --of and --wrt for every derivative")
	}
	return p.w.Flush()
}

// remainders writes the Taylor table: one column for each length of a move.
func (p *printer) remainders(v *odes.Verification) {
	if len(v.Steps) == 0 {
		return
	}
	p.prose("\nremainder of a move by ε along the first direction; its order is 2 where the gradient is right")
	name := column{head: "ε", left: true}
	cols := make([]column, len(v.Steps))
	order := column{head: "order"}
	for k, eps := range v.Steps {
		cols[k].head = significant(eps, 1)
	}
	for _, o := range v.Objectives {
		if o.Remainders == nil {
			continue
		}
		name.cells = append(name.cells, o.Name)
		for k, r := range o.Remainders {
			cols[k].cells = append(cols[k].cells, significant(r, 2))
		}
		text := "-" // nothing above rounding
		if o.Order == o.Order {
			text = strconv.FormatFloat(o.Order, 'f', 2, 64)
		}
		order.cells = append(order.cells, text)
	}
	p.columns(append(append([]column{name}, cols...), order))
}
