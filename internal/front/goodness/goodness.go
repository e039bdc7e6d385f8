// Package goodness says how well a model with random effects describes its data: what it predicts for each row without
// and with the random effects of the subject, residuals of several kinds, and what data look like that the model makes.
//
// Sources: CWRES, Hooker, Staatz and Karlsson, Pharm Res 24:2187 (2007); NPDE, Brendel and others, Pharm Res 23:2036
// (2006), and Comets, Brendel and Mentré, Comput Methods Programs Biomed 90:154 (2008); the prediction-corrected visual
// predictive check, Bergstrand and others, AAPS J 13:143 (2011).
package goodness

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/simulate"
)

// CodePredict is that of what is said here.
const CodePredict diag.Code = "predict"

// Options say how to predict.
type Options struct {
	odes.Options
	Seed       uint64 // of the data that are drawn
	Replicates int    // how many sets of these
	Tell       func(done, of int)
}

// Result is what a population predicts.
type Result struct {
	Warnings   []diag.Diagnostic
	Partial    bool // some of the integrals are not to be trusted
	Population *odes.Population
	Rows       []Row
	// Simulated has the replicates of each row; a value beyond a limit of quantification is that limit.
	Simulated [][]float64
	// Covariates are columns of numbers that are the same in all rows of a subject, but not for all subjects.
	Covariates []Covariate
	// Predictions are those of the subjects, IPRED, in the form of models without random effects.
	Predictions []fit.Prediction
	// Courses returns predictions over time for each subject and observation: PRED and IPRED.
	Courses func(ctx context.Context) ([]Course, error)
}

// Row is a datum.
type Row struct {
	Subject, Observation, Unit string
	Line                       int // of the table of data, from 0
	T, Data                    float64
	Side                       int // the datum is a limit: -1: the value is at most that; 1: at least
	// Pred and IPred are predictions with random effects of zero, and with those of the mode. IWRes is the datum less
	// IPred in standard deviations of the noise. CWRes is the conditional weighted residual, and NPDE the normalised
	// prediction distribution error. NaN where there is none.
	Pred, IPred, IWRes, CWRes, NPDE float64

	measured bool // the datum is known to be a number
}

// Covariate is a number of each subject, in the order of those of the population.
type Covariate struct {
	Name, Unit string
	Values     []float64
}

// Course is what is predicted over time.
type Course struct {
	Subject, Observation string
	T, Pred, IPred       []float64
}

// Run computes it at the params of the options.
func Run(ctx context.Context, m *odes.Model, opts Options) (*Result, error) {
	j := &job{model: m, opts: opts, out: &Result{}}
	o := opts.Options
	o.Wrt = []string{}
	var err error
	if j.out.Population, err = m.Population(ctx, o, false); err != nil {
		return nil, err
	}
	if j.out.Population.Subjects == nil {
		return nil, fit.ErrNoData
	}
	j.modes = j.out.Population
	if j.modes.Method == "fo" { // which seeks none: NONMEM's POSTHOC
		o.Settings = append(slices.Clone(o.Settings), odes.Setting{Key: "solver.marginal", Value: "laplace"})
		if j.modes, err = m.Population(ctx, o, false); err != nil {
			return nil, err
		}
		j.out.Population.Effects = j.modes.Effects
		for i := range j.modes.Subjects {
			s := &j.out.Population.Subjects[i]
			s.Mode, s.Errors, s.Omega = j.modes.Subjects[i].Mode, j.modes.Subjects[i].Errors, j.modes.Subjects[i].Omega
		}
	}
	j.doubts()
	if err := j.predict(ctx); err != nil {
		return nil, err
	}
	if err := j.simulate(ctx); err != nil {
		return nil, err
	}
	j.npde()
	j.covariates()
	j.out.Courses = j.courses
	return j.out, nil
}

type job struct {
	model   *odes.Model
	opts    Options
	modes   *odes.Population
	effects []odes.Effects
	groups  []odes.Compared // as they are before any run
	out     *Result
	without []string // observations whose noise has no linear residuals
}

func (j *job) warn(format string, args ...any) {
	j.out.Warnings = append(j.out.Warnings, diag.Diagnostic{
		Code: CodePredict, Level: diag.Warning, Message: fmt.Sprintf(format, args...),
	})
}

