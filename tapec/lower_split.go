package tapec

import (
	"slices"

	"odes.dev/odes/tape"
)

// fewClasses bounds how many different rows a condition may have along an axis that is
// cut into parts. Where there are more, the branches go over lists of points.
const fewClasses = 4

// split lowers a choice with a constant condition: branch(true) where mask holds and
// branch(false) for the rest. Neither is computed where it is not taken. The mask is
// row-major over ax.
func (l *lowerer) split(mask []bool, ax []*axis, s scope, own tape.Shape, branch func(then bool, s scope) array) array {
	if !slices.Contains(mask, !mask[0]) {
		x := branch(mask[0], s)
		if len(x.own) < len(own) {
			x = array{v: l.expand(x, x.ax, own), ax: x.ax, own: own}
		}
		return x
	}
	best, classes := -1, [][]int(nil)
	for d := range ax {
		c := rowClasses(mask, lengths(ax), d)
		if c != nil && (best < 0 || len(c) < len(classes)) {
			best, classes = d, c
		}
	}
	if best < 0 {
		return l.points(mask, ax, s, own, branch)
	}
	if len(classes) == 1 { // the mask does not vary along this axis
		return l.split(rowsOf(mask, lengths(ax), best, 0), without(ax, ax[best]), s, own, branch)
	}
	whole := ax[best]
	parts := make([]array, len(classes))
	axes := make([]*axis, len(classes))
	var order []int
	for i, at := range classes {
		axes[i] = l.frames.part([]*axis{whole}, at)
		inner := s.within(l.frames, []*axis{whole}, axes[i], at)
		parts[i] = l.split(rowsOf(mask, lengths(ax), best, at[0]), without(ax, whole), inner, own, branch)
		order = append(order, at...)
	}
	return l.merge(parts, axes, whole, order, own)
}

// rowClasses groups the positions along dim by the values that mask has there. It returns
// nil if there are more than fewClasses groups.
func rowClasses(mask []bool, shape tape.Shape, dim int) [][]int {
	var classes [][]int
	var rows [][]bool
	for i := range shape[dim] {
		row := rowsOf(mask, shape, dim, i)
		k := slices.IndexFunc(rows, func(r []bool) bool { return slices.Equal(r, row) })
		if k < 0 {
			if len(rows) == fewClasses {
				return nil
			}
			k = len(rows)
			rows, classes = append(rows, row), append(classes, nil)
		}
		classes[k] = append(classes[k], i)
	}
	return classes
}

// rowsOf returns the part of mask at position i along dim.
func rowsOf(mask []bool, shape tape.Shape, dim, i int) []bool {
	inner := shape[dim+1:].Size()
	out := make([]bool, 0, len(mask)/shape[dim])
	for at := i * inner; at < len(mask); at += shape[dim] * inner {
		out = append(out, mask[at:at+inner]...)
	}
	return out
}

// merge puts together values along parts of one axis, whole. The positions of whole
// that the parts have, one part after the other, are order.
func (em *emitter) merge(parts []array, axes []*axis, whole *axis, order []int, own tape.Shape) array {
	var ax []*axis
	for i, x := range parts {
		ax = union(ax, without(x.ax, axes[i]))
	}
	ax = union(ax, []*axis{whole})
	dim := slices.Index(ax, whole)
	vs := make([]tape.Value, len(parts))
	for i, x := range parts {
		mine := slices.Clone(ax)
		mine[dim] = axes[i]
		vs[i] = em.expand(x, mine, own)
	}
	v := em.emit().Concat(dim, vs...)
	return array{v: em.reorder(v, dim, order), ax: ax, own: own}
}

// points is split for masks without structure. Each branch goes over the list of points
// where it is taken.
func (l *lowerer) points(
	mask []bool, ax []*axis, s scope, own tape.Shape, branch func(then bool, s scope) array,
) array {
	var parts []array
	var axes []*axis
	var order []int
	for _, then := range []bool{true, false} {
		var at []int
		for i, m := range mask {
			if m == then {
				at = append(at, i)
			}
		}
		list := l.frames.part(ax, at)
		axes = append(axes, list)
		parts = append(parts, branch(then, s.within(l.frames, ax, list, at)))
		order = append(order, at...)
	}
	l.frames.axes++
	all := &axis{n: len(mask), ord: ax[0].ord, id: l.frames.axes}
	x := l.merge(parts, axes, all, order, own)
	dim := slices.Index(x.ax, all)
	split := slices.Concat(x.ax[:dim:dim], ax, x.ax[dim+1:])
	l.deep(len(split) + len(own))
	v := l.reshape(x.v, join(lengths(split), own))
	return l.sorted(array{v: v, ax: split, own: own})
}
