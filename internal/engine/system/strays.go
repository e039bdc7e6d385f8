package system

import (
	"context"
	"math"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
	"odes.dev/odes/steady"
)

// A state may be at rest, or repeat, only at the value that a param has: where the amplitude of a forcing is zero, say.
// Moved a little, the rates change with time, and there is no such state. So there is no derivative by that param.

// strays are what moves a state at rest to where it has none, as the values before the search: params, states and
// discretes. A nil *strays has none.
type strays struct {
	params, states, discretes []bool
	only                      []string // the params of which some elements do
}

// timed reports whether rates read time.
func (p *Problem) timed() bool {
	for _, col := range p.Places().Cols {
		if int(col) == p.Size().N {
			return true
		}
	}
	return false
}

// strays returns those of a state that is at rest at t.
func (p *Problem) strays(at compiled.Moment, state *steady.State, linear *steady.Linear, t float64) *strays {
	if !p.timed() {
		return nil
	}
	if s := p.settling.about(state); s != nil {
		return s
	}
	k, err := p.Kit(1, compiled.Push, false)
	if err != nil {
		return nil
	}
	w, z, width := p.Worker(k), p.Size(), p.Plan.Width
	s := &strays{params: make([]bool, width), states: make([]bool, z.N), discretes: make([]bool, z.D)}
	w.Enter(state.D, state.M)
	sizes, values := w.terms(t, restingAt(w, state)), p.ActiveValues()
	pd, yd, dd := make([]float64, width), make([]float64, z.N), make([]float64, z.D)
	before := yd // states before the search matter only by what is conserved
	if len(p.settling.plan.Laws) == 0 {
		before = nil
	}
	for _, v := range []struct {
		moves []float64
		value func(i int) float64
		found []bool
	}{
		{pd, func(i int) float64 { return values[i] }, s.params},
		{before, func(i int) float64 { return state.Y[i] }, s.states},
		{dd, func(i int) float64 { return state.D[i] }, s.discretes},
	} {
		for i := range v.moves {
			v.moves[i] = unit(v.value(i))
			w.SetTangent(pd)
			w.EnterPush(dd)
			v.found[i] = w.strayed(at, state, linear, t, yd, dd, sizes)
			v.moves[i] = 0
		}
	}
	s.only = p.named(s.params)
	p.settling.know(state, s)
	return s
}

// about returns the strays of a state; nil where they are not known.
func (s *settling) about(state *steady.State) *strays {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.found {
		if s.found[i].state == state {
			return s.found[i].strays
		}
	}
	return nil
}

// know notes the strays of a state.
func (s *settling) know(state *steady.State, found *strays) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.found {
		if s.found[i].state == state {
			s.found[i].strays = found
		}
	}
}

// named returns the names of active params of which some elements are found.
func (p *Problem) named(found []bool) (names []string) {
	at := 0
	for _, name := range p.Active {
		to := at + p.Column(name).Len
		if slices.Contains(found[at:to], true) {
			names = append(names, name)
		}
		at = to
	}
	return names
}

// Strays returns the params that states of the last run are at rest at only one value of, and those that the periodic
// state repeats at only one value of.
func (p *Problem) Strays() (rest, periodic []string) {
	s := &p.settling
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.found {
		if f := &s.found[i]; f.version == p.Point.Version && f.strays != nil {
			rest = append(rest, f.strays.only...)
		}
	}
	if o := s.orbit; o != nil && o.version == p.Point.Version {
		periodic = o.only
	}
	slices.Sort(rest)
	return slices.Compact(rest), periodic
}

// restingAt returns a state at rest, with what is read of its past.
func restingAt(w *Worker, state *steady.State) []float64 {
	if p := w.problem.Past; p != nil {
		return p.Resting(state)
	}
	return state.Y
}

