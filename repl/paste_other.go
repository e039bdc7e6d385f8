//go:build !unix

package repl

import "io"

func waits(io.Reader) bool { return false }
