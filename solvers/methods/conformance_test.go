package methods

import (
	"math"
	"math/big"
	"testing"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/rosenbrock"
	"odes.dev/odes/solvers/tableau"
)

// The tests of this package run every registered method, by what it can do: a new method or family joins them by being
// registered. Tests of tables (order_test.go) run the methods that are tables.

// eachMethod runs a test for every registered method with the given capabilities on every toy.
func eachMethod(t *testing.T, can solvers.Capability, test func(t *testing.T, m *solvers.Spec, f *toy)) {
	for _, m := range testedMethods() {
		if !m.Can.Has(can) {
			continue
		}
		for name, f := range toys {
			t.Run(m.Name+"/"+name, func(t *testing.T) { test(t, m, f) })
		}
	}
}

// eachTable runs a test for every registered method that is a table.
func eachTable(t *testing.T, test func(t *testing.T, tab *tableau.Tableau)) {
	for _, m := range testedMethods() {
		if tab := tableOf(m); tab != nil {
			t.Run(m.Name, func(t *testing.T) { test(t, tab) })
		}
	}
}

// tableOf returns the table of a method, nil where it is none.
func tableOf(m *solvers.Spec) *tableau.Tableau {
	if r, ok := m.New(solvers.Size{}, 0).(interface{ Tableau() *tableau.Tableau }); ok {
		return r.Tableau()
	}
	return nil
}

// stepOf takes one step of the toy at t = 0.3.
func stepOf[M solvers.Method](m *solvers.Spec, f *toy, lanes int) (M, *solvers.Step) {
	r := m.New(f.size, lanes)
	s := solvers.NewStep(r.Info(), f.size)
	s.T, s.H = 0.3, 0.11
	s.T1 = s.T + s.H
	copy(s.Y0, f.y0)
	r.Step(f, s, false)
	return r.(M), s
}

// growthOf returns what rounding errors of a step may grow by: the amplification of a table, and 1 of other methods.
func growthOf(t *testing.T, m *solvers.Spec) float64 {
	if tab := tableOf(m); tab != nil {
		return amplification(exact(t, tab))
	}
	if x := rosenbrockOf(t, m); x != nil {
		return amplification(&tableau.Coefficients{B: x.M, A: x.A})
	}
	if x := implicitOf(t, m); x != nil {
		return amplification(&tableau.Coefficients{B: x.B, A: x.A})
	}
	return 1
}

