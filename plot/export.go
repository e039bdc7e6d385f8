package plot

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// format is a format of picture files.
type format struct {
	name string // and the ending of its files
	page func(width, height vg.Length) vg.CanvasWriterTo
	// text tells that the file holds texts as such: the program that shows it finds fonts. In the other formats
	// letters are drawn with one font, and boxes stand for those that it lacks.
	text bool
	// letters, where set, wraps the canvas that letters of this one font are drawn on.
	letters func(vg.Canvas) vg.Canvas
	// finish, where set, makes a file of what the page wrote.
	finish func(drawing []byte, n *inks) []byte
}

// formats are the formats of Write.
var formats = []*format{
	{name: "svg", page: svgPage, text: true, finish: finishSVG},
	{name: "png", page: pngPage},
	{name: "pdf", page: pdfPage, letters: func(c vg.Canvas) vg.Canvas { return outlined{c} }},
	{name: "html", page: svgPage, text: true, finish: finishHTML},
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
	// Lost, when set, is where Write adds the letters that a png or pdf file shows as boxes: its font lacks them.
	Lost *[]rune
}

// Write draws p in the format of a name among Formats.
func Write(w io.Writer, name string, p Picture, page Page) error {
	for _, f := range formats {
		if f.name == name {
			return f.write(w, p, page)
		}
	}
	return fmt.Errorf("there is no picture format %q; there are %s", name, strings.Join(Formats(), ", "))
}

// write draws p on a page of its size and writes that.
func (f *format) write(w io.Writer, p Picture, look Page) error {
	var widths []vg.Length
	n := inksOf(look)
	n.format, n.widths, n.lost = *f, &widths, look.Lost
	width, height := p.size()
	page := f.page(width, height)
	c := draw.NewCanvas(page, width, height)
	c.FillPolygon(n.paper, rectangle(c.Rectangle))
	if err := p.draw(canvas{draw.Crop(c, border, -border, border, -border), n}); err != nil {
		return err
	}
	if f.finish == nil {
		_, err := page.WriteTo(w)
		return err
	}
	var drawing bytes.Buffer
	if _, err := page.WriteTo(&drawing); err != nil {
		return err
	}
	_, err := w.Write(f.finish(drawing.Bytes(), n))
	return err
}

// dpi of a png: sharp on screens of today.
const dpi = 192

func pngPage(width, height vg.Length) vg.CanvasWriterTo {
	return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))}
}

func pdfPage(width, height vg.Length) vg.CanvasWriterTo {
	c := vgpdf.New(width, height)
	c.EmbedFonts(true)
	return c
}

func svgPage(width, height vg.Length) vg.CanvasWriterTo { return vgsvg.New(width, height) }

// finishSVG keeps texts as wide as they were meant to be: the program that shows the file draws them, with a font of
// much the same widths where it has none of this name.
func finishSVG(drawing []byte, n *inks) []byte {
	const ours, similar = "font-family:Liberation Sans", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif"
	return bytes.ReplaceAll(keepWidths(drawing, *n.widths), []byte(ours), []byte(similar))
}

// finishHTML makes a page of an svg drawing, which must have no xml declaration there.
func finishHTML(drawing []byte, n *inks) []byte {
	svg := finishSVG(drawing, n)
	if at := bytes.Index(svg, []byte("<svg")); at > 0 {
		svg = svg[at:]
	}
	return fmt.Appendf(nil, `<!doctype html>
<meta charset="utf-8">
<title>odes</title>
<body style="margin:0;display:grid;place-items:center;min-height:100vh;background:%s">
%s</body>
`, hex(n.paper), svg)
}

const border = 8 * vg.Inch / 72

var fonts = font.NewCache(liberation.Collection())

// canvas is where a picture is drawn, and with which inks.
type canvas struct {
	draw.Canvas
	*inks
}

// style is a text style; x and y say which side of the text stands at its point.
func (n *inks) style(size vg.Length, x draw.XAlignment, y draw.YAlignment) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	letters := &lettering{text.Plain{Fonts: fonts}, n.format, n.lost, n.widths}
	return text.Style{Color: n.ink, Font: f, XAlign: x, YAlign: y, Handler: letters}
}

func rectangle(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}
