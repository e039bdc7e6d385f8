package system

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/mat"

	"odes.dev/odes/internal/linalg"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/steady"
	"odes.dev/odes/tapec"
)

// A periodic steady state is a fixed point of the map from the start of a period to its end: y* = Φ(y*, p). It is
// found by shooting: Newton's method with the derivatives of the run over one period. Its own derivatives follow from
// them: ∂y*/∂p = (I - Φ_y)⁻¹ Φ_p. A period begins where the run proper does, with what happens there; what
// happens at its end belongs to the next one.

// Shooting says how runs over one period are made.
type Shooting struct {
	Method  func(lanes int) solvers.Method
	Control func(m solvers.Info) solvers.Controller // nil for steps of fixed length
	Options solvers.Options
}

// orbit is a periodic steady state, and how it was found.
type orbit struct {
	version int
	firing  solvers.Firing
	t       float64
	d       []float64 // discretes at the start of a period
	state   *steady.State
	run     solvers.Trajectory // one period
	by      map[string][]float64
	bends   []float64 // second derivatives, once they were wanted
}

// overPeriod is a worker over one period. It begins at y, with the discretes that the assignments leave.
type overPeriod struct {
	*Worker
	of    *orbit
	y     []float64
	every int // the instant that holds the period
	limit int // an instant more: up to when periodic events happen
	list  []solvers.Instant
	work  []float64
}

func (p *Problem) overPeriod(w *Worker, of *orbit, y []float64) *overPeriod {
	o := &overPeriod{Worker: w, of: of, y: y}
	for i, in := range p.Model.Compiled.InstantList {
		if in.Kind == tapec.ValueOf && in.Event == of.firing.Event {
			o.every = i
		}
	}
	o.list = slices.Clone(w.Instants())
	o.limit = len(o.list)
	for i := range o.list {
		if in := &o.list[i]; in.Kind == solvers.InstantEvery && in.To < 0 {
			in.To = o.limit
		}
	}
	o.list[1].Fixed = o.list[0].Fixed && o.list[o.every].Fixed
	o.list = append(o.list, solvers.Instant{
		Kind: solvers.InstantValue, Event: -1, Period: -1, To: -1, Count: -1, Fixed: true,
	})
	o.work = make([]float64, len(o.list)*max(w.lanes, 1))
	return o
}

// Instants implements solvers.System.
func (o *overPeriod) Instants() []solvers.Instant { return o.list }

// Events implements solvers.System.
func (o *overPeriod) Events() []solvers.Event {
	list := o.Worker.Events()
	for i := range list {
		list[i].After = false
	}
	return list
}

// InstantTimes implements solvers.System.
func (o *overPeriod) InstantTimes(d, times []float64) {
	o.Worker.InstantTimes(d, times[:o.limit])
	end := times[0] + times[o.every]
	before := end - float64(1e-9*times[o.every]) // what happens at the end belongs to the next period
	times[1], times[o.limit] = end, before
	for i := range o.limit {
		switch in := &o.list[i]; {
		case in.Kind == solvers.InstantSite:
			times[i] = math.Inf(1)
		case in.Kind == solvers.InstantFire && !in.Pending:
			e := o.model.Checked.Events[in.Event]
			if e.Settles || e.Resumes || times[i] >= before {
				times[i] = math.Inf(1)
			}
		case in.Kind == solvers.InstantEvery && in.To != o.limit:
			times[in.To] = min(times[in.To], before)
		}
	}
}

// InstantPush implements solvers.TangentSystem.
func (o *overPeriod) InstantPush(i int, td []float64) {
	if i == o.limit {
		clear(td)
		return
	}
	if i != 1 {
		o.Worker.InstantPush(i, td)
		return
	}
	more := o.work[:len(td)]
	o.Worker.InstantPush(0, td)
	o.Worker.InstantPush(o.every, more)
	for l, x := range more {
		td[l] += x
	}
}

// InstantPull implements solvers.CotangentSystem.
func (o *overPeriod) InstantPull(i int, w []float64) {
	switch i {
	case o.limit:
	case 1:
		o.Worker.InstantPull(0, w)
		o.Worker.InstantPull(o.every, w)
	default:
		o.Worker.InstantPull(i, w)
	}
}

