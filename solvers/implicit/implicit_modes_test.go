package implicit

import (
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
)

// TestBlockModes holds that equations of all stages at once are solved by eigenvalues as by factors of their coupled
// matrix, both ways and in lanes.
func TestBlockModes(t *testing.T) {
	const n, lanes = 60, 3
	jac := &matrices.Jacobian{}
	r := elem.NewRand(4)
	var j []float64
	for i := range n {
		for _, k := range []int{i, (i + 7) % n, (i*i + 3) % n} {
			jac.Rows, jac.Cols = append(jac.Rows, int32(i)), append(jac.Cols, int32(k))
			j = append(j, 3*r.Norm())
		}
	}
	for _, name := range []string{"gauss4", "gauss6", "radau3", "radau5", "radau9", "radau13", "lobatto_iiic4"} {
		spec := named(name)
		m := spec.New(solvers.Size{N: n}, lanes).(*implicitRungeKutta)
		b := &m.blocks[0]
		size := b.to - b.from
		solver, err := newBlockSolver(jac, solvers.Size{N: n}, b.a, size, lanes)
		if err != nil {
			t.Fatal(err)
		}
		modes, err := newBlockModes(jac, solvers.Size{N: n}, b.a, size, lanes, math.MaxInt)
		if err != nil || modes == nil {
			t.Fatal(name, err)
		}
		if len(modes.modes) != (size+1)/2 {
			t.Fatalf("%s: %d real eigenvalues and pairs for %d stages", name, len(modes.modes), size)
		}
		const h = 0.4
		if err := solver.factor(h, b.a, j, 0); err != nil {
			t.Fatal(err)
		}
		if err := modes.factor(h, j); err != nil {
			t.Fatal(err)
		}
		for _, transposed := range []bool{false, true} {
			x, want := make([]float64, size*n*lanes), make([]float64, size*n*lanes)
			for i := range x {
				x[i] = r.Norm()
			}
			copy(want, x)
			// The coupled solver has lanes fastest within all rows, as has each row of the other.
			modes.solve(x, make([]float64, len(x)), lanes, transposed)
			if transposed {
				solver.lu.SolveT(want, lanes)
			} else {
				solver.lu.Solve(want, lanes)
			}
			far, most := 0.0, 0.0
			for i, v := range want {
				far, most = max(far, math.Abs(x[i]-v)), max(most, math.Abs(v))
			}
			t.Logf("%s, transposed %t: differs by %.2g", name, transposed, far/most)
			if !(far < 1e-9*most) {
				t.Errorf("%s, transposed %t: differs by %.2g", name, transposed, far/most)
			}
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
