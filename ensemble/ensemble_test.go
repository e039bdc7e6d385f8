package ensemble

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
)

// ball bounces, and fails for large g: an assert refuses some values, and others end the run early.
const ball = `
time t from 0 to 2
param g = 9.81
param e = 0.8
state x = 2
state v = 0
x' = v
v' = -g
event bounce when x <= 0 { v = -e*v }
assert g < 18
objective height = final(x)
objective path = integral(x)
solver { rtol = 1e-8 }
`

func job(text string, d Design) *Job {
	return &Job{Model: Source{Name: "test.ode", Text: text}, Design: d, Gradient: true}
}

func span(name string, lo, hi float64) Axis { return Span(name, "", lo, hi, false, 0) }

func open(t *testing.T, j *Job) *Problem {
	t.Helper()
	p, err := Open(j)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// gather runs a problem and returns its chunks as one.
func gather(t *testing.T, p *Problem, c Config) *Chunk {
	t.Helper()
	all := &Chunk{}
	c.Each = func(c *Chunk) error {
		if c.First != len(all.Status) {
			t.Fatalf("chunk %d begins with member %d after %d", c.Index, c.First, len(all.Status))
		}
		all.Status = append(all.Status, c.Status...)
		all.Steps = append(all.Steps, c.Steps...)
		all.Rows = append(all.Rows, c.Rows...)
		all.Failures = append(all.Failures, c.Failures...)
		return nil
	}
	if _, err := Run(context.Background(), p, c); err != nil {
		t.Fatal(err)
	}
	return all
}

func ballJob() *Job {
	return job(ball, Design{Points: "sobol", N: 100, Seed: 1, Axes: []Axis{
		span("g", 5, 20), span("e", 0.6, 0.95), span("initial(x)", 1, 3),
	}})
}

// Every member has the bits that it has alone, whatever runs before it, on how many threads, in how large chunks.
func TestBitsOfEachAlone(t *testing.T) {
	p := open(t, ballJob())
	all := gather(t, p, Config{})
	width := p.Table.Width()
	failed := 0
	for i := range 100 {
		opts := odes.Options{
			Set: p.Assign(i), Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}}, Threads: 1, Events: -1,
		}
		s, err := p.Model.Sensitivities(context.Background(), opts)
		if (err != nil) != (all.Status[i] == Failed) {
			t.Fatalf("member %d: %v alone, %v among others", i, err, all.Status[i])
		}
		if err != nil {
			failed++
			continue
		}
		row := all.Rows[i*width+len(p.Table.Params) : (i+1)*width]
		for k, v := range s.Values {
			if v.Value != row[k] {
				t.Errorf("member %d: %s is %g alone and %g among others", i, v.Name, v.Value, row[k])
			}
		}
		if !slices.Equal(s.Gradient, row[len(s.Values):]) {
			t.Errorf("member %d: the gradient is %v alone and %v among others", i, s.Gradient, row[len(s.Values):])
		}
	}
	if failed < 5 || failed > 50 || failed != len(all.Failures) {
		t.Errorf("%d members failed, and there are %d failures", failed, len(all.Failures))
	}
	if !slices.ContainsFunc(all.Failures, func(f Failure) bool { return f.Code == string(odes.CodeAssert) }) {
		t.Errorf("no failure is that of the assert: %+v", all.Failures)
	}
	for _, c := range []struct{ threads, chunk int }{{1, 1}, {3, 7}, {2, 100}} {
		j := ballJob()
		j.Chunk = c.chunk
		again := gather(t, open(t, j), Config{Backend: Local{Threads: c.threads}})
		if !bytes.Equal(again.Encode(), all.Encode()) {
			t.Errorf("%d threads and chunks of %d members give other bytes", c.threads, c.chunk)
		}
	}
}

