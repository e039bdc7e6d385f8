package native

import (
	"odes.dev/odes/internal/base/machine"
	"odes.dev/odes/vm/internal/kernel"
)

// Code is unfinished machine code: blocks, and the constants that they read.
type Code struct {
	machine.Asm
	target    Target
	pool      literals
	wholes    map[wholeKey]int32
	spills    int // number of values that got no register
	spillSize int
	blocks    int
}

// NewCode returns empty code.
func NewCode(t Target) *Code { return &Code{target: t} }

// Block appends a block that does what b lists, and returns the byte at which it begins. Values
// that get no register are kept in the table's slice number spill, which must have Spill elements
// when the code runs.
func (c *Code) Block(b *Body, spill int) (at int) {
	at = c.begin()
	w := c.newWriter(b, 1, spill)
	w.addresses()
	w.body()
	c.spillSize = max(c.spillSize, w.size)
	c.end()
	return at
}

// begin starts a block.
func (c *Code) begin() int {
	for len(c.Code)%16 != 0 {
		c.Byte(0x90)
	}
	c.blocks++
	return len(c.Code)
}

// end ends a block by going on to the next record's handler.
func (c *Code) end() {
	c.next(kernel.RecordSize)
	c.Resolve()
}

// next jumps to the handler of the next record of the threaded program, which is size bytes further
// on.
func (c *Code) next(size int) {
	c.Load(machine.AX, machine.Mem{Base: machine.SI, Disp: int32(size)})
	c.Immediate(0, machine.SI, int32(size))
	c.JumpTo(machine.AX)
}

// Spill returns the number of elements that the slice for values without a register needs.
func (c *Code) Spill() int { return c.spillSize }

// Stats counts what code is made of.
type Stats struct {
	Blocks, Instructions, Bytes, Spills int
}

// Stats returns the counts.
func (c *Code) Stats() Stats {
	return Stats{c.blocks, c.Count, len(c.Code) + 8*c.words(), c.spills}
}

func (c *Code) words() (n int) {
	for _, l := range c.pool.list {
		n += len(l)
	}
	return n
}

// Map makes the code executable. It returns an error where the system forbids that.
func (c *Code) Map() (*machine.Memory, error) { return machine.Map(c.bytes()) }

// bytes returns the code with its constants behind it, the longest ones first.
func (c *Code) bytes() []byte {
	out := append([]byte(nil), c.Code...)
	for len(out)%64 != 0 {
		out = append(out, 0xcc)
	}
	at := make([]int, len(c.pool.list))
	for n := 8; n > 0; n /= 2 {
		for i, words := range c.pool.list {
			if len(words) != n {
				continue
			}
			at[i] = len(out)
			for _, w := range words {
				out = appendWord(out, w)
			}
		}
	}
	for _, f := range c.Fixups {
		machine.Put32(out[f.At:], int32(at[f.Lit]-f.End))
	}
	return out
}
