//go:build !odes_playground

package compile

import (
	"io/fs"
	"strings"
	"time"

	"odes.dev/odes/internal/exchange/antimony"
	"odes.dev/odes/internal/exchange/nonmem"
	"odes.dev/odes/internal/exchange/petab"
	"odes.dev/odes/internal/exchange/sbml"
	"odes.dev/odes/internal/exchange/sbml/comp"
	"odes.dev/odes/internal/exchange/sedml"
	"odes.dev/odes/internal/exchange/xpp"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// others are the languages of other programs that models are read in, in the order in which texts are tried.
var others = []format{
	{"a COMBINE archive", of(sedml.IsArchive), func(from foreign, list *diag.List) *source.File {
		return sedml.Translate(from.file, nil, from.Task, from.End, list)
	}},
	{"SED-ML", of(sedml.Is), func(from foreign, list *diag.List) *source.File {
		return sedml.Translate(from.file, from.files, from.Task, from.End, list)
	}},
	{"SBML", of(sbml.Is), func(from foreign, list *diag.List) *source.File {
		open := comp.Beside(from.files, from.file, ".")
		return comp.Translate(from.file, open, sbml.Options{To: from.End, IgnoreFast: from.IgnoreFast}, list)
	}},
	{"PEtab", petab.Is, func(from foreign, list *diag.List) *source.File {
		return petab.Translate(from.file, from.files, list)
	}},
	{"a control stream of NONMEM", of(nonmem.Is), func(from foreign, list *diag.List) *source.File {
		return nonmem.Translate(from.file, from.files, list)
	}},
	{"Antimony", antimony.Is, func(from foreign, list *diag.List) *source.File {
		return antimony.Translate(from.file, from.End, list)
	}},
	{"XPPAUT", of(xpp.Is), func(from foreign, list *diag.List) *source.File {
		return xpp.Translate(from.file, list)
	}},
}

// isArchive reports whether a text is that of a COMBINE archive.
func isArchive(text string) bool { return sedml.IsArchive(text) }

// Components writes a model in SBML that has submodels as one text that uses components, in files whose names begin
// with base. It returns nil and the reason where components cannot say what the model does, and an empty reason for
// other models.
func Components(name, text string, files fs.FS, base string, asked Asked) (parts *comp.Parts, why string) {
	if !sbml.Is(text) || asked.IgnoreFast {
		return nil, ""
	}
	file := source.NewFile(name, text)
	parts, why = comp.Components(file, comp.Beside(files, file, "."), base, sbml.Options{To: asked.End})
	if parts == nil {
		return nil, why
	}
	var list diag.List
	Check(base+".ode", parts.Main, beside(parts.Files), &list)
	if err := list.Err(); err != nil {
		return nil, err.Error()
	}
	return parts, ""
}

// beside are texts as a file system.
type beside map[string]string

// Open opens one.
func (b beside) Open(name string) (fs.File, error) {
	text, ok := b[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return &opened{strings.NewReader(text)}, nil
}

// opened is an open text.
type opened struct{ *strings.Reader }

// Close does nothing.
func (o *opened) Close() error { return nil }

// Stat says that it is a file of its size.
func (o *opened) Stat() (fs.FileInfo, error) { return o, nil }

// Name is not asked for.
func (o *opened) Name() string { return "" }

// Mode is that of a file.
func (o *opened) Mode() fs.FileMode { return 0 }

// ModTime is not known.
func (o *opened) ModTime() time.Time { return time.Time{} }

// IsDir is false.
func (o *opened) IsDir() bool { return false }

// Sys is nothing.
func (o *opened) Sys() any { return nil }
