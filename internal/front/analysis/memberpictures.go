package analysis

import (
	"slices"
	"strconv"

	"odes.dev/odes/ensemble"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/plot"
)

// mostPanels is how many panels a picture of members has at most, and mostDots how many dots one of them.
const (
	mostPanels = 12
	mostDots   = 4000
)

// memberPictures is the picture of members.
var memberPictures = []Picture{{"members", "lines, heat maps, or bands of outputs", drawMembers}}

// drawMembers draws an ensemble: bands of outputs over time, objectives over the axes of a grid (as lines over one, as
// heat maps over two), and otherwise over each value that differs. The values must have been kept.
func drawMembers(_ *About, of any) (plot.Picture, error) {
	e := of.(*report.Ensemble)
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
		return nil, Wrongf("there is nothing to draw: the model has no objective; name outputs with --times")
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
		h.RowNames = append(h.RowNames, strconv.FormatFloat(e.Problem.Assign(i * n)[0].Values[0], 'g', 3, 64))
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
