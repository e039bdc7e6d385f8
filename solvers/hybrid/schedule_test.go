package hybrid

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
)

// timetable is a System that knows times alone: those of its instants are discretes.
type timetable struct{ solvers.System }

func (timetable) InstantTimes(d, times []float64) { copy(times, d) }

// coming is a time that a schedule is to give.
type coming struct {
	instant, nth int
	at           float64
}

// TestScheduleInOrder compares schedules that are drawn with lists of all their times.
func TestScheduleInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 1))
	const t0, tf, tol = 1.0, 9.0, 1e-9
	for n := range 300 {
		inside := n%2 == 1
		list := []solvers.Instant{{Kind: solvers.InstantStart}, {Kind: solvers.InstantEnd}}
		times := []float64{t0, tf}
		add := func(in solvers.Instant, at float64) int {
			list, times = append(list, in), append(times, at)
			return len(list) - 1
		}
		var want, noted []coming
		for range 1 + r.IntN(8) {
			at := float64(r.IntN(13)) - 1
			if r.IntN(3) == 0 {
				at += r.Float64()
			}
			switch kind := []solvers.InstantKind{
				solvers.InstantFire, solvers.InstantSite, solvers.InstantRemode,
				solvers.InstantEvery,
			}[r.IntN(4)]; kind {
			case solvers.InstantEvery:
				in := solvers.Instant{Kind: kind, Event: 0, To: -1, Count: -1}
				period, last, count := 0.25+float64(r.IntN(8))/4, math.Inf(1), math.Inf(1)
				in.Period = add(solvers.Instant{Kind: solvers.InstantValue}, period)
				if r.IntN(2) == 0 {
					last = at + float64(r.IntN(20))/4
					in.To = add(solvers.Instant{Kind: solvers.InstantValue}, last)
				}
				if r.IntN(2) == 0 {
					count = float64(r.IntN(6))
					in.Count = add(solvers.Instant{Kind: solvers.InstantValue}, count)
				}
				i := add(in, at)
				for k := 0; float64(k) < count && at+float64(k)*period <= min(last, tf); k++ {
					if time := at + float64(k)*period; time >= t0 {
						want = append(want, coming{i, k, time})
					} else if k == 0 {
						noted = append(noted, coming{i, 0, time})
					}
				}
			default:
				i := add(solvers.Instant{Kind: kind, Modes: []int{0}}, at)
				if at >= t0 && at <= tf {
					want = append(want, coming{i, 0, at})
				} else if at < t0 {
					noted = append(noted, coming{i, 0, at})
				}
			}
		}
		want = append(want, coming{0, 0, t0}, coming{1, 0, tf})
		byTime := func(a, b coming) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.instant, b.instant), cmp.Compare(a.nth, b.nth))
		}
		slices.SortFunc(want, byTime)
		q := newSchedule(list, []solvers.Event{{Name: "every"}})
		q.inside = inside
		var told []coming
		note := func(i int, at float64) { told = append(told, coming{i, 0, at}) }
		if err := q.start(timetable{}, times, t0, tol, note); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(told, byTime)
		slices.SortFunc(noted, byTime)
		if !slices.Equal(told, noted) {
			t.Fatalf("run %d: told of %v, want %v", n, told, noted)
		}
		want = slices.DeleteFunc(want, func(c coming) bool { return c.instant == 0 }) // the start is no event
		var got []coming
		for len(got) <= len(want) {
			at := q.next()
			if i := q.site(); i >= 0 {
				at = min(at, q.times[i])
			}
			if !(at <= tf) {
				break
			}
			if i, _, _ := q.take(math.Nextafter(at, 0)); i >= 0 {
				t.Fatalf("run %d: instant %d is taken before its time %v", n, i, at)
			}
			for {
				i, nth, time := q.take(at)
				if i < 0 {
					break
				}
				if time != at {
					t.Fatalf("run %d: instant %d comes at %v, not at %v", n, i, at, time)
				}
				got = append(got, coming{i, nth, time})
			}
		}
		slices.SortFunc(got, byTime)
		if !slices.Equal(got, want) {
			t.Fatalf("run %d: %v of\n%+v %v\nwant %v", n, got, list, times, want)
		}
	}
}

