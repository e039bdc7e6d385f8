package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedCommands runs every command line that a document shows: indented
// lines that begin with "odes" or "go run ./cmd/odes". They run in the folder
// of the document; model.ode and decay.ode are any model.
func TestDocumentedCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	var documents []string
	for _, pattern := range []string{"*.md", "docs/*.md", "examples/*/*.md", "examples/papers/*/*.md"} {
		list, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, list...)
	}
	example := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(root, "examples", name, name+".ode"))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	bounce, theophylline := example("bounce"), example("theophylline")
	fits := t.TempDir() // what one of the commands writes, the next one reads
	if err := os.WriteFile(filepath.Join(fits, "model.ode"), theophylline, 0o666); err != nil {
		t.Fatal(err)
	}
	patients, drugs := t.TempDir(), t.TempDir() // likewise
	if err := os.WriteFile(filepath.Join(patients, "new.csv"), []byte("TIME,AMT\n0,50\n12,80\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	foreign := regexp.MustCompile(`model\.ant|archive\.omex|neuron\.ode|run1\.ctl`) // models of other programs
	fit := regexp.MustCompile(`\b(fit|sample|simulate|select|predict|check --identifiable) (model|fitted)\.ode`)
	examples := t.TempDir() // commands write to their folder
	if err := os.CopyFS(examples, os.DirFS(filepath.Join(root, "examples"))); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, path := range documents {
		if strings.HasPrefix(filepath.Base(path), "tutorial") {
			continue // TestTutorial types it
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line, ok := strings.CutPrefix(line, "    ")
			if !ok {
				continue
			}
			line, _, _ = strings.Cut(line, "#")
			args := strings.Fields(line)
			switch {
			case len(args) > 1 && args[0] == "odes":
				args = args[1:]
			case len(args) > 3 && strings.Join(args[:3], " ") == "go run ./cmd/odes":
				args = args[3:]
			default:
				continue
			}
			if strings.Contains(line, "--starts 100") {
				continue // a minute or more
			}
			ran++
			for i, arg := range args {
				args[i] = strings.ReplaceAll(arg, "'", "") // a shell takes them off
				if file, ok := strings.CutPrefix(arg, "--stats="); ok {
					args[i] = "--stats=" + filepath.Join(fits, file)
				}
			}
			folder := filepath.Dir(path)
			if at, err := filepath.Rel(filepath.Join(root, "examples"), folder); err == nil && filepath.IsLocal(at) {
				folder = filepath.Join(examples, at)
			}
			switch {
			case strings.Contains(line, "model.xml") && args[0] != "export", strings.Contains(line, "problem.yaml"):
				folder = t.TempDir()
				problem := os.DirFS(filepath.Join(root, "internal", "exchange", "petab", "testdata", "decay"))
				if err := os.CopyFS(folder, problem); err != nil {
					t.Fatal(err)
				}
			case foreign.MatchString(line):
				folder = t.TempDir()
				files := os.DirFS(filepath.Join(root, "cmd", "odes", "testdata", "foreign"))
				if err := os.CopyFS(folder, files); err != nil {
					t.Fatal(err)
				}
			case fit.MatchString(line):
				folder = fits
			case strings.Contains(line, "patients.ode"):
				folder = patients
			case strings.Contains(line, "drug.ode"):
				folder = drugs
			case strings.Contains(line, "model.ode"):
				folder = t.TempDir()
				if err := os.WriteFile(filepath.Join(folder, "model.ode"), bounce, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(folder)
			var out, errs bytes.Buffer
			if status := run(t.Context(), args, strings.NewReader(""), &out, &errs); status != exitDone {
				t.Errorf("%s: %q: exit status %d\n%s", path, line, status, &errs)
			}
		}
	}
	if ran < 20 {
		t.Fatalf("only %d commands were run", ran)
	}
}

// TestPictureOfReadme: the picture in the README is what the command draws.
func TestPictureOfReadme(t *testing.T) {
	const kept = "../../examples/bounce/bounce.svg"
	path := filepath.Join(t.TempDir(), "bounce.svg")
	if *update {
		path = kept
	}
	args := []string{"plot", "../../examples/bounce/bounce.ode", "x", "-o", path}
	if status := run(t.Context(), args, strings.NewReader(""), io.Discard, io.Discard); status != exitDone {
		t.Fatalf("exit status %d", status)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what odes plot bounce.ode x -o bounce.svg draws; run with -update and look at it", kept)
	}
}
