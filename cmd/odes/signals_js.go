package main

import (
	"os"
	"syscall"
)

func endings() []os.Signal { return []os.Signal{syscall.SIGTERM} }
