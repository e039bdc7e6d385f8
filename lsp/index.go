package lsp

import (
	"slices"
	"sort"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/lang/policy"
	"odes.dev/odes/lang/source"
)

// index says which names of a file are the same. It follows the scopes of the language by the tree alone, so that it
// works in a file with errors. Types and values of names are in the checker's survey.
type index struct {
	all     []occurrence // in the order of the text
	globals map[string]*binding
	locals  []*binding
	broken  []source.Span // items that did not parse
}

// binding is a name with one meaning.
type binding struct {
	name string
	// kind is that of typecheck.Name, or "loop variable", "argument", "dimension". It is "" for a name that is not
	// declared in the file.
	kind string
	decl []source.Span
	node ast.Node // that declares it
	in   source.Span
	// of is what it belongs to: "D" for a column, "kin" for a name of a module, "fn f" for an argument, "unit" for
	// units.
	of string
}

// occurrence is a place where a name is written.
type occurrence struct {
	start, end int
	b          *binding
	role       role
	write      bool // it is declared or assigned to here
	declares   bool
}

// role tells in which way a name is used.
type role uint8

const (
	asValue role = iota
	asFunction
	asUnit
	asSetting // a key of the block that is binding.of
	asWord    // the value of a setting that is no name of the model
)

// at returns the occurrence that covers byte offset off, or ends there.
func (x *index) at(off int) *occurrence {
	i := sort.Search(len(x.all), func(i int) bool { return x.all[i].end >= off })
	for ; i < len(x.all) && x.all[i].start <= off; i++ {
		if i+1 < len(x.all) && x.all[i].end == off && x.all[i+1].start == off {
			continue
		}
		return &x.all[i]
	}
	return nil
}

// of returns the places of b.
func (x *index) of(b *binding) []occurrence {
	var list []occurrence
	for _, o := range x.all {
		if o.b == b {
			list = append(list, o)
		}
	}
	return list
}

// visible returns the locals that are known at byte offset off, innermost first.
func (x *index) visible(off int) []*binding {
	var list []*binding
	for _, b := range slices.Backward(x.locals) {
		if b.in.Start <= off && off <= b.in.End {
			list = append(list, b)
		}
	}
	return list
}

// indexer builds an index.
type indexer struct {
	*index
	outside map[string]*binding // names that are not declared in the file
	members map[string]*binding // columns, names of modules, arguments, by what they belong to and their name
	units   map[string]*binding
	scopes  []map[string]*binding
	seen    map[int]bool // places that are in the index
}

func newIndex(f *ast.File) *index {
	x := &indexer{
		index: &index{globals: map[string]*binding{}}, outside: map[string]*binding{}, members: map[string]*binding{},
		units: map[string]*binding{}, seen: map[int]bool{},
	}
	for _, item := range f.Items {
		x.declareItem(item)
	}
	for _, item := range f.Items {
		x.node(item)
	}
	x.tokensOf(f)
	slices.SortStableFunc(x.all, func(a, b occurrence) int { return a.start - b.start })
	return x.index
}

// declareItem enters what an item declares for the whole file.
func (x *indexer) declareItem(item ast.Item) {
	for _, d := range ast.Declarations(item) {
		switch d.Kind {
		case "model", "equation": // nothing refers to the one; the other is about a name that is declared
		case "unit":
			b := x.units[d.Name.Name]
			if b == nil {
				b = &binding{name: d.Name.Name, kind: d.Kind, node: d.Node, of: "unit"}
				x.units[d.Name.Name] = b
			}
			b.decl = append(b.decl, d.Name.Span)
			x.add(d.Name.Span, occurrence{b: b, role: asUnit, write: true, declares: true})
		default:
			x.declare(d.Name, d.Kind, d.Node)
		}
	}
	switch it := item.(type) {
	case *ast.Fn:
		for _, p := range it.Params {
			x.member("fn "+it.Name.Name, p.Name, "argument", p)
		}
	case *ast.Data:
		for _, s := range it.Settings {
			x.member(it.Name.Name, s.Key, "column", s)
		}
		if call, ok := it.Value.(*ast.Call); ok {
			for i := range call.Args {
				if k := call.Args[i].Key; k != nil {
					x.member(it.Name.Name, *k, "column", &call.Args[i])
				}
			}
		}
	}
}

