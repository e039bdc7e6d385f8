package vm

import (
	"slices"

	"odes.dev/odes/internal/base/machine"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/kernel"
	"odes.dev/odes/vm/internal/native"
)

// Which instructions become native code, and how values are split into vectors for it.

// Bounds of native code.
const (
	nativeElements = 128     // of a value
	fewElements    = 8       // of a value, which are found faster
	nativeParts    = 32      // vectors of a value
	nativeGroup    = 1 << 13 // vectors of a group
	nativeBlock    = 1 << 15 // operations after which a block ends
	nestLeast      = 16      // elements of the smallest long loop
)

// assembler collects the native code of a program.
type assembler struct {
	*native.Code
	target native.Target
	spill  int    // register for values that get no register of the processor
	links  []link // records of finished threads

	// The vectors of values: of few elements, by their size, without lanes and with them; of more, by size and lanes.
	few   [2][fewElements + 1][]chunk
	parts map[[2]int][]chunk
}

// link is a record whose handler is native code.
type link struct {
	r  *kernel.Record
	at int // where the handler begins
}

// newAssembler returns what native code is made with, or nil if no native code can be made here.
// Narrow code does without AVX-512.
func newAssembler(narrow bool) *assembler {
	if !machine.Available() {
		return nil
	}
	target := native.AVX2
	if simd.Wide() && machine.Supports512() && !narrow {
		target = native.AVX512
	}
	return &assembler{Code: native.NewCode(target), target: target, spill: -1, parts: map[[2]int][]chunk{}}
}

// chunk is one vector of a value: n elements side by side. A shared value gives it elements from at
// on; a value with lanes gives it those of element at, from lane on.
type chunk struct{ at, lane, n int }

// suits reports whether loops on long arrays in lanes become native code.
func (a *assembler) suits(lanes int) bool {
	return a != nil && (lanes == 1 || lanes == 2 || lanes == 4 || lanes == a.target.Widest())
}

// partsOf splits a value into vectors, the same way wherever it is read. A vector of a value with
// lanes does not reach from one element to the next. lanes are one or those of the program.
func (sc *scheduler) partsOf(size, lanes int) []chunk {
	if size <= fewElements {
		few := &sc.native.few[min(lanes, 2)-1][size]
		if *few == nil {
			*few = sc.split(size, lanes)
		}
		return *few
	}
	key := [2]int{size, lanes}
	parts, ok := sc.native.parts[key]
	if !ok {
		parts = sc.split(size, lanes)
		sc.native.parts[key] = parts
	}
	return parts
}

func (sc *scheduler) split(size, lanes int) (parts []chunk) {
	widest := sc.native.target.Widest()
	n := size
	if lanes > 1 {
		n = lanes
	}
	for first := 0; first < size; first += n {
		for at := 0; at < n; {
			w := widest
			for w > n-at {
				w /= 2
			}
			if lanes > 1 {
				parts = append(parts, chunk{first / lanes, at, w})
			} else {
				parts = append(parts, chunk{at, 0, w})
			}
			at += w
		}
	}
	return parts
}

// small reports whether a value is worth native code.
func (sc *scheduler) small(v int) bool {
	n := sc.size(v)
	return n <= nativeElements && (n < nativeParts || len(sc.partsOf(n, sc.width(v))) <= nativeParts)
}

// nativeOp returns the operation of an instruction; ok is false if native code does not have it.
func nativeOp(in *tape.Instr) (op simd.Op, ok bool) {
	if in.Op == tape.Powi {
		op, ok = powers[in.Attr.Power]
	} else {
		op = simdOps[in.Op]
		ok = op != simd.Copy // Copy stands for instructions without a kernel
	}
	return op, ok && native.Can(op)
}

// isNative reports whether v is computed by native code.
func (sc *scheduler) isNative(v int) bool {
	if !sc.elementwise(v) || !sc.small(v) {
		return false
	}
	if _, ok := nativeOp(sc.t.Instr(tape.Value(v))); !ok {
		return false
	}
	for k := range sc.t.Instr(tape.Value(v)).Args {
		for _, p := range sc.partsOf(sc.size(v), sc.width(v)) {
			if _, ok := sc.source(sc.operandView(v, k), p, sc.lane[v]); !ok {
				return false
			}
		}
	}
	return true
}

