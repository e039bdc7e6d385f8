package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/internal/base/screen"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/plot"
)

// Names that are added to a model for one question.
const (
	asked = "_asked" // an objective, an output or a param
)

// question is an expression in the form in which the model is asked.
type question struct {
	entry  string  // as the user wrote it
	text   string  // as the model is asked
	pieces []piece // the parts of text that are parts of entry
}

func (q *question) add(entry string, from, to int) {
	if to > from {
		q.pieces = append(q.pieces, piece{at: len(q.text), from: from, n: to - from})
		q.text += entry[from:to]
	}
}

// ask parses the model with an item added: prefix, the question, suffix.
func (s *Session) ask(q *question, prefix, suffix string) (*odes.Model, error) {
	if _, err := s.model(); err != nil {
		return nil, err
	}
	head := s.now.text + "\n" + prefix
	text, pieces := s.spelled(q)
	m, err := s.parse(head + text + suffix + "\n")
	if err == nil {
		return m, nil
	}
	list := diag.Of(err)
	if list == nil {
		return nil, err
	}
	for i := range pieces {
		pieces[i].at += len(head)
	}
	list = slices.DeleteFunc(slices.Clone(list), func(d diag.Diagnostic) bool { return d.Level != diag.Error })
	for i := range list {
		// a place in the model's text; the caret shows the place in the entry
		list[i].Message = place().ReplaceAllString(list[i].Message, "")
		list[i].Message = carrier().ReplaceAllString(list[i].Message, "a result") // the item that carries the question
	}
	return nil, &diag.ListError{Diagnostics: s.remap(list, source.NewFile(Entry, q.entry), pieces)}
}

// spelled returns a question's text in which names of observations and objectives are replaced by
// what they stand for, and which parts of it the user wrote.
func (s *Session) spelled(q *question) (string, []piece) {
	terms := map[string]string{}
	if s.now.model != nil {
		for _, o := range s.now.model.Observations() {
			terms[o.Name] = "(" + o.Text + ")"
		}
		items, _ := parser.Outline(s.name(), s.now.text)
		for _, it := range items {
			if it.Kind != "objective" || strings.Contains(it.Parts[0].Name, "[") {
				continue
			}
			p := it.Parts[0]
			text := strings.Join(strings.Fields(s.now.text[p.ValueStart:p.ValueEnd]), " ")
			if !strings.Contains(text, "#") {
				terms[unquoted(p.Name)] = "(" + text + ")"
			}
		}
	}
	pieces := slices.Clone(q.pieces)
	if len(terms) == 0 {
		return q.text, pieces
	}
	text := q.text
	tokens := parser.TokensOf(q.text)
	for _, t := range slices.Backward(tokens) {
		term, ok := terms[t.Text]
		if !ok || t.Kind != ast.IdentToken && t.Kind != ast.QuotedToken {
			continue
		}
		text = text[:t.Start] + term + text[t.End:]
		var cut []piece
		for _, p := range pieces {
			if n := t.Start - p.at; n > 0 {
				cut = append(cut, piece{at: p.at, from: p.from, n: min(p.n, n), span: p.span})
			}
			if t.Start >= p.at && t.End <= p.at+p.n && p.span == 0 {
				cut = append(cut, piece{
					at: t.Start, from: p.from + t.Start - p.at, n: len(term),
					span: t.End - t.Start,
				})
			}
			if end := p.at + p.n; end > t.End {
				skip := max(0, t.End-p.at)
				cut = append(cut, piece{
					at: p.at + skip + len(term) - (t.End - t.Start), from: p.from + skip,
					n: p.n - skip, span: p.span,
				})
			}
		}
		pieces = cut
	}
	return text, pieces
}

// carrier matches the item that a question is asked as.
var carrier = lazy.Regexp(`"(objective|output)"`)

var place = lazy.Regexp(` opened at \d+:\d+`)

func hasCode(err error, code diag.Code) bool {
	for _, d := range diag.Of(err) {
		if d.Code == code {
			return true
		}
	}
	return false
}

