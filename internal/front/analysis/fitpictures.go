package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/plot"
)

// fitPictures are the pictures of a fit.
var fitPictures = []Picture{
	{"waterfall", "the values that the searches came to, sorted", ofFit(waterfall)},
	{"profiles", "the profile likelihood of each estimate", ofFit(profiles)},
	{"data", "the data and what the model says, over time", ofFit(overlay)},
	{"residuals", "residuals over time", ofFit(residuals)},
	{"predicted", "the data over what the model says", ofFit(predicted)},
	{"correlation", "how estimates move together", ofFit(correlation)},
	{"pairs", "where pairs of estimates lie", ofFit(pairs)},
	{"parts", "how the parts of runs join, of a search by parts", ofFit(parts)},
}

// ofFit returns what draws a picture of the result of a fit.
func ofFit(draw func(a *About, r *fit.Result) plot.Picture) func(a *About, of any) (plot.Picture, error) {
	return func(a *About, of any) (plot.Picture, error) { return draw(a, of.(*fit.Result)), nil }
}

// waterfall draws the values of the searches, sorted, as how far they are above the best.
func waterfall(_ *About, r *fit.Result) plot.Picture {
	const least = 1e-6 // of a difference that is drawn
	c := plot.Curve{Name: "searches", Dots: true}
	for i := range r.Starts {
		if v := r.Starts[i].Value; v-v == 0 {
			c.X = append(c.X, float64(i+1))
			c.Y = append(c.Y, max(math.Abs(v-r.Starts[0].Value), least))
		}
	}
	return &plot.Lines{
		Title:  fmt.Sprintf("%s of %d searches, above the best", r.Objective.Name, len(r.Starts)),
		X:      plot.Axis{Label: "search"},
		Y:      plot.Axis{Label: r.Objective.Name + " − best", Log: true},
		Curves: []plot.Curve{c},
	}
}

// profiles draws how the objective rises as an estimate moves, and the rise at the ends of its interval.
func profiles(_ *About, r *fit.Result) plot.Picture {
	s := &plot.Stack{}
	for i := range r.Estimates {
		x := &r.Estimates[i]
		if len(x.Profile) < 2 {
			continue
		}
		c := plot.Curve{Name: "profile"}
		top := 0.0
		points := lowest(x.Profile)
		for k, p := range points {
			if k > 0 {
				rounded(points[k-1], p, x.Value, &c)
			}
			c.X, c.Y = append(c.X, p.Value), append(c.Y, p.Rise)
			if p.Value == x.Lower && x.OpenLower == "" || p.Value == x.Upper && x.OpenUpper == "" {
				top = p.Rise
			}
		}
		c.PX, c.PY = []float64{x.Value}, []float64{0}
		l := &plot.Lines{
			X:      plot.Axis{Label: x.Text(), Unit: x.Unit, Log: x.Log && c.X[0] > 0},
			Y:      plot.Axis{Label: "rise of " + r.Objective.Name},
			Curves: []plot.Curve{c},
		}
		if top > 0 {
			percent := strconv.FormatFloat(100*r.Settings.Level, 'g', 3, 64) + " %"
			ends := []float64{c.X[0], c.X[len(c.X)-1]}
			l.Curves = append(l.Curves, plot.Curve{Name: percent, X: ends, Y: []float64{top, top}})
		}
		s.Panels = append(s.Panels, l)
	}
	if len(s.Panels) == 0 {
		return nil
	}
	return s
}

// lowest returns the points of a profile with one rise for each value: the least that a search came to. The profile
// likelihood is that of the best of them.
func lowest(points []fit.ProfilePoint) (list []fit.ProfilePoint) {
	for _, p := range points {
		if n := len(list); n > 0 && math.Abs(list[n-1].Value-p.Value) <= 1e-9*math.Abs(p.Value) {
			if p.Rise < list[n-1].Rise {
				list[n-1] = p
			}
			continue
		}
		list = append(list, p)
	}
	return list
}

