package sens_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestPiecewise compares runs with controls, and their derivatives by values and by times, with closed forms. x is the
// integral of u, and J = x(T) + a·x(s) in terms of the values u and the times 0, s, r, T of the grid.
func TestPiecewise(t *testing.T) {
	m, err := odes.Parse("control.ode", `
time t from 0 to T
param T = 3, s = 0.5, r = 1.25, a = 2
control u = [1, -2, 0.5] piecewise constant on [0, s, r, T]
control w = [1, -2, 0.5, 3] piecewise linear on [0, s, r, T]
control p[2] = [[1, 2, 3], [-1, 4, 2]] piecewise linear on grid(0, T, 3)
control q[2] = [[1, 2], [-1, 4]] piecewise constant on grid(0, T, 3)
control one = 4 piecewise constant on [0, 1]
state x = 0, y = 0, z[2] = 0, v[2] = 0, k = 0
x' = u
y' = w
z' = p
v' = q
k' = one
objective X = final(x)
objective S = final(x) + a*integral(u, from = 0, to = s)
objective Q = integral(u^2)
objective Y = final(y)
objective Z = final(z[1]) + 10*final(z[2])
objective V = final(v[1]) + 10*final(v[2])
objective K = final(k)
objective M = max_over(x)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{Settings: []odes.Setting{{Key: "solver.rtol", Value: "1e-12"}}})
	if err != nil {
		t.Fatal(err)
	}
	const T, b, r, a = 3, 0.5, 1.25, 2
	lengths := []float64{b, r - b, T - r}
	want := map[string]struct {
		value float64
		d     map[string][]float64
	}{
		"X": {1*b - 2*(r-b) + 0.5*(T-r), map[string][]float64{
			"u": lengths, "T": {0.5}, "s": {3}, "r": {-2.5}, "w": {0, 0, 0, 0},
		}},
		"S": {(1+a)*1*b - 2*(r-b) + 0.5*(T-r), map[string][]float64{
			"u": {(1 + a) * b, r - b, T - r}, "s": {3 + a}, "r": {-2.5}, "a": {b},
		}},
		"Q": {1*b + 4*(r-b) + 0.25*(T-r), map[string][]float64{
			"u": {2 * b, -4 * (r - b), T - r}, "s": {-3}, "r": {3.75},
		}},
		"Y": {(1-2)/2.0*b + (-2+0.5)/2*(r-b) + (0.5+3)/2*(T-r), map[string][]float64{
			"w": {b / 2, r / 2, (T - b) / 2, (T - r) / 2}, "s": {0.25}, "r": {-2.5}, "T": {1.75}, "u": {0, 0, 0},
		}},
		"Z": {T / 4.0 * (1 + 4 + 3 + 10*(-1+8+2)), map[string][]float64{
			"p": {T / 4.0, T / 2.0, T / 4.0, 10 * T / 4.0, 10 * T / 2.0, 10 * T / 4.0}, "T": {(8 + 90) / 4.0},
		}},
		"V": {T / 2.0 * (3 + 30), map[string][]float64{
			"q": {T / 2.0, T / 2.0, 10 * T / 2.0, 10 * T / 2.0}, "T": {33 / 2.0},
		}},
		"K": {12, map[string][]float64{"one": {3}, "T": {4}}},
		"M": {b, map[string][]float64{"u": {b, 0, 0}, "s": {1}, "r": {0}}},
	}
	for i, v := range s.Values {
		w := want[v.Name]
		if math.Abs(v.Value-w.value) > 1e-10 {
			t.Errorf("%s is %.12g, want %.12g", v.Name, v.Value, w.value)
		}
		at := 0
		for _, x := range s.Variables {
			for k := range x.Size() {
				if d, ok := w.d[x.Name]; ok {
					if got := s.Gradient[i*s.Columns+at]; math.Abs(got-d[k]) > 1e-9 {
						t.Errorf("d%s/d%s[%d] is %.12g, want %.12g", v.Name, x.Name, k+1, got, d[k])
					}
				}
				at++
			}
		}
	}
	if n := len(s.Events); n != 3 || s.Events[0].Kind != "control" || s.Events[0].Name != "u[1]" {
		t.Errorf("%d ends of pieces: %v", n, s.Events)
	}
}

// TestLongControls compares runs with many pieces with closed forms: of x' = u - k x, in terms of the levels, and of
// the times between them, which are consts, follow from the end of the run, or are params. The run begins within a
// piece.
func TestLongControls(t *testing.T) {
	const n, k, from, to = 70, 0.3, 7.75, 35.0
	level := func(i int) float64 { return 1 + math.Sin(float64(i)) }
	knot := func(i int, end float64) float64 { return end * float64(i) / n }
	at := func(end float64) float64 {
		x, t0 := 0.5, from
		for i := 1; i <= n; i++ {
			t1 := knot(i, end)
			if t1 <= from {
				continue
			}
			e := math.Exp(-k * (t1 - t0))
			x, t0 = x*e+level(i)/k*(1-e), t1
		}
		return x
	}
	for _, c := range []struct{ grid, mode, method string }{
		{"grid(0, 35, 71)", "adjoint", "dopri5"},
		{"grid(0, T, 71)", "adjoint", "rodas5p"},
		{"grid(0, T, 71)", "tangent", "tsit5"},
		{"[if i == 1 then 0 elseif i == 71 then T else s[i - 1] for i in 1:71]", "adjoint", "dopri5"},
		{"[if i == 1 then 0 elseif i == 71 then T else s[i - 1] for i in 1:71]", "tangent", "auto"},
		{"[if i == 1 then 0 elseif i == 71 then T else s[i - 1] for i in 1:71]", "complex", "dopri5"},
		{"[if i == 1 then 0 elseif i == 71 then T else s[i - 1] for i in 1:71]", "forward", "dop853"},
	} {
		text := strings.ReplaceAll(`
time t from 7.75 to T
param T = 35, k = 0.3, s[69] = [35*i/70 for i in 1:69]
control u = [1 + sin(i) for i in 1:70] piecewise constant on GRID
control w[2] = [[if j == 1 then i else 70 - i for i in 1:70] for j in 1:2] piecewise constant on GRID
control l[2] = [[if j == 1 then i^2 else sin(i) for i in 1:71] for j in 1:2] piecewise linear on GRID
state x = 0.5, y[2] = 0, z[2] = 0
x' = u - k*x
y' = w
z' = l
objective X = final(x)
objective Y = final(y[2])
objective S = sum_at([20, 20.25], u)
objective Z = final(z[2])
`, "GRID", c.grid)
		s, err := modeltest.Sensitivities(t, text, c.mode, odes.Setting{Key: "solver.method", Value: c.method},
			odes.Setting{Key: "solver.rtol", Value: "1e-10"}, odes.Setting{Key: "solver.atol", Value: "1e-12"},
			odes.Setting{Key: "sens.rtol", Value: "1e-10"}, odes.Setting{Key: "sens.trust", Value: "off"})
		if err != nil {
			t.Fatal(err)
		}
		columns := map[string]int{}
		for at, i := 0, 0; i < len(s.Variables); i++ {
			columns[s.Variables[i].Name] = at
			at += s.Variables[i].Size()
		}
		check := func(what string, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-8*(1+math.Abs(want))) {
				t.Errorf("%v: %s is %.12g, want %.12g", c, what, got, want)
			}
		}
		d := func(objective int, name string, i int) float64 {
			return s.Gradient[objective*s.Columns+columns[name]+i]
		}
		check("X", s.Values[0].Value, at(to))
		check("S", s.Values[2].Value, level(41)+level(41))
		y, z := 0.0, 0.0
		line := func(i int, t float64) float64 {
			a, b := math.Sin(float64(i)), math.Sin(float64(i+1))
			return a + (b-a)*(t-knot(i-1, to))/(to/n)
		}
		for i := 1; i <= n; i++ {
			t0, t1 := max(from, knot(i-1, to)), knot(i, to)
			length := max(t1-t0, 0)
			y += float64(n-i) * length
			z += (line(i, t0) + line(i, t1)) / 2 * length
			check("dY/dw", d(1, "w", n+i-1), length)
			if length > 0 {
				check("dX/du", d(0, "u", i-1), (math.Exp(-k*(to-t1))-math.Exp(-k*(to-t0)))/k)
			}
			if i > 17 && i < n {
				check("dZ/dl", d(3, "l", n+1+i), 0.5)
			}
			if strings.Contains(c.grid, "s[") && i < n && t1 > from {
				check("dX/ds", d(0, "s", i-1), (level(i)-level(i+1))*math.Exp(-k*(to-t1)))
				check("dY/ds", d(1, "s", i-1), 1)
				if i > 17 {
					check("dZ/ds", d(3, "s", i-1), (math.Sin(float64(i))-math.Sin(float64(i+2)))/2)
				}
			}
		}
		check("Y", s.Values[1].Value, y)
		check("Z", s.Values[3].Value, z)
		end := level(n) - k*at(to)
		if c.grid == "grid(0, T, 71)" {
			const h = 1e-3
			end = (8*(at(to+h)-at(to-h)) - at(to+2*h) + at(to-2*h)) / (12 * h)
		}
		check("dX/dT", d(0, "T", 0), end)
		if e := s.Events[0]; e.Kind != "control" || e.Name != "u[16]" || e.T != 8 {
			t.Errorf("%v: the first piece to end is %v", c, e)
		}
	}
}

// TestLongKnots: knots that are params ascend, also where there are too many to name one.
func TestLongKnots(t *testing.T) {
	_, err := modeltest.Sensitivities(t, `
time t from 0 to 300
param s[301] = [if i == 200 then 100 else i - 1 for i in 1:301]
control u = 1 piecewise constant on s
state x = 0
x' = u
objective X = final(x)
`, "adjoint")
	if err == nil || !strings.Contains(err.Error(), "the knots of a control ascend, but not all of them do") {
		t.Errorf("the error is %v", err)
	}
}

// TestControlTimes differentiates the ends of pieces, which do not move with the state: nothing before a piece is gone
// back through for them.
func TestControlTimes(t *testing.T) {
	m, err := odes.Parse("times.ode", `
time t from 0 to T
param T = 100
control u = [sin(i) for i in 1:200] piecewise constant on grid(0, T, 201)
state x = 0
x' = u - x
objective X = final(x)
event low when x < 0 {}
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	work := func(times bool) (*odes.Sensitivities, int) {
		s, err := m.Sensitivities(t.Context(), odes.Options{EventTimes: times})
		if err != nil {
			t.Fatal(err)
		}
		return s, s.Stats.VJP
	}
	_, least := work(false)
	s, most := work(true)
	n := 0
	for _, e := range s.Events {
		if e.Kind != "control" {
			continue
		}
		n++
		still := !slices.ContainsFunc(e.Params[1:], func(x float64) bool { return x != 0 })
		if want := float64(n) / 200; math.Abs(e.T-100*want) > 1e-12 || math.Abs(e.Params[0]-want) > 1e-15 || !still ||
			e.Name != fmt.Sprintf("u[%d]", n) {
			t.Errorf("%v is not at %v", e, 100*want)
		}
	}
	if n != 199 {
		t.Errorf("%d pieces end, want 199", n)
	}
	if most > 30*least {
		t.Errorf("%d transposes with times of events, %d without", most, least)
	}
}
