// Package analysis is the table of analyses of a model, as they are offered to users: each has a row. The command, its
// help, manual page and completion, sessions, the server, and through that Python and R, read the table. An analysis
// needs no code in any of them.
//
// An analysis computes in a package of its own. Its settings are a block in package keys, which it reads by
// [odes.Model.ReadSettings]; its row here says what it is called and how its result is shown.
//
// Most rows have a Run, which has the options of a run and nothing more. Flags that are short for settings are among
// these by then, and so is what tells of progress. An analysis that needs more has a Do in place of Run. It gets an
// [Ask]: the values of all flags, what stands behind the model, what can be told of progress, who else can compute, and
// where the result goes. For both:
//
//   - An error that is a [WrongError] says that something was asked for wrongly (status 2 of the command, and "request"
//     of the server), a [NoResultError] that there is no result though all was right (status 3, "run"). Diagnostics
//     have their own statuses.
//   - Ctrl-C, the end of a client, and too little memory end the context. Where a row has Patience, what it returns
//     after that within so long is written, and the command's status is 130; else the error is told.
//   - The status of the command is 0 for a Result whose Status is "ok" or empty, and 3 for any other.
//   - A result together with an error is written where its Despite says so.
package analysis

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/plot"
	"odes.dev/odes/result"
)

// Row is an analysis.
type Row struct {
	Name string // of the command, of the word in a session, and of the request
	Help string // a sentence
	// Block is the settings block that it acts on; "" for none.
	Block    string
	Flags    []Flag
	Examples []Example
	// Sums tells that the table sums up what files for other programs hold row by row, and is shown beside them.
	Sums bool
	// Has tells which formats its results have; nil: those that have tables. Formats are its own, in place of those of
	// package report; FormatHelp is then the help on --format.
	Has        func(f *report.Format) bool
	Formats    func(v Values) []*report.Format
	FormatHelp string
	// Behind is what may stand behind the model; nil for nothing.
	Behind *Behind
	// Table tells that requests may have a table of values.
	Table bool
	// Patience is how long it may take after Ctrl-C to tell what it has found; 0 for one that tells nothing. Keeps is
	// short for a minute.
	Patience time.Duration
	Keeps    bool
	// Pictures are what can be drawn of its results, and Draw is the flag that asks for them: as WHAT or WHAT=FILE, or
	// as FILE where there is one picture.
	Pictures []Picture
	Draw     string
	// Sets tells that results have values for the model, which -o writes to a file that ends in .ode.
	Sets bool
	// OutputHelp is the help on -o, where it is not that of all.
	OutputHelp string
	// Session is how a session describes its word; nil: as the row does. A row without a Word is none of a session's.
	Session *Session

	// Run computes it; or Do does, for one that is asked for more than the options of a run.
	// Asked is a Run that reads the Ask, too: one of a row that is otherwise as those with a Run, which it has as well.
	Run   func(ctx context.Context, m *odes.Model, o odes.Options) (*Result, error)
	Asked func(ctx context.Context, a *Ask) (*Result, error)
	Do    func(ctx context.Context, a *Ask) (*Result, error)
	// Check finds what is wrong with flags before the model is read; it may be nil.
	Check func(v Values) error
}

// Behind is what stands behind the model: words of a command, or a text of a request.
type Behind struct {
	Name, Help string
	Request    string   // the key of requests
	Words      []string // that it has, for completion
}

// Session describes the word of an analysis in a session.
type Session struct {
	Form, Help string
	// None tells that the session has a word of this name of its own, or is to have none.
	None bool
}

// Picture is a picture of a result. Of is that of the Result; a picture of nil means that it has nothing to show.
type Picture struct {
	Name, Doc string
	Draw      func(a *About, of any) (plot.Picture, error)
}

// About is what pictures of a result may show of the model that it is of.
type About struct {
	Info odes.Info
	// Course returns an observed expression over time with the values that the result found, in the run of an
	// experiment, "" for that without any; nothing where it is not known. It may be nil.
	Course func(experiment, observation string) (t, y []float64)
	// Data compares the model with its data, with the values that the result found.
	Data func() ([]fit.Prediction, error)
	// With is as if the result had found other values. It may be nil.
	With func(found []odes.Assignment) *About
}

func (a *About) course(experiment, observation string) (t, y []float64) {
	if a.Course == nil {
		return nil, nil
	}
	return a.Course(experiment, observation)
}

// Picture draws a picture of a result of a model. The error says that there is none of that name, or nothing for it to
// show.
func (r *Row) Picture(a *About, of any, name string) (plot.Picture, error) {
	at := slices.IndexFunc(r.Pictures, func(p Picture) bool { return p.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("a %s has no picture %q; it has %s", r.Name, name, strings.Join(r.Drawn(), ", "))
	}
	p, err := r.Pictures[at].Draw(a, of)
	if err == nil && p == nil {
		err = fmt.Errorf("the %s has nothing for the picture %q to show", r.Name, name)
	}
	return p, err
}

// Drawn returns the names of the pictures.
func (r *Row) Drawn() (names []string) {
	for _, p := range r.Pictures {
		names = append(names, p.Name)
	}
	return names
}

// Example is a command line and what it is for.
type Example struct{ Line, Does string }

// Result is what an analysis gives.
type Result struct {
	Status   string // "ok", or "partial" where some of it is not to be trusted; "" is "ok"
	Warnings []diag.Diagnostic
	// Tables is the common form, which every format and every program can read: result.FormOf a struct with its fields.
	Tables *report.Tables

	// Write writes a result that has forms of its own, and Head and Arrays are what programs get of it.
	Write  func(f *report.Format, w io.Writer, h report.Heading, opts report.TableOptions) error
	Head   any
	Arrays []Array

	// Despite tells in which formats a result is written to standard output even though there is an error.
	Despite func(f *report.Format) bool
	// Work is lines on the work that was done, for those who ask for more to be told.
	Work []string
	// Found are values for the model, which a session sets, and a command writes to a file of the model.
	Found []odes.Assignment
	// Of is the result as its package has it, of which pictures are drawn.
	Of any
}

// Array is numbers with a name and a shape, row by row.
type Array result.Array

// rows are all analyses, in the order of help.
var rows = []*Row{fitted, selected, sample, predict, simulated, drawn, swept}

// Rows returns all analyses, in the order of help. They must not be changed.
func Rows() []*Row { return rows }

// Named returns the analysis of a name; nil where there is none.
func Named(name string) *Row {
	if i := slices.IndexFunc(rows, func(r *Row) bool { return r.Name == name }); i >= 0 {
		return rows[i]
	}
	return nil
}

// Waits returns how long the analysis may take after Ctrl-C; 0 where it tells nothing then.
func (r *Row) Waits() time.Duration {
	if r.Keeps && r.Patience == 0 {
		return time.Minute
	}
	return r.Patience
}

// Written returns the formats that results are written in.
func (r *Row) Written(v Values) (list []*report.Format) {
	if r.Formats != nil {
		return r.Formats(v)
	}
	for _, f := range report.Formats() {
		if r.Formatted(f) {
			list = append(list, f)
		}
	}
	return list
}

// Formatted reports whether results have a format.
func (r *Row) Formatted(f *report.Format) bool {
	switch {
	case r.Formats != nil:
		return slices.ContainsFunc(r.Formats(nil), func(own *report.Format) bool { return own.Name == f.Name })
	case r.Has != nil:
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