// terms returns the sizes of the terms of rates.
func (w *Worker) terms(t float64, y []float64) []float64 {
	z, j := w.Size(), w.problem.Places()
	sizes, entries := make([]float64, z.N+z.Q), make([]float64, len(j.Rows))
	w.Eval(t, y, sizes)
	for i, x := range sizes {
		sizes[i] = math.Abs(x)
	}
	w.EvalJacobian(t, y, entries)
	for e, x := range entries {
		row, col := int(j.Rows[e]), int(j.Cols[e])
		if col > z.N { // what is read of the past is behind the time
			col--
		} else if col == z.N {
			continue
		}
		if row < len(sizes) && col < len(y) {
			sizes[row] += math.Abs(float64(x * y[col]))
		}
	}
	return sizes
}

// unit returns how far a value is moved.
func unit(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Abs(x)
}

// strayed reports whether rates change with time where what the worker's tangents move, those of discretes by dd, and
// the states before the search by yd, moves a state at rest with it. Time goes where the search stands for: back from
// the start of the run, or on from its end.
func (w *Worker) strayed(at compiled.Moment, state *steady.State, linear *steady.Linear, t float64,
	yd, dd, sizes []float64,
) bool {
	const least, rounding = 0x1p-44, 1e-9
	z, o := w.Size(), w.problem.restOptions(at)
	slopes := func(t float64, yd []float64) []float64 {
		out := make([]float64, z.N+z.Q)
		if p := w.problem.Past; p != nil {
			p.Push(w, state, t, yd, dd, out)
		} else {
			w.Push(t, state.Y, []float64{0}, yd, out)
		}
		return out
	}
	moved := slopes(t, make([]float64, z.N))[:z.N]
	linear.Push(moved, yd, 1)
	rest := slopes(t, moved)
	for _, then := range o.Elsewhere(w, t, state.Y, state.M) {
		direct, all := slopes(then, make([]float64, z.N)), slopes(then, moved)
		for i, x := range all[:z.N] {
			size := math.Abs(direct[i]) + math.Abs(x-direct[i])
			if math.Abs(x-rest[i]) > max(float64(least*sizes[i]), float64(rounding*size)) {
				return true
			}
		}
	}
	return false
}

// push makes the tangents yd of a state in lanes no numbers where it is moved to where it has no rest.
func (s *strays) push(lanes int, pd, before, dd, yd []float64) {
	if s == nil {
		return
	}
	spoilLanes := func(found []bool, moves []float64) {
		for i, yes := range found {
			for l := range lanes {
				for k := l; yes && moves[i*lanes+l] != 0 && k < len(yd); k += lanes {
					yd[k] = math.NaN()
				}
			}
		}
	}
	spoilLanes(s.params, pd)
	spoilLanes(s.states, before)
	spoilLanes(s.discretes, dd)
}

// pull is the transpose of push: it makes cotangents no numbers where those of the state, yb, are not zero.
func (s *strays) pull(lanes int, yb, pb, before, db []float64) {
	if s == nil {
		return
	}
	for k, x := range yb {
		if l := k % lanes; x != 0 {
			spoilLane(s.params, pb, l, lanes)
			spoilLane(s.states, before, l, lanes)
			spoilLane(s.discretes, db, l, lanes)
		}
	}
}

// pullPush is pull with tangents.
func (s *strays) pullPush(lanes int, yb []float64, pb, before, db solvers.Dual) {
	s.pull(1, yb, pb.X, before.X, db.X)
	if s == nil || !slices.ContainsFunc(yb, func(x float64) bool { return x != 0 }) {
		return
	}
	for l := range lanes {
		spoilLane(s.params, pb.D, l, lanes)
		spoilLane(s.states, before.D, l, lanes)
		spoilLane(s.discretes, db.D, l, lanes)
	}
}

