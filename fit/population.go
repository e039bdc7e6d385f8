package fit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// Population is what a fit says of a model with random effects, at the estimates.
type Population struct {
	*odes.Population
	Shrinkage []float64 // of each random effect: Population.Shrinkage
	// Errors is how the standard errors of Estimates are computed: fit.errors. R, S and Sandwich are those of each
	// estimate by the inverse of the Hessian R of nll(), by that of S, the sum over subjects of products of their
	// gradients, and by R⁻¹ S R⁻¹; NaN where there is none.
	Errors         string
	R, S, Sandwich []float64
	// Condition is the ratio of the largest to the least eigenvalue of the correlation of the estimates.
	Condition float64
	// Covariances are the matrices of covariances that were searched for.
	Covariances []Covariances
	// Quadrature is the same integral by quadrature or importance sampling around the modes; nil where it could not be
	// computed.
	Quadrature *odes.Population

	more string // solver.marginal with which modes are found that the integral missed; "" for none
}

// withMoreModes goes on from a fit whose integral missed modes of random effects, with more starts of the searches for
// these: once.
func withMoreModes(ctx context.Context, m *odes.Model, opts Options, out *Result) (*Result, error) {
	if out.Population == nil || out.Population.more == "" || ctx.Err() != nil {
		return out, nil
	}
	by := out.Population.more
	again := opts
	again.Starts, again.Done, again.Trained, again.Found, again.Training = 1, nil, nil, nil, nil
	again.Set = append(slices.Clone(opts.Set), out.Assignments()...)
	again.Settings = append(slices.Clone(opts.Settings), odes.Setting{Key: "solver.marginal", Value: by},
		odes.Setting{Key: "fit.algorithm", Value: "auto"})
	better, err := Run(ctx, m, again)
	if err != nil || better.Population == nil {
		return out, nil
	}
	better.Warnings = append(better.Warnings, diag.Diagnostic{
		Code: CodeFit, Level: diag.Warning, Message: "searches for random effects missed modes; the fit went on with " +
			"marginal = " + by + ", which belongs in the solver block of the model",
	})
	return better, nil
}

