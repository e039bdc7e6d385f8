package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/parser"
	"odes.dev/odes/plot"
)

const (
	sweepPoints = 41
	familySize  = 7
)

func (s *Session) doSweep(ctx context.Context, w io.Writer, rest string) error {
	rest, l, err := s.cutLook(rest)
	if err != nil {
		return err
	}
	p, note, err := s.Sweep(ctx, rest)
	if err != nil {
		return err
	}
	s.diagnose(w, s.doubts.list)
	if err := s.deliver(w, p, l); err != nil {
		return err
	}
	if note != "" {
		s.Say(w, "%s", note)
	}
	return nil
}

// Sweep draws how results depend on a param, as the text after the command sweep asks for: `k from
// 0.1 to 10 points 20 log of J, x`, `of x band` to shade the range of x, or `k from
// 0 to 2 steady` to follow the steady state. The note says how many runs
// failed, and Doubts what independent runs do not confirm.
func (pl *plotter) Sweep(ctx context.Context, what string) (p plot.Picture, note string, err error) {
	_, done := pl.tell()
	defer done()
	pl.doubts = doubts{}
	err = pl.within(what, func(what string) (err error) {
		if err = pl.one(); err != nil {
			return err
		}
		if p, note, err = pl.sweep(ctx, what); err == nil {
			entitle(p, pl.scope.title())
			if pl.doubts.lost {
				entitle(p, ", not to be trusted")
			}
		}
		return err
	})
	return p, note, err
}

func (pl *plotter) sweep(ctx context.Context, what string) (p plot.Picture, note string, err error) {
	m, err := pl.model()
	if err != nil {
		return nil, "", err
	}
	name, by := clauses(what, "from", "to", "points", "of", "band", "steady", "log")
	if name == "" {
		return nil, "", errors.New("sweep what? sweep k from 0.1 to 10")
	}
	if t := parser.TokensOf(name); len(t) > 1 && t[1].Kind == ast.NumberToken {
		return nil, "", fmt.Errorf("write the range with words: sweep %s from %s to …", t[0].Text, t[1].Text)
	}
	symbol, err := pl.target(m, name)
	if err != nil {
		return nil, "", err
	}
	if len(symbol.Shape) > 0 {
		return nil, "", fmt.Errorf("%s is an array; choose an element: sweep %s[1]", name, name)
	}
	now, err := pl.present(ctx, name, symbol)
	if err != nil {
		return nil, "", err
	}
	lo, hi := bounds(symbol, now)
	for _, e := range []struct {
		word string
		to   *float64
	}{{"from", &lo}, {"to", &hi}} {
		if by[e.word] == "" {
			continue
		}
		v, err := pl.constant(ctx, by[e.word], symbol)
		if err != nil {
			return nil, "", err
		}
		*e.to = v[0]
	}
	if !(hi > lo) {
		return nil, "", fmt.Errorf("the range from %s to %s is empty; the smaller end comes first", short(lo, 6),
			short(hi, 6))
	}
	if lo < symbol.Lo || hi > symbol.Hi {
		defer func() {
			note = strings.TrimPrefix(fmt.Sprintf("%s\nthe range reaches outside of the bounds [%s, %s] of %s", note,
				short(symbol.Lo, 8), short(symbol.Hi, 8), name), "\n")
		}()
	}
	points, err := pointsOf(by["points"])
	if err != nil {
		return nil, "", err
	}
	x := plot.Axis{Label: name, Unit: symbol.Unit}
	if x.Log, err = byRatios(by, lo, symbol); err != nil {
		return nil, "", err
	}
	sweep := &sweep{s: pl, name: name, axis: x, lo: lo, hi: hi, now: now}
	if _, ok := by["steady"]; ok {
		return sweep.steady(ctx, m, by["of"])
	}
	if by["of"] == "" {
		return sweep.goals(ctx, m, nil, points)
	}
	var names []string
	var families []plot.Picture
	for _, e := range split(by["of"]) {
		if pl.isObjective(m, e) {
			names = append(names, e)
			continue
		}
		q, err := pl.pose(e)
		if err != nil {
			return nil, "", err
		}
		if ask, err := pl.ask(q, "objective "+asked+" = ", ""); err == nil {
			p, n, err := sweep.goals(ctx, ask, []string{asked}, points)
			if err != nil {
				return nil, "", err
			}
			for _, l := range p.(*plot.Stack).Panels {
				rewrite(l.(*plot.Lines), e)
			}
			families, note = append(families, p.(*plot.Stack).Panels...), n
			continue
		} else if !hasCode(err, codeTrajectory) {
			return nil, "", err
		}
		family := sweep.family
		if _, ok := by["band"]; ok {
			family = func(ctx context.Context, e string) (plot.Picture, string, error) {
				return sweep.band(ctx, e, points)
			}
		}
		f, n, err := family(ctx, e)
		if err != nil {
			return nil, "", err
		}
		families, note = append(families, f), n
	}
	stack := &plot.Stack{}
	if len(names) > 0 {
		p, n, err := sweep.goals(ctx, m, names, points)
		if err != nil {
			return nil, "", err
		}
		stack.Panels, note = p.(*plot.Stack).Panels, n
	}
	stack.Panels = append(stack.Panels, families...)
	return stack, note, nil
}

