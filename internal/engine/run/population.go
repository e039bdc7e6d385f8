package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/population"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// The experiments of a model with random effects are the subjects of a population. What each adds to nll() is an
// integral, which package population computes. What that asks of a subject, runs of its experiment answer: of the
// likelihood, whose derivatives by random effects and params come from the adjoint, and second ones from products with
// its Hessian; of the rows of the data, for the methods that are linear in predictions; and of the covariances.

// people are the subjects of a population.
type people struct {
	method   population.Method
	subjects []*person
	values   map[string][]float64 // that params were given
	last     integrated
	anchor   *anchor // nil for none
}

// anchor is where the modes of subjects are for some params, and how they move with these.
type anchor struct {
	variables []result.Variable
	at        []float64
	results   []*population.Result // of subjects; nil where there are several modes, or none
}

// Anchor lets searches for the modes of subjects, in the runs to come, begin where those of the last run would move to:
// what is computed stays a function of the params, and costs less near these. Where such a search has trouble, it
// begins anew from zero. Anchor(false) ends that. Subjects with several modes, and runs without derivatives, have none.
func Anchor(r *Runner, on bool) {
	l := r.people
	if l == nil {
		return
	}
	l.anchor = nil
	if !on || r.byInitial {
		return
	}
	a := &anchor{variables: r.variables, at: valuesOf(r.Run, r.variables, r.columns)}
	for _, q := range l.subjects {
		to := q.result
		if to != nil && to.Modes > 1 {
			to = nil
		}
		a.results = append(a.results, to)
	}
	l.anchor = a
}

// valuesOf are those of the params by which a Runner differentiates, at the places of its columns.
func valuesOf(r *Run, of []result.Variable, columns int) []float64 {
	x := make([]float64, columns)
	for _, v := range of {
		copy(x[v.Offset:], r.problem.Point.Param(v.Name))
	}
	return x
}

// begins returns where the search for the mode of a subject begins; nil for zero.
func (l *people) begins(subject int, params []float64) []float64 {
	if near := l.subjects[subject].near; near != nil || params == nil {
		return near
	}
	if a := l.anchor.results[subject]; a != nil {
		return a.Beside(params, l.anchor.at)
	}
	return nil
}

// integrated is what integrals have come to: they are functions of the params, and where these are as they were, so is
// all that was computed.
type integrated struct {
	values  map[string][]float64
	columns int
	list    []*contribution
	results []*population.Result // of each subject
}

// same reports whether that is what integrals with so many columns would come to now.
func (l *people) same(columns int) bool {
	for name := range l.values {
		if strings.Contains(name, "[") { // an element may have another value by a vector that was given later
			return false
		}
	}
	return l.last.list != nil && l.last.columns == columns && !l.hinted() &&
		maps.EqualFunc(l.values, l.last.values, slices.Equal)
}

// hinted reports whether searches begin where modes are known to be, nearly: differences of gradients and draws may.
func (l *people) hinted() bool {
	return l.anchor != nil || slices.ContainsFunc(l.subjects, func(q *person) bool { return q.near != nil })
}

// keep notes what integrals have come to.
func (l *people) keep(columns int, list []*contribution) {
	if l.hinted() {
		return
	}
	l.last = integrated{values: maps.Clone(l.values), columns: columns, list: list}
	for _, q := range l.subjects {
		l.last.results = append(l.last.results, q.result)
	}
	for i, c := range list {
		again := *c
		again.work = work{} // it is done once
		list[i] = &again
	}
}

// person is one subject. It belongs to one goroutine at a time.
type person struct {
	name    string
	effects []effect
	full    int   // how many random effects the model has, also those of occasions that the subject does not have
	active  []int // those that it has, in file order: m of them
	m, p    int
	joint   *Runner // the likelihood of the data, given the random effects
	rows    *Runner // of measurements; nil where the method needs none
	scales  *Runner // of what the random effects are distributed by
	data    []measured
	seed    uint64
	omega   []float64 // covariances of all random effects
	last    *population.Rows
	work
	warnings []diag.Diagnostic
	result   *population.Result
	lacking  string    // why its random effects have no density
	near     []float64 // where its mode nearly is; nil for nowhere
	names    []string  // of the elements of its random effects
	// setters set these in runs; nil where params follow others.
	setters map[*Runner]*compiled.Setter
	check   *result.Check // of the result; nil where it was not compared
}