// Start implements solvers.System.
func (o *overPeriod) Start(t0 float64, y, d []float64) {
	o.Worker.Start(t0, y, d)
	ym, dm := slices.Clone(y), slices.Clone(d)
	o.assign(o.of.firing, t0, ym, dm, y, d)
	copy(y, o.y)
}

// left returns the initial values before the assignments.
func (o *overPeriod) left(t0 float64) (ym, dm []float64) {
	z := o.Size()
	ym, dm = make([]float64, z.N), make([]float64, z.D)
	o.Worker.Start(t0, ym, dm)
	return ym, dm
}

// StartPush implements solvers.TangentSystem.
func (o *overPeriod) StartPush(t0 float64, td, yd, dd []float64) {
	ym, dm := o.left(t0)
	o.Worker.StartPush(t0, td, yd, dd)
	o.assignPush(o.of.firing, t0, ym, dm, td, slices.Clone(yd), slices.Clone(dd), yd, dd)
	clear(yd)
}

// StartPull implements solvers.CotangentSystem.
func (o *overPeriod) StartPull(t0 float64, yb, db, tb []float64) {
	ym, dm := o.left(t0)
	ymb, dmb := make([]float64, len(yb)), make([]float64, len(db))
	o.assignPull(o.of.firing, t0, ym, dm, make([]float64, len(yb)), db, ymb, dmb, tb)
	o.Worker.StartPull(t0, ymb, dmb, tb)
}

// finals are objectives: the states at the end of a period.
type finals struct{ q, n, lanes int }

func (f finals) Counts() (functionals, objectives int) { return f.q + f.n, f.n }

func (f finals) Observes(kind sens.SiteKind, _ int) bool { return kind == sens.SiteFinal }

func (f finals) Observe(pt *sens.Point, functionals []float64) {
	copy(functionals[f.q:], pt.Yp)
}

func (f finals) Values(functionals, psi []float64) { copy(psi, functionals[f.q:]) }

func (f finals) ValuesPull(_ []float64, first int, fb []float64) {
	clear(fb)
	for l := 0; l < f.lanes && first+l < f.n; l++ {
		fb[(f.q+first+l)*f.lanes+l] = 1
	}
}

func (f finals) ObservePull(_ *sens.Point, fb, _, _, ypb, _, _ []float64) {
	for i, x := range fb[f.q*f.lanes:] {
		ypb[i] += x
	}
}

func (f finals) ObservePush(_ *sens.Point, _, _, _, ypd, _, fd []float64) {
	for i, x := range ypd {
		fd[f.q*f.lanes+i] += x
	}
}

func (f finals) ValuesPush(_, fd, psid []float64) { copy(psid, fd[f.q*f.lanes:]) }

// complexFinals are finals in complex arithmetic.
type complexFinals struct{ finals }

func (f complexFinals) Observe(_ sens.Site, _ complex128, _, _, yp, _, functionals []complex128) {
	copy(functionals[f.q:], yp)
}

func (f complexFinals) Values(functionals, psi []complex128) { copy(psi, functionals[f.q:]) }

func (p *Problem) finals(lanes int) finals {
	z := p.Size()
	return finals{z.Q, z.N, lanes}
}

// record runs over one period from y.
func (p *Problem) record(of *orbit, y []float64) error {
	k, err := p.Kit(1, Values, false)
	if err != nil {
		return err
	}
	sys := p.overPeriod(p.Worker(k), of, y)
	times := make([]float64, len(sys.list))
	if sys.InstantTimes(of.d, times); !(times[sys.every] > 0) {
		what := fmt.Sprintf("the period is %s, and must be positive", diag.Number(times[sys.every]))
		return &solvers.TimeError{Instant: sys.every, Value: times[sys.every], Message: what}
	}
	method := p.Shooting.Method(0)
	var ctl solvers.Controller
	if p.Shooting.Control != nil {
		ctl = p.Shooting.Control(method.Info())
	}
	opts := p.Shooting.Options
	opts.QuadTol, opts.Quadratures, opts.Also = -1, []int{}, nil
	of.run.Replayer = func() (solvers.System, solvers.Method) {
		return p.overPeriod(p.Worker(k), of, y), p.Shooting.Method(0)
	}
	_, err = solvers.Solve(context.Background(), sys, method, ctl, opts, &of.run)
	return err
}

