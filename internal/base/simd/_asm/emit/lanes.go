package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// SumLanes is out[lane] = Σ_i x[i·xs + lane] for lanes ≤ 4, in 8 partials over
// i < n: arguments out, x, n, xs, lanes.
func SumLanes(args Args) {
	reduceLanes(args, []string{"x"}, 0, func(s reg.VecVirtual, x []reg.VecVirtual) { VADDPD(x[0], s, s) })
}

// DotLanes is out[lane] = Σ_i x[i·xs + lane]·y[i·ys + lane] for lanes ≤ 4, fused, in
// 8 partials over i < n: arguments out, x, y, n, xs, ys, lanes. With shared set x
// has one element i for all lanes, x[i·xs].
func DotLanes(args Args, shared bool) {
	set := 0
	if shared {
		set = 1
	}
	reduceLanes(args, []string{"x", "y"}, set, func(s reg.VecVirtual, x []reg.VecVirtual) {
		VFMADD231PD(x[0], x[1], s)
	})
}

func reduceLanes(args Args, names []string, shared int, add func(s reg.VecVirtual, x []reg.VecVirtual)) {
	mask := YMM()
	Mask(args.Load("lanes"), mask)
	in := pointers(args, names...)
	strides := make([]reg.Register, len(in))
	for k, name := range names {
		strides[k] = bytes(args, name+"s")
	}
	var s [8]reg.VecVirtual
	for i := range s {
		s[i] = YMM()
		VXORPD(s[i], s[i], s[i])
	}
	row := func(i int) {
		x := make([]reg.VecVirtual, len(in))
		for k, p := range in {
			x[k] = YMM()
			if shared>>k&1 == 1 {
				Broadcast(Mem{Base: p}, x[k])
			} else {
				LoadMasked(Mem{Base: p}, mask, x[k])
			}
			ADDQ(strides[k], p)
		}
		add(s[i], x)
	}
	n := args.Load("n")
	SUBQ(Imm(8), n)
	JL(LabelRef("short"))
	Label("eight")
	for i := range s {
		row(i)
	}
	SUBQ(Imm(8), n)
	JGE(LabelRef("eight"))
	Label("short")
	ADDQ(Imm(8), n)
	JZ(LabelRef("sum"))
	for i := range 7 {
		row(i)
		DECQ(n)
		JZ(LabelRef("sum"))
	}
	Label("sum")
	for _, pair := range [][2]int{{0, 4}, {2, 6}, {1, 5}, {3, 7}, {0, 2}, {1, 3}, {0, 1}} {
		VADDPD(s[pair[1]], s[pair[0]], s[pair[0]])
	}
	StoreMasked(s[0], mask, Mem{Base: args.Load("out")})
}
