package elem

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// numeric lists the packages whose floating-point operations reach results. In the strict ones
// every product must be rounded where it stands. In the others only products that meet an addition
// must be.
var numeric = []struct {
	dir    string
	strict bool
}{
	{"internal/base/elem", true},
	{"internal/base/simd", true},
	{"vm", true},
	{"tape", false},
	{"tapec", false},
	{"solvers", false},
	{"solvers/matrices", false},
	{"solvers/stages", false},
	{"solvers/explicit", false},
	{"solvers/implicit", false},
	{"solvers/rosenbrock", false},
	{"solvers/hybrid", false},
	{"solvers/lanes", false},
	{"solvers/record", false},
	{"solvers/roots", false},
	{"sens", false},
	{"typecheck", false},
	{"stdlib", false},
}

// exactMath lists what in package math is the same on every machine: exact or correctly rounded
// operations, bit casts and constants.
var exactMath = map[string]bool{
	"Sqrt": true, "FMA": true, "Abs": true, "Floor": true, "Ceil": true, "Trunc": true, "RoundToEven": true,
	"Copysign": true, "Signbit": true, "NaN": true, "Inf": true, "IsNaN": true, "IsInf": true,
	"Float64bits": true, "Float64frombits": true, "Float32bits": true, "Float32frombits": true,
	"Ldexp": true, "Frexp": true, "Nextafter": true, "Mod": true,
	// For numbers without NaN or zeros of both signs these are plain comparisons.
	"Min": true, "Max": true,
}

// fused is one violation.
type fused struct {
	pos  token.Position
	what string
}

// scanner type-checks packages of the module from source. Packages outside the
// standard library are replaced by empty ones: what comes from them has no
// type and is not judged.
type scanner struct {
	fset *token.FileSet
	root string
	std  types.Importer
	done map[string]*types.Package
}

func newScanner(root string) *scanner {
	if build.Default.GOROOT == "" { // a test built with -trimpath does not know where the standard library is
		if out, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
			build.Default.GOROOT = strings.TrimSpace(string(out))
		}
	}
	fset := token.NewFileSet()
	return &scanner{fset, root, importer.ForCompiler(fset, "source", nil), map[string]*types.Package{}}
}

const module = "odes.dev/odes/"

// Import implements types.Importer.
func (s *scanner) Import(path string) (*types.Package, error) {
	if p := s.done[path]; p != nil {
		return p, nil
	}
	p := types.NewPackage(path, path[strings.LastIndexByte(path, '/')+1:])
	switch {
	case path == "math" || path == "math/bits" || path == "math/big" || path == "sort" || path == "slices":
		if q, err := s.std.Import(path); err == nil {
			p = q
		}
	case strings.HasPrefix(path, module):
		p, _, _ = s.check(strings.TrimPrefix(path, module))
	default:
		p.MarkComplete()
	}
	s.done[path] = p
	return p, nil
}

// check parses and type-checks the non-test files of a directory of the
// module, ignoring type errors.
func (s *scanner) check(dir string) (*types.Package, []*ast.File, *types.Info) {
	var files []*ast.File
	names, _ := filepath.Glob(filepath.Join(s.root, dir, "*.go"))
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if f, err := parser.ParseFile(s.fset, name, nil, parser.SkipObjectResolution|parser.ParseComments); err == nil {
			files = append(files, f)
		}
	}
	return s.checkFiles(dir, files)
}

func (s *scanner) checkFiles(dir string, files []*ast.File) (*types.Package, []*ast.File, *types.Info) {
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Defs:  map[*ast.Ident]types.Object{},
		Uses:  map[*ast.Ident]types.Object{},
	}
	conf := types.Config{Importer: s, Error: func(error) {}}
	p, _ := conf.Check(module+dir, s.fset, files, info)
	return p, files, info
}

