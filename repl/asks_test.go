package repl

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

const decayText = `time t : [h] from 0 to 5
param k = 0.2 [1/h] in [0.05, 5]
param a = 100 [mg]
state A = a
A' = -k*A
state B[2] = [1, 2]
B[i]' = -B[i]*1 [1/h] for i in 1:2
objective J = final(A)
solver { rtol = 1e-10  atol = 1e-12 [1] }
`

func decaySession(t *testing.T, c Config) *Session {
	s := New(c)
	if err := s.OpenText("decay.ode", strings.Replace(decayText, "  atol = 1e-12 [1]", "", 1)); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDerivativesInExpressions compares with the closed form: J = a exp(-5 k).
func TestDerivativesInExpressions(t *testing.T) {
	s := decaySession(t, Config{})
	j := 100 * math.Exp(-1)
	for entry, want := range map[string]float64{
		"d(J)/d(k)":                -5 * j,
		"d(J) / d(a)":              j / 100,
		"d(J)/d(k)*k/J":            -1,
		"2*d(J)/d(a) + 1":          2*j/100 + 1,
		"d(final(A)^2)/d(k)":       -10 * j * j,
		"d(J)/d(initial(A))*1":     j / 100,
		"d(A(2.5))/d(k)":           -250 * math.Exp(-0.5),
		"A'(0)":                    -20,
		"A'(2.5 [h]) + 1 [mg/h]":   -20*math.Exp(-0.5) + 1,
		"final(A')/final(A)":       -0.2,
		"d(A'(0))/d(k)":            -100,
		"-(A'(0) - A'(2.5 [h]))/2": 10 * (1 - math.Exp(-0.5)),
	} {
		var b bytes.Buffer
		if err := s.Exec(t.Context(), &b, entry); err != nil {
			t.Errorf("%s: %v", entry, err)
			continue
		}
		var got float64
		if _, err := fmt.Sscan(b.String(), &got); err != nil || math.Abs(got-want) > 1e-7*math.Abs(want) {
			t.Errorf("%s is %q, want %.10g", entry, b.String(), want)
		}
	}
	for entry, want := range map[string]string{
		"A'":                   "A'  ▁",
		"d(J)/d(k)":            "[mg*h]",
		"d(J)/d(B[1])":         "B[1]",
		"d(A)/d(k)":            "plot d(A)/d(k)",
		"B'":                   "B' is made of several items",
		"k'":                   "k has no equation of its own",
		"d(J)":                 "derivative by",
		"d(J)/d(initial(B))":   "[2] ",
		"2*d(J)/d(initial(B))": "has 2 elements",
	} {
		var b bytes.Buffer
		text := ""
		if err := s.Exec(t.Context(), &b, entry); err != nil {
			text = err.Error()
		}
		if text += b.String(); !strings.Contains(text, want) {
			t.Errorf("%s: %q does not say %q", entry, text, want)
		}
	}
	// An equation is one as before.
	if err := s.Exec(t.Context(), io.Discard, "A' = -2*k*A"); err != nil {
		t.Error(err)
	}
	var b bytes.Buffer
	if err := s.Exec(t.Context(), &b, "d(J)/d(a)"); err != nil || !strings.HasPrefix(b.String(), "0.1353352") {
		t.Errorf("after a change d(J)/d(a) is %q, %v", b.String(), err)
	}
}

// script is a keyboard that presses keys.
type script struct {
	keys         string
	open, closed int
	io.Reader
	io.Writer
}

func (k *script) Open() (io.ReadWriter, func(), error) {
	k.open++
	k.Reader = strings.NewReader(k.keys)
	return k, func() { k.closed++ }, nil
}

// TestTune presses keys, and looks at what is set then.
func TestTune(t *testing.T) {
	for _, c := range []struct {
		entry, keys string
		k, shown    string
	}{
		{"tune k", "\r", "0.2", "k stays 0.2 [1/h]"},
		{"tune k", "\x1b[C\x1b[C\x1b[D\r", "0.2094", "k = 0.2094"},
		{"tune k from 0 to 1 of A", "\x1b[A\x1b[A\x1bOD\r", "0.39", "k = 0.39"},
		{"tune k from 0 to 1", strings.Repeat("\x1b[A", 20) + "\r", "1", "J 0.673"},
		{"tune k from 0 to 1", "\x1b[Cq", "0.2", "k stays 0.2 [1/h]"},
		{"tune k from 0 to 1", "\x1b[C\x03", "0.2", "k stays"},
		{"tune k from 0 to 1", "\x1b[C", "0.2", "k stays"}, // the keyboard ends
		{"tune k from 0 to 1", "\x1b[C\x1b[Hx?\r", "0.2", "k stays"},
	} {
		var b bytes.Buffer
		keys := &script{keys: c.keys, Writer: &b}
		s := decaySession(t, Config{Keys: keys})
		if err := s.Exec(t.Context(), &b, c.entry); err != nil {
			t.Errorf("%s: %v", c.entry, err)
			continue
		}
		if keys.open != 1 || keys.closed != 1 {
			t.Errorf("%s: the keyboard was opened %d and closed %d times", c.entry, keys.open, keys.closed)
		}
		if !strings.Contains(b.String(), c.shown) {
			t.Errorf("%s with %q does not show %q:\n%s", c.entry, c.keys, c.shown, b.String())
		}
		b.Reset()
		if err := s.Exec(t.Context(), &b, "k"); err != nil || strings.Fields(b.String())[0] != c.k {
			t.Errorf("%s with %q: k is %q, want %s", c.entry, c.keys, b.String(), c.k)
		}
		if len(s.past) > 0 != (c.k != "0.2") {
			t.Errorf("%s with %q: %d steps to undo", c.entry, c.keys, len(s.past))
		}
	}
	s := decaySession(t, Config{})
	for entry, want := range map[string]string{
		"tune k": "needs a keyboard", "tune": "tune what?", "tune B": "initial(B)", "tune k from 2 to 1": "is empty",
		"tune zz": "zz",
	} {
		if err := s.Exec(t.Context(), io.Discard, entry); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", entry, err, want)
		}
	}
}

