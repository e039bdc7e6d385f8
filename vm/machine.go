package vm

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"unsafe"

	"odes.dev/odes/internal/base/team"
	"odes.dev/odes/vm/internal/kernel"
)

// Machine is the register file of one Program, with its bindings. One goroutine uses it at a time.
type Machine struct {
	p    *Program
	regs [][]float64 // by register

	span []memory    // by vector: the memory bound to it, up to the end of the last input or output
	vecs [][]float64 // by vector of outputs: the memory bound to it
	own  [][]float64 // by vector of outputs: memory for results that are not written to their place at once
	add  []bool      // by vector of outputs: add to the bound memory instead of overwriting it

	changed  bool  // bindings changed since the last Run
	indirect []int // vectors of outputs whose results go to own memory first
	scratch  []float64
	packed   bool  // the packed matrices are those of the present constant inputs
	halt     *Halt // that a large program heeds; nil for none

	team    *team.Team  // that shares steps on long arrays; nil for this goroutine alone
	peers   []*Machine  // of those who help
	sharing sharedStep  // what they are at
	common  [][]float64 // registers when it began
	pieces  int         // how many there were
	private []private   // registers of a peer
}

// memory is a part of the address space.
type memory struct{ lo, hi uintptr }

// NewMachine returns a Machine with nothing bound.
func (p *Program) NewMachine() *Machine {
	m := &Machine{
		p:       p,
		regs:    make([][]float64, len(p.regs)),
		span:    make([]memory, len(p.vectors)),
		vecs:    make([][]float64, len(p.vectors)),
		own:     make([][]float64, len(p.vectors)),
		add:     make([]bool, len(p.vectors)),
		scratch: make([]float64, p.wide),
		changed: true,
	}
	file := make([]float64, p.heap)
	for i, r := range p.regs {
		switch r.kind {
		case heap:
			m.regs[i] = file[r.at : r.at+r.size : r.at+r.size]
		case everything:
			m.regs[i] = file
		case constant:
			m.regs[i] = r.data
		}
	}
	m.temporaries(make([]float64, p.stripElements()))
	return m
}

// temporaries makes the registers that live within a part of a step.
func (m *Machine) temporaries(strips []float64) {
	for i, r := range m.p.regs {
		switch r.kind {
		case strip:
			m.regs[i], strips = strips[:m.p.strip:m.p.strip], strips[m.p.stripStride():]
		case spilled:
			m.regs[i] = make([]float64, r.size)
		}
	}
}

// Program returns the program.
func (m *Machine) Program() *Program { return m.p }

// SetVector binds vector v to x. The slice x must reach to the end of the last input or output of
// the vector; a shorter one is a bug of the caller, and SetVector panics.
//
// Inputs are read by every Run from now on and are not copied. An input has InputSize elements from
// its offset in x on: one for each element of its value, or [element][lane] where it is per lane.
//
// Every Run stores outputs in x, or adds them to what is there, as their Place says. A vector of
// outputs that is not bound is not stored. It may overlap inputs, because they are read before
// anything is written to memory that they share. Outputs that overlap each other should all be
// added.
func (m *Machine) SetVector(v int, x []float64) {
	if m.span[v].lo != uintptr(unsafe.Pointer(unsafe.SliceData(x))) { // otherwise it is bound already
		m.rebind(v, x)
	}
}

// MoveVector is SetVector for memory that overlaps no other vector. It does not check for overlaps,
// so vectors that move from run to run are bound quickly.
func (m *Machine) MoveVector(v int, x []float64) {
	lo := uintptr(unsafe.Pointer(unsafe.SliceData(x)))
	span, vec := &m.span[v], &m.p.vectors[v]
	switch {
	case span.lo == lo:
	case m.changed || span.lo == 0 || vec.constant || vec.add || m.add[v] || len(x) < vec.size ||
		vec.output && unsafe.SliceData(m.regs[v]) != unsafe.SliceData(m.vecs[v]):
		m.rebind(v, x) // no binding is known yet, or results go through own memory
	default:
		*span = memory{lo, lo + 8*uintptr(vec.size)}
		m.regs[v] = x
		if vec.output {
			m.vecs[v] = x
		}
	}
}

func (m *Machine) rebind(v int, x []float64) {
	vec, lo := &m.p.vectors[v], uintptr(unsafe.Pointer(unsafe.SliceData(x)))
	if len(x) < vec.size {
		panic(fmt.Sprintf("vm: vector %d wants %d elements, not %d", v, vec.size, len(x)))
	}
	was, span := m.span[v], memory{lo, lo + 8*uintptr(vec.size)}
	m.span[v] = span
	m.regs[v] = x
	switch {
	case vec.output:
		m.vecs[v] = x
	case vec.constant:
		m.Refresh()
	case !m.changed && !m.overlaps(was) && !m.overlaps(span): // results go where they went
		return
	}
	m.changed = true
}