// rounded adds points between two of a profile. The root of the rise is almost straight there; at the estimate, it
// changes its sign.
func rounded(a, b fit.ProfilePoint, estimate float64, c *plot.Curve) {
	root := func(p fit.ProfilePoint) float64 {
		return math.Copysign(math.Sqrt(max(p.Rise, 0)), p.Value-estimate)
	}
	const n = 8
	for i := 1; i < n; i++ {
		share := float64(i) / n
		z := root(a) + share*(root(b)-root(a))
		c.X, c.Y = append(c.X, a.Value+share*(b.Value-a.Value)), append(c.Y, z*z)
	}
}

// group is the rows of one observation in one experiment.
type group struct {
	name string
	rows []fit.Prediction
}

// groups returns the rows of each observation.
func groups(r *fit.Result) (list []group) {
	for i, p := range r.Predictions {
		name := strings.TrimSpace(p.Experiment + " " + p.Observation)
		if i == 0 || list[len(list)-1].name != name {
			list = append(list, group{name: name})
		}
		g := &list[len(list)-1]
		g.rows = append(g.rows, p)
	}
	return list
}

// timeAxis is the axis of time of a model.
func timeAxis(of odes.Info) plot.Axis {
	return plot.Axis{Label: cmp.Or(of.Time, "t"), Unit: of.TimeUnit}
}

// overGroups draws a panel for all groups that have the same observation.
func overGroups(a *About, r *fit.Result, y string, curve func(g *group) plot.Curve, unit bool) plot.Picture {
	s := &plot.Stack{}
	for _, g := range groups(r) {
		name := g.rows[0].Observation
		k := slices.IndexFunc(s.Panels, func(p plot.Picture) bool { return p.(*plot.Lines).Title == name })
		if k < 0 {
			l := &plot.Lines{Title: name, X: timeAxis(a.Info), Y: plot.Axis{Label: y}}
			if unit {
				l.Y.Unit = g.rows[0].Unit
			}
			k, s.Panels = len(s.Panels), append(s.Panels, l)
		}
		l := s.Panels[k].(*plot.Lines)
		l.Curves = append(l.Curves, curve(&g))
	}
	if len(s.Panels) == 0 {
		return nil
	}
	return s
}

// parts draws what the parts of runs said at the beginning of a search by parts, half-way and when they had joined.
func parts(a *About, r *fit.Result) plot.Picture {
	at := slices.IndexFunc(r.Starts, func(s fit.Start) bool { return s.Stages != nil })
	if at < 0 {
		return nil
	}
	stages := r.Starts[at].Stages
	p := overGroups(a, r, "value", func(g *group) plot.Curve {
		c := plot.Curve{Name: g.name, Dots: true}
		for _, row := range g.inTime() {
			c.X, c.Y = append(c.X, row.T), append(c.Y, row.Data)
		}
		return c
	}, true)
	if p == nil {
		return nil
	}
	for _, panel := range p.(*plot.Stack).Panels {
		l := panel.(*plot.Lines)
		for _, s := range []fit.Stage{stages[0], stages[len(stages)/2], stages[len(stages)-1]} {
			l.Curves = append(l.Curves, inParts(&s, l.Title)...)
		}
	}
	return p
}

// inParts returns the curves of an observation at a stage, one for each experiment, broken between parts.
func inParts(s *fit.Stage, observation string) (list []plot.Curve) {
	at := fmt.Sprintf("weight %g", s.Weight)
	switch {
	case s.Weight == 0:
		at = "at the start"
	case math.IsInf(s.Weight, 1):
		at = "joined"
	}
	for _, p := range s.Parts {
		if p.Observation != observation || len(p.T) == 0 {
			continue
		}
		name := strings.TrimSpace(p.Experiment + " " + at)
		k := slices.IndexFunc(list, func(c plot.Curve) bool { return c.Name == name })
		if k < 0 {
			k, list = len(list), append(list, plot.Curve{Name: name, Gaps: true})
		} else {
			list[k].X, list[k].Y = append(list[k].X, p.T[0]), append(list[k].Y, math.NaN())
		}
		list[k].X, list[k].Y = append(list[k].X, p.T...), append(list[k].Y, p.Values...)
	}
	return list
}

