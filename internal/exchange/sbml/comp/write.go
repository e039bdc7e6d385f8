package comp

import (
	"slices"
	"strings"

	"odes.dev/odes/internal/exchange/sbml"
)

// product is a product of parameters of the one model, over another.
type product struct{ num, den []string }

// times multiplies products, and leaves out what is in both parts.
func (p product) times(q product) product {
	num, den := slices.Concat(p.num, q.num), slices.Concat(p.den, q.den)
	for i := 0; i < len(num); i++ {
		if j := slices.Index(den, num[i]); j >= 0 {
			num, den = slices.Delete(num, i, i+1), slices.Delete(den, j, j+1)
			i--
		}
	}
	return product{num, den}
}

func (p product) over(q product) product { return p.times(product{q.den, q.num}) }

// of multiplies an expression.
func (p product) of(x *sbml.Element) *sbml.Element {
	at := x.Place()
	join := func(x *sbml.Element, ids []string) *sbml.Element {
		for _, id := range ids {
			factor := sbml.Leaf(at, "ci", id)
			if x == nil {
				x = factor
				continue
			}
			x = sbml.Apply(at, "times", x, factor)
		}
		return x
	}
	x = join(x, p.num)
	if len(p.den) > 0 {
		x = sbml.Apply(at, "divide", x, join(nil, p.den))
	}
	return x
}

// value is what a name of a model is, in its own units: a symbol of the one model times a product.
type value struct {
	name string
	of   *sbml.Element
	by   product
}

// read finds out what an element of an instance is, for whoever reads it there. At is where that is.
func (f *flat) read(e *sbml.Element, at sbml.Place) (value, error) {
	known := f.facts[e]
	if known.value != nil {
		return *known.value, nil
	}
	if known.reading {
		return value{}, sbml.Errorf(e.Place(), "what stands for %s leads back to it", describe(e, known.in))
	}
	known.reading = true
	v, err := f.stands(e, at)
	known.reading = false
	if err == nil {
		known.value = &v
	}
	return v, err
}

func (f *flat) stands(e *sbml.Element, at sbml.Place) (value, error) {
	known := f.facts[e]
	switch {
	case known.by != nil:
		v, err := f.read(known.by, at)
		if err != nil || known.factor == "" {
			return v, err
		}
		by, err := f.parameter(known.from, known.factor, known.by.Place())
		v.by = v.by.over(by)
		return v, err
	case known.heir != nil:
		v, err := f.read(known.heir, at)
		if err == nil && v.of.Name() == "reaction" {
			v.by = v.by.times(f.facts[known.heir].in.rate()).over(known.in.rate())
		}
		return v, err
	case f.removed(e):
		return value{}, sbml.Errorf(at, "this reads %s, which is deleted", describe(e, known.in))
	}
	v := value{name: f.called(e), of: e}
	if v.name == "" {
		return v, sbml.Errorf(at, "this reads what is replaced by a <%s> without an id", e.Name())
	}
	if e.Name() == "reaction" {
		v.by = product{}.over(known.in.rate())
	}
	return v, nil
}

// rate is what the rate of a reaction of an instance is multiplied by in the one model.
func (in *instance) rate() product { return in.extent.over(in.time) }

// called is the id of an element in the one model.
func (f *flat) called(e *sbml.Element) string {
	known := f.facts[e]
	if known.title != nil {
		return f.called(known.title)
	}
	if id := known.id; id != "" && known.local == nil {
		return known.in.prefix + id
	}
	return ""
}

// parameter is what a factor of conversion is.
func (f *flat) parameter(in *instance, id string, at sbml.Place) (product, error) {
	e := in.ids[id]
	if e == nil {
		return product{}, sbml.Errorf(at, "the conversion factor %q does not exist%s", id, in.within())
	}
	v, err := f.read(e, at)
	return product{num: []string{v.name}}.times(v.by), err
}

// factors finds out how submodels convert their units.
func (f *flat) factors() error {
	for _, in := range f.all {
		if in.up == nil || in.gone {
			continue
		}
		in.time, in.extent = in.up.time, in.up.extent
		for _, x := range []struct {
			attribute string
			to        *product
		}{{"timeConversionFactor", &in.time}, {"extentConversionFactor", &in.extent}} {
			if id := in.as.Of("comp", x.attribute); id != "" {
				by, err := f.parameter(in.up, id, in.as.Place())
				if err != nil {
					return err
				}
				*x.to = x.to.times(by)
			}
		}
	}
	return nil
}

