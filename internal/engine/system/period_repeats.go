package system

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/orbit"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Repeats returns an error if the periodic state that was found repeats in a later period for these values of params
// and not for others: its derivatives, which are those of the first period, do not satisfy the equations of the later
// one. It looks once, at the first values: where time matters it does so for nearly all values.
func (p *Problem) Repeats() error {
	const grown, apart = 200, 1000 // tolerances
	s := &p.settling
	s.mu.Lock()
	o, known := s.orbit, s.repeats
	kept := o != nil && o.by[byTangent] != nil
	s.mu.Unlock()
	if known || o == nil || o.version != p.Point.Version || !p.readsTime() {
		return nil
	}
	n, width := o.from.Len(), p.Plan.Width
	lanes := min(n+width, 8)
	moves := p.slopes(o, byTangent, lanes) // NaN by params by which it has no derivative
	s.mu.Lock()
	defer s.mu.Unlock()
	if !kept { // others make them with lanes of their own
		delete(o.by, byTangent)
	}
	byParams, byStart, err := o.sure.moves(byTangent, lanes)
	if s.context().Err() != nil {
		return nil // whoever goes on finds that the run was cancelled
	}
	if err != nil {
		return err
	}
	k, err := p.Kit(1, compiled.Pull, false)
	if err != nil {
		return err
	}
	w, at := p.Worker(k), p.ActiveValues()
	w.Times(o.from.D)
	whole := w.timeSlope(w.flights.Period)
	for j := range width {
		if whole[j] != 0 { // the later period begins at another time
			continue
		}
		for i := range o.from.Y {
			was := moves[i*width+j]
			is := byParams[i*width+j]
			size := math.Abs(is) + math.Abs(was)
			for k := range n {
				x := float64(byStart[i*n+k] * moves[k*width+j])
				is, size = is+x, size+math.Abs(x)
			}
			limit := float64(p.Steady.RTol*(math.Abs(o.from.Y[i])+o.sizes[i])) +
				math.Max(p.Steady.ATol[min(i, len(p.Steady.ATol)-1)], 0)
			off := math.Abs(is - was)
			if off > float64(apart*p.Steady.RTol*size) && float64(off*unit(at[j])) > grown*limit {
				return orbit.Unrepeated("the state that was found does not repeat in the next period of %s for other "+
					"values of params: a derivative of %s is %s there, and was %s; what depends on time must repeat "+
					"with the period, as by mod(t, %[1]s)", diag.Number(w.Times(o.from.D)[w.flights.Period]),
					p.Model.StateName(i), diag.Number(is), diag.Number(was))
			}
		}
	}
	s.repeats = true
	return nil
}

// readsTime reports whether anything reads time.
func (p *Problem) readsTime() bool {
	reads := func(in tape.Input) bool { return tapec.MustName(in.Name).Role == tapec.Time }
	for _, t := range p.Model.Compiled.Tapes() {
		if t != nil && slices.ContainsFunc(t.Inputs, reads) {
			return true
		}
	}
	return false
}
