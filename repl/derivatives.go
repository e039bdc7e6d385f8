package repl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/parser"
	"odes.dev/odes/plot"
)

// derivative reads d(of) or d(of)/d(by). The result ok is false for any other text.
func derivative(text string) (of, by string, ok bool) {
	tokens := parser.TokensOf(text)
	part := func(i int) (string, int) {
		if i+1 >= len(tokens) || tokens[i].Text != "d" || tokens[i+1].Text != "(" {
			return "", -1
		}
		end := closing(tokens, i+1)
		if end < 0 {
			return "", -1
		}
		return strings.TrimSpace(text[tokens[i+1].End:tokens[end].Start]), end + 1
	}
	of, next := part(0)
	if next < 0 {
		return "", "", false
	}
	if next == len(tokens) {
		return of, "", true
	}
	if tokens[next].Text != "/" {
		return "", "", false
	}
	by, next = part(next + 1)
	return of, by, next == len(tokens)
}

// derivatives draws what an objective depends on, or the sensitivity of something that changes in
// time.
func (pl *plotter) derivatives(ctx context.Context, m *odes.Model, of, by string, points int) (plot.Picture, error) {
	if e, text := pl.course(m, of); text != "" && by != "" {
		if p, err := pl.overTime(ctx, of, e, text, by, points); err == nil || odes.Interrupted(err) {
			return p, err
		} // by an array, for example, which is drawn below
	}
	goals, names, err := pl.goals(m, []string{of})
	if err != nil {
		if !hasCode(err, codeTrajectory) {
			return nil, err
		}
		return pl.overTimeEverywhere(ctx, m, of, by, points)
	}
	opts := pl.options()
	opts.Of = names
	if by != "" {
		opts.Wrt = split(by)
	}
	res, err := fit.Sensitivities(ctx, goals, opts)
	if err != nil {
		return nil, err
	}
	pl.heed(res, of)
	if by != "" && len(res.Variables) == 1 {
		unit := goals.DerivativeUnit(res.Values[0].Name, res.Variables[0])
		rename(res.Values, of)
		return array(res, res.Variables[0], of, unit), nil
	}
	rename(res.Values, of)
	stack := &plot.Stack{Title: firstOf(of, len(res.Values))}
	for i := range res.Values {
		if i == mostGoals {
			break
		}
		b, err := pl.tornado(ctx, m, res, i)
		if err != nil {
			return nil, err
		}
		stack.Panels = append(stack.Panels, b)
	}
	return stack, nil
}

// mostGoals bounds the objectives of an array that are drawn.
const mostGoals = 6

// firstOf says which of n objectives are drawn if not all are.
func firstOf(name string, n int) string {
	if n <= mostGoals {
		return ""
	}
	return fmt.Sprintf("the first %d of %d elements of %s", mostGoals, n, name)
}

// array draws the derivatives by one variable in the shape of the variable.
func array(res *odes.Sensitivities, v odes.Variable, of, unit string) plot.Picture {
	n := v.Size()
	title := fmt.Sprintf("d %s / d %s", of, v)
	switch {
	case len(res.Values) == 1 && len(v.Shape) == 2:
		h := &plot.Heat{
			Title: title, Unit: unit, Rows: plot.Axis{Label: "row"}, Cols: plot.Axis{Label: "column"},
			FirstRow: 1, FirstCol: 1,
		}
		d := res.Derivative(0, v)
		for r := range v.Shape[0] {
			h.Values = append(h.Values, d[r*v.Shape[1]:(r+1)*v.Shape[1]])
		}
		return h
	case len(res.Values) > 1 && n > 1:
		h := &plot.Heat{
			Title: title, Unit: unit, Rows: plot.Axis{Label: of}, Cols: plot.Axis{Label: v.String()},
			FirstRow: 1, FirstCol: 1,
		}
		for i := range res.Values {
			h.Values = append(h.Values, res.Derivative(i, v))
		}
		return h
	case n > 30 || len(res.Values) > 30:
		count := max(n, len(res.Values))
		x, y := make([]float64, count), make([]float64, count)
		for k := range x {
			x[k] = float64(k + 1)
			if n > 1 {
				y[k] = res.Derivative(0, v)[k]
			} else {
				y[k] = res.Derivative(k, v)[0]
			}
		}
		return &plot.Lines{
			X: plot.Axis{Label: "element"}, Y: plot.Axis{Label: title, Unit: unit},
			Curves: []plot.Curve{{Name: title, X: x, Y: y}},
		}
	}
	b := &plot.Bars{Title: title, X: plot.Axis{Label: "derivative", Unit: unit}}
	for i, value := range res.Values {
		for k, d := range res.Derivative(i, v) {
			label := v.Element(k)
			if len(res.Values) > 1 {
				label = value.Name
			}
			b.Items = append(b.Items, plot.Bar{Label: label, Value: d})
		}
	}
	return b
}

