package plot

import (
	"bytes"
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// dpi of a png: sharp on screens of today.
const dpi = 192

// export draws p on a page of its size and writes that.
func export(w io.Writer, format string, p Picture) error {
	width, height := p.size()
	var canvas vg.CanvasWriterTo
	switch format {
	case "png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))}
	case "pdf":
		c := vgpdf.New(width, height)
		c.EmbedFonts(true)
		canvas = c
	default:
		canvas = vgsvg.New(width, height)
	}
	c := draw.NewCanvas(canvas, width, height)
	c.FillPolygon(color.White, rectangle(c.Rectangle))
	if err := p.draw(draw.Crop(c, border, -border, border, -border)); err != nil {
		return err
	}
	if format != "html" {
		_, err := canvas.WriteTo(w)
		return err
	}
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	drawing := svg.Bytes()
	if at := bytes.Index(drawing, []byte("<svg")); at > 0 { // a page has no xml declaration inside
		drawing = drawing[at:]
	}
	_, err := fmt.Fprintf(w, "<!doctype html>\n<meta charset=\"utf-8\">\n<title>odes</title>\n<body style=\"margin:0;display:grid;place-items:center;min-height:100vh;background:#fff\">\n%s</body>\n", drawing)
	return err
}

const border = 8 * vg.Inch / 72

// Ink of pictures on white paper. The curves' colours are those of Okabe and
// Ito, told apart by people who do not see red or green; dashes repeat the
// difference for prints without colour.
var (
	ink      = color.NRGBA{0x33, 0x33, 0x33, 0xff}
	gridInk  = color.NRGBA{0xe4, 0xe4, 0xe4, 0xff}
	markInk  = color.NRGBA{0x99, 0x99, 0x99, 0xff}
	curveInk = []color.NRGBA{
		{0x00, 0x72, 0xb2, 0xff},
		{0xe6, 0x9f, 0x00, 0xff},
		{0x00, 0x9e, 0x73, 0xff},
		{0xcc, 0x79, 0xa7, 0xff},
		{0xd5, 0x5e, 0x00, 0xff},
		{0x56, 0xb4, 0xe9, 0xff},
		{0x33, 0x33, 0x33, 0xff},
	}
	// rampInk runs from dark to light with the hue, so that order is seen in grey as well.
	rampInk = []color.NRGBA{
		{0x44, 0x01, 0x54, 0xff},
		{0x47, 0x2d, 0x7b, 0xff},
		{0x3b, 0x52, 0x8b, 0xff},
		{0x2c, 0x72, 0x8e, 0xff},
		{0x21, 0x91, 0x8c, 0xff},
		{0x28, 0xae, 0x80, 0xff},
		{0x5e, 0xc9, 0x62, 0xff},
		{0xad, 0xdc, 0x30, 0xff},
	}
	dashes = [][]vg.Length{nil, {6, 2}, {2, 2}, {8, 2, 2, 2}}
)

var fonts = font.NewCache(liberation.Collection())

// style is a text style; x and y say which side of the text stands at its point.
func style(size vg.Length, x draw.XAlignment, y draw.YAlignment) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	return text.Style{Color: ink, Font: f, XAlign: x, YAlign: y, Handler: text.Plain{Fonts: fonts}}
}

func rectangle(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}
