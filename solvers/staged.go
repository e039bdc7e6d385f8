package solvers

// Staged is a Method whose steps are sums over stages: what integrates a
// functional of a solution along with it, with the method's own weights.
type Staged interface {
	Method
	// EachStage calls f for the stages of the finished step s with a weight: time t_i, h b_i, and the stage
	// value, which is valid until f returns.
	EachStage(s *Step, f func(t, weight float64, y []float64))
}

// EachStage implements Staged.
func (r *RungeKutta) EachStage(s *Step, f func(t, weight float64, y []float64)) {
	for j, i := range r.b.row {
		f(r.time(s, i), float64(s.H*r.b.c[j]), r.value(s, i))
	}
}
