package parser

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// checkFormat verifies what the formatter promises about a text that parses:
// Format has nothing to complain of, no line ends in blanks, and items written
// from the tree alone parse to the same tree.
func checkFormat(name, text string) error {
	var l diag.List
	tree := Parse(source.NewFile(name, text), &l)
	if l.HasErrors() {
		return nil
	}
	out, err := format(tree)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, ast.Format(tree))
	}
	for _, item := range tree.Items {
		line := ast.ItemString(item)
		parsed := Parse(source.NewFile(name, line), &l)
		if l.HasErrors() {
			return fmt.Errorf("the item %q does not parse: %w", line, l.Err())
		}
		if len(parsed.Items) != 1 {
			return fmt.Errorf("the item %q parses to %d items", line, len(parsed.Items))
		}
		if second := ast.ItemString(parsed.Items[0]); second != line {
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

// TestUnfaithful shows Format's check what a broken printer could write.
func TestUnfaithful(t *testing.T) {
	const text = "## of a\nlet a = 1  # one\n\n# above b\nlet b = 2\n"
	for out, want := range map[string]string{
		text:                               "",
		strings.Replace(text, "1", "3", 1): "(let a 1 (doc \"of a\")) becomes (let a 3 (doc \"of a\"))",
		strings.Replace(text, "let b = 2", "", 1):            "(let b 2) becomes nothing",
		strings.Replace(text, "## of a\n", "", 1):            "(let a 1 (doc \"of a\")) becomes (let a 1)",
		strings.Replace(text, "## of a\n", "## of a\n\n", 1): "(let a 1 (doc \"of a\")) becomes (let a 1)",
		strings.Replace(text, "# above b\n", "", 1):          "comments change",
		strings.Replace(text, "# one", "# two", 1):           "comments change",
		strings.Replace(text, " = 1", "=1", 1): "a second time " +
			`"let a=1  # one" becomes "let a = 1  # one"`,
		strings.Replace(text, "= 2", "=", 1): "the new text has an error",
	} {
		var l diag.List
		err := faithful(Parse(source.NewFile("f", text), &l), out)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", out, err, want)
		}
	}
}

// strict makes FuzzFormat search for texts that Format refuses.
var strict = flag.Bool("strict", false, "hold the formatter to more than odes fmt promises, in random texts")

// TestSmallWorld formats all arrangements of a few items, semicolons, line ends and comments. In a text of the table,
// <;2> stands for every sequence of up to two of these, and <,2> for one without semicolons.
func TestSmallWorld(t *testing.T) {
	count := 0
	for _, world := range []string{
		"<;1> let a = 1 <;3> let b = 2 <;1>",
		"<;1> let a = 1 <;1> x' = 2 <;2> let c = 3 <;1>",
		"<;1> param <,1> a = 1 <,1>, <,1> b = 2 <;1> let c = 3",
		"param a = 1 <,1>, <,1> b = [1 <,1>, 2] <,1>, c = 3 <;1>",
		"<;1> event e when a > 1 <,2> { <;1> stop <;0> } <;1> let c = 3",
		"experiment e <,0> { at 3 <,1> { x = 1 <;1> y = 2 <;1> } <;1> } <;1>",
		"let a = 1 + <,1> f(2 <,1>) <;1> sens <,1> { <;1> of = a <;0> } <;1>",
	} {
		before := count
		arrange(world, func(text string) {
			count++
			if t.Failed() {
				return
			}
			if err := checkFormat("f", text); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		})
		t.Logf("%d texts of %s", count-before, world)
	}
	if count < 10_000 {
		t.Errorf("only %d texts", count)
	}
}

// arrange calls use with all texts that a world of TestSmallWorld stands for. No two comments are the same.
func arrange(world string, use func(text string)) {
	pieces := strings.FieldsFunc(world, func(r rune) bool { return r == '<' || r == '>' })
	var fill func(text string, i, comments int)
	var gap func(text string, i, comments int, signs string, left int)
	fill = func(text string, i, comments int) {
		if i == len(pieces) {
			use(text)
			return
		}
		if p := pieces[i]; len(p) == 2 && (p[0] == ';' || p[0] == ',') && '0' <= p[1] && p[1] <= '9' {
			gap(text, i, comments, p[:1], int(p[1]-'0'))
			return
		}
		fill(text+pieces[i], i+1, comments)
	}
	gap = func(text string, i, comments int, signs string, left int) {
		fill(text, i+1, comments)
		if left == 0 {
			return
		}
		if signs == ";" {
			gap(text+";", i, comments, signs, left-1)
		}
		gap(text+"\n", i, comments, signs, left-1)
		gap(text+" # "+strconv.Itoa(comments)+"\n", i, comments+1, signs, left-1)
		gap(text+" ## "+strconv.Itoa(comments)+"\n", i, comments+1, signs, left-1)
	}
	fill("", 0, 0)
}
