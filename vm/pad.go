package vm

import "odes.dev/odes/tape"

// padding makes a view that is padded with zeros. The strides of the view are those of the operand
// of a Pad, whose element i along axis k stands at start[k] + i·step[k]. Only elementwise
// instructions of the Pad's own shape read such views. So the adjoint of a stencil sums its shifted
// parts without an array for each.
type padding struct {
	inner tape.Shape // shape of the operand
	start []int
	step  []int // nil means 1
}

// padded returns v, the operand of a Pad, as the Pad's result.
func (v view) padded(shape tape.Shape, a *tape.Attr) view {
	return view{v.root, v.off, shape, v.strides, &padding{v.shape, a.Start, a.Step}, nil}
}

// padReader lays out elements of a padded view.
type padReader struct {
	runs    walker // reads all lanes of an element
	off     int
	shape   tape.Shape
	strides []int
	padding
}

func newPadReader(v view, lanes int, srcLane bool) *padReader {
	r := &padReader{walker{lanes: lanes, srcLane: srcLane}, v.off, v.shape, v.strides, *v.pad}
	if r.step == nil {
		r.step = make([]int, len(r.shape))
		for k := range r.step {
			r.step[k] = 1
		}
	}
	r.merge()
	return r
}

// merge joins trailing axes that are wholly the operand's into one, so that runs are long.
func (r *padReader) merge() {
	for k := len(r.shape) - 2; k >= 0; k-- {
		n := r.shape[k+1]
		if r.start[k+1] != 0 || r.inner[k+1] != n || r.strides[k] != n*r.strides[k+1] || r.step[k+1] != 1 ||
			r.step[k] != 1 {
			return
		}
		last := func(x []int, v int) []int { return append(append([]int(nil), x[:k]...), v) }
		r.shape, r.inner = last(r.shape, r.shape[k]*n), last(r.inner, r.inner[k]*n)
		r.start, r.step = last(r.start, r.start[k]*n), last(r.step, 1)
		r.strides = last(r.strides, r.strides[k+1])
	}
}

// read writes the elements from first on to the dense dst.
func (r *padReader) read(dst, src []float64, first int) {
	clear(dst)
	lanes := r.runs.lanes
	last := len(r.shape) - 1
	n := r.shape[last]
	row, j := first/n, first%n
	for count := len(dst) / lanes; count > 0; row++ {
		run := min(n-j, count)
		if at, ok := r.row(row); ok {
			r.part(dst, src, at, j, run)
		}
		dst = dst[run*lanes:]
		count -= run
		j = 0
	}
}

// direct implements reader for parts of a row that are wholly the operand's.
func (r *padReader) direct(first, n int) (int, bool) {
	last := len(r.shape) - 1
	lanes := r.runs.lanes
	j := first%r.shape[last] - r.start[last]
	count := n / lanes
	if r.step[last] != 1 || r.strides[last] != 1 || lanes > 1 && !r.runs.srcLane || j < 0 || j+count > r.inner[last] {
		return 0, false
	}
	at, ok := r.row(first / r.shape[last])
	if !ok {
		return 0, false
	}
	return (at + j) * lanes, true
}

// row returns where the row-th run along the last axis begins in the operand. The result ok is
// false if the run is all padding.
func (r *padReader) row(row int) (at int, ok bool) {
	at = r.off
	for k := len(r.shape) - 2; k >= 0; k-- {
		i := row%r.shape[k] - r.start[k]
		row /= r.shape[k]
		if i < 0 || i%r.step[k] != 0 || i/r.step[k] >= r.inner[k] {
			return 0, false
		}
		at += i / r.step[k] * r.strides[k]
	}
	return at, true
}

// part writes the operand's elements that stand at j … j+run-1 of a row.
func (r *padReader) part(dst, src []float64, at, j, run int) {
	last := len(r.shape) - 1
	start, step, stride, lanes := r.start[last], r.step[last], r.strides[last], r.runs.lanes
	lo := max((j-start+step-1)/step, 0) // the first operand element at j or behind it
	if j < start {
		lo = 0
	}
	hi := min(r.inner[last], (j+run-1-start)/step+1)
	if j+run-1 < start || lo >= hi {
		return
	}
	to := dst[(start+lo*step-j)*lanes:]
	if step == 1 {
		r.runs.readRun(to[:(hi-lo)*lanes], src, at+lo*stride, hi-lo, stride)
		return
	}
	for i := lo; i < hi; i++ {
		r.runs.readRun(to[:lanes], src, at+i*stride, 1, 1)
		if i+1 < hi {
			to = to[step*lanes:]
		}
	}
}
