package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/screen"
)

// TableOptions say where a table is shown.
type TableOptions struct {
	Width int  // columns of the screen; 0 means 100
	Bold  bool // heads in bold type (ANSI)
	All   bool // abbreviate nothing
	// Session says that the reader sits in a session, whose commands have no flags to choose with.
	Session bool

	page *Page // that is written on, in place of lines of text; see On
}

func (o TableOptions) width() int {
	if o.Width <= 0 {
		return 100
	}
	return max(leastWidth, o.Width)
}

const (
	leastWidth = 16 // columns of a screen
	leastLabel = 6  // columns of a row's name on a narrow screen
)

// What a table shows before it abbreviates.
const (
	maxElements = 8  // of an array
	headOf      = 4  // elements of an array that is abbreviated, before the last one
	maxColumns  = 24 // objectives
	maxTimes    = 40 // rows of a run
	maxEvents   = 20
)

// column is one column of a table, its cells as text.
type column struct {
	head  string
	cells []string
	left  bool // justified to the left
}

func (c column) width() int {
	w := screen.Width(c.head)
	for _, s := range c.cells {
		w = max(w, screen.Width(s))
	}
	return w
}

// narrow returns c, the first column, with its names cut where it would not fit the screen beside one of the others.
func (c column) narrow(opts TableOptions, others []column) column {
	if opts.Width <= 0 || !c.left {
		return c
	}
	room := opts.width()
	for _, o := range others {
		room = min(room, opts.width()-2-o.width())
	}
	room = max(room, leastLabel)
	if c.width() <= room {
		return c
	}
	c.head, c.cells = screen.Cut(c.head, room), slices.Clone(c.cells)
	for i, s := range c.cells {
		c.cells[i] = screen.Cut(s, room)
	}
	return c
}

// printer writes lines; its bufio.Writer keeps the first error.
type printer struct {
	w      *bufio.Writer
	opts   TableOptions
	marked [odes.Lost + 1]bool // the grades of the numbers shown
}

func (p *printer) line(format string, args ...any) {
	if p.opts.page != nil {
		p.opts.page.prose(fmt.Sprintf(format, args...))
		return
	}
	fmt.Fprintf(p.w, format+"\n", args...)
}

// prose writes a sentence, broken between words where the screen is known and too narrow.
func (p *printer) prose(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.opts.page == nil {
		text = screen.Fold(text, p.opts.Width, "")
	}
	p.line("%s", text)
}

// columns writes a table. The first column is repeated in front of every block of columns that fit the screen together.
func (p *printer) columns(cols []column) {
	if p.opts.page != nil {
		p.opts.page.table(cols)
		return
	}
	const gap = 2
	lead, rest := cols[0].narrow(p.opts, cols[1:]), cols[1:]
	for first := true; first || len(rest) > 0; first = false {
		if !first {
			p.line("")
		}
		block, used := []column{lead}, lead.width()
		for len(rest) > 0 && (len(block) == 1 || used+gap+rest[0].width() <= p.opts.width()) {
			used += gap + rest[0].width()
			block, rest = append(block, rest[0]), rest[1:]
		}
		heads, widths := false, make([]int, len(block))
		for i, c := range block {
			heads, widths[i] = heads || c.head != "", c.width()
		}
		if heads {
			p.row(block, widths, func(c column) string { return c.head }, p.opts.Bold)
		}
		for i := range lead.cells {
			p.row(block, widths, func(c column) string { return c.cells[i] }, false)
		}
	}
}

func (p *printer) row(block []column, widths []int, cell func(column) string, bold bool) {
	var b strings.Builder
	for i, c := range block {
		text := cell(c)
		pad := strings.Repeat(" ", widths[i]-screen.Width(text))
		if i > 0 {
			b.WriteString("  ")
		}
		if c.left {
			b.WriteString(text + pad)
		} else {
			b.WriteString(pad + text)
		}
	}
	line := strings.TrimRight(b.String(), " ")
	if bold && line != "" {
		line = screen.Style("1", line)
	}
	p.line("%s", line)
}

// withUnit appends a unit in brackets, unless there is none or the name is that of a dimensionless quantity.
func withUnit(name, unit string) string {
	if unit = known(unit); unit == "" || unit == "1" {
		return name
	}
	return name + " [" + unit + "]"
}

// plural writes a count and its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// picks returns which of n elements are shown; a negative entry stands for those left out.
func (p *printer) picks(n int) []int {
	var at []int
	if n <= maxElements || p.opts.All {
		for k := range n {
			at = append(at, k)
		}
		return at
	}
	for k := range headOf {
		at = append(at, k)
	}
	return append(at, -1, n-1)
}

