package lag

import (
	"math"
	"sync"

	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/stages"
)

// Along a run, what is read of the past is a function X(t - τ) of time, and where τ moves with states of these too. So
// the derivative of the rates by time has a term f_X Ẋ (1 - τ_t) besides, and that by states -f_X Ẋ τ_y. The model
// knows f_X, τ_t and τ_y; Ẋ is the slope of the dense output.

// jacobian says how the entries of a Jacobian along a run come from those of the model.
type jacobian struct {
	once sync.Once
	of   *matrices.Jacobian
	all  int       // entries of the model
	own  []int     // those that are entries as they are, the first ones
	lags [][]byLag // of each delay
}

// byLag is an entry of the model by what a delay reads.
type byLag struct {
	from, state int
	time        int // the entry that it adds to
	taus        []byTau
}

// byTau is an entry of the model of a delay that moves, and the entry that it and a byLag add to.
type byTau struct{ from, to int }

// jacobianOf returns that of the record, made of places in the model. All goroutines get the same one.
func (r *Record) jacobianOf(model *matrices.Jacobian, z solvers.Size) *jacobian {
	r.jacobian.once.Do(func() { r.jacobian.make(r, model, z) })
	return r.jacobian
}

func (j *jacobian) make(r *Record, m *matrices.Jacobian, z solvers.Size) {
	j.all, j.lags = len(m.Rows), make([][]byLag, len(r.delays))
	of := &matrices.Jacobian{Mass: m.Mass, Linear: m.Linear, Ask: m.Ask, Direct: m.Direct}
	rates, time := z.N+z.Q, z.N
	at := map[[2]int32]int{} // entries that are sums
	place := func(row, col int32) int {
		e, found := at[[2]int32{row, col}]
		if !found {
			e = len(of.Rows)
			of.Rows, of.Cols, at[[2]int32{row, col}] = append(of.Rows, row), append(of.Cols, col), e
		}
		return e
	}
	taus := map[int][]int{} // entries of delays that move
	for e, row := range m.Rows {
		switch col := m.Cols[e]; {
		case int(row) >= rates:
			taus[int(row)-rates] = append(taus[int(row)-rates], e)
		case int(col) <= time:
			j.own = append(j.own, e)
			of.Rows, of.Cols = append(of.Rows, row), append(of.Cols, col)
		}
	}
	for e, row := range m.Rows {
		lag := int(m.Cols[e]) - 1
		if int(row) >= rates || lag < z.N {
			continue
		}
		for _, c := range r.reads {
			if k := (lag - c.to) / c.len; lag >= c.to && k < c.n && !c.discrete {
				i := c.first + k
				x := byLag{from: e, state: c.from + (lag-c.to)%c.len, time: place(row, int32(time))}
				if from := r.delays[i]; from.moves {
					for _, tau := range taus[from.at] {
						x.taus = append(x.taus, byTau{tau, place(row, m.Cols[tau])})
					}
				}
				j.lags[i] = append(j.lags[i], x)
			}
		}
	}
	j.of = of
}

// entries is the work space of a Worker for the Jacobian.
type entries struct {
	j         *jacobian
	m, md, mb []float64 // of the model; in lanes
	sd, sb    []float64 // of slopes
	none      []float64 // [lanes] zeros
}

// jac returns what the Jacobian of x is made of.
func jac(x *Worker) *jacobian {
	if x.entries.j == nil {
		j := x.rec.jacobianOf(x.w.Jacobian(), x.w.Size())
		v := func(n int) []float64 { return make([]float64, n) }
		x.entries = entries{j, v(j.all), v(j.all * x.l), v(j.all * x.l), v(x.n * x.l), v(x.n * x.l), v(x.l)}
	}
	return x.entries.j
}

// Jacobian implements matrices.JacobianField.
func (x *Worker) Jacobian() *matrices.Jacobian { return jac(x).of }

// slopeOf makes x.slope the slope of what a delay reads at t. It reports whether it has one.
func slopeOf(x *Worker, delay int, t float64) (step int, theta float64, has bool) {
	if len(x.rec.gaps) == 0 { // before the run
		return ofStart, 0, false
	}
	if step, theta = x.locate(delay, t); step < 0 || x.stepAt(step).H == 0 {
		return step, theta, false
	}
	stateAt(x, step, theta)
	return step, theta, true
}

// EvalJacobian implements matrices.JacobianField.
func (x *Worker) EvalJacobian(t float64, y, j []float64) {
	a := jac(x)
	m := x.entries.m
	x.w.EvalJacobian(t, x.extend(t, y, x.y), m)
	for e, from := range a.own {
		j[e] = m[from]
	}
	clear(j[len(a.own):])
	for i, list := range a.lags {
		if len(list) == 0 {
			continue
		}
		if _, _, has := slopeOf(x, i, t); !has {
			continue
		}
		for k := range list {
			g := &list[k]
			v := float64(m[g.from] * x.slope[g.state])
			j[g.time] += v
			for _, tau := range g.taus {
				j[tau.to] = math.FMA(-v, m[tau.from], j[tau.to])
			}
		}
	}
}

