package system

import (
	"reflect"
	"slices"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tapec"
	"odes.dev/odes/vm"
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
	values, pull, push *call
	at                 []float64 // [instants]: the result of values, in a place that stays bound
	version            int       // of the point that it belongs to
}

// serving is whose runs a worker makes.
type serving struct {
	identity
	own      identity // what it is unless it serves another one
	byParams []*call  // that read params, which Serve changes
}

func (s *serving) begin(w *Worker, p *Problem) {
	s.own = identity{problem: p, data: p.Model.rows, times: &timetable{
		values: w.value.Get(tapec.PartInstants), pull: w.pull.Get(tapec.PartInstants),
		push: w.push.Get(tapec.PartInstants), at: make([]float64, len(p.Model.Compiled.InstantList)), version: -1,
	}}
	s.identity = s.own
}

// Serve has a worker make the runs of another one, whose problem is the same as its own, until it serves itself
// again. What one worker does for many problems, the processor has at hand.
func Serve(w, of *Worker) {
	w.identity = of.own
	p := w.problem.Point.p
	w.in[tapec.Primal][vec.P], w.out[tapec.Primal][vec.P] = p, p
	w.version = -1
	for _, c := range w.byParams {
		for _, i := range c.params {
			c.machine.SetVector(i, p)
		}
	}
}

// callOf returns what runs a program, which may be nil, for w.
func callOf(w *Worker, p *program) *call {
	c := p.call()
	if c != nil && len(c.params) > 0 {
		w.byParams = append(w.byParams, c)
	}
	return c
}

// Same reports whether a worker of p serves one of q: whether the two differ in nothing but an identity.
func (p *Served) Same(q *Served) bool {
	m, o := p.Model, q.Model
	a, b := m.Compiled, o.Compiled
	return len(a.InstantList) == len(b.InstantList) && len(a.ClockList)+len(b.ClockList) == 0 &&
		len(a.GuardList)+len(b.GuardList) == 0 && p.edges == nil && q.edges == nil &&
		p.Like(q) && p.Values.same(q.Values) && p.Slopes.same(q.Slopes) &&
		slices.Equal(m.fixed, o.fixed) && slices.Equal(m.unmoved, o.unmoved) && slices.Equal(m.visits, o.visits) &&
		reflect.DeepEqual([]any{m.layout, m.atTimes, m.atEvents}, []any{o.layout, o.atTimes, o.atEvents}) &&
		reflect.DeepEqual(m.mass, o.mass) && reflect.DeepEqual(p.plan, q.plan) &&
		reflect.DeepEqual([]any{p.Rows, p.Free, p.Peaks}, []any{q.Rows, q.Free, q.Peaks}) &&
		reflect.DeepEqual(a.InstantList, b.InstantList) && reflect.DeepEqual(a.Modes, b.Modes) &&
		slices.EqualFunc(a.Functionals, b.Functionals, func(f, g tapec.Functional) bool {
			f.Table, g.Table = nil, nil
			return reflect.DeepEqual(f, g)
		})
}

// same reports whether two kits have the same programs but for those of the times.
func (k *Kit) same(o *Kit) bool {
	parts := [3][2]*tapec.Parts[*program]{{k.value, o.value}, {k.pull, o.pull}, {k.push, o.push}}
	return !slices.ContainsFunc(parts[:], func(of [2]*tapec.Parts[*program]) bool {
		return !slices.Equal(codesOf(of[0]), codesOf(of[1]))
	})
}

// codesOf returns the code of all programs but those of the times, of which it tells whether there are any.
func codesOf(parts *tapec.Parts[*program]) (list []*vm.Program) {
	if parts == nil {
		return nil
	}
	for at, p := range parts.All() {
		switch {
		case p == nil:
			list = append(list, nil)
		case at.Part != tapec.PartInstants:
			list = append(list, p.code)
		}
	}
	return list
}
