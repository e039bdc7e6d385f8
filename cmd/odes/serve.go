package main

import (
	"errors"
	"os"

	"odes.dev/odes/internal/front/serve"
)

// serveCmd is odes serve.
type serveCmd struct {
	global
}

// Run serves a program until it closes standard input.
func (s *serveCmd) Run(c *call) error {
	c.configure(s.global, formatFlag{})
	if in, ok := c.in.(*os.File); ok && isTerminal(in) {
		return usagef("odes serve is started by programs, and docs/serve.md describes what they say; " +
			"to compute gradients here: odes sens model.ode")
	}
	err := serve.Serve(c.whole, c.in, c.out)
	if c.whole.Err() != nil && errors.Is(err, c.whole.Err()) {
		return status(exitInterrupted)
	}
	return err
}
