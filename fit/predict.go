package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"odes.dev/odes"
)

// PredictionOf returns row k of g, without a standard error.
func PredictionOf(g *odes.Compared, k int) Prediction {
	sd, residual := scatter(g, k)
	if !g.Measured(k) {
		residual = math.NaN()
	}
	return Prediction{
		Experiment: g.Experiment, Observation: g.Observation, Unit: g.Unit,
		T: g.T[k], Data: g.Data[k], Side: g.Side[k],
		Value: g.Prediction.Values[k], Error: math.NaN(), Scatter: sd, Residual: residual,
	}
}

// ErrNoData says that a model has no data to compare with.
var ErrNoData = errors.New("the model compares nothing with data; add: data D { … }, observe y = … ~ " +
	"normal(sd) from D.y and objective loss = nll()")

// Predict compares a model with its data as it stands, row by row.
func Predict(ctx context.Context, m *odes.Model, opts odes.Options) ([]Prediction, error) {
	opts.Wrt = []string{}
	c, err := m.CompareAll(opts)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, ErrNoData
	}
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	var list []Prediction
	for i := range c.Groups {
		for k := range c.Groups[i].T {
			list = append(list, PredictionOf(&c.Groups[i], k))
		}
	}
	return list, nil
}

// Data returns the values of the data that a model is compared with.
func Data(m *odes.Model, opts odes.Options) ([]float64, error) {
	opts.Wrt = []string{}
	c, err := m.CompareAll(opts)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, ErrNoData
	}
	var list []float64
	for i := range c.Groups {
		list = append(list, c.Groups[i].Data...)
	}
	return list, nil
}

// Likelihood returns the negative log likelihood of the data of a model as it stands, and how many rows they have: what
// NLL and Rows of a Result are at its estimates.
func Likelihood(ctx context.Context, m *odes.Model, opts odes.Options) (nll float64, rows int, err error) {
	if names := m.RandomEffects(); len(names) > 0 {
		return math.NaN(), 0, fmt.Errorf("the model has random effects (%s): its likelihood is an integral, which "+
			"odes sens and odes fit compute", strings.Join(names, ", "))
	}
	opts.Wrt = []string{}
	c, err := m.CompareAll(opts)
	if err != nil {
		return math.NaN(), 0, err
	}
	if c == nil {
		return math.NaN(), 0, ErrNoData
	}
	if err := c.Run(ctx); err != nil {
		return math.NaN(), 0, err
	}
	for i := range c.Groups {
		for k := range c.Groups[i].T {
			t := rowOf(&c.Groups[i], k)
			nll += t.square*t.square/2 + t.rest
			rows++
		}
	}
	return nll, rows, nil
}

// Identification says which params the data of a model can tell, near the values in it.
type Identification struct {
	Estimates    []Estimate // with the standard errors that a fit would have if these were its estimates
	Unidentified []Combination
	// Condition is the ratio of the largest and the least singular value of the derivatives of the residuals, each
	// column of which has length 1.
	Condition float64
	Rows      int
}

// Identify finds out which params the data of a model can tell, by the Fisher information at the values in the model:
// it needs no search, and speaks for the neighbourhood of these values alone.
func Identify(ctx context.Context, m *odes.Model, opts Options) (*Identification, error) {
	p, err := newProblem(ctx, m, opts)
	if err != nil {
		return nil, err
	}
	if !p.squares {
		return nil, errors.New("the objective of the fit is not a likelihood of data: there is nothing that data tell")
	}
	e, err := p.borrow()
	if err != nil {
		return nil, err
	}
	min := &minimum{x: p.start, factor: 1, at: make([]int, len(p.start))}
	p.settings.Intervals = "none"
	p.settings.Scatter = "known"
	var out Result
	if err := p.inform(ctx, e, min, &out); err != nil {
		return nil, err
	}
	p.estimates(min, &out)
	id := &Identification{Estimates: out.Estimates, Unidentified: out.Unidentified}
	for i := range e.comparison.Groups {
		id.Rows += len(e.comparison.Groups[i].T)
	}
	values := min.fisher.values
	id.Condition = math.Inf(1)
	if last := values[len(values)-1]; last > 0 && len(values) == min.fisher.free {
		id.Condition = values[0] / last
	}
	return id, nil
}
