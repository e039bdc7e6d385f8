package odes

import (
	"context"

	"odes.dev/odes/internal/engine/run"
	"odes.dev/odes/internal/engine/verify"
	"odes.dev/odes/result"
)

// VerifyOptions say how thoroughly a gradient is checked. The zero value is ready to use.
type VerifyOptions struct {
	Directions int    // random directions; 0 means 3
	Seed       uint64 // of their generator
	// Tolerance is the largest relative error that passes. 0 means 1e-8, and more where rounding, or a
	// mode that differentiates the equations first, makes larger errors.
	Tolerance float64
}

// Verify checks the gradient that Sensitivities gives for opts against two others, which share neither
// its code nor its order of evaluation: complex steps along random directions over the recorded steps,
// and another sensitivity mode. It compares values, derivatives and events with those of an independent
// run. Second derivatives are checked too, where the settings ask for them. The methods are described in
// docs/methods-derivatives.md.
func (m *Model) Verify(ctx context.Context, opts Options, how VerifyOptions) (*Verification, error) {
	return verify.Gradient(ctx, m.engine, m.setup(opts), verify.Options(how))
}

// Bench measures a model. It computes whole gradients in this process, runs times after a warm-up. At
// the start of the run it measures single evaluations of the right-hand side and of its transpose (for
// all lanes together), and a single step and its transpose.
func (m *Model) Bench(ctx context.Context, runs int, opts Options) (*Bench, error) {
	return verify.Bench(ctx, m.engine, runs, m.setup(opts))
}

// Costates integrates the model and its discrete adjoint, and returns the adjoint states. It ignores
// the mode and the variables of opts.
func (m *Model) Costates(ctx context.Context, opts Options) (*Costates, error) {
	return m.engine.Costates(ctx, m.setup(opts))
}

// Continuation asks for the steady states along a param.
type Continuation struct {
	Param    string  // or an element of one, "A[2]", or an initial value, "initial(x)"
	From, To float64 // where it begins, and the other end of the range, which may be the lower one
	Points   int     // how many steps the range takes at least; 0: 100
}

// Continue finds the steady state that a run from the initial values leads to, where the param is at the start of the
// range, and follows it as the param changes: past folds and through unstable states, until the param leaves the range.
// Time stands still at the start of the span; what `equilibrate` sets is not looked at.
func (m *Model) Continue(ctx context.Context, c Continuation, opts Options) (*Branch, error) {
	return m.engine.Continue(ctx, c.Param, c.From, c.To, c.Points, m.setup(opts))
}

// A Comparison compares a model with its data, row by row, with derivatives: what methods for least squares need and a
// likelihood hides. It keeps its memory from run to run, like a Runner. A Comparison belongs to one goroutine.
type Comparison struct {
	// Variables are what predictions are differentiated by, and Columns is their number of elements.
	Variables []Variable
	Columns   int
	// Groups are the observations of each experiment, in file order. Each run overwrites their numbers.
	Groups []Compared
	// PriorWeight is that of the negative logarithm of the priors in the objective; 0 where it reads none.
	PriorWeight float64
	// RTol is the relative tolerance of the runs.
	RTol float64

	model  *Model
	engine *run.Comparison
}

// ErrNoValue says that a run came to its end, but that some number that it was made for is none.
var ErrNoValue = run.ErrNoValue

// Compare prepares comparisons with the data that an objective reads: one that is a sum of nll() or nll(D), and of
// -log_prior(), with positive weights. For any other objective it returns nil. The error carries all that is wrong with
// the options, as diagnostics.
func (m *Model) Compare(objective string, opts Options) (*Comparison, error) {
	return m.comparison(m.engine.Compare(objective, m.setup(opts), opts.Threads))
}

// CompareAll prepares comparisons with all data of the model, whatever its objectives are. It returns nil if there are
// none.
func (m *Model) CompareAll(opts Options) (*Comparison, error) {
	return m.comparison(m.engine.CompareAll(result.NeededTerms, m.setup(opts), opts.Threads))
}

