package repl

import (
	"context"
	"errors"
	"io"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/plot"
)

// mostPanels is how many panels a picture of members has at most, and mostDots how many dots one of them.
const (
	mostPanels = 12
	mostDots   = 4000
)

// doEnsemble runs an ensemble and shows its statistics.
func (s *Session) doEnsemble(ctx context.Context, w io.Writer, rest string) error {
	rest, l, err := s.cutLook(rest)
	if err != nil {
		return err
	}
	m, err := s.model()
	if err != nil {
		return err
	}
	what, by := clauses(rest, "members", "seed")
	opts := s.options()
	settings := opts.Settings
	for _, c := range []struct{ word, key string }{{"members", "n"}, {"seed", "seed"}} {
		if by[c.word] != "" {
			settings = append(slices.Clip(settings), odes.Setting{Key: "ensemble." + c.key, Value: by[c.word]})
		}
	}
	said, err := m.Members("", settings)
	if err != nil {
		return err
	}
	job := &ensemble.Job{Set: ensemble.Assignments(opts.Set), Options: opts.Settings, Gradient: said.Gradient}
	axes, err := ensemble.ReadAxes(m, opts.Set, what)
	if err == nil {
		job.Design, err = ensemble.DesignFor(m, said, axes)
	}
	if err != nil {
		return err
	}
	p, err := ensemble.OpenModel(job, m)
	if err != nil {
		return err
	}
	e := &report.Ensemble{
		Problem: p, Status: "ok", Statistics: ensemble.NewStatistics(&p.Table), Values: ensemble.NewValues(p),
	}
	config := ensemble.Config{Each: func(c *ensemble.Chunk) error {
		e.Statistics.Add(c)
		e.Values.Add(c)
		return nil
	}}
	if tell := s.progress; tell != nil {
		config.Progress = func(n int) {
			tell(odes.Progress{Phase: odes.PhaseRuns, Steps: n, Done: float64(n) / float64(p.Table.Members)})
		}
	}
	if e.Findings, err = ensemble.Run(ctx, p, config); err != nil {
		return err
	}
	e.Statistics.Conclude(e.Findings)
	e.Status = e.Statistics.Status()
	s.diagnose(w, slices.Concat(m.Outside(opts.Set, p.Table.Members, p.Assign), e.Findings.Warnings()))
	if l.path == "" {
		return report.EnsembleTable(w, s.heading(m), e, s.table())
	}
	picture, err := Members(e)
	if err != nil {
		return err
	}
	return s.deliver(w, picture, l)
}

// Members draws an ensemble: bands of outputs over time, objectives over the axes of a grid (as lines over one, as heat
// maps over two), and otherwise over each value that differs. The values must have been kept.
func Members(e *report.Ensemble) (plot.Picture, error) {
	t := &e.Problem.Table
	stack := &plot.Stack{}
	switch d := e.Problem.Job.Design; {
	case len(t.Series) > 0:
		for k := range t.Series {
			stack.Panels = append(stack.Panels, bandsOf(e, k))
		}
	case len(e.Indices) > 0:
		stack.Panels = shares(e.Indices)
	case len(t.Values) == 0:
		return nil, errors.New("there is nothing to draw: the model has no objective; name outputs with --times")
	case d.Points == ensemble.Grid && len(d.Axes) == 2:
		for k, c := range t.Values {
			stack.Panels = append(stack.Panels, gridOf(e, k, c))
		}
	default:
		for k, c := range t.Values {
			for p := range t.Params {
				stack.Panels = append(stack.Panels, dotsOf(e, k, p, c))
			}
		}
	}
	if len(stack.Panels) > mostPanels {
		stack.Panels = stack.Panels[:mostPanels]
	}
	return stack, nil
}

