package solvers

// Dual is a vector and its tangents in L lanes. A dual of time has one element.
type Dual struct {
	X []float64 // [n]
	D []float64 // [n·L]
}

// NewDual returns a dual of n elements that are zero.
func NewDual(n, lanes int) Dual {
	return Dual{X: make([]float64, n), D: make([]float64, n*lanes)}
}

// Clear makes a zero.
func (a Dual) Clear() {
	clear(a.X)
	clear(a.D)
}

// Copy copies b, which is as long as a, to a.
func (a Dual) Copy(b Dual) {
	copy(a.X, b.X)
	copy(a.D, b.D)
}

// Add adds b, which is as long as a, to a.
func (a Dual) Add(b Dual) {
	for i, x := range b.X {
		a.X[i] += x
	}
	for i, x := range b.D {
		a.D[i] += x
	}
}

// Rows returns row i of a, rows of w elements.
func (a Dual) Rows(i, w, l int) Dual { return Dual{a.X[i*w : (i+1)*w], a.D[i*w*l : (i+1)*w*l]} }

// SecondField pushes tangents through the transpose of a Field, for second derivatives.
type SecondField interface {
	TangentField
	// PullPush overwrites yb[N] and tb[1] with the transpose of the field applied to kb[N+Q], together with their
	// tangents where t, y and kb move as their tangents say, and the discretes and parameters as their current
	// tangents do. It adds the cotangents of discretes and parameters, with their tangents, to accumulators of its
	// own.
	PullPush(t, y, kb, yb, tb Dual)
}

// SecondSystem pushes tangents through the transpose of everything a System does. It is a CotangentSystem of one lane
// together with its tangent in L lanes. The tangents of parameters and discretes are those of the TangentSystem.
type SecondSystem interface {
	TangentSystem
	SecondField
	// Begin starts a sweep: it clears the accumulators.
	Begin()
	// Leave adds the cotangents of the current discretes to db[D] and clears them; see CotangentSystem.
	Leave(db Dual)
	// GuardPullPush adds ρ_i's transpose applied to w[1] to yb[N] and tb[1], and to the accumulators.
	GuardPullPush(i int, t, y, w, yb, tb Dual)
	// AffectPullPush overwrites ymb[N], dmb[D] with the transpose of the body applied to ypb, dpb, and adds to tb[1].
	AffectPullPush(f Firing, t, ym, dm, ypb, dpb, ymb, dmb, tb Dual)
	// InstantPullPush adds the transpose of instant i, at the current discretes, applied to w[1].
	InstantPullPush(i int, w Dual)
	// StartPullPush pulls the cotangents of the initial values into the parameters and adds to tb[1] that of t0.
	StartPullPush(t0, yb, db, tb Dual)
	// Finish writes the cotangents of the parameters, pb[P], gathered since Begin.
	Finish(pb Dual)
}

// SecondMethod is a Method whose transpose has a tangent.
type SecondMethod interface {
	Interpolant
	// PullPush is Pull in one lane together with its tangent in L, where the step moves by d. Of d only T0, H and Y0
	// are read.
	PullPush(f SecondField, s *Step, d *StepTangent, c *StepSecond)
	// InterpolatePullPush is InterpolatePull together with its tangent, where the step moves by d and the time by
	// td[L]. It must be followed by PullPush of the same step with the same d.
	InterpolatePullPush(f SecondField, s *Step, d *StepTangent, theta float64, td []float64, w, tb Dual)
}

// StepSecond holds the cotangents of a step and their tangents.
type StepSecond struct {
	T1, Y1, DQ Dual // in: [1], [N], [Q]; unchanged
	T0, H, Y0  Dual // out: [1], [1], [N]; overwritten
	WantH      bool
}
