package solvers

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/team"
)

// Capability is a set of what a method can do besides what every Method can, and of what it asks for.
type Capability uint

// The capabilities. Each but the last two has an interface, which a method with the capability implements and one
// without it does not.
const (
	DenseDerivatives Capability = 1 << iota // Interpolant
	SecondOrder                             // SecondMethod
	ComplexSteps                            // ComplexMethod
	TangentErrors                           // TangentEstimator
	StageSums                               // Staged
	StiffnessTest                           // StiffnessDetector
	WholeSteps                              // Arithmetical
	NeedsJacobian                           // Implicit
	SplitRates                              // it takes a SplitField
	MassMatrix                              // it solves M y' = f(t, y) with the Mass of a Field
)

// capabilities says of each capability with an interface what it is, for messages, and whether a method has it.
var capabilities = []struct {
	can  Capability
	what string
	in   func(m Method) bool
}{
	{DenseDerivatives, "derivatives of its dense output", is[Interpolant]},
	{SecondOrder, "second derivatives of its steps", is[SecondMethod]},
	{ComplexSteps, "steps in complex arithmetic", is[ComplexMethod]},
	{TangentErrors, "error estimates of tangents", is[TangentEstimator]},
	{StageSums, "sums over its stages", is[Staged]},
	{StiffnessTest, "a test of stiffness", is[StiffnessDetector]},
	{WholeSteps, "steps as one program", is[Arithmetical]},
	{NeedsJacobian, "steps that solve equations", solves},
}

// is reports whether m is an M, with all of its members.
func is[M Method](m Method) bool {
	if _, ok := m.(M); !ok {
		return false
	}
	if s, ok := m.(*switching); ok {
		for _, one := range s.members {
			if _, ok := one.(M); !ok {
				return false
			}
		}
	}
	return true
}

// solves reports whether a step of m may solve equations.
func solves(m Method) bool {
	return slices.ContainsFunc(Members(m), func(one Method) bool {
		_, ok := one.(Implicit)
		return ok
	})
}

// Has reports whether c has all of what.
func (c Capability) Has(what Capability) bool { return c&what == what }

// String lists what c has in words, of what has an interface.
func (c Capability) String() string {
	var list []string
	for _, x := range capabilities {
		if c.Has(x.can) {
			list = append(list, x.what)
		}
	}
	return strings.Join(list, ", ")
}

// IncapableError is the error of asking a method for what it cannot do.
type IncapableError struct {
	Method string
	Lacks  Capability
}

func (e *IncapableError) Error() string { return fmt.Sprintf("method %s has no %v", e.Method, e.Lacks) }

// Check returns an *IncapableError if the methods that s makes lack some of can, else nil.
func (s *Spec) Check(can Capability) error {
	if lacks := can &^ s.Can; lacks != 0 {
		return &IncapableError{s.Name, lacks}
	}
	return nil
}

// As returns m as a method with one capability, whose interface is M; the error is an *IncapableError.
func As[M Method](m Method, can Capability) (M, error) {
	if able, ok := m.(M); ok && is[M](m) {
		return able, nil
	}
	var none M
	return none, &IncapableError{m.Info().Name, can}
}

// Interpolant is a Method whose dense output has a slope, a tangent and a transpose:
// what serves observations inside steps, and largest values. With θ = (t* - t)/h,
//
//	y(t*) = y₀ + h Σ β_i(θ) k_i,
//
// and its total derivative, without a division, is
//
//	ẏ = ẏ₀ + h Σ β_i k̇_i + ḣ Σ β_i k_i + (ṫ* - ṫ₀ - θ ḣ) Σ β'_i k_i.
type Interpolant interface {
	Method
	// InterpolateSlope writes y[N] at T + theta·H and its derivative by time, yd[N].
	InterpolateSlope(f Field, s *Step, theta float64, y, yd []float64)
	// InterpolatePush writes yd[N·L], the tangent of y at T + theta·H, where this time moves by td[L]. It
	// must follow Push of the same step with the same d.
	InterpolatePush(f TangentField, s *Step, d *StepTangent, theta float64, td, yd []float64)
	// InterpolatePull takes the cotangents w[N·L] of y at T + theta·H, adds those of this time to tb[L], and
	// keeps the rest for the next Pull, which must be that of the same step and adds it to its outputs. It
	// may be called for any number of times within a step.
	InterpolatePull(f CotangentField, s *Step, theta float64, w, tb []float64)
}

