package odes_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"odes.dev/odes"
)

// TestVersion checks that whatever repeats the version agrees with it, and whatever reads it finds it.
func TestVersion(t *testing.T) {
	if !regexp.MustCompile(`^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[0-9A-Za-z.-]+)?$`).MatchString(odes.Version) {
		t.Errorf("%q is no semantic version", odes.Version)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), "\r\n", "\n")
	}

	// The Makefile and the site find this line by its form.
	if strings.Count(read("version.go"), "\nconst Version = \""+odes.Version+"\"\n") != 1 {
		t.Error("version.go has no line const Version = …")
	}
	for _, name := range []string{"Makefile", "site/conf.py"} {
		if text := read(name); !strings.Contains(text, "version.go") || !strings.Contains(text, "const Version = ") {
			t.Errorf("%s does not read version.go", name)
		}
	}

	var manifest struct{ Version string }
	if err := json.Unmarshal([]byte(read("editors/vscode/package.json")), &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Version != odes.Version {
		t.Errorf("editors/vscode/package.json has version %q", manifest.Version)
	}

	base, _, _ := strings.Cut(odes.Version, "-") // R has no pre-releases
	if !strings.Contains(read("r/DESCRIPTION"), "\nVersion: "+base+"\n") {
		t.Errorf("r/DESCRIPTION has not the version %s", base)
	}

	pages, err := filepath.Glob(filepath.Join("docs", "man", "*.1"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d manual pages: %v", len(pages), err)
	}
	for _, name := range pages {
		if head, _, _ := strings.Cut(read(name), "\n"); !strings.Contains(head, `"odes `+odes.Version+`"`) {
			t.Errorf("%s: %s; go generate ./cmd/odes writes it", name, head)
		}
	}

	// The newest release in the list of changes, below what is not released.
	headings := regexp.MustCompile(`(?m)^## \[(.+?)\]`).FindAllStringSubmatch(read("CHANGELOG.md"), -1)
	if len(headings) < 2 || headings[0][1] != "Unreleased" || headings[1][1] != odes.Version {
		t.Errorf("CHANGELOG.md has the headings %v", headings)
	}
}
