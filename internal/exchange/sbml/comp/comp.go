// Package comp makes one model of models in SBML that are composed of submodels, so that the importer need not know of
// them.
//
// L. P. Smith et al., SBML Level 3 package: Hierarchical Model Composition, Version 1 Release 3, Journal of Integrative
// Bioinformatics 12 (2015) 268, says what they mean. What is x in the submodel A is A__x in the one model, as other
// programs call it.
//
// Every submodel is a copy of the model that it is of. References are resolved in these copies as they are written;
// then it is known of each element whether it is deleted, or what stands for it. Last, what is left is written with
// the names of the one model: expressions of a submodel read what they name there, in the units of the submodel.
package comp

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/exchange/sbml"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// Open returns a file that a model refers to, by its path from the folder of the model.
type Open func(name string) (*source.File, error)

// Beside opens the files that lie beside a model, which is at a path of files itself.
func Beside(files fs.FS, model *source.File, name string) Open {
	return func(other string) (*source.File, error) {
		if files == nil {
			return nil, fs.ErrNotExist
		}
		b, err := input.ReadAround(files, path.Join(path.Dir(name), other), input.MaxText, ".xml", ".sbml")
		if err != nil {
			return nil, err
		}
		name := filepath.Join(filepath.Dir(model.Name()), filepath.FromSlash(other))
		return source.NewFile(name, strings.TrimPrefix(string(b), "\ufeff")), nil
	}
}

// Translate writes a model in SBML in the language of odes, in its normal layout. Files has what it refers to. It
// reports to list what is wrong or cannot be translated, and returns nil then, and notes of what was left out or
// assumed.
func Translate(file *source.File, open Open, o sbml.Options, list *diag.List) *source.File {
	document := parse(file, open, list)
	if document == nil {
		return nil
	}
	return sbml.TranslateTree(file, document, o, list)
}

// Read reads a model. It reports to list what is wrong or cannot be translated, and returns nil then. Changed are the
// ids of what others change during runs.
func Read(file *source.File, open Open, list *diag.List, changed ...string) *sbml.Model {
	document := parse(file, open, list)
	if document == nil {
		return nil
	}
	return sbml.ReadTree(file, document, list, changed...)
}

func parse(file *source.File, open Open, list *diag.List) *sbml.Element {
	document, err := sbml.Parse(file.Text())
	if err == nil {
		document, err = Flatten(document, open)
	}
	if !sbml.Report(file, err, list) {
		return nil
	}
	return document
}

// maxElements is how many elements submodels may have, with all that they contain: each of some that have two of the
// next doubles them.
const maxElements = 1 << 20

// Flatten returns a document without submodels that means what the document means. One that has none is returned as it
// is.
func Flatten(document *sbml.Element, open Open) (*sbml.Element, error) {
	model := document.Child("model")
	if document.Name() != "sbml" || model == nil || len(submodels(model)) == 0 {
		return document, nil
	}
	if err := sbml.Required(document); err != nil {
		return nil, err
	}
	f := newFlat(open)
	return f.flatten(f.definitions(document, ""), model, document)
}

func newFlat(open Open) *flat {
	return &flat{open: open, facts: map[*sbml.Element]*fact{}, documents: map[string]*library{}}
}

// flatten returns a document of a model, which one has, with all that it is composed of written out.
func (f *flat) flatten(own *library, model, document *sbml.Element) (*sbml.Element, error) {
	if f.size(own, model, map[*sbml.Element]int{}) > maxElements {
		return nil, sbml.Errorf(model.Place(), "the submodels have more than %d elements, with all that they contain",
			maxElements)
	}
	root, err := f.instance(own, model, nil, nil)
	if err != nil {
		return nil, err
	}
	f.root = root
	for _, step := range []func() error{f.exchange, f.delete, f.replace, f.inherit, f.factors} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	flattened, err := f.write()
	if err != nil {
		return nil, err
	}
	return alone(document, flattened), nil
}

// alone is a model as a document like another.
func alone(document, model *sbml.Element) *sbml.Element {
	whole := sbml.New(document.Place(), "sbml")
	for _, name := range []string{"level", "version"} {
		whole.Set(name, document.Attr(name))
	}
	return whole.Add(model)
}

// list returns the members of a list of the package.
func list(e *sbml.Element, name string) []*sbml.Element {
	for _, c := range e.Children() {
		if c.Name() == name && c.Package() == "comp" {
			var members []*sbml.Element
			for _, x := range c.Children() {
				if x.Package() == "comp" {
					members = append(members, x)
				}
			}
			return members
		}
	}
	return nil
}

func submodels(model *sbml.Element) []*sbml.Element { return list(model, "listOfSubmodels") }

// attr returns an attribute of an element of the package. Model definitions have ids of SBML itself.
func attr(e *sbml.Element, name string) string {
	if v := e.Of("comp", name); v != "" {
		return v
	}
	return e.Attr(name)
}
