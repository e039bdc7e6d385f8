package hybrid_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/solvers/record"
)

// schedules are the ways to keep a run. Whatever is added here is held to the
// bits of a run that is kept whole.
var schedules = []record.Checkpoint{
	{Kind: record.CheckpointEvery},
	{Kind: record.CheckpointEvery, Every: 2},
	{Kind: record.CheckpointEvery, Every: 7},
	{Kind: record.CheckpointEvery, Every: 1000},
	{Kind: record.CheckpointEvery, RAM: 3},
	{Kind: record.CheckpointEvery, Every: 7, RAM: 1},
	{Kind: record.CheckpointBinomial},
	{Kind: record.CheckpointBinomial, RAM: 1},
	{Kind: record.CheckpointBinomial, RAM: 3},
	{Kind: record.CheckpointBinomial, RAM: 10},
	{Kind: record.CheckpointBinomial, RAM: 2, Disk: 4},
	{Kind: record.CheckpointBinomial, Disk: 5},
	{Kind: record.CheckpointBinomial, Stages: true, RAM: 1},
	{Kind: record.CheckpointBinomial, Stages: true, RAM: 4},
	{Kind: record.CheckpointBinomial, Stages: true, RAM: 2, Disk: 3},
	{Kind: record.CheckpointBinomial, Stages: true, Disk: 5},
}

// file is a Disk in memory, which may have no room or lose what was written.
type file struct {
	data   []byte
	full   int // bytes that fit; 0 for no limit
	lost   bool
	closed int
}

var errFull = errors.New("no space left")

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	end := int(off) + len(p)
	if f.full > 0 && end > f.full {
		return 0, errFull
	}
	f.data = append(f.data, make([]byte, max(0, end-len(f.data)))...)
	return copy(f.data[off:], p), nil
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if f.lost {
		return 0, io.ErrUnexpectedEOF
	}
	return copy(p, f.data[off:]), nil
}

func (f *file) Close() error { f.closed++; return nil }

// replayable gives tr what it needs to recompute steps of h.
func replayable(tr *record.Trajectory, h *solvertest.Hybrid, name string) *record.Trajectory {
	m := method(name)
	tr.Replayer = func() (solvers.System, solvers.Method) { return h.With(1), m.New(h.Size(), 0) }
	tr.Open = func() (record.Disk, error) { return &file{}, nil }
	return tr
}

// sameRun reads two recordings of a run forwards or backwards and compares all bits.
func sameRun(t *testing.T, what string, want, got *record.Trajectory, back bool) {
	t.Helper()
	if want.Steps() != got.Steps() || want.Marks() != got.Marks() {
		t.Fatalf("%s: %d steps and %d marks, want %d and %d", what, got.Steps(), got.Marks(), want.Steps(),
			want.Marks())
	}
	var a, b record.Reader
	a.Open(context.Background(), want)
	b.Open(context.Background(), got)
	if back {
		b.Back()
	}
	equal := func(where string, x, y []float64) {
		t.Helper()
		if !slices.EqualFunc(x, y, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }) {
			t.Fatalf("%s: %s is %v, want %v", what, where, y, x)
		}
	}
	step := func(i int) {
		t.Helper()
		var x, y solvers.Step
		ex, _ := a.Load(i, &x)
		ey, err := b.Load(i, &y)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if ex != ey || x.T != y.T || x.H != y.H || x.T1 != y.T1 {
			t.Fatalf("%s: step %d is %v %v %v %v, want %v %v %v %v", what, i, ey, y.T, y.H, y.T1, ex, x.T, x.H, x.T1)
		}
		at := fmt.Sprintf("of step %d of %d: ", i, want.Steps())
		equal(at+"y0", x.Y0, y.Y0)
		equal(at+"y1", x.Y1, y.Y1)
		equal(at+"dq", x.DQ, y.DQ)
		equal(at+"k", x.K, y.K)
	}
	marks := func(after int, mk []int) {
		t.Helper()
		for _, k := range mk {
			if want.After(k) != after {
				continue
			}
			var x, y solvers.Mark
			ax, fx, _ := a.LoadMark(k, &x)
			ay, fy, err := b.LoadMark(k, &y)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if ax != ay || fx != fy || x.Kind != y.Kind || x.T != y.T || x.Firing != y.Firing || x.Inside != y.Inside ||
				x.Theta != y.Theta {
				t.Fatalf("%s: mark %d is %+v, want %+v", what, k, y, x)
			}
			at := fmt.Sprintf("of mark %d after step %d: ", k, after)
			equal(at+"ym", x.Ym, y.Ym)
			equal(at+"yp", x.Yp, y.Yp)
			equal(at+"dm", x.Dm, y.Dm)
			equal(at+"dp", x.Dp, y.Dp)
			equal(at+"mm", x.Mm, y.Mm)
			equal(at+"mp", x.Mp, y.Mp)
		}
	}
	all := make([]int, want.Marks())
	for k := range all {
		all[k] = k
	}
	if !back {
		marks(-1, all)
		for i := range want.Steps() {
			step(i)
			marks(i, all)
		}
		return
	}
	slices.Reverse(all)
	for i := want.Steps() - 1; i >= 0; i-- {
		marks(i, all)
		step(i)
	}
	marks(-1, all)
}

