package onesided

import (
	"slices"

	"odes.dev/odes/internal/base/sets"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Suspects tells which derivatives kinks of a run may make those of one side: by all columns of a row of the gradient
// that may move anything that a kink is made of in the course of any run, of all that depends on the kink. It follows
// names. Whether such a derivative has two sides, runs decide whose variables are a little less, and a little more.
type Suspects struct {
	kinks     *Kinks
	variables []compiled.Variable
	columns   int
	all, time sets.Set       // by what the time of the last mark moves
	mark      solvers.Mark   // the last one, without its vectors
	since     []solvers.Mark // at its time, as far as what moves that was not followed
	cause     sets.Set       // what moves the time of the last mark that changes something
	last      float64        // the time of that
	named     map[tapec.Name]sets.Set
	evals     compiled.Beside[complex128]
}

// Suspects returns what tells that of variables, whose derivatives are that many columns.
func (k *Kinks) Suspects(variables []compiled.Variable, columns int) *Suspects {
	x := &Suspects{
		kinks: k, variables: variables, columns: columns, all: sets.New(columns), named: map[tapec.Name]sets.Set{},
		evals: compiled.NewBeside[complex128](k.model),
	}
	for i := range columns {
		x.all.Add(i)
	}
	return x
}

// At weighs the kinks that were found at a mark. It returns those that a variable moves.
func (x *Suspects) At(m *solvers.Mark, found []Kink) []Kink {
	if m.T != x.mark.T {
		x.since = x.since[:0]
	}
	x.mark = *m
	x.since = append(x.since, x.mark)
	return x.Weigh(slices.DeleteFunc(found, func(k Kink) bool { return k.Clock && x.kinks.Fixed(m) }))
}

// Inside does so for kinks within the piece behind the last mark.
func (x *Suspects) Inside(found []Kink) []Kink {
	x.followTime()
	x.time = nil
	return x.Weigh(found)
}

// Weigh does so for kinks at the last mark.
func (x *Suspects) Weigh(found []Kink) []Kink {
	if len(found) == 0 {
		return nil
	}
	x.followTime()
	for i := range found {
		x.weigh(&found[i])
	}
	return slices.DeleteFunc(found, func(k Kink) bool { return !k.Moved() })
}

// followTime finds what moves the time of the last mark. At most marks nobody asks.
func (x *Suspects) followTime() {
	for i := range x.since {
		m := &x.since[i]
		if x.time = x.timeOf(m); m.Kind != solvers.MarkSite {
			x.cause, x.last = x.time, m.T
		}
	}
	x.since = x.since[:0]
}

// timeOf finds what moves the time of a mark.
func (x *Suspects) timeOf(m *solvers.Mark) sets.Set {
	k := x.kinks
	var names []tapec.Name
	switch {
	case m.Kind == solvers.MarkStart:
		names = k.model.InstantInputs(int(solvers.InstantStart))
	case m.Kind == solvers.MarkFinal:
		names = k.model.InstantInputs(int(solvers.InstantEnd))
	case k.Fixed(m):
		return nil
	case m.Caused && m.T == x.last:
		return x.cause
	case m.Guard >= 0:
		names = k.model.GuardInputs(m.Guard)
	case m.Instant >= 0:
		names = k.model.InstantInputs(m.Instant)
	case m.T == x.last: // a consequence
		return x.cause
	default:
		return x.all
	}
	time := sets.New(x.columns)
	for _, n := range names {
		time.Join(x.of(n))
	}
	if m.Kind == solvers.MarkFinal && m.T == x.last { // an event may have ended the run
		time.Join(x.cause)
	}
	return time
}

// of returns what may move something that has a name, in the course of any run.
func (x *Suspects) of(n tapec.Name) sets.Set {
	if _, ok := x.kinks.model.Layout.Find(n); !ok {
		return x.all
	}
	switch n.Role {
	case tapec.HeldMode, tapec.Fired, tapec.DataRow: // they do not move but at times
		return nil
	case tapec.Time:
		return x.time
	}
	if s, ok := x.named[n]; ok {
		return s
	}
	w := NewSeparator(x.kinks.model, x.kinks.problem, nil)
	s := sets.New(x.columns)
	for i, moves := range w.Movers([]tapec.Name{n}, x.variables, x.columns) {
		if moves {
			s.Add(i)
		}
	}
	x.named[n] = s
	return s
}

func (x *Suspects) weigh(k *Kink) {
	m := x.kinks.model
	k.Moves, k.Smooth = sets.New(x.columns), false
	x.kinks.near = k.near
	defer func() { x.kinks.near = 0 }()
	for _, i := range k.margins {
		if !k.timed {
			k.Into.condition(m, i)
		}
	}
	switch {
	case k.settled && m.Moment(x.mark.Firing.Event) == compiled.AfterEnd:
		k.Into.all = true // what is read there and depends on it
	case k.settled:
		k.spread(m)
	case k.Kept && !k.last:
		return
	case k.Tie, k.Kept, k.Dosed:
		n := m.FunctionalAt(k.peak)
		k.Into.add(m, tapec.Functionals.Number(n), k.peak-m.Compiled.Functionals[n].Offset)
		x.ofBody(k)
	case k.Set && !k.timed:
		k.Guards = k.margins
	case k.curves:
		k.Smooth = true
		k.spread(m)
	case k.Corner, k.Set, k.Rests:
	case k.rests: // it may bend more on the way than where it was found
		k.spread(m)
	case k.passes: // on one side it is met a little later, or not at all
		k.Smooth, k.Meets = true, true
		k.spread(m)
	default:
		if k.Smooth = k.Op.HasKink() && !k.decides && k.of != nil; k.Smooth {
			x.tilt(k, &k.at)
		}
		k.spread(m)
	}
	if x.moves(k); k.Rounded {
		k.Moves = x.all
	}
	if k.of != nil && k.of == m.Compiled.Peaks && len(k.Into.names) == 0 { // of something else
		clear(k.Moves)
	}
}

// moves adds what moves a kink.
func (x *Suspects) moves(k *Kink) {
	for _, n := range k.From {
		k.Moves.Join(x.of(n))
	}
	if !k.alone() {
		k.Moves.Join(x.time)
	}
	if k.Set && x.mark.T == x.kinks.end { // or the end comes to lie behind it
		for _, n := range x.kinks.model.InstantInputs(int(solvers.InstantEnd)) {
			k.Moves.Join(x.of(n))
		}
	}
}

// ofBody adds what moves what the body of the last mark's event makes of states.
func (x *Suspects) ofBody(k *Kink) {
	if !k.Dosed || x.mark.Kind != solvers.MarkFire {
		return
	}
	if body := x.kinks.model.Compiled.Affects[x.mark.Firing.Event]; body != nil {
		for _, in := range body.Inputs {
			k.Moves.Join(x.of(tapec.MustName(in.Name)))
		}
	}
}

// tilt finds what moves if the value of a kink does: nothing has a kink there but in second derivatives, as x·abs(x),
// if nothing does.
func (x *Suspects) tilt(k *Kink, at *vec.Values) {
	var z vec.Of[complex128]
	for i, v := range at {
		if v != nil {
			z[i] = still(v)
		}
	}
	for _, by := range []float64{tangentStep, -tangentStep} {
		e, all := x.evals.Load(k.of, &z)
		if !all {
			return
		}
		tape.Along(e, k.near, func(v tape.Value, i int) float64 {
			if v == k.value {
				return float64(by * tape.Portion(i))
			}
			return 0
		})
		for _, out := range k.of.Outputs {
			for i, z := range e.Value(out.Value) {
				if imag(z) != 0 && k.counts(x.kinks.model, out, i) {
					k.Smooth = false
					k.Into.add(x.kinks.model, tapec.MustName(out.Name), i)
				}
			}
		}
	}
}

// spread finds what depends on the value of a kink at all.
func (k *Kink) spread(m *compiled.Model) {
	if k.of == nil || len(k.Into.names) > 0 {
		return
	}
	k.of.Reached(k.value, func(out tape.Output, i int) {
		if k.counts(m, out, i) {
			k.Into.add(m, tapec.MustName(out.Name), i)
		}
	})
}

// counts reports whether it matters that a kink bends element i of an output: all that is largest is read by one tape,
// but at other times.
func (k *Kink) counts(m *compiled.Model, out tape.Output, i int) bool {
	return k.of != m.Compiled.Peaks || m.Layout.Part(tapec.MustName(out.Name)).Offset+i == k.peak
}
