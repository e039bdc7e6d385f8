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
	// Rows are the numbers of the members of a sweep that is short enough to be read, and Ends how they ended.
	Rows [][]float64
	Ends []ensemble.Status
}

// Readable is how many members of a sweep are listed, in place of their statistics.
const Readable = 50

// listed tells whether the members themselves are shown.
func (e *Ensemble) listed() bool { return len(e.Rows) > 0 && len(e.Rows) == e.Problem.Table.Members }

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
	switch {
	case len(values) == 0:
	case e.listed():
		p.members(e)
	default:
		p.statistics(t.Values, values)
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
			text := ", and its statistics are those of the others"
			if e.listed() {
				text = ""
			}
			p.prose("%s has no value in %s%s", c.Name, plural(n, "member"), text)
		}
	}
	if s.Failed > 0 {
		p.line("")
		p.prose("%s failed: %s", plural(s.Failed, "member"), countCodes(s))
		for _, f := range s.Failures[:min(3, len(s.Failures))] {
			p.prose("  member %d: %s", f.Member+1, f.Message)
		}
	}
	estimate := func(c ensemble.Summary) bool { return !c.Sketch.Exact() }
	if i := slices.IndexFunc(s.Columns, estimate); i >= 0 && !e.listed() {
		p.line("")
		p.prose("quantiles are estimates, whose ranks are off by %.2g %% at most", 100*s.Columns[i].Sketch.Error())
	}
	return p.w.Flush()
}