// sameKept holds that a run by s is the same however it is kept: read forwards, backwards more than once, and by a
// Reader that is alone and makes room of what it has passed.
func sameKept(t *testing.T, s *hybrid.Solver, h *solvertest.Hybrid, name string) {
	t.Helper()
	whole := &record.Trajectory{}
	_, failed := s.Solve(context.Background(), whole)
	keep := func(what string, tr *record.Trajectory) {
		t.Helper()
		if _, err := s.Solve(context.Background(), replayable(tr, h, name)); (err == nil) != (failed == nil) {
			t.Fatalf("%s: %v, kept whole %v", what, err, failed)
		}
		sameRun(t, what+" forwards", whole, tr, false)
		sameRun(t, what+" backwards", whole, tr, true)
		sameRun(t, what+" backwards, a second time", whole, tr, true)
		if _, err := s.Solve(context.Background(), tr); (err == nil) != (failed == nil) {
			t.Fatal(err)
		}
		tr.Share(1, 1)
		sameRun(t, what+" backwards once", whole, tr, true)
		sameRun(t, what+" backwards after that", whole, tr, true)
		room := 0 // for whole steps, with the last one
		if tr.Keep.Stages {
			room = tr.Keep.RAM + tr.Keep.Disk + 1
		}
		if whole.Units() > room && tr.Replayed() == 0 && !tr.Thinned() {
			t.Errorf("%s: no step was recomputed", what)
		}
		workOf(t).again += tr.Replayed()
	}
	for _, c := range schedules {
		keep(name+" "+c.String(), &record.Trajectory{Keep: c})
	}
}

// crowd is a run of about n fixed steps with a body that kicks, a mode, observations inside steps, at ends
// and at the time of the kick, and a quadrature.
func crowd() *solvertest.Hybrid {
	h := bounce(0.8, 1, 3)
	h.Times = append(h.Times, site(0.5), site(0.7))
	return h
}

func TestKeptRunsAreTheRun(t *testing.T) {
	for _, m := range methods.All() {
		if m.Can.Has(solvers.SplitRates) { // imex_test.go
			continue
		}
		h := crowd()
		s := solver(h, m.Name, solvers.Options{Fixed: 0.05})
		sameKept(t, s, h, m.Name)
	}
}

// TestReplays compares the formula with the least cost by enumeration, and the split with what reaches it.
func TestReplays(t *testing.T) {
	const most = 90
	for s := 1; s < 8; s++ {
		for n := range most {
			best := 0
			if n > 1 {
				best = n * (n - 1) / 2
				for m := 1; m < n && s > 1; m++ {
					best = min(best, m+record.Replays(m, s)+record.Replays(n-m, s-1))
				}
			}
			if got := record.Replays(n, s); got != best {
				t.Fatalf("t(%d, %d) = %d, want %d", n, s, got, best)
			}
			if n > 1 && s > 1 {
				m := record.Split(n, s)
				if got := m + record.Replays(m, s) + record.Replays(n-m, s-1); got != best {
					t.Fatalf("split(%d, %d) = %d costs %d, the best %d", n, s, m, got, best)
				}
			}
		}
	}
}

