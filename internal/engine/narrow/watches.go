package narrow

import (
	"slices"

	"odes.dev/odes/internal/base/bernstein"
	"odes.dev/odes/lang/source"
)

// Watches are several Watches of the steps of one run. The zero value watches nothing.
type Watches struct {
	list   []*Watch
	states []int   // that one of them reads
	of     [][]int // of each: where its states are among these
	names  [][]string

	left []source.Span // of what is not watched

	y     [3][]float64
	paths []bernstein.Path
}

// Add adds a watch. names are those of its parts, for messages.
func (w *Watches) Add(x *Watch, names []string) {
	var at []int
	for _, s := range x.states {
		k := slices.Index(w.states, s)
		if k < 0 {
			k = len(w.states)
			w.states = append(w.states, s)
		}
		at = append(at, k)
	}
	w.list, w.of, w.names = append(w.list, x), append(w.of, at), append(w.names, names)
	w.paths = append(w.paths, bernstein.Path{})
	for i := range w.y {
		w.y[i] = make([]float64, len(w.states))
	}
}

// Omit notes that expressions, of which there may be none, are not watched. It returns true.
func (w *Watches) Omit(list []source.Span) bool {
	w.left = append(w.left, list...)
	return true
}

// Omitted returns the expressions that are not watched.
func (w *Watches) Omitted() []source.Span { return w.left }

// Begin forgets what is known, at the start of a run.
func (w *Watches) Begin() {
	for _, x := range w.list {
		x.Begin()
	}
}

// Spoil notes that what was constant may have changed.
func (w *Watches) Spoil() {
	for _, x := range w.list {
		x.Spoil()
	}
}

// NarrowStates returns the numbers of the states that narrow parts read; nil for none.
func (w *Watches) NarrowStates() []int { return w.states }

// pick writes to y those of some values that belong to states at.
func pick(y, from []float64, at []int) []float64 {
	for i, k := range at {
		y[i] = from[k]
	}
	return y[:len(at)]
}

// Calm is Watch.Calm of all, in the order of NarrowStates.
func (w *Watches) Calm(t0, t1 float64, y0, least, most []float64) bool {
	for i, x := range w.list {
		at := w.of[i]
		if !x.Calm(t0, t1, pick(w.y[0], y0, at), pick(w.y[1], least, at), pick(w.y[2], most, at)) {
			return false
		}
	}
	return true
}

// path returns p for the states of watch i.
func (w *Watches) path(i int, p *bernstein.Path) *bernstein.Path {
	q := &w.paths[i]
	q.T, q.H, q.T1, q.Basis = p.T, p.H, p.T1, p.Basis
	for len(q.Values) < len(p.Values) {
		q.Values = append(q.Values, make([]float64, len(w.of[i])))
	}
	for k, y := range p.Values[:p.N+1] {
		pick(q.Values[k], y, w.of[i])
	}
	return q
}

// Look is Watch.Look of all; the shortest step counts. off is in the order of NarrowStates. part names the part in
// question, "" for none.
func (w *Watches) Look(p *bernstein.Path, times, off []float64) (end float64, part string, sure bool) {
	end, sure = times[len(times)-1], true
	for i, x := range w.list {
		at, k, certain := x.Look(w.path(i, p), times, pick(w.y[0], off, w.of[i]))
		if k >= 0 && (at < end || sure && !certain) {
			part = w.names[i][k]
		}
		end, sure = min(end, at), sure && certain
	}
	return end, part, sure
}

// Beside is Watch.Beside of all. off is in the order of NarrowStates.
func (w *Watches) Beside(p *bernstein.Path, off []float64, last bool) (t float64, part string) {
	for i, x := range w.list {
		if t, k := x.Beside(w.path(i, p), pick(w.y[0], off, w.of[i]), last); k >= 0 {
			return t, w.names[i][k]
		}
	}
	return 0, ""
}
