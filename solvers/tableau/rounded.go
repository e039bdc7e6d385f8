package tableau

import "math/big"

// Round returns the double nearest to x.
func Round(x *big.Rat) float64 {
	v, _ := x.Float64()
	return v
}

// RoundAll returns the doubles nearest to figures; nil for nil.
func RoundAll(row []*big.Rat) []float64 {
	if row == nil {
		return nil
	}
	out := make([]float64, len(row))
	for i, x := range row {
		out[i] = Round(x)
	}
	return out
}

// Centred returns the coefficients q_k of β(θ) = θ Σ q_k (2θ-1)^k for the p_k of β(θ) = Σ p_k θ^(k+1), rounded.
// Powers of θ nearly cancel within a step: at high order they would leave thousands of times the rounding errors that
// powers about the middle of the step leave.
func Centred(p []*big.Rat) []float64 {
	const bits = 256 // far below the cancelling digits
	q := make([]*big.Float, len(p))
	for k, c := range p {
		q[k] = new(big.Float).SetPrec(bits).SetRat(c)
		q[k].SetMantExp(q[k], -k) // over powers of 2θ
	}
	for i := range q { // Taylor's expansion at 1, by Horner's scheme
		for k := len(q) - 2; k >= i; k-- {
			q[k].Add(q[k], q[k+1])
		}
	}
	out := make([]float64, len(p))
	for k := range q {
		out[k], _ = q[k].Float64()
	}
	return out
}