// moving returns the names that change along a run.
func (s *Session) moving(m *odes.Model) map[string]bool {
	names := map[string]bool{}
	if list, err := m.Symbols(s.now.set); err == nil {
		for _, x := range list {
			switch x.Kind {
			case "time", "state", "alg", "discrete", "output":
				names[x.Name] = true
			}
		}
	}
	for _, o := range m.Observations() {
		names[o.Name] = true
	}
	items, _ := parser.Outline(s.name(), s.now.text)
	for _, it := range items {
		if it.Kind != "let" && it.Kind != "output" && it.Kind != "control" {
			continue
		}
		for _, p := range it.Parts { // none of `output x`, which declares no name
			name, _, _ := strings.Cut(p.Name, "[")
			names[strings.TrimSpace(name)] = true
		}
	}
	return names
}

// pose turns an expression about the last run into one of the language: x(3.5) becomes x at that
// time, and max(x) and min(x) the extremes over the run.
func (s *Session) pose(entry string) (*question, error) {
	m, err := s.model()
	if err != nil {
		return nil, err
	}
	moving := s.moving(m)
	tokens := parser.TokensOf(entry)
	q := &question{entry: entry}
	at := 0
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		if t.Kind != ast.IdentToken {
			continue
		}
		if open := i + 1; (t.Text == "max" || t.Text == "min") && open < len(tokens) && tokens[open].Text == "(" {
			end := closing(tokens, open)
			if end < 0 {
				continue
			}
			arg := entry[tokens[open].End:tokens[end].Start]
			if len(split(arg)) != 1 || !mentions(tokens[open+1:end], moving) || !s.isCourse(arg) {
				continue
			}
			before, after := "max_over(", ")"
			if t.Text == "min" {
				before, after = "(-max_over(-(", ")))"
			}
			q.add(entry, at, t.Start)
			q.text += before
			q.add(entry, tokens[open].End, tokens[end].Start)
			q.text += after
			at = tokens[end].End
			i = end
			continue
		}
		if !moving[t.Text] {
			continue
		}
		open := i + 1
		if open < len(tokens) && tokens[open].Text == "[" {
			if end := closing(tokens, open); end >= 0 {
				open = end + 1
			}
		}
		if open >= len(tokens) || tokens[open].Text != "(" {
			continue
		}
		end := closing(tokens, open)
		if end < 0 {
			continue
		}
		q.add(entry, at, t.Start)
		q.text += "sum_at(["
		q.add(entry, tokens[open].End, tokens[end].Start)
		q.text += "], "
		q.add(entry, t.Start, tokens[open].Start)
		q.text += ")"
		at = tokens[end].End
		i = end
	}
	q.add(entry, at, len(entry))
	return q, nil
}

// literal writes a number as in the language.
func literal(x float64, unit string) string {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if known(unit) != "" {
		text += " [" + unit + "]"
	}
	return "(" + text + ")"
}

// known returns a unit, or "" if it says nothing.
func known(unit string) string {
	if unit == "1" || unit == "?" || unit == "unknown" {
		return ""
	}
	return unit
}

func mentions(tokens []ast.Token, names map[string]bool) bool {
	for _, t := range tokens {
		if t.Kind == ast.IdentToken && names[t.Text] {
			return true
		}
	}
	return false
}

// isCourse reports whether an expression is a single number that changes along a run.
func (s *Session) isCourse(e string) bool {
	m, err := s.asOutput(e)
	if err != nil {
		return false
	}
	symbols, err := m.Symbols(s.now.set)
	return err == nil && slices.ContainsFunc(symbols, func(x odes.Symbol) bool {
		return x.Kind == "output" && x.Name == asked && len(x.Shape) == 0
	})
}

func between(lo, hi float64, n int) []float64 {
	list := make([]float64, n+1)
	for i := range list {
		f := float64(i) / float64(n)
		list[i] = min(hi, lo+f*(hi-lo))
	}
	return list
}

