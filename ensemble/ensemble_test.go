package ensemble

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
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
	if err := Run(context.Background(), p, c); err != nil {
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
		again := gather(t, open(t, j), Config{Backend: Local{c.threads}})
		if !bytes.Equal(again.Encode(), all.Encode()) {
			t.Errorf("%d threads and chunks of %d members give other bytes", c.threads, c.chunk)
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
		err := Run(context.Background(), p, Config{Backend: Local{1}, Journal: j, Each: func(*Chunk) error {
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
	err := Run(ctx, p, Config{Backend: Local{1}, Each: func(*Chunk) error {
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
			if off := math.Abs(x - at[i]*float64(n-1)); off > 1e-9*float64(n)+s.Error()*float64(n) || s.Error() > 0.005 {
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
	if back, _ := Decode(j.Encode()); back.ID() != j.ID() || float64(back.Set[0].Values[0]) != math.Nextafter(9.81, 10) {
		t.Error("a number has lost bits")
	}
	if _, err := Decode([]byte(`{"models":{}}`)); err == nil {
		t.Error("a job of another version was read")
	}
}
