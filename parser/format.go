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

// Format returns the text of a model in its normal layout, and answers for it: what [ast.Format] wrote is read again.
// It must have the same tree, the same comments at the same things, and be its own normal layout. Otherwise there is
// a mistake in odes, and an error instead of a text. A text with errors is not formatted; the error carries them.
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

// faithful tells what is wrong with out as the layout of a file.
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
	if again := ast.Format(after); again != out {
		was, is := difference(out, again)
		return fmt.Errorf("a second time %q becomes %q", was, is)
	}
	return nil
}

// difference returns the first lines of a and b that are not the same, "nothing" where one has no more.
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
