package run_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/diag"
)

// prepared returns a Runner of a text.
func prepared(t *testing.T, text string, opts odes.Options) *odes.Runner {
	t.Helper()
	m, err := odes.Parse("warm.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Prepare(opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func runs(t *testing.T, r *odes.Runner) *odes.Sensitivities {
	t.Helper()
	s, err := r.Sensitivities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWarmNetworks moves rate constants and totals of random networks with conserved quantities: warm searches come to
// the states and derivatives that the runs lead to, or to other stable ones, with the totals of the new values, and
// never to negative ones.
func TestWarmNetworks(t *testing.T) {
	draw := rand.New(rand.NewPCG(seeds.Of(t, 16), 2))
	count, warm, other := *networks, 0, 0
	if testing.Short() {
		count = min(count, 4)
	}
	for k := range count {
		text, n, _ := randomNetwork(draw)
		set := func() []odes.Assignment {
			return []odes.Assignment{
				{Name: "f0", Values: []float64{math.Exp(3*draw.Float64() - 1.5)}},
				{Name: "b1", Values: []float64{math.Exp(3*draw.Float64() - 1.5)}},
				{Name: "initial(S0)", Values: []float64{0.1 + 2*draw.Float64()}},
			}
		}
		opts := odes.Options{Set: set(), Threads: 1}
		r, own := prepared(t, text, opts), prepared(t, text, opts)
		r.Warm(true)
		now := opts.Set
		for range 5 {
			to := set()
			a, errA := r.Sensitivities(t.Context())
			b, errB := own.Sensitivities(t.Context())
			if (errA == nil) != (errB == nil) {
				t.Errorf("network %d: %v with warm starts, and %v\n%s", k, errA, errB, text)
			} else if errA == nil {
				warm += a.Stats.SteadyWarm
				size := 1.0
				for i := range n {
					size = max(size, b.Values[2*i].Value*b.Values[2*i].Value)
				}
				differs := false
				for i, v := range b.Values {
					off := !(math.Abs(a.Values[i].Value-v.Value) <= 1e-9*size)
					differs = differs || off
					if i%2 == 0 && i < 2*n && a.Values[i].Value < 0 || i >= 2*n && off {
						t.Errorf("network %d: %s = %v, and %v\n%s", k, v.Name, a.Values[i].Value, v.Value, text)
					}
				}
				for i, d := range b.Gradient {
					differs = differs || !(math.Abs(a.Gradient[i]-d) <= 1e-6*(size+math.Abs(d)))
				}
				if differs && !isOwn(t, text, now, a, n) {
					other++
				}
			}
			if err := r.Set(to...); err != nil {
				t.Fatal(err)
			}
			if err := own.Set(to...); err != nil {
				t.Fatal(err)
			}
			now = to
		}
	}
	t.Logf("%d networks, %d warm searches, %d other results", count, warm, other)
	if warm < 3*count/2 || other > 0 {
		t.Errorf("of %d networks, %d searches were warm, and %d results were others", count, warm, other)
	}
}

// isOwn reports whether the state that a warm search has found is a stable one of the model: a run from there stays.
// Some networks have two such states.
func isOwn(t *testing.T, text string, to []odes.Assignment, warm *odes.Sensitivities, n int) bool {
	for i := range n {
		name := fmt.Sprintf("initial(S%d)", i)
		to = slices.DeleteFunc(slices.Clone(to), func(a odes.Assignment) bool { return a.Name == name })
		to = append(to, odes.Assignment{Name: name, Values: []float64{warm.Values[2*i].Value}})
	}
	at, err := prepared(t, text, odes.Options{Set: to, Threads: 1}).Sensitivities(t.Context())
	if err != nil {
		return false
	}
	for i, v := range at.Values {
		x := warm.Values[i].Value
		if !(math.Abs(v.Value-x) <= 1e-6*(1+math.Abs(x))) {
			return false
		}
	}
	return true
}

// schloegl is a switch: from x = 0 it goes to the upper state where feed is above 0.648, and from x = 3 to the lower
// one where feed is below 0.392. Steady states are the roots of feed + 3 x² - x³ - 2.52 x.
const schloegl = `
time t from 0 to 1
param feed = 0.8, loss = 2.52, x0 = 0
state x = x0
x' = feed + 3*x^2 - x^3 - loss*x
objective level = steady(x)
`

// TestWarmSwitch: a warm search stays on the branch of the last state, and says so; one that is not warm ends where its
// run leads to, on either side. Where the branch ends, a warm search does likewise, to the same bits.
func TestWarmSwitch(t *testing.T) {
	at := func(feed, x0 float64) []odes.Assignment {
		return []odes.Assignment{{Name: "feed", Values: []float64{feed}}, {Name: "x0", Values: []float64{x0}}}
	}
	opts := odes.Options{Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}}}
	r, own := prepared(t, schloegl, opts), prepared(t, schloegl, opts)
	r.Warm(true)
	for _, c := range []struct {
		feed, x0 float64
		warm     bool
		same     bool // as that of the run
	}{
		{0.8, 0, false, true},
		{0.6, 0, true, false}, // the run stays below, and the branch above goes on
		{0.45, 3, true, true},
		{0.3, 3, false, true},  // the branch has ended
		{0.45, 3, true, false}, // and now the one below goes on
		{0.45, 0, true, true},
	} {
		for _, x := range []*odes.Runner{r, own} {
			if err := x.Set(at(c.feed, c.x0)...); err != nil {
				t.Fatal(err)
			}
		}
		a, b := runs(t, r), runs(t, own)
		x, y := a.Values[0].Value, b.Values[0].Value
		for _, v := range []float64{x, y} {
			if f := c.feed + 3*v*v - v*v*v - 2.52*v; math.Abs(f) > 1e-14 || 6*v-3*v*v-2.52 >= 0 {
				t.Errorf("%+v: %v is no stable steady state", c, v)
			}
		}
		if same := math.Abs(x-y) < 1e-12; same != c.same || !c.warm && x != y {
			t.Errorf("%+v: %v, and the run leads to %v", c, x, y)
		}
		if got := a.Stats.SteadyWarm == 1; got != c.warm || a.Stats.Rests[0].Warm != c.warm || b.Stats.SteadyWarm > 0 {
			t.Errorf("%+v: %+v", c, a.Stats)
		}
		if c.warm && a.Stats.SteadySaved == 0 {
			t.Errorf("%+v: nothing was saved", c)
		}
	}
	r.Forget()
	if s := runs(t, r); s.Stats.SteadyWarm != 0 || s.Values[0].Value != runs(t, own).Values[0].Value {
		t.Errorf("after Forget: %+v", s.Stats)
	}
}

