package linalg

import (
	"math"
	"runtime"
	"sort"

	"odes.dev/odes/internal/base/machine"
)

// code is a Schedule as machine code. It serves all goroutines.
type code struct {
	memory *machine.Memory
	lanes  int // of right-hand sides that it solves for at once
	bytes  int
}

// run runs the code. The vectors are those of the schedule; x has a stride of code's lanes, or of eight
// where there are four.
func (c *code) run(values, factors, x, w []float64) {
	args := machine.Args{first(values), first(factors), first(x), first(w), &constants[0]}
	machine.Call(c.memory.Address(0), &args)
	runtime.KeepAlive(c)
}

func first(x []float64) *float64 {
	if len(x) == 0 {
		return nil
	}
	return &x[0]
}

// constants are what code reads.
var constants = [...]float64{
	0: math.Float64frombits(1<<63 - 1), math.Float64frombits(1<<63 - 1), // of magnitudes
	math.Float64frombits(1<<63 - 1), math.Float64frombits(1<<63 - 1),
	4: math.Copysign(0, -1), 5: -1, 6: math.MaxFloat64, 7: growth, 8: suspicious, 9: 1/kept - 1,
}

// Where the constants are.
const (
	constMagnitude  = 0
	constSign       = 4
	constMinusOne   = 5
	constFinite     = 6
	constGrowth     = 7
	constSuspicious = 8
	constLower      = 9
)

// emitter writes the code of a schedule. Values that are read again stay in vector registers; the one
// whose next read is farthest away gives its register up (L. A. Belady, IBM Syst. J. 5, 1966).
type emitter struct {
	machine.Asm
	s      *Schedule
	lanes  int // 1, 4 or 8
	stride int // of x and w, in elements

	free    int               // registers from 0 on that hold values
	holds   []int32           // by register: its key, or None
	in      []int8            // by key: its register, or −1
	dirty   []bool            // by place of w: memory does not have it
	reads   []int32           // positions at which places are read
	next    []int32           // by place: the next of its reads
	last    []int32           // by place: behind the last of its reads
	locked  uint32            // registers that the current instruction needs
	at      int32             // the position
	fixed   machine.Vec       // a constant: −1 in eliminations, the sign in solves
	windows []window          // on the vectors
	missed  [len(bases)]int32 // by vector: the last address in no window
	uses    int               // of windows, so far
}

// A key is a place, or with repeated added a place whose value fills all elements of a vector.
const repeated = 1

// Addresses of the vectors.
var bases = [...]machine.Reg{machine.R8, machine.R9, machine.R10, machine.R11, machine.R12}

const constantsBase = 4

// emit returns the code of the steps from first to last of a schedule for a number of lanes. With check set
// it ends with the checks of a factorisation.
func emit(s *Schedule, first, last, lanes int, wide bool, check func(e *emitter)) (*code, error) {
	stride := lanes
	if lanes == 4 {
		stride = 8
	}
	places := s.Values + s.Factors + 2*s.N
	e := &emitter{
		s: s, lanes: lanes, stride: stride, in: make([]int8, 2*places), dirty: make([]bool, s.N),
	}
	registers := 16
	if wide {
		registers = 32
	}
	e.Wide = wide
	for _, r := range spare {
		e.windows = append(e.windows, window{base: r, of: -1})
	}
	for i := range e.missed {
		e.missed[i] = math.MinInt32 / 2
	}
	e.fixed = machine.Vec(registers - 1)
	e.free = registers - 2 // one more for what an instruction repeats
	e.holds = make([]int32, registers)
	for r := range e.holds {
		e.holds[r] = None
	}
	for k := range e.in {
		e.in[k] = -1
	}
	e.plan(places)
	e.Code = make([]byte, 0, 8*len(s.Terms)+10*len(s.Steps))
	for i, r := range bases {
		if needed := i == constantsBase || i == 1 || (i == 0) == (check != nil); needed {
			e.Load(r, machine.Mem{Base: machine.DI, Disp: int32(8 * i)})
		}
	}
	if check != nil {
		e.repeat(e.fixed, e.constant(constMinusOne))
	} else {
		e.repeat(e.fixed, e.constant(constSign))
	}
	for i := first; i < last; i++ {
		e.at = s.Steps[i].First + 2*int32(i)
		e.step(&s.Steps[i])
	}
	if check != nil {
		check(e)
	} else if last < len(s.Steps) {
		for r, key := range e.holds {
			if key != None {
				e.evict(r)
			}
		}
	}
	e.Return()
	e.Resolve()
	memory, err := machine.Map(e.Code)
	if err != nil {
		return nil, err
	}
	c := &code{memory: memory, lanes: lanes, bytes: len(e.Code)}
	runtime.AddCleanup(c, func(m *machine.Memory) { m.Free() }, memory)
	return c, nil
}

