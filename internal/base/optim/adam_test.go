package optim

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// bowl is a bent valley.
func bowl(_ context.Context, x []float64, _, _ int, g []float64) (float64, error) {
	a, b := x[0]-3, 10*(x[1]+0.2*x[0]*x[0])
	g[0], g[1] = a+b*10*0.4*x[0], 10*b
	return (a*a + b*b) / 2, nil
}

func training(slope func(context.Context, []float64, int, int, []float64) (float64, error)) TrainingProblem {
	return TrainingProblem{
		Variables: 2, Steps: 1, Slope: slope,
		Whole: func(ctx context.Context, x []float64) (float64, error) {
			return slope(ctx, x, 0, 0, make([]float64, len(x)))
		},
	}
}

// rates falls to a tenth.
func rates(epoch int) float64 { return 0.1 * math.Pow(0.1, float64(epoch)/50) }

// TestTrain: the steps are those of optax.adam 0.2.8, which computes powers of its constants in 32 bits.
func TestTrain(t *testing.T) {
	want := map[int][]float64{
		1: {0.399999998563938, 0.8999999985194077}, 2: {0.30735098038420405, 0.8049654311240666},
		10: {-0.04666777295938464, 0.22752913341649228}, 50: {0.41159279112879926, -0.0634382098664611},
	}
	seen := 0
	_, err := Train(t.Context(), training(bowl), []float64{0.5, 1}, TrainingOptions{
		Rate: rates, Epochs: 50, Progress: func(at Progress) {
			x, ok := want[at.Iterations]
			if !ok {
				return
			}
			seen++
			for i := range x {
				if math.Abs(at.X[i]-x[i]) > 1e-7 {
					t.Errorf("after %d steps at %v, and optax is at %v", at.Iterations, at.X, x)
				}
			}
		},
	})
	if err != nil || seen != len(want) {
		t.Error(seen, err)
	}
}

// TestTrainGoesOn: a training that goes on from what was kept at any epoch comes to the same bits.
func TestTrainGoesOn(t *testing.T) {
	var kept []Training
	o := TrainingOptions{Rate: rates, Epochs: 20, Kept: func(k Training) { kept = append(kept, k) }}
	whole, err := Train(t.Context(), training(bowl), []float64{0.5, 1}, o)
	if err != nil || len(kept) != 19 {
		t.Fatal(len(kept), err)
	}
	for _, k := range kept {
		o.From, o.Kept = &k, nil
		again, err := Train(t.Context(), training(bowl), []float64{0.5, 1}, o)
		if err != nil || !slices.Equal(again.X, whole.X) || again.Value != whole.Value ||
			again.Evaluations != whole.Evaluations {
			t.Fatalf("from epoch %d: %+v, not %+v: %v", k.Epoch, again, whole, err)
		}
	}
}

// TestTrainFails: bounds are kept, points without a value are gone around, and what never has one ends the training.
func TestTrainFails(t *testing.T) {
	none := errors.New("no value")
	left := 0.3 // there is none to the left of it
	half := func(ctx context.Context, x []float64, e, p int, g []float64) (float64, error) {
		if x[0] < left {
			return 0, none
		}
		return bowl(ctx, x, e, p, g)
	}
	o := TrainingOptions{Rate: rates, Epochs: 50}
	r, err := Train(t.Context(), training(half), []float64{0.5, 1}, o)
	if err != nil || r.Status != Iterations || r.X[0] < left || r.Failures == 0 || r.Value > 50 {
		t.Errorf("%+v: %v", r, err)
	}
	_, err = Train(t.Context(), training(half), []float64{0.1, 1}, o)
	if !errors.Is(err, ErrStart) || !errors.Is(err, none) {
		t.Errorf("from where there is no value: %v", err)
	}
	calls := 0
	few := func(ctx context.Context, x []float64, e, p int, g []float64) (float64, error) {
		if calls++; calls > 5 {
			return 0, none
		}
		return bowl(ctx, x, e, p, g)
	}
	r, err = Train(t.Context(), training(few), []float64{0.5, 1}, o)
	if err != nil || r.Status != Stuck || r.Failure != none || r.X == nil {
		t.Errorf("%+v: %v", r, err)
	}
	p := training(bowl)
	p.Bounds = Bounds{Lo: []float64{0.45, -1}, Hi: []float64{2, 1}}
	if r, err = Train(t.Context(), p, []float64{0.5, 1}, o); err != nil || r.X[0] < 0.45 || r.X[1] > 1 {
		t.Errorf("%+v: %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls = 0
	var kept []Training
	o.Kept = func(k Training) { kept = append(kept, k) }
	r, err = Train(ctx, training(func(ctx context.Context, x []float64, e, p int, g []float64) (float64, error) {
		if calls++; calls == 9 {
			cancel()
			return 0, ctx.Err()
		}
		return bowl(ctx, x, e, p, g)
	}), []float64{0.5, 1}, o)
	if last := kept[len(kept)-1]; err != nil || r.Status != Stopped || !(r.Value < 74) || last.Epoch != 7 {
		t.Errorf("%+v: %v; kept in epoch %d", r, err, last.Epoch)
	}
}

// TestWide: of matrices with more columns than rows, the minimiser has the value of that of the way for all, and no
// greater length where there are several.
func TestWide(t *testing.T) {
	rand := elem.NewRand(3)
	x := func() float64 { return 2*rand.Float64() - 1 }
	for trial := range 400 {
		n := 2 + int(rand.Uint64()%12)
		m := 1 + int(rand.Uint64()%uint64(n))
		a, b := make([]float64, m*n), make([]float64, m)
		for i := range a {
			a[i] = x()
		}
		for i := range b {
			b[i] = x()
		}
		if m > 1 && trial%3 == 0 { // a row is a multiple of another one
			for j := range n {
				a[(m-1)*n+j] = -2 * a[j]
			}
		}
		var h []float64
		if trial%2 == 0 {
			h = make([]float64, n)
			for i := range h {
				h[i] = 0.3 * x()
			}
		}
		radius := 0.05 + rand.Float64()
		value := func(v []float64) float64 {
			s := 0.0
			for i := range m {
				r := dot(a[i*n:(i+1)*n], v) + b[i]
				s += r * r / 2
			}
			if h != nil {
				s += dot(h, v)
			}
			return s
		}
		one, other := make([]float64, n), make([]float64, n)
		wide(slices.Clone(a), m, n, slices.Clone(b), slices.Clone(h), radius, one)
		levenberg(slices.Clone(a), m, n, slices.Clone(b), slices.Clone(h), radius, other)
		// Lengths are right to a tenth of the radius, and what is gained so to a fifth.
		gain, want := value(make([]float64, n))-value(one), value(make([]float64, n))-value(other)
		if norm(one) > 1.1001*radius || gain < 0.8*want {
			t.Fatalf("%d × %d: a gain of %v in %v, and %v in %v", m, n, gain, norm(one), want, norm(other))
		}
	}
}
