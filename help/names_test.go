package help

import (
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/internal/base/screen"
)

// explained is the help on a name, on a screen of some columns.
func explained(name string, width int, formats ...Entry) (string, bool) {
	var b strings.Builder
	ok := Explain(&b, name, width, formats...)
	return b.String(), ok
}

// TestEveryName: there is help on every name, it fits narrow screens with no word lost, and it begins with a name.
func TestEveryName(t *testing.T) {
	names := Names()
	if len(names) < 300 {
		t.Fatalf("%d names", len(names))
	}
	for _, name := range names {
		whole, ok := explained(name, 0)
		if !ok || len(strings.Fields(whole)) < 4 {
			t.Errorf("%s: %v %q", name, ok, whole)
			continue
		}
		for _, width := range []int{80, 40} {
			text, _ := explained(name, width)
			if !slices.Equal(strings.Fields(text), strings.Fields(whole)) {
				t.Errorf("%s: other words on %d columns", name, width)
			}
			for line := range strings.Lines(text) {
				line = strings.TrimRight(line, "\n")
				if screen.Width(line) > width && strings.Contains(strings.TrimSpace(line), " ") &&
					len(strings.Fields(line)[0]) < width/2 {
					t.Errorf("%s: %d columns on %d: %q", name, screen.Width(line), width, line)
				}
			}
		}
	}
}

// TestTopics: the topics know different names, what a name is on its own is on one of them, and nothing is known of a
// name that is none.
func TestTopics(t *testing.T) {
	for name, topic := range map[string]Topic{
		"param": Word, "solver.rtol": Setting, "sqrt": Function, "hill": ModuleName, "std/kinetics": Module,
		"nan": Constant, "km": Unit, "dopri5": Method, "pi42": Controller, "undefined": Code, "grammar": Grammar,
	} {
		if strings.HasPrefix(name, "std/") || topic == Controller || topic == Code {
			continue // their names are those of tables, below
		}
		text, ok := On(topic, name)
		if !ok || !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") {
			t.Errorf("%s: %v %q", name, ok, text)
		}
		for other := range topics {
			if _, ok := On(Topic(other), name); ok && Topic(other) != topic {
				t.Errorf("%s is on topic %d, too", name, other)
			}
		}
	}
	for _, code := range Codes() {
		if text, ok := On(Code, code); !ok || text == "" {
			t.Errorf("nothing on the code %s", code)
		}
	}
	for topic := range topics {
		if text, ok := On(Topic(topic), "no_such_name"); ok || text != "" {
			t.Errorf("topic %d knows a name that is none: %q", topic, text)
		}
	}
	if text, ok := explained("no_such_name", 80); ok || text != "" {
		t.Errorf("%q", text)
	}
}

// TestOverview: without a name, all names are listed but codes and units with prefixes; formats of files, where they
// are given, too.
func TestOverview(t *testing.T) {
	formats := []Entry{{Name: "strange", Form: "strange", Text: "a strange format"}}
	text, ok := explained("", 80, formats...)
	if !ok {
		t.Fatal("nothing")
	}
	for _, word := range []string{"param", "sqrt", "dopri5", "hill", "pi", "strange", "integral"} {
		if !slices.Contains(strings.Fields(text), word) {
			t.Errorf("%s is not listed", word)
		}
	}
	if text, ok := explained("strange", 80, formats...); !ok || !strings.Contains(text, "a strange format") {
		t.Errorf("%q", text)
	}
	if _, ok := explained("strange", 80); ok {
		t.Error("a format that nobody gave")
	}
}
