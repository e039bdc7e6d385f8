package posterior

import (
	"math"

	"odes.dev/odes"
)

// Middle returns the draw that is nearest to the medians of all params, in standard deviations: one set of values to
// show, which, other than the medians themselves, the posterior has. Random effects do not count. Nil where nothing was
// drawn.
func (r *Result) Middle() (set []odes.Assignment) {
	best, chain, at := math.Inf(1), 0, -1
	for c := range r.Chains {
		for k := range r.Chains[c].Draws() {
			far := 0.0
			for i := range r.Params {
				if p := &r.Params[i]; p.Sd > 0 && p.Subject == "" {
					z := (r.Chains[c].Values[i][k] - p.Median) / p.Sd
					far += float64(z * z)
				}
			}
			if far < best {
				best, chain, at = far, c, k
			}
		}
	}
	if at < 0 {
		return nil
	}
	for i := range r.Params {
		if r.Params[i].Subject != "" {
			continue
		}
		x := r.Chains[chain].Values[i][at]
		if n := len(set); n > 0 && set[n-1].Name == r.Params[i].Name { // elements stand in their order
			set[n-1].Values = append(set[n-1].Values, x)
			continue
		}
		set = append(set, odes.Assignment{Name: r.Params[i].Name, Values: []float64{x}})
	}
	return set
}
