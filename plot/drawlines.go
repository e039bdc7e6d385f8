package plot

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

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
	x = l.withPoints(x)
	wide := y.pad(l.Y)
	if y.lo == 0 {
		wide.lo = 0
	}
	if y.hi == 0 {
		wide.hi = 0
	}
	return x, l.Y.cut(wide), true
}

// withPoints returns the span of the level axis with room for points at its ends, which are drawn whole.
func (l *Lines) withPoints(x span) span {
	if l.X.Range.set() {
		return x
	}
	wide := x.pad(l.X)
	lo, hi := x.lo, x.hi
	for _, c := range l.Curves {
		at := c.PX
		if c.Dots {
			at = slices.Concat(c.X, c.PX)
		}
		for _, p := range at {
			if p == x.lo {
				lo = wide.lo
			}
			if p == x.hi {
				hi = wide.hi
			}
		}
	}
	return span{lo, hi}
}

// inkMargin returns the room that the labels of the upright axis need.
func (l *Lines) inkMargin(c canvas) vg.Length {
	_, y, ok := l.inkSpans()
	if !ok {
		return 0
	}
	st := c.style(small, draw.XRight, draw.YCenter)
	var w vg.Length
	ticks, _ := l.upright(y, c)
	for _, t := range ticks {
		w = max(w, st.Width(t.label))
	}
	return w + tickLength + 3
}

func (l *Lines) upright(y span, c canvas) ([]tick, float64) {
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
	rows, rowsFrom := l.upright(y, c)
	head := top
	top = l.key(c.unseen(), l.Y.from(rowsFrom), top, explain)
	bottom := c.Min.Y + lineHeight + tickLength
	left = min(left, (c.Max.X-c.Min.X)/2)
	columns, offset := x.ticks(l.X, max(2, int((c.Max.X-6-c.Min.X-left)/55)))
	name := l.X.from(offset).title()
	if l.X.Log {
		name += " (log scale)"
	}
	if foot && name != "" {
		bottom += lineHeight
	}
	area := vg.Rectangle{Min: vg.Point{X: c.Min.X + left, Y: bottom}, Max: vg.Point{X: c.Max.X - 6, Y: top - 5}}
	if area.Max.X-area.Min.X < leastArea || area.Max.Y-area.Min.Y < leastArea {
		return errRoom
	}
	at := func(px, py float64) vg.Point {
		return vg.Point{
			X: area.Min.X + vg.Length(x.to(l.X, px))*(area.Max.X-area.Min.X),
			Y: area.Min.Y + vg.Length(y.to(l.Y, py))*(area.Max.Y-area.Min.Y),
		}
	}
	// What stands above the panel is drawn with it, so that a legend belongs to it.
	defer c.beginPanel(area, l.scales(x, y)...)()
	l.key(c, l.Y.from(rowsFrom), head, explain)
	f := frame{c, area, x, y, at, left}
	l.drawTicks(f, rows, columns)
	if foot && name != "" {
		st := c.style(normal, draw.XCenter, draw.YBottom)
		name = fit(st, name, c.Max.X-c.Min.X)
		half := st.Width(name) / 2 // it does not leave the page
		c.FillText(st, vg.Point{X: max(c.Min.X+half, min((area.Min.X+area.Max.X)/2, c.Max.X-half)), Y: c.Min.Y}, name)
	}
	l.drawMarks(f)
	inner := c
	inner.Rectangle = area // what is drawn below does not leave it
	for i, b := range l.Bands {
		of := i // a legend names the first of several that are alike, each of which surrounds a curve of its own
		for b.Name == "" && of > 0 && l.Bands[of].Name == "" {
			of--
		}
		curve := ""
		if b.Curve > 0 {
			curve = strconv.Itoa(b.Curve - 1)
		}
		end := c.begin("band", "k", fmt.Sprintf("b%d", of), "of", curve)
		l.fillBand(inner, b, at)
		end()
	}
	l.drawArrows(inner, at)
	for i, k := range l.Curves {
		end := c.begin("curve", "k", fmt.Sprint(i), "name", k.Name, "loop", yes(k.Loop))
		l.stroke(inner, i, k, at)
		end()
	}
	l.drawPoints(f)
	crosses := map[int]bool{}
	for _, lost := range l.lost() {
		place := vg.Point{X: at(lost, y.lo).X, Y: area.Min.Y + 5}
		if !crosses[int(place.X/6)] && lost >= x.lo && lost <= x.hi {
			c.DrawGlyph(c.crossStyle(), place)
		}
		crosses[int(place.X/6)] = true
	}
	axis := draw.LineStyle{Color: c.ink, Width: 0.7}
	c.StrokeLines(axis, []vg.Point{{X: area.Min.X, Y: area.Max.Y}, area.Min, {X: area.Max.X, Y: area.Min.Y}})
	return nil
}