// The ways to derivatives over a period.
const (
	byTangent = "tangent"
	byAdjoint = "adjoint"
	byComplex = "complex"
)

// moves returns how the end of a recorded period moves: with the active params, [N][P], and with its start, [N][N].
func (p *Problem) moves(of *orbit, y []float64, way string, lanes int) (byParams, byStart []float64, err error) {
	var method sens.Method
	lanes = max(lanes, 1)
	switch way {
	case byAdjoint:
		k, err := p.Kit(lanes, Pull, false)
		if err != nil {
			return nil, nil, err
		}
		method = &sens.Adjoint{New: func() sens.CotangentWorker {
			return sens.CotangentWorker{
				System: p.overPeriod(p.Worker(k), of, y), Objectives: p.finals(lanes), Method: p.Shooting.Method(lanes),
			}
		}}
	case byComplex:
		k, err := p.Kit(1, Values, false)
		if err != nil {
			return nil, nil, err
		}
		method = &sens.ComplexStep{New: func() sens.ComplexWorker {
			real := p.overPeriod(p.Worker(k), of, y)
			return sens.ComplexWorker{
				System: &complexOverPeriod{p.ComplexWorker(), real}, Objectives: complexFinals{p.finals(1)},
				Method: p.Shooting.Method(0), Params: p.ActiveValues(), RealSystem: real, RealObjectives: p.finals(1),
			}
		}}
	default:
		k, err := p.Kit(lanes, PushElements, false)
		if err != nil {
			return nil, nil, err
		}
		method = &sens.Tangent{New: func() sens.TangentWorker {
			return sens.TangentWorker{
				System: p.overPeriod(p.Worker(k), of, y), Objectives: p.finals(lanes), Method: p.Shooting.Method(lanes),
			}
		}}
	}
	var res sens.Result
	err = method.Gradient(context.Background(), &of.run, sens.Options{Initial: true, Events: -1}, &res)
	return res.DP, res.DY0, err
}

// complexOverPeriod is overPeriod in complex arithmetic.
type complexOverPeriod struct {
	*ComplexWorker
	real *overPeriod
}

// Start implements solvers.ComplexSystem.
func (o *complexOverPeriod) Start(t0 complex128, y, d []complex128) {
	o.ComplexWorker.Start(t0, y, d)
	o.assign(o.real.of.firing, t0, slices.Clone(y), slices.Clone(d), y, d)
	for i, x := range o.real.y {
		y[i] = complex(x, 0)
	}
}

// Instant implements solvers.ComplexSystem.
func (o *complexOverPeriod) Instant(i int) complex128 {
	switch i {
	case 1:
		return o.ComplexWorker.Instant(0) + o.ComplexWorker.Instant(o.real.every)
	case o.real.limit:
		return 0
	}
	return o.ComplexWorker.Instant(i)
}

// closing returns the factors of I - Φ_y.
func closing(n int, byStart []float64) (linalg.LU, error) {
	a, err := linalg.Analyze(linalg.Full(n), linalg.Options{Method: linalg.Dense})
	if err != nil {
		return nil, err
	}
	values := make([]float64, n*n)
	for i := range n {
		for j := range n {
			if values[j*n+i] = -byStart[i*n+j]; i == j {
				values[j*n+i]++
			}
		}
	}
	lu := a.New()
	return lu, lu.Factor(values)
}

