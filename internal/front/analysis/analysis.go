// Package analysis is the table of analyses of a model, as they are offered to users: each has a row. The command, its
// help, manual page and completion, sessions, the server, and through that Python and R, read the table. An analysis
// needs no code in any of them.
//
// An analysis computes in a package of its own. Its settings are a block in package keys, which it reads by
// [odes.Model.ReadSettings]; its row here says what it is called and how its result is shown.
package analysis

import (
	"context"
	"io"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
)

// Row is an analysis.
type Row struct {
	Name string // of the command, of the word in a session, and of the request
	Help string // a sentence
	// Block is the settings block that it acts on; "" for none.
	Block    string
	Flags    []Flag
	Examples []Example
	// Has tells which formats its results have; nil: those that have tables.
	Has func(f *report.Format) bool
	// Keeps tells that Run gives what it has, where its context ends.
	Keeps bool
	Run   func(ctx context.Context, m *odes.Model, o odes.Options) (*Result, error)
}

// Flag is short for a key of the block of an analysis.
type Flag struct {
	Name, Key   string
	Placeholder string // "" for a flag without a value, of a key that is on or off
	Help        string
}

// Example is a command line and what it is for.
type Example struct{ Line, Does string }

// Result is what an analysis gives.
type Result struct {
	Status   string // "ok", or "partial" where some of it is not to be trusted; "" is "ok"
	Warnings []diag.Diagnostic
	// Tables is the common form, which every format and every program can read.
	Tables *report.Tables

	// Write writes a result that has forms of its own, and Head and Arrays are what programs get of it.
	Write  func(f *report.Format, w io.Writer, h report.Heading, opts report.TableOptions) error
	Head   any
	Arrays []Array
}

// Array is numbers with a name and a shape, row by row.
type Array struct {
	Name   string
	Shape  []int
	Values []float64
}

// rows are all analyses, in the order of help.
var rows = []*Row{sample, predict, simulated}

// Rows returns all analyses, in the order of help. They must not be changed.
func Rows() []*Row { return rows }

// Named returns the analysis of a name; nil where there is none.
func Named(name string) *Row {
	if i := slices.IndexFunc(rows, func(r *Row) bool { return r.Name == name }); i >= 0 {
		return rows[i]
	}
	return nil
}

// Formatted reports whether results have a format.
func (r *Row) Formatted(f *report.Format) bool {
	if r.Has != nil {
		return r.Has(f)
	}
	return report.HasTables(f)
}

// WriteAs writes a result in a format that it has.
func (r *Result) WriteAs(f *report.Format, w io.Writer, h report.Heading, opts report.TableOptions) error {
	if r.Write != nil {
		return r.Write(f, w, h, opts)
	}
	return f.Tables(w, h, r.Tables, opts)
}

// settings returns what flags with values are short for.
func (r *Row) settings(values map[string]string) (list []odes.Setting) {
	for _, f := range r.Flags {
		if v := values[f.Name]; v != "" {
			list = append(list, odes.Setting{Key: r.Block + "." + f.Key, Value: v})
		}
	}
	return list
}

// With returns options with what flags are short for.
func (r *Row) With(o odes.Options, values map[string]string) odes.Options {
	o.Settings = append(slices.Clip(o.Settings), r.settings(values)...)
	return o
}
