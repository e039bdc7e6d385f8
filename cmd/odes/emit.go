package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"odes.dev/odes"
	"odes.dev/odes/internal/compile"
)

// emitCmd is odes emit.
type emitCmd struct {
	global
	Model  string `arg:"" help:"Model file; - is standard input."`
	Stage  string `required:"" placeholder:"STAGE" help:"Stage to show: ${stages}."`
	Output string `short:"o" placeholder:"FILE" help:"${output}"`
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
			return compile.Emit(w, e.Stage, name, text, os.DirFS(folder))
		})
	})
	return c.modelError(err)
}

// source reads the text of the model at path, where "-" is standard input. Files that the model loads are relative to
// folder.
func (c *call) source(path string) (text, name, folder string, err error) {
	if path != "-" {
		b, err := os.ReadFile(path)
		if err != nil {
			return "", "", "", &odes.FileError{Path: path, Err: err}
		}
		return string(b), path, filepath.Dir(path), nil
	}
	b, err := io.ReadAll(c.in)
	if err != nil {
		return "", "", "", fmt.Errorf("cannot read standard input: %w", err)
	}
	return string(b), "<stdin>", ".", nil
}
