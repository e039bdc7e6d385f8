package report

import (
	"fmt"
	"strings"

	"odes.dev/odes"
)

// columnName names column k of the gradient.
func columnName(s *odes.Sensitivities, k int) string {
	for _, v := range s.Variables {
		if k >= v.Offset && k < v.Offset+v.Size() {
			return variableElement(v, k-v.Offset)
		}
	}
	return ""
}

// sides writes the derivatives of objective i that are others on the other side, with both numbers, and by what it
// leaps, with both values. Nothing is written where there are none.
func (j *jsonWriter) sides(s *odes.Sensitivities, i int) {
	n := 0
	begin := func(k int) {
		if n++; n == 1 {
			j.raw(",\n     \"one_sided\": [")
		} else {
			j.raw(", ")
		}
		j.raw("{\"by\": ")
		j.text(columnName(s, k))
	}
	end := func(of []int) {
		j.raw(fmt.Sprintf(", \"coincidences\": %s}", strings.ReplaceAll(fmt.Sprint(of), " ", ", ")))
	}
	for _, b := range s.OneSided.Sides {
		if b.Value != i {
			continue
		}
		begin(b.Column)
		j.raw(", \"left\": ")
		j.number(b.Left)
		j.raw(", \"right\": ")
		j.number(b.Right)
		end(b.Coincidences)
	}
	for _, x := range s.OneSided.Leaps {
		if x.Value != i {
			continue
		}
		begin(x.Column)
		j.raw(", \"left\": null, \"right\": null, \"values\": [")
		j.number(x.Left)
		j.raw(", ")
		j.number(x.Right)
		j.raw("]")
		end(x.Coincidences)
	}
	if n > 0 {
		j.raw("]")
	}
}

// coincidences writes where causes come at one time so that derivatives are others on the other side.
func (j *jsonWriter) coincidences(s *odes.Sensitivities) {
	for k, c := range s.OneSided.Coincidences {
		if k == 0 {
			j.raw(",\n  \"coincidences\": [")
		} else {
			j.raw(", ")
		}
		j.raw("{\"t\": ")
		j.number(c.T)
		j.raw(", \"causes\": ")
		j.texts(c.Causes)
		j.raw(fmt.Sprintf(", \"leap\": %t}", c.Leap))
	}
	if len(s.OneSided.Coincidences) > 0 {
		j.raw("]")
	}
}

// bothSides says what derivatives with the mark of one side are on both, and what leaps.
func (p *printer) bothSides(s *odes.Sensitivities) {
	var list, leaps []string
	for _, b := range s.OneSided.Sides {
		list = append(list, fmt.Sprintf("%s by %s %s | %s", s.Values[b.Value].Name, columnName(s, b.Column),
			significant(b.Left, 8), significant(b.Right, 8)))
	}
	for _, x := range s.OneSided.Leaps {
		leaps = append(leaps, fmt.Sprintf("%s by %s %s | %s", s.Values[x.Value].Name, columnName(s, x.Column),
			significant(x.Left, 8), significant(x.Right, 8)))
	}
	p.someOf(sidedMark+" one-sided, left | right: ", list)
	p.someOf("leaps, value on the left | on the right: ", leaps)
}

// someOf writes a list after what it is, and the first of many alone.
func (p *printer) someOf(what string, list []string) {
	const most = 6
	if len(list) == 0 {
		return
	}
	more := ""
	if n := len(list) - most; n > 0 {
		list, more = list[:most], fmt.Sprintf(" and %d more: all with --format json", n)
	}
	p.prose("\n%s%s%s", what, strings.Join(list, ", "), more)
}
