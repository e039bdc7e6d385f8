package tapec

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"odes.dev/odes/tape"
	"odes.dev/odes/typecheck"
)

// axis is a direction along which a value varies because of a loop: the whole
// range of an index, some positions of it, or a list of points of several
// indices. Identity is by pointer.
type axis struct {
	n   int
	ord int // axes of a value stand in the order of ord; a part of an axis has the ord of the whole
	id  int
}

// binding says what values an index takes along an axis.
type binding struct {
	id int
	ax *axis // nil: the index is fixed at at[0]
	at []int // ordinals of the index's values, 0 … Count-1, one per position of ax
}

// frames hands out axes and bindings, the same ones for the same request, so
// that tapes agree on them and a node is lowered once for equal circumstances.
type frames struct {
	axes, binds int
	full        map[*typecheck.Index]*binding
	parts       map[string]*axis
	bound       map[boundKey]*binding
	elsewhere   map[chosenKey]*binding
}

type boundKey struct {
	ix *typecheck.Index
	ax int // id of the axis; -1-ordinal for a fixed index
}

func newFrames() *frames {
	return &frames{
		full:  map[*typecheck.Index]*binding{},
		parts: map[string]*axis{},
		bound: map[boundKey]*binding{},

		elsewhere: map[chosenKey]*binding{},
	}
}

// ownOrd is the ord of the first of the labels that stand for a value's own
// dimensions; axes of loops come before.
const ownOrd = 1 << 30

// label returns a new axis for dimension k of a value's own.
func (f *frames) label(n, k int) *axis {
	f.axes++
	return &axis{n: n, ord: ownOrd + k, id: f.axes}
}

// whole returns ix over its whole range.
func (f *frames) whole(ix *typecheck.Index) *binding {
	if b, ok := f.full[ix]; ok {
		return b
	}
	f.axes++
	b := f.bind(ix, &axis{n: ix.Count, ord: f.axes, id: f.axes}, func() []int { return count(ix.Count) })
	f.full[ix] = b
	return b
}

// bind returns the binding of ix along ax; at is asked for the ordinals when it is new.
func (f *frames) bind(ix *typecheck.Index, ax *axis, at func() []int) *binding {
	key := boundKey{ix, ax.id}
	b, ok := f.bound[key]
	if !ok {
		f.binds++
		b = &binding{id: f.binds, ax: ax, at: at()}
		f.bound[key] = b
	}
	return b
}

// fixed returns ix at one value.
func (f *frames) fixed(ix *typecheck.Index, ordinal int) *binding {
	key := boundKey{ix, -1 - ordinal}
	b, ok := f.bound[key]
	if !ok {
		f.binds++
		b = &binding{id: f.binds, at: []int{ordinal}}
		f.bound[key] = b
	}
	return b
}

// part returns the axis of the given positions of the axes of: points of them
// all, numbered row-major.
func (f *frames) part(of []*axis, points []int) *axis {
	key := make([]byte, 0, 8*(len(of)+len(points))+1)
	for _, a := range of {
		key = binary.AppendUvarint(key, uint64(a.id))
	}
	key = append(key, 0)
	for _, p := range points {
		key = binary.AppendUvarint(key, uint64(p))
	}
	a, ok := f.parts[string(key)]
	if !ok {
		f.axes++
		a = &axis{n: len(points), ord: of[0].ord, id: f.axes}
		f.parts[string(key)] = a
	}
	return a
}

// scope is the circumstances in which a node is lowered.
type scope struct {
	bind  map[*typecheck.Index]*binding
	plain bool // inside noevent: conditions are taken as they stand
	left  bool // inside pre: left limits
}

// with returns s with the indices over their whole ranges.
func (s scope) with(f *frames, indices []*typecheck.Index) scope {
	if len(indices) == 0 {
		return s
	}
	s.bind = clone(s.bind)
	for _, ix := range indices {
		s.bind[ix] = f.whole(ix)
	}
	return s
}

// at returns s with ix bound as b says.
func (s scope) at(ix *typecheck.Index, b *binding) scope {
	s.bind = clone(s.bind)
	s.bind[ix] = b
	return s
}

// within returns s with the axes of replaced by part, which holds the given points of them.
func (s scope) within(f *frames, of []*axis, part *axis, points []int) scope {
	s.bind = clone(s.bind)
	for ix, b := range s.bind {
		k := slices.Index(of, b.ax)
		if b.ax == nil || k < 0 {
			continue
		}
		stride := 1
		for _, a := range of[k+1:] {
			stride *= a.n
		}
		s.bind[ix] = f.bind(ix, part, func() []int {
			at := make([]int, len(points))
			for m, p := range points {
				at[m] = b.at[p/stride%b.ax.n]
			}
			return at
		})
	}
	return s
}

func clone(m map[*typecheck.Index]*binding) map[*typecheck.Index]*binding {
	out := make(map[*typecheck.Index]*binding, len(m)+2)
	for k, v := range m {
		out[k] = v
	}
	return out
}

// axesOf returns the axes along which the given indices vary in s, in order.
func (s scope) axesOf(indices []*typecheck.Index) []*axis {
	var out []*axis
	for _, ix := range indices {
		if b := s.bind[ix]; b.ax != nil && !slices.Contains(out, b.ax) {
			out = append(out, b.ax)
		}
	}
	sortAxes(out)
	return out
}

// key names how the indices are bound in s.
func (s scope) key(indices []*typecheck.Index) string {
	if len(indices) == 0 {
		return ""
	}
	var buf []byte
	for _, ix := range indices {
		buf = strconv.AppendInt(buf, int64(s.bind[ix].id), 36)
		buf = append(buf, ' ')
	}
	return string(buf)
}

func sortAxes(axes []*axis) {
	slices.SortFunc(axes, func(a, b *axis) int {
		return cmp.Or(cmp.Compare(a.ord, b.ord), cmp.Compare(a.id, b.id))
	})
}

// union returns all axes of the lists, in order.
func union(lists ...[]*axis) []*axis {
	var out []*axis
	for _, l := range lists {
		for _, a := range l {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	sortAxes(out)
	return out
}

// without returns the axes that are not in drop.
func without(axes []*axis, drop ...*axis) []*axis {
	var out []*axis
	for _, a := range axes {
		if !slices.Contains(drop, a) {
			out = append(out, a)
		}
	}
	return out
}

// lengths returns the shape of an array over axes.
func lengths(axes []*axis) tape.Shape {
	s := make(tape.Shape, len(axes))
	for i, a := range axes {
		s[i] = a.n
	}
	return s
}

// join returns the shape s followed by t.
func join(s, t tape.Shape) tape.Shape { return slices.Concat(s, t) }

// count returns 0, 1, … n-1.
func count(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// chosen returns ix at the given ordinals along ax, an axis of other loops.
func (f *frames) chosen(ix *typecheck.Index, ax *axis, at []int) *binding {
	k := chosenKey{ix, ax.id, fmt.Sprint(at)}
	b, ok := f.elsewhere[k]
	if !ok {
		f.binds++
		b = &binding{id: f.binds, ax: ax, at: at}
		f.elsewhere[k] = b
	}
	return b
}

type chosenKey struct {
	ix *typecheck.Index
	ax int
	at string
}
