package lag

import (
	"testing"
	"time"
)

// TestManyBreaks: 10⁵ jumps and what comes of them, by a short delay and a long one, cost as much each as a few do.
func TestManyBreaks(t *testing.T) {
	const n, every, short, long = 100_000, 0.01, 0.01234, 499.99777
	begun := time.Now()
	r := &Record{delays: make([]source, 2), tau: []float64{short, long}, deepest: 5}
	r.gaps = []gap{{after: -1, set: -1}}
	r.stops.opens(len(r.tau))
	r.follow(0, 0)
	x := &Worker{rec: r}
	met, back, last := 0, 0, 0.0
	for k := 1; k <= n; k++ {
		at := float64(k) * every
		for s := r.next(last); s < at; s = r.next(last) {
			if !(s > last) {
				t.Fatalf("a stop at %v behind that at %v", s, last)
			}
			last = s
			met++
		}
		r.gaps = append(r.gaps, gap{t: at, after: k, jump: true})
		r.follow(at, 0)
		last = at
		back += len(leapsAt(x, at+short))
	}
	// Of the start and each jump come i short delays and j long ones, i + j up to 5.
	want := 0
	for k := 0; k <= n; k++ {
		for i := range 6 {
			for j := range 6 - i {
				if s := float64(k)*every + float64(i)*short + float64(j)*long; i+j > 0 && s < n*every {
					want++
				}
			}
		}
	}
	if met != want {
		t.Errorf("%d stops, want %d", met, want)
	}
	if back != n {
		t.Errorf("%d jumps come back after the short delay, want %d", back, n)
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("%v for %d jumps", took, n)
	}
}
