// Package selection compares models that differ in which of their params are held at values. Each of them is fitted to
// the data, and a criterion weighs how well it fits against how many numbers that takes (Burnham and Anderson, Model
// Selection and Multimodel Inference, 2002).
package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/fit"
)

// Model is one of those that are compared: what of the params that a fit may search for is held at values.
type Model struct {
	Name string
	Held []odes.Assignment
	// Estimated are names that the fit has to search for; those in Held may then be others than it searches for.
	Estimated []string
	// Of is the problem that it is of; nil for the one that Run is called with.
	Of *Problem
}

// Problem is a compiled model with its text, of a selection among several.
type Problem struct {
	Name   string
	Model  *odes.Model
	Source ensemble.Source
}

// Product returns the models that hold some of the params, those with most first, as texts and assignments. The model
// that holds none is called free.
func Product(texts []string, held []odes.Assignment) ([]Model, error) {
	const most = 12
	if len(held) > most {
		return nil, fmt.Errorf("%d params that are held or not make %d models; at most %d may be", len(held),
			1<<min(len(held), 62), most)
	}
	for i, a := range held {
		if k := slices.IndexFunc(held[:i], func(b odes.Assignment) bool { return a.Name == b.Name }); k >= 0 {
			return nil, fmt.Errorf("%s and %s hold the same param: a model has one value of it", texts[k], texts[i])
		}
	}
	all := make([]Model, 1<<len(held))
	for k := range all {
		var has []string
		for i := range held {
			if k>>i&1 == 0 {
				all[k].Held, has = append(all[k].Held, held[i]), append(has, texts[i])
			}
		}
		if all[k].Name = "free"; has != nil {
			all[k].Name = strings.Join(has, ", ")
		}
	}
	slices.SortStableFunc(all, func(a, b Model) int { return len(b.Held) - len(a.Held) })
	return all, nil
}

// Criteria are those that models are compared by, the smaller the better, with n values of data and k estimates:
//
//	aic   2 NLL + 2 k
//	aicc  aic + 2 k (k + 1)/(n − k − 1), for few data (Hurvich and Tsai 1989)
//	bic   2 NLL + k log n
var Criteria = []string{"aic", "aicc", "bic"}

// Searches are the ways through the models: all of them; forward from those with fewest estimates, to those that
// estimate more besides; or backward from those with most. A step goes to the best of the models that differ by least,
// as long as it is better.
var Searches = []string{"all", "forward", "backward"}

// Options say what to compare and how. Workers are the searches at once: of several models, where these do not depend
// on each other. Backend makes searches elsewhere, of one model after the other.
type Options struct {
	fit.Options
	Among     []Model
	Criterion string // one of Criteria
	Search    string // one of Searches
	// Begin, if set, is where a forward or backward search begins.
	Begin *Model
	// Fitting, if set, is called before each fit, with how many were made, and after the last; one at a time.
	Fitting func(done int, name string)
	// Kept, if set, returns the searches that were made before of a model. Keep, if set, is called with each that has
	// ended, by any goroutine.
	Kept func(m *Model) []fit.Start
	Keep func(m *Model, s fit.Start)
}

// Candidate is a model, and what its fit gave.
type Candidate struct {
	Model
	Free           int // how many numbers were estimated
	Rows           int // of data
	NLL            float64
	AIC, AICc, BIC float64     // NaN without a fit; AICc is infinite where there are too few data
	Fit            *fit.Result // nil where nothing was estimated
	Err            error       // why there are no criteria

	plan plan
}

// Value returns a criterion.
func (c *Candidate) Value(criterion string) float64 {
	switch criterion {
	case "aicc":
		return c.AICc
	case "bic":
		return c.BIC
	}
	return c.AIC
}

// Result is a comparison.
type Result struct {
	// Status is "ok", or "partial": it was interrupted, or the fit of a model is not known to have found a minimum.
	Status     string
	Candidates []Candidate // the best first, those without a fit last
}

// Best returns the best model; nil where none was fitted.
func (r *Result) Best() *Candidate {
	if len(r.Candidates) == 0 || math.IsNaN(r.Candidates[0].NLL) {
		return nil
	}
	return &r.Candidates[0]
}

// Run fits and compares models. The error is of what was asked for, or context.Canceled beside what was fitted.
func Run(ctx context.Context, m *odes.Model, opts Options) (*Result, error) {
	s, err := begin(m, opts)
	if err != nil {
		return nil, err
	}
	switch opts.Search {
	case "all":
		_, err = s.best(ctx, s.todo)
	case "forward":
		err = s.stepwise(ctx, 1)
	case "backward":
		err = s.stepwise(ctx, -1)
	}
	slices.SortStableFunc(s.found.Candidates, func(a, b Candidate) int { return order(&a, &b, opts.Criterion) })
	if s.opts.Fitting != nil {
		s.opts.Fitting(len(s.found.Candidates), "")
	}
	return s.found, err
}

