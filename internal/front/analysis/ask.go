package analysis

import (
	"context"
	"errors"
	"fmt"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/front/posterior"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
)

// Ask is what is asked of an analysis, by a command, a session or a client of the server.
type Ask struct {
	Model *odes.Model
	// Source is what the model was read from; its Text is "" where that is not known.
	Source ensemble.Source
	// Options are those of the runs, with what flags are short for. They tell of no progress: Tell does.
	Options odes.Options
	Values  Values
	Set     []string  // the values of Options as they were written
	Behind  string    // what stands behind the model
	Times   []float64 // those of a request; nil for none
	Table   *Table    // values of a request; nil for none
	Most    int       // numbers that an answer may have; 0 for as many as there are
	// Tell is told how far the analysis is, by any goroutine, one at a time; nil for nobody.
	Tell func(Progress)
	// Note says something at once, beside the result; it may be nil. What begins with "note: " may be kept quiet.
	Note func(code, text string)
	// Workers returns who computes elsewhere, and what ends that; nil where there is nobody.
	Workers func(where string) (Backend, func(), error)

	Seen *input.Seen // the files that are read; it may be nil
	// Format and Path are where the result goes: a file, or "" for standard output. A client of the server has
	// none. Direct tells that the file is a device or a pipe.
	Format *report.Format
	Path   string
	Direct bool

	later []func(written bool) error
}

// Table is rows of values under names.
type Table struct {
	Columns []string
	Rows    [][]float64
}

// Backend computes members, searches and chains elsewhere.
type Backend interface {
	ensemble.Backend
	fit.Backend
	posterior.Backend
}

// Progress tells how far an analysis is.
type Progress struct {
	Phase string
	Steps int     // done so far
	Done  float64 // fraction
	Best  float64 // the best so far, of an analysis that searches
	Note  string  // more to say of it
}

// Text returns the text of the model in the language, where estimates can be written, and the files that this reads.
func (a *Ask) Text() (string, map[string][]byte) {
	if a.Source.Text != "" {
		var told diag.List // as reading it did
		translated, language := compile.Import(a.Source.Name, a.Source.Text, a.Source.FS(), "", &told)
		if language != "" {
			return translated.Text(), nil
		}
	}
	return a.Source.Text, a.Source.Files
}

// Later keeps what is to be done once the result is written, or is not going to be: the last first.
func (a *Ask) Later(f func(written bool) error) { a.later = append(a.later, f) }

// End does what was kept for later. The error is the first of it.
func (a *Ask) End(written bool) (err error) {
	for i := len(a.later) - 1; i >= 0; i-- {
		if e := a.later[i](written); err == nil {
			err = e
		}
	}
	a.later = nil
	return err
}

// note says something where somebody listens.
func (a *Ask) note(code, text string) {
	if a.Note != nil {
		a.Note(code, text)
	}
}

// Compute computes an analysis. Options and values of flags are not yet one.
func (r *Row) Compute(ctx context.Context, a *Ask) (*Result, error) {
	var err error
	if r.Check != nil {
		if err := r.Check(a.Values); err != nil {
			return nil, err
		}
	}
	if a.Options, err = r.Apply(a.Options, a.Values); err != nil {
		return nil, err
	}
	if r.Do != nil {
		return r.Do(ctx, a)
	}
	if tell := a.Tell; tell != nil && a.Options.Progress == nil {
		a.Options.Progress = func(p odes.Progress) {
			tell(Progress{Phase: p.Phase, Steps: p.Steps, Done: p.Done, Best: p.T})
		}
	}
	if r.Asked != nil {
		return r.Asked(ctx, a)
	}
	return r.Run(ctx, a.Model, a.Options)
}

// WrongError says that something was asked for wrongly.
type WrongError struct{ text string }

func (e *WrongError) Error() string { return e.text }

// Wrongf returns a WrongError.
func Wrongf(format string, args ...any) error { return &WrongError{fmt.Sprintf(format, args...)} }

// NoResultError says that there is no result, though what was asked for is right.
type NoResultError struct{ Err error }

func (e *NoResultError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *NoResultError) Unwrap() error { return e.Err }

// failed returns err as a NoResultError where it is one of these, and ctx has not ended.
func failed(ctx context.Context, err, is error) error {
	if err != nil && ctx.Err() == nil && errors.Is(err, is) {
		return &NoResultError{err}
	}
	return err
}
