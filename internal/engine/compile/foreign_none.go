//go:build odes_playground

package compile

import (
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// others are not read in the playground of the site, whose size counts. Files in XML are told what they are.
var others = []format{{"XML", of(func(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "<?xml")
}), func(from foreign, list *diag.List) *source.File {
	list.Errorf(parser.CodeForeignFile, source.Span{File: from.file}, "models in XML, as SBML, are not read here: "+
		"odes import translates them")
	return nil
}}}

// isArchive reports whether a text is that of a COMBINE archive.
func isArchive(string) bool { return false }
