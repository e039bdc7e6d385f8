package explain

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/limits"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/target"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
	"odes.dev/odes/tapec"
	"odes.dev/odes/typecheck"
)

// mostAlike is up to how many warnings of one kind about one place are given one by one.
const mostAlike = 4

// Warnings turns the solver's warnings into diagnostics. Where there are many alike, about elements of one event or
// times of one table, the first stands for all.
func (x *Explainer) Warnings(list []solvers.Warning, l *diag.List) {
	type alike struct {
		kind    solvers.WarningKind
		matters bool
		at      source.Span
		other   string
	}
	keys := make([]alike, len(list))
	count := map[alike]int{}
	for i, w := range list {
		other := target.Array(w.Other)
		keys[i] = alike{w.Kind, x.matters(&w), x.instantSpan(w.Instant, x.eventSpan(w.Name)), other}
		count[keys[i]]++
	}
	for i, w := range list {
		n := count[keys[i]]
		if n < 0 {
			continue // the first was given for all
		}
		var one diag.List
		x.warning(&w, keys[i].at, &one)
		for _, d := range one.All() {
			if n > mostAlike {
				count[keys[i]] = -1
				d.Message += fmt.Sprintf("; and so on, %d in all", n)
			}
			l.Add(d)
		}
	}
}

// warning turns a warning about a place into a diagnostic.
func (x *Explainer) warning(w *solvers.Warning, at source.Span, l *diag.List) {
	switch w.Kind {
	case solvers.Grazing:
		l.Warnf(CodeGrazing, at, "%s grazes its condition at %s: a small change of parameters makes it come or "+
			"go, so derivatives do not exist there",
			w.Name, x.When(w.T))
	case solvers.NearMiss:
		l.Warnf(CodeHidden, at, "%s may be missed: its condition comes within %s of its threshold at %s, and the "+
			"solution may be off by more", w.Name, diag.Number(w.Value), x.When(w.T))
	case solvers.Tie:
		// Nothing that is differentiated by moves one of them alone.
		l.Notef(CodeTie, at, "%s and %s happen together at %s and their order changes the result: it is that of the "+
			"file; give one a priority to say which comes first",
			w.Name, w.Other, x.When(w.T))
	case solvers.Brink:
		l.Warnf(CodeTie, at, "%s: the body of %s leaves its condition at the threshold, at %s, but for rounding (%s), "+
			"which decides whether it fires; moved a little, it lies on the other side, so derivatives do not exist "+
			"there",
			w.Name, w.Other, x.When(w.T), diag.Number(w.Value))
	case solvers.OneSided:
		how, apart := "exactly", "together"
		if w.Value > 0 {
			apart = diag.Number(w.Value) + " apart"
			how = "within " + diag.Number(w.Value) + ","
		}
		what := fmt.Sprintf("%s and %s happen %s", w.Name, w.Other, apart)
		if of := reading(w.Other); of != "" {
			what = fmt.Sprintf("%s comes %s at %s", x.condition(w.Name), how, of)
		}
		l.Warnf(CodeTie, at, "%s, %s: derivatives by what moves one of them alone are those of the order in which "+
			"they came, and may be others in the other", what, x.When(w.T))
	case solvers.Together:
		if w.Name == w.Other {
			l.Warnf(CodeTie, at, "parts of %s change together at %s, and it is not the same whichever comes first: "+
				"derivatives by what moves one part alone may be those of one side",
				x.condition(w.Name), x.When(w.T))
			break
		}
		l.Warnf(CodeTie, at, "%s and %s change together at %s: derivatives by what moves one of them alone may be "+
			"those of one side", x.condition(w.Name), x.condition(w.Other), x.When(w.T))
	case solvers.Outside:
		level := diag.Note
		if x.matters(w) {
			level = diag.Warning
		} else if x.isDose(w) {
			break
		}
		l.Add(diag.Diagnostic{
			Code: CodeOutside, Level: level, Span: at,
			Message: fmt.Sprintf("%s at %s lies outside the time span and never happens", w.Name, x.When(w.Value)),
		})
	case solvers.Standing, solvers.Ended:
		x.standing(w, at, l)
	case solvers.Past:
		l.Warnf(CodeOutside, at, "at %s, the body of %s sets the time of %s to %s, which is past: %[3]s does not "+
			"fire at it", x.When(w.T), w.Other, w.Name, diag.Number(w.Value))
	case solvers.Stiff:
		l.Notef(CodeStiff, x.span, "this looks stiff from %s on: steps are held short by stability, not by "+
			"accuracy (an eigenvalue of about -%s); a looser rtol will not make them longer; "+
			"method = auto takes an implicit method where that pays, and for diffusion on large grids there is "+
			"method = rkc2",
			x.When(w.T), strconv.FormatFloat(w.Value, 'g', 2, 64))
	case solvers.Unseen:
		what := "a function of time in the right-hand side"
		if w.Name != "" {
			what = w.Name
		}
		l.Warnf(CodeUnseen, x.span, "%s has a peak about %s that the fixed "+
			"steps pass over, so the result misses it; take shorter steps, or leave their length to the tolerances",
			what, x.When(w.T))
	case solvers.Unresolved:
		l.Warnf(CodeUnseen, x.span,
			"%s may have been large for a moment about %s or later without being seen: it is too "+
				"narrow to tell, or states cancel in it; a smaller hmax looks closer", w.Name, x.When(w.T))
	case solvers.Skirted:
		l.Warnf(CodeUnseen, x.span,
			"%s is small about %s, but large beside it, nearer than states may be off: "+
				"whether the solution passes there before it turns or ends, a tighter rtol tells", w.Name, x.When(w.T))
	case solvers.Hidden:
		l.Warnf(CodeHidden, at, "%s may have changed for a moment about %s or later without being seen: it stays "+
			"too near its threshold, or swings too fast beside it; a smaller hmax looks closer",
			x.condition(w.Name), x.When(w.T))
	case solvers.Disputed:
		l.Warnf(CodeHidden, at, "the step in which %s came is too long to tell when: at %s by the step, at %s by its "+
			"dense output; what else changed between may not have been seen; shorter steps agree",
			x.condition(w.Name), x.When(w.T), x.When(w.Value))
	case solvers.Drift, solvers.Branch:
		x.unknown(l, at, w)
	case solvers.Unstable:
		l.Warnf(CodeUnstable, x.span, "the steps of fixed length are not stable from %s on: an eigenvalue of "+
			"about %s needs shorter ones, or another method",
			x.When(w.T), strconv.FormatFloat(w.Value, 'g', 2, 64))
	case solvers.Extension:
		l.Notef(CodeDomain, x.span,
			"at %s, the argument of a root or power in the equations was outside of its domain, "+
				"by no more than states may be off, and counted as at the edge; a tighter rtol and atol keep it nearer",
			diag.Count(int(w.Value), "point"))
	case solvers.Rest:
		l.Warnf(CodeRest, at, "%s turned back within rounding at %s; it fires again only after its condition "+
			"was false", w.Name, x.When(w.T))
	}
}

