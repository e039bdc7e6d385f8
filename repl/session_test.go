package repl

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"odes.dev/odes/internal/base/screen"
)

var update = flag.Bool("update", false, "rewrite the transcripts")

// TestTranscripts replays sessions. An archive holds the files of a folder, and a file
// "transcript". That has entries behind "> ", their further lines behind ". ", and between them the
// answers of the session.
func TestTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, path := range paths {
		full, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(full)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			at := -1
			for i, f := range archive.Files {
				if f.Name == "transcript" {
					at = i
					continue
				}
				if err := os.WriteFile(f.Name, f.Data, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if at < 0 {
				t.Fatal("there is no transcript")
			}
			got := replay(t, string(archive.Files[at].Data))
			if *update {
				archive.Files[at].Data = []byte(got)
				if err := os.WriteFile(full, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(archive.Files[at].Data); got != want {
				t.Errorf("the transcript differs:\n%s", difference(want, got))
			}
		})
	}
}

// inventories are lists of all methods or settings. They grow, and no session is about them.
var inventories = regexp.MustCompile(`; (there are|it has) (\w+, ){8,}\w+`)

var durations = regexp.MustCompile(`\d+(\.\d+)?(µs|ms|s)\b`)

// absent returns what the system says of a file that does not exist.
func absent() string {
	_, err := os.ReadFile("absent.ode")
	return errors.Unwrap(err).Error()
}

// replay enters the entries of a transcript and returns the transcript that results.
func replay(t *testing.T, script string) string {
	t.Helper()
	s := New(Config{
		Doc: func(w io.Writer, name string) bool {
			fmt.Fprintf(w, "(help on %q)\n", name)
			return name == "hill"
		},
		Words: []string{"hill", "sqrt"},
		Edit: func(path string) error { // appends the file "edit"
			more, err := os.ReadFile("edit")
			if err != nil {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, append(text, more...), 0o666)
		},
	})
	var out bytes.Buffer
	lines := strings.Split(script, "\n")
	for i := 0; i < len(lines); i++ {
		entry, ok := strings.CutPrefix(lines[i], "> ")
		if !ok {
			continue
		}
		out.WriteString(lines[i] + "\n")
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], ". ") {
			i++
			out.WriteString(lines[i] + "\n")
			entry += "\n" + lines[i][2:]
		}
		var answer bytes.Buffer
		s.Refresh(&answer)
		if s.Do(context.Background(), &answer, entry) {
			break
		}
		text := strings.ReplaceAll(answer.String(), absent(), "no such file or directory")
		text = inventories.ReplaceAllString(text, "; $1 …")
		out.WriteString(durations.ReplaceAllString(text, "(some time)"))
	}
	return out.String()
}

// difference shows the first lines that differ.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		if i >= len(w) || i >= len(g) || w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant: %s\ngot:  %s", i+1,
				strings.Join(w[min(i, len(w)):min(i+6, len(w))], "\n      "),
				strings.Join(g[min(i, len(g)):min(i+6, len(g))], "\n      "))
		}
	}
	return "no difference"
}

// TestDocument replays the session that docs/repl.md shows.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/repl.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "\n```\n")
	block, _, ok := strings.Cut(block, "```\n")
	if !ok {
		t.Fatal("the document shows no session")
	}
	script := "> load ../examples/bounce/bounce.ode\n" + strings.ReplaceAll(block, "odes> ", "> ")
	_, got, _ := strings.Cut(replay(t, script), "\n> ")
	_, want, found := strings.Cut(script, "\n> ")
	if n := strings.Count(want, "\n> "); !found || n < 5 {
		t.Fatalf("the document shows a session of %d entries", n)
	}
	if got != want {
		t.Errorf("docs/repl.md differs:\n%s", difference(want, got))
	}
}

func TestIncomplete(t *testing.T) {
	for input, want := range map[string]bool{
		"":                           false,
		"final(x)":                   false,
		"final(":                     true,
		"event e at 2 {":             true,
		"event e at 2 { x = 1 }":     false,
		"x' =":                       true,
		"x' = a +":                   true,
		"param k = [1,\n 2":          true,
		"output y = if x > 1 then":   true,
		"x)":                         false,
		"param k = 1 # a note (":     false,
		`model M "a ( in a string"`:  false,
		"sens J wrt k":               false,
		"objective J = final(x) +\n": true,
		"event e at 2":               true,
		"event e at 2\n{ x = 1 }":    false,
		"experiment high":            true,
		"doc +":                      false,
		"doc = 2 +":                  true,
		"save -":                     false,
		"load run(1":                 false,
	} {
		if got := Incomplete(input); got != want {
			t.Errorf("%q: %v, want %v", input, got, want)
		}
	}
}

