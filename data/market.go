package data

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// marketFormat is how a Matrix Market file lists the entries of a matrix.
type marketFormat struct {
	sizes       int // how many stand in the line of sizes: rows, columns and, with coordinates, entries
	coordinates bool
}

// marketSymmetry is how the entries that a file leaves out follow from those that it gives.
type marketSymmetry struct {
	lower  bool // only entries of the lower triangle are given
	below  int  // an array starts its columns so many rows below the diagonal
	negate bool // what is mirrored at the diagonal changes its sign
}

// The words of the first line of a file that is read. A field other than "pattern", which has no values, is read as
// real numbers, and a symmetry that is not here as all entries of a square matrix.
var (
	marketFormats = map[string]marketFormat{
		"array":      {sizes: 2},
		"coordinate": {sizes: 3, coordinates: true},
	}
	marketSymmetries = map[string]marketSymmetry{
		"general":        {},
		"symmetric":      {lower: true},
		"skew-symmetric": {lower: true, below: 1, negate: true},
	}
	marketUnread = map[string]bool{"complex": true, "hermitian": true}
)

// marketReader reads the lines of a Matrix Market file.
type marketReader struct {
	limit int // of elements
	marketFormat
	marketSymmetry
	pattern    bool   // entries have no value, and stand for 1
	symmetry   string // as the file says it
	rows, cols int
	entries    int // that the file announces
	seen       int // that were read
	i, j       int // where the next value of an array stands
	out        Array
}

// marketMatrix reads a Matrix Market file (R. F. Boisvert, R. Pozo, K. A. Remington, NISTIR 5935, 1996): array or
// coordinate; real, integer or pattern; general, symmetric or skew-symmetric. Of a coordinate file the entries are
// kept; they are written out as well where that takes little memory.
func marketMatrix(name string, file []byte, limit int) (Array, error) {
	line := 0
	fail := func(err error) (Array, error) { return Array{}, fmt.Errorf("%s:%d: %w", name, line, err) }
	m := &marketReader{limit: limit}
	read := m.header
	for raw := range bytes.Lines(file) {
		line++
		text := strings.TrimSpace(string(raw))
		if line > 1 && (text == "" || text[0] == '%') {
			continue
		}
		if err := read(text); err != nil {
			return fail(err)
		}
		if read = m.size; m.rows > 0 {
			read = m.entry
		}
	}
	switch {
	case m.rows == 0:
		return fail(fmt.Errorf("the file ends before the sizes"))
	case m.seen < m.entries:
		return fail(fmt.Errorf("%d entries, but %d were announced", m.seen, m.entries))
	}
	m.out.Entries.sort()
	return m.out, nil
}

// header reads the first line.
func (m *marketReader) header(text string) error {
	head := strings.Fields(strings.ToLower(text))
	if len(head) != 5 || head[0] != "%%matrixmarket" || head[1] != "matrix" {
		return fmt.Errorf("the first line of a Matrix Market file is like %q",
			"%%MatrixMarket matrix coordinate real general")
	}
	format, known := marketFormats[head[2]]
	if !known || marketUnread[head[3]] || marketUnread[head[4]] {
		return fmt.Errorf("a %s %s %s matrix is not read", head[2], head[3], head[4])
	}
	m.marketFormat, m.pattern = format, head[3] == "pattern"
	m.symmetry, m.marketSymmetry = head[4], marketSymmetries[head[4]]
	return nil
}

// size reads the line of sizes and makes room for the matrix.
func (m *marketReader) size(text string) error {
	fields := strings.Fields(text)
	if len(fields) != m.sizes {
		return fmt.Errorf("expected %d sizes, found %q", m.sizes, text)
	}
	sizes := make([]int, len(fields))
	for k, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil || n < 0 {
			return fmt.Errorf("%q is not a size", f)
		}
		sizes[k] = n
	}
	rows, cols := sizes[0], sizes[1]
	entries, ok := product([]int{rows, cols}, m.limit)
	if m.coordinates {
		entries = sizes[2]
		ok = rows <= m.limit && cols <= m.limit && entries <= m.limit
	}
	switch {
	case !ok || rows == 0 || cols == 0:
		return fmt.Errorf("a matrix of %d × %d is empty or beyond the limit of %d elements", rows, cols, m.limit)
	case m.symmetry != "general" && rows != cols:
		return fmt.Errorf("a %s matrix is square, and this is %d × %d", m.symmetry, rows, cols)
	case !m.coordinates && m.lower:
		n := rows - m.below
		entries = n * (n + 1) / 2
	}
	m.rows, m.cols, m.entries, m.i = rows, cols, entries, m.below
	m.out = Array{Shape: []int{rows, cols}}
	if m.coordinates {
		m.out.Entries = &Entries{}
	}
	// The whole matrix is written out where it is small, or not much larger than its entries.
	size := float64(rows) * float64(cols)
	if !m.coordinates || size <= float64(m.limit) && (size <= littleMemory || float64(entries) > size/8) {
		m.out.Data = make([]float64, rows*cols)
	}
	return nil
}

// entry reads a line with an entry.
func (m *marketReader) entry(text string) error {
	if m.seen == m.entries {
		return fmt.Errorf("more than the %d entries that were announced", m.entries)
	}
	i, j, x := m.i, m.j, 1.0
	fields := strings.Fields(text)
	if m.coordinates {
		if len(fields) < 2 {
			return fmt.Errorf("an entry is: row column value")
		}
		row, err1 := strconv.Atoi(fields[0])
		col, err2 := strconv.Atoi(fields[1])
		if err1 != nil || err2 != nil || row < 1 || row > m.rows || col < 1 || col > m.cols {
			return fmt.Errorf("(%s, %s) is outside the matrix of %d × %d", fields[0], fields[1], m.rows, m.cols)
		}
		i, j, fields = row-1, col-1, fields[2:]
	}
	if !m.pattern {
		if len(fields) != 1 {
			return fmt.Errorf("expected one value, found %d", len(fields))
		}
		var err error
		if x, err = parse(fields[0]); err != nil {
			return fmt.Errorf("%q %w", fields[0], err)
		}
	}
	m.seen++
	m.advance()
	m.add(i, j, x)
	if m.lower && i != j {
		if m.negate {
			x = -x
		}
		m.add(j, i, x)
	}
	return nil
}

// advance moves to where the next value of an array stands: arrays go by columns.
func (m *marketReader) advance() {
	if m.i++; m.i < m.rows {
		return
	}
	m.j++
	m.i = 0
	if m.lower {
		m.i = m.j + m.below
	}
}

func (m *marketReader) add(i, j int, x float64) {
	if m.out.Data != nil {
		m.out.Data[i*m.cols+j] += x
	}
	m.out.Entries.add(i, j, x)
}
