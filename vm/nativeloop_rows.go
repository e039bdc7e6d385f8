package vm

import (
	"slices"

	"odes.dev/odes/tape"
)

// Neighbours on a torus and padding would cut every row of an array into pieces. Native code runs
// through whole rows instead: the few elements at the ends of a row that an operand has in another
// place are inserted into a register.

// patch says that the first head and the last tail elements of each row of a track are taken from
// two other tracks.
type patch struct {
	head, tail     int
	before, behind int // the tracks of the first and of the last elements
}

// patchMost bounds the elements that a patch may have at either end.
const patchMost = 7

// rows makes the rows of the loop's arrays its segments, if that gives fewer segments, and finds
// the patches of the tracks. Vectors have width elements.
func (b *nester) rows(width int) {
	shape := b.c.t.Shape(tape.Value(b.gr.values[0]))
	if b.lanes > 4 || width%b.lanes != 0 || len(shape) == 0 || width != 8 {
		return
	}
	row := shape[len(shape)-1]
	if row < 4 || row*b.lanes > segmentMost || len(b.first) <= b.n/row {
		return
	}
	first := make([]int, 0, b.n/row)
	for e := 0; e < b.n; e += row {
		first = append(first, e)
	}
	last := ((row*b.lanes-1)%width + 1) / b.lanes // elements in the last vector of a row
	old := len(b.tracks)
	b.whole, b.patches = map[int][]place{}, map[int]patch{}
	for i := range old {
		if b.tracks[i].kind == fixed {
			continue
		}
		if !b.patchTrack(i, first, row, min(last, patchMost/b.lanes)) {
			b.tracks = b.tracks[:old]
			b.patches = nil
			return
		}
	}
	for i := range old {
		if t := &b.tracks[i]; t.kind != fixed {
			t.at = b.whole[i]
		}
	}
	b.first, b.row = first, row*b.lanes
}

// piece is a part of a row of a track: n elements side by side.
type piece struct {
	place
	n int
}

// pieces returns the parts of the row that begins at element e.
func (b *nester) pieces(track, e, row int) (list []piece) {
	t := &b.tracks[track]
	k, _ := slices.BinarySearch(b.first, e)
	if k == len(b.first) || b.first[k] > e {
		k--
	}
	for at := e; at < e+row; k++ {
		end := e + row
		if k+1 < len(b.first) {
			end = min(end, b.first[k+1])
		}
		p := piece{t.at[k], end - at}
		each := b.each(t)
		if !b.c.isZero(p.reg) {
			p.off += each * (at - b.first[k])
		}
		at = end
		if n := len(list); n > 0 && list[n-1].reg == p.reg &&
			(list[n-1].off+each*list[n-1].n == p.off || b.c.isZero(p.reg)) {
			list[n-1].n += p.n
			continue
		}
		list = append(list, p)
	}
	return list
}

// each returns how far a track moves for one element of the loop.
func (b *nester) each(t *track) int {
	switch t.kind {
	case moving:
		return b.lanes
	case rowwise:
		return 1
	}
	return 0
}

// steadyRows finds, row by row, the places of a track with one element a segment.
func (b *nester) steadyRows(i int, first []int, row int) bool {
	whole := make([]place, len(first))
	for r, e := range first {
		list := b.pieces(i, e, row)
		if len(list) > 1 {
			return false
		}
		whole[r] = list[0].place
	}
	b.whole[i] = whole
	return true
}

// patchTrack finds, row by row, the places of a track and its patches. It returns false if the
// track cannot be patched.
func (b *nester) patchTrack(i int, first []int, row, tailMost int) bool {
	if k := b.tracks[i].kind; k == steady || k == lanewise {
		return b.steadyRows(i, first, row)
	}
	parts := make([][]piece, len(first))
	head, tail := 0, 0
	main := make([]int, len(first))
	for r, e := range first {
		list := b.pieces(i, e, row)
		for k := range list {
			if list[k].n > list[main[r]].n {
				main[r] = k
			}
		}
		if main[r] > 1 || len(list)-main[r] > 2 {
			return false
		}
		if main[r] == 1 {
			head = max(head, list[0].n)
		}
		if main[r] < len(list)-1 {
			tail = max(tail, list[main[r]+1].n)
		}
		parts[r] = list
	}
	each := b.each(&b.tracks[i])
	if head*each > patchMost || tail > tailMost || each != b.lanes && head+tail > 0 {
		return false
	}
	whole := make([]place, len(first))
	before, behind := make([]place, len(first)), make([]place, len(first))
	last := (row*b.lanes-1)%8 + 1
	for r, list := range parts {
		m := list[main[r]]
		start := 0
		if main[r] == 1 {
			start = list[0].n
		}
		if b.c.isZero(m.reg) { // there are as many zeros as a row has elements
			b.c.zeroes(row * b.lanes)
			whole[r] = place{m.reg, 0}
		} else {
			whole[r] = place{m.reg, m.off - each*start}
		}
		// A patch covers the end of the row. Without a patch, the elements are those of the row
		// itself.
		before[r], behind[r] = whole[r], place{whole[r].reg, whole[r].off + each*(row-tail)}
		if main[r] == 1 {
			if list[0].n != head {
				return false
			}
			before[r] = list[0].place
		}
		if main[r] < len(list)-1 {
			if list[main[r]+1].n != tail {
				return false
			}
			behind[r] = list[main[r]+1].place
		}
		behind[r].off -= last - each*tail // where the last vector would begin
	}
	b.whole[i] = whole
	if head == 0 && tail == 0 {
		return true
	}
	p := patch{each * head, each * tail, len(b.tracks), len(b.tracks) + 1}
	b.tracks = append(b.tracks, track{kind: steady, at: before}, track{kind: steady, at: behind})
	b.patches[i] = p
	return true
}

// isZero reports whether reg is the register of zeros.
func (c *compiler) isZero(reg int) bool { return reg == c.nothing && c.nothing > 0 }
