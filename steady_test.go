package odes_test

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
)

// steadyCase is a case of testdata/steady: steady states with their derivatives, computed with many digits.
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
	text, err := os.ReadFile("testdata/steady/" + file)
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
