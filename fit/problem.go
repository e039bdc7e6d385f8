package fit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/target"
)

// problem is a fit as the goroutines share it.
type problem struct {
	ctx      context.Context // of the fit: what searches prepare is given up when it ends
	model    *odes.Model
	opts     Options
	asked    Options // opts, before the problem set anything
	settings odes.FitSettings
	space
	// squares tells that the objective is read row by row, and kinks that some rows are absolute values.
	squares     bool
	kinks       bool
	rough       float64 // how the error of the objective compares with that which rtol promises
	atStart     float64 // the objective of integrals over random effects; NaN where it is not known
	fixed       float64 // what the priors of other params add to the objective
	readsPriors bool    // the objective may read priors
	algorithm   string
	constraints []odes.Value
	began       time.Time
	fine        fineness
	unasked     bool // nobody asked for profiles, and they would take much longer than the search

	telling *sync.Mutex
	told    *Progress       // last
	idle    chan *evaluator // that no goroutine uses
}

// space is what the numbers that are searched for are, on the scale of the search.
type space struct {
	names  []string // of the variables
	priors []odes.Draw
	coords []coordinate
	blocks []*block
	start  []float64 // of the search, as coordinates
}

// coordinate is one number that is searched for, on the scale of the search.
type coordinate struct {
	variable, element int // of settings.Over
	column            int // in a row of derivatives
	name              string
	index             []int
	log               bool
	lo, hi            float64 // of the param
	first             float64 // the value in the model, within them
	block             *block  // of which this is no element, but a number of its factor; nil for others
	within            [2]float64
}

// of returns the coordinate of a value of the param, and value the value.
func (c *coordinate) of(v float64) float64 {
	switch {
	case c.log:
		return elem.Log(v)
	case c.variance():
		return elem.Log(math.Sqrt(v))
	}
	return v
}

func (c *coordinate) value(x float64) float64 {
	if c.block != nil {
		return c.ofBlock(x)
	}
	if !c.log {
		return x
	}
	switch x { // a bound is met with every bit
	case c.of(c.lo):
		return c.lo
	case c.of(c.hi):
		return c.hi
	}
	return elem.Exp(x)
}

// slope returns the derivative of the value, v, by the coordinate.
func (c *coordinate) slope(v float64) float64 {
	if c.log {
		return v
	}
	return 1
}

