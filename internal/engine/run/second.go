package run

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/lag"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
)

// Second derivatives are products of Hessians with directions in the space of
// the wanted variables: all unit vectors for the Hessians themselves. sens.Second computes them for the
// active params and initial values. The chain rule for defaults that follow other params, and for
// totals of experiments, is applied here.

// curvature says which second derivatives a Runner computes.
type curvature struct {
	hessian   bool
	direction []float64 // [columns]; nil for none
}

// wantSecond finds out which second derivatives the settings ask for, and reports those that cannot be
// computed.
func (r *Runner) wantSecond(l *diag.List) {
	s, m := r.settings, r.model
	r.curve = curvature{hessian: s.Order == 2, direction: s.HVP.List}
	if s.HVP.Param != "" {
		params := compiled.Names(m.Checked.Params)
		if !slices.Contains(params, s.HVP.Param) {
			l.Errorf(settings.CodeSetting, s.HVP.Span,
				"sens.hvp names no param %q%s; it takes a list of numbers, or a param "+
					"that holds one", s.HVP.Param, diag.DidYouMean(s.HVP.Param, params))
			return
		}
		r.curve.direction = slices.Clone(r.problem.Point.Param(s.HVP.Param))
	}
	if n := len(r.curve.direction); n > 0 && n != r.columns {
		l.Errorf(settings.CodeSetting, s.HVP.Span, "sens.hvp has %s for %s (%s); it takes one for each, in this order",
			diag.Count(n, "number"), diag.Count(r.columns, "element"), m.listed(r.variables))
		return
	}
	if !r.wantsSecond() {
		return
	}
	lags := r.model.Checked.Lags
	if r.reading.past != nil && r.model.System.Settles() {
		l.Errorf(settings.CodeSetting, lags[0].Span, "a second derivative does not go yet with steady states of "+
			"models with delays; ask for first ones")
		return
	}
	if slices.ContainsFunc(r.curve.direction, func(x float64) bool { return x-x != 0 }) {
		l.Errorf(settings.CodeSetting, s.HVP.Span, "sens.hvp holds something that is not a finite number")
	}
	if !modeOf(s.Mode).Exact {
		l.Errorf(settings.CodeSetting, source.Span{},
			"second derivatives are those of the computed solution, and mode = %s differentiates the equations "+
				"first; use mode = adjoint or tangent for them, or sens.order = 1 and no hvp",
			s.Mode)
	}
	if len(r.problem.Peaks) > 0 {
		span := m.System.FunctionalSpan(r.problem.Peaks[0])
		l.Errorf(settings.CodeUnavailable, span,
			"max_over has no second derivatives in this version: they ask how the time "+
				"of the maximum moves; choose other objectives with --of, or the sens block's of")
	}
	directions := len(r.curve.direction) / max(r.columns, 1)
	if r.curve.hessian {
		directions += r.columns
	}
	limit := r.settings.MemoryLimit()
	// The results, and the rows by active params and initial values that they are gathered from.
	bytes := 8 * float64(len(r.objectives)) * float64(directions) * float64(2*r.columns+m.System.States()+r.columns)
	if bytes > float64(limit) {
		l.Errorf(explain.CodeMemory, source.Span{}, "the Hessians of %s by %s need %s, more than memory = %s; choose "+
			"fewer with --of and --wrt, ask for products with one direction (hvp) in place of order = 2, or raise "+
			"solver.memory",
			diag.Count(len(r.objectives), "objective"), diag.Count(r.columns, "variable"), diag.Bytes(bytes),
			diag.Bytes(float64(limit)))
	}
}

