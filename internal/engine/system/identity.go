package system

import (
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tapec"
)

// identity is what workers of problems that are the same differ in: values of params, times, and rows of data.
type identity struct {
	problem *Problem
	data    [][]float64 // of each instant: the row that is read there
	times   *timetable
}

// timetable has the times of the instants, and what computes them, its transpose and its tangent: each may have times
// that are constants.
type timetable struct {
	values, pull, push *compiled.Call
	at                 []float64 // [instants]: the result of values, in a place that stays bound
	version            int       // of the point that it belongs to
}

// serving is whose runs a worker makes.
type serving struct {
	identity
	own identity // what it is unless it serves another one
}

func (s *serving) begin(w *Worker, p *Problem) {
	s.own = identity{problem: p, data: p.Model.Rows, times: &timetable{
		values: w.Primals.Get(tapec.PartInstants), pull: w.Transposes.Get(tapec.PartInstants),
		push: w.Tangents.Get(tapec.PartInstants), at: make([]float64, len(p.Model.Compiled.InstantList)), version: -1,
	}}
	s.identity = s.own
}

// Seat is what a worker takes over from another one whose runs it makes.
type Seat struct {
	identity
	p []float64 // the params
}

// SeatOf returns the seat of a worker. It stays what it is.
func SeatOf(w *Worker) Seat { return Seat{w.own, w.own.problem.Point.P} }

// Near reads what a run by the seat takes up, so that the processor fetches it while nothing waits for it.
func (s *Seat) Near() (sum int) {
	pt := s.problem.Point
	sum = pt.Version + len(pt.Cut) + len(pt.Moved) + s.times.version + len(s.problem.Rows)
	if len(s.p) > 0 && s.p[0] > 0 {
		sum++
	}
	for _, row := range s.data {
		if len(row) > 0 && row[0] > 0 {
			sum++
		}
	}
	return sum
}

// Serve has a worker make the runs of another one, whose problem is the same as its own, until it serves itself
// again. What one worker does for many problems, the processor has at hand.
func Serve(w *Worker, of *Seat) {
	w.identity = of.identity
	w.Task = &w.problem.Task
	w.Separator.Serve(w.Task)
	p := of.p
	w.In[tapec.Primal][vec.P], w.Out[tapec.Primal][vec.P] = p, p
	w.Version = -1
	for _, c := range w.ByParams {
		for _, i := range c.Params {
			c.Machine.SetVector(i, p)
		}
	}
}
