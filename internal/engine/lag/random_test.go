package lag_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
)

var models = flag.Int("models", 40, "random delay equations")

// linear is x' = a x + b x(t - tau) + c x(t - rho) + f t, with the past p + q t, x(0) = x0, and x += d at t1, t2.
type linear struct{ a, b, c, f, tau, rho, p, q, x0, d, t1, t2, end float64 }

const terms = 22 // of pieces up to 0.25: the next one is below 1e-16

// piece is a Taylor series about the start of an interval.
type piece struct {
	from, to float64
	x        [terms]float64
}

// about returns the series of the piece about another time.
func (p *piece) about(t float64) (y [terms]float64) {
	h := t - p.from
	for k := terms - 1; k >= 0; k-- { // Horner's scheme, with all derivatives
		for i := terms - 1; i > 0; i-- {
			y[i] = y[i]*h + y[i-1]
		}
		y[0] = y[0]*h + p.x[k]
	}
	return y
}

// reads are the times at which x is read, before anything comes back and behind many generations of that.
func (m *linear) reads() []float64 {
	return []float64{0.05, 0.13, 0.3 * m.end, 0.45 * m.end, 0.7 * m.end, 0.85 * m.end, 0.95 * m.end}
}

// breaks returns the times up to a little beyond the end at which a state may not be smooth, of those at which
// something happens and so many generations.
func (m *linear) breaks(generations int) []float64 {
	all := []float64{0, m.t1, m.t2}
	last := all
	distinct := func(list []float64) []float64 {
		slices.Sort(list)
		return slices.CompactFunc(list, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	}
	for ; generations > 0; generations-- {
		var next []float64
		for _, t := range last {
			for _, d := range []float64{m.tau, m.rho} {
				if t+d < m.end+0.01 {
					next = append(next, t+d)
				}
			}
		}
		last = distinct(next)
		all = append(all, last...)
	}
	return distinct(all)
}

// solve returns x at the end, x at half of it, the integral of x(t - tau), the sum of x(t - tau) at the end and
// x(t - rho) at half of it, and the sums of x and its square at m.reads, by the method of steps: intervals end wherever
// anything of what is read is not smooth.
func (m *linear) solve() (v [6]float64) {
	grid := append(m.breaks(terms), m.end, m.end/2)
	grid = slices.DeleteFunc(grid, func(t float64) bool { return t > m.end })
	for t := 0.25; t < m.end; t += 0.25 {
		grid = append(grid, t)
	}
	slices.Sort(grid)
	grid = slices.CompactFunc(grid, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	past := piece{from: 0, to: 0}
	past.x[0], past.x[1] = m.p, m.q
	var pieces []piece
	read := func(mid, at float64) [terms]float64 {
		for i := len(pieces) - 1; i >= 0 && mid > 0; i-- {
			if pieces[i].from < mid {
				return pieces[i].about(at)
			}
		}
		return past.about(at)
	}
	x, half, area := m.x0, 0.0, 0.0
	for k := 0; k+1 < len(grid); k++ {
		at, to := grid[k], grid[k+1]
		if math.Abs(at-m.t1) < 1e-9 {
			x += m.d
		}
		if math.Abs(at-m.t2) < 1e-9 {
			x += m.d
		}
		if math.Abs(at-m.end/2) < 1e-9 {
			half = x
		}
		mid := (at + to) / 2
		u, v := read(mid-m.tau, at-m.tau), read(mid-m.rho, at-m.rho)
		p := piece{from: at, to: to}
		p.x[0] = x
		for i := 0; i+1 < terms; i++ {
			f := 0.0
			switch i {
			case 0:
				f = m.f * at
			case 1:
				f = m.f
			}
			p.x[i+1] = (m.a*p.x[i] + m.b*u[i] + m.c*v[i] + f) / float64(i+1)
		}
		h := to - at
		power := h
		for i := range terms {
			area += u[i] * power / float64(i+1)
			power *= h
		}
		end := p.about(to)
		x = end[0]
		pieces = append(pieces, p)
	}
	late := read(m.end-m.tau, m.end-m.tau)[0] + read(m.end/2-m.rho, m.end/2-m.rho)[0]
	sum, squares := 0.0, 0.0
	for _, t := range m.reads() {
		y := read(t, t)[0]
		sum += y
		squares += y * y
	}
	return [6]float64{x, half, area, late, sum, squares}
}

// params returns the params by name.
func (m *linear) params() map[string]*float64 {
	return map[string]*float64{
		"a": &m.a, "b": &m.b, "c": &m.c, "f": &m.f, "tau": &m.tau, "rho": &m.rho, "p": &m.p, "q": &m.q, "x0": &m.x0,
		"d": &m.d, "t1": &m.t1, "t2": &m.t2,
	}
}

const text = `
time t from 0 to %v
param a = %v, b = %v, c = %v, f = %v, tau = %v, rho = %v, p = %v, q = %v, x0 = %v, d = %v, t1 = %v, t2 = %v
state x = x0
past x = p + q*t
x' = a*x + b*delay(x, tau) + c*delay(x, rho) + f*t
event kick at t1, t2 { x += d }
objective final = final(x)
objective half = sum_at([%v], x)
objective area = integral(delay(x, tau))
objective late = final(delay(x, tau)) + sum_at([%v], delay(x, rho))
objective sum = sum_at(%s, x)
objective squares = sum_at(%s, x^2)
`

// text writes the model.
func (m *linear) text() string {
	times := strings.Join(strings.Fields(fmt.Sprint(m.reads())), ", ")
	return fmt.Sprintf(text, m.end, m.a, m.b, m.c, m.f, m.tau, m.rho, m.p, m.q, m.x0, m.d, m.t1, m.t2, m.end/2, m.end/2,
		times, times)
}

var drawn = []string{"tsit5", "dopri5", "dop853", "vern7", "radau9", "radau", "esdirk54", "gauss6", "rodas5p"}

var linearObjectives = []string{"final", "half", "area", "late", "sum", "squares"}

// fourPoints is a difference of fourth order.
var fourPoints = []struct{ by, weight float64 }{{1, 2.0 / 3}, {-1, -2.0 / 3}, {2, -1.0 / 12}, {-2, 1.0 / 12}}

// TestRandom compares linear equations with the method of steps, two delays, a past that jumps and events: values,
// derivatives by everything in both modes, with differences of the reference.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 1), 59))
	for range *models {
		m := draw(r)
		model, err := odes.Parse("random.ode", m.text(), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]expected{}
		for i, v := range m.solve() {
			want[linearObjectives[i]] = expected{v, map[string]float64{}}
		}
		var by []string
		for name := range m.params() {
			by = append(by, name)
			var d [6]float64
			h, steps := 2e-4, fourPoints
			if slices.Contains([]string{"f", "p", "q", "x0", "d"}, name) { // of these the state is an affine function
				h, steps = 0.5, fourPoints[:2]
			}
			for _, step := range steps {
				moved := m
				*moved.params()[name] += step.by * h
				weight := step.weight
				if len(steps) == 2 {
					weight = 0.5 * step.by
				}
				for i, v := range moved.solve() {
					d[i] += weight * v / h
				}
			}
			for i, of := range linearObjectives {
				want[of].by[name] = d[i]
			}
		}
		method := drawn[r.IntN(len(drawn))]
		for _, mode := range []string{"adjoint", "tangent"} {
			s, err := model.Sensitivities(context.Background(), odes.Options{Settings: []odes.Setting{
				{Key: "solver.rtol", Value: "1e-11"},
				{Key: "sens.mode", Value: mode},
				{Key: "sens.trust", Value: "off"},
				{Key: "solver.method", Value: method},
			}})
			if err != nil {
				t.Fatalf("%v\n%+v", err, m)
			}
			if check(t, s, want, by, 1e-8, 1e-6); t.Failed() {
				t.Fatalf("%s by %s: %+v", mode, method, m)
			}
		}
	}
}

// draw returns an equation. No two of the times at which something happens are near each other.
func draw(r *rand.Rand) (m linear) {
	u := func(lo, hi float64) float64 { return math.Round((lo+(hi-lo)*r.Float64())*1e4) / 1e4 }
	for {
		m = linear{
			u(-1, 0.5), u(-1.5, 1.5), u(-1, 1), u(-0.5, 0.5), u(0.3, 1.7), u(0.3, 1.7), u(-1, 1), u(-1, 1), u(-1, 1),
			u(-1, 1), u(0.1, 2.9), u(0.1, 2.9), u(3, 7),
		}
		times := []float64{0, m.t1, m.t2, m.end, m.end / 2}
		for _, t := range times[:3] {
			times = append(times, t+m.tau, t+m.rho)
		}
		slices.Sort(times)
		apart := true
		for _, t := range times { // differences of what is read at the end and before must not cross what comes later
			for _, d := range []float64{m.tau, m.rho} {
				apart = apart && math.Abs(t+d-m.end) > 2e-3 && math.Abs(t+d-m.end/2) > 2e-3
			}
		}
		for i := range times[1:] {
			apart = apart && times[i+1]-times[i] > 5e-3
		}
		for _, t := range append(m.reads(), m.end, m.end/2) { // a difference of second order would be none
			for _, b := range m.breaks(3) {
				apart = apart && math.Abs(t-b) > 2e-3
			}
		}
		if apart {
			return m
		}
	}
}