func (x *indexer) add(at source.Span, o occurrence) {
	if at.File == nil || at.Start >= at.End || x.seen[at.Start] {
		return
	}
	x.seen[at.Start] = true
	o.start, o.end = at.Start, at.End
	x.all = append(x.all, o)
}

// declare enters a global name; a second declaration of it joins the first.
func (x *indexer) declare(id ast.Ident, kind string, node ast.Node) {
	if id.Name == "" {
		return
	}
	b := x.globals[id.Name]
	if b == nil {
		b = &binding{name: id.Name, kind: kind, node: node}
		x.globals[id.Name] = b
	}
	b.decl = append(b.decl, id.Span)
	x.add(id.Span, occurrence{b: b, write: true, declares: true})
}

// member enters what belongs to something.
func (x *indexer) member(of string, id ast.Ident, kind string, node ast.Node) {
	if id.Name == "" || x.members[of+"."+id.Name] != nil {
		return
	}
	b := &binding{name: id.Name, kind: kind, decl: []source.Span{id.Span}, node: node, of: of}
	x.members[of+"."+id.Name] = b
	x.add(id.Span, occurrence{b: b, write: true, declares: true})
}

// local enters a name that is known within a part of the file.
func (x *indexer) local(id ast.Ident, kind string, node ast.Node, in source.Span) {
	if id.Name == "" {
		return
	}
	scope := x.scopes[len(x.scopes)-1]
	b := scope[id.Name]
	if b == nil {
		b = &binding{name: id.Name, kind: kind, node: node, in: in}
		scope[id.Name] = b
		x.locals = append(x.locals, b)
	}
	b.decl = append(b.decl, id.Span)
	x.add(id.Span, occurrence{b: b, write: true, declares: true})
}

func (x *indexer) push() { x.scopes = append(x.scopes, map[string]*binding{}) }
func (x *indexer) pop()  { x.scopes = x.scopes[:len(x.scopes)-1] }

// find returns what a name means here.
func (x *indexer) find(name string) *binding {
	for _, scope := range slices.Backward(x.scopes) {
		if b := scope[name]; b != nil {
			return b
		}
	}
	if b := x.globals[name]; b != nil {
		return b
	}
	b := x.outside[name]
	if b == nil {
		b = &binding{name: name}
		x.outside[name] = b
	}
	return b
}

func (x *indexer) use(id ast.Ident, r role, write bool) {
	if id.Name != "" {
		x.add(id.Span, occurrence{b: x.find(id.Name), role: r, write: write})
	}
}

func (x *indexer) unit(u *ast.Unit) {
	if u == nil {
		return
	}
	ast.Inspect(u, func(n ast.Node) bool {
		if f, ok := n.(*ast.UnitFactor); ok && f.Name != "" {
			b := x.units[f.Name]
			if b == nil {
				b = &binding{name: f.Name, of: "unit"}
				x.units[f.Name] = b
			}
			at := f.Span
			if end := at.Start + nameLength(at.Text()); end < at.End { // without its exponent
				at.End = end
			}
			x.add(at, occurrence{b: b, role: asUnit})
		}
		return true
	})
}

// nodes visits expressions, each of which may be nil.
func (x *indexer) nodes(list ...ast.Expr) {
	for _, n := range list {
		if n != nil {
			x.node(n)
		}
	}
}

// loops opens a scope with loop variables. Their ranges are outside of it.
func (x *indexer) loops(list []ast.Binder, in source.Span) {
	loops := make([]*ast.Binder, len(list))
	for i := range list {
		loops[i] = &list[i]
	}
	x.open(loops, in)
}

func (x *indexer) open(loops []*ast.Binder, in source.Span) {
	for _, n := range loops {
		x.nodes(n.Lo, n.Step, n.Hi)
	}
	x.push()
	for _, n := range loops {
		x.local(n.Name, "loop variable", n, in)
	}
}

// target visits the left side of an assignment.
func (x *indexer) target(t *ast.LValue, write bool) {
	if t == nil {
		return
	}
	if t.Of != nil {
		x.nodes(t.Of)
		x.add(t.Name.Span, occurrence{b: x.memberOf(owner(t.Of), t.Name.Name), write: write})
	} else {
		x.use(t.Name, asValue, write)
	}
	for _, s := range t.Subs {
		x.nodes(s.Lo, s.Step, s.Hi)
	}
}

