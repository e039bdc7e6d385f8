package verify_test

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// stiffMethods are the methods that the stiff references are compared with.
var stiffMethods = []string{"auto", "rodas4p", "rodas5p"}

// lowStiffMethods are the other Rosenbrock methods, most of which take many steps to the tolerances of the references.
// Short tests are without them. Of order 2, rosenbrock23 is off by up to 1e-5 on some of these models, and left out.
var lowStiffMethods = []string{"rodas4", "rodas3", "ros3p", "rosenbrock23"}

// notOfOrder2 are the references that rosenbrock23 does not come near enough to.
var notOfOrder2 = []string{"hires", "oregonator", "vdp_jump_mu100"}

// iteratingMethods are those that the references of values and gradients are compared with besides.
var iteratingMethods = []string{"radau9", "esdirk54"}

// stiffReferences are references of stiff models. rename is that of referenceCase, atol the absolute tolerance that
// the smallest state needs, and control that of derivatives: what begins at rest on a slow manifold does not move as
// its derivatives do.
var stiffReferences = []struct{ model, ref, rename, atol, control string }{
	{"robertson", "robertson", "y1=A_T y2=B_T y3=C_T int_y3=int_C y10=A0 y20=B0 y30=C0", "1e-17", "auto"},
	{"hires", "hires", "y1=Pr_T y2=Pfr_T y3=PrX_T y4=PfrX_T y5=PrX2_T y6=PfrX2_T y7=PfrXE_T y8=E_T", "1e-14", "auto"},
	{"oregonator", "oregonator", "y1=X_T y2=Y_T y3=Z_T a=X0 b=Y0 c=Z0", "1e-14", "auto"},
	{"vdp", "vdp_mu1000_fixed_start", "", "1e-14", "on"},
	{"vdp", "vdp_mu1000_mu_dependent_start", "", "1e-14", "auto"},
	{"vdp", "vdp_jump_mu100", "", "1e-14", "auto"},
}

// TestStiffReferences compares values and derivatives with multiprecision references: values to 1e-8, derivatives to
// 1e-7 of the largest of all states by the same variable.
func TestStiffReferences(t *testing.T) {
	for _, row := range stiffReferences {
		for _, method := range slices.Concat(stiffMethods, lowStiffMethods, iteratingMethods) {
			for _, mode := range []string{"adjoint", "tangent", "complex"} {
				if method != stiffMethods[0] && mode != "adjoint" {
					continue
				}
				low := slices.Contains(lowStiffMethods, method)
				if low && testing.Short() || method == "rosenbrock23" && slices.Contains(notOfOrder2, row.ref) {
					continue
				}
				t.Run(row.ref+"/"+method+"/"+mode, func(t *testing.T) {
					t.Parallel()
					compareStiff(t, row.model, row.ref, row.rename, []odes.Setting{
						{Key: "solver.method", Value: method},
						{Key: "solver.rtol", Value: "1e-10"},
						{Key: "solver.atol", Value: row.atol},
						{Key: "sens.mode", Value: mode},
						{Key: "sens.control", Value: row.control},
						{Key: "sens.trust", Value: "off"},
					})
				})
			}
		}
	}
}