// TestReplaysOfMany has so many steps that binomial coefficients are large: with room for one state all steps before
// each are repeated, and for two the formula is written out.
func TestReplaysOfMany(t *testing.T) {
	for _, n := range []int{65_000, 100_000, 3_000_000} {
		if got := record.Replays(n, 1); got != n*(n-1)/2 {
			t.Errorf("%d steps with one state: %d", n, got)
		}
		r := 0 // the least with n ≤ β(2, r)
		for (r+1)*(r+2)/2 < n {
			r++
		}
		least := r*n - r*(r+1)*(r+2)/6
		if got := record.Replays(n, 2); got != least {
			t.Errorf("%d steps with two states: %d, want %d", n, got, least)
		}
	}
	for n := range 10 {
		if got := record.Replays(n, math.MaxInt); got != max(n-1, 0) {
			t.Errorf("Replays(%d, any number) = %d", n, got)
		}
		if record.Replays(n, 0) != record.Replays(n, 1) {
			t.Errorf("%d steps without a state", n)
		}
	}
}

// TestCheckpointWords writes policies as a settings block has them.
func TestCheckpointWords(t *testing.T) {
	const every, binomial = record.CheckpointEvery, record.CheckpointBinomial
	for _, c := range []struct {
		keep record.Checkpoint
		want string
		file bool
	}{
		{record.Checkpoint{}, "all", false},
		{record.Checkpoint{Kind: record.CheckpointAll}, "all", false},
		{record.Checkpoint{Kind: every}, "states", false},
		{record.Checkpoint{Kind: every, Every: 1}, "states", false},
		{record.Checkpoint{Kind: every, Every: 2}, "states(2)", false},
		{record.Checkpoint{Kind: every, RAM: 1}, "states(every = 1, ram = 1)", true},
		{record.Checkpoint{Kind: every, Every: 5, RAM: 3}, "states(every = 5, ram = 3)", true},
		{record.Checkpoint{Kind: binomial}, "binomial", false},
		{record.Checkpoint{Kind: binomial, RAM: 1}, "binomial(1)", false},
		{record.Checkpoint{Kind: binomial, Disk: 1}, "revolve(disk = 1)", true},
		{record.Checkpoint{Kind: binomial, RAM: 1, Disk: 1}, "revolve(ram = 1, disk = 1)", true},
		{record.Checkpoint{Kind: binomial, Stages: true}, "stages", false},
		{record.Checkpoint{Kind: binomial, Stages: true, RAM: 4}, "stages(4)", false},
		{record.Checkpoint{Kind: binomial, Stages: true, RAM: 4, Disk: 2}, "stages(ram = 4, disk = 2)", true},
	} {
		if got := c.keep.String(); got != c.want || c.keep.InFile() != c.file {
			t.Errorf("%+v: %s, in a file: %v", c.keep, got, c.keep.InFile())
		}
	}
}

// TestReplaysOfStages compares the formula with the least cost by enumeration, and with runs of known length that are
// read backwards. Ten steps with three of them kept take 6 more.
func TestReplaysOfStages(t *testing.T) {
	const most = 60
	best := [most][9]int{} // [n][s], the steps of the run counted
	for n := 1; n < most; n++ {
		for s := range best[n] {
			best[n][s] = n * (n + 1) / 2
			for m := 1; m < n && s > 0; m++ {
				best[n][s] = min(best[n][s], m+best[n-m][s-1]+best[m-1][s])
			}
			if got := record.ReplaysOfStages(n, s); got != best[n][s]-n {
				t.Fatalf("%d steps, %d of them kept: %d, want %d", n, s, got, best[n][s]-n)
			}
		}
	}
	if got := record.ReplaysOfStages(10, 3); got != 6 {
		t.Errorf("10 steps, 3 of them kept: %d, want 6", got)
	}
	for _, n := range []int{1, 2, 3, 10, 33, 100, 333} {
		for _, c := range []record.Checkpoint{{RAM: 1}, {RAM: 3}, {RAM: 10}, {RAM: 2, Disk: 4}, {RAM: 50}} {
			c.Kind, c.Stages = record.CheckpointBinomial, true
			h := sys()
			tr := replayable(&record.Trajectory{Fixed: 2 / float64(n), Keep: c}, h, "rk4")
			s := solver(h, "rk4", solvers.Options{Fixed: tr.Fixed})
			if _, err := s.Solve(context.Background(), tr); err != nil {
				t.Fatal(err)
			}
			tr.Share(1, 1)
			if got, want := backwards(t, tr), record.ReplaysOfStages(n, c.RAM+c.Disk); got != want {
				t.Errorf("%d steps, %s: %d steps recomputed, want %d", n, c, got, want)
			}
		}
	}
}

