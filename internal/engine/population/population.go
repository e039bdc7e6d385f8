// Package population integrates likelihoods over random effects: by Laplace's method, FOCEI, FOCE and FO of the field
// of pharmacometrics, by Gauss–Hermite quadrature around modes and by importance sampling, each with its gradient.
//
// It knows nothing of models. A Subject says what the data of one individual have for random effects eta: their
// negative log likelihood with derivatives, predictions with theirs, and the covariances Omega. Vectors of derivatives
// have the random effects first (m of them), and the params behind (p).
//
// What is computed is a function of the params alone, for any history: modes are sought from zero and from starts that
// depend on params and data. Sources: Wang, J Pharmacokinet Pharmacodyn 34:575 (2007); Almquist, Leander and Jirstrand,
// J Pharmacokinet Pharmacodyn 42:191 (2015), whose gradients leave nothing out here: that of Laplace's method has the
// third derivatives, and the modes move by the exact Hessian, also where FOCEI has another one.
package population

import (
	"context"
	"fmt"
	"math"

	"odes.dev/odes/internal/base/elem"
)

// Subject is one individual at the present values of params.
type Subject interface {
	// Data is the negative log likelihood of the data, given eta. With order 1 it has the gradient, with order 2 also
	// the rows of the Hessian that belong to random effects.
	Data(ctx context.Context, eta []float64, order int) (*Conditional, error)
	// Rows are the predictions.
	Rows(ctx context.Context, eta []float64) (*Rows, error)
	// Curved has the second derivatives of sums of the rows that Rows returned last: products of their Hessians with
	// the random effects, [sums][m][m+p].
	Curved(ctx context.Context, sums []Sum) ([]float64, error)
	// Omega is the matrix of covariances of the random effects.
	Omega(ctx context.Context) (*Omega, error)
	// Failed reports whether an error tells that a run failed for the numbers that it had, and other numbers may do.
	Failed(err error) bool
}

// Conditional is a value with derivatives by m random effects and p params.
type Conditional struct {
	Value    float64
	Gradient []float64 // [m+p]
	Products []float64 // [m][m+p]
	data     []float64 // of these, what the data contribute; nil where only they do
}

// Rows are measurements with normal noise: predictions F and standard deviations S, with derivatives.
type Rows struct {
	Data   []float64
	F, S   []float64 // [n]
	DF, DS []float64 // [n][m+p]
	// Constant is what the densities of the data have beside those of normal noise: of lognormal noise, where Data and
	// F are logarithms.
	Constant float64
}

// Sum is a sum of rows with these weights, [n] each; nil for zeros.
type Sum struct{ F, S []float64 }

// Omega is a matrix of covariances with its derivatives by params.
type Omega struct {
	M      int
	W      []float64 // [m][m]
	Slopes []float64 // [m][m][p]
}

// Method says how to integrate.
type Method struct {
	Kind string // "laplace", "focei", "foce", "fo", "agq" or "imp"
	N    int    // nodes for each random effect of agq, draws of imp
	Seed uint64 // of imp
	// Step is the distance of differences along random effects, in units of their posterior deviations; 0: 0.01.
	// Only the third derivatives of Laplace's method, agq and imp are differences, of exact second ones.
	Step float64
	// Starts is how many points of the distribution of the random effects are looked at for further starts of searches
	// for modes.
	Starts int
	// Near is where a mode is known to be, nearly; nil for nowhere. Then no others are looked for. It is for
	// differences of gradients, and for draws of a posterior: any other value is that of a search from zero.
	Near []float64
	// Rough is for draws of a posterior, which errors of a value that are small beside 1 do not change, and which are
	// right for any slopes: searches for modes end earlier, and third derivatives are differences to one side.
	Rough bool
}

