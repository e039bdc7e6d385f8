package system

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/orbit"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/steady"
	"odes.dev/odes/tapec"
)

// settle replaces the state by the steady one. Where there is none, the state is not a number.
func (w *Worker) settle(f solvers.Firing, t float64, y, d []float64) {
	if w.periodic(f) {
		if o, err := w.problem.orbit(f, t, y, d); err != nil {
			y[0] = math.NaN()
		} else {
			copy(y, o.state.Y)
			copy(d, o.state.D)
		}
		return
	}
	state, err := w.problem.settle(w.Moment(f.Event), t, y, d)
	if err != nil {
		spoil(y)
		return
	}
	copy(y, state.Y)
	copy(d, state.D)
}

// periodic reports whether an event that settles leads to a periodic state.
func (w *Worker) periodic(f solvers.Firing) bool {
	return w.model.Checked.Events[f.Event].Period != nil
}

// cycleAt returns the periodic steady state after the assignments of f.
func (w *Worker) cycleAt(f solvers.Firing, t float64, ym, dm []float64) *cycle {
	y, d := slices.Clone(ym), slices.Clone(dm)
	w.assign(f, t, ym, dm, y, d)
	o, err := w.problem.orbit(f, t, y, d)
	if err != nil {
		panic("system: the run found a periodic state: " + err.Error())
	}
	return o
}

// motionAt returns how that state moves.
func motionAt(w *Worker, f solvers.Firing, t float64, ym, dm []float64, way string) *orbit.Motion {
	o := w.cycleAt(f, t, ym, dm)
	return &orbit.Motion{Border: o.from, Width: w.Kit.Plan.Width, Slopes: w.problem.slopes(o, way, w.Width)}
}

// atRest is what a worker differentiates steady states with.
type atRest struct {
	of     *steady.State
	strays *strays // of that state
	linear *steady.Linear
	flow   *steady.Flow // in place of linear for first derivatives, if the problem asks for it
	y, d   []float64    // after the assignments
	modes  []float64    // of the left limit
	rates  []float64    // [(N+Q)·L]
	moves  []float64    // [max(N, D)·L]
	time   []float64    // [L]
	yb, db []float64    // [N·L], [D·L]
}

// restAt returns the steady state after the assignments of f at (t, ym, dm), and enters it. leave goes back.
func (w *Worker) restAt(f solvers.Firing, t float64, ym, dm []float64) *atRest {
	r, z := w.rest, w.Size()
	if r == nil {
		l := w.Width
		r = &atRest{
			y: make([]float64, z.N), d: make([]float64, z.D), modes: make([]float64, z.M),
			rates: make([]float64, (z.N+z.Q)*l), moves: make([]float64, z.N*l), time: make([]float64, l),
			yb: make([]float64, z.N*l), db: make([]float64, z.D*l),
		}
		w.rest = r
	}
	w.assign(f, t, ym, dm, r.y, r.d)
	state, err := w.problem.settle(w.Moment(f.Event), t, r.y, r.d)
	if err != nil {
		panic("system: the run found a steady state: " + err.Error())
	}
	if r.of != state {
		if r.linear, err = w.problem.settling.plan.NewLinear(state.Matrix); err != nil {
			panic("system: the steady state was determined: " + err.Error())
		}
		if r.flow = nil; w.problem.SteadyFlow > 0 {
			if r.flow, err = w.problem.settling.plan.NewFlow(state, w.problem.SteadyFlow); err != nil {
				panic("system: the steady state is stable: " + err.Error())
			}
		}
		r.of, r.strays = state, w.problem.strays(w.Moment(f.Event), state, r.linear, t)
	}
	copy(r.modes, w.In[tapec.Primal][vec.M])
	w.Enter(state.D, state.M)
	return r
}

