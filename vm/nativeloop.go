package vm

import (
	"fmt"
	"math"

	"odes.dev/odes/tape"
)

// A long loop can become native code when the program is compiled. The code runs all instructions
// of the loop for one vector of elements at a time, whose values stay in registers. The elements
// are cut into segments, in each of which every operand stands side by side or is one element. So
// neighbours on a torus, parts of rows and padding are read where they are.

// nest is a loop that becomes native code.
type nest struct {
	n      int   // elements, lanes not counted
	lanes  int   // lanes of each element
	first  []int // the elements that segments begin with
	tracks []track
	lines  []line

	row     int           // elements of every segment if the tracks are patched; else 0
	patches map[int]patch // by track
}

// track says where an operand or a result is, segment by segment.
type track struct {
	kind trackKind
	at   []place // by segment; one entry if the track is fixed
}

type trackKind uint8

const (
	moving   trackKind = iota // its elements, all lanes, follow each other
	rowwise                   // one number for all lanes, and these numbers follow each other
	lanewise                  // the lanes of one element, for all of a segment
	steady                    // one number for all of a segment
	fixed                     // one number for all segments
)

// place is an element of a register.
type place struct{ reg, off int }

// line is an instruction of a nest: an operation, the store of a value, or a sum.
type line struct {
	op    tape.Op // Const: the number; Invalid: store args[0] to track; Dot: add to the sums in track
	power int
	x     float64
	args  [3]ref
	n     int // number of args
	track int
}

// ref is an operand: the result of a line, or ^i for track i.
type ref int

// Bounds of loops that become native code.
const (
	segmentMost = 1 << 12 // elements of the longest segment
	segmentMean = 3       // elements of segments, on average at least
)

// nester builds a nest.
type nester struct {
	*nest
	c       *compiler
	gr      *group
	local   []bool
	lineOf  map[int]ref    // by value: the line that computes it
	known   map[string]ref // operands
	numbers map[uint64]ref
	lists   [][]stretch // of the tracks that are read; nil for results
	roots   []int       // by track: the root whose elements it holds
	results []result
	whole   map[int][]place // by track: where the rows of the loop's arrays begin
}

// nestOf returns the loop of a group as a nest. The result ok is false if it cannot be one.
func (c *compiler) nestOf(gr *group, local []bool) (b *nester, ok bool) {
	v := gr.values[0]
	b = &nester{
		nest: &nest{n: c.t.Shape(tape.Value(v)).Size(), lanes: c.width(v)},
		c:    c, gr: gr, local: local, lineOf: map[int]ref{}, known: map[string]ref{}, numbers: map[uint64]ref{},
	}
	for _, v := range gr.values {
		in := c.t.Instr(tape.Value(v))
		l := line{op: in.Op, power: in.Attr.Power, n: len(in.Args)}
		if _, ok := nativeOp(in); !ok {
			return nil, false
		}
		for k := range in.Args {
			if l.args[k], ok = b.operand(v, k); !ok {
				return nil, false
			}
		}
		y := b.add(l)
		b.lineOf[v] = y
		if !local[v] {
			b.store(y, c.reg[v], c.base[v])
		}
		for _, i := range c.joining[v] {
			at := c.p.outputs[i].place
			t := b.result(at.Vector, at.Offset)
			sum := b.add(line{op: tape.Add, n: 2, args: [3]ref{^ref(t), y}})
			b.add(line{args: [3]ref{sum}, n: 1, track: t})
		}
	}
	if !b.sums() {
		return nil, false
	}
	b.segments()
	return b, true
}

// operand returns operand k of v.
func (b *nester) operand(v, k int) (ref, bool) {
	c := b.c
	w := c.operandView(v, k)
	if r, ok := b.lineOf[w.root]; ok {
		return r, true
	}
	if in := c.t.Instr(tape.Value(w.root)); in != nil && in.Op == tape.Const && w.single() {
		return b.number(in.Attr.Data[min(w.off, len(in.Attr.Data)-1)]), true
	}
	key := fmt.Sprint(w.root, w.off, w.shape, w.strides, w.pad, w.index)
	if r, ok := b.known[key]; ok {
		return r, true
	}
	list, ok := w.stretches(max(b.n/segmentMean, 1))
	if !ok {
		return 0, false
	}
	r := ^ref(len(b.tracks))
	b.known[key] = r
	t := track{kind: kindOf(list, c.lane[w.root], b.lanes)}
	if t.kind == moving || t.kind == rowwise {
		list = singles(list, b.n)
	}
	b.tracks = append(b.tracks, t)
	b.lists = append(b.lists, list)
	b.roots = append(b.roots, w.root)
	return r, true
}

