package sens_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
)

// glance is a context that says that it has ended at one look alone, the n-th.
type glance struct {
	context.Context
	looks, n int
}

func (g *glance) Err() error {
	if g.looks++; g.looks == g.n {
		return context.Canceled
	}
	return nil
}

// each calls f with contexts that end at one look after the other, about so many of all, and at the first ones and the
// last ones. f must return the end of the context.
func each(t *testing.T, what string, about int, f func(ctx context.Context) error) {
	t.Helper()
	whole := &glance{Context: t.Context()}
	if err := f(whole); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	stride := 1 + whole.looks/about
	for n := 1; n <= whole.looks; n++ {
		if n%stride > 0 && n > 5 && n < whole.looks-5 {
			continue
		}
		if err := f(&glance{Context: t.Context(), n: n}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the end of the context at look %d of %d was lost: %v", what, n, whole.looks, err)
		}
	}
}

// TestEndOfContext ends gradients at any look at the context, most of which are those of readers that make steps again.
// No end is lost.
func TestEndOfContext(t *testing.T) {
	for name, of := range map[string]func() *problem{
		"ball":  func() *problem { return ball(3) },
		"swing": func() *problem { return swing(1, 1, 2, 0.1) },
	} {
		p := of()
		p.opts.Fixed = 0.15
		tr := p.kept(t, "rk4", record.Checkpoint{Kind: record.CheckpointEvery, Every: 4}, 0)
		all := p.methods(t, "rk4")
		for _, m := range p.continuousMethods(t, "rk4") {
			all = append(all, m)
		}
		for i, m := range all {
			each(t, fmt.Sprintf("%s, method %d, %s", name, i, m.Name()), 60, func(ctx context.Context) error {
				return m.Gradient(ctx, tr, sens.Options{Initial: true, EventTimes: true}, &sens.Result{})
			})
		}
		v := make([]float64, len(p.Params))
		v[0] = 1
		exact, pushed := all[0].(*sens.ComplexStep), all[3].(*sens.Tangent)
		each(t, name+", along", 60, func(ctx context.Context) error {
			_, err := exact.Along(ctx, tr, v, nil, 0)
			return err
		})
		each(t, name+", along by a tangent", 60, func(ctx context.Context) error {
			_, err := pushed.Along(ctx, tr, v, nil)
			return err
		})
		each(t, name+", replays", 60, func(ctx context.Context) error {
			_, err := exact.Replays(ctx, tr, v, nil, []float64{0, 0.1})
			return err
		})
		each(t, name+", curvature", 60, func(ctx context.Context) error {
			f, err := exact.Analytic(ctx, tr)
			if err != nil {
				return err
			}
			_, err = sens.Curvature(func(z complex128) ([]complex128, error) {
				at := make([]complex128, len(v))
				for i, x := range p.Params {
					at[i] = complex(x, 0) + complex(v[i], 0)*z
				}
				return f.At(ctx, at, nil)
			}, 0.01)
			return err
		})
	}
	p := logisticProblem(1.3, 0.2, 2)
	p.opts.Fixed = 0.15
	tr := p.kept(t, "rk4", record.Checkpoint{Kind: record.CheckpointEvery, Every: 4}, 0)
	each(t, "second derivatives", 100, func(ctx context.Context) error {
		return p.second(t, 1).Products(ctx, tr, units(2), &sens.Products{})
	})
}

// second returns what makes second derivatives of a logisticProblem.
func (p *problem) second(t testing.TB, lanes int) *sens.Second {
	return &sens.Second{New: func() sens.SecondWorker {
		s := &logistic{p.with(lanes), solvers.NewDual(2, lanes)}
		return sens.SecondWorker{System: s, Objectives: s, Method: p.method(t, "rk4", lanes)}
	}}
}

// units are the unit vectors of n params.
func units(n int) sens.Directions {
	return sens.Directions{Count: n, Write: func(k int, dp, _ []float64) { dp[k] = 1 }}
}

