package truth

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestReported runs models that users reported, or that stand for what they reported: every number was wrong, without a
// warning.
func TestReported(t *testing.T) {
	e := math.Exp
	// A wave without its sign, from 0 to T: n arches and the rest.
	arches := func(m, om, T float64) (sum, byOm float64) {
		n := math.Floor(om * T / math.Pi)
		rest := om*T - n*math.Pi
		sum = m * (2*n + 1 - math.Cos(rest)) / om
		return sum, -sum/om + m*T*math.Sin(rest)/om
	}
	sum, byOm := arches(1.3, 2.7, 40)
	// The negative log likelihood of one value after a window of width 0.5 and rate 20 in a state without losses.
	nll := func(z float64) float64 { return z*z/2 + math.Log(0.5*math.Sqrt(2*math.Pi)) }

	for _, c := range []canary{
		// Windows between the samples of a step.
		{"infusion in hours", `
time t : [h] from 0 to 48
param D = 100 [mg], dur = 0.5 [h]
state X = 0 [mg]
X' = if t >= 24 [h] and t < 24 [h] + dur then D/dur else 0
objective J = final(X)
`, numbers{"J": 100}, derivatives{{"J", "D"}: 1, {"J", "dur"}: 0}},
		{"five infusions", `
import "std/pharmacology.ode"
time t from 0 to 120
param D = 100, dur = 1
state X = 0
X' = infusion(t, 0, D, dur) + infusion(t, 24, D, dur) + infusion(t, 48, D, dur) + infusion(t, 72, D, dur) +
  infusion(t, 96, D, dur)
objective J = final(X)
`, numbers{"J": 500}, derivatives{{"J", "D"}: 5, {"J", "dur"}: 0}},
		{"six infusions", `
import "std/pharmacology.ode"
time t from 0 to 84
param D = 400, dur = 0.04
state X = 0
X' = sum(infusion(t, 14*(k - 1), D, dur) for k in 1:6)
objective J = final(X)
`, numbers{"J": 2400}, derivatives{{"J", "D"}: 6, {"J", "dur"}: 0}},
		{"pulse", `
import "std/signals.ode"
time t from 0 to 200
param start = 120.3, w = 0.7, k = 0.01
state x = 0
x' = pulse(t, start, w) - k*x
objective J = final(x)
`, numbers{"J": e(-0.79) * (1 - e(-0.007)) / 0.01}, derivatives{
			{"J", "w"}: e(-0.79), {"J", "start"}: e(-0.79) * (1 - e(-0.007)),
		}},
		{"fault in a swing at rest", `
time t from 0 to 60
param Pm = 0.8, Pmax = 1.6, M = 5, hit = 31.7, clear = 0.15
state delta = asin(Pm/Pmax), w = 0
delta' = w
w' = (Pm - (if t >= hit and t < hit + clear then 0 else Pmax*sin(delta)))/M
objective J = max_over(w)
`, numbers{"J": 0.8 * 0.15 / 5}, derivatives{{"J", "clear"}: 0.16, {"J", "hit"}: 0}},
		{"window of a state, by not and or", `
time t from 0 to 40
param c = 3, w = 0.2
state x = 0, y = 0
x' = 0.5
y' = if not (x < c or x > c + w) then 1 else 0
objective J = final(y)
`, numbers{"J": 0.4}, derivatives{{"J", "w"}: 2}},

		// Modes within modes.
		{"train of pulses", `
import "std/signals.ode"
time t from 0 to 50
param P = 1.7, w = 0.3
state x = 0
x' = pulse_train(t, 2.5, P, w)
objective J = final(x)
`, numbers{"J": on(0, 47.5, 1.7, 0.3)}, derivatives{{"J", "w"}: 28}},
		{"square", `
import "std/signals.ode"
time t from 0 to 10
param P = 0.7
state x = 0
x' = square(t, P)
objective J = final(x)
`, numbers{"J": 2*on(0, 10, 0.7, 0.35) - 10}, nil},
		{"pwm", `
import "std/signals.ode"
time t from 0 to 10
param P = 0.6, duty = 0.35
state x = 0
x' = pwm(t, P, duty)
objective J = final(x)
`, numbers{"J": on(0, 10, 0.6, 0.21)}, nil},

		// Events that are armed again.
		{"armed again by a body, with fixed steps", `
time t from 0 to 4
param c = 0.5
state x = 0, y = 0
discrete n = 0
x' = 1
y' = 1
event r when y >= 1 { x = 0  y = -100 }
event f when x > c { n += 1 }
objective J = final(n)
solver { method = rk4  fixed_step = 1 }
`, numbers{"J": 2}, nil},

		// Derivatives where states rest.
		{"depot", `
time t from 0 to 100
state depot = 0, y = 0
depot' = -10*depot
y' = 10*depot - 0.1*y
objective J = final(y)
`, numbers{"J": 0}, derivatives{{"J", "initial(depot)"}: 10 / 9.9 * e(-10)}},
		{"decay", `
time t from 0 to 240
state x = 0
x' = -0.1*x
objective J = integral(x)
`, numbers{"J": 0}, derivatives{{"J", "initial(x)"}: 10 * (1 - e(-24))}},
		{"van der Pol", `
time t from 0 to 200
param mu = 100, x0 = 2
state x = x0, y = 0
x' = y
y' = mu*(1 - x^2)*y - x
objective J = final(x)
objective I = integral(x^2)
`, numbers{"J": 1.71858721, "I": 582.426061}, derivatives{
			{"J", "mu"}: 0.0174229213, {"J", "x0"}: 1.3195086, {"I", "mu"}: -0.0623803, {"I", "x0"}: 156.9803,
		}},

		// Conditions within conditions.
		{"condition in a condition", `
time t from 0 to 10
param a = 1, w = 0.3
state x = 0
x' = if (t - a > 0 and t - a < w) or (if t > 4 and t < 5 then 1 else 0) > 0 then 1 else 0
objective J = final(x)
`, numbers{"J": 1.3}, derivatives{{"J", "w"}: 1, {"J", "a"}: 0}},
		{"condition in the condition of an event", `
time t from 0 to 10
param a = 5.5
state x = 0
discrete n = 0
x' = 0.1
event e when (t > 7 and t < 7.5) or (if t > a and t < a + 1 then 1 else 0) > 0 { n += 1 }
objective J = final(n)
objective T = event_time(e, 1)
`, numbers{"J": 2, "T": 5.5}, derivatives{{"T", "a"}: 1}},
		{"infusion as a condition", `
import "std/pharmacology.ode"
time t from 0 to 10
param a = 3.3, dur = 0.04
state x = 0
x' = if infusion(t, a, 2, dur) > 0 then 1 else 0
objective J = final(x)
`, numbers{"J": 0.04}, derivatives{{"J", "dur"}: 1, {"J", "a"}: 0}},

		// Kinks inside of steps.
		{"table at a delayed time", `
time t from 0 to 200
param lag = 7.3, v = 1
const T = [0, 100, 101, 103, 104, 300], R = [0, 0, 1, 1, 0, 0]
state X = 0, Z = 0
X' = interp(T, R, t - lag)
Z' = interp(T, R, v*t)
objective JX = final(X)
objective JZ = final(Z)
`, numbers{"JX": 3, "JZ": 3}, derivatives{{"JX", "lag"}: 0, {"JZ", "v"}: -3}},
		{"table at a state", `
time t from 0 to 200
param v = 1
const T = [0, 100, 101, 103, 104, 300], R = [0, 0, 1, 1, 0, 0]
state s = 0, Z = 0
s' = v
Z' = interp(T, R, s)
objective J = final(Z)
`, numbers{"J": 3}, derivatives{{"J", "v"}: -3}},
		{"arches", `
time t from 0 to 40
param m = 1.3, om = 2.7
state q = 0
q' = 0
objective J = integral(m*abs(sin(om*t)))
`, numbers{"J": sum}, derivatives{{"J", "m"}: sum / 1.3, {"J", "om"}: byOm}},

		// Peaks that no sample sees.
		{"largest value of a peak", `
time t from 0 to 100
param am = 4.25, c = 61.7, s = 0.05
state x = 1
x' = -0.01*x
objective J = max_over(1 + am*exp(-((t - c)/s)^2))
`, numbers{"J": 5.25}, derivatives{{"J", "am"}: 1, {"J", "c"}: 0, {"J", "s"}: 0}},
		{"integral of a peak", `
time t from 0 to 100
param am = 4.25, c = 61.7, s = 0.05
state x = 1
x' = -0.01*x
objective J = integral(1 + am*exp(-((t - c)/s)^2))
`, numbers{"J": 100 + 4.25*0.05*math.Sqrt(math.Pi)}, derivatives{
			{"J", "am"}: 0.05 * math.Sqrt(math.Pi), {"J", "s"}: 4.25 * math.Sqrt(math.Pi), {"J", "c"}: 0,
		}},
		{"likelihood of what a window leaves", `
time t from 0 to 60
param R = 20, dur = 0.5
state x = 0
x' = if t >= 24 and t < 24 + dur then R else 0
data D {
  time = [30, 50]
  v = [9, 12]
}
observe c = x ~ normal(0.5) from D.v
objective J = nll()
`, numbers{"J": nll(2) + nll(4)}, derivatives{{"J", "R"}: 0.5*4 - 0.5*8, {"J", "dur"}: 20*4 - 20*8}},
	} {
		t.Run(c.name, c.run)
	}
}

