package steady_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// steadyCase is a case of steady/testdata: steady states with their derivatives, computed with many digits.
type steadyCase struct {
	ID         string             `json:"id"`
	States     []string           `json:"states"`
	Equations  map[string]string  `json:"equations"`
	Parameters map[string]float64 `json:"parameters"`
	Initial    map[string]any     `json:"initial"`
	Defined    map[string]string  `json:"definitions"`
	Conditions map[string]struct {
		While string `json:"while_equilibrating"`
		Then  string `json:"from_t_0_on"`
	} `json:"conditions"`
	Expected *struct {
		Kind string `json:"kind"`
	} `json:"expected"`
	State        map[string]float64            `json:"steady_state"`
	ByParams     map[string]map[string]float64 `json:"d_steady_state"`
	Objectives   map[string]valueWith          `json:"objectives"`
	Equilibrated *stateWith                    `json:"equilibrated"`
	Results      []stateWith                   `json:"results"`
	Reactions    []struct{ KF, KR float64 }    `json:"reactions"`
	Functional   *struct {
		Weights map[string]float64 `json:"weights"`
		valueWith
	} `json:"functional"`
	Dosing string `json:"dosing"`
	Period string `json:"period"`
}

type valueWith struct {
	Expression string             `json:"expression"`
	Value      float64            `json:"value"`
	D          map[string]float64 `json:"d"`
}

type stateWith struct {
	T          any                           `json:"t"`
	State      map[string]float64            `json:"state"`
	D          map[string]map[string]float64 `json:"d"`
	Objectives map[string]valueWith          `json:"objectives"`
}

func steadyCases(t *testing.T, file string) []steadyCase {
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []steadyCase }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all.Cases
}

// model writes a case as a model, and what its objectives must be.
func (c *steadyCase) model() (text string, want map[string]valueWith) {
	var b strings.Builder
	want = map[string]valueWith{}
	var objectives []string
	expect := func(functional, expression string, v valueWith) {
		name := fmt.Sprintf("o%d", len(objectives)+1)
		objectives = append(objectives, fmt.Sprintf("objective %s = %s\n", name,
			fmt.Sprintf(functional, strings.ReplaceAll(expression, "**", "^"))))
		want[name] = v
	}
	all := func(functional string, s stateWith) {
		for _, x := range slices.Sorted(maps.Keys(s.State)) {
			expect(functional, x, valueWith{"", s.State[x], s.D[x]})
		}
		for _, o := range slices.Sorted(maps.Keys(s.Objectives)) {
			expect(functional, s.Objectives[o].Expression, s.Objectives[o])
		}
	}
	end := 1.0
	if c.Equilibrated != nil {
		all("initial(%s)", *c.Equilibrated)
	}
	for _, r := range c.Results {
		if at, finite := r.T.(float64); finite {
			end = max(end, at)
			all(fmt.Sprintf("sum_at(%v, %%s)", at), r)
		} else {
			all("steady(%s)", r)
		}
	}
	all("steady(%s)", stateWith{State: c.State, D: c.ByParams, Objectives: c.Objectives})
	if f := c.Functional; f != nil {
		var sum []string
		for _, x := range slices.Sorted(maps.Keys(f.Weights)) {
			sum = append(sum, fmt.Sprintf("(%v)*%s", f.Weights[x], x))
		}
		expect("steady(%s)", strings.Join(sum, " + "), f.valueWith)
	}
	if len(objectives) == 0 {
		expect("steady(%s)", c.States[0], valueWith{})
	}
	fmt.Fprintf(&b, "time t from 0 to %v\n", end)
	for _, p := range slices.Sorted(maps.Keys(c.Parameters)) {
		fmt.Fprintf(&b, "param %s = %v\n", p, c.Parameters[p])
	}
	for i, r := range c.Reactions {
		fmt.Fprintf(&b, "param kf%d = %v, kr%d = %v\n", i+1, r.KF, i+1, r.KR)
	}
	for _, p := range slices.Sorted(maps.Keys(c.Defined)) {
		fmt.Fprintf(&b, "let %s = %s\n", p, c.Defined[p])
	}
	for _, x := range c.States {
		initial := any(0)
		if _, ok := c.Parameters[x+"0"]; ok {
			initial = x + "0"
		}
		if v, ok := c.Initial[x]; ok {
			initial = v
		}
		fmt.Fprintf(&b, "state %s = %v\n%s' = %s\n", x, initial, x, c.Equations[x+"'"])
	}
	for p, k := range c.Conditions {
		fmt.Fprintf(&b, "param %s = %s\nequilibrate { %s = %s }\n", p, k.Then, p, k.While)
	}
	return strings.ReplaceAll(b.String(), "**", "^") + strings.Join(objectives, ""), want
}

