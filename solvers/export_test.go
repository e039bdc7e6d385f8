package solvers

// Forget drops the states that tr keeps, but for the one at the start.
func (tr *Trajectory) Forget() { tr.kept.spread(0, tr.units) }

// Split is where the next state is kept.
var Split = split

var Update = update