func TestComplete(t *testing.T) {
	s := New(Config{Words: []string{"sqrt", "dopri5", "sq-code", "minute"}})
	if err := s.Open("../examples/bounce/bounce.ode"); err != nil {
		t.Fatal(err)
	}
	for before, want := range map[string]string{
		"hei":                         "height 3",
		"final(vel":                   "velocity 3",
		"swe":                         "sweep 3",
		"obj":                         "objective 3",
		"sweep e fr":                  "from 2",
		"2*sq":                        "sqrt 2",
		"doc dop":                     "dopri5 3",
		"doc sq-":                     "sq-code 3",
		"emit to":                     "tokens 2",
		"load ../examples/boun":       "../examples/bounce" + string(filepath.Separator) + " 16",
		"x-h":                         "h0 height hypot 1",
		"e = dop":                     " 3", // a method
		"final(minu":                  " 4", // a unit
		"e = 2 [minu":                 "minute 4",
		"state y = 1 [minu":           "minute 4",
		"zzz":                         " 3",
		"run ":                        " 0",
		"undo ":                       " 0",
		"run --":                      " 0",
		"sens --o":                    " 1",
		"e = 0.":                      " 0",
		"plot hei":                    "height 3",
		"plot wee":                    " 3", // a unit
		"plot aga":                    "against 3",
		"plot x aga":                  "against 3",
		"sens height w":               "wrt 1",
		"compare bs3, dopri":          "dopri5 5",
		"fit st":                      "starts 2",
		"text hei":                    "height 3",
		"help sw":                     "sweep 2",
		"at_event(":                   "bounce 0",
		"2*event_time( bou":           "bounce 3",
		"plot adjoint(":               "area area2 height lost path t_second velocity 0",
		"objective J = initial(":      "v x 0",
		"plot d(x)/d(h":               "h0 1",
		"sens hei":                    "height 3",
		"sens path, hei":              "height 3",
		"sens path wrt h":             "h0 1",
		"sweep h":                     "h0 1",
		"observe o = x ~ lo":          "loglaplace lognormal 2",
		"solver { met":                "method 3",
		"solver.rt":                   "rtol 2",
		"solver { rtol = 1e-9 at":     "atol 2",
		"solver { method = dopri":     "dopri5 dopri8 5",
		"sens { of = [path, hei":      "height 3",
		"sens { of = [path]  mo":      "mode 2",
		`data d = csv("../../docs/tu`: "../../docs/tutorial/ 13",
		"compare ../examples/bo":      "../examples/bounce" + string(filepath.Separator) + " 14",
	} {
		words, n := s.Complete(before)
		if got := fmt.Sprintf("%s %d", strings.Join(words, " "), n); got != want {
			t.Errorf("%q: %q, want %q", before, got, want)
		}
	}
	if err := s.Open("../docs/tutorial/fit.ode"); err != nil {
		t.Fatal(err)
	}
	for before, want := range map[string]string{
		"plot C in ":       "high low model 0",
		"run in hi":        "high 2",
		"run ":             "in 0",
		"plot C in low, h": "high 1",
	} {
		words, n := s.Complete(before)
		if got := fmt.Sprintf("%s %d", strings.Join(words, " "), n); got != want {
			t.Errorf("%q: %q, want %q", before, got, want)
		}
	}
}

// TestInterrupted stops a run. The session must continue with what it had.
func TestInterrupted(t *testing.T) {
	s := New(Config{})
	ctx, cancel := context.WithCancel(t.Context())
	for _, entry := range []string{
		"time t from 0 to 1e9", "param w = 1", "state x = 1, v = 0", "x' = v\nv' = -w^2*x",
		"solver { max_steps = 1000000000 }",
	} {
		if err := s.Exec(ctx, io.Discard, entry); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	for _, entry := range []string{"run", "x", "w = 2", "plot x", "sweep w", "max(x)", "compare w = 3"} {
		if err := s.Exec(ctx, io.Discard, entry); err == nil {
			t.Errorf("%s is not interrupted", entry)
		}
	}
	var out bytes.Buffer
	if err := s.Exec(t.Context(), &out, "w"); err != nil || out.String() != "1\n" {
		t.Errorf("w is %q, %v", &out, err)
	}
}

// TestExperimentFails checks that an error of an experiment's run names the experiment.
func TestExperimentFails(t *testing.T) {
	s := New(Config{})
	text := "time t from 0 to 2\nparam k = 0.1\nstate y = 1\ny' = k*y^2\ndata D { time = [1]  y = [1.1] }\n" +
		"observe o = y ~ normal(1) from D.y\n" +
		"experiment calm { use D }\nexperiment wild { k = 2  use D }\nobjective L = nll()\n"
	if err := s.OpenText("blows.ode", text); err != nil {
		t.Fatal(err)
	}
	for entry, want := range map[string]string{
		"plot y":      "error: experiment wild: the step size fell",
		"run in wild": "error: the step size fell", "plot y in calm": "experiment calm", "final(y)": "1.25\n",
	} {
		var out bytes.Buffer
		s.Do(t.Context(), &out, entry)
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: want %q in\n%s", entry, want, &out)
		}
	}
}

