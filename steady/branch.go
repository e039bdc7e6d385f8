package steady

import (
	"context"
	"math"
	"math/cmplx"
	"slices"

	"odes.dev/odes/internal/base/linalg"
)

// Family is a system that depends on a number.
type Family interface {
	System
	// Vary gives the number the value x. It writes the states y[N] and the discretes d[D] at which a run would begin.
	Vary(x float64, y, d []float64) error
}

// Kind says what is special of a place on a branch.
type Kind uint8

// The kinds.
const (
	Ordinary Kind = iota
	Fold          // the branch turns back
	Hopf          // a pair of eigenvalues crosses the imaginary axis: a cycle begins or ends here
	Crossing      // an eigenvalue passes or touches zero, and another branch crosses this one
)

// Place is a steady state on a branch.
type Place struct {
	X       float64   // the number
	Y       []float64 // the states
	Kind    Kind
	Growing int // how many eigenvalues grow: 0 for a stable state, -1 where that is not known
	// Slowest is the eigenvalue that is nearest to growing; at a place of another kind, that which crosses the axis.
	Slowest complex128

	tangent []float64 // [N+1] along the branch; the number last
}

// End says why a branch was followed no further.
type End uint8

// The ends.
const (
	AtBound   End = iota // the number is at an end of its range
	Closed               // back at the start
	TooLong              // so many places that more are not sought
	Lost                 // no step is short enough
	Unbounded            // the states grow without bound as the number nears a value: that of the last place
)

// Branch are the steady states that hang together with the first, in the order in which they were found.
type Branch struct {
	Places []Place
	End    End
	Steps  int // tried
}

// BranchOptions say which part of a branch is wanted, and how closely.
type BranchOptions struct {
	Options
	From, To float64 // the number at the start, and the other end of its range
	Points   int     // about how many steps the range takes at least; 0: 100
}

// Continue finds the steady state that a run at o.From leads to, and follows it as the number changes: also where the
// branch turns back, and through unstable states (pseudo-arclength continuation, H. B. Keller, in Applications of
// Bifurcation Theory, Academic Press 1977, 359–384). Folds, Hopf points and crossings are located to rounding.
func Continue(ctx context.Context, sys Family, plan *Plan, t float64, o BranchOptions) (*Branch, error) {
	z := sys.Size()
	y, d := make([]float64, z.N), make([]float64, z.D)
	if err := sys.Vary(o.From, y, d); err != nil {
		return nil, err
	}
	first, err := Find(ctx, sys, plan, t, y, d, o.Options)
	if err != nil {
		return nil, err
	}
	s := newSearch(sys, plan, t, y, d, o.Options)
	b := &brancher{search: s, family: sys, o: o, width: math.Abs(o.To - o.From)}
	if b.o.Points == 0 {
		b.o.Points = 100
	}
	b.prepare()
	return b.run(ctx, first.Y)
}

// brancher follows a branch.
type brancher struct {
	*search
	family Family
	o      BranchOptions
	width  float64 // of the range of the number

	analysis *linalg.Analysis
	lu       linalg.LU
	places   []int32 // of the entries of Plan.Matrix, then of the column, then of the row
	values   []float64
	rows     []int32
	cols     []int32
	scales   []float64 // of rows
	size     []float64 // [N+1] the scale of each unknown: lengths along the branch are in these units
	units    []float64 // about these, powers of two: of columns
	far      []float64

	y0, d0   []float64
	up, down []float64
	rhs      []float64
	tries    int
}

