package comp

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/exchange/sbml"
)

// flat is a model that is being flattened.
type flat struct {
	open      Open
	documents map[string]*library // by the paths of their files
	root      *instance
	all       []*instance // each before what it contains
	facts     map[*sbml.Element]*fact
	added     []*sbml.Element // parameters, with the initial assignments that give them their values
	products  map[string]string
}

// library is a file with definitions of models.
type library struct {
	name     string // the path of the file; "" for that of the model
	document *sbml.Element
	models   map[string]*sbml.Element
}

// instance is a copy of a model: the one model, or a submodel.
type instance struct {
	of     *sbml.Element // what it is a copy of
	model  *sbml.Element
	up     *instance     // the model that contains it
	as     *sbml.Element // its submodel element in that
	path   string        // its name for messages
	prefix string        // of the names of what it declares
	gone   bool          // it is deleted, or another stands for it

	all                        []*sbml.Element // what it contains, in the order of the file
	ids, units, metaids, ports map[string]*sbml.Element
	subs                       map[string]*instance
	given                      map[string]bool // submodels for which others stand

	time, extent product // what a unit of time, and of the extent of reactions, is in those of the one model
}

// fact is what is known of an element.
type fact struct {
	in     *instance
	parent *sbml.Element
	id     string        // its own, as the file has it
	local  *sbml.Element // the rate law whose parameter it is
	gone   bool          // it is deleted, with all that it contains

	by      *sbml.Element // what replaces it
	factor  string        // of conversion, an id where the replacement is declared
	from    *instance     // where that is
	heir    *sbml.Element // what it is replaced by, in a submodel
	title   *sbml.Element // what it is the heir of, and has the name of
	value   *value
	reading bool
}

// definitions returns a file's definitions.
func (f *flat) definitions(document *sbml.Element, name string) *library {
	l := &library{name, document, map[string]*sbml.Element{}}
	for _, kind := range []string{"listOfModelDefinitions", "listOfExternalModelDefinitions"} {
		for _, e := range list(document, kind) {
			l.models[attr(e, "id")] = e
		}
	}
	if m := document.Child("model"); m != nil && m.Attr("id") != "" {
		l.models[m.Attr("id")] = m
	}
	f.documents[name] = l
	return l
}

// external returns the definitions of the file that an external definition names.
func (f *flat) external(l *library, e *sbml.Element) (*library, error) {
	at, from := e.Place(), attr(e, "source")
	if strings.Contains(from, "://") && !strings.HasPrefix(from, "file://") || strings.HasPrefix(from, "urn:") {
		return nil, sbml.Errorf(at, "the model %s lies in the network (%s): put it beside the file",
			attr(e, "id"), from)
	}
	name := strings.TrimPrefix(strings.TrimPrefix(from, "file:"), "//")
	if name == "" {
		return nil, sbml.Errorf(at, "the external model %s has no source", attr(e, "id"))
	}
	if path.IsAbs(name) {
		return nil, sbml.Errorf(at, "the source of the model %s (%s) is a path from the root: give the one from the "+
			"folder of this file", attr(e, "id"), from)
	}
	name = path.Join(path.Dir(l.name), name)
	if found := f.documents[name]; found != nil {
		return found, nil
	}
	file, err := f.open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, sbml.Errorf(at, "there is no file %q beside the model, which has the model of %s", name,
			attr(e, "id"))
	case err != nil:
		return nil, sbml.Errorf(at, "the file of the model %s cannot be read: %v", attr(e, "id"), err)
	}
	document, err := sbml.ParseFile(file)
	if err != nil {
		return nil, err
	}
	if document.Name() != "sbml" {
		return nil, sbml.Errorf(document.Place(), "this is no SBML: its first element is <%s>", document.Name())
	}
	if document.Attr("level") != "3" {
		return nil, sbml.Errorf(document.Place(), "this is SBML of level %s, and others are composed of it: save it "+
			"as level 3", document.Attr("level"))
	}
	if err := sbml.Required(document); err != nil {
		return nil, err
	}
	return f.definitions(document, name), nil
}

// definition finds a model by its id in a file.
func (f *flat) definition(l *library, id string, of *sbml.Element) (*library, *sbml.Element, error) {
	for range 100 {
		e := l.models[id]
		switch {
		case id == "" && of.Name() == "externalModelDefinition": // the model of that file
			e = l.document.Child("model")
			if e == nil {
				return nil, nil, sbml.Errorf(of.Place(), "the file %q has no model", attr(of, "source"))
			}
		case e == nil && l.name != "":
			return nil, nil, sbml.Errorf(of.Place(), "the file %q has no model %q", l.name, id)
		case e == nil:
			return nil, nil, sbml.Errorf(of.Place(), "there is no model %q", id)
		}
		if e.Name() != "externalModelDefinition" {
			return l, e, nil
		}
		var err error
		if l, err = f.external(l, e); err != nil {
			return nil, nil, err
		}
		id, of = attr(e, "modelRef"), e
	}
	return nil, nil, sbml.Errorf(of.Place(), "the external model %s leads to itself", attr(of, "id"))
}

