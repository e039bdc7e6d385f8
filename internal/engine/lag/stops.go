package lag

import (
	"math"
	"slices"
)

// stop is a time at which a step is to end. Order is that of the first derivative of a state that jumps there; that of
// what reads the state jumps one order lower.
type stop struct {
	t     float64
	order int
}

// stops are those to come, by the delay after which they come. Their causes come in the order of time, and so do they.
type stops [][]stop

// opens empties the lists, of so many delays.
func (s *stops) opens(delays int) {
	for len(*s) < delays {
		*s = append(*s, nil)
	}
	for i := range *s {
		(*s)[i] = (*s)[i][:0]
	}
}

// enter enters a stop that comes after delay i, of length tau. What comes at one time is one.
func (s stops) enter(i int, tau float64, n stop) {
	tol, at := near(n.t, tau), len(s[i])
	for at > 0 && s[i][at-1].t >= n.t-tol {
		at--
	}
	if at < len(s[i]) && s[i][at].t <= n.t+tol {
		s[i][at].order = min(s[i][at].order, n.order)
		return
	}
	s[i] = slices.Insert(s[i], at, n)
}

// first returns the first stop, infinite where there is none: the first of each delay that comes at one time, of the
// lowest order among them, and at the time of that which was known first, since its delay is longest.
func (s stops) first(tau []float64) stop {
	least := math.Inf(1)
	for _, list := range s {
		if len(list) > 0 {
			least = min(least, list[0].t)
		}
	}
	first, longest := stop{least, math.MaxInt}, 0.0
	for i, list := range s {
		if len(list) == 0 || !(list[0].t <= least+near(least, tau[i])) {
			continue
		}
		if first.order = min(first.order, list[0].order); tau[i] > longest {
			first.t, longest = list[0].t, tau[i]
		}
	}
	return first
}

// drop removes the stops that come at the time of the first one.
func (s stops) drop(first stop, tau []float64) {
	for i, list := range s {
		if len(list) > 0 && list[0].t <= first.t+near(first.t, tau[i]) {
			s[i] = list[1:]
		}
	}
}
