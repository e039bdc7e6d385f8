package main

import (
	"context"
	"errors"
	"time"

	"odes.dev/odes/internal/base/memory"
)

// errMemory ends what took more memory than there is, before the system ends the process.
var errMemory = errors.New("not enough memory")

// withinMemory returns a context that ends once the process takes more than its budget: what is large is asked for
// before, but many small pieces are not.
func withinMemory(ctx context.Context) (within context.Context, stop func()) {
	within, end := context.WithCancelCause(ctx)
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-within.Done():
				return
			case <-tick.C:
				if memory.Exhausted() {
					end(errMemory)
				}
			}
		}
	}()
	return within, func() { end(nil) }
}
