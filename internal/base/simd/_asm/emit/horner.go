package emit

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// Horner writes out[i] = base + θ[i]·Σ_k c[k·stride]·u^k with u = 2θ[i] - 1, by Horner's rule, fused: arguments out,
// theta, base, c, terms > 0, stride, n, a multiple of four. With slopes, rates[i] becomes the derivative by θ over h:
// arguments rates and h besides.
func Horner(args Args, slopes bool) {
	names := []string{"out", "theta"}
	if slopes {
		names = append(names, "rates")
	}
	p := pointers(args, names...)
	base, less, h := YMM(), YMM(), YMM()
	Broadcast(args.Float("base"), base)
	VMOVUPD(Words(math.Float64bits(-1)), less)
	if slopes {
		Broadcast(args.Float("h"), h)
	}
	c, terms, stride := args.Load("c"), args.Load("terms"), bytes(args, "stride")
	last := GP64()
	MOVQ(terms, last)
	DECQ(last)
	IMULQ(stride, last)
	ADDQ(c, last)
	inFours(args.Load("n"), p, func() {
		theta, twice, u, v, d, by := YMM(), YMM(), YMM(), YMM(), YMM(), YMM()
		at, k := GP64(), GP64()
		VMOVUPD(Mem{Base: p[1]}, theta)
		VADDPD(theta, theta, twice)
		VADDPD(less, twice, u)
		VXORPD(v, v, v)
		if slopes {
			VXORPD(d, d, d)
		}
		MOVQ(last, at)
		MOVQ(terms, k)
		Label("term")
		Broadcast(Mem{Base: at}, by)
		if slopes {
			VFMADD213PD(v, u, d)
		}
		VFMADD213PD(by, u, v)
		SUBQ(stride, at)
		DECQ(k)
		JNZ(LabelRef("term"))
		if slopes {
			VFMADD213PD(v, twice, d)
			VDIVPD(h, d, d)
			VMOVUPD(d, Mem{Base: p[2]})
		}
		VFMADD213PD(base, theta, v)
		VMOVUPD(v, Mem{Base: p[0]})
	})
}
