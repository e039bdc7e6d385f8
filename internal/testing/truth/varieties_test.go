package truth

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"odes.dev/odes/internal/testing/seeds"
)

var varieties = flag.Int("varieties", 60, "how many models TestVarieties draws")

// variety writes a model with arrays and events of their elements, controls, tables of all kinds, algebraic unknowns,
// crossings, delays, doses with a lag, times of events and likelihoods, whose params are often equal or zero.
func (c *composition) variety() string {
	var b strings.Builder
	c.values = map[string]float64{
		"a": c.one(0.5, 1, 1), "b": c.one(0.5, 1, 2), "u": c.one(0, 0, 0.3), "p": c.one(0.5, 1), "D": c.one(0, 1, 0.5),
		"T1": c.one(1, 1, 0.5, 2), "T2": c.one(1, 2, 1.5), "tau": c.one(0.5, 1, 1), "lag": c.one(0, 0, 0.5),
	}
	c.params = []string{"a", "b", "u", "p", "D", "T1", "T2", "tau", "lag"}
	b.WriteString("time t from 0 to " + c.pick("2.5", "3", "2") + "\n")
	for _, p := range c.params {
		fmt.Fprintf(&b, "param %s = %v\n", p, c.values[p])
	}
	b.WriteString("const td = [0, 1, 2]\n")
	control, algebraic := c.IntN(3) == 0, c.IntN(4) == 0
	if control {
		b.WriteString("control v = " + c.pick("[u, b, p] piecewise constant", "[u, b, p, 1] piecewise linear") +
			" on " + c.pick("[0, T1, T1 + tau, 6]", "[0, 1, 2, 3]", "grid(0, 3, 4)") + "\n")
	}
	b.WriteString("discrete m = " + c.pick("0", "1", "u") + "\n")
	b.WriteString("state x = " + c.pick("0", "1", "p") + "\nstate z[2] = [" + c.pick("0", "1", "u") + ", " +
		c.pick("0.5", "p", "1") + "]\n")
	reads := []string{"x", "z[1]", "z[2]", "m"}
	if algebraic {
		b.WriteString("alg g = 0\n0 = g - " +
			c.pick("0.5*x", "x", "max(x, p)", "z[1]*b", "(if x > p then x else p)") + "\n")
		reads = append(reads, "g")
	}
	read := func() string { return c.pick(reads...) }
	at := func() string { return c.pick("T1", "T2", "1", "2", "T1 + lag", "tau", "T1 + tau") }
	input := func() string {
		list := []string{
			"interp([0, 1, 2, 3], [u, b, 0.2, p], t - lag)", "interp([0, T1, T1 + tau, 6], [0, b, u, 1], t)",
			"interp([0, 1, 2, 3], [u, b, 0.2, p], t, kind = previous)", "clamp(" + read() + ", u, b)",
			"interp([0, 1, 2, 3], [u, b, 0.2, p], t - lag, kind = monotone)",
			"(if mod(t, tau) < 0.5*tau then b else u)",
			"interp([0, 1, 2, 3], [u, b, 0.2, p], " + read() + ")", "step(t - " + at() + ")",
			"sign(" + read() + " - p)",
			"max(z[1], z[2])", "D", "u", "norm([" + read() + ", u])",
		}
		if control {
			list = append(list, "v", "v", "v", "v")
		}
		return c.pick(list...)
	}
	b.WriteString("x' = " + c.pick("-a*x", "a*(p - x)", "-a", "z[1] - a*x") + " + " + input() + "\n")
	b.WriteString("z[i]' = " + c.pick("-b*z[i]", "i*0.5*(p - z[i])", "x - i*z[i]", "u", "z[3 - i] - z[i]") + " + " +
		input() + " for i in 1:2\n")
	for i := range 1 + c.IntN(3) {
		switch kind := c.IntN(3); {
		case i > 0 && kind == 0: // the times of the first one are objectives

			when := c.pick("when z[i] > "+c.pick("p", "0.7", "i*0.5", "x"),
				"when z[i] crosses "+c.pick("p", "0.6", "x")+c.pick("", " up", " down"),
				"at T1 + (i - 1)*"+c.pick("tau", "lag", "u")) + " for i in 1:2" +
				c.pick(" once", " priority 1", "")
			fmt.Fprintf(&b, "event e%d %s { %s }\n", i, when, c.pick("z[i] = 0", "z[i] += D", "x += i*D",
				"z[3 - i] = z[i]", "m += 1", "z[i] = p"))
		case i > 0 && kind == 1:
			fmt.Fprintf(&b, "event e%d at td[k] + lag for k in 1:3 { %s }\n", i, c.pick("x += D", "z[1] += D",
				"m = x", "x = 0.5*x"))
		default:
			when := c.pick("every tau from lag", "every tau from T1 count 2", "at "+at(), "when x crosses "+
				c.pick("p", "0.6"), "when "+read()+" > "+c.pick("p", "0.7", read())+" once",
				"when t >= "+at()+", delay = "+c.pick("tau", "lag", "u"),
				"at "+at()+", delay = "+c.pick("tau", "lag*x^2", "0.5")+c.pick("", ", values = execution"))
			fmt.Fprintf(&b, "event e%d %s { %s }\n", i, when, c.pick("x += D", "x = p*x", "z[1] += x", "z[2] = z[1]",
				"m += 1", "m = t", "x = min(x, 1.5)", "x = z[1]  z[1] = x"))
		}
	}
	data := c.IntN(4) == 0
	if data {
		b.WriteString("data Y { time = [0.5, 1, 2]  dv = [0.6, 0.5, 0.8]  lloq = [0.5, 0.5, 0.1] }\n")
		b.WriteString("observe y = " + c.pick("x", "max(x, p)", "x + z[1]", "abs(z[2]) + 0.1") + " ~ " + c.pick(
			"normal(0.2)", "normal(0.1 + 0.2*abs(y))", "normal(0.3, below = Y.lloq)", "laplace(0.4)") + " from Y.dv\n")
	}
	for i := range 3 {
		e := c.pick("x", "z[1]", "x*z[2]", "max(x, z[1])", "m*x", "x^2", read()+" + "+read())
		list := []string{
			"final(" + e + ")", "integral(" + e + ")", "integral(" + e + ", from = " + c.pick("0.5", "T1", "lag") +
				", to = T1 + 1)", "max_over(" + e + ")", "-max_over(-(" + e + "))",
			"sum_at([" + c.pick("T1", "1", "lag") + ", " + c.pick("T2", "1.5") + "], " + e + ")",
			"event_time(e0, " + c.pick("1", "2") + ")",
			"at_event(e0, " + c.pick("post(x)", "pre(z[1])*t", "post(m)") + ")",
		}
		if data {
			list = append(list, "nll()", "nll()", "nll()")
		}
		fmt.Fprintf(&b, "objective o%d = %s\n", i, c.pick(list...))
	}
	b.WriteString("solver { rtol = 1e-10 atol = 1e-12 }\n")
	return b.String()
}

// TestVarieties finds what is not marked in models of what the others do not have.
func TestVarieties(t *testing.T) {
	compareSides(t, seeds.Of(t, *composed), *varieties, 53, (*composition).variety)
}
