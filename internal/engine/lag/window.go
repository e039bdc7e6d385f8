package lag

import (
	"math"
	"sort"
)

// window is what a record keeps of a run of which no derivatives are wanted: the steps that are still read.
type window struct {
	only bool
	free []*kept // room
}

// Moves reports whether any delay moves along runs.
func (r *Record) Moves() bool { return r.moving > 0 }

// Forgets says whether r keeps no more of runs to come than they still read: no derivatives of these are wanted. Where
// delays move, it keeps all, since it is not known how far they reach back.
func (r *Record) Forgets(on bool) { r.window.only = on }

// Forgetful reports whether the last run was one of which no derivatives are wanted.
func (r *Record) Forgetful() bool { return r.window.only }

// forget forgets what nothing reads from a step at t on, once that is half of what is kept.
func (r *Record) forget(t float64) {
	const few = 32
	if !r.window.only || r.moving > 0 || len(r.steps)%few != 0 || len(r.steps) == 0 { // seldom is often enough
		return
	}
	t -= r.longest + float64(1e-9*max(math.Abs(t), r.longest))
	if r.steps[len(r.steps)/2-1].T1 >= t {
		return
	}
	k := sort.Search(len(r.steps), func(i int) bool { return r.steps[i].T1 >= t })
	r.window.free = append(r.window.free[:0], r.steps[:k]...)
	n := copy(r.steps, r.steps[k:])
	copy(r.steps[n:], r.window.free)
	r.steps = r.steps[:n]
	r.ends.opens() // derivatives alone follow the causes
	g := max(sort.Search(len(r.gaps), func(i int) bool { return r.gaps[i].after >= k })-1, 0)
	set, d := r.gaps[g].set, r.held(g)
	r.gaps = append(r.gaps[:0], r.gaps[g:]...)
	r.edits++
	for i := range r.gaps {
		x := &r.gaps[i]
		x.from = max(x.from-k, -1)
		if x.after = max(x.after-k, -1); x.set >= 0 {
			x.set = max(x.set-g, 0)
		}
	}
	if set >= 0 {
		r.gaps[0].d = d
	}
	for _, list := range r.stops {
		for i := range list {
			list[i].after = max(list[i].after-k, -1)
		}
	}
}
