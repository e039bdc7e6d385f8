package record

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
)

// Sampler is a Sink that passes on states at chosen times, from the dense output of the method: the rows of a table.
// Where an event changes something at such a time there are two rows, with the left and the right limits.
type Sampler struct {
	// Times are where to sample, in ascending order; times outside the run are left out. Nil means the start, the end
	// of every step, and both sides of every event.
	Times []float64
	// Each is called for each row. Its arguments are valid until it returns. An error ends the run.
	Each func(t float64, y, d, m []float64) error

	sys    solvers.System
	method solvers.Method
	next   int // of Times
	d, m   []float64
	y      []float64

	at      float64 // time of the last row
	pending bool    // something jumped since
	py      []float64
}

// Begin implements Sink.
func (p *Sampler) Begin(sys solvers.System, m solvers.Method) error {
	z := sys.Size()
	p.sys, p.method, p.next, p.pending = sys, m, 0, false
	p.at = math.Inf(-1)
	p.d, p.m = elem.Resize(p.d, z.D), elem.Resize(p.m, z.M)
	p.y, p.py = elem.Resize(p.y, z.N), elem.Resize(p.py, z.N)
	return nil
}

func (p *Sampler) row(t float64, y []float64) error {
	p.at = t
	return p.Each(t, y, p.d, p.m)
}

// Step implements Sink.
func (p *Sampler) Step(s *solvers.Step, _ solvers.End) error {
	if s.H == 0 {
		return nil
	}
	if err := p.flush(); err != nil {
		return err
	}
	if p.Times == nil {
		return p.row(s.T1, s.Y1)
	}
	for ; p.next < len(p.Times) && p.Times[p.next] <= s.T1; p.next++ {
		t, y := p.Times[p.next], s.Y1
		switch {
		case t < s.T1: // or before s.T, where events that count as one take time
			y = p.y
			p.method.Interpolate(p.sys, s, min(max((t-s.T)/s.H, 0), 1), y)
		}
		if err := p.row(t, y); err != nil {
			return err
		}
	}
	return nil
}

// Mark implements Sink.
func (p *Sampler) Mark(m *solvers.Mark) error {
	switch m.Kind {
	case solvers.MarkStart:
		copy(p.d, m.Dp)
		copy(p.m, m.Mp)
		if p.Times == nil {
			return p.row(m.T, m.Yp)
		}
		for ; p.next < len(p.Times) && p.Times[p.next] <= m.T; p.next++ {
			if p.Times[p.next] == m.T {
				if err := p.row(m.T, m.Yp); err != nil {
					return err
				}
			}
		}
	case solvers.MarkFire:
		// A time just after an event, put there by rounding, counts as simultaneous with the event.
		tol := float64(10 * elem.ULP(m.T))
		for ; p.next < len(p.Times) && p.Times[p.next] <= m.T+tol; p.next++ {
			if err := p.row(p.Times[p.next], m.Ym); err != nil {
				return err
			}
		}
		copy(p.py, m.Yp)
		copy(p.d, m.Dp)
		copy(p.m, m.Mp)
		p.pending = p.Times == nil || p.at >= m.T-tol
		if p.Times == nil {
			p.at = m.T
		}
	case solvers.MarkMode, solvers.MarkRemode:
		copy(p.m, m.Mp)
	case solvers.MarkFinal:
		if err := p.flush(); err != nil {
			return err
		}
		if n := len(p.Times); p.next < n && p.Times[p.next] <= m.T+float64(10*elem.ULP(m.T)) {
			p.next = n
			return p.row(m.T, m.Yp)
		}
	}
	return nil
}

// flush passes on the right limits after the events at one time.
func (p *Sampler) flush() error {
	if !p.pending {
		return nil
	}
	p.pending = false
	return p.row(p.at, p.py)
}
