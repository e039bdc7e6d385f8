package sedml

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/internal/exchange/sbml"
	"odes.dev/odes/lang/source"
)

// changed returns the document of a model, with all changes that the experiment makes to it, and its file, with the
// path of that.
func (x *experiment) changed(id string, from *sbml.Element, depth int) (
	file *source.File, where string, document *sbml.Element, err error,
) {
	m := x.named("listOfModels", id)
	switch {
	case m == nil:
		return nil, "", nil, x.fail(from, "there is no model %q", id)
	case depth > 100:
		return nil, "", nil, x.fail(m, "the model %s is made from itself", id)
	case m.Attr("language") != "" && !strings.Contains(strings.ToLower(m.Attr("language")), "sbml"):
		return nil, "", nil, x.fail(m, "the model %s is in the language %s: odes reads SBML", id, m.Attr("language"))
	}
	name := m.Attr("source")
	if of := strings.TrimPrefix(name, "#"); x.named("listOfModels", of) != nil && of != id {
		if file, where, document, err = x.changed(of, m, depth+1); err != nil {
			return nil, "", nil, err
		}
	} else if file, where, document, err = x.source(m, name); err != nil {
		return nil, "", nil, err
	}
	for _, c := range m.List("listOfChanges") {
		if err := x.change(document, c); err != nil {
			return nil, "", nil, err
		}
	}
	return file, where, document, nil
}

// source reads a model's file, which lies where it says.
func (x *experiment) source(m *sbml.Element, name string) (
	file *source.File, where string, document *sbml.Element, err error,
) {
	where = name
	switch {
	case strings.Contains(name, "://") || strings.HasPrefix(name, "urn:"):
		return nil, "", nil, x.fail(m, "the model %s lies in the network (%s): put it into the archive", m.Attr("id"),
			name)
	case x.zip != nil:
		where = path.Join(x.folder, name)
		text, err := x.entry(where)
		if err != nil {
			return nil, "", nil, x.fail(m, "%v", err)
		}
		file = x.inside(where, text)
	case x.files == nil:
		return nil, "", nil, x.fail(m, "there is no file %q where the experiment lies", name)
	default:
		b, err := input.ReadAround(x.files, name, input.MaxText, ".xml", ".sbml")
		if err != nil {
			return nil, "", nil, x.fail(m, "%v", err)
		}
		file = source.NewFile(path.Join(path.Dir(x.file.Name()), name), strings.TrimPrefix(string(b), "\ufeff"))
	}
	document, err = sbml.Parse(file.Text())
	if err != nil {
		at, _ := sbml.Where(err)
		return nil, "", nil, &failure{file, at, err.Error()}
	}
	return file, where, document, nil
}

// change makes one.
func (x *experiment) change(document, c *sbml.Element) error {
	parent, e, attribute, err := x.target(document, c)
	if err != nil {
		return err
	}
	switch kind := c.Name(); {
	case kind == "changeAttribute" && attribute != "":
		e.Set(attribute, c.Attr("newValue"))
	case kind == "removeXML" && attribute != "":
		e.Remove(attribute)
	case kind == "removeXML" && parent != nil:
		parent.Replace(e, nil)
	case kind == "changeXML" && attribute == "" && parent != nil:
		parent.Replace(e, newXML(c))
	case kind == "addXML" && attribute == "":
		e.Add(newXML(c)...)
	default:
		return x.fail(c, "the change <%s> of %s is none that odes reads", c.Name(), c.Attr("target"))
	}
	return nil
}

func newXML(c *sbml.Element) []*sbml.Element {
	if n := c.Child("newXML"); n != nil {
		return n.Children()
	}
	return nil
}

var (
	stepForm      = lazy.Regexp(`^(?:descendant::)?(?:\w+:)?(\w+|\*)((?:\[[^\]]*\])*)$`)
	predicateForm = lazy.Regexp(`^\s*@(\w+)\s*=\s*(?:'([^']*)'|"([^"]*)")\s*$`)
	predicate     = lazy.Regexp(`\[([^\]]*)\]`)
	andForm       = lazy.Regexp(`\s+and\s+`)
)

// steps splits a path at its slashes, but for those in brackets.
func steps(text string) []string {
	var list []string
	depth, from := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '[':
			depth++
		case ']':
			depth--
		case '/':
			if depth == 0 {
				list = append(list, text[from:i])
				from = i + 1
			}
		}
	}
	return append(list, text[from:])
}

// target finds what a path of XPath says: an element with its parent, and perhaps an attribute of it.
func (x *experiment) target(document, c *sbml.Element) (parent, e *sbml.Element, attribute string, err error) {
	text := c.Attr("target")
	root := sbml.New(sbml.At(0, 0), "").Add(document)
	type found struct{ parent, e *sbml.Element }
	at, deep := []found{{nil, root}}, false
	for i, step := range steps(text) {
		switch {
		case step == "" && i == 0:
			continue
		case step == "":
			deep = true
			continue
		case strings.HasPrefix(step, "@"):
			_, attribute, _ = cutLast(":"+step[1:], ":")
			continue
		}
		m := stepForm().FindStringSubmatch(strings.TrimSpace(step))
		if m == nil || attribute != "" {
			return nil, nil, "", x.fail(c, "the path %s is more than odes reads of XPath", text)
		}
		var next []found
		for _, f := range at {
			var visit func(e *sbml.Element)
			visit = func(e *sbml.Element) {
				for _, child := range e.Children() {
					if m[1] == "*" || child.Name() == m[1] {
						next = append(next, found{e, child})
					}
					if deep || strings.HasPrefix(step, "descendant::") {
						visit(child)
					}
				}
			}
			visit(f.e)
		}
		deep = false
		for _, p := range predicate().FindAllStringSubmatch(m[2], -1) {
			if n, err := strconv.Atoi(strings.TrimSpace(p[1])); err == nil {
				if n < 1 || n > len(next) {
					next = nil
				} else {
					next = next[n-1 : n]
				}
				continue
			}
			for _, part := range andForm().Split(p[1], -1) {
				q := predicateForm().FindStringSubmatch(part)
				if q == nil {
					return nil, nil, "", x.fail(c, "the path %s is more than odes reads of XPath", text)
				}
				next = slices.DeleteFunc(next, func(f found) bool { return f.e.Attr(q[1]) != q[2]+q[3] })
			}
		}
		at = next
	}
	if len(at) != 1 || at[0].e == root {
		return nil, nil, "", x.fail(c, "the path %s finds %d elements of the model, not one", text, len(at))
	}
	return at[0].parent, at[0].e, attribute, nil
}