// standing warns of an event that did not fire since its condition held at the start.
func (x *Explainer) standing(w *solvers.Warning, at source.Span, l *diag.List) {
	which, name := "its condition holds", w.Name
	for _, e := range x.model.Checked.Events {
		if e.Name == name {
			at = e.When.Span()
			if len(e.Indices) > 0 {
				which = "the conditions of all its elements hold"
			}
		}
	}
	how := "from the start on"
	if w.Kind == solvers.Ended {
		how = "at the start only, and not again later"
	}
	text := fmt.Sprintf("event %q never fires: %s %s; it fires as a condition becomes true, and to fire at the start "+
		"as well it needs the option at start", strings.TrimSuffix(name, ".trigger"), which, how)
	if _, translated := at.Origin(); translated { // other formats say themselves whether it does
		l.Notef(typecheck.CodeNeverFires, at, "%s", text)
		return
	}
	l.Warnf(typecheck.CodeNeverFires, at, "%s", text)
}

// matters reports whether a result would be another one, had an explicit time outside of the run come: that of an event
// before the start, or that of an event which objectives read. A time that bodies move may wait there for one.
func (x *Explainer) matters(w *solvers.Warning) bool {
	if w.Instant < 0 {
		return false
	}
	in := x.model.Compiled.InstantList[w.Instant]
	return in.Kind == tapec.Fire && x.model.Unmoved(w.Instant) && (w.Value < w.T ||
		slices.ContainsFunc(x.model.Compiled.Functionals, func(f tapec.Functional) bool { return f.Event == in.Event }))
}

// isDose reports whether a warning is about the time of a dose.
func (x *Explainer) isDose(w *solvers.Warning) bool {
	if w.Instant < 0 {
		return false
	}
	in := x.model.Compiled.InstantList[w.Instant]
	return in.Kind == tapec.Fire && strings.HasPrefix(x.model.Checked.Events[in.Event].Name, model.OfDoses)
}

// Stopped says what stopped a run before its end; "" for nothing.
func (x *Explainer) Stopped(stats *solvers.Stats) string {
	if !stats.Stopped {
		return ""
	}
	return fmt.Sprintf("; %s stopped the run at %s", stats.By, x.When(stats.T))
}

// reading says what reads the state, if a warning is about an observation or the end; "" otherwise.
func reading(other string) string {
	switch other {
	case solvers.Observation:
		return "the time of an observation"
	case solvers.Start, solvers.Finish, solvers.Last:
		return other
	}
	return ""
}

// Bounds warns of params that are outside of their bounds at pt. Of numbers that are defaults the checker has warned.
func (x *Explainer) Bounds(pt *compiled.Point, l *diag.List) {
	for _, s := range x.model.Checked.Params {
		if v, ok := limits.Beyond(x.model, pt, s); ok {
			lo, hi, _ := limits.At(x.model, pt, s)
			l.Warnf(typecheck.CodeBounds, s.Span, "the value %s of %q is outside its bounds [%s, %s]", diag.Number(v),
				s.Name, diag.Number(lo), diag.Number(hi))
		}
	}
}

