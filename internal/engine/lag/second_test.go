package lag_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/internal/testing/seeds"
)

// bend is a second derivative of a reference.
type bend struct {
	By    [2]string
	Value float64
}

// TestSecond compares Hessians with two independent computations.
func TestSecond(t *testing.T) {
	text, err := os.ReadFile("testdata/delays.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Cases []struct {
			ID, Model string
			T         float64
			By        []string `json:"differentiated_with_respect_to"`
			Results   []struct {
				T      float64
				Second map[string][]bend
			}
			Objectives map[string]struct {
				Definition string
				Second     []bend
			}
		}
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, c := range all.Cases {
		var want [][]bend
		text := c.Model
		add := func(definition string, list []bend) {
			text += fmt.Sprintf("objective H%d = %s\n", len(want), definition)
			want = append(want, list)
		}
		for _, x := range c.Results {
			for state, list := range x.Second {
				if x.T == c.T {
					add(fmt.Sprintf("final(%s)", state), list)
				} else {
					add(fmt.Sprintf("sum_at([%v], %s)", x.T, state), list)
				}
			}
		}
		for _, o := range c.Objectives {
			if len(o.Second) > 0 {
				add(o.Definition, o.Second)
			}
		}
		if len(want) == 0 {
			continue
		}
		for method, rtol := range map[string]string{"auto": "1e-10", "radau9": "1e-11"} {
			s := sensitivities(t, text, c.By, map[string]string{
				"solver.rtol": rtol, "sens.order": "2", "solver.method": method,
			})
			n := len(s.Variables)
			place := map[string]int{}
			for i, v := range s.Variables {
				place[v.String()] = i
			}
			for i, list := range want {
				largest := 0.0
				for _, b := range list {
					largest = max(largest, math.Abs(b.Value))
				}
				for _, b := range list {
					seen++
					got := s.Hessian[i*n*n+place[b.By[0]]*n+place[b.By[1]]]
					if d := math.Abs(got-b.Value) / max(math.Abs(b.Value), 1e-3*largest, 1e-6); !(d <= 1e-6) {
						t.Errorf("%s by %s: ∂²%s/∂%v = %.12g, want %.12g: off by %.1e", c.ID, method, s.Values[i].Name,
							b.By, got, b.Value, d)
					}
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d second derivatives", seen)
	}
}

// sensitivities runs a model.
func sensitivities(t *testing.T, text string, by []string, settings map[string]string) *odes.Sensitivities {
	t.Helper()
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	o := odes.Options{Wrt: by, Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}}}
	for k, v := range settings {
		o.Settings = append(o.Settings, odes.Setting{Key: k, Value: v})
	}
	s, err := m.Sensitivities(context.Background(), o)
	if err != nil {
		t.Fatalf("%v\n%s\n%v", err, text, settings)
	}
	return s
}

// apart reports whether nothing that is read lies near a break of a few generations, where differences of second order
// know of higher derivatives that jump.
func (m *linear) apart(by float64) bool {
	for _, b := range m.breaks(4) {
		for _, t := range append(m.reads(), m.end, m.end/2, m.end-m.tau, m.end/2-m.rho) {
			if math.Abs(t-b) < by {
				return false
			}
		}
	}
	return true
}

// TestRandomSecond compares products of Hessians of random linear equations with differences of the method of steps.
func TestRandomSecond(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 3), 59))
	names := []string{"a", "b", "c", "f", "tau", "rho", "p", "q", "x0", "d", "t1", "t2"}
	for range max(*models/4, 1) {
		m := draw(r)
		for !m.apart(5e-3) {
			m = draw(r)
		}
		v := make([]float64, len(names))
		for i := range v {
			v[i] = math.Round(100*(2*r.Float64()-1)) / 100
		}
		method := drawn[r.IntN(len(drawn))]
		s := sensitivities(t, m.text(), names, map[string]string{
			"solver.rtol": "1e-11", "solver.method": method,
			"sens.hvp": "[" + strings.Join(strings.Fields(strings.Trim(fmt.Sprint(v), "[]")), ", ") + "]",
		})
		const h = 3e-4
		moved := func(i int, by, along float64) [6]float64 {
			x := m
			for k, name := range names {
				*x.params()[name] += along * v[k]
			}
			*x.params()[names[i]] += by
			return x.solve()
		}
		for i, name := range names {
			var cross [2][6]float64 // by h, and by 2 h
			for k := range cross {
				e := float64(k+1) * h
				type corner struct{ by, along, sign float64 }
				for _, x := range []corner{{e, e, 1}, {e, -e, -1}, {-e, e, -1}, {-e, -e, 1}} {
					for o, psi := range moved(i, x.by, x.along) {
						cross[k][o] += x.sign * psi / (4 * e * e)
					}
				}
			}
			for o := range linearObjectives {
				want := (4*cross[0][o] - cross[1][o]) / 3
				got := s.Products[o*len(names)+i]
				if d := math.Abs(got-want) / max(1, math.Abs(want)); !(d <= 2e-6) {
					t.Errorf("%s by %s: %.10g, want %.10g: off by %.1e", linearObjectives[o], name, got, want, d)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("%s along %v: %+v\n%s", method, v, m, m.text())
		}
	}
}

// TestSecondMeets: where stops meet that only bend the rates, second derivatives are numbers; where a jump comes back
// with another, those by what moves them apart are nan, with a mark, and others are numbers.
func TestSecondMeets(t *testing.T) {
	const bends = `
time t from 0 to 1.5
param a = 0.7, b = 0.4, tau = 1, sigma = 1
state x = 1
x' = -a*delay(x, tau) - b*delay(x, sigma)
objective J = final(x)
`
	s := modeltest.Run(t, bends, "sens.order", "2", "solver.rtol", "1e-10")
	// x = 1 - (a + b) t + a (a + b)/2 (t - tau)₊² + b (a + b)/2 (t - sigma)₊².
	const a, b, h = 0.7, 0.4, 0.5
	for i, row := range [4][4]float64{
		{h * h, h * h, -(2*a + b) * h, -b * h},
		{h * h, h * h, -a * h, -(a + 2*b) * h},
		{-(2*a + b) * h, -a * h, a * (a + b), 0},
		{-b * h, -(a + 2*b) * h, 0, b * (a + b)},
	} {
		for j, v := range row {
			k := i*s.Columns + j
			modeltest.WantNear(t, fmt.Sprint("J ", i, j), s.Hessian[k], v, 1e-8)
			if s.HessianTrusts != nil && s.HessianTrusts[k] != odes.Sound {
				t.Errorf("J %d %d has a mark", i, j)
			}
		}
	}
	const jumps = bends + `
state p = 0, q = 0
past p = 1
p' = a
q' = delay(p, tau)*x
objective K = final(q)
`
	s = modeltest.Run(t, jumps, "sens.order", "2", "sens.wrt", "[a, b, tau, sigma]")
	for i := range 4 {
		for j := range 4 { // the past of p jumps as x comes back by the other delay
			k := 16 + i*4 + j
			apart := i >= 2 || j >= 2
			if apart != math.IsNaN(s.Hessian[k]) || apart && s.HessianTrusts[k] != odes.Lost {
				t.Errorf("K %d %d is %v", i, j, s.Hessian[k])
			}
		}
	}
	s = modeltest.Run(t, jumps, "sens.hvp", "[0, 1, 0, 0]", "sens.wrt", "[a, b, tau, sigma]", "sens.trust", "off")
	for j, x := range s.Products[4:] {
		if math.IsNaN(x) != (j >= 2) {
			t.Errorf("K times b: %v", s.Products)
		}
	}
}

// TestTogetherFromStart: two states with pasts begin to be read at one time, by delays that are equal, and by equations
// of which one or the other has a kink there. Second derivatives by the one of which nothing has a kink were wrong.
func TestTogetherFromStart(t *testing.T) {
	for _, c := range []struct{ late, more string }{
		{"d*delay(x, tau)", "0"}, {"d*delay(t + 0*x, tau)", "0"}, {"d*delay(t + 0*x, tau)", "0.3*delay(z, rho)"},
	} {
		for _, event := range []string{"", "event e when delay(x, tau) > 0.45 { y += 0.7 }"} {
			run := func(order, tau, rho string) *odes.Sensitivities {
				return sensitivities(t, fmt.Sprintf(`
time t from 0 to 2.25
param tau = %s, rho = %s, c = 0.4, d = -0.6
state x = 0.2, y = -0.15, z = 0.5
past x = 0.2 + 0.7*t
past y = -0.15 + 0.78*t
x' = -0.7*x + c*delay(y, rho) + %s
y' = -0.4*y - 0.78*delay(x, rho) + %s
z' = -z
objective J = integral(x^2) + final(x)
%s
`, tau, rho, c.late, c.more, event), []string{"tau", "rho"}, map[string]string{
					"sens.order": order, "solver.rtol": "1e-10",
				})
			}
			h := run("2", "1", "1").Hessian
			if c.more != "0" { // delays by rho read a state that has a past, and one that has none
				if h[0] == h[0] {
					t.Errorf("%v: d²J/dtau² = %v", c, h[0])
				}
				continue
			}
			for k, by := range [][2]string{{"0.999", "1"}, {"1", "0.999"}} {
				up := [2]string{"1.001", "1"}
				if k == 1 {
					up = [2]string{"1", "1.001"}
				}
				a, b := run("1", by[0], by[1]).Gradient, run("1", up[0], up[1]).Gradient
				for j, got := range h[2*k:][:2] {
					want := (b[j] - a[j]) / 0.002
					if !(math.Abs(got-want) <= 1e-5) {
						t.Errorf("%v %q: %d, %d: %v, want %v", c, event, k, j, got, want)
					}
				}
			}
		}
	}
}
