package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/internal/base/output"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/plot"
)

var outputFlag = lazy.Regexp(`(?:^|\s)-o[ =]*("[^"]+"|\S+)\s*$`)

// cutOutput removes `-o file` from the end of a command.
func cutOutput(text string) (rest, path string) {
	m := outputFlag().FindStringSubmatchIndex(text)
	if m == nil {
		return text, ""
	}
	return strings.TrimSpace(text[:m[0]]), strings.Trim(text[m[2]:m[3]], `"`)
}

// deliver shows a picture, or writes it to a file.
func (d *display) deliver(w io.Writer, p plot.Picture, l look) error {
	if err := l.view.Suits(p); err != nil {
		return err
	}
	p = l.view.Of(p)
	path := l.path
	if path == "" {
		return plot.Text(w, p, l.view.Terminal(d.screen()))
	}
	format := strings.ToLower(path[strings.LastIndexByte(path, '.')+1:])
	var lost []rune
	if err := output.Write(path, d.cfg.Seen, func(w io.Writer) error {
		return plot.Write(w, format, p, plot.Page{Dark: d.cfg.Dark, Lost: &lost, Size: l.view.Size})
	}); err != nil {
		return err
	}
	fmt.Fprintln(w, "wrote "+path)
	if note := plot.LostNote(format, lost); note != "" {
		d.Say(w, "note: %s", note)
	}
	return nil
}

// plotter draws pictures of what the model answers.
type plotter struct{ inquiry }

// PointsInFiles is the number of points that make a curve smooth in a file.
const PointsInFiles = 600

func (s *Session) doPlot(ctx context.Context, w io.Writer, rest string) error {
	rest, l, err := s.cutLook(rest)
	if err != nil {
		return err
	}
	points := 2 * s.width()
	if l.path != "" {
		points = PointsInFiles
	}
	p, err := s.Picture(ctx, rest, points)
	if err != nil {
		return err
	}
	s.diagnose(w, s.doubts.list)
	return s.deliver(w, p, l)
}

// Picture draws what the text after the command plot asks for: expressions over time, `x against
// v`, `d(J)`, `d(J)/d(k)`, `d(x)/d(k)`, `adjoint(J)`, `steps` or `time`, or all outputs for "". For
// a model with experiments, what changes in time is drawn in all of them, or in those behind `in`.
// Curves have at least points points.
func (pl *plotter) Picture(ctx context.Context, what string, points int) (p plot.Picture, err error) {
	_, done := pl.tell()
	defer done()
	pl.doubts = doubts{}
	err = pl.within(what, func(what string) (err error) {
		if p, err = pl.picture(ctx, what, points); err == nil {
			entitle(p, pl.scope.title())
			if pl.doubts.lost {
				entitle(p, ", not to be trusted")
			}
		}
		return err
	})
	return p, err
}

// entitle adds to the title of a picture.
func entitle(p plot.Picture, more string) {
	var title *string
	switch p := p.(type) {
	case *plot.Stack:
		title = &p.Title
	case *plot.Lines:
		title = &p.Title
	case *plot.Bars:
		title = &p.Title
	case *plot.Heat:
		title = &p.Title
	}
	if *title == "" {
		more = strings.TrimPrefix(more, ", ")
	}
	*title += more
}

func (pl *plotter) picture(ctx context.Context, what string, points int) (plot.Picture, error) {
	m, err := pl.model()
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(what) == "" {
		return pl.outputs(ctx, m, points)
	}
	if of, by, ok := derivative(what); ok && !pl.moving(m)["d"] {
		return pl.derivatives(ctx, m, of, by, points)
	}
	if goal, states, ok := adjointOf(what); ok && !pl.moving(m)["adjoint"] {
		return pl.adjoint(ctx, m, goal, states)
	}
	if what == "time" {
		return pl.durations(ctx, m)
	}
	if what == "steps" && !pl.moving(m)["steps"] {
		return pl.steps(ctx, m)
	}
	if y, word, x := cutWord(what, "against"); word != "" {
		return pl.phase(ctx, y, x, points)
	}
	if y, word, x := cutWord(what, "vs", "versus"); word != "" {
		return nil, fmt.Errorf("write plot %s against %s; plot %[1]s draws it over time", y, x)
	}
	what, joined := pl.derivativesTogether(m, what)
	d := &drawing{plotter: pl, of: m, points: points}
	for _, e := range split(what) {
		if err := d.add(ctx, e); err != nil {
			return nil, err
		}
	}
	return d.end(joined), nil
}

// drawing is a picture that is drawn of one expression after the other.
type drawing struct {
	*plotter
	of     *odes.Model
	points int
	list   []*curves // of a single run: similar curves share a panel
	stack  plot.Stack
}

