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

// writeHTML writes a page with the picture, which lives: it is light or dark as the reader likes, unless it is to be
// dark.
func writeHTML(w io.Writer, p Picture, look Page) error {
	scheme := "light dark"
	if look.Dark {
		scheme = "dark"
	}
	var b bytes.Buffer
	if err := Live(&b, p, look); err != nil {
		return err
	}
	light, dark := inksOf(Page{}).paper, inksOf(Page{Dark: true}).paper
	_, err := fmt.Fprintf(w, `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>%s</title>
<meta name="viewport" content="width=device-width">
<style>:root{color-scheme:%s}
body{margin:0;display:grid;place-items:center;min-height:100vh;background:%s;background:light-dark(%[3]s,%s)}
svg{max-width:100%%;height:auto}
%s</style>
<body>
<main class="picture">%s</main>
<script>%s</script>
</body>
</html>
`, html.EscapeString(nameOf(p)), scheme, hex(light), hex(dark), liveStyle, b.String(), liveScript)
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
			s.svgText(&b, it, lightDark{it.colour, it.colour})
		case it.image != nil:
			s.svgImage(&b, it, "")
		default:
			s.svgPath(&b, it, lightDark{it.colour, it.colour})
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// lightDark is a colour on light pages, and that on dark ones.
type lightDark [2]color.NRGBA

// inked writes a colour as an attribute. Programs that do not know two colours take the light one.
func inked(name string, both lightDark) string {
	c := both[0]
	text := fmt.Sprintf(` %s="%s"`, name, hex(c))
	if c.A < 255 {
		text += fmt.Sprintf(` %s-opacity="%s"`, name, coordinate(float64(c.A)/255))
	}
	if both[1] != c {
		text += fmt.Sprintf(` style="%s:light-dark(%s,%s)"`, name, hex(c), hex(both[1]))
	}
	return text
}

// svgPath writes a path that is stroked or filled.
func (s *sheet) svgPath(b *strings.Builder, it item, both lightDark) {
	if it.width <= 0 {
		fmt.Fprintf(b, `<path d="%s"%s/>`+"\n", s.data(it.path), inked("fill", both))
		return
	}
	fmt.Fprintf(b, `<path d="%s" stroke-width="%s"%s`, s.data(it.path), coordinate(it.width), inked("stroke", both))
	if len(it.dashes) > 0 {
		fmt.Fprintf(b, ` stroke-dasharray="%s"`, coordinates(it.dashes...))
	}
	b.WriteString("/>\n")
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
func (s *sheet) svgText(b *strings.Builder, it item, both lightDark) {
	m := it.text.turn
	fmt.Fprintf(b, `<text font-size="%s"%s`, coordinate(it.text.face.Font.Size.Points()), inked("fill", both))
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

func (s *sheet) svgImage(b *strings.Builder, it item, class string) {
	var data bytes.Buffer
	if err := png.Encode(&data, it.image); err != nil {
		panic(err) // the image has no size, or memory cannot be written
	}
	fmt.Fprintf(b, `<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" image-rendering="pixelated"`+
		` xlink:href="data:image/png;base64,%s"%s/>`+"\n", coordinate(it.lo.x), coordinate(s.height-it.hi.y),
		coordinate(it.hi.x-it.lo.x), coordinate(it.hi.y-it.lo.y), base64.StdEncoding.EncodeToString(data.Bytes()),
		class)
}