// TangentEstimator is a Method that estimates the errors of tangents as it does those of states.
type TangentEstimator interface {
	Method
	// PushError writes the estimated local error e[(N+Q)·L] of the tangents of a step whose length does not
	// move (d.H zero). It must follow Push of the same step with the same d.
	PushError(f TangentField, s *Step, d *StepTangent, e []float64)
}

// Staged is a Method that integrates a functional of a solution along with it, as a weighted sum over points of a step.
type Staged interface {
	Method
	// EachStage calls f for points of the finished step s with a weight: of a method whose steps are sums over stages,
	// the time t_i of a stage, h b_i and the stage value; of others, points of the dense output. The value is valid
	// until f returns. The sum is as accurate as the step, or as the integral of the dense output.
	EachStage(s *Step, f func(t, weight float64, y []float64))
}

// StiffnessDetector is a Method that can tell stiffness from what its steps compute in any case.
type StiffnessDetector interface {
	Method
	// StabilityInterval returns the length of the interval on the negative real axis where the method is stable.
	StabilityInterval() float64
	// StableAlong returns how far the method is nearly stable (a step multiplies by less than 1.01) for eigenvalues
	// whose angle with the negative real axis has that cosine, 0 to 1.
	StableAlong(cos float64) float64
	// Eigenvalue estimates the size of the largest eigenvalue of ∂f/∂y from the finished step s; NaN when the step
	// does not tell.
	Eigenvalue(s *Step) float64
}

// PartDetector is a StiffnessDetector whose StabilityInterval is that of a part of the rates.
type PartDetector interface {
	StiffnessDetector
	Bounds() RatesPart
}

// Keeper is a Method whose transposes are faster with numbers that are at hand when a step has been made, as factors of
// its matrix. Their bits are those without them.
type Keeper interface {
	Method
	// Factors returns how many numbers KeepFactors writes, once a step has been made.
	Factors() int
	// KeepFactors writes what belongs to s. It returns false if that is no longer at hand, or takes other room.
	KeepFactors(s *Step, to []float64) bool
}

// Implicit is a Method whose steps solve equations with the Jacobian of their Field, which is a JacobianField; for its
// tangents, transposes and so on it is a TangentJacobianField, CotangentJacobianField and so on.
type Implicit interface {
	Method
	// Prepare makes the method ready for steps of f. The error is a *NoJacobianError or a *MatrixError. Without it, the
	// first step of a Field makes the method ready, or cannot be made.
	Prepare(f Field) error
	// Rate estimates the size of the largest eigenvalue of ∂f/∂y at the start of s; NaN where it cannot tell. A
	// Step that follows may be told that it is tried again.
	Rate(f Field, s *Step) float64
	// Fault returns why the last Step could not be made, where that was for its equations, and otherwise nil. It may
	// look at what the step left.
	Fault() error
	// Work returns what all steps of the method took since it was made.
	Work() ImplicitWork
}

// CapabilitiesOf returns which of the capabilities with an interface m has, and all of these.
func CapabilitiesOf(m Method) (has, all Capability) {
	for _, x := range capabilities {
		if all |= x.can; x.in(m) {
			has |= x.can
		}
	}
	return has, all
}

// Sharing is a Method whose work on long vectors a team may share, with the same bits.
type Sharing interface {
	// Share lets a team that belongs to the method's goroutine do so; nil for this goroutine alone.
	Share(t *team.Team)
}
