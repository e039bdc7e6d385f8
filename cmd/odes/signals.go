//go:build !js

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// endings are the signals that end a command and a session: SIGTERM, and SIGHUP when the terminal goes away, unless
// nohup or its like keeps that away.
func endings() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGTERM}
	}
	return []os.Signal{syscall.SIGTERM, syscall.SIGHUP}
}
