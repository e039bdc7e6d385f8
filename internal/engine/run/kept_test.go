package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/solvers/record"
)

// keptWays are settings of solver.checkpoint; every gradient must have the bits that it has with "all".
var keptWays = []string{
	"states", "states(3)", "states(64)", "binomial", "binomial(4)", "binomial(20)", "revolve(ram = 2, disk = 7)",
	"revolve(disk = 5)", "revolve(12)", "stages(1)", "stages(ram = 2, disk = 7)",
}

// keptModels have events, modes, discretes, windows, data, experiments and many parameters.
var keptModels = []string{
	"bounce/bounce", "pk/pk", "thermostat/thermostat", "stairs/stairs", "cart/cart", "glv/glv",
	"izhikevich/izhikevich", "heat2d/heat2d",
}

// sameBits compares two gradients in everything but counts and times.
func sameBits(t *testing.T, what string, got, want *result.Sensitivities) {
	t.Helper()
	same := func(of string, x, y []float64) {
		t.Helper()
		if len(x) != len(y) {
			t.Errorf("%s: %d %s, want %d", what, len(x), of, len(y))
			return
		}
		for i := range x {
			if math.Float64bits(x[i]) != math.Float64bits(y[i]) {
				t.Errorf("%s: number %d of the %s is %v, want %v", what, i, of, x[i], y[i])
				return
			}
		}
	}
	same("derivatives", got.Gradient, want.Gradient)
	same("errors", got.Errors, want.Errors)
	for i := range want.Values {
		same("value of "+want.Values[i].Name, []float64{got.Values[i].Value, got.Values[i].Error},
			[]float64{want.Values[i].Value, want.Values[i].Error})
	}
	if len(got.Events) != len(want.Events) {
		t.Errorf("%s: %d events, want %d", what, len(got.Events), len(want.Events))
		return
	}
	for i := range want.Events {
		same("derivatives of an event's time", got.Events[i].Params, want.Events[i].Params)
	}
	if g, w := messages(got.Warnings), messages(want.Warnings); g != w {
		t.Errorf("%s: it says\n%s\nwant\n%s", what, g, w)
	}
}

// messages joins diagnostics, except those about memory.
func messages(list []diag.Diagnostic) string {
	var b strings.Builder
	for _, d := range list {
		if d.Code != explain.CodeMemory {
			fmt.Fprintln(&b, d.Message)
		}
	}
	return b.String()
}

// TestKeptBits compares one gradient, to the bits, over all ways to keep a run: in every mode, for any
// number of lanes and goroutines, with and without programs of whole steps, and from run to run of one
// Runner.
//
//odes:goroutines
func TestKeptBits(t *testing.T) {
	for i, name := range keptModels {
		m, err := ParseFile("../../../examples/" + name + ".ode")
		if err != nil {
			t.Fatal(err)
		}
		for k, way := range keptWays {
			for j, c := range []struct {
				mode           string
				lanes, threads int
				whole          int
				error          string
			}{
				{"adjoint", 0, 1, 0, "off"},
				{"adjoint", 1, 3, 5, "on"},
				{"adjoint", 2, 1, math.MaxInt, "off"},
				{"tangent", 3, 1, 0, "off"},
				{"continuous", 1, 1, 0, "off"},
			} {
				if (i+j+k)%4 != 0 || j > 2 && name == "heat2d/heat2d" { // a part of all that is possible
					continue
				}
				get := func(checkpoint string, runs int) *result.Sensitivities {
					t.Helper()
					r, err := m.Prepare(Options{
						compileAfter: &compiled.CompileAfter{Small: c.whole, Large: c.whole},
						Lanes:        c.lanes, Threads: c.threads, EventTimes: true, Settings: []Setting{
							{"sens.mode", c.mode},
							{"sens.error", c.error},
							{"solver.checkpoint", checkpoint},
							{"solver.rtol", "1e-5"},
							{"sens.rtol", "1e-3"},
						},
					})
					if err != nil {
						t.Fatal(err)
					}
					var s *result.Sensitivities
					for range runs {
						if s, err = r.Sensitivities(context.Background()); err != nil {
							t.Fatal(name, err)
						}
					}
					return s
				}
				want := get("all", 1)
				what := fmt.Sprintf("%s, %s, %+v", name, way, c)
				got := get(way, 2)
				sameBits(t, what, got, want)
				none := got.Stats.RecomputedSteps == 0 && !strings.HasPrefix(way, "stages") // whole steps may suffice
				if none || want.Stats.RecomputedSteps != 0 {
					t.Errorf("%s: %d steps recomputed, %d where all are kept", what, got.Stats.RecomputedSteps,
						want.Stats.RecomputedSteps)
				}
				if want.Settings.Checkpoint != "all" || strings.HasPrefix(way, "states") &&
					got.Settings.Checkpoint != way {
					t.Errorf("%s: reported as %s and %s", what, want.Settings.Checkpoint, got.Settings.Checkpoint)
				}
			}
		}
	}
}

