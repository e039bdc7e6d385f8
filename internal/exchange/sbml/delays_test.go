package sbml_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/exchange/antimony"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// late translates a model of Antimony, which says what SBML does in fewer words.
func late(text string) (*source.File, *diag.List) {
	var list diag.List
	return antimony.Translate(source.NewFile("late.ant", text), "5", &list), &list
}

// TestDelays compares models that read the past with their closed forms. Each has y at times from 0 to 4.
func TestDelays(t *testing.T) {
	step := func(t float64) float64 { // x' = 1 from 0, as it is before and after
		return max(t, 0)
	}
	for _, c := range []struct {
		name, text string
		want       func(t float64) float64
	}{
		{"state", "x' = 1; x = 3; y := 2 + delay(x, 0.7)", func(t float64) float64 { return 5 + step(t-0.7) }},
		{"time", "x := sin(3*time); y := delay(x, 0.7)", func(t float64) float64 { return math.Sin(3 * (t - 0.7)) }},
		{"initial assignment", "x = sin(3*time); x' = 1; y := delay(x, 0.7)", func(t float64) float64 {
			if t < 0.7 {
				return math.Sin(3 * (t - 0.7))
			}
			return t - 0.7
		}},
		{"at rest", "x = 2 + time; y := delay(x, 1.3)", func(t float64) float64 { return 2 + min(t-1.3, 0) }},
		{
			"initial assignment of another", "a = 2*time; a' = 3; x = a^2 + 1; x' = 0; y := delay(x, 0.6)",
			func(t float64) float64 { return math.Pow(min(2*(t-0.6), 0), 2) + 1 },
		},
		{
			"delay in an initial assignment", "a = 2*time; a' = 3; x = delay(a + time, 0.5) + 1; x' = 1; y := x",
			func(t float64) float64 { return -0.5 + t },
		},
		{"set by an event", "x = 1; at time > 0.9: x = 5; y := delay(x, 1.25)", func(t float64) float64 {
			if t < 2.15 {
				return 1
			}
			return 5
		}},
		{"delays of delays", "x = 0; x' = 1; a := delay(x, 0.4) + time; y := delay(a, 0.5) - x", func(
			t float64,
		) float64 {
			return step(t-0.9) + t - 0.5 - t
		}},
		{"constant", "x = 0; x' = 0; k = 3; a := delay(k, 1); y := delay(a*k, 0.3) + x", func(
			float64,
		) float64 {
			return 9
		}},
		{"present", "x = 0; x' = 1; y := delay(x, 0)", step},
		{"moving", "x = 0; x' = 1; y := delay(x, time/3)", func(t float64) float64 { return t - t/3 }},
		{
			"moving twice", "x = 0; x' = 1; a := delay(x, time/2); y := delay(a, 1)",
			func(t float64) float64 { return step((t - 1) - (t-1)/2) },
		},
		{"rate of", "x = 0; x' = -2; y := delay(rateOf(x), 0.7)", func(t float64) float64 {
			if t < 0.7 {
				return 0
			}
			return -2
		}},
		{"condition", "x = 0; x' = 1; a := piecewise(1, delay(x, 0.2) > 1.1, 0); y := delay(a, 0.5)", func(
			t float64,
		) float64 {
			if t < 1.8 {
				return 0
			}
			return 1
		}},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			declared := "var x; var y; "
			for _, name := range []string{"a"} {
				if strings.Contains(c.text, name+"'") || strings.Contains(c.text, name+" :=") {
					declared += "var " + name + "; "
				}
			}
			check(t, "model m\n"+strings.ReplaceAll(declared+c.text, "; ", "\n")+"\nend\n", c.want)
		})
	}
}

// check runs a model and compares y.
func check(t *testing.T, text string, want func(t float64) float64) {
	t.Helper()
	file, list := late(text)
	if file == nil {
		t.Fatal(list.Err())
	}
	m, err := odes.Parse("late.ode", file.Text(), odes.ParseOptions{})
	if err != nil {
		t.Fatalf("%v in\n%s", err, file.Text())
	}
	var times []float64
	for k := range 41 {
		times = append(times, 0.1*float64(k)+0.033)
	}
	sol, err := m.Solve(context.Background(), odes.Options{Times: times, Threads: 1, Settings: []odes.Setting{
		{Key: "solver.rtol", Value: "1e-9"},
	}})
	if err != nil {
		t.Fatalf("%v in\n%s", err, file.Text())
	}
	for _, o := range sol.Outputs {
		if o.Name != "y" {
			continue
		}
		for k, at := range sol.T {
			if d := math.Abs(o.Values[k] - want(at)); !(d <= 1e-8) && !jumpsAt(want, at) {
				t.Fatalf("y at %v is %v, and not %v, in\n%s", at, o.Values[k], want(at), file.Text())
			}
		}
		return
	}
	t.Fatalf("no y in\n%s", file.Text())
}

// jumpsAt reports whether a function jumps at t: both sides are listed there.
func jumpsAt(f func(float64) float64, t float64) bool { return math.Abs(f(t-1e-9)-f(t+1e-9)) > 1e-6 }

// TestDelaysOfNetworks are delays of what species, compartments and reactions are.
func TestDelaysOfNetworks(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       func(t float64) float64
	}{
		// The amount is 6 + t, in a volume 2 + t.
		{
			"volume", "compartment V; species S in V; V = 2; V' = 1; S = 3; J: -> S| 1; y := delay(S, 0.5)",
			func(t float64) float64 { return (6 + max(t-0.5, 0)) / (2 + max(t-0.5, 0)) },
		},
		// Before, the amount in it is 4·(1 + t).
		{
			"past in a volume",
			"compartment V; species S in V; V = 4; V' = 1; S = 1 + time; J: -> S| 1; y := delay(S, 0.5)",
			func(t float64) float64 {
				if t < 0.5 {
					return t + 0.5
				}
				return (4 + t - 0.5) / (4 + t - 0.5)
			},
		},
		{
			"rate law", "compartment V; species S in V; V = 1; S = 1; J: S -> | k*delay(S, 1); k = 0.5; y := S",
			func(t float64) float64 {
				v := 1 - 0.5*t
				for n, f := 2, 2.0; float64(n-1) < t; n++ {
					v += math.Pow(-0.5, float64(n)) * math.Pow(t-float64(n-1), float64(n)) / f
					f *= float64(n + 1)
				}
				return v
			},
		},
		{
			"reaction", "compartment V; species S in V; V = 1; S = 1; J: -> S| time; y := delay(J, 0.5)",
			func(t float64) float64 { return t - 0.5 },
		},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			lines := strings.NewReplacer("; ", "\n", "|", ";").Replace(c.text)
			check(t, "model m\n var y\n"+lines+"\nend\n", c.want)
		})
	}
}

// TestDelaysRefused are messages of what has no earlier value.
func TestDelaysRefused(t *testing.T) {
	for text, want := range map[string]string{
		"var y; y := delay(y, 1) + time":                                "y is given by values of its own past",
		"var x; x' = 1; x = sin(time); var y; y := delay(rateOf(x), 1)": "the rate of x before the start is asked for",
		"var x; x' = 1; var y; y := delay(x)":                           "delay has 2 arguments",
	} {
		_, list := late("model m\n" + strings.ReplaceAll(text, "; ", "\n") + "\nend\n")
		if got := fmt.Sprint(list.Err()); !strings.Contains(got, want) {
			t.Errorf("%s: %s, and not %s", text, got, want)
		}
	}
}
