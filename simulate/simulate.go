// Package simulate draws data from the noise of a model: at the rows of its tables, with what is missing and what is
// beyond limits as these have it, and with params as the model has them or drawn from their priors. Of a population,
// the random effects of each subject are drawn first.
//
// Each number has its place in a stream of its own, by the seed, the number of the replicate, the name of the
// observation and the row. So numbers of threads, other observations and more replicates change none of them.
package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/sample"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/lang/source"
)

// Result is data that were drawn.
type Result struct {
	Status   string // "ok"; "partial": some replicates have no data
	Warnings []diag.Diagnostic
	Settings keys.Simulate
	// Table is the table as the model declares it, but for the columns that are observed: Observed tells which.
	Table    odes.DataTable
	Observed []bool
	// EffectNames are the names of the elements of random effects, and Subject has the experiment of each row of the
	// table, "" for none; nil for a model without random effects.
	EffectNames []string
	Subject     []string
	// Replicates are in order, without those that have no data.
	Replicates []Replicate
}

// Rows returns how many rows the table has.
func (r *Result) Rows() int {
	c := &r.Table.Columns[0]
	return max(len(c.Values), len(c.Texts))
}

// Replicate is a set of data.
type Replicate struct {
	Number int         // from 1
	Data   [][]float64 // for each observed column, in the order of the table: a number for each row; NaN: missing
	Params []Param     // what was drawn from priors
	// Effects are the random effects of the subjects that have data, in file order.
	Effects []Drawn
}

// Drawn are the random effects of a subject.
type Drawn struct {
	Experiment string
	Values     []float64 // of EffectNames, in their order
}

// Param is a value of a param, or of an element of one.
type Param struct {
	Name  string
	Value float64
}

// CodeSimulate is that of what is said of simulations.
const CodeSimulate diag.Code = "simulate"

// ErrNothing says that a model observes nothing.
var ErrNothing = errors.New("the model observes nothing in a table; add: data D { time = [1, 2]  y = [1, 1] } and " +
	"observe y = … ~ normal(sd) from D.y, with any numbers where there are no data yet; or say when it is " +
	"observed: --times 0:1:24")

// Run draws data.
func Run(ctx context.Context, m *odes.Model, opts odes.Options) (*Result, error) {
	s := keys.Simulate{}
	if err := m.ReadSettings("simulate", opts, &s); err != nil {
		return nil, err
	}
	if s.Times != nil {
		whole, err := m.AtTimes(s.Times)
		if err != nil {
			return nil, err
		}
		m = whole
	}
	j := &job{model: m, opts: opts, settings: s}
	j.opts.Wrt = []string{}
	if s.Prior {
		if err := j.readPriors(); err != nil {
			return nil, err
		}
	}
	first, err := m.CompareRows(false, j.opts)
	if err != nil {
		return nil, err
	}
	if first == nil {
		return nil, ErrNothing
	}
	if j.random = len(m.RandomEffects()) > 0; j.random {
		if j.effects, err = first.Effects(ctx); err != nil {
			return nil, err
		}
	}
	out := &Result{Status: "ok", Settings: s}
	if err := j.choose(first, out); err != nil {
		return nil, err
	}
	j.assign(first, out)
	return out, j.all(ctx, first, out)
}

// job is what a simulation needs.
type job struct {
	model    *odes.Model
	opts     odes.Options
	settings keys.Simulate
	priors   []odes.Draw    // what is drawn, those first that others depend on
	effects  []odes.Effects // how random effects are distributed, at the params of the model
	random   bool           // the model has random effects
	table    string
	columns  []int // that are observed
	rows     int
}

