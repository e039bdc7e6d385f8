package odes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
)

// Codes of run-time failures and warnings.
const (
	CodeNonFinite   diag.Code = "non-finite"
	CodeUnderflow   diag.Code = "step-underflow"
	CodeTooMany     diag.Code = "too-many-steps"
	CodeChattering  diag.Code = "chattering"
	CodeCascade     diag.Code = "cascade"
	CodeMemory      diag.Code = "memory"
	CodeInterrupted diag.Code = "interrupted"
	CodeTime        diag.Code = "time-span"
	CodeAssert      diag.Code = "assert-failed"
	CodeGrazing     diag.Code = "grazing"
	CodeTie         diag.Code = "tie"
	CodeOutside     diag.Code = "time-outside"
	CodeRest        diag.Code = "resting-event"
	CodeNoValue     diag.Code = "no-value"
	CodeStiff       diag.Code = "stiff"
	CodeNoInfluence diag.Code = "no-influence"
	CodeBackward    diag.Code = "backward"
	CodeBadGradient diag.Code = "non-finite-gradient"
)

// RunError is a run that failed: diagnostics that name the time, the state and
// the source expression.
type RunError struct {
	List  *diag.ListError
	Cause error
	// From and T are where the run began and how far it came; NaN where it did not begin.
	From, T float64
}

func (e *RunError) Error() string { return e.List.Error() }

// Unwrap returns the solver's typed error and the diagnostics.
func (e *RunError) Unwrap() []error { return []error{e.List, e.Cause} }

