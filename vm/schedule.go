package vm

import (
	"odes.dev/odes/internal/base/machine"
	"odes.dev/odes/tape"
)

// scheduler orders the instructions of a tape in groups, each of which becomes a step.
type scheduler struct {
	storage
	ends   []int // values that parts end with, the first of which comes before the others; nil: there are no parts
	groups []group
	in     []int      // the group that computes a root, by value
	native *assembler // nil: no native code is made
}

// group becomes one step: a single instruction, or elementwise instructions that run as a loop.
type group struct {
	values    []int // the instructions' values in order
	loop      bool
	native    bool // a loop as native code; its values have few elements, of any sizes
	functions bool // elementary functions of few elements, which follow native code

	dots    []int // products of vectors that the loop sums while it runs
	partial []int // registers of their partial sums
}

// look bounds how far ahead schedule looks for instructions to join a loop.
const look = 1000

// schedule orders the computed values. Elementwise instructions over arrays of one size join into a
// loop where nothing between them needs a whole array.
func (sc *scheduler) schedule() {
	n := len(sc.fold)
	const (
		waiting = iota
		member  // of the loop being built
		done
	)
	state := make([]byte, n)
	ready := func(v int, open bool) bool {
		for k := range sc.t.Instr(tape.Value(v)).Args {
			r := sc.operandRoot(v, k)
			switch {
			case !sc.fold[r] || state[r] == done:
			case open && state[r] == member && sc.aligned(v, k) && sc.whole(sc.where[r]) &&
				sc.operandView(v, k).off == 0 && sc.operandView(v, k).shape.Size() == sc.t.Shape(tape.Value(r)).Size():
			default:
				return false
			}
		}
		return true
	}
	for v := 0; v < n; v++ {
		if !sc.fold[v] || state[v] != waiting {
			continue
		}
		// Operands come first in a tape, so the first value that waits is ready.
		if !sc.elementwise(v) {
			sc.groups = append(sc.groups, group{values: []int{v}})
			state[v] = done
			continue
		}
		g := group{loop: true}
		for u := v; u < sc.end(v) && u < v+look; u++ {
			if sc.fold[u] && state[u] == waiting && sc.elementwise(u) && sc.size(u) == sc.size(v) &&
				sc.lane[u] == sc.lane[v] && ready(u, true) {
				g.values = append(g.values, u)
				state[u] = member
			}
		}
		for _, u := range g.values {
			state[u] = done
		}
		sc.groups = append(sc.groups, g)
	}
	sc.in = make([]int, n)
	sc.enumerate()
	sc.sink()
	if machine.Possible && sc.native != nil {
		sc.groupNative()
		sc.separate()
		sc.attachDots()
	}
}

// end returns the value behind the part of v.
func (sc *scheduler) end(v int) int {
	for _, end := range sc.ends {
		if v < end {
			return end
		}
	}
	return len(sc.fold)
}

// enumerate notes which group computes each root.
func (sc *scheduler) enumerate() {
	for i, g := range sc.groups {
		for _, v := range g.values {
			sc.in[v] = i
		}
		for _, v := range g.dots {
			sc.in[v] = i
		}
	}
}

// stripElements is the length of a strip: short enough that a dozen temporaries fit the first-level
// cache, long enough that starting a loop costs little.
const stripElements = 512
