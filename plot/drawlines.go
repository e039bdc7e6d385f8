package plot

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of a page, in points.
const (
	pageWidth   = 460
	panelHeight = 240
	stackHeight = 165 // of each panel of a stack
	small       = 9   // text of ticks and legends
	normal      = 10  // names of axes
	large       = 12  // titles
	lineHeight  = 14
	tickLength  = 4
	sample      = 18 // of a line in a legend
)

func (l *Lines) size() (w, h vg.Length) {
	return pageWidth, panelHeight + max(0, titleHeight(l.Title, pageWidth)-lineHeight-4)
}

// headline breaks a title into lines of a width.
func headline(text string, width vg.Length) []string {
	st := new(inks).style(large, draw.XLeft, draw.YTop)
	return fold(text, mostHead, func(s string) bool { return st.Width(s) <= width })
}

// titleHeight is the room that a title takes on a page.
func titleHeight(text string, page vg.Length) vg.Length {
	if text == "" {
		return 0
	}
	return vg.Length(len(headline(text, page-2*border)))*(lineHeight+2) + 2
}

// title writes a title below top and returns what is below it.
func (c canvas) title(text string, top vg.Length) vg.Length {
	if text == "" {
		return top
	}
	st := c.style(large, draw.XLeft, draw.YTop)
	for _, line := range headline(text, c.Max.X-c.Min.X) {
		c.FillText(st, vg.Point{X: c.Min.X, Y: top}, fit(st, line, c.Max.X-c.Min.X))
		top -= lineHeight + 2
	}
	return top - 2
}

func (l *Lines) draw(c canvas) error {
	return l.drawIn(c, l.inkMargin(c), true, true)
}

// inkSpans are the spans of both axes, with some room between curves and frame.
func (l *Lines) inkSpans() (x, y span, ok bool) {
	if x, y, ok = l.spans(); !ok || l.turns() {
		return x, y, ok
	}
	wide := y.pad(l.Y)
	if y.lo == 0 {
		wide.lo = 0
	}
	if y.hi == 0 {
		wide.hi = 0
	}
	return x, wide, true
}

// inkMargin returns the room that the labels of the upright axis need.
func (l *Lines) inkMargin(c canvas) vg.Length {
	_, y, ok := l.inkSpans()
	if !ok {
		return 0
	}
	st := c.style(small, draw.XRight, draw.YCenter)
	var w vg.Length
	for _, t := range l.upright(y, c) {
		w = max(w, st.Width(t.label))
	}
	return w + tickLength + 3
}

func (l *Lines) upright(y span, c canvas) []tick {
	return y.ticks(l.Y, max(2, int((c.Max.Y-c.Min.Y)/38)))
}

