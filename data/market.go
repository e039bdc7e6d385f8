package data

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// marketMatrix reads a Matrix Market file (R. F. Boisvert, R. Pozo, K. A.
// Remington, NISTIR 5935, 1996): array or coordinate; real, integer or pattern;
// general, symmetric or skew-symmetric. Of a coordinate file the entries are
// kept; they are written out as well where that takes little memory.
func marketMatrix(name string, file []byte, limit int) (Array, error) {
	line := 0
	fail := func(format string, args ...any) (Array, error) {
		return Array{}, fmt.Errorf("%s:%d: "+format, append([]any{name, line}, args...)...)
	}
	var head []string
	var sizes []int
	var a Array
	var rows, cols, entries, seen int
	for raw := range bytes.Lines(file) {
		line++
		text := strings.TrimSpace(string(raw))
		if line == 1 {
			head = strings.Fields(strings.ToLower(text))
			if len(head) != 5 || head[0] != "%%matrixmarket" || head[1] != "matrix" {
				return fail("the first line of a Matrix Market file is like %q", "%%MatrixMarket matrix coordinate real general")
			}
			if head[2] != "array" && head[2] != "coordinate" || head[3] == "complex" || head[4] == "hermitian" {
				return fail("a %s %s %s matrix is not read", head[2], head[3], head[4])
			}
			continue
		}
		if text == "" || text[0] == '%' {
			continue
		}
		fields := strings.Fields(text)
		if sizes == nil {
			want := 3
			if head[2] == "array" {
				want = 2
			}
			if len(fields) != want {
				return fail("expected %d sizes, found %q", want, text)
			}
			for _, f := range fields {
				n, err := strconv.Atoi(f)
				if err != nil || n < 0 {
					return fail("%q is not a size", f)
				}
				sizes = append(sizes, n)
			}
			rows, cols = sizes[0], sizes[1]
			n, ok := product([]int{rows, cols}, limit)
			coordinate := head[2] == "coordinate"
			if coordinate {
				ok = rows <= limit && cols <= limit && sizes[2] <= limit
			}
			if !ok || rows == 0 || cols == 0 {
				return fail("a matrix of %d × %d is empty or beyond the limit of %d elements", rows, cols, limit)
			}
			if head[4] != "general" && rows != cols {
				return fail("a %s matrix is square, and this is %d × %d", head[4], rows, cols)
			}
			a = Array{Shape: []int{rows, cols}}
			entries = sizes[len(sizes)-1]
			if coordinate {
				a.Entries = &Entries{}
			}
			if size := float64(rows) * float64(cols); !coordinate || size <= float64(limit) && (size <= littleMemory || float64(entries) > size/8) {
				a.Data = make([]float64, rows*cols)
			}
			if head[2] == "array" {
				entries = n
				switch head[4] {
				case "symmetric":
					entries = rows * (rows + 1) / 2
				case "skew-symmetric":
					entries = rows * (rows - 1) / 2
				}
			}
			continue
		}
		if seen == entries {
			return fail("more than the %d entries that were announced", entries)
		}
		i, j, x := 0, 0, 1.0
		if head[2] == "coordinate" {
			if len(fields) < 2 {
				return fail("an entry is: row column value")
			}
			var err1, err2 error
			i, err1 = strconv.Atoi(fields[0])
			j, err2 = strconv.Atoi(fields[1])
			if err1 != nil || err2 != nil || i < 1 || i > rows || j < 1 || j > cols {
				return fail("(%s, %s) is outside the matrix of %d × %d", fields[0], fields[1], rows, cols)
			}
			i, j = i-1, j-1
			fields = fields[2:]
		} else {
			i, j = arrayPosition(seen, rows, head[4])
		}
		if head[3] != "pattern" {
			if len(fields) != 1 {
				return fail("expected one value, found %d", len(fields))
			}
			var ok bool
			if x, ok = parse(fields[0]); !ok {
				return fail("%q is not a number", fields[0])
			}
		}
		seen++
		add := func(i, j int, x float64) {
			if a.Data != nil {
				a.Data[i*cols+j] += x
			}
			a.Entries.add(i, j, x)
		}
		add(i, j, x)
		if i != j {
			switch head[4] {
			case "symmetric":
				add(j, i, x)
			case "skew-symmetric":
				add(j, i, -x)
			}
		}
	}
	if sizes == nil {
		return fail("the file ends before the sizes")
	}
	if seen < entries {
		return fail("%d entries, but %d were announced", seen, entries)
	}
	a.Entries.sort()
	return a, nil
}

// arrayPosition returns the row and column of value n of an array: by columns,
// and of a symmetric matrix only what is on and below the diagonal.
func arrayPosition(n, rows int, symmetry string) (i, j int) {
	switch symmetry {
	case "symmetric":
		for n >= rows-j {
			n -= rows - j
			j++
		}
		return j + n, j
	case "skew-symmetric":
		for n >= rows-j-1 {
			n -= rows - j - 1
			j++
		}
		return j + 1 + n, j
	}
	return n % rows, n / rows
}