// settlePush pushes tangents of the state after the assignments of f through the search, by the implicit function
// theorem: M ẏ* = (-ḟ, C ẏ).
func (w *Worker) settlePush(f solvers.Firing, t float64, ym, dm, td, yd, dd []float64) {
	if w.periodic(f) {
		motionAt(w, f, t, ym, dm, byTangent).Push(w.Width, w.dot.p, td, yd, dd)
		return
	}
	r := w.restAt(f, t, ym, dm)
	w.EnterPush(dd)
	clear(r.moves)
	clear(r.time)
	if p := w.problem.Past; p != nil {
		p.Push(w, r.of, t, r.moves, dd, r.rates)
	} else {
		w.Push(t, r.of.Y, r.time, r.moves, r.rates)
	}
	rates := r.rates[:len(yd)]
	before := slices.Clone(yd)
	if r.flow == nil {
		r.linear.Push(rates, yd, w.Width)
	} else if w.flows(r, r.flow.Push(rates, yd, w.Width)) != nil {
		spoil(rates)
	}
	copy(yd, rates)
	r.strays.push(w.Width, w.dot.p, before, dd, yd)
	w.Enter(dm, r.modes)
}

// settlePull is the transpose of settlePush: it returns cotangents of the state after the assignments of f.
func (w *Worker) settlePull(f solvers.Firing, t float64, ym, dm, yb, db, tb []float64) (_, _ []float64) {
	if w.periodic(f) {
		db = slices.Clone(db)
		motionAt(w, f, t, ym, dm, byAdjoint).Pull(w.Width, yb, db, w.later, tb)
		return make([]float64, len(yb)), db
	}
	r := w.restAt(f, t, ym, dm)
	clear(r.rates)
	rates := r.rates[:len(yb)]
	copy(rates, yb)
	if r.flow == nil {
		r.linear.Pull(rates, r.yb, w.Width)
	} else if w.flows(r, r.flow.Pull(rates, r.yb, w.Width)) != nil {
		spoil(rates)
	}
	w.Visit(-1)
	copy(r.db, db)
	if p := w.problem.Past; p != nil {
		p.Pull(w, r.of, t, r.rates, r.db)
	} else {
		w.Pull(t, r.of.Y, r.rates, r.moves, r.time)
	}
	w.Leave(r.db)
	r.strays.pull(w.Width, yb, w.later, r.yb, r.db)
	w.Enter(dm, r.modes)
	return r.yb, r.db
}

// flows counts the steps of an integration, and passes on its error.
func (w *Worker) flows(r *atRest, err error) error {
	s := &w.problem.settling
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flowed += r.flow.Steps
	r.flow.Steps = 0
	return err
}

// spoil makes derivatives that could not be computed what every reader notices.
func spoil(x []float64) {
	for i := range x {
		x[i] = math.NaN()
	}
}

// settlePullPush is settlePull with tangents. With μ = M⁻ᵀȳ, the tangent is μ̇ = M⁻ᵀ(ȳ̇ - Ṁᵀμ).
func (w *SecondWorker) settlePullPush(f solvers.Firing, t, ym, dm, yb, db, tb solvers.Dual) (_, _ solvers.Dual) {
	if w.periodic(f) {
		return w.periodPullPush(f, t, ym, dm, yb, db, tb)
	}
	z, l := w.Size(), w.Width
	// How the steady state moves.
	y, dd := solvers.NewDual(z.N, l), solvers.NewDual(z.D, l)
	w.assignPush(f, t.X[0], ym.X, dm.X, t.D, ym.D, dm.D, y.D, dd.D)
	w.settlePush(f, t.X[0], ym.X, dm.X, t.D, y.D, dd.D)
	r := w.restAt(f, t.X[0], ym.X, dm.X)
	copy(y.X, r.of.Y)
	w.EnterPush(dd.D)
	still := solvers.Dual{X: t.X, D: make([]float64, l)}

	rates, turned, time := solvers.NewDual(z.N+z.Q, l), solvers.NewDual(z.N, l), solvers.NewDual(1, l)
	before := solvers.NewDual(z.N, l)
	copy(rates.X, yb.X)
	r.linear.Pull(rates.X[:z.N], before.X, 1)
	w.PullPush(still, y, rates, turned, time) // with rates that do not move: -Ṁᵀμ, since their sign is turned
	moved := solvers.NewDual(z.N+z.Q, l)
	for i := range yb.D {
		if moved.D[i] = yb.D[i] + turned.D[i]; y.D[i] != y.D[i] {
			moved.D[i] = math.NaN()
		}
	}
	r.linear.Pull(moved.D[:z.N*l], before.D, l)
	w.PullPush(still, y, moved, turned, time)
	out := solvers.NewDual(z.D, l)
	out.Copy(db)
	w.Leave(out)
	r.strays.pullPush(l, yb.X, w.p, before, out)
	w.Enter(dm.X, r.modes)
	w.EnterPush(dm.D)
	return before, out
}