// add draws e.
func (d *drawing) add(ctx context.Context, e string) error {
	if _, _, ok := adjointOf(e); ok && !d.moving(d.of)["adjoint"] {
		return fmt.Errorf("%s is a picture of its own: plot %[1]s", e)
	}
	if of, by, ok := derivative(e); ok && !d.moving(d.of)["d"] {
		if by == "" || d.isNumber(of) {
			return fmt.Errorf("%s is a picture of its own: plot %[1]s", e)
		}
		runs, lists, err := d.sensitivitiesEverywhere(ctx, d.of, of, by, d.points)
		if err != nil {
			return err
		}
		d.draw(runs, lists)
		return nil
	}
	if e == "" {
		return errors.New("an expression is missing: plot x, v")
	}
	runs, lists, err := d.everywhere(ctx, e, d.points)
	switch {
	case err != nil && d.isNumber(e):
		return fmt.Errorf("%s is one number of a run, not a curve: enter it alone; plot d(%[1]s) draws what "+
			"it depends on, sweep … of %[1]s how", e)
	case err != nil:
		return err
	}
	d.draw(runs, lists)
	return nil
}

// draw draws curves of runs, of a single one where its name is empty.
func (d *drawing) draw(runs []string, lists [][]*curves) {
	if runs[0] == "" {
		d.list = append(d.list, lists[0]...)
	} else {
		d.stack.Panels = append(d.stack.Panels, together(d.of.Info(), "", runs, lists).Panels...)
	}
}

// end returns the picture; joined tells that curves which are alike share a panel.
func (d *drawing) end(joined bool) plot.Picture {
	switch {
	case joined && len(d.list) > 0 && alike(d.list):
		names := make([]string, len(d.list))
		for k, c := range d.list {
			names[k] = c.Name
		}
		l := laidOver(d.of.Info(), names, d.list)
		l.Y.Label = ""
		d.stack.Panels = append(d.stack.Panels, l)
	case len(d.list) > 0:
		d.stack.Panels = append(d.stack.Panels, panels(d.of.Info(), "", d.list).Panels...)
	}
	return &d.stack
}

// derivativesTogether returns the list within [d(x)/d(a), d(y)/d(a)], whose curves share a pair of axes.
func (pl *plotter) derivativesTogether(m *odes.Model, what string) (list string, ok bool) {
	inner, opened := strings.CutPrefix(strings.TrimSpace(what), "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !opened || !closed || pl.moving(m)["d"] {
		return what, false
	}
	for _, e := range split(inner) {
		if _, by, ok := derivative(e); !ok || by == "" {
			return what, false
		}
	}
	return inner, true
}

// alike tells whether curves have one unit, and one element each.
func alike(list []*curves) bool {
	return !slices.ContainsFunc(list, func(c *curves) bool { return c.Unit != list[0].Unit || c.size() > 1 })
}

// outputs draws all outputs of a model, from one run or from the run of every experiment.
func (pl *plotter) outputs(ctx context.Context, m *odes.Model, points int) (plot.Picture, error) {
	names, models := pl.runs(m)
	lists, widths := make([][]*curves, len(names)), widths{}
	for k, x := range models {
		sol, err := pl.dense(ctx, x, points)
		if err != nil {
			return nil, inExperiment(names[k], err)
		}
		for _, o := range sol.Outputs {
			o.Unit = known(o.Unit)
			c := &curves{Series: o, T: sol.T, Events: sol.Events, model: x}
			c.measure(o.Name)
			pl.heedOutput(sol, o)
			if err := pl.surround(ctx, c, o.Name, names[k], widths); err != nil {
				return nil, inExperiment(names[k], err)
			}
			lists[k] = append(lists[k], c)
		}
	}
	if len(lists[0]) == 0 {
		return nil, errors.New("the model has no outputs")
	}
	var observed []plot.Picture // observations that are not outputs
	for _, o := range m.Observations() {
		if len(o.Outputs) > 0 {
			continue
		}
		runs, its, err := pl.everywhere(ctx, o.Name, points)
		switch {
		case err != nil:
			return nil, err
		case len(runs) == 0: // no run that is shown has data of it
		case runs[0] == "":
			lists[0] = append(lists[0], its[0]...)
		default:
			observed = append(observed, together(m.Info(), "", runs, its).Panels...)
		}
	}
	p := together(m.Info(), title(m.Info()), names, lists)
	p.Panels = append(p.Panels, observed...)
	return p, nil
}

func title(i odes.Info) string {
	if i.Title != "" {
		return i.Name + ": " + i.Title
	}
	return i.Name
}

