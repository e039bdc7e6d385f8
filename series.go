package odes

import (
	"odes.dev/odes/internal/system"
	"odes.dev/odes/solvers"
)

// recorder is a Sink that evaluates the model's outputs over time: at every
// step end, or at given times by dense output. At an instant where something
// jumps both limits are recorded.
type recorder struct {
	w      *system.Worker
	times  []float64 // nil: every step end; else ascending
	next   int
	method solvers.Method
	width  int // elements of all outputs

	t    []float64
	rows []float64 // [len(t)][width]
	y    []float64
	d    []float64 // discretes after the last mark
}

func newRecorder(w *system.Worker, times []float64) *recorder {
	size := w.Size()
	return &recorder{w: w, times: times, width: w.OutputWidth(), y: make([]float64, size.N), d: make([]float64, size.D)}
}

func (r *recorder) Begin(_ solvers.System, m solvers.Method) error {
	r.method, r.next, r.t, r.rows = m, 0, nil, nil
	return nil
}

// record evaluates the outputs at (t, y, d).
func (r *recorder) record(t float64, y, d []float64) {
	r.t = append(r.t, t)
	at := len(r.rows)
	r.rows = append(r.rows, make([]float64, r.width)...)
	r.w.Outputs(t, y, d, r.rows[at:])
}

func (r *recorder) Step(s *solvers.Step, _ solvers.End) error {
	if s.H == 0 {
		return nil
	}
	if r.times == nil {
		r.record(s.T1, s.Y1, r.d)
		return nil
	}
	for r.next < len(r.times) && r.times[r.next] <= s.T1 {
		t := r.times[r.next]
		r.next++
		if t == s.T1 {
			r.record(t, s.Y1, r.d)
			continue
		}
		theta := (t - s.T) / (s.T1 - s.T)
		r.method.Interpolate(r.w, s, theta, r.y)
		r.record(t, r.y, r.d)
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
			r.record(m.T, m.Yp, m.Dp)
			if r.times != nil {
				r.next++
			}
		}
	case solvers.MarkFire:
		copy(r.d, m.Dp)
		if r.times == nil {
			r.record(m.T, m.Yp, m.Dp) // the left limit is the step's end
			return nil
		}
		if r.next > 0 && r.times[r.next-1] == m.T {
			r.record(m.T, m.Yp, m.Dp)
		}
	}
	return nil
}

// series cuts the rows into the model's outputs.
func (m *Model) series(r *recorder) []Series {
	var list []Series
	for i := range m.system.Compiled.Outputs.Outputs {
		p, shape := m.system.Output(i)
		s := Series{Shape: shape}
		if i < len(m.checked.Outputs) {
			o := m.checked.Outputs[i]
			s.Name, s.Doc, s.Unit, s.Shape = o.Name, o.Doc, o.Value.Type().Unit.String(), o.Value.Type().Shape
		}
		s.Values = make([]float64, 0, len(r.t)*p.Len)
		for k := range r.t {
			s.Values = append(s.Values, r.rows[k*r.width+p.Offset:k*r.width+p.Offset+p.Len]...)
		}
		list = append(list, s)
	}
	return list
}
