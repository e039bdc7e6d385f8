package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/parser"
	"odes.dev/odes/plot"
)

// adjointOf reads adjoint(J) or adjoint(J, x, v). The result ok is false for any other text.
func adjointOf(what string) (goal string, states []string, ok bool) {
	tokens := parser.TokensOf(what)
	if len(tokens) < 4 || tokens[0].Text != "adjoint" || tokens[1].Text != "(" || closing(tokens, 1) != len(tokens)-1 {
		return "", nil, false
	}
	parts := split(what[tokens[1].End:tokens[len(tokens)-1].Start])
	if slices.Contains(parts, "") {
		return "", nil, false
	}
	return parts[0], parts[1:], true
}

// smooth is the number of steps up to which a curve known at the ends of steps only is not smooth.
const smooth = 120

// adjoint draws the adjoint states of an objective, or some of them.
func (pl *plotter) adjoint(ctx context.Context, m *odes.Model, goal string, states []string) (plot.Picture, error) {
	goals, names, err := pl.goals(m, []string{goal})
	if err != nil {
		return nil, err
	}
	opts := pl.options()
	opts.Of = names
	c, err := goals.Costates(ctx, opts)
	if err != nil {
		return nil, err
	}
	if len(c.T) == 0 {
		return nil, errors.New("the run has no length")
	}
	if from, to := c.T[0], c.T[len(c.T)-1]; len(c.T) < smooth {
		opts.Settings = append(slices.Clone(opts.Settings),
			odes.Setting{Key: "solver.hmax", Value: literalNumber((to - from) / smooth)})
		if finer, err := goals.Costates(ctx, opts); err == nil {
			c = finer
		}
	}
	rename(c.Objectives, goal)
	i := m.Info()
	stack := &plot.Stack{}
	for o, value := range c.Objectives {
		if o == mostGoals {
			break
		}
		var names []string
		var lists [][]*curves
		for _, run := range pl.costatesOf(c) {
			var list []*curves
			for _, x := range run.Of[o] {
				if len(states) > 0 && !slices.Contains(states, x.Name) {
					continue
				}
				if (len(states) == 0 || len(c.Experiments) > 0) && !slices.ContainsFunc(x.Values, func(v float64) bool {
					return v != 0
				}) {
					continue // the objective does not depend on it
				}
				x.Name = fmt.Sprintf("d %s / d %s", value.Name, x.Name)
				x.Unit = known(x.Unit)
				list = append(list, &curves{Series: x, T: run.T, Events: run.Events, model: m, AtStart: true})
			}
			if len(list) > 0 {
				names, lists = append(names, run.Name), append(lists, list)
			}
		}
		switch {
		case len(lists) == 0 && len(states) == 0:
			return nil, fmt.Errorf("%s depends on no state at any time", value.Name)
		case len(lists) == 0:
			return nil, fmt.Errorf("the model has none of the states %s", strings.Join(states, ", "))
		}
		stack.Panels = append(stack.Panels, together(i, "", names, lists).Panels...)
	}
	if first := firstOf(goal, len(c.Objectives)); first != "" {
		goal = first
	}
	stack.Title = fmt.Sprintf("adjoint states of %s: what it changes by when a state is moved at %s", goal, i.Time)
	return stack, nil
}

// costatesOf returns the adjoint states of all runs that a picture shows. The run without the
// changes of any experiment has the name that `in` gives it.
func (pl *plotter) costatesOf(c *odes.Costates) []odes.ExperimentCostates {
	list := []odes.ExperimentCostates{{Name: unchanged, T: c.T, Of: c.Of, Events: c.Events}}
	switch {
	case len(c.Experiments) == 0:
		list[0].Name = ""
	case pl.scope.only != nil:
		return slices.DeleteFunc(slices.Clone(c.Experiments), func(x odes.ExperimentCostates) bool {
			return !slices.Contains(pl.scope.only, x.Name)
		})
	case !pl.scope.unchanged:
		list = append(list, c.Experiments...)
	}
	return list
}

// durations draws how the time of a gradient is divided.
func (pl *plotter) durations(ctx context.Context, m *odes.Model) (plot.Picture, error) {
	res, err := m.Sensitivities(ctx, pl.options())
	if err != nil {
		return nil, err
	}
	t := res.Stats.Seconds
	b := &plot.Bars{
		Title: fmt.Sprintf("where the time goes: %d steps, %d right-hand sides, %d transposes", res.Stats.Steps,
			res.Stats.F, res.Stats.VJP),
		X: plot.Axis{Label: "time", Unit: "ms"},
	}
	for _, part := range []struct {
		name    string
		seconds float64
	}{
		{"parse", t.Parse},
		{"compile", t.Compile},
		{"forward", t.Forward},
		{res.Settings.Mode, t.Adjoint},
		{"check", t.Check},
	} {
		b.Items = append(b.Items, plot.Bar{
			Label: part.name, Value: 1000 * part.seconds,
			Note: short(1000*part.seconds, 3),
		})
	}
	return b, nil
}
