// Package settings turns the settings blocks of a model, and what overrides them, into typed values: how to solve,
// what to differentiate and how. Its tables of keys say which words each key takes.
//
// It knows the checked model and the names of methods, controllers and sensitivity modes. It must not know of runs:
// what a setting asks for is done by those who read it.
package settings

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"strconv"

	"odes.dev/odes/lang/target"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/explicit"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/solvers/record"
	"odes.dev/odes/steady"
)

// Codes of diagnostics about settings.
const (
	CodeSetting     diag.Code = "setting"
	CodeUnavailable diag.Code = "unavailable"
	CodeUnchosen    diag.Code = "unchosen"
)

// Auto is the method, and the mode, that leaves the choice to odes.
const Auto = "auto"

// Settings are the resolved solver and sens blocks. What their slices and maps hold is never written
// to, so a copy is independent: a run that repeats another one changes fields of a copy.
type Settings struct {
	// Method is "" or Auto where the choice is open, for Decide.
	Method     string   `key:"solver.method"`
	Stiff      []string // the methods of steps that stability would hold short, where these pay, set by Decide
	Controller string   `key:"solver.controller"`
	// MaxGrowth is the most that a step may be longer than the one before; 0: the controller's own.
	MaxGrowth  float64            `key:"solver.max_growth"`
	OfMethod   map[string]float64 // settings that only some methods take (solvers.Family.Settings), as they were given
	Algebraic  bool               // the model has algebraic unknowns
	States     int                // of the model, with all elements of arrays
	AtMethod   source.Span        // of the last of method and OfMethod; none for an override
	Solver     solvers.Options
	Checkpoint record.Checkpoint
	Threads    int `key:"solver.threads"`
	SteadyStates
	LatePeak bool   // sens.Options.LatePeak
	Hermite  bool   `key:"solver.dense"`  // Hermite's cubic takes the place of the method's own dense output
	Linear   string `key:"solver.linear"` // how implicit steps solve their equations: one of matrices.LinearMethods

	Derivatives
	Trust bool `key:"sens.trust"` // results are compared with those of an independent run

	Fit      Fit
	Ensemble Ensemble

	// Notes tell what the blocks ask for and this version does not do.
	Notes []diag.Diagnostic

	said
}

// SteadyStates says how steady states are found, and their derivatives.
type SteadyStates struct {
	Steady steady.Way `key:"solver.steady"` // how steady states are found
	// SteadyStart says at what searches for steady states begin: Auto, "own" or "warm".
	SteadyStart string  `key:"solver.steady_start"`
	SteadyFlow  bool    `key:"sens.steady"`       // their derivatives are integrated in time
	SteadyTol   float64 `key:"solver.steady_tol"` // of Newton's last step, in units of the tolerances; 0: the default
}

// Derivatives says which derivatives are asked for, how they are made, and how they are checked.
type Derivatives struct {
	Of       []string        `key:"sens.of"`   // names of objectives; nil: all
	Wrt      []target.Target `key:"sens.wrt"`  // variables; nil: all
	Mode     string          `key:"sens.mode"` // of sens.Modes, or Auto
	Order    int             // of the derivatives: 1 or 2; 0 is 1
	HVP      Vector          // that Hessians are multiplied with
	Control  Control         `key:"sens.control"`    // whether derivatives take part in error control
	Errors   bool            `key:"sens.error"`      // of derivatives are shown
	SensTol  float64         `key:"solver.sens_tol"` // what the relative accuracy of derivatives must be; 0: not asked
	Backward Backward
	Bump     float64        `key:"sens.bump"` // of the mode differences; 0: a part of each variable
	Check    *GradientCheck // after the gradient was computed; nil: not asked
}

// said is what settings say of models of some kinds, and what has no field of its own.
type said struct {
	Delayed    bool // the model reads its past
	Populated  bool // the model has random effects
	Numbers    bool // of results only numbers count, not where derivatives are those of one side
	Marginal   Marginal
	rtol, atol tolerances // Solver has them for each state
	others     []other    // of blocks that Settings knows nothing of
}

// Fit is the resolved fit block.
type Fit struct {
	keys.Fit
	Over []target.Target `key:"fit.over"` // nil: the choice is open; no param
	Log  []target.Target `key:"fit.log"`
}