// violations returns what in a checked package may round differently elsewhere.
func (s *scanner) violations(files []*ast.File, info *types.Info, strict bool) []fused {
	var out []fused
	report := func(n ast.Node, format string, args ...any) {
		out = append(out, fused{s.fset.Position(n.Pos()), fmt.Sprintf(format, args...)})
	}
	kind := func(e ast.Expr, want types.BasicInfo) bool {
		tv, ok := info.Types[e]
		if !ok || tv.Value != nil || tv.Type == nil {
			return false
		}
		b, ok := tv.Type.Underlying().(*types.Basic)
		return ok && b.Info()&want != 0
	}
	// product reports whether e is a bare product of floats.
	var product func(e ast.Expr) bool
	product = func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.ParenExpr:
			return product(e.X)
		case *ast.UnaryExpr:
			return product(e.X)
		case *ast.BinaryExpr:
			if !strict && (exact(info, e.X) || exact(info, e.Y)) {
				return false
			}
			return e.Op == token.MUL && kind(e, types.IsFloat)
		}
		return false
	}
	// fromMath returns the name of a function of package math or math/cmplx.
	fromMath := func(e ast.Expr) (string, bool) {
		sel, ok := e.(*ast.SelectorExpr)
		if !ok {
			return "", false
		}
		id, ok := sel.X.(*ast.Ident)
		if !ok {
			return "", false
		}
		pkg, ok := info.Uses[id].(*types.PkgName)
		if !ok {
			return "", false
		}
		switch pkg.Imported().Path() {
		case "math":
			return sel.Sel.Name, true
		case "math/cmplx":
			if sel.Sel.Name == "IsNaN" || sel.Sel.Name == "IsInf" {
				return "IsNaN", true
			}
			return "cmplx." + sel.Sel.Name, true
		}
		return "", false
	}
	for _, f := range files {
		for _, imp := range f.Imports {
			if strings.HasPrefix(imp.Path.Value, `"math/rand`) {
				report(imp, "import of %s", imp.Path.Value)
			}
		}
		tainted := map[types.Object]ast.Node{} // local variables that hold a bare product
		assign := func(lhs, rhs ast.Expr) {
			id, ok := lhs.(*ast.Ident)
			if !ok || !product(rhs) {
				return
			}
			if o := info.Defs[id]; o != nil {
				tainted[o] = rhs
			} else if o := info.Uses[id]; o != nil {
				tainted[o] = rhs
			}
		}
		var stack []ast.Node
		inspect := func(visit func(n, parent ast.Node)) {
			ast.Inspect(f, func(n ast.Node) bool {
				if n == nil {
					stack = stack[:len(stack)-1]
					return true
				}
				var parent ast.Node
				for i := len(stack) - 1; i >= 0; i-- {
					parent = stack[i]
					if _, ok := parent.(*ast.ParenExpr); ok {
						continue
					}
					if u, ok := parent.(*ast.UnaryExpr); ok && u.Op == token.SUB {
						continue
					}
					break
				}
				visit(n, parent)
				stack = append(stack, n)
				return true
			})
		}
		inspect(func(n, parent ast.Node) {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				name, ok := fromMath(n)
				if _, isConst := info.Uses[n.Sel].(*types.Const); ok && !isConst && !exactMath[name] {
					report(n, "math.%s", name)
				}
			case *ast.AssignStmt:
				if n.Tok == token.MUL_ASSIGN && kind(n.Lhs[0], types.IsFloat) {
					if id, ok := n.Lhs[0].(*ast.Ident); ok && (strict || !exact(info, n.Rhs[0])) {
						if strict {
							report(n, "unrounded product in *=")
						} else if o := info.Uses[id]; o != nil {
							tainted[o] = n
						}
					}
				}
				if len(n.Lhs) == len(n.Rhs) {
					for i := range n.Lhs {
						if n.Tok == token.ASSIGN || n.Tok == token.DEFINE {
							assign(n.Lhs[i], n.Rhs[i])
						}
						if (n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN) && product(n.Rhs[i]) && !strict {
							report(n, "product in %s without float64(…)", n.Tok)
						}
					}
				}
			case *ast.ValueSpec:
				if len(n.Names) == len(n.Values) {
					for i := range n.Names {
						assign(n.Names[i], n.Values[i])
					}
				}
			case *ast.BinaryExpr:
				switch {
				case (n.Op == token.MUL || n.Op == token.QUO) && kind(n, types.IsComplex):
					report(n, "complex %s, which may be fused inside", n.Op)
				case strict && n.Op == token.MUL && kind(n, types.IsFloat) && !roundedBy(parent, info, fromMath):
					report(n, "product without float64(…)")
				case !strict && (n.Op == token.ADD || n.Op == token.SUB) && (product(n.X) || product(n.Y)):
					report(n, "product beside %s without float64(…)", n.Op)
				}
			}
		})
		inspect(func(n, _ ast.Node) {
			use := func(e ast.Expr) {
				for {
					if p, ok := e.(*ast.ParenExpr); ok {
						e = p.X
					} else if u, ok := e.(*ast.UnaryExpr); ok {
						e = u.X
					} else {
						break
					}
				}
				if id, ok := e.(*ast.Ident); ok {
					if from := tainted[info.Uses[id]]; from != nil {
						report(from, "product kept in %s without float64(…) meets an addition", id.Name)
						delete(tainted, info.Uses[id])
					}
				}
			}
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op == token.ADD || n.Op == token.SUB {
					use(n.X)
					use(n.Y)
				}
			case *ast.AssignStmt:
				if n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN {
					use(n.Lhs[0])
					use(n.Rhs[0])
				}
			}
		})
	}
	return out
}

