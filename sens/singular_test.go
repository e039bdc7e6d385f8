package sens_test

import (
	"math"
	"slices"
	"testing"

	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// root is J' = p·√x from 0, x' = 0 from q⁴ + c, with final(J) = p·√(q⁴ + c)·T as the objective. The derivative by x is
// not finite where x is 0, and bound, if it is not 0, stands for it.
type root struct {
	*tinySystem
	p, q, c, bound float64
	bars           [2]float64 // of p and q
}

func (s *root) Size() solvers.Size { return solvers.Size{N: 2, P: 2} }

func (s *root) Eval(_ float64, y, k []float64) { k[0], k[1] = s.p*math.Sqrt(y[1]), 0 }

func (s *root) Start(_ float64, y, _ []float64) { y[0], y[1] = 0, math.Pow(s.q, 4)+s.c }

func (s *root) Pull(_ float64, y, kb, yb, tb []float64) {
	yb[0], yb[1], tb[0] = 0, 0, 0
	slope := 0.5 * s.p / math.Sqrt(y[1])
	if s.bound != 0 && math.IsInf(slope, 0) {
		slope = s.bound
	}
	if kb[0] != 0 {
		yb[1] = kb[0] * slope
	}
	s.bars[0] += kb[0] * math.Sqrt(y[1])
}

func (s *root) Begin(rows [][]float64) { s.rows, s.bars = rows, [2]float64{} }

func (s *root) StartPull(_ float64, yb, _, _ []float64) { s.bars[1] += 4 * math.Pow(s.q, 3) * yb[1] }

func (s *root) Finish() { copy(s.rows[0], s.bars[:]) }

// TestBounded: where a derivative is infinite and is multiplied by 0 later, bounds in its place tell what it comes to.
// They are asked for once, and only where they are needed. That cotangents are not finite is told with and without.
func TestBounded(t *testing.T) {
	const p, tf = 3.0, 2.0
	for name, c := range map[string]struct {
		q, c    float64
		initial bool
		want    float64 // by q
		suspect bool    // in spite of bounds
		bounds  int     // asked for
	}{
		"smooth":             {q: 0.5, want: p * tf},
		"smooth, initial":    {q: 0.5, initial: true, want: p * tf},
		"zero":               {bounds: 2},
		"zero, initial":      {initial: true, suspect: true, bounds: 2},
		"of a number":        {q: 0, c: 4},
		"smooth and shifted": {q: 1, c: 3, want: p * tf},
	} {
		system := func(bound float64) *root {
			return &root{tinySystem: &tinySystem{tf: tf}, p: p, q: c.q, c: c.c, bound: bound}
		}
		s := system(0)
		spec, _ := solvers.Lookup("dopri5")
		method := func() solvers.Method { return spec.New(s.Size(), 1) }
		m := method()
		ctl, _ := solvers.NewController("", m.Info())
		tr := &solvers.Trajectory{}
		if _, err := solvers.Solve(t.Context(), s, m, ctl, solvers.Options{}, tr); err != nil {
			t.Fatal(err)
		}
		worker := func(bound float64) func() sens.CotangentWorker {
			return func() sens.CotangentWorker {
				s := system(bound)
				return sens.CotangentWorker{System: s, Objectives: s, Method: method()}
			}
		}
		opts := sens.Options{Initial: c.initial}
		var plain, res sens.Result
		if err := (&sens.Adjoint{New: worker(0)}).Gradient(t.Context(), tr, opts, &plain); err != nil {
			t.Fatal(err)
		}
		if want := c.q == 0 && c.c == 0; plain.Suspect[0] != want || plain.Stats.Sweeps != 1 {
			t.Errorf("%s, without bounds: suspect is %v, in %d sweeps", name, plain.Suspect[0], plain.Stats.Sweeps)
		}
		var asked []float64
		a := &sens.Adjoint{New: worker(0), Bounded: func(bound float64) (func() sens.CotangentWorker, error) {
			asked = append(asked, bound)
			return worker(bound), nil
		}}
		for range 2 {
			if err := a.Gradient(t.Context(), tr, opts, &res); err != nil {
				t.Fatal(err)
			}
			near(t, name+": by p", res.DP[0], tf*math.Sqrt(math.Pow(c.q, 4)+c.c), 1e-14)
			near(t, name+": by q", res.DP[1], c.want, 1e-14)
			if c.c > 0 {
				near(t, name+": by q", res.DP[1], p*tf*2*math.Pow(c.q, 3)/math.Sqrt(math.Pow(c.q, 4)+c.c), 1e-14)
			}
			if res.Suspect[0] != c.suspect || res.Stats.Sweeps != 1+c.bounds ||
				res.Stats.Steps != (1+c.bounds)*tr.Steps() {
				t.Errorf("%s: suspect is %v; %d sweeps, %d steps", name, res.Suspect[0], res.Stats.Sweeps,
					res.Stats.Steps)
			}
		}
		if slices.Sort(asked); len(asked) != c.bounds || len(slices.Compact(asked)) != c.bounds {
			t.Errorf("%s: asked for bounds %v", name, asked)
		}
	}
}
