package hybrid_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/solvers"
)

// trap is a small model with a known answer. Every trap runs with the adjoint,
// the tangent and the complex step, which must agree with the answer and with each other.
type trap struct {
	name, text string
	values     map[string]float64            // objective → value
	gradients  map[string]map[string]float64 // objective → variable → derivative
	tolerance  float64                       // of values and derivatives; 0 means 1e-9
	warns      diag.Code                     // a warning that must come
	settings   []odes.Setting
}

const decaying = `
time t from 0 to 1
param k = 1.5
param x0 = 2
state x = x0
x' = -k*x
solver { method = dopri5  rtol = 1e-11  atol = 1e-13 }
`

// falling is a ball; g = 10 makes it reach the floor from 5 at t = 1.
const falling = `
param g = 10, e = 0.5, h0 = 5
state x = h0, v = 0
x' = v
v' = -g
solver { method = dopri5  rtol = 1e-11  atol = 1e-13 }
`

var traps = []trap{
	{
		name: "event exactly at t0 and at tf",
		text: decaying + `
param d0 = 3, d1 = 4
event first at 0 { x += d0 }
event last at 1 { x += d1 }
objective J = final(x)
objective I = initial(x)`,
		values: map[string]float64{"J": 5*math.Exp(-1.5) + 4, "I": 2},
		gradients: map[string]map[string]float64{
			"J": {"k": -5 * math.Exp(-1.5), "x0": math.Exp(-1.5), "d0": math.Exp(-1.5), "d1": 1},
			"I": {"k": 0, "x0": 1, "d0": 0},
		},
	},
	{
		name: "event at an observation time: the right limit, and pre the left",
		text: decaying + `
param d = 3
event dose at 0.5 { x += d }
objective R = sum_at([0.5], x)
objective L = sum_at([0.5], pre(x))`,
		values: map[string]float64{"R": 2*math.Exp(-0.75) + 3, "L": 2 * math.Exp(-0.75)},
		gradients: map[string]map[string]float64{
			"R": {"d": 1, "k": -0.5 * 2 * math.Exp(-0.75)},
			"L": {"d": 0, "k": -0.5 * 2 * math.Exp(-0.75)},
		},
	},
	{
		name: "a moving event at an observation time",
		text: decaying + `
param d = 3, td = 0.5
event dose at td { x += d }
objective R = sum_at([0.5], x)`,
		values: map[string]float64{"R": 2*math.Exp(-0.75) + 3},
		warns:  odes.CodeTie,
	},
	{
		name: "an event that hardly happens, in short steps",
		text: `
time t from 0 to 2
param c = 0.49999999
state x = 0
x' = 1 - t  # x rises to 0.5
event e when x > c { x = 0.1*x }
objective J = final(x)
solver { method = dopri5  rtol = 1e-11  atol = 1e-13  hmax = 1e-3 }`,
		warns: odes.CodeGrazing,
	},
	{
		name: "two events at one instant, priority decides",
		text: decaying + `
param a = 3, b = 5
event add at 0.5 { x += a }
event scale at 0.5 priority 1 { x = b*x }
objective J = final(x)`,
		values: map[string]float64{"J": (5*2*math.Exp(-0.75) + 3) * math.Exp(-0.75)},
		gradients: map[string]map[string]float64{
			"J": {"a": math.Exp(-0.75), "b": 2 * math.Exp(-1.5), "x0": 5 * math.Exp(-1.5)},
		},
	},
	{
		name: "two events at one instant, file order decides",
		text: decaying + `
param a = 3, b = 5
event add at 0.5 { x += a }
event scale at 0.5 { x = b*x }
objective J = final(x)`,
		values: map[string]float64{"J": 5 * (2*math.Exp(-0.75) + 3) * math.Exp(-0.75)},
		gradients: map[string]map[string]float64{
			"J": {"a": 5 * math.Exp(-0.75), "b": (2*math.Exp(-0.75) + 3) * math.Exp(-0.75)},
		},
		warns: odes.CodeTie,
	},
	{
		name: "an event switches another on",
		text: decaying + `
param a = 3, b = 5
discrete flag = 0
event add at 0.5 { x += a; flag = 1 }
event react when flag > 0.5 { x *= b }
objective J = final(x)`,
		values: map[string]float64{"J": 5 * (2*math.Exp(-0.75) + 3) * math.Exp(-0.75)},
		gradients: map[string]map[string]float64{
			"J": {
				"a": 5 * math.Exp(-0.75), "b": (2*math.Exp(-0.75) + 3) * math.Exp(-0.75),
				"k": -5 * (2*math.Exp(-1.5) + 1.5*math.Exp(-0.75)),
			},
		},
	},
	{
		name: "an event in the very first step",
		text: "time t from 0 to 1\n" + strings.Replace(falling, "h0 = 5", "h0 = 1e-9", 1) + `
solver quick { h0 = 0.01 }
event bounce when x <= 0 once { v = -e*v }
objective J = final(v)`,
		// t1 = sqrt(2 h0/g), v1 = -sqrt(2 g h0), v = e sqrt(2 g h0) - g (1 - t1)
		values: map[string]float64{"J": 0.5*math.Sqrt(2e-8) - 10*(1-math.Sqrt(2e-10))},
		gradients: map[string]map[string]float64{
			"J": {"e": math.Sqrt(2e-8), "h0": 0.5*math.Sqrt(20)/(2*math.Sqrt(1e-9)) +
				10*math.Sqrt(0.2)/(2*math.Sqrt(1e-9))},
		},
		tolerance: 1e-8,
	},
	{
		name: "grazing",
		text: `
time t from 0 to 2
param top = 1
state x = 0, y = 1
discrete n = 0
x' = y
y' = -x
event touch when x >= top - 1e-7 { n += 1 }
solver { method = dopri5  rtol = 1e-10  atol = 1e-12  hmax = 1e-3 }
objective J = final(n)`,
		values: map[string]float64{"J": 1},
		warns:  odes.CodeGrazing,
	},
	{
		name: "an event time that depends on a parameter only",
		text: decaying + `
param tau = 0.25
event half at tau { x *= 0.5 }
event at 2*tau { x += tau }
objective J = final(x)
objective T = event_time(half, 1)`,
		values: map[string]float64{"J": math.Exp(-1.5) + 0.25*math.Exp(-0.75), "T": 0.25},
		gradients: map[string]map[string]float64{
			"J": {"tau": math.Exp(-0.75) + 0.25*2*1.5*math.Exp(-0.75), "x0": 0.5 * math.Exp(-1.5)},
			"T": {"tau": 1, "k": 0},
		},
	},
	{
		name: "a parameter that matters only through an event's condition",
		text: "time t from 0 to 1.5\n" + falling + `
param floor_at = 0
event bounce when x <= floor_at { v = -e*v }
objective J = final(x)`,
		// after t1 = sqrt(2 (h0-c)/g): x = c + e g t1 (T-t1) - g/2 (T-t1)²; at t1 = 1: dt1/dc = -1/(g t1)
		values: map[string]float64{"J": 1.25},
		gradients: map[string]map[string]float64{
			"J": {"floor_at": 1 + (0.5*10*(1.5-2*1)+10*(1.5-1))*(-0.1), "e": 5},
		},
	},
	{
		name: "abs at 0",
		text: decaying + `
param z = 0
objective J = final(x) + abs(z)
objective K = final(max(x - x, z))`,
		values: map[string]float64{"J": 2 * math.Exp(-1.5), "K": 0},
		warns:  odes.CodeKink,
	},
	{
		name: "an objective that no state reaches",
		text: decaying + `
objective J = k^2 + 3`,
		values:    map[string]float64{"J": 1.5*1.5 + 3},
		gradients: map[string]map[string]float64{"J": {"k": 3, "x0": 0}},
	},
	{
		name: "true at t0 does not fire, and fires when it becomes true again",
		text: `
time t from 0 to 4
param a = 1
state x = -1
discrete n = 0
x' = a
event low when x < 0 { n += 1 }
event down when x >= 1 once { x = -a }
solver { method = dopri5 }
objective N = final(n)
objective X = final(x)`,
		// x reaches 1 at t = 2, jumps to -a and rises for 2: the jump makes "low" true
		values:    map[string]float64{"N": 1, "X": 1},
		gradients: map[string]map[string]float64{"X": {"a": -1 + 2 + 2}},
	},
	{
		name: "bounds of time that are parameters",
		text: `
param ta = 0.5, tb = 1.5, k = 2
time t from ta to tb
state x = ta
x' = -k*x + t
solver { method = dopri5  rtol = 1e-11  atol = 1e-13 }
objective J = integral(x, from = ta, to = tb)
objective W = integral(1, from = ta, to = 0.5*(ta + tb))`,
		values:    map[string]float64{"W": 0.5},
		gradients: map[string]map[string]float64{"W": {"ta": -0.5, "tb": 0.5, "k": 0}},
	},
	{
		name: "a period that is a parameter",
		text: `
time t from 0 to 4
param P = 0.6
state x = 0
x' = 0
event tick every P from 0.5 { x += 1 }
solver { method = dopri5 }
objective J = integral(x)
objective T = event_time(tick, 2)`,
		// ticks at 0.5 + k P, k = 0 … 5, each adding 4 - its time
		values:    map[string]float64{"J": 6*3.5 - 15*0.6, "T": 1.1},
		gradients: map[string]map[string]float64{"J": {"P": -15}, "T": {"P": 1}},
	},
	{
		name: "an event that its body takes far off fires again within the next step",
		text: `
time t from 0 to 2
param I = 40.3
state v = 0
discrete n = 0
v' = I
event spike when v >= 1 { v -= 1; n += 1 }
solver { method = rk4  fixed_step = 0.03 }
objective N = final(n)
objective V = final(v)`,
		values:    map[string]float64{"N": 80, "V": 0.6},
		gradients: map[string]map[string]float64{"V": {"I": 2}, "N": {"I": 0}},
	},
	{
		name: "a body that moves the time of an event of the same group",
		text: `
param a = 1.2
time t from 0 to 1
state x = 1
x' = 0
discrete d = a
event first at 0.4 + 0.3*d { d = 2*a }
event second at 0.4 + 0.3*d { x += a }
solver { method = dopri5 }
objective T = event_time(second, 1)
objective J = integral(x)`,
		// both happen at 0.4 + 0.3 a, and again at 0.4 + 0.6 a, which is past the end
		values:    map[string]float64{"T": 0.76, "J": 1 + 1.2*0.24},
		gradients: map[string]map[string]float64{"T": {"a": 0.3}, "J": {"a": 0.24 - 1.2*0.3}},
	},
	{
		name: "a time at which an event may not fire again, with fixed steps",
		text: decaying + `
event e at 0.53, 0.77 once { x = x }
solver fixed { method = rk4 }
objective J = final(x)`,
		values:    map[string]float64{"J": 2 * math.Exp(-1.5)},
		gradients: map[string]map[string]float64{"J": {"k": -2 * math.Exp(-1.5)}},
		settings:  []odes.Setting{{Key: "solver.method", Value: "rk4"}, {Key: "solver.fixed_step", Value: "0.01"}},
		tolerance: 1e-7,
	},
	{
		name: "an objective without a value leaves the others alone",
		text: decaying + `
param c = 1
event never when x >= 100 { x = 0 }
objective J = final(x)
objective none = c*event_time(never, 1)`,
		values:    map[string]float64{"J": 2 * math.Exp(-1.5)},
		gradients: map[string]map[string]float64{"J": {"k": -2 * math.Exp(-1.5), "c": 0}},
	},
	{
		name: "two balls that bounce together keep to themselves",
		text: `
time t from 0 to 1.5
param g = 10, h0 = 5, e = 0.5
param h1 = 5
state x = h0, v = 0, y = h1, w = 0
x' = v
v' = -g
y' = w
w' = -g
event bx when x <= 0 { v = -e*v }
event by when y <= 0 { w = -e*w }
solver { method = dopri5  rtol = 1e-11  atol = 1e-13 }
objective X = final(x)
objective Y = final(y)`,
		values: map[string]float64{"X": 0.5*10*0.5 - 5*0.25, "Y": 0.5*10*0.5 - 5*0.25},
		gradients: map[string]map[string]float64{
			// x(T) = e g t1 (T-t1) - g/2 (T-t1)² with t1 = sqrt(2 h0/g), at t1 = 1
			"X": {"h1": 0, "h0": (0.5*10*(1.5-2) + 10*(1.5-1)) / 10},
			"Y": {"h0": 0},
		},
	},
}