// MembersBounds warns that param s is outside of its bounds, at v among others, in so many of n members.
func (x *Explainer) MembersBounds(s *model.Symbol, v float64, outside, n int, l *diag.List) {
	of := fmt.Sprintf(" [%s, %s]", diag.Number(s.Lo), diag.Number(s.Hi))
	if limits.Made(s) { // each member has its own
		of = ""
	}
	l.Warnf(typecheck.CodeBounds, s.Span, "%q is outside its bounds%s in %d of %s, as with %s", s.Name, of, outside,
		diag.Count(n, "member"), diag.Number(v))
}

// Peaks warns of largest values that have no derivative, once for each max_over, and returns how many these are.
func (x *Explainer) Peaks(list []sens.Peak, l *diag.List) (n int) {
	said := map[int]bool{}
	for _, p := range list {
		k := x.model.FunctionalAt(p.Element)
		if said[k] || math.IsNaN(p.Value) || math.IsNaN(p.Other) {
			continue
		}
		said[k] = true
		f := &x.model.Compiled.Functionals[k]
		name := compiled.ElementName(strings.Join(strings.Fields(f.Span.Text()), " "), f.Shape, p.Element-f.Offset)
		l.Warnf(CodeTie, f.Span, "%s is as large at %s as at %s, but for the tolerance: it is not differentiable "+
			"where two maxima tie; derivatives are those at %s",
			name, x.When(p.T), x.When(p.Other), x.When(p.T))
	}
	return len(said)
}

// StiffInitial notes that derivatives by initial values show what steps held short by stability leave of the run, if
// list, the warnings of the solver, holds one of stiffness.
func (x *Explainer) StiffInitial(list []solvers.Warning, l *diag.List) {
	if slices.ContainsFunc(list, func(w solvers.Warning) bool { return w.Kind == solvers.Stiff }) {
		l.Notef(CodeStiff, x.span,
			"where stability holds steps short, the computed run keeps a little of what the equations lose at once, "+
				"and derivatives by initial values show it; --error tells how many of their digits hold")
	}
}

// Thinned notes that a run was too large to be kept whole.
func (x *Explainer) Thinned(run *record.Trajectory, l *diag.List) {
	if !run.Thinned() {
		return
	}
	what := "every state"
	if k := run.Kept().Every; k > 1 {
		what = fmt.Sprintf("one state in %d", k)
	}
	l.Notef(CodeMemory, x.span,
		"the steps of the run do not fit into the %s that memory leaves them: %s is kept, and %d steps were computed "+
			"again, to the same result; more solver.memory makes it faster",
		diag.Bytes(float64(run.Limit)), what, run.Replayed())
}

// Unwatched notes which expressions may be narrow in states and are not watched.
func (x *Explainer) Unwatched(list []source.Span, l *diag.List) {
	if len(list) == 0 {
		return
	}
	more := ""
	if len(list) > 1 {
		more = fmt.Sprintf(", nor are %d more", len(list)-1)
	}
	l.Notef(CodeUnseen, list[0], "what may be narrow here is not watched%s: all such parts have more than %d "+
		"elements; a bell or a pair of gates that a step passes over is missed, and solver.hmax makes sure", more,
		tapec.NarrowSize)
}

// WorthTelling returns the warnings of a run but for those of stiffness where it was short.
func (x *Explainer) WorthTelling(s *solvers.Stats) []solvers.Warning {
	const short = 100 // steps
	if s.Steps >= short {
		return s.Warnings
	}
	return slices.DeleteFunc(slices.Clone(s.Warnings), func(w solvers.Warning) bool { return w.Kind == solvers.Stiff })
}

// Unmoved returns the diagnostics of a run but for that of arguments outside of their domains, if they are known to
// move no result.
func (x *Explainer) Unmoved(list []diag.Diagnostic, known bool) []diag.Diagnostic {
	return slices.DeleteFunc(list, func(d diag.Diagnostic) bool { return known && d.Code == CodeDomain })
}

// unknown explains what is wrong with algebraic unknowns.
func (x *Explainer) unknown(l *diag.List, at source.Span, w *solvers.Warning) {
	if w.Kind == solvers.Branch && w.Name == "" {
		l.Warnf(CodeDrift, at, "the guesses of the unknowns (alg) lead to no solution of the algebraic equations "+
			"at the start, %s: Newton's method found one on another branch; make sure that it is the one that "+
			"you mean, and give guesses nearer to it", x.When(w.T))
		return
	}
	if w.Kind == solvers.Branch {
		l.Warnf(CodeDrift, at, "after %s, at %s, the unknowns (alg) do not continue from their values before it: "+
			"the algebraic equations have several solutions there, and Newton's method chose one; make sure that it "+
			"is the one that you mean, or give the unknowns rates", w.Name, x.When(w.T))
		return
	}
	l.Warnf(CodeDrift, at, "the alg %s is %s tolerances away from what the algebraic equations say at %s: a "+
		"tighter rtol keeps it nearer", w.Name, strconv.FormatFloat(w.Value, 'g', 2, 64), x.When(w.T))
}
