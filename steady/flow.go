package steady

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/linalg"
)

// Flow is what the linear equations of a steady state do in the end, by integration in time: what Linear finds with
// one solution. It is there to be compared with. States x that are pushed follow ẋ = J x + ḟ, with the Jacobian J
// at the steady state. The transpose follows λ̇ = Jᵀλ and adds up ∫λ dt.
//
// The method is the SDIRK method of order 4 of E. Hairer and G. Wanner, Solving Ordinary Differential Equations II,
// Springer 1996, table IV.6.5. It is L-stable, so that steps grow as the flow comes to rest.
type Flow struct {
	plan    *Plan
	j       []float64 // the entries of the Jacobian
	rtol    float64
	horizon float64 // how long the flow is followed
	lu      linalg.LU
	matrix  []float64
	length  float64 // of the steps that the factors are for; 0 for none
	turned  bool

	Steps, Factors int // of all integrations
}

// flowTable are the coefficients of the method: the stages, the last of which is the result, and the weights of the
// embedded method of order 3.
var flowTable = struct {
	gamma  float64
	a      [5][5]float64
	weight [5]float64
}{
	0.25,
	[5][5]float64{
		{1. / 4},
		{1. / 2, 1. / 4},
		{17. / 50, -1. / 25, 1. / 4},
		{371. / 1360, -137. / 2720, 15. / 544, 1. / 4},
		{25. / 24, -49. / 48, 125. / 16, -85. / 12, 1. / 4},
	},
	[5]float64{59. / 48, -17. / 96, 225. / 32, -85. / 12, 0},
}

// NewFlow returns the flow at a steady state, to a relative accuracy of rtol.
func (p *Plan) NewFlow(s *State, rtol float64) (*Flow, error) {
	rate := -real(s.Slowest)
	if !(rate > 0) {
		return nil, errors.New("the rate at which the steady state is approached is not known")
	}
	f := &Flow{plan: p, j: s.Jacobian, rtol: rtol, horizon: elem.Log(1e4/rtol) / rate}
	p.flowing.Do(func() { p.flowPlan() })
	if p.flowFailed != nil {
		return nil, p.flowFailed
	}
	f.lu, f.matrix = p.flowAnalysis.New(), make([]float64, p.flowPattern.NonZeros())
	return f, nil
}

// flowPlan prepares the matrix I - hγJ.
func (p *Plan) flowPlan() {
	var rows, cols []int
	p.flowPlaces = make([]int32, len(p.jacobian.Rows))
	for e, row := range p.jacobian.Rows {
		p.flowPlaces[e] = -1
		if int(row) < p.n && int(p.jacobian.Cols[e]) < p.n {
			p.flowPlaces[e] = int32(len(rows))
			rows, cols = append(rows, int(row)), append(cols, int(p.jacobian.Cols[e]))
		}
	}
	entries := len(rows)
	for i := range p.n {
		rows, cols = append(rows, i), append(cols, i)
	}
	var at []int32
	p.flowPattern, at = linalg.NewPattern(p.n, rows, cols)
	for e, k := range p.flowPlaces {
		if k >= 0 {
			p.flowPlaces[e] = at[k]
		}
	}
	p.flowDiagonal = at[entries:]
	p.flowAnalysis, p.flowFailed = linalg.Analyze(p.flowPattern, linalg.Options{})
}

// Push is Linear.Push by integration.
func (f *Flow) Push(fd, yd []float64, lanes int) error {
	x := slices.Clone(yd)
	f.turned = false
	if err := f.follow(x, fd, nil, lanes); err != nil {
		return err
	}
	copy(fd, x)
	return nil
}

// Pull is Linear.Pull by integration.
func (f *Flow) Pull(yb, before []float64, lanes int) error {
	copy(before, yb)
	sum := make([]float64, len(yb))
	f.turned = true
	x := slices.Clone(yb)
	f.reduce(x, lanes)
	if err := f.follow(x, nil, sum, lanes); err != nil {
		return err
	}
	f.apply(sum, before, lanes)
	copy(yb, sum)
	return nil
}

// reduce subtracts as much of each law from cotangents that those of its pivot are zero. What is subtracted does not
// decay, and no derivative of a rate sees it.
func (f *Flow) reduce(x []float64, lanes int) {
	for k := range f.plan.Laws {
		law := &f.plan.Laws[k]
		own := law.Coefs[slices.Index(law.States, law.Pivot)]
		for l := range lanes {
			part := x[law.Pivot*lanes+l] / own
			for s, i := range law.States {
				x[i*lanes+l] = math.FMA(-part, law.Coefs[s], x[i*lanes+l])
			}
			x[law.Pivot*lanes+l] = 0
		}
	}
}

