package lag

import (
	"context"
	"errors"
	"math"
	"slices"

	"odes.dev/odes/internal/base/sizes"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/model"

	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/steady"
)

// place is what a model reads of its past, with the places of it: Copies of Len elements from From of the states, or of
// the discretes, at To behind the states, one for each delay from Delay on.
type place struct {
	From, Len, To, Copies int
	Discrete              bool
	Delay                 int // among the discretes, or among the delays that move
	Of                    *model.Lag
}

// placesOf lists what m reads of its past.
func placesOf(m *model.Model) (list []place) {
	states, discretes, moving := firsts(m.States), firsts(m.Discretes), firsts(model.MovingDelays(m.Lags))
	to := 0
	for _, s := range m.States {
		to += s.Type.Shape.Size()
	}
	for _, l := range m.Lags {
		x := place{
			From: states[l.State], Len: l.State.Type.Shape.Size(), To: to, Copies: l.Delay.Type.Shape.Size(),
			Discrete: l.State.Kind == model.DiscreteSymbol, Delay: discretes[l.Delay], Of: l,
		}
		if x.Discrete {
			x.From = discretes[l.State]
		}
		if l.Moves {
			x.Delay = moving[l.Delay]
		}
		to += x.Len * x.Copies
		list = append(list, x)
	}
	return list
}

// firsts returns where symbols lie in their vector.
func firsts(list []*model.Symbol) map[*model.Symbol]int {
	out, at := map[*model.Symbol]int{}, 0
	for _, s := range list {
		out[s] = at
		at += s.Type.Shape.Size()
	}
	return out
}

// present is a worker that reads the present in the place of the past. At a steady state these are the same.
type present struct {
	*system.Worker
	l      int       // lanes
	d      []float64 // the discretes
	lags   []place
	places *matrices.Jacobian // of a full matrix
	y      []float64          // the state and what is read, in lanes where they are moved
	yd, kd []float64
	k      []float64
	dd     []float64
	td     []float64
}

// newPresent returns a worker, of a kit with tangents, that reads the present. Behind the states are so many lags.
func newPresent(w *system.Worker, list []place, lags int) *present {
	z, l := w.Size(), w.Lanes()
	x := &present{Worker: w, l: l, lags: list}
	all := z.N + lags
	v := func(n int) []float64 { return make([]float64, n) }
	x.d, x.y, x.yd, x.kd, x.k = v(z.D), v(all), v(all*l), v((z.N+z.Q)*l), v(z.N+z.Q)
	x.dd, x.td = v(z.D*l), v(l)
	x.places = &matrices.Jacobian{}
	for col := range z.N + 1 { // and by the time
		for row := range z.N {
			x.places.Rows, x.places.Cols = append(x.places.Rows, int32(row)), append(x.places.Cols, int32(col))
		}
	}
	w.SetTangent(v(z.P * l))
	return x
}

// Enter implements solvers.System.
func (x *present) Enter(d, m []float64) {
	copy(x.d, d)
	x.Worker.Enter(d, m)
}

// extended writes y and what is read of the present into to, each element of n numbers; d are the discretes.
func extended(lags []place, y, d, to []float64, n int) []float64 {
	copy(to, y)
	for _, x := range lags {
		from := y
		if x.Discrete {
			from = d
		}
		for k := range x.Copies {
			copy(to[(x.To+k*x.Len)*n:][:x.Len*n], from[x.From*n:])
		}
	}
	return to
}

// folded transposes extended: it adds cotangents of what is read to those of states, which come first in yb, and of
// discretes.
func folded(lags []place, yb, db []float64, n int) {
	for _, x := range lags {
		to := yb
		if x.Discrete {
			to = db
		}
		for k := range x.Copies {
			for e, v := range yb[(x.To+k*x.Len)*n:][:x.Len*n] {
				to[x.From*n+e] += v
			}
		}
	}
}

// here returns the state y with what is read.
func (x *present) here(y []float64) []float64 {
	return extended(x.lags, y[:x.Size().N], x.d, x.y, 1)
}

