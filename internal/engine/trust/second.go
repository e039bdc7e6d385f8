package trust

import (
	"math"
	"slices"

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
		of, halved := result.Sound, false
		grade := func(n *Seconds, sizes func(k int) (float64, bool, bool), by func(k int) (int, int)) {
			grade := n.Grade(v.Value, sizes)
			some, others := s.halves(i, n, by)
			if halved = halved || some; some {
				grade = others
			}
			of = max(of, grade)
		}
		if at := i * c * c; s.Hessian != nil {
			n := Seconds{
				Row: s.Hessian[at : at+c*c], Other: fine.Hessian[at:], Errors: s.HessianErrors[at:],
				Trusts: s.HessianTrusts[at:],
			}
			for _, t := range s.Sideways {
				other, near, far := fine.Hessian[at:at+c*c], t.Near.Hessian[at:], t.Far.Hessian[at:]
				row := t.towards(make([]float64, c*c), other, near, far)
				t.returns(row, other, near, far)
				t.keep(row, other, func(k int) bool { return t.moves(k/c, k%c) })
				n.Sideways = append(n.Sideways, row)
			}
			grade(&n, func(k int) (size float64, sided, bent bool) {
				a, b := k/c, k%c
				jumps := s.jumps(i, a, b)
				return float64(sizes[a] * sizes[b]), jumps || s.isSided(i, a) || s.isSided(i, b), jumps
			}, func(k int) (int, int) { return k / c, k % c })
		}
		if at := i * c; s.Products != nil {
			n := Seconds{
				Row: s.Products[at : at+c], Other: fine.Products[at:], Errors: s.ProductErrors[at:],
				Trusts: s.ProductTrusts[at:],
			}
			for _, t := range s.Sideways {
				other, near, far := fine.Products[at:at+c], t.Near.Products[at:], t.Far.Products[at:]
				row := t.towards(make([]float64, c), other, near, far)
				t.returns(row, other, near, far)
				t.keep(row, other, func(k int) bool { return s.along(t.Moved) || t.Moved[k] })
				n.Sideways = append(n.Sideways, row)
			}
			grade(&n, func(k int) (float64, bool, bool) {
				jumps := s.jumpsAlong(i, k) && !s.staysMet(i, k)
				return sizes[k], jumps || s.isSided(i, k), jumps
			}, func(k int) (int, int) { return k, result.Along })
		}
		if halved {
			worst = result.Lost
			s.noteHalves(x, i)
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

// DoubtSecond grades second derivatives of s other than zero where the independent run failed, which has been told.
func (o *Opinion) DoubtSecond(s *Result) {
	doubt := func(numbers []float64) []result.Trust {
		trusts := make([]result.Trust, len(numbers))
		for k, x := range numbers {
			if x != 0 {
				trusts[k] = o.unconfirmed(late)
			}
		}
		return trusts
	}
	s.HessianTrusts, s.ProductTrusts = doubt(s.Hessian), doubt(s.Products)
}

// halves makes those second derivatives of value i no numbers that have two sides at coincidences: those of what
// has two sides itself, and those that jump there, as runs on both sides say. An element belongs to a column and to
// another one, or Along. It
// reports whether there are some, and the worst grade of the others.
func (s *Result) halves(i int, n *Seconds, of func(k int) (column, other int)) (some bool,
	others result.Trust,
) {
	d := s.decision
	for k := range n.Row {
		column, other := of(k)
		if d == nil || !s.halved(i, column, other, n.turns[k]) {
			others = max(others, n.Trusts[k])
			continue
		}
		n.Row[k], n.Errors[k], n.Trusts[k], some = math.NaN(), math.NaN(), result.Lost, true
		half := result.SecondSides{Value: i, Column: column, Other: other}
		for _, motion := range []int{column, other} {
			for _, c := range s.decision.apart(motion, s.Columns) {
				if c = s.use(d, c); !slices.Contains(half.Coincidences, c) {
					half.Coincidences = append(half.Coincidences, c)
				}
			}
		}
		s.OneSided.Seconds = append(s.OneSided.Seconds, half)
	}
	return some, others
}

// halved reports whether the second derivative of value i by a column and another one, or along the direction, has two
// sides where one of them parts causes. turns tells that it is another one on some side.
func (s *Result) halved(i, column, other int, turns bool) bool {
	d := s.decision
	a, b := len(d.apart(column, s.Columns)) > 0, len(d.apart(other, s.Columns)) > 0
	if !a && !b {
		return false
	}
	if other != result.Along {
		return turns || a && s.leapt(i, column, other) || b && s.leapt(i, other, column) ||
			column == other && s.twoSided(i, column)
	}
	if turns {
		return true
	}
	for l, by := range s.Direction {
		if b && by != 0 && (s.leapt(i, l, column) || s.leapt(i, column, l)) {
			return true
		}
	}
	return false
}

// apart lists coincidences at which a column, or a move along the direction, parts causes.
func (d *Decision) apart(column, columns int) []int {
	switch {
	case column != result.Along:
		return d.Apart[column]
	case d.N > columns:
		return d.Apart[columns]
	}
	return nil
}

// staysMet reports whether a move along the direction, by all that is known of it, parts no causes, so that second
// derivatives along it by column k are others on the other side only where runs on both sides of that say so.
func (s *Result) staysMet(i, k int) bool {
	d := s.decision
	return d != nil && d.N > s.Columns && d.Known[i*d.N+s.Columns] && len(d.Apart[s.Columns]) == 0 &&
		(len(d.Apart[k]) == 0 || len(s.Sideways) > 0 && s.compared(k))
}

// twoSided reports whether the derivative of value i by a column, or along the direction, has two sides or none.
func (s *Result) twoSided(i, column int) bool {
	return slices.ContainsFunc(s.OneSided.Sides, func(b result.BothSides) bool {
		return b.Value == i && b.Column == column
	}) || slices.ContainsFunc(s.OneSided.Leaps, func(l result.Leap) bool { return l.Value == i && l.Column == column })
}

// noteHalves says of value i at which coincidences its second derivatives are no numbers.
func (s *Result) noteHalves(x *explain.Explainer, i int) {
	var list []int
	for _, h := range s.OneSided.Seconds {
		for _, c := range h.Coincidences {
			if h.Value == i && !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	s.Status = "partial"
	for _, c := range list {
		at := &s.OneSided.Coincidences[c]
		s.Note(x, explain.CodeTie, diag.Warning, "second derivatives of %s that are nan have two sides: %s, %s, and a "+
			"variable moves them apart", s.Values[i].Name, together(at.Causes), x.When(at.T))
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
