package odes

import (
	"context"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/field"

	"odes.dev/odes/internal/engine/run"
	"odes.dev/odes/internal/engine/verify"
	"odes.dev/odes/lang/diag"
)

// Solve integrates the model: outputs at opts.Times or, if nil, at the ends of steps, and values of objectives. They
// are compared with an independent run unless trust = off. The error is a RunError, and carries diagnostics (diag.Of).
func (m *Model) Solve(ctx context.Context, opts Options) (*Solution, error) {
	opts.Times = m.engine.Checked.Source.Asked(opts.Times)
	if err := run.Ascending(opts.Times); err != nil {
		return nil, err
	}
	if opts.Done == nil {
		opts.Done = ctx.Done()
	}
	s, err := m.Simulator(opts)
	if err != nil {
		return nil, err
	}
	return s.Solve(ctx, opts.Times)
}

// Sensitivities integrates the model and differentiates its objectives. Where the sens block asks for
// it (check = fd(…)), it also verifies the gradient and adds what it found to the warnings. The error
// is a RunError if the run fails, and carries diagnostics (diag.Of).
func (m *Model) Sensitivities(ctx context.Context, opts Options) (*Sensitivities, error) {
	return verify.Sensitivities(ctx, m.engine, m.setup(opts))
}

// LeftOut returns notes on what the model says that derivatives for opts have no part in: settings blocks whose names
// were not asked for, and experiments. Runner and Model.Sensitivities tell it by themselves.
func (m *Model) LeftOut(opts Options) []diag.Diagnostic { return m.engine.LeftOut(m.setup(opts)) }

// Runner runs one model many times with the same options and other parameter values (Set). It keeps
// programs, work space and the memory of the gradient between runs. A Runner belongs to one goroutine;
// make one for each.
type Runner struct {
	model  *Model
	engine *run.Runner
}

// Prepare returns a Runner for opts. The error carries all that is wrong with them, as diagnostics.
func (m *Model) Prepare(opts Options) (*Runner, error) {
	r, err := m.engine.Prepare(m.setup(opts))
	if err != nil {
		return nil, err
	}
	return &Runner{m, r}, nil
}

// Sensitivities integrates the model and differentiates its objectives. Unless the settings say trust = off, it
// compares the result with that of an independent run. The next call overwrites the result.
func (r *Runner) Sensitivities(ctx context.Context) (*Sensitivities, error) {
	return r.engine.Sensitivities(ctx)
}

// Values integrates the model and writes the values of the objectives to to, with the bits that Solve gives. It returns
// how many steps that took. Nothing is compared with another run.
func (r *Runner) Values(ctx context.Context, to []float64) (steps int, err error) {
	return r.engine.Values(ctx, to)
}

// Settings returns what the runs to come use, with choices made where the options left them open.
func (r *Runner) Settings() RunSettings { return r.engine.Report() }

// Set gives parameters (or initial values) other values for the runs to come, after those of the
// options. A param whose default follows others, and an initial value, can only be set here if the
// options of Prepare set them as well.
func (r *Runner) Set(set ...Assignment) error {
	list, err := r.model.converted(set)
	if err != nil {
		return err
	}
	return r.engine.Set(list...)
}

// converted returns assignments in the units of the model, or what is wrong with these.
func (m *Model) converted(set []Assignment) ([]compiled.Override, error) {
	var l diag.List
	list := m.overrides(set, &l)
	return list, l.Err()
}

// SetDirection gives Hessians another vector to be multiplied with. It has the length of that of the options, which
// must have one.
func (r *Runner) SetDirection(v []float64) error { return r.engine.SetDirection(v) }

// Products returns the Hessian of each objective times v, [objectives][columns], where the run was that Sensitivities
// made last. Its options are those of ProductsOnly, or have a direction.
func (r *Runner) Products(ctx context.Context, v []float64) ([]float64, error) {
	return r.engine.Products(ctx, v)
}

// CrossProducts makes second derivatives of an integral over random effects, in the runs to come, the sums of products
// of the gradients of subjects: an estimate that costs nothing.
func (r *Runner) CrossProducts(on bool) { r.engine.CrossProducts(on) }

// Anchor lets searches for the modes of random effects, in the runs to come, begin where those of the last run would
// move to with the params, which costs less near these; Anchor(false) ends that. Other modes are not looked for then,
// unless a search has trouble.
func (r *Runner) Anchor(on bool) { run.Anchor(r.engine, on) }

