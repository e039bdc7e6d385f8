package plot

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image/color"
	"image/png"
	"io"
	"strconv"
	"strings"
)

// coordinate writes a length with two digits behind the point, which is finer than any screen shows.
func coordinate(x float64) string {
	s := strconv.FormatFloat(x, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

// coordinates writes several.
func coordinates(list ...float64) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = coordinate(x)
	}
	return strings.Join(words, " ")
}

func writeSVG(w io.Writer, s *sheet) error {
	_, err := fmt.Fprintf(w, "<?xml version=\"1.0\"?>\n%s", s.svg())
	return err
}

// writeHTML writes a page with the drawing.
func writeHTML(w io.Writer, s *sheet) error {
	_, err := fmt.Fprintf(w, `<!doctype html>
<meta charset="utf-8">
<title>%s</title>
<style>svg { max-width: 100%%; height: auto }</style>
<body style="margin:0;display:grid;place-items:center;min-height:100vh;background:%s">
%s</body>
`, html.EscapeString(s.name), hex(s.paper), s.svg())
	return err
}

// svg writes the sheet as an element. Programs that read pictures aloud find an image with a name and a description.
func (s *sheet) svg() string {
	var b strings.Builder
	size := coordinates(s.width, s.height)
	wide, tall, _ := strings.Cut(size, " ")
	fmt.Fprintf(&b, `<svg width="%spt" height="%spt" viewBox="0 0 %s" xmlns="http://www.w3.org/2000/svg"`+
		` xmlns:xlink="http://www.w3.org/1999/xlink" role="img">`+"\n", wide, tall, size)
	fmt.Fprintf(&b, "<title>%s</title>\n<desc>%s</desc>\n", html.EscapeString(s.name), html.EscapeString(s.about))
	b.WriteString("<g font-family=\"'Liberation Sans',Arial,Helvetica,sans-serif\" fill=\"none\">\n")
	for _, it := range s.items {
		switch {
		case it.text != nil:
			s.svgText(&b, it)
		case it.image != nil:
			s.svgImage(&b, it)
		case it.width > 0:
			fmt.Fprintf(&b, `<path d="%s" stroke-width="%s"%s`, s.data(it.path), coordinate(it.width),
				inked("stroke", it.colour))
			if len(it.dashes) > 0 {
				fmt.Fprintf(&b, ` stroke-dasharray="%s"`, coordinates(it.dashes...))
			}
			b.WriteString("/>\n")
		default:
			fmt.Fprintf(&b, `<path d="%s"%s/>`+"\n", s.data(it.path), inked("fill", it.colour))
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// inked writes a colour as an attribute.
func inked(name string, c color.NRGBA) string {
	text := fmt.Sprintf(` %s="%s"`, name, hex(c))
	if c.A < 255 {
		text += fmt.Sprintf(` %s-opacity="%s"`, name, coordinate(float64(c.A)/255))
	}
	return text
}

// data writes a path. An svg drawing has its origin in the upper left corner.
func (s *sheet) data(path []segment) string {
	var b strings.Builder
	at := func(p point) string { return coordinates(p.x, s.height-p.y) }
	for _, p := range path {
		switch p.kind {
		case moves:
			b.WriteString("M" + at(p.to))
		case draws:
			b.WriteString("L" + at(p.to))
		case bends:
			b.WriteString("C" + at(p.a) + " " + at(p.b) + " " + at(p.to))
		case closes:
			b.WriteString("Z")
		}
	}
	return b.String()
}

// svgText writes a line of text. It keeps as wide as it was meant to be: the program that shows the file draws it,
// with a font of much the same widths where it has none of this name.
func (s *sheet) svgText(b *strings.Builder, it item) {
	m := it.text.turn
	fmt.Fprintf(b, `<text font-size="%s"%s`, coordinate(it.text.face.Font.Size.Points()), inked("fill", it.colour))
	if it.text.width > 0 {
		fmt.Fprintf(b, ` textLength="%s" lengthAdjust="spacingAndGlyphs"`, coordinate(it.text.width))
	}
	if m.b == 0 && m.a == 1 {
		fmt.Fprintf(b, ` x="%s" y="%s"`, coordinate(m.e), coordinate(s.height-m.f))
	} else {
		fmt.Fprintf(b, ` transform="matrix(%s)"`, coordinates(m.a, -m.b, -m.c, m.d, m.e, s.height-m.f))
	}
	fmt.Fprintf(b, ">%s</text>\n", html.EscapeString(it.text.text))
}

func (s *sheet) svgImage(b *strings.Builder, it item) {
	var data bytes.Buffer
	if err := png.Encode(&data, it.image); err != nil {
		panic(err) // the image has no size, or memory cannot be written
	}
	fmt.Fprintf(b, `<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" image-rendering="pixelated"`+
		` xlink:href="data:image/png;base64,%s"/>`+"\n", coordinate(it.lo.x), coordinate(s.height-it.hi.y),
		coordinate(it.hi.x-it.lo.x), coordinate(it.hi.y-it.lo.y), base64.StdEncoding.EncodeToString(data.Bytes()))
}
