package run

import (
	"context"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/engine/coincide"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/onesided"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// Sides are derivatives of objectives on both sides of each element of the variables, and of the point along a
// direction, where causes of the run coincide.
type Sides struct {
	trust.OnSides        // of n motions, and of listed events
	n             int    // motions: those of columns, and one along a direction if there is one
	Leaps         []bool // [n] states leap there
	Unknown       []bool // [n] they are not known
	Met           []coincide.Met
	shaken        []bool     // [n] states may go through other values than in the run
	walk          sidedWalk  // that they come from, in the run itself
	more          int        // motions that are not known since those before have mostSequences
	peaks         []bool     // [objectives] that read largest values of which too little is known
	reads         []bool     // [objectives] largest values
	settled       bool       // what may have been missed is among the causes
	runs          []sidesRun // of the experiments and of the run itself
}

// sidedWalk walks a run along n more motions of columns.
type sidedWalk func(ctx context.Context, n int, motion func(k int, v []float64)) (
	*sens.Sides, *coincide.Crossing, error,
)

// sidesRun tells of one run of several when causes coincided there.
type sidesRun struct {
	times  []float64
	within float64 // times that differ by no more are one
}

// Sides returns derivatives of the last run of r on both sides, and those along a direction in the space of columns,
// unless along is nil; nil where no causes coincide, or where package coincide does not follow the model: why says so.
func (r *Runner) Sides(ctx context.Context, along []float64) (s *Sides, why string, err error) {
	parts := make([]*Sides, len(r.parts))
	some := false
	for i, part := range r.parts {
		if parts[i], why, err = part.Sides(ctx, along); err != nil || why != "" {
			return nil, why, err
		}
		some = some || parts[i] != nil
	}
	span := r.trajectory.Ends() - r.trajectory.Begins()
	how := &r.settings.Solver
	var seed *uint64
	if how.Shuffled {
		seed = &how.Seed
	}
	m, why := coincide.New(r.problem, r.worker, span, how.Each, seed)
	if m == nil {
		return nil, why, nil
	}
	c := m.Cross(r.problem.Point.Active(r.places))
	sets := func(t float64) bool {
		return slices.ContainsFunc(r.kinked, func(f onesided.Fold) bool {
			return f.Guards != nil && math.Abs(f.T-t) <= float64(10*coincide.Near*span)
		})
	}
	c.Sets = sets
	n := r.columns
	if along != nil {
		n++
	}
	tangent, err := r.tangentMethod(r.setup.lanes(2*n), compiled.Push)
	if err != nil {
		return nil, "", err
	}
	directions := r.problem.Directions(r.places)
	v := make([]float64, r.columns)
	move := func(k int) (pd, dy0 []float64) {
		unit(v, k/2, along)
		totals := totalsAlong(r, parts, k, v)
		if k%2 == 0 {
			for i := range v {
				v[i] = -v[i]
			}
		}
		return directions(v, totals)
	}
	walk := sens.Sided{New: tangent.New, Crosser: c, Times: r.setup.EventTimes}
	found, err := walk.Along(ctx, &r.trajectory, 2*n, move, float64(coincide.Near*span))
	if err != nil {
		return nil, "", r.failed(err, r.worker)
	}
	if len(c.Met) == 0 && !some {
		return nil, "", nil
	}
	again := func(ctx context.Context, n int, motion func(k int, v []float64)) (
		*sens.Sides, *coincide.Crossing, error,
	) {
		c := m.Cross(r.problem.Point.Active(r.places))
		c.Sets, walk.Crosser, walk.Times = sets, c, false
		found, err := walk.Along(ctx, &r.trajectory, n, func(k int) (pd, dy0 []float64) {
			clear(v)
			motion(k, v)
			return directions(v, make([]float64, len(r.model.Checked.Totals)))
		}, float64(coincide.Near*span))
		return found, c, err
	}
	s = newSides(n, len(r.objectives), c.Met)
	s.walk = again
	s.runs = []sidesRun{{within: float64(10 * coincide.Near * span)}}
	for i := range c.Met {
		s.runs[0].times = append(s.runs[0].times, c.Met[i].T)
	}
	for k := range n {
		for i := range r.objectives {
			at := i*n + k
			s.Left[at], s.Right[at] = 0-found.Slopes[2*k][i], found.Slopes[2*k+1][i]
			s.LeftValues[at], s.RightValues[at] = found.Values[2*k][i], found.Values[2*k+1][i]
		}
		s.Leaps[k] = c.Leaps(2*k) || c.Leaps(2*k+1)
		s.Unknown[k] = c.Unknown(2*k) || c.Unknown(2*k+1)
		s.shaken[k] = c.Shaken(2*k) || c.Shaken(2*k+1)
	}
	if found.Times != nil {
		s.Times = timesOfEvents(r, c, found.Times)
	}
	s.settled = s.explain(r.missed) && s.meets(r.met)
	s.judgePeaks(r, found.Peaks)
	s.join(r, parts)
	s.limit()
	return s, "", nil
}

// unit writes motion k: of a column, or that along a direction.
func unit(v []float64, k int, along []float64) {
	if k == len(v) {
		copy(v, along)
		return
	}
	clear(v)
	v[k] = 1
}

// mostSequences is how many sequences of sides are told apart: more are a matter of rounding, or nobody reads them.
const mostSequences = 64

// limit has motions unknown whose sequences of sides are beyond the first ones.
func (s *Sides) limit() {
	seen := map[string]bool{}
	var key []byte
	for k := range s.n {
		if s.together(k) {
			continue
		}
		key = key[:0]
		for c := range s.Met {
			key = fmt.Append(key, s.Met[c].Story(2*k), s.Met[c].Story(2*k+1))
		}
		if known := seen[string(key)]; !known && len(seen) == mostSequences {
			s.Unknown[k] = true
			s.more++
		} else {
			seen[string(key)] = true
		}
	}
}

// timesOfEvents returns how times of events that are listed move on both sides of columns: those of meetings, and
// others.
func timesOfEvents(r *Runner, c *coincide.Crossing, moved map[int][]float64) (list [][]float64) {
	type occurrence struct {
		met, number int
		mode        bool
	}
	nth := map[occurrence]int{}
	for _, e := range r.res.Events {
		row := moved[e.Mark]
		for i := range c.Met {
			if m := &c.Met[i]; row == nil && math.Abs(m.T-e.T) <= m.Within() {
				o := occurrence{i, c.Number(&e), e.Mode}
				row = c.Shifts(m, &e, nth[o], 2*r.columns)
				nth[o]++
			}
		}
		row = slices.Clone(row)
		for k, x := range row { // what is not known on one side is not what does not come there
			if c.Unknown(k) && x != x {
				row[k^1] = x
			}
		}
		if r.lists(e) && (r.setup.Events == 0 || len(list) < r.setup.Events) {
			list = append(list, row)
		}
	}
	return list
}

// newSides returns Sides with memory for all.
func newSides(n, objectives int, met []coincide.Met) *Sides {
	numbers := func() []float64 { return make([]float64, objectives*n) }
	return &Sides{
		OnSides: trust.OnSides{
			Left: numbers(), Right: numbers(), LeftValues: numbers(), RightValues: numbers(),
		},
		n: n, Met: met,
		Leaps: make([]bool, n), Unknown: make([]bool, n), shaken: make([]bool, n),
		peaks: make([]bool, objectives), reads: make([]bool, objectives),
	}
}

// totalsAlong returns how totals of experiments move along direction k of Sides, which is v upwards.
func totalsAlong(r *Runner, parts []*Sides, k int, v []float64) []float64 {
	totals := make([]float64, len(r.model.Checked.Totals))
	for j := range totals {
		for i, part := range r.parts {
			s, by := parts[i], 0.0
			switch {
			case s == nil:
				for e, x := range v {
					if x != 0 {
						by = math.FMA(x, part.gradient[j*r.columns+e], by)
					}
				}
			case k%2 == 0:
				by = s.Left[j*s.n+k/2]
			default:
				by = s.Right[j*s.n+k/2]
			}
			if k%2 == 0 {
				by = -by
			}
			totals[j] += by
		}
	}
	return totals
}

// join adds what is known of the runs of experiments, whose totals s reads.
func (s *Sides) join(r *Runner, parts []*Sides) {
	for i, part := range parts {
		if part == nil {
			s.runs = append(s.runs, sidesRun{})
			continue
		}
		s.runs = append(s.runs, part.runs[0])
		s.settled = s.settled && part.settled
		for k := range s.n {
			leaps := part.Leaps[k]
			for at := k; at < len(part.Left); at += s.n { // a total that leaps moves all that reads it
				leaps = leaps || part.LeftValues[at] != part.RightValues[at]
			}
			s.Leaps[k] = s.Leaps[k] || leaps
			s.Unknown[k] = s.Unknown[k] || part.Unknown[k] || slices.Contains(part.reads, true)
		}
		for _, met := range part.Met {
			for c := range met.Causes {
				met.Causes[c] += " of experiment " + r.model.Experiments[i].Name
			}
			s.Met = append(s.Met, met)
		}
	}
}

// judgePeaks notes which objectives read largest values, and of which of these too little is known: those near a
// coincidence, and those that are as large elsewhere.
func (s *Sides) judgePeaks(r *Runner, list []sens.Peak) {
	for i, o := range r.objectives {
		for _, element := range r.model.System.PeaksOf([]*model.Objective{o.of}) {
			s.reads[i] = true
			at := slices.IndexFunc(list, func(p sens.Peak) bool { return p.Element == element })
			s.peaks[i] = s.peaks[i] || at < 0 || !list[at].Plain() ||
				slices.ContainsFunc(s.runs[0].times, func(t float64) bool {
					return !(math.Abs(list[at].T-t) > s.runs[0].within)
				})
		}
	}
}

// mostCrossed bounds the work of crossing meetings: directions times states times steps.
const mostCrossed = 2e6

// crossed returns the sides of the last run of r, whose result is s; nil where nothing coincides, or where they are not
// followed, or not in short time.
func (r checking) crossed(ctx context.Context, s *trust.Result) (*Sides, error) {
	if !r.setup.Sides || !s.Crossed || trust.Doubts(s.Warnings) == 0 && len(r.met) == 0 {
		return nil, nil
	}
	for _, part := range r.parts {
		if !part.out.Crossed || part.out.Kinked != nil {
			return nil, nil
		}
	}
	size := r.problem.Size()
	if float64(2*r.columns+2)*float64(size.N+size.Q+1)*float64(s.Stats.Steps) > mostCrossed {
		return nil, nil
	}
	sides, _, err := r.Sides(ctx, r.curve.direction)
	return sides, err
}

// followable reports whether what a run warned of is nothing that package contact does not know. Times that differ by
// no more than near are one.
func followable(stats *solvers.Stats, near float64) bool {
	for _, w := range stats.Warnings {
		if w.Kind == solvers.Brink || w.Kind == solvers.Grazing {
			return false
		}
	}
	return !slices.ContainsFunc(stats.Meetings, func(m solvers.Meeting) bool { return m.Rounded || m.Gap > near })
}

// decide has s take derivatives from sides of a run and of its independent run. It reports whether these say all there
// is to say of meetings, and what it took them from; nil for nothing.
func (r checking) decide(s, fine *trust.Result, mine, theirs *Sides, sizes []float64, share float64,
) (d *trust.Decision, all bool) {
	s.Undo()
	if mine == nil || theirs == nil || !mine.settled {
		return nil, false
	}
	n := mine.n
	d = &trust.Decision{
		N: n, Of: mine.OnSides, Twin: theirs.OnSides, Other: fine.Events,
		Known: make([]bool, len(mine.Left)), From: make([][]int, n), Apart: make([][]int, n),
		Sizes: make([]float64, r.columns), Leaps: make([]bool, n), Direction: r.curve.direction, More: mine.more,
	}
	for n, v := range r.variables {
		for k := range v.Size() {
			d.Sizes[v.Offset+k] = sizes[n]
		}
	}
	// A condition that a body sets to its threshold is a cause of what is met there.
	kinked := kinkedBy(r.Runner, slices.DeleteFunc(slices.Clone(r.kinked), func(f onesided.Fold) bool {
		return isMet(r.Runner, mine, &f) && isMet(r.Runner, theirs, &f)
	}))
	met := r.allMet()
	for k := range n {
		known := !mine.unknown(met, k) && !theirs.unknown(met, k)
		d.Leaps[k] = known && mine.Leaps[k] && theirs.Leaps[k]
		known = known && !mine.Leaps[k] && !theirs.Leaps[k]
		for c := range mine.Met {
			if mine.Met[c].Differs(2*k, 2*k+1) {
				d.From[k] = append(d.From[k], c)
			}
			if mine.Met[c].Parts(2*k, 2*k+1) {
				d.Apart[k] = append(d.Apart[k], c)
			}
		}
		shaken := mine.shaken[k] || theirs.shaken[k]
		together := mine.together(k) && theirs.together(k)
		for i := range r.objectives {
			at := i*n + k
			bends := kinked != nil && (!together || bendsAlong(kinked[i*r.columns:][:r.columns], k, r.curve.direction))
			d.Known[at] = known && !bends && !(mine.reads[i] && (shaken || mine.peaks[i] || theirs.peaks[i]))
		}
	}
	for c := range mine.Met {
		d.Coincidences = append(d.Coincidences, result.Coincidence{T: mine.Met[c].T, Causes: mine.Met[c].Causes})
	}
	all = s.Decide(d, share)
	d.Clears = kinked == nil && len(r.kinked) > 0
	if all && len(r.missed) > 0 {
		s.Warnings = slices.DeleteFunc(s.Warnings, func(d diag.Diagnostic) bool { return d.Code == explain.CodeHidden })
	}
	return d, all
}

// unknown reports whether what happens along motion k is not known: also where column k may move causes that met, and
// moves none of them to first order, as by a square.
func (s *Sides) unknown(met []trust.Meeting, k int) bool {
	return s.Unknown[k] || slices.ContainsFunc(s.Met, func(m coincide.Met) bool {
		return m.Still(2*k, 2*k+1) && slices.ContainsFunc(met, func(x trust.Meeting) bool {
			return x.Fold.Moves.Has(k) && math.Abs(x.T-m.T) <= m.Within()
		})
	})
}

// bendsAlong reports whether motion k, of a column or along a direction, moves what a row marks.
func bendsAlong(row []bool, k int, along []float64) bool {
	if k < len(row) {
		return row[k]
	}
	for e, x := range along {
		if x != 0 && row[e] {
			return true
		}
	}
	return false
}

// isMet reports whether a kink is conditions that were met with other causes.
func isMet(r *Runner, s *Sides, f *onesided.Fold) bool {
	return f.Guards != nil && !f.Rounded && !slices.ContainsFunc(f.Guards, func(i int) bool {
		return !slices.ContainsFunc(s.Met, func(m coincide.Met) bool {
			return m.Unknown == "" && math.Abs(m.T-f.T) <= m.Within() && slices.Contains(m.Guards, i)
		})
	})
}

// explain reports whether all that may have been missed is a cause of a coincidence, which it reaches there.
func (s *Sides) explain(missed []solvers.Warning) bool {
	for i := range missed {
		w := &missed[i]
		if !(w.Value <= s.runs[0].within) || !slices.ContainsFunc(s.Met, func(m coincide.Met) bool {
			return m.T >= w.T && slices.Contains(m.Names, w.Name)
		}) {
			return false
		}
	}
	return true
}

// meets reports whether all meetings of a run are at coincidences that were met.
func (s *Sides) meets(list []trust.Meeting) bool {
	return !slices.ContainsFunc(list, func(m trust.Meeting) bool {
		return !slices.ContainsFunc(s.runs[0].times, func(t float64) bool {
			return math.Abs(t-m.T) <= s.runs[0].within
		})
	})
}

// nearMisses lists what a run may have missed.
func nearMisses(list []solvers.Warning) (missed []solvers.Warning) {
	for _, w := range list {
		if w.Kind == solvers.NearMiss {
			missed = append(missed, w)
		}
	}
	return missed
}

// together reports whether a move along column k moves no causes apart.
func (s *Sides) together(k int) bool {
	for c := range s.Met {
		if s.Met[c].Parts(2*k, 2*k+1) {
			return false
		}
	}
	return true
}

// of returns when causes coincided in the run itself, or in experiment i from 1 on, and within what.
func (s *Sides) of(i int) (times []float64, within float64) { return s.runs[i].times, s.runs[i].within }
