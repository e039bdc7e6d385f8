package plot

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// format is a format of picture files.
type format struct {
	name  string // and the ending of its files
	write func(io.Writer, *sheet) error
	// text tells that the file holds texts as such: the program that shows it finds fonts. In the other formats
	// letters are drawn with one font, and boxes stand for those that it lacks.
	text bool
}

// formats are the formats of Write.
var formats = []*format{
	{name: "svg", write: writeSVG, text: true},
	{name: "png", write: writePNG},
	{name: "pdf", write: writePDF},
	{name: "html", text: true},
}

// Formats lists the names of the formats of Write, which are the endings of files as well.
func Formats() []string { return formatNames(func(*format) bool { return true }) }

func formatNames(which func(*format) bool) (names []string) {
	for _, f := range formats {
		if which(f) {
			names = append(names, f.name)
		}
	}
	return names
}

// Page says how a file looks.
type Page struct {
	Dark bool // light on dark
	Size Size // in pixels, or with a unit; the zero value leaves it to the picture
	// Lost, when set, is where Write adds the letters that a png or pdf file shows as boxes: its font lacks them.
	Lost *[]rune
	live bool // parts are marked
}

// Write draws p in the format of a name among Formats.
func Write(w io.Writer, name string, p Picture, page Page) error {
	if f := formatNamed(name); name == "html" {
		return writeHTML(w, p, page)
	} else if f != nil {
		s, err := f.draw(p, page)
		if err != nil {
			return err
		}
		return f.write(w, s)
	}
	return fmt.Errorf("there is no picture format %q; there are %s", name, strings.Join(Formats(), ", "))
}

func formatNamed(name string) *format {
	for _, f := range formats {
		if f.name == name {
			return f
		}
	}
	return nil
}

// draw draws p on a sheet of its size.
func (f *format) draw(p Picture, look Page) (*sheet, error) {
	n := inksOf(look)
	n.format, n.lost = *f, look.Lost
	width, height := p.size()
	dots := float64(dpi)
	if size := look.Size; size.Width > 0 {
		scale := points[size.Unit]
		width, height = vg.Length(size.Width*scale), vg.Length(size.Height*scale)
		if scale == points["px"] { // a pixel is one in a png file, too
			dots = 96
		}
		if width < leastSize || height < leastSize {
			const say = "a picture of %g x %g pixels is too small: 60 are the least"
			return nil, fmt.Errorf(say, size.Width, size.Height)
		}
	}
	s := newSheet(width, height)
	s.dots, s.live = dots, look.live
	s.paper, s.name, s.about = n.paper, nameOf(p), about(p)
	c := draw.NewCanvas(s, width, height)
	c.FillPolygon(n.paper, rectangle(c.Rectangle))
	return s, p.draw(canvas{draw.Crop(c, border, -border, border, -border), n})
}

const border = 8 * vg.Inch / 72

// fonts are parsed for the first picture.
var fonts = sync.OnceValue(func() *font.Cache { return font.NewCache(liberation.Collection()) })

// canvas is where a picture is drawn, and with which inks.
type canvas struct {
	draw.Canvas
	*inks
}

// style is a text style; x and y say which side of the text stands at its point.
func (n *inks) style(size vg.Length, x draw.XAlignment, y draw.YAlignment) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	letters := &lettering{text.Plain{Fonts: fonts()}, n.format, n.lost}
	return text.Style{Color: n.ink, Font: f, XAlign: x, YAlign: y, Handler: letters}
}

func rectangle(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}
