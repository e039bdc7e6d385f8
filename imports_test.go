package odes_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "odes.dev/odes"

// root is the root package in the table of docs/architecture.md.
const root = "odes (root)"

// tableRow is a row of that table: a package, what it is, and what it may import.
var tableRow = regexp.MustCompile("(?m)^\\| `([^`]+)`( \\(root\\))? \\| [^|]+ \\| ([^|]*)\\|$")

// importTable reads the table of packages in docs/architecture.md: for each package, in the order of the table, what it
// may import of odes. A name stands for the package whose path ends with it, "root" for the root, "all above" for every
// package of the rows before.
func importTable(t *testing.T) (packages []string, allowed map[string][]string) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := tableRow.FindAllStringSubmatch(string(text), -1)
	for _, row := range rows {
		packages = append(packages, row[1]+row[2])
	}
	allowed = map[string][]string{}
	for i, row := range rows {
		of := packages[i]
		allowed[of] = nil
		for _, name := range strings.Split(strings.TrimSpace(row[3]), ", ") {
			switch name {
			case "":
				continue
			case "root":
				allowed[of] = append(allowed[of], root)
				continue
			case "all above":
				allowed[of] = append(allowed[of], packages[:i]...)
				continue
			}
			full := slices.DeleteFunc(slices.Clone(packages), func(p string) bool {
				return p != name && path.Base(p) != name
			})
			if len(full) != 1 {
				t.Fatalf("%s may import %q, which names %d packages of the table", of, name, len(full))
			}
			allowed[of] = append(allowed[of], full[0])
		}
	}
	return packages, allowed
}

// TestImports holds the code, outside of tests, against the table of packages: a package imports what its row lists and
// nothing else, rows list what is imported and nothing else, and every package has a row.
func TestImports(t *testing.T) {
	packages, allowed := importTable(t)
	if len(packages) < 20 {
		t.Fatalf("the table has only %d rows: the test checks nothing", len(packages))
	}
	imported := map[string]map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if file != "." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata") {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil && file != "." {
				return filepath.SkipDir // a module of its own
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		of := filepath.ToSlash(filepath.Dir(file))
		if of == "." {
			of = root
		}
		if imported[of] == nil {
			imported[of] = map[string]bool{}
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range tree.Imports {
			text, _ := strconv.Unquote(spec.Path.Value)
			if text == module {
				imported[of][root] = true
			} else if p, ours := strings.CutPrefix(text, module+"/"); ours {
				imported[of][p] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for of, list := range imported {
		rows, ok := allowed[of]
		if !ok {
			t.Errorf("package %s has no row in the table of docs/architecture.md", of)
			continue
		}
		for _, p := range slices.Sorted(maps.Keys(list)) {
			if !slices.Contains(rows, p) {
				t.Errorf("%s must not import %s, or its row in docs/architecture.md must list it", of, p)
			}
		}
		for _, p := range rows {
			if !list[p] && of != root { // which may import all above, and need not
				t.Errorf("the row of %s in docs/architecture.md lists %s, which it does not import", of, p)
			}
		}
	}
	for _, p := range packages {
		if imported[p] == nil {
			t.Errorf("docs/architecture.md has a row for %s, and there is no such package", p)
		}
	}
}

// TestFloors: below internal, a package imports its own floor and those before it, and only tests and tools import what
// serves tests.
func TestFloors(t *testing.T) {
	floors := []string{"internal/base", "internal/exchange", "internal/engine", "internal/front"}
	floor := func(p string) int {
		return slices.IndexFunc(floors, func(f string) bool { return strings.HasPrefix(p, f+"/") })
	}
	const testing = "internal/testing/"
	packages, allowed := importTable(t)
	seen := 0
	for _, p := range packages {
		if strings.HasPrefix(p, "internal/") && floor(p) < 0 && !strings.HasPrefix(p, testing) {
			t.Errorf("%s stands on no floor: %s or %s", p, strings.Join(floors, ", "), testing)
		}
		for _, imported := range allowed[p] {
			if p == root {
				continue // its row says that it may import all, which it does not
			}
			if strings.HasPrefix(imported, testing) && !strings.HasPrefix(p, testing) {
				t.Errorf("%s imports %s, which serves tests", p, imported)
			}
			if floor(p) >= 0 && floor(imported) > floor(p) {
				t.Errorf("%s imports %s, which stands on a higher floor", p, imported)
			}
			seen++
		}
	}
	if seen < 100 {
		t.Fatalf("%d imports: the test checks nothing", seen)
	}
}
