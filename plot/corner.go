package plot

import (
	"slices"

	"gonum.org/v1/plot/vg"
)

// Corner is a triangle of pictures: Rows[i] has the i+1 panels of the i-th of several numbers, each with those before
// it, and the last of a row is of that number alone.
type Corner struct {
	Title string
	Rows  [][]Picture
}

// cornerCell is the side of a panel.
const cornerCell = 150

// onScreens is how many panels of pairs a terminal shows.
const onScreens = 6

func (k *Corner) size() (w, h vg.Length) {
	n := vg.Length(len(k.Rows))
	w = max(n*cornerCell, 300)
	return w, max(n*cornerCell+titleHeight(k.Title, w), 60)
}

// text shows each number, and then some pairs.
func (k *Corner) text(p *page) {
	s := &Stack{Title: k.Title}
	for _, row := range k.Rows {
		s.Panels = append(s.Panels, row[len(row)-1])
	}
	for _, row := range k.Rows {
		for _, panel := range row[:len(row)-1] {
			if len(s.Panels) < len(k.Rows)+onScreens {
				s.Panels = append(s.Panels, panel)
			}
		}
	}
	s.text(p)
}

func (k *Corner) draw(c canvas) error {
	top := c.title(k.Title, c.Max.Y)
	n := vg.Length(len(k.Rows))
	if n == 0 {
		return (&Lines{}).draw(c)
	}
	const gap = 8
	wide, tall := (c.Max.X-c.Min.X-(n-1)*gap)/n, (top-c.Min.Y)/n
	tile := func(i, j int) canvas {
		t := c
		t.Min.X = c.Min.X + vg.Length(j)*(wide+gap)
		t.Max.X = t.Min.X + wide
		t.Max.Y = top - vg.Length(i)*tall
		t.Min.Y = t.Max.Y - tall + 6
		return t
	}
	margins := make([]vg.Length, len(k.Rows)) // panels below each other are lined up
	for i, row := range k.Rows {
		for j, p := range row {
			if l, ok := p.(*Lines); ok {
				margins[j] = max(margins[j], l.inkMargin(tile(i, j)))
			}
		}
	}
	for i, row := range k.Rows {
		for j, p := range row {
			var err error
			if l, ok := p.(*Lines); ok {
				err = l.drawIn(tile(i, j), margins[j], i == len(k.Rows)-1 || i == j, true)
			} else {
				err = p.draw(tile(i, j))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// panels are all panels, row by row.
func (k *Corner) panels() []Picture { return slices.Concat(k.Rows...) }
