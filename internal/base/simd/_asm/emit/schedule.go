package emit

import "slices"

// Instructions of one vector wait for each other: a polynomial is one chain. Vectors that are computed side by side
// fill that time, if their instructions come in an order in which few of them wait, and need no more registers than
// there are.

// latency returns how many cycles pass before a value can be used, on common processors.
func (v *value) latency() int {
	switch v.kind {
	case fused:
		return 4
	case gather:
		return 12
	case blend:
		return 1
	}
	switch v.name {
	case "add", "sub", "min", "max", "cmp", "muli":
		return 3
	case "mul":
		return 4
	case "round":
		return 6
	case "div":
		return 13
	case "sqrt":
		return 20
	}
	return 1
}

// operands returns the values that v is made of.
func (v *value) operands() []V {
	switch v.kind {
	case binary:
		return []V{v.a, v.b}
	case fused, blend:
		return []V{v.a, v.b, v.c}
	case unary, gather:
		return []V{v.a}
	}
	return nil
}

// registers is how many registers strands may use: one is left for operands that must be loaded first, and one for
// what the function keeps.
const registers = 14

// strand is the instructions of one vector, in an order that needs few registers.
type strand struct {
	order []V
	live  []int // registers in use after as many instructions
	next  int
}

// used is how many registers the strand has in use after i instructions.
func (s *strand) used(i int) int {
	if i == 0 {
		return 0
	}
	return s.live[i-1]
}

// peak is the most that the strand has in use from now on.
func (s *strand) peak() int { return max(s.used(s.next), slices.Max(append(s.live[s.next:], 0))) }

// strand orders what the results need depth first: of the operands of an instruction, the one that needs more registers
// is made first.
func (f *Body) strand(results []V) *strand {
	s, made := &strand{}, map[V]bool{}
	var needs func(V) int
	needs = func(id V) int {
		if f.values[id].done || made[id] {
			return 0
		}
		n := 1
		for _, x := range f.values[id].operands() {
			if m := needs(x); m == n {
				n++
			} else {
				n = max(n, m)
			}
		}
		return n
	}
	var visit func(V)
	visit = func(id V) {
		if f.values[id].done || made[id] {
			return
		}
		made[id] = true
		ops := f.values[id].operands()
		slices.SortStableFunc(ops, func(a, b V) int { return needs(b) - needs(a) })
		for _, x := range ops {
			visit(x)
		}
		s.order = append(s.order, id)
	}
	for _, v := range results {
		visit(v)
	}
	uses := map[V]int{}
	live := 0
	for _, id := range s.order {
		for _, x := range f.values[id].operands() {
			if uses[x]++; uses[x] == f.values[x].uses && !f.isMem(x) {
				live--
			}
		}
		live++
		s.live = append(s.live, live)
	}
	return s
}

// sideBySide returns the instructions of all strands. The strand whose next instruction can begin first goes on, if the
// registers that are left then suffice to complete all strands, one after the other.
func (f *Body) sideBySide() []V {
	var open []*strand
	for _, results := range f.strands {
		open = append(open, f.strand(results))
	}
	all := open
	f.strands = nil
	ready := make([]int, len(f.values))
	begins := func(s *strand) (cycle int) {
		for _, x := range f.values[s.order[s.next]].operands() {
			cycle = max(cycle, ready[x])
		}
		return cycle
	}
	var order []V
	for {
		open = slices.DeleteFunc(slices.Clone(open), func(s *strand) bool { return s.next == len(s.order) })
		if len(open) == 0 {
			return order
		}
		now := len(order) // an instruction a cycle
		var best *strand
		for _, s := range open {
			s.next++
			suffices := suffice(all)
			s.next--
			if suffices && (best == nil || max(begins(s), now) < max(begins(best), now)) {
				best = s
			}
		}
		if best == nil {
			panic("emit: strands need more registers than there are")
		}
		id := best.order[best.next]
		ready[id] = max(begins(best), now) + f.values[id].latency()
		order = append(order, id)
		best.next++
	}
}

// suffice reports whether the registers suffice to complete all strands from where they are, one after the other in
// some order.
func suffice(strands []*strand) bool {
	used := 0
	for _, s := range strands {
		used += s.used(s.next)
	}
	for left := slices.Clone(strands); len(left) > 0; {
		i := slices.IndexFunc(left, func(s *strand) bool { return used-s.used(s.next)+s.peak() <= registers })
		if i < 0 {
			return false
		}
		used += left[i].used(len(left[i].order)) - left[i].used(left[i].next)
		left = slices.Delete(left, i, i+1)
	}
	return true
}
