// Package fit estimates parameters of models from data, and says how sure they are.
//
// Run takes an objective of a model and searches for the params that make it least, from one point or many. What it
// returns, a Result, has the estimates with their standard errors and intervals, what the data cannot tell, the
// searches that were made, and the predictions beside the data. Predict and Identify answer two questions without a
// search: how the model compares with its data as it stands, and which params the data can tell.
//
// An objective that is a sum of negative log likelihoods and priors is read row by row (odes.Comparison): a
// trust-region method for least squares then knows the curvature that the data have, at the price of first derivatives.
// Any other objective is minimised by its gradient and, where that pays, its exact Hessian; constraints are kept by
// sequential quadratic programming. The searches are those of internal/base/optim.
//
// A run of the model that fails is a failure of the point at which it was made, never of the fit. Results depend on
// nothing but the model, the settings and the seed: not on the number of workers, and not on time.
//
// docs/fit.md has the formulas and their sources.
package fit

import (
	"context"
	"errors"
	"math"
	"runtime"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/lang/diag"
)

// CodeFit is the code of warnings and notes about a fit.
const CodeFit diag.Code = "fit"

// Options say what to fit and how. The zero value follows the model's fit block.
type Options struct {
	// Options are those of the runs: values, settings, blocks. Of, Wrt, Times and Gradient mean nothing here.
	odes.Options
	// Starts, if not 0, takes the place of the setting.
	Starts int
	// Workers is how many searches go on at once; 0 means one for each core. Results do not depend on it.
	Workers int
	// Told, if set, is called after each run, search and profile, by any goroutine, one at a time.
	Told func(Progress)
	// Done are searches that were made before, by their Number: they are not made again. See Start.
	Done []Start
	// Found, if set, is called with every search that has ended, one at a time; not with those that a worker lost.
	Found func(Start)
	// Iterated, if set, is called after each iteration of the searches of this process, one at a time.
	Iterated func(Iteration)
	// Trained are trainings that were stopped, by their Number: these go on to the same bits. Of several with one
	// number the last counts. Training, if set, is called with one now and then, and where it is stopped.
	Trained  []Training
	Training func(Training)
	// Backend, if set, makes searches and refits elsewhere, and needs the Source of the model. Workers does not count
	// then.
	Backend Backend
	Source  ensemble.Source
}

// Progress tells how far a fit is.
type Progress struct {
	Phase string // "searches", "profiles", "refits"
	Done  int    // of so many
	Of    int
	Best  float64 // of the objective so far; NaN where no search has come to a value
	// Evaluations counts the runs of this process, those of searches that go on included.
	Evaluations int
	// Epoch is how many of Epochs the training has made that told last, and Value what it came to; 0 where none did.
	Epoch, Epochs int
	Value         float64
}

// Iteration tells how far a search has come. Of minima that were found once more, with estimates held or data drawn
// again, nothing is told.
type Iteration struct {
	Search      int // Number of its Start
	Iteration   int
	Evaluations int
	Value       float64 // of the objective
	Violation   float64 // the largest of a constraint, relative to its size
	Slope       float64 // the largest derivative of the Lagrangian that bounds leave, times the size of its estimate
	Promised    float64 // what the next step promises
	Radius      float64 // how long that may be, in sizes of the estimates; 0 where that is not told
	Seconds     float64 // since the search began
	// While runs are in parts (fit.shooting), Gap is the largest gap between two of them, relative to the size of a
	// state, and Weight is that of the penalty on gaps: +Inf in steps that close them. Weight is 0 for whole runs.
	Weight, Gap float64
}

