// Package odes computes gradients of models made of ordinary differential
// equations. A model is a text: states, parameters, objectives, events. Parse
// compiles it once; Solve and Sensitivities run it any number of times, with
// other parameter values, from any number of goroutines.
//
// Gradients are those of the computed solution: discrete adjoints of explicit
// Runge–Kutta methods, exact through events. See docs/methods.md.
package odes

import (
	"context"
	"io/fs"

	"odes.dev/odes/internal/explain"
	"odes.dev/odes/internal/settings"
	"odes.dev/odes/internal/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/typecheck"
	"odes.dev/odes/vm"
)

// Backend returns how programs compute here: generic, avx2 (threaded code) or native
// (machine code made for the model). Results do not depend on it. The environment
// variable ODES_BACKEND chooses.
func Backend() string { return vm.Backend() }

// Model is a compiled model: immutable and shared between goroutines. Of a
// model with experiments, outputs, events and functionals are those of the run
// without any experiment's changes; nll() and its derivatives are sums over the
// experiments, which are solved in parallel.
type Model struct {
	checked *typecheck.Model
	system  *system.Model
	explain *explain.Explainer
	notes   []diag.Diagnostic // warnings and notes of compilation
	seconds CompileSeconds

	experiments  []*experiment // in file order
	isExperiment bool          // one of those of another model
}

// CompileSeconds says where the time to make a Model went.
type CompileSeconds struct{ Parse, Compile float64 }

// ParseOptions modify Parse. The zero value is ready to use.
type ParseOptions struct {
	// Files is where load and csv find their files; nil means there are none. ParseFile uses the model's folder.
	Files fs.FS
	// Experiment makes the model that of one of its experiments alone: with the values, events and rows of data of
	// that, and the objectives of the text, of which nll is the likelihood of these rows. "" is the model as a whole.
	Experiment string
}

// Options say how to run a model. The zero value follows the model's own
// solver and sens blocks.
type Options struct {
	// Set overrides parameters (and initial values, as "initial(x)"), in order.
	Set []Assignment
	// Solver and Sens choose named settings blocks; "" the unnamed ones.
	Solver, Sens string
	// Settings override keys of the blocks: {"solver.rtol", "1e-9"}, {"sens.mode", "tangent"}. Values are
	// written as in a model.
	Settings []Setting
	// Of and Wrt choose objectives and variables ("k1", "A", "initial(x)"); nil follows the sens block.
	Of, Wrt []string
	// Direction, if not nil, is a vector that the Hessians are multiplied with, laid out like a row of the gradient, in place
	// of the sens block's hvp. Hessians themselves come with {"sens.order", "2"}.
	Direction []float64
	// Times are where Solve reports outputs; nil means every step.
	Times []float64
	// Threads is the number of goroutines (0: one per core); Lanes the objectives swept together (0: chosen).
	// Results depend on neither.
	Threads, Lanes int
	// Gradient, if large enough, is used for the derivatives instead of fresh memory.
	Gradient []float64
	// EventTimes asks for the derivatives of the times of events too.
	EventTimes bool
	// Progress, when set, is called now and then from the solving goroutine.
	Progress func(Progress)

	firstOnly    bool                 // second derivatives are not wanted, whatever the settings say
	compileAfter *system.CompileAfter // when whole steps are compiled; nil: when it pays
	// change, when set, changes the settings that all of this leads to: for runs that the library makes for itself.
	change func(s *settings.Settings)
}

// Assignment is "name = values": one value fills an array. Name may carry
// subscripts: "A[1,2]", or be "initial(x)".
type Assignment struct {
	Name   string
	Values []float64
}

// Setting is a key of a settings block and its value as written in a model.
type Setting struct{ Key, Value string }

// Progress tells how far a run is.
type Progress struct {
	Phase  string // "forward", "adjoint", "second" (T is 0 then), or "experiments" (all runs of which count; T is 0 then)
	T      float64
	Steps  int
	Done   float64 // fraction
	Finish bool
}

// Variable is something that objectives are differentiated by.
type Variable struct {
	Name    string
	Initial bool // the initial value of state Name, not a param
	Unit    string
	Shape   []int
	// Offset is the column of the variable's first element in a row of the gradient.
	Offset int
}

// String returns "k" or "initial(x)".
func (v Variable) String() string {
	if v.Initial {
		return "initial(" + v.Name + ")"
	}
	return v.Name
}

// Size returns the number of elements.
func (v Variable) Size() int {
	n := 1
	for _, d := range v.Shape {
		n *= d
	}
	return n
}

// Value is the value of one scalar objective. Elements of array objectives are
// values of their own, named "y[3]".
type Value struct {
	Name     string
	Doc      string
	Unit     string
	Relation string // "", or "==", "<=", ">=" of a constraint
	Value    float64
	Error    float64 // estimated, where Sensitivities.Errors are
	Warnings []string
}

