package fit_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/fit"
)

// far makes pieces of jobs that went through bytes, three at a time, the last first, and hands some over twice, as a
// queue of workers does. It loses the search with a number.
type far struct{ lose int }

func (f far) Make(ctx context.Context, j *fit.Job, numbers []int, made func(fit.Start)) error {
	j, err := fit.DecodeJob(j.Encode())
	if err != nil {
		return err
	}
	all, err := j.Open()
	if err != nil {
		return err
	}
	slices.Reverse(numbers)
	var mu sync.Mutex
	var wait sync.WaitGroup
	next := make(chan int)
	for range 3 {
		wait.Go(func() {
			for i := range next {
				s, err := all.Make(ctx, i)
				if i == f.lose && j.From == nil {
					s, err = fit.Lost(i, "the worker fell silent"), nil
				}
				if err != nil {
					s = fit.Lost(i, err.Error())
				}
				mu.Lock()
				list := []fit.Start{s}
				if i != f.lose {
					list, _ = fit.ReadStarts(fit.WriteStart(s))
				}
				for _, s := range list {
					made(s)
					if i%3 == 0 {
						made(s)
					}
				}
				mu.Unlock()
			}
		})
	}
	for _, i := range numbers {
		next <- i
	}
	close(next)
	wait.Wait()
	return nil
}

const pulse = `
time t from 0 to 2
param a = 1 in [0.1, 10]
param b = 1 in [0.1, 10]
state x = a
x' = -b*x + 0.1*sin(a*t)
data D { time = [0.3, 0.6, 0.9, 1.2, 1.5, 1.8]  y = [1.6, 1.25, 0.9, 0.75, 0.55, 0.5] }
observe y = x ~ normal(0.1) from D.y
objective loss = nll()
fit { over = [a, b]  log = [b]  starts = 7  intervals = bootstrap  bootstrap = 20  seed = 2 }
`

// bits are what a fit comes to, with every bit and without times.
func bits(r *fit.Result) string {
	var out strings.Builder
	for _, s := range r.Starts {
		fmt.Fprintf(&out, "%d %s %s %x %x %x %d %d %d\n", s.Number, s.Status, s.Why, s.From, s.To, s.Value,
			s.Evaluations, s.Iterations, s.Cluster)
	}
	for _, e := range r.Estimates {
		fmt.Fprintf(&out, "%s %x %x %x %x\n", e.Name, e.Value, e.StdErr, e.Lower, e.Upper)
	}
	return fmt.Sprintf("%s%x %d", out.String(), r.Bootstrap, r.Stats.Evaluations)
}

// TestElsewhere: searches and refits have the same bits wherever they are made, in whatever order they come.
func TestElsewhere(t *testing.T) {
	o := fit.Options{Source: ensemble.Source{Name: "pulse.ode", Text: pulse}}
	o.Set = []odes.Assignment{{Name: "a", Values: []float64{2}}}
	here := run(t, parse(t, pulse), o)
	o.Backend = far{lose: -1}
	there := run(t, parse(t, pulse), o)
	if bits(here) != bits(there) {
		t.Errorf("here\n%s\nthere\n%s", bits(here), bits(there))
	}
	if len(here.Bootstrap) < 15 {
		t.Errorf("only %d refits", len(here.Bootstrap))
	}
	// Those that were made before are not made again.
	o.Done = here.Starts[:4]
	digit := func(a, b float64) bool { return math.Abs(a-b) <= 1e-14*math.Abs(b) } // the best is gone on from
	if again := run(t, parse(t, pulse), o); !slices.EqualFunc(values(here), values(again), digit) {
		t.Errorf("with four searches made before: %v, not %v", values(again), values(here))
	}
	// A search that is lost fails alone.
	o.Done, o.Backend = nil, far{lose: 3}
	found := 0
	o.Found = func(s fit.Start) {
		if found++; s.Number == 3 {
			t.Error("the search that was lost is kept")
		}
	}
	lossy := run(t, parse(t, pulse), o)
	last := lossy.Starts[len(lossy.Starts)-1]
	if len(lossy.Starts) != 7 || found != 6 {
		t.Errorf("%d searches, of which %d are kept", len(lossy.Starts), found)
	}
	if last.Number != 3 || last.Status != "failed" || last.Why != "the worker fell silent" {
		t.Errorf("the search that was lost: %+v", last)
	}
	for i, s := range here.Starts {
		if s.Number == 3 && !slices.Equal(s.From, last.From) {
			t.Errorf("search %d begins at %v, and the lost one at %v", i, s.From, last.From)
		}
	}
}

func values(r *fit.Result) (list []float64) {
	for _, s := range r.Starts {
		list = append(list, s.Value)
	}
	return list
}
