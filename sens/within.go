package sens

import "odes.dev/odes/solvers"

// innerReading is something that is read within a step: at an observation's time, or a reading.
type innerReading struct {
	t       float64
	theta   float64 // of the step
	instant int     // whose time it is; -1 where that does not move, or with the step
	held    bool    // it moves with the step, at the same theta
}

// innerReadingAt makes pt mark m, which lies within its step. It returns what is read there, and whether anything is.
func innerReadingAt(pt *Point, m *solvers.Mark, instants []solvers.Instant, obj Objectives) (
	r innerReading, read bool,
) {
	r = innerReading{t: m.T, theta: m.Theta, instant: -1}
	read = pt.at(m, instants, obj)
	if !instants[m.Instant].Fixed {
		r.instant = m.Instant
	}
	return r, read
}
