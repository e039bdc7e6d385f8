package optim

import (
	"cmp"
	"math"
	"slices"
)

// Linear is a linear program with kinks: the least
//
//	Cᵀx + Σ Below_j·max(Kink_j − aⱼᵀx, 0) + Above_j·max(aⱼᵀx − Kink_j, 0),  Lo ≤ x ≤ Hi,  Min_j ≤ aⱼᵀx ≤ Max_j.
//
// All bounds of x are finite, and x = 0 keeps them and the limits of the rows: linear programs around a point are so.
// Rows and variables are to be of size 1.
//
// It is solved by a primal simplex method on a tableau with a column for each variable that rests, at a bound, a kink
// or 0, and a row for each other one. A step goes through kinks as long as it leads down (I. Barrodale,
// F. D. K. Roberts, SIAM J. Numer. Anal. 10 (1973) 839–848, doi:10.1137/0710069). Bounds and kinks are moved a little,
// each by its own amount, so that no two of them meet. Bound is computed from the program itself, by weak duality: it
// is right whatever the tableau has become.
type Linear struct {
	C, Lo, Hi []float64
	Rows      []LinearRow
	// Over tells that the solution is no longer wanted; nil for never. What is returned then means nothing.
	Over func() bool
}

// LinearRow is a linear function with limits, which may be infinite, and a kink. Without slopes there is no kink.
type LinearRow struct {
	A            []float64
	Min, Max     float64
	Kink         float64
	Below, Above float64 // slopes to both sides of the kink, at least 0
}

// LinearSolution is what was found.
type LinearSolution struct {
	X []float64
	// Value is that of the program at X, and Bound is a value that no point is below. Both are changes from x = 0.
	Value, Bound float64
	// Multipliers are the slopes by which rows hold the solution: the objective falls by Multipliers_j where the limit
	// or the kink of row j grows by 1.
	Multipliers []float64
	// Rests are the variables, from 0, and the rows, from n, that hold the solution: they are at a bound or kink.
	Rests []int
}

// cost returns that of a row at v.
func (r *LinearRow) cost(v float64) float64 {
	return float64(r.Below*math.Max(r.Kink-v, 0)) + float64(r.Above*math.Max(v-r.Kink, 0))
}

// tableau has x_rows = t·x_columns. Variables are numbered: those of the program, then its rows.
type tableau struct {
	p       *Linear
	n, m    int
	t       []float64 // m × n
	columns []int     // n
	rows    []int     // m
	x       []float64 // n + m
	lo, hi  []float64 // n + m
	kink    []float64 // n + m; NaN for none

	slopes, sizes []float64 // n; of step
}

// wobble is the relative size by which bounds and kinks are moved.
const wobble = 1e-9

// Solve solves the program. What it returns is a point, whatever becomes of it; Value − Bound tells how good it is.
func (p *Linear) Solve() LinearSolution {
	t := &tableau{p: p, n: len(p.C), m: len(p.Rows)}
	n, m := t.n, t.m
	t.t = make([]float64, m*n)
	t.x, t.lo, t.hi = make([]float64, n+m), make([]float64, n+m), make([]float64, n+m)
	t.kink = make([]float64, n+m)
	seed := uint64(0x9e3779b97f4a7c15)
	moved := func() float64 { // between half of wobble and all of it
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		return float64(wobble * (0.5 + float64(0.5*float64(seed>>11)/(1<<53))))
	}
	for i := range n {
		t.columns = append(t.columns, i)
		t.lo[i], t.hi[i], t.kink[i] = p.Lo[i], p.Hi[i], math.NaN()
	}
	for j := range p.Rows {
		r := &p.Rows[j]
		t.rows = append(t.rows, n+j)
		copy(t.t[j*n:(j+1)*n], r.A)
		t.lo[n+j], t.hi[n+j] = r.Min-moved(), r.Max+moved()
		if t.kink[n+j] = math.NaN(); r.Below+r.Above > 0 {
			t.kink[n+j] = r.Kink + float64(moved()*math.Max(1, math.Abs(r.Kink)))
		}
	}
	t.settle()
	for range 40 * (n + m + 20) {
		if p.Over != nil && p.Over() || !t.step() {
			break
		}
	}
	return t.solution()
}

