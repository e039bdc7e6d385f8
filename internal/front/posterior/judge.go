package posterior

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/draws"
	"odes.dev/odes/internal/base/elem"
)

// judge summarises the draws.
func (p *problem) judge(r *Result) {
	for i := range p.coords {
		c := &p.coords[i]
		x := r.Column(i)
		a := Param{Name: p.names[c.variable], Index: c.index, Label: c.name, Unit: c.unit, Summary: draws.Summarise(x)}
		a.MCSEQ5, a.MCSEMedian, a.MCSEQ95 = draws.MCSEQuantile(x, 0.05), draws.MCSEQuantile(x, 0.5),
			draws.MCSEQuantile(x, 0.95)
		lost := r.remember(&a.Summary, i)
		a.MCSEQ5, a.MCSEMedian, a.MCSEQ95 = lost*a.MCSEQ5, lost*a.MCSEMedian, lost*a.MCSEQ95
		if c.prior != nil {
			a.Prior = c.prior.Quantile
		}
		r.Params = append(r.Params, a)
	}
	p.random.judge(r, len(p.coords))
	if r.Settings.Method == "nuts" {
		var energies [][]float64
		for k := range r.Chains {
			if r.Chains[k].Draws() > 0 {
				energies = append(energies, r.Chains[k].Energy)
			}
		}
		r.EBFMI = draws.EBFMI(energies)
	}
	p.visits(r)
}

// visits counts the draws around each mode, with their means and standard deviations.
func (p *problem) visits(r *Result) {
	if len(r.Modes) == 0 {
		return
	}
	n := p.size()
	var nearest []int // of each draw
	q := make([]float64, len(p.coords))
	for k := range r.Chains {
		for d := range r.Chains[k].Draws() {
			if len(r.Modes) > 1 {
				for i := range q {
					q[i] = p.coords[i].of(r.Chains[k].Values[i][d])
				}
			}
			nearest = append(nearest, modeOf(r.Modes, q))
		}
	}
	mine := make([]float64, 0, len(nearest)) // one list at a time: there may be many draws
	for m := range r.Modes {
		o := &r.Modes[m]
		o.Mean, o.Sd = make([]float64, n), make([]float64, n)
		for i := range n {
			mine = mine[:0]
			at := 0
			for k := range r.Chains {
				if r.Chains[k].Draws() == 0 { // it was interrupted before it began
					continue
				}
				for _, x := range r.Chains[k].Values[i][:r.Chains[k].Draws()] {
					if nearest[at] == m {
						mine = append(mine, x)
					}
					at++
				}
			}
			x := [][]float64{mine}
			if o.Draws = len(mine); o.Draws == 0 {
				o.Mean[i], o.Sd[i] = nan, nan
				continue
			}
			o.Mean[i], o.Sd[i] = draws.Mean(x), draws.Sd(x)
		}
	}
}

// trust computes some of the draws again, with a tenth of the tolerances.
func (p *problem) trust(ctx context.Context, r *Result) error {
	const many, factor = 200, 0.1
	total := r.Draws()
	n := min(many, total)
	if n < 2 {
		return nil
	}
	runs, err := twins(ctx, p, factor)
	switch {
	case ctx.Err() != nil:
		r.Interrupted = true
		return nil
	case err != nil || runs == nil:
		return err
	}
	at, logs := make([][]float64, n), make([]float64, n)
	to := make([]float64, 1+len(p.constraints))
	for k := range n {
		at[k] = r.draw(k * total / n)
		var l [2]float64
		for i, e := range runs {
			for j := range p.coords {
				c := &p.coords[j]
				e.set[c.variable].Values[c.element] = at[k][j]
			}
			var err error
			if p.random != nil {
				to[0], err = e.dataOf(ctx, at[k])
			} else if err = e.runner.Set(e.set...); err == nil {
				_, err = e.runner.Values(ctx, to)
			}
			if ctx.Err() != nil {
				r.Interrupted = true
				return nil
			}
			if l[i] = to[0]; err != nil {
				l[i] = nan
			}
		}
		logs[k] = l[0] - l[1]
	}
	r.Trust = compared(len(p.coords), at, logs)
	r.Trust.Factor = factor
	return nil
}

