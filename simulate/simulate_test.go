package simulate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
)

func drawn(t *testing.T, text string, settings ...string) *Result {
	t.Helper()
	r, err := draw(t, text, settings...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func draw(t *testing.T, text string, settings ...string) (*Result, error) {
	t.Helper()
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var o odes.Options
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		if key == "threads" {
			fmt.Sscan(value, &o.Threads)
			continue
		}
		o.Settings = append(o.Settings, odes.Setting{Key: "simulate." + key, Value: value})
	}
	return Run(t.Context(), m, o)
}

func phi(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

func laplace(z float64) float64 {
	if z < 0 {
		return math.Exp(z) / 2
	}
	return 1 - math.Exp(-z)/2
}

// TestNoises draws every noise of the language, and compares the distribution of the draws with its closed form by the
// statistic of Kolmogorov and Smirnov, mean and variance with theirs. Bounds are at probabilities of 1e-4.
func TestNoises(t *testing.T) {
	const n = 4000
	counts := func(p func(k float64) float64) func(float64) float64 { // sums of probabilities
		return func(x float64) float64 {
			s := 0.0
			for k := 0.0; k <= x; k++ {
				s += p(k)
			}
			return s
		}
	}
	lg := func(x float64) float64 { y, _ := math.Lgamma(x); return y }
	for _, c := range []struct {
		noise          string
		cdf            func(x float64) float64
		mean, variance float64 // NaN: not looked at
		whole          bool
	}{
		{"normal(0.5)", func(x float64) float64 { return phi((x - 3) / 0.5) }, 3, 0.25, false},
		{
			"lognormal(0.4)", func(x float64) float64 { return phi(math.Log(x/3) / 0.4) }, 3 * math.Exp(0.08),
			9 * math.Exp(0.16) * math.Expm1(0.16), false,
		},
		{"laplace(0.5)", func(x float64) float64 { return laplace((x - 3) / 0.5) }, 3, 0.5, false},
		{
			"loglaplace(0.2)", func(x float64) float64 { return laplace(math.Log(x/3) / 0.2) }, 3 / (1 - 0.04),
			math.NaN(), false,
		},
		{"student(3, 0.5)", func(x float64) float64 {
			z := (x - 3) / 0.5 / math.Sqrt(3)
			return 0.5 + (z/(1+z*z)+math.Atan(z))/math.Pi
		}, 3, math.NaN(), false},
		{
			"poisson()", counts(func(k float64) float64 { return math.Exp(k*math.Log(3) - 3 - lg(k+1)) }), 3, 3, true,
		},
		{
			"negbin(2.5)", counts(func(k float64) float64 {
				return math.Exp(lg(k+2.5) - lg(2.5) - lg(k+1) + 2.5*math.Log(2.5/5.5) + k*math.Log(3/5.5))
			}), 3, 3 + 9/2.5, true,
		},
	} {
		r := drawn(t, `
time t from 0 to 1
state x = 3
x' = 0
data D { time = [0.5, 1]  y = [1, 1] }
observe o = x ~ `+c.noise+` from D.y`, fmt.Sprintf("replicates=%d", n/2), "seed=7")
		var all []float64
		for _, s := range r.Replicates {
			all = append(all, s.Data[0]...)
		}
		slices.Sort(all)
		var distance, mean, variance float64
		for i, x := range all {
			mean += x / n
			if c.whole {
				if x != math.Trunc(x) || x < 0 {
					t.Fatalf("%s: %g", c.noise, x)
				}
				if i+1 == n || all[i+1] > x {
					distance = max(distance, math.Abs(float64(i+1)/n-c.cdf(x)))
				}
				continue
			}
			f := c.cdf(x)
			distance = max(distance, f-float64(i)/n, float64(i+1)/n-f)
		}
		var fourth float64
		for _, x := range all {
			d := (x - mean) * (x - mean)
			variance += d / n
			fourth += d * d / n
		}
		if d := distance * math.Sqrt(n); d > 2.23 {
			t.Errorf("%s: the distance of Kolmogorov and Smirnov is %.2f", c.noise, d)
		}
		if z := (mean - c.mean) / math.Sqrt(variance/n); math.Abs(z) > 4 {
			t.Errorf("%s: the mean is %g, not %g (z = %.1f)", c.noise, mean, c.mean, z)
		}
		if z := (variance - c.variance) / math.Sqrt((fourth-variance*variance)/n); math.Abs(z) > 4 {
			t.Errorf("%s: the variance is %g, not %g (z = %.1f)", c.noise, variance, c.variance, z)
		}
		// Rows and replicates are independent of one another.
		var of [2][]float64
		for _, s := range r.Replicates {
			for k := range of {
				of[k] = append(of[k], c.cdf(s.Data[0][k]))
			}
		}
		for name, rho := range map[string]float64{
			"rows": correlation(of[0], of[1]), "replicates": correlation(of[0][1:], of[0][:n/2-1]),
		} {
			if math.Abs(rho)*math.Sqrt(n/2) > 4 {
				t.Errorf("%s: %s are correlated, by %g", c.noise, name, rho)
			}
		}
	}
}

func correlation(x, y []float64) float64 {
	var mx, my, xx, yy, xy float64
	n := float64(len(x))
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	for i := range x {
		xx, yy, xy = xx+(x[i]-mx)*(x[i]-mx), yy+(y[i]-my)*(y[i]-my), xy+(x[i]-mx)*(y[i]-my)
	}
	return xy / math.Sqrt(xx*yy)
}

const arms = `
time t : [h] from 0 to 24
param m = 0 ~ normal(-1.5, 0.3)
param k[2] = 0.2 [1/h] in [0.01, 10] ~ lognormal(m, 0.2)
param V = 20
state A = 100, B = 0
A' = -k[1]*A
B' = k[1]*A - k[2]*B
data D {
  time = [60, 240, inf, 60, 240, 720] [min]
  a = [4, 2, 0.4, 8, nan, 0.9]
  n = [1, nan, 3, 4, 5, 6]
  lloq = [0.5, 2.1, 0.5, 0.5, 0.5, 0.5]
  arm  = ["low", "low", "low", "high", "high", "other"]
}
observe c = A/V ~ normal(0.1*c + 0.01, below = D.lloq) from D.a
observe d = B ~ poisson() from D.n
experiment low  { use D where arm == "low" }
experiment high { V = V/2  use D where arm == "high" }
`

// TestAsTheTableHasThem: what is missing stays so, limits cut off, rows that no experiment uses are missing, and
// other columns stay as they are written.
func TestAsTheTableHasThem(t *testing.T) {
	r := drawn(t, arms, "replicates=150", "prior=on", "seed=2")
	if len(r.Replicates) != 150 || r.Table.Columns[0].Unit != "min" || r.Table.Columns[0].Values[0] != 60 ||
		!slices.Equal(r.Observed, []bool{false, true, true, false, false}) {
		t.Fatalf("%+v", r)
	}
	below := 0
	for _, x := range r.Replicates {
		a, n := x.Data[0], x.Data[1]
		for row := range 6 {
			if (a[row] != a[row]) != (row == 4 || row == 5) || (n[row] != n[row]) != (row == 1 || row == 5) {
				t.Fatalf("row %d: %v, %v", row, a, n)
			}
			if a[row] < r.Table.Columns[3].Values[row] {
				t.Errorf("%g lies below its limit", a[row])
			}
		}
		if a[1] == 2.1 {
			below++
		}
		if a[2] != 0.5 {
			t.Errorf("what is left at the end is %g, not below its limit", a[2])
		}
	}
	if below < 40 || below > 110 {
		t.Errorf("of 150 numbers %d are below the limit that is near their median", below)
	}
}

// TestUpperLimits: a number beyond an upper limit is drawn as that limit, beside lower ones, and rows whose limit is
// missing have none.
func TestUpperLimits(t *testing.T) {
	const text = `param s = 1
state x = 2
x' = 0
data D { time = [1, 2, 3]  y = [1, 1, 1]  most = [2, nan, 3]  least = [1.9, -5, 1] }
observe o = x ~ normal(s, above = D.most, below = D.least) from D.y
`
	r := drawn(t, "time t from 0 to 5\n"+text, "replicates=200", "seed=3")
	most, least := []float64{2, math.Inf(1), 3}, []float64{1.9, -5, 1}
	var at [2][3]int
	for _, x := range r.Replicates {
		for row, y := range x.Data[0] {
			if y > most[row] || y < least[row] {
				t.Errorf("row %d: %g is drawn beyond its limits", row, y)
			}
			if y == most[row] {
				at[1][row]++
			}
			if y == least[row] {
				at[0][row]++
			}
		}
	}
	for _, x := range []struct{ side, row, from, to int }{
		{1, 0, 75, 125}, {1, 1, 0, 0}, {1, 2, 15, 50}, {0, 0, 65, 118}, {0, 1, 0, 0}, {0, 2, 15, 50},
	} {
		if n := at[x.side][x.row]; n < x.from || n > x.to {
			t.Errorf("of 200 numbers in row %d %d lie at limit %d", x.row, n, x.side)
		}
	}
}

// TestPriorsInOrder: params whose priors depend on others are drawn around these.
func TestPriorsInOrder(t *testing.T) {
	r := drawn(t, arms, "replicates=600", "prior=on")
	var z [3][]float64
	for _, x := range r.Replicates {
		m := x.Params[0].Value
		z[0] = append(z[0], phi((m+1.5)/0.3))
		for k := range 2 {
			z[1+k] = append(z[1+k], phi((math.Log(x.Params[1+k].Value)-m)/0.2))
		}
	}
	if x := r.Replicates[0].Params; x[0].Name != "m" || x[1].Name != "k[1]" || x[2].Name != "k[2]" {
		t.Fatalf("%+v", x)
	}
	for i, u := range z {
		sorted, distance := slices.Sorted(slices.Values(u)), 0.0
		for k, x := range sorted {
			distance = max(distance, math.Abs(x-(float64(k)+0.5)/600))
		}
		if d := distance * math.Sqrt(600); d > 2.23 {
			t.Errorf("param %d: the distance of Kolmogorov and Smirnov is %.2f", i, d)
		}
		if rho := correlation(u, z[(i+1)%3]); math.Abs(rho)*math.Sqrt(600) > 4 {
			t.Errorf("params %d and the next are correlated, by %g", i, rho)
		}
	}
}

// TestSameBits: threads change nothing, nor do more replicates, and other seeds change all.
func TestSameBits(t *testing.T) {
	bits := func(r *Result, n int) string {
		var b strings.Builder
		for _, x := range r.Replicates[:n] {
			fmt.Fprintln(&b, x.Number, x.Params, x.Data)
		}
		return b.String()
	}
	one := bits(drawn(t, arms, "replicates=20", "prior=on", "threads=1"), 20)
	if four := bits(drawn(t, arms, "replicates=20", "prior=on", "threads=4"), 20); four != one {
		t.Error("four threads draw other data")
	}
	if more := bits(drawn(t, arms, "replicates=25", "prior=on", "threads=3"), 20); more != one {
		t.Error("more replicates change the first ones")
	}
	if other := bits(drawn(t, arms, "replicates=20", "prior=on", "seed=2"), 20); other == one {
		t.Error("another seed draws the same data")
	}
}

// TestRefused: what cannot be drawn, with the place.
func TestRefused(t *testing.T) {
	const (
		head = "time t from 0 to 2\nparam k = 1\nstate x = 1\nx' = -k\n"
		some = head + "data D { time = [1] y = [1] }\nobserve o = x ~ normal(1) from D.y\n"
	)
	for _, c := range []struct{ text, settings, says string }{
		{head, "seed=1", "observes nothing"},
		{some, "prior=on", "no param has a prior"},
		{
			some + "observe p = 2*x ~ normal(1) from D.y", "seed=1", "row 1 of D.y is observed twice, as o and as p",
		},
		{
			some + "data E { time = [1] y = [1] }\nobserve p = x ~ normal(1) from E.y", "seed=1", "choose by --table D",
		},
		{some, "table=E", "no table \"E\""},
		{
			head + "data D { time = [2] y = [1] }\nobserve o = x ~ lognormal(1) from D.y", "seed=1",
			"observation o at t = 2: lognormal gives positive numbers",
		},
		{head + "data D { time = [2] y = [1] }\nobserve o = x ~ normal(x) from D.y", "seed=1", "needs sd > 0"},
		{head + "data D { time = [2] y = [1] }\nobserve o = x ~ poisson() from D.y", "seed=1", "needs mean > 0"},
		{
			head + "data D { time = [1] y = [1] }\nobserve o = x ~ normal(1, below = k) from D.y", "seed=1",
			"the limit of observation o depends",
		},
		{
			head + "data D { time = [1] y = [1] }\nobserve o = x ~ normal(1) from D.y", "replicates=0",
			"whole number from 1",
		},
	} {
		if _, err := draw(t, c.text, c.settings); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.says, err)
		}
	}
}

