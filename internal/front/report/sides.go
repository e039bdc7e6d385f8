package report

import (
	"fmt"
	"strings"

	"odes.dev/odes"
)

// columnName names column k of the gradient, or the direction.
func columnName(s *odes.Sensitivities, k int) string {
	if k == odes.Along {
		return "direction"
	}
	return elementOf(s.Variables, k)
}

// elementOf names what column k is of.
func elementOf(vars []odes.Variable, k int) string {
	for _, v := range vars {
		if k >= v.Offset && k < v.Offset+v.Size() {
			return variableElement(v, k-v.Offset)
		}
	}
	return ""
}

// sidedForm is what an objective has on both sides, and where causes come at one time so.
type sidedForm struct {
	sideForm
	Coincidences []int `json:"coincidences"`
}

// sidedOf returns the derivatives of objective i that are others on the other side, and by what it leaps.
func sidedOf(s *odes.Sensitivities, i int) (list []sidedForm) {
	for k := range s.OneSided.Sides {
		if b := &s.OneSided.Sides[k]; b.Value == i && b.Column != odes.Along {
			list = append(list, sidedForm{sidesAt(columnName(s, b.Column), b.Left, b.Right), b.Coincidences})
		}
	}
	for _, x := range s.OneSided.Leaps {
		if x.Value == i && x.Column != odes.Along {
			side := sideForm{By: columnName(s, x.Column), Values: []float64{x.Left, x.Right}}
			list = append(list, sidedForm{side, x.Coincidences})
		}
	}
	return list
}

// timeSidedOf returns the derivatives of the time of an event on both sides: none where it does not come.
func timeSidedOf(vars []odes.Variable, b *odes.TimeSides) sidedForm {
	return sidedForm{sidesAt(elementOf(vars, b.Column), b.Left, b.Right), b.Coincidences}
}

// sidesAt is a derivative on both sides; NaN is for a side on which there is nothing.
func sidesAt(by string, left, right float64) sideForm {
	form := sideForm{By: by}
	if left == left {
		form.Left = &left
	}
	if right == right {
		form.Right = &right
	}
	return form
}

// coincidenceForm is causes that come at one time, so that derivatives are others on the other side.
type coincidenceForm struct {
	T      float64     `json:"t"`
	Causes []string    `json:"causes"`
	Leap   bool        `json:"leap"`
	Pieces []pieceForm `json:"pieces,omitempty" at:"5"`
}

// pieceForm is an order of causes, and the derivatives by elements of variables, by objectives, of a run in which it
// holds.
type pieceForm struct {
	Order    []string `json:"order"`
	Gradient pairs    `json:"gradient"`
}

func coincidencesOf(s *odes.Sensitivities) (list []coincidenceForm) {
	for _, c := range s.OneSided.Coincidences {
		form := coincidenceForm{T: c.T, Causes: c.Causes, Leap: c.Leap}
		for _, x := range c.Pieces {
			piece := pieceForm{Order: x.Order}
			for i, v := range s.Values {
				var row pairs
				for k, name := range elements(s.Variables) {
					row = append(row, pair{name, x.Gradient[i*s.Columns+k]})
				}
				piece.Gradient = append(piece.Gradient, pair{v.Name, row})
			}
			form.Pieces = append(form.Pieces, piece)
		}
		list = append(list, form)
	}
	return list
}

// bothSides says what derivatives with the mark of one side are on both, and what leaps.
func (p *printer) bothSides(s *odes.Sensitivities) {
	var list, leaps []string
	for _, b := range s.OneSided.Sides {
		list = append(list, fmt.Sprintf("%s by %s %s | %s", s.Values[b.Value].Name, columnName(s, b.Column),
			comes(b.Left), comes(b.Right)))
	}
	for i := range s.Events {
		e := &s.Events[i]
		for _, b := range e.OneSided {
			list = append(list, fmt.Sprintf("the time of %s by %s %s | %s", eventElement(*e), columnName(s, b.Column),
				comes(b.Left), comes(b.Right)))
		}
	}
	for _, x := range s.OneSided.Leaps {
		leaps = append(leaps, fmt.Sprintf("%s by %s %s | %s", s.Values[x.Value].Name, columnName(s, x.Column),
			comes(x.Left), comes(x.Right)))
	}
	p.someOf(sidedMark+" one-sided, left | right: ", list)
	p.someOf("leaps, value on the left | on the right: ", leaps)
}

// comes writes a number of one side; NaN where there is nothing, as where an event does not come.
func comes(x float64) string {
	if x != x {
		return "none"
	}
	return significant(x, 8)
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
