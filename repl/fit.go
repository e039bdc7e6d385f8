package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/plot"
)

// fitPictures are the pictures of a fit, by name.
var fitPictures = []struct {
	name, doc string
	draw      func(of odes.Info, c *courses, r *fit.Result) plot.Picture
}{
	{"waterfall", "the values that the searches came to, sorted", waterfall},
	{"profiles", "the profile likelihood of each estimate", profiles},
	{"data", "the data and what the model says, over time", overlay},
	{"residuals", "residuals over time", residuals},
	{"predicted", "the data over what the model says", predicted},
}

// FitPictures returns the names of the pictures of a fit, and what each shows.
func FitPictures() (names, docs []string) {
	for _, p := range fitPictures {
		names, docs = append(names, p.name), append(docs, p.doc)
	}
	return names, docs
}

// FitPicture draws a picture of a fit of a model. The error says that there is none of that name, or that the fit has
// nothing for it to show.
func FitPicture(ctx context.Context, of Fitted, r *fit.Result, name string) (plot.Picture, error) {
	names, _ := FitPictures()
	at := slices.Index(names, name)
	if at < 0 {
		return nil, fmt.Errorf("a fit has no picture %q; it has %s", name, strings.Join(names, ", "))
	}
	var info odes.Info
	if of.Model != nil {
		info = of.Model.Info()
	}
	p := fitPictures[at].draw(info, of.courses(ctx, r), r)
	if p == nil {
		return nil, fmt.Errorf("the fit has nothing for the picture %q to show", name)
	}
	return p, nil
}

// waterfall draws the values of the searches, sorted, as how far they are above the best.
func waterfall(_ odes.Info, _ *courses, r *fit.Result) plot.Picture {
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
func profiles(_ odes.Info, _ *courses, r *fit.Result) plot.Picture {
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
func overGroups(of odes.Info, r *fit.Result, y string, curve func(g *group) plot.Curve, unit bool) plot.Picture {
	s := &plot.Stack{}
	for _, g := range groups(r) {
		name := g.rows[0].Observation
		k := slices.IndexFunc(s.Panels, func(p plot.Picture) bool { return p.(*plot.Lines).Title == name })
		if k < 0 {
			l := &plot.Lines{Title: name, X: timeAxis(of), Y: plot.Axis{Label: y}}
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
func overlay(of odes.Info, runs *courses, r *fit.Result) plot.Picture {
	p := overGroups(of, r, "value", func(g *group) plot.Curve {
		c := plot.Curve{Name: g.name}
		for _, p := range g.inTime() {
			c.X, c.Y = append(c.X, p.T), append(c.Y, p.Value)
			c.PX, c.PY = append(c.PX, p.T), append(c.PY, p.Data)
			side := 0
			if p.Below {
				side = -1
			}
			c.Side = append(c.Side, side)
		}
		if t, y := runs.curve(g.rows[0].Experiment, g.rows[0].Observation); t != nil {
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

func residuals(of odes.Info, _ *courses, r *fit.Result) plot.Picture {
	return overGroups(of, r, "residual", func(g *group) plot.Curve {
		c := plot.Curve{Name: g.name, Dots: true}
		for _, p := range g.rows {
			if !math.IsNaN(p.Residual) {
				c.X, c.Y = append(c.X, p.T), append(c.Y, p.Residual)
			}
		}
		return c
	}, false)
}

func predicted(of odes.Info, _ *courses, r *fit.Result) plot.Picture {
	p := overGroups(of, r, "data", func(g *group) plot.Curve {
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

// doFit fits the model of the session, as `fit`, `fit starts 20`, or shows a picture of the last fit: `fit profiles`.
func (s *Session) doFit(ctx context.Context, w io.Writer, rest string) error {
	rest, l, err := s.cutLook(rest)
	if err != nil {
		return err
	}
	m, err := s.model()
	if err != nil {
		return err
	}
	names, _ := FitPictures()
	if slices.Contains(names, rest) {
		if s.fit == nil {
			return errors.New("there is no fit yet; write: fit")
		}
		p, err := FitPicture(ctx, Fitted{m, s}, s.fit, rest)
		if err != nil {
			return err
		}
		return s.deliver(w, p, l)
	}
	opts := fit.Options{Options: s.options()}
	left, by := clauses(rest, "starts")
	if left != "" {
		return fmt.Errorf("fit %s? write fit, fit starts 20, or fit with the name of a picture: %s", left,
			strings.Join(names, ", "))
	}
	if by["starts"] != "" {
		if opts.Starts, err = strconv.Atoi(by["starts"]); err != nil || opts.Starts < 1 {
			return errors.New("starts takes a whole number from 1")
		}
	}
	_, done := s.tell()
	if tell := s.progress; tell != nil {
		opts.Told = func(at fit.Progress) { tell(FitProgress(at)) }
	}
	r, err := fit.Run(ctx, m, opts)
	done()
	if err != nil {
		return err
	}
	s.fit = r
	s.diagnose(w, r.Warnings)
	if err := report.FitTable(w, s.heading(m), r, s.table()); err != nil {
		return err
	}
	st := s.now
	for _, a := range r.Assignments() {
		st.set = with(st.set, a.Name, a.Values)
	}
	s.move(st, "fit")
	s.Say(w, "the estimates are set; undo takes them back, save writes them to the file")
	return nil
}

// FitProgress tells of a fit as of runs.
func FitProgress(at fit.Progress) odes.Progress {
	return odes.Progress{
		Phase: at.Phase, Steps: at.Done, Done: float64(at.Done) / float64(max(at.Of, 1)),
	}
}

// WithValues writes values into the declarations of a model's text. It returns those for which that has no place.
func WithValues(m *odes.Model, text string, set []odes.Assignment) (string, []odes.Assignment) {
	s := New(Config{})
	s.path = m.Info().File
	s.now = state{text: text, set: set, model: m}
	text, _, left := s.fixed()
	return text, left
}