// effect is a random effect of the model, with its place among all.
type effect struct {
	*model.Random
	name         string
	offset, size int
}

// measured is an observation of a subject.
type measured struct {
	log  bool // the noise is lognormal
	data []float64
}

// scaleName is what the objective is called that a distribution follows from.
func scaleName(r *model.Random) string { return "random'" + r.Sym.Name }

// addScales makes objectives of what the random effects are distributed by.
func addScales(m *model.Model) {
	for _, r := range m.Randoms {
		m.Objectives = append(m.Objectives, &model.Objective{Name: scaleName(r), Value: r.Scale, Span: r.Span})
	}
}

// noneOfPopulations is the error of what is not for populations.
func noneOfPopulations(m *Model, what string) error {
	var l diag.List
	l.Errorf(settings.CodeUnavailable, m.Checked.Randoms[0].Span, "%s is not available for nll() of a model with "+
		"random effects in this version", what)
	return l.Err()
}

// populate makes what integrates over random effects, with derivatives by the variables.
func populate(r *Run, setup Setup, wrt []result.Variable) error {
	if r.people != nil {
		return nil
	}
	s := &r.settings
	how := population.Method{Kind: s.Marginal.Kind, N: s.Marginal.N, Seed: s.Marginal.Seed, Starts: s.Marginal.Starts}
	how.Rough = setup.Draws
	how.Step = max(0.03, elem.Pow(s.Solver.RTol, 0.2))
	if how.Kind == "" {
		how.Kind = "laplace"
	}
	list := &people{method: how}
	rowModels, err := r.model.rowModels()
	if err != nil {
		return err
	}
	for i, x := range r.model.Experiments {
		at := slices.IndexFunc(rowModels, func(p *comparedPart) bool { return p.at == i })
		if at < 0 {
			continue // it has no data, so its integral is 1
		}
		q := &person{name: x.Name, seed: how.Seed ^ hashOf(x.Name)}
		if err := q.prepare(r, i, rowModels[at].of, how, setup, wrt); err != nil {
			return x.wrap(err)
		}
		list.subjects = append(list.subjects, q)
	}
	r.people = list
	return nil
}

// hashOf is FNV-1a.
func hashOf(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return h
}

// prepare makes the runs of subject i of r.
func (q *person) prepare(r *Run, i int, rows *Model, how population.Method, setup Setup, wrt []result.Variable) error {
	x := r.model.Experiments[i]
	var by []result.Variable
	for _, e := range x.Model.Checked.Randoms {
		size := e.Sym.Type.Shape.Size()
		q.effects = append(q.effects, effect{Random: e, name: e.Sym.Name, offset: q.full, size: size})
		for i := range size {
			if e.Present == nil || e.Present[i*len(e.Present)/size] {
				q.active = append(q.active, q.full+i)
			}
		}
		q.full += size
		by = append(by, result.Variable{Name: e.Sym.Name})
	}
	q.m, q.names, q.setters = len(q.active), x.Model.effects(), map[*Runner]*compiled.Setter{}
	for _, v := range wrt {
		q.p += v.Size()
	}
	if how.Kind == "agq" && population.TooMany(how.N, q.m) {
		var l diag.List
		l.Errorf(settings.CodeSetting, source.Span{}, "agq(n = %d) with %d random effects has %d^%d nodes for each "+
			"subject; take fewer, or imp(n = 1000)", how.N, q.m, how.N, q.m)
		return l.Err()
	}
	few := sitesOf(x.Model) <= fewSites
	begin := func(m *Model, of []string, order int) (*Runner, error) {
		its := r.ofPart(i, setup, append(slices.Clone(by), wrt...)).With(func(s *settings.Settings) {
			s.Of, s.Threads = of, 1
			if s.Solver.Observe == solvers.ObserveAuto && few {
				s.Solver.Observe = solvers.ObserveClip
			}
			s.Order = order
			if len(of) > 1 && s.Mode == sens.DefaultMode {
				s.Mode = settings.Auto
			}
		})
		part, err := m.Prepare(its)
		if err == nil {
			part.problem.Answers = r.problem.Answers
		}
		return part, err
	}
	var err error
	if q.joint, err = begin(x.Model, []string{x.Model.Checked.Objectives[0].Name}, 2); err != nil {
		return err
	}
	var scales []string
	for _, e := range q.effects {
		scales = append(scales, scaleName(e.Random))
	}
	if q.scales, err = begin(rows, scales, 1); err != nil {
		return err
	}
	if !linear(how.Kind) {
		return nil
	}
	of, err := q.measurements(x.Model.Checked, how.Kind)
	if err != nil {
		return err
	}
	q.rows, err = begin(rows, of, 2)
	return err
}