//odes:goroutines
func TestTraps(t *testing.T) {
	for _, tr := range traps {
		t.Run(tr.name, func(t *testing.T) {
			tol := tr.tolerance
			if tol == 0 {
				tol = 1e-9
			}
			var first *odes.Sensitivities
			for _, mode := range []string{"adjoint", "tangent", "complex"} {
				s, err := modeltest.Sensitivities(t, tr.text, mode, tr.settings...)
				if err != nil {
					t.Fatal(err)
				}
				checked := 0
				for i, v := range s.Values {
					if want, ok := tr.values[v.Name]; ok {
						modeltest.WantNear(t, mode+" "+v.Name, v.Value, want, tol)
						checked++
					}
					for _, x := range s.Variables {
						if want, ok := tr.gradients[v.Name][x.String()]; ok {
							modeltest.WantNear(t, mode+" d"+v.Name+"/d"+x.String(), s.Derivative(i, x)[0], want, tol)
							checked++
						}
					}
				}
				if checked < len(tr.values) {
					t.Errorf("only %d quantities were compared", checked)
				}
				if tr.warns != "" && !modeltest.Warned(s, tr.warns) &&
					!(mode == "complex" && tr.warns == odes.CodeGrazing) {
					t.Errorf("%s: no warning %q among %v", mode, tr.warns, s.Warnings)
				}
				if first == nil {
					first = s
					continue
				}
				if tr.warns == odes.CodeGrazing {
					continue // where derivatives do not exist, methods need not agree
				}
				for i, g := range s.Gradient {
					if math.IsNaN(s.Values[i/s.Columns].Value) {
						continue
					}
					modeltest.WantNear(t, mode+" against adjoint", g, first.Gradient[i], 1e-11)
				}
			}
		})
	}
}

