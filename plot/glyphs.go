package plot

import (
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/vg"
)

// glyph is a letter of a line: its number in the font, and how far from the start of the line it stands, in units of
// the font.
type glyph struct {
	index sfnt.GlyphIndex
	r     rune
	left  int
}

// glyphs visits the letters of a line.
func (l *line) glyphs(visit func(glyph)) {
	var b sfnt.Buffer
	f := l.face.Face
	em := fixed.Int26_6(f.UnitsPerEm())
	left, before := 0, sfnt.GlyphIndex(0)
	for i, r := range l.text {
		index, err := f.GlyphIndex(&b, r)
		if err != nil {
			continue
		}
		if i > 0 {
			if kern, err := f.Kern(&b, before, index, em, 0); err == nil {
				left += int(kern)
			}
		}
		visit(glyph{index, r, left})
		if advance, err := f.GlyphAdvance(&b, index, em, 0); err == nil {
			left += int(advance)
		}
		before = index
	}
}

// outline returns the shape of a letter of l on the sheet.
func (g glyph) outline(l *line) []segment {
	var b sfnt.Buffer
	em := l.face.Face.UnitsPerEm()
	shape, err := l.face.Face.LoadGlyph(&b, g.index, fixed.Int26_6(em), nil)
	if err != nil {
		return nil
	}
	scale := l.face.Font.Size / vg.Length(em)
	at := func(p fixed.Point26_6) point {
		return l.turn.at(vg.Point{X: vg.Length(int(p.X)+g.left) * scale, Y: -vg.Length(p.Y) * scale})
	}
	var path []segment
	var last point
	for k, s := range shape {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if k > 0 {
				path = append(path, segment{kind: closes})
			}
			last = at(s.Args[0])
			path = append(path, segment{kind: moves, to: last})
		case sfnt.SegmentOpLineTo:
			last = at(s.Args[0])
			path = append(path, segment{kind: draws, to: last})
		case sfnt.SegmentOpQuadTo:
			path = append(path, quadratic(last, at(s.Args[0]), at(s.Args[1])))
			last = at(s.Args[1])
		case sfnt.SegmentOpCubeTo:
			last = at(s.Args[2])
			path = append(path, segment{bends, last, at(s.Args[0]), at(s.Args[1])})
		}
	}
	if len(path) > 0 {
		path = append(path, segment{kind: closes})
	}
	return path
}
