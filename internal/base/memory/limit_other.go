//go:build !linux

package memory

func processLimit() int64 { return 0 }
