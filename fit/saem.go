package fit

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// Stochastic approximation EM (B. Delyon, M. Lavielle, E. Moulines, Ann Stat 27:94, 1999; E. Kuhn, M. Lavielle, Comput
// Stat Data Anal 49:1020, 2005): the random effects of each subject are drawn by Markov chains, what the params need of
// them is averaged, and the params follow. No mode is sought, and nothing is linear. It comes near the maximum of the
// likelihood itself, from far; the algorithm of the problem then ends the search, on the integral by importance
// sampling or quadrature.
//
// Coordinates are of three kinds, which derivatives tell:
//
//   - What the distributions of the random effects follow from has the maximum of the normal density of the effects, by
//     Fisher's scoring: of a free matrix, the average of their products.
//   - What moves predictions as random effects do, such as tcl in exp(tcl + b·wt + e), and b, has that of a linear
//     model: the effects move the other way, so that nothing of the predictions changes.
//   - The others follow the gradient of the likelihood of the data, in units of its information.
//
// Priors add their gradient and their curvature to the steps of all three, so that params come near the maximum of the
// product.

// saem is its word in the settings.
const saem = "saem"

// Of the iterations, the first let the params follow the last draws, and the others average.
const (
	burnIn    = 150
	smoothing = 100
	leastSets = 50 // of random effects in an iteration: few subjects have several chains each
)

// exactly makes the settings of a fit those of an integral that is exact, as saem needs.
func exactly(m *odes.Model, s *odes.FitSettings, opts *Options) error {
	if s.Algorithm != saem {
		return nil
	}
	var l diag.List
	kind, _, _ := strings.Cut(s.Marginal, "(")
	switch {
	case len(m.RandomEffects()) == 0:
		l.Errorf(odes.CodeSetting, source.Span{}, "fit.algorithm = saem is for models with random effects: write "+
			"random e ~ normal(0, w), or leave algorithm out")
	case len(m.Constraints()) > 0:
		l.Errorf(odes.CodeSetting, source.Span{}, "fit.algorithm = saem keeps no constraints; sqp does")
	case kind == "" || s.Marginal == "laplace": // the default
		opts.Settings = append(slices.Clone(opts.Settings), odes.Setting{
			Key: "solver.marginal", Value: "imp(n = 300, seed = 1)",
		})
	case kind != "imp" && kind != "agq":
		l.Errorf(odes.CodeSetting, source.Span{}, "fit.algorithm = saem maximises the likelihood itself, and marginal "+
			"= %s is an approximation of it; write solver { marginal = imp(n = 300) }, or agq(n = 5)", s.Marginal)
	}
	if err := l.Err(); err != nil {
		return err
	}
	if _, _, is, err := odes.WithRest(m, s.Objective); err != nil || !is {
		l.Errorf(odes.CodeSetting, source.Span{}, "fit.algorithm = saem is for objectives that are nll(), or nll() - "+
			"log_prior(), and %s is written otherwise: use another algorithm", s.Objective)
		return cmp.Or(err, l.Err())
	}
	return nil
}

// stochastic is a problem as this algorithm knows it.
type stochastic struct{ *problem }

// approached searches from x: by stochastic approximation, and from where that ends by the algorithm of the problem.
func (p stochastic) approached(ctx context.Context, e *evaluator, number int, x []float64) Start {
	return p.ended(ctx, e, number, p.values(x), func() (optim.Result, error) {
		s, err := p.begin(ctx, e, number, x)
		if err != nil {
			return optim.Result{}, err
		}
		if err := s.run(ctx); err != nil {
			return optim.Result{}, err
		}
		return p.minimise(ctx, e, s.x, p.bounds())
	})
}

// approximation is one that goes on.
type approximation struct {
	p         stochastic
	e         *evaluator
	workers   []*odes.Joint
	chains    []*drawing
	x         []float64
	slopes    [][]move // of the elements of params by coordinates, at x
	kinds     []kind
	logs      []bool       // the linear model of a centre is in the logarithm of its coordinate
	scores    []float64    // averages of the information of what is of no other kind, [n][n]
	rest      *odes.Runner // of what the objective adds to the likelihood, the priors; nil for nothing
	priors    priorsAt
	before    []float64 // x of the last iteration
	told      int       // columns of variables
	iteration int
}