const (
	mostLines  = 24 // elements of an array drawn as curves; more are a heat map
	mostPanel  = 6  // bound of the curves that share a panel
	likeRanges = 10 // ranges that differ by less than this factor share a panel
)

// panels arranges curves. Those of one unit and a similar range share a panel.
func panels(i odes.Info, title string, list []*curves) *plot.Stack {
	stack := &plot.Stack{Title: title}
	time := plot.Axis{Label: i.Time, Unit: i.TimeUnit}
	type group struct {
		lines *plot.Lines
		list  []*curves
		top   float64
		array bool
	}
	var groups []*group
	for _, c := range list {
		n := c.size()
		if n > mostLines {
			stack.Panels = append(stack.Panels, heatOf(i, c))
			continue
		}
		top := 0.0
		for _, x := range c.Values {
			if a := math.Abs(x); !math.IsInf(a, 0) && a > top {
				top = a
			}
		}
		var g *group
		for _, o := range groups {
			ratio := top / o.top
			alike := top == 0 || o.top == 0 || ratio < likeRanges && ratio > 1.0/likeRanges
			if !o.array && n == 1 && o.lines.Y.Unit == c.Unit && alike && len(o.lines.Curves) < mostPanel {
				g = o
				break
			}
		}
		if g == nil {
			g = &group{
				lines: &plot.Lines{X: time, Y: plot.Axis{Label: c.Name, Unit: c.Unit}, Marks: marks(c.Events)},
				array: n > 1,
			}
			groups = append(groups, g)
			stack.Panels = append(stack.Panels, g.lines)
		} else {
			g.lines.Y.Label = ""
		}
		g.top, g.list = max(g.top, top), append(g.list, c)
		for k := range n {
			y := make([]float64, len(c.T))
			for j := range y {
				y[j] = c.Values[j*n+k]
			}
			curve := plot.Curve{Name: c.Element(k), X: c.T, Y: y, Gaps: c.Gaps}
			if n == 1 {
				curve.PX, curve.PY, curve.Side, curve.Spread = c.MT, c.Measured, c.Side, c.Spread
			}
			if n > 6 {
				curve.Ramp, curve.Of = k+1, n
			}
			g.lines.Curves = append(g.lines.Curves, curve)
		}
		g.lines.Bands = bands(g.list)
	}
	return stack
}

// marks returns marks for the events of a run.
func marks(events []odes.EventRecord) []plot.Mark {
	var list []plot.Mark
	for _, e := range events {
		if e.Kind != "control" { // the grid of a control shows in its curve
			list = append(list, plot.Mark{X: e.T, Name: e.Name})
		}
	}
	return list
}

// heatOf draws a large array: a vector over time, or a matrix at the end.
func heatOf(i odes.Info, c *curves) plot.Picture {
	n := c.size()
	if len(c.Shape) == 2 {
		at := len(c.T) - 1
		if c.AtStart {
			at = 0
		}
		h := &plot.Heat{
			Title: fmt.Sprintf("%s at %s = %s", c.Name, i.Time, short(c.T[at], 6)), Unit: c.Unit,
			FirstRow: 1, FirstCol: 1, Rows: plot.Axis{Label: "row"}, Cols: plot.Axis{Label: "column"},
		}
		matrix := c.Values[at*n : (at+1)*n]
		for r := range c.Shape[0] {
			h.Values = append(h.Values, matrix[r*c.Shape[1]:(r+1)*c.Shape[1]])
		}
		return h
	}
	const frames = 60
	from, to := c.T[0], c.T[len(c.T)-1]
	h := &plot.Heat{
		Title: c.Name, Unit: c.Unit, From: from, To: to,
		FirstRow: 1, FirstCol: 1, Rows: plot.Axis{Label: "element"}, Cols: plot.Axis{Label: i.Time, Unit: i.TimeUnit},
	}
	for k := range n {
		row := make([]float64, frames)
		at := 0
		for f := range row {
			t := from + (to-from)*float64(f)/(frames-1)
			for at+1 < len(c.T) && c.T[at+1] <= t {
				at++
			}
			row[f] = c.Values[at*n+k]
		}
		h.Values = append(h.Values, row)
	}
	return h
}