// overlaps reports whether a shares memory with a vector of outputs.
func (m *Machine) overlaps(a memory) bool {
	for _, v := range m.p.outs {
		if b := m.span[v]; a.lo < b.hi && b.lo < a.hi {
			return true
		}
	}
	return false
}

// Refresh says that elements of constant inputs have changed. Only a machine that Keeps some need be told.
func (m *Machine) Refresh() {
	if m.Keeps() {
		m.packed, m.changed = false, true
	}
}

// Keeps reports whether the machine keeps constant inputs in another form. Others are read in place.
func (m *Machine) Keeps() bool { return len(m.p.packings) > 0 }

// SetInput binds input i of a Program without Places to x, of InputSize(i) elements, as SetVector
// does.
func (m *Machine) SetInput(i int, x []float64) {
	in := &m.p.inputs[i]
	if len(x) != in.size || m.p.placed {
		panic(fmt.Sprintf("vm: input %s wants %d elements, not %d, and no place", in.name, in.size, len(x)))
	}
	m.SetVector(in.place.Vector, x)
}

// SetOutput binds output i of a Program without Places to dst, of OutputSize(i) elements, as
// SetVector does. With accumulate set, Run adds the output to what is there.
func (m *Machine) SetOutput(i int, dst []float64, accumulate bool) {
	out := &m.p.outputs[i]
	if len(dst) != out.size || m.p.placed {
		panic(fmt.Sprintf("vm: output %s has %d elements, not %d, and no place", out.name, out.size, len(dst)))
	}
	if v := out.place.Vector; m.add[v] != accumulate {
		m.add[v], m.changed = accumulate, true
	}
	m.SetVector(out.place.Vector, dst)
}

// Run computes the outputs from the inputs. All inputs must be bound.
func (m *Machine) Run() {
	if m.changed {
		m.bind()
	}
	if t := m.p.only; t != nil {
		t.run(m)
	} else if m.halt != nil {
		m.heeding()
	} else {
		for _, s := range m.p.steps {
			s.run(m)
		}
	}
	if len(m.indirect) > 0 {
		m.deliver()
	}
	runtime.KeepAlive(m) // keeps the native code as well
}

// bind decides, after a change of bindings, where results are written.
func (m *Machine) bind() {
	for _, v := range m.p.ins {
		if m.span[v].lo == 0 {
			panic(fmt.Sprintf("vm: vector %d of inputs is not bound", v))
		}
	}
	m.indirect = m.indirect[:0]
	for _, v := range m.p.outs {
		a, direct := m.span[v], !m.add[v]
		for _, u := range m.p.ins {
			if b := m.span[u]; a.lo < b.hi && b.lo < a.hi {
				direct = direct && !m.shares(v, u)
			}
		}
		if direct && a.lo != 0 {
			m.regs[v] = m.vecs[v]
		} else {
			m.divert(v)
		}
	}
	if !m.packed {
		m.pack()
	}
	m.changed = false
}

// divert gives the outputs of vector v memory of the machine's own.
func (m *Machine) divert(v int) {
	if m.own[v] == nil {
		m.own[v] = make([]float64, m.p.vectors[v].size)
		m.clear(v)
	}
	m.regs[v] = m.own[v]
	if m.span[v].lo != 0 {
		m.indirect = append(m.indirect, v)
	}
}

// clear makes own memory neutral to additions. It holds -0, because -0 + x is x also for x = -0.
func (m *Machine) clear(v int) {
	if m.p.vectors[v].add {
		kernel.Fill(m.own[v], math.Copysign(0, -1))
	}
}

// shares reports whether an output in vector out overlaps an input in vector in.
func (m *Machine) shares(out, in int) bool {
	for i := range m.p.outputs {
		o := &m.p.outputs[i]
		if o.place.Vector != out {
			continue
		}
		x := o.of(m.vecs[out])
		for j := range m.p.inputs {
			if q := &m.p.inputs[j]; q.place.Vector == in && overlap(x, q.of(m.regs[in])) {
				return true
			}
		}
	}
	return false
}

// of returns the part of its vector that q takes.
func (q *port) of(x []float64) []float64 { return x[q.place.Offset : q.place.Offset+q.size] }

// overlap reports whether a and b share memory.
func overlap(a, b []float64) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	p, q := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return p < q+uintptr(8*len(b)) && q < p+uintptr(8*len(a))
}

// deliver brings results from own memory to their places.
func (m *Machine) deliver() {
	for i := range m.p.outputs {
		o := &m.p.outputs[i]
		v := o.place.Vector
		if !slices.Contains(m.indirect, v) {
			continue
		}
		dst, src := o.of(m.vecs[v]), o.of(m.own[v])
		if m.add[v] || o.place.Add {
			kernel.Add(dst, src)
		} else {
			copy(dst, src)
		}
	}
	for _, v := range m.indirect {
		m.clear(v)
	}
}
