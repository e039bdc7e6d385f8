// Command odes computes gradients of models made of ordinary differential equations, from a text file:
//
//	odes sens model.ode
//
// It reads the command line and shows what package odes computes. It computes nothing itself.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"

	"odes.dev/odes/internal/memory"
)

func main() {
	runtime.MemProfileRate = 0 // nobody reads a profile of the heap, and taking it costs short commands a twentieth
	ctx, stop := signal.NotifyContext(context.Background(), append(endings(), os.Interrupt)...)
	// A second Ctrl-C ends the process at once, whatever it is doing.
	context.AfterFunc(ctx, stop)
	debug.SetMemoryLimit(memory.Budget()) // garbage is collected sooner where memory is short
	collectLater()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// collectLater lets the first collection of garbage wait for 32 MB, rather than 4: most commands are done before. From
// then on collections come as often as always.
func collectLater() {
	usual := debug.SetGCPercent(800)
	if usual != 100 { // the user says what is to be
		debug.SetGCPercent(usual)
		return
	}
	first := new([64]byte)
	runtime.SetFinalizer(first, func(*[64]byte) { debug.SetGCPercent(usual) })
}
