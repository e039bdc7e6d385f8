package main

import "golang.org/x/sys/windows"

// Older consoles show escape sequences, which colours are, only when asked to; golang.org/x/term does not ask.
func init() {
	allowEscapes = func(fd int) {
		console := windows.Handle(fd)
		var mode uint32
		if windows.GetConsoleMode(console, &mode) == nil {
			_ = windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
		}
	}
}
