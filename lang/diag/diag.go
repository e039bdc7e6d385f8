// Package diag is the vocabulary of diagnostics: what is wrong, where, and
// what to do, as values. Every stage, from the lexer to the solver, reports
// into one List; renderers (plain, colour, JSON) turn a list into text. The
// package knows nothing of what the messages are about.
package diag

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"odes.dev/odes/lang/source"
)

// Level says how serious a diagnostic is.
type Level uint8

// The levels, most serious first.
const (
	Error   Level = iota // the model, command or run is wrong
	Warning              // the result is valid, but should be looked at
	Note                 // worth knowing
)

// String returns "error", "warning" or "note".
func (l Level) String() string {
	return [...]string{"error", "warning", "note"}[l]
}

// Code names a kind of diagnostic, in kebab case ("undefined-name"). Tests and tools match codes,
// never prose. Each stage declares its codes in one file.
type Code string

// Diagnostic is one finding. Message is in lower case and has no full stop. It says what is wrong,
// then what to do.
type Diagnostic struct {
	Code    Code
	Level   Level
	Span    source.Span // zero when there is no place in a file
	Message string
	Related []Related // "declared here", in reading order
	Fixes   []Fix     // edits that would mend it
	later   []func(*Diagnostic)
}

// Related points at another place that explains the diagnostic.
type Related struct {
	Span    source.Span
	Message string
}

// Fix is an edit: replace Span by Text.
type Fix struct {
	Span    source.Span
	Text    string
	Message string // what the edit does: "write x^2"
}

// List collects diagnostics. The zero List is ready to use.
type List struct {
	all  []Diagnostic
	done <-chan struct{} // see While
}

// Add appends d and returns a pointer to the stored diagnostic, for attaching related places and
// fixes. The pointer is valid until the next Add.
func (l *List) Add(d Diagnostic) *Diagnostic {
	l.all = append(l.all, d)
	return &l.all[len(l.all)-1]
}

// Errorf appends an error.
func (l *List) Errorf(code Code, at source.Span, format string, args ...any) *Diagnostic {
	return l.Add(Diagnostic{Code: code, Level: Error, Span: at, Message: fmt.Sprintf(format, args...)})
}

// Warnf appends a warning.
func (l *List) Warnf(code Code, at source.Span, format string, args ...any) *Diagnostic {
	return l.Add(Diagnostic{Code: code, Level: Warning, Span: at, Message: fmt.Sprintf(format, args...)})
}

// Notef appends a note.
func (l *List) Notef(code Code, at source.Span, format string, args ...any) *Diagnostic {
	return l.Add(Diagnostic{Code: code, Level: Note, Span: at, Message: fmt.Sprintf(format, args...)})
}

// Relate attaches a related place and returns d.
func (d *Diagnostic) Relate(at source.Span, format string, args ...any) *Diagnostic {
	d.Related = append(d.Related, Related{Span: at, Message: fmt.Sprintf(format, args...)})
	return d
}

// Later keeps what it takes a search to say of a diagnostic, such as a name that was meant, until Complete. Of
// thousands of mistakes few are shown. What is to be said comes in the order of the calls.
func (d *Diagnostic) Later(say func(d *Diagnostic)) { d.later = append(d.later, say) }

// Complete says what is left to say, for those who show the diagnostic.
func (d *Diagnostic) Complete() {
	for _, say := range d.later {
		say(d)
	}
	d.later = nil
}

// Fix attaches an edit and returns d.
func (d *Diagnostic) Fix(at source.Span, text, message string) *Diagnostic {
	d.Fixes = append(d.Fixes, Fix{Span: at, Text: text, Message: message})
	return d
}

// All returns the diagnostics in the order of their places (file, then offset). Those without a
// place come last. The slice is a copy: later additions to the list do not change it.
func (l *List) All() []Diagnostic {
	all := slices.Clone(l.all)
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i].Span, all[j].Span
		switch {
		case a.File == nil || b.File == nil:
			return a.File != nil && b.File == nil
		case a.File != b.File:
			return false
		}
		return a.Start < b.Start
	})
	return all
}

// Len returns the number of diagnostics of any level.
func (l *List) Len() int { return len(l.all) }

// Each calls f with all of them, which f may add to.
func (l *List) Each(f func(*Diagnostic)) {
	for i := range l.all {
		f(&l.all[i])
	}
}

// Errors returns how many of them are errors.
func (l *List) Errors() int {
	n := 0
	for i := range l.all {
		if l.all[i].Level == Error {
			n++
		}
	}
	return n
}

// HasErrors reports whether the list holds a diagnostic of level Error.
func (l *List) HasErrors() bool { return l.Errors() > 0 }

// Err returns nil when the list holds no error, else a *ListError with the whole list.
func (l *List) Err() error {
	if !l.HasErrors() {
		return nil
	}
	return &ListError{Diagnostics: l.All()}
}

// ListError is a list of diagnostics as a Go error. At least one of them is an error.
type ListError struct {
	Diagnostics []Diagnostic
}

// Error returns the plain rendering of the first error, and how many more there are.
func (e *ListError) Error() string {
	var first *Diagnostic
	count := 0
	for i := range e.Diagnostics {
		if e.Diagnostics[i].Level == Error {
			if first == nil {
				first = &e.Diagnostics[i]
			}
			count++
		}
	}
	if first == nil {
		return "no error"
	}
	told := first.told()
	text := brief(told.Message)
	if !told.Span.IsZero() {
		text = placed(told.Span) + " " + text
	}
	if count > 1 {
		text += fmt.Sprintf(" (and %d more)", count-1)
	}
	return text
}

// Of returns the diagnostics that err carries, or nil.
func Of(err error) []Diagnostic {
	var list *ListError
	if errors.As(err, &list) {
		return list.Diagnostics
	}
	return nil
}
