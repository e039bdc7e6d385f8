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

var updateTutorial = flag.Bool("update-tutorial", false, "write models and outputs into the parts of the tutorial")

// TestTutorial types the parts of the tutorial, one after the other, into an empty folder. A block that the text before
// it names is a file, which docs/tutorial has as well. The block behind a command is what the command prints; behind
// `odes repl` it is a session, whose entries stand behind "odes> ".
func TestTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	folder, err := filepath.Abs(filepath.Join("..", "..", "docs"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	models, commands := 0, 0
	for _, name := range []string{"tutorial.md", "tutorial-fit.md", "tutorial-posterior.md"} {
		path := filepath.Join(folder, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		shown, m, c := typeTutorial(t, folder, string(text))
		models, commands = models+m, commands+c
		switch {
		case shown == string(text):
		case *updateTutorial:
			if err := os.WriteFile(path, []byte(shown), 0o666); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("docs/%s does not show what its models and commands are; "+
				"run with -update-tutorial and look at the difference", name)
		}
	}
	if models < 4 || commands < 10 {
		t.Fatalf("found %d models and %d commands: the test checks nothing", models, commands)
	}
}

// typeTutorial makes the files of a part of the tutorial and runs its commands, in the current folder. It returns the
// part as it should be, how many models it has, and how many commands.
func typeTutorial(t *testing.T, folder, text string) (shown string, models, commands int) {
	t.Helper()
	var output, opened string // of the last command; the model of a session
	parts := strings.Split(text, "```")
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
		case strings.HasPrefix(part, "odes\n"), strings.HasPrefix(part, "text\n"):
			name := saved.FindStringSubmatch(parts[i-1])
			if name == nil {
				t.Fatalf("a block has no name of a file before it:\n%s", part)
			}
			kept, err := os.ReadFile(filepath.Join(folder, "tutorial", name[1]))
			if err != nil {
				t.Fatal(err)
			}
			language, body, _ := strings.Cut(part, "\n")
			if *updateTutorial {
				body = string(kept)
			}
			if err := os.WriteFile(name[1], []byte(body), 0o666); err != nil {
				t.Fatal(err)
			}
			if language == "odes" {
				models++
				var stdout, stderr bytes.Buffer
				args := []string{"fmt", "-d", name[1]}
				if status := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); status != exitDone {
					t.Errorf("%s is not in standard form:\n%s%s", name[1], &stdout, &stderr)
				}
			}
			parts[i] = language + "\n" + string(kept)
		case strings.HasPrefix(part, "\nodes> "):
			parts[i] = "\n" + hold(t, opened, part)
		default:
			parts[i] = "\n" + output + "\n"
		}
	}
	return strings.Join(parts, "```"), models, commands
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
