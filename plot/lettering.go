package plot

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"odes.dev/odes/internal/base/screen"
)

// lettering draws the text of a page, as its format wants.
type lettering struct {
	text.Plain
	format format
	lost   *[]rune // letters that became boxes, each once
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
	if !l.format.text {
		s = l.drawn(s, sty.Font)
	}
	l.Plain.Draw(measure(c), s, sty, pt)
}

// measure finds the sheet below a part of it.
func measure(c vg.Canvas) vg.Canvas {
	switch c := c.(type) {
	case *draw.Canvas:
		return measure(c.Canvas)
	case draw.Canvas:
		return measure(c.Canvas)
	case *sheet:
		return measured{c}
	}
	return c
}

// measured is a sheet that notes how wide texts are meant to be, so that a program that shows them in another font can
// keep to it. It must measure by itself what the font lacks.
type measured struct{ *sheet }

// FillString draws a line of text from pt on.
func (c measured) FillString(face font.Face, pt vg.Point, s string) {
	width := face.Width(s).Points()
	for i, r := range s {
		if !has(face, r) || i == 0 && len(s) == len(string(r)) { // a single letter needs no fixed width
			width = 0
		}
	}
	c.letter(face, pt, s, width)
}
