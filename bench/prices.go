package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"odes.dev/odes"
)

// defaults are the settings that cost time and are on unless a model says otherwise, in the order in which the table
// of prices adds them. A comparison with another version has them off.
var defaults = []string{"solver.quad_tol", "solver.stability", "sens.trust", "sens.control"}

// longestPrice is how long one gradient may take that the table of prices has. Without the defaults, the explicit runs
// of stiff examples take minutes.
const longestPrice = 2 * time.Second

// models returns the examples that are small enough to be measured many times.
func models() ([]string, error) {
	list, err := filepath.Glob("examples/*/*.ode")
	if err != nil {
		return nil, err
	}
	var small []string
	for _, path := range list {
		if !strings.HasSuffix(path, "512.ode") {
			small = append(small, path)
		}
	}
	if len(small) == 0 {
		return nil, fmt.Errorf("there are no examples here; run in the root of the repository")
	}
	return small, nil
}

// exampleName returns the name of an example's file, behind its folder's where another folder has a file of that name.
func exampleName(path string) string {
	folder, file := filepath.Split(path)
	name := strings.TrimSuffix(file, ".ode")
	if same, err := filepath.Glob(filepath.Join("examples", "*", file)); err == nil && len(same) > 1 {
		return filepath.Base(folder) + "/" + name
	}
	return name
}

// writePrices measures what each default costs on each example, and writes the table of docs/methods-steps.md: least
// times of whole gradients by one Runner, which take turns. Examples that do not run without the defaults, or
// take too long, are left out.
func writePrices(page string) error {
	list, err := models()
	if err != nil {
		return err
	}
	var rows []string
	for _, path := range list {
		least, err := priceOf(path)
		if err != nil {
			fmt.Fprintf(os.Stderr, "left out: %s: %v\n", path, err)
			continue
		}
		row := fmt.Sprintf("| `%s` | %.3g |", exampleName(path), 1e3*least[0])
		for _, t := range least[1:] {
			row += fmt.Sprintf(" %.2f |", t/least[0])
		}
		rows = append(rows, row)
	}
	var b strings.Builder // two examples in each line, so that the page is not twice as long
	b.WriteString("| example | none | `quad_tol` | `stability` | `trust` | `control` " +
		"| | none | `quad_tol` | `stability` | `trust` | `control` |\n")
	b.WriteString("|---|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|\n")
	half := (len(rows) + 1) / 2
	for i, row := range rows[:half] {
		other := "| | | | | | |"
		if half+i < len(rows) {
			other = rows[half+i]
		}
		b.WriteString(row + strings.TrimPrefix(other, "|") + "\n")
	}
	return writeTable(page, "prices", b.String())
}

// priceOf returns the least times of a gradient without the defaults, and with one more of them each.
func priceOf(path string) ([]float64, error) {
	m, err := odes.ParseFile(path)
	if err != nil {
		return nil, err
	}
	var runners []*odes.Runner
	var least []float64
	for on := range len(defaults) + 1 {
		opts := odes.Options{Threads: 1}
		for _, key := range defaults[on:] {
			opts.Settings = append(opts.Settings, odes.Setting{Key: key, Value: "off"})
		}
		r, err := m.Prepare(opts)
		if err != nil {
			return nil, err
		}
		runners, least = append(runners, r), append(least, math.Inf(1))
	}
	for begin, i := time.Now(), 0; i < 4 || i < 1000 && time.Since(begin) < 10*exampleTime; i++ {
		for k, r := range runners {
			start := time.Now()
			ctx, stop := context.WithTimeout(context.Background(), longestPrice)
			_, err := r.Sensitivities(ctx)
			stop()
			if err != nil {
				return nil, err
			}
			if t := time.Since(start).Seconds(); i > 0 {
				least[k] = min(least[k], t)
			}
		}
	}
	return least, nil
}

// against prints how long gradients of the examples take, relative to those of another version's command, both without
// the defaults: the ratios of the least times, which take turns. Examples that the other version does not run are left
// out.
func (r *runner) against(other string, w io.Writer) error {
	list, err := models()
	if err != nil {
		return err
	}
	ours := filepath.Join(r.work, "odes-against")
	if out, err := exec.Command("go", "build", "-o", ours, "./cmd/odes").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	defer os.Remove(ours)
	both := [2]string{other, ours}
	known := slices.IndexFunc(list, func(path string) bool { // an example that both versions can read
		return exec.Command(other, "bench", path, "--runs", "1").Run() == nil
	})
	if known < 0 {
		return fmt.Errorf("%s runs none of the examples", other)
	}
	var off [2][]string
	for i, command := range both {
		for _, key := range defaults { // those that the version knows
			flag := "--" + key + "=off"
			if exec.Command(command, "bench", list[known], "--runs", "1", flag).Run() == nil {
				off[i] = append(off[i], flag)
			}
		}
	}
	fmt.Fprintf(w, "%s: %s\nthis: %s\n", other, strings.Join(off[0], " "), strings.Join(off[1], " "))
	const line = "%-16s %9v %9v %6v %8v %9v %12v\n"
	fmt.Fprintf(w, line, "example", "ms", "this", "ratio", "forward", "backward", "steps")
	digits := func(n int, x float64) string { return fmt.Sprintf("%.*f", n, x) }
	for _, path := range list {
		if exec.Command(other, append([]string{"bench", path, "--runs", "1"}, off[0]...)...).Run() != nil {
			fmt.Fprintf(w, "%-16s not run by %s\n", exampleName(path), other)
			continue
		}
		var least [2]timed
		for round := range r.rounds {
			for i, command := range both {
				x, err := r.timed(command, path, off[i])
				if err != nil {
					return err
				}
				if round == 0 {
					least[i] = x
				}
				least[i].least(&x)
			}
		}
		a, b := &least[0], &least[1]
		fmt.Fprintf(w, line, exampleName(path), digits(4, 1e3*a.Gradient.Min), digits(4, 1e3*b.Gradient.Min),
			digits(2, b.Gradient.Min/a.Gradient.Min), digits(2, b.Forward.Min/a.Forward.Min),
			digits(2, b.Adjoint.Min/a.Adjoint.Min), fmt.Sprint(a.Steps, ", ", b.Steps))
	}
	return nil
}

// timed is what odes bench prints.
type timed struct {
	Forward, Adjoint, Gradient struct {
		Min float64 `json:"min_s"`
	}
	Steps int
}

// least takes the times of x that are less.
func (t *timed) least(x *timed) {
	t.Forward.Min, t.Adjoint.Min = min(t.Forward.Min, x.Forward.Min), min(t.Adjoint.Min, x.Adjoint.Min)
	t.Gradient.Min = min(t.Gradient.Min, x.Gradient.Min)
}

// timed measures an example with a command for about exampleTime.
func (r *runner) timed(command, path string, settings []string) (x timed, err error) {
	for runs := 5; ; {
		args := []string{command, "bench", path, "-q", "--format", "json", "--threads", "1", "--runs", fmt.Sprint(runs)}
		out, err := r.output(append(args, settings...), 1)
		if err != nil {
			return x, err
		}
		if err := json.Unmarshal(out, &x); err != nil {
			return x, err
		}
		more := int(min(2*exampleTime.Seconds()/x.Gradient.Min, 2000))
		if runs > 5 || more <= runs {
			return x, nil
		}
		runs = more
	}
}
