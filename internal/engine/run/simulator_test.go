package run_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestSimulator checks that runs of a Simulator are those of Model.Solve, with every bit and every warning, whatever it
// solved before: with events, modes, stiff steps that begin within a run, algebraic unknowns, steady states and
// experiments with sums over them, and after a run that failed.
//
//odes:goroutines
func TestSimulator(t *testing.T) {
	const explodes = "time t from 0 to 2\nparam a = 0.1\nstate x = 1\nx' = a*x^2\noutput y = x\n" +
		"objective J = final(x)\nassert a < 3\n"
	const mixed = "time t from 0 to 300\nparam m = 1\nstate x = 2, y = 0\nx' = y\ny' = m*(1 - x^2)*y - x\n" +
		"objective J = final(x)\n"
	for _, x := range []struct {
		model, name string
		values      []float64
		times       []float64
	}{
		{"bounce/bounce.ode", "g", []float64{9.81, 5, 20, 9.81}, []float64{0, 0.5, 1.5}},
		{"thermostat/thermostat.ode", "", nil, nil},
		{"pk/pk.ode", "V1", []float64{30, 20, 30}, []float64{0, 1, 12}},
		{"theophylline/theophylline.ode", "lKe", []float64{-2.5, -2, -2.5}, nil},
		{"pendulum_cartesian/pendulum_cartesian.ode", "", nil, nil},
		{explodes, "a", []float64{0.1, 1, 4, 0.2, 0.1}, []float64{0, 1}},
		{mixed, "m", []float64{1, 100, 1}, []float64{0, 150, 300}},
		{
			"time t from 0 to 5\nparam k = 1\nstate x = 1\nx' = 2 - k*x\nobjective J = steady(x)\n", "k",
			[]float64{1, 3, 1},
			nil,
		},
		{
			"time t from 0 to 2\nparam k = 1, y0 = 1\nstate x = y0\nx' = -k*x\n" +
				"data D {\n time = [1, 2, 1]\n c = [0.5, 0.3, 0.8]\n arm = [\"a\", \"a\", \"b\"]\n}\n" +
				"observe o = x ~ normal(0.1) from D.c\nexperiment a { use D where arm == \"a\" }\n" +
				"experiment b {\n y0 = 2\n use D where arm == \"b\"\n}\nobjective J = nll()\n", "k",
			[]float64{1, 3, 1},
			nil,
		},
	} {
		m, err := modelOf(x.model)
		if err != nil {
			t.Errorf("%.40s: %v", x.model, err)
			continue
		}
		set := func(v float64) []odes.Assignment {
			if x.name == "" {
				return nil
			}
			return []odes.Assignment{{Name: x.name, Values: []float64{v}}}
		}
		if x.name == "" {
			x.values = []float64{0, 0}
		}
		s, err := m.Simulator(odes.Options{Set: set(x.values[0])})
		if err != nil {
			t.Errorf("%.40s: %v", x.model, err)
			continue
		}
		for i, v := range x.values {
			for _, times := range [][]float64{x.times, {}, nil} {
				want, wrong := m.Solve(t.Context(), odes.Options{Set: set(v), Times: times})
				err := s.Set(set(v)...)
				var got *odes.Solution
				if err == nil {
					got, err = s.Solve(t.Context(), times)
				}
				if wrong != nil {
					if err == nil || err.Error() != wrong.Error() {
						t.Errorf("%.40s, value %d: error %v, want %v", x.model, i, err, wrong)
					}
					continue
				}
				if err != nil {
					t.Errorf("%.40s, value %d: %v", x.model, i, err)
					continue
				}
				got.Stats.Seconds, want.Stats.Seconds = odes.RunStats{}.Seconds, odes.RunStats{}.Seconds
				if a, b := bitsOf(got), bitsOf(want); !reflect.DeepEqual(a, b) {
					t.Errorf("%.40s, value %d: %d numbers differ from %d", x.model, i, len(a), len(b))
				}
				if got.Status != want.Status || !reflect.DeepEqual(got.Warnings, want.Warnings) {
					t.Errorf("%.40s, value %d: %s %+v, want %s %+v", x.model, i, got.Status, got.Warnings, want.Status,
						want.Warnings)
				}
				if a, b := got.Stats, want.Stats; !reflect.DeepEqual(a, b) {
					t.Errorf("%.40s, value %d: %+v, want %+v", x.model, i, a, b)
				}
			}
		}
	}
}

// modelOf reads an example, or a text.
func modelOf(model string) (*odes.Model, error) {
	if model[len(model)-1] == '\n' {
		return odes.Parse("model.ode", "model M\n"+model, odes.ParseOptions{})
	}
	return odes.ParseFile(modeltest.Path("examples/" + model))
}