// TestWarmExperiments: with steady_start = warm, experiments begin at the steady state of the first one. Where one of
// them leads to another, an independent run shows it, and without that a warning does.
//
//odes:goroutines
func TestWarmExperiments(t *testing.T) {
	const text = schloegl + `
data D { time = [inf, inf, inf]  y = [1.8, 1.7, 0.2]  id = [1, 2, 3] }
observe m = x ~ normal(0.1) from D.y
objective J = nll()
experiment high { x0 = 3  use D where id == 1 }
experiment next { feed = 0.75  use D where id == 2 }
experiment low { feed = 0.45  use D where id == 3 }
`
	m, err := odes.Parse("warm.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(start, trust string, threads int) *odes.Sensitivities {
		s, err := m.Sensitivities(t.Context(), odes.Options{
			Of: []string{"J"}, Wrt: []string{"feed", "loss"}, Threads: threads,
			Settings: []odes.Setting{{Key: "solver.steady_start", Value: start}, {Key: "sens.trust", Value: trust}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	warned := func(s *odes.Sensitivities) bool {
		return slices.ContainsFunc(s.Warnings, func(d diag.Diagnostic) bool {
			return d.Code == odes.CodeSteady && strings.Contains(d.Message, "steady_start = warm")
		})
	}
	for _, threads := range []int{1, 8} {
		own, warm := run("own", "on", threads), run("warm", "off", threads)
		if own.Stats.SteadyWarm != 0 || own.Values[0].Trust != odes.Sound || warned(own) {
			t.Errorf("own: %+v %v", own.Stats, own.Warnings)
		}
		if auto := run("auto", "on", threads); auto.Values[0].Value != own.Values[0].Value {
			t.Errorf("auto: %v, own: %v", auto.Values[0].Value, own.Values[0].Value)
		}
		if warm.Stats.SteadyWarm != 2 || !warned(warm) || math.Abs(warm.Values[0].Value-own.Values[0].Value) < 1 {
			t.Errorf("warm: %v, own: %v; %+v %v", warm.Values[0].Value, own.Values[0].Value, warm.Stats, warm.Warnings)
		}
		if judged := run("warm", "on", threads); judged.Values[0].Trust != odes.Lost || judged.Status != "partial" {
			t.Errorf("warm beside an independent run: %v, %s", judged.Values[0].Trust, judged.Status)
		}
	}
}

// TestKnownSteadyStates: experiments with one equilibration seek its state once, and those that read what differs seek
// their own. Values are those of separate models.
//
//odes:goroutines
func TestKnownSteadyStates(t *testing.T) {
	const base = `
time t from 0 to 2
param k = 0.7, s = 1.3, dose = 1, total = 2
state a = total, b = 0, c = 0
a' = k*b - s*a
b' = s*a - k*b
c' = dose*b*(1 + 0*k) - c
equilibrate { dose = %s }
objective J = initial(b) + 3*final(c) + 5*steady(c)
`
	const observed = `
data D { time = [0, 2, inf]  y = [0, 1, 2] }
observe o = c ~ normal(0.1) from D.y
objective J = nll()
`
	parts := func(base string) (sum float64, text string) {
		text = strings.Replace(base, "objective J", observed+"objective J0", 1)
		for i, dose := range []float64{0.5, 1, 2, 4} {
			text += fmt.Sprintf("experiment e%d { dose = %v  use D }\n", i, dose)
			one := strings.Replace(base, "dose = 1,", fmt.Sprintf("dose = %v,", dose), 1)
			one = strings.Replace(one, "objective J", observed+"objective J0", 1)
			sum += runs(t, prepared(t, one, odes.Options{Of: []string{"J"}})).Values[0].Value
		}
		return sum, text
	}
	for _, c := range []struct {
		dose  string
		known int
	}{{"0", 4 + 1}, {"dose/2", 2}} { // the model itself, whose run is made as well, is like the second experiment
		sum, text := parts(fmt.Sprintf(base, c.dose))
		for _, threads := range []int{1, 8} {
			s := runs(t, prepared(t, text, odes.Options{Of: []string{"J"}, Threads: threads}))
			if s.Stats.SteadyKnown != c.known || s.Stats.SteadySaved == 0 {
				t.Errorf("equilibrate { dose = %s }: %+v", c.dose, s.Stats)
			}
			if math.Abs(s.Values[0].Value-sum) > 1e-13*math.Abs(sum) {
				t.Errorf("equilibrate { dose = %s }: J = %v, and %v one by one", c.dose, s.Values[0].Value, sum)
			}
		}
	}
}

// TestWarmPeriod: a warm search for a periodic steady state takes fewer periods, and comes to the same one.
func TestWarmPeriod(t *testing.T) {
	const text = `
time t from 0 to 12
param ka = 0.8, ke = 0.15, dose = 100
state g = 0, c = 0
g' = -ka*g
c' = ka*g - ke*c - 0.01*c^2
event bolus every 12 { g += dose }
equilibrate { } every 12
objective trough = initial(c)
objective auc = integral(c)
solver { rtol = 1e-9  atol = 1e-11 }
`
	r := prepared(t, text, odes.Options{Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}}})
	own := prepared(t, text, odes.Options{Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}}})
	r.Warm(true)
	for i, ke := range []float64{0.15, 0.16, 0.14} {
		for _, x := range []*odes.Runner{r, own} {
			if err := x.Set(odes.Assignment{Name: "ke", Values: []float64{ke}}); err != nil {
				t.Fatal(err)
			}
		}
		a, b := runs(t, r), runs(t, own)
		for k := range a.Values {
			if x, y := a.Values[k].Value, b.Values[k].Value; math.Abs(x-y) > 1e-8*math.Abs(y) {
				t.Errorf("ke = %v: %s = %v, and %v", ke, a.Values[k].Name, x, y)
			}
		}
		for k, d := range b.Gradient {
			if math.Abs(a.Gradient[k]-d) > 1e-6*math.Abs(d) {
				t.Errorf("ke = %v: derivative %d is %v, and %v", ke, k, a.Gradient[k], d)
			}
		}
		if i > 0 && (a.Stats.SteadyWarm != 1 || a.Stats.Periods >= b.Stats.Periods) {
			t.Errorf("ke = %v: %+v, and %+v", ke, a.Stats, b.Stats)
		}
	}
}

// TestKnownMasses: experiments that differ only in the mass matrix have steady states of their own. With algebraic
// equations, x[1] + c x[2] + x[3] is conserved, and x[2] comes to (2 + c)/(4 + c).
func TestKnownMasses(t *testing.T) {
	const text = `
time t from 0 to 1
param k = 1
const c = 1
const M = [[1, c, 0], [0, 0, 0], [0, 0, 1]]
state x[3] = [2, 1, 0]
mass(x) = M
x' = [-k*(x[1] - x[3]), x[1] - 2*x[2], k*(x[1] - x[3])]
equilibrate { }
data D { time = [0.5]  y = [0] }
observe o = x[2] ~ normal(1) from D.y
experiment same { use D }
experiment two { c = 2  use D }
experiment four { c = 4  use D }
objective J = nll()
`
	m, err := odes.Parse("warm.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.CompareAll(odes.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, mass := range []float64{1, 2, 4} {
		if got, want := c.Groups[i].Prediction.Values[0], (2+mass)/(4+mass); math.Abs(got-want) > 1e-9 {
			t.Errorf("c = %v: x[2] = %v, want %v", mass, got, want)
		}
	}
}
