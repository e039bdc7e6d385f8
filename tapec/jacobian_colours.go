package tapec

import (
	"math/bits"
	"slices"

	"odes.dev/odes/tape"
)

// Colours gives each column of a pattern a colour, from 0 on, so that columns with a row in common differ. Columns
// without entries have colour -1. It takes each column in turn, and the first colour that fits.
func Colours(rows, cols []int32) []int32 {
	first := make([]int, highest(cols)+2) // of each column, among entries ordered by column
	for _, c := range cols {
		first[c+1]++
	}
	n := len(first) - 1
	for c := range n {
		first[c+1] += first[c]
	}
	order, next := make([]int32, len(cols)), slices.Clone(first)
	for e, c := range cols {
		order[next[c]] = rows[e]
		next[c]++
	}
	used := make([][]uint64, highest(rows)+1) // the colours of each row, as bits
	out := make([]int32, n)
	var taken []uint64
	for c := range n {
		out[c] = -1
		of := order[first[c]:first[c+1]]
		if len(of) == 0 {
			continue
		}
		clear(taken)
		for _, r := range of {
			for len(taken) < len(used[r]) {
				taken = append(taken, 0)
			}
			for i, b := range used[r] {
				taken[i] |= b
			}
		}
		k := 0
		for k < len(taken) && taken[k] == ^uint64(0) {
			k++
		}
		colour := 64 * k
		if k < len(taken) {
			colour += bits.TrailingZeros64(^taken[k])
		}
		out[c] = int32(colour)
		for _, r := range of {
			for len(used[r]) <= colour/64 {
				used[r] = append(used[r], 0)
			}
			used[r][colour/64] |= 1 << (colour % 64)
		}
	}
	return out
}

// countOf returns the number of colours.
func countOf(colours []int32) int { return highest(colours) + 1 }

// highest returns the largest of numbers from -1 on, -1 if there are none.
func highest(x []int32) int {
	most := int32(-1)
	for _, v := range x {
		most = max(most, v)
	}
	return int(most)
}

// coloured returns the Jacobian with the places of pattern. Its entries are tangents, in which all columns of a colour
// move at once.
func coloured(t *tape.Tape, of, wrt []Placed, pattern *Jacobian) (*Jacobian, error) {
	d := newDerivation(t, t.Name)
	wrt = slices.DeleteFunc(slices.Clone(wrt), func(p Placed) bool {
		_, ok := d.inputs[p.Name]
		return !ok
	})
	jvp, err := JVP(t, placedNames(of), placedNames(wrt))
	if err != nil {
		return nil, err
	}
	var s stamps
	_, rows, cols := s.distinct(highest(pattern.Rows)+1, pattern.Rows, pattern.Cols)
	colours := Colours(rows, cols)
	seeds := map[string]Placed{}
	for _, p := range wrt {
		seeds[Tangent.Of(p.Name)] = p
	}
	out := &Jacobian{Terms: pattern.Terms, Tangent: pattern.Tangent}
	b := tape.NewBuilder(t.Name + ".jacobian")
	count := 0
	for c := range countOf(colours) {
		values := Inline(b, jvp, func(in *tape.Input) tape.Value {
			p, ok := seeds[in.Name]
			if !ok {
				return b.Input(in.Name, in.Shape, false)
			}
			seed := make([]float64, in.Shape.Size())
			for i := range seed {
				if k := p.At + i; k < len(colours) && colours[k] == int32(c) {
					seed[i] = 1
				}
			}
			return b.Const(in.Shape, seed...)
		})
		for _, o := range of {
			value, ok := values[Tangent.Of(o.Name)]
			if !ok {
				continue
			}
			v, _ := t.Output(o.Name)
			n := t.Shape(v).Size()
			from, _ := slices.BinarySearch(rows, int32(o.At))
			to, _ := slices.BinarySearch(rows, int32(o.At+n))
			var index []int
			for e := from; e < to; e++ {
				if colours[cols[e]] == int32(c) {
					index = append(index, int(rows[e])-o.At)
					out.Rows, out.Cols = append(out.Rows, rows[e]), append(out.Cols, cols[e])
				}
			}
			if len(index) > 0 {
				b.Output(Entries.Number(count).String(), b.Take(b.Reshape(value, tape.Shape{n}), 0, index))
				count++
			}
		}
	}
	out.Tape = b.Needed()
	return out, nil
}