// EventRecord is an event, or a change of mode, that happened.
type EventRecord struct {
	Name  string
	Kind  string // "event", "if"
	Index []int  // of an array event's element, 1-based; nil otherwise
	T     float64
	// Params holds dT/d(variable), laid out like a row of the gradient; nil when not computed.
	Params []float64
	// Errors estimate how far each of Params is from the derivative of the exact solution, and Error how far T is; nil
	// unless asked for, and where the more accurate run has no event that is this one.
	Errors []float64
	Error  float64
}

// RunSettings are the settings a run used.
type RunSettings struct {
	Method     string
	RTol, ATol float64
	Mode       string
	Checkpoint string // what was kept of the run, as a solver block says it
	Backend    string
	Lanes      int
	Threads    int
}

// RunStats count what a run did.
type RunStats struct {
	Steps, Rejected     int
	F, VJP              int   // right-hand sides of the run, and their transposes
	RecomputedSteps     int   // steps made again for the gradient; their right-hand sides are not in F
	PeakTrajectoryBytes int64 // what was kept of the run, with the memory to make steps again
	SecondSteps         int   // crossed for second derivatives, over all sweeps
	Seconds             struct{ Parse, Compile, Forward, Adjoint, Second float64 }
}

// Sensitivities is the result of Model.Sensitivities.
type Sensitivities struct {
	Status    string // "ok" or "partial": some objective has no value
	From, To  float64
	Values    []Value
	Variables []Variable
	// Gradient is [len(Values)][Columns]: row i is the gradient of Values[i], variables laid out by Offset.
	Gradient []float64
	// Errors estimate how far each number of Gradient is from the derivative of the exact solution, from a run with
	// tighter tolerances; nil unless asked for (sens { error = on }, or sens_tol).
	Errors  []float64
	Columns int
	// Hessian is [len(Values)][Columns][Columns], with sens { order = 2 }: the second derivatives of Values[i], in
	// units of the value by those of the two variables. Like the gradient it is exact for the computed solution. It is made symmetric, and
	// Asymmetry[len(Values)] tells how far it was from that, relative to the elements: what rounding did to it.
	Hessian   []float64
	Asymmetry []float64
	// Products is [len(Values)][Columns]: row i is the Hessian of Values[i] times Direction[Columns], where one was
	// given (sens { hvp = … } or Options.Direction). It costs as much as one column of the Hessians.
	Products  []float64
	Direction []float64
	Events    []EventRecord
	Settings  RunSettings
	Stats     RunStats
	Warnings  []diag.Diagnostic
}

// Derivative returns the derivatives of value i by variable v: a view of the gradient, row-major in v's shape.
func (s *Sensitivities) Derivative(i int, v Variable) []float64 {
	at := i*s.Columns + v.Offset
	return s.Gradient[at : at+v.Size()]
}

// Second returns the Hessian of value i: a view of Hessian, [Columns][Columns], variables laid out by Offset; nil where there is none.
func (s *Sensitivities) Second(i int) []float64 {
	if s.Hessian == nil {
		return nil
	}
	n := s.Columns * s.Columns
	return s.Hessian[i*n : (i+1)*n]
}

// Series is one output over time.
type Series struct {
	Name   string
	Doc    string
	Unit   string
	Shape  []int
	Values []float64 // [len(T)][size]
}

// Solution is the result of Model.Solve.
type Solution struct {
	T        []float64 // at an event both limits appear, so a time may stand twice
	Outputs  []Series
	Values   []Value // of the objectives
	Events   []EventRecord
	Settings RunSettings
	Stats    RunStats
	Warnings []diag.Diagnostic
}

// Parse compiles the text of a model; name is used in messages. The error
// carries diagnostics (diag.Of).
func Parse(name, text string, opts ParseOptions) (*Model, error) { return parse(name, text, opts) }

// ParseFile compiles the model at path.
func ParseFile(path string) (*Model, error) { return parseFile(path) }

// Warnings returns the warnings and notes of compilation.
func (m *Model) Warnings() []diag.Diagnostic { return m.notes }

// Solve integrates the model.
func (m *Model) Solve(ctx context.Context, opts Options) (*Solution, error) {
	return m.solve(ctx, opts)
}

// Sensitivities integrates the model and differentiates its objectives. Where
// the sens block asks for it (check = fd(…)), it verifies the gradient and tells
// what it found among the warnings.
func (m *Model) Sensitivities(ctx context.Context, opts Options) (*Sensitivities, error) {
	r, err := m.Prepare(opts)
	if err != nil {
		return nil, err
	}
	s, err := r.Sensitivities(ctx)
	if err != nil {
		return nil, err
	}
	if check := r.settings.Check; check != nil {
		err = m.checkGradient(ctx, opts, check, s)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}