// node visits n and what it is made of.
func (x *indexer) node(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool { return x.enter(n) })
}

// enter visits a node whose parts have scopes or meanings of their own. It reports whether the caller must visit the
// parts.
func (x *indexer) enter(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Name:
		x.use(n.Ident, asValue, false)
	case *ast.Ident:
		x.use(*n, asValue, false)
	case *ast.Unit:
		x.unit(n)
	case *ast.Model, *ast.String:
	case *ast.Import:
		for _, id := range n.Names {
			x.add(id.Span, occurrence{b: x.find(id.Name), declares: true})
		}
	case *ast.Use:
		x.component(n)
	case *ast.Fn:
		x.fn(n)
	case *ast.Data:
		for _, s := range n.Settings {
			x.nodes(s.Value)
		}
		x.nodes(n.Value)
	case *ast.Observe:
		x.unit(n.Unit)
		x.nodes(n.Value, n.Noise, n.From)
		x.rows(n.From, n.Where)
	case *ast.Doses:
		x.doses(n)
	case *ast.Report:
		x.reported(n)
	case *ast.ExpItem:
		x.experimentItem(n)
	case *ast.Settings:
		x.settings(n)
	case *ast.Call:
		x.call(n)
	case *ast.Array:
		x.loops(n.For, n.Span)
		x.nodes(n.Elems...)
		x.unit(n.Unit)
		x.pop()
	case *ast.Member:
		x.part(n, asValue)
	case *ast.Bad:
		x.broken = append(x.broken, n.Span)
	case *ast.Option:
		if policy.WordsOf(n.Key.Name) == nil {
			x.nodes(n.Value)
		}
	case ast.Item:
		x.item(n)
	default:
		return true
	}
	return false
}

// item visits the parts of an item within its loops.
func (x *indexer) item(n ast.Item) {
	parts := ast.Parts(n)
	var loops []*ast.Binder
	var body []*ast.Affect
	for _, p := range parts {
		for _, part := range p.Nodes {
			switch part := part.(type) {
			case *ast.Binder:
				loops = append(loops, part)
			case *ast.Affect:
				body = append(body, part)
			}
		}
	}
	x.open(loops, n.Pos())
	for _, p := range parts {
		for _, part := range p.Nodes {
			switch part := part.(type) {
			case *ast.Binder, *ast.Affect:
			case *ast.LValue:
				x.target(part, true)
			default:
				x.node(part)
			}
		}
	}
	x.body(body, n.Pos())
	x.pop()
}

// owner returns the name of a table, a module or a component that a member belongs to; "" for other expressions.
func owner(e ast.Expr) string {
	switch n := e.(type) {
	case *ast.Name:
		return n.Name
	case *ast.Index:
		return owner(n.X)
	case *ast.Member:
		if of := owner(n.X); of != "" {
			return of + "." + n.Name.Name
		}
	}
	return ""
}

// part visits a name of a table, a module or a component.
func (x *indexer) part(n *ast.Member, r role) {
	x.nodes(n.X)
	if of := owner(n.X); of != "" && n.Name.Name != "" {
		x.add(n.Name.Span, occurrence{b: x.memberOf(of, n.Name.Name), role: r})
	}
}

// component visits copies of a component, which are given values of its names.
func (x *indexer) component(n *ast.Use) {
	x.use(n.Component, asValue, false)
	x.loops(n.For, n.Span)
	for _, s := range n.Target.Subs {
		x.nodes(s.Lo, s.Step, s.Hi)
	}
	for _, s := range n.List {
		key := s.Key
		if call, ok := key.(*ast.Call); ok && len(call.Args) == 1 {
			x.nodes(call.Fun)
			key = call.Args[0].Value
		}
		x.key(n.Target.Name.Name, key)
		x.nodes(s.Value)
	}
	x.pop()
}