// prepare analyses the equations of the steady state with one unknown and one equation more.
func (b *brancher) prepare() {
	n := b.n
	var rows, cols []int
	p := b.plan.pattern
	for col := range n {
		for _, i := range p.Rows[p.Start[col]:p.Start[col+1]] {
			rows, cols = append(rows, int(i)), append(cols, col)
		}
	}
	for i := range n {
		rows, cols = append(rows, i), append(cols, n)
	}
	for i := range n + 1 {
		rows, cols = append(rows, n), append(cols, i)
	}
	pattern, at := linalg.NewPattern(n+1, rows, cols)
	b.places, b.values = at, make([]float64, pattern.NonZeros())
	b.rows = pattern.Rows
	for col := range n + 1 {
		for range pattern.Start[col+1] - pattern.Start[col] {
			b.cols = append(b.cols, int32(col))
		}
	}
	b.analysis, _ = linalg.Analyze(pattern, linalg.Options{})
	b.lu = b.analysis.New()
	b.scales, b.size, b.far = make([]float64, n+1), make([]float64, n+1), make([]float64, n)
	b.units = make([]float64, n+1)
	b.y0, b.d0 = make([]float64, n), make([]float64, len(b.d))
	b.up, b.down, b.rhs = make([]float64, n), make([]float64, n), make([]float64, n+1)
}

// residual writes what is left of the equations at (y, x), with the modes that hold there.
func (b *brancher) residual(x float64, y, r []float64) error {
	if err := b.family.Vary(x, b.y0, b.d0); err != nil {
		return err
	}
	copy(b.d, b.d0)
	b.enter(b.t, y)
	b.sys.Eval(b.t, y, b.f)
	b.plan.Residual(y, b.f, b.plan.Totals(b.y0), r)
	return nil
}

// assemble factors the derivatives of the equations at u, with row as the last one.
func (b *brancher) assemble(u, row []float64) (ok bool, err error) {
	x, y := u[b.n], u[:b.n]
	h := float64(1e-6 * b.width)
	if err := b.residual(x+h, y, b.up); err != nil {
		return false, err
	}
	if err := b.residual(x-h, y, b.down); err != nil {
		return false, err
	}
	if err := b.residual(x, y, b.r); err != nil {
		return false, err
	}
	b.sys.EvalJacobian(b.t, y, b.entries)
	clear(b.values)
	m := b.plan.Matrix(b.entries)
	for e, v := range m {
		b.values[b.places[e]] += v
	}
	at := len(m)
	for i := range b.n {
		b.values[b.places[at]] += (b.up[i] - b.down[i]) / float64(2*h)
		at++
	}
	for _, v := range row {
		b.values[b.places[at]] += v
		at++
	}
	for e, j := range b.cols {
		b.values[e] = float64(b.values[e] * b.units[j])
	}
	clear(b.scales)
	for e, i := range b.rows {
		b.scales[i] = max(b.scales[i], math.Abs(b.values[e]))
	}
	for i, v := range b.scales {
		_, exp := math.Frexp(v)
		b.scales[i] = math.Ldexp(1, min(max(-exp, -1000), 1000))
	}
	for e, i := range b.rows {
		b.values[e] = float64(b.values[e] * b.scales[i])
	}
	return finite(b.values) && finite(b.r) && b.lu.Factor(b.values) == nil, nil
}

// solve solves with the factors.
func (b *brancher) solve(x []float64) {
	for i := range x {
		x[i] *= b.scales[i]
	}
	b.lu.Solve(x, 1)
	for i := range x {
		x[i] *= b.units[i]
	}
}

// product is the scalar product of two directions in units of the scales.
func (b *brancher) product(v, w []float64) float64 {
	sum := 0.0
	for i, s := range b.size {
		sum = math.FMA(v[i]/s, w[i]/s, sum)
	}
	return sum
}

// rescale sets the scales by the largest values so far.
func (b *brancher) rescale(u []float64) {
	largest := 0.0
	for i := range b.n {
		b.far[i] = max(b.far[i], math.Abs(u[i]))
		largest = max(largest, b.far[i])
	}
	if largest == 0 {
		largest = 1
	}
	for i := range b.n {
		b.size[i] = max(b.far[i], float64(1e-3*largest))
	}
	b.size[b.n] = b.width
	for i, s := range b.size {
		_, exp := math.Frexp(s)
		b.units[i] = math.Ldexp(1, exp)
	}
}

