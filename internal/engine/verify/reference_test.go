package verify_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// references are solutions and derivatives computed with multiprecision Taylor
// series and Radau IIA collocation (testdata/reference says which, and how many
// digits agreed between two settings). A new one joins by a file and a line.
//
// State x of a reference is the objective x_T of the model, a trajectory cost
// the objective of the same name; rename says where names differ.
var references = []referenceCase{
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

type referenceCase struct {
	model, ref string
	rename     string
	// of values; 0: 1e-8. Derivatives have ten times that, and more where the mode differentiates
	// first.
	tol      float64
	settings []odes.Setting
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
	data, err := os.ReadFile(modeltest.Path("testdata/reference/" + id + ".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", id, err)
	}
}

// comparison counts what was compared, and the worst error in units of the tolerance.
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

// TestReferences compares every reference with five modes that share little: the transpose of the
// steps, their tangent, the steps in complex arithmetic, and the two that differentiate the equations
// first.
//
//odes:goroutines
func TestReferences(t *testing.T) {
	for _, row := range references {
		for mode, allowed := range map[string]float64{
			"adjoint": 10, "tangent": 10, "complex": 10, "forward": 10,
			"continuous": 100,
		} {
			t.Run(row.ref+"/"+mode, func(t *testing.T) {
				t.Parallel()
				compareReference(t, row, mode, allowed)
			})
		}
	}
}

// compareReference compares one reference with one mode. Errors of derivatives may be allowed times
// the tolerance of values.
func compareReference(t *testing.T, row referenceCase, mode string, allowed float64) {
	var ref reference
	readReference(t, row.ref, &ref)
	if len(ref.Points) == 0 {
		t.Fatal("the reference has no points: nothing would be checked")
	}
	m, err := odes.ParseFile(modeltest.Path("examples/" + row.model))
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
		opts := odes.Options{EventTimes: true, Settings: append(row.settings[:len(row.settings):len(row.settings)],
			odes.Setting{Key: "sens.mode", Value: mode})}
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
				c.close("d "+v.Name+"/d "+p, got.Gradient[i*got.Columns+at], d, allowed*tol)
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
				c.close("d time of "+events[k].Name+"/d "+p, events[k].Params[column[name(p, p)]], d, allowed*tol)
			}
		}
	}
	if c.checked < 2*len(ref.Points) {
		t.Fatalf("only %d numbers were compared", c.checked)
	}
	t.Logf("%d numbers, the worst at %.2g of its tolerance", c.checked, c.worst)
}

// discreteModels are the models of the references of discrete steps, with how many numbers each has.
var discreteModels = []struct {
	id, text         string
	methods, numbers int
	tol              float64
}{
	{"discrete_lotka_volterra", `
time t from 0 to 5
param a = 1, b = 1, c = 1, d = 1, x0 = 1, y0 = 1
state x = x0, y = y0
x' = a*x - b*x*y
y' = -c*y + d*x*y
objective q = integral(x)
objective x_T = final(x)
objective y_T = final(y)
objective J = final(((1 - x)^2 + (1 - y)^2)/2) + integral(x)
`, 13, 4 * 7, 1e-13},
	{"discrete_vdp_stiff", `
time t from 0 to 0.5
param mu = 1, x0 = 1, v0 = 1
state x = x0, v = v0
x' = v
v' = mu*((1 - x^2)*v - x)
objective x_T = final(x)
objective v_T = final(v)
objective J = final(x^2 + v)
`, 7, 3 * 4, 1e-12}, // the trapezoidal rule damps nothing
}

// TestReferenceDiscrete compares schemes of fixed steps with exact derivatives of what they compute.
// Adjoint, tangent and complex step give these numbers to rounding; the modes that differentiate the
// equations first do not.
func TestReferenceDiscrete(t *testing.T) {
	for _, row := range discreteModels {
		t.Run(row.id, func(t *testing.T) { compareDiscrete(t, row.id, row.text, row.methods, row.numbers, row.tol) })
	}
}

