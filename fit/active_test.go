package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"odes.dev/odes/fit"
)

// messages returns those of the warnings of a fit.
func messages(r *fit.Result) string {
	var list []string
	for _, d := range r.Warnings {
		list = append(list, d.Message)
	}
	return strings.Join(list, "\n")
}

// TestConstrainedErrors fits y = A·B·exp(-k·t) and more under constraints. The data tell of A and B their product
// alone. What an active constraint decides is told, and standard errors are those of the model in which it was solved.
func TestConstrainedErrors(t *testing.T) {
	const head = `time t from 0 to 5
param k = 0.3 in [0.01, 5], A = 2 in [0.1, 10], B = 1 in [0.1, 10]
state x = 1
x' = -k*x
data D { time = [1, 2, 3, 5]  y = [1.8, 1.2, 0.85, 0.35] }
solver { rtol = 1e-9  atol = 1e-11 }
objective L = nll()
`
	const both = "observe o = A*B*x ~ normal(0.05) from D.y\n"
	fitted := func(text string) *fit.Result { return run(t, parse(t, head+text), fit.Options{}) }
	for _, c := range []struct {
		text string
		lost []string
		free string // the same without the constraint, which has the same standard errors; "": none
		said string
	}{
		{both + "constraint c: k <= 3", []string{"A", "B"}, "", "A and B are not identifiable"},
		{both + "constraint c: A*B == 3", []string{"A", "B"}, "", "A and B are not identifiable"},
		{both + "constraint c: k <= 0.35", []string{"A", "B"}, "", "constraint c is active"},
		{both + "constraint c: A == 3", nil, "observe o = 3*B*x ~ normal(0.05) from D.y\nfit { over = [k, B] }", ""},
		{
			both + "constraint c: A - B == 1", nil,
			"observe o = (B + 1)*B*x ~ normal(0.05) from D.y\nfit { over = [k, B] }", "",
		},
		{
			"observe o = A*x + B*0 ~ normal(0.05) from D.y\nconstraint c: k <= 3",
			[]string{"B"},
			"", "B is not identifiable",
		},
		// The search moves B onto the constraint, which asks nothing of it.
		{
			"observe o = A*x + B*0 ~ normal(0.05) from D.y\nconstraint c: A - B <= 1",
			[]string{"B"},
			"", "B is not identifiable",
		},
		{
			"observe o = A*x ~ normal(0.05) from D.y\nconstraint c: k <= 3\nfit { over = [k, A] }", nil,
			"observe o = A*x ~ normal(0.05) from D.y\nfit { over = [k, A] }", "the intervals are Wald's",
		},
	} {
		r := fitted(c.text)
		for i := range r.Estimates {
			x := &r.Estimates[i]
			alone := strings.Contains(c.text, "constraint c: "+x.Name+" == ") ||
				strings.Contains(c.text, "constraint c: "+x.Name+" <= 0.35")
			if math.IsInf(x.StdErr, 1) != slices.Contains(c.lost, x.Name) || x.Decided != alone ||
				math.IsNaN(x.StdErr) != alone || math.IsNaN(x.Upper) != alone {
				t.Errorf("%s: %s ± %g to %g, decided: %t", c.text, x.Name, x.StdErr, x.Upper, x.Decided)
			}
		}
		if r.Identifiable != (c.lost == nil) || !strings.Contains(messages(r), c.said) {
			t.Errorf("%s: %s", c.text, messages(r))
		}
		if c.free == "" {
			continue
		}
		for _, x := range fitted(c.free).Estimates {
			y := estimate(t, r, x.Name)
			near(t, c.text+": "+x.Name, y.Value, x.Value, 1e-6)
			// With an equality the information is the expected one; these residuals are small.
			near(t, c.text+": error of "+x.Name, y.StdErr, x.StdErr, 0.02)
		}
	}
}

// TestConstrainedVague: what a minimum that is no likelihood's does not tell is said where a constraint that is not
// active stands in the model, too.
func TestConstrainedVague(t *testing.T) {
	r := run(t, parse(t, `time t from 0 to 4
param u = 0.7, w = 1.3
state x = 1
x' = -u*w*x
objective L = sum_at([0.5, 1, 2, 3], (x - exp(-0.8*t))^2)
constraint c: u <= 5
fit { over = [u, w] }
solver { rtol = 1e-8  atol = 1e-11 }
`), fit.Options{})
	if !strings.Contains(messages(r), "does not tell u and w apart") {
		t.Error(messages(r))
	}
}

