package run

import (
	"context"
	"errors"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/population"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/result"
)

// The comparisons of a model with random effects also know how these are distributed, at the params of a run. What
// draws them, or asks what predictions and residuals are with and without them, sets them experiment by experiment.

// SetIn gives random effects values for the runs of one experiment to come.
func (c *Comparison) SetIn(experiment string, set ...compiled.Override) error {
	for _, p := range c.parts {
		if p.name != experiment {
			continue
		}
		if err := p.runner.Set(set...); err != nil {
			return (&Experiment{Name: p.name}).wrapUnless(p.name == "", err)
		}
	}
	return nil
}

// Effects runs the model and returns how the random effects of every experiment are distributed.
func (c *Comparison) Effects(ctx context.Context) ([]result.Effects, error) {
	if err := c.Run(ctx); err != nil && !errors.Is(err, ErrNoValue) {
		return nil, err
	}
	var list []result.Effects
	for _, p := range c.parts {
		of := result.Effects{Experiment: p.name}
		randoms := p.runner.model.Checked.Randoms
		for _, e := range randoms {
			for i := range e.Sym.Type.Shape.Size() {
				of.Elements = append(of.Elements, compiled.ElementName(e.Sym.Name, e.Sym.Type.Shape, i))
			}
			of.Names = append(of.Names, e.Sym.Name)
			of.Sizes = append(of.Sizes, e.Sym.Type.Shape.Size())
		}
		var values []float64
		for _, v := range p.runner.out.Values {
			values = append(values, v.Value)
		}
		m, all := len(of.Elements), 0
		for _, e := range randoms {
			all += max(1, e.Scale.Type().Shape.Size())
		}
		values = values[len(values)-all:]
		of.Omega = make([]float64, m*m)
		offset := 0
		given := map[*model.Random][]float64{}
		for _, e := range randoms {
			size := max(1, e.Scale.Type().Shape.Size())
			single := len(e.Scale.Type().Shape) == 0
			if !e.Matrix && slices.ContainsFunc(values[:size], func(sd float64) bool { return !(sd >= 0) }) {
				return nil, singular(p.name, e, values[:size])
			}
			given[e] = values[:size]
			occasions := max(1, len(e.Entries))
			n := e.Sym.Type.Shape.Size() / occasions
			for range occasions { // all have the same covariances
				for i := range n {
					at := (offset+i)*m + offset
					switch {
					case e.Matrix:
						for j := range n { // made symmetric, as the integral has it
							of.Omega[at+j] = float64(0.5 * (values[i*n+j] + values[j*n+i]))
						}
					case single:
						of.Omega[at+i] = float64(values[0] * values[0])
					default:
						of.Omega[at+i] = float64(values[i] * values[i])
					}
				}
				offset += n
			}
			values = values[size:]
		}
		var ok bool
		if of.Root, ok = population.Root(of.Omega, m); !ok {
			for _, e := range randoms {
				if e.Matrix && undistributed(e, given[e]) != "" {
					return nil, singular(p.name, e, given[e])
				}
			}
			return nil, singular(p.name, randoms[0], given[randoms[0]])
		}
		list = append(list, of)
	}
	return list, nil
}

func singular(experiment string, e *model.Random, values []float64) error {
	var l diag.List
	at := e.Span
	if experiment != "" {
		at = source.Span{}
	}
	why := undistributed(e, values)
	if why == "" {
		why = (&population.SingularError{}).Error()
	}
	l.Errorf(CodePopulation, at, "%s", why)
	return (&Experiment{Name: experiment}).wrapUnless(experiment == "", l.Err())
}
