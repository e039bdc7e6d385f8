package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/plot"
)

// growth is a way for models to become large: what there is more and more of, and the model with n of it.
type growth struct {
	name  string
	title string
	sizes []int
	model func(n int) string
	// memory is what Go's runtime may take, as the command has it for a model that names solver.memory; 0 for no limit.
	memory int64
}

var growths = []growth{
	{"events", "events of a run", []int{1000, 10_000, 100_000, 1_000_000}, spikes, 200e6 - 56<<20},
	{"experiments", "experiments of 8 rows, 30 parameters", []int{1, 3, 10, 30, 100}, manyExperiments, 0},
	{"reactions", "reactions among a third as many species", []int{100, 300, 1000, 3000, 10_000}, manyReactions, 0},
}

// spikes is a neuron that integrates its input, leaks, and fires about n times.
func spikes(n int) string {
	return fmt.Sprintf(`model Neuron

time t : [ms] from 0 to %d
param tau = 20 [ms], current = 1.5, threshold = 1, rest = 0
state v = 0
v' = (current - v)/tau
event spike when v > threshold { v = rest }
objective last = final(v)
solver {
  max_events = %d  max_steps = %d
  memory = "200 MB"
}
`, 22*n, 2*n, 100*n)
}

// manyExperiments is a chain of three compartments with n experiments, each with a dose and eight rows of its own.
func manyExperiments(n int) string {
	var b strings.Builder
	b.WriteString("model Many\n\ntime t from 0 to 10\nparam dose = 1, sd = 0.1\n")
	sum := func(from int) string {
		var terms []string
		for i := from; i < from+9; i++ {
			fmt.Fprintf(&b, "param k%d = %g\n", i, 0.05+0.002*float64(i))
			terms = append(terms, fmt.Sprintf("k%d", i))
		}
		return strings.Join(terms, " + ")
	}
	in, on, out := sum(1), sum(10), sum(19)
	b.WriteString("param k28 = 0.1\nstate a = dose, b = 0, c = 0\n")
	fmt.Fprintf(&b, "a' = -(%s)*a\nb' = (%s)*a - (%s)*b\nc' = (%s)*b - (%s + k28)*c\n", in, in, on, on, out)
	r := rand.New(rand.NewPCG(1, 2))
	var times, values, ids []string
	for i := range n {
		for _, t := range []string{"0.5", "1", "2", "3", "4", "6", "8", "10"} {
			times, ids = append(times, t), append(ids, fmt.Sprint(i))
			values = append(values, fmt.Sprintf("%.3f", r.Float64()))
		}
		fmt.Fprintf(&b, "experiment e%d { dose = %g  use D where id == %d }\n", i, 1+0.1*float64(i), i)
	}
	fmt.Fprintf(&b, "data D {\n  time = [%s]\n  conc = [%s]\n  id = [%s]\n}\n", strings.Join(times, ", "),
		strings.Join(values, ", "), strings.Join(ids, ", "))
	b.WriteString("observe y = c ~ normal(sd) from D.conc\nobjective loss = nll()\n")
	return b.String()
}

// manyReactions is a network of n reactions of one or two of n/3 species, written one by one.
func manyReactions(n int) string {
	var b strings.Builder
	r := rand.New(rand.NewPCG(3, 4))
	species := max(n/3, 2)
	b.WriteString("model Network\n\ntime t from 0 to 1\n")
	for i := range species {
		fmt.Fprintf(&b, "state s%d = %.3f\n", i, r.Float64())
	}
	for i := range n {
		from, with, to := i%species, r.IntN(species), r.IntN(species)
		fmt.Fprintf(&b, "param k%d = %.3f\n", i, 0.1+r.Float64())
		if i%2 == 0 || with == from {
			fmt.Fprintf(&b, "reaction r%d: s%d -> s%d rate k%d*s%d\n", i, from, to, i, from)
		} else {
			fmt.Fprintf(&b, "reaction r%d: s%d + s%d -> 2 s%d rate k%d*s%d*s%d\n", i, from, with, to, i, from, with)
		}
	}
	b.WriteString("objective last = final(s0)\nsens { trust = off }\n")
	return b.String()
}

// grown is what a model of one size took.
type grown struct {
	N        int     `json:"n"`
	Compile  float64 `json:"compile_s"`  // from the text to programs
	Gradient float64 `json:"gradient_s"` // the value and its gradient
	Memory   float64 `json:"memory_mb"`  // the most that the process had
}