// CompareRows is CompareAll with all likelihoods of rows, or with none of them: then the data do not count, and may be
// impossible.
func (m *Model) CompareRows(likelihoods bool, opts Options) (*Comparison, error) {
	wanted := result.NoTerms
	if likelihoods {
		wanted = result.AllTerms
	}
	return m.comparison(m.engine.CompareAll(wanted, m.setup(opts), opts.Threads))
}

// A Window is a part of the time of a run: of experiment number Experiment, or of the model itself where that is -1.
// First tells that it begins where the run does. Multiple shooting makes the run of each window as one of its own.
type Window = run.Window

// A Node says what a window begins with, and what its Ends are.
type Node = run.Node

// CompareWithin is Compare in a window of time. Its Ends are the values at the end of the window of what Node names.
func (m *Model) CompareWithin(objective string, w Window, opts Options) (*Comparison, error) {
	return m.comparison(m.engine.CompareWithin(objective, w, m.setup(opts)))
}

// Node says what windows of an experiment begin with. The error names what in the model no run in parts can have.
func (m *Model) Node(experiment int) (Node, error) { return m.engine.Node(experiment) }

// A Span is when the run of an experiment begins and ends, and what is due in it.
type Span = run.Span

// Span returns that of an experiment, or of the model itself (-1).
func (m *Model) Span(experiment int, opts Options) (Span, error) {
	return m.engine.Span(experiment, m.setup(opts))
}

// A Division says how objectives of a run come from those of its parts.
type Division struct {
	*run.Division
	model *Model
}

// Kinds of how the value of a functional comes from those of the parts: see Division.Inputs.
const (
	OfFirst = run.OfFirst
	Added   = run.Added
	Largest = run.Largest
)

// Divide returns how objectives, constraints among them, come from the parts of the run of the model itself (-1), or
// how what an experiment adds to the likelihoods does. The error names what parts do not tell.
func Divide(m *Model, experiment int, of []string) (*Division, error) {
	d, err := m.engine.Divide(experiment, of)
	return &Division{d, m}, err
}

// A Section is the run of a window for the objectives of a Division. It belongs to one goroutine.
type Section struct {
	*run.Section
	model *Model
}

// Section prepares the run of a window; last tells that it ends where the run does.
func (d *Division) Section(w Window, last bool, opts Options) (*Section, error) {
	s, err := d.model.engine.Section(d.Division, w, last, d.model.setup(opts))
	if err != nil {
		return nil, err
	}
	return &Section{s, d.model}, nil
}

// Set gives parameters or initial values other values for the runs to come; see Runner.Set.
func (s *Section) Set(set ...Assignment) error {
	list, err := s.model.converted(set)
	if err != nil {
		return err
	}
	return s.Section.Set(list...)
}

// Observed returns the place in a Node of the element of a state that an observation reads as it is; -1 where it reads
// anything else.
func (m *Model) Observed(experiment int, observation string) int {
	return m.engine.Observed(experiment, observation)
}

// IsNode reports whether one of the names of a Node stands for a discrete.
func IsNode(name string) bool { return run.IsNode(name) }

// Ends are the values at the end of a window, and their derivatives. The next run overwrites them.
func (c *Comparison) Ends() Rows { return c.engine.Ends }

func (m *Model) comparison(c *run.Comparison, err error) (*Comparison, error) {
	if c == nil || err != nil {
		return nil, err
	}
	return &Comparison{
		Variables: c.Variables, Columns: c.Columns, Groups: c.Groups, PriorWeight: c.PriorWeight, RTol: c.RTol,
		model: m, engine: c,
	}, nil
}

// Set gives parameters or initial values other values for the runs to come; see Runner.Set.
func (c *Comparison) Set(set ...Assignment) error {
	list, err := c.model.converted(set)
	if err != nil {
		return err
	}
	return c.engine.Set(list...)
}

