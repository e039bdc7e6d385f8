package truth

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/diag"
)

// mostNeedless is the part of second derivatives that may be marked though they are right.
const mostNeedless = 0.02

// TestSeconds draws models as TestRandom does, and demands of their second derivatives that they are right or marked,
// and of few that are right that they are marked.
func TestSeconds(t *testing.T) {
	var all, idle atomic.Int64
	ofFamilies(t, 8, 2, func(t *testing.T, f *Family, each int) {
		numbers, marked, needless, failed := 0, 0, 0, 0
		first := seeds.Of(t, *seed)
		for i := range each {
			c := f.Draw(first + uint64(i))
			list := f.Seconds(c)
			if len(list) == 0 {
				continue
			}
			n, wrong, err := judgeSeconds(c, list)
			numbers, marked, needless = numbers+n.all, marked+n.marked, needless+n.needless
			if *report && n.needless > 0 {
				t.Logf("seed %d: %d of %d are right, but marked\n%s", first+uint64(i), n.needless, n.all,
					indent(c.Text))
			}
			if err != nil {
				failed++
				if *report {
					t.Logf("seed %d: %v", first+uint64(i), err)
				}
			}
			if wrong != "" {
				t.Errorf("%s, seed %d: %s\n%s", f.Name, first+uint64(i), wrong, indent(c.Text))
			}
		}
		t.Logf("%d second derivatives, %d of them marked, %d of these right; %d of %d models failed", numbers, marked,
			needless, failed, each)
		all.Add(int64(numbers))
		idle.Add(int64(needless))
	})
	t.Cleanup(func() {
		if n := all.Load(); n > 10000 && float64(idle.Load()) > mostNeedless*float64(n) {
			t.Errorf("%d of %d second derivatives are right, but marked", idle.Load(), n)
		}
	})
}

// counts are numbers of second derivatives: those that are marked, and those of them that are right.
type counts struct{ all, marked, needless int }

// judgeSeconds compares second derivatives of a model with their truth.
func judgeSeconds(c Case, list []Second) (n counts, wrong string, err error) {
	m, err := odes.Parse(c.Family+".ode", c.Text, odes.ParseOptions{})
	if err != nil {
		return n, "", err
	}
	given := append(settings(), odes.Setting{Key: "sens.order", Value: "2"},
		odes.Setting{Key: "sens.mode", Value: "adjoint"})
	r, err := m.Prepare(odes.Options{Threads: 1, Settings: given})
	if err != nil {
		return n, "", err
	}
	s, err := r.Sensitivities(context.Background())
	if err != nil {
		return n, "", err
	}
	worst := 1.0
	for _, x := range list {
		got, off, mark := second(s, x)
		n.all++
		most := max(1e-2*math.Abs(x.Truth), 1e-4*x.Size)
		if mark == itself {
			n.marked++
			if math.Abs(got-x.Truth) <= most {
				n.needless++
			}
		}
		if mark != unmarked {
			continue
		}
		most = max(most, 4*off) // digits beyond four times the error are not printed
		if got == x.Truth {
			continue
		}
		if e := math.Abs(got-x.Truth) / most; !(e <= worst) {
			worst = e
			wrong = fmt.Sprintf("d² %s/d %s d %s = %.8g, truth %.8g (of %.3g)", x.Of, x.Wrt[0].name, x.Wrt[1].name, got,
				x.Truth, x.Size)
		}
	}
	return n, wrong, nil
}

// mark is what marks a second derivative.
type mark byte

const (
	unmarked mark = iota
	ofValue       // its objective or another second derivative is marked, and it is not
	itself        // or no other, where a warning tells that derivatives are those of one side
)

// second returns what was printed of a second derivative, how far it is off by its own word, and how it is marked.
func second(s *odes.Sensitivities, x Second) (got, off float64, marked mark) {
	var at [2]int
	for k, p := range x.Wrt {
		for _, v := range s.Variables {
			if v.String() == p.name {
				at[k] = v.Offset + p.index
			}
		}
	}
	for i, v := range s.Values {
		if v.Name == x.Of {
			k := (i*s.Columns+at[0])*s.Columns + at[1]
			if v.Trust != odes.Sound {
				marked = ofValue
			}
			if slices.ContainsFunc(s.Warnings, func(w diag.Diagnostic) bool {
				return w.Level == diag.Warning && (w.Code == odes.CodeTie || w.Code == odes.CodeKink)
			}) {
				if marked = ofValue; s.HessianTrusts == nil {
					marked = itself
				}
			}
			if s.HessianTrusts != nil && s.HessianTrusts[k] != odes.Sound {
				marked = itself
			}
			if s.HessianErrors != nil {
				off = s.HessianErrors[k]
			}
			return s.Hessian[k], off, marked
		}
	}
	return math.NaN(), 0, unmarked
}