// bitsOf returns the bits of all numbers of s.
func bitsOf(s *odes.Solution) (list []uint64) {
	add := func(x ...float64) {
		for _, v := range x {
			list = append(list, math.Float64bits(v))
		}
	}
	add(s.From, s.To)
	add(s.T...)
	for _, o := range s.Outputs {
		add(o.Values...)
		add(o.Errors...)
		add(float64(o.Trust))
	}
	for _, v := range s.Values {
		add(v.Value, v.Error, float64(v.Trust))
	}
	for _, e := range s.Events {
		add(e.T, e.Error)
	}
	return list
}

// TestSetDirection: products with another direction are those of a Runner that was made with it.
func TestSetDirection(t *testing.T) {
	m, err := odes.ParseFile(modeltest.Path("examples/bounce/bounce.ode"))
	if err != nil {
		t.Fatal(err)
	}
	opts := odes.Options{Of: []string{"height"}, Wrt: []string{"g", "e"}, Direction: []float64{1, 0}}
	r, err := m.Prepare(opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range [][]float64{{1, 0}, {0.5, -2}, {1, 0}} {
		if err := r.SetDirection(v); err != nil {
			t.Fatal(err)
		}
		got, err := r.Sensitivities(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		opts.Direction = v
		want, err := m.Sensitivities(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Products, want.Products) || !reflect.DeepEqual(got.Direction, v) {
			t.Errorf("direction %v: %v, want %v", v, got.Products, want.Products)
		}
	}
	for _, v := range [][]float64{{1}, {1, math.Inf(1)}} {
		if r.SetDirection(v) == nil {
			t.Errorf("direction %v is taken", v)
		}
	}
}

// TestSimulatorOrders: a run in which matrices were factored in another order than at its start leaves nothing of that
// to the next one.
func TestSimulatorOrders(t *testing.T) {
	if testing.Short() {
		t.Skip("a run takes 20,000 steps")
	}
	m, err := modelOf("ring_modulator/ring_modulator.ode")
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Simulator(odes.Options{Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}}})
	if err != nil {
		t.Fatal(err)
	}
	var want []uint64
	for range 2 {
		got, err := s.Solve(t.Context(), []float64{})
		if err != nil {
			t.Fatal(err)
		}
		if bits := bitsOf(got); want == nil {
			want = bits
		} else if !reflect.DeepEqual(bits, want) {
			t.Errorf("the second run has %d steps and other bits", got.Stats.Steps)
		}
	}
}

// TestTimesOutside: times that a run does not reach are counted in a note, and what is no number is refused.
func TestTimesOutside(t *testing.T) {
	const model = "time t from 0 to 10\nstate x = 1\nx' = -x\nevent low when x < 0.1 { stop }"
	m, err := odes.Parse("m.ode", model, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Simulator(odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		times []float64
		note  string
	}{
		{nil, ""},
		{[]float64{}, ""},
		{[]float64{0, 1, 1, 2}, ""},
		{[]float64{-1, 1}, "1 time to report at outside of the run, from 0 to 2.3025855: left out"},
		// It is stopped.
		{
			[]float64{1, 5, 30, math.Inf(1)},
			"3 times to report at outside of the run, from 0 to 2.3025855: left out",
		},
		{[]float64{30}, "no time to report at lies in the run, from 0 to 2.3025855"},
	} {
		r, err := s.Solve(t.Context(), c.times)
		if err != nil {
			t.Fatal(err)
		}
		note := ""
		for _, d := range r.Warnings {
			if d.Code == odes.CodeOutside {
				note += d.Message
			}
		}
		if note != c.note {
			t.Errorf("times %v: %q, want %q", c.times, note, c.note)
		}
	}
	for _, times := range [][]float64{{math.NaN()}, {1, math.NaN()}, {math.NaN(), 1}, {2, 1}} {
		if _, err := s.Solve(t.Context(), times); err == nil {
			t.Errorf("times %v are not refused", times)
		}
	}
}

// A time that is that of an event but for rounding, as 0.3 is of one every 0.1, has both limits in outputs. Objectives
// and data read it after the event.
//
//odes:goroutines
func TestOutputsAtRoundedEvents(t *testing.T) {
	m, err := odes.Parse("m.ode", `
time t from 0 to 0.7
param P = 0.1
state x = 0
x' = 0
event e every P { x += 1 }
objective a = sum_at([0.3, 0.6], x)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, times := range [][]float64{{0.3, 0.6, 0.7}, {0.1 + 0.2, 0.6000000000000001, 0.7}} {
		s, err := m.Solve(t.Context(), odes.Options{Times: times})
		if err != nil {
			t.Fatal(err)
		}
		at := []float64{times[0], times[0], times[1], times[1], times[2], times[2]}
		if x := s.Outputs[0].Values; !slices.Equal(s.T, at) || !slices.Equal(x, []float64{3, 4, 6, 7, 7, 8}) {
			t.Errorf("at %v: %v at %v", times, x, s.T)
		}
		if s.Values[0].Value != 11 {
			t.Errorf("the sum is %g", s.Values[0].Value)
		}
	}
}
