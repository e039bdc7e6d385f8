package compile_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/diag"
)

// TestRandomUnits draws models with rates in random units, some of which are those of the model and some not, and some
// of whose numbers have no unit. What messages offer is done until there is nothing left to do. A model that runs then
// must give the known answer; one that does not must have been refused in all states.
func TestRandomUnits(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	times := []struct {
		name  string
		scale float64 // in s
	}{{"s", 1}, {"min", 60}, {"h", 3600}, {"day", 86400}, {"week", 604800}}
	masses := []struct {
		name  string
		scale float64 // in mg
	}{{"mg", 1}, {"g", 1000}, {"ug", 1e-3}}
	const cases = 500
	ran, mended := 0, 0
	r := rand.New(rand.NewPCG(seeds.Of(t, 11), 9))
	for i := range cases {
		model, rate, decay := times[r.IntN(5)], times[r.IntN(5)], times[r.IntN(5)]
		if r.IntN(3) == 0 {
			decay = model
		}
		if r.IntN(3) == 0 {
			rate = model
		}
		state, dose := masses[0], masses[r.IntN(3)]
		f, in, k := 0.1+r.Float64(), 1+9*r.Float64(), 0.1+r.Float64()
		unit := func(x string) string { // of a number that is pure: written or not
			if r.IntN(2) == 0 {
				return x + " [1]"
			}
			return x
		}
		fraction := "param F = " + unit(fmt.Sprint(f))
		if r.IntN(3) == 0 {
			fraction = "const F = " + unit(fmt.Sprint(f))
		}
		rhs := []string{
			"F*R - k*A", "R*F - k*A", "-k*A + F*R", "F*R - A*k", "-(k*A - R*F)", "-(k*A) + R/(1/F)",
			"(if F > 0 then F*R else 0*R) - k*A", "F*(R - k*A/F)", "-k*(A - F*R/k)", "source - k*A", "F*R + loss",
			fmt.Sprint(f) + "*R - k*A",
		}[r.IntN(12)]
		text := fmt.Sprintf("time t : [%s] from 0 to 1\n%s\nparam R = %v [%s/%s]\nparam k = %v [1/%s]\n", model.name,
			fraction, in, dose.name, rate.name, k, decay.name)
		if strings.Contains(rhs, "source") {
			text += "let source = F*R\n"
		}
		if strings.Contains(rhs, "loss") {
			text += "let loss = -k*A\n"
		}
		text += "param N = " + unit("1") + "\n"
		// A in mg, and a share S without dimension that decays as A does.
		share := []string{"-k*S", "-S*k", "-k*S*(1 - 0*S)", "-k*S*(2 - N)", "-k*S/N"}[r.IntN(5)]
		text += fmt.Sprintf("state A = 5 [%s], S = 0.9 [1]\nA' = %s\nS' = %s\nobjective J = final(A)\n"+
			"objective K = final(S)\n", state.name, rhs, share)
		perTime := k * model.scale / decay.scale
		input := f * in * dose.scale / state.scale * model.scale / rate.scale
		gone := -math.Expm1(-perTime)
		want := []float64{5 - 5*gone + input*gone/perTime, 0.9 - 0.9*gone}
		m, last, steps := mend(text)
		if m == nil {
			continue
		}
		s, err := m.Solve(context.Background(), odes.Options{Settings: []odes.Setting{
			{Key: "solver.method", Value: "dopri5"},
			{Key: "solver.rtol", Value: "1e-8"},
			{Key: "solver.max_steps", Value: "2000"},
		}})
		if err != nil {
			continue // too stiff for the method
		}
		ran++
		mended += min(steps, 1)
		for j, v := range s.Values {
			if math.Abs(v.Value-want[j]) > 1e-5*math.Abs(want[j])+1e-7 {
				t.Errorf("case %d: %s = %v, want %v\n%s\nmended:\n%s", i, v.Name, v.Value, want[j], text, last)
			}
		}
	}
	if ran < cases/3 || mended < cases/5 {
		t.Errorf("only %d of %d models ran, %d of them mended", ran, cases, mended)
	}
}

// mend applies what messages on units offer until nothing is left, and returns the model that comes out, or nil if it
// is refused still. It returns the text as well, and how often it was changed.
func mend(text string) (m *odes.Model, mended string, steps int) {
	for range 20 {
		m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
		list := diag.Of(err)
		if err == nil {
			list = m.Warnings()
		}
		i := slices.IndexFunc(list, func(d diag.Diagnostic) bool { return len(d.Fixes) > 0 })
		if i < 0 {
			if err != nil {
				return nil, text, steps
			}
			return m, text, steps
		}
		f := list[i].Fixes[0]
		text = text[:f.Span.Start] + f.Text + text[f.Span.End:]
		steps++
	}
	return nil, text, steps
}

// TestConversionOfPart: `as` behind the last operand of a quotient is told how all of it is converted.
func TestConversionOfPart(t *testing.T) {
	const model = "time t : [h] from 0 to 1\nparam V = 3 [L]\nstate A = 1 [mg]\nA' = -0.1 [1/h]*A\noutput c = "
	for text, want := range map[string]string{
		"A/V as [ug/L]":   "write (A/V) as [ug/L]",
		"(A/V as [ug/L])": "write (A/V) as [ug/L]",
		"A/(V as [ug])":   "the dimensions differ",
	} {
		_, err := odes.Parse("m.ode", model+text, odes.ParseOptions{})
		if err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(want, "write") != strings.Contains(err.Error(), "write (") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestInitialNotFinite: an initial value that is no number is told at its place.
func TestInitialNotFinite(t *testing.T) {
	for _, text := range []string{"nan", "a/0", "1/a - 1/a"} {
		m, err := odes.Parse("m.ode", "time t from 0 to 1\nparam a = 0\nstate y = 1, x = "+text+"\nx' = -x\ny' = -y\n",
			odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Solve(t.Context(), odes.Options{})
		list := diag.Of(err)
		if len(list) == 0 || !strings.Contains(list[0].Message, "the initial value of x is NaN") ||
			list[0].Span.Text() != text {
			t.Errorf("x = %s: %v", text, err)
		}
	}
}
