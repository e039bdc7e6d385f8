package odes_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes"
)

// references are solutions and derivatives computed with multiprecision Taylor
// series and Radau IIA collocation (testdata/reference says which, and how many
// digits agreed between two settings). A new one joins by a file and a line.
//
// State x of a reference is the objective x_T of the model, a trajectory cost
// the objective of the same name; rename says where names differ.
var references = []struct {
	model, ref string
	rename     string
	tol        float64 // of values; 0: 1e-8. Derivatives have ten times that.
	settings   []odes.Setting
}{
	{model: "bounce/bounce.ode", ref: "ball_one_bounce", rename: ball, tol: 1e-9},
	{model: "bounce/bounce.ode", ref: "ball_several_bounces", rename: ball, tol: 1e-9},
	{model: "lorenz/lorenz.ode", ref: "lorenz_T1"},
	{model: "brusselator/brusselator.ode", ref: "brusselator_T10"},
	{model: "lotka_volterra/lotka_volterra.ode", ref: "lotka_volterra"},
	{model: "fitzhugh_nagumo/fitzhugh_nagumo.ode", ref: "fitzhugh_nagumo"},
	{model: "forced_pendulum/forced_pendulum.ode", ref: "forced_pendulum"},
	{model: "exp_forcing/exp_forcing.ode", ref: "exp_forcing"},
	{model: "arenstorf/arenstorf.ode", ref: "arenstorf_T10"},
	{model: "vdp/vdp.ode", ref: "vdp_mu1000_mu_dependent_start"},
	{model: "vdp/vdp.ode", ref: "vdp_mu1000_fixed_start"},
	{model: "vdp/vdp.ode", ref: "vdp_jump_mu100", settings: tight},
	{model: "vdp/vdp_classic.ode", ref: "vdp_classic_mu1"},
	{model: "vdp/vdp_classic.ode", ref: "vdp_classic_mu5", settings: tight},
	{model: "thermostat/thermostat.ode", ref: "thermostat"},
	{model: "pendulum_wall/pendulum_wall.ode", ref: "pendulum_wall"},
	{model: "stairs/stairs.ode", ref: "ball_on_stairs"},
	{model: "harvest/harvest.ode", ref: "rate_change_and_harvest"},
	{model: "swing/swing.ode", ref: "swing_fault"},
	{model: "izhikevich/izhikevich.ode", ref: "izhikevich", settings: tight},
	{model: "switched/switched.ode", ref: "switched_linear"},
	{model: "projectile/projectile.ode", ref: "projectile_range"},
	{model: "pk/pk_oral.ode", ref: "pk_oral_3_doses"},
}

const ball = "z=height v=velocity int_z=area int_z2=area2 z0=h0 gamma=e"

// tight is for problems that lose digits between the solver's tolerance and the result.
var tight = []odes.Setting{{Key: "solver.rtol", Value: "1e-12"}, {Key: "solver.atol", Value: "1e-14"}}

// reference is a file of testdata/reference.
type reference struct {
	ID         string
	Parameters map[string]float64
	Points     []struct {
		T             *float64 // nil: the model's own end
		States, Costs map[string]quantity
		Events        *[]struct { // nil when the reference does not list all of them
			T  float64
			DT map[string]float64
		}
	}
}

type quantity struct {
	Value float64
	D     map[string]float64
}

func readReference(t *testing.T, id string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "reference", id+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", id, err)
	}
}

// comparison counts what was compared, and how far off the worst was in units of the tolerance.
type comparison struct {
	t       *testing.T
	checked int
	worst   float64
}

func (c *comparison) close(what string, got, want, tol float64) {
	c.t.Helper()
	c.checked++
	off := math.Abs(got-want) / math.Max(1, math.Abs(want))
	c.worst = math.Max(c.worst, off/tol)
	if !(off <= tol) {
		c.t.Errorf("%s = %.17g, want %.17g (off by %.2g, allowed %.2g)", what, got, want, off, tol)
	}
}

