// Package export writes checked models in the languages of other programs.
//
// A checked model is first written out into single numbers (flat.go): a graph of operations on them (node.go), in which
// what the model names keeps its name. Each format has a file that writes this form.
package export

import (
	"errors"
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/typecheck"
)

// The codes of what cannot be exported, and of what is left out.
const (
	CodeCannot diag.Code = "cannot-export" // the format has nothing like it
	CodeLeft   diag.Code = "not-exported"  // note: left out, or different in the format
)

// Format is a language of another program.
type Format struct {
	Name, Doc string
	Endings   []string // of files
	title     string   // in messages
	Packed    bool     // it is an archive, no text
	lags      bool     // it has a place for delays
	write     func(x *exporter) string
	// operators are those that the format does not have, written with others; nil where nothing else has their value.
	operators map[string]rewrite
}

// formats is the table that the command, help and completion read.
var formats []*Format

func init() {
	formats = []*Format{
		{
			Name: "sbml", Doc: "for programs that read SBML", Endings: []string{"xml", "sbml"}, title: "SBML",
			lags: true, write: writeSBML, operators: sbmlRewrites,
		},
		{Name: "c", Doc: "for a solver of yours", Endings: []string{"c"}, title: "C", write: writeC},
		{
			Name: "fmu", Doc: "for programs that simulate FMUs", Endings: []string{"fmu"}, title: "FMI",
			write: writeFMU, Packed: true,
		},
		{Name: "latex", Doc: "for a text", Endings: []string{"tex"}, title: "LaTeX", write: writeLaTeX},
	}
}

// Formats returns the formats, in the order of the manual. The slice must not be changed.
func Formats() []*Format { return formats }

// Named returns the format of a name, or nil.
func Named(name string) *Format {
	for _, f := range formats {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Write writes a checked model, or one of its experiments, which has a name then. It reports to list what the format
// cannot say, and returns "" then; notes say what is left out.
func (f *Format) Write(m *model.Model, experiment, version string, list *diag.List) (text string) {
	x := &exporter{format: f, list: list, version: version, source: m, whole: m, experiment: experiment}
	if experiment != "" {
		var known []string
		for _, e := range m.Experiments {
			if known = append(known, e.Name); e.Name == experiment {
				x.source = e.Model
			}
		}
		if x.source == m {
			list.Errorf(typecheck.CodeUndefined, source.Span{}, "there is no experiment %q%s", experiment,
				diag.DidYouMean(experiment, known))
			return ""
		}
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stop:
			text = ""
		default:
			panic(r)
		}
	}()
	if lags := x.source.Lags; len(lags) > 0 && !f.lags {
		x.fail(lags[0].Span, "%s has no place for delays, and %s is one", f.title, lags[0].Span.Text())
	}
	x.leaveOut()
	text = f.write(x)
	if list.HasErrors() {
		return ""
	}
	return text
}

// stop ends the work after an error that it cannot go on after.
type stop struct{ error }

// exporter is one export.
type exporter struct {
	format  *Format
	list    *diag.List
	version string
	source  *model.Model
	whole   *model.Model // of which source is an experiment, or source

	experiment string // "" for none
	flat
	builder
}

// origin says what is exported, for a comment.
func (x *exporter) origin() string {
	name := "odes " + x.version + " from " + x.source.Source.Name()
	if x.experiment != "" {
		name += ", experiment " + x.experiment
	}
	return strings.ReplaceAll(name, "\n", " ")
}

// cannot reports that the format cannot say something of the model.
func (x *exporter) cannot(at source.Span, format string, args ...any) {
	x.list.Errorf(CodeCannot, at, format, args...)
}

// fail is cannot for what nothing can go on after.
func (x *exporter) fail(at source.Span, format string, args ...any) {
	x.cannot(at, format, args...)
	panic(stop{errors.New("stopped")})
}

// note reports what is left out, or different.
func (x *exporter) note(at source.Span, format string, args ...any) {
	x.list.Notef(CodeLeft, at, format, args...)
}