// twins are an evaluator, and one whose tolerances are multiplied by factor; nil where there is no such one.
func twins(ctx context.Context, p *problem, factor float64) ([]*evaluator, error) {
	o := p.runOptions().While(ctx)
	coarse, err := p.model.Prepare(o)
	if err != nil {
		return nil, err
	}
	fine, err := p.model.Refined(factor, o)
	if err != nil {
		return nil, nil // a method whose steps cannot be refined
	}
	runs := []*evaluator{p.evaluatorOf(coarse), p.evaluatorOf(fine)}
	if p.random != nil {
		for i, by := range []float64{1, factor} {
			if runs[i].joint, err = p.newJoint(ctx, by); err != nil {
				return nil, err
			}
		}
	}
	return runs, nil
}

// compared is how draws, of which so many numbers count, change by weights, whose logarithms are given; those that are
// no numbers failed.
func compared(numbers int, at [][]float64, logs []float64) *Trust {
	t := &Trust{Draws: len(logs)}
	var weights []float64
	values := make([][]float64, numbers)
	for k, w := range logs {
		if w-w != 0 {
			t.Failed++
			continue
		}
		weights = append(weights, w)
		for j := range values {
			values[j] = append(values[j], at[k][j])
		}
	}
	if len(weights) < 2 {
		t.Sd, t.Shift = nan, nan
		return t
	}
	t.Sd = draws.Sd([][]float64{weights})
	most, sum := slices.Max(weights), 0.0
	for i, w := range weights {
		weights[i] = elem.Exp(w - most)
		sum += weights[i]
	}
	for j := range values {
		mean, sd := draws.Mean(values[j:j+1]), draws.Sd(values[j:j+1])
		moved := 0.0
		for i, x := range values[j] {
			moved += float64(weights[i] / sum * (x - mean))
		}
		if s := math.Abs(moved) / sd; s > t.Shift {
			t.Shift, t.Param = s, j
		}
	}
	return t
}

// partial says that something is not to be trusted, and why.
func (r *Result) partial(format string, args ...any) {
	r.Status = "partial"
	r.warnf(format, args...)
}

// conclude says what the draws are worth, and what to do.
func (p *problem) conclude(r *Result) {
	s := &r.Settings
	total := r.Draws()
	if r.Interrupted {
		r.partial("interrupted: there are %d draws of %d", total, s.Chains*s.Draws)
	}
	methods[s.Method].conclude(p, r)
	r.concludeUnseen()
	r.concludeIntegrals()
	if t := r.Trust; t != nil {
		lead := fmt.Sprintf("with tolerances of a tenth (%d draws computed again)", t.Draws)
		more := fmt.Sprintf("; compute more accurately: --rtol %.1g", p.rtol/10)
		switch {
		case !(t.Sd <= 0.1):
			r.partial("errors of the solver are part of what was drawn: %s, logarithms of densities change by %.2g "+
				"(sd; at most 0.1)%s", lead, t.Sd, more)
		case !(t.Shift <= 0.1):
			r.partial("errors of the solver are part of what was drawn: %s, the mean of %s moves by %.2g sd (at most "+
				"0.1)%s", lead, r.Params[t.Param].Text(), t.Shift, more)
		}
		if t.Failed > 0 {
			r.partial("%d of %d draws have no density %s: their runs fail%s", t.Failed, t.Draws, lead, more)
		}
	}
}

// worth is what R-hat and effective draws say.
type worth struct {
	apart, few, still []string // params
	worst, fewest     float64  // R-hat, and effective draws
}

func (p *problem) worth(r *Result) worth {
	w := worth{worst: 1, fewest: math.Inf(1)}
	for i := range r.Params {
		a := &r.Params[i]
		switch least := min(a.BulkESS, a.TailESS); {
		case math.IsNaN(a.RHat):
			w.still = append(w.still, a.Text())
		case a.RHat >= 1.01:
			w.apart = append(w.apart, a.Text())
			w.worst = max(w.worst, a.RHat)
		case least < float64(50*r.Settings.Chains):
			w.few = append(w.few, a.Text())
			w.fewest = min(w.fewest, least)
		}
	}
	return w
}

// above writes an R-hat with the digits that tell it from the most that is good.
func above(rhat float64) string {
	for digits := 3; ; digits++ {
		if s := strconv.FormatFloat(rhat, 'g', digits, 64); s != "1.01" || digits == 17 {
			return s
		}
	}
}

// concludeFew says which params have too few effective draws.
func (p *problem) concludeFew(r *Result, w *worth) {
	if len(w.few) > 0 {
		r.partial("%s: only %.0f effective draws of %d, too few to rely on; draw more: --sample.draws=%d",
			several(w.few), w.fewest, r.Draws(), p.enough(w.fewest))
	}
	if len(w.still) > 0 && !r.Interrupted {
		r.partial("nothing can be told of %s: draws are too few, or never moved", several(w.still))
	}
}

