package comp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"odes.dev/odes/internal/exchange/sbml"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// Parts are a model as the language composes it: a text, and the components that it uses, by the names of their files.
type Parts struct {
	Main  string
	Files map[string]string
}

// Components writes a model with submodels as one text that uses a component for each model that these are of. Names of
// their files begin with base. It returns nil and the reason where components cannot say what the model does, and
// an empty reason where the model has no submodels or is wrong.
func Components(file *source.File, open Open, base string, o sbml.Options) (p *Parts, why string) {
	document, err := sbml.Parse(file.Text())
	if err != nil || document.Child("model") == nil || len(submodels(document.Child("model"))) == 0 {
		return nil, ""
	}
	c := &composer{
		flat: newFlat(open), file: file, base: base, options: o,
		parts: map[*sbml.Element]*part{}, uses: map[string]*use{}, names: map[string]bool{},
	}
	c.options.Bare, c.options.Name = true, base+".ode"
	own := c.definitions(document, "")
	model := document.Child("model")
	if c.size(own, model, map[*sbml.Element]int{}) > maxElements {
		return nil, ""
	}
	if c.root, err = c.instance(own, model, nil, nil); err != nil {
		return nil, ""
	}
	c.name(c.root)
	for _, step := range []func(own *library) error{c.plain, c.define, c.connect} {
		if err := step(own); err != nil {
			return nil, err.Error()
		}
	}
	return c.write(document)
}

// composer makes components of submodels.
type composer struct {
	*flat
	file    *source.File
	base    string
	options sbml.Options
	parts   map[*sbml.Element]*part // by their definitions
	uses    map[string]*use         // by the ids of submodels
	order   []*use
	names   map[string]bool // of components
	heirs   []heir
}

// part is a component.
type part struct {
	alias, file string
	model       *sbml.Model
	document    *sbml.Element
}

// use is a submodel of the model itself.
type use struct {
	*part
	id   string
	sets []string // what it is given, as it is written
	made []given
}

type given struct {
	name      string // in the component
	by        *sbml.Element
	factor    string
	steadfast bool // what it is given must not change
}

// heir is an element of the model that is replaced by one of a submodel, and what that is called.
type heir struct {
	e    *sbml.Element
	name string
}

// plain refuses what components cannot say.
func (c *composer) plain(*library) error {
	for _, s := range submodels(c.root.model) {
		id := attr(s, "id")
		switch {
		case len(list(s, "listOfDeletions")) > 0:
			return fmt.Errorf("the submodel %s is without something that its model has", id)
		case s.Of("comp", "timeConversionFactor") != "" || s.Of("comp", "extentConversionFactor") != "":
			return fmt.Errorf("the submodel %s has units of its own", id)
		case parser.Reserved(id):
			return fmt.Errorf("the name of the submodel %s is a word of the language", id)
		}
	}
	return nil
}

// define translates the models that submodels are of.
func (c *composer) define(own *library) error {
	for _, s := range submodels(c.root.model) {
		l, of, err := c.definition(own, attr(s, "modelRef"), s)
		if err != nil {
			return err
		}
		known := c.parts[of]
		if known == nil {
			if known, err = c.part(l, of); err != nil {
				return err
			}
			c.parts[of] = known
		}
		u := &use{part: known, id: attr(s, "id")}
		c.uses[u.id], c.order = u, append(c.order, u)
	}
	return nil
}

func (c *composer) part(l *library, of *sbml.Element) (*part, error) {
	id := of.Attr("id")
	if id == "" || parser.Reserved(id) {
		id = "Part"
	}
	alias := id
	for n := 2; c.names[alias] || c.root.ids[alias] != nil; n++ {
		alias = fmt.Sprintf("%s_%d", id, n)
	}
	c.names[alias] = true
	p := &part{alias: alias, file: c.base + "_" + alias + ".ode"}
	f := newFlat(c.open)
	flattened, err := f.flatten(f.definitions(l.document, l.name), of, l.document)
	if err != nil {
		return nil, err
	}
	var told diag.List
	p.document = flattened
	if p.model = sbml.ReadTree(c.file, flattened, &told); p.model == nil {
		return nil, told.Err()
	}
	return p, nil
}

// connect finds out what submodels are given, and what the model reads of them.
func (c *composer) connect(*library) error {
	return c.replacing(func(in *instance, by, e, inner *sbml.Element, _ bool) error {
		if in != c.root {
			return nil
		}
		u := c.uses[by.Of("comp", "submodelRef")]
		what := describe(inner, c.facts[inner].in)
		if isSubmodel(e) || isSubmodel(inner) {
			return fmt.Errorf("a submodel stands for another")
		}
		id := strings.TrimPrefix(c.called(inner), c.root.subs[u.id].prefix)
		name, isParam, ok := u.model.Name(id)
		if !ok || id == "" || strings.Contains(name, "`") {
			return fmt.Errorf("%s has no name that a component can be asked for", what)
		}
		if by.Name() == "replacedBy" {
			c.heirs = append(c.heirs, heir{e, u.id + "." + name})
			return nil
		}
		if !isParam || u.starts(id) {
			return fmt.Errorf("%s changes or has a rule there, and is replaced: components can be given params "+
				"only", what)
		}
		if e.Attr("id") == "" {
			return fmt.Errorf("%s is replaced by what has no name", what)
		}
		u.made = append(u.made, given{name, e, by.Of("comp", "conversionFactor"), inner.Name() == "compartment"})
		return nil
	})
}

