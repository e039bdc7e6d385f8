package plot

import (
	"errors"
	"math"
	"slices"
	"sort"
)

// At returns the value at x of the curve through the points (xs[i], ys[i]), with xs in ascending order: that before the
// jump where xs repeats, NaN outside.
func At(xs, ys []float64, x float64) float64 {
	i := sort.SearchFloat64s(xs, x)
	switch {
	case i == len(xs) || i == 0 && xs[0] != x:
		return math.NaN()
	case xs[i] == x:
		return ys[i]
	}
	return ys[i-1] + (x-xs[i-1])/(xs[i]-xs[i-1])*(ys[i]-ys[i-1])
}

// withResiduals puts below each panel with data how far they lie from their curves.
func withResiduals(panels []Picture) (list []Picture) {
	for _, p := range panels {
		list = append(list, p)
		if l, ok := p.(*Lines); ok {
			if r := l.residuals(); r != nil {
				list = append(list, r)
			}
		}
	}
	return list
}

// residuals returns a picture of data less their curves, and of the bands around these, which have their points; nil
// where there are no data. Of data that are bounds no difference is known.
func (l *Lines) residuals() *Lines {
	x, _, ok := l.spans()
	if !ok || l.turns() {
		return nil
	}
	r := &Lines{X: l.X, Y: Axis{Label: "data − curve", Unit: l.Y.Unit}, Marks: l.Marks}
	some := false
	for _, c := range l.Curves {
		k := Curve{Name: c.Name, Dots: true, Ramp: c.Ramp, Of: c.Of} // without data as well: it has the same colour
		for i, px := range c.PX {
			if d := c.PY[i] - At(c.X, c.Y, px); c.side(i) == 0 && l.X.holds(px) && finite(d) {
				k.PX, k.PY, k.Spread = append(k.PX, px), append(k.PY, d), append(k.Spread, c.spread(i))
				some = true
			}
		}
		if k.PX == nil {
			k.Name = ""
		}
		r.Curves = append(r.Curves, k)
	}
	if !some {
		return nil
	}
	r.Bands = append(r.Bands, Band{X: []float64{x.lo, x.hi}, Lo: []float64{0, 0}, Hi: []float64{0, 0}}) // shows zero
	for _, b := range l.Bands {
		if b.Curve == 0 {
			continue
		}
		y := l.Curves[b.Curve-1].Y // at the points of the band
		d := Band{Name: b.Name, X: b.X, Lo: make([]float64, len(y)), Hi: make([]float64, len(y)), Curve: b.Curve}
		for i := range y {
			d.Lo[i], d.Hi[i] = b.Lo[i]-y[i], b.Hi[i]-y[i]
		}
		r.Bands = append(r.Bands, d)
	}
	return r
}

// Suits tells what v asks for that a picture cannot show.
func (v View) Suits(p Picture) error {
	if v.Residuals && !hasData(p) {
		return errors.New("--residuals: there are no data in this picture")
	}
	return nil
}

// hasData reports whether a picture has data with curves.
func hasData(p Picture) bool {
	switch p := p.(type) {
	case *Lines:
		return p.residuals() != nil
	case *Stack:
		return slices.ContainsFunc(p.Panels, hasData)
	}
	return false
}
