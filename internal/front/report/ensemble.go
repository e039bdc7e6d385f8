package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/ensemble"
	"odes.dev/odes/lang/diag"
)

// Ensemble is what there is to say of an ensemble.
type Ensemble struct {
	Problem    *ensemble.Problem
	Statistics *ensemble.Statistics
	Findings   *ensemble.Findings // nil where the members are not all done
	// Status is "ok", "failed" where all members failed, or "partial" where some did, lack a value, are not confirmed
	// or are missing.
	Status string
	// Indices, Effects and Derivatives say which values matter; nil where nobody asked. Left is how many groups of
	// members they leave out.
	Indices     []ensemble.Index
	Effects     []ensemble.Effect
	Derivatives []ensemble.Derivative
	Left        int
	Values      *ensemble.Values // for pictures; nil where nobody asked
}

// Warnings are those of all members, and what comparisons found.
func (e *Ensemble) Warnings() []diag.Diagnostic {
	list := e.Problem.Warnings()
	if e.Findings != nil {
		list = append(list, e.Findings.Warnings()...)
	}
	return list
}

// quantiles are those that are shown.
var quantiles = []float64{0.05, 0.25, 0.5, 0.75, 0.95}

// ensembleDigits is how many digits of statistics are shown.
const ensembleDigits = 6

func rounded(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return significant(x, ensembleDigits)
}

// EnsembleTable writes statistics for people.
func EnsembleTable(w io.Writer, h Heading, e *Ensemble, opts TableOptions) error {
	p := &printer{w: bufio.NewWriter(w), opts: opts}
	s, t := e.Statistics, &e.Problem.Table
	p.prose("%s", ensembleHead(h, e))
	if text := axesOf(e.Problem); text != "" {
		p.prose("%s", text)
	}
	if f := e.Findings; f != nil {
		p.prose("%s", comparedText(f, t.Members))
	}
	values := s.Columns[:len(t.Values)]
	if len(values) > 0 {
		p.line("")
		lead := column{left: true}
		var cols []column
		for k, c := range t.Values {
			head := column{head: withUnit(c.Name, c.Unit)}
			for _, line := range statistics(&values[k]) {
				if k == 0 {
					lead.cells = append(lead.cells, line.name)
				}
				head.cells = append(head.cells, rounded(line.x))
			}
			cols = append(cols, head)
		}
		p.columns(append([]column{lead}, cols...))
	}
	if len(t.Gradient) > 0 && e.Derivatives == nil {
		p.line("")
		p.line("mean derivative by")
		lead := column{left: true}
		var labels []string
		for _, v := range t.Variables {
			for i := range v.Size() {
				labels = append(labels, variableElement(v, i))
			}
		}
		picks := p.picks(len(labels))
		for _, k := range picks {
			lead.cells = append(lead.cells, labelOf(labels, k))
		}
		cols := []column{lead}
		for i, c := range t.Values {
			col := column{head: c.Name}
			for _, k := range picks {
				text := "…"
				if k >= 0 {
					text = rounded(s.Columns[len(t.Values)+i*t.Columns+k].Mean)
				}
				col.cells = append(col.cells, text)
			}
			cols = append(cols, col)
		}
		p.columns(cols)
	}
	p.global(e)
	for k, c := range t.Values {
		if n := values[k].Missing; n > 0 {
			p.line("")
			p.prose("%s has no value in %s, and its statistics are those of the others", c.Name, plural(n, "member"))
		}
	}
	if s.Failed > 0 {
		p.line("")
		p.prose("%s failed: %s", plural(s.Failed, "member"), countCodes(s))
		for _, f := range s.Failures[:min(3, len(s.Failures))] {
			p.prose("  member %d: %s", f.Member+1, f.Message)
		}
	}
	if i := slices.IndexFunc(s.Columns, func(c ensemble.Summary) bool { return !c.Sketch.Exact() }); i >= 0 {
		p.line("")
		p.prose("quantiles are estimates, whose ranks are off by %.2g %% at most", 100*s.Columns[i].Sketch.Error())
	}
	return p.w.Flush()
}

