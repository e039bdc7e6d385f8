package hybrid_test

import (
	"context"
	"slices"
	"testing"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
	"odes.dev/odes/solvers/stock"
)

// TestStock holds that runs of several methods that are recorded in turns, each where one before it was, are those that
// are recorded apart, and that soon no more memory is needed for them.
func TestStock(t *testing.T) {
	h := kicked()
	kept := &stock.Stock{Most: 1 << 30}
	methods := []string{"dopri5", "bs3", "dop853", "bs3, tsit5"}
	runs := map[string]*record.Trajectory{}
	keep := func(name string, tr *record.Trajectory) {
		s := solver(h, name, solvers.Options{RTol: 1e-6, ATol: 1e-9, H0: 0.2})
		if _, err := s.Solve(context.Background(), tr); err != nil {
			t.Fatal(err)
		}
	}
	var sizes []int
	for round := range 8 {
		for _, name := range methods {
			if runs[name] == nil {
				runs[name] = &record.Trajectory{Stock: kept}
			}
			tr, apart := runs[name], &record.Trajectory{}
			keep(name, tr)
			keep(name, apart)
			sameRun(t, name, apart, tr, true)
			if round%2 == 0 {
				tr.Recycle()
			} else {
				tr.Drop()
			}
			kept.Spoil()
		}
		now := kept.Spoil()
		slices.Sort(now)
		if round == 7 && !slices.Equal(sizes, now) {
			t.Errorf("the stock had %d blocks, and after another round %d", len(sizes), len(now))
		}
		sizes = now
	}
	if len(sizes) == 0 {
		t.Error("nothing was given to the stock")
	}

	kept.Most = 8 * int64(sizes[0])
	tr := &record.Trajectory{Stock: kept}
	keep("dopri5", tr)
	tr.Recycle()
	if left := kept.Spoil(); len(left) > 1 {
		t.Errorf("the stock holds blocks of %v where it may have %d numbers", left, sizes[0])
	}
}
