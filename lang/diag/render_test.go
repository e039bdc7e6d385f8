package diag

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"odes.dev/odes/lang/source"
)

// span finds mark in the text of f.
func span(t *testing.T, f *source.File, mark string) source.Span {
	t.Helper()
	i := strings.Index(f.Text(), mark)
	if i < 0 {
		t.Fatalf("%q is not in the text", mark)
	}
	return source.Span{File: f, Start: i, End: i + len(mark)}
}

func TestPlain(t *testing.T) {
	long := "let long = " + strings.Repeat("a + ", 60) + "bad" + strings.Repeat(" + a", 60)
	f := source.NewFile("m.ode", "state x = 1\n\tlet y = x**2\nlet 变量 = été + é́ + q\n"+long+"\nlet esc = \x1b[31m\n")
	for _, c := range []struct {
		name, mark, want string
	}{
		{"word", "state", `
m.ode:1:1: error: wrong [code]
  1 | state x = 1
    | ^^^^^
`},
		{"tab", "**", `
m.ode:2:11: error: wrong [code]
  2 |     let y = x**2
    |              ^^
`},
		{"wide and combining", "q", `
m.ode:3:21: error: wrong [code]
  3 | let 变量 = été + é́ + q
    |                      ^
`},
		{"wide place", "变量", `
m.ode:3:5: error: wrong [code]
  3 | let 变量 = été + é́ + q
    |     ^^^^
`},
		{"window", "bad", `
m.ode:4:252: error: wrong [code]
  4 | … + a + a + a + a + a + a + a + a + a + bad + a + a + a + a + a + a + a + a + a + a + a + a + a + a…
    |                                         ^^^
`},
		{"escape sequence", "\x1b", `
m.ode:5:11: error: wrong [code]
  5 | let esc = ` + "\ufffd" + `[31m
    |           ^
`},
	} {
		d := Diagnostic{Code: "code", Span: span(t, f, c.mark), Message: "wrong"}
		if got := "\n" + d.String(); got != c.want {
			t.Errorf("%s:%s\nwant:%s", c.name, got, c.want)
		}
	}
}

func TestParts(t *testing.T) {
	f := source.NewFile("m.ode", "let a = x**2\nlet b = 1")
	var l List
	l.Errorf("power", span(t, f, "**"), "the power operator is ^").
		Relate(span(t, f, "b"), "see %s", "here").
		Fix(span(t, f, "**"), "^", "write ^")
	l.Notef("far", source.Span{}, "nowhere")
	l.Warnf("end", source.Span{File: f, Start: len(f.Text()), End: len(f.Text())}, "at the end")
	var b strings.Builder
	if err := Write(&b, l.All(), Plain); err != nil {
		t.Fatal(err)
	}
	const want = `m.ode:1:10: error: the power operator is ^ [power]
  1 | let a = x**2
    |          ^^
m.ode:2:5: note: see here
  2 | let b = 1
    |     ^
fix: write ^
  1 | let a = x^2
    |          +
m.ode:2:10: warning: at the end [end]
  2 | let b = 1
    |          ^
note: nowhere [far]
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	var colour strings.Builder
	if err := Write(&colour, l.All(), Colour); err != nil {
		t.Fatal(err)
	}
	if plain := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(colour.String(), ""); plain != want || plain == colour.String() {
		t.Errorf("colour without its colours is\n%s", plain)
	}
}

func TestJSON(t *testing.T) {
	f := source.NewFile("m.ode", "let é = x**2 <b>\n")
	var l List
	l.Errorf("power", span(t, f, "**"), "<write> ^").Relate(span(t, f, "é"), "here").Fix(span(t, f, "**"), "^", "write ^")
	l.Notef("far", source.Span{}, "nowhere")
	var b strings.Builder
	if err := Write(&b, l.All(), JSON); err != nil {
		t.Fatal(err)
	}
	const want = `{"code":"power","level":"error","file":"m.ode","line":1,"column":10,"endLine":1,"endColumn":12,"message":"<write> ^",` +
		`"related":[{"file":"m.ode","line":1,"column":5,"endLine":1,"endColumn":6,"message":"here"}],` +
		`"fixes":[{"file":"m.ode","line":1,"column":10,"endLine":1,"endColumn":12,"message":"write ^","text":"^"}]}
{"code":"far","level":"note","message":"nowhere","related":[],"fixes":[]}
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	for line := range strings.Lines(b.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

func TestHugeLine(t *testing.T) {
	f := source.NewFile("m.ode", strings.Repeat("é", 1<<20)+"!"+strings.Repeat("中", 1<<20))
	d := Diagnostic{Span: span(t, f, "!"), Message: "wrong"}
	for line := range strings.Lines(d.String()) {
		if n := show(strings.TrimRight(line, "\n"), 0).width; n > maxColumns+20 {
			t.Errorf("a line of %d columns", n)
		}
	}
	whole := Diagnostic{Span: source.Span{File: f, End: len(f.Text())}, Message: "wrong"}
	if n := len(whole.String()); n > 1000 {
		t.Errorf("%d bytes about a huge place", n)
	}
}

func TestList(t *testing.T) {
	f := source.NewFile("m.ode", "one two three")
	var l List
	if l.Err() != nil || l.HasErrors() {
		t.Error("an empty list has errors")
	}
	l.Warnf("w", span(t, f, "one"), "warning")
	if l.Err() != nil {
		t.Error("a warning is no error")
	}
	l.Errorf("b", span(t, f, "three"), "second")
	l.Errorf("a", span(t, f, "two"), "first")
	err := l.Err()
	if err == nil || err.Error() != "m.ode:1:5: first (and 1 more)" {
		t.Errorf("Err = %v", err)
	}
	if got := Of(err); len(got) != 3 || got[0].Code != "w" || got[1].Code != "a" {
		t.Errorf("Of = %v", got)
	}
	if Of(nil) != nil {
		t.Error("no error carries no diagnostics")
	}
}
