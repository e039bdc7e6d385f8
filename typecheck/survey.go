package typecheck

import (
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
)

// Survey is what Check found out about the names of a file, for editors. For a file with errors it
// holds as much as the errors let it know.
type Survey struct {
	Names []Name // the file's own in the order of declaration, then imported ones in alphabetical order
	Units []Name // of the file and of all imports, in alphabetical order
}

// Name is a global name, a unit, a column of a table or a name of a module.
type Name struct {
	Name, Kind string      // Kind in a word: "param", "let", "output", "function", "data table", "unit", "column" …
	Span       source.Span // of the name where it is declared; zero for a column
	Doc        string
	Decl       ast.Node    // the declaration: *ast.Var, *ast.Let, *ast.Fn …; nil for a column or module
	Type       types.Type  // its Kind is Invalid where there is no type, or none that is known
	Inferred   source.Span // the use from which the unit was inferred, where none is written
	Values     []float64   // of a const: row-major, or one that fills its shape; not to be changed
	Members    []Name      // columns of a data table, or names of a module
	Given      source.Span // where a use gives a param of a component a value; Span and Decl are those of the param
}

// Find returns the name called name, or nil.
func Find(list []Name, name string) *Name {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// survey collects what is known of the names.
func (c *checker) survey(s *Survey) {
	typeOf := map[string]types.Type{}
	for _, o := range c.model.Objectives {
		typeOf[o.Name] = shaped(o.Value.Type(), o.Indices)
	}
	for _, o := range c.model.Observations {
		typeOf[o.Name] = o.Value.Type()
	}
	items := itemsOf(c.file)
	*s = Survey{}
	reported := c.list
	done := c.list.Done()
	defer c.list.While(done)
	c.list = &diag.List{} // unused names of a module are worked out here, and their errors do not count
	defer func() { c.list = reported }()
	for _, e := range c.order {
		n := c.surveyed(e)
		if n.Type.Kind == types.Invalid {
			n.Type = typeOf[e.name]
		}
		if n.Decl == nil {
			n.Decl = items[e.span]
		}
		if u, ok := c.inferred[e.name]; ok && !u.unit.Plain() {
			n.Inferred = u.use
		}
		s.Names = append(s.Names, n)
	}
	for _, name := range sortedKeys(c.globals) {
		if e := c.globals[name]; e.home != nil || e.kind == moduleName {
			c.resolve(e)
			s.Names = append(s.Names, c.surveyed(e))
		}
	}
	for _, name := range sortedKeys(c.units) {
		u := c.units[name]
		t := types.Type{}
		if u.unit.Known() {
			t = types.Type{Kind: types.Real, Unit: u.unit}
		}
		s.Units = append(s.Units, Name{
			Name: name, Kind: "unit", Span: u.decl.Name.Span, Doc: u.decl.Doc, Decl: u.decl,
			Type: t,
		})
	}
}

// shaped returns the type of an array that is given by one element.
func shaped(t types.Type, indices []*model.Index) types.Type {
	shape := t.Shape
	t.Shape = nil
	for _, ix := range indices {
		t.Shape = append(t.Shape, ix.Count)
	}
	t.Shape = append(t.Shape, shape...)
	return t
}

// itemsOf finds the items that declare names without keeping a node, by the places of the names.
func itemsOf(f *ast.File) map[source.Span]ast.Node {
	items := map[source.Span]ast.Node{}
	for _, item := range f.Items {
		for _, d := range ast.Declarations(item) {
			items[d.Name.Span] = d.Node
		}
	}
	return items
}

func (c *checker) surveyed(e *entity) Name {
	kind := strings.TrimPrefix(kindWord(e.kind), "the ")
	if e.output {
		kind = "output"
	}
	n := Name{Name: e.name, Kind: kind, Span: e.span, Doc: e.doc}
	switch v := c.file.Sets[e.span]; {
	case v != nil:
		n.Kind, n.Span, n.Decl, n.Given = "param", v.Name.Span, v, e.span
	case e.variable != nil:
		n.Decl = e.variable
	case e.time != nil:
		n.Decl = e.time
	case len(e.lets) > 0:
		n.Decl = e.lets[0]
	case e.fn != nil:
		n.Decl = e.fn
	case e.data != nil:
		n.Decl = e.data
	case e.observe != nil:
		n.Decl = e.observe
	}
	switch {
	case e.sym != nil:
		n.Type = e.sym.Type
	case e.value != nil:
		n.Type = e.value.Type()
	}
	if k, ok := e.value.(*model.Const); ok && e.kind == constName && c.sparse[e.value] == nil && !isBad(k) {
		n.Values = k.Data
	}
	if t := e.table; t != nil {
		for i, name := range t.Columns {
			n.Members = append(n.Members, column(name, types.Real, t.units[i], len(t.Data[i])))
		}
		for _, col := range t.texts {
			n.Members = append(n.Members, column(col.name, types.String, units.Unit{}, len(col.cells)))
		}
	}
	if e.module != nil {
		for _, o := range e.module.own {
			c.resolve(o)
			n.Members = append(n.Members, c.surveyed(o))
		}
		slices.SortFunc(n.Members, func(a, b Name) int { return strings.Compare(a.Name, b.Name) })
	}
	return n
}

func column(name string, kind types.Kind, u units.Unit, rows int) Name {
	return Name{Name: name, Kind: "column", Type: types.Type{Kind: kind, Shape: types.Shape{rows}, Unit: u}}
}
