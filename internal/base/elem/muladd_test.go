package elem_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/seeds"
)

// TestMulAdd: MulAdd has the bits of math.FMA, at random numbers of all sizes, where products and sums nearly cancel,
// at halves of the last bit, and at what is no ordinary number.
func TestMulAdd(t *testing.T) {
	odd := []float64{
		0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, 5e-324, -5e-324,
		0x1p-1022, 0x1p-1074, 0x1p53, 0x1p53 + 2, 0x1p-53, 1 + 0x1p-52, 1 - 0x1p-53, 0x1p450, 0x1p-450,
		0x1p451, 0x1p-451, 0x1p-960, 0x1p959, 3, 1.0 / 3,
	}
	check := func(x, y, z float64) {
		got, want := elem.MulAdd(x, y, z), math.FMA(x, y, z)
		if math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
			t.Fatalf("%x * %x + %x = %x, not %x", x, y, z, got, want)
		}
	}
	for _, x := range odd {
		for _, y := range odd {
			for _, z := range odd {
				check(x, y, z)
			}
		}
	}
	seed := seeds.Of(t, 1)
	r := rand.New(rand.NewPCG(seed, 1))
	float := func(exponents int) float64 {
		// Few bits that are set, now and then, so that sums come out halfway between two numbers.
		m := r.Uint64() >> 12
		if r.IntN(2) == 0 {
			m &= r.Uint64() & r.Uint64() & r.Uint64()
		}
		e := uint64(1023 + r.IntN(2*exponents+1) - exponents)
		return math.Float64frombits(r.Uint64()<<63 | e<<52 | m)
	}
	for range 400_000 {
		x, y := float(60), float(60)
		check(x, y, float(120))
		p := float64(x * y)
		check(x, y, -p)
		check(x, y, math.Ldexp(float(2), math.Ilogb(p)+r.IntN(220)-110))
		check(x, y, p*float64(r.IntN(5)-2))
		check(float(1022), float(1022), float(1022))
	}
}

var sink float64

func BenchmarkMulAdd(b *testing.B) {
	x, z := 1.1, 0.0
	for b.Loop() {
		z = elem.MulAdd(x, 0.7, z)
	}
	sink = z
}
