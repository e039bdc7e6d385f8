package goodness

import (
	"math"
	"os"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/lang/measured"
)

const theophylline = `model Theophylline
time t from 0 to 25
param tka = 0.45, tcl = 1, tv = 3.45, sd = 0.7, w_ka = 0.6, w_cl = 0.3, w_v = 0.1
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
observe y = c ~ NOISE from D.DV
experiment subject from D by D.ID { }
objective L = nll()
`

func run(t *testing.T, text string, threads, replicates int) *Result {
	t.Helper()
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{Files: os.DirFS("../../../fit/testdata/populations")})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Seed: 1, Replicates: replicates}
	o.Threads = threads
	r, err := Run(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func model(noise, more string) string {
	at := len("observe y = c ~ ")
	text := theophylline
	for i := range text {
		if text[i:min(i+at, len(text))] == "observe y = c ~ " {
			return text[:i+at] + noise + text[i+at+len("NOISE"):] + more
		}
	}
	return text
}

// TestResiduals compares predictions and residuals of two subjects with those of the closed form: modes by Nelder and
// Mead's method, slopes by differences and matrix roots of SciPy.
func TestResiduals(t *testing.T) {
	r := run(t, model("normal(sd)", "solver { marginal = focei }\n"), 1, 20)
	for _, want := range []struct {
		subject     string
		cwres, pred []float64
	}{
		{
			"subject_1",
			[]float64{
				1.0571429, -1.3299163, -0.10206982, 2.3886957, 0.20819349, -0.28904717,
				0.34582887, 0.39307634, 0.78724392, 1.0178161, 1.2372329,
			},
			[]float64{
				0, 3.8576138, 6.7829571, 9.0057096, 9.7205121, 9.0492984,
				8.4249304, 7.5503111, 6.7309109, 5.6525651, 2.8162626,
			},
		},
		{
			"subject_9",
			[]float64{
				0, 1.9311953, 1.813949, -1.076297, -1.3459316, -0.95908427,
				0.21115106, -0.41909914, 0.29498488, 0.2014885, 0.27141697,
			},
			[]float64{
				0, 6.9488544, 7.9161519, 7.7884755, 7.1425602, 6.2230458,
				5.4317799, 4.4639585, 3.8468918, 2.9793613, 0.92377405,
			},
		},
	} {
		k := 0
		for i := range r.Rows {
			x := &r.Rows[i]
			if x.Subject != want.subject {
				continue
			}
			if math.Abs(x.CWRes-want.cwres[k]) > 2e-6 || math.Abs(x.IPred-want.pred[k]) > 2e-6 {
				t.Errorf("%s at %g: CWRES %.8g, IPRED %.8g; want %.8g, %.8g", x.Subject, x.T, x.CWRes, x.IPred,
					want.cwres[k], want.pred[k])
			}
			if z := (x.Data - x.IPred) / 0.7; math.Abs(x.IWRes-z) > 1e-12 {
				t.Errorf("IWRES %g, want %g", x.IWRes, z)
			}
			k++
		}
		if k != len(want.cwres) {
			t.Fatalf("%s has %d rows", want.subject, k)
		}
	}
	if len(r.Covariates) != 1 || r.Covariates[0].Name != "WT" || r.Covariates[0].Values[1] != 72.4 {
		t.Errorf("covariates %v", r.Covariates)
	}
}

// TestLogarithms: with lognormal noise, residuals are those of logarithms with the same numbers as normal noise of data
// that are logarithms has. FO's are WRES, about random effects of zero, and it has modes, too.
func TestLogarithms(t *testing.T) {
	const text = `model M
time t from 0 to 2
param a = 1.2, w = 0.4, s = 0.3
random e ~ normal(0, w)
state x = 1
x' = -exp(a + e)*x*0.3
data D { time = [0.5, 1, 2, 0.5, 1, 2]  id = [1, 1, 1, 2, 2, 2]  y = [0.7, 0.3, 0.2, 0.5, 0.2, 0.05]
  l = [-0.35667494393873245, -1.2039728043259361, -1.6094379124341003, -0.6931471805599453, -1.6094379124341003,
       -2.995732273553991] }
`
	const rest = "experiment one from D by D.id { }\nobjective L = nll()\nsolver { marginal = "
	for _, marginal := range []string{"focei", "foce", "fo", "laplace"} {
		a := run(t, text+"observe y = x ~ lognormal(s) from D.y\n"+rest+marginal+" }\n", 1, 20)
		b := run(t, text+"observe y = log(x) ~ normal(s) from D.l\n"+rest+marginal+" }\n", 1, 20)
		for i := range a.Rows {
			x, y := &a.Rows[i], &b.Rows[i]
			if math.Abs(x.CWRes-y.CWRes) > 1e-6 || math.Abs(x.IWRes-y.IWRes) > 1e-6 || x.CWRes != x.CWRes ||
				math.Abs(math.Log(x.IPred)-y.IPred) > 1e-6 {
				t.Errorf("%s: %+v, %+v", marginal, x, y)
			}
		}
		if marginal == "fo" {
			// x = exp(-0.3 exp(1.2 + e) t): log x has the slope log x by e at zero
			left, cov := make([]float64, 3), make([]float64, 9)
			for i := range 3 {
				f := b.Rows[i].Pred
				left[i] = b.Rows[i].Data - f
				for k := range 3 {
					cov[i*3+k] = f * 0.16 * b.Rows[k].Pred
				}
				cov[i*3+i] += 0.09
			}
			for i, z := range whitened(cov, left) {
				if math.Abs(z-b.Rows[i].CWRes) > 1e-6 {
					t.Errorf("WRES %g, want %g", b.Rows[i].CWRes, z)
				}
			}
		}
	}
}

// TestNPDE: of data that the model made, they are independent standard normal numbers, whatever the number of threads.
func TestNPDE(t *testing.T) {
	one := run(t, model("normal(sd)", ""), 1, 100)
	two := run(t, model("normal(sd)", ""), 3, 100)
	var sum, square, n float64
	for i := range one.Rows {
		if one.Rows[i] != two.Rows[i] {
			t.Fatalf("threads: %+v, %+v", one.Rows[i], two.Rows[i])
		}
	}
	for k := range 3 { // sets of simulated data in the place of the data
		for s := range 12 {
			var data []float64
			var rest [][]float64
			for i := range one.Rows {
				if one.Rows[i].Subject == one.Population.Subjects[s].Name {
					data = append(data, one.Simulated[i][k])
					rest = append(rest, one.Simulated[i][3:])
				}
			}
			for _, z := range decorrelated(data, rest, len(rest[0])) {
				sum, square, n = sum+z, square+z*z, n+1
			}
		}
	}
	if mean, v := sum/n, square/n; n != 396 || math.Abs(mean) > 0.2 || v < 0.8 || v > 1.5 {
		t.Errorf("mean %g, variance %g of %g", mean, v, n)
	}
}

// TestDecorrelated: the mean of (1, 2, 3, 2) is 2, its deviation sqrt(2/3); of 4 numbers, two and a half are below 2.2.
func TestDecorrelated(t *testing.T) {
	z := decorrelated([]float64{2, 9}, [][]float64{{1, 2, 3, 2}, {1, 1, 2, 2}}, 4)
	// 2 is above one and equals two of four; 9 less what goes with the first is above all
	if len(z) != 2 || math.Abs(z[0]) > 1e-12 || math.Abs(z[1]-1.1503493803760079) > 1e-9 {
		t.Errorf("%v", z)
	}
	if z := decorrelated([]float64{1, 2}, [][]float64{{1, 2}, {3, 4}}, 2); z != nil {
		t.Errorf("two replicates of two data: %v", z)
	}
}

func TestWhitened(t *testing.T) {
	cov := []float64{4, 1, 0.5, 1, 3, -0.2, 0.5, -0.2, 2}
	var root [9]float64
	for k := range 3 {
		e := make([]float64, 3)
		e[k] = 1
		copy(root[3*k:], whitened(cov, e))
	}
	for i := range 3 { // root · cov · root = 1, and root is symmetric
		for j := range 3 {
			s := 0.0
			for a := range 3 {
				for b := range 3 {
					s += root[3*i+a] * cov[3*a+b] * root[3*b+j]
				}
			}
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(s-want) > 1e-12 || math.Abs(root[3*i+j]-root[3*j+i]) > 1e-12 {
				t.Errorf("%d %d: %g", i, j, s)
			}
		}
	}
}

// TestChecks: all data are in one bin, quantiles of what is simulated are within its own, and corrections leave
// data alone where all of a bin have the same prediction.
func TestChecks(t *testing.T) {
	r := run(t, model("normal(sd)", ""), 2, 100)
	for _, corrected := range []bool{false, true} {
		list := r.Checks(corrected)
		if len(list) != 1 {
			t.Fatalf("%d checks", len(list))
		}
		c := &list[0]
		n := 0
		for i := range c.Bins {
			b := &c.Bins[i]
			n += b.N
			for q := range c.Probabilities {
				if !(b.Low[q] <= b.Median[q] && b.Median[q] <= b.High[q]) || b.T < b.From || b.T > b.To {
					t.Errorf("%+v", b)
				}
			}
			if i > 0 && b.From <= c.Bins[i-1].To {
				t.Errorf("bins %+v, %+v", c.Bins[i-1], b)
			}
		}
		if n+c.LeftOut != 132 || corrected != (c.LeftOut == 12) || len(c.Bins) < 5 || len(c.Bins) > 14 {
			t.Errorf("%d data in %d bins, %d left out", n, len(c.Bins), c.LeftOut)
		}
	}
	courses, err := r.Courses(t.Context())
	if err != nil || len(courses) != 12 || courses[0].IPred[40] == courses[0].Pred[40] {
		t.Errorf("%d courses: %v", len(courses), err)
	}
}

// TestBelow: values below a limit have no residuals, and simulated ones are at least at the limit.
func TestBelow(t *testing.T) {
	r := run(t, model("normal(sd, below = 1)", "solver { marginal = laplace }\n"), 1, 40)
	below := 0
	for i := range r.Rows {
		x := &r.Rows[i]
		if x.Side != 0 {
			below++
		}
		for _, of := range []float64{x.NPDE, x.CWRes, x.IWRes} {
			if (x.Side != 0) != math.IsNaN(of) {
				t.Errorf("%+v", x)
			}
		}
		for _, y := range r.Simulated[i] {
			if y < 1 {
				t.Fatalf("%g is simulated", y)
			}
		}
	}
	if below < 5 {
		t.Errorf("%d are below", below)
	}
}

// TestMirrors: a population with data beyond an upper limit says the same as its mirror image, whose limit is a lower
// one. What is simulated for the image is turned round before it is cut at limits.
func TestMirrors(t *testing.T) {
	const text = `time t from 0 to 5
param b0 = 2.5, w = 0.5, sd = 0.3
random e ~ normal(0, w)
state x = b0 + e
x' = 0.2
data D {
  id = [1, 1, 1, 2, 2, 3, 3, 3, 3, 4]
  time = [0, 1, 2, 1, 3, 0, 2, 4, 5, 2]
  v = [2.3, 2.2, 3, 1.9, 2.2, 2.5, 2.9, 3, 3.5, 2.3]
  w = [-2.3, -2.2, -3, -1.9, -2.2, -2.5, -2.9, -3, -3.5, -2.3]
}
observe y = `
	const more = `
experiment s from D by D.id { }
objective L = nll()
`
	upper := run(t, text+"x ~ normal(sd, above = 3) from D.v"+more, 1, 60)
	lower := run(t, text+"-x ~ normal(sd, below = -3) from D.w"+more, 1, 60)
	near := func(what string, i int, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-6 || math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s %d is %g, and %g of the mirror image", what, i, got, want)
		}
	}
	near("OFV", 0, upper.Population.OFV, lower.Population.OFV)
	beyond := 0
	for i := range upper.Rows {
		u, l := &upper.Rows[i], &lower.Rows[i]
		if u.Side != -l.Side || (u.Side != 0) != math.IsNaN(u.NPDE) || (l.Side != 0) != math.IsNaN(l.NPDE) {
			t.Errorf("row %d: %+v, %+v", i, *u, *l)
		}
		beyond += u.Side
		near("datum", i, u.Data, -l.Data)
		near("PRED", i, u.Pred, -l.Pred)
		near("IPRED", i, u.IPred, -l.IPred)
		near("IWRES", i, u.IWRes, -l.IWRes)
		near("CWRES", i, u.CWRes, -l.CWRes)
	}
	if beyond != 3 {
		t.Errorf("%d data are beyond the limit", beyond)
	}
	for k := range upper.Population.Subjects {
		near("mode", k, upper.Population.Subjects[k].Mode[0], lower.Population.Subjects[k].Mode[0])
	}
	turned := job{out: &Result{Rows: append([]Row(nil), upper.Rows...)}}
	image := job{out: &Result{Rows: append([]Row(nil), lower.Rows...)}}
	for _, s := range []string{"s_1", "s_2", "s_3", "s_4"} {
		turned.effects = append(turned.effects, odes.Effects{Experiment: s})
	}
	image.effects = turned.effects
	group := func(r *Result, limits measured.Range) (list []odes.Compared) {
		for i := range r.Rows {
			list = append(list, odes.Compared{
				Experiment: r.Rows[i].Subject, Observation: "y", Row: []int{r.Rows[i].Line},
				Ranges: []measured.Range{limits},
			})
		}
		return list
	}
	turned.groups = group(upper, measured.Range{Lo: math.NaN(), Hi: 3})
	image.groups = group(lower, measured.Range{Lo: -3, Hi: math.NaN()})
	random := elem.NewRand(1)
	for range upper.Rows {
		var a, b []float64
		for range 60 {
			y := 2.7 + random.Norm()/2
			a, b = append(a, y), append(b, -y)
		}
		turned.out.Simulated, image.out.Simulated = append(turned.out.Simulated, a), append(image.out.Simulated, b)
	}
	turned.npde()
	image.npde()
	for i := range upper.Rows {
		near("NPDE", i, turned.out.Rows[i].NPDE, -image.out.Rows[i].NPDE)
	}
	up, down := turned.out.Checks(false)[0], image.out.Checks(false)[0]
	last, cut := len(up.Probabilities)-1, 0
	for i := range up.Bins {
		for q := range up.Probabilities {
			a, b := &up.Bins[i], &down.Bins[i]
			near("quantile", i, a.Observed[q], -b.Observed[last-q])
			near("median", i, a.Median[q], -b.Median[last-q])
			near("band", i, a.Low[q], -b.High[last-q])
			near("band", i, a.High[q], -b.Low[last-q])
			if a.High[q] > 3 {
				t.Errorf("a band reaches to %g", a.High[q])
			}
			if a.High[q] == 3 {
				cut++
			}
		}
	}
	if cut == 0 {
		t.Error("no band comes to the limit")
	}
}

// TestUnclear: where limits depend on params, no datum is known to be a number, and a warning says so.
func TestUnclear(t *testing.T) {
	r := run(t, `time t from 0 to 5
param b0 = 2.5, w = 0.5, sd = 0.3, most = 3
random e ~ normal(0, w)
state x = b0 + e
x' = 0.2
data D { id = [1, 1, 2, 2]  time = [0, 1, 2, 1]  v = [2.3, 2.2, 3, 1.9] }
observe y = x ~ normal(sd, above = most) from D.v
experiment s from D by D.id { }
objective L = nll()
`, 1, 20)
	for i := range r.Rows {
		if x := &r.Rows[i]; !math.IsNaN(x.NPDE) || !math.IsNaN(x.IWRes) || !math.IsNaN(x.CWRes) {
			t.Errorf("row %d: %+v", i, *x)
		}
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Message, "limits of quantification of y depend") {
		t.Errorf("%+v", r.Warnings)
	}
}