// doubts tells of subjects whose integral has no value, or is not to be trusted.
func (j *job) doubts() {
	var list []string
	for i := range j.modes.Subjects {
		own, mode := &j.out.Population.Subjects[i], &j.modes.Subjects[i]
		switch doubt := cmp.Or(own.Doubt, mode.Doubt); {
		case doubt != "":
			list = append(list, own.Name+": "+doubt)
		case math.IsNaN(own.Value):
			list = append(list, own.Name+": its integral has no value")
		}
	}
	if list != nil {
		j.out.Partial = true
		j.warn("OFV and what follows from random effects are not to be trusted: %s", strings.Join(list, "; "))
	}
}

// modeOf returns the random effects of a subject at its mode; nil where there are none.
func (j *job) modeOf(name string) *odes.Subject {
	at := slices.IndexFunc(j.modes.Subjects, func(s odes.Subject) bool { return s.Name == name })
	if at < 0 || j.modes.Subjects[at].Mode == nil {
		return nil
	}
	return &j.modes.Subjects[at]
}

// place gives every subject the random effects of its mode. Those without a mode keep zeros.
func (j *job) place(c *odes.Comparison) error {
	for i := range j.effects {
		if s := j.modeOf(j.effects[i].Experiment); s != nil {
			if err := simulate.Place(c, &j.effects[i], s.Mode); err != nil {
				return err
			}
		}
	}
	return nil
}

// linear is the data of one subject with predictions and noise as the method of the integral has them.
type linear struct {
	at           []int // among all rows
	y, f, sd     []float64
	slopes, zero []float64 // of f by the random effects; the noise at random effects of zero
}

// predict fills in predictions and all residuals that need no simulated data.
func (j *job) predict(ctx context.Context) error {
	o := j.opts.Options
	o.Wrt = j.model.RandomEffects()
	c, err := j.model.CompareRows(false, o.GradientOnly())
	if err != nil {
		return err
	}
	if c == nil {
		return fit.ErrNoData
	}
	if j.effects, err = c.Effects(ctx); err != nil {
		return err
	}
	j.groups = c.Groups
	if err := c.Run(ctx); err != nil {
		return err
	}
	subjects := map[string]*linear{}
	kind := j.out.Population.Method
	first := kind == "fo"
	j.linearise(c, subjects, first, true)
	if err := j.place(c); err != nil {
		return err
	}
	if err := c.Run(ctx); err != nil {
		return err
	}
	j.linearise(c, subjects, !first, false)
	for i := range j.effects {
		l, e := subjects[j.effects[i].Experiment], &j.effects[i]
		if l == nil || len(l.at) == 0 {
			continue
		}
		eta := make([]float64, len(e.Elements))
		if s := j.modeOf(e.Experiment); s != nil && !first {
			eta = s.Mode
		} else if !first {
			continue
		}
		if kind == "foce" {
			l.sd = l.zero
		}
		for k, x := range conditional(l, e.Omega, eta) {
			j.out.Rows[l.at[k]].CWRes = x
		}
	}
	var unclear []string
	for i := range j.groups {
		if g := &j.groups[i]; g.Unclear && !slices.Contains(unclear, g.Observation) {
			unclear = append(unclear, g.Observation)
		}
	}
	if len(unclear) > 0 {
		j.warn("limits of quantification of %s depend on params: there are no residuals and no NPDE, and simulated "+
			"data have no such limits", diag.All(unclear))
	}
	if len(j.without) > 0 {
		j.warn("there is no CWRES for %s: it is for normal and lognormal noise; NPDE is for any", diag.All(j.without))
	}
	return nil
}

// linearise reads a run: predictions into rows, the linear model into subjects where that is asked for.
func (j *job) linearise(c *odes.Comparison, subjects map[string]*linear, keep, zero bool) {
	at := 0
	for i := range c.Groups {
		g := &c.Groups[i]
		l := subjects[g.Experiment]
		if l == nil {
			l = &linear{}
			subjects[g.Experiment] = l
		}
		log := g.Noise == "lognormal"
		if !log && g.Noise != "normal" && zero && !slices.Contains(j.without, g.Observation) {
			j.without = append(j.without, g.Observation)
		}
		for k := range g.T {
			f := g.Prediction.Values[k]
			switch {
			case zero:
				nan := math.NaN()
				j.out.Rows = append(j.out.Rows, Row{
					Subject: g.Experiment, Observation: g.Observation, Unit: g.Unit, Line: g.Row[k], T: g.T[k],
					Data: g.Data[k], Side: g.Side[k], measured: g.Measured(k), Pred: f,
					IPred: nan, IWRes: nan, CWRes: nan, NPDE: nan,
				})
			default:
				p := fit.PredictionOf(g, k)
				r := &j.out.Rows[at]
				if j.modeOf(g.Experiment) != nil {
					r.IPred, r.IWRes = f, p.Residual
				}
				j.out.Predictions = append(j.out.Predictions, p)
			}
			at++
			if !g.Measured(k) || !log && g.Noise != "normal" {
				continue
			}
			sd := g.Args[slices.Index(g.Parameters, "sd")].Values[k]
			if zero {
				l.zero = append(l.zero, sd)
			}
			if !keep {
				continue
			}
			y, scale := g.Data[k], 1.0
			if log {
				y, scale, f = elem.Log(y), f, elem.Log(f)
			}
			l.at, l.y, l.f, l.sd = append(l.at, at-1), append(l.y, y), append(l.f, f), append(l.sd, sd)
			for _, s := range g.Prediction.Slopes[k*c.Columns : (k+1)*c.Columns] {
				l.slopes = append(l.slopes, s/scale)
			}
		}
	}
}