// kind is what a coordinate does.
type kind uint8

const (
	ofNothing kind = iota
	ofSpread       // the distribution of random effects follows from it
	ofCentre       // it moves predictions as random effects do
	ofOthers
)

// begin finds what coordinates do, at x.
func (p stochastic) begin(ctx context.Context, e *evaluator, number int, x []float64) (*approximation, error) {
	s := &approximation{p: p, e: e, x: slices.Clone(x), logs: make([]bool, len(x)), priors: noPriors(len(x))}
	s.scores = make([]float64, len(x)*len(x))
	o := p.runOptions().While(ctx)
	o.Threads, o.Of = 1, []string{p.settings.Objective}
	for range min(max(p.opts.workers(), 1), 64) {
		j, err := p.model.Joint(1, o)
		if err != nil {
			return nil, err
		}
		s.workers = append(s.workers, j)
	}
	whole, rest, _, err := odes.WithRest(p.model, p.settings.Objective)
	if err != nil {
		return nil, err
	}
	if rest != "" {
		o.Of = []string{rest}
		if s.rest, err = whole.Prepare(o.SecondOrder()); err != nil {
			return nil, err
		}
	}
	first := s.workers[0]
	s.told = first.Columns
	sets := (leastSets + len(first.Subjects) - 1) / max(len(first.Subjects), 1)
	for i, name := range first.Subjects {
		s.chains = append(s.chains, newDrawing(name, i, len(first.Effects(i)), sets, len(x), p.settings.Seed, number))
	}
	if err := s.move(ctx); err != nil {
		return nil, err
	}
	return s, s.classify(ctx)
}

