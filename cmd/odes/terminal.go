package main

import (
	"bytes"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"odes.dev/odes/internal/base/screen"
)

// unknownWidth is the number of columns of a terminal that does not tell it.
const unknownWidth = 80

// allowEscapes makes the terminal that is open as fd interpret escape sequences, where it does not by itself.
var allowEscapes = func(fd int) {}

// terminalWidth returns the number of columns of the terminal f, or 0 when f is none.
func terminalWidth(f *os.File) int {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return 0
	}
	columns, _, err := term.GetSize(fd)
	if err != nil { // the keyboard of a console has no size
		return unknownWidth
	}
	allowEscapes(fd)
	if columns <= 0 {
		return unknownWidth
	}
	return columns
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f := file(w)
	return f != nil && terminalWidth(f) > 0
}

// colour reports whether text on w may be coloured.
func (c *call) colour(w io.Writer) bool {
	return !c.plain && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

// screen returns how many columns the terminal w has, 0 when it is none.
func (c *call) screen(w io.Writer) int {
	if f := file(w); f != nil {
		return terminalWidth(f)
	}
	return 0
}

// width returns how many columns w shows; 0 where there is no screen.
func (c *call) width(w io.Writer) int {
	if f := file(w); f != nil {
		if n := terminalWidth(f); n > 0 {
			return n
		}
	}
	n, _ := strconv.Atoi(os.Getenv("COLUMNS"))
	return max(0, n)
}

// rawKeys is a terminal that tells keys one by one.
type rawKeys struct{ in, out *os.File }

// Open makes the terminal tell keys as they are pressed, and show none of them.
func (k rawKeys) Open() (io.ReadWriter, func(), error) {
	fd := int(k.in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, nil, err
	}
	both := struct {
		io.Reader
		io.Writer
	}{k.in, screen.Guard(fullLines{k.out})}
	return both, func() { _ = term.Restore(fd, before) }, nil
}

// fullLines is a terminal that begins no line by itself.
type fullLines struct{ w io.Writer }

// Write implements io.Writer.
func (f fullLines) Write(b []byte) (int, error) {
	if _, err := f.w.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(b), nil
}
