package vm

import (
	"runtime"

	"odes.dev/odes/internal/base/machine"
	"odes.dev/odes/vm/internal/kernel"
)

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
	if !machine.Possible || n == nil || len(n.links) == 0 {
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