// TestPaint: without its colours a line is what was typed, and the parts have the colours of their kinds.
func TestPaint(t *testing.T) {
	s := decaySession(t, Config{Words: []string{"exp", "final"}})
	p := painter{s}
	for line, want := range map[string]string{
		"plot A":               paintCommand + "plot" + paintEnd + " A",
		"param q = 2 [mg/h]":   paintWord + "param" + paintEnd + " q = " + paintNumber + "2" + paintEnd,
		"exp(-k) # why":        "exp(-k) ",
		"2*foo(k)":             paintUnknown + "foo" + paintEnd,
		`data d = csv("a#b")`:  paintString + `"a#b"` + paintEnd,
		"x = 3 # the [mg] \"a": paintComment + "# the [mg] \"a" + paintEnd,
		"2 [mg":                paintUnit + "mg" + paintEnd,
	} {
		got := string(p.Paint([]rune(line), 0))
		if !strings.Contains(got, want) {
			t.Errorf("%q is painted %q", line, got)
		}
		bare := got
		for _, code := range []string{
			paintWord, paintCommand, paintNumber, paintString, paintUnit, paintComment, paintUnknown, paintEnd,
		} {
			bare = strings.ReplaceAll(bare, code, "")
		}
		if bare != line {
			t.Errorf("painting %q changed it: %q", line, bare)
		}
	}
	for _, line := range []string{"", "[", "\"", "{ ' \x00", "é[ü", "1e", "`a b"} { // half typed, or nonsense
		_ = p.Paint([]rune(line), 0)
	}
}

// TestUsefulFirst: Tab at the beginning begins with commands as help lists them, and inside of expressions with names
// of the model.
func TestUsefulFirst(t *testing.T) {
	s := decaySession(t, Config{Words: []string{"exp", "abs"}})
	words, _ := s.Complete("")
	if len(words) < 20 || slices.Contains(words, "abs") || !slices.Equal(words[:3], []string{"run", "sens", "plot"}) {
		t.Errorf("at the beginning: %q", words)
	}
	words, _ = s.Complete("2*")
	if len(words) < 10 || !slices.Equal(words[:5], []string{"A", "B", "J", "a", "k"}) {
		t.Errorf("in an expression: %q", words)
	}
}
