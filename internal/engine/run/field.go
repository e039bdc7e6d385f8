package run

// Field returns the rates of the states at any values of these; nil for a model whose rates depend on more.
func (r *Runner) Field() (states []string, rates func(y []float64) []float64) {
	return r.problem.Field()
}
