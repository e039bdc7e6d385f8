package typecheck

import (
	"fmt"
	"slices"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/units"
)

// One wrong definition makes every use of it wrong. Therefore a contradiction of units is reported
// once for a let without a unit of its own. Where the same factor is missing in another place and
// the same let takes part, only the place is recorded.

// cause is a let, and the factor between two units that should be the same.
type cause struct {
	let    *entity
	factor string
}

// reportedAs reports whether a contradiction at s between u and v was reported already, and then
// records its place. The expressions es have the values that take part.
func (c *checker) reportedAs(s source.Span, u, v units.Unit, es ...model.Expr) bool {
	if c.unitMode == "off" || len(c.letOf) == 0 {
		return false
	}
	var lets []*entity
	model.Walk(func(e model.Expr) bool {
		if l := c.letOf[e]; l != nil {
			lets = append(lets, l)
		}
		return true
	}, es...)
	factors := [2]string{u.Div(v).SI(), v.Div(u).SI()}
	for _, l := range lets {
		for _, f := range factors {
			if first, ok := c.causes[cause{l, f}]; ok && first != s {
				c.alike[first] = append(c.alike[first], s)
				return true
			}
		}
	}
	if c.causes == nil {
		c.causes, c.alike = map[cause]source.Span{}, map[source.Span][]source.Span{}
	}
	for _, l := range lets {
		c.causes[cause{l, factors[0]}] = s
	}
	return false
}

// repeated adds to the report of a contradiction the places that were only recorded.
func (c *checker) repeated(d *diag.Diagnostic) {
	const shown = 3
	if d.Code != CodeUnit {
		return
	}
	places := c.alike[d.Span]
	if len(places) == 0 {
		return
	}
	d.Related = slices.Clone(d.Related)
	for i, s := range places[:min(len(places), shown)] {
		text := "the same factor is missing here"
		if left := len(places) - shown; i == shown-1 && left > 0 {
			text += fmt.Sprintf(", and in %s more", plural(left, "place", "places"))
		}
		d.Relate(s, "%s", text)
	}
}
