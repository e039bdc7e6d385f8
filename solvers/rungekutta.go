package solvers

import (
	"math"
	"slices"
	"sync"

	"odes.dev/odes/internal/base/bernstein"
	"odes.dev/odes/solvers/tableau"
)

// rungeKutta is the Method of an explicit Tableau. The exact coefficients are rounded to double precision once. All
// other arithmetic is that of combine and of the right-hand side. Its work arrays serve one goroutine.
type rungeKutta struct {
	*scheme
	stageWork
	next int       // after which of scheme.read the last reading was: the next one is likely there
	yd   []float64 // [n·l] tangent of a stage value
	td   []float64 // [l]
	kd   []float64 // [stages][w·l] tangents of the stages
	yb   []float64 // [1 + stages][n·l] cotangents ȳ₁ and those of the stage values
	kb   []float64 // [w·l] cotangent of a stage
	rows []int     // of quadratures that kb has
	all  []int     // every row of quadratures; nil until it is used
	tb   []float64 // [l]

	pushedStages bool // kd is of the last Push

	dense dense
	z     []complex128 // [n] a complex stage value
	other []float64    // [n] a second stage value

	pushed      []float64   // [w·l] the second estimate of tangents
	secondOrder *secondWork // of PullPush; nil until it is used
}

// scheme is a Tableau in double precision.
type scheme struct {
	interpolant
	tab  *tableau.Tableau
	in   *rounded // tab
	info Info

	c    []float64 // [stages + dense stages]
	a    []terms   // [stages + dense stages] of the stage values
	b    terms     // of the solution
	e    terms     // of the estimate
	e3   terms     // of the second estimate of a combined pair
	live []bool    // [stages]: whether y₁ depends on the stage
	read []float64 // where steps are read most: the stages, and the samples of guards
	node []terms   // β(θ) there

	// at is column j of A on top of row b: the terms of stage j's cotangent over ȳ₁ (row 0 of yb) and Ȳ_i (row 1+i),
	// in this order.
	at  []terms
	sum terms // ȳ₀ over Ȳ_i: ones for the live stages
	// The same for the whole table, with the stages of the dense output and those on which only that depends.
	seededAt  []terms
	seededSum terms

	reach float64                            // where the method is stable on the negative real axis
	rays  func() *[stabilityRays + 1]float64 // where it is nearly stable along others
	pair  [2]int                             // two stages at one node; equal when there are none
	whole Arithmetic
}

func newRungeKutta(s *scheme, size Size, lanes int) *rungeKutta {
	return &rungeKutta{scheme: s, stageWork: newStageWork(size, lanes, &s.interpolant)}
}

// newScheme panics on a table whose figures are malformed.
func newScheme(t *tableau.Tableau) *scheme {
	x := roundedOf(t)
	s := len(x.b)
	r := &scheme{
		tab: t, in: x,
		info: Info{
			Name: t.Name, Order: t.Order, Embedded: t.Embedded,
			Stages: s, DenseStages: len(x.a) - s, DenseOrder: x.denseOrder,
			FSAL: x.fsal, End: x.end, Evals: s,
		},
		c: x.c,
	}
	if x.fsal {
		r.info.Evals--
	}
	r.info.Nodes = r.c[:s:s]
	for _, row := range x.a {
		r.a = append(r.a, sparse(row))
	}
	r.b, r.e, r.e3 = sparse(x.b), sparse(x.e), sparse(x.e3)
	for _, i := range r.b.row {
		if len(r.e.row) == 0 || slices.Contains(r.e.row, i) {
			r.info.Weighted = append(r.info.Weighted, r.c[i])
		}
	}
	r.live = make([]bool, s)
	r.at = make([]terms, s)
	for j := s - 1; j >= 0; j-- {
		col := make([]float64, 1+s)
		col[0] = x.b[j]
		for i := j + 1; i < s; i++ {
			if r.live[i] {
				col[1+i] = x.a[i][j]
			}
		}
		r.at[j] = sparse(col)
		r.live[j] = len(r.at[j].c) > 0
	}
	for i, live := range r.live {
		if live {
			r.sum.row = append(r.sum.row, 1+i)
			r.sum.c = append(r.sum.c, 1)
		}
	}
	for j := range x.a {
		col := make([]float64, 1+len(x.a))
		if j < s {
			col[0] = x.b[j]
		}
		for i := j + 1; i < len(x.a); i++ {
			if row := x.a[i]; j < len(row) {
				col[1+i] = row[j]
			}
		}
		r.seededAt = append(r.seededAt, sparse(col))
		r.seededSum.row = append(r.seededSum.row, 1+j)
		r.seededSum.c = append(r.seededSum.c, 1)
	}
	for i, beta := range x.beta {
		r.add(i, beta)
	}
	r.info.DenseDegree = r.degree()
	r.read = append(slices.Clone(r.info.Nodes), bernstein.Of(guardDegree(r.info)).Nodes...)
	for _, c := range r.read {
		at := r.room()
		for j, p := range r.beta {
			at.c[j] = polyAt(p, c)
		}
		r.node = append(r.node, at)
	}
	r.findStability()
	r.rays = sync.OnceValue(r.findRays)
	r.describe()
	return r
}

