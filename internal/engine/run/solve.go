package run

import (
	"fmt"
	"math"

	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/origin"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// by returns which method made the steps of table; nil where one made all.
func (r *Run) by(table *recorder) []int {
	_, of := r.makers()
	if of == nil {
		return nil
	}
	by := make([]int, len(table.by))
	for i, member := range table.by {
		by[i] = of[member]
	}
	return by
}

// noValue begins what is said of a value that is not a number.
const noValue = "no value: "

// valued adds a warning to a value of o that is not a finite number.
func (r *Run) valued(v result.Value, o objective, functionals []float64) result.Value {
	if v.Value-v.Value == 0 {
		return v
	}
	from, functional, known := r.problem.NonFiniteValue(o.row, functionals)
	known = known && from.Span.File == o.of.Span.File
	cause, traced := r.problem.Notes.Origin(functional)
	var text string
	switch infinite := math.IsInf(v.Value, 0); {
	case infinite && known:
		text = "the value is infinite" + r.outOfBounds(from.Span)
		if text == "the value is infinite" {
			text += ": " + nonFinite(from, cause, "infinite")
		}
	case infinite && r.lacking != "":
		text = r.lacking
	case infinite:
		text = "the value is infinite"
	case known && functional >= 0 && !traced:
		if lack, ok := r.problem.Notes.Lack(functional); ok && lack.Event == "" {
			text = noValue + r.model.Checked.Time.Name + " = " + lack.String()
			break
		} else if ok {
			text = fmt.Sprintf(noValue+"%q did not come about: %s%s", from.Expression(), lack, r.stopped)
			break
		}
		text = fmt.Sprintf(noValue+"%q did not come about in this run, or is not a number%s", from.Expression(),
			r.stopped)
	case known:
		text = noValue + nonFinite(from, cause, "not a number")
	case r.lacking != "":
		text = r.lacking
	default:
		text = noValue + "something it reads did not come about in this run, or is not a number" + r.stopped
	}
	v.Warnings = append(v.Warnings, text)
	return v
}

// nonFinite says that an expression is not a finite number, and why. cause is what it has that from, if that is known.
func nonFinite(from, cause origin.Origin, is string) string {
	switch {
	case from.Cause != "":
		return from.String()
	case cause.Span.IsZero() || cause.Span == from.Span:
		return fmt.Sprintf("%q is %s%s", from.Expression(), is, cause.Row)
	}
	return fmt.Sprintf("%q is %s%s, since %v%s", from.Expression(), is, cause.Row, cause, cause.Needs)
}

// outOfBounds says of a prior at a place of the text that its param is out of bounds, where it is surely infinite.
func (r *Run) outOfBounds(at source.Span) string {
	for _, s := range r.model.Checked.Params {
		if s.Span.File != at.File || s.Span.Begin().Line != at.Begin().Line {
			continue
		}
		for _, x := range r.problem.Point.Param(s.Name) {
			if x < s.Lo || x > s.Hi {
				return fmt.Sprintf(": the value %s of %q is outside its bounds, so that its prior is 0", diag.Number(x),
					s.Name)
			}
		}
	}
	return ""
}

// eventLog is a Sink that keeps the events and changes of mode of a run.
type eventLog struct{ events []sens.EventTime }

func (e *eventLog) Begin(solvers.System, solvers.Method) error { e.events = nil; return nil }

func (e *eventLog) Step(*solvers.Step, solvers.End) error { return nil }

func (e *eventLog) Mark(m *solvers.Mark) error {
	if m.Kind == solvers.MarkFire || m.Kind == solvers.MarkMode {
		e.events = append(e.events, sens.EventTime{
			Guard: m.Guard, Mode: m.Kind == solvers.MarkMode, Firing: m.Firing,
			T: m.T,
		})
	}
	return nil
}

// Shows reports whether an event is one of the model, and not a place where steady states are read.
func (m *Model) Shows(e sens.EventTime) bool {
	if e.Mode {
		return true
	}
	ev := m.Checked.Events[e.Firing.Event]
	return !ev.Resumes && !ev.After
}

// Event names an event of a run over a time span. An event within rounding of the start is moved
// to the start.
func (m *Model) Event(e sens.EventTime, guards []solvers.Guard, from, to float64) result.Event {
	if rounding := 0x1p-52 * max(math.Abs(from), math.Abs(to)); math.Abs(e.T-from) <= rounding {
		e.T = from
	}
	if e.Mode {
		g := guards[e.Guard]
		r := result.Event{Name: g.Name, Kind: "if", T: e.T}
		if g.Piece {
			r.Name, r.Kind = fmt.Sprintf("%s[%d]", g.Name, e.Firing.Elem+1), "control"
		}
		return r
	}
	ev := m.Checked.Events[e.Firing.Event]
	r := result.Event{Name: ev.Name, Kind: "event", T: e.T, Written: m.Checked.Written(ev.Name)}
	if len(ev.Indices) > 0 {
		r.Index = ev.Index(e.Firing.Elem)
	}
	return r
}

// recorder is a Sink that evaluates the model's outputs over time: at the end of every step, or at
// given times by dense output. At an instant where something jumps, it records both limits.
type recorder struct {
	outputs func(t float64, y, d, outputs []float64)
	w       *system.Worker
	times   []float64 // nil: every step end; else ascending
	tol     float64   // event_tol
	next    int
	method  solvers.Method
	width   int // elements of all outputs
	member  int // of the method, that made the last step

	t    []float64
	by   []int     // the member of the method that made the step that ends there
	rows []float64 // [len(t)][width]
	y    []float64
	d    []float64 // discretes after the last mark

	broken map[int]broken // outputs that were not finite
}

// broken says why an output is not a finite number, at the first time where it is not.
type broken struct {
	at   float64
	from origin.Origin
}

func newRecorder(w *system.Worker, times []float64, tol float64) *recorder {
	size := w.Size()
	return &recorder{
		w: w, outputs: w.Outputs, times: times, tol: tol, width: w.OutputWidth(),
		y: make([]float64, size.N), d: make([]float64, size.D),
	}
}

func (r *recorder) Begin(_ solvers.System, m solvers.Method) error {
	r.method, r.next, r.t, r.by, r.rows = m, 0, nil, nil, nil
	n := len(r.times) * r.width
	if err := memory.Ask(8 * float64(n)); err != nil {
		return err
	}
	r.rows = make([]float64, 0, n)
	return nil
}

// Until implements hybrid.LaneReader.
func (r *recorder) Until() float64 {
	if r.next < len(r.times) {
		return r.times[r.next]
	}
	return math.Inf(1)
}

// record evaluates the outputs at (t, y, d).
func (r *recorder) record(t float64, y, d []float64) error {
	at := len(r.rows)
	if at+r.width > cap(r.rows) { // which doubles at most
		if err := memory.Ask(16 * float64(at+r.width)); err != nil {
			return err
		}
	}
	r.t, r.by = append(r.t, t), append(r.by, r.member)
	r.rows = append(r.rows, make([]float64, r.width)...)
	r.outputs(t, y, d, r.rows[at:])
	for i, x := range r.rows[at:] {
		if x-x != 0 {
			r.trace(t, y, d, i)
		}
	}
	return nil
}

// trace keeps why element i of the outputs is not a finite number at (t, y, d), unless one of the same output was not.
func (r *recorder) trace(t float64, y, d []float64, i int) {
	of := r.w.OutputOf(i)
	if _, known := r.broken[of]; known {
		return
	}
	if r.broken == nil {
		r.broken = map[int]broken{}
	}
	from, _ := r.w.OutputOrigin(t, y, d, of)
	r.broken[of] = broken{t, from}
}

func (r *recorder) Step(s *solvers.Step, _ solvers.End) error {
	if s.H == 0 {
		return nil
	}
	r.member = s.Member
	if r.times == nil {
		return r.record(s.T1, s.Y1, r.d)
	}
	for r.next < len(r.times) && r.times[r.next] <= s.T1 {
		t := r.times[r.next]
		r.next++
		y := s.Y1
		if t != s.T1 {
			r.method.Interpolate(r.w, s, max((t-s.T)/(s.T1-s.T), 0), r.y) // events that count as one take time
			y = r.y
		}
		if err := r.record(t, y, r.d); err != nil {
			return err
		}
	}
	return nil
}

func (r *recorder) Mark(m *solvers.Mark) error {
	switch m.Kind {
	case solvers.MarkStart:
		copy(r.d, m.Dp)
		for r.next < len(r.times) && r.times[r.next] < m.T {
			r.next++
		}
		if r.times == nil || (r.next < len(r.times) && r.times[r.next] == m.T) {
			if r.times != nil {
				r.next++
			}
			return r.record(m.T, m.Yp, m.Dp)
		}
	case solvers.MarkFire:
		copy(r.d, m.Dp)
		switch r.w.Moment(m.Firing.Event) {
		case compiled.BeforeStart: // the run begins with what comes of it
			r.t, r.by, r.rows = r.t[:0], r.by[:0], r.rows[:0]
		case compiled.AfterEnd:
			return nil
		}
		if r.times == nil {
			return r.record(m.T, m.Yp, m.Dp) // the left limit is the step's end
		}
		// A time at which an event happens, but for rounding, has both limits, as 0.3 of an event every 0.1.
		for r.next < len(r.times) && r.at(r.times[r.next], m.T) {
			r.next++
			if err := r.record(r.times[r.next-1], m.Ym, m.Dm); err != nil {
				return err
			}
		}
		if r.next > 0 && r.at(r.times[r.next-1], m.T) {
			return r.record(r.times[r.next-1], m.Yp, m.Dp)
		}
	}
	return nil
}

// at reports whether a time counts as that of an event.
func (r *recorder) at(t, event float64) bool {
	if r.tol > 0 {
		return math.Abs(t-event) <= r.tol
	}
	return math.Abs(t-event) <= float64(10*(math.Nextafter(math.Abs(event), math.Inf(1))-math.Abs(event)))
}

// series cuts the rows into the model's outputs.
func (m *Model) series(r *recorder) []result.Series {
	var list []result.Series
	for i := range m.System.Outputs() {
		p, shape := m.System.Output(i)
		s := result.Series{Shape: shape}
		if i < len(m.Checked.Outputs) {
			o := m.Checked.Outputs[i]
			s.Name, s.Doc, s.Unit, s.Shape = o.Name, o.Doc, o.Value.Type().Unit.String(), o.Value.Type().Shape
			s.Written = m.Checked.Written(o.Name)
		}
		if b, ok := r.broken[i]; ok && !b.from.Span.IsZero() {
			s.Cause = fmt.Sprintf("%v at %s", b.from, m.Explain.When(b.at))
		}
		s.Values = make([]float64, 0, len(r.t)*p.Len)
		for k := range r.t {
			s.Values = append(s.Values, r.rows[k*r.width+p.Offset:k*r.width+p.Offset+p.Len]...)
		}
		list = append(list, s)
	}
	return list
}
