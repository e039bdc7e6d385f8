package plot

import (
	"bytes"
	"errors"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/internal/base/screen"
)

// option returns the option of a name.
func option(t *testing.T, name string) Option {
	for _, o := range Options() {
		if o.Name == name {
			return o
		}
	}
	t.Fatalf("no option %s", name)
	return Option{}
}

// TestOptions: what options take, and what they refuse, with words that name the option.
func TestOptions(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name, text string
		want       View
		wrong      string
	}{
		{"size", "800x600", View{Size: Size{800, 600, ""}}, ""},
		{"size", "16x9cm", View{Size: Size{16, 9, "cm"}}, ""},
		{"size", "100x20", View{Size: Size{100, 20, ""}}, ""},
		{"size", "800x600furlong", View{}, "--size: write 800x600"},
		{"size", "800", View{}, "--size: write 800x600"},
		{"size", "9000x9000", View{}, "too large"},
		{"size", "1e9x2", View{}, "--size"},
		{"size", "3x3px", View{}, "too small"},
		{"size", "NaNx3", View{}, "--size"},
		{"title", "a b", View{Title: "a b"}, ""},
		{"logx", "true", View{LogX: true}, ""},
		{"logy", "true", View{LogY: true}, ""},
		{"xrange", "0:1e3", View{XRange: Range{0, 1000}}, ""},
		{"xrange", ":5", View{XRange: Range{-inf, 5}}, ""},
		{"yrange", "-2:", View{YRange: Range{-2, inf}}, ""},
		{"yrange", ":", View{}, "write from:to"},
		{"yrange", "3", View{}, "write from:to"},
		{"yrange", "3:3", View{}, "empty"},
		{"yrange", "4:3", View{}, "empty"},
		{"yrange", "a:3", View{}, `"a" is not a number`},
		{"yrange", "nan:3", View{}, "not a number"},
		{"columns", "3", View{Columns: 3}, ""},
		{"columns", "0", View{}, "from 1 to 12"},
		{"columns", "1e9", View{}, "from 1 to 12"},
		{"facets", "true", View{Facets: true}, ""},
		{"colours", "log", View{Colours: Logarithmic}, ""},
		{"colours", "red", View{}, "--colours red: choose linear, log, percentile"},
	} {
		var v View
		err := option(t, c.name).Set(&v, c.text)
		switch {
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("--%s %s: %v, want %q", c.name, c.text, err, c.wrong)
		case c.wrong == "" && (err != nil || v != c.want):
			t.Errorf("--%s %s: %+v, %v", c.name, c.text, v, err)
		}
	}
	for _, v := range []View{
		{LogX: true, XRange: Range{0, 3}},
		{LogY: true, YRange: Range{-inf, -1}},
	} {
		if v.Check() == nil {
			t.Errorf("%+v passes", v)
		}
	}
	if err := (View{LogX: true, XRange: Range{-inf, 3}}).Check(); err != nil {
		t.Error(err)
	}
}