// population is inPopulation for models that have random effects, at a point that is worth it. whole is for what was
// begun when ctx has ended.
func population(
	ctx, whole context.Context, p *problem, e *evaluator, m *minimum, c *certificate, out *Result,
) error {
	if len(p.model.RandomEffects()) == 0 || !c.known() || c.violated || m.gradient == nil {
		return nil
	}
	err := inPopulation(whole, p, e, m, out)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// inPopulation finds what there is to know of a population: the covariance of the estimates, and the subjects.
func inPopulation(ctx context.Context, p *problem, e *evaluator, m *minimum, out *Result) error {
	n := len(m.x)
	m.keep = m.free()
	o := p.runOptions()
	o.Threads = p.opts.workers()
	values := p.values(m.x)
	e.move(m.x)
	o.Set = slices.Clone(o.Set)
	for _, a := range e.set {
		o.Set = append(o.Set, odes.Assignment{Name: a.Name, Values: slices.Clone(a.Values)})
	}
	list, err := odes.CheckedPopulation(ctx, p.model, o)
	if err != nil {
		return err
	}
	none := func() []float64 { return slices.Repeat([]float64{math.NaN()}, n) }
	pop := &Population{
		Population: list, Shrinkage: list.Shrinkage(), Errors: p.settings.Errors,
		R: none(), S: none(), Sandwich: none(), Condition: math.NaN(),
	}
	out.Population = pop
	pop.Quadrature = compared(list, out)
	likelihood := math.Abs(list.Value-out.Objective.Value) <= 1e-7*math.Abs(list.Value)
	if likelihood {
		out.Rows, out.NLL = list.Measurements, list.Value
		out.AIC = 2*list.Value + 2*float64(n)
		out.BIC = 2*list.Value + float64(n)*math.Log(float64(list.Measurements))
	}
	if err := e.bends(ctx, m); err != nil {
		return err
	}
	k := len(m.keep)
	hessian := sub(m.hessian, n, m.keep)
	r := invert(slices.Clone(hessian), k)
	var cross, sandwich []float64
	if likelihood {
		products := make([]float64, k*k)
		moves := matrices{p}.moves(m.x)
		for i := range list.Subjects {
			g := make([]float64, k)
			for a, j := range m.keep {
				g[a] = pull(1, list.Subjects[i].Gradient, moves[j])
			}
			for a := range g {
				for b := range g {
					products[a*k+b] += float64(g[a] * g[b])
				}
			}
		}
		if len(list.Subjects) > k { // gradients add up to zero at a minimum: of fewer, products have no inverse
			cross = invert(slices.Clone(products), k)
		}
		if r != nil {
			sandwich = times(times(r, products, k), r, k)
		}
	}
	for _, by := range []struct {
		cov []float64
		to  []float64
	}{{r, pop.R}, {cross, pop.S}, {sandwich, pop.Sandwich}} {
		for a, j := range m.keep {
			if by.cov != nil && by.cov[a*k+a] > 0 {
				by.to[j] = math.Sqrt(by.cov[a*k+a]) * math.Abs(p.coords[j].slope(values[j]))
			}
		}
		if by.cov == nil || len(p.blocks) == 0 {
			continue
		}
		spread := matrices{p}.spread(m.x, widened(by.cov, n, m.keep))
		for j := range p.coords {
			if p.coords[j].block != nil {
				by.to[j] = math.Sqrt(spread[j*n+j])
			}
		}
	}
	chosen := map[string][]float64{"r": r, "s": cross, "sandwich": sandwich}[p.settings.Errors]
	if chosen == nil || !out.KKT.Certified {
		return nil
	}
	if ev, _ := eigen(spreadBy(p, m, chosen, out), k); len(ev) > 0 {
		if least := slices.Min(ev); least > 0 {
			pop.Condition = slices.Max(ev) / least
		}
	}
	return nil
}

// bends computes the Hessian at a minimum, if it is not known.
func (e *evaluator) bends(ctx context.Context, m *minimum) error {
	if m.hessian != nil {
		return nil
	}
	s, err := e.run(ctx, m.x, true)
	if err != nil {
		return err
	}
	n := len(m.x)
	gradient := make([]float64, n)
	m.hessian = make([]float64, n*n)
	e.gather(s, 0, e.p.sign(), m.x, gradient)
	e.curvature(s, e.p.sign(), m.x, gradient, m.hessian)
	return nil
}

// spreadBy makes cov, of coordinates that are free, the covariance of the estimates. It returns their correlations.
func spreadBy(p *problem, m *minimum, cov []float64, out *Result) []float64 {
	n, k := len(m.x), len(m.keep)
	m.cov = widened(cov, n, m.keep)
	correlation := make([]float64, k*k)
	out.Correlation = make([][]float64, n)
	for i := range out.Correlation {
		out.Correlation[i] = slices.Repeat([]float64{math.NaN()}, n)
	}
	if len(p.blocks) > 0 {
		cov = sub(matrices{p}.spread(m.x, m.cov), n, m.keep)
	}
	for a, i := range m.keep {
		for b, j := range m.keep {
			correlation[a*k+b] = cov[a*k+b] / math.Sqrt(cov[a*k+a]*cov[b*k+b])
			out.Correlation[i][j] = correlation[a*k+b]
		}
	}
	return correlation
}

// widened returns a matrix of n rows and columns with those of keep taken from cov, and NaN beside them.
func widened(cov []float64, n int, keep []int) []float64 {
	out, k := slices.Repeat([]float64{math.NaN()}, n*n), len(keep)
	for a, i := range keep {
		for b, j := range keep {
			out[i*n+j] = cov[a*k+b]
		}
	}
	return out
}

// times returns the product of two square matrices.
func times(a, b []float64, n int) []float64 {
	out := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for k := range n {
				out[i*n+j] += float64(a[i*n+k] * b[k*n+j])
			}
		}
	}
	return out
}

// compared says how the integrals of subjects compare with those by quadrature around their modes, or by draws where
// there are many random effects or modes.
func compared(list *odes.Population, out *Result) *odes.Population {
	say := func(level diag.Level, format string, args ...any) {
		out.Warnings = append(out.Warnings, diag.Diagnostic{
			Code: CodeFit, Level: level, Message: fmt.Sprintf(format, args...),
		})
	}
	if !strings.Contains(list.Method, "starts") && slices.ContainsFunc(list.Subjects, func(s odes.Subject) bool {
		return s.Check != nil && s.Check.Better != nil
	}) {
		out.Population.more = list.More()
	}
	other := list.Checked()
	if other != nil {
		judged := "; the difference is within the errors of draws"
		if list.Apart(0) {
			judged = ", which is closer to the integral"
		}
		say(diag.Note, "OFV is %.4f by %s and %.4f by %s%s", list.OFV, list.Method, other.OFV, other.Method, judged)
	}
	for _, d := range list.Doubts() {
		if d.Minor { // the note above has it
			continue
		}
		if d.Wrong {
			out.Status = "partial"
		}
		say(diag.Warning, "%s", d.Text)
	}
	for i := range list.Subjects {
		s := &list.Subjects[i]
		if s.Doubt != "" {
			out.Status = "partial"
			say(diag.Warning, "%s: %s; its part of OFV is not to be trusted", s.Name, s.Doubt)
		}
	}
	return other
}
