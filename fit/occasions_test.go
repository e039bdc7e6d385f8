package fit

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
)

// occasions is a population whose volume, bioavailability and lag differ from one occasion to the next. The first
// subject has occasions 1 and 3, a measurement of the first at the time of the dose of the other among them.
const occasions = `
time t from 0 to 60
param CL = 1 in [0.1, 10], V = 10 in [1, 100], w = 0.3 in [0.01, 2], sd = 0.3 in [0.01, 5]
random k ~ normal(0, w) by D.OCC
let Vi = V*exp(k)
let Fi = exp(0.5*k)
let lagi = 2*exp(k)
state A = 0
let c = A/Vi
A' = -CL*c
data D = csv("occ.csv", time = "TIME")
doses D { A f = Fi lag = lagi }
observe y = c ~ normal(sd) from D.DV
experiment subject from D by D.ID { }
objective L = nll()
`

// TestOccasions: the likelihood of a subject with two occasions is that of the closed form, also where a measurement of
// one and the dose of the next have one time; doses have lag and bioavailability of their occasion.
func TestOccasions(t *testing.T) {
	m, err := odes.Parse("m.ode", occasions, odes.ParseOptions{
		Files: os.DirFS("testdata/populations"), Experiment: "subject_1",
	})
	if err != nil {
		t.Fatal(err)
	}
	closed := func(k1, k3 float64) float64 {
		v1, v3 := 10*math.Exp(k1), 10*math.Exp(k3)
		left := 100 * math.Exp(0.5*k1-(24-2*math.Exp(k1))/v1)
		later := func(t float64) float64 {
			return (left*math.Exp(-(t-24)/v3) + 100*math.Exp(0.5*k3-(t-24-2*math.Exp(k3))/v3)) / v3
		}
		sum := 0.0
		for _, row := range [][2]float64{
			{6.3, 100 * math.Exp(0.5*k1-(5-2*math.Exp(k1))/v1) / v1},
			{1, left / v1},
			{5.9, later(30)},
			{1.2, later(50)},
		} {
			r := (row[0] - row[1]) / 0.3
			sum += r*r/2 + math.Log(0.3) + 0.5*math.Log(2*math.Pi)
		}
		for _, k := range []float64{k1, 0.7, k3} { // of the random effects
			sum += k*k/(2*0.3*0.3) + math.Log(0.3) + 0.5*math.Log(2*math.Pi)
		}
		return sum
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{
		Wrt: []string{"k"}, Set: []odes.Assignment{{Name: "k", Values: []float64{0.1, 0.7, -0.2}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := closed(0.1, -0.2); math.Abs(s.Values[0].Value-want) > 1e-6*want {
		t.Errorf("%.9g, not %.9g", s.Values[0].Value, want)
	}
	const h = 1e-5
	for i, want := range []float64{
		(closed(0.1+h, -0.2) - closed(0.1-h, -0.2)) / (2 * h), 0.7 / 0.09,
		(closed(0.1, -0.2+h) - closed(0.1, -0.2-h)) / (2 * h),
	} {
		if math.Abs(s.Gradient[i]-want) > 1e-6*math.Abs(want) {
			t.Errorf("the derivative by k[%d] is %.9g, not %.9g", i+1, s.Gradient[i], want)
		}
	}
}

// TestOccasionsLikeOthers: occasions that all subjects have are the same as a random effect for each of them, and one
// that a subject lacks changes nothing.
func TestOccasionsLikeOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	const text = `
time t from 0 to 46
param CL = 3.5, V = 50, w = 0.2, u = 0.25, r = 0.3, sp = 0.12
RANDOM
state A = 0
let c = A/(V*exp(e2))
A' = -CL*exp(e1)*c
data D = csv("p_iov.csv", time = "TIME")
doses D { A }
observe y = c ~ normal(sp*y) from D.DV
experiment subject from D by D.ID { }
solver { marginal = METHOD }
objective L = nll()
`
	const covariances = "mvnormal([[w^2, r*w*u], [r*w*u, u^2]])"
	of := func(random, method string) *odes.Population {
		m := populationModel(t, strings.NewReplacer("RANDOM", random, "METHOD", method).Replace(text))
		p, err := m.Population(t.Context(), odes.Options{Wrt: []string{"CL", "w", "u", "r"}}, true)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	// What changes at 24 is a measurement of the second occasion there: no row of the first has that time.
	a := of("random e[2] ~ "+covariances+" by D.OCC\nlet e1 = e[1]\nlet e2 = e[2]", "focei")
	b := of("random f[2] ~ "+covariances+"\nrandom g[2] ~ "+covariances+"\nlet e1 = if t < 24 then f[1] else g[1]\n"+
		"let e2 = if t < 24 then f[2] else g[2]", "focei")
	if math.Abs(a.Value-b.Value) > 1e-6 || !slices.Equal(a.Effects, []string{"e[1,1]", "e[1,2]", "e[2,1]", "e[2,2]"}) {
		t.Errorf("%.9g, not %.9g; %s", a.Value, b.Value, a.Effects)
	}
	for i := range a.Subjects {
		x, y := &a.Subjects[i], &b.Subjects[i]
		for k := range y.Mode {
			if math.Abs(x.Mode[k]-y.Mode[k]) > 1e-6 || math.Abs(x.Errors[k]-y.Errors[k]) > 1e-6 {
				t.Errorf("%s: %s is %g ± %g, not %g ± %g", x.Name, a.Effects[k], x.Mode[k], x.Errors[k], y.Mode[k],
					y.Errors[k])
			}
		}
		for k := range y.Gradient {
			if math.Abs(x.Gradient[k]-y.Gradient[k]) > 1e-5*max(math.Abs(y.Gradient[k]), 1) {
				t.Errorf("%s: gradient %g, not %g", x.Name, x.Gradient, y.Gradient)
			}
		}
	}
	m := populationModel(t, occasions)
	p, err := m.Population(t.Context(), odes.Options{}, false)
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Subjects[0]; s.Mode[1] != 0 || s.Errors[1] != 0.3 || !slices.Equal(s.Lacks, []bool{false, true, false}) {
		t.Errorf("%+v", s)
	}
	if s := p.Subjects[1]; s.Mode[0] != 0 || s.Mode[1] == 0 || s.Mode[2] != 0 {
		t.Errorf("%+v", s)
	}
}

// TestOccasionRefusals: what cannot be said of occasions says so.
func TestOccasionRefusals(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	for text, want := range map[string]string{
		strings.Replace(occasions, "occ.csv", "occ_ss.csv", 1):                      "that is not the start",
		strings.Replace(occasions, "by D.OCC", "by D.OCK", 1):                       "OCK",
		strings.Replace(occasions, "by D.OCC", "by 3", 1):                           "`by` names a column",
		strings.Replace(occasions, "by D.OCC", "by t", 1):                           "`by` names a column",
		strings.Replace(occasions, "lag = lagi", "lag = 0.01*A", 1):                 "\"A\"",
		strings.Replace(occasions, "time t from 0 to 60", "time t from k to 60", 1): "changes with occasions",
		strings.Replace(occasions, "= nll()", "= nll() + k", 1):                     "changes with occasions",
		strings.Replace(occasions, "subject from D by D.ID { }", "a { use D where ID == 1 }", 1): "experiments are " +
			"made from these",
	} {
		_, err := odes.Parse("m.ode", text, odes.ParseOptions{Files: os.DirFS("testdata/populations")})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nsays %v, not %s", text, err, want)
		}
	}
}
