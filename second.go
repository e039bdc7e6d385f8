package odes

import (
	"context"
	"math"
	"slices"
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/sens"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Second derivatives are products of Hessians with directions in the space of
// the wanted variables: all unit vectors for the Hessians themselves. sens.Second makes them for the active
// params and initial values; defaults that follow other params, and totals of experiments, are chained on to that here.

// curvature says which second derivatives a Runner computes.
type curvature struct {
	hessian   bool
	direction []float64 // [columns]; nil for none
}

// wantSecond reads what is wanted, and reports what cannot be.
func (r *Runner) wantSecond(l *diag.List) {
	s, m := r.settings, r.model
	if r.opts.firstOnly {
		return
	}
	r.curve = curvature{hessian: s.order == 2}
	switch {
	case r.opts.Direction != nil:
		r.curve.direction = r.opts.Direction
	case s.hvp.param != "":
		for _, p := range m.checked.Params {
			if p.Name == s.hvp.param {
				at := m.part("p." + p.Name)
				r.curve.direction = slices.Clone(r.point.p[at.offset : at.offset+at.len])
			}
		}
		if r.curve.direction == nil {
			l.Errorf(CodeSetting, s.hvp.at, "sens.hvp names no param %q%s; it takes a list of numbers, or a param that holds one", s.hvp.param, diag.DidYouMean(s.hvp.param, names0(m.checked.Params)))
			return
		}
	default:
		r.curve.direction = s.hvp.list
	}
	if n := len(r.curve.direction); n > 0 && n != r.columns {
		l.Errorf(CodeSetting, s.hvp.at, "sens.hvp has %s for %s (%s); it takes one for each, in this order", plural(n, "number"), plural(r.columns, "element"), m.listed(r.variables))
		return
	}
	if !r.wantsSecond() {
		return
	}
	if slices.ContainsFunc(r.curve.direction, func(x float64) bool { return x-x != 0 }) {
		l.Errorf(CodeSetting, s.hvp.at, "sens.hvp holds something that is not a finite number")
	}
	if approximates(s.mode) {
		l.Errorf(CodeSetting, source.Span{}, "second derivatives are those of the computed solution, and mode = %s differentiates the equations first; use mode = adjoint or tangent for them, or sens.order = 1 and no hvp", s.mode)
	}
	if len(r.peaks) > 0 {
		f := &m.compiled.Functionals[m.functionalAt(r.peaks[0])]
		l.Errorf(CodeNoSuchRun, f.Span, "max_over has no second derivatives in this version: they ask how the time of the maximum moves; choose other objectives with --of, or the sens block's of")
	}
	directions := len(r.curve.direction) / max(r.columns, 1)
	if r.curve.hessian {
		directions += r.columns
	}
	limit := r.settings.solver.Memory
	if limit == 0 {
		limit = defaultMemory
	}
	// What is computed, and the rows by active params and initial values that it comes from.
	bytes := 8 * float64(len(r.rows)) * float64(directions) * float64(2*r.columns+m.layout.nY+r.columns)
	if bytes > float64(limit) {
		l.Errorf(CodeMemory, source.Span{}, "the Hessians of %s by %s need %s, more than memory = %s; choose fewer with --of and --wrt, ask for products with one direction (hvp) in place of order = 2, or raise solver.memory",
			plural(len(r.rows), "objective"), plural(r.columns, "variable"), size(bytes), size(float64(limit)))
	}
}

// listed names the variables with their sizes: "k, A (4 elements), initial(x)".
func (m *Model) listed(list []Variable) string {
	var names []string
	for i, v := range list {
		if i == 8 && len(list) > 9 {
			names = append(names, "…")
			break
		}
		name := v.String()
		if n := v.Size(); n != 1 {
			name += " (" + plural(n, "element") + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func (r *Runner) wantsSecond() bool { return r.curve.hessian || len(r.curve.direction) > 0 }

// differentiateTwice adds the second derivatives to s, a result of the run that r made last.
func (r *Runner) differentiateTwice(ctx context.Context, s *Sensitivities) error {
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
	products, stats, err := r.products(ctx, all, of)
	if err != nil {
		return err
	}
	s.Stats.SecondSteps = stats
	rows := len(r.rows)
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
		s.Asymmetry[i] = symmetrize(h, sizes)
	}
	return nil
}

// symmetrize makes the matrix h[n][n] the mean of itself and its transpose, and returns how far it was from that: the
// largest difference in terms of changes of the variables by their sizes, relative to the largest element in these terms.
func symmetrize(h, sizes []float64) float64 {
	n := len(sizes)
	most, worst := 0.0, 0.0
	for i, si := range sizes {
		for j, sj := range sizes[:i+1] {
			a, b, scale := h[i*n+j], h[j*n+i], float64(si*sj)
			most = max(most, float64(scale*math.Abs(a)), float64(scale*math.Abs(b)))
			worst = max(worst, float64(scale*math.Abs(a-b)))
			h[i*n+j] = float64(0.5*a) + float64(0.5*b)
			h[j*n+i] = h[i*n+j]
		}
	}
	if most == 0 {
		return 0
	}
	return worst / most
}

// products returns the products of the Hessian of each objective with count directions of[columns], [rows][count][columns].
func (r *Runner) products(ctx context.Context, count int, of func(k int) []float64) ([]float64, int, error) {
	r = r.last
	m, c := r.model, r.columns
	// of the experiments: [totals][count][columns], summed in file order
	var parts []float64
	steps := 0
	for i, part := range r.parts {
		list, n, err := part.products(ctx, count, of)
		if err != nil {
			return nil, 0, m.experiments[i].wrap(err)
		}
		if parts == nil {
			parts = make([]float64, len(list))
		}
		for k, x := range list {
			parts[k] += x
		}
		steps += n
	}
	move := func(k int) (v, totals []float64) {
		v = of(k)
		totals = make([]float64, len(m.checked.Totals))
		for j := range totals {
			if len(r.sum.gradient) > 0 {
				for i, x := range v {
					totals[j] = math.FMA(x, r.sum.gradient[j*c+i], totals[j])
				}
			}
		}
		return v, totals
	}
	method, err := r.second(count)
	if err != nil {
		return nil, 0, err
	}
	if tell := r.opts.Progress; tell != nil {
		method.Tell = func(done float64, steps int) { tell(Progress{Phase: "second", Done: done, Steps: steps}) }
	}
	its := sens.Directions{Count: count, Write: func(k int, dp, dy0 []float64) {
		v, totals := move(k)
		p, y0 := m.direction(r.run, r.variables, v, totals)
		copy(dp, p)
		copy(dy0, y0)
	}}
	var res sens.Products
	if err := method.Products(ctx, &r.trajectory, its, &res); err != nil {
		return nil, 0, m.failed(err, r.worker, r.run.method(0))
	}
	chains, err := m.bends(r.point, r.plan.columns)
	if err != nil {
		return nil, 0, err
	}
	width, n := r.plan.width, m.layout.nY
	out := make([]float64, len(r.rows)*count*c)
	bar := make([]float64, width)
	dot := make([]float64, width)
	for k := range count {
		clear(dot)
		v, totals := move(k)
		p, _ := m.direction(r.run, r.variables, v, totals)
		copy(dot, p)
		for i := range r.rows {
			copy(bar, res.DP[i*width:(i+1)*width])
			row := res.HP[(i*count+k)*width:][:width]
			for j := range chains {
				chains[j].apply(r.point.p, dot, bar, row)
			}
			to := out[(i*count+k)*c:][:c]
			gather(to, r.fromParams, row)
			gather(to, r.fromInitial, res.HY0[(i*count+k)*n:])
			for j, t := range m.checked.Totals {
				if len(parts) == 0 {
					break
				}
				at := r.plan.columns["p."+t.Name].offset
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
	return out, steps + res.Stats.Steps, nil
}

// second makes the method for count directions, with as many lanes as the memory for what it keeps along the run allows.
func (r *Runner) second(count int) (*sens.Second, error) {
	lanes := chooseLanes(count)
	if r.opts.Lanes > 0 {
		lanes = r.opts.Lanes
	}
	limit := r.settings.solver.Memory
	if limit == 0 {
		limit = defaultMemory
	}
	threads := max(1, r.settings.threads)
	for lanes > 1 && sens.PathBytes(&r.trajectory, lanes)*int64(threads) > limit {
		lanes /= 2
	}
	k, err := r.model.programs.kit(lanes, r.activeParams, bending, false)
	if err != nil {
		return nil, err
	}
	if need := sens.PathBytes(&r.trajectory, lanes); int64(threads)*need > limit {
		threads = max(1, int(limit/max(need, 1)))
	}
	return &sens.Second{Threads: threads, Memory: limit, New: func() sens.SecondWorker {
		w := r.secondWorker(k)
		return sens.SecondWorker{System: w, Objectives: w, Method: r.run.method(lanes)}
	}}, nil
}

// bendFollower is a follower with the tangent of its transpose.
type bendFollower struct {
	eval   *tape.Evaluator[float64]
	params map[string]part
	name   string
	from   part
	to     []target
	cut    []bool
}

// target is an input of a follower: its name, and where it stands among the active params.
type target struct {
	name string
	at   part
}

// bends returns the params among the active ones whose defaults use others, later ones first, as followers does.
func (m *Model) bends(pt *point, columns map[string]part) ([]bendFollower, error) {
	var list []bendFollower
	for _, d := range slices.Backward(m.compiled.Defaults) {
		name := "p." + d.Param.Name
		from, active := columns[name]
		l := bendFollower{params: map[string]part{}, name: name, from: from, cut: pt.cutE[d.Param]}
		var wrt []string
		for _, in := range d.Tape.Inputs {
			if to, ok := columns[in.Name]; ok {
				wrt = append(wrt, in.Name)
				l.to = append(l.to, target{in.Name, to})
			}
		}
		if pt.cutP[d.Param] || !active || len(wrt) == 0 {
			continue
		}
		bend, err := tapec.SecondVJP(d.Tape, []string{name}, wrt, false)
		if err != nil {
			return nil, err
		}
		for _, in := range bend.Inputs {
			if at, ok := m.layout.parts[in.Name]; ok {
				l.params[in.Name] = at
			}
		}
		l.eval = tape.NewEvaluator[float64](bend)
		list = append(list, l)
	}
	return list, nil
}

// apply adds to the derivatives bar[width] and their tangents row[width], where the active params move by dot[width], the path
// through the default of one of them.
func (l *bendFollower) apply(p, dot, bar, row []float64) {
	for name, at := range l.params {
		copy(l.eval.Input(name), p[at.offset:at.offset+at.len])
	}
	for _, v := range []struct {
		name string
		from []float64
	}{{"bar.", bar}, {"dot.bar.", row}} {
		to := l.eval.Input(v.name + l.name)
		copy(to, v.from[l.from.offset:l.from.offset+l.from.len])
		for k := range to {
			if len(l.cut) > 0 && l.cut[k] {
				to[k] = 0
			}
		}
	}
	for _, t := range l.to {
		copy(l.eval.Input("dot."+t.name), dot[t.at.offset:t.at.offset+t.at.len])
	}
	l.eval.Run()
	for _, t := range l.to {
		for k, x := range l.eval.Output("bar." + t.name) {
			bar[t.at.offset+k] += x
		}
		for k, x := range l.eval.Output("dot.bar." + t.name) {
			row[t.at.offset+k] += x
		}
	}
}
