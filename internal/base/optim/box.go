package optim

import "math"

// Box is a quadratic program of many variables, which is known by products: the least Gᵀd + ½dᵀHd + Σ costs of rows,
// where Lo ≤ d ≤ Hi, Lo ≤ 0 ≤ Hi. A row is a linear function with a kink at 0, V + Aᵀd: where it is below 0 it costs
// Below for each unit, and above 0 Above. An infinite slope makes the kink a limit.
//
// Rows are kept at their kinks by an augmented Lagrangian (R. T. Rockafellar, Math. Oper. Res. 1 (1976) 97–116,
// doi:10.1287/moor.1.2.97): with multipliers Y and a penalty ρ, what is minimised within the bounds is
//
//	Q(d) = Gᵀd + ½dᵀHd + Σⱼ min over u of costⱼ(u) + Yⱼ(vⱼ + aⱼᵀd − u) + ½ρ(vⱼ + aⱼᵀd − u)².
//
// It is no more than the objective of the program, whatever Y and ρ are, as u = vⱼ + aⱼᵀd shows. So its least value is
// below that of the program, and Value − Gap is below its least value, if H is convex: nothing in this depends on how
// well the program was solved. Gap is that of M. Frank and P. Wolfe (Naval Res. Logist. Quart. 3 (1956) 95–110).
//
// Q is minimised by conjugate gradients on the variables that no bound holds, followed by a search along the path that
// the bounds bend (J. J. Moré, G. Toraldo, SIAM J. Optim. 1 (1991) 93–113, doi:10.1137/0801008): many variables come
// to their bounds at once.
type Box struct {
	G, Lo, Hi []float64
	Product   func(v, out []float64) error // sets out to Hv
	Rows      []BoxRow
	Y         []float64
	Penalty   float64
	// Convex asks for what is convex of H, where that bends down: directions in which it does count as flat.
	Convex bool
	// Products bounds how many there are; Over tells that nobody wants the solution any more, nil for never.
	Products int
	Over     func() bool

	D          []float64 // the solution
	Value, Gap float64
	Bent       bool // H bends down somewhere
	Used       int  // products
	Err        error

	slopes, hd, curve []float64 // of Q; HD; work
	multipliers       []float64
	active            []int // rows whose multipliers move
	factor            []float64
	typical           float64 // curvature
	flat              []flatness
	other             bool // H was made flat somewhere in the last round
}

// BoxRow is a row of a Box.
type BoxRow struct {
	V            float64
	A            []float64
	Below, Above float64
}

// flatness is a direction in which H bends down, and by what it is made flat there.
type flatness struct {
	p  []float64
	by float64
}

// Begin makes d = 0 the solution so far.
func (b *Box) Begin() {
	n := len(b.G)
	b.D, b.hd, b.slopes, b.curve = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	b.multipliers = make([]float64, len(b.Rows))
	if b.typical = norm(b.G) / math.Sqrt(float64(n)); b.typical == 0 {
		b.typical = 1
	}
	b.judge()
}

// product sets out to Hv, and reports whether there is one.
func (b *Box) product(v, out []float64) bool {
	if b.Err != nil || b.Used >= b.Products || b.Over != nil && b.Over() {
		return false
	}
	b.Used++
	if b.Err = b.Product(v, out); b.Err == nil && !finite(out) {
		b.Err = errNotFinite
	}
	for _, f := range b.flat {
		add(out, float64(f.by*dot(f.p, v)), f.p)
	}
	return b.Err == nil
}

// row returns what row j adds to Q at a value of Aᵀd, its multiplier there, and whether that moves with it.
func (b *Box) row(j int, v float64) (value, multiplier float64, moves bool) {
	r := &b.Rows[j]
	w := r.V + v + b.Y[j]/b.Penalty
	l := float64(b.Penalty * w)
	held := math.Max(-r.Below, math.Min(l, r.Above))
	value = float64(held*w) - (float64(held*held)+float64(b.Y[j]*b.Y[j]))/(2*b.Penalty)
	return value, held, held == l
}

// value returns that of Q at d, where H·d is hd.
func (b *Box) value(d, hd []float64) float64 {
	sum := dot(b.G, d) + float64(0.5*dot(d, hd))
	for j := range b.Rows {
		v, _, _ := b.row(j, dot(b.Rows[j].A, d))
		sum += v
	}
	return sum
}