// plan lists where each place is read. A step begins at a position, its terms come behind that, and then
// its scale.
func (e *emitter) plan(places int) {
	count := make([]int32, places+1)
	each := func(read func(place, at int32)) {
		for i := range e.s.Steps {
			s := &e.s.Steps[i]
			at := s.First + 2*int32(i)
			if s.From != None {
				read(s.From, at)
			}
			for k, t := range e.s.Terms[s.First:s.Last] {
				if e.lanes == 1 && s.Width == 1 {
					read(t.A, at+1+int32(k))
				}
				read(t.B, at+1+int32(k))
			}
			if s.Scale != None && e.lanes == 1 {
				read(s.Scale, at+1+s.Last-s.First)
			}
		}
	}
	each(func(place, _ int32) { count[place+1]++ })
	for i := range places {
		count[i+1] += count[i]
	}
	e.reads = make([]int32, count[places])
	e.next = append([]int32(nil), count[:places]...)
	each(func(place, at int32) {
		e.reads[e.next[place]] = at
		e.next[place]++
	})
	copy(e.next, count)
	e.last = count[1:]
}

// later returns the position of the next read of a place behind the current one, or a large number.
func (e *emitter) later(place int32) int32 {
	n, end := e.next[place], e.last[place]
	if end-n > 8 && e.reads[n+7] <= e.at {
		n += int32(sort.Search(int(end-n), func(i int) bool { return e.reads[n+int32(i)] > e.at }))
	}
	for n < end && e.reads[n] <= e.at {
		n++
	}
	e.next[place] = n
	if n == end {
		return math.MaxInt32
	}
	return e.reads[n]
}

// length is the length of vectors that holds a step's elements, as instructions have it.
func (e *emitter) length(width int8) uint8 {
	switch max(int(width), e.lanes) {
	case 4:
		return 1
	case 8:
		return 2
	}
	return 0
}

// address returns where a place is.
func (e *emitter) address(place int32) machine.Mem {
	p := int(place)
	for i, n := range [...]int{e.s.Values, e.s.Factors} {
		if p < n {
			return e.near(i, int32(8*p), 8)
		}
		p -= n
	}
	i := 2
	if p >= e.s.N {
		i, p = 3, p-e.s.N
	}
	return e.near(i, int32(8*e.stride*p), int32(8*e.stride))
}

// window is a part of a vector that short displacements reach: those from its base register.
type window struct {
	base machine.Reg
	of   int   // the number of the vector, -1 for none
	at   int32 // where the register points to in the vector
	used int   // when it was used last
}

// windowLeast is how many elements a window has in either direction, at least.
const windowLeast = 8

// spare are registers for windows: some that hold nothing else once the addresses of the vectors are known.
var spare = [...]machine.Reg{
	machine.AX, machine.CX, machine.DX, machine.BX, machine.SI, machine.DI, machine.R13,
}

// near returns the address of an element of so many bytes, by a window where there is one: that takes two or three
// bytes less. Large code and what it reads have to share the cache, and code takes as long as it has bytes. Where an
// element is in no window, and near the last one that was in none, a window is moved there.
func (e *emitter) near(of int, disp, size int32) machine.Mem {
	reach := int32(128)
	if e.Wide {
		reach *= size
	}
	if reach < windowLeast*size {
		return machine.Mem{Base: bases[of], Disp: disp}
	}
	e.uses++
	oldest := &e.windows[0]
	for i := range e.windows {
		w := &e.windows[i]
		if by := disp - w.at; w.of == of && by >= -reach && by < reach {
			w.used = e.uses
			return machine.Mem{Base: w.base, Disp: by}
		}
		if w.used < oldest.used {
			oldest = w
		}
	}
	base := machine.Mem{Base: bases[of], Disp: disp}
	if disp < reach { // the register of the vector reaches it as well
		return base
	}
	last := e.missed[of]
	e.missed[of] = disp
	if disp-last >= reach || last-disp >= reach {
		return base
	}
	at := disp + reach
	if disp < last {
		at = disp - reach + size
	}
	*oldest = window{base: oldest.base, of: of, at: at, used: e.uses}
	e.Address(oldest.base, machine.Mem{Base: bases[of], Disp: at})
	return machine.Mem{Base: oldest.base, Disp: disp - at}
}

func (e *emitter) constant(i int) machine.Mem {
	return machine.Mem{Base: bases[constantsBase], Disp: int32(8 * i)}
}

