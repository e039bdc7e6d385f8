package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/exchange/sbml"
	"odes.dev/odes/lang/diag"
)

// importCmd is odes import.
type importCmd struct {
	reading
	File   string  `arg:"" help:"Model of another program, such as one in SBML; - is standard input."`
	Output string  `short:"o" type:"result" placeholder:"MODEL" help:"Write the model to this file."`
	To     float64 `placeholder:"TIME" default:"100" help:"End of the time span, for files that do not define it."`
	In     string  `placeholder:"TASK" help:"Translate this task of an archive; without it, the first."`

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
	if k.IgnoreFast && !sbml.Is(text) { // which gets a note for each
		c.slow()
		text = string(c.seen.Taken([]byte(text)))
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
	if k.Output != "" {
		if model, err = k.components(c, text, name, folder, model); err != nil {
			return err
		}
	}
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

// components writes what a model in SBML is composed of as components beside it, and returns the text around them.
// Where they cannot say what the model does, it returns the flat text.
func (k *importCmd) components(c *call, text, name, folder, flat string) (string, error) {
	at := filepath.Dir(k.Output)
	base := strings.TrimSuffix(filepath.Base(k.Output), filepath.Ext(k.Output))
	parts, why := compile.Components(name, text, input.Folder(folder, &c.seen), base, compile.Asked{
		End: strconv.FormatFloat(k.To, 'g', -1, 64), IgnoreFast: k.IgnoreFast,
	})
	if parts == nil {
		if why != "" && !c.quiet {
			fmt.Fprintf(c.err, "the submodels are written out in one text, since components cannot say this: %s\n",
				why)
		}
		return flat, nil
	}
	names := slices.Sorted(maps.Keys(parts.Files))
	for _, file := range names {
		path := filepath.Join(at, file)
		if _, err := os.Lstat(path); !k.Force && !errors.Is(err, fs.ErrNotExist) {
			return "", usagef("%s exists: choose another name, or replace it with --force", path)
		}
	}
	for _, file := range names {
		path := filepath.Join(at, file)
		if err := c.write(path, func(w io.Writer) error {
			_, err := io.WriteString(w, parts.Files[file])
			return err
		}); err != nil {
			return "", err
		}
		if !c.quiet {
			fmt.Fprintf(c.err, "wrote %s\n", path)
		}
	}
	return parts.Main, nil
}
