package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
)

func repository(t *testing.T) string {
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, root, name string) string {
	text, err := os.ReadFile(inside(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// TestNoticesAreUpToDate: the file has the licences of what is linked today, and every list of parts names the same.
func TestNoticesAreUpToDate(t *testing.T) {
	root := repository(t)
	want, err := notices(root)
	if err != nil {
		t.Skip("modules are not to be had: ", err)
	}
	if read(t, root, noticesFile) != want {
		t.Errorf("%s is not up to date: go generate ./cmd/release", noticesFile)
	}
	text, err := sbom(root)
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Packages) < 20 || len(d.Relationships) != len(d.Packages) {
		t.Errorf("%d parts, %d relations", len(d.Packages), len(d.Relationships))
	}
	for _, p := range d.Packages {
		if p.Declared == "NOASSERTION" {
			t.Errorf("%s: what licence is this?", p.Name)
		}
		if p.Name != "odes" && p.Name != "go" && !strings.Contains(want, p.Name+" "+p.Version+" (") {
			t.Errorf("%s: no notice names it", p.Name)
		}
	}
	for _, name := range []string{"github.com/google/go-tpm", "go-fonts/liberation", "Kuo"} { // of Windows; no code
		if !strings.Contains(want, name) {
			t.Errorf("no notice of %s", name)
		}
	}
}

// TestRecipesNameFilesOfTheRelease: recipes give the address and the sum of files that a release has.
func TestRecipesNameFilesOfTheRelease(t *testing.T) {
	root := repository(t)
	names, err := files(root)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for i, name := range names {
		sums[name] = strings.Repeat("0", 62) + string(rune('a'+i/10)) + string(rune('0'+i%10))
	}
	r, err := newRelease(root, "someone/odes", sums)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := recipes(root, r)
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`https://github\.com/someone/odes/releases/download/v([^/]+)/([^"\s]+)`)
	sum := regexp.MustCompile(`\b0{62}[a-z0-9]{2}\b`)
	found := 0
	for name, text := range texts {
		var last string
		for line := range strings.Lines(text) {
			if m := address.FindStringSubmatch(line); m != nil {
				found++
				if last = m[2]; m[1] != odes.Version || sums[last] == "" {
					t.Errorf("%s: %s is no file of the release %s", name, m[0], odes.Version)
				}
			}
			if s := sum.FindString(line); s != "" && s != sums[last] {
				t.Errorf("%s: the sum behind %s is that of another file", name, last)
			}
		}
		if strings.Contains(text, "<no value>") {
			t.Errorf("%s has holes:\n%s", name, text)
		}
	}
	if len(texts) < 5 || found != 7 {
		t.Errorf("%d recipes with %d addresses", len(texts), found)
	}
	// The files within archives that winget and Homebrew name are those that the Makefile puts there.
	made := read(t, root, "Makefile")
	for _, name := range []string{"THIRD_PARTY_NOTICES", "LICENSE", "docs", "examples", "completion"} {
		if !strings.Contains(made, name) {
			t.Errorf("the Makefile puts no %s into archives", name)
		}
	}
	if _, err := r.Sum("odes.exe"); err == nil {
		t.Error("a file that no release has got a sum")
	}
}

// TestPlatforms: Makefile, wheels and this program make the same systems, and documents name files that are made.
func TestPlatforms(t *testing.T) {
	root := repository(t)
	line := regexp.MustCompile(`(?m)^PLATFORMS +:= (.*)$`).FindStringSubmatch(read(t, root, "Makefile"))
	if line == nil || !slices.Equal(strings.Fields(line[1]), platforms) {
		t.Errorf("the Makefile has %q, not %q", line, platforms)
	}
	python, err := wheels(root)
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(python)); !slices.Equal(got, slices.Sorted(slices.Values(platforms))) {
		t.Errorf("wheels for %q", got)
	}
	names, err := files(root)
	if err != nil {
		t.Fatal(err)
	}
	file := regexp.MustCompile(`\bodes_(?:\*|VERSION)(_\w+(?:\.tar\.gz|\.zip))`)
	found := 0
	for _, document := range []string{"README.md"} {
		for _, match := range file.FindAllStringSubmatch(read(t, root, document), -1) {
			found++
			if !slices.Contains(names, "odes_"+odes.Version+match[1]) {
				t.Errorf("%s: no release has a file %s", document, match[0])
			}
		}
	}
	if found < 3 {
		t.Errorf("documents name %d files", found)
	}
}

// TestWorkflowsArePinned: what workflows run is named by its commit, which nobody can move; a release is made of a
// commit that passed .ci/run, and everything in it has a sum, a signature and a provenance.
func TestWorkflowsArePinned(t *testing.T) {
	root := repository(t)
	paths, err := filepath.Glob(inside(root, ".github/workflows/*.yml"))
	if err != nil || len(paths) < 2 {
		t.Fatal(paths, err)
	}
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: (\S+)(.*)$`)
	pinned := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40}$`)
	found := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range uses.FindAllStringSubmatch(string(text), -1) {
			found++
			if !pinned.MatchString(m[1]) || !regexp.MustCompile(`^ # v\d+\.\d+\.\d+\r?$`).MatchString(m[2]) {
				t.Errorf("%s: %s%s is not pinned by a commit, with its version behind it",
					filepath.Base(path), m[1], m[2])
			}
		}
	}
	if found < 10 {
		t.Errorf("%d actions", found)
	}
	flow := read(t, root, ".github/workflows/release.yml")
	for _, want := range []string{
		"run: .ci/run", "needs: check", "make release", "make sign", "subject-checksums: dist/SHA256SUMS",
		"provenance: mode=max", "sbom: true", "COMMIT=",
	} {
		if !strings.Contains(flow, want) {
			t.Errorf("release.yml has no %q", want)
		}
	}
}

// TestZipHasTheSameBytes also holds names and modes.
func TestZipHasTheSameBytes(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "odes_1")
	if err := os.MkdirAll(filepath.Join(folder, "docs"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"odes.exe", "docs/a.md"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var made [2][]byte
	for i := range made {
		to := filepath.Join(t.TempDir(), "a.zip")
		if err := zipFolder(folder, to); err != nil {
			t.Fatal(err)
		}
		made[i], _ = os.ReadFile(to)
	}
	if len(made[0]) == 0 || !bytes.Equal(made[0], made[1]) {
		t.Error("two archives of a folder differ")
	}
	r, err := zip.NewReader(bytes.NewReader(made[0]), int64(len(made[0])))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range r.File {
		names = append(names, f.Name)
	}
	if want := []string{"odes_1/docs/a.md", "odes_1/odes.exe"}; !slices.Equal(names, want) {
		t.Errorf("the archive has %q", names)
	}
	if mode := r.File[1].Mode(); mode != 0o755 {
		t.Errorf("odes.exe has mode %v", mode)
	}
}
