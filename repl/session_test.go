package repl

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the transcripts")

// TestTranscripts replays sessions. An archive holds the files of a folder,
// and a file "transcript": entries behind "> ", further lines of them behind
// ". ", and between them what the session answers.
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

var durations = regexp.MustCompile(`\d+(\.\d+)?(µs|ms|s)\b`)

// replay enters what a transcript enters and returns the transcript that comes of it.
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
		out.WriteString(durations.ReplaceAllString(answer.String(), "(some time)"))
	}
	return out.String()
}

// difference shows the first lines that differ.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		if i >= len(w) || i >= len(g) || w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant: %s\ngot:  %s", i+1, strings.Join(w[min(i, len(w)):min(i+6, len(w))], "\n      "), strings.Join(g[min(i, len(g)):min(i+6, len(g))], "\n      "))
		}
	}
	return "no difference"
}
