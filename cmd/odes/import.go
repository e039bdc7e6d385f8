package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/lang/diag"
)

// importCmd is odes import.
type importCmd struct {
	global
	File   string  `arg:"" help:"Model of another program, such as one in SBML; - is standard input."`
	Output string  `short:"o" type:"result" placeholder:"MODEL" help:"Write the model to this file."`
	To     float64 `placeholder:"TIME" default:"100" help:"End of the run of a model in SBML, which does not say it."`
	In     string  `placeholder:"TASK" help:"Of the tasks of an archive, translate this one, not the first."`

	IgnoreFast bool `help:"Take reactions of SBML that are marked as fast, which are equilibria, by their rate laws."`

	Force bool `help:"Replace a model that exists."`
}

// Run writes the translation of a model.
func (k *importCmd) Run(c *call) error {
	c.configure(k.global, formatFlag{})
	if !(k.To > 0) || math.IsInf(k.To, 0) {
		return usagef("--to %v: a run ends at a time after 0", k.To)
	}
	text, name, folder, err := c.source(k.File)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(k.Output); k.Output != "" && !k.Force && !errors.Is(err, fs.ErrNotExist) {
		return usagef("%s exists: choose another name, or replace it with --force", k.Output)
	}
	var model, language string
	var list diag.List
	err = c.work(func() error {
		to := strconv.FormatFloat(k.To, 'g', -1, 64)
		translated, from := compile.ImportAs(name, text, input.Folder(folder, &c.seen),
			compile.Asked{Task: k.In, End: to, IgnoreFast: k.IgnoreFast}, &list)
		if language = from; translated != nil {
			model = translated.Text()
		}
		return list.Err()
	})
	switch {
	case err != nil:
		return c.modelError(err)
	case language == "":
		return usagef("%s is in none of %s; docs/language.md, From other programs, says what others write here",
			name, strings.Join(compile.Formats(), ", "))
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