// drawIn draws with a left margin of the given width. The flag foot says whether the level axis is
// named, and explain whether the legend names the marks.
func (l *Lines) drawIn(c canvas, left vg.Length, foot, explain bool) error {
	top := c.Max.Y
	top = c.title(l.Title, top)
	x, y, ok := l.inkSpans()
	if !ok {
		c.FillText(c.style(normal, draw.XCenter, draw.YCenter), c.Center(), "nothing to draw")
		return nil
	}
	top = l.key(c, c.Min.X, top, explain)
	bottom := c.Min.Y + lineHeight + tickLength
	name := l.X.title()
	if l.X.Log {
		name += " (log scale)"
	}
	if foot && name != "" {
		bottom += lineHeight
	}
	area := vg.Rectangle{Min: vg.Point{X: c.Min.X + left, Y: bottom}, Max: vg.Point{X: c.Max.X - 6, Y: top - 5}}
	at := func(px, py float64) vg.Point {
		return vg.Point{
			X: area.Min.X + vg.Length(x.to(l.X, px))*(area.Max.X-area.Min.X),
			Y: area.Min.Y + vg.Length(y.to(l.Y, py))*(area.Max.Y-area.Min.Y),
		}
	}
	thin := draw.LineStyle{Color: c.grid, Width: 0.6}
	axis := draw.LineStyle{Color: c.ink, Width: 0.7}
	yStyle := c.style(small, draw.XRight, draw.YCenter)
	for _, t := range l.upright(y, c) {
		p := at(x.lo, t.at)
		line := thin
		if t.at == 0 && y.lo < 0 && !l.Y.Log {
			line.Color, line.Width = c.mark, 0.8
		}
		c.StrokeLine2(line, area.Min.X, p.Y, area.Max.X, p.Y)
		c.StrokeLine2(axis, area.Min.X-tickLength, p.Y, area.Min.X, p.Y)
		c.FillText(yStyle, vg.Point{X: area.Min.X - tickLength - 2, Y: p.Y}, t.label)
	}
	xStyle := c.style(small, draw.XCenter, draw.YTop)
	free := area.Min.X - left
	for _, t := range x.ticks(l.X, max(2, int((area.Max.X-area.Min.X)/55))) {
		p := at(t.at, y.lo)
		if l.Y.Log || y.lo != 0 {
			p.Y = area.Min.Y
		}
		c.StrokeLine2(axis, p.X, area.Min.Y, p.X, area.Min.Y-tickLength)
		half := xStyle.Width(t.label) / 2
		if p.X-half < free {
			continue
		}
		// The last label stays on the page.
		place := min(p.X, c.Max.X-half)
		c.FillText(xStyle, vg.Point{X: place, Y: area.Min.Y - tickLength - 1}, t.label)
		free = place + half + 4
	}
	if foot && name != "" {
		st := c.style(normal, draw.XCenter, draw.YBottom)
		c.FillText(st, vg.Point{X: (area.Min.X + area.Max.X) / 2, Y: c.Min.Y}, name)
	}
	names, where := markNames(l.Marks)
	for i, n := range names {
		for _, t := range where[n] {
			if l.X.shown(t) && t >= x.lo && t <= x.hi {
				p, top := at(t, y.lo), area.Max.Y
				if len(l.Marks) > mostMarks {
					top = area.Min.Y + 6
				}
				c.StrokeLine2(c.markStyle(i), p.X, area.Min.Y, p.X, top)
			}
		}
	}
	for _, b := range l.Bands {
		l.fillBand(c, b, at)
	}
	for i, k := range l.Curves {
		l.stroke(c, i, k, at)
	}
	for i, k := range l.Curves {
		for j := range k.PX {
			if l.X.shown(k.PX[j]) && l.Y.shown(k.PY[j]) {
				st := l.signStyle(c, i)
				if side := k.side(j); side != 0 {
					st = boundStyle(st.Color, side)
				}
				c.DrawGlyph(st, at(k.PX[j], k.PY[j]))
			}
		}
	}
	c.StrokeLines(axis, []vg.Point{{X: area.Min.X, Y: area.Max.Y}, area.Min, {X: area.Max.X, Y: area.Min.Y}})
	return nil
}

// mostMarks bounds the marks that are drawn at full height. More would hide the curves.
const mostMarks = 40

// markStyle is how marks of the i-th name are drawn.
func (c canvas) markStyle(i int) draw.LineStyle {
	kinds := [][]vg.Length{{2, 2}, {5, 1.5}, {1, 1}, {5, 1.5, 1, 1.5}}
	return draw.LineStyle{Color: c.mark, Width: 0.7, Dashes: kinds[i%len(kinds)]}
}

// lineStyle is how curve i is drawn.
func (l *Lines) lineStyle(c canvas, i int) draw.LineStyle {
	k := l.Curves[i]
	if k.Ramp > 0 {
		return draw.LineStyle{Color: c.ramp[shade(k, len(c.ramp))], Width: 1.1}
	}
	s := draw.LineStyle{Color: c.curves[i%len(c.curves)], Width: 1.3}
	if len(l.Curves) > 1 {
		s.Dashes = dashes[i%len(dashes)]
	}
	return s
}

// signStyle is how the points of curve i are drawn, in the order of the signs on terminals.
func (l *Lines) signStyle(c canvas, i int) draw.GlyphStyle {
	shapes := []draw.GlyphDrawer{
		draw.CircleGlyph{},
		draw.RingGlyph{},
		draw.BoxGlyph{},
		draw.SquareGlyph{},
		diamond{filled: true},
		diamond{},
		draw.PlusGlyph{},
		draw.CrossGlyph{},
	}
	return draw.GlyphStyle{Color: l.lineStyle(c, i).Color, Radius: 2.4, Shape: shapes[i%len(shapes)]}
}

// boundStyle is how a point is drawn of which only a bound is known.
func boundStyle(ink color.Color, side int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: ink, Radius: 3, Shape: wedge{up: side > 0}}
}

// diamond is a square on its tip.
type diamond struct{ filled bool }