// growth measures one size of a growth, in this process.
func (j *job) growth() error {
	for _, g := range growths {
		if g.name != j.problem {
			continue
		}
		if g.memory > 0 {
			debug.SetMemoryLimit(g.memory)
		}
		start := time.Now()
		m, err := odes.Parse(g.name+".ode", g.model(j.n), odes.ParseOptions{})
		if err != nil {
			return err
		}
		r, err := m.Prepare(odes.Options{Threads: j.threads, Events: -1})
		if err != nil {
			return err
		}
		half := time.Now()
		if _, err := r.Sensitivities(context.Background()); err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(grown{
			N: j.n, Compile: half.Sub(start).Seconds(), Gradient: time.Since(half).Seconds(),
			Memory: resident() / 1e6,
		})
	}
	return fmt.Errorf("nothing grows by %q", j.problem)
}

// resident returns the most bytes that the process had in memory, its program included; where the system does not say,
// what Go's runtime has.
func resident() float64 {
	if fields := strings.Fields(field("/proc/self/status", "VmHWM", ":")); len(fields) == 2 {
		if kb, err := strconv.ParseFloat(fields[0], 64); err == nil {
			return kb * 1024
		}
	}
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return float64(s.Sys - s.HeapReleased)
}

// growthHeading begins the section that growth writes.
const growthHeading = "## How cost grows with events, experiments and reactions\n"

// rewriteGrowth measures all growths, and writes their section in a page that has it already.
func (r *runner) rewriteGrowth(path string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(page), growthHeading)
	if !ok {
		return fmt.Errorf("%s has no section %q", path, strings.TrimSpace(growthHeading))
	}
	after := ""
	if at := strings.Index(rest, "\n## "); at >= 0 {
		after = rest[at+1:]
	}
	var b bytes.Buffer
	if err := r.growth(&b); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(before+b.String()+after), 0o644)
}

// growth measures all growths and draws a figure of each.
func (r *runner) growth(b *bytes.Buffer) error {
	fmt.Fprint(b, growthHeading+`
Each figure shows two times over the size of a model. The first is the time to compile the text for a run. The second is
the time of the first gradient, which includes compiling the transposes. Both axes are logarithmic, so costs in
proportion to the size lie on lines of slope 1, like the third line. *Memory* is the largest resident size of the
process, including its own code. `+"`bench/run -growth`"+` measures this section alone.

- *Events* are spikes of a neuron. Settings are the defaults, including the independent run, except for
  `+"`memory = \"200 MB\"`"+` and larger `+"`max_events` and `max_steps`"+`.
- *Experiments* differ only in their dose and their eight rows of data. As commands, including start and compilation, a
  hundred experiments take less than 30 times the processor time of one. So do Hessians. In a warm process, eight
  experiments are run side by side. There, gradients of a hundred subjects with a dose and ten measurements each take
  about 30 times the processor time of one: 1.4 ms and 0.047 ms without the independent run
  (`+"`go test ./internal/engine/run -run NONE -bench Together -cpu 1`"+`, AVX-512), and 28 times with it. Hessians
  take 40 times those of one.
- *Reactions* are written one by one, each with a rate constant of its own.

`)
	for i := range growths {
		g := &growths[i]
		fmt.Fprintf(b, "| %s | compile s | gradient s | memory MB |\n|---:|---:|---:|---:|\n", g.name)
		var list []grown
		for _, n := range g.sizes {
			out, err := r.output([]string{
				r.self, "-worker", "growth", "-problem", g.name, "-n", fmt.Sprint(n), "-threads", "1",
			}, 1)
			if err != nil {
				return err
			}
			var one grown
			if err := json.Unmarshal(out, &one); err != nil {
				return err
			}
			list = append(list, one)
			fmt.Fprintf(b, "| %d | %.3g | %.3g | %.0f |\n", n, one.Compile, one.Gradient, one.Memory)
		}
		figure := "growth_" + g.name + ".svg"
		if err := g.draw(filepath.Join("docs", "figures", figure), list); err != nil {
			return err
		}
		fmt.Fprintf(b, "\n![Time over %s](figures/%s)\n\n", g.title, figure)
	}
	return nil
}

// draw writes the figure of a growth.
func (g *growth) draw(path string, list []grown) error {
	l := &plot.Lines{
		X: plot.Axis{Label: g.title, Log: true}, Y: plot.Axis{Label: "time", Unit: "s", Log: true},
	}
	curve := func(name string, of func(grown) float64) {
		k := plot.Curve{Name: name, Loop: true}
		for _, p := range list {
			k.X, k.Y = append(k.X, float64(p.N)), append(k.Y, of(p))
		}
		k.PX, k.PY = k.X, k.Y
		l.Curves = append(l.Curves, k)
	}
	curve("compile", func(p grown) float64 { return p.Compile })
	curve("gradient", func(p grown) float64 { return p.Gradient })
	last := list[len(list)-1]
	curve("in proportion", func(p grown) float64 { return last.Gradient * float64(p.N) / float64(last.N) })
	var b bytes.Buffer
	if err := plot.Write(&b, "svg", l, plot.Page{}); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
