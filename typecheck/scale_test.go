package typecheck

import (
	"fmt"
	"strings"
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

func network(n int) string {
	var b strings.Builder
	b.WriteString("time t from 0 to 1\n")
	for i := range n {
		fmt.Fprintf(&b, "param k%d = %d\nstate x%d = 1\nreaction r%d: x%d -> x%d rate k%d*x%d\n", i, i, i, i, i,
			(i+1)%n, i, i)
	}
	b.WriteString("objective J = final(x0)\n")
	return b.String()
}

// The cost of a grid is that of its equations, not that of its elements.
const heat = `
const n = 512
time t from 0 to 1
state u[n,n] = 0
u[i,j]' = (if i == 1 then 0 else u[i-1,j]) + u[clamp(i+1, 1, n), j] + u[i, wrap(j+1, n)] - 4*u[i,j]
  for i in 1:n, j in 1:n
objective J = final(sum(u))
`

func BenchmarkCheck(b *testing.B) {
	for _, m := range []struct{ name, text string }{{"network1000", network(1000)}, {"heat512", heat}} {
		b.Run("model="+m.name, func(b *testing.B) {
			var l diag.List
			f := parser.Parse(source.NewFile("m.ode", m.text), &l)
			for b.Loop() {
				if Check(f, Env{}, &l) == nil {
					b.Fatal(l.Err())
				}
			}
		})
	}
}

// TestExperimentsApart holds that the pass for an experiment does not enter the names of the others, and still knows
// them.
func TestExperimentsApart(t *testing.T) {
	var l diag.List
	f := parser.Parse(source.NewFile("m.ode", `
time t from 0 to 1
param k = 1
state x = 1
x' = -k*x
experiment a { k = 2 }
experiment b { k = a }
objective J = final(x)
`), &l)
	c := newChecker(f, Env{})
	c.collect()
	x := c.pass(c.trials()[1])
	x.run()
	for _, e := range x.order {
		if e.kind == experimentName {
			t.Errorf("%q is entered", e.name)
		}
	}
	if err := x.list.Err(); err == nil || !strings.Contains(err.Error(), `"a" is an experiment and has no value`) {
		t.Errorf("%v", err)
	}
}