// DrawGlyph draws it around a point.
func (d diamond) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, p vg.Point) {
	r := s.Radius * 1.25
	outline(c, s, d.filled, []vg.Point{
		{X: p.X, Y: p.Y + r},
		{X: p.X + r, Y: p.Y},
		{X: p.X, Y: p.Y - r},
		{X: p.X - r, Y: p.Y},
	})
}

// wedge is an open triangle that points up or down.
type wedge struct{ up bool }

// DrawGlyph draws it around a point.
func (w wedge) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, p vg.Point) {
	tip := s.Radius * 1.1
	if !w.up {
		tip = -tip
	}
	outline(c, s, false, []vg.Point{
		{X: p.X, Y: p.Y + tip},
		{X: p.X - s.Radius, Y: p.Y - tip*0.8},
		{X: p.X + s.Radius, Y: p.Y - tip*0.8},
	})
}

// outline draws a polygon, open or filled.
func outline(c *draw.Canvas, s draw.GlyphStyle, filled bool, corners []vg.Point) {
	var path vg.Path
	path.Move(corners[0])
	for _, p := range corners[1:] {
		path.Line(p)
	}
	path.Close()
	c.SetColor(s.Color)
	if filled {
		c.Fill(path)
		return
	}
	c.SetLineStyle(draw.LineStyle{Color: s.Color, Width: 0.8})
	c.Stroke(path)
}

func (l *Lines) stroke(c canvas, i int, k Curve, at func(x, y float64) vg.Point) {
	ls := l.lineStyle(c, i)
	for _, r := range k.runs(l.X, l.Y) {
		var points []vg.Point
		for j := r[0]; j < r[1]; j++ {
			p := at(k.X[j], k.Y[j])
			if k.Dots || r[1]-r[0] == 1 {
				radius := vg.Length(1.6)
				if k.few() {
					radius = 2.6
				}
				c.DrawGlyph(draw.GlyphStyle{Color: ls.Color, Radius: radius, Shape: draw.CircleGlyph{}}, p)
				continue
			}
			if n := len(points); n > 0 { // smaller differences make files large and lines rough
				if d := points[n-1].Sub(p); d.X*d.X+d.Y*d.Y < 0.01 && j < r[1]-1 {
					continue
				}
			}
			points = append(points, p)
		}
		if len(points) > 1 {
			c.StrokeLines(ls, points)
		}
	}
}

func (l *Lines) fillBand(c canvas, b Band, at func(x, y float64) vg.Point) {
	fill := c.band
	var lower, upper []vg.Point
	flush := func() {
		if len(lower) > 1 {
			for i := len(upper) - 1; i >= 0; i-- {
				lower = append(lower, upper[i])
			}
			c.FillPolygon(fill, lower)
		}
		lower, upper = nil, nil
	}
	for k := range b.X {
		if !l.X.shown(b.X[k]) || !l.Y.shown(b.Lo[k]) || !l.Y.shown(b.Hi[k]) {
			flush()
			continue
		}
		lower, upper = append(lower, at(b.X[k], b.Lo[k])), append(upper, at(b.X[k], b.Hi[k]))
	}
	flush()
}

