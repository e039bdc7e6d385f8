package main

import (
	"fmt"
	"sync"
	"time"

	"odes.dev/odes"
)

// progress shows how far a run is: one line on a terminal, after a second of work.
type progress struct {
	c     *call
	mu    sync.Mutex
	start time.Time
	last  time.Time
	shown bool
}

// attach makes opts report to the terminal; elsewhere it does nothing.
func (c *call) attach(opts *odes.Options) *progress {
	p := &progress{c: c, start: time.Now()}
	if !c.quiet && isTerminal(c.err) {
		opts.Progress = p.update
	}
	return p
}

func (p *progress) update(at odes.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.start) < time.Second || now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last, p.shown = now, true
	fmt.Fprintf(p.c.err, "\r\x1b[K%s %3.0f%%, t = %.6g, %d steps", at.Phase, 100*at.Done, at.T, at.Steps)
}

// clear removes the line.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.c.err, "\r\x1b[K")
		p.shown = false
	}
	p.start = time.Now().Add(time.Hour) // a straggler after Ctrl-C stays silent
}
