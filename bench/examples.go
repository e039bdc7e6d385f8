package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"odes.dev/odes"
)

// example is what the gradients of one of the examples cost.
type example struct {
	Name       string
	Objectives int
	Steps      int
	Columns    int
	One, Eight cost // of one objective and of eight; Eight is zero where there are fewer
}

// cost holds medians in seconds.
type cost struct{ Forward, Adjoint float64 }

// exampleTime is about how long one example is measured.
const exampleTime = 150 * time.Millisecond

// examples prints a line for every model among the examples.
func examples() error {
	list, err := filepath.Glob("examples/*/*.ode")
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("there are no examples here; run in the root of the repository")
	}
	enc := json.NewEncoder(os.Stdout)
	for _, path := range list {
		e, err := measureExample(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	return nil
}

func measureExample(path string) (example, error) {
	e := example{Name: strings.TrimSuffix(filepath.Base(path), ".ode")}
	m, err := odes.ParseFile(path)
	if err != nil {
		return e, err
	}
	opts := odes.Options{Threads: 1, Settings: []odes.Setting{
		{Key: "sens.mode", Value: "adjoint"}, {Key: "sens.trust", Value: "off"},
	}}
	r, err := m.Prepare(opts)
	if err != nil {
		return e, err
	}
	s, err := r.Sensitivities(context.Background())
	if err != nil {
		return e, err
	}
	var names []string
	for _, v := range s.Values {
		names = append(names, v.Name)
	}
	e.Objectives, e.Steps, e.Columns = len(names), s.Stats.Steps, s.Columns
	opts.Of = names[:1]
	if e.One, err = measure(m, opts); err != nil || len(names) < 8 {
		return e, err
	}
	opts.Of = names[:8]
	e.Eight, err = measure(m, opts)
	return e, err
}

// measure takes the medians over as many gradients as fit, three at least.
func measure(m *odes.Model, opts odes.Options) (cost, error) {
	r, err := m.Prepare(opts)
	if err != nil {
		return cost{}, err
	}
	var forward, adjoint []float64
	for start, i := time.Now(), 0; i < 4 || i < 1000 && time.Since(start) < exampleTime; i++ {
		s, err := r.Sensitivities(context.Background())
		if err != nil {
			return cost{}, err
		}
		if i > 0 {
			forward, adjoint = append(forward, s.Stats.Seconds.Forward), append(adjoint, s.Stats.Seconds.Adjoint)
		}
	}
	return cost{median(forward), median(adjoint)}, nil
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
