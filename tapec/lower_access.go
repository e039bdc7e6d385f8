package tapec

import (
	"slices"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/tabulate"
	"odes.dev/odes/tape"
)

// place says which positions of one dimension a subscript takes.
type place struct {
	ax   []*axis // the axes that the position depends on; none for one position or a range
	at   []int   // 0-based, row-major over ax
	keep bool    // a range: the dimension stays
}

// table evaluates a constant scalar at all points of the axes on which it depends. The
// values are row-major over these axes.
func (c *compiler) table(e model.Expr, s scope) ([]float64, []*axis) {
	free := model.Free(e)
	whole, ok := c.tables[e]
	if !ok {
		whole = tabulate.Tabulate(e, free)
		c.tables[e] = whole
	}
	ax := s.axesOf(free)
	n := lengths(ax).Size()
	out := make([]float64, n)
	// offset[k] is, for each position of axis k, the distance that it moves in whole.
	offset := make([][]int, len(ax))
	for k, a := range ax {
		offset[k] = make([]int, a.n)
	}
	base, stride := 0, 1
	for i := len(free) - 1; i >= 0; i-- {
		b := s.bind[free[i]]
		if b.ax == nil {
			base += stride * b.at[0]
		} else {
			o := offset[slices.Index(ax, b.ax)]
			for m, at := range b.at {
				o[m] += stride * at
			}
		}
		stride *= free[i].Count
	}
	var fill func(k, base, at int)
	fill = func(k, base, at int) {
		if k == len(ax) {
			out[at] = whole[base]
			return
		}
		for m, o := range offset[k] {
			fill(k+1, base+o, at*ax[k].n+m)
		}
	}
	fill(0, base, 0)
	return out, ax
}

// mask evaluates a constant condition, as table does a scalar.
func (c *compiler) mask(e model.Expr, s scope) ([]bool, []*axis) {
	xs, ax := c.table(e, s)
	mask := make([]bool, len(xs))
	for i, x := range xs {
		mask[i] = x == x && x != 0
	}
	return mask, ax
}

// place evaluates a subscript of a dimension of length n. A position outside is reported
// as an error of the array called name; the first position stands in for it.
func (c *compiler) place(sub model.Sub, n int, s scope, name func() string) place {
	if sub.At == nil {
		at := make([]int, sub.Count)
		for i := range at {
			at[i] = sub.Lo - 1 + i*sub.Step
		}
		return place{at: at, keep: true}
	}
	xs, ax := c.table(sub.At, s)
	p := place{ax: ax, at: make([]int, len(xs))}
	alike := true
	for i, x := range xs {
		if !(x >= 1 && x <= float64(n)) {
			c.diags.Errorf(CodeIndex, sub.At.Span(),
				"an index of %s is outside 1:%d; restrict the loop, or clamp or wrap the index", name(), n)
			return place{at: []int{0}}
		}
		p.at[i] = int(x) - 1
		alike = alike && p.at[i] == p.at[0]
	}
	if alike {
		return place{at: p.at[:1]}
	}
	return p
}

func (l *lowerer) access(e *model.Access, s scope) array {
	x := l.lower(e.X, s)
	return l.index(x, l.places(e, x.own, s))
}

func (l *lowerer) places(e *model.Access, own tape.Shape, s scope) []place {
	places := make([]place, len(e.Subs))
	for k, sub := range e.Subs {
		places[k] = l.c.place(sub, own[k], s, func() string { return e.X.Span().Text() })
	}
	return places
}