// axesOf says how values lie along ranges; "" where there are none.
func axesOf(p *ensemble.Problem) string {
	var list []string
	for _, a := range p.Job.Design.Axes {
		if how := a.Spacing(); how != "" {
			unit := ""
			if a.Unit != "" {
				unit = " " + a.Unit
			}
			list = append(list, fmt.Sprintf("%s from %s to %s%s, %s", a.Name, endOf(a.Args[0]),
				endOf(a.Args[1]), unit, how))
		}
	}
	return strings.Join(list, "; ")
}

// endOf writes the end of a range.
func endOf(x ensemble.Real) string { return strconv.FormatFloat(float64(x), 'g', ensembleDigits, 64) }

// comparedText says how many of n members were compared with independent runs, and what was found.
func comparedText(f *ensemble.Findings, n int) string {
	what := fmt.Sprintf("%d of these", f.Compared)
	switch f.Compared {
	case 0:
		return "none compared with an independent run"
	case n:
		what = "all"
	}
	found := "all confirmed"
	if f.Unconfirmed > 0 {
		found = fmt.Sprintf("%d not confirmed", f.Unconfirmed)
	}
	if f.Minor > 0 {
		found += fmt.Sprintf(", %d with small numbers of which few digits are right", f.Minor)
	}
	if f.Controlled {
		found += "; derivatives under error control"
	}
	return fmt.Sprintf("%s compared with an independent run each: %s", what, found)
}

func labelOf(labels []string, k int) string {
	if k < 0 {
		return "  …"
	}
	return "  " + labels[k]
}

// ensembleHead says how many members there are, and how they ended.
func ensembleHead(h Heading, e *Ensemble) string {
	s, n := e.Statistics, e.Problem.Table.Members
	text := h.Model
	if h.File != "" && h.File != h.Model {
		text += " (" + h.File + ")"
	}
	text += ", " + plural(n, "member")
	if done := s.Members(); done < n {
		text += fmt.Sprintf(", of which %d are done", done)
	}
	var parts []string
	for _, c := range []struct {
		n    int
		name string
	}{{s.OK, "ok"}, {s.Partial, "partial"}, {s.Failed, "failed"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.name))
		}
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

type statistic struct {
	name string
	x    float64
}

func statistics(s *ensemble.Summary) []statistic {
	mean, lo, hi := s.Mean, s.Min, s.Max
	if s.N == 0 {
		mean, lo, hi = math.NaN(), math.NaN(), math.NaN()
	}
	list := []statistic{{"mean", mean}, {"sd", s.SD()}, {"min", lo}}
	for i, x := range s.Sketch.Quantiles(quantiles...) {
		list = append(list, statistic{fmt.Sprintf("%g %%", 100*quantiles[i]), x})
	}
	return append(list, statistic{"max", hi})
}

// countCodes says how many members failed of what.
func countCodes(s *ensemble.Statistics) string {
	var codes []string
	for code := range s.Codes {
		codes = append(codes, code)
	}
	slices.SortFunc(codes, func(a, b string) int {
		if s.Codes[a] != s.Codes[b] {
			return s.Codes[b] - s.Codes[a]
		}
		return strings.Compare(a, b)
	})
	for i, code := range codes {
		codes[i] = fmt.Sprintf("%d %s", s.Codes[code], code)
	}
	return strings.Join(codes, ", ")
}

