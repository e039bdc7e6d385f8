// Package data reads arrays and tables that a model names: CSV and TSV, NumPy's NPY and Matrix Market files, through a
// file system confined to the model's folder. It writes NPY as well, to whatever its caller opened. It knows nothing of
// models.
package data

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Array is an array of numbers: Data is row-major of lengths Shape.
type Array struct {
	Shape []int
	Data  []float64 // nil for a sparse matrix that would take much memory
	// Entries are those of a matrix that a file gives by coordinates; nil for every other array.
	Entries *Entries
}

// maxFile limits the bytes read from one file.
const maxFile = 4 << 30

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
			text, err := open(files, name)
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

// open reads a whole file inside the folder.
func open(files fs.FS, name string) ([]byte, error) {
	clean := path.Clean(strings.ReplaceAll(name, "\\", "/"))
	if !fs.ValidPath(clean) || clean == "." {
		return nil, fmt.Errorf("%q is outside the model's folder; files are named relative to it, and lie in it "+
			"or below", name)
	}
	if files == nil {
		return nil, fmt.Errorf("cannot read %q: the model does not come from a folder", name)
	}
	f, err := files.Open(clean)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no file %q in the model's folder: %w", name, fs.ErrNotExist)
		}
		return nil, fmt.Errorf("cannot read %q: %w", name, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, fmt.Errorf("cannot read %q: %w", name, err)
	}
	return text, nil
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
