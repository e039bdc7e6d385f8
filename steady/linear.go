package steady

import (
	"errors"
	"math"
	"sync"

	"odes.dev/odes/internal/base/linalg"

	"odes.dev/odes/solvers/matrices"
)

// Plan is what the equations of a steady state have in common, whatever the state: 0 = f_i(y) for the states that are
// no pivot of a law, and for each pivot the law: Σ c·y is what it was. Goroutines may share it.
type Plan struct {
	Laws []Law

	n        int
	law      []int32 // per row: the law that stands there, or -1
	jacobian *matrices.Jacobian
	pattern  *linalg.Pattern
	places   []int32   // per entry of the Jacobian: its place, or -1
	fixed    []float64 // the coefficients of laws at their places

	once     sync.Once // guards:
	analysis *linalg.Analysis
	failed   error

	flowing      sync.Once // guards what a Flow needs:
	flowPlaces   []int32   // per entry of the Jacobian: its place, or -1
	flowDiagonal []int32
	flowPattern  *linalg.Pattern
	flowAnalysis *linalg.Analysis
	flowFailed   error
}

// NewPlan returns the plan of a system with n states.
func NewPlan(n int, j *matrices.Jacobian, laws []Law) *Plan {
	p := &Plan{Laws: laws, n: n, law: make([]int32, n), jacobian: j}
	for i := range p.law {
		p.law[i] = -1
	}
	for k := range laws {
		p.law[laws[k].Pivot] = int32(k)
	}
	var rows, cols []int
	p.places = make([]int32, len(j.Rows))
	for e, row := range j.Rows {
		p.places[e] = -1
		if int(row) < n && int(j.Cols[e]) < n && p.law[row] < 0 {
			p.places[e] = int32(len(rows))
			rows, cols = append(rows, int(row)), append(cols, int(j.Cols[e]))
		}
	}
	entries := len(rows)
	for k := range laws {
		for _, i := range laws[k].States {
			rows, cols = append(rows, laws[k].Pivot), append(cols, i)
		}
	}
	for i := range n { // a state that nothing reads is no structural fault: the numbers tell
		rows, cols = append(rows, i), append(cols, i)
	}
	pattern, at := linalg.NewPattern(n, rows, cols)
	p.pattern = pattern
	for e, k := range p.places {
		if k >= 0 {
			p.places[e] = at[k]
		}
	}
	p.fixed = make([]float64, pattern.NonZeros())
	for k := range laws {
		for _, c := range laws[k].Coefs {
			p.fixed[at[entries]] = c
			entries++
		}
	}
	return p
}

// Matrix assembles the derivatives of the equations from the entries j of the Jacobian.
func (p *Plan) Matrix(j []float64) []float64 {
	m := append([]float64(nil), p.fixed...)
	for e, at := range p.places {
		if at >= 0 {
			m[at] += j[e]
		}
	}
	return m
}

// Residual writes what is left of the equations at y, where the rates are f, for given totals.
func (p *Plan) Residual(y, f, totals, r []float64) {
	for i, k := range p.law {
		if k < 0 {
			r[i] = f[i]
		} else {
			r[i] = p.Laws[k].Total(y) - totals[k]
		}
	}
}

// Totals returns the conserved quantities at y.
func (p *Plan) Totals(y []float64) []float64 {
	t := make([]float64, len(p.Laws))
	for k := range p.Laws {
		t[k] = p.Laws[k].Total(y)
	}
	return t
}

// Linear solves with the derivatives M of the equations at one state. It belongs to one goroutine.
type Linear struct {
	plan  *Plan
	lu    linalg.LU
	scale []float64 // of rows: powers of two
	work  []float64
}

// NewLinear factors the matrix m of a plan. The error is a *SingularError where that fails.
func (p *Plan) NewLinear(m []float64) (*Linear, error) {
	l := &Linear{plan: p}
	return l, l.Factor(m)
}

// Factor factors another matrix.
func (l *Linear) Factor(m []float64) error {
	p := l.plan
	p.once.Do(func() { p.analysis, p.failed = linalg.Analyze(p.pattern, linalg.Options{}) })
	if p.failed != nil {
		return p.failed
	}
	if l.lu == nil {
		l.lu, l.scale, l.work = p.analysis.New(), make([]float64, p.n), make([]float64, len(m))
	}
	clear(l.scale)
	for e, i := range p.pattern.Rows {
		l.scale[i] = max(l.scale[i], math.Abs(m[e]))
	}
	for i, x := range l.scale {
		_, exp := math.Frexp(x)
		l.scale[i] = math.Ldexp(1, min(max(-exp, -1000), 1000))
	}
	for e, i := range p.pattern.Rows {
		l.work[e] = float64(m[e] * l.scale[i])
	}
	err := l.lu.Factor(l.work)
	var singular *linalg.SingularError
	if errors.As(err, &singular) {
		_, cols := p.analysis.Dependent(l.work)
		return &SingularError{States: cols}
	}
	return err
}

// Solve replaces x[N·lanes] by M⁻¹x.
func (l *Linear) Solve(x []float64, lanes int) {
	l.scaled(x, lanes)
	l.lu.Solve(x, lanes)
}

// SolveT replaces x[N·lanes] by M⁻ᵀx.
func (l *Linear) SolveT(x []float64, lanes int) {
	l.lu.SolveT(x, lanes)
	l.scaled(x, lanes)
}

func (l *Linear) scaled(x []float64, lanes int) {
	for i, s := range l.scale {
		row := x[i*lanes : (i+1)*lanes]
		for k := range row {
			row[k] *= s
		}
	}
}

// Push replaces the tangents fd[N·lanes] of the rates at a fixed state, and those yd of the state before, by the
// tangents of the steady state: M ẏ* = (-ḟ, C ẏ). The result is in fd.
func (l *Linear) Push(fd, yd []float64, lanes int) {
	for i, k := range l.plan.law {
		row := fd[i*lanes : (i+1)*lanes]
		if k < 0 {
			for j := range row {
				row[j] = -row[j]
			}
			continue
		}
		clear(row)
		law := &l.plan.Laws[k]
		for s, i := range law.States {
			for j, x := range yd[i*lanes : (i+1)*lanes] {
				row[j] = math.FMA(law.Coefs[s], x, row[j])
			}
		}
	}
	l.Solve(fd, lanes)
}

// Pull is the transpose of Push: it replaces the cotangents yb[N·lanes] of the steady state by those of the rates,
// and writes those of the state before to before[N·lanes].
func (l *Linear) Pull(yb, before []float64, lanes int) {
	l.SolveT(yb, lanes)
	clear(before)
	for i, k := range l.plan.law {
		row := yb[i*lanes : (i+1)*lanes]
		if k < 0 {
			for j := range row {
				row[j] = -row[j]
			}
			continue
		}
		law := &l.plan.Laws[k]
		for s, i := range law.States {
			to := before[i*lanes : (i+1)*lanes]
			for j, x := range row {
				to[j] = math.FMA(law.Coefs[s], x, to[j])
			}
		}
		clear(row)
	}
}