// TestPlacesChosen holds that binomial without a number keeps whole steps where fewer steps are then recomputed: with
// much room, but not with little.
func TestPlacesChosen(t *testing.T) {
	h := wide(1000)
	h.Times = h.Times[:2]
	for _, c := range []struct {
		limit  int64
		stages bool
	}{{200_000, false}, {2_000_000, true}, {12_000_000, true}} {
		const n = 100
		tr := replayable(&record.Trajectory{
			Limit: c.limit, Fixed: 2. / n, Keep: record.Checkpoint{Kind: record.CheckpointBinomial},
		}, h, "rk4")
		if _, err := solver(h, "rk4", solvers.Options{Fixed: tr.Fixed}).Solve(context.Background(), tr); err != nil {
			t.Fatal(err)
		}
		tr.Share(1, 1)
		// A state is 1000 numbers, a step without its stages 2001; half of the memory is for them.
		stages := int64(method("rk4").Info().Stages)
		states, steps := int(c.limit/2/8032), int(c.limit/2/(8*(2001+stages*1001)+32))
		want := record.Replays(n, states+1)
		whole := record.ReplaysOfStages(n, steps)
		if c.stages != (whole < want) {
			t.Fatalf("%d bytes: %d steps with states, %d with stages", c.limit, want, whole)
		}
		if c.stages {
			want = whole
		}
		if got := backwards(t, tr); got != want {
			t.Errorf("%d bytes: %d steps recomputed, want %d", c.limit, got, want)
		}
	}
}

// backwards counts the steps that are recomputed when a run is read backwards.
func backwards(t *testing.T, tr *record.Trajectory) int {
	t.Helper()
	var r record.Reader
	var s solvers.Step
	r.Open(context.Background(), tr)
	r.Back()
	before := tr.Replayed()
	for i := tr.Steps() - 1; i >= 0; i-- {
		if _, err := r.Load(i, &s); err != nil {
			t.Fatal(err)
		}
	}
	return tr.Replayed() - before
}

// TestReplayCounts holds that a run whose length is known is read backwards at the least cost, and one that was
// recorded without knowing it at no more than one that kept the state at the start alone, and then the least. How much
// more than the least that is depends on the number of steps and states: docs/methods-derivatives.md has the worst of
// those here.
func TestReplayCounts(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 33, 100, 333, 1000} {
		for _, slots := range []int{1, 2, 3, 5, 10, 20, 50} {
			h := sys()
			s := solver(h, "rk4", solvers.Options{Fixed: 2 / float64(n)})
			tr := replayable(&record.Trajectory{Keep: record.Checkpoint{
				Kind: record.CheckpointBinomial,
				RAM:  slots,
			}}, h, "rk4")
			if _, err := s.Solve(context.Background(), tr); err != nil {
				t.Fatal(err)
			}
			if tr.Steps() != n {
				t.Fatalf("%d steps, want %d", tr.Steps(), n)
			}
			tr.Share(1, 1)
			online := backwards(t, tr)
			if _, err := s.Solve(context.Background(), tr); err != nil {
				t.Fatal(err)
			}
			tr.Forget()
			tr.Share(1, 1)
			offline, want := backwards(t, tr), n+record.Replays(n, slots)
			if offline != want {
				t.Errorf("%d steps, %d states: %d steps recomputed, want %d", n, slots, offline, want)
			}
			// Had the number of steps been known, the run itself would have made n - 1 of them.
			least := want - (n - 1)
			known := replayable(&record.Trajectory{Fixed: 2 / float64(n), Keep: tr.Keep}, h, "rk4")
			if _, err := s.Solve(context.Background(), known); err != nil {
				t.Fatal(err)
			}
			known.Share(1, 1)
			// The last step is at hand, so that the way there is saved as well.
			if got := backwards(t, known); got > least-1 || got < least-1-(n-1) {
				t.Errorf("%d steps, %d states, placed beforehand: %d steps recomputed, want %d at most", n, slots, got,
					least-1)
			} else if n == 10 && slots == 3 {
				t.Logf("10 steps, 3 states: %d", got)
			}
			if online < least || online > want {
				t.Errorf("%d steps, %d states, placed while the run was made: %d steps recomputed, want from %d to %d",
					n, slots, online, least, want)
			}
			if n > 1 {
				if got := placed(n, slots); got != online {
					t.Errorf("%d steps, %d states: %d steps recomputed, %d by the places", n, slots, online, got)
				}
			}
		}
	}
}

