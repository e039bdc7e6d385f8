package explain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"

	"odes.dev/odes/internal/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// Interrupted reports whether err is a run that its context ended.
func Interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Failure explains the error of a run of w with a method; nil for an error that is no solver's. It says where the run
// was, nil where the error names no place. w may be nil.
func (x *Explainer) Failure(err error, w *system.Worker, method solvers.Method) (*diag.ListError, *solvers.Place) {
	var list diag.List
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
		d := list.Errorf(CodeNonFinite, x.span, "%s is not a finite number at %s", nonFinite.What,
			x.at(&nonFinite.Place))
		x.blame(d, w, method, &nonFinite.Place)
	case errors.As(err, &underflow):
		if underflow.NonFinite {
			d := list.Errorf(CodeUnderflow, x.span, "every step from %s gives something that is not a finite number, "+
				"however short", x.at(&underflow.Place))
			x.blame(d, w, method, &underflow.Place)
			break
		}
		list.Errorf(CodeUnderflow, x.blamed(&underflow.Place),
			"the step size fell below %s: the estimated error stays above the tolerance at %s%s; the model may be "+
				"singular or stiff there, or the tolerances too tight",
			diag.Number(underflow.HMin), x.at(&underflow.Place), x.worst(&underflow.Place))
	case errors.As(err, &many):
		list.Errorf(CodeTooMany, x.blamed(&many.Place), "more than max_steps = %d steps, and only at %s%s; raise "+
			"solver.max_steps, loosen rtol, or shorten the time span; a stiff model needs an implicit method",
			many.Max, x.at(&many.Place), x.worst(&many.Place))
	case errors.As(err, &chatter):
		last := make([]string, len(chatter.Times))
		for i, t := range chatter.Times {
			last[i] = strconv.FormatFloat(t, 'g', 13, 64)
		}
		if x.isMode(chatter.Event) {
			list.Errorf(CodeChattering, x.eventSpan(chatter.Event),
				"the condition of %s is chattering: it %s (last times %s), at %s; the solution slides along it: "+
					"smooth the switch, or write noevent(…) around it and accept what the tolerance gives",
				chatter.Event, chatter.Reason, strings.Join(last, ", "), x.at(&chatter.Place))
			break
		}
		list.Errorf(CodeChattering, x.eventSpan(chatter.Event),
			"event %s is chattering: it %s (last times %s), at %s; end the run with such an event (stop), or let it "+
				"switch the model to rest",
			chatter.Event, chatter.Reason, strings.Join(last, ", "), x.at(&chatter.Place))
	case errors.As(err, &cascade):
		at := x.span
		if len(cascade.Events) > 0 {
			at = x.eventSpan(cascade.Events[0])
		}
		list.Errorf(CodeCascade, at, "events set each other off at one time more than max_cascade = %d times: %s, at "+
			"%s; break the loop, or raise solver.max_cascade",
			cascade.Max, strings.Join(cascade.Events, ", "), x.at(&cascade.Place))
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
			keep, less = fmt.Sprintf(" with checkpoint = %s", memory.Keep),
				"keep fewer states there, or some on disk: revolve(ram = 20, disk = 200)"
		default:
			keep, less = fmt.Sprintf(" with checkpoint = %s", memory.Keep),
				"leave checkpoint out, so that less is kept where it must be"
		}
		list.Errorf(CodeMemory, x.span, "the trajectory needs more than memory = %s%s at %s; raise "+
			"solver.memory, or %s", diag.Bytes(float64(memory.Limit)), keep, x.at(&memory.Place), less)
	case errors.As(err, &disk):
		list.Errorf(CodeMemory, x.span, "%s; files for it are made in %s: set %s to a directory with room, or keep "+
			"fewer states on disk (solver.checkpoint)", disk.Error(), os.TempDir(), tempVariable())
	case errors.As(err, &cancelled):
		list.Errorf(CodeInterrupted, source.Span{}, "interrupted at %s", x.at(&cancelled.Place))
	case errors.As(err, &backward):
		list.Errorf(CodeBackward, x.span, "%s", backward.Error())
	case errors.As(err, &times):
		list.Errorf(CodeTime, x.instantSpan(times.Instant, x.span), "%s", times.Message)
	case Interrupted(err):
		list.Errorf(CodeInterrupted, source.Span{}, "interrupted while differentiating; the run itself was done")
	default:
		return nil, nil
	}
	var placed interface{ At() *solvers.Place }
	if errors.As(err, &placed) {
		return &diag.ListError{Diagnostics: list.All()}, placed.At()
	}
	return &diag.ListError{Diagnostics: list.All()}, nil
}