// Eval implements solvers.Field.
func (x *present) Eval(t float64, y, k []float64) { x.Worker.Eval(t, x.here(y), k) }

// Choose implements solvers.System.
func (x *present) Choose(t float64, y []float64, kept []bool, m []float64) {
	x.Worker.Choose(t, x.here(y), kept, m)
}

// GuardValues implements solvers.System.
func (x *present) GuardValues(t float64, y, rho []float64, truth []bool) {
	x.Worker.GuardValues(t, x.here(y), rho, truth)
}

// Jacobian implements matrices.JacobianField.
func (x *present) Jacobian() *matrices.Jacobian { return x.places }

// EvalJacobian implements matrices.JacobianField, by tangents.
func (x *present) EvalJacobian(t float64, y, j []float64) {
	n := x.Size().N
	x.columns(t, y, n+1, func(c int, yd, td []float64, lane int) {
		if c == n {
			td[lane] = 1
			return
		}
		yd[c*x.l+lane] = 1
		for _, g := range x.lags {
			if k := c - g.From; !g.Discrete && k >= 0 && k < g.Len {
				for i := range g.Copies {
					yd[(g.To+i*g.Len+k)*x.l+lane] = 1
				}
			}
		}
	}, func(c int, column []float64) { copy(j[c*n:], column) })
}

// columns makes so many columns of derivatives at (t, y): along sets the direction of a column in a lane, and take
// takes the column.
func (x *present) columns(
	t float64, y []float64, count int, along func(c int, yd, td []float64, lane int),
	take func(c int, column []float64),
) {
	l, n := x.l, x.Size().N
	here := x.here(y)
	x.EnterPush(x.dd)
	column := make([]float64, n)
	for first := 0; first < count; first += l {
		clear(x.yd)
		clear(x.td)
		for lane := 0; lane < l && first+lane < count; lane++ {
			along(first+lane, x.yd, x.td, lane)
		}
		x.Worker.Push(t, here, x.td, x.yd, x.kd)
		for lane := 0; lane < l && first+lane < count; lane++ {
			for i := range column {
				column[i] = x.kd[i*l+lane]
			}
			take(first+lane, column)
		}
	}
}

// Lags implements steady.Delayed.
func (x *present) Lags(t float64, y []float64) *steady.Lags {
	n := x.Size().N
	g := &steady.Lags{Now: make([]float64, n*n)}
	d := x.d
	of := func(tau float64) []float64 {
		if i := slices.Index(g.Tau, tau); i >= 0 {
			return g.Then[i]
		}
		g.Tau, g.Then = append(g.Tau, tau), append(g.Then, make([]float64, n*n))
		return g.Then[len(g.Then)-1]
	}
	type source struct {
		to  []float64
		col int
	}
	from := make([]source, len(x.y))
	for i := range n {
		from[i] = source{g.Now, i}
	}
	for _, c := range x.lags {
		for k := range c.Copies {
			to := of(d[c.Delay+k])
			for e := range c.Len {
				if at := &from[c.To+k*c.Len+e]; !c.Discrete {
					*at = source{to, c.From + e}
				}
			}
		}
	}
	x.columns(t, y, len(from), func(c int, yd, _ []float64, lane int) { yd[c*x.l+lane] = 1 },
		func(c int, column []float64) {
			if from[c].to == nil { // a discrete
				return
			}
			for i, v := range column {
				from[c].to[i*n+from[c].col] += v
			}
		})
	return g
}

var _ steady.Delayed = (*present)(nil)

// resting is system.Past.
type resting struct {
	rec  *Record
	runs GoesOnBy
	name func(i int) string
	now  *present
}

// Rests returns what finds steady states of a model that reads its past, where runs goes on.
func Rests(rec *Record, name func(state int) string, runs GoesOnBy) system.Past {
	return &resting{rec: rec, runs: runs, name: name}
}