// listed names variables with their sizes: "k, A (4 elements), initial(x)".
func (m *Model) listed(list []result.Variable) string {
	var names []string
	for i, v := range list {
		if i == 8 && len(list) > 9 {
			names = append(names, "…")
			break
		}
		name := v.String()
		if n := v.Size(); n != 1 {
			name += " (" + diag.Count(n, "element") + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func (r *Runner) wantsSecond() bool { return r.curve.hessian || len(r.curve.direction) > 0 }

// differentiateTwice adds the second derivatives to s, the result of the run that r made last. reached is that of
// trust.Sides.
func (r *Runner) differentiateTwice(ctx context.Context, s *result.Sensitivities, reached []bool) error {
	c := r.columns
	count := 0
	if r.curve.hessian {
		count = c
	}
	of := func(k int) []float64 {
		if k == count {
			return r.curve.direction
		}
		v := make([]float64, c)
		v[k] = 1
		return v
	}
	all := count
	if len(r.curve.direction) > 0 {
		all++
	}
	var tell func(done float64, steps int)
	if report := r.setup.Progress; report != nil {
		var last time.Time
		tell = func(done float64, steps int) {
			if now := time.Now(); now.Sub(last) > 100*time.Millisecond {
				last = now
				report(result.Progress{Phase: "second", Done: done, Steps: steps})
			}
		}
	}
	products, stats, err := r.products(ctx, nil, all, of, tell, 1, nil)
	if err != nil {
		return err
	}
	if reached != nil && len(r.parts) == 0 && r.people == nil { // it may lack what experiments reach
		trust.ClearUnreached(products, reached, c, all, count)
	}
	s.Stats.SecondSteps = stats
	rows := len(r.objectives)
	s.Hessian, s.Asymmetry, s.Products, s.Direction = nil, nil, nil, nil
	if all > count {
		s.Direction = slices.Clone(r.curve.direction)
		s.Products = make([]float64, rows*c)
		for i := range rows {
			copy(s.Products[i*c:(i+1)*c], products[(i*all+count)*c:])
		}
	}
	if !r.curve.hessian {
		return nil
	}
	s.Hessian, s.Asymmetry = make([]float64, rows*c*c), make([]float64, rows)
	sizes := make([]float64, c)
	for i, size := range r.last.sizes() {
		v := r.variables[i]
		for k := range v.Size() {
			sizes[v.Offset+k] = size
		}
	}
	for i := range rows {
		h := s.Hessian[i*c*c : (i+1)*c*c]
		for k := range c {
			copy(h[k*c:(k+1)*c], products[(i*all+k)*c:])
		}
		s.Asymmetry[i] = linalg.Symmetrize(h, sizes)
	}
	return nil
}

// Products returns the Hessian of each objective times v, [objectives][columns], where the run was that Sensitivities
// made last. What was recorded is read once more; where it is not at hand any more, the run is made once more.
func (r *Runner) Products(ctx context.Context, v []float64) ([]float64, error) {
	if err := r.SetDirection(v); err != nil {
		return nil, err
	}
	past := r.reading.past
	if r.last != r || r.trajectory.Thinned() || len(r.parts) > 0 || r.people != nil || past != nil && past.Forgetful() {
		s, err := r.Sensitivities(ctx)
		if err != nil {
			return nil, err
		}
		return s.Products, nil
	}
	list, _, err := r.products(ctx, nil, 1, func(int) []float64 { return v }, nil, 1, nil)
	if err != nil {
		return nil, r.refused(err)
	}
	return list, nil
}

// products returns the products of the Hessian of each objective with count directions,
// [objectives][count][columns], and the number of steps crossed. sums, if not nil, are weights of sums of objectives,
// which take their places. of(k) is direction k, laid out like a row of the gradient. tell, if not nil, is told how
// much is done, by one goroutine at a time. sharing Runners share the memory. first, unless it is nil, takes
// first derivatives, which come along.
func (r *Runner) products(
	ctx context.Context, sums [][]float64, count int, of func(k int) []float64,
	tell func(done float64, steps int), sharing int, first *alongside,
) ([]float64, int, error) {
	r = r.last
	m, c := r.model, r.columns
	parts, steps, err := productsOfParts(ctx, r, count, of, tell)
	if err != nil {
		return nil, 0, err
	}
	move := func(k int) (v, totals []float64) {
		v = of(k)
		totals = make([]float64, len(m.Checked.Totals))
		for j := range totals {
			if len(r.sum.gradient) > 0 {
				for i, x := range v {
					totals[j] = math.FMA(x, r.sum.gradient[j*c+i], totals[j])
				}
			}
		}
		return v, totals
	}
	twice, err := r.second(ctx, count, sharing)
	if err != nil {
		return nil, 0, err
	}
	method, direction, chain := &twice.Second, twice.direction, twice.chain
	if tell != nil {
		before, whole := steps, float64(len(r.parts)+1)
		method.Tell = func(done float64, n int) { tell((whole-1+done)/whole, before+n) }
	}
	along := func(v, totals, dp, dy0 []float64) {
		p, y0 := direction(v, totals)
		copy(dp, p)
		copy(dy0, y0)
	}
	its := sens.Directions{Count: count, Write: func(k int, dp, dy0 []float64) {
		v, totals := move(k)
		along(v, totals, dp, dy0)
	}}
	res := &twice.res
	if err := method.OfSums(ctx, &r.trajectory, sums, its, res); err != nil {
		return nil, 0, r.failed(err, r.worker)
	}
	rows := len(r.objectives)
	if sums != nil {
		rows = len(sums)
	}
	width, n := r.problem.Width(), m.System.States()
	out := make([]float64, rows*count*c)
	bar := make([]float64, width)
	dot := make([]float64, width)
	for k := range count {
		clear(dot)
		v, totals := move(k)
		p, _ := direction(v, totals)
		copy(dot, p)
		for i := range rows {
			copy(bar, res.DP[i*width:(i+1)*width])
			row := res.HP[(i*count+k)*width:][:width]
			chain.PullPush(dot, bar, row)
			if k == 0 {
				first.take(r, i, bar, res)
			}
			to := out[(i*count+k)*c:][:c]
			var byInitial []float64
			if r.byInitial {
				byInitial = res.HY0[(i*count+k)*n:]
			}
			r.gatherer.Gather(to, row, byInitial)
			for j, t := range m.Checked.Totals {
				if len(parts) == 0 {
					break
				}
				at := r.problem.Column(t.Name).Offset
				slope, change := bar[at], row[at]
				for e := range to {
					if slope != 0 { // a total without a value must not spoil other objectives
						to[e] = math.FMA(slope, parts[(j*count+k)*c+e], to[e])
					}
					if change != 0 {
						to[e] = math.FMA(change, r.sum.gradient[j*c+e], to[e])
					}
				}
			}
		}
	}
	if err := dropTwoSided(ctx, r, method, sums, count, along, res.Parts, out); err != nil {
		return nil, 0, err
	}
	return out, steps + res.Stats.Steps, nil
}

// productsOfParts returns the products of the Hessians of the totals, [totals][count][columns], and the number of steps
// crossed. Experiments are added in file order.
func productsOfParts(
	ctx context.Context, r *Runner, count int, of func(k int) []float64, tell func(done float64, steps int),
) (sum []float64, steps int, err error) {
	if r.people != nil {
		sum, err = curvatureOfPeople(ctx, r, count, of)
		return sum, 0, err
	}
	type contribution struct {
		products []float64
		steps    int
		err      error
	}
	threads := max(1, r.settings.Threads)
	list := make([]contribution, min(4*threads, len(r.parts))) // not those of all, which may be large
	var telling sync.Mutex
	done, crossed := make([]float64, len(r.parts)), make([]int, len(r.parts))
	// come tells how far experiment i has come.
	come := func(i int) func(part float64, n int) {
		if tell == nil {
			return nil
		}
		return func(part float64, n int) {
			telling.Lock()
			defer telling.Unlock()
			done[i], crossed[i] = part, n
			all, made := 0.0, 0
			for j := range done {
				all += done[j] / float64(len(r.parts)+1)
				made += crossed[j]
			}
			tell(all, made)
		}
	}
	for from := 0; from < len(r.parts); from += len(list) {
		some := r.parts[from:min(from+len(list), len(r.parts))]
		parallel(threads, len(some), func(i int) {
			c := &list[i]
			c.products, c.steps, c.err = some[i].products(ctx, nil, count, of, come(from+i), threads, nil)
		})
		for i := range some {
			c := &list[i]
			if c.err != nil {
				return nil, 0, r.model.Experiments[from+i].wrap(c.err)
			}
			if sum == nil {
				sum = make([]float64, len(c.products))
			}
			for k, x := range c.products {
				sum[k] += x
			}
			steps += c.steps
		}
	}
	return sum, steps, nil
}

// second makes the method for count directions. It takes fewer lanes, then fewer threads, where the memory for what it
// keeps along the run asks for that. sharing Runners share the memory.
func (r *Runner) second(ctx context.Context, count, sharing int) (*twice, error) {
	lanes := r.setup.lanes(count)
	limit := r.settings.MemoryLimit() / int64(sharing)
	threads := max(1, r.settings.Threads)
	for lanes > 1 && sens.PathBytes(&r.trajectory, lanes)*int64(threads) > limit {
		lanes /= 2
	}
	if need := sens.PathBytes(&r.trajectory, lanes); int64(threads)*need > limit {
		threads = max(1, int(limit/max(need, 1)))
	}
	if r.twice != nil && r.twice.lanes == lanes {
		r.twice.Threads, r.twice.Memory, r.twice.Tell = threads, limit, nil
		r.twice.Functionals = r.recorder.Functionals()
		return r.twice, nil
	}
	defer r.problem.Compiling(ctx)()
	k, err := r.problem.Kit(lanes, compiled.PushPull, false)
	if err != nil {
		return nil, interrupted(ctx, err)
	}
	out := &twice{lanes: lanes, direction: r.problem.Directions(r.places)}
	if out.chain, err = r.problem.Chain(true); err != nil {
		return nil, err
	}
	functionals := r.recorder.Functionals()
	out.Second = sens.Second{Threads: threads, Memory: limit, Functionals: functionals, New: func() sens.SecondWorker {
		w := r.problem.SecondWorker(k)
		if r.reading.past != nil {
			x := lag.Twice(w, r.reading.past, r.Run.method(lanes))
			return sens.SecondWorker{System: x, Objectives: x, Method: x.Method(r.Run.method(lanes))}
		}
		return sens.SecondWorker{System: w, Objectives: w, Method: r.Run.method(lanes)}
	}}
	if r.reading.past == nil { // what reads the past belongs to one run
		r.twice = out
	}
	return out, nil
}

// twice is what makes second derivatives.
type twice struct {
	sens.Second
	lanes     int
	direction func(v, totals []float64) (active, initial []float64)
	chain     *compiled.Chain
	res       sens.Products
}

// alongside are first derivatives that come along with second ones: values of the objectives and their gradients,
// [objectives][columns].
type alongside struct{ values, gradient []float64 }

// take takes the gradient of objective i, by the active params.
func (a *alongside) take(r *Runner, i int, bar []float64, res *sens.Products) {
	if a == nil {
		return
	}
	var byInitial []float64
	if n := r.model.System.States(); r.byInitial {
		byInitial = res.DY0[i*n : (i+1)*n]
	}
	a.values = append(a.values, res.Psi[i])
	a.gradient = slices.Grow(a.gradient, r.columns)[:(i+1)*r.columns]
	r.gatherer.Gather(a.gradient[i*r.columns:], bar, byInitial)
}

// both makes a run and returns the values and gradients of its objectives with the products of their Hessians with
// count directions: what first and products give, in fewer sweeps. It reports false where there is more to tell of the
// run than numbers. Such a run is to be made by first.
func both(
	ctx context.Context, r *Runner, count int, of func(k int) []float64,
) (first alongside, products []float64, plain bool, err error) {
	if !unwatched(r) || r.reading.past != nil || r.errorControl != nil || r.model.System.Settles() ||
		len(r.parts) > 0 || r.readsTotals() || r.settings.Trust || r.shows() {
		return first, nil, false, nil
	}
	notes := r.warnings // those of Prepare stay
	defer func() { r.warnings = notes }()
	before := len(r.warnings.All())
	r.model.Explain.Bounds(r.problem.Point, &r.warnings)
	r.worker.KeepStages(nil)
	stats, err := r.Run.solve(ctx, r.solver, r.worker, r.setup.Progress, r.recorder)
	switch {
	case r.wants(err) != nil:
		return first, nil, false, nil
	case err == nil:
		err = r.trajectory.Err()
	}
	if err != nil {
		return first, nil, false, err
	}
	if len(stats.Warnings)+len(stats.Meetings)+len(stats.Bends) > 0 || stats.Stopped ||
		len(r.warnings.All()) > before {
		return first, nil, false, nil
	}
	r.last, r.opinion, r.alone, r.sum, r.took = r, nil, true, &totals{}, r.stats(stats)
	if products, _, err = r.products(ctx, nil, count, of, nil, 1, &first); err != nil {
		return first, nil, false, err
	}
	return first, products, trust.Finite(first.values) && trust.Finite(first.gradient) && trust.Finite(products), nil
}

// unwatched reports whether runs are watched for nothing that only single ones tell: conditions on states, kinks, what
// is to be largest, and invariants.
func unwatched(r *Runner) bool {
	s := &r.settings
	return len(r.guards) == 0 && !(r.kinks != nil && r.kinks.Any()) && len(r.problem.Peaks) == 0 && r.trace == nil &&
		!r.model.Explain.Windowed() && r.model.Explain.Invariants(r.worker, s.Solver.RTol, s.Solver.ATol) == nil
}
