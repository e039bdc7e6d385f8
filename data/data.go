// Package data reads arrays and tables that a model names: CSV and TSV, NumPy's NPY and Matrix Market files, through a
// file system confined to the model's folder. It writes NPY as well, to whatever its caller opened. It knows nothing of
// models.
package data

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"odes.dev/odes/internal/base/input"
)

// Array is an array of numbers: Data is row-major of lengths Shape.
type Array struct {
	Shape []int
	Data  []float64 // nil for a sparse matrix that would take much memory
	// Entries are those of a matrix that a file gives by coordinates; nil for every other array.
	Entries *Entries
}

// formats are the formats of files, by their endings.
var formats = []struct {
	ending string
	read   func(name string, text []byte, limit int) (Array, error)
	table  bool // a file may hold a Table
}{
	{".csv", matrix, true},
	{".tsv", matrix, true},
	{".txt", matrix, true},
	{".npy", npy, false},
	{".mtx", marketMatrix, false},
}

// Endings returns the endings of the files that Load reads: ".csv" and others.
func Endings() (list []string) {
	for _, f := range formats {
		list = append(list, f.ending)
	}
	return list
}

// TableEndings returns those of Endings whose files may hold a Table.
func TableEndings() (list []string) {
	for _, f := range formats {
		if f.table {
			list = append(list, f.ending)
		}
	}
	return list
}

// Load reads an array of at most limit elements from the file name (slashes, relative to the root of files); its
// ending, one of Endings, tells the format. Errors name the file and, for texts, the line.
func Load(files fs.FS, name string, limit int) (Array, error) {
	ending := strings.ToLower(path.Ext(name))
	for _, f := range formats {
		if f.ending == ending {
			text, err := input.Read(files, name, input.MaxData)
			if err != nil {
				return Array{}, err
			}
			return f.read(name, text, limit)
		}
	}
	all := Endings()
	last := len(all) - 1
	return Array{}, fmt.Errorf("%s: the format is told by the extension; use %s or %s", name,
		strings.Join(all[:last], ", "), all[last])
}

// product multiplies lengths and reports whether the result is within limit.
func product(shape []int, limit int) (int, bool) {
	n := 1
	for _, d := range shape {
		if d < 0 || d > 0 && n > limit/d {
			return 0, false
		}
		n *= d
	}
	return n, n <= limit
}
