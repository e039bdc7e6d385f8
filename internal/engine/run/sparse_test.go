package run_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestSparse compares values and derivatives of a model with a sparse matrix with those of the same
// matrix written out, in products of all kinds.
func TestSparse(t *testing.T) {
	const n, m = 60, 80
	var dense [n][m]float64
	entries := 0
	var market strings.Builder
	for k := range 150 {
		i, j := (k*k*7+k*3)%n, (k*k*11+k*5)%m
		x := math.Sqrt(float64(k+1)) - 6
		if i == 17 { // an empty row
			continue
		}
		dense[i][j] += x
		entries++
		fmt.Fprintf(&market, "%d %d %.17g\n", i+1, j+1, x)
	}
	var csv strings.Builder
	for i := range dense {
		for j, x := range dense[i] {
			if j > 0 {
				csv.WriteByte(',')
			}
			fmt.Fprintf(&csv, "%.17g", x)
		}
		csv.WriteByte('\n')
	}
	files := fstest.MapFS{
		"R.mtx": {Data: []byte(fmt.Sprintf("%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n%s", n, m,
			entries, &market))},
		"R.csv": {Data: []byte(csv.String())},
	}
	run := func(file string) *odes.Sensitivities {
		text := strings.ReplaceAll(`model Sparse
time t : [s] from 0 to 0.1
const R = load("FILE"), Q[80,60] : [1/s] = transpose(load("FILE"))
let P : [1] = load("FILE")
param k[80] = 0.01, M[80,3] = 0.1, W[3,60] = 0.2
state x[80] : [1] = 1
let y = R @ x
x' = k*(Q @ y) - 1e-3 [1/s]*(y @ R)
objective J = final(sum(x^2))
objective A = final(sum(R @ M) + sum((W @ R)^2) + sum(transpose(R) @ y) + sum((x @ transpose(P))^3))
objective V[i] = final((P @ x)[i]) for i in 1:3
`, "FILE", file)
		model, err := odes.Parse("m.ode", text, odes.ParseOptions{Files: files})
		if err != nil {
			t.Fatal(err)
		}
		s, err := model.Sensitivities(t.Context(), odes.Options{Settings: modeltest.Settings(
			"solver.rtol", "1e-9",
			"solver.atol", "1e-11",
		)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, b := run("R.mtx"), run("R.csv")
	for i, v := range b.Values {
		if w := a.Values[i].Value; !(math.Abs(w-v.Value) <= 1e-10*math.Abs(v.Value)) {
			t.Errorf("%s: %.17g, and %.17g written out", v.Name, w, v.Value)
		}
		size := 0.0
		for k := range b.Columns {
			size = math.Max(size, math.Abs(b.Gradient[i*b.Columns+k]))
		}
		for k := range b.Columns {
			if x, y := a.Gradient[i*a.Columns+k], b.Gradient[i*b.Columns+k]; !(math.Abs(x-y) <= 1e-10*size) {
				t.Fatalf("%s: derivative %d is %g, and %g written out", v.Name, k, x, y)
			}
		}
	}
}

// TestLargeSparse checks that a matrix too large to be written out costs only what its entries cost.
//
//odes:goroutines
func TestLargeSparse(t *testing.T) {
	const n = 20_000
	var market strings.Builder
	fmt.Fprintf(&market, "%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n", n, n, 2*n-1)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&market, "%d %d -2\n", i, i)
		if i > 1 {
			fmt.Fprintf(&market, "%d %d 1\n", i, i-1)
		}
	}
	m, err := odes.Parse("m.ode", `const T = load("T.mtx"), n = rows(T)
time t from 0 to 0.1
param k = 1
state x[n] = 1
x' = k*(T @ x)
objective J = final(sum(x))
`, odes.ParseOptions{Files: fstest.MapFS{"T.mtx": {Data: []byte(market.String())}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{Wrt: []string{"k"}})
	if err != nil {
		t.Fatal(err)
	}
	// Of F(k t) the derivative by k is t F'(k t), and F' = -(x[1] + x[n]). Near an end the solution is that of a half
	// line: x[1] = exp(-2 k t) (I0(2 k t) + I1(2 k t)).
	if d, want := s.Gradient[0], -0.1*2*math.Exp(-0.2)*(1.01002502779+0.10050083402); !(math.Abs(d-want) <= 1e-6) {
		t.Errorf("d J/d k = %.9g, want %.9g", d, want)
	}
}
