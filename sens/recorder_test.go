package sens_test

import (
	"testing"

	"odes.dev/odes/sens"

	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/record"
)

// TestRecorder records a run and observes it meanwhile: the functionals are those that are read from the record later,
// and a gradient takes them. Where one is a peak, there are none.
func TestRecorder(t *testing.T) {
	p := ball(2)
	o := p.with(1)
	m := p.method(t, "dopri5", 0)
	ctl, _ := hybrid.NewController("", m.Info())
	r := sens.NewRecorder(&record.Trajectory{}, o)
	for range 2 { // the second run replaces the first
		if _, err := hybrid.Solve(t.Context(), o.Hybrid, m, ctl, p.opts, r); err != nil {
			t.Fatal(err)
		}
	}
	want, _ := p.run(t, "dopri5")
	if r.Steps() != want.Steps() || r.Marks() != want.Marks() {
		t.Errorf("%d steps and %d marks recorded, want %d and %d", r.Steps(), r.Marks(), want.Steps(), want.Marks())
	}
	var read, given sens.Result
	a := p.adjoint(t, "dopri5", 1)
	if err := a.Gradient(t.Context(), want, sens.Options{}, &read); err != nil {
		t.Fatal(err)
	}
	opts := sens.Options{Functionals: r.Functionals()}
	if err := a.Gradient(t.Context(), r.Trajectory, opts, &given); err != nil {
		t.Fatal(err)
	}
	identical(t, "functionals given", &given, &read)
	for i, f := range r.Functionals() {
		if f == 0 || f != read.Functionals[i] {
			t.Errorf("functional %d is %v, read later %v", i, f, read.Functionals[i])
		}
	}
	o = swing(1, 1, 2, 0).with(1)
	if got := sens.NewRecorder(&record.Trajectory{}, o).Functionals(); got != nil {
		t.Errorf("functionals %v beside peaks", got)
	}
}
