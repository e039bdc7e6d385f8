package explicit

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/bernstein"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
	"odes.dev/odes/solvers/tableau"
)

// rungeKutta is the Method of an explicit Tableau. The exact coefficients are rounded to double precision once. All
// other arithmetic is that of combine and of the right-hand side. Its work arrays serve one goroutine.
type rungeKutta struct {
	*scheme
	stages.Space
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
	stages.Dense
	tab  *tableau.Tableau
	in   *rounded // tab
	info solvers.Info

	c    []float64     // [stages + dense stages]
	a    []stages.Form // [stages + dense stages] of the stage values
	b    stages.Form   // of the solution
	e    stages.Form   // of the estimate
	e3   stages.Form   // of the second estimate of a combined pair
	live []bool        // [stages]: whether y₁ depends on the stage
	read []float64     // where steps are read most: the stages, and the samples of guards
	node []stages.Form // β(θ) there

	// at is column j of A on top of row b: the terms of stage j's cotangent over ȳ₁ (row 0 of yb) and Ȳ_i (row 1+i),
	// in this order.
	at  []stages.Form
	sum stages.Form // ȳ₀ over Ȳ_i: ones for the live stages
	// The same for the whole table, with the stages of the dense output and those on which only that depends.
	seededAt  []stages.Form
	seededSum stages.Form

	stages.Stability
	pair  [2]int // two stages at one node; equal when there are none
	whole solvers.Arithmetic
}

func newRungeKutta(s *scheme, size solvers.Size, lanes int) *rungeKutta {
	return &rungeKutta{scheme: s, Space: stages.NewSpace(size, lanes, &s.Dense)}
}

