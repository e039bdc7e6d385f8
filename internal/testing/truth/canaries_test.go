package truth

import (
	"math"
	"testing"
)

// known numbers of one model: values by objective, derivatives by objective and variable. A value that is NaN is one
// that the model does not have.
type canary struct {
	name, text  string
	values      map[string]float64
	derivatives map[[2]string]float64
}

func (c canary) run(t *testing.T) {
	x := Case{Family: c.name, Text: c.text}
	for of, v := range c.values {
		x.Numbers = append(x.Numbers, Number{Of: of, Truth: v, Size: 0.1})
	}
	for of, v := range c.derivatives {
		n := Number{Of: of[0], Wrt: of[1], Truth: v}
		if v == 0 {
			n.Size = 1e-4
		}
		x.Numbers = append(x.Numbers, n)
	}
	if o := Judge(t.Context(), x); o.Verdict >= Wrong {
		t.Errorf("%v\n%s", o, indent(c.text))
	}
}

// on returns for how long a train of pulses from 0, of that width, is on between a and b.
func on(a, b, period, width float64) float64 {
	sum := 0.0
	for n := math.Floor(a / period); n*period < b; n++ {
		sum += max(0, min(b, n*period+width)-max(a, n*period))
	}
	return sum
}

// TestCanaries runs small models with known answers, each of which was once silently wrong.
func TestCanaries(t *testing.T) {
	for _, c := range canaries {
		t.Run(c.name, c.run)
	}
}

type (
	numbers     = map[string]float64
	derivatives = map[[2]string]float64
)

var canaries = []canary{
	{"infusion by hand", `
time t from 0 to 48
param D = 100, dur = 0.5
state X = 0
X' = if t >= 24 and t < 24 + dur then D/dur else 0
objective J = final(X)
`, numbers{"J": 100}, derivatives{{"J", "D"}: 1, {"J", "dur"}: 0}},
	{"window by or", `
time t from 0 to 50
param a = 13.7, w = 0.21
state x = 0
x' = if not (t < a or t > a + w) then 1 else 0
objective J = final(x)
`, numbers{"J": 0.21}, derivatives{{"J", "w"}: 1}},
	{"window by product", `
time t from 0 to 50
param a = 13.7, w = 0.21
state x = 0
x' = if (t-a)*(t-a-w) < 0 then 1 else 0
objective J = final(x)
`, numbers{"J": 0.21}, derivatives{{"J", "w"}: 1}},
	{"window of a state", `
time t from 0 to 40
param c = 3, w = 0.2
state x = 0, y = 0
x' = 0.5
y' = if x > c and x < c + w then 1 else 0
objective J = final(y)
`, numbers{"J": 0.4}, derivatives{{"J", "w"}: 2}},
	{"event in a window", `
time t from 0 to 200
state x = 0
discrete n = 0
x' = 0.01
event e when t > 100.3 and t < 100.35 { n += 1 }
objective J = final(n)
`, numbers{"J": 1}, nil},
	{"mod", `
time t from 0 to 3
param P = 0.6
state x = 0
x' = if mod(t, P) < 0.4 then 1 else 0
objective J = final(x)
`, numbers{"J": 2}, nil},
	{"floor", `
time t from 0 to 7
param P = 0.8
state x = 0
x' = if t/P - floor(t/P) < 0.25 then 2 else 0
objective J = final(x)
`, numbers{"J": 2 * on(0, 7, 0.8, 0.2)}, nil},
	{"armed again by a mode", `
time t from 0 to 4
param c = 0.5
state x = 0
discrete n = 0
x' = 1
event f when (if x > 1 then x - 1 else x) > c { n += 1 }
objective J = final(n)
`, numbers{"J": 2}, nil},
	{"fast threshold", `
time t from 0 to 10
state x = 0
discrete n = 0
x' = 1
event f when sin(3*t) > 0.999 { n += 1 }
objective J = final(n)
`, numbers{"J": 5}, nil},
	{"shifted table", `
time t from 0 to 200
param lag = 0.3
const T = [0, 100, 100.1, 100.5, 100.6, 200], R = [0, 0, 10, 10, 0, 0]
state a = 0
a' = interp(T, R, t - lag)
objective J = final(a)
`, numbers{"J": 5}, derivatives{{"J", "lag"}: 0}},
	{"integral of an oscillation", `
time t from 0 to 56
param k = 0.03, m = 0.5
state A = 100
A' = -k*A
objective J = integral(A*(1 + m*cos(2*pi*t)))
`, numbers{"J": 100*(1-math.Exp(-1.68))/0.03 + 50*0.03*(1-math.Exp(-1.68))/(0.0009+4*math.Pi*math.Pi)}, derivatives{
		{"J", "m"}: 100 * 0.03 * (1 - math.Exp(-1.68)) / (0.0009 + 4*math.Pi*math.Pi),
	}},
	{"resting depot", `
time t from 0 to 100
param d = 0, ka = 10, ke = 0.1
state depot = d, y = 0
depot' = -ka*depot
y' = ka*depot - ke*y
objective J = final(y)
`, numbers{"J": 0}, derivatives{{"J", "d"}: 10 / (10 - 0.1) * (math.Exp(-10) - math.Exp(-1000))}},
	{"resting decay", `
time t from 0 to 240
param k = 0.1, x0 = 0
state x = x0
x' = -k*x
objective J = integral(x)
`, numbers{"J": 0}, derivatives{{"J", "x0"}: 10 * (1 - math.Exp(-24))}},
	{"robertson", `
time t from 0 to 40
param k1 = 0.04, k2 = 3e7, k3 = 1e4
state a = 1, b = 0, c = 0
a' = -k1*a + k3*b*c
b' = k1*a - k3*b*c - k2*b^2
c' = k2*b^2
objective J = final(c)
`, numbers{"J": 0.2841637457}, derivatives{
		{"J", "k1"}: 4.24751286, {"J", "k2"}: 2.28846889e-9, {"J", "k3"}: -1.37305723e-5,
	}},
	{"bent guard beside a fast state", `
time t from -1 to -0.9
param r = 3, x0 = -2, c = -1.985, w = 0.0002992, A = 1, fast = 45000, ke = 1
state x = x0, y = 0, z = 0
x' = r
y' = fast*((if (x - c)*(x - c - w) < 0 then A else 0) - y)
z' = y - ke*z
objective J = final(z)
`, numbers{"J": 9.070133e-5}, derivatives{{"J", "w"}: 0.30316128}},
	{"overflow", `
time t from 0 to 1
param k = 1
state x = 1
x' = 700*k*x
objective J = exp(final(x))
`, numbers{"J": math.NaN()}, nil},
	{"after a stop", `
time t from 0 to 1
state x = 0
x' = 1
event e when x >= 0.5 { stop }
objective J = integral(x, from = 0.2, to = 0.8)
`, numbers{"J": math.NaN()}, nil},
	{"hill at zero", `
time t from 0 to 1
param IC = 2, g = 0.7
state A = 0, R = 0
A' = 0
R' = 1 - (A/IC)^g/(1 + (A/IC)^g) - R
objective J = final(R)
`, numbers{"J": 1 - math.Exp(-1)}, derivatives{{"J", "IC"}: 0, {"J", "g"}: 0}},
	{"prior outside its bounds", `
time t from 0 to 1
param a = 20 in [0.01, 10] ~ lognormal(0, 1)
state x = 0
x' = a
objective J = log_prior()
`, numbers{"J": math.NaN()}, nil},
}