// settle is Worker.settle in complex arithmetic: Newton's method from a guess, the steady state of the recorded run.
func (w *ComplexWorker) settle(f solvers.Firing, t complex128, guess, y, d []complex128) {
	const most = 50
	p, n := w.problem, len(y)
	if o := p.settling.orbit; w.model.Checked.Events[f.Event].Period != nil { // to first order
		m := orbit.Motion{Border: o.from, Width: p.Plan.Width, Slopes: p.slopes(o, byComplex, 1)}
		var moves []complex128 // of the active params
		for _, name := range p.Active {
			from := w.model.Param(name).Offset
			for k := range p.Column(name).Len {
				moves = append(moves, w.vec[vec.P][from+k]-complex(p.Point.P[from+k], 0))
			}
		}
		m.Move(moves, t-complex(real(t), 0), y, d)
		return
	}
	parts := func(x []complex128) (re, im []float64) {
		re, im = make([]float64, len(x)), make([]float64, len(x))
		for i, v := range x {
			re[i], im[i] = real(v), imag(v)
		}
		return re, im
	}
	real0 := func(x []complex128) []float64 { re, _ := parts(x); return re }
	var state *steady.State
	for _, s := range p.Resting() { // that of the recorded run
		if s.Periods == 0 && slices.Equal(s.Y, real0(guess)) {
			state = s
		}
	}
	if state == nil {
		var err error
		if state, err = p.settle(w.model.Moment(f.Event), real(t), real0(y), real0(d)); err != nil {
			panic("system: the run found a steady state: " + err.Error())
		}
	}
	plan := p.settling.plan
	savedD, savedM := slices.Clone(w.vec[vec.D]), slices.Clone(w.vec[vec.M])
	w.Enter(d, state.M)
	z := make([]complex128, n)
	for i, x := range state.Y {
		z[i] = complex(x, 0)
	}
	size := p.Size()
	rates, entries := make([]complex128, size.N+size.Q), make([]complex128, len(p.Places().Rows))
	both := make([]float64, 2*n)
	re, im := parts(y)
	totals := [2][]float64{plan.Totals(re), plan.Totals(im)}
	linear, err := plan.NewLinear(state.Matrix)
	if err != nil {
		panic("system: the steady state was determined: " + err.Error())
	}
	before := math.Inf(1)
	for range most {
		w.Eval(complex(real(t), 0), z, rates)
		w.EvalJacobian(complex(real(t), 0), z, entries)
		if linear.Factor(plan.Matrix(real0(entries))) != nil {
			z[0] = complex(math.NaN(), 0)
			break
		}
		fr, fi := parts(rates)
		zr, zi := parts(z)
		left := make([]float64, n)
		plan.Residual(zr, fr, totals[0], left)
		for i, x := range left {
			both[2*i] = -x
		}
		plan.Residual(zi, fi, totals[1], left)
		for i, x := range left {
			both[2*i+1] = -x
		}
		linear.Solve(both, 2)
		change := 0.0
		for i := range z {
			z[i] += complex(both[2*i], both[2*i+1])
			change = max(change, steady.Ratio(both[2*i], real(z[i])), steady.Ratio(both[2*i+1], imag(z[i])))
		}
		if change == 0 || change < 1e-10 && change > before/2 {
			break
		}
		before = change
	}
	if p.strays(w.model.Moment(f.Event), state, linear, real(t)).moved(w, state, im, d) {
		z[0] = complex(real(z[0]), math.NaN())
	}
	copy(y, z)
	copy(w.vec[vec.D], savedD)
	w.vec[vec.D] = savedD
	copy(w.vec[vec.M], savedM)
}
