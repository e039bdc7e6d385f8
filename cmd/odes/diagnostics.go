package main

import (
	"fmt"
	"slices"

	"odes.dev/odes/internal/base/screen"
	"odes.dev/odes/lang/diag"
)

// diagnose shows diagnostics; with --quiet no notes.
func (c *call) diagnose(list []diag.Diagnostic) {
	if c.quiet {
		list = slices.DeleteFunc(slices.Clone(list), func(d diag.Diagnostic) bool { return d.Level == diag.Note })
	}
	format := diag.Plain
	switch {
	case c.json:
		format = diag.JSON
	case c.colour(c.err):
		format = diag.Colour
	}
	_ = diag.WriteWidth(c.err, list, format, c.screen(c.err)) // an error of standard error has no place to be reported
}

// complain shows an error that has no place in a model.
func (c *call) complain(code diag.Code, text string) {
	if c.json {
		c.diagnose([]diag.Diagnostic{{Code: code, Message: text}})
		return
	}
	fmt.Fprintln(c.err, screen.Fold("odes: "+text, c.screen(c.err), screen.Hanging))
}