// size returns how many elements a model has with all that it is composed of, or a little more than maxElements. It
// leaves what is wrong to instance.
func (f *flat) size(l *library, model *sbml.Element, known map[*sbml.Element]int) int {
	if n, ok := known[model]; ok {
		return n
	}
	known[model] = 0
	n := 0
	model.Each(func(*sbml.Element) { n++ })
	for _, s := range submodels(model) {
		if from, of, err := f.definition(l, attr(s, "modelRef"), s); err == nil {
			n = min(n+f.size(from, of, known), maxElements+1)
		}
	}
	known[model] = n
	return n
}

// instance makes a copy of a model, and of all that it is composed of.
func (f *flat) instance(l *library, model *sbml.Element, up *instance, as *sbml.Element) (*instance, error) {
	in := &instance{
		of: model, model: model.Copy(), up: up, as: as,
		ids: map[string]*sbml.Element{}, units: map[string]*sbml.Element{}, metaids: map[string]*sbml.Element{},
		ports: map[string]*sbml.Element{}, subs: map[string]*instance{}, given: map[string]bool{},
	}
	if up != nil {
		in.path = attr(as, "id")
		if up.path != "" {
			in.path = up.path + "." + in.path
		}
	}
	f.all = append(f.all, in)
	if err := f.know(in, in.model, nil, nil); err != nil {
		return nil, err
	}
	for _, s := range submodels(in.model) {
		id := attr(s, "id")
		switch {
		case id == "":
			return nil, sbml.Errorf(s.Place(), "this submodel has no id")
		case in.subs[id] != nil:
			return nil, sbml.Errorf(s.Place(), "there are two submodels %q", id)
		case attr(s, "modelRef") == "":
			return nil, sbml.Errorf(s.Place(), "the submodel %s does not say of which model it is (modelRef)", id)
		}
		from, of, err := f.definition(l, attr(s, "modelRef"), s)
		if err != nil {
			return nil, err
		}
		for above := in; above != nil; above = above.up {
			if above.of == of {
				return nil, sbml.Errorf(s.Place(), "the submodel %s is of a model that contains it", id)
			}
		}
		sub, err := f.instance(from, of, in, s)
		if err != nil {
			return nil, err
		}
		in.subs[id] = sub
	}
	return in, nil
}

// know finds the names of an element and of what it contains.
func (f *flat) know(in *instance, e, parent, law *sbml.Element) error {
	in.all = append(in.all, e)
	known := &fact{in: in, parent: parent, id: e.Attr("id")}
	f.facts[e] = known
	names, id := in.ids, e.Attr("id")
	switch kind := e.Name(); {
	case kind == "annotation" || kind == "notes" || kind == "math":
		return nil // which may have what looks like ids
	case kind == "port":
		names, id = in.ports, attr(e, "id")
	case kind == "unitDefinition":
		names = in.units
	case law != nil && (kind == "localParameter" || kind == "parameter"):
		known.local, id = law, ""
	case e.Package() == "comp":
		id = attr(e, "id")
	case e == in.model:
		id = ""
	}
	if first := names[id]; id != "" && first != nil {
		return sbml.Errorf(e.Place(), "%q is declared twice%s", id, in.within())
	}
	if id != "" {
		names[id] = e
	}
	if meta := e.Attr("metaid"); meta != "" {
		in.metaids[meta] = e
	}
	if e.Name() == "kineticLaw" {
		law = e
	}
	for _, c := range e.Children() {
		if err := f.know(in, c, e, law); err != nil {
			return err
		}
	}
	return nil
}

// within says in which submodel something is.
func (in *instance) within() string {
	if in.path == "" {
		return ""
	}
	return " in the submodel " + in.path
}

// name is what the one model calls an instance's own names with, before their ids.
func (f *flat) name(in *instance) {
	for id, sub := range in.subs {
		if sub.up != in {
			continue
		}
		for n := 0; ; n++ {
			prefix := id + "__"
			if n > 0 {
				prefix = id + strconv.Itoa(n) + "__"
			}
			if !slices.ContainsFunc(in.all, func(e *sbml.Element) bool {
				return strings.HasPrefix(attr(e, "id"), prefix) || strings.HasPrefix(e.Attr("metaid"), prefix)
			}) {
				sub.prefix = in.prefix + prefix
				break
			}
		}
		f.name(sub)
	}
}
