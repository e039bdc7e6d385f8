//go:build !unix && !windows

package main

import "os"

// terminalWidth returns 80 when f is a terminal, else 0.
func terminalWidth(f *os.File) int {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return 0
	}
	return 80
}
