// Package compile goes from the text of a model to compiled models: what the root package, the language server and
// `odes emit` share. It parses, checks and compiles, and shows what each of these makes.
//
// It knows nothing of runs, or of values that are set from outside. It opens no file: its callers hand it
// texts and file systems.
package compile

import (
	"context"
	"io/fs"
	"strings"
	"time"

	"odes.dev/odes/data"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/redose"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/typecheck"
)

// foreign is a text in another language.
type foreign struct {
	file  *source.File
	files fs.FS // what it refers to
	Asked
}

// Asked are what texts in other languages leave open.
type Asked struct {
	Task string // of several that the text has, or "" for the first
	End  string // of the run, where the text does not say it; 100 if it is ""
	// IgnoreFast takes reactions of SBML that are marked as fast, which are equilibria, by their rate laws.
	IgnoreFast bool
}

// format is a language that models are read in, beside that of odes.
type format struct {
	name      string
	is        func(name, text string) bool
	translate func(from foreign, list *diag.List) *source.File
}

// compressed is no language, and tells so before others look at bytes that mean nothing.
var compressed = format{"a compressed file", of(func(text string) bool {
	return strings.HasPrefix(text, "\x1f\x8b")
}), func(from foreign, list *diag.List) *source.File {
	list.Errorf(parser.CodeForeignFile, source.Span{File: from.file}, "this is compressed: unpack it, as by "+
		"gunzip, and name the model in it")
	return nil
}}

// of looks at a text alone, whatever its name is.
func of(is func(text string) bool) func(name, text string) bool {
	return func(_, text string) bool { return is(text) }
}

// Formats returns the names of the languages of other programs that models are read in.
func Formats() []string {
	var names []string
	for _, f := range others {
		names = append(names, f.name)
	}
	return names
}

// Import translates a text in another language, and says which it is, such as "SBML"; "" for a text that is in none
// that odes reads. Files has what it refers to. End is the end of the run where the text does not say it, and 100 if it
// is "". The translation is nil if list holds an error then.
func Import(name, text string, files fs.FS, end string, list *diag.List) (translated *source.File, language string) {
	return ImportAs(name, text, files, Asked{End: end}, list)
}

// ImportAs is Import with more that is asked for.
func ImportAs(
	name, text string, files fs.FS, asked Asked, list *diag.List,
) (translated *source.File, language string) {
	for _, f := range append([]format{compressed}, others...) {
		if f.is(name, text) {
			return f.translate(foreign{source.NewFile(name, text), files, asked}, list), f.name
		}
	}
	return nil, ""
}

// Text parses and checks a text; name is used in messages. It returns nil if list holds an error. It
// also returns when parsing ended. A model that names no outputs has its states as outputs.
// A model in SBML and a problem in PEtab are translated first; a note says so.
//
// Like all functions here that take a list, it returns early, with nil, once nobody waits for the list (List.While).
func Text(name, text string, env typecheck.Env, list *diag.List) (m *model.Model, parsed time.Time) {
	defer diag.Leave()
	file := native(name, text, env, list)
	if file == nil {
		return nil, time.Now()
	}
	tree := parser.Parse(file, list)
	parsed = time.Now()
	return checked(tree, env, list), parsed
}

// native returns a text in the language: itself, or its translation, of which a note tells. It is nil if list holds an
// error then.
func native(name, text string, env typecheck.Env, list *diag.List) *source.File {
	file := source.NewFile(name, text)
	translated, language := ImportAs(name, text, env.Files, Asked{Task: env.Experiment}, list)
	switch {
	case language == "":
		return file
	case list.HasErrors():
		return nil
	case isArchive(text):
		file = source.NewFile(name, "") // whose bytes no message shows
	}
	list.Notef(parser.CodeForeignFile, source.Span{File: file}, "this is %s: odes reads its translation, which "+
		"odes import writes", language)
	return translated
}

// Redosed returns a model, and the files that it reads, with other doses in the place of those in the table of the
// model: those of the experiment of env, or of a model without experiments. The text may be in another language. One
// with errors is returned as it is, for Text to name them. The error is one of the doses; list has what is wrong with
// a translation.
func Redosed(
	name, text string, env typecheck.Env, doses *data.Table, list *diag.List,
) (file *source.File, files fs.FS, err error) {
	defer diag.Leave()
	if file = native(name, text, env, list); file == nil {
		return nil, nil, nil
	}
	var of diag.List // which Text finds again
	tree := parser.Parse(file, &of)
	if of.HasErrors() {
		return file, env.Files, nil
	}
	changed, files, err := redose.Model(tree, env.Files, env.Experiment, doses)
	if err != nil {
		return nil, nil, err
	}
	return source.NewFile(file.Name(), changed), files, nil
}