func (p *problem) concludeChains(r *Result) {
	s, total := &r.Settings, r.Draws()
	w := p.worth(r)
	heavy := r.heavy()
	if len(w.apart) > 0 {
		what := "chains have not come to the same distribution"
		advice := fmt.Sprintf("draw longer (--sample.warmup=%d --sample.draws=%d), and look at what the params that "+
			"differ have in common", 2*s.Warmup, 4*s.Draws)
		if heavy > 1 {
			what = fmt.Sprintf("the posterior has %d modes, and chains do not cross between them", heavy)
			advice = "take the numbers of each mode (modes in the table), not those of all chains together, whose " +
				"shares are an accident; a prior, or an order of the params, may say which mode is meant"
		}
		r.partial("R-hat of %s is up to %s (at most 1.01): %s; %s", several(w.apart), above(w.worst), what, advice)
	} else if heavy > 1 {
		r.notef("the posterior has %d modes, which chains jump between: see modes", heavy)
	}
	for i := heavy; i < len(r.Modes); i++ {
		r.warnf("there is another mode, at %s, with about %.2g of the mass by Laplace's method: no chain began there",
			p.point(r.Modes[i].At), r.Modes[i].Weight)
	}
	if heavy > s.Chains {
		r.warnf("there are %d modes and %d chains: --sample.chains=%d", heavy, s.Chains, 2*heavy)
	}
	p.concludeFew(r, &w)
	if r.Divergences > 0 {
		text := fmt.Sprintf("%s diverged: steps are too long for a part of the posterior, which draws then leave out; "+
			"shorten them (--sample.target=%s), or, where params belong to a population, write them as mu + tau*eta "+
			"with eta ~ normal(0, 1)", ofAll(r.Divergences, total, "trajectory", "trajectories"),
			map[bool]string{true: "0.95", false: "0.99"}[s.Target < 0.9])
		if r.Divergences*1000 > total { // few are enough: what they leave out is wide
			r.partial("%s", text)
		} else {
			r.warnf("%s", text)
		}
	}
	if r.Full > 0 {
		r.warnf("%s took as many steps as it may (2^%d): draws are right, but cost more than they need; "+
			"--sample.metric=dense, a longer warm-up, or --sample.depth=%d", ofAll(r.Full, total, "trajectory",
			"trajectories"), s.Depth, s.Depth+2)
	}
	if low := slices.DeleteFunc(slices.Clone(r.EBFMI), func(x float64) bool { return !(x < 0.3) }); len(low) > 0 {
		r.warnf("E-BFMI is %.2g (at least 0.3): tails are seldom reached; a prior that holds the widths of "+
			"populations, or other coordinates, help", slices.Min(low))
	}
	r.concludeFailures()
	if p.settings.Metric == "hessian" && len(r.Modes) == 0 {
		r.warnf("no mode was found, as with params of a population whose width can be zero: chains learned their " +
			"metric from draws alone, as --sample.metric=dense does")
	}
	r.concludeWalls()
}

// concludeFailures says that runs failed near the draws.
func (r *Result) concludeFailures() {
	failed := 0
	var causes []string
	for _, x := range r.Rejections {
		if !strings.HasPrefix(x.Cause, "constraint ") {
			failed += x.Late
			if x.Late > 0 {
				causes = append(causes, fmt.Sprintf("%s (%d)", x.Cause, x.Late))
			}
		}
	}
	if failed*200 > r.Draws() {
		r.warnf("runs failed near where draws are, and what lies behind is left out: %s; see what odes run says there",
			strings.Join(causes, ", "))
	}
}

// enough is how many draws of each chain give enough effective ones, in round numbers.
func (p *problem) enough(fewest float64) int {
	s := &p.settings
	want := float64(s.Draws) * 100 * float64(s.Chains) / max(fewest, 1)
	size := math.Pow(10, math.Floor(math.Log10(want)))
	return int(math.Ceil(want/size) * size)
}

// point writes where a mode is.
func (p *problem) point(x []float64) string {
	var parts []string
	for i := range x {
		if i < len(p.coords) {
			parts = append(parts, fmt.Sprintf("%s = %.3g", p.coords[i].name, x[i]))
		}
	}
	return several(parts)
}

// ofAll says how many of all.
func ofAll(n, total int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s of %d", one, total)
	}
	return fmt.Sprintf("%d %s of %d", n, many, total)
}