// Result is what one subject contributes to the negative log likelihood.
type Result struct {
	Value    float64
	Gradient []float64 // [p]; nil where it was not asked for

	Mode    []float64 // [m]; nil for fo
	Hessian []float64 // [m][m], of the negative log density of data and random effects at the mode
	Used    []float64 // [m][m], what the method has in its place
	Slopes  []float64 // [m][p], of the mode by params; with the gradient
	Joint   float64   // the negative log density of data and random effects at the mode
	Runs    int
	Modes   int // that were met
	Omega   *Omega
	// Effective is how many draws the sum over nodes is worth, of agq and imp.
	Effective float64
	// Doubt says what is doubtful about the mode; "" for nothing.
	Doubt string

	at *Conditional // the negative log density of data and random effects at the mode, with second derivatives
}

// problem is an integral at work.
type problem struct {
	Subject
	ctx    context.Context
	method Method
	omega  *Omega
	prior  *prior
	m, p   int
	runs   int
	zero   *Rows     // of FOCE: at eta = 0
	total  []float64 // of nodes: see turning
	found  []*found  // the modes that mode met
}

// log2pi is log(2 pi).
const log2pi = 1.8378770664093454835606594728112352797

// Integrate computes the contribution of a subject. The error is that of a run.
func Integrate(ctx context.Context, s Subject, method Method, gradient bool) (*Result, error) {
	q, err := newProblem(ctx, s, method)
	if err != nil {
		return nil, err
	}
	if method.Kind == "fo" {
		return q.firstOrder(gradient)
	}
	out, err := q.mode()
	if err != nil {
		return nil, err
	}
	err = q.integral(out, gradient)
	out.Runs = q.runs
	return out, err
}

// integral fills in what a method makes of a mode.
func (q *problem) integral(out *Result, gradient bool) error {
	switch q.method.Kind {
	case "laplace":
		return q.laplace(out, gradient)
	case "focei", "foce":
		return q.linearised(out, gradient)
	case "agq":
		return q.nodes(out, gradient)
	case "imp":
		return q.sampled(out, gradient)
	}
	return fmt.Errorf("population: no method %q", q.method.Kind)
}

func newProblem(ctx context.Context, s Subject, method Method) (*problem, error) {
	if method.Step == 0 {
		method.Step = 0.01
	}
	q := &problem{Subject: s, ctx: ctx, method: method}
	var err error
	if q.omega, err = s.Omega(ctx); err != nil {
		return nil, err
	}
	q.m = q.omega.M
	q.p = len(q.omega.Slopes) / (q.m * q.m)
	if q.prior, err = newPrior(q.omega); err != nil {
		return nil, err
	}
	if method.Kind == "foce" {
		if q.zero, err = s.Rows(ctx, make([]float64, q.m)); err != nil {
			return nil, err
		}
		q.runs++
	}
	return q, nil
}

// SingularError tells that Omega is not positive definite.
type SingularError struct{}

func (*SingularError) Error() string {
	return "the covariances of the random effects are not those of a distribution: a standard deviation is not " +
		"positive, or a matrix is not positive definite"
}

// prior is the normal density of random effects.
type prior struct {
	*Omega
	inverse []float64
	root    []float64 // lower: Omega = root rootᵀ
	logDet  float64
}

func newPrior(o *Omega) (*prior, error) {
	w := make([]float64, len(o.W))
	for i := range o.M {
		for j := range o.M {
			w[i*o.M+j] = float64(0.5 * (o.W[i*o.M+j] + o.W[j*o.M+i]))
		}
	}
	c, ok := cholesky(w, o.M)
	if !ok {
		return nil, &SingularError{}
	}
	return &prior{Omega: o, inverse: inverse(c, o.M), root: c, logDet: logDet(c, o.M)}, nil
}

// joint adds the density of eta to that of the data.
func (q *problem) joint(eta []float64, order int) (*Conditional, error) {
	var c *Conditional
	var err error
	q.runs++
	if q.method.Kind == "foce" {
		c, err = q.uninteracting(eta, order)
	} else {
		c, err = q.Data(q.ctx, eta, order)
	}
	if err != nil {
		return nil, err
	}
	return q.prior.add(c, eta, order, q.p), nil
}

