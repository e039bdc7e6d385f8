package posterior

import (
	"context"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
)

// Wall is where the order in time of two things changes among the draws: an event passes a measurement or another
// event, or comes in some of them only. The density leaps there, or has a fold: leapfrog is reversible and keeps volume
// all the same, so draws are right, but trajectories go across seldom.
type Wall struct {
	Event  string  // such as "dose[2]", the n-th time that it comes
	Nth    int     // from 1
	Passes string  // an observation, or another event; "" for an event that comes in some draws only
	T      float64 // the time of the measurement; NaN for another event
	Before float64 // the share of draws in which the event comes before, or comes at all
	// Across counts trajectories whose ends are on different sides.
	Across int
	Chains []float64 // Before of each chain
}

// Text says what the wall is.
func (w *Wall) Text() string {
	name := w.Event
	if w.Nth > 1 {
		name = fmt.Sprintf("%s (number %d)", name, w.Nth)
	}
	switch {
	case w.Passes == "":
		return fmt.Sprintf("%s happens", name)
	case math.IsNaN(w.T):
		return fmt.Sprintf("%s is before %s", name, w.Passes)
	}
	return fmt.Sprintf("%s is before %s at t = %s", name, w.Passes, diag.Number(w.T))
}

// comes is one time of an event.
type comes struct {
	name string
	nth  int
}

// Limits of walls: events of a run that are looked at, those whose order among each other is, and what is listed.
const (
	mostEvents  = 200
	mostOrdered = 12
	mostWalls   = 20
)

// walls looks for walls among the draws. Events of experiments are not told by runs, and not looked at.
func (p *problem) walls(ctx context.Context, r *Result) error {
	if p.model.Info().Events == 0 || r.Draws() == 0 || p.settings.Method != "nuts" {
		return nil
	}
	if len(p.model.Experiments()) > 0 {
		r.WallsUnseen = true
		return nil
	}
	o := p.runOptions().While(ctx)
	o.Wrt, o.Events = []string{}, mostEvents
	times := make([][]map[comes]float64, len(r.Chains))
	p.told.begin("walls", r.Draws())
	err := p.each(len(r.Chains), func(_ *evaluator, c int) error {
		runner, err := p.model.Prepare(o)
		if err != nil {
			return err
		}
		e := p.evaluatorOf(runner)
		for k := range r.Chains[c].Draws() {
			for j := range p.coords {
				x := &p.coords[j]
				e.set[x.variable].Values[x.element] = r.Chains[c].Values[j][k]
			}
			at := map[comes]float64{}
			err := runner.Set(e.set...)
			var s *odes.Sensitivities
			if err == nil {
				s, err = runner.Sensitivities(ctx)
			}
			if ctx.Err() != nil {
				return nil
			}
			p.told.step(1, 0)
			if err != nil {
				at = nil
			} else {
				seen := map[string]int{}
				_ = s.EachEvent(func(x *result.Event) error {
					if name := x.Label(); len(at) < mostEvents {
						seen[name]++
						at[comes{name, seen[name]}] = x.T
					}
					return nil
				})
			}
			times[c] = append(times[c], at)
		}
		return nil
	})
	var measured []measurement
	if err == nil {
		measured, err = p.measured(ctx)
	}
	if err != nil || ctx.Err() != nil {
		return orInterrupted(ctx, err)
	}
	r.Walls = wallsOf(times, measured)
	return nil
}

// measurement is a time at which something is observed.
type measurement struct {
	name string
	t    float64
}

// measured lists the times of the data, each once.
func (p *problem) measured(ctx context.Context) (list []measurement, err error) {
	o := p.opts.Options.While(ctx)
	o.Wrt = []string{}
	c, err := p.model.CompareRows(false, o)
	if err != nil || c == nil {
		return nil, err
	}
	seen := map[float64]bool{}
	for i := range c.Groups {
		for _, t := range c.Groups[i].T {
			if !seen[t] && !math.IsInf(t, 0) {
				seen[t] = true
				list = append(list, measurement{c.Groups[i].Observation, t})
			}
		}
	}
	return list, nil
}