// fewSites is how many rows of data of a subject end steps of its runs. Steps within which something is read are
// differentiated stage by stage, and others as a whole, which is far quicker.
const fewSites = 64

// sitesOf counts the rows of data.
func sitesOf(m *Model) (n int) {
	for _, o := range m.Checked.Observations {
		n += len(o.Rows.Table.Data[o.Column])
	}
	return n
}

// linear reports whether a method reads predictions and noise row by row.
func linear(kind string) bool { return kind == "focei" || kind == "foce" || kind == "fo" }

// measurements lists the objectives of the rows of all observations. It refuses what is no normal noise.
func (q *person) measurements(m *model.Model, kind string) (of []string, err error) {
	var l diag.List
	for i, o := range m.Observations {
		d := measured{log: o.Noise.Name == "lognormal"}
		d.data = o.Rows.Table.Data[o.Column]
		switch {
		case o.Censored && (o.Rows.Ranges == nil || o.Measured() < len(d.data)):
			l.Errorf(settings.CodeSetting, o.Span, "marginal = %s has no values beyond a limit of quantification, as "+
				"%s has; write solver { marginal = laplace }", kind, o.Name)
		case o.Noise.Name != "normal" && !d.log:
			l.Errorf(settings.CodeSetting, o.Span, "marginal = %s is for normal and lognormal noise, and that of "+
				"%s is %s; write solver { marginal = laplace }", kind, o.Name, o.Noise.Name)
		}
		if d.log {
			logs := make([]float64, len(d.data))
			for k, y := range d.data {
				logs[k] = elem.Log(y)
			}
			d.data = logs
		}
		q.data = append(q.data, d)
		of = append(of, fmt.Sprintf("%s'%d.prediction", o.Name, i), fmt.Sprintf("%s'%d.0", o.Name, i))
	}
	return of, l.Err()
}

// set gives params other values for the integrals to come.
func (l *people) set(set []compiled.Override) error {
	if l == nil {
		return nil
	}
	if l.values == nil {
		l.values = map[string][]float64{}
	}
	for _, o := range set {
		l.values[o.Name] = slices.Clone(o.Values)
	}
	for _, q := range l.subjects {
		for _, part := range []*Runner{q.joint, q.rows, q.scales} {
			if part == nil {
				continue
			}
			if err := part.Set(set...); err != nil {
				return (&Experiment{Name: q.name}).wrap(err)
			}
		}
	}
	return nil
}