// byRatios reports whether a range is spaced by equal ratios: where log says so, and where it is from a tenth to ten
// times the value, since nothing is said.
func byRatios(by map[string]string, lo float64, symbol odes.Symbol) (bool, error) {
	if _, log := by["log"]; log && !(lo > 0) {
		return false, fmt.Errorf("a range by equal ratios is positive, and this one begins with %s", short(lo, 6))
	} else if log {
		return true, nil
	}
	return by["from"]+by["to"] == "" && lo > 0 && math.IsInf(symbol.Hi-symbol.Lo, 0), nil
}

// pointsOf reads how many points a sweep has.
func pointsOf(text string) (n int, err error) {
	if text == "" {
		return sweepPoints, nil
	}
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil || n < 2 || n > 100000 {
		return 0, fmt.Errorf("points takes a whole number from 2, not %q", text)
	}
	return n, nil
}

func rewrite(l *plot.Lines, name string) {
	l.Y.Label = strings.Replace(l.Y.Label, asked, name, 1)
	for i := range l.Curves {
		l.Curves[i].Name = strings.Replace(l.Curves[i].Name, asked, name, 1)
	}
}

// bounds returns a range around the current value, within the bounds of the declaration.
func bounds(symbol odes.Symbol, now float64) (lo, hi float64) {
	switch {
	case now > 0:
		lo, hi = now/10, now*10
	case now < 0:
		lo, hi = now*10, now/10
	default:
		lo, hi = -1, 1
	}
	if !math.IsInf(symbol.Lo, 0) && !math.IsInf(symbol.Hi, 0) {
		return symbol.Lo, symbol.Hi
	}
	return max(lo, symbol.Lo), min(hi, symbol.Hi)
}

// present returns the current value of a param or initial value.
func (iq *inquiry) present(ctx context.Context, name string, symbol odes.Symbol) (float64, error) {
	q := &question{entry: name}
	q.add(name, 0, len(name))
	if values, err := iq.fixedValue(q, symbol, ""); err == nil && len(values) == 1 {
		return values[0], nil
	}
	ask, err := iq.ask(q, "objective "+asked+" = ", "") // an initial value
	if err != nil {
		return 0, err
	}
	opts := unchecked(iq.options())
	opts.Of = []string{asked}
	sol, err := ask.Solve(ctx, opts)
	if err != nil {
		return 0, err
	}
	return sol.Values[0].Value, nil
}

// sweep is what the runs of a sweep have in common.
type sweep struct {
	s           *plotter
	name        string
	axis        plot.Axis
	lo, hi, now float64
}

// at returns n values of the param, evenly spaced along the axis.
func (v *sweep) at(n int) []float64 {
	list := between(v.lo, v.hi, n-1)
	if v.axis.Log {
		for i := range list {
			list[i] = v.lo * math.Pow(v.hi/v.lo, float64(i)/float64(n-1))
		}
		list[n-1] = v.hi
	}
	return list
}

func (v *sweep) options(x float64) odes.Options {
	o := v.s.options()
	o.Set = with(o.Set, named(v.name), []float64{x})
	return o
}

// Where a sweep has checkedWhole runs or more, about checkedSome of them are compared with independent runs, the first
// and the last among them; else all are.
const checkedWhole, checkedSome = 32, 16

// solve makes run i of n, whose picture shows that output, or all.
func (v *sweep) solve(
	ctx context.Context, m *odes.Model, opts odes.Options, i, n int, shown string,
) (*odes.Solution, error) {
	if n >= checkedWhole && i%(n/checkedSome) != 0 && i != n-1 {
		opts = unchecked(opts)
	}
	sol, err := m.Solve(ctx, opts)
	if err != nil {
		return nil, err
	}
	for _, o := range sol.Outputs {
		if shown == "" || o.Name == shown {
			v.s.heedOutput(sol, o)
		}
	}
	return sol, nil
}

