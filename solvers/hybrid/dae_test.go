package hybrid_test

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

// daeCase is a case of dae.json: a model of index 1 and its exact values and derivatives.
type daeCase struct {
	ID          string
	States      []string
	Algebraic   []string
	Equations   map[string]string
	Constraints []string
	Matrix      [][]string        `json:"mass_matrix"`
	Right       map[string]string `json:"right_hand_side"`
	Definitions map[string]string
	Discrete    map[string]string
	Parameters  map[string]float64
	Initial     map[string]string
	Guess       map[string]string `json:"initial_guess"`
	Semi        *struct {
		Equations   map[string]string
		Constraints []string
		Initial     map[string]string
		Guess       map[string]string `json:"initial_guess"`
		Outputs     map[string]string `json:"in_these"`
	} `json:"semi_explicit_form"`
	Events []struct {
		Name, At, Direction string
		Guard               string `json:"guard_crosses_zero"`
		Then                map[string]string
	}
	By         []string          `json:"differentiated_with_respect_to"`
	Costs      map[string]string `json:"trajectory_costs"`
	Consistent daePoint          `json:"initial_consistent"`
	Results    []daePoint
	Log        []struct {
		Event   string
		T       float64
		Dt      map[string]float64
		Before  map[string]float64            `json:"state_before"`
		DBefore map[string]map[string]float64 `json:"d_state_before"`
		After   map[string]float64            `json:"state_after"`
		DAfter  map[string]map[string]float64 `json:"d_state_after"`
	} `json:"event_log"`
}

type daePoint struct {
	T     float64
	State map[string]float64
	D     map[string]map[string]float64
	Costs map[string]struct {
		Value float64
		D     map[string]float64
	} `json:"trajectory_costs"`
}