// integrate computes the integral of every subject, with derivatives by as many columns as variables have; 0: without.
func integrate(ctx context.Context, r *Run, columns int, tell func(result.Progress)) (*totals, error) {
	l := r.people
	m := r.model
	at := make([]int, len(m.Experiments))
	for i, x := range m.Experiments {
		at[i] = slices.IndexFunc(l.subjects, func(q *person) bool { return q.name == x.Name })
	}
	var params []float64
	if a := l.anchor; a != nil {
		params = valuesOf(r, a.variables, len(a.at))
	}
	same := l.same(columns)
	list := make([]*contribution, len(m.Experiments))
	sum, err := r.addUp(columns, tell, nil, func(i int) (c *contribution) {
		if same {
			if at[i] >= 0 {
				l.subjects[at[i]].result = l.last.results[at[i]]
			}
			return l.last.list[i]
		}
		defer func() { list[i] = c }()
		c = &contribution{values: make([]float64, len(m.Checked.Totals)), gradient: make([]float64, columns)}
		if at[i] < 0 {
			return c
		}
		q := l.subjects[at[i]]
		how := l.method
		how.Seed, how.Near = q.seed, l.begins(at[i], params)
		q.work, q.warnings = work{}, nil
		var gone *population.SingularError
		switch q.result, c.err = population.Integrate(ctx, q, how, columns > 0); {
		case errors.As(c.err, &gone):
			c.err, q.result = nil, nil
			c.values[0], c.lacking = math.NaN(), cmp.Or(q.lacking, gone.Error())
			for k := range c.gradient {
				c.gradient[k] = math.NaN()
			}
		case population.NoNumber(c.err):
			c.err, q.result = nil, nil
			c.values[0] = math.NaN()
			c.lacking = "the likelihood of its data is not a number where random effects are zero"
			for k := range c.gradient {
				c.gradient[k] = math.NaN()
			}
		case c.err == nil:
			c.values[0] = q.result.Value
			copy(c.gradient, q.result.Gradient)
			c.work, c.warnings = q.work, q.warnings
		}
		return c
	})
	if err != nil {
		return nil, err
	}
	if !same {
		l.keep(columns, list)
	}
	tellPopulation(r, sum)
	return sum, nil
}

// tellPopulation says what the integral is for people of the field, and what is doubtful about it.
func tellPopulation(r *Run, sum *totals) {
	l := r.people
	n := 0
	var doubtful, several []string
	for _, q := range l.subjects {
		n += q.measurementsOf()
		if q.result == nil {
			continue
		}
		if q.result.Doubt != "" {
			doubtful = append(doubtful, q.name+": "+q.result.Doubt)
		}
		if q.result.Modes > 1 {
			several = append(several, q.name)
		}
	}
	if r.model.Part || len(sum.values) == 0 {
		return
	}
	at := r.model.Checked.Randoms[0].Span
	r.warnings.Notef(CodePopulation, at, "marginal = %s over random effects of %s: OFV = %s (2 nll() - n log(2 pi), "+
		"n = %d measurements)", r.settings.Marginal, diag.Count(len(l.subjects), "subject"),
		number(ofv(sum.values[0], n)), n)
	if len(doubtful) > 0 {
		r.warnings.Warnf(CodePopulation, at, "nll() is not to be trusted: %s", strings.Join(doubtful, "; "))
	}
	if len(several) > 0 {
		r.warnings.Warnf(CodePopulation, at, "the random effects of %s have several modes; the lowest counts, and "+
			"nll() is an approximation about it alone: compare it with marginal = imp", diag.All(several))
	}
}

// CodePopulation is that of what is said of populations.
const CodePopulation diag.Code = "population"

func number(x float64) string { return fmt.Sprintf("%.5f", x) }

// measurementsOf counts the data that have a density: those that are not beyond a limit.
func (q *person) measurementsOf() (n int) {
	for _, o := range q.joint.model.Checked.Observations {
		n += o.Measured()
	}
	return n
}

// place makes eta the values of the random effects of runs to come.
func (q *person) place(r *Runner, eta []float64) error {
	all := make([]float64, q.full)
	for k, at := range q.active {
		all[at] = eta[k]
	}
	setter, known := q.setters[r]
	if setter != nil {
		for k, x := range all {
			setter.Set(k, x)
		}
		return r.model.Explain.Asserts(r.problem.Point)
	}
	if !known { // the values were set once, so that there is nothing to refuse
		defer func() { q.setters[r] = r.problem.Point.Setter(q.names) }()
	}
	set := make([]compiled.Override, len(q.effects))
	for i, e := range q.effects {
		set[i] = compiled.Override{Name: e.name, Values: all[e.offset : e.offset+e.size]}
	}
	return r.Set(set...)
}

