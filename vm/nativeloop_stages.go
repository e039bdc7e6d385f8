package vm

import (
	"slices"

	"odes.dev/odes/tape"
)

// stagesLeast is the least number of instructions that native code can run for which it pays to
// separate them from functions.
const stagesLeast = 4

// separate splits long loops with elementary functions into native code and loops of functions,
// which pass whole arrays to each other. That pays because a function takes longer than reading its
// operand and writing its result.
func (sc *scheduler) separate() {
	var out []group
	for _, gr := range sc.groups {
		out = append(out, sc.stages(gr)...)
	}
	sc.groups = out
	sc.enumerate()
}

// stages splits a group into groups that follow each other.
func (sc *scheduler) stages(gr group) []group {
	able := 0
	for _, v := range gr.values {
		if _, ok := nativeOp(sc.t.Instr(tape.Value(v))); ok {
			able++
		}
	}
	v := gr.values[0]
	if !gr.loop || gr.native || able < stagesLeast || able == len(gr.values) || sc.size(v) <= nativeElements ||
		sc.lane[v] && !sc.native.suits(sc.lanes) {
		return []group{gr}
	}
	var list []group // native code and functions alternate
	level := map[int]int{}
	for _, v := range gr.values {
		function := 0
		if _, ok := nativeOp(sc.t.Instr(tape.Value(v))); !ok {
			function = 1
		}
		at := function
		for _, r := range sc.reads(v) {
			if l, ok := level[r]; ok {
				at = max(at, l+(l+function)%2)
			}
		}
		level[v] = at
		for at >= len(list) {
			list = append(list, group{loop: true})
		}
		list[at].values = append(list[at].values, v)
	}
	return slices.DeleteFunc(list, func(g group) bool { return len(g.values) == 0 })
}
