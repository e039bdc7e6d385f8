package main

import (
	"io"

	"github.com/rogpeppe/go-internal/diff"

	"odes.dev/odes/internal/base/output"
	"odes.dev/odes/parser"
)

// fmtCmd is odes fmt.
type fmtCmd struct {
	global
	Models []string `arg:"" help:"Model files; - is standard input."`
	Write  bool     `short:"w" help:"Write the result back to the file."`
	Diff   bool     `short:"d" help:"Show what would change, and exit with status 1 if anything would."`
}

// Run formats every model, and goes on where one cannot be formatted.
func (f *fmtCmd) Run(c *call) error {
	c.configure(f.global, formatFlag{})
	worst := 0
	for _, path := range f.Models {
		err := f.one(c, path)
		if err == nil {
			continue
		}
		if c.ctx.Err() != nil {
			return err
		}
		worst = max(worst, c.fail(err))
	}
	if worst > 0 {
		return status(worst)
	}
	return nil
}

func (f *fmtCmd) one(c *call, path string) error {
	if f.Write && path == "-" {
		return usagef("standard input cannot be written back: leave out -w")
	}
	text, name, _, err := c.source(path)
	if err != nil {
		return err
	}
	var formatted string
	err = c.work(func() (err error) {
		formatted, err = parser.Format(name, text)
		return err
	})
	if err != nil {
		return c.modelError(err)
	}
	if f.Diff && text != formatted {
		if _, err := c.out.Write(diff.Diff(name, []byte(text), name+" (formatted)", []byte(formatted))); err != nil {
			return cannotPrint(err)
		}
	}
	switch {
	case !f.Write && !f.Diff:
		_, err := io.WriteString(c.out, formatted)
		return err
	case text == formatted:
		return nil
	case !f.Write:
		return status(exitModel)
	}
	return output.Write(path, nil, func(w io.Writer) error { // in place of what was read
		_, err := io.WriteString(w, formatted)
		return err
	})
}
