package repl

import (
	"context"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// Fitted is a model that was fitted, and a session in it: what pictures need to draw the course between data. Without a
// session, predictions are joined by lines.
type Fitted struct {
	Model   *odes.Model
	Session *Session
}

// coursePoints is about how many times a course has.
const coursePoints = 400

// courses are the runs of a fit's observations at the estimates.
type courses struct {
	ctx   context.Context
	of    Fitted
	set   []odes.Assignment
	known map[string]map[string]*curves // by observation and experiment
}

func (f Fitted) courses(ctx context.Context, r *fit.Result) *courses {
	return &courses{ctx, f, r.Assignments(), map[string]map[string]*curves{}}
}

// curve returns an observed expression over time, in the run of an experiment, "" for that without any; nothing where
// it is not known.
func (c *courses) curve(experiment, observation string) (t, y []float64) {
	if c.of.Session == nil {
		return nil, nil
	}
	runs, known := c.known[observation]
	if !known {
		runs = c.run(observation)
		c.known[observation] = runs
	}
	if k := runs[experiment]; k != nil && k.size() == 1 {
		return k.T, k.Values
	}
	return nil, nil
}

// run runs all experiments of an observation. Where one fails, which the fit tells of, there is no course.
func (c *courses) run(observation string) map[string]*curves {
	s := c.of.Session
	now, scope := s.now, s.scope
	defer func() { s.now, s.scope = now, scope }()
	s.scope.only, s.scope.unchanged = nil, false
	s.now.set = slices.Clone(now.set)
	for _, a := range c.set {
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