// SensTable writes objectives as columns, and their derivatives as rows.
func SensTable(w io.Writer, h Heading, s *odes.Sensitivities, opts TableOptions) error {
	p := &printer{w: bufio.NewWriter(w), opts: opts}
	p.prose("%s (%s), %s from %s to %s\n", h.title(), h.File, h.Time,
		plainNumber(s.From), strings.TrimSpace(plainNumber(s.To)+" "+h.TimeUnit))
	p.sens(s)
	p.second(s)
	p.events(h, s)
	p.bothSides(s)
	p.legend(s.Settings)
	p.settings(s.Settings, s.Stats)
	return p.w.Flush()
}

func (p *printer) sens(s *odes.Sensitivities) {
	if len(s.Values) == 0 {
		p.line("no objectives")
		return
	}
	n := digits(s.Settings.RTol)
	lead := column{left: true, cells: []string{"value"}}
	type pick struct {
		v odes.Variable
		k int
	}
	var rows []pick
	abbreviated := false
	if len(s.Variables) > 0 {
		lead.cells = append(lead.cells, "", "derivative by")
	}
	for _, v := range s.Variables {
		for _, k := range p.picks(v.Size()) {
			label := "  " + withUnit(variableElement(v, max(k, 0)), v.Unit)
			if k < 0 {
				label = fmt.Sprintf("  … %d more", v.Size()-headOf-1)
				abbreviated = true
			}
			rows = append(rows, pick{v, k})
			lead.cells = append(lead.cells, label)
		}
	}
	cols := []column{lead}
	shown := len(s.Values)
	if shown > maxColumns && !p.opts.All {
		shown = maxColumns / 2
	}
	for i, value := range s.Values[:shown] {
		name := value.Name
		if value.Relation != "" {
			name += " " + value.Relation + " 0"
		}
		c := column{head: withUnit(name, value.Unit)}
		if !hasValue(value) {
			c.cells = append(c.cells, significant(value.Value, n))
		} else {
			show := s.Settings.Errors && s.Errors != nil
			c.cells = append(c.cells, p.number(value.Value, value.Error, value.Trust, n, show))
		}
		if len(s.Variables) > 0 {
			c.cells = append(c.cells, "", "")
		}
		for _, r := range rows {
			switch {
			case r.k < 0:
				c.cells = append(c.cells, "…")
			case !hasValue(value):
				c.cells = append(c.cells, "-")
			default:
				c.cells = append(c.cells, p.derivative(s, i, r.v.Offset+r.k, n-1))
			}
		}
		cols = append(cols, c)
	}
	p.columns(aligned(cols))
	rest := len(s.Values) - shown
	switch {
	case rest > 0 && p.opts.Session:
		p.prose("\n%s not shown", plural(rest, "objective"))
	case rest > 0:
		p.prose("\n%s not shown: choose with --of, or write all with -o %s",
			plural(rest, "objective"), wholeIn("npz", HasSensitivities))
	case abbreviated && p.opts.Session:
		p.prose("\nlong arrays are abbreviated")
	case abbreviated:
		p.prose("\nlong arrays are abbreviated: choose with --wrt, or write all with -o %s",
			wholeIn("npz", HasSensitivities))
	}
	p.ofValues(s.Values)
}

// ofValues writes what the run warned of single values.
func (p *printer) ofValues(list []odes.Value) {
	gap := "\n"
	for _, v := range list {
		for _, warning := range v.Warnings {
			p.prose("%s%s: %s", gap, v.Name, warning)
			gap = ""
		}
	}
}

// derivative writes number k of row i of the gradient.
func (p *printer) derivative(s *odes.Sensitivities, i, k, n int) string {
	at := i*s.Columns + k
	t, e := odes.Sound, 0.0
	if s.Trusts != nil {
		t = s.Trusts[at]
	}
	if s.Errors != nil {
		e = s.Errors[at]
	}
	if _, sided := s.OnBothSides(i, k); sided && t == odes.Sound {
		return p.number(s.Gradient[at], e, t, n, s.Settings.Errors && s.Errors != nil) + sidedMark
	}
	return p.number(s.Gradient[at], e, t, n, s.Settings.Errors && s.Errors != nil)
}

// number writes x with the digits that its estimated error e leaves, or with that error if it is to be shown, and notes
// which mark that takes.
func (p *printer) number(x, e float64, t odes.Trust, n int, show bool) string {
	p.marked[t] = true
	if show {
		return uncertain(x, e, n) + marks[t]
	}
	return graded(x, e, t, n)
}