// goals draws objectives over the param, or the final outputs where there are none.
func (v *sweep) goals(ctx context.Context, m *odes.Model, of []string, points int) (plot.Picture, string, error) {
	xs := v.at(points)
	found := newFound(len(xs))
	var err error
	if len(of) > 0 || m.Info().Objectives > 0 {
		err = v.objectives(ctx, m, of, xs, found)
	} else {
		err = v.finals(ctx, m, xs, found)
	}
	if err != nil {
		return nil, "", err
	}
	order, units, failed, first := found.order, found.units, found.failed, found.first
	if failed == len(xs) {
		return nil, "", first
	}
	stack := &plot.Stack{}
	for k, name := range order {
		if k == 12 {
			break
		}
		y := make([]float64, len(xs))
		for i := range xs {
			value, ok := found.values[i][name]
			if !ok {
				value = math.NaN()
			}
			y[i] = value
		}
		l := &plot.Lines{
			X: v.axis, Y: plot.Axis{Label: name, Unit: units[name]},
			Curves: []plot.Curve{{Name: name, X: xs, Y: y}},
		}
		if v.now >= v.lo && v.now <= v.hi {
			l.Marks = []plot.Mark{{X: v.now, Name: v.name + " now"}}
		}
		stack.Panels = append(stack.Panels, l)
	}
	note := ""
	if failed > 0 {
		note = fmt.Sprintf("%d of %d runs failed; the first: %v", failed, len(xs), first)
	}
	if len(order) > 12 {
		note = strings.TrimSpace(note + fmt.Sprintf("\n%d more not shown; choose with of", len(order)-12))
	}
	return stack, note, nil
}

// found is what a sweep found.
type found struct {
	order  []string // names of results
	units  map[string]string
	values []map[string]float64 // of every run; nil for those that failed
	failed int
	first  error // of the first run that failed
}

func newFound(n int) *found {
	return &found{units: map[string]string{}, values: make([]map[string]float64, n)}
}

func (f *found) add(i int, name, unit string, value float64) {
	if _, known := f.units[name]; !known {
		f.units[name] = unit
		f.order = append(f.order, name)
	}
	if f.values[i] == nil {
		f.values[i] = map[string]float64{}
	}
	f.values[i][name] = value
}

// fail notes that a run failed. Other errors than those of runs end the sweep.
func (f *found) fail(err error) error {
	var run *odes.RunError
	if odes.Interrupted(err) || !errors.As(err, &run) {
		return err
	}
	if f.failed == 0 {
		f.first = err
	}
	f.failed++
	return nil
}

// objectives computes objectives as members of an ensemble, on all cores.
func (v *sweep) objectives(ctx context.Context, m *odes.Model, of []string, xs []float64, f *found) error {
	rows := make([][]float64, len(xs))
	for i, x := range xs {
		rows[i] = []float64{x}
	}
	opts := v.s.options()
	p, err := ensemble.OpenModel(&ensemble.Job{
		Set: ensemble.Assignments(opts.Set), Options: opts.Settings, Of: of, Chunk: 1,
		Design: ensemble.TableDesign([]string{v.name}, rows, 0),
	}, m)
	if err != nil {
		return err
	}
	config := ensemble.Config{}
	if tell := v.s.progress; tell != nil {
		config.Progress = func(n int) {
			tell(odes.Progress{Phase: odes.PhaseRuns, Steps: n, Done: float64(n) / float64(len(xs))})
		}
	}
	config.Each = func(c *ensemble.Chunk) error {
		if c.Status[0] == ensemble.Failed { // once more, for an error that says where
			opts := unchecked(v.options(xs[c.Index]))
			opts.Of = of
			_, err := m.Solve(ctx, opts)
			if err == nil {
				err = errors.New(c.Failures[0].Message)
			}
			return f.fail(err)
		}
		for k, column := range p.Table.Values {
			f.add(c.Index, column.Name, column.Unit, c.Rows[len(p.Table.Params)+k])
		}
		return nil
	}
	findings, err := ensemble.Run(ctx, p, config)
	if err == nil {
		v.s.doubts.list = append(v.s.doubts.list, findings.Warnings()...)
		for _, d := range findings.Doubts {
			v.s.doubts.lost = v.s.doubts.lost || d.Lost
		}
	}
	return err
}