// key visits the name of what a component is given, and returns it with a dot before it.
func (x *indexer) key(of string, e ast.Expr) string {
	switch k := e.(type) {
	case *ast.Name:
		x.add(k.Span, occurrence{b: x.memberOf(of, k.Name), write: true})
		return of + "." + k.Name
	case *ast.Member:
		of = x.key(of, k.X)
		x.add(k.Name.Span, occurrence{b: x.memberOf(of, k.Name.Name), write: true})
		return of + "." + k.Name.Name
	}
	return of
}

// reported visits the names of `output x, c.V`.
func (x *indexer) reported(n *ast.Report) {
	for _, name := range n.Names {
		x.dotted(name, false)
	}
}

// dotted visits a name, or one of a component, c.V.
func (x *indexer) dotted(name ast.Ident, write bool) {
	text := name.Span.Text()
	if name.Quoted || !strings.Contains(text, ".") {
		x.use(name, asValue, write)
		return
	}
	of, at := "", name.Span
	for part := range strings.SplitSeq(text, ".") {
		id := ast.Ident{At: ast.At{Span: at}, Name: part}
		id.Span.End = at.Start + len(part)
		at.Start = id.Span.End + 1
		if of == "" {
			x.use(id, asValue, false)
			of = part
			continue
		}
		x.add(id.Span, occurrence{b: x.memberOf(of, part), write: write})
		of += "." + part
	}
}

func (x *indexer) memberOf(of, name string) *binding {
	b := x.members[of+"."+name]
	if b == nil {
		b = &binding{name: name, of: of}
		x.members[of+"."+name] = b
	}
	return b
}

// columns makes the columns of a table known by their own names.
func (x *indexer) columns(table ast.Expr) {
	name, ok := table.(*ast.Name)
	if !ok {
		return
	}
	scope := x.scopes[len(x.scopes)-1]
	for _, b := range x.members {
		if b.of == name.Name && b.kind == "column" {
			scope[b.name] = b
		}
	}
}

// rows visits a condition on the rows of a table, which is named itself, or by one of its columns.
func (x *indexer) rows(table, cond ast.Expr) {
	if cond == nil {
		return
	}
	if m, is := table.(*ast.Member); is {
		table = m.X
	}
	x.push()
	x.columns(table)
	if name, is := table.(*ast.Name); is { // columns of a file are known to the checker alone
		scope := x.scopes[len(x.scopes)-1]
		ast.Inspect(cond, func(n ast.Node) bool {
			if v, is := n.(*ast.Name); is && scope[v.Name] == nil && x.globals[v.Name] == nil {
				scope[v.Name] = x.memberOf(name.Name, v.Name)
			}
			return true
		})
	}
	x.nodes(cond)
	x.pop()
}

// doses visits the states that take doses, and what is said of these.
func (x *indexer) doses(n *ast.Doses) {
	x.use(n.Table, asValue, false)
	for _, it := range n.Items {
		if it.Target != nil {
			x.target(it.Target, false)
			x.rows(&ast.Name{Ident: n.Table}, it.Where)
			continue
		}
		x.add(it.Key.Span, occurrence{b: x.memberOf(ofDoses, it.Key.Name), role: asSetting})
		x.nodes(it.Value)
	}
}

// ofDoses is what a word of `doses` belongs to.
const ofDoses = "doses"

func (x *indexer) call(n *ast.Call) {
	function := ""
	switch f := n.Fun.(type) {
	case *ast.Name:
		x.use(f.Ident, asFunction, false)
		function = f.Name
	case *ast.Member:
		x.part(f, asFunction)
	default:
		x.nodes(n.Fun)
	}
	x.loops(n.For, n.Span)
	for i := range n.Args {
		if k := n.Args[i].Key; k != nil && k.Name != "" {
			if b := x.members["fn "+function+"."+k.Name]; b != nil {
				x.add(k.Span, occurrence{b: b})
			}
		}
		x.nodes(n.Args[i].Value)
	}
	x.pop()
}