// Ensemble says which members an ensemble has.
type Ensemble struct {
	keys.Ensemble
	Rows  *model.Table // nil for none
	Draws []model.Draw
}

// Control says whether derivatives of the states take part in the error control of a run.
type Control uint8

// The kinds of control, in the order of the words of sens.control.
const (
	ControlAuto Control = iota // where an independent run shows that they must
	ControlOn
	ControlOff
)

// Backward are the tolerances of modes that integrate adjoint equations; 0 means their defaults.
type Backward struct {
	RTol float64 `key:"sens.rtol"`
	ATol float64 `key:"sens.atol"`
}

// Vector is a vector in the space of the variables: numbers, or the param that holds them.
type Vector struct {
	List  []float64
	Param string
	Span  source.Span // of the value; none for an override
}

// GradientCheck says how a gradient is checked along random directions; 0 means the defaults of the
// check.
type GradientCheck struct {
	Directions int
	Tolerance  float64
	Span       source.Span // of the value
}

// defaults are the settings of a model without blocks.
func defaults() Settings {
	s := initial
	s.Threads = runtime.GOMAXPROCS(0)
	return s
}

// Rule returns how the lengths of steps are chosen.
func (s Settings) Rule() hybrid.Rule {
	r, _ := hybrid.LookupController(s.Controller)
	if s.MaxGrowth > 0 {
		r.Grow = s.MaxGrowth
	}
	return r
}

// Spec returns the method; nil for Auto. The error says which of the method's own settings is wrong.
func (s Settings) Spec() (*solvers.Spec, error) {
	if s.Method == Auto && len(s.OfMethod) == 0 {
		return nil, nil
	}
	m, err := methods.Choose(cmp.Or(s.Method, usual), s.OfMethod)
	if err != nil {
		return nil, fmt.Errorf("solver.%w", err)
	}
	if s.Hermite {
		own := m
		if m = explicit.Hermite(own); m == nil {
			return nil, fmt.Errorf("solver.dense = hermite is for explicit Runge–Kutta methods; %s has its own",
				own.Name)
		}
	}
	if len(s.Stiff) == 0 {
		return m, nil
	}
	members := []*solvers.Spec{m}
	for _, name := range s.Stiff {
		other, _ := methods.Lookup(name)
		members = append(members, other)
	}
	return solvers.Switching(m.Name, members...), nil
}

// usual is the explicit method of models that name none.
const usual = "dopri5"

// Decide chooses the method where that is open: an explicit one and, for steps that stability would hold short, others.
// why says why the explicit one, where auto was asked for.
func (s *Settings) Decide() (why string) {
	if s.Algebraic && (s.Method == "" || s.Method == Auto) {
		s.Method = mainStiff
		return "for a model with algebraic unknowns"
	}
	switch s.Method {
	case "":
		if s.Method = usual; s.Populated { // tolerances are tight
			s.Method, _ = s.AutoMethod()
		}
	case Auto:
		s.Method, why = s.AutoMethod()
	default:
		return ""
	}
	if len(s.OfMethod) == 0 {
		s.Stiff = s.stiff(mainStiff)
	}
	return why
}

// The implicit methods of runs, and of the independent runs that they are compared with.
const mainStiff, otherStiff = "rodas5p", "rodas4p"

// Where there are that many states on a grid, explicit steps with stages for stability may cost less than others.
const (
	manyStates = 4096
	stabilized = "rkc2"
)

// stiff returns the methods for what is stiff, of which implicit is one, or none where steps are of fixed length or
// need not be stable.
func (s *Settings) stiff(implicit string) []string {
	switch {
	case s.Solver.Fixed > 0 || s.Solver.Unbounded:
		return nil
	case s.Delayed:
		return []string{ofPast(implicit)}
	case s.States < manyStates:
		return []string{implicit}
	}
	return []string{implicit, stabilized}
}

// The methods of runs that read their past: of high order inside steps, where tolerances are tight and for what is
// stiff.
const (
	usualOfPast, exactOfPast = "tsit5", "dop853"
	stiffOfPast              = "radau9"
	otherStiffOfPast         = "radau13"
	tightOfPast              = 1e-7
)

