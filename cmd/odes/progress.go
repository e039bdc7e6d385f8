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

	at    odes.Progress // the last that was heard of
	begun time.Time     // its phase, of one of several runs
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
	if at.Phase != p.at.Phase || at.Done < p.at.Done {
		p.begun = now
		if p.at.Phase == "" {
			p.begun = p.start
		}
	}
	p.at = at
	if now.Sub(p.start) < time.Second || now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last, p.shown = now, true
	fmt.Fprintf(p.c.err, "\r\x1b[K%s", describe(at, now.Sub(p.begun)))
}

// describe says how far a phase is that has gone on for some time.
func describe(at odes.Progress, spent time.Duration) string {
	line := fmt.Sprintf("%s %3.0f%%, t = %.6g, %d steps", at.Phase, 100*at.Done, at.T, at.Steps)
	if s := spent.Seconds(); s > 0.5 {
		line += fmt.Sprintf(", %.3g/s", float64(at.Steps)/s)
		if at.Done > 0.01 && at.Done < 1 {
			left := time.Duration(s * (1 - at.Done) / at.Done * float64(time.Second)).Round(time.Second)
			line += ", " + max(left, time.Second).String() + " left"
		}
	}
	return line
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