func (x *indexer) fn(n *ast.Fn) {
	x.push()
	scope := x.scopes[len(x.scopes)-1]
	for _, p := range n.Params {
		if b := x.members["fn "+n.Name.Name+"."+p.Name.Name]; b != nil {
			scope[b.name] = b
			if b.in.IsZero() {
				b.in = n.Span
				x.locals = append(x.locals, b)
			}
			x.add(p.Name.Span, occurrence{b: b, write: true, declares: true})
		}
	}
	for _, p := range n.Params {
		for i := range p.Dims {
			d := &p.Dims[i]
			if d.Name == "" {
				continue
			}
			if b := x.find(d.Name); b.kind == "const" || b.kind == "dimension" {
				x.add(d.Span, occurrence{b: b})
			} else {
				x.local(ast.Ident{At: d.At, Name: d.Name}, "dimension", d, n.Span)
			}
		}
		x.unit(p.Unit)
	}
	x.unit(n.Unit)
	for _, l := range n.Lets {
		x.localLet(l, n.Span)
	}
	x.nodes(n.Result)
	x.pop()
}

// localLet visits a let whose name is known behind it.
func (x *indexer) localLet(l *ast.Let, in source.Span) {
	x.loops(l.For, l.Span)
	for _, s := range l.Target.Subs {
		x.nodes(s.Lo, s.Step, s.Hi)
	}
	x.unit(l.Unit)
	x.nodes(l.Value)
	x.pop()
	in.Start = l.Span.Start
	x.local(l.Target.Name, "let", l, in)
}

// body visits the body of an event.
func (x *indexer) body(list []*ast.Affect, in source.Span) {
	x.push()
	for _, a := range list {
		if a.Let != nil {
			x.localLet(a.Let, in)
			continue
		}
		x.loops(a.For, a.Span)
		x.target(a.Target, true)
		x.nodes(a.Value)
		x.pop()
	}
	x.pop()
}

func (x *indexer) experimentItem(n *ast.ExpItem) {
	if n.Equil != nil {
		x.node(n.Equil)
	}
	x.nodes(n.Time, n.Priority)
	x.body(n.Body, n.Span)
	x.push()
	if n.Use != nil {
		x.dotted(*n.Use, false)
		x.columns(&ast.Name{Ident: *n.Use})
	} else if n.Where != nil { // of the table whose times these are
		ast.Inspect(n.Time, func(n ast.Node) bool {
			if m, ok := n.(*ast.Member); ok {
				if of, ok := m.X.(*ast.Name); ok {
					x.columns(of)
				}
			}
			return true
		})
	}
	x.nodes(n.Where)
	x.pop()
	if n.Name != nil {
		x.dotted(*n.Name, true)
	}
	x.nodes(n.Value)
}

func (x *indexer) settings(n *ast.Settings) {
	block := n.Block.Name
	for _, s := range n.List {
		x.add(s.Key.Span, occurrence{b: &binding{name: s.Key.Name, of: block}, role: asSetting})
		if keys.Find(block, s.Key.Name).Named() != nil {
			x.nodes(s.Value)
			continue
		}
		if s.Value == nil {
			continue
		}
		ast.Inspect(s.Value, func(v ast.Node) bool {
			if e, ok := v.(*ast.Entry); ok {
				x.use(e.Key, asValue, false)
			}
			if name, ok := v.(*ast.Name); ok {
				b := &binding{name: name.Name, of: block + "." + s.Key.Name}
				if g := x.globals[name.Name]; g != nil && g.kind == "const" {
					x.use(name.Ident, asValue, false)
				} else {
					x.add(name.Span, occurrence{b: b, role: asWord})
				}
			}
			return true
		})
	}
}

// tokensOf enters the names of items that did not parse, as if they were all global.
func (x *indexer) tokensOf(f *ast.File) {
	for _, at := range x.broken {
		i := sort.Search(len(f.Tokens), func(i int) bool { return f.Tokens[i].Start >= at.Start })
		for ; i < len(f.Tokens) && f.Tokens[i].Start < at.End; i++ {
			t := &f.Tokens[i]
			if t.Kind == ast.IdentToken || t.Kind == ast.QuotedToken {
				r := asValue
				if i+1 < len(f.Tokens) && f.Tokens[i+1].Text == "(" {
					r = asFunction
				}
				x.add(source.Span{File: f.Source, Start: t.Start, End: t.End}, occurrence{b: x.find(t.Text), role: r})
			}
		}
	}
}

// nameLength is the number of bytes of the name that text begins with.
func nameLength(s string) int {
	for i, r := range s {
		if !isNameRune(r) {
			return i
		}
	}
	return len(s)
}
