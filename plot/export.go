package plot

import (
	"bytes"
	"fmt"
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

// dpi is the resolution of a png, sharp on present screens.
const dpi = 192

// export draws p on a page of its size and writes the page.
func export(w io.Writer, format string, p Picture, n *inks) error {
	var widths []vg.Length
	n.format, n.widths = format, &widths
	if format == "html" {
		n.format = "svg"
	}
	width, height := p.size()
	var page vg.CanvasWriterTo
	switch format {
	case "png":
		page = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))}
	case "pdf":
		c := vgpdf.New(width, height)
		c.EmbedFonts(true)
		page = c
	default:
		page = vgsvg.New(width, height)
	}
	c := draw.NewCanvas(page, width, height)
	c.FillPolygon(n.paper, rectangle(c.Rectangle))
	if err := p.draw(canvas{draw.Crop(c, border, -border, border, -border), n}); err != nil {
		return err
	}
	if format != "html" && format != "svg" {
		_, err := page.WriteTo(w)
		return err
	}
	var svg bytes.Buffer
	if _, err := page.WriteTo(&svg); err != nil {
		return err
	}
	// The program that shows the file draws its text. Where this font is missing, it takes one of
	// similar widths.
	drawing := bytes.ReplaceAll(keepWidths(svg.Bytes(), widths), []byte("font-family:Liberation Sans"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif"))
	if format == "svg" {
		_, err := w.Write(drawing)
		return err
	}
	if at := bytes.Index(drawing, []byte("<svg")); at > 0 { // a page has no xml declaration inside
		drawing = drawing[at:]
	}
	_, err := fmt.Fprintf(w, "<!doctype html>\n<meta charset=\"utf-8\">\n<title>odes</title>\n"+
		"<body style=\"margin:0;display:grid;place-items:center;min-height:100vh;background:%s\">\n%s</body>\n",
		hex(n.paper), drawing)
	return err
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
	return text.Style{
		Color: n.ink, Font: f, XAlign: x, YAlign: y,
		Handler: &lettering{text.Plain{Fonts: fonts}, n.format, n.lost, n.widths},
	}
}

func rectangle(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}