// readyPush and readyPull allocate the arrays of Push and Pull at their first use, since few users of a large system
// need both.
func (r *rungeKutta) readyPush() {
	if len(r.td) == 0 {
		r.yd = make([]float64, r.n*r.l)
		r.td = make([]float64, r.l)
		r.kd = make([]float64, r.info.Stages*r.w*r.l)
	}
}

func (r *rungeKutta) readyPull() {
	if len(r.tb) == 0 {
		r.yb = make([]float64, (1+r.info.Stages)*r.n*r.l)
		r.kb = make([]float64, r.w*r.l)
		r.tb = make([]float64, r.l)
	}
}

// Info describes the method.
func (r *rungeKutta) Info() Info { return r.info }

// time returns the time of stage i.
func (r *rungeKutta) time(s *Step, i int) float64 { return s.Node(r.c[i]) }

// value returns the stage value Y_i.
func (r *rungeKutta) value(s *Step, i int) []float64 { return r.stage(s, &r.a[i]) }

// Step fills K, Y1 and DQ.
func (r *rungeKutta) Step(f Field, s *Step, reuse bool) {
	w, stages := r.w, r.info.Stages
	s.Dense, s.Estimated = false, false
	if whole, ok := f.(Stepper); ok && whole.MakeStep(&r.whole, s, reuse) {
		return
	}
	if !reuse {
		f.Eval(s.T, s.Y0, s.K[:w:w])
	}
	last := stages
	if r.info.FSAL {
		last--
	}
	for i := 1; i < last; i++ {
		f.Eval(r.time(s, i), r.value(s, i), s.K[i*w:(i+1)*w:(i+1)*w])
	}
	r.end(s, &r.b)
	if r.info.FSAL {
		f.Eval(s.T1, s.Y1, s.K[last*w:stages*w:stages*w])
	}
}

// Error writes e[N+Q] = h Σ (b_i - b̂_i) k_i, or the combination of two such
// estimates that Tableau.E3 describes.
func (r *rungeKutta) Error(s *Step, e []float64) {
	if s.Estimated {
		copy(e, s.E)
		return
	}
	r.combine(&r.e, e, r.zero, s.H, s.K, r.w)
	if len(r.e3.c) == 0 {
		return
	}
	r.combine(&r.e3, r.slope, r.zero, s.H, s.K, r.w)
	for i, e5 := range e {
		// |e5|·(|e5|/√(e5² + 0.01 e3²)), in ratios so that nothing overflows or underflows.
		ratio := math.Abs(r.slope[i]) / math.Abs(e5)
		if e5 != 0 {
			e[i] = math.Abs(e5) / math.Sqrt(math.FMA(float64(0.01*ratio), ratio, 1))
		}
	}
}

// Interpolate writes y[N] at T + theta·H. Both ends are exact: y is Y0 at 0 and Y1 at 1.
func (r *rungeKutta) Interpolate(f Field, s *Step, theta float64, y []float64) {
	switch theta {
	case 0:
		copy(y, s.Y0)
		return
	case 1:
		copy(y, s.Y1)
		return
	}
	r.extend(f, s)
	r.weights(theta).combine(y, s.Y0, s.H, s.K, r.w)
}

// weights returns the β(θ).
func (r *rungeKutta) weights(theta float64) *terms {
	at := r.next
	if at >= len(r.read) || r.read[at] != theta { // nodes are read one after the other
		at = slices.Index(r.read, theta)
	}
	r.next = at + 1
	if at >= 0 {
		return &r.node[at]
	}
	for j, p := range r.beta {
		r.theta.c[j] = polyAt(p, theta)
	}
	return &r.theta
}

// extend fills the rows of K that belong to the dense output, once a step.
func (r *rungeKutta) extend(f Field, s *Step) {
	if s.Dense {
		return
	}
	s.Dense = true
	for i := r.info.Stages; i < len(r.a); i++ {
		f.Eval(r.time(s, i), r.value(s, i), s.K[i*r.w:(i+1)*r.w:(i+1)*r.w])
	}
}

// EachStage implements Staged.
func (r *rungeKutta) EachStage(s *Step, f func(t, weight float64, y []float64)) {
	for j, i := range r.b.row {
		f(r.time(s, i), float64(s.H*r.b.c[j]), r.value(s, i))
	}
}