// write makes the one model of what is left of all.
func (f *flat) write() (*sbml.Element, error) {
	model := sbml.New(f.root.model.Place(), "model")
	for _, name := range []string{"id", "name"} {
		if v := f.root.model.Attr(name); v != "" {
			model.Set(name, v)
		}
	}
	lists := map[string]*sbml.Element{}
	into := func(name string, at sbml.Place) *sbml.Element {
		if lists[name] == nil {
			lists[name] = sbml.New(at, name)
			model.Add(lists[name])
		}
		return lists[name]
	}
	f.products = map[string]string{}
	for _, in := range f.all {
		if in.gone {
			continue
		}
		w := &writer{flat: f, in: in}
		for _, c := range in.model.Children() {
			if !strings.HasPrefix(c.Name(), "listOf") || c.Package() != "" || f.removed(c) {
				continue
			}
			if err := w.element(c); err != nil {
				return nil, err
			}
			into(c.Name(), c.Place()).Add(c.Children()...)
		}
	}
	for _, e := range f.added {
		name := "listOfParameters"
		if e.Name() == "initialAssignment" {
			name = "listOfInitialAssignments"
		}
		into(name, e.Place()).Add(e)
	}
	return model, nil
}

// writer writes what an instance has with the names of the one model.
type writer struct {
	*flat
	in     *instance
	bound  []string // arguments of the function
	locals map[string]*sbml.Element
}

// refers are the attributes of elements that are ids of others.
var refers = map[string][]string{
	"species": {"compartment", "conversionFactor"}, "speciesReference": {"species"},
	"modifierSpeciesReference": {"species"}, "reaction": {"compartment"}, "initialAssignment": {"symbol"},
	"assignmentRule": {"variable"}, "rateRule": {"variable"}, "eventAssignment": {"variable"},
}

// element writes an element and what it contains.
func (w *writer) element(e *sbml.Element) error {
	kind := e.Name()
	if kind == "annotation" || kind == "notes" {
		return nil
	}
	e.Keep(func(c *sbml.Element) bool {
		known := w.facts[c]
		return known == nil || c.Package() != "comp" && known.by == nil && known.heir == nil && !known.gone
	})
	if kind == "species" && e.Attr("conversionFactor") == "" {
		if by := w.in.model.Attr("conversionFactor"); by != "" {
			e.Set("conversionFactor", by)
		}
	}
	if kind == "functionDefinition" && e.Child("annotation") != nil && e.Child("annotation").Child("symbols") != nil &&
		len(w.in.time.num)+len(w.in.time.den) > 0 {
		return sbml.Errorf(e.Place(), "the function %s stands for a symbol, in a submodel with another time: write "+
			"the symbol itself", e.Attr("id"))
	}
	if name := w.called(e); name != "" && e.Attr("id") != name {
		e.Set("id", name)
	}
	var by product // of the expression
	switch kind {
	case "kineticLaw":
		by = w.in.rate()
		w.locals = map[string]*sbml.Element{}
		for _, x := range w.in.all {
			if known := w.facts[x]; known.local == e && (known.by != nil || !known.gone) {
				w.locals[x.Attr("id")] = x
			}
		}
		defer func() { w.locals = nil }()
	case "delay":
		by = w.in.time
	case "rateRule":
		by = product{}.over(w.in.time)
	}
	assigned, err := w.references(e)
	if err != nil {
		return err
	}
	by = by.over(assigned)
	for _, c := range e.Children() {
		if c.Name() != "math" {
			if err := w.element(c); err != nil {
				return err
			}
			continue
		}
		for _, x := range c.Children() {
			y, err := w.math(x)
			if err != nil {
				return err
			}
			c.Replace(x, []*sbml.Element{by.of(y)})
		}
	}
	return nil
}