// Members that are run side by side have the bytes that they have one by one, beside others that fail.
func TestSideBySide(t *testing.T) {
	const text = `
time t from 0 to 2
param a = 0.4
param b = 1
state x = 1
state y = 0
x' = a*x^2
y' = x - b*y
assert b < 1.9
objective last = final(x)
objective sum = integral(x*y)
`
	for _, c := range []struct {
		gradient bool
		times    []Real
		more     string
	}{
		{gradient: true},
		{},
		{times: []Real{0, 0.5, 1, 1.5, 2}, more: "event enough when y > 1 { stop }\nevent jump at 1 { y = 0.5*y }\n"},
		{times: []Real{0.3, 2, 7}, more: "output z = x*y\n"},
	} {
		j := job(text+c.more, Design{Points: "random", N: 300, Seed: 1, Axes: []Axis{
			span("a", 0.1, 0.55), span("b", 0.5, 2), span("initial(y)", 0, 1),
		}})
		j.Gradient, j.Times, j.Chunk = c.gradient, c.times, 61
		p := open(t, j)
		lanes, alone := p.Worker(), p.Worker()
		alone.tried = true
		failed := 0
		for i := range p.Chunks() {
			got, err := lanes.Compute(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			want, err := alone.Compute(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			if failed += len(got.Failures); !bytes.Equal(got.Encode(), want.Encode()) {
				t.Errorf("%+v: chunk %d differs", c, i)
			}
		}
		if lanes.lanes == nil || failed < 10 || failed > 100 {
			t.Errorf("%+v: lanes %v, %d failures", c, lanes.lanes != nil, failed)
		}
	}
}

// What differs is found by its whole name, and has its unit; names with blanks stand in backquotes.
func TestNamesOfAxes(t *testing.T) {
	m, err := odes.Parse("test.ode", `
time t : [h] from 0 to 1
param `+"`k, el`"+` = 1 [1/h] in [0.5, 2]
state x : [mg] = 1
state x2 : [g] = 7
state `+"`a b`"+`[2] : [L] = 5
x' = -`+"`k, el`"+`*x
x2' = -`+"`k, el`"+`*x2
`+"`a b`"+`[i]' = 0 [L/h] for i in 1:2
objective J = final(x)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	axes, err := ReadAxes(m, nil,
		"`k, el`, initial(x2) from 1 to 2, initial(`a b`[2]) from 3 to 4, initial(`a b`)[1] ~ normal(5, 1)")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range axes {
		got = append(got, a.Name+" ["+a.Unit+"]")
	}
	want := []string{"k, el [1/h]", "initial(x2) [g]", "initial(a b[2]) [L]", "initial(a b)[1] [L]"}
	if !slices.Equal(got, want) {
		t.Errorf("axes %q, want %q", got, want)
	}
}

// What has no value in a member has no derivatives there either, and statistics leave both out.
func TestNoValue(t *testing.T) {
	const text = `
time t from 0 to 1
param a = 1
state x = 0
x' = a
event there when x >= 1 { }
objective came = event_time(there, 1)
objective last = final(x)
`
	p := open(t, job(text, Design{Points: "random", N: 300, Seed: 1, Axes: []Axis{span("a", 0.5, 2)}}))
	s := NewStatistics(&p.Table)
	never := 0
	_, err := Run(context.Background(), p, Config{Each: func(c *Chunk) error {
		s.Add(c)
		for i := range c.Status {
			row := c.Rows[i*p.Table.Width() : (i+1)*p.Table.Width()] // a, came, last, and their derivatives by a and x
			a := row[0]
			want := []float64{a, 1 / a, a, -1 / (a * a), -1 / a, 1, 1}
			if a < 1 {
				never++
				want[1], want[3], want[4] = math.NaN(), math.NaN(), math.NaN()
			}
			for k, x := range want {
				if math.IsNaN(x) != math.IsNaN(row[k]) || math.Abs(x-row[k]) > 1e-8 {
					t.Fatalf("a = %g: %g, want %g", a, row, want)
				}
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if never == 0 || s.Partial != never {
		t.Errorf("%d members without a value, of which %d are told", never, s.Partial)
	}
	for k, c := range s.Columns {
		if want := []int{never, 0, never, never, 0, 0}[k]; c.Missing != want {
			t.Errorf("column %d: %d are missing, want %d", k, c.Missing, want)
		}
	}
}

// A panic in what runs members side by side does not end the process. Its error says where it began.
func TestSideBySidePanic(t *testing.T) {
	j := ballJob()
	j.Chunk = 40
	p := open(t, j)
	p.Table.Members = max(p.Table.Members, fewMembers)
	broken := p.Worker()
	broken.tried, broken.lanes = true, new(odes.Lanes) // without anything that it needs
	_, err := broken.Compute(t.Context(), 0)
	if err == nil || broken.lanes != nil {
		t.Fatalf("error %v, lanes %v", err, broken.lanes != nil)
	}
	for _, part := range []string{"members 0 to 39", "internal error: runtime error", "(*Lanes).Run, runs.go:"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if !errors.Is(err, errPanic) {
		t.Errorf("%v is no internal error", err)
	}
}

// TestUnitsUnknown checks that columns have no unit where the model does not say one.
func TestUnitsUnknown(t *testing.T) {
	series := ballJob()
	series.Gradient, series.Times = false, []Real{0, 1}
	a, b := open(t, ballJob()).Table, open(t, series).Table
	for _, c := range slices.Concat(a.Params, a.Values, a.Gradient, b.Series) {
		if c.Unit != "" {
			t.Errorf("%s has the unit %q", c.Name, c.Unit)
		}
	}
}

// Values without derivatives are those of Solve, for methods that go over to implicit ones as well, and of experiments.
func TestValuesAlone(t *testing.T) {
	stiff := `
time t from 0 to 40
param k = 1e4
state a = 1, b = 0, c = 0
a' = -0.04*a + k*b*c
b' = 0.04*a - k*b*c - 3e7*b^2
c' = 3e7*b^2
objective last = final(c)
objective middle = integral(b)
`
	fit := `
time t from 0 to 4
param k = 1, s = 0.1
state x = 1
x' = -k*x
data D { time = [1, 2, 3, 1, 2]  y = [0.4, 0.1, 0.05, 0.2, 0.02]  arm = ["one", "one", "one", "two", "two"] }
observe y = x ~ normal(s) from D.y
experiment one { use D where arm == "one" }
experiment two { k = 2*k  use D where arm == "two" }
objective loss = nll()
`
	for name, text := range map[string]string{"ball": ball, "stiff": stiff, "fit": fit} {
		axes := []Axis{span("g", 8, 20), span("e", 0.7, 0.9)}
		switch name {
		case "stiff":
			axes = []Axis{span("k", 1e-3, 1e4), span("initial(b)", 0, 0.1)}
		case "fit":
			axes = []Axis{span("k", 0.5, 2), span("s", 0.05, 0.2)}
		}
		j := job(text, Design{Points: "lhs", N: 30, Seed: 2, Axes: axes})
		j.Gradient = false
		p := open(t, j)
		all := gather(t, p, Config{})
		width := p.Table.Width()
		for i := range 30 {
			s, err := p.Model.Solve(context.Background(), odes.Options{
				Set: p.Assign(i), Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}}, Threads: 1,
			})
			if (err != nil) != (all.Status[i] == Failed) {
				t.Fatalf("%s, member %d: %v alone, %v among others", name, i, err, all.Status[i])
			}
			if err != nil {
				continue
			}
			for k, v := range s.Values {
				if got := all.Rows[i*width+len(axes)+k]; got != v.Value {
					t.Errorf("%s, member %d: %s is %g alone and %g among others", name, i, v.Name, v.Value, got)
				}
			}
		}
	}
}

// A run that is stopped anywhere, with the journal cut anywhere, goes on with nothing lost or doubled.
func TestResume(t *testing.T) {
	p := open(t, ballJob())
	want := gather(t, p, Config{}).Encode()
	path := filepath.Join(t.TempDir(), "out.part")
	begin := func() *Journal {
		j, err := OpenJournal(path, p)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	stop := errors.New("enough")
	for _, cut := range []int64{0, 1, 30, 500} {
		j := begin()
		n := 0
		_, err := Run(context.Background(), p, Config{Backend: Local{Threads: 1}, Journal: j, Each: func(*Chunk) error {
			if n++; n > 20 {
				return stop
			}
			return nil
		}})
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		j.Close()
		info, _ := os.Stat(path)
		if err := os.Truncate(path, info.Size()-cut); err != nil {
			t.Fatal(err)
		}
		j = begin()
		if j.Len() < 10 || j.Len() >= p.Chunks() {
			t.Errorf("after %d bytes were cut off, %d chunks are left", cut, j.Len())
		}
		if got := gather(t, p, Config{Journal: j}).Encode(); !bytes.Equal(got, want) {
			t.Errorf("after %d bytes were cut off, the results differ", cut)
		}
		if got := gather(t, p, Config{Journal: j}).Encode(); !bytes.Equal(got, want) { // nothing is left to do
			t.Error("the journal alone gives other results")
		}
		if err := j.Remove(); err != nil {
			t.Fatal(err)
		}
	}
	other := ballJob()
	other.Design.Seed++
	begin().Close()
	if _, err := OpenJournal(path, open(t, other)); !errors.Is(err, ErrOtherJob) {
		t.Errorf("the journal of another job: %v", err)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := open(t, ballJob())
	n := 0
	_, err := Run(ctx, p, Config{Backend: Local{Threads: 1}, Each: func(*Chunk) error {
		if n++; n == 3 {
			cancel()
		}
		return nil
	}})
	if !errors.Is(err, context.Canceled) || n < 3 || n == p.Chunks() {
		t.Errorf("%v after %d chunks", err, n)
	}
}

// Quantiles are exact for few numbers, and within their bound for many.
func TestSketch(t *testing.T) {
	for _, n := range []int{1, 2, 5, 4000, 300_000} {
		var s Sketch
		for i := range n {
			s.Add(float64(i * 7919 % n)) // all numbers below n, mixed: 7919 is a prime
		}
		if s.Exact() != (n < sketchSize) {
			t.Errorf("n = %d: exact is %v", n, s.Exact())
		}
		at := []float64{0, 0.05, 0.5, 0.95, 1}
		for i, x := range s.Quantiles(at...) {
			off := math.Abs(x - at[i]*float64(n-1))
			if off > (1e-9+s.Error())*float64(n) || s.Error() > 0.005 {
				t.Errorf("n = %d: quantile %g is %g, with a bound of %g", n, at[i], x, s.Error())
			}
		}
	}
	if x := (&Sketch{}).Quantiles(0.5); x[0] == x[0] {
		t.Errorf("the median of nothing is %v", x)
	}
}

func TestJobIsData(t *testing.T) {
	j := ballJob()
	j.Design.Axes[0].Hi = Real(math.Inf(1))
	back, err := Decode(j.Encode())
	if err != nil || back.ID() != j.ID() {
		t.Fatal(err)
	}
	j.Set = Assignments([]odes.Assignment{{Name: "g", Values: []float64{math.Nextafter(9.81, 10)}}})
	back, _ = Decode(j.Encode())
	if back.ID() != j.ID() || float64(back.Set[0].Values[0]) != math.Nextafter(9.81, 10) {
		t.Error("a number has lost bits")
	}
	if _, err := Decode([]byte(`{"models":{}}`)); err == nil {
		t.Error("a job of another version was read")
	}
}

// Sobol indices and elementary effects of the function of T. Ishigami and T. Homma (1990), a = 7 and b = 0.1, whose
// indices are known; and of a model with an event, whose objective is known in closed form.
func TestGlobalSensitivity(t *testing.T) {
	const ishigami = `
time t from 0 to 1
param x1 = 1, x2 = 1, x3 = 1
state y = 0
y' = sin(x1) + 7*sin(x2)^2 + 0.1*x3^4*sin(x1)
objective f = final(y)
`
	axes := []Axis{span("x1", -math.Pi, math.Pi), span("x2", -math.Pi, math.Pi), span("x3", -math.Pi, math.Pi)}
	v1, v2, v13 := 0.5*math.Pow(1+math.Pow(math.Pi, 4)/50, 2), 49.0/8, 8*math.Pow(math.Pi, 8)/22500
	variance := v1 + v2 + v13
	check := func(text string, axes []Axis, n int, first, total []float64) {
		t.Helper()
		p := open(t, &Job{
			Model: Source{Name: "test.ode", Text: text}, Design: Design{Points: Saltelli, N: n, Seed: 1, Axes: axes},
		})
		values := NewValues(p)
		values.Add(gather(t, p, Config{}))
		list, left := values.Indices()
		if left != 0 || len(list) != len(axes) {
			t.Fatalf("%d indices, %d groups left out", len(list), left)
		}
		for i, x := range list {
			within := func(name string, e Estimate, want float64) {
				if !(e.Lower <= want && want <= e.Upper && e.Lower <= e.Value && e.Value <= e.Upper) ||
					e.Upper-e.Lower > 0.2 {
					t.Errorf("%s of %s: %+v, not %.4f", name, x.Axis, e, want)
				}
			}
			within("first order", x.First, first[i])
			within("first order by Jansen", x.Jansen, first[i])
			within("total", x.Total, total[i])
		}
	}
	check(ishigami, axes, 2048, []float64{v1 / variance, v2 / variance, 0},
		[]float64{(v1 + v13) / variance, v2 / variance, v13 / variance})

	// A level rises at speed a until it reaches 1, and then falls at speed b: x(3) = 1 - b(3 - 1/a), with a from 0.5 to
	// 1 and b from 0.1 to 0.3. Variances follow from E[1/a] = 2 log 2 and E[1/a²] = 2.
	const tank = `
time t from 0 to 3
param a = 0.7, b = 0.2
state x = 0
discrete up = 1
x' = if up > 0.5 then a else -b
event full when x >= 1 { up = 0 }
objective level = final(x)
solver { rtol = 1e-8 }
`
	mean, second := 3-2*math.Ln2, 9-12*math.Ln2+2 // of 3 - 1/a, and of its square
	va := second - mean*mean
	vb := 0.2 * 0.2 / 12
	whole := (0.04+vb)*second - 0.04*mean*mean
	byA, byB := 0.04*va/whole, vb*mean*mean/whole
	check(tank, []Axis{span("a", 0.5, 1), span("b", 0.1, 0.3)}, 512, []float64{byA, byB}, []float64{1 - byB, 1 - byA})
}

// Elementary effects of a linear function are its coefficients times the lengths of the axes.
func TestMorris(t *testing.T) {
	const linear = `
time t from 0 to 1
param p = 1, q = 1, r = 1
state y = 0
y' = 2*p - 3*q
objective f = final(y)
`
	p := open(t, &Job{Model: Source{Name: "test.ode", Text: linear}, Design: Design{
		Points: Morris, N: 10, Seed: 3, Axes: []Axis{span("p", 0, 1), span("q", 0, 2), span("r", 0, 1)},
	}})
	values := NewValues(p)
	values.Add(gather(t, p, Config{}))
	list, _ := values.Effects()
	for i, want := range []float64{2, -6, 0} {
		e := list[i]
		if math.Abs(e.Mean.Value-want) > 1e-9 || math.Abs(e.Size.Value-math.Abs(want)) > 1e-9 || e.SD.Value > 1e-9 {
			t.Errorf("%s: %+v, not %g", e.Axis, e, want)
		}
	}
}

// The levels of a range reach its ends, as M. D. Morris has them, so that a step of half of its length is not all that
// paths see: of the function of T. Ishigami and T. Homma the second number would have no effect. Other distributions
// keep away from their ends, where a quantile may be infinite.
func TestMorrisLevels(t *testing.T) {
	const text = `
time t from 0 to 1
param a = 0, b = 1, c = 1
state y = 0
y' = 0
objective f = final(y) + 7*sin(a)^2
objective g = final(y) + log(b)
objective h = final(y) + log(c)
`
	p := open(t, &Job{Model: Source{Name: "test.ode", Text: text}, Design: Design{
		Points: Morris, N: 10, Seed: 3, Axes: []Axis{
			span("a", -math.Pi, math.Pi),
			Span("b", "", 0.1, 10, true, 0),
			{Name: "c", Dist: "lognormal", Args: []Real{0, 1}, Lo: Real(math.Inf(-1)), Hi: Real(math.Inf(1))},
		},
	}})
	values := NewValues(p)
	values.Add(gather(t, p, Config{}))
	list, _ := values.Effects()
	for i, want := range map[int]float64{
		0: 7 * 0.75 * 1.5, 4: math.Log(100), 8: 2 * (0.31863936396437514 + 1.1503493803760079), // of 1/8 and 5/8
	} {
		if e := list[i]; math.Abs(e.Size.Value-want) > 1e-9 {
			t.Errorf("%s of %s: %+v, not %g", e.Axis, e.Objective, e, want)
		}
	}
}

// Mean squared derivatives bound total indices; for one axis in a linear function the mean is the square of the slope.
func TestSlopes(t *testing.T) {
	const text = `
time t from 0 to 1
param p = 1, q = 1
state y = 0
y' = 2*p - 3*log(q)
objective f = final(y)
`
	p := open(t, job(text, Design{Points: "lhs", N: 200, Seed: 3, Axes: []Axis{
		span("p", 0, 1),
		{Name: "q", Dist: "lognormal", Args: []Real{0, 0.5}, Lo: Real(math.Inf(-1)), Hi: Real(math.Inf(1))},
	}}))
	s, err := NewSlopes(p)
	if err != nil {
		t.Fatal(err)
	}
	s.Add(gather(t, p, Config{}))
	list := s.Derivatives()
	for i, want := range []float64{4, 9} {
		if d := list[i]; math.Abs(d.Mean.Value-want) > 1e-6 || !(d.Bound.Value > 0.1) {
			t.Errorf("%s: %+v, not %g", d.Axis, d, want)
		}
	}
}

// TestPreparedUntil: what a worker prepares is given up when the context ends, and made for who asks next.
func TestPreparedUntil(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, gradient := range []bool{false, true} {
		j := job("time t from 0 to 1\nparam k = 1\nstate x = 1\nx' = -k*x\nobjective J = final(x)\n",
			Design{Points: "random", N: 2, Axes: []Axis{span("k", 1, 2)}})
		j.Gradient = gradient
		p := open(t, j)
		w, row := p.Worker(), make([]float64, 8)
		if _, _, err := w.member(over, 0, row); !errors.Is(err, context.Canceled) || w.runner != nil {
			t.Errorf("prepared for nobody: %v", err)
		}
		if _, _, err := w.member(t.Context(), 0, row); err != nil {
			t.Error(err)
		}
	}
}
