package plot

import (
	"fmt"
	"strings"
)

// nameOf returns a short text on what a picture shows: its title, or what it is named after.
func nameOf(p Picture) string {
	switch p := p.(type) {
	case *Lines:
		if p.Title != "" {
			return p.Title
		}
		name := p.Y.title()
		if p.Y.Label == "" {
			var names []string
			for _, c := range p.Curves[:min(len(p.Curves), maxLegend)] {
				if c.Name != "" {
					names = append(names, c.Name)
				}
			}
			name = strings.TrimSpace(strings.Join(names, ", ") + " " + name)
		}
		return strings.TrimSpace(name + " over " + p.X.title())
	case *Bars:
		if p.Title != "" {
			return p.Title
		}
		return p.X.title()
	case *Heat:
		return p.Title
	case *Stack:
		if p.Title == "" && len(p.Panels) > 0 {
			return nameOf(p.Panels[0])
		}
		return p.Title
	case *Corner:
		return p.Title
	}
	return ""
}

// about describes a picture in words.
func about(p Picture) string {
	switch p := p.(type) {
	case *Lines:
		x, y, ok := p.spans()
		if !ok {
			return "nothing to draw"
		}
		return fmt.Sprintf("%s, from %s to %s; values from %s to %s", nameOf(p), number(x.lo, 4), number(x.hi, 4),
			number(y.lo, 4), number(y.hi, 4))
	case *Bars:
		var list []string
		for _, it := range p.Items[:min(len(p.Items), maxLegend)] {
			list = append(list, it.Label+" "+it.note())
		}
		return strings.Join(list, ", ")
	case *Heat:
		cols := 0
		if len(p.Values) > 0 {
			cols = len(p.Values[0])
		}
		return fmt.Sprintf("a heat map of %d × %d values", len(p.Values), cols)
	case *Stack:
		var list []string
		for _, q := range p.Panels {
			list = append(list, about(q))
		}
		return strings.Join(list, ". ")
	case *Corner:
		return about(&Stack{Panels: p.panels()})
	}
	return ""
}