// shoot finds the periodic steady state that a run from y with discretes d leads to. A warm search begins at from,
// a periodic state for other values; where that does not lead to one at once, it fails.
func (p *Problem) shoot(f solvers.Firing, t float64, y, d, from []float64) (*orbit, error) {
	const (
		ahead  = 3  // periods before Newton's method
		atOnce = 10 // of a warm search
		more   = 20 // periods after a step that led nowhere
	)
	most := 400 // periods
	of := &orbit{version: p.Point.version, firing: f, t: t, d: slices.Clone(d), by: map[string][]float64{}}
	n := len(y)
	tolerance := func(i int) float64 {
		o := &p.Steady
		return math.FMA(o.RTol, math.Abs(y[i]), o.ATol[min(i, len(o.ATol)-1)])
	}
	y = slices.Clone(y)
	names := func(size func(i int) float64) []string {
		worst := 0
		for i := range n {
			if size(i) > size(worst) {
				worst = i
			}
		}
		return []string{p.Model.StateName(worst)}
	}
	// The ends of successive periods since Newton's method was tried, and those of the last time when there were many.
	var ends, free [][]float64
	plain, count, last := ahead, 0, math.Inf(1)
	if from != nil {
		plain, most = 0, atOnce
		copy(y, from)
	}
	var end, change, before []float64
	for count < most {
		if err := p.record(of, y); err != nil {
			return nil, &steady.Error{Fault: steady.Broken, Cause: err}
		}
		count++
		if name := p.delayed(of); name != "" {
			return nil, &steady.Error{Fault: steady.Delayed, States: []string{name}}
		}
		end = of.end(end)
		before, change = change, make([]float64, n)
		rest := 0.0
		for i := range n {
			change[i] = end[i] - y[i]
			rest = max(rest, math.Abs(change[i])/tolerance(i))
		}
		if plain > 0 && rest > 1 {
			plain--
			copy(y, end)
			last = math.Inf(1)
			if ends = append(ends, slices.Clone(end)); len(ends) == more {
				free = ends
			}
			continue
		}
		_, byStart, err := p.moves(of, y, byTangent, min(n, 8))
		if err != nil {
			return nil, &steady.Error{Fault: steady.Broken, Cause: err}
		}
		lu, err := closing(n, byStart)
		if err != nil {
			most := names(func(i int) float64 { return math.Abs(y[i]) })
			return nil, &steady.Error{Fault: steady.Marginal, States: most}
		}
		delta := slices.Clone(change)
		lu.Solve(delta, 1)
		size, sound := 0.0, true
		for i, x := range delta {
			size = max(size, math.Abs(x)/tolerance(i))
			sound = sound && x-x == 0 && !(y[i] >= 0 && end[i] >= 0 && y[i]+x < -tolerance(i))
		}
		if !sound || size > last && size > 100 {
			plain, ends = more, nil
			copy(y, end)
			continue
		}
		if size <= 1e-3 || size <= 1 && size > last/4 {
			largest, err := multipliers(n, byStart, names)
			if err != nil {
				return nil, err
			}
			of.state = &steady.State{Y: y, D: of.d, Periods: count, Slowest: largest}
			return of, nil
		}
		for i, x := range delta {
			y[i] += x
		}
		last = size
	}
	if n := len(free); n > 0 { // between them no step of Newton's method moved the state
		for i := range change {
			before[i], change[i] = (free[n-1][i]-free[0][i])/float64(n-1), free[n-1][i]-free[n-2][i]
		}
	}
	grows := before != nil
	for i := range n {
		grows = grows && math.Abs(change[i]-before[i]) <= float64(0.05*math.Abs(change[i]))+tolerance(i)
	}
	moving := names(func(i int) float64 { return math.Abs(change[i]) / tolerance(i) })
	if grows {
		worst := 0
		for i, x := range change {
			if math.Abs(x) > math.Abs(change[worst]) {
				worst = i
			}
		}
		rate := change[worst] / of.length()
		return nil, &steady.Error{Fault: steady.Growing, States: moving, Linear: true, Rate: rate}
	}
	if repeats, apart := apart(free, tolerance); apart {
		return nil, &steady.Error{Fault: steady.Apart, States: moving, Period: of.length(), Repeats: repeats}
	}
	return nil, &steady.Error{Fault: steady.Slow, States: moving, T: float64(float64(count) * of.length())}
}

// apart reports whether the states at the ends of successive periods move on without coming to rest, and after how many
// periods they repeat, 0 for none.
func apart(ends [][]float64, tolerance func(i int) float64) (repeats int, moves bool) {
	n := len(ends)
	if n < 10 {
		return 0, false
	}
	distance := func(a, b int) float64 {
		most := 0.0
		for i, x := range ends[a] {
			most = max(most, math.Abs(x-ends[b][i])/tolerance(i))
		}
		return most
	}
	early, late := 0.0, 0.0
	for k := 1; k <= n/2; k++ {
		early, late = max(early, distance(k, k-1)), max(late, distance(n-k, n-k-1))
	}
	if late < 0.9*early {
		return 0, false
	}
	for k := 2; k <= n/2; k++ {
		if distance(n-1, n-1-k) <= 1e-3*late {
			return k, true
		}
	}
	return 0, true
}