func readDAE(t *testing.T) []daeCase {
	t.Helper()
	text, err := os.ReadFile(modeltest.Path("testdata/reference/dae.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []daeCase }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all.Cases
}

// model writes the case as a model. Objectives are the values of all states at the start (x_0) and at the end (x_T),
// before and after events (x_0b, x_0a, by their number), and the costs. The capacitor voltages of the transistor
// amplifier are its states, since its mass matrix depends on params.
func (c *daeCase) model() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("model M\ntime t from 0 to T_end\nparam T_end = 1")
	for _, name := range slices.Sorted(maps.Keys(c.Parameters)) {
		line("param %s = %.17g", name, c.Parameters[name])
	}
	equations, constraints, initial, guess := c.Equations, c.Constraints, c.Initial, c.Guess
	reported := slices.Concat(c.States, c.Algebraic)
	if c.Semi != nil {
		equations, constraints, initial, guess = c.Semi.Equations, c.Semi.Constraints, c.Semi.Initial, c.Semi.Guess
		for name, value := range c.Semi.Outputs {
			line("let %s = %s", name, value)
		}
	}
	for name, value := range c.Definitions {
		line("let %s = %s", name, value)
	}
	for name, value := range initial {
		line("state %s = %s", name, value)
	}
	for name, value := range guess {
		line("alg %s = %s", name, value)
	}
	for name, value := range c.Discrete {
		line("discrete %s = %s", name, value)
	}
	for name, value := range equations {
		line("%s = %s", name, value)
	}
	for _, equation := range constraints {
		line("%s", equation)
	}
	for _, e := range c.Events {
		head := "at " + e.At
		if e.Guard != "" {
			way := map[string]string{"falling": "down", "rising": "up"}[e.Direction]
			head = fmt.Sprintf("when %s crosses 0 %s", e.Guard, way)
		}
		line("event %s %s {", e.Name, head)
		for name, value := range e.Then {
			line("  %s = %s", name, value)
		}
		line("}")
	}
	nth := map[string]int{}
	for i, e := range c.Log {
		nth[e.Event]++
		line("objective at_%d = event_time(%s, %d)", i, e.Event, nth[e.Event])
		for _, name := range reported {
			line("objective %s_%db = at_event(%s, pre(%s), %d)", name, i, e.Event, name, nth[e.Event])
			line("objective %s_%da = at_event(%s, post(%s), %d)", name, i, e.Event, name, nth[e.Event])
		}
	}
	for _, name := range reported {
		line("objective %s_0 = initial(%s)\nobjective %s_T = final(%s)", name, name, name, name)
	}
	for name, what := range c.Costs {
		line("objective %s = integral(%s)", name, strings.TrimPrefix(what, "integral over [0,t] of "))
	}
	return b.String()
}

// TestAlgebraicReferences compares values and derivatives of models with algebraic unknowns with multiprecision
// references, those at the start, before and after events included: values to 1e-8, derivatives to 1e-7, of the largest
// by the same variable.
func TestAlgebraicReferences(t *testing.T) {
	for _, c := range readDAE(t) {
		for _, mode := range []string{"adjoint", "tangent", "complex", "forward", "continuous"} {
			if mode != "adjoint" && (testing.Short() || mode == "complex" && len(c.By) > 12) {
				continue
			}
			t.Run(c.ID+"/"+mode, func(t *testing.T) {
				t.Parallel()
				c.compare(t, mode, "auto")
			})
		}
		for _, method := range []string{"radau5", "radau9", "kvaerno5"} {
			if testing.Short() {
				continue
			}
			t.Run(c.ID+"/"+method, func(t *testing.T) {
				t.Parallel()
				c.compare(t, "adjoint", method)
			})
		}
	}
}

func (c *daeCase) compare(t *testing.T, mode, method string) {
	m, err := odes.Parse("m.ode", c.model(), odes.ParseOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, c.model())
	}
	var worstValue, worstDerivative float64
	results := c.Results
	if mode != "adjoint" {
		results = results[len(results)-1:]
	}
	for _, pt := range results {
		want := map[string]float64{}
		derivatives := map[string]map[string]float64{}
		largest := map[string]float64{}
		add := func(name string, value float64, d map[string]float64, groups string) {
			want[name], derivatives[name] = value, d
			for p, x := range d {
				largest[groups+p] = max(largest[groups+p], math.Abs(x))
			}
		}
		group := map[string]string{}
		for name, value := range c.Consistent.State {
			if strings.HasPrefix(name, "e") && c.Semi != nil {
				continue
			}
			add(name+"_0", value, c.Consistent.D[name], "start ")
			group[name+"_0"] = "start "
		}
		for name, value := range pt.State {
			add(name+"_T", value, pt.D[name], "end ")
			group[name+"_T"] = "end "
		}
		for name, q := range pt.Costs {
			add(name, q.Value, q.D, name)
			group[name] = name
		}
		for i, e := range c.Log {
			if e.T > pt.T {
				break
			}
			at := fmt.Sprintf("at_%d", i)
			add(at, e.T, e.Dt, at)
			group[at] = at
			for name, value := range e.Before {
				key := fmt.Sprintf("%s_%db", name, i)
				add(key, value, e.DBefore[name], at+"b")
				group[key] = at + "b"
			}
			for name, value := range e.After {
				key := fmt.Sprintf("%s_%da", name, i)
				add(key, value, e.DAfter[name], at+"a")
				group[key] = at + "a"
			}
		}
		opts := odes.Options{
			Threads: 1, Of: slices.Sorted(maps.Keys(want)), Wrt: c.By,
			Set: []odes.Assignment{{Name: "T_end", Values: []float64{pt.T}}},
			Settings: []odes.Setting{
				{Key: "solver.rtol", Value: "1e-11"},
				{Key: "solver.atol", Value: "1e-15"},
				{Key: "sens.mode", Value: mode},
				{Key: "solver.method", Value: method},
				{Key: "sens.trust", Value: "off"},
				{Key: "sens.control", Value: "auto"},
			},
		}
		got, err := m.Sensitivities(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		size := map[string]float64{}
		for name, x := range want {
			size[group[name]] = max(size[group[name]], math.Abs(x))
		}
		for i, v := range got.Values {
			off := math.Abs(v.Value - want[v.Name])
			if most := size[group[v.Name]]; most > 0 {
				off /= most
			}
			worstValue = max(worstValue, off)
			if !(off <= 1e-8) {
				t.Errorf("t = %g: %s = %.17g, want %.17g: off by %.2g", pt.T, v.Name, v.Value, want[v.Name], off)
			}
			for _, x := range got.Variables {
				d, have := derivatives[v.Name][x.Name], got.Gradient[i*got.Columns+x.Offset]
				most := largest[group[v.Name]+x.Name]
				if most == 0 {
					most = 1
				}
				off := math.Abs(have-d) / most
				worstDerivative = max(worstDerivative, off)
				if !(off <= 1e-7) {
					t.Errorf("t = %g: d %s/d %s = %.17g, want %.17g: off by %.2g of %g", pt.T, v.Name, x.Name, have, d,
						off, most)
				}
			}
		}
	}
	t.Logf("values off by %.2g, derivatives by %.2g", worstValue, worstDerivative)
}

// TestMassMatrixReference solves the transistor amplifier as it is published, with a singular mass matrix whose
// elements are numbers, and compares with the same reference.
func TestMassMatrixReference(t *testing.T) {
	cases := readDAE(t)
	c := cases[slices.IndexFunc(cases, func(c daeCase) bool { return c.Matrix != nil })]
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	n := len(c.States)
	line("model M\ntime t from 0 to 0.01\nconst M[%d,%d] = [", n, n)
	var rates []string
	for i, row := range c.Matrix {
		line("%s[%s]", map[bool]string{true: ","}[i > 0], strings.Join(row, ", "))
		rates = append(rates, c.Right[c.States[i]])
	}
	line("]")
	var initial []string
	for _, name := range slices.Sorted(maps.Keys(c.Parameters)) {
		kind := "param"
		if strings.HasPrefix(name, "C") {
			kind = "const"
		}
		line("%s %s = %.17g", kind, name, c.Parameters[name])
	}
	for i, name := range c.States {
		line("let %s = y[%d]", name, i+1)
		line("objective %s_T = final(%s)", name, name)
		initial = append(initial, c.Initial[name])
	}
	for name, value := range c.Definitions {
		line("let %s = %s", name, value)
	}
	line("state y[%d] = [%s]", n, strings.Join(initial, ", "))
	line("mass(y) = M\ny' = [%s]", strings.Join(rates, ", "))
	m, err := odes.Parse("m.ode", b.String(), odes.ParseOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	by := slices.DeleteFunc(slices.Clone(c.By), func(p string) bool { return strings.HasPrefix(p, "C") })
	got, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1, Wrt: by, Settings: []odes.Setting{
		{Key: "solver.rtol", Value: "1e-10"}, {Key: "solver.atol", Value: "1e-13"}, {Key: "sens.trust", Value: "off"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	pt := c.Results[slices.IndexFunc(c.Results, func(p daePoint) bool { return p.T == 0.01 })]
	for i, v := range got.Values {
		name := strings.TrimSuffix(v.Name, "_T")
		if want := pt.State[name]; !(math.Abs(v.Value-want) <= 1e-8*6) {
			t.Errorf("%s = %.17g, want %.17g", name, v.Value, want)
		}
		for _, x := range got.Variables {
			most := 0.0
			for _, d := range pt.D {
				most = max(most, math.Abs(d[x.Name]))
			}
			if d, want := got.Gradient[i*got.Columns+x.Offset], pt.D[name][x.Name]; !(math.Abs(d-want) <= 1e-7*most) {
				t.Errorf("d %s/d %s = %.17g, want %.17g", name, x.Name, d, want)
			}
		}
	}
}