// curves is an expression over a run.
type curves struct {
	odes.Series
	T      []float64
	Events []odes.EventRecord
	RTol   float64
	model  *odes.Model // with the expression as its output
	// Measured are data that the model compares the expression with, at the times MT.
	MT, Measured []float64
	// Side says of which data only a bound is known, and Spread how far the truth may lie from them, as in plot.Curve.
	Side   []int
	Spread []float64
	// Low and High are the interval around the curve in which most data lie; nil where that is not known.
	Low, High []float64
	// AtStart says that a picture of a single time shows the first one, not the last.
	AtStart bool
	// Gaps says that the curve is broken where it jumps, as in plot.Curve.
	Gaps bool
	// Of is how many runs have such a curve, where only the first of them were drawn.
	Of int
}

func (c *curves) size() int { return max(1, len(c.Values)/max(1, len(c.T))) }

func pick(sol *odes.Solution, name string) odes.Series {
	for _, o := range sol.Outputs {
		if o.Name == name {
			return o
		}
	}
	return odes.Series{}
}

// asOutput returns the model with an expression as one of its outputs.
func (s *Session) asOutput(entry string) (*odes.Model, error) {
	q := &question{entry: entry}
	q.add(entry, 0, len(entry))
	return s.ask(q, "output "+asked+" = ", "")
}

// curve solves with an expression as output, at no fewer than n times and on both sides of every
// event.
func (s *Session) curve(ctx context.Context, entry string, n int) (*curves, error) {
	m, err := s.asOutput(entry)
	if err != nil {
		return nil, err
	}
	return s.trace(ctx, m, entry, n)
}

// trace is curve for the model that asOutput made, or for one of its experiments.
func (s *Session) trace(ctx context.Context, m *odes.Model, entry string, n int) (*curves, error) {
	sol, err := s.dense(ctx, m, n)
	if err != nil {
		return nil, err
	}
	c := &curves{Series: pick(sol, asked), T: sol.T, Events: sol.Events, RTol: sol.Settings.RTol, model: m}
	c.Name = strings.Join(strings.Fields(entry), " ") // it may have been entered on several lines
	if !strings.ContainsAny(c.Name, " ()[]+-*/^,") {
		c.Written = m.Written(c.Name)
	}
	c.Unit = known(c.Unit)
	c.measure(asked)
	s.heedOutput(sol, c.Series)
	return c, nil
}

// dense solves so that curves are smooth: at the steps when there are many, otherwise at n times
// and at the events.
func (s *Session) dense(ctx context.Context, m *odes.Model, n int) (*odes.Solution, error) {
	sol, err := m.Solve(ctx, s.options())
	if err != nil || len(sol.T) < 2 || len(sol.T) > 2*n {
		return sol, err
	}
	times := between(sol.T[0], sol.T[len(sol.T)-1], n)
	for _, e := range sol.Events {
		times = append(times, e.T)
	}
	slices.Sort(times)
	opts := unchecked(s.options()) // the steps are the same
	opts.Times = slices.Compact(times)
	smooth, err := m.Solve(ctx, opts)
	if err != nil {
		return nil, err
	}
	for i := range smooth.Outputs {
		smooth.Outputs[i].Trust = sol.Outputs[i].Trust
		smooth.Outputs[i].Errors = sol.Outputs[i].Errors // that there are some is all that is asked of them
	}
	smooth.Settings.CheckedBy, smooth.Warnings = sol.Settings.CheckedBy, sol.Warnings
	return smooth, nil
}

