package sens_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/record"
)

// observed is everything with many more observation times: fixed ones, some that move with parameters, one that
// moves with a discrete, and one at the time of an explicit event.
func observed() (p *problem, sites int) {
	p = everything()
	site := func(fixed bool, f func(e *env) C) {
		i := at(solvers.InstantSite, f)
		i.Fixed, i.Site = fixed, 2+sites
		p.Times = append(p.Times, i)
		sites++
	}
	for k := range 40 {
		at := complex(0.2+0.15*float64(k), 0)
		site(true, func(*env) C { return at })
		site(false, func(e *env) C { return at + 0.05*e.P[0]*e.P[12] + 0.01*e.P[4]*at })
	}
	site(false, func(e *env) C { return e.P[5] * e.P[0] }) // when kick happens
	site(false, func(e *env) C { return 1.5 + 0.1*e.D[0] })
	return p, sites
}

func TestObservationsInsideSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	for _, c := range []struct {
		name  string
		fixed float64
	}{
		{"dopri5", 0},
		{"dopri5", 0.13},
		{"tsit5", 0},
		{"rk4", 0.07},
		{"vern7", 0},
		{"dop853", 0},
		{"bs3", 0},
		{"bs3, dop853", 0},
		{"dopri5, rkc2", 0},
		{"dopri5, rodas5p", 0},
		{"rk4, vern7, rkf45", 0.07},
	} {
		t.Run(fmt.Sprintf("%s/%v", c.name, c.fixed), func(t *testing.T) {
			p, _ := observed()
			p.opts.Fixed, p.opts.Observe = c.fixed, solvers.ObserveDense
			tr, st := p.run(t, c.name)
			inside := 0
			for i := range tr.Marks() {
				if tr.Inside(i) {
					inside++
				}
			}
			if inside < 60 {
				t.Errorf("%d observations inside steps, want most of 84", inside)
			}
			p.compare(t, c.name, tr, st, 2e-13)

			few := everything()
			few.Times = append(few.Times[:3:3], few.Times[3:]...)
			few.opts.Fixed, few.opts.Observe = c.fixed, solvers.ObserveDense
			if _, bare := few.run(t, c.name); bare.Steps != st.Steps || bare.Rejected != st.Rejected {
				t.Errorf("%d steps and %d rejected, %d and %d with few observations: they must not matter", st.Steps,
					st.Rejected, bare.Steps, bare.Rejected)
			}
		})
	}
}

// TestInsideOrClipped compares the two ways to observe: both converge to the same objectives and derivatives.
func TestInsideOrClipped(t *testing.T) {
	value := func(kind solvers.ObserveKind, tol float64) *sens.Result {
		p, _ := observed()
		p.opts = solvers.Options{RTol: tol, ATol: tol, Observe: kind}
		tr, _ := p.run(t, "dopri5")
		var res sens.Result
		if err := p.adjoint(t, "dopri5", 3).Gradient(t.Context(), tr, sens.Options{}, &res); err != nil {
			t.Fatal(err)
		}
		return &res
	}
	want := value(solvers.ObserveClip, 1e-13)
	last := math.Inf(1)
	for _, tol := range []float64{1e-6, 1e-8, 1e-10} {
		got := value(solvers.ObserveDense, tol)
		worst := 0.0
		for i, v := range got.DP {
			worst = max(worst, math.Abs(v-want.DP[i])/(1+math.Abs(want.DP[i])))
		}
		t.Logf("rtol %g: derivatives off by %.2g", tol, worst)
		if !(worst < last/5) {
			t.Errorf("rtol %g: derivatives off by %g, %g at the tolerance before", tol, worst, last)
		}
		last = worst
	}
	if last > 1e-6 {
		t.Errorf("derivatives off by %g", last)
	}
}

// TestObserveAuto checks the rule: sites are read inside steps where they are many and the method's dense output is
// good, as that of every method that has a name is.
func TestObserveAuto(t *testing.T) {
	inside := func(p *problem, method string) bool {
		tr, _ := p.run(t, method)
		for i := range tr.Marks() {
			if tr.Inside(i) {
				return true
			}
		}
		return false
	}
	many, _ := observed()
	for _, name := range []string{"dopri5", "dopri8"} {
		if !inside(many, name) {
			t.Errorf("82 observations were not read inside steps of %s", name)
		}
	}
	tr := &record.Trajectory{}
	m := cubic{many.method(t, "dopri8", 0)}
	ctl, _ := hybrid.NewController("", m.Info())
	if _, err := hybrid.Solve(t.Context(), many.Hybrid.With(1), m, ctl, many.opts, tr); err != nil {
		t.Fatal(err)
	}
	for i := range tr.Marks() {
		if tr.Inside(i) {
			t.Error("an observation was read inside a step of order 8 from a cubic")
		}
	}
	many.opts.Observe = solvers.ObserveClip
	if inside(many, "dopri5") {
		t.Error("observations were read inside steps although all were to end steps")
	}
	if inside(everything(), "dopri5") {
		t.Error("2 observations were read inside steps")
	}
}

// cubic is a method whose dense output is of order 3.
type cubic struct{ solvers.Method }

func (m cubic) Info() solvers.Info {
	i := m.Method.Info()
	i.DenseOrder = 3
	return i
}