// end returns the state at the end of the recorded period.
func (of *orbit) end(y []float64) []float64 {
	var r solvers.Reader
	r.Open(context.Background(), &of.run)
	var m solvers.Mark
	_, _, _ = r.LoadMark(of.run.Marks()-1, &m)
	return append(y[:0], m.Yp...)
}

// delayed returns the name of an event that waits at the end of the recorded period for its execution; "" for none.
func (p *Problem) delayed(of *orbit) string {
	var r solvers.Reader
	r.Open(context.Background(), &of.run)
	var m solvers.Mark
	_, _, _ = r.LoadMark(of.run.Marks()-1, &m)
	k, err := p.Kit(1, Values, false)
	if err != nil {
		return ""
	}
	w := p.Worker(k)
	list := w.Instants()
	times := make([]float64, len(list))
	w.InstantTimes(m.Dp, times)
	for i, in := range list {
		if in.Pending && times[i] < solvers.Never {
			return p.Model.Checked.Events[in.Event].Name
		}
	}
	return ""
}

// length returns how long the recorded period is.
func (of *orbit) length() float64 { return of.run.Ends() - of.run.Begins() }

// multipliers returns the largest multiplier of a periodic state, an eigenvalue of Φ_y; NaN where it was not found. It
// refuses a state that is not stable: some multiplier is not within the unit circle.
func multipliers(
	n int, byStart []float64, names func(size func(i int) float64) []string,
) (largest complex128, err error) {
	var eigen mat.Eigen
	if !eigen.Factorize(mat.NewDense(n, n, slices.Clone(byStart)), mat.EigenRight) {
		return cmplx.NaN(), nil
	}
	var vectors mat.CDense
	eigen.VectorsTo(&vectors)
	for k, v := range eigen.Values(nil) {
		if cmplx.Abs(v) > cmplx.Abs(largest) {
			largest = v
		}
		size := func(i int) float64 { return cmplx.Abs(vectors.At(i, k)) }
		switch r := cmplx.Abs(v); {
		case r > 1+1e-9:
			return v, &steady.Error{Fault: steady.Unstable, Rate: math.Log(r), States: names(size)}
		case r > 1-1e-9:
			return v, &steady.Error{Fault: steady.Marginal, States: names(size)}
		}
	}
	return largest, nil
}

// orbit returns the periodic steady state that a run from y with discretes d leads to.
func (p *Problem) orbit(f solvers.Firing, t float64, y, d []float64) (*orbit, error) {
	s := &p.settling
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.orbit; o != nil && o.version == p.Point.version && o.t == t && slices.Equal(o.d, d) {
		s.err = nil
		return o, nil
	}
	near := s.near
	if s.orbit != nil {
		near = s.orbit.state.Y
	}
	var o *orbit
	err := error(nil)
	done := SteadyWork{Searches: 1}
	if p.Warm && p.Steady.Way != steady.Run && len(near) == len(y) {
		if o, err = p.shoot(f, t, y, d, near); err == nil {
			o.state.Warm, done.Warm = true, 1
		}
	}
	if o == nil || err != nil {
		o, err = p.shoot(f, t, y, d, nil)
	}
	if s.err = err; err != nil {
		return nil, err
	}
	done.Periods = o.state.Periods
	p.Answers.count(done)
	s.orbit = o
	return o, nil
}

// slopes returns the derivatives of the periodic steady state by the active params, [N][P].
func (p *Problem) slopes(o *orbit, way string, lanes int) []float64 {
	s := &p.settling
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := o.by[way]; x != nil {
		return x
	}
	n := len(o.state.Y)
	byParams, byStart, err := p.moves(o, o.state.Y, way, lanes)
	var lu linalg.LU
	if err == nil {
		lu, err = closing(n, byStart)
	}
	if err != nil {
		byParams = slices.Repeat([]float64{math.NaN()}, n*p.plan.width)
	} else {
		lu.Solve(byParams, p.plan.width)
	}
	o.by[way] = byParams
	return byParams
}
