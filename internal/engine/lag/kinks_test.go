package lag_test

import (
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestStaysAtKinks reads runs that are at a kink or a threshold for a while because what they read is constant there:
// derivatives by what moves them off have a mark, and no others do. Those of second derivatives are marked beside.
func TestStaysAtKinks(t *testing.T) {
	const head = "time t from 0 to 3\nparam a = 0.5, c = 0.5, p = 1\n"
	const y = "state y = a\ny' = 0.2\n"
	const x = "state x = a\nx' = 0.1 - x + "
	const q = "state q = 0\nobjective J = final(q)\n"
	for _, of := range []struct{ text, marked, second string }{
		// What is read is the initial state.
		{y + "objective J = integral(max(delay(y, 1) - c, 0))", "a c", "a c"},
		{y + "objective J = integral(max(delay(y, 1) - c, 0)^2)", "", "a c"},
		{y + "objective J = integral(max(delay(y, 1) - p, 0)^2)", "", ""},
		{y + "objective J = integral(if delay(y, 1) > c then (delay(y, 1) - c)^2 else 0)", "", "a c"},
		{x + "max(delay(x, 1) - c, 0)\nobjective J = final(x)", "a c", ""},
		{x + "max(delay(x, 1) - c, 0)\nobjective J = final(x)\nsolver { method = radau5 }", "a c", ""},
		{x + "max(delay(x, 1) - c, 0)^2\nobjective J = final(x)", "", "a c"},
		{x + "max(delay(x, 1) - p, 0)\nobjective J = final(x)", "", ""},
		{x + "(if delay(x, 1) > c then 1 else 0)\nobjective J = final(x)", "a c", ""},
		// Something else happens at the start.
		{x + "abs(delay(x, 1) - c)\ndiscrete n = 0\nevent when x < c { n = 1 }\nobjective J = final(x)", "a c", ""},
		{x + "abs(delay(x, 1) - c)*(if x < c then 1 else 2)\nobjective J = final(x)", "a c", ""},
		// A condition is at its threshold as long as both sides of it rest.
		{
			"state x = a, y = c\nx' = 0.5 - x + (if delay(y, 0.5) > x then 1 else 0)\ny' = -y\nobjective J = final(x)",
			"a c", "",
		},
		// What is read comes to rest with what comes back.
		{"state x = a\npast x = 0.2\nx' = 0\n" + q + "q' = abs(delay(x, 1) - c)", "a c", ""},
		{"state x = 0.2\nx' = 0\nevent at 1.3 { x = a }\n" + q + "q' = abs(delay(x, 1) - c)", "a c", ""},
		{"state x = 0.2\nx' = 0\nevent at 1.3 { x = 0.7 }\n" + q + "q' = abs(delay(x, 1) - c)", "", ""},
		// What stays at a kink reads nothing of the past.
		{x + "delay(x, 1)*max(p, 1)\nobjective J = final(x)", "p", ""},
		{x + "delay(x, 1)*(if p > 1 then 1 else 2)\nobjective J = final(x)", "p", ""},
		{x + "delay(x, 1)*max(p, 2)\nobjective J = final(x)", "", ""},
	} {
		order := "1"
		if of.second != "" {
			order = "2"
		}
		s := modeltest.Run(t, head+of.text, "sens.order", order, "sens.wrt", "[a, c, p]")
		if got := modeltest.Marked(s, 0); got != of.marked {
			t.Errorf("%s: %q are marked, want %q: %v", of.text, got, of.marked, s.Warnings)
		}
		if got := markedTwice(s); order == "2" && got != of.second {
			t.Errorf("%s: second derivatives by %q are marked, want %q: %v", of.text, got, of.second, s.Warnings)
		}
	}
}

// markedTwice names the variables by which a second derivative of the first value has a mark.
func markedTwice(s *odes.Sensitivities) (list string) {
	for _, v := range s.Variables {
		k := v.Offset*s.Columns + v.Offset
		if s.HessianTrusts == nil || s.HessianTrusts[k] == odes.Sound {
			continue
		}
		if list != "" {
			list += " "
		}
		list += v.String()
	}
	return list
}

// TestChosenAfresh runs a model twice: what is chosen at the start of the second run knows nothing of the first one.
func TestChosenAfresh(t *testing.T) {
	const text = `
time t from 0 to 4
param c = 0.4
state y = 0.5
y' = 0.2
objective J = integral(if delay(y, 1) < c then 1 else 0)
objective H = integral(if delay(y, 1) > c then 1 else 0)
`
	s := modeltest.Run(t, text)
	for i, want := range []float64{0, 4} {
		modeltest.WantNear(t, s.Values[i].Name, s.Values[i].Value, want, 1e-12)
		if s.Values[i].Trust != odes.Sound {
			t.Errorf("%s has a mark: %v", s.Values[i].Name, s.Warnings)
		}
	}
}