// settle puts variables that no row has at the bound to which the objective falls: without rows that is the solution.
func (t *tableau) settle() {
	n := t.n
	used := make([]bool, n)
	for i := range t.m {
		for j, a := range t.t[i*n : (i+1)*n] {
			used[j] = used[j] || a != 0
		}
	}
	for i, c := range t.p.C {
		switch {
		case used[i]:
		case c > 0:
			t.x[i] = t.lo[i]
		case c < 0:
			t.x[i] = t.hi[i]
		}
	}
	t.slopes, t.sizes = make([]float64, n), make([]float64, n)
}

// slope returns that of the cost of a variable where it moves in a direction.
func (t *tableau) slope(v int, direction float64) float64 {
	if v < t.n {
		return t.p.C[v]
	}
	r := &t.p.Rows[v-t.n]
	if k := t.kink[v]; t.x[v] < k || t.x[v] == k && direction < 0 {
		return -r.Below
	} else if k == k {
		return r.Above
	}
	return 0
}

// step enters the column that falls most steeply, and reports false where none falls.
func (t *tableau) step() bool {
	const small = 1e-11
	n := t.n
	best, enter, direction := 0.0, -1, 0.0
	slopes, sizes := t.slopes, t.sizes
	clear(slopes)
	clear(sizes)
	for i, v := range t.rows {
		if s := t.slope(v, 1); s != 0 {
			for j, a := range t.t[i*n : (i+1)*n] {
				slopes[j] += float64(s * a)
				sizes[j] += math.Abs(float64(s * a))
			}
		}
	}
	for j, v := range t.columns {
		for _, d := range []float64{-1, 1} {
			if d < 0 && t.x[v] <= t.lo[v] || d > 0 && t.x[v] >= t.hi[v] {
				continue
			}
			own := t.slope(v, d)
			if f := d * (slopes[j] + own); f < best && f < -small*math.Max(sizes[j]+math.Abs(own), 1e-300) {
				best, enter, direction = f, j, d
			}
		}
	}
	if enter < 0 {
		return false
	}
	t.move(enter, direction, best)
	return true
}

// stop is where a variable meets a bound or a kink on the way of another.
type stop struct {
	at     float64
	row    int     // −1: it is the variable itself
	change float64 // of the slope; infinite for a bound
	to     float64
}

// move moves column j in a direction as long as the slope is below 0.
func (t *tableau) move(j int, direction, slope float64) {
	n := t.n
	var stops []stop
	meet := func(v, row int, speed float64) {
		limit, way := t.hi[v], math.Max(t.hi[v]-t.x[v], 0) // rounding may have led beyond it
		if speed < 0 {
			limit, way = t.lo[v], math.Min(t.lo[v]-t.x[v], 0)
		}
		if !math.IsInf(way, 0) {
			stops = append(stops, stop{at: way / speed, row: row, change: math.Inf(1), to: limit})
		}
		if way := t.kink[v] - t.x[v]; float64(way*speed) > 0 {
			r := &t.p.Rows[v-n]
			change := float64((r.Below + r.Above) * math.Abs(speed))
			stops = append(stops, stop{at: way / speed, row: row, change: change, to: t.kink[v]})
		}
	}
	meet(t.columns[j], -1, direction)
	for i, v := range t.rows {
		if a := t.t[i*n+j]; math.Abs(a) > 1e-10 {
			meet(v, i, float64(direction*a))
		}
	}
	slices.SortStableFunc(stops, func(a, b stop) int { return cmp.Compare(a.at, b.at) })
	for _, s := range stops {
		if slope += s.change; slope < 0 {
			continue
		}
		for i, v := range t.rows {
			t.x[v] += float64(s.at * direction * t.t[i*n+j])
		}
		enter := t.columns[j]
		t.x[enter] += float64(s.at * direction)
		if s.row < 0 {
			t.x[enter] = s.to
			return
		}
		t.x[t.rows[s.row]] = s.to
		t.pivot(s.row, j)
		return
	}
	// All bounds of variables are finite: one of them has been met.
}

