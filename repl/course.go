package repl

import (
	"context"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/analysis"
)

// coursePoints is about how many times a course has.
const coursePoints = 400

// courses are the runs of observations with values that an analysis found.
type courses struct {
	*Session
	ctx   context.Context
	found []odes.Assignment
	known map[string]map[string]*curves // by observation and experiment
}

// About returns what pictures of a result may show of m, the model of session s, with the values that the result found.
func About(ctx context.Context, s *Session, m *odes.Model, found []odes.Assignment) *analysis.About {
	c := &courses{s, ctx, found, map[string]map[string]*curves{}}
	return &analysis.About{
		Info: m.Info(), Course: c.curve,
		Data: func() ([]fit.Prediction, error) {
			o := s.options()
			for _, a := range found {
				o.Set = with(o.Set, a.Name, a.Values)
			}
			return fit.Predict(ctx, m, o)
		},
		With: func(found []odes.Assignment) *analysis.About { return About(ctx, s, m, found) },
	}
}

// curve returns an observed expression over time, in the run of an experiment, "" for that without any; nothing where
// it is not known.
func (c *courses) curve(experiment, observation string) (t, y []float64) {
	runs, known := c.known[observation]
	if !known {
		runs = c.runs(observation)
		c.known[observation] = runs
	}
	if k := runs[experiment]; k != nil && k.size() == 1 {
		return k.T, k.Values
	}
	return nil, nil
}

// runs runs all experiments of an observation. Where one fails, which the result tells of, there is no course.
func (c *courses) runs(observation string) map[string]*curves {
	s := c.Session
	now, scope := s.now, s.scope
	defer func() { s.now, s.scope = now, scope }()
	s.scope.only, s.scope.unchanged = nil, false
	s.now.set = slices.Clone(now.set)
	for _, a := range c.found {
		s.now.set = with(s.now.set, a.Name, a.Values)
	}
	names, lists, err := s.everywhere(c.ctx, observation, coursePoints)
	if err != nil {
		return nil
	}
	runs := map[string]*curves{}
	for i, name := range names {
		if len(lists[i]) > 0 {
			runs[name] = lists[i][0]
		}
	}
	return runs
}
