//go:build amd64 && !purego

package machine

// Call runs the code at an address of a Memory. The code finds the address of args in DI, and ends
// with Return. It may use all registers but SP and BP, and no stack. It cannot be interrupted, so it
// should not take more than a millisecond.
//
//go:noescape
func Call(code uintptr, args *Args)