// show answers an expression: its value, or how it changes along the run.
func (s *Session) show(ctx context.Context, w io.Writer, entry string) error {
	q, err := s.pose(entry)
	if err != nil {
		return err
	}
	if base, index, ok := strings.Cut(entry, "["); slices.Contains(objectives(s.now.model), strings.TrimSpace(base)) &&
		(!ok || strings.HasSuffix(index, "]")) {
		return s.showObjective(ctx, w, strings.TrimSpace(base), strings.Join(strings.Fields(entry), ""))
	}
	m, err := s.ask(q, "objective "+asked+" = ", "")
	if err != nil {
		if !hasCode(err, codeTrajectory) {
			return s.hinted(entry, err)
		}
		s.doubts = doubts{}
		c, err := s.curve(ctx, entry, 200)
		if err != nil {
			return err
		}
		s.diagnose(w, s.doubts.list)
		c.Name = cmp.Or(s.asWritten, c.Name)
		return s.showCurve(w, c)
	}
	if done, err := s.showConstant(w, m, q); done {
		return err
	}
	opts := s.options()
	opts.Of = []string{asked}
	sol, err := m.Solve(ctx, opts)
	if err != nil {
		return err
	}
	s.showValues(w, sol, asked)
	return nil
}

// showObjective answers an objective, or one element of an array of objectives.
func (s *Session) showObjective(ctx context.Context, w io.Writer, name, element string) error {
	opts := s.options()
	opts.Of = []string{name}
	sol, err := s.now.model.Solve(ctx, opts)
	if err != nil {
		return err
	}
	if element != name {
		all := len(sol.Values)
		sol.Values = slices.DeleteFunc(sol.Values, func(v odes.Value) bool { return v.Name != element })
		if len(sol.Values) == 0 {
			return fmt.Errorf("there is no %s: %s has %d elements", element, name, all)
		}
		name = element
	}
	s.showValues(w, sol, name)
	return nil
}

// hinted adds to an error what the user may have meant.
func (s *Session) hinted(entry string, err error) error {
	var wrong *diag.ListError
	tokens := parser.TokensOf(entry)
	if !errors.As(err, &wrong) || len(wrong.Diagnostics) == 0 || len(tokens) == 0 {
		return err
	}
	first := tokens[0].Text
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	d := &wrong.Diagnostics[0]
	switch {
	case d.Code == "type-mismatch" && len(tokens) > 2 && tokens[1].Text == "==":
		d.Message += fmt.Sprintf("; to set %s write %[1]s = %s", first, strings.TrimSpace(entry[tokens[1].End:]))
	case tokens[0].Kind != ast.IdentToken || slices.Contains(s.declared(), first):
	case d.Code == codeUndefined && len(tokens) == 1 && !strings.Contains(d.Message, "did you mean"):
		hint := diag.DidYouMean(first, names)
		if hint == "" {
			hint = "; help lists the commands"
		}
		d.Message = fmt.Sprintf("%q is neither a name of the model nor a command%s", first, hint)
	case d.Code == "missing-operator" && tokens[1].Kind == ast.IdentToken && !slices.Contains(s.cfg.Words, first):
		return fmt.Errorf("there is no command %q%s; help lists them, and an expression alone shows its value", first,
			diag.DidYouMean(first, names))
	}
	return wrong
}

// showValues writes the values of objectives. It leaves out the name of a single one that is called
// name.
func (s *Session) showValues(w io.Writer, sol *odes.Solution, name string) {
	digits := digitsOf(sol.Settings.RTol)
	by := ""
	if how := sol.Settings.CheckedBy; how != "" {
		by = ", by " + how
	}
	for _, v := range sol.Values {
		name := strings.TrimPrefix(v.Name, name)
		if name != "" {
			name += " "
		}
		fmt.Fprintln(w, name+withUnit(short(v.Value, digits), v.Unit))
		if note := caution(v.Trust); note != "" && v.Value-v.Value == 0 {
			s.Say(w, "%s", note+by)
		}
		for _, text := range v.Warnings {
			s.Say(w, "%s", text)
		}
	}
}

// showConstant answers a question that does not depend on the run, without a run. The model m has
// it as its objective.
func (s *Session) showConstant(w io.Writer, m *odes.Model, q *question) (done bool, err error) {
	constant := false
	for _, d := range m.Warnings() {
		constant = constant || d.Code == codeNoEffect && strings.Contains(d.Message, asked)
	}
	if !constant {
		return false, nil
	}
	symbols, err := m.Symbols(s.now.set)
	if err != nil {
		return true, err
	}
	for _, x := range symbols {
		if x.Kind != "objective" || x.Name != asked {
			continue
		}
		values, err := s.fixedValue(q, x, "")
		if err != nil {
			return false, nil // it reads what a param may not read
		}
		for k, v := range values {
			name := strings.TrimPrefix(elementName(asked, x.Shape, k), asked)
			if name != "" {
				name += " "
			}
			fmt.Fprintln(w, name+withUnit(short(v, 15), x.Unit))
		}
		return true, nil
	}
	return false, nil
}