// judge computes the value, the slopes and the gap at D.
func (b *Box) judge() {
	b.Value = b.value(b.D, b.hd)
	for i, g := range b.G {
		b.slopes[i] = g + b.hd[i]
	}
	b.active = b.active[:0]
	for j := range b.Rows {
		_, l, moves := b.row(j, dot(b.Rows[j].A, b.D))
		if b.multipliers[j] = l; l != 0 {
			add(b.slopes, l, b.Rows[j].A)
		}
		if moves {
			b.active = append(b.active, j)
		}
	}
	b.Gap = 0
	for i, s := range b.slopes {
		b.Gap += math.Max(math.Max(float64(s*(b.D[i]-b.Lo[i])), float64(s*(b.D[i]-b.Hi[i]))), 0)
	}
}

// Projected returns the norm of the slopes of variables that no bound holds.
func (b *Box) Projected() float64 {
	sum := 0.0
	for i, s := range b.slopes {
		if !b.held(i) {
			sum += float64(s * s)
		}
	}
	return math.Sqrt(sum)
}

// held reports whether a bound holds variable i.
func (b *Box) held(i int) bool {
	return presses(b.slopes[i], b.Lo[i]-b.D[i], b.Hi[i]-b.D[i])
}

// Violation returns how far rows are from where their multipliers would have them.
func (b *Box) Violation() (most float64) {
	for j, l := range b.multipliers {
		most = math.Max(most, math.Abs(l-b.Y[j])/b.Penalty)
	}
	return most
}

// Update makes the multipliers at D those of Q.
func (b *Box) Update() {
	copy(b.Y, b.multipliers)
	b.judge()
}

// Minimise makes Q less until done says that it is enough, and reports whether that was so. Else there is nothing to be
// gained, or there are no more products.
func (b *Box) Minimise(done func() bool) bool {
	for range 200 {
		if done() {
			return true
		}
		before := b.Value
		switch made := b.round(); {
		case b.other: // another H
			b.other = false
		case !made || !(b.Value < before):
			return done()
		}
	}
	return done()
}

// Confirm computes value and gap from one product at D.
func (b *Box) Confirm() bool {
	if largest(b.D) == 0 {
		clear(b.hd)
	} else if !b.product(b.D, b.hd) {
		return false
	}
	b.judge()
	return true
}

// round makes a step, and reports whether there was one: on all variables that no bound holds; if that leads nowhere,
// as where others press one against its bound, on those within their bounds; else against the slopes.
func (b *Box) round() bool {
	n := len(b.G)
	var free, within []int
	for i := range n {
		if b.Lo[i] < b.Hi[i] && !b.held(i) {
			if free = append(free, i); b.D[i] > b.Lo[i] && b.D[i] < b.Hi[i] {
				within = append(within, i)
			}
		}
	}
	if len(free) == 0 {
		return false
	}
	w, hw := make([]float64, n), make([]float64, n)
	if b.conjugate(free, w, hw) && b.along(w, hw) {
		return true
	}
	if b.other || b.Err != nil {
		return false
	}
	if len(within) > 0 && len(within) < len(free) {
		clear(w)
		clear(hw)
		if b.conjugate(within, w, hw) && b.along(w, hw) || b.other {
			return !b.other
		}
	}
	clear(w)
	for _, i := range free {
		w[i] = -b.slopes[i]
	}
	if !b.product(w, hw) {
		return false
	}
	bend := dot(w, hw)
	for _, j := range b.active {
		v := dot(b.Rows[j].A, w)
		bend += float64(b.Penalty * v * v)
	}
	t := 1.0
	if square := dot(w, w); bend > 0 {
		t = square / bend
	}
	for i := range w {
		w[i] *= t
		hw[i] *= t
	}
	return b.along(w, hw)
}

// along goes along w, whose product with H is hw, on the path that the bounds bend, as far as Q falls enough.
func (b *Box) along(w, hw []float64) bool {
	n := len(w)
	trial, ht := make([]float64, n), make([]float64, n)
	try := func(t float64) bool {
		bent := false
		for i, v := range w {
			to := b.D[i] + float64(t*v)
			trial[i] = math.Max(b.Lo[i], math.Min(to, b.Hi[i]))
			bent = bent || trial[i] != to
		}
		step := make([]float64, n)
		for i := range step {
			step[i] = trial[i] - b.D[i]
		}
		promised := dot(b.slopes, step)
		if !(promised < 0) {
			return false
		}
		if bent {
			if !b.product(step, ht) {
				return false
			}
		} else {
			for i, v := range hw {
				ht[i] = float64(t * v)
			}
		}
		add(ht, 1, b.hd)
		return b.value(trial, ht) <= b.Value+float64(1e-2*promised)
	}
	first, last := math.Inf(1), 0.0 // where the first bound is met, and the last one
	for i, v := range w {
		var room float64
		switch {
		case v > 0:
			room = (b.Hi[i] - b.D[i]) / v
		case v < 0:
			room = (b.Lo[i] - b.D[i]) / v
		default:
			continue
		}
		first, last = math.Min(first, room), math.Max(last, room)
	}
	begin := math.Min(1, last)
	for t := begin; t > 1e-20*begin; t /= 8 { // a kink may be close
		if t < first && first < 8*t && first < 1 {
			t = first
		}
		if try(t) {
			b.D, b.hd = trial, ht
			b.judge()
			return true
		}
		if b.Err != nil {
			return false
		}
	}
	return false
}

