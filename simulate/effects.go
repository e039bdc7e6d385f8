package simulate

import (
	"context"
	"math"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/sample"
)

// Effects draws the random effects of an experiment: independent normal numbers, each from a place of its own by the
// names of the experiment and of the effect, times the root of their covariances.
func Effects(of *odes.Effects, seed uint64, replicate int) ([]float64, error) {
	normal, err := sample.NewDist("normal", []float64{0, 1}, math.Inf(-1), math.Inf(1))
	if err != nil {
		return nil, err
	}
	m := len(of.Elements)
	z := make([]float64, m)
	for i, name := range of.Elements {
		z[i] = normal.Quantile(Uniform(seed, replicate, "random\x00"+name+"\x00"+of.Experiment, 0))
	}
	out := make([]float64, m)
	for i := range out {
		for k := range i + 1 {
			out[i] += float64(of.Root[i*m+k] * z[k])
		}
	}
	return out, nil
}

// Place gives the random effects of an experiment values for runs to come.
func Place(c *odes.Comparison, of *odes.Effects, values []float64) error {
	var set []odes.Assignment
	of.Each(values, func(name string, v []float64) {
		set = append(set, odes.Assignment{Name: name, Values: slices.Clone(v)})
	})
	return c.SetIn(of.Experiment, set...)
}

// subjects draws the random effects of all experiments for the run of a replicate.
func (j *job) subjects(ctx context.Context, c *odes.Comparison, replicate int) (list []Drawn, err error) {
	if !j.random {
		return nil, nil
	}
	effects := j.effects
	if j.settings.Prior { // their distributions follow from what was drawn
		for i := range effects {
			if err := Place(c, &effects[i], make([]float64, len(effects[i].Elements))); err != nil {
				return nil, err
			}
		}
		if effects, err = c.Effects(ctx); err != nil {
			return nil, err
		}
	}
	for i := range effects {
		values, err := Effects(&effects[i], j.settings.Seed, replicate)
		if err != nil {
			return nil, err
		}
		if err := Place(c, &effects[i], values); err != nil {
			return nil, err
		}
		list = append(list, Drawn{effects[i].Experiment, values})
	}
	return list, nil
}

// assign finds out of which subject each row of the table is: that of its observations. Rows that are not observed,
// such as those of doses, have "".
func (j *job) assign(c *odes.Comparison, out *Result) {
	if !j.random {
		return
	}
	out.EffectNames = j.effects[0].Elements
	out.Subject = make([]string, j.rows)
	for i := range c.Groups {
		if g := &c.Groups[i]; g.Table.Name == j.table {
			for _, row := range g.Row {
				out.Subject[row] = g.Experiment
			}
		}
	}
}
