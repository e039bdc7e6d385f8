package trust

import (
	"math"
	"slices"

	"odes.dev/odes/result"
)

// mostOrders limits how many runs in another order are made for one result.
const mostOrders = 6

// Orders returns lists of meetings that come apart together, with the columns that move all of each list and nothing
// else, each of these meetings one way or all the other way. The last one may have those of several lists, as mixed
// tells.
func Orders(met []Meeting, columns int) (lists [][]Meeting, by [][]int, mixed bool) {
	index := map[string]int{}
	for k := range columns {
		var list []Meeting
		key, way := make([]byte, len(met)), 0
		for i := range met {
			if !met[i].Columns[k] {
				continue
			}
			m := met[i]
			if way == 0 {
				way = m.Later[k]
			}
			if key[i], m.Turned = 1, m.Later[k] == -way && way != 0; m.Turned {
				key[i] = 2
			}
			list = append(list, m)
		}
		if len(list) == 0 {
			continue
		}
		i, known := index[string(key)]
		switch {
		case known:
		case len(lists) < mostOrders:
			i = len(lists)
			lists, by = append(lists, list), append(by, nil)
		default:
			i, mixed = len(lists)-1, true
			lists[i] = append(lists[i], list...)
		}
		index[string(key)] = i
		by[i] = append(by[i], k)
	}
	return lists, by, mixed
}

// Reorder prepares s for CompareOrder.
func (s *Result) Reorder() {
	s.Unlike, s.Settled = make([]float64, len(s.Gradient)), make([]bool, s.Columns)
	s.Leapt = map[int][]bool{}
}

// CompareOrder notes how far the derivatives of fine, the independent run of s, are by some columns from those of
// other, a run with meetings in another order; nil if that failed. Unless sizes is nil, it also notes what that says of
// second derivatives. sizes are those of the variables.
func (s *Result) CompareOrder(fine, other *result.Sensitivities, columns []int, sizes []float64) {
	for i, v := range s.Values {
		jumps := other == nil
		if !jumps {
			x, y := fine.Values[i].Value, other.Values[i].Value
			jumps = !(math.Abs(x-y) <= float64(10*v.Error)+float64(1e-6*math.Abs(x)))
		}
		for _, k := range columns {
			at := i*s.Columns + k
			off := math.Inf(1)
			if !jumps {
				off = math.Abs(fine.Gradient[at] - other.Gradient[at])
			}
			s.Unlike[at] = max(s.Unlike[at], off)
		}
		if sizes != nil {
			s.leap(i, fine, other, jumps, columns, sizes)
		}
	}
}

// leap notes which derivatives of value i are others in two runs, by more than errors, in the direction of some
// columns: all, where other is nil, and by these columns, where the value jumps. sizes are those of the variables.
func (s *Result) leap(i int, fine, other *result.Sensitivities, jumps bool, columns []int, sizes []float64) {
	leapt, some := make([]bool, s.Columns), jumps
	if other == nil {
		for k := range leapt {
			leapt[k] = true
		}
	} else {
		some = s.leaps(i, fine, other, sizes, leapt) || some
	}
	if jumps {
		for _, k := range columns {
			leapt[k] = true
		}
	}
	if !some {
		return
	}
	for _, k := range columns {
		row := s.Leapt[i*s.Columns+k]
		if row == nil {
			row = make([]bool, s.Columns)
			s.Leapt[i*s.Columns+k] = row
		}
		for l, x := range leapt {
			row[l] = row[l] || x
		}
	}
}

// leaps fills in which derivatives of value i are others in two runs, and reports whether some are.
func (s *Result) leaps(i int, fine, other *result.Sensitivities, sizes []float64, leapt []bool) (some bool) {
	most, row := 0.0, i*s.Columns
	for n, v := range s.Variables {
		for k := v.Offset; k < v.Offset+v.Size(); k++ {
			most = max(most, float64(sizes[n]*math.Abs(fine.Gradient[row+k])))
		}
	}
	for n, v := range s.Variables {
		for k := v.Offset; k < v.Offset+v.Size(); k++ {
			x, y := fine.Gradient[row+k], other.Gradient[row+k]
			off := float64(1e-6 * max(math.Abs(x), math.Abs(y)))
			if s.Errors != nil {
				off = max(off, float64(10*s.Errors[row+k]))
			}
			if d := math.Abs(x - y); !(d <= off || float64(d*sizes[n]) <= float64(PartOfDerivatives*most)) {
				leapt[k], some = true, true
			}
		}
	}
	return some
}

// Suspects lists columns by which a derivative may be that of one side, as far as that is not decided.
func (s *Result) Suspects() (list []int) {
	for k := range s.Columns {
		suspect := slices.ContainsFunc(s.Meetings, func(m Meeting) bool { return m.Columns[k] })
		for i := range s.Values {
			suspect = suspect || s.isSided(i, k) || s.isBent(i, k)
		}
		if suspect {
			list = append(list, k)
		}
	}
	return list
}
