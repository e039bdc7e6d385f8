package typecheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/stdlib"
)

// declareIt is what to do about an unknown name that is like no other.
const declareIt = "; declare it with param, const, state or let"

// undefined reports an unknown name with the nearest known ones. It returns what it reported, or nil.
func (c *checker) undefined(x context, id ast.Ident) *diag.Diagnostic {
	if !id.Quoted && parser.Reserved(id.Name) {
		return nil // the parser has reported that it is no name
	}
	if e := c.others[id.Name]; e != nil {
		c.noValue(id, e)
		return nil
	}
	if f := stdlib.Named(id.Name); len(f) > 0 {
		arguments := "…"
		if len(f[0].Args) == 0 || id.Name == "nll" {
			arguments = ""
		}
		c.errorf(CodeUndefined, id.Span, "%q is a function; call it: %s(%s)", id.Name, id.Name, arguments)
		return nil
	}
	d := c.errorf(CodeUndefined, id.Span, "%q is not defined", id.Name)
	d.Later(func(d *diag.Diagnostic) { advise(c, d, x, id) })
	return d
}

// advise says what an unknown name may mean.
func advise(c *checker, d *diag.Diagnostic, x context, id ast.Ident) {
	var known []string
	for s := x.scope; s != nil; s = s.outer {
		known = append(known, s.name)
	}
	for n, e := range c.namesOf(x) {
		if usesOf(e.kind)&^x.place.allow == 0 && e.kind <= letName {
			known = append(known, n)
		}
	}
	for _, k := range stdlib.Constants {
		known = append(known, k.Name)
	}
	if at, is := c.unitInShape(x, id); is {
		d.Message += "; brackets behind a name hold the size of an array, and a unit stands behind a colon: name : " +
			at.Text()
		d.Fix(at, ": "+at.Text(), "write a colon")
	} else if best := nearest(id.Name, known); best != "" {
		d.Message += fmt.Sprintf("; did you mean %q?", best)
		d.Fix(id.Span, best, "write "+best)
		if e, ok := c.namesOf(x)[best]; ok {
			d.Relate(e.span, "%q is declared here", best)
		}
	} else if hint := stdlib.ForeignBefore(id.Name, id.Span.File.Text()[id.Span.End:]); hint != "" {
		d.Message += "; " + hint
	} else if c.isUnit(id.Name) && !x.place.fixed {
		if len(id.Name) == 1 {
			d.Message += fmt.Sprintf("; declare it, as in param %s = 1", id.Name)
		}
		d.Message += fmt.Sprintf("; as a unit it stands in brackets behind a number: 1 [%s], 1 [1/%[1]s]", id.Name)
	} else if x.looped {
		d.Message += fmt.Sprintf("; a loop over an index stands at the end: for %s in 1:n", id.Name)
	} else if x.end != 0 {
		d.Message += fmt.Sprintf("; a loop over an index stands at the end: for %s in 1:%d", id.Name, x.end)
	} else if x.table != nil {
		d.Message += fmt.Sprintf("; table %q has %s", x.table.Name, x.table.names())
	} else {
		d.Message += declareIt
	}
}

// unitInShape returns the brackets of a shape that names a unit, as in param k [1/h] = 2. In n[m], m may be a size.
func (c *checker) unitInShape(x context, id ast.Ident) (at source.Span, is bool) {
	if x.place.name != dimension || !c.isUnit(id.Name) {
		return at, false
	}
	text := id.Span.File.Text()
	from, to := strings.LastIndexByte(text[:id.Span.Start], '['), strings.IndexByte(text[id.Span.End:], ']')
	if from < 1 || to < 0 {
		return at, false
	}
	at = source.Span{File: id.Span.File, Start: from, End: id.Span.End + to + 1}
	within := at.Text()
	return at, !strings.ContainsAny(within, "\n=,") && (text[from-1] == ' ' || strings.Contains(within, "/"))
}

// nearest returns the candidate that is nearest to a name, or "". Among equals it takes the one with the longest common
// start, then the alphabetically first.
func nearest(name string, candidates []string) string {
	best, _ := diag.Nearest(name, slices.Sorted(slices.Values(candidates)))
	return best
}

// namesOf returns the names of a kind.
func namesOf(c *checker, kind entityKind) (list []string) {
	for n, g := range c.globals {
		if g.kind == kind {
			list = append(list, n)
		}
	}
	return list
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
