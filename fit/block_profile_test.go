package fit

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
)

// slopesText is a linear mixed model: subjects have lines of their own. FO is exact for it.
const slopesText = `
time t from 0 to 3
param Omega[2,2] = [[1, 0.1], [0.1, 0.3]] BOUNDS
random e[2] ~ mvnormal(Omega)
state x = 0
x' = 1
data D = csv("d.csv", time = "TIME")
observe y = 1 + e[1] + (0.5 + e[2])*x ~ normal(0.2) from D.DV
experiment subject from D by D.ID { }
solver { marginal = fo }
objective L = nll()
`

// lines are the data of such a model, less the line of the population.
type lines [][3]float64

func newLines(t *testing.T, bounds string) (lines, *odes.Model) {
	t.Helper()
	var rows strings.Builder
	rows.WriteString("ID,TIME,DV\n")
	data := make(lines, 7)
	for i := range data {
		a, b := 1.1*math.Sin(float64(5*i+1)), 0.7*math.Cos(float64(3*i))
		for j := range data[i] {
			data[i][j] = a + b*float64(j+1) + 0.2*math.Cos(float64(17*i+7*j))
			fmt.Fprintf(&rows, "%d,%d,%.17g\n", i+1, j+1, 1+0.5*float64(j+1)+data[i][j])
		}
	}
	m, err := odes.Parse("m.ode", strings.Replace(slopesText, "BOUNDS", bounds, 1), odes.ParseOptions{
		Files: fstest.MapFS{"d.csv": {Data: []byte(rows.String())}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data, m
}

// nll is the closed form: the data of a subject are normal, with covariances Z Omega Z' + 0.04.
func (l lines) nll(u, v, r float64) float64 {
	c, sum := r*math.Sqrt(u*v), 0.0
	var s [3][3]float64
	for i := range s {
		for j := range s {
			a, b := float64(i+1), float64(j+1)
			if s[i][j] = u + (a+b)*c + a*b*v; i == j {
				s[i][j] += 0.04
			}
		}
	}
	minor := func(i, j int) float64 {
		a, b, p, q := (i+1)%3, (i+2)%3, (j+1)%3, (j+2)%3
		return s[a][p]*s[b][q] - s[a][q]*s[b][p]
	}
	det := s[0][0]*minor(0, 0) + s[0][1]*minor(0, 1) + s[0][2]*minor(0, 2)
	for _, y := range l {
		sum += 0.5*math.Log(det) + 1.5*math.Log(2*math.Pi)
		for i := range y {
			for j := range y {
				sum += y[i] * minor(i, j) / det * y[j] / 2
			}
		}
	}
	return sum
}

// golden is the least value of f between lo and hi.
func golden(lo, hi float64, f func(x float64) float64) float64 {
	for range 60 {
		if x, y := lo+0.381966*(hi-lo), lo+0.618034*(hi-lo); f(x) < f(y) {
			hi = y
		} else {
			lo = x
		}
	}
	return f(lo)
}

// TestBlockProfiles: profiles of the variances and of the correlation of a matrix end where the closed form has risen
// by half the quantile of chi squared, the others being at their least; bounds of variances are kept.
func TestBlockProfiles(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	data, m := newLines(t, "")
	fitted, err := Run(t.Context(), m, Options{Options: odes.Options{
		Settings: []odes.Setting{{Key: "fit.intervals", Value: "profile"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	sd := func(f func(v float64) float64) float64 { // of a variance
		return golden(math.Log(1e-4), math.Log(100), func(x float64) float64 { return f(math.Exp(x)) })
	}
	any := func(f func(r float64) float64) float64 { return golden(-0.9999, 0.9999, f) }
	first := func(u float64) float64 {
		return sd(func(v float64) float64 { return any(func(r float64) float64 { return data.nll(u, v, r) }) })
	}
	second := func(v float64) float64 {
		return sd(func(u float64) float64 { return any(func(r float64) float64 { return data.nll(u, v, r) }) })
	}
	correlation := func(r float64) float64 {
		return sd(func(u float64) float64 { return sd(func(v float64) float64 { return data.nll(u, v, r) }) })
	}
	e, c := fitted.Estimates, &fitted.Population.Covariances[0]
	if least := first(e[0].Value); fitted.Status != "ok" || math.Abs(fitted.NLL-least) > 1e-6 {
		t.Errorf("%s: %.9g, not %.9g, %v", fitted.Status, fitted.NLL, least, fitted.Warnings)
	}
	const half = 3.841458820694124 / 2
	for i, rise := range []float64{
		first(e[0].Lower), first(e[0].Upper), second(e[2].Lower), second(e[2].Upper),
		correlation(c.RLower[2]), correlation(c.RUpper[1]),
	} {
		if rise -= fitted.NLL; !(math.Abs(rise-half) <= 1e-3) {
			t.Errorf("at end %d the profile has risen by %.8g", i, rise)
		}
	}
	_, m = newLines(t, "in [-1, 0.4]")
	held, err := Run(t.Context(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e := held.Estimates[0]; e.Value != 0.4 || e.AtBound != 1 || e.HighBound != 0.4 || held.Status != "ok" {
		t.Errorf("%s: %+v", held.Status, e)
	}
}

// TestLargerBlockProfiles: profiles of the correlations of a matrix of three rows, which are no coordinates of its
// search, end where the others are at their least and the objective has risen by half the quantile. There the
// correlation is a number of the text.
func TestLargerBlockProfiles(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	var rows strings.Builder
	rows.WriteString("ID,TIME,DV\n")
	for i := range 7 {
		a, b, c := 1.1*math.Sin(float64(5*i+1)), 0.7*math.Cos(float64(3*i)), 0.5*math.Sin(float64(7*i+2))
		for j := range 4 {
			x := float64(j) - 1.5
			fmt.Fprintf(&rows, "%d,%d,%.17g\n", i+1, j+1, 1+a+(b+0.3*a)*x+(c-0.2*b)*x*x+0.1*math.Cos(float64(17*i+7*j)))
		}
	}
	files := fstest.MapFS{"d.csv": {Data: []byte(rows.String())}}
	const text = `
time t from 0 to 4
PARAMS
random e[3] ~ mvnormal(OMEGA)
state x = -2.5
x' = 1
data D = csv("d.csv", time = "TIME")
observe y = 1 + e[1] + e[2]*x + e[3]*x^2 ~ normal(0.1) from D.DV
experiment subject from D by D.ID { }
solver { marginal = fo }
objective L = nll()
fit { intervals = none }
`
	model := func(params, omega string) *odes.Model {
		t.Helper()
		m, err := odes.Parse("m.ode", strings.NewReplacer("PARAMS", params, "OMEGA", omega).Replace(text),
			odes.ParseOptions{Files: files})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := model("param Omega[3,3] = [[0.6, 0.1, 0.01], [0.1, 0.3, -0.1], [0.01, -0.1, 0.2]]", "Omega")
	p, err := newProblem(t.Context(), m,
		Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.borrow()
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.minimise(t.Context(), e, p.start, p.bounds())
	if err != nil {
		t.Fatal(err)
	}
	const half = 3.841458820694124 / 2
	q := &profiler{
		problem: p, m: &minimum{x: r.X, at: make([]int, len(r.X)), factor: 1}, root: math.Sqrt(2 * half),
	}
	w := p.blocks[0].Matrix(r.X)
	followed := 0
	for _, s := range q.sides(&Result{}) {
		if s.of == q || s.direction < 0 {
			continue
		}
		followed++
		e, err := s.of.borrow()
		if err != nil {
			t.Fatal(err)
		}
		s.of.follow(t.Context(), e, s)
		c := &s.of.coords[s.coord]
		row, column := c.index[0]-1, c.index[1]-1
		third := 3 - row - column
		// The last row of the factor is what correlations leave free.
		of := map[int]string{
			row + column: "r", column + third: "p/n", row + third: "(r*p + sqrt(1 - r^2)*q)/n",
		}
		params := fmt.Sprintf("param u = %g in [0.01, 9], v = %g in [0.01, 9], w = %g in [0.01, 9]\nconst r = %.17g\n"+
			"param p = 0 in [-9, 9], q = 0 in [-9, 9]\nlet n = sqrt(1 + p^2 + q^2)\nlet a = %s\nlet b = %s\nlet c = %s",
			math.Sqrt(w[0]), math.Sqrt(w[4]), math.Sqrt(w[8]), s.end, of[1], of[2], of[3])
		held, err := Run(t.Context(), model(params,
			"[[u^2, a*u*v, b*u*w], [a*u*v, v^2, c*v*w], [b*u*w, c*v*w, w^2]]"), Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if rise := held.NLL - r.Value; s.open != "" || !(math.Abs(rise-half) <= 1e-3) {
			t.Errorf("at %g (%q) of the correlation of %d and %d the profile has risen by %.8g", s.end, s.open, row+1,
				column+1, rise)
		}
	}
	if followed != 2 { // that of the first two is a coordinate
		t.Errorf("%d correlations have profiles of their own", followed)
	}
}
