package typecheck

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/stdlib"
)

// module is a file whose functions, consts and units others use. The model itself is no module: its
// names are in checker.globals.
type module struct {
	path    string
	names   map[string]*entity
	own     []*entity // declared in the file, in order
	loading bool
	failed  bool
}

// builtin is the module in which the definitions of the function table are elaborated. A model's
// own names must not change what they mean.
var builtin = &module{names: map[string]*entity{}}

// namesOf returns the global names that are visible in x.
func (c *checker) namesOf(x context) map[string]*entity {
	if x.module != nil {
		return x.module.names
	}
	return c.globals
}

// meant says which name of a module an unknown one may be.
func (m *module) meant(d *diag.Diagnostic, name string) {
	var known []string
	for _, e := range m.own {
		known = append(known, e.name)
	}
	d.Message += diag.DidYouMean(name, known)
}

// imports brings the names of an import into names.
func (c *checker) imports(it *ast.Import, names map[string]*entity, dir string) {
	m := c.module(it, dir)
	enter := func(id ast.Ident, e *entity) {
		if old, ok := names[id.Name]; ok {
			if old != e {
				c.errorf(CodeDuplicate, id.Span, "%q is declared already; import it under another name: import "+
					"%q as lib", id.Name, it.Path.Value).Relate(old.span, "declared here as %s", old.kind)
			}
			return
		}
		names[id.Name] = e
	}
	unknown := func(id ast.Ident) {
		if id.Name != "" && names[id.Name] == nil {
			names[id.Name] = &entity{name: id.Name, kind: laterName, span: id.Span, stage: 2}
		}
	}
	switch {
	case it.As != nil && m == nil:
		unknown(*it.As)
	case it.As != nil:
		enter(*it.As, &entity{name: it.As.Name, kind: moduleName, span: it.As.Span, stage: 2, module: m})
	case len(it.Names) > 0:
		for _, id := range it.Names {
			if m == nil {
				unknown(id)
				continue
			}
			if e := m.names[id.Name]; e != nil && e.kind != laterName {
				enter(id, e)
				continue
			}
			if c.units[id.Name] != nil {
				continue // units of all files are visible everywhere
			}
			if !m.failed {
				c.errorf(CodeUndefined, id.Span, "%q declares no function, const or unit %q", it.Path.Value,
					id.Name).Later(func(d *diag.Diagnostic) { m.meant(d, id.Name) })
			}
			unknown(id)
		}
	case m != nil:
		for _, e := range m.own {
			enter(ast.Ident{At: it.At, Name: e.name}, e)
		}
	}
}

// module reads the file of an import. It returns nil after an error.
func (c *checker) module(it *ast.Import, dir string) *module {
	name := it.Path.Value
	full := name
	if !strings.HasPrefix(name, "std/") {
		full = path.Join(dir, name)
	}
	if m, ok := c.modules[full]; ok {
		if m != nil && m.loading {
			c.errorf(CodeCycle, it.Path.Span, "%q imports itself, directly or through another file", name)
			return nil
		}
		return m
	}
	c.modules[full] = nil
	text, ok := stdlib.Module(full)
	if !ok {
		b, err := input.Read(c.env.Files, full, input.MaxText)
		switch {
		case strings.HasPrefix(name, "std/"):
			d := c.errorf(CodeFile, it.Path.Span, "there is no standard module %q; there are %s", name,
				strings.Join(stdlib.Modules(), ", "))
			var known []string
			for _, m := range stdlib.Modules() {
				known = append(known, path.Base(m))
			}
			if best := nearest(path.Base(name), known); best != "" {
				best = "std/" + best
				d.Message = fmt.Sprintf("there is no standard module %q; did you mean %q?", name, best)
				d.Fix(it.Path.Span, strconv.Quote(best), "write "+best)
			}
			return nil
		case err != nil:
			c.fileError(it.Path.Span, name, err)
			return nil
		}
		text = string(b)
	}
	if len(c.modules) > 1000 {
		c.errorf(CodeSize, it.Path.Span, "more than 1000 files are imported")
		return nil
	}
	m := &module{path: full, names: map[string]*entity{}, loading: true}
	c.modules[full] = m
	before := c.list.Len()
	tree := parser.Parse(source.NewFile(full, text), c.list)
	m.failed = c.list.Len() > before
	c.collectModule(m, tree)
	m.loading = false
	return m
}

// collectModule declares the functions, consts and units of a file. The other items of the file do
// not matter to those who import it.
func (c *checker) collectModule(m *module, tree *ast.File) {
	enter := func(id ast.Ident, e *entity) {
		if id.Name == "" {
			return
		}
		if old, ok := m.names[id.Name]; ok {
			c.errorf(CodeDuplicate, id.Span, "%q is declared twice; rename one of them", id.Name).
				Relate(old.span, "declared here as %s", old.kind)
			return
		}
		e.name, e.span, e.home = id.Name, id.Span, m
		m.names[id.Name] = e
		m.own = append(m.own, e)
	}
	var imports []*ast.Import
	for _, item := range tree.Items {
		switch it := item.(type) {
		case *ast.Import:
			imports = append(imports, it)
		case *ast.UnitDecl:
			c.declareUnit(it)
		case *ast.Fn:
			enter(it.Name, &entity{kind: fnName, fn: it, doc: it.Doc})
		case *ast.Decl:
			if it.Kind != ast.Const {
				continue
			}
			for _, v := range it.Vars {
				enter(v.Name, &entity{kind: constName, variable: v, doc: v.Doc})
			}
		}
	}
	for _, it := range imports {
		c.imports(it, m.names, path.Dir(m.path))
	}
}

func (c *checker) declareUnit(it *ast.UnitDecl) {
	if old, ok := c.units[it.Name.Name]; ok {
		if old.decl != it {
			c.errorf(CodeDuplicate, it.Name.Span, "unit %q is declared twice", it.Name.Name).
				Relate(old.decl.Name.Span, "declared here")
		}
		return
	}
	c.units[it.Name.Name] = &unitEntity{decl: it}
}

// moduleOf returns the module that e names, as in kin.hill, or nil.
func (c *checker) moduleOf(x context, e ast.Expr) (*module, bool) {
	n, ok := strip(e).(*ast.Name)
	if !ok || x.scope.find(n.Name) != nil {
		return nil, false
	}
	g := c.namesOf(x)[n.Name]
	if g == nil || g.kind != moduleName && g.kind != laterName {
		return nil, false
	}
	return g.module, true
}

// inModule finds a name of a module, or reports that it is not there.
func (c *checker) inModule(m *module, id ast.Ident, kind entityKind) *entity {
	e := m.names[id.Name]
	switch {
	case e == nil || !slices.Contains(m.own, e):
		if m.failed {
			return nil
		}
		c.errorf(CodeUndefined, id.Span, "%s declares no %q", m.path, id.Name).
			Later(func(d *diag.Diagnostic) { m.meant(d, id.Name) })
		return nil
	case e.kind != kind:
		c.errorf(CodeKind, id.Span, "%q is %s of %s", id.Name, e.kind, m.path).Relate(e.span, "declared here")
		return nil
	}
	return e
}
