package run_test

import (
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/lang/diag"
)

// courseOf is a model whose final x is the integral of what interp reads, from 0 to 4, times b.
const courseOf = `
time t from 0 to 4
param b = 2, lag = 0.25
state x = 0
observe y = x ~ normal(1) from D.y
objective L = nll()
objective last = final(x)
data D {
  ID   = [1, 1, 2, 2, 3, 3, 3, 3]
  time = [1, 2, 2.5, 3, 1, 1, 2, 2]
  TV   = [10, 20, 7, 9, 1, 3, 4, 8]
  y    = [0, 0, 0, 0, 0, 0, 0, 0]
}
data E {
  who  = [1, 1, 2, 2]
  time = [1, 1.5, 2.5, 3.5]
  v    = [10, 20, 7, nan]
}
data U {
  time = [1, 3]
  v    = [5, 7]
}
`

// TestCourses has interp read the rows of an experiment, whatever these are chosen by: of several rows at one time, the
// first says what comes before and the last what follows.
func TestCourses(t *testing.T) {
	const by = "experiment s from D by D.ID\n"
	for _, c := range []struct {
		name, items, run string
		want             float64 // the integral
	}{
		{"from", "x' = b*interp(D.time, D.TV, t, kind = previous)\n" + by, "s_1", 60},
		{"from", "x' = b*interp(D.time, D.TV, t, kind = previous)\n" + by, "s_2", 30},
		{"from", "x' = b*interp(D.time, D.TV, t)\n" + by, "s_1", 65},
		{"the first", "x' = b*interp(D.time, D.TV, t)\n" + by, "", 65},
		{"expressions", "x' = b*interp(D.time + 0, 2*D.TV, t, kind = previous)\n" + by, "s_2", 60},
		{
			"names", "const clock = D.time\nlet tv = D.TV/2\nx' = b*interp(clock, tv, t, kind = previous)\n" + by,
			"s_2", 15,
		},
		{
			"function", "fn f(a, v, q) = interp(a, v, q, kind = previous)\nx' = b*f(D.time, D.TV, t)\n" + by, "s_2", 30,
		},
		{"params", "param u[8] = D.TV\nx' = b*interp(D.time, u, t, kind = previous)\n" + by, "s_2", 30},
		{"use", "x' = b*interp(D.time, D.TV, t)\nexperiment two { use D where ID == 2 }\n", "two", 30.5},
		{
			"another table", "x' = b*interp(E.time, E.v, t, kind = previous)\n" +
				"experiment s from D by D.ID { use E where who == D.ID }\n", "s_1", 65,
		},
		{
			"one row", "x' = b*interp(E.time, E.v, t)\n" +
				"experiment s from D by D.ID { use E where who == D.ID }\n",
			"s_2", 28,
		},
		{"common", "x' = b*interp(U.time, U.v, t, kind = next)\n" + by, "s_2", 26},
		{"jumps", "x' = b*interp(D.time, D.TV, t)\n" + by, "s_3", 1 + 3.5 + 16},
		{"jumps", "x' = b*interp(D.time, D.TV, t, kind = monotone)\n" + by, "s_3", 1 + 3.5 + 16},
		{"jumps", "x' = b*interp(D.time, D.TV, t, kind = previous)\n" + by, "s_3", 1 + 3 + 16},
		{"jumps", "x' = b*interp(D.time, D.TV, t, kind = next)\n" + by, "s_3", 1 + 4 + 16},
	} {
		m, err := odes.Parse("m.ode", courseOf+c.items, odes.ParseOptions{Experiment: c.run})
		if err != nil {
			t.Errorf("%s: %v", c.items, err)
			continue
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{Wrt: []string{"b"}, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		k := len(s.Values) - 1
		if got := s.Values[k].Value; !modeltest.Near(got, 2*c.want, 1e-9) {
			t.Errorf("%s in %q: %v, not %v, of %s", c.name, c.run, got, 2*c.want, c.items)
		}
		if got := s.Gradient[k]; !modeltest.Near(got, c.want, 1e-9) {
			t.Errorf("%s in %q: derivative %v, not %v, of %s", c.name, c.run, got, c.want, c.items)
		}
	}
}

// TestCourseJumps has derivatives by what moves the jumps of a course.
func TestCourseJumps(t *testing.T) {
	for kind, want := range map[string]float64{"linear": -(2 + 1 + 4), "previous": -(2 + 1 + 4), "next": -(3 + 4)} {
		m, err := odes.Parse("m.ode", courseOf+"x' = b*interp(D.time, D.TV, t - lag, kind = "+kind+")\n"+
			"experiment s from D by D.ID\n", odes.ParseOptions{Experiment: "s_3"})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{Wrt: []string{"lag"}, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Gradient[len(s.Gradient)-1]; !modeltest.Near(got, 2*want, 1e-9) {
			t.Errorf("%s: derivative by the lag %v, not %v", kind, got, 2*want)
		}
	}
}

// TestCourseRows has measurements read what their own rows say, where several rows have one time: a trough before a
// dose, and what is measured after it.
func TestCourseRows(t *testing.T) {
	const text = `
time t from 0 to 4
param b = 2
state x = 0
x' = 0
let w : [kg] = occ
let occ = %
data D {
  ID   = [1, 1, 1, 1, 1]
  time = [0, 2, 2, 2, 3]
  OCC  = [1, 1, 2, 2, 3] [kg]
  AMT  = [0, 0, 100, 0, 0]
  y    = [nan, 10, nan, 10, nan]
}
doses D { x }
observe y = x + b*w/1 [kg] ~ normal(1) from D.y
experiment s from D by D.ID
objective L = nll() - 2*0.9189385332046728
`
	for _, kind := range []string{"linear", "monotone", "spline", "previous", "next"} {
		m, err := odes.Parse("m.ode", strings.Replace(text, "%", "interp(D.time, D.OCC, t, kind = "+kind+")", 1),
			odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{Wrt: []string{"b"}, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		before, after := 2*1-10.0, 100+2*2-10.0
		if got, want := s.Values[0].Value, 0.5*(before*before+after*after); !modeltest.Near(got, want, 1e-12) {
			t.Errorf("%s: %v, not %v", kind, got, want)
		}
		if got, want := s.Gradient[0], before+2*after; !modeltest.Near(got, want, 1e-12) {
			t.Errorf("%s: derivative %v, not %v", kind, got, want)
		}
	}
}

// TestCourseMessages has what is wrong with the rows of a course.
func TestCourseMessages(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{
			strings.Replace(courseOf, "2.5, 3, 1,", "3, 2.5, 1,", 1) + "x' = interp(D.time, D.TV, t)\n" +
				"experiment s from D by D.ID\n",
			`row 4 of "D" with ID = 2 is at 2.5, after 3 in row 3`,
		},
		{
			strings.Replace(courseOf, "7, 9,", "nan, nan,", 1) + "x' = interp(D.time, D.TV, t)\n" +
				"experiment s from D by D.ID\n",
			`no row of "D" with ID = 2 holds a value that interp could read`,
		},
		{
			courseOf + "x' = interp(U.time, U.v, t)\nexperiment e { use D  use U where U.time < 2 }\n",
			`of "U", interp reads the rows that an experiment uses`,
		},
		{
			courseOf + "x' = 1\ndoses F { x }\ndata F {\n  ID = [1]\n  time = [0]\n  AMT = [5]\n}\n" +
				"experiment s from D by D.ID\n",
			`no experiment uses table "F", so its doses would not be given; write ` + "`use F where ID == D.ID`",
		},
		{
			courseOf + "x' = 1\ndoses F { x }\ndata F {\n  time = [0]\n  AMT = [5]\n}\nexperiment s { use D }\n",
			"write `use F` in the experiments",
		},
	} {
		m, err := odes.Parse("m.ode", c.text, odes.ParseOptions{})
		said := diag.Of(err)
		if m != nil {
			said = m.Warnings()
		}
		found := false
		for _, d := range said {
			found = found || strings.Contains(d.Message, c.want)
		}
		if !found {
			t.Errorf("said %v, not %q", said, c.want)
		}
	}
}
