package odes

import (
	"fmt"
	"io"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
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
	case "tokens", "ast":
		return emitSyntax(w, stage, source.NewFile(name, text))
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

// Grammar returns the grammar of the language in EBNF.
func Grammar() string { return parser.Grammar() }

// Words returns the words of the language, by where they stand.
func Words() parser.Words { return parser.AllWords() }

// Format returns the text of a model in its standard form. A text with errors
// is not formatted; the error carries them.
func Format(name, text string) (string, error) {
	var list diag.List
	tree := parser.Parse(source.NewFile(name, text), &list)
	if err := list.Err(); err != nil {
		return "", err
	}
	return parser.Format(tree)
}

func emitSyntax(w io.Writer, stage string, f *source.File) error {
	var list diag.List
	if stage == "tokens" {
		for _, t := range parser.Tokens(f, &list) {
			at := f.Position(t.Start)
			if _, err := fmt.Fprintf(w, "%d:%d\t%s\t%s\n", at.Line, at.Column, t.Kind, t.Text); err != nil {
				return err
			}
		}
		return list.Err()
	}
	tree := parser.Parse(f, &list)
	if err := list.Err(); err != nil {
		return err
	}
	_, err := io.WriteString(w, ast.Dump(tree))
	return err
}
