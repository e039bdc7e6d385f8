package plot

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/internal/base/screen"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// ball is a trajectory with two jumps.
func ball() (t, x, v []float64) {
	const g, e = 9.81, 0.8
	hits := []float64{0, 0.63855, 1.66023, 2}
	speed, height := 0.0, 2.0
	for k := 1; k < len(hits); k++ {
		d := hits[k] - hits[k-1]
		for i := range 60 {
			s := d * float64(i) / 59
			t = append(t, hits[k-1]+s)
			x = append(x, height+speed*s-g*s*s/2)
			v = append(v, speed-g*s)
		}
		t[len(t)-1] = hits[k]
		height, speed = 0, -e*v[len(v)-1]
	}
	return t, x, v
}

// pictures returns the pictures that the tests draw.
func pictures() map[string]Picture {
	t, x, v := ball()
	marks := []Mark{{0.63855, "bounce"}, {1.66023, "bounce"}}
	time := Axis{Label: "t", Unit: "s"}
	list := map[string]Picture{}
	list["ball"] = &Stack{Title: "BouncingBall", Panels: []Picture{
		&Lines{X: time, Y: Axis{Label: "x", Unit: "m"}, Curves: []Curve{{Name: "x", X: t, Y: x}}, Marks: marks},
		&Lines{X: time, Y: Axis{Label: "v", Unit: "m/s"}, Curves: []Curve{{Name: "v", X: t, Y: v}}, Marks: marks},
	}}
	list["phase"] = &Lines{
		Title: "x against v", X: Axis{Label: "v", Unit: "m/s"}, Y: Axis{Label: "x", Unit: "m"},
		Curves: []Curve{{Name: "run", X: v, Y: x, Loop: true}},
	}

	var a, b, c, d []float64
	var grid []float64
	for i := range 200 {
		s := float64(i) / 199 * 24
		grid = append(grid, s)
		a = append(a, math.Exp(-s/6)*40)
		b = append(b, 30*(math.Exp(-s/8)-math.Exp(-s/2)))
		c = append(c, 10+8*math.Sin(s))
		d = append(d, 3*s)
	}
	list["several"] = &Lines{
		Title: "four curves on one pair of axes", X: Axis{Label: "t", Unit: "h"}, Y: Axis{Unit: "mg"},
		Curves: []Curve{
			{Name: "depot", X: grid, Y: a},
			{Name: "central", X: grid, Y: b},
			{Name: "wave", X: grid, Y: c},
			{Name: "line", X: grid, Y: d},
		},
		Marks: []Mark{
			{0, "dose"},
			{4, "dose"},
			{8, "dose"},
			{12, "dose"},
			{16, "dose"},
			{20, "dose"},
			{23.9, "end of study"},
		},
	}
	list["measured"] = &Lines{
		X: Axis{Label: "t", Unit: "h"}, Y: Axis{Label: "amount", Unit: "mg"},
		Curves: []Curve{{
			Name: "low", X: grid, Y: b, PX: []float64{1, 4, 9, 30}, PY: []float64{9, 15.5, 8, 2},
			Side: []int{0, 0, 0, -1},
		}, {
			Name: "high", X: grid, Y: a, PX: []float64{0, 12, 7},
			PY: []float64{44, math.NaN(), 31}, Side: []int{0, 0, 1},
		}},
		Marks: []Mark{{4, "dose"}},
	}
	var signed []Curve
	for k := range 9 {
		s := float64(k)
		signed = append(signed, Curve{
			Name: string(rune('A' + k)), X: []float64{0, 10}, Y: []float64{s, s + 1},
			PX: []float64{s + 0.5, s/2 + 5}, PY: []float64{s + 0.3, s + 0.8},
		})
	}
	list["signs"] = &Lines{X: Axis{Label: "t"}, Y: Axis{Label: "y"}, Curves: signed}
	list["letters"] = &Lines{
		Title: "µ, é, Ж, ∂ψ/∂k → and 濃度", X: Axis{Label: "час", Unit: "µs"}, Y: Axis{Label: "θ", Unit: "°"},
		Curves: []Curve{{Name: "濃度", X: grid, Y: b}, {Name: "ψ́", X: grid, Y: c}},
	}
	var family []Curve
	lo, hi := make([]float64, len(grid)), make([]float64, len(grid))
	for k := range 9 {
		rate := 0.05 * math.Pow(1.5, float64(k))
		var y []float64
		for i, s := range grid {
			y = append(y, math.Exp(-rate*s))
			if k == 0 || y[i] < lo[i] {
				lo[i] = y[i]
			}
			hi[i] = max(hi[i], y[i])
		}
		family = append(family, Curve{Name: "k = " + number(rate, 3), X: grid, Y: y, Ramp: k + 1, Of: 9})
	}
	list["family"] = &Lines{
		Title: "x for k from 0.05 to 1.3", X: Axis{Label: "t", Unit: "h"}, Y: Axis{Label: "x"},
		Curves: family, Bands: []Band{{Name: "range", X: grid, Lo: lo, Hi: hi}},
	}
	var steps, sizes []float64
	for i := range 120 {
		steps = append(steps, float64(i)*0.1)
		sizes = append(sizes, math.Pow(10, -4+3.5*math.Abs(math.Sin(float64(i)/17))))
	}
	list["steps"] = &Lines{
		Title: "step sizes", X: Axis{Label: "t"}, Y: Axis{Label: "h", Log: true},
		Curves: []Curve{{Name: "h", X: steps, Y: sizes, Dots: true}},
	}
	list["tornado"] = &Bars{Title: "height", X: Axis{Label: "change of height by 1 % of each, in %"}, Items: []Bar{
		{Label: "e", Value: 2.555},
		{Label: "T", Value: 1.6986},
		{Label: "g", Value: 0.8493},
		{Label: "h0", Value: 0.1507},
		{Label: "absorption_rate_constant", Value: -0.42},
		{Label: "v0", Value: 0, Note: "0"},
	}}
	list["negative"] = &Bars{Title: "all below", Items: []Bar{{Label: "a", Value: -3}, {Label: "b", Value: -1}}}
	matrix := make([][]float64, 10)
	for i := range matrix {
		matrix[i] = make([]float64, 10)
		for j := range matrix[i] {
			matrix[i][j] = math.Sin(float64(i)) * math.Cos(float64(j)*0.7) * float64(j+1)
		}
	}
	list["heat"] = &Heat{
		Title: "d final(x[1]) / d A", Rows: Axis{Label: "i"}, Cols: Axis{Label: "j"}, Values: matrix,
		FirstRow: 1, FirstCol: 1, Unit: "1/h",
	}
	large := make([][]float64, 200)
	for i := range large {
		large[i] = make([]float64, 200)
		for j := range large[i] {
			large[i][j] = math.Exp(-math.Hypot(float64(i-60), float64(j-100))/40) -
				math.Exp(-math.Hypot(float64(i-150), float64(j-60))/20)
		}
	}
	list["large"] = &Heat{
		Title: "200 × 200", Rows: Axis{Label: "i"}, Cols: Axis{Label: "j"}, Values: large,
		FirstRow: 1, FirstCol: 1,
	}
	warm := make([][]float64, 12)
	for i := range warm {
		warm[i] = make([]float64, 30)
		for j := range warm[i] {
			warm[i][j] = 300 + 80*math.Exp(-math.Hypot(float64(i-4), float64(j-12))/6)
		}
	}
	list["warm"] = &Heat{
		Title: "far from zero", Rows: Axis{Label: "row"}, Cols: Axis{Label: "column"}, Values: warm,
		FirstRow: 1, FirstCol: 1, Unit: "K",
	}
	saturated := make([][]float64, 8)
	for i := range saturated {
		saturated[i] = make([]float64, 12)
		for j := range saturated[i] {
			saturated[i][j] = math.Sin(float64(i+j)) * float64(j+1)
			if i == 3 {
				saturated[i][j] *= 1e6
			}
		}
	}
	saturated[6][2] = math.NaN()
	list["saturated"] = &Heat{
		Title: "one row is a million times larger", Rows: Axis{Label: "i"}, Cols: Axis{Label: "j"},
		Values: saturated, FirstRow: 1, FirstCol: 1,
	}
	list["percentiles"] = View{Colours: Percentile}.Of(&Heat{
		Title: "without the largest", Rows: Axis{Label: "i"}, Cols: Axis{Label: "j"}, Values: matrix, FirstRow: 1,
		FirstCol: 1,
	})
	high := make([]float64, len(grid))
	hole := slices.Clone(c)
	for i := range grid {
		high[i] = 1e6 + 0.001*d[i]
		if i > 60 && i < 90 {
			hole[i] = math.NaN()
		}
	}
	list["offset"] = &Lines{
		X: Axis{Label: "t", Unit: "h"}, Y: Axis{Label: "x", Unit: "Pa"}, Curves: []Curve{{Name: "x", X: grid, Y: high}},
	}
	list["lost"] = &Lines{
		X: Axis{Label: "t", Unit: "h"}, Y: Axis{Label: "x"},
		Curves: []Curve{{
			Name: "x", X: grid, Y: hole, PX: []float64{3, 9, 20}, PY: []float64{12, 15, 16},
			Spread: []float64{2, 1, math.NaN()},
		}},
	}
	list["cut"] = View{Title: "a part", LogY: true, XRange: Range{2, 18}, YRange: Range{1, math.Inf(1)}}.Of(&Lines{
		X: Axis{Label: "t", Unit: "h"}, Y: Axis{Label: "x"},
		Curves: []Curve{{Name: "a", X: grid, Y: a}, {Name: "b", X: grid, Y: b}},
	})
	var panels []Picture
	for k, y := range [][]float64{a, b, c, d, high, hole} {
		name := string(rune('a' + k))
		panels = append(panels, &Lines{
			X: Axis{Label: "t", Unit: "h"}, Y: Axis{Label: name, Unit: "mg"},
			Curves: []Curve{{Name: name, X: grid, Y: y}}, Marks: []Mark{{4, "dose"}},
		})
	}
	list["columns"] = &Stack{Title: "six panels", Panels: panels}
	list["facets"] = View{Facets: true, Columns: 2}.Of(&Stack{Panels: []Picture{&Lines{
		X: Axis{Label: "t", Unit: "h"}, Y: Axis{Label: "x", Unit: "mg"},
		Curves: []Curve{
			{Name: "low", X: grid, Y: a, PX: []float64{2, 9}, PY: []float64{30, 9}},
			{Name: "mid", X: grid, Y: b},
			{Name: "high", X: grid, Y: c},
		},
	}}})
	low, wide := make([]float64, len(grid)), make([]float64, len(grid))
	for i, y := range a {
		low[i], wide[i] = 0.8*y, 1.2*y
	}
	list["residuals"] = View{Residuals: true}.Of(&Lines{
		Title: "fit", X: Axis{Label: "t", Unit: "h"}, Y: Axis{Label: "x", Unit: "mg"},
		Curves: []Curve{
			{Name: "low", X: grid, Y: a, PX: []float64{2, 9, 15}, PY: []float64{30, 9, 7}, Side: []int{0, 0, -1}},
			{Name: "mid", X: grid, Y: b, PX: []float64{3, 4.01}, PY: []float64{20, 17}, Spread: []float64{4, 5}},
			{Name: "high", X: grid, Y: c},
		},
		Bands: []Band{{Name: "noise of the data", X: grid, Lo: low, Hi: wide, Curve: 1}},
		Marks: []Mark{{4, "dose"}},
	})
	list["zeros"] = &Heat{Values: [][]float64{{0, 0}, {0, math.NaN()}}, FirstRow: 1, FirstCol: 1}
	list["nothing"] = &Lines{
		Title: "nothing", X: Axis{Label: "t"},
		Curves: []Curve{{Name: "x", X: []float64{0, 1}, Y: []float64{math.NaN(), math.NaN()}}},
	}
	list["flat"] = &Lines{
		X: Axis{Label: "t"}, Y: Axis{Label: "x"},
		Curves: []Curve{{Name: "x", X: []float64{0, 1}, Y: []float64{3, 3}}},
	}
	list["tiny"] = &Lines{
		X: Axis{Label: "t"}, Y: Axis{Label: "x"},
		Curves: []Curve{{Name: "x", X: []float64{0, 1e-9, 2e-9}, Y: []float64{1e12, 2e12, math.Inf(1)}}},
	}
	return list
}

