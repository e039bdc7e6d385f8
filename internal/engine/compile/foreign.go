//go:build !odes_playground

package compile

import (
	"odes.dev/odes/internal/exchange/antimony"
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
	{"Antimony", antimony.Is, func(from foreign, list *diag.List) *source.File {
		return antimony.Translate(from.file, from.End, list)
	}},
	{"XPPAUT", of(xpp.Is), func(from foreign, list *diag.List) *source.File {
		return xpp.Translate(from.file, list)
	}},
}

// isArchive reports whether a text is that of a COMBINE archive.
func isArchive(text string) bool { return sedml.IsArchive(text) }
