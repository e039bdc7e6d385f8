package sbml

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// element is an element of XML, with the place of its start tag.
type element struct {
	name     xml.Name
	attrs    []xml.Attr
	text     string // what stands in it, without the text of its children
	parts    []byte // of the text, while it is being read
	children []*element
	place
}

// maxDepth is how deeply elements may be nested: expressions of real models need some tens.
const maxDepth = 2000

func isUTF16(text string) bool {
	return strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff")
}

// parse reads the elements of a document.
func parse(text string) (*element, error) {
	encoding := ""
	if isUTF16(text) {
		encoding = "UTF-16"
	}
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(name string, r io.Reader) (io.Reader, error) {
		if strings.EqualFold(name, "us-ascii") || strings.EqualFold(name, "ascii") {
			return r, nil
		}
		encoding = name
		return nil, errors.ErrUnsupported
	}
	root := &element{}
	open := []*element{root}
	for {
		start := int(d.InputOffset())
		token, err := d.Token()
		at := place{start: start, end: int(d.InputOffset())}
		if errors.Is(err, io.EOF) {
			break
		}
		if encoding != "" {
			return nil, fail(place{}, "its encoding is %s: save it as UTF-8", encoding)
		}
		if err != nil {
			text := err.Error()
			var syntax *xml.SyntaxError
			if errors.As(err, &syntax) {
				text = syntax.Msg
			}
			return nil, fail(place{start: at.end, end: at.end}, "this is no XML: %s", text)
		}
		top := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			if len(open) > maxDepth {
				return nil, fail(at, "elements are nested more than %d deep", maxDepth)
			}
			top.parts = append(top.parts, ' ') // parts of a number with <sep/> between them are two
			e := &element{name: t.Name, attrs: t.Copy().Attr, place: at}
			top.children = append(top.children, e)
			open = append(open, e)
		case xml.EndElement:
			top.text, top.parts = strings.TrimSpace(string(top.parts)), nil
			open = open[:len(open)-1]
		case xml.CharData:
			top.parts = append(top.parts, t...)
		}
	}
	switch {
	case len(root.children) == 0:
		return nil, fail(place{}, "the file is empty")
	case len(root.children) > 1:
		return nil, fail(root.children[1].place, "this is no XML: something follows the end")
	}
	return root.children[0], nil
}

// attr returns an attribute of SBML's own, or "". Those of packages and annotations have a name space.
func (e *element) attr(name string) string {
	for _, a := range e.attrs {
		if a.Name.Local == name && a.Name.Space == "" {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

// is reports whether an attribute is true, and isNot whether it is false: it may be neither.
func (e *element) is(name string) bool {
	v := e.attr(name)
	return v == "true" || v == "1"
}

func (e *element) isNot(name string) bool {
	v := e.attr(name)
	return v == "false" || v == "0"
}

// child returns the first child of that name, or nil.
func (e *element) child(name string) *element {
	if e != nil {
		for _, c := range e.children {
			if c.name.Local == name {
				return c
			}
		}
	}
	return nil
}

// list returns what a list, such as listOfEvents, contains.
func (e *element) list(name string) []*element {
	if l := e.child(name); l != nil {
		var members []*element
		for _, c := range l.children {
			if c.name.Local != "notes" && c.name.Local != "annotation" {
				members = append(members, c)
			}
		}
		return members
	}
	return nil
}

// become makes an operator the symbol at an address.
func (e *element) become(symbol string) {
	e.name.Local, e.attrs = "csymbol", append(e.attrs, xml.Attr{Name: xml.Name{Local: "definitionURL"}, Value: symbol})
}

// math returns the expression in e, or nil.
func (e *element) math() *element {
	m := e.child("math")
	for m != nil && len(m.children) > 0 {
		if m = m.children[0]; m.name.Local != "semantics" {
			return m
		}
	}
	return nil
}

// each visits e and all that it contains.
func (e *element) each(visit func(*element)) {
	if e == nil {
		return
	}
	visit(e)
	for _, c := range e.children {
		c.each(visit)
	}
}
