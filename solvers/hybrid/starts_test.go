package hybrid_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/diag"
)

var (
	startModels = flag.Int("starts", 16, "how many algebraic equations TestStarts draws; each has four guesses")
	startReport = flag.Bool("starts.report", false, "tell of every guess that was not followed to its solution")
)

// equation is an equation of one unknown with its derivative, and where it has poles or its domain ends.
type equation struct {
	text  string // of u
	f     func(u float64) (value, slope float64)
	edges []float64 // ascending
	size  float64   // of the guesses
}

// root returns the solution of the guess's own branch: where the equation comes to zero before its derivative does,
// and before a pole. None is NaN; blurred tells that they nearly touch.
func (e *equation) root(guess float64) (root float64, blurred bool) {
	v, s := e.f(guess)
	dir := -math.Copysign(1, v) * math.Copysign(1, s)
	end := math.Inf(int(dir))
	for _, p := range e.edges {
		if dir > 0 && p > guess {
			end = min(end, p)
		} else if dir < 0 && p < guess {
			end = max(end, p)
		}
	}
	// at is a point of the way to the end, for 0 ≤ x < 1.
	const decades = 18
	at := func(x float64) float64 {
		far := math.Abs(end - guess)
		if math.IsInf(end, 0) {
			return guess + dir*e.size*1e-9*(math.Pow(10, 2*decades*x)-1)
		}
		if x < 0.5 {
			return guess + dir*far*0.5*math.Pow(10, decades*(2*x-1))
		}
		return end - dir*far*0.5*math.Pow(10, -decades*(2*x-1))
	}
	const parts = 4000
	last := 0.0
	for k := 1; k < parts; k++ {
		x := float64(k) / parts
		w, ws := e.f(at(x))
		zero, turn := !(w*v > 0), !(ws*s > 0)
		if !zero && !turn {
			last = x
			continue
		}
		lo, hi := last, x
		for range 200 {
			mid := lo + (hi-lo)/2
			w, ws = e.f(at(mid))
			z, u := !(w*v > 0), !(ws*s > 0)
			if z || u {
				zero, turn, hi = z, u, mid
			} else {
				lo = mid
			}
		}
		_, near := e.f(at(max(0, lo-1e-3)))
		_, here := e.f(at(hi))
		if zero && turn || math.Abs(here) < 1e-4*math.Abs(near) && zero {
			return math.NaN(), true
		}
		if turn {
			return math.NaN(), false
		}
		return at(hi), false
	}
	return math.NaN(), math.IsInf(end, 0)
}

// drawn is what TestStarts draws equations with.
type drawn struct{ *rand.Rand }

func (d drawn) between(a, b float64) float64 { return a + (b-a)*d.Float64() }
func (d drawn) power(a, b float64) float64   { return math.Pow(10, d.between(a, b)) }

func (d drawn) equation() *equation {
	e := &equation{}
	switch d.IntN(8) {
	case 0: // a weak acid and a strong one
		K, C, x := d.power(-9, -1), d.power(-4, 0), d.power(-6, 0)*(1-2*float64(d.IntN(2)))
		w := 0.0
		e.edges, e.size = []float64{-K}, C
		if d.IntN(2) == 0 {
			w, e.edges = 1e-14, []float64{-K, 0}
		}
		e.text = fmt.Sprintf("u + (%g) - %g*%g/(%[2]g + u)", x, K, C)
		if w > 0 {
			e.text += fmt.Sprintf(" - %g/u", w)
		}
		e.f = func(h float64) (float64, float64) {
			v, s := h+x-K*C/(K+h), 1+K*C/(K+h)/(K+h)
			if w > 0 {
				v, s = v-w/h, s+w/h/h
			}
			return v, s
		}
	case 1: // tight binding
		E, S, K := d.power(-9, 0), d.power(-9, 0), d.power(-12, 0)
		e.text, e.size = fmt.Sprintf("(%g - u)*(%g - u) - %g*u", E, S, K), max(E, S)
		e.f = func(c float64) (float64, float64) { return (E-c)*(S-c) - K*c, 2*c - E - S - K }
	case 2: // free ligand
		E, S, K := d.power(-6, 0), d.power(-6, 0), d.power(-9, 0)
		e.text, e.size, e.edges = fmt.Sprintf("u + %g*u/(%g + u) - %g", E, K, S), max(E, S), []float64{-K}
		e.f = func(x float64) (float64, float64) { return x + E*x/(K+x) - S, 1 + E*K/(K+x)/(K+x) }
	case 3: // a cubic
		a, b, c := d.between(-2, 2), d.between(-2, 2), d.between(-2, 2)
		e.text, e.size = fmt.Sprintf("(u - (%g))*(u - (%g))*(u - (%g))", a, b, c), 2
		e.f = func(u float64) (float64, float64) {
			return (u - a) * (u - b) * (u - c), (u-b)*(u-c) + (u-a)*(u-c) + (u-a)*(u-b)
		}
	case 4: // poles
		n := 1 + d.IntN(4)
		p, r := make([]float64, n), make([]float64, n)
		c := d.between(-3, 3)
		e.text = fmt.Sprintf("u - (%g)", c)
		for i := range p {
			p[i], r[i] = d.between(-3, 3), d.power(-3, 1)*(1-2*float64(d.IntN(2)))
			e.text += fmt.Sprintf(" + (%g)/(u - (%g))", r[i], p[i])
		}
		e.size, e.edges = 3, slices.Sorted(slices.Values(p))
		e.f = func(u float64) (v, s float64) {
			v, s = u-c, 1
			for i, at := range p {
				v, s = v+r[i]/(u-at), s-r[i]/(u-at)/(u-at)
			}
			return v, s
		}
	case 5: // a diode
		k, a, b := d.power(-1, 2), d.power(-6, 2), d.between(0, 1)
		e.text, e.size = fmt.Sprintf("%g*(exp(%g*u) - 1) + %g*u - 1", a, k, b), 1
		e.f = func(u float64) (float64, float64) { return a*(math.Exp(k*u)-1) + b*u - 1, a*k*math.Exp(k*u) + b }
	case 6: // a flow with a signed square
		a, b, c := d.power(-3, 1), d.power(-3, 3), d.between(-4, 4)
		if d.IntN(2) == 0 {
			a = 0
		}
		e.text, e.size = fmt.Sprintf("%g*u + %g*u*abs(u) - (%g)", a, b, c), 2
		e.f = func(u float64) (float64, float64) { return a*u + b*u*math.Abs(u) - c, a + 2*b*math.Abs(u) + 1e-300 }
	case 7: // a product with a Hill function
		n, K, c := 1+d.IntN(4), d.power(-2, 1), d.between(0.05, 0.9)
		e.text, e.size = fmt.Sprintf("u*u^%d/(u^%[1]d + %g^%[1]d) - %[3]g*u - 0.1", n, K, c), 2*K
		e.f = func(u float64) (float64, float64) {
			p, q := math.Pow(u, float64(n)), math.Pow(K, float64(n))
			return u*p/(p+q) - c*u - 0.1, p/(p+q) + u*float64(n)*math.Pow(u, float64(n-1))*q/(p+q)/(p+q) - c
		}
		if n%2 == 1 {
			e.edges = []float64{-K}
		}
	}
	return e
}