func TestText(t *testing.T) {
	for name, p := range pictures() {
		for _, width := range []int{80, 44, 22, 10} {
			var b bytes.Buffer
			if err := Text(&b, p, Terminal{Width: width}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if n := screen.Width(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("%s: a line of %d columns on a screen of %d: %q", name, n, width, line)
				}
				if strings.Contains(line, "\x1b") {
					t.Errorf("%s: colour where none was asked for", name)
				}
			}
			if width != 80 {
				continue
			}
			golden(t, filepath.Join("testdata", name+".txt"), b.Bytes())
		}
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs:\n%s", path, got)
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestColour(t *testing.T) {
	for name, p := range pictures() {
		var narrow bytes.Buffer
		if err := Text(&narrow, p, Terminal{Colour: true, Width: 24}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(escapes.ReplaceAllString(narrow.String(), "")) {
			if n := screen.Width(strings.TrimRight(line, "\n")); n > 24 {
				t.Errorf("%s: a line of %d columns on a screen of 24: %q", name, n, line)
			}
		}
		if name == "nothing" {
			continue
		}
		var plain, colour bytes.Buffer
		if err := Text(&plain, p, Terminal{}); err != nil {
			t.Fatal(err)
		}
		if err := Text(&colour, p, Terminal{Colour: true}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Count(plain.String(), "\n")
		if !strings.Contains(colour.String(), "\x1b[") || strings.Count(colour.String(), "\n") != lines {
			t.Errorf("%s: colour changes the lines, or there is none", name)
		}
	}
}

// TestWrite draws every picture in every format. ODES_PICTURES names a folder to keep them in.
func TestWrite(t *testing.T) {
	starts := map[string]string{"svg": "<?xml", "png": "\x89PNG", "pdf": "%PDF", "html": "<!doctype html>"}
	for name, p := range pictures() {
		for _, format := range Formats() {
			var b bytes.Buffer
			if err := Write(&b, format, p, Page{}); err != nil {
				t.Fatalf("%s.%s: %v", name, format, err)
			}
			if !strings.HasPrefix(b.String(), starts[format]) || b.Len() < 500 {
				t.Errorf("%s.%s starts with %.20q and has %d bytes", name, format, b.String(), b.Len())
			}
			if dir := os.Getenv("ODES_PICTURES"); dir != "" {
				if err := os.WriteFile(filepath.Join(dir, name+"."+format), b.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if format != "svg" {
				continue
			}
			var dark bytes.Buffer
			if err := Write(&dark, format, p, Page{Dark: true}); err != nil || bytes.Equal(dark.Bytes(), b.Bytes()) {
				t.Errorf("%s.%s: dark is as light, or %v", name, format, err)
			}
		}
	}
	if err := Write(&bytes.Buffer{}, "gif", &Bars{}, Page{}); err == nil || !strings.Contains(err.Error(), "svg, png") {
		t.Errorf("an unknown format gives %v", err)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		s      span
		log    bool
		n      int
		want   string
		offset float64
	}{
		{span{0, 2}, false, 4, "0 0.5 1.0 1.5 2.0", 0},
		{span{-3.2, 7.9}, false, 5, "-2 0 2 4 6", 0},
		{span{0, 1e9}, false, 4, "0 5e8 1e9", 0},
		{span{0, 3e-7}, false, 3, "0 1e-7 2e-7 3e-7", 0},
		{span{100000, 100001}, false, 2, "100000.0 100000.5 100001.0", 0},
		{span{0.1, 10}, true, 5, "0.1 0.2 0.5 1 2 5 10", 0},
		{span{1e-8, 1}, true, 4, "1e-8 1e-6 0.0001 0.01 1", 0},
		{span{1e6, 1e6 + 1}, false, 4, "0 0.5 1.0", 1e6},
		{span{1234567.2, 1234567.9}, false, 4, "0.2 0.4 0.6 0.8", 1234567},
		{span{-1e6 - 2, -1e6}, false, 4, "-2.0 -1.5 -1.0 -0.5 0", -1e6},
		{span{1e-3, 1e-3 + 1e-12}, false, 2, "0 5e-13 1e-12", 1e-3},
		{span{1e6, 1e9}, true, 4, "1e6 1e7 1e8 1e9", 0},
		{span{1e6 - 1, 1e6 + 1}, false, 2, "-1 0 1", 1e6},
		{span{1e6, 2e6}, false, 2, "1e6 1.5e6 2e6", 0},
		{span{0.004, 0.7}, true, 4, "0.005 0.01 0.02 0.05 0.1 0.2 0.5", 0},
	} {
		var got []string
		ticks, offset := c.s.ticks(Axis{Log: c.log}, c.n)
		if offset != c.offset {
			t.Errorf("%v: offset %g", c.s, offset)
		}
		for _, k := range ticks {
			got = append(got, k.label)
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%v: ticks %s, want %s", c.s, g, c.want)
		}
	}
}

func TestSpark(t *testing.T) {
	for _, c := range []struct {
		values []float64
		width  int
		want   string
	}{
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 8, "▁▂▃▄▅▆▇█"},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 4, "▁▃▆█"},
		{[]float64{1, 1, 1}, 8, "▄▄▄"},
		{[]float64{0, math.NaN(), 1}, 8, "▁ █"},
		{[]float64{math.NaN()}, 8, ""},
		{nil, 8, ""},
	} {
		if got := Spark(c.values, c.width); got != c.want {
			t.Errorf("%v on %d columns: %q, want %q", c.values, c.width, got, c.want)
		}
	}
}

func TestRuns(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		x, y []float64
		loop bool
		want [][2]int
	}{
		{[]float64{0, 1, 1, 2}, []float64{0, 1, 5, 6}, false, [][2]int{{0, 2}, {2, 4}}},
		{[]float64{0, 1, 1}, []float64{0, 1, 1}, false, [][2]int{{0, 3}}}, // an event that changes nothing
		{[]float64{0, 1, 1, 2}, []float64{0, 1, 5, 6}, true, [][2]int{{0, 4}}},
		{[]float64{0, 1, 2, 3}, []float64{0, nan, 5, 6}, false, [][2]int{{0, 1}, {2, 4}}},
	} {
		if got := (Curve{X: c.x, Y: c.y, Loop: c.loop}).runs(Axis{}, Axis{}); !slices.Equal(got, c.want) {
			t.Errorf("%v, %v: %v, want %v", c.x, c.y, got, c.want)
		}
	}
}

// TestBandBehind: a band that lies within another one shows it, in the legend too.
func TestBandBehind(t *testing.T) {
	x := []float64{0, 1, 2}
	band := func(curve int, lo, hi float64) Band {
		return Band{Name: "b", Curve: curve, X: x, Lo: []float64{lo, lo, lo}, Hi: []float64{hi, hi, hi}}
	}
	l := &Lines{Bands: []Band{band(1, 0, 4), band(1, 1, 3), band(2, 1, 3), band(1, 2, 5), band(1, 2, 3)}}
	for i, want := range []int{0, 1, 0, 0, 3} {
		if got := l.behind(i); got != want {
			t.Errorf("%d bands behind band %d, not %d", got, i, want)
		}
	}
}