// cost returns how many steps are recomputed of a run of n steps with those states kept beside the start, and room for
// so many in all.
func cost(n int, kept []int, room int) int {
	sum, end := n, n
	for i := len(kept) - 1; i >= 0; i-- {
		sum += record.Replays(end-kept[i], room-i)
		end = kept[i]
	}
	return sum + record.Replays(end, room+1)
}

// placed is cost for states that are placed while the run is made.
func placed(n, slots int) (steps int) {
	record.Places(n, slots-1, func(unit int, kept []int) {
		if unit == n {
			steps = cost(n, kept, slots-1)
		}
	})
	return steps
}

// TestPlacesCost compares states that are placed while the run is made with the best places, for all numbers of steps
// and states in the ranges that docs/methods-derivatives.md names.
func TestPlacesCost(t *testing.T) {
	worst, at, with := 0.0, 0, 0
	sum, pairs := 0.0, 0
	for slots := 2; slots <= 50; slots++ {
		record.Places(1000, slots-1, func(n int, kept []int) {
			if n < 100 {
				return
			}
			more := float64(cost(n, kept, slots-1)) / float64(1+record.Replays(n, slots))
			sum, pairs = sum+more, pairs+1
			if more > worst {
				worst, at, with = more, n, slots
			}
		})
	}
	got := fmt.Sprintf("%.2f, %d steps, %d states; mean %.2f", worst, at, with, sum/float64(pairs))
	if got != "1.47, 988 steps, 43 states; mean 1.07" {
		t.Errorf("at worst %s; docs/methods-derivatives.md says otherwise", got)
	}
}

// TestReplayWalks holds that a Reader has as much room for states on every way back as on the first.
func TestReplayWalks(t *testing.T) {
	for _, c := range []record.Checkpoint{
		{Kind: record.CheckpointBinomial, RAM: 20},
		{Kind: record.CheckpointBinomial, RAM: 3, Disk: 30},
		{Kind: record.CheckpointEvery, Every: 10},
	} {
		h := sys()
		tr := replayable(&record.Trajectory{Keep: c}, h, "rk4")
		tr.Open = func() (record.Disk, error) { return &file{}, nil }
		if _, err := solver(h, "rk4", solvers.Options{Fixed: 2. / 1000}).Solve(context.Background(), tr); err != nil {
			t.Fatal(err)
		}
		tr.Share(1, 3)
		var r record.Reader
		var s solvers.Step
		r.Open(context.Background(), tr)
		first := 0
		for walk := range 3 {
			r.Back()
			before := tr.Replayed()
			for i := tr.Steps() - 1; i >= 0; i-- {
				if _, err := r.Load(i, &s); err != nil {
					t.Fatal(err)
				}
			}
			if n := tr.Replayed() - before; walk == 0 {
				first = n
			} else if n > first {
				t.Errorf("%s: %d steps recomputed on way %d, %d on the first", c, n, walk+1, first)
			}
		}
	}
}

