package run

import (
	"context"
	"math"
	"reflect"
	"slices"
	"time"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/limits"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"

	"odes.dev/odes/solvers/lanes"
	"odes.dev/odes/solvers/record"
)

// Experiments of equal programs, as those of the subjects of a table, are run side by side: each in a lane of the
// processor's vectors, with its own values, times and events, and steps of its own length. The bits are those of single
// runs. So is what is told of them: a run in which anything happens that there is something to tell of is made alone.

const (
	// fewTogether is how many experiments of equal programs are run one by one.
	fewTogether = 4
	// madeAlone is how many runs of experiments a Runner makes one by one: it takes time to make what runs them side by
	// side.
	madeAlone = 64
	// longestAlone is for how many runs of the whole, at most, an experiment that had to be run alone is not tried side
	// by side again.
	longestAlone = 64
)

// lanePart is a Runner whose experiments are run side by side, or that of such an experiment.
type lanePart struct{ *Runner }

// together makes runs of the experiments of a Runner side by side.
type together struct {
	runs  int // of the whole
	made  bool
	slots [][]*bench // of each goroutine
	alone []waiting  // of each experiment
	list  []*contribution
}

// waiting says for how many runs of the whole an experiment is run alone, and for how many it was before.
type waiting struct{ left, last int }

// shared is what an experiment needs to be run side by side with others.
type shared struct {
	bounded bool  // some param has bounds
	settles bool  // steady states are sought
	stages  []int // of a step of each member of the method
	adds    contribution
	made    []int // in its last run
}

// bench are up to LaneCount experiments that are run at once. Those that are the same but for numbers are run by one
// host after the other, whose memory is in the processor's caches then.
type bench struct {
	parts []*served
	hosts []*served // what makes their runs
	seats *sens.LaneSeats
	runs  *sens.LaneRuns // that of its slot
	near  int            // see runBench
}

// served is an experiment with what differentiates its runs.
type served struct {
	part int
	*compiled.Served
	worker  sens.LaneWorker
	workers []*system.Worker // of its values and of its derivatives
	seats   [2]system.Seat   // of these
	forms   []*lanes.Form
	how     laneSettings
}

// laneSettings are the settings that decide about steps.
type laneSettings struct {
	Method, Controller, Linear, Mode string
	Stiff                            []string
	MaxGrowth                        float64
	OfMethod                         map[string]float64
	Solver                           solvers.Options
	Objectives                       []int
	Initial, Hermite                 bool
}

// runTogether makes what runs of the experiments can be made side by side. The others are nil.
func runTogether(ctx context.Context, r *Runner) []*contribution {
	t := &r.side
	if t.runs++; r.keep || (t.runs-1)*len(r.parts) < madeAlone || len(r.parts) < fewTogether {
		return nil
	}
	if !t.made {
		t.made = true
		t.alone, t.list = make([]waiting, len(r.parts)), make([]*contribution, len(r.parts))
		t.slots = lanePart{r}.benches()
	}
	if len(t.slots) == 0 {
		return nil
	}
	list := t.list
	clear(list)
	parallel(len(t.slots), len(t.slots), func(i int) {
		for _, b := range t.slots[i] {
			if ctx.Err() == nil {
				lanePart{r}.runBench(ctx, b, list)
			}
		}
		for _, b := range t.slots[i] {
			for _, h := range b.hosts {
				h.serve(h)
			}
		}
	})
	return list
}

// runBench makes the runs of a bench, and writes what they contribute to list.
func (r lanePart) runBench(ctx context.Context, b *bench, list []*contribution) {
	start := time.Now()
	var ran []int // lanes
	var tried [lanes.Count]bool
	for _, s := range b.parts {
		x := r.parts[s.part]
		b.near += s.seats[0].Near() + s.seats[1].Near() + x.took.Steps + x.shared.adds.Steps + x.happened.N +
			len(x.gradient) + len(x.warnings.All()) + len(x.settings.Stiff) + x.columns
	}
	b.runs.Take(b.seats)
	b.runs.Run(ctx, func(lane int) bool {
		if tried[lane] {
			return false
		}
		tried[lane] = true
		s := b.parts[lane]
		part, wait := r.parts[s.part], &r.side.alone[s.part]
		if wait.left > 0 || part.solver != s.worker.Solver || !(lanePart{part}).calm() {
			wait.left--
			return false
		}
		if part.shared.settles {
			part.problem.Search(ctx)
		}
		b.hosts[lane].serve(s)
		ran = append(ran, lane)
		return true
	})
	took := time.Since(start).Seconds() / float64(max(len(ran), 1))
	for k, lane := range ran {
		res, _, err := b.runs.Result(k)
		i := b.parts[lane].part
		if err == nil {
			list[i] = lanePart{r.parts[i]}.contributed(res, b.hosts[lane], took)
		}
		if wait := &r.side.alone[i]; list[i] == nil {
			wait.last = min(2*wait.last+1, longestAlone)
			wait.left = wait.last
		} else {
			wait.last = 0
		}
	}
}

