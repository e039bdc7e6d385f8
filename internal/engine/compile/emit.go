package compile

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/typecheck"
)

// stage is one of the forms of a model on the way from text to program.
type stage struct {
	name string
	// One of these writes it: from the text, from the checked model, or from the compiled one.
	text     func(io.Writer, *source.File) error
	checked  func(io.Writer, *model.Model) error
	compiled func(*compiled.Model, io.Writer) error
}

// stages are in the order of the pipeline. The first two do not need a valid model.
var stages = []stage{
	{name: "tokens", text: parser.DumpTokens},
	{name: "ast", text: parser.DumpTree},
	{name: "model", checked: model.Dump},
	{name: "tape", compiled: (*compiled.Model).EmitTapes},
	{name: "vjp", compiled: (*compiled.Model).EmitTransposes},
	{name: "jvp", compiled: (*compiled.Model).EmitTangents},
	{name: "jacobian", compiled: (*compiled.Model).EmitJacobian},
	{name: "program", compiled: (*compiled.Model).EmitPrograms},
}

// Stages returns the names of the stages that Emit shows, in the order of the pipeline.
func Stages() []string {
	var names []string
	for _, s := range stages {
		names = append(names, s.name)
	}
	return names
}

// stageNamed returns the stage of a name.
func stageNamed(name string) (stage, error) {
	i := slices.IndexFunc(stages, func(s stage) bool { return s.name == name })
	if i < 0 {
		return stage{}, fmt.Errorf("there is no stage %q; there are %s", name, strings.Join(Stages(), ", "))
	}
	return stages[i], nil
}

// CheckStage returns the error of Emit for a name that is none of Stages.
func CheckStage(name string) error {
	_, err := stageNamed(name)
	return err
}

// Emit writes a stage of the text of a model: "tokens", "ast" (the tree), "model" (the checked model),
// "tape" (all tapes), "vjp" and "jvp" (their transposes and tangents), "jacobian" (the Jacobian of the
// rates), "program" (what the machine runs).
func Emit(w io.Writer, name, file, text string, files fs.FS) error {
	s, err := stageNamed(name)
	if err != nil {
		return err
	}
	if s.text != nil {
		return s.text(w, source.NewFile(file, text))
	}
	var list diag.List
	m, _ := Text(file, text, typecheck.Env{Files: files}, &list)
	var compiled *compiled.Model
	if !list.HasErrors() {
		compiled, _ = Model(m, &list)
	}
	if err := list.Err(); err != nil {
		return err
	}
	if s.checked != nil {
		return s.checked(w, m)
	}
	return s.compiled(compiled, w)
}
