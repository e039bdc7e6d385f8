package system

import "odes.dev/odes/tapec"

// Delays writes the delays that move.
func (w *Worker) Delays(t float64, y, tau []float64) {
	w.evalPart(w.value.Get(tapec.PartDelays), vecDelays, t, y, tau)
}

// DelaysPush writes the tangents of the delays that move.
func (w *Worker) DelaysPush(t float64, y, td, yd, taud []float64) {
	w.pushPart(w.push.Get(tapec.PartDelays), vecDelays, t, y, td, yd, taud)
}

// DelaysPull writes the cotangents of state and time that come of those of the delays that move, and adds those of
// params and discretes.
func (w *Worker) DelaysPull(t float64, y, taub, yb, tb []float64) {
	w.pullPart(w.pull.Get(tapec.PartDelays), vecDelays, t, y, taub, yb, tb)
}

// lagInputs lists what n is made of, where that is a state at earlier times.
func (m *Model) lagInputs(n tapec.Name) (list []tapec.Name) {
	for _, l := range m.Compiled.Model.Lags {
		if n.Role == tapec.State && n.Of == l.Value.Name {
			list = append(list, tapec.State.Called(l.State.Name), tapec.Discrete.Called(l.Delay.Name))
			list = append(list, inputsOf(m.Compiled.Delays, tapec.DelayOf.Called(l.Delay.Name), -1)...)
		}
	}
	return list
}
