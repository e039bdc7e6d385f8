package plot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// View says how to show a picture, whatever it shows. The zero value leaves all of that to the picture.
type View struct {
	Title          string // "": that of the picture
	Size           Size
	LogX, LogY     bool
	XRange, YRange Range
	Columns        int    // of panels; 0: as many as suit them
	Facets         bool   // a panel for each curve
	Residuals      bool   // below each panel with data, how far they lie from their curves
	Colours        Colour // of heat maps
}

// Range is a part of an axis, From < To. An infinite end is that of what there is to show; the zero value is no range.
type Range struct{ From, To float64 }

func (r Range) set() bool { return r.From != r.To }

// holds tells whether x lies in the range.
func (r Range) holds(x float64) bool { return !r.set() || r.From <= x && x <= r.To }

// Size is the size of a picture. On a terminal it counts columns and rows, in a file pixels unless it has a unit.
type Size struct {
	Width, Height float64
	Unit          string // "", "px", "pt", "mm", "cm" or "in"
}

// points are how many points make one of each unit. A pixel is that of CSS.
var points = map[string]float64{"": 0.75, "px": 0.75, "pt": 1, "mm": 72 / 25.4, "cm": 72 / 2.54, "in": 72}

// Bounds of a size in points: less shows nothing, more takes too much memory as a png file.
const (
	leastSize = 45
	mostSize  = 6000
)

// Colour says how the colours of a heat map follow its values.
type Colour string

// The ways colours follow values. By default they are linear, or Logarithmic where a few values are so large that no
// other could be told from zero.
const (
	Linear      Colour = "linear"
	Logarithmic Colour = "log"        // linear about zero, symmetric
	Percentile  Colour = "percentile" // linear up to the 98th percentile; what is beyond looks alike
)

// Option is a word of the command line, and of the command plot of a session, that says how a picture is shown:
// --logy, --size 800x600.
type Option struct {
	Name  string
	Value string   // what its value looks like; "" when it takes none
	Words []string // the values that it takes, where they are words
	Doc   string
	set   func(*View, string) error
}

// Options lists the options.
func Options() []Option { return options }

var options = []Option{
	{
		Name: "size", Value: "WxH",
		Doc: "Size: columns x rows on a terminal (100x20); in a file pixels (800x600), or px, pt, mm, cm, in (16x9cm).",
		set: setSize,
	},
	{Name: "title", Value: "TEXT", Doc: "Title of the picture.", set: func(v *View, text string) error {
		v.Title = text
		return nil
	}},
	{Name: "logx", Doc: "Space the horizontal axis by powers of ten.", set: func(v *View, _ string) error {
		v.LogX = true
		return nil
	}},
	{Name: "logy", Doc: "Space the vertical axis by powers of ten.", set: func(v *View, _ string) error {
		v.LogY = true
		return nil
	}},
	{
		Name: "xrange", Value: "FROM:TO", Doc: "Show this part of the horizontal axis; 0: or :10 leaves one end open.",
		set: func(v *View, text string) (err error) {
			v.XRange, err = rangeOf(text)
			return err
		},
	},
	{
		Name: "yrange", Value: "FROM:TO", Doc: "Show this part of the vertical axis.",
		set: func(v *View, text string) (err error) {
			v.YRange, err = rangeOf(text)
			return err
		},
	},
	{
		Name: "columns", Value: "N", Doc: "Panels side by side; by default, as many as fit.",
		set: func(v *View, text string) error {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > mostColumns {
				return fmt.Errorf("columns are whole numbers from 1 to %d, not %q", mostColumns, text)
			}
			v.Columns = n
			return nil
		},
	},
	{
		Name: "facets", Doc: "Draw a panel for each curve or experiment, with the same axes.",
		set: func(v *View, _ string) error {
			v.Facets = true
			return nil
		},
	},
	{
		Name: "residuals", Doc: "Draw the residuals below: data minus curve.",
		set: func(v *View, _ string) error {
			v.Residuals = true
			return nil
		},
	},
	{
		Name: "colours", Value: "HOW", Words: []string{string(Linear), string(Logarithmic), string(Percentile)},
		Doc: "Colours of heat maps: linear, log (symmetric about zero) or percentile (linear, without the " +
			"largest 2 %).",
		set: func(v *View, text string) error {
			v.Colours = Colour(text)
			return nil
		},
	},
}

const mostColumns = 12

// Set reads the value of an option.
func (o Option) Set(v *View, text string) error {
	if o.Words != nil && !slices.Contains(o.Words, text) {
		return fmt.Errorf("--%s %s: choose %s", o.Name, text, strings.Join(o.Words, ", "))
	}
	if err := o.set(v, text); err != nil {
		return fmt.Errorf("--%s: %w", o.Name, err)
	}
	return nil
}

// Check tells what cannot be shown together.
func (v View) Check() error {
	for _, axis := range []struct {
		log   bool
		r     Range
		words string
	}{{v.LogX, v.XRange, "--logx and --xrange"}, {v.LogY, v.YRange, "--logy and --yrange"}} {
		if axis.log && axis.r.set() && (axis.r.To <= 0 || axis.r.From <= 0 && !math.IsInf(axis.r.From, -1)) {
			return fmt.Errorf("%s: powers of ten are positive", axis.words)
		}
	}
	return nil
}

