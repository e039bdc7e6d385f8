package odes

import (
	"fmt"
	"strconv"

	"odes.dev/odes/internal/settings"
	"odes.dev/odes/internal/system"
	"odes.dev/odes/lang/diag"
)

// CodeAuto tells what `auto` chose.
const CodeAuto diag.Code = "auto"

// auto settles what the settings leave to the tool, and says so.
func (r *run) auto() {
	s := &r.settings
	if s.Method == settings.Auto {
		name, why := s.AutoMethod()
		s.Method = name
		r.warnings.Notef(CodeAuto, r.model.checked.Time.Span, "method = %s, %s", name, why)
	}
	if s.Mode == settings.Auto { // until Prepare knows what it is for
		s.Mode = "adjoint"
	}
}

// clearly so many more sweeps the one way than the other settle the matter without a look at programs.
const clearly = 16

// autoMode chooses between the discrete adjoint and tangent by their costs: sweeps, times what the programs of the
// transpose and of the tangent do at one stage. That is counted in the programs and not timed, so that the choice is the same on every
// machine, as the results are.
func (r *run) autoMode(objectives, columns int) error {
	back, forth := chooseLanes(objectives), chooseLanes(columns)
	sweeps, pushes := (objectives+back-1)/back, (columns+forth-1)/forth
	mode, why := "adjoint", ""
	switch {
	case pushes > clearly*sweeps:
		why = fmt.Sprintf("%s backwards, %d forwards", diag.Count(sweeps, "sweep"), pushes)
	case sweeps > clearly*pushes:
		mode, why = "tangent", fmt.Sprintf("%s forwards, %d backwards", diag.Count(pushes, "sweep"), sweeps)
	default:
		pull, err := r.problem.Kit(back, system.Pull, sweeps > 1)
		if err != nil {
			return err
		}
		push, err := r.problem.Kit(forth, system.PushElements, false)
		if err != nil {
			return err
		}
		adjoint, tangent := r.problem.AdjointCost(pull, sweeps), r.problem.TangentCost(push, pushes)
		if tangent < adjoint {
			mode = "tangent"
		}
		why = fmt.Sprintf("%s backwards at about %s ns a stage, %d forwards at %s", diag.Count(sweeps, "sweep"), round(adjoint), pushes, round(tangent))
	}
	r.settings.Mode = mode
	r.warnings.Notef(CodeAuto, r.model.checked.Time.Span, "mode = %s, for %s by %s: %s", mode, diag.Count(objectives, "objective"), diag.Count(columns, "variable"), why)
	return nil
}

func round(x float64) string { return strconv.FormatFloat(x, 'g', 2, 64) }
