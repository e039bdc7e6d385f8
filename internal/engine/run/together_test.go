package run

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/result"
)

// subjects writes a table of n subjects with random doses and measurements. Where meet is set, some measurements are at
// the times of doses; where alike is, there are as many of both for each.
func subjects(rng *rand.Rand, n int, meet, alike bool) string {
	names := []string{"ID", "time", "AMT", "RATE", "II", "ADDL", "DV", "WT"}
	cols := make([][]string, len(names))
	row := func(of ...float64) {
		for i, x := range of {
			cols[i] = append(cols[i], strings.ToLower(fmt.Sprintf("%.6g", x)))
		}
	}
	for i := range n {
		id, wt := float64(i+1), 60+20*rng.Float64()
		rate := 0.0
		if rng.IntN(3) == 0 {
			rate = 20 + 20*rng.Float64()
		}
		more, rows := 1+rng.IntN(3), 3+rng.IntN(5)
		if alike {
			rate, more, rows = 0, 2, 5
		}
		row(id, 0, 100+50*rng.Float64(), rate, 6+rng.Float64(), float64(more), math.NaN(), wt)
		at := 0.0
		for range rows {
			at += 0.2 + 2.5*rng.Float64()
			row(id, at, 0, 0, 0, 0, 3*rng.Float64(), wt)
		}
		if meet && i%4 == 0 {
			row(id, at, 50, 0, 0, 0, math.NaN(), wt)
		}
	}
	var b strings.Builder
	b.WriteString("data D {\n")
	for i, name := range names {
		fmt.Fprintf(&b, "  %s = [%s]\n", name, strings.Join(cols[i], ", "))
	}
	return b.String() + "}\n"
}

const subjectModel = `
time t from 0 to 26
param ka = 1.1, CL = 2, V = 20, tlag = 0.3, F1 = 0.8, w = 70
state gut = 0, body = 0
let c = body/V
gut' = -ka*gut
body' = ka*gut - CL*(w/70)^0.75*c
%s
doses D { gut %s }
observe y = c ~ normal(0.3) from D.DV
experiment subject from D by D.ID { w = D.WT }
objective L = nll()
%s
`

// TestTogether compares gradients of experiments that are run side by side with those of experiments that are run one
// by one: numbers, counts and what is told are the same, to the bit.
//
//odes:goroutines
func TestTogether(t *testing.T) {
	seed := seeds.Of(t, 57)
	for k, c := range []struct {
		name, lines, dose string
		meet, alike       bool
		settings          []Setting
		wrt               []string
		made              int // of thirteen, at least
	}{
		{name: "doses", made: 6},
		{name: "lag and F", dose: "lag = tlag f = F1", made: 6},
		{name: "meets", dose: "lag = tlag", meet: true, made: 6},
		{name: "tangents", dose: "f = F1", settings: []Setting{{"sens.mode", "tangent"}}, made: 6},
		{name: "dopri5", dose: "lag = tlag", settings: []Setting{{"solver.method", "dopri5"}}, made: 6},
		{name: "rodas5p", dose: "f = F1", settings: []Setting{{"solver.method", "rodas5p"}}, made: 6},
		{name: "tsit5", settings: []Setting{{"solver.method", "tsit5"}, {"solver.rtol", "1e-9"}}, made: 6},
		{name: "initial values", wrt: []string{"ka", "initial(body)", "V"}, made: 6},
		{name: "threads", dose: "f = F1", settings: []Setting{{"solver.threads", "2"}}, made: 6},
		{name: "bounds", lines: "param q = 0.5 in [0, 1]", dose: "f = q", made: 7},
		{name: "guards", lines: "event full when c > 1.5 { }", made: 0},
		{name: "compared", dose: "f = F1", settings: []Setting{{"sens.trust", "on"}}, made: 6},
		{name: "alike", alike: true, dose: "lag = tlag f = F1", made: 10},
		{name: "alike, meet", alike: true, meet: true, dose: "lag = tlag", made: 8},
		{
			name: "alike, tangents", alike: true, dose: "lag = tlag", settings: []Setting{{"sens.mode", "tangent"}},
			made: 10,
		},
		{name: "alike, rodas5p", alike: true, settings: []Setting{{"solver.method", "rodas5p"}}, made: 10},
		{name: "alike, initial values", alike: true, wrt: []string{"ka", "initial(body)", "V"}, made: 10},
		{name: "alike, bounds", alike: true, lines: "param q = 0.5 in [0, 1]", dose: "f = q", made: 10},
		{name: "alike, compared", alike: true, dose: "lag = tlag", settings: []Setting{{"sens.trust", "on"}}, made: 10},
		{name: "traces", dose: "f = F1", settings: []Setting{{"sens.trust", "on"}, {"solver.atol", "1e-3"}}, made: 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, uint64(k)))
			text := fmt.Sprintf(subjectModel, c.lines, c.dose, "") + subjects(rng, 13, c.meet, c.alike)
			m, err := Parse("m.ode", text, ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			opts := Options{Threads: 1, Settings: append([]Setting{{"sens.trust", "off"}}, c.settings...), Wrt: c.wrt}
			if c.name == "threads" {
				opts.Threads = 2
			}
			var runners [2]*Runner
			for i := range runners {
				if runners[i], err = m.Prepare(opts); err != nil {
					t.Fatal(err)
				}
			}
			made, hosted := 0, 0 // hosted: by workers of others
			for round := range 12 {
				set := []compiled.Override{
					{Name: "ka", Values: []float64{0.8 + 0.6*rng.Float64()}},
					{Name: "CL", Values: []float64{1.5 + rng.Float64()}},
				}
				if c.name == "bounds" {
					set = append(set, compiled.Override{Name: "q", Values: []float64{1.5 * rng.Float64()}})
				}
				var got [2]*result.Sensitivities
				for i, r := range runners {
					if err := r.Set(set...); err != nil {
						t.Fatal(err)
					}
					if i == 1 {
						for x := r; x != nil; x = x.other { // one by one
							x.side = together{runs: -1000}
						}
					}
					if got[i], err = r.Sensitivities(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				sameBits(t, fmt.Sprint(c.name, " ", round), got[0], got[1])
				a, b := got[0].Stats, got[1].Stats
				if x, y := [4]int{a.Steps, a.Rejected, a.F, a.VJP}, [4]int{b.Steps, b.Rejected, b.F, b.VJP}; x != y {
					t.Errorf("round %d: counts %v, one by one %v", round, x, y)
				}
				if x, y := messages(got[0].Warnings), messages(got[1].Warnings); x != y {
					t.Errorf("round %d: told\n%s\none by one\n%s", round, x, y)
				}
				if !slices.Equal(got[0].Trusts, got[1].Trusts) || !slices.Equal(got[0].Errors, got[1].Errors) {
					t.Errorf("round %d: grades differ", round)
				}
				least := len(runners[0].parts)
				for x := runners[0]; x != nil; x = x.other {
					n := 0
					for _, c := range x.side.list {
						if c != nil {
							n++
						}
					}
					least = min(least, n)
					for _, b := range slices.Concat(x.side.slots...) {
						for lane, h := range b.hosts {
							if s := b.parts[lane]; h != s && x.side.list[s.part] != nil {
								hosted++
							}
						}
					}
				}
				made = max(made, least)
			}
			if made < c.made || c.made == 0 && made > 0 {
				t.Errorf("%d of 13 experiments were run side by side", made)
			}
			if c.alike && hosted == 0 {
				t.Error("none was run by the workers of another")
			}
		})
	}
}