// temporary returns the number of a place of w, or −1.
func (e *emitter) temporary(place int32) int {
	return max(int(place)-(e.s.Values+e.s.Factors+e.s.N), -1)
}

// repeat fills a vector with the number at m.
func (e *emitter) repeat(r machine.Vec, m machine.Mem) {
	length := uint8(1)
	if e.Wide {
		length = 2
	}
	e.Vector(machine.Broadcast, length, r, -1, machine.InMem(m), machine.NoImm)
}

// load and store move vectors, or single numbers.
func (e *emitter) load(r machine.Vec, m machine.Mem, width int8) {
	in := machine.MovPacked
	if width == 1 && e.lanes == 1 {
		in = machine.MovOne
	}
	e.Vector(in, e.length(width), r, -1, machine.InMem(m), machine.NoImm)
}

func (e *emitter) store(m machine.Mem, r machine.Vec, width int8) {
	in := machine.StPacked
	if width == 1 && e.lanes == 1 {
		in = machine.StOne
	}
	e.Vector(in, e.length(width), r, -1, machine.InMem(m), machine.NoImm)
}

// take returns a free register.
func (e *emitter) take() machine.Vec {
	best, far := -1, int32(-1)
	for r := range e.free {
		if e.locked>>r&1 == 1 {
			continue
		}
		key := e.holds[r]
		if key == None {
			return machine.Vec(r)
		}
		if d := e.later(key >> 1); d > far {
			if best, far = r, d; d == math.MaxInt32 {
				break
			}
		}
	}
	e.evict(best)
	return machine.Vec(best)
}

// evict frees a register.
func (e *emitter) evict(r int) {
	key := e.holds[r]
	if t := e.temporary(key >> 1); t >= 0 && e.dirty[t] && e.later(key>>1) < math.MaxInt32 {
		e.store(e.address(key>>1), machine.Vec(r), 1)
		e.dirty[t] = false
	}
	e.drop(key)
}

// drop forgets that a key is in a register.
func (e *emitter) drop(key int32) {
	if r := e.in[key]; r >= 0 {
		e.holds[r], e.in[key] = None, -1
	}
}

func (e *emitter) bind(key int32, r machine.Vec) {
	e.holds[r], e.in[key] = key, int8(r)
}

// value returns a register with the value of a place, which it loads if need be.
func (e *emitter) value(place int32) machine.Vec {
	r := e.in[2*place]
	if r < 0 {
		r = int8(e.take())
		e.load(machine.Vec(r), e.address(place), 1)
		e.bind(2*place, machine.Vec(r))
	}
	return machine.Vec(r)
}

// everywhere returns a register all elements of which are the number at a place.
func (e *emitter) everywhere(place int32) machine.Vec {
	key := 2*place + repeated
	r := e.in[key]
	if r < 0 {
		from := machine.InMem(e.address(place)) // by a window that is not the oldest, which take may move
		if t := e.temporary(place); t >= 0 && e.dirty[t] {
			from = machine.InReg(machine.Vec(e.in[2*place]))
		}
		r = int8(e.take())
		length := uint8(1)
		if e.Wide {
			length = 2
		}
		e.Vector(machine.Broadcast, length, machine.Vec(r), -1, from, machine.NoImm)
		e.bind(key, machine.Vec(r))
	}
	return machine.Vec(r)
}

// operand returns a place as an operand, which is memory if no register holds it.
func (e *emitter) operand(place int32) machine.Arg {
	if r := e.in[2*place]; r >= 0 {
		return machine.InReg(machine.Vec(r))
	}
	return machine.InMem(e.address(place))
}

var (
	divide   = machine.Instr{Opcode: 0x5e, Group: 1, Prefix: 3, Unit: 8}
	multiply = machine.Instr{Opcode: 0x59, Group: 1, Prefix: 1}
	timesOne = machine.Instr{Opcode: 0x59, Group: 1, Prefix: 3, Unit: 8}
	exclude  = machine.Instr{Opcode: 0x57, Group: 1, Prefix: 1} // XOR
	bothOf   = machine.Instr{Opcode: 0x54, Group: 1, Prefix: 1} // AND
	eitherOf = machine.Instr{Opcode: 0x56, Group: 1, Prefix: 1} // OR
	greater  = machine.Instr{Opcode: 0x5f, Group: 1, Prefix: 1} // MAX
)

