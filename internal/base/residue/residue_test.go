package residue

import (
	"math/big"
	"testing"
)

// TestArithmetic compares with arithmetic of large numbers.
func TestArithmetic(t *testing.T) {
	prime := big.NewInt(Prime)
	a, b := Hash(1), Hash(2)
	for i := range 1000 {
		x, y := new(big.Int).SetUint64(uint64(a)), new(big.Int).SetUint64(uint64(b))
		check := func(what string, got Number, want *big.Int) {
			if want.Mod(want, prime); want.Cmp(new(big.Int).SetUint64(uint64(got))) != 0 {
				t.Fatalf("%s of %d and %d is %d, want %v", what, a, b, got, want)
			}
		}
		check("sum", Add(a, b), new(big.Int).Add(x, y))
		check("difference", Sub(a, b), new(big.Int).Sub(x, y))
		check("product", Mul(a, b), new(big.Int).Mul(x, y))
		check("inverse", Inverse(a), new(big.Int).ModInverse(x, prime))
		a, b = b, Hash(a, Number(i))
		if i == 500 {
			a, b = Prime-1, Prime-1
		}
	}
}

// TestOf takes numbers for what they are written as.
func TestOf(t *testing.T) {
	if Add(Of(0.1), Of(0.2)) != Of(0.3) || Mul(Of(1.5e-300), Of(2e300)) != 3 || Of(-7) != Neg(7) || Of(0) != 0 {
		t.Error("decimal numbers are not exact")
	}
}

func TestFraction(t *testing.T) {
	for _, f := range [][2]int64{{1, 1}, {-3, 7}, {0, 1}, {1000, 999}, {-1, 2}} {
		num := Number(f[0])
		if f[0] < 0 {
			num = Neg(Number(-f[0]))
		}
		n, d, ok := Fraction(Mul(num, Inverse(Number(f[1]))))
		if !ok || n != f[0] || d != f[1] {
			t.Errorf("%d/%d is read as %d/%d", f[0], f[1], n, d)
		}
	}
	if n, d, ok := Fraction(Hash(17)); ok {
		t.Errorf("a random number is read as %d/%d", n, d)
	}
}
