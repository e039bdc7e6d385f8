package posterior

import (
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

// banana is a density for which chains bend their coordinates.
const banana = `time t from 0 to 1
param a = 0, b = 0
state x = 0
x' = 0
objective L = a^2/2 + 50*(b - a^2)^2
objective sum = a + b
sample { of = L  over = [a, b]  warmup = 120  draws = 130  chains = 3 }`

// sameDraws compares all draws, and what chains say of them.
func sameDraws(t *testing.T, a, b *Result) {
	t.Helper()
	for k := range a.Chains {
		x, y := &a.Chains[k], &b.Chains[k]
		for i := range a.Params {
			if !slices.Equal(x.Values[i], y.Values[i]) {
				t.Fatalf("chain %d: other draws of %s", k, a.Params[i].Text())
			}
		}
		if !slices.Equal(x.LogP, y.LogP) || !slices.Equal(x.Step, y.Step) || !slices.Equal(x.Leapfrogs, y.Leapfrogs) {
			t.Errorf("chain %d: other numbers of its draws", k)
		}
	}
	if a.Gradients != b.Gradients || len(a.Rejections) != len(b.Rejections) {
		t.Errorf("%d gradients, and %d", a.Gradients, b.Gradients)
	}
}

// TestKeep: chains that were interrupted anywhere, by a sudden end too, go on with the same draws, whatever the number
// of workers; and more draws of them are those of longer chains.
func TestKeep(t *testing.T) {
	whole := drawn(t, banana, Options{})
	if !whole.Bent {
		t.Fatal("coordinates were not bent")
	}
	for _, until := range []int{15, 60, 110, 250, 500, 749} {
		path := filepath.Join(t.TempDir(), "chains")
		for workers := 1; ; workers++ {
			f, err := OpenFile(path, "key")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			n := 0
			o := Options{Workers: workers, Keep: f}
			o.Progress = func(at odes.Progress) {
				if at.Phase == odes.PhaseRuns {
					if n++; n == until && workers < 3 {
						cancel()
					}
				}
			}
			r, err := Run(ctx, parsed(t, banana), o)
			cancel()
			f.Close()
			if workers == 1 && until == 250 { // what was being written is torn
				if info, err := os.Stat(path); err != nil || os.Truncate(path, info.Size()-3) != nil {
					t.Fatal(err)
				}
			}
			if err == nil && !r.Interrupted {
				sameDraws(t, whole, r)
				break
			}
		}
		if until != 60 {
			continue
		}
		f, err := OpenFile(path, "key")
		if err != nil {
			t.Fatal(err)
		}
		more := strings.Replace(banana, "draws = 130", "draws = 200", 1)
		r, err := Run(context.Background(), parsed(t, more), Options{Keep: f})
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		sameDraws(t, drawn(t, more, Options{}), r)
		if f, err = OpenFile(path, "key"); err != nil || f.Draws() != 600 {
			t.Fatal(err, f.Draws())
		}
		_, err = Run(context.Background(), parsed(t, banana), Options{Keep: f})
		f.Close()
		if !errors.Is(err, ErrMore) {
			t.Errorf("fewer draws than there are: %v", err)
		}
	}
	path := filepath.Join(t.TempDir(), "other")
	if f, err := OpenFile(path, "one"); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	if _, err := OpenFile(path, "two"); !errors.Is(err, ErrOther) {
		t.Errorf("a file of something else: %v", err)
	}
}

// TestQuantities: other objectives are told in each draw.
func TestQuantities(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	r := drawn(t, banana, Options{})
	if len(r.Quantities) != 1 || r.Quantities[0].Name != "sum" {
		t.Fatalf("%+v", r.Quantities)
	}
	for c := range r.Chains {
		for k, x := range r.Quantities[0].Values[c] {
			want := r.Chains[c].Values[0][k] + r.Chains[c].Values[1][k]
			if math.Abs(x-want) > 1e-12*(1+math.Abs(want)) {
				t.Fatalf("%g, not %g", x, want)
			}
		}
	}
}

// TestWalls: a dose that comes before or behind a measurement, beside quadrature.
func TestWalls(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	r := drawn(t, `time t from 0 to 4
param lag = 0.8 in [0.2, 3] ~ uniform(0.2, 3)
param k = 0.5 in [0, inf] ~ lognormal(-0.7, 0.3)
state a = 0
a' = -k*a
event dose at lag { a += 2 }
data D { time = [1.5, 4]  y = [1.0, 0.8] }
observe o = a ~ normal(0.8) from D.y
sample { draws = 500  warmup = 300 }`, Options{})
	var mass, before, first, second float64
	for lag := 0.201; lag < 3; lag += 0.002 {
		for logK := -2.5; logK < 1; logK += 0.01 {
			k := math.Exp(logK)
			at := func(t float64) float64 {
				if lag < t {
					return 2 * math.Exp(-k*(t-lag))
				}
				return 0
			}
			x, y, z := (at(1.5)-1)/0.8, (at(4)-0.8)/0.8, (logK+0.7)/0.3
			w := math.Exp(-(x*x + y*y + z*z) / 2)
			mass, first, second = mass+w, first+w*lag, second+w*lag*lag
			if lag < 1.5 {
				before += w
			}
		}
	}
	mean := first / mass
	near(t, &r.Params[0], mean, math.Sqrt(second/mass-mean*mean))
	if len(r.Walls) != 1 {
		t.Fatalf("%+v", r.Walls)
	}
	w := &r.Walls[0]
	if p := before / mass; w.Event != "dose" || w.T != 1.5 || math.Abs(w.Before-p) > 0.06 || w.Across < 200 ||
		len(w.Chains) != 4 {
		t.Errorf("%+v, not %g", w, p)
	}
	if !strings.Contains(messages(r), "dose is before o at t = 1.5") {
		t.Error(messages(r))
	}
}

// TestPreparedUntil: what draws prepare is given up when their context ends.
func TestPreparedUntil(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newProblem(over, parsed(t, line), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a problem for nobody: %v", err)
	}
	p, err := newProblem(t.Context(), parsed(t, line), Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.borrow()
	if err != nil {
		t.Fatal(err)
	}
	q, g := make([]float64, 3), make([]float64, 3)
	if _, _, err := e.curvature(over, q, g); !errors.Is(err, context.Canceled) || e.differs {
		t.Errorf("second derivatives for nobody: %v", err)
	}
	if _, _, err := e.curvature(t.Context(), q, g); err != nil || e.hessian == nil {
		t.Errorf("no second derivatives: %v", err)
	}
	r := &Result{Chains: []Chain{{Values: [][]float64{{0, 1}, {0, 1}, {0, 1}}, LogP: []float64{0, 0}}}}
	if err := p.trust(over, r); err != nil || !r.Interrupted || r.Trust != nil {
		t.Errorf("the solver is judged for nobody: %v, %+v", err, r.Trust)
	}
}
