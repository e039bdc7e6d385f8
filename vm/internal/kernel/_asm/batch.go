package main

import (
	"fmt"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"odes.dev/odes/internal/simd/_asm/emit"
)

// batches writes the handlers of one operation on many places: n results of 1, 2,
// 4 or 8 elements, each with operands of its own. A list gives, for each of them,
// where the result and the operands are in their slices, in bytes.
func batches() {
	for _, op := range emit.Operations {
		if slices.Contains([]string{"copy", "neg", "recip", "sqr", "add", "sub", "mul", "div"}, op.Name) {
			batch(op, sets(op.Arity))
		}
	}
	for _, p := range pairs() {
		batch(p.Operation, p.sets)
	}
}

func batch(op emit.Operation, sets []int) {
	for _, n := range []int{1, 2, 4, 8} {
		for _, set := range sets {
			if n == 1 && set > 0 {
				continue
			}
			handler(fmt.Sprintf("batch %s %s/%d", name(op.Name), form(op.Arity, set), n), func() {
				base := []reg.Register{slice(operands["out"])}
				for k := range op.Arity {
					base = append(base, slice(fields[k]))
				}
				left, list := record{}.Load("n"), record{}.Load("lanes")
				Label("one")
				at := make([]Mem, len(base))
				for i, b := range base {
					r := GP64()
					MOVL(Mem{Base: list, Disp: 4 * i}, r.As32())
					at[i] = Mem{Base: b, Index: r, Scale: 1}
				}
				repeated := make([]reg.VecVirtual, op.Arity)
				for k := range repeated {
					if set>>k&1 == 1 {
						repeated[k] = YMM()
						read(n, true, at[k+1], repeated[k])
					}
				}
				for part := 0; part < n; part += 4 {
					f := emit.NewBody(nil)
					x := make([]emit.V, op.Arity)
					for k, r := range repeated {
						if r != nil {
							x[k] = f.Pinned(r)
							continue
						}
						r = YMM()
						read(min(n, 4), false, at[k+1].Offset(8*part), r)
						x[k] = f.Input(r)
					}
					write(min(n, 4), f.Emit(op.Emit(f, x))[0], at[0].Offset(8*part))
				}
				ADDQ(Imm(uint64(4*len(base))), list)
				DECQ(left)
				JNZ(LabelRef("one"))
				next()
			})
		}
	}
}

// slice is where the slice of the operand in the field at at begins.
func slice(at int) reg.Register {
	r := GP64()
	MOVL(Mem{Base: code, Disp: at}, r.As32())
	MOVQ(Mem{Base: table, Index: r, Scale: 1}, r)
	return r
}
