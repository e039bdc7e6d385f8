package repl

import (
	"context"
	"fmt"
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

// measure adds to a curve the data that the model compares it with. Those of
// experiments belong to other runs.
func (c *curves) measure(output string) {
	if len(c.model.Experiments()) > 0 {
		return
	}
	for _, o := range c.model.Observations() {
		if slices.Contains(o.Outputs, output) {
			c.MT, c.Measured = append(c.MT, o.T...), append(c.Measured, o.Values...)
		}
	}
}

// measured draws an observation with its data: one curve for every experiment that uses them.
func (s *Session) measured(ctx context.Context, o odes.Observation, points int) (plot.Picture, error) {
	q := &question{entry: o.Text, text: o.Text}
	m, err := s.ask(q, "output "+asked+" = ", "")
	if err != nil {
		return nil, err
	}
	i := m.Info()
	l := &plot.Lines{X: plot.Axis{Label: i.Time, Unit: i.TimeUnit}, Y: plot.Axis{Label: o.Name, Unit: o.Unit}}
	same := true
	left := 0
	for _, name := range m.Experiments() {
		x := m.Experiment(name)
		at := slices.IndexFunc(x.Observations(), func(its odes.Observation) bool { return its.Name == o.Name })
		if at < 0 {
			continue
		}
		if len(l.Curves) == mostLines {
			left++
			continue
		}
		sol, err := s.dense(ctx, x, points)
		if err != nil {
			return nil, fmt.Errorf("experiment %s: %w", name, err)
		}
		events := marks(sol.Events)
		if len(l.Curves) == 0 {
			l.Marks = events
		}
		same = same && slices.Equal(events, l.Marks)
		its := x.Observations()[at]
		l.Curves = append(l.Curves, plot.Curve{Name: name, X: sol.T, Y: pick(sol, asked).Values, PX: its.T, PY: its.Values})
	}
	if !same { // they would say nothing of which curve they belong to
		l.Marks = nil
	}
	if left > 0 {
		l.Title = fmt.Sprintf("%s, the first %d of %d experiments", o.Name, mostLines, mostLines+left)
	}
	if n := len(l.Curves); n > mostPanel {
		for k := range l.Curves {
			l.Curves[k].Ramp, l.Curves[k].Of = k+1, n
		}
	}
	return l, nil
}