// statistics writes means, quantiles and what else there is of the numbers of all members.
func (p *printer) statistics(of []ensemble.Column, values []ensemble.Summary) {
	p.line("")
	lead := column{left: true}
	var cols []column
	for k, c := range of {
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

// members writes a line for each member: what it set, and its objectives.
func (p *printer) members(e *Ensemble) {
	p.line("")
	t := &e.Problem.Table
	notes := make([]string, t.Members)
	for i, end := range e.Ends {
		if end == ensemble.Failed {
			notes[i] = "failed"
		}
	}
	if e.Findings != nil {
		for _, d := range e.Findings.Doubts {
			if !d.Minor {
				notes[d.Member] = "! not confirmed"
			}
		}
	}
	var cols []column
	for k, c := range slices.Concat(t.Params, t.Values) {
		col := column{head: withUnit(c.Name, c.Unit)}
		for _, row := range e.Rows {
			col.cells = append(col.cells, rounded(row[k]))
		}
		cols = append(cols, col)
	}
	if slices.ContainsFunc(notes, func(text string) bool { return text != "" }) {
		cols = append(cols, column{left: true, cells: notes})
	}
	p.columns(cols)
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

// ensembleForm is statistics of an ensemble.
type ensembleForm struct {
	Schema  int    `json:"schema" at:"2"`
	Status  string `json:"status"`
	Model   string `json:"model"`
	File    string `json:"file"`
	Job     string `json:"job"`
	Members int    `json:"members" at:"2"`
	OK      int    `json:"ok"`
	Partial int    `json:"partial"`
	Failed  int    `json:"failed"`

	Compared    *comparedForm       `json:"compared,omitempty" at:"2"`
	Axes        []axisForm          `json:"axes" at:"2" each:"4"`
	Objectives  []pairs             `json:"objectives" at:"2" each:"4"`
	Derivatives []pairs             `json:"derivatives" at:"2" each:"4"`
	Times       []float64           `json:"times,omitempty" at:"2"`
	Series      []seriesForm        `json:"series,omitempty" at:"2" each:"4"`
	Sobol       []pairs             `json:"sobol,omitempty" at:"2" each:"4"`
	Morris      []pairs             `json:"morris,omitempty" at:"2" each:"4"`
	DGSM        []pairs             `json:"dgsm,omitempty" at:"2" each:"4"`
	Left        int                 `json:"left_out,omitempty" at:"2"`
	Warnings    []diag.Diagnostic   `json:"warnings,omitempty" at:"2" each:"4" end:"2?"`
	Failures    []memberFailureForm `json:"failures" at:"2" each:"4"`
}

type (
	axisForm struct {
		Name    string `json:"name"`
		Spacing string `json:"spacing"`
	}
	seriesForm struct {
		Name       string  `json:"name"`
		Unit       string  `json:"unit"`
		Statistics []pairs `json:"statistics" each:"6"`
	}
	memberFailureForm struct {
		Member  int    `json:"member"`
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	// comparedForm is what comparisons found.
	comparedForm struct {
		Members     int         `json:"members"`
		Unconfirmed int         `json:"unconfirmed"`
		Minor       int         `json:"minor"`
		Controlled  bool        `json:"controlled"`
		Doubts      []doubtForm `json:"doubts" each:"4"`
	}
	doubtForm struct {
		Member  int    `json:"member"`
		Lost    bool   `json:"lost"`
		Minor   bool   `json:"minor"`
		Message string `json:"message"`
	}
)

// EnsembleJSON writes statistics for programs.
func EnsembleJSON(w io.Writer, h Heading, e *Ensemble, _ TableOptions) error {
	s, t := e.Statistics, &e.Problem.Table
	f := ensembleForm{
		Schema: 1, Status: e.Status, Model: h.Model, File: h.File, Job: e.Problem.ID, Members: t.Members, OK: s.OK,
		Partial: s.Partial, Failed: s.Failed, Left: e.Left, Warnings: e.Warnings(),
	}
	if found := e.Findings; found != nil {
		f.Compared = &comparedForm{found.Compared, found.Unconfirmed, found.Minor, found.Controlled, nil}
		for _, d := range found.Doubts {
			f.Compared.Doubts = append(f.Compared.Doubts, doubtForm{d.Member + 1, d.Lost, d.Minor, d.Message})
		}
	}
	for _, a := range e.Problem.Job.Design.Axes {
		f.Axes = append(f.Axes, axisForm{a.Name, cmp.Or(a.Spacing(), a.Dist)})
	}
	for k, c := range t.Values {
		f.Objectives = append(f.Objectives, summary(c, &s.Columns[k]))
	}
	for k, c := range t.Gradient {
		f.Derivatives = append(f.Derivatives, summary(c, &s.Columns[len(t.Values)+k]))
	}
	if len(t.Series) > 0 {
		f.Times = t.Times
	}
	for k, c := range t.Series {
		x := seriesForm{Name: c.Name, Unit: c.Unit}
		for i := range t.Times {
			at := len(t.Values) + len(t.Gradient) + i*len(t.Series) + k
			x.Statistics = append(x.Statistics, summary(Column{}, &s.Columns[at]))
		}
		f.Series = append(f.Series, x)
	}
	matter := func(objective, axis string, parts ...pair) pairs {
		return append(pairs{{"objective", objective}, {"by", axis}}, parts...)
	}
	part := func(name string, x ensemble.Estimate) pair { return pair{name, [3]float64{x.Value, x.Lower, x.Upper}} }
	for _, x := range e.Indices {
		f.Sobol = append(f.Sobol, matter(x.Objective, x.Axis, part("first", x.First), part("first_jansen", x.Jansen),
			part("total", x.Total)))
	}
	for _, x := range e.Effects {
		f.Morris = append(f.Morris, matter(x.Objective, x.Axis, part("mean", x.Mean), part("size", x.Size),
			part("sd", x.SD)))
	}
	for _, x := range e.Derivatives {
		f.DGSM = append(f.DGSM, matter(x.Objective, x.Axis, part("mean", x.Mean), part("bound", x.Bound)))
	}
	for _, x := range s.Failures {
		f.Failures = append(f.Failures, memberFailureForm{x.Member + 1, x.Code, x.Message})
	}
	return writeJSON(w, f)
}

// summary tells statistics of one column.
func summary(c Column, s *ensemble.Summary) (list pairs) {
	if c.Name != "" {
		list = pairs{{"name", c.Name}, {"unit", c.Unit}}
	}
	list = append(list, pair{"n", s.N}, pair{"missing", s.Missing})
	for _, x := range statistics(s) {
		list = append(list, pair{strings.ReplaceAll(x.name, " ", ""), x.x})
	}
	return append(list, pair{"rank_error", s.Sketch.Error()})
}

// Column is that of an ensemble.
type Column = ensemble.Column