// kindOf returns the kind of a track with the given stretches.
func kindOf(list []stretch, lane bool, lanes int) trackKind {
	one := true
	for _, s := range list {
		one = one && s.kind != along
	}
	switch {
	case one && lanes > 1 && lane:
		return lanewise
	case one && len(list) == 1:
		return fixed
	case one:
		return steady
	case lanes > 1 && !lane:
		return rowwise
	}
	return moving
}

// singles splits stretches of one repeated element into stretches of one element each.
func singles(list []stretch, n int) []stretch {
	var out []stretch
	for i, s := range list {
		out = append(out, s)
		if s.kind != same {
			continue
		}
		out[len(out)-1].kind = along
		end := n
		if i+1 < len(list) {
			end = list[i+1].first
		}
		for e := s.first + 1; e < end; e++ {
			out = append(out, stretch{e, s.at, along})
		}
	}
	return out
}

// number returns a constant.
func (b *nester) number(x float64) ref {
	bits := math.Float64bits(x)
	r, ok := b.numbers[bits]
	if !ok {
		r = b.add(line{op: tape.Const, x: x})
		b.numbers[bits] = r
	}
	return r
}

func (b *nester) add(l line) ref {
	b.lines = append(b.lines, l)
	return ref(len(b.lines) - 1)
}

// store stores a value at element at of a register.
func (b *nester) store(x ref, reg, at int) {
	b.add(line{args: [3]ref{x}, n: 1, track: b.result(reg, at)})
}

// result returns the track of a result whose elements begin at element at of a register.
func (b *nester) result(reg, at int) int {
	o := b.c.inFile(reg, at)
	b.results = append(b.results, result{len(b.tracks), place{o.reg, o.off}})
	b.tracks = append(b.tracks, track{})
	b.lists = append(b.lists, nil)
	b.roots = append(b.roots, -1)
	return len(b.tracks) - 1
}

// result is a track that is stored to, and where it begins.
type result struct {
	track int
	place
}

// segments cuts the loop into segments and finds the places of all tracks in each.
func (b *nester) segments() {
	b.first = cut(b.n, segmentMost/b.lanes, b.lists)
	for _, r := range b.results {
		at := make([]place, len(b.first))
		for i, e := range b.first {
			at[i] = place{r.reg, r.off + e*b.lanes}
		}
		b.tracks[r.track].at = at
	}
	for t, list := range b.lists {
		if list != nil {
			b.tracks[t].at = b.places(list, b.roots[t])
		}
	}
}

// places returns where the stretches of a root's elements are, by segment.
func (b *nester) places(list []stretch, root int) []place {
	c, at := b.c, make([]place, len(b.first))
	width := c.width(root)
	k := 0
	for i, e := range b.first {
		for k+1 < len(list) && list[k+1].first <= e {
			k++
		}
		s := list[k]
		switch s.kind {
		case zeros:
			end := b.n
			if i+1 < len(b.first) {
				end = b.first[i+1]
			}
			at[i] = place{c.zeroes((end - e) * b.lanes), 0}
			continue
		case along:
			s.at += e - s.first
		}
		o := c.inFile(c.register(root), c.base[root]+s.at*width)
		at[i] = place{o.reg, o.off}
	}
	return at
}

// zeroes returns a register of at least n zeros. A vector of zeros stands before and behind them,
// because loads of a part of a vector reach there. A load whose unused part lies in a page that is
// not mapped takes two hundred times as long.
func (c *compiler) zeroes(n int) int {
	if c.nothing == 0 {
		c.nothing = c.newRegister(register{kind: constant})
	}
	r := &c.p.regs[c.nothing]
	if n > len(r.data) {
		r.data = make([]float64, n+16)[8 : n+8]
	}
	return c.nothing
}
