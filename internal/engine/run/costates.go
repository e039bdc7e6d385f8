package run

import (
	"context"
	"math"

	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
)

// Costates integrates the model and its discrete adjoint, and returns the adjoint states. It ignores
// the mode and the variables of opts.
func (m *Model) Costates(ctx context.Context, setup Setup) (*result.Costates, error) {
	var l diag.List
	setup = setup.With(func(s *settings.Settings) {
		s.Mode, s.Errors, s.Threads = sens.ModeAdjoint, false, 1
	})
	setup.Events, setup.EventTimes, setup.Gradient = 0, false, nil
	r, err := m.PrepareWhile(ctx, setup)
	if err != nil {
		return nil, err
	}
	rows, n := len(r.objectives), m.System.States()
	var times []float64 // descending
	var trace []float64 // [len(times)][rows][n]
	block, at := -1, 0  // the first row of the block that is swept, and its next time
	limit := r.settings.MemoryLimit()
	full := false
	r.trace = func(t float64, first int, lam []float64) {
		if full = full || float64(len(trace)+rows*n)*8 > float64(limit); full {
			return
		}
		if first != block {
			block, at = first, 0
		}
		if first == 0 {
			times = append(times, t)
			trace = append(trace, make([]float64, rows*n)...)
		}
		for j := range min(r.lanes, rows-first) {
			row := trace[(at*rows+first+j)*n:]
			for i := range n {
				row[i] = lam[i*r.lanes+j]
			}
		}
		at++
	}
	defer r.release()
	s, err := r.once(ctx)
	if err != nil {
		return nil, r.refused(err)
	}
	if full {
		l.Errorf(explain.CodeMemory, source.Span{},
			"the adjoint states of %d objectives by %d numbers of the state over %d "+
				"steps need more than memory = %s; choose fewer objectives, or raise solver.memory",
			rows, n, s.Stats.Steps, diag.Bytes(float64(limit)))
		return nil, l.Err()
	}
	parts, err := r.partCostates(ctx)
	if err != nil {
		return nil, err
	}
	out := &result.Costates{
		Experiments: parts, Objectives: s.Values, Events: s.Events,
		Of: make([][]result.Series, rows),
	}
	var kept []int // ascending in time, one of two that are equal
	for k := len(times) - 1; k >= 0; k-- {
		if len(kept) > 0 {
			before := kept[len(kept)-1]
			if times[before] == times[k] && equal(trace[before*rows*n:(before+1)*rows*n],
				trace[k*rows*n:(k+1)*rows*n]) {
				continue
			}
		}
		kept = append(kept, k)
		out.T = append(out.T, times[k])
	}
	for o := range rows {
		for _, x := range m.Checked.States {
			p := m.System.State(x.Name)
			series := result.Series{
				Name: x.Name, Doc: x.Doc, Shape: x.Type.Shape, Written: m.Checked.Written(x.Name),
				Unit: r.objectives[o].unit.Div(x.Type.Unit).String(),
			}
			for _, k := range kept {
				series.Values = append(series.Values, trace[(k*rows+o)*n+p.Offset:][:p.Len]...)
			}
			out.Of[o] = append(out.Of[o], series)
		}
	}
	return out, nil
}

// partCostates returns the adjoint states along the experiments of the last run: those of each
// likelihood, times the derivative of the objective by the likelihood.
func (r *Runner) partCostates(ctx context.Context) ([]result.ExperimentCostates, error) {
	if len(r.parts) == 0 {
		return nil, nil
	}
	stride := r.problem.Width()
	if r.placed {
		stride = max(stride, r.columns)
	}
	var list []result.ExperimentCostates
	for i, x := range r.model.Experiments {
		c, err := x.Model.Costates(ctx, r.ofPart(i, r.setup, r.variables))
		if err != nil {
			return nil, x.wrap(err)
		}
		its := result.ExperimentCostates{Name: x.Name, T: c.T, Events: c.Events}
		for i, o := range r.objectives {
			var of []result.Series
			for s, state := range r.model.Checked.States {
				sum := c.Of[0][s]
				sum.Values = make([]float64, len(sum.Values))
				sum.Unit = o.unit.Div(state.Type.Unit).String()
				for k, total := range r.model.Checked.Totals {
					slope := r.res.DP[i*stride+r.problem.Column(total.Name).Offset]
					if slope == 0 {
						continue // a likelihood without a value must not spoil other objectives
					}
					for j, v := range c.Of[k][s].Values {
						sum.Values[j] = math.FMA(slope, v, sum.Values[j])
					}
				}
				of = append(of, sum)
			}
			its.Of = append(its.Of, of)
		}
		list = append(list, its)
	}
	return list, nil
}

func equal(x, y []float64) bool {
	for i, v := range x {
		if v != y[i] {
			return false
		}
	}
	return true
}
