package run

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
)

var (
	sidesModels  = flag.Int("sides.models", 60, "random models whose sides are compared with exact runs")
	curvedModels = flag.Int("sides.curved", 20, "random models with products of states among these")
	sidesReport  = flag.Bool("sides.report", false, "tell which derivatives are marked, and where nothing was told")
)

// sidesTally counts what came of random models.
type sidesTally struct {
	models, pairs, oneSided, leaps  int
	marked, needless, untold, wrong int
	unclear, failed, none, all      int
}

func (c *sidesTally) String() string {
	return fmt.Sprintf("%d models: %d pairs right, %d of them one-sided with both numbers, and %d leaps with values; "+
		"%d marked, of which %d are the same on both sides and %d differ without numbers; %d wrong; "+
		"%d not clear, %d models failed, %d not drawn; of %d",
		c.models, c.pairs, c.oneSided, c.leaps, c.marked, c.needless, c.untold, c.wrong, c.unclear, c.failed, c.none,
		c.all)
}

// exactSides are those of a param by exact runs.
type exactSides struct {
	values, slopes [2]float64
	clear          bool
}

func (m *flows) exact(k int, e float64) (x exactSides) {
	x.clear = true
	for i, way := range []float64{-1, 1} {
		x.values[i], x.slopes[i] = m.sideOf(k, way, e)
		x.clear = x.clear && x.values[i] == x.values[i] && x.slopes[i] == x.slopes[i]
	}
	return x
}

// is reports whether numbers are those of the sides.
func (x *exactSides) is(left, right, tol float64) bool {
	return math.Abs(left-x.slopes[0]) <= tol*(1+math.Abs(x.slopes[0])) &&
		math.Abs(right-x.slopes[1]) <= tol*(1+math.Abs(x.slopes[1]))
}

// leaps reports whether the value does.
func (x *exactSides) leaps(j float64) bool {
	tol := 1e-7 * (1 + math.Abs(j))
	return math.Abs(x.values[0]-j) > tol || math.Abs(x.values[1]-j) > tol
}

// verdict is what a result says of one derivative.
type verdict struct {
	d     float64
	sides *result.BothSides
	leap  *result.Leap
	sound bool
}

func verdictOn(s *result.Sensitivities, k int) (v verdict) {
	v.d, v.sound = s.Gradient[k], s.Trusts == nil || s.Trusts[k] == result.Sound
	for i := range s.OneSided.Sides {
		if s.OneSided.Sides[i].Column == k {
			v.sides = &s.OneSided.Sides[i]
		}
	}
	for i := range s.OneSided.Leaps {
		if s.OneSided.Leaps[i].Column == k {
			v.leap = &s.OneSided.Leaps[i]
		}
	}
	return v
}

// right reports whether what is said is what exact runs have, and whether anything is.
func (v *verdict) right(x *exactSides, j, tol float64) (right, said bool) {
	switch {
	case v.leap != nil:
		off := max(math.Abs(v.leap.Left-x.values[0]), math.Abs(v.leap.Right-x.values[1]))
		return x.leaps(j) && off <= 1e-7*(1+math.Abs(j)), true
	case v.sides != nil:
		return !x.leaps(j) && x.is(v.sides.Left, v.sides.Right, tol), true
	case v.sound:
		return !x.leaps(j) && x.is(v.d, v.d, tol), true
	}
	return true, false
}

// TestSidesOfRandomModels compares derivatives, with all that is said of them, with exact runs on both sides: those of
// two sides must be told as such, all numbers are right to 1e-8.
func TestSidesOfRandomModels(t *testing.T) {
	judgeSides(t, seeds.Of(t, 1), *sidesModels, 7, false, 1e-8)
}

// TestSidesOfCurvedModels does so where rates have products of states: numbers are right to 1e-5.
func TestSidesOfCurvedModels(t *testing.T) {
	judgeSides(t, seeds.Of(t, 1), *curvedModels, 11, true, 1e-5)
}

