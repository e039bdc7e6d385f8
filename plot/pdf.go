package plot

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/color"
	"io"
	"strings"
	"unicode/utf16"

	"gonum.org/v1/plot/font"
)

// pdf is a document that is being written: objects by their numbers, from 1. It follows ISO 32000-1, has neither a
// date nor a name of a program, and so is the same for the same picture.
type pdf struct {
	objects [][]byte
	fonts   []*pdfFont
	alphas  []uint8
	images  int
}

// pdfFont is a font of a document, with the letters that it uses.
type pdfFont struct {
	face   font.Face
	subset *subset
}

func (d *pdf) add(format string, args ...any) int {
	d.objects = append(d.objects, fmt.Appendf(nil, format, args...))
	return len(d.objects)
}

// stream adds a stream, with more entries of its dictionary.
func (d *pdf) stream(entries string, data []byte) int {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(data)
	z.Close()
	return d.add("<< %s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream", entries, b.Len(), b.Bytes())
}

// writePDF writes a sheet as a document of one page.
func writePDF(w io.Writer, s *sheet) error {
	d := &pdf{}
	var drawing, resources bytes.Buffer
	for _, it := range s.items {
		drawing.WriteString("q ")
		d.paint(&drawing, it.colour)
		switch {
		case it.image != nil:
			d.images++
			n := d.image(it.image)
			fmt.Fprintf(&resources, "/I%d %d 0 R ", d.images, n)
			fmt.Fprintf(&drawing, "%s cm /I%d Do",
				coordinates(it.hi.x-it.lo.x, 0, 0, it.hi.y-it.lo.y, it.lo.x, it.lo.y), d.images)
		case it.text != nil:
			d.text(&drawing, it.text)
		case it.width > 0:
			fmt.Fprintf(&drawing, "%s w [%s] 0 d 1 j %sS", coordinate(it.width), coordinates(it.dashes...),
				pdfPath(it.path))
		default:
			drawing.WriteString(pdfPath(it.path) + "f")
		}
		drawing.WriteString(" Q\n")
	}
	images := resources.String()
	resources.Reset()
	fmt.Fprintf(&resources, "/XObject << %s>> /ExtGState << ", images)
	for _, a := range d.alphas {
		fmt.Fprintf(&resources, "/A%d << /ca %[2]s /CA %[2]s >> ", a, coordinate(float64(a)/255))
	}
	resources.WriteString(">> /Font << ")
	for k, f := range d.fonts {
		n, err := d.font(f)
		if err != nil {
			return err
		}
		fmt.Fprintf(&resources, "/F%d %d 0 R ", k, n)
	}
	resources.WriteString(">>")
	content := d.stream("", drawing.Bytes())
	page := len(d.objects) + 1
	d.add("<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %s] /Contents %d 0 R /Resources << %s >> >>", page+1,
		coordinates(s.width, s.height), content, resources.String())
	d.add("<< /Type /Pages /Kids [%d 0 R] /Count 1 >>", page)
	catalog := d.add("<< /Type /Catalog /Pages %d 0 R /ViewerPreferences << /DisplayDocTitle true >> >>", page+1)
	info := d.add("<< /Title %s >>", pdfText(s.name))
	return d.write(w, catalog, info)
}

// write writes the objects, and the table of where they are.
func (d *pdf) write(w io.Writer, catalog, info int) error {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	at := make([]int, len(d.objects))
	for k, o := range d.objects {
		at[k] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", k+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root %d 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, catalog,
		info, start)
	_, err := w.Write(b.Bytes())
	return err
}

// paint sets the colour of what follows.
func (d *pdf) paint(b *bytes.Buffer, c color.NRGBA) {
	for _, op := range []string{"rg", "RG"} {
		fmt.Fprintf(b, "%.3g %.3g %.3g %s ", float64(c.R)/255, float64(c.G)/255, float64(c.B)/255, op)
	}
	if c.A == 255 {
		return
	}
	if !bytes.Contains(d.alphas, []byte{c.A}) {
		d.alphas = append(d.alphas, c.A)
	}
	fmt.Fprintf(b, "/A%d gs ", c.A)
}

func pdfPath(path []segment) string {
	var b strings.Builder
	for _, p := range path {
		switch p.kind {
		case moves:
			b.WriteString(coordinates(p.to.x, p.to.y) + " m ")
		case draws:
			b.WriteString(coordinates(p.to.x, p.to.y) + " l ")
		case bends:
			b.WriteString(coordinates(p.a.x, p.a.y, p.b.x, p.b.y, p.to.x, p.to.y) + " c ")
		case closes:
			b.WriteString("h ")
		}
	}
	return b.String()
}

