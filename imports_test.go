package odes_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// imports is the table of docs/architecture.md: which packages of odes each
// package may import, outside of tests. A package that is not here, and an
// import that is not in its row, fail the test; so does a row without a package.
var imports = map[string]string{
	"lang/source":        "",
	"lang/diag":          "lang/source internal/screen",
	"lang/units":         "internal/elem",
	"lang/types":         "lang/units",
	"lang/ast":           "lang/source",
	"parser":             "lang/ast lang/diag lang/source",
	"internal/elem":      "",
	"internal/screen":    "",
	"internal/simd":      "internal/elem",
	"data":               "",
	"stdlib":             "lang/ast lang/diag lang/source lang/types lang/units parser tape internal/elem",
	"typecheck":          "lang/ast lang/diag lang/source lang/types lang/units parser stdlib data internal/elem",
	"tape":               "lang/source internal/elem",
	"tape/tapetest":      "tape internal/elem",
	"tapec":              "lang/ast lang/diag lang/source lang/types parser stdlib tape typecheck internal/elem",
	"vm":                 "tape internal/elem internal/simd vm/internal/*",
	"vm/internal/*":      "tape internal/elem internal/simd vm/internal/*",
	"vm/vmtest":          "tape tape/tapetest internal/elem",
	"solvers":            "internal/elem internal/simd",
	"solvers/solvertest": "solvers",
	"sens":               "solvers internal/elem",
	"internal/system":    "lang/diag lang/source solvers sens tape tapec typecheck vm internal/elem internal/simd",
	"internal/explain":   "lang/diag lang/source internal/system solvers sens tape tapec typecheck",
	"internal/compile":   "lang/ast lang/diag lang/source parser typecheck internal/settings internal/system",
	"internal/settings":  "lang/diag lang/source parser typecheck solvers sens internal/elem",
	"":                   "*", // the root imports everything but what stands on it, see above
	"help":               "parser sens solvers stdlib typecheck internal/screen",
	"plot":               "internal/screen",
	"repl": ". internal/compile internal/report internal/screen lang/ast lang/diag lang/source " +
		"parser plot",
	"internal/report": ". data internal/screen",
	"lsp": ". help internal/compile internal/settings lang/ast lang/diag lang/source lang/types parser " +
		"stdlib typecheck",
	"bench": ". plot",
	"cmd/odes": ". help lsp repl plot parser internal/compile internal/settings internal/report internal/screen " +
		"lang/diag",
}

// above lists what stands on the root package: nothing below may import it.
var above = []string{"help", "lsp", "plot", "repl", "internal/report", "cmd/odes", "bench"}

const module = "odes.dev/odes"

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != "." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata") {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != "." {
				return filepath.SkipDir // a module of its own
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		if pkg == "." {
			pkg = ""
		}
		row, allowed := rowOf(pkg)
		if row == "none" {
			t.Errorf("%s: package %q is not in the table; add it here and to docs/architecture.md", path, pkg)
			return nil
		}
		seen[row] = true
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if imported == module {
				imported = module + "/."
			}
			of, ours := strings.CutPrefix(imported, module+"/")
			if !ours {
				continue
			}
			if !mayImport(allowed, of) {
				t.Errorf("%s: %q must not import %q", path, pkg, of)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) < 10 {
		t.Fatalf("found only %d packages: the test checks nothing", len(seen))
	}
	for row := range imports {
		if !seen[row] {
			t.Errorf("the table has a row for %q, but there is no such package", row)
		}
	}
}

// rowOf finds the row of a package and what it may import.
func rowOf(pkg string) (row string, allowed []string) {
	for row, list := range imports {
		if matches(row, pkg) {
			return row, strings.Fields(list)
		}
	}
	return "none", nil
}

func matches(pattern, pkg string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok && prefix != "" {
		return strings.HasPrefix(pkg, prefix)
	}
	return pattern == pkg
}

func mayImport(allowed []string, pkg string) bool {
	if slices.Equal(allowed, []string{"*"}) {
		return !slices.Contains(above, pkg)
	}
	return slices.ContainsFunc(allowed, func(p string) bool { return matches(p, pkg) })
}