// SetIn is Set for the random effects of one experiment, "" for a model without any.
func (c *Comparison) SetIn(experiment string, set ...Assignment) error {
	list, err := c.model.converted(set)
	if err != nil {
		return err
	}
	return c.engine.SetIn(experiment, list...)
}

// Effects makes a Run and returns how the random effects of every experiment that has data are distributed.
func (c *Comparison) Effects(ctx context.Context) ([]Effects, error) { return c.engine.Effects(ctx) }

// Run makes the runs of all experiments and fills in the Groups. A run that fails is an error, and so is a prediction
// without a value.
func (c *Comparison) Run(ctx context.Context) error { return c.engine.Run(ctx) }

// Warm is that of a Runner, for the runs of all experiments.
func (c *Comparison) Warm(on bool) { c.engine.Warm(on) }

// Forget is that of a Runner.
func (c *Comparison) Forget() { c.engine.Forget() }

// SteadyWork is that of a Runner.
func (c *Comparison) SteadyWork() SteadyWork { return c.engine.SteadyWork() }

// Batches computes likelihoods of a part of the data at a time, with their gradients: what searches need that take a
// step after looking at some experiments, or some rows. A Batches belongs to one goroutine.
type Batches struct {
	// Variables are what likelihoods are differentiated by, and Columns is their number of elements.
	Variables []Variable
	Columns   int
	// Groups are the observations of each experiment, in file order, without predictions.
	Groups []Compared
	// PriorWeight is that of the negative logarithm of the priors in the objective, which are no part of what is
	// computed here; 0 where it reads none.
	PriorWeight float64

	model  *Model
	engine *run.Batches
}

// Batches prepares runs for parts of the data that an objective reads, which is one as Compare takes it. For any other
// objective it returns nil. The error carries all that is wrong with the options, as diagnostics.
func (m *Model) Batches(objective string, opts Options) (*Batches, error) {
	b, err := m.engine.Batches(objective, m.setup(opts), opts.Threads)
	if b == nil || err != nil {
		return nil, err
	}
	return &Batches{
		Variables: b.Variables, Columns: b.Columns, Groups: b.Groups, PriorWeight: b.PriorWeight, model: m, engine: b,
	}, nil
}

// Run computes the sum over rows of the negative logarithms of their likelihoods, each times how often it counts:
// counts has the rows of each group, or nil for one that does not count. It adds the gradient to a slice of Columns
// numbers. Experiments of which no group counts are not run. set gives parameters or initial values other values; see
// Runner.Set.
func (b *Batches) Run(
	ctx context.Context, set []Assignment, counts [][]float64, gradient []float64,
) (value float64, err error) {
	list, err := b.model.converted(set)
	if err != nil {
		return 0, err
	}
	return b.engine.Run(ctx, list, counts, gradient)
}

// Joint computes the density of the data of a population together with that of random effects that are given, subject
// by subject. A Joint belongs to one goroutine.
type Joint struct {
	*run.Joint
	model *Model
}

// Distribution is how the random effects of a subject are distributed.
type Distribution = run.Distribution

// Joint prepares densities with derivatives by opts.Wrt, with tolerances, or steps of fixed length, that are factor
// times those that opts lead to.
func (m *Model) Joint(factor float64, opts Options) (*Joint, error) {
	setup := m.setup(opts.GradientOnly())
	if factor != 1 {
		r, err := m.engine.Prepare(setup)
		if err != nil {
			return nil, err
		}
		setup = r.Refined(setup, factor)
	}
	j, err := m.engine.Joint(setup)
	if err != nil {
		return nil, err
	}
	return &Joint{j, m}, nil
}

// Set gives params other values.
func (j *Joint) Set(set ...Assignment) error {
	list, err := j.model.converted(set)
	if err != nil {
		return err
	}
	return j.Joint.Set(list...)
}
