package plot

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// liveScript lets one point at pictures of a page, zoom and hide curves.
//
//go:embed live.js
var liveScript string

// liveStyle is how such pictures look besides.
//
//go:embed live.css
var liveStyle string

// LiveScript is the text of the script that pictures of Live need to be more than pictures. They can be read without.
func LiveScript() string { return liveScript }

// LiveStyle is the style sheet of pictures of Live.
func LiveStyle() string { return liveStyle }

// Live writes p as an element for a page: light or dark as the page is, with its parts marked, which LiveScript reads.
func Live(w io.Writer, p Picture, look Page) error {
	f := formatNamed("svg")
	look.Dark, look.live = false, true
	light, err := f.draw(p, look)
	if err != nil {
		return err
	}
	look.Dark = true
	dark, err := f.draw(p, look) // which differs in colours alone
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, light.liveSVG(dark))
	return err
}

// group is a part of a picture that a script can find: by its class and what is told of it.
type group struct {
	class string
	data  []string // names and values by turns
}

func (g *group) open(b *strings.Builder) {
	fmt.Fprintf(b, `<g class="%s"`, g.class)
	for i := 0; i+1 < len(g.data); i += 2 {
		if g.data[i+1] != "" {
			fmt.Fprintf(b, ` data-%s="%s"`, g.data[i], html.EscapeString(g.data[i+1]))
		}
	}
	b.WriteString(">\n")
}

// sheet returns the sheet that c draws on, if its parts are to be marked.
func (c canvas) sheet() *sheet {
	for on := c.Canvas.Canvas; ; {
		switch at := on.(type) {
		case *sheet:
			if at.live {
				return at
			}
			return nil
		case draw.Canvas: // a part of another
			on = at.Canvas
		default:
			return nil
		}
	}
}

// begin marks what is drawn until end is called as a part. Parts are not nested.
func (c canvas) begin(class string, data ...string) (end func()) {
	s := c.sheet()
	if s == nil {
		return func() {}
	}
	before := s.part
	s.part = &group{class, data}
	return func() { s.part = before }
}

// beginPanel marks what is drawn until end is called as a panel with an area between its axes.
func (c canvas) beginPanel(area vg.Rectangle, data ...string) (end func()) {
	s := c.sheet()
	if s == nil {
		return func() {}
	}
	place := coordinates(area.Min.X.Points(), s.height-area.Max.Y.Points(), (area.Max.X - area.Min.X).Points(),
		(area.Max.Y - area.Min.Y).Points())
	s.panel = &group{"panel", append([]string{"area", place}, data...)}
	return func() { s.panel = nil }
}

// unseen is a canvas like c on which nothing is seen: to measure.
func (c canvas) unseen() canvas {
	c.Canvas = draw.Canvas{Canvas: newSheet(c.Max.X, c.Max.Y), Rectangle: c.Rectangle}
	return c
}

// scales tells a script what the axes of l show.
func (l *Lines) scales(x, y span) []string {
	scale := func(a Axis, s span) string {
		kind := "linear"
		if a.Log {
			kind = "log"
		}
		return fmt.Sprintf("%g %g %s", s.lo, s.hi, kind)
	}
	name := l.Y.title()
	if name == "" {
		name = "value"
	}
	return []string{"x", scale(l.X, x), "y", scale(l.Y, y), "xname", l.X.title(), "yname", name}
}

// mostTold is how many numbers of a heat map a page holds.
const mostTold = 4000

// cells tells a script the numbers of h, which has its first row on top.
func (h *Heat) cells() []string {
	if len(h.Values)*len(h.Values[0]) > mostTold {
		return nil
	}
	var rows [][]string
	var names []string
	for i, row := range h.Values {
		var list []string
		for _, v := range row {
			list = append(list, number(v, 5))
		}
		rows, names = append(rows, list), append(names, h.rowName(i))
	}
	text, err := json.Marshal(map[string]any{
		"values": rows, "rows": names, "row": h.Rows.Label, "col": h.Cols.title(), "unit": h.Unit,
		"first": h.FirstCol, "from": plain(h.From), "to": plain(h.To), "names": h.ColNames,
	})
	if err != nil {
		return nil
	}
	return []string{"cells", string(text)}
}

// plain is x as JSON can have it.
func plain(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

// told is the value of a bar in words, with its interval.
func (b *Bar) told() string {
	text := number(b.Value, 5)
	if b.Lo < b.Hi {
		text += " (" + number(b.Lo, 4) + " to " + number(b.Hi, 4) + ")"
	}
	return text
}

func pair(x, y float64) string { return number(x, 6) + " " + number(y, 6) }

func yes(b bool) string {
	if b {
		return "1"
	}
	return ""
}

// liveSVG writes the sheet, with the colours of another that differs in nothing else for dark pages.
func (s *sheet) liveSVG(dark *sheet) string {
	var b strings.Builder
	size := coordinates(s.width, s.height)
	wide, tall, _ := strings.Cut(size, " ")
	name := s.name
	if s.about != "" && s.about != name {
		name = strings.TrimPrefix(name+": "+strings.TrimPrefix(s.about, name+", "), ": ")
	}
	fmt.Fprintf(&b, `<svg class="live" width="%spt" height="%spt" viewBox="0 0 %s" xmlns="http://www.w3.org/2000/svg"`+
		` xmlns:xlink="http://www.w3.org/1999/xlink" role="img" aria-label="%s">`+"\n", wide, tall, size,
		html.EscapeString(name))
	b.WriteString("<g font-family=\"'Liberation Sans',Arial,Helvetica,sans-serif\" fill=\"none\">\n")
	var panel, part *group
	for i, it := range s.items {
		if it.part != part && part != nil {
			b.WriteString("</g>\n")
		}
		if it.panel != panel {
			if panel != nil {
				b.WriteString("</g>\n")
			}
			if it.panel != nil {
				it.panel.open(&b)
			}
			part = nil
		}
		if it.part != part && it.part != nil {
			it.part.open(&b)
		}
		panel, part = it.panel, it.part
		both := lightDark{it.colour, dark.items[i].colour}
		switch {
		case it.text != nil:
			s.svgText(&b, it, both)
		case it.image != nil:
			s.svgImage(&b, it, ` class="light-only"`)
			s.svgImage(&b, dark.items[i], ` class="dark-only"`)
		default:
			s.svgPath(&b, it, both)
		}
	}
	if part != nil {
		b.WriteString("</g>\n")
	}
	if panel != nil {
		b.WriteString("</g>\n")
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}
