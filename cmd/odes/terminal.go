package main

import (
	"io"
	"os"
	"strconv"
)

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && terminalWidth(f) > 0
}

// colour reports whether text on w may be coloured.
func (c *call) colour(w io.Writer) bool {
	return !c.plain && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

// width returns how many columns w shows; 0 where there is no screen.
func (c *call) width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n := terminalWidth(f); n > 0 {
			return n
		}
	}
	n, _ := strconv.Atoi(os.Getenv("COLUMNS"))
	return max(0, n)
}
