package export_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/typecheck"
)

// harness prints the values at the start, and at points that it reads rates and outputs.
const harness = `
#include <stdio.h>
static double p[M_n_params + 1], y[M_n_values + 1], dy[M_n_values + 1], out[M_n_outputs + 1];
static void print(const double *v, int n)
{
    int i;
    for (i = 0; i < n; i++)
        printf("%.17g\n", v[i]);
}
int main(void)
{
    double t;
    int i;
    M_defaults(p);
    M_span(p, &t, dy);
    print(&t, 1);
    print(dy, 1);
    M_start(p, y);
    print(y, M_n_values);
    while (scanf("%lf", &t) == 1) {
        for (i = 0; i < M_n_values; i++)
            if (scanf("%lf", &y[i]) != 1)
                return 1;
        M_rates(t, y, p, dy);
        print(dy, M_n_values);
        M_outputs(t, y, p, out);
        print(out, M_n_outputs);
    }
    return 0;
}
`

// compileC compiles a file in C, with all warnings as errors, and returns the program.
func compileC(t *testing.T, text, main string) string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no C compiler")
	}
	_, rest, _ := strings.Cut(text, "enum {\n    ")
	prefix, _, _ := strings.Cut(rest, "_n_params = ")
	dir := t.TempDir()
	source := filepath.Join(dir, "model.c")
	program := text + strings.ReplaceAll(main, "M_", prefix+"_")
	if err := os.WriteFile(source, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "model")
	said, err := exec.Command(gcc, "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-o", binary, source,
		"-lm").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.3000s", err, said)
	}
	return binary
}

// compareC compares what a model is in C with what it is here: the start, and rates and outputs at points around it.
func compareC(t *testing.T, name, text string, files fs.FS) (worst float64) {
	t.Helper()
	written, _, err := exported("c", name, text, files, "")
	if err != nil {
		t.Skip(strings.Split(err.Error(), "\n")[0])
	}
	if len(written) > maxLength && *others == "" {
		t.Skip(errLong)
	}
	binary := compileC(t, written, harness)
	_, count, _ := strings.Cut(written, "_n_values = ")
	values := 0
	if _, err := fmt.Sscan(count[:strings.IndexByte(count, ',')], &values); err != nil {
		t.Fatal(err)
	}
	var list diag.List
	checked, _ := compile.Text(name, text, typecheck.Env{Files: files}, &list)
	m, _ := compile.Model(checked, &list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	point := m.NewPoint(nil, &list)
	problem := system.NewProblem(m, point, nil, nil)
	kit, err := problem.Kit(1, compiled.Values, false)
	if err != nil {
		t.Fatal(err)
	}
	w := problem.Worker(kit)
	size := w.Size()
	y, d, modes := make([]float64, size.N), make([]float64, size.D), make([]float64, size.M)
	span := numbers(t, exec.Command(binary))
	from, to := span[0], span[1]
	w.Start(from, y, d)
	want := span[:2:2]
	flags := make([]float64, values-len(y)-len(d)) // of events that fire once
	want = append(append(append(want, y...), d...), flags...)
	var in bytes.Buffer
	random := rand.New(rand.NewPCG(1, 2))
	start := append([]float64(nil), y...)
	rates, outputs := make([]float64, size.N+size.Q), make([]float64, w.OutputWidth())
	for k := range 5 {
		time := from + (to-from)*random.Float64()
		for i := range y {
			y[i] = start[i]*(1+0.1*random.NormFloat64()) + 0.01*float64(k)*random.NormFloat64()
		}
		fmt.Fprintf(&in, "%.17g", time)
		for _, v := range slices.Concat(y, d, flags) {
			fmt.Fprintf(&in, " %.17g", v)
		}
		fmt.Fprintln(&in)
		w.Enter(d, modes)
		w.Choose(time, y, nil, modes)
		w.Enter(d, modes)
		w.Eval(time, y, rates)
		w.Outputs(time, y, d, outputs)
		want = slices.Concat(want, rates[:size.N], make([]float64, values-len(y)), outputs)
	}
	run := exec.Command(binary)
	run.Stdin = &in
	got := numbers(t, run)
	if len(got) != len(want) {
		t.Fatalf("%d numbers, want %d", len(got), len(want))
	}
	scale := 0.0
	for i, v := range want {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			scale = max(scale, math.Abs(v))
		}
		if got[i] == v || math.IsNaN(got[i]) && math.IsNaN(v) {
			continue
		}
		if e := math.Abs(got[i]-v) / max(math.Abs(v), 1e-6*scale); !(e <= worst) {
			worst = e
		}
	}
	return worst
}

