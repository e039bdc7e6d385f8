package run

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// sidesOf returns what is known of the sides of a model; nil for nothing.
func sidesOf(t *testing.T, m *tested) (*Runner, *Sides) {
	t.Helper()
	r, err := m.Prepare(Options{Settings: []Setting{{"sens.trust", "off"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Sensitivities(context.Background()); err != nil {
		t.Fatal(err)
	}
	s, why, err := r.Sides(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if why != "" {
		t.Log(why)
	}
	return r, s
}

// sideCases are the derivatives on both sides, by the columns of the models in testdata/coincidences. They were
// worked out by hand. NaN stands for the side where the value leaps, and what is beside it is by how much.
var sideCases = map[string][][2]float64{
	"a_dose_rate": {
		{-10.042768462030969, -30.12830538609289},
		{-66.23090392064896, -86.31644084471093},
		{238.86378562947561, 238.86378562947561},
	},
	"d_two_modes":  {{-2, -4}, {-1, -3}},
	"e_bound_mode": {{-2, -2}, {-3, -3}},
	"f_speeds":     {{-0.3, -0.3}, {1, 1}},
	"g_obs_mode":   {{-4, -2}, {1, 3}},
	"h_slopes":     {{2, 1}, {0, 0}, {2, 2}},
	"i_end_mode":   {{-2, 0}, {1, 3}},
	"k_mark":       {{0, 0}, {0, 0}},
	"three": {
		{-math.Expm1(0.2), -math.Expm1(0.2) - 1},
		{-2 * math.Expm1(0.2), -2*math.Expm1(0.2) - 2},
		{-2 * math.Exp(0.1), -2*math.Exp(0.1) - 3},
	},
	"turn":       {{0, 8}, {-8, 0}},
	"two_groups": {{-5, -26.0 / 3}, {-1.0 / 6, -1.5}},
	"two_times":  {{-4.0 / 3, 0}},
	"c_obs":      {{1, math.NaN()}, {math.NaN(), 1}, {15.819291127172352, 15.819291127172352}},
}

// TestSides compares derivatives on both sides with closed forms.
func TestSides(t *testing.T) {
	for name, want := range sideCases {
		m, err := ParseFile(filepath.Join("testdata", "coincidences", name+".ode"))
		if err != nil {
			t.Fatal(err)
		}
		r, s := sidesOf(t, m)
		if s == nil || r.columns != len(want) {
			t.Errorf("%s: nothing is known of %d columns", name, r.columns)
			continue
		}
		for k, x := range want {
			if s.Leaps[k] || s.Unknown[k] {
				t.Errorf("%s, column %d: leaps is %v, unknown is %v", name, k, s.Leaps[k], s.Unknown[k])
				continue
			}
			if x[0]+x[1] != x[0]+x[1] {
				j, l, r := r.res.Psi[0], s.LeftValues[k], s.RightValues[k]
				if x[0] != x[0] {
					l, r = r, l
				}
				if math.Abs(l-j) > 1e-12 || math.Abs(j-r-max(x[0], x[1], 1)) > 1e-8 {
					t.Errorf("%s, column %d: %v, where the values are %v and %v", name, k, j, l, r)
				}
				continue
			}
			for side, got := range [2]float64{s.Left[k], s.Right[k]} {
				if math.Abs(got-x[side]) > 1e-8*(1+math.Abs(x[side])) {
					t.Errorf("%s, column %d: side %d is %v, want %v", name, k, side, got, x[side])
				}
			}
		}
	}
}

// TestSidesOfOneCondition has two events with one condition, in an order that is drawn: nothing moves them apart, so
// both sides are the derivative.
func TestSidesOfOneCondition(t *testing.T) {
	m, err := ParseFile(filepath.Join("testdata", "coincidences", "same_condition.ode"))
	if err != nil {
		t.Fatal(err)
	}
	r, s := sidesOf(t, m)
	if s == nil {
		t.Fatal("nothing is known")
	}
	for k, x := range s.Left {
		if math.Abs(x-s.Right[k])+math.Abs(x-r.gradient[k]) > 1e-5*(1+math.Abs(x)) {
			t.Errorf("derivative %d: %v from the left, %v from the right, %v of the run",
				k, x, s.Right[k], r.gradient[k])
		}
	}
	for k := range r.columns {
		if s.Leaps[k] || s.Unknown[k] {
			t.Errorf("column %d: leaps is %v, unknown is %v", k, s.Leaps[k], s.Unknown[k])
		}
	}
}

// lifted are models in which the condition x < c falls to its threshold at 1, just as something lifts it. With a > c it
// has fallen, and down happens as it is lifted: J = 2 + x(2); with a < c it never falls, and J = x(2).
var lifted = map[string]struct {
	text  string
	final float64 // x(2)
}{
	"by a body":           {"x' = u\nevent turn when y > a { u = -u }\n", 0},
	"by a body at a time": {"x' = u\nevent turn at a { u = -u }\n", 0},
	"by a mode":           {"x' = if y < a then 1 else -1\n", 0},
	"by a mode in time":   {"x' = if t < a then 1 else -1\n", 0},
	"by a jump":           {"x' = 1\nevent back when y > a { x = x - 3 }\n", -1},
}

// TestLiftedConditions compares values on both sides of what lifts a condition as it falls with numbers by hand.
func TestLiftedConditions(t *testing.T) {
	for name, of := range lifted {
		for _, rtol := range []string{"1e-6", "1e-10"} {
			m, err := Parse("m.ode", "time t from 0 to 2\nparam a = 1\nparam c = 1\nstate x = 0\nstate y = 0\n"+
				"discrete u = 1\ndiscrete n = 0\ny' = 1\n"+of.text+"event down when x < c { n = n + 1 }\n"+
				"objective J = final(n*t + x)\n", ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			s := sidedResult(t, m, Options{Settings: []Setting{{"solver.rtol", rtol}}})
			for _, v := range s.Variables {
				want := [2]float64{of.final, of.final + 2}
				switch {
				case v.Name == "c" || v.Name == "y": // less of c is more of a; y comes to a sooner
					want = [2]float64{of.final + 2, of.final}
				case v.Name != "a" && v.Name != "x":
					continue
				}
				said := verdictOn(s, v.Offset)
				if v.Name == "y" && strings.Contains(name, "time") { // it moves nothing there
					if said.leap != nil {
						t.Errorf("%s, rtol %s, by y: %s", name, rtol, said.String())
					}
					continue
				}
				if said.leap == nil || math.Abs(said.leap.Left-want[0])+math.Abs(said.leap.Right-want[1]) > 1e-6 ||
					said.sound {
					t.Errorf("%s, rtol %s, by %s: %s; values are %v", name, rtol, v.Name, said.String(), want)
				}
			}
		}
	}
}
