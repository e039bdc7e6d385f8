package data

import (
	"cmp"
	"slices"
)

// littleMemory is how many elements a sparse matrix may have to be written out as well.
const littleMemory = 1 << 20

// Entries are the entries of a sparse matrix by row, then column (from 0), each place once.
type Entries struct {
	Row, Col []int
	Value    []float64
}

func (e *Entries) add(i, j int, x float64) {
	if e != nil {
		e.Row, e.Col, e.Value = append(e.Row, i), append(e.Col, j), append(e.Value, x)
	}
}

// sort orders the entries, and adds up those of one place in the order of the file.
func (e *Entries) sort() {
	if e == nil {
		return
	}
	order := make([]int, len(e.Value))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(e.Row[a], e.Row[b]), cmp.Compare(e.Col[a], e.Col[b]))
	})
	out := Entries{}
	for _, k := range order {
		if last := len(out.Value) - 1; last >= 0 && out.Row[last] == e.Row[k] && out.Col[last] == e.Col[k] {
			out.Value[last] += e.Value[k]
			continue
		}
		out.add(e.Row[k], e.Col[k], e.Value[k])
	}
	*e = out
}

// Transpose returns the entries of the transposed matrix.
func (e *Entries) Transpose() *Entries {
	t := &Entries{Row: slices.Clone(e.Col), Col: slices.Clone(e.Row), Value: slices.Clone(e.Value)}
	t.sort()
	return t
}
