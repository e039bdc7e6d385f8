package run_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
)

// networks is how many random networks are drawn: `go test . -run TestSteadyNetworks -networks 1000` takes a minute.
var networks = flag.Int("networks", 15, "how many random reaction networks TestSteadyNetworks draws")

// randomNetwork writes a reversible mass-action network. Its objectives are the states, the rates and the conserved
// quantities at the steady state.
func randomNetwork(r *rand.Rand) (text string, states int, totals []float64) {
	n := 3 + r.IntN(6)
	complexes := func() (names []string, at []int) {
		for range 1 + r.IntN(2) {
			i := r.IntN(n)
			names, at = append(names, fmt.Sprintf("S%d", i)), append(at, i)
		}
		return names, at
	}
	var b strings.Builder
	b.WriteString("time t from 0 to 1\n")
	rates := make([]string, n)
	initial := make([]float64, n)
	for k := range n - 1 + r.IntN(3) {
		from, is := complexes()
		to, becomes := complexes()
		fmt.Fprintf(&b, "param f%d = %.4g, b%d = %.4g\n", k, math.Exp(4*r.Float64()-2), k, math.Exp(4*r.Float64()-2))
		flux := fmt.Sprintf("(f%d*%s - b%d*%s)", k, strings.Join(from, "*"), k, strings.Join(to, "*"))
		for _, i := range is {
			rates[i] += " - " + flux
		}
		for _, i := range becomes {
			rates[i] += " + " + flux
		}
	}
	for i := range n {
		initial[i] = math.Round(1000*(0.1+2*r.Float64())) / 1000
		if rates[i] == "" {
			rates[i] = fmt.Sprintf("1 - S%d", i)
		}
		fmt.Fprintf(&b, "state S%d = %v\nS%d' = %s\n", i, initial[i], i, rates[i])
	}
	for i := range n {
		fmt.Fprintf(&b, "objective x%d = steady(S%d)\nobjective r%d = steady(%s)\n", i, i, i, rates[i])
	}
	info, _, err := odes.Check("network.ode", b.String(), odes.ParseOptions{})
	if err != nil {
		panic(err)
	}
	for k, law := range info.Conserved { // "S0 + 2 S1 = 1.5"
		sum, _, _ := strings.Cut(law, " = ")
		expression, total := "", 0.0
		factor, sign := 1.0, 1.0
		for _, word := range strings.Fields(sum) {
			switch {
			case word == "+":
				factor, sign = 1, 1
			case word == "-":
				factor, sign = 1, -1
			case strings.Contains(word, "S"):
				if strings.HasPrefix(word, "-") {
					word, sign = word[1:], -1
				}
				var i int
				_, _ = fmt.Sscanf(word, "S%d", &i)
				expression += fmt.Sprintf(" + (%v)*%s", sign*factor, word)
				total += sign * factor * initial[i]
				factor, sign = 1, 1
			default:
				_, _ = fmt.Sscan(word, &factor)
			}
		}
		fmt.Fprintf(&b, "objective c%d = steady(0 %s)\n", k, expression)
		totals = append(totals, total)
	}
	b.WriteString("solver { rtol = 1e-9  atol = 1e-12 }\nsens { trust = off }\n")
	return b.String(), n, totals
}

// TestSteadyNetworks draws reaction networks with conserved quantities: at the steady state rates vanish and totals are
// what they were, no state is negative, and the gradient is that of differences.
func TestSteadyNetworks(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 16), 1))
	laws, refused, count := 0, 0, *networks
	if testing.Short() {
		count = min(count, 4)
	}
	for k := range count {
		text, n, totals := randomNetwork(r)
		laws += len(totals)
		m, err := odes.Parse("network.ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		run := func(mode string) *odes.Sensitivities {
			s, err := m.Sensitivities(t.Context(), odes.Options{
				Threads: 1, Settings: []odes.Setting{{Key: "sens.mode", Value: mode}},
			})
			if err != nil && strings.Contains(err.Error(), "the steady state is marginal") {
				return nil // a species dies out, and what it would change is left where it is
			}
			if err != nil {
				t.Fatalf("network %d, %s: %v\n%s", k, mode, err, text)
			}
			return s
		}
		s := run("adjoint")
		if s == nil {
			refused++
			continue
		}
		other := run("differences")
		size := 1.0 // of rates
		for i := range n {
			size = max(size, s.Values[2*i].Value*s.Values[2*i].Value)
		}
		for i := range n {
			if x := s.Values[2*i].Value; x < 0 {
				t.Errorf("network %d: %s is %v\n%s", k, s.Values[2*i].Name, x, text)
			}
			if f := s.Values[2*i+1].Value; math.Abs(f) > 1e-12*size {
				t.Errorf("network %d: %s is %v\n%s", k, s.Values[2*i+1].Name, f, text)
			}
		}
		for i, want := range totals {
			if got := s.Values[2*n+i].Value; math.Abs(got-want) > 1e-12*size {
				t.Errorf("network %d: total %d is %v, was %v\n%s", k, i+1, got, want, text)
			}
		}
		for i := range s.Gradient {
			if a, b := s.Gradient[i], other.Gradient[i]; math.Abs(a-b) > 1e-6*(size+math.Abs(b)) {
				t.Errorf("network %d: derivative %d is %v, by differences %v\n%s", k, i, a, b, text)
				break
			}
		}
	}
	if laws == 0 || 50*refused > count {
		t.Errorf("of %d networks, %d were refused; there were %d conserved quantities", count, refused, laws)
	}
}
