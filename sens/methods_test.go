package sens_test

import (
	"testing"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
)

// TestEveryMethod differentiates runs of every registered method, with events of all kinds and with observations inside
// steps, by all discrete sensitivity methods. It asks of a step method what these need of it.
func TestEveryMethod(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	const tol = 1e-11 // the coefficients of vern6 and vern8 are in the hundreds, and roundings grow by them
	for _, m := range methods.All() {
		if m.Can.Has(solvers.SplitRates) { // imex_test.go
			continue
		}
		if !m.Can.Has(solvers.ComplexSteps) {
			continue // the sensitivity methods are compared with the complex step
		}
		t.Run(m.Name, func(t *testing.T) {
			p := everything()
			p.opts.Fixed = 0.11
			tr, st := p.run(t, m.Name)
			p.compare(t, m.Name, tr, st, tol)
			if !m.Can.Has(solvers.DenseDerivatives) {
				return
			}
			o, _ := observed()
			o.opts.Fixed, o.opts.Observe = 0.11, solvers.ObserveDense
			tr, st = o.run(t, m.Name)
			o.compare(t, m.Name, tr, st, tol)
		})
	}
}