// finals computes the final outputs.
func (v *sweep) finals(ctx context.Context, m *odes.Model, xs []float64, f *found) error {
	for i, x := range xs {
		done := v.s.part(i, len(xs))
		sol, err := v.solve(ctx, m, v.options(x), i, len(xs), "")
		done()
		if err != nil {
			if err := f.fail(err); err != nil {
				return err
			}
			continue
		}
		for _, r := range rowsOf(sol) {
			f.add(i, r.name, r.unit, r.value)
		}
	}
	return nil
}

// family draws something that changes in time, for several values of the param.
func (v *sweep) family(ctx context.Context, e string) (plot.Picture, string, error) {
	base, err := v.s.curve(ctx, e, 200)
	if err != nil {
		return nil, "", err
	}
	if base.size() != 1 {
		return nil, "", fmt.Errorf("%s is an array; choose an element: %s[1]", e, e)
	}
	i := base.model.Info()
	l := &plot.Lines{
		Title: v.s.unchangedTitle(e, base), X: plot.Axis{Label: i.Time, Unit: i.TimeUnit},
		Y: plot.Axis{Label: e, Unit: base.Unit},
	}
	failed := 0
	xs := v.at(familySize)
	for k, x := range xs {
		saved := v.s.now
		v.s.now.set = v.options(x).Set
		done := v.s.part(k, len(xs))
		sol, err := v.s.dense(ctx, base.model, 200)
		done()
		v.s.now = saved
		if err != nil {
			var run *odes.RunError
			if odes.Interrupted(err) || !errors.As(err, &run) {
				return nil, "", err
			}
			failed++
			continue
		}
		v.s.heedOutput(sol, pick(sol, asked))
		l.Curves = append(l.Curves, plot.Curve{
			Name: v.name + " = " + short(x, 3), X: sol.T, Y: pick(sol, asked).Values,
			Ramp: k + 1, Of: len(xs),
		})
	}
	if failed > 0 {
		return l, fmt.Sprintf("%d of %d runs failed", failed, len(xs)), nil
	}
	return l, "", nil
}

// unchangedTitle returns the title of a picture that shows one of several runs.
func (pl *plotter) unchangedTitle(e string, c *curves) string {
	if len(c.model.Experiments()) == 0 || pl.scope.unchanged {
		return ""
	}
	return e + " without the changes of experiments"
}

const bandTimes = 200

// band shades the area between the least and the greatest values of something that changes in time,
// over all values of the param.
func (v *sweep) band(ctx context.Context, e string, points int) (plot.Picture, string, error) {
	base, err := v.s.curve(ctx, e, bandTimes)
	if err != nil {
		return nil, "", err
	}
	if base.size() != 1 {
		return nil, "", fmt.Errorf("%s is an array; choose an element: %s[1]", e, e)
	}
	times := between(base.T[0], base.T[len(base.T)-1], bandTimes)
	band := plot.Band{Name: fmt.Sprintf("%s from %s to %s", v.name, short(v.lo, 3), short(v.hi, 3)), X: times}
	for range times {
		band.Lo, band.Hi = append(band.Lo, math.Inf(1)), append(band.Hi, math.Inf(-1))
	}
	failed := 0
	for i, x := range v.at(points) {
		done := v.s.part(i, points)
		opts := v.options(x)
		opts.Times = times
		sol, err := v.solve(ctx, base.model, opts, i, points, asked)
		done()
		if err != nil {
			var run *odes.RunError
			if odes.Interrupted(err) || !errors.As(err, &run) {
				return nil, "", err
			}
			failed++
			continue
		}
		values := pick(sol, asked).Values
		at := 0
		for k, t := range sol.T { // a time occurs twice at a jump, and never beyond the end of this run
			for at < len(times)-1 && times[at] < t {
				at++
			}
			if times[at] == t {
				band.Lo[at], band.Hi[at] = min(band.Lo[at], values[k]), max(band.Hi[at], values[k])
			}
		}
	}
	i := base.model.Info()
	l := &plot.Lines{
		Title: v.s.unchangedTitle(e, base), X: plot.Axis{Label: i.Time, Unit: i.TimeUnit},
		Y: plot.Axis{Label: e, Unit: base.Unit}, Bands: []plot.Band{band},
		Curves: []plot.Curve{{Name: v.name + " = " + short(v.now, 3) + ", as it is now", X: base.T, Y: base.Values}},
	}
	if failed > 0 {
		return l, fmt.Sprintf("%d of %d runs failed", failed, points), nil
	}
	return l, "", nil
}
