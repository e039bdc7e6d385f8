package plot

import (
	"fmt"
	"image"
	"image/color"
	paint "image/draw"
	"math"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const barHeight = 16

func (b *Bars) size() (w, h vg.Length) {
	h = vg.Length(len(b.Items))*barHeight + 3*lineHeight + titleHeight(b.Title, pageWidth)
	return pageWidth, max(h, 80)
}

func (b *Bars) draw(c canvas) error {
	top := c.Max.Y
	top = c.title(b.Title, top)
	s, ok := span{}, false
	for _, it := range b.Items {
		if finite(it.Value) {
			lo, hi := it.ends()
			s, ok = span{min(s.lo, lo), max(s.hi, hi)}, true
		}
	}
	if !ok {
		c.FillText(c.style(normal, draw.XCenter, draw.YCenter), c.Center(), "nothing to draw")
		return nil
	}
	if s.lo == 0 && s.hi == 0 {
		s.hi = 1
	}
	name := c.style(small, draw.XRight, draw.YCenter)
	note := c.style(small, draw.XLeft, draw.YCenter)
	var labels, notes vg.Length
	for _, it := range b.Items {
		labels = max(labels, name.Width(it.Label))
		notes = max(notes, note.Width(it.note()))
	}
	labels = min(labels, (c.Max.X-c.Min.X)/3)
	left, right := c.Min.X+labels+6, c.Max.X-6
	// Room for the text behind the bars.
	right -= notes + 4
	if s.lo < 0 {
		left += notes + 4
	}
	bottom := c.Min.Y + lineHeight + tickLength
	title := b.X.title()
	if title != "" {
		bottom += lineHeight
		st := c.style(normal, draw.XCenter, draw.YBottom)
		title = fit(st, title, c.Max.X-c.Min.X)
		half := st.Width(title) / 2 // it does not leave the page
		c.FillText(st, vg.Point{X: max(c.Min.X+half, min((left+right)/2, c.Max.X-half)), Y: c.Min.Y}, title)
	}
	at := func(v float64) vg.Length { return left + vg.Length(s.to(Axis{}, v))*(right-left) }
	free := c.Min.X
	st := c.style(small, draw.XCenter, draw.YTop)
	ticks, _ := s.plainTicks(max(2, int((right-left)/55)))
	for _, t := range ticks {
		x := at(t.at)
		c.StrokeLine2(draw.LineStyle{Color: c.grid, Width: 0.6}, x, bottom, x, top)
		half := st.Width(t.label) / 2
		if x-half < free {
			continue
		}
		c.FillText(st, vg.Point{X: x, Y: bottom - 3}, t.label)
		free = x + half + 4
	}
	step := (top - bottom) / vg.Length(max(1, len(b.Items)))
	for i, it := range b.Items {
		y := top - (vg.Length(i)+0.5)*step
		c.FillText(name, vg.Point{X: c.Min.X + labels, Y: y}, fit(name, it.Label, labels+1))
		if !finite(it.Value) {
			c.FillText(note, vg.Point{X: at(0) + 4, Y: y}, it.note())
			continue
		}
		half := min(step*0.36, 7)
		end := c.begin("bar", "name", it.Label, "value", it.told())
		r := vg.Rectangle{
			Min: vg.Point{X: at(min(0, it.Value)), Y: y - half},
			Max: vg.Point{X: at(max(0, it.Value)), Y: y + half},
		}
		fill, side, place := c.positive, note, r.Max.X+4
		if it.Value < 0 {
			fill, side, place = c.negative, c.style(small, draw.XRight, draw.YCenter), r.Min.X-4
		}
		c.FillPolygon(fill, rectangle(r))
		if lo, hi := it.ends(); it.Lo < it.Hi { // the interval, with a stroke at each end
			line := draw.LineStyle{Color: c.ink, Width: 1}
			from, to := at(max(lo, it.Lo)), at(min(hi, it.Hi))
			c.StrokeLine2(line, from, y, to, y)
			for _, x := range []vg.Length{from, to} {
				c.StrokeLine2(line, x, y-half/2, x, y+half/2)
			}
			if it.Value < 0 {
				place = min(place, from-4)
			} else {
				place = max(place, to+4)
			}
		}
		end()
		c.FillText(side, vg.Point{X: place, Y: y}, it.note())
	}
	c.StrokeLine2(draw.LineStyle{Color: c.ink, Width: 0.8}, at(0), bottom, at(0), top)
	return nil
}

func (h *Heat) size() (w, hh vg.Length) {
	rows, cols := max(1, len(h.Values)), 1
	if len(h.Values) > 0 {
		cols = max(1, len(h.Values[0]))
	}
	if h.From != h.To { // an axis with a scale of its own: cells need not be square
		return pageWidth, min(max(vg.Length(rows)*26, 60), 260) + 70
	}
	side := vg.Length(min(26, 330/float64(max(rows, cols))))
	below := vg.Length(0)
	for _, n := range h.ColNames {
		below = max(below, min(vg.Length(utf8.RuneCountInString(n))*5, mostName))
	}
	return max(vg.Length(cols)*side+126, 260), max(vg.Length(rows)*side+70, 130) + below
}

// mostCells bounds the cells that are drawn on a side. More would be too small to see.
const mostCells = 400

func (h *Heat) draw(c canvas) error {
	h = h.upright()
	top := c.Max.Y
	top = c.title(h.Title, top)
	if len(h.Values) == 0 || len(h.Values[0]) == 0 {
		c.FillText(c.style(normal, draw.XCenter, draw.YCenter), c.Center(), "nothing to draw")
		return nil
	}
	rows, cols := len(h.Values), len(h.Values[0])
	grid := h.blocked(mostCells, mostCells)
	shades := h.shading()
	left, bottom := c.Min.X+h.rowsMargin(c), c.Min.Y+lineHeight+4
	if h.Cols.title() != "" {
		bottom += lineHeight
	}
	names := h.colsMargin(c)
	bottom += names
	right := c.Max.X - 80
	wide, tall := (right-left)/vg.Length(len(grid[0])), (top-bottom)/vg.Length(len(grid))
	if min(wide, tall) <= 0 {
		return fmt.Errorf("a matrix of %d × %d does not fit the page", rows, cols)
	}
	if h.From == h.To {
		wide = min(wide, tall)
		tall = wide
	}
	bottom = top - tall*vg.Length(len(grid))
	right = left + wide*vg.Length(len(grid[0]))
	frame := draw.LineStyle{Color: c.mark, Width: 0.6}
	outline := vg.Rectangle{Min: vg.Point{X: left, Y: bottom}, Max: vg.Point{X: right, Y: top}}
	defer c.beginPanel(outline, h.cells()...)()
	c.DrawImage(outline, c.mosaic(grid, shades))
	for i, row := range grid { // a cross in each cell without a number
		for k, v := range row {
			if math.IsNaN(v) {
				x, y := left+vg.Length(k)*wide, top-vg.Length(i)*tall
				c.StrokeLine2(frame, x, y, x+wide, y-tall)
				c.StrokeLine2(frame, x, y-tall, x+wide, y)
			}
		}
	}
	c.StrokeLines(frame, append(rectangle(outline), outline.Min))
	rowStyle, colStyle := c.style(small, draw.XRight, draw.YCenter), c.style(small, draw.XCenter, draw.YTop)
	for _, i := range places(rows, int((top-bottom)/18)) {
		y := top - (vg.Length(i)+0.5)*(top-bottom)/vg.Length(rows)
		c.FillText(rowStyle, vg.Point{X: left - 4, Y: y}, h.rowName(i))
	}
	apart := colStyle.Width(fmt.Sprint(h.FirstCol+cols-1)) + 12
	switch {
	case names > 0: // they stand upright
		apart = 11
		colStyle = c.style(small, draw.XRight, draw.YCenter)
		colStyle.Rotation = math.Pi / 2
	case h.From != h.To:
		apart = 55
	}
	for _, t := range h.columnTicks(cols, int((right-left)/apart)) {
		x := left + vg.Length(t.at+0.5)*(right-left)/vg.Length(cols)
		c.StrokeLine2(frame, x, bottom, x, bottom-2)
		if names > 0 {
			t.label = fit(colStyle, t.label, names+lineHeight)
			c.FillText(colStyle, vg.Point{X: x, Y: bottom - 5}, t.label)
			continue
		}
		c.FillText(colStyle, vg.Point{X: x, Y: bottom - 3}, t.label)
	}
	if t := h.Cols.title(); t != "" {
		c.FillText(c.style(normal, draw.XCenter, draw.YTop),
			vg.Point{X: (left + right) / 2, Y: bottom - lineHeight - names}, t)
	}
	if t := h.Rows.title(); t != "" {
		st := c.style(normal, draw.XCenter, draw.YBottom)
		st.Rotation = math.Pi / 2
		c.FillText(st, vg.Point{X: c.Min.X + 8, Y: (top + bottom) / 2}, t)
	}
	h.scale(c, right+14, bottom, top, shades)
	return nil
}

// rowsMargin returns the room that the names of rows need, and that of their axis beside them.
func (h *Heat) rowsMargin(c canvas) vg.Length {
	st := c.style(small, draw.XRight, draw.YCenter)
	var widest vg.Length
	for i := range h.Values {
		widest = max(widest, st.Width(h.rowName(i)))
	}
	margin := widest + 8
	if h.Rows.title() != "" {
		margin += lineHeight + 2
	}
	return min(max(margin, 30), (c.Max.X-c.Min.X)/3)
}

// mostName is the room for names of columns that stand upright.
const mostName = 90

// colsMargin returns the room that the names of columns need below that of numbers.
func (h *Heat) colsMargin(c canvas) vg.Length {
	if len(h.ColNames) == 0 {
		return 0
	}
	st := c.style(small, draw.XRight, draw.YCenter)
	var widest vg.Length
	for _, n := range h.ColNames {
		widest = max(widest, st.Width(n))
	}
	return min(max(widest-lineHeight+8, 0), mostName)
}

// mosaic paints the cells as an image, because polygons would show seams.
func (n *inks) mosaic(grid [][]float64, s shading) image.Image {
	rows, cols := len(grid), len(grid[0])
	side := max(2, 1000/max(rows, cols))
	img := image.NewNRGBA(image.Rect(0, 0, cols*side, rows*side))
	for r, row := range grid {
		for k, v := range row {
			cell := image.Rect(k*side, r*side, (k+1)*side, (r+1)*side)
			paint.Draw(img, cell, image.NewUniform(n.heat(v, s)), image.Point{}, paint.Src)
		}
	}
	return img
}

// scale draws the key of colours.
func (h *Heat) scale(c canvas, x, bottom, top vg.Length, s shading) {
	const n = 41
	bottom = max(bottom, top-110)
	lo, hi := s.places()
	for i := range n {
		v := s.from(lo + (hi-lo)*float64(i)/(n-1))
		y0 := bottom + vg.Length(i)*(top-bottom)/n
		c.FillPolygon(c.heat(v, s), rectangle(vg.Rectangle{
			Min: vg.Point{X: x, Y: y0},
			Max: vg.Point{X: x + 9, Y: y0 + (top-bottom)/n + 0.3},
		}))
	}
	st := c.style(small, draw.XLeft, draw.YCenter)
	key := s.key()
	for i, v := range key {
		y := bottom + vg.Length(i)/vg.Length(max(1, len(key)-1))*(top-bottom)
		c.FillText(st, vg.Point{X: x + 13, Y: y}, s.signed(v))
	}
	y := bottom - 8
	below := func(text string) {
		st := c.style(small, draw.XLeft, draw.YTop)
		for _, line := range fold(text, 3, func(t string) bool { return st.Width(t) <= c.Max.X-x }) {
			c.FillText(st, vg.Point{X: x, Y: y}, fit(st, line, c.Max.X-x))
			y -= lineHeight - 2
		}
	}
	if h.Unit != "" && h.Unit != "1" {
		below("[" + h.Unit + "]")
	}
	if note := s.note(); note != "" {
		below(note)
	}
	if h.lost() {
		below("× " + notFinite)
	}
}

// places returns about n of 0 … count-1, evenly spaced, with the first and the last among them.
func places(count, n int) []int {
	n = max(2, n)
	step := max(1, (count+n-1)/n)
	for _, s := range []int{1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000} {
		if s >= step {
			step = s
			break
		}
	}
	var out []int
	for i := 0; i < count; i++ {
		if i == 0 || (i+1)%step == 0 && i > step/2 { // 1, 4, 6 rather than 1, 2, 4, 6
			out = append(out, i)
		}
	}
	return out
}

// heat returns the colour of a value. Around zero it is orange for negative values, paper for zero
// and blue for positive values. From least to greatest it runs through the inks of families.
func (n *inks) heat(v float64, s shading) color.Color {
	if math.IsNaN(v) {
		return n.grid
	}
	f := max(-1, min(1, s.to(v)))
	if !s.diverging {
		at := f * float64(len(n.shades)-1)
		k := min(int(at), len(n.shades)-2)
		return blend(n.shades[k], n.shades[k+1], at-float64(k))
	}
	end := n.positive
	if f < 0 {
		end = n.cold
	}
	if s.least > 0 {
		return blend(n.paper, end, math.Abs(f))
	}
	return blend(n.paper, end, math.Sqrt(math.Abs(f))) // small entries remain visible
}

// blend mixes two inks: a for f = 0, b for 1.
func blend(a, b color.NRGBA, f float64) color.NRGBA {
	mix := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + f*(float64(y)-float64(x)))) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}
