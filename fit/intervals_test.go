package fit_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/testing/seeds"
)

var randomIntervals = flag.Int("random-intervals", 20, "how many models of each kind TestRandomIntervals draws")

// regression is a sum of squares, in closed form where its numbers but the first are linear: y = Σ aᵢ φᵢ(t, a₀). Where
// no function depends on a₀, all numbers are linear.
type regression struct {
	t, y   []float64
	sd     float64
	lo, hi []float64
	phi    func(nonlinear, t float64) []float64 // one for each linear number
	curved bool                                 // the first number is not linear
}

// least returns half the least sum of squares of the linear numbers, with some of all numbers held (NaN: free), by
// trying each set of bounds: the sum is convex, so the best of those within the bounds is the minimum.
func (r *regression) least(held []float64) float64 {
	from, nonlinear := 0, 0.0
	if r.curved {
		from, nonlinear = 1, held[0]
	}
	n := len(held) - from
	a, b, c := make([]float64, n*n), make([]float64, n), 0.0
	for k, t := range r.t {
		row := r.phi(nonlinear, t)
		for i, x := range row {
			b[i] += x * r.y[k]
			for j, z := range row {
				a[i*n+j] += x * z
			}
		}
		c += r.y[k] * r.y[k]
	}
	best := math.Inf(1)
	sets := 1
	for range n {
		sets *= 3
	}
	x := make([]float64, n)
	for set := range sets {
		var free []int
		for i, s := 0, set; i < n; i, s = i+1, s/3 {
			switch v := held[from+i]; {
			case !math.IsNaN(v):
				x[i] = v
				if s%3 != 0 {
					free = nil
				}
			case s%3 == 0:
				x[i] = math.NaN()
				free = append(free, i)
			case s%3 == 1:
				x[i] = r.lo[from+i]
			default:
				x[i] = r.hi[from+i]
			}
		}
		if !eliminate(a, b, x, free) {
			continue
		}
		within, sum := true, c
		for i, v := range x {
			size := r.hi[from+i] - r.lo[from+i]
			within = within && v >= r.lo[from+i]-1e-12*size && v <= r.hi[from+i]+1e-12*size
			sum -= 2 * v * b[i]
			for j, w := range x {
				sum += v * w * a[i*n+j]
			}
		}
		if within {
			best = min(best, sum/(2*r.sd*r.sd))
		}
	}
	return best
}

// eliminate sets the free elements of x to those with which a·x = b holds in their rows.
func eliminate(a, b, x []float64, free []int) bool {
	n, k := len(x), len(free)
	m := make([][]float64, k)
	for r, i := range free {
		m[r] = make([]float64, k+1)
		m[r][k] = b[i]
		for j, v := range x {
			if !math.IsNaN(v) {
				m[r][k] -= a[i*n+j] * v
			}
		}
		for c, j := range free {
			m[r][c] = a[i*n+j]
		}
	}
	for p := range m {
		for r := p + 1; r < k; r++ {
			if math.Abs(m[r][p]) > math.Abs(m[p][p]) {
				m[p], m[r] = m[r], m[p]
			}
		}
		if m[p][p] == 0 {
			return false
		}
		for r := range m {
			if f := m[r][p] / m[p][p]; r != p {
				for c := range m[r] {
					m[r][c] -= f * m[p][c]
				}
			}
		}
	}
	for r, i := range free {
		x[i] = m[r][k] / m[r][r]
	}
	return true
}

// profile returns the least value where number i is held at v; i < 0: where none is. Of a number that is not linear,
// all values are tried.
func (r *regression) profile(i int, v float64) float64 {
	held := make([]float64, len(r.lo))
	for k := range held {
		held[k] = math.NaN()
	}
	if i >= 0 {
		held[i] = v
	}
	if !r.curved || i == 0 {
		return r.least(held)
	}
	const many = 160
	at := func(u float64) float64 { // u from 0 to many, logarithmic
		held[0] = r.lo[0] * math.Pow(r.hi[0]/r.lo[0], u/many)
		return r.least(held)
	}
	values := make([]float64, many+1)
	for k := range values {
		values[k] = at(float64(k))
	}
	best := math.Inf(1)
	for k, f := range values {
		if k > 0 && values[k-1] < f || k < many && values[k+1] < f || f > best+100 {
			continue
		}
		const golden = 0.6180339887498949
		lo, hi := max(float64(k)-1, 0), min(float64(k)+1, many)
		for hi-lo > 1e-6 {
			a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
			if at(a) < at(b) {
				hi = b
			} else {
				lo = a
			}
		}
		best = min(best, at((lo+hi)/2), f)
	}
	return best
}

