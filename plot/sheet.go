package plot

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// sheet is a page that was drawn: fills, strokes, texts and images, in their order. The formats of files write it.
// Its origin is the lower left corner, and lengths are points.
type sheet struct {
	width, height float64
	dots          float64 // on an inch, where it is painted
	name, about   string  // the title of the picture, and what it shows
	paper         color.NRGBA
	items         []item
	pen           pen
	pens          []pen
	live          bool   // parts are marked, for a script of a page
	panel, part   *group // that what is drawn belongs to
}

// pen is how a sheet draws at the moment.
type pen struct {
	colour color.NRGBA
	width  float64
	dashes []float64
	turn   affine
}

// affine maps (x, y) to (a·x + c·y + e, b·x + d·y + f).
type affine struct{ a, b, c, d, e, f float64 }

func (m affine) at(p vg.Point) point {
	x, y := p.X.Points(), p.Y.Points()
	return point{m.a*x + m.c*y + m.e, m.b*x + m.d*y + m.f}
}

// then is the map that does m2 first, and then m.
func (m affine) then(m2 affine) affine {
	return affine{
		m.a*m2.a + m.c*m2.b, m.b*m2.a + m.d*m2.b,
		m.a*m2.c + m.c*m2.d, m.b*m2.c + m.d*m2.d,
		m.a*m2.e + m.c*m2.f + m.e, m.b*m2.e + m.d*m2.f + m.f,
	}
}

type point struct{ x, y float64 }

// item is one thing on a sheet: a path that is filled or, with a width, stroked; a text; or an image.
type item struct {
	colour color.NRGBA
	path   []segment
	width  float64
	dashes []float64
	text   *line
	image  image.Image
	lo, hi point // corners of the image
	panel  *group
	part   *group
}

// segment of a path: to is where it leads, a and b are its control points.
type segment struct {
	kind     segmentKind
	to, a, b point
}

type segmentKind uint8

const (
	moves segmentKind = iota
	draws
	bends // a cubic Bézier curve
	closes
)

// line is a line of text, which starts at the origin of turn.
type line struct {
	text  string
	face  font.Face
	turn  affine
	width float64 // of the whole text; 0: left to the program that shows it
}

func newSheet(width, height vg.Length) *sheet {
	s := &sheet{width: width.Points(), height: height.Points(), dots: dpi}
	s.pen = pen{colour: color.NRGBA{A: 255}, width: 1, turn: affine{a: 1, d: 1}}
	return s
}

// SetLineWidth, and the methods below, are those of vg.Canvas.
func (s *sheet) SetLineWidth(w vg.Length) { s.pen.width = w.Points() }

// SetLineDash has no offsets: no picture uses them.
func (s *sheet) SetLineDash(pattern []vg.Length, _ vg.Length) {
	s.pen.dashes = nil
	for _, d := range pattern {
		s.pen.dashes = append(s.pen.dashes, d.Points())
	}
}

// SetColor sets the colour of what follows.
func (s *sheet) SetColor(c color.Color) {
	if c == nil {
		c = color.Black
	}
	s.pen.colour = color.NRGBAModel.Convert(c).(color.NRGBA)
}

// Rotate turns what follows, in radians.
func (s *sheet) Rotate(r float64) {
	sin, cos := math.Sincos(r)
	s.pen.turn = s.pen.turn.then(affine{cos, sin, -sin, cos, 0, 0})
}

// Translate moves what follows.
func (s *sheet) Translate(p vg.Point) {
	s.pen.turn = s.pen.turn.then(affine{1, 0, 0, 1, p.X.Points(), p.Y.Points()})
}

// Scale stretches what follows, but not the widths of lines.
func (s *sheet) Scale(x, y float64) { s.pen.turn = s.pen.turn.then(affine{a: x, d: y}) }

// Push keeps how the sheet draws, until Pop.
func (s *sheet) Push() { s.pens = append(s.pens, s.pen) }

// Pop goes back to how the sheet drew.
func (s *sheet) Pop() { s.pen, s.pens = s.pens[len(s.pens)-1], s.pens[:len(s.pens)-1] }