// TestNoScatter: where there are no more values than estimates, nothing is left to estimate the scatter from. Wald's
// intervals were those of a known one.
func TestNoScatter(t *testing.T) {
	for text, want := range map[string]string{
		"time = [1, 2]  y = [1.8, 1.2]":          "2 values with a standard deviation and 2 free estimates",
		"time = [1]  y = [1.8]":                  "1 value with a standard deviation and 2 free estimates",
		"time = [1, 2, 3]  y = [1.8, 1.2, 0.85]": "",
	} {
		for _, intervals := range []string{"wald", "profile"} {
			r := run(t, parse(t, `time t from 0 to 5
param k = 0.3 in [0.01, 5], A = 2 in [0.1, 10]
state x = A
x' = -k*x
data D { `+text+` }
observe o = x ~ normal(0.05) from D.y
objective L = nll()
fit { scatter = estimated  intervals = `+intervals+` }
`), fit.Options{})
			said := messages(r)
			if want != "" != math.IsNaN(r.Factor) || !strings.Contains(said, want) || want == "" && said != "" {
				t.Errorf("%s, %s: factor %g, %s", text, intervals, r.Factor, said)
			}
			for i := range r.Estimates {
				x := &r.Estimates[i]
				if known := x.StdErr-x.StdErr == 0; known != (want == "") || known != (x.Lower-x.Lower == 0) {
					t.Errorf("%s, %s: %s ± %g, from %g", text, intervals, x.Name, x.StdErr, x.Lower)
				}
			}
		}
	}
}

// TestActiveOfAnySize: what presses on a constraint is told, and standard errors are those along it, however small a
// number is that it holds beside how far the data would move it, and in whatever unit. The minima of such quadratic
// programs are known: all sets of constraints are tried.
func TestActiveOfAnySize(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	for trial := range 20 {
		unit := math.Pow(10, float64(3*(trial%5)-6)) // of e
		size := math.Pow(10, float64(r.IntN(9)-7))   // of its limit, in standard errors
		times, H, g := "", make([]float64, 9), make([]float64, 3)
		values := ""
		for range 9 {
			at, v := math.Round(1000*r.Float64()*3)/1000, math.Round(1000*r.NormFloat64())/1000
			by := []float64{1, at, at * at}
			for i := range by {
				g[i] += by[i] * v / 0.25
				for j := range by {
					H[i*3+j] += by[i] * by[j] / 0.25
				}
			}
			times, values = times+fmt.Sprintf(", %v", at), values+fmt.Sprintf(", %v", v)
		}
		C := inverse(H, 3)
		free := times3(C, g)
		limits := []float64{ // of e and of a + b
			math.Copysign(size*math.Sqrt(C[8]), r.NormFloat64()), free[0] + free[1] + r.NormFloat64(),
		}
		A := [][]float64{{0, 0, 1}, {1, 1, 0}}
		best, want, cov, sure := -1, free, C, true
		for set := range 4 {
			var rows [][]float64
			var at []float64
			for i := range A {
				if set>>i&1 == 1 {
					rows, at = append(rows, times3(C, A[i])), append(at, limits[i])
				}
			}
			k := len(rows)
			M, over := make([]float64, k*k), make([]float64, k)
			x, c, allowed := slices.Clone(free), slices.Clone(C), true
			var of [][]float64
			for i := range A {
				if set>>i&1 == 1 {
					of = append(of, A[i])
				}
			}
			for i := range rows {
				over[i] = inner(of[i], free) - at[i]
				for j := range rows {
					M[i*k+j] = inner(of[i], rows[j])
				}
			}
			M = inverse(M, k)
			for i := range rows {
				y := 0.0
				for j := range rows {
					y += M[i*k+j] * over[j]
					for a := range 9 {
						c[a] -= rows[i][a/3] * M[i*k+j] * rows[j][a%3]
					}
				}
				allowed = allowed && y > 0
				gain := y * y / M[i*k+i] / 2
				sure = sure && !(gain > 1e-9 && gain < 1e-4)
				for a := range x {
					x[a] -= y * rows[i][a]
				}
			}
			for i := range A {
				allowed = allowed && (set>>i&1 == 1 || inner(A[i], x) <= limits[i])
			}
			if allowed {
				best, want, cov = set, x, c
			}
		}
		if best < 0 || !sure {
			continue
		}
		text := fmt.Sprintf(`time t from 0 to 3
param a = 0, b = 0, e = %v
state z = 0
z' = 0
data D { time = [%s]  v = [%s] }
observe o = z + a + b*t + e/%v*t^2 ~ normal(0.5) from D.v
constraint q: e <= %v
constraint p: a + b <= %v
objective L = nll()
fit { minimize = L  over = [a, b, e]  intervals = wald }
`, (limits[0]-0.2*math.Abs(limits[0]))*unit, times[2:], values[2:], unit, limits[0]*unit, limits[1])
		got := run(t, parse(t, text), fit.Options{})
		said := messages(got)
		for i, name := range []string{"q", "p"} {
			active := strings.Contains(said, "constraint "+name+" is active") ||
				strings.Contains(said, "constraints q and p are active")
			if active != (best>>i&1 == 1) {
				t.Errorf("trial %d: %s active: %t\n%s\n%s", trial, name, active, said, text)
			}
		}
		for i, name := range []string{"a", "b", "e"} {
			x, by, all := estimate(t, got, name), 1.0, math.Sqrt(C[i*4])
			if i == 2 {
				by = unit
			}
			if d := x.Value/by - want[i]; !(math.Abs(d) < 1.5e-3*all) { // what certificates allow
				t.Errorf("trial %d: %s = %g, not %g", trial, name, x.Value, want[i]*by)
			}
			if x.Decided {
				x.StdErr = 0
			}
			se := math.Sqrt(math.Max(cov[i*4], 0))
			if d := x.StdErr/by - se; !(math.Abs(d) < 1e-5*all) {
				t.Errorf("trial %d: %s ± %g, not %g\n%s", trial, name, x.StdErr, se*by, text)
			}
		}
	}
}