// TestChattering has a ball that comes to rest and bounces without end. That must be a clear error,
// not an endless run.
func TestChattering(t *testing.T) {
	_, err := modeltest.Sensitivities(t, "time t from 0 to 20\n"+falling+`
event bounce when x <= 0 { v = -e*v }
objective J = final(x)`, "adjoint")
	var chatter *solvers.ChatteringError
	if !errors.As(err, &chatter) {
		t.Fatalf("error %v, want a ChatteringError", err)
	}
	text := diag.Of(err)
	if len(text) == 0 || text[0].Code != odes.CodeChattering || !strings.Contains(text[0].Message, "bounce") ||
		len(chatter.Times) != 5 {
		t.Errorf("the error names neither event nor times: %v", err)
	}
}

// TestComingToRest has balls on floors at any height. What is left of a bounce is there less than the last place of the
// height, and rounding ended the sequence: the ball fell through the floor.
func TestComingToRest(t *testing.T) {
	for _, floor := range []float64{1, -3, 7.7, 1e3, 1e6, 1e9} {
		for _, method := range []string{"dopri5", "vern7", "rodas5p"} {
			_, err := modeltest.Sensitivities(t, fmt.Sprintf(`
time t from 0 to 10
param g = 9.81, e = 0.6, H = %v
state x = H + 1, v = 0
x' = v
v' = -g
event bounce when x <= H { v = -e*v }
objective J = final(x) - H
solver { method = %s }`, floor, method), "adjoint")
			var chatter *solvers.ChatteringError
			if !errors.As(err, &chatter) {
				t.Errorf("%s, a floor at %v: error %v, want a ChatteringError", method, floor, err)
			}
		}
	}
}

