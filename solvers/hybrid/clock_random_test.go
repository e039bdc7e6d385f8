package hybrid_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
)

// timeExpr is a random expression of time: its text, and its value. Every comparison and every level that the value
// comes through is appended to the signature; between two changes of that, the value is affine.
type timeExpr struct {
	text  string
	value func(t float64, signature *[]float64) float64
}

type timeGen struct{ *elem.Rand }

func (g timeGen) between(lo, hi float64) float64 {
	return math.Round((lo+(hi-lo)*g.Float64())*1e4) / 1e4
}

func (g timeGen) pick(n int) int { return int(g.Float64() * float64(n)) }

func hold(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// real returns an expression of numbers.
func (g timeGen) real(depth int) timeExpr {
	kinds := 3
	if depth > 0 {
		kinds = 8
	}
	switch k := g.pick(kinds); k {
	case 3:
		x, p := g.real(depth-1), g.between(0.3, 3)
		return timeExpr{fmt.Sprintf("mod(%s, %v)", x.text, p), func(t float64, s *[]float64) float64 {
			v := x.value(t, s)
			n := math.Floor(v / p)
			*s = append(*s, n)
			return v - p*n
		}}
	case 4:
		x, f := g.real(depth-1), g.between(-2, 2)
		return timeExpr{fmt.Sprintf("(%v)*%s", f, x.text), func(t float64, s *[]float64) float64 {
			return f * x.value(t, s)
		}}
	case 5:
		x, f := g.real(depth-1), g.between(0.2, 2)
		return timeExpr{fmt.Sprintf("%v*floor(%s)", f, x.text), func(t float64, s *[]float64) float64 {
			n := math.Floor(x.value(t, s))
			*s = append(*s, n)
			return f * n
		}}
	case 6:
		c, x, y := g.condition(depth-1), g.real(depth-1), g.real(depth-1)
		return timeExpr{
			fmt.Sprintf("(if %s then %s else %s)", c.text, x.text, y.text),
			func(t float64, s *[]float64) float64 {
				c, x, y := c.value(t, s), x.value(t, s), y.value(t, s)
				if c != 0 {
					return x
				}
				return y
			},
		}
	case 7:
		x, a := g.real(depth-1), g.between(0, 5)
		return timeExpr{fmt.Sprintf("abs(%s - %v)", x.text, a), func(t float64, s *[]float64) float64 {
			v := x.value(t, s) - a
			*s = append(*s, hold(v > 0))
			return math.Abs(v)
		}}
	case 2:
		a := g.between(0, 5)
		return timeExpr{fmt.Sprintf("(t - %v)", a), func(t float64, _ *[]float64) float64 { return t - a }}
	default:
		return timeExpr{"t", func(t float64, _ *[]float64) float64 { return t }}
	}
}

// condition returns an expression of truths.
func (g timeGen) condition(depth int) timeExpr {
	kinds := 2
	if depth > 0 {
		kinds = 6
	}
	switch k := g.pick(kinds); k {
	case 2, 3:
		a, b, op := g.condition(depth-1), g.condition(depth-1), "and"
		if k == 3 {
			op = "or"
		}
		return timeExpr{fmt.Sprintf("(%s %s %s)", a.text, op, b.text), func(t float64, s *[]float64) float64 {
			a, b := a.value(t, s), b.value(t, s)
			if k == 2 {
				return a * b
			}
			return max(a, b)
		}}
	case 4:
		a := g.condition(depth - 1)
		return timeExpr{"(not (" + a.text + "))", func(t float64, s *[]float64) float64 { return 1 - a.value(t, s) }}
	case 5:
		a, w := g.between(0, 9), g.between(0.004, 0.3)
		return timeExpr{fmt.Sprintf("(t > %v and t < %v + %v)", a, a, w), func(t float64, s *[]float64) float64 {
			*s = append(*s, hold(t > a), hold(t < a+w))
			return hold(t > a && t < a+w)
		}}
	default:
		x, c, less := g.real(depth-1), g.between(0, 6), g.pick(2) == 0
		op := ">"
		if less {
			op = "<"
		}
		return timeExpr{fmt.Sprintf("(%s %s %v)", x.text, op, c), func(t float64, s *[]float64) float64 {
			v := x.value(t, s)
			h := hold(v > c)
			if less {
				h = hold(v < c)
			}
			*s = append(*s, h)
			return h
		}}
	}
}

// pieces calls visit for the stretches of [0, end] in which the signature of x does not change.
func (x timeExpr) pieces(end float64, visit func(lo, hi float64)) {
	signature := func(t float64) string {
		var s []float64
		x.value(t, &s)
		return fmt.Sprint(s)
	}
	const cells = 4000
	last := 0.0
	edge := func(k int) float64 { return max(0, min(end*(float64(k)-0.1237)/cells, end)) } // where nothing changes
	for k := range cells + 1 {
		lo, hi := edge(k), edge(k+1)
		for before := signature(math.Nextafter(lo, end)); signature(hi) != before; {
			a, b := lo, hi
			for b-a > 1e-13 {
				if mid := (a + b) / 2; signature(mid) == before {
					a = mid
				} else {
					b = mid
				}
			}
			visit(last, b)
			last, lo = b, b
			before = signature(math.Nextafter(b, end))
		}
	}
	visit(last, end)
}

// TestRandomConditionsOfTime compares integrals of random functions of time, and how often events fire, with sums over
// the pieces of the functions.
func TestRandomConditionsOfTime(t *testing.T) {
	models := 100
	if testing.Short() {
		models = 20
	}
	g := timeGen{elem.NewRand(5)}
	for k := range models {
		rate, cond := g.real(3), g.condition(3)
		text := fmt.Sprintf("time t from 0 to 10\nstate x = 0, y = 0\ndiscrete n = 0\nx' = %s\n"+
			"y' = if %s then 1 else 0\nevent e when %s { n += 1 }\n"+
			"objective X = final(x)\nobjective Y = final(y)\nobjective N = final(n)\n", rate.text, cond.text, cond.text)
		var x, y, n float64
		rate.pieces(10, func(lo, hi float64) {
			x += (hi - lo) * rate.value((lo+hi)/2, new([]float64))
		})
		before := cond.value(0, new([]float64))
		cond.pieces(10, func(lo, hi float64) {
			h := cond.value((lo+hi)/2, new([]float64))
			y += (hi - lo) * h
			if h > before {
				n++
			}
			before = h
		})
		m, err := odes.Parse("random.ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		s, err := m.Solve(t.Context(), odes.Options{})
		if err != nil {
			t.Errorf("model %d: %v\n%s", k, err, text)
			continue
		}
		for i, want := range []float64{x, y, n} {
			if got := s.Values[i].Value; math.Abs(got-want) > 1e-7*max(1, math.Abs(want)) {
				t.Errorf("model %d: %s = %v, want %v\n%s", k, s.Values[i].Name, got, want, text)
			}
		}
	}
}
