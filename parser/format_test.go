package parser

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// checkFormat verifies what the formatter promises about a text that parses:
// the tree, the comments and the docs stay, a second run changes nothing, and
// items written from the tree alone parse to the same tree.
func checkFormat(name, text string) error {
	var l diag.List
	before := Parse(source.NewFile(name, text), &l)
	if l.HasErrors() {
		return nil
	}
	out := ast.Format(before)
	after := Parse(source.NewFile(name, out), &l)
	if l.HasErrors() {
		return fmt.Errorf("the formatted text does not parse: %w\n%s", l.Err(), out)
	}
	a, b := ast.Dump(before), ast.Dump(after)
	if a != b {
		return fmt.Errorf("the tree has changed:\n%s\nwas:\n%s\ntext:\n%s", b, a, out)
	}
	comments := func(f *ast.File) (list []string) {
		for _, c := range f.Comments {
			list = append(list, c.Text)
		}
		return list
	}
	if a, b := comments(before), comments(after); !slices.Equal(a, b) {
		return fmt.Errorf("comments have changed: %q, were %q", b, a)
	}
	if again := ast.Format(after); again != out {
		return fmt.Errorf("a second run changes\n%s\nto\n%s", out, again)
	}
	for _, item := range before.Items {
		line := ast.ItemString(item)
		again := Parse(source.NewFile(name, line), &l)
		if l.HasErrors() {
			return fmt.Errorf("the item %q does not parse: %w", line, l.Err())
		}
		if len(again.Items) != 1 {
			return fmt.Errorf("the item %q parses to %d items", line, len(again.Items))
		}
		if second := ast.ItemString(again.Items[0]); second != line {
			return fmt.Errorf("the item %q parses to %q", line, second)
		}
	}
	for i, n := range strings.Split(out, "\n") {
		if strings.TrimRight(n, " \t") != n {
			return fmt.Errorf("line %d ends in blanks: %q", i+1, n)
		}
	}
	return nil
}
