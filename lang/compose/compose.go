// Package compose makes one model of a model and its components. A component is a file of its own, brought by
// `import model "cell.ode" as Cell`; `use Cell as c[i] { k = kk[i] } for i in 1:10` makes copies of it. Flatten returns
// the tree of a model that says the same without `use`.
//
// What x is in a component is c.x in the model, a name with a dot, which can be written in backquotes. Of several
// copies it has their subscripts before its own: c[3].x[2] is c.x[3,2]. So each equation of a component stays one
// equation, over all copies, however many there are. What a `use` sets becomes a let in place of the param. A component
// that is itself composed is flattened first; its names with dots are then names as all others.
//
// Nothing of the model is seen in a component but what `use` sets, and nothing of a component in the model but by names
// with dots. Parts of the trees keep their places, so that errors name the file of the component.
//
// The package knows names and subscripts. It knows neither types nor values.
package compose

import (
	"io/fs"
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

// The codes of this package.
const (
	CodeComponent diag.Code = "component"       // a component that cannot be used so
	CodeFile      diag.Code = "unreadable-file" // as of data
	CodeUnknown   diag.Code = "unknown-name"    // a component has no such name
)

// The most files of a model, how deep components nest, and how many items all components bring.
const (
	maxFiles = 1000
	maxDepth = 64
	maxItems = 200000
)

// Flatten returns the tree of a model without components, or tree itself if it has none. It reports whether it could;
// its errors go to list.
func Flatten(tree *ast.File, files fs.FS, list *diag.List) (*ast.File, bool) {
	if !composed(tree) {
		return tree, true
	}
	errors := list.Errors()
	c := &composer{
		files: files, list: list, parsed: map[string]*ast.File{}, flats: map[string]*flat{},
		units: map[*ast.UnitDecl]bool{}, uses: map[*source.File]source.Span{},
		placed: map[string]bool{}, sets: map[source.Span]*ast.Var{},
	}
	flat := c.model(tree, ".")
	whole := &ast.File{
		Source: tree.Source, Items: flat.items, Comments: tree.Comments, Tokens: tree.Tokens, Copies: flat.copies,
		Uses: c.uses, Sets: c.sets,
	}
	Tell(whole, list)
	return whole, list.Errors() == errors
}

// Tell adds to each error and warning in the file of a component where that is used.
func Tell(f *ast.File, list *diag.List) {
	if len(f.Uses) == 0 {
		return
	}
	list.Each(func(d *diag.Diagnostic) {
		var chain []*source.File
		for at := d.Span.File; f.Uses[at].File != nil; at = f.Uses[at].File {
			chain = append(chain, at)
		}
		for i, at := range chain {
			use := f.Uses[at]
			near := i < 3 || i == len(chain)-1 // of many the nearest, and that in the model itself
			if near && !slices.ContainsFunc(d.Related, func(r diag.Related) bool { return r.Span == use }) {
				d.Relate(use, "%s is used here", path.Base(at.Name()))
			}
		}
	})
}

// composed reports whether a model has components, or names something of one.
func composed(tree *ast.File) bool {
	found := false
	for _, item := range tree.Items {
		switch it := item.(type) {
		case *ast.Use:
			return true
		case *ast.Import:
			found = found || it.Model
		}
	}
	if !found {
		ast.Inspect(tree, func(n ast.Node) bool {
			v, ok := n.(*ast.LValue)
			found = found || ok && v.Of != nil
			return !found
		})
	}
	return found
}

// composer holds the files of one model.
type composer struct {
	files  fs.FS
	list   *diag.List
	parsed map[string]*ast.File // by path; nil for what cannot be read
	flats  map[string]*flat     // by path
	path   []string             // of the files that are being flattened
	units  map[*ast.UnitDecl]bool
	uses   map[*source.File]source.Span // where files are used first, or imported
	placed map[string]bool              // by path: files that are used
	sets   map[source.Span]*ast.Var     // by the place of a value that a use gives
	// brought counts the items of components; full tells that they are too many.
	brought int
	full    bool
}

// flat is a model without components, with what its names are.
type flat struct {
	items []ast.Item
	names map[string]*meaning
	time  *ast.Time // nil without one
	// copies tells how many subscripts choose a copy of each component, with those of its own components.
	copies map[string]int
}

// meaning is what a name of a model stands for.
type meaning struct {
	kind  kind
	what  string // in words
	at    source.Span
	rank  int         // how many subscripts of its own an element has
	alone bool        // it is one for all copies of a component
	from  *ast.Import // that brings it, without a name for the module
	left  bool        // it stays in the component unless its data are asked for
	value ast.Expr
}

// kind tells what a `use` may do with a name.
type kind uint8

const (
	other    kind = iota // what can be read, at most
	settable             // a param or a const
	initial              // a state: its initial value can be set
	function
)

// component is a model that an import brings.
type component struct {
	tree *ast.File
	dir  string
	file string
}

// model flattens a tree whose imports are relative to dir.
func (c *composer) model(tree *ast.File, dir string) *flat {
	f := &flat{names: map[string]*meaning{}, copies: map[string]int{}}
	components := map[string]*component{}
	var items []ast.Item
	for _, item := range tree.Items {
		it, ok := item.(*ast.Import)
		if !ok || !it.Model {
			items = append(items, item)
			continue
		}
		one := c.component(it, dir)
		if one == nil {
			if it.As != nil {
				components[it.As.Name] = nil // an error was reported
			}
			continue
		}
		if components[it.As.Name] != nil {
			c.list.Errorf(CodeComponent, it.As.Span, "there are two components %q; give one another name", it.As.Name)
			continue
		}
		components[it.As.Name] = one
	}
	for _, item := range items {
		c.declare(f, item, dir)
	}
	o := &outer{composer: c, flat: f, dir: dir, uses: map[string]*used{}}
	parts := map[*ast.Use][]ast.Item{}
	for _, item := range items {
		if it, ok := item.(*ast.Use); ok {
			parts[it] = o.use(it, components)
		}
	}
	for _, item := range items { // once all components are known
		if it, ok := item.(*ast.Use); ok {
			for _, part := range parts[it] {
				f.items = append(f.items, o.item(part, ""))
			}
			continue
		}
		f.items = append(f.items, o.item(item, dir))
	}
	for _, u := range o.uses {
		u.export(f)
	}
	return f
}

// component reads the file of an import.
func (c *composer) component(it *ast.Import, dir string) *component {
	name := it.Path.Value
	full := inFolder(dir, name)
	switch {
	case it.As == nil && len(it.Names) > 0:
		c.list.Errorf(CodeComponent, it.Span, "a component is imported whole: import model %q as Name", name)
		return nil
	case it.As == nil:
		c.list.Errorf(CodeComponent, it.Span, "a component needs a name: import model %q as Name", name)
		return nil
	case slices.Contains(c.path, full):
		c.list.Errorf(CodeComponent, it.Path.Span, "%q is a component of itself, directly or through another file",
			name)
		return nil
	case len(c.path) >= maxDepth:
		c.list.Errorf(CodeComponent, it.Path.Span, "components nest more than %d deep", maxDepth)
		return nil
	}
	tree, ok := c.parsed[full]
	if !ok {
		tree = c.read(it.Path, full)
		c.parsed[full] = tree
	}
	if tree == nil {
		return nil
	}
	return &component{tree, path.Dir(full), full}
}

// flatten returns the model of a component.
func (c *composer) flatten(one *component) *flat {
	f := c.flats[one.file]
	if f == nil {
		c.path = append(c.path, one.file)
		f = c.model(one.tree, one.dir)
		c.path = c.path[:len(c.path)-1]
		c.flats[one.file] = f
	}
	return f
}

// given returns the functions and consts of a file that an import brings whole.
func (c *composer) given(it *ast.Import, dir string) []ast.Ident {
	full := inFolder(dir, it.Path.Value)
	text, ok := stdlib.Module(full)
	if !ok {
		b, err := input.Read(c.files, full, input.MaxText)
		if err != nil {
			return nil // the checker says so
		}
		text = string(b)
	}
	var list []ast.Ident
	for _, item := range parser.Parse(source.NewFile(full, text), new(diag.List)).Items {
		switch n := item.(type) {
		case *ast.Fn:
			list = append(list, n.Name)
		case *ast.Decl:
			for _, v := range n.Vars {
				if n.Kind == ast.Const {
					list = append(list, v.Name)
				}
			}
		}
	}
	return list
}

// inFolder returns the path of a file that is named in a file of dir.
func inFolder(dir, name string) string {
	if strings.HasPrefix(name, "std/") {
		return name
	}
	return path.Join(dir, name)
}

func (c *composer) read(name ast.String, full string) *ast.File {
	if len(c.parsed) >= maxFiles {
		c.list.Errorf(CodeComponent, name.Span, "more than %d files are imported", maxFiles)
		return nil
	}
	text, ok := stdlib.Module(full)
	if !ok {
		if strings.HasPrefix(full, "std/") {
			c.list.Errorf(CodeFile, name.Span, "there is no standard component %q%s; there are %s", full,
				diag.DidYouMean(full, stdlib.Components()), strings.Join(stdlib.Components(), ", "))
			return nil
		}
		b, err := input.Read(c.files, full, input.MaxText)
		if err != nil {
			c.list.Errorf(CodeFile, name.Span, "the component %q cannot be read: %v", name.Value, err)
			return nil
		}
		text = string(b)
	}
	before := c.list.Errors()
	file := source.NewFile(full, text)
	c.uses[file] = name.Span
	tree := parser.Parse(file, c.list)
	if c.list.Errors() > before {
		return nil
	}
	return tree
}

// declare notes the names that an item of a file in dir gives.
func (c *composer) declare(f *flat, item ast.Item, dir string) {
	enter := func(name ast.Ident, m meaning) {
		if name.Name != "" && f.names[name.Name] == nil {
			m.at = name.Span
			f.names[name.Name] = &m
		}
	}
	switch it := item.(type) {
	case *ast.Time:
		f.time = it
	case *ast.Import:
		if it.As != nil {
			enter(*it.As, meaning{what: "module", alone: true})
		}
		names := it.Names
		if it.As == nil && len(names) == 0 {
			names = c.given(it, dir)
		}
		for _, name := range names {
			enter(name, meaning{what: "name of " + it.Path.Value, alone: true, from: it})
		}
	case *ast.Decl:
		for _, v := range it.Vars {
			m := meaning{what: it.Kind.String(), rank: len(v.Dims), value: v.Value}
			switch it.Kind {
			case ast.Param:
				m.kind = settable
			case ast.Const:
				m.kind, m.alone = settable, true
			case ast.State:
				m.kind = initial
			}
			enter(v.Name, m)
		}
	case *ast.Control:
		enter(it.Var.Name, meaning{what: "control", kind: settable, rank: len(it.Var.Dims)})
	case *ast.Let:
		enter(it.Target.Name, meaning{what: it.Keyword(), rank: len(it.Target.Subs), value: it.Value})
	case *ast.Fn:
		enter(it.Name, meaning{what: "function", kind: function, alone: true, value: it.Result})
	case *ast.Event:
		if it.Name != nil {
			enter(*it.Name, meaning{what: "event", rank: bound(it.For)})
		}
	case *ast.Reaction:
		enter(it.Name, meaning{what: "reaction"})
	case *ast.Data:
		enter(it.Name, meaning{what: "data table", alone: true, left: true})
	case *ast.Observe:
		enter(it.Name, meaning{what: "observation", left: true})
	case *ast.Experiment:
		enter(it.Name, meaning{what: "experiment", alone: true, left: true})
	}
}

func bound(list []ast.Binder) int { return len(list) }

// words returns the names of a component that a test accepts, in alphabetical order.
func (f *flat) words(test func(*meaning) bool) []string {
	var list []string
	for name, m := range f.names {
		if test(m) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// number returns the value of a literal whole number.
func number(e ast.Expr) (int, bool) {
	n, ok := e.(*ast.Number)
	if !ok || n.Unit != nil {
		return 0, false
	}
	v, err := strconv.Atoi(n.Text)
	return v, err == nil
}