// order tells which of two models is better; of equals, the one with fewer estimates.
func order(a, b *Candidate, criterion string) int {
	x, y := a.Value(criterion), b.Value(criterion)
	switch {
	case math.IsNaN(x) && math.IsNaN(y):
		return 0
	case math.IsNaN(x) || x > y:
		return 1
	case math.IsNaN(y) || x < y:
		return -1
	}
	return a.Free - b.Free
}

// search goes through the models.
type search struct {
	opts  Options
	own   Problem
	spans map[*Problem]*span
	todo  []plan
	begin *plan // nil for the models at an end
	mu    sync.Mutex
	found *Result
	done  int // fits that ended
}

// span is what the fits of a problem search for, if nothing is held.
type span struct {
	over []string
	log  []bool
}

// plan is a model that may be fitted, and what it estimates of what is searched for.
type plan struct {
	Model
	free []bool
	n    int // how many
}

// begin checks what is asked for.
func begin(m *odes.Model, opts Options) (*search, error) {
	if len(opts.Among) == 0 {
		return nil, errors.New("there is nothing to choose among: --among 'k3 = 0' holds a param in some of the models")
	}
	if !slices.Contains(Criteria, opts.Criterion) {
		return nil, fmt.Errorf("there is no criterion %q; there are %s", opts.Criterion, strings.Join(Criteria, ", "))
	}
	if !slices.Contains(Searches, opts.Search) {
		return nil, fmt.Errorf("there is no search %q; there are %s", opts.Search, strings.Join(Searches, ", "))
	}
	s := &search{
		opts: opts, own: Problem{Model: m, Source: opts.Source}, spans: map[*Problem]*span{},
		found: &Result{Status: "ok"},
	}
	for _, x := range opts.Among {
		p, err := s.plan(x)
		if err != nil {
			return nil, err
		}
		s.todo = append(s.todo, p)
	}
	if len(s.spans) > 1 && opts.Search != "all" {
		return nil, fmt.Errorf("the models are of %d problems: a search that goes %s steps between models of one; "+
			"compare all of them, with --search all, or make a selection for each", len(s.spans), opts.Search)
	}
	if opts.Begin != nil && opts.Search != "all" {
		p, err := s.plan(*opts.Begin)
		if err != nil {
			return nil, err
		}
		s.begin = &p
		if len(s.spans) > 1 {
			return nil, fmt.Errorf("the search begins at %s, a model of another problem", p.Name)
		}
	}
	return s, nil
}

// span returns what the fits of a problem search for.
func (s *search) span(of *Problem) (*span, error) {
	if known := s.spans[of]; known != nil {
		return known, nil
	}
	settings, err := of.Model.FitSettings(s.opts.Options.Options)
	if err != nil {
		return nil, err
	}
	known := &span{log: settings.Log}
	for _, v := range settings.Over {
		known.over = append(known.over, v.String())
	}
	s.spans[of] = known
	return known, nil
}

// plan tells what a model estimates.
func (s *search) plan(x Model) (plan, error) {
	if x.Of == nil {
		x.Of = &s.own
	}
	of, err := s.span(x.Of)
	if err != nil {
		return plan{}, err
	}
	p := plan{Model: x, free: make([]bool, len(of.over)), n: len(of.over)}
	for i := range p.free {
		p.free[i] = true
	}
	for _, name := range x.Estimated {
		if !slices.Contains(of.over, name) {
			return p, fmt.Errorf("%s estimates %s, which the fit does not search for; it searches for %s", x.Name, name,
				strings.Join(of.over, ", "))
		}
	}
	for _, a := range x.Held {
		switch i := slices.Index(of.over, a.Name); {
		case i >= 0:
			p.free[i] = false
			p.n--
		case x.Estimated == nil:
			return p, fmt.Errorf("%s: the fit does not search for %s; it searches for %s", x.Name, a.Name,
				strings.Join(of.over, ", "))
		}
	}
	return p, nil
}