// none says what must be told of cases without a steady state of their own.
var none = map[string]string{
	"branching": "nothing holds B, C", "sir_final_size": "nothing holds S", "filling": "by 0.5 per unit of time",
	"brusselator_limit_cycle": "period of about 7.15", "exponential_growth": "at a rate of 0.3",
}

// TestSteadyReference compares steady states and their derivatives with reference solutions.
func TestSteadyReference(t *testing.T) {
	for file, limits := range map[string][2]float64{
		"steady_state.json": {1e-10, 1e-9}, "equilibration.json": {1e-8, 1e-7},
	} {
		for _, c := range steadyCases(t, file) {
			if c.Dosing != "" || c.Period != "" {
				continue // TestPeriodicReference
			}
			t.Run(c.ID, func(t *testing.T) {
				modes := []string{"adjoint", "tangent", "complex", "differences", "forward", "continuous"}
				if len(c.States) > 10 {
					modes = modes[:2]
				}
				if testing.Short() {
					modes = modes[:1]
				}
				c.compare(t, modes, limits)
			})
		}
	}
}

func (c *steadyCase) compare(t *testing.T, modes []string, limits [2]float64) {
	text, want := c.model()
	m, err := odes.Parse(c.ID+".ode", text+"solver { rtol = 1e-11  atol = 1e-13 }\nsens { trust = off }\n",
		odes.ParseOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, mode := range modes {
		s, err := m.Sensitivities(t.Context(), odes.Options{
			Threads: 1, Settings: []odes.Setting{{Key: "sens.mode", Value: mode}},
		})
		if c.Expected != nil && c.Expected.Kind != "value" {
			if err == nil && c.Expected.Kind == "no_steady_state" {
				t.Errorf("%s: there is a steady state: %v", mode, s.Values)
			}
			if err != nil {
				if why := none[c.ID]; !strings.Contains(err.Error(), why) {
					t.Errorf("%s: %q is not said: %v", mode, why, err)
				}
				continue
			}
		}
		if err != nil {
			t.Errorf("%s: %v", mode, err)
			continue
		}
		limit := limits
		switch mode {
		case "differences":
			limit[1] = max(limit[1], 1e-6)
		case "forward", "continuous":
			limit[1] = max(limit[1], 1e-9)
		}
		for i, v := range s.Values {
			w := want[v.Name]
			if !(math.Abs(v.Value-w.Value) <= float64(limit[0]*max(math.Abs(w.Value), 1e-3))) {
				t.Errorf("%s: %s is %v, want %v", mode, v.Name, v.Value, w.Value)
			}
			size := 0.0
			for _, d := range w.D {
				size = max(size, math.Abs(d))
			}
			for _, p := range s.Variables {
				d, known := w.D[p.Name]
				if got := s.Gradient[i*s.Columns+p.Offset]; known && !p.Initial &&
					!(math.Abs(got-d) <= float64(limit[1]*max(math.Abs(d), 1e-3*size, 1e-6))) {
					t.Errorf("%s: the derivative of %s by %s is %v, want %v", mode, v.Name, p.Name, got, d)
				}
			}
		}
	}
}

// TestSteadyBesides reads steady states beside what else there is: largest values, stops, events on the way, delays,
// bounds of tolerances and outputs. Adjoint, tangent and complex step agree.
func TestSteadyBesides(t *testing.T) {
	const head = "time t from 0 to 2\nparam k = 0.7, a = 2\n"
	for name, c := range map[string]struct {
		text  string
		value float64 // of the first objective
		wrong string  // what the error says
		none  int     // the column without a derivative, 0 for no column
	}{
		"forcing of amplitude zero": {
			text:  "param b = 0\nstate x = 0\nx' = a - k*x + b*sin(t)\nobjective J = steady(x)\n",
			value: 20.0 / 7, none: 2,
		},
		"decay of rate zero": {
			text:  "param b = 0\nstate x = 0\nx' = a - k*x*exp(-b*t)\nequilibrate { }\nobjective J = final(x)\n",
			value: 20.0 / 7, none: 2,
		},
		"forcing turned off": {
			text: "param b = 1\nstate x = 0\nx' = a - k*x + b*sin(t)\nequilibrate { b = 0 }\n" +
				"objective J = initial(x)\n", value: 20.0 / 7,
		},
		"rest at all times": {
			text:  "param b = 1\nstate x = 0\nx' = (a + b - k*x)*(2 + sin(t))\nobjective J = steady(x)\n",
			value: 30.0 / 7,
		},
		"another period": {
			text: "param b = 2\nstate x = 0\nx' = a + cos(2*pi*t/b) - k*x\nequilibrate { } every 2\n" +
				"objective J = initial(x)\n", value: 20.0/7 + 0.7/(0.49+math.Pi*math.Pi), none: 2,
		},
		"period that follows": {
			text: "param b = 2\nstate x = 0\nx' = a + cos(2*pi*t/b) - k*x\nequilibrate { } every b\n" +
				"objective J = initial(x)\n", value: 20.0/7 + 0.7/(0.49+math.Pi*math.Pi),
		},
		"largest value": {
			text:  "state x = 0\nx' = a - k*x\nobjective J = steady(x) + 3*max_over(x)\n",
			value: 20.0/7 + 3*20.0/7*(1-math.Exp(-1.4)),
		},
		"stop": {
			text:  "state x = 0\nx' = a - k*x\nevent e when x > 1 { stop }\nobjective J = steady(x) + final(x)\n",
			value: 20.0/7 + 1,
		},
		"event on the way": {
			text: "state x = 0, y = 0\nx' = a - k*x\ny' = -y\nevent e when x > 1 { y = 5 }\nequilibrate { }\n" +
				"objective J = initial(x)\n", value: 20.0 / 7,
		},
		"total that jumps": {
			text: "state x = 1, y = 0\nx' = -k*x + y\ny' = k*x - y\nevent e when x < 0.9 { y += 1 }\n" +
				"equilibrate { }\nobjective J = initial(x)\n", wrong: "depends on when events fired",
		},
		"total that would jump": {
			text: "param j = 0\nstate x = 1, y = 0\nx' = -k*x + y\ny' = k*x - y\nevent e when x < 0.9 { y += j }\n" +
				"equilibrate { }\nobjective J = initial(x)\n", wrong: "depends on when events fired",
		},
		"total that stays": {
			text: "state x = 1, y = 0\nx' = -k*x + a*y\ny' = k*x - a*y\n" +
				"event e when x < 0.9 { x -= k/100  y += k/100 }\nequilibrate { }\nobjective J = initial(x)\n",
			value: 2 / 2.7,
		},
		"discrete that stays": {
			text: "param j = 1\nstate x = 0\ndiscrete d = 1\nx' = d*a - k*x\nevent e when x > 1 { d = j }\n" +
				"equilibrate { }\nobjective J = initial(x)\n", wrong: "depends on when events fired",
		},
		"discrete set to its number": {
			text: "state x = 0\ndiscrete d = 1\nx' = d*a - k*x\nevent e when x > 1 { d = 1 }\n" +
				"equilibrate { }\nobjective J = initial(x)\n", value: 20.0 / 7,
		},
		"discrete": {
			text: "state x = 0\ndiscrete d = a\nx' = d - k*x\nequilibrate { d = 3*a }\nevent e at 1 { d = 1 }\n" +
				"objective J = initial(x) + 10*steady(x)\n", value: 60.0/7 + 100.0/7,
		},
		"execution long after": {
			text: "state x = 0\ndiscrete d = 1\nx' = d - k*x\nevent e at 1, delay = 1000 { d = 3 }\n" +
				"objective J = steady(x)\n", wrong: "depends on when events fired",
		},
		"time": {text: "state x = 0\nx' = a*sin(t) - k*x\nobjective J = steady(x)\n", wrong: "depends on time"},
		"time at a top": {
			text:  "state x = 0\nx' = a + cos(t) - k*x\nequilibrate { }\nobjective J = initial(x)\n",
			wrong: "depends on time",
		},
		"time at a top at the end": {
			text:  "state x = 0\nx' = a + cos(t - 2) - k*x\nobjective J = steady(x)\n",
			wrong: "depends on time",
		},
		"from the start on": {
			text: "param b = 1\nstate x = 0\nx' = a + (if t >= 0 then b*t^2 else 0) - k*x\nequilibrate { }\n" +
				"objective J = initial(x)\n", value: 20.0 / 7,
		},
		"rest at all times, much faster before": {
			text:  "state x = 0\nx' = (a - k*x)*exp(-1e5*t^3)\nequilibrate { }\nobjective J = initial(x)\n",
			value: 20.0 / 7,
		},
		"window": {
			text:  "state x = 0\nx' = (if t < 1 then 9 else a) - k*x\nobjective J = steady(x)\n",
			value: 20.0 / 7,
		},
		"switch": {
			text:  "state x = 0\nx' = (if x < 1 then 2*a else a) - k*x\nobjective J = steady(x)\n",
			value: 20.0 / 7,
		},
		"condition": {
			text:  "state x = 0\nx' = a - k*x\nequilibrate { a = a/2 + k }\nobjective J = initial(x)\n",
			value: 17.0 / 7,
		},
		"array": {
			text:  "state x[3] = 1\nx[i]' = a*i - k*x[i] for i in 1:3\nobjective J = steady(sum(x))\n",
			value: 6 * 20.0 / 7,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := odes.Parse("m.ode", head+c.text+"solver { rtol = 1e-10  atol = 1e-12 }\n", odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var first []float64
			for _, mode := range []string{"adjoint", "tangent", "complex", "forward"} {
				s, err := m.Sensitivities(t.Context(), odes.Options{
					Threads: 1, Settings: []odes.Setting{{Key: "sens.mode", Value: mode}},
				})
				if c.wrong != "" {
					if err == nil || !strings.Contains(err.Error(), c.wrong) {
						t.Errorf("%s: the error is %v", mode, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if v := s.Values[0].Value; math.Abs(v-c.value) > 1e-8 {
					t.Errorf("%s: the value is %v, want %v", mode, v, c.value)
				}
				if first == nil {
					first = slices.Clone(s.Gradient)
				}
				for i, x := range s.Gradient {
					none := c.none > 0 && i == c.none
					if math.IsNaN(x) != none || math.Abs(x-first[i]) > 1e-7 {
						t.Errorf("%s: derivative %d is %v, by the adjoint %v", mode, i, x, first[i])
					}
				}
			}
		})
	}
}

// TestSteadyRunner runs a model again with other values: results are those of a model that began with them, to the bit.
func TestSteadyRunner(t *testing.T) {
	text, err := os.ReadFile(modeltest.Path("examples/toggle/toggle.ode"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := odes.Parse("toggle.ode", string(text)+"sens { trust = off }\n", odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Prepare(odes.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range []float64{2, 0, 1.5, 2} {
		set := odes.Assignment{Name: "before", Values: []float64{before}}
		if err := r.Set(set); err != nil {
			t.Fatal(err)
		}
		again, err := r.Sensitivities(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1, Set: []odes.Assignment{set}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again.Gradient, fresh.Gradient) || again.Values[2].Value != fresh.Values[2].Value {
			t.Errorf("before = %v: %v, and %v", before, again.Gradient, fresh.Gradient)
		}
		if side := again.Values[2].Value > 1; side != (before > 1) {
			t.Errorf("before = %v: the switch rests at %v", before, again.Values[2].Value)
		}
	}
}
