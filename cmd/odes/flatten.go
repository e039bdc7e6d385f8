package main

import (
	"io"

	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/lang/diag"
)

// flattenCmd is odes flatten.
type flattenCmd struct {
	reading
	Model  string `arg:"" help:"Model file; - is standard input."`
	Output string `short:"o" type:"result" placeholder:"FILE" help:"{output}"`
}

// Run writes a model without its components.
func (f *flattenCmd) Run(c *call) error {
	c.configure(f.global, formatFlag{})
	text, name, folder, err := c.source(f.Model)
	if err != nil {
		return err
	}
	var flat string
	err = c.work(func() error {
		var list diag.List
		flat = compile.Flatten(name, text, input.Folder(folder, &c.seen), &list)
		return list.Err()
	})
	if err != nil {
		return c.modelError(err)
	}
	return c.write(f.Output, func(w io.Writer) error {
		_, err := io.WriteString(w, flat)
		return err
	})
}