// TestScheduleErrors has times that mean nothing.
func TestScheduleErrors(t *testing.T) {
	every := solvers.Instant{Kind: solvers.InstantEvery, Period: 3, To: -1, Count: -1}
	list := []solvers.Instant{
		{Kind: solvers.InstantStart},
		{Kind: solvers.InstantEnd},
		every,
		{Kind: solvers.InstantValue},
		{Kind: solvers.InstantFire, Event: 1},
	}
	events := []solvers.Event{{Name: "beat"}, {Name: "once"}}
	for _, c := range []struct {
		first, period, at float64
		instant           int // of the error; -1 for none
		value             float64
	}{
		{2, 1, 3, -1, 0},
		{2, 0, 3, 3, 0},
		{2, -1, 3, 3, -1},
		{2, math.NaN(), 3, 3, math.NaN()},
		{2, elem.ULP(10) / 2, 3, 3, elem.ULP(10) / 2},
		{2, elem.ULP(10), 3, -1, 0},
		{2, 1, math.NaN(), 4, math.NaN()},
		{-0x1p60, 1, 3, 2, -0x1p60},
		{-0x1p40, 1, 3, -1, 0},
	} {
		q := newSchedule(list, events)
		err := q.start(timetable{}, []float64{0, 10, c.first, c.period, c.at}, 0, 1e-9, func(int, float64) {})
		var wrong *solvers.TimeError
		switch {
		case c.instant < 0 && err == nil:
			if got := q.next(); !(got >= 0 && got <= max(c.first, 1)) {
				t.Errorf("%+v: the first time is %v", c, got)
			}
		case !errors.As(err, &wrong) || wrong.Instant != c.instant ||
			wrong.Value != c.value && !math.IsNaN(c.value):
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestScheduleMoves has times that bodies move: a time that changes comes once more unless it is past.
func TestScheduleMoves(t *testing.T) {
	every := solvers.Instant{Kind: solvers.InstantEvery, Event: 1, Period: 4, To: -1, Count: -1}
	list := []solvers.Instant{
		{Kind: solvers.InstantStart},
		{Kind: solvers.InstantEnd},
		{Kind: solvers.InstantFire},
		every,
		{Kind: solvers.InstantValue},
	}
	q := newSchedule(list, []solvers.Event{{Name: "one"}, {Name: "beat"}})
	const tol = 1e-9
	rest := func(times ...float64) string {
		if err := q.update(timetable{}, times, 3, tol); err != nil {
			t.Fatal(err)
		}
		story := fmt.Sprint(q.lost, " ")
		p := q // a copy, read to the end
		p.nth, p.came = slices.Clone(q.nth), slices.Clone(q.came)
		for at := p.next(); at <= 10; at = p.next() {
			i, nth, _ := p.take(at)
			story += fmt.Sprintf("%d.%d@%v ", i, nth, at)
		}
		return story
	}
	past := func(int, float64) { t.Error("past") }
	if err := q.start(timetable{}, []float64{0, 8, 2, 1, 2}, 0, tol, past); err != nil {
		t.Fatal(err)
	}
	for _, at := range []float64{1, 2, 3} {
		if i, _, got := q.take(3); i < 0 || got != at && i == 3 && got > 3 {
			t.Fatalf("takes %d at %v", i, got)
		}
	}
	for k, c := range []struct {
		times []float64
		want  string
	}{
		{[]float64{0, 8, 2, 1, 2}, "[] 3.2@5 3.3@7 1.0@8 3.4@9 "},       // nothing moves
		{[]float64{0, 8, 4, 1, 2}, "[] 2.0@4 3.2@5 3.3@7 1.0@8 3.4@9 "}, // one is later
		{[]float64{0, 8, 2.5, 1, 2}, "[2] 3.2@5 3.3@7 1.0@8 3.4@9 "},    // and past
		{[]float64{0, 8, -1, 1, 2}, "[] 3.2@5 3.3@7 1.0@8 3.4@9 "},      // or waits before the start
		{[]float64{0, 8, 3 - 1e-10, 1, 2}, "[] 2.0@2.9999999999 3.2@5 3.3@7 1.0@8 3.4@9 "},
		{[]float64{0, 1, -1, 1, 2}, "[] 1.0@1 3.2@5 3.3@7 3.4@9 "}, // an end that is past is due
		{[]float64{0, 6, -1, 1, 0.5}, "[] 3.4@3 3.5@3.5 3.6@4 3.7@4.5 3.8@5 3.9@5.5 3.10@6 1.0@6 3.11@6.5 " +
			"3.12@7 3.13@7.5 " +
			"3.14@8 3.15@8.5 3.16@9 3.17@9.5 3.18@10 "},
	} {
		if got := rest(c.times...); got != c.want {
			t.Errorf("move %d: %s, want %s", k, got, c.want)
		}
	}
	q.over(0, 0)
	q.over(1, 1) // no such element
	if got := rest(0, 9.5, 4, 1, 4); got != "[] 3.4@17 1.0@9.5 " && got != "[] 1.0@9.5 " {
		t.Errorf("over: %s", got)
	}
	q.over(1, 0)
	if got := rest(0, 9, 5, 1, 2); got != "[] 1.0@9 " {
		t.Errorf("both over: %s", got)
	}
}