// own returns of rows with derivatives by all random effects and the params those by the effects that the subject has.
func (q *person) own(rows []float64) []float64 {
	if q.m == q.full {
		return slices.Clone(rows)
	}
	w := q.full + q.p
	var out []float64
	for ; len(rows) > 0; rows = rows[w:] {
		for _, at := range q.active {
			out = append(out, rows[at])
		}
		out = append(out, rows[q.full:w]...)
	}
	return out
}

// Failed implements population.Subject.
func (q *person) Failed(err error) bool {
	var failed *result.RunError
	return population.NoNumber(err) || errors.As(err, &failed) && !errors.Is(err, context.Canceled) &&
		!errors.Is(err, context.DeadlineExceeded)
}

// Data implements population.Subject.
func (q *person) Data(ctx context.Context, eta []float64, order int) (*population.Conditional, error) {
	r := q.joint
	if err := q.place(r, eta); err != nil {
		return nil, err
	}
	out := &population.Conditional{}
	if order == 0 {
		var v [1]float64
		steps, err := r.Values(ctx, v[:])
		q.Steps += steps
		out.Value = v[0]
		return out, err
	}
	if order == 2 {
		first, products, plain, err := both(ctx, r, q.m, q.direction)
		if err != nil {
			return nil, err
		}
		if plain {
			q.add(&r.took)
			q.warnings = r.model.untold(r.warnings.All())
			out.Value, out.Gradient, out.Products = first.values[0], q.own(first.gradient), q.own(products)
			return out, nil
		}
	}
	s, err := r.first(ctx)
	if err != nil {
		return nil, err
	}
	q.add(&r.took)
	q.warnings = s.Warnings
	out.Value = s.Values[0].Value
	out.Gradient = q.own(s.Gradient[:q.full+q.p])
	if order == 2 {
		if out.Products, err = q.products(ctx, r, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// products returns those of the Hessians of all objectives of r with the random effects, or of sums of them.
func (q *person) products(ctx context.Context, r *Runner, sums [][]float64) ([]float64, error) {
	out, _, err := r.products(ctx, sums, q.m, q.direction, nil, 1, nil)
	return q.own(out), err
}

// direction moves random effect k of those that the subject has.
func (q *person) direction(k int) []float64 {
	v := make([]float64, q.full+q.p)
	v[q.active[k]] = 1
	return v
}

// Rows implements population.Subject.
func (q *person) Rows(ctx context.Context, eta []float64) (*population.Rows, error) {
	r := q.rows
	if err := q.place(r, eta); err != nil {
		return nil, err
	}
	s, err := r.first(ctx)
	if err != nil {
		return nil, err
	}
	q.add(&r.took)
	w, gradient := q.m+q.p, q.own(s.Gradient)
	out := &population.Rows{}
	row := 0
	for _, d := range q.data {
		n := len(d.data)
		out.Data = append(out.Data, d.data...)
		for k := range n {
			x, first := s.Values[row+k].Value, gradient[(row+k)*w:][:w]
			if d.log {
				for y := range first {
					first[y] /= x
				}
				out.Constant += d.data[k]
				x = elem.Log(x)
			}
			out.F, out.DF = append(out.F, x), append(out.DF, first...)
		}
		row += n
		for k := range n {
			out.S = append(out.S, s.Values[row+k].Value)
		}
		out.DS = append(out.DS, gradient[row*w:(row+n)*w]...)
		row += n
	}
	q.last = out
	return out, nil
}

// Curved implements population.Subject.
func (q *person) Curved(ctx context.Context, sums []population.Sum) ([]float64, error) {
	weights := make([][]float64, len(sums))
	for i, sum := range sums {
		to := make([]float64, 0, 2*len(q.last.Data))
		put := func(of []float64, from, n int) {
			if of == nil {
				of, from = make([]float64, n), 0
			}
			to = append(to, of[from:from+n]...)
		}
		row := 0
		for _, d := range q.data {
			n := len(d.data)
			put(sum.F, row, n)
			if d.log { // of f, where the row is its logarithm
				for k := range n {
					to[len(to)-n+k] /= elem.Exp(q.last.F[row+k])
				}
			}
			put(sum.S, row, n)
			row += n
		}
		weights[i] = to
	}
	out, err := q.products(ctx, q.rows, weights)
	if err != nil {
		return nil, err
	}
	w, row := q.m+q.p, 0
	for _, d := range q.data {
		for k := range d.data {
			first := q.last.DF[(row+k)*w:][:w]
			for i, sum := range sums {
				if !d.log || sum.F == nil {
					continue
				}
				for a := range q.m {
					weight := float64(sum.F[row+k] * first[a])
					for y, x := range first {
						out[(i*q.m+a)*w+y] -= float64(weight * x)
					}
				}
			}
		}
		row += len(d.data)
	}
	return out, nil
}

// Omega implements population.Subject.
func (q *person) Omega(ctx context.Context) (*population.Omega, error) {
	s, err := q.scales.first(ctx)
	if err != nil {
		return nil, err
	}
	full := q.covariances(s)
	m, p := q.m, q.p
	out := &population.Omega{M: m, W: make([]float64, m*m), Slopes: make([]float64, m*m*p)}
	for i, a := range q.active {
		for j, b := range q.active {
			out.W[i*m+j] = full.W[a*q.full+b]
			copy(out.Slopes[(i*m+j)*p:][:p], full.Slopes[(a*q.full+b)*p:])
		}
	}
	q.omega = full.W
	return out, nil
}

// covariances makes the matrix of all random effects, also of occasions that the subject does not have.
func (q *person) covariances(s *trust.Result) *population.Omega {
	m, p, w := q.full, q.p, q.full+q.p
	out := &population.Omega{M: m, W: make([]float64, m*m), Slopes: make([]float64, m*m*p)}
	row := 0
	values := make([]float64, len(s.Values))
	for i, v := range s.Values {
		values[i] = v.Value
	}
	q.lacking = ""
	for _, e := range q.effects {
		single := len(e.Scale.Type().Shape) == 0
		first := row
		q.lacking = cmp.Or(q.lacking, undistributed(e.Random, values[row:][:max(1, e.Scale.Type().Shape.Size())]))
		occasions := max(len(e.Entries), 1)
		size := e.size / occasions
		for o := range occasions { // all have the same covariances
			row = first
			offset := e.offset + o*size
			for i := range size {
				if e.Matrix {
					for j := range size {
						at := (offset+i)*m + offset + j
						out.W[at] = s.Values[row].Value
						copy(out.Slopes[at*p:(at+1)*p], s.Gradient[row*w+m:(row+1)*w])
						row++
					}
					continue
				}
				at := (offset+i)*m + offset + i
				sd := s.Values[row].Value
				if !(sd > 0) {
					sd = math.NaN()
				}
				out.W[at] = sd * sd
				for x, d := range s.Gradient[row*w+m : (row+1)*w] {
					out.Slopes[at*p+x] = 2 * sd * d
				}
				if !single {
					row++
				}
			}
			if single && !e.Matrix {
				row++
			}
		}
	}
	return out
}

// anyOrder adds up what subjects contribute, with the same bits in any order of them.
func (t *totals) anyOrder(list []*contribution) {
	add := func(to []float64, of func(c *contribution) []float64) {
		all := make([]float64, len(list))
		for k := range to {
			for i := range list {
				all[i] = 0
				if v := of(list[i]); k < len(v) {
					all[i] = v[k]
				}
			}
			slices.Sort(all)
			for _, x := range all {
				to[k] += x
			}
		}
	}
	add(t.values, func(c *contribution) []float64 { return c.values })
	add(t.gradient, func(c *contribution) []float64 { return c.gradient })
}

func addTo(sum, list []float64) {
	for k, x := range list {
		sum[k] += x
	}
}

// curvature returns products of the Hessian of the integral with directions, [count][columns]: differences of its
// gradients. Steps are parts of a standard error, by the cross product of the subjects' gradients.
func curvatureOfPeople(ctx context.Context, r *Runner, count int, of func(k int) []float64) ([]float64, error) {
	const step = 0.02 // of a standard error: the third derivatives of the likelihood are left out
	c := r.columns
	if r.byInitial {
		return nil, noneOfPopulations(r.model, "a second derivative by an initial value")
	}
	base := valuesOf(r.Run, r.variables, c)
	var gradients [][]float64
	for _, q := range r.people.subjects {
		if q.result == nil {
			out := make([]float64, count*c)
			for i := range out {
				out[i] = math.NaN()
			}
			return out, nil
		}
		gradients = append(gradients, q.result.Gradient)
	}
	if r.crossed {
		return crossProducts(gradients, count, c, of), nil
	}
	kept := make([]*population.Result, len(r.people.subjects))
	for i, q := range r.people.subjects {
		kept[i] = q.result
	}
	defer func() {
		for _, q := range r.people.subjects {
			q.near = nil
		}
	}()
	at := func(x []float64) (*totals, error) {
		for i, q := range r.people.subjects {
			if q.near = kept[i].Beside(x, base); r.people.method.Kind == "imp" && kept[i].Modes > 1 {
				q.near = nil // all modes are drawn from
			}
		}
		var set []compiled.Override
		for _, v := range r.variables {
			set = append(set, compiled.Override{Name: v.Name, Values: x[v.Offset : v.Offset+v.Size()]})
		}
		if err := r.people.set(set); err != nil {
			return nil, err
		}
		notes := r.warnings
		defer func() { r.warnings = notes }()
		return integrate(ctx, r.Run, c, nil)
	}
	out := make([]float64, count*c)
	for k := range count {
		v := of(k)
		information, size := 0.0, 0.0
		for _, g := range gradients {
			s := innerProduct(g, v)
			information += float64(s * s)
		}
		for i, x := range v {
			size = max(size, math.Abs(x)*1e3/max(math.Abs(base[i]), 1e-3)) // no step is more than a tenth
		}
		if size == 0 {
			continue
		}
		h := min(step/math.Sqrt(information), 100/size)
		var side [2]*totals
		for i, sign := range []float64{1, -1} {
			x := slices.Clone(base)
			for j := range x {
				x[j] += float64(sign * h * v[j])
			}
			var err error
			if side[i], err = at(x); err != nil {
				return nil, err
			}
		}
		for j := range c {
			out[k*c+j] = (side[0].gradient[j] - side[1].gradient[j]) / (2 * h)
		}
	}
	var set []compiled.Override
	for _, v := range r.variables {
		set = append(set, compiled.Override{Name: v.Name, Values: base[v.Offset : v.Offset+v.Size()]})
	}
	for i, q := range r.people.subjects {
		q.result = kept[i]
	}
	return out, r.people.set(set)
}

// CrossProducts makes second derivatives of an integral over random effects, in the runs to come, those of the
// information of the subjects: sums of products of their gradients. These cost nothing, and come near for many
// subjects.
func (r *Runner) CrossProducts(on bool) { r.crossed = on }

// crossProducts returns products of the sum of g gᵀ over all gradients with directions, [count][c], with the same bits
// in any order of the subjects.
func crossProducts(gradients [][]float64, count, c int, of func(k int) []float64) []float64 {
	out := make([]float64, count*c)
	terms := make([]float64, len(gradients))
	for k := range count {
		v := of(k)
		for j := range c {
			for i, g := range gradients {
				terms[i] = float64(g[j] * innerProduct(g, v))
			}
			slices.Sort(terms)
			for _, x := range terms {
				out[k*c+j] += x
			}
		}
	}
	return out
}

func innerProduct(a, b []float64) (s float64) {
	for i, x := range a {
		s += float64(x * b[i])
	}
	return s
}

// Population integrates over the random effects of all subjects, with the gradient of each by the variables of the
// setup where that is asked for. With check, the integral of each subject is compared with another.
func (m *Model) Population(ctx context.Context, setup Setup, gradient, check bool) (*result.Population, error) {
	if len(m.Checked.Randoms) == 0 || len(m.Checked.Totals) == 0 {
		var l diag.List
		l.Errorf(settings.CodeSetting, m.Checked.Time.Span, "the model has no population: no random effects, or no "+
			"nll()")
		return nil, l.Err()
	}
	setup.Done = ctx.Done()
	r, err := m.Begin(setup)
	if err != nil {
		return nil, err
	}
	var l diag.List
	var wrt []result.Variable
	columns := 0
	if gradient {
		if wrt, columns = m.Variables(r.settings.Wrt, &l); l.Err() != nil {
			return nil, l.Err()
		}
	}
	if err := populate(r, setup, wrt); err != nil {
		return nil, err
	}
	sum, err := integrate(ctx, r, columns, nil)
	if err != nil {
		return nil, err
	}
	if check {
		if err := r.people.inspect(ctx, r.settings.Threads); err != nil {
			return nil, err
		}
	}
	out := &result.Population{Method: r.settings.Marginal.String(), Value: sum.values[0]}
	out.Effects = m.effects()
	for _, q := range r.people.subjects {
		s := result.Subject{Name: q.name, Lacks: q.lacks(), Value: math.NaN(), Measurements: q.measurementsOf()}
		if v := q.result; v != nil {
			s.Value, s.Gradient = v.Value, v.Gradient
			s.Modes, s.Doubt, s.Runs, s.Omega = v.Modes, v.Doubt, v.Runs, q.omega
			s.Check = q.check
			if v.Mode != nil {
				s.Mode, s.Errors, s.Hessian = q.spread(v)
			}
		}
		s.OFV = ofv(s.Value, s.Measurements)
		out.Measurements += s.Measurements
		out.Subjects = append(out.Subjects, s)
	}
	out.OFV = ofv(out.Value, out.Measurements)
	return out, nil
}

// effects names the random effects, with those of the elements of vectors.
func (m *Model) effects() (names []string) {
	for _, e := range m.Checked.Randoms {
		for i := range e.Sym.Type.Shape.Size() {
			names = append(names, compiled.ElementName(e.Sym.Name, e.Sym.Type.Shape, i))
		}
	}
	return names
}

// lacks tells which random effects the subject does not have; nil for none.
func (q *person) lacks() []bool {
	if q.m == q.full {
		return nil
	}
	list := make([]bool, q.full)
	for i := range list {
		list[i] = !slices.Contains(q.active, i)
	}
	return list
}

// spread returns the mode of all random effects with its errors and the Hessian. What the subject does not have is zero
// and as wide as the distribution.
func (q *person) spread(v *population.Result) (mode, errors, hessian []float64) {
	if q.m == q.full {
		return v.Mode, v.Errors(), v.Hessian
	}
	n := q.full
	mode, errors = make([]float64, n), make([]float64, n)
	var lacking []int
	for i := range n {
		if !slices.Contains(q.active, i) {
			lacking = append(lacking, i)
			errors[i] = math.Sqrt(q.omega[i*n+i])
		}
	}
	hessian = make([]float64, n*n)
	for k, x := range v.Errors() {
		mode[q.active[k]], errors[q.active[k]] = v.Mode[k], x
		for l, at := range q.active {
			hessian[q.active[k]*n+at] = v.Hessian[k*q.m+l]
		}
	}
	rest := population.Precision(q.omega, n, lacking)
	for k, i := range lacking {
		for l, j := range lacking {
			hessian[i*n+j] = rest[k*len(lacking)+l]
		}
	}
	return mode, errors, hessian
}

// ofv is NONMEM's objective of a negative log likelihood of n measurements.
func ofv(nll float64, n int) float64 { return 2*nll - float64(float64(n)*math.Log(2*math.Pi)) }
