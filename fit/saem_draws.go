package fit

import (
	"context"
	"math"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
)

// drawing draws the random effects of one subject, given its data and the params: some sets of them, each by
// Metropolis's algorithm with three kinds of proposals, from the distribution of the effects, along single ones, and
// along all as they vary together.
type drawing struct {
	number, m int
	random    *elem.Rand
	sets      [][]float64 // of random effects
	values    []float64   // of the negative log likelihood of the data
	of        *odes.Distribution
	by        []float64 // how the linear models of coordinates move the effects, [m][coordinates]

	steps []float64 // of proposals along single effects, in standard deviations of the distribution
	wide  float64   // of proposals along all

	mean, second []float64 // averages of the effects and of their products
	score        []float64 // of the density of data and random effects by coordinates, the mean over sets
	scores       []float64 // of products of these
}

func newDrawing(name string, number, m, sets, coords int, seed uint64, search int) *drawing {
	const odd = 0x9e3779b97f4a7c15
	h := (seed*odd + uint64(search)) * odd
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	c := &drawing{
		number: number, m: m, random: elem.NewRand(h), by: make([]float64, m*coords),
		steps: slices.Repeat([]float64{0.5}, m), wide: 0.5, mean: make([]float64, m), second: make([]float64, m*m),
		score: make([]float64, coords), scores: make([]float64, coords*coords), values: make([]float64, sets),
	}
	for range sets {
		c.sets = append(c.sets, make([]float64, m))
	}
	return c
}

// slopesOf returns those of the covariances of the effects by a coordinate.
func (c *drawing) slopesOf(s *approximation, k int) []float64 {
	out := make([]float64, c.m*c.m)
	for i := range out {
		out[i] = pull(1, c.of.Slopes[i*s.told:(i+1)*s.told], s.slopes[k])
	}
	return out
}

// half returns the part of the density of the effects that they change.
func (c *drawing) half(eta []float64) float64 {
	sum := 0.0
	for i := range c.m {
		for j := range c.m {
			sum += float64(eta[i] * c.of.Inverse[i*c.m+j] * eta[j] / 2)
		}
	}
	return sum
}

// draw moves all sets, and averages what they tell.
func (c *drawing) draw(ctx context.Context, j *odes.Joint, s *approximation, gain float64) error {
	const many = 5 // rounds at the beginning
	rounds := 1
	if s.iteration == 0 {
		rounds = many
	}
	value := func(eta []float64) (float64, error) {
		v, err := j.Data(ctx, c.number, eta)
		if err != nil && !j.Failed(c.number, err) {
			return 0, err
		}
		if err != nil || v-v != 0 {
			return math.Inf(1), nil
		}
		return v, nil
	}
	for l, eta := range c.sets {
		var err error
		if c.values[l], err = value(eta); err != nil {
			return err
		}
		for range rounds {
			if err := c.proposals(l, s.iteration, value); err != nil {
				return err
			}
		}
	}
	return c.average(ctx, j, s, gain)
}

