package rosenbrock

import (
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
)

// TestOuterProducts compares the outer products of a step, of which long runs of entries are made by vectors, with sums
// entry by entry: runs along diagonals, rows and columns, of states, of an integral and of time.
func TestOuterProducts(t *testing.T) {
	const n, q = 40, 1
	jac := &matrices.Jacobian{}
	for _, run := range [][5]int32{ // row, column, what each is after the one before, number
		{0, 0, 1, 1, n},
		{1, 0, 1, 1, n - 1},
		{0, 20, 1, 1, 20}, // the last would end at time
		{n, 0, 0, 1, n},
		{3, 5, 0, 1, 30},
		{2, 7, 1, 0, 30},
		{0, n, 1, 0, n + 1},
		{5, 1, 2, 1, 17},
		{0, 3, 0, 0, 1},
		{9, 30, 1, -1, 20},
		{4, n - 18, 0, 1, 19},
	} {
		for k := range run[4] {
			jac.Rows = append(jac.Rows, run[0]+k*run[2])
			jac.Cols = append(jac.Cols, run[1]+k*run[3])
		}
	}
	for i := range int32(n) {
		jac.Rows, jac.Cols = append(jac.Rows, i), append(jac.Cols, i)
	}
	for _, name := range []string{"rodas5p", "ros3p"} {
		spec := named(name)
		r := spec.New(solvers.Size{N: n, Q: q}, 1).(*rosenbrock)
		if err := r.ready(jac); err != nil {
			t.Fatal(err)
		}
		if len(r.plan.Runs) < 7 || len(r.plan.Single) == 0 {
			t.Fatalf("%d runs, %d single entries", len(r.plan.Runs), len(r.plan.Single))
		}
		random := elem.NewRand(1)
		k, v := make([]float64, (2+r.stages)*r.W), make([]float64, (1+r.stages)*r.W)
		for i := range k {
			k[i] = random.Norm()
		}
		for i := range v {
			v[i] = random.Norm()
		}
		const h = 0.3
		want, got := make([]float64, len(jac.Rows)), make([]float64, len(jac.Rows))
		for e, row := range jac.Rows {
			sum := 0.0
			for i := 1; i <= r.stages; i++ {
				x := r.gammas[i]
				if col := int(jac.Cols[e]); col < n {
					x = k[i*r.W+col]
				}
				sum = math.FMA(x, v[i*r.W+int(row)], sum)
			}
			want[e] = float64(h * sum)
		}
		r.outerProduct(&solvers.Step{K: k}, got, v, 1, h)
		if !slices.Equal(want, got) {
			t.Errorf("%s: %v\nwant %v", name, got, want)
		}
	}
}

// named returns the method of the family with that name.
func named(name string) *solvers.Spec {
	for _, m := range Family.Methods {
		if m.Name == name {
			return m
		}
	}
	panic(name)
}