// pivot exchanges row i and column j.
func (t *tableau) pivot(i, j int) {
	n := t.n
	row := t.t[i*n : (i+1)*n]
	by := 1 / row[j]
	for k := range row {
		row[k] *= -by
	}
	row[j] = by
	for r := range t.m {
		f := t.t[r*n+j]
		if r == i || f == 0 {
			continue
		}
		to := t.t[r*n : (r+1)*n]
		to[j] = 0
		for k, v := range row {
			to[k] += float64(f * v)
		}
	}
	t.rows[i], t.columns[j] = t.columns[j], t.rows[i]
}

// unmove puts what rests where it is to be, without the little by which bounds and kinks were moved.
func (t *tableau) unmove() {
	n := t.n
	at := make([]float64, n)
	for j, v := range t.columns {
		if at[j] = t.x[v]; v < n {
			continue
		}
		switch r := &t.p.Rows[v-n]; at[j] {
		case t.lo[v]:
			at[j] = r.Min
		case t.hi[v]:
			at[j] = r.Max
		case t.kink[v]:
			at[j] = r.Kink
		}
	}
	for i, v := range t.rows {
		if v < n { // the costs of rows are those of the sides on which they were
			t.x[v] = dot(t.t[i*n:(i+1)*n], at)
		}
	}
}

// solution returns what the tableau says, with the value and the bound of the program itself.
func (t *tableau) solution() LinearSolution {
	n, p := t.n, t.p
	s := LinearSolution{X: make([]float64, n), Multipliers: make([]float64, t.m)}
	for _, v := range t.columns {
		if x := t.x[v]; x == t.lo[v] || x == t.hi[v] || x == t.kink[v] {
			s.Rests = append(s.Rests, v)
		}
	}
	t.unmove()
	for i := range s.X {
		s.X[i] = math.Max(p.Lo[i], math.Min(t.x[i], p.Hi[i]))
	}
	s.Value = dot(p.C, s.X)
	for j := range p.Rows {
		r := &p.Rows[j]
		s.Value += r.cost(dot(r.A, s.X)) - r.cost(0)
	}
	// A row that moves has the slope of its cost; one that rests has what the others make of it.
	y := s.Multipliers
	of := make([]float64, n)
	for i, v := range t.rows {
		slope := t.slope(v, 1)
		if v >= n {
			y[v-n] = slope
		}
		add(of, slope, t.t[i*n:(i+1)*n])
	}
	for j, v := range t.columns {
		if v >= n {
			y[v-n] = -of[j]
		}
	}
	// min over x and v of Cᵀx + Σ cost(v) + y(aᵀx − v)
	g := slices.Clone(p.C)
	for j := range p.Rows {
		r := &p.Rows[j]
		y[j] = math.Max(-r.Below, math.Min(y[j], r.Above)) + held(r, y[j])
		add(g, y[j], r.A)
		least := math.Inf(1)
		for _, v := range []float64{r.Min, r.Max, r.Kink} {
			if v >= r.Min && v <= r.Max && !math.IsInf(v, 0) {
				least = math.Min(least, r.cost(v)-float64(y[j]*v))
			}
		}
		if math.IsInf(least, 1) { // nothing limits it, and y is 0
			least = 0
		}
		s.Bound += least - r.cost(0)
	}
	for i, v := range g {
		s.Bound += math.Min(float64(v*p.Lo[i]), float64(v*p.Hi[i]))
	}
	return s
}

// held returns the part of a multiplier that a limit of the row may have, beyond the slopes of its kink.
func held(r *LinearRow, y float64) float64 {
	switch {
	case y > r.Above && !math.IsInf(r.Max, 1):
		return y - r.Above
	case y < -r.Below && !math.IsInf(r.Min, -1):
		return y + r.Below
	}
	return 0
}
