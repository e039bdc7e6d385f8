package vm

import (
	"slices"

	"odes.dev/odes/tape"
)

// storage says where the elements of the values of a tape are: which values are stored as arrays, and which are views
// of those.
type storage struct {
	t     *tape.Tape
	lanes int

	perLane []bool // by value: it has an element for each lane
	lane    []bool // perLane, but false for all values in a program of one lane
	needed  []bool
	where   []view // by value
	fold    []bool // by value: it is a root that must be computed or copied
	splat   []bool // by value: a constant that is kept as one element
	read    []int  // what reads returned last
}

func newStorage(t *tape.Tape, lanes int) storage {
	n := t.Values()
	st := storage{
		t: t, lanes: lanes, lane: tape.PerLane(t), needed: tape.Needed(t),
		where: make([]view, n), fold: make([]bool, n), splat: make([]bool, n),
	}
	st.perLane = st.lane
	if lanes == 1 { // lanes make no difference to the layout
		st.lane = make([]bool, n)
	}
	return st
}

// width returns the lanes of a value: 1 if it is shared.
func (st *storage) width(v int) int {
	if st.lane[v] {
		return st.lanes
	}
	return 1
}

// size returns the elements of a value, all lanes.
func (st *storage) size(v int) int { return st.t.Shape(tape.Value(v)).Size() * st.width(v) }

// elementwise reports whether v is computed by an elementwise instruction.
func (st *storage) elementwise(v int) bool {
	in := st.t.Instr(tape.Value(v))
	return in != nil && in.Op.Row().Elementwise()
}

// views sets where the elements of each needed value are.
func (st *storage) views() {
	t := st.t
	contiguous := make([]bool, t.Values()) // by value: an instruction needs it contiguous
	for i := range t.Instrs {
		in := &t.Instrs[i]
		if !st.needed[len(t.Inputs)+i] || in.Op.Row().Elementwise() {
			continue
		}
		for _, a := range in.Args {
			switch in.Op {
			case tape.Slice, tape.Transpose, tape.Broadcast, tape.Reshape:
			case tape.Pad:
				continue
			default:
				contiguous[a] = true
			}
		}
	}
	st.plain(contiguous)
	for i := range t.Inputs {
		st.where[i] = own(i, t.Inputs[i].Shape)
	}
	for i := range t.Instrs {
		v := len(t.Inputs) + i
		if !st.needed[v] {
			continue
		}
		in := &t.Instrs[i]
		w, ok := st.viewOf(v, in, contiguous[v])
		if ok && contiguous[v] && !w.dense() {
			ok = false
		}
		if !ok {
			w = own(v, in.Shape)
			st.fold[v] = in.Op != tape.Const
		}
		st.where[v] = w
	}
}

// plain marks the Pads, and the Takes of irregular positions, that must be stored as arrays: all
// but those that only elementwise instructions of the same shape read.
func (st *storage) plain(contiguous []bool) {
	t := st.t
	lazy := func(v tape.Value) bool {
		in := t.Instr(v)
		if in == nil || in.Op != tape.Take {
			return in != nil && in.Op == tape.Pad
		}
		_, regular := progression(in.Attr.Index)
		return !regular
	}
	for _, o := range t.Outputs {
		if lazy(o.Value) {
			contiguous[o.Value] = true
		}
	}
	for i := range t.Instrs {
		in := &t.Instrs[i]
		if !st.needed[len(t.Inputs)+i] {
			continue
		}
		for _, a := range in.Args {
			if lazy(a) && !(in.Op.Row().Elementwise() && in.Shape.Equal(t.Shape(a))) {
				contiguous[a] = true
			}
		}
	}
}

// viewOf returns v as a view of its operand; ok is false where v is not one.
func (st *storage) viewOf(v int, in *tape.Instr, contiguous bool) (view, bool) {
	if in.Op == tape.Const {
		if len(in.Attr.Data) == 1 && in.Shape.Size() > 1 && !contiguous {
			st.splat[v] = true
			return view{root: v, shape: in.Shape, strides: make([]int, len(in.Shape))}, true
		}
		return view{}, false
	}
	if len(in.Args) == 0 {
		return view{}, false
	}
	a := st.where[in.Args[0]]
	switch in.Op {
	case tape.Slice:
		return a.window(in.Shape, &in.Attr), true
	case tape.Transpose:
		w := view{root: a.root, off: a.off, shape: in.Shape, strides: make([]int, len(in.Shape))}
		for k, p := range in.Attr.Perm {
			w.strides[k] = a.strides[p]
		}
		return w, true
	case tape.Broadcast:
		return a.stretch(in.Shape), true
	case tape.Reshape:
		return a.reshape(in.Shape)
	case tape.Take:
		if !a.dense() {
			break
		}
		w, ok := a.take(in.Shape, in.Attr.Axis, in.Attr.Index)
		if !ok && !contiguous {
			return a.gathered(in.Shape, &in.Attr), true
		}
		return w, ok
	case tape.Pad:
		if len(in.Shape) == 0 {
			return a, true
		}
		if !contiguous {
			return a.padded(in.Shape, &in.Attr), true
		}
	}
	return view{}, false
}

// whole reports whether view w is all of its root, in place: element i of one is element i of the
// other.
func (st *storage) whole(w view) bool {
	return w.off == 0 && !st.splat[w.root] && w.dense() && w.shape.Size() == st.t.Shape(tape.Value(w.root)).Size()
}

// operandView returns where operand k of v's instruction is. For an elementwise instruction it is
// stretched to the result's shape.
func (st *storage) operandView(v, k int) view {
	in := st.t.Instr(tape.Value(v))
	w := st.where[in.Args[k]]
	if in.Op.Row().Elementwise() && len(in.Shape)+len(w.shape) > 0 {
		return w.stretch(in.Shape)
	}
	return w
}

// operandRoot returns the root of the view that operandView returns.
func (st *storage) operandRoot(v, k int) int { return st.where[st.t.Instr(tape.Value(v)).Args[k]].root }

// aligned reports whether operand k of elementwise v has an array element i for each element i of
// the result.
func (st *storage) aligned(v, k int) bool {
	w := st.operandView(v, k)
	return w.dense() && !st.splat[w.root] && st.lane[w.root] == st.lane[v]
}

// reads lists the roots that the step of v reads. The next call overwrites the list.
func (st *storage) reads(v int) []int {
	out := st.read[:0]
	for k := range st.t.Instr(tape.Value(v)).Args {
		if r := st.operandRoot(v, k); !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	st.read = out
	return out
}

// reader returns the reader that lays out w for the given number of lanes.
func (st *storage) reader(w view, lanes int) reader {
	switch lane := st.lane[w.root]; {
	case w.pad != nil:
		return newPadReader(w, lanes, lane)
	case w.index != nil:
		return newIndexReader(w, lanes, lane)
	default:
		r := newWalker(w, lanes, lane)
		return &r
	}
}

// args lists the roots of v's operands, one entry each.
func (st *storage) args(v int) []int {
	var out []int
	for k := range st.t.Instr(tape.Value(v)).Args {
		out = append(out, st.operandRoot(v, k))
	}
	return out
}

// readsRows reports whether a loop reads parts of rows of larger arrays.
func (st *storage) readsRows(gr *group) bool {
	for _, v := range gr.values {
		for k := range st.t.Instr(tape.Value(v)).Args {
			w := st.operandView(v, k)
			if n := len(w.strides); !w.lazy() && !w.dense() && !w.single() && w.strides[n-1] == 1 &&
				st.lane[w.root] == st.lane[v] {
				return true
			}
		}
	}
	return false
}