// Interrupted reports whether err is a run that its context ended.
func Interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// failed turns a solver's error into diagnostics.
func (m *Model) failed(err error, w *worker, method solvers.Method) error {
	var list diag.List
	span := m.checked.Time.Span
	var (
		nonFinite *solvers.NonFiniteError
		underflow *solvers.StepUnderflowError
		many      *solvers.TooManyStepsError
		chatter   *solvers.ChatteringError
		cascade   *solvers.CascadeError
		memory    *solvers.MemoryError
		disk      *solvers.DiskError
		cancelled *solvers.CancelledError
		times     *solvers.TimeError
		backward  *sens.BackwardError
	)
	switch {
	case errors.As(err, &nonFinite):
		d := list.Errorf(CodeNonFinite, span, "%s is not a finite number at %s", nonFinite.What, m.at(&nonFinite.Place))
		m.blame(d, w, method, &nonFinite.Place)
	case errors.As(err, &underflow):
		if underflow.NonFinite {
			d := list.Errorf(CodeUnderflow, span, "every step from %s gives something that is not a finite number, however short", m.at(&underflow.Place))
			m.blame(d, w, method, &underflow.Place)
			break
		}
		list.Errorf(CodeUnderflow, m.blamed(&underflow.Place), "the step size fell below %s: the estimated error stays above the tolerance at %s%s; the model may be singular or stiff there, or the tolerances too tight",
			short(underflow.HMin), m.at(&underflow.Place), m.worst(&underflow.Place))
	case errors.As(err, &many):
		list.Errorf(CodeTooMany, m.blamed(&many.Place), "more than max_steps = %d steps, and only at %s%s; raise solver.max_steps, loosen rtol, or shorten the time span; a stiff model needs an implicit method",
			many.Max, m.at(&many.Place), m.worst(&many.Place))
	case errors.As(err, &chatter):
		last := make([]string, len(chatter.Times))
		for i, t := range chatter.Times {
			last[i] = strconv.FormatFloat(t, 'g', 13, 64)
		}
		if m.isMode(chatter.Event) {
			list.Errorf(CodeChattering, m.eventSpan(chatter.Event), "the condition of %s is chattering: it %s (last times %s), at %s; the solution slides along it: smooth the switch, or write noevent(…) around it and accept what the tolerance gives",
				chatter.Event, chatter.Reason, strings.Join(last, ", "), m.at(&chatter.Place))
			break
		}
		list.Errorf(CodeChattering, m.eventSpan(chatter.Event), "event %s is chattering: it %s (last times %s), at %s; end the run with such an event (stop), or let it switch the model to rest",
			chatter.Event, chatter.Reason, strings.Join(last, ", "), m.at(&chatter.Place))
	case errors.As(err, &cascade):
		at := span
		if len(cascade.Events) > 0 {
			at = m.eventSpan(cascade.Events[0])
		}
		list.Errorf(CodeCascade, at, "events set each other off at one time more than max_cascade = %d times: %s, at %s; break the loop, or raise solver.max_cascade",
			cascade.Max, strings.Join(cascade.Events, ", "), m.at(&cascade.Place))
	case errors.As(err, &memory):
		keep, less := "", "loosen rtol, or shorten the time span"
		switch {
		case memory.Keep.Kind == solvers.CheckpointAuto:
		case memory.Thinned:
			keep = ", with every state kept and nothing else,"
			if k := memory.Keep.Every; k > 1 {
				keep = fmt.Sprintf(", with one state in %d kept and nothing else,", k)
			}
		case memory.Keep.Kind == solvers.CheckpointBinomial:
			keep, less = fmt.Sprintf(" with checkpoint = %s", memory.Keep), "keep fewer states there, or some on disk: revolve(ram = 20, disk = 200)"
		default:
			keep, less = fmt.Sprintf(" with checkpoint = %s", memory.Keep), "leave checkpoint out, so that less is kept where it must be"
		}
		list.Errorf(CodeMemory, span, "the trajectory needs more than memory = %s%s at %s; raise solver.memory, or %s", size(float64(memory.Limit)), keep, m.at(&memory.Place), less)
	case errors.As(err, &disk):
		list.Errorf(CodeMemory, span, "%s; files for it are made in %s: set %s to a directory with room, or keep fewer states on disk (solver.checkpoint)", disk.Error(), os.TempDir(), tempVariable())
	case errors.As(err, &cancelled):
		list.Errorf(CodeInterrupted, source.Span{}, "interrupted at %s", m.at(&cancelled.Place))
	case errors.As(err, &backward):
		list.Errorf(CodeBackward, span, "%s", backward.Error())
	case errors.As(err, &times):
		at := span
		if times.Instant >= 0 && times.Instant < len(m.compiled.InstantList) {
			if s := m.compiled.InstantList[times.Instant].Span; !s.IsZero() {
				at = s
			}
		}
		list.Errorf(CodeTime, at, "%s", times.Message)
	case Interrupted(err):
		list.Errorf(CodeInterrupted, source.Span{}, "interrupted while differentiating; the run itself was done")
	default:
		return err
	}
	out := &RunError{List: &diag.ListError{Diagnostics: list.All()}, Cause: err, From: math.NaN(), T: math.NaN()}
	if p := placeOf(err); p != nil && w != nil {
		out.From, out.T = w.started, p.T
	}
	return out
}

// placeOf returns where a run failed; nil when its error names no place.
func placeOf(err error) *solvers.Place {
	var (
		nonFinite *solvers.NonFiniteError
		underflow *solvers.StepUnderflowError
		many      *solvers.TooManyStepsError
		chatter   *solvers.ChatteringError
		cascade   *solvers.CascadeError
		memory    *solvers.MemoryError
		cancelled *solvers.CancelledError
	)
	switch {
	case errors.As(err, &nonFinite):
		return &nonFinite.Place
	case errors.As(err, &underflow):
		return &underflow.Place
	case errors.As(err, &many):
		return &many.Place
	case errors.As(err, &chatter):
		return &chatter.Place
	case errors.As(err, &cascade):
		return &cascade.Place
	case errors.As(err, &memory):
		return &memory.Place
	case errors.As(err, &cancelled):
		return &cancelled.Place
	}
	return nil
}

// short formats a number for a message.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 8, 64) }

