package truth

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"odes.dev/odes/internal/testing/seeds"
)

var equalities = flag.Int("equalities", 120, "how many models TestEqualities draws, from -seed on")

// instantOf is a time with its derivatives by params.
type instantOf struct {
	at float64
	by map[string]float64
}

// equal draws the condition of an event that holds at instants alone, and those within (0, end). Params are a, the
// first time or a phase, P, the period, and of a state r, its rate. What it needs besides is declared in more.
func equal(r *rand.Rand, a, p, end float64) (when, more string, at []instantOf) {
	once := func(t float64, by string) []instantOf {
		return []instantOf{{t, map[string]float64{by: 1}}}
	}
	every := func(first float64, by func(k float64) map[string]float64) (list []instantOf) {
		for k := -100.0; k < 100; k++ {
			if t := first + k*p; t > 1e-9*end && t < end {
				list = append(list, instantOf{t, by(k)})
			}
		}
		return list
	}
	phased := func(k float64) map[string]float64 { return map[string]float64{"a": 1, "P": k} }
	plain := func(k float64) map[string]float64 { return map[string]float64{"P": k} }
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	rate := 0.2 + r.Float64()
	switch r.IntN(7) {
	case 0, 1:
		return pick("t == a", "a == t", "abs(t - a) <= 0", "0 >= abs(a - t)", "(t - a)^2 <= 0", "3*(t - a) == 0",
			"t >= a and t <= a", "not (t != a)", "not (abs(t - a) > 0)", "sqrt((t - a)^2) == 0", "-abs(t - a) >= 0",
			"t == a and t > 0", "t == a or t < -1", "(t - a)*(t + 1) == 0", "exp(t) - exp(a) == 0",
			"abs(t - a) + (t - a)^2 <= 0", "max(t - a, a - t) <= 0", "min(t - a, a - t) >= 0"), "", once(a, "a")
	case 2:
		return pick("t - P*floor(t/P) == 0", "t - P*trunc(t/P) == 0", "mod(t, P) == 0", "abs(mod(t, P)) <= 0",
				"P*ceil(t/P) - t == 0", "ceil(t/P) == floor(t/P)", "t/P == floor(t/P)", "t/P == round(t/P)",
				"sin(pi*t/P) == 0", "abs(sin(pi*t/P)) <= 0", "cos(2*pi*t/P) == 1",
				"1 - cos(2*pi*t/P) <= 0 and t > 0 or "+
					"cos(2*pi*t/P) == 1"),
			"", every(0, plain)
	case 3:
		return pick("mod(t - a, P) == 0", "t - a - P*floor((t - a)/P) == 0", "sin(pi*(t - a)/P) == 0",
				"cos(2*pi*(t - a)/P) == 1", "cos(2*pi*(t - a)/P) - 1 == 0", "abs(tan(pi*(t - a)/P)) <= 0"),
			"", every(a, phased)
	case 4: // a state that rises evenly
		c := rate * a
		return pick("z == c", "abs(z - c) <= 0", "c == z", "(z - c)^2 <= 0", "z^2 - c^2 == 0"),
			fmt.Sprintf("state z = 0\nparam c = %.17g\nparam r = %.17g\nz' = r\n", c, rate),
			[]instantOf{{c / rate, map[string]float64{"c": 1 / rate, "r": -c / rate / rate}}}
	case 5: // one that decays, and is lifted over the threshold by a jump that does not come to rest there
		c := math.Exp(-rate * a)
		at := []instantOf{{a, map[string]float64{"c": -1 / (rate * c), "r": math.Log(c) / rate / rate}}}
		lift, tl := "", a+0.6*(end-a)
		if r.IntN(2) == 0 {
			by := 1.5 * c // z at tl is below c; behind it falls through c once more
			z := math.Exp(-rate*tl) + by
			lift = fmt.Sprintf("event lift at %.17g { z += %.17g }\n", tl, by)
			if t := tl + math.Log(z/c)/rate; t < end*0.98 {
				ez := math.Exp(-rate * tl)
				at = append(at, instantOf{t, map[string]float64{
					"c": -1 / (rate * c), "r": -math.Log(z/c)/rate/rate - tl*ez/z/rate,
				}})
			} else if t < end*1.02 {
				lift = ""
			}
		}
		return pick("z == c", "abs(z - c) <= 0", "z - c == 0"),
			fmt.Sprintf("state z = 1\nparam c = %.17g\nparam r = %.17g\nz' = -r*z\n%s", c, rate, lift), at
	}
	n := 1 + r.IntN(3) // a counter
	t := a + float64(n-1)*p
	more = "discrete z = 0\nevent tick every P from a { z += 1 }\n"
	if r.IntN(2) == 0 {
		more = "state z = 0\nz' = 0\nevent tick every P from a { z += 1 }\n"
	}
	if t < end {
		at = []instantOf{{t, map[string]float64{"a": 1, "P": float64(n - 1)}}}
	}
	return fmt.Sprintf(pick("z == %d", "abs(z - %d) <= 0"), n), more, at
}

