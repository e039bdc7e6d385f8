package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes/internal/base/memory"
)

// experiments is a model that asks for memory in many places: data, experiments, an implicit method.
const experiments = `
model Fitted "two runs with data"
time t from 0 to 2
param k = 1.5, scale = 1, w[2] = load("w.csv")
data a = csv("a.csv")
data b = csv("b.csv")
state x[20] = scale, y = 0
x' = -k*w[1]*x
y' = x[1] - y
observe seen = x[1] ~ normal(0.1) from a.v
observe same = x[1] ~ normal(0.1) from b.v
experiment first { use a }
experiment second { scale = 2  use b }
objective loss = nll()
solver { method = rodas5p }
`

// TestMemoryRefused refuses the memory that commands ask for, one question after the other. Each says so, and ends with
// the status of a run that failed and writes nothing; where only the independent run had no memory, it ends well.
func TestMemoryRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"m.ode": experiments, "w.csv": "1,2\n", "a.csv": "time,v\n0.5,0.5\n1,0.2\n", "b.csv": "time,v\n0.5,1\n1,0.5\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "m.ode")
	bounce := "../../examples/bounce/bounce.ode"
	files := func() (names string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names += e.Name() + " "
		}
		return names
	}
	for _, c := range []struct {
		args []string
		file string // that is written
		ask  int    // how many questions there are at least
	}{
		{[]string{"sens", path, "-q", "--format", "csv"}, "", 20},
		{[]string{"sens", path, "-o"}, "out.json", 20},
		{[]string{"sens", bounce, "--format", "csv", "-o"}, "out.csv", 5},
		{[]string{"sens", bounce, "--sens.mode=tangent"}, "", 5},
		{[]string{"run", bounce, "--times", "0:0.01:2", "-o"}, "out.csv", 3},
		{[]string{"verify", bounce}, "", 5},
		{[]string{"plot", path, "x[1]", "in", "first", "-o"}, "out.svg", 10},
		{[]string{"emit", path, "--stage", "program", "-o"}, "out.txt", 1},
		{[]string{"check", path}, "", 3},
		{[]string{"bench", bounce, "--runs", "1"}, "", 3},
	} {
		args := c.args
		if c.file != "" {
			args = append(args, filepath.Join(dir, c.file))
		}
		call := func() (status int, said string) {
			var out, errs bytes.Buffer
			status = run(t.Context(), args, strings.NewReader(""), &out, &errs)
			text, _ := os.ReadFile(filepath.Join(dir, c.file))
			if status != exitDone && out.Len() > 0 || strings.Contains(errs.String(), "internal error") {
				t.Errorf("%q: status %d, %q and %q", args, status, &out, &errs)
			}
			os.Remove(filepath.Join(dir, c.file))
			return status, out.String() + string(text) + errs.String()
		}
		before := files()
		status, want := call()
		if status != exitDone {
			t.Fatalf("%q: status %d, %s", args, status, want)
		}
		for n := 1; ; n++ {
			restore := memory.Refusal.At(n)
			status, said := call()
			met := memory.Refusal.Met()
			restore()
			if !met {
				if n <= c.ask {
					t.Errorf("%q: %d questions, want %d at least", args, n-1, c.ask)
				}
				break
			}
			if files() != before {
				t.Fatalf("%q, question %d: there are %s", args, n, files())
			}
			if (status != exitRun && status != exitDone) || !strings.Contains(said, "not enough memory: this needs ") {
				t.Errorf("%q, question %d: status %d, %.500s", args, n, status, strings.ReplaceAll(said, want, ""))
			}
		}
	}
}
