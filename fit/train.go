package fit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// Training, as that of networks in equations: a search takes many small steps along gradients by Adam (optim.Train),
// each after a look at all data or at a batch of them, and then goes on by the algorithm that the problem has without.
// Batches are experiments where the model has some, else rows of its tables; in each epoch their order is drawn anew,
// by the seed, the number of the search and that of the epoch alone.

// Defaults of the settings of adam.
const (
	usualRate   = 0.01
	usualEpochs = 500
	usualDecay  = 0.1
)

// adam is the word for training in the settings.
const adam = "adam"

// coach is a problem as trainings know it.
type coach struct{ *problem }

// trains reports whether searches begin with a training.
func (p coach) trains() bool { return p.settings.Algorithm == adam }

// checkTraining refuses settings that training cannot follow.
func (p coach) checkTraining(l *diag.List) {
	s := &p.settings
	if !p.trains() {
		return
	}
	if s.Decay > 1 {
		l.Errorf(odes.CodeSetting, source.Span{}, "fit.decay = %s would make the rate grow; it is at most 1",
			diag.Number(s.Decay))
	}
	if s.Batch > 0 && !p.squares {
		l.Errorf(odes.CodeSetting, source.Span{}, "fit.batch takes parts of the data, so the objective must be nll() "+
			"or nll() - log_prior(), to be minimised, and %s is no sum over data of that form; leave out fit.batch",
			s.Objective)
	}
}

// unusedTraining names the settings of adam that a fit by another algorithm does not read.
func (p coach) unusedTraining() (names []string) {
	if p.trains() {
		return nil
	}
	s := &p.settings
	for _, x := range []struct {
		name string
		set  bool
	}{{"rate", s.Rate > 0}, {"epochs", s.Epochs > 0}, {"decay", s.Decay > 0}, {"batch", s.Batch > 0}} {
		if x.set {
			names = append(names, "fit."+x.name)
		}
	}
	return names
}

// are is the beginning of a sentence about names.
func are(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return join(names) + " are"
}

// Training is how far the training of a search has come, to go on from.
type Training struct {
	Number int // of its Start
	From   []float64
	at     optim.Training
}

// train makes x the best point of a training that begins there. The result is that of the training.
func (p coach) train(ctx context.Context, e *evaluator, number int, x []float64) (optim.Result, error) {
	t := &training{e: e, number: number, rest: make([]float64, len(x))}
	if err := t.split(); err != nil {
		return optim.Result{}, err
	}
	s := &p.settings
	rate, epochs := cmp.Or(s.Rate, usualRate), cmp.Or(s.Epochs, usualEpochs)
	fall := elem.Log(cmp.Or(s.Decay, usualDecay)) / float64(epochs)
	o := optim.TrainingOptions{
		Epochs: epochs, Scale: p.weightSizes(x),
		Rate: func(epoch int) float64 { return float64(rate * elem.Exp(float64(fall*float64(epoch)))) },
	}
	from := p.values(x)
	for i := range p.opts.Trained {
		if old := &p.opts.Trained[i]; old.Number == number && slices.Equal(old.From, from) &&
			len(old.at.X) == len(x) && old.at.Epoch <= epochs {
			o.From = &old.at
		}
	}
	if o.From != nil {
		e.n += o.From.Counted
		e.bad += o.From.Failures
	}
	if p.opts.Training != nil {
		kept := time.Now()
		o.Kept = func(at optim.Training) {
			const every = 20 * time.Second // a file grows by some numbers for each weight
			if ctx.Err() == nil && time.Since(kept) < every {
				return
			}
			kept = time.Now()
			p.telling.Lock()
			defer p.telling.Unlock()
			p.opts.Training(Training{Number: number, From: from, at: at})
		}
	}
	told := e.iterated(nil)
	o.Progress = func(at optim.Progress) {
		if told != nil {
			told(at)
		}
		p.trained(at, epochs)
	}
	r, err := optim.Train(ctx, optim.TrainingProblem{
		Variables: len(x), Bounds: p.bounds(), Steps: t.steps(),
		Slope: t.slope,
		Whole: func(ctx context.Context, x []float64) (float64, error) { return t.whole(ctx, x, t.rest) },
	}, x, o)
	r.Evaluations, r.Failures = 0, 0 // they are counted where they are made
	return r, err
}

// trained tells of an epoch.
func (p coach) trained(at optim.Progress, epochs int) {
	if p.opts.Told == nil {
		return
	}
	p.telling.Lock()
	defer p.telling.Unlock()
	p.told.Epoch, p.told.Epochs, p.told.Value = at.Iterations, epochs, float64(p.sign()*at.Value)
	p.opts.Told(*p.told)
}

// weightSizes are the sizes of numbers by which steps of a training are measured. Weights, which are elements of arrays
// without a unit, are of size 1 whatever they begin with, and so are logarithms. Other numbers have the size of their
// value.
func (p coach) weightSizes(x []float64) []float64 {
	out := p.scales(x)
	for i := range out {
		c := &p.coords[i]
		unit := p.settings.Over[c.variable].Unit
		plain := unit == "" || unit == "1" || unit == "unknown" // the model does not decide it
		if c.log || c.index != nil && plain {
			out[i] = 1
		}
	}
	return out
}

// training is one that goes on.
type training struct {
	e       *evaluator
	number  int
	batches *odes.Batches
	units   [][]datum // what batches are made of: rows of data, or experiments; nil: there is one batch, of all
	order   []int     // of the units, in the epoch of which it is
	epoch   int
	counts  [][]float64
	slopes  []float64 // by the columns of batches
	rest    []float64
}