// phase draws one expression against another.
func (pl *plotter) phase(ctx context.Context, y, x string, points int) (plot.Picture, error) {
	if x == "" || y == "" {
		return nil, errors.New("write: plot y against x")
	}
	runs, ys, err := pl.everywhere(ctx, y, 2*points)
	if err != nil {
		return nil, err
	}
	others, xs, err := pl.everywhere(ctx, x, 2*points)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(runs, others) {
		return nil, fmt.Errorf("%s and %s are observed in different experiments", y, x)
	}
	p := &plot.Lines{X: plot.Axis{Label: x, Unit: xs[0][0].Unit}, Y: plot.Axis{Label: y, Unit: ys[0][0].Unit}}
	start := plot.Curve{Name: "start", Dots: true}
	for r, run := range runs {
		cx, cy := xs[r][0], ys[r][0]
		n, m := cy.size(), cx.size()
		if n != m && m != 1 && n != 1 || len(cx.T) != len(cy.T) {
			return nil, fmt.Errorf("%s has %d elements and %s has %d: they do not pair", y, n, x, m)
		}
		for k := range min(max(n, m), mostLines) {
			// The curve is broken at jumps, where a time occurs twice.
			var xs, ys []float64
			for i := range cy.T {
				if i > 0 && cy.T[i] == cy.T[i-1] {
					xs, ys = append(xs, math.NaN()), append(ys, math.NaN())
				}
				xs, ys = append(xs, cx.Values[i*m+k%m]), append(ys, cy.Values[i*n+k%n])
			}
			curve := plot.Curve{Name: cy.Element(k), X: xs, Y: ys, Loop: true}
			if run != "" {
				if curve.Name = run; max(n, m) > 1 {
					curve.Name = cy.Element(k) + " in " + run
				}
			}
			p.Curves = append(p.Curves, curve)
			if k == 0 && len(xs) > 0 && !(slices.Contains(start.X, xs[0]) && slices.Contains(start.Y, ys[0])) {
				start.X, start.Y = append(start.X, xs[0]), append(start.Y, ys[0])
			}
		}
	}
	if n := len(p.Curves); n > mostPanel && runs[0] != "" {
		for k := range p.Curves {
			p.Curves[k].Ramp, p.Curves[k].Of = k+1, n
		}
	}
	if len(start.X) > 0 {
		p.Curves = append(p.Curves, start)
	}
	if len(runs) == 1 && runs[0] == "" {
		if m, err := pl.model(); err == nil {
			addField(m, pl.now.set, p, strings.TrimSpace(x), strings.TrimSpace(y))
		}
	}
	return p, nil
}

// stepSizes returns the lengths of the steps of a run: of all, or where several methods made them, of each of these.
func stepSizes(sol *odes.Solution, m *odes.Model) []*curves {
	list := make([]*curves, 1)
	if sol.By != nil {
		list = make([]*curves, len(sol.Stats.Methods))
	}
	for k := range list {
		list[k] = &curves{Events: sol.Events, model: m, Gaps: true}
		list[k].Name, list[k].Unit = "step size", m.Info().TimeUnit
	}
	for j := 1; j < len(sol.T); j++ { // each step takes its own length on the axis
		h := sol.T[j] - sol.T[j-1]
		if h <= 0 {
			continue
		}
		for k, c := range list {
			v := h
			if sol.By != nil && sol.By[j] != k {
				v = math.NaN()
			}
			c.T, c.Values = append(c.T, sol.T[j-1], sol.T[j]), append(c.Values, v, v)
		}
	}
	return list
}

// steps draws the lengths of the steps that runs took.
func (pl *plotter) steps(ctx context.Context, m *odes.Model) (plot.Picture, error) {
	i := m.Info()
	names, models := pl.runs(m)
	var list []*curves
	title := ""
	for k, x := range models {
		sol, err := x.Solve(ctx, unchecked(pl.options()))
		if err != nil {
			return nil, inExperiment(names[k], err)
		}
		if len(models) == 1 && sol.By != nil {
			names = nil
			for _, m := range sol.Stats.Methods {
				names = append(names, "by "+m.Name)
			}
		} else {
			sol.By = nil
		}
		list = append(list, stepSizes(sol, x)...)
		title = fmt.Sprintf("steps of %s: %d taken, %d rejected, rtol %s", sol.Settings.Method, sol.Stats.Steps,
			sol.Stats.Rejected, short(sol.Settings.RTol, 3))
		if also := append(report.ImplicitWork(sol.Stats), report.Rejections(sol.Stats)...); len(also) > 0 {
			title += "; " + strings.Join(also, ", ")
		}
		if len(models) > 1 {
			title = fmt.Sprintf("steps of %s, rtol %s", sol.Settings.Method, short(sol.Settings.RTol, 3))
		}
	}
	if names[0] == "" {
		names = []string{"step size"}
	}
	l := laidOver(i, names, list)
	l.Title, l.Y.Log = title, true
	for k := range l.Curves {
		l.Curves[k].Loop = true
	}
	return l, nil
}
