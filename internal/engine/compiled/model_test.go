package compiled

import (
	"fmt"
	"strings"
	"testing"
)

// TestRowsAreShared holds that observations of several columns of a table read its rows from one copy.
func TestRowsAreShared(t *testing.T) {
	const columns, rows = 20, 3
	var b strings.Builder
	b.WriteString("time t from 0 to 4\nparam k = 2, sd = 0.1\nstate x = 1\nx' = -k*x\ndata D {\n  time = [1, 2, 3]\n")
	for i := range columns {
		fmt.Fprintf(&b, "  c%d = [1, 2, %d]\n", i, i)
	}
	b.WriteString("}\n")
	for i := range columns {
		fmt.Fprintf(&b, "observe y%d = x*%d ~ normal(sd) from D.c%d\n", i, i+1, i)
	}
	b.WriteString("objective J = nll()\n")
	m := taskOf(t, b.String()).Model
	read, copies := 0, map[*float64]bool{}
	for _, row := range m.Rows {
		if row != nil {
			read++
			copies[&row[0]] = true
		}
	}
	if read < columns*rows || len(copies) > 2*rows { // with the numbers of the rows, and without
		t.Errorf("%d rows are read from %d copies", read, len(copies))
	}
}
