package truth

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"odes.dev/odes/internal/testing/seeds"
)

var meetings = flag.Int("meetings", 100, "how many models TestMeetings draws")

// meeting writes a model with smooth rates, whose inputs, doses and observations come at times that are often equal: of
// params, of discretes and fixed ones.
func (c *composition) meeting() string {
	var b strings.Builder
	c.values = map[string]float64{
		"a": c.one(0.5, 1, 0.3), "b": c.one(0.5, 1, 2), "u": c.one(0, 0.5, 0.3), "p": c.one(0.5, 1.3),
		"D": c.one(1, 0.5, -0.4, 1), "T1": c.one(1, 1, 0.5, 2), "T2": c.one(1, 2, 1.5), "tau": c.one(0.5, 1, 1),
		"E": c.one(2, 3, 2.5),
	}
	c.params = []string{"a", "b", "u", "p", "D", "T1", "T2", "tau", "E"}
	c.states = []string{"x", "y"}
	b.WriteString("time t from 0 to " + c.pick("2.5", "E", "3", "2") + "\n")
	for _, p := range c.params {
		fmt.Fprintf(&b, "param %s = %v\n", p, c.values[p])
	}
	b.WriteString("discrete n = " + c.pick("0", "0", "1", "T2") + "\n")
	b.WriteString("state x = " + c.pick("0", "1", "p") + "\nstate y = " + c.pick("0", "0.2", "b") + "\n")
	at := func() string { return c.pick("T1", "T2", "1", "1", "2", "T1 + tau", "tau", "n", "E") }
	input := func() string {
		return c.pick("(if t >= "+at()+" and t < "+at()+" then b else u)", "(if t > "+at()+" then b else 0)",
			"interp([0, 1, 2, 3], [u, b, 0.2, p], t)", "max(0, t - "+at()+")",
			"interp([0, T1, T1 + tau, 6], [0, b, u, 1], t)", "floor(t/tau)", "b*n", "u")
	}
	b.WriteString("x' = " + c.pick("-a*x", "a*(p - x)", "-a*x^2", "b*y - a*x", "-a") + " + " + input() + "\n")
	b.WriteString("y' = " + c.pick("x - b*y", "-b*y", "0.3*y*(1 - y)", "p - x", "0") + " + " + input() + "\n")
	for i := range 1 + c.IntN(3) {
		when := c.pick("at "+at(), "at "+at(), "at ["+at()+", "+at()+"]", "at "+at()+" priority 1", "every tau",
			"every tau from "+at()+" count 2", "when t > "+at(), "when x > 0.7 once",
			"when y < "+c.pick("0.1", "0.5")+" once",
			"when t >= "+at()+", delay = "+c.pick("tau", "0.5", "u"))
		body := c.pick("x += D", "x += D", "x = p*x", "y += x", "y = 0", "n += 1", "n = x", "x = y  y = x", "x += D*t",
			"n = t + tau", "x = min(x, 1.5)")
		fmt.Fprintf(&b, "event e%d %s { %s }\n", i, when, body)
	}
	for i := range 3 {
		e := c.pick("x", "y", "x*y", "x + y", "n*x", "x^2", "t*x")
		value := c.pick("final("+e+")", "final("+e+")", "integral("+e+")", "integral("+e+", from = "+
			c.pick("0.5", "T1", "1", "tau")+", to = "+c.pick("E - 0.1", "T1 + tau", "2", "T2 + 0.1")+")",
			"max_over("+e+")", "max_over("+e+")", "-max_over(-("+e+"))",
			"sum_at(["+c.pick("T1", "1", "T2", "tau")+", "+c.pick("T1", "1", "1.5")+"], "+e+")",
			"at_event(e0, "+c.pick("post(x)", "pre(x)", "post(y)", "pre(x)*t")+")")
		fmt.Fprintf(&b, "objective o%d = %s\n", i, value)
	}
	b.WriteString("solver { rtol = 1e-10 atol = 1e-12 }\n")
	return b.String()
}

// TestMeetings finds what is not marked in models in which things come at one time. Of some hundred models more, there
// is one in which something is not.
func TestMeetings(t *testing.T) {
	compareSides(t, seeds.Of(t, *composed), *meetings, 31, (*composition).meeting)
}
