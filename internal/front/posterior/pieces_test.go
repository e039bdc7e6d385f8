package posterior

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
)

// others is a Backend that makes pieces from what is written of a job alone, the last first, and each twice.
type others struct {
	mu    sync.Mutex
	jobs  map[string]int // made, by their parts
	until int            // jobs of chains, behind which it calls end
	end   func()
}

func (o *others) Draw(ctx context.Context, j *Job, made func(int, []byte, string) error) error {
	read, err := DecodeJob(j.Encode())
	if err != nil {
		return err
	}
	if read.ID() != j.ID() {
		return errors.New("the job has another name")
	}
	pieces, err := read.Open()
	if err != nil {
		return err
	}
	for i := read.Pieces - 1; i >= 0; i-- {
		text, err := pieces.Make(ctx, i)
		if err == nil {
			err = made(i, text, "")
		}
		if err == nil {
			err = made(i, text, "")
		}
		if err != nil {
			return err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.jobs[j.Part]++
	if o.end != nil && j.Part == chainSpans.name && o.jobs[j.Part] >= o.until {
		o.end()
	}
	return nil
}

// alike compares all that is drawn and known.
func alike(t *testing.T, a, b *Result) {
	t.Helper()
	sameDraws(t, a, b)
	if len(a.Modes) != len(b.Modes) || a.Bent != b.Bent || a.Status != b.Status || messages(a) != messages(b) {
		t.Errorf("%d modes, %s: %s\nnot %d, %s: %s", len(a.Modes), a.Status, messages(a), len(b.Modes), b.Status,
			messages(b))
	}
	for i := range min(len(a.Modes), len(b.Modes)) {
		x, y := &a.Modes[i], &b.Modes[i]
		if !slices.Equal(x.At, y.At) || !slices.Equal(x.Chains, y.Chains) || x.Weight != y.Weight ||
			x.Found != y.Found {
			t.Errorf("mode %d is %+v, not %+v", i+1, x, y)
		}
	}
	if x, y := a.Evidence, b.Evidence; (x == nil) != (y == nil) || x != nil && x.Log != y.Log {
		t.Errorf("evidence %+v, not %+v", x, y)
	}
}

// drawnElsewhere draws by a backend.
func drawnElsewhere(ctx context.Context, t *testing.T, text string, o Options) (*Result, error) {
	t.Helper()
	m, source, err := ensemble.ReadSource("model.ode", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Source = source
	return Run(ctx, m, o)
}

// TestPieces: what others make of a job alone has the bits of one process: of chains whose coordinates are bent, of
// those with several modes, a set value and a warm-up in one stage, with random effects, of populations and of paths.
func TestPieces(t *testing.T) {
	const two = `time t from 0 to 1
param a = 0 in [-8, 8]
param c = 3
state x = a
x' = 0
data D { time = [1]  y = [4] }
observe o = c*x^2/3 ~ normal(1) from D.y
sample { draws = 60  warmup = 50 `
	const population = `time t from 0 to 4
param k = 0.5 ~ lognormal(-0.7, 0.5)
param w = 0.3 ~ half_normal(0.5)
random e ~ normal(0, w)
state a = 10
a' = -k*exp(e)*a
data D { ID = [1,1,2,2,3,3]  time = [1,3,1,3,1,3]  y = [6,2.2,5,1.1,7.5,4] }
observe o = a ~ lognormal(0.2) from D.y
experiment subject from D by D.ID { }
sample { starts = 2  chains = 2 `
	for _, c := range []struct {
		text string
		set  []odes.Assignment
		part string
	}{
		{banana, nil, chainSpans.name},
		{two + "}", []odes.Assignment{{Name: "c", Values: []float64{2}}}, searches.name},
		{two + " method = smc }", nil, crowds.name},
		{two + " method = pathfinder }", nil, paths.name},
		{population + "random = draw  draws = 30  warmup = 110 }", nil, chainSpans.name},
		{population + "draws = 25  warmup = 20 }", nil, chainSpans.name},
		{population + "draws = 10  method = smc }", nil, crowds.name},
	} {
		if testing.Short() && strings.HasPrefix(c.text, population) && !strings.Contains(c.text, "random = draw") {
			continue // integrals take long, and start no goroutines that others do not start
		}
		o := Options{Options: odes.Options{Set: c.set}}
		want := drawn(t, c.text, o)
		b := &others{jobs: map[string]int{}}
		o.Backend = b
		got, err := drawnElsewhere(t.Context(), t, c.text, o)
		if err != nil {
			t.Fatalf("%v of %s", err, c.text)
		}
		alike(t, want, got)
		if b.jobs[c.part] == 0 {
			t.Errorf("no job of %s, but %v", c.part, b.jobs)
		}
	}
}

// TestPiecesKept: chains that others make can be interrupted between spans, and go on here or there with the same
// draws.
func TestPiecesKept(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	whole, path, interrupted := drawn(t, banana, Options{}), filepath.Join(t.TempDir(), "chains"), 0
	for try := range 20 {
		f, err := OpenFile(path, "key")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		b := &others{jobs: map[string]int{}, until: 4, end: cancel}
		o := Options{Keep: f, Backend: b}
		if try%4 == 3 { // this process makes some of it
			o.Backend = nil
			n := 0
			o.Progress = func(at odes.Progress) {
				if n++; at.Phase == odes.PhaseRuns && n%60 == 0 {
					cancel()
				}
			}
		}
		r, err := drawnElsewhere(ctx, t, banana, o)
		cancel()
		f.Close()
		if err == nil && !r.Interrupted {
			sameDraws(t, whole, r)
			if interrupted < 3 {
				t.Errorf("it was interrupted %d times", interrupted)
			}
			return
		}
		interrupted++
	}
	t.Error("it comes to no end")
}

// TestPiecesLost: what nobody comes to an end with is an error, and so is a job of something else.
func TestPiecesLost(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	_, err := drawnElsewhere(t.Context(), t, banana, Options{Backend: loser{}})
	if err == nil || !strings.Contains(err.Error(), "given out 5 times") {
		t.Error(err)
	}
	if _, err := DecodeJob([]byte(`{"other": 1}`)); err == nil {
		t.Error("no error of a job of another version")
	}
	j := &Job{Model: ensemble.Source{Name: "m.ode", Text: banana}, Part: "other"}
	if _, err := j.Open(); err == nil || !strings.Contains(err.Error(), "no kind") {
		t.Error(err)
	}
}

// loser comes to an end with nothing.
type loser struct{}

func (loser) Draw(_ context.Context, _ *Job, made func(int, []byte, string) error) error {
	return made(0, nil, "given out 5 times")
}