// calm reports whether there is nothing to tell of the run of an experiment before it begins.
func (r lanePart) calm() bool {
	if !r.shared.bounded {
		return true
	}
	var l diag.List
	r.model.Explain.Bounds(r.problem.Point, &l)
	return len(l.All()) == 0
}

// contributed returns what an experiment adds to the totals; nil where there is more to tell of its run than numbers.
func (r lanePart) contributed(res *sens.Result, host *served, took float64) *contribution {
	stats := host.worker.Solver.Stats()
	if len(stats.Warnings)+len(stats.Meetings)+len(stats.Bends)+len(res.Warnings)+len(res.Peaks) > 0 ||
		stats.Stopped || !trust.Finite(res.Psi) || slices.Contains(res.Suspect, true) {
		return nil
	}
	m, width := len(r.objectives), r.problem.Width()
	if !trust.Finite(res.DP[:m*width]) {
		return nil
	}
	r.chain.Pull(res.DP, m, width)
	for i := range m {
		var byInitial []float64
		if r.byInitial {
			n := r.model.System.States()
			byInitial = res.DY0[i*n : (i+1)*n]
		}
		r.gatherer.Gather(r.gradient[i*r.columns:(i+1)*r.columns], res.DP[i*width:(i+1)*width], byInitial)
	}
	if !trust.Finite(r.gradient) {
		return nil
	}
	r.last, r.opinion, r.alone, r.sum = r.Runner, nil, true, nil
	r.shared.made = append(r.shared.made[:0], stats.Made...) // the host's are those of the next run then
	r.made, r.stopped = r.shared.made, ""
	r.met, r.missed, r.faint = nil, nil, false
	r.happened.Begin(r.model, r.guards, r.lists)
	r.out.From, r.out.To, r.out.Finite = host.workers[0].Started(), stats.T, true
	r.took = r.stats(stats)
	r.took.VJP = r.pulled()
	r.took.Seconds.Forward = took
	r.took.Seconds.Compile += r.compile
	c := &r.shared.adds
	*c = contribution{values: append(c.values[:0], res.Psi[:m]...), gradient: r.gradient, work: r.took}
	if all := r.warnings.All(); len(all) > 0 {
		c.warnings = r.model.untold(all)
	}
	return c
}

// pulled returns how many stages were differentiated, as transposes does after a single run.
func (r lanePart) pulled() (n int) {
	sweeps := (len(r.objectives) + r.lanes - 1) / r.lanes
	if m := modeOf(r.settings.Mode); m.Lanes == sens.LanesColumns {
		sweeps = (r.directions() + r.lanes - 1) / r.lanes
	}
	if r.shared.stages == nil {
		for _, m := range solvers.Members(r.specimen()) {
			r.shared.stages = append(r.shared.stages, m.Info().Stages)
		}
	}
	for i, stages := range r.shared.stages {
		n += r.made[i] * stages
	}
	return n * sweeps
}

// benches returns what runs the experiments that can be run side by side, those of about as many steps at once.
func (r lanePart) benches() (slots [][]*bench) {
	order := make([]int, len(r.parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return r.parts[a].took.Steps - r.parts[b].took.Steps })
	var groups [][]*served
	for _, i := range order {
		s := lanePart{r.parts[i]}.served(i)
		if s == nil {
			continue
		}
		at := slices.IndexFunc(groups, func(g []*served) bool { return s.like(g[0]) })
		if at < 0 {
			at, groups = len(groups), append(groups, nil)
		}
		groups[at] = append(groups[at], s)
	}
	for _, g := range groups {
		if len(g) < fewTogether {
			continue
		}
		n := min(max(r.settings.Threads, 1), (len(g)+lanes.Count-1)/lanes.Count)
		for len(slots) < n {
			slots = append(slots, nil)
		}
		for slot := range n {
			list := r.bench(g, slot, n)
			if list == nil {
				break
			}
			slots[slot] = append(slots[slot], list...)
		}
	}
	return slots
}