func setSize(v *View, text string) error {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	unit := text[len(number):]
	scale, known := points[unit]
	w, h, ok := strings.Cut(number, "x")
	width, err1 := strconv.ParseFloat(strings.TrimSpace(w), 64)
	height, err2 := strconv.ParseFloat(strings.TrimSpace(h), 64)
	if !ok || !known || err1 != nil || err2 != nil {
		return fmt.Errorf("write 800x600 or 16x9cm, not %q", text)
	}
	fits := func(x float64) bool { return x*scale >= leastSize && x*scale <= mostSize }
	if unit == "" { // may be columns and rows
		fits = func(x float64) bool { return x >= 1 && x*scale <= mostSize }
	}
	if !fits(width) || !fits(height) {
		return fmt.Errorf("%s is too small or too large: a picture has 60 to 8000 pixels on each side", text)
	}
	v.Size = Size{width, height, unit}
	return nil
}

// rangeOf reads from:to, where one end may be open.
func rangeOf(text string) (Range, error) {
	from, to, ok := strings.Cut(text, ":")
	r := Range{math.Inf(-1), math.Inf(1)}
	for _, end := range []struct {
		text string
		to   *float64
	}{{from, &r.From}, {to, &r.To}} {
		if end.text = strings.TrimSpace(end.text); end.text == "" {
			continue
		}
		x, err := strconv.ParseFloat(end.text, 64)
		if err != nil || !finite(x) {
			return Range{}, fmt.Errorf("%q is not a number that can be drawn", end.text)
		}
		*end.to = x
	}
	switch {
	case !ok || math.IsInf(r.From, 0) && math.IsInf(r.To, 0):
		return Range{}, fmt.Errorf("write from:to, not %q", text)
	case r.From >= r.To:
		return Range{}, fmt.Errorf("%s is empty; the smaller end comes first", text)
	}
	return r, nil
}

// Terminal returns the terminal with the size that v asks for.
func (v View) Terminal(t Terminal) Terminal {
	if v.Size.Width > 0 && v.Size.Unit == "" {
		t.Width, t.Height = int(v.Size.Width), int(v.Size.Height)
	}
	return t
}

// Of returns p as v wants to see it.
func (v View) Of(p Picture) Picture {
	p = v.shown(p)
	if v.Title != "" {
		switch p := p.(type) {
		case *Lines:
			p.Title = v.Title
		case *Bars:
			p.Title = v.Title
		case *Heat:
			p.Title = v.Title
		case *Corner:
			p.Title = v.Title
		case *Stack:
			p.Title = v.Title
			if len(p.Panels) == 1 { // its own would repeat it
				if l, ok := p.Panels[0].(*Lines); ok {
					l.Title = ""
				}
			}
		}
	}
	return p
}

func (v View) shown(p Picture) Picture {
	switch p := p.(type) {
	case *Lines:
		p.X.Log, p.Y.Log = p.X.Log || v.LogX, p.Y.Log || v.LogY
		if v.XRange.set() {
			p.X.Range = v.XRange
		}
		if v.YRange.set() {
			p.Y.Range = v.YRange
		}
		panels := []Picture{p}
		if facets := p.facets(); v.Facets && len(facets) > 1 {
			panels = facets
		}
		if v.Residuals {
			panels = withResiduals(panels)
		}
		if len(panels) > 1 {
			s := &Stack{Title: p.Title, Panels: panels, Columns: v.Columns}
			p.Title = ""
			return s
		}
	case *Bars:
		if v.XRange.set() {
			p.X.Range = v.XRange
		}
	case *Heat:
		if v.Colours != "" {
			p.Colours = v.Colours
		}
	case *Corner:
		for _, row := range p.Rows {
			for i := range row {
				row[i] = v.shown(row[i])
			}
		}
	case *Stack:
		var panels []Picture
		for _, q := range p.Panels {
			q = v.shown(q)
			if several, ok := q.(*Stack); ok && several.Title == "" {
				panels = append(panels, several.Panels...)
				continue
			}
			panels = append(panels, q)
		}
		p.Panels = panels
		if v.Columns > 0 {
			p.Columns = v.Columns
		}
	}
	return p
}

// facets returns a panel for each curve, all with the same axes. Single points, such as the start of a phase plane, are
// in none.
func (l *Lines) facets() []Picture {
	x, y, ok := l.spans()
	if !ok {
		return nil
	}
	var list []Picture
	for k, c := range l.Curves {
		if c.few() {
			continue
		}
		panel := *l
		panel.Title = ""
		panel.X.Range, panel.Y.Range = Range{x.lo, x.hi}, Range{y.lo, y.hi}
		if panel.Y.Label == "" {
			panel.Y.Label = c.Name
		}
		panel.Curves, panel.Bands = []Curve{c}, l.around(k)
		list = append(list, &panel)
	}
	return list
}

// around returns the bands of curve k, counted from 0, and those of no curve, for a picture of that curve alone. Bands
// that look alike share the name of the first one of them.
func (l *Lines) around(k int) (list []Band) {
	name := ""
	for _, b := range l.Bands {
		switch {
		case b.Name != "":
			name = b.Name
		case len(list) == 0:
			b.Name = name
		}
		if b.Curve == 0 || b.Curve == k+1 {
			b.Curve = min(b.Curve, 1)
			list = append(list, b)
		}
	}
	return list
}