// conditional returns the residuals of data whose predictions are linear in random effects about eta, in units of
// their common deviations: the inverse of the symmetric root of the covariances times what is left of the data.
func conditional(l *linear, omega, eta []float64) []float64 {
	n, m := len(l.at), len(eta)
	rest := make([]float64, n)
	for i := range rest {
		rest[i] = l.y[i] - l.f[i]
		for k, x := range eta {
			rest[i] += float64(l.slopes[i*m+k] * x)
		}
	}
	cov := make([]float64, n*n)
	for i := range n {
		wa := make([]float64, m)
		for a := range m {
			for b := range m {
				wa[a] += float64(omega[a*m+b] * l.slopes[i*m+b])
			}
		}
		for k := range n {
			for a := range m {
				cov[k*n+i] += float64(l.slopes[k*m+a] * wa[a])
			}
		}
		cov[i*n+i] += float64(l.sd[i] * l.sd[i])
	}
	return whitened(cov, rest)
}

// simulate draws sets of data.
func (j *job) simulate(ctx context.Context) error {
	n := j.opts.Replicates
	all := make([][]float64, n) // [replicate][row]
	errs := make([]error, n)
	threads := j.opts.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	threads = max(1, min(threads, n))
	o := j.opts.Options
	o.Wrt, o.Threads, o.Progress = []string{}, 1, nil
	var mu sync.Mutex
	next, done := 0, 0
	var group sync.WaitGroup
	prepared := make([]error, threads)
	for w := range threads {
		group.Add(1)
		go func() {
			defer group.Done()
			c, err := j.model.CompareRows(false, o)
			if prepared[w] = err; err != nil {
				return
			}
			for {
				mu.Lock()
				k := next
				next++
				mu.Unlock()
				if k >= n || ctx.Err() != nil {
					return
				}
				all[k], errs[k] = j.replicate(ctx, c, k)
				mu.Lock()
				if done++; j.opts.Tell != nil {
					j.opts.Tell(done, n)
				}
				mu.Unlock()
			}
		}()
	}
	group.Wait()
	for _, err := range append(prepared, ctx.Err()) {
		if err != nil {
			return err
		}
	}
	failed, why := 0, error(nil)
	for k, row := range all {
		if errs[k] != nil {
			if failed++; why == nil {
				why = fmt.Errorf("replicate %d: %w", k+1, errs[k])
			}
			continue
		}
		for i, x := range row {
			if len(j.out.Simulated) <= i {
				j.out.Simulated = append(j.out.Simulated, nil)
			}
			j.out.Simulated[i] = append(j.out.Simulated[i], x)
		}
	}
	if failed == n && n > 0 {
		return why
	}
	if failed > 0 {
		j.warn("%d of %d sets of simulated data failed and are left out, so NPDE and the visual predictive check are "+
			"not those of the whole population; %v", failed, n, why)
	}
	return nil
}

// replicate draws random effects, runs the model and draws data.
func (j *job) replicate(ctx context.Context, c *odes.Comparison, k int) ([]float64, error) {
	for i := range j.effects {
		values, err := simulate.Effects(&j.effects[i], j.opts.Seed, k)
		if err != nil {
			return nil, err
		}
		if err := simulate.Place(c, &j.effects[i], values); err != nil {
			return nil, err
		}
	}
	c.Forget() // results do not depend on what was run before
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	var list []float64
	for i := range c.Groups {
		g := &c.Groups[i]
		for r := range g.T {
			u := simulate.Uniform(j.opts.Seed, k, g.Observation+"\x00"+g.Experiment, g.Row[r])
			y, err := simulate.Datum(g, r, u)
			if err != nil {
				return nil, err
			}
			list = append(list, y)
		}
	}
	return list, nil
}

