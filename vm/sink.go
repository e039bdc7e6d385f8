package vm

import (
	"slices"

	"odes.dev/odes/tape"
)

// sink moves instructions on long arrays from the loop that could run them first to the later loop
// that alone reads their results, where that leaves fewer whole arrays between the loops. A
// transposed stencil then stores only the array whose neighbours are read.
func (sc *scheduler) sink() {
	long := 0
	for i := range sc.groups {
		if gr := &sc.groups[i]; gr.loop && sc.size(gr.values[0]) > stripElements {
			long++
		}
	}
	if long < 2 {
		return
	}
	readers := sc.readers()
	for g := len(sc.groups) - 1; g >= 0; g-- {
		gr := &sc.groups[g]
		if !gr.loop || len(gr.values) == 0 || sc.size(gr.values[0]) <= stripElements {
			continue
		}
		for h := len(sc.groups) - 1; h > g && len(gr.values) > 0; h-- {
			if to := &sc.groups[h]; to.loop && len(to.values) > 0 && sc.size(to.values[0]) == sc.size(gr.values[0]) &&
				sc.lane[to.values[0]] == sc.lane[gr.values[0]] {
				sc.sinkInto(g, h, readers)
			}
		}
	}
	sc.groups = slices.DeleteFunc(sc.groups, func(gr group) bool { return len(gr.values) == 0 })
	sc.enumerate()
}

// reading is a value whose instruction reads a root, or -1 for an output. The field whole says that
// it reads element i of the root for its own element i.
type reading struct {
	value int
	whole bool
}

// readers lists the readings of each root.
func (sc *scheduler) readers() map[int][]reading {
	out := map[int][]reading{}
	for _, gr := range sc.groups {
		for _, v := range gr.values {
			for k := range sc.t.Instr(tape.Value(v)).Args {
				w := sc.operandView(v, k)
				out[w.root] = append(out[w.root], reading{v, gr.loop && sc.aligned(v, k) && sc.whole(w)})
			}
		}
	}
	for _, o := range sc.t.Outputs {
		r := sc.where[o.Value].root
		out[r] = append(out[r], reading{value: -1})
	}
	return out
}

// sinkInto moves the values of loop g that only loop h and groups behind it read to h, if fewer
// arrays are read and written then.
func (sc *scheduler) sinkInto(g, h int, readers map[int][]reading) {
	from, to := &sc.groups[g], &sc.groups[h]
	sunk := map[int]bool{}
	for i := len(from.values) - 1; i >= 0; i-- {
		v := from.values[i]
		sunk[v] = true
		for _, r := range readers[v] {
			if r.value < 0 || !sunk[r.value] && (sc.in[r.value] < h || sc.in[r.value] == h && !r.whole) {
				sunk[v] = false
			}
		}
	}
	var stay, move []int
	for _, v := range from.values {
		if sunk[v] {
			move = append(move, v)
		} else {
			stay = append(stay, v)
		}
	}
	if len(move) == 0 {
		return
	}
	both := slices.Concat(move, to.values)
	before := sc.traffic(from.values, readers) + sc.traffic(to.values, readers)
	if sc.traffic(stay, readers)+sc.traffic(both, readers) >= before {
		return
	}
	for _, v := range move {
		sc.in[v] = h
	}
	from.values, to.values = stay, both
}

// traffic counts the arrays that a loop of these values reads and writes.
func (sc *scheduler) traffic(values []int, readers map[int][]reading) int {
	inside := map[int]bool{}
	for _, v := range values {
		inside[v] = true
	}
	read, n := map[int]bool{}, 0
	for _, v := range values {
		for _, r := range sc.reads(v) {
			if !inside[r] && !read[r] && 2*sc.size(r) > sc.size(v) {
				read[r] = true
				n++
			}
		}
		for _, r := range readers[v] {
			if r.value < 0 || !inside[r.value] {
				n++
				break
			}
		}
	}
	return n
}
