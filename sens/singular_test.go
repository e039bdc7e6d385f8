package sens_test

import (
	"math"
	"slices"
	"testing"

	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/solvers/record"
)

// root is J' = p·√x from 0, x' = 0 from q⁴ + c, with final(J) = p·√(q⁴ + c)·T and final(x) as the objectives. The
// derivative of the first by x is not finite where x is 0, and bound, if it is not 0, stands for it.
type root struct {
	*tinySystem
	p, q, c, bound float64
	lanes          int
	bars           []float64 // [2·L] of p and q
}

func (s *root) Size() solvers.Size { return solvers.Size{N: 2, P: 2} }
func (s *root) Lanes() int         { return s.lanes }

func (s *root) Eval(_ float64, y, k []float64) { k[0], k[1] = s.p*math.Sqrt(y[1]), 0 }

func (s *root) Start(_ float64, y, _ []float64) { y[0], y[1] = 0, math.Pow(s.q, 4)+s.c }

func (s *root) Pull(_ float64, y, kb, yb, tb []float64) {
	clear(yb)
	clear(tb)
	slope := 0.5 * s.p / math.Sqrt(y[1])
	if s.bound != 0 && math.IsInf(slope, 0) {
		slope = s.bound
	}
	for j := range s.lanes {
		if kb[j] != 0 {
			yb[s.lanes+j] = kb[j] * slope
		}
		s.bars[j] += kb[j] * math.Sqrt(y[1])
	}
}

func (s *root) Begin(rows [][]float64) { s.rows, s.bars = rows, make([]float64, 2*s.lanes) }

func (s *root) StartPull(_ float64, yb, _, _ []float64) {
	for j := range s.lanes {
		s.bars[s.lanes+j] += 4 * math.Pow(s.q, 3) * yb[s.lanes+j]
	}
}

func (s *root) Finish() {
	for j, row := range s.rows {
		if row != nil {
			row[0], row[1] = s.bars[j], s.bars[s.lanes+j]
		}
	}
}

func (s *root) Counts() (int, int) { return 2, 2 }

func (s *root) Observe(pt *sens.Point, f []float64) {
	for i, y := range pt.Yp {
		f[i] += y
	}
}

func (s *root) Values(f, psi []float64) { copy(psi, f) }

func (s *root) ValuesPull(_ []float64, first int, fb []float64) {
	clear(fb)
	for j := range s.lanes {
		if first+j < 2 {
			fb[(first+j)*s.lanes+j] = 1
		}
	}
}

func (s *root) ObservePull(_ *sens.Point, fb, _, _, ypb, _, _ []float64) {
	for i, x := range fb {
		ypb[i] += x
	}
}

// TestBounded: where a derivative is infinite and is multiplied by 0 later, bounds in its place tell what it comes to.
// They are asked for once, and only where they are needed. That cotangents are not finite is told with and without, of
// the objective whose they are.
func TestBounded(t *testing.T) {
	const p, tf = 3.0, 2.0
	for name, c := range map[string]struct {
		q, c    float64
		initial bool
		suspect bool // in spite of bounds
		bounds  int  // asked for
	}{
		"smooth":             {q: 0.5},
		"smooth, initial":    {q: 0.5, initial: true},
		"zero":               {bounds: 2},
		"zero, initial":      {initial: true, suspect: true, bounds: 2},
		"of a number":        {q: 0, c: 4},
		"smooth and shifted": {q: 1, c: 3},
	} {
		for _, lanes := range []int{1, 2, 3} {
			system := func(bound float64) *root {
				return &root{tinySystem: &tinySystem{tf: tf}, p: p, q: c.q, c: c.c, bound: bound, lanes: lanes}
			}
			s := system(0)
			spec, _ := methods.Lookup("dopri5")
			method := func() solvers.Method { return spec.New(s.Size(), lanes) }
			m := method()
			ctl, _ := hybrid.NewController("", m.Info())
			tr := &record.Trajectory{}
			if _, err := hybrid.Solve(t.Context(), s, m, ctl, solvers.Options{}, tr); err != nil {
				t.Fatal(err)
			}
			worker := func(bound float64) func() sens.CotangentWorker {
				return func() sens.CotangentWorker {
					s := system(bound)
					return sens.CotangentWorker{System: s, Objectives: s, Method: method()}
				}
			}
			opts, sweeps := sens.Options{Initial: c.initial}, (2+lanes-1)/lanes
			var plain, res sens.Result
			if err := (&sens.Adjoint{New: worker(0)}).Gradient(t.Context(), tr, opts, &plain); err != nil {
				t.Fatal(err)
			}
			zero := c.q == 0 && c.c == 0
			if plain.Suspect[0] != zero || plain.Suspect[1] || plain.Stats.Sweeps != sweeps {
				t.Errorf("%s, %d lanes: suspect are %v, in %d sweeps", name, lanes, plain.Suspect, plain.Stats.Sweeps)
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
				x := math.Pow(c.q, 4) + c.c
				near(t, name+": by p", res.DP[0], tf*math.Sqrt(x), 1e-14)
				near(t, name+": of x by q", res.DP[3], 4*math.Pow(c.q, 3), 1e-14)
				want := 0.0
				if !zero {
					want = p * tf * 2 * math.Pow(c.q, 3) / math.Sqrt(x)
				}
				near(t, name+": by q", res.DP[1], want, 1e-14)
				if res.Suspect[0] != c.suspect || res.Suspect[1] || res.Stats.Sweeps != sweeps*(1+c.bounds) ||
					res.Stats.Steps != sweeps*(1+c.bounds)*tr.Steps() {
					t.Errorf("%s, %d lanes: suspect are %v; %d sweeps, %d steps", name, lanes, res.Suspect,
						res.Stats.Sweeps, res.Stats.Steps)
				}
			}
			if slices.Sort(asked); len(asked) != c.bounds || len(slices.Compact(asked)) != c.bounds {
				t.Errorf("%s: asked for bounds %v", name, asked)
			}
		}
	}
}
