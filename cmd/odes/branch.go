package main

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/plot"
	"odes.dev/odes/repl"
)

// branchFormats are the formats of steady states along a param.
var branchFormats = []struct {
	name  string
	write func(w io.Writer, h report.Heading, b *odes.Branch, opts report.TableOptions) error
}{{"table", report.BranchTable}, {"csv", report.BranchCSV}, {"json", report.BranchJSON}}

// follow follows the steady state along a param.
func (s *sweepCmd) follow(c *call) error {
	c.configure(s.global, formatFlag{})
	name := s.Format
	if name == "" {
		name = "table"
		if s.Output != "" {
			name = strings.ToLower(strings.TrimPrefix(filepath.Ext(s.Output), "."))
		}
	}
	var names []string
	for _, f := range branchFormats {
		names = append(names, f.name)
	}
	format := slices.Index(names, name)
	if format < 0 {
		return usagef("cannot write %q: choose %s", name, enumerate(names, "or"))
	}
	c.json = s.Format == "json"
	if s.Plot != "" && !slices.Contains(plot.Formats(), strings.TrimPrefix(filepath.Ext(s.Plot), ".")) {
		return usagef("cannot tell the format from %q: choose a name that ends in %s", s.Plot, pictureEndings())
	}
	of, err := list("outputs", s.Outputs)
	if err != nil {
		return err
	}
	job, err := s.job(c)
	if err != nil {
		return err
	}
	m, err := c.load(s.Model, "")
	if err != nil {
		return err
	}
	axes, err := s.axes(m, job)
	if err != nil {
		return err
	}
	if len(axes) != 1 || len(axes[0].Args) != 2 {
		return usagef("a steady state is followed along one range: odes sweep %s k from 0 to 2 --steady", s.Model)
	}
	const fewest = 100 // steps that show where a branch bends
	ask := odes.Continuation{
		Param: axes[0].Name, From: float64(axes[0].Args[0]), To: float64(axes[0].Args[1]),
		Points: max(axes[0].Count, fewest),
	}
	if s.Down {
		ask.From, ask.To = ask.To, ask.From
	}
	out, err := c.open(s.Output)
	if err != nil {
		return err
	}
	defer out.discard()
	set, err := s.assignments(c)
	if err != nil {
		return err
	}
	var b *odes.Branch
	err = c.work(func() (err error) {
		b, err = m.Continue(c.ctx, ask, odes.Options{Set: set, Solver: s.Solver, Settings: job.Options})
		return err
	})
	if err != nil {
		return err
	}
	if s.Plot != "" {
		picture, err := repl.Branch(b, of)
		if err != nil {
			return usagef("%v", err)
		}
		format := strings.TrimPrefix(filepath.Ext(s.Plot), ".")
		err = c.write(s.Plot, func(w io.Writer) error { return plot.Write(w, format, picture, plot.Page{}) })
		if err != nil {
			return err
		}
	}
	if err := branchFormats[format].write(out, heading(m), b, c.tableOptions(out)); err != nil {
		return out.failure(err)
	}
	return out.commit()
}
