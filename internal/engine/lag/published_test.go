package lag_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// published are problems of test sets for solvers of delay equations.
var published = []struct {
	name, text string
	states     []string
	want       []float64 // at the end
	within     []float64 // of these
	methods    []string
	by         []string
	slopes     float64 // within which derivatives by these agree
}{
	// N. Guglielmi, E. Hairer, RADAR5: an enzyme that its product inhibits late (M. Okamoto, K. Hayashi 1984). The
	// values are those of Gauss collocation of order 20 in a program that shares nothing with this one.
	{
		name: "enzyme", states: []string{"a", "b", "c", "d"}, methods: []string{"auto", "radau9"},
		by: []string{"al", "I", "k", "tau"}, slopes: 1e-5,
		want:   []float64{33.9257947111, 22.7065371313, 18.8305767317, 22.2659907877},
		within: []float64{1e-7, 1e-7, 1e-7, 1e-7},
		text: `
time t from 0 to 160
param al = 0.0005, I = 10.5, k = 0.5, tau = 4
state a = 60, b = 10, c = 10, d = 20
let g = a/(1 + al*delay(d, tau)^3)
a' = I - g
b' = g - b
c' = b - c
d' = c - k*d
`,
	},
	// DDETST C3: blood cells; the past of w jumps at -T1, and the delay of its second reading is a state. Values by
	// collocation, too.
	{
		name: "ddetst_c3", states: []string{"u", "w", "d"}, methods: []string{"auto", "radau9", "rodas5p"},
		want: []float64{3.49974428883, 9.99991754657, 117.136701113}, within: []float64{1e-7, 1e-7, 1e-7},
		by: []string{"s0", "T1", "ga", "Q", "k", "initial(d)"}, slopes: 1e-5,
		text: `
time t from 0 to 130
param s0 = 0.0031, T1 = 6, ga = 0.001, Q = 0.0275, k = 2.8, a = 6570, K = 0.0382, r = 6.96
state u = 3.325, w = 10, d = 120
past w = if t >= -T1 then 10 else 9.5
u' = s0*delay(w, T1) - ga*u - Q
w' = a/(1 + K*u^r) - k*w
d' = 1 - Q*exp(ga*d)/(s0*delay(w, T1 + d))
`,
	},
	// RADAR5, with the fifth set of params: antibodies (P. Waltman 1978). Numbers are down to 1e-21, and the times that
	// are read are states. The values are those of RADAR5 at rtol 1e-6.
	{
		name: "waltman", states: []string{"x", "y", "z", "w", "u", "v"}, methods: []string{"auto", "radau9"},
		by: []string{"al", "x0", "t0", "t1"}, slopes: 5e-3,
		want: []float64{
			6.154488183e-16, 3.377120916e-7, 4.22140331e-7, 2.142554562e-6, 299.9999999, 299.6430338,
		},
		within: []float64{4e-3, 2e-4, 2e-4, 2e-4, 1e-9, 1e-6},
		text: `
time t from 0 to 300
param al = 1.8, be = 20, ga = 0.002, r = 5e4, s = 1e5, t0 = 35, t1 = 197, x0 = 0.5e-5
state x = x0, y = 1e-15, z = 0, w = 0, u = 0, v = 0
let late = if t >= t0 then 1 else 0
let later = if t >= t1 then 1 else 0
x' = -r*x*y - s*x*w
y' = -r*x*y + late*al*r*delay(x*y, t - u)
z' = r*x*y
w' = -s*x*w - ga*w + later*be*r*delay(x*y, t - v)
u' = late*(x*y + z)/delay(x*y + z, t - u)
v' = later*(1e-12 + y + z)/(1e-12 + delay(y + z, t - v))
`,
	},
	// RADAR5: acute hepatitis B (G. A. Bocharov, A. A. Romanyukha 1994). Viruses V grow by five powers of ten, and then
	// killer cells E by nine, which ends the infection. The values are those of SciPy's Radau at rtol 1e-10, by
	// intervals of 0.2 with Chebyshev series for the past. At 130 it has no digit of V and C.
	{
		name: "hepatitis at 100", states: []string{"V", "C", "m", "M", "H", "K", "E", "B", "P", "F"},
		methods: []string{"auto", "radau9"}, by: []string{"a8", "a14", "T1", "T2", "T3"}, slopes: 1e-5,
		want: []float64{
			1.44403475e-11, 8.73967004e-14, 1.8000371e-14, 1.04068654e-16, 1.97074035e-17,
			1.97066892e-18, 3.06989278e-18, 4.64134844e-18, 1.13069919e-21, 7.59841663e-16,
		},
		within: slices.Repeat([]float64{1e-7}, 10),
		text:   "time t from 0 to 100\n" + hepatitis,
	},
	{
		name: "hepatitis", states: []string{"m", "H", "K", "E", "B", "P", "F"},
		methods: []string{"radau9"}, by: []string{"T1"},
		want: []float64{
			8.39560022e-15, 9.99996681e-19, 1.00002258e-19, 2.80893978e-11,
			2.24129637e-12, 1.41701022e-17, 5.94452134e-08,
		},
		within: slices.Repeat([]float64{1e-6}, 7),
		text:   "time t from 0 to 130\n" + hepatitis,
	},
}

