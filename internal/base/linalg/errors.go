package linalg

import (
	"fmt"
	"strings"
)

// SingularError says that a matrix has no inverse.
//
// If Structural is set no matrix with this pattern has one: the entries of the columns Cols lie in
// too few rows, Rows being rows for which no column is left. Otherwise elimination came to a column
// that is a combination of others, as far as rounding lets one tell: Cols holds that column, and
// Rows the row in which a pivot was sought.
type SingularError struct {
	Structural bool
	Rows, Cols []int // of the matrix, from 0, ascending
}

func (e *SingularError) Error() string {
	why := "singular"
	if e.Structural {
		why = "singular whatever its values"
	}
	return fmt.Sprintf("the matrix is %s (row %s, column %s)", why, list(e.Rows), list(e.Cols))
}

// list writes the first few numbers.
func list(numbers []int) string {
	const most = 5
	var b strings.Builder
	for k, n := range numbers {
		if k == most {
			fmt.Fprintf(&b, " and %d more", len(numbers)-most)
			break
		}
		if k > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n)
	}
	return b.String()
}

// NotFiniteError says that a matrix has an entry that is infinite or NaN, or that the elimination
// of finite entries overflowed. Then Overflow is set, and the place is that of the pivot.
type NotFiniteError struct {
	Row, Col int // of the matrix, from 0
	Value    float64
	Overflow bool
}

func (e *NotFiniteError) Error() string {
	if e.Overflow {
		return fmt.Sprintf("the elimination overflows in row %d, column %d", e.Row, e.Col)
	}
	return fmt.Sprintf("row %d, column %d of the matrix is %g", e.Row, e.Col, e.Value)
}

// MemoryError says that a factorisation would need more memory than it may take.
type MemoryError struct {
	Bytes     int // at least
	Limit     int
	Iterative bool // that method, which has no factors, has room
}

func (e *MemoryError) Error() string {
	const mega = 1 << 20
	return fmt.Sprintf("the factors of the matrix need more than %d MB of memory, and may take %d MB",
		e.Bytes/mega, e.Limit/mega)
}
