//go:build !purego

package kernel

// addressOf holds the handlers by name.
var addressOf = func() map[string]uintptr {
	var list [len(names)]uintptr
	addresses(&list[0])
	m := make(map[string]uintptr, len(names))
	for i, name := range names {
		m[name] = list[i]
	}
	return m
}()