// Plan implements system.Past.
func (r *resting) Plan(w *system.Worker, laws []steady.Law) *steady.Plan {
	r.now = newPresent(w, r.rec.list, r.rec.lags)
	return steady.NewPlan(w.Size().N, r.now.places, laws)
}

// Resting implements system.Past.
func (r *resting) Resting(at *steady.State) []float64 {
	return extended(r.rec.list, at.Y, at.D, make([]float64, r.rec.n+r.rec.lags), 1)
}

// Push implements system.Past.
func (r *resting) Push(w *system.Worker, at *steady.State, t float64, yd, dd, kd []float64) {
	l := w.Lanes()
	yd = extended(r.rec.list, yd[:r.rec.n*l], dd, make([]float64, (r.rec.n+r.rec.lags)*l), l)
	w.Push(t, r.Resting(at), make([]float64, l), yd, kd)
}

// Pull implements system.Past.
func (r *resting) Pull(w *system.Worker, at *steady.State, t float64, kb, db []float64) {
	l, all := w.Lanes(), r.rec.n+r.rec.lags
	yb := make([]float64, all*l)
	w.Pull(t, r.Resting(at), kb, yb, make([]float64, l))
	folded(r.rec.list, yb, db, l)
}

// GoesOnBy continues a run that reads its past from its end, with state y and discretes d at t: it calls visit at the
// end of each step, until that is done or fails.
type GoesOnBy func(ctx context.Context, t float64, y, d []float64, visit Visit) error

// Visit is shown the end of a step, and the longest delay.
type Visit func(t float64, y []float64, longest float64) (done bool, err error)

// Find implements system.Past: the steady state is that at which the run has been, within a thousandth of the size of
// each state, for as long as its longest delay. Newton's method finds it.
func (r *resting) Find(
	ctx context.Context, plan *steady.Plan, t float64, y, d []float64, o steady.Options,
) (*steady.State, error) {
	const near = 1e-3
	o.Way, o.From = steady.Newton, nil
	rtol, atol := o.RTol, []float64{1e-9}
	if rtol == 0 {
		rtol = 1e-6
	}
	if o.ATol != nil {
		atol = o.ATol
	}
	ref, since, again := slices.Clone(y), t, t
	largest := make([]float64, len(y))
	apart := func(a, b []float64, by float64) int { // the first state, -1 for none
		for i, x := range a {
			abs := atol[min(i, len(atol)-1)]
			if abs < 0 {
				abs = float64(sizes.Part * rtol * largest[i])
			}
			if !(math.Abs(x-b[i]) <= math.FMA(by, max(math.Abs(x), math.Abs(b[i])), abs)) {
				return i
			}
		}
		return -1
	}
	var found *steady.State
	var why error
	steps, last, moving := 0, t, 0
	err := r.runs(ctx, t, y, d, func(at float64, now []float64, longest float64) (bool, error) {
		steps, last = steps+1, at
		for i, x := range now {
			largest[i] = max(largest[i], math.Abs(x))
		}
		if i := apart(now, ref, near/2); i >= 0 {
			copy(ref, now)
			since, moving = at, i
		}
		if at-since < longest || at < again {
			return false, nil
		}
		again = at + max(longest, float64(0.1*(at-t)))
		state, err := steady.Find(ctx, r.now, plan, t, now, d, o)
		var fault *steady.Error
		if err != nil && !errors.As(err, &fault) {
			return false, err
		}
		if why = err; err != nil {
			return false, nil // the run may leave it
		}
		if apart(now, state.Y, near) >= 0 || apart(ref, state.Y, near) >= 0 {
			return false, nil
		}
		found = state
		return true, nil
	})
	switch {
	case err != nil:
		return nil, err
	case found == nil && why != nil:
		return nil, why
	case found == nil:
		return nil, &steady.Error{
			Fault: steady.Slow, T: last - t, States: []string{r.name(moving)},
		}
	}
	found.T, found.Steps = last-t, steps
	return found, nil
}
