package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/screen"
)

// progress shows how far a run has come: one line on a terminal, after a second of work. While nothing is reported, the
// line says how long the work has gone on.
type progress struct {
	c     *call
	mu    sync.Mutex
	start time.Time
	last  time.Time
	shown bool

	at    odes.Progress // the last report
	begun time.Time     // when its phase began, of one of several runs
	note  string        // behind the line

	line string        // the last report, or what is being done
	quit chan struct{} // stops the clock; nil where there is none
}

// silence is how long after a line the next one says that the work goes on.
const silence = 2 * time.Second

// attach makes opts report to the terminal, if standard error is one.
func (c *call) attach(opts *odes.Options) *progress {
	p := c.watch("working")
	if p.quit != nil {
		opts.Progress = p.update
	}
	return p
}

// watch shows that something is being done, if standard error is a terminal, until clear is called.
func (c *call) watch(doing string) *progress {
	p := &progress{c: c, start: time.Now(), line: doing}
	if c.quiet || !isTerminal(c.err) || os.Getenv("TERM") == "dumb" {
		return p
	}
	quit := make(chan struct{})
	p.quit = quit
	go func() {
		tick := time.NewTicker(time.Second / 4)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case now := <-tick.C:
				p.goesOn(now)
			}
		}
	}()
	return p
}

// goesOn shows how long the work has gone on, where that is a second, and nothing was reported for a while.
func (p *progress) goesOn(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if spent := now.Sub(p.start); spent >= time.Second && (!p.shown || now.Sub(p.last) >= silence) {
		p.show(now, fmt.Sprintf("%s (%s)", p.line, spent.Round(time.Second)))
	}
}

// show shows a line.
func (p *progress) show(now time.Time, line string) {
	p.last, p.shown = now, true
	if n := p.c.screen(p.c.err) - 1; n > 0 && len(line) > n { // a line that wraps cannot be taken back
		line = line[:n]
	}
	fmt.Fprint(p.c.err, screen.ClearLine()+line)
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
	p.line = describe(at, now.Sub(p.begun)) + p.note
	if now.Sub(p.start) < time.Second || now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.show(now, p.line)
}

// describe says how far a phase has come that began some time ago.
func describe(at odes.Progress, spent time.Duration) string {
	line := fmt.Sprintf("%s %3.0f%%, ", at.Phase, 100*at.Done)
	s := spent.Seconds()
	switch at.Phase {
	case odes.PhaseRuns, "searches", "profiles":
		line += fmt.Sprintf("%d done", at.Steps)
	case "experiments", "second": // the times of several runs mean nothing together
		line += fmt.Sprintf("%d steps", at.Steps)
	default:
		line += fmt.Sprintf("t = %.6g, %d steps", at.T, at.Steps)
	}
	if s <= 0.5 {
		return line
	}
	if !strings.HasSuffix(line, " done") {
		line += ", " + rate(float64(at.Steps)/s)
	}
	if left := s * (1 - at.Done) / at.Done; at.Done < 1 && (at.Done > 0.01 || s > 3 && at.Done > 0.0001) {
		line += ", " + remaining(left) + " left"
	}
	return line
}

// rate writes steps per second.
func rate(x float64) string {
	switch {
	case x >= 1e6:
		return fmt.Sprintf("%.3gM/s", x/1e6)
	case x >= 1e3:
		return fmt.Sprintf("%.3gk/s", x/1e3)
	}
	return fmt.Sprintf("%.3g/s", x)
}

// remaining writes seconds to go, no finer than one can know.
func remaining(s float64) string {
	switch {
	case s > 100*3600:
		return "days"
	case s >= 3600:
		return strings.TrimSuffix(time.Duration(s*float64(time.Second)).Round(time.Minute).String(), "0s")
	}
	return max(time.Duration(s*float64(time.Second)).Round(time.Second), time.Second).String()
}

// clear removes the line, and stops the clock.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quit != nil {
		close(p.quit)
		p.quit = nil
	}
	if p.shown {
		fmt.Fprint(p.c.err, screen.ClearLine())
		p.shown = false
	}
	p.start = time.Now().Add(time.Hour) // a late report after Ctrl-C shows nothing
}
