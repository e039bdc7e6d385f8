package fit

import (
	"math"
	"os"
	"strings"
	"testing"

	"odes.dev/odes"
)

// alone returns the model of one experiment.
func alone(t *testing.T, text, experiment string) (*odes.Model, error) {
	t.Helper()
	return odes.Parse("m.ode", text, odes.ParseOptions{
		Files: os.DirFS("testdata/populations"), Experiment: experiment,
	})
}

// individualText is a population of which one patient has the closed form of TestIndividualClosed.
const individualText = `
time t from 0 to 25
param tka = 0.45 in [-3, 4], tcl = 1 ~ normal(1, 2), tv = 3.45 in [0, 7], sd = 0.7 in [0.01, 10]
param w_ka = 0.6 in [0.01, 3], w_cl = 0.3 in [0.01, 3], w_v = 0.1 in [0.01, 3]
random e_ka ~ normal(0, w_ka), e_cl ~ normal(0, w_cl), e_v ~ normal(0, w_v)
let ka = exp(tka + e_ka)
let CL = exp(tcl + e_cl)
let V = exp(tv + e_v)
state gut = 0, body = 0
let c = body/V
gut' = -ka*gut
body' = ka*gut - CL*c
data D = csv("theo_sd.csv", time = "TIME")
doses D { gut }
observe y = c ~ normal(sd) from D.DV
experiment subject from D by D.ID { }
solver { marginal = focei }
objective L = nll()
fit { over = [tka, tcl]  log = [tka] }
`

// TestIndividual: the most probable random effects of one patient, with the population fixed, are the EBEs that the
// integral over all patients finds, with its errors: also with covariances and with occasions, some of which the
// patient lacks.
func TestIndividual(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	iov := strings.NewReplacer("random k ~ normal(0, w) by D.OCC",
		"random k[2] ~ mvnormal([[w^2, 0.2*w^2], [0.2*w^2, 2*w^2]]) by D.OCC", "exp(0.5*k)", "exp(0.5*k[2])", "exp(k)",
		"exp(k[1])").Replace(occasions)
	for _, c := range []struct{ text, name string }{
		{individualText, "subject_1"}, {blockText, "subject_2"}, {occasions, "subject_1"}, {iov, "subject_1"},
	} {
		whole, err := alone(t, c.text, "")
		if err != nil {
			t.Fatal(err)
		}
		all, err := whole.Population(t.Context(), odes.Options{Wrt: []string{}}, false)
		if err != nil {
			t.Fatal(err)
		}
		m, err := alone(t, c.text, c.name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(t.Context(), m, Options{Options: odes.Options{
			Settings: []odes.Setting{{Key: "fit.intervals", Value: "wald"}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all.Subjects {
			if s.Name != c.name {
				continue
			}
			if len(r.Estimates) != len(s.Mode) {
				t.Fatalf("%s has %d estimates, not %d", c.name, len(r.Estimates), len(s.Mode))
			}
			for i, e := range r.Estimates {
				if math.Abs(e.Value-s.Mode[i]) > 1e-5*s.Errors[i] || math.Abs(e.StdErr-s.Errors[i]) > 1e-5*s.Errors[i] {
					t.Errorf("%s of %s is %.9g (%.6g), and the EBE %.9g (%.6g)", e.Text(), s.Name, e.Value, e.StdErr,
						s.Mode[i], s.Errors[i])
				}
			}
		}
		if r.Status != "ok" || !r.KKT.Certified || !math.IsNaN(r.AIC) || len(r.Predictions) != r.Rows || r.Rows == 0 {
			t.Errorf("%s: %s, %d rows", c.name, r.Status, r.Rows)
		}
	}
}

// TestIndividualClosed compares a patient with the closed form of one compartment with absorption, whose minimum and
// Hessian were found by SciPy, and the interval with the profile of that.
func TestIndividualClosed(t *testing.T) {
	m, err := alone(t, individualText, "subject_1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(r.Objective.Value-individualValue) > 1e-8*individualValue {
		t.Errorf("the objective is %.12g, not %.12g", r.Objective.Value, individualValue)
	}
	for i, want := range individualValues {
		e := r.Estimates[i]
		for k, x := range []float64{e.Value, e.StdErr, e.Lower, e.Upper} {
			if math.Abs(x-want[k]) > 2e-5*want[1] {
				t.Errorf("%s, number %d: %.9g, not %.9g", e.Name, k, x, want[k])
			}
		}
	}
}

// TestInExperiment: values for one experiment hold where the model is that one, and are passed over in others.
func TestInExperiment(t *testing.T) {
	value := func(experiment string, set ...odes.Assignment) (float64, error) {
		m, err := alone(t, individualText, experiment)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{Wrt: []string{"e_ka"}, Set: set})
		if err != nil {
			return 0, err
		}
		return s.Values[0].Value, nil
	}
	at := func(name string, x float64) odes.Assignment { return odes.Assignment{Name: name, Values: []float64{x}} }
	plain, _ := value("subject_1")
	moved, _ := value("subject_1", at("e_ka", 0.2))
	both, err := value("subject_1", at("e_ka in subject_1", 0.2), at("e_ka in subject_2", 9), at("tka in subject_3", 9))
	if err != nil || both != moved || moved == plain {
		t.Errorf("%g, %g, %g, %v", plain, moved, both, err)
	}
	for _, c := range [][3]string{
		{"", "e_ka in subject_1", "integrated over random effects"},
		{"", "tka in subject_1", "--in subject_1"},
		{"subject_1", "e_ka in subject_99", `there is no experiment "subject_99"; did you mean`},
		{"subject_1", "e_kq in subject_1", "no param \"e_kq\""},
	} {
		if _, err := value(c[0], at(c[1], 1)); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// What SciPy 1.17 finds for individualText: values, errors by the inverse Hessian, and ends of 95 % profiles.
var (
	individualValue  = 11.019312270658
	individualValues = [][4]float64{
		{0.117762910366, 0.1331901508, -0.1394410071, 0.3851406896},
		{-0.487280384172, 0.1040156839, -0.7037791936, -0.2931526913},
		{-0.0703523024343, 0.04685753879, -0.1636093779, 0.02056968375},
	}
)

// TestSpreadsOfOne: how effects differ between experiments is nothing that one experiment tells.
func TestSpreadsOfOne(t *testing.T) {
	for _, of := range []string{"w", "Omega"} {
		m, err := odes.Parse("one.ode", `time t from 0 to 4
param w = 0.5, Omega[2,2] = [[1, 0.1], [0.1, 1]]
random e ~ normal(0, w)
random u[2] ~ mvnormal(Omega)
state x = 1
x' = -exp(e + u[1])*x
data D { ID = [1, 1, 2, 2]  time = [1, 2, 1, 2]  y = [0.4, 0.2, 0.3, 0.1] }
observe y = x + u[2] ~ normal(0.1) from D.y
experiment subject from D by D.ID
objective L = nll()
`, odes.ParseOptions{Experiment: "subject_1"})
		if err != nil {
			t.Fatal(err)
		}
		o := Options{}
		o.Settings = []odes.Setting{{Key: "fit.over", Value: "[" + of + "]"}}
		if _, err := Run(t.Context(), m, o); err == nil || !strings.Contains(err.Error(), "cannot be searched for in") {
			t.Errorf("%s: %v", of, err)
		}
	}
}
