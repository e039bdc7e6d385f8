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
	"runtime/metrics"

	"odes.dev/odes/internal/base/memory"
)

func main() {
	runtime.MemProfileRate = 0 // nobody reads a profile of the heap, and taking it costs short commands a twentieth
	ctx, stop := signal.NotifyContext(context.Background(), append(endings(), os.Interrupt)...)
	// A second Ctrl-C ends the process at once, whatever it is doing.
	context.AfterFunc(ctx, stop)
	collectLater()
	go memory.Spare() // beside the command: what the system says of memory takes a while to read
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// garbage is how much of it may wait for a collection, where memory is not short.
const garbage = 64 << 20

// collectLater lets the first collection of garbage wait for 32 MB, rather than 4: most commands are done before. Later
// ones wait until there is as much garbage as there is anything else, as always, or as much as may wait: half of the
// collections while a large model is compiled would find little.
func collectLater() {
	usual := debug.SetGCPercent(800)
	if usual != 100 { // the user says what is to be
		debug.SetGCPercent(usual)
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var collected func(*[64]byte)
	next := func() { runtime.SetFinalizer(new([64]byte), collected) }
	collected = func(*[64]byte) {
		metrics.Read(live)
		most := min(garbage, memory.Budget()/16)
		debug.SetGCPercent(int(max(100, min(100*most/max(int64(live[0].Value.Uint64()), 1), 800))))
		next()
	}
	next()
}