// text is the regression as a model. Its linear numbers are called a0, a1, …, the other one k.
func (r *regression) text(names []string, observed, options string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "time t from 0 to %v\nstate x = 1\nx' = %s\n", r.t[len(r.t)-1]+1, map[bool]string{
		true: "-k*x", false: "-0.3*x",
	}[r.curved])
	for i, name := range names {
		at := r.lo[i] + 0.4*(r.hi[i]-r.lo[i])
		fmt.Fprintf(&b, "param %s = %v in [%v, %v]\n", name, at, r.lo[i], r.hi[i])
	}
	list := func(x []float64) string { return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(x), "[]")), ", ") }
	fmt.Fprintf(&b, "data D { time = [%s]  y = [%s] }\nobserve o = %s ~ normal(%v) from D.y\nobjective L = nll()\n",
		list(r.t), list(r.y), observed, r.sd)
	fmt.Fprintf(&b, "fit { over = [%s]  %s }\nsolver { rtol = 1e-10  atol = 1e-13 }\n", strings.Join(names, ", "),
		options)
	return b.String()
}

// studentTail returns the quantile of Student's distribution with nu degrees of freedom beyond which 2.5 % lie, by
// Simpson's rule and bisection.
func studentTail(nu float64) float64 {
	up, _ := math.Lgamma((nu + 1) / 2)
	down, _ := math.Lgamma(nu / 2)
	density := func(x float64) float64 {
		return math.Exp(up-down-(nu+1)/2*math.Log1p(x*x/nu)) / math.Sqrt(nu*math.Pi)
	}
	inner := func(q float64) float64 { // from 0 to q
		const n = 2000
		sum, h := density(0)+density(q), q/n
		for i := 1; i < n; i++ {
			sum += float64(2+2*(i%2)) * density(float64(i)*h)
		}
		return sum * h / 3
	}
	lo, hi := 0.0, 100.0
	for range 80 {
		if q := (lo + hi) / 2; inner(q) < 0.475 {
			lo = q
		} else {
			hi = q
		}
	}
	return lo
}

// drawRegression draws a regression, its names, what is observed, and the height of its intervals.
func drawRegression(d *rand.Rand, curved bool) (r *regression, names []string, observed string, sd float64) {
	r = &regression{curved: curved, sd: math.Exp2(float64(d.IntN(9)) - 5)}
	parts := []struct {
		text string
		f    func(t float64) float64
	}{
		{"1", func(float64) float64 { return 1 }},
		{"t", func(t float64) float64 { return t }},
		{"sin(t)", math.Sin},
		{"x", func(t float64) float64 { return math.Exp(-0.3 * t) }},
		{"t^2", func(t float64) float64 { return t * t }},
	}
	d.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	n := 1 + d.IntN(3)
	if curved {
		n = 1 + d.IntN(2)
		first := 0
		for parts[first].text != "1" {
			first++
		}
		parts[0].text, parts[0].f = "x", nil
		parts[1].text, parts[1].f = "1", func(float64) float64 { return 1 }
		names, r.lo, r.hi = append(names, "k"), append(r.lo, 0.01), append(r.hi, 3)
	}
	parts = parts[:n]
	truth := 0.1 + 1.5*d.Float64() // of k
	r.phi = func(k, t float64) []float64 {
		row := make([]float64, n)
		for i := range row {
			if parts[i].f == nil {
				row[i] = math.Exp(-k * t)
			} else {
				row[i] = parts[i].f(t)
			}
		}
		return row
	}
	scale := math.Exp2(float64(d.IntN(7)) - 3)
	var linear []float64
	var terms []string
	for i, p := range parts {
		a := scale * math.Round(100*(4*d.Float64()-2)) / 100
		linear = append(linear, a)
		names = append(names, fmt.Sprint("a", i))
		terms = append(terms, fmt.Sprintf("a%d*%s", i, p.text))
		lo, hi := a-scale*(0.05+6*d.Float64()), a+scale*(0.05+6*d.Float64())
		switch d.IntN(6) {
		case 0: // the truth lies outside
			lo = a + 0.3*scale*d.Float64()
			hi = max(hi, lo+scale)
		case 1: // far away
			lo, hi = a-1000*scale, a+1000*scale
		}
		r.lo, r.hi = append(r.lo, lo), append(r.hi, hi)
	}
	r.sd *= scale
	rows := n + 3 + d.IntN(8)
	for k := range rows {
		t := math.Round(100*(float64(k)+d.Float64())*8/float64(rows)) / 100
		v := r.sd * d.NormFloat64()
		for i, f := range r.phi(truth, t) {
			v += linear[i] * f
		}
		r.t, r.y = append(r.t, t), append(r.y, v)
	}
	return r, names, strings.Join(terms, " + "), r.sd
}