// each calls do for all chains, as many at a time as there are workers.
func (s *approximation) each(do func(j *odes.Joint, c *drawing) error) error {
	failures := make([]error, len(s.chains))
	var wait sync.WaitGroup
	for w, j := range s.workers {
		wait.Go(func() {
			for i := w; i < len(s.chains); i += len(s.workers) {
				failures[i] = do(j, s.chains[i])
			}
		})
	}
	wait.Wait()
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

// move makes x the params of all runs to come.
func (s *approximation) move(ctx context.Context) error {
	if err := s.weigh(ctx); err != nil {
		return err
	}
	s.before = slices.Clone(s.x)
	s.e.move(s.x)
	s.slopes = matrices{s.p.problem}.moves(s.x)
	for _, j := range s.workers {
		if err := j.Set(s.e.set...); err != nil {
			return err
		}
	}
	return s.each(func(j *odes.Joint, c *drawing) (err error) {
		c.of, err = j.Distribution(ctx, c.number)
		return err
	})
}

// priorsAt is what priors add to the objective at some params: derivatives by coordinates, and second ones, which are
// not negative.
type priorsAt struct{ slope, curve []float64 }

func noPriors(n int) priorsAt { return priorsAt{make([]float64, n), make([]float64, n)} }

// weigh computes what the priors add at x. Where they are zero, x goes back towards where it was.
func (s *approximation) weigh(ctx context.Context) error {
	const halves = 30
	if s.rest == nil {
		return nil
	}
	n := len(s.x)
	for range halves {
		s.e.move(s.x)
		if err := s.rest.Set(s.e.set...); err != nil {
			return err
		}
		r, err := s.rest.Sensitivities(ctx)
		if err != nil {
			return err
		}
		if v := r.Values[0].Value; v-v == 0 {
			slope, h := make([]float64, n), make([]float64, n*n)
			s.e.gather(r, 0, 1, s.x, slope)
			s.e.curvature(r, 1, s.x, slope, h)
			s.priors = noPriors(n)
			for k := range n {
				if d := slope[k]; d-d == 0 {
					s.priors.slope[k] = d
				}
				if c := h[k*n+k]; c-c == 0 {
					s.priors.curve[k] = max(c, 0)
				}
			}
			return nil
		}
		for k := range s.before {
			s.x[k] = s.before[k] + (s.x[k]-s.before[k])/2
		}
	}
	return errors.New("the priors are zero where the search begins")
}

// pulled returns derivatives by coordinates of what has these by variables.
func (s *approximation) pulled(row []float64) []float64 {
	out := make([]float64, len(s.x))
	for k, by := range s.slopes {
		out[k] = pull(1, row, by)
	}
	return out
}

// classify finds the kinds of coordinates: by derivatives at some random effects, at x and at another point.
func (s *approximation) classify(ctx context.Context) error {
	const sets, far = 3, 0.02
	n := len(s.x)
	s.kinds = make([]kind, n)
	spreads, moves := make([]bool, n), make([]bool, n)
	begin := slices.Clone(s.x)
	size := s.p.sizes(s.x)
	b := s.p.bounds()
	var ties [2][]*tie
	var at [2][]float64
	for side := range at {
		if side == 1 {
			for k := range s.x {
				if s.x[k] += float64(far * size[k]); s.x[k] > b.Hi[k] {
					s.x[k] = begin[k] - float64(far*size[k])
				}
				s.x[k] = min(max(s.x[k], b.Lo[k]), b.Hi[k])
			}
			if err := s.move(ctx); err != nil {
				return err
			}
		}
		at[side] = slices.Clone(s.x)
		ties[side] = make([]*tie, len(s.chains))
		if err := s.each(func(j *odes.Joint, c *drawing) error {
			t, err := s.tied(ctx, j, c, sets)
			ties[side][c.number] = t
			return err
		}); err != nil {
			return err
		}
		for i, c := range s.chains {
			for k := range n {
				for _, d := range c.slopesOf(s, k) {
					spreads[k] = spreads[k] || d != 0
				}
				moves[k] = moves[k] || ties[side][i].moves[k]
			}
		}
	}
	for k := range n {
		switch {
		case spreads[k] && !moves[k]:
			s.kinds[k] = ofSpread
		case moves[k] && !spreads[k] && s.linear(k, ties, at):
			s.kinds[k] = ofCentre
		case moves[k] || spreads[k] || s.priors.slope[k] != 0 || s.priors.curve[k] != 0:
			s.kinds[k] = ofOthers
		}
	}
	s.x = begin
	return s.move(ctx)
}

// tie is how the coordinates move the likelihood of one subject as its random effects do.
type tie struct {
	moves  []bool    // whether a coordinate does anything
	effect []int     // as which random effect it does; -1 for none
	by     []float64 // times what
}

// tied finds how, from derivatives at some random effects.
func (s *approximation) tied(ctx context.Context, j *odes.Joint, c *drawing, sets int) (*tie, error) {
	const same = 1e-5
	n := len(s.x)
	t := &tie{moves: make([]bool, n), effect: slices.Repeat([]int{-1}, n), by: make([]float64, n)}
	random := elem.NewRand(uint64(c.number) + 17)
	var effects, coords [][]float64
	for range sets {
		eta := make([]float64, c.m)
		for k := range eta {
			eta[k] = float64(0.5 * math.Sqrt(c.of.Omega[k*c.m+k]) * random.Norm())
		}
		_, g, err := j.Likelihood(ctx, c.number, eta)
		if err != nil {
			if j.Failed(c.number, err) {
				continue
			}
			return nil, err
		}
		effects, coords = append(effects, g[:c.m]), append(coords, s.pulled(g[c.m:]))
	}
	for k := range n {
		largest := 0.0
		for _, g := range coords {
			largest = max(largest, math.Abs(g[k]))
		}
		if t.moves[k] = largest > 0; !t.moves[k] {
			continue
		}
		for e := range c.m {
			// by least squares over the sets
			up, down := 0.0, 0.0
			for i := range effects {
				up += float64(effects[i][e] * coords[i][k])
				down += float64(effects[i][e] * effects[i][e])
			}
			by := up / down
			off := 0.0
			for i := range effects {
				off = max(off, math.Abs(coords[i][k]-float64(by*effects[i][e])))
			}
			if down > 0 && off <= same*largest && len(effects) > 1 {
				t.effect[k], t.by[k] = e, by
				break
			}
		}
	}
	return t, nil
}

// linear reports whether coordinate k moves predictions as random effects do, in all subjects and at both points: by
// the same factors, or in its logarithm. It then notes the factors.
func (s *approximation) linear(k int, ties [2][]*tie, at [2][]float64) bool {
	const same = 1e-4
	plain, logs := true, at[0][k] > 0 && at[1][k] > 0 && !s.p.coords[k].log
	for i := range s.chains {
		a, b := ties[0][i], ties[1][i]
		if a.moves[k] != b.moves[k] || a.effect[k] != b.effect[k] || a.moves[k] && a.effect[k] < 0 {
			return false
		}
		if !a.moves[k] {
			continue
		}
		u, v := a.by[k], b.by[k]
		plain = plain && math.Abs(u-v) <= same*math.Abs(u)
		u, v = float64(u*at[0][k]), float64(v*at[1][k])
		logs = logs && math.Abs(u-v) <= same*math.Abs(u)
	}
	if !plain && !logs {
		return false
	}
	s.logs[k] = !plain
	for i, c := range s.chains {
		if t := ties[0][i]; t.moves[k] {
			c.by[t.effect[k]*len(s.x)+k] = t.by[k]
			if s.logs[k] {
				c.by[t.effect[k]*len(s.x)+k] = float64(t.by[k] * at[0][k])
			}
		}
	}
	return true
}

// run makes the iterations.
func (s *approximation) run(ctx context.Context) error {
	for s.iteration = range burnIn + smoothing {
		if err := ctx.Err(); err != nil {
			return err
		}
		gain := 1.0
		if after := s.iteration - burnIn; after >= 0 {
			gain = elem.Pow(float64(after+1), -0.8)
		}
		if err := s.each(func(j *odes.Joint, c *drawing) error { return c.draw(ctx, j, s, gain) }); err != nil {
			return err
		}
		s.centres()
		s.spreads()
		s.others(gain)
		if err := s.move(ctx); err != nil {
			return err
		}
	}
	return nil
}

// those returns the coordinates of a kind.
func (s *approximation) those(of kind) (list []int) {
	for k := range s.kinds {
		if s.kinds[k] == of {
			list = append(list, k)
		}
	}
	return list
}

// step adds to a coordinate, within its bounds. It returns what was added, on the scale of its linear model.
func (s *approximation) step(k int, by float64) float64 {
	b, from := s.p.bounds(), s.x[k]
	if s.logs[k] {
		s.x[k] = min(max(float64(from*elem.Exp(by)), b.Lo[k]), b.Hi[k])
		return elem.Log(s.x[k] / from)
	}
	s.x[k] = min(max(from+by, b.Lo[k]), b.Hi[k])
	return s.x[k] - from
}

// centres moves what random effects are centred by to the maximum of their density, and them the other way.
func (s *approximation) centres() {
	list := s.those(ofCentre)
	n, w := len(list), len(s.x)
	if n == 0 {
		return
	}
	h, g := make([]float64, n*n), make([]float64, n)
	for _, c := range s.chains {
		for a, k := range list {
			pull := make([]float64, c.m) // inverse·by
			for i := range c.m {
				for j := range c.m {
					pull[i] += float64(c.of.Inverse[i*c.m+j] * c.by[j*w+k])
				}
				g[a] += float64(pull[i] * c.mean[i])
			}
			for b, o := range list {
				for i := range c.m {
					h[a*n+b] += float64(pull[i] * c.by[i*w+o])
				}
			}
		}
	}
	for a, k := range list {
		by := 1.0
		if s.logs[k] {
			by = s.x[k]
		}
		g[a] -= float64(by * s.priors.slope[k])
		h[a*n+a] += float64(by * by * s.priors.curve[k])
	}
	inverse := invert(h, n)
	if inverse == nil { // covariates do not tell them apart
		return
	}
	moved := make([]float64, w)
	for a, k := range list {
		by := 0.0
		for b := range list {
			by += float64(inverse[a*n+b] * g[b])
		}
		moved[k] = s.step(k, by)
	}
	for _, c := range s.chains {
		v := make([]float64, c.m)
		for i := range v {
			for _, k := range list {
				v[i] += float64(c.by[i*w+k] * moved[k])
			}
		}
		c.shift(v)
	}
}

// spreads moves what the distributions follow from, by Fisher's scoring.
func (s *approximation) spreads() {
	const shrink, grow = -0.1, 0.5 // at most, relative
	list := s.those(ofSpread)
	n := len(list)
	if n == 0 {
		return
	}
	h, g := make([]float64, n*n), make([]float64, n)
	for _, c := range s.chains {
		m := c.m
		var scaled [][]float64 // inverse·slopes of Omega
		for a, k := range list {
			d := c.slopesOf(s, k)
			scaled = append(scaled, times(c.of.Inverse, d, m))
			rest := times(scaled[a], c.of.Inverse, m)
			for i := range m {
				g[a] += float64(scaled[a][i*m+i] / 2)
				for j := range m {
					g[a] -= float64(rest[i*m+j] * c.second[j*m+i] / 2)
				}
			}
		}
		for a := range list {
			for b := range list {
				for i := range m {
					for j := range m {
						h[a*n+b] += float64(scaled[a][i*m+j] * scaled[b][j*m+i] / 2)
					}
				}
			}
		}
	}
	for a, k := range list {
		g[a] += s.priors.slope[k]
		h[a*n+a] += s.priors.curve[k]
	}
	inverse := invert(h, n)
	if inverse == nil {
		return
	}
	size := s.p.sizes(s.x)
	for a, k := range list {
		by := 0.0
		for b := range list {
			by -= float64(inverse[a*n+b] * g[b])
		}
		lo, hi := float64(shrink*size[k]), float64(grow*size[k])
		if c := &s.p.coords[k]; c.block != nil && c.index[0] != c.index[1] {
			lo = -hi
		}
		s.step(k, min(max(by, lo), hi))
	}
}

// others moves the other coordinates along the gradient of the density of data and random effects, in units of its
// information.
func (s *approximation) others(gain float64) {
	const most = 0.3 // of the size of a coordinate
	list := s.those(ofOthers)
	n, w := len(list), len(s.x)
	if n == 0 {
		return
	}
	g, fresh := make([]float64, n), make([]float64, n*n)
	for _, c := range s.chains {
		for a, k := range list {
			g[a] += c.score[k]
			for b, o := range list {
				fresh[a*n+b] += c.scores[k*w+o]
			}
		}
	}
	part := max(gain, 0.05)
	if s.iteration > 0 && s.iteration < burnIn {
		part = 0.2
	}
	if s.iteration == 0 {
		part = 1
	}
	h := make([]float64, n*n)
	for a, k := range list {
		for b, o := range list {
			s.scores[k*w+o] += float64(part * (fresh[a*n+b] - s.scores[k*w+o]))
			h[a*n+b] = s.scores[k*w+o]
		}
		h[a*n+a] *= 1 + 1e-6
	}
	size := s.p.sizes(s.x)
	for a, k := range list {
		g[a] += s.priors.slope[k]
		if h[a*n+a] += s.priors.curve[k]; h[a*n+a] == 0 { // nothing but priors, which do not bend there
			h[a*n+a] = max(math.Abs(g[a])/(most*size[k]), 1)
		}
	}
	inverse := invert(h, n)
	if inverse == nil {
		return
	}
	for a, k := range list {
		by := 0.0
		for b := range list {
			by -= float64(gain * inverse[a*n+b] * g[b])
		}
		s.step(k, min(max(by, -most*size[k]), most*size[k]))
	}
}
