package system

import (
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tape"
)

// ReferenceJacobian returns the entries of the Jacobian as the reference evaluator gives them.
func (w *Worker) ReferenceJacobian(t float64, y, d, m []float64) []float64 {
	made, err := w.model.Programs.WithJacobian(false)
	if err != nil {
		panic(err)
	}
	e := tape.NewEvaluator[float64](made.Jacobian)
	w.model.Load(made.Jacobian, e, &vec.Values{vec.T: {t}, vec.Y: y, vec.P: w.problem.Point.P, vec.D: d, vec.M: m})
	e.Run()
	var out []float64
	for _, o := range made.Jacobian.Outputs {
		out = append(out, e.Value(o.Value)...)
	}
	return out
}

// JacobianTape returns the tape of the Jacobian.
func JacobianTape(m *compiled.Model) *tape.Tape {
	made, err := m.Programs.WithJacobian(false)
	if err != nil {
		panic(err)
	}
	return made.Jacobian
}

// KnowsStage reports whether the worker's transpose of a stage reads what was kept.
func (w *Worker) KnowsStage(t float64, y []float64) bool { return w.KeptStage(t, y) != nil }
