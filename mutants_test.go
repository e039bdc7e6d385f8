package odes

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/stdlib"
	"odes.dev/odes/tape"
)

// everywhere is a model that reads parameters in every part, and through every operation of arrays.
func everywhere(t *testing.T) string {
	text, err := os.ReadFile("tapec/testdata/whole/everywhere.ode")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestVerifyMutants makes the transposes of a model wrong by a thousandth, one instruction after the
// other. Verify must notice each. Every operation is among them, and every function that has a
// derivative.
func TestVerifyMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	checked := map[string]int{}
	mutate(t, "everywhere", everywhere(t), func(op tape.Op, n int) bool { return n < 2 }, checked)
	mutate(t, "functions", functions(t), func(op tape.Op, n int) bool { return op == tape.Mul || op == tape.ZeroMul },
		checked)
	total := 0
	for _, n := range checked {
		total += n
	}
	if total < 150 || len(checked) < 15 {
		t.Errorf("only %d mutants of %d operations: %v", total, len(checked), checked)
	}
}

// smooth are expressions of v, a number about 0.5, with elementwise functions that have a derivative. A function of one
// operand that is missing here joins by the domain of its op.
var smooth = []string{
	"exp(-v)", "log(1 + v)", "log10(2 + v)", "log1p(v)", "expm1(0.3*v)", "sqrt(0.5 + v)", "cbrt(0.5 + v)",
	"abs(v + 0.2)", "sin(v)", "cos(v)", "tan(0.5*v)",
	"asin(0.5*v)", "acos(0.5*v)", "atan(v)", "atan2(v, 0.7)", "sinh(v)", "cosh(v)", "tanh(v)", "asinh(v)",
	"acosh(1.5 + v)", "atanh(0.5*v)", "hypot(v, 0.6)",
	"erf(v)", "erfc(v)", "lgamma(1.5 + v)", "mod(v + 0.3, 5)", "min(v, 3)", "max(v, -1)", "clamp(v, -1, 3)",
	"smoothstep(-0.5, 2, v)", "sigmoid(v)",
	"(v + 1)^3", "(v + 1)^1.7", "1.3^v", "1/(2 + v)", "prod([v, 0.5 + v, 2])", "norm([v, 1])",
}

var variable = regexp.MustCompile(`\bv\b`)

// within is the operand of a function that joins, by the domain of its op.
var within = map[tape.Domain]string{
	tape.Everywhere: "v", tape.NonZero: "0.5 + v", tape.Positive: "0.5 + v", tape.AboveMinusOne: "v",
	tape.AboveOne: "1.5 + v", tape.WithinOne: "0.5*v",
}

// functions is a model with a state for each elementwise function that has a derivative.
func functions(t *testing.T) string {
	smooth := slices.Clone(smooth)
	for _, f := range stdlib.Funcs() {
		jumps := f.Mode && f.Name != "mod" || f.Name == "wrap"
		if f.Class != stdlib.Elementwise || jumps ||
			slices.ContainsFunc(smooth, func(e string) bool { return strings.Contains(e, f.Name+"(") }) {
			continue
		}
		if f.Op == tape.Invalid || len(f.Args) != 1 {
			t.Errorf("%s is in no model", f.Name)
			continue
		}
		smooth = append(smooth, f.Name+"("+within[f.Op.Row().On[0]]+")")
	}
	var b, sum strings.Builder
	b.WriteString("time t from 0 to 0.5\nparam a = 0.4\nsolver { method = rk4  fixed_step = 0.25 }\n")
	for i, e := range smooth {
		v := fmt.Sprintf("v%d", i)
		fmt.Fprintf(&b, "state %s = a\n%s' = %g*(%s)\n", v, v, 0.1+0.01*float64(i), variable.ReplaceAllString(e, v))
		fmt.Fprintf(&sum, " + %s", v)
	}
	return b.String() + "objective J = final(" + sum.String()[3:] + ")\n"
}

// mutate verifies a model once for each instruction that want picks, with this instruction changed.
// want gets the operation, and how many of its kind came before it in the same transpose.
func mutate(t *testing.T, name, text string, want func(op tape.Op, before int) bool, checked map[string]int) {
	t.Helper()
	m, err := Parse(name, text, ParseOptions{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	// verify looks at the model with its transposes, numbered in the order in which they are compiled, replaced.
	verify := func(replace func(k int, transpose *tape.Tape) *tape.Tape) *Verification {
		n := -1
		m.engine.System.Mutate(func(transpose *tape.Tape) *tape.Tape {
			n++
			return replace(n, transpose)
		})
		v, err := m.Verify(t.Context(), Options{Settings: []Setting{{"sens.control", "off"}}},
			VerifyOptions{Directions: 1, Seed: 5})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v
	}
	var transposes []*tape.Tape
	if v := verify(func(_ int, transpose *tape.Tape) *tape.Tape {
		transposes = append(transposes, transpose)
		return transpose
	}); v.Wrong() {
		t.Fatalf("%s: wrong without a change: %+v", name, v.Objectives)
	}
	if len(transposes) < 3 {
		t.Fatalf("%s: %d transposes", name, len(transposes))
	}
	for k, right := range transposes {
		guards := strings.Contains(right.Name, "guards")
		if guards && !strings.Contains(text, "event") {
			continue // a guard that nothing meets
		}
		lane, seen := tape.PerLane(right), map[tape.Op]int{}
		for i := range right.Instrs {
			v, op := tape.Value(len(right.Inputs)+i), right.Instrs[i].Op
			if !lane[v] || !want(op, seen[op]) {
				continue
			}
			seen[op]++
			found := verify(func(n int, transpose *tape.Tape) *tape.Tape {
				if n == k {
					return mutant(transpose, v, guards)
				}
				return transpose
			})
			if !found.Wrong() {
				t.Errorf("%s: %v of %s is wrong and passes: %+v", name, v, right.Name, found.Objectives)
			}
			checked[fmt.Sprint(op)]++
		}
	}
}

// mutant is t with value v a thousandth too large; with shift, v plus a thousandth, because a guard
// may have any scale.
func mutant(t *tape.Tape, v tape.Value, shift bool) *tape.Tape {
	b := tape.NewBuilderWith(t.Name, 0)
	to := make([]tape.Value, t.Values())
	for i := range t.Inputs {
		in := &t.Inputs[i]
		to[i] = b.Input(in.Name, in.Shape, in.PerLane)
	}
	for i, in := range t.Instrs {
		in.Args = slices.Clone(in.Args)
		for k, a := range in.Args {
			in.Args[k] = to[a]
		}
		at := len(t.Inputs) + i
		switch to[at] = b.Emit(in); {
		case tape.Value(at) == v && shift:
			to[at] = b.Add(to[at], b.Scalar(0.001))
		case tape.Value(at) == v:
			to[at] = b.Mul(to[at], b.Scalar(1.001))
		}
	}
	for _, o := range t.Outputs {
		b.Output(o.Name, to[o.Value])
	}
	return b.Tape()
}
