package tape

import "odes.dev/odes/internal/base/residue"

// A tape that is evaluated with random residues shows which linear combinations of its outputs vanish whatever its
// inputs are. Rational ops are exact. Of the others nothing is known but that equal operands give equal results: their
// values are drawn. So are those of conditions, 0 or 1, and Selects follow them.
var residueArith = &arith[residue.Number]{
	one: func(r *Row) func(a residue.Number) residue.Number {
		switch r.Op {
		case Neg:
			return residue.Neg
		case Recip:
			return residue.Inverse
		case Sqr:
			return func(a residue.Number) residue.Number { return residue.Mul(a, a) }
		case Not:
			return func(a residue.Number) residue.Number { return residue.Sub(1, a) }
		}
		return func(a residue.Number) residue.Number { return residue.Hash(residue.Number(r.Op), a) }
	},
	two: func(r *Row) func(a, b residue.Number) residue.Number {
		switch r.Op {
		case Add:
			return residue.Add
		case Sub:
			return residue.Sub
		case Mul, ZeroMul:
			return residue.Mul
		case Div:
			return func(a, b residue.Number) residue.Number { return residue.Mul(a, residue.Inverse(b)) }
		}
		if r.Class == Condition {
			return func(a, b residue.Number) residue.Number { return drawn(r.Op, a, b) & 1 }
		}
		return func(a, b residue.Number) residue.Number { return drawn(r.Op, a, b) }
	},
	three: func(r *Row) func(a, b, c residue.Number) residue.Number {
		if r.Op == Select {
			return func(a, b, c residue.Number) residue.Number {
				if a != 0 {
					return b
				}
				return c
			}
		}
		return fusedResidues
	},
	powi: residue.Power, add: residue.Add, mul: residue.Mul, fma: fusedResidues,
	max: func(a, b residue.Number) residue.Number { return drawn(Max, a, b) },
	min: func(a, b residue.Number) residue.Number { return drawn(Min, a, b) },
}

func fusedResidues(a, b, c residue.Number) residue.Number { return residue.Add(residue.Mul(a, b), c) }

// drawn returns the value of an op that is not rational.
func drawn(op Op, a, b residue.Number) residue.Number { return residue.Hash(residue.Number(op), a, b) }