// choose finds the table.
func (j *job) choose(c *odes.Comparison, out *Result) error {
	var names []string
	for i := range c.Groups {
		if name := c.Groups[i].Table.Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if j.table = j.settings.Table; j.table == "" && len(names) > 1 {
		return fmt.Errorf("the model observes the tables %s, and a file holds one: choose by --table %s; with the "+
			"same seed, the tables fit together", strings.Join(names, ", "), names[0])
	}
	if j.table == "" {
		j.table = names[0]
	}
	if !slices.Contains(names, j.table) {
		return fmt.Errorf("the model observes no table %q%s", j.table, diag.DidYouMean(j.table, names))
	}
	taken := map[[2]int]string{}
	for i := range c.Groups {
		g := &c.Groups[i]
		if g.Table.Name != j.table {
			continue
		}
		if out.Table.Columns == nil {
			out.Table = *g.Table
			out.Observed = make([]bool, len(g.Table.Columns))
			j.rows = out.Rows()
		}
		out.Observed[g.Column] = true
		name := g.Observation
		if g.Experiment != "" {
			name += " in experiment " + g.Experiment
		}
		if g.Unclear {
			return fmt.Errorf("the limit of observation %s depends on params or states, and data have limits that are "+
				"numbers or a column: below = 0.5, above = D.uloq", name)
		}
		for _, row := range g.Row {
			at := [2]int{g.Column, row}
			if other := taken[at]; other != "" {
				return fmt.Errorf("row %d of %s.%s is observed twice, as %s and as %s: one number cannot be drawn "+
					"from two distributions", row+1, j.table, g.Table.Columns[g.Column].Name, other, name)
			}
			taken[at] = name
		}
	}
	for k, observed := range out.Observed {
		if observed {
			j.columns = append(j.columns, k)
		}
	}
	return nil
}

// all draws all replicates.
func (j *job) all(ctx context.Context, first *odes.Comparison, out *Result) error {
	n := j.settings.Replicates
	list, failures := make([]*Replicate, n), make([]error, n)
	if !j.settings.Prior && !j.random { // one run is that of all
		if err := first.Run(ctx); err != nil {
			return err
		}
		for i := range list {
			if list[i], failures[i] = j.draw(first, i, nil); failures[i] != nil {
				return failures[i]
			}
		}
	} else if err := j.sideBySide(ctx, first, list, failures); err != nil {
		return err
	}
	var why error
	failed := 0
	for i, r := range list {
		if r != nil {
			out.Replicates = append(out.Replicates, *r)
			continue
		}
		if failed++; why == nil {
			why = fmt.Errorf("replicate %d: %w", i+1, failures[i])
		}
	}
	switch {
	case failed == n:
		return why
	case failed > 0:
		out.Status = "partial"
		var l diag.List
		l.Warnf(CodeSimulate, source.Span{}, "%d of %d replicates have no data and are left out, and a part of the "+
			"prior with them; %s", failed, n, why)
		out.Warnings = append(out.Warnings, l.All()...)
	}
	return nil
}

// sideBySide draws replicates with params of their own, on several threads.
func (j *job) sideBySide(ctx context.Context, first *odes.Comparison, list []*Replicate, failures []error) error {
	threads := max(1, min(j.opts.Threads, len(list)))
	var work, told sync.Mutex
	var wait sync.WaitGroup
	next := 0
	var stop error
	worker := func(c *odes.Comparison) {
		defer wait.Done()
		for {
			work.Lock()
			i := next
			next++
			work.Unlock()
			if i >= len(list) || ctx.Err() != nil {
				return
			}
			r, err := j.replicate(ctx, c, i)
			told.Lock()
			list[i], failures[i] = r, err
			told.Unlock()
		}
	}
	for k := range threads {
		c := first
		if k > 0 {
			var err error
			if c, err = j.model.CompareRows(false, j.opts); err != nil {
				stop = err
				break
			}
		}
		wait.Add(1)
		go worker(c)
	}
	wait.Wait()
	if stop == nil {
		stop = ctx.Err()
	}
	return stop
}

// replicate draws params, runs the model and draws data.
func (j *job) replicate(ctx context.Context, c *odes.Comparison, i int) (*Replicate, error) {
	set, params, err := j.params(i)
	if err != nil {
		return nil, err
	}
	if err := c.Set(set...); err != nil {
		return nil, err
	}
	effects, err := j.subjects(ctx, c, i)
	if err != nil {
		return nil, with(params, err)
	}
	c.Forget() // results do not depend on what was run before
	if err := c.Run(ctx); err != nil {
		return nil, with(params, err)
	}
	r, err := j.draw(c, i, params)
	if err == nil {
		r.Effects = effects
	}
	return r, err
}

// with says in an error with which params it came up.
func with(params []Param, err error) error {
	if len(params) == 0 {
		return err
	}
	return fmt.Errorf("with %s: %w", written(params), err)
}

func written(params []Param) string {
	var list []string
	for _, p := range params {
		if len(list) == 8 {
			list = append(list, "…")
			break
		}
		list = append(list, p.Name+" = "+diag.Number(p.Value))
	}
	return strings.Join(list, ", ")
}

// draw draws the data of a replicate around predictions.
func (j *job) draw(c *odes.Comparison, i int, params []Param) (*Replicate, error) {
	r := &Replicate{Number: i + 1, Params: params}
	for range j.columns {
		column := make([]float64, j.rows)
		for k := range column {
			column[k] = math.NaN()
		}
		r.Data = append(r.Data, column)
	}
	for g := range c.Groups {
		g := &c.Groups[g]
		if g.Table.Name != j.table {
			continue
		}
		to := r.Data[slices.Index(j.columns, g.Column)]
		for k, row := range g.Row {
			u := Uniform(j.settings.Seed, i, g.Observation+"\x00"+g.Experiment, row)
			y, err := Datum(g, k, u)
			if err != nil {
				at := "t = " + diag.Number(g.T[k])
				if g.Experiment != "" {
					at += ", experiment " + g.Experiment
				}
				return nil, fmt.Errorf("observation %s at %s: %w", g.Observation, at, err)
			}
			to[row], _ = g.Tell(k, y)
		}
	}
	return r, nil
}

// slack is how far below zero the mean of counts may be by the error of a run.
const slack = 1e-6

// Datum draws row k of g at the place u of its distribution.
func Datum(g *odes.Compared, k int, u float64) (float64, error) {
	centre := g.Prediction.Values[k]
	args := map[string]float64{}
	for i, name := range g.Parameters {
		args[name] = g.Args[i].Values[k]
	}
	var list []float64
	switch g.Noise {
	case "normal":
		list = []float64{centre, args["sd"]}
	case "laplace":
		list = []float64{centre, args["b"]}
	case "lognormal", "loglaplace":
		if !(centre > 0) {
			return 0, fmt.Errorf("%s gives positive numbers around what is observed, and that is %s", g.Noise,
				diag.Number(centre))
		}
		list = []float64{elem.Log(centre), args["sd"]}
		if g.Noise == "loglaplace" {
			list[1] = args["b"]
		}
	case "student":
		list = []float64{args["nu"], centre, args["s"]}
	case "poisson", "negbin":
		if centre <= 0 && centre >= -slack {
			return 0, nil
		}
		if list = []float64{centre}; g.Noise == "negbin" {
			list = append(list, args["phi"])
		}
	default:
		return 0, fmt.Errorf("the noise %s is not drawn", g.Noise)
	}
	d, err := sample.NewDist(g.Noise, list, math.Inf(-1), math.Inf(1))
	if err != nil {
		return 0, err
	}
	return d.Quantile(u), nil
}

// Uniform returns a number strictly between 0 and 1 that belongs to a place of a stream: splitmix64 over a hash of the
// names (FNV-1a).
func Uniform(seed uint64, replicate int, name string, row int) float64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	for _, x := range []uint64{seed, uint64(replicate), uint64(row)} {
		h = mix(h + 0x9e3779b97f4a7c15 + mix(x+0x9e3779b97f4a7c15))
	}
	return (float64(h>>11) + 0.5) * 0x1p-53
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