// along returns the row of the condition that a solution lies at a distance along direction v.
func (b *brancher) along(v []float64) []float64 {
	row := make([]float64, b.n+1)
	for i, s := range b.size {
		row[i] = v[i] / float64(s*s)
	}
	return row
}

// tangent returns the direction of the branch at u, of length 1, that goes with direction v.
func (b *brancher) tangent(u, v []float64) ([]float64, error) {
	ok, err := b.assemble(u, b.along(v))
	if err != nil || !ok {
		return nil, err
	}
	w := make([]float64, b.n+1)
	w[b.n] = 1
	b.solve(w)
	length := math.Sqrt(b.product(w, w))
	if !(length > 0) || math.IsInf(length, 0) {
		return nil, nil
	}
	if b.product(w, v) < 0 {
		length = -length
	}
	for i := range w {
		w[i] /= length
	}
	return w, nil
}

// correct solves the equations from u, together with row·u = target, by Newton's method. It returns how many steps
// that took; 0 where it did not converge.
func (b *brancher) correct(u, row []float64, target float64) (steps int, err error) {
	const most, fast, small, rounding = 12, 0.5, 1e-9, 1e-13
	before := math.Inf(1)
	for k := 1; k <= most; k++ {
		ok, err := b.assemble(u, row)
		if err != nil || !ok {
			return 0, err
		}
		left := -target
		for i, c := range row {
			left = math.FMA(c, u[i], left)
		}
		for i := range b.n {
			b.rhs[i] = -b.r[i]
		}
		b.rhs[b.n] = -left
		b.solve(b.rhs)
		size := math.Sqrt(b.product(b.rhs, b.rhs))
		if !(size < math.Inf(1)) || k > 1 && size > float64(fast*before) && size > small {
			return 0, nil
		}
		for i, v := range b.rhs {
			u[i] += v
		}
		if size <= rounding || size <= small && size > float64(fast*before) {
			return k, nil
		}
		before = size
	}
	return 0, nil
}

// place describes the steady state u, where the branch has direction v.
func (b *brancher) place(u, v []float64) (*Place, *Spectrum, error) {
	p := &Place{X: u[b.n], Y: slices.Clone(u[:b.n]), Growing: -1, Slowest: cmplx.NaN(), tangent: v}
	if err := b.residual(p.X, p.Y, b.r); err != nil {
		return nil, nil, err
	}
	copy(b.next, p.Y)
	if i := b.timed(); i >= 0 { // where the branch began it may not have been seen
		return nil, nil, &Error{Fault: Timed, States: []string{b.sys.StateName(i)}}
	}
	b.sys.EvalJacobian(b.t, p.Y, b.entries)
	s, err := b.plan.Spectrum(b.entries, b.o.eigen)
	if err == nil && s != nil {
		p.Growing, p.Slowest = s.Unstable(), s.Slowest()
	} else {
		s = &Spectrum{}
	}
	return p, s, nil
}

// at returns the place at a distance h from p along its direction; nil where there is none.
func (b *brancher) at(p *Place, h float64) (next *Place, s *Spectrum, steps int, err error) {
	u := append(slices.Clone(p.Y), p.X)
	row := b.along(p.tangent)
	target := h
	for i, c := range row {
		target = math.FMA(c, u[i], target)
	}
	for i, v := range p.tangent {
		u[i] = math.FMA(h, v, u[i])
	}
	b.tries++
	if steps, err = b.correct(u, row, target); err != nil || steps == 0 {
		return nil, nil, 0, err
	}
	v, err := b.tangent(u, p.tangent)
	if err != nil || v == nil {
		return nil, nil, 0, err
	}
	next, s, err = b.place(u, v)
	return next, s, steps, err
}