// TestReplayShares holds that each way back is shared out anew: a Reader that goes back once makes room as it goes, and
// the next one does as well as the first; and that without any word there is one Reader that goes back more than once.
func TestReplayShares(t *testing.T) {
	for _, c := range []record.Checkpoint{
		{Kind: record.CheckpointBinomial, RAM: 12},
		{Kind: record.CheckpointBinomial, Stages: true, RAM: 12},
		{Kind: record.CheckpointBinomial, RAM: 4, Disk: 9},
	} {
		h := sys()
		run := func() *record.Trajectory {
			tr := replayable(&record.Trajectory{Keep: c}, h, "rk4")
			s := solver(h, "rk4", solvers.Options{Fixed: 2. / 700})
			if _, err := s.Solve(context.Background(), tr); err != nil {
				t.Fatal(err)
			}
			return tr
		}
		cost := func(readers, walks int) int {
			tr := run()
			tr.Share(readers, walks)
			return backwards(t, tr)
		}
		once := cost(1, 1)
		tr := run()
		var costs [3]int
		for i := range costs {
			tr.Share(1, 1)
			costs[i] = backwards(t, tr)
		}
		// Of the states kept on the way forward none is left: they cost one more.
		if costs[0] != once || costs[1] != costs[2] || costs[1] > once+tr.Units() {
			t.Errorf("%s: %v steps recomputed on ways shared out anew, %d on one alone", c, costs, once)
		}
		if said, unsaid := cost(1, 2), backwards(t, run()); said != unsaid || said >= cost(2, 2) {
			t.Errorf("%s: %d steps recomputed for one reader, %d unsaid, %d for two", c, said, unsaid, cost(2, 2))
		}
	}
}

// wide is a run of n states with many steps, a kick and observations inside steps.
func wide(n int) *solvertest.Hybrid {
	h := &solvertest.Hybrid{
		N: n, Q: 1,
		Params: []float64{3},
		Init: func(_ C, _ *env, y, _ []C) {
			for i := range y {
				y[i] = complex(1/float64(1+i), 0)
			}
		},
		Field: func(t C, y []C, e *env, k []C) {
			for i := range y {
				k[i] = e.P[0]*(y[(i+1)%n]-y[i]) - t*y[i]*y[i]
			}
			k[n] = y[0] * y[0]
		},
		Times: []solvertest.Instant{
			instant(solvers.InstantStart, 0), instant(solvers.InstantEnd, 2), fire(0, 1.1),
			site(0.3), site(1.7),
		},
	}
	event(h, "kick", nil, func(_ int, _ C, ym []C, _ *env, yp, _ []C) {
		for i, y := range ym {
			yp[i] = 1 + 2*y
		}
	})
	return h
}

// bounded is a Sink that records and holds that the record stays within its limit.
type bounded struct {
	*record.Trajectory
	t    *testing.T
	most int64
}

func (b *bounded) Step(s *solvers.Step, e solvers.End) error {
	err := b.Trajectory.Step(s, e)
	if b.most = max(b.most, b.Bytes()); err == nil && b.Bytes() > b.Limit {
		b.t.Errorf("step %d: %d bytes, limit %d", b.Steps(), b.Bytes(), b.Limit)
	}
	return err
}

