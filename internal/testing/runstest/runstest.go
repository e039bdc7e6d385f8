// Package runstest compares runs of whole models with a file that says what they cost and which bits they gave. A
// package whose other tests compare numbers with other ways to compute them notices by it what these cannot see: a
// search that takes longer, a step that is made twice, a digit that moves within the tolerance.
package runstest

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes"
)

// Compare makes the runs that the models of a folder name, and compares them with its file runs.txt; update writes
// that. A model names a run in a line with the settings:
//
//	# run sens.mode=tangent lanes=2
func Compare(t *testing.T, folder string, update bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.ode"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no models in %s: %v", folder, err)
	}
	var got bytes.Buffer
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := odes.Parse(filepath.Base(file), string(text), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		runs := 0
		for line := range strings.Lines(string(text)) {
			if settings, ok := strings.CutPrefix(strings.TrimSpace(line), "# run"); ok {
				runs++
				fmt.Fprintf(&got, "%s%s: %s\n", strings.TrimSuffix(filepath.Base(file), ".ode"), settings,
					Told(m, strings.Fields(settings)...))
			}
		}
		if runs == 0 {
			t.Errorf("%s names no runs", file)
		}
	}
	path := filepath.Join(folder, "runs.txt")
	if update {
		if err := os.WriteFile(path, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(want), "\n")
	for i, line := range strings.SplitAfter(got.String(), "\n") {
		if i >= len(lines) || line != lines[i] {
			t.Errorf("line %d of %s is not what it is now (-update writes it):\n%s", i+1, path, line)
		}
	}
}

// Told makes a run of m and says what it cost and found.
func Told(m *odes.Model, settings ...string) string {
	opts := odes.Options{Threads: 1, EventTimes: true}
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		switch key {
		case "lanes":
			fmt.Sscan(value, &opts.Lanes)
		case "threads":
			fmt.Sscan(value, &opts.Threads)
		default:
			opts.Settings = append(opts.Settings, odes.Setting{Key: key, Value: value})
		}
	}
	r, err := m.Sensitivities(context.Background(), opts)
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n")
		return text
	}
	hash := fnv.New64a()
	of := func(list ...float64) {
		for _, x := range list {
			fmt.Fprintf(hash, "%x ", math.Float64bits(x))
		}
	}
	first := ""
	for _, v := range r.Values {
		of(v.Value)
		first += fmt.Sprintf(" %.6g", v.Value)
	}
	of(r.Gradient...)
	of(r.Hessian...)
	of(r.Products...)
	for _, e := range r.Events {
		of(e.T)
		of(e.Params...)
	}
	for _, d := range r.Warnings {
		fmt.Fprintln(hash, d.Code, d.Message)
	}
	s := r.Stats
	return fmt.Sprintf("%d steps, %d rejected, %d evaluations, %d transposes, %d again, %d second, %d matrices, "+
		"%d events, %d warnings;%s; bits %016x", s.Steps, s.Rejected, s.F, s.VJP, s.RecomputedSteps, s.SecondSteps,
		s.Factorisations, len(r.Events)+r.MoreEvents, len(r.Warnings), first, hash.Sum64())
}
