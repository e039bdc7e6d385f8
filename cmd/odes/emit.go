package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/engine/compile"
)

// emitCmd is odes emit.
type emitCmd struct {
	reading
	Model  string `arg:"" help:"Model file; - is standard input."`
	Stage  string `required:"" placeholder:"STAGE" help:"Stage to show: {stages}."`
	Output string `short:"o" type:"result" placeholder:"FILE" help:"{output}"`
}

func stageNames() []string { return compile.Stages() }

// Run shows what a stage of the compiler makes.
func (e *emitCmd) Run(c *call) error {
	c.configure(e.global, formatFlag{})
	if err := compile.CheckStage(e.Stage); err != nil {
		return usagef("%v", err)
	}
	text, name, folder, err := c.source(e.Model)
	if err != nil {
		return err
	}
	err = c.write(e.Output, func(w io.Writer) error {
		return c.work(func() error {
			return compile.Emit(w, e.Stage, name, text, input.Folder(folder, &c.seen))
		})
	})
	return c.modelError(err)
}

// source reads the text of the model at path, where "-" is standard input. Files that the model loads are relative to
// folder. A pipe that nobody writes to can be left with Ctrl-C.
func (c *call) source(path string) (text, name, folder string, err error) {
	var r struct{ text, name, folder string }
	err = c.work(func() (err error) {
		r.text, r.name, r.folder, err = c.read(path)
		return err
	})
	if err != nil { // what is still being read may come too late
		return "", "", "", err
	}
	return r.text, r.name, r.folder, nil
}

func (c *call) read(path string) (text, name, folder string, err error) {
	if path != "-" {
		switch ending := strings.ToLower(filepath.Ext(path)); ending {
		case ".csv", ".tsv", ".xls", ".xlsx", ".ods": // a first try of many
			return "", "", "", usagef("%s is a table, and a model is wanted here; a model reads a table by "+
				"data D = csv(\"%s\")", path, strings.TrimSuffix(filepath.Base(path), ending)+".csv")
		}
		b, err := input.File(path, &c.seen)
		if err != nil {
			return "", "", "", &odes.FileError{Path: path, Err: err}
		}
		return string(b), path, filepath.Dir(path), nil
	}
	if f, ok := c.in.(*os.File); ok {
		c.seen.AddOpen(f)
	}
	b, err := input.Stream(c.in, input.MaxText)
	if err != nil {
		return "", "", "", fmt.Errorf("cannot read standard input: %w", err)
	}
	return string(c.seen.Taken(b)), "<stdin>", ".", nil
}