// source says where a vector is read from: n elements of a root side by side, or one element that
// is repeated.
type source struct {
	chunk
	repeat bool
}

// source returns where part p of an operand with the view w is read from.
func (st *storage) source(w view, p chunk, lane bool) (s source, ok bool) {
	if w.lazy() {
		return s, false
	}
	if lane {
		s = source{chunk{w.position(p.at), p.lane, p.n}, false}
		if !st.lane[w.root] {
			s.lane, s.repeat = 0, true
		}
		return s, true
	}
	first := w.position(p.at)
	side, same := true, true
	for i := range p.n {
		x := w.position(p.at + i)
		side = side && x == first+i
		same = same && x == first
	}
	if st.splat[w.root] {
		side, same = false, true
	}
	return source{chunk{first, 0, p.n}, same && p.n > 1}, side || same
}

// partIndex returns which of the vectors of a root s is, or -1 if it is none of them.
func (sc *scheduler) partIndex(root int, s source) int {
	for i, p := range sc.partsOf(sc.size(root), sc.width(root)) {
		if p.at == s.at && p.lane == s.lane && (p.n == s.n && !s.repeat || p.n == 1 && s.repeat) {
			return i
		}
	}
	return -1
}

// inRegisters reports whether native code of v can read operand k as the very vectors that native
// code of the operand made.
func (sc *scheduler) inRegisters(v, k int) bool {
	w := sc.operandView(v, k)
	for _, p := range sc.partsOf(sc.size(v), sc.width(v)) {
		if s, ok := sc.source(w, p, sc.lane[v]); !ok || sc.partIndex(w.root, s) < 0 {
			return false
		}
	}
	return true
}

// groupNative makes groups of native code of the elementwise instructions on few elements, and
// groups of what stands between them and native code cannot do. The two kinds alternate, in as few
// groups as the order of instructions allows.
func (sc *scheduler) groupNative() {
	var out []group
	after := make([]int, len(sc.fold))
	for i := 0; i < len(sc.groups); {
		j := i
		for j < len(sc.groups) && sc.groups[j].loop && sc.small(sc.groups[j].values[0]) &&
			sc.end(sc.groups[j].values[0]) == sc.end(sc.groups[i].values[0]) {
			j++
		}
		if i == j {
			out = append(out, sc.groups[i])
			i++
			continue
		}
		out = append(out, sc.alternate(sc.groups[i:j], after)...)
		i = j
	}
	sc.groups = out
	sc.enumerate()
}

// alternate arranges the values of several groups in alternating groups. after is 0 for each value, and used for the
// stage from which on a value can be read.
func (sc *scheduler) alternate(groups []group, after []int) (out []group) {
	type stage struct{ native, other []int }
	var stages []stage
	for _, gr := range groups {
		for _, v := range gr.values {
			at := 0
			for _, r := range sc.reads(v) {
				at = max(at, after[r])
			}
			native := sc.isNative(v)
			if after[v] = at; !native {
				after[v]++
			}
			for at >= len(stages) {
				stages = append(stages, stage{})
			}
			if native {
				stages[at].native = append(stages[at].native, v)
			} else {
				stages[at].other = append(stages[at].other, v)
			}
		}
	}
	for _, gr := range groups {
		for _, v := range gr.values {
			after[v] = 0
		}
	}
	for _, s := range stages {
		for len(s.native) > 0 {
			n, work := 0, 0
			for n < len(s.native) && work < nativeGroup {
				work += len(sc.partsOf(sc.size(s.native[n]), sc.width(s.native[n])))
				n++
			}
			out = append(out, group{values: s.native[:n:n], loop: true, native: true})
			s.native = s.native[n:]
		}
		var functions []int
		if functions, s.other = sc.splitFunctions(s.other); len(functions) > 0 {
			out = append(out, group{values: functions, loop: true, functions: true})
		}
		for len(s.other) > 0 {
			v := s.other[0]
			alike := func(u int) bool { return sc.size(u) == sc.size(v) && sc.lane[u] == sc.lane[v] }
			gr := group{loop: true}
			for _, u := range s.other {
				if alike(u) {
					gr.values = append(gr.values, u)
				}
			}
			s.other = slices.DeleteFunc(s.other, alike)
			out = append(out, gr)
		}
	}
	return out
}

