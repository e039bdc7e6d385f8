package repl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/plot"
)

// observation returns the observation of the given name.
func observation(m *odes.Model, name string) (odes.Observation, bool) {
	for _, o := range m.Observations() {
		if o.Name == name {
			return o, true
		}
	}
	return odes.Observation{}, false
}

// measure adds to a curve the data that the model compares it with. Data beyond a limit of
// quantification are drawn at the limit. Data of experiments belong to other runs.
func (c *curves) measure(output string) {
	for _, o := range c.observed(output) {
		for i, y := range o.Values {
			side, spread := 0, math.NaN()
			if o.Ranges != nil {
				y, side = o.Ranges[i].Tell(y)
			}
			if o.Widths != nil {
				if lo, hi := o.Around(y, o.Widths[i]); hi-y == y-lo {
					spread = hi - y
				}
			}
			c.MT, c.Measured, c.Side = append(c.MT, o.T[i]), append(c.Measured, y), append(c.Side, side)
			c.Spread = append(c.Spread, spread)
		}
	}
}

// observed lists the observations of an output in the run of a curve.
func (c *curves) observed(output string) (list []odes.Observation) {
	if len(c.model.Experiments()) > 0 {
		return nil
	}
	for _, o := range c.model.Observations() {
		if slices.Contains(o.Outputs, output) {
			list = append(list, o)
		}
	}
	return list
}

// widths are models that have the width of an interval as an output, by its text. Experiments share them, since a model
// takes the longer to compile the more experiments it has. A width that depends on the row of a table has none.
type widths map[string]*odes.Model

// surround adds to a curve the interval in which most of its data lie, where that follows from the model alone.
func (iq *inquiry) surround(ctx context.Context, c *curves, output, run string, kept widths) error {
	list := c.observed(output)
	if len(list) != 1 || list[0].Widths != nil || c.size() > 1 {
		return nil
	}
	o := list[0]
	width := func(float64) float64 { return 0 }
	if o.Width != "" {
		m, ok := kept[o.Width]
		if !ok {
			var err error
			if m, err = iq.asOutput(o.Width); hasCode(err, odes.CodeMemory) {
				return err
			}
			kept[o.Width] = m
		}
		if m == nil {
			return nil
		}
		if run != "" {
			m = m.Experiment(run)
		}
		opts := unchecked(iq.options())
		opts.Times = slices.Compact(slices.Clone(c.T))
		sol, err := m.Solve(ctx, opts)
		if err != nil {
			return err
		}
		values := pick(sol, asked).Values
		width = func(t float64) float64 { return plot.At(sol.T, values, t) }
	}
	for i, t := range c.T {
		lo, hi := o.Around(c.Values[i], width(t))
		c.Low, c.High = append(c.Low, lo), append(c.High, hi)
	}
	return nil
}

// bands returns the intervals of curves that share a pair of axes.
func bands(list []*curves) (out []plot.Band) {
	for k, c := range list {
		if c.Low == nil {
			continue
		}
		b := plot.Band{X: c.T, Lo: c.Low, Hi: c.High, Curve: k + 1}
		if len(out) == 0 { // they look alike
			b.Name = "noise of the data"
		}
		out = append(out, b)
	}
	return out
}

// together arranges the curves of several runs: one panel for each name in their lists, with a
// curve for every run.
func together(i odes.Info, title string, runs []string, lists [][]*curves) *plot.Stack {
	if len(runs) == 1 && runs[0] == "" {
		return panels(i, title, lists[0])
	}
	stack := &plot.Stack{Title: title}
	done := map[string]bool{}
	for _, list := range lists {
		for _, c := range list {
			if done[c.Name] {
				continue
			}
			done[c.Name] = true
			var names []string
			var its []*curves
			for r := range runs {
				if k := slices.IndexFunc(lists[r], func(o *curves) bool { return o.Name == c.Name }); k >= 0 {
					names, its = append(names, runs[r]), append(its, lists[r][k])
				}
			}
			if c.size() == 1 {
				stack.Panels = append(stack.Panels, laidOver(i, names, its))
				continue
			}
			for r, x := range its[:min(len(its), mostPanel)] {
				for _, p := range panels(i, "", []*curves{x}).Panels {
					switch p := p.(type) {
					case *plot.Lines:
						p.Y.Label += " in " + names[r]
					case *plot.Heat:
						p.Title += " in " + names[r]
					}
					stack.Panels = append(stack.Panels, p)
				}
			}
		}
	}
	return stack
}

// laidOver draws one expression in several runs.
func laidOver(i odes.Info, runs []string, list []*curves) *plot.Lines {
	l := &plot.Lines{
		X: plot.Axis{Label: i.Time, Unit: i.TimeUnit},
		Y: plot.Axis{Label: list[0].Name, Unit: list[0].Unit},
	}
	if n := max(len(list), list[0].Of); n > mostLines {
		list = list[:min(len(list), mostLines)]
		l.Title = fmt.Sprintf("%s, the first %d of %d experiments", list[0].Name, len(list), n)
	}
	l.Marks, l.Bands = marks(list[0].Events), bands(list)
	for k, c := range list {
		curve := plot.Curve{
			Name: runs[k], X: c.T, Y: c.Values, PX: c.MT, PY: c.Measured, Side: c.Side, Spread: c.Spread, Gaps: c.Gaps,
		}
		if n := len(list); n > mostPanel {
			curve.Ramp, curve.Of = k+1, n
		}
		l.Curves = append(l.Curves, curve)
		if !slices.Equal(marks(c.Events), l.Marks) { // marks would not say which curve they belong to
			l.Marks = nil
		}
	}
	return l
}
