package tapec

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/tape"
)

// axis is a direction along which values vary because of a loop. It stands for the
// whole range of an index, for some positions of it, or for a list of points of several
// indices. Pointers tell axes apart.
type axis struct {
	n   int // its length
	ord int // values have their axes in the order of ord; a part of an axis has that of the whole
	id  int
}

// binding tells which values an index has along an axis. They are given as ordinals,
// which are 0 … Count-1.
type binding struct {
	id int
	ax *axis // nil if the index has the one value at[0]
	at []int // one ordinal for each position of ax
}

// frames makes axes and bindings, and returns the same ones for equal requests. So all
// tapes have them in common, and a node is lowered once for each scope.
type frames struct {
	axes, binds int // how many were made
	full        map[*model.Index]*binding
	parts       map[string]*axis
	bound       map[boundKey]*binding
	selected    map[selectedKey]*binding
}

type boundKey struct {
	ix *model.Index
	ax int // id of the axis; -1-ordinal for an index with one value
}

type selectedKey struct {
	ix *model.Index
	ax int // id of the axis
	at string
}

func newFrames() *frames {
	return &frames{
		full:     map[*model.Index]*binding{},
		parts:    map[string]*axis{},
		bound:    map[boundKey]*binding{},
		selected: map[selectedKey]*binding{},
	}
}

// ownOrd is the smallest ord of axes that stand for own dimensions of a value. Axes of
// loops come before them.
const ownOrd = 1 << 30

// label returns a new axis for own dimension k of a value.
func (f *frames) label(n, k int) *axis {
	f.axes++
	return &axis{n: n, ord: ownOrd + k, id: f.axes}
}

// whole returns ix over its whole range.
func (f *frames) whole(ix *model.Index) *binding {
	if b, ok := f.full[ix]; ok {
		return b
	}
	f.axes++
	b := f.bind(ix, &axis{n: ix.Count, ord: f.axes, id: f.axes}, func() []int { return count(ix.Count) })
	f.full[ix] = b
	return b
}

// bind returns the binding of ix along ax. It calls at for the ordinals if it makes one.
func (f *frames) bind(ix *model.Index, ax *axis, at func() []int) *binding {
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
func (f *frames) fixed(ix *model.Index, ordinal int) *binding {
	key := boundKey{ix, -1 - ordinal}
	b, ok := f.bound[key]
	if !ok {
		f.binds++
		b = &binding{id: f.binds, at: []int{ordinal}}
		f.bound[key] = b
	}
	return b
}

// choose returns ix at the given ordinals along ax, an axis of another index.
func (f *frames) choose(ix *model.Index, ax *axis, at []int) *binding {
	key := selectedKey{ix, ax.id, fmt.Sprint(at)}
	b, ok := f.selected[key]
	if !ok {
		f.binds++
		b = &binding{id: f.binds, ax: ax, at: at}
		f.selected[key] = b
	}
	return b
}

// part returns the axis of some points of the axes of. Points are numbered row-major.
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

// scope is what the value of a node depends on beside the node itself.
type scope struct {
	bind  map[*model.Index]*binding
	plain bool // inside noevent, where conditions are evaluated instead of held
	left  bool // inside pre, where names stand for left limits
}

// with returns s with indices over their whole ranges.
func (s scope) with(f *frames, indices []*model.Index) scope {
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
func (s scope) at(ix *model.Index, b *binding) scope {
	s.bind = clone(s.bind)
	s.bind[ix] = b
	return s
}

// within returns s with part in place of the axes of, where part has the given points of them.
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

func clone(m map[*model.Index]*binding) map[*model.Index]*binding {
	out := make(map[*model.Index]*binding, len(m)+2)
	for k, v := range m {
		out[k] = v
	}
	return out
}

// axesOf returns the axes along which the given indices vary in s, in order.
func (s scope) axesOf(indices []*model.Index) []*axis {
	var out []*axis
	for _, ix := range indices {
		if b := s.bind[ix]; b.ax != nil && !slices.Contains(out, b.ax) {
			out = append(out, b.ax)
		}
	}
	sortAxes(out)
	return out
}

// key returns a text that tells how indices are bound in s.
func (s scope) key(indices []*model.Index) string {
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

// union returns all axes of the lists, sorted.
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
