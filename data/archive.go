package data

import (
	"archive/zip"
	"io"
)

// An Archive is a NumPy archive (.npz) that is being written: named arrays, and texts beside them.
type Archive struct{ z *zip.Writer }

// NewArchive begins an archive.
func NewArchive(w io.Writer) *Archive { return &Archive{zip.NewWriter(w)} }

// Array adds an array of 64-bit floats, row by row: rows gives what stands at each position of its first axis, and more
// than one row at once where it likes.
func (a *Archive) Array(name string, shape []int, rows func(yield func([]float64) bool)) error {
	// Stored, not deflated: mantissas of gradients do not compress, and readers can map the file.
	f, err := a.z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	if err != nil {
		return err
	}
	return WriteNPY(f, shape, rows)
}

// List adds a list of numbers.
func (a *Archive) List(name string, x []float64) error {
	return a.Array(name, []int{len(x)}, func(yield func([]float64) bool) { yield(x) })
}

// Text returns what writes a text into the archive, until the next member begins.
func (a *Archive) Text(name string) (io.Writer, error) {
	return a.z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
}

// Lines adds a text of lines.
func (a *Archive) Lines(name string, lines []string) error {
	f, err := a.Text(name)
	if err != nil {
		return err
	}
	for _, line := range lines {
		if _, err := io.WriteString(f, line+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the archive.
func (a *Archive) Close() error { return a.z.Close() }
