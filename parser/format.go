package parser

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// Format returns the text of a model in its normal layout. It parses what [ast.Format] wrote and verifies that the tree
// is the same, that comments belong to the same things, and that a second run changes nothing. Otherwise there is a
// mistake in odes, and Format returns an error instead of a text. A text with errors is not formatted; the error
// carries them.
func Format(name, text string) (string, error) {
	var list diag.List
	tree := Parse(source.NewFile(name, text), &list)
	if err := list.Err(); err != nil {
		return "", err
	}
	return format(tree)
}

// format formats a file that parsed without errors.
func format(f *ast.File) (string, error) {
	out := ast.Format(f)
	if err := faithful(f, out); err != nil {
		return "", fmt.Errorf("internal error: formatting %s would not keep it as it is: %w; nothing was changed: "+
			"please report it, with the model", f.Source.Name(), err)
	}
	return out, nil
}

// faithful returns what is wrong with out as the layout of a file, or nil.
func faithful(f *ast.File, out string) error {
	var l diag.List
	after := Parse(source.NewFile(f.Source.Name(), out), &l)
	if l.HasErrors() {
		return fmt.Errorf("the new text has an error: %w", l.Err())
	}
	if a, b := ast.Dump(f), ast.Dump(after); a != b {
		was, is := difference(a, b)
		return fmt.Errorf("%s becomes %s", was, is)
	}
	if !slices.EqualFunc(f.Comments, after.Comments, func(a, b ast.Comment) bool { return a.Text == b.Text }) {
		return fmt.Errorf("comments change")
	}
	if twice := ast.Format(after); twice != out {
		was, is := difference(out, twice)
		return fmt.Errorf("a second time %q becomes %q", was, is)
	}
	return nil
}

// difference returns the first lines in which a and b differ, and "nothing" for the one that has ended.
func difference(a, b string) (inA, inB string) {
	for {
		lineA, restA, moreA := strings.Cut(a, "\n")
		lineB, restB, moreB := strings.Cut(b, "\n")
		if lineA != lineB || !moreA || !moreB {
			return cmp.Or(lineA, "nothing"), cmp.Or(lineB, "nothing")
		}
		a, b = restA, restB
	}
}
