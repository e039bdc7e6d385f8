package odes_test

import (
	"bufio"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateHouse = flag.Bool("update-house", false, "rewrite testdata/house.txt, where numbers have become smaller")

// Limits of the house. What is above them today stands in testdata/house.txt with its number, which may only fall.
const (
	mostRootFiles, mostRootLines, mostRootTests = 12, 3000, 20
	mostFiles, mostLines                        = 60, 12000 // of a package
	mostFields, mostMethods                     = 25, 60    // of a type
	mostBranches                                = 30        // of a function: its cyclomatic complexity
)

// TestHouse holds the sizes of packages, types and functions against limits. What is over a limit and was not before,
// or has grown, fails; what has shrunk must be written down (go test . -run TestHouse -update-house).
func TestHouse(t *testing.T) {
	now := measureHouse(t)
	path := filepath.Join("testdata", "house.txt")
	was := map[string]int{}
	if text, err := os.ReadFile(path); err == nil {
		for s := bufio.NewScanner(strings.NewReader(string(text))); s.Scan(); {
			var what string
			var n int
			if _, err := fmt.Sscan(s.Text(), &n, &what); err != nil {
				t.Fatalf("%s: %q", path, s.Text())
			}
			was[what] = n
		}
	}
	var lines []string
	for what, n := range now {
		old, known := was[what]
		if *updateHouse && (len(was) == 0 || known && n <= old) {
			lines = append(lines, fmt.Sprintf("%d %s", n, what))
			continue
		}
		switch {
		case !known:
			t.Errorf("%s is %d: over the limit, and was not before; split it", what, n)
		case n > old:
			t.Errorf("%s has grown from %d to %d; it may only shrink", what, old, n)
		case n < old:
			t.Errorf("%s has shrunk from %d to %d: go test . -run TestHouse -update-house", what, old, n)
		}
	}
	for what := range was {
		if now[what] == 0 && !*updateHouse {
			t.Errorf("%s is within the limit now: -update-house", what)
		}
	}
	if *updateHouse && !t.Failed() {
		slices.Sort(lines)
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// measureHouse returns all that is over a limit, with its number.
func measureHouse(t *testing.T) map[string]int {
	files, lines, fields, methods := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	over := map[string]int{}
	note := func(what string, n, most int) {
		if n > most {
			over[strings.ReplaceAll(what, " ", "·")] = n
		}
	}
	tests := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); path != "." && (strings.HasPrefix(n, ".") || strings.HasPrefix(n, "_") ||
				n == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		if strings.HasSuffix(path, "_test.go") && dir == "." {
			tests++
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil || ast.IsGenerated(f) {
			return err
		}
		files[dir]++
		lines[dir] += set.Position(f.FileEnd).Line
		for _, x := range f.Decls {
			switch x := x.(type) {
			case *ast.GenDecl:
				for _, s := range x.Specs {
					if s, is := s.(*ast.TypeSpec); is {
						if st, is := s.Type.(*ast.StructType); is {
							fields[dir+"."+s.Name.Name] = st.Fields.NumFields()
						}
					}
				}
			case *ast.FuncDecl:
				name := dir + "." + x.Name.Name
				if x.Recv != nil {
					of := dir + "." + receiver(x.Recv.List[0].Type)
					methods[of]++
					name = of + "." + x.Name.Name
				}
				note("branches "+name, branches(x), mostBranches)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, n := range files {
		if dir == "." {
			note("root files", n, mostRootFiles)
			note("root lines", lines[dir], mostRootLines)
			continue
		}
		note("files "+dir, n, mostFiles)
		note("lines "+dir, lines[dir], mostLines)
	}
	note("root tests", tests, mostRootTests)
	for x, n := range fields {
		note("fields "+x, n, mostFields)
	}
	for x, n := range methods {
		note("methods "+x, n, mostMethods)
	}
	return over
}

// receiver returns the name of the type that a method belongs to.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// branches returns the cyclomatic complexity of f, closures included.
func branches(f *ast.FuncDecl) int {
	n := 1
	ast.Inspect(f, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if x.List != nil {
				n++
			}
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
