package petab

import (
	"strconv"
	"strings"

	"odes.dev/odes/internal/exchange/sbml"
	"odes.dev/odes/lang/source"
)

// tail writes what a problem adds to its model.
func (p *problem) tail() *sbml.Items {
	w := &sbml.Items{}
	for _, f := range p.functions {
		w.Item("%s", f)
	}
	for _, d := range p.params {
		w.From(d.from.origin("parameter %s", d.from.get("parameterId")))
		w.Item("%s", d.text)
	}
	w.Line("")
	first := p.observes[0].rows[0].of.file // there are some
	w.From(source.Origin{Span: source.Span{File: first}, What: "measurements"})
	p.data(w)
	w.Line("")
	for _, v := range p.observes {
		w.From(v.of.origin("observable %s", v.of.get("observableId")))
		w.Item("observe %s = %s ~ %s from %s.%[1]s", v.name, v.formula, v.noise, p.measured)
	}
	w.Line("")
	if p.several() {
		for _, e := range p.bench {
			w.From(e.from)
			w.Item("experiment %s {", e.name)
			for _, item := range e.items {
				w.Line("  %s", item)
			}
			w.Line("  use %s where %s == %s\n}", p.measured, conditionColumn, strconv.Quote(e.name))
		}
		w.Line("")
	}
	w.From(source.Origin{})
	terms := append([]string{"nll()"}, p.terms...)
	loss := strings.Join(terms, " + ")
	if p.priors {
		loss += " - log_prior()"
	}
	if p.normaliser != 0 {
		loss += " + (" + decimal(p.normaliser) + ")"
	}
	w.Item("objective %s = %s\n", p.loss, loss)
	if len(p.estimated) == 0 {
		return w
	}
	w.Item("sens { of = [%s]  wrt = [%s] }", p.loss, strings.Join(p.estimated, ", "))
	w.Item("fit {\n  over = [%s]", strings.Join(p.estimated, ", "))
	if len(p.logs) > 0 {
		w.Line("  log = [%s]", strings.Join(p.logs, ", "))
	}
	w.Line("}")
	return w
}

// several reports whether there are experiments: one that changes nothing is the run itself.
func (p *problem) several() bool {
	return len(p.bench) > 1 || len(p.bench) == 1 && len(p.bench[0].items) > 0
}

// The columns of the table that are no measurements.
const (
	timeColumn      = "time"
	conditionColumn = "condition"
)

// place is where measurements share a row of the table.
type place struct {
	experiment *experiment
	time       string
}

// place says where a measurement stands.
func (p *problem) place(r row) place {
	time, _ := isNumber(r.get("time"))
	if !p.two {
		return place{p.byConditions[conditionsOf(r)], time}
	}
	e := p.byID[r.get("experimentId")]
	if t, err := strconv.ParseFloat(time, 64); err == nil && p.shift != "" {
		time = decimal(t - e.start)
	}
	return place{e, time}
}

// entry is a row of the table of all measurements.
type entry struct {
	place
	cells map[string]string
}

// entries returns the rows of the table of all measurements. Those of one time in one experiment share rows.
func (p *problem) entries() []*entry {
	byPlace := map[place][]*entry{}
	var all []*entry
	for _, v := range p.observes {
		used := map[place]int{}
		for i, r := range v.rows {
			at := p.place(r)
			n := used[at]
			used[at]++
			if n == len(byPlace[at]) {
				e := &entry{at, map[string]string{}}
				byPlace[at] = append(byPlace[at], e)
				all = append(all, e)
			}
			for k, column := range v.columns {
				byPlace[at][n].cells[column] = v.cells[i][k]
			}
		}
	}
	return all
}

// data writes the table of all measurements.
func (p *problem) data(w *sbml.Items) {
	all := p.entries()
	w.Item("data %s {", p.measured)
	column := func(name string, of func(*entry) string) {
		line, lines := "", []string{}
		for _, e := range all {
			if len(line) > 90 {
				lines, line = append(lines, line), ""
			}
			line += of(e) + ", "
		}
		w.Line("  %s = [%s]", name, strings.TrimSuffix(strings.Join(append(lines, line), "\n    "), ", "))
	}
	column(timeColumn, func(e *entry) string { return e.time })
	if p.several() {
		column(conditionColumn, func(e *entry) string { return strconv.Quote(e.experiment.name) })
	}
	for _, v := range p.observes {
		for _, name := range v.columns {
			column(name, func(e *entry) string {
				if cell, ok := e.cells[name]; ok {
					return cell
				}
				return "nan"
			})
		}
	}
	w.Line("}")
}