// numbers returns what a program prints.
func numbers(t *testing.T, run *exec.Cmd) (list []float64) {
	t.Helper()
	said, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(said)); lines.Scan(); {
		v, err := strconv.ParseFloat(strings.Replace(lines.Text(), "-nan", "nan", 1), 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

// TestC compares the examples in C with what they are here.
func TestC(t *testing.T) {
	for _, f := range modelFiles(t) {
		t.Run(filepath.Base(f), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if d := compareC(t, filepath.Base(f), string(text), os.DirFS(filepath.Dir(f))); d > 1e-12 {
				t.Errorf("%.1e", d)
			}
		})
	}
}

func writeFile(path string, data []byte) error { return os.WriteFile(path, data, 0o666) }

// solver is a small one for the events of a file: steps of Runge and Kutta's method, and bisection for roots.
const solver = `
#include <stdio.h>
static double p[M_n_params + 1], y[M_n_values + 1], before[M_n_values + 1], g[M_n_events + 1], was[M_n_events + 1];
static void step(double t, const double *from, double h, double *to)
{
    double k1[M_n_values + 1], k2[M_n_values + 1], k3[M_n_values + 1], k4[M_n_values + 1], at[M_n_values + 1];
    int i;
    M_rates(t, from, p, k1);
    for (i = 0; i < M_n_values; i++)
        at[i] = from[i] + h/2*k1[i];
    M_rates(t + h/2, at, p, k2);
    for (i = 0; i < M_n_values; i++)
        at[i] = from[i] + h/2*k2[i];
    M_rates(t + h/2, at, p, k3);
    for (i = 0; i < M_n_values; i++)
        at[i] = from[i] + h*k3[i];
    M_rates(t + h, at, p, k4);
    for (i = 0; i < M_n_values; i++)
        to[i] = from[i] + h/6*(k1[i] + 2*k2[i] + 2*k3[i] + k4[i]);
}
static int crossed(int event)
{
    return (M_ways[event] >= 0 && was[event] < 0.0 && g[event] >= 0.0) ||
        (M_ways[event] <= 0 && was[event] > 0.0 && g[event] <= 0.0);
}
int main(void)
{
    double t, from, to, h, after;
    int i, e, ended = 0;
    M_defaults(p);
    M_start(p, y);
    M_span(p, &from, &to);
    t = from;
    after = nextafter(from, -INFINITY);
    ROOTS(t, y, was);
    while (t < to && !ended) {
        double due = to;
        int timed = -1, root = -1;
        for (e = M_n_roots; e < M_n_events; e++) {
            const double next = NEXT(e, after);
            if (next < due) {
                due = next;
                timed = e;
            }
        }
        for (i = 0; i < M_n_values; i++)
            before[i] = y[i];
        h = (to - from)/STEPS;
        if (t + h < due)
            timed = -1;
        else
            h = due - t;
        step(t, before, h, y);
        ROOTS(t + h, y, g);
        for (e = 0; e < M_n_roots; e++)
            if (crossed(e)) {
                double lo = 0.0, hi = h;
                for (i = 0; i < 80; i++) {
                    const double mid = lo + (hi - lo)/2;
                    step(t, before, mid, y);
                    ROOTS(t + mid, y, g);
                    if (crossed(e))
                        hi = mid;
                    else
                        lo = mid;
                }
                h = hi;
                step(t, before, h, y);
                ROOTS(t + h, y, g);
                root = e;
                timed = -1;
            }
        t += h;
        if (timed >= 0) {
            t = due;
            after = due;
        }
        if (root >= 0 || timed >= 0) {
            ended = M_fire(root >= 0 ? root : timed, t, y, p);
            ROOTS(t, y, g);
            for (e = 0; e < M_n_roots; e++)
                was[e] = e == root ? 0.0 : g[e];
            continue;
        }
        for (e = 0; e < M_n_roots; e++)
            was[e] = g[e];
    }
    printf("%.17g\n", t);
    for (i = 0; i < M_n_values; i++)
        printf("%.17g\n", y[i]);
    return 0;
}
`

// TestCEvents runs examples with events in C, by a solver of its own, and compares the ends of the runs.
func TestCEvents(t *testing.T) {
	for _, c := range []struct {
		file   string
		steps  string
		within float64
	}{
		{"bounce", "2000", 1e-9},
		{"pk", "4000", 1e-8},
		{"thermostat", "4000", 1e-8},
		{"stairs", "4000", 1e-8},
		{"swing", "4000", 1e-8},
		{"projectile", "2000", 1e-9},
		{"harvest", "4000", 1e-7},
	} {
		t.Run(c.file, func(t *testing.T) {
			dir := filepath.Join("../../../examples", c.file)
			name := c.file + ".ode"
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			written, _, err := exported("c", name, string(text), os.DirFS(dir), "")
			if err != nil {
				t.Fatal(err)
			}
			roots, next := "M_root_functions(a, b, p, c)", "M_next_time(e, a, y, p)"
			if !strings.Contains(written, "_root_functions(") {
				roots = "(void)(c)"
			}
			if !strings.Contains(written, "_next_time(") {
				next = "INFINITY; (void)(e), (void)(a)"
			}
			program := "\n#define ROOTS(a, b, c) " + roots + "\n#define NEXT(e, a) " + next + "\n#define STEPS " +
				c.steps + ".0\n" + solver
			got := numbers(t, exec.Command(compileC(t, written, program)))
			m, err := odes.Parse(name, string(text), odes.ParseOptions{Files: os.DirFS(dir)})
			if err != nil {
				t.Fatal(err)
			}
			symbols, err := m.Symbols(nil)
			if err != nil {
				t.Fatal(err)
			}
			more := string(text)
			for _, s := range symbols {
				if s.Kind == "state" {
					more += "\noutput end_of_" + s.Name + " = " + s.Name
				}
			}
			m, err = odes.Parse(name, more, odes.ParseOptions{Files: os.DirFS(dir)})
			if err != nil {
				t.Fatal(err)
			}
			s, err := m.Solve(context.Background(), odes.Options{Settings: settings})
			if err != nil {
				t.Fatal(err)
			}
			want := []float64{s.To}
			for _, o := range s.Outputs {
				if strings.HasPrefix(o.Name, "end_of_") {
					want = append(want, o.Values[len(o.Values)-1])
				}
			}
			if len(want) < 2 {
				t.Fatal("no states")
			}
			for k, v := range want {
				if e := math.Abs(got[k]-v) / max(1, math.Abs(v)); !(e <= c.within) {
					t.Errorf("number %d is %v in C and %v here", k, got[k], v)
				}
			}
		})
	}
}
