package petab

import (
	"fmt"
	"strconv"
	"strings"
)

// tail writes what a problem adds to its model.
func (p *problem) tail() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, f := range p.functions {
		line("%s", f)
	}
	for _, d := range p.params {
		line("%s", d)
	}
	line("")
	p.data(&b)
	line("")
	for _, v := range p.observes {
		line("observe %s = %s ~ %s from %s.%[1]s", v.name, v.formula, v.noise, p.measured)
	}
	line("")
	if p.several() {
		for _, e := range p.bench {
			line("experiment %s {", e.name)
			for _, item := range e.items {
				line("  %s", item)
			}
			line("  use %s where condition == %s\n}", p.measured, strconv.Quote(e.name))
		}
		line("")
	}
	terms := append([]string{"nll()"}, p.terms...)
	loss := strings.Join(terms, " + ")
	if p.priors {
		loss += " - log_prior()"
	}
	line("objective %s = %s\n", p.loss, loss)
	if len(p.estimated) == 0 {
		return b.String()
	}
	line("sens { of = [%s]  wrt = [%s] }", p.loss, strings.Join(p.estimated, ", "))
	line("fit {\n  over = [%s]", strings.Join(p.estimated, ", "))
	if len(p.logs) > 0 {
		line("  log = [%s]", strings.Join(p.logs, ", "))
	}
	line("}")
	return b.String()
}

// several reports whether there are experiments: one that changes nothing is the run itself.
func (p *problem) several() bool {
	return len(p.bench) > 1 || len(p.bench) == 1 && len(p.bench[0].items) > 0
}

// data writes the table of all measurements. Those of one time in one experiment share rows.
func (p *problem) data(b *strings.Builder) {
	type place struct {
		experiment *experiment
		time       string
	}
	type entry struct {
		place
		cells map[string]string
	}
	byPlace := map[place][]*entry{}
	var all []*entry
	for _, v := range p.observes {
		used := map[place]int{}
		for i, r := range v.rows {
			time, ok := isNumber(r.get("time"))
			if !ok {
				p.errorAt(r, "the time %q is no number", r.get("time"))
			}
			at := place{p.experimentOf(r), time}
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
	column := func(name string, of func(*entry) string) {
		fmt.Fprintf(b, "  %s = [", name)
		width := 0
		for i, e := range all {
			text := of(e)
			switch {
			case i > 0 && width > 90:
				b.WriteString(",\n    ")
				width = 0
			case i > 0:
				b.WriteString(", ")
			}
			b.WriteString(text)
			width += len(text) + 2
		}
		b.WriteString("]\n")
	}
	fmt.Fprintf(b, "data %s {\n", p.measured)
	column("time", func(e *entry) string { return e.time })
	if p.several() {
		column("condition", func(e *entry) string { return strconv.Quote(e.experiment.name) })
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
	b.WriteString("}\n")
}

// experimentOf is that of a measurement.
func (p *problem) experimentOf(r row) *experiment {
	for _, e := range p.bench {
		if e.before == r.get("preequilibrationConditionId") && e.during == r.get("simulationConditionId") {
			return e
		}
	}
	return nil
}