// TestStarts: a guess leads to the solution of its own branch, before which the equations have neither a pole nor a
// point where they do not determine the unknowns; where there is none, it is told. Mixtures of equations, and of
// unknowns, change nothing.
func TestStarts(t *testing.T) {
	d := drawn{rand.New(rand.NewPCG(seeds.Of(t, 1), 93))}
	right, none, told, blurred := 0, 0, 0, 0
	for range *startModels {
		of := []*equation{d.equation()}
		if d.IntN(3) == 0 {
			of = append(of, d.equation())
		}
		a, b := d.between(-1, 1), d.between(-1, 1)
		if len(of) == 1 {
			a, b = 0, 0
		}
		at := []string{fmt.Sprintf("(z1 + (%g)*z2)", b), "z2"}
		text := "time t from 0 to 1\nstate x = 0\nx' = 0\n"
		for i, e := range of {
			e.text = regexp.MustCompile(`\bu\b`).ReplaceAllString(e.text, at[i])
			if len(of) == 1 {
				e.text = strings.ReplaceAll(e.text, at[0], "z1")
			}
			text += fmt.Sprintf("alg z%d = 1\nobjective J%[1]d = initial(%s)\n", i+1,
				strings.ReplaceAll(at[i], at[0], [...]string{"z1", at[0]}[len(of)-1]))
		}
		if len(of) == 1 {
			text += "0 = " + of[0].text + "\n"
		} else {
			text += fmt.Sprintf("0 = %s + (%g)*(%s)\n0 = %[3]s\n", of[0].text, a, of[1].text)
		}
		m, err := odes.Parse("model.ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(text, err)
		}
		for range 4 {
			guess, want, unclear, exists := make([]float64, len(of)), make([]float64, len(of)), false, true
			for i, e := range of {
				guess[i] = e.size * d.between(-1, 1)
				if d.IntN(2) == 0 {
					guess[i] = e.size * d.power(-6, 1)
				}
				var u bool
				want[i], u = e.root(guess[i])
				unclear, exists = unclear || u, exists && want[i] == want[i]
			}
			if unclear {
				blurred++
				continue
			}
			set := []odes.Assignment{{Name: "initial(z1)", Values: guess[:1:1]}}
			if len(of) == 2 {
				set[0].Values = []float64{guess[0] - b*guess[1]}
				set = append(set, odes.Assignment{Name: "initial(z2)", Values: guess[1:]})
			}
			s, err := m.Sensitivities(t.Context(), odes.Options{
				Set: set, Settings: modeltest.Settings("sens.trust", "off"),
			})
			switch {
			case err == nil && !slices.ContainsFunc(s.Warnings, func(d diag.Diagnostic) bool {
				return d.Code == "drift"
			}):
				right++
				mixed := 0.0 // rounding of one equation is error of the other
				for _, x := range want {
					mixed += float64(1e-10 * math.Abs(x))
				}
				for i, x := range want {
					if got := s.Values[i].Value; !(math.Abs(got-x) <= 1e-6*math.Abs(x)+1e-9*math.Abs(guess[i])+mixed) {
						t.Errorf("%sguess %v: J%d = %v, want %v", text, guess, i+1, got, want)
					}
				}
			case exists:
				if told++; *startReport {
					t.Logf("%sguess %v, want %v: %v, %v", text, guess, want, err, s)
				}
			default:
				none++
			}
		}
	}
	t.Logf("%d right, %d told rightly, %d told needlessly, %d not clear", right, none, told, blurred)
	if right < 5*told {
		t.Error("too few guesses are followed")
	}
}
