package vm

import "slices"

// stretch is a part of a loop along which an operand's elements stand side by side in their root,
// are one and the same element, or are zeros around an array.
type stretch struct {
	first int // element of the loop, lanes not counted
	at    int // position of that element in the root
	kind  stretchKind
}

type stretchKind uint8

const (
	along stretchKind = iota
	same
	zeros
)

// tracer lists the stretches of an operand, up to a given number.
type tracer struct {
	list []stretch
	next int // the next element
	most int
}

func (t *tracer) full() bool { return len(t.list) > t.most }

// add appends run elements.
func (t *tracer) add(kind stretchKind, at, run int) {
	if run == 0 || t.full() {
		return
	}
	if n := len(t.list); n > 0 {
		s := &t.list[n-1]
		switch {
		case s.kind != kind:
		case kind == zeros, kind == same && s.at == at, kind == along && s.at+t.next-s.first == at:
			t.next += run
			return
		}
	}
	t.list = append(t.list, stretch{t.next, at, kind})
	t.next += run
}

// steps appends run elements that are step apart.
func (t *tracer) steps(at, run, step int) {
	switch step {
	case 1:
		t.add(along, at, run)
	case 0:
		t.add(same, at, run)
	default:
		for i := 0; i < run && !t.full(); i++ {
			t.add(along, at+i*step, 1)
		}
	}
}

// stretches lists the stretches of the elements of the view. The result ok is false if there are more
// than most.
func (v view) stretches(most int) (list []stretch, ok bool) {
	n := v.shape.Size()
	t := tracer{most: most}
	switch {
	case v.pad != nil:
		r := newPadReader(v, 1, true)
		last := len(r.shape) - 1
		for row := 0; t.next < n && !t.full(); row++ {
			at, ok := r.row(row)
			if !ok {
				t.add(zeros, 0, r.shape[last])
				continue
			}
			r.trace(&t, at)
		}
	case v.index != nil:
		r := newIndexReader(v, 1, true)
		for t.next < n && !t.full() {
			at, run := r.locate(t.next)
			t.add(along, at, min(run, n-t.next))
		}
	default:
		r := newWalker(v, 1, true)
		if inner := r.shape[len(r.shape)-1]; n/inner > most {
			return nil, false
		}
		r.walk(0, n, t.steps)
	}
	return t.list, !t.full()
}

// trace appends a run along the last axis whose elements begin at at.
func (r *padReader) trace(t *tracer, at int) {
	last := len(r.shape) - 1
	n, count, step := r.shape[last], r.inner[last], r.step[last]
	t.add(zeros, 0, r.start[last])
	if step == 1 {
		t.steps(at, count, r.strides[last])
		t.add(zeros, 0, n-r.start[last]-count)
		return
	}
	for i := 0; i < count && !t.full(); i++ {
		t.add(along, at+i*r.strides[last], 1)
		if i+1 < count {
			t.add(zeros, 0, step-1)
		}
	}
	t.add(zeros, 0, n-r.start[last]-(count-1)*step-1)
}

// cut returns the first elements of the segments in which each of the lists has one stretch. No
// segment is longer than most.
func cut(n, most int, lists [][]stretch) []int {
	var at []int
	for _, list := range lists {
		for _, s := range list {
			at = append(at, s.first)
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	var out []int
	for i, from := range at {
		to := n
		if i+1 < len(at) {
			to = at[i+1]
		}
		for ; from < to; from += most {
			out = append(out, from)
		}
	}
	return out
}
