package report

import (
	"bufio"
	"io"
	"slices"
	"strconv"

	"odes.dev/odes"
)

// verifyForm is what a check of gradients found.
type verifyForm struct {
	Model      string        `json:"model" at:"2"`
	Experiment string        `json:"experiment,omitempty"`
	File       string        `json:"file"`
	Mode       string        `json:"mode"`
	Directions int           `json:"directions"`
	Second     string        `json:"second"`
	Steps      []float64     `json:"steps"`
	Objectives []verdictForm `json:"objectives" at:"2" each:"4" end:"2"`
	CheckedBy  string        `json:"checked_by,omitempty" at:"2"`
	Strange    *string       `json:"strange_event,omitempty"`
}

type verdictForm struct {
	Name        string     `json:"name"`
	Value       float64    `json:"value"`
	Outcome     string     `json:"verdict"`
	Complex     float64    `json:"complex_error"`
	CrossCheck  *float64   `json:"second_error,omitempty"`
	Independent *float64   `json:"independent_error,omitempty"`
	Refined     *float64   `json:"refined_error,omitempty"`
	Curvature   *float64   `json:"hessian_error,omitempty"`
	OneSided    []sideForm `json:"one_sided,omitempty"`
	Remainders  []float64  `json:"remainders"`
	Order       float64    `json:"order"`
}

// sideForm is a derivative on both sides; of what leaps, the values.
type sideForm struct {
	By     string    `json:"by"`
	Left   *float64  `json:"left"`
	Right  *float64  `json:"right"`
	Values []float64 `json:"values,omitempty"`
}

// sidesOf lists what objective i has on both sides.
func sidesOf(v *odes.Verification, i int) (list []sideForm) {
	for k := range v.OneSided {
		switch x := &v.OneSided[k]; {
		case x.Objective != i:
		case x.Leap:
			list = append(list, sideForm{By: x.By, Values: []float64{x.Left, x.Right}})
		default:
			list = append(list, sidesAt(x.By, x.Left, x.Right))
		}
	}
	return list
}

// verifyJSON writes what a check of gradients found.
func verifyJSON(w io.Writer, h Heading, v *odes.Verification, _ TableOptions) error {
	f := verifyForm{
		Model: h.Model, Experiment: h.Experiment, File: h.File, Mode: v.Settings.Mode, Directions: v.Directions,
		Second: v.CrossCheck, Steps: v.Steps, CheckedBy: v.Settings.CheckedBy,
	}
	if f.CheckedBy != "" {
		f.Strange = &v.Strange
	}
	where := func(is bool, x *float64) *float64 {
		if is {
			return x
		}
		return nil
	}
	for i := range v.Objectives {
		o := &v.Objectives[i]
		f.Objectives = append(f.Objectives, verdictForm{
			Name: o.Name, Value: o.Value, Outcome: o.Outcome, Complex: o.Complex,
			CrossCheck:  where(v.CrossCheck != "", &o.CrossCheck),
			Independent: where(f.CheckedBy != "", &o.Independent),
			Refined:     where(o.Refined > 0, &o.Refined),
			Curvature:   where(v.Curvature, &o.Curvature),
			OneSided:    sidesOf(v, i),
			Remainders:  o.Remainders, Order: o.Order,
		})
	}
	return writeJSON(w, f)
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
	p.verifiedSides(v)
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

// verifiedSides writes what is another one on the other side: the gradient that is checked is that of the run's order.
func (p *printer) verifiedSides(v *odes.Verification) {
	var list, leaps []string
	for _, x := range v.OneSided {
		to := &list
		if x.Leap {
			to = &leaps
		}
		*to = append(*to, v.Objectives[x.Objective].Name+" by "+x.By+" "+comes(x.Left)+" | "+comes(x.Right))
	}
	p.someOf("one-sided, left | right (checked is that of the run's order): ", list)
	p.someOf("leaps, value on the left | on the right: ", leaps)
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
