package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/color"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
)

// contrast is that of two colours by WCAG 2.2.
func contrast(a, b color.NRGBA) float64 {
	light := func(c color.NRGBA) float64 {
		part := func(v uint8) float64 {
			x := float64(v) / 255
			if x <= 0.04045 {
				return x / 12.92
			}
			return math.Pow((x+0.055)/1.055, 2.4)
		}
		return 0.2126*part(c.R) + 0.7152*part(c.G) + 0.0722*part(c.B)
	}
	x, y := light(a), light(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrast: lines, signs and bars stand out from the paper by 3 to 1, text by 4.5 to 1, on light and on dark.
func TestContrast(t *testing.T) {
	if got := contrast(rgb(0), rgb(0xffffff)); math.Abs(got-21) > 1e-9 {
		t.Fatalf("black on white is %g to 1", got)
	}
	for _, dark := range []bool{false, true} {
		n := inksOf(Page{Dark: dark})
		if got := contrast(n.ink, n.paper); got < 4.5 {
			t.Errorf("dark %v: text is %.2f to 1", dark, got)
		}
		lines := append([]color.NRGBA{n.mark, n.negative, n.positive, n.cold}, n.curves...)
		lines = append(lines, n.ramp...)
		if len(lines) < 18 {
			t.Fatalf("only %d colours", len(lines))
		}
		for _, c := range lines {
			if got := contrast(c, n.paper); got < 3 {
				t.Errorf("dark %v: %s is %.2f to 1", dark, hex(c), got)
			}
		}
	}
}

func liveOf(t *testing.T, p Picture) string {
	t.Helper()
	var b bytes.Buffer
	if err := Live(&b, p, Page{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var outside = regexp.MustCompile(`(?i)(src|href)="(http|//)|url\(|@import`)

// TestLive: every picture is XML on a page, says in words what it shows, has both kinds of colours, and needs no file.
func TestLive(t *testing.T) {
	for name, p := range pictures() {
		text := liveOf(t, p)
		depth := 0
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			switch token.(type) {
			case xml.StartElement:
				depth++
			case xml.EndElement:
				depth--
			}
		}
		if depth != 0 {
			t.Errorf("%s: %d elements are open", name, depth)
		}
		if !regexp.MustCompile(`role="img" aria-label="[^"]{5,}`).MatchString(text) {
			t.Errorf("%s has no words: %.300s", name, text)
		}
		if !strings.Contains(text, "light-dark(#ffffff,#1a1c20)") {
			t.Errorf("%s has one paper", name)
		}
		if outside.MatchString(text) {
			t.Errorf("%s reads something: %q", name, outside.FindString(text))
		}
	}
}

// TestLiveParts: a script finds panels with their axes, curves, points with their values, legends, bars and cells.
func TestLiveParts(t *testing.T) {
	l := &Lines{
		X: Axis{Label: "t", Unit: "h"}, Y: Axis{Label: "c", Unit: "mg/L", Log: true},
		Curves: []Curve{
			{Name: "a & b", X: []float64{0, 1, 2}, Y: []float64{1, 2, 4}, PX: []float64{1}, PY: []float64{2.25}},
			{Name: "phase", X: []float64{0, 1, 0}, Y: []float64{1, 2, 3}, Loop: true},
		},
		Bands: []Band{{Name: "wide", X: []float64{0, 2}, Lo: []float64{1, 1}, Hi: []float64{2, 3}, Curve: 1}},
		Marks: []Mark{{X: 1.5, Name: "dose"}},
	}
	text := liveOf(t, l)
	for _, want := range []string{
		`<g class="panel" data-area="`, `log" data-xname="t [h]" data-yname="c [mg/L]"`,
		`<g class="curve" data-k="0" data-name="a &amp; b">`,
		`<g class="curve" data-k="1" data-name="phase" data-loop="1">`,
		`<g class="point" data-k="0" data-name="a &amp; b" data-at="1 2.25">`,
		`<g class="band" data-k="b0" data-of="0">`,
		`<g class="key" data-k="0">`, `<g class="key" data-k="b0">`, `<g class="mark" data-name="dose" data-at="1.5">`,
		`<g class="ticks x">`, `<g class="ticks y">`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	b := &Bars{X: Axis{Label: "share"}, Items: []Bar{{Label: "k", Value: 0.5, Lo: 0.4, Hi: 0.7}}}
	if text := liveOf(t, b); !strings.Contains(text, `<g class="bar" data-name="k" data-value="0.5 (0.4 to 0.7)">`) {
		t.Errorf("no bar in %s", text)
	}
	h := &Heat{FirstRow: 1, FirstCol: 1, Values: [][]float64{{1, -2}, {3, 4}}, Up: true}
	text = liveOf(t, h)
	if !strings.Contains(text, `[[&#34;3&#34;,&#34;4&#34;],[&#34;1&#34;,&#34;-2&#34;]]`) {
		t.Errorf("no cells, upright, in %.900s", text)
	}
	if strings.Count(text, `class="light-only"`) != 1 || strings.Count(text, `class="dark-only"`) != 1 {
		t.Error("the cells are not painted for both kinds of pages")
	}
	if plain := drawn(t, "svg", l, Page{}); strings.Contains(plain, "data-") || strings.Contains(plain, "light-dark") {
		t.Error("a file of its own has parts of a page")
	}
}

// TestDensity compares with the density of a mixture, and adds up the mass.
func TestDensity(t *testing.T) {
	var values []float64
	const n = 4000
	for i := range n { // quantiles of the exponential distribution, which ends at 0
		values = append(values, -math.Log(1-(float64(i)+0.5)/n))
	}
	at, density := Density(values, 200)
	mass := 0.0
	for i := 1; i < len(at); i++ {
		mass += (at[i] - at[i-1]) * (density[i] + density[i-1]) / 2
	}
	if math.Abs(mass-1) > 0.01 {
		t.Errorf("the mass is %g", mass)
	}
	for i, x := range at {
		if want := math.Exp(-x); math.Abs(density[i]-want) > 0.12 { // mirrored densities are flat at their ends
			t.Errorf("at %g: %g, not %g", x, density[i], want)
		}
	}
	if at, _ := Density([]float64{1, 1, math.NaN()}, 10); at != nil {
		t.Error("what does not differ has a density")
	}
}
