package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/lsp"
)

// lspCmd is odes lsp.
type lspCmd struct {
	global
	Stdio bool `help:"Use standard input and output. There is no other way, so this is not needed."`
}

// quiet is how long nothing is typed before a model is checked.
const quiet = 120 * time.Millisecond

// patience is how long a check waits for the disk.
const patience = 5 * time.Second

// Run serves an editor until it ends the session.
func (l *lspCmd) Run(c *call) error {
	c.configure(l.global, formatFlag{})
	if in, ok := c.in.(*os.File); ok && isTerminal(in) {
		return usagef("odes lsp is started by editors; docs/editors.md says how to set them up. " +
			"To check a model: odes check model.ode")
	}
	server := lsp.New(lsp.Config{Files: func(ctx context.Context, folder string) fs.FS {
		return input.Within(ctx, input.Folder(filepath.FromSlash(folder), nil), patience)
	}})
	err := lsp.Serve(c.ctx, server, c.in, c.out, quiet)
	if errors.Is(err, lsp.ErrExit) {
		return status(exitModel) // as the protocol wants it
	}
	return err
}
