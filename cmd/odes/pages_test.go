package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var updatePages = flag.Bool("update-pages", false, "write what commands print into the pages of docs/how")

// saved is how a page names the file that its next block is: Save this as `dose.ode`:
var saved = regexp.MustCompile("`([a-z0-9_]+\\.[a-z]+)`:\\s*$")

// word is one of a command, which may have blanks between quotes.
var word = regexp.MustCompile(`(?:'[^']*'|[^\s'])+`)

// TestPages types every page of docs/how in an empty folder: blocks that a page names are files, indented lines are
// commands, and a block without a language is what the last command prints. Nothing but the page is there.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	paths, err := filepath.Glob(filepath.Join("..", "..", "docs", "how", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			shown, ran := typePage(t, string(text))
			commands += ran
			if ran == 0 && filepath.Base(path) != "index.md" {
				t.Error("the page has no command")
			}
			switch {
			case shown == string(text):
			case *updatePages:
				if err := os.WriteFile(path, []byte(shown), 0o666); err != nil {
					t.Fatal(err)
				}
			default:
				t.Error("the page does not show what its commands print; run with -update-pages and read what changes")
			}
		})
	}
	if len(paths) < 30 || commands < 40 {
		t.Fatalf("found %d pages with %d commands", len(paths), commands)
	}
}

// typePage makes the files of a page and runs its commands in the current folder. It returns the page as it should be.
func typePage(t *testing.T, text string) (shown string, commands int) {
	t.Helper()
	output := ""
	parts := strings.Split(text, "```")
	for i, part := range parts {
		if i%2 == 0 {
			for line := range strings.Lines(part) {
				line, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "    odes ")
				if !ok {
					continue
				}
				commands++
				line, _, _ = strings.Cut(line, "  #")
				var stdout, stderr bytes.Buffer
				args := word.FindAllString(line, -1)
				for k, arg := range args {
					args[k] = strings.ReplaceAll(arg, "'", "") // a shell takes them off
				}
				if status := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); status != exitDone {
					t.Errorf("odes %s: exit status %d\n%s", line, status, &stderr)
				}
				output = strings.TrimRight(stdout.String(), "\n")
			}
			continue
		}
		language, body, _ := strings.Cut(part, "\n")
		name := saved.FindStringSubmatch(parts[i-1])
		switch {
		case name != nil:
			if err := os.WriteFile(name[1], []byte(body), 0o666); err != nil {
				t.Fatal(err)
			}
		case language == "odes":
			t.Errorf("a model has no name of a file before it:\n%s", body)
		case language == "":
			parts[i] = "\n" + output + "\n"
		}
	}
	return strings.Join(parts, "```"), commands
}

// TestCodesInQuestions: the page of questions about messages has codes that messages have.
func TestCodesInQuestions(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "faq.md"))
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`\[([a-z]+(?:-[a-z]+)*)\](?:[.,]|\.\*\*)`).FindAllStringSubmatch(string(text), -1)
	if len(codes) < 10 {
		t.Fatalf("found %d codes", len(codes))
	}
	for _, c := range codes {
		var stdout, stderr bytes.Buffer
		status := run(t.Context(), []string{"doc", c[1]}, strings.NewReader(""), &stdout, &stderr)
		if status != exitDone {
			t.Errorf("no message has the code %s", c[1])
		}
	}
}
