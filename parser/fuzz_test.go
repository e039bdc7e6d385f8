package parser

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// seed adds the inputs of all golden cases and models.
func seed(f *testing.F) {
	for _, file := range cases(f) {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(archive.Files[0].Data))
	}
	for _, file := range models(f) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(text) < 4000 {
			f.Add(string(text))
		}
	}
}

// FuzzLex checks that tokens and comments stand in order, do not overlap and
// leave out blanks only, unless something was reported.
func FuzzLex(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		var l diag.List
		tokens, comments := scan(source.NewFile("f", text), &l)
		if last := tokens[len(tokens)-1]; last.Kind != ast.EOF || last.Start != len(text) {
			t.Fatalf("the last token is %v at %d", last.Kind, last.Start)
		}
		at := 0
		for _, tok := range tokens {
			for len(comments) > 0 && comments[0].Span.Start < tok.Start {
				at = step(t, &l, text, at, comments[0].Span.Start, comments[0].Span.End)
				comments = comments[1:]
			}
			at = step(t, &l, text, at, tok.Start, tok.End)
		}
	})
}

func step(t *testing.T, l *diag.List, text string, at, start, end int) int {
	if start < at || end < start {
		t.Fatalf("[%d, %d) does not follow %d", start, end, at)
	}
	if between := strings.TrimPrefix(text[at:start], "\ufeff"); strings.Trim(between, " \t\r\n") != "" &&
		!l.HasErrors() {
		t.Fatalf("%q was left out", between)
	}
	return end
}

// FuzzParse checks that any text gives a tree whose places are right, that bad
// items have errors, and that errors can be rendered.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		var l diag.List
		tree := Parse(source.NewFile("f", text), &l)
		checkSpans(t, tree, &l)
		for _, item := range tree.Items {
			if _, bad := item.(*ast.Bad); bad && !l.HasErrors() {
				t.Fatalf("the item %q is bad and nobody said why", item.Pos().Text())
			}
		}
		for _, form := range []diag.Format{diag.Plain, diag.Colour, diag.JSON} {
			var b bytes.Buffer
			if err := diag.Write(&b, l.All(), form); err != nil {
				t.Fatal(err)
			}
			if form != diag.Colour && strings.ContainsFunc(b.String(), func(r rune) bool {
				return r < ' ' && r != '\n'
			}) {
				t.Fatalf("control characters in %q", b.String())
			}
		}
		ast.Dump(tree)
		var one diag.List
		if ParseExpr(source.NewFile("f", text), &one) == nil {
			t.Fatal("no expression")
		}
	})
}

// FuzzFormat checks that formatting ends, in a text that [Format] answers for or in its refusal. Texts that it must
// not refuse are the seeds, where they are run as tests, and with -strict those of the search as well.
func FuzzFormat(f *testing.F) {
	seed(f)
	searching := flag.Lookup("test.fuzz").Value.String() != ""
	f.Fuzz(func(t *testing.T, text string) {
		if *strict || !searching {
			if err := checkFormat("f", text); err != nil {
				t.Fatal(err)
			}
			return
		}
		var l diag.List
		if tree := Parse(source.NewFile("f", text), &l); !l.HasErrors() {
			_, _ = format(tree)
		}
	})
}
