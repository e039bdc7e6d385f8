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

// What a stage costs, in nanoseconds: fitted to the examples, each with several choices of objectives and variables, on one machine
// (docs/methods.md). Only their proportions matter.
const (
	backStage = 50.0  // a sweep backwards, of a small model
	backLarge = 110.0 // and more where vectors are bound anew for each call
	backInstr = 2.9
	backFlop  = 0.029
	backSum   = 0.1 // an operation of the method's own sums
	deferred  = 0.015

	forthStage = 72.0 // a sweep forwards
	forthLane  = 8.8
	forthInstr = 3.1
	forthFlop  = 0.018
	forthSum   = 0.14
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
		adjoint, tangent := r.backwards(pull, sweeps), r.forwards(push, pushes)
		if tangent < adjoint {
			mode = "tangent"
		}
		why = fmt.Sprintf("%s backwards at about %s ns a stage, %d forwards at %s", plural(sweeps, "sweep"), round(adjoint), pushes, round(tangent))
	}
	r.settings.mode = mode
	r.warnings.Notef(CodeAuto, r.model.checked.Time.Span, "mode = %s, for %s by %s: %s", mode, plural(objectives, "objective"), plural(columns, "variable"), why)
	return nil
}

// backwards estimates what sweeps with the transposes of k take at a stage.
func (r *run) backwards(k *kit, sweeps int) float64 {
	l := r.model.layout
	at := backStage
	if n := l.nY + l.nQ; n > smallEval || n*k.lanes > smallPull {
		at += backLarge
	}
	at += cost(k.pull.rates, backInstr, backFlop) + float64(backSum*r.sums(k.lanes)) + float64(deferred*k.plan.cost(k.lanes))
	return float64(float64(sweeps)*at) + cost(k.shared, backInstr, backFlop)
}

// forwards estimates what sweeps with the tangents of k take at a stage.
func (r *run) forwards(k *kit, sweeps int) float64 {
	at := forthStage + float64(forthLane*float64(k.lanes)) + cost(k.push.rates, forthInstr, forthFlop) + float64(forthSum*r.sums(k.lanes))
	return float64(float64(sweeps) * at)
}

// sums counts the operations of the method's own sums at a stage, about: those of all stages before it, half of them each way.
func (r *run) sums(lanes int) float64 { return float64(2 * (r.stages + 2) * r.model.layout.nY * lanes) }

// cost estimates what a program takes.
func cost(p *program, instr, flop float64) float64 {
	if p == nil {
		return 0
	}
	s := p.code.Stats()
	return float64(instr*float64(s.Instructions)) + float64(flop*float64(s.Flops))
}

// cost counts the operations of the products that are done for many stages at once, per stage.
func (p *plan) cost(lanes int) float64 {
	n := 0.0
	for _, d := range p.deferred {
		n += float64(2 * d.rows * d.cols * lanes)
	}
	return n
}

func round(x float64) string { return strconv.FormatFloat(x, 'g', 2, 64) }
