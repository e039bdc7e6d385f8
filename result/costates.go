package result

// Costates are the adjoint states of objectives along a run: by how much an objective changes when the
// state is moved at a time, where later events move with it. They are those of the discrete adjoint
// (docs/methods-derivatives.md).
type Costates struct {
	Objectives []Value
	// T holds the ends of steps, ascending. Where an adjoint state jumps (at events, and where an
	// objective reads the state) the time stands twice, with both limits.
	T []float64
	// Of[i] are the adjoint states of objective i: one series per state, in the order of declaration,
	// in units of the objective by those of the state.
	Of     [][]Series
	Events []Event
	// Experiments are the adjoint states along the runs that objectives read through nll, in file
	// order. The fields above are then those of the run without the experiments' changes.
	Experiments []ExperimentCostates
}

// ExperimentCostates are the adjoint states of the objectives along the run of an experiment. T, Of
// and Events are as in Costates.
type ExperimentCostates struct {
	Name   string
	T      []float64
	Of     [][]Series
	Events []Event
}