// Result is the result of a fit.
type Result struct {
	// Status is "ok", "partial" (it was interrupted, or the best search did not come to a minimum, or numbers of the
	// objective are not to be trusted) or "failed": no search has come to a value.
	Status    string
	Objective odes.Value // at the estimates, with its estimated error
	// GradientNorm is the largest derivative of the objective by an estimate, times the size of that, at a minimum
	// within the bounds.
	GradientNorm float64
	KKT          KKT
	Estimates    []Estimate
	// Correlation is that of the estimates, [n][n]; nil where there are no standard errors. Rows and columns of
	// estimates without one are NaN.
	Correlation [][]float64
	// Starts are the searches, the best first; those without a value come last, in the order of their numbers.
	Starts   []Start
	Clusters []Cluster
	// Bootstrap are the estimates of refits, [refit][estimate], without those that came to no minimum.
	Bootstrap [][]float64
	// Identifiable tells that the data tell every estimate. Unidentified are the combinations of them that they do not.
	Identifiable bool
	Unidentified []Combination
	Criteria
	Predictions []Prediction
	Population  *Population // of a model with random effects; nil for others
	Constraints []odes.Value
	Settings    odes.FitSettings
	Algorithm   string // that was used; several in the order of their use, with commas
	Run         odes.RunSettings
	Stats       Stats
	Warnings    []diag.Diagnostic

	strays string // that the model does not follow its data, in words; "" where nothing is to be said
}

// Criteria are what an objective that is read row by row says of the data as a whole.
type Criteria struct {
	Rows int     // values that were compared; 0 for other objectives
	NLL  float64 // the negative log likelihood of the data
	// AIC and BIC are criteria made from it, which charge for all estimates, wherever they are.
	AIC, BIC float64
	// Factor is the common factor of standard deviations where that was estimated, NaN where there was nothing to
	// estimate it from, and 1 otherwise.
	Factor float64
	// Freedom are the degrees of freedom that the factor is estimated with: rows, and priors that are squares, less
	// free estimates. Those that are held at bounds are not free, and each active constraint holds one. Those that only
	// the noise reads do not count.
	Freedom int
}

// Stats count the work of a fit.
type Stats struct {
	Evaluations int // of the objective, each with derivatives
	Failures    int // of these
	Steady      SteadyWork
	Seconds     struct{ Compile, Searches, Errors, Profiles float64 }
}

// Estimate is one number that was searched for.
type Estimate struct {
	Name    string // of the param or state
	Initial bool   // the initial value of state Name
	Index   []int  // of an array's element, 1-based; nil for a scalar
	Written string // the form in which elements are written where Name is of copies of a component; else ""
	Unit    string
	Log     bool
	Start   float64 // the value in the model
	Value   float64
	StdErr  float64 // NaN where there is none
	// Decided tells that active constraints leave it no other value: it has no standard error and no interval.
	Decided bool
	// Lower and Upper are the ends of the interval; ±Inf where the data do not end it, NaN where none was asked for.
	Lower, Upper float64
	// LowBound and HighBound are its bounds, and AtBound is -1 or 1 where the estimate is at one of them.
	LowBound, HighBound float64
	AtBound             int
	// Open tells that the interval has no certified end on a side because of what: "" for none, "bound", "flat" (the
	// profile does not rise), "failed" (there is no value beyond), "stopped" (the fit was interrupted) or "uncertain"
	// (with the estimate held there, the others are not known to be at a minimum, or the objective has not risen by
	// what it is to rise).
	OpenLower, OpenUpper string
	Profile              []ProfilePoint

	matrix int // of how many rows is the symmetric matrix of which this is an element; 0 for others
}

// Symmetric tells that this is an element of the lower triangle of a symmetric matrix.
func (e *Estimate) Symmetric() bool { return e.matrix > 0 }

// Text returns "k", "A[1,2]" or "initial(x)".
func (e *Estimate) Text() string { return elementName(e.Name, e.Written, e.Initial, e.Index) }

// ProfilePoint is a point of a profile likelihood: the least value of the objective where an estimate is held at Value,
// above its minimum.
type ProfilePoint struct{ Value, Rise float64 }

// Start is a search.
type Start struct {
	Number int // 0 is that from the values in the model
	// Status is "converged", "limit" (of iterations), "stuck", "stopped" or "failed" (there is no value at its start).
	Status      string
	Why         string // in words
	From        []float64
	To          []float64 // nil where it failed
	Value       float64   // NaN where it failed
	Evaluations int
	Failures    int // of these
	Iterations  int
	Seconds     float64
	Cluster     int // index of Result.Clusters; -1 for none
	// Violated tells that constraints do not hold where it ended. It is behind all searches that ended where they do.
	Violated bool
	// Stages tell how the parts of runs came together that a search by parts began with (fit.shooting). They are those
	// of the best search alone, where this process made it; nil otherwise.
	Stages []Stage

	x      []float64 // To, as it was searched for
	steady SteadyWork
	err    error // why it failed; nil where that was read
	lost   bool  // nobody came to an end with it
	late   bool  // it was ended by max_time
}

