package dosing_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/dosing"
	"odes.dev/odes/internal/testing/seeds"
)

var regimens = flag.Int("regimens", 25, "how many random regimens")

// write writes a subject as a model and its table.
func write(s *dosing.Subject) (text, table string) {
	var m, t strings.Builder
	fmt.Fprintf(&m, "time t from 0 to %v\n", to(s))
	names := []string{"ka", "CL", "V"}
	for i := len(names); i < len(s.Params); i++ {
		names = append(names, fmt.Sprintf("p%d", i))
	}
	for i, name := range names {
		fmt.Fprintf(&m, "param %s = %v\n", name, s.Params[i])
	}
	m.WriteString("state gut = 0, body = 0\nlet c = body/V\ngut' = -ka*gut\nbody' = ka*gut - CL*c\n" +
		"data D = csv(\"d.csv\", time = \"TIME\")\ndoses D {\n")
	for into, state := range []string{1: "gut", 2: "body"} {
		if into == 0 {
			continue
		}
		fmt.Fprintf(&m, "  %s where CMT == %d", state, into)
		said := s.Said[into]
		for _, w := range []struct {
			word string
			at   *int
		}{{"lag", said.Lag}, {"f", said.F}, {"dur", said.Length}, {"rate", said.Rate}} {
			if w.at != nil {
				fmt.Fprintf(&m, " %s = %s", w.word, names[*w.at])
			}
		}
		m.WriteString("\n")
	}
	m.WriteString("}\nobserve y = c ~ normal(1) from D.DV\nexperiment subject from D by D.ID\nobjective L = nll()\n" +
		"solver { method = dop853  rtol = 1e-10  atol = 1e-12 }\nsens { trust = off }\n")
	t.WriteString("ID,TIME,DV,AMT,RATE,DUR,CMT,EVID,II,ADDL,SS\n")
	for _, r := range s.Rows {
		fmt.Fprintf(&t, "1,%v,%v,%v,%v,%v,%d,%d,%v,%d,%d\n", r.Time, r.Data, r.Amount, r.Rate, r.Length, r.Into, r.Kind,
			r.Period, r.More, r.Steady)
	}
	return m.String(), t.String()
}

func to(s *dosing.Subject) float64 {
	last := 1.0
	for _, r := range s.Rows {
		last = max(last, r.Time)
	}
	return last
}

// TestRandomRegimens: likelihoods of random regimens and their derivatives, by lags, F, durations and rates as well,
// are those of superposition.
//
//odes:goroutines
func TestRandomRegimens(t *testing.T) {
	seed := seeds.Of(t, 57)
	refused := map[string]int{}
	for i := range *regimens {
		s := dosing.Draw(rand.New(rand.NewPCG(seed+uint64(i), 1)))
		text, table := write(s)
		fail := func(format string, args ...any) {
			t.Errorf("regimen %d: %s\n%s%s", seed+uint64(i), fmt.Sprintf(format, args...), text, table)
		}
		m, err := odes.Parse("m.ode", text, odes.ParseOptions{Files: fstest.MapFS{"d.csv": {Data: []byte(table)}}})
		if err != nil {
			refused[err.Error()]++
			fail("%v", err)
			continue
		}
		got, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			fail("%v", err)
			continue
		}
		want, slopes := s.Misfit()
		n := 0
		for _, r := range s.Rows {
			if r.Kind == 0 {
				n++
			}
		}
		want += float64(n) / 2 * math.Log(2*math.Pi)
		if v := got.Values[0].Value; math.Abs(v-want) > 1e-7*(1+math.Abs(want)) {
			fail("the value is %v, want %v", v, want)
			continue
		}
		largest := slices.MaxFunc(slopes, func(a, b float64) int {
			return int(math.Copysign(1, math.Abs(a)-math.Abs(b)))
		})
		for k, want := range slopes {
			if g := got.Gradient[k]; math.Abs(g-want) > 1e-6*(math.Abs(want)+1e-2*math.Abs(largest)) {
				fail("derivative %d is %v, want %v", k, g, want)
				break
			}
		}
		if testing.Verbose() && i%500 == 499 {
			t.Logf("%d regimens", i+1)
		}
	}
}
