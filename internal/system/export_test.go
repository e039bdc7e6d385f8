package system

// CompiledFromFirst reports whether the worker ran even its first step by a program of whole steps of
// a small model.
func (w *Worker) CompiledFromFirst() bool {
	return len(w.wholes) == 1 && w.whole.steps.call != nil && w.whole.steps.made == 1
}
