package fit_test

import (
	"fmt"
	"reflect"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// startingAt fits a text with searches for steady states that begin at start.
func startingAt(t *testing.T, text, start string, o fit.Options) *fit.Result {
	t.Helper()
	m, err := odes.Parse("warm.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o.Settings = append(o.Settings, odes.Setting{Key: "solver.steady_start", Value: start})
	r, err := fit.Run(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWarmBranch fits a switch to a datum that only its upper state meets, and to which no run from the initial value
// leads. A warm search follows that state as far as the datum. Runs from the initial value refuse what it comes to, and
// the search is made anew: the result is that of a fit without warm starts, with every bit.
func TestWarmBranch(t *testing.T) {
	const text = `
time t from 0 to 1
param feed = 0.8 in [0.1, 1]
state x = 0
x' = feed + 3*x^2 - x^3 - 2.52*x
data D { time = [inf]  y = [1.67] }
observe o = x ~ normal(0.02) from D.y
objective J = nll()
fit { intervals = none }
`
	own, warm := startingAt(t, text, "own", fit.Options{}), startingAt(t, text, "auto", fit.Options{})
	if w := warm.Stats.Steady; w.Warm == 0 || w.Repeated == 0 || w.Confirmed != 0 {
		t.Errorf("%+v", w)
	}
	if w := own.Stats.Steady; w.Warm != 0 || w.Searches == 0 {
		t.Errorf("own: %+v", w)
	}
	if x, y := warm.Estimates[0].Value, own.Estimates[0].Value; x != y || x < 0.6 {
		t.Errorf("feed = %v, and %v without warm starts", x, y)
	}
	if x, y := warm.Objective.Value, own.Objective.Value; x != y {
		t.Errorf("J = %v, and %v without warm starts", x, y)
	}
}

// TestWarmConstraint fits a datum that does not see the switch, with a constraint that does. Along its upper state the
// datum is met with the constraint kept, where runs from the initial value lead to the lower one. The objective has the
// same value on both, so it is the constraint that refuses the minimum of the warm search.
func TestWarmConstraint(t *testing.T) {
	const text = `
time t from 0 to 1
param feed = 0.7 in [0.1, 1]
state x = 0, w = 0
x' = feed + 3*x^2 - x^3 - 2.52*x
w' = feed - w
data D { time = [inf]  y = [0.6] }
observe o = w ~ normal(0.1) from D.y
objective J = nll()
constraint high: steady(x) >= 1
fit { intervals = none  max_iter = 20 }
`
	own, warm := startingAt(t, text, "own", fit.Options{}), startingAt(t, text, "auto", fit.Options{})
	if w := warm.Stats.Steady; w.Warm == 0 || w.Repeated == 0 || w.Confirmed != 0 {
		t.Errorf("%+v", w)
	}
	if x, y := warm.Estimates[0].Value, own.Estimates[0].Value; x != y {
		t.Errorf("feed = %v, and %v without warm starts", x, y)
	}
	if x, y := warm.Constraints[0].Value, own.Constraints[0].Value; x != y || x < 0 {
		t.Errorf("steady(x) - 1 = %v, and %v without warm starts", x, y)
	}
}

// TestWarmFit fits rates and a total that is conserved to data of experiments that begin in equilibrium, by squares
// and by gradients, with profiles and refits. The results are those of a fit without warm starts, and have the same
// bits with one worker and with many.
//
//odes:goroutines
func TestWarmFit(t *testing.T) {
	const text = `
time t from 0 to 3
param on = 0.9 in [0.05, 20], off = 0.5 in [0.05, 20], turn = 0.3 in [0.01, 10], total = 1.4 in [0.1, 10]
param dose = 1
state free = total, bound = 0, made = 0
free'  = -on*dose*free^2 + off*bound
bound' = on*dose*free^2 - off*bound
made'  = turn*bound - 0.4*made^2
equilibrate { dose = 0.2 }
data D {
  time = [0.5, 2, inf, 0.5, 2, inf, 0.5, 2, inf]
  b    = [0.52, 0.71, 0.76, 0.71, 1.03, 1.08, 0.83, 1.3, 1.36]
  m    = [0.55, 0.63, 0.75, 0.58, 0.72, 0.93, 0.61, 0.83, 0.99]
  id   = [1, 1, 1, 2, 2, 2, 3, 3, 3]
}
observe ob = bound ~ normal(0.03) from D.b
observe om = made ~ normal(0.03) from D.m
objective J = nll()
objective K = nll() + 0*final(made)
experiment a { dose = 1  use D where id == 1 }
experiment b { dose = 4  use D where id == 2 }
experiment c { dose = 16  use D where id == 3 }
fit { minimize = J  log = all  starts = 3  intervals = profile }
`
	settings := func(list ...string) (out []odes.Setting) {
		for i := 0; i < len(list); i += 2 {
			out = append(out, odes.Setting{Key: list[i], Value: list[i+1]})
		}
		return out
	}
	for _, c := range []struct {
		name     string
		settings []odes.Setting
		by       string
	}{
		{"squares", nil, "least_squares"},
		{"refits", settings("fit.intervals", "bootstrap", "fit.bootstrap", "6"), "least_squares"},
		{"gradients", settings("fit.minimize", "K", "fit.intervals", "none"), "newton"},
	} {
		if testing.Short() && c.by != "newton" {
			continue
		}
		own := startingAt(t, text, "own", fit.Options{Options: odes.Options{Settings: c.settings}})
		warm := startingAt(t, text, "auto", fit.Options{Options: odes.Options{Settings: c.settings}, Workers: 1})
		many := startingAt(t, text, "warm", fit.Options{Options: odes.Options{Settings: c.settings}, Workers: 7})
		if own.Algorithm != c.by {
			t.Errorf("%s: by %s", c.name, own.Algorithm)
		}
		w := warm.Stats.Steady
		t.Logf("%s: %+v, own %+v", c.name, w, own.Stats.Steady)
		if w.Warm == 0 || w.Confirmed == 0 || w.Repeated > 0 || 2*w.Steps > own.Stats.Steady.Steps || w.Saved == 0 {
			t.Errorf("%s: %+v, and %+v without warm starts", c.name, w, own.Stats.Steady)
		}
		if w != many.Stats.Steady {
			t.Errorf("%s: %+v with one worker, %+v with many", c.name, w, many.Stats.Steady)
		}
		near(t, c.name+": J", warm.Objective.Value, own.Objective.Value, 1e-9)
		for i, x := range warm.Estimates {
			o := own.Estimates[i]
			near(t, c.name+": "+x.Text(), x.Value, o.Value, 1e-6)
			if c.name == "squares" {
				near(t, c.name+": lower end of "+x.Text(), x.Lower, o.Lower, 1e-4)
				near(t, c.name+": upper end of "+x.Text(), x.Upper, o.Upper, 1e-4)
			}
			if a, b := fmt.Sprint(x), fmt.Sprint(many.Estimates[i]); a != b {
				t.Errorf("%s: %s with one worker, %s with many", c.name, a, b)
			}
		}
		for i, s := range warm.Starts {
			if o := many.Starts[i]; s.Value != o.Value || s.Evaluations != o.Evaluations || s.Number != o.Number {
				t.Errorf("%s: search %+v with one worker, %+v with many", c.name, s, o)
			}
		}
		if !reflect.DeepEqual(warm.Bootstrap, many.Bootstrap) {
			t.Errorf("%s: refits differ with the number of workers", c.name)
		}
	}
}