// TestComingToRestOnMovingFloors is as TestComingToRest where the floor moves. Rounding made the ball bounce while it
// still rose, which sent it through the floor.
func TestComingToRestOnMovingFloors(t *testing.T) {
	for _, floor := range [][3]string{ // height, speed, what they are made of
		{"0.3*t", "0.3", ""},
		{"1 - s*t", "-s", "param s = 0.7"},
		{"2 + 0.1*sin(3*t)", "0.3*cos(3*t)", ""},
		{"f", "w", "state f = 2, w = 0.5\nf' = w\nw' = -0.3*(f - 2)"},
		{"1 + 0.3*z", "0.3*u", "state z = 0, u = 1\nz' = u\nu' = -0.1*u"},
	} {
		for _, method := range []string{"vern7", "rodas5p"} {
			_, err := modeltest.Sensitivities(t, fmt.Sprintf(`
time t from 0 to 6
param e = 0.6
state x = 4, v = 0
%s
x' = v
v' = -9.81
event bounce when x <= %s { v = %s - e*(v - (%[3]s)) }
objective J = final(x)
solver { method = %[4]s }`, floor[2], floor[0], floor[1], method), "adjoint")
			var chatter *solvers.ChatteringError
			if !errors.As(err, &chatter) {
				t.Errorf("%s, a floor at %s: error %v, want a ChatteringError", method, floor[0], err)
			}
		}
	}
}