// elementName returns "k", "A[1,2]", "initial(x)" or "initial(x)[2]", and "c[3].k" for what is written "c[].k".
func elementName(name, written string, initial bool, index []int) string {
	if index == nil {
		return target.Target{Name: name, Initial: initial}.String()
	}
	subs := strings.Fields(strings.Trim(fmt.Sprint(index), "[]"))
	if written != "" {
		return target.Target{Name: target.Subscripted(written, subs), Initial: initial}.String()
	}
	return target.Target{Name: name, Initial: initial, Subscripts: "[" + strings.Join(subs, ",") + "]"}.String()
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

// settingsOf reads the settings of a fit, and adds to opts what its algorithm asks of runs.
func settingsOf(m *odes.Model, opts *Options) (odes.FitSettings, error) {
	s, err := m.FitSettings(opts.Options)
	if err == nil {
		err = exactly(m, &s, opts)
	}
	return s, err
}

// newProblem reads the settings of a fit, until ctx ends.
func newProblem(ctx context.Context, m *odes.Model, opts Options) (*problem, error) {
	s, err := settingsOf(m, &opts)
	if err != nil {
		return nil, err
	}
	if opts.Starts > 0 {
		s.Starts = opts.Starts
	}
	symbols, err := m.Symbols(nil)
	if err != nil {
		return nil, err
	}
	p := &problem{
		ctx: ctx, began: time.Now(), model: m, opts: opts, asked: opts, settings: s,
		space:       space{priors: separate(m.Priors(), symbols)},
		constraints: m.Constraints(), rough: 1, atStart: math.NaN(), telling: &sync.Mutex{}, told: &Progress{},
	}
	for _, v := range s.Over {
		p.names = append(p.names, v.String())
	}
	opts.Wrt = p.names
	_, values, err := m.ValuesOf(opts.Options)
	if err != nil {
		return nil, err
	}
	bounds, err := m.BoundsOf(opts.Options)
	if err != nil {
		return nil, err
	}
	var l diag.List
	ofPopulation(m, &s, &l)
	for i, v := range s.Over {
		lo, hi := bounds[i][0], bounds[i][1]
		if lo == hi {
			l.Errorf(odes.CodeSetting, source.Span{}, "%s cannot be searched for: its bounds leave it one value, %s; "+
				"leave it out of fit.over, or give it other bounds", v.String(), diag.Number(lo))
			continue
		}
		if (matrices{p}).add(i, values, lo, hi, &l) {
			continue
		}
		for k := range v.Size() {
			c := coordinate{
				variable: i, element: k, column: v.Offset + k, index: subscripts(v.Shape, k),
				log: s.Log[i], lo: lo, hi: hi,
			}
			c.name = elementName(v.Name, v.Written, v.Initial, c.index)
			at := values[c.column]
			if c.log {
				if !(c.hi > 0) || !(at > 0) {
					l.Errorf(odes.CodeSetting, source.Span{}, "%s is searched for on a logarithmic scale, and %s is "+
						"not positive; leave it out of fit.log", c.name, diag.Number(at))
					continue
				}
				if !(c.lo > 0 || math.IsInf(c.lo, -1)) {
					l.Errorf(odes.CodeSetting, source.Span{}, "%s is searched for on a logarithmic scale, which does "+
						"not reach its bound %s; leave it out of fit.log, or give it a positive bound",
						c.name, diag.Number(c.lo))
					break // elements have the same bounds
				}
				c.lo = max(c.lo, 0)
			}
			c.first = min(max(at, lo), hi)
			p.coords = append(p.coords, c)
			p.start = append(p.start, c.of(c.first))
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
	p.squares, p.kinks = e.comparison != nil, e.kinks > 0
	p.readsPriors = !p.squares || e.comparison.PriorWeight > 0
	if p.squares && p.readsPriors {
		if err := p.fixedPriors(e.comparison.PriorWeight); err != nil {
			return nil, err
		}
		p.support()
	}
	if p.settings.Intervals == "auto" {
		switch p.settings.Intervals = "profile"; {
		case len(m.RandomEffects()) > 0: // a profile is many fits
			p.settings.Intervals = "wald"
		case len(p.coords) > many:
			p.settings.Intervals, p.unasked = "wald", true
		}
	}
	if (coach{p}).checkTraining(&l); l.HasErrors() {
		return nil, l.Err()
	}
	if p.algorithm, err = p.choose(e); err != nil {
		return nil, err
	}
	if s.Intervals == "bootstrap" && (!p.squares || len(p.constraints) > 0) {
		l.Errorf(odes.CodeSetting, source.Span{}, "fit.intervals = bootstrap draws rows of data, and is for "+
			"likelihoods of data without constraints")
		return nil, l.Err()
	}
	p.idle = make(chan *evaluator, opts.workers()+1)
	p.idle <- e
	return p, nil
}

// many is how many numbers are searched for by exact Hessians; of more, they cost more than they are worth.
const many = 30

// choose returns the algorithm of the searches.
func (p *problem) choose(e *evaluator) (string, error) {
	refuse := func(why string) (string, error) {
		var l diag.List
		l.Errorf(odes.CodeSetting, source.Span{}, "fit.algorithm = %s: %s", p.settings.Algorithm, why)
		return "", l.Err()
	}
	if err := (afar{p}).divisible(e); err != nil {
		return "", err
	}
	asked := p.settings.Algorithm
	if (asked == adam || asked == saem) && len(p.constraints) == 0 {
		asked = "auto" // it goes on so
	}
	switch {
	case len(p.constraints) > 0 && asked != "auto" && asked != "sqp":
		return refuse("the model has constraints, which sqp keeps")
	case asked == "sqp" || asked == "lbfgsb":
		return asked, nil
	case len(p.constraints) > 0:
		return "sqp", nil
	case p.kinks:
		return "least_absolute", nil
	case p.squares:
		return "least_squares", nil
	case asked == "trust" && !p.hasHessian():
		return refuse("the method of the solver has no second derivatives")
	case asked == "trust", len(p.coords) <= many && p.hasHessian():
		return "newton", nil
	}
	return "lbfgsb", nil
}

// bounds returns those of the coordinates.
func (sp *space) bounds() optim.Bounds {
	b := optim.Bounds{Lo: make([]float64, len(sp.coords)), Hi: make([]float64, len(sp.coords))}
	for i := range sp.coords {
		c := &sp.coords[i]
		b.Lo[i], b.Hi[i] = c.lo, c.hi
		if c.log {
			b.Lo[i], b.Hi[i] = math.Inf(-1), math.Inf(1)
			if c.lo > 0 {
				b.Lo[i] = c.of(c.lo)
			}
			if !math.IsInf(c.hi, 1) {
				b.Hi[i] = c.of(c.hi)
			}
		}
	}
	return b
}

// values returns the values of params at x.
func (sp *space) values(x []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = sp.coords[i].value(x[i])
	}
	for _, b := range sp.blocks {
		w := b.Matrix(b.part(x))
		for k := range b.Size() {
			if c := &sp.coords[b.first+k]; !c.variance() { // of a variance, a bound is met with every bit
				out[b.first+k] = w[c.element]
			}
		}
	}
	return out
}

// sizes returns a typical size of each coordinate at x: 1 on a logarithmic scale, its own or that of its bounds.
func (sp *space) sizes(x []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		c := &sp.coords[i]
		switch span := c.hi - c.lo; {
		case c.log, c.block != nil:
			out[i] = 1
		case x[i] != 0 && !sp.atZero(i, x[i]):
			out[i] = math.Abs(x[i])
		case span > 0 && !math.IsInf(span, 1):
			out[i] = span
		default:
			out[i] = 1
		}
	}
	return out
}

// atZero reports whether a coordinate that began at zero is there but for rounding.
func (sp *space) atZero(i int, x float64) bool {
	const rounding = 1e-12
	return len(sp.start) > i && sp.start[i] == 0 && math.Abs(x) < rounding
}

// scales returns the sizes by which a search from x measures its steps. The elements of the initial value of an array
// are numbers of one kind, a field at its points, and have the size of the largest of them; so have hundreds of values
// of a control. Those of other arrays may be rates of several magnitudes; each has its own.
func (p *problem) scales(x []float64) []float64 {
	out := p.sizes(x)
	largest := make([]float64, len(p.settings.Over))
	for i, v := range x {
		c := &p.coords[i]
		field := p.settings.Over[c.variable].Initial || !p.squares && len(p.coords) > dense
		if field && c.index != nil && !c.log && c.block == nil {
			largest[c.variable] = max(largest[c.variable], math.Abs(v))
		}
	}
	for i := range out {
		if most := largest[p.coords[i].variable]; most > 0 {
			out[i] = most
		}
	}
	return out
}

// borrow returns an evaluator that no other goroutine uses until it is given back.
func (p *problem) borrow() (*evaluator, error) {
	select {
	case e := <-p.idle:
		return e, nil
	default:
		return p.newEvaluator(context.Background()) // whose programs are there
	}
}

func (p *problem) giveBack(e *evaluator) {
	select {
	case p.idle <- e:
	default:
	}
}

// tell passes progress on.
func (p *problem) tell(at Progress) {
	if p.opts.Told == nil {
		return
	}
	p.telling.Lock()
	defer p.telling.Unlock()
	at.Evaluations = p.told.Evaluations
	*p.told = at
	p.opts.Told(at)
}

// evaluated tells that a run was made, if a phase has begun.
func (p *problem) evaluated() {
	if p.opts.Told == nil {
		return
	}
	p.telling.Lock()
	defer p.telling.Unlock()
	if p.told.Evaluations++; p.told.Phase != "" {
		p.opts.Told(*p.told)
	}
}