// Warm lets searches for steady states in the runs to come begin at what the run before found, unless the settings say
// steady_start = own; Warm(false) ends that. What they find is stable, but need not be the state that a run from the
// initial values leads to: a run without Warm at the same values tells. Runs with Warm belong to one search, which
// confirms what comes of it by a run without.
func (r *Runner) Warm(on bool) { r.engine.Warm(on) }

// Chain begins a chain of runs if the settings say steady_start = warm: after the first one, searches for steady states
// begin at what the run before found.
func (r *Runner) Chain() { r.engine.Chain() }

// Forget forgets the steady states of all runs before, so that the next one depends on nothing that was before.
func (r *Runner) Forget() { r.engine.Forget() }

// SteadyWork returns what all runs so far took to find steady states, without those that check others.
func (r *Runner) SteadyWork() SteadyWork { return r.engine.SteadyWork() }

// Simulator solves one model many times with the same options, at other times and with other parameter values (Set). It
// keeps programs and work space between runs. A Simulator belongs to one goroutine; make one for each.
type Simulator struct {
	model  *Model
	engine *run.Simulator
}

// Simulator returns a Simulator for opts. The error carries all that is wrong with them, as diagnostics.
func (m *Model) Simulator(opts Options) (*Simulator, error) {
	s, err := m.engine.Simulator(m.setup(opts))
	if err != nil {
		return nil, err
	}
	return &Simulator{m, s}, nil
}

// Set gives parameters (or initial values) other values for the runs to come, as that of a Runner does.
func (s *Simulator) Set(set ...Assignment) error {
	list, err := s.model.converted(set)
	if err != nil {
		return err
	}
	return s.engine.Set(list...)
}

// Solve is Model.Solve, at times or, if these are nil, at the ends of steps. The result has the bits that Model.Solve
// gives, and belongs to the caller.
func (s *Simulator) Solve(ctx context.Context, times []float64) (*Solution, error) {
	return s.engine.Solve(ctx, times)
}

// Lanes runs one model for many sets of values, several at once, with the bits that a Runner gives for each. It belongs
// to one goroutine.
type Lanes struct {
	// Outputs, if not nil, is given the outputs of run i, at the Times of the options. It is told before Run writes a
	// row, also of runs that are to be made by a Runner after all.
	Outputs func(i int, s *Solution)

	model  *Model
	engine *run.Lanes
	set    []compiled.Override
}

// LaneCount is how many runs Lanes makes at a time.
const LaneCount = run.LaneCount

// Lanes returns what runs the model for sets of values with the names of those in the options; with derivatives if
// gradient. It is nil where nothing is gained, or where single runs can do what it cannot: it takes methods with
// explicit stages, and Rosenbrock methods, and those that change between two such.
func (m *Model) Lanes(opts Options, gradient bool) (*Lanes, error) {
	l, err := m.engine.Lanes(m.setup(opts), opts.Times, gradient)
	if l == nil || err != nil {
		return nil, err
	}
	return &Lanes{model: m, engine: l}, nil
}

// Run runs the model for n sets of values. It writes a row for each: the values of the objectives, and then, if Lanes
// has derivatives, those of the first value, of the second and so on. steps[n] says how many steps a run took. It is -1
// for a run that is to be made by a Runner: it failed, something in it is not a finite number, or it is one of those
// that cannot be made side by side.
func (l *Lanes) Run(ctx context.Context, n int, set func(i int) []Assignment, row func(i int) []float64, steps []int) {
	l.engine.Outputs = l.Outputs
	l.engine.Run(ctx, n, func(i int) ([]compiled.Override, error) {
		l.set = l.set[:0]
		for _, a := range set(i) {
			a, err := l.model.Convert(a)
			if err != nil {
				return nil, err
			}
			l.set = append(l.set, compiled.Override{Name: a.Name, Values: a.Values})
		}
		return l.set, nil
	}, row, steps)
}

// Field returns the names of the states and their rates at any values of these, in that order: the vector field of a
// phase plane. It returns nil for a model with arrays of states, or whose rates depend on more than states and params.
func (m *Model) Field(set []Assignment) (states []string, rates func(y []float64) []float64, err error) {
	symbols, err := m.Symbols(set)
	if err != nil {
		return nil, nil, err
	}
	params := map[string][]float64{}
	for _, s := range symbols {
		if s.Kind == "param" {
			params[s.Name] = s.Values
		}
	}
	states, rates = field.Of(m.engine.System.Compiled, func(name string) []float64 { return params[name] })
	return states, rates, nil
}