// fixedValue evaluates a question that reads params only, as a param with the shape and unit of
// like; as is written behind the entry.
func (s *Session) fixedValue(q *question, like odes.Symbol, as string) ([]float64, error) {
	prefix := "param " + asked
	if len(like.Shape) > 0 {
		prefix += strings.ReplaceAll(fmt.Sprint(like.Shape), " ", ", ")
	}
	if like.Unit != "" {
		prefix += " : [" + like.Unit + "]"
	}
	m, err := s.ask(q, prefix+" = ", as)
	if err != nil {
		return nil, err
	}
	symbols, err := m.Symbols(s.now.set)
	if err != nil {
		return nil, err
	}
	for _, x := range symbols {
		if x.Kind != "param" || x.Name != asked {
			continue
		}
		if u := known(x.Unit); known(like.Unit) == "" && u != "" {
			return nil, fmt.Errorf("%s has no unit, and cannot be set in [%s]", like.Name, u)
		}
		return x.Values, nil
	}
	return nil, errors.New("the value is not known")
}

// showCurve describes the course of an expression in a few lines.
func (s *Session) showCurve(w io.Writer, c *curves) error {
	digits := digitsOf(c.RTol)
	info := c.model.Info()
	n := c.size()
	const most = 12
	width := 0
	for k := range min(n, most) {
		width = max(width, screen.Width(c.Element(k)))
	}
	for k := range n {
		if k == most {
			s.Say(w, "… %d more; choose with %s[…]", n-most, c.Name)
			break
		}
		values := make([]float64, len(c.T))
		lo, hi := 0, 0
		for i := range c.T {
			values[i] = c.Values[i*n+k]
			if values[i] < values[lo] {
				lo = i
			}
			if values[i] > values[hi] {
				hi = i
			}
		}
		if len(values) == 0 {
			continue
		}
		last := len(values) - 1
		name := c.Element(k)
		line := fmt.Sprintf("%s%s  %s  %s → %s", name, strings.Repeat(" ", width-screen.Width(name)),
			plot.Spark(values, min(24, max(8, s.width()-width-4))),
			short(values[0], digits), withUnit(short(values[last], digits), c.Unit))
		if lo != 0 && lo != last {
			line += fmt.Sprintf(", least %s at %s = %s", short(values[lo], min(digits, 5)), info.Time,
				short(c.T[lo], 5))
		}
		if hi != 0 && hi != last {
			line += fmt.Sprintf(", greatest %s at %s = %s", short(values[hi], min(digits, 5)), info.Time,
				short(c.T[hi], 5))
		}
		s.Say(w, "%s", line)
	}
	return nil
}

// elementName returns "x[2,3]" for the k-th element, "x" for a number.
func elementName(name string, shape []int, k int) string {
	if len(shape) == 0 {
		return name
	}
	subs := make([]string, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		subs[d] = strconv.Itoa(k%shape[d] + 1)
		k /= shape[d]
	}
	return name + "[" + strings.Join(subs, ",") + "]"
}

// digitsOf returns how many digits a relative tolerance justifies.
func digitsOf(rtol float64) int {
	if !(rtol > 0) {
		return 10
	}
	return min(12, max(4, int(math.Round(-math.Log10(rtol)))))
}

// short writes x with at most n significant digits.
func short(x float64, n int) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(x, 'g', -1, 64)), "+")
	}
	return strconv.FormatFloat(x, 'g', n, 64)
}

func withUnit(text, unit string) string {
	if known(unit) == "" {
		return text
	}
	return text + " [" + unit + "]"
}
