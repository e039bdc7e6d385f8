package linalg

// Signed is an LU that knows the sign of the determinant of what it factored last.
type Signed interface {
	LU
	// Sign returns 1 or -1, or 0 where there is no telling.
	Sign() int
}

func (d *dense) Sign() int {
	sign := signOf(d.recip)
	for k, r := range d.pivot {
		if int(r) != k {
			sign = -sign
		}
	}
	return sign
}

func (f *band) Sign() int { // rows and columns have one order
	sign := signOf(f.recip)
	for _, below := range f.pivot {
		if below != 0 {
			sign = -sign
		}
	}
	return sign
}

func (f *sparse) Sign() int {
	sign := parity(f.o.rows) * parity(f.s.cols)
	if f.tail == nil {
		return sign * signOf(f.recip)
	}
	first, end := int(f.s.tail), int(f.s.tailEnd)
	return sign * signOf(f.recip[:first]) * signOf(f.recip[end:f.s.p.N]) * f.tail.Sign()
}

// Sign is unknown: what solves may be no factors.
func (f *hybrid) Sign() int { return 0 }

// signOf returns the sign of the product of pivots, of which these are -1 over each.
func signOf(recip []float64) int {
	sign := 1
	for _, r := range recip {
		switch {
		case r > 0:
			sign = -sign
		case !(r < 0):
			return 0
		}
	}
	return sign
}

// parity returns 1 for an even permutation and -1 for an odd one.
func parity(p []int32) int {
	sign, seen := 1, make([]bool, len(p))
	for i := range p {
		for j := int(p[i]); j != i && !seen[i]; j = int(p[j]) {
			seen[j] = true
			sign = -sign
		}
	}
	return sign
}
