package trust

import (
	"math"

	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
)

// GradeSecond estimates errors of the second derivatives of s and grades them, by those of fine, the independent run
// that gave o. It warns of what is not right. sizes are by columns those of the variables. Second derivatives by two of
// those that left marks lack something, and none of them is sound; left may be nil.
func (s *Result) GradeSecond(
	x *explain.Explainer, fine *result.Sensitivities, sizes []float64, left []bool, o *Opinion,
) {
	c := s.Columns
	s.HessianErrors, s.ProductErrors = make([]float64, len(s.Hessian)), make([]float64, len(s.Products))
	s.HessianTrusts, s.ProductTrusts = make([]result.Trust, len(s.Hessian)), make([]result.Trust, len(s.Products))
	for k := range s.HessianTrusts {
		if left != nil && left[k/c%c] && left[k%c] {
			s.HessianTrusts[k] = result.Loose
		}
	}
	for k := range s.ProductTrusts {
		if left != nil && left[k%c] && s.along(left) {
			s.ProductTrusts[k] = result.Loose
		}
	}
	worst := result.Sound
	for i, v := range s.Values {
		if math.IsNaN(v.Value) {
			continue
		}
		of := result.Sound
		if at := i * c * c; s.Hessian != nil {
			n := Seconds{
				Row: s.Hessian[at : at+c*c], Other: fine.Hessian[at:], Errors: s.HessianErrors[at:],
				Trusts: s.HessianTrusts[at:],
			}
			for _, t := range s.Sideways {
				other, near, far := fine.Hessian[at:at+c*c], t.Near.Hessian[at:], t.Far.Hessian[at:]
				row := t.towards(make([]float64, c*c), other, near, far)
				n.Sideways = append(n.Sideways, t.returns(row, other, near, far))
			}
			of = max(of, n.Grade(v.Value, func(k int) (size float64, sided, bent bool) {
				a, b := k/c, k%c
				jumps := s.jumps(i, a, b)
				return float64(sizes[a] * sizes[b]), jumps || s.isSided(i, a) || s.isSided(i, b), jumps
			}))
		}
		if at := i * c; s.Products != nil {
			n := Seconds{
				Row: s.Products[at : at+c], Other: fine.Products[at:], Errors: s.ProductErrors[at:],
				Trusts: s.ProductTrusts[at:],
			}
			for _, t := range s.Sideways {
				other, near, far := fine.Products[at:at+c], t.Near.Products[at:], t.Far.Products[at:]
				row := t.towards(make([]float64, c), other, near, far)
				n.Sideways = append(n.Sideways, t.returns(row, other, near, far))
			}
			of = max(of, n.Grade(v.Value, func(k int) (float64, bool, bool) {
				jumps := s.jumpsAlong(i, k)
				return sizes[k], jumps || s.isSided(i, k), jumps
			}))
		}
		switch worst = max(worst, of); of {
		case result.Lost:
			s.Status = "partial"
			s.Note(x, result.CodeTrust, diag.Warning, "second derivatives of %s are not to be trusted, by %s", v.Name,
				o.By)
		case result.Loose:
			s.Note(x, result.CodeTrust, diag.Warning, "few digits of second derivatives of %s are right, by %s", v.Name,
				o.By)
		}
	}
	if worst == result.Sound {
		s.HessianTrusts, s.ProductTrusts = nil, nil
	}
}

// along reports whether the direction of the products moves any of some columns.
func (s *Result) along(columns []bool) bool {
	for k, d := range s.Direction {
		if d != 0 && columns[k] {
			return true
		}
	}
	return false
}

// Unknown grades second derivatives that are no numbers, where no independent run does.
func (s *Result) Unknown() {
	s.Status = "partial"
	s.HessianTrusts, s.ProductTrusts = make([]result.Trust, len(s.Hessian)), make([]result.Trust, len(s.Products))
	for _, x := range []struct {
		row    []float64
		trusts []result.Trust
	}{{s.Hessian, s.HessianTrusts}, {s.Products, s.ProductTrusts}} {
		for k, v := range x.row {
			if v != v {
				x.trusts[k] = result.Lost
			}
		}
	}
}