// TestErrorsWithinBounds: others trade with an estimate that the data hardly tell only as far as its bounds let it
// move, be it at one of them or between.
func TestErrorsWithinBounds(t *testing.T) {
	for _, at := range []float64{0.5, 0.25} { // where the minimum is
		for _, constraint := range []string{"", "constraint q: c <= 1e6"} {
			values := ""
			for _, t := range []float64{6, 7, 8, 9} {
				values += fmt.Sprintf(", %.17g", at+2*(1-math.Exp(-t)))
			}
			r := run(t, parse(t, `time t from 0 to 30
param a = `+fmt.Sprint(at)+` in [0, 0.5], c = 1.9
state z = 0
z' = 0
data D { time = [6, 7, 8, 9]  v = [`+values[2:]+`] }
observe o = z + a + c*(1 - exp(-t)) ~ normal(2) from D.v
`+constraint+`
objective L = nll()
fit { minimize = L  over = [a, c]  intervals = wald }
`), fit.Options{})
			if c := estimate(t, r, "c"); !(c.StdErr > 1 && c.StdErr < 1.02) {
				t.Errorf("%v, %q: c = %v ± %v\n%s", at, constraint, c.Value, c.StdErr, messages(r))
			}
			if a := estimate(t, r, "a"); a.StdErr < 500 {
				t.Errorf("%v, %q: a = %v ± %v", at, constraint, a.Value, a.StdErr)
			}
		}
	}
}

// inner returns the product of two vectors, and times3 that of a matrix with one.
func inner(a, b []float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func times3(m, v []float64) []float64 {
	return []float64{inner(m[:3], v), inner(m[3:6], v), inner(m[6:], v)}
}

// inverse returns that of a matrix.
func inverse(m []float64, n int) []float64 {
	if n == 0 {
		return nil
	}
	var out mat.Dense
	if err := out.Inverse(mat.NewDense(n, n, m)); err != nil {
		panic(err)
	}
	return out.RawMatrix().Data
}