func compareDiscrete(t *testing.T, id, text string, methods, numbers int, tol float64) {
	var ref struct {
		Parameters map[string]float64
		Step       float64
		Steps      int
		Methods    map[string]struct {
			State     map[string]float64
			D         map[string]map[string]float64
			Objective float64
			Gradient  map[string]float64
		}
	}
	readReference(t, id, &ref)
	m, err := odes.Parse("discrete.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(ref.Methods) != methods {
		t.Fatalf("%d methods", len(ref.Methods))
	}
	for name, want := range ref.Methods {
		for _, mode := range []string{"adjoint", "tangent", "complex"} {
			opts := odes.Options{Settings: []odes.Setting{
				{Key: "solver.method", Value: name},
				{Key: "solver.fixed_step", Value: fmt.Sprint(ref.Step)},
				{Key: "sens.mode", Value: mode},
			}}
			for p, x := range ref.Parameters {
				opts.Set = append(opts.Set, odes.Assignment{Name: p, Values: []float64{x}})
			}
			got, err := m.Sensitivities(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			if got.Stats.Steps != ref.Steps {
				t.Fatalf("%d steps, want %d", got.Stats.Steps, ref.Steps)
			}
			c := &comparison{t: t}
			for i, v := range got.Values {
				value, d := want.Objective, want.Gradient
				if s, ok := strings.CutSuffix(v.Name, "_T"); ok || v.Name == "q" {
					value, d = want.State[s], want.D[s]
				}
				c.close(name+"/"+mode+": "+v.Name, v.Value, value, tol)
				for _, p := range got.Variables {
					c.close(name+"/"+mode+": d "+v.Name+"/d "+p.Name, got.Derivative(i, p)[0], d[p.Name], tol)
				}
			}
			if c.checked != numbers {
				t.Fatalf("%d numbers were compared", c.checked)
			}
		}
	}
}

// TestReferenceGLV compares the whole 10-species model with five modes: 10 objectives and a cost by
// 120 variables, in part element by element, in whole by norms.
func TestReferenceGLV(t *testing.T) {
	var ref glvReference
	readReference(t, "glv_n10", &ref)
	m, err := odes.ParseFile(modeltest.Path("examples/glv/glv.ode"))
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range oracles {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			// initial(x) holds x0 fixed, so dx/dinitial(x) is the reference's dx/dx(0).
			got, err := m.Sensitivities(t.Context(), odes.Options{
				Threads:  1,
				Settings: []odes.Setting{{Key: "sens.mode", Value: mode}},
			})
			if err != nil {
				t.Fatal(err)
			}
			compareGLV(t, &ref, got)
		})
	}
}

// glvReference is testdata/reference/glv_n10.json.
type glvReference struct {
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

func compareGLV(t *testing.T, ref *glvReference, got *odes.Sensitivities) {
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

// TestLotkaVolterra3 compares all derivatives of the three-species case by A, and an objective that is
// more than a state. Its matrix is written into the model.
func TestLotkaVolterra3(t *testing.T) {
	var ref struct {
		A        [][]float64
		X        []float64
		DR, DX0  [][]float64
		DA       [][][]float64
		Terminal struct {
			Value float64
			DR    []float64
		}
	}
	readReference(t, "glv_n3", &ref)
	a, err := json.Marshal(ref.A)
	if err != nil {
		t.Fatal(err)
	}
	m, err := odes.Parse("glv3", `
const n = 3
time t from 0 to 10
param r[n] = 0.1
param A[n,n] = `+string(a)+`
state x[n] = 0.1
x[i]' = x[i]*(r[i] + sum(A[i,j]*x[j] for j in 1:n)) for i in 1:n
objective y[i] = final(x[i]) for i in 1:n
objective J = final(x[1]) + 2*final(x[2])^2
solver { method = dopri5  rtol = 1e-11  atol = 1e-13 }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range oracles {
		got, err := m.Sensitivities(t.Context(), odes.Options{
			Wrt: []string{"r", "A", "initial(x)"}, Settings: []odes.Setting{{Key: "sens.mode", Value: mode}},
		})
		if err != nil {
			t.Fatal(err)
		}
		c := &comparison{t: t}
		const tol = 1e-8
		r, matrix, x0 := got.Variables[0], got.Variables[1], got.Variables[2]
		for i := range 3 {
			c.close(mode+": x", got.Values[i].Value, ref.X[i], tol)
			for j := range 3 {
				c.close(mode+": dx/dr", got.Derivative(i, r)[j], ref.DR[i][j], 10*tol)
				c.close(mode+": dx/dx0", got.Derivative(i, x0)[j], ref.DX0[i][j], 10*tol)
				for k := range 3 {
					c.close(mode+": dx/dA", got.Derivative(i, matrix)[3*j+k], ref.DA[i][j][k], 10*tol)
				}
			}
			c.close(mode+": dJ/dr", got.Derivative(3, r)[i], ref.Terminal.DR[i], 10*tol)
		}
		c.close(mode+": J", got.Values[3].Value, ref.Terminal.Value, tol)
		if c.checked != 52 {
			t.Fatalf("%s: %d numbers were compared", mode, c.checked)
		}
	}
}
