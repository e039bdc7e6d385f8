package run_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"odes.dev/odes"
)

// TestLongNetwork runs a stiff network for long, in four experiments. Explicit steps all the way were 270,000 for 500
// states: their record took 9 GB of memory and kept the system busy with pages. With an implicit method there are two
// thousand. What is told begins while the first experiment runs.
func TestLongNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles hundreds of reactions")
	}
	var b strings.Builder
	const species = 150
	r := rand.New(rand.NewPCG(5, 6))
	b.WriteString("time t from 0 to 9000\nparam sd = 0.1\n")
	for i := range species {
		fmt.Fprintf(&b, "state s%d = %.3f\n", i, r.Float64())
	}
	for i := range 3 * species {
		from, with, to := i%species, r.IntN(species), r.IntN(species)
		fmt.Fprintf(&b, "param k%d = %.3f\n", i, 0.1+r.Float64())
		if i%2 == 0 || with == from {
			fmt.Fprintf(&b, "reaction r%d: s%d -> s%d rate k%d*s%d\n", i, from, to, i, from)
		} else {
			fmt.Fprintf(&b, "reaction r%d: s%d + s%d -> 2 s%d rate k%d*s%d*s%d\n", i, from, with, to, i, from, with)
		}
	}
	b.WriteString("data D { time = [10, 100, 9000]  v = [1, 0.5, 0.1] }\nobserve o = s0 ~ normal(sd) from D.v\n")
	for i := range 4 {
		fmt.Fprintf(&b, "experiment e%d { k0 = %g  use D }\n", i, 0.2+0.1*float64(i))
	}
	b.WriteString("objective loss = nll()\nsens { trust = off }\n")
	m, err := odes.Parse("network.ode", b.String(), odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tellAlways(t)
	first := odes.Progress{}
	s, err := m.Sensitivities(context.Background(), odes.Options{
		Wrt: []string{"k1"}, Threads: 1, Progress: func(p odes.Progress) {
			if first.Phase == "" {
				first = p
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if first.Phase != "experiments" || first.Steps > 100 {
		t.Errorf("the first that is told: %+v", first)
	}
	if n := s.Stats.Steps; n > 5000 || s.Stats.PeakTrajectoryBytes > 200e6 {
		t.Errorf("%d steps, of which the record takes %d bytes", n, s.Stats.PeakTrajectoryBytes)
	}
	t.Logf("%d steps, %d bytes", s.Stats.Steps, s.Stats.PeakTrajectoryBytes)
}
