//go:build !amd64 || purego

package kernel

// addressOf is empty: there is no assembly in this build.
var addressOf map[string]uintptr

func enter(code *uintptr, table *[]float64) (at, done int) {
	panic("kernel: there are no threaded programs in this build")
}