// global writes which values matter.
func (p *printer) global(e *Ensemble) {
	estimate := func(x ensemble.Estimate) string {
		if math.IsNaN(x.Value) {
			return "-"
		}
		return fmt.Sprintf("%s [%s, %s]", significant(x.Value, 4), significant(x.Lower, 3), significant(x.Upper, 3))
	}
	table := func(n int, objective func(i int) string, heads []string, cells func(i int) []string) {
		for from := 0; from < n; {
			to := from
			for to < n && objective(to) == objective(from) {
				to++
			}
			p.line("")
			cols := []column{{head: objective(from), left: true}}
			for _, h := range heads {
				cols = append(cols, column{head: h})
			}
			for i := from; i < to; i++ {
				for k, text := range cells(i) {
					cols[k].cells = append(cols[k].cells, text)
				}
			}
			p.columns(cols)
			from = to
		}
	}
	table(len(e.Indices), func(i int) string { return e.Indices[i].Objective },
		[]string{"first order [95 %]", "total [95 %]"}, func(i int) []string {
			x := e.Indices[i]
			return []string{"  " + x.Axis, estimate(x.First), estimate(x.Total)}
		})
	table(len(e.Effects), func(i int) string { return e.Effects[i].Objective },
		[]string{"mean |effect| [95 %]", "mean effect", "sd"}, func(i int) []string {
			x := e.Effects[i]
			return []string{"  " + x.Axis, estimate(x.Size), significant(x.Mean.Value, 4), significant(x.SD.Value, 4)}
		})
	table(len(e.Derivatives), func(i int) string { return e.Derivatives[i].Objective },
		[]string{"mean squared derivative [95 %]", "total index at most"}, func(i int) []string {
			x := e.Derivatives[i]
			bound := "-"
			if !math.IsNaN(x.Bound.Value) {
				bound = significant(x.Bound.Value, 4)
			}
			return []string{"  " + x.Axis, estimate(x.Mean), bound}
		})
	if e.Left > 0 {
		p.line("")
		p.prose("%s of members left out, of which some failed", plural(e.Left, "group"))
	}
}

// EnsembleJSON writes statistics for programs.
func EnsembleJSON(w io.Writer, h Heading, e *Ensemble, _ TableOptions) error {
	j := newJSON(w)
	s, t := e.Statistics, &e.Problem.Table
	j.raw("{\n  \"schema\": 1, \"status\": ")
	j.text(e.Status)
	j.raw(", \"model\": ")
	j.text(h.Model)
	j.raw(", \"file\": ")
	j.text(h.File)
	j.raw(", \"job\": ")
	j.text(e.Problem.ID)
	j.raw(",\n  \"members\": ")
	j.int(int64(t.Members))
	for _, c := range []struct {
		name string
		n    int
	}{{"ok", s.OK}, {"partial", s.Partial}, {"failed", s.Failed}} {
		j.raw(", ")
		j.text(c.name)
		j.raw(": ")
		j.int(int64(c.n))
	}
	j.compared(e.Findings)
	j.raw(",\n  \"axes\": [")
	for k, a := range e.Problem.Job.Design.Axes {
		j.separate(k, "\n    ")
		j.raw(`{"name": `)
		j.text(a.Name)
		j.raw(`, "spacing": `)
		j.text(cmp.Or(a.Spacing(), a.Dist))
		j.raw("}")
	}
	j.raw("]")
	j.raw(",\n  \"objectives\": [")
	for k, c := range t.Values {
		j.separate(k, "\n    ")
		j.summary(c, &s.Columns[k])
	}
	j.raw("],\n  \"derivatives\": [")
	for k, c := range t.Gradient {
		j.separate(k, "\n    ")
		j.summary(c, &s.Columns[len(t.Values)+k])
	}
	j.raw("]")
	if len(t.Series) > 0 {
		j.raw(",\n  \"times\": ")
		j.array([]int{len(t.Times)}, t.Times)
		j.raw(",\n  \"series\": [")
		for k, c := range t.Series {
			j.separate(k, "\n    ")
			j.raw(`{"name": `)
			j.text(c.Name)
			j.raw(`, "unit": `)
			j.text(c.Unit)
			j.raw(`, "statistics": [`)
			for i := range t.Times {
				j.separate(i, "\n      ")
				j.summary(Column{}, &s.Columns[len(t.Values)+len(t.Gradient)+i*len(t.Series)+k])
			}
			j.raw("]}")
		}
		j.raw("]")
	}
	j.estimates(e)
	if list := e.Warnings(); list != nil {
		j.warnings(list)
	}
	j.raw(",\n  \"failures\": [")
	for k, f := range s.Failures {
		j.separate(k, "\n    ")
		j.raw(`{"member": `)
		j.int(int64(f.Member + 1))
		j.raw(`, "code": `)
		j.text(f.Code)
		j.raw(`, "message": `)
		j.text(f.Message)
		j.raw("}")
	}
	j.raw("]\n}\n")
	return j.w.Flush()
}