// key writes the name of the upright axis and the legend, in as many lines as they
// need, with marks or without, and returns what is below.
func (l *Lines) key(c canvas, left, top vg.Length, marks bool) vg.Length {
	const gap = 12
	type legend struct {
		name          string
		sample, width vg.Length
		mark          func(x0, x1, y vg.Length)
	}
	var list []legend
	var whole vg.Length
	st := c.style(small, draw.XLeft, draw.YTop)
	entry := func(name string, sample vg.Length, mark func(x0, x1, y vg.Length)) {
		name = fit(st, name, c.Max.X-left-sample-4)
		w := sample + 4 + st.Width(name)
		list, whole = append(list, legend{name, sample, w, mark}), whole+w+gap
	}
	lines := 0
	for _, k := range l.Curves {
		if !k.few() {
			lines++
		}
	}
	for i, k := range l.Curves {
		if k.Name == "" || lines == 1 && len(l.Bands) == 0 && !k.few() && len(k.PX) == 0 && k.Name == l.Y.Label {
			continue
		}
		if n := len(l.Curves); n > maxLegend && i >= maxLegend-1 && i < n-1 {
			if i == maxLegend-1 {
				entry(fmt.Sprintf("… %d more", n-maxLegend), 0, func(_, _, _ vg.Length) {})
			}
			continue
		}
		entry(k.Name, sample, func(x0, x1, y vg.Length) {
			if k.Dots {
				c.DrawGlyph(draw.GlyphStyle{Color: l.lineStyle(c, i).Color, Radius: 2, Shape: draw.CircleGlyph{}},
					vg.Point{X: (x0 + x1) / 2, Y: y})
				return
			}
			c.StrokeLine2(l.lineStyle(c, i), x0, y, x1, y)
			if len(k.PX) > 0 {
				c.DrawGlyph(l.signStyle(c, i), vg.Point{X: (x0 + x1) / 2, Y: y})
			}
		})
	}
	below, above := l.bounds()
	for _, b := range []struct {
		shown bool
		name  string
		side  int
	}{{below, belowLimit, -1}, {above, aboveLimit, 1}} {
		if b.shown {
			entry(b.name, 8, func(x0, x1, y vg.Length) {
				c.DrawGlyph(boundStyle(c.ink, b.side), vg.Point{X: (x0 + x1) / 2, Y: y})
			})
		}
	}
	for _, b := range l.Bands {
		entry(b.Name, sample, func(x0, x1, y vg.Length) {
			c.FillPolygon(c.band, rectangle(vg.Rectangle{
				Min: vg.Point{X: x0, Y: y - 4},
				Max: vg.Point{X: x1, Y: y + 4},
			}))
		})
	}
	names, _ := markNames(l.Marks)
	for i, n := range names {
		if !marks {
			break
		}
		entry(n, 2, func(x0, x1, y vg.Length) { c.StrokeLine2(c.markStyle(i), (x0+x1)/2, y-5, (x0+x1)/2, y+5) })
	}
	x := left
	name := l.Y.title()
	if l.Y.Log {
		name += " (log scale)"
	}
	if name != "" {
		st := c.style(normal, draw.XLeft, draw.YTop)
		name = fit(st, name, c.Max.X-left)
		c.FillText(st, vg.Point{X: x, Y: top}, name)
		x += st.Width(name) + gap + 6
		if long := (c.Max.X - left) / 4; x > long && x+whole > c.Max.X && len(list) > 0 { // it takes a line of its own
			x, top = left, top-lineHeight
		}
	}
	if name == "" && len(list) == 0 {
		return top
	}
	for _, e := range list {
		if x > left && x+e.width > c.Max.X {
			x, top = left, top-lineHeight
		}
		e.mark(x, x+e.sample, top-5.5)
		c.FillText(st, vg.Point{X: x + e.sample + 4, Y: top - 1}, e.name)
		x += e.width + gap
	}
	return top - lineHeight
}

// fit shortens s until it is at most w wide.
func fit(st draw.TextStyle, s string, w vg.Length) string {
	if st.Width(s) <= w {
		return s
	}
	r := []rune(s)
	for len(r) > 1 && st.Width(string(r)+"…") > w {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}

func (s *Stack) size() (w, h vg.Length) {
	w, h = s.panels()
	return w, max(h+titleHeight(s.Title, w), 60)
}

// panels returns the size of the panels together.
func (s *Stack) panels() (w, h vg.Length) {
	for _, p := range s.Panels {
		pw, ph := p.size()
		if _, ok := p.(*Lines); ok && len(s.Panels) > 1 {
			ph = stackHeight
		}
		w, h = max(w, pw), h+ph
	}
	return max(w, pageWidth), h
}

func (s *Stack) draw(c canvas) error {
	top := c.Max.Y
	top = c.title(s.Title, top)
	_, whole := s.panels()
	var margin vg.Length
	room := top - c.Min.Y
	var tiles []canvas
	for _, p := range s.Panels {
		_, h := p.size()
		l, lines := p.(*Lines)
		if lines && len(s.Panels) > 1 {
			h = stackHeight
		}
		h = h * room / whole
		tile := c
		tile.Max.Y, tile.Min.Y = top, top-h+6
		top -= h
		tiles = append(tiles, tile)
		if lines {
			margin = max(margin, l.inkMargin(tile))
		}
	}
	for i, p := range s.Panels {
		l, ok := p.(*Lines)
		if !ok {
			if err := p.draw(tiles[i]); err != nil {
				return err
			}
			continue
		}
		// The name of a shared axis stands once, at the foot.
		foot := true
		if i+1 < len(s.Panels) {
			next, is := s.Panels[i+1].(*Lines)
			foot = !is || next.X != l.X
		}
		if err := l.drawIn(tiles[i], margin, foot, i == 0 || !marksAlike(s.Panels[i-1], l)); err != nil {
			return err
		}
	}
	return nil
}
