package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"odes.dev/odes"
)

// A versioned kind of file repeats the version: how its files are named, and what stands around the version there, once
// or as often as it comes.
type versioned struct {
	pattern       string
	before, after string
	most          int // how many of these are that of odes; -1: all
}

// repeats is where the version stands. The first kind decides.
var repeats = []versioned{
	{"version.go", "\nconst Version = \"", "\"\n", 1},
	{"editors/vscode/package.json", "\"version\": \"", "\"", 1},
	{"editors/vscode/package-lock.json", "\"version\": \"", "\"", 2}, // those of the packages follow
	{"docs/man/*.1", "\"odes ", "\"", 1},
}

// results is how JSON of results names the version, in golden files everywhere.
var results = versioned{"", "\"odes\": \"", "\"", -1}

var semantic = regexp.MustCompile(`^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[0-9A-Za-z.-]+)?$`)

// setVersion gives the repository another version, in all files that repeat it. What is unreleased in the list of
// changes becomes that of the version and the day.
func setVersion(root, version string, day time.Time) error {
	old := odes.Version
	switch {
	case !semantic.MatchString(version):
		return fmt.Errorf("%q is no semantic version, such as 0.2.0", version)
	case version == old:
		return fmt.Errorf("the version is %s", version)
	}
	for _, kind := range repeats {
		names, err := fs.Glob(os.DirFS(root), kind.pattern)
		if err == nil && len(names) == 0 {
			err = fmt.Errorf("no file is named %s", kind.pattern)
		}
		for _, name := range names {
			if err == nil {
				err = kind.set(inside(root, name), old, version, true)
			}
		}
		if err != nil {
			return err
		}
	}
	base := func(v string) string { base, _, _ := strings.Cut(v, "-"); return base } // R has no pre-releases
	r := versioned{"", "\nVersion: ", "\n", 1}
	if base(old) != base(version) {
		if err := r.set(inside(root, "r/DESCRIPTION"), base(old), base(version), true); err != nil {
			return err
		}
	}
	changes := versioned{"", "\n## [Unreleased]\n", "", 1}
	entry := "\n## [" + version + "] - " + day.Format(time.DateOnly) + "\n"
	if err := changes.set(inside(root, "CHANGELOG.md"), "", entry, true); err != nil {
		return err
	}
	return setResults(root, old, version)
}

// set replaces a version in a file. Where it must be there, a file without it is an error.
func (k versioned) set(path, old, version string, must bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	from, to := []byte(k.before+old+k.after), []byte(k.before+version+k.after)
	if !bytes.Contains(text, from) {
		if must {
			return fmt.Errorf("%s has no %q", path, from)
		}
		return nil
	}
	return os.WriteFile(path, bytes.Replace(text, from, to, k.most), 0o666)
}

// made are folders that Make and others make.
var made = []string{"dist", "node_modules", "public"}

// setResults replaces the version in golden files: the bits of results are those of before.
func setResults(root, old, version string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || slices.Contains(made, name)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".golden", ".json"}, filepath.Ext(path)) {
			return nil
		}
		return results.set(path, old, version, false)
	})
}