// apply adds J x, or Jᵀx, to y.
func (f *Flow) apply(x, y []float64, lanes int) {
	for e, v := range f.j {
		if f.plan.flowPlaces[e] < 0 {
			continue
		}
		to, from := int(f.plan.jacobian.Rows[e]), int(f.plan.jacobian.Cols[e])
		if f.turned {
			to, from = from, to
		}
		row := y[to*lanes : (to+1)*lanes]
		for l, u := range x[from*lanes : (from+1)*lanes] {
			row[l] = math.FMA(v, u, row[l])
		}
	}
}

// factor factors I - hγJ.
func (f *Flow) factor(h float64) error {
	if f.length == h {
		return nil
	}
	clear(f.matrix)
	for e, at := range f.plan.flowPlaces {
		if at >= 0 {
			f.matrix[at] -= float64(float64(h*flowTable.gamma) * f.j[e])
		}
	}
	for _, at := range f.plan.flowDiagonal {
		f.matrix[at]++
	}
	f.length = h
	f.Factors++
	return f.lu.Factor(f.matrix)
}

// follow replaces x by what it is at the horizon: ẋ = J x + force, or ẋ = Jᵀx, whose integral is added to sum.
func (f *Flow) follow(x, force, sum []float64, lanes int) error {
	const (
		most       = 20_000 // steps
		part       = 1e-3   // of the largest element of a lane: what is small against the tolerance of all
		safety     = 0.9
		fastest    = 8.0
		slowest    = 0.2
		worthwhile = 1.3
	)
	table := &flowTable
	size := len(x)
	var k [5][]float64
	for i := range k {
		k[i] = make([]float64, size)
	}
	y, err, add, addErr := make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	norm := func(e, to []float64) float64 {
		worst := 0.0
		for l := range lanes {
			largest := 0.0
			for i := l; i < size; i += lanes {
				largest = max(largest, math.Abs(to[i]))
			}
			for i := l; i < size; i += lanes {
				if scale := float64(f.rtol * (math.Abs(to[i]) + float64(part*largest))); e[i] != 0 {
					worst = max(worst, math.Abs(e[i])/scale)
				}
			}
		}
		return worst
	}
	far := slices.Clone(x) // tolerances are those of the largest value so far: what decays is not followed to the end
	for i, v := range far {
		far[i] = math.Abs(v)
	}
	t := 0.0
	h := float64(1e-3 * f.horizon)
	if len(f.j) > 0 { // a step over which the fastest changes little
		largest := 0.0
		for _, v := range f.j {
			largest = max(largest, math.Abs(v))
		}
		h = min(h, 1e-2/largest)
	}
	for range most {
		if t >= f.horizon {
			return nil
		}
		h = min(h, f.horizon-t)
		if e := f.factor(h); e != nil {
			return e
		}
		clear(add)
		clear(addErr)
		clear(err)
		for s := range k {
			copy(y, x)
			for j := range s {
				if c := float64(h * table.a[s][j]); c != 0 {
					for i, v := range k[j] {
						y[i] = math.FMA(c, v, y[i])
					}
				}
			}
			clear(k[s])
			if force != nil {
				copy(k[s], force)
			}
			f.apply(y, k[s], lanes)
			if f.turned {
				f.lu.SolveT(k[s], lanes)
				f.reduce(k[s], lanes)
			} else {
				f.lu.Solve(k[s], lanes)
			}
			b := table.a[4][s]
			c := float64(h * (b - table.weight[s]))
			own := float64(h * table.gamma)
			for i, v := range k[s] {
				err[i] = math.FMA(c, v, err[i])
				y[i] = math.FMA(own, v, y[i]) // the value of the stage
			}
			if sum != nil {
				for i, v := range y {
					add[i] = math.FMA(float64(h*b), v, add[i])
					addErr[i] = math.FMA(c, v, addErr[i])
				}
			}
		}
		f.Steps++
		for i, v := range y { // the last stage is the result
			far[i] = max(far[i], math.Abs(v))
		}
		size := norm(err, far)
		if sum != nil {
			for i := range add {
				add[i] += sum[i]
			}
			size = max(size, norm(addErr, add))
		}
		if size != size {
			return fmt.Errorf("the flow at the steady state is not finite at %g", t)
		}
		factor := min(fastest, max(slowest, safety/math.Sqrt(math.Sqrt(max(size, 1e-12)))))
		if size <= 1 {
			t += h
			copy(x, y)
			if sum != nil {
				copy(sum, add)
			}
			if factor > worthwhile {
				h = float64(h * factor)
			}
			continue
		}
		h = float64(h * min(factor, 0.9))
	}
	return fmt.Errorf("the flow at the steady state did not come to rest within %d steps", most)
}
