package export_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/stdlib"
)

// functionsModel reads every function and operator of single numbers, but for some, of a state that goes from -2 to 2,
// and tables of every kind. Arguments are brought to where functions are defined.
func functionsModel(t *testing.T, without ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("model Functions\ntime t from 0 to 4\nparam a = 0.7, knot = 1.3\nstate x = -2\nx' = 1\n")
	arguments := map[string]string{
		"x > 0": "exp(x)", "x ≥ 0": "exp(x)", "x > -1": "exp(x) - 1", "-1 ≤ x ≤ 1": "x/3", "-1 < x < 1": "x/3",
		"x ≥ 1": "1 + exp(x)", "x not 0, -1, -2, …": "exp(x)",
	}
	n := 0
	for _, f := range slices.Concat(stdlib.Operators, stdlib.Funcs()) {
		if f.Class != stdlib.Elementwise || slices.Contains(without, f.Name) || strings.HasSuffix(f.Name, "@") {
			continue
		}
		n++
		first := arguments[f.Domain]
		if first == "" {
			first = "x"
		}
		args := append([]string{first}, "a", "2.5")[:len(f.Args)]
		text := f.Name + "(" + strings.Join(args, ", ") + ")"
		switch {
		case f.Name == "neg":
			text = "-x"
		case f.Name == "^":
			text = "exp(x)^a + x^2 - x^3 + (x + 5)^(-2) + x^4 + x^7"
		case f.Class == stdlib.Elementwise && f.Name[0] < 'a':
			text = "(" + first + ") " + f.Name + " (a + 1)"
		case f.Name == "atan2":
			text = "atan2(x, a) + atan2(a, x) + atan2(-x, -a)"
		case f.Name == "mod":
			text = "mod(x, a) + mod(x, -a)"
		case f.Name == "round":
			text = "round(x) + round(x + 0.25)"
		}
		fmt.Fprintf(&b, "output f%d = %s  ## %s\n", n, text, f.Name)
	}
	if n < 35 {
		t.Errorf("only %d functions", n)
	}
	b.WriteString(`output logic = if x > 1 or x < -1 and not (t > 1) then 1 elseif x >= 0 then 2 else 3
output linear = interp([-1, 0.3, 1.1], [a, 2, -1], x)
output moved = interp([-1, a, knot], [1, 2, a], x)
output spline = interp([-1, 0.3, 1.1], [a, 2, -1], x, kind = spline)
output monotone = interp([-1, 0.3, 1.1, 1.9], [1, 2, -1, 3], x, kind = monotone)
output previous = interp([-1, 0.3, 1.1], [a, 2, -1], x, kind = previous)
`)
	return b.String()
}

// TestFunctions compares all functions in SBML and in C.
func TestFunctions(t *testing.T) {
	t.Run("sbml", func(t *testing.T) {
		d, where, err := roundTrip("functions.ode", functionsModel(t, "erf", "erfc", "lgamma"), nil, math.MaxInt)
		if err != nil || d > 1e-12 {
			t.Errorf("%.1e %s %v", d, where, err)
		}
	})
	t.Run("c", func(t *testing.T) {
		if d := compareC(t, "functions.ode", functionsModel(t), nil); d > 1e-14 {
			t.Errorf("%.1e", d)
		}
	})
}
