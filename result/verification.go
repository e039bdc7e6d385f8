package result

import "odes.dev/odes/lang/diag"

// Verification is what Model.Verify found.
type Verification struct {
	Settings   Settings
	Directions int
	CrossCheck string // the mode of the cross-check: "tangent" or "adjoint"
	Curvature  bool   // second derivatives were checked as well
	// Large tells that the gradient is too large to be computed by another mode. The cross-check then
	// went along the random directions only.
	Large bool
	// Steps are the lengths of moves along the first direction, of which the verdicts list remainders.
	// A move of length 1 changes parameters by about their own size.
	Steps      []float64
	Objectives []Verdict
	// Strange says in words which event the run and the independent one do not have alike; "" for none.
	Strange  string
	Warnings []diag.Diagnostic
	OneSided []VerdictSides // derivatives that are others on the other side, and leaps, of all objectives
}

// VerdictSides is a derivative on both sides, or a value on both where Leap is set.
type VerdictSides struct {
	Objective   int
	By          string // an element of a variable
	Left, Right float64
	Leap        bool
}

// Verdict is what was found of one scalar objective. Complex is relative to the sum of the absolute
// terms of the inner product, CrossCheck to the largest derivative of the row.
type Verdict struct {
	Name  string
	Value float64
	// Outcome is one of these:
	//
	//	"ok"             all comparisons pass: the gradient is right for the model
	//	"discrete only"  it is the gradient of the computed solution, but an independent run has other
	//	                 values, derivatives or events, or a warning says that derivatives do not exist
	//	"wrong"          it is not even the gradient of the computed solution
	//	"no value"       the objective has no value in this run
	//	"undecided"      rounding leaves no digits of the derivatives, or they are not finite
	//	"inaccurate"     a mode that differentiates the equations first converges to the same gradient,
	//	                 but fewer than three of its digits are right
	Outcome string
	Complex float64 // worst error of a derivative along a direction, against complex step
	// CrossCheck is the worst error of a derivative, against the mode Verification.CrossCheck.
	CrossCheck float64
	// Refined is CrossCheck at tighter tolerances. It is computed for a mode that differentiates the
	// equations first and is off by more than its tolerance: if Refined is smaller than CrossCheck,
	// both modes converge to one gradient. It is 0 where it was not computed.
	Refined float64
	// Independent is the worst error of the value or of a derivative, against the run that
	// Verification.Settings.CheckedBy names. Derivatives that hardly matter do not count (docs/methods-derivatives.md).
	// It is NaN where that run failed.
	Independent float64
	// Curvature is the worst error of a second derivative along a direction, where there is a Hessian
	// or a product with one. The reference is differences of complex steps over the repeated run, and
	// CurvatureNoise is how accurate these are.
	Curvature, CurvatureNoise float64
	// Remainders are |ψ(ε) - ψ(0) - ε·(gradient along the direction)| over the repeated run, for each
	// ε of Verification.Steps. Where the gradient is right they vanish like ε². Order is the exponent
	// between the last two remainders above rounding. It is NaN if there are none, for example because
	// ψ is linear along the direction.
	Remainders []float64
	Order      float64
	// Noise is the larger of two effects of rounding: how far a change of the variables by rounding
	// moves the derivative along a direction, and how far the repeated run is from the value. Where
	// small changes grow, as in chaos, no comparison can be much better than Noise.
	Noise float64
}

// Wrong reports whether the gradient of some objective is wrong.
func (v *Verification) Wrong() bool {
	for _, o := range v.Objectives {
		if o.Outcome == "wrong" {
			return true
		}
	}
	return false
}
