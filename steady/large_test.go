package steady

import (
	"errors"
	"math"
	"testing"

	"odes.dev/odes/internal/residue"
)

// TestMany has more states than eigenvalues are computed of: a chain behind a switch.
func TestMany(t *testing.T) {
	const n = 8
	sys := system(n, func(y, k []C) {
		k[0] = y[0] * (1 - y[0]) * (y[0] - 0.3)
		for i := 1; i < n; i++ {
			k[i] = y[i-1] - 2*y[i]
		}
	})
	for from, want := range map[float64]float64{0.2: 0, 0.5: 1} {
		y := make([]float64, n)
		y[0] = from
		if s, err := find(t, sys, nil, y, Options{eigen: 5}); err != nil || math.Abs(s.Y[0]-want) > 1e-12 {
			t.Errorf("from %v: %v", from, err)
		}
	}
	y := make([]float64, n)
	for i := range y {
		y[i] = math.Ldexp(0.31, -i)
	}
	_, err := find(t, sys, nil, y, Options{Way: Newton, eigen: 5})
	var e *Error
	if !errors.As(err, &e) || e.Fault != Unstable {
		t.Errorf("the unstable state is %v", err)
	}
	t.Log(err)
}

// TestManyLaws finds the total of a ring, and of pairs.
func TestManyLaws(t *testing.T) {
	const n = 300
	laws := Laws(n, func(k int, f []residue.Number) {
		for i := 0; i < n; i += 2 {
			x := residue.Hash(residue.Number(k), residue.Number(i))
			f[i], f[i+1] = x, residue.Neg(x)
		}
	})
	if len(laws) != n/2 {
		t.Errorf("there are %d laws", len(laws))
	}
}
