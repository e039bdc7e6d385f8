// Package work has the memory of a worker: what the steps and the rates of one goroutine share.
package work

import (
	"odes.dev/odes/internal/base/team"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Space is a kit at work in one goroutine: machines, and the vectors that they read and write.
type Space struct {
	Task  *compiled.Task // whose runs are made
	Kit   *compiled.Kit
	Width int // lanes
	// Version is that of the point that the hoisted work belongs to.
	Version int
	// The calls of the kit: values, transposes and tangents.
	Primals    tapec.Parts[*compiled.Call]
	Transposes tapec.Parts[*compiled.Call]
	Tangents   tapec.Parts[*compiled.Call]
	Shared     *compiled.Call // what the transpose of the rates computes for all sweeps; nil for nothing
	In, Out    vec.Frame
	T          [1]float64
	Book       *compiled.Ledger // of the cotangents of parameters

	Keeps    []*compiled.Call // that are to be told of new parameters
	ByParams []*compiled.Call // that read params
	Halt     *compiled.Halt   // that the machines heed
	team     *team.Team       // that shares the work on long arrays; nil for this goroutine alone
}

// CallOf returns what runs a program, which may be nil.
func (w *Space) CallOf(p *compiled.Program) *compiled.Call {
	c := p.Call()
	if c == nil {
		return nil
	}
	c.Machine.Heed(w.Halt)
	if len(c.Params) > 0 {
		w.ByParams = append(w.ByParams, c)
	}
	return c
}

// Keep notes a call that is to be told of new parameters.
func (w *Space) Keep(c *compiled.Call) {
	if c != nil && c.Machine.Keeps() {
		w.Keeps = append(w.Keeps, c)
	}
}

// Share lets a team of the worker's goroutine share what the rates and their derivatives do on long arrays, with the
// same bits; nil for this goroutine alone.
func (w *Space) Share(t *team.Team) {
	w.team = t
	for _, calls := range []*tapec.Parts[*compiled.Call]{&w.Primals, &w.Transposes, &w.Tangents} {
		for _, c := range calls.All() {
			if c != nil {
				c.Machine.Share(t)
			}
		}
	}
	if w.Shared != nil {
		w.Shared.Machine.Share(t)
	}
}

// Team returns what Share was given.
func (w *Space) Team() *team.Team { return w.team }

// CopyFew copies from to to, which is as long. A copy of a few numbers takes longer.
func CopyFew(to, from []float64) {
	to = to[:len(from)]
	//lint:ignore S1001 see above
	for i, x := range from {
		to[i] = x
	}
}

// RunAt runs c at (t, y, d), and restores the discretes of the run afterwards.
func (w *Space) RunAt(c *compiled.Call, to vec.Vector, t float64, y, d, out []float64) {
	w.T[0] = t
	saved, other := w.In[tapec.Primal][vec.D], w.Out[tapec.Primal][to]
	w.In[tapec.Primal][vec.Y], w.In[tapec.Primal][vec.D], w.Out[tapec.Primal][to] = y, d, out
	c.Run(&w.In, &w.Out)
	w.In[tapec.Primal][vec.D], w.Out[tapec.Primal][to] = saved, other
}

// Evaluator returns what c has computed, or would now, with all that leads to it.
func (w *Space) Evaluator(c *compiled.Call) *tape.Evaluator[float64] {
	e := tape.NewEvaluator[float64](c.Tape)
	for i, b := range c.Ins {
		if from := w.In[b.Vary][b.Vec]; b.Hi <= len(from) {
			copy(e.Input(c.Tape.Inputs[i].Name), from[b.Lo:b.Hi])
		}
	}
	e.Run()
	return e
}

// Prices implements hybrid.Priced.
func (w *Space) Prices() (rates, jacobian float64) { return w.Kit.Prices() }

// Modes returns those that were entered last.
func (w *Space) Modes() []float64 { return w.In[tapec.Primal][vec.M] }