func compareStiff(t *testing.T, model, id, rename string, settings []odes.Setting) {
	var ref reference
	readReference(t, id, &ref)
	m, err := odes.ParseFile(modeltest.Path("examples/" + model + "/" + model + ".ode"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, pair := range strings.Fields(rename) {
		from, to, _ := strings.Cut(pair, "=")
		names[from] = to
	}
	name := func(s, otherwise string) string {
		if to, ok := names[s]; ok {
			return to
		}
		return otherwise
	}
	var worstValue, worstDerivative float64
	checked := 0
	for _, pt := range ref.Points {
		opts := odes.Options{
			Threads: 1, Settings: settings, Set: []odes.Assignment{{Name: "T", Values: []float64{*pt.T}}},
		}
		for p, value := range ref.Parameters {
			opts.Set = append(opts.Set, odes.Assignment{Name: name(p, p), Values: []float64{value}})
			opts.Wrt = append(opts.Wrt, name(p, p))
		}
		want, largest := map[string]quantity{}, map[string]float64{} // of the states, by variable
		for s, q := range pt.States {
			want[name(s, s+"_T")] = q
			for p, d := range q.D {
				largest[p] = max(largest[p], math.Abs(d))
			}
		}
		integrals := map[string]bool{}
		for s, q := range pt.Costs {
			want[name(s, s)] = q
			integrals[name(s, s)] = true
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
		for i, v := range got.Values {
			q := want[v.Name]
			off := math.Abs(v.Value-q.Value) / math.Abs(q.Value)
			worstValue = max(worstValue, off)
			if !(off <= 1e-8) {
				t.Errorf("t = %g: %s = %.17g, want %.17g: off by %.2g", *pt.T, v.Name, v.Value, q.Value, off)
			}
			for p, d := range q.D {
				size := largest[p]
				if integrals[v.Name] {
					size = math.Abs(d)
				}
				x := got.Gradient[i*got.Columns+column[name(p, p)]]
				off := math.Abs(x-d) / size
				worstDerivative = max(worstDerivative, off)
				checked++
				if !(off <= 1e-7) {
					t.Errorf("t = %g: d %s/d %s = %.17g, want %.17g: off by %.2g of %g", *pt.T, v.Name, p, x, d,
						off, size)
				}
			}
		}
	}
	if checked < 4 {
		t.Fatalf("%d derivatives were compared", checked)
	}
	t.Logf("%d derivatives, off by %.2g; values by %.2g", checked, worstDerivative, worstValue)
}

// stiffGradients are models whose gradients stiff_gradients.json holds: of one objective by params and by initial
// values, in that order. A name with an asterisk stands for all that begin so.
var stiffGradients = []struct {
	id, model, of        string
	set, params, initial string
	atol                 string
	rtol                 string // "": 1e-10
	control              string // "": off
	without              string // methods that take too many steps
	large                bool
	amplifies            bool // rounding, along the run
}{
	{
		id: "robertson40", model: "robertson/robertson", of: "A_T", set: "T=40", params: "k1 k2 k3", initial: "A B C",
		atol: "1e-17",
	},
	{
		id: "robertson4e5", model: "robertson/robertson", of: "A_T", set: "T=4e5", params: "k1 k2 k3",
		initial: "A B C", atol: "1e-18",
	},
	{
		id: "hires", model: "hires/hires", of: "PfrX2_T", set: "T=300",
		params: "p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12", initial: "Pr Pfr PrX PfrX PrX2 PfrX2 PfrXE E", atol: "1e-14",
	},
	{
		id: "oregonator", model: "oregonator/oregonator", of: "Y_T", set: "T=330", params: "s w q", initial: "X Y Z",
		atol: "1e-14",
	},
	{
		id: "pollution", model: "pollution/pollution", of: "ozone", set: "T=60", params: "k*", initial: "*",
		atol: "1e-17",
	},
	{id: "network20", model: "network/network20", of: "J", params: "k*", initial: "*", atol: "1e-15"},
	{
		id: "network100", model: "network/network100", of: "J", params: "k", initial: "s", atol: "1e-15", large: true,
		without: "radau9",
	},
	{
		id: "brusselator200", model: "brusselator_1d/brusselator_1d", of: "mean_u", set: "T=10", params: "A B alpha",
		initial: "u v", atol: "1e-14", large: true, without: "radau9",
	},
	{
		id: "vdp1e3", model: "vdp/vdp", of: "x_T", set: "T=0.5 mu=1e3 v0=-0.6665433433927754", params: "mu",
		initial: "x v", atol: "1e-14", control: "on",
	},
	{
		id: "vdp1e6", model: "vdp/vdp", of: "x_T", set: "T=0.4 mu=1e6 v0=-0.6666665432100101", params: "mu",
		initial: "x v", atol: "1e-16", control: "on", without: "auto esdirk54",
	},
	{
		id: "vdpjump", model: "vdp/vdp", of: "x_T", set: "T=0.95 mu=1e6 v0=0", params: "mu", initial: "x v",
		atol: "1e-16", rtol: "1e-13", amplifies: true, without: "esdirk54",
	},
}

// TestStiffGradients compares gradients with those of another program, Radau IIA in long double: p dJ/dp of all params
// p and the derivatives by initial values to 1e-7 of the largest of them, the value to 1e-8.
func TestStiffGradients(t *testing.T) {
	type gradient struct {
		ID      string
		J       float64
		Params  []float64 `json:"dJ_dp"`
		Initial []float64 `json:"dJ_dy0"`
	}
	var ref struct{ Cases []gradient }
	readReference(t, "stiff_gradients", &ref)
	if len(ref.Cases) != len(stiffGradients) {
		t.Fatalf("%d cases, want %d", len(ref.Cases), len(stiffGradients))
	}
	for _, row := range stiffGradients {
		for _, method := range append(slices.Clone(stiffMethods), iteratingMethods...) {
			t.Run(row.id+"/"+method, func(t *testing.T) {
				t.Parallel()
				if row.large && testing.Short() || strings.Contains(row.without, method) {
					t.Skip("too many steps")
				}
				m, opts, scales := stiffModel(t, row.model, row.of, row.set, row.params, row.initial)
				opts.Settings = []odes.Setting{
					{Key: "solver.method", Value: method},
					{Key: "solver.rtol", Value: cmp.Or(row.rtol, "1e-10")},
					{Key: "solver.atol", Value: row.atol},
					{Key: "sens.control", Value: cmp.Or(row.control, "off")},
					{Key: "sens.trust", Value: "off"},
				}
				run := func(o odes.Options) *odes.Sensitivities {
					s, err := m.Sensitivities(t.Context(), o)
					if err != nil {
						t.Fatal(err)
					}
					return s
				}
				got := run(opts)
				k := slices.IndexFunc(ref.Cases, func(c gradient) bool { return c.ID == row.id })
				want := ref.Cases[k]
				params, initial := stiffParts(got, 0)
				if len(params) != len(want.Params) || len(initial) != len(want.Initial) {
					t.Fatalf("%d and %d derivatives, want %d and %d", len(params), len(initial), len(want.Params),
						len(want.Initial))
				}
				most, off := 0.0, 0.0
				for i, d := range want.Params {
					most, off = max(most, math.Abs(d*scales[i])), max(off, math.Abs((params[i]-d)*scales[i]))
				}
				for i, d := range want.Initial {
					most, off = max(most, math.Abs(d)), max(off, math.Abs(initial[i]-d))
				}
				value := math.Abs(got.Values[0].Value/want.J - 1)
				allowed := 1e-7
				if row.amplifies {
					bound := stiffAmplified(t, m, opts, scales, bitsOfVdp, run)
					t.Logf("last bits change the gradient by %.2g", bound)
					allowed = max(allowed, 10*bound)
				}
				if !(value <= 1e-8) || !(off <= allowed*most) {
					t.Errorf("%s is off by %.2g, its gradient by %.2g", row.of, value, off/most)
				}
				t.Logf("%s is off by %.2g, its gradient by %.2g; %d steps", row.of, value, off/most, got.Stats.Steps)
			})
		}
	}
}

// stiffModel compiles an example and asks for derivatives of one objective. It returns the values of the params.
func stiffModel(t *testing.T, model, of, set, params, initial string) (*odes.Model, odes.Options, []float64) {
	t.Helper()
	m, err := odes.ParseFile(modeltest.Path("examples/" + model + ".ode"))
	if err != nil {
		t.Fatal(err)
	}
	opts := odes.Options{Threads: 1}
	if of != "" {
		opts.Of = strings.Fields(of)
	}
	for _, pair := range strings.Fields(set) {
		name, value, _ := strings.Cut(pair, "=")
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		opts.Set = append(opts.Set, odes.Assignment{Name: name, Values: []float64{x}})
	}
	symbols, err := m.Symbols(opts.Set)
	if err != nil {
		t.Fatal(err)
	}
	named := func(list, name string) bool {
		for pattern := range strings.FieldsSeq(list) {
			if prefix, ok := strings.CutSuffix(pattern, "*"); pattern == name || ok && strings.HasPrefix(name, prefix) {
				return true
			}
		}
		return false
	}
	var scales []float64
	for _, s := range symbols {
		switch {
		case s.Kind == "param" && named(params, s.Name):
			opts.Wrt = append(opts.Wrt, s.Name)
			scales = append(scales, s.Values...)
		case s.Kind == "state" && named(initial, s.Name):
			opts.Wrt = append(opts.Wrt, "initial("+s.Name+")")
		}
	}
	return m, opts, scales
}

// stiffParts are the derivatives of objective i by params and by initial values; those of two arrays side by side.
func stiffParts(s *odes.Sensitivities, i int) (params, initial []float64) {
	var arrays [][]float64
	for _, v := range s.Variables {
		switch d := s.Derivative(i, v); {
		case !v.Initial:
			params = append(params, d...)
		case len(v.Shape) > 0:
			arrays = append(arrays, d)
		default:
			initial = append(initial, d...)
		}
	}
	if len(arrays) > 0 {
		for k := range arrays[0] {
			for _, a := range arrays {
				initial = append(initial, a[k])
			}
		}
	}
	return params, initial
}

// stiffModes are models whose derivatives adjoint, tangent and complex step must agree on, on the same steps.
// Where the run itself amplifies rounding, they may differ by ten times what lastBits change.
var stiffModes = []struct {
	model, set, params, initial, atol string
	lastBits                          []odes.Assignment
}{
	{"robertson/robertson", "T=4e5", "k*", "A B C", "1e-12", bitsOfRobertson},
	{"hires/hires", "", "p*", "Pr E", "1e-9", nil},
	{"oregonator/oregonator", "T=60", "s w q", "X Y Z", "1e-8", nil},
	{"e5/e5", "T=1e9", "A B C M y10", "", "1e-28", nil},
	{"pollution/pollution", "", "k*", "NO O3", "1e-11", nil},
	{"ring_modulator/ring_modulator", "T=2e-6", "C Cs Cp R gamma delta a1 f1 a2 f2", "", "1e-10", nil},
	{"brusselator_1d/brusselator_1d", "T=2", "A B alpha", "", "1e-8", nil},
	{"network/network20", "", "k*", "s*", "1e-10", nil},
	{"generator/generator", "", "tf tc Vf Xe H D KA TA TR droop delta0 Efd0", "", "1e-8", nil},
}

// TestStiffModes compares the transpose of the steps, their tangent and the steps in complex arithmetic.
func TestStiffModes(t *testing.T) {
	for _, row := range stiffModes {
		for _, method := range slices.Concat(stiffMethods, lowStiffMethods) {
			t.Run(row.model+"/"+method, func(t *testing.T) {
				t.Parallel()
				if testing.Short() && slices.Contains(lowStiffMethods, method) {
					t.Skip("many steps")
				}
				m, opts, scales := stiffModel(t, row.model, "", row.set, row.params, row.initial)
				off, allowed := stiffModesApart(t, m, opts, scales, method, row.atol), 1e-12
				if len(row.lastBits) > 0 {
					bound := stiffAmplified(t, m, opts, scales, row.lastBits, func(o odes.Options) *odes.Sensitivities {
						return stiffGradient(t, m, o, method, "adjoint", row.atol)
					})
					t.Logf("last bits change the gradient by %.2g; the modes differ by %.2g", bound, off)
					allowed = max(allowed, 10*bound)
				}
				if !(off <= allowed) {
					t.Errorf("adjoint, tangent and complex step differ by %.2g", off)
				}
			})
		}
	}
}

// stiffModesApart is how far the modes differ, relative to the largest derivative of each objective.
func stiffModesApart(t *testing.T, m *odes.Model, opts odes.Options, scales []float64, method, atol string) float64 {
	t.Helper()
	adjoint := stiffGradient(t, m, opts, method, "adjoint", atol)
	worst := 0.0
	for _, mode := range []string{"tangent", "complex"} {
		other := stiffGradient(t, m, opts, method, mode, atol)
		if other.Stats.Steps != adjoint.Stats.Steps {
			t.Errorf("%s: %d steps, and %d of the adjoint", mode, other.Stats.Steps, adjoint.Stats.Steps)
		}
		for i := range adjoint.Values {
			worst = max(worst, stiffApart(other, adjoint, i, scales))
		}
	}
	return worst
}

func stiffGradient(t *testing.T, m *odes.Model, opts odes.Options, method, mode, atol string) *odes.Sensitivities {
	t.Helper()
	opts.Settings = stiffSettings(method, mode, atol)
	s, err := m.Sensitivities(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func stiffSettings(method, mode, atol string) []odes.Setting {
	return []odes.Setting{
		{Key: "solver.method", Value: method},
		{Key: "solver.rtol", Value: "1e-6"},
		{Key: "solver.atol", Value: atol},
		{Key: "sens.mode", Value: mode},
		{Key: "sens.trust", Value: "off"},
		{Key: "sens.control", Value: "off"},
	}
}

// stiffApart is the largest difference of p dJ/dp and of derivatives by initial values, over the largest of them.
func stiffApart(got, want *odes.Sensitivities, i int, scales []float64) float64 {
	a, b := got.Gradient[i*got.Columns:], want.Gradient[i*want.Columns:]
	most, off := 0.0, 0.0
	for k := range want.Columns {
		scale := 1.0
		if k < len(scales) {
			scale = scales[k]
		}
		most, off = max(most, math.Abs(b[k]*scale)), max(off, math.Abs((a[k]-b[k])*scale))
	}
	if off == 0 {
		return 0
	}
	return off / most
}

// TestStiffAmplified compares the modes where the run itself amplifies rounding: through a jump of the Van der Pol
// oscillator with mu = 1e6. The modes may differ by ten times what last bits change.
func TestStiffAmplified(t *testing.T) {
	for _, method := range stiffMethods {
		m, opts, scales := stiffModel(t, "vdp/vdp", "x_T", "T=0.95 mu=1e6 v0=0", "mu", "x v")
		bound := stiffAmplified(t, m, opts, scales, bitsOfVdp, func(o odes.Options) *odes.Sensitivities {
			return stiffGradient(t, m, o, method, "adjoint", "1e-8")
		})
		apart := stiffModesApart(t, m, opts, scales, method, "1e-8")
		t.Logf("%s: last bits change the gradient by %.2g; the modes differ by %.2g", method, bound, apart)
		if !(apart <= 10*bound) {
			t.Errorf("%s: adjoint, tangent and complex step differ by %.2g, more than 10 times %.2g", method, apart,
				bound)
		}
	}
}

// bitsOfVdp are last bits of mu and of the initial values of vdp.ode, and bitsOfRobertson of its rate constants.
var (
	bitsOfVdp = []odes.Assignment{
		{Name: "mu", Values: []float64{math.Nextafter(1e6, 0)}},
		{Name: "mu", Values: []float64{math.Nextafter(1e6, 2e6)}},
		{Name: "x0", Values: []float64{math.Nextafter(2, 0)}},
		{Name: "x0", Values: []float64{math.Nextafter(2, 3)}},
		{Name: "v0", Values: []float64{1e-16}},
		{Name: "v0", Values: []float64{-1e-16}},
	}
	bitsOfRobertson = []odes.Assignment{
		{Name: "k1", Values: []float64{math.Nextafter(0.04, 0)}},
		{Name: "k1", Values: []float64{math.Nextafter(0.04, 1)}},
		{Name: "k3", Values: []float64{math.Nextafter(1e4, 0)}},
		{Name: "k3", Values: []float64{math.Nextafter(1e4, 2e4)}},
	}
)

// stiffAmplified is how much a gradient changes at least, relative to its largest entry, when one of lastBits does. (It
// may be much more: where a step is rejected then that was not before.)
func stiffAmplified(
	t *testing.T, m *odes.Model, opts odes.Options, scales []float64, lastBits []odes.Assignment,
	run func(odes.Options) *odes.Sensitivities,
) float64 {
	t.Helper()
	base, least := run(opts), math.Inf(1)
	for _, nudge := range lastBits {
		o := opts
		o.Set = append(slices.Clone(opts.Set), nudge)
		other, most := run(o), 0.0
		for i := range base.Values {
			most = max(most, stiffApart(other, base, i, scales))
		}
		least = min(least, most)
	}
	return least
}

// published are end values of the Test Set for Initial Value Problem Solvers (Bari and CWI Amsterdam), and of Hairer
// and Wanner for E5, in the order of of.
var published = []struct {
	model, set, of, atol string
	values               []float64
	tol                  float64
}{
	{
		"robertson/robertson", "T=1e11", "A_T B_T C_T", "1e-22",
		[]float64{0.2083340149701255e-07, 0.8333360770334713e-13, 0.9999999791665050},
		1e-7,
	},
	{
		"hires/hires", "T=321.8122", "Pr_T Pfr_T PrX_T PfrX_T PrX2_T PfrX2_T PfrXE_T E_T", "1e-15", []float64{
			0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4, 0.1175651343283149e-2,
			0.2386356198831331e-2, 0.6238968252742796e-2, 0.2849998395185769e-2, 0.2850001604814231e-2,
		}, 1e-7,
	},
	{
		"oregonator/oregonator", "T=360", "X_T Y_T Z_T", "1e-12",
		[]float64{0.1000814870318523e1, 0.1228178521549917e4, 0.1320554942846706e3},
		1e-7,
	},
	{
		"pollution/pollution", "T=60", "NO2_T ozone", "1e-16",
		[]float64{0.5646255480022769e-1, 0.5523140207484359e-2},
		1e-7,
	},
	{
		"e5/e5", "T=1e9", "y1_T y2_T y3_T y4_T", "1e-33", []float64{
			3.1317148329356996e-14, 1.4840957952870064e-16, 1.4840957948345691e-16, 4.5243728279782625e-26,
		}, 1e-7,
	},
	{"ring_modulator/ring_modulator", "T=1e-3", "out", "1e-11", []float64{-0.7367485485540825e-2}, 1e-7},
}

// TestStiffPublished compares end values with published ones.
func TestStiffPublished(t *testing.T) {
	for _, row := range published {
		for _, method := range stiffMethods {
			t.Run(row.model+"/"+method, func(t *testing.T) {
				t.Parallel()
				if testing.Short() {
					t.Skip("long runs")
				}
				m, opts, _ := stiffModel(t, row.model, row.of, row.set, "", "")
				opts.Settings = []odes.Setting{
					{Key: "solver.method", Value: method},
					{Key: "solver.rtol", Value: "1e-8"},
					{Key: "solver.atol", Value: row.atol},
					{Key: "sens.trust", Value: "off"},
				}
				s, err := m.Solve(t.Context(), opts)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range s.Values {
					k := slices.Index(strings.Fields(row.of), v.Name)
					if off := math.Abs(v.Value/row.values[k] - 1); !(off <= row.tol) {
						t.Errorf("%s = %.16g, published %.16g: off by %.2g", v.Name, s.Values[i].Value,
							row.values[k], off)
					}
				}
			})
		}
	}
}

// TestReferencesAuto compares every reference with the method that auto chooses.
//
//odes:goroutines
func TestReferencesAuto(t *testing.T) {
	for _, row := range references {
		t.Run(row.ref, func(t *testing.T) {
			t.Parallel()
			row.settings = append(slices.Clone(row.settings), odes.Setting{Key: "solver.method", Value: "auto"})
			compareReference(t, row, "adjoint", 10)
		})
	}
}