// conjugate sets w to a step on the free variables that makes Q small as if there were no bounds, and hw to its product
// with H. It reports whether there is one.
func (b *Box) conjugate(free []int, w, hw []float64) bool {
	const fraction = 0.1 // of slopes that may be left
	n := len(w)
	b.condition(free)
	r, z, p, hp := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for _, i := range free {
		r[i] = -b.slopes[i]
	}
	first := norm(r)
	b.solve(free, r, z)
	copy(p, z)
	rz := dot(r, z)
	for k := range 4*len(b.active) + 50 {
		if norm(r) <= fraction*first || !(rz > 0) {
			break
		}
		if !b.product(p, hp) {
			return k > 0
		}
		bend := dot(p, hp)
		b.curve = append(b.curve[:0], hp...)
		if k == 0 && bend > 0 {
			b.typical = bend / dot(p, p)
		}
		for _, j := range b.active {
			v := float64(b.Penalty * dot(b.Rows[j].A, p))
			bend += float64(v * dot(b.Rows[j].A, p))
			add(b.curve, v, b.Rows[j].A)
		}
		if bend <= 1e-14*norm(p)*norm(b.curve) {
			if own := dot(p, hp); own < -1e-13*norm(p)*norm(hp) {
				b.Bent = true
				if b.Convex && len(b.flat) < 30 {
					b.flatten(p, own)
					return false
				}
			}
			if k == 0 {
				b.far(free, p, hp, w, hw)
			}
			return true
		}
		t := rz / bend
		add(w, t, p)
		add(hw, t, hp)
		for _, i := range free {
			r[i] -= float64(t * b.curve[i])
		}
		b.solve(free, r, z)
		next := dot(r, z)
		for _, i := range free {
			p[i] = z[i] + float64(next/rz*p[i])
		}
		rz = next
	}
	return largest(w) > 0
}

// flatten makes the curvature along p zero, which is own.
func (b *Box) flatten(p []float64, own float64) {
	square := dot(p, p)
	f := flatness{append([]float64(nil), p...), -own / (square * square)}
	b.flat, b.other = append(b.flat, f), true
	add(b.hd, float64(f.by*dot(f.p, b.D)), f.p)
	b.judge()
}

// far sets w to p, all the way to the farthest bound, and hw to its product with H.
func (b *Box) far(free []int, p, hp, w, hw []float64) {
	far := 0.0
	for _, i := range free {
		if p[i] != 0 {
			far = math.Max(far, math.Max(b.Hi[i]-b.D[i], b.D[i]-b.Lo[i])/math.Abs(p[i]))
		}
	}
	add(w, far, p)
	add(hw, far, hp)
}

// condition prepares solve: the matrix c·I + ρAAᵀ of the active rows on the free variables, where c is a typical
// curvature over the penalty.
func (b *Box) condition(free []int) {
	k := len(b.active)
	b.factor = make([]float64, k*k)
	for i, x := range b.active {
		for j, y := range b.active[:i+1] {
			sum := 0.0
			for _, f := range free {
				sum += float64(b.Rows[x].A[f] * b.Rows[y].A[f])
			}
			if i == j {
				sum += b.typical / b.Penalty
			}
			for m := range j {
				sum -= float64(b.factor[i*k+m] * b.factor[j*k+m])
			}
			if i == j {
				b.factor[i*k+i] = math.Sqrt(math.Max(sum, 0.5*b.typical/b.Penalty))
			} else {
				b.factor[i*k+j] = sum / b.factor[j*k+j]
			}
		}
	}
}

// solve sets z to r over a typical curvature and that of the active rows.
func (b *Box) solve(free []int, r, z []float64) {
	k := len(b.active)
	v := make([]float64, k)
	for i, x := range b.active {
		for _, f := range free {
			v[i] += float64(b.Rows[x].A[f] * r[f])
		}
		for m := range i {
			v[i] -= float64(b.factor[i*k+m] * v[m])
		}
		v[i] /= b.factor[i*k+i]
	}
	for i := k - 1; i >= 0; i-- {
		for m := i + 1; m < k; m++ {
			v[i] -= float64(b.factor[m*k+i] * v[m])
		}
		v[i] /= b.factor[i*k+i]
	}
	for _, f := range free {
		sum := r[f]
		for i, x := range b.active {
			sum -= float64(v[i] * b.Rows[x].A[f])
		}
		z[f] = sum / b.typical
	}
}
