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

// A derivative stands once: with the op that computes a function (tape.Row.Deriv,
// in odes syntax), from which tapec compiles transposes and tangents. What
// is written for the reader is that text in the function's own names. Functions
// with a body are differentiated by the chain rule; where a short form says more,
// their rows have it.

// Derivatives returns the partial derivatives of an elementwise f by its
// parameters, in odes syntax; nil where there is nothing short to say.
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

// partial writes a derivative of the op table, in which a, b, c are the operands
// and y is the result, in f's own names.
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

// applied is f of its parameters, as it is written.
func (f *Func) applied() string {
	switch {
	case f.Name == "neg":
		return "(-" + f.Args[0] + ")"
	case parser.Reserved(f.Name) || !regexp.MustCompile(`^\pL`).MatchString(f.Name):
		return "(" + strings.Join(f.Args, f.Name) + ")"
	}
	return f.Name + "(" + strings.Join(f.Args, ", ") + ")"
}