// setting is what a run of a scan sets.
type setting struct {
	of     *sbml.Element // setValue
	values map[string]float64
}

// scan reads a repeated task of one task: what its run of a number sets.
func (x *experiment) scan(e *sbml.Element, asked string, run int) (*sbml.Element, []setting, error) {
	id := e.Attr("id")
	inner := e.List("listOfSubTasks")
	if len(inner) != 1 {
		return nil, nil, x.fail(e, "the repeated task %s has %d tasks in it: odes reads scans of one", id, len(inner))
	}
	of := x.named("listOfTasks", inner[0].Attr("task"))
	if of == nil {
		return nil, nil, x.fail(inner[0], "there is no task %q", inner[0].Attr("task"))
	}
	if v := e.Attr("resetModel"); v == "false" || v == "0" {
		return nil, nil, x.fail(e, "the repeated task %s goes on where the run before it ended (resetModel = false): "+
			"write events", id)
	}
	values := map[string][]float64{}
	n := -1
	for _, r := range e.List("listOfRanges") {
		list, err := x.span(r)
		if err != nil {
			return nil, nil, err
		}
		values[r.Attr("id")] = list
		if r.Attr("id") == e.Attr("range") || n < 0 && e.Attr("range") == "" {
			n = len(list)
		}
	}
	switch {
	case n < 1:
		return nil, nil, x.fail(e, "the repeated task %s has no range", id)
	case run > n:
		return nil, nil, x.fail(e, "%s has %d runs", id, n)
	case run == 0 && asked != "":
		return nil, nil, x.fail(e, "%s is a scan of %d runs: --in %[1]s_1 gives the first", id, n)
	case run == 0:
		run = 1
	}
	now := map[string]float64{}
	for name, list := range values {
		if run > len(list) {
			return nil, nil, x.fail(e, "the range %s has %d values, fewer than the %d runs", name, len(list), n)
		}
		now[name] = list[run-1]
	}
	var sets []setting
	for _, c := range e.List("listOfChanges") {
		sets = append(sets, setting{c, now})
	}
	return of, sets, nil
}

// span lists the values of a range.
func (x *experiment) span(r *sbml.Element) (list []float64, err error) {
	switch r.Name() {
	case "vectorRange":
		for _, c := range r.Children() {
			v, err := strconv.ParseFloat(c.Text(), 64)
			if err != nil {
				return nil, x.fail(c, "%q is no number", c.Text())
			}
			list = append(list, v)
		}
		return list, nil
	case "uniformRange":
		start, errStart := strconv.ParseFloat(r.Attr("start"), 64)
		end, errEnd := strconv.ParseFloat(r.Attr("end"), 64)
		count := r.Attr("numberOfPoints")
		if count == "" {
			count = r.Attr("numberOfSteps")
		}
		n, errCount := strconv.Atoi(count)
		log := r.Attr("type") == "log"
		if errStart != nil || errEnd != nil || errCount != nil || n < 1 || n > 1_000_000 ||
			log && !(start > 0 && end > 0) {
			return nil, x.fail(r, "the range %s needs start, end and numberOfPoints", r.Attr("id"))
		}
		for i := range n + 1 {
			part := float64(i) / float64(n)
			if log {
				list = append(list, start*math.Pow(end/start, part))
			} else {
				list = append(list, start+(end-start)*part)
			}
		}
		return list, nil
	}
	return nil, x.fail(r, "the range %s is a <%s>: odes reads uniformRange and vectorRange", r.Attr("id"), r.Name())
}

// apply writes what a run of a scan sets, as items of an experiment.
func (x *experiment) apply(m *sbml.Model, sets []setting) (items string, err error) {
	for _, s := range sets {
		id := ""
		if q := lastID().FindStringSubmatch(s.of.Attr("target")); q != nil {
			id = q[1]
		}
		name, isParam, ok := m.Name(id)
		if !ok || m.IsRule(id) {
			return "", x.fail(s.of, "%s is no symbol of the model that a scan could set", s.of.Attr("target"))
		}
		if !isParam {
			name = m.Start(id)
		}
		math := s.of.Child("math")
		if math == nil || len(math.Children()) != 1 {
			return "", x.fail(s.of, "the change of %s has no value", id)
		}
		names := map[string]string{}
		for r, v := range s.values {
			names[r] = "(" + number(v) + ")"
		}
		value, err := sbml.Expression(m, math.Children()[0], names)
		if err != nil {
			return "", x.fail(s.of, "%v", err)
		}
		items += "\n  " + name + " = " + value
	}
	if items != "" {
		items += "\n"
	}
	return items, nil
}

var lastID = lazy.Regexp(`\[\s*@id\s*=\s*['"](\w+)['"]\s*\](?:/@\w+)?$`)
