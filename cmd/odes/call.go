package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/exchange/sedml"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/typecheck"
)

// Exit statuses; scripts rely on them.
const (
	exitDone        = 0
	exitModel       = 1 // the model is wrong
	exitUsage       = 2 // the command line is wrong
	exitRun         = 3 // the run failed, a number is not to be trusted, or a file could not be read or written
	exitWrong       = 4 // verify found a wrong gradient
	exitInterrupted = 130
)

// global holds the flags that every command has.
type global struct {
	Quiet   bool `short:"q" help:"Show errors and warnings only: no notes, no progress."`
	Verbose bool `short:"v" help:"Show where the time went, and abbreviate nothing."`
	NoColor bool `name:"no-color" help:"Write plain text even to a terminal, as with NO_COLOR set."`
}

// reading holds the flags of commands that read a model.
type reading struct {
	global
	IgnoreFast bool `help:"{ignorefast}"`
}

// call is one invocation of the command: its streams, and the flags that every command has.
type call struct {
	ctx            context.Context
	whole          context.Context // ctx, but for that it does not end where memory does
	in             io.Reader
	out, err       io.Writer
	seen           input.Seen     // what was read
	settings       []odes.Setting // --solver.key=value and --sens.key=value
	quiet, verbose bool
	plain          bool   // no colour
	json           bool   // diagnostics as JSON
	doses          string // the file of another regimen; "" for none
}

// status is an error that only sets the exit status: everything was said.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// usageError says that the command line is wrong.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// slow has reactions that are marked as fast taken by their rate laws, in whatever is read from now on.
func (c *call) slow() { c.seen.Rewrite = sedml.Slow }

// configure takes over the flags that every command has.
func (c *call) configure(g global, asked formatFlag) {
	c.quiet, c.verbose = g.Quiet, g.Verbose
	c.plain = g.NoColor
	c.json = asked.Format != nil && asked.Messages
}

// fail shows err and returns the exit status that belongs to it.
func (c *call) fail(err error) int {
	var done status
	var usage *usageError
	var wrong *analysis.WrongError
	switch {
	case errors.As(err, &done):
		return int(done)
	case errors.Is(context.Cause(c.ctx), errMemory):
		const say = "this takes more than the %s of memory that odes may use; docs/limits.md says where that comes from"
		c.complain("memory", fmt.Sprintf(say, diag.Bytes(float64(memory.Most()))))
		return exitRun
	case c.ctx.Err() != nil:
		if list := diag.Of(err); list != nil { // says where it was
			c.diagnose(list)
		} else {
			c.complain("interrupted", "interrupted")
		}
		return exitInterrupted
	case errors.As(err, &usage):
		c.complain("usage", usage.text)
		return exitUsage
	case errors.As(err, &wrong):
		c.complain("usage", wrong.Error())
		return exitUsage
	}
	if list := diag.Of(err); list != nil {
		c.diagnose(list)
		return c.statusOf(list)
	}
	if s, ok := c.out.(*stream); ok && s.failed != nil && errors.Is(err, s.failed) {
		err = cannotPrint(s.failed)
	}
	if p, ok := err.(*fs.PathError); ok && p.Op == "write" {
		err = fmt.Errorf("cannot write %s: %w", p.Path, p.Err)
	}
	c.complain("file", err.Error())
	return exitRun
}

// settingCodes are those of diagnostics on a key, a value or a name that does not exist or does not fit.
var settingCodes = []diag.Code{
	odes.CodeSetting, odes.CodeUnknown, odes.CodeOverride, odes.CodeNoSuchRun,
	typecheck.CodeSetting, typecheck.CodeSettingValue,
}

// statusOf returns the exit status for errors of a run. The command line is to blame for what was written there or
// names nothing of the model, the model for settings that stand in it, and the run for everything else.
func (c *call) statusOf(list []diag.Diagnostic) int {
	code := exitRun
	for _, d := range list {
		if d.Level != diag.Error {
			continue
		}
		setting := slices.Contains(settingCodes, d.Code)
		switch {
		case setting && d.Span.IsZero(), !d.Span.IsZero() && strings.HasPrefix(d.Span.File.Name(), "--"):
			return exitUsage
		case setting:
			code = exitModel
		}
	}
	return code
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