// judgeSides judges so many models from a seed on. Numbers are right to a tolerance.
func judgeSides(t *testing.T, first uint64, models int, stream uint64, curved bool, tol float64) {
	began := time.Now()
	var tally sidesTally
	modes := []string{sens.ModeAdjoint, sens.ModeTangent, sens.ModeAdjoint, sens.ModeForward, sens.ModeComplex}
	for n := range models {
		seed := first + uint64(n)
		tally.all++
		m := drawFlows(rand.New(rand.NewPCG(seed, stream)), curved)
		if m == nil {
			tally.none++
			continue
		}
		m.judge(t, seed, modes[n%len(modes)], tol, &tally)
		if n%500 == 499 {
			t.Logf("%v in %v", &tally, time.Since(began).Round(time.Second))
		}
	}
	t.Log(&tally)
	if tally.pairs < tally.models {
		t.Errorf("%d pairs of %d models compared", tally.pairs, tally.models)
	}
}

// judge judges what is printed of a model with derivatives of a mode, to a tolerance.
func (m *flows) judge(t *testing.T, seed uint64, mode string, tol float64, tally *sidesTally) {
	t.Helper()
	tm, err := Parse("m.ode", m.text(), ParseOptions{})
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, m.text())
	}
	setup := tm.setup(Options{Settings: []Setting{{"sens.mode", mode}}})
	setup.Sides = true // as all results of package odes
	r, err := tm.Model.Prepare(setup)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Sensitivities(t.Context())
	if err != nil || s.Values[0].Value != s.Values[0].Value {
		tally.failed++
		return
	}
	tally.models++
	j := s.Values[0].Value
	if !m.agree(j) && s.Values[0].Trust == result.Sound {
		if tally.wrong++; tally.wrong < 12 {
			t.Errorf("seed %d, %s: the value is %v; exact runs have %v", seed, mode, j, m.run(m.p))
		}
		return
	}
	for _, v := range r.variables {
		k := slices.Index(m.names, v.Name)
		if k < 0 || v.Initial {
			continue
		}
		// A bend that lies near, and is no coincidence, is beyond a shorter distance.
		right, said, clear := false, false, false
		var x exactSides
		var what verdict
		for n, e := range []float64{0x1p-12, 0x1p-16, 0x1p-19, 0x1p-27} {
			to := m.exact(k, e)
			if !to.clear {
				clear = false // of what lies nearer than a bend
				continue
			}
			x, clear = to, true
			what = verdictOn(s, v.Offset)
			rounding := 0x1p-48 * math.Abs(j) / e // of the exact runs' values, in what these tell of slopes
			if right, said = what.right(&x, j, max(tol, 1e-8*[]float64{1, 8, 64, 1 << 14}[n])+rounding); right {
				break
			}
		}
		switch {
		case !clear:
			tally.unclear++
		case !said:
			tally.marked++
			if !x.leaps(j) && math.Abs(x.slopes[0]-x.slopes[1]) <= 1e-7*(1+math.Abs(x.slopes[0])) {
				tally.needless++
			} else {
				tally.untold++
			}
			if *sidesReport {
				t.Logf("seed %d, %s by %s: %.12g is marked; exact runs have %v", seed, mode, v.Name, what.d, x)
			}
		case !right:
			if tally.wrong++; tally.wrong < 12 {
				t.Errorf("seed %d, %s by %s: %s; exact runs have %v about %v", seed, mode, v.Name, what.String(), x, j)
			}
		case what.leap != nil:
			tally.leaps++
		default:
			if tally.pairs++; what.sides != nil {
				tally.oneSided++
			}
		}
	}
}

func (v *verdict) String() string {
	switch {
	case v.leap != nil:
		return fmt.Sprintf("a leap from %v to %v", v.leap.Left, v.leap.Right)
	case v.sides != nil:
		return fmt.Sprintf("left %v, right %v", v.sides.Left, v.sides.Right)
	}
	return fmt.Sprintf("%v on both sides", v.d)
}