// at says where a run was: the time, the step, the last event and a few states.
func (m *Model) at(p *solvers.Place) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s = %s (step %d, h = %s)", m.checked.Time.Name, short(p.T), p.Step+1, short(p.H))
	if n := len(p.Y); n > 0 {
		b.WriteString(" with ")
		for i := range min(n, 4) {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s = %s", m.stateName(i), short(p.Y[i]))
		}
		if n > 4 {
			fmt.Fprintf(&b, ", … (%d states)", n)
		}
	}
	if p.LastEvent != "" {
		fmt.Fprintf(&b, ", after event %s at %s", p.LastEvent, short(p.LastTime))
	}
	return b.String()
}

// worst names the states that kept the step small.
func (m *Model) worst(p *solvers.Place) string {
	stiff := ""
	if p.Stiff > 0 {
		stiff = fmt.Sprintf("; this looks stiff: stability holds the steps short (an eigenvalue of about -%s)", strconv.FormatFloat(p.Stiff, 'g', 2, 64))
	}
	if len(p.Worst) == 0 {
		return stiff
	}
	parts := make([]string, len(p.Worst))
	for i, w := range p.Worst {
		parts[i] = fmt.Sprintf("%s (error %s × tolerance)", w.Name, strconv.FormatFloat(w.Scaled, 'g', 3, 64))
	}
	return "; kept small by " + strings.Join(parts, ", ") + stiff
}

// blamed returns the place of the equation of the state that kept the step small.
func (m *Model) blamed(p *solvers.Place) source.Span {
	if len(p.Worst) > 0 {
		base, _, _ := strings.Cut(p.Worst[0].Name, "[")
		for i, s := range m.checked.States {
			if s.Name == base && !m.checked.Rates[i].Span().IsZero() {
				return m.checked.Rates[i].Span()
			}
		}
	}
	return m.checked.Time.Span
}

// isMode reports whether name is that of a mode.
func (m *Model) isMode(name string) bool {
	base, _, _ := strings.Cut(name, "[")
	for _, mode := range m.compiled.Modes {
		if mode.Name == base {
			return true
		}
	}
	return false
}

// condition is what a message calls the condition of an event or a mode.
func (m *Model) condition(name string) string {
	if m.isMode(name) {
		return "the condition of " + name
	}
	return name
}

func (m *Model) eventSpan(name string) source.Span {
	base, _, _ := strings.Cut(name, "[")
	for _, e := range m.checked.Events {
		if e.Name == base {
			return e.Span
		}
	}
	for _, mode := range m.compiled.Modes {
		if mode.Name == base {
			return mode.Span
		}
	}
	return m.checked.Time.Span
}

// witness is a Field that remembers the first point where the right-hand side was not finite.
type witness struct {
	*worker
	seen bool
	t    float64
	y    []float64
}

func (w *witness) Eval(t float64, y, k []float64) {
	w.worker.Eval(t, y, k)
	if w.seen {
		return
	}
	for _, x := range k {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			w.seen, w.t, w.y = true, t, append([]float64(nil), y...)
			return
		}
	}
}

// MakeStep leaves a step to its stages, each of which Eval must see.
func (*witness) MakeStep(*solvers.Tableau, *solvers.Step, bool) bool { return false }

// blame moves d to the expression that first gave a number that is not finite,
// by repeating the step that failed.
func (m *Model) blame(d *diag.Diagnostic, w *worker, method solvers.Method, p *solvers.Place) {
	if w == nil || len(p.Y) != m.layout.nY {
		return
	}
	w.Enter(p.D, p.M)
	see := &witness{worker: w}
	k := make([]float64, m.layout.nY+m.layout.nQ)
	see.Eval(p.T, p.Y, k)
	if !see.seen && p.H != 0 {
		s := solvers.NewStep(method.Info(), w.Size())
		s.T, s.H, s.T1 = p.T, p.H, p.T+p.H
		copy(s.Y0, p.Y)
		method.Step(see, s, false)
	}
	if !see.seen {
		return
	}
	e := tape.NewEvaluator[float64](m.compiled.Rates)
	from := map[vector][]float64{vecT: {see.t}, vecY: see.y, vecP: w.in[primal][vecP], vecD: p.D, vecM: p.M}
	for _, in := range m.compiled.Rates.Inputs {
		at := m.part(in.Name)
		copy(e.Input(in.Name), from[at.vec][at.offset:])
	}
	e.Run()
	v, found := e.FirstNonFinite()
	if !found {
		return
	}
	span := m.compiled.Rates.Span(v)
	if span.IsZero() {
		return
	}
	d.Relate(d.Span, "while solving over this time span")
	d.Span = span
	text := span.Text()
	if len(text) > 60 {
		text = text[:60] + "…"
	}
	d.Message = fmt.Sprintf("%q is not a finite number at %s = %s; %s", text, m.checked.Time.Name, short(see.t), d.Message)
}