// frame is where a panel is drawn: its area between the axes, what these show, and where a point lies.
type frame struct {
	canvas
	area vg.Rectangle
	x, y span
	at   func(x, y float64) vg.Point
	left vg.Length // room for labels of the upright axis
}

// drawTicks draws the lines and labels of both axes.
func (l *Lines) drawTicks(c frame, rows, columns []tick) {
	area, x, y, at := c.area, c.x, c.y, c.at
	end := c.begin("ticks y")
	thin := draw.LineStyle{Color: c.grid, Width: 0.6}
	axis := draw.LineStyle{Color: c.ink, Width: 0.7}
	yStyle := c.style(small, draw.XRight, draw.YCenter)
	for _, t := range rows {
		p := at(x.lo, t.at)
		line := thin
		if t.at == 0 && y.lo < 0 && !l.Y.Log {
			line.Color, line.Width = c.mark, 0.8
		}
		c.StrokeLine2(line, area.Min.X, p.Y, area.Max.X, p.Y)
		c.StrokeLine2(axis, area.Min.X-tickLength, p.Y, area.Min.X, p.Y)
		c.FillText(yStyle, vg.Point{X: area.Min.X - tickLength - 2, Y: p.Y}, t.label)
	}
	end()
	defer c.begin("ticks x")()
	xStyle := c.style(small, draw.XCenter, draw.YTop)
	free := area.Min.X - c.left
	for _, t := range columns {
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
}

// arrowLength is how long an arrow may be.
const arrowLength = 13

// drawArrows draws a field of directions: each arrow through its place.
func (l *Lines) drawArrows(c canvas, at func(x, y float64) vg.Point) {
	defer c.begin("arrows")()
	c.SetLineStyle(draw.LineStyle{Color: c.mark, Width: 0.7})
	for _, a := range l.Arrows {
		p, v := at(a.X, a.Y), vg.Point{X: arrowLength * vg.Length(a.Across), Y: arrowLength * vg.Length(a.Up)}
		long := math.Hypot(v.X.Points(), v.Y.Points())
		if !c.Contains(p) || !(long > 1) {
			continue
		}
		tip := vg.Point{X: p.X + v.X/2, Y: p.Y + v.Y/2}
		var path vg.Path
		path.Move(vg.Point{X: p.X - v.X/2, Y: p.Y - v.Y/2})
		path.Line(tip)
		const head = 3.2
		u := vg.Point{X: v.X / vg.Length(long) * head, Y: v.Y / vg.Length(long) * head}
		path.Move(vg.Point{X: tip.X - u.X - u.Y*0.6, Y: tip.Y - u.Y + u.X*0.6})
		path.Line(tip)
		path.Line(vg.Point{X: tip.X - u.X + u.Y*0.6, Y: tip.Y - u.Y - u.X*0.6})
		c.Stroke(path)
	}
}

// drawMarks draws the upright lines.
func (l *Lines) drawMarks(c frame) {
	area, x, y, at := c.area, c.x, c.y, c.at
	names, where := markNames(l.Marks)
	for i, n := range names {
		for _, t := range where[n] {
			if l.X.shown(t) && t >= x.lo && t <= x.hi {
				p, top := at(t, y.lo), area.Max.Y
				if len(l.Marks) > mostMarks {
					top = area.Min.Y + 6
				}
				end := c.begin("mark", "name", n, "at", number(t, 6))
				c.StrokeLine2(c.markStyle(i), p.X, area.Min.Y, p.X, top)
				end()
			}
		}
	}
}

// drawPoints draws what was measured, with its signs.
func (l *Lines) drawPoints(c frame) {
	inner := c.canvas
	inner.Rectangle = c.area
	y, at := c.y, c.at
	for i, k := range l.Curves {
		for j := range k.PX {
			if !l.X.holds(k.PX[j]) || !l.Y.holds(k.PY[j]) {
				continue
			}
			st := l.signStyle(c.canvas, i)
			end := c.begin("point", "k", fmt.Sprint(i), "name", k.Name, "at", pair(k.PX[j], k.PY[j]))
			if side := k.side(j); side != 0 {
				st = boundStyle(st.Color, side)
			} else if d := k.spread(j); d > 0 {
				low := k.PY[j] - d
				if !l.Y.shown(low) {
					low = y.lo
				}
				ends := []vg.Point{at(k.PX[j], low), at(k.PX[j], k.PY[j]+d)}
				inner.StrokeLines(draw.LineStyle{Color: st.Color, Width: 0.7}, inner.ClipLinesXY(ends)...)
			}
			c.DrawGlyph(st, at(k.PX[j], k.PY[j]))
			end()
		}
	}
}

// leastArea is the least width and height between the axes.
const leastArea = 12

var errRoom = errors.New("the picture has no room for its axes: make it larger with --size, or draw less")

// crossStyle is how places are marked where numbers are not finite.
func (c canvas) crossStyle() draw.GlyphStyle {
	return draw.GlyphStyle{Color: c.ink, Radius: 2.6, Shape: draw.CrossGlyph{}}
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

// mostDots is how many points of a curve are drawn each by itself, with what it stands for. More are a cloud.
const mostDots = 300

// cloud draws many points as one path of small squares, so light that one sees where many lie.
func (l *Lines) cloud(c canvas, k Curve, ink color.NRGBA, at func(x, y float64) vg.Point) {
	const half = 0.9
	ink.A = 0x90
	var path vg.Path
	for j := range k.X {
		if !l.X.holds(k.X[j]) || !l.Y.holds(k.Y[j]) {
			continue
		}
		if p := at(k.X[j], k.Y[j]); c.Contains(p) {
			path.Move(vg.Point{X: p.X - half, Y: p.Y - half})
			path.Line(vg.Point{X: p.X + half, Y: p.Y - half})
			path.Line(vg.Point{X: p.X + half, Y: p.Y + half})
			path.Line(vg.Point{X: p.X - half, Y: p.Y + half})
			path.Close()
		}
	}
	c.SetColor(ink)
	c.Fill(path)
}

func (l *Lines) stroke(c canvas, i int, k Curve, at func(x, y float64) vg.Point) {
	ls := l.lineStyle(c, i)
	if k.Dots && len(k.X) > mostDots {
		l.cloud(c, k, ls.Color.(color.NRGBA), at)
		return
	}
	for _, r := range k.runs(l.X, l.Y) {
		var points []vg.Point
		for j := r[0]; j < r[1]; j++ {
			p := at(k.X[j], k.Y[j])
			if k.Dots || r[1]-r[0] == 1 {
				if !c.Contains(p) {
					continue
				}
				radius := vg.Length(1.6)
				if k.few() {
					radius = 2.6
				}
				end := c.begin("point", "k", fmt.Sprint(i), "name", k.Name, "at", pair(k.X[j], k.Y[j]))
				c.DrawGlyph(draw.GlyphStyle{Color: ls.Color, Radius: radius, Shape: draw.CircleGlyph{}}, p)
				end()
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
			c.StrokeLines(ls, c.inside(points)...)
		}
	}
}

// inside returns the parts of a line that lie within c.
func (c canvas) inside(line []vg.Point) [][]vg.Point {
	if !slices.ContainsFunc(line, func(p vg.Point) bool { return !c.Contains(p) }) {
		return [][]vg.Point{line}
	}
	lo, hi := point{c.Min.X.Points(), c.Min.Y.Points()}, point{c.Max.X.Points(), c.Max.Y.Points()}
	var list [][]vg.Point
	var now []vg.Point
	for i := 1; i < len(line); i++ {
		a, b, ok := clip(point{line[i-1].X.Points(), line[i-1].Y.Points()},
			point{line[i].X.Points(), line[i].Y.Points()}, lo, hi)
		from, to := vg.Point{X: vg.Length(a.x), Y: vg.Length(a.y)}, vg.Point{X: vg.Length(b.x), Y: vg.Length(b.y)}
		switch {
		case !ok:
			continue
		case len(now) > 0 && now[len(now)-1] == from:
			now = append(now, to)
		default:
			list, now = append(list, now), []vg.Point{from, to}
		}
	}
	return slices.DeleteFunc(append(list, now), func(l []vg.Point) bool { return len(l) < 2 })
}

// bandInk is the colour of a band: that of its curve, so light that others show through.
func (l *Lines) bandInk(c canvas, b Band) color.Color {
	if b.Curve == 0 {
		return c.band
	}
	ink := l.lineStyle(c, b.Curve-1).Color.(color.NRGBA)
	ink.A = c.band.A
	return ink
}

// swatch fills a rectangle like band i, as dark as the picture is there.
func (l *Lines) swatch(c canvas, i int, at vg.Rectangle) {
	for range 1 + l.behind(i) {
		c.FillPolygon(l.bandInk(c, l.Bands[i]), rectangle(at))
	}
}

// behind is how many bands of the same curve lie behind all of band i, and show through it.
func (l *Lines) behind(i int) (n int) {
	b := &l.Bands[i]
	for _, o := range l.Bands[:i] {
		around := o.Curve == b.Curve && slices.Equal(o.X, b.X)
		for k := 0; around && k < len(b.X); k++ {
			around = !(o.Lo[k] > b.Lo[k] || o.Hi[k] < b.Hi[k])
		}
		if around {
			n++
		}
	}
	return n
}

func (l *Lines) fillBand(c canvas, b Band, at func(x, y float64) vg.Point) {
	fill := l.bandInk(c, b)
	var lower, upper []vg.Point
	flush := func() {
		if len(lower) > 1 {
			for i := len(upper) - 1; i >= 0; i-- {
				lower = append(lower, upper[i])
			}
			c.FillPolygon(fill, c.ClipPolygonXY(lower))
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
func (l *Lines) key(c canvas, upright Axis, top vg.Length, marks bool) vg.Length {
	const gap = 12
	left := c.Min.X
	type legend struct {
		name          string
		sample, width vg.Length
		mark          func(x0, x1, y vg.Length)
		of            string // the curve or band
	}
	var list []legend
	var whole vg.Length
	st := c.style(small, draw.XLeft, draw.YTop)
	entry := func(of, name string, sample vg.Length, mark func(x0, x1, y vg.Length)) {
		name = fit(st, name, c.Max.X-left-sample-4)
		w := sample + 4 + st.Width(name)
		list, whole = append(list, legend{name, sample, w, mark, of}), whole+w+gap
	}
	lines := l.lines()
	for i, k := range l.Curves {
		if k.Name == "" || lines == 1 && len(l.Bands) == 0 && !k.few() && len(k.PX) == 0 && k.Name == l.Y.Label {
			continue
		}
		most := maxLegend
		if k.Ramp == 0 { // the first and the last say nothing of those between
			most = 12
		}
		if n := len(l.Curves); n > most && i >= most-1 && i < n-1 {
			if i == most-1 {
				entry("", fmt.Sprintf("… %d more", n-most), 0, func(_, _, _ vg.Length) {})
			}
			continue
		}
		entry(fmt.Sprint(i), k.Name, sample, func(x0, x1, y vg.Length) {
			l.sample(c, i, x0, x1, y)
		})
	}
	below, above := l.bounds()
	for _, b := range []struct {
		shown bool
		name  string
		side  int
	}{{below, belowLimit, -1}, {above, aboveLimit, 1}} {
		if b.shown {
			entry("", b.name, 8, func(x0, x1, y vg.Length) {
				c.DrawGlyph(boundStyle(c.ink, b.side), vg.Point{X: (x0 + x1) / 2, Y: y})
			})
		}
	}
	if len(l.lost()) > 0 {
		entry("", notFinite, 8, func(x0, x1, y vg.Length) {
			c.DrawGlyph(c.crossStyle(), vg.Point{X: (x0 + x1) / 2, Y: y})
		})
	}
	for i, b := range l.Bands {
		if b.Name == "" {
			continue
		}
		entry(fmt.Sprintf("b%d", i), b.Name, sample, func(x0, x1, y vg.Length) {
			l.swatch(c, i, vg.Rectangle{Min: vg.Point{X: x0, Y: y - 4}, Max: vg.Point{X: x1, Y: y + 4}})
		})
	}
	names, _ := markNames(l.Marks)
	for i, n := range names {
		if !marks {
			break
		}
		entry("", n, 2, func(x0, x1, y vg.Length) { c.StrokeLine2(c.markStyle(i), (x0+x1)/2, y-5, (x0+x1)/2, y+5) })
	}
	x := left
	name := upright.title()
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
		end := c.begin("key", "k", e.of)
		e.mark(x, x+e.sample, top-5.5)
		c.FillText(st, vg.Point{X: x + e.sample + 4, Y: top - 1}, e.name)
		end()
		x += e.width + gap
	}
	return top - lineHeight
}

// lines counts the curves that are drawn as lines.
func (l *Lines) lines() (n int) {
	for _, k := range l.Curves {
		if !k.few() {
			n++
		}
	}
	return n
}

// sample draws what the key shows of curve i.
func (l *Lines) sample(c canvas, i int, x0, x1, y vg.Length) {
	k := l.Curves[i]
	switch {
	case k.Dots && len(k.PX) == 0:
		c.DrawGlyph(draw.GlyphStyle{Color: l.lineStyle(c, i).Color, Radius: 2, Shape: draw.CircleGlyph{}},
			vg.Point{X: (x0 + x1) / 2, Y: y})
	case !k.Dots:
		c.StrokeLine2(l.lineStyle(c, i), x0, y, x1, y)
	}
	if len(k.PX) > 0 {
		c.DrawGlyph(l.signStyle(c, i), vg.Point{X: (x0 + x1) / 2, Y: y})
	}
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

// columnGap is the room between columns of panels.
const columnGap = 14

// roomInFiles is how many columns a page that grows with them has room for.
const roomInFiles = mostColumns

// panels returns the size of the panels together.
func (s *Stack) panels() (w, h vg.Length) {
	least := vg.Length(0)
	for _, p := range s.Panels {
		if h, ok := p.(*Heat); !ok || h.From != h.To { // cells that are square leave a wider page empty
			least = pageWidth
		}
	}
	for _, row := range s.rows(roomInFiles) {
		var wide, tall vg.Length
		for _, p := range row {
			pw, ph := s.panel(p)
			wide, tall = wide+max(pw, least)*s.shrunk(len(row)), max(tall, ph)
		}
		w, h = max(w, wide), h+tall
	}
	return max(w, least), h
}

// shrunk is how wide panels in n columns are: narrower than a picture of its own, so that the page does not become
// too wide.
func (s *Stack) shrunk(n int) vg.Length {
	if n == 1 {
		return 1
	}
	return 0.75
}

// panel returns the size of one panel.
func (s *Stack) panel(p Picture) (w, h vg.Length) {
	w, h = p.size()
	if _, ok := p.(*Lines); ok && len(s.Panels) > 1 {
		h = stackHeight
	}
	return w, h
}

func (s *Stack) draw(c canvas) error {
	top := c.title(s.Title, c.Max.Y)
	_, whole := s.panels()
	room := top - c.Min.Y
	rows := s.rows(roomInFiles)
	var tiles [][]canvas
	margins := make([]vg.Length, len(rows[0]))
	for _, row := range rows {
		var h vg.Length
		for _, p := range row {
			_, tall := s.panel(p)
			h = max(h, tall)
		}
		h = h * room / whole
		n := vg.Length(len(rows[0]))
		wide := (c.Max.X - c.Min.X - (n-1)*columnGap) / n
		var line []canvas
		for k, p := range row {
			tile := c
			tile.Max.Y, tile.Min.Y = top, top-h+6
			tile.Min.X = c.Min.X + vg.Length(k)*(wide+columnGap)
			tile.Max.X = tile.Min.X + wide
			line = append(line, tile)
			if l, ok := p.(*Lines); ok {
				margins[k] = max(margins[k], l.inkMargin(tile))
			}
		}
		tiles, top = append(tiles, line), top-h
	}
	explained := Picture(nil) // the panel whose legend names the marks
	for i, row := range rows {
		for k, p := range row {
			l, ok := p.(*Lines)
			if !ok {
				if err := p.draw(tiles[i][k]); err != nil {
					return err
				}
				continue
			}
			// The name of a shared axis stands once, at the foot.
			foot := true
			if i+1 < len(rows) && k < len(rows[i+1]) {
				next, is := rows[i+1][k].(*Lines)
				foot = !is || next.X != l.X
			}
			explain := explained == nil || !marksAlike(explained, l)
			explained = l
			if err := l.drawIn(tiles[i][k], margins[k], foot, explain); err != nil {
				return err
			}
		}
	}
	return nil
}
