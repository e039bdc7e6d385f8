package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes/repl"
)

var updateTutorial = flag.Bool("update-tutorial", false, "write models and outputs into docs/tutorial.md")

// TestTutorial runs the tutorial: a block of odes is one of the files of
// docs/tutorial, by its model's name, and the block behind a command is what
// the command prints; behind `odes repl` it is a session, whose entries stand behind "odes> ".
func TestTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	folder, err := filepath.Abs(filepath.Join("..", "..", "docs"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "tutorial.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	var out strings.Builder
	var output, opened string // of the last command; the model of a session
	models, commands := 0, 0
	parts := strings.Split(string(text), "```")
	for i, part := range parts {
		switch {
		case i%2 == 0:
			for line := range strings.Lines(part) {
				if line, ok := strings.CutPrefix(line, "    odes "); ok {
					commands++
					var stdout, stderr bytes.Buffer
					status := run(t.Context(), strings.Fields(line), strings.NewReader(""), &stdout, &stderr)
					if status != exitDone {
						t.Errorf("odes %s: exit status %d\n%s", line, status, &stderr)
					}
					output = strings.TrimRight(stdout.String(), "\n")
					opened, _ = strings.CutPrefix(line, "repl ")
				}
			}
		case strings.HasPrefix(part, "odes\n"):
			models++
			name, found := strings.CutPrefix(strings.TrimSpace(part[len("odes\n"):]), "FILE ")
			if !found {
				name = modelFile(t, folder, part)
			}
			model, err := os.ReadFile(filepath.Join(folder, "tutorial", name))
			if err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			args := []string{"fmt", "-d", filepath.Join("tutorial", name)}
			if status := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); status != exitDone {
				t.Errorf("%s is not in standard form:\n%s%s", name, &stdout, &stderr)
			}
			part = "odes\n" + string(model)
		case strings.HasPrefix(part, "\nodes> "):
			part = "\n" + hold(t, opened, part)
		default:
			part = "\n" + output + "\n"
		}
		if i > 0 {
			out.WriteString("```")
		}
		out.WriteString(part)
	}
	if models < 3 || commands < 5 {
		t.Fatalf("found %d models and %d commands: the test checks nothing", models, commands)
	}
	if *updateTutorial {
		if err := os.WriteFile(path, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if out.String() != string(text) {
		t.Error("docs/tutorial.md does not show what its models and commands are; " +
			"run with -update-tutorial and look at the difference")
	}
}

// hold enters what a transcript enters and returns the transcript that comes of it.
func hold(t *testing.T, model, transcript string) string {
	t.Helper()
	s := repl.New(repl.Config{})
	if err := s.Open(strings.TrimSpace(model)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for line := range strings.Lines(transcript) {
		if entry, ok := strings.CutPrefix(line, "odes> "); ok {
			out.WriteString(line)
			s.Do(t.Context(), &out, entry)
		}
	}
	return out.String()
}

// modelFile finds the file of the model that a block shows.
func modelFile(t *testing.T, folder, block string) string {
	t.Helper()
	_, rest, _ := strings.Cut(block, "model ")
	name, _, _ := strings.Cut(rest, " ")
	file := strings.ToLower(name) + ".ode"
	if _, err := os.Stat(filepath.Join(folder, "tutorial", file)); err != nil {
		t.Fatalf("no file for model %q", name)
	}
	return file
}
