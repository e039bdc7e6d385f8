package trust_test

import (
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestMeetingsAreMarked has things that come at one time. Derivatives by what moves one of them alone are marked where
// they are others when they come in the other order, and not where they are the same.
func TestMeetingsAreMarked(t *testing.T) {
	const three = `
time t from 0 to 3
state x = 1, y = 1, z = 1
x' = -x
y' = -y + x
z' = -z
event first at 1 { x += A }
event second at T1 { z += A }
event third at T2 { y = x }`
	for _, c := range []struct {
		name, text string
		loose      map[string][]string // params by objectives
	}{
		{"a dose, and a turn of what it lifts", `
time t from 0 to 2
param T1 = 1, T2 = 1, A = 1
state x = 1, y = 0
x' = -x
y' = if t < T2 then 1 else -1
event dose at T1 { x += A  y += A }
objective J = max_over(x)
objective K = max_over(y)`, map[string][]string{"K": {"T1", "T2"}}},
		{"a dose at the lowest point", `
time t from 0 to 3
param T1 = 1, T2 = 1, A = 1, b = 2
state x = 2
x' = -1 + (if t > T2 then b else 0)
event dose every 2 from T1 count 1 { x += A }
objective J = -max_over(-x)
objective K = integral(x)`, map[string][]string{"J": {"T1", "T2"}}},
		{"a switch at the end, beside a dose there", `
time t from 0 to 2
param T1 = 2, T2 = 2, A = 1, b = 1
discrete n = T2
state x = 1, y = 1
x' = -x + (if t > n then b else 0)
y' = -y
event dose at T1 { x += A }
objective J = final(x)
objective K = final(y)`, map[string][]string{"J": {"T1", "T2"}}},
		{"three at once", `
param T1 = 1, T2 = 1, A = 1` + three + `
objective J = final(y)
objective K = final(z)`, map[string][]string{"J": {"T2"}}},
		{"an observation and a dose of the same time, and a dose in between", `
time t from 0 to 3
param T1 = 1, T2 = 1, A = 1
state x = 1, y = 1
x' = -x
y' = -y
event lifts at T2 { x += A }
event dose at T1 { y += A }
objective J = at_event(dose, pre(x))
objective K = at_event(dose, pre(y))`, map[string][]string{"J": {"T1", "T2"}}},
		{"beside events of the start, which have no times", `
time t from 0 to 3
param T1 = 1, A = 1
state x = 1, y = 1
x' = -x
y' = -y
event a when x > 0.5 at start { y += 1 }
event b when y > 0.5 at start { x += 1 }
event dose at T1 { x += A }
event reads at 1 { y = x }
objective J = final(y)`, map[string][]string{"J": {"T1"}}},
		{"one that comes behind another and before the end, or before the other and behind the end", `
time t from 0 to 3
param A = -0.4, E = 2.5
state x = 1, y = 1
x' = 0
y' = 0
event halves at [2, 2.5] { y = y/2 }
event doses every 0.5 from E count 2 { x += A }
objective J = integral(x*y)
objective K = integral(y)`, map[string][]string{"J": {"E"}}},
		{"what is largest between two doses, in the order of the run", `
time t from 0 to 2
param T1 = 1, T2 = 1, A = 1
state x = 1, y = 1
x' = -x
y' = -y
event dose at T1 { x += A }
event drain at T2 { x = 0 }
objective J = max_over(x)
objective K = max_over(y)`, map[string][]string{"J": {"T1", "T2"}}},
		{"what is largest between two doses, in the other order", `
time t from 0 to 2
param T1 = 1, T2 = 1, A = 1.5
state x = 1, y = 1
x' = -x
y' = -y
event drain at T1 { x = 0 }
event dose at T2 { x += A }
objective J = max_over(x)`, map[string][]string{"J": {"T1", "T2"}}},
		{"what is largest between two doses of one time", `
time t from 0 to 2
param T1 = 1, A = 1
state x = 1
x' = -x
event dose at T1 { x += A }
event drain at T1 { x = 0 }
objective J = max_over(x)`, nil},
		{"a dose at the end, behind an event of the end", `
time t from 0 to 2
param T1 = 2, A = 1
state x = 1, y = 1
x' = -x
y' = -y
event reads at 2 { y = x }
event dose at T1 { x += A }
objective J = final(y)`, map[string][]string{"J": {"T1"}}},
		{"samples of which one comes at the end", `
time t from 0 to 2
param Ts = 0.5, k = 1
discrete u = 0
state x = 1
x' = -k*u
event sample every Ts { u = x }
objective J = final(x)
objective K = integral(x)`, map[string][]string{"J": {"Ts"}}},
		{"a periodic event from a discrete that a body sets", `
time t from 0 to 3
param T2 = 1, A = 1
discrete n = T2
state x = 1, y = 1, z = 1, w = 0
x' = -x
y' = -y
z' = -z
w' = 0
event reads at 1 { y = x  n = z + 5 }
event counts at 1 { w += 1 }
event dose every 5 from n { x += A }
objective J = final(y)`, map[string][]string{"J": {"T2"}}},
		{"an event behind a delay of 0", `
time t from 0 to 3
param tau = 1, lag = 0, A = 1
state x = 1, y = 2
x' = -x
y' = -y
event dose at 1 { x += A }
event turn when t >= tau, delay = lag { x = y }
objective J = at_event(dose, pre(x))`, map[string][]string{"J": {"tau"}}},
		{"an event that the other puts off", `
time t from 0 to 3
param T1 = 1, A = 1
discrete n = 1
state x = 1, y = 1
x' = -x
y' = -y
event counts at T1 { n += 1 }
event dose at n { x += A }
objective J = final(x)
objective K = final(y)`, map[string][]string{"J": {"T1"}}},
		{"a periodic event that the other puts off", `
time t from 0 to 2.5
param T1 = 1, A = 1
discrete n = 1
state x = 1
x' = -x
event counts at T1 { n += 1 }
event dose every 1 from n count 2 { x += A }
objective J = final(x)`, map[string][]string{"J": {"T1"}}},
		{"an event that the other keeps from happening", `
time t from 0 to 2
param T1 = 1, A = 1
state x = 0, y = 1
x' = 1
y' = -y
event low at T1 { x = 0 }
event reads when x >= 1 once { y += A }
objective J = final(y)`, map[string][]string{"J": {"T1"}}},
		{"a condition of a discrete that nothing sets, and another one of time", `
time t from 0 to 2
param T2 = 1, tau = 1
discrete n = T2
state x = 0
x' = floor(t/tau)
event reads when t > n { x = 2*x }
objective J = at_event(reads, pre(x))`, map[string][]string{"J": {"T2", "tau"}}},
		{"a condition of a discrete that moves from the start on, and is counted up", `
time t from 0 to 2.5
param T2 = 1, A = 1
discrete n = T2
state x = 1, y = 1
x' = -x
y' = -y
event counts at 1 { n += 1 }
event dose when t >= n { x += A }
objective J = final(x)
objective K = final(y)`, map[string][]string{"J": {"T2"}}},
		{"two discretes that move, each by itself", `
time t from 0 to 2
param T1 = 1, T2 = 1.5, b = 1
discrete n = T2
state x = 1
x' = if t > n then b else 0
event counts when t >= T1, delay = 0.5 { n += 1 }
objective J = final(x)`, map[string][]string{"J": {"T1", "T2"}}},
		{"a condition at its threshold at the start, which an event there turns to it", `
time t from 0 to 2
param p = 1, A = 1
state x = 0, y = 1
x' = 0
y' = x - y
event lifts at 0 { x = 2*A }
event falls when y > p once { y = 0 }
objective J = final(y)
objective K = final(x)`, map[string][]string{"J": {"p"}}},
		{"a condition that time takes off its threshold at the start, whichever way it goes", `
time t from 0 to 2
param q = 1, A = 1
state x = 1
x' = -A*x
objective J = max_over(if q > exp(-t^2) then 0.5 else 1)`, map[string][]string{"J": {"q"}}},
		{"in an experiment", `
param T1 = 1.2, T2 = 1, A = 1` + three + `
data D { time = [1.5, 2.5]  v = [1, 2] }
observe v = y ~ normal(0.1) from D.v
observe w = z ~ normal(0.1) from D.v
experiment early { T1 = 1  use D }
objective J = nll()`, map[string][]string{"J": {"T2"}}},
	} {
		s := modeltest.Run(t, c.text, "solver.rtol", "1e-10", "solver.atol", "1e-12")
		for i, v := range s.Values {
			for _, x := range s.Variables {
				if x.Initial {
					continue
				}
				want := odes.Sound
				for _, p := range c.loose[v.Name] {
					if p == x.Name {
						want = odes.Loose
					}
				}
				if got := modeltest.Grade(s, i, x); got != want && (want != odes.Loose || !leaps(s, i, x)) {
					d := s.Derivative(i, x)
					t.Errorf("%s: derivative of %s by %s, %v, is %v, not %v", c.name, v.Name, x, d, got, want)
				}
			}
		}
	}
}

// TestModesThatEventsPrevent has a mode that is about to change when an event lifts its state again. By what moves one
// of the two to the other side of the other, the mode changes for a while.
func TestModesThatEventsPrevent(t *testing.T) {
	const text = `
time t from 0 to 1
param T1 = 0.5, c = 0.5, b = 2
state y = 1
y' = -y
event dose at T1 { y += 3 }
objective J = integral(if y < c then b else 1)`
	for _, z := range []struct {
		c    string
		want odes.Trust
	}{{"0.6065306597126334", odes.Loose}, {"0.606", odes.Sound}} {
		s := modeltest.Run(t, strings.Replace(text, "c = 0.5", "c = "+z.c, 1))
		for _, v := range s.Variables {
			if got := modeltest.Grade(s, 0, v); (v.Name == "T1" || v.Name == "c") && got != z.want {
				t.Errorf("c = %s: derivative by %s is %v, not %v", z.c, v.Name, got, z.want)
			}
		}
	}
}

// leaps reports whether value i is known to leap where x moves.
func leaps(s *odes.Sensitivities, i int, x odes.Variable) bool {
	return slices.ContainsFunc(s.OneSided.Leaps, func(l odes.Leap) bool { return l.Value == i && l.Column == x.Offset })
}