// run follows the branch from the steady state y.
func (b *brancher) run(ctx context.Context, y []float64) (*Branch, error) {
	const most = 5000 // places
	u := append(slices.Clone(y), b.o.From)
	v, err := b.heading(u)
	if err != nil {
		return nil, err
	}
	out := &Branch{}
	if v == nil {
		out.End = Lost
		return out, nil
	}
	p, _, err := b.place(u, v)
	if err != nil {
		return nil, err
	}
	out.Places = append(out.Places, *p)
	first := p
	var ends asymptote
	ends.since(b, out.Places)
	longest := 2 / float64(b.o.Points)
	pace := pace{h: longest / 8, longest: longest}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(out.Places) >= most {
			out.End = TooLong
			break
		}
		next, last, err := b.step(p, &pace)
		if err != nil {
			return nil, err
		}
		if next == nil {
			if !pace.halve() {
				out.End = Lost
				break
			}
			continue
		}
		special, err := b.between(p, next, pace.h)
		if err != nil {
			return nil, err
		}
		out.Places = append(append(out.Places, special...), *next)
		if ends.nears(b, out) {
			out.End = Unbounded
			break
		}
		if last {
			break
		}
		if len(out.Places) > 10 && b.distance(first, next) < float64(0.7*pace.h) &&
			b.product(first.tangent, next.tangent) > 0 {
			out.End = Closed
			out.Places = append(out.Places, *first)
			break
		}
		b.rescale(append(slices.Clone(next.Y), next.X))
		length := math.Sqrt(b.product(next.tangent, next.tangent)) // in the new scales
		for i := range next.tangent {
			next.tangent[i] /= length
		}
		p = next
		pace.adapt()
	}
	out.Steps = b.tries
	return out, nil
}

// heading returns the direction in which the branch leaves its first place, u; nil for none.
func (b *brancher) heading(u []float64) (v []float64, err error) {
	const soon = 0.1 // of the range
	b.rescale(u)
	start := make([]float64, b.n+1)
	start[b.n] = math.Copysign(b.width, b.o.To-b.o.From)
	v, err = b.tangent(u, start)
	if err != nil || v == nil || v[b.n] == 0 {
		return v, err
	}
	for i := range b.n { // a state that is small at the start is measured by how it changes
		b.far[i] = max(b.far[i], math.Abs(float64(soon*v[i]/v[b.n]*b.width)))
	}
	b.rescale(u)
	return b.tangent(u, start)
}

// pace is the length of steps along a branch, and what the step before tells of the next.
type pace struct {
	h, longest float64
	turn       float64 // cosine of the angle that the branch turned by
	steps      int     // of Newton's method
}

// gently is the least cosine at which a branch turns little.
const gently = 0.995

// halve makes the next step half as long, and reports whether it is long enough.
func (p *pace) halve() bool {
	const least = 1e-9
	p.h /= 2
	return !(p.h < least)
}

// adapt chooses the length of the next step behind one that was taken.
func (p *pace) adapt() {
	const (
		few    = 4 // steps of Newton's method
		longer = 1.5
	)
	if p.steps <= few && p.turn > gently {
		p.h = min(float64(longer*p.h), p.longest)
	} else if p.turn < gently {
		p.h = float64(0.8 * p.h)
	}
}

// step goes from p to the next place, nil where that is too far. last tells that it is at an end of the range, to which
// the step is cut.
func (b *brancher) step(p *Place, by *pace) (next *Place, last bool, err error) {
	const bent = 0.9
	next, _, by.steps, err = b.at(p, by.h)
	if err != nil || next == nil {
		return nil, false, err
	}
	by.turn = b.product(next.tangent, p.tangent) /
		math.Sqrt(float64(b.product(next.tangent, next.tangent)*b.product(p.tangent, p.tangent)))
	if by.turn < bent {
		return nil, false, nil
	}
	lo, hi := min(b.o.From, b.o.To), max(b.o.From, b.o.To)
	if last = next.X < lo || next.X > hi || next.X == hi && hi != b.o.From || next.X == lo && lo != b.o.From; !last {
		return next, false, nil
	}
	if next, err = b.atBound(p, next, math.Max(lo, math.Min(hi, next.X))); err != nil || next == nil {
		return nil, false, err
	}
	by.h = b.distance(p, next)
	return next, true, nil
}

