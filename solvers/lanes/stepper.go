// Package lanes has what makes steps of several runs at once offer, and how blocks of such steps are laid out. Package
// hybrid decides about the steps.
package lanes

import (
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
)

// Count is how many runs are made side by side, and States the most states that they may have.
const (
	Count  = 8
	States = matrices.WholeStates
)

// Stepper makes steps of several runs at once, one in each lane, and their transposes. A lane has the bits that
// Method.Step, Tolerance.Norm and Method.Pull give to its run. Where something is not finite, the norm is not.
type Stepper interface {
	Rows() *Rows
	// Enter gives a lane the parameters, discretes and modes that are current in sys.
	Enter(lane int, sys solvers.System)
	// Step writes the rows of a block from Made on, but for Mask, from those before. Where Serve is 0, the lane has
	// nothing of its step.
	Step(block []float64)
	// Extend writes the rows of the dense output.
	Extend(block []float64)
	// ReadGuards reads the guards at the points of a step, Arithmetic.Points, in all lanes. Its result is laid out
	// [row][lane] and stays until the next call: ρ at each point, the truths, 1 or 0, at each point, and then, for each
	// guard, the least and the largest of the ρ, and of the truths. The last are NaN where some ρ is not finite. The
	// result is nil where guards cannot be read so.
	ReadGuards(block []float64) []float64
	// ReadSamples reads what is to be largest at the Samples of a step in all lanes, with derivatives at the very
	// times: within no limits. The rows of the dense output have been made. Its result is laid out [row][lane] and
	// stays until the next call: the values at each sample, and then their rates. Behind these are, for each
	// expression, 1 where it only rises from sample to sample, -1 where it only falls, and else another number; and
	// then the largest and the least of the values. It only rises or falls where the slopes say so, and the cubics
	// between them turn nowhere. The result is nil where nothing can be read so.
	ReadSamples(block []float64) []float64
	// Exchanged tells how rows were exchanged, as LU.Keep writes it, in a step of a lane whose Serve was 0.
	Exchanged(lane int, exchanges []float64)
	// Lay gives a lane the cotangents of the first n objectives, of as many as sys sweeps together: those of the state,
	// of the quadratures and of time, and those that sys has gathered.
	Lay(lane, n int, sys solvers.CotangentSystem, yb, qb, tb []float64)
	// Sow gives a lane the cotangents of what was read within its step for n objectives. The next Pull or PullEnds that
	// transposes that takes them in.
	Sow(lane, n int, s *solvers.Seeds)
	// Pull transposes the steps of a block for n objectives, in the lanes that its Mask names.
	Pull(block []float64, n int)
	// Join adds cotangents of the state and of time to those of a lane, and gives it those of the quadratures, for n
	// objectives.
	Join(lane, n int, yb, qb, tb []float64)
	// Take takes back what Lay gave, as it has become.
	Take(lane, n int, sys solvers.CotangentSystem, yb, tb []float64)
	// EnterPush gives a lane the tangents of parameters and discretes that are current in sys, for as many directions
	// as that has lanes.
	EnterPush(lane int, sys solvers.TangentSystem)
	// LayPush gives a lane tangents in the first n directions: those of time, of the state, and of the quadratures so
	// far.
	LayPush(lane, n int, td, yd, qd []float64)
	// Push pushes n directions through the steps of a block, whose lengths do not move, in the lanes that its Mask
	// names.
	Push(block []float64, n int)
	// TakePush takes back what LayPush gave, as it has become.
	TakePush(lane, n int, td, yd, qd []float64)
	// Ends returns what PullEnds reads besides a block, in rows of Count: 1 in lanes whose steps are transposed and
	// 0 in others; then, if the rates read the time, the times that the stages are transposed at. It is nil where
	// PullEnds cannot be called.
	Ends() []float64
	// PullEnds is Pull for steps whose ends may move. It returns the cotangents of their lengths, [n][Count].
	PullEnds(block []float64, n int) []float64
}