// moved reports whether params, and states and discretes before the search, move a state to where it has no rest: by
// imaginary parts, or as differences do, params and discretes.
func (s *strays) moved(w *ComplexWorker, state *steady.State, before []float64, d []complex128) bool {
	if s == nil {
		return false
	}
	at := 0
	for _, name := range w.problem.Active {
		from := w.model.Param(name).Offset
		for k := range w.problem.Column(name).Len {
			if s.params[at] && w.vec[vec.P][from+k] != complex(w.problem.Point.P[from+k], 0) {
				return true
			}
			at++
		}
	}
	for i, x := range before {
		if s.states[i] && x != 0 {
			return true
		}
	}
	for i, x := range d {
		if s.discretes[i] && x != complex(state.D[i], 0) {
			return true
		}
	}
	return false
}

// spoilLane makes elements of a lane no numbers.
func spoilLane(found []bool, x []float64, lane, lanes int) {
	for i, yes := range found {
		if yes {
			x[i*lanes+lane] = math.NaN()
		}
	}
}

// stray makes derivatives of the periodic state by params NaN where what depends on time has the same period for no
// other value of the param: at moments of the period, rates a period later move in another way. Where discretes hold
// times, those of a period later are other ones, and nothing is compared.
func (o *cycle) stray(byParams []float64) error {
	const most, least = 8, 1e-9
	p := o.problem
	if !p.timed() || slices.Contains(o.from.Timed, true) {
		return nil
	}
	k, err := p.Kit(1, compiled.Push, false)
	if err != nil {
		return err
	}
	w, z, width := p.Worker(k), p.Size(), p.Plan.Width
	period := o.run.Ends() - o.run.Begins()
	values, pd := p.ActiveValues(), make([]float64, width)
	still, longer := make([]float64, z.N), []float64{0}
	modes, first, later := make([]float64, z.M), make([]float64, z.N+z.Q), make([]float64, z.N+z.Q)
	rates := func(t float64, y, d, f []float64) {
		w.Enter(d, modes)
		w.Choose(t, y, nil, modes)
		w.Enter(d, modes)
		w.Eval(t, y, f)
	}
	found := make([]bool, width)
	err = o.moments(most, func(t float64, y, d []float64) {
		for j := range pd {
			pd[j] = unit(values[j])
			w.SetTangent(pd)
			w.Times(o.from.D)
			w.InstantPush(w.flights.Period, longer)
			rates(t, y, d, first)
			sizes := w.terms(t, y)
			a, b := make([]float64, z.N+z.Q), make([]float64, z.N+z.Q)
			w.EnterPush(make([]float64, z.D))
			w.Push(t, y, []float64{0}, still, a)
			rates(t+period, y, d, later)
			w.EnterPush(make([]float64, z.D))
			w.Push(t+period, y, longer, still, b)
			pd[j] = 0
			for i, x := range first[:z.N] {
				few := float64(least * max(sizes[i], math.Abs(a[i])))
				if math.Abs(a[i]-b[i]) > few && math.Abs(x-later[i]) <= float64(least*sizes[i]) {
					found[j] = true
				}
			}
		}
	})
	for at := range byParams {
		if found[at%width] {
			byParams[at] = math.NaN()
		}
	}
	o.only = p.named(found)
	return err
}

// moments calls do within some steps of the period.
func (o *cycle) moments(most int, do func(t float64, y, d []float64)) error {
	var r record.Reader
	r.Open(context.Background(), &o.run)
	var st solvers.Step
	var m solvers.Mark
	d, mark, steps := slices.Clone(o.from.D), 0, o.run.Steps()
	for n := range min(most, steps) {
		i := n * steps / min(most, steps)
		for ; mark < o.run.Marks(); mark++ {
			after, _, err := r.LoadMark(mark, &m)
			if err != nil {
				return err
			}
			if after >= i {
				break
			}
			copy(d, m.Dp)
		}
		if _, err := r.Load(i, &st); err != nil {
			return err
		}
		do(math.FMA(st.H, 1/math.Phi, st.T), slices.Clone(st.Y0), d)
	}
	return nil
}