// at says where a run was: the time, the step, the last event and a few states.
func (x *Explainer) at(p *solvers.Place) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s = %s (step %d, h = %s)", x.time, diag.Number(p.T), p.Step+1, diag.Number(p.H))
	if n := len(p.Y); n > 0 {
		b.WriteString(" with ")
		for i := range min(n, 4) {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s = %s", x.model.StateName(i), diag.Number(p.Y[i]))
		}
		if n > 4 {
			fmt.Fprintf(&b, ", … (%d states)", n)
		}
	}
	if p.LastEvent != "" {
		fmt.Fprintf(&b, ", after event %s at %s", p.LastEvent, diag.Number(p.LastTime))
	}
	return b.String()
}

// worst names the states that kept the step small.
func (x *Explainer) worst(p *solvers.Place) string {
	stiff := ""
	if p.Stiff > 0 {
		stiff = fmt.Sprintf("; this looks stiff: stability holds the steps short (an eigenvalue of about -%s)",
			strconv.FormatFloat(p.Stiff, 'g', 2, 64))
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
func (x *Explainer) blamed(p *solvers.Place) source.Span {
	if len(p.Worst) > 0 {
		base, _, _ := strings.Cut(p.Worst[0].Name, "[")
		for i, s := range x.model.Checked.States {
			if s.Name == base && !x.model.Checked.Rates[i].Span().IsZero() {
				return x.model.Checked.Rates[i].Span()
			}
		}
	}
	return x.span
}

// witness is a Field that remembers the first point where the right-hand side was not finite.
type witness struct {
	*system.Worker
	seen bool
	t    float64
	y    []float64
}

func (w *witness) Eval(t float64, y, k []float64) {
	w.Worker.Eval(t, y, k)
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
func (*witness) MakeStep(*solvers.Arithmetic, *solvers.Step, bool) bool { return false }

// blame moves d to the expression that first gave a number that is not finite,
// by repeating the step that failed.
func (x *Explainer) blame(d *diag.Diagnostic, w *system.Worker, method solvers.Method, p *solvers.Place) {
	if w == nil || len(p.Y) != x.model.States() {
		return
	}
	w.Enter(p.D, p.M)
	size := w.Size()
	see := &witness{Worker: w}
	see.Eval(p.T, p.Y, make([]float64, size.N+size.Q))
	if !see.seen && p.H != 0 {
		s := solvers.NewStep(method.Info(), size)
		s.T, s.H, s.T1 = p.T, p.H, p.T+p.H
		copy(s.Y0, p.Y)
		method.Step(see, s, false)
	}
	if !see.seen {
		return
	}
	span, found := w.NonFinite(see.t, see.y, p.D, p.M)
	if !found {
		return
	}
	d.Relate(d.Span, "while solving over this time span")
	d.Span = span
	text := span.Text()
	if len(text) > 60 {
		text = text[:60] + "…"
	}
	d.Message = fmt.Sprintf("%q is not a finite number at %s; %s", text, x.when(see.t), d.Message)
}

// tempVariable is the variable of the environment that says where scratch files are made.
func tempVariable() string {
	if runtime.GOOS == "windows" {
		return "TMP"
	}
	return "TMPDIR"
}
