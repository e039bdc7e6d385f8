package system

import (
	"math"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/form"
	"odes.dev/odes/internal/engine/narrow"
	"odes.dev/odes/internal/engine/vec"
)

// signals watches the functions of time within the right-hand side, or within largest values, between the times at
// which something reads them; see narrow.Bands.
type signals struct {
	*narrow.Bands
	line    *timeline
	stale   bool   // params, discretes or modes may have changed
	ignored []bool // signals that only integrals read that do not count; nil for none

	calms []calm // of the parts of line
}

// calm is what is known of some signals from the present time on.
type calm struct {
	part  *timelinePart
	until float64    // no signal turns before
	ahead float64    // how far that was looked for with success last
	turn  float64    // the bounds up to there show that one may turn
	form  *form.Form // what they all are; nil if it is not known
}

// sightBudget is the number of boxes over which one step is looked at. What is left then is taken to be harmless.
const sightBudget = 400

func newSignals(b *compiled.ByTime, l *vec.Layout, leeway float64) *signals {
	if b == nil {
		return nil
	}
	return newSignalsOf(newTimeline(b, l), leeway)
}

func newSignalsOf(line *timeline, leeway float64) *signals {
	s := &signals{Bands: narrow.NewBands(line, len(line.value), leeway), line: line, stale: true}
	for i := range line.parts {
		s.calms = append(s.calms, calm{part: &line.parts[i], form: line.form(&line.parts[i])})
	}
	return s
}

// only makes s ignore the signals that watch does not accept. s may be nil.
func (s *signals) only(watch func(signal int) bool) {
	if s == nil {
		return
	}
	s.ignored = make([]bool, len(s.Doubt))
	for k := range s.ignored {
		s.ignored[k] = !watch(k)
	}
}

// unseen returns the last of some times in ascending order if readings at these show the signals, or a later time up
// to which readings at any times do. Else it returns a time after the first such that readings up to there show what
// comes first, and true.
func (s *signals) unseen(times []float64) (float64, bool) {
	t0, t1 := times[0], times[len(times)-1]
	doubt, until := false, math.Inf(1)
	for i := range s.calms {
		c := &s.calms[i]
		if t1 <= c.until {
			clear(s.Doubt[c.part.from:c.part.to])
		} else if !s.lasts(c, t0, t1) {
			doubt = true
		}
		until = min(until, c.until)
	}
	if !doubt {
		return max(t1, until), false
	}
	for k, b := range s.line.Over(t0, t1) {
		s.Floor[k] = max(math.Abs(b.Lo), math.Abs(b.Hi))
	}
	s.Unimportant(t0, t1)
	return s.Leave(times, sightBudget)
}

// lasts reports whether no signal of c turns within [t0, t1], or readings of so short a time show how. It looks farther
// ahead, so that it need not be asked for every step, but not beyond a turn that it knows of.
func (s *signals) lasts(c *calm, t0, t1 float64) bool {
	const growth, farthest = 4, 1 << 10 // steps
	h := t1 - t0
	if c.form != nil {
		until, known := c.form.Lasts(t0)
		if known && (t1 <= until || s.Leeway >= narrow.ShortLeeway && c.form.Short(h)) {
			if t1 <= until {
				c.until = until
			}
			clear(s.Doubt[c.part.from:c.part.to])
			return true
		}
	}
	for w := min(float64(growth*c.ahead), float64(farthest*h)); w > h; w /= growth {
		switch {
		case t0 < c.turn && c.turn <= t0+w:
		case s.doubtful(c.part, t0, t0+w):
			c.turn = t0 + w
		default:
			c.ahead, c.until = w, t0+w
			return true
		}
	}
	c.ahead = h
	return !s.doubtful(c.part, t0, t1)
}

// begin forgets what is known, at the start of a run. s may be nil.
func (s *signals) begin() {
	if s != nil {
		s.stale = true
		for i := range s.calms {
			s.calms[i].ahead = 0
		}
	}
}

// spoil notes that discretes or modes may have changed. s may be nil.
func (s *signals) spoil() {
	if s != nil {
		s.stale = true
	}
}

// doubtful notes which signals of p may have a peak within [t0, t1], and reports whether there are any.
func (s *signals) doubtful(p *timelinePart, t0, t1 float64) (some bool) {
	s.line.slopesOver(p, t0, t1)
	for k := p.from; k < p.to; k++ {
		s.Doubt[k] = (s.ignored == nil || !s.ignored[k]) && narrow.Doubtful(s.line.Slope(k))
		some = some || s.Doubt[k]
	}
	return some
}

// Signals implements solvers.Signals.
func (w *watching) Signals() int {
	if w.signals == nil {
		return 0
	}
	return len(w.signals.Doubt)
}

// Unseen implements solvers.Signals.
func (w *watching) Unseen(times, y []float64) (end float64, some bool) {
	return w.signals.look(&w.space.In, times, y)
}

// look is unseen, with the params, discretes and modes of in, and the state y at the first time.
func (s *signals) look(in *vec.Frame, times, y []float64) (end float64, some bool) {
	if s.stale {
		s.line.set(in, times[0], y)
		s.stale = false
		for i := range s.calms {
			c := &s.calms[i]
			c.until, c.turn = math.Inf(-1), math.Inf(-1)
			if c.form != nil {
				c.form.Set()
			}
		}
	}
	return s.unseen(times)
}