// TestFailures: replicates whose runs fail are left out, and told.
func TestFailures(t *testing.T) {
	r := drawn(t, `
time t from 0 to 1
param k = 1 ~ normal(0, 1)
state x = 1
x' = k*x^2
data D { time = [1] y = [1] }
observe o = x ~ normal(0.1) from D.y`, "replicates=40", "prior=on")
	if r.Status != "partial" || len(r.Replicates) < 25 || len(r.Replicates) > 39 || len(r.Warnings) != 1 ||
		!strings.Contains(r.Warnings[0].Message, "replicate") {
		t.Errorf("%s: %d replicates, %v", r.Status, len(r.Replicates), r.Warnings)
	}
}

// TestTimes: tables have other times, once for each combination of texts; the numbers of other columns are those of the
// last row before. Observations without data are drawn as well.
func TestTimes(t *testing.T) {
	r := drawn(t, arms, `times="0:6:24"`)
	c := r.Table.Columns
	if r.Rows() != 15 || c[0].Values[1] != 360 || c[0].Values[6] != 360 || c[3].Values[0] != 0.5 ||
		c[3].Values[1] != 2.1 || c[4].Texts[4] != "low" || c[4].Texts[5] != "high" || c[4].Texts[14] != "other" {
		t.Errorf("%+v", c)
	}
	if a := r.Replicates[0].Data[0]; a[1] < 2.1 || a[1] != a[1] || a[14] == a[14] {
		t.Errorf("%v", a)
	}
	const none = "time t from 0 to 10\nstate x = 3\nx' = 0\nobserve y = x ~ normal(0.1)\nobserve n = 3*x ~ poisson()\n"
	r = drawn(t, none, "times=[0, 5, 10]")
	if d := r.Replicates[0].Data; r.Table.Name != "simulated" || len(d) != 2 || math.Abs(d[0][2]-3) > 0.5 ||
		d[1][0] < 1 {
		t.Errorf("%+v", r)
	}
	for text, says := range map[string]string{
		"times=[0, 11]": "has a value at 11", `times="0:-1:3"`: "a step that is positive", "times=[a]": "takes numbers",
		`times="0:1e-9:3"`: "at most a million",
	} {
		if _, err := draw(t, none, text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestTimesBesideRecords: at other times, records of doses stay what and where they are, measurements of all kinds come
// at the times for each subject, and what is drawn is the course under these doses.
func TestTimesBesideRecords(t *testing.T) {
	const text = `
time t from 0 to 24
param CL = 2, V = 20
state body = 0
body' = -CL*body/V
data D {
  ID   = [1, 1, 1, 1, 2, 2, 2]
  time = [0, 2, 6, 8, 0, 1, 9]
  AMT  = [100, 0, 50, 0, 60, 0, 0]
  KIND = [0, 1, 0, 2, 0, 1, 2]
  DV   = [nan, 4, nan, 5, nan, 3, 1]
}
doses D { body }
experiment subject from D by D.ID
observe c = body/V ~ normal(1e-6) from D.DV where D.KIND == 1
observe n = body ~ normal(1e-6) from D.DV where D.KIND == 2
`
	r := drawn(t, text, "times=[0, 6, 12]")
	c := map[string][]float64{}
	for _, col := range r.Table.Columns {
		c[col.Name] = col.Values
	}
	want := [][]float64{ // ID, time, AMT, KIND, DV
		{1, 0, 100, 0, math.NaN()},
		{1, 0, 0, 1, 5},
		{1, 0, 0, 2, 100},
		{1, 6, 50, 0, math.NaN()},
		{1, 6, 0, 1, (100*math.Exp(-0.6) + 50) / 20},
		{1, 6, 0, 2, 100*math.Exp(-0.6) + 50},
		{1, 12, 0, 1, (100*math.Exp(-1.2) + 50*math.Exp(-0.6)) / 20},
		{1, 12, 0, 2, 100*math.Exp(-1.2) + 50*math.Exp(-0.6)},
		{2, 0, 60, 0, math.NaN()},
		{2, 0, 0, 1, 3},
		{2, 0, 0, 2, 60},
		{2, 6, 0, 1, 3 * math.Exp(-0.6)},
		{2, 6, 0, 2, 60 * math.Exp(-0.6)},
		{2, 12, 0, 1, 3 * math.Exp(-1.2)},
		{2, 12, 0, 2, 60 * math.Exp(-1.2)},
	}
	drawn := r.Replicates[0].Data[0]
	if r.Rows() != len(want) || len(drawn) != len(want) {
		t.Fatalf("%d rows, want %d: %v", r.Rows(), len(want), c)
	}
	for i, w := range want {
		got := []float64{c["ID"][i], c["time"][i], c["AMT"][i], c["KIND"][i], drawn[i]}
		for k := range w {
			if d := math.Abs(got[k] - w[k]); d > 1e-3 || (got[k] != got[k]) != (w[k] != w[k]) {
				t.Errorf("row %d: %v, want %v", i+1, got, w)
				break
			}
		}
	}
}
