package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A build takes much longer than the tests that notice a change. So changes are woven into one program, which makes
// the one whose number it finds in its environment: for a < b that is to be a <= b in change 7,
//
//	func() bool { if mutantIs(7) { return a <= b }; return a < b }()
//
// This needs the types of expressions. Where it leads to no valid program, as in the length of an array, a change is
// built by itself.

// weaver puts changes into the files of a package.
type weaver struct {
	set   *token.FileSet
	texts map[string][]byte
	files map[string]*ast.File
	info  types.Info
	conf  types.Config
	path  string // of the package

	folder string
}

// newWeaver reads and checks the package in folder.
func newWeaver(folder string) (*weaver, error) {
	w := &weaver{folder: folder, set: token.NewFileSet(), texts: map[string][]byte{}, files: map[string]*ast.File{}}
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,GoFiles,DepOnly,Standard",
		"os", "strconv", ".") // the switch imports two
	list.Dir = folder
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var one struct {
			ImportPath, Export string
			GoFiles            []string
			DepOnly, Standard  bool
		}
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[one.ImportPath] = one.Export
		if one.DepOnly || one.Standard {
			continue
		}
		w.path = one.ImportPath
		for _, name := range one.GoFiles {
			path := filepath.Join(folder, name)
			if w.texts[path], err = os.ReadFile(path); err != nil {
				return nil, err
			}
		}
	}
	w.conf = types.Config{Importer: importer.ForCompiler(w.set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	w.info = types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{},
	}
	w.files, err = w.check(w.texts, &w.info)
	return w, err
}

// check parses and checks the texts of the package.
func (w *weaver) check(texts map[string][]byte, info *types.Info) (map[string]*ast.File, error) {
	files, list := map[string]*ast.File{}, []*ast.File(nil)
	for path, text := range texts {
		f, err := parser.ParseFile(w.set, path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files[path], list = f, append(list, f)
	}
	_, err := w.conf.Check(w.path, w.set, list, info)
	return files, err
}

// switchFile is the file that tells woven code which change is to be made.
const switchFile = `package %s

import (
	"os"
	"strconv"
)

var mutantNow, _ = strconv.Atoi(os.Getenv("MUTANT"))

func mutantIs(k int) bool { return mutantNow == k }
`

// weave returns the texts with all changes of list, numbered from 1, and the numbers of those that have to be built by
// themselves.
func (w *weaver) weave(list []mutant) (texts map[string][]byte, alone []int) {
	chosen := map[int]mutant{}
	texts = w.with(chosen)
	for i, m := range list {
		chosen[i+1] = m
		more := w.with(chosen)
		if _, err := w.check(more, nil); err != nil {
			delete(chosen, i+1)
			alone = append(alone, i+1)
			continue
		}
		texts = more
	}
	return texts, alone
}

// with returns the texts of the package with the chosen changes, by their numbers.
func (w *weaver) with(chosen map[int]mutant) map[string][]byte {
	texts := map[string][]byte{}
	name := ""
	for path, text := range w.texts {
		texts[path] = text
		name = w.files[path].Name.Name
		its := map[int]mutant{}
		for k, m := range chosen {
			if m.path == path {
				its[k] = m
			}
		}
		if len(its) > 0 {
			p := &patch{weaver: w, text: text, start: w.files[path].FileStart, its: its, path: path}
			texts[path] = []byte(p.render(0, len(text), w.files[path]))
		}
	}
	texts[filepath.Join(w.folder, "mutant_switch.go")] = fmt.Appendf(nil, switchFile, name)
	return texts
}

// patch writes one file anew.
type patch struct {
	*weaver
	text  []byte
	start token.Pos
	path  string
	its   map[int]mutant
}

func (p *patch) at(x token.Pos) int { return int(x - p.start) }

// of returns the numbers of the changes that begin at an offset, in order.
func (p *patch) of(at int, was string) (list []int) {
	for k, m := range p.its {
		if m.from == at && m.was == was {
			list = append(list, k)
		}
	}
	slices.Sort(list)
	return list
}

// render returns the text from one offset to another, where root is all that it has.
func (p *patch) render(from, to int, root ast.Node) string {
	var out strings.Builder
	put := func(end int) {
		out.Write(p.text[from:end])
		from = end
	}
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil || n == root {
			return n != nil
		}
		if text, ok := p.node(n); ok {
			put(p.at(n.Pos()))
			out.WriteString(text)
			from = p.at(n.End())
			return false
		}
		return true
	})
	put(to)
	return out.String()
}

