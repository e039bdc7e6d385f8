package team_test

import (
	"sync/atomic"
	"testing"
	"time"

	"odes.dev/odes/internal/base/team"
)

// tally counts how often each part is done, and by whom at the same time.
type tally struct {
	done []atomic.Int32
	busy [5]atomic.Int32
	bad  atomic.Int32
	slow bool
}

func (w *tally) Part(part, who int) {
	if w.busy[who].Add(1) != 1 {
		w.bad.Add(1)
	}
	w.done[part].Add(1)
	if w.slow && part%3 == 0 {
		time.Sleep(100 * time.Microsecond)
	}
	w.busy[who].Add(-1)
}

// TestDo: every part of every piece of work is done once, and all are done when Do returns.
func TestDo(t *testing.T) {
	for size := range 6 {
		crew := team.New(size)
		if want := max(size, 1); crew.Size() != want {
			t.Fatalf("a team of %d has %d", size, crew.Size())
		}
		for round := range 3000 {
			w := &tally{done: make([]atomic.Int32, round%17), slow: round%100 == 0}
			crew.Do(len(w.done), w)
			for i := range w.done {
				if n := w.done[i].Load(); n != 1 {
					t.Fatalf("team of %d, round %d: part %d was done %d times", size, round, i, n)
				}
			}
			if w.bad.Load() > 0 {
				t.Fatal("a member did two parts at a time")
			}
			if round%500 == 0 { // those who help end, and begin again
				time.Sleep(5 * time.Millisecond)
			}
		}
	}
}

// faulty panics in parts that helpers do, and waits in others until one has.
type faulty struct{ helped atomic.Bool }

func (w *faulty) Part(_, who int) {
	if who > 0 {
		w.helped.Store(true)
		panic("out of order")
	}
	for end := time.Now().Add(5 * time.Second); !w.helped.Load() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// TestPanic: a panic of a helper is one of whoever asked, and the team goes on.
func TestPanic(t *testing.T) {
	crew := team.New(3)
	for range 3 {
		func() {
			defer func() {
				if r := recover(); r != "out of order" {
					t.Errorf("the panic of a helper came as %v", r)
				}
			}()
			crew.Do(8, &faulty{})
		}()
	}
	w := &tally{done: make([]atomic.Int32, 9)}
	crew.Do(9, w)
	for i := range w.done {
		if w.done[i].Load() != 1 {
			t.Errorf("part %d was done %d times", i, w.done[i].Load())
		}
	}
}