// PushJacobian implements matrices.TangentJacobianField.
func (x *Worker) PushJacobian(t float64, y, td, yd, jd []float64) {
	a, l := jac(x), x.l
	m, md, sd := x.entries.m, x.entries.md, x.entries.sd
	ye := x.extend(t, y, x.y)
	x.w.EvalJacobian(t, ye, m)
	x.w.PushJacobian(t, ye, td, x.push(t, td, yd, x.yd), md)
	for e, from := range a.own {
		copy(jd[e*l:][:l], md[from*l:])
	}
	clear(jd[len(a.own)*l:])
	for i, list := range a.lags {
		if len(list) == 0 {
			continue
		}
		step, theta, has := slopeOf(x, i, t)
		if !has {
			continue
		}
		slopeTangent(x, i, step, theta, td)
		for k := range list {
			g := &list[k]
			slope := x.slope[g.state]
			for c := range l {
				v := math.FMA(md[g.from*l+c], slope, float64(m[g.from]*sd[g.state*l+c]))
				jd[g.time*l+c] += v
				for _, tau := range g.taus {
					moved := math.FMA(v, m[tau.from], float64(float64(m[g.from]*slope)*md[tau.from*l+c]))
					jd[tau.to*l+c] -= moved
				}
			}
		}
	}
}

// slopeTangent makes x.entries.sd the tangents of the slope of what a delay reads, and x.td those of the time of that,
// where the time moves by td.
func slopeTangent(x *Worker, delay, step int, theta float64, td []float64) (kept keptTangent) {
	from, dd := x.rec.delays[delay], x.dd
	if from.moves {
		dd = x.taud
	}
	for c := range x.td {
		x.td[c] = td[c] - dd[from.at*x.l+c]
	}
	s := x.stepAt(step)
	if step < len(x.kept) && x.kept[step].kd != nil {
		kept = x.kept[step]
	} else { // nothing moves there yet
		none := x.entries.none
		kept = keptTangent{d: solvers.StepTangent{T0: none, H: none}, kd: make([]float64, len(s.K)*x.l)}
	}
	stages.RecallSlope(x.method, s, &kept.d, theta, kept.kd, x.td, x.entries.sd)
	return kept
}

// PullJacobian implements matrices.CotangentJacobianField.
func (x *Worker) PullJacobian(t float64, y, jb, yb, tb []float64) {
	a, l, r := jac(x), x.l, x.rec
	m, mb, sb := x.entries.m, x.entries.mb, x.entries.sb
	ye := x.extend(t, y, x.y)
	x.w.EvalJacobian(t, ye, m)
	clear(mb)
	for e, from := range a.own {
		copy(mb[from*l:][:l], jb[e*l:])
	}
	own, times := make([]float64, l), make([]float64, l) // of the times that are read
	var moved []float64
	for i, list := range a.lags {
		if len(list) == 0 {
			continue
		}
		step, theta, has := slopeOf(x, i, t)
		if !has {
			continue
		}
		clear(sb)
		for k := range list {
			g := &list[k]
			s := x.slope[g.state]
			for c := range l {
				v := jb[g.time*l+c]
				for _, tau := range g.taus {
					w := jb[tau.to*l+c]
					v = math.FMA(-w, m[tau.from], v)
					mb[tau.from*l+c] = math.FMA(-float64(m[g.from]*s), w, mb[tau.from*l+c])
				}
				mb[g.from*l+c] = math.FMA(v, s, mb[g.from*l+c])
				sb[g.state*l+c] = math.FMA(v, m[g.from], sb[g.state*l+c])
			}
		}
		clear(own)
		seeded(x, step, func(s *solvers.Step) { stages.SowSlope(x.method, s, theta, sb, own) })
		db := x.db
		if r.delays[i].moves {
			if moved == nil {
				moved = make([]float64, len(x.taub))
			}
			db = moved
		}
		for c, v := range own {
			times[c] += v
			db[r.delays[i].at*l+c] -= v
		}
	}
	x.w.PullJacobian(t, ye, mb, x.yb, tb)
	x.pull(t, x.yb, tb)
	add(tb, times)
	if moved != nil {
		copy(x.taub, moved)
		system.DelaysPull(x.w, t, x.mover.y, x.taub, x.mover.yb, x.mover.tb)
		add(x.yb[:x.n*l], x.mover.yb[:x.n*l])
		add(tb, x.mover.tb)
	}
	copy(yb, x.yb[:x.n*l])
}
