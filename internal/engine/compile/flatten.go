package compile

import (
	"io/fs"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/compose"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/typecheck"
)

// Flatten returns the text of a model without its components: one that says the same in one file, but for what it
// loads and the functions that it imports. The model has to be right. A text in another language is translated first.
func Flatten(name, text string, files fs.FS, list *diag.List) string {
	file := source.NewFile(name, text)
	if translated, language := ImportAs(name, text, files, Asked{}, list); language != "" {
		if list.HasErrors() {
			return ""
		}
		file = translated
	}
	tree := parser.Parse(file, list)
	if m := checked(tree, typecheck.Env{Files: files}, list); m == nil || list.HasErrors() {
		return ""
	}
	flat, _ := compose.Flatten(tree, files, list)
	if flat == tree {
		return ast.Format(tree)
	}
	return ast.Format(&ast.File{Source: tree.Source, Items: flat.Items})
}
