package posterior

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/sample"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

var nan = math.NaN()

// problem is what is drawn from, as goroutines share it.
type problem struct {
	model       *odes.Model
	opts        Options
	asked       Options // as they were, for a Backend
	settings    odes.SampleSettings
	names       []string // of the variables
	coords      []coordinate
	constraints []odes.Value
	idle        chan *evaluator
	told        progress
	flat        []string // params without a prior that have no end on a side
	paths       []path   // that searches of Pathfinder found
	random      *effects // that are drawn, behind the coordinates; nil for none
	rtol        float64
	further     bool      // searches may go on: see searchOn
	anchor      []float64 // near which most runs of a population are: see evaluator.anchor
}

// coordinate is one number that is drawn, and how it lies among all real numbers.
type coordinate struct {
	variable, element int
	column            int // in a row of derivatives
	name              string
	index             []int
	unit              string
	lo, hi            float64 // its bounds and the support of its prior
	first             float64 // the value in the model, within them
	size              float64 // of the coordinate
	prior             *sample.Dist
}

// place returns the value of the param at q, its first two derivatives, and the logarithm of the first with its own.
func (c *coordinate) place(q float64) (x, dx, ddx, log, dlog, ddlog float64) {
	below, above := !math.IsInf(c.lo, -1), !math.IsInf(c.hi, 1)
	switch {
	case below && above:
		w := c.hi - c.lo
		s, r := sigmoid(q), sigmoid(-q)
		x = c.lo + float64(w*s)
		if q > 0 {
			x = c.hi - float64(w*r)
		}
		dx = float64(w * s * r)
		ddx = float64(dx * (r - s))
		log = elem.Log(w) - math.Abs(q) - 2*elem.Log1p(elem.Exp(-math.Abs(q)))
		return x, dx, ddx, log, r - s, -2 * float64(s*r)
	case below:
		e := elem.Exp(q)
		return c.lo + e, e, e, q, 1, 0
	case above:
		e := elem.Exp(q)
		return c.hi - e, -e, -e, q, 1, 0
	}
	return q, 1, 0, 0, 0, 0
}

func sigmoid(q float64) float64 {
	if q >= 0 {
		return 1 / (1 + elem.Exp(-q))
	}
	e := elem.Exp(q)
	return e / (1 + e)
}

// of returns the coordinate of a value within the bounds.
func (c *coordinate) of(x float64) float64 {
	below, above := !math.IsInf(c.lo, -1), !math.IsInf(c.hi, 1)
	switch {
	case below && above:
		return elem.Log((x - c.lo) / (c.hi - x))
	case below:
		return elem.Log(x - c.lo)
	case above:
		return elem.Log(c.hi - x)
	}
	return x
}

// subscripts returns the 1-based subscripts of element k; nil for a scalar.
func subscripts(shape []int, k int) []int {
	if len(shape) == 0 {
		return nil
	}
	list := make([]int, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		list[axis] = k%shape[axis] + 1
		k /= shape[axis]
	}
	return list
}

// newProblem reads what is to be drawn, until ctx ends.
func newProblem(ctx context.Context, m *odes.Model, opts Options) (*problem, error) {
	opts.Options = opts.Options.ForDraws()
	s, m, err := m.SampleSettings(opts.Options)
	if err != nil {
		return nil, err
	}
	p := &problem{model: m, opts: opts, asked: opts, settings: s, constraints: m.Constraints()}
	if p.settings.Starts == 0 {
		p.settings.Starts, p.further = 2*s.Chains, s.Random != "draw"
		if s.Random == "draw" { // searches integrate, which takes long
			p.settings.Starts = 2
		}
	}
	p.told.tell = opts.Progress
	for _, v := range s.Over {
		p.names = append(p.names, v.String())
	}
	opts.Wrt = p.names
	_, values, err := m.ValuesOf(opts.Options)
	if err != nil {
		return nil, err
	}
	symbols, err := m.Symbols(opts.Set)
	if err != nil {
		return nil, err
	}
	var l diag.List
	for _, c := range p.constraints {
		if c.Relation == "==" {
			l.Errorf(odes.CodeSetting, source.Span{},
				"constraint %s is an equation: what satisfies it has no volume to "+
					"draw from; leave the constraint out, or write a param by the others with let", c.Name)
		}
	}
	priors, effects := m.Priors(), odes.IndividualEffects(m)
	for i, v := range s.Over {
		for k := range v.Size() {
			c := coordinate{variable: i, element: k, column: v.Offset + k, index: subscripts(v.Shape, k), size: 1}
			c.name = v.Element(k)
			c.lo, c.hi = m.Bounds(v)
			at := slices.IndexFunc(symbols, func(x odes.Symbol) bool {
				return x.Name == v.Name && (x.Kind == "param") == !v.Initial
			})
			if at >= 0 {
				c.unit = symbols[at].Unit
			}
			has := c.findPrior(priors, p.names[i])
			if c.lo >= c.hi {
				l.Errorf(odes.CodeSetting, source.Span{}, "%s cannot be drawn: its bounds leave it one value or none; "+
					"leave it out of sample.over, or give it other bounds", c.name)
				break
			}
			has = has || slices.Contains(effects, p.names[i]) // whose distribution is in nll()
			if !has && (math.IsInf(c.lo, -1) || math.IsInf(c.hi, 1)) {
				p.flat = append(p.flat, c.name)
			}
			c.begin(values[v.Offset+k])
			p.coords = append(p.coords, c)
		}
		// What follows other params, and initial values, can be set in a Runner only where the options set them, too.
		p.opts.Set = append(slices.Clone(p.opts.Set), odes.Assignment{
			Name: v.String(), Values: values[v.Offset : v.Offset+v.Size()],
		})
	}
	if err := l.Err(); err != nil {
		return nil, err
	}
	e, err := p.newEvaluator(ctx)
	if err != nil {
		return nil, err
	}
	p.rtol = rtolOf(e.runner)
	p.idle = make(chan *evaluator, opts.workers()+1)
	p.idle <- e
	return p, nil
}

