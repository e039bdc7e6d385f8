package odes

import (
	"context"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/typecheck"
)

// Findings are what Examine finds out about a file.
type Findings struct {
	Diagnostics []diag.Diagnostic // in the order of their places
	Survey      typecheck.Survey
}

// Examine is Check for editors. It takes a tree and what its parser reported, and
// tells what is known of the file's names too, also where there are errors.
// Compiling a large model takes longer than a typist waits, and finds only what
// depends on all values of an index: without compile it is left out. The error
// is that of ctx.
func Examine(ctx context.Context, tree *ast.File, parsed []diag.Diagnostic, compile bool, opts ParseOptions) (Findings, error) {
	var f Findings
	var list diag.List
	for _, d := range parsed {
		list.Add(d)
	}
	checked := typecheck.Check(tree, typecheck.Env{Files: opts.Files, CheckOnly: true, Settings: checkSettings, Done: ctx.Done(), Survey: &f.Survey}, &list)
	if err := ctx.Err(); err != nil {
		return Findings{}, err
	}
	if checked != nil {
		addStates(checked)
		finish(checked, compile, &list)
	}
	f.Diagnostics = list.All()
	return f, ctx.Err()
}
