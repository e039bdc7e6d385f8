package solvers

import "slices"

// LaneRows says where the numbers of a step are in a block: a step of LaneCount runs, laid out [row][lane].
type LaneRows struct {
	N, Q, W int // states, quadratures, N+Q
	Stages  int
	FSAL    bool
	Timed   bool      // the rates read the time
	Nodes   []float64 // of the stages, as Arithmetic has them, and of Extra
	// Rows of T, H and T1 come first. Then come those of Y0, of K, of Y1, of DQ, of the estimated error if there are
	// quadratures or LaneForm has Errors, and of the norm of that of the states. A step writes the rows from Made on.
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

// LaneForm is how the steps of a Solver are made side by side.
type LaneForm struct {
	*Arithmetic
	Solved    *SolvedArithmetic // that Arithmetic is a part of, where steps solve equations; else nil
	Matrix    *StepMatrix       // of these
	Tolerance *Tolerance        // by which errors are measured
	Sized     bool              // absolute tolerances are those of LaneRows.Abs
	Moves     bool              // some steps end at times that depend on something
	Inside    bool              // something is read within steps
	Peaks     bool              // largest values are wanted, which are read within steps as well
	Errors    bool              // the errors of states are wanted, not their norm alone
}

// Full reports whether steps solve equations whose factors have more than half of all places.
func (f *LaneForm) Full() bool {
	n := len(f.Matrix.Diagonal)
	return 2*f.Matrix.Factors > n*n
}

// NewLaneRows returns the rows of steps by form.
func NewLaneRows(form *LaneForm, z Size) LaneRows {
	w := z.N + z.Q
	r := LaneRows{
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
func (r *LaneRows) Block() int { return r.All * LaneCount }

// Side returns how the steps of each member of the method can be made side by side; nil for members of which they
// cannot, and no forms if those of the first cannot.
func (s *Solver) Side() []*LaneForm {
	if s.ctl == nil || s.opts.Fixed > 0 || s.tol.Kind != NormRMS || s.opts.Also != nil ||
		s.choice.turns > 0 || s.choice.orders || s.size.N == 0 || s.size.N > LaneStates {
		return nil
	}
	forms := make([]*LaneForm, len(s.members))
	if forms[0] = s.side(s.choice.members[0]); forms[0] == nil {
		return nil
	}
	for i, m := range s.choice.members[1:] {
		if _, solves := m.(Implicit); solves && !s.opts.NoJacobian && !s.opts.Explicit {
			forms[1+i] = s.side(m)
		}
	}
	return forms
}

// side returns how steps of a member of the method can be made side by side; nil if they cannot.
func (s *Solver) side(m Method) *LaneForm {
	switch m := m.(type) {
	case Arithmetical:
		return &LaneForm{
			Arithmetic: m.Arithmetic(), Tolerance: &s.tol.Tolerance, Sized: s.tol.sizes != nil, Moves: s.moves(),
			Inside: s.readsInside(), Errors: s.opts.Traces,
		}
	case *rosenbrock:
		if m.Prepare(s.sys) == nil && m.plan.matrix != nil {
			return &LaneForm{
				Arithmetic: &m.whole.Arithmetic, Solved: &m.whole, Matrix: m.plan.matrix, Tolerance: &s.tol.Tolerance,
				Sized: s.tol.sizes != nil, Moves: s.moves(), Inside: s.readsInside(),
				Errors: s.opts.Traces,
			}
		}
	}
	return nil
}

func (r *LaneRows) put(b []float64, st *Step) {
	b[0], b[LaneCount], b[2*LaneCount] = st.T, st.H, st.T1
	scatter(b[r.Y0*LaneCount:], st.Y0)
	scatter(b[r.K*LaneCount:], st.K[:r.Stages*r.W])
	scatter(b[r.Y1*LaneCount:], st.Y1)
	scatter(b[r.DQ*LaneCount:], st.DQ)
}

// PutDense writes the rows of K of the dense output of a step into its lane, where b begins.
func (r *LaneRows) PutDense(b []float64, st *Step) {
	if r.Extra > 0 {
		scatter(b[r.Dense*LaneCount:], st.K[r.Stages*r.W:(r.Stages+r.Extra)*r.W])
	}
}

// Load makes st the step of a lane, where b begins, with the rows of K of the dense output.
func (r *LaneRows) Load(b []float64, st *Step) {
	st.T, st.H, st.T1 = b[0], b[LaneCount], b[2*LaneCount]
	st.Y0, st.Y1, st.DQ = resize(st.Y0, r.N), resize(st.Y1, r.N), resize(st.DQ, r.Q)
	st.K = resize(st.K, (r.Stages+r.Extra)*r.W)
	gather(st.Y0, b[r.Y0*LaneCount:])
	gather(st.Y1, b[r.Y1*LaneCount:])
	gather(st.DQ, b[r.DQ*LaneCount:])
	gather(st.K[:r.Stages*r.W], b[r.K*LaneCount:])
	if r.Extra > 0 {
		gather(st.K[r.Stages*r.W:], b[r.Dense*LaneCount:])
	}
	st.Kept, st.Again, st.Dense, st.Estimated = nil, false, true, false
}

// moves reports whether some steps may end at times that depend on something.
func (s *Solver) moves() bool {
	return len(s.guards) > 0 || s.sched.moves
}

// readsInside reports whether something is read within steps.
func (s *Solver) readsInside() bool {
	return s.sched.inside && slices.ContainsFunc(s.sched.list, func(in Instant) bool { return in.Kind == InstantSite })
}

func scatter(to, x []float64) {
	for i, v := range x {
		to[i*LaneCount] = v
	}
}

func gather(x, from []float64) {
	for i := range x {
		x[i] = from[i*LaneCount]
	}
}
