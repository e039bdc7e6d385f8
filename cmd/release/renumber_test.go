package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odes.dev/odes"
)

// TestSetVersion gives a copy of files that repeat the version another one. Nothing but these places changes.
func TestSetVersion(t *testing.T) {
	from, to := repository(t), t.TempDir()
	names := []string{
		"version.go", "editors/vscode/package.json", "editors/vscode/package-lock.json", "docs/man/odes.1",
		"r/DESCRIPTION", "CHANGELOG.md", "examples/bounce/bounce.golden",
	}
	before := map[string]string{}
	for _, name := range names {
		before[name] = read(t, from, name)
		if err := os.MkdirAll(filepath.Dir(inside(to, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(inside(to, name), []byte(before[name]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := setVersion(to, "7.8.9", time.Date(2031, 4, 5, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		got := read(t, to, name)
		want := strings.Count(before[name], "7.8.9") + 1
		if name == "editors/vscode/package-lock.json" {
			want++
		}
		if strings.Count(got, "7.8.9") != want {
			t.Errorf("%s names the version %d times, not %d", name, strings.Count(got, "7.8.9"), want)
		}
		if name != "CHANGELOG.md" && strings.ReplaceAll(got, "7.8.9", odes.Version) != before[name] {
			t.Errorf("%s has other changes:\n%s", name, got)
		}
	}
	text := read(t, to, "CHANGELOG.md")
	if !strings.Contains(text, "\n## [Unreleased]\n\n## [7.8.9] - 2031-04-05\n\n") {
		t.Errorf("the list of changes begins\n%.400s", text)
	}
	for _, wrong := range []string{"1.2", "v1.2.3", odes.Version} {
		if err := setVersion(to, wrong, time.Now()); err == nil {
			t.Errorf("the version %s is not refused", wrong)
		}
	}
}
