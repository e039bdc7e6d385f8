package solvers

// Extended is a System whose right-hand side can go on a little outside of the domains of its functions, as they are
// at the edges of these.
type Extended interface {
	System
	// Within hands over what says how far: the run that asks for rates from now on keeps it up to date. Without it,
	// rates are as far outside as they are asked for, which is what a run that is repeated needs. Within reports
	// whether the system can do it.
	Within(l *Leeway) bool
	// AtEdges returns at how many points rates were asked for outside of a domain since the last call.
	AtEdges() int
}

// Leeway says how far outside of their domains functions may be asked for: not at all, or as far as errors of states
// take their arguments, where Open is set. Rates further outside are NaN.
type Leeway struct {
	Tolerance
	Open bool
}