func (r *prior) add(c *Conditional, eta []float64, order, p int) *Conditional {
	m := r.M
	k := multiply(r.inverse, eta, m)
	density := float64(0.5*dot(k, eta)) + float64(0.5*r.logDet) + float64(0.5*float64(m)*log2pi)
	out := &Conditional{Value: c.Value + density}
	if order == 0 {
		return out
	}
	out.Gradient = append(out.Gradient, c.Gradient...)
	for i := range k {
		out.Gradient[i] += k[i]
	}
	for i := range m {
		for j := range m {
			slope := r.Slopes[(i*m+j)*p:][:p]
			weight := float64(0.5*r.inverse[i*m+j]) - float64(0.5*k[i]*k[j])
			for x, s := range slope {
				out.Gradient[m+x] += float64(weight * s)
			}
		}
	}
	if order == 1 {
		return out
	}
	out.data = c.Products
	out.Products = append(out.Products, c.Products...)
	for i := range m {
		row := out.Products[i*(m+p):][:m+p]
		for j := range m {
			row[j] += r.inverse[i*m+j]
		}
		for a := range m { // of inverse·eta: −inverse·dOmega·inverse·eta, with Omega made symmetric
			for b := range m {
				weight := float64(0.5 * (float64(r.inverse[i*m+a]*k[b]) + float64(r.inverse[i*m+b]*k[a])))
				for x, s := range r.Slopes[(a*m+b)*p:][:p] {
					row[m+x] -= float64(weight * s)
				}
			}
		}
	}
	return out
}

// curve adds half the trace of b with the derivative of the inverse of Omega, which is part of every Hessian.
func (r *prior) curve(to, b []float64, p int) {
	m := r.M
	kbk := product(product(r.inverse, b, m), r.inverse, m)
	for i := range m {
		for j := range m {
			weight := float64(0.5 * kbk[i*m+j])
			for x, s := range r.Slopes[(i*m+j)*p:][:p] {
				to[x] -= float64(weight * s)
			}
		}
	}
}

// laplace adds half the logarithm of the determinant of the Hessian at the mode.
func (q *problem) laplace(out *Result, gradient bool) error {
	m := q.m
	c, ok := cholesky(out.Hessian, m)
	if !ok {
		return q.flat(out)
	}
	out.Used = out.Hessian
	out.Value = out.Joint + float64(0.5*logDet(c, m)) - float64(0.5*float64(m)*log2pi)
	if !gradient {
		return nil
	}
	v := columns(c, m)
	moves, err := q.thirds(out, v)
	if err != nil {
		return err
	}
	by := make([]float64, m+q.p)
	for k := range m {
		for x := range by {
			by[x] += float64(0.5 * moves[(k*m+k)*(m+q.p)+x])
		}
	}
	q.prior.curve(by[m:], inverse(c, m), q.p)
	return q.chain(out, by)
}

// flat is what a method makes of a mode whose Hessian is not positive definite: no value.
func (q *problem) flat(out *Result) error {
	out.Value = math.NaN()
	out.Doubt = "the mode of the random effects is flat: its Hessian is not positive definite"
	out.Gradient = make([]float64, q.p)
	for i := range out.Gradient {
		out.Gradient[i] = math.NaN()
	}
	return nil
}

// chain makes the gradient: that of the joint density, by what is left of the modes' moves, and by.
func (q *problem) chain(out *Result, by []float64) error {
	m, p := q.m, q.p
	c, err := q.centre(out)
	if err != nil {
		return err
	}
	if !q.moves(out, c) {
		return q.flat(out)
	}
	out.Gradient = make([]float64, p)
	for x := range out.Gradient {
		g := c.Gradient[m+x] + by[m+x]
		for a := range m {
			g += float64(by[a] * out.Slopes[a*p+x])
		}
		out.Gradient[x] = g
	}
	return nil
}

// centre returns the negative log density at a mode with its second derivatives, which the search for it left.
func (q *problem) centre(out *Result) (*Conditional, error) {
	if out.at != nil {
		return out.at, nil
	}
	return q.joint(out.Mode, 2)
}