// exact reports whether e is a constant power of two: a product with it has
// nothing to round, fused or not, short of underflow.
func exact(info *types.Info, e ast.Expr) bool {
	v := info.Types[e].Value
	if v == nil || v.Kind() != constant.Int && v.Kind() != constant.Float {
		return false
	}
	f, _ := constant.Float64Val(v)
	m, _ := math.Frexp(math.Abs(f))
	return m == 0.5
}

// roundedBy reports whether parent cannot fuse a product it contains with an
// addition.
func roundedBy(parent ast.Node, info *types.Info, fromMath func(ast.Expr) (string, bool)) bool {
	switch p := parent.(type) {
	case *ast.BinaryExpr:
		return p.Op != token.ADD && p.Op != token.SUB
	case *ast.CallExpr:
		if tv, ok := info.Types[p.Fun]; ok && tv.IsType() {
			return true
		}
		_, ok := fromMath(p.Fun)
		return ok
	}
	return false
}

// TestNoUnportableMath fails on floating-point code that could give different bits on another
// machine: functions of package math with an assembly version or unspecified rounding, and products
// that a compiler may fuse with an addition.
func TestNoUnportableMath(t *testing.T) {
	s := newScanner(filepath.Join("..", "..", ".."))
	for _, n := range numeric {
		_, files, info := s.check(n.dir)
		if len(files) == 0 {
			if n.dir == "internal/base/elem" {
				t.Fatal("nothing to scan")
			}
			continue
		}
		for _, v := range s.violations(files, info, n.strict) {
			rel, _ := filepath.Rel(s.root, v.pos.Filename)
			t.Errorf("%s:%d:%d: %s", filepath.ToSlash(rel), v.pos.Line, v.pos.Column, v.what)
		}
	}
}

// TestScannerCatches plants each kind of violation and wants it found, and
// nothing else.
func TestScannerCatches(t *testing.T) {
	src := `package p
import "math"
import "math/cmplx"
func f(x, y, z float64, c complex128, n, m int, a []float64) float64 {
	_ = math.Exp(x)          // WANT
	_ = math.Pi * 2
	_ = x*y + z              // WANT
	_ = z - (x * y)          // WANT
	_ = z + -(x * y)         // WANT
	_ = float64(x*y) + z
	_ = math.FMA(x, y, z)
	_ = n*m + n
	_ = 2*math.Pi + x
	z += x * y               // WANT
	t := x * y               // WANT
	u := float64(x * y)
	w := x * y
	a[0] = x * y
	_ = t + u
	_ = w / 2
	_ = c * c                // WANT
	_ = cmplx.Abs(c)         // WANT
	_ = cmplx.IsNaN(c)
	v := x
	v *= y                   // WANT
	s := 1.0
	s *= 2
	_ = 2*x + s
	return v + 1
}
`
	s := newScanner(filepath.Join("..", "..", ".."))
	f, err := parser.ParseFile(s.fset, "p.go", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	_, files, info := s.checkFiles("p", []*ast.File{f})
	want := map[int]bool{}
	for i, line := range strings.Split(src, "\n") {
		if strings.HasSuffix(line, "// WANT") {
			want[i+1] = true
		}
	}
	for _, v := range s.violations(files, info, false) {
		if !want[v.pos.Line] {
			t.Errorf("line %d: unexpected %s", v.pos.Line, v.what)
		}
		delete(want, v.pos.Line)
	}
	for line := range want {
		t.Errorf("line %d: not found", line)
	}
	if _, err := os.Stat(filepath.Join(s.root, "go.mod")); err != nil {
		t.Errorf("the scan starts at the wrong place: %v", err)
	}
}