// keepInRegisters removes values from local, the values that nothing outside of a group reads:
// those that native code of the group cannot read from registers.
func (sc *scheduler) keepInRegisters(gr *group, local []bool) {
	for _, v := range gr.values {
		for k := range sc.t.Instr(tape.Value(v)).Args {
			if r := sc.operandRoot(v, k); local[r] && !sc.inRegisters(v, k) {
				local[r] = false
			}
		}
	}
}

// functionElements bounds the elements of a function's value that is laid side by side with others.
const functionElements = 8

// gathers reports whether v is a function whose arguments native code can lay out.
func (sc *scheduler) gathers(v int) bool {
	in := sc.t.Instr(tape.Value(v))
	if !isFunction(in.Op) || sc.size(v) > functionElements {
		return false
	}
	for k := range in.Args {
		for _, p := range sc.partsOf(sc.size(v), sc.width(v)) {
			if _, ok := sc.source(sc.operandView(v, k), p, sc.lane[v]); !ok {
				return false
			}
		}
	}
	return true
}

// splitFunctions separates the functions whose arguments native code lays out from the other
// values.
func (sc *scheduler) splitFunctions(values []int) (functions, rest []int) {
	for _, v := range values {
		if sc.gathers(v) {
			functions = append(functions, v)
		} else {
			rest = append(rest, v)
		}
	}
	return functions, slices.Clip(rest)
}

// handOver adds values to local, the values of native group g that nothing outside reads: those
// that the functions right behind it take from registers.
func (sc *scheduler) handOver(g int, local []bool, last []int) {
	if g+1 == len(sc.groups) || !sc.groups[g+1].functions {
		return
	}
	next := &sc.groups[g+1]
	for _, v := range sc.groups[g].values {
		if last[v] == g+1 {
			local[v] = true
		}
	}
	for _, v := range next.values {
		for k := range sc.t.Instr(tape.Value(v)).Args {
			if r := sc.operandRoot(v, k); local[r] && !sc.inRegisters(v, k) {
				local[r] = false
			}
		}
	}
}

// dotsMost bounds the number of products of a loop.
const dotsMost = 8

// attachDots moves products of vectors to the loops that compute their operands.
func (sc *scheduler) attachDots() {
	if sc.native.target != native.AVX512 {
		return
	}
	for i := range sc.groups {
		gr := &sc.groups[i]
		v := gr.values[0]
		in := sc.t.Instr(tape.Value(v))
		if gr.loop || in.Op != tape.Dot || sc.lane[v] {
			continue
		}
		if g := sc.dotLoop(in); g >= 0 {
			sc.groups[g].dots = append(sc.groups[g].dots, v)
			gr.values = nil
		}
	}
	sc.groups = slices.DeleteFunc(sc.groups, func(gr group) bool { return len(gr.values) == 0 })
	sc.enumerate()
}

// dotLoop returns the loop that can sum a product, or -1 if there is none.
func (sc *scheduler) dotLoop(in *tape.Instr) int {
	g := -1
	for _, a := range in.Args {
		if r := sc.where[a].root; sc.fold[r] {
			g = max(g, sc.in[r])
		}
	}
	if g < 0 {
		return -1
	}
	to := &sc.groups[g]
	if !to.loop || to.native || len(to.dots) == dotsMost || len(to.values) == 0 || sc.lane[to.values[0]] {
		return -1
	}
	n := sc.size(to.values[0])
	if n < nestLeast || n != sc.t.Shape(in.Args[0]).Size() {
		return -1
	}
	for _, a := range in.Args {
		if w := sc.where[a]; sc.fold[w.root] && sc.in[w.root] == g && !sc.whole(w) {
			return -1
		}
	}
	for _, v := range to.values {
		if _, ok := nativeOp(sc.t.Instr(tape.Value(v))); !ok {
			return -1
		}
	}
	return g
}