// newScheme panics on a table whose figures are malformed.
func newScheme(t *tableau.Tableau) *scheme {
	x := roundedOf(t)
	s := len(x.b)
	r := &scheme{
		tab: t, in: x,
		info: solvers.Info{
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
		r.a = append(r.a, stages.Sparse(row))
	}
	r.b, r.e, r.e3 = stages.Sparse(x.b), stages.Sparse(x.e), stages.Sparse(x.e3)
	for _, i := range r.b.Row {
		if len(r.e.Row) == 0 || slices.Contains(r.e.Row, i) {
			r.info.Weighted = append(r.info.Weighted, r.c[i])
		}
	}
	r.live = make([]bool, s)
	r.at = make([]stages.Form, s)
	for j := s - 1; j >= 0; j-- {
		col := make([]float64, 1+s)
		col[0] = x.b[j]
		for i := j + 1; i < s; i++ {
			if r.live[i] {
				col[1+i] = x.a[i][j]
			}
		}
		r.at[j] = stages.Sparse(col)
		r.live[j] = len(r.at[j].C) > 0
	}
	for i, live := range r.live {
		if live {
			r.sum.Row = append(r.sum.Row, 1+i)
			r.sum.C = append(r.sum.C, 1)
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
		r.seededAt = append(r.seededAt, stages.Sparse(col))
		r.seededSum.Row = append(r.seededSum.Row, 1+j)
		r.seededSum.C = append(r.seededSum.C, 1)
	}
	for i, beta := range x.beta {
		r.Add(i, beta)
	}
	r.info.DenseDegree = r.Degree()
	r.read = append(slices.Clone(r.info.Nodes), bernstein.Of(r.info.ReadDegree()).Nodes...)
	for _, c := range r.read {
		at := r.Room()
		for j, p := range r.Beta {
			at.C[j] = stages.PolyAt(p, c)
		}
		r.node = append(r.node, at)
	}
	for i := range r.info.Stages {
		for j := 1; j < i; j++ {
			if r.c[i] == r.c[j] {
				r.pair = [2]int{i, j}
			}
		}
	}
	r.Stability = stages.StabilityOf(s, r.a, &r.b)
	r.describe()
	return r
}

// readyPush and readyPull allocate the arrays of Push and Pull at their first use, since few users of a large system
// need both.
func (r *rungeKutta) readyPush() {
	if len(r.td) == 0 {
		r.yd = make([]float64, r.N*r.L)
		r.td = make([]float64, r.L)
		r.kd = make([]float64, r.info.Stages*r.W*r.L)
	}
}

func (r *rungeKutta) readyPull() {
	if len(r.tb) == 0 {
		r.yb = make([]float64, (1+r.info.Stages)*r.N*r.L)
		r.kb = make([]float64, r.W*r.L)
		r.tb = make([]float64, r.L)
	}
}

// Info describes the method.
func (r *rungeKutta) Info() solvers.Info { return r.info }

// time returns the time of stage i.
func (r *rungeKutta) time(s *solvers.Step, i int) float64 { return s.Node(r.c[i]) }

// value returns the stage value Y_i.
func (r *rungeKutta) value(s *solvers.Step, i int) []float64 { return r.Stage(s, &r.a[i]) }

// Step fills K, Y1 and DQ.
func (r *rungeKutta) Step(f solvers.Field, s *solvers.Step, reuse bool) {
	w, stages := r.W, r.info.Stages
	s.Dense, s.Estimated = false, false
	if whole, ok := f.(solvers.Stepper); ok && whole.MakeStep(&r.whole, s, reuse) {
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
	r.End(s, &r.b)
	if r.info.FSAL {
		f.Eval(s.T1, s.Y1, s.K[last*w:stages*w:stages*w])
	}
}

// Error writes e[N+Q] = h Σ (b_i - b̂_i) k_i, or the combination of two such
// estimates that Tableau.E3 describes.
func (r *rungeKutta) Error(s *solvers.Step, e []float64) {
	if s.Estimated {
		copy(e, s.E)
		return
	}
	r.Combine(&r.e, e, r.Zero, s.H, s.K, r.W)
	if len(r.e3.C) == 0 {
		return
	}
	r.Combine(&r.e3, r.Slope, r.Zero, s.H, s.K, r.W)
	for i, e5 := range e {
		// |e5|·(|e5|/√(e5² + 0.01 e3²)), in ratios so that nothing overflows or underflows.
		ratio := math.Abs(r.Slope[i]) / math.Abs(e5)
		if e5 != 0 {
			e[i] = math.Abs(e5) / math.Sqrt(math.FMA(float64(0.01*ratio), ratio, 1))
		}
	}
}

// Interpolate writes y[N] at T + theta·H. Both ends are exact: y is Y0 at 0 and Y1 at 1.
func (r *rungeKutta) Interpolate(f solvers.Field, s *solvers.Step, theta float64, y []float64) {
	switch theta {
	case 0:
		copy(y, s.Y0)
		return
	case 1:
		copy(y, s.Y1)
		return
	}
	r.extend(f, s)
	r.weights(theta).Combine(y, s.Y0, s.H, s.K, r.W)
}

// weights returns the β(θ).
func (r *rungeKutta) weights(theta float64) *stages.Form {
	at := r.next
	if at >= len(r.read) || r.read[at] != theta { // nodes are read one after the other
		at = slices.Index(r.read, theta)
	}
	r.next = at + 1
	if at >= 0 {
		return &r.node[at]
	}
	r.Spoil()
	for j, p := range r.Beta {
		r.Theta.C[j] = stages.PolyAt(p, theta)
	}
	return &r.Theta
}

// extend fills the rows of K that belong to the dense output, once a step.
func (r *rungeKutta) extend(f solvers.Field, s *solvers.Step) {
	if s.Dense {
		return
	}
	s.Dense = true
	for i := r.info.Stages; i < len(r.a); i++ {
		f.Eval(r.time(s, i), r.value(s, i), s.K[i*r.W:(i+1)*r.W:(i+1)*r.W])
	}
}

// EachStage implements Staged.
func (r *rungeKutta) EachStage(s *solvers.Step, f func(t, weight float64, y []float64)) {
	for j, i := range r.b.Row {
		f(r.time(s, i), float64(s.H*r.b.C[j]), r.value(s, i))
	}
}

// Tableau returns the method's table.
func (r *scheme) Tableau() *tableau.Tableau { return r.tab }
