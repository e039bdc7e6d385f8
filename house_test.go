package odes_test

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateHouse = flag.Bool("update-house", false, "rewrite testdata/house.txt, where numbers have become smaller")

// Limits of the house. What is above them today stands in testdata/house.txt with its number, which may only fall.
const (
	mostRootFiles, mostRootLines, mostRootTests = 12, 3000, 20
	mostUpward                                  = 20        // see upward
	mostFiles, mostLines                        = 60, 12000 // of a package
	mostCircle                                  = 25        // files of a package that all depend on each other
	mostFields, mostMethods                     = 25, 60    // of a type
	mostBranches                                = 30        // of a function: its cyclomatic complexity
)

// TestHouse holds the sizes of packages, types and functions against limits. What is over a limit and was not before,
// or has grown, fails; what has shrunk must be written down (go test . -run TestHouse -update-house).
func TestHouse(t *testing.T) {
	now := measureHouse(t)
	list := filepath.Join("testdata", "house.txt")
	was := map[string]int{}
	if text, err := os.ReadFile(list); err == nil {
		for s := bufio.NewScanner(strings.NewReader(string(text))); s.Scan(); {
			var what string
			var n int
			if _, err := fmt.Sscan(s.Text(), &n, &what); err != nil {
				t.Fatalf("%s: %q", list, s.Text())
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
		if err := os.WriteFile(list, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// measureHouse returns all that is over a limit, with its number.
func measureHouse(t *testing.T) map[string]int {
	lines, fields, methods := map[string]int{}, map[string]int{}, map[string]int{}
	over := map[string]int{}
	note := func(what string, n, most int) {
		if n > most {
			over[strings.ReplaceAll(what, " ", "·")] = n
		}
	}
	tests := 0
	imports := map[string]map[string]bool{} // of packages, by folders
	set := token.NewFileSet()
	files := map[string][]*ast.File{} // of packages
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); name != "." && (strings.HasPrefix(n, ".") || strings.HasPrefix(n, "_") ||
				n == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		dir := filepath.ToSlash(filepath.Dir(name))
		if strings.HasSuffix(name, "_test.go") && dir == "." {
			tests++
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil || ast.IsGenerated(f) {
			return err
		}
		if imports[dir] == nil {
			imports[dir] = map[string]bool{}
		}
		for _, of := range imported(f) {
			imports[dir][of] = true
		}
		files[dir] = append(files[dir], f)
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
				of := dir
				if x.Recv != nil {
					of = dir + "." + receiver(x.Recv.List[0].Type)
					methods[of]++
				}
				note("branches "+of+"."+x.Name.Name, branches(x), mostBranches)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, list := range files {
		note("circle "+dir, circle(set, list), mostCircle)
		if dir == "." {
			note("root files", len(list), mostRootFiles)
			note("root lines", lines[dir], mostRootLines)
			continue
		}
		note("files "+dir, len(list), mostFiles)
		note("lines "+dir, lines[dir], mostLines)
	}
	note("root tests", tests, mostRootTests)
	note("root upward", upward(set, files["."], imports), mostUpward)
	for x, n := range fields {
		note("fields "+x, n, mostFields)
	}
	for x, n := range methods {
		note("methods "+x, n, mostMethods)
	}
	return over
}

// imported returns the packages of odes that a file imports, as folders.
func imported(f *ast.File) (dirs []string) {
	for _, spec := range f.Imports {
		if of, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module); ours {
			dirs = append(dirs, cmp.Or(strings.TrimPrefix(of, "/"), "."))
		}
	}
	return dirs
}

// upward counts the pairs of files of a package of which one uses what the other declares (names, methods, fields) and
// does not stand on a higher floor. The floor of a file is the longest chain of imports below it. Between packages all
// imports go down, since Go lets none go round. Commit 6723260a had 131, in 177 pairs.
func upward(set *token.FileSet, rooms []*ast.File, imports map[string]map[string]bool) int {
	floors := map[string]int{}
	var floor func(dirs []string) int
	floor = func(dirs []string) int {
		highest := 0
		for _, of := range dirs {
			if _, known := floors[of]; !known {
				floors[of] = floor(slices.Collect(maps.Keys(imports[of])))
			}
			highest = max(highest, floors[of]+1)
		}
		return highest
	}
	at := map[*token.File]int{}
	for _, f := range rooms {
		at[set.File(f.Pos())] = floor(imported(f))
	}
	// What is imported is left empty: expressions of its types have none, and nothing of them is of the package.
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Error: func(error) {}, Importer: emptyPackages{}}
	p, _ := config.Check(module, set, rooms, info)
	pairs := map[[2]*token.File]bool{}
	for name, x := range info.Uses {
		v, is := x.(*types.Var)
		f, method := x.(*types.Func)
		inside := x.Parent() == p.Scope() || is && v.IsField() || method && f.Signature().Recv() != nil
		from, to := set.File(name.Pos()), set.File(x.Pos())
		if x.Pkg() == p && inside && from != to && at[from] <= at[to] {
			pairs[[2]*token.File{from, to}] = true
		}
	}
	return len(pairs)
}

// emptyPackages imports packages without anything in them.
type emptyPackages map[string]*types.Package

func (e emptyPackages) Import(name string) (*types.Package, error) {
	if e[name] == nil {
		e[name] = types.NewPackage(name, path.Base(name))
		e[name].MarkComplete()
	}
	return e[name], nil
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
