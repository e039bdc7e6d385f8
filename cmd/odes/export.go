package main

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/exchange/export"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/typecheck"
)

// exportCmd is odes export.
type exportCmd struct {
	reading
	Model string `arg:"" help:"Model file; - is standard input."`
	inFlag
	Format string `placeholder:"FORMAT" help:"{exports}"`
	Binary bool   `help:"Compile the FMU for this machine, too, with the compiler that CC names, or cc."`
	Output string `short:"o" type:"result" placeholder:"FILE" help:"{output}"`
}

// exportNames returns the names of the formats of odes export.
func exportNames() (list []string) {
	for _, f := range export.Formats() {
		list = append(list, f.Name)
	}
	return list
}

// exportHelp is the help on --format of odes export.
func exportHelp() string {
	var list []string
	for _, f := range export.Formats() {
		list = append(list, f.Name+" "+f.Doc)
	}
	return enumerate(list, "or") + "; without it, the ending of the output file decides."
}

// exportFormat returns the format that is asked for, else that of the output file's name.
func exportFormat(asked, output string) (*export.Format, error) {
	all := enumerate(exportNames(), "or")
	if asked != "" {
		if f := export.Named(asked); f != nil {
			return f, nil
		}
		return nil, usagef("there is no format %q to export to: choose %s", asked, all)
	}
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(output), "."))
	for _, f := range export.Formats() {
		if slices.Contains(f.Endings, ending) {
			return f, nil
		}
	}
	if output == "" {
		return nil, usagef("add --format %s", all)
	}
	return nil, usagef("cannot tell the format from %q: add --format %s", output, all)
}

// Run writes a model for another program.
func (k *exportCmd) Run(c *call) error {
	c.configure(k.global, formatFlag{})
	format, err := exportFormat(k.Format, k.Output)
	if err != nil {
		return err
	}
	switch {
	case format.Packed && (k.Output == "" || k.Output == "-"):
		return usagef("%s is an archive: name a file with -o", format.Name)
	case k.Binary && !format.Packed:
		return usagef("--binary compiles FMUs: add --format fmu")
	}
	text, name, folder, err := c.source(k.Model)
	if err != nil {
		return err
	}
	var written string
	var list diag.List
	err = c.work(func() error {
		m, _ := compile.Text(name, text, typecheck.Env{Files: input.Folder(folder, &c.seen)}, &list)
		if !list.HasErrors() {
			written = format.Write(m, k.In, odes.Version, &list)
		}
		if k.Binary && !list.HasErrors() {
			var err error
			if written, err = export.Compile(c.ctx, written); err != nil {
				return err
			}
		}
		return list.Err()
	})
	if all := diag.Of(err); slices.ContainsFunc(all, func(d diag.Diagnostic) bool {
		return d.Code == typecheck.CodeUndefined && d.Span.IsZero() // the experiment itself
	}) {
		c.diagnose(all)
		return status(exitUsage)
	}
	if err != nil {
		return c.modelError(err)
	}
	c.diagnose(list.All())
	return c.write(k.Output, func(w io.Writer) error {
		_, err := io.WriteString(w, written)
		return err
	})
}