// TestKeptMethods makes this comparison for every method, on the example with the most events.
func TestKeptMethods(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	m, err := ParseFile("../../../examples/pk/pk.ode")
	if err != nil {
		t.Fatal(err)
	}
	for _, tab := range methods.All() {
		if tab.Can.Has(solvers.SplitRates) { // imex_test.go
			continue
		}
		get := func(checkpoint string) *result.Sensitivities {
			t.Helper()
			settings := []Setting{
				{"solver.method", tab.Name},
				{"solver.checkpoint", checkpoint},
				{"solver.rtol", "1e-4"},
			}
			if tab.Embedded == 0 {
				settings = append(settings, Setting{"solver.fixed_step", "0.05"})
			}
			s, err := m.Sensitivities(t.Context(), Options{Settings: settings, Threads: 1})
			if err != nil {
				t.Fatal(tab.Name, err)
			}
			return s
		}
		want := get("all")
		for _, way := range []string{"states", "states(10)", "binomial(6)"} {
			sameBits(t, tab.Name+", "+way, get(way), want)
		}
	}
}

// hundred is a small model of many steps.
const hundred = `model Hundred
time t from 0 to 50
param k = 1, w = 3
state x = 1, v = 0
x' = v
v' = -w^2*x - 0.01*k*v + sin(t)
event kick at 20 { v += k }
objective J = final(x^2) + integral(v^2)
objective K = sum_at(grid(1, 49, 60), x)
`

// TestKeptLess has memory for a part of the run only. The gradient must be the same, with a note. The
// next run of the Runner does not try to keep more. With checkpoint = all it is an error.
func TestKeptLess(t *testing.T) {
	m, err := Parse("m.ode", hundred, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	get := func(settings ...Setting) (*result.Sensitivities, error) {
		r, err := m.Prepare(Options{Threads: 1, Settings: append(settings, Setting{"solver.rtol", "1e-9"})})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Sensitivities(t.Context()); err != nil {
			return nil, err
		}
		return r.Sensitivities(t.Context())
	}
	want, err := get()
	if err != nil {
		t.Fatal(err)
	}
	got, err := get(Setting{"solver.memory", `"400 kB"`})
	if err != nil {
		t.Fatal(err)
	}
	sameBits(t, "400 kB", got, want)
	said := false
	for _, d := range got.Warnings {
		said = said || d.Code == explain.CodeMemory && d.Level == diag.Note && strings.Contains(d.Message, "400 kB")
	}
	if !said || got.Stats.RecomputedSteps == 0 || got.Stats.PeakTrajectoryBytes > 400_000 ||
		got.Settings.Checkpoint == "all" {
		t.Errorf("said %v, %+v, %+v", said, got.Stats, got.Settings)
	}
	for _, c := range []struct{ settings, says string }{
		{"all", "with checkpoint = all"},
		{"binomial(30000)", "revolve(ram = "},
	} {
		_, err := get(Setting{"solver.memory", `"100 kB"`}, Setting{"solver.checkpoint", c.settings})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.settings, err)
		}
	}
	// checkpoint was left out: it is not what to change.
	if _, err := get(Setting{"solver.memory", `"30 kB"`}); err == nil ||
		!strings.Contains(err.Error(), "kept and nothing else, at t = ") ||
		!strings.Contains(err.Error(), "raise solver.memory, or loosen rtol") {
		t.Error(err)
	}
}

