package repl

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/parser"
)

var (
	sessions    = flag.Int("sessions", 40, "random sessions that TestRandomSessions draws")
	sessionSeed = flag.Uint64("session-seed", 1, "seed of random sessions")
)

// TestFault: a panic ends neither the session nor what was made in it, and the message says what to report.
func TestFault(t *testing.T) {
	s := New(Config{Words: []string{"x"}})
	for _, entry := range []string{"time t from 0 to 1", "param k = 1", "state x = 1", "x' = -k*x", "k = 2"} {
		if err := s.Exec(t.Context(), io.Discard, entry); err != nil {
			t.Fatal(err)
		}
	}
	s.cfg.Doc = func(io.Writer, string) bool { s.now = state{}; panic("a mistake of ours") }
	text := s.now.text
	var out strings.Builder
	lines := Piped(strings.NewReader("help sin\nfinal(x)\nundo\n"))
	failed, err := Loop(t.Context(), s, lines, &out)
	if err != nil || failed != 1 {
		t.Error(failed, err)
	}
	for _, want := range []string{
		"internal error: a mistake of ours", "please report it", "help sin", "repl/fault_test.go:", "0.1353",
		"undone: k = 2",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if s.now.text != text {
		t.Errorf("the text is %q", s.now.text)
	}
}

// TestOutputsWithoutNames: `output x` declares no name, and x can be asked for.
func TestOutputsWithoutNames(t *testing.T) {
	s := New(Config{})
	if err := s.OpenText("m.ode", "time t from 0 to 1\nstate x = 1\nx' = -x\noutput x\nlet b = 2*x\n"); err != nil {
		t.Fatal(err)
	}
	for _, entry := range []string{"x", "x(0.5)", "max(b)", "b(1)"} {
		if err := s.Exec(t.Context(), io.Discard, entry); err != nil {
			t.Errorf("%s: %v", entry, err)
		}
	}
}

// TestRandomSessions declares names anew, in lists and alone, in any order and several times in one entry, and takes
// some away. Then the text must declare each name once, with the value that came last; where the session refused an
// entry, everything is as before it.
func TestRandomSessions(t *testing.T) {
	seed := seeds.Of(t, *sessionSeed)
	t.Logf("-session-seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	changed := 0
	for n := range *sessions {
		s := New(Config{})
		want := map[string]string{}
		var script []string
		for step := range 12 {
			entry, next := randomEntry(random, want, step)
			script = append(script, entry)
			err := s.Exec(t.Context(), io.Discard, entry)
			if err != nil && strings.Contains(err.Error(), "internal error") {
				t.Fatalf("session %d: %v\n%s", n, err, strings.Join(script, "\n"))
			}
			if err == nil && next != nil {
				want = next
				changed++
			}
			if got := declarations(t, s.now.text); !maps.Equal(got, want) {
				t.Fatalf("session %d: %v, want %v (%v)\n%s\n--\n%s", n, got, want, err, strings.Join(script, "\n"),
					s.now.text)
			}
		}
	}
	if changed < 5**sessions {
		t.Errorf("%d entries of %d changed anything", changed, 12**sessions)
	}
}

// randomEntry returns an entry, and what it makes of the declarations; nil if the session must refuse it.
func randomEntry(random *rand.Rand, have map[string]string, step int) (string, map[string]string) {
	next := maps.Clone(have)
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}
	if known := slices.Sorted(maps.Keys(have)); len(known) > 0 && random.IntN(6) == 0 {
		name := known[random.IntN(len(known))]
		delete(next, name)
		return "remove " + name, next
	}
	var items []string
	seen := map[string]bool{}
	twice := false
	for range 1 + random.IntN(3) {
		kind := []string{"param", "discrete", "const"}[random.IntN(3)]
		var parts []string
		for k := range 1 + random.IntN(4) {
			name := names[random.IntN(len(names))]
			twice = twice || seen[name]
			seen[name] = true
			value := fmt.Sprintf("%d%d%d", step+1, len(items), k)
			next[name] = kind + " " + value
			parts = append(parts, name+[]string{" = ", "=", "  =\t"}[random.IntN(3)]+value)
		}
		items = append(items, kind+" "+strings.Join(parts, []string{", ", ",", " ,  ", ",\n  "}[random.IntN(4)]))
	}
	entry := strings.Join(items, []string{"\n", "; ", "\n# a comment\n"}[random.IntN(3)])
	if twice {
		next = nil
	}
	return entry, next
}

// declarations returns what a text declares, which must be each name once.
func declarations(t *testing.T, text string) map[string]string {
	t.Helper()
	got := map[string]string{}
	items, err := parser.Outline("session", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, it := range items {
		for _, p := range it.Parts {
			if got[p.Name] != "" {
				t.Fatalf("%s is declared twice\n%s", p.Name, text)
			}
			got[p.Name] = it.Kind + " " + strings.TrimSpace(text[p.ValueStart:p.ValueEnd])
		}
	}
	return got
}

// FuzzSession: a session answers any lines, and never by an internal error.
func FuzzSession(f *testing.F) {
	const model = "time t from 0 to 1\nparam k = 1, m = 2\nstate x = 1, v = 0\nx' = -k*x\nv' = x - m*v\noutput x\n" +
		"let y = 2*x\nevent e when x < 0.5 { v = 1 }\nobjective J = final(x) + integral(v)\n"
	for _, lines := range []string{
		"x\ny\nmax(x)\nJ", "param k = 3, m = 4\nundo\nredo\nsens", "state x = 1, v = 2\nstate x = 2, v = 3\nshow",
		"param m = 1; param m = 2\nsolver { rtol = 1e-4  rtol = 1e-5 }", "remove k\nremove x\nshow\nx",
		"k = 2\nx(0.5)\nv at e\ngrad J", "sweep k from 1 to 2 in 3", "help k\nlist\nset\nevents\ntable x",
		"experiment low { k = 0.5 }\nx in low\nJ in model", "plot x against v\nplot d(x)/d(k)",
	} {
		f.Add(lines)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		s := New(Config{})
		if err := s.OpenText("m.ode", model); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var done []string
		for _, entry := range strings.Split(lines, "\n") {
			if strings.ContainsAny(entry, "./\\") && !strings.Contains(entry, "0.") || strings.Contains(entry, "-o") ||
				strings.Contains(entry, "save") || strings.Contains(entry, "edit") {
				continue // nothing is to be written
			}
			done = append(done, entry)
			Incomplete(entry)
			err := s.Exec(ctx, io.Discard, entry)
			if err == nil {
				err = guard(s, entry, func() error { s.Complete(entry); return nil })
			}
			if err != nil && strings.Contains(err.Error(), "internal error") {
				t.Fatalf("%v\n%s", err, strings.Join(done, "\n"))
			}
		}
	})
}
