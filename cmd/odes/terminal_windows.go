package main

import "golang.org/x/sys/windows"

// Older consoles interpret escape sequences, such as colours, only when they are told to. Package term does not tell
// them.
func init() {
	allowEscapes = func(fd int) {
		console := windows.Handle(fd)
		var mode uint32
		if windows.GetConsoleMode(console, &mode) == nil {
			_ = windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
		}
	}
}
