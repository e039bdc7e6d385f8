package vm

import (
	"cmp"
	"math/bits"
	"slices"

	"odes.dev/odes/tape"
)

// A tape of very many instructions on few elements, such as the rates of a large network, is cut into parts that do not
// depend on one another, so that a team can share them. Each part computes some outputs, with all that they need. What
// two parts need is computed in both, and what more of them need comes before all parts. Outputs make one part that
// read about the same elements of the inputs: neighbours in the numbering of states often depend on the same.

const (
	cutMost    = 8 // parts
	cutReaders = 2 // parts that compute the same value
	cutTwice   = 8 // of so many operations, one may be computed twice, or come before the parts
)

// cutWork is the least number of operations of a part: handing it over takes a microsecond or two.
var cutWork = 1 << 13

// cutTape returns the tape in parts, and where each ends among its values: the first is what comes before the parts. It
// returns t and nil where there are no such parts.
func cutTape(t *tape.Tape, inputs, outputs []Place, lanes int) (parts *tape.Tape, ends []int) {
	if len(t.Instrs) < 2*cutWork {
		return t, nil
	}
	k := &cutter{
		t: t, inputs: inputs, outputs: outputs, lanes: lanes, needed: tape.Needed(t), in: make([]uint8, t.Values()),
	}
	work := 0
	for i := range t.Instrs {
		if !k.needed[len(t.Inputs)+i] {
			continue
		}
		if !k.alone(&t.Instrs[i]) {
			return t, nil
		}
		work++
	}
	n := min(work/cutWork, cutMost)
	if n < 2 {
		return t, nil
	}
	if k.divide(work, n); k.overlap() {
		return t, nil
	}
	before, all := k.cost()
	if before > work/cutTwice || all > work+work/cutTwice {
		return t, nil
	}
	return k.tape(all)
}

type cutter struct {
	t       *tape.Tape
	inputs  []Place
	outputs []Place
	lanes   int
	needed  []bool
	in      []uint8 // by value: a bit for each part that needs it
	outs    []int   // outputs, those of a part side by side
	part    []int   // of each output
	parts   int
}

// alone reports whether an instruction computes a few elements: it is no part or other form of an array.
func (k *cutter) alone(in *tape.Instr) bool {
	return in.Shape.Size() <= fewElements && (in.Op == tape.Const || in.Op.Row().Elementwise())
}

// divide divides the outputs into up to n parts of about the same work.
func (k *cutter) divide(work, n int) {
	t := k.t
	where := k.positions()
	k.outs = make([]int, len(t.Outputs))
	for i := range k.outs {
		k.outs[i] = i
	}
	slices.SortStableFunc(k.outs, func(a, b int) int {
		return cmp.Compare(where[t.Outputs[a].Value], where[t.Outputs[b].Value])
	})
	k.part = make([]int, len(t.Outputs))
	var stack []tape.Value
	p, done := 0, 0
	for _, o := range k.outs {
		if done >= (work+n-1)/n && p < n-1 {
			p, done = p+1, 0
		}
		k.part[o] = p
		for stack = append(stack, t.Outputs[o].Value); len(stack) > 0; {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			in := t.Instr(v)
			if in == nil || k.in[v]>>p&1 == 1 {
				continue
			}
			k.in[v] |= 1 << p
			done++
			stack = append(stack, in.Args...)
		}
	}
	k.parts = p + 1
}

// overlap reports whether two parts write to the same memory, or add to it: the order decides what that makes.
func (k *cutter) overlap() bool {
	if k.outputs == nil {
		return false
	}
	order := slices.Clone(k.outs)
	slices.SortFunc(order, func(a, b int) int {
		p, q := k.outputs[a], k.outputs[b]
		return cmp.Or(cmp.Compare(p.Vector, q.Vector), cmp.Compare(p.Offset, q.Offset))
	})
	last := 0 // the output that reaches furthest
	perLane := tape.PerLane(k.t)
	end := func(o int) int {
		v, lanes := k.t.Outputs[o].Value, 1
		if perLane[v] {
			lanes = k.lanes
		}
		return k.outputs[o].Offset + k.t.Shape(v).Size()*lanes
	}
	for i, o := range order {
		if i == 0 || k.outputs[o].Vector != k.outputs[last].Vector || k.outputs[o].Offset >= end(last) {
			last = o
			continue
		}
		if k.part[o] != k.part[last] {
			return true
		}
		if end(o) > end(last) {
			last = o
		}
	}
	return false
}

// positions returns, by value, the mean position of the elements that it reads of the vector that is read most often:
// of states or cotangents, of which each is read several times. It is −1 for what reads none.
func (k *cutter) positions() []float64 {
	t := k.t
	place := func(i int) Place {
		if k.inputs == nil {
			return Place{Offset: i}
		}
		return k.inputs[i]
	}
	reads := map[int]int{}
	for i := range t.Instrs {
		if k.needed[len(t.Inputs)+i] {
			for _, a := range t.Instrs[i].Args {
				if int(a) < len(t.Inputs) {
					reads[place(int(a)).Vector]++
				}
			}
		}
	}
	most := 0
	for v, n := range reads {
		if n > reads[most] || n == reads[most] && v < most {
			most = v
		}
	}
	at := make([]float64, t.Values())
	for v := range at {
		at[v] = -1
	}
	for i := range t.Inputs {
		if p := place(i); p.Vector == most {
			at[i] = float64(p.Offset)
		}
	}
	for i := range t.Instrs {
		sum, n := 0.0, 0.0
		for _, a := range t.Instrs[i].Args {
			if at[a] >= 0 {
				sum, n = sum+at[a], n+1
			}
		}
		if n > 0 {
			at[len(t.Inputs)+i] = sum / n
		}
	}
	return at
}

// early reports whether v comes before all parts.
func (k *cutter) early(v int) bool { return bits.OnesCount8(k.in[v]) > cutReaders }

// cost counts the operations before the parts, and all.
func (k *cutter) cost() (before, all int) {
	for i := range k.t.Instrs {
		v := len(k.t.Inputs) + i
		if k.early(v) {
			before++
			all++
		} else {
			all += bits.OnesCount8(k.in[v])
		}
	}
	return before, all
}

// tape writes the parts, which have so many instructions.
func (k *cutter) tape(all int) (*tape.Tape, []int) {
	t, first := k.t, len(k.t.Inputs)
	u := &tape.Tape{
		Name: t.Name, Inputs: t.Inputs, Outputs: slices.Clone(t.Outputs), Instrs: make([]tape.Instr, 0, all),
	}
	to := make([]tape.Value, t.Values())
	for i := range t.Inputs {
		to[i] = tape.Value(i)
	}
	copies := func(v int) {
		in := t.Instrs[v-first]
		in.Args = slices.Clone(in.Args)
		for i, a := range in.Args {
			in.Args[i] = to[a]
		}
		to[v] = tape.Value(u.Values())
		u.Instrs = append(u.Instrs, in)
	}
	for v := first; v < t.Values(); v++ {
		if k.early(v) {
			copies(v)
		}
	}
	ends := []int{u.Values()}
	for p := range k.parts {
		for v := first; v < t.Values(); v++ {
			if k.in[v]>>p&1 == 1 && !k.early(v) {
				copies(v)
			}
		}
		for _, o := range k.outs {
			if k.part[o] == p {
				u.Outputs[o].Value = to[t.Outputs[o].Value]
			}
		}
		ends = append(ends, u.Values())
	}
	return u, ends
}
