package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const noticesFile = "THIRD_PARTY_NOTICES"

// A license is a text, and the parts that have it.
type license struct {
	text string
	of   []string
}

// notices are the licences of all that is linked. A text that several have is there once.
func notices(root string) (string, error) {
	parts, err := linked(root)
	if err != nil {
		return "", err
	}
	var all []*license
	for _, p := range parts {
		names, err := p.licenses()
		if err != nil {
			return "", err
		}
		if len(names) == 0 {
			return "", fmt.Errorf("%s %s has no licence: may it be linked?", p.path, p.version)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return "", err
			}
			short, _ := filepath.Rel(p.dir, name)
			of := fmt.Sprintf("%s %s (%s)", p.path, p.version, filepath.ToSlash(short))
			clean := strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
			at := slices.IndexFunc(all, func(l *license) bool { return l.text == clean })
			if at < 0 {
				at = len(all)
				all = append(all, &license{text: clean})
			}
			all[at].of = append(all[at].of, of)
		}
	}
	var b strings.Builder
	b.WriteString("odes is linked with the modules below, each under its own licence. Some are linked on some " +
		"systems alone,\nand the playground has few of them. `go generate ./cmd/release` writes this file.\n")
	for _, l := range all {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(l.of, "\n"), l.text)
	}
	// What was taken as numbers, not as a module.
	sobol, err := os.ReadFile(inside(root, "internal/base/sample/joe_kuo_LICENSE"))
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "\n%s\nDirection numbers of Sobol points (internal/base/sample/joe_kuo.txt)\n\n%s",
		strings.Repeat("=", 80), sobol)
	return b.String(), nil
}

// licenses are the files with licences of a part: in its folder, and in those of its packages that are linked and the
// folders between.
func (p *part) licenses() ([]string, error) {
	folders := map[string]bool{p.dir: true}
	for _, f := range p.folders {
		for at := f; strings.HasPrefix(at, p.dir); at = filepath.Dir(at) {
			folders[at] = true
		}
	}
	var names []string
	for f := range folders {
		list, err := os.ReadDir(f)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			upper := strings.ToUpper(e.Name())
			if e.IsDir() && upper == "THIRD_PARTY_LICENSES" {
				more, err := filepath.Glob(filepath.Join(f, e.Name(), "*"))
				if err != nil {
					return nil, err
				}
				names = append(names, more...)
				continue
			}
			for _, begin := range []string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"} {
				if strings.HasPrefix(upper, begin) && !e.IsDir() && !strings.HasSuffix(upper, ".GO") {
					names = append(names, filepath.Join(f, e.Name()))
				}
			}
		}
	}
	slices.Sort(names)
	return names, nil
}
