package compile

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"odes.dev/odes/internal/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/typecheck"
)

// stage is one of the forms of a model on the way from text to program.
type stage struct {
	name string
	// One of these writes it: from the text, from the checked model, or from the compiled one.
	text    func(io.Writer, *source.File) error
	checked func(io.Writer, *typecheck.Model) error
	tapes   bool
}

// stages are in the order of the pipeline. The first two do not need a valid model.
var stages = []stage{
	{name: "tokens", text: parser.DumpTokens},
	{name: "ast", text: parser.DumpTree},
	{name: "model", checked: typecheck.Dump},
	{name: "tape", tapes: true},
	{name: "vjp", tapes: true},
	{name: "jvp", tapes: true},
	{name: "program", tapes: true},
}

// Stages returns the names of the stages that Emit shows, in the order of the pipeline.
func Stages() []string {
	var names []string
	for _, s := range stages {
		names = append(names, s.name)
	}
	return names
}

// Emit writes a stage of the text of a model: "tokens", "ast" (the tree), "model" (the checked model),
// "tape" (all tapes), "vjp" and "jvp" (their transposes and tangents), "program" (what the machine
// runs).
func Emit(w io.Writer, name, file, text string, files fs.FS) error {
	i := slices.IndexFunc(stages, func(s stage) bool { return s.name == name })
	if i < 0 {
		return fmt.Errorf("there is no stage %q; there are %s", name, strings.Join(Stages(), ", "))
	}
	s := stages[i]
	if s.text != nil {
		return s.text(w, source.NewFile(file, text))
	}
	var list diag.List
	m, _ := Text(file, text, typecheck.Env{Files: files}, &list)
	var compiled *system.Model
	if !list.HasErrors() {
		compiled, _ = Model(m, &list)
	}
	if err := list.Err(); err != nil {
		return err
	}
	if s.checked != nil {
		return s.checked(w, m)
	}
	return compiled.Emit(w, name)
}
