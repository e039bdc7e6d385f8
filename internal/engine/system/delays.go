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
