package system

import (
	"math"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"

	"odes.dev/odes/internal/engine/edges"
	"odes.dev/odes/solvers"
)

// edging watches how far outside of domains the rates of a Worker are asked for. It implements solvers.Extended.
type edging struct {
	of     *edges.Extended
	model  *compiled.Model
	domain *edges.Watch // nil where nothing is watched
	leeway *solvers.Leeway
}

// Within implements solvers.Extended.
func (e *edging) Within(l *solvers.Leeway) bool {
	if e.of == nil {
		return false
	}
	if e.leeway = l; e.domain == nil {
		e.domain = edges.NewWatch(e.of)
	}
	return true
}

// AtEdges implements solvers.Extended.
func (e *edging) AtEdges() int {
	if e.domain == nil {
		return 0
	}
	return e.domain.Count()
}

// beyond reports whether rates are asked for further outside than the state may be off: ten tolerances.
func (e *edging) beyond(at *vec.Values) bool {
	point := e.domain.Point()
	e.model.Load(point.Tape(), point, at)
	return e.domain.Beyond(func(state string, element int, value float64) float64 {
		if !e.leeway.Open {
			return 0
		}
		i := e.model.State(state).Offset + element
		return 10 * math.FMA(e.leeway.RelOf(i), math.Abs(value), e.leeway.AbsOf(i))
	})
}