// findPrior finds the prior of a coordinate, whose support bounds it, and reports whether it has one.
func (c *coordinate) findPrior(priors []odes.Draw, name string) bool {
	at := slices.IndexFunc(priors, func(d odes.Draw) bool { return d.Name == c.name || d.Name == name })
	if at < 0 {
		return false
	}
	d := &priors[at]
	dist, err := sample.NewDist(d.Dist, d.Args, c.lo, c.hi)
	if err == nil {
		c.prior = dist
	} else if d.Dist != "uniform" { // its numbers are params
		for _, args := range [][]float64{{1}, {1, 1}, {1, 1, 1}} {
			if dist, err = sample.NewDist(d.Dist, args, math.Inf(-1), math.Inf(1)); err == nil {
				break
			}
		}
	}
	if err == nil {
		c.lo, c.hi = max(c.lo, dist.Quantile(0)), min(c.hi, dist.Quantile(1))
	}
	return true
}

// begin sets where a coordinate begins, and its size.
func (c *coordinate) begin(x float64) {
	below, above := !math.IsInf(c.lo, -1), !math.IsInf(c.hi, 1)
	if !(x > c.lo && x < c.hi) || math.IsInf(c.of(x), 0) {
		switch {
		case c.prior != nil:
			x = c.prior.Quantile(0.5)
		case below && above:
			x = c.lo + (c.hi-c.lo)/2
		case below:
			x = c.lo + max(math.Abs(c.lo), 1)
		case above:
			x = c.hi - max(math.Abs(c.hi), 1)
		}
	}
	c.first = x
	if below || above {
		return
	}
	if c.size = math.Abs(x); c.size == 0 {
		c.size = 1
	}
	if c.prior != nil {
		c.size = (c.prior.Quantile(0.84) - c.prior.Quantile(0.16)) / 2
	}
}

// values returns the values of params at q, without random effects.
func (p *problem) values(q []float64) []float64 {
	out := make([]float64, len(p.coords))
	for i := range out {
		out[i], _, _, _, _, _ = p.coords[i].place(q[i])
	}
	return out
}

// warn says what is odd about what is drawn from.
func (p *problem) warn(r *Result) {
	if len(p.flat) > 0 {
		r.warnf("%s: there is no prior, and no end to what %s may be, so the posterior may not exist: draws then "+
			"wander off without end; give priors (~ lognormal(0, 1)) or bounds (in [0, 10])", several(p.flat),
			map[bool]string{true: "it", false: "they"}[len(p.flat) == 1])
	}
	if p.settings.Priorless {
		r.warnf("objective %s does not read log_prior(), so priors have no part in what is drawn; write %s = nll() - "+
			"log_prior()", p.settings.Objective, p.settings.Objective)
	}
	if list := p.model.RandomEffects(); len(list) > 0 && p.settings.Random != "draw" {
		r.notef("random effects (%s) are not drawn: the likelihood is integrated over them, as marginal says, and "+
			"draws are of the params of the population (--sample.random=draw: those of each subject, too)",
			several(list))
	}
}

// settleAnchor has runs of a population begin their searches for the modes of subjects near those at the mode of most
// mass.
func settleAnchor(p *problem, modes []Mode) {
	if p.anchor = nil; len(modes) > 0 && integrates(p) {
		p.anchor = modes[0].q
	}
}

// size is how many numbers are drawn.
func (p *problem) size() int { return len(p.coords) + p.random.size() }

// several lists names, and no more than a line of them.
func several(names []string) string {
	const most = 6
	if n := len(names) - most; n > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ")
}

func (r *Result) warnf(format string, args ...any) {
	r.Warnings = append(r.Warnings, diag.Diagnostic{
		Code: CodeSample, Level: diag.Warning, Message: fmt.Sprintf(format, args...),
	})
}

func (r *Result) notef(format string, args ...any) {
	r.Warnings = append(r.Warnings, diag.Diagnostic{
		Code: CodeSample, Level: diag.Note, Message: fmt.Sprintf(format, args...),
	})
}
