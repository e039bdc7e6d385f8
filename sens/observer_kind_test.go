package sens

import (
	"testing"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
)

// Halfway has functionals be read by an observer of another kind as long as a test lasts: those that are peaks become
// the sums of their expressions in the middle of every third step.
func Halfway(t testing.TB) {
	was := observers
	observers = append(observers[:0:0], was...)
	observers[0].make = func(obj Objectives, method solvers.Method, sys solvers.System) (observer, error) {
		n := len(obj.(PeakObjectives).Peaks())
		return &halfway{
			obj: obj.(PeakObjectives), method: method.(solvers.Interpolant), sys: sys,
			y: make([]float64, sys.Size().N), e: make([]float64, n), sum: make([]float64, n),
		}, nil
	}
	t.Cleanup(func() { observers = was })
}

type halfway struct {
	obj       PeakObjectives
	method    solvers.Interpolant
	sys       solvers.System
	y, e, sum []float64
	steps     int
	list      []reading
}

func (h *halfway) serves(obj Objectives, _ solvers.Method, sys solvers.System) bool {
	of, ok := obj.(PeakObjectives)
	return ok && of == h.obj && sys == h.sys
}

func (h *halfway) begin(*Options) {
	clear(h.sum)
	h.steps, h.list = 0, nil
}

func (h *halfway) step(s *solvers.Step, _ solvers.End) {
	const every, theta = 3, 0.5
	if h.steps++; s.H > 0 && h.steps%every == 0 {
		h.method.Interpolate(h.sys, s, theta, h.y)
		at := reading{place{h.steps - 1, theta}, when(s, theta), Site{Kind: SitePeak}}
		h.obj.Heights(at.t, h.y, h.e)
		for i, element := range h.obj.Peaks() {
			h.sum[i] += h.e[i]
			at.site.Peaks = append(at.site.Peaks, Share{element, 1})
		}
		h.list = append(h.list, at)
	}
}

func (h *halfway) mark(m *solvers.Mark, functionals []float64) {
	if m.Kind == solvers.MarkFinal {
		for i, element := range h.obj.Peaks() {
			functionals[element] = h.sum[i]
		}
	}
}

func (h *halfway) end(*Result) []reading     { return h.list }
func (h *halfway) beside(*hybrid.Lanes, int) {}
