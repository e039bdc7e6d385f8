// Package explain turns what solvers and sensitivity methods report about a run into diagnostics:
// sentences that name the time, the state and the place in the model's text, and say what to do. It
// also looks for what only the text can explain: kinks, invariants that do not hold, windows that
// do not fit the time span.
//
// It knows neither settings nor how runs are put together, and it prints nothing.
package explain

import (
	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/target"
)

// Codes of run-time failures and warnings.
const (
	CodeNonFinite    diag.Code = "non-finite"
	CodeUnderflow    diag.Code = "step-underflow"
	CodeTooMany      diag.Code = "too-many-steps"
	CodeChattering   diag.Code = "chattering"
	CodeCascade      diag.Code = "cascade"
	CodePending      diag.Code = "too-many-pending" // executions of an event with a delay
	CodeMemory                 = memory.Code
	CodeInterrupted  diag.Code = "interrupted"
	CodeTime         diag.Code = "time-span"
	CodeInconsistent diag.Code = "inconsistent" // algebraic equations without a solution
	CodeDrift        diag.Code = "drift"        // of algebraic unknowns
	CodeIncapable    diag.Code = "incapable"    // a method, of what the run asks of it
	CodeAssert       diag.Code = "assert-failed"
	CodeGrazing      diag.Code = "grazing"
	CodeTie          diag.Code = "tie"
	CodeOutside      diag.Code = "time-outside"
	CodeRest         diag.Code = "resting-event"
	CodeStiff        diag.Code = "stiff"
	CodeUnseen       diag.Code = "unseen-peak"
	CodeHidden       diag.Code = "hidden-event"
	CodeDomain       diag.Code = "domain-edge"
	CodeSteady       diag.Code = "steady-state"
	CodeUnstable     diag.Code = "unstable"
	CodeNoInfluence  diag.Code = "no-influence"
	CodeBackward     diag.Code = "backward"
	CodeKink         diag.Code = "kink"               // a value exactly where a function has no derivative
	CodeInvariant    diag.Code = "invariant-violated" // an invariant that does not hold
)

// Explainer explains runs of one model. Goroutines may share it.
type Explainer struct {
	model *compiled.Model
	time  string      // name of the independent variable
	span  source.Span // of its declaration
}

// New returns the explainer of a model.
func New(m *compiled.Model) *Explainer {
	return &Explainer{model: m, time: m.Checked.Time.Name, span: m.Checked.Time.Span}
}

// Span returns the place at which diagnostics about the whole model stand: the declaration of time.
func (x *Explainer) Span() source.Span { return x.span }

// When writes "t = 1.5".
func (x *Explainer) When(t float64) string { return x.time + " = " + diag.Number(t) }

// isMode reports whether name is that of a mode.
func (x *Explainer) isMode(name string) bool {
	base := target.Array(name)
	for _, mode := range x.model.Compiled.Modes {
		if mode.Name == base {
			return true
		}
	}
	return false
}

// condition is what a message calls the condition of an event or a mode.
func (x *Explainer) condition(name string) string {
	if x.isMode(name) {
		return "the condition of " + name
	}
	return name
}

// eventSpan returns the place of an event or of the condition of a mode.
func (x *Explainer) eventSpan(name string) source.Span {
	base := target.Array(name)
	for _, e := range x.model.Checked.Events {
		if e.Name == base {
			return e.Span
		}
	}
	for _, mode := range x.model.Compiled.Modes {
		if mode.Name == base {
			return mode.Span
		}
	}
	return x.span
}

// instantSpan returns the place of an instant; otherwise if it has none.
func (x *Explainer) instantSpan(instant int, otherwise source.Span) source.Span {
	if list := x.model.Compiled.InstantList; instant >= 0 && instant < len(list) && !list[instant].Span.IsZero() {
		return list[instant].Span
	}
	return otherwise
}