// hepatitis are viruses V, infected cells C and destroyed cells m, macrophages M, helper cells H and K, killer cells E,
// B cells, plasma cells P and antibodies F.
const hepatitis = `
param a1 = 83, a2 = 5, a3 = 6.6e14, a4 = 3e11, a5 = 0.4, a6 = 2.5e7, a7 = 0.5e-12, a8 = 2.3e9, a9 = 0.052, a10 = 0.15
param a11 = 9.4e9, a12 = 1e-15, a13 = 1.2, a14 = 2.7e16, a16 = 5.3e27, a18 = 1e-18, a19 = 2.7e16
param a21 = 8e28, a23 = 1e-19, a24 = 5.3e33, a26 = 1.6e14, a27 = 0.4, a28 = 1e-18, a29 = 8e32, a31 = 0.1
param a32 = 1e-18, a33 = 1.7e30, a35 = 0.4, a36 = 4.3e-22, a37 = 0.85e7, a38 = 8.6e11, a39 = 0.043
param T1 = 0.6, T2 = 2, T3 = 3
state V = 2.9e-16, C = 0, m = 0, M = 0, H = a18, K = a23, E = a28, B = a32, P = a36, F = a37*a36/a39
let xi = 1 - m/a7
V' = a1*C + a2*a3*C*E - a4*V*F - a5*V - a6*V*(a7 - C - m)
C' = a8*V*(a7 - C - m) - a3*C*E - a9*C
m' = a3*C*E + a9*C - a10*m
M' = a11*a12*V - a13*M
H' = a14*(2*xi*delay(M*H, T1) - M*H) - a16*M*H*E + (a18 - H)
K' = a19*(2*xi*delay(M*K, T1) - M*K) - a21*M*K*B + (a23 - K)
E' = a24*(16*xi*delay(M*H*E, T2) - M*H*E) - a26*C*E + a27*(a28 - E)
B' = a29*(16*xi*delay(M*K*B, T2) - M*K*B) + a31*(a32 - B)
P' = 3*a33*xi*delay(M*K*B, T3) + a35*(a36 - P)
F' = a37*P - a38*F*V - a39*F
`

// TestPublished compares the ends of published problems with other programs, and derivatives by one method with those
// by others.
func TestPublished(t *testing.T) {
	for _, p := range published {
		text := p.text
		for i, x := range p.states {
			text += fmt.Sprintf("objective J%d = final(%s)\n", i, x)
		}
		var first []float64
		for _, method := range p.methods {
			s := sensitivities(t, text, p.by, map[string]string{"solver.rtol": "1e-8", "solver.method": method})
			for i, v := range s.Values {
				if w := p.want[i]; !(math.Abs(v.Value-w) <= p.within[i]*math.Abs(w)) {
					t.Errorf("%s by %s: %s = %.12g, want %.12g", p.name, method, p.states[i], v.Value, w)
				}
				largest := 0.0
				row := s.Gradient[i*s.Columns : (i+1)*s.Columns]
				for _, x := range row {
					largest = max(largest, math.Abs(x))
				}
				for k, x := range row {
					if first == nil {
						continue
					}
					w := first[i*s.Columns+k]
					if !(math.Abs(x-w) <= p.slopes*max(math.Abs(w), 1e-6*largest)) {
						t.Errorf("%s by %s: derivative %d of %s is %.10g, by %s %.10g", p.name, method, k, p.states[i],
							x, p.methods[0], w)
					}
				}
			}
			if first == nil {
				first = append(first, s.Gradient...)
			}
		}
	}
}