// TestSecondLooks ends second derivatives of a model with events and observations within steps at any look.
func TestSecondLooks(t *testing.T) {
	m, err := odes.Parse("looks.ode", `
time t from 0 to 2
param k = 1.3, s = 0.7
state x = 0.2
x' = k*x*(1 - x)
event cut when x > 0.45*s once { x = 0.8*s*x }
event more at s { x += 0.1*k }
objective J = final(x)^2 + sum_at([0.3, 0.9*s, 1.4], x*k)
sens { order = 2  trust = off }
solver { method = dopri5  fixed_step = 0.1  observe = dense  checkpoint = states(3) }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, lanes := range []int{1, 3} {
		r, err := m.Prepare(odes.Options{Lanes: lanes, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		each(t, fmt.Sprintf("%d lanes", lanes), 150, func(ctx context.Context) error {
			_, err := r.Sensitivities(ctx)
			return err
		})
	}
}

// disk is a file in memory. It fails at one operation, the n-th, and counts those that it closes.
type disk struct {
	data          []byte
	ops, n        int
	reads, writes int
	open          int // 1 until it is closed
}

var errDisk = errors.New("the disk is full")

func (d *disk) fails() bool {
	d.ops++
	return d.ops == d.n
}

func (d *disk) WriteAt(p []byte, off int64) (int, error) {
	if d.writes++; d.fails() {
		return 0, errDisk
	}
	d.data = append(d.data, make([]byte, max(0, int(off)+len(p)-len(d.data)))...)
	return copy(d.data[off:], p), nil
}

func (d *disk) ReadAt(p []byte, off int64) (int, error) {
	if d.reads++; d.fails() {
		return 0, errDisk
	}
	if int(off)+len(p) > len(d.data) {
		return 0, io.ErrUnexpectedEOF
	}
	return copy(p, d.data[off:]), nil
}

func (d *disk) Close() error { d.open--; return nil }

// TestTangentsInFile keeps the tangents of second derivatives in a file, where states of the run are in one: blocks of
// 64 kB are written once and read once, in the fewest operations. The bits are those of a run that is kept whole.
// Whichever operation fails, its error is that of the products, and the file is closed.
func TestTangentsInFile(t *testing.T) {
	p := logisticProblem(1.3, 0.2, 2)
	p.opts.Fixed = 0.0005
	whole, _ := p.run(t, "rk4")
	tr := p.kept(t, "rk4", record.Checkpoint{Kind: record.CheckpointEvery, Every: 5}, 0)
	if got, want := sens.PathBytes(whole, 2), int64(8*2*(3*whole.Steps()+3*whole.Marks())); got != want {
		t.Errorf("%d bytes of tangents, want %d", got, want)
	}
	for _, c := range []struct{ lanes, blocks, walks int }{{1, 2, 2}, {3, 5, 1}, {5, 8, 1}} {
		var want, got sens.Products
		if err := p.second(t, c.lanes).Products(t.Context(), whole, units(2), &want); err != nil {
			t.Fatal(err)
		}
		tr.Keep.RAM = 1 // it asks for a file, in which no state is
		block := min(1<<16/(8*c.lanes*3), tr.Steps())
		if got, want := sens.PathBytes(tr, c.lanes), int64(8*c.lanes*(2*block*3+3*tr.Marks())); got != want {
			t.Errorf("%d lanes: %d bytes of tangents, want %d", c.lanes, got, want)
		}
		var f *disk
		opened := 0
		fail := 0
		tr.Open = func() (record.Disk, error) {
			if opened++; opened == -fail {
				return nil, errDisk
			}
			f = &disk{n: fail, open: 1}
			return f, nil
		}
		if err := p.second(t, c.lanes).Products(t.Context(), tr, units(2), &got); err != nil {
			t.Fatal(err)
		}
		for i, x := range want.HP {
			if got.HP[i] != x {
				t.Errorf("%d lanes: %v, whole %v", c.lanes, got.HP[i], x)
			}
		}
		// The way back begins with the last block, which is in memory.
		if blocks := (tr.Steps() + block - 1) / block; blocks != c.blocks || f.writes != c.walks*c.blocks ||
			f.reads != c.walks*(c.blocks-1) || opened != 1 || f.open != 0 {
			t.Errorf("%d lanes: %d blocks; %d writes and %d reads of %d files", c.lanes, blocks, f.writes, f.reads,
				opened)
		}
		for fail = -1; fail <= f.ops; fail++ {
			opened = 0
			err := p.second(t, c.lanes).Products(t.Context(), tr, units(2), &got)
			if fail == 0 {
				if err != nil {
					t.Error(err)
				}
				continue
			}
			var of *record.DiskError
			if !errors.Is(err, errDisk) || !errors.As(err, &of) || fail > 0 && f.open != 0 {
				t.Errorf("%d lanes, failure %d: %v; %d files are open", c.lanes, fail, err, f.open)
			}
		}
	}
}
