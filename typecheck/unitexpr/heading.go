package unitexpr

import (
	"strconv"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/stdlib"
)

// SplitHeading splits the heading of a column, "conc [mg/L]", into name and unit, with its brackets.
func SplitHeading(h string) (name, unit string) {
	if i := strings.IndexByte(h, '['); i > 0 && strings.HasSuffix(h, "]") {
		return strings.TrimSpace(h[:i]), h[i:]
	}
	return strings.TrimSpace(h), ""
}

// Name returns the name in the heading of a column.
func Name(heading string) string {
	name, _ := SplitHeading(heading)
	return name
}

// Round returns what stands in round brackets at the end of a heading, if it is made of units that exist: text is that
// without the brackets. In "conc (ng/mL)" they are a part of the name, and may be meant as a unit.
func Round(heading string, is func(name string) bool) (text string, u *ast.Unit) {
	inner, closed := strings.CutSuffix(heading, ")")
	i := strings.LastIndexByte(inner, '(')
	if !closed || i < 1 {
		return "", nil
	}
	if u = stdlib.ParseUnit("[" + inner[i+1:] + "]"); !Known(u, is) {
		return "", nil
	}
	return inner[i+1:], u
}

// Known reports whether a unit is made of units that exist; is reports whether a name is that of one.
func Known(u *ast.Unit, is func(name string) bool) bool {
	if u == nil {
		return false
	}
	for _, f := range u.Factors {
		if f.Group != nil && !Known(f.Group, is) || f.Group == nil && f.Number == nil && !is(f.Name) {
			return false
		}
	}
	return true
}

// Move gives all parts of a unit that was read from a text the place of the text, and returns it.
func Move(u *ast.Unit, at source.Span) *ast.Unit {
	u.Span = at
	for i := range u.Factors {
		u.Factors[i].Span = at
		if g := u.Factors[i].Group; g != nil {
			Move(g, at)
		}
	}
	return u
}

// Headed is the end of a message about a column that a table does not have: how to name the one whose heading begins
// with that name, as in "DOSE (mg)", or which name is like it.
func Headed(name string, headings []string) string {
	heading := ""
	for _, h := range headings {
		if first, _, more := strings.Cut(h, " "); more && strings.EqualFold(first, name) {
			if heading != "" { // two are none
				return ""
			}
			heading = h
		}
	}
	if heading == "" {
		return diag.DidYouMean(name, headings)
	}
	return "; name it: csv(…, " + name + " = " + strconv.Quote(heading) + ")"
}
