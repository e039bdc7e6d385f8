package linalg

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// TestBits compares a hash of many solutions with a constant: they have the same bits on every
// processor and backend, and a change of bits is seen.
func TestBits(t *testing.T) {
	hash := fnv.New64a()
	take := func(x []float64) {
		var word [8]byte
		for _, v := range x {
			binary.LittleEndian.PutUint64(word[:], math.Float64bits(v))
			hash.Write(word[:])
		}
	}
	list := append(matrices(), network(1000, 3000, 1e-2, 1))
	for _, m := range list {
		n := m.p.N
		r := elem.NewRand(21)
		b := make([]float64, 9*n)
		for i := range b {
			b[i] = r.Norm()
		}
		for _, method := range methods[1:] {
			if method == Dense && n > 300 {
				continue
			}
			f := analyzed(t, m, method)
			if err := f.Factor(m.values); err != nil {
				t.Fatal(err)
			}
			for _, lanes := range []int{1, 9} {
				x := slices.Clone(b[:lanes*n])
				f.Solve(x, lanes)
				f.SolveT(x, lanes)
				take(x)
			}
		}
	}
	m := grid(30)
	ilu, err := newILU(m.p)
	if err != nil {
		t.Fatal(err)
	}
	b, x := make([]float64, m.p.N), make([]float64, m.p.N)
	r := elem.NewRand(22)
	for i := range b {
		b[i] = r.Norm()
	}
	if err := ilu.Factor(m.values); err != nil {
		t.Fatal(err)
	}
	if _, err := NewGMRES(m.p.N, 10).Solve(system(m, ilu, false), x, b, 1e-10, 100); err != nil {
		t.Fatal(err)
	}
	take(x)
	const want = 0x2cf38c58f8b97901
	if got := hash.Sum64(); got != want {
		t.Errorf("the hash of the solutions is %#x, not %#x", got, uint64(want))
	}
}