func checked(tree *ast.File, env typecheck.Env, list *diag.List) *model.Model {
	m := typecheck.Check(tree, env, list)
	if m == nil {
		return nil
	}
	for _, x := range append([]*model.Experiment{{Model: m}}, m.Experiments...) {
		if len(x.Model.Outputs) == 0 {
			x.Model.Outputs = states(x.Model)
		}
	}
	return m
}

// states returns the states as outputs, for a model that names none.
func states(m *model.Model) []*model.Output {
	var list []*model.Output
	for _, x := range m.States {
		value := &model.Ref{Base: model.Base{T: x.Type, S: x.Span}, Sym: x}
		list = append(list, &model.Output{Name: x.Name, Value: value, Doc: x.Doc, Span: x.Span})
	}
	return list
}

// Model compiles a checked model, and those of its experiments in file order. If something cannot be
// compiled, it reports that to list and returns nil.
func Model(m *model.Model, list *diag.List) (whole *compiled.Model, experiments []*compiled.Model) {
	defer func() {
		if list.Ended() {
			whole, experiments = nil, nil
		}
	}()
	defer diag.Leave()
	whole = compiled.New(m, list)
	if whole == nil {
		return nil, nil
	}
	for _, x := range m.Experiments {
		its := whole.Experiment(x.Model, list)
		if its == nil {
			return nil, nil
		}
		experiments = append(experiments, its)
	}
	return whole, experiments
}

// Part compiles a model that was made from that of whole, or from one of its experiments, and shares with it what they
// have in common. If it cannot be compiled, Part reports that to list and returns nil.
func Part(whole *compiled.Model, m *model.Model, list *diag.List) *compiled.Model {
	return whole.Experiment(m, list)
}

// Check looks for errors in a text and its settings, without a run in mind. What the language has but
// this version does not solve is checked too, with a warning in place of an error; whole is nil then.
// Check returns nil if list holds an error.
func Check(name, text string, files fs.FS, list *diag.List) (m *model.Model, whole *compiled.Model) {
	m, _ = Text(name, text, typecheck.Env{Files: files, CheckOnly: true, Settings: settings.CheckBlocks}, list)
	if list.HasErrors() || list.Ended() {
		return nil, nil
	}
	whole = finish(m, true, list)
	if list.HasErrors() || list.Ended() {
		return nil, nil
	}
	return m, whole
}

// finish reports what the checker leaves open: settings that do not fit the model and, with compiled,
// indices that depend on all values of a loop. It returns what it compiled.
func finish(m *model.Model, compiled bool, list *diag.List) (whole *compiled.Model) {
	settings.CheckStates(m, list)
	if compiled && len(m.Later) == 0 {
		whole, _ = Model(m, list)
	}
	return whole
}

// Findings are what Examine finds out about a file.
type Findings struct {
	Diagnostics []diag.Diagnostic // in the order of their places
	Survey      typecheck.Survey
}

// Examine is Check for editors. It takes a tree and the diagnostics of its parser, and also returns
// what is known of the file's names, even if there are errors. Without compiled it skips compilation:
// that takes longer than a typist waits, and finds only what depends on all values of an index. The
// error is that of ctx.
func Examine(
	ctx context.Context, tree *ast.File, parsed []diag.Diagnostic, compiled bool, files fs.FS,
) (Findings, error) {
	var f Findings
	var list diag.List
	for _, d := range parsed {
		list.Add(d)
	}
	env := typecheck.Env{Files: files, CheckOnly: true, Settings: settings.CheckBlocks, Survey: &f.Survey}
	list.While(ctx.Done())
	m := func() *model.Model {
		defer diag.Leave()
		return checked(tree, env, &list)
	}()
	if err := ctx.Err(); err != nil {
		return Findings{}, err
	}
	if m != nil {
		finish(m, compiled, &list)
	}
	f.Diagnostics = list.All()
	return f, ctx.Err()
}
