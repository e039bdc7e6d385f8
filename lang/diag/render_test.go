package diag

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

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
	f := source.NewFile("m.ode", "state x = 1\n\tlet y = x**2\nlet 变量 = été + é́ + q\n"+long+"\nlet esc = \x1b[31m\n"+
		"let a = 1 # 🚀✅⭐⚡ ❤\ufe0f é, bad2\n")
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
		{"emoji and accents before", "bad2", `
m.ode:6:24: error: wrong [code]
  6 | let a = 1 # 🚀✅⭐⚡ ❤️ é, bad2
    |                            ^^^^
`},
		{"emoji as the place", "🚀✅⭐⚡ ❤\ufe0f", `
m.ode:6:13: error: wrong [code]
  6 | let a = 1 # 🚀✅⭐⚡ ❤️ é, bad2
    |             ^^^^^^^^^^^
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
	if plain := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(colour.String(), ""); plain != want ||
		plain == colour.String() {
		t.Errorf("colour without its colours is\n%s", plain)
	}
}

func TestJSON(t *testing.T) {
	f := source.NewFile("m.ode", "let é = x**2 <b>\n")
	var l List
	l.Errorf("power", span(t, f, "**"), "<write> ^").Relate(span(t, f, "é"), "here").
		Fix(span(t, f, "**"), "^", "write ^")
	l.Notef("far", source.Span{}, "nowhere")
	var b strings.Builder
	if err := Write(&b, l.All(), JSON); err != nil {
		t.Fatal(err)
	}
	const want = `{"code":"power","level":"error","file":"m.ode","line":1,"column":10,"endLine":1,"endColumn":12,` +
		`"message":"<write> ^",` +
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

// TestWidth checks that on a screen of known width messages are broken between words, and no line
// is wider than the screen.
func TestWidth(t *testing.T) {
	f := source.NewFile("model.ode", "let a = first + second + third + fourth + fifth**2 + sixth + seventh\nlet b = 1")
	var l List
	l.Errorf("power", span(t, f, "**"), "the power operator is ^ and not **, which other languages have").
		Relate(span(t, f, "b"), "b is declared here, behind a very long word: %s, and so on", strings.Repeat("x", 30)).
		Fix(span(t, f, "**"), "^", "write ^ instead of two asterisks, please")
	var whole strings.Builder
	if err := Write(&whole, l.All(), Plain); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{20, 28, 40, 60, 200} {
		for _, format := range []Format{Plain, Colour} {
			var b strings.Builder
			if err := WriteWidth(&b, l.All(), format, width); err != nil {
				t.Fatal(err)
			}
			plain := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(b.String(), "")
			for _, line := range strings.Split(plain, "\n") {
				if n := show(line, 0).width; n > width && !strings.Contains(line, strings.Repeat("x", 30)) {
					t.Errorf("width %d: %d columns: %s", width, n, line)
				}
			}
			if width == 200 && plain != whole.String() {
				t.Errorf("broken on a wide screen:\n%s", plain)
			}
			if width == 28 && format == Plain && !strings.HasPrefix(plain,
				"model.ode:1:48: error: the\n    power operator is ^ and\n    not **, which other\n"+
					"    languages have [power]\n  1 | …+ fifth**2 + sixth +…\n    |         ^^\n") {
				t.Errorf("got\n%s", plain)
			}
		}
	}
}

// TestBrief checks that a message does not repeat a name of a million letters, and leaves what
// people write as it is.
func TestBrief(t *testing.T) {
	for _, n := range []int{161, 1000, 1_000_000} {
		for _, letter := range []string{"a", "é", "世", "\xff", "\x80"} {
			name := strings.Repeat(letter, n)
			got := brief(`"` + name + `" is not defined; did you mean "` + name + `"?`)
			if len(got) > 400 || !strings.Contains(got, "…") ||
				!strings.Contains(got, " is not defined; did you mean ") {
				t.Errorf("%d of %q: %q", n, letter, got)
			}
			if utf8.ValidString(letter) && !utf8.ValidString(got) {
				t.Errorf("%q is cut inside a letter", got)
			}
		}
	}
	text := strings.Repeat("the middle of what is too long to read is left out\n", 20)
	if brief(text) != text {
		t.Errorf("%q", brief(text))
	}
}

// TestTranslation: what is said of a translation has the places of what it was made from.
func TestTranslation(t *testing.T) {
	from := source.NewFile("m.xml", "<model>\n<rule of='x'/>\n</model>\n")
	origin := func(offset int) (source.Origin, bool) {
		return source.Origin{Span: span(t, from, "<rule of='x'/>"), What: "rule of x"}, offset >= len("model m\n")
	}
	f := source.Translation("m.xml", "model m\nlet x = f(2)\n", origin)
	d := Diagnostic{Code: "code", Message: "wrong", Span: span(t, f, "f(2)")}
	d.Relate(span(t, f, "x"), "declared here").Relate(span(t, f, "m"), "in this model")
	const want = `m.xml:2:1: error: rule of x: wrong [code]
  2 | <rule of='x'/>
    | ^^^^^^^^^^^^^^
m.xml (translated):2:9: note: this is what it becomes
  2 | let x = f(2)
    |         ^^^^
m.xml:2:1: note: rule of x: declared here
  2 | <rule of='x'/>
    | ^^^^^^^^^^^^^^
m.xml (translated):1:1: note: in this model
  1 | model m
    | ^
`
	if got := d.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := d.JSON(); !strings.HasPrefix(got, `{"code":"code","level":"error","file":"m.xml","line":2,"column":1,`) ||
		!strings.Contains(got, `{"file":"m.xml (translated)","line":2,"column":9,`) {
		t.Error(got)
	}
	if got := (&ListError{[]Diagnostic{d}}).Error(); got != "m.xml:2:1: rule of x: wrong" {
		t.Error(got)
	}
}
