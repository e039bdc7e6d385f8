package vm

import (
	"odes.dev/odes/internal/base/machine"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/native"
)

// nestWork is the approximate number of operations on single elements in a record of a nest, and in a part of any step
// that a team can share. Tests make it small.
var nestWork = 1 << 18

// addNest writes the loop of a group as native code. It returns false if that is not possible.
func (c *compiler) addNest(gr *group, local []bool) bool {
	if !machine.Possible || c.native == nil || c.size(gr.values[0]) < nestLeast {
		return false
	}
	b, ok := c.nestOf(gr, local)
	if !ok {
		return false
	}
	width := b.width(c.native.target)
	if width == 0 {
		return false
	}
	b.rows(width)
	if len(b.first)*segmentMean > b.n+segmentMean || !b.near() || !b.inStep(width) {
		return false
	}
	c.clearSums(gr)
	p := b.pointers()
	l := p.loop(b, width)
	at := c.native.Loop(l, c.spillRegister())
	l.Free()
	for _, v := range gr.values {
		c.p.ops++
		c.p.flops += c.size(v) * c.t.Instr(tape.Value(v)).Op.Row().Flops
	}
	alone := len(gr.dots) > 0 || b.n*b.lanes*len(b.lines) < 2*nestWork
	var parts []int // the first step of each
	most := max(nestWork/len(b.lines), segmentMost)
	for from := 0; from < len(b.first); {
		if !alone {
			c.flush()
			parts = append(parts, len(c.p.steps))
		}
		list, elements := []uint32(nil), 0
		for ; from < len(b.first) && (elements == 0 || elements+b.count(from) <= most); from++ {
			list = p.segment(list, b, from)
			elements += b.count(from)
		}
		c.appendNative(elements*len(b.lines)/4, append(list, 0), at)
	}
	c.shareParts(parts)
	return true
}

// width returns how many elements native code takes at once, or 0 if the nest cannot become native
// code. One number for all lanes is repeated for them in a vector, of which the lanes are a part.
func (b *nester) width(t native.Target) int {
	width := t.Widest()
	for _, x := range b.tracks {
		switch {
		case x.kind == lanewise && b.lanes == 4:
			width = 4
		case x.kind == lanewise && b.lanes != width, x.kind == rowwise && b.lanes != 2 && b.lanes != 4 &&
			b.lanes != width:
			return 0
		}
	}
	return width
}

// count returns the elements of a segment, all lanes.
func (b *nester) count(segment int) int {
	end := b.n
	if segment+1 < len(b.first) {
		end = b.first[segment+1]
	}
	return (end - b.first[segment]) * b.lanes
}

// pointers are the addresses that native code keeps in registers. Tracks that are always the same
// distance apart share one.
type pointers struct {
	leader []int // by pointer: the first of its tracks
	of     []int // by track: its pointer
	apart  []int // by track: elements behind the leader
}

func (b *nester) pointers() *pointers {
	p := &pointers{of: make([]int, len(b.tracks)), apart: make([]int, len(b.tracks))}
	for i := range b.tracks {
		t := &b.tracks[i]
		if t.kind == fixed {
			continue
		}
		p.of[i] = -1
		for l, k := range p.leader {
			if b.tracks[k].leads(t) && !p.taken(b, i, l, t.at[0].off-b.tracks[k].at[0].off) {
				p.of[i] = l
				break
			}
		}
		if p.of[i] < 0 {
			p.of[i] = len(p.leader)
			p.leader = append(p.leader, i)
		}
		p.apart[i] = t.at[0].off - b.tracks[p.leader[p.of[i]]].at[0].off
	}
	return p
}

// taken reports whether a track before i has the same pointer and distance, but other patches.
func (p *pointers) taken(b *nester, i, pointer, apart int) bool {
	for k := range i {
		if b.tracks[k].kind != fixed && p.of[k] == pointer && p.apart[k] == apart && b.patches[k] != b.patches[i] {
			return true
		}
	}
	return false
}

// inStep reports whether sums can be made: the vectors of every segment must begin with the first
// partial sum.
func (b *nester) inStep(width int) bool {
	if len(b.gr.dots) == 0 {
		return true
	}
	for _, e := range b.first {
		if e%8 != 0 {
			return false
		}
	}
	return width == 8
}

// near reports whether all places are within reach of their slices.
func (b *nester) near() bool {
	for i := range b.tracks {
		for _, at := range b.tracks[i].at {
			if at.off >= 1<<28 {
				return false
			}
		}
	}
	return true
}

// leads reports whether u is the same distance from t in every segment.
func (t *track) leads(u *track) bool {
	if (t.kind == rowwise) != (u.kind == rowwise) {
		return false
	}
	apart := u.at[0].off - t.at[0].off
	for i, x := range t.at {
		if y := u.at[i]; x.reg != y.reg || y.off-x.off != apart {
			return false
		}
	}
	return apart < 1<<24 && apart > -1<<24
}

// loop returns the nest as a loop of native code.
func (p *pointers) loop(b *nester, width int) *native.Loop {
	l := &native.Loop{
		Body: native.NewBody(), Width: width, Pointers: len(p.leader), Lanes: b.lanes,
		Whole: width == b.lanes,
	}
	for _, k := range p.leader {
		l.Rowwise = append(l.Rowwise, b.tracks[k].kind == rowwise)
	}
	place := func(track int) native.Place {
		t := &b.tracks[track]
		if t.kind == fixed {
			return native.Place{Slice: native.Fixed + t.at[0].reg, Off: t.at[0].off}
		}
		return native.Place{Slice: p.of[track], Off: p.apart[track], Moves: t.kind <= rowwise}
	}
	if b.row > 0 {
		l.Row, l.Patches = b.row, map[native.Place]native.Patch{}
		for i, x := range b.patches {
			l.Patches[place(i)] = native.Patch{
				Head: x.head, Tail: x.tail, Before: place(x.before),
				Behind: place(x.behind),
			}
		}
	}
	values := make([]native.Value, len(b.lines))
	read := func(r ref) native.Value {
		if r >= 0 {
			return values[r]
		}
		switch b.tracks[^r].kind {
		case moving, lanewise:
			return l.Load(native.Wide, place(int(^r)))
		default:
			return l.Splat(native.Wide, place(int(^r)))
		}
	}
	for i := range b.lines {
		x := &b.lines[i]
		var args []native.Value
		for _, r := range x.args[:x.n] {
			args = append(args, read(r))
		}
		switch x.op {
		case tape.Invalid:
			l.Store(place(x.track), args[0])
		case tape.Dot:
			l.Sum(place(x.track), args[0], args[1])
		case tape.Const:
			values[i] = l.Const(native.Wide, x.x)
		case tape.Powi:
			values[i] = l.Apply(powers[x.power], args...)
		default:
			values[i] = l.Apply(simdOps[x.op], args...)
		}
	}
	return l
}

// segment appends the places of the pointers in a segment.
func (p *pointers) segment(list []uint32, b *nester, segment int) []uint32 {
	list = append(list, uint32(b.count(segment)))
	for _, k := range p.leader {
		at := b.tracks[k].at[segment]
		list = append(list, uint32(24*at.reg), uint32(int32(8*at.off)))
	}
	return list
}