// TestFactorsGiveWay has memory for the stages of a run with many events, and not for the factors of its steps as well,
// which only save work: they are given up, also where it is an event that finds no room. Nothing is computed again, and
// checkpoint = all is no error.
func TestFactorsGiveWay(t *testing.T) {
	m, err := Parse("m.ode", `
time t from 0 to 3
const n = 30
param D = 20, s = 1
state u[n] = [1 + 0.3*sin(i) for i in 1:n]
u[1]' = D*(u[2] - u[1]) + s
u[n]' = D*(u[n-1] - u[n]) - 3*u[n]^2
u[i]' = D*(u[i-1] - 2*u[i] + u[i+1]) + s*cos(40*t) for i in 2:n-1
event tick every 0.05 { u[3] = u[3] + 0.01*s }
objective J = integral(sum(u*u))
solver { method = rodas4  rtol = 1e-5 }
sens { trust = off  error = off }
`, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	get := func(memory, checkpoint string) *result.Sensitivities {
		t.Helper()
		s, err := m.Sensitivities(t.Context(), Options{Threads: 1, Settings: []Setting{
			{"solver.memory", memory},
			{"solver.checkpoint", checkpoint},
		}})
		if err != nil {
			t.Fatal(memory, err)
		}
		return s
	}
	want := get(`"10 MB"`, "all")
	most := want.Stats.PeakTrajectoryBytes
	for part := 0.6; part < 1; part += 0.05 {
		memory := fmt.Sprintf(`"%d B"`, int64(part*float64(most)))
		got := get(memory, "all")
		sameBits(t, memory, got, want)
		if got.Stats.RecomputedSteps > 0 || got.Stats.PeakTrajectoryBytes > int64(0.6*float64(most)) {
			t.Errorf("%s of %d: %+v", memory, most, got.Stats)
		}
	}
}

// TestNotesStay runs a Runner many times. The notes of a run must not replace those of Prepare.
func TestNotesStay(t *testing.T) {
	m, err := Parse("m.ode", hundred, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Prepare(Options{Threads: 1, Settings: []Setting{
		{"solver.memory", `"100 kB"`},
		{"solver.rtol", "1e-9"},
		{"solver.method", "auto"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for run := range 3 {
		s, err := r.Sensitivities(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var codes []string
		for _, d := range s.Warnings {
			codes = append(codes, string(d.Code))
		}
		if got := strings.Join(codes, " "); got != "auto memory" {
			t.Errorf("run %d: %s", run+1, got)
		}
	}
}

// TestMemorySizes checks what solver.memory may be.
func TestMemorySizes(t *testing.T) {
	m, err := Parse("m.ode", hundred, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`"2 GB"`, "2e9", `"1e9"`, `"1 GiB"`} {
		if _, err := m.Prepare(Options{Settings: []Setting{{"solver.memory", text}}}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"0", "0.5", "-1", "1e30", `"1e400 GB"`, `"0.1 B"`, `"NaN"`, `"abc"`, "abc"} {
		if _, err := m.Prepare(Options{Settings: []Setting{{"solver.memory", text}}}); err == nil ||
			!strings.Contains(err.Error(), "takes a size") {
			t.Errorf("%s: %v", text, err)
		}
	}
	_, err = m.Prepare(Options{Settings: []Setting{{"solver.memory", `"8 B"`}}})
	if err == nil || !strings.Contains(err.Error(), "B, more than memory = 8 B;") {
		t.Error(err)
	}
}

// TestKeptOnDisk checks that no file is left, and that a file which cannot be made is an error that
// says what to do.
func TestKeptOnDisk(t *testing.T) {
	m, err := Parse("m.ode", hundred, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	o := Options{Threads: 1, Settings: []Setting{{"solver.checkpoint", "revolve(ram = 3, disk = 30)"}}}
	left := func(when string) {
		t.Helper()
		if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
			t.Errorf("%s: %v %v", when, list, err)
		}
	}
	if _, err := m.Sensitivities(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	left("after a run")
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(result.Progress) { cancel() }
	if _, err := m.Sensitivities(ctx, o); err != nil && !explain.Interrupted(err) {
		t.Error(err)
	}
	left("after an interrupted run")
	cancel()
	bad := filepath.Join(dir, "missing")
	t.Setenv("TMPDIR", bad)
	t.Setenv("TMP", bad)
	_, err = m.Sensitivities(t.Context(), o)
	var disk *record.DiskError
	if !errors.As(err, &disk) || !strings.Contains(err.Error(), "TMP") || !strings.Contains(err.Error(), bad) {
		t.Error(err)
	}
}

// TestKeptSecond checks that second derivatives and largest values have the same bits.
func TestKeptSecond(t *testing.T) {
	m, err := Parse("m.ode", strings.Replace(hundred, "event", "objective top = max_over(x*v)\nevent", 1),
		ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"adjoint", "tangent"} {
		var want *result.Sensitivities
		for _, way := range append([]string{"all"}, keptWays...) {
			s, err := m.Sensitivities(t.Context(), Options{Threads: 2, Settings: []Setting{
				{"solver.checkpoint", way}, {"sens.mode", mode}, {"sens.of", "top"}, {"solver.rtol", "1e-5"},
			}})
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = s
			}
			sameBits(t, mode+" of max_over, "+way, s, want)
		}
	}
	var want []float64
	for _, way := range append([]string{"all"}, keptWays...) {
		s, err := m.Sensitivities(t.Context(), Options{Threads: 2, Settings: []Setting{
			{"solver.checkpoint", way}, {"sens.order", "2"}, {"sens.of", "[J, K]"}, {"solver.rtol", "1e-4"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Hessian) == 0 {
			t.Fatal("no second derivatives")
		}
		if want == nil {
			want = append(want, s.Hessian...)
		}
		for i, x := range s.Hessian {
			if math.Float64bits(x) != math.Float64bits(want[i]) {
				t.Fatalf("%s: second derivative %d is %v, want %v", way, i, x, want[i])
			}
		}
	}
}

// TestSecondInFile computes Hessians of a run of many steps whose states are in a file. The tangents along the run are
// in files as well, which take what they have room for, and are closed afterwards; the bits are those of a run in
// memory. The memory does not grow with the number of steps. A file that fails is an error.
func TestSecondInFile(t *testing.T) {
	const long = `model Long
time t from 0 to 2
param k = 1.3, x0 = 0.2
state x = x0
x' = k*x*(1 - x)
event when x crosses 0.5 up { x = 0.9*x }
objective a = final(x)^2
objective b = integral(x^3) + sum_at([0.3, 1.7], x^2)
sens { order = 2 trust = off }
solver { method = rk4 }
`
	m, err := Parse("m.ode", long, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	prepare := func(way, step string, lanes, threads int, open func() (record.Disk, error)) *Runner {
		r, err := m.Prepare(Options{Lanes: lanes, Threads: threads, Settings: []Setting{
			{"solver.checkpoint", way}, {"solver.fixed_step", step},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if open != nil {
			r.trajectory.Open = open
		}
		return r
	}
	second := func(r *Runner) []float64 {
		t.Helper()
		s, err := r.Sensitivities(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return append([]float64(nil), s.Hessian...)
	}
	whole := prepare("all", "4e-4", 2, 1, nil)
	want := second(whole)
	if len(want) != 8 {
		t.Fatalf("%d second derivatives", len(want))
	}
	for _, c := range []struct {
		way            string
		lanes, threads int
	}{
		{"states(every = 100, ram = 2)", 2, 1},
		{"revolve(ram = 3, disk = 90)", 2, 2},
		{"stages(ram = 3, disk = 90)", 2, 1},
	} {
		var opened diskCounts
		r := prepare(c.way, "4e-4", c.lanes, c.threads, opened.open)
		for range 2 {
			for i, x := range second(r) {
				if math.Float64bits(x) != math.Float64bits(want[i]) {
					t.Fatalf("%+v: second derivative %d is %v, want %v", c, i, x, want[i])
				}
			}
		}
		few := sens.PathBytes(&r.trajectory, c.lanes)
		if all := int64(r.trajectory.Steps()) * int64(8*c.lanes*(1+2)); opened.written < all || few > all {
			t.Errorf("%+v: %d bytes in files and %d in memory, of %d", c, opened.written, few, all)
		}
		fine := prepare(c.way, "2e-4", c.lanes, c.threads, nil)
		second(fine)
		if b := sens.PathBytes(&fine.trajectory, c.lanes); b != few {
			t.Errorf("%+v: the memory grows from %d to %d bytes", c, few, b)
		}
		r.trajectory.Close()
		if opened.files < 3 || opened.closed != opened.files {
			t.Errorf("%+v: %d files opened, %d closed", c, opened.files, opened.closed)
		}

		broken := diskCounts{most: opened.written / 4}
		_, err := prepare(c.way, "4e-4", c.lanes, c.threads, broken.open).Sensitivities(t.Context())
		var disk *record.DiskError
		if !errors.As(err, &disk) {
			t.Errorf("%+v: a full disk: %v", c, err)
		}
	}
}

// diskCounts opens files in memory and counts them, and what is written to them. They take at most most bytes; 0 is no
// limit.
type diskCounts struct {
	sync.Mutex
	files, closed int
	written, most int64
}

type countedDisk struct {
	data   []byte
	counts *diskCounts
	closed bool
}

func (c *diskCounts) open() (record.Disk, error) {
	c.Lock()
	defer c.Unlock()
	c.files++
	return &countedDisk{counts: c}, nil
}

func (d *countedDisk) WriteAt(p []byte, off int64) (int, error) {
	d.counts.Lock()
	defer d.counts.Unlock()
	if d.counts.written += int64(len(p)); d.counts.most > 0 && d.counts.written > d.counts.most {
		return 0, errors.New("no space left")
	}
	d.data = append(d.data, make([]byte, max(0, int(off)+len(p)-len(d.data)))...)
	return copy(d.data[off:], p), nil
}

func (d *countedDisk) ReadAt(p []byte, off int64) (int, error) {
	d.counts.Lock()
	defer d.counts.Unlock()
	return copy(p, d.data[off:]), nil
}

func (d *countedDisk) Close() error {
	d.counts.Lock()
	defer d.counts.Unlock()
	if !d.closed {
		d.closed = true
		d.counts.closed++
	}
	return nil
}

// TestCheckpointSettings checks what solver.checkpoint may be, and what it may not.
func TestCheckpointSettings(t *testing.T) {
	m, err := Parse("m.ode", hundred, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		want string // "" for an error
	}{
		{"all", "all"},
		{"states", "states"},
		{"states(1)", "states"},
		{"states(10)", "states(10)"},
		{"binomial", "binomial"},
		{"binomial(20)", "binomial(20)"},
		{"revolve(20)", "binomial(20)"},
		{"revolve(ram = 20)", "binomial(20)"},
		{"revolve(ram = 20, disk = 3)", "revolve(ram = 20, disk = 3)"},
		{"revolve(20, disk = 3)", "revolve(ram = 20, disk = 3)"},
		{"revolve(disk = 3)", "revolve(disk = 3)"},
		{"stages", "stages"},
		{"stages(3)", "stages(3)"},
		{"stages(ram = 3)", "stages(3)"},
		{"stages(3, disk = 4)", "stages(ram = 3, disk = 4)"},
		{"stages(disk = 4)", "stages(disk = 4)"},
		{"stages(0)", ""},
		{"stages()", ""},
		{"some", ""},
		{"3", ""},
		{`"all"`, ""},
		{"[all]", ""},
		{"all(3)", ""},
		{"states()", ""},
		{"states(0)", ""},
		{"states(2.5)", ""},
		{"states(2, 3)", ""},
		{"states(k = 2)", ""},
		{"every(2)", ""},
		{"binomial(-1)", ""},
		{"binomial(ram = 3)", ""},
		{"binomial()", ""},
		{"revolve", ""},
		{"revolve()", ""},
		{"revolve(ram = 0)", ""},
		{"revolve(ram = 2, tape = 3)", ""},
		{"revolve(2, ram = 3)", ""},
		{"revolve(ram = 2, ram = 3)", ""},
		{"revolve(disk = 2, disk = 3)", ""},
		{"revolve(ram = 1e12)", ""},
	} {
		s, err := m.Solve(t.Context(), Options{Settings: []Setting{{"solver.checkpoint", c.text}}})
		switch {
		case err != nil:
			if c.want != "" || !strings.Contains(err.Error(), "checkpoint") {
				t.Errorf("%s: %v", c.text, err)
			}
		case s.Settings.Checkpoint != c.want:
			t.Errorf("%s is %s, want %q", c.text, s.Settings.Checkpoint, c.want)
		}
	}
}

// TestWalksAgain holds that a walk backwards costs no more than the first where a gradient is taken again: one that is
// not finite is, to find out why.
func TestWalksAgain(t *testing.T) {
	m, err := Parse("m.ode", `
time t from 0 to 100
param a = 1, k = 0
state x = 1, z = 0
x' = -0.01*a*x
z' = k*a
objective J = final(x + sqrt(z))
`, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), Options{Settings: []Setting{
		{"solver.fixed_step", "0.1"}, {"solver.checkpoint", "binomial(20)"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(s.Gradient[1], 0) && !math.IsNaN(s.Gradient[1]) {
		t.Fatalf("the gradient is %v, and should not be finite", s.Gradient)
	}
	if s.Stats.Steps < 1000 || s.Stats.RecomputedSteps > 20*s.Stats.Steps {
		t.Errorf("%d steps, of which %d were made again", s.Stats.Steps, s.Stats.RecomputedSteps)
	}
}

// TestKeptExperiments compares sums over experiments, to the bits, over all ways to keep a run.
//
//odes:goroutines
func TestKeptExperiments(t *testing.T) {
	m, err := Parse("m.ode", `model M
time t from 0 to 2
param k = 1
state x = 1
x' = -k*x
data D { time = [1, 2]  y = [0.4, 0.1] }
observe y = x ~ normal(0.1) from D.y
experiment a { use D }
experiment b { k = 2*k  use D }
objective J = nll() + final(x)
`, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := m.Sensitivities(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range keptWays {
		s, err := m.Sensitivities(t.Context(), Options{Settings: []Setting{{"solver.checkpoint", way}}})
		if err != nil {
			t.Fatal(err)
		}
		sameBits(t, "experiments, "+way, s, all)
	}
}

// TestExperimentsShareMemory: the records of all experiments, and of their independent runs, which are kept at once,
// have together the room that one run has.
func TestExperimentsShareMemory(t *testing.T) {
	text := "time t from 0 to 1\nparam k = 1\nstate x = 1\nx' = -k*x\ndata D { time = [1]  u = [0.4] }\n" +
		"observe o = x ~ normal(1) from D.u\nobjective J = nll()\nsolver { memory = 8e9 }\n"
	alone := recorded(t, text)
	const n = 40
	for i := range n {
		text += fmt.Sprintf("experiment e%d {\n  k = %d\n  use D\n}\n", i, i+1)
	}
	r := recorded(t, text)
	if len(r.parts) != n {
		t.Fatalf("%d parts", len(r.parts))
	}
	sum := r.trajectory.Limit
	for _, part := range r.parts {
		if part.trajectory.Limit <= 0 {
			t.Fatalf("a record of %d bytes", part.trajectory.Limit)
		}
		sum += part.trajectory.Limit
	}
	if sum > alone.trajectory.Limit || sum < alone.trajectory.Limit/2 {
		t.Errorf("%d bytes, and %d for a run alone", sum, alone.trajectory.Limit)
	}
}

// recorded prepares a run of a model with a gradient.
func recorded(t *testing.T, text string) *Runner {
	t.Helper()
	m, err := Parse("recorded.ode", text, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Prepare(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
