package simulate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/sample"
	"odes.dev/odes/lang/keys"
)

// readPriors lists what is drawn: params with priors that the options do not set.
func (j *job) readPriors() error {
	waiting := slices.Concat(j.model.Priors(), odes.MatrixPriors(j.model))
	if len(waiting) == 0 {
		return errors.New("there is nothing to draw by --prior: no param has a prior; write param k = 1 ~ " +
			"lognormal(0, 1)")
	}
	waiting = slices.DeleteFunc(waiting, func(d odes.Draw) bool {
		return slices.ContainsFunc(j.opts.Set, func(a odes.Assignment) bool { return a.Name == d.Name })
	})
	for len(waiting) > 0 { // those first that others depend on
		at := slices.IndexFunc(waiting, func(d odes.Draw) bool {
			return !slices.ContainsFunc(d.Of, func(name string) bool {
				return slices.ContainsFunc(waiting, func(o odes.Draw) bool { return o.Name == name })
			})
		})
		if at < 0 {
			return errors.New("priors depend on one another in a circle")
		}
		j.priors = append(j.priors, waiting[at])
		waiting = slices.Delete(waiting, at, at+1)
	}
	// What others follow from can be set from run to run only where the options set it, too.
	symbols, err := j.model.Symbols(j.opts.Set)
	if err != nil {
		return err
	}
	for _, d := range j.priors {
		for _, s := range symbols {
			if s.Kind == "param" && s.Name == d.Name {
				j.opts.Set = append(slices.Clip(j.opts.Set), odes.Assignment{Name: d.Name, Values: s.Values})
			}
		}
	}
	return nil
}

// params draws the params of a replicate.
func (j *job) params(replicate int) (set []odes.Assignment, list []Param, err error) {
	base := slices.Clone(j.opts.Set)
	var symbols []odes.Symbol
	known := -1 // so many priors were drawn when the symbols were read
	find := func(name string) *odes.Symbol {
		at := slices.IndexFunc(symbols, func(s odes.Symbol) bool { return s.Kind == "param" && s.Name == name })
		return &symbols[at]
	}
	for i := range j.priors {
		d := &j.priors[i]
		if known < 0 || len(d.Of) > 0 && known < i {
			if symbols, err = j.model.Symbols(append(slices.Clip(base), set...)); err != nil {
				return nil, nil, err
			}
			known = i
		}
		s := find(d.Name)
		each := d.Each(func(name string) []float64 { return find(name).Values })
		values := make([]float64, len(s.Values))
		if d.Blocks != nil {
			if values, err = j.matrix(d, each, s.Values, replicate); err != nil {
				return nil, nil, fmt.Errorf("the prior of %s: %w", d.Name, err)
			}
			for k, v := range values {
				list = append(list, Param{s.Element(k), v})
			}
			set = append(set, odes.Assignment{Name: d.Name, Values: values})
			continue
		}
		for k := range values {
			one := d
			if each != nil {
				one = &each[k]
			}
			name := s.Element(k)
			dist, err := sample.NewDist(one.Dist, one.Args, one.Lo, one.Hi)
			if err != nil {
				return nil, nil, fmt.Errorf("the prior of %s: %w", name, err)
			}
			values[k] = dist.Quantile(Uniform(j.settings.Seed, replicate, "prior\x00"+d.Name, k))
			if math.IsInf(values[k], 0) {
				return nil, nil, fmt.Errorf("the prior of %s gives a number that is too large", name)
			}
			list = append(list, Param{name, values[k]})
		}
		set = append(set, odes.Assignment{Name: d.Name, Values: values})
	}
	return set, list, nil
}

// matrix draws the correlations of a matrix of covariances, block by block: zeros between blocks stay, and so do the
// standard deviations of its present values.
func (j *job) matrix(d *odes.Draw, each []odes.Draw, now []float64, replicate int) ([]float64, error) {
	eta := d.Args
	if each != nil {
		eta = each[0].Args
	}
	n := int(math.Sqrt(float64(len(now))))
	out := slices.Clone(now)
	for _, block := range d.Blocks {
		r, err := sample.Correlations(len(block), eta[0], func(a, b int) float64 {
			return Uniform(j.settings.Seed, replicate, "prior\x00"+d.Name, block[a]*n+block[b])
		})
		if err != nil {
			return nil, err
		}
		for a, i := range block {
			for b, k := range block {
				if a != b {
					out[i*n+k] = float64(r[a*len(block)+b] * math.Sqrt(now[i*n+i]) * math.Sqrt(now[k*n+k]))
				}
			}
		}
	}
	return out, nil
}

// Priors draws all params with priors n times, as replicates with --prior have them; none where there is no prior. What
// a prior gives that is too large for a number, as heavy tails may, is left out.
func Priors(m *odes.Model, opts odes.Options, n int, seed uint64) (list [][]Param, err error) {
	if len(m.Priors())+len(odes.MatrixPriors(m)) == 0 {
		return nil, nil
	}
	j := &job{model: m, opts: opts, settings: keys.Simulate{Seed: seed}}
	if err := j.readPriors(); err != nil {
		return nil, err
	}
	for k := range n {
		_, params, e := j.params(k)
		if e != nil {
			err = e
			continue
		}
		list = append(list, params)
	}
	if len(list) > 0 {
		err = nil
	}
	return list, err
}
