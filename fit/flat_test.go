package fit_test

import (
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// TestMinimumAtKink has minima where a condition or a kink is at its threshold, so that derivatives, and what follows
// from them, are those of one side.
func TestMinimumAtKink(t *testing.T) {
	const head = `
time t from 0 to 6
param A = 1 in [0, 5], k = 1 in [0.1, 5]
state x = 1, z = 1
z' = 1 - z
data D { time = [1, 2, 5]  v = [0.5, 0.2, 0.01] }
objective L = nll()
fit { minimize = L  over = [k, A] }
`
	for text, want := range map[string]bool{
		"x' = -k*x\nobserve o = (if z > A then 2*x else x) ~ normal(1) from D.v":       true,
		"x' = -k*x*(if z > A then 2 else 1)\nobserve o = x ~ normal(1) from D.v":       true,
		"x' = -k*x*(if z > A + 1 then 2 else 1)\nobserve o = x ~ normal(1) from D.v":   false,
		"x' = -k*x\nobserve o = (if z > A + 1 then 2*x else x) ~ normal(1) from D.v":   false,
		"x' = -k*x*(if z > 1 then 2 else 1)\nobserve o = x*(A/A) ~ normal(1) from D.v": false, // z is not fitted
	} {
		r := run(t, parse(t, head+text), fit.Options{})
		warned := 0
		for _, d := range r.Warnings {
			if d.Code == odes.CodeKink {
				warned++
			}
		}
		if warned != map[bool]int{true: 1}[want] {
			t.Errorf("%s: %v", text, r.Warnings)
		}
	}
}

// TestBesideKink has a minimum at a kink that no search meets exactly: the time of an event comes as near to a datum as
// the objective tells, and derivatives are those of one side without a mark.
func TestBesideKink(t *testing.T) {
	const text = `
time t from 0 to 5
param a = 3.4119 in [0.01, 20], b = 0.5329 in [0.01, 20], lag = 2.3367 in [0.05, 2.339]
state x = a
discrete on = 0
x' = b*on
event go at lag { on = 1 }
data D {
  time = [0.292, 0.788, 0.818, 0.867, 1.14, 1.388, 1.689, 1.742, 2.146, 2.918, 2.971, 3.825, 3.897, 4.187, 4.485, 4.639]
  v = [2.7595, 2.24309, 2.33819, 3.38702, 3.19339, 1.97623, 2.56891, 1.8819, 1.759, 2.71925, 3.59409, 3.28795, 4.38971,
    2.8328, 3.85884, 4.679]
}
observe y = x ~ normal(0.5) from D.v
objective L = nll()
fit { over = OVER  intervals = wald }
`
	for over, want := range map[string]bool{"[a, b, lag]": true, "[a, b]": false} {
		r := run(t, parse(t, strings.Replace(text, "OVER", over, 1)), fit.Options{})
		if said := messages(r); r.Status != "ok" || strings.Contains(said, "L has a kink at the minimum, in") != want {
			t.Errorf("%s: %s, %v: %s", over, r.Status, r.Estimates, said)
		}
	}
}

// TestFlatDirections has minima along which several estimates may move together, and minima that tell each: the fit
// names those that belong to one direction, and no others.
func TestFlatDirections(t *testing.T) {
	const head = "time t from 0 to 4\nparam u = 0.7, w = 1.3, a = 1, b = 2\nstate x = 1, y = 0\ny' = a*x - b*y\n"
	// As sums of squares that are no likelihoods.
	const fitted = "objective L = sum_at([0.5, 1, 2, 3], (x - exp(-0.8*t))^2)"
	for _, c := range []struct {
		model, fit string
		want       []string // names of each direction
	}{
		{"x' = -u*w*x\n" + fitted, "over = [u, w]", []string{"u and w"}},
		{"x' = -u*w*x\n" + fitted, "over = [u, w] log = all", []string{"u and w"}},
		{"x' = -(u + w)*x\n" + fitted, "over = [u, w]", []string{"u and w"}},
		{"x' = -(u + w)*x\n" + fitted, "over = [u, w] log = all", []string{"u and w"}},
		{"x' = -u*x\n" + fitted, "over = [u, w]", []string{"!w"}},
		{"x' = -u*x\n" + fitted + " + (w - 2)^2", "over = [u, w]", nil},
		{
			"x' = -u*w*x\n" + fitted + " + (a*b - 3)^2", "over = [u, w, a, b]",
			[]string{"u and w", "a and b"},
		},
		{
			"x' = -u*w*a*x\n" + fitted + " + (b - 1)^2", "over = [u, w, a, b]",
			[]string{"", ""},
		},
		// Only the product of three; and only two of them are free.
		{"x' = -u*w*a*x\n" + fitted, "over = [u, w]", []string{"u and w"}},
		// A bound that holds one of them tells the other.
		{"x' = -u*w*x\n" + fitted, "over = [u]", nil},
		// Nearly the same: the second column differs by a ten thousandth of it.
		{
			"x' = -(u + w)*x - 1e-2*w*x^2\nobjective L = sum_at([0.5, 1, 2, 3], (x - exp(-0.8*t) + 0.002*t)^2)\n",
			"over = [u, w]", nil,
		},
		// Flip-flop: absorption and elimination may change places, and each minimum tells both.
		{
			"x' = -u*x\nobjective L = sum_at([0.5, 1, 2, 3], (y - 1.2*(exp(-0.5*t) - exp(-1.7*t)))^2)\n",
			"over = [u, b, a]", nil,
		},
	} {
		r := run(t, parse(t, head+c.model+"\nfit { "+c.fit+" }\nsolver { rtol = 1e-8  atol = 1e-11 }\n"), fit.Options{})
		var said []string
		for _, d := range r.Warnings {
			if d.Code == fit.CodeFit && strings.Contains(d.Message, "does not tell") {
				said = append(said, d.Message)
			}
		}
		ok := len(said) == len(c.want)
		for i := range min(len(said), len(c.want)) {
			want := "does not tell " + c.want[i] + " apart: "
			switch {
			case c.want[i] == "":
				want = "apart"
			case c.want[i][0] == '!':
				want = "does not tell " + c.want[i][1:] + ":"
			}
			ok = ok && strings.Contains(strings.Join(said, "\n"), want)
		}
		if !ok {
			t.Errorf("%s, %s: %s, at %v: %q, want %q", c.model, c.fit, r.Starts[0].Status, r.Estimates, said, c.want)
		}
	}
}

// TestToldByFold: what a fold holds is told, whatever second derivatives of the side say on which a search ends.
func TestToldByFold(t *testing.T) {
	for _, u := range []string{"0.5", "0.7", "0.9"} {
		r := run(t, parse(t, `time t from 0 to 4
param u = `+u+`, w = 1.3
state x = 1
x' = -u*x
objective L = max(final(x), 1 - final(x)) + 0.1*(w - 2*u)^2
fit { over = [u, w] }
solver { rtol = 1e-8  atol = 1e-11 }
`), fit.Options{})
		near(t, "u", estimate(t, r, "u").Value, math.Ln2/4, 1e-6)
		if r.Status != "ok" || strings.Contains(messages(r), "does not tell") {
			t.Errorf("from u = %s: %s, %s", u, r.Status, messages(r))
		}
	}
}
