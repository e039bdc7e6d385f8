// Package examples_test compares what odes computes for the models of this folder with their golden
// files, and the studies of docs and READMEs with what they state. It uses odes as any Go program
// does, and knows nothing of its parts.
package examples_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/parser"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// large lists models whose whole gradient takes too long for every test run. They are compiled, and
// solved with options that ask for less.
var large = map[string]odes.Options{
	"glv200":     {Of: []string{"x_T[1]"}, Wrt: []string{"r"}},
	"heat2d_512": {Wrt: []string{"Tw", "q"}},
}

// stiff lists models that an explicit method would crawl through, or does not take at all. They name no method.
var stiff = map[string]bool{
	"akzo_nobel": true, "battery": true, "converter": true, "nine_buses": true, "pendulum_cartesian": true,
	"power_fault": true, "transistor_amplifier": true,
	"brusselator_1d": true, "burgers": true, "e5": true, "generator": true, "hires": true, "network20": true,
	"network100": true, "oregonator": true, "pollution": true, "ring_modulator": true, "robertson": true,
}

// TestGolden runs every model and compares the result with its golden file, bit by bit. Results are
// the same on every machine, with any number of lanes and threads.
func TestGolden(t *testing.T) {
	models, err := filepath.Glob(filepath.Join("*", "*.ode"))
	if err != nil || len(models) < 20 {
		t.Fatalf("found %d models: %v", len(models), err)
	}
	papers, err := filepath.Glob(filepath.Join("papers", "*", "*.ode"))
	if err != nil || len(papers) < 3 {
		t.Fatalf("found %d models of papers: %v", len(papers), err)
	}
	populations, err := filepath.Glob(filepath.Join("populations", "*", "*.ode"))
	if err != nil || len(populations) < 3 {
		t.Fatalf("found %d models of populations: %v", len(populations), err)
	}
	models = append(append(models, papers...), populations...)
	for _, path := range models {
		base := strings.TrimSuffix(path, ".ode")
		t.Run(filepath.Base(base), func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), "README.md")); err != nil {
				t.Errorf("a folder wants a README.md: %v", err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if formatted, err := parser.Format(path, string(text)); err != nil || formatted != string(text) {
				t.Errorf("odes fmt -d says that the model is not formatted: %v", err)
			}
			m, err := odes.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range m.Warnings() {
				t.Errorf("an example should compile without a word: %s", w.String())
			}
			opts := large[filepath.Base(base)]
			opts.EventTimes = true
			s, err := m.Sensitivities(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			got := stable(t, m, s)
			golden := base + ".golden"
			if *update {
				if err := os.WriteFile(golden, got, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the result is not that of %s:\n%s", golden, difference(string(want), string(got)))
			}
		})
	}
}

// stable writes a result without what differs between runs and machines. Derivatives by long arrays
// are summarised by their norms, below the JSON.
func stable(t *testing.T, m *odes.Model, s *odes.Sensitivities) []byte {
	t.Helper()
	s.Settings.Backend, s.Settings.Lanes, s.Settings.Threads, s.Settings.CheckedBy = "", 0, 0, ""
	s.Stats.PeakTrajectoryBytes = 0
	s.Stats.Seconds = struct{ Parse, Compile, Forward, Adjoint, Second, Check float64 }{}
	const long = 100
	var norms bytes.Buffer
	var short []odes.Variable
	for _, v := range s.Variables {
		if v.Size() <= long {
			short = append(short, v)
			continue
		}
		for i, value := range s.Values {
			sum := 0.0
			for _, d := range s.Derivative(i, v) {
				sum += float64(d * d)
			}
			fmt.Fprintf(&norms, "norm of d %s/d %s: %s\n", value.Name, v,
				strconv.FormatFloat(math.Sqrt(sum), 'g', -1, 64))
		}
	}
	s.Variables = short
	info := m.Info()
	var b bytes.Buffer
	h := report.Heading{Model: info.Name, File: filepath.Base(info.File), Time: info.Time, TimeUnit: info.TimeUnit}
	if err := report.FormatNamed("json").Sensitivities(&b, h, s, report.TableOptions{}); err != nil {
		t.Fatal(err)
	}
	return append(b.Bytes(), norms.Bytes()...)
}

// difference returns the first lines that differ.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d\n got %.400s\nwant %.400s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// TestInteractions draws the coefficients of the Lotka–Volterra models by the rule that their
// README states, and compares them with the files.
func TestInteractions(t *testing.T) {
	for _, n := range []int{10, 200} {
		var b strings.Builder
		state := uint64(1)
		for i := range n {
			for j := range n {
				state = state*6364136223846793005 + 1442695040888963407
				g := float64(state>>11)*0x1p-53*2 - 1
				a := 0.05 * g / math.Sqrt(float64(n))
				if i == j {
					a = -1
				}
				if j > 0 {
					b.WriteByte(',')
				}
				b.WriteString(strconv.FormatFloat(a, 'g', -1, 64))
			}
			b.WriteByte('\n')
		}
		path := filepath.Join("glv", fmt.Sprintf("A%d.csv", n))
		if *update {
			if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(data) != b.String() {
			t.Errorf("%s does not hold what the rule draws", path)
		}
	}
}
