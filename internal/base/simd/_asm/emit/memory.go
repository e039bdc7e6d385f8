package emit

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// At is element i of the array of float64 at base, i in a register.
func At(base, i reg.Register) Mem { return Mem{Base: base, Index: i, Scale: 8} }

// LoadMasked reads the elements whose mask is set. The others become 0, and their memory is not
// touched.
func LoadMasked(m Mem, mask, to reg.VecVirtual) { VMASKMOVPD(m, mask, to) }

// loadWide is LoadMasked for a vector of eight.
func loadWide(m Mem, mask, to reg.Register) { VMOVUPD_Z(m, mask, to) }

// zeroWide sets a vector of eight to +0. The previous contents are no input of this instruction,
// which the register allocator does not know.
func zeroWide(x reg.Register) {
	Instruction(&ir.Instruction{Opcode: "VPXORQ", Operands: []Op{x, x, x}, Outputs: []Op{x}, ISA: []string{"AVX512F"}})
}

// StoreMasked writes the elements whose mask is set.
func StoreMasked(x, mask reg.VecVirtual, m Mem) { VMASKMOVPD(x, mask, m) }

// Broadcast reads one element into all lanes.
func Broadcast(m Mem, to reg.VecVirtual) { VBROADCASTSD(m, to) }

var maskTable *Mem

// Mask sets the first n lanes of a mask, 0 ≤ n ≤ 4.
func Mask(n reg.Register, to reg.VecVirtual) {
	if maskTable == nil {
		m := GLOBL("masks", NOPTR|RODATA)
		for i := range 8 {
			v := uint64(0)
			if i < 4 {
				v = 1<<64 - 1
			}
			DATA(8*i, U64(v))
		}
		maskTable = &m
	}
	at, table := GP64(), GP64()
	MOVQ(U32(4), at)
	SUBQ(n, at)
	LEAQ(*maskTable, table)
	VMOVUPD(Mem{Base: table, Index: at, Scale: 8}, to)
}