// TestFailuresNameTheExpression checks that failures name the time, the state and the expression.
func TestFailuresNameTheExpression(t *testing.T) {
	for _, c := range []struct {
		name, text string
		code       diag.Code
		span       string
	}{
		{
			"root of a negative number", "time t from 0 to 3\nstate x = 1\nx' = -1 - sqrt(x)\nobjective J = final(x)",
			odes.CodeUnderflow, "sqrt(x)",
		},
		{
			"at the start", "time t from 0 to 3\nparam a = -1\nstate x = 1\nx' = log(a)*x\nobjective J = final(x)",
			odes.CodeNonFinite, "log(a)",
		},
		{"too many steps", "time t from 0 to 3\nstate x = 1\nx' = -1e6*(x - cos(t))\n" +
			"solver { method = dopri5  max_steps = 100 }\nobjective J = final(x)", odes.CodeTooMany, ""},
		{
			"slide in noevent", "time t from 0 to 3\nstate x = 1\nx' = noevent(if x > 0 then -1 else 1)\n" +
				"solver { max_steps = 3000 }\nobjective J = final(x)", odes.CodeTooMany,
			"noevent(if x > 0 then -1 else 1)",
		},
		{"blow-up", "time t from 0 to 3\nstate x = 1\nx' = x^2\nobjective J = final(x)", odes.CodeUnderflow, ""},
		{
			"implicit, root of a negative number", "time t from 0 to 3\nstate x = 1\nx' = -1 - sqrt(x)\n" +
				"objective J = final(x)\nsolver { method = rodas4 }", odes.CodeUnderflow, "sqrt(x)",
		},
		{
			"implicit, derivative of a root of zero", "time t from 0 to 3\nstate x = 0\nx' = 1 + sqrt(x)\n" +
				"objective J = final(x)\nsolver { method = rodas4 }", odes.CodeNonFinite, "sqrt(x)",
		},
		{
			"implicit, singular", "time t from 0 to 3\nstate x = 1\nx' = 4*x\nobjective J = final(x)\n" +
				"solver { method = rodas4  fixed_step = 1 }", odes.CodeUnderflow, "4*x",
		},
		{
			"implicit, blow-up", "time t from 0 to 3\nstate x = 1\nx' = x^2\nobjective J = final(x)\n" +
				"solver { method = rodas5p }", odes.CodeUnderflow, "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := modeltest.Sensitivities(t, c.text, "adjoint")
			list := diag.Of(err)
			if len(list) == 0 || list[0].Code != c.code {
				t.Fatalf("error %v, want code %s", err, c.code)
			}
			if c.span != "" && list[0].Span.Text() != c.span {
				t.Errorf("the error is at %q, want %q: %v", list[0].Span.Text(), c.span, err)
			}
			if !strings.Contains(list[0].Message, "x = ") || !strings.Contains(list[0].Message, "t = ") {
				t.Errorf("the error names neither time nor state: %v", err)
			}
		})
	}
}

