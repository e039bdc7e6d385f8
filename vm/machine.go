package vm

import (
	"fmt"
	"unsafe"

	"odes.dev/odes/vm/internal/kernel"
)

// Machine is a register file for one Program. One goroutine uses it at a time.
type Machine struct {
	p    *Program
	regs [][]float64 // by register

	in    [][]float64
	out   [][]float64
	add   []bool
	stage [][]float64 // per output: its value, where dst overlaps an input
	own   [][]float64 // per output: memory for a result that is not written directly

	changed bool // bindings changed since the last Run
	staged  bool
	scratch []float64
}

// NewMachine returns a Machine with nothing bound.
func (p *Program) NewMachine() *Machine {
	m := &Machine{
		p:       p,
		regs:    make([][]float64, len(p.regs)),
		in:      make([][]float64, len(p.inputs)),
		out:     make([][]float64, len(p.outputs)),
		add:     make([]bool, len(p.outputs)),
		stage:   make([][]float64, len(p.outputs)),
		own:     make([][]float64, len(p.outputs)),
		scratch: make([]float64, p.wide),
		changed: true,
	}
	file := make([]float64, p.heap)
	strips := make([]float64, p.stripElements())
	for i, r := range p.regs {
		switch r.kind {
		case heap:
			m.regs[i] = file[r.at : r.at+r.size : r.at+r.size]
		case strip:
			m.regs[i], strips = strips[:p.strip:p.strip], strips[p.strip:]
		case constant:
			m.regs[i] = r.data
		}
	}
	return m
}

// Program returns the program.
func (m *Machine) Program() *Program { return m.p }

// SetInput binds input i to x, which is read by every Run from now on and not
// copied: x[size], or x[size·lanes] laid out [element][lane] if the input is
// per lane. Another length is a bug of the caller and panics.
func (m *Machine) SetInput(i int, x []float64) {
	in := &m.p.inputs[i]
	if len(x) != in.size {
		panic(fmt.Sprintf("vm: input %s wants %d elements, not %d", in.name, in.size, len(x)))
	}
	if !m.changed && unsafe.SliceData(m.in[i]) == unsafe.SliceData(x) {
		return
	}
	m.in[i] = x
	m.regs[in.reg] = x
	m.changed = true
}

// SetOutput binds output i to dst, of OutputSize(i) elements: every Run stores
// the output there or, with accumulate, adds it to what is there. An output
// that is not bound is not stored. dst may overlap inputs: the inputs are
// read before anything is written to memory they share. Outputs that overlap
// each other should all accumulate.
func (m *Machine) SetOutput(i int, dst []float64, accumulate bool) {
	out := &m.p.outputs[i]
	if len(dst) != out.size {
		panic(fmt.Sprintf("vm: output %s has %d elements, not %d", out.name, out.size, len(dst)))
	}
	if !m.changed && m.add[i] == accumulate && unsafe.SliceData(m.out[i]) == unsafe.SliceData(dst) {
		return
	}
	m.out[i], m.add[i] = dst, accumulate
	m.changed = true
}

// Run computes the outputs from the inputs. All inputs must be bound.
func (m *Machine) Run() {
	if m.changed {
		m.bind()
	}
	for _, s := range m.p.steps {
		s.run(m)
	}
	if m.staged {
		m.storeStaged()
		return
	}
	for i := range m.p.outputs {
		m.store(i)
	}
}

// bind decides, after a change of bindings, where results are written.
func (m *Machine) bind() {
	p := m.p
	for i, x := range m.in {
		if x == nil {
			panic(fmt.Sprintf("vm: input %s is not bound", p.inputs[i].name))
		}
	}
	m.staged = false
	for _, dst := range m.out {
		for _, x := range m.in {
			m.staged = m.staged || overlap(dst, x)
		}
	}
	for i := range p.outputs {
		o := &p.outputs[i]
		if m.staged && m.stage[i] == nil && m.out[i] != nil {
			m.stage[i] = make([]float64, o.size)
		}
		if !o.direct {
			continue
		}
		if m.out[i] != nil && !m.add[i] && !m.staged {
			m.regs[o.reg] = m.out[i]
			continue
		}
		if m.own[i] == nil {
			m.own[i] = make([]float64, o.size)
		}
		m.regs[o.reg] = m.own[i]
	}
	m.changed = false
}

// overlap reports whether a and b share memory.
func overlap(a, b []float64) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	p, q := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return p < q+uintptr(8*len(b)) && q < p+uintptr(8*len(a))
}

// store writes or adds output i to its place, unless it is there already.
func (m *Machine) store(i int) {
	o, dst := &m.p.outputs[i], m.out[i]
	if dst == nil || o.direct && !m.add[i] {
		return
	}
	src := m.regs[o.reg]
	switch {
	case o.dense && m.add[i]:
		kernel.Add(dst, src[o.off:o.off+o.size])
	case o.dense:
		copy(dst, src[o.off:o.off+o.size])
	case m.add[i]:
		m.addStrided(o, dst, src)
	default:
		o.from.read(dst, src, 0)
	}
}

// addStrided adds a scattered output strip by strip.
func (m *Machine) addStrided(o *port, dst, src []float64) {
	n := len(m.scratch) / o.from.lanes * o.from.lanes
	for s := 0; s < len(dst); s += n {
		d := dst[s:min(s+n, len(dst))]
		t := m.scratch[:len(d)]
		o.from.read(t, src, s/o.from.lanes)
		kernel.Add(d, t)
	}
}

// storeStaged takes copies of all outputs before it writes any.
func (m *Machine) storeStaged() {
	for i := range m.p.outputs {
		if o := &m.p.outputs[i]; m.out[i] != nil {
			o.from.read(m.stage[i], m.regs[o.reg], 0)
		}
	}
	for i, dst := range m.out {
		switch {
		case dst == nil:
		case m.add[i]:
			kernel.Add(dst, m.stage[i])
		default:
			copy(dst, m.stage[i])
		}
	}
}
