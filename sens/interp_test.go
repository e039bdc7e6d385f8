package sens_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestInterp compares interpolated values with those of SciPy 1.17.1 (CubicSpline with natural ends,
// PchipInterpolator), and the derivatives by the tabulated values in three modes. The tables are
// written as constants and as params.
func TestInterp(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	q := []float64{0.3, 1.7, 2.6, 4.9, 5.5, 6.99}
	for _, c := range []struct {
		kind, y  string
		at       []float64
		integral float64
	}{
		{
			"spline", "[1, 3, 2, 2.5, 0.5, 0.7]",
			[]float64{
				1.788008036622584, 2.6993862778342943, 2.000084638860631, 0.6906188199389616,
				-0.06597151576805693, 0.689614002034588,
			},
			11.431476771787047,
		},
		{
			"monotone", "[1, 3, 2, 2.5, 0.5, 0.7]",
			[]float64{1.8828, 2.5499259259259257, 2.0063703703703704, 0.5559999999999996, 0.503125, 0.6970149750000001},
			11.980555555555554,
		},
		{
			"monotone", "[5, 1, 0.9, 0.95, 4, 3]",
			[]float64{
				3.3255517757009345, 0.9270798200069228, 0.9001980753305349, 3.9152349267540467, 3.984375,
				3.0149251249999995,
			},
			0,
		},
		{
			"monotone", "[1, 3, 2, -2.5, 0.5, 9]",
			[]float64{
				1.8828, 2.739986531986532, 1.8476363636363635, 0.13645864661654272, 2.32219219924812,
				8.94921004777569,
			},
			0,
		},
		{"linear", "[1, 3, 2, 2.5, 0.5, 0.7]", []float64{1.6, 3 - 0.7/1.5, 2 + 0.1/3, 0.7, 0.55, 0.699}, 0},
	} {
		for _, declared := range []string{"const", "param"} {
			text := fmt.Sprintf(`
time t from -1 to 8
const T = [0, 1, 2.5, 4, 5, 7]
%s y[6] = %s
param s = 1
state x = 0, z = 0
x' = if t < 0 then 0 elseif t > 7 then 0 else interp(T, y, t, kind = %[3]s)
z' = s*interp(T, y, 3.5 + 4*sin(t), kind = %[3]s)
objective X = final(x)
objective Z = final(z)
objective below = sum_at(-0.5, interp(T, y, t, kind = %[3]s))
objective above = sum_at(7.5, interp(T, y, t, kind = %[3]s))
`, declared, c.y, c.kind)
			for i, at := range q {
				text += fmt.Sprintf("objective v%d = sum_at(%g, interp(T, y, t, kind = %s))\n", i, at, c.kind)
			}
			m, err := odes.Parse("table.ode", text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var want *odes.Sensitivities
			for _, mode := range []string{"adjoint", "tangent", "complex"} {
				o := odes.Options{Settings: modeltest.Settings("sens.mode", mode)}
				s, err := m.Sensitivities(context.Background(), o)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range c.at {
					if !modeltest.Near(s.Values[4+i].Value, v, 1e-13) {
						t.Errorf("%s %s at %g: %.16g, want %.16g", c.kind, c.y, q[i], s.Values[4+i].Value, v)
					}
				}
				// A cubic between steps that end at the knots: the integral is exact to rounding.
				if c.integral != 0 && !modeltest.Near(s.Values[0].Value, c.integral, 1e-12) {
					t.Errorf("%s %s: integral %.16g, want %.16g", c.kind, c.y, s.Values[0].Value, c.integral)
				}
				if want == nil {
					want = s
				}
				for i, x := range s.Gradient {
					if !modeltest.Near(x, want.Gradient[i], 1e-11) {
						t.Errorf("%s %s, %s: derivative %d of %s is %.15g, and %.15g by adjoints", c.kind, c.y, mode,
							i%s.Columns, s.Values[i/s.Columns].Name, x, want.Gradient[i])
					}
				}
			}
		}
	}
}

// TestLongTables reads tables with so many rows that they are searched, at times and at a state that is the time, where
// they are sums over all rows.
func TestLongTables(t *testing.T) {
	for _, kind := range []string{"linear", "monotone", "spline"} {
		for _, width := range []string{"1", "w"} {
			if kind == "spline" && width == "w" {
				continue // its knots are consts
			}
			text := strings.NewReplacer("KIND", kind, "WIDTH", width).Replace(`
time t from -1 to 110
const n = 70
param lag = 0.7, k = 0.3, s = 2, w = 1
let T[i] = WIDTH*i^1.1 for i in 1:n
let Y[i] = s*sin(i) for i in 1:n
state z = -1, a = 0, b = 0
z' = 1
a' = interp(T, Y, t - lag, kind = KIND) - k*a
b' = interp(T, Y, z - lag, kind = KIND) - k*b
objective A = final(a) + max_over(interp(T, Y, (t - lag)/1, kind = KIND))
objective B = final(b) + max_over(interp(T, Y, z - lag, kind = KIND))
objective C = sum_at([20, 31.4], interp(T, Y, t - lag, kind = KIND)) + integral(t*interp(T, Y, t, kind = KIND))
objective D = sum_at([20, 31.4], interp(T, Y, z - lag, kind = KIND)) + integral(t*interp(T, Y, z, kind = KIND))
`)
			// The modes that integrate the derivatives miss what they jump by at the kinks of a sum.
			var want *odes.Sensitivities
			for _, c := range []struct{ mode, method string }{
				{"adjoint", "dopri5"},
				{"adjoint", "rodas5p"},
				{"tangent", "rodas5p"},
				{"complex", "tsit5"},
				{"forward", "dop853"},
				{"continuous", "dop853"},
			} {
				s, err := modeltest.Sensitivities(t, text, c.mode, odes.Setting{Key: "solver.method", Value: c.method},
					odes.Setting{Key: "solver.rtol", Value: "1e-9"}, odes.Setting{Key: "solver.atol", Value: "1e-11"},
					odes.Setting{Key: "sens.rtol", Value: "1e-9"}, odes.Setting{Key: "sens.trust", Value: "off"})
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = s
				}
				n := s.Columns
				for i := 0; i < len(s.Values); i += 2 {
					if x, y := s.Values[i].Value, want.Values[i+1].Value; !modeltest.Near(x, y, 1e-8) {
						t.Errorf("%s, %v: %s is %v by a search, %v by a sum", kind, c, s.Values[i].Name, x, y)
					}
					sum := want.Gradient[(i+1)*n:][:n-3] // without the initial values, of which one is the time
					size := 0.0
					for _, y := range sum {
						size = max(size, math.Abs(y))
					}
					for k, y := range sum {
						if x := s.Gradient[i*n+k]; math.Abs(x-y) > float64(1e-6*size) {
							t.Errorf("%s, %v: derivative %d of %s is %v by a search, %v by a sum", kind, c, k,
								s.Values[i].Name, x, y)
						}
					}
				}
			}
		}
	}
}

// TestInterpKnots differentiates by knots that are params.
func TestInterpKnots(t *testing.T) {
	for _, kind := range []string{"linear", "monotone"} {
		m, err := odes.Parse("table.ode", strings.ReplaceAll(`
time t from 0 to 8
param T[4] = [1, 2, 4, 7], y[4] = [1, 3, 2, 2.5]
state x = 0
x' = interp(T, y, t, kind = KIND)
objective X = final(x^2)
`, "KIND", kind), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		v, err := m.Verify(context.Background(), odes.Options{}, odes.VerifyOptions{})
		if err != nil || v.Wrong() {
			t.Errorf("%s: %+v, %v", kind, v, err)
		}
	}
}

// TestInterpAtKnots reads tables at one of their knots. Smooth tables have a slope there, and a linear
// one takes that on its right.
func TestInterpAtKnots(t *testing.T) {
	for kind, want := range map[string]float64{"linear": -2, "monotone": 0, "spline": 0.5} {
		m, err := odes.Parse("knot.ode", fmt.Sprintf(`
time t from 0 to 1
param q = 2
const T = [0, 1, 2, 3, 4]
const Y = [0, 0, 3, 1, 2]
state x = 0
x' = 1
objective J = interp(T, Y, q, kind = %s) + 0*final(x)
sens { of = J  wrt = q }
`, kind), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range []string{"adjoint", "tangent"} {
			s, err := m.Sensitivities(context.Background(),
				odes.Options{Settings: modeltest.Settings("sens.mode", mode)})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Gradient[0]; math.Abs(got-want) > 1e-12 {
				t.Errorf("%s, %s: slope %g at the knot, want %g", kind, mode, got, want)
			}
		}
	}
}

// TestTableEnds goes on behind the end of a long table, where its value rests. No time after that is at a kink.
func TestTableEnds(t *testing.T) {
	for _, kind := range []string{"linear", "monotone", "spline"} {
		m, err := odes.Parse("table.ode", strings.ReplaceAll(`
time t from 0 to 80
param lag = 0.7, k = 0.1
const T = grid(0, 69, 70)
const Y = [1 + sin(i) for i in 1:70]
state x = 0
x' = interp(T, Y, t - lag, kind = KIND) - k*x
objective X = final(x)
sens { control = off }
`, "KIND", kind), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range s.Warnings {
			if w.Code == "kink" {
				t.Errorf("%s: %s", kind, w.Message)
			}
		}
	}
}

// TestInterpPrevious reads tables whose values are held, at the time, at a state and in loops, and compares them with
// closed forms: of integrals of the table, by its values, its knots and what shifts it.
func TestInterpPrevious(t *testing.T) {
	text := `
time t from 0 to 10
param lag = 0.7, s[4] = [1, 3.5, 4, 8], y[4] = [2, -1, 3, 0.5], a[2] = [0.5, 0.25]
const c = interp([1, 3.5, 4, 8], [2, -1, 3, 0.5], 4, kind = previous)
state x = 0, z = 0, w = 0, v[2] = 0
z' = 1
x' = interp(s, y, t - lag, kind = previous)
w' = interp(s, y, 2*z - 1, kind = previous)
v[i]' = interp([1, 3.5, 4, 8], y, a[i]*t, kind = previous) for i in 1:2
objective X = final(x)
objective W = final(w)
objective V = final(v[1]) + 10*final(v[2])
objective S = sum_at([0.5, 4.2, 4.5, 9], interp(s, y, t - lag, kind = previous)) + c
`
	want := []struct {
		value float64
		d     map[string][]float64
	}{
		{2*4.2 - 0.5 + 3*4 + 0.5*1.3, map[string][]float64{
			"lag": {3 - 4 + 2.5}, "s": {0, 3, -4, 2.5}, "y": {4.2, 0.5, 4, 1.3},
		}},
		{2*2.25 - 0.25 + 3*2 + 0.5*5.5, map[string][]float64{
			"s": {0, 1.5, -2, 1.25}, "y": {2.25, 0.25, 2, 5.5}, "initial(z)": {-1.5},
		}},
		{2*7 - 1 + 3*2 + 10*2*10, map[string][]float64{"y": {107, 1, 2, 0}, "a": {(4*4 - 3*3.5) / 0.25, 0}}},
		{2 - 1 - 1 + 0.5 + 3, map[string][]float64{"y": {1, 2, 0, 1}, "lag": {0}, "s": {0, 0, 0, 0}}},
	}
	for _, mode := range []string{"adjoint", "tangent", "complex"} {
		s, err := modeltest.Sensitivities(t, text, mode, odes.Setting{Key: "sens.trust", Value: "off"})
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			if !modeltest.Near(s.Values[i].Value, w.value, 1e-10) {
				t.Errorf("%s is %v, want %v", s.Values[i].Name, s.Values[i].Value, w.value)
			}
			at := 0
			for _, v := range s.Variables {
				for k := range v.Size() {
					if d, ok := w.d[v.Name]; ok && !modeltest.Near(s.Gradient[i*s.Columns+at], d[k], 1e-9) {
						t.Errorf("%s: derivative of %s by %s[%d] is %v, want %v", mode, s.Values[i].Name, v.Name, k+1,
							s.Gradient[i*s.Columns+at], d[k])
					}
					at++
				}
			}
		}
	}
}
