package repl

import "io"

// Keyboard returns plain Lines: there is no terminal to edit on.
func Keyboard(_ *Session, in io.ReadCloser, _ io.Writer, _ string) (Lines, error) {
	return Piped(in), nil
}