// wallsOf finds the walls among draws, whose times of events are times[chain][draw]; nil for one without.
func wallsOf(times [][]map[comes]float64, measured []measurement) (list []Wall) {
	type span struct {
		from, to float64
		count    int
	}
	spans, total := map[comes]*span{}, 0
	var all []comes
	for _, chain := range times {
		for _, at := range chain {
			if at == nil {
				continue
			}
			total++
			for c, t := range at {
				s := spans[c]
				if s == nil {
					s = &span{t, t, 0}
					spans[c] = s
					all = append(all, c)
				}
				s.from, s.to = min(s.from, t), max(s.to, t)
				s.count++
			}
		}
	}
	slices.SortFunc(all, func(a, b comes) int {
		if a.name != b.name {
			return map[bool]int{true: -1, false: 1}[a.name < b.name]
		}
		return a.nth - b.nth
	})
	add := func(w Wall, side func(at map[comes]float64) (before, known bool)) {
		before, known := 0, 0
		for _, chain := range times {
			mine, of, last := 0, 0, -1
			for _, at := range chain {
				if at == nil {
					continue
				}
				b, ok := side(at)
				if !ok {
					last = -1
					continue
				}
				now := 0
				if b {
					now = 1
				}
				if last >= 0 && last != now {
					w.Across++
				}
				mine, of, last = mine+now, of+1, now
			}
			w.Chains = append(w.Chains, float64(mine)/float64(of))
			before, known = before+mine, known+of
		}
		if before > 0 && before < known {
			w.Before = float64(before) / float64(known)
			list = append(list, w)
		}
	}
	for i, c := range all {
		s := spans[c]
		if s.count < total {
			add(Wall{Event: c.name, Nth: c.nth, T: nan}, func(at map[comes]float64) (bool, bool) {
				_, ok := at[c]
				return ok, true
			})
		}
		for _, m := range measured {
			if m.t > s.from && m.t <= s.to {
				add(Wall{Event: c.name, Nth: c.nth, Passes: m.name, T: m.t}, func(at map[comes]float64) (bool, bool) {
					t, ok := at[c]
					return t < m.t, ok
				})
			}
		}
		for _, d := range all[i+1:] {
			if len(all) > mostOrdered || d.name == c.name || spans[d].from > s.to || spans[d].to < s.from {
				continue
			}
			add(Wall{Event: c.name, Nth: c.nth, Passes: d.name, T: nan}, func(at map[comes]float64) (bool, bool) {
				a, ok := at[c]
				b, too := at[d]
				return a < b, ok && too
			})
		}
	}
	slices.SortStableFunc(list, func(a, b Wall) int { // those in the middle first
		x, y := math.Abs(a.Before-0.5), math.Abs(b.Before-0.5)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return list[:min(len(list), mostWalls)]
}

// concludeWalls says what walls mean for the draws.
func (r *Result) concludeWalls() {
	if r.WallsUnseen {
		r.notef("walls, where an event passes a measurement, were not searched for in experiments")
	}
	for i := range r.Walls {
		w := &r.Walls[i]
		least, most := 1.0, 0.0
		for c, share := range w.Chains {
			if r.Chains[c].Draws() > 0 {
				least, most = min(least, share), max(most, share)
			}
		}
		lead := fmt.Sprintf("in %.3g %% of the draws %s, and the density has a jump or a kink there", 100*w.Before,
			w.Text())
		// Independent draws go across so often.
		expected := 2 * w.Before * (1 - w.Before) * float64(r.Draws())
		switch {
		case (least == 0 || most == 1) && w.Before > 0.05 && w.Before < 0.95 && len(r.Chains) > 1:
			r.partial("%s: some chain never reached the other side; draw longer, and from more starts", lead)
		case expected > 50 && float64(w.Across) < 0.1*expected:
			r.warnf("%s: the draws are right, but chains cross it rarely (%d times); draw longer", lead, w.Across)
		}
	}
	if n := len(r.Walls); n > 0 {
		w := &r.Walls[0]
		across := 0
		for i := range r.Walls {
			across += r.Walls[i].Across
		}
		many := fmt.Sprintf("%d walls", n)
		if n == 1 {
			many = "1 wall"
		}
		r.notef("%s, which trajectories crossed %d times: for example, %s (%.3g %% of the draws). Draws are right, "+
			"but steps are shorter there", many, across, w.Text(), 100*w.Before)
	}
}
