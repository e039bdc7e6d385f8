package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// inquiry asks the model: for values of expressions, and for their course over a run.
type inquiry struct {
	workspace
	doubts   doubts              // of the last answer
	progress func(odes.Progress) // of the current entry
}

// unchecked returns opts for runs that are not compared with an independent one: those whose numbers are not shown, and
// the many runs of a sweep.
func unchecked(opts odes.Options) odes.Options {
	opts.Settings = append(slices.Clip(opts.Settings), odes.Setting{Key: "sens.trust", Value: "off"})
	return opts
}

// options returns the options of a run in the current state.
func (iq *inquiry) options() odes.Options {
	return odes.Options{Set: iq.now.set, Settings: iq.now.settings, Progress: iq.progress}
}

// tell shows how far the runs are that follow, if somebody wants to see it, until done is called. clear removes what is
// shown.
func (iq *inquiry) tell() (clear, done func()) {
	if iq.cfg.Progress == nil || iq.progress != nil {
		return func() {}, func() {}
	}
	update, clear := iq.cfg.Progress()
	iq.progress = update
	return clear, func() {
		clear()
		iq.progress = nil
	}
}

// part makes the next run count as run i of n, until done is called.
func (iq *inquiry) part(i, n int) (done func()) {
	tell := iq.progress
	if tell == nil {
		return func() {}
	}
	iq.progress = func(at odes.Progress) {
		tell(odes.Progress{Phase: odes.PhaseRuns, Steps: i, Done: (float64(i) + at.Done) / float64(n)})
	}
	iq.progress(odes.Progress{})
	return func() { iq.progress = tell }
}

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
func (iq *inquiry) ask(q *question, prefix, suffix string) (*odes.Model, error) {
	if _, err := iq.model(); err != nil {
		return nil, err
	}
	head := iq.now.text + "\n" + prefix
	text, pieces := iq.spelled(q)
	m, err := iq.parse(head + text + suffix + "\n")
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
	return nil, &diag.ListError{Diagnostics: iq.remap(list, source.NewFile(Entry, q.entry), pieces)}
}

// spelled returns a question's text in which names of observations and objectives are replaced by
// what they stand for, and which parts of it the user wrote.
func (iq *inquiry) spelled(q *question) (string, []piece) {
	terms := map[string]string{}
	if iq.now.model != nil {
		for _, o := range iq.now.model.Observations() {
			terms[o.Name] = "(" + o.Text + ")"
		}
		items, _ := parser.Outline(iq.name(), iq.now.text)
		for _, it := range items {
			if it.Kind != "objective" || strings.Contains(it.Parts[0].Name, "[") {
				continue
			}
			p := it.Parts[0]
			text := strings.Join(strings.Fields(iq.now.text[p.ValueStart:p.ValueEnd]), " ")
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

// moving returns the names that change along a run.
func (iq *inquiry) moving(m *odes.Model) map[string]bool {
	names := map[string]bool{}
	if list, err := m.Symbols(iq.now.set); err == nil {
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
	items, _ := parser.Outline(iq.name(), iq.now.text)
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
func (iq *inquiry) pose(entry string) (*question, error) {
	m, err := iq.model()
	if err != nil {
		return nil, err
	}
	moving := iq.moving(m)
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
			if len(split(arg)) != 1 || !mentions(tokens[open+1:end], moving) || !iq.isCourse(arg) {
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

// isCourse reports whether an expression is a single number that changes along a run.
func (iq *inquiry) isCourse(e string) bool {
	m, err := iq.asOutput(e)
	if err != nil {
		return false
	}
	symbols, err := m.Symbols(iq.now.set)
	return err == nil && slices.ContainsFunc(symbols, func(x odes.Symbol) bool {
		return x.Kind == "output" && x.Name == asked && len(x.Shape) == 0
	})
}

// isNumber reports whether an expression is a functional of a run.
func (iq *inquiry) isNumber(e string) bool {
	q, err := iq.pose(e)
	if err != nil {
		return false
	}
	_, err = iq.ask(q, "objective "+asked+" = ", "")
	return err == nil
}

func mentions(tokens []ast.Token, names map[string]bool) bool {
	for _, t := range tokens {
		if t.Kind == ast.IdentToken && names[t.Text] {
			return true
		}
	}
	return false
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
func (iq *inquiry) asOutput(entry string) (*odes.Model, error) {
	q := &question{entry: entry}
	q.add(entry, 0, len(entry))
	return iq.ask(q, "output "+asked+" = ", "")
}

// curve solves with an expression as output, at no fewer than n times and on both sides of every
// event.
func (iq *inquiry) curve(ctx context.Context, entry string, n int) (*curves, error) {
	m, err := iq.asOutput(entry)
	if err != nil {
		return nil, err
	}
	return iq.trace(ctx, m, entry, n)
}

// trace is curve for the model that asOutput made, or for one of its experiments.
func (iq *inquiry) trace(ctx context.Context, m *odes.Model, entry string, n int) (*curves, error) {
	sol, err := iq.dense(ctx, m, n)
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
	iq.heedOutput(sol, c.Series)
	return c, nil
}

// dense solves so that curves are smooth: at the steps when there are many, otherwise at n times
// and at the events.
func (iq *inquiry) dense(ctx context.Context, m *odes.Model, n int) (*odes.Solution, error) {
	sol, err := m.Solve(ctx, iq.options())
	if err != nil || len(sol.T) < 2 || len(sol.T) > 2*n {
		return sol, err
	}
	times := between(sol.T[0], sol.T[len(sol.T)-1], n)
	for _, e := range sol.Events {
		times = append(times, e.T)
	}
	slices.Sort(times)
	opts := unchecked(iq.options()) // the steps are the same
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

// fixedValue evaluates a question that reads params only, as a param with the shape and unit of
// like; as is written behind the entry.
func (iq *inquiry) fixedValue(q *question, like odes.Symbol, as string) ([]float64, error) {
	prefix := "param " + asked
	if len(like.Shape) > 0 {
		prefix += strings.ReplaceAll(fmt.Sprint(like.Shape), " ", ", ")
	}
	if like.Unit != "" {
		prefix += " : [" + like.Unit + "]"
	}
	m, err := iq.ask(q, prefix+" = ", as)
	if err != nil {
		return nil, err
	}
	symbols, err := m.Symbols(iq.now.set)
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

// goals finds objectives in the model. It makes an objective of an expression, and then returns
// another model.
func (iq *inquiry) goals(m *odes.Model, list []string) (*odes.Model, []string, error) {
	var names []string
	for _, g := range list {
		if name := unquoted(g); iq.isObjective(m, name) {
			names = append(names, name)
			continue
		}
		if len(list) > 1 {
			return nil, nil, fmt.Errorf("the model has no objective %q%s; an expression stands alone: sens final(x)^2",
				g, diag.DidYouMean(g, objectives(m)))
		}
		q, err := iq.pose(g)
		if err != nil {
			return nil, nil, err
		}
		ask, err := iq.ask(q, "objective "+asked+" = ", "")
		if err != nil {
			return nil, nil, err
		}
		return ask, []string{asked}, nil
	}
	return m, names, nil
}

func (iq *inquiry) isObjective(m *odes.Model, name string) bool {
	base, _, _ := strings.Cut(name, "[")
	return slices.Contains(objectives(m), strings.TrimSpace(base))
}