// bandsOf draws where most members have an output.
func bandsOf(e *report.Ensemble, k int) plot.Picture {
	t := &e.Problem.Table
	info := e.Problem.Model.Info()
	c := t.Series[k]
	outer, inner := plot.Band{Name: "90 % of members", X: t.Times}, plot.Band{Name: "50 % of members", X: t.Times}
	median := plot.Curve{Name: "median", X: t.Times}
	for i := range t.Times {
		q := e.Statistics.Columns[len(t.Values)+len(t.Gradient)+i*len(t.Series)+k].Sketch.Quantiles(
			0.05, 0.25, 0.5, 0.75, 0.95)
		outer.Lo, outer.Hi = append(outer.Lo, q[0]), append(outer.Hi, q[4])
		inner.Lo, inner.Hi = append(inner.Lo, q[1]), append(inner.Hi, q[3])
		median.Y = append(median.Y, q[2])
	}
	return &plot.Lines{
		X: plot.Axis{Label: info.Time, Unit: info.TimeUnit}, Y: plot.Axis{Label: c.Name, Unit: c.Unit},
		Bands: []plot.Band{outer, inner}, Curves: []plot.Curve{median},
	}
}

// axisOf describes an axis of members.
func axisOf(e *report.Ensemble, p int) plot.Axis {
	c := e.Problem.Table.Params[p]
	a := plot.Axis{Label: c.Name, Unit: c.Unit}
	if d := e.Problem.Job.Design; p < len(d.Axes) {
		a.Log = d.Axes[p].Dist == "loguniform"
	}
	return a
}

// gridOf draws an objective over a grid of two axes: the first goes up, the second to the right.
func gridOf(e *report.Ensemble, k int, c ensemble.Column) plot.Picture {
	d := e.Problem.Job.Design
	h := &plot.Heat{
		Title: c.Name, Unit: c.Unit, Rows: axisOf(e, 0), Cols: axisOf(e, 1), FirstRow: 1, FirstCol: 1, Up: true,
	}
	values := e.Values.Of(k)
	for row := range slices.Chunk(values, d.Axes[1].Count) {
		h.Values = append(h.Values, row)
	}
	n := d.Axes[1].Count
	first, last := e.Problem.Assign(0), e.Problem.Assign(n-1)
	for i := range h.Values {
		h.RowNames = append(h.RowNames, short(e.Problem.Assign(i * n)[0].Values[0], 3))
	}
	if !h.Cols.Log {
		h.From, h.To = first[1].Values[0], last[1].Values[0]
	}
	return h
}

// dotsOf draws an objective over one value: as a line along a grid, as dots otherwise.
func dotsOf(e *report.Ensemble, k, p int, c ensemble.Column) plot.Picture {
	l := &plot.Lines{X: axisOf(e, p), Y: plot.Axis{Label: c.Name, Unit: c.Unit}}
	curve := plot.Curve{Name: c.Name, Dots: true}
	if d := e.Problem.Job.Design; d.Points == ensemble.Grid && len(d.Axes) == 1 {
		curve.Dots = false
	}
	values := e.Values.Of(k)
	step := 1
	if curve.Dots {
		step = max(1, len(values)/mostDots)
	}
	for i := 0; i < len(values); i += step {
		curve.X = append(curve.X, e.Problem.Assign(i)[p].Values[0])
		curve.Y = append(curve.Y, values[i])
	}
	l.Curves = []plot.Curve{curve}
	return l
}

// shares draws Sobol indices as bars.
func shares(list []ensemble.Index) (panels []plot.Picture) {
	for from := 0; from < len(list); {
		b := &plot.Bars{
			Title: list[from].Objective, X: plot.Axis{Label: "total Sobol index of " + list[from].Objective},
		}
		to := from
		for ; to < len(list) && list[to].Objective == list[from].Objective; to++ {
			total := list[to].Total
			b.Items = append(b.Items, plot.Bar{
				Label: list[to].Axis, Value: total.Value, Lo: total.Lower, Hi: total.Upper,
			})
		}
		panels, from = append(panels, b), to
	}
	return panels
}