// moves fills in how the mode moves with params. It reports whether the Hessian is positive definite.
func (q *problem) moves(out *Result, c *Conditional) bool {
	m, p := q.m, q.p
	h := make([]float64, m*m)
	for i := range m {
		copy(h[i*m:(i+1)*m], c.Products[i*(m+p):])
	}
	symmetrise(h, m)
	l, ok := cholesky(h, m)
	if !ok {
		return false
	}
	out.Slopes = make([]float64, m*p)
	column := make([]float64, m)
	for x := range p {
		for i := range m {
			column[i] = -c.Products[i*(m+p)+m+x]
		}
		solve(l, column, m)
		for i := range m {
			out.Slopes[i*p+x] = column[i]
		}
	}
	return true
}

// sides are the points of a difference, in steps, with their weights.
var sides = []side{{-2, 1.0 / 12}, {-1, -8.0 / 12}, {1, 8.0 / 12}, {2, -1.0 / 12}}

type side struct{ step, weight float64 }

// thirds returns, for columns v_k and v_l of v, the derivatives by everything of v_kᵀ H v_l at the mode, without what
// Omega contributes: [m][m][m+p]. They are differences of exact second derivatives along v_k: of fourth order, or to
// one side of the mode where that is enough.
func (q *problem) thirds(of *Result, v []float64) ([]float64, error) {
	m, w := q.m, q.m+q.p
	out := make([]float64, m*m*w)
	add := func(k int, products []float64, weight float64) {
		for l := range m {
			to := out[(k*m+l)*w:][:w]
			for i := range m {
				by := float64(weight / q.method.Step * v[i*m+l])
				for x, y := range products[i*w : (i+1)*w] {
					to[x] += float64(by * y)
				}
			}
		}
	}
	at, list := make([]float64, m), sides
	if q.method.Rough && of.at != nil && of.at.data != nil {
		list = []side{{1, 1}}
	}
	for k := range m {
		if len(list) == 1 {
			add(k, of.at.data, -1)
		}
		for _, side := range list {
			for i := range at {
				at[i] = of.Mode[i] + float64(side.step*q.method.Step*v[i*m+k])
			}
			q.runs++
			c, err := q.Data(q.ctx, at, 2)
			if err != nil {
				return nil, err
			}
			add(k, c.Products, side.weight)
		}
	}
	return out, nil
}

// Errors returns the standard deviations of the random effects given the data and the params, by the Hessian.
func (r *Result) Errors() []float64 {
	m := len(r.Mode)
	out := make([]float64, m)
	c, ok := cholesky(r.Hessian, m)
	for i := range out {
		out[i] = math.NaN()
	}
	if ok {
		inv := inverse(c, m)
		for i := range out {
			out[i] = math.Sqrt(inv[i*m+i])
		}
	}
	return out
}

// Precision returns the inverse of some rows and columns of an n by n matrix of covariances; NaN where there is none.
func Precision(w []float64, n int, of []int) []float64 {
	k := len(of)
	some := make([]float64, k*k)
	for i, a := range of {
		for j, b := range of {
			some[i*k+j] = w[a*n+b]
		}
	}
	symmetrise(some, k)
	if c, ok := cholesky(some, k); ok {
		return inverse(c, k)
	}
	for i := range some {
		some[i] = math.NaN()
	}
	return some
}

func logDet(c []float64, m int) float64 {
	sum := 0.0
	for i := range m {
		sum += elem.Log(c[i*m+i])
	}
	return 2 * sum
}

// Beside returns where the mode nearly is for other params than those of r, by how it moves; nil where that is unknown.
func (r *Result) Beside(params, of []float64) []float64 {
	if r.Mode == nil || r.Slopes == nil || r.Doubt != "" {
		return nil
	}
	at := append([]float64(nil), r.Mode...)
	for a := range at {
		for x, s := range r.Slopes[a*len(of) : (a+1)*len(of)] {
			at[a] += float64(s * (params[x] - of[x]))
		}
	}
	return at
}

// Factors returns the lower triangular root of covariances, their inverse, and the logarithm of their determinant.
func (o *Omega) Factors() (root, inverse []float64, logDet float64, err error) {
	p, err := newPrior(o)
	if err != nil {
		return nil, nil, 0, err
	}
	return p.root, p.inverse, p.logDet, nil
}
