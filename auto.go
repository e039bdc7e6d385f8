package odes

import "odes.dev/odes/lang/diag"

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

// autoMode chooses between the discrete adjoint and tangent by their costs:
// sweeps times what a stage costs, the primal work once and about twice as
// much for each lane of a transpose, as much for each lane of a tangent. It depends on the model and the lanes that
// follow from it alone.
func (r *run) autoMode(objectives, columns int) {
	cost := func(n, perLane int) int {
		l := chooseLanes(n)
		return (n + l - 1) / l * (1 + perLane*l)
	}
	adjoint, tangent := cost(objectives, 2), cost(columns, 1)
	mode := "adjoint"
	if tangent < adjoint {
		mode = "tangent"
	}
	r.settings.mode = mode
	r.warnings.Notef(CodeAuto, r.model.checked.Time.Span, "mode = %s: %d objectives by %d variables cost about %d sweeps' worth of right-hand sides backwards and %d forwards",
		mode, objectives, columns, adjoint, tangent)
}
