package trust_test

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

// Random models whose states rest at kinks of rates, bodies and objectives are compared with differences to either
// side. Where these differ, the derivative must be marked. Some are tried; thousands with
//
//	go test . -run TestRandomKinks -random-kinks 5000
var randomKinks = flag.Int("random-kinks", 0, "how many random models with kinks to try, telling false marks")

// kinkDraw draws a model.
type kinkDraw struct {
	*rand.Rand
	terms []string // what a kink may be of
}

func (d *kinkDraw) one(list ...string) string { return list[d.IntN(len(list))] }

// argument draws what is 0 while nothing moves it, or moves as something else does.
func (d *kinkDraw) argument() string {
	x := d.one(d.terms...)
	switch d.IntN(8) {
	case 0:
		return d.one("p - 1", "x - y", "a*x", "x/q", "x*(p - 1)", "x + (p - 1)*y", "w - 1", "w - p", "w*x", "e")
	case 1:
		return x + " - " + d.one(d.terms...)
	case 2:
		return d.one("a*", "q*", "t*", "p*") + x
	}
	return x
}

// kink draws an expression with kinks.
func (d *kinkDraw) kink() string {
	a := d.argument()
	f := d.one("max(%s, 0)", "abs(%s)", "min(%s, 0)", "hypot(%s, 0)", "sqrt((%s)^2)", "max(2*(%s), 0)",
		"max([0, %s, -1])")
	if d.IntN(6) == 0 {
		return fmt.Sprintf(d.one("hypot(%s, %s)", "max(%s, %s)", "min(%s, %s)", "abs(%s)*max(%s, 0)"), a, d.argument())
	}
	k := fmt.Sprintf(f, a)
	switch d.IntN(10) {
	case 0:
		return k + "*" + d.one("x", "y", "z", "w", "w", "e", "(w - 1)", "(p - 1)", "sin(t)", "(t - 0.5)", "a")
	case 1:
		return k + "^2"
	case 2:
		return "(" + a + ")*" + k
	case 3:
		return "q*" + k + "/(1 + " + k + ")"
	case 4:
		return "max(" + k + " - x, 0)"
	case 5:
		return "sin(" + k + ")"
	}
	return k
}

// smooth draws an expression without kinks that is 0 where all its states are.
func (d *kinkDraw) smooth() string {
	x := d.one(d.terms...)
	return d.one("a*"+x, "q*"+x, "-"+x, x+"*"+x, "sin("+x+")", x+"*w", x+"/(1 + "+x+"^2)", "(p - 1)*"+x)
}

func (d *kinkDraw) model() string {
	var b strings.Builder
	b.WriteString("time t from 0 to 2\nparam p = 1, a = 0.8, q = 1.7, tau = 0.9\n")
	fmt.Fprintf(&b, "state x = %s, y = %s, z = 0, w = 1, u = 0\n", d.one("0", "0", "p - 1", "0*a"),
		d.one("0", "0", "q - 1.7"))
	d.terms = []string{"x", "x", "y", "y", "z"}
	if d.IntN(3) == 0 {
		d.terms = append(d.terms, "e")
		fmt.Fprintf(&b, "discrete e = %s\n", d.one("0", "p - 1"))
	} else {
		b.WriteString("discrete e = 0\n")
	}
	rate := func(name string, kinks int) {
		parts := []string{d.smooth()}
		for range kinks {
			parts = append(parts, d.one("", "a*", "-", "-q*", "w*")+d.kink())
		}
		fmt.Fprintf(&b, "%s' = %s\n", name, strings.Join(parts, " + "))
	}
	rate("x", d.IntN(2))
	rate("y", d.IntN(2))
	rate("z", d.IntN(3))
	fmt.Fprintf(&b, "w' = %s\n", d.one("0", "-a*w", "x", "y", "-0.3*w + z"))
	rate("u", d.IntN(3))
	for range d.IntN(3) {
		at := d.one("at 0.5", "at 0.7", "at tau", "every 0.6 from 0.3", "when w > 1.4", "when w < 0.6",
			"when x + 0.1*t > 0.1", "at 1.3")
		does := d.one("x += 1", "y += q", "z = z + a", "x = x + w", "e = 1", "e = x", "y = abs(x)", "z = max(x, y)",
			"x = x + 0.5  y = y - 0.5", "w = w + 0.3")
		fmt.Fprintf(&b, "event %s { %s }\n", at, does)
	}
	for i := range 1 + d.IntN(3) {
		read := d.one("final(%s)", "integral(%s)", "sum_at([0.4, 1.1], %s)", "final(%s)", "max_over(w + 0*(%s))")
		f := d.one("u", "x", "y", "z", "w", "u + y", "x*y")
		if d.IntN(3) == 0 {
			f = d.kink()
		}
		fmt.Fprintf(&b, "objective J%d = %s\n", i, fmt.Sprintf(read, f))
	}
	return b.String()
}

