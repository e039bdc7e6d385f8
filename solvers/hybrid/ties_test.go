package hybrid_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
)

// affine is a map of (x, v, d): of its matrix the last column is what it adds.
type affine [3][4]float64

func (a *affine) at(z [3]float64) (w [3]float64) {
	for i, row := range a {
		w[i] = row[3] + row[0]*z[0] + row[1]*z[1] + row[2]*z[2]
	}
	return w
}

func differ(a, b [3]float64) bool {
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-6 {
			return true
		}
	}
	return false
}

// meeting is a system with two events of two states and a discrete, and an integral, all of them affine.
type meeting struct {
	field, first, second affine
	integrand            [3]float64
}

// drawMeeting draws one of few bodies, so that many pairs commute.
func drawMeeting(r *rand.Rand) *meeting {
	one := affine{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}
	body := func() affine {
		a := one
		for range 1 + r.IntN(2) {
			i := r.IntN(3)
			switch r.IntN(4) {
			case 0:
				a[i] = [4]float64{0, 0, 0, 1}
			case 1:
				a[i][3]++
			case 2:
				a[i][i] *= 2
			case 3:
				a[i][r.IntN(3)]++
			}
		}
		return a
	}
	m := &meeting{first: body(), second: body()}
	for i := range 2 { // the discrete stays
		m.field[i][3] = float64(r.IntN(3) - 1)
		for range r.IntN(3) {
			m.field[i][r.IntN(3)] = float64(r.IntN(3)-1) / 2
		}
	}
	for range r.IntN(3) {
		m.integrand[r.IntN(3)] = 1
	}
	return m
}

// ordered says whether the events give something else in state z in the other order.
func (m *meeting) ordered(z [3]float64) bool {
	return differ(m.second.at(m.first.at(z)), m.first.at(m.second.at(z)))
}

// of is a body or field of closures.
func (a *affine) of(y []C, d C, to func(i int, v C)) {
	for i, row := range a {
		to(i, complex(row[3], 0)+complex(row[0], 0)*y[0]+complex(row[1], 0)*y[1]+complex(row[2], 0)*d)
	}
}

// system has the events at two times.
func (m *meeting) system(one, two float64, fixed bool) *solvertest.Hybrid {
	h := sys()
	h.N, h.Q, h.D = 2, 1, 1
	h.Init = func(_ C, _ *env, y, d []C) { y[0], y[1], d[0] = 0.3, -0.7, 1.9 }
	h.Field = func(_ C, y []C, e *env, k []C) {
		m.field.of(y, e.D[0], func(i int, v C) {
			if i < 2 {
				k[i] = v
			}
		})
		k[2] = complex(m.integrand[0], 0)*y[0] + complex(m.integrand[1], 0)*y[1] + complex(m.integrand[2], 0)*e.D[0]
	}
	body := func(a *affine) body {
		return func(_ int, _ C, ym []C, e *env, yp, dp []C) {
			a.of(ym, e.D[0], func(i int, v C) {
				if i < 2 {
					yp[i] = v
				} else {
					dp[0] = v
				}
			})
		}
	}
	event(h, "first", nil, body(&m.first))
	event(h, "second", nil, body(&m.second))
	h.Times = append(h.Times, fire(0, one), fire(1, two))
	h.Times[2].Fixed, h.Times[3].Fixed = fixed, fixed
	return h
}

// beforeFirst is a sink that notes the left limits of the first event.
type beforeFirst struct {
	log
	z [3]float64
}

func (l *beforeFirst) Mark(m *solvers.Mark) error {
	if m.Kind == solvers.MarkFire && len(l.times) == 0 {
		l.z = [3]float64{m.Ym[0], m.Ym[1], m.Dm[0]}
	}
	return l.log.Mark(m)
}

// TestTies draws pairs of events at one time, or one soon after the other. Of those that can come apart it is told that
// they meet; of the others that their order matters, where it does.
func TestTies(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 13), 3))
	count := map[string]int{}
	for n := range 1000 {
		m := drawMeeting(r)
		one, two := 1.0, 1.0
		apart := [...]float64{0, 0, 1.5e-9, 1e-10, 3e-9}[n%5] // the time span is 2
		two += apart
		fixed := n%3 == 0
		h := m.system(one, two, fixed)
		ranked := n%7 == 0
		if ranked {
			h.Bodies[0].Priority = 1
		}
		l := &beforeFirst{}
		st, err := solver(h, "dopri5", solvers.Options{}).Solve(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		var want []solvers.Warning
		switch {
		case !fixed && apart < 2e-9:
			count["meets"]++
			want = append(want, solvers.Warning{
				Kind: solvers.OneSided, T: one, Name: "first", Other: "second", Instant: -1, Value: two - one,
			})
		case fixed && apart == 0 && !ranked && m.ordered(l.z):
			count["tie"]++
			want = append(want, solvers.Warning{
				Kind: solvers.Tie, T: one, Name: "first", Other: "second", Instant: -1,
			})
		default:
			count["nothing"]++
		}
		if !slices.Equal(st.Warnings, want) {
			t.Errorf("%d: %+v at %v, %v apart, fixed %v, ranked %v:\n%+v, want\n%+v", n, m, l.z, apart, fixed, ranked,
				st.Warnings, want)
		}
		for _, x := range st.Meetings {
			causes := [2]solvers.Cause{{Guard: -1, Instant: 2}, {Guard: -1, Instant: 3}}
			if x.Causes != causes || x.T != one || len(st.Meetings) != 1 || fixed {
				t.Errorf("%d: %+v", n, x)
			}
		}
	}
	if count["tie"] < 30 || count["meets"] < 50 || count["nothing"] < 50 {
		t.Errorf("too few of a kind: %v", count)
	}
}
