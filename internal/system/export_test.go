package system

// CompiledFromFirst reports whether the worker ran even its first step by a program of whole steps of
// a small model.
func (w *Worker) CompiledFromFirst() bool { return w.steps.call != nil && w.steps.made == 1 }
