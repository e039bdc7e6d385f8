package report

import (
	"fmt"
	"math"

	"odes.dev/odes/fit"
)

// population writes what a fit says of a population: standard errors by all formulas, and the subjects.
func (p *printer) population(r *fit.Result) {
	pop := r.Population
	if pop == nil {
		return
	}
	p.line("")
	p.line("OFV %s by %s (2 nll() - n log(2 pi), n = %d), %s", significant(pop.OFV, 8), pop.Method, pop.Measurements,
		countOf(len(pop.Subjects), "subject"))
	p.line("")
	cols := []column{
		{left: true}, {head: "CV %"}, {head: "std. error by R"}, {head: "by S"}, {head: "sandwich"},
	}
	for i := range r.Estimates {
		x := &r.Estimates[i]
		cv := ""
		if x.StdErr > 0 && x.Value != 0 {
			cv = significant(100*math.Abs(x.StdErr/x.Value), 3)
		}
		for k, cell := range []string{
			x.Text(), cv, end(pop.R[i], 4, ""), end(pop.S[i], 4, ""), end(pop.Sandwich[i], 4, ""),
		} {
			cols[k].cells = append(cols[k].cells, cell)
		}
	}
	p.columns(cols)
	if !math.IsNaN(pop.Condition) {
		p.prose("condition number of the correlation of the estimates: %s", significant(pop.Condition, 4))
	}
	p.covariances(r)
	p.line("")
	cols = []column{{left: true}, {head: "OFV"}}
	for _, e := range pop.Effects {
		cols = append(cols, column{head: e}, column{head: "±", left: true})
	}
	const most = 24
	for i := range pop.Subjects {
		s := &pop.Subjects[i]
		if i == most && len(pop.Subjects) > most+1 {
			break
		}
		cols[0].cells = append(cols[0].cells, s.Name)
		cols[1].cells = append(cols[1].cells, significant(s.OFV, 6))
		for k := range pop.Effects {
			mode, err := "", ""
			if s.Mode != nil {
				mode, err = significant(s.Mode[k], 4), significant(s.Errors[k], 2)
			}
			cols[2+2*k].cells = append(cols[2+2*k].cells, mode)
			cols[3+2*k].cells = append(cols[3+2*k].cells, err)
		}
	}
	cols[0].cells = append(cols[0].cells, "shrinkage %")
	cols[1].cells = append(cols[1].cells, "")
	for k, x := range pop.Shrinkage {
		cell := ""
		if !math.IsNaN(x) {
			cell = fmt.Sprintf("%.1f", 100*x)
		}
		cols[2+2*k].cells = append(cols[2+2*k].cells, cell)
		cols[3+2*k].cells = append(cols[3+2*k].cells, "")
	}
	p.columns(cols)
	if n := len(pop.Subjects); n > most+1 {
		p.prose("%s more are in --format json", countOf(n-most, "subject"))
	}
}

// covariances writes matrices of covariances as standard deviations and correlations.
func (p *printer) covariances(r *fit.Result) {
	for _, c := range r.Population.Covariances {
		p.line("")
		percent := significant(100*r.Settings.Level, 3) + " %"
		cols := []column{
			{left: true, head: c.Name},
			{head: "estimate"},
			{head: "± std. error"},
			{head: "CV %"},
			{head: percent + " from"},
			{head: "to"},
		}
		add := func(cells ...string) {
			for k, cell := range cells {
				cols[k].cells = append(cols[k].cells, cell)
			}
		}
		for i := range c.N {
			cv := ""
			if c.SDErr[i] > 0 {
				cv = significant(100*c.SDErr[i]/c.SD[i], 3)
			}
			add(fmt.Sprintf("sd [%d]", i+1), significant(c.SD[i], 5), end(c.SDErr[i], 3, ""), cv, "", "")
		}
		for i := range c.N {
			for j := range i {
				k := i*c.N + j
				if c.R[k] == 0 && math.IsNaN(c.RErr[k]) {
					continue // a zero of the text
				}
				add(fmt.Sprintf("correlation [%d,%d]", i+1, j+1), significant(c.R[k], 5), end(c.RErr[k], 3, ""), "",
					end(c.RLower[k], 5, ""), end(c.RUpper[k], 5, ""))
			}
		}
		p.columns(cols)
	}
}

// populationForm is a population in the JSON of a fit.
type populationForm struct {
	Method       string        `json:"method"`
	OFV          float64       `json:"ofv"`
	NLL          float64       `json:"nll"`
	Measurements int           `json:"measurements"`
	Errors       string        `json:"errors"`
	StdErrR      []float64     `json:"stderr_r" at:"4"`
	StdErrS      []float64     `json:"stderr_s"`
	Sandwich     []float64     `json:"stderr_sandwich"`
	Condition    float64       `json:"condition"`
	Covariances  []matrixForm  `json:"covariances,omitempty" at:"4" each:"6 "`
	Effects      []string      `json:"effects" at:"4"`
	Shrinkage    []float64     `json:"shrinkage"`
	Quadrature   float64       `json:"ofv_quadrature"`
	Subjects     []subjectForm `json:"subjects" at:"4" each:"6 "`
}

// matrixForm is a matrix of covariances that was searched for, as standard deviations and correlations.
type matrixForm struct {
	Name  string      `json:"name"`
	SD    []float64   `json:"sd"`
	SDErr []float64   `json:"sd_stderr"`
	R     [][]float64 `json:"correlations"`
	RErr  [][]float64 `json:"correlations_stderr"`
}

// subjectForm is a subject of it.
type subjectForm struct {
	Name   string    `json:"name"`
	OFV    float64   `json:"ofv"`
	Mode   []float64 `json:"effects" empty:"null"`
	Errors []float64 `json:"errors" empty:"null"`
	Modes  int       `json:"modes"`
	Doubt  string    `json:"doubt"`
}

func populationOf(r *fit.Result) *populationForm {
	pop := r.Population
	if pop == nil {
		return nil
	}
	f := &populationForm{
		Method: pop.Method, OFV: pop.OFV, NLL: pop.Value, Measurements: pop.Measurements, Errors: pop.Errors,
		StdErrR: pop.R, StdErrS: pop.S, Sandwich: pop.Sandwich, Condition: pop.Condition, Effects: pop.Effects,
		Shrinkage: pop.Shrinkage, Quadrature: math.NaN(),
	}
	if pop.Quadrature != nil {
		f.Quadrature = pop.Quadrature.OFV
	}
	for _, c := range pop.Covariances {
		m := matrixForm{Name: c.Name, SD: c.SD, SDErr: c.SDErr}
		for i := range c.N {
			m.R = append(m.R, c.R[i*c.N:(i+1)*c.N])
			m.RErr = append(m.RErr, c.RErr[i*c.N:(i+1)*c.N])
		}
		f.Covariances = append(f.Covariances, m)
	}
	for i := range pop.Subjects {
		s := &pop.Subjects[i]
		f.Subjects = append(f.Subjects, subjectForm{s.Name, s.OFV, s.Mode, s.Errors, s.Modes, s.Doubt})
	}
	return f
}