// TestAnyEntry enters meaningless text. The session must answer or report an error, and never
// panic, which it would say.
func TestAnyEntry(t *testing.T) {
	text, err := os.ReadFile("../examples/bounce/bounce.ode")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var entries []string
	for _, c := range commands() {
		for _, rest := range []string{
			"", " (", " )", " -o", " x", " 1", " x against", " against x", " d(", " d(x)/",
			" from", " e from e to", " of", ",", " , ,", " \"", " x = ", " [", " e[1]", " \x00", " ☃", " final(x), v",
		} {
			if c.name != "quit" && c.name != "verify" {
				entries = append(entries, c.name+rest)
			}
		}
	}
	entries = append(entries, "=", "= 3", "x[", "x[1] = ", "initial( = 2", "initial() = 2", "e[1] = 2", "max()",
		"max(x,", "x()", "x(1,2)", "()", "'", "x' '", "0 = ", "solver.", "solver. = 2", ".", "#", "##", "\\",
		"\xff\xfe", "e = nan", "e = inf", "g += ", "T = 0", "final(x) = 3", "1 = 2")
	for _, entry := range entries {
		s := New(Config{})
		if err := s.OpenText("bounce.ode", string(text)); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		s.Do(t.Context(), &out, entry)
		if strings.Contains(out.String(), "internal error") {
			t.Errorf("%q: %s", entry, out.String())
		}
		Incomplete(entry)
		s.Complete(entry)
	}
}

// TestFileChanges checks that a file that changes is read, unless that would lose what was entered,
// and that a changed file is never overwritten unread.
func TestFileChanges(t *testing.T) {
	const good = "time t from 0 to 1\nparam k = 2\nstate x = 1\nx' = -k\n"
	path := filepath.Join(t.TempDir(), "m.ode")
	at := time.Now()
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Second)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	put(good)
	s := New(Config{})
	if err := s.Open(path); err != nil {
		t.Fatal(err)
	}
	says := func(entry, want string) {
		t.Helper()
		var b strings.Builder
		s.Refresh(&b)
		s.Do(t.Context(), &b, entry)
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s: want %q in\n%s", entry, want, b.String())
		}
	}
	says("final(x)", "-1\n")
	put(strings.Replace(good, "k = 2", "k = 3", 1))
	says("final(x)", "reading it again\n-2\n")
	put("no model")
	says("final(x)", `"no" starts no item`)
	says("final(x)", "-2\n")
	says("save", "has changed since it was read")
	if text, _ := os.ReadFile(path); string(text) != "no model" {
		t.Errorf("written over: %s", text)
	}
	put(good)
	says("final(x)", "-1\n")
	says("param q = 1", "added")
	put(good + "\n")
	says("final(x)", "note: "+path+" has changed; reload takes it")
	says("save", "has changed since it was read")
	says("reload", "read "+path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	says("final(x)", "-1\n")
	says("save", "wrote "+path)
}

// TestNarrow checks that nothing that a session writes is wider than the screen.
func TestNarrow(t *testing.T) {
	for _, width := range []int{40, 60, 100} {
		s := New(Config{Width: func() int { return width }})
		if err := s.Open("../examples/bounce/bounce.ode"); err != nil {
			t.Fatal(err)
		}
		for _, entry := range []string{
			"help", "help plot", "units", "final(x) + q", "e = 0.7", "compare", "x", "plot", "plot x against v",
			"plot d(height)", "plot adjoint(height)", "plot steps",
			"sweep e from 0.6 to 0.9 points 5", "run", "sens", "verify", "set", "x'' = 3", "k = 3", "load nothing.ode",
			"param q = 1", "time t from 0 to 1",
		} {
			var b strings.Builder
			s.Greet(&b)
			s.Do(t.Context(), &b, entry)
			for line := range strings.Lines(b.String()) {
				if n := screen.Width(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("%s: %d columns on a screen of %d: %s", entry, n, width, line)
				}
			}
		}
	}
}

// TestNoFlags offers no flags of the command where a table is cut: the commands of a session have none.
func TestNoFlags(t *testing.T) {
	const text = "time t from 0 to 100\nparam k[100] = 1\nstate x[100] = 1\nx' = -k*x\n" +
		"objective J[i] = final(x[i]) for i in 1:100\nsolver { hmax = 0.5 }\n"
	s := New(Config{})
	if err := s.OpenText("m.ode", text); err != nil {
		t.Fatal(err)
	}
	for _, entry := range []string{"run", "sens"} {
		var out strings.Builder
		s.Do(t.Context(), &out, entry)
		if said := out.String(); strings.Contains(said, " --") || strings.Contains(said, " -o") ||
			!strings.Contains(said, "not shown") && !strings.Contains(said, "abbreviated") {
			t.Errorf("%s: %s", entry, said)
		}
	}
}

// TestSaveToNoFile: what is there and no file, as a device or a folder, is not to be removed.
func TestSaveToNoFile(t *testing.T) {
	s := New(Config{})
	if err := s.OpenText("m.ode", "time t from 0 to 1\nstate x = 2\nx' = -x\n"); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := s.Exec(t.Context(), io.Discard, "save "+folder); err == nil ||
		err.Error() != folder+" is no file; save under another name" {
		t.Error(err)
	}
	var b strings.Builder
	if err := s.Exec(t.Context(), &b, "x(5)"); err != nil || !strings.HasSuffix(b.String(),
		"no value: t = 5 lies outside of the run, from 0 to 1\n") {
		t.Errorf("%v %q", err, b.String())
	}
}