// TestThinned holds that a run that does not fit is kept to a part, within its limit, until nothing fits; that it is
// the same run; and that it takes no more to read it backwards.
func TestThinned(t *testing.T) {
	h := wide(40)
	s := solver(h, "dopri5", solvers.Options{Fixed: 0.002, Observe: solvers.ObserveDense})
	whole := &record.Trajectory{}
	if _, err := s.Solve(context.Background(), whole); err != nil {
		t.Fatal(err)
	}
	strides := map[string]bool{}
	for limit := whole.Bytes() + 1<<17; ; limit = limit * 3 / 5 {
		tr := replayable(&record.Trajectory{Limit: limit}, h, "dopri5")
		sink := &bounded{Trajectory: tr, t: t}
		_, err := s.Solve(context.Background(), sink)
		var full *record.MemoryError
		if errors.As(err, &full) {
			if len(strides) < 4 || full.Bytes <= limit || full.Keep.Kind != record.CheckpointEvery {
				t.Errorf("limit %d: %v, after %v", limit, err, strides)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		strides[tr.Kept().String()] = true
		if tr.Thinned() != (tr.Kept().Kind == record.CheckpointEvery) {
			t.Errorf("limit %d: thinned %v, kept %s", limit, tr.Thinned(), tr.Kept())
		}
		tr.Share(1, 1)
		sameRun(t, fmt.Sprintf("limit %d, kept %s", limit, tr.Kept()), whole, tr, true)
		read := tr.Replayed()
		t.Logf("limit %7d: %s, at most %d bytes, %d with those who read; %d of %d steps recomputed",
			limit, tr.Kept(), sink.most, tr.Bytes(), read, whole.Steps())
		if own := int64(8 * 4 * 40 * 9); tr.Bytes() > limit+own+1<<16 {
			t.Errorf("limit %d: %d bytes to read it backwards", limit, tr.Bytes())
		}
		// The next run begins where this one ended, and allocates no more.
		before := tr.Kept()
		if _, err := s.Solve(context.Background(), sink); err != nil ||
			tr.Thinned() != (before.Kind == record.CheckpointEvery) {
			t.Errorf("the second run: %v, thinned %v", err, tr.Thinned())
		}
		sameRun(t, "a second run", whole, tr, false)
	}
}

// TestKeptBytes holds what each policy keeps: the memory of that many states, whatever the number of steps.
func TestKeptBytes(t *testing.T) {
	const n = 4000
	h := wide(n)
	h.Times = h.Times[:2]
	rk4, _ := methods.Lookup("rk4")
	whole := rk4.Info()
	for _, steps := range []int{40, 80} {
		s := solver(h, "rk4", solvers.Options{Fixed: 2 / float64(steps)})
		for _, c := range []struct {
			keep   record.Checkpoint
			states int
		}{
			{record.Checkpoint{Kind: record.CheckpointAll}, steps * (1 + whole.Stages)},
			{record.Checkpoint{Kind: record.CheckpointEvery}, steps - 1},
			{record.Checkpoint{Kind: record.CheckpointEvery, Every: 8}, steps/8 - 1},
			{record.Checkpoint{Kind: record.CheckpointEvery, Every: 8, RAM: 2}, 2},
			{record.Checkpoint{Kind: record.CheckpointBinomial, RAM: 7}, 6},
			{record.Checkpoint{Kind: record.CheckpointBinomial, RAM: 3, Disk: 9}, 2},
		} {
			tr := replayable(&record.Trajectory{Keep: c.keep}, h, "rk4")
			var f *file
			tr.Open = func() (record.Disk, error) { f = &file{}; return f, nil }
			if _, err := s.Solve(context.Background(), tr); err != nil {
				t.Fatal(err)
			}
			const other = 1 << 16
			want := int64(c.states * n * 8)
			if got := tr.Bytes(); got < want || got > want+want/100+other {
				t.Errorf("%s: %d bytes for %d steps, want %d", c.keep, got, steps, want)
			}
			away := c.keep.Disk
			if c.keep.Every > 0 && c.keep.RAM > 0 {
				away = steps/8 - 1 - c.keep.RAM
			}
			if away > 0 {
				if f == nil || len(f.data) != away*n*8 {
					t.Fatalf("%s: not %d states in the file", c.keep, away)
				}
				if tr.Close(); f.closed == 0 {
					t.Error("the file stays open")
				}
			}
		}
	}
}

// TestListsInFile reads a run with many steps and events, whose lists are in a file, against one that is kept whole.
func TestListsInFile(t *testing.T) {
	h := sys()
	h.N, h.D = 1, 1
	h.Field = func(_ C, _ []C, _ *env, k []C) { k[0] = 1 }
	event(h, "wrap", above(1), func(_ int, _ C, ym []C, e *env, yp, dp []C) {
		yp[0], dp[0] = ym[0]-1, e.D[0]+1
	})
	h.Times[1] = instant(solvers.InstantEnd, 400)
	s := solver(h, "rk4", solvers.Options{Fixed: 0.01})
	whole := &record.Trajectory{}
	if _, err := s.Solve(context.Background(), whole); err != nil {
		t.Fatal(err)
	}
	for _, keep := range []record.Checkpoint{
		{Kind: record.CheckpointAuto},
		{Kind: record.CheckpointEvery, Every: 7},
		{Kind: record.CheckpointBinomial, RAM: 20},
	} {
		for _, op := range []string{"", "open", "write", "read"} {
			tr := replayable(&record.Trajectory{Keep: keep, Limit: 600_000}, h, "rk4")
			disk := &file{lost: op == "read"}
			tr.Open = func() (record.Disk, error) { return disk, nil }
			switch op {
			case "open":
				tr.Open = func() (record.Disk, error) { return nil, errFull }
			case "write":
				disk.full = 1000
			}
			_, err := s.Solve(context.Background(), tr)
			if op == "" {
				if err != nil || len(disk.data) < 300_000 || tr.Bytes() > tr.Limit {
					t.Fatalf("%v: %v, %d bytes in the file, %d in memory", keep, err, len(disk.data), tr.Bytes())
				}
				sameRun(t, keep.String(), whole, tr, false)
				sameRun(t, keep.String()+" back", whole, tr, true)
				continue
			}
			if op == "read" && err == nil {
				err = tr.Replay(context.Background(), &record.Trajectory{})
			}
			var failed *record.DiskError
			if !errors.As(err, &failed) || failed.Op != op {
				t.Errorf("%v: %v, want an error of %s", keep, err, op)
			}
		}
	}
}

// TestDiskFails has files that cannot be made, are full, or lose what they had.
func TestDiskFails(t *testing.T) {
	h := wide(10)
	s := solver(h, "rk4", solvers.Options{Fixed: 0.02})
	for _, c := range []struct {
		open func() (record.Disk, error)
		op   string
		err  error
	}{
		{func() (record.Disk, error) { return nil, errFull }, "open", errFull},
		{func() (record.Disk, error) { return &file{full: 300}, nil }, "write", errFull},
		{func() (record.Disk, error) { return &file{lost: true}, nil }, "read", io.ErrUnexpectedEOF},
		{nil, "open", nil},
	} {
		tr := replayable(&record.Trajectory{Keep: record.Checkpoint{
			Kind: record.CheckpointBinomial, RAM: 2,
			Disk: 10,
		}}, h, "rk4")
		tr.Open = c.open
		_, err := s.Solve(context.Background(), tr)
		if err == nil {
			tr.Share(1, 1)
			var r record.Reader
			var st solvers.Step
			r.Open(context.Background(), tr)
			r.Back()
			for i := tr.Steps() - 1; i >= 0 && err == nil; i-- {
				_, err = r.Load(i, &st)
			}
		}
		var failed *record.DiskError
		if !errors.As(err, &failed) || failed.Op != c.op || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: %v", c.op, err)
		}
	}
}

// TestKeptAllocates requires that recording and reading a run again allocates nothing, however it is kept.
func TestKeptAllocates(t *testing.T) {
	h := crowd()
	h.Times = h.Times[:len(h.Times)-2] // the closures allocate
	s := solver(h, "rk4", solvers.Options{Fixed: 0.02})
	for _, c := range schedules {
		if c.Disk > 0 || c.Kind == record.CheckpointEvery && c.RAM > 0 { // a run makes a file
			continue
		}
		tr := replayable(&record.Trajectory{Keep: c}, h, "rk4")
		var r record.Reader
		var st solvers.Step
		var m solvers.Mark
		run := func() {
			if _, err := s.Solve(context.Background(), tr); err != nil {
				t.Fatal(err)
			}
			tr.Share(1, 1)
			r.Open(context.Background(), tr)
			r.Back()
			mk := tr.Marks() - 1
			for i := tr.Steps() - 1; i >= 0; i-- {
				for ; mk >= 0 && tr.After(mk) == i; mk-- {
					if _, _, err := r.LoadMark(mk, &m); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := r.Load(i, &st); err != nil {
					t.Fatal(err)
				}
			}
		}
		run()
		run()
		if n := testing.AllocsPerRun(3, run); n > 0 {
			t.Errorf("%s: %v allocations", c, n)
		}
	}
}

// TestNoReplayer reads a trajectory that is not kept whole and has no Replayer.
func TestNoReplayer(t *testing.T) {
	h := sys()
	tr := &record.Trajectory{Keep: record.Checkpoint{Kind: record.CheckpointEvery}}
	if _, err := solver(h, "rk4", solvers.Options{Fixed: 0.1}).Solve(context.Background(), tr); err != nil {
		t.Fatal(err)
	}
	var r record.Reader
	var st solvers.Step
	r.Open(context.Background(), tr)
	if _, err := r.Load(3, &st); err == nil {
		t.Error("no error")
	}
	if _, err := r.Load(3, &st); err == nil {
		t.Error("no error the second time")
	}
	tr.Replayer = func() (solvers.System, solvers.Method) {
		return h.With(1), methods.All()[0].New(h.Size(), 0)
	}
	if _, err := r.Load(3, &st); err == nil {
		t.Error("another method replays it")
	}
}
