package vm

import (
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/native"
)

// compiler turns a tape into a Program in three passes. The pass views decides which values own
// storage, schedule orders the instructions and groups elementwise ones, and emit allots registers
// and writes the steps.
type compiler struct {
	scheduler
	p       *Program
	block   openBlock
	values  []native.Value // room for those of blocks
	joining map[int][]int  // by root: outputs that are added to their place in its loop
	thread  threader
	file    int            // register that stands for the whole register file; 0: none yet
	numbers int            // register of single constants; 0: none yet
	placeOf map[uint64]int // of a single constant in it, by its bits
	nothing int            // register of zeros; 0: none yet
	reg     []int          // of a root, by value; -1: none yet
	base    []int          // of a root: its first element in the register
}

func newCompiler(t *tape.Tape, lanes int) *compiler {
	n := t.Values()
	c := &compiler{
		scheduler: scheduler{storage: newStorage(t, lanes)},
		reg:       make([]int, n), base: make([]int, n), placeOf: map[uint64]int{},
		p: &Program{lanes: lanes},
	}
	for i := range c.reg {
		c.reg[i] = -1
	}
	return c
}

// lastUse returns, for each root, the last group that reads it. For roots that outputs read it is
// the number of groups.
func (c *compiler) lastUse() []int {
	last := make([]int, len(c.fold))
	for i := range last {
		last[i] = -1
	}
	for g, gr := range c.groups {
		for _, list := range [2][]int{gr.values, gr.dots} {
			for _, v := range list {
				for _, r := range c.reads(v) {
					if last[r] = g; c.end(r) != c.end(v) { // other parts may read it at that time
						last[r] = len(c.groups)
					}
				}
			}
		}
	}
	for i, o := range c.t.Outputs {
		r := c.where[o.Value].root
		if at, ok := c.joins(i); ok {
			last[r] = max(last[r], at)
		} else {
			last[r] = len(c.groups)
		}
	}
	return last
}

// joins reports whether output i, which is added to its place, can be added in the loop that
// computes it, and returns the group of that loop.
func (c *compiler) joins(i int) (group int, ok bool) {
	v := int(c.t.Outputs[i].Value)
	r := c.where[v].root
	if !c.p.outputs[i].place.Add || !c.fold[r] || !c.whole(c.where[v]) {
		return 0, false
	}
	return c.in[r], c.groups[c.in[r]].loop && c.elementwise(r)
}
