package stdlib

import (
	"fmt"
	"regexp"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// A derivative is written in one place: with the op that computes a function (tape.Row.Deriv, in
// the syntax of odes). From this text tapec makes transposes and tangents, and help shows it in the
// function's own names. Functions with a body are differentiated by the chain rule. Where a short
// form says more to the reader, their rows have it.

// Derivatives returns the partial derivatives of an elementwise f by its parameters, as text in the
// syntax of odes. It returns nil where no short form exists.
func (f *Func) Derivatives() []string {
	switch {
	case f.Class != Elementwise:
		return nil
	case f.Body != "":
		return f.Deriv
	}
	list := make([]string, len(f.Args))
	for k := range f.Args {
		list[k] = f.partial(f.Op.Row().Deriv[k])
	}
	return list
}

var opNames = regexp.MustCompile(`\b[abcy]\b`)

// partial rewrites a derivative of the op table, in which a, b, c are the operands and y is the
// result, in f's own names.
func (f *Func) partial(text string) string {
	if text == "" {
		return "0"
	}
	text = opNames.ReplaceAllStringFunc(text, func(name string) string {
		if name == "y" {
			return f.applied()
		}
		return f.Args[name[0]-'a']
	})
	var l diag.List
	e := parser.ParseExpr(source.NewFile("derivative of "+f.Name, text), &l)
	if l.HasErrors() {
		panic(fmt.Sprintf("stdlib: a derivative of %s does not parse: %v", f.Name, l.Err()))
	}
	return ast.ExprString(e)
}

// applied returns a call of f with its parameters, as it is written.
func (f *Func) applied() string {
	switch {
	case f.Name == "neg":
		return "(-" + f.Args[0] + ")"
	case parser.Reserved(f.Name) || !regexp.MustCompile(`^\pL`).MatchString(f.Name):
		return "(" + strings.Join(f.Args, f.Name) + ")"
	}
	return f.Name + "(" + strings.Join(f.Args, ", ") + ")"
}
