package main

import (
	"io"
	"os"
	"strconv"
)

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
