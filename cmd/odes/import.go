package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"odes.dev/odes/internal/input"
	"odes.dev/odes/internal/petab"
	"odes.dev/odes/internal/sbml"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// importCmd is odes import.
type importCmd struct {
	global
	File   string  `arg:"" help:"File to translate: a model in SBML, or the YAML file of a problem in PEtab; - is standard input."`
	Output string  `short:"o" type:"result" placeholder:"MODEL" help:"Write the model to this file, not to standard output."`
	To     float64 `placeholder:"TIME" default:"100" help:"End of the run of a model in SBML, which does not say it."`
	Force  bool    `help:"Replace a model that exists."`
}

// Run writes the translation of a model.
func (k *importCmd) Run(c *call) error {
	c.configure(k.global, formatFlag{})
	text, name, folder, err := c.source(k.File)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(k.Output); k.Output != "" && !k.Force && !errors.Is(err, fs.ErrNotExist) {
		return usagef("%s exists: choose another name, or replace it with --force", k.Output)
	}
	if !sbml.Is(text) && !petab.Is(name, text) {
		return usagef("%s is neither SBML nor a problem in PEtab; docs/language.md, From other programs, says what "+
			"others write here", name)
	}
	var model string
	var list diag.List
	err = c.work(func() error {
		file := source.NewFile(name, text)
		if sbml.Is(text) {
			model = sbml.Translate(file, sbml.Options{To: strconv.FormatFloat(k.To, 'g', -1, 64)}, &list)
		} else {
			model = petab.Translate(file, input.Folder(folder, &c.seen), &list)
		}
		return list.Err()
	})
	if err != nil {
		return c.modelError(err)
	}
	c.diagnose(list.All())
	if err := c.write(k.Output, func(w io.Writer) error {
		_, err := io.WriteString(w, model)
		return err
	}); err != nil {
		return err
	}
	if k.Output != "" && !c.quiet {
		fmt.Fprintf(c.err, "wrote %s; next: odes plot %[1]s, odes sens %[1]s, odes repl %[1]s\n", k.Output)
	}
	return nil
}
