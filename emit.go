package odes

import (
	"fmt"
	"io"
	"strings"

	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/typecheck"
)

// stagesOfEmit are the stages of the pipeline that can be shown, in its order.
var stagesOfEmit = []string{"tokens", "ast", "model", "tape", "vjp", "jvp", "program"}

// Stages returns the names of the stages that Emit shows, in the order of the pipeline.
func Stages() []string { return append([]string(nil), stagesOfEmit...) }

// Emit writes what a stage of the pipeline makes of the text of a model:
// "tokens", "ast" (the tree), "model" (the checked model), "tape" (all tapes),
// "vjp" and "jvp" (their transposes and tangents), "program" (what the machine
// runs). Later stages have less to forgive: the first two want no valid model.
func Emit(w io.Writer, stage, name, text string, opts ParseOptions) error {
	switch stage {
	case "tokens":
		return parser.DumpTokens(w, source.NewFile(name, text))
	case "ast":
		return parser.DumpTree(w, source.NewFile(name, text))
	case "model", "tape", "vjp", "jvp", "program":
	default:
		return fmt.Errorf("there is no stage %q; there are %s", stage, strings.Join(stagesOfEmit, ", "))
	}
	m, err := parse(name, text, opts)
	if err != nil {
		return err
	}
	if stage == "model" {
		return typecheck.Dump(w, m.checked)
	}
	return m.system.Emit(w, stage)
}