// inTime returns the rows of g in the order of their times.
func (g *group) inTime() []fit.Prediction {
	rows := slices.Clone(g.rows)
	slices.SortStableFunc(rows, func(a, b fit.Prediction) int { return cmp.Compare(a.T, b.T) })
	return rows
}

// errorBand is how far predictions may be from what they would be of all data, where there are data.
type errorBand struct {
	name    string
	t, half []float64
}

// around returns the band around a curve. Between data, its width is interpolated; before the first and behind the last
// ones there is none.
func (b *errorBand) around(curves []plot.Curve, k int) plot.Band {
	c := &curves[k]
	band := plot.Band{Name: b.name, Curve: k + 1} // whose colour it has
	for i, x := range c.X {
		half := math.NaN()
		if x >= b.t[0] && x <= b.t[len(b.t)-1] {
			half = plot.At(b.t, b.half, x)
		}
		band.X = append(band.X, x)
		band.Lo, band.Hi = append(band.Lo, c.Y[i]-half), append(band.Hi, c.Y[i]+half)
	}
	return band
}

// overlay draws the data over what the model says, with a band of two standard errors of that.
func overlay(a *About, r *fit.Result) plot.Picture {
	p := overGroups(a, r, "value", func(g *group) plot.Curve {
		c := plot.Curve{Name: g.name}
		for _, p := range g.inTime() {
			c.X, c.Y = append(c.X, p.T), append(c.Y, p.Value)
			c.PX, c.PY = append(c.PX, p.T), append(c.PY, p.Data)
			c.Side = append(c.Side, p.Side)
		}
		if t, y := a.course(g.rows[0].Experiment, g.rows[0].Observation); t != nil {
			c.X, c.Y = t, y
		}
		return c
	}, true)
	if p == nil {
		return nil
	}
	panels := p.(*plot.Stack).Panels
	for _, g := range groups(r) {
		band := errorBand{name: "± 2 errors of " + g.name}
		for _, x := range g.inTime() {
			if x.Error-x.Error == 0 {
				band.t, band.half = append(band.t, x.T), append(band.half, 2*x.Error)
			}
		}
		for _, panel := range panels {
			l := panel.(*plot.Lines)
			k := slices.IndexFunc(l.Curves, func(c plot.Curve) bool { return c.Name == g.name })
			if l.Title != g.rows[0].Observation || k < 0 || len(band.t) < 2 {
				continue
			}
			l.Bands = append(l.Bands, band.around(l.Curves, k))
		}
	}
	return p
}

func residuals(a *About, r *fit.Result) plot.Picture {
	return overGroups(a, r, "residual", func(g *group) plot.Curve {
		c := plot.Curve{Name: g.name, Dots: true}
		for _, p := range g.rows {
			if !math.IsNaN(p.Residual) {
				c.X, c.Y = append(c.X, p.T), append(c.Y, p.Residual)
			}
		}
		return c
	}, false)
}

func predicted(a *About, r *fit.Result) plot.Picture {
	p := overGroups(a, r, "data", func(g *group) plot.Curve {
		c := plot.Curve{Name: g.name, Dots: true, Loop: true}
		for _, p := range g.rows {
			c.X, c.Y = append(c.X, p.Value), append(c.Y, p.Data)
		}
		return c
	}, true)
	if p == nil {
		return nil
	}
	for _, panel := range p.(*plot.Stack).Panels {
		l := panel.(*plot.Lines)
		l.X = plot.Axis{Label: "prediction", Unit: l.Y.Unit}
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, c := range l.Curves {
			for _, x := range slices.Concat(c.X, c.Y) {
				lo, hi = min(lo, x), max(hi, x)
			}
		}
		l.Curves = append(l.Curves, plot.Curve{Name: "equal", X: []float64{lo, hi}, Y: []float64{lo, hi}})
	}
	return p
}