// MethodOfPast chooses the methods of a run that reads its past, where that is open.
func (s *Settings) MethodOfPast() {
	if s.Method = usualOfPast; s.Solver.RTol <= tightOfPast {
		s.Method = exactOfPast
	}
	s.Stiff = s.stiff(mainStiff)
}

// ofPast returns the implicit method of a run that reads its past, instead of one that cannot.
func ofPast(implicit string) string {
	if implicit == mainStiff {
		return stiffOfPast
	}
	return otherStiffOfPast
}

// implicit reports whether the steps of the method solve equations.
func implicit(method string) bool {
	m, ok := methods.Lookup(method)
	return ok && m.Can.Has(solvers.NeedsJacobian)
}

// AutoMethod chooses an explicit method by the tolerance: the one that reaches the corresponding accuracy at the
// least cost, as measured on the examples (docs/methods.md has the table). It reads nothing but the
// settings.
func (s Settings) AutoMethod() (name, why string) {
	switch rtol := s.Solver.RTol; {
	case s.Solver.Fixed > 0:
		return "rk4", "for steps of fixed length"
	case rtol >= 1e-4:
		return "tsit5", "for rtol = " + diag.Number(rtol) + " (1e-4 and above)"
	case rtol >= 1e-9:
		return "dop853", "for rtol = " + diag.Number(rtol) + " (1e-9 to 1e-4)"
	default:
		return "vern9", "for rtol = " + diag.Number(rtol) + " (below 1e-9)"
	}
}

// FirstOrder turns second derivatives off.
func (s *Settings) FirstOrder() { s.Order, s.HVP = 1, Vector{} }

// GradientOnly turns second derivatives, estimates of errors and all further runs off.
func (s *Settings) GradientOnly() {
	s.FirstOrder()
	s.Unchecked()
}

// Unchecked leaves the run without any that check it or improve on it.
func (s *Settings) Unchecked() {
	s.Errors, s.SensTol, s.Trust = false, 0, false
	if s.Control == ControlAuto {
		s.Control = ControlOff
	}
}

// LeastTol is the relative tolerance below which rounding decides.
const LeastTol = 1e-14

// Refine is Tighten and GradientOnly.
func (s *Settings) Refine(factor float64, order int) {
	s.GradientOnly()
	s.Tighten(factor, order)
}

// Tighten multiplies all tolerances by factor, or halves fixed steps. It shortens the longest step accordingly, for a
// method of that order.
func (s *Settings) Tighten(factor float64, order int) {
	if s.Solver.Fixed > 0 {
		s.Solver.Fixed /= 2
		return
	}
	if s.Solver.HMax > 0 { // it may be what governs the steps
		s.Solver.HMax = float64(s.Solver.HMax * elem.Pow(factor, 1/float64(order)))
	}
	s.scale(factor)
}

// scale multiplies all tolerances by factor.
func (s *Settings) scale(factor float64) {
	scale := func(x, least float64) float64 {
		if x < 0 { // it follows rtol
			return x
		}
		// Two digits are as good as all, and easier to read where reports name them.
		return max(Rounded(float64(x*factor), 2), least)
	}
	scaleAll := func(one *float64, each *[]float64, least float64) {
		if *each == nil {
			*one = scale(*one, least)
			return
		}
		list := make([]float64, len(*each))
		*one = math.Inf(1)
		for i, x := range *each {
			list[i] = scale(x, least)
			*one = min(*one, list[i])
		}
		*each = list
	}
	scaleAll(&s.Solver.RTol, &s.Solver.RTols, LeastTol)
	scaleAll(&s.Solver.ATol, &s.Solver.ATols, 0)
	if s.Solver.QuadTol > 0 {
		s.Solver.QuadTol = scale(s.Solver.QuadTol, LeastTol)
	}
	if s.Backward.RTol > 0 {
		s.Backward.RTol = scale(s.Backward.RTol, LeastTol)
	}
	if s.Backward.ATol > 0 {
		s.Backward.ATol = scale(s.Backward.ATol, 0)
	}
}

// Rounded returns x rounded to that many significant digits.
func Rounded(x float64, digits int) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	return y
}
