package odes

import (
	"context"

	"odes.dev/odes/internal/settings"
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
	checked := typecheck.Check(tree, typecheck.Env{Files: opts.Files, CheckOnly: true, Settings: settings.CheckBlocks, Done: ctx.Done(), Survey: &f.Survey}, &list)
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

// Check looks at a model as a whole, its settings as well, without a run in
// mind: what the language has and this version does not solve is checked too, and
// is then a warning, not an error. It returns what the model says about itself,
// and warnings and notes; the error carries what is wrong.
func Check(name, text string, opts ParseOptions) (Info, []diag.Diagnostic, error) {
	var list diag.List
	checked, _ := analyse(name, text, typecheck.Env{Files: opts.Files, CheckOnly: true, Settings: settings.CheckBlocks}, &list)
	if err := list.Err(); err != nil {
		return Info{}, nil, err
	}
	finish(checked, true, &list)
	if err := list.Err(); err != nil {
		return Info{}, nil, err
	}
	m := &Model{checked: checked}
	return m.Info(), list.All(), nil
}

// finish reports what the checker leaves to those who run a model: settings that fit it, and, with compile, indices that
// depend on all values of a loop.
func finish(checked *typecheck.Model, compile bool, list *diag.List) {
	settings.CheckStates(checked, list)
	if compile && len(checked.Later) == 0 {
		newModel(checked, list)
	}
}
