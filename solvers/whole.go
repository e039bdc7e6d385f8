package solvers

import "slices"

// Stepper is a Field that can make whole steps: where a right-hand side is a few
// operations, what lies between two of them costs more than both.
type Stepper interface {
	Field
	// MakeStep writes what Step of the method of t writes to s, to the same bits, and may write E; reuse
	// tells that the first row of K is known. Or it writes nothing and reports false.
	MakeStep(t *Tableau, s *Step, reuse bool) bool
}

// StepPuller is a CotangentField that can transpose whole steps.
type StepPuller interface {
	CotangentField
	// PullStep does what Pull of the method of t does for c, which does not want H, to the same bits,
	// accumulators of the field included. Or it does nothing and reports false.
	PullStep(t *Tableau, s *Step, c *StepCotangent) bool
}

// Terms is a linear form Σ_j C_j v_{Row_j}, with rows in ascending order. Every
// method adds one up, times h, to a base b as
//
//	fma(h, fma(C_m, v_m, … fma(C_2, v_2, C_1·v_1)), b),
//
// with the product C_1·v_1 rounded; without terms it is b.
type Terms struct {
	Row []int
	C   []float64
}

// Arithmetic is what a RungeKutta does in a step besides evaluating the
// right-hand side, in double precision: for who makes whole steps of it.
type Arithmetic struct {
	Stages int
	FSAL   bool // stage value Stages-1 is Y1
	// Nodes are c_i: stage i is at T for 0, at T1 for 1 and otherwise at fma(c_i, H, T).
	Nodes []float64
	A     []Terms // of the stage values, over the rows of K and Y0
	B     Terms   // of Y1, over Y0, and of DQ, over 0
	E     Terms   // of E, over 0; empty if there is none, or more to it
	Live  []bool  // stages on which Y1 depends: the others are not pulled

	// The cotangent of stage i is 0 + H·At[i], over the cotangents of Y1 (row 0) and of the stage values (row
	// 1+j of stage j), for a quadrature H·(b·q̄) with b the coefficient of row 0 or 0. The cotangent of Y0 is
	// that of Y1 + 1·Sum; the cotangent of T0 that of T1 plus those of the stages' times, last stage first.
	At  []Terms
	Sum Terms
}

// Arithmetic returns the arithmetic of r's steps.
func (r *RungeKutta) Arithmetic() *Arithmetic {
	a := &Arithmetic{Stages: r.info.Stages, FSAL: r.info.FSAL, Nodes: slices.Clone(r.info.Nodes), Live: slices.Clone(r.live)}
	export := func(t terms) Terms { return Terms{slices.Clone(t.row), slices.Clone(t.c)} }
	for i := range a.Stages {
		a.A = append(a.A, export(r.a[i]))
		a.At = append(a.At, export(r.at[i]))
	}
	a.B, a.Sum = export(r.b), export(r.sum)
	if len(r.e3.c) == 0 {
		a.E = export(r.e)
	}
	return a
}
