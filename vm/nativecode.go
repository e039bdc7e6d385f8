package vm

import (
	"runtime"

	"odes.dev/odes/internal/base/machine"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/vm/internal/kernel"
	"odes.dev/odes/vm/internal/native"
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

// suits reports whether loops on long arrays in lanes become native code.
func (a *assembler) suits(lanes int) bool {
	return a != nil && (lanes == 1 || lanes == 2 || lanes == 4 || lanes == a.target.Widest())
}

// spillRegister returns the register for values that get no register of the processor.
func (c *compiler) spillRegister() int {
	if c.native.spill < 0 {
		c.native.spill = c.newRegister(register{kind: spilled})
	}
	return c.native.spill
}

// appendNative appends a record with a list, which processes about work elements. Its handler
// begins at byte at of the native code.
func (c *compiler) appendNative(work int, list []uint32, at int) {
	var r kernel.Record
	r.SetList(list)
	c.appendWork(0, r)
	t := &c.thread
	t.lists = append(t.lists, list)
	t.links = append(t.links, nativeRecord{len(t.code) - 1, at})
	c.appendWork(work) // the thread may end
}

// nativeRecord is a record of an unfinished thread whose handler is native code.
type nativeRecord struct{ index, at int }

// linkNative makes the native code executable. It returns false if the system forbids that.
func (c *compiler) linkNative() bool {
	n := c.native
	if n == nil || len(n.links) == 0 {
		return true
	}
	m, err := n.Map()
	if err != nil {
		return false
	}
	for _, l := range n.links {
		l.r.SetHandler(m.Address(l.at))
	}
	if n.spill >= 0 {
		c.p.regs[n.spill].size = n.Spill()
	}
	c.p.native = n.Stats()
	runtime.AddCleanup(c.p, func(m *machine.Memory) { m.Free() }, m)
	return true
}