// proposals makes one of each kind to set l.
func (c *drawing) proposals(l, iteration int, value func(eta []float64) (float64, error)) error {
	m := c.m
	// try goes to eta where that is as likely as chance has it. prior is half of the density at the two points.
	try := func(eta []float64, before, after float64) (bool, error) {
		v, err := value(eta)
		if err != nil {
			return false, err
		}
		u := c.random.Float64()
		if !(v+after < c.values[l]+before-elem.Log(u)) {
			return false, nil
		}
		c.sets[l], c.values[l] = eta, v
		return true, nil
	}
	// adapted is a step that is made longer or shorter, less and less.
	adapted := func(step float64, accepted bool) float64 {
		const wanted = 0.35
		by := -wanted
		if accepted {
			by = 1 - wanted
		}
		by *= min(0.5, 3/math.Sqrt(float64(len(c.sets)*(iteration+1))))
		return min(max(float64(step*elem.Exp(by)), 1e-6), 1e3)
	}
	drawn := make([]float64, m)
	z := make([]float64, m)
	for i := range z {
		z[i] = c.random.Norm()
	}
	for i := range m {
		for k := range i + 1 {
			drawn[i] += float64(c.of.Root[i*m+k] * z[k])
		}
	}
	if _, err := try(drawn, 0, 0); err != nil {
		return err
	}
	for k := range m {
		eta := slices.Clone(c.sets[l])
		eta[k] += float64(c.steps[k] * math.Sqrt(c.of.Omega[k*m+k]) * c.random.Norm())
		ok, err := try(eta, c.half(c.sets[l]), c.half(eta))
		if err != nil {
			return err
		}
		c.steps[k] = adapted(c.steps[k], ok)
	}
	if m == 1 {
		return nil
	}
	// The difference of two sets, or of a set and the mean, is a direction in which effects vary together.
	eta, from := slices.Clone(c.sets[l]), c.sets[(l+1)%len(c.sets)]
	to := c.mean
	if len(c.sets) > 2 {
		to = c.sets[(l+2)%len(c.sets)]
	}
	u := c.random.Norm()
	for k := range m {
		along := from[k] - to[k]
		if len(c.sets) == 1 {
			along = float64(math.Sqrt(c.of.Omega[k*m+k]) * c.random.Norm())
		}
		eta[k] += float64(c.wide * u * along)
	}
	ok, err := try(eta, c.half(c.sets[l]), c.half(eta))
	if err != nil {
		return err
	}
	c.wide = adapted(c.wide, ok)
	return nil
}

// average moves averages towards what the sets tell.
func (c *drawing) average(ctx context.Context, j *odes.Joint, s *approximation, gain float64) error {
	m, n := c.m, float64(len(c.sets))
	mean, second := make([]float64, m), make([]float64, m*m)
	clear(c.score)
	clear(c.scores)
	for _, eta := range c.sets {
		for i := range m {
			mean[i] += eta[i] / n
			for k := range m {
				second[i*m+k] += float64(eta[i]*eta[k]) / n
			}
		}
		if !slices.Contains(s.kinds, ofOthers) {
			continue
		}
		_, g, err := j.Likelihood(ctx, c.number, eta)
		if err != nil {
			if j.Failed(c.number, err) {
				continue
			}
			return err
		}
		by := s.pulled(g[m:])
		for k := range by {
			if s.kinds[k] == ofOthers {
				by[k] += c.byDistribution(s, eta, k)
			}
		}
		for a := range by {
			c.score[a] += by[a] / n
			for b := range by {
				c.scores[a*len(by)+b] += float64(by[a]*by[b]) / n
			}
		}
	}
	for i := range mean {
		c.mean[i] += float64(gain * (mean[i] - c.mean[i]))
	}
	for i := range second {
		c.second[i] += float64(gain * (second[i] - c.second[i]))
	}
	return nil
}

// byDistribution is the derivative of the density of random effects by a coordinate.
func (c *drawing) byDistribution(s *approximation, eta []float64, k int) (sum float64) {
	m := c.m
	d := c.slopesOf(s, k)
	if !slices.ContainsFunc(d, func(x float64) bool { return x != 0 }) {
		return 0
	}
	scaled := times(c.of.Inverse, d, m)
	rest := times(scaled, c.of.Inverse, m)
	for i := range m {
		sum += float64(scaled[i*m+i] / 2)
		for j := range m {
			sum -= float64(rest[i*m+j] * eta[i] * eta[j] / 2)
		}
	}
	return sum
}

// shift moves all random effects by -v, where the params took v over.
func (c *drawing) shift(v []float64) {
	m := c.m
	for i := range m {
		for k := range m {
			c.second[i*m+k] += float64(v[i]*v[k]) - float64(v[i]*c.mean[k]) - float64(c.mean[i]*v[k])
		}
	}
	for i := range m {
		c.mean[i] -= v[i]
		for _, eta := range c.sets {
			eta[i] -= v[i]
		}
	}
}
