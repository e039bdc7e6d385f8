package compiled

import (
	"fmt"
	"strings"
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/typecheck"
)

// TestExperimentsShare holds that experiments that differ in values of params, in rows of data and in times are
// compiled once: what is made for many of them is what is made for two, but for a few small tapes with the times.
func TestExperimentsShare(t *testing.T) {
	made := func(n int, moved, by bool) int {
		var b strings.Builder
		b.WriteString("model Many\ntime t from 0 to 10\nparam k = 0.3, dose = 1, sd = 0.1\n")
		b.WriteString("state a = dose\na' = -k*a*dose\n")
		var times, values, ids, doses, amounts []string
		for i := range n {
			for j := range 4 {
				x := float64(2 * j)
				if moved {
					x += float64(i) / 100
				}
				times, values = append(times, fmt.Sprint(x)), append(values, fmt.Sprint(0.1*float64(i+j+1)))
				ids = append(ids, fmt.Sprint(i))
				doses, amounts = append(doses, fmt.Sprint(i+2)), append(amounts, fmt.Sprint(i*(j%2)-j/2))
			}
			if by {
				continue
			}
			fmt.Fprintf(&b, "experiment e%d { dose = %d; use D where id == %d }\n", i, i+2, i)
		}
		fmt.Fprintf(&b, "data D {\n time = [%s]\n y = [%s]\n id = [%s]\n dose = [%s]\n amt = [%s]\n}\n",
			strings.Join(times, ", "), strings.Join(values, ", "), strings.Join(ids, ", "), strings.Join(doses, ", "),
			strings.Join(amounts, ", "))
		if by {
			b.WriteString("experiment e from D by D.id {\n" +
				"dose = D.dose  at D.time where amt > -1 { a += D.amt*D.amt } }\n")
		}
		b.WriteString("observe y = a ~ normal(sd) from D.y\nobjective loss = nll()\n")
		var l diag.List
		checked := typecheck.Check(parser.Parse(source.NewFile("many.ode", b.String()), &l), typecheck.Env{}, &l)
		if l.HasErrors() {
			t.Fatal(l.Err())
		}
		whole := New(checked, &l)
		for _, x := range checked.Experiments {
			m := whole.Experiment(x.Model, &l)
			p := NewTask(m, nil, nil, nil)
			p.Differentiate([]string{"k", "sd"})
			for _, dir := range []Direction{Pull, PushPull} {
				if _, err := p.Kit(1, dir, false); err != nil {
					t.Fatal(err)
				}
			}
		}
		return len(whole.family.made)
	}
	if two, many := made(2, false, false), made(20, false, false); many != two {
		t.Errorf("%d things are made for 2 experiments, and %d for 20", two, many)
	}
	if two, many := made(2, true, false), made(20, true, false); many-two > 18*6 {
		t.Errorf("%d things are made for 2 experiments with times of their own, and %d for 20", two, many)
	}
	if two, many := made(2, false, true), made(20, false, true); many != two {
		t.Errorf("%d things are made for 2 experiments from a table, and %d for 20", two, many)
	}
}
