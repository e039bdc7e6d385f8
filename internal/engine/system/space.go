package system

import (
	"odes.dev/odes/internal/base/team"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tapec"
)

// Space is a kit at work in one goroutine: machines, and the vectors that they read and write.
type Space struct {
	task  *compiled.Task // whose runs are made
	kit   *compiled.Kit
	lanes int
	// version of the point that the hoisted work belongs to
	version int
	value   tapec.Parts[*compiled.Call]
	pull    tapec.Parts[*compiled.Call]
	push    tapec.Parts[*compiled.Call]
	shared  *compiled.Call // what the transpose of the rates computes for all sweeps; nil for nothing
	in, out vec.Frame
	t       [1]float64
	book    *compiled.Ledger // of the cotangents of parameters

	keeps    []*compiled.Call // that are to be told of new parameters
	byParams []*compiled.Call // that read params
	team     *team.Team       // that shares the work on long arrays; nil for this goroutine alone
}

// callOf returns what runs a program, which may be nil.
func (w *Space) callOf(p *compiled.Program) *compiled.Call {
	c := p.Call()
	if c != nil && len(c.Params) > 0 {
		w.byParams = append(w.byParams, c)
	}
	return c
}

// keep notes a call that is to be told of new parameters.
func (w *Space) keep(c *compiled.Call) {
	if c != nil && c.Machine.Keeps() {
		w.keeps = append(w.keeps, c)
	}
}

// Share lets a team of the worker's goroutine share what the rates and their derivatives do on long arrays, with the
// same bits; nil for this goroutine alone.
func (w *Space) Share(t *team.Team) {
	w.team = t
	for _, calls := range []*tapec.Parts[*compiled.Call]{&w.value, &w.pull, &w.push} {
		for _, c := range calls.All() {
			if c != nil {
				c.Machine.Share(t)
			}
		}
	}
	if w.shared != nil {
		w.shared.Machine.Share(t)
	}
}

// Team returns what Share was given.
func (w *Space) Team() *team.Team { return w.team }

// copyFew copies from to to, which is as long. A copy of a few numbers takes longer.
func copyFew(to, from []float64) {
	to = to[:len(from)]
	//lint:ignore S1001 see above
	for i, x := range from {
		to[i] = x
	}
}
