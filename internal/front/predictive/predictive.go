// Package predictive says how well draws of params predict the data of a model: what each datum could have been, how
// well it is predicted by draws that have not seen it (leave-one-out by smoothed importance weights), and how data that
// the model makes differ from those that were measured.
//
// Each draw is a run of the model. Data are drawn from its noise by package simulate, from a place of their own in a
// stream, so nothing depends on the number of threads.
package predictive

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/base/draws"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/simulate"
)

// CodePredict is that of what is said here.
const CodePredict diag.Code = "predict"

// Draws are values of params: a row for each draw.
type Draws struct {
	Names  []string // of params, elements, or initial(x)
	Rows   [][]float64
	Chains []int // of which chain each is; nil for one chain
	// Of are the names that are random effects of a subject.
	Of map[string]Effect
}

// Effect is a random effect of a subject, the number of the experiment among those with data, from 1. Name is that in
// the model, such as eta[2].
type Effect struct {
	Subject int
	Name    string
}

// Options say how to predict.
type Options struct {
	// Options are those of the runs. Draws set values after these.
	odes.Options
	Seed uint64 // of the data that are drawn
	Tell func(done, of int)
}

// Result is what draws predict.
type Result struct {
	Status        string // "ok"; "partial" where something is not to be trusted
	Warnings      []diag.Diagnostic
	Of            int // how many draws there are
	Draws         int // that were run
	Failed        int // of them, and left out
	Points        []Point
	Checks        []Check
	LOO           draws.LeftOut
	LogLikelihood [][]float64 // [point][draw], without those that failed
	Replicated    [][]float64 // likewise: data that could have been
	Kept          []int       // which rows of Draws these are
}

// Point is a datum, and what draws say of it.
type Point struct {
	Experiment, Observation, Unit string
	T, Data                       float64
	Side                          int // the datum is a limit: -1: the value is at most that; 1: at least
	Mean, Q5, Median, Q95         float64
	Low, High                     float64 // 5 and 95 % of data that could have been
	PIT                           float64 // the share of these below the datum; half of those that are equal to it
	ELPD, K                       float64 // the logarithm of its density by draws without it, and Pareto's k of that
}

// Check compares a number of the data of an observation with that of data that the model makes.
type Check struct {
	Observation, Statistic string
	Data, Q5, Median, Q95  float64
	P                      float64 // the share of what the model makes that is at least as large
}

// most is how many numbers of points and draws are kept.
const most = 1 << 24

// Run runs the model for all draws.
func Run(ctx context.Context, m *odes.Model, d Draws, opts Options) (*Result, error) {
	opts.Wrt = []string{}
	if len(d.Rows) == 0 {
		return nil, fmt.Errorf("there are no draws")
	}
	if list := m.RandomEffects(); len(list) > 0 && len(d.Of) == 0 {
		return nil, fmt.Errorf("the draws have no random effects (%s), without which nothing is known of the data of "+
			"a subject: draw them, too, by --sample.random=draw", strings.Join(list, ", "))
	}
	var first []odes.Assignment // what can be set later must be set at first
	for i, name := range d.Names {
		if _, is := d.Of[name]; !is {
			first = append(first, odes.Assignment{Name: name, Values: []float64{d.Rows[0][i]}})
		}
	}
	opts.Set = append(slices.Clip(opts.Set), first...)
	prepare := func() (*odes.Comparison, error) {
		o := opts.Options
		o.Threads, o.Progress = 1, nil
		c, err := m.CompareRows(true, o)
		if err == nil && c == nil {
			err = fit.ErrNoData
		}
		return c, err
	}
	c, err := prepare()
	if err != nil {
		return nil, err
	}
	points := 0
	for i := range c.Groups {
		points += len(c.Groups[i].T)
	}
	which := thin(len(d.Rows), most/max(points, 1))
	p := &predictor{draws: d, which: which, points: points, seed: opts.Seed, tell: opts.Tell}
	p.centres, p.logs, p.data = make([][]float64, len(which)), make([][]float64, len(which)),
		make([][]float64, len(which))
	p.why = make([]error, len(which))
	if err := p.findSubjects(c); err != nil {
		return nil, err
	}
	workers := opts.Threads
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if err := p.all(ctx, c, prepare, min(workers, len(which))); err != nil {
		return nil, err
	}
	out := &Result{Status: "ok", Of: len(d.Rows), Draws: len(which)}
	if n := len(d.Rows); len(which) < n {
		out.note("%d of %d draws are used: %d data would need too much memory", len(which), n, points)
	}
	if err := p.collect(c, out); err != nil {
		return nil, err
	}
	return out, nil
}

// thin returns at most so many of n, evenly.
func thin(n, most int) (list []int) {
	k := min(n, max(most, 1))
	for i := range k {
		list = append(list, i*n/k)
	}
	return list
}