// compared writes what comparisons found.
func (j *jsonWriter) compared(f *ensemble.Findings) {
	if f == nil {
		return
	}
	j.raw(",\n  \"compared\": {\"members\": ")
	j.int(int64(f.Compared))
	j.raw(`, "unconfirmed": `)
	j.int(int64(f.Unconfirmed))
	j.raw(`, "minor": `)
	j.int(int64(f.Minor))
	j.raw(`, "controlled": `)
	j.raw(strconv.FormatBool(f.Controlled))
	j.raw(`, "doubts": [`)
	for k, d := range f.Doubts {
		j.separate(k, "\n    ")
		j.raw(`{"member": `)
		j.int(int64(d.Member + 1))
		j.raw(`, "lost": `)
		j.raw(strconv.FormatBool(d.Lost))
		j.raw(`, "minor": `)
		j.raw(strconv.FormatBool(d.Minor))
		j.raw(`, "message": `)
		j.text(d.Message)
		j.raw("}")
	}
	j.raw("]}")
}

// Column is that of an ensemble.
type Column = ensemble.Column

// separate writes what stands before element k of a list.
func (j *jsonWriter) separate(k int, before string) {
	if k > 0 {
		j.raw(",")
	}
	j.raw(before)
}

// summary writes statistics of one column.
func (j *jsonWriter) summary(c Column, s *ensemble.Summary) {
	j.raw("{")
	if c.Name != "" {
		j.raw(`"name": `)
		j.text(c.Name)
		j.raw(`, "unit": `)
		j.text(c.Unit)
		j.raw(", ")
	}
	j.raw(`"n": `)
	j.int(int64(s.N))
	j.raw(`, "missing": `)
	j.int(int64(s.Missing))
	for _, x := range statistics(s) {
		j.raw(", ")
		j.text(strings.ReplaceAll(x.name, " ", ""))
		j.raw(": ")
		j.number(x.x)
	}
	j.raw(`, "rank_error": `)
	j.number(s.Sketch.Error())
	j.raw("}")
}

// estimates writes which values matter.
func (j *jsonWriter) estimates(e *Ensemble) {
	type part struct {
		name string
		x    ensemble.Estimate
	}
	list := func(key string, n int, of func(i int) (objective, axis string, parts []part)) {
		if n == 0 {
			return
		}
		j.raw(",\n  ")
		j.text(key)
		j.raw(": [")
		for i := range n {
			j.separate(i, "\n    ")
			objective, axis, parts := of(i)
			j.raw(`{"objective": `)
			j.text(objective)
			j.raw(`, "by": `)
			j.text(axis)
			for _, p := range parts {
				j.raw(", ")
				j.text(p.name)
				j.raw(": ")
				j.array([]int{3}, []float64{p.x.Value, p.x.Lower, p.x.Upper})
			}
			j.raw("}")
		}
		j.raw("]")
	}
	list("sobol", len(e.Indices), func(i int) (string, string, []part) {
		x := e.Indices[i]
		return x.Objective, x.Axis, []part{{"first", x.First}, {"first_jansen", x.Jansen}, {"total", x.Total}}
	})
	list("morris", len(e.Effects), func(i int) (string, string, []part) {
		x := e.Effects[i]
		return x.Objective, x.Axis, []part{{"mean", x.Mean}, {"size", x.Size}, {"sd", x.SD}}
	})
	list("dgsm", len(e.Derivatives), func(i int) (string, string, []part) {
		x := e.Derivatives[i]
		return x.Objective, x.Axis, []part{{"mean", x.Mean}, {"bound", x.Bound}}
	})
	if e.Left > 0 {
		j.raw(",\n  \"left_out\": ")
		j.int(int64(e.Left))
	}
}