// Stage is where a search by parts of runs stood at one weight of the gaps between them.
type Stage struct {
	Weight float64 // 0 at the beginning, +Inf where the parts are joined exactly
	Gap    float64 // the largest gap, relative to the size of a state
	Parts  []Part
}

// Part is what one part of a run said beside the data of an observation.
type Part struct {
	Experiment, Observation string
	T, Values               []float64
}

// Cluster is a minimum to which searches came: their values agree, and so do their estimates, as far as data tell them.
type Cluster struct {
	Value  float64
	Starts int // how many
	Best   int // index of Result.Starts
}

// Combination is a direction in which estimates can move together without a change that the data would show. More than
// 20 of these make one: then Names are the estimates that can move, and there are no Weights.
type Combination struct {
	Names      []string
	Weights    []float64 // relative changes of these, the largest 1
	Directions int       // 1, or how many there are
}

// Prediction is what the model says beside one row of data.
type Prediction struct {
	Experiment, Observation string
	Unit                    string
	T, Data                 float64
	Side                    int // -1: the value is at most Data; 1: it is at least Data
	Value                   float64
	// Error is the standard error of Value by the estimates; NaN where they have none. Scatter is the standard
	// deviation of the data around Value; NaN where the distribution has none. Residual is how many of these Data lies
	// from Value.
	Error, Scatter, Residual float64
}

// ErrNoMinimum says that no search has come to a value.
var ErrNoMinimum = errors.New("no search has come to a value of the objective")

// Run fits a model. The error carries all that is wrong with the options, as diagnostics; it is ErrNoMinimum, wrapped
// around the cause of the first failure, where no search came to a value; the result then lists the searches. If ctx
// ends, the result is that of what was done until then, with status "partial", and the error is nil, unless nothing was
// done.
func Run(ctx context.Context, m *odes.Model, opts Options) (*Result, error) {
	began := time.Now()
	p, err := newProblem(ctx, m, opts)
	if err != nil {
		return nil, err
	}
	out := &Result{Settings: p.settings, Algorithm: coach{p}.algorithms(), Status: "ok"}
	out.Factor = 1
	out.NLL, out.AIC, out.BIC = math.NaN(), math.NaN(), math.NaN()
	out.Stats.Seconds.Compile = time.Since(began).Seconds()
	if err := p.search(ctx, out); errors.Is(err, ErrNoMinimum) {
		out.Status, out.GradientNorm, out.KKT = "failed", math.NaN(), uncertified().KKT
		out.Objective = odes.Value{Name: p.settings.Objective, Value: math.NaN(), Error: math.NaN()}
		return out, err
	} else if err != nil {
		return nil, err
	}
	ctx, end := judge{p}.until(ctx, afterwards)
	defer end()
	if err := p.conclude(ctx, out); err != nil {
		return nil, err
	}
	return withMoreModes(ctx, m, opts, out)
}

// workers returns how many goroutines to use.
func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// Assignments are the estimates as values of params and initial values.
func (r *Result) Assignments() []odes.Assignment {
	var list []odes.Assignment
	last := ""
	for i := range r.Estimates {
		x := &r.Estimates[i]
		name := elementName(x.Name, "", x.Initial, nil)
		if n := x.matrix; n > 0 {
			if name != last {
				list = append(list, odes.Assignment{Name: name, Values: make([]float64, n*n)})
			}
			row, column := x.Index[0]-1, x.Index[1]-1
			to := list[len(list)-1].Values
			to[row*n+column], to[column*n+row] = x.Value, x.Value
			last = name
			continue
		}
		if name == last {
			a := &list[len(list)-1]
			a.Values = append(a.Values, x.Value)
			continue
		}
		list = append(list, odes.Assignment{Name: name, Values: []float64{x.Value}})
		last = name
	}
	return list
}
