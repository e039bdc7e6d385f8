package compiled

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// EmitJacobian writes the Jacobian of the rates: its pattern, how its entries are made and what another way would
// cost, where the entries of each output of its tape stand, and the tape.
func (m *Model) EmitJacobian(w io.Writer) error {
	made, err := m.Programs.WithJacobian(false)
	if err != nil {
		return err
	}
	j, l := made.Made, made.Layout
	var b strings.Builder
	p := patternOf(j, l.NY)
	rows, cols := l.NY+l.NQ, l.NY+1
	fmt.Fprintf(&b, "# Jacobian of %s by %s and time\n", diag.CountOf(rows, "rate", "rates"),
		diag.CountOf(l.NY, "state", "states"))
	fmt.Fprintf(&b, "# pattern: %s at %s, %.3g %% of %d × %d; up to %d in a row; bandwidth %d + 1 + %d\n",
		diag.CountOf(len(j.Rows), "entry", "entries"), diag.CountOf(p.places, "place", "places"),
		100*float64(p.places)/float64(rows*cols), rows, cols, p.inRow, p.below, p.above)
	colours := 0
	for _, c := range tapec.Colours(j.Rows, j.Cols) {
		colours = max(colours, int(c)+1)
	}
	choice := "the terms"
	if !j.Direct {
		choice = "the colours"
	}
	terms := diag.CountOf(j.Terms, "operation", "operations")
	if !j.Direct && j.Terms == 0 {
		terms = "too many"
	}
	fmt.Fprintf(&b, "# terms: %s\n", terms)
	fmt.Fprintf(&b, "# colours: %d, each at least %s\n", colours, diag.CountOf(j.Tangent, "operation", "operations"))
	fmt.Fprintf(&b, "# choice: %s\n#\n", choice)
	time := block{"t", vec.Part{Vec: vec.T, Offset: l.NY, Len: 1}}
	rates, states := blocksOf(l, vec.K), blocksOf(l, vec.Y)
	for i := range states { // what is read of the past stands behind the time
		if states[i].Offset >= l.NY {
			states[i].Offset++
		}
	}
	for _, tau := range blocksOf(l, vec.Delays) { // and the delays that move behind the rates
		tau.Offset += rows
		rates = append(rates, tau)
	}
	states = append(states, time)
	slices.SortStableFunc(states, func(x, y block) int { return x.Offset - y.Offset })
	at := 0
	for _, o := range j.Tape.Outputs {
		n := j.Tape.Shape(o.Value).Size()
		fmt.Fprintf(&b, "# %s: %s\n", o.Name, describe(rates, states, j.Rows[at:at+n], j.Cols[at:at+n]))
		at += n
	}
	b.WriteByte('\n')
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	printer := tape.Printer{MaxData: 16}
	return printer.Print(w, j.Tape)
}

// jacobianPattern are the numbers that say what a pattern is like.
type jacobianPattern struct {
	places, inRow int
	below, above  int // how far the outermost diagonals are from the middle, of states alone
}

// patternOf counts the pattern of a Jacobian by n states.
func patternOf(j *tapec.Jacobian, n int) (p jacobianPattern) {
	order := make([]int, len(j.Rows))
	for e := range order {
		order[e] = e
	}
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(j.Rows[x], j.Rows[y]), cmp.Compare(j.Cols[x], j.Cols[y]))
	})
	row, inRow := int32(-1), 0
	col := int32(-1)
	for _, e := range order {
		if j.Rows[e] != row {
			row, col, inRow = j.Rows[e], -1, 0
		}
		if j.Cols[e] != col {
			col = j.Cols[e]
			p.places++
			inRow++
			p.inRow = max(p.inRow, inRow)
			if r, c := int(row), int(col); r < n && c < n {
				p.below, p.above = max(p.below, r-c), max(p.above, c-r)
			}
		}
	}
	return p
}

// blocks are the arrays of a vector, in order.
type blocks []block

type block struct {
	Name string
	vec.Part
}

// blocksOf returns the arrays in vec.
func blocksOf(l *vec.Layout, of vec.Vector) blocks {
	var list blocks
	for name, at := range l.Parts {
		if at.Vec == of {
			list = append(list, block{name.String(), at})
		}
	}
	slices.SortFunc(list, func(x, y block) int { return x.Offset - y.Offset })
	return list
}

// at returns the array that holds element i.
func (b blocks) at(i int32) *block {
	k, found := slices.BinarySearchFunc(b, int(i), func(x block, i int) int { return x.Offset - i })
	if !found {
		k--
	}
	return &b[k]
}

// describe says where entries stand: in which rates and by which states, and how many rows and columns they have, or on
// which diagonal of these.
func describe(rates, states blocks, rows, cols []int32) string {
	var of, by []string
	diagonal, shift := true, 0
	inRows, inCols := map[int32]bool{}, map[int32]bool{}
	for e, r := range rows {
		c := cols[e]
		rate, state := rates.at(r), states.at(c)
		of, by = with(of, rate.Name), with(by, state.Name)
		d := int(c) - state.Offset - (int(r) - rate.Offset)
		if e == 0 {
			shift = d
		}
		diagonal = diagonal && d == shift
		inRows[r], inCols[c] = true, true
	}
	where := "in " + diag.CountOf(len(inRows), "row", "rows") + " and " + diag.CountOf(len(inCols), "column", "columns")
	switch {
	case len(rows) == 1:
		return fmt.Sprintf("1 entry of %s by %s", of[0], by[0])
	case diagonal && len(of) == 1 && len(by) == 1:
		where = fmt.Sprintf("on diagonal %d", shift)
	}
	return fmt.Sprintf("%d entries of %s by %s, %s", len(rows), few(of), few(by), where)
}

// with returns list with a name.
func with(list []string, name string) []string {
	if len(list) > 0 && list[len(list)-1] == name || slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// few writes names, and of many the first ones.
func few(names []string) string {
	if len(names) > 4 {
		return strings.Join(names[:3], ", ") + fmt.Sprintf(" and %d more", len(names)-3)
	}
	return strings.Join(names, ", ")
}
