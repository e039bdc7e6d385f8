//go:build amd64 && !purego

package machine

// Possible is whether code can be made for this processor. It is a constant, so that what only makes code is not linked
// where there is none.
const Possible = true

// Call runs the code at an address of a Memory. The code finds the address of args in DI, and ends
// with Return. It may use all registers but SP and BP, and no stack. It cannot be interrupted, so it
// should not take more than a millisecond.
//
//go:noescape
func Call(code uintptr, args *Args)