// bench returns the benches of one of n slots for experiments of equal programs; nil where they cannot be made.
func (r lanePart) bench(g []*served, slot, n int) (list []*bench) {
	first := lanePart{r.parts[g[0].part]}
	steps, err := first.steppers(g[0].Slopes, g[0].worker.Back.System != nil)
	if err != nil || steps == nil {
		return nil
	}
	want := sens.Options{
		GrazingLimit: grazingLimit, Tie: first.settings.Solver.RTol, Initial: first.byInitial,
		LatePeak: first.settings.LatePeak,
	}
	var runs *sens.LaneRuns
	var hosts []*served // of all benches
	for at := slot * lanes.Count; at < len(g); at += n * lanes.Count {
		b := &bench{parts: g[at:min(at+lanes.Count, len(g))]}
		var workers []sens.LaneWorker
		for _, s := range b.parts {
			host := s.host(hosts, b.hosts)
			if host == s {
				hosts = append(hosts, s)
			}
			b.hosts, workers = append(b.hosts, host), append(workers, host.worker)
		}
		if runs == nil {
			if runs, err = sens.NewLaneRuns(steps, workers, want, true); err != nil {
				return nil
			}
		}
		b.runs = runs
		if k := len(list) - 1; k >= 0 && slices.Equal(b.hosts, list[k].hosts) {
			b.seats = list[k].seats
		} else if b.seats, err = runs.Seats(workers); err != nil {
			return nil
		}
		list = append(list, b)
	}
	return list
}

// served prepares an experiment to be run side by side with others. It returns nil where that cannot be, or where runs
// are watched for what only single ones tell: conditions on states, kinks, what is to be largest, invariants, and how
// much memory there is.
func (r lanePart) served(part int) *served {
	s := &r.settings
	if !r.sideBySide(true) || !unwatched(r.Runner) || len(r.objectives) == 0 || s.Solver.Memory > 0 ||
		s.Solver.Fixed > 0 || r.setup.Method != nil ||
		s.Checkpoint.Kind != record.CheckpointAuto && s.Checkpoint.Kind != record.CheckpointAll {
		return nil
	}
	bounds := func(p *model.Symbol) bool {
		return !math.IsInf(p.Lo, -1) || !math.IsInf(p.Hi, 1) || limits.Made(p)
	}
	r.shared.settles = r.model.System.Settles()
	r.shared.bounded = slices.ContainsFunc(r.model.Checked.Params, bounds)
	out := &served{part: part, forms: r.solver.Side(), how: laneSettings{
		Method: s.Method, Controller: s.Controller, Linear: s.Linear, Mode: s.Mode, Stiff: s.Stiff,
		MaxGrowth: s.MaxGrowth, OfMethod: s.OfMethod, Solver: s.Solver, Initial: r.byInitial, Hermite: s.Hermite,
	}}
	if len(out.forms) == 0 {
		return nil
	}
	for _, o := range r.objectives {
		out.how.Objectives = append(out.how.Objectives, o.row)
	}
	values, err := r.problem.Kit(1, compiled.Values, false)
	if err != nil {
		return nil
	}
	out.worker = sens.LaneWorker{Solver: r.solver, Objectives: r.worker, Resume: func(int) {}}
	slopes, derivatives, err := r.differentiates(&out.worker)
	if err != nil {
		return nil
	}
	out.Served = &compiled.Served{Task: &r.problem.Task, Values: values, Slopes: slopes}
	out.workers = []*system.Worker{r.worker, derivatives}
	out.seats = [2]system.Seat{system.SeatOf(r.worker), system.SeatOf(derivatives)}
	return out
}

// host returns what makes the runs of s: one of hosts that are not busy, and where none can, s itself.
func (s *served) host(hosts, busy []*served) *served {
	for _, h := range hosts {
		if h.Same(s.Served) && !slices.Contains(busy, h) {
			return h
		}
	}
	return s
}

// serve has the workers of s make the runs of o.
func (s *served) serve(o *served) {
	for i, w := range s.workers {
		system.Serve(w, &o.seats[i])
	}
	s.workers[0].KeepStages(nil)
}

// like reports whether what makes the steps of o makes those of s as well.
func (s *served) like(o *served) bool {
	if len(s.forms) != len(o.forms) || !s.Served.Like(o.Served) || !reflect.DeepEqual(&s.how, &o.how) {
		return false
	}
	for i, f := range s.forms {
		g := o.forms[i]
		if (f == nil) != (g == nil) || f != nil && (f.Moves != g.Moves || f.Inside != g.Inside || f.Sized != g.Sized) {
			return false
		}
	}
	return true
}