// references writes the attributes that are ids of others. Of an element that
// assigns, it returns what its symbol is multiplied by.
func (w *writer) references(e *sbml.Element) (assigned product, err error) {
	for _, attribute := range refers[e.Name()] {
		id := e.Attr(attribute)
		to := w.in.ids[id]
		if id == "" || to == nil && w.in.up == nil { // the importer tells
			continue
		}
		if to == nil {
			return product{}, sbml.Errorf(e.Place(), "nothing has the id %q%s", id, w.in.within())
		}
		v, err := w.read(to, e.Place())
		if err != nil {
			return product{}, err
		}
		switch attribute {
		case "symbol", "variable":
			assigned = v.by
		case "conversionFactor":
			v.name = w.product(v, e.Place())
		}
		e.Set(attribute, v.name)
	}
	return assigned, nil
}

// product returns a parameter that is a value.
func (w *writer) product(v value, at sbml.Place) string {
	if len(v.by.num)+len(v.by.den) == 0 {
		return v.name
	}
	x := v.by.of(sbml.Leaf(at, "ci", v.name))
	key := v.name + "*" + strings.Join(v.by.num, "*") + "/" + strings.Join(v.by.den, "/")
	if id := w.products[key]; id != "" {
		return id
	}
	id := v.name + "_converted"
	for w.taken(id) {
		id += "_"
	}
	w.products[key] = id
	w.added = append(w.added, sbml.New(at, "parameter", "id", id, "constant", "true"),
		sbml.New(at, "initialAssignment", "symbol", id).Add(sbml.Math(x)))
	return id
}

// taken reports whether something of the one model has an id.
func (f *flat) taken(id string) bool {
	for _, e := range f.added {
		if e.Attr("id") == id {
			return true
		}
	}
	for _, in := range f.all {
		for own := range in.ids {
			if in.prefix+own == id {
				return true
			}
		}
	}
	return false
}

// math writes an expression.
func (w *writer) math(e *sbml.Element) (*sbml.Element, error) {
	children := e.Children()
	switch kind := e.Name(); {
	case kind == "annotation" || kind == "annotation-xml" || kind == "bvar":
		return e, nil
	case kind == "ci":
		return w.symbol(e)
	case kind == "csymbol" && isSymbol(e, "time"):
		return product{}.over(w.in.time).of(e), nil
	case kind == "lambda":
		for _, c := range children {
			if c.Name() == "bvar" && len(c.Children()) > 0 {
				w.bound = append(w.bound, c.Children()[0].Text())
			}
		}
		defer func() { w.bound = nil }()
	case kind == "apply" && len(children) == 2 && isSymbol(children[0], "rateOf") && children[1].Name() == "ci":
		v, err := w.named(children[1])
		if err != nil {
			return nil, err
		}
		e.Replace(children[1], []*sbml.Element{sbml.Leaf(children[1].Place(), "ci", v.name)})
		return v.by.times(w.in.time).of(e), nil
	}
	for _, c := range children {
		x, err := w.math(c)
		if err != nil {
			return nil, err
		}
		e.Replace(c, []*sbml.Element{x})
	}
	if len(children) == 3 && isSymbol(children[0], "delay") {
		past := e.Children()[2]
		e.Replace(past, []*sbml.Element{w.in.time.of(past)})
	}
	return e, nil
}

func isSymbol(e *sbml.Element, name string) bool {
	return e.Name() == "csymbol" && strings.HasSuffix(e.Attr("definitionURL"), "/"+name)
}

// symbol writes what a name stands for.
func (w *writer) symbol(e *sbml.Element) (*sbml.Element, error) {
	v, err := w.named(e)
	if err != nil {
		return nil, err
	}
	return v.by.of(sbml.Leaf(e.Place(), "ci", v.name)), nil
}

// named is what a name in an expression stands for.
func (w *writer) named(e *sbml.Element) (value, error) {
	id := e.Text()
	own := value{name: id}
	if slices.Contains(w.bound, id) {
		return own, nil
	}
	to := w.locals[id]
	if to != nil && w.facts[to].by == nil {
		return own, nil
	}
	if to == nil {
		to = w.in.ids[id]
	}
	switch {
	case to == nil && w.in.up == nil: // the importer tells
		return own, nil
	case to == nil:
		return own, sbml.Errorf(e.Place(), "nothing has the id %q%s", id, w.in.within())
	}
	return w.read(to, e.Place())
}
