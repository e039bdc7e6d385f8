package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"odes.dev/odes"
)

// archive is the name of the archive for a system.
func archive(system string) string {
	ending := ".tar.gz"
	if strings.HasPrefix(system, "windows/") {
		ending = ".zip"
	}
	return "odes_" + odes.Version + "_" + strings.ReplaceAll(system, "/", "_") + ending
}

// wheelTags are the rows of PLATFORMS in python/wheels.py.
var wheelTags = regexp.MustCompile(`(?m)^ {4}"(\w+/\w+)": \[(.*)\],$`)

// wheels are the names of the wheels, by system.
func wheels(root string) (map[string]string, error) {
	text, err := os.ReadFile(inside(root, "python/wheels.py"))
	if err != nil {
		return nil, err
	}
	version := odes.Version
	for word, short := range map[string]string{"alpha": "a", "beta": "b", "rc": "rc", "dev": ".dev"} {
		version = regexp.MustCompile("-"+word+`\.?`).ReplaceAllString(version, short)
	}
	names := map[string]string{}
	for _, row := range wheelTags.FindAllStringSubmatch(string(text), -1) {
		tags := strings.ReplaceAll(strings.ReplaceAll(row[2], `"`, ""), ", ", ".")
		names[row[1]] = "odes-" + version + "-py3-none-" + tags + ".whl"
	}
	return names, nil
}

// files are the names of what SHA256SUMS covers: all files of a release but that one and its signature.
func files(root string) ([]string, error) {
	names := []string{
		"odes_" + odes.Version + "_source.tar.gz", "odes_" + odes.Version + ".vsix",
		"odes_" + odes.Version + ".spdx.json", noticesFile,
	}
	python, err := wheels(root)
	if err != nil {
		return nil, err
	}
	for _, system := range platforms {
		if python[system] == "" {
			return nil, fmt.Errorf("python/wheels.py has no wheel for %s", system)
		}
		names = append(names, archive(system), python[system])
	}
	slices.Sort(names)
	return names, nil
}

// A release is what recipes are told.
type release struct {
	Version, Base  string // the base is where files of the release are
	Commit, Go     string
	Owner, Address string
	sums           map[string]string
}

// Sum is the sum of a file.
func (r release) Sum(name string) (string, error) {
	s, ok := r.sums[name]
	if !ok {
		return "", fmt.Errorf("%s is no file of the release", name)
	}
	return s, nil
}

// Archive is the name of the archive for a system.
func (release) Archive(system string) string { return archive(system) }

// Source is the name of the archive of the source.
func (release) Source() string { return "odes_" + odes.Version + "_source.tar.gz" }

// newRelease is that of a repository, OWNER/NAME.
func newRelease(root, repository string, sums map[string]string) (release, error) {
	commit, _ := commitOf(root)
	version, err := goVersion(root)
	owner, _, _ := strings.Cut(repository, "/")
	address := "https://github.com/" + repository
	return release{
		Version: odes.Version, Base: address + "/releases/download/v" + odes.Version, Commit: commit, Go: version[2:],
		Owner: owner, Address: address, sums: sums,
	}, err
}

// recipes fills in the files of packaging, whose names end with .tmpl. The name is the file's, below packaging.
func recipes(root string, r release) (map[string]string, error) {
	texts := map[string]string{}
	folder := inside(root, "packaging")
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".tmpl" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		t, err := template.New(d.Name()).Option("missingkey=error").Parse(string(text))
		if err != nil {
			return err
		}
		var b strings.Builder
		if err := t.Execute(&b, r); err != nil {
			return err
		}
		name, _ := filepath.Rel(folder, strings.TrimSuffix(path, ".tmpl"))
		texts[filepath.ToSlash(name)] = b.String()
		return nil
	})
	return texts, err
}

// readSums reads SHA256SUMS.
func readSums(text string) map[string]string {
	sums := map[string]string{}
	for line := range strings.Lines(text) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			sums[name] = sum
		}
	}
	return sums
}

// writeRecipes writes dist/recipes, for the repository that GITHUB_REPOSITORY names.
func writeRecipes(root string) error {
	text, err := os.ReadFile(inside(root, "dist/SHA256SUMS"))
	if err != nil {
		return err
	}
	repository := os.Getenv("GITHUB_REPOSITORY")
	if !strings.Contains(repository, "/") {
		return fmt.Errorf("GITHUB_REPOSITORY=OWNER/NAME says where the release is; it is %q", repository)
	}
	r, err := newRelease(root, repository, readSums(string(text)))
	if err != nil {
		return err
	}
	texts, err := recipes(root, r)
	if err != nil {
		return err
	}
	for name, text := range texts {
		path := inside(root, "dist/recipes/"+name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}