func TestReferences(t *testing.T) {
	for _, row := range references {
		t.Run(row.ref, func(t *testing.T) {
			t.Parallel()
			var ref reference
			readReference(t, row.ref, &ref)
			if len(ref.Points) == 0 {
				t.Fatal("the reference has no points: nothing would be checked")
			}
			m, err := odes.ParseFile(filepath.Join("examples", filepath.FromSlash(row.model)))
			if err != nil {
				t.Fatal(err)
			}
			names := map[string]string{}
			for _, pair := range strings.Fields(row.rename) {
				from, to, _ := strings.Cut(pair, "=")
				names[from] = to
			}
			name := func(s, otherwise string) string {
				if to, ok := names[s]; ok {
					return to
				}
				return otherwise
			}
			tol := row.tol
			if tol == 0 {
				tol = 1e-8
			}
			c := &comparison{t: t}
			for _, pt := range ref.Points {
				opts := odes.Options{Settings: row.settings, EventTimes: true}
				for p, value := range ref.Parameters {
					opts.Set = append(opts.Set, odes.Assignment{Name: name(p, p), Values: []float64{value}})
					opts.Wrt = append(opts.Wrt, name(p, p))
				}
				if pt.T != nil {
					opts.Set = append(opts.Set, odes.Assignment{Name: "T", Values: []float64{*pt.T}})
				}
				want := map[string]quantity{}
				for s, q := range pt.States {
					want[name(s, s+"_T")] = q
				}
				for s, q := range pt.Costs {
					want[name(s, s)] = q
				}
				for objective := range want {
					opts.Of = append(opts.Of, objective)
				}
				got, err := m.Sensitivities(t.Context(), opts)
				if err != nil {
					t.Fatal(err)
				}
				column := map[string]int{}
				for _, v := range got.Variables {
					column[v.Name] = v.Offset
				}
				if len(got.Values) != len(want) {
					t.Fatalf("%d objectives came back, want %d", len(got.Values), len(want))
				}
				for i, v := range got.Values {
					q, ok := want[v.Name]
					if !ok || len(q.D) == 0 {
						t.Fatalf("nothing to compare %q with", v.Name)
					}
					c.close(v.Name, v.Value, q.Value, tol)
					for p, d := range q.D {
						at, ok := column[name(p, p)]
						if !ok {
							t.Fatalf("no derivative by %s", p)
						}
						c.close("d "+v.Name+"/d "+p, got.Gradient[i*got.Columns+at], d, 10*tol)
					}
				}
				if pt.Events == nil {
					continue
				}
				var events []odes.EventRecord
				for _, e := range got.Events {
					if e.Kind == "event" {
						events = append(events, e)
					}
				}
				if len(events) != len(*pt.Events) {
					t.Fatalf("%d events, want %d: %v", len(events), len(*pt.Events), events)
				}
				for k, e := range *pt.Events {
					c.close("time of "+events[k].Name, events[k].T, e.T, tol)
					for p, d := range e.DT {
						if events[k].Params == nil {
							t.Fatalf("event %s has no derivatives of its time", events[k].Name)
						}
						c.close("d time of "+events[k].Name+"/d "+p, events[k].Params[column[name(p, p)]], d, 10*tol)
					}
				}
			}
			if c.checked < 2*len(ref.Points) {
				t.Fatalf("only %d numbers were compared", c.checked)
			}
			t.Logf("%d numbers, the worst at %.2g of its tolerance", c.checked, c.worst)
		})
	}
}

// TestReferenceGLV compares the whole 10-species model: 10 objectives and a
// cost by 120 variables, in part element by element, in whole by norms.
func TestReferenceGLV(t *testing.T) {
	var ref struct {
		X       []float64
		DR, DX0 [][]float64
		DA      []struct {
			I, A, B int
			Value   float64
		}
		NormParams  float64 `json:"norm_params"`
		NormInitial float64 `json:"norm_initial"`
		Cost        struct {
			Value   float64
			DR, DX0 []float64
			DA      [][]float64
		}
	}
	readReference(t, "glv_n10", &ref)
	m, err := odes.ParseFile(filepath.Join("examples", "glv", "glv.ode"))
	if err != nil {
		t.Fatal(err)
	}
	// initial(x) holds x0 fixed, so dx/dinitial(x) is the reference's dx/dx(0).
	got, err := m.Sensitivities(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]odes.Variable{}
	for _, v := range got.Variables {
		vars[v.String()] = v
	}
	n := len(ref.X)
	if n != 10 || len(got.Values) != n+1 || len(vars) != 3 {
		t.Fatalf("%d reference values, %d objectives, %d variables", n, len(got.Values), len(vars))
	}
	c := &comparison{t: t}
	const tol = 1e-8
	var params, initial float64
	for i, v := range got.Values {
		dr, dA, dx0 := got.Derivative(i, vars["r"]), got.Derivative(i, vars["A"]), got.Derivative(i, vars["initial(x)"])
		want, wantR, wantX0 := ref.Cost.Value, ref.Cost.DR, ref.Cost.DX0
		if i < n {
			want, wantR, wantX0 = ref.X[i], ref.DR[i], ref.DX0[i]
			for _, d := range append(append([]float64{}, dr...), dA...) {
				params += float64(d * d)
			}
			for _, d := range dx0 {
				initial += float64(d * d)
			}
		} else {
			for a := range n {
				for b := range n {
					c.close("d "+v.Name+"/d A", dA[a*n+b], ref.Cost.DA[a][b], 10*tol)
				}
			}
		}
		c.close(v.Name, v.Value, want, tol)
		for j := range n {
			c.close("d "+v.Name+"/d r", dr[j], wantR[j], 10*tol)
			c.close("d "+v.Name+"/d initial(x)", dx0[j], wantX0[j], 10*tol)
		}
	}
	for _, e := range ref.DA {
		c.close("d x/d A", got.Derivative(e.I-1, vars["A"])[(e.A-1)*n+e.B-1], e.Value, 10*tol)
	}
	c.close("norm of d x/d params", math.Sqrt(params), ref.NormParams, 10*tol)
	c.close("norm of d x/d initial", math.Sqrt(initial), ref.NormInitial, 10*tol)
	if c.checked < 300 {
		t.Fatalf("only %d numbers were compared", c.checked)
	}
	t.Logf("%d numbers, the worst at %.2g of its tolerance", c.checked, c.worst)
}
