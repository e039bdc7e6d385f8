package posterior_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/posterior"
)

// levels is a linear model of five subjects, each with a level of its own.
const levels = `model Levels
time t from 0 to 4
param mu = 1 in [-20, 20] ~ normal(0, 3)
param omega = 0.8 in [0.05, 5] ~ lognormal(0, 0.7)
param s = 0.5 in [0.02, 5] ~ lognormal(-1, 0.7)
random eta ~ normal(0, omega)
state x = mu + eta
x' = 0.5
data D {
  ID = [1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5]
  time = [1, 2, 3, 1, 2, 3, 1, 3, 1, 2, 4, 2]
  y = [2.1, 2.4, 3.3, 0.8, 1.0, 1.9, 3.2, 4.6, 1.2, 2.3, 3.1, 0.4]
}
experiment subject from D by D.ID
observe o = x ~ normal(s) from D.y
objective L = nll() - log_prior()
sample { of = L  random = draw  chains = 2  draws = 1000  warmup = 250  starts = 1 }
`

// levelsExact are the means and standard deviations of mu, omega, s and the five levels: the levels and their mean
// given the two widths are normal, and the widths are on a grid.
func levelsExact() (mean, sd [8]float64) {
	ids := [][]float64{{1.6, 1.4, 1.8}, {0.3, 0, 0.4}, {2.7, 3.1}, {0.7, 1.3, 1.1}, {-0.6}} // without the slope
	const n = 120
	var weights, most float64 = 0, math.Inf(-1)
	type cell struct {
		log  float64
		mean [8]float64
		two  [8]float64 // second moments
	}
	var cells []cell
	for a := range n {
		for b := range n {
			lo := math.Log(0.08) + math.Log(5/0.08)*(float64(a)+0.5)/n
			ls := math.Log(0.05) + math.Log(4/0.05)*(float64(b)+0.5)/n
			omega, s := math.Exp(lo), math.Exp(ls)
			c := cell{log: -lo*lo/0.98 - (ls+1)*(ls+1)/0.98}
			precision, sum, square := 1/9.0, 0.0, 0.0
			for _, r := range ids {
				m, ss := 0.0, 0.0
				for _, x := range r {
					m += x / float64(len(r))
				}
				for _, x := range r {
					ss += (x - m) * (x - m)
				}
				v := s*s/float64(len(r)) + omega*omega
				c.log -= float64(len(r))*ls + ss/(2*s*s) + 0.5*math.Log(v/(s*s))
				precision, sum, square = precision+1/v, sum+m/v, square+m*m/v
			}
			mu := sum / precision
			c.log += 0.5*mu*mu*precision - 0.5*square - 0.5*math.Log(precision)
			c.mean[0], c.two[0] = mu, mu*mu+1/precision
			c.mean[1], c.two[1], c.mean[2], c.two[2] = omega, omega*omega, s, s*s
			for i, r := range ids {
				m := 0.0
				for _, x := range r {
					m += x / float64(len(r))
				}
				v := s * s / float64(len(r))
				by := omega * omega / (omega*omega + v)
				e := by * (m - mu)
				c.mean[3+i], c.two[3+i] = e, e*e+by*v+by*by/precision
			}
			most = max(most, c.log)
			cells = append(cells, c)
		}
	}
	for _, c := range cells {
		w := math.Exp(c.log - most)
		weights += w
		for i := range mean {
			mean[i] += w * c.mean[i]
			sd[i] += w * c.two[i]
		}
	}
	for i := range mean {
		mean[i] /= weights
		sd[i] = math.Sqrt(sd[i]/weights - mean[i]*mean[i])
	}
	return mean, sd
}

func drawLevels(t *testing.T, text string, set ...odes.Setting) (*posterior.Result, error) {
	t.Helper()
	m, err := odes.Parse("levels.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := posterior.Options{Workers: 2}
	o.Settings = set
	return posterior.Run(t.Context(), m, o)
}

// TestRandomEffectsDrawn: means and standard deviations of params and of the effects of each subject beside the closed
// form.
func TestRandomEffectsDrawn(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	r, err := drawLevels(t, levels)
	if err != nil {
		t.Fatal(err)
	}
	mean, sd := levelsExact()
	for i := range r.Params {
		p := &r.Params[i]
		if want := []string{"mu", "omega", "s"}; i < 3 && p.Text() != want[i] {
			t.Errorf("param %d is %s", i, p.Text())
		} else if i >= 3 && p.Text() != fmt.Sprintf("eta[subject_%d]", i-2) {
			t.Errorf("param %d is %s", i, p.Text())
		}
		if z := (p.Mean - mean[i]) / p.MCSEMean; math.Abs(z) > 4.5 {
			t.Errorf("the mean of %s is %g, and %g is right: %.1f MCSE", p.Text(), p.Mean, mean[i], z)
		}
		if by := p.Sd / sd[i]; math.Abs(by-1) > 0.2 {
			t.Errorf("the sd of %s is %g, and %g is right", p.Text(), p.Sd, sd[i])
		}
	}
	if len(r.Params) != 8 {
		t.Errorf("%d numbers are drawn", len(r.Params))
	}
}

// TestRandomEffectsIntegrated: the same posterior without the effects, by integrals over them, which Laplace's method
// has exactly here.
func TestRandomEffectsIntegrated(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	r, err := drawLevels(t, strings.Replace(levels, "random = draw  chains = 2  draws = 1000  warmup = 250",
		"chains = 2  draws = 200  warmup = 100", 1))
	if err != nil {
		t.Fatal(err)
	}
	mean, sd := levelsExact()
	for i := range r.Params {
		p := &r.Params[i]
		if z := (p.Mean - mean[i]) / p.MCSEMean; math.Abs(z) > 4.5 || math.Abs(p.Sd/sd[i]-1) > 0.3 {
			t.Errorf("the mean of %s is %g, and its sd %g; %g and %g are right: %.1f MCSE", p.Text(), p.Mean, p.Sd,
				mean[i], sd[i], z)
		}
	}
	if len(r.Params) != 3 || r.Integrals == nil || r.Integrals.Sd > 0.01 {
		t.Errorf("%d numbers are drawn, and %+v of their integrals", len(r.Params), r.Integrals)
	}
}

// TestRandomEffectsRefused: what is not built is said.
func TestRandomEffectsRefused(t *testing.T) {
	for _, c := range []struct{ from, to, says string }{
		{"random eta ~ normal(0, omega)\n", "param eta = 0 in [-1, 1]\n", "is for models with random effects"},
		{"random = draw", "random = draw  method = laplace", "random = draw goes with method = nuts"},
		{"L = nll() - log_prior()", "L = 2*nll() - log_prior()", "is written otherwise"},
		{"L = nll() - log_prior()", "L = nll() - log_prior() + omega", "is written otherwise"},
	} {
		_, err := drawLevels(t, strings.Replace(levels, c.from, c.to, 1))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.to, err)
		}
	}
}
