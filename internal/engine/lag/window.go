package lag

import (
	"math"
	"sort"

	"odes.dev/odes/solvers"
)

// window is what a record keeps of a run of which no derivatives are wanted: the steps that are still read.
type window struct {
	only  bool
	spare []solvers.Step // memory of steps that are forgotten
}

// Moves reports whether any delay moves along runs.
func (r *Record) Moves() bool { return r.moving > 0 }

// Forgets says whether r keeps no more of runs to come than they still read: no derivatives of these are wanted. Where
// delays move, it keeps all, since it is not known how far they reach back.
func (r *Record) Forgets(on bool) { r.window.only = on }

// Forgetful reports whether the last run was one of which no derivatives are wanted.
func (r *Record) Forgetful() bool { return r.window.only }

// kept returns a copy of a step and its curve, in memory of one that is forgotten.
func (w *window) kept(s *solvers.Step, c curve) (own solvers.Step, at curve) {
	if n := len(w.spare); n > 0 {
		own = w.spare[n-1]
		w.spare = w.spare[:n-1]
	}
	n, k := len(s.Y0), len(s.K)
	room := own.K[:0] // for all of them
	if cap(room) < k+2*n+len(c) {
		room = make([]float64, 0, k+2*n+len(c))
	}
	room = append(append(append(append(room, s.K...), s.Y0...), s.Y1...), c...)
	if len(c) > 0 {
		at = room[k+2*n:]
	}
	return solvers.Step{
		T: s.T, H: s.H, T1: s.T1, Member: s.Member, Dense: true,
		K: room[:k], Y0: room[k : k+n : k+n], Y1: room[k+n : k+2*n : k+2*n],
	}, at
}

// forget forgets what nothing reads from a step at t on, once that is half of what is kept.
func (r *Record) forget(t float64) {
	const few = 32
	if !r.window.only || r.moving > 0 || len(r.steps) < few {
		return
	}
	longest := 0.0
	for _, tau := range r.tau {
		longest = max(longest, tau)
	}
	t -= longest + float64(1e-9*max(math.Abs(t), longest))
	if r.steps[len(r.steps)/2-1].T1 >= t {
		return
	}
	k := sort.Search(len(r.steps), func(i int) bool { return r.steps[i].T1 >= t })
	r.window.spare = append(r.window.spare, r.steps[:k]...)
	n := copy(r.steps, r.steps[k:])
	clear(r.steps[n:]) // whose memory is that of others
	r.steps = r.steps[:n]
	r.curves = r.curves[:copy(r.curves, r.curves[k:])]
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
