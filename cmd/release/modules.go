package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// platforms are the systems that odes is released for. The test compares them with the Makefile and with the wheels.
var platforms = []string{
	"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64",
}

// commands are what is released.
var commands = []string{"./cmd/odes", "./cmd/playground"}

// A part is a module that is linked into a command, or Go itself.
type part struct {
	path, version string
	dir           string
	folders       []string // of linked packages
}

// root is the folder of the repository: this one, or one above it.
func root() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "version.go")); err == nil {
			return at, nil
		}
		up := filepath.Dir(at)
		if up == at {
			return "", errors.New("run it in the repository")
		}
		at = up
	}
}

func inside(root, name string) string { return filepath.Join(root, filepath.FromSlash(name)) }

// linked lists the modules of which something is linked on some platform, and Go, by their paths.
func linked(root string) ([]*part, error) {
	all := map[string]*part{}
	list := func(system, command string) error {
		goos, goarch, _ := strings.Cut(system, "/")
		show := exec.Command("go", "list", "-deps", "-json=Dir,Module,Standard", command)
		show.Dir = root
		show.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
		var errs bytes.Buffer
		show.Stderr = &errs
		out, err := show.Output()
		if err != nil {
			return fmt.Errorf("%s for %s: %w\n%s", command, system, err, errs.String())
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct {
				Dir    string
				Module *struct {
					Path, Version, Dir string
					Main               bool
				}
			}
			if err := d.Decode(&p); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			m := p.Module
			if m == nil || m.Main {
				continue
			}
			if all[m.Path] == nil {
				all[m.Path] = &part{path: m.Path, version: m.Version, dir: m.Dir}
			}
			if q := all[m.Path]; !slices.Contains(q.folders, p.Dir) {
				q.folders = append(q.folders, p.Dir)
			}
		}
	}
	for _, system := range platforms {
		if err := list(system, commands[0]); err != nil {
			return nil, err
		}
	}
	if err := list("js/wasm", commands[1]); err != nil {
		return nil, err
	}
	env := exec.Command("go", "env", "GOROOT")
	env.Dir = root
	goroot, err := env.Output()
	if err != nil {
		return nil, err
	}
	version, err := goVersion(root)
	if err != nil {
		return nil, err
	}
	dir := strings.TrimSpace(string(goroot))
	parts := slices.SortedFunc(maps.Values(all), func(a, b *part) int { return cmp.Compare(a.path, b.path) })
	return append([]*part{{path: "Go, its library and runtime", version: version, dir: dir, folders: []string{dir}}},
		parts...), nil
}

// goVersion is the one that go.mod names.
func goVersion(root string) (string, error) {
	text, err := os.ReadFile(inside(root, "go.mod"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, "go "); ok {
			return "go" + strings.TrimSpace(v), nil
		}
	}
	return "", errors.New("go.mod names no version of Go")
}
