package vm

import (
	"odes.dev/odes/tape"
)

// view says where a value's elements are. Element (i, j, …) of the value is element off +
// i·strides[0] + j·strides[1] + … of its root, the value that owns storage. A root's own view is
// dense with off 0. Slices, transposes, broadcasts and most reshapes are views of their operand and
// cost nothing.
type view struct {
	root    int
	off     int
	shape   tape.Shape
	strides []int
	pad     *padding // not nil: the elements are surrounded by zeros
	index   *gather  // not nil: the elements are picked along an axis
}

func own(root int, s tape.Shape) view { return view{root: root, shape: s, strides: s.Strides()} }

// lazy reports whether the elements do not have regular places in the root.
func (v view) lazy() bool { return v.pad != nil || v.index != nil }

// dense reports whether the elements follow each other in row-major order.
func (v view) dense() bool {
	if v.lazy() {
		return false
	}
	n := 1
	for k := len(v.shape) - 1; k >= 0; k-- {
		if v.shape[k] != 1 {
			if v.strides[k] != n {
				return false
			}
			n *= v.shape[k]
		}
	}
	return true
}

// single reports whether all elements are the same one.
func (v view) single() bool {
	if v.lazy() {
		return false
	}
	for k, d := range v.shape {
		if d != 1 && v.strides[k] != 0 {
			return false
		}
	}
	return true
}

// stretch returns v with axes of length 1 stretched to shape, or a scalar filled.
func (v view) stretch(shape tape.Shape) view {
	if v.lazy() { // it has this shape already
		return v
	}
	st := make([]int, len(shape))
	if len(v.shape) == len(shape) {
		for k := range st {
			if v.shape[k] != 1 {
				st[k] = v.strides[k]
			}
		}
	}
	return view{root: v.root, off: v.off, shape: shape, strides: st}
}

// window returns the slice of v that attribute a describes.
func (v view) window(shape tape.Shape, a *tape.Attr) view {
	w := view{root: v.root, off: v.off, shape: shape, strides: make([]int, len(shape))}
	for k, st := range v.strides {
		w.off += a.Start[k] * st
		w.strides[k] = st
		if a.Step != nil {
			w.strides[k] *= a.Step[k]
		}
	}
	return w
}

// reshape returns v in another shape. The result ok is false if the elements are not dense.
func (v view) reshape(shape tape.Shape) (w view, ok bool) {
	if !v.dense() {
		if v.single() { // all elements are the same one, so any arrangement will do
			return view{root: v.root, off: v.off, shape: shape, strides: make([]int, len(shape))}, true
		}
		return view{}, false
	}
	return view{root: v.root, off: v.off, shape: shape, strides: shape.Strides()}, true
}

// take returns the elements of v at the positions index along axis. The result ok is false if the
// positions are not an arithmetic progression.
func (v view) take(shape tape.Shape, axis int, index []int) (view, bool) {
	step, ok := progression(index)
	if !ok {
		return view{}, false
	}
	w := view{
		root: v.root, off: v.off + index[0]*v.strides[axis], shape: shape,
		strides: append([]int(nil), v.strides...),
	}
	w.strides[axis] *= step
	return w, true
}

// progression returns the step of an arithmetic progression. The result ok is false if the numbers
// are not one.
func progression(index []int) (step int, ok bool) {
	step = 1
	if len(index) > 1 {
		step = index[1] - index[0]
	}
	for i := 1; i < len(index); i++ {
		if index[i]-index[i-1] != step {
			return 0, false
		}
	}
	return step, true
}

// walker visits the elements of a view in row-major order, run by run along the last axis.
// Neighbouring axes are merged where possible, so that runs are long.
type walker struct {
	off     int
	shape   []int // at least one axis
	strides []int
	lanes   int  // lanes of the dense side
	srcLane bool // the view's root is per lane as well
}

func newWalker(v view, lanes int, srcLane bool) walker {
	w := walker{off: v.off, lanes: lanes, srcLane: srcLane}
	for k, d := range v.shape {
		if d == 1 {
			continue
		}
		if n := len(w.shape); n > 0 && w.strides[n-1] == v.strides[k]*d {
			w.shape[n-1] *= d
			w.strides[n-1] = v.strides[k]
			continue
		}
		w.shape = append(w.shape, d)
		w.strides = append(w.strides, v.strides[k])
	}
	if len(w.shape) == 0 {
		w.shape, w.strides = []int{1}, []int{0}
	}
	return w
}

// read copies the elements of the view in src, from element first on, to the dense dst, which has
// len(dst)/lanes of them. A shared element is repeated for all lanes.
func (w *walker) read(dst, src []float64, first int) {
	w.walk(first, len(dst)/w.lanes, func(at, run, step int) {
		n := run * w.lanes
		w.readRun(dst[:n], src, at, run, step)
		dst = dst[n:]
	})
}

// direct implements reader.
func (w *walker) direct(first, n int) (int, bool) {
	last := len(w.shape) - 1
	if w.strides[last] != 1 || w.lanes > 1 && !w.srcLane || w.shape[last]-first%w.shape[last] < n/w.lanes {
		return 0, false
	}
	at, rem := w.off, first
	for k := last; k >= 0; k-- {
		at += rem % w.shape[k] * w.strides[k]
		rem /= w.shape[k]
	}
	return at * w.lanes, true
}

// walk calls visit for runs of elements. The elements of a run are at, at+step, ….
func (w *walker) walk(first, count int, visit func(at, run, step int)) {
	last := len(w.shape) - 1
	var index [tape.MaxRank]int
	at := w.off
	for k, rem := last, first; k >= 0; k-- {
		index[k] = rem % w.shape[k]
		rem /= w.shape[k]
		if k < last {
			at += index[k] * w.strides[k]
		}
	}
	inner, step, j := w.shape[last], w.strides[last], index[last]
	for count > 0 {
		run := min(inner-j, count)
		visit(at+j*step, run, step)
		count -= run
		j = 0
		for k := last - 1; k >= 0; k-- {
			index[k]++
			at += w.strides[k]
			if index[k] < w.shape[k] {
				break
			}
			at -= w.shape[k] * w.strides[k]
			index[k] = 0
		}
	}
}

func (w *walker) readRun(dst, src []float64, at, run, step int) {
	lanes := w.lanes
	switch {
	case lanes == 1 && step == 1, w.srcLane && step == 1:
		copy(dst, src[at*lanes:])
	case lanes == 1 && step == 0:
		x := src[at]
		for i := range dst {
			dst[i] = x
		}
	case lanes == 1:
		for i := range dst {
			dst[i] = src[at]
			at += step
		}
	case w.srcLane:
		for range run {
			copy(dst[:lanes], src[at*lanes:])
			dst = dst[lanes:]
			at += step
		}
	default:
		for range run {
			x := src[at]
			row := dst[:lanes]
			for l := range row {
				row[l] = x
			}
			dst = dst[lanes:]
			at += step
		}
	}
}

// reader lays out the elements of a view.
type reader interface {
	// read writes the elements from first on, for all lanes, to dst.
	read(dst, src []float64, first int)
	// direct returns where in src the n numbers from element first on stand. The result ok is false
	// if they do not stand side by side.
	direct(first, n int) (at int, ok bool)
}

// position returns the position of element i of the view in its root.
func (v view) position(i int) int {
	at := v.off
	for k := len(v.shape) - 1; k >= 0; k-- {
		if d := v.shape[k]; d > 0 {
			at += i % d * v.strides[k]
			i /= d
		}
	}
	return at
}