// asymptote tells where a branch nears a line of one number. Along it states grow by a share with each step, whatever
// they have reached, so a branch would never end. The number soon differs by rounding alone, which looks like folds.
type asymptote struct {
	from   int       // the first of the places since which the number stands still
	lo, hi float64   // the number since then
	size   []float64 // the scales of the states there
}

// since begins with the last of the places.
func (a *asymptote) since(b *brancher, places []Place) {
	a.from = len(places) - 1
	a.lo, a.hi = places[a.from].X, places[a.from].X
	a.size = append(a.size[:0], b.size[:b.n]...)
}

// nears reports whether a state has grown much while the number stood still, now that out has a place more. It then
// cuts the branch where that began: what follows is the same, until it is rounding.
func (a *asymptote) nears(b *brancher, out *Branch) bool {
	const (
		still = 1e-10 // of the range
		much  = 1e3   // times
	)
	next := out.Places[len(out.Places)-1]
	a.lo, a.hi = min(a.lo, next.X), max(a.hi, next.X)
	if !(a.hi-a.lo <= float64(still*b.width)) {
		a.since(b, out.Places)
		return false
	}
	for i, y := range next.Y {
		if math.Abs(y) > float64(much*a.size[i]) {
			out.Places = out.Places[:a.from+1]
			return true
		}
	}
	return false
}

// distance returns how far two places are from each other.
func (b *brancher) distance(p, q *Place) float64 {
	d := b.way(p, q)
	return math.Sqrt(b.product(d, d))
}

// way is the way from p to q.
func (b *brancher) way(p, q *Place) []float64 {
	d := make([]float64, b.n+1)
	for i, y := range p.Y {
		d[i] = q.Y[i] - y
	}
	d[b.n] = q.X - p.X
	return d
}

// atBound returns the place between p and next where the number has a value x.
func (b *brancher) atBound(p, next *Place, x float64) (*Place, error) {
	part := (x - p.X) / (next.X - p.X)
	u := make([]float64, b.n+1)
	for i, y := range p.Y {
		u[i] = math.FMA(part, next.Y[i]-y, y)
	}
	u[b.n] = x
	row := make([]float64, b.n+1)
	row[b.n] = 1 / b.width
	if steps, err := b.correct(u, row, x/b.width); err != nil || steps == 0 {
		return nil, err
	}
	u[b.n] = x
	v, err := b.tangent(u, next.tangent)
	if err != nil || v == nil {
		return nil, err
	}
	q, _, err := b.place(u, v)
	return q, err
}

// between returns the special places between p and next, a distance h further.
func (b *brancher) between(p, next *Place, h float64) ([]Place, error) {
	folds := p.tangent[b.n]*next.tangent[b.n] < 0
	change := 0
	if p.Growing >= 0 && next.Growing >= 0 {
		change = next.Growing - p.Growing
	}
	var list []Place
	add := func(kind Kind, test func(q *Place, s *Spectrum) float64, finish func(q *Place, s *Spectrum)) error {
		q, s, err := b.locate(p, h, test)
		if err != nil || q == nil {
			return err
		}
		q.Kind = kind
		finish(q, s)
		list = append(list, *q)
		return nil
	}
	if folds {
		var turns *Place
		err := add(Fold, func(q *Place, _ *Spectrum) float64 { return q.tangent[b.n] / b.width },
			func(q *Place, _ *Spectrum) { q.Growing, q.Slowest, turns = max(p.Growing, next.Growing), 0, q })
		if err != nil {
			return nil, err
		}
		crosses := false
		if turns != nil {
			if crosses, err = b.touches(p, h, b.product(p.tangent, b.way(p, turns))); err != nil {
				return nil, err
			}
		}
		if crosses {
			list[0].Kind = Crossing
		} else {
			change -= int(math.Copysign(float64(change%2), float64(change))) // one of them passes zero in the fold
		}
	}
	if change == 0 {
		return list, nil
	}
	pair := change%2 == 0
	critical := func(s *Spectrum) complex128 {
		at := cmplx.NaN()
		for _, v := range s.Values {
			if (imag(v) != 0) == pair && (cmplx.IsNaN(at) || math.Abs(real(v)) < math.Abs(real(at))) {
				at = v
			}
		}
		return at
	}
	kind := Crossing
	if pair {
		kind = Hopf
	}
	err := add(kind, func(q *Place, s *Spectrum) float64 {
		size := math.Abs(real(critical(s)))
		if size != size { // they are a pair no more
			size = cmplx.Abs(s.Slowest())
		}
		if q.Growing == p.Growing {
			return -size
		}
		return size
	}, func(q *Place, s *Spectrum) {
		q.Growing = max(p.Growing, next.Growing)
		if q.Slowest = 0; pair {
			q.Slowest = complex(0, imag(critical(s)))
		}
	})
	slices.SortStableFunc(list, func(a, c Place) int {
		if b.distance(p, &a) < b.distance(p, &c) {
			return -1
		}
		return 1
	})
	return list, err
}