// Stroke draws a line along a path.
func (s *sheet) Stroke(p vg.Path) {
	if s.pen.width > 0 && len(p) > 0 {
		s.add(item{path: s.segments(p), width: s.pen.width, dashes: s.pen.dashes})
	}
}

// Fill fills a path.
func (s *sheet) Fill(p vg.Path) {
	if len(p) > 0 {
		s.add(item{path: s.segments(p)})
	}
}

// FillString writes a line of text.
func (s *sheet) FillString(f font.Face, p vg.Point, text string) {
	s.letter(f, p, text, 0)
}

// letter writes a line of text of a width; 0 leaves the width to the program that shows it.
func (s *sheet) letter(f font.Face, p vg.Point, text string, width float64) {
	if f.Font.Size > 0 && text != "" {
		turn := s.pen.turn.then(affine{1, 0, 0, 1, p.X.Points(), p.Y.Points()})
		s.add(item{text: &line{text, f, turn, width}})
	}
}

// DrawImage draws an image that fills a rectangle.
func (s *sheet) DrawImage(r vg.Rectangle, img image.Image) {
	s.add(item{image: img, lo: s.pen.turn.at(r.Min), hi: s.pen.turn.at(r.Max)})
}

func (s *sheet) add(it item) {
	it.colour, it.panel, it.part = s.pen.colour, s.panel, s.part
	s.items = append(s.items, it)
}

// segments turns and simplifies a path: arcs become curves.
func (s *sheet) segments(p vg.Path) []segment {
	var list []segment
	m := s.pen.turn
	for _, c := range p {
		switch c.Type {
		case vg.MoveComp:
			list = append(list, segment{kind: moves, to: m.at(c.Pos)})
		case vg.LineComp:
			list = append(list, segment{kind: draws, to: m.at(c.Pos)})
		case vg.CurveComp:
			control := c.Control
			if len(control) == 1 { // a quadratic curve, as a cubic one
				from := vg.Point{}
				if len(list) > 0 {
					from = vg.Point{X: vg.Length(list[len(list)-1].to.x), Y: vg.Length(list[len(list)-1].to.y)}
				}
				a, to := m.at(control[0]), m.at(c.Pos)
				list = append(list, quadratic(point{from.X.Points(), from.Y.Points()}, a, to))
				continue
			}
			list = append(list, segment{bends, m.at(c.Pos), m.at(control[0]), m.at(control[1])})
		case vg.ArcComp:
			list = append(list, arc(m, c, len(list) == 0)...)
		case vg.CloseComp:
			list = append(list, segment{kind: closes})
		}
	}
	return list
}

// quadratic is a quadratic Bézier curve as a cubic one.
func quadratic(from, control, to point) segment {
	third := func(p point) point { return point{p.x + 2.0/3*(control.x-p.x), p.y + 2.0/3*(control.y-p.y)} }
	return segment{bends, to, third(from), third(to)}
}

// arc approximates an arc by curves of at most a quarter of a circle.
func arc(m affine, c vg.PathComp, first bool) []segment {
	n := int(math.Ceil(math.Abs(c.Angle)/(math.Pi/2) - 1e-9))
	if n == 0 {
		return nil
	}
	step := c.Angle / float64(n)
	reach := 4.0 / 3 * math.Tan(step/4)
	on := func(angle, along float64) point {
		sin, cos := math.Sincos(angle)
		return m.at(vg.Point{
			X: c.Pos.X + c.Radius*vg.Length(cos-along*sin),
			Y: c.Pos.Y + c.Radius*vg.Length(sin+along*cos),
		})
	}
	start := segment{kind: draws, to: on(c.Start, 0)}
	if first {
		start.kind = moves
	}
	list := []segment{start}
	for k := range n {
		a, b := c.Start+float64(k)*step, c.Start+float64(k+1)*step
		list = append(list, segment{bends, on(b, 0), on(a, reach), on(b, -reach)})
	}
	return list
}

// shapes returns the outlines of the letters of a line.
func (l *line) shapes() []segment {
	var path []segment
	l.glyphs(func(g glyph) { path = append(path, g.outline(l)...) })
	return path
}
