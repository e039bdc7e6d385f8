package odes

import (
	"fmt"
	"strconv"

	"odes.dev/odes/lang/diag"
)

// CodeAuto tells what `auto` chose.
const CodeAuto diag.Code = "auto"

// autoMethod chooses a method by the tolerance: the one that reaches the
// accuracy which comes with it at the least cost, measured on the examples
// (docs/methods.md has the table). It reads nothing but the settings.
func (s *settings) autoMethod() (name, why string) {
	switch rtol := s.solver.RTol; {
	case s.solver.Fixed > 0:
		return "rk4", "for steps of fixed length"
	case rtol >= 1e-4:
		return "tsit5", "for rtol = " + short(rtol) + " (1e-4 and above)"
	case rtol >= 1e-9:
		return "dop853", "for rtol = " + short(rtol) + " (1e-9 to 1e-4)"
	default:
		return "vern9", "for rtol = " + short(rtol) + " (below 1e-9)"
	}
}

// auto settles what the settings leave to the tool, and says so.
func (r *run) auto() {
	s := r.settings
	if s.method == "auto" {
		name, why := s.autoMethod()
		s.method = name
		r.warnings.Notef(CodeAuto, r.model.checked.Time.Span, "method = %s, %s", name, why)
	}
	if s.mode == "auto" {
		s.mode, s.autoMode = "adjoint", true
	}
}

// clearly so many more sweeps the one way than the other settle the matter without a look at programs.
const clearly = 16

// What a stage costs besides the operations of its programs, in such operations: measured on the examples, like the
// choice between methods (docs/methods.md).
const (
	backStage  = 300
	forthStage = 1000
	// instruction is how many operations an instruction costs before it does anything.
	instruction = 6
)

// autoMode chooses between the discrete adjoint and tangent by their costs: sweeps, times what the programs of the
// transpose and of the tangent do at one stage. That is counted in the programs and not timed, so that the choice is the same on every
// machine, as the results are.
func (r *run) autoMode(objectives, columns int, active []string) error {
	back, forth := chooseLanes(objectives), chooseLanes(columns)
	sweeps, pushes := (objectives+back-1)/back, (columns+forth-1)/forth
	mode, why := "adjoint", ""
	switch {
	case pushes > clearly*sweeps:
		why = fmt.Sprintf("%s backwards, %d forwards", plural(sweeps, "sweep"), pushes)
	case sweeps > clearly*pushes:
		mode, why = "tangent", fmt.Sprintf("%s forwards, %d backwards", plural(pushes, "sweep"), sweeps)
	default:
		p := r.model.programs
		pull, err := p.kit(back, active, pulling, sweeps > 1)
		if err != nil {
			return err
		}
		push, err := p.kit(forth, active, pushingElements, false)
		if err != nil {
			return err
		}
		algebra := float64(2 * (r.stages + 2) * r.model.layout.nY) // of a stage, per lane
		adjoint := float64(float64(sweeps)*(backStage+cost(pull.pull.rates)+float64(algebra*float64(back))+pull.plan.cost(back))) + cost(pull.shared)
		tangent := float64(pushes) * (forthStage + cost(push.push.rates) + float64(algebra*float64(forth)))
		if tangent < adjoint {
			mode = "tangent"
		}
		why = fmt.Sprintf("%s backwards cost about %s operations a stage, %d forwards %s", plural(sweeps, "sweep"), round(adjoint), pushes, round(tangent))
	}
	r.settings.mode = mode
	r.warnings.Notef(CodeAuto, r.model.checked.Time.Span, "mode = %s, for %s by %s: %s", mode, plural(objectives, "objective"), plural(columns, "variable"), why)
	return nil
}

// cost returns what a program does, in operations; an instruction costs some by itself.
func cost(p *program) float64 {
	if p == nil {
		return 0
	}
	s := p.code.Stats()
	return float64(s.Flops) + float64(instruction*float64(s.Instructions))
}

// cost returns that of the products that are done for many stages at once, per stage.
func (p *plan) cost(lanes int) float64 {
	n := 0.0
	for _, d := range p.deferred {
		n += float64(2 * d.rows * d.cols * lanes)
	}
	return n
}

func round(x float64) string { return strconv.FormatFloat(x, 'g', 2, 64) }
