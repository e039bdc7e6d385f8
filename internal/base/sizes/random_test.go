package sizes_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
)

var sizeModels = flag.Int("sizes", 40, "models of TestSizesRandom")

// scaled is a model whose states are those of one with sizes about 1, each in a unit of its own.
type scaled struct {
	kind, text string
	want       []float64 // final values of the states
	least      []float64 // errors that are those of rounding, or of a size before that is gone
}

// TestSizesRandom: with tolerances by size no final value of a state is wrong without a mark, whatever the units of the
// states, from 1e-15 to 1e25.
func TestSizesRandom(t *testing.T) {
	first := seeds.Of(t, 1)
	marked, steps, kinds := 0, 0, map[string]int{}
	for n := range *sizeModels {
		r := rand.New(rand.NewPCG(first+uint64(n), 50))
		c := drawScaled(r)
		m, err := odes.Parse("scaled.ode", c.text+"\nsolver { atol = auto }\n", odes.ParseOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, c.text)
		}
		run, err := m.Prepare(odes.Options{Threads: 1})
		if err != nil {
			t.Fatalf("%v\n%s", err, c.text)
		}
		s, err := run.Sensitivities(context.Background())
		if err != nil {
			t.Errorf("model %d, %s: %v\n%s", n, c.kind, err, c.text)
			continue
		}
		kinds[c.kind]++
		steps += s.Stats.Steps
		for i, v := range s.Values {
			off := math.Abs(v.Value - c.want[i])
			switch {
			case v.Trust > odes.Sound:
				marked++
			case !(off <= math.Max(1e-4*math.Abs(c.want[i]), c.least[i])):
				t.Errorf("model %d, %s: %s is %g instead of %g\n%s", n, c.kind, v.Name, v.Value, c.want[i], c.text)
			}
		}
	}
	t.Logf("%v, %d values marked, %d steps", kinds, marked, steps)
}

func drawScaled(r *rand.Rand) scaled {
	unit := func() float64 { return math.Pow(10, float64(r.IntN(41)-15)) }
	between := func(a, b float64) float64 { return a * math.Pow(b/a, r.Float64()) }
	var b strings.Builder
	end := between(0.3, 30)
	fmt.Fprintf(&b, "time t from 0 to %.17g\n", end)
	state := func(i int, x float64) { fmt.Fprintf(&b, "state x%d = %.17g\n", i, x) }
	finish := func(kind string, want ...float64) scaled {
		c := scaled{kind: kind, want: want}
		for i, x := range want {
			fmt.Fprintf(&b, "objective J%d = final(x%d)\n", i, i)
			c.least = append(c.least, 0)
			_ = x
		}
		c.text = b.String()
		return c
	}
	switch k := r.IntN(4); k {
	case 0, 1: // compartments, of which some are empty
		n := 2 + r.IntN(6)
		u, x := make([]float64, n), make([]float64, n)
		a := make([][]float64, n)
		for i := range n {
			u[i], a[i] = unit(), make([]float64, n)
			if i == 0 || r.IntN(3) == 0 {
				x[i] = between(0.1, 10)
			}
		}
		for i := range n {
			if i+1 < n || r.IntN(2) == 0 {
				j := (i + 1) % n
				if k == 1 && r.IntN(2) == 0 {
					j = r.IntN(n)
				}
				rate := between(0.05, 5)
				if a[i][i] -= rate; j != i {
					a[j][i] += rate
				}
			}
		}
		b.WriteString("param k = 1\n")
		for i := range n {
			state(i, x[i]*u[i])
			fmt.Fprintf(&b, "x%d' = k*(0", i)
			for j, v := range a[i] {
				if v != 0 {
					fmt.Fprintf(&b, " + (%.17g)*x%d", v*u[i]/u[j], j)
				}
			}
			b.WriteString(")\n")
		}
		want := exponential(a, x, end)
		c := finish("compartments", want...)
		for i := range want {
			want[i] *= u[i]
		}
		for part := range 50 { // what is small has decayed from there
			for i, y := range exponential(a, x, end*float64(part)/50) {
				c.least[i] = max(c.least[i], 1e-8*u[i]*math.Abs(y))
			}
		}
		return c
	case 2:
		u, from, rate := unit(), between(1e-6, 0.5), between(0.1, 2)
		fmt.Fprintf(&b, "param k = %.17g\n", rate)
		state(0, from*u)
		fmt.Fprintf(&b, "x0' = k*x0*(1 - x0/%.17g)\n", u)
		return finish("logistic", u/(1+(1/from-1)*math.Exp(-rate*end)))
	}
	u, w, from, most, half := unit(), unit(), between(0.1, 10), between(0.1, 1), between(0.01, 3)
	fmt.Fprintf(&b, "param k = %.17g\n", most)
	state(0, from*u)
	state(1, 0)
	flow := fmt.Sprintf("x0/(%.17g + x0)", half*u)
	fmt.Fprintf(&b, "x0' = -k*%.17g*%s\nx1' = k*%.17g*%s\n", u, flow, w, flow)
	// s + half·log s = c, by Newton's method for log s.
	c, z := from+half*math.Log(from)-most*end, math.Log(from)
	for range 200 {
		z -= (math.Exp(z) + half*z - c) / (math.Exp(z) + half)
	}
	s := math.Exp(z)
	out := finish("saturation", s*u, (from-s)*w)
	out.least[0] = 1e-6 * u * from
	return out
}

// exponential returns exp(a t) x.
func exponential(a [][]float64, x []float64, t float64) []float64 {
	const parts = 1 << 8
	y := append([]float64(nil), x...)
	for range parts {
		term, sum := y, append([]float64(nil), y...)
		for k := 1; k < 14; k++ {
			next := make([]float64, len(y))
			for i := range next {
				for j, v := range a[i] {
					next[i] += v * term[j] * t / parts / float64(k)
				}
				sum[i] += next[i]
			}
			term = next
		}
		y = sum
	}
	return y
}