// TestRandomKinks looks for derivatives of one side without a mark. Objectives must also be right where marks are not.
func TestRandomKinks(t *testing.T) {
	n, tell := 60, *randomKinks > 0
	if tell {
		n = *randomKinks
	}
	marks, wrong, falsely := 0, 0, 0
	first := seeds.Of(t, 0)
	for seed := first; seed < first+uint64(n); seed++ {
		d := &kinkDraw{Rand: rand.New(rand.NewPCG(seed, 7))}
		text := d.model()
		m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(text, err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			continue // too large
		}
		values := func(v odes.Variable, by float64) []float64 {
			size := map[string]float64{"p": 1, "a": 0.8, "q": 1.7, "tau": 0.9, "initial(w)": 1}[v.String()]
			r, err := m.Sensitivities(context.Background(), odes.Options{
				Set: []odes.Assignment{{Name: v.String(), Values: []float64{size + by}}}, Wrt: []string{"a"},
				Settings: []odes.Setting{
					{Key: "solver.rtol", Value: "1e-11"},
					{Key: "solver.atol", Value: "1e-13"},
					{Key: "sens.trust", Value: "off"},
				},
			})
			if err != nil {
				return nil
			}
			var list []float64
			for _, v := range r.Values {
				list = append(list, v.Value)
			}
			return list
		}
		// slopes returns those of all objectives to the left and to the right, by differences.
		slopes := func(v odes.Variable, h float64) (left, right []float64) {
			var f [5][]float64
			for i := range f {
				if f[i] = values(v, h*float64(i-2)); f[i] == nil {
					return nil, nil
				}
			}
			for i := range f[2] {
				right = append(right, (-3*f[2][i]+4*f[3][i]-f[4][i])/(2*h))
				left = append(left, (3*f[2][i]-4*f[1][i]+f[0][i])/(2*h))
			}
			return left, right
		}
		for _, v := range s.Variables {
			left, right := slopes(v, 1e-4)
			for i := range left {
				size := max(math.Abs(left[i]), math.Abs(right[i]), 1e-2*math.Abs(s.Values[i].Value), 0.1)
				got := s.Gradient[i*s.Columns+v.Offset]
				marked := s.Trusts != nil && s.Trust(i, v) != odes.Sound
				off := max(math.Abs(got-left[i]), math.Abs(got-right[i]))
				jump := math.Abs(right[i] - left[i])
				if off > 2e-3*size && !marked {
					// What is nearer than the differences is no kink.
					if left, right := slopes(v, 3e-6); left != nil {
						off = max(math.Abs(got-left[i]), math.Abs(got-right[i]))
					}
				}
				switch {
				case off > 2e-3*size && !marked:
					wrong++
					t.Errorf("seed %d: %s by %v is %g without a mark, and %g, %g to either side:\n%s\n%v", seed,
						s.Values[i].Name, v, got, left[i], right[i], text, s.Warnings)
				case jump < 1e-6*size && marked && tell:
					if falsely++; falsely%200 == 1 {
						t.Logf("seed %d: %s by %v is %g and marked:\n%s\n%v", seed, s.Values[i].Name, v, got, text,
							s.Warnings)
					}
				case marked:
					marks++
				}
			}
		}
		if wrong > 5 {
			break
		}
	}
	t.Logf("%d marks, %d more where both sides agree", marks, falsely)
}
