package lag_test

import (
	"flag"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/explicit"
	"odes.dev/odes/solvers/methods"
)

var allOrders = flag.Bool("orders", false, "tell the observed orders of all methods with delays")

// broken returns an equation whose solution jumps behind its past, at events and at what these cause later, all of them
// at multiples of 1/4.
func broken() (m linear, text string) {
	m = linear{
		a: -2.1, b: -4.3, f: 0.3, tau: 1, rho: 1, p: 0.4, q: 0.5, x0: 1, d: 0.8, t1: 0.25, t2: 0.5, end: 3.75,
	}
	text = strings.Replace(m.text(), " + c*delay(x, rho)", "", 1)
	return m, regexp.MustCompile("objective late.*\n").ReplaceAllString(text, "")
}

// smooth has the solution cos(t), whose past it continues.
const smooth = `
time t from 0 to 12
param a = 1, tau = 1.5707963267948966
state x = 1
past x = cos(t)
x' = -a*delay(x, tau)
objective final = final(x)
objective area = integral(x)
`

// errorsBy returns the largest error of values, and of derivatives by some params, of a run in steps of length h.
func errorsBy(
	t *testing.T, text, method string, h float64, want map[string]float64, slopes map[[2]string]float64,
) (value, derivative float64) {
	t.Helper()
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	var s *odes.Sensitivities
	if err == nil {
		s, err = m.Sensitivities(t.Context(), odes.Options{Settings: modeltest.Settings(
			"solver.method", method, "solver.fixed_step", fmt.Sprint(h), "sens.trust", "off")})
	}
	if err != nil {
		t.Fatal(method, err)
	}
	for i, v := range s.Values {
		value = max(value, math.Abs(v.Value-want[v.Name])/max(1, math.Abs(want[v.Name])))
		for _, x := range s.Variables {
			if d, ok := slopes[[2]string{v.Name, x.String()}]; ok {
				derivative = max(derivative, math.Abs(s.Derivative(i, x)[0]-d)/max(1, math.Abs(d)))
			}
		}
	}
	return value, derivative
}

// orderOf returns the order at which errors vanish by least squares over those from the first below 1e-2 to the first
// below floor. It is infinite for fewer than three.
func orderOf(h, e []float64, floor float64) float64 {
	var n, sx, sy, sxx, sxy float64
	for i, e := range e {
		if e <= floor {
			break
		}
		if e < 1e-2 {
			x, y := math.Log(h[i]), math.Log(e)
			n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
		}
	}
	if n < 3 {
		return math.Inf(1)
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

// TestOrders: each method has its order with delays, on a smooth solution and on one with jumps, kinks and what these
// cause: implicit ones that of their dense output and one at most. So have derivatives, but those of implicit methods
// by delays and times: they read slopes of the dense output, which have its order.
func TestOrders(t *testing.T) {
	few := []string{"tsit5", "dop853", "radau9", "rodas5p"}
	ofBroken, slopes := map[string]float64{}, map[[2]string]float64{}
	m, text := broken()
	for i, v := range m.solve() {
		ofBroken[linearObjectives[i]] = v
	}
	for _, by := range []string{"tau", "t1", "d", "x0"} {
		for _, step := range fourPoints {
			const h = 2e-4
			moved := m
			*moved.params()[by] += step.by * h
			for i, v := range moved.solve() {
				slopes[[2]string{linearObjectives[i], by}] += step.weight * v / h
			}
		}
	}
	ofSmooth := map[string]float64{"final": math.Cos(12), "area": math.Sin(12)}
	for _, method := range methods.All() { // but radau, which has several orders
		if !method.Remembers() || method.Name == "radau" || !*allOrders && !slices.Contains(few, method.Name) {
			continue
		}
		info := method.New(solvers.Size{N: 1}, 0).Info()
		order := min(info.Order, info.DenseOrder+1)
		var h, smoothly, values, derivatives []float64
		for _, k := range []float64{1, 2, 3, 4, 6, 8, 12, 16, 24, 32} {
			a, _ := errorsBy(t, smooth, method.Name, 0.5/k, ofSmooth, nil)
			b, c := errorsBy(t, text, method.Name, 0.25/k, ofBroken, slopes)
			h, smoothly = append(h, 1/k), append(smoothly, a)
			values, derivatives = append(values, b), append(derivatives, c)
		}
		a, b, c := orderOf(h, smoothly, 1e-11), orderOf(h, values, 1e-11), orderOf(h, derivatives, 1e-9)
		if *allOrders {
			fmt.Printf("| `%s` | %d | %d | %.1f | %.1f | %.1f |\n", method.Name, info.Order, info.DenseOrder, a, b, c)
		}
		of := order
		if !slices.Contains(explicit.Family.Methods, method) {
			of = min(order, info.DenseOrder)
		}
		if least := float64(order) - 0.5; !(a > least && b > least && c > float64(of)-0.8) {
			t.Errorf("%s: orders %.2f and %.2f of solutions without jumps and with these, %.2f of derivatives, want %d",
				method.Name, a, b, c, order)
			t.Log(smoothly, values, derivatives)
		}
	}
}