// BenchmarkTogether is the time of a gradient of one subject, and of that of a hundred, with ten measurements each, and
// how many times the first the second is: least times, which were taken in turns.
func BenchmarkTogether(b *testing.B) {
	for _, trust := range []string{"off", "on"} {
		gradient := func(b *testing.B, n int) func() {
			m, err := Parse("m.ode", oralSubjects(n), ParseOptions{})
			if err != nil {
				b.Fatal(err)
			}
			r, err := m.Prepare(Options{Threads: 1, Settings: []Setting{{"sens.trust", trust}}})
			if err != nil {
				b.Fatal(err)
			}
			once := func() {
				if _, err := r.Sensitivities(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			for range madeAlone + 3 {
				once()
			}
			return once
		}
		for _, n := range []int{1, 100} {
			b.Run(fmt.Sprintf("trust %s/%d", trust, n), func(b *testing.B) {
				once := gradient(b, n)
				for b.Loop() {
					once()
				}
			})
		}
		b.Run(fmt.Sprintf("trust %s/ratio", trust), func(b *testing.B) {
			one, many := gradient(b, 1), gradient(b, 100)
			least := [2]time.Duration{time.Hour, time.Hour}
			take := func(i int, do func()) {
				start := time.Now()
				do()
				least[i] = min(least[i], time.Since(start))
			}
			for b.Loop() {
				for range 20 {
					take(0, one)
				}
				take(1, many)
			}
			b.ReportMetric(float64(least[0])/1e3, "µs/one")
			b.ReportMetric(float64(least[1])/float64(least[0]), "ones/hundred")
		})
	}
}

// oralSubjects is a model of n subjects with a dose and ten measurements each.
func oralSubjects(n int) string {
	rng := rand.New(rand.NewPCG(1, 1))
	var id, at, amount, dv []string
	row := func(i int, t, dose float64, seen string) {
		id, at = append(id, fmt.Sprint(i)), append(at, fmt.Sprintf("%.4g", t))
		amount, dv = append(amount, fmt.Sprintf("%.4g", dose)), append(dv, seen)
	}
	for i := range n {
		row(i+1, 0, 100+50*rng.Float64(), "nan")
		for _, t := range []float64{0.5, 1, 1.5, 2, 4, 6, 8, 10, 12, 23} {
			row(i+1, t+0.4*rng.Float64(), 0, fmt.Sprintf("%.4g", 4*math.Exp(-0.1*t)*rng.Float64()))
		}
	}
	return fmt.Sprintf(`
time t from 0 to 24
param ka = 1.1, CL = 2, V = 20
state gut = 0, body = 0
let c = body/V
gut' = -ka*gut
body' = ka*gut - CL*c
doses D { gut }
observe y = c ~ normal(0.3) from D.DV
experiment subject from D by D.ID
objective L = nll()
data D { ID = [%s]  time = [%s]  AMT = [%s]  DV = [%s] }
`, strings.Join(id, ", "), strings.Join(at, ", "), strings.Join(amount, ", "), strings.Join(dv, ", "))
}