// TestRefusals checks that integrals outside the time span, and gradients larger than the memory, are
// errors.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, text string
		code       diag.Code
		message    string
	}{
		{
			"integral ends before it begins", decaying + "param a = 0.6\nobjective J = integral(x, from = a, to = 0.5)",
			odes.CodeTime, "before it begins",
		},
		{
			"integral beyond the end", decaying + "objective J = integral(x, to = 5)", odes.CodeTime,
			"outside the time span",
		},
		{"gradient larger than memory", "time t from 0 to 1\nconst n = 100000\nstate x[n] = 1\nx' = -x\n" +
			"objective J = final(x)", odes.CodeMemory, "--wrt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := modeltest.Sensitivities(t, c.text, "adjoint")
			list := diag.Of(err)
			if len(list) != 1 || list[0].Code != c.code || !strings.Contains(list[0].Message, c.message) {
				t.Errorf("error %v, want one of code %s that says %q", err, c.code, c.message)
			}
		})
	}
}

// TestMissingLikelihood has a likelihood without a value, because the run stops before its data. The
// other objectives must keep their derivatives, whatever the mode.
func TestMissingLikelihood(t *testing.T) {
	const model = `
time t from 0 to 2
param k = 1
state x = 1
x' = -k*x
event low when x < 0.5 { stop }
data D { time = [1.5]
  y = [0.2] }
observe y = x ~ normal(0.1) from D.y
experiment e { k = 1.1*k; use D }
objective L = nll()
objective J = integral(x)`
	want := 0.5 // (1 - x)/k at x = 0.5, which does not move
	for _, mode := range []string{"adjoint", "tangent", "complex", "differences"} {
		s, err := modeltest.Sensitivities(t, model, mode)
		if err != nil {
			t.Fatal(err)
		}
		if !math.IsNaN(s.Values[0].Value) {
			t.Fatalf("%s: L = %v", mode, s.Values[0].Value)
		}
		modeltest.WantNear(t, mode+" J", s.Values[1].Value, want, 1e-6)
		modeltest.WantNear(t, mode+" dJ/dk", s.Derivative(1, s.Variables[0])[0], -want, 1e-6)
	}
}

// TestOnceIsOver checks that no step ends at a time of an event that fires only once and has fired.
func TestOnceIsOver(t *testing.T) {
	for _, times := range []string{
		"every p from 0.005",
		"at [p, 2*p, 3*p, 4*p, 5*p, 6*p, 7*p, 8*p, 9*p, 10*p, 11*p, 12*p]",
	} {
		const model = "time t from 0 to 1\nparam p = 0.01\nstate x = 1\nx' = -x\nobjective J = final(x)\nevent e "
		s, err := modeltest.Sensitivities(t, model+times+" once { x += p }", "adjoint")
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Events) != 1 || s.Stats.Steps > 12 {
			t.Errorf("%s: %d events, %d steps", times, len(s.Events), s.Stats.Steps)
		}
	}
}

// TestStiffInitialValues has steps that stability holds short. Derivatives by initial values are then
// those of a run that forgets too slowly, and a note must say so, unless an independent run estimates their errors.
func TestStiffInitialValues(t *testing.T) {
	const model = `
time t from 0 to 2
param k = 400
state u[12] = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
u[i]' = k*(u[clamp(i-1, 1, 12)] - 2*u[i] + u[clamp(i+1, 1, 12)]) - 0.1*u[i] for i in 1:12
objective J = final(sum(u^2))
solver { method = dopri5  rtol = 1e-4 }`
	for _, c := range []struct {
		wrt, errors string
		notes       int
	}{{"initial(u)", "off", 2}, {"k", "off", 1}, {"initial(u)", "on", 1}} {
		s, err := modeltest.Sensitivities(t, model, "adjoint", odes.Setting{Key: "sens.wrt", Value: "[" + c.wrt + "]"},
			odes.Setting{Key: "sens.error", Value: c.errors}, odes.Setting{Key: "sens.trust", Value: "off"})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, w := range s.Warnings {
			if w.Code == odes.CodeStiff {
				n++
			}
		}
		if n != c.notes {
			t.Errorf("wrt %s, errors %s: %d notes, want %d: %v", c.wrt, c.errors, n, c.notes, s.Warnings)
		}
	}
}
