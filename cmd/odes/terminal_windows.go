package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// terminalWidth returns the number of columns of the console f, or 0 when f is none.
func terminalWidth(f *os.File) int {
	console := windows.Handle(f.Fd())
	var mode uint32
	if windows.GetConsoleMode(console, &mode) != nil {
		return 0
	}
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(console, &info) != nil {
		return 80 // its keyboard
	}
	// Older consoles show colours only when asked to.
	_ = windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
	return max(1, int(info.Window.Right-info.Window.Left)+1)
}
