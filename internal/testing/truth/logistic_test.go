package truth

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"odes.dev/odes/internal/testing/seeds"
)

var logistics = flag.Int("logistics", 120, "how many models TestLogistics draws, from -seed on")

// sigmoid and softplus are in forms without overflow.
func sigmoidOf(z float64) float64 {
	if z >= 0 {
		return 1 / (1 + math.Exp(-z))
	}
	return math.Exp(z) / (1 + math.Exp(z))
}

func softplus(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }

// logistic draws a rate whose exponentials or powers are too large for numbers, for a part of the run or all of it.
func logistic(seed uint64) Case {
	r := rand.New(rand.NewPCG(seed, 78))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	end := 1 + 9*r.Float64()
	if r.IntN(2) == 0 { // a switch in time
		ts, k := end*(0.3+0.4*r.Float64()), math.Pow(10, 0.5+2*r.Float64())*10/end
		text := pick("1/(1 + exp(-$))", "1/(exp(-$) + 1)", "exp($)/(1 + exp($))", "1 - 1/(1 + exp($))",
			"exp($)*(1/(1 + exp($)))",
			"(1 + exp(-$))^(-1)", "0.5 + 0.5*(exp($/2) - exp(-$/2))/(exp($/2) + exp(-$/2))",
			"0.5 + 0.5*(exp($) - 1)/(exp($) + 1)", "0.5*(1 + (1 - exp(-$))/(1 + exp(-$)))", "3*exp($)/(3 + 3*exp($))",
			"exp($/2)/(exp($/2) + exp(-$/2))", "sqrt(1/(1 + exp(-$))^2)", "exp($)^2/(exp($) + exp($)^2)")
		c := Case{Family: "logistic", Text: fmt.Sprintf("time t from 0 to %.17g\nparam ts = %.17g\nparam k = %.17g\n"+
			"state x = 0\nx' = %s\nobjective X = final(x)\n", end, ts, k, substitute(text, "(k*(t - ts))"))}
		hi, lo := k*(end-ts), -k*ts
		x := (softplus(hi) - softplus(lo)) / k
		dk := (sigmoidOf(hi)*(end-ts)+sigmoidOf(lo)*ts)/k - x/k
		c.Numbers = []Number{
			{Of: "X", Truth: x},
			{Of: "X", Wrt: "ts", Truth: sigmoidOf(lo) - sigmoidOf(hi), Size: 1},
			{Of: "X", Wrt: "k", Truth: dk, Size: x / k},
		}
		return c
	}
	if r.IntN(2) == 0 { // of params and a state that is a large number
		z := 3000 * (r.Float64() - 0.5)
		s, c := sigmoidOf(z), Case{Family: "logistic"}
		text, v, d := "", 0.0, 0.0
		switch r.IntN(7) {
		case 0:
			text, v, d = "log(1 + exp($))", softplus(z), s
		case 1:
			text, v, d = "log1p(exp($))", softplus(z), s
		case 2:
			text, v, d = "exp($)/(1 + exp($))^2", s*sigmoidOf(-z), s*sigmoidOf(-z)*(1-2*s)
		case 3:
			text, v, d = "exp(-exp($))", math.Exp(-math.Exp(z)), 0
			if z < 6 {
				d = -math.Exp(z) * v
			}
		case 4:
			text, v, d = "1/cosh($)", 0, 0
			if math.Abs(z) < 700 {
				v = 1 / math.Cosh(z)
				d = -v * math.Tanh(z)
			}
		case 5:
			text, v, d = "exp($)/(1 + exp($))*(1/(1 + exp(-$)))", s*s, 2*s*s*sigmoidOf(-z)
		case 6:
			text, v, d = "log(exp($) + exp(-$))", math.Abs(z)+math.Log1p(math.Exp(-2*math.Abs(z))), math.Tanh(z)
		}
		c.Text = fmt.Sprintf("time t from 0 to %.17g\nparam z = %.17g\nstate x = 0\nx' = %s\nobjective X = final(x)\n",
			end, z, substitute(text, "z"))
		c.Numbers = []Number{
			{Of: "X", Truth: v * end, Size: 1e-3}, {Of: "X", Wrt: "z", Truth: d * end, Size: max(math.Abs(v*end),
				1e-3)},
		}
		return c
	}
	// Hill functions of a state that decays from a large number.
	n := 1 + math.Floor(60*r.Float64())
	size := math.Pow(10, 100*r.Float64())
	q, x0 := 0.1+r.Float64(), size*(0.5+r.Float64())
	x := x0 * math.Exp(-q*end)
	K := x * math.Exp(8*(r.Float64()-0.5)/n)
	text := pick("y^n/(K^n + y^n)", "1/(1 + (K/y)^n)", "(y/K)^n/(1 + (y/K)^n)", "1 - K^n/(K^n + y^n)")
	declare := "param n = %.17g\n"
	if r.IntN(2) == 0 {
		declare = "const n = %.17g\n"
	}
	z := n * math.Log(x/K)
	h := sigmoidOf(z)
	slope := h * sigmoidOf(-z)
	c := Case{
		Family: "logistic",
		Text: fmt.Sprintf("time t from 0 to %.17g\n"+declare+"param K = %.17g\nparam q = %.17g\n"+
			"param y0 = %.17g\nstate y = y0\ny' = -q*y\nobjective X = final(%s)\nsolver { rtol = 1e-9 }\n",
			end, n, K, q, x0, text),
	}
	c.Numbers = []Number{
		{Of: "X", Truth: h, Size: 1e-2},
		{Of: "X", Wrt: "K", Truth: -slope * n / K, Size: 1e-2 / K},
		{Of: "X", Wrt: "y0", Truth: slope * n / x0, Size: 1e-2 / x0},
		{Of: "X", Wrt: "q", Truth: -slope * n * end, Size: 1e-2 * end},
	}
	if declare[0] == 'p' {
		c.Numbers = append(c.Numbers, Number{Of: "X", Wrt: "n", Truth: slope * math.Log(x/K), Size: 1e-2})
	}
	return c
}

func substitute(text, z string) string {
	out := ""
	for _, r := range text {
		if r == '$' {
			out += z
		} else {
			out += string(r)
		}
	}
	return out
}

// TestLogistics draws quotients of exponentials and powers that are too large for numbers. Their answers are known by
// forms that do not overflow.
func TestLogistics(t *testing.T) {
	judged(t, *logistics, 40, seeds.Of(t, *seed), logistic)
}

// TestFarOut: what has died away is zero, and its derivatives are, however far out.
func TestFarOut(t *testing.T) {
	for _, k := range []string{"3e6", "1e12", "1e200"} {
		for _, rate := range []string{
			"1/cosh(q)^2", "b/cosh(q)^2", "sinh(q)/cosh(q)^2", "4*exp(2*q)/(exp(2*q) + 1)^2", "1/(1 + exp(q))^2",
			"(1 + exp(q))^(-b)",
		} {
			o := Judge(t.Context(), Case{
				Family: "logistic",
				Text: "time t from 0 to 1\nparam k = " + k + "\nparam b = 1\nstate x = 1\nlet q = k*(x - 0.3*t)\n" +
					"x' = " + rate + " + 0.1\nobjective X = final(x)\n",
				Numbers: []Number{{Of: "X", Truth: 1.1}, {Of: "X", Wrt: "k"}, {Of: "X", Wrt: "b"}},
			})
			if o.Verdict != Right {
				t.Errorf("%s, k = %s: %v", rate, k, o)
			}
		}
	}
}