const mostBars = 20

// Influences draws what objective i of a result depends on.
func (pl *plotter) Influences(ctx context.Context, res *odes.Sensitivities, i int) (plot.Picture, error) {
	m, err := pl.model()
	if err != nil {
		return nil, err
	}
	return pl.tornado(ctx, m, res, i)
}

// tornado draws what objective i depends on, the most influential first. A bar shows by how many
// percent the objective changes when a value changes by one percent. Where percents are not
// defined, it shows the derivative.
func (pl *plotter) tornado(ctx context.Context, m *odes.Model, res *odes.Sensitivities, i int) (*plot.Bars, error) {
	values, err := pl.valuesOf(ctx, m, res.Variables)
	if err != nil {
		return nil, err
	}
	goal := res.Values[i]
	scaled := goal.Value != 0 && !math.IsNaN(goal.Value)
	if scaled { // at least one value must remain after scaling
		scaled = slices.ContainsFunc(res.Variables, func(v odes.Variable) bool {
			d := res.Derivative(i, v)
			for k := range d {
				if d[k] != 0 && values[v.String()][k] != 0 {
					return true
				}
			}
			return false
		})
	}
	var items []plot.Bar
	unscaled := 0
	for _, v := range res.Variables {
		for k, d := range res.Derivative(i, v) {
			b := plot.Bar{Label: v.Element(k), Value: d}
			if scaled {
				p := values[v.String()][k]
				b.Value = d * p / goal.Value
				if p == 0 && d != 0 {
					b.Note = "its value is 0; derivative " + withUnit(short(d, 3), "")
					unscaled++
				}
			}
			if res.Trusts != nil && b.Note == "" {
				switch res.Trusts[i*res.Columns+v.Offset+k] {
				case odes.Loose:
					b.Note = "about " + short(b.Value, 1)
				case odes.Lost:
					b.Note = caution(odes.Lost)
				}
			}
			if x, sided := res.OnBothSides(i, v.Offset+k); sided && b.Note == "" {
				b.Note = "left " + short(x.Left, 3) + ", right " + short(x.Right, 3)
			}
			items = append(items, b)
		}
	}
	slices.SortStableFunc(items, func(a, b plot.Bar) int {
		x, y := math.Abs(a.Value), math.Abs(b.Value)
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	b := &plot.Bars{Title: fmt.Sprintf("%s = %s", goal.Name,
		withUnit(short(goal.Value, digitsOf(res.Settings.RTol)), goal.Unit)), Items: items}
	if note := caution(goal.Trust); note != "" && !math.IsNaN(goal.Value) {
		b.Title += " (" + note + ")"
	}
	b.X.Label = "derivative"
	if scaled {
		b.X.Label = fmt.Sprintf("%% that %s changes by when each changes by 1 %%", goal.Name)
	}
	if len(items) > mostBars {
		b.Items = items[:mostBars]
		b.X.Label += fmt.Sprintf(" (largest %d of %d)", mostBars, len(items))
	}
	return b, nil
}

// valuesOf returns the values of the params and initial values that gradients are taken by.
func (iq *inquiry) valuesOf(ctx context.Context, m *odes.Model, vars []odes.Variable) (map[string][]float64, error) {
	symbols, err := m.Symbols(iq.now.set)
	if err != nil {
		return nil, err
	}
	out := map[string][]float64{}
	for _, x := range symbols {
		if x.Kind == "param" {
			out[x.Name] = x.Values
		}
	}
	for _, v := range vars {
		if !v.Initial {
			continue
		}
		q := &question{text: "initial(`" + v.Name + "`)", entry: v.String()}
		ask, err := iq.ask(q, "objective "+asked+" = ", "")
		if err != nil {
			return nil, err
		}
		opts := unchecked(iq.options())
		opts.Of = []string{asked}
		sol, err := ask.Solve(ctx, opts)
		if err != nil {
			return nil, err
		}
		for _, value := range sol.Values {
			out[v.String()] = append(out[v.String()], value.Value)
		}
	}
	return out, nil
}

// course says how an objective of the form final(e) or integral(e) evolves in time. It returns e,
// and a pattern of the objective at a time.
func (pl *plotter) course(m *odes.Model, name string) (e, pattern string) {
	name = unquoted(name)
	if !pl.isObjective(m, name) {
		return "", ""
	}
	items, _ := parser.Outline(pl.name(), pl.now.text)
	for _, it := range items {
		if it.Kind != "objective" || len(it.Parts) == 0 || unquoted(it.Parts[0].Name) != name {
			continue
		}
		value := pl.now.text[it.Parts[0].ValueStart:it.Parts[0].ValueEnd]
		tokens := parser.TokensOf(value)
		if len(tokens) < 3 || tokens[1].Text != "(" || closing(tokens, 1) != len(tokens)-1 {
			return "", ""
		}
		e = value[tokens[1].End:tokens[len(tokens)-1].Start]
		switch {
		case len(split(e)) != 1:
		case tokens[0].Text == "final":
			return e, "sum_at([%s], %s)"
		case tokens[0].Text == "integral":
			return e, "integral(%[2]s, to = %[1]s)"
		}
	}
	return "", ""
}

// The number of times at which sensitivities are drawn. Each is an objective of its own.
const (
	timesOnScreen = 60
	timesInFiles  = 240
)

// mostJumps is up to how many events curves of sensitivities show both sides of each.
const mostJumps = 500

// besideEvents returns the times with those just before and just after each event in place of what is at the event:
// sensitivities jump there.
func besideEvents(times []float64, events []odes.EventRecord) []float64 {
	if len(events) > mostJumps {
		return times
	}
	from, to := times[0], times[len(times)-1]
	aside := 1e-6 * (to - from)
	at := func(t float64) bool {
		return slices.ContainsFunc(events, func(e odes.EventRecord) bool { return math.Abs(t-e.T) < aside/2 })
	}
	times = slices.DeleteFunc(times, at)
	for _, e := range events {
		for _, t := range []float64{e.T - aside, e.T + aside} {
			if t >= from && t <= to && !at(t) {
				times = append(times, t)
			}
		}
	}
	slices.Sort(times)
	return slices.Compact(times)
}

// overTime draws how the sensitivity of e changes in time. The pattern makes an objective of a time
// and e, and name is the name of the result.
func (pl *plotter) overTime(ctx context.Context, name, e, pattern, by string, points int) (plot.Picture, error) {
	list, err := pl.sensitivities(ctx, name, e, pattern, by, points)
	if err != nil {
		return nil, err
	}
	return panels(list[0].model.Info(), "", list), nil
}

// overTimeEverywhere draws the same in all runs that a picture shows.
func (pl *plotter) overTimeEverywhere(ctx context.Context, m *odes.Model, e, by string, points int) (plot.Picture,
	error,
) {
	names, lists, err := pl.sensitivitiesEverywhere(ctx, m, e, by, points)
	if err != nil {
		return nil, err
	}
	return together(m.Info(), "", names, lists), nil
}

// sensitivitiesEverywhere returns how the sensitivity of e changes in time, in all runs that a picture shows. It leaves
// out those for which the picture has no room: each asks for a model of its own.
func (pl *plotter) sensitivitiesEverywhere(ctx context.Context, m *odes.Model, e, by string, points int) (
	names []string, lists [][]*curves, err error,
) {
	names, _ = pl.runs(m)
	of := len(names)
	names = names[:min(of, mostLines)]
	lists = make([][]*curves, len(names))
	for k, name := range names {
		if name == "" {
			name = unchanged
			if pl.scope.experiment != "" {
				name = pl.scope.experiment
			}
		}
		err := pl.inside(name, func() (err error) {
			lists[k], err = pl.sensitivities(ctx, e, e, "sum_at([%s], %s)", by, points)
			for _, c := range lists[k] {
				c.Of = of
			}
			return err
		})
		if err != nil {
			return nil, nil, inExperiment(names[k], err)
		}
	}
	return names, lists, nil
}

// sensitivities returns the sensitivities of e over time. There is at least one.
func (pl *plotter) sensitivities(ctx context.Context, name, e, pattern, by string, points int) ([]*curves, error) {
	c, err := pl.curve(ctx, e, 2)
	if err != nil {
		return nil, err
	}
	if c.size() != 1 {
		return nil, fmt.Errorf("%s is an array; choose an element: d(%s[1])", name, name)
	}
	if len(c.T) < 2 || !(c.T[len(c.T)-1] > c.T[0]) {
		return nil, errors.New("the run has no length")
	}
	m := c.model
	count := timesOnScreen
	if points >= PointsInFiles {
		count = timesInFiles
	}
	times := besideEvents(between(c.T[0], c.T[len(c.T)-1], count), c.Events)
	q := &question{entry: e}
	var names []string
	for i, t := range times {
		goal := fmt.Sprintf("%s%d", asked, i)
		names = append(names, goal)
		q.text += "objective " + goal + " = "
		before, after, _ := strings.Cut(fmt.Sprintf(pattern, literalNumber(t), "\x00"), "\x00")
		q.text += before
		q.add(e, 0, len(e))
		q.text += after + "\n"
	}
	ask, err := pl.ask(q, "", "")
	if err != nil {
		return nil, err
	}
	opts := pl.options()
	opts.Of = names
	if by != "" {
		opts.Wrt = split(by)
	}
	res, err := ask.Sensitivities(ctx, opts)
	if err != nil {
		return nil, err
	}
	values, err := pl.valuesOf(ctx, m, res.Variables)
	if err != nil {
		return nil, err
	}
	top := 0.0 // changes below the rounding of e do not count
	for _, y := range c.Values {
		if a := math.Abs(y); !math.IsInf(a, 0) {
			top = max(top, a)
		}
	}
	var list []*curves
	for _, v := range res.Variables {
		if v.Size() > mostLines {
			return nil, fmt.Errorf("%s has %d elements, which are too many curves over time; choose one, as in "+
				"%s[%s], or draw all at the end: plot d(final(%s))/d(%[1]s)",
				v, v.Size(), v, strings.TrimSuffix(strings.Repeat("1,", len(v.Shape)), ","), name)
		}
		for k := range v.Size() {
			if len(list) == mostLines {
				break
			}
			d := &curves{Events: c.Events, model: m, Gaps: true}
			d.Name = fmt.Sprintf("d %s / d %s", name, v.Element(k))
			d.Unit = ask.DerivativeUnit(res.Values[0].Name, v)
			moves := false
			for r, t := range times {
				if r > 0 && slices.ContainsFunc(c.Events, func(e odes.EventRecord) bool {
					return e.T > times[r-1] && e.T < t
				}) {
					// The sensitivity may jump there, so the curve is broken.
					d.T, d.Values = append(d.T, t), append(d.Values, math.NaN())
				}
				x := res.Derivative(r, v)[k]
				moves = moves || x != 0 && !(math.Abs(x*values[v.String()][k]) <= 1e-13*top &&
					values[v.String()][k] != 0)
				d.T, d.Values = append(d.T, t), append(d.Values, x)
			}
			if moves || by != "" {
				list = append(list, d)
				pl.heedCurve(res, d.Name, v, k)
			}
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s depends on none of the params", name)
	}
	return list, nil
}

func literalNumber(x float64) string { return strings.Trim(literal(x, ""), "()") }