// npde fills in the normalised prediction distribution errors of each subject: its data and what was simulated for it
// are freed of what the latter have in common, by its mean and the lower triangular root of its covariances, and the
// share of simulated numbers below each datum is that of a normal distribution. Values beyond a limit are left out.
func (j *job) npde() {
	n := 0
	if len(j.out.Simulated) > 0 {
		n = len(j.out.Simulated[0])
	}
	few := false
	for i := range j.effects {
		var at []int
		for k := range j.out.Rows {
			if r := &j.out.Rows[k]; r.Subject == j.effects[i].Experiment && r.measured {
				at = append(at, k)
			}
		}
		if len(at) == 0 {
			continue
		}
		data := make([]float64, len(at))
		sims := make([][]float64, len(at))
		for k, row := range at {
			data[k] = j.out.Rows[row].Data
			sims[k] = j.out.Simulated[row]
		}
		list := decorrelated(data, sims, n)
		few = few || list == nil
		for k, z := range list {
			j.out.Rows[at[k]].NPDE = z
		}
	}
	if few {
		j.warn("there is no NPDE for some subjects: %d replicates are too few for as many data, or simulated data are "+
			"the same in all; ask for more by --replicates", n)
	}
	for i := range j.out.Rows { // for pictures, what is beyond a limit is told as the limit
		for g := range j.groups {
			c := &j.groups[g]
			if c.Experiment != j.out.Rows[i].Subject || c.Observation != j.out.Rows[i].Observation || c.Ranges == nil {
				continue
			}
			if at := slices.Index(c.Row, j.out.Rows[i].Line); at >= 0 {
				for k, y := range j.out.Simulated[i] {
					j.out.Simulated[i][k], _ = c.Tell(at, y)
				}
			}
		}
	}
}

// covariates finds the columns of the table that are numbers of the subjects.
func (j *job) covariates() {
	if len(j.groups) == 0 {
		return
	}
	records := []string{
		"time", "AMT", "RATE", "II", "ADDL", "SS", "EVID", "CMT", "MDV", "DUR", "DV", "ID", "replicate",
	}
	table := j.groups[0].Table
	for k, c := range table.Columns {
		if c.Texts != nil || slices.Contains(records, c.Name) || len(c.Name) > 5 && c.Name[:5] == "true_" ||
			slices.ContainsFunc(j.groups, func(g odes.Compared) bool { return g.Column == k }) {
			continue
		}
		x := Covariate{Name: c.Name, Unit: c.Unit}
		same, differ := true, false
		for i := range j.out.Population.Subjects {
			value := math.NaN()
			for r := range j.out.Rows {
				if j.out.Rows[r].Subject != j.out.Population.Subjects[i].Name {
					continue
				}
				v := c.Values[j.out.Rows[r].Line]
				same = same && (math.IsNaN(value) || v == value)
				value = v
			}
			x.Values = append(x.Values, value)
			differ = differ || value != x.Values[0]
		}
		if same && differ {
			j.out.Covariates = append(j.out.Covariates, x)
		}
	}
}

// courses runs the model at many times, with the random effects of zero and of the modes.
func (j *job) courses(ctx context.Context) ([]Course, error) {
	const n = 80
	last := map[string]float64{}
	from, to := math.Inf(1), math.Inf(-1)
	for i := range j.out.Rows {
		r := &j.out.Rows[i]
		if math.IsInf(r.T, 0) {
			continue
		}
		from, to = min(from, r.T), max(to, r.T)
		last[r.Subject] = max(last[r.Subject], r.T)
	}
	if !(to > from) {
		return nil, nil
	}
	var times []float64
	for k := range n {
		times = append(times, from+(to-from)*float64(k)/(n-1))
	}
	m, err := j.model.AtTimes(times)
	if err != nil {
		return nil, err
	}
	o := j.opts.Options
	o.Wrt = []string{}
	c, err := m.CompareRows(false, o)
	if err != nil || c == nil {
		return nil, err
	}
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	var list []Course
	for i := range c.Groups {
		g := &c.Groups[i]
		list = append(list, Course{g.Experiment, g.Observation, g.T, slices.Clone(g.Prediction.Values), nil})
	}
	if err := j.place(c); err != nil {
		return nil, err
	}
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	for i := range list {
		list[i].IPred = slices.Clone(c.Groups[i].Prediction.Values)
		cut := 0
		for cut < len(list[i].T) && (list[i].T[cut] <= last[list[i].Subject] || cut == 0) {
			cut++
		}
		list[i].T, list[i].Pred, list[i].IPred = list[i].T[:cut], list[i].Pred[:cut], list[i].IPred[:cut]
	}
	return list, nil
}