// touches reports whether the branch turns back where another one crosses it, as on the arms of a pitchfork: at a
// distance at from p, within h. In a fold one eigenvalue passes zero. Where another branch crosses, one touches zero,
// and as many grow behind the place as before it.
func (b *brancher) touches(p *Place, h, at float64) (bool, error) {
	const beside = 1.0 / 64 // of the step: other eigenvalues seldom pass zero so near
	before, _, _, err := b.at(p, math.FMA(-beside, h, at))
	if err != nil {
		return false, err
	}
	behind, _, _, err := b.at(p, math.FMA(beside, h, at))
	if err != nil {
		return false, err
	}
	return before != nil && behind != nil && before.Growing >= 0 && before.Growing == behind.Growing, nil
}

// locate returns the place within a distance h from p where test changes its sign, by regula falsi (the Illinois
// method), and bisection where that is slow.
func (b *brancher) locate(
	p *Place, h float64, test func(*Place, *Spectrum) float64,
) (best *Place, s *Spectrum, err error) {
	const most, rounding = 80, 1e-15
	eval := func(x float64) (*Place, *Spectrum, float64, error) {
		q, s, steps, err := b.at(p, x)
		if err != nil || steps == 0 {
			return nil, nil, math.NaN(), err
		}
		return q, s, test(q, s), nil
	}
	lo, hi := 0.0, h
	_, _, flo, err := eval(lo)
	if err != nil {
		return nil, nil, err
	}
	best, s, fhi, err := eval(hi)
	if err != nil || best == nil || !(flo*fhi < 0) {
		return nil, nil, err
	}
	bracket, least, size := h, math.Abs(fhi), max(math.Abs(flo), math.Abs(fhi))
	for k := range most {
		x := hi - fhi*(hi-lo)/(fhi-flo)
		if k%3 == 2 && hi-lo > bracket/2 {
			x = lo + (hi-lo)/2
		}
		if k%3 == 2 {
			bracket = hi - lo
		}
		if !(x > lo && x < hi) || hi-lo <= float64(1e-15*h) {
			break
		}
		q, sq, f, err := eval(x)
		if q == nil && err == nil { // where branches cross, the equations are singular: just beside it they are not
			x = math.FMA(1e-3, hi-x, x)
			q, sq, f, err = eval(x)
		}
		if err != nil {
			return nil, nil, err
		}
		if q == nil {
			break
		}
		if math.Abs(f) < least {
			best, s, least = q, sq, math.Abs(f)
		}
		if least <= float64(rounding*size) {
			break
		}
		if (f < 0) == (flo < 0) {
			lo, flo = x, f
			fhi /= 2
		} else {
			hi, fhi = x, f
			flo /= 2
		}
	}
	return best, s, nil
}