// text writes a line by the numbers that its letters have in the subset of the font. Kerning moves letters.
func (d *pdf) text(b *bytes.Buffer, l *line) {
	k := d.use(l.face)
	f := d.fonts[k]
	em := float64(f.face.Face.UnitsPerEm())
	size := l.face.Font.Size.Points()
	m := l.turn
	fmt.Fprintf(b, "BT /F%d %s Tf %s Tm [", k, coordinate(size), coordinates(m.a, m.b, m.c, m.d, m.e, m.f))
	at := 0
	l.glyphs(func(g glyph) {
		if g.left != at {
			fmt.Fprintf(b, "%s ", coordinate(float64(at-g.left)*1000/em))
		}
		fmt.Fprintf(b, "<%04x>", f.subset.number(g.index, g.r))
		at = g.left + f.subset.advance(g.index)
	})
	b.WriteString("] TJ ET")
}

// use returns the number of a font in the document.
func (d *pdf) use(face font.Face) int {
	for k, f := range d.fonts {
		if f.face.Face == face.Face {
			return k
		}
	}
	d.fonts = append(d.fonts, &pdfFont{face, newSubset(face.Face)})
	return len(d.fonts) - 1
}

// font adds what a page needs to know of a font: the letters that are used, how wide they are, and which they are.
func (d *pdf) font(f *pdfFont) (int, error) {
	file, err := f.subset.file()
	if err != nil {
		return 0, err
	}
	em := float64(f.face.Face.UnitsPerEm())
	unit := func(x int) string { return coordinate(float64(x) * 1000 / em) }
	var widths, names strings.Builder
	for k, g := range f.subset.glyphs {
		fmt.Fprintf(&widths, "%s ", unit(f.subset.advance(g)))
		if r, ok := f.subset.letters[g]; ok {
			fmt.Fprintf(&names, "<%04x> <%s>\n", k, hex16(string(r)))
		}
	}
	name := "ODESUB+LiberationSans"
	extents := f.face.Extents()
	scale := 1000 / f.face.Font.Size.Points()
	data := d.stream(fmt.Sprintf("/Length1 %d", len(file)), file)
	about := d.add("<< /Type /FontDescriptor /FontName /%s /Flags 4 /FontBBox [-200 -250 1200 1000] /ItalicAngle 0 "+
		"/Ascent %s /Descent %s /CapHeight 700 /StemV 80 /FontFile2 %d 0 R >>", name,
		coordinate(extents.Ascent.Points()*scale), coordinate(-extents.Descent.Points()*scale), data)
	letters := d.add("<< /Type /Font /Subtype /CIDFontType2 /BaseFont /%s /CIDSystemInfo << /Registry (Adobe) "+
		"/Ordering (Identity) /Supplement 0 >> /FontDescriptor %d 0 R /CIDToGIDMap /Identity /W [0 [%s]] >>", name,
		about, widths.String())
	count := strings.Count(names.String(), "\n")
	read := d.stream("", fmt.Appendf(nil, "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"+
		"/CMapName /odes def /CMapType 2 def\n1 begincodespacerange <0000> <ffff> endcodespacerange\n%d beginbfchar\n"+
		"%sendbfchar\nendcmap CMapName currentdict /CMap defineresource pop end end\n", count, names.String()))
	return d.add("<< /Type /Font /Subtype /Type0 /BaseFont /%s /Encoding /Identity-H /DescendantFonts [%d 0 R] "+
		"/ToUnicode %d 0 R >>", name, letters, read), nil
}

// image adds an image.
func (d *pdf) image(img image.Image) int {
	r := img.Bounds()
	data := make([]byte, 0, 3*r.Dx()*r.Dy())
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			data = append(data, c.R, c.G, c.B)
		}
	}
	return d.stream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceRGB "+
		"/BitsPerComponent 8", r.Dx(), r.Dy()), data)
}

// pdfText writes a text string.
func pdfText(s string) string { return "<feff" + hex16(s) + ">" }

// hex16 writes the UTF-16 of a text as hexadecimal digits.
func hex16(s string) string {
	var b strings.Builder
	for _, x := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, "%04x", x)
	}
	return b.String()
}
