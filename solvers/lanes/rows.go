package lanes

import (
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
)

// Rows says where the numbers of a step are in a block: a step of Count runs, laid out [row][lane].
type Rows struct {
	N, Q, W int // states, quadratures, N+Q
	Stages  int
	FSAL    bool
	Timed   bool      // the rates read the time
	Nodes   []float64 // of the stages, as Arithmetic has them, and of Extra
	// Rows of T, H and T1 come first. Then come those of Y0, of K, of Y1, of DQ, of the estimated error if there are
	// quadratures or Form has Errors, and of the norm of that of the states. A step writes the rows from Made on.
	// Mask is 1 in lanes that made a step, and else 0.
	Y0, K, Made, Y1, DQ, E, Norm, Mask int
	// Abs is where the absolute tolerances of the states are, where they follow sizes, and else 0.
	Abs int
	// Of steps that solve equations there are more, else these are 0. Serve is the number of the program whose pivots
	// served, from 1, and 0 where they did not. Then come the factors without the exchanges of rows, and those entries
	// of the Jacobian that are StepMatrix.Outer.
	Serve, Factors, Outer int
	// Where something is read within steps, Dense is the first of Extra·W rows: those of K of the dense output. Sown is
	// how many rows of K have Seeds.
	Dense, Extra, Sown int
	All                int
	Peaks              bool // largest values are wanted: of each step, something is read at its Samples
}

// Form is how the steps of a Solver are made side by side.
type Form struct {
	*solvers.Arithmetic
	Solved    *matrices.SolvedArithmetic // that Arithmetic is a part of, where steps solve equations; else nil
	Matrix    *matrices.StepMatrix       // of these
	Tolerance *solvers.Tolerance         // by which errors are measured
	Sized     bool                       // absolute tolerances are those of Rows.Abs
	Moves     bool                       // some steps end at times that depend on something
	Inside    bool                       // something is read within steps
	Peaks     bool                       // largest values are wanted, which are read within steps as well
	Errors    bool                       // the errors of states are wanted, not their norm alone
}

// Full reports whether steps solve equations whose factors have more than half of all places.
func (f *Form) Full() bool {
	n := len(f.Matrix.Diagonal)
	return 2*f.Matrix.Factors > n*n
}

// NewRows returns the rows of steps by form.
func NewRows(form *Form, z solvers.Size) Rows {
	w := z.N + z.Q
	r := Rows{
		N: z.N, Q: z.Q, W: w, Stages: form.Stages, FSAL: form.FSAL, Nodes: form.Nodes[:form.Stages], Y0: 3,
		K: 3 + z.N,
	}
	r.Made = r.K
	if form.Solved != nil && r.FSAL {
		r.Stages++ // the rates at the end, which SolvedArithmetic does not count
	}
	if r.FSAL {
		r.Made += w
	}
	r.Y1 = r.K + r.Stages*w
	r.DQ = r.Y1 + z.N
	r.E = r.DQ + z.Q
	if r.Norm = r.E; r.Q > 0 || form.Errors {
		r.Norm += w
	}
	r.Mask = r.Norm + 1
	if r.All = r.Mask + 1; form.Sized {
		r.Abs = r.All
		r.All += z.N
	}
	if form.Solved != nil {
		r.Serve = r.All
		r.Factors = r.Serve + 1
		r.Outer = r.Factors + form.Matrix.Kept
		r.All = r.Outer + len(form.Matrix.Outer)
	}
	if r.Peaks = form.Peaks; form.Inside {
		r.Sown = form.Stages
		if form.Solved == nil {
			r.Sown, r.Extra, r.Nodes = form.Rows, form.Rows-form.Stages, form.Nodes
		}
		r.Dense = r.All
		r.All += r.Extra * r.W
	}
	return r
}

// Block returns how many numbers a block has.
func (r *Rows) Block() int { return r.All * Count }

// Put writes a step into its lane, where b begins.
func (r *Rows) Put(b []float64, st *solvers.Step) {
	b[0], b[Count], b[2*Count] = st.T, st.H, st.T1
	Scatter(b[r.Y0*Count:], st.Y0)
	Scatter(b[r.K*Count:], st.K[:r.Stages*r.W])
	Scatter(b[r.Y1*Count:], st.Y1)
	Scatter(b[r.DQ*Count:], st.DQ)
}

// PutDense writes the rows of K of the dense output of a step into its lane, where b begins.
func (r *Rows) PutDense(b []float64, st *solvers.Step) {
	if r.Extra > 0 {
		Scatter(b[r.Dense*Count:], st.K[r.Stages*r.W:(r.Stages+r.Extra)*r.W])
	}
}

// Load makes st the step of a lane, where b begins, with the rows of K of the dense output.
func (r *Rows) Load(b []float64, st *solvers.Step) {
	st.T, st.H, st.T1 = b[0], b[Count], b[2*Count]
	st.Y0, st.Y1, st.DQ = elem.Resize(st.Y0, r.N), elem.Resize(st.Y1, r.N), elem.Resize(st.DQ, r.Q)
	st.K = elem.Resize(st.K, (r.Stages+r.Extra)*r.W)
	Gather(st.Y0, b[r.Y0*Count:])
	Gather(st.Y1, b[r.Y1*Count:])
	Gather(st.DQ, b[r.DQ*Count:])
	Gather(st.K[:r.Stages*r.W], b[r.K*Count:])
	if r.Extra > 0 {
		Gather(st.K[r.Stages*r.W:], b[r.Dense*Count:])
	}
	st.Kept, st.Again, st.Dense, st.Estimated = nil, false, true, false
}

// Scatter writes x into a lane, where to begins.
func Scatter(to, x []float64) {
	for i, v := range x {
		to[i*Count] = v
	}
}

// Gather reads x from a lane, where from begins.
func Gather(x, from []float64) {
	for i := range x {
		x[i] = from[i*Count]
	}
}
