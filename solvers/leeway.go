package solvers

import "errors"

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

// leeway is the Leeway of a Solver. It is open from where steps become too short without it.
type leeway struct {
	Leeway
	of Extended // nil for a system that has none
}

// claim tells sys of the leeway, at the start or after others made runs.
func (l *leeway) claim(sys System, start bool) {
	if start {
		l.of, l.Open = nil, false
	} else if l.of == nil {
		return
	}
	if x, ok := sys.(Extended); ok && x.Within(&l.Leeway) {
		l.of = x
	}
}

// opens opens the leeway, and reports whether it was not open.
func (l *leeway) opens() bool {
	if l.of == nil || l.Open {
		return false
	}
	l.Open = true
	return true
}

// told returns a warning of rates outside of domains in a run that ended at t; nil for none.
func (l *leeway) told(t float64) []Warning {
	if l.of == nil {
		return nil
	}
	if n := l.of.AtEdges(); n > 0 {
		return []Warning{{Kind: Extension, T: t, Instant: -1, Value: float64(n)}}
	}
	return nil
}

// Undefined reports whether a run ended because its right-hand side has no value where it is needed.
func Undefined(err error) bool {
	var short *StepUnderflowError
	if errors.As(err, &short) {
		return short.NonFinite
	}
	var bad *NonFiniteError
	return errors.As(err, &bad) && bad.Body == nil && bad.Guard == 0
}
