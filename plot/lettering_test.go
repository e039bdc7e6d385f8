package plot

import (
	"io"
	"strings"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/recorder"
)

// TestLostLetters checks that letters which the font of a file lacks are reported, once each, and
// that svg loses none.
func TestLostLetters(t *testing.T) {
	p := &Lines{
		Title: "濃度 of µ, é, Ж, ∂ψ → 度", X: Axis{Label: "t"},
		Curves: []Curve{{X: []float64{0, 1}, Y: []float64{0, 1}}},
	}
	for format, want := range map[string]string{"png": "濃度", "pdf": "濃度", "svg": ""} {
		var lost []rune
		var b strings.Builder
		if err := Write(&b, format, p, Page{Lost: &lost}); err != nil {
			t.Fatal(err)
		}
		if string(lost) != want {
			t.Errorf("%s lost %q, want %q", format, string(lost), want)
		}
		if note := LostNote(format, lost); (note == "") != (want == "") ||
			want != "" && !strings.Contains(note, "濃 度") {
			t.Errorf("%s: note %q", format, note)
		}
		if format == "svg" && !strings.Contains(b.String(), ">"+p.Title+"<") {
			t.Errorf("the title is not in the svg file")
		}
	}
	if err := Write(io.Discard, "png", p, Page{}); err != nil {
		t.Error(err)
	}
}

// TestOutlined checks that a pdf file has letters beyond ASCII as shapes, since its text is limited
// to one code page.
func TestOutlined(t *testing.T) {
	face := fonts.Lookup(font.Font{Typeface: "Liberation", Variant: "Sans"}, 10)
	for _, c := range []struct {
		text            string
		strings, shapes int
	}{{"time [s]", 1, 0}, {"é", 0, 1}, {"a µ", 0, 2}} {
		var r recorder.Canvas
		outlined{&r}.FillString(face, vg.Point{X: 1, Y: 2}, c.text)
		texts, shapes := 0, 0
		for _, a := range r.Actions {
			switch a := a.(type) {
			case *recorder.FillString:
				texts++
			case *recorder.Fill:
				shapes++
				if len(a.Path) < 5 || a.Path[0].Pos.X < 1 || a.Path[0].Pos.X > 30 || a.Path[0].Pos.Y < -1 ||
					a.Path[0].Pos.Y > 12 {
					t.Errorf("%q: a shape of %d parts from %v", c.text, len(a.Path), a.Path[0].Pos)
				}
			}
		}
		if texts != c.strings || shapes != c.shapes {
			t.Errorf("%q: %d texts and %d shapes", c.text, texts, shapes)
		}
	}
}

// TestWidths checks that texts of an svg file say how wide they are, but for single letters and
// letters of other fonts.
func TestWidths(t *testing.T) {
	p := &Lines{
		Title: "a & b", X: Axis{Label: "time"}, Y: Axis{Label: "濃度"},
		Curves: []Curve{{X: []float64{0, 1}, Y: []float64{0, 1}}},
	}
	var b strings.Builder
	if err := Write(&b, "svg", p, Page{}); err != nil {
		t.Fatal(err)
	}
	for text, fixed := range map[string]bool{"a &amp; b": true, "time": true, "0.5": true, "濃度": false, "0": false} {
		before, _, found := strings.Cut(b.String(), ">"+text+"</text>")
		at := strings.LastIndex(before, "<text ")
		if !found || strings.Contains(before[at:], "textLength") != fixed {
			t.Errorf("%s: found %v, width wanted %v: %s", text, found, fixed, before[at:])
		}
	}
}
