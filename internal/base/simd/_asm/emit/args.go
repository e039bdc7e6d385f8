package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Args gives a kernel its arguments: those of a Go function, or the fields of an instruction of a
// threaded program. A kernel may load an argument more than once.
type Args interface {
	// Load reads an integer or a pointer into a register of its own.
	Load(name string) reg.GPVirtual
	// Float is where a float64 stands.
	Float(name string) Mem
}

func pointers(args Args, names ...string) []reg.Register {
	out := make([]reg.Register, len(names))
	for i, name := range names {
		out[i] = args.Load(name)
	}
	return out
}

// bytes loads a number of float64 as bytes.
func bytes(args Args, name string) reg.GPVirtual {
	r := args.Load(name)
	SHLQ(Imm(3), r)
	return r
}

func zero(r reg.GPVirtual) { XORL(r.As32(), r.As32()) }
