package native

// plan is a body in the order in which it will be written, with the reads of each value.
type plan struct {
	order []Value // the operations that become instructions
	uses  []int32 // by value: index in reads of its first read; it has len(values)+1 entries
	reads []int32 // positions in order, ascending for each value
	early []bool  // by value: it is a load that is an instruction of its own
	keeps []bool  // by store: its place keeps the stored value to the end of the block
}

// isMemory reports whether an operation only names memory.
func (c opcode) isMemory() bool { return c <= opConst }

// newPlan orders the operations that stores need. The operations of a store come just before it, in
// the order of the stores, so that values live shortly. A load happens where its value is read. If
// a store is about to overwrite the memory first, the load happens just before that store.
func (b *Body) newPlan() *plan {
	n := len(b.ops)
	p := &plan{early: zeros(&b.room.early, n), keeps: zeros(&b.room.keeps, n), order: b.room.order[:0]}
	hazards, readers := b.hazards(p)
	done := zeros(&b.room.did, n)
	need := b.needs()
	stack := b.room.stack[:0]
	demand := func(v Value) {
		stack = append(stack, v)
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			o := &b.ops[v]
			if done[v] || o.code.isMemory() {
				stack = stack[:len(stack)-1]
				continue
			}
			first, second := o.a, o.b
			if second >= 0 && need[second] > need[first] {
				first, second = second, first
			}
			waits := false
			for _, x := range [3]Value{o.c, second, first} { // what is pushed last is done first
				if x >= 0 && !done[x] && !b.ops[x].code.isMemory() {
					stack = append(stack, x)
					waits = true
				}
			}
			if !waits {
				done[v] = true
				stack = stack[:len(stack)-1]
				p.order = append(p.order, v)
			}
		}
	}
	for i := range b.ops {
		if b.ops[i].code == opSum {
			demand(Value(i))
		}
		if b.ops[i].code != opStore {
			continue
		}
		demand(b.ops[i].a)
		for _, l := range hazards[Value(i)] {
			for _, r := range readers[l] {
				if !done[r] && int(r) != i && !p.early[l] {
					p.early[l] = true
					p.order = append(p.order, l)
				}
			}
		}
		demand(Value(i))
	}
	b.room.order, b.room.stack = p.order, stack
	p.count(b)
	return p
}

// needs estimates how many registers the computation of each value takes.
func (b *Body) needs() []uint8 {
	n := zeros(&b.room.needs, len(b.ops))
	for i := range b.ops {
		o := &b.ops[i]
		if o.code.isMemory() {
			continue
		}
		most, same := uint8(0), uint8(0)
		for _, x := range [3]Value{o.a, o.b, o.c} {
			if x < 0 {
				continue
			}
			switch {
			case n[x] > most:
				most, same = n[x], 0
			case n[x] == most:
				same++
			}
		}
		n[i] = min(max(most+min(same, 1), 1), 250)
	}
	return n
}

// hazards lists, for each store, the loads of the memory that it overwrites, and the operations
// that read each of these loads. It also marks the stores to elements that are not stored to later.
func (b *Body) hazards(p *plan) (loads, readers map[Value][]Value) {
	loads, readers = map[Value][]Value{}, map[Value][]Value{}
	next := map[element]Value{} // by element: the store to it that comes next
	for i := len(b.ops) - 1; i >= 0; i-- {
		o := &b.ops[i]
		n := max(int(o.width), 1)
		switch o.code {
		case opSplat:
			n = 1
		case opLoad, opStore:
		default:
			continue
		}
		first := none
		for k := range n {
			e := element{o.at.Slice, o.at.Off + k}
			if s, ok := next[e]; ok && (first < 0 || s < first) {
				first = s
			}
			if o.code == opStore {
				next[e] = Value(i)
			}
		}
		switch {
		case o.code == opStore:
			p.keeps[i] = first < 0
		case first >= 0:
			loads[first] = append(loads[first], Value(i))
			readers[Value(i)] = nil
		}
	}
	if len(readers) == 0 {
		return loads, readers
	}
	for i := range b.ops {
		o := &b.ops[i]
		for _, x := range [3]Value{o.a, o.b, o.c} {
			if x >= 0 && b.ops[x].code <= opSplat {
				if list, ok := readers[x]; ok {
					readers[x] = append(list, Value(i))
				}
			}
		}
	}
	return loads, readers
}

// count lists the reads of each value.
func (p *plan) count(b *Body) {
	p.uses = zeros(&b.room.uses, len(b.ops)+1)
	each := func(visit func(x Value, at int32)) {
		for at, v := range p.order {
			o := &b.ops[v]
			for _, x := range [3]Value{o.a, o.b, o.c} {
				if x >= 0 {
					visit(x, int32(at))
				}
			}
		}
	}
	each(func(x Value, _ int32) { p.uses[x+1]++ })
	for i := range b.ops {
		p.uses[i+1] += p.uses[i]
	}
	p.reads = zeros(&b.room.reads, int(p.uses[len(b.ops)]))
	at := zeros(&b.room.cursor, len(b.ops))
	copy(at, p.uses)
	each(func(x Value, pos int32) {
		p.reads[at[x]] = pos
		at[x]++
	})
}