// TestSizes: a file has the size that is asked for, every picture fits small ones or says that it does not, and a
// terminal is filled as wide as asked.
func TestSizes(t *testing.T) {
	for name, p := range pictures() {
		var b bytes.Buffer
		if err := Write(&b, "png", p, Page{Size: Size{Width: 320, Height: 200}}); err != nil {
			if _, several := p.(*Stack); !several && name != "signs" || !errors.Is(err, errRoom) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		c, err := png.DecodeConfig(&b)
		if err != nil || c.Width != 320 || c.Height != 200 {
			t.Errorf("%s: %d × %d, %v", name, c.Width, c.Height, err)
		}
		for _, small := range []float64{60, 90, 140} { // some are refused, none fails
			_ = Write(&b, "svg", p, Page{Size: Size{Width: small, Height: small}})
		}
	}
	text := drawn(t, "svg", pictures()["several"], Page{Size: Size{Width: 10, Height: 5, Unit: "cm"}})
	if !strings.Contains(text, `width="283.46pt" height="141.73pt"`) {
		t.Errorf("%.200s", text)
	}
	if err := Write(&bytes.Buffer{}, "svg", pictures()["several"], Page{Size: Size{Width: 20, Height: 5}}); err == nil {
		t.Error("20 × 5 pixels are enough")
	}
	screen := View{Size: Size{Width: 30, Height: 5}}.Terminal(Terminal{Width: 80, Colour: true})
	if screen != (Terminal{Width: 30, Height: 5, Colour: true}) {
		t.Errorf("%+v", screen)
	}
}

// TestBeside: panels in columns are as wide as the terminal, with colours too, and wide terminals have them unasked.
func TestBeside(t *testing.T) {
	wide, err1 := shownOn(pictures()["columns"], Terminal{Width: 130})
	narrow, err2 := shownOn(pictures()["columns"], Terminal{Width: 80})
	painted, err3 := shownOn(pictures()["columns"], Terminal{Width: 130, Colour: true})
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	if a, b := strings.Count(wide, "\n"), strings.Count(narrow, "\n"); a > b*2/3 {
		t.Errorf("%d lines in columns, %d one above the other", a, b)
	}
	if unpainted(painted) == painted {
		t.Error("there are no colours")
	}
	for line := range strings.Lines(escapes.ReplaceAllString(painted, "")) {
		if screen.Width(strings.TrimRight(line, "\n")) > 130 {
			t.Errorf("a line of %d columns: %q", screen.Width(line), line)
		}
	}
}

func shownOn(p Picture, screen Terminal) (string, error) {
	var b strings.Builder
	err := Text(&b, p, screen)
	return b.String(), err
}

// TestClip: the part of a line within a square.
func TestClip(t *testing.T) {
	lo, hi := point{0, 0}, point{10, 10}
	for _, c := range []struct {
		a, b     point
		from, to point
		ok       bool
	}{
		{point{1, 1}, point{9, 2}, point{1, 1}, point{9, 2}, true},
		{point{-5, 5}, point{15, 5}, point{0, 5}, point{10, 5}, true},
		{point{5, -10}, point{5, 30}, point{5, 0}, point{5, 10}, true},
		{point{-1, 3}, point{3, -1}, point{0, 2}, point{2, 0}, true},
		{point{-1, 0.5}, point{0.5, -1}, point{}, point{}, false},
		{point{11, 0}, point{11, 9}, point{}, point{}, false},
		{point{3, 3}, point{3, 3}, point{3, 3}, point{3, 3}, true},
	} {
		from, to, ok := clip(c.a, c.b, lo, hi)
		if ok != c.ok || ok && (apart(from, c.from) > 1e-12 || apart(to, c.to) > 1e-12) {
			t.Errorf("%v to %v: %v to %v, %v", c.a, c.b, from, to, ok)
		}
	}
}

// TestShading: to and from are inverse, whatever the scale.
func TestShading(t *testing.T) {
	for _, values := range [][]float64{{-3, 1, 2}, {5, 6, 9}, {0, 1e-6, 1e3}, {-9, -8, -7}, {-1e8, 1, 2, 3, 4, 5}} {
		for _, how := range []Colour{"", Linear, Logarithmic, Percentile} {
			s := (&Heat{Values: [][]float64{values}, Colours: how}).shading()
			for _, v := range values {
				if got := s.from(s.to(v)); math.Abs(got-v) > 1e-9*math.Abs(v)+1e-12 {
					t.Errorf("%v, %q: %g becomes %g", values, how, v, got)
				}
			}
		}
	}
	s := (&Heat{Values: [][]float64{{1, 2, 3, -1, 2, 1e6}}}).shading()
	if s.note() != "log scale" {
		t.Errorf("one large value: %+v", s)
	}
	if s := (&Heat{Values: [][]float64{{1, 2, 3, -1, 2, 50}}}).shading(); s.note() != "" {
		t.Errorf("a value of 50: %+v", s)
	}
}

// TestAt reads curves at times: between points, at them, before a jump, and outside.
func TestAt(t *testing.T) {
	xs, ys := []float64{0, 1, 1, 3}, []float64{2, 4, 10, 14}
	for _, c := range [][2]float64{{0, 2}, {0.5, 3}, {1, 4}, {2, 12}, {3, 14}, {-1, math.NaN()}, {3.1, math.NaN()}} {
		if got := At(xs, ys, c[0]); got != c[1] && !(math.IsNaN(got) && math.IsNaN(c[1])) {
			t.Errorf("at %v: %v, want %v", c[0], got, c[1])
		}
	}
	if got := At(nil, nil, 0); !math.IsNaN(got) {
		t.Errorf("of nothing: %v", got)
	}
}

// TestResiduals: they need data in curves over an axis, whose bounds have none.
func TestResiduals(t *testing.T) {
	line := func(c Curve) Picture {
		c.X, c.Y = []float64{0, 1, 2}, []float64{0, 10, 20}
		return &Stack{Panels: []Picture{&Lines{Curves: []Curve{c}}}}
	}
	v := View{Residuals: true}
	for name, c := range map[string]struct {
		p    Picture
		want []float64
	}{
		"none":    {line(Curve{}), nil},
		"bounds":  {line(Curve{PX: []float64{1}, PY: []float64{3}, Side: []int{-1}}), nil},
		"outside": {line(Curve{PX: []float64{7}, PY: []float64{3}}), nil},
		"some": {
			line(Curve{PX: []float64{0.5, 1.5, 2}, PY: []float64{6, 3, 20}, Side: []int{0, 1, 0}}), []float64{1, 0},
		},
		"phase": {line(Curve{PX: []float64{1}, PY: []float64{3}, Loop: true}), []float64{-7}},
		"bars":  {&Bars{Items: []Bar{{Label: "a", Value: 1}}}, nil},
	} {
		err, got := v.Suits(c.p), []float64(nil)
		if s, ok := v.Of(c.p).(*Stack); ok && len(s.Panels) == 2 {
			got = s.Panels[1].(*Lines).Curves[0].PY
		}
		if (err == nil) != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}

// TestFacets: a panel has its curve's name and bands, not those of others; bands have the colours of their curves; what
// is left of the data without its curve shows zero.
func TestFacets(t *testing.T) {
	x := []float64{0, 1, 2}
	p := func() *Lines {
		return &Lines{
			Curves: []Curve{{Name: "a", X: x, Y: []float64{5, 5, 5}}, {
				Name: "b", X: x, Y: []float64{6, 6, 6}, PX: []float64{1}, PY: []float64{6.5},
			}},
			Bands: []Band{
				{Name: "all", X: x, Lo: []float64{0, 0, 0}, Hi: []float64{9, 9, 9}},
				{Name: "noise", X: x, Lo: []float64{4, 4, 4}, Hi: []float64{8, 8, 8}, Curve: 1}, // b lies within
				{X: x, Lo: []float64{5, 5, 5}, Hi: []float64{8, 8, 8}, Curve: 2},
			},
		}
	}
	panels := View{Facets: true, Residuals: true}.Of(p()).(*Stack).Panels
	if len(panels) != 3 {
		t.Fatalf("%d panels", len(panels))
	}
	a, b, rest := panels[0].(*Lines), panels[1].(*Lines), panels[2].(*Lines)
	for _, c := range []struct {
		of    *Lines
		label string
		low   []float64
	}{{a, "a", []float64{0, 4}}, {b, "b", []float64{0, 5}}, {rest, "data − curve", []float64{0, -1}}} {
		var low []float64
		for _, band := range c.of.Bands {
			low = append(low, band.Lo[0])
		}
		if c.of.Y.Label != c.label || !slices.Equal(low, c.low) || c.of.Bands[1].Curve != 1 {
			t.Errorf("%q with bands from %v, not %q with %v: %+v", c.of.Y.Label, low, c.label, c.low, c.of.Bands)
		}
	}
	if _, y, ok := rest.spans(); !ok || y.lo > 0 || y.hi < 0 {
		t.Errorf("what is left of data is drawn from %v to %v", y.lo, y.hi)
	}
	alone := p()
	alone.Bands = alone.Bands[1:]
	if got := alone.around(1); len(got) != 1 || got[0].Name != "noise" {
		t.Errorf("bands that look alike have one name: %+v", got)
	}
	c := canvas{inks: inksOf(Page{})}
	inks := map[color.Color]bool{}
	for _, band := range p().Bands {
		ink := p().bandInk(c, band)
		if inks[ink] = true; ink.(color.NRGBA).A != c.band.A {
			t.Errorf("the band from %v is %v", band.Lo[0], ink)
		}
	}
	if len(inks) != 2 { // no curve and the first one have the same
		t.Errorf("%d colours of bands", len(inks))
	}
}

// TestHeatPage: the page of a matrix is as wide as its square cells, one of curves is not.
func TestHeatPage(t *testing.T) {
	h := &Heat{Values: [][]float64{{1, 2}, {3, 4}}}
	w, _ := (&Stack{Panels: []Picture{h}}).size()
	both, _ := (&Stack{Panels: []Picture{h, &Lines{}}}).size()
	if own, _ := h.size(); w != own || both != pageWidth {
		t.Errorf("pages %v and %v wide, cells %v", w, both, own)
	}
}

// TestLegend: a legend names all of twelve curves, unless they are shades of one range.
func TestLegend(t *testing.T) {
	for _, c := range []struct {
		n, of int
		more  bool
	}{{12, 0, false}, {13, 0, true}, {12, 12, true}} {
		l := &Lines{}
		for i := range c.n {
			l.Curves = append(l.Curves, Curve{
				Name: string(rune('a' + i)), X: []float64{0, 1}, Y: []float64{0, float64(i)}, Ramp: min(i+1, c.of),
				Of: c.of,
			})
		}
		var b bytes.Buffer
		if err := Write(&b, "svg", l, Page{}); err != nil || strings.Contains(b.String(), "more<") != c.more {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