// aligned puts marks to the right of the numbers of each column but the first.
func aligned(cols []column) []column {
	isMarked := func(text string) bool { return strings.ContainsAny(text[max(len(text)-1, 0):], "?!"+sidedMark) }
	for _, c := range cols[1:] {
		if !slices.ContainsFunc(c.cells, isMarked) {
			continue
		}
		for k, text := range c.cells {
			if text != "" && !isMarked(text) {
				c.cells[k] += " "
			}
		}
	}
	return cols
}

// legend says what marks mean, if any are shown.
func (p *printer) legend(s odes.RunSettings) {
	var parts []string
	if p.marked[odes.Loose] {
		parts = append(parts, marks[odes.Loose]+" few digits are right")
	}
	if p.marked[odes.Lost] {
		parts = append(parts, marks[odes.Lost]+" not to be trusted")
	}
	if len(parts) == 0 {
		return
	}
	by := ""
	if s.CheckedBy != "" {
		by = "; compared with " + s.CheckedBy
	}
	p.prose("\n%s%s", strings.Join(parts, ", "), by)
}

// events writes a log of events, with the derivatives of their times by the scalar variables of s where they fit.
func (p *printer) events(h Heading, s *odes.Sensitivities) {
	// The grid of a control is known without a run.
	list := slices.DeleteFunc(slices.Clone(s.Events), func(e odes.EventRecord) bool { return e.Kind == "control" })
	if len(list) == 0 {
		return
	}
	p.line("")
	n, show := digits(s.Settings.RTol), s.Settings.Errors
	shown := list
	if len(list)+s.MoreEvents > maxEvents && len(list) >= maxEvents && !p.opts.All {
		shown = list[:maxEvents-1]
	}
	far := apart(shown, n)
	name := column{head: "event", left: true}
	time := column{head: withUnit(h.Time, h.TimeUnit)}
	for _, e := range shown {
		name.cells = append(name.cells, eventElement(e))
		time.cells = append(time.cells, p.number(e.T, e.Error, e.Trust, far, show && e.Errors != nil))
	}
	cols := []column{name, time}
	used := name.width() + 2 + time.width()
	for _, v := range s.Variables {
		if len(v.Shape) > 0 || v.Initial {
			continue
		}
		c := column{head: fmt.Sprintf("d%s/d %s", h.Time, v)}
		for _, e := range shown {
			if e.Params == nil {
				c.cells = append(c.cells, "")
				continue
			}
			t, off := odes.Sound, 0.0
			if e.Trusts != nil {
				t = e.Trusts[v.Offset]
			}
			if e.Errors != nil {
				off = e.Errors[v.Offset]
			}
			text := p.number(e.Params[v.Offset], off, t, n-1, show && e.Errors != nil)
			if _, sided := e.OnBothSides(v.Offset); sided && t == odes.Sound {
				text += sidedMark
			}
			c.cells = append(c.cells, text)
		}
		used += 2 + c.width()
		if shown[0].Params == nil || used > p.opts.width() {
			break
		}
		cols = append(cols, c)
	}
	p.columns(aligned(cols))
	if rest := len(list) + s.MoreEvents - len(shown); rest > 0 {
		last := list[len(list)-1]
		if s.MoreEvents > 0 {
			last = s.LastEvent
		}
		p.prose("… %s, the last %s at %s: all with --format %s", plural(rest, "more event"),
			eventElement(last), significant(last.T, far), wholeEvents())
	}
}

// apart returns how many digits, n or more, tell the times of a list of events from one another, where their errors and
// rounding let these be told at all.
func apart(list []odes.EventRecord, n int) int {
	const rounding = 1e-13
	for i := range max(len(list)-1, 0) {
		a, b := &list[i], &list[i+1]
		size := max(math.Abs(a.T), math.Abs(b.T))
		if !(math.Abs(b.T-a.T) > max(4*(a.Error+b.Error), rounding*size)) {
			continue
		}
		for significant(a.T, n) == significant(b.T, n) {
			n++
		}
	}
	return n
}

// settings writes how the result was computed, in one line.
func (p *printer) settings(s odes.RunSettings, st odes.RunStats) {
	line := fmt.Sprintf("\n%s, rtol %s", s.Method, plainNumber(s.RTol))
	if s.Sized {
		line += ", atol by size"
	} else {
		line += ", atol " + plainNumber(s.ATol)
	}
	if s.Mode != "" {
		line += ", " + s.Mode
	}
	line += "; " + plural(st.Steps, "step")
	if st.Rejected > 0 {
		line += fmt.Sprintf(" and %d rejected", st.Rejected)
	}
	p.prose("%s", line)
}

