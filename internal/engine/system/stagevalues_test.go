package system_test

import (
	"math"
	"testing"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/steps"
	"odes.dev/odes/internal/engine/system"
)

// TestStageValues says of which stages values are known: of those with the same time, state, discretes, modes and
// params, to the bit, among the last ones.
func TestStageValues(t *testing.T) {
	m := modelOf(t, `model stages
time t from 0 to 1
param p = 1
discrete d = 1
state x[3000] = 0
x' = tanh(d*x + p) + (if t > 0.5 then x else 0)
objective F = final(sum(x^2))
`)
	p := system.NewProblem(m, pointOf(t, m), []int{0}, nil)
	p.Differentiate(p.Point.Active([]compiled.Variable{{Name: "p", Place: m.Param("p")}}))
	k, err := p.Kit(1, compiled.Pull, false)
	if err != nil {
		t.Fatal(err)
	}
	values := steps.NewStageValues(k, 4<<20)
	if values == nil {
		t.Fatal("nothing is kept")
	}
	w, back := p.Worker(k), p.Worker(k)
	w.KeepStages(values)
	back.ReadStages(values)
	y, slopes := make([]float64, 3000), make([]float64, 3000)
	start := func(d, mode float64) {
		w.Enter([]float64{d}, []float64{mode})
		back.Enter([]float64{d}, []float64{mode})
	}
	start(1, 0)
	if back.KnowsStage(0, y) {
		t.Error("a stage is known before it is made")
	}
	w.Eval(0, y, slopes)
	other := append([]float64(nil), y...)
	other[7] = math.Copysign(0, -1)
	for _, c := range []struct {
		what    string
		d, mode float64
		t       float64
		y       []float64
		known   bool
	}{
		{"itself", 1, 0, 0, y, true},
		{"at another time", 1, 0, 0.25, y, false},
		{"with a zero of the other sign", 1, 0, 0, other, false},
		{"with another discrete", 2, 0, 0, y, false},
		{"in another mode", 1, 1, 0, y, false},
		{"itself once more", 1, 0, 0, y, true},
	} {
		if start(c.d, c.mode); back.KnowsStage(c.t, c.y) != c.known {
			t.Errorf("the stage %s is known: %t", c.what, !c.known)
		}
	}
	const rejected = 20 // stages of steps that were rejected
	for i := range rejected {
		w.Eval(float64(i+1), y, slopes)
	}
	if !back.KnowsStage(0, y) || back.KnowsStage(1, y) {
		t.Error("stages are not found in the order in which they are read")
	}
	for i := range values.Room() {
		w.Eval(-float64(i+1), y, slopes)
	}
	known := 0
	for i := values.Room(); i > 0 && back.KnowsStage(-float64(i), y); i-- {
		known++
	}
	if known != values.Room() || back.KnowsStage(0, y) {
		t.Errorf("%d of %d stages are known, and one that is gone: %t", known, values.Room(), back.KnowsStage(0, y))
	}
	w.Eval(0.5, y, slopes)
	p.Point.Setter([]string{"p"}).Set(0, 2)
	if start(1, 0); back.KnowsStage(0.5, y) {
		t.Error("a stage is known by other params")
	}
}
