package lag_test

import (
	"context"
	"strings"
	"testing"

	"odes.dev/odes"
)

const begin = `
time t from 0 to 3
param k = 1, tau = 0.5
state x = 1, y = 0
x' = -k*delay(x, tau)
y' = x
objective J = final(x) + final(y)
`

// TestRefused: what does not go with delays says so, and where; nothing leaves a delay out.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		text, want string
		settings   [][2]string
	}{
		{text: begin + "let z = delay(x, -1)\nobjective K = final(z)", want: "a delay is a positive number"},
		{text: strings.Replace(begin, "tau = 0.5", "tau = -0.5", 1), want: "a delay is not negative"},
		{text: strings.Replace(begin, "tau = 0.5", "tau = 0", 1), want: "a delay that vanishes"},
		{text: begin + "objective K = final(delay(x, delay(y, 1)))", want: "this delay reads the past itself"},
		{text: begin + "let z = delay(x, 1 - t)\nobjective K = integral(z)", want: "a delay is not negative"},
		{
			text: begin + "event e at 1 { x += 1 }\nevent f when delay(x, 1 + t/9) > 1.05 { y = 0 }",
			want: "when a jump of a state comes back after a delay that moves",
		},
		{text: begin + "let z = delay(x, y - 1)\nobjective K = integral(z)", want: "a delay is not negative"},
		{text: begin + "objective K = final(delay(delay(x, 1), 1))", want: "this is delayed already"},
		{text: begin + "objective K = final(delay(k, 1))", want: "this does not change along the run"},
		{text: begin + "discrete d = 1\npast d = 2\nobjective K = final(delay(d, 1))", want: "states have a past"},
		{text: begin + "objective K = delay(x, 1)", want: "an objective has no earlier values"},
		{text: begin + "objective K = max_over(x)", want: "max_over does not go with delays yet"},
		{text: begin + "past k = 2", want: "states have a past"},
		{text: begin + "past x = 2\npast x = 3", want: "two pasts"},
		{text: begin + "past x = y", want: `a past cannot use the state "y"`},
		{text: begin + "past x = [1, 2]", want: "the past of x must be a scalar"},
		{text: begin + "alg a = 0\n0 = a - x", want: "an algebraic equation does not go with delays yet"},
		{
			text: begin + "event kick at 1 { x += 1 }\nevent e when delay(x, tau) > 1.01 { y = 0 }\n" +
				"event other at 1.5 { y = 1 }", want: "something else happens at that time",
		},
		{
			text: begin + "event kick at 1 { x += 1 }\nevent e when delay(x, tau) > 1.01 { y = delay(x, tau) }",
			want: "reads what jumps",
		},
		{text: begin + "let z = log(2 - t)\nobjective K = integral(z)", want: "is not a finite number"},
		{
			text: begin + "let z = delay(x, 1 + y)\nobjective K = integral(z)", want: "fixed_step where delays move",
			settings: [][2]string{{"solver.fixed_step", "0.1"}},
		},
		{
			text: begin + "let z = delay(x, 1 + t/9)\nobjective K = integral(z)", want: "a run in complex arithmetic",
			settings: [][2]string{{"sens.mode", "complex"}},
		},
		{text: begin, want: "mode = continuous does not go", settings: [][2]string{{"sens.mode", "continuous"}}},
		{
			text: begin + "objective K = steady(x)", want: "a second derivative does not go",
			settings: [][2]string{{"sens.order", "2"}},
		},
		{text: begin, want: "steps of fixed length", settings: [][2]string{
			{"solver.method", "tsit5"}, {"solver.fixed_step", "0.6"},
		}},
	} {
		opts := odes.Options{}
		for _, s := range c.settings {
			opts.Settings = append(opts.Settings, odes.Setting{Key: s[0], Value: s[1]})
		}
		m, err := odes.Parse("m.ode", c.text, odes.ParseOptions{})
		if err == nil {
			_, err = m.Sensitivities(context.Background(), opts)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n%v\nthe message is\n%v\nwant %q", c.text, c.settings, err, c.want)
		}
	}
}

// TestFreeWords: delay and past are names where no call and no item is meant.
func TestFreeWords(t *testing.T) {
	m, err := odes.Parse("m.ode", `
time t from 0 to 3
param delay = 0.5, past = 2
state x = past
past x = past + t
x' = -delay(x, delay)
objective J = final(x)
`, odes.ParseOptions{})
	if err == nil {
		var s *odes.Sensitivities
		if s, err = m.Sensitivities(context.Background(), odes.Options{}); err == nil && len(s.Variables) != 2 {
			t.Errorf("%v", s.Variables)
		}
	}
	if err != nil {
		t.Error(err)
	}
}
