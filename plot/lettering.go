package plot

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"odes.dev/odes/internal/screen"
)

// lettering draws the text of a page, as its format wants.
type lettering struct {
	text.Plain
	format format
	lost   *[]rune // letters that became boxes, each once
	widths *[]vg.Length
}

// box stands for a letter that the font lacks. The font has this one.
const box = '□'

// LostNote says what became of letters that Write had no font for, in the format of a name; "" when there are none.
func LostNote(name string, lost []rune) string {
	if len(lost) == 0 {
		return ""
	}
	have := strings.Join(formatNames(func(f *format) bool { return f.text }), " and ")
	return fmt.Sprintf("the font of %s files lacks %s: boxes stand there; %s files have them",
		name, strings.Join(strings.Split(string(lost), ""), " "), have)
}

// has tells whether a font has a letter.
func has(face font.Face, r rune) bool {
	i, err := face.Face.GlyphIndex(nil, r)
	return err == nil && i != 0
}

// drawn is a text as the font can draw it.
func (l *lettering) drawn(s string, fnt font.Font) string {
	face := l.Fonts.Lookup(fnt, fnt.Size)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || has(face, r):
			return r
		case screen.Width(string(r)) == 0: // joins a neighbour
			return -1
		}
		if l.lost != nil && !l.format.text && !strings.ContainsRune(string(*l.lost), r) {
			*l.lost = append(*l.lost, r)
		}
		return box
	}, s)
}

// Box is the Box of text.Plain, with room for letters of other fonts, which are taken to be as wide as high.
func (l *lettering) Box(s string, fnt font.Font) (width, height, depth vg.Length) {
	known := l.drawn(s, fnt)
	width, height, depth = l.Plain.Box(known, fnt)
	if extra := screen.Width(s) - screen.Width(known); l.format.text && extra > 0 {
		width += vg.Length(extra) * fnt.Size / 2
	}
	return width, height, depth
}

// Draw writes text at a point.
func (l *lettering) Draw(c vg.Canvas, s string, sty text.Style, pt vg.Point) {
	if l.format.text {
		c = &measured{c, l}
	} else {
		s = l.drawn(s, sty.Font)
	}
	if l.format.letters != nil {
		c = l.format.letters(c)
	}
	l.Plain.Draw(c, s, sty, pt)
}

// measured is a canvas that notes how wide texts are meant to be, so that a program that shows them in another font can
// keep to it. 0 stands for a text that it must measure itself.
type measured struct {
	vg.Canvas
	*lettering
}

// FillString draws a line of text from pt on.
func (c *measured) FillString(face font.Face, pt vg.Point, s string) {
	if c.widths != nil {
		width := face.Width(s)
		for i, r := range s {
			if !has(face, r) || i == 0 && len(s) == len(string(r)) { // a single letter needs no fixed width
				width = 0
			}
		}
		*c.widths = append(*c.widths, width)
	}
	c.Canvas.FillString(face, pt, s)
}

// keepWidths writes the widths of texts into an svg drawing.
func keepWidths(drawing []byte, widths []vg.Length) []byte {
	const start = "<text "
	var b bytes.Buffer
	for _, w := range widths {
		before, after, found := bytes.Cut(drawing, []byte(start))
		if !found {
			break
		}
		b.Write(before)
		b.WriteString(start)
		if w > 0 {
			fmt.Fprintf(&b, "textLength=\"%.2f\" lengthAdjust=\"spacingAndGlyphs\" ", w.Points())
		}
		drawing = after
	}
	b.Write(drawing)
	return b.Bytes()
}

// outlined is a canvas that draws letters as shapes where they are not all ASCII: the text of a pdf canvas is limited
// to one code page.
type outlined struct{ vg.Canvas }

// FillString draws a line of text from pt on.
func (c outlined) FillString(face font.Face, pt vg.Point, s string) {
	ascii := true
	for _, r := range s {
		ascii = ascii && r < 0x80
	}
	if ascii {
		c.Canvas.FillString(face, pt, s)
		return
	}
	em := face.Face.UnitsPerEm()
	scale := face.Font.Size / vg.Length(em)
	var b sfnt.Buffer
	for at, r := range s {
		i, err := face.Face.GlyphIndex(&b, r)
		if err != nil {
			continue
		}
		shape, err := face.Face.LoadGlyph(&b, i, fixed.Int26_6(em), nil)
		if err != nil || len(shape) == 0 {
			continue
		}
		left := pt.X + face.Width(s[:at])
		place := func(p fixed.Point26_6) vg.Point {
			return vg.Point{X: left + vg.Length(p.X)*scale, Y: pt.Y - vg.Length(p.Y)*scale}
		}
		var path vg.Path
		for k, g := range shape {
			switch g.Op {
			case sfnt.SegmentOpMoveTo:
				if k > 0 {
					path.Close()
				}
				path.Move(place(g.Args[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(place(g.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(place(g.Args[0]), place(g.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(place(g.Args[0]), place(g.Args[1]), place(g.Args[2]))
			}
		}
		path.Close()
		c.Fill(path)
	}
}
