//go:build !amd64 || purego

package machine

// Possible is whether code can be made for this processor.
const Possible = false

// Call runs code. There is none here.
func Call(uintptr, *Args) { panic("machine: there is no code for this processor") }