// best fits models, and returns the best of them. They are found in the order of the list, whoever is ready first.
func (s *search) best(ctx context.Context, list []plan) (best *Candidate, err error) {
	all := make([]*Candidate, len(list))
	errs := make([]error, len(list))
	workers := s.opts.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	once := max(1, min(workers, len(list)))
	if s.opts.Backend != nil {
		once = 1
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range once {
		group.Go(func() {
			for {
				k := int(next.Add(1)) - 1
				if k >= len(list) {
					return
				}
				if all[k], errs[k] = s.fit(ctx, list[k], max(1, workers/once)); errs[k] != nil {
					return
				}
			}
		})
	}
	group.Wait()
	for _, c := range all {
		if c == nil {
			continue
		}
		if c.Err != nil || c.Fit != nil && c.Fit.Status != "ok" {
			s.found.Status = "partial"
		}
		s.found.Candidates = append(s.found.Candidates, *c)
		if best == nil || order(c, best, s.opts.Criterion) < 0 {
			best = c
		}
	}
	for _, e := range errs {
		if e != nil {
			s.found.Status = "partial"
			return nil, e
		}
	}
	return best, nil
}

// stepwise goes to models that estimate more (sign 1) or less (-1).
func (s *search) stepwise(ctx context.Context, sign int) error {
	var at *Candidate
	if s.begin != nil {
		var err error
		if at, err = s.best(ctx, []plan{*s.begin}); err != nil {
			return err
		}
	}
	for {
		next := s.nearest(at, sign)
		best, err := s.best(ctx, next)
		if err != nil || best == nil || at != nil && order(best, at, s.opts.Criterion) >= 0 {
			return err
		}
		at = best
	}
}

// nearest returns the models behind one, which have all that it estimates and more, or less; those among them that
// differ by least. Behind nil are those at the end where the search begins.
func (s *search) nearest(at *Candidate, sign int) (list []plan) {
	for _, p := range s.todo {
		if at != nil && !beyond(p, at.plan, sign) {
			continue
		}
		if len(list) > 0 && sign*p.n < sign*list[0].n {
			list = nil
		}
		if len(list) == 0 || p.n == list[0].n {
			list = append(list, p)
		}
	}
	return list
}

// beyond reports whether a estimates what b does, and more; or less, by the sign.
func beyond(a, b plan, sign int) bool {
	if sign < 0 {
		a, b = b, a
	}
	for i, free := range b.free {
		if free && !a.free[i] {
			return false
		}
	}
	return a.n > b.n
}

// fit fits a model, with so many searches at once. The error is that of an interruption.
func (s *search) fit(ctx context.Context, p plan, workers int) (*Candidate, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.tell(0, p.Name)
	of := s.spans[p.Of]
	c := &Candidate{
		Model: p.Model, plan: p, NLL: math.NaN(), AIC: math.NaN(), AICc: math.NaN(), BIC: math.NaN(),
	}
	o := s.opts.Options
	o.Workers, o.Source = workers, p.Of.Source
	o.Set = append(slices.Clip(o.Set), p.Held...)
	if s.opts.Kept != nil {
		o.Done = s.opts.Kept(&p.Model)
	}
	if s.opts.Keep != nil {
		o.Found = func(found fit.Start) { s.opts.Keep(&p.Model, found) }
	}
	var over, logs []string
	for i, name := range of.over {
		if p.free[i] {
			over = append(over, name)
		}
		if p.free[i] && of.log[i] {
			logs = append(logs, name)
		}
	}
	o.Settings = append(slices.Clip(o.Settings),
		odes.Setting{Key: "fit.over", Value: "[" + strings.Join(over, ", ") + "]"},
		odes.Setting{Key: "fit.log", Value: "[" + strings.Join(logs, ", ") + "]"})
	if p.n == 0 {
		c.Err = c.asItStands(ctx, p.Of.Model, o.Options)
	} else {
		c.Err = c.fitted(ctx, p.Of.Model, o)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.tell(1, p.Name)
	return c, nil
}

// tell tells that a fit begins, or that more have ended.
func (s *search) tell(more int, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done += more; more == 0 && s.opts.Fitting != nil {
		s.opts.Fitting(s.done, name)
	}
}

// fitted fits the model.
func (c *Candidate) fitted(ctx context.Context, m *odes.Model, o fit.Options) error {
	r, err := fit.Run(ctx, m, o)
	switch {
	case err != nil:
		return err
	case r.Rows == 0:
		return errors.New("the objective is no likelihood of data, so there is no criterion")
	}
	c.Fit = r
	c.take(len(r.Estimates), r.NLL, (r.AIC-2*r.NLL)/2, r.Rows)
	return nil
}

// asItStands takes a model that estimates nothing.
func (c *Candidate) asItStands(ctx context.Context, m *odes.Model, o odes.Options) error {
	nll, rows, err := fit.Likelihood(ctx, m, o)
	if err == nil {
		c.take(0, nll, 0, rows)
	}
	return err
}

// take computes the criteria. A common factor of standard deviations counts among the k estimates.
func (c *Candidate) take(free int, nll, k float64, rows int) {
	n := float64(rows)
	c.Free, c.Rows, c.NLL, c.AIC, c.BIC = free, rows, nll, 2*nll+2*k, 2*nll+k*math.Log(n)
	if c.AICc = math.Inf(1); n > k+1 {
		c.AICc = c.AIC + 2*k*(k+1)/(n-k-1)
	}
}