// warn turns the solver's warnings into diagnostics.
func (m *Model) warn(list []solvers.Warning, l *diag.List) {
	for _, w := range list {
		at := m.eventSpan(w.Name)
		if w.Instant >= 0 && w.Instant < len(m.compiled.InstantList) {
			if s := m.compiled.InstantList[w.Instant].Span; !s.IsZero() {
				at = s
			}
		}
		switch w.Kind {
		case solvers.Grazing:
			l.Warnf(CodeGrazing, at, "%s grazes its condition at %s = %s: a small change of parameters makes it come or go, so derivatives do not exist there",
				w.Name, m.checked.Time.Name, short(w.T))
		case solvers.Tie:
			if w.Other == solvers.Observation || w.Other == solvers.Finish {
				what := "the time of an observation"
				if w.Other == solvers.Finish {
					what = "the end"
				}
				l.Warnf(CodeTie, at, "%s happens exactly at %s, %s = %s: moved a little, it lies on the other side, so derivatives do not exist there",
					w.Name, what, m.checked.Time.Name, short(w.T))
				break
			}
			if w.Apart {
				l.Warnf(CodeTie, at, "%s and %s happen together at %s = %s, their order changes the result, and moved a little they come in the other one: derivatives do not exist there",
					w.Name, w.Other, m.checked.Time.Name, short(w.T))
				break
			}
			l.Warnf(CodeTie, at, "%s and %s happen together at %s = %s and their order changes the result: derivatives do not exist there; give one a priority",
				w.Name, w.Other, m.checked.Time.Name, short(w.T))
		case solvers.Edge:
			l.Warnf(CodeTie, at, "%s stands exactly at its threshold at the start, %s = %s: moved a little, the run begins on the other side, so derivatives are those of one side",
				m.condition(w.Name), m.checked.Time.Name, short(w.T))
		case solvers.Bend:
			if w.Other == solvers.Observation || w.Other == solvers.Finish {
				what := "the time of an observation"
				if w.Other == solvers.Finish {
					what = "the end"
				}
				l.Warnf(CodeTie, at, "%s changes exactly at %s, %s = %s: derivatives by what moves one of them alone are those of the order in which they came, and differ in the other",
					m.condition(w.Name), what, m.checked.Time.Name, short(w.T))
				break
			}
			l.Warnf(CodeTie, at, "%s and %s happen together at %s = %s: derivatives by what moves one of them alone are those of the order in which they came, and differ in the other",
				w.Name, w.Other, m.checked.Time.Name, short(w.T))
		case solvers.Outside:
			l.Notef(CodeOutside, at, "%s at %s = %s lies outside the time span and never happens", w.Name, m.checked.Time.Name, short(w.Value))
		case solvers.Stiff:
			l.Notef(CodeStiff, m.checked.Time.Span, "this looks stiff from %s = %s on: steps are held short by stability, not by accuracy (an eigenvalue of about -%s); a looser rtol will not make them longer; for diffusion method = rkc2 does, with stages = 2·√(h·eigenvalue) for the steps h that accuracy would allow",
				m.checked.Time.Name, short(w.T), strconv.FormatFloat(w.Value, 'g', 2, 64))
		case solvers.Rest:
			l.Warnf(CodeRest, at, "%s turned back within rounding at %s = %s; it fires again only after its condition was false", w.Name, m.checked.Time.Name, short(w.T))
		}
	}
}