// index takes the elements at places, one for each own dimension of x.
func (em *emitter) index(x array, places []place) array {
	w, dims := em.label(x)
	dims = slices.Clone(dims) // dims[k] is the axis of w that stands for own dimension k
	uses := map[*axis]int{}
	for _, a := range x.ax {
		uses[a]++
	}
	for _, p := range places {
		for _, a := range p.ax {
			uses[a]++
		}
	}
	// joint tells whether other dimensions vary along the axes of p, too.
	joint := func(p place) bool {
		return len(p.ax) > 1 || len(p.ax) == 1 && uses[p.ax[0]] > 1
	}
	// Dimensions are taken one at a time where nothing else varies with them. Slices come
	// first, so that gathers find less to read.
	var drop, ranges []*axis
	for _, gather := range []bool{false, true} {
		for k, p := range places {
			if joint(p) || gather == isRun(p.at) {
				continue
			}
			d := slices.Index(w.ax, dims[k])
			w.v = em.emit().Take(w.v, d, p.at)
			w.ax = slices.Clone(w.ax)
			switch {
			case p.keep, len(p.ax) == 0:
				w.ax[d] = em.frames.label(len(p.at), k)
			default:
				w.ax[d] = p.ax[0]
			}
			dims[k] = w.ax[d]
			if len(p.ax) == 0 && !p.keep {
				drop = append(drop, dims[k])
			}
		}
	}
	for done := make([]bool, len(places)); ; {
		first := slices.IndexFunc(count(len(places)), func(k int) bool { return joint(places[k]) && !done[k] })
		if first < 0 {
			break
		}
		w = em.gather(w, places, dims, first, done)
	}
	for k, p := range places {
		if p.keep {
			ranges = append(ranges, dims[k])
		}
	}
	w = em.dropped(w, drop)
	return em.unlabel(w, ranges)
}

// dropped removes the dimensions drop, of length 1.
func (em *emitter) dropped(w labelled, drop []*axis) labelled {
	if len(drop) == 0 {
		return w
	}
	ax := without(w.ax, drop...)
	return labelled{em.reshape(w.v, lengths(ax)), ax}
}

// gather takes the elements of own dimension first of w, together with those of all
// dimensions that vary with it. All these become one dimension, from which one Take
// takes the elements.
func (em *emitter) gather(w labelled, places []place, dims []*axis, first int, done []bool) labelled {
	axes := places[first].ax
	in := []int{first}
	done[first] = true
	for grown := true; grown; {
		grown = false
		for k, p := range places {
			if !done[k] && slices.ContainsFunc(p.ax, func(a *axis) bool { return slices.Contains(axes, a) }) {
				axes, in, grown = union(axes, p.ax), append(in, k), true
				done[k] = true
			}
		}
	}
	slices.Sort(in)
	// The joined dimensions are axes that w has already, then those with subscripts.
	var joined []*axis
	for _, a := range axes {
		if slices.Contains(w.ax, a) {
			joined = append(joined, a)
		}
	}
	lead := len(joined)
	for _, k := range in {
		joined = append(joined, dims[k])
	}
	rest := without(w.ax, joined...)
	v := em.arrange(w, append(rest[:len(rest):len(rest)], joined...))
	v = em.reshape(v, join(lengths(rest), tape.Shape{lengths(joined).Size()}))

	points := lengths(axes)
	at := make([]int, points.Size())
	for i, a := range axes[:] {
		if slices.Contains(joined[:lead], a) {
			addAlong(at, points, i, count(a.n), strideOf(joined, slices.Index(joined, a)))
		}
	}
	for m, k := range in {
		addTable(at, axes, places[k], strideOf(joined, lead+m))
	}
	v = em.emit().Take(v, len(rest), at)
	em.deep(len(rest) + len(axes))
	return labelled{em.reshape(v, join(lengths(rest), points)), append(rest[:len(rest):len(rest)], axes...)}
}

// strideOf returns the distance between neighbours along dimension k of an array over axes.
func strideOf(axes []*axis, k int) int { return lengths(axes[k+1:]).Size() }

// addAlong adds stride·pos[i] to the elements of at with position i along dim. The shape
// of at is shape.
func addAlong(at []int, shape tape.Shape, dim int, pos []int, stride int) {
	inner := shape[dim+1:].Size()
	for i := range at {
		at[i] += stride * pos[i/inner%shape[dim]]
	}
}

// addTable adds stride times the positions of p to at, an array over axes.
func addTable(at []int, axes []*axis, p place, stride int) {
	for i := range at {
		o, rest := 0, i
		// From the last axis on, o becomes the position in p.at, which is row-major over p.ax.
		step := 1
		for k := len(axes) - 1; k >= 0; k-- {
			pos := rest % axes[k].n
			rest /= axes[k].n
			if slices.Contains(p.ax, axes[k]) {
				o += pos * step
				step *= axes[k].n
			}
		}
		at[i] += stride * p.at[o]
	}
}

// isRun reports whether at ascends in equal steps, so that taking it makes a slice.
func isRun(at []int) bool {
	for i := 1; i < len(at); i++ {
		if d := at[i] - at[i-1]; d < 1 || d != at[1]-at[0] {
			return false
		}
	}
	return true
}