// predictor runs draws.
type predictor struct {
	draws               Draws
	which               []int
	points              int
	subjects            []string // experiments with data whose random effects are among the draws
	seed                uint64
	tell                func(done, of int)
	centres, logs, data [][]float64 // [draw][point]
	why                 []error
	mu                  sync.Mutex
	next, done          int
}

func (p *predictor) all(
	ctx context.Context, first *odes.Comparison, prepare func() (*odes.Comparison, error), workers int,
) error {
	var group sync.WaitGroup
	errs := make([]error, workers)
	for w := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			c := first
			if w > 0 {
				if c, errs[w] = prepare(); errs[w] != nil {
					return
				}
			}
			for {
				p.mu.Lock()
				k := p.next
				p.next++
				p.mu.Unlock()
				if k >= len(p.which) || ctx.Err() != nil {
					return
				}
				p.why[k] = p.one(ctx, c, k)
				p.mu.Lock()
				if p.done++; p.tell != nil {
					p.tell(p.done, len(p.which))
				}
				p.mu.Unlock()
			}
		}()
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// findSubjects lists the subjects, all of whose random effects must be among the draws.
func (p *predictor) findSubjects(c *odes.Comparison) error {
	if len(p.draws.Of) == 0 {
		return nil
	}
	for i := range c.Groups {
		if name := c.Groups[i].Experiment; !slices.Contains(p.subjects, name) {
			p.subjects = append(p.subjects, name)
		}
	}
	has := make([]bool, len(p.subjects))
	for _, e := range p.draws.Of {
		if e.Subject < 1 || e.Subject > len(has) {
			return fmt.Errorf("the draws have random effects of subject %d, and the model has data of %d subjects: "+
				"they are draws of another model", e.Subject, len(has))
		}
		has[e.Subject-1] = true
	}
	if at := slices.Index(has, false); at >= 0 {
		return fmt.Errorf("the draws have no random effects of %s", p.subjects[at])
	}
	return nil
}

// one runs a draw.
func (p *predictor) one(ctx context.Context, c *odes.Comparison, k int) error {
	row := p.draws.Rows[p.which[k]]
	var set []odes.Assignment
	own := make([][]odes.Assignment, len(p.subjects))
	for i, x := range row {
		name := p.draws.Names[i]
		if e, is := p.draws.Of[name]; is {
			own[e.Subject-1] = append(own[e.Subject-1], odes.Assignment{Name: e.Name, Values: []float64{x}})
			continue
		}
		set = append(set, odes.Assignment{Name: name, Values: []float64{x}})
	}
	if err := c.Set(set...); err != nil {
		return err
	}
	for i, name := range p.subjects {
		if err := c.SetIn(name, own[i]...); err != nil {
			return err
		}
	}
	c.Forget() // results do not depend on what was run before
	if err := c.Run(ctx); err != nil {
		return err
	}
	centres, logs, data := make([]float64, 0, p.points), make([]float64, 0, p.points), make([]float64, 0, p.points)
	for i := range c.Groups {
		g := &c.Groups[i]
		for j := range g.T {
			y, err := simulate.Datum(g, j, simulate.Uniform(p.seed, p.which[k], g.Observation+"\x00"+g.Experiment, j))
			if err != nil {
				return err
			}
			y, _ = g.Tell(j, y)
			centres, logs, data = append(centres, g.Prediction.Values[j]), append(logs, -g.Term.Values[j]),
				append(data, y)
		}
	}
	p.centres[k], p.logs[k], p.data[k] = centres, logs, data
	return nil
}

// collect sums up what draws predict.
func (p *predictor) collect(c *odes.Comparison, out *Result) error {
	for k, err := range p.why {
		if err == nil {
			out.Kept = append(out.Kept, p.which[k])
			continue
		}
		if out.Failed++; out.Failed == len(p.why) {
			return err
		}
	}
	if out.Failed > 0 {
		at := slices.IndexFunc(p.why, func(err error) bool { return err != nil })
		out.partial("%d of %d draws predict nothing and are left out, such as draw %d: %v", out.Failed, out.Draws,
			p.which[at]+1, p.why[at])
	}
	columns := func(rows [][]float64) [][]float64 {
		list := make([][]float64, p.points)
		for i := range list {
			for _, row := range rows {
				if row != nil {
					list[i] = append(list[i], row[i])
				}
			}
		}
		return list
	}
	centres := columns(p.centres)
	out.LogLikelihood, out.Replicated = columns(p.logs), columns(p.data)
	out.LOO = draws.LOO(out.LogLikelihood, p.efficiency())
	at, unclear, weighted := 0, false, false
	for i := range c.Groups {
		g := &c.Groups[i]
		unclear, weighted = unclear || g.Unclear, weighted || g.Weight != 1 && g.Weight != 0
		for j := range g.T {
			x, y := centres[at], out.Replicated[at]
			q := func(x []float64, p float64) float64 { return draws.Quantile([][]float64{x}, p) }
			below := 0.0
			for _, v := range y {
				switch {
				case v < g.Data[j]:
					below++
				case v == g.Data[j]:
					below += 0.5
				}
			}
			out.Points = append(out.Points, Point{
				Experiment: g.Experiment, Observation: g.Observation, Unit: g.Unit, T: g.T[j], Data: g.Data[j],
				Side: g.Side[j], Mean: draws.Mean([][]float64{x}), Q5: q(x, 0.05), Median: q(x, 0.5), Q95: q(x, 0.95),
				Low: q(y, 0.05), High: q(y, 0.95), PIT: below / float64(len(y)), ELPD: out.LOO.Pointwise[at],
				K: out.LOO.K[at],
			})
			at++
		}
	}
	out.checks()
	out.conclude(unclear, weighted)
	return nil
}

