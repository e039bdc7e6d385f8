//go:build !amd64 || purego

package machine

// Call runs code. There is none here.
func Call(uintptr, *Args) { panic("machine: there is no code for this processor") }
