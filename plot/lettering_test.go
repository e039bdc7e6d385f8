package plot

import (
	"io"
	"strings"
	"testing"
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