// efficiency is the share of draws that is effective, in the param that mixes worst.
func (p *predictor) efficiency() float64 {
	least := 1.0
	for i := range p.draws.Names {
		var chains [][]float64
		for k, row := range p.draws.Rows {
			if k == 0 || p.draws.Chains != nil && p.draws.Chains[k] != p.draws.Chains[k-1] {
				chains = append(chains, nil)
			}
			chains[len(chains)-1] = append(chains[len(chains)-1], row[i])
		}
		if e := draws.MeanESS(chains) / float64(len(p.draws.Rows)); e < least {
			least = e
		}
	}
	return least
}

// statistics are what data are compared by.
var statistics = []struct {
	name string
	of   func(x []float64) float64
}{
	{"mean", func(x []float64) float64 { return draws.Mean([][]float64{x}) }},
	{"sd", func(x []float64) float64 { return draws.Sd([][]float64{x}) }},
	{"least", slices.Min[[]float64]},
	{"largest", slices.Max[[]float64]},
}

// checks compares each observation, in all its experiments, with data that the model makes.
func (r *Result) checks() {
	var names []string
	for i := range r.Points {
		if name := r.Points[i].Observation; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		var at []int
		for i := range r.Points {
			if r.Points[i].Observation == name {
				at = append(at, i)
			}
		}
		if len(at) < 3 {
			continue
		}
		for _, s := range statistics {
			x := make([]float64, len(at))
			for i, k := range at {
				x[i] = r.Points[k].Data
			}
			c := Check{Observation: name, Statistic: s.name, Data: s.of(x)}
			made := make([]float64, len(r.Kept))
			for d := range made {
				for i, k := range at {
					x[i] = r.Replicated[k][d]
				}
				if made[d] = s.of(x); made[d] >= c.Data {
					c.P += 1 / float64(len(made))
				}
			}
			all := [][]float64{made}
			c.Q5, c.Median, c.Q95 = draws.Quantile(all, 0.05), draws.Quantile(all, 0.5), draws.Quantile(all, 0.95)
			r.Checks = append(r.Checks, c)
		}
	}
}

// conclude says what is odd.
func (r *Result) conclude(unclear, weighted bool) {
	if n := len(r.LOO.Bad); n > 0 {
		p := &r.Points[r.LOO.Bad[0]]
		r.warn("Pareto's k of %d of %d data is above %.2g, such as that of %s at t = %s: these data have so much "+
			"influence on the posterior that the prediction without them is not known, and elpd_loo is too high. Look "+
			"at them, or draw again without them", n, len(r.Points), r.LOO.Good, p.Observation, diag.Number(p.T))
	}
	var odd []string
	for _, c := range r.Checks {
		if c.P < 0.01 || c.P > 0.99 {
			odd = append(odd, fmt.Sprintf("the %s of %s (%s; 90 %% of simulated values are from %s to %s)",
				c.Statistic, c.Observation, diag.Number(c.Data), diag.Number(c.Q5), diag.Number(c.Q95)))
		}
	}
	if len(odd) > 0 {
		r.warn("the model does not make data such as those that were measured: %s", odd[0])
	}
	if weighted {
		r.note("the objective weighs data, but leave-one-out and simulated data do not: each datum counts once")
	}
	if unclear {
		r.warn("limits of quantification depend on params: simulated data have no such limits")
	}
	if math.IsNaN(r.LOO.ELPD) {
		r.warn("some data have no density in some draws, so elpd_loo is not known")
	}
}

func (r *Result) partial(format string, args ...any) {
	r.Status = "partial"
	r.warn(format, args...)
}

func (r *Result) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, diag.Diagnostic{
		Code: CodePredict, Level: diag.Warning, Message: fmt.Sprintf(format, args...),
	})
}

func (r *Result) note(format string, args ...any) {
	r.Warnings = append(r.Warnings, diag.Diagnostic{
		Code: CodePredict, Level: diag.Note, Message: fmt.Sprintf(format, args...),
	})
}