// step writes one step.
func (e *emitter) step(s *Step) {
	e.locked = 0
	length := e.length(s.Width)
	terms := e.s.Terms[s.First:s.Last]
	if len(terms) == 0 && s.Scale == None && !s.Negate && !s.Invert && s.From != None && s.Width == 1 {
		if r := e.in[2*s.From]; r >= 0 && e.temporary(s.To) < 0 { // a copy
			e.store(e.address(s.To), machine.Vec(r), 1)
			return
		}
	}
	acc := e.begin(s, length)
	e.locked = 1 << acc
	for k := range terms {
		e.at++
		e.term(&terms[k], s.Width, acc, length)
		e.locked = 1 << acc
	}
	e.at++
	switch {
	case s.Invert:
		e.Vector(divide, 0, acc, int(e.fixed), machine.InReg(acc), machine.NoImm)
	case s.Scale == None:
	case e.lanes == 1 && s.Width == 1:
		e.Vector(timesOne, 0, acc, int(acc), e.operand(s.Scale), machine.NoImm)
	case e.lanes == 1:
		e.Vector(multiply, length, acc, int(acc), machine.InReg(e.everywhere(s.Scale)), machine.NoImm)
	default:
		e.Vector(multiply, length, acc, int(acc), e.spread(s.Scale, length), machine.NoImm)
	}
	for p := s.To; p < s.To+int32(s.Width); p++ {
		e.drop(2 * p)
		e.drop(2*p + repeated)
	}
	if t := e.temporary(s.To); t >= 0 {
		e.dirty[t] = true
	} else {
		e.store(e.address(s.To), acc, s.Width)
	}
	if s.Width == 1 {
		e.bind(2*s.To, acc)
	}
}

// begin returns a register with what a step begins with.
func (e *emitter) begin(s *Step, length uint8) machine.Vec {
	if s.From == None {
		r := e.take()
		e.Vector(exclude, min(length, 1), r, int(r), machine.InReg(r), machine.NoImm)
		return r
	}
	have := e.in[2*s.From]
	if s.Width > 1 {
		have = -1
	}
	if s.Negate {
		if have >= 0 {
			e.locked |= 1 << have
			r := e.take()
			e.Vector(exclude, length, r, int(e.fixed), machine.InReg(machine.Vec(have)), machine.NoImm)
			return r
		}
		r := e.take()
		if e.lanes == 1 { // an operand in memory would have 16 bytes
			e.load(r, e.address(s.From), 1)
			e.Vector(exclude, length, r, int(e.fixed), machine.InReg(r), machine.NoImm)
			return r
		}
		e.Vector(exclude, length, r, int(e.fixed), machine.InMem(e.address(s.From)), machine.NoImm)
		return r
	}
	if have < 0 {
		r := e.take()
		e.load(r, e.address(s.From), s.Width)
		return r
	}
	if s.From == s.To || e.later(s.From) == math.MaxInt32 { // nothing reads it again
		e.drop(2 * s.From)
		return machine.Vec(have)
	}
	e.locked |= 1 << have
	r := e.take()
	e.Vector(machine.MovAligned, length, r, -1, machine.InReg(machine.Vec(have)), machine.NoImm)
	return r
}

// term adds a term to a register.
func (e *emitter) term(t *Term, width int8, acc machine.Vec, length uint8) {
	switch {
	case width > 1:
		b := e.everywhere(t.B)
		e.Vector(machine.Fused(231, false, false, false), length, acc, int(b), machine.InMem(e.address(t.A)),
			machine.NoImm)
	case e.lanes == 1:
		a, b := t.A, t.B
		if e.in[2*b] < 0 && (e.in[2*a] >= 0 || e.later(a) < e.later(b)) {
			a, b = b, a
		}
		r := e.value(b)
		e.Vector(machine.Fused(231, false, false, true), 0, acc, int(r), e.operand(a), machine.NoImm)
	case e.Wide:
		b := e.value(t.B)
		e.Vector(machine.Fused(231, false, false, false), length, acc, int(b), e.spread(t.A, length), machine.NoImm)
	default:
		a := e.spread(t.A, length)
		b := e.operand(t.B)
		if b.Kind == machine.InMemory && e.later(t.B) < math.MaxInt32 {
			b = machine.InReg(e.value(t.B))
		}
		e.Vector(machine.Fused(231, false, false, false), length, acc, int(a.Reg), b, machine.NoImm)
	}
}

// spread returns the number at a place of the factors as an operand for all lanes.
func (e *emitter) spread(place int32, length uint8) machine.Arg {
	a := machine.InMem(e.address(place))
	if e.Wide {
		a.Repeat = true
		return a
	}
	r := e.fixed - 1
	e.Vector(machine.Broadcast, length, r, -1, a, machine.NoImm)
	return machine.InReg(r)
}