// RunTable writes outputs over time, the log of events and the objectives.
func RunTable(w io.Writer, h Heading, s *odes.Solution, opts TableOptions) error {
	p := &printer{w: bufio.NewWriter(w), opts: opts}
	p.prose("%s (%s)\n", h.title(), h.File)
	p.run(h, s)
	p.events(h, &odes.Sensitivities{Settings: s.Settings, Events: s.Events})
	if len(s.Values) > 0 {
		p.line("")
		p.values(s)
	}
	p.legend(s.Settings)
	how := s.Settings
	how.Mode = "" // nothing was differentiated
	p.settings(how, s.Stats)
	return p.w.Flush()
}

// unconfirmed returns the mark of each number of an output that nothing was compared with. The errors of others show
// which of them are not sound.
func unconfirmed(s *odes.Solution, o *odes.Series) odes.Trust {
	if o.Errors != nil || s.Settings.CheckedBy == "" {
		return odes.Sound
	}
	return o.Trust
}

func (p *printer) run(h Heading, s *odes.Solution) {
	n := digits(s.Settings.RTol)
	times := make([]int, 0, len(s.T)) // a negative entry stands for those left out
	for i := range s.T {
		switch {
		case len(s.T) <= maxTimes || p.opts.All || i < maxTimes/2 || i >= len(s.T)-maxTimes/2:
			times = append(times, i)
		case i == maxTimes/2:
			times = append(times, -1)
		}
	}
	time := column{head: withUnit(h.Time, h.TimeUnit)}
	for _, i := range times {
		if i < 0 {
			time.cells = append(time.cells, "…")
			continue
		}
		time.cells = append(time.cells, significant(s.T[i], n))
	}
	time.cells = append([]string{""}, time.cells...) // beside the sparklines
	cols := []column{time}
	hidden, drawn := 0, false
	for _, o := range s.Outputs {
		per := size(o.Shape)
		for _, k := range p.picks(per) {
			if k < 0 {
				hidden += per - headOf - 1
				continue
			}
			c := column{head: withUnit(o.Element(k), o.Unit)}
			noise := s.Settings.ATol // of quantities of that size, anything smaller is rounding
			if s.Settings.Sized {
				noise = math.Inf(1)
			}
			top := 0.0
			for i := range s.T {
				top = max(top, math.Abs(o.Values[i*per+k]))
			}
			noise = min(noise, 1e-14*top)
			for _, i := range times {
				if i < 0 {
					c.cells = append(c.cells, "…")
					continue
				}
				x := o.Values[i*per+k]
				e := 0.0
				if o.Errors != nil {
					e = o.Errors[i*per+k]
				}
				if math.Abs(x) < noise && e == 0 {
					c.cells = append(c.cells, significant(x, 1))
					continue
				}
				c.cells = append(c.cells, p.number(x, e, unconfirmed(s, &o), n, false))
			}
			course := spark(s.T, func(i int) float64 { return o.Values[i*per+k] }, min(16, max(8, c.width())))
			drawn = drawn || course != ""
			c.cells = append([]string{course}, c.cells...)
			cols = append(cols, c)
		}
	}
	if !drawn {
		for i := range cols {
			cols[i].cells = cols[i].cells[1:]
		}
	}
	p.columns(cols)
	var notes []string
	if rest := len(s.T) - maxTimes; rest > 0 && !p.opts.All {
		note := plural(rest, "time") + " not shown"
		if !p.opts.Session {
			note += ": choose with --times from:step:to"
		}
		notes = append(notes, note)
	}
	if hidden > 0 {
		notes = append(notes, plural(hidden, "element")+" of long arrays not shown")
	}
	switch {
	case len(notes) > 0 && p.opts.Session:
		p.prose("\n%s; plot shows all", strings.Join(notes, "; "))
	case len(notes) > 0:
		p.prose("\n%s; write all with -o %s", strings.Join(notes, "; "), wholeIn("csv", HasSolution))
	}
}

func (p *printer) values(s *odes.Solution) {
	n := digits(s.Settings.RTol)
	name := column{head: "objective", left: true}
	value := column{head: "value"}
	shown := s.Values
	if len(shown) > maxColumns && !p.opts.All {
		shown = shown[:maxColumns/2]
	}
	for _, v := range shown {
		name.cells = append(name.cells, withUnit(v.Name, v.Unit))
		value.cells = append(value.cells, p.number(v.Value, v.Error, v.Trust, n, false))
	}
	p.columns(aligned([]column{name, value}))
	if rest := len(s.Values) - len(shown); rest > 0 {
		p.line("… %s", plural(rest, "more objective"))
	}
	p.ofValues(s.Values)
}