// rosenbrockOf returns the figures of a Rosenbrock method, nil where it is none.
func rosenbrockOf(t *testing.T, m *solvers.Spec) *rosenbrock.Figures {
	t.Helper()
	r, ok := m.New(solvers.Size{}, 0).(interface {
		ExactFigures() (*rosenbrock.Figures, error)
	})
	if !ok {
		return nil
	}
	x, err := r.ExactFigures()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// denseGrowthOf is growthOf with the dense output.
func denseGrowthOf(t *testing.T, m *solvers.Spec) float64 {
	tab := tableOf(m)
	if x := rosenbrockOf(t, m); x != nil {
		return amplification(&tableau.Coefficients{B: x.M, A: append(x.Beta, x.A...)})
	}
	if x := implicitOf(t, m); x != nil {
		return amplification(&tableau.Coefficients{B: x.B, A: append(x.Beta, x.A...)})
	}
	if tab == nil {
		return 1
	}
	x := exact(t, tab)
	return amplification(&tableau.Coefficients{A: append(append(x.DenseB, x.DenseA...), x.A...)})
}

// amplification returns the largest sum of absolute coefficients of a row, at least 1. It is at most 27 up to order
// five and some hundreds for Verner's pairs.
func amplification(x *tableau.Coefficients) float64 {
	most := 1.0
	for _, row := range append([][]*big.Rat{x.B}, x.A...) {
		sum := 0.0
		for _, v := range row {
			sum += math.Abs(tableau.Round(v))
		}
		most = max(most, sum)
	}
	return most
}

// TestRegistry holds what a registered method says of itself against what it is.
func TestRegistry(t *testing.T) {
	names := map[string]bool{}
	for _, f := range Families() {
		if f.Name == "" || f.Doc == "" || len(f.Methods) == 0 || (f.With == nil) != (len(f.Settings) == 0) {
			t.Errorf("the family %q is not described, or cannot do with settings what it says", f.Name)
		}
		for _, m := range f.Methods {
			if names[m.Name] {
				t.Errorf("two methods are called %s", m.Name)
			}
			names[m.Name] = true
			if found, ok := Lookup(m.Name); !ok || found != m {
				t.Errorf("%s is not found", m.Name)
			}
			if m.Title == "" || m.Prose == "" || m.Source == "" {
				t.Errorf("%s is not described", m.Name)
			}
			r := m.New(solvers.Size{N: 1}, 1)
			if i := r.Info(); i.Name != m.Name || i.Order != m.Order || i.Embedded != m.Embedded {
				t.Errorf("%s: %+v", m.Name, i)
			}
			if has, all := solvers.CapabilitiesOf(r); has != m.Can&all {
				t.Errorf("%s has %s, and says %s", m.Name, has, m.Can&all)
			}
			if a, ok := r.(solvers.Arithmetical); ok && a.Arithmetic() != m.New(solvers.Size{N: 2},
				0).(solvers.Arithmetical).Arithmetic() {
				t.Errorf("%s: two methods of one Spec have arithmetics of their own", m.Name)
			}
		}
	}
	if got, want := len(All()), len(names); got != want {
		t.Errorf("%d methods, want %d", got, want)
	}
}

// TestChoose chooses methods with settings of their own, and requires that an error says why not.
func TestChoose(t *testing.T) {
	plain, err := Choose("rkc2", nil)
	if want, _ := Lookup("rkc2"); err != nil || plain != want {
		t.Errorf("%v, %v", plain, err)
	}
	few, err := Choose("rkc2", map[string]float64{"stages": 4})
	if err != nil || few.Info().Stages != 5 {
		t.Errorf("%v, %v", few, err)
	}
	if same, _ := Choose("rkc2", map[string]float64{"stages": 4}); same != few {
		t.Error("the same choice is another method")
	}
	for _, c := range []struct {
		name, key string
		value     float64
		want      string
	}{
		{"rkc2", "stages", 51, "stages = 51: rkc2 has 2 to 50 stages"},
		{"rkc2", "stages", 9e6, "stages = 9000000: rkc2 has 2 to 50 stages"},
		{"tsit5", "stages", 7, "stages fixes the stages of method = rkc2; tsit5 has its own"},
		{"radau5", "stages", 7, "stages fixes the stages of method = rkc2; radau5 has its own"},
		{"theta", "theta", 0.3, "theta = 0.3: theta takes 0.5 to 1, where it is stable for whatever decays"},
		{"theta", "theta", 1.1, "theta = 1.1: theta takes 0.5 to 1, where it is stable for whatever decays"},
		{"radau5", "theta", 0.6, "theta sets the weight of the end in method = theta; radau5 has none"},
		{"tsit5", "theta", 0.6, "theta sets the weight of the end in method = theta; tsit5 has none"},
		{"tsit5", "colour", 7, "colour is a setting of no method"},
	} {
		if _, err := Choose(c.name, map[string]float64{c.key: c.value}); err == nil || err.Error() != c.want {
			t.Errorf("%s with %s = %v: %v", c.name, c.key, c.value, err)
		}
	}
	if _, err := Choose("tsit6", nil); err == nil {
		t.Error("no error for a name that no method has")
	}
}

// TestAs asks a method for what it can and what it cannot do.
func TestAs(t *testing.T) {
	m := lookup(t, "rk4").New(solvers.Size{N: 1}, 1)
	if _, err := solvers.As[solvers.SecondMethod](m, solvers.SecondOrder); err != nil {
		t.Error(err)
	}
	_, err := solvers.As[solvers.SecondMethod](struct{ solvers.Method }{m}, solvers.SecondOrder)
	if want := "method rk4 has no second derivatives of its steps"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func lookup(t testing.TB, name string) *solvers.Spec {
	t.Helper()
	m, ok := Lookup(name)
	if !ok {
		t.Fatalf("no method %s", name)
	}
	return m
}