// TestRandomIntervals draws regressions whose profiles are known: those of numbers that are linear in closed form, by
// quadratic programs; beside a rate, by trying all its values. Each end has risen by the quantile or lies at a bound,
// no value of a profile comes twice, and none is lower than can be or, where all numbers are linear, higher.
func TestRandomIntervals(t *testing.T) {
	first := seeds.Of(t, 1)
	const chi2 = 1.9207294103470948 // half the quantile
	ends, marked, high, points := 0, 0, 0, 0
	for _, curved := range []bool{false, true} {
		for i := range *randomIntervals {
			seed := first + uint64(i)
			d := rand.New(rand.NewPCG(seed, map[bool]uint64{false: 50, true: 51}[curved]))
			r, names, observed, _ := drawRegression(d, curved)
			level, options := chi2, "starts = 3"
			least := r.profile(-1, 0)
			if !curved && d.IntN(3) == 0 {
				options += "  scatter = estimated"
				free := 0
				for i := range names { // those that no bound holds
					size := 1e-6 * (r.hi[i] - r.lo[i])
					if r.profile(i, r.lo[i]) > least+1e-9 && r.profile(i, r.hi[i]) > least+1e-9 && size > 0 {
						free++
					}
				}
				if free < len(names) { // whether a bound holds a number back is for another test to say
					continue
				}
				nu := float64(len(r.t) - free)
				q := studentTail(nu)
				level = q * q * least / nu
			}
			text := r.text(names, observed, options)
			m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err, text)
			}
			f, err := fit.Run(t.Context(), m, fit.Options{Workers: 1})
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			wrong := func(format string, args ...any) {
				t.Errorf("seed %d: %s\n%s", seed, fmt.Sprintf(format, args...), text)
			}
			const digits = 2e-4
			best := f.Objective.Value - float64(len(r.t))*(math.Log(r.sd)+math.Log(2*math.Pi)/2)
			if math.Abs(best-least) > digits*level+1e-9 {
				if best < least {
					wrong("the minimum is %v, less than %v", best, least)
				}
				continue // of another minimum nothing is known here
			}
			for i := range f.Estimates {
				x := &f.Estimates[i]
				for k, p := range x.Profile {
					if k > 0 && p.Value == x.Profile[k-1].Value {
						wrong("the profile of %s has %v twice", names[i], p.Value)
					}
					points++
					off := p.Rise - (r.profile(i, p.Value) - least)
					switch {
					case off < -digits*(p.Rise+level), off > digits*(p.Rise+level) && !curved:
						wrong("the profile of %s at %v is %v, off by %v", names[i], p.Value, p.Rise, off)
					case off > digits*(p.Rise+level):
						high++
					}
				}
				if x.AtBound != 0 && x.Lower == x.Upper {
					continue
				}
				for side, open := range []string{x.OpenLower, x.OpenUpper} {
					end, bound := x.Lower, r.lo[i]
					if side == 1 {
						end, bound = x.Upper, r.hi[i]
					}
					ends++
					rise := r.profile(i, end) - least
					switch {
					case !(end >= r.lo[i] && end <= r.hi[i]):
						wrong("%s ends at %v, outside of its bounds", names[i], end)
					case open == "":
						if math.Abs(rise-level) > 1e-3*level {
							wrong("the profile of %s has risen by %v at its end %v, not by %v", names[i], rise, end,
								level)
						}
					case open == "bound":
						if end != bound || rise > level*(1+1e-3) {
							wrong("%s ends at %v, where the profile has risen by %v of %v, for its bound %v",
								names[i], end,
								rise, level, bound)
						}
					default:
						marked++
					}
				}
			}
		}
	}
	t.Logf("%d ends, %d with a mark; %d of %d points are of a higher branch", ends, marked, high, points)
	if ends < *randomIntervals*3 || marked > ends/50 {
		t.Errorf("%d ends, %d with a mark", ends, marked)
	}
}
