package result

// Branch is the result of Model.Continue: the steady states that hang together with the one at the start.
type Branch struct {
	Param, Unit string
	States      []string // names of the elements of all states
	Units       []string // of these; "" for none
	Places      []Place  // in the order in which they were found
	// End says why the branch ends: at a "bound" of the range, because it is "closed", "long" (more places are not
	// sought), "lost" (no step was short enough) or "unbounded" (states grow without bound as the param nears the
	// last X).
	End   string
	Steps int // that were tried
}

// Place is a steady state on a branch.
type Place struct {
	X float64   // the param
	Y []float64 // the states
	// Kind is "fold" where the branch turns back, "hopf" where a pair of eigenvalues crosses the imaginary axis,
	// "crossing" where one passes or touches zero and another branch crosses this one, and "" elsewhere.
	Kind string
	// Growing is how many eigenvalues of the reduced Jacobian have positive real parts: none at a stable state. At a
	// place of some kind it is that of the less stable side. -1: not known.
	Growing int
	// Eigenvalue is the one that is nearest to growing; at a place of some kind, the one that crosses.
	Eigenvalue complex128
}