// equality draws a model with an event that an equality of reals is the condition of.
func equality(seed uint64) Case {
	r := rand.New(rand.NewPCG(seed, 77))
	end := 2 + 8*r.Float64()
	a := end * (0.1 + 0.3*r.Float64())
	p := end * (0.07 + 0.4*r.Float64())
	when, more, at := equal(r, a, p, end)
	for _, x := range at {
		if end-x.at < 1e-3*end {
			return equality(seed + 1<<32)
		}
	}
	k, d, dose := 0.1+r.Float64(), 1+r.Float64(), 0.5+r.Float64()
	var b strings.Builder
	fmt.Fprintf(&b, "time t from 0 to %.17g\nparam a = %.17g\nparam P = %.17g\nparam k = %.17g\nparam d = %.17g\n",
		end, a, p, k, d)
	fmt.Fprintf(&b, "param A = %.17g\n%sstate x = d\nx' = -k*x\n", dose, more)
	if r.IntN(3) == 0 { // an event before it, whose derivative must stay what it is
		b.WriteString("discrete low = 0\nevent below when x < 0.7*d { low += 1 }\n")
	}
	if r.IntN(4) == 0 {
		b.WriteString("state q = 0\nq' = if t == a or 2*t == P then 1e3 else 1\n")
	}
	fmt.Fprintf(&b, "event e when %s { x += A }\nobjective X = final(x)\n", when)
	value := d * math.Exp(-k*end)
	by := map[string]float64{"d": math.Exp(-k * end), "k": -end * value}
	for _, x := range at {
		e := math.Exp(-k * (end - x.at))
		value += dose * e
		by["A"] += e
		by["k"] -= dose * e * (end - x.at)
		for name, v := range x.by {
			by[name] += dose * e * k * v
		}
	}
	c := Case{Family: "equality", Text: b.String(), Numbers: []Number{{Of: "X", Truth: value}}}
	for name, v := range by {
		c.Numbers = append(c.Numbers, Number{Of: "X", Wrt: name, Truth: v, Size: math.Abs(value) / end})
	}
	return c
}

// TestEqualities draws models with equalities of reals, of time, of periods, of states and of counters, whose answers
// are known in closed form.
func TestEqualities(t *testing.T) {
	judged(t, *equalities, 20, seeds.Of(t, *seed), equality)
}

// judged judges n drawn models, from the seed first on: none may be wrong or fail, and one in share may be marked.
func judged(t *testing.T, n, share int, first uint64, draw func(seed uint64) Case) {
	t.Parallel()
	count := map[Verdict]int{}
	for i := range n {
		s := first + uint64(i)
		c := draw(s)
		out := Judge(t.Context(), c)
		count[out.Verdict]++
		if out.Verdict >= Failed {
			t.Errorf("-seed %d: %v\n%s", s, out, indent(c.Text))
		} else if out.Verdict == Warned && *report {
			t.Logf("-seed %d: marked, though right: %v\n%s", s, out.FalseAlarms, indent(c.Text))
		}
	}
	t.Logf("seeds %d to %d: %v", first, first+uint64(n)-1, count)
	if count[Warned] > n/share {
		t.Errorf("%d of %d models are marked", count[Warned], n)
	}
}