// TestSawtoothEvents: an event at a level of a sawtooth fires once a period, with every method.
func TestSawtoothEvents(t *testing.T) {
	for _, settings := range []string{
		"method = rk4  fixed_step = 0.07", "method = dopri5", "method = tsit5", "method = dop853", "method = vern9",
	} {
		c := canary{"", fmt.Sprintf(`
import "std/signals.ode"
time t from 0 to 10
state x = 0
discrete n = 0
x' = 1
event f when sawtooth(t, 1) > 0.4 { n += 1 }
objective J = final(n)
solver { %s }
`, settings), numbers{"J": 10}, nil}
		t.Run(strings.ReplaceAll(settings, " ", ""), c.run)
	}
}

// TestPeriods: signals of the library are right for periods of all kinds.
func TestPeriods(t *testing.T) {
	for i := range 60 {
		P := 0.31 + 0.0437*float64(i)
		for signal, want := range map[string]float64{
			"pulse_train(t, 0, P, 0.3*P)": on(0, 20, P, 0.3*P),
			"pwm(t, P, 0.3)":              on(0, 20, P, 0.3*P),
			"square(t, P)":                2*on(0, 20, P, 0.5*P) - 20,
		} {
			c := canary{"", fmt.Sprintf(`
import "std/signals.ode"
time t from 0 to 20
param P = %s
state x = 0
x' = %s
objective J = final(x)
`, number(P), signal), numbers{"J": want}, nil}
			t.Run(fmt.Sprintf("%s,%.4f", signal[:3], P), c.run)
		}
	}
}