// datum is a row of a group.
type datum struct{ group, row int }

// split prepares the batches.
func (t *training) split() error {
	p := coach{t.e.p}
	if p.settings.Batch == 0 {
		return nil
	}
	if t.e.batches == nil {
		b, err := p.model.Batches(p.settings.Objective, p.runOptions().While(p.ctx))
		if err != nil {
			return err
		}
		t.e.batches = b
	}
	b := t.e.batches
	byRows := len(p.model.Experiments()) == 0
	known := map[string]int{}
	t.slopes = make([]float64, b.Columns)
	for g := range b.Groups {
		group := &b.Groups[g]
		t.counts = append(t.counts, make([]float64, len(group.T)))
		for k := range group.T {
			unit := group.Experiment
			if byRows {
				unit = fmt.Sprintf("%s %d", group.Table.Name, group.Row[k])
			}
			at, seen := known[unit]
			if !seen {
				at = len(t.units)
				known[unit], t.units = at, append(t.units, nil)
			}
			t.units[at] = append(t.units[at], datum{g, k})
		}
	}
	if p.settings.Batch >= len(t.units) { // a batch has all
		t.units = nil
		return nil
	}
	t.batches, t.epoch = b, -1
	return nil
}

// steps returns how many batches there are.
func (t *training) steps() int {
	size := t.e.p.settings.Batch
	if t.units == nil {
		return 1
	}
	return (len(t.units) + size - 1) / size
}

// draw puts the units in the order of an epoch.
func (t *training) draw(epoch int) {
	if t.epoch == epoch {
		return
	}
	t.epoch = epoch
	t.order = t.order[:0]
	for i := range t.units {
		t.order = append(t.order, i)
	}
	const odd = 0x9e3779b97f4a7c15
	random := elem.NewRand((t.e.p.settings.Seed*odd+uint64(t.number))*odd + uint64(epoch) + 1)
	for i := len(t.order) - 1; i > 0; i-- {
		j := int(random.Uint64() % uint64(i+1))
		t.order[i], t.order[j] = t.order[j], t.order[i]
	}
}

// slope evaluates a batch at x: as much of the objective as if all data were like it.
func (t *training) slope(ctx context.Context, x []float64, epoch, part int, g []float64) (float64, error) {
	if t.units == nil {
		return t.whole(ctx, x, g)
	}
	t.draw(epoch)
	steps, n := t.steps(), len(t.units)
	first, end := part*n/steps, (part+1)*n/steps // sizes differ by one at most
	counts := make([][]float64, len(t.counts))
	by := float64(n) / float64(end-first)
	for _, unit := range t.order[first:end] {
		for _, at := range t.units[unit] {
			if counts[at.group] == nil {
				counts[at.group] = t.counts[at.group]
				clear(counts[at.group])
			}
			counts[at.group][at.row] = float64(by * t.batches.Groups[at.group].Weight)
		}
	}
	p, e := coach{t.e.p}, t.e
	e.n++
	defer p.evaluated()
	e.move(x)
	clear(t.slopes)
	value, err := t.batches.Run(ctx, e.set, counts, t.slopes)
	if err != nil {
		e.bad++
		return 0, err
	}
	for i := range g {
		c := &p.coords[i]
		g[i] = float64(t.slopes[c.column] * c.slope(c.value(x[i])))
	}
	return value + p.fixed + p.priorSlopes(t.batches.PriorWeight, x, g), nil
}

// whole evaluates the objective at x.
func (t *training) whole(ctx context.Context, x, g []float64) (float64, error) {
	s, err := t.e.run(ctx, x, false)
	if err != nil {
		return 0, err
	}
	sign := t.e.p.sign()
	t.e.gather(s, 0, sign, x, g)
	return float64(sign * s.Values[0].Value), nil
}

// priorSlopes returns what priors add to the objective, and adds their derivatives to a gradient.
func (p coach) priorSlopes(weight float64, x, g []float64) (sum float64) {
	if weight == 0 {
		return 0
	}
	for i, prior := range p.priorsOf() {
		c := &p.coords[i]
		v := c.value(x[i])
		r := priorRows[prior.Dist](v, prior.Args)
		sum += float64(weight * (r.square*r.square/2 + r.rest + constantOf(prior)))
		g[i] += float64(weight * (float64(r.square*r.bySquare) + r.byRest) * c.slope(v))
	}
	return sum
}

// trainedFrom searches from x: by a training, and from its best point by the algorithm of the problem.
func (p coach) trainedFrom(ctx context.Context, e *evaluator, number int, x []float64) Start {
	return p.ended(ctx, e, number, p.values(x), func() (optim.Result, error) {
		first, err := p.train(ctx, e, number, x)
		if err != nil || first.Status == optim.Stopped {
			return first, err
		}
		r, err := p.minimise(ctx, e, first.X, p.bounds())
		r.Iterations += first.Iterations
		if err != nil && ctx.Err() != nil { // before the second search had a value
			first.Status = optim.Stopped
			return first, nil
		}
		return r, err
	})
}

// algorithms returns the words for what a fit did.
func (p coach) algorithms() string {
	if p.trains() || p.settings.Algorithm == saem {
		return strings.Join([]string{p.settings.Algorithm, p.algorithm}, ", ")
	}
	return p.algorithm
}