// starts reports whether an initial assignment gives a symbol.
func (p *part) starts(id string) bool {
	return slices.ContainsFunc(p.document.Child("model").List("listOfInitialAssignments"),
		func(e *sbml.Element) bool { return e.Attr("symbol") == id })
}

// inherited makes elements of the model that submodels replace symbols that read these.
func (c *composer) inherited(model *sbml.Element) error {
	for _, h := range c.heirs {
		id, kind := h.e.Attr("id"), h.e.Name()
		switch kind {
		case "parameter", "species", "compartment", "reaction":
		default:
			return fmt.Errorf("a <%s> is replaced by one of a submodel", kind)
		}
		var other error
		model.Each(func(x *sbml.Element) {
			for _, name := range []string{"species", "symbol", "variable"} {
				if x.Attr(name) == id && x != h.e && x.Name() != "modifierSpeciesReference" {
					other = fmt.Errorf("%s is of a submodel, and the model changes it", id)
				}
			}
		})
		if other != nil {
			return other
		}
		c.facts[h.e].parent.Replace(h.e, nil)
		at := h.e.Place()
		for _, x := range []struct {
			list string
			e    *sbml.Element
		}{
			{"listOfParameters", sbml.New(at, "parameter", "id", id, "constant", "false")},
			{"listOfRules", sbml.New(at, "assignmentRule", "variable", id).Add(sbml.Math(sbml.Outside(at, h.name)))},
		} {
			l := model.Child(x.list)
			if l == nil {
				l = sbml.New(at, x.list)
				model.Add(l)
			}
			l.Add(x.e)
		}
	}
	return nil
}

// write writes the model around its components.
func (c *composer) write(document *sbml.Element) (*Parts, string) {
	model := c.root.model
	if err := c.inherited(model); err != nil {
		return nil, err.Error()
	}
	model.Each(func(e *sbml.Element) { e.Keep(func(x *sbml.Element) bool { return x.Package() != "comp" }) })
	var told diag.List
	m := sbml.ReadTree(c.file, alone(document, model), &told)
	if m == nil {
		return nil, told.Err().Error()
	}
	head, tail, results := &sbml.Items{}, &sbml.Items{}, &sbml.Items{}
	parts := slices.SortedFunc(maps.Values(c.parts), func(a, b *part) int { return strings.Compare(a.alias, b.alias) })
	for _, p := range parts {
		if m.Free(p.alias) != p.alias {
			return nil, "the name " + p.alias + " is taken"
		}
		head.Item("import model %q as %s", p.file, p.alias)
	}
	states, _, listed := sbml.Changing(m)
	var outputs []string
	if !listed {
		outputs = states
	}
	head.Line("")
	for _, u := range c.order {
		if m.Free(u.id) != u.id {
			return nil, "the name " + u.id + " is taken"
		}
		for _, g := range u.made {
			name, isParam, ok := m.Name(g.by.Attr("id"))
			factor, _, known := m.Name(g.factor)
			switch {
			case !ok || g.factor != "" && !known || g.steadfast && !isParam:
				return nil, g.name + " of the submodel " + u.id + " is given what a component cannot be given"
			case g.factor != "":
				name += "/" + factor
			}
			u.sets = append(u.sets, g.name+" = "+name)
		}
		sets := ""
		if len(u.sets) > 0 {
			sets = " { " + strings.Join(u.sets, "  ") + " }"
		}
		head.Item("use %s as %s%s", u.alias, u.id, sets)
		inner, others, _ := sbml.Changing(u.model)
		for _, name := range slices.Concat(inner, others) {
			if !strings.Contains(name, "`") {
				outputs = append(outputs, u.id+"."+name)
			}
		}
		for _, name := range inner {
			if !strings.Contains(name, "`") {
				results.Item("objective %s = final(%s.%s)", m.Free(u.id+"_"+name+"_end"), u.id, name)
			}
		}
	}
	for _, name := range states {
		results.Item("objective %s = final(%s)", m.Free(strings.Trim(name, "`")+"_end"), name)
	}
	if len(outputs) > 0 {
		tail.Item("output %s", strings.Join(outputs, ", "))
	}
	tail.Add(results)
	o := c.options
	o.Several, o.Ordered = c.events(model)
	written := &Parts{Files: map[string]string{}}
	for _, p := range parts {
		o.Name = p.file
		text := p.model.Text(o, &told)
		if text == nil {
			return nil, told.Err().Error()
		}
		written.Files[p.file] = text.Text()
	}
	o.Name, o.Head, o.Tail = c.options.Name, head, tail
	text := m.Text(o, &told)
	if text == nil {
		return nil, told.Err().Error()
	}
	written.Main = text.Text()
	return written, ""
}

// events reports whether there are several, in the model and in submodels, and whether some have priorities: then all
// are written for what other events do at the same time.
func (c *composer) events(model *sbml.Element) (several, ordered bool) {
	n := 0
	count := func(model *sbml.Element) {
		for _, e := range model.List("listOfEvents") {
			n, ordered = n+1, ordered || e.Child("priority") != nil
		}
	}
	count(model)
	for _, u := range c.order {
		count(u.document.Child("model"))
	}
	return n > 1, ordered
}