// inner returns the text of a node with the changes within.
func (p *patch) inner(n ast.Node) string {
	if text, ok := p.node(n); ok {
		return text
	}
	return p.render(p.at(n.Pos()), p.at(n.End()), n)
}

// node returns the text of n with changes of n itself, and whether there are any.
func (p *patch) node(n ast.Node) (string, bool) {
	whole := string(p.text[p.at(n.Pos()):p.at(n.End())])
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return p.choice(n, p.of(p.at(n.OpPos), n.Op.String()), func(op string) string {
			return "(" + p.inner(n.X) + ") " + op + " (" + p.inner(n.Y) + ")"
		}, n.Op.String())
	case *ast.BasicLit:
		return p.choice(n, p.of(p.at(n.Pos()), whole), func(s string) string { return s }, whole)
	case *ast.Ident:
		return p.choice(n, p.of(p.at(n.Pos()), whole), func(s string) string { return s }, whole)
	case *ast.IncDecStmt:
		ks := p.of(p.at(n.TokPos), n.Tok.String())
		if len(ks) == 0 {
			return "", false
		}
		return fmt.Sprintf("%s %s= func() %s { if mutantIs(%d) { return -1 }; return 1 }()", p.inner(n.X),
			n.Tok.String()[:1], p.typeOf(n.X), ks[0]), true
	case *ast.BranchStmt:
		if ks := p.of(p.at(n.TokPos), n.Tok.String()); n.Label == nil && len(ks) > 0 {
			return fmt.Sprintf("if mutantIs(%d) { %s }; %s", ks[0], p.its[ks[0]].other, whole), true
		}
	case *ast.AssignStmt:
		none, ops := p.of(p.at(n.Pos()), whole), p.of(p.at(n.TokPos), n.Tok.String())
		var text string
		switch {
		case len(ops) > 0:
			x := p.inner(n.Lhs[0])
			var b strings.Builder
			for _, k := range ops {
				fmt.Fprintf(&b, "if mutantIs(%d) { return %s %s (%s) }; ", k, x, p.its[k].other[:1], p.inner(n.Rhs[0]))
			}
			text = fmt.Sprintf("%s = func() %s { %sreturn %s %s (%s) }()", x, p.typeOf(n.Lhs[0]), b.String(), x,
				n.Tok.String()[:1], p.inner(n.Rhs[0]))
		case len(none) > 0:
			text = p.render(p.at(n.Pos()), p.at(n.End()), n)
		default:
			return "", false
		}
		for _, k := range none {
			text = fmt.Sprintf("if !mutantIs(%d) { %s }", k, text)
		}
		return text, true
	case *ast.ExprStmt:
		if ks := p.of(p.at(n.Pos()), whole); len(ks) > 0 {
			return fmt.Sprintf("if !mutantIs(%d) { %s }", ks[0], p.inner(n.X)), true
		}
	case *ast.IfStmt:
		cond := string(p.text[p.at(n.Cond.Pos()):p.at(n.Cond.End())])
		for _, k := range p.of(p.at(n.Cond.Pos()), cond) {
			if p.its[k].other != "!("+cond+")" {
				continue
			}
			text := "if "
			if n.Init != nil {
				text += p.inner(n.Init) + "; "
			}
			text += fmt.Sprintf("(%s) != mutantIs(%d) ", p.inner(n.Cond), k) + p.inner(n.Body)
			if n.Else != nil {
				text += " else " + p.inner(n.Else)
			}
			return text, true
		}
	}
	return "", false
}

// choice returns an expression that is of(was), and of(other) in each of the changes ks.
func (p *patch) choice(n ast.Expr, ks []int, of func(string) string, was string) (string, bool) {
	var b strings.Builder
	for _, k := range ks {
		if m := p.its[k]; !strings.HasPrefix(m.other, "!(") {
			fmt.Fprintf(&b, "if mutantIs(%d) { return %s }; ", k, of(m.other))
		}
	}
	if b.Len() == 0 {
		return "", false
	}
	return fmt.Sprintf("func() %s { %sreturn %s }()", p.typeOf(n), b.String(), of(was)), true
}

// typeOf writes the type of an expression as the file would.
func (p *patch) typeOf(n ast.Expr) string {
	return types.TypeString(types.Default(p.info.TypeOf(n)), func(other *types.Package) string {
		if other.Path() == p.weaver.path {
			return ""
		}
		return other.Name()
	})
}
