package plot

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// drawn writes a picture in a format.
func drawn(t *testing.T, format string, p Picture, look Page) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, format, p, look); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSpokenSVG: a program that reads a drawing aloud finds an image with a name and a description, and it is XML.
func TestSpokenSVG(t *testing.T) {
	for name, p := range pictures() {
		text := drawn(t, "svg", p, Page{})
		var e struct {
			Role  string `xml:"role,attr"`
			Title string `xml:"title"`
			Desc  string `xml:"desc"`
		}
		if err := xml.Unmarshal([]byte(text), &e); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e.Role != "img" || e.Desc == "" || e.Title == "" && name != "zeros" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	l := &Lines{
		X: Axis{Label: "t", Unit: "h"}, Y: Axis{Label: "a<b"},
		Curves: []Curve{{X: []float64{0, 1}, Y: []float64{2, 3}}},
	}
	text := drawn(t, "svg", l, Page{})
	for _, want := range []string{
		"<title>a&lt;b over t [h]</title>",
		"<desc>a&lt;b over t [h], from 0 to 1; values from 2 to 3</desc>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %.400s", want, text)
		}
	}
	page := drawn(t, "html", l, Page{})
	if !strings.Contains(page, "<meta charset=\"utf-8\">\n<title>a&lt;b over t [h]<") {
		t.Errorf("the page has another title: %.200s", page)
	}
}

var xrefRow = regexp.MustCompile(`(?m)^(\d{10}) 00000 n $`)

// TestPDF: a document is the same each time, has no date and names no program, has its objects where its table says,
// and a part of the font instead of all of its 400 kB.
func TestPDF(t *testing.T) {
	for name, p := range pictures() {
		text := drawn(t, "pdf", p, Page{})
		if text != drawn(t, "pdf", p, Page{}) {
			t.Errorf("%s: two documents differ", name)
		}
		for _, word := range []string{"Date", "Producer", "Creator"} {
			if strings.Contains(text, word) {
				t.Errorf("%s: the document has a %s", name, word)
			}
		}
		rows := xrefRow.FindAllStringSubmatch(text, -1)
		for k, row := range rows {
			var at int
			if _, err := fmt.Sscan(strings.TrimLeft(row[1], "0"), &at); err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("%d 0 obj\n", k+1); !strings.HasPrefix(text[at:], want) {
				t.Errorf("%s: object %d is not at %d", name, k+1, at)
			}
		}
		if len(rows) < 4 {
			t.Errorf("%s: %d objects", name, len(rows))
		}
		if _, curves := p.(*Lines); curves && len(text) > 25_000 {
			t.Errorf("%s: %d bytes", name, len(text))
		}
	}
}

// TestSubset: the part of a font that a document gets is a whole font file, in which the parts of letters are there.
func TestSubset(t *testing.T) {
	face := fonts().Lookup(font.Font{Typeface: "Liberation", Variant: "Sans"}, 10)
	s := newSubset(face.Face)
	var b sfnt.Buffer
	for _, r := range "aé Жµ" {
		g, err := face.Face.GlyphIndex(&b, r)
		if err != nil || g == 0 {
			t.Fatal(r, err)
		}
		if k := s.number(g, r); s.letters[s.glyphs[k]] != r {
			t.Errorf("%c is number %d", r, k)
		}
	}
	asked := len(s.glyphs)
	file, err := s.file()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.glyphs) <= asked { // é is e and an accent
		t.Errorf("%d letters, %d glyphs", asked, len(s.glyphs))
	}
	if checksum(file) != 0xb1b0afba {
		t.Errorf("checksum %x", checksum(file))
	}
	tables, err := tablesOf(file)
	if err != nil {
		t.Fatal(err)
	}
	n := len(s.glyphs)
	if len(tables["loca"]) != 4*(n+1) || len(tables["hmtx"]) != 4*n ||
		int(binary.BigEndian.Uint16(tables["maxp"][4:])) != n || len(file) > 4000 {
		t.Errorf("tables of %d glyphs in %d bytes: loca %d, hmtx %d", n, len(file), len(tables["loca"]),
			len(tables["hmtx"]))
	}
	for k := range n {
		from, to := binary.BigEndian.Uint32(tables["loca"][4*k:]), binary.BigEndian.Uint32(tables["loca"][4*k+4:])
		if to < from || int(to) > len(tables["glyf"]) {
			t.Errorf("glyph %d from %d to %d", k, from, to)
		}
	}
	for _, broken := range [][]byte{nil, []byte("OTTO0000000000000")} {
		if _, err := tablesOf(broken); !errors.Is(err, errFont) {
			t.Errorf("%q: %v", broken, err)
		}
	}
}

// TestPaint: a png file has the colours where they belong: a filled square, a line beside it, and nothing elsewhere.
func TestPaint(t *testing.T) {
	s := newSheet(40, 20)
	s.dots = 72
	s.SetColor(rgb(0xff0000))
	s.Fill(vg.Path{move(2, 2), to(10, 2), to(10, 10), to(2, 10)})
	s.SetColor(rgb(0x0000ff))
	s.SetLineWidth(2)
	s.SetLineDash([]vg.Length{4, 4}, 0)
	s.Stroke(vg.Path{move(20, 5), to(36, 5)})
	var b bytes.Buffer
	if err := writePNG(&b, s); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if img.Bounds() != image.Rect(0, 0, 40, 20) {
		t.Fatal(img.Bounds())
	}
	for _, c := range []struct{ x, y, red, blue int }{
		{5, 14, 255, 0},
		{1, 14, 0, 0},
		{5, 5, 0, 0},
		{22, 14, 0, 255},
		{26, 14, 0, 0},
		{30, 15, 0, 255},
		{22, 11, 0, 0},
	} {
		red, _, blue, _ := img.At(c.x, c.y).RGBA()
		if int(red>>8) != c.red || int(blue>>8) != c.blue {
			t.Errorf("(%d, %d): red %d, blue %d, want %d, %d", c.x, c.y, red>>8, blue>>8, c.red, c.blue)
		}
	}
}

func move(x, y vg.Length) vg.PathComp {
	return vg.PathComp{Type: vg.MoveComp, Pos: vg.Point{X: x, Y: y}}
}

func to(x, y vg.Length) vg.PathComp { return vg.PathComp{Type: vg.LineComp, Pos: vg.Point{X: x, Y: y}} }

// refuses is a writer on a full disk.
type refuses struct{}

var errFull = errors.New("the disk is full")

func (refuses) Write([]byte) (int, error) { return 0, errFull }

// TestFull: every format says that its file could not be written.
func TestFull(t *testing.T) {
	for _, format := range Formats() {
		if err := Write(refuses{}, format, pictures()["ball"], Page{}); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", format, err)
		}
	}
	if err := Write(io.Discard, "svg", pictures()["ball"], Page{}); err != nil {
		t.Error(err)
	}
}
